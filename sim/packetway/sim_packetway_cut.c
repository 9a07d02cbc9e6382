/* Cut-through: packets that are forwarded before all of them has arrived (spec 5.8). */
#include "sim_packetway_parts.h"
#include <string.h>

enum { DECISION_LEN = 4 }; /* octets that any decision needs */

/* When this many octets have arrived, counted from the present front. */
static leat_time comes_by(const struct leat_sim_packetway_packet *k, uint32_t octets)
{
    const uint64_t count = (uint64_t)k->at - k->whole_at + octets;
    if (k->is_vague) return count <= LEAT_PORT_HEAD_LEN ? k->since : k->until;
    if (count >= k->whole) return k->until;
    return k->since + (k->until - k->since) * count / k->whole;
}

/* Is it simply forwarded? Not if its SAN would refuse it: an ERR waits for the whole packet. */
static bool goes_on(const struct leat_sim_packetway *p, const struct leat_sim_packetway_node *n,
                    const struct leat_packetway_decision *d)
{
    uint32_t to;
    return leat_packetway_goes_on(d) &&
           (d->verdict != LEAT_PACKETWAY_TO_SAN ||
            leat_sim_packetway_resolve(&p->config.san[n->san].native, n->port, d->route,
                                       d->route_len, &to));
}

/* How many octets the half-router must see before it forwards the packet; all: it is stored. */
static uint32_t needed(const struct leat_sim_packetway *p,
                       const struct leat_sim_packetway_packet *k, uint32_t node)
{
    const struct leat_sim_packetway_node *from = &p->node[k->from], *n = &p->node[node];
    const struct leat_packetway_fib *fib = leat_packetway_router_fib(n->as_router);
    const enum leat_packetway_side side = leat_sim_packetway_side(p, k);
    struct leat_packetway_decision d;
    for (uint32_t seen = DECISION_LEN, need; seen <= k->len; seen = need) {
        need = leat_packetway_cut_through(fib, side, k->octets + k->at, seen,
                                          p->config.san[from->san].mtu_words, &d);
        if (!need) return goes_on(p, n, &d) ? seen : LEAT_PACKETWAY_ALL;
    }
    return LEAT_PACKETWAY_ALL;
}

/* The part of a packet that has arrived departs as another, and the rest follows. */
static void part(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const uint32_t index = leat_sim_packetway_take(p, k->owner, k->entry);
    struct leat_sim_packetway_packet *c = &p->packet[index - 1]; /* cuts_max reserves one for it */
    memcpy(c->octets + k->at, k->octets + k->at, k->len);
    c->at = c->whole_at = k->at;
    c->len = c->whole = k->len;
    c->first = k->first;
    c->copy = k->copy;
    c->from = k->from;
    c->to = k->to;
    c->since = k->since;
    c->until = k->until;
    c->is_vague = k->is_vague;
    c->spoilt = k->spoilt << 1;
    c->is_cut = true;
    c->behind = packet + 1;
    k->onward = index;
    k->went_on = true;
    p->entry[k->entry - 1].letter.held++;
    p->cuts++;
    leat_sim_packetway_decide(p, index - 1, k->to);
}

void leat_sim_packetway_head(struct leat_sim_packetway *p, uint32_t packet)
{
    const struct leat_sim_packetway_packet *k = &p->packet[packet];
    if (!k->is_coming || k->went_on || p->node[k->to].dead) return;
    const uint32_t octets = needed(p, k, k->to);
    if (octets == LEAT_PACKETWAY_ALL) return;
    const leat_time at = comes_by(k, octets);
    if (at == LEAT_NEVER) return;
    if (at > p->now)
        leat_sim_packetway_plan(p, at, packetway_group_node(k->to), packet, PACKETWAY_HEAD);
    else if (p->cuts < p->cuts_max)
        part(p, packet);
}

/* Each router on the route shifts EI. */
static void spoil(struct leat_sim_packetway *p, uint32_t packet)
{
    for (uint64_t bit = 1; packet; bit <<= 1) {
        p->packet[packet - 1].spoilt |= bit;
        packet = p->packet[packet - 1].onward;
    }
}

