/*
 * One seeded trace of ESP packets for every data path: octets and the clock at which they arrive.
 * Computations and tags come from small pools, so that most instructions find live bindings; the
 * clock dwells at the ends of lifetimes, and steps back now and then; every malformed class of
 * spec/esp.md occurs, and packets that must pass unexecuted.
 *
 *   esp_trace_begin(&trace, seed, &node, computations);
 *   loop: esp_trace_next(&trace, &step);      step.clock, step.octets, step.len, step.kind
 */
#ifndef LEAT_ESP_TRACE_TEST_H
#define LEAT_ESP_TRACE_TEST_H

#include "esp_store.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <leat/esp.h>
#include <leat/random.h>
#include <string.h>

enum { TRACE_OCTETS = 128, TRACE_MOMENTS = 64, TRACE_CHILDREN = 6 };

enum esp_trace_kind {
    TRACE_SOUND,
    TRACE_UNEXECUTED, /* X is not set */
    TRACE_ERROR_SET,
    TRACE_RESERVED_BIT,
    TRACE_PADDED,
    TRACE_NOP,
    TRACE_TRUNCATED,
    TRACE_CRC,
    TRACE_OPCODE,
    TRACE_LENGTH,
    TRACE_LENGTH_MAX,
    TRACE_EQUAL_TAGS,
    TRACE_OPERATOR,
    TRACE_ZERO_WORD,
    TRACE_MANAGEMENT,
    TRACE_NOISE,
    TRACE_KINDS
};

struct esp_trace {
    struct leat_random random;
    struct leat_esp_node node;
    uint64_t computations;
    uint64_t clock;
    uint64_t moment[TRACE_MOMENTS]; /* past clocks: lifetimes that end tau later */
    uint32_t moments;
};

struct esp_trace_step {
    uint64_t clock;
    uint8_t octets[TRACE_OCTETS];
    size_t len;
    enum esp_trace_kind kind;
    struct leat_esp_packet packet; /* what it was made from */
};

static inline void esp_trace_begin(struct esp_trace *t, uint64_t seed,
                                   const struct leat_esp_node *node, uint64_t computations)
{
    *t = (struct esp_trace){ .node = *node, .computations = computations, .clock = 1000 };
    leat_random_seed(&t->random, seed);
}

static inline uint64_t esp_trace_below(struct esp_trace *t, uint64_t bound)
{
    return leat_random_below(&t->random, bound);
}

/* Moves the clock to where a lifetime that began at a recorded moment ends, or a tick beside. */
static inline void esp_trace_to_an_end(struct esp_trace *t)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < TRACE_MOMENTS; i++) {
        const uint64_t end = t->moment[i] + t->node.tau;
        if (t->moment[i] && end > t->clock && end < next) next = end;
    }
    if (next != UINT64_MAX) next += esp_trace_below(t, 3) - 1;
    if (next != UINT64_MAX && next > t->clock) t->clock = next;
}

/* Small steps; at times right to the end of a lifetime, back, or past everything. */
static inline uint64_t esp_trace_clock(struct esp_trace *t)
{
    const uint64_t tau = t->node.tau, dice = esp_trace_below(t, 4096);
    if (dice < 1024)
        t->clock += esp_trace_below(t, tau / 2048 + 2);
    else if (dice < 1032)
        esp_trace_to_an_end(t);
    else if (dice == 1032 && esp_trace_below(t, 8) == 0)
        t->clock += tau + 1;
    else if (dice < 1048)
        t->moment[t->moments++ % TRACE_MOMENTS] = t->clock;
    if (dice >= 4000) return t->clock - esp_trace_below(t, tau / 50 + 2); /* a late reader */
    return t->clock;
}

static inline uint64_t esp_trace_value(struct esp_trace *t)
{
    static const uint64_t edge[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX };
    const uint64_t dice = esp_trace_below(t, 8);
    if (dice == 0) return edge[esp_trace_below(t, 5)];
    if (dice == 1) return leat_random_next(&t->random);
    return esp_trace_below(t, 20);
}

