/*
 * Which packets can never move? At first all busy lanes are marked as doomed. One that could move,
 * now or after others that are not doomed have moved, is unmarked, until nothing changes. Each of
 * those that remain waits for another of them, so they lead into a cycle.
 *
 * Flits in flight count as movable: they will arrive soon.
 */
#include "net_vc_parts.h"

static bool is_settled(const struct leat_net_vc *vc, uint32_t channel, uint32_t lane)
{
    return vc->ahead[channel].used == vc->lane[lane].count;
}

/* Blockers: a doomed lane, or NONE: it can move, or may be able to. */

static uint32_t if_doomed(const struct leat_net_vc *vc, uint32_t lane)
{
    return vc->doomed[lane] ? lane : LEAT_NET_NONE;
}

static uint32_t lane_ahead(const struct leat_net_vc *vc, uint32_t channel)
{
    return vc->out[channel >> vc->shift].to | (channel & vc->mask);
}

/* The packet's next flits are still to come: from where? */
static uint32_t blocker_behind(const struct leat_net *net, uint32_t lane)
{
    const struct leat_net_vc *vc = net->state;
    const uint32_t channel = vc->in[lane >> vc->shift].back | (lane & vc->mask);
    if (channel >> vc->shift >= net->topology->outs) return LEAT_NET_NONE;
    if (!is_settled(vc, channel, lane) || !leat_net_vc_is_taken(vc, channel)) return LEAT_NET_NONE;
    return if_doomed(vc, leat_net_vc_holder(vc, channel));
}

/* It needs room for so many flits after this channel. */
static uint32_t blocker_ahead(const struct leat_net *net, uint32_t channel, uint32_t need)
{
    const struct leat_net_vc *vc = net->state;
    if (vc->out[channel >> vc->shift].to & LEAT_NET_TERMINAL) return LEAT_NET_NONE;
    const uint32_t lane = lane_ahead(vc, channel);
    if (vc->buffer - vc->ahead[channel].used >= need || !is_settled(vc, channel, lane))
        return LEAT_NET_NONE;
    return if_doomed(vc, lane);
}

/* It needs this channel, and then room after it. */
static uint32_t blocker_of_channel(const struct leat_net *net, uint32_t channel, uint32_t need)
{
    const struct leat_net_vc *vc = net->state;
    if (leat_net_vc_is_taken(vc, channel)) {
        const uint32_t holder = leat_net_vc_holder(vc, channel);
        if (vc->doomed[holder]) return holder;
    }
    return net->config.drop ? LEAT_NET_NONE : blocker_ahead(net, channel, need);
}

static uint32_t blocker_of_head(const struct leat_net *net, uint32_t lane)
{
    const struct leat_net_vc *vc = net->state;
    const uint32_t router = vc->in[lane >> vc->shift].router;
    const struct leat_net_flight *flight = leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane));
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route = flight->route;
    const uint32_t options = leat_net_route_options(net->routing, router, &route, option);
    uint32_t first = LEAT_NET_NONE;
    for (uint32_t i = 0; i < options; i++) {
        const uint32_t out = vc->router[router].out_first + option[i].port;
        const bool adaptive = option[i].phase != option[options - 1].phase;
        uint32_t need = vc->whole ? flight->packet.flits : 1;
        if (adaptive) need = leat_net_vc_adaptive_need(vc, flight);
        for (uint32_t set = net->out_broken[out] ? 0 : option[i].channels; set; set &= set - 1) {
            const uint32_t channel = out << vc->shift | leat_sim_agenda_lowest(set);
            const uint32_t blocker = blocker_of_channel(net, channel, need);
            if (blocker == LEAT_NET_NONE) return LEAT_NET_NONE;
            if (first == LEAT_NET_NONE) first = blocker;
        }
    }
    return first;
}

static uint32_t blocker_of(const struct leat_net *net, uint32_t lane)
{
    const struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    switch ((enum leat_net_vc_state)l->state) {
    case LEAT_NET_VC_IDLE:
    case LEAT_NET_VC_RIPENS:
    case LEAT_NET_VC_DISCARDS: return LEAT_NET_NONE;
    case LEAT_NET_VC_WHOLE: return blocker_behind(net, lane);
    case LEAT_NET_VC_ASKS: return blocker_of_head(net, lane);
    case LEAT_NET_VC_MOVES:
        return l->count ? blocker_ahead(net, leat_net_vc_way(l), 1) : blocker_behind(net, lane);
    }
    return LEAT_NET_NONE;
}

/* How many remain. */
static uint32_t find_doomed(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    const uint32_t lanes = net->topology->ins << vc->shift;
    uint32_t doomed = 0, saved;
    for (uint32_t lane = 0; lane < lanes; lane++)
        doomed += vc->doomed[lane] = vc->lane[lane].state != LEAT_NET_VC_IDLE;
    do {
        saved = 0;
        for (uint32_t lane = 0; lane < lanes; lane++)
            if (vc->doomed[lane] && blocker_of(net, lane) == LEAT_NET_NONE) {
                vc->doomed[lane] = 0;
                saved++;
            }
        doomed -= saved;
    } while (saved);
    return doomed;
}

static struct leat_net_waiting waiting_in(const struct leat_net *net, uint32_t lane)
{
    const struct leat_net_vc *vc = net->state;
    const uint32_t in = lane >> vc->shift, router = vc->in[in].router;
    const struct leat_net_packet *packet =
        &leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane))->packet;
    return (struct leat_net_waiting){
        .router = router,
        .in = in - vc->router[router].in_first,
        .channel = lane & vc->mask,
        .source = packet->source,
        .destination = packet->destination,
    };
}

uint32_t leat_net_vc_stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap)
{
    const struct leat_net_vc *vc = net->state;
    uint32_t found = 0, lane = 0;
    const uint32_t doomed = vc->inside ? find_doomed(net) : 0;
    if (!doomed) return 0;
    while (!vc->doomed[lane])
        lane++;
    for (uint32_t i = 0; i < doomed; i++) /* certainly into the cycle */
        lane = blocker_of(net, lane);
    const uint32_t first = lane;
    do { /* an empty lane only shows that its packet waits further back */
        if (vc->lane[lane].count && found++ < cap) out[found - 1] = waiting_in(net, lane);
        lane = blocker_of(net, lane);
    } while (lane != first);
    return found;
}
