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

/* The word of one of the sets of its router that has the lane, and its bit there. */
static uint64_t *word_of(const struct leat_net_vc *vc, uint64_t *set, uint32_t lane, uint64_t *bit)
{
    const struct leat_net_vc_in *in = &vc->in[lane >> vc->shift];
    const uint32_t place = (uint32_t)in->port << vc->shift | (lane & vc->mask);
    *bit = UINT64_C(1) << place % 64;
    return &set[(size_t)in->router * vc->words + place / 64];
}

static void stop_asking(const struct leat_net_vc *vc, uint32_t lane)
{
    uint64_t bit, *word = word_of(vc, vc->asking, lane, &bit);
    *word &= ~bit;
}

static void fall_asleep(struct leat_net *net, uint32_t lane, bool hungry)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_router *router = &vc->router[vc->in[lane >> vc->shift].router];
    uint64_t bit, *word = word_of(vc, vc->sleeping, lane, &bit);
    stop_asking(vc, lane);
    *word |= bit;
    router->sleepers++;
    router->hungry |= hungry;
    vc->sleepers++;
    net->counts.waits++;
}

void leat_net_vc_rouse(struct leat_net_vc *vc, uint32_t router)
{
    struct leat_net_vc_router *r = &vc->router[router];
    const size_t first = (size_t)router * vc->words;
    if (!r->sleepers) return;
    for (size_t w = first; w < first + vc->words; w++) {
        vc->asking[w] |= vc->sleeping[w];
        vc->sleeping[w] = 0;
    }
    vc->sleepers -= r->sleepers;
    r->sleepers = 0;
    r->hungry = false;
    leat_net_vc_list(vc, router);
}

/* The packet at the front of the lane is lost; its fate is reported with the first flit that is
 * dropped. */
static void discard(struct leat_net *net, uint32_t lane, enum leat_net_fate fate)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_lane *l = &vc->lane[lane];
    stop_asking(vc, lane);
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
    return net->broken_wires && net->out_broken[vc->router[router].out_first + port];
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

void leat_net_vc_ask(struct leat_net *net, uint32_t lane, uint32_t head, uint32_t hops)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_lane *l = &vc->lane[lane];
    struct leat_net_flight *flight = leat_net_vc_flight(vc, head);
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    const uint32_t router = vc->in[lane >> vc->shift].router;
    uint8_t detour;
    const uint32_t options = ask_options(net, router, flight, option, &detour);
    l->channels = 0;
    if (options == 1 && !is_broken(net, router, option[0].port)) {
        l->channels = option[0].channels;
        l->port = (uint16_t)option[0].port;
        l->phase = (option[0].phase ^ flight->route.phase) | detour;
    }
    flight->hops += hops;
    l->state = LEAT_NET_VC_ASKS;
    leat_net_vc_put(vc, vc->asking, lane);
}

