/*
 * What a process that serves must notice by itself. A process, and each of its sockets, keeps its
 * network namespace alive: after `ip netns del` the devices, the process and its file in /dev/shm
 * would be there for ever, where nobody finds them. So it looks, once a second, for the name that
 * its namespace had at the beginning, and for the devices that it cannot do without.
 *
 *   live_home_open     before leat_live_guard: it opens what is looked at later
 *   live_home_is_gone  in the loop
 *   live_home_leave    says why, and takes the file away
 */
#ifndef LEAT_LIVE_HOME_H
#define LEAT_LIVE_HOME_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LIVE_HOME_DEVICES = 2, LIVE_HOME_REASON_LEN = 64, LIVE_HOME_MARK_LEN = 48 };

struct live_home {
    int names; /* the folder of names; -1: the namespace has none */
    char name[NAME_MAX + 1];
    dev_t namespace_on;
    ino_t namespace;
    int socket; /* devices are looked up by it */
    uint32_t device[LIVE_HOME_DEVICES];
    int folder; /* of the file that is taken away at the end; -1: there is none */
    char file[NAME_MAX + 1];
    uint64_t look_at_s;
    char reason[LIVE_HOME_REASON_LEN];
};

/*
 * What tells the files of this network namespace in /dev/shm from those of others: their names are
 * PREFIX.MARK.REST, and the mark is NUMBER.COOKIE. The kernel gives the number of a namespace that
 * is gone to another one, the cookie never (since Linux 5.14; before, it is 0). False: errno.
 */
bool live_home_mark(char mark[LIVE_HOME_MARK_LEN]);

/* Removes the files that a namespace with this one's number, and another cookie, has left: it is
 * gone, or it would have the number still. */
void live_home_sweep(const char *prefix);

/* file: a descriptor of what the process would leave in /dev/shm; -1: nothing. */
void live_home_open(struct live_home *home, int file);

/* Interfaces by number, 0: none. `socket` is any one of the process. */
void live_home_needs(struct live_home *home, int socket, uint32_t device, uint32_t other);

/* Cheap: the clock alone is read where it is not yet time to look. */
bool live_home_is_gone(struct live_home *home);

/* To the system's log and standard error: `who` ends, and why. Then the file goes. */
void live_home_leave(const struct live_home *home, const char *who);

#endif
