/*
 * A clock domain: its period is num/den picoseconds, its edge k lies at floor(k * num / den).
 *
 *     cycle   0         1         2         3            num/den = 10000/3: 300 MHz
 *     ps      0         3333      6666      10000
 *
 * Exact for all 64-bit numbers; results that do not fit in 64 bits are reported as errors.
 */
#ifndef LEAT_SIM_CLOCK_H
#define LEAT_SIM_CLOCK_H

#include "leat_err.h"
#include "leat_text.h"
#include <leat/time.h>

struct leat_sim_clock {
    uint64_t num, den; /* both at least 1 */
};

/* RANGE if the period is 0 or infinite. */
leat_err leat_sim_clock_init(struct leat_sim_clock *clock, uint64_t num, uint64_t den);

/* RANGE for a period below 1 ps; `why`: what was expected. */
leat_err leat_sim_clock_check(const struct leat_sim_clock *clock, struct leat_text *why);

/* The time of edge `cycle`. RANGE: not before LEAT_NEVER. */
leat_err leat_sim_clock_edge(const struct leat_sim_clock *clock, uint64_t cycle, leat_time *at);

/* The same for an edge that is known to be before LEAT_NEVER (asserted). */
leat_time leat_sim_clock_at(const struct leat_sim_clock *clock, uint64_t cycle);

/* The cycle that contains `at`: that of the last edge at or before it. RANGE: beyond 64 bits. */
leat_err leat_sim_clock_cycle(const struct leat_sim_clock *clock, leat_time at, uint64_t *cycle);

/* The same without a limit: LEAT_NEVER for LEAT_NEVER, and for what is beyond 64 bits. */
uint64_t leat_sim_clock_last(const struct leat_sim_clock *clock, leat_time until);

/* The first cycle that begins at or after `at`; LEAT_NEVER: it does not fit in 64 bits. */
uint64_t leat_sim_clock_cycle_from(const struct leat_sim_clock *clock, leat_time at);

/* Parses "50ns" or "312.5MHz". False: *out is untouched, and this was expected: */
#define LEAT_SIM_CLOCK_EXPECTED                                                                   \
    "is no clock, expected 0.001 to 1000000 with up to 6 decimals, and ns or MHz, as in 50ns or " \
    "20MHz"
bool leat_sim_clock_read(const char *text, size_t len, struct leat_sim_clock *out);

/* The inverse, for a clock that was parsed. */
void leat_sim_clock_put(const struct leat_sim_clock *clock, struct leat_text *text);

#endif
