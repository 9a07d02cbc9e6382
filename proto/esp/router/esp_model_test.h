/*
 * A plain second implementation of spec/esp.md and README.md, for the tests only: bindings are a
 * list; an instruction puts one after the other and rolls all back when one fails.
 */
#ifndef LEAT_ESP_MODEL_TEST_H
#define LEAT_ESP_MODEL_TEST_H

#include "esp_core.h"
#include "esp_node.h"
#include "tap.h"
#include <leat/esp.h>
#include <leat/random.h>

enum { MODEL_BINDINGS = 4096, MODEL_GROUPS = 16, MODEL_JOURNAL = 8 };

struct model_binding {
    uint64_t computation, tag, value, expiry;
    uint32_t group, bucket, slot;
};

struct model {
    uint64_t id, seed, tau;
    uint32_t groups;
    uint64_t last[MODEL_GROUPS];
    struct model_binding binding[MODEL_BINDINGS];
    uint32_t count;
    /* of the current instruction */
    uint64_t computation, now;
    uint32_t group, created;
    struct {
        uint32_t at;
        uint64_t value;
    } journal[MODEL_JOURNAL];
    uint32_t journal_count, count_before;
    bool full;
};

static inline uint64_t model_mix(uint64_t a, uint64_t b)
{
    uint64_t state = a;
    state = leat_random_splitmix(&state) ^ b;
    return leat_random_splitmix(&state);
}

static inline struct model_binding *model_find(struct model *m, uint64_t tag)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->binding[i].computation == m->computation && m->binding[i].tag == tag)
            return &m->binding[i];
    return NULL;
}

static inline bool model_get(struct model *m, uint64_t tag, uint64_t *value)
{
    const struct model_binding *b = model_find(m, tag);
    if (b) *value = b->value;
    return b != NULL;
}

/* The slots in use of a bucket, as a mask. */
static inline uint32_t model_used(const struct model *m, uint32_t bucket)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->binding[i].group == m->group && m->binding[i].bucket == bucket)
            used |= 1u << m->binding[i].slot;
    return used;
}

static inline uint32_t model_bits(uint32_t mask)
{
    uint32_t bits = 0;
    for (; mask; mask >>= 1)
        bits += mask & 1;
    return bits;
}

static inline void model_buckets(uint64_t seed, uint64_t computation, uint64_t tag,
                                 uint32_t bucket[2])
{
    uint64_t state = tag ^ model_mix(seed, computation);
    const uint64_t h = leat_random_splitmix(&state);
    bucket[0] = h % 32;
    bucket[1] = (bucket[0] + 1 + (uint32_t)((h >> 32) * 31 >> 32)) % 32;
}

static inline void model_put(struct model *m, uint64_t tag, uint64_t value)
{
    struct model_binding *b = model_find(m, tag);
    if (b) {
        m->journal[m->journal_count].at = (uint32_t)(b - m->binding);
        m->journal[m->journal_count++].value = b->value;
        b->value = value;
        return;
    }
    uint32_t bucket[2];
    model_buckets(m->seed, m->computation, tag, bucket);
    const uint32_t used[2] = { model_used(m, bucket[0]), model_used(m, bucket[1]) };
    const int which = model_bits(used[1]) < model_bits(used[0]);
    if (used[which] == 255) {
        m->full = true;
        return;
    }
    uint32_t slot = 0;
    while (used[which] >> slot & 1)
        slot++;
    m->created++;
    m->binding[m->count++] = (struct model_binding){ .computation = m->computation,
                                                     .tag = tag,
                                                     .value = value,
                                                     .expiry = m->now + m->tau,
                                                     .group = m->group,
                                                     .bucket = bucket[which],
                                                     .slot = slot };
}

static inline void model_take_back(struct model *m)
{
    while (m->journal_count) {
        m->journal_count--;
        m->binding[m->journal[m->journal_count].at].value = m->journal[m->journal_count].value;
    }
    m->count = m->count_before;
    m->created = 0;
}

