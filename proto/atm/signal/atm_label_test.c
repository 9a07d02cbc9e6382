#include "atm_label.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static _Alignas(max_align_t) uint8_t memory[1 << 12];

static struct leat_atm_labels *made(struct leat_atm_label_range range)
{
    struct leat_atm_labels *labels = NULL;
    OK(leat_atm_labels_footprint(&range) <= sizeof memory);
    EQ(leat_atm_labels_init(memory, sizeof memory, &range, &labels), LEAT_ERR_OK);
    return labels;
}

static void labels_ascend_and_come_back_behind_all_others(void)
{
    struct leat_atm_labels *l = made((struct leat_atm_label_range){ 7, 8, 40, 41 });
    static const struct leat_atm_label want[] = { { 7, 40 }, { 7, 41 }, { 8, 40 }, { 8, 41 } };
    struct leat_atm_label got[4], again;
    for (int i = 0; i < 4; i++)
        OK(leat_atm_labels_take(l, &got[i]));
    OK(memcmp(got, want, sizeof want) == 0);
    OK(!leat_atm_labels_take(l, &again));
    leat_atm_labels_give(l, got[2]);
    leat_atm_labels_give(l, got[0]);
    EQ(leat_atm_labels_free(l), 2);
    OK(leat_atm_labels_take(l, &again) && again.vpi == 8 && again.vci == 40);
    leat_atm_labels_give(l, got[1]);
    OK(leat_atm_labels_take(l, &again) && again.vpi == 7 && again.vci == 40);
    OK(leat_atm_labels_take(l, &again) && again.vpi == 7 && again.vci == 41);
    OK(!leat_atm_labels_take(l, &again));
}

static void ranges_have_limits(void)
{
    static const struct leat_atm_label_range bad[] = {
        { 0, 4096, 32, 32 }, { 2, 1, 32, 32 },       { 0, 0, 31, 40 },
        { 0, 0, 41, 40 },    { 0, 4095, 32, 65535 },
    };
    struct leat_atm_label_range good = { 0, 15, 32, 65535 };
    struct leat_atm_labels *labels = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EQ(leat_atm_label_range_check(&bad[i]), LEAT_ERR_RANGE);
    EQ(leat_atm_label_range_check(&good), LEAT_ERR_OK);
    EQ(leat_atm_labels_init(memory, sizeof memory, &bad[0], &labels), LEAT_ERR_RANGE);
    EQ(leat_atm_labels_init(memory, sizeof memory, &good, &labels), LEAT_ERR_MEMORY);
    OK(!labels);
}

/* No label is out twice, and none is lost. */
static void random_labels_agree_with_a_plain_set(void)
{
    enum { VPIS = 3, VCIS = 20 };
    struct leat_atm_labels *l = made((struct leat_atm_label_range){ 1, VPIS, 32, 31 + VCIS });
    bool out[VPIS][VCIS] = { { false } };
    unsigned count = 0;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        const uint64_t p = leat_random_below(&r, VPIS), c = leat_random_below(&r, VCIS);
        const uint64_t takes = leat_random_below(&r, 5) < 2 + (uint64_t)(i / 1000 % 2);
        struct leat_atm_label label = { (uint16_t)(1 + p), (uint16_t)(32 + c) };
        if (takes) {
            EQ(leat_atm_labels_take(l, &label), count < VPIS * VCIS);
            if (count == VPIS * VCIS) continue;
            OK(!out[label.vpi - 1][label.vci - 32]);
            out[label.vpi - 1][label.vci - 32] = true;
            count++;
        } else if (out[p][c]) {
            leat_atm_labels_give(l, label);
            out[p][c] = false;
            count--;
        }
        EQ(leat_atm_labels_free(l), VPIS * VCIS - count);
    }
}

TAP_MAIN(T(labels_ascend_and_come_back_behind_all_others), T(ranges_have_limits),
         T(random_labels_agree_with_a_plain_set))
