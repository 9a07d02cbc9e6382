#include "net_plan.h"
#include "tap.h"
#include <stdlib.h>

static const char *const names[] = { "line:5",      "torus:4,2,3/terminals=2",
                                     "crossbar:4",  "grid:3",
                                     "hypercube:3", "fly:2,3",
                                     "benes:8",     "clos:2,3,4/switch=vc",
                                     "fattree:3,3", "dragonfly:2,3,1",
                                     "hyperx:3,2" };

struct pair {
    struct leat_net_plan plan;
    struct leat_net_topology plain, more;
    void *memory[2];
};

static void open_pair(struct pair *p, const char *name)
{
    struct leat_text why = LEAT_TEXT(512);
    OK(!leat_net_plan_parse(name, &p->plan, &why));
    p->memory[0] = calloc(1, leat_net_topology_footprint(&p->plan.shape));
    OK(!leat_net_topology_build(&p->plain, &p->plan.shape, p->memory[0], &why));
    OK(!leat_net_processors_check(&p->plain, &why));
    p->memory[1] = calloc(1, leat_net_processors_footprint(&p->plain));
    leat_net_processors_add(&p->plain, p->memory[1], &p->more);
}

static void close_pair(struct pair *p)
{
    free(p->memory[0]);
    free(p->memory[1]);
}

/* Port p of each router leads to where it did; the last one to the processor. */
static void the_last_port_of_each_router_is_its_processor(void)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct pair p;
        open_pair(&p, names[n]);
        const struct leat_net_topology *a = &p.plain, *b = &p.more;
        EQ(b->processors, a->routers);
        EQ(b->terminals, a->terminals + a->routers);
        EQ(b->wires, a->wires);
        for (uint32_t r = 0; r < a->routers; r++) {
            const uint32_t outs = a->out_first[r + 1] - a->out_first[r];
            EQ(b->out_first[r + 1] - b->out_first[r], outs + 1);
            EQ(b->out_to[b->out_first[r] + outs], LEAT_NET_TERMINAL | (a->terminals + r));
            for (uint32_t i = 0; i < outs; i++) {
                const uint32_t before = a->out_first[r] + i, now = b->out_first[r] + i;
                EQ(leat_net_behind(a, before), leat_net_behind(b, now));
                EQ(a->out_cycles[before], b->out_cycles[now]);
                OK(!(a->out_to[before] & LEAT_NET_TERMINAL) || a->out_to[before] == b->out_to[now]);
            }
        }
        close_pair(&p);
    }
}

static void both_ends_of_a_wire_know_each_other(void)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct pair p;
        open_pair(&p, names[n]);
        const struct leat_net_topology *t = &p.more;
        for (uint32_t o = 0; o < t->outs; o++)
            if (!(t->out_to[o] & LEAT_NET_TERMINAL)) EQ(t->in_from[t->out_to[o]], o);
        for (uint32_t i = 0; i < t->terminals; i++) {
            EQ(t->in_from[t->terminal_in[i]], LEAT_NET_TERMINAL | i);
            EQ(t->out_to[t->terminal_out[i]], LEAT_NET_TERMINAL | i);
        }
        for (uint32_t r = 0; r < t->routers; r++) {
            EQ(t->in_router[t->terminal_in[p.plain.terminals + r]], r);
            EQ(t->out_router[t->terminal_out[p.plain.terminals + r]], r);
        }
        close_pair(&p);
    }
}

/* Over one wire to each neighbour's processor, whatever the rule. */
static void packets_to_a_neighbours_processor_take_the_wire_to_it(void)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct pair p;
        struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
        open_pair(&p, names[n]);
        const struct leat_net_topology *t = &p.more;
        void *memory = calloc(1, leat_net_routing_footprint(t, &p.plan.routing));
        const struct leat_net_routing *routing = leat_net_routing_init(t, &p.plan.routing, memory);
        for (uint32_t o = 0; o < t->outs; o++) {
            const uint32_t from = t->out_router[o], to = leat_net_behind(t, o);
            struct leat_net_route route;
            if (to == LEAT_NET_NONE) continue;
            leat_net_route_begin(routing, p.plain.terminals + from, p.plain.terminals + to, o,
                                 &route);
            EQ(leat_net_route_options(routing, from, &route, option), 1);
            EQ(leat_net_behind(t, t->out_first[from] + option[0].port), to);
            route.phase = option[0].phase;
            EQ(leat_net_route_options(routing, to, &route, option), 1);
            EQ(t->out_to[t->out_first[to] + option[0].port],
               LEAT_NET_TERMINAL | (p.plain.terminals + to));
        }
        free(memory);
        close_pair(&p);
    }
}

static void too_many_ports_are_refused(void)
{
    struct leat_text why = LEAT_TEXT(512);
    const struct leat_net_topology t = { .routers = 1, .terminals = 1, .radix = 1024 };
    EQ(leat_net_processors_check(&t, &why), LEAT_ERR_RANGE);
}

TAP_MAIN(T(the_last_port_of_each_router_is_its_processor), T(both_ends_of_a_wire_know_each_other),
         T(packets_to_a_neighbours_processor_take_the_wire_to_it), T(too_many_ports_are_refused))
