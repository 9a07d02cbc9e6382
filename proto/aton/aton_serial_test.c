#include "aton_serial.h"
#include "tap.h"
#include <leat/crc.h>
#include <leat/random.h>

static struct leat_random r = { { 1, 2, 3, 4 } };

static uint64_t number(unsigned bits)
{
    const uint64_t x = leat_random_next(&r) >> (64 - bits);
    return leat_random_below(&r, 3) ? x : x & 3;
}

static void the_adder_adds_from_the_lowest_bit(void)
{
    for (int k = 0; k < 1000; k++) {
        const uint64_t a = number(63), b = number(63);
        uint64_t sum = 0;
        uint8_t carry = 0;
        for (unsigned i = 0; i < 64; i++)
            sum |= (uint64_t)leat_aton_add_bit(&carry, a >> i & 1, b >> i & 1) << i;
        OK(sum == a + b && carry == 0);
    }
    uint8_t carry = 0;
    EQ(leat_aton_add_bit(&carry, 1, 1), 0);
    EQ(carry, 1);
}

static void the_incrementer_adds_its_preset_carry(void)
{
    for (int k = 0; k < 1000; k++) {
        const uint64_t a = number(16), preset = leat_random_below(&r, 2);
        uint64_t sum = 0;
        uint8_t carry = (uint8_t)preset;
        for (unsigned i = 0; i < 17; i++)
            sum |= (uint64_t)leat_aton_increment_bit(&carry, a >> i & 1) << i;
        OK(sum == a + preset);
    }
}

static void comparing_and_selecting_go_from_the_highest_bit(void)
{
    for (int k = 0; k < 3000; k++) {
        const uint64_t passing = number(16), operand = number(16);
        uint64_t max = 0, min = 0;
        uint8_t found = LEAT_ATON_UNDECIDED;
        for (unsigned i = 16; i-- > 0;) {
            const unsigned p = passing >> i & 1, x = operand >> i & 1;
            leat_aton_compare_bit(&found, p, x);
            max = max << 1 | leat_aton_select_bit(LEAT_ATON_MAX, found, p, x);
            min = min << 1 | leat_aton_select_bit(LEAT_ATON_MIN, found, p, x);
        }
        OK(max == (operand > passing ? operand : passing));
        OK(min == (operand < passing ? operand : passing));
        EQ(leat_aton_is_selected(LEAT_ATON_MAX, found), operand >= passing);
        EQ(leat_aton_is_selected(LEAT_ATON_MIN, found), operand <= passing);
        EQ(leat_aton_is_counted(LEAT_ATON_EQ, found), passing == operand);
        EQ(leat_aton_is_counted(LEAT_ATON_LT, found), passing < operand);
        EQ(leat_aton_is_counted(LEAT_ATON_LE, found), passing <= operand);
    }
}

static void the_address_loader_has_sixteen_bits_and_then_zeros(void)
{
    uint64_t loaded = 0;
    for (unsigned i = 0; i < 64; i++)
        loaded |= (uint64_t)leat_aton_address_bit(0xA5C3, i) << i;
    EQ(loaded, 0xA5C3);
}

static void the_crc_of_bits_is_that_of_their_octets(void)
{
    for (int k = 0; k < 200; k++) {
        uint8_t octets[40];
        const size_t len = leat_random_below(&r, sizeof octets + 1);
        uint32_t crc = LEAT_ATON_CRC_START, sent = 0;
        leat_random_fill(&r, octets, sizeof octets);
        for (size_t i = 0; i < 8 * len; i++)
            crc = leat_aton_crc_bit(crc, octets[i / 8] >> i % 8 & 1);
        for (unsigned i = 0; i < 32; i++)
            sent |= (uint32_t)leat_aton_crc_out(&crc) << i;
        EQ(sent, leat_crc32(0, octets, len));
    }
}

TAP_MAIN(T(the_adder_adds_from_the_lowest_bit), T(the_incrementer_adds_its_preset_carry),
         T(comparing_and_selecting_go_from_the_highest_bit),
         T(the_address_loader_has_sixteen_bits_and_then_zeros),
         T(the_crc_of_bits_is_that_of_their_octets))
