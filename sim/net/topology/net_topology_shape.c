/* What a shape's numbers mean, which of them can be built, and how large that is. */
#include "net_topology_parts.h"
#include "sim_refuse.h"
#include <leat/time.h>

enum {
    LEVELS_MAX = 20, /* of 2: LEAT_NET_TERMINALS_MAX */
    BENES_LEVELS_MAX = 16,
    GRID_MAX = 1024,
    NAMES_MAX = 3,
};

_Static_assert((2 * BENES_LEVELS_MAX - 1) << (BENES_LEVELS_MAX - 1) <= LEAT_NET_ROUTERS_MAX &&
                   1 << LEVELS_MAX <= LEAT_NET_TERMINALS_MAX &&
                   1 << LEAT_NET_DIMENSIONS_MAX <= LEAT_NET_ROUTERS_MAX &&
                   GRID_MAX * GRID_MAX <= LEAT_NET_ROUTERS_MAX,
               "what is within these is within those");

/* Numbers beyond are cut to it; the product of two limits stays below 2^64. */
#define CUT UINT64_C(0xffffffff)

struct number {
    const char *name;
    uint32_t least, most;
};

/* How the routers of a kind are placed. */
enum family { NO_COORDINATES, LATTICE, CUBE };

enum { RADIX = LEAT_NET_RADIX_MAX, ROUTERS = LEAT_NET_ROUTERS_MAX, MANY = LEAT_NET_NUMBERS_MAX };

/* clang-format off */
static const struct kind {
    const char *name, *numbers_text;
    uint32_t least, most; /* how many numbers; where they differ, all are like the first */
    struct number number[NAMES_MAX];
    enum family family;
} kinds[LEAT_NET_KINDS] = {
    [LEAT_NET_LINE]      = { "line", "N", 1, 1, { { "N", 1, ROUTERS } }, LATTICE },
    [LEAT_NET_RING]      = { "ring", "N", 1, 1, { { "N", 1, ROUTERS } }, LATTICE },
    [LEAT_NET_CROSSBAR]  = { "crossbar", "N", 1, 1, { { "N", 1, RADIX } } },
    [LEAT_NET_GRID]      = { "grid", "N", 1, 1, { { "N", 1, GRID_MAX } } },
    [LEAT_NET_MESH]      = { "mesh", "K1,K2,...", 1, MANY, { { "K", 1, ROUTERS } }, LATTICE },
    [LEAT_NET_TORUS]     = { "torus", "K1,K2,...", 1, MANY, { { "K", 1, ROUTERS } }, LATTICE },
    [LEAT_NET_HYPERCUBE] = { "hypercube", "D", 1, 1, { { "D", 1, LEAT_NET_DIMENSIONS_MAX } },
                             CUBE },
    [LEAT_NET_FLY]       = { "fly", "K,N", 2, 2, { { "K", 2, RADIX }, { "N", 1, LEVELS_MAX } } },
    [LEAT_NET_BENES]     = { "benes", "N", 1, 1, { { "N", 2, 1 << BENES_LEVELS_MAX } } },
    [LEAT_NET_CLOS]      = { "clos", "E,M,R", 3, 3,
                             { { "E", 1, RADIX }, { "M", 1, RADIX }, { "R", 1, RADIX } } },
    [LEAT_NET_FATTREE]   = { "fattree", "K,N", 2, 2,
                             { { "K", 2, RADIX }, { "N", 1, LEVELS_MAX } } },
    [LEAT_NET_DRAGONFLY] = { "dragonfly", "P,A,H", 3, 3,
                             { { "P", 1, RADIX }, { "A", 1, RADIX }, { "H", 1, RADIX } } },
    [LEAT_NET_HYPERX]    = { "hyperx", "S1,S2,...", 1, MANY, { { "S", 1, RADIX } }, LATTICE },
    [LEAT_NET_GRAPH]     = { "graph", "", 0, 0, { { "", 0, 0 } } },
};
/* clang-format on */

const char *leat_net_kind_name(enum leat_net_kind kind)
{
    return (unsigned)kind < LEAT_NET_KINDS ? kinds[kind].name : NULL;
}

const char *leat_net_kind_numbers(enum leat_net_kind kind)
{
    return (unsigned)kind < LEAT_NET_KINDS ? kinds[kind].numbers_text : NULL;
}

bool leat_net_kind_find(const char *name, size_t len, enum leat_net_kind *out)
{
    for (unsigned i = 0; i < LEAT_NET_KINDS; i++) {
        if (strlen(kinds[i].name) != len || memcmp(kinds[i].name, name, len) != 0) continue;
        *out = (enum leat_net_kind)i;
        return true;
    }
    return false;
}

/* ---- dimensions ----------------------------------------------------------------------------- */

bool leat_net_kind_is_lattice(enum leat_net_kind kind)
{
    return kinds[kind].family != NO_COORDINATES;
}

uint32_t leat_net_shape_dimensions(const struct leat_net_shape *shape)
{
    const enum family family = kinds[shape->kind].family;
    return family == LATTICE ? shape->numbers : family == CUBE ? shape->number[0] : 0;
}

