/*
 * What an interface does to a passing active packet: the word engine (spec/aton.md, "Commands",
 * "Algorithms with long packets"). One event per packet and interface; the same source for the
 * simulator, for the live station in user space, and for XDP, where it compiles as it is.
 *
 *        octet image            interface                     octet image
 *   ---> Counter V1 V2  --->  R0..R63, address, enabled  ---> Counter+1 V1' V2' --->
 *
 *   ADD         V1 + x modulo 2^W; V2 counts the carries, so that V2:V1 is exact
 *   AND OR      V1 & x, V1 | x
 *   MAX MIN     the extreme; V2 is the address of the last that holds it
 *   EQ LT LE    V2 counts the x with V1 REL x
 *   SORT        x goes to its place among the Counter values: the image grows by W bits
 *   BITCOUNT    bit j of x is added to counter j, modulo 2^c
 *   TREE        x meets slots 0, 1, ...: a valid one is emptied, x = op_h(slot, x); the first empty
 *               one takes x. Slot h is then valid where bit h of Counter is set; an emptied one
 *               holds 0. Slots whose operation is PASS are left as they are, and
 *               BACK returns x to the slot that it was made from (aton_expression.h)
 *
 * x is the low W bits of the register that the packet names. An interface that takes part adds 1 to
 * Counter and sets A and C; all others repeat. This code does not update the CRC:
 * leat_aton_packet_seal, or its counterpart in XDP, runs once after all changes. Decode the image
 * (aton_wire.h) first.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ATON_VISIT_H
#define LEAT_ATON_VISIT_H

#include "aton_wire.h"
#include "leat_bytes.h"

/*
 * Every offset that depends on the packet goes through LEAT_ATON_BOUND, and the one loop that no
 * constant bounds is LEAT_ATON_REPEAT: step(i, state) for i = 0, 1, ... count - 1 until it is not
 * 0. If a verifier must see that offsets stay inside a buffer and that loops end, the includer
 * defines both macros; for all others decoding has checked it.
 */
#ifndef LEAT_ATON_BOUND
#define LEAT_ATON_BOUND(offset) (offset)
#define LEAT_ATON_REPEAT(count, step, state)                            \
    do {                                                                \
        for (uint32_t i_ = 0; i_ < (count) && !step(i_, state); i_++) { \
        }                                                               \
    } while (0)
#endif

enum leat_aton_visit {
    LEAT_ATON_REPEATS,    /* disabled, outside the region, or no active packet */
    LEAT_ATON_TAKES_PART, /* the image has changed */
    LEAT_ATON_NO_ROOM,    /* SORT: the image would outgrow its buffer; Counter is at its maximum */
};

/* ---- values of W bits --------------------------------------------------------------------- */

static inline uint64_t leat_aton_mask(unsigned width_bits)
{
    return UINT64_MAX >> ((64 - width_bits) & 63);
}

static inline uint64_t leat_aton_value_get(const uint8_t *image, uint32_t at, unsigned width_bits)
{
    const uint8_t *p = image + LEAT_ATON_BOUND(at);
    if (width_bits == 32) return leat_get_be32(p);
    return width_bits == 64 ? leat_get_be64(p) : leat_get_be16(p);
}

static inline void leat_aton_value_put(uint8_t *image, uint32_t at, unsigned width_bits, uint64_t v)
{
    uint8_t *p = image + LEAT_ATON_BOUND(at);
    if (width_bits == 32)
        leat_put_be32(p, (uint32_t)v);
    else if (width_bits == 64)
        leat_put_be64(p, v);
    else
        leat_put_be16(p, (uint16_t)v);
}

/* v REL x of EQ, LT, LE, and of a tree's GT and GE. */
static inline unsigned leat_aton_relation(unsigned opcode, uint64_t v, uint64_t x)
{
    if (opcode == LEAT_ATON_EQ) return v == x;
    if (opcode == LEAT_ATON_GT) return v > x;
    if (opcode == LEAT_ATON_GE) return v >= x;
    return opcode == LEAT_ATON_LT ? v < x : v <= x;
}

