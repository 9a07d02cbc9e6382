/*
 * Compilers at work. They read what a stranger wrote, which may never end (#include of a pipe), and
 * they start programs of their own; none of them outlives leat, even if leat is killed:
 *
 *   leat --> keeper --> [ c++ --> cc1plus, as, collect2, ld ]   a process group
 *
 * The keeper is a process that does nothing but wait for the compiler, and that gets a signal when
 * leat ends: then it ends the group.
 */
#ifndef LEAT_HANDLER_COMPILER_H
#define LEAT_HANDLER_COMPILER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct leat_poets_compiler_start {
    char *const *words;
    int folder; /* it has this descriptor, too, and keeps its temporary files there */
    int output; /* where it says what is wrong */
};

/* The keeper's number; -1: errno tells it. */
pid_t leat_poets_compiler_begin(const struct leat_poets_compiler_start *start);

/* Waits for it. True: it has compiled. A signal (NULL: none can come) ends it. */
bool leat_poets_compiler_end(pid_t keeper, const volatile sig_atomic_t *interrupted);

/* The first line of --version. False: `out` tells why there is none. */
bool leat_poets_compiler_version(const char *compiler, char *out, size_t cap);

#endif