void leat_sim_packetway_cut_ends(struct leat_sim_packetway *p, uint32_t packet, bool sound)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    if (!k->onward) {
        leat_sim_packetway_done(p, packet);
        return;
    }
    const uint32_t onward = k->onward, router = p->node[k->to].router;
    struct leat_sim_packetway_packet *c = &p->packet[onward - 1];
    const bool late = c->until == LEAT_NEVER; /* the time of the end was unknown */
    if (!sound || (late && leat_sim_packetway_sees_errors(p, router, p->now))) spoil(p, onward);
    if (!c->is_out) { /* it waits for room there, and has occupied none so far */
        c->in_of = k->in_of;
        k->in_of = PACKETWAY_NONE;
    }
    c->behind = PACKETWAY_NONE; /* from now on it represents both */
    p->entry[k->entry - 1].letter.held--;
    p->cuts--;
    leat_sim_packetway_free(p, packet);
    if (late) c->until = p->now;
    if (!c->is_parked) return;
    c->is_parked = false;
    const uint32_t node = c->step == PACKETWAY_OUT ? c->from : c->to;
    leat_sim_packetway_plan(p, leat_larger(c->ready_at, c->until + c->lag),
                            packetway_group_node(node), onward - 1,
                            (enum leat_sim_packetway_step)c->step);
}

bool leat_sim_packetway_cut_off(struct leat_sim_packetway *p, struct leat_sim_packetway_packet *k)
{
    if (!k->behind) return false;
    p->packet[k->behind - 1].onward = PACKETWAY_NONE;
    p->cuts--;
    return true;
}

leat_time leat_sim_packetway_cut_known(const struct leat_sim_packetway *p,
                                       struct leat_sim_packetway_packet *k, uint32_t node)
{
    if (!k->is_cut) return p->now;
    const uint32_t octets = needed(p, k, node);
    leat_time at = octets == LEAT_PACKETWAY_ALL ? LEAT_NEVER : comes_by(k, octets);
    if (at == LEAT_NEVER) {
        k->is_cut = false;
        at = k->until;
    }
    return at == LEAT_NEVER ? LEAT_NEVER : at + k->lag;
}

void leat_sim_packetway_plan_or_park(struct leat_sim_packetway *p, uint32_t packet, uint32_t node,
                                     leat_time at, enum leat_sim_packetway_step step)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    if (at != LEAT_NEVER) {
        leat_sim_packetway_plan(p, at, packetway_group_node(node), packet, step);
        return;
    }
    k->is_parked = true;
    k->step = (uint8_t)step;
}

/* The earliest start at which the SAN does not need the piece-th of its pieces before it has
 * arrived, and a word after it. */
static leat_time start_for(const struct leat_sim_packetway_packet *k,
                           const struct leat_port_net *net, uint32_t piece)
{
    const uint32_t octets = (piece + 1) * net->taken_octets + LEAT_PACKETWAY_WORD_LEN;
    const leat_time there_at = comes_by(k, octets) + k->lag, wanted = piece * net->taken_ps;
    return there_at > wanted ? there_at - wanted : 0;
}

/* Octets arrive and leave evenly, so that the first piece, or the last ones, are critical: the
 * first that is complete only when everything has arrived, and the one before it. */
leat_time leat_sim_packetway_cut_start(const struct leat_sim_packetway *p,
                                       const struct leat_sim_packetway_packet *k, uint32_t node,
                                       leat_time at)
{
    const struct leat_port_net *net = p->config.san[p->node[node].san].net;
    if (!k->is_cut) return at;
    if (k->until == LEAT_NEVER) return LEAT_NEVER;
    if (k->is_vague || !net->taken_ps) return leat_larger(at, k->until + k->lag);
    const uint32_t end = (k->len - LEAT_PACKETWAY_WORD_LEN - 1) / net->taken_octets;
    at = leat_larger(at, leat_larger(start_for(k, net, 0), start_for(k, net, end)));
    return end ? leat_larger(at, start_for(k, net, end - 1)) : at;
}
