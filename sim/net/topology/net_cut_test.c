#include "net_cut.h"
#include "tap.h"
#include <leat/random.h>

enum { PARTS_MAX = 7, SHARE_MAX = 1 << 20 /* octets of a part of these shapes */ };

static struct leat_net_topology part[PARTS_MAX];
static uint32_t first[PARTS_MAX + 1];

/* The port of the whole that a port of a part is. */
static uint32_t whole_in(uint32_t index, uint32_t in)
{
    return part[index].in_base + in;
}

static void wire_is_there(const struct leat_net_topology *whole, uint32_t index, uint32_t o)
{
    const struct leat_net_topology *p = &part[index];
    const uint32_t out = p->out_base + o, to = p->out_to[o], want = whole->out_to[out];
    EQ(p->out_cycles[o], whole->out_cycles[out]);
    EQ(p->router_first + p->out_router[o], whole->out_router[out]);
    if (want & LEAT_NET_TERMINAL) {
        EQ(to, want);
    } else if (to & LEAT_NET_CROSSING) {
        const struct leat_net_cut *cut = &p->out_cut[to ^ LEAT_NET_CROSSING];
        OK(cut->part != index);
        EQ(whole_in(cut->part, cut->port), want);
        const uint32_t from = part[cut->part].in_from[cut->port];
        OK(!(from & LEAT_NET_TERMINAL) && from & LEAT_NET_CROSSING);
        const struct leat_net_cut *back = &part[cut->part].in_cut[from ^ LEAT_NET_CROSSING];
        EQ(back->part, index);
        EQ(back->port, o);
        EQ(back->cycles, whole->out_cycles[out]);
        OK(back->cycles <= part[cut->part].cut_cycles);
    } else {
        EQ(whole_in(index, to), want);
        EQ(p->in_from[to], o);
    }
}

static void parts_are(const struct leat_net_topology *whole, uint32_t parts)
{
    uint32_t terminals = 0, outs = 0, ins = 0;
    for (uint32_t i = 0; i < parts; i++) {
        OK(part[i].routers > 0);
        EQ(part[i].router_first, first[i]);
        EQ(part[i].out_base, outs);
        EQ(part[i].in_base, ins);
        for (uint32_t o = 0; o < part[i].outs; o++)
            wire_is_there(whole, i, o);
        for (uint32_t t = 0; t < part[i].terminals; t++) {
            const uint32_t in = part[i].terminal_in[t];
            EQ(whole_in(i, in), whole->terminal_in[part[i].terminal[t]]);
            EQ(part[i].in_from[in], LEAT_NET_TERMINAL | t);
            OK(!t || part[i].terminal[t] > part[i].terminal[t - 1]);
        }
        for (uint32_t r = 0; r < part[i].routers; r++)
            EQ(leat_net_cut_part(first, parts, first[i] + r), i);
        terminals += part[i].terminals;
        outs += part[i].outs;
        ins += part[i].ins;
    }
    EQ(terminals, whole->terminals);
    EQ(outs, whole->outs);
    EQ(ins, whole->ins);
}

static void cut(const struct leat_net_topology *whole, uint32_t parts)
{
    void *memory[PARTS_MAX];
    leat_net_cut_bounds(whole, parts, first);
    EQ(first[0], 0);
    EQ(first[parts], whole->routers);
    for (uint32_t i = 0; i < parts; i++) {
        struct leat_arena arena = { 0 };
        struct leat_net_topology measured;
        leat_net_cut_build(whole, first, parts, i, &arena, &measured);
        memory[i] = calloc(1, arena.used);
        if (!memory[i]) abort();
        arena = (struct leat_arena){ .memory = memory[i], .cap = arena.used };
        leat_net_cut_build(whole, first, parts, i, &arena, &part[i]);
        EQ(measured.outs, part[i].outs);
        EQ(measured.in_cuts, part[i].in_cuts);
        EQ(measured.terminals, part[i].terminals);
    }
    parts_are(whole, parts);
    for (uint32_t i = 0; i < parts; i++)
        free(memory[i]);
}

/* ---- shares ---------------------------------------------------------------------------------- */

static bool is_held(const struct leat_net_topology *t, uint32_t router)
{
    return t->held_begin <= router && router < t->held_end;
}

/* What is not needed is not touched. */
static void the_rest_is_untouched(const struct leat_net_topology *whole,
                                  const struct leat_net_topology *own)
{
    bool *near = calloc(whole->routers, sizeof *near);
    if (!near) abort();
    for (uint32_t o = 0; o < whole->outs; o++) {
        const uint32_t from = whole->out_router[o], to = leat_net_behind(whole, o);
        if (is_held(own, from)) near[from] = true;
        if (to == LEAT_NET_NONE) continue;
        if (is_held(own, from) || is_held(own, to)) near[from] = near[to] = true;
    }
    for (uint32_t r = 0; r < whole->routers; r++) {
        if (near[r]) continue;
        for (uint32_t o = whole->out_first[r]; o < whole->out_first[r + 1]; o++)
            EQ(own->out_to[o] | own->out_router[o] | own->out_cycles[o], 0);
        for (uint32_t i = whole->in_first[r]; i < whole->in_first[r + 1]; i++)
            EQ(own->in_from[i] | own->in_router[i], 0);
    }
    free(near);
}

