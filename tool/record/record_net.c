#include "record_net.h"
#include "tool.h"
#include <stdio.h>
#include <stdlib.h>

static struct {
    struct record_net_config config;
    struct leat_net_host host; /* the network's own */
    struct leat_net_watch watch;
    struct record_wires wires;
    uint32_t *lane; /* [terminals] */
    uint32_t lost;  /* a name */
} rec;

static leat_time time_of(uint64_t cycle)
{
    return leat_sim_clock_at(&rec.config.clock, cycle);
}

static uint64_t number_of(const struct leat_net_packet *packet)
{
    return LEAT_SIM_FIRST_PACKET + packet->number * rec.config.net->topology->terminals +
           packet->source;
}

static uint64_t octets_of(const struct leat_net_packet *packet)
{
    return (uint64_t)packet->flits * rec.config.flit_octets;
}

static void put_flow(const struct leat_net_packet *packet, uint32_t terminal, uint32_t peer,
                     leat_sim_step step, uint64_t now)
{
    rec.config.put(&(struct leat_sim_event){ .kind = LEAT_SIM_FLOW,
                                             .at = time_of(now),
                                             .track = rec.lane[terminal],
                                             .step = step,
                                             .flow = { .message = number_of(packet),
                                                       .peer = rec.lane[peer],
                                                       .len = octets_of(packet) } });
}

/* ---- between network and hosts --------------------------------------------------------------- */

static void begins(void *context, const struct leat_net_packet *packet, uint64_t now)
{
    (void)context;
    put_flow(packet, packet->source, packet->destination, LEAT_SIM_LEAVES, now);
}

static void passes(void *context, const struct leat_net_packet *packet, uint32_t out, uint64_t now)
{
    (void)context;
    record_wires_cross(&rec.wires, out, number_of(packet), octets_of(packet), time_of(now),
                       rec.config.put);
}

static bool next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    (void)context;
    return rec.host.next(rec.host.context, terminal, packet);
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    const struct leat_net_packet *packet = &arrival->packet;
    (void)context;
    if (arrival->fate == LEAT_NET_DELIVERED)
        put_flow(packet, packet->destination, packet->source, LEAT_SIM_ARRIVES, arrival->tail_at);
    else
        rec.config.put(&(struct leat_sim_event){ .kind = LEAT_SIM_INSTANT,
                                                 .at = time_of(arrival->tail_at),
                                                 .track = rec.lane[packet->source],
                                                 .name = rec.lost });
    rec.host.arrive(rec.host.context, arrival);
}

static bool crosses(void *context, uint32_t out, const struct leat_net_packet *packet)
{
    (void)context;
    return rec.host.crosses(rec.host.context, out, packet);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static bool declare_tracks(const struct record_net_config *c)
{
    const struct leat_net_topology *t = c->net->topology;
    rec.lane = calloc(t->terminals, sizeof *rec.lane);
    if (!rec.lane) return complain("no memory for the recording of %u terminals", t->terminals);
    const uint32_t clock = leat_sim_recorder_clock(c->recorder, &c->clock);
    uint32_t room = c->room;
    for (uint32_t i = 0; i < t->terminals; i++) {
        char name[32];
        if (c->lane) rec.lane[i] = c->lane[i];
        if (rec.lane[i]) continue;
        if (!room)
            return complain("--record: %u terminals, expected at most %u", t->terminals, c->room);
        snprintf(name, sizeof name, "port%u", i);
        rec.lane[i] = leat_sim_recorder_lane(c->recorder, c->group, clock, 0, name);
        room--;
    }
    rec.lost = leat_sim_recorder_name(c->recorder, "lost");
    return record_wires_declare(&rec.wires, c->recorder, c->group, clock, t, room, c->hops);
}

bool record_net_join(const struct record_net_config *config)
{
    struct leat_net *net = config->net;
    rec.config = *config;
    if (!declare_tracks(config)) {
        record_net_leave();
        return false;
    }
    record_wires_begin(&rec.wires, config->flit_octets, config->put);
    rec.host = net->host;
    net->host = (struct leat_net_host){ .next = next,
                                        .arrive = arrive,
                                        .crosses = rec.host.crosses ? crosses : NULL };
    rec.watch = (struct leat_net_watch){ NULL, begins, passes };
    leat_net_observe(net, &rec.watch);
    return true;
}

void record_net_leave(void)
{
    record_wires_free(&rec.wires);
    free(rec.lane);
    rec.lane = NULL;
}
