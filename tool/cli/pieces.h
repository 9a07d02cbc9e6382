/* Long runs, piece by piece: an interrupt is heard, and somebody at a terminal sees how far it is.
 */
#ifndef LEAT_PIECES_H
#define LEAT_PIECES_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds of a clock that is never set. */
double seconds_now(void);

/* How much is run at a time: about as long as somebody waits who has interrupted it, whatever the
 * network costs. */
struct pace {
    uint64_t piece; /* cycles to run next */
    double at;
};

void pace_begin(struct pace *pace);
void pace_next(struct pace *pace); /* a piece has been run */

/* Runs all cycles before `until`; false: there is nothing more to run. */
typedef bool (*piece_fn)(void *context, uint64_t until);

/* From cycle 0 to `cycles`, or until `interrupted`, or a piece said so: the cycles that were run.
 */
uint64_t pieces_run(uint64_t cycles, piece_fn run, void *context, double *wall_seconds);

#endif
