#include "sim_histogram.h"
#include "tap.h"
#include <leat/random.h>
#include <stdbool.h>
#include <string.h>

static struct leat_sim_histogram h;

static void without_values_everything_is_zero(void)
{
    leat_sim_histogram_init(&h);
    EQ(leat_sim_histogram_quantile(&h, 500), 0);
    EQ(leat_sim_histogram_quantile(&h, 1000), 0);
    OK(leat_sim_histogram_mean(&h) == 0);
    EQ(h.max, 0);
}

static void small_values_are_exact(void)
{
    leat_sim_histogram_init(&h);
    for (uint64_t value = 1; value <= 1000; value++)
        leat_sim_histogram_add(&h, value);
    EQ(leat_sim_histogram_quantile(&h, 0), 1);
    EQ(leat_sim_histogram_quantile(&h, 1), 1);
    EQ(leat_sim_histogram_quantile(&h, 500), 500);
    EQ(leat_sim_histogram_quantile(&h, 990), 990);
    EQ(leat_sim_histogram_quantile(&h, 1000), 1000);
    OK(leat_sim_histogram_mean(&h) == 500.5);
    EQ(h.count, 1000);
}

static void one_value_is_every_quantile(void)
{
    const uint64_t values[] = { 0, 4095, 4096, 1234567, UINT64_MAX };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        leat_sim_histogram_init(&h);
        leat_sim_histogram_add(&h, values[i]);
        for (uint32_t permille = 0; permille <= 1000; permille += 100)
            OK(leat_sim_histogram_quantile(&h, permille) == values[i]);
        OK(h.max == values[i]);
    }
}

enum { VALUES = 500 };

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The model: sorts all values. The quantile is never less, and at most 1/256 more. */
static bool agrees(const uint64_t *sorted, uint64_t count, uint32_t permille)
{
    uint64_t rank = 0; /* the least number of values that are so many in a thousand */
    while (rank * 1000 < count * permille)
        rank++;
    const uint64_t exact = sorted[rank ? rank - 1 : 0];
    const uint64_t reported = leat_sim_histogram_quantile(&h, permille);
    if (exact < 4096) return reported == exact;
    return reported >= exact && reported - exact <= exact / 256 && reported <= sorted[count - 1];
}

static void random_values_have_the_quantiles_of_the_sorted_list(void)
{
    static uint64_t values[VALUES];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 5000 + 1; round++) {
        const uint64_t count = 1 + leat_random_below(&r, VALUES);
        const uint32_t bits = (uint32_t)leat_random_below(&r, 55); /* the sum stays in 64 */
        uint64_t sum = 0;
        leat_sim_histogram_init(&h);
        for (uint64_t i = 0; i < count; i++) {
            values[i] = leat_random_below(&r, UINT64_C(2) << bits);
            sum += values[i];
            leat_sim_histogram_add(&h, values[i]);
        }
        qsort(values, count, sizeof *values, by_value);
        for (uint32_t permille = 0; permille <= 1000; permille += 5)
            OK(agrees(values, count, permille));
        EQ(h.sum, sum);
        EQ(h.max, values[count - 1]);
        OK(leat_sim_histogram_mean(&h) == (double)sum / (double)count);
    }
}

TAP_MAIN(T(without_values_everything_is_zero), T(small_values_are_exact),
         T(one_value_is_every_quantile), T(random_values_have_the_quantiles_of_the_sorted_list))
