/* Packets in flight: through half-routers, and into the ports of SANs. */
#include "leat_bytes.h"
#include "sim_packetway_parts.h"
#include <assert.h>
#include <string.h>

static const char down[] = "a router on its way is down";
const char leat_sim_packetway_port_down[] = "the port of its sender or receiver is down";
static const char refused[] = "a SAN refused the route of one of its packets";

/* ---- packets --------------------------------------------------------------------------------- */

static uint32_t *free_list(struct leat_sim_packetway *p, bool table)
{
    return table ? &p->free_table : &p->free_packet;
}

uint32_t leat_sim_packetway_take(struct leat_sim_packetway *p, uint32_t owner, uint32_t entry)
{
    uint32_t *list = free_list(p, p->node[owner].is_router);
    const uint32_t index = *list;
    if (!index) return PACKETWAY_NONE;
    struct leat_sim_packetway_packet *k = &p->packet[index - 1];
    *list = k->next;
    *k = (struct leat_sim_packetway_packet){
        .octets = k->octets, .owner = owner, .entry = entry, .from = owner, .used = true
    };
    return index;
}

void leat_sim_packetway_put_back(struct leat_sim_packetway *p, uint32_t packet)
{
    uint32_t *list = free_list(p, packet >= p->tables_at);
    p->packet[packet].used = false;
    p->packet[packet].next = *list;
    *list = packet + 1;
}

static uint32_t room(const struct leat_sim_packetway *p)
{
    return p->config.contention_free ? UINT32_MAX : p->config.buffer;
}

static void release_in(struct leat_sim_packetway *p, struct leat_sim_packetway_packet *k)
{
    if (!k->in_of) return;
    const uint32_t index = k->in_of - 1;
    struct leat_sim_packetway_node *n = &p->node[index];
    k->in_of = PACKETWAY_NONE;
    n->in_used--;
    if (!n->wait_first || n->credit_due) return;
    n->credit_due = true;
    leat_sim_packetway_plan(p, p->now + p->step_ps, packetway_group_node(index), index,
                            PACKETWAY_CREDIT);
}

static void enter(struct leat_sim_packetway *p, uint32_t packet);

/* Moves packets that wait in the router to the output, while there is room. */
static void serve_holds(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n)
{
    if (n->serves) return;
    n->serves = true;
    while (n->hold_first && (n->out_used < room(p) || n->dead)) {
        const uint32_t packet = n->hold_first - 1;
        n->hold_first = p->packet[packet].next;
        enter(p, packet);
    }
    n->serves = false;
}

static void release_out(struct leat_sim_packetway *p, struct leat_sim_packetway_packet *k)
{
    if (!k->out_of) return;
    struct leat_sim_packetway_node *n = &p->node[k->out_of - 1];
    k->out_of = PACKETWAY_NONE;
    n->out_used--;
    serve_holds(p, n);
}

void leat_sim_packetway_free(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    release_in(p, k);
    release_out(p, k);
    leat_sim_packetway_put_back(p, packet);
}

/* Ends the packet. */
void leat_sim_packetway_done(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const uint32_t owner = k->owner, entry = k->entry, copy = k->copy;
    const bool another_is = leat_sim_packetway_cut_off(p, k);
    leat_sim_packetway_free(p, packet);
    if (!entry) {
        p->node[owner].control--;
        leat_sim_packetway_pump(p, owner);
        return;
    }
    struct leat_sim_letter *letter = &p->entry[entry - 1].letter;
    if (--letter->held == 0 && letter->has_ended)
        leat_sim_post_free(&p->post, entry - 1);
    else if (!letter->held && p->entry[entry - 1].is_data)
        leat_sim_packetway_end_data(p, entry - 1);
    if (another_is) return;
    if (copy) {
        p->copies--;
        return;
    }
    p->node[owner].window--;
    leat_sim_packetway_kick(p, owner);
}

void leat_sim_packetway_drop(struct leat_sim_packetway *p, uint32_t packet, const char *why)
{
    const uint32_t entry = p->packet[packet].entry;
    if (entry) {
        p->counts.lost++;
        leat_sim_packetway_lose(p, entry - 1, why);
    }
    leat_sim_packetway_done(p, packet);
}

