#include "net_routing_parts.h"
#include "net_turns_parts.h"
#include "net_vc_parts.h"

/* What a step of a region needs. No store can change it, so it stays in registers; with a constant
 * `shift` even addresses are simple. */
struct step {
    struct leat_net *net;
    struct leat_net_vc *vc;
    struct leat_net_vc_region *region;
    unsigned char *in, *out;
    uint64_t now;
    uint64_t slot; /* of calendars: now, row 0 */
    uint32_t row;  /* of the region */
    uint32_t shift, mask, buffer;
    uint64_t *out_flits;
    bool far;     /* the network exceeds the caches */
    bool damages; /* wires do */
    bool whole;
    bool cuts; /* some wires lead to other parts */
    bool fused;
    bool plain; /* heads request at once, on a route in dimension order, without broken wires */
    const uint8_t *hop; /* of plain ones; NULL: their routes are computed */
    bool watched;       /* a constant: networks that nobody looks at do not even ask */
};

/* Of a step that is compiled for it: wormhole, a pipeline of three or more cycles, and `plain`,
 * without errors and cuts. */
LEAT_SIM_ALWAYS_INLINE struct step usually(struct step s)
{
    s.whole = s.damages = s.cuts = s.fused = s.far = false;
    s.plain = true;
    return s;
}

LEAT_SIM_ALWAYS_INLINE struct step step_of(struct leat_net *net, uint32_t region, uint32_t shift,
                                           bool far)
{
    struct leat_net_vc *vc = net->state;
    return (struct step){
        .net = net,
        .vc = vc,
        .region = &vc->region[region],
        .in = vc->in,
        .out = vc->out,
        .now = net->now,
        .slot = leat_net_vc_slot(vc, 0, net->now),
        .row = region,
        .shift = shift,
        .mask = (UINT32_C(1) << shift) - 1,
        .buffer = vc->buffer,
        .out_flits = net->out_flits,
        .far = far,
        .damages = net->out_errors != NULL,
        .whole = vc->whole,
        .cuts = net->topology->in_cuts || net->topology->out_cuts,
        .fused = vc->fused,
        .hop = vc->hop,
        .plain = vc->direct && net->routing->is_dimension_order && !net->broken_wires,
    };
}

LEAT_SIM_ALWAYS_INLINE struct leat_net_vc_in *in_at(struct step s, uint32_t in)
{
    return (struct leat_net_vc_in *)(void *)(s.in + in * leat_net_vc_in_size(s.shift));
}

LEAT_SIM_ALWAYS_INLINE struct leat_net_vc_in *in_of(struct step s, uint32_t lane)
{
    return in_at(s, lane >> s.shift);
}

LEAT_SIM_ALWAYS_INLINE struct leat_net_vc_lane *lane_at(struct step s, uint32_t lane)
{
    return &in_of(s, lane)->lane[lane & s.mask];
}

LEAT_SIM_ALWAYS_INLINE struct leat_net_vc_out *out_at(struct step s, uint32_t out)
{
    return (struct leat_net_vc_out *)(void *)(s.out + out * leat_net_vc_out_size(s.shift));
}

LEAT_SIM_ALWAYS_INLINE uint32_t bit_of(struct step s, uint32_t lane)
{
    return UINT32_C(1) << (lane & s.mask);
}

/* The number of a lane within its router. */
LEAT_SIM_ALWAYS_INLINE uint32_t local_of(struct step s, const struct leat_net_vc_in *in,
                                         uint32_t lane)
{
    return in->local | (lane & s.mask);
}

/* ---- large networks --------------------------------------------------------------------------
 *
 * Each step of a flit requests a little of the memory that later steps need. So memory delivers
 * while the routers work; all at once, the one would wait for the other. What a region needs first
 * is requested while the one before it acts; the rest, so many steps ahead.
 */

enum { STEPS_AHEAD = 32 };

LEAT_SIM_ALWAYS_INLINE void fetch_flit(struct step s, uint64_t record)
{
    const uint32_t lane = (uint32_t)(record >> 32);
    LEAT_NET_VC_PREFETCH(in_of(s, lane));
    LEAT_NET_VC_PREFETCH(lane_at(s, lane));
    LEAT_NET_VC_PREFETCH(leat_net_vc_course(s.vc, (uint32_t)record));
}

LEAT_SIM_ALWAYS_INLINE void fetch_credit(struct step s, uint64_t record)
{
    LEAT_NET_VC_PREFETCH(out_at(s, ((uint32_t)record & ~LEAT_NET_VC_RIPE) >> s.shift));
}