static inline void model_begin(struct model *m, uint64_t clock, uint64_t computation)
{
    m->computation = computation;
    m->group = (uint32_t)(model_mix(m->seed, computation) % m->groups);
    m->now = clock > m->last[m->group] ? clock : m->last[m->group];
    m->last[m->group] = m->now;
    for (uint32_t i = 0; i < m->count;)
        if (m->binding[i].group == m->group && m->binding[i].expiry <= m->now)
            m->binding[i] = m->binding[--m->count];
        else
            i++;
    m->count_before = m->count;
    m->journal_count = m->created = 0;
    m->full = false;
}

static inline bool model_compare(uint32_t op, uint64_t stored, uint64_t packet)
{
    const int64_t s = (int64_t)stored, p = (int64_t)packet;
    switch ((enum leat_esp_compare)op) {
    case LEAT_ESP_COMPARE_LT: return stored < packet;
    case LEAT_ESP_COMPARE_LE: return stored <= packet;
    case LEAT_ESP_COMPARE_GT: return stored > packet;
    case LEAT_ESP_COMPARE_GE: return stored >= packet;
    case LEAT_ESP_COMPARE_EQ:
    case LEAT_ESP_COMPARE_EQ_S: return stored == packet;
    case LEAT_ESP_COMPARE_NE:
    case LEAT_ESP_COMPARE_NE_S: return stored != packet;
    case LEAT_ESP_COMPARE_LT_S: return s < p;
    case LEAT_ESP_COMPARE_LE_S: return s <= p;
    case LEAT_ESP_COMPARE_GT_S: return s > p;
    case LEAT_ESP_COMPARE_GE_S: return s >= p;
    }
    abort();
}

static inline uint64_t model_add_signed(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return (uint64_t)INT64_MIN;
    return (uint64_t)(a + b);
}

static inline uint64_t model_fold(uint32_t op, uint64_t a, uint64_t b)
{
    switch ((enum leat_esp_fold)op) {
    case LEAT_ESP_FOLD_ADD: return a + b;
    case LEAT_ESP_FOLD_MIN: return a < b ? a : b;
    case LEAT_ESP_FOLD_MAX: return a > b ? a : b;
    case LEAT_ESP_FOLD_AND: return a & b;
    case LEAT_ESP_FOLD_OR: return a | b;
    case LEAT_ESP_FOLD_XOR: return a ^ b;
    case LEAT_ESP_FOLD_ADDSAT: return a > UINT64_MAX - b ? UINT64_MAX : a + b;
    case LEAT_ESP_FOLD_MIN_S: return (int64_t)a < (int64_t)b ? a : b;
    case LEAT_ESP_FOLD_MAX_S: return (int64_t)a > (int64_t)b ? a : b;
    case LEAT_ESP_FOLD_ADDSAT_S: return model_add_signed((int64_t)a, (int64_t)b);
    }
    abort();
}

static inline enum leat_esp_verdict model_count(struct model *m, struct leat_esp_packet *p)
{
    uint64_t c = 0;
    model_get(m, p->compValTag, &c);
    c++;
    model_put(m, p->compValTag, c);
    return c <= p->thresh ? LEAT_ESP_PASS : LEAT_ESP_STOP;
}

static inline enum leat_esp_verdict model_extreme(struct model *m, struct leat_esp_packet *p)
{
    uint64_t stored;
    if (model_get(m, p->compValTag, &stored) && !model_compare(p->op, stored, p->pktVal))
        return LEAT_ESP_STOP;
    model_put(m, p->compValTag, p->pktVal);
    return LEAT_ESP_PASS;
}

static inline enum leat_esp_verdict model_collect(struct model *m, struct leat_esp_packet *p)
{
    uint64_t total, children;
    if (!model_get(m, p->chldCntTag, &children) || children == 0) return LEAT_ESP_ABORTED;
    total = model_get(m, p->compValTag, &total) ? model_fold(p->op, total, p->val) : p->val;
    model_put(m, p->compValTag, total);
    model_put(m, p->chldCntTag, children - 1);
    if (children != 1) return LEAT_ESP_STOP;
    if (!m->full) p->val = total;
    return LEAT_ESP_PASS;
}

