/*
 * Line codes whose words have ten bits, in octets: the first bit of a word is its most significant,
 * and the words follow each other without gaps, four in five octets.
 */
#ifndef LEAT_ATM_TENS_H
#define LEAT_ATM_TENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_ATM_TEN_BITS = 10, LEAT_ATM_TEN_MASK = 0x3ff };

struct leat_atm_tens {
    uint32_t bits; /* the latest ones, the newest least significant */
    unsigned have; /* bits that are no octet (sender) or no word (receiver) yet */
};

/* Sender: is there a word to add before the next octet? */
static inline bool leat_atm_tens_wants(const struct leat_atm_tens *tens)
{
    return tens->have < 8;
}

static inline void leat_atm_tens_add(struct leat_atm_tens *tens, unsigned word)
{
    tens->bits = tens->bits << LEAT_ATM_TEN_BITS | word;
    tens->have += LEAT_ATM_TEN_BITS;
}

static inline uint8_t leat_atm_tens_octet(struct leat_atm_tens *tens)
{
    tens->have -= 8;
    return (uint8_t)(tens->bits >> tens->have);
}

/* Receiver: the latest ten bits, with this one. */
static inline unsigned leat_atm_tens_bit(struct leat_atm_tens *tens, unsigned bit)
{
    tens->bits = tens->bits << 1 | bit;
    tens->have++;
    return tens->bits & LEAT_ATM_TEN_MASK;
}

/* Receiver: does a word end here? */
static inline bool leat_atm_tens_word(struct leat_atm_tens *tens)
{
    if (tens->have < LEAT_ATM_TEN_BITS) return false;
    tens->have = 0;
    return true;
}

#endif
