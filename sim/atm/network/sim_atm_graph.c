/*
 * Cells through switches of any architecture, in any topology. All lines are slotted: a cell takes
 * a slot of 53 cycles, and slot k begins in cycle 53 k. In each slot, sim/net moves cells by one
 * wire and through one switch; each cell is a packet of one flit there.
 *
 *     host            gate of the port                network                       host
 *      | send(cell, s) |                               |                             |
 *      |-------------->| s .. s+52: octets on buf      |                             |
 *      | refused(t)    | all places taken?             |                             |
 *      |<--------------|                               |                             |
 *      |               | from slot (s+53)/53, rounded  | 2 + (pipeline + wire) slots |
 *      |               | up, a packet for each member  | of each switch              |
 *      |               |------------------------------>|---------------------------->| deliver
 *
 * Cells from one port to another all take one path, so they stay in order where wires have one
 * virtual channel for a class of packets.
 *
 * A cell to several ports is sent as often by its gate, a copy a slot. Where a switch has no room,
 * the cell waits, at last in its gate, which refuses further cells; or it is lost. A cell for a
 * host without room is lost too: its switch has already sent it. The units send lost cells again.
 *
 * Without contention, cells take the same slots, but never wait in the network.
 */
#include "leat_heap.h"
#include "sim_atm_labels.h"
#include "sim_atm_parts.h"

enum phase { CHECKS, PORTS, SLOTS, PHASES };
enum {
    GATE_CELLS = 2,      /* that wait */
    CELL_BITS = 24,      /* of a cell's number in that of a packet */
    CELLS_OF_PORT = 256, /* in the network; at this limit gates refuse */
    CELLS_MAX = 1 << CELL_BITS,
};
_Static_assert((uint32_t)LEAT_NET_TERMINALS_MAX <= LEAT_SIM_ENTITIES_MAX, "ports are entities");

struct cell {
    uint8_t octets[CELL_LEN];
    uint32_t holders; /* its gate, and the packets that carry it */
    uint32_t next;    /* of the free ones */
};

struct gate {
    uint32_t coming;           /* the cell that is checked next */
    uint32_t cell[GATE_CELLS]; /* those that wait, the first one first */
    uint64_t slot[GATE_CELLS]; /* when they are complete */
    uint32_t count;
    uint32_t to; /* of the first cell: the next port of several */
    uint64_t number;
    bool sleeps; /* the network waits for its next packet */
};

/* Alone: a packet under way, in a heap with the earliest on top. */
struct way {
    uint64_t slot, number;
    uint32_t source, to;
};

struct leat_sim_atm_slots {
    struct leat_sim_agenda agenda;
    bool alone;
    struct leat_net net;
    struct gate *gate;
    struct cell *cell;
    uint32_t cells, cells_top, cells_free; /* free: a list of numbers + 1 */
    uint32_t busy;                         /* cells that gates have accepted */
    struct way *way;
    uint32_t ways, ways_cap;
    struct leat_net_fault_player *player; /* NULL: no faults, or alone */
    uint64_t lost[LEAT_NET_FATES];
};

