/*
 * A histogram of durations in fixed memory. Bins are exact below 4096 and 1/256 of the value wide
 * above. Mean, minimum and maximum are exact.
 */
#ifndef LEAT_SIM_HISTOGRAM_H
#define LEAT_SIM_HISTOGRAM_H

#include "sim_histogram_parts.h"

enum {
    LEAT_SIM_HISTOGRAM_BINS = LEAT_SIM_HISTOGRAM_EXACT + ((64 - LEAT_SIM_HISTOGRAM_EXACT_BITS)
                                                          << LEAT_SIM_HISTOGRAM_STEP_BITS),
};

struct leat_sim_histogram {
    uint64_t count, sum, max;
    uint64_t bin[LEAT_SIM_HISTOGRAM_BINS];
};

void leat_sim_histogram_init(struct leat_sim_histogram *h);
void leat_sim_histogram_add(struct leat_sim_histogram *h, uint64_t value);

/* The smallest value that at least `permille` of a thousand values do not exceed (the upper edge of
 * its bin, but at most the maximum); 0 without values. */
uint64_t leat_sim_histogram_quantile(const struct leat_sim_histogram *h, uint32_t permille);

/* Sum over count; 0 without values. */
double leat_sim_histogram_mean(const struct leat_sim_histogram *h);

#endif
