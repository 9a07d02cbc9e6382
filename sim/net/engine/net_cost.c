#include "net_cost.h"
#include "net_queue_parts.h"

struct lines {
    uint32_t ins, outs; /* that have a wire */
};

static struct lines lines_of(const struct leat_net_topology *t, uint32_t router)
{
    struct lines l = { 0 };
    for (uint32_t in = t->in_first[router]; in < t->in_first[router + 1]; in++)
        l.ins += t->in_from[in] != LEAT_NET_NONE;
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++)
        l.outs += t->out_to[out] != LEAT_NET_NONE;
    return l;
}

/* A sorter and a Banyan for so many lines, or the next power of two. */
static void add_batcher(struct lines l, struct leat_net_cost *out)
{
    enum { ELEMENT = 4 }; /* crosspoints */
    uint64_t lines = 1, k = 0;
    for (; lines < l.ins || lines < l.outs; lines *= 2)
        k++;
    const uint64_t columns = k * (k + 1) / 2 + k;
    out->crosspoints += ELEMENT * columns * lines / 2;
    if (columns) out->wires += lines * (columns - 1);
}

/* Places of the stages of a switch that are no part of a buffer. */
static uint64_t staged(const struct leat_net *net, uint32_t router)
{
    const struct leat_net_topology *t = net->topology;
    uint64_t flits = 0;
    if (net->config.drop || leat_net_queue_at_inputs(net)) return 0;
    for (uint32_t in = t->in_first[router]; in < t->in_first[router + 1]; in++)
        if (t->in_from[in] != LEAT_NET_NONE) flits += leat_net_queue_places(net, in);
    return flits;
}

static void add_switch(const struct leat_net *net, uint32_t router, struct leat_net_cost *out)
{
    const struct leat_net_config *c = &net->config;
    const struct lines l = lines_of(net->topology, router);
    const uint64_t crossbar = (uint64_t)l.ins * l.outs, room = c->buffer_flits;
    uint32_t memory = 2;
    switch (c->architecture) {
    case LEAT_NET_SWITCH_VC:
        out->crosspoints += crossbar;
        out->buffer_flits += l.ins * c->channels * room;
        break;
    case LEAT_NET_SWITCH_FIFO:
    case LEAT_NET_SWITCH_VOQ:
        out->crosspoints += crossbar;
        out->buffer_flits += l.ins * room;
        break;
    case LEAT_NET_SWITCH_BATCHER:
        add_batcher(l, out);
        out->buffer_flits += l.ins * room;
        break;
    case LEAT_NET_SWITCH_OUTPUT:
        out->crosspoints += crossbar;
        out->buffer_flits += l.outs * room + staged(net, router);
        memory = l.ins + 1;
        break;
    case LEAT_NET_SWITCH_SHARED:
        out->crosspoints += l.ins + l.outs;
        out->buffer_flits += l.outs * room + staged(net, router);
        memory = l.ins + l.outs;
        break;
    case LEAT_NET_SWITCH_XPQ:
        out->crosspoints += crossbar;
        out->buffer_flits += crossbar * room + staged(net, router);
        break;
    }
    if (memory > out->memory_flits) out->memory_flits = memory;
}

void leat_net_cost(const struct leat_net_topology *topology, const struct leat_net_config *config,
                   struct leat_net_cost *out)
{
    const struct leat_net net = { .topology = topology, .config = *config };
    *out = (struct leat_net_cost){ .wires = topology->wires + 2 * (uint64_t)topology->terminals };
    for (uint32_t router = 0; router < topology->routers; router++)
        add_switch(&net, router, out);
}