static const struct leat_sim_atm_graph *graph_of(const struct leat_sim_atm *sim)
{
    return sim->fabric.graph;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool has_cells(const struct leat_sim_atm_slots *s)
{
    return s->cells_free || s->cells_top < s->cells;
}

static uint32_t take_cell(struct leat_sim_atm_slots *s, const uint8_t *octets)
{
    const uint32_t index = s->cells_free ? s->cells_free - 1 : s->cells_top++;
    struct cell *cell = &s->cell[index];
    assert(index < s->cells);
    if (s->cells_free) s->cells_free = cell->next;
    memcpy(cell->octets, octets, CELL_LEN);
    cell->holders = 1;
    return index;
}

static void release(struct leat_sim_atm_slots *s, uint32_t index)
{
    struct cell *cell = &s->cell[index];
    if (--cell->holders) return;
    cell->next = s->cells_free;
    s->cells_free = index + 1;
    s->busy--;
}

/* ---- gates ----------------------------------------------------------------------------------- */

static uint64_t slot_from(uint64_t cycle)
{
    return (cycle + CELL_LEN - 1) / CELL_LEN;
}

static bool has_member(const struct leat_sim_atm *sim, uint32_t label, uint32_t port)
{
    const uint32_t ports = sim->fabric.net.ports;
    if (label == ports) return true;
    return leat_sim_atm_group(sim, label - ports - 1)[port / 64] >> port % 64 & 1;
}

/* The next port that gets the first cell of the gate; the number of ports: none is left. */
static uint32_t next_member(const struct leat_sim_atm *sim, const struct gate *gate)
{
    const struct cell *cell = &sim->slots->cell[gate->cell[0]];
    const uint32_t ports = sim->fabric.net.ports;
    const uint32_t label = leat_atm_label_get(cell->octets, sim->fabric.net.header_octets);
    uint32_t to = gate->to;
    if (label < ports) return to <= label ? label : ports;
    while (to < ports && !has_member(sim, label, to))
        to++;
    return to;
}

static void pop(struct leat_sim_atm_slots *s, struct gate *gate)
{
    const uint32_t index = gate->cell[0];
    for (uint32_t i = 1; i < gate->count; i++) {
        gate->cell[i - 1] = gate->cell[i];
        gate->slot[i - 1] = gate->slot[i];
    }
    gate->count--;
    gate->to = 0;
    release(s, index);
}

/* The next packet of the gate of this port. */
static bool next_packet(struct leat_sim_atm *sim, uint32_t port, struct leat_net_packet *packet)
{
    struct leat_sim_atm_slots *s = sim->slots;
    struct gate *gate = &s->gate[port];
    while (gate->count) {
        const uint32_t to = next_member(sim, gate), index = gate->cell[0];
        if (to == sim->fabric.net.ports) {
            pop(s, gate);
            continue;
        }
        *packet =
            (struct leat_net_packet){ .created_at = gate->slot[0],
                                      .number = gate->number++ << CELL_BITS | index,
                                      .random = leat_sim_atm_route_random(graph_of(sim), port, to),
                                      .source = port,
                                      .destination = to,
                                      .flits = 1 };
        s->cell[index].holders++;
        gate->to = to + 1;
        if (next_member(sim, gate) == sim->fabric.net.ports) pop(s, gate);
        return true;
    }
    return false;
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static void arrive_at(struct leat_sim_atm *sim, uint32_t port, uint32_t index, uint64_t now)
{
    leat_sim_atm_count_out(sim, port);
    if (sim->host.room(sim->host.context, port))
        sim->host.deliver(sim->host.context, port, sim->slots->cell[index].octets, now);
    else
        sim->counts.port_refusals++;
    release(sim->slots, index);
}

static void lose(struct leat_sim_atm *sim, enum leat_net_fate why)
{
    sim->counts.lost++;
    sim->slots->lost[why]++;
}

static bool next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct leat_sim_atm *sim = context;
    const bool has = next_packet(sim, terminal, packet);
    sim->slots->gate[terminal].sleeps = !has;
    return has;
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct leat_sim_atm *sim = context;
    const uint32_t index = (uint32_t)arrival->packet.number & (CELLS_MAX - 1);
    if (arrival->fate == LEAT_NET_DELIVERED) {
        arrive_at(sim, arrival->packet.destination, index, arrival->tail_at * CELL_LEN);
        return;
    }
    lose(sim, arrival->fate);
    release(sim->slots, index);
}

/* ---- without contention ---------------------------------------------------------------------- */

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct way *x = a, *y = b;
    (void)context;
    if (x->slot != y->slot) return x->slot < y->slot;
    if (x->to != y->to) return x->to < y->to;
    return x->source != y->source ? x->source < y->source : x->number < y->number;
}

static struct leat_heap ways_of(const struct leat_sim_atm_slots *s)
{
    return (struct leat_heap){ .element = s->way, .size = sizeof *s->way, .before = is_before };
}

/* A packet of each gate leaves in this slot, if one is complete. */
static void leave_alone(struct leat_sim_atm *sim, uint64_t slot)
{
    const struct leat_sim_atm_graph *g = graph_of(sim);
    struct leat_sim_atm_slots *s = sim->slots;
    const struct leat_heap heap = ways_of(s);
    struct leat_net_packet p;
    for (uint32_t port = 0; port < sim->fabric.net.ports; port++) {
        const struct gate *gate = &s->gate[port];
        if (!gate->count || gate->slot[0] > slot || s->ways == s->ways_cap) continue;
        if (!next_packet(sim, port, &p)) continue;
        const uint64_t slots = leat_net_way_cycles(g->topology, g->routing, &g->net, p.source,
                                                   p.destination, p.random, 1);
        const struct way way = { slot + slots, p.number, p.source, p.destination };
        leat_heap_push(&heap, &s->ways, &way);
    }
}

static void run_alone(struct leat_sim_atm *sim, uint64_t slot)
{
    struct leat_sim_atm_slots *s = sim->slots;
    const struct leat_heap heap = ways_of(s);
    while (s->ways && s->way[0].slot == slot) {
        struct way way;
        leat_heap_take(&heap, &s->ways, &way);
        arrive_at(sim, way.to, (uint32_t)way.number & (CELLS_MAX - 1), slot * CELL_LEN);
    }
    leave_alone(sim, slot);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

void leat_sim_atm_graph_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    leat_sim_agenda_set(&sim->slots->agenda, PORTS, port, at);
}

