/*
 * How far long work is: one line on a terminal, for the user who waits.
 *
 *     begin -- (2 s) -- show -- show, at most five times a second -- hide
 *
 * Nothing is written if standard error is no terminal. The line never wraps, and `hide` leaves
 * nothing of it behind.
 */
#ifndef LEAT_PROGRESS_H
#define LEAT_PROGRESS_H

#include <stdbool.h>

struct progress {
    int terminal; /* a descriptor; -1: there is none */
    double begun_at, shown_at;
    bool is_shown;
};

/* Seconds of a monotonic clock. */
double seconds_now(void);

/* Work begins now. Complaints hide the line first if the terminal is standard error. */
void progress_begin(struct progress *progress, int terminal);
double progress_seconds(const struct progress *progress); /* since then */

/* Shall the line be shown (again) now? */
bool progress_is_due(struct progress *progress);
/* Cut to the width of the terminal. */
void progress_show(struct progress *progress, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* Before anything else is written to the terminal, and at the end. */
void progress_hide(struct progress *progress);
void progress_end(struct progress *progress);

/* Hides the line that stands on standard error, if there is one. */
void progress_make_way(void);

/* "1.23 M" */
enum { PROGRESS_FIGURE_CAP = 32 };
const char *progress_figure(double value, char out[PROGRESS_FIGURE_CAP]);
/* ", 3 min 20 s left" if this share of the work is done; "" before there is an estimate. */
const char *progress_left(const struct progress *progress, double share,
                          char out[PROGRESS_FIGURE_CAP]);

#endif
