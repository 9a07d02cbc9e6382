/*
 * Expression trees with an operation at every node (spec/aton.md, "Expressions"): one TREE packet
 * evaluates them in one revolution. The leaves are operands of interfaces; each inner node is one
 * of the eight commands, and the interface that completes its later operand carries it out.
 *
 *            max                  place   meets slots in order 0, 1, 2
 *           /   \                   0     puts x_0 into slot 0
 *        add     lt                 1     x = add(slot 0, x_1), puts x into slot 1
 *       /   \   /  \                2     puts x_2 into slot 0, passes slot 1
 *      x_0 x_1 x_2 x_3              3     x = lt(slot 0, x_3), x = max(slot 1, x): slot 2 has it
 *
 * A plan gives each interface its tree[] (leat_aton_interface): at the slots that it empties the
 * operation, at the slot that it fills the operation that will consume it, since a slot travels in
 * that operation's bit order, PASS elsewhere. Slots on a path to the root ascend, so a tree of
 * height d needs d + 1 slots at least: 16 levels at most, which is enough for balanced trees on the
 * longest ring.
 *
 * Interfaces that hold back a whole slot, W + 1 bits, can put a result BACK into the slot that it was
 * made from. Then a chain such as ((x_0 + x_1) max x_2) < x_3 needs one slot, however long it is.
 *
 * The operand that is complete first waits in a slot. If that is the right one of LT or LE, the
 * interface of the left one carries out GT or GE instead. Leaves may be in any order.
 *
 * Pure: the memory is the caller's.
 */
#ifndef LEAT_ATON_EXPRESSION_H
#define LEAT_ATON_EXPRESSION_H

#include "aton_visit.h"

enum { LEAT_ATON_NOWHERE = 255 };

/* A node; its operands come before it. `place`: interfaces from the sender (0) to this one. */
struct leat_aton_node {
    uint8_t opcode;       /* LEAT_ATON_ADD to LEAT_ATON_LE; 0: a leaf */
    uint32_t left, right; /* indices of its operands; a leaf: `left` is its place */
    /* Planned: */
    uint32_t done_at; /* the place where it is complete */
    uint8_t above;    /* slots from here on are above those that its last interface empties */
    uint8_t from;    /* slots from here on may take its value: `above`, or with BACK the last one */
    uint8_t slot;    /* where it waits; NOWHERE: its interface carries out its parent, too */
    uint8_t is_used; /* as an operand */
};

/* 64-bit words of memory that a plan needs for n places. */
static inline size_t leat_aton_expression_words(uint32_t n)
{
    return LEAT_ATON_SLOTS_MAX * ((size_t)n / 64 + 1);
}

/*
 * Plans the expression whose root is the last of `count` nodes, for n places, with interfaces that
 * can put a result back into the slot that it was made from, or not. tree[place] is
 * written for all places, *slots is PARAM of the packet: its last slot has the result. `used` has
 * leat_aton_expression_words(n) words. Errors, with the index of the node:
 *
 *   RANGE      a place not below n
 *   DUPLICATE  a place that is the leaf of two nodes
 *   FIELD      a node that is the operand of none or of two others, or of one before it
 *   TYPE       no such command
 *   FULL       it needs more than LEAT_ATON_SLOTS_MAX slots: too high
 */
leat_err leat_aton_expression_plan(struct leat_aton_node *node, uint32_t count, uint32_t n,
                                   bool with_back, uint64_t *used,
                                   uint8_t (*tree)[LEAT_ATON_SLOTS_MAX], uint16_t *slots,
                                   uint32_t *fault);

/* The result in the packet that returned. False: not all `leaves` took part, or slots are valid
 * that should be empty. */
bool leat_aton_expression_value(const struct leat_aton_packet *folded, uint32_t leaves,
                                uint64_t *value);

#endif
