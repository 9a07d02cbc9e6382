/*
 * Plans of expressions, carried out by the word engine, against recursive evaluation of the same
 * tree. The trees are drawn at random: shapes, commands, and which leaf is at which place.
 */
#include "aton_expression.h"
#include "aton_sender.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { PLACES_MAX = 300, NODES_MAX = 2 * PLACES_MAX, CASES = LEAT_ROUNDS / 20 };

static struct leat_aton_node node[NODES_MAX];
static uint32_t nodes;
static uint8_t tree[PLACES_MAX][LEAT_ATON_SLOTS_MAX];
static uint64_t used[LEAT_ATON_SLOTS_MAX * (PLACES_MAX / 64 + 1)];
static uint64_t operand[PLACES_MAX];

static uint32_t leaf(uint32_t place)
{
    node[nodes] = (struct leat_aton_node){ .left = place };
    return nodes++;
}

static uint32_t inner(uint8_t opcode, uint32_t left, uint32_t right)
{
    node[nodes] = (struct leat_aton_node){ .opcode = opcode, .left = left, .right = right };
    return nodes++;
}

/* A tree over place[0 .. count-1]; `skew`: the left part has about one in so many leaves. */
static uint32_t random_tree(struct leat_random *r, const uint32_t *place, uint32_t count,
                            unsigned skew)
{
    if (count == 1) return leaf(place[0]);
    const uint32_t share = 1 + (count - 1) / skew;
    const uint32_t left = 1 + (uint32_t)leat_random_below(r, share < count ? share : count - 1);
    const uint8_t opcode = (uint8_t)(1 + leat_random_below(r, 8));
    const uint32_t a = random_tree(r, place, left, skew);
    const uint32_t b = random_tree(r, place + left, count - left, skew);
    return inner(opcode, a, b);
}

static uint64_t evaluate(uint32_t i, uint64_t top)
{
    if (!node[i].opcode) return operand[node[i].left] & top;
    const uint64_t a = evaluate(node[i].left, top), b = evaluate(node[i].right, top);
    switch (node[i].opcode) {
    case 1: return (a + b) & top;
    case 2: return a & b;
    case 3: return a | b;
    case 4: return a > b ? a : b;
    case 5: return a < b ? a : b;
    case 6: return a == b;
    case 7: return a < b;
    default: return a <= b;
    }
}

static bool with_back; /* the interfaces of the rings below can put a result back */

static leat_err plan(uint32_t n, uint16_t *slots, uint32_t *fault)
{
    OK(leat_aton_expression_words(n) <= sizeof used / sizeof *used);
    return leat_aton_expression_plan(node, nodes, n, with_back, used, tree, slots, fault);
}

static struct leat_aton_interface interface_at(uint32_t place)
{
    struct leat_aton_interface it = { .operand = { operand[place] }, .enabled = 1 };
    it.address = (uint16_t)(1 + place);
    memcpy(it.tree, tree[place], sizeof it.tree);
    for (uint32_t i = 0; i < nodes; i++)
        if (!node[i].opcode && node[i].left == place) it.groups = 4;
    return it;
}

/* One packet to group 2, the leaves; the sender takes part if it is one. */
static bool round_of(uint32_t n, unsigned width, uint16_t slots, uint64_t *value)
{
    uint8_t image[16 + LEAT_ATON_SLOTS_MAX * 9];
    const struct leat_aton_interface sender = interface_at(0);
    const struct leat_aton_command c = { .opcode = LEAT_ATON_TREE,
                                         .width_bits = (uint8_t)width,
                                         .param = slots,
                                         .group = true,
                                         .da = 2,
                                         .sender_out = !sender.groups };
    struct leat_aton_packet got;
    size_t len = 0;
    EQ(leat_aton_begin(&sender, &c, image, sizeof image, &len), LEAT_ERR_OK);
    for (uint32_t place = 1; place < n; place++) {
        const struct leat_aton_interface it = interface_at(place);
        uint32_t now = (uint32_t)len;
        leat_aton_visit(&it, image, &now, sizeof image);
    }
    leat_aton_packet_seal(image, len);
    EQ(leat_aton_packet_decode(image, len, &got, NULL), LEAT_ERR_OK);
    return leat_aton_expression_value(&got, (nodes + 1) / 2, value);
}

/* Some places of n in any order. */
static uint32_t draw_places(struct leat_random *r, uint32_t n, bool in_order, uint32_t *place)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (leat_random_below(r, 4)) place[count++] = i;
    if (!count) place[count++] = n - 1;
    for (uint32_t i = count; !in_order && i-- > 1;) {
        const uint32_t other = (uint32_t)leat_random_below(r, i + 1), kept = place[i];
        place[i] = place[other];
        place[other] = kept;
    }
    return count;
}

