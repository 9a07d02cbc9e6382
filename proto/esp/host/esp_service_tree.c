/*
 * The tree map: after RCHLD the root queries the nodes for their children, by queries that every
 * node on the route to a member answers. One member per node that has any would be enough, but
 * their locations are unknown. The root therefore queries some of the members whose route is
 * unknown in a wave and, when the answers are in, some of those still left.
 */
#include "esp_service_parts.h"

/* Waves grow with the group, so that there are never more than a few tens. */
enum { WAVE_SHARE = 16 };

/* The computation that a member computes in. */
static uint64_t computation_of(const struct leat_esp_service *s, uint32_t member)
{
    return s->computing[leat_esp_service_shard(s, member) * s->parts].computation;
}

static bool is_placed(const struct leat_esp_service *s, uint32_t member)
{
    return leat_esp_map_is_placed(&s->map, computation_of(s, member), s->roster.entry[member].id);
}

static uint32_t count_unplaced(const struct leat_esp_service *s)
{
    uint32_t unplaced = 0;
    for (uint32_t i = 0; i < s->result.members; i++)
        unplaced += !is_placed(s, i);
    return unplaced;
}

static void add_links(struct leat_esp_service *s, uint64_t computation, uint32_t node,
                      const struct leat_esp_binding *binding, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (binding[i].tag < LEAT_ESP_TAG_CHILDREN || binding[i].tag >= LEAT_ESP_TAG_END)
            leat_esp_map_link(&s->map, computation, node, binding[i].tag);
}

static void add_own(struct leat_esp_service *s, leat_time now, uint64_t computation)
{
    const uint64_t mark = leat_esp_mark(&s->own.node, computation);
    struct leat_esp_binding binding[LEAT_ESP_BINDINGS_MAX];
    uint32_t cursor = 0;
    do {
        const uint32_t count = leat_esp_group_list(leat_esp_store_group(&s->own, mark), mark,
                                                   computation, now, &cursor, binding,
                                                   LEAT_ESP_BINDINGS_MAX);
        add_links(s, computation, 0, binding, count);
    } while (cursor);
}

/* Several computations have built a tree each: they become one. */
static void join_shards(struct leat_esp_service *s)
{
    struct leat_esp_map *map = &s->map;
    for (uint32_t i = 0; i < map->lists; i++)
        leat_esp_map_adopt(map, map->list[i].computation, map->node[map->list[i].node].id);
    for (uint32_t i = 0; i < s->result.members; i++)
        leat_esp_map_adopt(map, computation_of(s, i), s->roster.entry[i].id);
}

static void finish(struct leat_esp_service *s, leat_time now, uint32_t unplaced)
{
    join_shards(s);
    s->result.unplaced = unplaced;
    s->result.counted = s->result.members - unplaced;
    s->result.answer = leat_esp_map_branches(&s->map);
    if (unplaced)
        leat_esp_service_end(s, now, LEAT_ESP_LATE);
    else if (s->request.kind == LEAT_ESP_SERVICE_MULTICAST)
        leat_esp_service_begin_install(s, now);
    else
        leat_esp_service_end(s, now, LEAT_ESP_ANSWERED);
}

/* Does a list go on? It is queried before any member, which may be in the rest. */
static bool has_rests(const struct leat_esp_service *s)
{
    for (uint32_t i = 0; i < s->map.lists; i++)
        if (s->map.list[i].cursor) return true;
    return false;
}

/* Bindings live as long as tau. */
static leat_time last_answer_at(const struct leat_esp_service *s)
{
    const bool is_silent = s->request.silence_ps && s->map.nodes == 1;
    return s->act_at + (is_silent ? s->request.silence_ps : s->own.node.tau);
}

void leat_esp_service_wave(struct leat_esp_service *s, leat_time now)
{
    const uint32_t unplaced = count_unplaced(s), share = s->result.members / WAVE_SHARE;
    const uint32_t size = share > LEAT_ESP_WAVE_MAX ? share : LEAT_ESP_WAVE_MAX;
    const leat_time answers_at = now + 2 * s->request.settle_ps;
    if (!unplaced || s->map.is_full || answers_at > last_answer_at(s)) {
        finish(s, now, unplaced);
        return;
    }
    s->wave_at = answers_at;
    s->wave_list = s->wave_seen = 0;
    s->wave_member = has_rests(s) ? s->result.members : 0;
    s->wave_stride = unplaced > size ? (unplaced + size - 1) / size : 1;
}

void leat_esp_service_begin_queries(struct leat_esp_service *s, leat_time now)
{
    s->state = LEAT_ESP_SERVICE_QUERYING;
    s->cast_until = 0; /* the map that it relied on is gone */
    s->nonce = leat_random_next(&s->random);
    leat_esp_map_begin(&s->map, s->computing[0].computation, s->own.node.id);
    for (uint32_t i = 0; i < s->computings; i++)
        add_own(s, now, s->computing[i].computation);
    leat_esp_service_wave(s, now);
}

static void fill(struct leat_esp_service *s, uint32_t member, uint64_t target, uint32_t cursor,
                 struct leat_esp_post *post)
{
    /* A list was reported on the way to a member of its computation. */
    *post = (struct leat_esp_post){ .to = s->roster.entry[member].address,
                                    .opcode = LEAT_ESP_QUERY,
                                    .computation = computation_of(s, member) };
    post->query = (struct leat_esp_query){
        .target = target, .nonce = s->nonce + member, .store = LEAT_ESP_LOC_CENTRE, .cursor = cursor
    };
    s->result.announced++;
}

bool leat_esp_service_query(struct leat_esp_service *s, struct leat_esp_post *post)
{
    while (s->wave_list < s->map.lists) {
        const struct leat_esp_map_list *list = &s->map.list[s->wave_list++];
        if (!list->cursor) continue;
        fill(s, list->via, s->map.node[list->node].id, list->cursor, post);
        return true;
    }
    while (s->wave_member < s->result.members) {
        const uint32_t member = s->wave_member++;
        if (is_placed(s, member) || s->wave_seen++ % s->wave_stride) continue;
        fill(s, member, 0, 0, post);
        return true;
    }
    return false;
}

void leat_esp_service_reply(struct leat_esp_service *s, const struct leat_esp_next *from,
                            uint64_t computation, const struct leat_esp_reply *reply)
{
    const uint64_t member = reply->nonce - s->nonce;
    if (s->state != LEAT_ESP_SERVICE_QUERYING || member >= s->result.members ||
        computation != computation_of(s, (uint32_t)member) || reply->store != LEAT_ESP_LOC_CENTRE)
        return;
    const uint32_t node = leat_esp_map_node(&s->map, reply->node), before = s->map.lists;
    if (node == LEAT_ESP_MAP_NONE || node == 0) return;
    const uint32_t at = leat_esp_map_list(&s->map, computation, node);
    if (at == LEAT_ESP_MAP_NONE) return;
    struct leat_esp_map_list *list = &s->map.list[at];
    /* Pieces of a list arrive in order, except those that were requested again. */
    const bool is_next = !reply->next || reply->next > list->cursor;
    if (is_next && (at == before || list->cursor)) list->cursor = reply->next;
    list->via = (uint32_t)member;
    s->map.node[node].address = *from;
    add_links(s, computation, node, reply->binding, reply->count);
}