/* The check comes when the network has the octets of the header (sim_atm.h). */
void leat_sim_atm_graph_send(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    leat_sim_agenda_set(&sim->slots->agenda, CHECKS, port, at + leat_sim_atm_stop_at(sim) + 2);
}

static void plan_slot(struct leat_sim_atm *sim, uint64_t slot)
{
    struct leat_sim_agenda *agenda = &sim->slots->agenda;
    if (slot * CELL_LEN < leat_sim_agenda_due(agenda, SLOTS, 0))
        leat_sim_agenda_set(agenda, SLOTS, 0, slot * CELL_LEN);
}

static void call_host(struct leat_sim_atm *sim, uint32_t p, uint64_t now,
                      void (*call)(void *context, uint32_t port, uint64_t now))
{
    sim->port[p].act_at = LEAT_NEVER;
    sim->in_host = true;
    call(sim->host.context, p, now);
    sim->in_host = false;
    leat_sim_agenda_set(&sim->slots->agenda, PORTS, p, sim->port[p].act_at);
}

/* Faults begin and end between slots, though their times are cycles. */
static void follow_faults(struct leat_sim_atm_slots *s, uint64_t now)
{
    if (s->player && s->player->next_at <= now)
        leat_net_fault_player_apply_at(s->player, &s->net, now);
}

/* Accepts the cell that has begun, or refuses it. A dead port loses it. */
static void check(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_slots *s = sim->slots;
    struct gate *gate = &s->gate[p];
    const uint8_t *octets = sim->port[p].out;
    follow_faults(s, now);
    if (s->player && s->player->terminal_faults[p]) {
        lose(sim, LEAT_NET_CUT);
        return;
    }
    if (gate->count == GATE_CELLS || !has_cells(s)) {
        sim->counts.suspensions++;
        call_host(sim, p, now, sim->host.refused);
        return;
    }
    const uint32_t label = leat_atm_label_get(octets, sim->fabric.net.header_octets);
    if (label > sim->fabric.net.ports + sim->fabric.groups) {
        sim->counts.unrouted++;
        return;
    }
    gate->cell[gate->count] = take_cell(s, octets);
    gate->slot[gate->count] = slot_from(sim->port[p].send_at + CELL_LEN);
    plan_slot(sim, gate->slot[gate->count++]);
    s->busy++;
    if (gate->sleeps && !s->alone) leat_net_wake(&s->net, p);
}

/* ---- running --------------------------------------------------------------------------------- */

/* A network that is deadlocked never moves again; its hosts find that out by themselves. */
static void run_slot(struct leat_sim_atm *sim, uint64_t now)
{
    struct leat_sim_atm_slots *s = sim->slots;
    const uint64_t slot = now / CELL_LEN;
    follow_faults(s, now);
    if (s->alone)
        run_alone(sim, slot);
    else if (!leat_net_run(&s->net, slot + 1))
        return;
    if (s->busy) plan_slot(sim, slot + 1);
}

void leat_sim_atm_graph_run(struct leat_sim_atm *sim, uint64_t until)
{
    struct leat_sim_agenda *agenda = &sim->slots->agenda;
    uint64_t now;
    uint32_t entity;
    sim->pauses = false;
    while (leat_sim_agenda_advance(agenda, until, &now)) {
        while (leat_sim_agenda_take(agenda, CHECKS, &entity))
            check(sim, entity, now);
        while (leat_sim_agenda_take(agenda, PORTS, &entity))
            call_host(sim, entity, now, sim->host.act);
        while (leat_sim_agenda_take(agenda, SLOTS, &entity))
            run_slot(sim, now);
        if (sim->pauses) {
            sim->now = now + 1;
            return;
        }
    }
    if (until != LEAT_NEVER && until > sim->now) sim->now = until;
}

/* ---- cells of switches ----------------------------------------------------------------------- */

/* Slots need no time to be silent: a cell is behind a wire, or not. */
bool leat_sim_atm_graph_is_silent(const struct leat_sim_atm *sim, uint32_t wire)
{
    const struct leat_net_fault_player *player = sim->slots->player;
    const uint32_t outs = graph_of(sim)->topology->outs;
    if (!player) return false;
    follow_faults(sim->slots, sim->now);
    return wire < outs ? player->wire_faults[wire] : player->terminal_faults[wire - outs];
}

