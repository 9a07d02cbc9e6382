/* Long runs, piece by piece: each piece checks for an interrupt and updates progress on a terminal.
 */
#ifndef LEAT_PIECES_H
#define LEAT_PIECES_H

#include "progress.h"
#include "watch.h"
#include <stdbool.h>
#include <stdint.h>

/* Size of a piece: short enough to react quickly to an interrupt, at any network size. */
struct pace {
    uint64_t piece; /* cycles to run next */
    double at;
};

void pace_begin(struct pace *pace);
void pace_next(struct pace *pace); /* a piece has been run */

/* What the page of the next run shows beside its speed (--view): columns from PIECES_COLUMN on,
 * which `take` sets between two pieces, and their curves over cycles. Lent for the run. */
enum { PIECES_CYCLES = WATCH_SECONDS + 1, PIECES_COLUMN };
struct pieces_view {
    void *context;
    void (*take)(void *context, struct watch_sample *sample);
    uint32_t columns;
    const struct watch_curve *curve;
    uint32_t curves;
};
void pieces_show(const struct pieces_view *view);

/* Runs all cycles before `until`; false: there is nothing more to run. */
typedef bool (*piece_fn)(void *context, uint64_t until);

/* From cycle 0 to `cycles`, or until `interrupted`, or until a piece ends it. Returns the number of
 * cycles run. */
uint64_t pieces_run(uint64_t cycles, piece_fn run, void *context, double *wall_seconds);

/* The same of several processes that run the same pieces. agree returns the end of the next piece
 * for all, where this one would choose `until` (0: it is interrupted); 0: one is interrupted. */
typedef uint64_t (*agree_fn)(void *context, uint64_t until);
uint64_t pieces_run_alike(uint64_t cycles, piece_fn run, agree_fn agree, void *context,
                          double *wall_seconds);

#endif
