/* Cells through any topology and switch: what slots, gates and copies do, held to plain models and
 * to closed forms of queueing theory. */
#include "net_plan.h"
#include "sim_atm.h"
#include "tap.h"
#include <leat/random.h>
#include <math.h>
#include <string.h>

enum {
    PORTS_MAX = 64,
    CELL = LEAT_ATM_CELL_LEN,
    HEADER = LEAT_ATM_VP_HEADER,
    CALIBRATION = 4000, /* slots until a network is steady */
};

/* ---- a network of hosts that send cells of one slot each ------------------------------------- */

struct scene {
    struct leat_net_topology topology;
    struct leat_sim_atm_graph graph;
    struct leat_sim_atm_fabric fabric;
    struct leat_sim_atm sim;
    void *memory[3];
    struct leat_random random[PORTS_MAX];
    uint32_t chance;                     /* that a slot has a cell, in 2^-16 */
    uint32_t fixed;                      /* the label of all; UINT32_MAX: uniform */
    bool no_room;                        /* of hosts */
    uint64_t sent, refused, got, waited; /* waited: slots, beyond those of an idle network */
    uint64_t last[PORTS_MAX][PORTS_MAX]; /* when the last cell of this pair was sent */
    uint32_t got_at[PORTS_MAX];
    bool counts; /* the network is steady */
};

static uint64_t sent_at(const uint8_t *cell)
{
    return leat_get_be64(cell + 8);
}

/* In each slot, so that the last octet comes just before the next one. */
static void act(void *context, uint32_t port, uint64_t now)
{
    struct scene *s = context;
    const uint32_t coin = (uint32_t)(leat_random_next(&s->random[port]) >> 48);
    uint8_t cell[CELL] = { 0 };
    leat_sim_atm_wake(&s->sim, port, now + CELL);
    if (coin >= s->chance) return;
    uint32_t label = s->fixed;
    if (label == UINT32_MAX)
        label = (uint32_t)leat_random_below(&s->random[port], s->fabric.net.ports);
    leat_atm_label_put(cell, HEADER, label);
    leat_put_be32(cell + 4, port);
    leat_put_be64(cell + 8, now);
    s->sent++;
    leat_sim_atm_send(&s->sim, port, cell, now);
}

static void refused(void *context, uint32_t port, uint64_t now)
{
    struct scene *s = context;
    (void)port;
    (void)now;
    s->refused++;
    leat_sim_atm_wake(&s->sim, port, (now / CELL + 1) * CELL);
}

static uint32_t room(void *context, uint32_t port)
{
    (void)port;
    return ((const struct scene *)context)->no_room ? 0 : 4;
}

static uint64_t way(const struct scene *s, uint32_t from, uint32_t to)
{
    return leat_net_way_cycles(&s->topology, s->graph.routing, &s->graph.net, from, to, 1, 1);
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    struct scene *s = context;
    const uint32_t from = leat_get_be32(cell + 4);
    const uint64_t at = sent_at(cell), idle = at / CELL + 1 + way(s, from, port);
    EQ(now % CELL, 0);
    OK(now / CELL >= idle);
    OK(at > s->last[from][port] || at == 0); /* cells of a pair stay in order */
    s->last[from][port] = at;
    s->got_at[port]++;
    if (!s->counts) return;
    s->got++;
    s->waited += now / CELL - idle;
}

