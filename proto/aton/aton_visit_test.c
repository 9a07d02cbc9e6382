/*
 * The word engine against a plain model: a ring as a list of stations; the answers are computed
 * from all operands at once, nothing is passed on.
 */
#include "aton_model_test.h"
#include "aton_sender.h"
#include "tap.h"

enum { STATIONS_MAX = 200, IMAGE_MAX = 16 + STATIONS_MAX * 8, CASES = LEAT_ROUNDS / 10 };

__extension__ typedef unsigned __int128 exact; /* sums that do not wrap */

struct ring {
    uint32_t n, sender;
    struct leat_aton_interface station[STATIONS_MAX];
};

static uint32_t random_width(struct leat_random *r)
{
    return 16u << leat_random_below(r, 3);
}

/* Half of the rings have equal operands, so that ties and majorities happen. */
static void random_ring(struct ring *ring, struct leat_random *r, uint32_t n, unsigned reg)
{
    const bool alike = leat_random_below(r, 2);
    const bool some_off = leat_random_below(r, 2);
    ring->n = n;
    ring->sender = (uint32_t)leat_random_below(r, n);
    for (uint32_t i = 0; i < n; i++) {
        struct leat_aton_interface *it = &ring->station[i];
        leat_random_fill(r, it->operand, sizeof it->operand);
        it->operand[reg] = alike ? leat_random_below(r, 3) : model_random_bits(r, 64);
        it->address = (uint16_t)(1000 + 7 * i);
        it->enabled = !some_off || leat_random_below(r, 3) != 0;
        for (unsigned h = 0; h < LEAT_ATON_SLOTS_MAX; h++)
            it->tree[h] = (uint8_t)(1 + h % 8);
        it->groups = (uint32_t)leat_random_next(r);
    }
}

/* From the sender's output to its input. The image is decoded as it would be at every station. */
static leat_err revolution(const struct ring *ring, const struct leat_aton_command *c,
                           uint8_t *image, struct leat_aton_packet *result)
{
    const struct leat_aton_interface *sender = &ring->station[ring->sender];
    size_t len = 0;
    leat_err err = leat_aton_begin(sender, c, image, IMAGE_MAX, &len);
    if (err) return err;
    for (uint32_t k = 1; k < ring->n; k++) {
        struct leat_aton_packet seen;
        uint32_t now = (uint32_t)len;
        EQ(leat_aton_packet_decode(image, len, &seen, NULL), LEAT_ERR_OK);
        leat_aton_visit(&ring->station[(ring->sender + k) % ring->n], image, &now, IMAGE_MAX);
        len = now;
        leat_aton_packet_seal(image, len);
    }
    OK(leat_aton_is_own(sender, image));
    return leat_aton_take(sender, c, image, len, result, NULL);
}

/* ---- the model: who takes part, in ring order from the sender ------------------------------- */

struct answer {
    unsigned count; /* participants */
    uint64_t x[STATIONS_MAX];
    unsigned address[STATIONS_MAX];
    uint64_t v1, v2;
};

