#include "net_crowd_test.h"
#include "net_routing_parts.h"
#include "net_rows.h"

enum { NETWORKS = 100 + LEAT_ROUNDS / 2000, SALTS = 20, TABLES = 3 };

static struct leat_net_rows rows;

static const struct leat_net_choice *choice_of(uint32_t table, uint32_t router, uint32_t goal,
                                               uint32_t phase, uint32_t salt)
{
    const size_t at = ((size_t)table * rows.routers + router) * rows.routers + goal;
    return &rows.choice[leat_net_branch_take(&rows.branch[rows.row[at]], router, phase, salt)];
}

/* From this router, in this phase: as the rule says, unless the wire is broken. */
static void ask_both(const struct world *w, const uint8_t *broken, uint32_t table, uint32_t router,
                     uint32_t terminal, uint32_t phase, uint32_t salt)
{
    const uint32_t goal = w->routing->target[terminal].router;
    struct leat_net_route route = { .destination = terminal,
                                    .via = LEAT_NET_NONE,
                                    .place = w->routing->target[terminal].place,
                                    .salt = salt,
                                    .phase = (uint8_t)phase };
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    const uint32_t options = leat_net_route_options(w->routing, router, &route, option);
    const bool way = options && !broken[w->topology.out_first[router] + option[0].port];
    const struct leat_net_choice *choice = choice_of(table, router, goal, phase, salt);
    EQ(way, rows.set[choice->set] != 0);
    if (!way) return;
    EQ(choice->port, option[0].port);
    EQ(rows.set[choice->set], option[0].channels);
    EQ(choice->phase, option[0].phase);
}

/* Along the whole route, with the phases that it has there; or up to where there is no way. */
static void follow_both(const struct world *w, const uint8_t *broken, uint32_t table, uint32_t from,
                        uint32_t to, uint32_t salt)
{
    const struct leat_net_topology *t = &w->topology;
    const uint32_t goal = w->routing->target[to].router;
    uint32_t router = t->in_router[t->terminal_in[from]], phase = 0;
    for (uint32_t hops = 0; router != goal; hops++) {
        OK(hops <= t->routers);
        ask_both(w, broken, table, router, to, phase, salt);
        const struct leat_net_choice *choice = choice_of(table, router, goal, phase, salt);
        if (!rows.set[choice->set]) return;
        phase = choice->phase;
        router = t->in_router[t->out_to[t->out_first[router] + choice->port]];
    }
}

/* A wire between routers, if chance finds one. */
static void break_some(struct world *w, struct leat_random *random, uint8_t *broken)
{
    const uint32_t out = (uint32_t)leat_random_below(random, w->topology.outs);
    if (leat_net_behind(&w->topology, out) == LEAT_NET_NONE) return;
    broken[out] = 1;
    leat_net_routing_wire(w->routing, out, true);
    leat_net_routing_update(w->routing);
}

static void compare(struct world *w, struct leat_random *random)
{
    uint8_t *broken = world_memory(w->topology.outs);
    void *memory = world_memory(leat_net_rows_footprint(w->routing, TABLES));
    leat_net_rows_init(&rows, w->routing, TABLES, memory);
    EQ(rows.set[0], w->routing->channels.all);
    for (uint32_t table = 0; table < TABLES; table++) {
        OK(leat_net_rows_add(&rows, w->routing, table ? broken : NULL));
        for (int k = 0; k < SALTS; k++) {
            const uint32_t from = (uint32_t)leat_random_below(random, w->topology.terminals);
            const uint32_t to = (uint32_t)leat_random_below(random, w->topology.terminals);
            const uint32_t salt = (uint32_t)leat_random_next(random);
            follow_both(w, broken, table, from, to, salt);
        }
        break_some(w, random, broken);
    }
    free(memory);
    free(broken);
}

static void rows_say_what_the_rule_says_whatever_wires_are_broken(void)
{
    struct leat_random random;
    uint32_t compared = 0;
    leat_random_seed(&random, tap_seed());
    for (int i = 0; i < NETWORKS; i++) {
        const struct leat_net_shape shape = random_shape(&random);
        const enum leat_net_route_rule rule = (enum leat_net_route_rule)leat_random_below(
            &random, LEAT_NET_RULES);
        const uint32_t channels = one_to(&random, 5);
        struct leat_text why = LEAT_TEXT(256);
        struct world w;
        if (!world_build(&w, &shape, rule, channels)) continue;
        const bool fits = !leat_net_rows_check(w.routing, &why);
        EQ(fits, rule != LEAT_NET_ADAPTIVE && rule != LEAT_NET_VALIANT);
        if (fits) compare(&w, &random);
        compared += fits;
        world_end(&w);
    }
    printf("# %u networks\n", compared);
    OK(compared > 0);
}

/* A mesh has few different branches, however large it is. */
static void equal_branches_are_kept_once(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 12, 12);
    struct world w;
    if (!world_build(&w, &shape, LEAT_NET_DOR, 4)) abort();
    void *memory = world_memory(leat_net_rows_footprint(w.routing, 1));
    leat_net_rows_init(&rows, w.routing, 1, memory);
    OK(leat_net_rows_add(&rows, w.routing, NULL));
    EQ(rows.branches, 4);
    EQ(rows.sets, 1);
    free(memory);
    world_end(&w);
}

TAP_MAIN(T(rows_say_what_the_rule_says_whatever_wires_are_broken), T(equal_branches_are_kept_once))