static void set_up(struct scene *s, const char *name, bool alone, uint64_t seed)
{
    struct leat_net_plan plan;
    struct leat_text why = LEAT_TEXT(256);
    const struct leat_sim_atm_host host = {
        .context = s, .refused = refused, .act = act, .room = room, .deliver = deliver
    };
    *s = (struct scene){ .fixed = UINT32_MAX, .chance = 1 << 15 };
    EQ(leat_net_plan_parse(name, &plan, &why), LEAT_ERR_OK);
    plan.net.pipeline = 1;
    plan.net.in_order = plan.routing.in_order = true;
    s->memory[0] = calloc(1, leat_net_topology_footprint(&plan.shape));
    EQ(leat_net_topology_build(&s->topology, &plan.shape, s->memory[0], &why), LEAT_ERR_OK);
    s->memory[1] = calloc(1, leat_net_routing_footprint(&s->topology, &plan.routing));
    s->graph = (struct leat_sim_atm_graph){
        .topology = &s->topology,
        .routing = leat_net_routing_init(&s->topology, &plan.routing, s->memory[1]),
        .net = plan.net,
        .seed = seed,
    };
    s->fabric = (struct leat_sim_atm_fabric){ .graph = &s->graph, .groups = 2 };
    leat_atm_clos_init_other(&s->fabric.net, s->topology.terminals);
    EQ(s->fabric.net.header_octets, HEADER);
    const enum leat_sim_atm_model model = alone ? LEAT_SIM_ATM_ALONE : LEAT_SIM_ATM_CELL;
    s->memory[2] = calloc(1, leat_sim_atm_footprint(&s->fabric, model));
    leat_sim_atm_init(&s->sim, &s->fabric, model, &host, s->memory[2]);
    for (uint32_t p = 0; p < s->fabric.net.ports; p++) {
        leat_random_seed_entity(&s->random[p], seed, p);
        leat_sim_atm_wake(&s->sim, p, 0);
    }
}

static void end(struct scene *s)
{
    for (int i = 0; i < 3; i++)
        free(s->memory[i]);
}

/* Runs until it is steady, then so many slots. */
static void run(struct scene *s, uint64_t slots)
{
    leat_sim_atm_run(&s->sim, CALIBRATION * (uint64_t)CELL);
    s->counts = true;
    leat_sim_atm_run(&s->sim, (CALIBRATION + slots) * CELL);
}

/* ---- closed forms ---------------------------------------------------------------------------- */

/* Karol, Hluchyj and Morgan 1987, table I: the saturation throughput of input queues, and its limit
 * for many ports, 2 - sqrt 2. */
static void input_queues_saturate_at_the_published_throughput(void)
{
    static const struct {
        const char *name;
        double throughput;
    } rows[] = { { "crossbar:2/switch=fifo", 0.75 },
                 { "crossbar:4/switch=fifo", 0.6553 },
                 { "crossbar:8/switch=fifo", 0.6184 },
                 { "crossbar:64/switch=fifo", 0.5858 },
                 { "crossbar:8/switch=batcher", 0.6184 } };
    const uint64_t slots = 20000;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene s;
        set_up(&s, rows[i].name, false, tap_seed());
        s.chance = 1 << 16;
        run(&s, slots);
        const double share = (double)s.got / (double)slots / s.fabric.net.ports;
        if (fabs(share - rows[i].throughput) > 0.01) printf("# %s: %f\n", rows[i].name, share);
        OK(fabs(share - rows[i].throughput) < 0.01);
        OK(s.refused > 0);
        end(&s);
    }
}

/* ... there: the mean wait of output queues at load p is (N-1)/N p / 2(1-p), that of one memory for
 * all outputs too. */
static void output_and_shared_queues_wait_as_long_as_the_closed_form(void)
{
    static const char *const names[] = { "crossbar:4/switch=output/buffer=4096",
                                         "crossbar:16/switch=output/buffer=4096",
                                         "crossbar:16/switch=shared/buffer=4096" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint32_t tenths = 3; tenths <= 8; tenths += 5) {
            struct scene s;
            set_up(&s, names[i], false, tap_seed() + i);
            const double p = tenths / 10.0, n = s.fabric.net.ports;
            s.chance = (1 << 16) * tenths / 10;
            run(&s, 200000 / s.fabric.net.ports * 4);
            const double mean = (double)s.waited / (double)s.got,
                         wanted = (n - 1) / n * p / (2 * (1 - p));
            if (fabs(mean - wanted) > 0.06 * wanted)
                printf("# %s: %f, %f\n", names[i], mean, wanted);
            OK(fabs(mean - wanted) < 0.06 * wanted);
            EQ(s.refused, 0);
            EQ(s.sim.counts.lost, 0);
            end(&s);
        }
}

/* ---- a plain model --------------------------------------------------------------------------- */

