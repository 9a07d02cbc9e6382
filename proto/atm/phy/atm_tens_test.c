#include "atm_tens.h"
#include "tap.h"

/* Four words fill five octets: 10 bits after 10 bits, the first most significant. */
static void words_follow_each_other_without_gaps(void)
{
    static const unsigned words[] = { 0x3ff, 0x000, 0x2aa, 0x0f3 };
    static const uint8_t want[] = { 0xff, 0xc0, 0x0a, 0xa8, 0xf3 };
    struct leat_atm_tens tens = { 0 };
    unsigned next = 0;
    for (unsigned i = 0; i < 5; i++) {
        if (leat_atm_tens_wants(&tens)) leat_atm_tens_add(&tens, words[next++]);
        EQ(leat_atm_tens_octet(&tens), want[i]);
    }
    EQ(next, 4);
    EQ(tens.have, 0);
}

static void bits_become_the_same_words(void)
{
    static const uint8_t octets[] = { 0xff, 0xc0, 0x0a, 0xa8, 0xf3 };
    static const unsigned want[] = { 0x3ff, 0x000, 0x2aa, 0x0f3 };
    struct leat_atm_tens tens = { 0 };
    unsigned words = 0;
    for (unsigned bit = 0; bit < 40; bit++) {
        const unsigned latest = leat_atm_tens_bit(&tens, octets[bit / 8] >> (7 - bit % 8) & 1);
        const bool whole = leat_atm_tens_word(&tens);
        EQ(whole, bit % 10 == 9);
        if (whole) EQ(latest, want[words++]);
    }
    EQ(words, 4);
}

TAP_MAIN(T(words_follow_each_other_without_gaps), T(bits_become_the_same_words))