/* An input port of this region that requests the switch, if there are so many. */
LEAT_SIM_ALWAYS_INLINE void fetch_in(struct step s, const struct leat_net_vc_region *r, uint32_t i)
{
    if (i >= r->ports_count) return;
    LEAT_NET_VC_PREFETCH(in_at(s, r->ports[i]));
    LEAT_NET_VC_PREFETCH((const char *)in_at(s, r->ports[i]) + LEAT_ARENA_LINE);
}

/* The output port that an input port requests. */
LEAT_SIM_ALWAYS_INLINE void fetch_out(struct step s, uint32_t i)
{
    const struct leat_net_vc_in *in = in_at(s, s.region->ports[i]);
    const uint32_t out = in->out_first + in->lane[leat_sim_agenda_lowest(in->able)].port;
    LEAT_NET_VC_PREFETCH(out_at(s, out));
}

LEAT_SIM_ALWAYS_INLINE uint32_t first_ones(struct leat_net_vc_due due)
{
    return (uint32_t)leat_smaller(due.end, due.chunk + 1 + STEPS_AHEAD);
}

/* What the next region needs first. */
LEAT_SIM_ALWAYS_INLINE void fetch_first(struct step s, uint32_t region)
{
    const struct leat_net_vc_calendar *flits = &s.vc->flits, *credits = &s.vc->credits;
    const struct leat_net_vc_region *r = &s.vc->region[region];
    struct leat_net_vc_due due;
    for (due = leat_net_vc_due_before(credits->day[(s.slot | region) & credits->last_slot]);
         due.end; due = leat_net_vc_due_before((uint32_t)credits->record[due.chunk]))
        for (uint32_t i = due.chunk + 1; i < first_ones(due); i++)
            fetch_credit(s, credits->record[i]);
    for (due = leat_net_vc_due_before(flits->day[(s.slot | region) & flits->last_slot]); due.end;
         due = leat_net_vc_due_before((uint32_t)flits->record[due.chunk]))
        for (uint32_t i = due.chunk + 1; i < first_ones(due); i++)
            fetch_flit(s, flits->record[i]);
    for (uint32_t i = 0; i < r->asking_count; i++)
        LEAT_NET_VC_PREFETCH(lane_at(s, r->asking[i]));
}

/* ---- heads ----------------------------------------------------------------------------------- */

static void fall_asleep(struct leat_net *net, uint32_t lane, bool hungry)
{
    struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_in *in = leat_net_vc_in_at(vc, lane >> vc->shift);
    struct leat_net_vc_router *router = leat_net_vc_router_at(vc, in->router);
    const uint32_t local = in->local | (lane & vc->mask);
    router->sleeping[local / 64] |= UINT64_C(1) << local % 64;
    router->sleepers++;
    vc->hungry += hungry && !router->hungry;
    router->hungry |= hungry;
    vc->sleepers++;
}

void leat_net_vc_rouse(struct leat_net_vc *vc, uint32_t router)
{
    struct leat_net_vc_router *r = leat_net_vc_router_at(vc, router);
    struct leat_net_vc_region *region = &vc->region[leat_net_vc_region_of(vc, router)];
    if (!r->sleepers) return;
    for (uint32_t w = 0; w < vc->words; w++)
        for (; r->sleeping[w]; r->sleeping[w] &= r->sleeping[w] - 1)
            region->asking[region->asking_count++] = (r->in_first << vc->shift) + w * 64 +
                                                     leat_sim_agenda_lowest(r->sleeping[w]);
    vc->sleepers -= r->sleepers;
    vc->hungry -= r->hungry;
    r->sleepers = 0;
    r->hungry = false;
}

/* The packet at the front of the lane is lost; its fate is reported with the first flit that is
 * dropped. */
static void discard(struct leat_net *net, uint32_t lane, enum leat_net_fate fate)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
    l->state = LEAT_NET_VC_DISCARDS;
    l->flight = leat_net_vc_first_flit(vc, lane) & LEAT_NET_VC_FLIGHT;
    l->fate = (uint8_t)fate;
    vc->flights.course[l->flight].hops--; /* reached, but not passed */
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
                            struct leat_net_route *route, struct leat_net_option *option,
                            uint8_t *detour)
{
    const bool before = route->rerouted;
    const uint32_t options = leat_net_route_ask(net->routing, net->topology->router_first + router,
                                                route, option);
    *detour = route->rerouted && !before ? LEAT_NET_VC_DETOUR : 0;
    route->rerouted = before;
    return options;
}

