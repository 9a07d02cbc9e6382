/*
 * Which packets of a network in lockstep can never move? The answer is that of net_vc_stuck.c, in
 * the same way: at first all busy lanes are marked as doomed. One that could move, now or after
 * others that are not doomed have moved, is unmarked, until nothing changes. Each of those that
 * remain waits for another of them, so they lead into a cycle.
 */
#include "net_lockstep.h"

#define NOBODY UINT32_MAX /* a lane: it can move, or may be able to */

/* The words of a network, as this search reads them. */
struct words {
    const struct leat_net_topology *topology;
    const struct leat_net_lockstep_plan *plan;
    const uint32_t *set;
    const struct leat_net_lockstep_lane *lane;
    const struct leat_net_lockstep_port_in *port_in;
    const struct leat_net_lockstep_port_out *port_out;
    const struct leat_net_lockstep_ahead *ahead;
    const struct leat_net_lockstep_loss *loss; /* NULL: there are no faults */
    const uint32_t *buffers;
    const struct leat_net_lockstep_packet *packet;
    uint8_t *doomed;
};

static struct words words_of(const struct leat_net *net, const uint32_t *plan,
                             const uint32_t *state, const uint32_t *store, uint8_t *doomed)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    return (struct words){
        .topology = net->topology,
        .plan = p,
        .set = plan + p->set,
        .lane = (const void *)(state + p->lane),
        .port_in = (const void *)(state + p->port_in),
        .port_out = (const void *)(state + p->port_out),
        .ahead = (const void *)(state + p->ahead),
        .loss = p->outages > 1 ? (const void *)(state + p->loss) : NULL,
        .buffers = store + p->buffers,
        .packet = (const void *)(store + p->packet),
        .doomed = doomed,
    };
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* Of its port. */
static uint32_t channel_of(const struct words *w, uint32_t lane)
{
    return lane & ((UINT32_C(1) << w->plan->shift) - 1);
}

static uint32_t flit_at(const struct words *w, uint32_t lane, uint32_t i)
{
    const uint32_t place = w->lane[lane].first + i, buffer = w->plan->buffer;
    return w->buffers[lane * buffer + (place < buffer ? place : place - buffer)];
}

static const struct leat_net_lockstep_packet *packet_at(const struct words *w, uint32_t lane)
{
    return &w->packet[flit_at(w, lane, 0) & LEAT_NET_LOCKSTEP_PACKET];
}

static bool holds_tail(const struct words *w, uint32_t lane)
{
    for (uint32_t i = 0; i < w->lane[lane].count; i++)
        if (flit_at(w, lane, i) & LEAT_NET_LOCKSTEP_TAIL) return true;
    return false;
}

/* ---- who blocks it: a doomed lane, or nobody ------------------------------------------------- */

static uint32_t if_doomed(const struct words *w, uint32_t lane)
{
    return w->doomed[lane] ? lane : NOBODY;
}

/* Are no flits or credits under way between the two ends of this channel? */
static bool is_settled(const struct words *w, uint32_t channel, uint32_t lane)
{
    return w->ahead[channel].used == w->lane[lane].count;
}

static bool is_taken(const struct words *w, uint32_t channel)
{
    return w->port_out[channel >> w->plan->shift].taken >> channel_of(w, channel) & 1;
}

/* The lane that holds this channel of an output port. */
static uint32_t holder_of(const struct words *w, uint32_t channel)
{
    const uint32_t shift = w->plan->shift, router = w->topology->out_router[channel >> shift];
    return (w->topology->in_first[router] << shift) + w->ahead[channel].next - 1;
}

/* The packet's next flits are still to come: from where? */
static uint32_t blocker_behind(const struct words *w, uint32_t lane)
{
    const uint32_t shift = w->plan->shift, from = w->topology->in_from[lane >> shift];
    if (from & LEAT_NET_TERMINAL) return NOBODY;
    const uint32_t channel = (from << shift) + channel_of(w, lane);
    if (!is_settled(w, channel, lane) || !is_taken(w, channel)) return NOBODY;
    return if_doomed(w, holder_of(w, channel));
}

/* It needs room for so many flits after this channel. */
static uint32_t blocker_ahead(const struct words *w, uint32_t channel, uint32_t need)
{
    const uint32_t shift = w->plan->shift, to = w->topology->out_to[channel >> shift];
    if (to & LEAT_NET_TERMINAL) return NOBODY;
    const uint32_t lane = (to << shift) + channel_of(w, channel);
    if (w->plan->buffer - w->ahead[channel].used >= need || !is_settled(w, channel, lane))
        return NOBODY;
    return if_doomed(w, lane);
}

