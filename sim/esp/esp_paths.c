/* Shortest paths to and from one router: Dijkstra's algorithm, once in each direction. */
#include "esp_paths.h"
#include "leat_arena.h"
#include "leat_heap.h"
#include "sim_refuse.h"

static void lay_out(struct leat_sim_esp_paths *p, const struct leat_sim_esp_graph *g,
                    struct leat_arena *arena)
{
    const size_t n = g->routers;
    p->up = leat_arena_lay(arena, n, sizeof *p->up);
    p->down = leat_arena_lay(arena, n, sizeof *p->down);
    p->up_ps = leat_arena_lay(arena, n, sizeof *p->up_ps);
    p->down_ps = leat_arena_lay(arena, n, sizeof *p->down_ps);
    p->up_hops = leat_arena_lay(arena, n, sizeof *p->up_hops);
    p->down_hops = leat_arena_lay(arena, n, sizeof *p->down_hops);
    p->first = leat_arena_lay(arena, n + 1, sizeof *p->first);
    p->list = leat_arena_lay(arena, g->wires, sizeof *p->list);
    p->heap = leat_arena_lay(arena, n, sizeof *p->heap);
    p->place = leat_arena_lay(arena, n, sizeof *p->place);
}

size_t leat_sim_esp_paths_footprint(const struct leat_sim_esp_graph *g)
{
    struct leat_sim_esp_paths measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, g, &arena);
    return arena.used;
}

static leat_err check(const struct leat_sim_esp_graph *g, struct leat_text *why)
{
    const struct leat_text_range row[] = {
        { "routers", g->routers, 1, LEAT_SIM_ESP_ROUTERS_MAX },
        { "wires", g->wires, 0, LEAT_SIM_ESP_WIRES_MAX },
        { "the root's router", g->root, 0, g->routers - UINT64_C(1) },
    };
    leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    for (uint32_t i = 0; !err && i < g->wires; i++) {
        const struct leat_sim_esp_wire *w = &g->wire[i];
        const struct leat_text_range of_wire[] = {
            { "router", w->from, 0, g->routers - 1 },
            { "router", w->to, 0, g->routers - 1 },
            { "delay of a wire in ps", w->delay_ps, 1, LEAT_SIM_ESP_DELAY_MAX },
        };
        err = leat_text_check_ranges(why, of_wire, sizeof of_wire / sizeof *of_wire);
    }
    return err;
}

/* One of the two directions: towards the root, wires are followed from their ends. */
struct search {
    const struct leat_sim_esp_graph *graph;
    uint32_t *first, *list; /* the wires of each router, on the root's side of them */
    uint32_t *heap, *place, count;
    uint32_t *by, *hops;
    leat_time *ps;
    const uint32_t *back; /* down: the wires by which routers send up; else NULL */
    bool is_up;
};

static uint32_t near_end(const struct search *s, uint32_t wire)
{
    return s->is_up ? s->graph->wire[wire].to : s->graph->wire[wire].from;
}

static uint32_t far_end(const struct search *s, uint32_t wire)
{
    return s->is_up ? s->graph->wire[wire].from : s->graph->wire[wire].to;
}

static void list_wires(struct search *s)
{
    const struct leat_sim_esp_graph *g = s->graph;
    for (uint32_t r = 0; r <= g->routers; r++)
        s->first[r] = 0;
    for (uint32_t i = 0; i < g->wires; i++)
        s->first[near_end(s, i)]++;
    uint32_t sum = 0;
    for (uint32_t r = 0; r <= g->routers; r++) {
        sum += s->first[r];
        s->first[r] = sum;
    }
    for (uint32_t i = g->wires; i--;) /* backwards: each first[] ends where its wires begin */
        s->list[--s->first[near_end(s, i)]] = i;
}

static bool is_nearer(const void *context, const void *a, const void *b)
{
    const struct search *s = context;
    return s->ps[*(const uint32_t *)a] < s->ps[*(const uint32_t *)b];
}

