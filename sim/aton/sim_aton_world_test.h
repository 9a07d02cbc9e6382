/*
 * A ring under test: it records all callbacks, so that two models can be compared. Also a plain
 * implementation of spec/aton.md: lists of numbers, one after the other.
 */
#ifndef LEAT_SIM_ATON_WORLD_TEST_H
#define LEAT_SIM_ATON_WORLD_TEST_H

#include "sim_aton.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_REPORTED_MAX = 4096, WORLD_PAYLOAD_MAX = 2048, WORLD_STATIONS_MAX = 256 };

struct reported {
    bool arrived;
    uint32_t station, from;
    uint64_t id, number;
    leat_time sent_at, at;
    struct leat_aton_result result;
    uint64_t payload_hash;
    uint32_t len;
};

struct world {
    struct leat_sim_aton ring;
    struct leat_sim_aton_config config;
    uint16_t address[WORLD_STATIONS_MAX];
    uint32_t propagation[WORLD_STATIONS_MAX];
    void *memory;
    struct reported reported[WORLD_REPORTED_MAX];
    uint32_t count;
    uint8_t payload[WORLD_PAYLOAD_MAX]; /* of the last result */
    uint32_t results, stop_after;       /* so many of them, where that is not 0 */
};

static inline void world_done(void *context, const struct leat_sim_aton_result *r)
{
    struct world *w = context;
    if (w->count == WORLD_REPORTED_MAX) abort();
    w->reported[w->count++] = (struct reported){
        .station = r->station,
        .id = r->id,
        .number = r->number,
        .sent_at = r->sent_at,
        .at = r->at,
        .result = r->result,
        .payload_hash = leat_sim_payload_hash(r->payload, r->result.payload_len),
        .len = r->result.payload_len,
    };
    if (++w->results == w->stop_after) w->ring.stop = true;
    memcpy(w->payload, r->payload ? r->payload : w->payload, r->result.payload_len);
}

static inline void world_arrived(void *context, const struct leat_sim_aton_arrival *a)
{
    struct world *w = context;
    if (w->count == WORLD_REPORTED_MAX) abort();
    w->reported[w->count++] = (struct reported){
        .arrived = true,
        .station = a->station,
        .from = a->from,
        .number = a->number,
        .sent_at = a->sent_at,
        .at = a->at,
        .payload_hash = leat_sim_payload_hash(a->octets, a->len),
        .len = a->len,
    };
}

/* What w->config says; its addresses and links are w's. */
static inline void world_open(struct world *w)
{
    const struct leat_sim_aton_host host = { .context = w,
                                             .done = world_done,
                                             .arrived = world_arrived };
    w->config.payload_max = w->config.payload_max ? w->config.payload_max : WORLD_PAYLOAD_MAX;
    w->config.orders_max = 64;
    w->config.faults_max = 64;
    w->memory = malloc(leat_sim_aton_footprint(&w->config));
    w->count = w->results = 0;
    leat_sim_aton_init(&w->ring, &w->config, &host, w->memory);
}

static inline void world_close(struct world *w)
{
    free(w->memory);
    w->memory = NULL;
}

static inline bool world_same_reported(const struct reported *a, const struct reported *b)
{
    return a->arrived == b->arrived && a->station == b->station && a->from == b->from &&
           a->id == b->id && a->number == b->number && a->sent_at == b->sent_at && a->at == b->at &&
           a->result.status == b->result.status && a->result.counter == b->result.counter &&
           a->result.variable1 == b->result.variable1 &&
           a->result.variable2 == b->result.variable2 &&
           a->result.recognised == b->result.recognised && a->result.copied == b->result.copied &&
           a->payload_hash == b->payload_hash && a->len == b->len;
}

static inline bool world_same(const struct world *a, const struct world *b)
{
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!world_same_reported(&a->reported[i], &b->reported[i])) return false;
    return leat_sim_certificate_value(&a->ring.certificate) ==
           leat_sim_certificate_value(&b->ring.certificate);
}

/* ---- the plain implementation ---------------------------------------------------------------- */

struct plain {
    uint64_t counter, v1, v2;
    uint64_t item[WORLD_STATIONS_MAX];
    unsigned valid[WORLD_STATIONS_MAX];
    uint32_t items;
    uint64_t symbols;
};

static inline uint64_t plain_op(unsigned op, uint64_t a, uint64_t b, uint64_t mask)
{
    switch (op) {
    case LEAT_ATON_AND: return a & b;
    case LEAT_ATON_OR: return a | b;
    case LEAT_ATON_MAX: return a > b ? a : b;
    case LEAT_ATON_MIN: return a < b ? a : b;
    case LEAT_ATON_EQ: return a == b;
    case LEAT_ATON_LT: return a < b;
    case LEAT_ATON_LE: return a <= b;
    default: return (a + b) & mask;
    }
}

