/*
 * What a process that serves may still do once it has opened everything: its loop, and its orderly
 * end. Whoever takes it over from the network gets that much and no more.
 *
 *   no_new_privs     nothing that it starts could gain a right
 *   capabilities     none; CAP_NET_ADMIN where an XDP program may have to change its mode, and
 *                    CAP_BPF beside it on kernels that want it for every use of a map (before 5.19)
 *   system calls     a list (seccomp). Programs, processes, and other processes' memory: killed,
 *                    since no library of ours asks for these. Whatever else is not in the list,
 *                    such as opening files: EPERM, since a library of another version may try it
 *                    and can do without; a router that ends would be the greater harm.
 *   files            the folder of the file that it takes away at its end becomes its root. Where
 *                    that takes a right that it lacks, its root stays, and it takes nothing away
 *
 * Where the system refuses a part (containers, emulators, old kernels), the process goes on with
 * the others, and leat_live_guard_look tells what holds.
 */
#ifndef LEAT_LIVE_GUARD_H
#define LEAT_LIVE_GUARD_H

#include "live_home.h"

/* Beside reading, writing and waiting on what is open. */
enum leat_live_need {
    LEAT_LIVE_DEVICES = 1, /* looks devices up, which takes sockets of its own */
    LEAT_LIVE_XDP = 2,     /* fills maps, and puts programs on devices again; includes the above */
    LEAT_LIVE_ADDRESS = 4, /* asks for its own address, by sockets bound to the other end */
};

enum { LEAT_LIVE_GUARD_TEXT_LEN = 256, LEAT_LIVE_GUARD_ROOT_LEN = 64 };

struct leat_live_guard {
    uint64_t capabilities; /* effective ones, by their numbers */
    bool no_new_privs, filtered;
    char root[LEAT_LIVE_GUARD_ROOT_LEN]; /* of its files; empty: not to be seen */
};

/* For this process, for good. `home` may be NULL. */
void leat_live_guard(unsigned needs, const struct live_home *home);

/* What holds for another process of this container, as the kernel tells. False: there is none, or
 * it is not to be seen. */
bool leat_live_guard_look(int process, struct leat_live_guard *guard);

/* The same of this process, which may no longer open files: as leat_live_guard found it. */
const struct leat_live_guard *leat_live_guard_own(void);

/* Is all of it in place? In words: "yes, keeps no capability, root /", "no, no filter of system
 * calls ...". */
bool leat_live_guard_text(const struct leat_live_guard *guard, char text[LEAT_LIVE_GUARD_TEXT_LEN]);

/* Builds for tests have no filter: sanitizers and coverage make system calls of their own. */
bool leat_live_guard_is_for_tests(void);

#endif
