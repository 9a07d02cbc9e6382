#include "sim_histogram.h"
#include <string.h>

enum {
    EXACT_BITS = LEAT_SIM_HISTOGRAM_EXACT_BITS,
    STEP_BITS = LEAT_SIM_HISTOGRAM_STEP_BITS,
    EXACT = LEAT_SIM_HISTOGRAM_EXACT,
};

static uint64_t upper_edge(uint32_t bin)
{
    if (bin < EXACT) return bin;
    const uint32_t top = EXACT_BITS + ((bin - EXACT) >> STEP_BITS);
    const uint64_t step = (bin - EXACT) & ((1u << STEP_BITS) - 1);
    const uint64_t lower = (UINT64_C(1) << top) + (step << (top - STEP_BITS));
    return lower + ((UINT64_C(1) << (top - STEP_BITS)) - 1);
}

void leat_sim_histogram_init(struct leat_sim_histogram *h)
{
    memset(h, 0, sizeof *h);
}

void leat_sim_histogram_add(struct leat_sim_histogram *h, uint64_t value)
{
    h->count++;
    h->sum += value;
    if (value > h->max) h->max = value;
    h->bin[leat_sim_histogram_bin(value)]++;
}

uint64_t leat_sim_histogram_quantile(const struct leat_sim_histogram *h, uint32_t permille)
{
    uint64_t wanted = h->count / 1000 * permille + (h->count % 1000 * permille + 999) / 1000;
    if (h->count == 0) return 0;
    if (wanted == 0) wanted = 1;
    for (uint32_t bin = 0; bin < LEAT_SIM_HISTOGRAM_BINS; bin++) {
        if (h->bin[bin] >= wanted) return upper_edge(bin) < h->max ? upper_edge(bin) : h->max;
        wanted -= h->bin[bin];
    }
    return h->max;
}

double leat_sim_histogram_mean(const struct leat_sim_histogram *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}
