/* How open traffic is drawn: by a terminal, from its own random stream alone. Devices compile it
 * too (core/leat_device.h). */
#ifndef LEAT_NET_DRAW_PARTS_H
#define LEAT_NET_DRAW_PARTS_H

#include "leat_device.h"
#include <leat/random.h>

enum leat_net_pattern {
    LEAT_NET_UNIFORM,
    LEAT_NET_PERMUTATION,
    LEAT_NET_TRANSPOSE,
    LEAT_NET_BITREVERSE,
    LEAT_NET_BITCOMPLEMENT,
    LEAT_NET_SHUFFLE,
    LEAT_NET_TORNADO,
    LEAT_NET_NEIGHBOUR,
    LEAT_NET_HOTSPOT,
    LEAT_NET_BROADCAST,
    LEAT_NET_BURSTY,
    LEAT_NET_TRACE,
    LEAT_NET_ALLTOALL,
    LEAT_NET_ALLREDUCE,
    LEAT_NET_BROADCAST_TREE,
};

enum { LEAT_NET_GAP_BITS = 64 };

/* A geometric distribution: failures before a success of probability num / den. The binary digits
 * of such a number are independent, so each is drawn separately, with a probability of 32 bits. */
struct leat_net_gaps {
    uint32_t bits;
    uint32_t chance[LEAT_NET_GAP_BITS]; /* probability that this digit is 1, in 2^-32 */
};

/* What all terminals have in common. */
struct leat_net_draw {
    uint32_t pattern; /* enum leat_net_pattern */
    uint32_t terminals;
    uint32_t flits;           /* of a packet */
    uint32_t is_silent;       /* no load at all */
    uint32_t has_destination; /* each terminal always sends to the same one */
    uint32_t hot_percent, burst;
    struct leat_net_gaps gaps;
};

struct leat_net_source {
    struct leat_random random;
    uint64_t next_at;        /* the first cycle in which it may create its next packet */
    uint64_t number;         /* of its next packet */
    uint32_t to;             /* of this burst or broadcast; trace: the next entry */
    uint32_t left;           /* remaining packets of this burst or broadcast */
    uint32_t sent, received; /* in this round of a collective */
};

/* A packet, as drawn. */
struct leat_net_drawn {
    uint64_t created_at, random;
    uint32_t destination;
};

/* Two digits of each random number; a digit after the last has probability 0. */
static inline uint64_t leat_net_gaps_draw(LEAT_DEVICE_PLAN struct leat_net_gaps *gaps,
                                          struct leat_random *random)
{
    uint64_t gap = 0;
    for (uint32_t k = 0; k < gaps->bits; k += 2) {
        const uint64_t r = leat_random_next(random);
        gap |= (uint64_t)((uint32_t)r < gaps->chance[k]) << k;
        gap |= (uint64_t)(r >> 32 < gaps->chance[k + 1]) << (k + 1);
    }
    return gap;
}

static inline uint32_t leat_net_draw_terminal(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                              struct leat_net_source *source)
{
    return (uint32_t)leat_random_below(&source->random, rule->terminals);
}

/* In a burst a packet follows the one before at once. */
static inline void leat_net_draw_bursty(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                        struct leat_net_source *source, struct leat_net_drawn *out)
{
    uint64_t at = source->next_at;
    if (source->left > 0) {
        source->left--;
    } else {
        at += leat_net_gaps_draw(&rule->gaps, &source->random);
        while (leat_random_below(&source->random, rule->burst) != 0)
            source->left++;
        source->to = leat_net_draw_terminal(rule, source);
    }
    source->next_at = at + rule->flits;
    out->created_at = at;
    out->destination = source->to;
}

/* The packets of a broadcast are created together; nearer terminals come first. */
static inline void leat_net_draw_broadcast(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                           struct leat_net_source *source, uint32_t terminal,
                                           struct leat_net_drawn *out)
{
    if (source->left > 0) {
        source->left--;
    } else {
        source->next_at += leat_net_gaps_draw(&rule->gaps, &source->random) + 1;
        source->left = rule->terminals - 2;
        source->to = terminal;
    }
    source->to = (source->to + 1) % rule->terminals;
    out->created_at = source->next_at - 1;
    out->destination = source->to;
}

