/*
 * The five instructions (spec/esp.md, "Instructions"): what a node does to its store and to the
 * packet, all or nothing. Every data path compiles this source, BPF included.
 *
 *   COUNT     c = get(compValTag) or 0; put c + 1; pass iff c + 1 <= thresh
 *   COMPARE   unbound, or op(stored, pktVal): put pktVal, pass; else stop
 *   COLLECT   chldCnt unbound or 0: abort. put fold(total, val) or val; put chldCnt - 1;
 *             0 now: val := total, pass; else stop. Where the count is installed: chldCnt unbound
 *             is that count; after a pass count and total are ready for the next operation, and
 *             chldCntTag := that of the node above
 *   RCHLD     pktId unbound: put it 1, put sibCnt + 1. put fwdCnt + 1; pass iff that is
 *             <= fwdThresh, with pktId := this node's id
 *   RCOLLECT  pktId or sibCnt unbound: abort. pktId 1: sibCnt 0: abort; put it 0, put sibCnt - 1,
 *             put fold(total, val) or val. sibCnt 0 now: no total: abort; put fwdCnt + 1; pass iff
 *             that is <= fwdThresh, with pktId := this node's id and val := total. Else stop
 *
 * What no document settles (README.md has the reasons): incremented counters wrap; a node's id that
 * equals another tag of the packet aborts; an instruction that aborts or finds no room still
 * advances the group's time, since it has observed what had expired by then.
 *
 * The caller has decoded the packet, checked that X is set and E is not, and holds the group's
 * lock.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_CORE_H
#define LEAT_ESP_CORE_H

#include "esp_store.h"
#include <leat/esp.h>

enum leat_esp_verdict {
    LEAT_ESP_PASS,    /* forward; leat_esp_rewritten says which operands have changed */
    LEAT_ESP_STOP,    /* discard */
    LEAT_ESP_ABORTED, /* nothing changed: set E and forward */
    LEAT_ESP_FULL,    /* as ABORTED, because a bucket is full of live bindings */
    LEAT_ESP_LIMITED, /* as ABORTED, because it would create more than is allowed */
    LEAT_ESP_VERDICTS
};

/* A packet as the words on the wire, in host byte order. */
struct leat_esp_words {
    uint64_t computation;
    uint64_t operand[LEAT_ESP_OPERANDS_MAX]; /* in order; an operator is in the upper half */
    uint8_t control, opcode;
    /* COLLECT, not in the packet: */
    uint16_t installed; /* this node's children in the group chldCntTag; 0: not installed */
    uint64_t parent;    /* chldCntTag of the node above */
};

struct leat_esp_outcome {
    uint32_t verdict; /* enum leat_esp_verdict */
    uint32_t created; /* new bindings */
};

/* Which operands a pass changes: bit i is operand i. Of everything else, only E ever changes. */
LEAT_ESP_INLINE uint32_t leat_esp_rewritten(unsigned opcode)
{
    if (opcode == LEAT_ESP_COLLECT) return 1u << 1 | 1u << 2; /* val, chldCntTag if installed */
    if (opcode == LEAT_ESP_RCHLD) return 1u << 0;             /* pktId */
    if (opcode == LEAT_ESP_RCOLLECT) return 1u << 0 | 1u << 3;
    return 0;
}

/* ---- operators ---------------------------------------------------------------------------- */

enum { LEAT_ESP_OP_SIGNED = 0x10 };

/* Adding 2^63 to both sides maps signed order to unsigned order. */
LEAT_ESP_INLINE uint64_t leat_esp_op_bias(uint32_t op)
{
    return (uint64_t)(op & LEAT_ESP_OP_SIGNED) << 59;
}

/* op(stored, packet). */
LEAT_ESP_INLINE bool leat_esp_compare(uint32_t op, uint64_t stored, uint64_t packet)
{
    const uint64_t a = stored ^ leat_esp_op_bias(op), b = packet ^ leat_esp_op_bias(op);
    const uint32_t relation = op & ~(uint32_t)LEAT_ESP_OP_SIGNED;
    if (relation == LEAT_ESP_COMPARE_LT) return a < b;
    if (relation == LEAT_ESP_COMPARE_LE) return a <= b;
    if (relation == LEAT_ESP_COMPARE_GT) return a > b;
    if (relation == LEAT_ESP_COMPARE_GE) return a >= b;
    return (relation == LEAT_ESP_COMPARE_EQ) == (a == b);
}

/* Saturating sum. */
LEAT_ESP_INLINE uint64_t leat_esp_add_signed(uint64_t a, uint64_t b)
{
    const uint64_t sum = a + b;
    if (((a ^ sum) & (b ^ sum)) >> 63) return (UINT64_C(1) << 63) - 1 + (a >> 63);
    return sum;
}

