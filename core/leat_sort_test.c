#include "leat_sort.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>

enum { MOST = 300 };

struct pair {
    uint64_t order, follows;
};

static leat_sort_before is_pair_before, has_smaller_key;

static bool is_pair_before(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct pair *)a)->order < ((const struct pair *)b)->order;
}

/* The context says where the keys are. */
static bool has_smaller_key(const void *context, const void *a, const void *b)
{
    const uint64_t *key = context;
    return key[*(const uint32_t *)a] < key[*(const uint32_t *)b];
}

static int by_word(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void elements_are_in_the_order_of_the_c_library(void)
{
    static uint64_t key[MOST], sorted[MOST];
    static struct pair pair[MOST];
    static uint32_t index[MOST];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t count = 0; count <= MOST; count += 1 + count / 9) {
        for (uint32_t i = 0; i < count; i++) {
            key[i] = sorted[i] = leat_random_next(&r);
            pair[i] = (struct pair){ key[i], ~key[i] };
            index[i] = i;
        }
        qsort(sorted, count, sizeof *sorted, by_word);
        leat_sort(pair, count, sizeof *pair, is_pair_before, NULL);
        leat_sort(index, count, sizeof *index, has_smaller_key, key);
        for (uint32_t i = 0; i < count; i++) {
            EQ(pair[i].order, sorted[i]);
            EQ(pair[i].follows, ~sorted[i]);
            EQ(key[index[i]], sorted[i]);
        }
    }
}

TAP_MAIN(T(elements_are_in_the_order_of_the_c_library))
