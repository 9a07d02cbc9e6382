#include "atm_8b10b_code.h"
#include <string.h>

enum { LOW_BITS = 6, LOW_MASK = 0x3f, HIGH_BITS = 4, HIGH_MASK = 0xf, K28 = 28, X_MASK = 0x1f };

/* abcdei by EDCBA, fghj by HGF, where zeros have prevailed. */
static const uint8_t low_minus[32] = {
    0x27, 0x1d, 0x2d, 0x31, 0x35, 0x29, 0x19, 0x38, 0x39, 0x25, 0x15, 0x34, 0x0d, 0x2c, 0x1c, 0x17,
    0x1b, 0x23, 0x13, 0x32, 0x0b, 0x2a, 0x1a, 0x3a, 0x33, 0x26, 0x16, 0x36, 0x0e, 0x2e, 0x1e, 0x2b,
};
static const uint8_t high_minus[8] = { 0xb, 0x9, 0x5, 0xc, 0xd, 0xa, 0x6, 0xe };
static const uint8_t high_minus_control[8] = { 0xb, 0x6, 0xa, 0xc, 0xd, 0x5, 0x9, 0x7 };
enum {
    LOW_MINUS_K28 = 0x0f,
    X_BALANCED_PAIR = 7,
    Y_BALANCED_PAIR = 3,
    Y_LONG = 7,
    HIGH_LONG = 0x7
};

static unsigned ones_in(unsigned word)
{
    unsigned n = 0;
    for (; word; word &= word - 1)
        n++;
    return n;
}

/* Five equal bits would meet across the halves of D17.7 and its like: another form ends them. */
static bool needs_long_form(unsigned x, bool plus)
{
    return plus ? x == 11 || x == 13 || x == 14 : x == 17 || x == 18 || x == 20;
}

unsigned leat_atm_8b10b_encode(uint8_t octet, bool control, bool *plus)
{
    const unsigned x = octet & X_MASK, y = octet >> 5;
    unsigned low = control ? LOW_MINUS_K28 : low_minus[x];
    const bool low_turns = ones_in(low) != LOW_BITS / 2;
    if (*plus && (low_turns || x == X_BALANCED_PAIR)) low ^= LOW_MASK;
    *plus ^= low_turns;

    unsigned high = control ? high_minus_control[y] : high_minus[y];
    if (!control && y == Y_LONG && needs_long_form(x, *plus)) high = HIGH_LONG;
    const bool high_turns = ones_in(high) != HIGH_BITS / 2;
    if (*plus && (high_turns || y == Y_BALANCED_PAIR || control)) high ^= HIGH_MASK;
    *plus ^= high_turns;
    return low << HIGH_BITS | high;
}

enum { OCTET_MASK = 0xff, CONTROL = 0x100, AT_MINUS = 0x200, AT_PLUS = 0x400 };

static void add_meaning(struct leat_atm_8b10b_table *table, uint8_t octet, bool control)
{
    for (int before = 0; before <= 1; before++) {
        bool plus = before;
        const unsigned word = leat_atm_8b10b_encode(octet, control, &plus);
        table->meaning[word] |= (uint16_t)(octet | (control ? CONTROL : 0) |
                                           (before ? AT_PLUS : AT_MINUS));
    }
}

void leat_atm_8b10b_table_init(struct leat_atm_8b10b_table *table)
{
    memset(table, 0, sizeof *table);
    for (unsigned octet = 0; octet <= OCTET_MASK; octet++)
        add_meaning(table, (uint8_t)octet, false);
    for (unsigned y = 0; y < 8; y++)
        add_meaning(table, (uint8_t)(y << 5 | K28), true);
}

/* What the disparity is after the word, whatever it was before: a wrong one is believed once. */
static bool plus_after(unsigned word, unsigned meaning, bool plus)
{
    const unsigned ones = ones_in(word), half = (LOW_BITS + HIGH_BITS) / 2;
    if (ones != half) return ones > half;
    const unsigned at = meaning & (AT_MINUS | AT_PLUS);
    return at == AT_PLUS || (at != AT_MINUS && plus);
}

struct leat_atm_8b10b_symbol leat_atm_8b10b_decode(const struct leat_atm_8b10b_table *table,
                                                   unsigned word, bool *plus)
{
    const unsigned meaning = table->meaning[word % LEAT_ATM_8B10B_WORDS];
    const bool known = meaning & (*plus ? AT_PLUS : AT_MINUS);
    *plus = plus_after(word, meaning, *plus);
    return (struct leat_atm_8b10b_symbol){ .octet = meaning & OCTET_MASK,
                                           .control = meaning & CONTROL,
                                           .violation = !known };
}
