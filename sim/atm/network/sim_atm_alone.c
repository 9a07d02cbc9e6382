/*
 * A network without contention: each cell takes as long as it does alone, whatever else is in
 * flight. Switches and their buffers are not simulated; nothing is refused.
 *
 *     first octet on buf in s  ------------->  last octet at the port in s + idle cycles + 53
 */
#include "sim_atm_parts.h"

enum phase { PORTS, ARRIVALS, PHASES };
enum { IN_FLIGHT_MAX = 4 }; /* cells of a port: one begins per 53 cycles, and takes below 200 */

struct way {
    uint64_t at; /* of its last octet */
    uint8_t octets[CELL_LEN];
};

struct leat_sim_atm_alone {
    struct leat_sim_agenda agenda;
    struct way *way; /* ring, by time */
    uint32_t first, count, cap;
    uint64_t cycles;
};

static struct leat_sim_agenda_shape agenda_shape(const struct leat_sim_atm *sim)
{
    return (struct leat_sim_agenda_shape){
        .phases = PHASES, .entities = { [PORTS] = sim->fabric.net.ports, [ARRIVALS] = 1 }
    };
}

void leat_sim_atm_alone_lay(struct leat_sim_atm *sim, struct leat_arena *arena)
{
    const struct leat_sim_agenda_shape shape = agenda_shape(sim);
    struct leat_sim_atm_alone parts = { .cap = IN_FLIGHT_MAX * sim->fabric.net.ports };
    sim->alone = leat_arena_lay(arena, 1, sizeof *sim->alone);
    parts.way = leat_arena_lay(arena, parts.cap, sizeof *parts.way);
    void *agenda = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
    if (!sim->alone) return;
    *sim->alone = parts;
    leat_sim_agenda_init(&sim->alone->agenda, &shape, agenda);
    sim->alone->cycles = leat_atm_clos_idle_cycles(&sim->fabric.net) + CELL_LEN;
}

void leat_sim_atm_alone_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    leat_sim_agenda_set(&sim->alone->agenda, PORTS, port, at);
}

static struct way *way_at(struct leat_sim_atm_alone *alone, uint32_t i)
{
    return &alone->way[(alone->first + i) % alone->cap];
}

void leat_sim_atm_alone_send(struct leat_sim_atm *sim, const uint8_t *octets, uint64_t at)
{
    struct leat_sim_atm_alone *alone = sim->alone;
    assert(alone->count < alone->cap);
    uint32_t place = alone->count++;
    for (; place && way_at(alone, place - 1)->at > at + alone->cycles; place--)
        *way_at(alone, place) = *way_at(alone, place - 1);
    way_at(alone, place)->at = at + alone->cycles;
    memcpy(way_at(alone, place)->octets, octets, CELL_LEN);
    leat_sim_agenda_set(&alone->agenda, ARRIVALS, 0, way_at(alone, 0)->at);
}

/* The access label is that of a path to one port, to all, or to a group (spec/atm.md, 4.6). */
static void deliver(struct leat_sim_atm *sim, const struct way *way, uint64_t now)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const uint32_t to = leat_atm_label_get(way->octets, net->header_octets) / net->paths;
    const uint32_t first = to < net->ports ? to : 0, last = to < net->ports ? to : net->ports - 1;
    const uint64_t *members = to > net->ports ? leat_sim_atm_group(sim, to - net->ports - 1) : NULL;
    for (uint32_t p = first; p <= last; p++) {
        if (members && !(members[p / 64] >> p % 64 & 1)) continue;
        sim->counts.cells_out++;
        sim->host.deliver(sim->host.context, p, way->octets, now);
    }
}

static void deliver_all(struct leat_sim_atm *sim, uint64_t now)
{
    struct leat_sim_atm_alone *alone = sim->alone;
    while (alone->count && way_at(alone, 0)->at == now) {
        const struct way way = *way_at(alone, 0);
        alone->first = (alone->first + 1) % alone->cap;
        alone->count--;
        deliver(sim, &way, now);
    }
    if (alone->count) leat_sim_agenda_set(&alone->agenda, ARRIVALS, 0, way_at(alone, 0)->at);
}

static void act(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    port->act_at = LEAT_NEVER;
    sim->in_host = true;
    sim->host.act(sim->host.context, p, now);
    sim->in_host = false;
    leat_sim_agenda_set(&sim->alone->agenda, PORTS, p, port->act_at);
}

void leat_sim_atm_alone_run(struct leat_sim_atm *sim, uint64_t until)
{
    struct leat_sim_agenda *agenda = &sim->alone->agenda;
    uint64_t now;
    uint32_t entity;
    sim->pauses = false;
    while (leat_sim_agenda_advance(agenda, until, &now)) {
        while (leat_sim_agenda_take(agenda, PORTS, &entity))
            act(sim, entity, now);
        while (leat_sim_agenda_take(agenda, ARRIVALS, &entity))
            deliver_all(sim, now);
        if (sim->pauses) {
            sim->now = now + 1;
            return;
        }
    }
    if (until != LEAT_NEVER && until > sim->now) sim->now = until;
}
