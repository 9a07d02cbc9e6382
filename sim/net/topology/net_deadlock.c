#include "net_deadlock.h"
#include "net_routing_parts.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

enum {
    STATES_PER_OUT = 4, /* phases in which a packet can be on one wire: rings two, and adaptive */
    CYCLES_TRIED_MAX = 16, /* places on the first cycle where a shorter one is searched */
    WORD = 64,
};

/* A packet that is on this wire. */
struct state {
    uint32_t out, channels;
    uint8_t phase;
};

/* A node is out * classes + class. Its row has a bit per node that may come next, at the next
 * router: port * classes + class. */
struct walk {
    const struct leat_net_topology *topology;
    const struct leat_net_routing *routing;
    uint32_t classes, row_words;
    uint64_t *row;
    uint64_t *seen;      /* [outs] a bit per phase, for the current goal */
    struct state *state; /* states still to expand */
    uint32_t states, cap;
    uint32_t *touched; /* outs whose bits must be cleared for the next goal */
    uint32_t touched_count;
    uint32_t *last; /* [outs] valiant: channels of packets whose intermediate router is at its other
                       end */
    bool no_escape; /* adaptive: somewhere the escape is not offered */
    uint32_t search; /* classes, a bit each, that must be acyclic */
    /* of the search, all [outs * classes] */
    uint8_t *colour;
    uint32_t *path, *cursor, *before;
};

/* ---- a smaller one -------------------------------------------------------------------------- */

/* At most LEAT_NET_DEADLOCK_SIZE_MAX; of the same parity, because only even rings have ties. */
static uint32_t cut(uint32_t size)
{
    if (size <= LEAT_NET_DEADLOCK_SIZE_MAX) return size;
    return LEAT_NET_DEADLOCK_SIZE_MAX - (LEAT_NET_DEADLOCK_SIZE_MAX - size) % 2;
}

static uint32_t at_most(uint32_t number, uint32_t most)
{
    return number < most ? number : most;
}

/* A table has no smaller equivalent, so it is never too large. */
static bool is_too_large(const struct leat_net_shape *shape, enum leat_net_route_rule rule)
{
    struct leat_net_extent extent;
    if (rule == LEAT_NET_TABLE) return false;
    leat_net_shape_measure(shape, &extent);
    if (rule == LEAT_NET_ADAPTIVE &&
        extent.routers * extent.outs * extent.radix > LEAT_NET_DEADLOCK_STEPS_MAX)
        return true;
    return extent.routers * extent.routers > (leat_net_rule_needs_tables(rule, shape->kind)
                                                  ? LEAT_NET_DEADLOCK_SLOW_PAIRS_MAX
                                                  : LEAT_NET_DEADLOCK_PAIRS_MAX);
}

static void drop_smallest_dimension(struct leat_net_shape *shape)
{
    uint32_t smallest = 0;
    for (uint32_t i = 1; i < shape->numbers; i++)
        if (shape->number[i] < shape->number[smallest]) smallest = i;
    shape->numbers--;
    for (uint32_t i = smallest; i < shape->numbers; i++)
        shape->number[i] = shape->number[i + 1];
}

/* The shape that is checked; false: it is the same. */
static bool make_smaller_image(const struct leat_net_shape *shape,
                               const struct leat_net_routing_config *config,
                               struct leat_net_shape *out)
{
    enum { LEVELS = 3, BENES = 16 };
    *out = *shape;
    if (!is_too_large(shape, config->rule)) return false;
    for (uint32_t i = 0; i < out->numbers; i++)
        out->number[i] = cut(out->number[i]);
    out->terminals = at_most(out->terminals, 1);
    switch (shape->kind) {
    case LEAT_NET_LINE:
    case LEAT_NET_RING:
    case LEAT_NET_MESH:
    case LEAT_NET_TORUS:
    case LEAT_NET_HYPERX:
        while (is_too_large(out, config->rule))
            drop_smallest_dimension(out);
        return true;
    case LEAT_NET_FLY:
    case LEAT_NET_FATTREE: out->number[1] = at_most(shape->number[1], LEVELS); return true;
    case LEAT_NET_BENES: out->number[0] = at_most(shape->number[0], BENES); return true;
    case LEAT_NET_DRAGONFLY: out->number[0] = 1; return true;
    case LEAT_NET_GRID:
    case LEAT_NET_HYPERCUBE:
    case LEAT_NET_CLOS: return true;
    case LEAT_NET_CROSSBAR:
    case LEAT_NET_GRAPH: break;
    }
    *out = *shape;
    return false;
}