static void model_answer(const struct ring *ring, const struct leat_aton_command *c,
                         struct answer *a)
{
    const uint64_t top = c->width_bits == 64 ? ~0ull : (1ull << c->width_bits) - 1;
    const struct leat_aton_interface *sender = &ring->station[ring->sender];
    const uint64_t v = c->value_given ? c->value : sender->operand[c->reg] & top;
    a->count = 0;
    for (uint32_t k = 0; k < ring->n; k++) {
        const struct leat_aton_interface *it = &ring->station[(ring->sender + k) % ring->n];
        const bool meant = c->group ? it->groups >> c->da & 1
                                    : c->da == 65535 || c->da == it->address;
        if (!it->enabled || (k > 0 ? !meant : c->sender_out)) continue;
        a->x[a->count] = it->operand[c->reg] & top;
        a->address[a->count++] = it->address;
    }
    exact sum = 0;
    uint64_t all = top, any = 0, most = 0, least = top;
    unsigned most_at = 65535, least_at = 65535, equal = 0, below = 0;
    for (unsigned i = 0; i < a->count; i++) {
        const uint64_t x = a->x[i];
        sum += x;
        all &= x;
        any |= x;
        if (x >= most) most = x, most_at = a->address[i];
        if (x <= least) least = x, least_at = a->address[i];
        equal += x == v;
        below += v < x;
    }
    const uint64_t high = (uint64_t)(sum >> c->width_bits);
    const uint64_t v1[] = { 0, (uint64_t)sum & top, all, any, most, least, v, v, v };
    const uint64_t v2[] = { 0, high, 0, 0, most_at, least_at, equal, below, equal + below };
    a->v1 = c->opcode <= 8 ? v1[c->opcode] : 0;
    a->v2 = c->opcode <= 8 ? v2[c->opcode] : 0;
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t model_op(unsigned op, unsigned width, uint64_t a, uint64_t b)
{
    switch (op) {
    case 2: return a & b;
    case 3: return a | b;
    case 4: return a < b ? b : a;
    case 5: return a < b ? a : b;
    case 6: return a == b;
    case 7: return a < b;
    case 8: return a <= b;
    default: return width == 64 ? a + b : (a + b) % (1ull << width);
    }
}

/* The tree over x[0 .. count-1], from its root: the left part is the largest power of two. */
static uint64_t model_tree(const uint8_t *ops, unsigned width, const uint64_t *x, unsigned count)
{
    unsigned left = 1, height = 0;
    if (count == 1) return x[0];
    while (left * 2 < count)
        left *= 2, height++;
    return model_op(ops[height], width, model_tree(ops, width, x, left),
                    model_tree(ops, width, x + left, count - left));
}

static uint64_t item(const struct leat_aton_packet *p, unsigned i)
{
    struct leat_aton_shape shape;
    unsigned valid;
    EQ(leat_aton_packet_check(p, &shape), LEAT_ERR_OK);
    return leat_aton_item_get(p->payload, &shape, i, &valid);
}

static void holds(const struct ring *ring, const struct leat_aton_command *c,
                  const struct leat_aton_packet *got, struct answer *want)
{
    EQ(got->counter, want->count);
    EQ(got->variable1, want->v1);
    EQ(got->variable2, want->v2);
    if (c->opcode == LEAT_ATON_SORT) {
        qsort(want->x, want->count, sizeof *want->x, ascending);
        for (unsigned i = 0; i < want->count; i++)
            OK(item(got, i) == want->x[i]);
    } else if (c->opcode == LEAT_ATON_BITCOUNT) {
        for (unsigned j = 0; j < c->width_bits; j++) {
            unsigned ones = 0;
            for (unsigned i = 0; i < want->count; i++)
                ones += (unsigned)(want->x[i] >> j & 1);
            EQ(item(got, j), ones);
        }
    } else if (c->opcode == LEAT_ATON_TREE) {
        const struct leat_aton_interface *sender = &ring->station[ring->sender];
        uint64_t value = 0;
        EQ(leat_aton_tree(sender, got, &value), want->count > 0);
        if (want->count) OK(value == model_tree(sender->tree, c->width_bits, want->x, want->count));
    }
}

static struct leat_aton_command random_command(const struct ring *ring, struct leat_random *r)
{
    struct leat_aton_command c = { .reg = 5, .da = LEAT_ATON_DA_ALL };
    c.opcode = (uint8_t)(1 + leat_random_below(r, 11));
    c.width_bits = (uint8_t)random_width(r);
    c.priority = (uint8_t)leat_random_below(r, 8);
    if (!leat_random_below(r, 4)) /* one, the sender itself, or none */
        c.da = (uint16_t)(1000 + 7 * leat_random_below(r, ring->n + 1));
    c.group = leat_random_below(r, 3) == 0;
    if (c.group) c.da = (uint16_t)leat_random_below(r, LEAT_ATON_GROUPS_MAX);
    c.sender_out = leat_random_below(r, 4) == 0;
    if (c.opcode >= LEAT_ATON_EQ && c.opcode <= LEAT_ATON_LE && leat_random_below(r, 2)) {
        c.value_given = true;
        c.value = model_random_bits(r, c.width_bits);
    }
    if (c.opcode == LEAT_ATON_BITCOUNT) c.param = leat_aton_counter_bits(ring->n);
    if (c.opcode == LEAT_ATON_TREE) c.param = leat_aton_slots(ring->n);
    return c;
}

static struct ring ring;
static struct answer answer;
static uint8_t image[IMAGE_MAX];

static void random_rings_answer_as_the_model_does(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < CASES; i++) {
        struct leat_aton_packet got = { 0 };
        random_ring(&ring, &r, 1 + (uint32_t)leat_random_below(&r, 64), 5);
        const struct leat_aton_command c = random_command(&ring, &r);
        EQ(revolution(&ring, &c, image, &got), LEAT_ERR_OK);
        model_answer(&ring, &c, &answer);
        holds(&ring, &c, &got, &answer);
        if (tap_checks_failed) break;
    }
}

