#include "leat_crc_fold.h"
#include "tap.h"
#include <leat/crc.h>
#include <leat/random.h>
#include <string.h>

/* The definition: one bit at a time, most significant first. */
static uint64_t by_bits_msb(uint64_t reg, uint64_t poly, unsigned width, const uint8_t *p,
                            size_t len)
{
    const uint64_t top = UINT64_C(1) << (width - 1), mask = (top - 1) | top;
    for (size_t i = 0; i < 8 * len; i++) {
        const uint64_t bit = (uint64_t)p[i / 8] >> (7 - i % 8) & 1;
        const uint64_t out = (reg & top ? 1 : 0) ^ bit;
        reg = (reg << 1 & mask) ^ (out ? poly : 0);
    }
    return reg;
}

static uint64_t by_bits_lsb(uint64_t reg, uint64_t poly, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < 8 * len; i++) {
        const uint64_t out = (reg ^ (uint64_t)p[i / 8] >> i % 8) & 1;
        reg = reg >> 1 ^ (out ? poly : 0);
    }
    return reg;
}

static uint8_t octets[5000];

static void check_all(const uint8_t *p, size_t len)
{
    EQ(leat_crc10(0, p, len), by_bits_msb(0, 0x233, 10, p, len));
    EQ(leat_crc16(0, p, len), by_bits_msb(0, 0x1021, 16, p, len));
    EQ(leat_crc32(0, p, len), (uint32_t)~by_bits_lsb(0xffffffff, 0xedb88320, p, len));
    EQ(leat_crc32_msb(0, p, len), (uint32_t)~by_bits_msb(0xffffffff, 0x04c11db7, 32, p, len));
    EQ(leat_crc64(0, p, len), ~by_bits_lsb(UINT64_MAX, UINT64_C(0xC96C5795D7870F42), p, len));
}

static void catalogue_values_come_out(void)
{
    const char *digits = "123456789";
    EQ(leat_crc10(0, digits, 9), 0x199);
    EQ(leat_crc16(0, digits, 9), 0x31c3);
    EQ(leat_crc32(0, digits, 9), 0xcbf43926);
    EQ(leat_crc32_msb(0, digits, 9), 0xfc891918);
    OK(leat_crc64(0, digits, 9) == UINT64_C(0x995dc9bbdf1939fa));
}

/* spec/atm.md, 1.2 */
static void header_checks_are_those_of_the_note(void)
{
    static const uint8_t v[][5] = {
        { 0x00, 0x00, 0x00, 0x00, 0x55 }, { 0x00, 0x00, 0x00, 0x01, 0x52 },
        { 0x04, 0x00, 0x00, 0x00, 0x0d }, { 0x01, 0x50, 0x00, 0x00, 0x67 },
        { 0x00, 0x60, 0x00, 0x00, 0x90 }, { 0x00, 0x10, 0x00, 0x50, 0x40 },
        { 0x01, 0x23, 0x45, 0x62, 0x8e }, { 0xab, 0xc3, 0x45, 0x67, 0x38 },
        { 0x04, 0x00, 0x00, 0x6c, 0x0e }, { 0x12, 0x34, 0x56, 0x78, 0x49 },
        { 0xff, 0xff, 0xff, 0xff, 0x8b },
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        EQ(leat_crc_hec(v[i]), v[i][4]);
        EQ(by_bits_msb(0, 0x07, 8, v[i], 4) ^ 0x55, v[i][4]);
    }
}

static void every_length_and_alignment_agrees_with_the_definition(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, octets, sizeof octets);
    for (size_t len = 0; len < 300; len++)
        check_all(octets + len % 17, len);
    check_all(octets, sizeof octets);
}

static void pieces_give_the_same_as_the_whole(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 1000; i++) {
        const size_t len = leat_random_below(&r, sizeof octets);
        const size_t cut = leat_random_below(&r, len + 1);
        leat_random_fill(&r, octets, len < 64 ? len : 64);
        EQ(leat_crc10(leat_crc10(0, octets, cut), octets + cut, len - cut),
           leat_crc10(0, octets, len));
        EQ(leat_crc16(leat_crc16(0, octets, cut), octets + cut, len - cut),
           leat_crc16(0, octets, len));
        EQ(leat_crc32(leat_crc32(0, octets, cut), octets + cut, len - cut),
           leat_crc32(0, octets, len));
        EQ(leat_crc32_msb(leat_crc32_msb(0, octets, cut), octets + cut, len - cut),
           leat_crc32_msb(0, octets, len));
        EQ(leat_crc64(leat_crc64(0, octets, cut), octets + cut, len - cut),
           leat_crc64(0, octets, len));
    }
}

static void folding_agrees_with_the_tables(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 1000; i++) {
        const size_t at = leat_random_below(&r, 64);
        const size_t len = leat_random_below(&r, sizeof octets - at + 1);
        const uint32_t start = (uint32_t)leat_random_next(&r);
        EQ(leat_crc32(start, octets + at, len), leat_crc32_by_table(start, octets + at, len));
        EQ(leat_crc32_msb(start, octets + at, len),
           leat_crc32_msb_by_table(start, octets + at, len));
        if (!leat_crc_fold_available()) continue;
        EQ(leat_crc32_by_fold(start, octets + at, len), leat_crc32(start, octets + at, len));
        EQ(leat_crc16_by_fold((uint16_t)start, octets + at, len % 100),
           leat_crc16_by_table((uint16_t)start, octets + at, len % 100));
        EQ(leat_crc16_by_fold((uint16_t)start, octets + at, len),
           leat_crc16_by_table((uint16_t)start, octets + at, len));
        EQ(leat_crc32_msb_by_fold(start, octets + at, len),
           leat_crc32_msb(start, octets + at, len));
    }
}

static void the_engine_has_a_name(void)
{
    OK(strlen(leat_crc_engine()) > 0);
    OK(strlen(leat_crc_fold_name()) > 0);
    OK(leat_crc_fold_available() == (strcmp(leat_crc_engine(), "tables") != 0));
}

TAP_MAIN(T(catalogue_values_come_out), T(header_checks_are_those_of_the_note),
         T(every_length_and_alignment_agrees_with_the_definition),
         T(pieces_give_the_same_as_the_whole), T(folding_agrees_with_the_tables),
         T(the_engine_has_a_name))
