#include "net_esp_tree.h"
#include "net_topology_parts.h"
#include <leat/time.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_net_esp_tree_lay(struct leat_net_esp_tree *tree, struct leat_arena *arena,
                           uint32_t routers, uint32_t ports)
{
    tree->parent = leat_arena_lay(arena, routers, sizeof *tree->parent);
    tree->children = leat_arena_lay(arena, routers, sizeof *tree->children);
    tree->first = leat_arena_lay(arena, routers, sizeof *tree->first);
    tree->next = leat_arena_lay(arena, routers, sizeof *tree->next);
    tree->first_host = leat_arena_lay(arena, routers, sizeof *tree->first_host);
    tree->next_host = leat_arena_lay(arena, ports, sizeof *tree->next_host);
}

void leat_net_esp_search_lay(struct leat_net_esp_search *search, struct leat_arena *arena,
                             uint32_t routers)
{
    search->distance = leat_arena_lay(arena, routers, sizeof *search->distance);
    search->queue = leat_arena_lay(arena, routers, sizeof *search->queue);
    search->up = leat_arena_lay(arena, routers, sizeof *search->up);
    search->down = leat_arena_lay(arena, routers, sizeof *search->down);
    search->above = leat_arena_lay(arena, routers, sizeof *search->above);
    search->height = leat_arena_lay(arena, routers, sizeof *search->height);
    search->sum = leat_arena_lay(arena, routers, sizeof *search->sum);
}

/* ---- distances ------------------------------------------------------------------------------- */

static uint32_t entry_of(const struct leat_net_topology *t, uint32_t port)
{
    return t->in_router[t->terminal_in[port]];
}

static uint32_t exit_of(const struct leat_net_topology *t, uint32_t port)
{
    return t->out_router[t->terminal_out[port]];
}

/* The fewest wires from all routers to this one. */
static void distances_to(const struct leat_net_topology *t, uint32_t to, uint32_t *distance,
                         uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t r = 0; r < t->routers; r++)
        distance[r] = LEAT_NET_NONE;
    distance[to] = 0;
    queue[tail++] = to;
    while (head < tail) {
        const uint32_t r = queue[head++];
        for (uint32_t i = t->in_first[r]; i < t->in_first[r + 1]; i++) {
            if (t->in_from[i] & LEAT_NET_TERMINAL) continue; /* or absent */
            const uint32_t before = t->out_router[t->in_from[i]];
            if (distance[before] != LEAT_NET_NONE) continue;
            distance[before] = distance[r] + 1;
            queue[tail++] = before;
        }
    }
}

/* Adds the routes of one member, or of several at the same router. */
static void take_into_account(const struct leat_net_topology *t, uint32_t *most, uint64_t *sum,
                              const uint32_t *distance, uint32_t members)
{
    for (uint32_t r = 0; r < t->routers; r++) {
        most[r] = most[r] > distance[r] ? most[r] : distance[r]; /* unreachable: NONE */
        sum[r] += (uint64_t)distance[r] * members;
    }
}

/* Ports of a router come one after the other, so that each router is searched from once. */
static void measure(const struct leat_net_topology *t, const uint32_t *port, uint32_t count,
                    const struct leat_net_esp_search *s)
{
    memset(s->up, 0, t->routers * sizeof *s->up);
    memset(s->down, 0, t->routers * sizeof *s->down);
    memset(s->sum, 0, t->routers * sizeof *s->sum);
    for (uint32_t i = 0, next; i < count; i = next) {
        const uint32_t from = entry_of(t, port[i]), to = exit_of(t, port[i]);
        for (next = i + 1;
             next < count && entry_of(t, port[next]) == from && exit_of(t, port[next]) == to;)
            next++;
        leat_net_topology_distances(t, from, s->distance, s->queue);
        take_into_account(t, s->up, s->sum, s->distance, next - i);
        distances_to(t, to, s->distance, s->queue);
        take_into_account(t, s->down, s->sum, s->distance, next - i);
    }
}

static uint32_t find_root(const struct leat_net_topology *t, const struct leat_net_esp_search *s)
{
    uint32_t best = LEAT_NET_NONE;
    uint64_t best_longest = 0;
    for (uint32_t r = 0; r < t->routers; r++) {
        const uint64_t longest = (uint64_t)s->up[r] + s->down[r];
        if (s->up[r] == LEAT_NET_NONE || s->down[r] == LEAT_NET_NONE) continue;
        if (best != LEAT_NET_NONE &&
            (longest > best_longest || (longest == best_longest && s->sum[r] >= s->sum[best])))
            continue;
        best = r;
        best_longest = longest;
    }
    return best;
}

/* ---- up -------------------------------------------------------------------------------------- */

/* The router behind the lowest port that leads closer. */
static uint32_t next_up(const struct leat_net_topology *t, const uint32_t *distance, uint32_t r)
{
    for (uint32_t o = t->out_first[r]; o < t->out_first[r + 1]; o++) {
        const uint32_t next = leat_net_behind(t, o);
        if (next != LEAT_NET_NONE && distance[next] + 1 == distance[r]) return next;
    }
    return LEAT_NET_NONE;
}

