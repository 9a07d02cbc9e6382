#include "esp_map.h"
#include "esp_store.h"
#include "leat_arena.h"
#include <assert.h>
#include <string.h>

static void lay_out(struct leat_esp_map *m, struct leat_arena *arena)
{
    m->node = leat_arena_lay(arena, m->nodes_max, sizeof *m->node);
    m->index = leat_arena_lay(arena, leat_esp_places(m->nodes_max), sizeof *m->index);
    m->list = leat_arena_lay(arena, m->lists_max, sizeof *m->list);
    m->link = leat_arena_lay(arena, leat_esp_places(m->links_max), sizeof *m->link);
    const size_t points = (size_t)m->nodes_max + m->members_max;
    m->upper = leat_arena_lay(arena, points, sizeof *m->upper);
    m->point = leat_arena_lay(arena, points, sizeof *m->point);
    m->point_first = leat_arena_lay(arena, (size_t)m->nodes_max + 2, sizeof *m->point_first);
}

/* A child of another computation than the map's also has a link in the map's, and so has each list
 * whose node nobody has reported as a child. */
static struct leat_esp_map sizes_of(uint32_t nodes_max, uint32_t members_max, uint32_t lists_max)
{
    return (struct leat_esp_map){ .nodes_max = nodes_max,
                                  .members_max = members_max,
                                  .lists_max = lists_max,
                                  .links_max = 2 * (nodes_max + members_max) + lists_max };
}

size_t leat_esp_map_footprint(uint32_t nodes_max, uint32_t members_max, uint32_t lists_max)
{
    struct leat_esp_map measured = sizes_of(nodes_max, members_max, lists_max);
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    return arena.used;
}

void leat_esp_map_init(struct leat_esp_map *m, uint32_t nodes_max, uint32_t members_max,
                       uint32_t lists_max, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    assert(nodes_max <= LEAT_ESP_MAP_NODES_MAX && members_max <= LEAT_ESP_ROSTER_MAX &&
           lists_max <= LEAT_ESP_MAP_LISTS_MAX);
    *m = sizes_of(nodes_max, members_max, lists_max);
    m->index_mask = leat_esp_places(nodes_max) - 1;
    m->link_mask = leat_esp_places(m->links_max) - 1;
    lay_out(m, &arena);
}

void leat_esp_map_begin(struct leat_esp_map *m, uint64_t computation, uint64_t root_id)
{
    memset(m->index, 0, ((size_t)m->index_mask + 1) * sizeof *m->index);
    memset(m->link, 0, ((size_t)m->link_mask + 1) * sizeof *m->link);
    m->computation = computation;
    m->nodes = m->links = m->lists = 0;
    m->is_full = false;
    leat_esp_map_node(m, root_id);
}

/* The position of the id in the index, or where it would be inserted. */
static uint32_t *index_of(const struct leat_esp_map *m, uint64_t id)
{
    uint32_t at = (uint32_t)leat_esp_spread(id) & m->index_mask;
    while (m->index[at] && m->node[m->index[at] - 1].id != id)
        at = (at + 1) & m->index_mask;
    return &m->index[at];
}

uint32_t leat_esp_map_find(const struct leat_esp_map *m, uint64_t id)
{
    return *index_of(m, id) - 1; /* NONE where it is 0 */
}

uint32_t leat_esp_map_node(struct leat_esp_map *m, uint64_t id)
{
    uint32_t *place = index_of(m, id);
    if (*place) return *place - 1;
    if (m->nodes == m->nodes_max) {
        m->is_full = true;
        return LEAT_ESP_MAP_NONE;
    }
    m->node[m->nodes] = (struct leat_esp_map_node){ .id = id };
    *place = ++m->nodes;
    return m->nodes - 1;
}

static bool is_used(const struct leat_esp_map_link *link)
{
    return link->at || link->list;
}

/* Where the link is, or where it would go. */
static struct leat_esp_map_link *link_of(const struct leat_esp_map *m, uint64_t packet_id)
{
    uint32_t at = (uint32_t)leat_esp_spread(packet_id) & m->link_mask;
    while (is_used(&m->link[at]) && m->link[at].packet_id != packet_id)
        at = (at + 1) & m->link_mask;
    return &m->link[at];
}

static struct leat_esp_map_link *link_in(const struct leat_esp_map *m, uint64_t computation,
                                         uint64_t id)
{
    return link_of(m, leat_esp_mix64(id, computation));
}