static inline enum leat_esp_verdict model_rchld(struct model *m, struct leat_esp_packet *p)
{
    uint64_t child, siblings = 0, forwarded = 0;
    const uint64_t own = model_mix(m->id, m->computation);
    if (!model_get(m, p->pktId, &child)) {
        model_put(m, p->pktId, 1);
        model_get(m, p->sibCntTag, &siblings);
        model_put(m, p->sibCntTag, siblings + 1);
    }
    model_get(m, p->fwdCntTag, &forwarded);
    model_put(m, p->fwdCntTag, forwarded + 1);
    if (forwarded + 1 > p->fwdThresh) return LEAT_ESP_STOP;
    if (own == p->sibCntTag || own == p->fwdCntTag) return LEAT_ESP_ABORTED;
    if (!m->full) p->pktId = own;
    return LEAT_ESP_PASS;
}

static inline enum leat_esp_verdict model_rcollect(struct model *m, struct leat_esp_packet *p)
{
    uint64_t child, siblings, total = 0, forwarded = 0;
    const uint64_t own = model_mix(m->id, m->computation);
    if (!model_get(m, p->pktId, &child)) return LEAT_ESP_ABORTED;
    if (!model_get(m, p->sibCntTag, &siblings)) return LEAT_ESP_ABORTED;
    bool has_total = model_get(m, p->compIdTag, &total);
    if (child == 1) {
        if (siblings == 0) return LEAT_ESP_ABORTED;
        model_put(m, p->pktId, 0);
        model_put(m, p->sibCntTag, --siblings);
        total = has_total ? model_fold(p->op, total, p->val) : p->val;
        model_put(m, p->compIdTag, total);
        has_total = true;
    }
    if (siblings != 0) return LEAT_ESP_STOP;
    if (!has_total) return LEAT_ESP_ABORTED;
    model_get(m, p->collectFwdTag, &forwarded);
    model_put(m, p->collectFwdTag, forwarded + 1);
    if (forwarded + 1 > p->fwdThresh) return LEAT_ESP_STOP;
    if (own == p->sibCntTag || own == p->compIdTag || own == p->collectFwdTag)
        return LEAT_ESP_ABORTED;
    if (!m->full) {
        p->pktId = own;
        p->val = total;
    }
    return LEAT_ESP_PASS;
}

/* Executes one instruction; m->created is the number of bindings it created. */
static inline enum leat_esp_verdict model_execute(struct model *m, uint64_t clock,
                                                  struct leat_esp_packet *p)
{
    enum leat_esp_verdict verdict = LEAT_ESP_PASS;
    m->created = 0;
    if (p->opcode == LEAT_ESP_NOP) return verdict;
    model_begin(m, clock, p->computationId);
    switch ((enum leat_esp_opcode)p->opcode) {
    case LEAT_ESP_COUNT: verdict = model_count(m, p); break;
    case LEAT_ESP_COMPARE: verdict = model_extreme(m, p); break;
    case LEAT_ESP_COLLECT: verdict = model_collect(m, p); break;
    case LEAT_ESP_RCHLD: verdict = model_rchld(m, p); break;
    case LEAT_ESP_RCOLLECT: verdict = model_rcollect(m, p); break;
    case LEAT_ESP_NOP:
    case LEAT_ESP_OPCODE_END: abort();
    }
    if (verdict != LEAT_ESP_ABORTED && m->full) verdict = LEAT_ESP_FULL;
    if (verdict >= LEAT_ESP_ABORTED) model_take_back(m);
    return verdict;
}

/* Does the store hold, slot by slot, what the model's list does? */
static inline bool model_holds(const struct model *m, const struct leat_esp_store *store)
{
    uint32_t live = 0;
    for (uint32_t g = 0; g < m->groups; g++) {
        if (store->group[g].last != m->last[g]) return false;
        for (uint32_t i = 0; i < LEAT_ESP_GROUP_SLOTS; i++)
            live += store->group[g].bucket[i / 8].expiry[i % 8] > m->last[g];
    }
    uint32_t listed = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct model_binding *b = &m->binding[i];
        const struct leat_esp_bucket *bucket = &store->group[b->group].bucket[b->bucket];
        if (b->expiry <= m->last[b->group]) continue; /* expired, but not overwritten since */
        listed++;
        if (bucket->computation[b->slot] != b->computation || bucket->value[b->slot] != b->value ||
            bucket->expiry[b->slot] != b->expiry ||
            (bucket->key[b->slot] ^ model_mix(m->seed, b->computation)) != b->tag)
            return false;
    }
    return listed == live;
}

#endif