static struct leat_aton_interface plain(uint16_t address, uint64_t x)
{
    return (struct leat_aton_interface){ .operand = { x }, .address = address, .enabled = 1 };
}

static void plain_ring(uint32_t n, const uint64_t *x)
{
    ring.n = n;
    ring.sender = 0;
    for (uint32_t i = 0; i < n; i++)
        ring.station[i] = plain((uint16_t)(i + 1), x[i]);
}

static struct leat_aton_packet run(uint8_t opcode, uint8_t width_bits, uint16_t param)
{
    const struct leat_aton_command c = {
        .opcode = opcode, .width_bits = width_bits, .da = LEAT_ATON_DA_ALL, .param = param
    };
    struct leat_aton_packet got = { 0 };
    EQ(revolution(&ring, &c, image, &got), LEAT_ERR_OK);
    return got;
}

static void a_tie_goes_to_the_last_in_ring_order(void)
{
    plain_ring(5, (const uint64_t[]){ 9, 3, 9, 3, 4 });
    EQ(run(LEAT_ATON_MAX, 32, 0).variable2, 3);
    EQ(run(LEAT_ATON_MIN, 32, 0).variable2, 4);
}

static void carries_make_the_sum_exact(void)
{
    plain_ring(3, (const uint64_t[]){ 0xffff, 0xffff, 0xffff });
    const struct leat_aton_packet got = run(LEAT_ATON_ADD, 16, 0);
    uint64_t quotient = 0, rest = 9;
    EQ(got.variable1, 0xfffd);
    EQ(got.variable2, 2);
    OK(leat_aton_average(&got, &quotient, &rest));
    EQ(quotient, 0xffff);
    EQ(rest, 0);
}

static void averages_are_exact(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < CASES / 10; i++) {
        const unsigned width = random_width(&r);
        const unsigned n = 1 + (unsigned)leat_random_below(&r, LEAT_ATON_INTERFACES_MAX);
        const uint64_t most = width == 64 ? ~0ull : (1ull << width) - 1;
        exact sum = (exact)model_random_bits(&r, width) * n;
        if (sum > most) sum -= leat_random_below(&r, n);
        const struct leat_aton_packet p = { .counter = (uint16_t)n,
                                            .width_bits = (uint8_t)width,
                                            .variable1 = (uint64_t)sum & most,
                                            .variable2 = (uint64_t)(sum >> width) };
        uint64_t quotient = 0, rest = 0;
        OK(leat_aton_average(&p, &quotient, &rest));
        OK((exact)quotient * n + rest == sum && rest < n);
    }
    const struct leat_aton_packet nobody = { .width_bits = 16 };
    uint64_t untouched = 7;
    OK(!leat_aton_average(&nobody, &untouched, &untouched));
    EQ(untouched, 7);
}

static void a_disabled_sender_starts_with_the_identity(void)
{
    static const uint64_t v1[] = { 0, 0, 0xffff, 0, 0, 0xffff, 7, 7, 7 };
    plain_ring(1, (const uint64_t[]){ 7 });
    ring.station[0].enabled = 0;
    for (uint8_t opcode = LEAT_ATON_ADD; opcode <= LEAT_ATON_LE; opcode++) {
        const struct leat_aton_packet got = run(opcode, 16, 0);
        EQ(got.counter, 0);
        EQ(got.variable1, v1[opcode]);
        EQ(got.variable2, opcode == LEAT_ATON_MAX || opcode == LEAT_ATON_MIN ? 0xffff : 0);
    }
    EQ(run(LEAT_ATON_SORT, 16, 0).payload_len, 0);
    EQ(item((const struct leat_aton_packet[]){ run(LEAT_ATON_BITCOUNT, 16, 1) }, 0), 0);
    uint64_t value = 5;
    OK(!leat_aton_tree(&ring.station[0],
                       (const struct leat_aton_packet[]){ run(LEAT_ATON_TREE, 16, 1) }, &value));
    EQ(value, 5);
}