static inline uint64_t esp_trace_thresh(struct esp_trace *t)
{
    return esp_trace_below(t, 16) ? esp_trace_below(t, 12) : esp_trace_value(t);
}

/* A child of the node: a member, or (rarely) this node itself. */
static inline uint64_t esp_trace_child(struct esp_trace *t, uint64_t computation)
{
    if (esp_trace_below(t, 64) == 0) return leat_esp_child_id(&t->node, computation);
    return 0x1000 + esp_trace_below(t, TRACE_CHILDREN);
}

static inline uint32_t esp_trace_op(struct esp_trace *t, unsigned opcode)
{
#define X(name, code) code,
    static const uint32_t compare[] = { LEAT_ESP_COMPARE_LIST(X) };
    static const uint32_t fold[] = { LEAT_ESP_FOLD_LIST(X) };
#undef X
    if (opcode == LEAT_ESP_COMPARE)
        return compare[esp_trace_below(t, sizeof compare / sizeof *compare)];
    if (esp_trace_below(t, 2)) return LEAT_ESP_FOLD_ADD;
    return fold[esp_trace_below(t, sizeof fold / sizeof *fold)];
}

/* Each role has a tag or two of its own; now and then one of another role, so that they mix. */
static inline uint64_t esp_trace_tag(struct esp_trace *t, uint64_t role)
{
    if (esp_trace_below(t, 40) == 0) role = esp_trace_below(t, 6);
    if (esp_trace_below(t, 100) == 0) return leat_random_next(&t->random);
    return 0x100 * role + (esp_trace_below(t, 6) == 0);
}

static inline struct leat_esp_packet esp_trace_packet(struct esp_trace *t)
{
    static const uint8_t loc[] = { 0, 0, 0, 1, 1, 2, 4, 7 };
    struct leat_esp_packet p;
    do {
        p = (struct leat_esp_packet){ .flags = LEAT_ESP_FLAG_X };
        p.loc = loc[esp_trace_below(t, sizeof loc)];
        p.opcode = (uint8_t)(1 + esp_trace_below(t, 5));
        p.computationId = 1 + esp_trace_below(t, t->computations);
        p.compValTag = esp_trace_tag(t, 1);
        p.chldCntTag = esp_trace_tag(t, 1 + esp_trace_below(t, 2));
        p.sibCntTag = esp_trace_tag(t, 3);
        p.fwdCntTag = esp_trace_tag(t, 4);
        p.compIdTag = esp_trace_tag(t, 5);
        p.collectFwdTag = esp_trace_tag(t, 6);
        p.thresh = esp_trace_thresh(t);
        p.fwdThresh = esp_trace_thresh(t);
        p.val = esp_trace_value(t);
        p.pktVal = esp_trace_value(t);
        p.pktId = esp_trace_child(t, p.computationId);
        p.op = esp_trace_op(t, p.opcode);
        if (esp_trace_below(t, 3) == 0) p.compValTag = p.chldCntTag ^ 0x300;
        if (esp_trace_below(t, 8) == 0) p.flags |= LEAT_ESP_FLAG_R;
        if (esp_trace_below(t, 8) == 0) p.flags |= LEAT_ESP_FLAG_XR;
    } while (leat_esp_packet_check(&p, NULL) != LEAT_ERR_OK);
    return p;
}

static inline void esp_trace_seal(struct esp_trace_step *s)
{
    const size_t crc_at = s->len - LEAT_ESP_CRC_LEN;
    leat_put_be32(s->octets + crc_at, leat_crc32(0, s->octets, crc_at));
}

/* A tag is copied over another one: those of an instruction that has several. */
static inline bool esp_trace_equal_tags(struct esp_trace_step *s)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(s->octets[1]);
    int first = -1;
    for (int i = 0; i < row->words / 2; i++) {
        if (row->operand[i].kind != LEAT_ESP_KIND_TAG) continue;
        if (first >= 0) {
            memcpy(s->octets + LEAT_ESP_OPERANDS_AT + 8 * i,
                   s->octets + LEAT_ESP_OPERANDS_AT + 8 * first, 8);
            return true;
        }
        first = i;
    }
    return false;
}