static void random_expressions_are_what_recursion_makes_of_them(void)
{
    static uint32_t place[PLACES_MAX];
    struct leat_random r;
    unsigned planned = 0, too_high = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < CASES && !tap_checks_failed; i++) {
        const uint32_t n = 1 + (uint32_t)leat_random_below(&r, leat_random_below(&r, 4) ? 24 : 300);
        const unsigned width = 16u << leat_random_below(&r, 3);
        const uint64_t top = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        const uint32_t count = draw_places(&r, n, leat_random_below(&r, 2), place);
        uint16_t slots = 0;
        uint32_t fault = 0;
        uint64_t got = 0;
        for (uint32_t k = 0; k < n; k++) {
            const bool is_small = leat_random_below(&r, 2);
            operand[k] = leat_random_next(&r) >> (is_small ? 62 : 0);
        }
        nodes = 0;
        with_back = leat_random_below(&r, 2);
        const uint32_t root = random_tree(&r, place, count, leat_random_below(&r, 3) ? 1 : 9);
        const leat_err err = plan(n, &slots, &fault);
        too_high += err == LEAT_ERR_FULL;
        if (err == LEAT_ERR_FULL) continue;
        EQ(err, LEAT_ERR_OK);
        planned++;
        OK(slots >= 1 && slots <= LEAT_ATON_SLOTS_MAX);
        OK(round_of(n, width, slots, &got));
        OK(got == evaluate(root, top));
    }
    with_back = false;
    OK(planned > CASES / 3 && too_high > 0);
}

/* (x0 + x1) max (x2 < x3), the picture of the header. */
static void the_example_is_planned_as_in_the_picture(void)
{
    uint16_t slots = 0;
    uint32_t fault;
    uint64_t got = 0;
    nodes = 0;
    const uint32_t x0 = leaf(0), x1 = leaf(1), sum = inner(LEAT_ATON_ADD, x0, x1);
    const uint32_t x2 = leaf(2), x3 = leaf(3), less = inner(LEAT_ATON_LT, x2, x3);
    inner(LEAT_ATON_MAX, sum, less);
    EQ(plan(4, &slots, &fault), LEAT_ERR_OK);
    EQ(slots, 3);
    EQ(tree[0][0], LEAT_ATON_ADD);
    EQ(tree[1][0], LEAT_ATON_ADD);
    EQ(tree[1][1], LEAT_ATON_MAX);
    EQ(tree[2][0], LEAT_ATON_LT);
    EQ(tree[2][1], LEAT_ATON_PASS);
    EQ(tree[3][0], LEAT_ATON_LT);
    EQ(tree[3][1], LEAT_ATON_MAX);
    memcpy(operand, (const uint64_t[]){ 0, 0, 5, 6 }, 4 * sizeof *operand);
    OK(round_of(4, 16, slots, &got));
    EQ(got, 1);
}

/* As in the header: the interface of the left operand has GT instead of LT. */
static void a_right_operand_may_be_complete_first(void)
{
    uint16_t slots = 0;
    uint32_t fault;
    for (uint64_t left = 0; left < 3; left++)
        for (uint8_t opcode = LEAT_ATON_EQ; opcode <= LEAT_ATON_LE; opcode++) {
            uint64_t got = 9;
            nodes = 0;
            const uint32_t a = leaf(1), b = leaf(0);
            inner(opcode, a, b);
            EQ(plan(2, &slots, &fault), LEAT_ERR_OK);
            operand[0] = 1;
            operand[1] = left;
            OK(round_of(2, 32, slots, &got));
            EQ(got, opcode == LEAT_ATON_EQ   ? left == 1
                    : opcode == LEAT_ATON_LT ? left < 1
                                             : left <= 1);
        }
}

static uint32_t chain(uint32_t count)
{
    nodes = 0;
    uint32_t root = leaf(0);
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t next = leaf(i);
        root = inner(LEAT_ATON_ADD, root, next);
    }
    return root;
}

/* A path of so many levels needs a slot for each, and one for the result. */
static void sixteen_levels_are_planned_and_seventeen_are_not(void)
{
    uint16_t slots = 0;
    uint32_t fault = 0;
    chain(17);
    EQ(plan(17, &slots, &fault), LEAT_ERR_OK);
    EQ(slots, 17);
    chain(18);
    EQ(plan(18, &slots, &fault), LEAT_ERR_FULL);
    EQ(fault, nodes - 1);
}

