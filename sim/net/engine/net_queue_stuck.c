/*
 * Which inputs can never forward a flit? At first all are marked as doomed. One is unmarked if some
 * flit that it waits for may leave: because there is room ahead, or may be, or because the input
 * ahead is not doomed. Those that remain when nothing changes any more wait for each other.
 *
 * fifo, batcher: an input waits for its head; voq: for all of its heads; output and xpq: for the
 * queue of the flit at its stage, if that is full; shared: for that and all that fill the memory.
 */
#include "net_queue_parts.h"

/* The doomed input that a flit for this output waits for; NONE: it may go, now or later. */
static uint32_t blocker_ahead(const struct leat_net *net, uint32_t out)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t to = net->topology->out_to[out];
    if (leat_net_queue_open(net, q, out) || !q->mark[to]) return LEAT_NET_NONE;
    const bool at_inputs = leat_net_queue_at_inputs(net);
    const uint32_t flits = q->stage[to].count + (at_inputs ? q->in_flits[to] : 0);
    return flits == leat_net_queue_places(net, to) ? to : LEAT_NET_NONE; /* else: in flight */
}

/* The input waits for all of its queues. */
static uint32_t blocker_of_voq(const struct leat_net *net, uint32_t in)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_topology *t = net->topology;
    const uint32_t router = t->in_router[in], port = in - t->in_first[router];
    uint32_t blocker = LEAT_NET_NONE;
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++) {
        if (!q->queue[q->lane_first[out] + port].count) continue;
        blocker = blocker_ahead(net, out);
        if (blocker == LEAT_NET_NONE) break;
    }
    return blocker;
}

/* The flit at the stage waits for a place of its own output, or of those that use more than their
 * reserved one. */
static uint32_t blocker_of_shared(const struct leat_net *net, uint32_t router, uint32_t wanted)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_topology *t = net->topology;
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++)
        if (q->out_flits[out] > 1 && blocker_ahead(net, out) == LEAT_NET_NONE) return LEAT_NET_NONE;
    return blocker_ahead(net, wanted);
}

static uint32_t blocker_of(const struct leat_net *net, uint32_t in)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const enum leat_net_switch a = net->config.architecture;
    const bool has_heads = leat_net_queue_has_heads(net);
    if (a == LEAT_NET_SWITCH_VOQ) return blocker_of_voq(net, in);
    const struct leat_net_queue_list *list = has_heads ? &q->queue[in] : &q->stage[in];
    if (!list->count) return LEAT_NET_NONE;
    const uint32_t out = leat_net_queue_head(q, list)->out;
    if (has_heads) return blocker_ahead(net, out);
    if (out == LEAT_NET_NONE || leat_net_queue_has_room(net, in, out)) return LEAT_NET_NONE;
    return a == LEAT_NET_SWITCH_SHARED ? blocker_of_shared(net, net->topology->in_router[in], out)
                                       : blocker_ahead(net, out);
}

/* How many remain. Every other pass goes backwards, so that long chains are resolved at once. */
static uint32_t find_doomed(const struct leat_net *net)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t ins = net->topology->ins;
    uint32_t doomed = ins, saved;
    bool backwards = false;
    memset(q->mark, 1, ins);
    do {
        saved = 0;
        for (uint32_t i = 0; i < ins; i++) {
            const uint32_t in = backwards ? ins - 1 - i : i;
            if (!q->mark[in] || blocker_of(net, in) != LEAT_NET_NONE) continue;
            q->mark[in] = 0;
            saved++;
        }
        doomed -= saved;
        backwards = !backwards;
    } while (saved);
    return doomed;
}

/* The queue with the flit at the head of an input; with voq: the one that its blocker is behind. */
static const struct leat_net_queue_list *list_of(const struct leat_net *net, uint32_t in)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_topology *t = net->topology;
    const uint32_t router = t->in_router[in], port = in - t->in_first[router];
    if (leat_net_queue_has_heads(net)) return &q->queue[in];
    if (net->config.architecture != LEAT_NET_SWITCH_VOQ) return &q->stage[in];
    const uint32_t blocker = blocker_of(net, in);
    uint32_t out = t->out_first[router];
    while (t->out_to[out] != blocker || !q->queue[q->lane_first[out] + port].count)
        out++;
    return &q->queue[q->lane_first[out] + port];
}

static struct leat_net_waiting waiting_in(const struct leat_net *net, uint32_t in)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t router = net->topology->in_router[in];
    const uint32_t flight = leat_net_queue_head(q, list_of(net, in))->flight;
    const struct leat_net_packet *packet = &q->flights.flight[flight].packet;
    return (struct leat_net_waiting){
        .router = router,
        .in = in - net->topology->in_first[router],
        .source = packet->source,
        .destination = packet->destination,
    };
}

uint32_t leat_net_queue_stuck(const struct leat_net *net, struct leat_net_waiting *out,
                              uint32_t cap)
{
    const struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t doomed = q->credited && q->inside ? find_doomed(net) : 0;
    uint32_t in = 0, found = 0;
    if (!doomed) return 0;
    while (!q->mark[in])
        in++;
    for (uint32_t i = 0; i < doomed; i++) /* certainly into the cycle */
        in = blocker_of(net, in);
    const uint32_t first = in;
    do {
        if (found++ < cap) out[found - 1] = waiting_in(net, in);
        in = blocker_of(net, in);
    } while (in != first);
    return found;
}
