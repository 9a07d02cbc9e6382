#include "atm_route.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static void an_entry_has_13_bits_for_each_output(void)
{
    EQ(leat_atm_route_entry_len(1), 2);
    EQ(leat_atm_route_entry_len(4), 7);
    EQ(leat_atm_route_entry_len(8), 13);
    EQ(leat_atm_route_entry_len(LEAT_ATM_ROUTE_VP_FAN_OUT_MAX), LEAT_ATM_ROUTE_ENTRY_LEN_MAX);
}

/* Published: entry 33 of PPD 17 in the prototype, and entry 7 of PPD 5. */
static void the_prototype_s_entries_are_packed_as_published(void)
{
    static const uint8_t all[] = { 0x00, 0x1d, 0x01, 0xd0, 0x1d, 0x01, 0xdf };
    static const uint8_t one[] = { 0x00, 0x12, 0x00, 0x00, 0x00, 0x00, 0x08 };
    uint8_t entry[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
    leat_atm_route_pack(&(struct leat_atm_route){ .select = 15, .label = 0x1d }, 4, entry);
    OK(memcmp(entry, all, sizeof all) == 0);
    leat_atm_route_pack(&(struct leat_atm_route){ .select = 8, .label = 0x12 }, 4, entry);
    OK(memcmp(entry, one, sizeof one) == 0);
}

/* The plain model: a string of bits from the left, the highest output first. */
static void pack_plainly(const struct leat_atm_route *route, uint32_t fan_out, uint8_t *entry)
{
    char bits[8 * LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
    uint32_t n = 0;
    while ((n + 13 * fan_out) % 8)
        bits[n++] = 0;
    for (uint32_t u = fan_out; u-- > 0;)
        for (int b = 11; b >= 0; b--)
            bits[n++] = (char)((route->select >> u & 1) ? route->label >> b & 1 : 0);
    for (uint32_t u = fan_out; u-- > 0;)
        bits[n++] = (char)(route->select >> u & 1);
    for (uint32_t i = 0; i < n; i += 8) {
        entry[i / 8] = 0;
        for (uint32_t b = 0; b < 8; b++)
            entry[i / 8] = (uint8_t)(entry[i / 8] << 1 | bits[i + b]);
    }
}

static void random_entries_agree_with_the_plain_model(void)
{
    struct leat_random random;
    int wrong = 0;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 4; round++) {
        const uint32_t fan_out = 1 + (uint32_t)leat_random_below(&random, 16);
        struct leat_atm_route route = { 0 };
        route.select = leat_random_next(&random) & ((UINT64_C(1) << fan_out) - 1);
        route.label = (uint32_t)leat_random_below(&random, 4096);
        uint8_t got[LEAT_ATM_ROUTE_ENTRY_LEN_MAX], want[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
        leat_atm_route_pack(&route, fan_out, got);
        pack_plainly(&route, fan_out, want);
        wrong += memcmp(got, want, leat_atm_route_entry_len(fan_out)) != 0;
    }
    EQ(wrong, 0);
}

static void a_label_lies_above_four_bits_that_stay(void)
{
    uint8_t cell[4] = { 0xff, 0xf5, 0xff, 0xf6 };
    leat_atm_label_put(cell, LEAT_ATM_VP_HEADER, 0xabc);
    OK(memcmp(cell, (uint8_t[]){ 0xab, 0xc5, 0xff, 0xf6 }, 4) == 0);
    EQ(leat_atm_label_get(cell, LEAT_ATM_VP_HEADER), 0xabc);
    leat_atm_label_put(cell, LEAT_ATM_VC_HEADER, 0x1234567);
    OK(memcmp(cell, (uint8_t[]){ 0x12, 0x34, 0x56, 0x76 }, 4) == 0);
    EQ(leat_atm_label_get(cell, LEAT_ATM_VC_HEADER), 0x1234567);
}

TAP_MAIN(T(a_label_lies_above_four_bits_that_stay), T(an_entry_has_13_bits_for_each_output),
         T(the_prototype_s_entries_are_packed_as_published),
         T(random_entries_agree_with_the_plain_model))