/* op(left, right) of the eight commands, GT and GE in W bits; a relation is 1 or 0. */
static inline uint64_t leat_aton_fold(unsigned opcode, unsigned width_bits, uint64_t left,
                                      uint64_t right)
{
    if (opcode == LEAT_ATON_AND) return left & right;
    if (opcode == LEAT_ATON_OR) return left | right;
    if (opcode == LEAT_ATON_MAX) return left > right ? left : right;
    if (opcode == LEAT_ATON_MIN) return left < right ? left : right;
    if (opcode >= LEAT_ATON_EQ) return leat_aton_relation(opcode, left, right);
    return (left + right) & leat_aton_mask(width_bits);
}

/* ---- one visit by kind of command --------------------------------------------------------- */

/* The fields of CTL, extracted once. */
struct leat_aton_task {
    uint32_t len; /* of the image */
    uint32_t width_bits, opcode, reg;
    uint64_t x; /* this interface's operand */
};

static inline void leat_aton_visit_fold(uint8_t *image, const struct leat_aton_task *t,
                                        uint16_t address)
{
    const unsigned w = t->width_bits;
    const uint32_t v1_at = LEAT_ATON_VARIABLE_AT, v2_at = v1_at + w / 8;
    const uint64_t v1 = leat_aton_value_get(image, v1_at, w);
    uint64_t v2 = leat_aton_value_get(image, v2_at, w);
    if (t->opcode >= LEAT_ATON_EQ) {
        v2 += leat_aton_relation(t->opcode, v1, t->x);
    } else {
        const uint64_t folded = leat_aton_fold(t->opcode, w, v1, t->x);
        if (t->opcode == LEAT_ATON_ADD)
            v2 += folded < t->x;
        else if (t->opcode >= LEAT_ATON_MAX && folded == t->x)
            v2 = address;
        leat_aton_value_put(image, v1_at, w, folded);
    }
    leat_aton_value_put(image, v2_at, w, v2);
}

/* SORT: the gap moves from the end of the list to the place of x. */
struct leat_aton_gap {
    uint8_t *image;
    uint64_t x;
    uint32_t at, width_bits;
};

static inline long leat_aton_gap_step(uint32_t index, void *state)
{
    struct leat_aton_gap *gap = state;
    const uint32_t before = gap->at - gap->width_bits / 8;
    const uint64_t a = leat_aton_value_get(gap->image, before, gap->width_bits);
    (void)index;
    if (a <= gap->x) return 1;
    leat_aton_value_put(gap->image, gap->at, gap->width_bits, a);
    gap->at = before;
    return 0;
}

/* Returns the new length. */
static inline uint32_t leat_aton_visit_sort(uint8_t *image, const struct leat_aton_task *t,
                                            uint32_t count)
{
    const uint32_t step = t->width_bits / 8;
    const uint32_t flg_at = LEAT_ATON_LONG_PAYLOAD_AT + count * step;
    struct leat_aton_gap gap = {
        .image = image, .x = t->x, .at = flg_at, .width_bits = t->width_bits
    };
    image[LEAT_ATON_BOUND(flg_at + step)] = image[LEAT_ATON_BOUND(flg_at)];
    LEAT_ATON_REPEAT(count, leat_aton_gap_step, &gap);
    leat_aton_value_put(image, gap.at, t->width_bits, t->x);
    return t->len + step;
}

static inline void leat_aton_visit_bitcount(uint8_t *image, const struct leat_aton_task *t,
                                            uint32_t counter_bits)
{
    const uint32_t step = (counter_bits + 7) / 8, mask = (1u << (counter_bits & 31)) - 1;
    uint32_t at = LEAT_ATON_LONG_PAYLOAD_AT;
    for (uint32_t j = 0; j < 64 && j < t->width_bits; j++, at += step) {
        uint8_t *p = image + LEAT_ATON_BOUND(at);
        const uint32_t bit = t->x >> j & 1;
        if (step == 1)
            p[0] = (uint8_t)((p[0] + bit) & mask);
        else
            leat_put_be16(p, (uint16_t)((leat_get_be16(p) + bit) & mask));
    }
}

