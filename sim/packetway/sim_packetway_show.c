/*
 * Packets of collective operations, for recordings: those of SANs, as they show them, and messages
 * between half-routers of a router. Places are numbered SAN by SAN, as each SAN has them, then
 * half-routers, router by router.
 */
#include "leat_bytes.h"
#include "sim_packetway_parts.h"
#include <assert.h>
#include <leat/capture.h>

enum { LINK_PACKETWAY = LEAT_LINK_USER0 + 3 }; /* spec/carriage.md */

static uint32_t places_of(const struct leat_port_net *net)
{
    struct leat_port_place place;
    uint32_t count = 0;
    while (leat_port_place(net, count, &place))
        count++;
    return count;
}

static bool half_router_place(const struct leat_sim_packetway *p, uint32_t place,
                              struct leat_port_place *out)
{
    for (uint32_t i = 0; i < p->config.routers; i++) {
        const struct leat_sim_packetway_router *router = &p->config.router[i];
        if (place >= router->ends) {
            place -= router->ends;
            continue;
        }
        const struct leat_sim_packetway_end *end = &router->end[place];
        *out = (struct leat_port_place){ .part = router->name,
                                         .what = p->config.san[end->san].name,
                                         .number = end->port,
                                         .link_type = LINK_PACKETWAY };
        return true;
    }
    return false;
}

bool leat_sim_packetway_place(const struct leat_port_net *base, uint32_t place,
                              struct leat_port_place *out)
{
    const struct leat_sim_packetway *p = (const struct leat_sim_packetway *)base;
    for (uint32_t i = 0; i < p->config.sans; i++) {
        const uint32_t count = places_of(p->config.san[i].net);
        if (place < count) {
            leat_port_place(p->config.san[i].net, place, out);
            out->part = p->config.san[i].name;
            return true;
        }
        place -= count;
    }
    return half_router_place(p, place, out);
}

static void tell(const struct leat_sim_packetway *p, const struct leat_port_packet *packet,
                 leat_time at)
{
    const struct leat_port_observer *observer = &p->base.observer;
    assert(at >= p->base.now);
    observer->packet(observer->context, packet, at);
}

static void on_packet(void *context, const struct leat_port_packet *packet, leat_time at)
{
    const struct leat_sim_packetway_san_state *san = context;
    struct leat_port_packet here = *packet;
    here.place += san->places_at;
    tell(san->pktway, &here, at);
}

void leat_sim_packetway_show_sans(struct leat_sim_packetway *p)
{
    uint32_t places = 0;
    if (p->config.san[0].net->observer.packet) return; /* they do already */
    for (uint32_t i = 0; i < p->config.sans; i++) {
        p->san[i].places_at = places;
        p->config.san[i].net->observer.packet = on_packet;
        places += places_of(p->config.san[i].net);
    }
    p->half_routers_at = places;
}

void leat_sim_packetway_show_quiet(struct leat_sim_packetway *p)
{
    for (uint32_t i = 0; i < p->config.sans; i++) {
        struct leat_port_net *net = p->config.san[i].net;
        if (!net->in_flight && net->now < p->now) leat_port_run(net, p->now);
    }
}

void leat_sim_packetway_show(struct leat_sim_packetway *p,
                             const struct leat_sim_packetway_node *node, bool is_out, uint32_t len)
{
    struct leat_port_packet packet = { .place = p->half_routers_at + node->end,
                                       .is_out = is_out,
                                       .octets = p->collect.shown,
                                       .len = LEAT_SIM_PACKETWAY_COUNT_LEN + len };
    for (uint32_t i = 0; i < node->router; i++)
        packet.place += p->config.router[i].ends;
    leat_put_be16(p->collect.shown, (uint16_t)(len / LEAT_PACKETWAY_WORD_LEN));
    tell(p, &packet, p->now);
}
