/* A terminal more at each router of a topology, for its processor. */
#include "net_topology_parts.h"
#include <assert.h>
#include <leat/time.h>

static void measure(const struct leat_net_topology *plain, struct leat_net_topology *out)
{
    *out = (struct leat_net_topology){ .shape = plain->shape,
                                       .routers = plain->routers,
                                       .terminals = plain->terminals + plain->routers,
                                       .processors = plain->routers,
                                       .outs = plain->outs + plain->routers,
                                       .ins = plain->ins + plain->routers,
                                       .radix = plain->radix + 1,
                                       .wires = plain->wires,
                                       .held_end = plain->routers };
}

size_t leat_net_processors_footprint(const struct leat_net_topology *plain)
{
    struct leat_net_topology measured;
    struct leat_arena arena = { 0 };
    measure(plain, &measured);
    leat_net_topology_lay(&measured, &arena);
    return arena.used;
}

leat_err leat_net_processors_check(const struct leat_net_topology *plain, struct leat_text *why)
{
    const struct leat_text_range row[] = {
        { "ports of a router, one of them its processor's,", plain->radix + 1, 1,
          LEAT_NET_RADIX_MAX },
        { "terminals and processors", plain->terminals + plain->routers, 1,
          LEAT_NET_TERMINALS_MAX },
        { "ports", leat_larger(plain->outs, plain->ins) + plain->routers, 1, LEAT_NET_PORTS_MAX },
    };
    return leat_text_check_ranges(why, row, sizeof row / sizeof *row);
}

/* The new port of a router is its last: those of later routers move on by one for each router
 * before. */
static uint32_t moved(const uint32_t *owner, uint32_t port)
{
    return port & LEAT_NET_TERMINAL ? port : port + owner[port]; /* or absent */
}

static void copy_router(const struct leat_net_topology *plain, uint32_t r,
                        struct leat_net_topology *out)
{
    out->out_first[r] = plain->out_first[r] + r;
    out->in_first[r] = plain->in_first[r] + r;
    for (uint32_t o = plain->out_first[r]; o < plain->out_first[r + 1]; o++) {
        out->out_to[o + r] = moved(plain->in_router, plain->out_to[o]);
        out->out_cycles[o + r] = plain->out_cycles[o];
        out->out_router[o + r] = r;
    }
    for (uint32_t i = plain->in_first[r]; i < plain->in_first[r + 1]; i++) {
        out->in_from[i + r] = moved(plain->out_router, plain->in_from[i]);
        out->in_router[i + r] = r;
    }
    out->out_router[plain->out_first[r + 1] + r] = r;
    out->in_router[plain->in_first[r + 1] + r] = r;
    out->out_cycles[plain->out_first[r + 1] + r] = 1;
}

void leat_net_processors_add(const struct leat_net_topology *plain, void *memory,
                             struct leat_net_topology *out)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    assert(plain->held_end - plain->held_begin == plain->routers);
    measure(plain, out);
    leat_net_topology_lay(out, &arena);
    for (uint32_t r = 0; r < plain->routers; r++)
        copy_router(plain, r, out);
    out->out_first[plain->routers] = out->outs;
    out->in_first[plain->routers] = out->ins;
    for (uint32_t t = 0; t < plain->terminals; t++) {
        out->terminal_in[t] = moved(plain->in_router, plain->terminal_in[t]);
        out->terminal_out[t] = moved(plain->out_router, plain->terminal_out[t]);
    }
    for (uint32_t r = 0; r < plain->routers; r++) {
        leat_net_attach_in(out, plain->terminals + r, r,
                           plain->in_first[r + 1] - plain->in_first[r]);
        leat_net_attach_out(out, plain->terminals + r, r,
                            plain->out_first[r + 1] - plain->out_first[r]);
    }
}
