/*
 * Whose turn it is: the round-robin arbiters of routers with virtual channels (net_vc_parts.h), for
 * all engines; devices compile it too (core/leat_device.h). Internal.
 *
 * Ports and channels of a router are below 2^15, so distances of 16 bits order those at or after
 * the turn before those that precede it, and each group by number.
 */
#ifndef LEAT_NET_TURNS_PARTS_H
#define LEAT_NET_TURNS_PARTS_H

#include "net_branch_parts.h"

enum {
    LEAT_NET_ENTRY_CYCLES = 2,  /* from a terminal to the lane of its router */
    LEAT_NET_RETURN_CYCLES = 2, /* of a credit, to or from a terminal */
    LEAT_NET_CHANNEL_BITS = 6,  /* for twice as many */
    LEAT_NET_LOCAL_BITS = 15,   /* of a lane's number within its router */
    LEAT_NET_LOCAL = (1 << LEAT_NET_LOCAL_BITS) - 1,
};

static inline uint32_t leat_net_turn_distance(uint32_t candidate, uint32_t turn)
{
    return (uint16_t)(candidate - turn);
}

/*
 * A bid for a channel, or for an output port: how soon it is the bidder's turn, and its lane's
 * number within the router. The highest one wins, and none is 0.
 */
static inline uint32_t leat_net_turn_bid(uint32_t bidder, uint32_t turn, uint32_t place)
{
    return (UINT16_MAX + 1u - leat_net_turn_distance(bidder, turn)) << LEAT_NET_LOCAL_BITS | place;
}

/* Which channel of the set a lane bids for: the next one after that which it held last, if that was
 * of the same port; else the first. `next`: after the number of that channel among those of the
 * router; `port` << shift: the first of the port. */
static inline uint32_t leat_net_turn_channel(uint32_t next, uint32_t port, uint32_t shift,
                                             uint32_t set)
{
    const uint32_t after = next - (port << shift);
    const uint32_t from = after <= UINT32_C(1) << shift ? after : 0;
    const uint32_t later = from < LEAT_NET_CHANNELS_MAX ? set >> from << from : 0;
    return leat_device_lowest(later ? later : set);
}

/* How soon is it this channel's turn at its input port, if it leads to `port`? By output port
 * first, then by channel, which the result ends with. */
static inline uint32_t leat_net_turn_lane(uint32_t port, uint32_t out_turn, uint32_t channel,
                                          uint32_t channel_turn)
{
    const uint32_t passed = channel < channel_turn ? LEAT_NET_CHANNELS_MAX : 0;
    return leat_net_turn_distance(port, out_turn) << LEAT_NET_CHANNEL_BITS | (passed + channel);
}

#endif