/* ---- into a SAN ------------------------------------------------------------------------------ */

void leat_sim_packetway_native_send(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    struct leat_sim_packetway_node *n = &p->node[k->from];
    struct leat_port_net *net = p->config.san[n->san].net;
    k->over_link = k->is_coming = k->went_on = k->is_cut = false;
    k->sent = p->warming;
    if (p->warming) { /* no time passes */
        leat_sim_packetway_plan(p, p->now, packetway_group_node(k->from), packet,
                                PACKETWAY_ARRIVED);
        return;
    }
    const struct leat_port_message message = { .from = n->port,
                                               .to = p->node[k->to].port,
                                               .id = packet,
                                               .octets = k->octets + k->at,
                                               .len = k->len };
    const leat_time at = p->now > net->now ? p->now : net->now;
    n->handed++;
    if (leat_port_send(net, &message, at)) return;
    n->handed--;
    k->sent = true;
    leat_sim_packetway_drop(p, packet, "a SAN has too many messages in flight");
}

/* Is there room at its next node? If not, the node waits for it. */
static bool reserve(struct leat_sim_packetway *p, uint32_t node,
                    struct leat_sim_packetway_packet *k)
{
    struct leat_sim_packetway_node *n = &p->node[node], *to = &p->node[k->to];
    if (!to->is_router) return true;
    if (to->dead || to->in_used < room(p)) {
        to->in_used++;
        k->in_of = k->to + 1;
        return true;
    }
    p->counts.waits++;
    n->waits = true;
    n->next_waiting = PACKETWAY_NONE;
    if (to->wait_first)
        p->node[to->wait_last - 1].next_waiting = node + 1;
    else
        to->wait_first = node + 1;
    to->wait_last = node + 1;
    return false;
}

static bool next_ready(struct leat_sim_packetway_node *n)
{
    uint64_t packet;
    if (!n->ready && n->is_router && leat_packetway_queue_pop(&n->out, &packet))
        n->ready = (uint32_t)packet + 1;
    return n->ready;
}

/* Passes ready packets to the SAN, while its port accepts them and the next node has room. */
void leat_sim_packetway_emit(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    while (!n->waits && n->handed < PACKETWAY_HANDED_MAX && next_ready(n)) {
        const uint32_t packet = n->ready - 1;
        if (n->dead) {
            n->ready = PACKETWAY_NONE;
            leat_sim_packetway_drop(p, packet, n->is_router ? down : leat_sim_packetway_port_down);
            continue;
        }
        if (!reserve(p, node, &p->packet[packet])) return;
        n->ready = PACKETWAY_NONE;
        p->counts.passed += n->is_router;
        p->counts.cut += p->packet[packet].behind != PACKETWAY_NONE;
        leat_sim_packetway_native_send(p, packet);
    }
    if (!n->is_router) leat_sim_packetway_kick(p, node);
}

static void emit_later(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    if (n->emit_due) return;
    n->emit_due = true;
    leat_sim_packetway_plan(p, p->now + p->step_ps, packetway_group_node(node), node,
                            PACKETWAY_EMIT);
}

/* There is room again. */
void leat_sim_packetway_credit(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    n->credit_due = false;
    while (n->wait_first && (n->in_used < room(p) || n->dead)) {
        const uint32_t waiting = n->wait_first - 1;
        n->wait_first = p->node[waiting].next_waiting;
        p->node[waiting].waits = false;
        leat_sim_packetway_emit(p, waiting);
    }
}

void leat_sim_packetway_sent(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    struct leat_sim_packetway_node *n = &p->node[k->from];
    k->sent = true;
    n->handed--;
    release_out(p, k);
    if (k->entry && k->last && !n->is_router && !p->entry[k->entry - 1].letter.why)
        leat_sim_packetway_note(p, k->entry - 1, true);
    emit_later(p, k->from);
}

/* ---- half-routers ---------------------------------------------------------------------------- */

