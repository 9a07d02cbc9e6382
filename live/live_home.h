/*
 * A serving process: its file in /dev/shm, its start and end, and what it must notice by itself.
 *
 * The process holds a lock on its file, so a file without a lock was left by a killed process: the
 * next one continues with its contents.
 *
 * A process, and each of its sockets, keeps its network namespace alive: after `ip netns del` the
 * devices, the process and its file in /dev/shm would stay for ever, unreachable. The process
 * therefore checks once a second for the name that its namespace had at the start, and for the
 * devices that it depends on.
 *
 *   live_home_open     before leat_live_guard: it opens what is checked later
 *   live_home_is_gone  in the loop
 *   live_home_leave    reports why, and removes the file
 */
#ifndef LEAT_LIVE_HOME_H
#define LEAT_LIVE_HOME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LIVE_HOME_DEVICES = 2, LIVE_HOME_REASON_LEN = 64, LIVE_HOME_MARK_LEN = 48 };

struct live_home {
    int names; /* the folder of names; -1: the namespace has none */
    char name[NAME_MAX + 1];
    dev_t namespace_on;
    ino_t namespace;
    int socket; /* used to look up devices */
    uint32_t device[LIVE_HOME_DEVICES];
    int folder; /* of the file that is removed at the end; -1: there is none */
    char file[NAME_MAX + 1];
    uint64_t check_at_s;
    char reason[LIVE_HOME_REASON_LEN];
};

/*
 * What distinguishes the files of this network namespace in /dev/shm: their names are
 * PREFIX.MARK.REST, and the mark is NUMBER.COOKIE. The kernel reuses the number of a deleted
 * namespace, but never the cookie (since Linux 5.14; before, it is 0). False: see errno.
 */
bool live_home_mark(char mark[LIVE_HOME_MARK_LEN]);

/* Removes the files left by an earlier namespace with the same number and another cookie: it is
 * gone, or it would still have the number. */
void live_home_sweep(const char *prefix);

/* Opens a file as shm_open does. `owner`: "station" or "router"; has_name: the user may choose
 * another name. -1: see `why` and errno. Files of other users are not opened: their contents would
 * be trusted. */
int live_file_open(const char *name, int flags, const char *owner, bool has_name, char *why);

/* False: another process has the lock. */
bool live_file_lock(int file);

/* Which process holds the lock: 0 none, -1 one of another PID namespace. */
pid_t live_file_holder(int file);

/* Ends the process that holds the lock. False: see `why`. */
bool live_file_end_holder(int file, const char *owner, char *why);

/* NULL: see errno. */
void *live_file_map(int file, size_t len);

/*
 * Starts a process that has no parent to wait for it: it calls `serve`, which writes a report of
 * report_len octets to `ready` and never returns. False: there is no report; see `why`.
 */
bool live_process_start(void (*serve)(void *context, int ready), void *context, void *report,
                        size_t report_len, char *why);

/* In that process: it leaves the terminal. */
void live_process_detach(void);

/* file: a descriptor of the process's file in /dev/shm; -1: none. */
void live_home_open(struct live_home *home, int file);

/* Interfaces by number, 0: none. `socket` is any socket of the process. */
void live_home_needs(struct live_home *home, int socket, uint32_t device, uint32_t other);

/* Cheap: only reads the clock until the next check is due. */
bool live_home_is_gone(struct live_home *home);

/* Reports to the system's log and standard error that `name` ends, and why; removes the file. */
void live_home_leave(const struct live_home *home, const char *name);

#endif
