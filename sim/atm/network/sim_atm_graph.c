/*
 * Cells through switches of any architecture, in any topology. All lines are slotted: a cell takes
 * a slot of S cycles, and slot k begins in cycle floor(k S). S is 53, or what the line of the
 * fabric needs for a cell, a ratio (leat_sim_atm_fabric_slot). In each slot, sim/net moves cells by
 * one wire and through one switch; each cell is a packet of one flit there.
 *
 *     host            gate of the port                network                       host
 *      | send(cell, s) |                               |                             |
 *      |-------------->| s .. s+52: octets on buf      |                             |
 *      | refused(t)    | all places taken?             |                             |
 *      |<--------------|                               |                             |
 *      |               | from slot (s+53)/S, rounded   | 2 + (pipeline + wire) slots |
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
 * On physical lines with bit errors, a cell is carried by the codec of each line that it crosses
 * (sim_atm_phy.h): of its gate, when the network takes it; of a wire, when it leaves the switch; of
 * a host, when it arrives. What is damaged is kept beside the octets of the cell, since copies
 * share these. A cell that is lost goes on as a place without a cell, as behind broken wires.
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
    SCARS_OF_LINE = 64,  /* beyond, damaged cells are lost */
    CELLS_MAX = 1 << CELL_BITS,
};
_Static_assert((uint32_t)LEAT_NET_TERMINALS_MAX <= LEAT_SIM_ENTITIES_MAX, "ports are entities");

struct cell {
    uint8_t octets[CELL_LEN];
    uint32_t holders; /* its gate, and the packets that carry it */
    uint32_t next;    /* of the free ones */
    uint32_t scars;   /* a list of numbers + 1: of packets of it that are damaged */
};

