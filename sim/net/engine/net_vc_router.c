#include "net_routing_parts.h"
#include "net_vc_parts.h"

/* Round robin: the distance after the turn. Ports and channels of a router are below 2^15, so those
 * before the turn come last and in their order. */
static inline uint16_t behind(uint32_t candidate, uint16_t turn)
{
    return (uint16_t)(candidate - turn);
}

enum { CHANNELS = LEAT_NET_CHANNELS_MAX, CHANNEL_BITS = 6 /* for twice as many */ };

/* The members of the set from `from` on. */
static inline uint32_t from_on(uint32_t set, uint32_t from)
{
    return from < 32 ? set >> from << from : 0;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void fall_asleep(struct leat_net *net, uint32_t lane, bool hungry)
{
    struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_in *in = &vc->in[lane >> vc->shift];
    struct leat_net_vc_router *router = leat_net_vc_router_at(vc, in->router);
    const uint32_t local = leat_net_vc_local(vc, in, lane);
    router->sleeping[local / 64] |= UINT64_C(1) << local % 64;
    router->sleepers++;
    router->hungry |= hungry;
    vc->sleepers++;
    net->counts.waits++;
}

void leat_net_vc_rouse(struct leat_net_vc *vc, uint32_t router)
{
    struct leat_net_vc_router *r = leat_net_vc_router_at(vc, router);
    struct leat_net_vc_region *region = leat_net_vc_region_of(vc, router);
    if (!r->sleepers) return;
    for (uint32_t w = 0; w < vc->words; w++)
        for (; r->sleeping[w]; r->sleeping[w] &= r->sleeping[w] - 1)
            region->asking[region->asking_count++] = (r->in_first << vc->shift) + w * 64 +
                                                     leat_sim_agenda_lowest(r->sleeping[w]);
    vc->sleepers -= r->sleepers;
    r->sleepers = 0;
    r->hungry = false;
}

/* The packet at the front of the lane is lost; its fate is reported with the first flit that is
 * dropped. */
static void discard(struct leat_net *net, uint32_t lane, enum leat_net_fate fate)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_lane *l = &vc->lane[lane];
    l->state = LEAT_NET_VC_DISCARDS;
    l->flight = leat_net_vc_first_flit(vc, lane) & LEAT_NET_VC_FLIGHT;
    l->fate = (uint8_t)fate;
    vc->flights.flight[l->flight].hops--; /* reached, but not passed */
    vc->discards[vc->discards_count++] = lane;
}

/* Mostly no wire is broken, which is known without a lookup. */
static bool is_broken(const struct leat_net *net, uint32_t router, uint32_t port)
{
    const struct leat_net_vc *vc = net->state;
    return net->broken_wires &&
           net->out_broken[leat_net_vc_router_at(vc, router)->out_first + port];
}

/* The options of a packet. It counts as rerouted only once it takes an option that avoids a broken
 * wire: the wire may be repaired while it waits, or the packet may be lost here. */
static uint32_t ask_options(const struct leat_net *net, uint32_t router,
                            struct leat_net_flight *flight, struct leat_net_option *option,
                            uint8_t *detour)
{
    const bool before = flight->route.rerouted;
    const uint32_t options = leat_net_route_ask(net->routing, net->topology->router_first + router,
                                                &flight->route, option);
    *detour = flight->route.rerouted && !before ? LEAT_NET_VC_DETOUR : 0;
    flight->route.rerouted = before;
    return options;
}

/* Any rule: several options are looked up again in every cycle, as room decides. */
static void ask_rule(struct leat_net *net, struct leat_net_vc_lane *l, uint32_t router,
                     struct leat_net_flight *flight)
{
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    uint8_t detour;
    const uint32_t options = ask_options(net, router, flight, option, &detour);
    l->channels = 0;
    if (options != 1 || is_broken(net, router, option[0].port)) return;
    l->channels = option[0].channels;
    l->port = (uint16_t)option[0].port;
    l->phase = (option[0].phase ^ flight->route.phase) | detour;
}