static void watch(struct leat_sim_packetway *p, const struct leat_sim_packetway_packet *k,
                  const struct leat_sim_packetway_node *n,
                  const struct leat_packetway_routed *routed)
{
    const struct leat_sim_packetway_watch *w = &p->config.watch;
    if (!w->passes || !k->entry) return;
    const struct leat_sim_packetway_pass pass = {
        .router = n->router,
        .end = n->end,
        .decision = routed->decision,
        .id = p->entry[k->entry - 1].letter.message.id,
        .len = k->len,
        .error_seen = routed->error_seen,
        .first = k->first,
        .cut = k->is_cut && !k->is_vague,
        .copy = k->copy,
        .at = p->now,
    };
    w->passes(w->context, &pass);
}

/* The half-router with this address, in this router. */
static uint32_t find_twin(const struct leat_sim_packetway *p,
                          const struct leat_sim_packetway_node *n, uint32_t twin)
{
    const uint32_t address = leat_packetway_router_twin_at(n->as_router, twin);
    const struct leat_sim_packetway_router *r = &p->config.router[n->router];
    for (uint32_t i = 0; i < r->ends; i++) {
        const uint32_t node = packetway_node_at(p, r->end[i].san, r->end[i].port);
        if (p->node[node].address == address) return node;
    }
    return UINT32_MAX;
}

/* Forwards the packet to the output of this half-router, or to its twin. */
static void go_on(struct leat_sim_packetway *p, uint32_t packet, uint32_t node, leat_time cost,
                  enum leat_sim_packetway_step step)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    leat_time at = p->now + cost;
    k->ready_at = at;
    if (step == PACKETWAY_TWIN) k->lag += p->config.link_ps;
    if (step == PACKETWAY_OUT) at = leat_sim_packetway_cut_start(p, k, node, at);
    leat_sim_packetway_plan_or_park(p, packet, node, p->warming ? p->now : at, step);
}

/* Why it does not go on. */
static const char *why_not(const struct leat_packetway_decision *d)
{
    return d->verdict == LEAT_PACKETWAY_DELIVER ? "it is for a half-router, which takes no data"
                                                : leat_packetway_reason_text(d->reason);
}

void leat_sim_packetway_obey(struct leat_sim_packetway *p, uint32_t packet, uint32_t node,
                             const struct leat_packetway_arrival *arrival,
                             const struct leat_packetway_routed *routed)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const struct leat_sim_packetway_node *n = &p->node[node];
    const struct leat_packetway_decision *d = &routed->decision;
    const leat_time cost = d->layer2 ? p->config.planned_ps : p->config.address_ps;
    uint32_t to;
    watch(p, k, n, routed);
    if (d->verdict == LEAT_PACKETWAY_COPIES && k->entry) {
        leat_sim_packetway_copy(p, packet, node, arrival, routed);
        return;
    }
    if (!leat_packetway_goes_on(d)) {
        leat_sim_packetway_drop(p, packet, why_not(d));
        return;
    }
    if (d->verdict == LEAT_PACKETWAY_TO_SAN &&
        !leat_sim_packetway_resolve(&p->config.san[n->san].native, n->port, d->route, d->route_len,
                                    &to)) {
        leat_packetway_router_refused(n->as_router, arrival, k->octets + k->at, k->len,
                                      leat_sim_packetway_clock(p));
        leat_sim_packetway_drop(p, packet, refused);
        return;
    }
    k->at = (uint32_t)(routed->octets - k->octets) + d->consumed;
    k->len = routed->len - d->consumed;
    k->priority = d->priority;
    k->from = node;
    if (d->verdict == LEAT_PACKETWAY_TO_TWIN) {
        k->to = find_twin(p, n, d->twin);
        k->error = routed->error_seen;
        go_on(p, packet, node, cost + p->config.link_ps, PACKETWAY_TWIN);
    } else {
        leat_packetway_seal(k->octets + k->at, k->len, d->header_at - d->consumed,
                            routed->error_seen);
        k->to = packetway_node_at(p, n->san, to);
        go_on(p, packet, node, cost, PACKETWAY_OUT);
    }
}

enum leat_packetway_side leat_sim_packetway_side(const struct leat_sim_packetway *p,
                                                 const struct leat_sim_packetway_packet *k)
{
    if (k->over_link) return LEAT_PACKETWAY_FROM_TWIN;
    return p->node[k->from].is_router ? LEAT_PACKETWAY_FROM_BUDDY : LEAT_PACKETWAY_FROM_HOST;
}

