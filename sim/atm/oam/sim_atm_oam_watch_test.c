/* Ways, silent wires, and the cells that switches behind them send. */
#include "leat_bytes.h"
#include "sim_atm_labels.h"
#include "sim_atm_oam_world_test.h"

enum { CELL = LEAT_ATM_CELL_LEN };

static struct world w;

/* Wires by their numbers: of first switches, then of middle ones, then from ports. */
static void a_way_through_a_clos_network_is_its_port_and_two_wires(void)
{
    uint32_t wire[LEAT_SIM_ATM_WAY_MAX];
    world_begin(&w, "clos:3,4,3", 1);
    EQ(leat_sim_atm_wires_between(&w.config.fabric), 3 * 4 + 4 * 3 + 3 * 3);
    for (uint32_t from = 0; from < 9; from++)
        for (uint32_t to = 0; to < 9; to++)
            for (uint32_t path = 0; path < 4; path++) {
                EQ(leat_sim_atm_way(&w.config.fabric, from, to, path, wire), 3);
                EQ(wire[0], 33 + from);
                EQ(wire[1], 4 * (from / 3) + path);
                EQ(wire[2], 12 + 3 * path + to / 3);
            }
    world_close(&w);
    world_begin(&w, "bmx:5", 1);
    EQ(leat_sim_atm_way(&w.config.fabric, 3, 1, 0, wire), 1);
    EQ(wire[0], 5 + 3);
    world_close(&w);
}

/* From router to router, one after the other. */
static void a_way_through_a_line_is_all_wires_between(void)
{
    uint32_t wire[LEAT_SIM_ATM_WAY_MAX], again[LEAT_SIM_ATM_WAY_MAX], channels;
    struct leat_net_route route;
    world_begin(&w, "mesh:5", 1);
    const struct leat_net_topology *t = w.graph.topology;
    for (uint32_t from = 0; from < 5; from++)
        for (uint32_t to = 0; to < 5; to++) {
            const uint32_t hops = from < to ? to - from : from - to;
            EQ(leat_sim_atm_way(&w.config.fabric, from, to, 0, wire), 1 + hops);
            EQ(wire[0], t->outs + from);
            EQ(leat_sim_atm_labels_way(&w.graph, from, to, again, 5), hops);
            EQ(memcmp(again, wire + 1, hops * sizeof *wire), 0);
            for (uint32_t i = 1, at = from; i <= hops; i++) {
                EQ(t->out_router[wire[i]], at);
                at = from < to ? at + 1 : at - 1;
                EQ(t->in_router[t->out_to[wire[i]]], at);
                OK(leat_sim_atm_labels_cross(&w.graph, from, to, wire[i], &route, &channels));
                EQ(route.destination, to);
                OK(channels != 0);
                OK(!leat_sim_atm_labels_cross(&w.graph, to, from, wire[i], &route, &channels));
            }
        }
    EQ(leat_sim_atm_labels_way(&w.graph, 0, 4, again, 3), LEAT_NET_NONE);
    world_close(&w);
}

static void every_wire_knows_the_connections_that_pass_it(void)
{
    uint32_t passed[64] = { 0 };
    world_begin(&w, "clos:2,3,2", 1);
    world_open(&w);
    EQ(leat_sim_atm_oam_watch_measure(&w.config, passed), 4 * 3 * 3);
    for (uint32_t i = 0; i < w.oam.wires; i++)
        EQ(w.oam.wire[i].count, passed[i]);
    for (uint32_t p = 0; p < 4; p++)
        EQ(passed[leat_sim_atm_wires_between(&w.config.fabric) + p], 3);
    memset(w.oam.wire, 0, w.oam.wires * sizeof *w.oam.wire);
    leat_sim_atm_oam_watch_init(&w.oam); /* anew: the same */
    for (uint32_t i = 0; i < w.oam.wires; i++) {
        EQ(w.oam.wire[i].count, passed[i]);
        EQ(w.oam.wire[i].round_at, LEAT_NEVER);
    }
    world_close(&w);
}

