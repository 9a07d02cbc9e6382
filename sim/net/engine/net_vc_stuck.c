/*
 * Which packets can never move? At first all busy lanes are marked as doomed. One that could move,
 * now or after others that are not doomed have moved, is unmarked, until nothing changes. Each of
 * those that remain waits for another of them, so they lead into a cycle.
 *
 * Flits in flight count as movable: they will arrive soon. In a divided network the search follows
 * cut wires into other parts.
 */
#include "net_vc_parts.h"

/* A lane; net is NULL: none. */
struct spot {
    const struct leat_net *net;
    uint32_t lane;
};

struct parts {
    const struct leat_net *const *part;
    uint32_t count;
};

static const struct spot nobody = { NULL, 0 };

static const struct leat_net_vc *vc_of(const struct leat_net *net)
{
    return net->state;
}

static bool is_doomed(struct spot spot)
{
    return vc_of(spot.net)->doomed[spot.lane];
}

/* Are no flits or credits under way between the two ends of this channel? */
static bool is_settled(const struct leat_net *net, uint32_t channel, struct spot end)
{
    return leat_net_vc_ahead_at(vc_of(net), channel)->used ==
           leat_net_vc_lane_at(vc_of(end.net), end.lane)->count;
}

/* Blockers: a doomed lane, or nobody: it can move, or may be able to. */

static struct spot if_doomed(struct spot spot)
{
    return is_doomed(spot) ? spot : nobody;
}

static struct spot lane_ahead(const struct parts *parts, const struct leat_net *net,
                              uint32_t channel)
{
    const struct leat_net_vc *vc = net->state;
    const uint32_t to = leat_net_vc_out_at(vc, channel >> vc->shift)->to;
    if (!(to & LEAT_NET_CROSSING)) return (struct spot){ net, to | (channel & vc->mask) };
    const struct leat_net_cut *cut = &net->topology->out_cut[to ^ LEAT_NET_CROSSING];
    return (struct spot){ parts->part[cut->part], cut->port << vc->shift | (channel & vc->mask) };
}

/* The packet's next flits are still to come: from where? */
static struct spot blocker_behind(const struct parts *parts, struct spot spot)
{
    const struct leat_net *net = spot.net;
    const struct leat_net_vc *vc = net->state;
    uint32_t channel = leat_net_vc_in_at(vc, spot.lane >> vc->shift)->back | (spot.lane & vc->mask);
    if (channel & LEAT_NET_CROSSING) {
        const uint32_t number = channel ^ LEAT_NET_CROSSING;
        const struct leat_net_cut *cut = &net->topology->in_cut[number >> vc->shift];
        net = parts->part[cut->part];
        channel = cut->port << vc->shift | (number & vc->mask);
    } else if (channel & LEAT_NET_TERMINAL) {
        return nobody;
    }
    if (!is_settled(net, channel, spot) || !leat_net_vc_is_taken(net->state, channel))
        return nobody;
    return if_doomed((struct spot){ net, leat_net_vc_holder(net->state, channel) });
}

/* It needs room for so many flits after this channel. */
static struct spot blocker_ahead(const struct parts *parts, const struct leat_net *net,
                                 uint32_t channel, uint32_t need)
{
    const struct leat_net_vc *vc = net->state;
    if (leat_net_vc_out_at(vc, channel >> vc->shift)->to & LEAT_NET_TERMINAL) return nobody;
    const struct spot ahead = lane_ahead(parts, net, channel);
    if (vc->buffer - leat_net_vc_ahead_at(vc, channel)->used >= need ||
        !is_settled(net, channel, ahead))
        return nobody;
    return if_doomed(ahead);
}

/* It needs this channel, and then room after it. */
static struct spot blocker_of_channel(const struct parts *parts, const struct leat_net *net,
                                      uint32_t channel, uint32_t need)
{
    const struct leat_net_vc *vc = net->state;
    if (leat_net_vc_is_taken(vc, channel)) {
        const struct spot holder = { net, leat_net_vc_holder(vc, channel) };
        if (is_doomed(holder)) return holder;
    }
    return net->config.drop ? nobody : blocker_ahead(parts, net, channel, need);
}