/* Output queues of `room` cells, slot by slot, with the same draws: what each output delivers. */
struct plain {
    uint32_t queued[PORTS_MAX], got[PORTS_MAX];
    uint64_t lost;
};

static void plain_run(struct plain *p, uint32_t ports, uint32_t chance, uint32_t room_cells,
                      uint64_t seed, uint64_t slots)
{
    enum { ENTRY = 2, REST = 2 }; /* slots to the switch, and from its queue to the host */
    struct leat_random random[PORTS_MAX];
    *p = (struct plain){ .lost = 0 };
    for (uint32_t i = 0; i < ports; i++)
        leat_random_seed_entity(&random[i], seed, i);
    /* A cell sent in slot k is at the switch in k + 1 + ENTRY. */
    for (uint64_t k = 0; k + 1 + ENTRY + REST < slots; k++) {
        uint32_t come[PORTS_MAX] = { 0 };
        for (uint32_t i = 0; i < ports; i++)
            if (leat_random_next(&random[i]) >> 48 < chance)
                come[leat_random_below(&random[i], ports)]++;
        for (uint32_t o = 0; o < ports; o++) {
            const uint32_t free = room_cells - p->queued[o];
            p->lost += come[o] > free ? come[o] - free : 0;
            p->queued[o] += come[o] > free ? free : come[o];
            p->got[o] += p->queued[o] > 0;
            p->queued[o] -= p->queued[o] > 0;
        }
    }
}

static void full_output_queues_lose_what_a_plain_model_loses(void)
{
    for (uint32_t cells = 1; cells <= 4; cells++) {
        struct scene s;
        struct plain p;
        char name[64];
        snprintf(name, sizeof name, "crossbar:8/switch=output/full=drop/buffer=%u", cells);
        set_up(&s, name, false, tap_seed() + cells);
        s.chance = 60000;
        run(&s, 3000);
        plain_run(&p, 8, s.chance, cells, tap_seed() + cells, CALIBRATION + 3000);
        for (uint32_t o = 0; o < 8; o++)
            OK(s.got_at[o] >= p.got[o] && s.got_at[o] <= p.got[o] + 1);
        OK(p.lost > 100 && s.sim.counts.lost >= p.lost && s.sim.counts.lost <= p.lost + 16);
        end(&s);
    }
}

/* ---- every fabric ---------------------------------------------------------------------------- */

static const char *const fabrics[] = {
    "hypercube:4/vcs=1",
    "torus:4,4/vcs=2",
    "torus:4,4/switch=output/full=drop",
    "mesh:3,3/switch=voq",
    "ring:6/vcs=2",
    "fly:2,4/switch=shared/full=drop",
    "benes:8/switch=xpq",
    "clos:3,4,3/vcs=1",
    "fattree:2,3/vcs=1",
    "dragonfly:1,2,1/vcs=2",
    "crossbar:9/switch=fifo/full=drop",
    "clos:3,4,3/switch=batcher",
    "crossbar:9/switch=batcher/full=drop",
};

static void nothing_is_lost_or_doubled_but_by_switches_that_lose(void)
{
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct scene s;
        set_up(&s, fabrics[i], false, tap_seed() + i);
        s.chance = 1 << 15;
        leat_sim_atm_run(&s.sim, 400 * CELL);
        s.chance = 0;
        leat_sim_atm_run(&s.sim, 4000 * CELL);
        EQ(s.sent, s.refused + s.sim.counts.cells_out + s.sim.counts.lost);
        OK(s.sim.counts.cells_out > 100);
        if (!s.graph.net.drop) EQ(s.sim.counts.lost, 0);
        end(&s);
    }
}

static void alone_every_cell_takes_the_time_of_an_idle_network(void)
{
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct scene s;
        set_up(&s, fabrics[i], true, tap_seed() + i);
        s.chance = 60000;
        s.counts = true;
        leat_sim_atm_run(&s.sim, 300 * CELL);
        s.chance = 0;
        leat_sim_atm_run(&s.sim, 1000 * CELL);
        EQ(s.waited, 0);
        EQ(s.got, s.sent);
        EQ(s.refused, 0);
        end(&s);
    }
}

