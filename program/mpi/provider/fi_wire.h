/*
 * Messages between ranks: a header, followed by the payload. Numbers are big-endian.
 *
 *     octet  0      1       2    4                8               16               24
 *     eager  | kind | flags | 0  | padding       | tag            | data           | payload ...
 *     ask    | kind | flags | 0  | sender's no.  | tag            | data           | length |
 *     grant  | kind | 0     | 0  | sender's no.  | receiver's no. | length         |
 *     piece  | kind | 0     | 0  | receiver's no.| offset         | payload ...
 *
 * `padding` octets follow the payload of an eager message (fi_private.h).
 *
 * A long message is announced by an ask. Its pieces are sent when its receive has granted as much
 * of its length as it has room for:
 *
 *     sender   ask --->              piece ---> piece ---> piece --->
 *     receiver         <--- grant
 *
 * One-sided operations. `number` is the origin's; `left`: octets from this offset on, those of
 * later messages included. A key and an offset name memory of the target (fi_held.h). A put that
 * asks for an answer gets one, which stands for those before it too. Those of one rank to another
 * may travel together, one after the other, as one message: `part` is the length of all but the
 * last, whose is 0.
 *
 *     octet  0      1        2      4            8        16          24         32
 *     put    | kind | asks   | part | number     | key    | offset    | left     | payload ...
 *     get    | kind | 0      | part | number     | key    | offset    | length   |
 *     atomic | kind | what   | part | number     | key    | offset    | operand  | compared |
 *     got    | kind | 0      | part | number     | offset | payload ...
 *     done   | kind | failed | part | number     | result (of an atomic one) |
 *
 *     origin   put put --->          get --->                   atomic --->
 *     target                <--- done         <--- got <--- got             <--- done
 */
#ifndef LEAT_FI_WIRE_H
#define LEAT_FI_WIRE_H

#include "leat_bytes.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The address of a rank: the number of its slot, big-endian. */
enum { LEAT_FI_ADDRESS_LEN = 8 };

enum leat_fi_kind {
    LEAT_FI_EAGER = 1,
    LEAT_FI_ASK,
    LEAT_FI_GRANT,
    LEAT_FI_PIECE,
    LEAT_FI_PUT,
    LEAT_FI_GET,
    LEAT_FI_ATOMIC,
    LEAT_FI_GOT,
    LEAT_FI_DONE,
};

enum leat_fi_atomic {
    LEAT_FI_ADD,
    LEAT_FI_SWAP,
    LEAT_FI_COMPARE_AND_SWAP,
};

enum {
    LEAT_FI_EAGER_HEAD = 24,
    LEAT_FI_ASK_LEN = 32,
    LEAT_FI_GRANT_LEN = 24,
    LEAT_FI_PIECE_HEAD = 16,
    LEAT_FI_PUT_HEAD = 32,
    LEAT_FI_GET_LEN = 32,
    LEAT_FI_ATOMIC_LEN = 40,
    LEAT_FI_DONE_LEN = 8,
    LEAT_FI_RESULT_LEN = 16,
    LEAT_FI_HAS_DATA = 1, /* of flags */
    LEAT_FI_HALF = 16,    /* of what: 4 octets, not 8 */
};

/* Octets of a message of this kind at least; 0: there is no such kind. */
static inline uint64_t leat_fi_shortest(uint8_t kind)
{
    static const uint8_t shortest[] = {
        [LEAT_FI_EAGER] = LEAT_FI_EAGER_HEAD,  [LEAT_FI_ASK] = LEAT_FI_ASK_LEN,
        [LEAT_FI_GRANT] = LEAT_FI_GRANT_LEN,   [LEAT_FI_PIECE] = LEAT_FI_PIECE_HEAD,
        [LEAT_FI_PUT] = LEAT_FI_PUT_HEAD,      [LEAT_FI_GET] = LEAT_FI_GET_LEN,
        [LEAT_FI_ATOMIC] = LEAT_FI_ATOMIC_LEN, [LEAT_FI_GOT] = LEAT_FI_PIECE_HEAD,
        [LEAT_FI_DONE] = LEAT_FI_DONE_LEN,
    };
    return kind < sizeof shortest ? shortest[kind] : 0;
}

static inline void leat_fi_put_head(uint8_t *p, enum leat_fi_kind kind, bool has_data,
                                    uint32_t number)
{
    memset(p, 0, 8);
    p[0] = (uint8_t)kind;
    p[1] = has_data ? LEAT_FI_HAS_DATA : 0;
    leat_put_be32(p + 4, number);
}

#endif
