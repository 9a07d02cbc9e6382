/* A cycle of a switch: flits move from the stages of its inputs into queues, and leave them. */
#include "net_queue_parts.h"

struct step {
    struct leat_net *net;
    struct leat_net_queues *q;
    const struct leat_net_topology *topology;
    uint64_t now;
    uint32_t router, out_first, in_first, ins;
    uint64_t waits; /* heads that found no room ahead */
    bool moved;
};

/* The bit of an input among the offers to an output. */
static uint32_t lane_of(const struct leat_net *net, uint32_t in)
{
    const bool one = net->config.architecture == LEAT_NET_SWITCH_OUTPUT ||
                     net->config.architecture == LEAT_NET_SWITCH_SHARED;
    return one ? 0 : in;
}

static struct leat_net_queue_list *queue_of(const struct step *s, uint32_t lane, uint32_t out)
{
    return &s->q->queue[leat_net_queue_has_heads(s->net) ? s->in_first + lane
                                                         : s->q->lane_first[out] + lane];
}

static void set_bit(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void clear_bit(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

/* The queue of this lane has a flit at its head for `out`. */
static void offer(struct step *s, uint32_t lane, uint32_t out)
{
    set_bit(s->q->offers + (size_t)out * s->q->words, lane);
    set_bit(s->q->wanted + (size_t)s->router * s->q->words, out - s->out_first);
}

static void withdraw(struct step *s, uint32_t lane, uint32_t out)
{
    uint64_t *offers = s->q->offers + (size_t)out * s->q->words;
    clear_bit(offers, lane);
    if (leat_net_queue_bit(offers, s->q->words, 0) == LEAT_NET_NONE)
        clear_bit(s->q->wanted + (size_t)s->router * s->q->words, out - s->out_first);
}

/* ---- entering ------------------------------------------------------------------------------ */

/* The head chooses the route of its packet: among intact wires the one with the shortest queue, the
 * first of these. */
static uint32_t choose(struct step *s, struct leat_net_course *course)
{
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    const uint32_t options = leat_net_route_options(s->net->routing, s->router, &course->route,
                                                    option);
    uint32_t best = LEAT_NET_NONE;
    for (uint32_t i = 0; i < options; i++) {
        const uint32_t out = s->out_first + option[i].port;
        if (s->net->out_broken[out]) continue;
        if (best != LEAT_NET_NONE && s->q->out_flits[out] >= s->q->out_flits[best]) continue;
        best = out;
        course->route.phase = option[i].phase;
    }
    course->hops++;
    return best;
}

/*
 * All outputs share the whole memory. If flits wait for room, each output keeps one place of it for
 * itself (Kamoun and Kleinrock 1980: a minimum allocation). Otherwise two full memories, each with
 * only flits for the other, would wait for ever, even if the routes are acyclic.
 */
static bool shared_has_room(const struct leat_net *net, uint32_t router, uint32_t out)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t outs = q->router_outs[router], kept = outs - q->router_busy[router];
    if (q->credited && !q->out_flits[out]) return true;
    return q->router_flits[router] + (q->credited ? kept : 0) <
           (uint64_t)net->config.buffer_flits * outs;
}

bool leat_net_queue_has_room(const struct leat_net *net, uint32_t in, uint32_t out)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const uint64_t room = net->config.buffer_flits;
    const uint32_t router = net->topology->in_router[in];
    switch (net->config.architecture) {
    case LEAT_NET_SWITCH_VC: break;
    case LEAT_NET_SWITCH_FIFO:
    case LEAT_NET_SWITCH_BATCHER:
    case LEAT_NET_SWITCH_VOQ: return q->in_flits[in] < room;
    case LEAT_NET_SWITCH_OUTPUT: return q->out_flits[out] < room;
    case LEAT_NET_SWITCH_SHARED: return shared_has_room(net, router, out);
    case LEAT_NET_SWITCH_XPQ:
        return q->queue[q->lane_first[out] + in - net->topology->in_first[router]].count < room;
    }
    return false;
}

static void lose(struct step *s, uint32_t visit, enum leat_net_fate fate)
{
    leat_net_queue_end(s->q, s->q->visit[visit].flight, fate, s->now);
    leat_net_queue_visit_cut(s->q, visit);
}

