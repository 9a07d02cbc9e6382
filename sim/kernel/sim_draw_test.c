#include "sim_draw.h"
#include "tap.h"
#include <string.h>

enum { MANY = LEAT_ROUNDS < 100000 ? 20000 : 200000 };

static void partners_form_one_cycle_through_all(void)
{
    enum { COUNT = 37 };
    uint32_t partner[COUNT], again[COUNT], at = 0, steps = 0;
    leat_sim_draw_partners(7, partner, COUNT);
    leat_sim_draw_partners(7, again, COUNT);
    OK(memcmp(partner, again, sizeof partner) == 0);
    do {
        at = partner[at];
        steps++;
    } while (at && steps < COUNT);
    EQ(at, 0);
    EQ(steps, COUNT);
}

static void products_and_quotients_of_fractions_are_exact(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    EQ(leat_sim_fixed_multiply(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    EQ(leat_sim_fixed_multiply(UINT64_C(1) << 63, 10), 5);
    EQ(leat_sim_fixed_divide(1, 3, 64), UINT64_C(0x5555555555555555));
    for (int i = 0; i < MANY; i++) {
        /* With 31-bit numbers nothing here exceeds 64 bits. */
        const uint64_t num = leat_random_next(&r) >> 33;
        const uint64_t den = num + 1 + leat_random_below(&r, 999);
        EQ(leat_sim_fixed_divide(num, den, 32), (num << 32) / den);
        EQ(leat_sim_fixed_multiply(num << 32, den << 20), num * den >> 12);
    }
}

TAP_MAIN(T(partners_form_one_cycle_through_all), T(products_and_quotients_of_fractions_are_exact))
