/* Paths to and from the root, compared with distances by Bellman and Ford. */
#include "esp_paths.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { ROUTERS_MAX = 24, WIRES_MAX = 120, CAMPAIGN = LEAT_ROUNDS / 1000 + 20 };

static _Alignas(max_align_t) uint8_t memory[1 << 14];

struct graph {
    struct leat_sim_esp_graph graph;
    struct leat_sim_esp_wire wire[WIRES_MAX];
};

/* Every router has a wire to and from an earlier one, so that all are connected. */
static void draw(struct graph *g, struct leat_random *r)
{
    const uint32_t routers = 1 + (uint32_t)leat_random_below(r, ROUTERS_MAX);
    const uint32_t more = (uint32_t)leat_random_below(r, 40);
    uint32_t wires = 0;
    for (uint32_t i = 1; i < routers; i++) {
        const uint32_t a = (uint32_t)leat_random_below(r, i), b = (uint32_t)leat_random_below(r, i);
        g->wire[wires++] = (struct leat_sim_esp_wire){ i, a, 1 + leat_random_below(r, 4) };
        g->wire[wires++] = (struct leat_sim_esp_wire){ b, i, 1 + leat_random_below(r, 4) };
    }
    for (uint32_t i = 0; i < more && routers > 1; i++) {
        const uint32_t from = (uint32_t)leat_random_below(r, routers),
                       to = (uint32_t)leat_random_below(r, routers);
        g->wire[wires++] = (struct leat_sim_esp_wire){ from, to, 1 + leat_random_below(r, 4) };
    }
    g->graph = (struct leat_sim_esp_graph){ .routers = routers,
                                            .wires = wires,
                                            .wire = g->wire,
                                            .root = (uint32_t)leat_random_below(r, routers) };
}

/* Delays to the root or from it: relaxes while any wire shortens one. */
static void distances(const struct leat_sim_esp_graph *g, bool is_up, leat_time out[ROUTERS_MAX])
{
    for (uint32_t i = 0; i < g->routers; i++)
        out[i] = i == g->root ? 0 : 1000000;
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (uint32_t i = 0; i < g->wires; i++) {
            const struct leat_sim_esp_wire *w = &g->wire[i];
            const uint32_t near = is_up ? w->to : w->from, far = is_up ? w->from : w->to;
            if (out[near] + w->delay_ps >= out[far]) continue;
            out[far] = out[near] + w->delay_ps;
            shorter = true;
        }
    }
}

/* Of all wires that begin a shortest path, the first; or the first from `back`, if any is. */
static uint32_t first_wire(const struct leat_sim_esp_graph *g, bool is_up, const leat_time *ps,
                           uint32_t router, uint32_t back)
{
    for (uint32_t i = 0; back != LEAT_SIM_ESP_NONE && i < g->wires; i++) {
        const struct leat_sim_esp_wire *w = &g->wire[i];
        if (w->from == back && w->to == router && ps[back] + w->delay_ps == ps[router]) return i;
    }
    for (uint32_t i = 0; i < g->wires; i++) {
        const struct leat_sim_esp_wire *w = &g->wire[i];
        const uint32_t near = is_up ? w->to : w->from, far = is_up ? w->from : w->to;
        if (far == router && near != far && ps[near] + w->delay_ps == ps[far]) return i;
    }
    return LEAT_SIM_ESP_NONE;
}

static void check(const struct leat_sim_esp_graph *g, const struct leat_sim_esp_paths *p)
{
    leat_time up[ROUTERS_MAX], down[ROUTERS_MAX];
    distances(g, true, up);
    distances(g, false, down);
    for (uint32_t r = 0; r < g->routers; r++) {
        uint32_t hops = 0, at = r;
        EQ(p->up_ps[r], up[r]);
        EQ(p->down_ps[r], down[r]);
        if (r == g->root) {
            EQ(p->up[r], LEAT_SIM_ESP_NONE);
            EQ(p->down[r], LEAT_SIM_ESP_NONE);
        } else {
            const uint32_t next = g->wire[p->up[r]].to;
            EQ(p->up[r], first_wire(g, true, up, r, LEAT_SIM_ESP_NONE));
            EQ(p->down[r], first_wire(g, false, down, r, next));
        }
        for (; at != g->root; hops++)
            at = g->wire[p->up[at]].to;
        EQ(p->up_hops[r], hops);
        for (hops = 0, at = g->root; at != r; hops++)
            at = g->wire[leat_sim_esp_paths_down(p, g, at, r)].to;
        EQ(p->down_hops[r], hops);
        bool is_on_way[ROUTERS_MAX] = { false };
        for (at = r; at != g->root; at = g->wire[p->down[at]].from)
            is_on_way[at] = true;
        for (at = 0; at < g->routers; at++)
            if (at != r)
                EQ(leat_sim_esp_paths_down(p, g, at, r) != LEAT_SIM_ESP_NONE,
                   is_on_way[at] || at == g->root);
    }
}

static void ways_are_the_shortest_and_by_the_lowest_wire(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        struct graph g;
        struct leat_sim_esp_paths p;
        draw(&g, &r);
        struct leat_text why = LEAT_TEXT(128);
        OK(leat_sim_esp_paths_footprint(&g.graph) <= sizeof memory);
        EQ(leat_sim_esp_paths_find(&p, &g.graph, memory, &why), LEAT_ERR_OK);
        check(&g.graph, &p);
    }
}

static void what_is_no_network_is_refused_with_the_reason(void)
{
    const struct leat_sim_esp_wire good[] = { { 0, 1, 5 }, { 1, 0, 5 } };
    const struct leat_sim_esp_wire far[] = { { 0, 2, 5 }, { 1, 0, 5 } };
    const struct leat_sim_esp_wire none[] = { { 0, 1, 0 }, { 1, 0, 5 } };
    const struct leat_sim_esp_wire long_one[] = { { 0, 1, LEAT_SIM_ESP_DELAY_MAX + 1 } };
    const struct {
        struct leat_sim_esp_graph graph;
        const char *why;
    } row[] = {
        { { 0, 0, good, 0 }, "routers 0, expected 1 to " },
        { { LEAT_SIM_ESP_ROUTERS_MAX + 1, 0, good, 0 }, "routers 1048577" },
        { { 2, LEAT_SIM_ESP_WIRES_MAX + 1, good, 0 }, "wires " },
        { { 2, 2, good, 2 }, "the root's router 2, expected 0 to 1" },
        { { 2, 2, far, 0 }, "router 2, expected 0 to 1" },
        { { 2, 2, none, 0 }, "delay of a wire in ps 0, expected 1 to " },
        { { 2, 1, long_one, 0 }, "delay of a wire in ps " },
        { { 2, 1, good, 0 }, "no route from router 1 to router 0" },
        { { 2, 1, good + 1, 0 }, "no route to router 1 from router 0" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct leat_sim_esp_paths p;
        char text[128] = "";
        struct leat_text why;
        leat_text_init(&why, text, sizeof text - 1, NULL, NULL);
        EQ(leat_sim_esp_paths_find(&p, &row[i].graph, memory, &why), LEAT_ERR_RANGE);
        OK(strstr(text, row[i].why) == text);
    }
}

TAP_MAIN(T(ways_are_the_shortest_and_by_the_lowest_wire),
         T(what_is_no_network_is_refused_with_the_reason))