/* The flit leaves the stage, and its place becomes free. */
static uint32_t leave_stage(struct step *s, uint32_t in)
{
    struct leat_net_queue_list *stage = &s->q->stage[s->in_first + in];
    const uint32_t node = leat_net_queue_pop(s->q, stage);
    if (!stage->count) clear_bit(s->q->staged + (size_t)s->router * s->q->words, in);
    s->moved = true;
    return node;
}

static void discard(struct step *s, uint32_t in)
{
    const uint32_t node = leave_stage(s, in), visit = s->q->node[node].what;
    leat_net_queue_node_give(s->q, node);
    leat_net_queue_credit(s->net, s->in_first + in, s->now);
    s->q->inside--;
    s->q->visit[visit].discarded++;
    leat_net_queue_visit_check(s->q, visit);
}

static void enqueue(struct step *s, uint32_t in, struct leat_net_queue_visit *visit)
{
    struct leat_net_queues *q = s->q;
    const uint32_t lane = lane_of(s->net, in), out = visit->out;
    struct leat_net_queue_list *queue = queue_of(s, lane, out);
    leat_net_queue_push(q, queue, leave_stage(s, in));
    if (queue->count == 1) offer(s, lane, out);
    if (queue->count == 1 && leat_net_queue_has_heads(s->net))
        q->head_at[s->in_first + in] = s->now;
    visit->entered++;
    q->in_flits[s->in_first + in]++;
    q->router_busy[s->router] += !q->out_flits[out]++;
    q->router_flits[s->router]++;
    if (!leat_net_queue_at_inputs(s->net)) leat_net_queue_credit(s->net, s->in_first + in, s->now);
}

/* The flit at the stage of an input enters its queue, if it can. */
static void enter(struct step *s, uint32_t in)
{
    struct leat_net_queues *q = s->q;
    const uint32_t number = q->node[q->stage[s->in_first + in].first].what;
    struct leat_net_queue_visit *visit = &q->visit[number];
    if (visit->out == LEAT_NET_NONE && !visit->cut) {
        visit->out = choose(s, &q->flights.course[visit->flight]);
        if (visit->out == LEAT_NET_NONE) lose(s, number, LEAT_NET_NO_WAY);
    }
    if (!visit->cut && !leat_net_queue_has_room(s->net, s->in_first + in, visit->out)) {
        if (q->credited) {
            s->waits++;
            return;
        }
        lose(s, number, LEAT_NET_NO_ROOM);
    }
    if (visit->cut)
        discard(s, in);
    else
        enqueue(s, in, visit);
}

/* Each cycle starts with another input, for fairness. */
static void enter_all(struct step *s)
{
    const uint64_t *staged = s->q->staged + (size_t)s->router * s->q->words;
    uint32_t in = leat_net_queue_bit(staged, s->q->words, 0);
    if (in == LEAT_NET_NONE) return;
    const uint32_t start = (uint32_t)(s->now % s->ins);
    for (in = leat_net_queue_bit(staged, s->q->words, start); in != LEAT_NET_NONE;
         in = leat_net_queue_bit(staged, s->q->words, in + 1))
        enter(s, in);
    for (in = leat_net_queue_bit(staged, s->q->words, 0); in < start;
         in = leat_net_queue_bit(staged, s->q->words, in + 1))
        enter(s, in);
}

/* ---- leaving ------------------------------------------------------------------------------- */

static uint32_t ones(uint64_t word)
{
    uint32_t n = 0;
    for (; word; word &= word - 1)
        n++;
    return n;
}

/* Outputs that are wanted and can send; the others' heads wait. */
static void find_ready(struct step *s)
{
    struct leat_net_queues *q = s->q;
    memcpy(q->ready, q->wanted + (size_t)s->router * q->words, q->words * sizeof *q->ready);
    if (!q->credited) return;
    for (uint32_t o = leat_net_queue_bit(q->ready, q->words, 0); o != LEAT_NET_NONE;
         o = leat_net_queue_bit(q->ready, q->words, o + 1)) {
        if (leat_net_queue_open(s->net, q, s->out_first + o)) continue;
        clear_bit(q->ready, o);
        for (uint32_t w = 0; w < q->words; w++)
            s->waits += ones(q->offers[(size_t)(s->out_first + o) * q->words + w]);
    }
}

