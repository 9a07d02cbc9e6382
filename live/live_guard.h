/*
 * What a serving process may still do once it has opened everything: its loop, and its orderly
 * exit. An attacker who takes it over from the network gets that much and no more.
 *
 *   no_new_privs     nothing that it starts can gain privileges
 *   capabilities     none; CAP_NET_ADMIN where an XDP program may have to change its mode, and
 *                    CAP_BPF beside it on kernels that want it for every use of a map (before 5.19)
 *   system calls     a list (seccomp). Programs, processes, and other processes' memory: killed,
 *                    since no library of ours needs these. Everything else not in the list,
 *                    such as opening files: EPERM, since a library of another version may try it
 *                    and can do without; ending a router would do more harm.
 *   files            the folder of the file that it removes at its end becomes its root. Where
 *                    it lacks the privilege for that, its root stays, and it removes nothing
 *
 * Where the system refuses a part (containers, emulators, old kernels), the process continues with
 * the others, and leat_live_guard_inspect reports what is in force.
 */
#ifndef LEAT_LIVE_GUARD_H
#define LEAT_LIVE_GUARD_H

#include "live_home.h"

/* Beyond reading, writing and waiting on open descriptors. */
enum leat_live_need {
    LEAT_LIVE_DEVICES = 1, /* looks up devices, which needs new sockets */
    LEAT_LIVE_XDP = 2,     /* fills maps and reattaches programs to devices; includes the above */
    LEAT_LIVE_ADDRESS = 4, /* finds its own address, by sockets connected to the peer */
};

enum { LEAT_LIVE_GUARD_TEXT_LEN = 256, LEAT_LIVE_GUARD_ROOT_LEN = 64 };

struct leat_live_guard {
    uint64_t capabilities; /* effective ones, by their numbers */
    bool no_new_privs, filtered;
    char root[LEAT_LIVE_GUARD_ROOT_LEN]; /* root of its files; empty: not visible */
};

/* Restricts this process permanently. `home` may be NULL. */
void leat_live_guard(unsigned needs, const struct live_home *home);

/* What is in force for another process of this container, as reported by the kernel. False: there
 * is none, or it is not visible. */
bool leat_live_guard_inspect(int process, struct leat_live_guard *guard);

/* The same for this process, which may no longer open files: as found by leat_live_guard. */
const struct leat_live_guard *leat_live_guard_own(void);

/* Is all of it in force? In words: "yes, keeps no capability, root /", "no, no filter of system
 * calls ...". */
bool leat_live_guard_text(const struct leat_live_guard *guard, char text[LEAT_LIVE_GUARD_TEXT_LEN]);

/* Test builds have no filter: sanitizers and coverage make system calls of their own. */
bool leat_live_guard_is_for_tests(void);

#endif