/* Takes the place of a new link. False: there is no room. */
static bool take(struct leat_esp_map *m, struct leat_esp_map_link *link, uint64_t packet_id)
{
    if (is_used(link)) return true;
    if (m->links == m->links_max) {
        m->is_full = true;
        return false;
    }
    link->packet_id = packet_id;
    m->links++;
    return true;
}

bool leat_esp_map_link(struct leat_esp_map *m, uint64_t computation, uint32_t node,
                       uint64_t packet_id)
{
    struct leat_esp_map_link *link = link_of(m, packet_id);
    if (link->at) return true;
    if (!take(m, link, packet_id)) return false;
    link->at = node + 1;
    m->node[node].children += computation == m->computation;
    return true;
}

uint32_t leat_esp_map_list(struct leat_esp_map *m, uint64_t computation, uint32_t node)
{
    struct leat_esp_map_link *link = link_in(m, computation, m->node[node].id);
    if (link->list) return link->list - 1;
    if (m->lists == m->lists_max) m->is_full = true;
    if (m->lists == m->lists_max || !take(m, link, leat_esp_mix64(m->node[node].id, computation)))
        return LEAT_ESP_MAP_NONE;
    m->list[m->lists] = (struct leat_esp_map_list){ .computation = computation,
                                                    .node = node,
                                                    .via = LEAT_ESP_MAP_NONE };
    link->list = ++m->lists;
    return m->lists - 1;
}

void leat_esp_map_adopt(struct leat_esp_map *m, uint64_t computation, uint64_t id)
{
    const uint32_t at = link_in(m, computation, id)->at;
    if (at) leat_esp_map_link(m, m->computation, at - 1, leat_esp_mix64(id, m->computation));
}

uint32_t leat_esp_map_parent(const struct leat_esp_map *m, uint64_t id)
{
    const uint32_t at = link_in(m, m->computation, id)->at;
    return at ? at - 1 : LEAT_ESP_MAP_NONE;
}

bool leat_esp_map_is_placed(const struct leat_esp_map *m, uint64_t computation, uint64_t id)
{
    const struct leat_esp_map_link *link = link_in(m, computation, id);
    for (uint32_t steps = 0; steps <= m->nodes; steps++) { /* reports may form a cycle */
        if (!link->at) return false;
        if (link->at - 1 == 0) return true;
        link = link_in(m, computation, m->node[link->at - 1].id);
        if (link->list && m->list[link->list - 1].cursor) return false;
    }
    return false;
}

/* ---- next points ----------------------------------------------------------------------------- */

static bool is_branch(const struct leat_esp_map *m, uint32_t node)
{
    return m->node[node].children >= 2;
}

/* The nearest branch point above this id that has room; the root's own store has room for all. */
static uint32_t upper_of(const struct leat_esp_map *m, uint64_t id, const uint32_t *count)
{
    if (!leat_esp_map_is_placed(m, m->computation, id)) return 0;
    uint32_t at = leat_esp_map_parent(m, id);
    while (at && !is_branch(m, at))
        at = leat_esp_map_parent(m, m->node[at].id);
    return count[at] < LEAT_ESP_COPIES_MAX ? at : 0;
}

void leat_esp_map_points(struct leat_esp_map *m, const struct leat_esp_roster *roster,
                         uint32_t members)
{
    const uint32_t points = m->nodes + members;
    uint32_t *first = m->point_first, *count = first + 2; /* the count of node n is at n + 2 */
    assert(members <= m->members_max);
    memset(first, 0, ((size_t)m->nodes + 2) * sizeof *first);
    for (uint32_t i = 1; i < points; i++) {
        const bool is_node = i < m->nodes;
        m->upper[i] = LEAT_ESP_MAP_NONE;
        if (is_node && !is_branch(m, i)) continue;
        m->upper[i] = upper_of(m, is_node ? m->node[i].id : roster->entry[i - m->nodes].id, count);
        count[m->upper[i]]++;
    }
    for (uint32_t n = 1; n < m->nodes + 2; n++)
        first[n] += first[n - 1];
    for (uint32_t i = 1; i < points; i++) /* first[n + 1] runs from the first of n to its last */
        if (m->upper[i] != LEAT_ESP_MAP_NONE) m->point[first[m->upper[i] + 1]++] = i;
}

uint32_t leat_esp_map_branches(const struct leat_esp_map *m)
{
    uint32_t branches = 0;
    for (uint32_t i = 0; i < m->nodes; i++)
        branches += m->node[i].children >= 2;
    return branches;
}