/* A flit goes over the wire; the head opens the visit at the other end. */
static void cross(struct step *s, uint32_t node, uint32_t out)
{
    struct leat_net_queues *q = s->q;
    const uint32_t number = q->node[node].what, to = s->topology->out_to[out];
    struct leat_net_queue_visit *visit = &q->visit[number];
    struct leat_net_flight *flight = &q->flights.flight[visit->flight];
    if (!visit->sent) {
        visit->next = leat_net_queue_visit_open(q, visit->flight, to,
                                                visit->cut ? visit->entered : visit->total);
        if (s->net->watch)
            s->net->watch->passes(s->net->watch->context, &flight->packet, out, s->now);
    }
    if (flight->fate == LEAT_NET_DELIVERED &&
        leat_net_damages(s->net, out, &flight->packet, visit->sent))
        flight->fate = LEAT_NET_CORRUPTED;
    q->node[node].what = visit->next;
    leat_net_queue_launch(q, node, s->now + s->net->config.pipeline + s->topology->out_cycles[out]);
    if (q->credited && !(to & LEAT_NET_TERMINAL)) q->credits[out]--;
    s->net->counts.flit_hops++;
    s->net->out_flits[out]++;
    visit->sent++;
    leat_net_queue_visit_check(q, number);
}

static void leave(struct step *s, struct leat_net_queue_pair pair)
{
    struct leat_net_queues *q = s->q;
    const uint32_t out = s->out_first + pair.out;
    struct leat_net_queue_list *queue = queue_of(s, pair.in, out);
    const struct leat_net_queue_visit *visit = leat_net_queue_head(q, queue);
    const uint32_t in = visit->in;
    s->moved = true;
    if (!visit->sent && !leat_net_queue_visit_room(q, false)) return; /* in the next cycle */
    const uint32_t node = leat_net_queue_pop(q, queue);
    const bool has_heads = leat_net_queue_has_heads(s->net);
    if (has_heads || !queue->count) withdraw(s, pair.in, out);
    if (has_heads && queue->count) offer(s, pair.in, leat_net_queue_head(q, queue)->out);
    if (has_heads) q->head_at[in] = s->now + 1;
    q->in_flits[in]--;
    q->router_busy[s->router] -= !--q->out_flits[out];
    q->router_flits[s->router]--;
    cross(s, node, out);
    if (leat_net_queue_at_inputs(s->net)) leat_net_queue_credit(s->net, in, s->now);
}

/*
 * A router in which nothing moved sleeps until a flit or a credit arrives: nothing else can change
 * its state. Its waiting heads are still counted (`asleep`).
 */
void leat_net_queue_step(struct leat_net *net, uint32_t router, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_topology *t = net->topology;
    struct step s = { .net = net, .q = q, .topology = t, .now = now, .router = router };
    s.out_first = t->out_first[router];
    s.in_first = t->in_first[router];
    s.ins = t->in_first[router + 1] - s.in_first;
    q->asleep -= q->blocked[router];
    q->blocked[router] = 0;
    enter_all(&s);
    find_ready(&s);
    const uint32_t pairs = net->config.architecture == LEAT_NET_SWITCH_VOQ
                               ? leat_net_queue_match_islip(net, router)
                               : leat_net_queue_match_one(net, router);
    for (uint32_t i = 0; i < pairs; i++)
        leave(&s, q->pair[i]);
    const uint64_t *staged = q->staged + (size_t)router * q->words;
    const bool work = q->router_flits[router] ||
                      leat_net_queue_bit(staged, q->words, 0) != LEAT_NET_NONE;
    if (s.moved) {
        net->counts.waits += s.waits;
        if (work) leat_net_queue_plan(q, LEAT_NET_QUEUE_ROUTERS, router, now + 1);
    } else {
        q->blocked[router] = (uint32_t)s.waits;
        q->asleep += s.waits;
    }
}
