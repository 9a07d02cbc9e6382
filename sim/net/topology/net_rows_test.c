#include "net_crowd_test.h"
#include "net_routing_parts.h"
#include "net_rows.h"

enum { NETWORKS = 100 + LEAT_ROUNDS / 2000, SALTS = 20 };

static struct leat_net_rows rows;

/* From this router, in this phase: as the rule says. */
static void ask_both(const struct world *w, uint32_t router, uint32_t terminal, uint32_t phase,
                     uint32_t salt)
{
    const uint32_t goal = w->routing->target[terminal].router;
    struct leat_net_route route = { .destination = terminal,
                                    .via = LEAT_NET_NONE,
                                    .place = w->routing->target[terminal].place,
                                    .salt = salt,
                                    .phase = (uint8_t)phase };
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    const uint32_t options = leat_net_route_options(w->routing, router, &route, option);
    const uint16_t branch = rows.row[router * rows.routers + goal];
    const uint32_t taken = leat_net_branch_take(&rows.branch[branch], router, phase, salt);
    EQ(options, taken != UINT32_MAX);
    if (!options) return;
    EQ(rows.choice[taken].port, option[0].port);
    EQ(rows.set[rows.choice[taken].set], option[0].channels);
    EQ(rows.choice[taken].phase, option[0].phase);
}

/* Along the whole route, with the phases that it has there. */
static void follow_both(const struct world *w, uint32_t from, uint32_t to, uint32_t salt)
{
    const struct leat_net_topology *t = &w->topology;
    uint32_t router = t->in_router[t->terminal_in[from]], phase = 0;
    for (uint32_t hops = 0; router != w->routing->target[to].router; hops++) {
        OK(hops <= t->routers);
        ask_both(w, router, to, phase, salt);
        const uint32_t goal = w->routing->target[to].router;
        const uint16_t branch = rows.row[router * rows.routers + goal];
        const uint32_t taken = leat_net_branch_take(&rows.branch[branch], router, phase, salt);
        phase = rows.choice[taken].phase;
        router = t->in_router[t->out_to[t->out_first[router] + rows.choice[taken].port]];
    }
}

static void rows_say_what_the_rule_says(void)
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
        if (fits) {
            void *memory = world_memory(leat_net_rows_footprint(w.routing));
            OK(leat_net_rows_init(&rows, w.routing, memory));
            EQ(rows.set[0], w.routing->channels.all);
            for (int k = 0; k < SALTS; k++) {
                const uint32_t from = (uint32_t)leat_random_below(&random, w.topology.terminals);
                const uint32_t to = (uint32_t)leat_random_below(&random, w.topology.terminals);
                follow_both(&w, from, to, (uint32_t)leat_random_next(&random));
            }
            free(memory);
            compared++;
        }
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
    void *memory = world_memory(leat_net_rows_footprint(w.routing));
    OK(leat_net_rows_init(&rows, w.routing, memory));
    EQ(rows.branches, 4);
    EQ(rows.sets, 1);
    free(memory);
    world_end(&w);
}

TAP_MAIN(T(rows_say_what_the_rule_says), T(equal_branches_are_kept_once))