void leat_sim_packetway_decide(struct leat_sim_packetway *p, uint32_t packet, uint32_t node)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const struct leat_sim_packetway_node *n = &p->node[node];
    const leat_time in_at = k->is_cut ? k->until : p->now; /* errors are known at its end */
    struct leat_packetway_arrival arrival = { .side = leat_sim_packetway_side(p, k) };
    struct leat_packetway_routed routed;
    if (k->over_link) {
        arrival.from = p->node[k->from].address;
        arrival.error_seen = k->error;
    } else {
        arrival.error_seen = k->entry && leat_sim_packetway_sees_errors(p, n->router, in_at);
    }
    leat_packetway_router_input(n->as_router, &arrival, k->octets + k->at, k->len,
                                leat_sim_packetway_clock(p), &routed);
    leat_sim_packetway_obey(p, packet, node, &arrival, &routed);
    leat_sim_packetway_pump(p, node);
}

/* Queues it for the SAN. */
static void join(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    uint64_t dropped;
    if (packetway_is_control(k)) {
        leat_sim_packetway_native_send(p, packet);
        return;
    }
    /* Never full: only packets with room come here. */
    leat_packetway_queue_push(&p->node[k->from].out, k->priority, packet, &dropped);
    leat_sim_packetway_emit(p, k->from);
}

/* A packet reaches the output side of a half-router: its twin's, or its own. */
static void enter(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const uint32_t node = k->over_link ? k->to : k->from;
    struct leat_sim_packetway_node *n = &p->node[node];
    if (n->dead) {
        leat_sim_packetway_drop(p, packet, down);
        return;
    }
    if (!packetway_is_control(k) && !k->out_of) {
        if (n->out_used >= room(p)) {
            p->counts.waits++;
            k->next = PACKETWAY_NONE;
            if (n->hold_first)
                p->packet[n->hold_last - 1].next = packet + 1;
            else
                n->hold_first = packet + 1;
            n->hold_last = packet + 1;
            return;
        }
        n->out_used++;
        k->out_of = node + 1;
        k->is_out = true;
        release_in(p, k);
    }
    if (!k->over_link) {
        join(p, packet);
        return;
    }
    const leat_time known_at = leat_sim_packetway_cut_known(p, k, node);
    if (known_at <= p->now)
        leat_sim_packetway_decide(p, packet, node);
    else
        leat_sim_packetway_plan_or_park(p, packet, node, known_at, PACKETWAY_TWIN);
}

/* The time that it shared with the one before it counts once. */
void leat_sim_packetway_count_crossing(struct leat_sim_packetway *p, uint32_t from, uint32_t to)
{
    struct leat_sim_packetway_link *link = leat_sim_packetway_link(
        p, p->node[to].router, p->node[from].end, p->node[to].end);
    link->packets++;
    link->busy_ps += leat_smaller(p->config.link_ps, p->now - link->last_at);
    link->last_at = p->now;
}

void leat_sim_packetway_twin(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    if (!k->over_link) /* else it has waited here for more of its octets */
        leat_sim_packetway_count_crossing(p, k->from, k->to);
    k->over_link = true;
    enter(p, packet);
}

void leat_sim_packetway_out(struct leat_sim_packetway *p, uint32_t packet)
{
    p->packet[packet].over_link = false;
    enter(p, packet);
}

void leat_sim_packetway_arrived(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const struct leat_sim_packetway_node *n = &p->node[k->to];
    uint8_t *tail = k->octets + k->at + k->len - LEAT_PACKETWAY_WORD_LEN;
    if (!k->sent) leat_sim_packetway_sent(p, packet);
    k->error = k->is_coming = k->is_out = false;
    k->lag = 0;
    if (k->spoilt) leat_put_be64(tail, leat_get_be64(tail) | k->spoilt);
    if (k->went_on)
        leat_sim_packetway_cut_ends(p, packet, !n->dead);
    else if (!n->is_router && n->dead)
        leat_sim_packetway_drop(p, packet, leat_sim_packetway_port_down);
    else if (!n->is_router)
        leat_sim_packetway_at_host(p, packet);
    else if (n->dead)
        leat_sim_packetway_drop(p, packet, down);
    else
        leat_sim_packetway_decide(p, packet, k->to);
}