/* Any rule: several options are looked up again in every cycle, as room decides. */
static void ask_rule(struct leat_net *net, struct leat_net_vc_lane *l, uint32_t router,
                     struct leat_net_route *route)
{
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    uint8_t detour;
    const uint32_t options = ask_options(net, router, route, option, &detour);
    l->channels = 0;
    if (options != 1 || is_broken(net, router, option[0].port)) return;
    l->channels = option[0].channels;
    l->port = (uint16_t)option[0].port;
    l->phase = (option[0].phase ^ route->phase) | detour;
}

/* The rule of most networks: there is one option, and no detour. */
LEAT_SIM_ALWAYS_INLINE void route_plainly(const struct leat_net_routing *routing,
                                          const struct leat_net_vc_in *in,
                                          struct leat_net_vc_lane *l,
                                          const struct leat_net_route *route)
{
    struct leat_net_option option;
    if (in->place == route->place)
        leat_net_arrived(routing, &routing->target[route->destination], route, &option);
    else
        leat_net_step_in_lattice(routing, in->place, route->place, 1, route, NULL, &option);
    l->channels = option.channels;
    l->port = (uint16_t)option.port;
    l->phase = option.phase ^ route->phase;
}

void leat_net_vc_route(struct leat_net *net, uint32_t lane, uint32_t head)
{
    struct leat_net_vc *vc = net->state;
    ask_rule(net, leat_net_vc_lane_at(vc, lane), leat_net_vc_in_at(vc, lane >> vc->shift)->router,
             &leat_net_vc_course(vc, head)->route);
}

static bool holds_tail(const struct leat_net_vc *vc, uint32_t lane)
{
    const struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
    if (l->front & LEAT_NET_VC_TAIL) return true;
    for (uint32_t i = 1; i < l->count; i++)
        if (*leat_net_vc_place(vc, lane, i) & LEAT_NET_VC_TAIL) return true;
    return false;
}

/* Must the head wait before it requests: for its tail, or for the pipeline? The router processes it
 * from cycle `at` on. */
static bool defer(struct leat_net *net, uint32_t lane, uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    if (net->config.flow == LEAT_NET_STORE_AND_FORWARD && !holds_tail(vc, lane)) {
        leat_net_vc_lane_at(vc, lane)->state = LEAT_NET_VC_WHOLE;
        return true;
    }
    if (!vc->ripening) return false;
    leat_net_vc_lane_at(vc, lane)->state = LEAT_NET_VC_RIPENS;
    const uint32_t row = leat_net_vc_region_of(vc,
                                               leat_net_vc_in_at(vc, lane >> vc->shift)->router);
    leat_net_vc_enter(&vc->credits, leat_net_vc_slot(vc, row, at + vc->ripening),
                      LEAT_NET_VC_RIPE | lane);
    return true;
}

/* This head at the front of its lane has reached another router and requests a channel. */
LEAT_SIM_ALWAYS_INLINE void ask(struct step s, uint32_t lane, const struct leat_net_vc_in *in,
                                struct leat_net_vc_lane *l)
{
    struct leat_net_course *course = leat_net_vc_course(s.vc, l->front);
    l->state = LEAT_NET_VC_ASKS;
    course->hops++;
    s.region->asking[s.region->asking_count++] = lane;
    if (s.plain && s.hop) {
        l->channels = s.vc->hop_channels;
        l->port = s.hop[in->hops + course->route.destination];
        l->phase = 0;
    } else if (s.plain) {
        route_plainly(s.net->routing, in, l, &course->route);
    } else {
        leat_net_vc_route(s.net, lane, l->front);
    }
    if (s.far) LEAT_NET_VC_PREFETCH(out_at(s, in->out_first + l->port));
}

/* A head has reached the front of its lane; the router processes it from cycle `at` on. */
LEAT_SIM_ALWAYS_INLINE void come_to_front(struct step s, uint32_t lane,
                                          const struct leat_net_vc_in *in,
                                          struct leat_net_vc_lane *l, uint64_t at)
{
    assert(l->front & LEAT_NET_VC_HEAD);
    if (s.plain || s.vc->direct || !defer(s.net, lane, at)) ask(s, lane, in, l);
}

