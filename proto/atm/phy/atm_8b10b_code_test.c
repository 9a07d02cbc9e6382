#include "atm_8b10b_code.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { OCTETS = 256, CONTROLS = 8, K28 = 28 };

static struct leat_atm_8b10b_table table;

static unsigned bits_of(const char *text)
{
    unsigned word = 0;
    for (; *text; text++)
        if (*text != ' ') word = word << 1 | (*text == '1');
    return word;
}

static int disparity_of(unsigned word)
{
    int sum = 0;
    for (unsigned i = 0; i < 10; i++)
        sum += word >> i & 1 ? 1 : -1;
    return sum;
}

/* Words as printed in IEEE 802.3, tables 36-1 and 36-2, which took them from Fibre Channel. */
static void published_words_are_golden(void)
{
    static const struct {
        uint8_t octet;
        bool control;
        const char *minus, *plus;
    } words[] = {
        { 0x00, false, "100111 0100", "011000 1011" }, /* D0.0 */
        { 0x01, false, "011101 0100", "100010 1011" }, /* D1.0 */
        { 0x03, false, "110001 1011", "110001 0100" }, /* D3.0 */
        { 0x07, false, "111000 1011", "000111 0100" }, /* D7.0 */
        { 0x0f, false, "010111 0100", "101000 1011" }, /* D15.0 */
        { 0x4a, false, "010101 0101", "010101 0101" }, /* D10.2 */
        { 0x6a, false, "010101 1100", "010101 0011" }, /* D10.3 */
        { 0xb5, false, "101010 1010", "101010 1010" }, /* D21.5 */
        { 0xeb, false, "110100 1110", "110100 1000" }, /* D11.7 */
        { 0xf1, false, "100011 0111", "100011 0001" }, /* D17.7 */
        { 0xff, false, "101011 0001", "010100 1110" }, /* D31.7 */
        { 0x1c, true, "001111 0100", "110000 1011" },  /* K28.0 */
        { 0x3c, true, "001111 1001", "110000 0110" },  /* K28.1 */
        { 0x5c, true, "001111 0101", "110000 1010" },  /* K28.2 */
        { 0x7c, true, "001111 0011", "110000 1100" },  /* K28.3 */
        { 0x9c, true, "001111 0010", "110000 1101" },  /* K28.4 */
        { 0xbc, true, "001111 1010", "110000 0101" },  /* K28.5 */
        { 0xdc, true, "001111 0110", "110000 1001" },  /* K28.6 */
        { 0xfc, true, "001111 1000", "110000 0111" },  /* K28.7 */
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool plus = false;
        EQ(leat_atm_8b10b_encode(words[i].octet, words[i].control, &plus), bits_of(words[i].minus));
        plus = true;
        EQ(leat_atm_8b10b_encode(words[i].octet, words[i].control, &plus), bits_of(words[i].plus));
    }
    EQ(bits_of("001111 1010"), LEAT_ATM_8B10B_K28_5_MINUS);
    EQ(bits_of("110000 0101"), LEAT_ATM_8B10B_K28_5_PLUS);
}

/* Each word has as many ones as zeros, or two more of the kind that lacked. */
static void words_balance(void)
{
    for (unsigned i = 0; i < OCTETS + CONTROLS; i++)
        for (int before = 0; before <= 1; before++) {
            const bool control = i >= OCTETS;
            bool plus = before;
            const uint8_t octet = (uint8_t)(control ? (i - OCTETS) << 5 | K28 : i);
            const int d = disparity_of(leat_atm_8b10b_encode(octet, control, &plus));
            if (d == 0)
                EQ(plus, before);
            else
                OK(plus == !before && d == (before ? -2 : 2));
        }
}

/* Any two words in a row: at most five equal bits, and a comma only where K28.1, 5, 7 begin. */
static void runs_are_short_and_commas_unique(void)
{
    for (unsigned i = 0; i < OCTETS; i++)
        for (unsigned k = 0; k < OCTETS; k++)
            for (int before = 0; before <= 1; before++) {
                bool plus = before;
                const unsigned first = leat_atm_8b10b_encode((uint8_t)i, false, &plus);
                const unsigned pair = first << 10 | leat_atm_8b10b_encode((uint8_t)k, false, &plus);
                unsigned run = 1, longest = 1;
                for (unsigned b = 1; b < 20; b++) {
                    run = (pair >> b & 1) == (pair >> (b - 1) & 1) ? run + 1 : 1;
                    longest = run > longest ? run : longest;
                }
                OK(longest <= 5);
                for (unsigned b = 0; b <= 13; b++) {
                    OK((pair >> b & 0x7f) != 0x1f);
                    OK((pair >> b & 0x7f) != 0x60);
                }
            }
}

static void every_octet_comes_back_and_no_two_share_a_word(void)
{
    leat_atm_8b10b_table_init(&table);
    unsigned known = 0;
    for (unsigned i = 0; i < OCTETS + CONTROLS; i++)
        for (int before = 0; before <= 1; before++) {
            const bool control = i >= OCTETS;
            bool sent = before, received = before;
            const uint8_t octet = (uint8_t)(control ? (i - OCTETS) << 5 | K28 : i);
            const unsigned word = leat_atm_8b10b_encode(octet, control, &sent);
            const struct leat_atm_8b10b_symbol s = leat_atm_8b10b_decode(&table, word, &received);
            EQ(s.octet, octet);
            EQ(s.control, control);
            EQ(s.violation, 0);
            EQ(received, sent);
        }
    for (unsigned word = 0; word < LEAT_ATM_8B10B_WORDS; word++)
        for (int before = 0; before <= 1; before++) {
            bool plus = before;
            known += !leat_atm_8b10b_decode(&table, word, &plus).violation;
        }
    EQ(known, 2 * (OCTETS + CONTROLS));
}

/* A wrong bit turns the balance by two: it shows at once, or at the next unbalanced word. */
static void every_wrong_bit_shows_in_the_end(void)
{
    struct leat_random r;
    leat_atm_8b10b_table_init(&table);
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 100; i++) {
        bool sent = leat_random_below(&r, 2), received = sent, seen = false;
        const unsigned wrong = 1u << leat_random_below(&r, 10);
        for (int k = 0; k < 100 && !seen; k++) {
            uint8_t octet;
            leat_random_fill(&r, &octet, 1);
            const unsigned word = leat_atm_8b10b_encode(octet, false, &sent);
            seen = leat_atm_8b10b_decode(&table, k ? word : word ^ wrong, &received).violation;
        }
        OK(seen);
    }
}

TAP_MAIN(T(published_words_are_golden), T(words_balance), T(runs_are_short_and_commas_unique),
         T(every_octet_comes_back_and_no_two_share_a_word), T(every_wrong_bit_shows_in_the_end))