bool leat_net_share_suffices(const struct leat_net_shape *shape,
                             const struct leat_net_routing_config *config)
{
    struct leat_net_shape walked;
    return !leat_net_rule_needs_tables(config->rule, shape->kind) &&
           make_smaller_image(shape, config, &walked);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void lay(struct walk *w, uint64_t outs, uint64_t radix, struct leat_arena *arena)
{
    const size_t nodes = (size_t)outs * w->classes;
    w->row_words = (uint32_t)((radix * w->classes + WORD - 1) / WORD);
    w->cap = (uint32_t)(outs * STATES_PER_OUT);
    w->row = leat_arena_lay(arena, nodes * w->row_words, sizeof *w->row);
    w->seen = leat_arena_lay(arena, (size_t)outs, sizeof *w->seen);
    w->state = leat_arena_lay(arena, w->cap, sizeof *w->state);
    w->touched = leat_arena_lay(arena, (size_t)outs, sizeof *w->touched);
    w->last = leat_arena_lay(arena, (size_t)outs, sizeof *w->last);
    w->colour = leat_arena_lay(arena, nodes, sizeof *w->colour);
    w->path = leat_arena_lay(arena, nodes, sizeof *w->path);
    w->cursor = leat_arena_lay(arena, nodes, sizeof *w->cursor);
    w->before = leat_arena_lay(arena, nodes, sizeof *w->before);
}

/* The radix of a graph is not known from its shape; then memory is for the largest, and unneeded
 * parts are not touched. */
size_t leat_net_deadlock_footprint(const struct leat_net_shape *shape,
                                   const struct leat_net_routing_config *config)
{
    struct leat_net_shape walked;
    struct leat_net_extent extent;
    struct leat_net_channels channels;
    struct leat_arena arena = { 0 };
    const bool smaller = make_smaller_image(shape, config, &walked);
    leat_net_shape_measure(&walked, &extent);
    leat_net_channels_share(&walked, config, &channels);
    if (smaller) {
        const struct leat_net_topology measured = { .shape = walked,
                                                    .routers = (uint32_t)extent.routers,
                                                    .terminals = (uint32_t)extent.terminals,
                                                    .outs = (uint32_t)extent.outs };
        leat_arena_lay(&arena, 1, leat_net_topology_footprint(&walked));
        leat_arena_lay(&arena, 1, leat_net_routing_footprint(&measured, config));
    }
    struct walk w = { .classes = channels.classes };
    if (walked.kind == LEAT_NET_GRAPH)
        extent.radix = extent.outs < LEAT_NET_RADIX_MAX ? extent.outs : LEAT_NET_RADIX_MAX;
    lay(&w, extent.outs, extent.radix, &arena);
    return arena.used;
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* Some packet holds these channels of the one wire and waits for those of the other. */
static void depend(struct walk *w, uint32_t out, uint32_t channels, uint32_t next_out,
                   uint32_t next_channels)
{
    const uint32_t *class = w->routing->channels.class;
    const uint32_t router = w->topology->out_router[next_out];
    const uint32_t first = (next_out - w->topology->out_first[router]) * w->classes;
    for (uint32_t i = 0; i < w->classes; i++) {
        if (!(class[i] & channels)) continue;
        uint64_t *row = w->row + ((size_t)out * w->classes + i) * w->row_words;
        for (uint32_t j = 0; j < w->classes; j++)
            if (class[j] & next_channels)
                row[(first + j) / WORD] |= UINT64_C(1) << (first + j) % WORD;
    }
}

static void push(struct walk *w, uint32_t out, const struct leat_net_option *option)
{
    assert(option->phase < LEAT_NET_PHASES);
    const uint64_t bit = UINT64_C(1) << option->phase;
    if (w->seen[out] & bit) return;
    if (!w->seen[out]) w->touched[w->touched_count++] = out;
    w->seen[out] |= bit;
    assert(w->states < w->cap);
    w->state[w->states++] = (struct state){ out, option->channels, option->phase };
}

/* How packets came to a router: over one wire; or, valiant, over all wires that led to their
 * intermediate router; or (both NONE) from a terminal. */
struct from {
    uint32_t out, channels;
    uint32_t between;
};

static void depend_from(struct walk *w, const struct from *from, uint32_t out, uint32_t channels)
{
    const struct leat_net_topology *t = w->topology;
    if (from->out != LEAT_NET_NONE) depend(w, from->out, from->channels, out, channels);
    if (from->between == LEAT_NET_NONE) return;
    for (uint32_t i = t->in_first[from->between]; i < t->in_first[from->between + 1]; i++) {
        const uint32_t before = t->in_from[i];
        if (before & LEAT_NET_TERMINAL) continue;
        if (w->last[before]) depend(w, before, w->last[before], out, channels);
    }
}

/* All options that a packet in this state may get, whatever its salt. */
static void ask(struct walk *w, uint32_t router, const struct leat_net_route *route,
                const struct from *from)
{
    const struct leat_net_topology *t = w->topology;
    struct leat_net_option options[LEAT_NET_OPTIONS_MAX];
    struct leat_net_turn turn = { .turns = 1 };
    for (; turn.turn < turn.turns; turn.turn++) {
        struct leat_net_route copy = *route;
        const uint32_t count = w->routing->rule(w->routing, router, &copy, &turn, options);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t out = t->out_first[router] + options[i].port;
            if (leat_net_behind(t, out) == LEAT_NET_NONE) return; /* arrived */
            depend_from(w, from, out, options[i].channels);
            push(w, out, &options[i]);
        }
        if (w->routing->channels.escape &&
            (count == 0 || !(options[count - 1].phase & LEAT_NET_ESCAPED)))
            w->no_escape = true;
    }
}

/* Expands all states until there are none. Legs that end at an intermediate router are recorded. */
static void follow(struct walk *w, struct leat_net_route route)
{
    while (w->states) {
        const struct state s = w->state[--w->states];
        const uint32_t router = leat_net_behind(w->topology, s.out);
        if (router == route.via) {
            w->last[s.out] |= s.channels;
            continue;
        }
        const struct from from = { s.out, s.channels, LEAT_NET_NONE };
        route.phase = s.phase;
        ask(w, router, &route, &from);
    }
    for (uint32_t i = 0; i < w->touched_count; i++)
        w->seen[w->touched[i]] = 0;
    w->touched_count = 0;
}

/* From every router that has a terminal. One terminal each is enough; the lowest. */
static void begin_at_terminals(struct walk *w, const struct leat_net_route *route, uint32_t goal)
{
    const struct leat_net_topology *t = w->topology;
    const struct from from = { LEAT_NET_NONE, 0, LEAT_NET_NONE };
    uint32_t before = LEAT_NET_NONE;
    for (uint32_t i = 0; i < t->terminals; i++) {
        const uint32_t router = t->in_router[t->terminal_in[i]];
        if (router == before || router == goal) continue;
        before = router;
        ask(w, router, route, &from);
    }
}

static void walk_to(struct walk *w, uint32_t terminal)
{
    const uint32_t goal = w->routing->target[terminal].router;
    struct leat_net_route route = { .destination = terminal, .via = LEAT_NET_NONE };
    if (w->routing->config.rule != LEAT_NET_VALIANT) {
        begin_at_terminals(w, &route, goal);
    } else {
        for (uint32_t r = 0; r < w->topology->routers; r++) {
            const struct from from = { LEAT_NET_NONE, 0, r };
            route.via = r; /* its present router: the routing sends it on */
            if (r != goal) ask(w, r, &route, &from);
        }
        route.via = LEAT_NET_NONE;
    }
    follow(w, route);
}

static void walk_all(struct walk *w)
{
    const struct leat_net_topology *t = w->topology;
    uint32_t before = LEAT_NET_NONE;
    if (w->routing->config.rule == LEAT_NET_VALIANT) {
        for (uint32_t r = 0; r < t->routers; r++) {
            const struct leat_net_route route = { .destination = 0, .via = r };
            begin_at_terminals(w, &route, r);
            follow(w, route);
        }
    }
    for (uint32_t i = 0; i < t->terminals; i++) {
        if (w->routing->target[i].router == before) continue;
        before = w->routing->target[i].router;
        walk_to(w, i);
    }
}

/* Graphs too large for the search: all turns that up and down allow, whether packets take them or
 * not. These are acyclic in any graph, as long as the legs have separate channels. */
static void allow_turns(struct walk *w)
{
    const struct leat_net_topology *t = w->topology;
    const struct leat_net_leg *leg = w->routing->channels.leg;
    for (uint32_t o = 0; o < t->outs; o++) {
        const uint32_t router = leat_net_behind(t, o);
        if (router == LEAT_NET_NONE) continue;
        for (uint32_t next = t->out_first[router]; next < t->out_first[router + 1]; next++) {
            if (leat_net_behind(t, next) == LEAT_NET_NONE) continue;
            depend(w, o, leg[0].all, next, leg[1].all); /* at the intermediate router */
            if (!leat_net_updown_allows(w->routing, o, next)) continue;
            depend(w, o, leg[0].all, next, leg[0].all);
            depend(w, o, leg[1].all, next, leg[1].all);
        }
    }
}

/* ---- the cycle ------------------------------------------------------------------------------ */

/* The next node after `node` from position *cursor on; NONE: there is none. */
static uint32_t next_node(const struct walk *w, uint32_t node, uint32_t *cursor)
{
    const uint64_t *row = w->row + (size_t)node * w->row_words;
    const uint32_t router = leat_net_behind(w->topology, node / w->classes);
    while (*cursor < w->row_words * WORD) {
        const uint64_t word = row[*cursor / WORD] >> *cursor % WORD;
        if (!word) {
            *cursor = (*cursor / WORD + 1) * WORD;
            continue;
        }
        const uint32_t place = *cursor + (uint32_t)__builtin_ctzll(word);
        *cursor = place + 1;
        if (w->search >> place % w->classes & 1)
            return w->topology->out_first[router] * w->classes + place;
    }
    return LEAT_NET_NONE;
}

enum { WHITE, GREY, BLACK };

/* Depth first from a node, without recursion. Returns the length of a cycle, which is then at the
 * end of the path up to *top; 0: there is none. */
static uint32_t descend(struct walk *w, uint32_t start, uint32_t *top)
{
    uint32_t len = 0;
    w->path[len++] = start;
    w->cursor[start] = 0;
    w->colour[start] = GREY;
    while (len) {
        const uint32_t node = w->path[len - 1], next = next_node(w, node, &w->cursor[node]);
        if (next == LEAT_NET_NONE) {
            w->colour[node] = BLACK;
            len--;
        } else if (w->colour[next] == GREY) {
            *top = len;
            uint32_t at = len - 1;
            while (w->path[at] != next)
                at--;
            return len - at;
        } else if (w->colour[next] == WHITE) {
            w->path[len++] = next;
            w->cursor[next] = 0;
            w->colour[next] = GREY;
        }
    }
    return 0;
}

static bool is_searched(const struct walk *w, uint32_t node)
{
    return leat_net_behind(w->topology, node / w->classes) != LEAT_NET_NONE &&
           w->search >> node % w->classes & 1;
}

/* The shortest path from a node back to itself, breadth first; `before` then holds it. */
static uint32_t shortest_back(struct walk *w, uint32_t start)
{
    const uint32_t nodes = w->topology->outs * w->classes;
    uint32_t *queue = w->cursor, head = 0, tail = 0, len = 1;
    memset(w->before, 0xff, nodes * sizeof *w->before);
    queue[tail++] = start;
    for (bool closed = false; !closed;) {
        assert(head < tail);
        const uint32_t node = queue[head++];
        uint32_t cursor = 0, next;
        while (!closed && (next = next_node(w, node, &cursor)) != LEAT_NET_NONE) {
            closed = next == start;
            if (w->before[next] != LEAT_NET_NONE) continue;
            w->before[next] = node;
            queue[tail++] = next;
        }
    }
    for (uint32_t node = w->before[start]; node != start; node = w->before[node])
        len++;
    return len;
}

/* Returns the cycle through `start` that `before` holds, the lowest node first. */
static void list_cycle(const struct walk *w, uint32_t start, uint32_t len,
                       struct leat_net_deadlock *out)
{
    uint32_t lowest = start;
    for (uint32_t node = w->before[start]; node != start; node = w->before[node])
        if (node < lowest) lowest = node;
    out->possible = true;
    out->cycle_len = len;
    out->cycle_listed = at_most(len, LEAT_NET_DEADLOCK_CYCLE_MAX);
    uint32_t at = len, node = lowest;
    do {
        node = w->before[node];
        if (--at >= out->cycle_listed) continue;
        const uint32_t channels = w->routing->channels.class[node % w->classes];
        out->cycle[at] = (struct leat_net_deadlock_step){ node / w->classes,
                                                          (uint32_t)__builtin_ctz(channels) };
    } while (node != lowest);
}

static void find_cycle(struct walk *w, struct leat_net_deadlock *out)
{
    const uint32_t nodes = w->topology->outs * w->classes;
    uint32_t len = 0, top = 0, best = 0, best_len = UINT32_MAX;
    memset(w->colour, WHITE, nodes);
    for (uint32_t node = 0; node < nodes && !len; node++)
        if (is_searched(w, node) && w->colour[node] == WHITE) len = descend(w, node, &top);
    if (!len) return;
    for (uint32_t i = 0; i < len && i < CYCLES_TRIED_MAX; i++) {
        const uint32_t node = w->path[top - 1 - i], back = shortest_back(w, node);
        if (back >= best_len) continue;
        best = node;
        best_len = back;
    }
    list_cycle(w, best, shortest_back(w, best), out);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static uint32_t bits_of(uint32_t mask)
{
    uint32_t bits = 0;
    for (; mask; mask &= mask - 1)
        bits++;
    return bits;
}

static void count(const struct walk *w, struct leat_net_deadlock *out)
{
    const uint32_t nodes = w->topology->outs * w->classes;
    const uint32_t *class = w->routing->channels.class;
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t cursor = 0, next;
        if (!is_searched(w, node)) continue;
        const uint32_t channels = bits_of(class[node % w->classes]);
        out->channels += channels;
        while ((next = next_node(w, node, &cursor)) != LEAT_NET_NONE)
            out->dependencies += (uint64_t)channels * bits_of(class[next % w->classes]);
    }
}

/* Which classes count: the escape's, if it is offered everywhere; else all. */
static uint32_t classes_to_search(const struct walk *w)
{
    const uint32_t escape = w->no_escape ? 0 : w->routing->channels.escape;
    uint32_t search = 0;
    for (uint32_t i = 0; i < w->classes; i++)
        if (!escape || (escape & w->routing->channels.class[i]) != 0) search |= UINT32_C(1) << i;
    return search;
}

/* Builds the smaller network. */
static const struct leat_net_routing *build(const struct leat_net_shape *shape,
                                            const struct leat_net_routing_config *config,
                                            struct leat_arena *arena,
                                            struct leat_net_topology *topology)
{
    struct leat_text why = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    void *memory = leat_arena_lay(arena, 1, leat_net_topology_footprint(shape));
    leat_sim_must(!leat_net_topology_build(topology, shape, memory, &why));
    memory = leat_arena_lay(arena, 1, leat_net_routing_footprint(topology, config));
    return leat_net_routing_init(topology, config, memory);
}

void leat_net_deadlock_find(const struct leat_net_topology *topology,
                            const struct leat_net_routing *routing,
                            const struct leat_net_routing_config *config, void *memory,
                            struct leat_net_deadlock *out)
{
    struct leat_net_shape walked;
    struct leat_arena arena = { .memory = memory,
                                .cap = leat_net_deadlock_footprint(&topology->shape, config) };
    *out = (struct leat_net_deadlock){ .checked = *topology };
    out->smaller = make_smaller_image(&topology->shape, config, &walked);
    if (out->smaller) routing = build(&walked, config, &arena, &out->checked);
    struct walk w = { .topology = &out->checked,
                      .routing = routing,
                      .classes = routing->channels.classes };
    lay(&w, out->checked.outs, out->checked.radix, &arena);
    memset(w.row, 0, (size_t)out->checked.outs * w.classes * w.row_words * sizeof *w.row);
    memset(w.seen, 0, out->checked.outs * sizeof *w.seen);
    memset(w.last, 0, out->checked.outs * sizeof *w.last);
    if (is_too_large(&walked, config->rule)) /* a graph: all others have a smaller equivalent */
        allow_turns(&w);
    else
        walk_all(&w);
    w.search = classes_to_search(&w);
    count(&w, out);
    find_cycle(&w, out);
}

void leat_net_deadlock_text(const struct leat_net_deadlock *deadlock, struct leat_text *text)
{
    const struct leat_net_topology *t = &deadlock->checked;
    for (uint32_t i = 0; i < deadlock->cycle_listed; i++) {
        const struct leat_net_deadlock_step *step = &deadlock->cycle[i];
        if (i) leat_text_puts(text, ", ");
        leat_text_decimal(text, t->out_router[step->out]);
        leat_text_putc(text, '>');
        leat_text_decimal(text, leat_net_behind(t, step->out));
        leat_text_puts(text, " vc");
        leat_text_decimal(text, step->channel);
    }
    if (deadlock->cycle_listed < deadlock->cycle_len) leat_text_puts(text, ", ...");
}
