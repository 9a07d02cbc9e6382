/*
 * Processes that a run starts for its tasks: find, start, wait, and collect output. For the
 * services of leat run (pvm/, thesis/).
 *
 *     find --- begin ... read, read ... await --- read the rest --- free
 *
 * A task prints into a file in memory, so it never blocks. leat reads the file when the task is
 * served, so the order of output does not depend on which task is faster. The file grows, but its
 * read part is freed.
 */
#ifndef LEAT_PROGRAM_CHILD_H
#define LEAT_PROGRAM_CHILD_H

#include "hub.h"

/* As reallocarray; ends the process if out of memory. */
void *leat_child_grown(void *old, size_t count, size_t size);
char *leat_child_copied(const char *text);

/* ---- programs and words ---------------------------------------------------------------------- */

/* The path of the program, in new memory; NULL: not found. `path` is as in PATH; a name that begins
 * with '/' is used as it is. */
char *leat_child_find(const char *name, const char *path);
/* The same for a program that a user names, as a shell does: a name with a '/' anywhere is used as
 * it is, and PATH follows `path`. */
char *leat_child_find_named(const char *name, const char *path);

/* A list of texts, each in memory of its own; the last is followed by NULL. */
struct leat_child_words {
    char **text;
    size_t count;
};

struct leat_child_words leat_child_words_of(char *const *texts); /* NULL: none */
void leat_child_words_append(struct leat_child_words *words, const char *text);
void leat_child_words_free(struct leat_child_words *words);

/* ---- processes ------------------------------------------------------------------------------- */

struct leat_child {
    pid_t pid; /* 0: none */
    bool is_reaped;
    int status;                         /* as waitpid returns it, once it is reaped */
    int output;                         /* a file that its output is in; -1: it has leat's */
    uint64_t output_read, output_freed; /* octets of it */
    char *line;                         /* its last, still incomplete line */
    size_t line_len, line_cap;
};

enum leat_child_input { LEAT_CHILD_OWN_INPUT, LEAT_CHILD_NO_INPUT };

struct leat_child_start {
    const char *file;
    char *const *argv, *const *environment;
    const char *directory; /* NULL: leat's */
    enum leat_child_input input;
    bool collect;                 /* its output */
    bool is_bare;                 /* it inherits only standard input, output and error */
    int end_signal;               /* sent to it when leat ends; 0: SIGKILL */
    const struct leat_jail *jail; /* it enters; NULL: none */
};

void leat_child_init(struct leat_child *process);
/* False: see errno. It does not outlive leat, or gets its end_signal to end. */
bool leat_child_begin(struct leat_child *process, const struct leat_child_start *start);
/* The same for the task of this slot, which the hub then expects. Its environment is leat's
 * with these variables replaced ("NAME=value"; NULL: none), and what it needs to find its slot. */
bool leat_child_begin_task(struct leat_child *process, struct leat_hub *hub, uint32_t slot,
                           char *const *variables, char *const *more,
                           const struct leat_child_start *start);
/* True: it has ended, or never started. */
bool leat_child_reap(struct leat_child *process, bool wait);
/* Has this process ended, whoever is its parent? `descriptor`: -1 at first; the caller closes it.
 */
bool leat_child_is_gone(pid_t pid, int *descriptor);
/* Waits for its end if its output is collected, so that the output is complete; but not for ever.
 * `interrupted` may be NULL. */
void leat_child_await(struct leat_child *process, bool (*interrupted)(void));
/* Waits until all of them have ended, or (at once, or interrupted) kills them. */
void leat_child_end_all(struct leat_child *processes, size_t count, bool at_once,
                        bool (*interrupted)(void));
void leat_child_free(struct leat_child *process); /* and its output */

/* ---- output ---------------------------------------------------------------------------------- */

/* The next part of its output; 0: there is no more of it now. */
size_t leat_child_read(struct leat_child *process, void *octets, size_t cap);

/* To the log (a file; -1: none), each line prefixed with "[name] ". */
void leat_child_log(struct leat_child *process, int log, const char *name, const uint8_t *octets,
                    size_t len);
void leat_child_log_end(struct leat_child *process, int log, const char *name); /* last line */

#endif
