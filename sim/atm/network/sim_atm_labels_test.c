/* Labels of networks of switches: followed by tables alone, and counted by closed forms. */
#include "net_plan.h"
#include "sim_atm_labels.h"
#include "tap.h"
#include <string.h>

struct scene {
    struct leat_net_topology topology;
    struct leat_sim_atm_graph graph;
    struct leat_sim_atm_labels labels;
    void *memory[3];
    struct leat_text why;
};

static char why_octets[512];

static leat_err set_up(struct scene *s, const char *name)
{
    struct leat_net_plan plan;
    uint32_t entries;
    *s = (struct scene){ .memory = { NULL } };
    leat_text_init(&s->why, why_octets, sizeof why_octets - 1, NULL, NULL);
    EQ(leat_net_plan_parse(name, &plan, &s->why), LEAT_ERR_OK);
    plan.routing.in_order = true;
    s->memory[0] = calloc(1, leat_net_topology_footprint(&plan.shape));
    EQ(leat_net_topology_build(&s->topology, &plan.shape, s->memory[0], &s->why), LEAT_ERR_OK);
    s->memory[1] = calloc(1, leat_net_routing_footprint(&s->topology, &plan.routing));
    s->graph = (struct leat_sim_atm_graph){
        .topology = &s->topology,
        .routing = leat_net_routing_init(&s->topology, &plan.routing, s->memory[1]),
        .net = plan.net,
        .seed = 1,
    };
    const leat_err err = leat_sim_atm_labels_measure(&s->graph, &entries, &s->why);
    why_octets[s->why.len] = '\0';
    if (err) return err;
    s->memory[2] = calloc(1, leat_sim_atm_labels_footprint(&s->graph, entries));
    leat_sim_atm_labels_init(&s->labels, &s->graph, entries, s->memory[2]);
    return LEAT_ERR_OK;
}

static void end(struct scene *s)
{
    for (int i = 0; i < 3; i++)
        free(s->memory[i]);
}

static const char *const fabrics[] = {
    "hypercube:4/vcs=1", "torus:4,4/vcs=2",    "mesh:3,3/switch=voq", "ring:6/vcs=2",
    "fly:2,4",           "benes:8/switch=xpq", "clos:3,4,3/vcs=1",    "fattree:2,3/vcs=1",
    "dragonfly:1,2,1",   "crossbar:9",         "hyperx:3,3",          "grid:4",
};

/* A connection needs nothing but its first label; each entry serves one of them. */
static void labels_lead_every_cell_to_its_port_and_no_two_share_one(void)
{
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct scene s;
        EQ(set_up(&s, fabrics[i]), LEAT_ERR_OK);
        const struct leat_net_topology *t = &s.topology;
        const uint32_t ports = t->terminals;
        uint8_t *used = calloc(s.labels.entries, 1);
        uint32_t entries = 0;
        for (uint32_t from = 0; from < ports; from++)
            for (uint32_t to = 0; to < ports; to++) {
                uint32_t in = t->terminal_in[from], hops = 0;
                uint32_t number = s.labels.access[from * ports + to];
                while (in < t->ins && hops++ < t->routers + 1) {
                    const struct leat_sim_atm_label_entry *e = leat_sim_atm_labels_find(&s.labels,
                                                                                        in, number);
                    OK(e && !used[e - s.labels.entry]);
                    if (!e) break;
                    used[e - s.labels.entry] = 1;
                    EQ(t->out_router[e->out], t->in_router[in]);
                    in = leat_sim_atm_labels_link(&s.labels, e->out);
                    number = e->number;
                    OK(number < s.labels.count[in]);
                }
                EQ(in, t->ins + to);
                entries += hops;
                EQ(leat_net_way_cycles(t, s.graph.routing, &s.graph.net, from, to,
                                       leat_sim_atm_route_random(&s.graph, from, to), 1),
                   2 + hops * s.graph.net.pipeline + hops);
            }
        EQ(entries, s.labels.entries);
        for (uint32_t link = 0; link < t->ins; link++)
            OK(!leat_sim_atm_labels_find(&s.labels, link, s.labels.count[link]));
        free(used);
        end(&s);
    }
}

/* Each wire of a hypercube with dimension order carries half of the ports' number of routes, each
 * link of a Banyan as many as there are ports, as do the lines of ports. */
static void links_have_as_many_labels_as_closed_forms_say(void)
{
    struct scene s;
    for (uint32_t d = 2; d <= 6; d++) {
        char name[32];
        snprintf(name, sizeof name, "hypercube:%u/vcs=1", d);
        EQ(set_up(&s, name), LEAT_ERR_OK);
        const uint32_t n = UINT32_C(1) << d;
        for (uint32_t link = 0; link < s.labels.links; link++) {
            const bool is_wire = link < s.topology.ins &&
                                 !(s.topology.in_from[link] & LEAT_NET_TERMINAL);
            EQ(s.labels.count[link], is_wire ? n / 2 : n);
        }
        EQ(s.labels.longest, n);
        EQ(s.labels.entries,
           n * n + n * n * d / 2); /* a router, and one for each bit that differs */
        end(&s);
    }
    EQ(set_up(&s, "fly:2,5"), LEAT_ERR_OK);
    for (uint32_t link = 0; link < s.labels.links; link++)
        EQ(s.labels.count[link], 32);
    EQ(s.labels.entries, 5 * 32 * 32);
    end(&s);
}

static void numbers_become_vpi_and_vci_without_reserved_ones(void)
{
    EQ(leat_sim_atm_label_vpi(0), 0);
    EQ(leat_sim_atm_label_vci(0), 32);
    EQ(leat_sim_atm_label_vci(65503), 65535);
    EQ(leat_sim_atm_label_vpi(65503), 0);
    EQ(leat_sim_atm_label_vpi(65504), 1);
    EQ(leat_sim_atm_label_vci(65504), 32);
    OK(leat_sim_atm_label_vpi(LEAT_SIM_ATM_LABELS_MAX - 1) < 256);
}

static void what_has_no_tables_is_refused(void)
{
    static const char *const names[][2] = {
        { "crossbar:513", "513 ports, expected at most 512 for labels" },
        { "ring:400/vcs=2", "more than 4194304 labels" },
        { "mesh:3,3/routing=adaptive", "choose a wire for each cell" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct scene s;
        EQ(set_up(&s, names[i][0]), LEAT_ERR_RANGE);
        if (!strstr(why_octets, names[i][1])) printf("# %s\n", why_octets);
        OK(strstr(why_octets, names[i][1]));
        end(&s);
    }
}

TAP_MAIN(T(labels_lead_every_cell_to_its_port_and_no_two_share_one),
         T(links_have_as_many_labels_as_closed_forms_say),
         T(numbers_become_vpi_and_vci_without_reserved_ones), T(what_has_no_tables_is_refused))