/* Each interface empties the slot and puts its result back; the operations alternate. */
static void a_chain_of_any_length_needs_one_slot_where_results_go_back(void)
{
    uint16_t slots = 0;
    uint32_t fault = 0;
    uint64_t got = 0;
    with_back = true;
    chain(PLACES_MAX);
    for (uint32_t i = 0; i < nodes; i++)
        if (node[i].opcode) node[i].opcode = (uint8_t)(1 + i / 2 % 8);
    for (uint32_t i = 0; i < PLACES_MAX; i++)
        operand[i] = i * 7919 % 256;
    EQ(plan(PLACES_MAX, &slots, &fault), LEAT_ERR_OK);
    EQ(slots, 1);
    OK(tree[1][0] & LEAT_ATON_BACK);
    OK(round_of(PLACES_MAX, 16, slots, &got));
    OK(got == evaluate(nodes - 1, 0xffff));
    with_back = false;
}

static uint32_t balanced(uint32_t first, uint32_t count)
{
    if (count == 1) return leaf(first);
    const uint32_t a = balanced(first, count / 2);
    return inner(LEAT_ATON_ADD, a, balanced(first + count / 2, count - count / 2));
}

static void balanced_trees_need_no_more_slots_than_their_height_and_one(void)
{
    for (uint32_t n = 1; n <= PLACES_MAX; n++) {
        uint16_t slots = 0;
        uint32_t fault;
        nodes = 0;
        balanced(0, n);
        EQ(plan(n, &slots, &fault), LEAT_ERR_OK);
        EQ(slots, leat_aton_slots(n));
    }
}

static void wrong_trees_are_refused_at_the_node(void)
{
    static const struct {
        struct leat_aton_node node[5];
        uint32_t count;
        leat_err want;
        uint32_t fault;
    } bad[] = {
        { { { .left = 3 } }, 1, LEAT_ERR_RANGE, 0 },
        { { { .left = 1 }, { .left = 1 } }, 2, LEAT_ERR_DUPLICATE, 1 },
        { { { .left = 0 }, { .left = 1 }, { .opcode = 9, .right = 1 } }, 3, LEAT_ERR_TYPE, 2 },
        { { { .left = 0 }, { .left = 1 }, { .opcode = 1, .right = 2 } }, 3, LEAT_ERR_FIELD, 2 },
        { { { .left = 0 }, { .left = 1 }, { .opcode = 1, .left = 1, .right = 1 } },
          3,
          LEAT_ERR_FIELD,
          2 },
        { { { .left = 0 }, { .left = 1 } }, 2, LEAT_ERR_FIELD, 0 },
        { { { .left = 0 },
            { .left = 1 },
            { .opcode = 1, .right = 1 },
            { .left = 2 },
            { .opcode = 1, .left = 3, .right = 1 } },
          5,
          LEAT_ERR_FIELD,
          4 },
        { { { 0 } }, 0, LEAT_ERR_FIELD, 0 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint16_t slots = 77;
        uint32_t fault = 0;
        memcpy(node, bad[i].node, sizeof bad[i].node);
        nodes = bad[i].count;
        EQ(plan(3, &slots, &fault), bad[i].want);
        EQ(fault, bad[i].fault);
        EQ(slots, 77);
    }
}

/* A leaf that did not take part, or another station that did, is noticed. */
static void an_incomplete_packet_has_no_value(void)
{
    const uint8_t valid[] = { 0, 0, 0, 1, 0, 9 }, early[] = { 1, 0, 9, 0, 0, 0 };
    struct leat_aton_packet p = { .active = 1,
                                  .opcode = LEAT_ATON_TREE,
                                  .width_bits = 16,
                                  .param = 2,
                                  .counter = 2,
                                  .payload = valid,
                                  .payload_len = sizeof valid };
    uint64_t value = 0;
    OK(leat_aton_expression_value(&p, 2, &value));
    EQ(value, 9);
    OK(!leat_aton_expression_value(&p, 3, &value));
    p.payload = early;
    OK(!leat_aton_expression_value(&p, 2, &value));
}

TAP_MAIN(T(random_expressions_are_what_recursion_makes_of_them),
         T(the_example_is_planned_as_in_the_picture), T(a_right_operand_may_be_complete_first),
         T(sixteen_levels_are_planned_and_seventeen_are_not),
         T(a_chain_of_any_length_needs_one_slot_where_results_go_back),
         T(balanced_trees_need_no_more_slots_than_their_height_and_one),
         T(wrong_trees_are_refused_at_the_node), T(an_incomplete_packet_has_no_value))