static inline void leat_net_draw_single(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                        struct leat_net_source *source, uint32_t to,
                                        struct leat_net_drawn *out)
{
    out->created_at = source->next_at + leat_net_gaps_draw(&rule->gaps, &source->random);
    source->next_at = out->created_at + 1;
    if (rule->has_destination)
        out->destination = to;
    else if (rule->pattern == LEAT_NET_HOTSPOT &&
             leat_random_below(&source->random, 100) < rule->hot_percent)
        out->destination = 0;
    else
        out->destination = leat_net_draw_terminal(rule, source);
}

/* The next packet of a terminal, whose destination is `to` where each has one. Depends on the
 * source only: so a copy of it predicts the packets. False: there is none. Not for traces. */
static inline bool leat_net_draw_packet(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                        struct leat_net_source *source, uint32_t terminal,
                                        uint32_t to, struct leat_net_drawn *out)
{
    if (rule->is_silent) return false;
    if (rule->pattern == LEAT_NET_BURSTY)
        leat_net_draw_bursty(rule, source, out);
    else if (rule->pattern == LEAT_NET_BROADCAST)
        leat_net_draw_broadcast(rule, source, terminal, out);
    else
        leat_net_draw_single(rule, source, to, out);
    out->random = leat_random_next(&source->random);
    source->number++;
    return true;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static inline bool leat_net_draw_is_closed(uint32_t pattern)
{
    return pattern >= LEAT_NET_ALLTOALL;
}

/* Packets of a round. */
static inline uint64_t leat_net_round_packets(LEAT_DEVICE_PLAN struct leat_net_draw *rule)
{
    const uint64_t others = rule->terminals - 1, all = rule->terminals * others;
    if (rule->pattern == LEAT_NET_BROADCAST_TREE) return others;
    return rule->pattern == LEAT_NET_ALLREDUCE ? 2 * all : all;
}

/* 2^k for the k-th child of the root; children of t start after its highest bit. */
static inline uint64_t leat_net_first_child_distance(uint32_t terminal)
{
    uint64_t nearest = 1;
    while (nearest <= terminal)
        nearest *= 2;
    return nearest;
}

/* The destination of a terminal's next packet in this round, if it may be sent already. */
static inline bool leat_net_draw_step(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                      const struct leat_net_source *source, uint32_t terminal,
                                      uint32_t *to)
{
    const uint64_t terminals = rule->terminals, sent = source->sent;
    uint64_t further = sent + 1, steps = terminals - 1;
    bool ready = sent <= source->received;
    if (rule->pattern == LEAT_NET_ALLREDUCE) {
        further = 1;
        steps *= 2;
    } else if (rule->pattern == LEAT_NET_BROADCAST_TREE) {
        further = leat_net_first_child_distance(terminal) << sent;
        steps = terminal + further < terminals ? sent + 1 : sent;
        ready = terminal == 0 || source->received;
    }
    if (!ready || sent >= steps) return false;
    *to = (uint32_t)((terminal + further) % terminals);
    return true;
}

/* False: it may not send yet, or has sent all of this round. */
static inline bool leat_net_draw_closed(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                        struct leat_net_source *source, uint32_t terminal,
                                        struct leat_net_drawn *out)
{
    if (!leat_net_draw_step(rule, source, terminal, &out->destination)) return false;
    out->created_at = source->next_at;
    out->random = leat_random_next(&source->random);
    source->sent++;
    source->number++;
    return true;
}

/* When the last packet that was drawn from this source is created. */
static inline uint64_t leat_net_drawn_last(LEAT_DEVICE_PLAN struct leat_net_draw *rule,
                                           const struct leat_net_source *source)
{
    return source->next_at - (rule->pattern == LEAT_NET_BURSTY ? rule->flits : 1);
}

#endif