static inline void leat_aton_visit_tree(uint8_t *image, const struct leat_aton_task *t,
                                        uint32_t slots, const uint8_t *tree)
{
    const unsigned w = t->width_bits;
    uint64_t carry = t->x;
    uint32_t at = LEAT_ATON_LONG_PAYLOAD_AT;
    for (uint32_t h = 0; h < LEAT_ATON_SLOTS_MAX && h < slots; h++, at += 1 + w / 8) {
        uint8_t *valid = image + LEAT_ATON_BOUND(at);
        if (tree[h] == LEAT_ATON_PASS) continue;
        if (!*valid) {
            *valid = 1;
            leat_aton_value_put(image, at + 1, w, carry);
            return;
        }
        carry = leat_aton_fold(tree[h] & LEAT_ATON_TREE_OP, w,
                               leat_aton_value_get(image, at + 1, w), carry);
        const bool back = tree[h] & LEAT_ATON_BACK;
        *valid = back;
        leat_aton_value_put(image, at + 1, w, back ? carry : 0);
        if (back) return;
    }
}

/* ---- the visit ---------------------------------------------------------------------------- */

/* Did this interface send the packet? Then it has completed the ring. */
static inline bool leat_aton_is_own(const struct leat_aton_interface *it, const uint8_t *image)
{
    return leat_get_be16(image + LEAT_ATON_SA_AT) == it->address;
}

/* Is this interface in the execution region of DA, which may be the number of a group? */
static inline bool leat_aton_is_meant(const struct leat_aton_interface *it, bool group, uint32_t da)
{
    if (group) return da < LEAT_ATON_GROUPS_MAX && (it->groups >> (da & 31) & 1);
    return da == LEAT_ATON_DA_ALL || da == it->address;
}

/* Does this interface, enabled, take part in an active packet to this DA? */
static inline bool leat_aton_is_addressed(const struct leat_aton_interface *it,
                                          const uint8_t *image)
{
    const uint32_t da = leat_get_be16(image + LEAT_ATON_DA_AT);
    const uint32_t ctl = leat_get_be16(image + LEAT_ATON_CTL_AT);
    return leat_aton_is_meant(it, ctl >> LEAT_ATON_CTL_GROUP & 1, da);
}

/*
 * The packet in image, *len octets in a buffer of `room`, passes `it`. Not for the sender's own
 * packet: leat_aton_begin has done the sender's part.
 */
static inline enum leat_aton_visit leat_aton_visit(const struct leat_aton_interface *it,
                                                   uint8_t *image, uint32_t *len, uint32_t room)
{
    const uint32_t ctl = leat_get_be16(image + LEAT_ATON_CTL_AT);
    if (!(ctl >> LEAT_ATON_CTL_ACTIVE) || !it->enabled || !leat_aton_is_addressed(it, image))
        return LEAT_ATON_REPEATS;

    struct leat_aton_task t = { .len = *len,
                                .width_bits = 16u << (ctl >> LEAT_ATON_CTL_WIDTH & 3),
                                .opcode = ctl >> LEAT_ATON_CTL_OPCODE & LEAT_ATON_CTL_OPCODE_MASK,
                                .reg = ctl >> LEAT_ATON_CTL_REGISTER & LEAT_ATON_REGISTER_MAX };
    t.x = *(const volatile uint64_t *)&it->operand[t.reg] & leat_aton_mask(t.width_bits);
    const uint32_t count = leat_get_be16(image + LEAT_ATON_COUNTER_AT);
    const uint32_t param = leat_get_be16(image + LEAT_ATON_PARAM_AT);
    if (count >= LEAT_ATON_INTERFACES_MAX) return LEAT_ATON_NO_ROOM;
    if (t.opcode < LEAT_ATON_SORT) {
        leat_aton_visit_fold(image, &t, it->address);
    } else if (t.opcode == LEAT_ATON_SORT) {
        if (*len + t.width_bits / 8 > room) return LEAT_ATON_NO_ROOM;
        *len = leat_aton_visit_sort(image, &t, count);
    } else if (t.opcode == LEAT_ATON_BITCOUNT) {
        leat_aton_visit_bitcount(image, &t, param);
    } else {
        leat_aton_visit_tree(image, &t, param, it->tree);
    }
    leat_put_be16(image + LEAT_ATON_COUNTER_AT, (uint16_t)(count + 1));
    image[LEAT_ATON_BOUND(*len - LEAT_ATON_TRAILER_LEN)] |= LEAT_ATON_FLG_A | LEAT_ATON_FLG_C;
    return LEAT_ATON_TAKES_PART;
}

#endif
