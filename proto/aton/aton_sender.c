#include "aton_sender.h"
#include "aton_symbol.h"
#include "leat_err.h"
#include <string.h>

enum {
    /* The longest initial payload: TREE's slots, W = 64. */
    PAYLOAD_MAX = LEAT_ATON_SLOTS_MAX * 9,
    LONG_SYMBOLS = LEAT_ATON_FOLD_SYMBOLS + 16, /* PARAM */
};

/* ---- begin -------------------------------------------------------------------------------- */

static bool is_counting(const struct leat_aton_command *c)
{
    return c->opcode >= LEAT_ATON_EQ && c->opcode <= LEAT_ATON_LE;
}

static leat_err command_check(const struct leat_aton_command *c)
{
    const unsigned w = c->width_bits;
    if (w != 16 && w != 32 && w != 64) return LEAT_ERR_RANGE;
    if (c->opcode < LEAT_ATON_ADD || c->opcode > LEAT_ATON_TREE) return LEAT_ERR_TYPE;
    if (c->reg > LEAT_ATON_REGISTER_MAX) return LEAT_ERR_RANGE;
    if (c->value_given && !is_counting(c)) return LEAT_ERR_FIELD;
    if (c->value_given && !leat_fits(c->value, w)) return LEAT_ERR_RANGE;
    return c->opcode <= LEAT_ATON_SORT && c->param ? LEAT_ERR_FIELD : LEAT_ERR_OK;
}

void leat_aton_begin_fold(const struct leat_aton_interface *it, const struct leat_aton_command *c,
                          uint64_t x, uint64_t *variable1, uint64_t *variable2)
{
    const bool all_ones = c->opcode == LEAT_ATON_AND || c->opcode == LEAT_ATON_MIN;
    const bool takes_part = leat_aton_sender_takes_part(it, c);
    const uint64_t identity = all_ones ? leat_aton_mask(c->width_bits) : 0;
    *variable1 = takes_part ? x : identity;
    *variable2 = 0;
    if (is_counting(c)) {
        *variable1 = c->value_given ? c->value : x;
        *variable2 = takes_part && leat_aton_relation(c->opcode, *variable1, x);
    } else if (c->opcode >= LEAT_ATON_MAX) {
        *variable2 = takes_part ? it->address : LEAT_ATON_DA_ALL;
    }
}

/* An image without operands; an enabled sender then visits it like any other interface. */
static void begin_long(struct leat_aton_packet *p, const uint8_t *zeros)
{
    struct leat_aton_shape shape;
    p->counter = 0;
    if (leat_aton_packet_shape(p, &shape)) return; /* encoding reports the error */
    p->payload_len = leat_aton_shape_len(&shape);
    p->payload = zeros;
}

/* The sender's operand in its own long packet, in whose region it may not be. The new length. */
static size_t visit_own(const struct leat_aton_interface *it, uint8_t *image, size_t len,
                        size_t grows)
{
    uint8_t region[LEAT_ATON_SA_AT - LEAT_ATON_CTL_AT];
    uint32_t visited_len = (uint32_t)len;
    memcpy(region, image + LEAT_ATON_CTL_AT, sizeof region);
    image[LEAT_ATON_CTL_AT + 1] &= (uint8_t) ~(1u << LEAT_ATON_CTL_GROUP);
    leat_put_be16(image + LEAT_ATON_DA_AT, LEAT_ATON_DA_ALL);
    leat_aton_visit(it, image, &visited_len, (uint32_t)(len + grows));
    memcpy(image + LEAT_ATON_CTL_AT, region, sizeof region);
    image[visited_len - LEAT_ATON_TRAILER_LEN] = 0;
    leat_aton_packet_seal(image, visited_len);
    return visited_len;
}

leat_err leat_aton_begin(const struct leat_aton_interface *it, const struct leat_aton_command *c,
                         uint8_t *image, size_t cap, size_t *len)
{
    static const uint8_t zeros[PAYLOAD_MAX];
    const bool takes_part = leat_aton_sender_takes_part(it, c);
    leat_err err = command_check(c);
    if (err) return err;
    struct leat_aton_packet p = { .active = 1,
                                  .priority = c->priority,
                                  .opcode = c->opcode,
                                  .width_bits = c->width_bits,
                                  .reg = c->reg,
                                  .group = c->group,
                                  .da = c->da,
                                  .sa = it->address,
                                  .counter = takes_part,
                                  .param = c->param };
    const bool is_long = !leat_aton_is_fold(&p);
    if (is_long)
        begin_long(&p, zeros);
    else
        leat_aton_begin_fold(it, c, it->operand[c->reg] & leat_aton_mask(c->width_bits),
                             &p.variable1, &p.variable2);

    const size_t grows = takes_part && c->opcode == LEAT_ATON_SORT ? c->width_bits / 8 : 0;
    size_t image_len;
    if (cap < grows) return LEAT_ERR_SPACE;
    err = leat_aton_packet_encode(&p, image, cap - grows, &image_len);
    if (err) return err;
    if (is_long && takes_part) image_len = visit_own(it, image, image_len, grows);
    *len = image_len;
    return LEAT_ERR_OK;
}

/* ---- take --------------------------------------------------------------------------------- */

static bool ascends(const struct leat_aton_packet *p, const struct leat_aton_shape *s)
{
    uint64_t before = 0;
    for (size_t i = 0; i < s->count; i++) {
        unsigned valid;
        const uint64_t value = leat_aton_item_get(p->payload, s, i, &valid);
        if (value < before) return false;
        before = value;
    }
    return true;
}