static struct spot blocker_of_head(const struct parts *parts, struct spot spot)
{
    const struct leat_net *net = spot.net;
    const struct leat_net_vc *vc = net->state;
    const uint32_t router = leat_net_vc_in_at(vc, spot.lane >> vc->shift)->router;
    const struct leat_net_flight *flight = leat_net_vc_flight(
        vc, leat_net_vc_first_flit(vc, spot.lane));
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route =
        leat_net_vc_course(vc, leat_net_vc_first_flit(vc, spot.lane))->route;
    const uint32_t options = leat_net_route_options(
        net->routing, net->topology->router_first + router, &route, option);
    struct spot first = nobody;
    for (uint32_t i = 0; i < options; i++) {
        const uint32_t out = leat_net_vc_router_at(vc, router)->out_first + option[i].port;
        const bool adaptive = option[i].phase != option[options - 1].phase;
        uint32_t need = vc->whole ? flight->packet.flits : 1;
        if (adaptive) need = leat_net_vc_adaptive_need(vc, flight);
        for (uint32_t set = net->out_broken[out] ? 0 : option[i].channels; set; set &= set - 1) {
            const uint32_t channel = out << vc->shift | leat_sim_agenda_lowest(set);
            const struct spot blocker = blocker_of_channel(parts, net, channel, need);
            if (!blocker.net) return nobody;
            if (!first.net) first = blocker;
        }
    }
    return first;
}

static struct spot blocker_of(const struct parts *parts, struct spot spot)
{
    const struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc_of(spot.net), spot.lane);
    switch ((enum leat_net_vc_state)l->state) {
    case LEAT_NET_VC_IDLE:
    case LEAT_NET_VC_RIPENS:
    case LEAT_NET_VC_DISCARDS: return nobody;
    case LEAT_NET_VC_WHOLE: return blocker_behind(parts, spot);
    case LEAT_NET_VC_ASKS: return blocker_of_head(parts, spot);
    case LEAT_NET_VC_MOVES:
        return l->count
                   ? blocker_ahead(parts, spot.net, leat_net_vc_way(vc_of(spot.net), spot.lane), 1)
                   : blocker_behind(parts, spot);
    }
    return nobody;
}

static uint32_t mark_busy(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    uint32_t marked = 0;
    for (uint32_t lane = 0; lane < vc->lanes; lane++)
        marked += vc->doomed[lane] = leat_net_vc_lane_at(vc, lane)->state != LEAT_NET_VC_IDLE;
    return marked;
}

/* Unmarks lanes that can move; returns how many. */
static uint32_t save(const struct parts *parts, const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    uint32_t saved = 0;
    for (uint32_t lane = 0; lane < vc->lanes; lane++) {
        if (!vc->doomed[lane] || blocker_of(parts, (struct spot){ net, lane }).net) continue;
        vc->doomed[lane] = 0;
        saved++;
    }
    return saved;
}

/* How many remain. */
static uint32_t find_doomed(const struct parts *parts)
{
    uint32_t doomed = 0, saved;
    for (uint32_t i = 0; i < parts->count; i++)
        doomed += mark_busy(parts->part[i]);
    do {
        saved = 0;
        for (uint32_t i = 0; i < parts->count; i++)
            saved += save(parts, parts->part[i]);
        doomed -= saved;
    } while (saved);
    return doomed;
}

static struct leat_net_waiting waiting_in(struct spot spot)
{
    const struct leat_net_vc *vc = spot.net->state;
    const uint32_t in = spot.lane >> vc->shift, router = leat_net_vc_in_at(vc, in)->router;
    const struct leat_net_packet *packet =
        &leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, spot.lane))->packet;
    return (struct leat_net_waiting){
        .router = spot.net->topology->router_first + router,
        .in = in - leat_net_vc_router_at(vc, router)->in_first,
        .channel = spot.lane & vc->mask,
        .source = packet->source,
        .destination = packet->destination,
    };
}

static struct spot first_doomed(const struct parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        for (uint32_t lane = 0; lane < vc_of(parts->part[i])->lanes; lane++)
            if (vc_of(parts->part[i])->doomed[lane]) return (struct spot){ parts->part[i], lane };
    return nobody;
}

uint32_t leat_net_vc_stuck_parts(const struct leat_net *const *part, uint32_t count,
                                 struct leat_net_waiting *out, uint32_t cap)
{
    const struct parts parts = { part, count };
    uint64_t inside = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        inside += vc_of(part[i])->inside;
    const uint32_t doomed = inside ? find_doomed(&parts) : 0;
    if (!doomed) return 0;
    struct spot spot = first_doomed(&parts);
    for (uint32_t i = 0; i < doomed; i++) /* certainly into the cycle */
        spot = blocker_of(&parts, spot);
    const struct spot first = spot;
    do { /* an empty lane only shows that its packet waits further back */
        if (leat_net_vc_lane_at(vc_of(spot.net), spot.lane)->count && found++ < cap)
            out[found - 1] = waiting_in(spot);
        spot = blocker_of(&parts, spot);
    } while (spot.net != first.net || spot.lane != first.lane);
    return found;
}

uint32_t leat_net_vc_stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap)
{
    return leat_net_vc_stuck_parts(&net, 1, out, cap);
}