/* Does the wire ahead damage this flit? */
static void damage(struct leat_net *net, uint32_t lane, uint32_t flit)
{
    const struct leat_net_vc *vc = net->state;
    struct leat_net_flight *flight = leat_net_vc_flight(vc, flit);
    if (flit & LEAT_NET_VC_HEAD) vc->passed[lane] = 0;
    const uint32_t passed = vc->passed[lane]++;
    if (flight->fate == LEAT_NET_DELIVERED &&
        leat_net_damages(net, leat_net_vc_way(vc, lane) >> vc->shift, &flight->packet, passed))
        leat_net_vc_doom(flight, LEAT_NET_CORRUPTED, net->now);
}

/* ---- allocation of channels ------------------------------------------------------------------ */

/* Channels of the set that this packet may take: free ones, with room for `need` flits. */
static uint32_t usable(const struct leat_net *net, uint32_t out, uint32_t set, uint32_t need)
{
    const struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_out *o = leat_net_vc_out_at(vc, out);
    uint32_t found = set & ~o->taken;
    if (net->config.drop && o->to & LEAT_NET_TERMINAL) return found;
    for (uint32_t rest = need ? found : 0; rest; rest &= rest - 1) {
        const uint32_t channel = leat_sim_agenda_lowest(rest);
        if (vc->buffer - o->ahead[channel].used < need) found &= ~(UINT32_C(1) << channel);
    }
    return found;
}

static uint32_t credits(const struct leat_net_vc *vc, uint32_t out, uint32_t set)
{
    uint32_t sum = 0;
    for (; set; set &= set - 1)
        sum += vc->buffer - leat_net_vc_out_at(vc, out)->ahead[leat_sim_agenda_lowest(set)].used;
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
    struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
    const uint32_t router = leat_net_vc_in_at(vc, lane >> vc->shift)->router;
    const struct leat_net_flight *flight = leat_net_vc_flight(vc, l->front);
    struct leat_net_route *route = &leat_net_vc_course(vc, l->front)->route;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct offer offer = { .channels = 0 };
    uint32_t best = 0, phase = 0;
    uint8_t detour;
    const uint32_t options = ask_options(net, router, route, option, &detour);
    for (uint32_t i = 0; i < options; i++) {
        const uint32_t out = leat_net_vc_router_at(vc, router)->out_first + option[i].port;
        const bool adaptive = option[i].phase != option[options - 1].phase;
        if (net->out_broken[out]) continue;
        if (offer.channels && option[i].phase != phase) break;
        const uint32_t channels = usable(net, out, option[i].channels,
                                         adaptive ? leat_net_vc_adaptive_need(vc, flight) : need);
        const uint32_t sum = credits(vc, out, channels);
        offer.way = true;
        offer.free |= (option[i].channels & ~leat_net_vc_out_at(vc, out)->taken) != 0;
        if (!channels || (offer.channels && sum <= best)) continue;
        best = sum;
        offer.channels = channels;
        l->port = (uint16_t)option[i].port;
        phase = option[i].phase;
        l->phase = (option[i].phase ^ route->phase) | detour;
    }
    return offer;
}

static struct offer offer_of(struct leat_net *net, uint32_t lane, uint32_t out)
{
    const struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
    uint32_t need = 0;
    if (vc->whole) need = leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane))->packet.flits;
    if (!l->channels) return offer_of_many(net, lane, need);
    return (struct offer){
        .channels = usable(net, out, l->channels, need),
        .way = true,
        .free = (l->channels & ~leat_net_vc_out_at(vc, out)->taken) != 0,
    };
}

/* What a head can get that has several options, needs room, or finds its channels taken. If that is
 * nothing, it does not request now: it sleeps, or is lost. */
static uint32_t insist(struct leat_net *net, uint32_t lane)
{
    const struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
    const struct offer offer = offer_of(
        net, lane, leat_net_vc_in_at(vc, lane >> vc->shift)->out_first + l->port);
    if (offer.channels) return offer.channels;
    if (!offer.way)
        discard(net, lane, LEAT_NET_NO_WAY);
    else if (net->config.drop && offer.free)
        discard(net, lane, LEAT_NET_NO_ROOM);
    else
        fall_asleep(net, lane, vc->whole || !l->channels);
    return 0;
}

_Static_assert(1 << LEAT_NET_LOCAL_BITS >= LEAT_NET_RADIX_MAX * LEAT_NET_CHANNELS_MAX,
               "all lanes fit");