LEAT_ESP_INLINE uint64_t leat_esp_fold(uint32_t op, uint64_t stored, uint64_t packet)
{
    const uint64_t bias = leat_esp_op_bias(op);
    const bool less = (stored ^ bias) < (packet ^ bias);
    const uint64_t sum = stored + packet;
    if (op == LEAT_ESP_FOLD_MIN || op == LEAT_ESP_FOLD_MIN_S) return less ? stored : packet;
    if (op == LEAT_ESP_FOLD_MAX || op == LEAT_ESP_FOLD_MAX_S) return less ? packet : stored;
    if (op == LEAT_ESP_FOLD_AND) return stored & packet;
    if (op == LEAT_ESP_FOLD_OR) return stored | packet;
    if (op == LEAT_ESP_FOLD_XOR) return stored ^ packet;
    if (op == LEAT_ESP_FOLD_ADDSAT) return sum < stored ? UINT64_MAX : sum;
    if (op == LEAT_ESP_FOLD_ADDSAT_S) return leat_esp_add_signed(stored, packet);
    return sum;
}

/* What changes no value when it is folded into it. */
LEAT_ESP_INLINE uint64_t leat_esp_identity(uint32_t op)
{
    if (op == LEAT_ESP_FOLD_AND || op == LEAT_ESP_FOLD_MIN) return UINT64_MAX;
    if (op == LEAT_ESP_FOLD_MIN_S) return UINT64_MAX >> 1;
    if (op == LEAT_ESP_FOLD_MAX_S) return UINT64_C(1) << 63;
    return 0;
}

/* ---- instructions ------------------------------------------------------------------------- */

LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_abort(void)
{
    return (struct leat_esp_outcome){ .verdict = LEAT_ESP_ABORTED };
}

/* The only place where a store changes, after everything that can fail. */
LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_commit(const struct leat_esp_turn *turn,
                                                        struct leat_esp_cell *cell, uint32_t count,
                                                        bool pass)
{
    uint32_t created = 0;
    for (uint32_t i = 0; i < count; i++)
        created += cell[i].put & ~cell[i].bound;
    if (created > turn->allowed) return (struct leat_esp_outcome){ .verdict = LEAT_ESP_LIMITED };
    if (!leat_esp_cells_reserve(turn, cell, count))
        return (struct leat_esp_outcome){ .verdict = LEAT_ESP_FULL };
    leat_esp_cells_write(turn, cell, count);
    return (struct leat_esp_outcome){ .verdict = pass ? LEAT_ESP_PASS : LEAT_ESP_STOP,
                                      .created = created };
}

/* An unbound cell holds 0, the "or 0" of spec/esp.md. */
LEAT_ESP_INLINE void leat_esp_cell_add(struct leat_esp_cell *cell, uint64_t one)
{
    leat_esp_cell_put(cell, cell->value + one);
}

LEAT_ESP_INLINE void leat_esp_cell_fold(struct leat_esp_cell *total, uint64_t op, uint64_t val)
{
    leat_esp_cell_put(total,
                      total->bound ? leat_esp_fold((uint32_t)(op >> 32), total->value, val) : val);
}

LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_count(const struct leat_esp_turn *turn,
                                                       const uint64_t *operand)
{
    struct leat_esp_cell c[1] = { leat_esp_cell_find(turn, operand[0]) };
    const uint64_t thresh = operand[1];
    leat_esp_cell_add(&c[0], 1);
    return leat_esp_commit(turn, c, 1, c[0].value <= thresh);
}

/* COMPARE; leat_esp_compare is its operator. */
LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_extreme(const struct leat_esp_turn *turn,
                                                         const uint64_t *operand)
{
    struct leat_esp_cell c[1] = { leat_esp_cell_find(turn, operand[0]) };
    const uint64_t packet = operand[1];
    const bool pass = !c[0].bound ||
                      leat_esp_compare((uint32_t)(operand[2] >> 32), c[0].value, packet);
    if (pass) leat_esp_cell_put(&c[0], packet);
    return leat_esp_commit(turn, c, 1, pass);
}

/* An installed count and its total are created by one instruction, so they expire together: a total
 * can be lost as a whole, and then the count does not reach 0. */
LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_collect(const struct leat_esp_turn *turn,
                                                         uint64_t *operand, uint64_t installed,
                                                         uint64_t parent)
{
    enum { TOTAL, CHILDREN, CELLS };
    struct leat_esp_cell c[CELLS] = { leat_esp_cell_find(turn, operand[0]),
                                      leat_esp_cell_find(turn, operand[2]) };
    if (installed && !c[CHILDREN].bound) c[CHILDREN].value = installed;
    if (c[CHILDREN].value == 0) return leat_esp_abort(); /* unbound too */
    leat_esp_cell_fold(&c[TOTAL], operand[3], operand[1]);
    leat_esp_cell_add(&c[CHILDREN], UINT64_MAX);
    const uint64_t total = c[TOTAL].value;
    const bool pass = c[CHILDREN].value == 0;
    if (pass && installed) {
        leat_esp_cell_put(&c[CHILDREN], installed);
        leat_esp_cell_put(&c[TOTAL], leat_esp_identity((uint32_t)(operand[3] >> 32)));
    }
    const struct leat_esp_outcome out = leat_esp_commit(turn, c, CELLS, pass);
    if (out.verdict != LEAT_ESP_PASS) return out;
    operand[1] = total;
    if (installed) operand[2] = parent;
    return out;
}

LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_rchld(const struct leat_esp_turn *turn,
                                                       uint64_t own_id, uint64_t *operand)
{
    enum { CHILD, SIBLINGS, FORWARDED, CELLS };
    struct leat_esp_cell c[CELLS] = { leat_esp_cell_find(turn, operand[0]),
                                      leat_esp_cell_find(turn, operand[1]),
                                      leat_esp_cell_find(turn, operand[2]) };
    if (!c[CHILD].bound) {
        leat_esp_cell_put(&c[CHILD], 1);
        leat_esp_cell_add(&c[SIBLINGS], 1);
    }
    leat_esp_cell_add(&c[FORWARDED], 1);
    const bool pass = c[FORWARDED].value <= operand[3];
    if (pass && (own_id == operand[1] || own_id == operand[2])) return leat_esp_abort();
    const struct leat_esp_outcome out = leat_esp_commit(turn, c, CELLS, pass);
    if (out.verdict == LEAT_ESP_PASS) operand[0] = own_id;
    return out;
}

LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_rcollect(const struct leat_esp_turn *turn,
                                                          uint64_t own_id, uint64_t *operand)
{
    enum { CHILD, SIBLINGS, TOTAL, FORWARDED, CELLS };
    struct leat_esp_cell c[CELLS] = { leat_esp_cell_find(turn, operand[0]),
                                      leat_esp_cell_find(turn, operand[1]),
                                      leat_esp_cell_find(turn, operand[2]),
                                      leat_esp_cell_find(turn, operand[4]) };
    if (!c[CHILD].bound || !c[SIBLINGS].bound) return leat_esp_abort();
    if (c[CHILD].value == 1) {
        if (c[SIBLINGS].value == 0) return leat_esp_abort();
        leat_esp_cell_put(&c[CHILD], 0);
        leat_esp_cell_add(&c[SIBLINGS], UINT64_MAX);
        leat_esp_cell_fold(&c[TOTAL], operand[6], operand[3]);
    }
    bool pass = false;
    if (c[SIBLINGS].value == 0) {
        if (!c[TOTAL].bound && !c[TOTAL].put) return leat_esp_abort();
        leat_esp_cell_add(&c[FORWARDED], 1);
        pass = c[FORWARDED].value <= operand[5];
    }
    if (pass && (own_id == operand[1] || own_id == operand[2] || own_id == operand[4]))
        return leat_esp_abort();
    const struct leat_esp_outcome out = leat_esp_commit(turn, c, CELLS, pass);
    if (out.verdict == LEAT_ESP_PASS) {
        operand[0] = own_id;
        operand[3] = c[TOTAL].value;
    }
    return out;
}

/*
 * Executes one instruction at `clock` in the group of its computation; `mark` is leat_esp_mark of
 * the two. It may create `allowed` bindings (esp_limits.h; LEAT_ESP_TAGS_MAX: as many as it needs).
 * NOP passes and changes nothing. Operands change on PASS only.
 */
LEAT_ESP_INLINE struct leat_esp_outcome leat_esp_execute(struct leat_esp_group *group,
                                                         const struct leat_esp_node *node,
                                                         uint64_t clock, uint64_t mark,
                                                         uint32_t allowed, struct leat_esp_words *w)
{
    if (w->opcode == LEAT_ESP_NOP) return (struct leat_esp_outcome){ .verdict = LEAT_ESP_PASS };
    struct leat_esp_turn turn = {
        .group = group, .computation = w->computation, .mark = mark, .allowed = allowed
    };
    leat_esp_turn_begin(&turn, clock, node->tau);
    if (w->opcode == LEAT_ESP_COUNT) return leat_esp_count(&turn, w->operand);
    if (w->opcode == LEAT_ESP_COMPARE) return leat_esp_extreme(&turn, w->operand);
    if (w->opcode == LEAT_ESP_COLLECT)
        return leat_esp_collect(&turn, w->operand, w->installed, w->parent);
    const uint64_t own_id = leat_esp_child_id(node, w->computation);
    if (w->opcode == LEAT_ESP_RCHLD) return leat_esp_rchld(&turn, own_id, w->operand);
    return leat_esp_rcollect(&turn, own_id, w->operand);
}

#endif