/* It needs one of these channels, and then room after it. */
static uint32_t blocker_of_head(const struct words *w, uint32_t out_first, uint32_t lane)
{
    const struct leat_net_lockstep_lane *l = &w->lane[lane];
    const uint32_t out = out_first + l->port;
    const uint32_t need = w->plan->whole ? packet_at(w, lane)->flits : 1;
    uint32_t first = NOBODY;
    for (uint32_t set = w->set[l->set]; set; set &= set - 1) {
        const uint32_t channel = (out << w->plan->shift) + leat_device_lowest(set);
        uint32_t blocker = NOBODY;
        if (is_taken(w, channel)) blocker = if_doomed(w, holder_of(w, channel));
        if (blocker == NOBODY) blocker = blocker_ahead(w, channel, need);
        if (blocker == NOBODY) return NOBODY;
        if (first == NOBODY) first = blocker;
    }
    return first;
}

static uint32_t blocker_of(const struct words *w, uint32_t lane)
{
    const uint32_t shift = w->plan->shift, in = lane >> shift;
    const uint32_t bit = UINT32_C(1) << channel_of(w, lane);
    const uint32_t out_first = w->topology->out_first[w->topology->in_router[in]];
    const struct leat_net_lockstep_port_in *port = &w->port_in[in];
    if (w->loss && w->loss[in].discards & bit) return NOBODY;
    if (port->asking & bit) return blocker_of_head(w, out_first, lane);
    if (port->early & bit)
        return w->plan->stores && !holds_tail(w, lane) ? blocker_behind(w, lane) : NOBODY;
    if (!(port->moving & bit)) return NOBODY;
    const uint32_t way = (out_first << shift) + w->lane[lane].next - 1;
    return w->lane[lane].count ? blocker_ahead(w, way, 1) : blocker_behind(w, lane);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static uint32_t mark_busy(const struct words *w)
{
    const uint32_t shift = w->plan->shift;
    uint32_t marked = 0;
    for (uint32_t lane = 0; lane < w->plan->ins << shift; lane++) {
        const struct leat_net_lockstep_port_in *port = &w->port_in[lane >> shift];
        const uint32_t busy = port->asking | port->early | port->moving;
        marked += w->doomed[lane] = busy >> channel_of(w, lane) & 1;
    }
    return marked;
}

/* How many remain. Every other pass goes backwards, so that long chains are resolved at once. */
static uint32_t find_doomed(const struct words *w)
{
    const uint32_t lanes = w->plan->ins << w->plan->shift;
    uint32_t doomed = mark_busy(w), saved;
    bool backwards = false;
    do {
        saved = 0;
        for (uint32_t i = 0; i < lanes; i++) {
            const uint32_t lane = backwards ? lanes - 1 - i : i;
            if (!w->doomed[lane] || blocker_of(w, lane) != NOBODY) continue;
            w->doomed[lane] = 0;
            saved++;
        }
        doomed -= saved;
        backwards = !backwards;
    } while (saved && doomed);
    return doomed;
}

static struct leat_net_waiting waiting_in(const struct words *w, uint32_t lane)
{
    const uint32_t in = lane >> w->plan->shift, router = w->topology->in_router[in];
    const struct leat_net_lockstep_packet *packet = packet_at(w, lane);
    return (struct leat_net_waiting){
        .router = router,
        .in = in - w->topology->in_first[router],
        .channel = channel_of(w, lane),
        .source = packet->source,
        .destination = packet->destination,
    };
}

uint32_t leat_net_lockstep_stuck(const struct leat_net *net, const uint32_t *plan,
                                 const uint32_t *state, const uint32_t *store, uint8_t *doomed,
                                 struct leat_net_waiting *out, uint32_t cap)
{
    const struct words w = words_of(net, plan, state, store, doomed);
    const uint32_t remain = find_doomed(&w);
    uint32_t lane = 0, found = 0;
    if (!remain) return 0;
    while (!doomed[lane])
        lane++;
    for (uint32_t i = 0; i < remain; i++) /* certainly into the cycle */
        lane = blocker_of(&w, lane);
    const uint32_t first = lane;
    do { /* an empty lane only shows that its packet waits further back */
        if (w.lane[lane].count && found++ < cap) out[found - 1] = waiting_in(&w, lane);
        lane = blocker_of(&w, lane);
    } while (lane != first);
    return found;
}