/* Mostly there is one bidder. Among several it is random who wins, so no branch depends on that.
 * The loser requests again in the next cycle; returns its number within the router. */
LEAT_SIM_ALWAYS_INLINE uint32_t outbid(uint32_t *best, uint32_t bid)
{
    const uint32_t before = *best;
    *best = before > bid ? before : bid;
    return (before > bid ? bid : before) & LEAT_NET_LOCAL;
}

/* Returns for how many channels there are bids. Mostly a head has one option, and some channel is
 * free. */
LEAT_SIM_ALWAYS_INLINE uint32_t bid_for_channels(struct step s)
{
    uint32_t *asking = s.region->asking, *wanted = s.vc->wanted_channels;
    const uint32_t count = s.region->asking_count;
    uint32_t losers = 0, channels = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lane = asking[i];
        const struct leat_net_vc_in *in = in_of(s, lane);
        const struct leat_net_vc_lane *l = lane_at(s, lane);
        uint32_t port = in->out_first + l->port;
        uint32_t set = l->channels & ~out_at(s, port)->taken;
        if (!set || s.whole) {
            set = insist(s.net, lane);
            if (!set) continue;
            port = in->out_first + l->port;
        }
        const uint32_t channel = leat_net_turn_channel(l->next, l->port, s.shift, set),
                       local = local_of(s, in, lane);
        struct leat_net_vc_ahead *ahead = &out_at(s, port)->ahead[channel];
        const uint32_t bid = leat_net_turn_bid(local, ahead->next, local);
        if (ahead->bid) {
            asking[losers++] = lane - local + outbid(&ahead->bid, bid);
        } else {
            ahead->bid = bid;
            wanted[channels++] = port << s.shift | channel;
        }
    }
    s.region->asking_count = losers;
    return channels;
}

/* The lane has a flit, a channel and a credit: it requests the switch. */
LEAT_SIM_ALWAYS_INLINE void enable(struct step s, uint32_t lane)
{
    struct leat_net_vc_in *in = in_of(s, lane);
    s.region->ports[s.region->ports_count] = lane >> s.shift;
    s.region->ports_count += !in->able;
    in->able |= bit_of(s, lane);
}

LEAT_SIM_ALWAYS_INLINE void grant_channel(struct step s, uint32_t channel)
{
    struct leat_net_vc_out *out = out_at(s, channel >> s.shift);
    struct leat_net_vc_ahead *ahead = &out->ahead[channel & s.mask];
    const uint32_t local = ahead->bid & LEAT_NET_LOCAL, lane = out->lane_first + local;
    struct leat_net_vc_lane *l = lane_at(s, lane);
    if (l->phase) {
        struct leat_net_route *route = &leat_net_vc_course(s.vc, l->front)->route;
        route->phase ^= l->phase & (LEAT_NET_VC_DETOUR - 1);
        if (l->phase & LEAT_NET_VC_DETOUR) route->rerouted = true;
    }
    l->state = LEAT_NET_VC_MOVES;
    l->next = (uint16_t)(((uint32_t)l->port << s.shift | (channel & s.mask)) + 1);
    out->taken |= bit_of(s, channel);
    ahead->next = (uint16_t)(local + 1);
    ahead->bid = 0;
    if (ahead->used == s.buffer) {
        s.vc->blocked++;
        s.net->counts.waits += s.fused;
    } else {
        enable(s, lane);
    }
}

LEAT_SIM_ALWAYS_INLINE void grant_channels(struct step s, uint32_t channels)
{
    for (uint32_t i = 0; i < channels; i++)
        grant_channel(s, s.vc->wanted_channels[i]);
}

/* ---- allocation of the switch ---------------------------------------------------------------- */

/* The channel of this input port whose lane bids. */
LEAT_SIM_ALWAYS_INLINE uint32_t choose_channel(const struct leat_net_vc_in *in)
{
    uint32_t able = in->able, soonest = UINT32_MAX;
    if (!(able & (able - 1))) return leat_device_lowest(able);
    for (; able; able &= able - 1) {
        const uint32_t channel = leat_device_lowest(able);
        const uint32_t turn = leat_net_turn_lane(in->lane[channel].port, in->out_turn, channel,
                                                 in->channel_turn);
        soonest = turn < soonest ? turn : soonest;
    }
    return soonest & (LEAT_NET_CHANNELS_MAX - 1);
}

/* Each input port with lanes that are able bids with one of them. Returns for how many output ports
 * there are bids. */
