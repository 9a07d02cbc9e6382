/*
 * A member's contribution to a sum: a piece of its value and a 1, in one 64-bit val.
 *
 *   bit 63     count_at              0
 *   +-----------+--------------------+      every member adds 2^count_at + piece,
 *   |  members  |  sum of the pieces |      piece = (value >> shift) mod 2^width
 *   +-----------+--------------------+      width = 2 count_at - 64
 *
 * One packet thus carries the sum and the number of members in it, and the two cannot disagree: a
 * root that knows the membership sees at once when a member is missing. With members < 2^b there
 * are b bits for the count and 64 - b for the sum, enough for pieces of 64 - 2b bits. Wider values
 * go in several parts, each a computation of its own. A census is a part without a piece.
 *
 *   members up to        255    4095    65535    1048575
 *   bits of a piece       48      40       32         24
 *
 * DECISION: the note asks for a count beside a sum and does not say how. Sums have 64 bits and
 * wrap, so that signed values come out right too; an average of unsigned values uses the whole sum,
 * whose upper half the parts provide as well.
 */
#ifndef LEAT_ESP_PART_H
#define LEAT_ESP_PART_H

#include <stdbool.h>
#include <stdint.h>

enum { LEAT_ESP_PARTS_MAX = 3, LEAT_ESP_COUNT_BITS_MAX = 20, LEAT_ESP_VALUE_BITS = 64 };

struct leat_esp_part {
    uint8_t shift;
    uint8_t count_at; /* 0: a census; else above 32 */
};

static inline uint64_t leat_esp_part_mask(unsigned bits)
{
    return bits >= LEAT_ESP_VALUE_BITS ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* The value in an announcement: 2^count_at. */
static inline uint64_t leat_esp_part_base(const struct leat_esp_part *part)
{
    return UINT64_C(1) << part->count_at;
}

/* What a member with this value sends, from the announcement's base and shift (below 64). A base of
 * 2^32 or less has no room for a piece. */
static inline uint64_t leat_esp_part_val(uint64_t base, unsigned shift, uint64_t value)
{
    unsigned count_at = LEAT_ESP_VALUE_BITS - 1;
    while (count_at && !(base >> count_at))
        count_at--;
    const unsigned width = 2 * count_at > LEAT_ESP_VALUE_BITS ? 2 * count_at - LEAT_ESP_VALUE_BITS
                                                              : 0;
    return base + (value >> shift & leat_esp_part_mask(width));
}

/* Splits a collected val. */
static inline uint64_t leat_esp_part_count(const struct leat_esp_part *part, uint64_t val)
{
    return val >> part->count_at;
}

/* The part's share of the sum: the shares of all parts add up to it, modulo 2^64. */
static inline uint64_t leat_esp_part_share(const struct leat_esp_part *part, uint64_t val)
{
    return (val & leat_esp_part_mask(part->count_at)) << part->shift;
}

/* The upper half of its share, above 2^64. */
static inline uint64_t leat_esp_part_share_high(const struct leat_esp_part *part, uint64_t val)
{
    const uint64_t sum = val & leat_esp_part_mask(part->count_at);
    return part->shift ? sum >> (LEAT_ESP_VALUE_BITS - part->shift) : 0;
}

/* Divides a two-word sum by `count`, which is not 0. The quotient is below 2^64 (an average is no
 * larger than the largest value); *rest is below count. */
static inline uint64_t leat_esp_part_average(uint64_t high, uint64_t low, uint32_t count,
                                             uint64_t *rest)
{
    const uint64_t half[2] = { high, low };
    uint64_t quotient = 0, left = 0;
    for (int i = 0; i < 4; i++) { /* long division, 32 bits at a time */
        left = left << 32 | (half[i / 2] >> (i % 2 ? 0 : 32) & UINT32_MAX);
        quotient = quotient << 32 | left / count;
        left %= count;
    }
    *rest = left;
    return quotient;
}

/*
 * The parts for this many members, 0 to 2^20 - 1, with values of this many bits, 0 (a census) to
 * 64. Returns their number, 1 to LEAT_ESP_PARTS_MAX.
 */
static inline unsigned leat_esp_part_plan(uint32_t members, unsigned value_bits,
                                          struct leat_esp_part part[LEAT_ESP_PARTS_MAX])
{
    unsigned count_bits = 1, parts = 0;
    while (members >> count_bits)
        count_bits++;
    const unsigned width = LEAT_ESP_VALUE_BITS - 2 * count_bits;
    part[0] = (struct leat_esp_part){ 0 };
    for (unsigned shift = 0; shift < value_bits; shift += width)
        part[parts++] = (struct leat_esp_part){
            .shift = (uint8_t)shift, .count_at = (uint8_t)(LEAT_ESP_VALUE_BITS - count_bits)
        };
    return parts ? parts : 1;
}

#endif
