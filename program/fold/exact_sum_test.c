#include "exact_sum.h"
#include "tap.h"
#include <leat/random.h>
#include <math.h>
#include <string.h>

enum { NUMBERS_MAX = 200 };

/* As ranks and the network do it, in this order. */
static double sum(const double *number, int count, bool is_float)
{
    uint64_t largest = 0, all[LEAT_EXACT_SUM_WORDS] = { 0 }, word[LEAT_EXACT_SUM_WORDS];
    for (int i = 0; i < count; i++) {
        const uint64_t exponent = leat_exact_sum_exponent(number[i]);
        if (exponent > largest) largest = exponent;
    }
    for (int i = 0; i < count; i++) {
        leat_exact_sum_split(number[i], largest, word);
        for (int k = 0; k < LEAT_EXACT_SUM_WORDS; k++)
            all[k] += word[k];
    }
    return leat_exact_sum_value(all, largest, is_float);
}

static bool are_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void shuffle(struct leat_random *r, double *number, int count)
{
    for (int i = count - 1; i > 0; i--) {
        const uint64_t k = leat_random_below(r, (uint64_t)i + 1);
        const double moved = number[i];
        number[i] = number[k];
        number[k] = moved;
    }
}

/* Of any exponent within `spread` of 1. */
static double draw(struct leat_random *r, int spread)
{
    const uint64_t mantissa = leat_random_next(r) >> 11, power = leat_random_below(r, 2000);
    const double number = ldexp((double)mantissa, -53 + (int)power % (2 * spread + 1) - spread);
    return leat_random_next(r) & 1 ? -number : number;
}

static void a_sum_does_not_depend_on_the_order(void)
{
    struct leat_random r;
    double number[NUMBERS_MAX];
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 500; round++) {
        const int count = 1 + (int)leat_random_below(&r, NUMBERS_MAX);
        for (int i = 0; i < count; i++)
            number[i] = draw(&r, 1 + round % 900);
        const double first = sum(number, count, false);
        shuffle(&r, number, count);
        OK(are_same(sum(number, count, false), first));
    }
}

/* Half a unit of the last place, and n |x| 2^-94. The numbers are so close to each other that their
 * sum in the model, of integers, is exact. */
static void a_sum_is_the_nearest_number_to_the_exact_sum(void)
{
    __extension__ typedef __int128 wide;
    struct leat_random r;
    double number[NUMBERS_MAX];
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 2000; round++) {
        const int count = 1 + (int)leat_random_below(&r, NUMBERS_MAX);
        wide exact = 0;
        for (int i = 0; i < count; i++) {
            number[i] = draw(&r, 20);
            exact += (wide)ldexp(number[i], 73); /* 53 bits, the lowest at 2^-73 or above */
        }
        const double nearest = ldexp((double)exact, -73); /* C rounds as we do */
        OK(are_same(sum(number, count, false), nearest));
        OK(are_same(sum(number, count, true), (double)ldexpf((float)exact, -73)));
    }
}

/* Against sums in higher precision, of any numbers. */
static void a_sum_is_within_its_bound(void)
{
    struct leat_random r;
    double number[NUMBERS_MAX];
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 500; round++) {
        const int count = 1 + (int)leat_random_below(&r, NUMBERS_MAX);
        long double exact = 0, largest = 0;
        for (int i = 0; i < count; i++) {
            number[i] = draw(&r, 300);
            exact += number[i];
            if (fabsl((long double)number[i]) > largest) largest = fabsl((long double)number[i]);
        }
        const double got = sum(number, count, false);
        const long double bound = fabsl((long double)got) * 0x1p-53L + count * largest * 0x1p-62L;
        OK(fabsl(got - exact) <= bound);
    }
}

static void large_numbers_that_cancel_leave_the_small_ones(void)
{
    const double cancelled[] = { 1e16, 3.25, -1e16, -0x1p40, 0x1p40 };
    const double small[] = { 0x1p-1074, 0x1p-1074, -0x1p-1073, 0x1p-1074 };
    const double none[] = { 0.0, -0.0, 0.0 };
    OK(sum(cancelled, 5, false) == 3.25);
    OK(sum(small, 4, false) == 0x1p-1074);
    OK(sum(small, 3, false) == 0);
    OK(sum(none, 3, false) == 0);
}

static void what_is_cut_off_is_below_the_bound(void)
{
    const double number[] = { 0x1p100, 0x1p5, 0x1.8p4 }; /* 2^5 is the last bit, 2^4 is cut off */
    const double rest[] = { -0x1p100, 0x1p100, 0x1p5, 0x1.8p4 };
    OK(sum(number, 3, false) == 0x1p100);
    OK(fabs(sum(rest, 4, false) - 0x1.cp5) <= 4 * 0x1p100 * 0x1p-94);
}

static void infinities_and_numbers_that_are_none_prevail(void)
{
    const double up[] = { 1, INFINITY, -1e300 }, down[] = { -INFINITY, -INFINITY, 5 };
    const double both[] = { INFINITY, -INFINITY }, none[] = { 1, NAN, INFINITY };
    const double over[] = { 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023 };
    OK(sum(up, 3, false) == INFINITY && sum(down, 3, false) == -INFINITY);
    OK(isnan(sum(both, 2, false)) && isnan(sum(none, 3, false)));
    OK(sum(over, 2, false) == INFINITY);
}

TAP_MAIN(T(a_sum_does_not_depend_on_the_order), T(a_sum_is_the_nearest_number_to_the_exact_sum),
         T(a_sum_is_within_its_bound), T(large_numbers_that_cancel_leave_the_small_ones),
         T(what_is_cut_off_is_below_the_bound), T(infinities_and_numbers_that_are_none_prevail))
