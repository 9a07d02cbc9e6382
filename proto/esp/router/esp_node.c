#include "esp_node.h"
#include "esp_octets.h"
#include "leat_arena.h"
#include <assert.h>
#include <string.h>

/* execute_many prefetches the lines of an instruction this many instructions ahead. */
enum { KEYS_AHEAD = 24, REST_AHEAD = 12 };

/* GCC drops calls to a function that only prefetches, as without effect: it must be inlined. */
#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address, 1)
#define INLINE         static inline __attribute__((always_inline))
#else
#define FETCH(address) ((void)(address))
#define INLINE         static inline
#endif

uint32_t leat_esp_groups_for(uint64_t slots)
{
    uint32_t groups = 1;
    while (groups < LEAT_ESP_GROUPS_MAX && (uint64_t)groups * LEAT_ESP_GROUP_SLOTS < slots)
        groups *= 2;
    return groups;
}

static struct leat_esp_group *lay(struct leat_arena *arena, uint32_t groups)
{
    return leat_arena_lay_lines(arena, groups, sizeof(struct leat_esp_group));
}

size_t leat_esp_store_footprint(uint32_t groups)
{
    struct leat_arena arena = { 0 };
    lay(&arena, groups);
    return arena.used;
}

void leat_esp_store_init(struct leat_esp_store *store, const struct leat_esp_node *node,
                         uint32_t groups, void *memory)
{
    struct leat_arena arena;
    assert(groups >= 1 && groups <= LEAT_ESP_GROUPS_MAX && (groups & (groups - 1)) == 0);
    leat_arena_init(&arena, memory, leat_esp_store_footprint(groups));
    *store =
        (struct leat_esp_store){ .node = *node, .group = lay(&arena, groups), .groups = groups };
    memset(store->group, 0, groups * sizeof *store->group);
}

void leat_esp_words_of(const struct leat_esp_packet *packet, struct leat_esp_words *w)
{
    *w = (struct leat_esp_words){
        .computation = packet->computationId,
        .control = (uint8_t)((unsigned)packet->loc << LEAT_ESP_LOC_SHIFT | packet->flags),
        .opcode = packet->opcode,
    };
    leat_esp_packet_gather(packet, w->operand);
}

void leat_esp_words_back(const struct leat_esp_words *w, struct leat_esp_packet *packet)
{
    *packet = (struct leat_esp_packet){
        .loc = (uint8_t)(w->control >> LEAT_ESP_LOC_SHIFT),
        .flags = w->control & LEAT_ESP_FLAGS_ALL,
        .opcode = w->opcode,
        .computationId = w->computation,
    };
    leat_esp_packet_scatter(w->operand, packet);
}

struct leat_esp_outcome leat_esp_store_execute(struct leat_esp_store *store, uint64_t clock,
                                               struct leat_esp_words *w)
{
    const uint64_t mark = leat_esp_mark(&store->node, w->computation);
    return leat_esp_execute(leat_esp_store_group(store, mark), &store->node, clock, mark,
                            LEAT_ESP_TAGS_MAX, w);
}

/* The line that shows whether a binding exists, in both buckets; or all other lines of a bucket. */
INLINE void fetch(const struct leat_esp_store *store, const struct leat_esp_words *w, bool rest)
{
    const uint64_t mark = leat_esp_mark(&store->node, w->computation);
    const struct leat_esp_group *group = leat_esp_store_group(store, mark);
    const struct leat_esp_shape *shape = &leat_esp_shapes[w->opcode];
    FETCH(&group->last);
    for (unsigned i = 0; i < shape->words / 2u; i++) {
        if (shape->kind[i] != LEAT_ESP_KIND_TAG) continue;
        const uint64_t key = w->operand[i] ^ mark, spread = leat_esp_spread(key);
        const struct leat_esp_bucket *first = &group->bucket[leat_esp_bucket_first(spread)];
        const struct leat_esp_bucket *second = &group->bucket[leat_esp_bucket_second(spread)];
        if (!rest) {
            FETCH(first->key);
            FETCH(second->key);
        } else {
            const struct leat_esp_bucket *b = leat_esp_mask_equal(first->key, key) ? first : second;
            FETCH(b->computation);
            FETCH(b->expiry);
            FETCH(b->value);
        }
    }
}