void leat_sim_packetway_lost(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    if (!k->sent) leat_sim_packetway_sent(p, packet);
    k->is_coming = false;
    if (k->went_on)
        leat_sim_packetway_cut_ends(p, packet, false);
    else
        leat_sim_packetway_drop(p, packet, "one of its packets was lost in a SAN");
}

/* ---- messages of nodes themselves ------------------------------------------------------------ */

static void count_control(struct leat_sim_packetway *p, const uint8_t *octets)
{
    const uint16_t te = leat_get_be16(octets + LEAT_PACKETWAY_TE_AT),
                   pt = leat_get_be16(octets + LEAT_PACKETWAY_PT_AT);
    p->counts.control++;
    p->counts.tables += pt == LEAT_PACKETWAY_PT_RRP && te == LEAT_PACKETWAY_TE_RTBL;
    p->counts.failures += pt == LEAT_PACKETWAY_PT_ERR &&
                          (te == LEAT_PACKETWAY_TE_HRDOWN || te == LEAT_PACKETWAY_TE_LINKDOWN);
}

/* Copies octets of the engine into a packet of its own: each node has
 * LEAT_SIM_PACKETWAY_CONTROL. */
static uint32_t wrap(struct leat_sim_packetway *p, uint32_t node, const uint8_t *octets,
                     uint32_t len)
{
    const uint32_t index = leat_sim_packetway_take(p, node, PACKETWAY_NONE);
    const uint32_t words = p->node[node].is_router ? p->link_words : p->mtu_most;
    assert(index && len <= words * LEAT_PACKETWAY_WORD_LEN);
    memcpy(p->packet[index - 1].octets, octets, len);
    p->packet[index - 1].len = len;
    p->node[node].control++;
    count_control(p, octets);
    return index - 1;
}

static bool pump_host(struct leat_sim_packetway *p, uint32_t node)
{
    const struct leat_sim_packetway_node *n = &p->node[node];
    const struct leat_sim_packetway_san *san = &p->config.san[n->san];
    struct leat_packetway_host_outgoing out;
    if (!leat_packetway_host_take(n->as_host, &out)) return false;
    const uint32_t port = out.to - san->bias - 1;
    if (port >= san->net->ports) return true;
    const uint32_t packet = wrap(p, node, out.octets, out.len);
    p->packet[packet].to = packetway_node_at(p, n->san, port);
    go_on(p, packet, node, p->step_ps, PACKETWAY_NATIVE);
    return true;
}

static bool pump_router(struct leat_sim_packetway *p, uint32_t node)
{
    const struct leat_sim_packetway_node *n = &p->node[node];
    struct leat_packetway_outgoing out;
    uint32_t to = 0;
    if (!leat_packetway_router_take(n->as_router, leat_sim_packetway_clock(p), &out)) return false;
    const bool link = out.verdict == LEAT_PACKETWAY_TO_TWIN;
    if (!link && !leat_sim_packetway_resolve(&p->config.san[n->san].native, n->port, out.route,
                                             out.route_len, &to))
        return true;
    const uint32_t packet = wrap(p, node, out.octets, out.len);
    p->packet[packet].to = link ? find_twin(p, n, out.twin) : packetway_node_at(p, n->san, to);
    go_on(p, packet, node, link ? p->step_ps + p->config.link_ps : p->step_ps,
          link ? PACKETWAY_TWIN : PACKETWAY_NATIVE);
    return true;
}

void leat_sim_packetway_pump(struct leat_sim_packetway *p, uint32_t node)
{
    const struct leat_sim_packetway_node *n = &p->node[node];
    if (n->is_router && p->registering) return;
    if (n->is_router && p->config.watch.learns)
        p->config.watch.learns(p->config.watch.context, n->router, n->end);
    while (n->control < LEAT_SIM_PACKETWAY_CONTROL && !n->dead)
        if (!(n->is_router ? pump_router : pump_host)(p, node)) break;
}
