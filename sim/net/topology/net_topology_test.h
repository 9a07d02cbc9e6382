/* Shared by the tests of topologies: building, and the rules that hold for all of them. */
#ifndef LEAT_NET_TOPOLOGY_TEST_H
#define LEAT_NET_TOPOLOGY_TEST_H

#include "net_topology.h"
#include "tap.h"
#include <string.h>

/* The error of the last check or build. */
static char complaint[256];

static leat_err check(const struct leat_net_shape *shape)
{
    struct leat_text why;
    leat_text_init(&why, complaint, sizeof complaint - 1, NULL, NULL);
    const leat_err err = leat_net_shape_check(shape, &why);
    complaint[why.len] = '\0';
    OK((err == LEAT_ERR_OK) == (why.len == 0));
    return err;
}

/* In memory of exactly the footprint's size, filled with garbage, that the caller frees. */
static leat_err build(const struct leat_net_shape *shape, struct leat_net_topology *t,
                      void **memory)
{
    struct leat_text why;
    const size_t footprint = leat_net_topology_footprint(shape);
    *memory = malloc(footprint);
    if (!*memory) abort();
    memset(*memory, 0xa5, footprint < 4096 ? footprint : 4096);
    leat_text_init(&why, complaint, sizeof complaint - 1, NULL, NULL);
    const leat_err err = leat_net_topology_build(t, shape, *memory, &why);
    complaint[why.len] = '\0';
    OK((err == LEAT_ERR_OK) == (why.len == 0));
    return err;
}

/* The router at the other end of an output port; NONE: a terminal or nothing. */
static inline uint32_t behind(const struct leat_net_topology *t, uint32_t router, uint32_t port)
{
    return leat_net_behind(t, t->out_first[router] + port);
}

static inline uint32_t terminal_behind(const struct leat_net_topology *t, uint32_t router,
                                       uint32_t port)
{
    const uint32_t to = t->out_to[t->out_first[router] + port];
    return to != LEAT_NET_NONE && to & LEAT_NET_TERMINAL ? to & ~LEAT_NET_TERMINAL : LEAT_NET_NONE;
}

static bool outs_are_sound(const struct leat_net_topology *t, uint32_t *wires)
{
    bool sound = true;
    for (uint32_t r = 0; r < t->routers; r++) {
        sound &= t->out_first[r + 1] >= t->out_first[r];
        sound &= t->out_first[r + 1] - t->out_first[r] <= t->radix;
        for (uint32_t o = t->out_first[r]; o < t->out_first[r + 1]; o++) {
            const uint32_t to = t->out_to[o], terminal = to & ~LEAT_NET_TERMINAL;
            sound &= t->out_router[o] == r;
            if (to == LEAT_NET_NONE) continue;
            if (to & LEAT_NET_TERMINAL) {
                sound &= terminal < t->terminals && t->terminal_out[terminal] == o;
                sound &= t->out_cycles[o] == 1;
            } else {
                sound &= to < t->ins && t->in_from[to] == o && t->out_cycles[o] >= 1;
                ++*wires;
            }
        }
    }
    return sound && t->out_first[0] == 0 && t->out_first[t->routers] == t->outs;
}

static bool ins_are_sound(const struct leat_net_topology *t, uint32_t *wires)
{
    bool sound = true;
    for (uint32_t r = 0; r < t->routers; r++) {
        sound &= t->in_first[r + 1] >= t->in_first[r];
        sound &= t->in_first[r + 1] - t->in_first[r] <= t->radix;
        for (uint32_t i = t->in_first[r]; i < t->in_first[r + 1]; i++) {
            const uint32_t from = t->in_from[i], terminal = from & ~LEAT_NET_TERMINAL;
            sound &= t->in_router[i] == r;
            if (from == LEAT_NET_NONE) continue;
            if (from & LEAT_NET_TERMINAL) {
                sound &= terminal < t->terminals && t->terminal_in[terminal] == i;
            } else {
                sound &= from < t->outs && t->out_to[from] == i;
                ++*wires;
            }
        }
    }
    return sound && t->in_first[0] == 0 && t->in_first[t->routers] == t->ins;
}

/* Outputs and inputs are inverse to each other, terminals included, and all counts are right. */
static bool sound(const struct leat_net_topology *t)
{
    uint32_t wires_out = 0, wires_in = 0;
    bool good = outs_are_sound(t, &wires_out) && ins_are_sound(t, &wires_in);
    good &= wires_out == t->wires && wires_in == t->wires;
    for (uint32_t i = 0; good && i < t->terminals; i++) {
        good &= t->terminal_out[i] < t->outs && t->terminal_in[i] < t->ins;
        good = good && t->out_to[t->terminal_out[i]] == (LEAT_NET_TERMINAL | i) &&
               t->in_from[t->terminal_in[i]] == (LEAT_NET_TERMINAL | i);
    }
    return good;
}

#endif
