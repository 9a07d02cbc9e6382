/*
 * Asks a child for a text, so that a page is served meanwhile:
 *
 *     view_ask_begin(&ask, print, context, ...)       print writes the text, in the child
 *     while (view_ask_step(&ask) == VIEW_ASK_WAITS)
 *         poll(...);                                  until ask.fd is readable
 *     ask.text, ask.len                               until the next one begins
 */
#ifndef LEAT_VIEW_ASK_H
#define LEAT_VIEW_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct view_ask {
    size_t len_max; /* of a text; a child that prints more has failed */
    char *text;
    size_t len, cap;
    pid_t child;    /* 0: none */
    int fd;         /* its standard output; -1: none */
    int64_t due_ms; /* when it is given up */
    bool is_late;   /* it was */
};

enum view_ask_state { VIEW_ASK_WAITS, VIEW_ASK_ANSWERED, VIEW_ASK_FAILED };

/* Milliseconds of a monotonic clock. */
int64_t view_now_ms(void);

void view_ask_init(struct view_ask *ask, size_t len_max);

/* In the child `print` has the pipe as standard output; it returns an exit code, or executes
 * another program. `may_complain`: otherwise standard error is nothing. False: errno says why. */
typedef int view_ask_print(void *context);
bool view_ask_begin(struct view_ask *ask, view_ask_print *print, void *context, bool may_complain,
                    int patience_ms);

/* Goes on without waiting. Also without a child: VIEW_ASK_FAILED. */
enum view_ask_state view_ask_step(struct view_ask *ask);

/* Waits for the end of it, or for an interrupt. */
enum view_ask_state view_ask_finish(struct view_ask *ask);

/* Ends the child, if there is one, and forgets the text. */
void view_ask_close(struct view_ask *ask);

#endif