/* Random rings of few values, n also a power of two; the model counts. */
static void majorities_take_two_packets(void)
{
    struct leat_random r;
    int found = 0, none = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < CASES / 20; i++) {
        random_ring(&ring, &r, 1 + (uint32_t)leat_random_below(&r, 64), 5);
        struct leat_aton_command c = { .opcode = LEAT_ATON_BITCOUNT,
                                       .width_bits = 16,
                                       .reg = 5,
                                       .da = LEAT_ATON_DA_ALL,
                                       .param = leat_aton_counter_bits(ring.n) };
        const uint64_t usual = model_random_bits(&r, 16);
        const uint64_t parts = 1 + leat_random_below(&r, 4);
        for (uint32_t s = 0; s < ring.n; s++)
            if (leat_random_below(&r, parts) == 0) ring.station[s].operand[5] = usual;
        struct leat_aton_packet got = { 0 };
        EQ(revolution(&ring, &c, image, &got), LEAT_ERR_OK);
        model_answer(&ring, &c, &answer);
        c = (struct leat_aton_command){ .opcode = LEAT_ATON_EQ,
                                        .width_bits = 16,
                                        .reg = 5,
                                        .da = LEAT_ATON_DA_ALL,
                                        .value_given = true,
                                        .value = leat_aton_candidate(&got) };
        EQ(revolution(&ring, &c, image, &got), LEAT_ERR_OK);
        bool exists = false;
        for (unsigned a = 0; a < answer.count; a++) {
            unsigned same = 0;
            for (unsigned b = 0; b < answer.count; b++)
                same += answer.x[a] == answer.x[b];
            if (same * 2 <= answer.count) continue;
            exists = true;
            OK(c.value == answer.x[a]);
        }
        EQ(leat_aton_is_majority(&got), exists);
        found += exists;
        none += !exists;
        if (tap_checks_failed) break;
    }
    OK(found > 0 && none > 0);
}

static void trees_of_1_to_200_leaves_mix_operations(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t n = 1; n <= 200; n++) {
        random_ring(&ring, &r, n, 5);
        for (uint32_t i = 0; i < n; i++)
            ring.station[i].enabled = 1;
        const struct leat_aton_command c = { .opcode = LEAT_ATON_TREE,
                                             .width_bits = (uint8_t)random_width(&r),
                                             .reg = 5,
                                             .da = LEAT_ATON_DA_ALL,
                                             .param = leat_aton_slots(n) };
        struct leat_aton_packet got = { 0 };
        EQ(revolution(&ring, &c, image, &got), LEAT_ERR_OK);
        model_answer(&ring, &c, &answer);
        holds(&ring, &c, &got, &answer);
    }
}

static void too_few_slots_are_reported(void)
{
    const struct leat_aton_command c = {
        .opcode = LEAT_ATON_TREE, .width_bits = 16, .da = LEAT_ATON_DA_ALL, .param = 2
    };
    struct leat_aton_packet got = { 0 };
    plain_ring(4, (const uint64_t[]){ 1, 2, 3, 4 });
    EQ(revolution(&ring, &c, image, &got), LEAT_ERR_RANGE);
}

static void values_that_do_not_ascend_are_reported(void)
{
    const struct leat_aton_command c = { .opcode = LEAT_ATON_SORT,
                                         .width_bits = 16,
                                         .da = LEAT_ATON_DA_ALL };
    struct leat_aton_packet got = run(LEAT_ATON_SORT, 16, 0);
    plain_ring(2, (const uint64_t[]){ 2, 1 });
    got = run(LEAT_ATON_SORT, 16, 0);
    image[LEAT_ATON_LONG_PAYLOAD_AT] = 1;
    leat_aton_packet_seal(image, 20);
    EQ(leat_aton_take(&ring.station[0], &c, image, 20, &got, NULL), LEAT_ERR_RANGE);
}