static bool slots_are_counters_bits(const struct leat_aton_packet *p,
                                    const struct leat_aton_shape *s)
{
    uint32_t bits = 0;
    for (size_t h = 0; h < s->count; h++) {
        unsigned valid;
        leat_aton_item_get(p->payload, s, h, &valid);
        bits |= (uint32_t)valid << h;
    }
    return bits == p->counter;
}

leat_err leat_aton_take(const struct leat_aton_interface *it, const struct leat_aton_command *c,
                        const uint8_t *image, size_t len, struct leat_aton_packet *result,
                        size_t *fault_at)
{
    struct leat_aton_packet p;
    struct leat_aton_shape shape;
    const leat_err err = leat_aton_packet_decode(image, len, &p, fault_at);
    if (err) return err;
    if (!p.active || p.opcode != c->opcode || p.width_bits != c->width_bits || p.reg != c->reg)
        return leat_fault(LEAT_ERR_FIELD, LEAT_ATON_CTL_AT, fault_at);
    if (p.group != c->group) return leat_fault(LEAT_ERR_FIELD, LEAT_ATON_CTL_AT, fault_at);
    if (p.da != c->da) return leat_fault(LEAT_ERR_FIELD, LEAT_ATON_DA_AT, fault_at);
    if (p.sa != it->address) return leat_fault(LEAT_ERR_FIELD, LEAT_ATON_SA_AT, fault_at);
    if (p.param != c->param) return leat_fault(LEAT_ERR_FIELD, LEAT_ATON_PARAM_AT, fault_at);
    leat_aton_packet_shape(&p, &shape); /* cannot fail: it has been decoded */
    if ((p.opcode == LEAT_ATON_SORT && !ascends(&p, &shape)) ||
        (p.opcode == LEAT_ATON_TREE && !slots_are_counters_bits(&p, &shape)))
        return leat_fault(LEAT_ERR_RANGE, LEAT_ATON_LONG_PAYLOAD_AT, fault_at);
    *result = p;
    return LEAT_ERR_OK;
}

bool leat_aton_average(const struct leat_aton_packet *p, uint64_t *quotient, uint64_t *remainder)
{
    if (!p->counter) return false;
    /* Long division: there are fewer carries than operands, so everything before V1 is
     * remainder. */
    uint64_t rest = p->variable2, q = 0;
    for (unsigned bit = p->width_bits; bit-- > 0;) {
        rest = rest << 1 | (p->variable1 >> bit & 1);
        q = q << 1 | (rest >= p->counter);
        if (rest >= p->counter) rest -= p->counter;
    }
    *quotient = q;
    *remainder = rest;
    return true;
}

uint64_t leat_aton_candidate(const struct leat_aton_packet *p)
{
    struct leat_aton_shape shape;
    uint64_t x = 0;
    if (leat_aton_packet_shape(p, &shape)) return 0;
    for (size_t j = 0; j < shape.count; j++) {
        unsigned valid;
        if (2 * leat_aton_item_get(p->payload, &shape, j, &valid) > p->counter)
            x |= UINT64_C(1) << j;
    }
    return x;
}

bool leat_aton_is_majority(const struct leat_aton_packet *p)
{
    return 2 * p->variable2 > p->counter;
}

bool leat_aton_tree(const struct leat_aton_interface *it, const struct leat_aton_packet *p,
                    uint64_t *value)
{
    struct leat_aton_shape shape;
    bool any = false;
    if (leat_aton_packet_shape(p, &shape)) return false;
    for (size_t h = 0; h < shape.count; h++) {
        unsigned valid;
        const uint64_t slot = leat_aton_item_get(p->payload, &shape, h, &valid);
        if (!valid) continue;
        *value = any ? leat_aton_fold(it->tree[h] & LEAT_ATON_TREE_OP, p->width_bits, slot, *value)
                     : slot;
        any = true;
    }
    return any;
}

/* ---- time --------------------------------------------------------------------------------- */

uint64_t leat_aton_symbols(const struct leat_aton_command *c, uint32_t counter)
{
    const uint64_t w = c->width_bits;
    if (c->opcode < LEAT_ATON_SORT) return LEAT_ATON_FOLD_SYMBOLS + 2 * w;
    if (c->opcode == LEAT_ATON_SORT) return LONG_SYMBOLS + counter * w;
    if (c->opcode == LEAT_ATON_BITCOUNT) return LONG_SYMBOLS + w * c->param;
    return LONG_SYMBOLS + c->param * (1 + w);
}

uint64_t leat_aton_monitor_bits(uint32_t n, uint64_t propagation)
{
    const uint64_t held = n + propagation;
    return held < LEAT_ATON_TOKEN_SYMBOLS ? LEAT_ATON_TOKEN_SYMBOLS - held : 0;
}

uint64_t leat_aton_time(uint64_t symbols, uint32_t n, uint64_t propagation)
{
    return symbols + n + propagation + leat_aton_monitor_bits(n, propagation);
}

uint64_t leat_aton_time_host_based(uint64_t symbols, uint32_t n, uint64_t propagation,
                                   uint64_t last_link)
{
    if (n < 2) return 0;
    return (n - 1) * leat_aton_time(symbols, n, propagation) + n - 1 + propagation - last_link;
}