void leat_net_vc_route(struct leat_net *net, uint32_t lane, uint32_t head)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_lane *l = &vc->lane[lane];
    struct leat_net_flight *flight = leat_net_vc_flight(vc, head);
    const uint32_t router = vc->in[lane >> vc->shift].router;
    if (!net->routing->is_dimension_order || net->broken_wires) {
        ask_rule(net, l, router, flight);
        return;
    }
    struct leat_net_option option; /* in registers: the only one, and no detour */
    leat_net_route_ask(net->routing, net->topology->router_first + router, &flight->route, &option);
    l->channels = option.channels;
    l->port = (uint16_t)option.port;
    l->phase = option.phase ^ flight->route.phase;
}

void leat_net_vc_ask(struct leat_net *net, uint32_t lane, uint32_t head)
{
    struct leat_net_vc *vc = net->state;
    vc->lane[lane].state = LEAT_NET_VC_ASKS;
    leat_net_vc_flight(vc, head)->hops++;
    struct leat_net_vc_region *region = leat_net_vc_region_of(vc, vc->in[lane >> vc->shift].router);
    region->asking[region->asking_count++] = lane;
    leat_net_vc_route(net, lane, head);
}

static bool holds_tail(const struct leat_net_vc *vc, uint32_t lane)
{
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    if (l->front & LEAT_NET_VC_TAIL) return true;
    for (uint32_t i = 1; i < l->count; i++)
        if (*leat_net_vc_place(vc, lane, i) & LEAT_NET_VC_TAIL) return true;
    return false;
}

bool leat_net_vc_defer(struct leat_net *net, uint32_t lane, uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    if (net->config.flow == LEAT_NET_STORE_AND_FORWARD && !holds_tail(vc, lane)) {
        vc->lane[lane].state = LEAT_NET_VC_WHOLE;
        return true;
    }
    if (!vc->ripening) return false;
    vc->lane[lane].state = LEAT_NET_VC_RIPENS;
    leat_net_vc_enter(&vc->credits, at + vc->ripening, LEAT_NET_VC_RIPE | lane);
    return true;
}

/* Does the wire ahead damage this flit? */
static void damage(struct leat_net *net, uint32_t lane, uint32_t flit)
{
    const struct leat_net_vc *vc = net->state;
    struct leat_net_flight *flight = leat_net_vc_flight(vc, flit);
    if (flit & LEAT_NET_VC_HEAD) vc->passed[lane] = 0;
    if (leat_net_damages(net, leat_net_vc_way(vc, lane) >> vc->shift, &flight->packet,
                         vc->passed[lane]++))
        leat_net_vc_doom(flight, LEAT_NET_CORRUPTED, net->now);
}

/* ---- allocation of channels ------------------------------------------------------------------ */

/* Channels of the set that this packet may take: free ones, with room for `need` flits. */
static uint32_t usable(const struct leat_net *net, uint32_t out, uint32_t set, uint32_t need)
{
    const struct leat_net_vc *vc = net->state;
    uint32_t found = set & ~vc->out[out].taken;
    if (net->config.drop && vc->out[out].to & LEAT_NET_TERMINAL) return found;
    const struct leat_net_vc_ahead *ahead = vc->ahead + ((size_t)out << vc->shift);
    for (uint32_t rest = need ? found : 0; rest; rest &= rest - 1) {
        const uint32_t channel = leat_sim_agenda_lowest(rest);
        if (vc->buffer - ahead[channel].used < need) found &= ~(UINT32_C(1) << channel);
    }
    return found;
}

static uint32_t credits(const struct leat_net_vc *vc, uint32_t out, uint32_t set)
{
    uint32_t sum = 0;
    for (; set; set &= set - 1)
        sum += vc->buffer - vc->ahead[out << vc->shift | leat_sim_agenda_lowest(set)].used;
    return sum;
}