static void an_initial_fold_is_the_operand_or_the_identity(void)
{
    const struct leat_aton_command min = { .opcode = LEAT_ATON_MIN, .width_bits = 16 };
    const struct leat_aton_command less = {
        .opcode = LEAT_ATON_LT, .width_bits = 16, .value = 8, .value_given = true
    };
    struct leat_aton_interface it = plain(3, 9);
    uint64_t v1, v2;
    for (int enabled = 0; enabled < 2; enabled++) {
        it.enabled = (uint8_t)enabled;
        leat_aton_begin_fold(&it, &min, 9, &v1, &v2);
        EQ(v1, enabled ? 9 : 0xffff);
        EQ(v2, enabled ? 3 : LEAT_ATON_DA_ALL);
        leat_aton_begin_fold(&it, &less, 9, &v1, &v2);
        EQ(v1, 8);
        EQ(v2, enabled);
    }
}

static void a_region_is_all_one_or_a_group(void)
{
    struct leat_aton_interface it = plain(7, 0);
    const struct leat_aton_command in = { 0 }, out = { .sender_out = true };
    it.groups = 1u << 31 | 1;
    OK(leat_aton_is_meant(&it, false, LEAT_ATON_DA_ALL) && leat_aton_is_meant(&it, false, 7));
    OK(!leat_aton_is_meant(&it, false, 0) && !leat_aton_is_meant(&it, true, 7));
    OK(leat_aton_is_meant(&it, true, 0) && leat_aton_is_meant(&it, true, 31));
    OK(!leat_aton_is_meant(&it, true, 32) && !leat_aton_is_meant(&it, true, LEAT_ATON_DA_ALL));
    OK(leat_aton_sender_takes_part(&it, &in) && !leat_aton_sender_takes_part(&it, &out));
    it.enabled = 0;
    OK(!leat_aton_sender_takes_part(&it, &in));
}

static void a_packet_of_another_command_is_not_taken(void)
{
    const struct leat_aton_command min = { .opcode = LEAT_ATON_MIN,
                                           .width_bits = 16,
                                           .da = LEAT_ATON_DA_ALL };
    struct leat_aton_command other = min;
    struct leat_aton_interface it = plain(3, 9);
    struct leat_aton_packet got = { 0 };
    size_t len = 0, at = 0;
    EQ(leat_aton_begin(&it, &min, image, sizeof image, &len), LEAT_ERR_OK);
    other.reg = 1;
    EQ(leat_aton_take(&it, &other, image, len, &got, &at), LEAT_ERR_FIELD);
    EQ(at, LEAT_ATON_CTL_AT);
    other = min;
    other.group = true;
    EQ(leat_aton_take(&it, &other, image, len, &got, &at), LEAT_ERR_FIELD);
    EQ(at, LEAT_ATON_CTL_AT);
    other = min;
    other.da = 5;
    EQ(leat_aton_take(&it, &other, image, len, &got, &at), LEAT_ERR_FIELD);
    EQ(at, LEAT_ATON_DA_AT);
    it.address = 4;
    EQ(leat_aton_take(&it, &min, image, len, &got, &at), LEAT_ERR_FIELD);
    EQ(at, LEAT_ATON_SA_AT);
    it.address = 3;
    image[10] ^= 1;
    EQ(leat_aton_take(&it, &min, image, len, &got, &at), LEAT_ERR_CHECKSUM);
    EQ(got.counter, 0);
    const struct leat_aton_command narrow = {
        .opcode = LEAT_ATON_TREE, .width_bits = 16, .da = LEAT_ATON_DA_ALL, .param = 1
    };
    other = narrow;
    other.param = 2;
    EQ(leat_aton_begin(&it, &narrow, image, sizeof image, &len), LEAT_ERR_OK);
    EQ(leat_aton_take(&it, &other, image, len, &got, &at), LEAT_ERR_FIELD);
    EQ(at, LEAT_ATON_PARAM_AT);
}