/* The operands of the participants, x_1 first, and who they are. */
static inline uint32_t plain_gather(struct world *w, uint32_t from,
                                    const struct leat_aton_command *c, uint64_t *x, uint16_t *who)
{
    const uint64_t mask = c->width_bits == 64 ? UINT64_MAX : (UINT64_C(1) << c->width_bits) - 1;
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->config.stations; k++) {
        const uint32_t station = (from + k) % w->config.stations;
        const struct leat_aton_interface *it = leat_sim_aton_registers(&w->ring, station);
        if (!leat_sim_aton_is_present(&w->ring, station) || !it->enabled) continue;
        const bool meant = c->group ? it->groups >> c->da & 1
                                    : c->da == 0xffff || c->da == it->address;
        if (k ? !meant : c->sender_out) continue;
        x[n] = it->operand[c->reg] & mask;
        who[n++] = it->address;
    }
    return n;
}

static inline void plain_fold(struct plain *p, const struct leat_aton_command *c, uint64_t mask,
                              const uint64_t *x, const uint16_t *who, uint32_t n)
{
    __extension__ unsigned __int128 sum = 0;
    const bool ones = c->opcode == LEAT_ATON_AND || c->opcode == LEAT_ATON_MIN;
    uint64_t fold = ones ? mask : 0;
    p->v2 = c->opcode == LEAT_ATON_MAX || c->opcode == LEAT_ATON_MIN ? 0xffff : 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += x[i];
        fold = plain_op(c->opcode, fold, x[i], mask);
    }
    for (uint32_t i = 0; i < n; i++)
        if ((c->opcode == LEAT_ATON_MAX || c->opcode == LEAT_ATON_MIN) && x[i] == fold)
            p->v2 = who[i]; /* the last */
    p->v1 = fold;
    if (c->opcode == LEAT_ATON_ADD) p->v2 = (uint64_t)(sum >> c->width_bits);
}

static inline void plain_count(struct plain *p, const struct leat_aton_command *c, uint64_t v,
                               const uint64_t *x, uint32_t n)
{
    p->v1 = v;
    for (uint32_t i = 0; i < n; i++)
        p->v2 += c->opcode == LEAT_ATON_EQ   ? v == x[i]
                 : c->opcode == LEAT_ATON_LT ? v < x[i]
                                             : v <= x[i];
}

static inline int plain_compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static inline void plain_tree(struct plain *p, const uint8_t *op, uint64_t mask, const uint64_t *x,
                              uint32_t n, uint32_t slots)
{
    p->items = slots;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t carry = x[i];
        uint32_t h = 0;
        for (; p->valid[h]; h++) {
            carry = plain_op(op[h], p->item[h], carry, mask);
            p->item[h] = p->valid[h] = 0;
        }
        p->item[h] = carry;
        p->valid[h] = 1;
    }
}

/* A revolution from station `from`. */
static inline struct plain plain_round(struct world *w, uint32_t from,
                                       const struct leat_aton_command *c)
{
    static uint64_t x[WORLD_STATIONS_MAX];
    static uint16_t who[WORLD_STATIONS_MAX];
    const uint64_t mask = c->width_bits == 64 ? UINT64_MAX : (UINT64_C(1) << c->width_bits) - 1;
    const struct leat_aton_interface *it = leat_sim_aton_registers(&w->ring, from);
    const uint32_t n = plain_gather(w, from, c, x, who);
    struct plain p = { .counter = n, .symbols = 144 };
    if (c->opcode <= LEAT_ATON_MIN) {
        plain_fold(&p, c, mask, x, who, n);
    } else if (c->opcode <= LEAT_ATON_LE) {
        plain_count(&p, c, c->value_given ? c->value : it->operand[c->reg] & mask, x, n);
    } else if (c->opcode == LEAT_ATON_SORT) {
        memcpy(p.item, x, n * sizeof *x);
        qsort(p.item, n, sizeof *x, plain_compare);
        p.items = n;
        p.symbols += (uint64_t)n * c->width_bits;
    } else if (c->opcode == LEAT_ATON_BITCOUNT) {
        p.items = c->width_bits;
        for (uint32_t j = 0; j < p.items; j++)
            for (uint32_t i = 0; i < n; i++)
                p.item[j] += x[i] >> j & 1;
        p.symbols += (uint64_t)c->width_bits * c->param;
    } else {
        plain_tree(&p, it->tree, mask, x, n, c->param);
        p.symbols += (uint64_t)(c->width_bits + 1) * c->param;
    }
    if (c->opcode <= LEAT_ATON_LE) p.symbols = 128 + 2u * c->width_bits;
    return p;
}