/* In a network without other cells: AIS of the wire, in its turn, and only when it is silent. */
static void a_silent_wire_sends_a_cell_in_every_cell_time(void)
{
    static const char *const names[] = { "clos:2,2,2", "mesh:4", "mesh:4/switch=output" };
    for (uint32_t i = 0; i < 3; i++)
        for (unsigned rtl = 0; rtl < 1u + (i == 0); rtl++) {
            uint32_t way[LEAT_SIM_ATM_WAY_MAX];
            world_begin(&w, names[i], 1);
            w.config.load_ppm = 0;
            w.config.checks = false;
            if (rtl) w.config.model = LEAT_SIM_ATM_RTL;
            faults_add(&w.bench, i ? "link:1-2@1000..5000" : "link:0-2@1000..5000");
            world_open(&w);
            const uint32_t from = i ? 0 : 0, to = 2;
            leat_sim_atm_way(&w.config.fabric, from, to, 0, way);
            const uint32_t wire = way[i ? 2 : 1];
            leat_sim_atm_run(&w.oam.plain.sim, 1001);
            EQ(leat_sim_atm_is_silent(&w.oam.plain.sim, wire), i != 0);
            leat_sim_atm_oam_watch(&w.oam);
            EQ(w.oam.counts.sent[LEAT_SIM_ATM_OAM_AIS], i ? 2 : 0); /* a link is two wires */
            leat_sim_atm_run(&w.oam.plain.sim, 1000 + 2 * CELL);
            OK(leat_sim_atm_is_silent(&w.oam.plain.sim, wire));
            leat_sim_atm_oam_watch(&w.oam);
            EQ(w.oam.counts.sent[LEAT_SIM_ATM_OAM_AIS], i ? 4 : 1);
            leat_sim_atm_run(&w.oam.plain.sim, 4000);
            EQ(w.oam.counts.received[LEAT_SIM_ATM_OAM_AIS],
               w.oam.counts.sent[LEAT_SIM_ATM_OAM_AIS]);
            leat_sim_atm_run(&w.oam.plain.sim, 5001);
            OK(!leat_sim_atm_is_silent(&w.oam.plain.sim, wire));
            world_close(&w);
        }
}

/* Whole cells: as many as a memory holds, then none, and all of them arrive. */
static void a_switch_has_room_for_so_many_cells_of_its_own(void)
{
    for (unsigned rtl = 0; rtl < 2; rtl++) {
        uint8_t cell[CELL] = { 0 };
        uint32_t count = 0;
        world_begin(&w, "bmx:3/buffer=4", 1);
        w.config.load_ppm = 0;
        w.config.checks = false;
        if (rtl) w.config.model = LEAT_SIM_ATM_RTL;
        faults_add(&w.bench, "port:1");
        world_open(&w);
        leat_sim_atm_run(&w.oam.plain.sim, 500);
        while (count < 100 && leat_sim_atm_insert(&w.oam.plain.sim, 3 + 1, 1, 2, 0, cell))
            count++;
        EQ(count, 3); /* and what a refused transfer would take back */
        leat_sim_atm_run(&w.oam.plain.sim, 2000);
        EQ(w.oam.counts.unknown, 3);
        EQ(w.oam.plain.sim.counts.cells_out, 3);
        world_close(&w);
    }
}

/* ---- networks of other switches -------------------------------------------------------------- */

static uint32_t arrived, arrived_at;

static bool nothing(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    (void)context;
    (void)terminal;
    (void)packet;
    return false;
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    (void)context;
    EQ(arrival->fate, LEAT_NET_DELIVERED);
    arrived_at = arrival->packet.destination;
    arrived++;
}

/* As many as the input behind the wire has places, if they wait; all of them arrive. */
static void packets_begin_behind_a_wire(void)
{
    static const char *const names[] = { "mesh:4", "mesh:4/switch=voq", "mesh:4/switch=output",
                                         "mesh:4/switch=shared" };
    for (uint32_t i = 0; i < 4; i++) {
        const struct leat_net_host host = { .next = nothing, .arrive = arrive };
        struct leat_net net;
        struct leat_net_route route;
        uint32_t wire, channels, count = 0;
        world_begin(&w, names[i], 1);
        void *memory = calloc(1, leat_net_footprint(w.graph.topology, &w.graph.net));
        leat_net_init(&net, w.graph.topology, w.graph.routing, &w.graph.net, &host, memory);
        OK(leat_net_run(&net, 10));
        EQ(leat_sim_atm_labels_way(&w.graph, 0, 1, &wire, 1), 1);
        OK(leat_sim_atm_labels_cross(&w.graph, 0, 3, wire, &route, &channels));
        arrived = 0;
        for (uint64_t n = 0; n < 500; n++) {
            const struct leat_net_packet packet = {
                .created_at = 10, .number = n, .source = 0, .destination = 3, .flits = 1
            };
            count += leat_net_insert(&net, wire, &packet, &route, channels);
        }
        OK(count >= 1 && leat_net_flits_inside(&net) == count);
        OK(leat_net_run(&net, 2000));
        EQ(arrived, count);
        EQ(arrived_at, 3);
        EQ(leat_net_flits_inside(&net), 0);
        free(memory);
        world_close(&w);
    }
}

TAP_MAIN(T(a_way_through_a_clos_network_is_its_port_and_two_wires),
         T(a_way_through_a_line_is_all_wires_between),
         T(every_wire_knows_the_connections_that_pass_it),
         T(a_silent_wire_sends_a_cell_in_every_cell_time),
         T(a_switch_has_room_for_so_many_cells_of_its_own), T(packets_begin_behind_a_wire))