LEAT_SIM_ALWAYS_INLINE uint32_t bid_for_switch(struct step s)
{
    uint32_t *ports = s.region->ports, *wanted = s.vc->wanted_outs;
    const uint32_t count = s.region->ports_count;
    uint32_t losers = 0, outs = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t port = ports[i];
        const struct leat_net_vc_in *in = in_at(s, port);
        const uint32_t channel = choose_channel(in);
        const uint32_t number = in->out_first + in->lane[channel].port;
        struct leat_net_vc_out *out = out_at(s, number);
        const uint32_t bid = leat_net_turn_bid(in->local, out->turn, in->local | channel);
        if (out->bid) {
            ports[losers++] = ((port << s.shift) - in->local + outbid(&out->bid, bid)) >> s.shift;
        } else {
            out->bid = bid;
            wanted[outs++] = number;
        }
    }
    s.region->ports_count = losers;
    return outs;
}

/* The second flit becomes the first one. */
static void move_up(struct leat_net_vc *vc, struct leat_net_vc_lane *l, uint32_t lane)
{
    const uint32_t second = vc->second[lane] + 1u;
    l->front = *leat_net_vc_place(vc, lane, 1);
    vc->second[lane] = (uint16_t)(l->count == 1 || second == vc->buffer - 1 ? 0 : second);
}

/* Removes the first flit of a lane and returns its credit. */
LEAT_SIM_ALWAYS_INLINE uint32_t take(struct step s, uint32_t lane, const struct leat_net_vc_in *in,
                                     struct leat_net_vc_lane *l)
{
    const uint32_t flit = l->front, back = in->back | (lane & s.mask);
    if (--l->count) move_up(s.vc, l, lane);
    if (s.cuts && back & LEAT_NET_CROSSING)
        leat_net_vc_post_credit(s.net, back, s.now + (in->back_delay >> s.vc->row_bits));
    else
        leat_net_vc_enter(&s.vc->credits, s.slot + in->back_delay, back);
    return flit;
}

/* The tail has left: in the next cycle sleepers may get the channel, and the next head may
 * request. */
LEAT_SIM_ALWAYS_INLINE void succeed(struct step s, uint32_t lane, const struct leat_net_vc_in *in,
                                    struct leat_net_vc_lane *l)
{
    l->state = LEAT_NET_VC_IDLE;
    if (s.vc->sleepers) leat_net_vc_rouse(s.vc, in->router);
    if (l->count) come_to_front(s, lane, in, l, s.now + 1);
}

LEAT_SIM_ALWAYS_INLINE const struct leat_net_packet *packet_of(struct step s, uint32_t flit)
{
    return &leat_net_vc_flight(s.vc, flit)->packet;
}

/* A flit passes the switch into its wire, and a credit returns. */
LEAT_SIM_ALWAYS_INLINE void pass(struct step s, uint32_t lane, struct leat_net_vc_in *in,
                                 uint32_t port, struct leat_net_vc_out *out)
{
    struct leat_net_vc_lane *l = lane_at(s, lane);
    const uint32_t channel = (l->next - 1u) & s.mask, to = out->to;
    struct leat_net_vc_ahead *ahead = &out->ahead[channel];
    const uint32_t flit = take(s, lane, in, l);
    ahead->used++;
    if (!++out->flits) s.out_flits[port] += UINT64_C(1) << 32;
    if (s.damages) damage(s.net, lane, flit);
    if (s.watched && flit & LEAT_NET_VC_HEAD)
        s.net->watch->passes(s.net->watch->context, packet_of(s, flit), port, s.now);
    if (s.cuts && (to & LEAT_NET_VC_AWAY) == LEAT_NET_CROSSING)
        leat_net_vc_post_flit(s.net, to ^ LEAT_NET_CROSSING, channel, flit,
                              s.now + (out->delay >> s.vc->row_bits));
    else
        leat_net_vc_enter(&s.vc->flits, s.slot + out->delay, (uint64_t)(to | channel) << 32 | flit);
    if (flit & LEAT_NET_VC_TAIL) {
        out->taken &= ~(UINT32_C(1) << channel);
        in->able &= ~bit_of(s, lane);
        succeed(s, lane, in, l);
        return;
    }
    l->flight = flit & LEAT_NET_VC_FLIGHT;
    if (l->count && ahead->used != s.buffer) return;
    s.vc->blocked += l->count != 0;
    in->able &= ~bit_of(s, lane);
}

