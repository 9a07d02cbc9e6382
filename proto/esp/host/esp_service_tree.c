/*
 * The tree map: after RCHLD the root queries the nodes for their children, by queries that every
 * node on the route to a member answers. One member per node that has any would be enough, but
 * their locations are unknown. The root therefore queries some of the members whose route is
 * unknown in a wave and, when the answers are in, some of those still left.
 */
#include "esp_service_parts.h"

/* Waves grow with the group, so that there are never more than a few tens. */
enum { WAVE_SHARE = 16 };

static bool is_placed(const struct leat_esp_service *s, uint32_t member)
{
    return leat_esp_map_is_placed(&s->map, s->roster.entry[member].id);
}

static uint32_t count_unplaced(const struct leat_esp_service *s)
{
    uint32_t unplaced = 0;
    for (uint32_t i = 0; i < s->result.members; i++)
        unplaced += !is_placed(s, i);
    return unplaced;
}

static void add_links(struct leat_esp_service *s, uint32_t node,
                      const struct leat_esp_binding *binding, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (binding[i].tag < LEAT_ESP_TAG_CHILDREN || binding[i].tag >= LEAT_ESP_TAG_END)
            leat_esp_map_link(&s->map, node, binding[i].tag);
}

static void add_own(struct leat_esp_service *s, leat_time now)
{
    const uint64_t computation = s->computing[0].computation;
    const uint64_t mark = leat_esp_mark(&s->own.node, computation);
    struct leat_esp_binding binding[LEAT_ESP_BINDINGS_MAX];
    uint32_t cursor = 0;
    do {
        const uint32_t count = leat_esp_group_list(leat_esp_store_group(&s->own, mark), mark,
                                                   computation, now, &cursor, binding,
                                                   LEAT_ESP_BINDINGS_MAX);
        add_links(s, 0, binding, count);
    } while (cursor);
}

static void finish(struct leat_esp_service *s, leat_time now, uint32_t unplaced)
{
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

/* Does a node have more to report? It is queried before any member, which may be in the rest. */
static bool has_rests(const struct leat_esp_service *s)
{
    for (uint32_t i = 0; i < s->map.nodes; i++)
        if (s->map.node[i].cursor) return true;
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
    s->wave_node = s->wave_seen = 0;
    s->wave_member = has_rests(s) ? s->result.members : 0;
    s->wave_stride = unplaced > size ? (unplaced + size - 1) / size : 1;
}

void leat_esp_service_begin_queries(struct leat_esp_service *s, leat_time now)
{
    s->state = LEAT_ESP_SERVICE_QUERYING;
    s->cast_until = 0; /* the map that it relied on is gone */
    s->nonce = leat_random_next(&s->random);
    leat_esp_map_begin(&s->map, s->computing[0].computation, s->own.node.id);
    add_own(s, now);
    leat_esp_service_wave(s, now);
}

static void fill(struct leat_esp_service *s, uint32_t member, uint64_t target, uint32_t cursor,
                 struct leat_esp_post *post)
{
    *post = (struct leat_esp_post){ .to = s->roster.entry[member].address,
                                    .opcode = LEAT_ESP_QUERY,
                                    .computation = s->computing[0].computation };
    post->query = (struct leat_esp_query){
        .target = target, .nonce = s->nonce + member, .store = LEAT_ESP_LOC_CENTRE, .cursor = cursor
    };
    s->result.announced++;
}

bool leat_esp_service_query(struct leat_esp_service *s, struct leat_esp_post *post)
{
    while (s->wave_node < s->map.nodes) {
        const struct leat_esp_map_node *n = &s->map.node[s->wave_node++];
        if (!n->cursor) continue;
        fill(s, n->via, n->id, n->cursor, post);
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
    if (s->state != LEAT_ESP_SERVICE_QUERYING || computation != s->computing[0].computation ||
        member >= s->result.members || reply->store != LEAT_ESP_LOC_CENTRE)
        return;
    const uint32_t nodes_before = s->map.nodes, node = leat_esp_map_node(&s->map, reply->node);
    if (node == LEAT_ESP_MAP_NONE || node == 0) return;
    struct leat_esp_map_node *n = &s->map.node[node];
    /* Pieces of a list arrive in order, except those that were requested again. */
    const bool is_next = !reply->next || reply->next > n->cursor;
    if (is_next && (node == nodes_before || n->cursor)) n->cursor = reply->next;
    n->via = (uint32_t)member;
    n->address = *from;
    add_links(s, node, reply->binding, reply->count);
}