/* The network may have been idle for some slots, which it has not counted yet. */
bool leat_sim_atm_graph_insert(struct leat_sim_atm *sim, uint32_t wire, uint32_t from, uint32_t to,
                               const uint8_t *octets)
{
    const struct leat_sim_atm_graph *g = graph_of(sim);
    struct leat_sim_atm_slots *s = sim->slots;
    const uint64_t slot = slot_from(sim->now), random = leat_sim_atm_route_random(g, from, to);
    const bool begins = wire >= g->topology->outs;
    uint32_t channels = UINT32_MAX >> (32 - g->net.channels);
    struct leat_net_route route;
    leat_net_route_begin(g->routing, from, to, random, &route);
    if (!begins && !leat_sim_atm_labels_cross(g, from, to, wire, &route, &channels)) return false;
    if (s->alone || !has_cells(s) || !leat_net_run(&s->net, slot)) return false;
    const uint32_t index = take_cell(s, octets);
    const struct leat_net_packet packet = { .created_at = slot,
                                            .number = s->gate[from].number++ << CELL_BITS | index,
                                            .random = random,
                                            .source = from,
                                            .destination = to,
                                            .flits = 1 };
    s->busy++;
    const bool done = leat_net_insert(
        &s->net, begins ? LEAT_NET_TERMINAL | (wire - g->topology->outs) : wire, &packet, &route,
        channels);
    if (done)
        plan_slot(sim, slot);
    else
        release(s, index);
    return done;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Alone, twice as long as from port 0 is longer than between any two ports where routes are
 * shortest. Where they are not, gates wait for room. */
static uint32_t ways_of_port(const struct leat_sim_atm_graph *g)
{
    uint64_t most = 0;
    for (uint32_t to = 0; to < g->topology->terminals; to++)
        most = leat_larger(
            most, leat_net_way_cycles(g->topology, g->routing, &g->net, 0, to, g->seed, 1));
    return (uint32_t)(2 * most + 2);
}

static struct leat_sim_agenda_shape agenda_shape(uint32_t ports)
{
    return (struct leat_sim_agenda_shape){
        .phases = PHASES, .entities = { [CHECKS] = ports, [PORTS] = ports, [SLOTS] = 1 }
    };
}

/* The memory of the player. */
static void *lay_player(const struct leat_sim_atm *sim, bool alone, struct leat_sim_atm_slots *made,
                        struct leat_arena *arena)
{
    const struct leat_sim_atm_faults *faults = alone ? NULL : sim->fabric.faults;
    if (!faults) return NULL;
    made->player = leat_arena_lay(arena, 1, sizeof *made->player);
    return leat_arena_lay(arena, 1,
                          leat_net_fault_player_footprint(faults->list, faults->topology));
}

void leat_sim_atm_graph_lay(struct leat_sim_atm *sim, bool alone, struct leat_arena *arena)
{
    const struct leat_sim_atm_graph *g = graph_of(sim);
    const uint32_t ports = sim->fabric.net.ports;
    const struct leat_sim_agenda_shape shape = agenda_shape(ports);
    const uint64_t cells = (uint64_t)ports * CELLS_OF_PORT;
    struct leat_sim_atm_slots made = { .alone = alone,
                                       .cells = (uint32_t)leat_smaller(cells, CELLS_MAX) };
    if (alone) made.ways_cap = ports * ways_of_port(g);
    sim->slots = leat_arena_lay(arena, 1, sizeof *sim->slots);
    made.gate = leat_arena_lay(arena, ports, sizeof *made.gate);
    made.cell = leat_arena_lay(arena, made.cells, sizeof *made.cell);
    made.way = leat_arena_lay(arena, made.ways_cap, sizeof *made.way);
    void *agenda = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
    void *player = lay_player(sim, alone, &made, arena);
    void *net = leat_arena_lay(arena, 1, alone ? 0 : leat_net_footprint(g->topology, &g->net));
    if (!sim->slots) return;
    const struct leat_net_host host = { .context = sim, .next = next, .arrive = arrive };
    *sim->slots = made;
    if (made.player)
        leat_net_fault_player_init(made.player, sim->fabric.faults->list, g->topology,
                                   sim->fabric.faults->seed, player);
    leat_sim_agenda_init(&sim->slots->agenda, &shape, agenda);
    if (!alone) leat_net_init(&sim->slots->net, g->topology, g->routing, &g->net, &host, net);
}

uint64_t leat_sim_atm_graph_carried(const struct leat_sim_atm *sim, uint32_t out)
{
    return sim->slots->alone ? 0 : leat_net_out_flits(&sim->slots->net, out);
}

void leat_sim_atm_graph_losses(const struct leat_sim_atm *sim, struct leat_sim_atm_losses *out)
{
    memcpy(out->cells, sim->slots->lost, sizeof out->cells);
    if (!sim->slots->alone) out->rerouted = sim->slots->net.counts.packets_rerouted;
}