/* What a head can get in this cycle. */
struct offer {
    uint32_t channels; /* of the port and phase in its lane; 0: none */
    bool way;          /* some wire is intact */
    bool free;         /* some channel is free */
};

/*
 * Several options: earlier options first; among those of one phase the port with most credits. All
 * but the last phase are adaptive, and their channels have no order. There a packet may not queue
 * behind another with a part of it left behind, because only the front of a lane can turn to the
 * escape (Duato 1993): all of it must fit, or the lane must be empty (Ma, Jerger and Wang 2012).
 */
static struct offer offer_of_many(struct leat_net *net, uint32_t lane, uint32_t need)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_lane *l = &vc->lane[lane];
    const uint32_t router = vc->in[lane >> vc->shift].router;
    struct leat_net_flight *flight = leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane));
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct offer offer = { .channels = 0 };
    uint32_t best = 0, phase = 0;
    uint8_t detour;
    const uint32_t options = ask_options(net, router, flight, option, &detour);
    for (uint32_t i = 0; i < options; i++) {
        const uint32_t out = leat_net_vc_router_at(vc, router)->out_first + option[i].port;
        const bool adaptive = option[i].phase != option[options - 1].phase;
        if (net->out_broken[out]) continue;
        if (offer.channels && option[i].phase != phase) break;
        const uint32_t channels = usable(net, out, option[i].channels,
                                         adaptive ? leat_net_vc_adaptive_need(vc, flight) : need);
        const uint32_t sum = credits(vc, out, channels);
        offer.way = true;
        offer.free |= (option[i].channels & ~vc->out[out].taken) != 0;
        if (!channels || (offer.channels && sum <= best)) continue;
        best = sum;
        offer.channels = channels;
        l->port = (uint16_t)option[i].port;
        phase = option[i].phase;
        l->phase = (option[i].phase ^ flight->route.phase) | detour;
    }
    return offer;
}

static struct offer offer_of(struct leat_net *net, uint32_t lane, uint32_t out)
{
    const struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    uint32_t need = 0;
    if (vc->whole) need = leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane))->packet.flits;
    if (!l->channels) return offer_of_many(net, lane, need);
    return (struct offer){
        .channels = usable(net, out, l->channels, need),
        .way = true,
        .free = (l->channels & ~vc->out[out].taken) != 0,
    };
}

/* The head cannot request now: it sleeps, or is lost. */
static void refuse(struct leat_net *net, uint32_t lane, struct offer offer)
{
    const struct leat_net_vc *vc = net->state;
    if (!offer.way)
        discard(net, lane, LEAT_NET_NO_WAY);
    else if (net->config.drop && offer.free)
        discard(net, lane, LEAT_NET_NO_ROOM);
    else
        fall_asleep(net, lane, vc->whole || !vc->lane[lane].channels);
}

/* The channel that the head of the lane requests; NONE: none now. */
static inline uint32_t choose_channel(struct leat_net *net, struct leat_net_vc *vc, uint32_t lane,
                                      uint32_t out_first)
{
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    struct offer offer = { .way = true };
    if (l->channels && !vc->whole)
        offer.channels = l->channels & ~vc->out[out_first + l->port].taken;
    else
        offer = offer_of(net, lane, out_first + l->port);
    if (!offer.channels) {
        refuse(net, lane, offer);
        return LEAT_NET_NONE;
    }
    const uint32_t base = (uint32_t)l->port << vc->shift;
    const uint32_t later = from_on(offer.channels, l->next > base ? l->next - base : 0);
    return (out_first << vc->shift) + base + leat_sim_agenda_lowest(later ? later : offer.channels);
}

enum { BID_MAX = UINT16_MAX + 1 };

static inline uint32_t value_of(uint32_t bidder, uint16_t turn)
{
    return BID_MAX - behind(bidder, turn);
}

