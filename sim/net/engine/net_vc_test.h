/* Shared by the tests of routers with virtual channels. */
#ifndef LEAT_NET_VC_TEST_H
#define LEAT_NET_VC_TEST_H

#include "net_vc_parts.h"
#include "net_world_test.h"

/* Flits of a lane: each packet's from head to tail, not interleaved. */
static inline bool lane_is_in_order(const struct leat_net_vc *vc, uint32_t lane)
{
    const struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
    uint32_t before = LEAT_NET_VC_TAIL;
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t flit = i ? *leat_net_vc_place(vc, lane, i) : l->front;
        const bool head = flit & LEAT_NET_VC_HEAD, tail_before = before & LEAT_NET_VC_TAIL;
        if (i && head != tail_before) return false;
        if (!head && i && (flit & LEAT_NET_VC_FLIGHT) != (before & LEAT_NET_VC_FLIGHT))
            return false;
        before = flit;
    }
    return true;
}

/* Every packet that began has ended or is in flight; no more credits are used than exist. */
static inline bool books_are_right(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    uint64_t begun = net->counts.packets_begun, inside = 0, ended = 0;
    for (uint32_t c = 0; c < net->topology->outs << vc->shift; c++)
        if (leat_net_vc_ahead_at(vc, c)->used > vc->buffer) return false;
    for (uint32_t c = 0; c < net->topology->terminals << vc->shift; c++)
        if (vc->entry[c].used > vc->buffer) return false;
    for (uint32_t lane = 0; lane < net->topology->ins << vc->shift; lane++) {
        inside += leat_net_vc_lane_at(vc, lane)->count;
        if (!lane_is_in_order(vc, lane)) return false;
    }
    for (int f = 0; f < LEAT_NET_FATES; f++)
        ended += net->counts.packets_ended[f];
    return inside <= leat_net_flits_inside(net) &&
           begun - ended == vc->flights.top - vc->flights.free_count;
}

/* ---- single packets -------------------------------------------------------------------------- */

/* Hosts, only one of which has a packet. */
struct single {
    struct leat_net_packet packet;
    bool sent;
    struct leat_net_arrival arrival;
    uint32_t arrivals;
};

static inline bool single_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct single *s = context;
    if (s->sent || terminal != s->packet.source) return false;
    s->sent = true;
    *packet = s->packet;
    return true;
}

static inline void single_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct single *s = context;
    s->arrival = *arrival;
    s->arrivals++;
}

static inline struct leat_net_host single_host(struct single *s)
{
    return (struct leat_net_host){ .context = s, .next = single_next, .arrive = single_arrive };
}

#endif
