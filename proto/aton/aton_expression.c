#include "aton_expression.h"
#include <string.h>

struct plan {
    struct leat_aton_node *node;
    uint32_t count, n;
    bool with_back;
    uint64_t *used; /* a bitmap of places for each slot: it is valid behind these */
    uint8_t (*tree)[LEAT_ATON_SLOTS_MAX];
};

/* ---- slots and the places where they are taken ------------------------------------------------ */

/* The bits of word `w` that are places from .. to. */
static uint64_t bits_of(uint32_t w, uint32_t from, uint32_t to)
{
    uint64_t bits = UINT64_MAX;
    if (w == from / 64) bits &= UINT64_MAX << from % 64;
    if (w == to / 64) bits &= UINT64_MAX >> (63 - to % 64);
    return bits;
}

static bool is_free(const struct plan *p, unsigned slot, uint32_t from, uint32_t to)
{
    const uint64_t *used = p->used + slot * ((size_t)p->n / 64 + 1);
    for (uint32_t w = from / 64; w <= to / 64; w++)
        if (used[w] & bits_of(w, from, to)) return false;
    return true;
}

static void take(struct plan *p, unsigned slot, uint32_t from, uint32_t to)
{
    uint64_t *used = p->used + slot * ((size_t)p->n / 64 + 1);
    for (uint32_t w = from / 64; w <= to / 64; w++)
        used[w] |= bits_of(w, from, to);
}

/* The lowest slot from `first` on that is free from one place to the other; SLOTS_MAX: none. */
static unsigned find(const struct plan *p, unsigned first, uint32_t from, uint32_t to)
{
    unsigned slot = first;
    while (slot < LEAT_ATON_SLOTS_MAX && !is_free(p, slot, from, to))
        slot++;
    return slot;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static leat_err plan_leaf(struct plan *p, struct leat_aton_node *leaf)
{
    if (leaf->left >= p->n) return LEAT_ERR_RANGE;
    leaf->done_at = leaf->left;
    leaf->above = leaf->from = 0;
    /* Until slots are planned, a place whose interface has a leaf is marked so. */
    if (p->tree[leaf->left][0] != LEAT_ATON_PASS) return LEAT_ERR_DUPLICATE;
    p->tree[leaf->left][0] = LEAT_ATON_ADD;
    return LEAT_ERR_OK;
}

/* What the interface of the later operand does to the slot with the earlier one. */
static uint8_t operation(const struct leat_aton_node *node, bool left_waits)
{
    if (left_waits || node->opcode <= LEAT_ATON_EQ) return node->opcode;
    return node->opcode == LEAT_ATON_LT ? LEAT_ATON_GT : LEAT_ATON_GE;
}

/* The earlier operand waits in a slot above all that either interface has emptied. */
static leat_err plan_node(struct plan *p, uint32_t i)
{
    struct leat_aton_node *node = &p->node[i];
    if (node->opcode > LEAT_ATON_LE) return LEAT_ERR_TYPE;
    if (node->left >= i || node->right >= i || node->left == node->right) return LEAT_ERR_FIELD;
    struct leat_aton_node *left = &p->node[node->left], *right = &p->node[node->right];
    const bool left_waits = left->done_at < right->done_at;
    struct leat_aton_node *waits = left_waits ? left : right, *goes_on = left_waits ? right : left;
    if (left->is_used || right->is_used) return LEAT_ERR_FIELD;
    left->is_used = right->is_used = 1;
    node->done_at = goes_on->done_at;
    const unsigned first = waits->from > goes_on->above ? waits->from : goes_on->above;
    const unsigned slot = find(p, first, waits->done_at, node->done_at - 1);
    if (slot == LEAT_ATON_SLOTS_MAX) return LEAT_ERR_FULL;
    take(p, slot, waits->done_at, node->done_at - 1);
    waits->slot = (uint8_t)slot;
    node->above = (uint8_t)(slot + 1);
    node->from = (uint8_t)(p->with_back ? slot : slot + 1);
    return LEAT_ERR_OK;
}

/* The value of a node waits in `slot` for `op`. Its interface fills the slot, where only the bit order
 * of `op` counts, or returns the value to the slot that it has just emptied. */
static void put_in(struct plan *p, const struct leat_aton_node *node, unsigned slot, uint8_t op)
{
    uint8_t *entry = &p->tree[node->done_at][slot];
    const bool emptied = node->opcode && slot < node->above;
    if (!emptied)
        *entry = op;
    else
        *entry |= LEAT_ATON_BACK | (op <= LEAT_ATON_OR ? LEAT_ATON_BACK_LSB_FIRST : 0);
}

/* All slots are known: what each interface does at them. Operands come before their node, so what
 * empties a slot is written before what puts a result back. */
static void write_tree(struct plan *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct leat_aton_node *node = &p->node[i];
        if (!node->opcode) continue;
        const struct leat_aton_node *left = &p->node[node->left], *right = &p->node[node->right];
        const bool left_waits = left->done_at < right->done_at;
        const struct leat_aton_node *waits = left_waits ? left : right;
        const uint8_t op = operation(node, left_waits);
        put_in(p, waits, waits->slot, op);
        p->tree[node->done_at][waits->slot] = op;
    }
}

leat_err leat_aton_expression_plan(struct leat_aton_node *node, uint32_t count, uint32_t n,
                                   bool with_back, uint64_t *used,
                                   uint8_t (*tree)[LEAT_ATON_SLOTS_MAX], uint16_t *slots,
                                   uint32_t *fault)
{
    struct plan p = { node, count, n, with_back, used, tree };
    leat_err err = LEAT_ERR_OK;
    memset(used, 0, leat_aton_expression_words(n) * sizeof *used);
    memset(tree, LEAT_ATON_PASS, (size_t)n * sizeof *tree);
    for (uint32_t i = 0; i < count && !err; i++) {
        *fault = i;
        node[i].is_used = 0;
        node[i].slot = LEAT_ATON_NOWHERE;
        err = node[i].opcode ? plan_node(&p, i) : plan_leaf(&p, &node[i]);
    }
    for (uint32_t i = 0; i + 1 < count && !err; i++) {
        *fault = i;
        if (!node[i].is_used) err = LEAT_ERR_FIELD;
    }
    if (err) return err;
    if (!count) return LEAT_ERR_FIELD;
    struct leat_aton_node *root = &node[count - 1];
    *fault = count - 1;
    if (root->from == LEAT_ATON_SLOTS_MAX) return LEAT_ERR_FULL;
    root->slot = root->from;
    *slots = (uint16_t)(root->slot + 1);
    memset(tree, LEAT_ATON_PASS, (size_t)n * sizeof *tree); /* the marks of leaves */
    write_tree(&p);
    /* The sender reads the result in the bit order of its own operation for that slot. */
    if (tree[0][root->slot] == LEAT_ATON_PASS) tree[0][root->slot] = LEAT_ATON_ADD;
    put_in(&p, root, root->slot, tree[0][root->slot]);
    return LEAT_ERR_OK;
}

bool leat_aton_expression_value(const struct leat_aton_packet *p, uint32_t leaves, uint64_t *value)
{
    struct leat_aton_shape shape;
    if (p->counter != leaves || leat_aton_packet_shape(p, &shape) || !shape.count) return false;
    for (size_t h = 0; h < shape.count; h++) {
        unsigned valid;
        *value = leat_aton_item_get(p->payload, &shape, h, &valid);
        if (valid != (h + 1 == shape.count)) return false;
    }
    return true;
}
