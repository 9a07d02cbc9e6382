/*
 * Leading records (spec 1.1, 1.2): consumed along the route, one after the other, before PH.
 *
 *   L2RH    | VV000000 | 10LLLLLL | L route octets ... | pad |                W = [(L+9)/8] words
 *   symbol  | VV000000 | 1111ssss | ssssssss | ssssssss | L | L octets | pad |  W = [(L+12)/8]
 *
 * The route octets of an L2RH are interpreted by the SAN that consumes it.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_LEADING_H
#define LEAT_PACKETWAY_LEADING_H

#include "packetway_header.h"

enum {
    LEAT_PACKETWAY_L2RH_HEAD_LEN = 2,
    LEAT_PACKETWAY_SYMBOL_HEAD_LEN = 5,
    LEAT_PACKETWAY_SYMBOL_L_AT = 4,
    LEAT_PACKETWAY_L2RH_CLASS = 0x80, /* of the second octet, with the bits below */
    LEAT_PACKETWAY_L2RH_MASK = 0xC0,
    LEAT_PACKETWAY_SYMBOL_CLASS = 0xF0,
    LEAT_PACKETWAY_SYMBOL_MASK = 0xF0,
};

/* By the second octet of a word: is it the first of an L2RH, of a symbol? */
static inline bool leat_packetway_is_l2rh(uint8_t octet)
{
    return (octet & LEAT_PACKETWAY_L2RH_MASK) == LEAT_PACKETWAY_L2RH_CLASS;
}

static inline bool leat_packetway_is_symbol(uint8_t octet)
{
    return (octet & LEAT_PACKETWAY_SYMBOL_MASK) == LEAT_PACKETWAY_SYMBOL_CLASS;
}

/* Does this octet, the second of a word, begin a leading record rather than a PH? */
static inline bool leat_packetway_leading_begins(uint8_t octet)
{
    return leat_packetway_is_l2rh(octet) || leat_packetway_is_symbol(octet);
}

/* The record in octets: whole words, pad included. */
size_t leat_packetway_leading_size(const struct leat_packetway_leading *record);

/*
 * Spec 2.2 (b), one turn of its loop. A word of another class is E_ADDR. Pads are not inspected.
 * On error *out is untouched; *fault_at is 0, the record itself.
 */
leat_err leat_packetway_leading_decode(const uint8_t *buf, size_t len,
                                       enum leat_packetway_mode mode,
                                       struct leat_packetway_leading *out, size_t *fault_at);

/* The rules of spec 2.2 (b) that this word breaks, in its order; returns how many. */
enum { LEAT_PACKETWAY_LEADING_FAULTS_MAX = 4 };
unsigned leat_packetway_leading_faults(const uint8_t *buf, enum leat_packetway_mode mode,
                                       leat_err faults[LEAT_PACKETWAY_LEADING_FAULTS_MAX]);

/* Reads a record as it is, whatever rules its first word breaks. E_SHORT: it does not end. */
leat_err leat_packetway_leading_read(const uint8_t *buf, size_t len,
                                     struct leat_packetway_leading *out);

/* Writes the record and its size, or nothing: E_LIMIT, E_NOSPC. */
leat_err leat_packetway_leading_encode(const struct leat_packetway_leading *record, uint8_t *buf,
                                       size_t cap, size_t *len);

/* E_LIMIT where encode would say so. */
leat_err leat_packetway_leading_check(const struct leat_packetway_leading *record);

#endif
