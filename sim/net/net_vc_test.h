/* What the tests of routers with virtual channels share. */
#ifndef LEAT_NET_VC_TEST_H
#define LEAT_NET_VC_TEST_H

#include "net_vc_parts.h"
#include "tap.h"
#include <string.h>

static inline void *test_memory(size_t len)
{
    void *memory = calloc(1, len ? len : 1);
    if (!memory) abort();
    return memory;
}

/* ---- a network in memory of its own ------------------------------------------------------------
 */

struct world {
    struct leat_net_topology topology;
    struct leat_net_routing_config rule;
    struct leat_net_routing *routing;
    struct leat_net net;
    void *memory[3];
};

static inline bool build(struct world *w, const struct leat_net_shape *shape,
                         enum leat_net_route_rule rule, uint32_t channels)
{
    char line[256];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    memset(w, 0, sizeof *w);
    if (leat_net_shape_check(shape, &why)) return false;
    w->memory[0] = test_memory(leat_net_topology_footprint(shape));
    w->rule = (struct leat_net_routing_config){ .rule = rule, .channels = channels };
    if (leat_net_topology_build(&w->topology, shape, w->memory[0], &why) ||
        leat_net_routing_check(&w->topology, &w->rule, &why)) {
        free(w->memory[0]);
        return false;
    }
    w->memory[1] = test_memory(leat_net_routing_footprint(&w->topology, &w->rule));
    w->routing = leat_net_routing_init(&w->topology, &w->rule, w->memory[1]);
    return true;
}

static inline void begin(struct world *w, const struct leat_net_config *config,
                         const struct leat_net_host *host)
{
    w->memory[2] = test_memory(leat_net_footprint(&w->topology, config));
    leat_net_init(&w->net, &w->topology, w->routing, config, host, w->memory[2]);
}

static inline void end(struct world *w)
{
    for (size_t i = 0; i < 3; i++)
        free(w->memory[i]);
}

static const struct leat_net_config golden = { .architecture = LEAT_NET_SWITCH_VC,
                                               .channels = 4,
                                               .buffer_flits = 8,
                                               .pipeline = 3,
                                               .credit_cycles = 1,
                                               .iterations = 1 };

static inline struct leat_net_shape shape_of(enum leat_net_kind kind, uint32_t a, uint32_t b)
{
    return (struct leat_net_shape){
        .kind = kind, .number = { a, b }, .numbers = b ? 2 : 1, .terminals = 1, .wire_cycles = 1
    };
}

/* Flits of a lane: each packet's from its head to its tail, none between those of another. */
static inline bool lane_is_in_order(const struct leat_net_vc *vc, uint32_t lane)
{
    const struct leat_net_vc_lane *l = &vc->lane[lane];
    uint32_t before = LEAT_NET_VC_TAIL;
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t flit = vc->flit[(l->first + i) % vc->buffer * (size_t)vc->lanes + lane];
        const bool head = flit & LEAT_NET_VC_HEAD, tail_before = before & LEAT_NET_VC_TAIL;
        if (i && head != tail_before) return false;
        if (!head && i && (flit & LEAT_NET_VC_FLIGHT) != (before & LEAT_NET_VC_FLIGHT))
            return false;
        before = flit;
    }
    return true;
}

/* What was begun has ended or is under way; no more credits are used than there are. */
static inline bool books_are_right(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    uint64_t begun = net->counts.packets_begun, inside = 0, ended = 0;
    const uint32_t channels = (net->topology->outs + net->topology->terminals) << vc->shift;
    for (uint32_t c = 0; c < channels; c++)
        if (vc->ahead[c].used > vc->buffer) return false;
    for (uint32_t lane = 0; lane < net->topology->ins << vc->shift; lane++) {
        inside += vc->lane[lane].count;
        if (!lane_is_in_order(vc, lane)) return false;
    }
    for (int f = 0; f < LEAT_NET_FATES; f++)
        ended += net->counts.packets_ended[f];
    return inside <= leat_net_flits_inside(net) &&
           begun - ended == vc->flights.top - vc->flights.free_count;
}

/* ---- single packets ----------------------------------------------------------------------------
 */

/* Hosts of which one has one packet. */
struct single {
    struct leat_net_packet packet;
    bool sent;
    struct leat_net_arrival arrival;
    uint32_t arrivals;
};

static inline bool single_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct single *s = context;
    if (s->sent || terminal != s->packet.source) return false;
    s->sent = true;
    *packet = s->packet;
    return true;
}

static inline void single_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct single *s = context;
    s->arrival = *arrival;
    s->arrivals++;
}

static inline struct leat_net_host single_host(struct single *s)
{
    return (struct leat_net_host){ .context = s, .next = single_next, .arrive = single_arrive };
}

#endif