static void same(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    EQ(memcmp(a, b, count * sizeof *a), 0);
}

/* A part that is cut from its share is the part that is cut from the whole. */
static void cut_shares(const struct leat_net_topology *whole, uint32_t parts)
{
    leat_net_cut_bounds(whole, parts, first);
    for (uint32_t i = 0; i < parts; i++) {
        const struct leat_net_share share = { parts, i, i + 1 };
        struct leat_net_topology own, of_own, of_whole;
        void *memory = calloc(1, leat_net_topology_footprint(&whole->shape));
        struct leat_arena arena = { .memory = calloc(2, SHARE_MAX), .cap = 2 * SHARE_MAX };
        if (!memory || !arena.memory) abort();
        OK(!leat_net_topology_build_share(&own, &whole->shape, &share, memory, NULL));
        EQ(own.wires, whole->wires);
        same(own.terminal_in, whole->terminal_in, whole->terminals);
        same(own.terminal_out, whole->terminal_out, whole->terminals);
        leat_net_cut_build(&own, first, parts, i, &arena, &of_own);
        leat_net_cut_build(whole, first, parts, i, &arena, &of_whole);
        EQ(of_own.outs, of_whole.outs);
        EQ(of_own.terminals, of_whole.terminals);
        EQ(of_own.cut_cycles, of_whole.cut_cycles);
        same(of_own.out_to, of_whole.out_to, of_whole.outs);
        same(of_own.in_from, of_whole.in_from, of_whole.ins);
        same(of_own.out_router, of_whole.out_router, of_whole.outs);
        same(of_own.terminal, of_whole.terminal, of_whole.terminals);
        same(&of_own.out_cut->part, &of_whole.out_cut->part, 3 * of_whole.out_cuts);
        same(&of_own.in_cut->part, &of_whole.in_cut->part, 3 * of_whole.in_cuts);
        the_rest_is_untouched(whole, &own);
        free(arena.memory);
        free(memory);
    }
}

/* ---- random shapes --------------------------------------------------------------------------- */

static void all_wires_and_terminals_are_in_one_part_or_between_two(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int kind = 0; kind < LEAT_NET_GRAPH; kind++)
        for (int round = 0; round < 60; round++) {
            struct leat_net_shape shape = { .kind = (enum leat_net_kind)kind };
            shape.numbers = 1 + (uint32_t)leat_random_below(&r, 3);
            shape.terminals = 1 + (uint32_t)leat_random_below(&r, 3);
            shape.wire_cycles = 1 + (uint32_t)leat_random_below(&r, 9);
            for (int i = 0; i < 3; i++)
                shape.number[i] = 1 + (uint32_t)leat_random_below(&r, 5);
            char line[256];
            struct leat_text why;
            struct leat_net_topology whole;
            leat_text_init(&why, line, sizeof line, NULL, NULL);
            if (leat_net_shape_check(&shape, &why)) continue;
            void *memory = calloc(1, leat_net_topology_footprint(&shape));
            if (!memory) abort();
            OK(!leat_net_topology_build(&whole, &shape, memory, &why));
            for (uint32_t parts = 1; parts <= PARTS_MAX && parts <= whole.routers; parts++)
                cut(&whole, parts);
            if (round % 6 == 0)
                for (uint32_t parts = 1; parts <= PARTS_MAX && parts <= whole.routers; parts += 2)
                    cut_shares(&whole, parts);
            free(memory);
        }
}

static void parts_have_about_as_many_ports(void)
{
    const struct leat_net_shape shape = {
        .kind = LEAT_NET_TORUS, .number = { 12, 7 }, .numbers = 2, .terminals = 1, .wire_cycles = 1
    };
    struct leat_net_topology whole;
    void *memory = calloc(1, leat_net_topology_footprint(&shape));
    if (!memory) abort();
    OK(!leat_net_topology_build(&whole, &shape, memory, NULL));
    for (uint32_t parts = 1; parts <= PARTS_MAX; parts++) {
        leat_net_cut_bounds(&whole, parts, first);
        for (uint32_t i = 0; i < parts; i++) {
            const uint32_t routers = first[i + 1] - first[i];
            OK(routers >= 84 / parts && routers <= 84 / parts + 1);
        }
    }
    free(memory);
}

TAP_MAIN(T(all_wires_and_terminals_are_in_one_part_or_between_two),
         T(parts_have_about_as_many_ports))