static bool holds_tail(const struct leat_net_vc *vc, uint32_t lane)
{
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    for (uint32_t i = 0; i < l->count; i++)
        if (vc->flit[(l->first + i) % vc->buffer * (size_t)vc->lanes + lane] & LEAT_NET_VC_TAIL)
            return true;
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
    if (leat_net_damages(net, leat_net_vc_way(&vc->lane[lane]) >> vc->shift, &flight->packet,
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
        const uint32_t out = vc->router[router].out_first + option[i].port;
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

static struct offer offer_of(struct leat_net *net, uint32_t lane, uint32_t out_first)
{
    const struct leat_net_vc *vc = net->state;
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    uint32_t need = 0;
    if (vc->whole) need = leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane))->packet.flits;
    if (!l->channels) return offer_of_many(net, lane, need);
    const uint32_t out = out_first + l->port;
    return (struct offer){
        .channels = usable(net, out, l->channels, need),
        .way = true,
        .free = (l->channels & ~vc->out[out].taken) != 0,
    };
}

/* The working set of a router. Pointers to its parts of the engine's arrays, held where the
 * compiler sees that no store changes them; ports, lanes and channels are counted within the
 * router. */
struct bench {
    struct leat_net *net;
    struct leat_net_vc *vc;
    struct leat_net_vc_in *in;
    struct leat_net_vc_lane *lane;
    struct leat_net_vc_out *out;
    struct leat_net_vc_ahead *ahead;
    uint64_t *asking, *able;
    uint32_t shift, mask; /* constants, in most instances of the code */
    bool whole;           /* likewise */
    uint32_t lane_first, out_first;
};

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
LEAT_SIM_ALWAYS_INLINE uint32_t choose_channel(const struct bench *b, uint32_t lane)
{
    const struct leat_net_vc_lane *l = &b->lane[lane];
    struct offer offer = { .way = true };
    if (l->channels && !b->whole)
        offer.channels = l->channels & ~b->out[l->port].taken;
    else
        offer = offer_of(b->net, b->lane_first + lane, b->out_first);
    if (!offer.channels) {
        refuse(b->net, b->lane_first + lane, offer);
        return LEAT_NET_NONE;
    }
    const uint32_t base = (b->out_first + l->port) << b->shift;
    const uint32_t later = from_on(offer.channels, l->next > base ? l->next - base : 0);
    return (uint32_t)l->port << b->shift | leat_sim_agenda_lowest(later ? later : offer.channels);
}

struct bids {
    uint16_t *bid, *bidden;
    uint32_t count;
};

/* Among those that want the same resource, the one whose turn it is. */
LEAT_SIM_ALWAYS_INLINE void place_bid(struct bids *bids, uint32_t what, uint32_t bidder,
                                      uint16_t turn)
{
    const uint16_t rival = bids->bid[what];
    if (!rival)
        bids->bidden[bids->count++] = (uint16_t)what;
    else if (behind(bidder, turn) > behind(rival - 1u, turn))
        return;
    bids->bid[what] = (uint16_t)(bidder + 1);
}

LEAT_SIM_ALWAYS_INLINE void bid_for_channels(const struct bench *b, uint32_t word,
                                             struct bids *bids)
{
    for (uint64_t set = b->asking[word]; set; set &= set - 1) {
        const uint32_t lane = word * 64 + leat_sim_agenda_lowest(set);
        const uint32_t what = choose_channel(b, lane);
        if (what != LEAT_NET_NONE) place_bid(bids, what, lane, b->ahead[what].next);
    }
}

LEAT_SIM_ALWAYS_INLINE void grant_channel(const struct bench *b, uint32_t what, uint32_t lane)
{
    struct leat_net_vc_lane *l = &b->lane[lane];
    struct leat_net_vc_ahead *ahead = &b->ahead[what];
    const uint64_t bit = UINT64_C(1) << lane % 64;
    if (l->phase) {
        const uint32_t flit = leat_net_vc_first_flit(b->vc, b->lane_first + lane);
        struct leat_net_route *route = &leat_net_vc_flight(b->vc, flit)->route;
        route->phase ^= l->phase & (LEAT_NET_VC_DETOUR - 1);
        if (l->phase & LEAT_NET_VC_DETOUR) route->rerouted = true;
    }
    l->state = LEAT_NET_VC_MOVES;
    l->next = (b->out_first << b->shift) + what + 1;
    b->out[what >> b->shift].taken |= UINT32_C(1) << (what & b->mask);
    ahead->next = (uint16_t)(lane + 1);
    b->asking[lane / 64] &= ~bit;
    if (ahead->used == b->vc->buffer) {
        b->vc->blocked++;
        b->net->counts.waits += b->vc->fused;
    } else {
        b->able[lane / 64] |= bit;
    }
}

/* ---- allocation of the switch ---------------------------------------------------------------- */

LEAT_SIM_ALWAYS_INLINE uint32_t out_of(const struct bench *b, uint32_t lane)
{
    return (leat_net_vc_way(&b->lane[lane]) >> b->shift) - b->out_first;
}

/* The lane of this input port that bids: by output port first, then by channel. Each has a number
 * that says how soon its turn is, so that no branch depends on the result. */
LEAT_SIM_ALWAYS_INLINE uint32_t choose_lane(const struct bench *b, uint32_t port, uint32_t able)
{
    const struct leat_net_vc_in *in = &b->in[port];
    const uint32_t base = port << b->shift;
    uint32_t soonest = UINT32_MAX;
    for (; able; able &= able - 1) {
        const uint32_t channel = leat_sim_agenda_lowest(able);
        const uint32_t distance = behind(out_of(b, base | channel), in->out_turn);
        const uint32_t passed = channel < in->channel_turn ? CHANNELS : 0;
        const uint32_t turn = distance << CHANNEL_BITS | (passed + channel);
        soonest = turn < soonest ? turn : soonest;
    }
    return base | (soonest & (CHANNELS - 1));
}

/* Each input port bids with one of its lanes. */
LEAT_SIM_ALWAYS_INLINE void bid_for_switch(const struct bench *b, uint32_t word, struct bids *bids)
{
    const uint64_t channels = (UINT64_C(2) << b->mask) - 1;
    uint64_t set = b->able[word];
    while (set) {
        uint32_t lane = word * 64 + leat_sim_agenda_lowest(set);
        const uint32_t port = lane >> b->shift, first = (port << b->shift) % 64;
        const uint64_t able = set >> first & channels;
        if (able & (able - 1)) lane = choose_lane(b, port, (uint32_t)able);
        const uint32_t out = out_of(b, lane);
        LEAT_NET_VC_PREFETCH(leat_net_vc_front_place(b->vc, b->lane_first + lane));
        /* Lanes of one port never compete here: their order is that of the ports. */
        place_bid(bids, out, lane, (uint16_t)(b->out[out].turn << b->shift));
        set &= ~(channels << first);
    }
}

/* A flit enters a wire to another part, or to a terminal: from there on it only needs time. */
static void launch_away(struct leat_net *net, const struct leat_net_vc_lane *l, uint32_t flit,
                        uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    const uint32_t way = leat_net_vc_way(l), flight = flit & LEAT_NET_VC_FLIGHT;
    const uint32_t to = vc->out[way >> vc->shift].to;
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

/* A flit passes the switch into its wire, and a credit returns. True: the lane can send again. */
LEAT_SIM_ALWAYS_INLINE bool pass(const struct bench *b, uint32_t lane, uint32_t port)
{
    struct leat_net_vc_lane *l = &b->lane[lane];
    struct leat_net_vc_out *out = &b->out[port];
    const uint32_t flit = leat_net_vc_take(b->net, b->vc, b->lane_first + lane);
    const uint32_t what = leat_net_vc_way(l) - (b->out_first << b->shift), channel = what & b->mask;
    const uint64_t at = b->net->now + out->cycles;
    b->net->out_flits[b->out_first + port]++;
    if (b->net->out_errors) damage(b->net, b->lane_first + lane, flit);
    if (out->to & LEAT_NET_VC_AWAY)
        launch_away(b->net, l, flit, at);
    else
        leat_net_vc_enter(&b->vc->flits, at, (uint64_t)(out->to | channel) << 32 | flit);
    const bool full = ++b->ahead[what].used == b->vc->buffer;
    if (!(flit & LEAT_NET_VC_TAIL)) {
        l->flight = flit & LEAT_NET_VC_FLIGHT;
        b->vc->blocked += full && l->count;
        return !full && l->count;
    }
    out->taken &= ~(UINT32_C(1) << channel);
    l->state = LEAT_NET_VC_IDLE;
    return false;
}

/* The tail has left: in the next cycle sleepers may get the channel, and the next head may
 * request. */
LEAT_SIM_ALWAYS_INLINE void succeed(const struct bench *b, uint32_t lane)
{
    const uint32_t router = b->in[0].router;
    if (b->lane[lane].state != LEAT_NET_VC_IDLE) return;
    if (b->vc->sleepers && b->vc->router[router].sleepers) leat_net_vc_rouse(b->vc, router);
    if (b->lane[lane].count)
        leat_net_vc_front(b->net, b->vc, b->lane_first + lane, b->net->now + 1);
}

LEAT_SIM_ALWAYS_INLINE void grant_switch(const struct bench *b, uint32_t out, uint32_t lane)
{
    const uint32_t port = lane >> b->shift;
    struct leat_net_vc_in *in = &b->in[port];
    in->out_turn = (uint16_t)(out + 1);
    in->channel_turn = (uint16_t)((lane & b->mask) + 1);
    b->out[out].turn = (uint16_t)(port + 1);
    if (pass(b, lane, out)) return;
    b->able[lane / 64] &= ~(UINT64_C(1) << lane % 64);
    succeed(b, lane);
}

/* ---- a cycle --------------------------------------------------------------------------------- */

LEAT_SIM_ALWAYS_INLINE void grant_channels(const struct bench *b, const struct bids *bids)
{
    for (uint32_t i = 0; i < bids->count; i++) {
        const uint32_t what = bids->bidden[i], lane = bids->bid[what] - 1u;
        bids->bid[what] = 0;
        grant_channel(b, what, lane);
    }
}

LEAT_SIM_ALWAYS_INLINE void grant_outs(const struct bench *b, const struct bids *bids)
{
    b->net->counts.flit_hops += bids->count;
    for (uint32_t i = 0; i < bids->count; i++) {
        const uint32_t out = bids->bidden[i], lane = bids->bid[out] - 1u;
        bids->bid[out] = 0;
        grant_switch(b, out, lane);
    }
}

/* Bids are placed for the state at the beginning of the cycle, then granted; if both allocations
 * are in one cycle, channels are granted first. Constant arguments become constants in the code.
 * True: there is more to do. */
LEAT_SIM_ALWAYS_INLINE bool step(struct leat_net *net, struct leat_net_vc *vc, uint32_t router,
                                 uint32_t shift, uint32_t words, bool fused, bool whole)
{
    const uint32_t in_first = vc->router[router].in_first, out_first = vc->router[router].out_first;
    const struct bench b = {
        .net = net,
        .vc = vc,
        .in = vc->in + in_first,
        .lane = vc->lane + ((size_t)in_first << shift),
        .out = vc->out + out_first,
        .ahead = vc->ahead + ((size_t)out_first << shift),
        .asking = vc->asking + (size_t)router * words,
        .able = vc->able + (size_t)router * words,
        .shift = shift,
        .mask = (UINT32_C(1) << shift) - 1,
        .whole = whole,
        .lane_first = in_first << shift,
        .out_first = out_first,
    };
    struct bids channels = { .bid = vc->channel_bid, .bidden = vc->channel_bidden };
    struct bids outs = { .bid = vc->port_bid, .bidden = vc->port_bidden };
    uint64_t any = 0;
    for (uint32_t w = 0; w < words; w++)
        bid_for_channels(&b, w, &channels);
    if (fused) grant_channels(&b, &channels);
    for (uint32_t w = 0; w < words; w++)
        bid_for_switch(&b, w, &outs);
    if (!fused) grant_channels(&b, &channels);
    grant_outs(&b, &outs);
    for (uint32_t w = 0; w < words; w++)
        any |= b.asking[w] | b.able[w];
    return any != 0;
}

bool leat_net_vc_step(struct leat_net *net, uint32_t router)
{
    struct leat_net_vc *vc = net->state;
    const bool usual = vc->words == 1 && !vc->fused && !vc->whole;
    switch (usual ? vc->shift : UINT32_MAX) {
    case 0: return step(net, vc, router, 0, 1, false, false);
    case 1: return step(net, vc, router, 1, 1, false, false);
    case 2: return step(net, vc, router, 2, 1, false, false);
    case 3: return step(net, vc, router, 3, 1, false, false);
    default: return step(net, vc, router, vc->shift, vc->words, vc->fused, vc->whole);
    }
}