static void commands_that_cannot_be_are_refused(void)
{
    static const struct {
        struct leat_aton_command command;
        leat_err want;
    } bad[] = {
        { { .opcode = 0, .width_bits = 16 }, LEAT_ERR_TYPE },
        { { .opcode = 12, .width_bits = 16 }, LEAT_ERR_TYPE },
        { { .opcode = 1, .width_bits = 24 }, LEAT_ERR_RANGE },
        { { .opcode = 1, .width_bits = 16, .reg = 64 }, LEAT_ERR_RANGE },
        { { .opcode = 1, .width_bits = 16, .priority = 8 }, LEAT_ERR_RANGE },
        { { .opcode = 1, .width_bits = 16, .param = 1 }, LEAT_ERR_FIELD },
        { { .opcode = 9, .width_bits = 16, .param = 1 }, LEAT_ERR_FIELD },
        { { .opcode = 1, .width_bits = 16, .value_given = true }, LEAT_ERR_FIELD },
        { { .opcode = 6, .width_bits = 16, .value_given = true, .value = 65536 }, LEAT_ERR_RANGE },
        { { .opcode = 10, .width_bits = 16 }, LEAT_ERR_RANGE },
        { { .opcode = 10, .width_bits = 16, .param = 17 }, LEAT_ERR_RANGE },
        { { .opcode = 11, .width_bits = 16, .param = 18 }, LEAT_ERR_RANGE },
        { { .opcode = 1, .width_bits = 16, .group = true, .da = 32 }, LEAT_ERR_RANGE },
    };
    const struct leat_aton_interface it = plain(1, 0);
    size_t len = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EQ(leat_aton_begin(&it, &bad[i].command, image, sizeof image, &len), bad[i].want);
    EQ(len, 77);
}

/* Every command, in every smaller buffer: SPACE, and nothing is written beyond its end. */
static void smaller_buffers_are_refused(void)
{
    const struct leat_aton_interface it = plain(1, 7);
    for (uint8_t opcode = LEAT_ATON_ADD; opcode <= LEAT_ATON_TREE; opcode++) {
        const struct leat_aton_command c = { .opcode = opcode,
                                             .width_bits = 64,
                                             .da = LEAT_ATON_DA_ALL,
                                             .param = opcode >= LEAT_ATON_BITCOUNT ? 2 : 0 };
        size_t len = 0, again = 0;
        EQ(leat_aton_begin(&it, &c, image, sizeof image, &len), LEAT_ERR_OK);
        memset(image, 0xA5, sizeof image);
        for (size_t cap = 0; cap < len; cap++)
            EQ(leat_aton_begin(&it, &c, image, cap, &again), LEAT_ERR_SPACE);
        EQ(image[0], 0xA5);
        EQ(leat_aton_begin(&it, &c, image, len, &again), LEAT_ERR_OK);
        EQ(again, len);
        EQ(image[len], 0xA5);
    }
}

static void without_room_a_packet_is_left_alone(void)
{
    const struct leat_aton_command sort = { .opcode = LEAT_ATON_SORT,
                                            .width_bits = 32,
                                            .da = LEAT_ATON_DA_ALL };
    const struct leat_aton_interface it = plain(1, 7), next = plain(2, 3);
    uint8_t before[IMAGE_MAX];
    size_t len = 0;
    EQ(leat_aton_begin(&it, &sort, image, sizeof image, &len), LEAT_ERR_OK);
    memcpy(before, image, sizeof before);
    uint32_t now = (uint32_t)len;
    EQ(leat_aton_visit(&next, image, &now, now + 3), LEAT_ATON_NO_ROOM);
    EQ(now, len);
    OK(memcmp(before, image, sizeof before) == 0);
    EQ(leat_aton_visit(&next, image, &now, now + 4), LEAT_ATON_TAKES_PART);
    EQ(now, len + 4);

    plain_ring(2, (const uint64_t[]){ 1, 2 });
    run(LEAT_ATON_ADD, 16, 0);
    leat_put_be16(image + LEAT_ATON_COUNTER_AT, LEAT_ATON_INTERFACES_MAX);
    now = 18;
    EQ(leat_aton_visit(&next, image, &now, now), LEAT_ATON_NO_ROOM);
}