uint32_t leat_net_shape_size(const struct leat_net_shape *shape, uint32_t dimension)
{
    assert(dimension < leat_net_shape_dimensions(shape));
    return kinds[shape->kind].family == CUBE ? 2 : shape->number[dimension];
}

/* ---- how large ------------------------------------------------------------------------------ */

/* Both at most CUT. */
static uint64_t times(uint64_t a, uint64_t b)
{
    const uint64_t product = a * b;
    return product < CUT ? product : CUT;
}

static uint64_t to_the(uint64_t base, uint32_t exponent)
{
    uint64_t power = 1;
    while (exponent--)
        power = times(power, base);
    return power;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a + b < CUT ? a + b : CUT;
}

static void add(struct leat_net_extent *e, uint64_t routers, uint64_t outs, uint64_t ins)
{
    assert(e->blocks < LEAT_NET_BLOCKS_MAX);
    e->block[e->blocks++] = (struct leat_net_block){ routers, outs, ins };
    e->routers = sum(e->routers, routers);
    e->outs = sum(e->outs, times(routers, outs));
    e->ins = sum(e->ins, times(routers, ins));
    e->radix = leat_larger(e->radix, leat_larger(outs, ins));
}

/* Routers with so many wires out and in, and as many terminals as the shape says. */
static void add_direct(struct leat_net_extent *e, uint64_t routers, uint64_t wires,
                       uint64_t terminals)
{
    add(e, routers, wires + terminals, wires + terminals);
    e->terminals = times(routers, terminals);
}

static void measure_lattice(const struct leat_net_shape *s, struct leat_net_extent *e)
{
    uint64_t routers = 1, others = 0;
    for (uint32_t i = 0; i < s->numbers; i++) {
        routers = times(routers, s->number[i]);
        others += s->number[i] - 1;
    }
    add_direct(e, routers, s->kind == LEAT_NET_HYPERX ? others : 2 * s->numbers, s->terminals);
}

static void measure_clos(uint64_t e, uint64_t m, uint64_t r, struct leat_net_extent *extent)
{
    add(extent, r, m, e);
    add(extent, m, r, r);
    add(extent, r, e, m);
    extent->terminals = times(e, r);
}

static void measure_fattree(uint64_t k, uint32_t n, struct leat_net_extent *e)
{
    const uint64_t level = to_the(k, n - 1);
    if (n > 1) add(e, times(level, n - 1), 2 * k, 2 * k);
    add(e, level, k, k);
    e->terminals = times(level, k);
}

static uint32_t levels_of(uint32_t power_of_two)
{
    uint32_t levels = 0;
    while (power_of_two >> (levels + 1))
        levels++;
    return levels;
}

void leat_net_shape_measure(const struct leat_net_shape *shape, struct leat_net_extent *out)
{
    const uint32_t *n = shape->number;
    *out = (struct leat_net_extent){ 0 };
    switch (shape->kind) {
    case LEAT_NET_LINE:
    case LEAT_NET_RING:
    case LEAT_NET_MESH:
    case LEAT_NET_TORUS:
    case LEAT_NET_HYPERX: measure_lattice(shape, out); break;
    case LEAT_NET_HYPERCUBE: add_direct(out, UINT64_C(1) << n[0], n[0], shape->terminals); break;
    case LEAT_NET_CROSSBAR: add_direct(out, 1, 0, n[0]); break;
    case LEAT_NET_GRID:
        add(out, times(n[0], n[0]), 2, 2);
        out->terminals = n[0];
        break;
    case LEAT_NET_FLY:
        add(out, times(to_the(n[0], n[1] - 1), n[1]), n[0], n[0]);
        out->terminals = to_the(n[0], n[1]);
        break;
    case LEAT_NET_BENES:
        add(out, times(n[0] / 2, 2 * levels_of(n[0]) - 1), 2, 2);
        out->terminals = n[0];
        break;
    case LEAT_NET_CLOS: measure_clos(n[0], n[1], n[2], out); break;
    case LEAT_NET_FATTREE: measure_fattree(n[0], n[1], out); break;
    case LEAT_NET_DRAGONFLY:
        add_direct(out, times(times(n[1], n[2]) + 1, n[1]), (uint64_t)n[1] - 1 + n[2], n[0]);
        break;
    case LEAT_NET_GRAPH:
        out->routers = shape->routers;
        out->terminals = leat_net_graph_terminals(shape);
        out->outs = out->ins = sum(leat_net_graph_wires(shape), out->terminals);
        break;
    }
}

/* ---- can it be built ------------------------------------------------------------------------ */

/* "BEFORE value BEHIND, expected LEAST to MOST" */
static leat_err outside(const char *before, uint32_t value, const char *behind,
                        const struct number *limit, struct leat_text *why)
{
    const char *which = limit == kinds[LEAT_NET_BENES].number ? "a power of two, " : "";
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "%s%u%s, expected %s%u to %u", before, value,
                           behind, which, limit->least, limit->most);
}