static inline uint32_t bidder_of(struct leat_net_vc_bid bid, uint16_t turn)
{
    return (uint16_t)(turn + BID_MAX - bid.value);
}

/* Who wins is random, so no branch depends on it. */

static inline void raise(uint32_t *best, uint32_t value)
{
    *best = *best > value ? *best : value;
}

/* Prefetches what the lanes that request a channel need, and then what that leads to. */
static void fetch_asking(const struct leat_net_vc *vc, const struct leat_net_vc_region *region)
{
    for (uint32_t i = 0; i < region->asking_count; i++) {
        const uint32_t lane = region->asking[i];
        LEAT_NET_VC_PREFETCH(&vc->lane[lane]);
        LEAT_NET_VC_PREFETCH(&vc->in[lane >> vc->shift]);
    }
    for (uint32_t i = 0; i < region->asking_count; i++) {
        const uint32_t lane = region->asking[i];
        const uint32_t out = vc->in[lane >> vc->shift].out_first + vc->lane[lane].port;
        LEAT_NET_VC_PREFETCH(&vc->out[out]);
        LEAT_NET_VC_PREFETCH(&vc->ahead[(size_t)out << vc->shift]);
    }
}

/* Returns how many bid. */
static uint32_t bid_for_channels(struct leat_net *net, struct leat_net_vc *vc,
                                 struct leat_net_vc_region *region)
{
    uint32_t bids = 0;
    for (uint32_t i = 0; i < region->asking_count; i++) {
        const uint32_t lane = region->asking[i];
        const struct leat_net_vc_in *in = &vc->in[lane >> vc->shift];
        const uint32_t what = choose_channel(net, vc, lane, in->out_first);
        if (what == LEAT_NET_NONE) continue;
        const uint32_t value = value_of(leat_net_vc_local(vc, in, lane), vc->ahead[what].next);
        raise(&vc->ahead[what].bid, value);
        vc->channel_bid[bids++] = (struct leat_net_vc_bid){ what, lane, value };
    }
    region->asking_count = 0;
    return bids;
}

static inline void grant_channel(struct leat_net *net, struct leat_net_vc *vc,
                                 struct leat_net_vc_bid bid)
{
    struct leat_net_vc_lane *l = &vc->lane[bid.lane];
    struct leat_net_vc_ahead *ahead = &vc->ahead[bid.what];
    if (l->phase) {
        struct leat_net_route *route = &leat_net_vc_flight(vc, l->front)->route;
        route->phase ^= l->phase & (LEAT_NET_VC_DETOUR - 1);
        if (l->phase & LEAT_NET_VC_DETOUR) route->rerouted = true;
    }
    l->state = LEAT_NET_VC_MOVES;
    l->next = (uint16_t)(((uint32_t)l->port << vc->shift | (bid.what & vc->mask)) + 1);
    vc->out[bid.what >> vc->shift].taken |= leat_net_vc_bit(vc, bid.what);
    ahead->next = (uint16_t)(bidder_of(bid, ahead->next) + 1);
    ahead->bid = 0;
    if (ahead->used == vc->buffer) {
        vc->blocked++;
        net->counts.waits += vc->fused;
    } else {
        leat_net_vc_enable(vc, bid.lane);
    }
}

/* The others request again in the next cycle. */
static void grant_channels(struct leat_net *net, struct leat_net_vc *vc,
                           struct leat_net_vc_region *region, uint32_t bids)
{
    for (uint32_t i = 0; i < bids; i++) {
        const struct leat_net_vc_bid bid = vc->channel_bid[i];
        if (vc->ahead[bid.what].bid == bid.value)
            grant_channel(net, vc, bid);
        else
            region->asking[region->asking_count++] = bid.lane;
    }
}

/* ---- allocation of the switch ---------------------------------------------------------------- */

/* The lane of this input port that bids: by output port first, then by channel. Each has a number
 * that says how soon its turn is, so that no branch depends on the result. */