LEAT_SIM_ALWAYS_INLINE void grant_switch(struct step s, uint32_t lane, struct leat_net_vc_in *in,
                                         uint32_t number, struct leat_net_vc_out *out)
{
    in->out_turn = (uint16_t)(number - in->out_first + 1);
    in->channel_turn = (uint16_t)((lane & s.mask) + 1);
    out->turn = in->local + (1u << s.shift);
    out->bid = 0;
    pass(s, lane, in, number, out);
}

/* Ports with lanes that are still able request again in the next cycle. Flits on wires to terminals
 * only need time: they have left the network. */
LEAT_SIM_ALWAYS_INLINE void grant_outs(struct step s, uint32_t outs)
{
    const uint32_t *wanted = s.vc->wanted_outs;
    uint32_t *ports = s.region->ports, count = s.region->ports_count, leave = 0;
    for (uint32_t i = 0; i < outs; i++) {
        if (s.far) fetch_in(s, s.region + 1, i);
        struct leat_net_vc_out *out = out_at(s, wanted[i]);
        const uint32_t lane = out->lane_first + (out->bid & LEAT_NET_LOCAL);
        struct leat_net_vc_in *in = in_of(s, lane);
        leave += out->to >> 31;
        grant_switch(s, lane, in, wanted[i], out);
        ports[count] = lane >> s.shift;
        count += in->able != 0;
    }
    for (uint32_t i = outs; s.far && i < s.region[1].ports_count; i++)
        fetch_in(s, s.region + 1, i);
    s.region->ports_count = count;
    s.vc->inside -= leave;
    s.net->counts.flit_hops += outs;
}

/* ---- what arrives ---------------------------------------------------------------------------- */

LEAT_SIM_ALWAYS_INLINE void credit_comes(struct step s, uint32_t channel)
{
    struct leat_net_vc_out *out = out_at(s, channel >> s.shift);
    struct leat_net_vc_ahead *ahead = &out->ahead[channel & s.mask];
    const bool was_full = ahead->used-- == s.buffer;
    if (s.vc->hungry && leat_net_vc_router_at(s.vc, out->router)->hungry)
        leat_net_vc_rouse(s.vc, out->router);
    if (!was_full || !(out->taken & bit_of(s, channel))) return;
    const uint32_t lane = out->lane_first + ahead->next - 1;
    if (!lane_at(s, lane)->count) return;
    s.vc->blocked--;
    enable(s, lane);
}

LEAT_SIM_ALWAYS_INLINE void credits_come(struct step s)
{
    struct leat_net_vc_calendar *c = &s.vc->credits;
    for (struct leat_net_vc_due due = leat_net_vc_due(c, s.slot | s.row); due.end;
         due = leat_net_vc_due_more(c, due))
        for (uint32_t i = due.chunk + 1; i < due.end; i++) {
            const uint32_t what = (uint32_t)c->record[i], lane = what ^ LEAT_NET_VC_RIPE;
            if (s.far && i + STEPS_AHEAD < due.end) fetch_credit(s, c->record[i + STEPS_AHEAD]);
            if (what & LEAT_NET_VC_RIPE)
                ask(s, lane, in_of(s, lane), lane_at(s, lane));
            else
                credit_comes(s, what);
        }
}

/* A flit that is not the only one of its lane, or whose packet has been here before. */
LEAT_SIM_ALWAYS_INLINE void follow(struct step s, uint32_t lane, const struct leat_net_vc_in *in,
                                   struct leat_net_vc_lane *l, uint32_t flit)
{
    assert(l->count < s.buffer);
    *(l->count ? leat_net_vc_place(s.vc, lane, l->count) : &l->front) = flit;
    l->count++;
    if (l->state == LEAT_NET_VC_WHOLE) {
        if (flit & LEAT_NET_VC_TAIL) come_to_front(s, lane, in, l, s.now);
    } else if (l->state == LEAT_NET_VC_MOVES && l->count == 1) {
        const uint32_t out = in->out_first + l->port;
        if (out_at(s, out)->ahead[(l->next - 1u) & s.mask].used == s.buffer)
            s.vc->blocked++;
        else
            enable(s, lane);
    }
}