static void an_interface_that_does_not_take_part_repeats(void)
{
    struct model m;
    struct leat_random r;
    uint8_t before[MODEL_IMAGE_MAX], after[MODEL_IMAGE_MAX];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 1000; i++) {
        struct leat_aton_interface it = plain(7, 1);
        model_random(&m, &r);
        m.packet.da = 7;
        m.packet.group = 0;
        if (m.packet.active && leat_random_below(&r, 2)) m.packet.da = 8;
        it.enabled = m.packet.active && m.packet.da == 8; /* passive: whatever its destination */
        EQ(leat_aton_is_addressed(&it, (model_image(&m, before), before)), m.packet.da == 7);
        uint32_t len = (uint32_t)model_image(&m, before);
        memcpy(after, before, len);
        EQ(leat_aton_visit(&it, after, &len, sizeof after), LEAT_ATON_REPEATS);
        OK(memcmp(before, after, len) == 0);
    }
}

static void an_interface_that_takes_part_sets_a_and_c(void)
{
    plain_ring(2, (const uint64_t[]){ 1, 2 });
    const struct leat_aton_packet two = run(LEAT_ATON_MAX, 16, 0);
    EQ(image[13], 0xCC);
    EQ(leat_aton_packet_crc(image, 13), model_image_crc(image, 13));
    EQ(two.recognised, 1);
    EQ(two.copied, 1);
    ring.n = 1;
    EQ(run(LEAT_ATON_MAX, 16, 0).recognised, 0);
}

/* The parts of a visit, each by itself. */
static void values_folds_and_relations_are_as_wide_as_w(void)
{
    uint8_t octets[8] = { 0 };
    EQ(leat_aton_mask(16), 0xffff);
    OK(leat_aton_mask(64) == UINT64_MAX);
    leat_aton_value_put(octets, 2, 32, 0x01020304);
    EQ(octets[1], 0);
    EQ(octets[5], 4);
    EQ(leat_aton_value_get(octets, 2, 32), 0x01020304);
    EQ(leat_aton_fold(LEAT_ATON_ADD, 16, 0xffff, 2), 1);
    EQ(leat_aton_fold(LEAT_ATON_AND, 16, 6, 3), 2);
    EQ(leat_aton_fold(LEAT_ATON_OR, 16, 6, 3), 7);
    EQ(leat_aton_fold(LEAT_ATON_MAX, 16, 6, 3), 6);
    EQ(leat_aton_fold(LEAT_ATON_MIN, 16, 6, 3), 3);
    OK(leat_aton_relation(LEAT_ATON_EQ, 3, 3) && !leat_aton_relation(LEAT_ATON_EQ, 3, 4));
    OK(leat_aton_relation(LEAT_ATON_LT, 3, 4) && !leat_aton_relation(LEAT_ATON_LT, 3, 3));
    OK(leat_aton_relation(LEAT_ATON_LE, 3, 3) && !leat_aton_relation(LEAT_ATON_LE, 4, 3));
}

static void every_command_visits_by_its_own_function(void)
{
    plain_ring(2, (const uint64_t[]){ 5, 3 });
    struct leat_aton_task t = { .width_bits = 16, .opcode = LEAT_ATON_MIN, .x = 3, .len = 18 };
    ring.n = 1;
    run(LEAT_ATON_MIN, 16, 0);
    leat_aton_visit_fold(image, &t, 9);
    EQ(leat_get_be16(image + LEAT_ATON_VARIABLE_AT), 3);
    EQ(leat_get_be16(image + LEAT_ATON_VARIABLE_AT + 2), 9);
    run(LEAT_ATON_SORT, 16, 0);
    EQ(leat_aton_visit_sort(image, &t, 1), 20);
    EQ(leat_get_be16(image + LEAT_ATON_LONG_PAYLOAD_AT), 3);
    EQ(leat_get_be16(image + LEAT_ATON_LONG_PAYLOAD_AT + 2), 5);
    struct leat_aton_gap gap = { .image = image, .x = 4, .at = 15, .width_bits = 16 };
    EQ(leat_aton_gap_step(0, &gap), 0);
    EQ(gap.at, 13);
    EQ(leat_aton_gap_step(1, &gap), 1);
    EQ(gap.at, 13);
    run(LEAT_ATON_BITCOUNT, 16, 9);
    leat_aton_visit_bitcount(image, &t, 9);
    EQ(leat_get_be16(image + LEAT_ATON_LONG_PAYLOAD_AT), 2);
    EQ(leat_get_be16(image + LEAT_ATON_LONG_PAYLOAD_AT + 2), 1);
    run(LEAT_ATON_TREE, 16, 2);
    leat_aton_visit_tree(image, &t, 2, (const uint8_t[]){ LEAT_ATON_ADD, LEAT_ATON_ADD });
    EQ(image[LEAT_ATON_LONG_PAYLOAD_AT], 0);
    EQ(image[LEAT_ATON_LONG_PAYLOAD_AT + 3], 1);
    EQ(leat_get_be16(image + LEAT_ATON_LONG_PAYLOAD_AT + 4), 8);
}