static inline uint32_t choose_lane(const struct leat_net_vc *vc, uint32_t port)
{
    const struct leat_net_vc_in *in = &vc->in[port];
    const uint32_t base = port << vc->shift;
    uint32_t able = in->able, soonest = UINT32_MAX;
    if (!(able & (able - 1))) return base | leat_sim_agenda_lowest(able);
    for (; able; able &= able - 1) {
        const uint32_t channel = leat_sim_agenda_lowest(able);
        const uint32_t distance = behind(vc->lane[base | channel].port, in->out_turn);
        const uint32_t passed = channel < in->channel_turn ? CHANNELS : 0;
        const uint32_t turn = distance << CHANNEL_BITS | (passed + channel);
        soonest = turn < soonest ? turn : soonest;
    }
    return base | (soonest & (CHANNELS - 1));
}

/* Prefetches what the input ports that request the switch need, and then what that leads to. */
static void fetch_ports(const struct leat_net *net, const struct leat_net_vc *vc,
                        const struct leat_net_vc_region *region)
{
    for (uint32_t i = 0; i < region->ports_count; i++) {
        LEAT_NET_VC_PREFETCH(&vc->in[region->ports[i]]);
        LEAT_NET_VC_PREFETCH(&vc->lane[region->ports[i] << vc->shift]);
    }
    for (uint32_t i = 0; i < region->ports_count; i++) {
        const uint32_t port = region->ports[i];
        const struct leat_net_vc_in *in = &vc->in[port];
        const uint32_t lane = port << vc->shift | leat_sim_agenda_lowest(in->able);
        const uint32_t out = in->out_first + vc->lane[lane].port;
        LEAT_NET_VC_PREFETCH(&vc->out[out]);
        LEAT_NET_VC_PREFETCH(&vc->ahead[(size_t)out << vc->shift]);
        LEAT_NET_VC_PREFETCH(&net->out_flits[out]);
    }
}

/* Each input port with lanes that are able bids with one of them. Returns how many bid. */
static uint32_t bid_for_switch(struct leat_net_vc *vc, struct leat_net_vc_region *region)
{
    const uint32_t bids = region->ports_count;
    for (uint32_t i = 0; i < bids; i++) {
        const uint32_t port = region->ports[i];
        const struct leat_net_vc_in *in = &vc->in[port];
        const uint32_t lane = choose_lane(vc, port);
        const uint32_t out = in->out_first + vc->lane[lane].port;
        const uint32_t value = value_of(in->port, vc->out[out].turn);
        raise(&vc->out[out].bid, value);
        vc->switch_bid[i] = (struct leat_net_vc_bid){ out, lane, value };
    }
    region->ports_count = 0;
    return bids;
}

/* A flit enters a wire to another part, or to a terminal: from there on it only needs time. */
static void launch_away(struct leat_net *net, uint32_t way, uint32_t flit, uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    const uint32_t flight = flit & LEAT_NET_VC_FLIGHT, to = vc->out[way >> vc->shift].to;
    if (!(to & LEAT_NET_TERMINAL)) {
        leat_net_vc_post_flit(net, to ^ LEAT_NET_CROSSING, way & vc->mask, flit, at);
        return;
    }
    if (flit & LEAT_NET_VC_HEAD) vc->flights.flight[flight].head_at = at;
    if (flit & LEAT_NET_VC_TAIL) leat_net_vc_enter(&vc->flits, at, (uint64_t)to << 32 | flight);
    vc->inside--;
    leat_net_vc_enter(&vc->credits, at + LEAT_NET_VC_RETURN_CYCLES + net->config.credit_cycles,
                      way);
}

/* The tail has left: in the next cycle sleepers may get the channel, and the next head may
 * request. */
