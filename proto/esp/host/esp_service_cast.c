/*
 * Multicast: duplicates at the branch points of a mapped tree, and announcements through them.
 * Every wave has a serial of its own, so that a node whose answer was lost accepts the next one.
 */
#include "esp_service_parts.h"

/* Points of a node, as numbers of the map. */
static uint32_t points_of(const struct leat_esp_service *s, uint32_t node)
{
    return s->map.point_first[node + 1] - s->map.point_first[node];
}

static const struct leat_esp_next *address_of(const struct leat_esp_service *s, uint32_t point)
{
    return point < s->map.nodes ? &s->map.node[point].address
                                : &s->roster.entry[point - s->map.nodes].address;
}

/* Does the node need an entry? Counts are for every node on a route. */
static bool is_installed(const struct leat_esp_service *s, uint32_t node)
{
    return s->request.collects || points_of(s, node);
}

static void say_children(const struct leat_esp_service *s, uint32_t node,
                         struct leat_esp_install *in)
{
    const uint32_t parent = leat_esp_map_parent(&s->map, s->map.node[node].id);
    in->children = (uint16_t)s->map.node[node].children;
    in->parent = leat_esp_children_tag(s->config.group, s->map.node[parent].id);
}

static void say_points(const struct leat_esp_service *s, uint32_t node, struct leat_esp_install *in)
{
    in->count = (uint8_t)points_of(s, node);
    for (uint32_t i = 0; i < in->count; i++)
        in->next[i] = *address_of(s, s->map.point[s->map.point_first[node] + i]);
}

static uint32_t count_missing(const struct leat_esp_service *s)
{
    uint32_t missing = 0;
    for (uint32_t n = 1; n < s->map.nodes; n++)
        missing += is_installed(s, n) && !s->map.node[n].is_done;
    return missing;
}

void leat_esp_service_install_wave(struct leat_esp_service *s, leat_time now)
{
    const uint32_t missing = count_missing(s);
    if (!missing || s->waves == s->request.attempts) {
        s->wave_node = s->map.nodes; /* nothing is to be sent */
        s->result.uninstalled = missing;
        s->result.answer -= missing;
        s->cast_members = s->result.members;
        s->cast_moves = s->roster.moves;
        leat_esp_service_end(s, now, missing ? LEAT_ESP_LATE : LEAT_ESP_ANSWERED);
        if (missing) s->cast_until = 0;
        return;
    }
    s->waves++;
    s->serial++;
    s->wave_node = 1;
    s->wave_at = now + 2 * s->request.settle_ps;
}

void leat_esp_service_begin_install(struct leat_esp_service *s, leat_time now)
{
    leat_esp_map_points(&s->map, &s->roster, s->result.members);
    s->state = LEAT_ESP_SERVICE_INSTALLING;
    s->waves = 0;
    s->result.answer = 0;
    for (uint32_t n = 1; n < s->map.nodes; n++) {
        s->map.node[n].is_done = false;
        s->result.answer += is_installed(s, n);
    }
    /* The first one expires first; nothing has a shorter lifetime. */
    s->cast_until = leat_time_add(now, s->request.lifetime_ms * UINT64_C(1000000000));
    if (s->request.collects) s->cast_until = 0;
    leat_esp_service_install_wave(s, now);
}

void leat_esp_service_renew(struct leat_esp_service *s, leat_time now, uint32_t lifetime_ms)
{
    s->request.lifetime_ms = lifetime_ms;
    s->result.end = LEAT_ESP_RUNNING;
    leat_esp_service_begin_install(s, now);
}

bool leat_esp_service_install(struct leat_esp_service *s, struct leat_esp_post *post)
{
    while (s->wave_node < s->map.nodes) {
        const uint32_t node = s->wave_node++;
        const struct leat_esp_map_node *n = &s->map.node[node];
        if (!is_installed(s, node) || n->is_done) continue;
        *post = (struct leat_esp_post){ .to = n->address, .opcode = LEAT_ESP_INSTALL };
        post->install = (struct leat_esp_install){ .group = s->config.group,
                                                   .target = n->id,
                                                   .serial = s->serial,
                                                   .lifetime_ms = s->request.lifetime_ms };
        if (s->request.collects)
            say_children(s, node, &post->install);
        else
            say_points(s, node, &post->install);
        s->result.announced++;
        return true;
    }
    return false;
}

void leat_esp_service_installed(struct leat_esp_service *s,
                                const struct leat_esp_installed *installed)
{
    const enum leat_esp_result done = s->request.lifetime_ms ? LEAT_ESP_RESULT_INSTALLED
                                                             : LEAT_ESP_RESULT_REMOVED;
    if (s->state != LEAT_ESP_SERVICE_INSTALLING || installed->group != s->config.group ||
        installed->serial != s->serial || installed->result != done)
        return;
    const uint32_t node = leat_esp_map_find(&s->map, installed->node);
    if (node != LEAT_ESP_MAP_NONE) s->map.node[node].is_done = true;
}

bool leat_esp_service_can_cast(const struct leat_esp_service *s, leat_time until)
{
    return until < s->cast_until && s->cast_moves == s->roster.moves;
}

uint32_t leat_esp_service_targets(const struct leat_esp_service *s)
{
    if (!s->is_cast) return s->result.members;
    return points_of(s, 0) + s->result.members - s->cast_members;
}

void leat_esp_service_target(const struct leat_esp_service *s, uint32_t n,
                             struct leat_esp_post *post)
{
    const uint32_t heads = s->is_cast ? points_of(s, 0) : 0;
    const uint32_t point = n < heads ? s->map.point[s->map.point_first[0] + n] : 0;
    const uint32_t member = n - heads + (s->is_cast ? s->cast_members : 0);
    post->opcode = LEAT_ESP_ANNOUNCE;
    if (n < heads) {
        post->to = *address_of(s, point);
        post->announce.member = 0; /* whichever member receives it */
        if (point >= s->map.nodes) return;
        post->opcode = LEAT_ESP_CAST;
        post->hops = LEAT_ESP_CAST_HOPS;
    } else {
        post->to = s->roster.entry[member].address;
        post->announce.member = s->roster.entry[member].id;
    }
}
