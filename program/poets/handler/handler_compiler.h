/*
 * Runs compilers. They read untrusted text, which may never end (#include of a pipe), and start
 * programs of their own. None of them outlives leat, even if leat is killed:
 *
 *   leat --> keeper --> [ c++ --> cc1plus, as, collect2, ld ]   a process group
 *
 * The keeper only waits for the compiler. It gets a signal when leat ends, and then kills the
 * group.
 */
#ifndef LEAT_HANDLER_COMPILER_H
#define LEAT_HANDLER_COMPILER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct leat_poets_compiler_start {
    char *const *words;
    int folder; /* it inherits this descriptor and keeps its temporary files there */
    int output; /* where it writes its errors */
};

/* The keeper's process id; -1: see errno. */
pid_t leat_poets_compiler_begin(const struct leat_poets_compiler_start *start);

/* Waits for it. True: it has compiled. A signal (NULL: none is expected) ends it. */
bool leat_poets_compiler_end(pid_t keeper, const atomic_int *interrupted);

/* The first line of --version. False: `out` says why there is none. */
bool leat_poets_compiler_version(const char *compiler, char *out, size_t cap);

#endif
