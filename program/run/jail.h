/*
 * A jail for programs of strangers. Its processes read files as their user does, but
 *
 *   files         they write nowhere but below one folder, and in a memory of their own at
 *                 /dev/shm, which ends with the jail; their TMPDIR is there
 *   networks      they have a loopback of their own, and no sockets but those of IP and of routes
 *   processes     they signal, trace and read none outside, where the kernel can keep them from it
 *   privileges    none, and they gain none
 *   memory, time  within limits, for each process; they leave no core
 *
 *     leat_jail_open --> keeper: makes the namespaces (user, mount, network, IPC), and waits
 *     leat_jail_enter    a new process enters them, before it becomes a program
 *     leat_jail_close    the keeper ends; so do the namespaces, with the last process in them
 *
 * Without a jail a process may do all that its user may. What they share with leat is memory, which
 * leat reads: who finds a mistake in that is out of the jail.
 */
#ifndef LEAT_PROGRAM_JAIL_H
#define LEAT_PROGRAM_JAIL_H

#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_jail_limits {
    const char *writable; /* a folder; NULL: none */
    uint64_t memory;      /* octets of each process, and of /dev/shm */
    uint32_t seconds;     /* of a processor, of each process */
    bool is_alone;        /* it starts threads, but no processes and no programs */
};

struct leat_jail;

/* NULL: `why` says what the system refuses, or what is wrong with the folder. */
struct leat_jail *leat_jail_open(const struct leat_jail_limits *limits, char *why, size_t why_cap);
void leat_jail_close(struct leat_jail *jail); /* NULL: nothing */

/* Can the kernel keep its processes from signalling others of the same user? */
bool leat_jail_keeps_signals(void);

/* A file in the jail's memory, which its processes find at `inside`; -1: errno says why. */
int leat_jail_file(const struct leat_jail *jail, const char *inside);

/* For a new process with one thread: for good. False: errno says why. */
bool leat_jail_enter(const struct leat_jail *jail);

#endif
