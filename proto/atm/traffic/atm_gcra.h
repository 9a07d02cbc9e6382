/*
 * The generic cell rate algorithm, GCRA(T, tau) (note, 3.1; thesis 8.6.1 and Fig. 8.27), in its two
 * forms. T is the emission interval, tau the tolerance; TAT the theoretical arrival time of the
 * next cell; X the level of a bucket that leaks one unit per unit of time, LCT the time of the last
 * conforming cell. A cell arrives at t:
 *
 *     virtual scheduling                        leaky bucket
 *                                               X' = X - (t - LCT)
 *     t < TAT - tau?  yes: not conforming       X' > tau?  yes: not conforming
 *     no: TAT = max(t, TAT) + T                 no: X = max(0, X') + T, LCT = t
 *
 * Both make the same decisions, since TAT = LCT + X. A cell that does not conform changes nothing.
 * A state of all zeros has seen no cell: its first cell conforms at any time.
 *
 *     cells     |  |  |  |           |           GCRA(T, tau), spacing d < T: each cell finds X
 *     X      _./|./|./|./|\.         |           higher by T - d, until X would exceed tau
 *               <-d->     <-- Ti -->
 *
 * Time has the unit of the caller, slots or picoseconds, in 64 bits. If T is not a whole number of
 * slots (2075.25 for a 64 kb/s circuit), count in fractions of a slot or in picoseconds. Results
 * equal those of unbounded integers up to the end of time.
 */
#ifndef LEAT_ATM_GCRA_H
#define LEAT_ATM_GCRA_H

#include "leat_err.h"
#include <leat/time.h>
#include <stdbool.h>
#include <stdint.h>

struct leat_atm_gcra {
    uint64_t t;   /* at least 1 */
    uint64_t tau; /* t + tau fits 64 bits */
};

/* RANGE if the limits above are exceeded; all other functions rely on them. */
leat_err leat_atm_gcra_check(const struct leat_atm_gcra *rule);

/* ---- virtual scheduling: the form that computes when a cell may leave ---------------------- */

struct leat_atm_gcra_schedule {
    uint64_t tat;
    bool beyond; /* the theoretical arrival time is tat + 2^64 */
};

/* now never decreases from call to call. `conforms` only checks, `take` counts a conforming
 * cell. */
bool leat_atm_gcra_schedule_conforms(const struct leat_atm_gcra *rule,
                                     const struct leat_atm_gcra_schedule *state, uint64_t now);
void leat_atm_gcra_schedule_take(const struct leat_atm_gcra *rule,
                                 struct leat_atm_gcra_schedule *state, uint64_t now);

/* Both in one: true if the cell conforms; only then the state has changed. */
bool leat_atm_gcra_schedule_decide(const struct leat_atm_gcra *rule,
                                   struct leat_atm_gcra_schedule *state, uint64_t now);

/* The first time from now on at which a cell conforms: max(now, TAT - tau). LEAT_NEVER: none. */
uint64_t leat_atm_gcra_schedule_due(const struct leat_atm_gcra *rule,
                                    const struct leat_atm_gcra_schedule *state, uint64_t now);

/* ---- leaky bucket -------------------------------------------------------------------------- */

struct leat_atm_gcra_bucket {
    uint64_t x;   /* at most t + tau */
    uint64_t lct; /* undefined while x is 0 */
};

bool leat_atm_gcra_bucket_conforms(const struct leat_atm_gcra *rule,
                                   const struct leat_atm_gcra_bucket *state, uint64_t now);
void leat_atm_gcra_bucket_take(const struct leat_atm_gcra *rule, struct leat_atm_gcra_bucket *state,
                               uint64_t now);
bool leat_atm_gcra_bucket_decide(const struct leat_atm_gcra *rule,
                                 struct leat_atm_gcra_bucket *state, uint64_t now);

/* ---- closed forms -------------------------------------------------------------------------- */

#define LEAT_ATM_GCRA_UNLIMITED UINT64_MAX

/*
 * The longest burst of cells `spacing` apart, floor(tau / (T - d)) + 1 (thesis 8.6.3.1); a spacing
 * of one slot gives the clump size (thesis 8.6.2). Unlimited from a spacing of T on.
 */
uint64_t leat_atm_gcra_burst_max(const struct leat_atm_gcra *rule, uint64_t spacing);

/*
 * The longest burst that can repeat forever when `gap` (Ti of the thesis) passes between the last
 * cell of a burst and the first of the next: floor(min(Ti - T, tau) / (T - d)) + 1. 0: not even
 * single cells.
 */
uint64_t leat_atm_gcra_burst_repeat_max(const struct leat_atm_gcra *rule, uint64_t spacing,
                                        uint64_t gap);

#endif
