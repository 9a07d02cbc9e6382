/* Shared by the parts of one interface: handling its input, and sending. */
#ifndef LEAT_ATON_INTERFACE_PARTS_H
#define LEAT_ATON_INTERFACE_PARTS_H

#include "aton_interface.h"

/* Lengths of fields in symbols, and places in them. */
enum {
    ATON_DELIMITER_LEN = 8,
    ATON_FIELD_LEN = 16, /* CTL, DA, SA, Counter, PARAM */
    ATON_AC_LEN = 8,
    ATON_AC_T = 3, /* place of T; PPP comes before it */
    ATON_AC_M = 4,
    ATON_FLG_LEN = 8,
    ATON_CRC_LEN = 32,
    ATON_ED_AT = ATON_FLG_LEN + ATON_CRC_LEN, /* in the trailer */
    ATON_TRAILER_LEN = ATON_ED_AT + ATON_DELIMITER_LEN,
    ATON_ED_FIXED_LEN = 6, /* before I and E */
};

/* SD, and ED with I = E = 0. */
static const uint8_t aton_starting[ATON_DELIMITER_LEN] = { LEAT_ATON_J, LEAT_ATON_K, 0, LEAT_ATON_J,
                                                           LEAT_ATON_K, 0,           0, 0 };
static const uint8_t aton_ending[ATON_DELIMITER_LEN] = { LEAT_ATON_J, LEAT_ATON_K, 1, LEAT_ATON_J,
                                                         LEAT_ATON_K, 1,           0, 0 };

/* The fields of a head that the input machine and the sender need to find the data's fields. */
struct aton_head {
    uint8_t active, opcode, width_bits;
    uint16_t count, param; /* passive: count is the length */
};

/* The field after `phase`, and its length. After the last one: IN_TRAILER. */
struct leat_aton_place leat_aton_place_after(enum leat_aton_phase phase,
                                             const struct aton_head *head);

/* TREE: does the slot of height h travel with its least significant bit first? */
static inline bool aton_slot_is_lsb_first(const struct leat_aton_interface *it, unsigned h)
{
    return h < LEAT_ATON_SLOTS_MAX && (it->tree[h] & LEAT_ATON_TREE_OP) <= LEAT_ATON_OR;
}

static inline unsigned aton_bit(uint64_t value, unsigned at, unsigned bits, bool lsb_first)
{
    return value >> (lsb_first ? at : bits - 1 - at) & 1;
}

/* The priority of the pending order. */
static inline uint8_t aton_wanted_priority(const struct leat_aton_station *s)
{
    return s->wants && !s->order.when_idle ? s->order.command.priority : 0;
}

/* The token is captured: T was sent as 0, and the rest of the packet follows from the next step on:
 * the order's packet, or an empty one without a destination. */
void leat_aton_send_begin(struct leat_aton_station *s, unsigned priority, bool is_empty);

/* The next symbol of the packet, or 0 after the last one. */
unsigned leat_aton_send_step(struct leat_aton_station *s);

/* Is this the head that was sent? */
bool leat_aton_send_is_own(const struct leat_aton_station *s);

/* The next symbol of a token; after the last the interface repeats. */
unsigned leat_aton_token_step(struct leat_aton_station *s);

#endif