/* Octets of the payload, as they return. */
static inline uint32_t plain_payload(const struct plain *p, const struct leat_aton_command *c,
                                     uint8_t *out)
{
    uint8_t *to = out;
    const unsigned octets = c->opcode == LEAT_ATON_BITCOUNT ? (c->param + 7u) / 8
                                                            : c->width_bits / 8u;
    for (uint32_t i = 0; i < p->items; i++) {
        if (c->opcode == LEAT_ATON_TREE) *to++ = (uint8_t)p->valid[i];
        for (unsigned k = octets; k-- > 0;)
            *to++ = (uint8_t)(p->item[i] >> 8 * k);
    }
    return (uint32_t)(to - out);
}

/* n + sum p + B, by the words of the spec. */
static inline uint64_t plain_bits(const struct world *w)
{
    uint64_t n = 0, sum = 0;
    for (uint32_t i = 0; i < w->config.stations; i++) {
        n += leat_sim_aton_is_present(&w->ring, i) ? w->config.delay ? w->config.delay : 1 : 0;
        sum += w->config.propagation ? w->propagation[i] : w->config.propagation_each;
    }
    return n + sum >= 24 ? n + sum : 24;
}

/* ---- random input ---------------------------------------------------------------------------- */

static inline struct leat_aton_command world_random_command(struct leat_random *r, uint32_t n)
{
    struct leat_aton_command c = { 0 };
    c.opcode = (uint8_t)(1 + leat_random_below(r, 11));
    c.width_bits = (uint8_t)(16u << leat_random_below(r, 3));
    c.reg = (uint8_t)leat_random_below(r, 64);
    c.priority = leat_random_below(r, 3) ? 0 : (uint8_t)leat_random_below(r, 8);
    c.da = leat_random_below(r, 4) ? 0xffff : (uint16_t)(1 + leat_random_below(r, n + 1));
    c.group = leat_random_below(r, 3) == 0;
    if (c.group) c.da = (uint16_t)leat_random_below(r, 32);
    c.sender_out = leat_random_below(r, 4) == 0;
    if (c.opcode == LEAT_ATON_BITCOUNT) c.param = leat_aton_counter_bits(n);
    if (c.opcode == LEAT_ATON_TREE) c.param = leat_aton_slots(n);
    if (c.opcode >= LEAT_ATON_EQ && c.opcode <= LEAT_ATON_LE && leat_random_below(r, 2)) {
        c.value_given = true;
        c.value = leat_random_below(r, 4);
    }
    return c;
}

/* Small numbers for ties, large ones for carries. */
static inline uint64_t world_random_operand(struct leat_random *r)
{
    const uint64_t x = leat_random_next(r);
    switch (leat_random_below(r, 4)) {
    case 0: return x & 3;
    case 1: return ~(x & 3);
    default: return x;
    }
}

static inline void world_random_ring(struct world *w, struct leat_random *r, uint32_t n_max)
{
    const uint32_t n = 1 + (uint32_t)leat_random_below(r, n_max);
    const uint64_t longest = leat_random_below(r, 3) ? 1 : 1 + leat_random_below(r, 40);
    w->config = (struct leat_sim_aton_config){ .stations = n,
                                               .address = w->address,
                                               .propagation = w->propagation,
                                               .monitor = (uint32_t)leat_random_below(r, n) };
    w->config.delay = (uint32_t)leat_random_below(r, 4);
    const uint32_t turn = (uint32_t)leat_random_below(r, n);
    for (uint32_t i = 0; i < n; i++) {
        w->address[i] = (uint16_t)(1 + (i + turn) % n);
        w->propagation[i] = (uint32_t)leat_random_below(r, longest);
    }
}

static inline void world_random_registers(struct world *w, uint64_t seed)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    const uint64_t disabled_in = 1 + leat_random_below(&r, 8);
    uint8_t tree[LEAT_ATON_SLOTS_MAX];
    for (unsigned h = 0; h < LEAT_ATON_SLOTS_MAX; h++)
        tree[h] = (uint8_t)(1 + leat_random_below(&r, 8));
    for (uint32_t i = 0; i < w->config.stations; i++) {
        struct leat_aton_interface *it = leat_sim_aton_registers(&w->ring, i);
        it->enabled = disabled_in == 1 || leat_random_below(&r, disabled_in) != 0;
        memcpy(it->tree, tree, sizeof tree);
        it->groups = (uint32_t)leat_random_next(&r);
        for (unsigned k = 0; k < LEAT_ATON_REGISTERS; k++)
            it->operand[k] = world_random_operand(&r);
    }
}

#endif