static inline void succeed(struct leat_net *net, struct leat_net_vc *vc, uint32_t lane)
{
    struct leat_net_vc_lane *l = &vc->lane[lane];
    l->state = LEAT_NET_VC_IDLE;
    if (vc->sleepers) leat_net_vc_rouse(vc, vc->in[lane >> vc->shift].router);
    if (l->count) leat_net_vc_front(net, vc, lane, net->now + 1);
}

/* A flit passes the switch into its wire, and a credit returns. */
static inline void pass(struct leat_net *net, struct leat_net_vc *vc, uint32_t lane, uint32_t port)
{
    struct leat_net_vc_in *in = &vc->in[lane >> vc->shift];
    struct leat_net_vc_lane *l = &vc->lane[lane];
    struct leat_net_vc_out *out = &vc->out[port];
    const uint32_t channel = (l->next - 1u) & vc->mask, way = port << vc->shift | channel;
    const uint32_t flit = leat_net_vc_take(net, vc, lane, in, l);
    const uint64_t at = net->now + out->cycles;
    vc->ahead[way].used++;
    net->out_flits[port]++;
    if (net->out_errors) damage(net, lane, flit);
    if (out->to & LEAT_NET_VC_AWAY)
        launch_away(net, way, flit, at);
    else
        leat_net_vc_enter(&vc->flits, at, (uint64_t)(out->to | channel) << 32 | flit);
    if (flit & LEAT_NET_VC_TAIL) {
        out->taken &= ~(UINT32_C(1) << channel);
        in->able &= ~leat_net_vc_bit(vc, lane);
        succeed(net, vc, lane);
        return;
    }
    l->flight = flit & LEAT_NET_VC_FLIGHT;
    if (l->count && !leat_net_vc_is_full(vc, way)) return;
    vc->blocked += l->count != 0;
    in->able &= ~leat_net_vc_bit(vc, lane);
}

static inline void grant_switch(struct leat_net *net, struct leat_net_vc *vc, uint32_t out,
                                uint32_t lane)
{
    struct leat_net_vc_in *in = &vc->in[lane >> vc->shift];
    in->out_turn = (uint16_t)(out - in->out_first + 1);
    in->channel_turn = (uint16_t)((lane & vc->mask) + 1);
    vc->out[out].turn = (uint16_t)(in->port + 1);
    vc->out[out].bid = 0;
    pass(net, vc, lane, out);
}

/* Ports with lanes that are still able request again in the next cycle. */
static void grant_outs(struct leat_net *net, struct leat_net_vc *vc,
                       struct leat_net_vc_region *region, uint32_t bids)
{
    uint32_t granted = 0;
    for (uint32_t i = 0; i < bids; i++) {
        const struct leat_net_vc_bid bid = vc->switch_bid[i];
        const uint32_t port = bid.lane >> vc->shift;
        if (vc->out[bid.what].bid == bid.value) {
            grant_switch(net, vc, bid.what, bid.lane);
            granted++;
        }
        region->ports[region->ports_count] = port;
        region->ports_count += vc->in[port].able != 0;
    }
    net->counts.flit_hops += granted;
}

/* Bids are placed for the state at the beginning of the cycle, then granted; if both allocations
 * are in one cycle, channels are granted first. */
static void act(struct leat_net *net, struct leat_net_vc *vc, struct leat_net_vc_region *region)
{
    if (vc->far) {
        fetch_asking(vc, region);
        fetch_ports(net, vc, region);
    }
    const uint32_t channel_bids = bid_for_channels(net, vc, region);
    if (vc->fused) grant_channels(net, vc, region, channel_bids);
    const uint32_t switch_bids = bid_for_switch(vc, region);
    if (!vc->fused) grant_channels(net, vc, region, channel_bids);
    grant_outs(net, vc, region, switch_bids);
}

void leat_net_vc_act(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    for (uint32_t r = 0; r < vc->regions; r++)
        if (vc->region[r].asking_count || vc->region[r].ports_count) act(net, vc, &vc->region[r]);
}