static void grow_up(struct leat_net_esp_tree *tree, const struct leat_net_topology *t,
                    const uint32_t *port, uint32_t count, const struct leat_net_esp_search *s)
{
    distances_to(t, tree->root, s->distance, s->queue);
    memset(tree->children, 0, t->routers * sizeof *tree->children);
    tree->parent[tree->root] = tree->root;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = entry_of(t, port[i]);
        while (!tree->children[r]++ && r != tree->root) {
            tree->parent[r] = next_up(t, s->distance, r);
            r = tree->parent[r];
        }
    }
}

/* ---- down ------------------------------------------------------------------------------------ */

/* The router before the lowest port by which it is reached from closer to the root. */
static uint32_t next_above(const struct leat_net_topology *t, const uint32_t *distance, uint32_t r)
{
    for (uint32_t i = t->in_first[r]; i < t->in_first[r + 1]; i++) {
        if (t->in_from[i] & LEAT_NET_TERMINAL) continue; /* or absent */
        const uint32_t before = t->out_router[t->in_from[i]];
        if (distance[before] + 1 == distance[r]) return before;
    }
    return LEAT_NET_NONE;
}

/* Can the tree that leads up be used downwards? */
static bool is_two_way(const struct leat_net_esp_tree *tree, const struct leat_net_topology *t,
                       const uint32_t *port, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (entry_of(t, port[i]) != exit_of(t, port[i])) return false;
    for (uint32_t r = 0; r < t->routers; r++)
        if (tree->children[r] && r != tree->root && !leat_net_leads(t, tree->parent[r], r))
            return false;
    return true;
}

/* Sets `above` and `height` of all routers below the root that members are reached by. Height is
 * the number of wires to the farthest of them, + 1; 0: not in the tree. */
static void grow_down(const struct leat_net_esp_tree *tree, const struct leat_net_topology *t,
                      const uint32_t *port, uint32_t count, const struct leat_net_esp_search *s)
{
    leat_net_topology_distances(t, tree->root, s->distance, s->queue);
    memset(s->height, 0, t->routers * sizeof *s->height);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = exit_of(t, port[i]), height = 1;
        for (; s->height[r] < height; height++) {
            s->height[r] = height;
            if (r == tree->root) break;
            s->above[r] = tree->is_two_way ? tree->parent[r] : next_above(t, s->distance, r);
            r = s->above[r];
        }
    }
}

/* Copies for the farthest members leave first. Routers come in falling order. */
static void add_child(struct leat_net_esp_tree *tree, const uint32_t *height, uint32_t parent,
                      uint32_t r)
{
    uint32_t *link = &tree->first[parent];
    while (*link && height[*link - 1] > height[r])
        link = &tree->next[*link - 1];
    tree->next[r] = *link;
    *link = r + 1;
}

static void list_copies(struct leat_net_esp_tree *tree, const struct leat_net_topology *t,
                        const uint32_t *port, uint32_t count, const struct leat_net_esp_search *s)
{
    memset(tree->first, 0, t->routers * sizeof *tree->first);
    memset(tree->first_host, 0, t->routers * sizeof *tree->first_host);
    for (uint32_t r = t->routers; r--;)
        if (s->height[r] && r != tree->root) add_child(tree, s->height, s->above[r], r);
    for (uint32_t i = count; i--;) {
        const uint32_t r = exit_of(t, port[i]);
        tree->next_host[port[i]] = tree->first_host[r];
        tree->first_host[r] = port[i] + 1;
    }
}

static uint32_t count_copies(const struct leat_net_esp_tree *tree, uint32_t r)
{
    uint32_t copies = 0;
    for (uint32_t c = tree->first[r]; c; c = tree->next[c - 1])
        copies++;
    for (uint32_t h = tree->first_host[r]; h; h = tree->next_host[h - 1])
        copies++;
    return copies;
}

/* A cast on its way up is also copied to the parent, but not to where it came from. */
static void find_widest(struct leat_net_esp_tree *tree, uint32_t routers)
{
    tree->children_max = tree->copies_max = 0;
    for (uint32_t r = 0; r < routers; r++) {
        const uint32_t copies = count_copies(tree, r);
        if (copies > tree->copies_max) tree->copies_max = copies;
        if (tree->children[r] > tree->children_max) tree->children_max = tree->children[r];
    }
}

bool leat_net_esp_tree_find(struct leat_net_esp_tree *tree, const struct leat_net_topology *t,
                            const uint32_t *port, uint32_t count,
                            const struct leat_net_esp_search *s)
{
    measure(t, port, count, s);
    tree->root = find_root(t, s);
    if (tree->root == LEAT_NET_NONE) return false;
    grow_up(tree, t, port, count, s);
    tree->is_two_way = is_two_way(tree, t, port, count);
    grow_down(tree, t, port, count, s);
    list_copies(tree, t, port, count, s);
    find_widest(tree, t->routers);
    return true;
}