static leat_err check_how_many(const struct leat_net_shape *shape, struct leat_text *why)
{
    const struct kind *kind = &kinds[shape->kind];
    if (shape->numbers >= kind->least && shape->numbers <= kind->most) return LEAT_ERR_OK;
    leat_sim_refuse(why, LEAT_ERR_RANGE, "%u numbers, expected %u", shape->numbers, kind->least);
    if (kind->least != kind->most) leat_sim_refuse(why, LEAT_ERR_RANGE, " to %u", kind->most);
    if (kind->most) leat_sim_refuse(why, LEAT_ERR_RANGE, ": %s", kind->numbers_text);
    return LEAT_ERR_RANGE;
}

static leat_err check_numbers(const struct leat_net_shape *shape, struct leat_text *why)
{
    const struct kind *kind = &kinds[shape->kind];
    const bool repeats = kind->least != kind->most;
    for (uint32_t i = 0; i < shape->numbers; i++) {
        const struct number *number = &kind->number[repeats ? 0 : i];
        const uint32_t value = shape->number[i];
        const bool sound = shape->kind != LEAT_NET_BENES || (value & (value - 1)) == 0;
        if (sound && value >= number->least && value <= number->most) continue;
        char name[8] = { number->name[0], '\0' };
        if (repeats) name[1] = (char)('1' + i);
        memcpy(name + strlen(name), " is ", sizeof " is ");
        return outside(name, value, "", number, why);
    }
    return LEAT_ERR_OK;
}

static leat_err check_limit(uint64_t value, const char *what, uint32_t most, struct leat_text *why)
{
    if (value <= most) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "%" PRIu64 "%s %s, expected at most %u", value,
                           value >= CUT ? " or more" : "", what, most);
}

static leat_err check_extent(const struct leat_net_shape *shape, struct leat_text *why)
{
    struct leat_net_extent e;
    leat_net_shape_measure(shape, &e);
    leat_err err = check_limit(e.routers, "routers", LEAT_NET_ROUTERS_MAX, why);
    if (!err) err = check_limit(e.terminals, "terminals", LEAT_NET_TERMINALS_MAX, why);
    if (!err) err = check_limit(e.radix, "ports of a router", LEAT_NET_RADIX_MAX, why);
    if (!err) err = check_limit(leat_larger(e.outs, e.ins), "ports", LEAT_NET_PORTS_MAX, why);
    return err;
}

static leat_err check_boards(const struct leat_net_shape *shape, struct leat_text *why)
{
    static const struct number cycles = { NULL, 1, LEAT_NET_WIRE_CYCLES_MAX };
    const bool lattice = shape->kind == LEAT_NET_LINE || shape->kind == LEAT_NET_RING ||
                         shape->kind == LEAT_NET_MESH || shape->kind == LEAT_NET_TORUS;
    if (!shape->board) return LEAT_ERR_OK;
    if (!lattice)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "boards, expected none: only line, ring, mesh and torus have them");
    if (shape->board_cycles < cycles.least || shape->board_cycles > cycles.most)
        return outside("wires between boards of ", shape->board_cycles, " cycles", &cycles, why);
    return LEAT_ERR_OK;
}

leat_err leat_net_shape_check(const struct leat_net_shape *shape, struct leat_text *why)
{
    static const struct number terminals = { NULL, 1, LEAT_NET_RADIX_MAX },
                               cycles = { NULL, 1, LEAT_NET_WIRE_CYCLES_MAX };
    assert((unsigned)shape->kind < LEAT_NET_KINDS);
    const bool everywhere = leat_net_shape_dimensions(shape) ||
                            (shape->kind == LEAT_NET_GRAPH && !shape->terminal_at);
    leat_err err = check_how_many(shape, why);
    if (!err) err = check_numbers(shape, why);
    if (err) return err;
    if (everywhere && (shape->terminals < terminals.least || shape->terminals > terminals.most))
        return outside("", shape->terminals, " terminals at each router", &terminals, why);
    if (shape->wire_cycles < cycles.least || shape->wire_cycles > cycles.most)
        return outside("wires of ", shape->wire_cycles, " cycles", &cycles, why);
    err = check_boards(shape, why);
    if (err) return err;
    if (shape->kind == LEAT_NET_GRAPH) err = leat_net_graph_check(shape, why);
    return err ? err : check_extent(shape, why);
}

const char *leat_net_shape_class(const struct leat_net_shape *shape)
{
    static const char non_blocking[] = "non-blocking", rearrangeable[] = "rearrangeable",
                      blocking[] = "blocking";
    const uint32_t *n = shape->number;
    const enum leat_net_kind kind = shape->kind;
    if (kind == LEAT_NET_CROSSBAR || kind == LEAT_NET_GRID) return non_blocking;
    if (kind == LEAT_NET_BENES) return rearrangeable;
    if (kind == LEAT_NET_FLY) return n[1] == 1 ? non_blocking : blocking;
    if (kind == LEAT_NET_CLOS) /* Clos 1953; Slepian and Duguid 1959 */
        return n[1] >= 2 * n[0] - 1 ? non_blocking : n[1] >= n[0] ? rearrangeable : blocking;
    return NULL;
}