/* What differs in the cell of one packet, behind its label. */
struct scar {
    uint64_t number; /* of the packet */
    uint32_t next;   /* of this cell, or of the free ones */
    uint8_t mask[CELL_LEN];
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
    struct leat_sim_clock slot; /* in cycles */
    bool alone;
    struct leat_net net;
    struct leat_net_watch watch; /* of it, if sim->watch is set */
    struct gate *gate;
    struct cell *cell;
    uint32_t cells, cells_top, cells_free; /* free: a list of numbers + 1 */
    uint32_t busy;                         /* cells that gates have accepted */
    struct way *way;
    uint32_t ways, ways_cap;
    struct leat_net_fault_player *player; /* NULL: no faults, or alone */
    uint64_t lost[LEAT_NET_FATES];
    bool errs; /* bit errors strike physical lines; then: */
    struct leat_sim_atm_phy phy;
    struct scar *scar;
    uint32_t scars_top, scars_free; /* as of cells */
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
    cell->scars = 0;
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

static uint64_t cycle_of(const struct leat_sim_atm_slots *s, uint64_t slot)
{
    return leat_sim_clock_at(&s->slot, slot);
}

/* The first one that does not begin before this cycle. */
static uint64_t slot_from(const struct leat_sim_atm_slots *s, uint64_t cycle)
{
    return leat_sim_clock_cycle_from(&s->slot, cycle);
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

/* ---- physical lines -------------------------------------------------------------------------- */

static uint32_t cell_of(const struct leat_net_packet *packet)
{
    return (uint32_t)packet->number & (CELLS_MAX - 1);
}

/* The scar of a packet, or the place where its list ends. */
static uint32_t *find_scar(struct leat_sim_atm_slots *s, const struct leat_net_packet *packet)
{
    uint32_t *place = &s->cell[cell_of(packet)].scars;
    while (*place && s->scar[*place - 1].number != packet->number)
        place = &s->scar[*place - 1].next;
    return place;
}

/* The octets of the cell of this packet. */
static void read_cell(struct leat_sim_atm_slots *s, const struct leat_net_packet *packet,
                      uint8_t octets[CELL_LEN])
{
    const uint32_t scar = *find_scar(s, packet);
    memcpy(octets, s->cell[cell_of(packet)].octets, CELL_LEN);
    for (size_t i = 0; scar && i < CELL_LEN; i++)
        octets[i] ^= s->scar[scar - 1].mask[i];
}

static void drop_scar(struct leat_sim_atm_slots *s, const struct leat_net_packet *packet)
{
    uint32_t *place = find_scar(s, packet);
    const uint32_t scar = *place;
    if (!scar) return;
    *place = s->scar[scar - 1].next;
    s->scar[scar - 1].next = s->scars_free;
    s->scars_free = scar;
}

/* From now on it has these octets. False: no room for another scar. */
static bool write_cell(struct leat_sim_atm_slots *s, const struct leat_net_packet *packet,
                       const uint8_t octets[CELL_LEN])
{
    const struct cell *cell = &s->cell[cell_of(packet)];
    drop_scar(s, packet);
    if (memcmp(octets, cell->octets, CELL_LEN) == 0) return true;
    if (!s->scars_free && s->scars_top == SCARS_OF_LINE * s->phy.lines) return false;
    const uint32_t scar = s->scars_free ? s->scars_free : ++s->scars_top;
    if (s->scars_free) s->scars_free = s->scar[scar - 1].next;
    s->scar[scar - 1] = (struct scar){ .number = packet->number };
    for (size_t i = 0; i < CELL_LEN; i++)
        s->scar[scar - 1].mask[i] = octets[i] ^ cell->octets[i];
    *find_scar(s, packet) = scar;
    return true;
}

/* False: the cell is lost on this line. */
static bool carry(struct leat_sim_atm *sim, const struct leat_net_packet *packet, uint32_t line,
                  uint64_t slot, uint64_t errors)
{
    struct leat_sim_atm_slots *s = sim->slots;
    uint8_t octets[CELL_LEN];
    read_cell(s, packet, octets);
    return leat_sim_atm_phy_carry(&s->phy, line, slot, errors, packet->destination, octets) &&
           write_cell(s, packet, octets);
}

static uint64_t errors_of(const struct leat_sim_atm_slots *s, uint32_t out)
{
    return s->player ? leat_net_fault_player_bit_errors(s->player, out) : 0;
}

/* Between switches; those to hosts carry it when it arrives. */
static bool crosses(void *context, uint32_t out, const struct leat_net_packet *packet)
{
    struct leat_sim_atm *sim = context;
    const struct leat_sim_atm_slots *s = sim->slots;
    if (graph_of(sim)->topology->out_to[out] & LEAT_NET_TERMINAL) return true;
    return carry(sim, packet, out, s->net.now, errors_of(s, out));
}

/* From the gate: in the next slot of its line. */
static bool leaves(struct leat_sim_atm *sim, const struct leat_net_packet *packet)
{
    struct leat_sim_atm_slots *s = sim->slots;
    const uint32_t line = graph_of(sim)->topology->outs + packet->source;
    const uint64_t at = leat_larger(s->net.now, packet->created_at);
    return !s->errs || carry(sim, packet, line, leat_larger(at, s->phy.line[line].slot),
                             graph_of(sim)->host_errors);
}

/* To the host. */
static bool comes(struct leat_sim_atm *sim, const struct leat_net_packet *packet, uint64_t slot)
{
    const struct leat_sim_atm_slots *s = sim->slots;
    const uint32_t out = graph_of(sim)->topology->terminal_out[packet->destination];
    return !s->errs || carry(sim, packet, out, slot,
                             leat_net_fault_either(errors_of(s, out), graph_of(sim)->host_errors));
}

void leat_sim_atm_graph_phy(const struct leat_sim_atm *sim, struct leat_sim_atm_phy_counts *out)
{
    *out = sim->slots->phy.counts;
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static void arrive_at(struct leat_sim_atm *sim, uint32_t port, uint32_t index,
                      const uint8_t *octets, uint64_t now)
{
    leat_sim_atm_count_out(sim, port);
    if (sim->host.room(sim->host.context, port))
        sim->host.deliver(sim->host.context, port, octets, now);
    else
        sim->counts.port_refusals++;
    release(sim->slots, index);
}

static void lose(struct leat_sim_atm *sim, const struct leat_net_packet *packet,
                 enum leat_net_fate why)
{
    sim->counts.lost++;
    sim->slots->lost[why]++;
    if (!packet) return;
    if (sim->slots->errs) drop_scar(sim->slots, packet);
    release(sim->slots, cell_of(packet));
}

static bool next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct leat_sim_atm *sim = context;
    bool has;
    while ((has = next_packet(sim, terminal, packet)) && !leaves(sim, packet))
        lose(sim, packet, LEAT_NET_CORRUPTED);
    sim->slots->gate[terminal].sleeps = !has;
    return has;
}

/* Ports take turns, so that numbers are small. */
static uint64_t number_of(const struct leat_sim_atm *sim, const struct leat_net_packet *packet)
{
    return 1 + (packet->number >> CELL_BITS) * sim->fabric.net.ports + packet->source;
}

static void deliver_scarred(struct leat_sim_atm *sim, const struct leat_net_packet *packet,
                            uint64_t now)
{
    uint8_t octets[CELL_LEN];
    read_cell(sim->slots, packet, octets);
    drop_scar(sim->slots, packet);
    arrive_at(sim, packet->destination, cell_of(packet), octets, now);
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct leat_sim_atm *sim = context;
    const struct leat_net_packet *packet = &arrival->packet;
    const uint32_t index = cell_of(packet);
    const uint64_t now = cycle_of(sim->slots, arrival->tail_at);
    if (arrival->fate != LEAT_NET_DELIVERED) {
        lose(sim, packet, arrival->fate);
        return;
    }
    if (!comes(sim, packet, arrival->tail_at)) {
        lose(sim, packet, LEAT_NET_CORRUPTED);
        return;
    }
    if (sim->watch)
        sim->watch->arrives(sim->watch->context, number_of(sim, packet), packet->destination, now);
    if (sim->slots->errs)
        deliver_scarred(sim, packet, now);
    else
        arrive_at(sim, packet->destination, index, sim->slots->cell[index].octets, now);
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
        const uint32_t index = (uint32_t)way.number & (CELLS_MAX - 1);
        arrive_at(sim, way.to, index, s->cell[index].octets, cycle_of(s, slot));
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
    const uint64_t at = cycle_of(sim->slots, slot);
    if (at < leat_sim_agenda_due(agenda, SLOTS, 0)) leat_sim_agenda_set(agenda, SLOTS, 0, at);
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
        lose(sim, NULL, LEAT_NET_CUT);
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
    gate->slot[gate->count] = slot_from(s, sim->port[p].send_at + CELL_LEN);
    plan_slot(sim, gate->slot[gate->count++]);
    s->busy++;
    if (gate->sleeps && !s->alone) leat_net_wake(&s->net, p);
}

/* ---- who looks on ---------------------------------------------------------------------------- */

static void see_beginning(void *context, const struct leat_net_packet *packet, uint64_t slot)
{
    const struct leat_sim_atm *sim = context;
    sim->watch->crosses(sim->watch->context, number_of(sim, packet),
                        graph_of(sim)->topology->outs + packet->source, cycle_of(sim->slots, slot));
}

static void see_passing(void *context, const struct leat_net_packet *packet, uint32_t out,
                        uint64_t slot)
{
    const struct leat_sim_atm *sim = context;
    sim->watch->crosses(sim->watch->context, number_of(sim, packet), out,
                        cycle_of(sim->slots, slot));
}

bool leat_sim_atm_graph_is_alone(const struct leat_sim_atm *sim)
{
    return sim->slots->alone;
}

void leat_sim_atm_graph_observe(struct leat_sim_atm *sim)
{
    sim->slots->watch = (struct leat_net_watch){ sim, see_beginning, see_passing };
    leat_net_observe(&sim->slots->net, &sim->slots->watch);
}

/* ---- running --------------------------------------------------------------------------------- */

/* A network that is deadlocked never moves again; its hosts find that out by themselves. */
static void run_slot(struct leat_sim_atm *sim, uint64_t now)
{
    struct leat_sim_atm_slots *s = sim->slots;
    const uint64_t slot = slot_from(s, now);
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
    const uint64_t slot = slot_from(s, sim->now);
    const uint64_t random = leat_sim_atm_route_random(g, from, to);
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
                                       .slot = leat_sim_atm_fabric_slot(&sim->fabric),
                                       .errs = !alone && leat_sim_atm_fabric_errs(&sim->fabric),
                                       .cells = (uint32_t)leat_smaller(cells, CELLS_MAX) };
    if (alone) made.ways_cap = ports * ways_of_port(g);
    sim->slots = leat_arena_lay(arena, 1, sizeof *sim->slots);
    made.gate = leat_arena_lay(arena, ports, sizeof *made.gate);
    made.cell = leat_arena_lay(arena, made.cells, sizeof *made.cell);
    made.way = leat_arena_lay(arena, made.ways_cap, sizeof *made.way);
    void *agenda = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
    void *player = lay_player(sim, alone, &made, arena);
    if (made.errs) {
        leat_sim_atm_phy_lay(&made.phy, g->topology->outs + ports, arena);
        made.scar = leat_arena_lay(arena, (size_t)SCARS_OF_LINE * made.phy.lines,
                                   sizeof *made.scar);
    }
    void *net = leat_arena_lay(arena, 1, alone ? 0 : leat_net_footprint(g->topology, &g->net));
    if (!sim->slots) return;
    const struct leat_net_host host = {
        .context = sim, .next = next, .arrive = arrive, .crosses = made.errs ? crosses : NULL
    };
    *sim->slots = made;
    if (made.errs) leat_sim_atm_phy_init(&sim->slots->phy, g->line, g->error_seed);
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