LEAT_SIM_ALWAYS_INLINE void flit_comes(struct step s, uint32_t lane, uint32_t flit)
{
    const struct leat_net_vc_in *in = in_of(s, lane);
    struct leat_net_vc_lane *l = lane_at(s, lane);
    if (s.watched && flit & LEAT_NET_VC_HEAD && in->back & LEAT_NET_TERMINAL)
        s.net->watch->begins(s.net->watch->context, packet_of(s, flit), s.now);
    if (l->state != LEAT_NET_VC_IDLE) {
        follow(s, lane, in, l, flit);
        return;
    }
    l->front = flit;
    l->count = 1;
    come_to_front(s, lane, in, l, s.now);
}

/* Mostly a flit is the first one of its lane, a head. */
LEAT_SIM_ALWAYS_INLINE void flits_come(struct step s)
{
    struct leat_net_vc_calendar *c = &s.vc->flits;
    const uint32_t ports = s.far ? s.region->ports_count : 0;
    uint32_t port = 0;
    for (struct leat_net_vc_due due = leat_net_vc_due(c, s.slot | s.row); due.end;
         due = leat_net_vc_due_more(c, due))
        for (uint32_t i = due.chunk + 1; i < due.end; i++) {
            if (s.far && i + STEPS_AHEAD < due.end) fetch_flit(s, c->record[i + STEPS_AHEAD]);
            if (port < ports) fetch_out(s, port++);
            flit_comes(s, (uint32_t)(c->record[i] >> 32), (uint32_t)c->record[i]);
        }
    while (port < ports)
        fetch_out(s, port++);
}

/* ---- a cycle --------------------------------------------------------------------------------- */

/* Bids are placed for the state at the beginning of the cycle, then granted; if both allocations
 * are in one cycle, channels are granted first. */
LEAT_SIM_ALWAYS_INLINE void act(struct step s)
{
    const uint64_t waited = s.vc->blocked + s.vc->sleepers;
    if (s.far && s.row + 1 < s.vc->regions) fetch_first(s, s.row + 1);
    credits_come(s);
    flits_come(s);
    const uint32_t channels = bid_for_channels(s);
    s.net->counts.waits += s.vc->blocked + s.vc->sleepers - waited;
    if (s.fused) grant_channels(s, channels);
    const uint32_t outs = bid_for_switch(s);
    if (!s.fused) grant_channels(s, channels);
    grant_outs(s, outs);
}

static void act_far(struct leat_net *net, uint32_t region)
{
    act(step_of(net, region, 2, true));
}

static void act_shift_2(struct leat_net *net, uint32_t region)
{
    act(step_of(net, region, 2, false));
}

static void act_usually(struct leat_net *net, uint32_t region)
{
    act(usually(step_of(net, region, 2, false)));
}

static void act_watched(struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    for (uint32_t r = 0; r < vc->regions; r++) {
        struct step s = step_of(net, r, vc->shift, vc->far);
        s.watched = true;
        act(s);
    }
}

static void act_any(struct leat_net *net, uint32_t region)
{
    const struct leat_net_vc *vc = net->state;
    act(step_of(net, region, vc->shift, vc->far));
}

void leat_net_vc_act(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    const struct step s = step_of(net, 0, vc->shift, vc->far);
    const bool usual = s.plain && !s.whole && !s.damages && !s.cuts && !s.fused;
    net->counts.waits += vc->blocked + vc->sleepers;
    if (net->watch) {
        act_watched(net);
        return;
    }
    for (uint32_t r = 0; r < vc->regions; r++)
        if (vc->shift != 2)
            act_any(net, r);
        else if (vc->far)
            act_far(net, r);
        else if (usual)
            act_usually(net, r);
        else
            act_shift_2(net, r);
}

void leat_net_vc_discard_flits(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < vc->discards_count; i++) {
        const uint32_t lane = vc->discards[i];
        const struct leat_net_vc_in *in = leat_net_vc_in_at(vc, lane >> vc->shift);
        const struct step s = step_of(net, leat_net_vc_region_of(vc, in->router), vc->shift, false);
        struct leat_net_vc_lane *l = leat_net_vc_lane_at(vc, lane);
        uint32_t flit = 0;
        leat_net_vc_doom(&vc->flights.flight[l->flight], (enum leat_net_fate)l->fate, net->now);
        if (l->count) {
            flit = take(s, lane, in, l);
            vc->inside--;
        }
        if (!(flit & LEAT_NET_VC_TAIL)) {
            vc->discards[kept++] = lane;
            continue;
        }
        leat_net_vc_end(vc, l->flight);
        l->state = LEAT_NET_VC_IDLE;
        if (l->count) come_to_front(s, lane, in, l, net->now + 1);
    }
    vc->discards_count = kept;
}