void leat_esp_store_execute_many(struct leat_esp_store *store, uint64_t clock,
                                 struct leat_esp_words *w, struct leat_esp_outcome *outcome,
                                 size_t count)
{
    for (size_t i = 0; i < count && i < KEYS_AHEAD; i++)
        fetch(store, &w[i], false);
    for (size_t i = 0; i < count && i < REST_AHEAD; i++)
        fetch(store, &w[i], true);
    for (size_t i = 0; i < count; i++) {
        if (count - i > KEYS_AHEAD) fetch(store, &w[i + KEYS_AHEAD], false);
        if (count - i > REST_AHEAD) fetch(store, &w[i + REST_AHEAD], true);
        outcome[i] = leat_esp_store_execute(store, clock, &w[i]);
    }
}

struct leat_esp_outcome leat_esp_store_visit(struct leat_esp_store *store, uint64_t clock,
                                             struct leat_esp_packet *packet)
{
    const unsigned wanted = packet->flags & (LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_E);
    if (wanted != LEAT_ESP_FLAG_X) return (struct leat_esp_outcome){ .verdict = LEAT_ESP_PASS };
    struct leat_esp_words w;
    leat_esp_words_of(packet, &w);
    const struct leat_esp_outcome out = leat_esp_store_execute(store, clock, &w);
    if (out.verdict == LEAT_ESP_PASS)
        leat_esp_packet_scatter(w.operand, packet);
    else if (out.verdict != LEAT_ESP_STOP)
        packet->flags |= LEAT_ESP_FLAG_E;
    return out;
}

/* ---- reading a store ---------------------------------------------------------------------- */

/* A reader's clock may lag behind the group's time; what has expired by then is not reported. */
static uint64_t time_of(const struct leat_esp_group *group, uint64_t now)
{
    return now > group->last ? now : group->last;
}

uint32_t leat_esp_group_list(const struct leat_esp_group *group, uint64_t mark,
                             uint64_t computation, uint64_t now, uint32_t *cursor,
                             struct leat_esp_binding *out, uint32_t cap)
{
    uint32_t count = 0;
    now = time_of(group, now);
    for (uint32_t i = *cursor; i < LEAT_ESP_GROUP_SLOTS; i++) {
        const struct leat_esp_bucket *b = &group->bucket[i / LEAT_ESP_SLOTS];
        const uint32_t slot = i % LEAT_ESP_SLOTS;
        if (b->computation[slot] != computation || b->expiry[slot] <= now) continue;
        if (count == cap) {
            *cursor = i;
            return count;
        }
        out[count++] = (struct leat_esp_binding){ .tag = b->key[slot] ^ mark,
                                                  .value = b->value[slot],
                                                  .remaining = b->expiry[slot] - now };
    }
    *cursor = 0;
    return count;
}

void leat_esp_group_survey(const struct leat_esp_group *group, uint64_t tau, uint64_t now,
                           struct leat_esp_survey *survey)
{
    uint64_t live = 0;
    now = time_of(group, now);
    for (uint32_t i = 0; i < LEAT_ESP_BUCKETS; i++) {
        const struct leat_esp_bucket *b = &group->bucket[i];
        uint32_t here = 0;
        for (uint32_t slot = 0; slot < LEAT_ESP_SLOTS; slot++) {
            if (b->expiry[slot] <= now) continue;
            const uint64_t left = b->expiry[slot] - now, piece = tau / LEAT_ESP_AGES + 1;
            const uint64_t age = left < tau ? (tau - left) / piece : 0;
            survey->age[age]++;
            here++;
        }
        survey->full_buckets += here == LEAT_ESP_SLOTS;
        live += here;
    }
    survey->live += live;
    if (live > survey->busiest) survey->busiest = live;
}

bool leat_esp_store_answer(const struct leat_esp_store *store, uint64_t now,
                           const struct leat_esp_management *query,
                           struct leat_esp_management *reply)
{
    const struct leat_esp_query *q = &query->query;
    if (query->opcode != LEAT_ESP_QUERY || (q->target && q->target != store->node.id)) return false;
    const uint64_t mark = leat_esp_mark(&store->node, query->computationId);
    const struct leat_esp_group *group = leat_esp_store_group(store, mark);
    *reply = (struct leat_esp_management){ .opcode = LEAT_ESP_REPLY,
                                           .computationId = query->computationId };
    struct leat_esp_reply *r = &reply->reply;
    r->node = store->node.id;
    r->nonce = q->nonce;
    r->store = (uint8_t)q->store;
    r->tau = store->node.tau;
    r->next = q->cursor;
    r->count = (uint16_t)leat_esp_group_list(group, mark, query->computationId, now, &r->next,
                                             r->binding, LEAT_ESP_BINDINGS_MAX);
    return true;
}