static void keep_place(void *context, const void *router, uint32_t place)
{
    ((struct search *)context)->place[*(const uint32_t *)router] = place;
}

static struct leat_heap heap_of(struct search *s)
{
    return (struct leat_heap){ s->heap, sizeof *s->heap, is_nearer, keep_place, s };
}

/* Is this wire preferred to the other, if both paths are equally long? */
static bool is_preferred(const struct search *s, uint32_t wire, uint32_t other, uint32_t router)
{
    const struct leat_sim_esp_wire *w = s->graph->wire;
    const bool leads_back = s->back && w[s->back[router]].to == w[wire].from;
    const bool other_does = s->back && w[s->back[router]].to == w[other].from;
    return leads_back != other_does ? leads_back : wire < other;
}

/* Takes the path over `wire`, if it is better. */
static void relax(struct search *s, uint32_t near, uint32_t wire)
{
    const uint32_t far = far_end(s, wire);
    const leat_time ps = s->ps[near] + s->graph->wire[wire].delay_ps;
    const bool is_new = s->ps[far] == LEAT_NEVER;
    if (ps > s->ps[far] || (ps == s->ps[far] && !is_preferred(s, wire, s->by[far], far))) return;
    s->by[far] = wire;
    s->hops[far] = s->hops[near] + 1;
    s->ps[far] = ps;
    const struct leat_heap heap = heap_of(s);
    leat_heap_up(&heap, is_new ? s->count++ : s->place[far], &far);
}

/* How many routers it reached. */
static uint32_t find(struct search *s)
{
    const uint32_t root = s->graph->root;
    uint32_t reached = 0;
    list_wires(s);
    for (uint32_t r = 0; r < s->graph->routers; r++) {
        s->by[r] = LEAT_SIM_ESP_NONE;
        s->hops[r] = 0;
        s->ps[r] = LEAT_NEVER;
    }
    s->ps[root] = 0;
    s->count = 0;
    const struct leat_heap heap = heap_of(s);
    leat_heap_push(&heap, &s->count, &root);
    for (; s->count; reached++) {
        uint32_t near;
        leat_heap_take(&heap, &s->count, &near);
        for (uint32_t i = s->first[near]; i < s->first[near + 1]; i++)
            relax(s, near, s->list[i]);
    }
    return reached;
}

/* The error names the first router without a path. */
static leat_err refuse_apart(struct leat_text *why, const struct search *s)
{
    uint32_t r = 0;
    while (s->ps[r] != LEAT_NEVER)
        r++;
    return leat_sim_refuse(
        why, LEAT_ERR_RANGE,
        s->is_up ? "no route from router %u to router %u, expected one: the root is there"
                 : "no route to router %u from router %u, expected one: the root is there",
        r, s->graph->root);
}

leat_err leat_sim_esp_paths_find(struct leat_sim_esp_paths *p, const struct leat_sim_esp_graph *g,
                                 void *memory, struct leat_text *why)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    const leat_err err = check(g, why);
    if (err) return err;
    lay_out(p, g, &arena);
    struct search up = { .graph = g,
                         .first = p->first,
                         .list = p->list,
                         .heap = p->heap,
                         .place = p->place,
                         .by = p->up,
                         .hops = p->up_hops,
                         .ps = p->up_ps,
                         .is_up = true };
    if (find(&up) != g->routers) return refuse_apart(why, &up);
    struct search down = up;
    down.by = p->down;
    down.hops = p->down_hops;
    down.ps = p->down_ps;
    down.back = p->up;
    down.is_up = false;
    if (find(&down) != g->routers) return refuse_apart(why, &down);
    return LEAT_ERR_OK;
}

uint32_t leat_sim_esp_paths_down(const struct leat_sim_esp_paths *p,
                                 const struct leat_sim_esp_graph *g, uint32_t at, uint32_t to)
{
    uint32_t wire = p->down[to];
    while (wire != LEAT_SIM_ESP_NONE && g->wire[wire].from != at)
        wire = p->down[g->wire[wire].from];
    return wire;
}