/* Between any two ports, and over each wire to one. */
static void an_idle_network_takes_a_cell_time_a_slot_and_counts_its_cells(void)
{
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct scene s;
        set_up(&s, fabrics[i], false, tap_seed() + i);
        const struct leat_net_topology *t = &s.topology;
        for (uint32_t from = 0; from < t->terminals; from++)
            for (uint32_t to = 0; to < t->terminals; to++)
                EQ(leat_sim_atm_fabric_idle_cycles(&s.fabric, from, to), CELL * way(&s, from, to));
        leat_sim_atm_run(&s.sim, 300 * CELL);
        s.chance = 0;
        leat_sim_atm_run(&s.sim, 4000 * CELL);
        uint64_t out = 0;
        for (uint32_t port = 0; port < t->terminals; port++)
            out += leat_sim_atm_graph_carried(&s.sim, t->terminal_out[port]);
        EQ(out, s.sim.counts.cells_out);
        end(&s);
    }
}

static void a_copy_goes_to_each_port_of_a_group_and_to_all(void)
{
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++)
        for (uint32_t alone = 0; alone < 2; alone++) {
            struct scene s;
            set_up(&s, fabrics[i], alone, tap_seed());
            const uint32_t ports = s.fabric.net.ports;
            const uint64_t members = UINT64_C(1) << 1 | UINT64_C(1) << 2 |
                                     UINT64_C(1) << (ports - 1);
            leat_sim_atm_set_group(&s.sim, 1, &members);
            for (uint32_t p = 1; p < ports; p++)
                leat_sim_atm_wake(&s.sim, p, LEAT_NEVER);
            s.chance = 1 << 16;
            s.fixed = ports + 2; /* group 1 */
            leat_sim_atm_run(&s.sim, 1);
            leat_sim_atm_wake(&s.sim, 0, LEAT_NEVER);
            leat_sim_atm_run(&s.sim, 200 * CELL);
            for (uint32_t p = 0; p < ports; p++)
                EQ(s.got_at[p], members >> p & 1);
            s.fixed = ports;
            leat_sim_atm_wake(&s.sim, 0, 200 * CELL);
            leat_sim_atm_run(&s.sim, 200 * CELL + 1);
            leat_sim_atm_wake(&s.sim, 0, LEAT_NEVER);
            leat_sim_atm_run(&s.sim, 600 * CELL);
            for (uint32_t p = 0; p < ports; p++)
                EQ(s.got_at[p], 1 + (members >> p & 1));
            EQ(s.sent, 2);
            end(&s);
        }
}

static void a_cell_for_a_full_host_is_lost_and_one_without_a_route_too(void)
{
    struct scene s;
    set_up(&s, "torus:4,4", false, tap_seed());
    s.no_room = true;
    s.chance = 1 << 12;
    leat_sim_atm_run(&s.sim, 100 * CELL);
    s.chance = 0;
    leat_sim_atm_run(&s.sim, 200 * CELL);
    EQ(s.got_at[0] + s.got_at[1] + s.got_at[2], 0);
    EQ(s.sim.counts.port_refusals, s.sent);
    OK(s.sent > 50);
    s.no_room = false;
    s.chance = 1 << 16;
    s.fixed = s.fabric.net.ports + 1 + s.fabric.groups;
    leat_sim_atm_run(&s.sim, 201 * CELL);
    s.chance = 0;
    leat_sim_atm_run(&s.sim, 300 * CELL);
    EQ(s.sim.counts.unrouted, s.fabric.net.ports);
    end(&s);
}

TAP_MAIN(T(input_queues_saturate_at_the_published_throughput),
         T(output_and_shared_queues_wait_as_long_as_the_closed_form),
         T(full_output_queues_lose_what_a_plain_model_loses),
         T(nothing_is_lost_or_doubled_but_by_switches_that_lose),
         T(alone_every_cell_takes_the_time_of_an_idle_network),
         T(an_idle_network_takes_a_cell_time_a_slot_and_counts_its_cells),
         T(a_copy_goes_to_each_port_of_a_group_and_to_all),
         T(a_cell_for_a_full_host_is_lost_and_one_without_a_route_too))