/* ---- time --------------------------------------------------------------------------------- */

static void bits_and_slots_are_what_n_needs(void)
{
    for (uint32_t n = 1; n <= LEAT_ATON_INTERFACES_MAX; n++) {
        const uint16_t c = leat_aton_counter_bits(n), h = leat_aton_slots(n);
        OK((1u << c) > n && (1u << c) <= 2 * n);
        OK((1u << (h - 1)) >= n && (1u << (h - 1)) < 2 * n);
    }
}

static void the_closed_form_gives_the_specs_three_times(void)
{
    struct leat_aton_command c = { .opcode = LEAT_ATON_ADD, .width_bits = 32 };
    EQ(leat_aton_monitor_bits(4, 4), 16);
    EQ(leat_aton_time(leat_aton_symbols(&c, 4), 4, 4), 216);
    EQ(leat_aton_monitor_bits(40, 0), 0);
    EQ(leat_aton_time(leat_aton_symbols(&c, 40), 40, 0), 232);
    c.width_bits = 64;
    EQ(leat_aton_monitor_bits(1, 0), 23);
    EQ(leat_aton_time(leat_aton_symbols(&c, 1), 1, 0), 280);
}

/* The symbols of the codec, which knows nothing of closed forms. */
static void p_is_the_number_of_symbols_sent(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 2000; i++) {
        struct leat_aton_packet got = { 0 };
        size_t symbols = 0;
        random_ring(&ring, &r, 1 + (uint32_t)leat_random_below(&r, 64), 5);
        const struct leat_aton_command c = random_command(&ring, &r);
        EQ(revolution(&ring, &c, image, &got), LEAT_ERR_OK);
        const struct leat_aton_frame frame = { .packet = got };
        EQ(leat_aton_frame_measure(&frame, &symbols), LEAT_ERR_OK);
        EQ(leat_aton_symbols(&c, got.counter), symbols);
    }
}

/* n = 4, p = 1 each: three packets of 216 bits, and the token over three stations and links. */
static void host_based_takes_n_minus_1_packets(void)
{
    EQ(leat_aton_time_host_based(192, 4, 4, 1), 3 * 216 + 3 + 3);
    EQ(leat_aton_time_host_based(192, 1, 0, 0), 0);
}

TAP_MAIN(T(random_rings_answer_as_the_model_does), T(a_tie_goes_to_the_last_in_ring_order),
         T(carries_make_the_sum_exact), T(averages_are_exact),
         T(a_disabled_sender_starts_with_the_identity),
         T(an_initial_fold_is_the_operand_or_the_identity), T(majorities_take_two_packets),
         T(trees_of_1_to_200_leaves_mix_operations), T(too_few_slots_are_reported),
         T(values_that_do_not_ascend_are_reported), T(a_packet_of_another_command_is_not_taken),
         T(a_region_is_all_one_or_a_group), T(commands_that_cannot_be_are_refused),
         T(smaller_buffers_are_refused), T(without_room_a_packet_is_left_alone),
         T(an_interface_that_does_not_take_part_repeats),
         T(an_interface_that_takes_part_sets_a_and_c),
         T(values_folds_and_relations_are_as_wide_as_w),
         T(every_command_visits_by_its_own_function), T(bits_and_slots_are_what_n_needs),
         T(the_closed_form_gives_the_specs_three_times), T(p_is_the_number_of_symbols_sent),
         T(host_based_takes_n_minus_1_packets))
