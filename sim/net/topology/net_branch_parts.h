/*
 * Routes in one format for all rules with one option at a time (net_rows.h), as devices read it
 * too (core/leat_device.h).
 *
 *     row[router][goal] --> branch --> choice: a port, its channels, the packet's next phase
 *
 * A branch has choices for each kind of phase that a packet may have there, and for each turn that
 * its salt may take.
 */
#ifndef LEAT_NET_BRANCH_PARTS_H
#define LEAT_NET_BRANCH_PARTS_H

#include "leat_device.h"
#include <leat/random.h>

enum {
    LEAT_NET_CHANNELS_MAX = 32, /* virtual channels of a wire */
    LEAT_NET_PHASE_KINDS = 3,
    LEAT_NET_SALT_BIT = 8, /* of a tie in dimension 0 of a ring; packets on their first leg: 0 */
};

/* Where there is no way, the set of channels is empty. */
struct leat_net_choice {
    uint16_t port;
    uint8_t set; /* of channels: its number */
    uint8_t phase;
};

/* Phases are pairs: 2 p and 2 p + 1. Kind 0 is any phase outside of this branch's pair, 1 and 2 are
 * those of the pair. */
struct leat_net_branch {
    uint32_t first[LEAT_NET_PHASE_KINDS];
    uint16_t turns[LEAT_NET_PHASE_KINDS];
    uint16_t pair; /* rings: dimension + 1; others: 0 */
};

/* Selects one of n at this router by the salt. All combinations at different routers occur. */
static inline uint32_t leat_net_salted(uint32_t salt, uint32_t router, uint32_t n)
{
    uint64_t state = (uint64_t)salt << 32 | router;
    return (uint32_t)((leat_random_splitmix(&state) >> 32) * n >> 32);
}

/* The choice of a packet. */
static inline uint32_t leat_net_branch_take(LEAT_DEVICE_PLAN struct leat_net_branch *branch,
                                            uint32_t router, uint32_t phase, uint32_t salt)
{
    const uint32_t kind = phase >> 1 == branch->pair ? 1 + (phase & 1) : 0;
    const uint32_t turns = branch->turns[kind];
    if (turns == 1) return branch->first[kind];
    return branch->first[kind] + (branch->pair ? salt >> (LEAT_NET_SALT_BIT + branch->pair - 1) & 1
                                               : leat_net_salted(salt, router, turns));
}

#endif