/* The last operand is an operator; its upper or lower half changes. */
static inline bool esp_trace_operator(struct esp_trace *t, struct esp_trace_step *s, bool upper)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(s->octets[1]);
    const unsigned count = row->words / 2u;
    if (count == 0 || row->operand[count - 1].kind < LEAT_ESP_KIND_COMPARE) return false;
    uint8_t *word = s->octets + LEAT_ESP_OPERANDS_AT + 8 * (count - 1);
    static const uint32_t wrong[] = { 0, 8, 9, 0x10, 0x18, 0x20, 0x21, 0x80000001, 0x01000000 };
    if (upper)
        leat_put_be32(word, wrong[esp_trace_below(t, sizeof wrong / sizeof *wrong)]);
    else
        leat_put_be32(word + 4, (uint32_t)(1 + esp_trace_below(t, UINT32_MAX)));
    return true;
}

static inline enum esp_trace_kind esp_trace_kind(struct esp_trace *t)
{
    return esp_trace_below(t, 5) ? TRACE_SOUND
                                 : (enum esp_trace_kind)esp_trace_below(t, TRACE_KINDS);
}

/* Damages a valid packet according to its kind; a kind that does not fit leaves it valid. */
static inline void esp_trace_damage(struct esp_trace *t, struct esp_trace_step *s)
{
    uint8_t *o = s->octets;
    bool done = true;
    switch (s->kind) {
    case TRACE_UNEXECUTED: o[0] &= (uint8_t)~LEAT_ESP_FLAG_X; break;
    case TRACE_ERROR_SET: o[0] |= LEAT_ESP_FLAG_E; break;
    case TRACE_RESERVED_BIT: o[0] |= 0x10; break;
    case TRACE_OPCODE: o[1] = (uint8_t)(6 + esp_trace_below(t, 58)); break;
    case TRACE_MANAGEMENT: o[1] = (uint8_t)(64 + esp_trace_below(t, 192)); break;
    case TRACE_LENGTH: o[3] ^= (uint8_t)(1 + esp_trace_below(t, 255)); break;
    case TRACE_LENGTH_MAX: o[2] = o[3] = 0xff; break;
    case TRACE_EQUAL_TAGS: done = esp_trace_equal_tags(s); break;
    case TRACE_OPERATOR: done = esp_trace_operator(t, s, true); break;
    case TRACE_ZERO_WORD: done = esp_trace_operator(t, s, false); break;
    case TRACE_SOUND:
    case TRACE_PADDED:
    case TRACE_NOP:
    case TRACE_TRUNCATED:
    case TRACE_CRC:
    case TRACE_NOISE:
    case TRACE_KINDS: break;
    }
    if (!done) s->kind = TRACE_SOUND;
    esp_trace_seal(s);
    if (s->kind == TRACE_CRC) {
        const uint64_t bit = esp_trace_below(t, 8 * s->len);
        o[bit / 8] ^= (uint8_t)(1u << bit % 8);
    } else if (s->kind == TRACE_TRUNCATED) {
        s->len = esp_trace_below(t, s->len);
    } else if (s->kind == TRACE_PADDED) {
        const size_t more = 1 + esp_trace_below(t, TRACE_OCTETS - s->len);
        leat_random_fill(&t->random, o + s->len, more);
        s->len += more;
    } else if (s->kind == TRACE_NOISE) {
        s->len = esp_trace_below(t, TRACE_OCTETS);
        leat_random_fill(&t->random, o, s->len);
        if (s->len > 4 && esp_trace_below(t, 2)) leat_put_be32(o, 0x01010004);
    }
}

static inline void esp_trace_next(struct esp_trace *t, struct esp_trace_step *s)
{
    s->clock = esp_trace_clock(t);
    s->kind = esp_trace_kind(t);
    s->packet = esp_trace_packet(t);
    if (s->kind == TRACE_NOP) s->packet.opcode = LEAT_ESP_NOP;
    leat_esp_packet_encode(&s->packet, s->octets, sizeof s->octets, &s->len);
    esp_trace_damage(t, s);
}

#endif
