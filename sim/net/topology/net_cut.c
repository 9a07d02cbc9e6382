#include "net_cut.h"
#include <assert.h>

void leat_net_cut_bounds(const struct leat_net_topology *whole, uint32_t parts, uint32_t *first)
{
    uint32_t router = 0;
    assert(parts && parts <= whole->routers);
    for (uint32_t i = 0; i < parts; i++) {
        const uint64_t ports = (uint64_t)whole->ins * i / parts;
        while (whole->in_first[router] < ports)
            router++;
        /* Every part has a router, and leaves one for each of those after it. */
        if (i && router <= first[i - 1]) router = first[i - 1] + 1;
        if (router > whole->routers - (parts - i)) router = whole->routers - (parts - i);
        first[i] = router;
    }
    first[parts] = whole->routers;
}

uint32_t leat_net_cut_part(const uint32_t *first, uint32_t parts, uint32_t router)
{
    uint32_t low = 0, high = parts;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (first[middle] <= router)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- building -------------------------------------------------------------------------------- */

struct knife {
    const struct leat_net_topology *whole;
    const uint32_t *first;
    uint32_t parts, index;
    struct leat_net_topology *part;
};

/* Another part than this one, or NONE. */
static uint32_t other_part(const struct knife *k, uint32_t router)
{
    const uint32_t part = leat_net_cut_part(k->first, k->parts, router);
    return part == k->index ? LEAT_NET_NONE : part;
}

/* The other part that an output port leads to; NONE: none. */
static uint32_t part_after(const struct knife *k, uint32_t out)
{
    const uint32_t router = leat_net_behind(k->whole, out);
    return router == LEAT_NET_NONE ? LEAT_NET_NONE : other_part(k, router);
}

static uint32_t part_before(const struct knife *k, uint32_t in)
{
    const uint32_t from = k->whole->in_from[in];
    return from & LEAT_NET_TERMINAL ? LEAT_NET_NONE : other_part(k, k->whole->out_router[from]);
}

static bool is_mine(const struct knife *k, uint32_t terminal)
{
    const uint32_t in = k->whole->terminal_in[terminal], base = k->part->in_base;
    return base <= in && in < base + k->part->ins;
}

static void count(const struct knife *k)
{
    const struct leat_net_topology *w = k->whole;
    struct leat_net_topology *p = k->part;
    const uint32_t begin = k->first[k->index], end = k->first[k->index + 1];
    p->router_first = begin;
    p->routers = end - begin;
    p->out_base = w->out_first[begin];
    p->in_base = w->in_first[begin];
    p->outs = w->out_first[end] - p->out_base;
    p->ins = w->in_first[end] - p->in_base;
    for (uint32_t o = 0; o < p->outs; o++)
        p->out_cuts += part_after(k, p->out_base + o) != LEAT_NET_NONE;
    for (uint32_t i = 0; i < p->ins; i++) {
        if (part_before(k, p->in_base + i) == LEAT_NET_NONE) continue;
        const uint32_t cycles = w->out_cycles[w->in_from[p->in_base + i]];
        if (cycles > p->cut_cycles) p->cut_cycles = cycles;
        p->in_cuts++;
    }
    for (uint32_t t = 0; t < w->terminals; t++)
        p->terminals += is_mine(k, t);
}

static void lay(struct leat_net_topology *p, struct leat_arena *arena)
{
    p->out_first = leat_arena_lay(arena, (size_t)p->routers + 1, sizeof *p->out_first);
    p->in_first = leat_arena_lay(arena, (size_t)p->routers + 1, sizeof *p->in_first);
    p->out_to = leat_arena_lay(arena, p->outs, sizeof *p->out_to);
    p->in_from = leat_arena_lay(arena, p->ins, sizeof *p->in_from);
    p->out_router = leat_arena_lay(arena, p->outs, sizeof *p->out_router);
    p->in_router = leat_arena_lay(arena, p->ins, sizeof *p->in_router);
    p->out_cycles = leat_arena_lay(arena, p->outs, sizeof *p->out_cycles);
    p->terminal_in = leat_arena_lay(arena, p->terminals, sizeof *p->terminal_in);
    p->terminal = leat_arena_lay(arena, p->terminals, sizeof *p->terminal);
    p->out_cut = leat_arena_lay(arena, p->out_cuts, sizeof *p->out_cut);
    p->in_cut = leat_arena_lay(arena, p->in_cuts, sizeof *p->in_cut);
}

static void cut_outs(const struct knife *k)
{
    const struct leat_net_topology *w = k->whole;
    struct leat_net_topology *p = k->part;
    uint32_t cuts = 0;
    for (uint32_t o = 0; o < p->outs; o++) {
        const uint32_t out = p->out_base + o, to = w->out_to[out], part = part_after(k, out);
        p->out_router[o] = w->out_router[out] - p->router_first;
        p->out_cycles[o] = w->out_cycles[out];
        p->out_to[o] = to & LEAT_NET_TERMINAL ? to : to - p->in_base;
        if (part == LEAT_NET_NONE) continue;
        p->out_to[o] = LEAT_NET_CROSSING | cuts;
        p->out_cut[cuts++] = (struct leat_net_cut){
            .part = part,
            .port = to - w->in_first[k->first[part]],
            .cycles = w->out_cycles[out],
        };
    }
}

static void cut_ins(const struct knife *k)
{
    const struct leat_net_topology *w = k->whole;
    struct leat_net_topology *p = k->part;
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < p->ins; i++) {
        const uint32_t in = p->in_base + i, from = w->in_from[in], part = part_before(k, in);
        p->in_router[i] = w->in_router[in] - p->router_first;
        p->in_from[i] = from & LEAT_NET_TERMINAL ? LEAT_NET_NONE : from - p->out_base;
        if (part == LEAT_NET_NONE) continue;
        p->in_from[i] = LEAT_NET_CROSSING | cuts;
        p->in_cut[cuts++] = (struct leat_net_cut){
            .part = part,
            .port = from - w->out_first[k->first[part]],
            .cycles = w->out_cycles[from],
        };
    }
}

/* Terminals have numbers of the part where they send. */
static void number_terminals(const struct knife *k)
{
    const struct leat_net_topology *w = k->whole;
    struct leat_net_topology *p = k->part;
    uint32_t number = 0;
    for (uint32_t t = 0; t < w->terminals; t++) {
        if (!is_mine(k, t)) continue;
        p->terminal[number] = t;
        p->terminal_in[number] = w->terminal_in[t] - p->in_base;
        p->in_from[p->terminal_in[number]] = LEAT_NET_TERMINAL | number;
        number++;
    }
}

void leat_net_cut_build(const struct leat_net_topology *whole, const uint32_t *first,
                        uint32_t parts, uint32_t index, struct leat_arena *arena,
                        struct leat_net_topology *out)
{
    const uint32_t begin = first[index];
    const struct knife k = { whole, first, parts, index, out };
    *out = (struct leat_net_topology){ .shape = whole->shape, .radix = whole->radix };
    count(&k);
    lay(out, arena);
    if (!arena->memory) {
        out->out_first = whole->out_first + begin;
        out->in_first = whole->in_first + begin;
        out->out_cycles = whole->out_cycles + out->out_base;
        return;
    }
    for (uint32_t r = 0; r <= out->routers; r++) {
        out->out_first[r] = whole->out_first[out->router_first + r] - out->out_base;
        out->in_first[r] = whole->in_first[out->router_first + r] - out->in_base;
    }
    cut_outs(&k);
    cut_ins(&k);
    number_terminals(&k);
}
