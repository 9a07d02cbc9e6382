#include "atm_aal1_block.h"
#include "tap.h"
#include <leat/random.h>

/*
 * The rule of I.363.1 as a plain search: in the cycle whose first payload octet is octet `at` of
 * the stream, which SC has the pointer, and what is it? Blocks start at multiples of block_len.
 */
static void find_pointer(uint64_t at, uint32_t block_len, unsigned *sc_out, unsigned *pointer_out)
{
    for (unsigned sc = 0; sc < 8; sc += 2) {
        const uint64_t behind_pointer = at + 47u * sc; /* no pointer in the cycle before it */
        for (unsigned offset = 0; offset <= 93; offset++) {
            if ((behind_pointer + offset) % block_len != 0) continue;
            if (offset == 93 && sc != 6) continue; /* the next even SC reaches it with 0 */
            *sc_out = sc;
            *pointer_out = offset;
            return;
        }
    }
    *sc_out = 6;
    *pointer_out = 127;
}

static void each_cycle_points_once_where_the_rule_says(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 1000 + 100; i++) {
        const uint32_t block_len = 2 + (uint32_t)leat_random_below(&r, i % 2 ? 64 : 2000);
        struct leat_atm_aal1_block block = leat_atm_aal1_block_at_start(block_len);
        uint64_t at = 0;
        OK(leat_atm_aal1_block_has_pointers(&block));
        for (int cycle = 0; cycle < 20; cycle++) {
            unsigned want_sc, want;
            find_pointer(at, block_len, &want_sc, &want);
            for (uint8_t sc = 0; sc < 8; sc++) {
                uint8_t pointer = 255;
                const bool has = leat_atm_aal1_block_pointer(&block, sc, &pointer);
                EQ(has, sc == want_sc);
                EQ(pointer, has ? want : 255);
                const size_t len = has ? 46 : 47;
                const size_t to_start = (block_len - at % block_len) % block_len;
                EQ(leat_atm_aal1_block_advance(&block, len), to_start < len ? to_start : len);
                at += len;
            }
            EQ(at, (uint64_t)(cycle + 1) * 375);
        }
    }
}

/* A block that begins with the next cycle is announced by 93 in SC 6, then by 0 in SC 0. */
static void a_block_at_the_cycle_s_edge_is_announced_twice(void)
{
    struct leat_atm_aal1_block block = leat_atm_aal1_block_at_start(375 + 375);
    unsigned pointers[16];
    for (uint8_t cell = 0; cell < 16; cell++) {
        uint8_t pointer = 0;
        const bool has = leat_atm_aal1_block_pointer(&block, cell % 8, &pointer);
        pointers[cell] = has ? pointer : 255u;
        (void)leat_atm_aal1_block_advance(&block, has ? 46 : 47);
    }
    EQ(pointers[0], 0);
    EQ(pointers[8 + 6], 93);
    EQ(block.until, 0);
}

static void streams_without_blocks_or_of_single_octets_have_no_pointers(void)
{
    for (uint32_t block_len = 0; block_len < 2; block_len++) {
        struct leat_atm_aal1_block block = leat_atm_aal1_block_at_start(block_len);
        OK(!leat_atm_aal1_block_has_pointers(&block));
        for (uint8_t sc = 0; sc < 8; sc++) {
            uint8_t pointer = 0;
            OK(!leat_atm_aal1_block_pointer(&block, sc, &pointer));
            EQ(leat_atm_aal1_block_advance(&block, 47), block_len ? 0 : 47);
        }
    }
}

TAP_MAIN(T(each_cycle_points_once_where_the_rule_says),
         T(a_block_at_the_cycle_s_edge_is_announced_twice),
         T(streams_without_blocks_or_of_single_octets_have_no_pointers))
