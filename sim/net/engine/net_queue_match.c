/* Scheduling of the switches: which input sends to which output. */
#include "net_queue_parts.h"

/*
 * Each output asks its inputs (lanes) in round-robin order, from the one after its last choice on
 * (seed 001, 9.2.1.2). With input queues any fair choice has the same throughput when all of them
 * are full: the number of losers does not depend on their order (Karol, Hluchyj and Morgan 1987).
 */
static uint32_t take_turn(struct leat_net_queues *q, uint32_t out, const uint64_t *offers)
{
    const uint32_t in = leat_net_queue_turn(offers, q->words, q->out_turn[out]);
    q->out_turn[out] = (uint16_t)(in + 1);
    return in;
}

/*
 * A Batcher-Banyan switch decides in three phases (Hui and Arthurs 1987). All heads send requests
 * through the sorter, by output, age and input: the first one for each output wins. The sorter
 * leads the answers back. Then the winners pass sorter and Banyan, which do not block if sorted
 * flits go to different outputs. So its age decides, then the number of its input.
 */
static uint32_t oldest(const struct leat_net_queues *q, const uint64_t *head_at,
                       const uint64_t *offers)
{
    uint32_t best = leat_net_queue_bit(offers, q->words, 0);
    for (uint32_t in = best; in != LEAT_NET_NONE; in = leat_net_queue_bit(offers, q->words, in + 1))
        if (head_at[in] < head_at[best]) best = in;
    return best;
}

uint32_t leat_net_queue_match_one(struct leat_net *net, uint32_t router)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const bool sorts = net->config.architecture == LEAT_NET_SWITCH_BATCHER;
    const uint32_t out_first = net->topology->out_first[router], words = q->words;
    const uint64_t *head_at = sorts ? &q->head_at[net->topology->in_first[router]] : NULL;
    uint32_t pairs = 0;
    for (uint32_t o = leat_net_queue_bit(q->ready, words, 0); o != LEAT_NET_NONE;
         o = leat_net_queue_bit(q->ready, words, o + 1)) {
        const uint32_t out = out_first + o;
        const uint64_t *offers = q->offers + (size_t)out * words;
        const uint32_t in = sorts ? oldest(q, head_at, offers) : take_turn(q, out, offers);
        q->pair[pairs++] = (struct leat_net_queue_pair){ (uint16_t)in, (uint16_t)o };
    }
    return pairs;
}

/* ---- iSLIP (McKeown 1999) ------------------------------------------------------------------ */

/* Each output grants to one of the free inputs that request it. */
static bool grant(struct leat_net_queues *q, uint32_t out_first)
{
    const uint32_t words = q->words;
    bool any = false;
    for (uint32_t o = leat_net_queue_bit(q->ready, words, 0); o != LEAT_NET_NONE;
         o = leat_net_queue_bit(q->ready, words, o + 1)) {
        const uint64_t *offers = q->offers + (size_t)(out_first + o) * words;
        uint64_t requests[LEAT_NET_RADIX_MAX / 64];
        for (uint32_t w = 0; w < words; w++)
            requests[w] = offers[w] & q->free[w];
        const uint32_t in = leat_net_queue_turn(requests, words, q->out_turn[out_first + o]);
        if (in == LEAT_NET_NONE) continue;
        q->grants[(size_t)in * words + o / 64] |= UINT64_C(1) << o % 64;
        q->asked[in / 64] |= UINT64_C(1) << in % 64;
        any = true;
    }
    return any;
}

/* Each input accepts one of its grants. Only the first iteration moves the pointers: so no input
 * starves. */
static uint32_t accept(struct leat_net_queues *q, uint32_t out_first, uint32_t in_first, bool first,
                       uint32_t pairs)
{
    const uint32_t words = q->words;
    for (uint32_t in = leat_net_queue_bit(q->asked, words, 0); in != LEAT_NET_NONE;
         in = leat_net_queue_bit(q->asked, words, in + 1)) {
        uint64_t *grants = q->grants + (size_t)in * words;
        const uint32_t o = leat_net_queue_turn(grants, words, q->in_turn[in_first + in]);
        if (first) {
            q->in_turn[in_first + in] = (uint16_t)(o + 1);
            q->out_turn[out_first + o] = (uint16_t)(in + 1);
        }
        q->free[in / 64] &= ~(UINT64_C(1) << in % 64);
        q->ready[o / 64] &= ~(UINT64_C(1) << o % 64);
        memset(grants, 0, words * sizeof *grants);
        q->pair[pairs++] = (struct leat_net_queue_pair){ (uint16_t)in, (uint16_t)o };
    }
    memset(q->asked, 0, words * sizeof *q->asked);
    return pairs;
}

uint32_t leat_net_queue_match_islip(struct leat_net *net, uint32_t router)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t out_first = net->topology->out_first[router];
    const uint32_t in_first = net->topology->in_first[router];
    uint32_t pairs = 0;
    memset(q->free, 0xFF, q->words * sizeof *q->free);
    for (uint32_t i = 0; i < net->config.iterations && grant(q, out_first); i++)
        pairs = accept(q, out_first, in_first, i == 0, pairs);
    return pairs;
}
