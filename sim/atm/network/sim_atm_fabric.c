#include "sim_atm_fabric.h"
#include "atm_bmx.h"
#include "leat_tree.h"
#include "sim_clock.h"
#include "sim_piece_parts.h"
#include "sim_refuse.h"

#define TOO_LARGE UINT32_MAX
#define SECOND_PS UINT64_C(1000000000000)

static const struct leat_sim_atm_fabric_spelling spellings[] = {
    { "clos444", "the prototype of the thesis: Clos(4,4,4), 16 ports" },
    { "clos:E,M,R", "three stages: R switches ExM, M switches RxR, R switches MxE; 1 to 64 each" },
    { "bmx:K", "one bus-matrix switch KxK, K 2 to 64" },
    { "/buffer=CELLS", "cells in each crosspoint memory, 1 to 64 (8)" },
    { "/clock=PERIOD", "a cycle, as in 50ns or 20MHz (50ns); a link carries an octet a cycle" },
    { "/switching=WHAT", "vp, vc, or auto: vp where VPI range and fan-out suffice (auto)" },
    { "/table=DEPTH", "entries of a vp routing table, 256 to 4096 (with room for 32 groups)" },
};

const struct leat_sim_atm_fabric_spelling *leat_sim_atm_fabric_list(size_t index)
{
    return index < sizeof spellings / sizeof *spellings ? &spellings[index] : NULL;
}

/* ---- pieces of a name ----------------------------------------------------------------------- */

/* The result so far, and where errors are written. */
struct reading {
    struct leat_atm_clos_config config;
    struct leat_sim_atm_fabric fabric;
    const char *name;
    struct leat_text *why;
};

static bool begins(struct leat_sim_piece p, const char *word)
{
    return p.len >= strlen(word) && memcmp(p.at, word, strlen(word)) == 0;
}

/* "'PIECE' WHAT" */
static leat_err wrong(const struct reading *r, struct leat_sim_piece p, const char *what)
{
    return leat_sim_refuse(r->why, LEAT_ERR_SYNTAX, "'%.*s' %s", (int)p.len, p.at, what);
}

/* "unknown WHAT 'PIECE', expected one of" all spellings of fabrics, or of parameters. */
static leat_err unknown(const struct reading *r, const char *what, struct leat_sim_piece p,
                        bool parameter)
{
    const char *between = "', expected one of ";
    leat_sim_refuse(r->why, LEAT_ERR_SYNTAX, "unknown %s%.*s", what, (int)p.len, p.at);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if ((spellings[i].name[0] == '/') != parameter) continue;
        leat_sim_refuse(r->why, LEAT_ERR_SYNTAX, "%s%s", between, spellings[i].name);
        between = ", ";
    }
    return LEAT_ERR_SYNTAX;
}

/* Numbers beyond 32 bits become TOO_LARGE, which exceeds every limit. */
static bool read_number(struct leat_sim_piece p, uint32_t *out)
{
    uint64_t number;
    if (!leat_tree_number(p.at, p.len, &number)) return false;
    *out = number < TOO_LARGE ? (uint32_t)number : TOO_LARGE;
    return true;
}

/* ---- parameters ----------------------------------------------------------------------------- */

static leat_err read_buffer(struct reading *r, struct leat_sim_piece value)
{
    if (!read_number(value, &r->fabric.buffer_cells) || r->fabric.buffer_cells < 1 ||
        r->fabric.buffer_cells > LEAT_SIM_ATM_FABRIC_BUFFER_MAX)
        return wrong(r, value, "is no buffer, expected 1 to 64 cells");
    return LEAT_ERR_OK;
}

static leat_err read_table(struct reading *r, struct leat_sim_piece value)
{
    if (!read_number(value, &r->config.table_depth) || r->config.table_depth == 0 ||
        r->config.table_depth == TOO_LARGE)
        return wrong(r, value, "is no table depth, expected 256 to 4096");
    return LEAT_ERR_OK;
}

static leat_err read_switching(struct reading *r, struct leat_sim_piece value)
{
    if (leat_sim_piece_is(value, "auto"))
        r->config.switching = LEAT_ATM_CLOS_AUTO;
    else if (leat_sim_piece_is(value, "vp"))
        r->config.switching = LEAT_ATM_CLOS_VP;
    else if (leat_sim_piece_is(value, "vc"))
        r->config.switching = LEAT_ATM_CLOS_VC;
    else
        return wrong(r, value, "is no switching, expected vp, vc or auto");
    return LEAT_ERR_OK;
}

static leat_err read_clock(struct reading *r, struct leat_sim_piece value)
{
    struct leat_sim_clock clock;
    if (!leat_sim_clock_read(value.at, value.len, &clock))
        return wrong(r, value, LEAT_SIM_CLOCK_EXPECTED);
    r->fabric.period_ps_num = clock.num;
    r->fabric.period_ps_den = clock.den;
    return LEAT_ERR_OK;
}

/* Bus matrices are clocked with their lines, an octet in each cycle. */
static leat_err refuse_line(const struct reading *r, struct leat_sim_piece whole)
{
    leat_sim_refuse(r->why, LEAT_ERR_SYNTAX,
                    "'%.*s': lines of bus matrices carry an octet in each cycle (/clock), expected "
                    "switches of slots, as in ",
                    (int)whole.len, whole.at);
    if (r->config.stages == 1)
        return leat_sim_refuse(r->why, LEAT_ERR_SYNTAX, "crossbar:%u/cells/switch=xpq/%.*s",
                               r->config.e, (int)whole.len, whole.at);
    return leat_sim_refuse(r->why, LEAT_ERR_SYNTAX, "clos:%u,%u,%u/cells/switch=xpq/%.*s",
                           r->config.e, r->config.m, r->config.r, (int)whole.len, whole.at);
}

static leat_err read_parameters(struct reading *r, struct leat_sim_piece rest)
{
    static const struct {
        const char *key;
        leat_err (*read)(struct reading *, struct leat_sim_piece);
    } parameters[] = { { "buffer", read_buffer },
                       { "clock", read_clock },
                       { "switching", read_switching },
                       { "table", read_table } };
    enum { COUNT = sizeof parameters / sizeof *parameters };
    bool given[COUNT] = { false };
    while (rest.at) {
        const struct leat_sim_piece whole = leat_sim_piece_cut(&rest, '/');
        struct leat_sim_piece value = whole;
        const struct leat_sim_piece key = leat_sim_piece_cut(&value, '=');
        size_t i = 0;
        while (i < COUNT && !leat_sim_piece_is(key, parameters[i].key))
            i++;
        if (leat_sim_piece_is(key, "line")) return refuse_line(r, whole);
        if (i == COUNT || !value.at) return unknown(r, "parameter '/", whole, true);
        if (given[i]) return wrong(r, key, "is given twice, expected it once");
        given[i] = true;
        const leat_err err = parameters[i].read(r, value);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

/* ---- the name ------------------------------------------------------------------------------- */

/* Parses "4,4,4" into exactly as many numbers. The error says `expected` for another count, `range`
 * for a number out of range. */
static leat_err read_sizes(const struct reading *r, struct leat_sim_piece sizes,
                           uint32_t *const size[], size_t count, const char *range,
                           const char *expected)
{
    struct leat_sim_piece rest = sizes;
    for (size_t i = 0; i < count; i++) {
        const struct leat_sim_piece each = rest.at ? leat_sim_piece_cut(&rest, ',') : rest;
        if (!each.at || !read_number(each, size[i])) return wrong(r, sizes, expected);
        if (*size[i] == TOO_LARGE) return wrong(r, each, range);
    }
    return rest.at ? wrong(r, sizes, expected) : LEAT_ERR_OK;
}

static leat_err read_shape(struct reading *r, struct leat_sim_piece shape)
{
    static const char clos[] = "clos:", bmx[] = "bmx:";
    struct leat_atm_clos_config *c = &r->config;
    if (leat_sim_piece_is(shape, "clos444")) {
        *c = (struct leat_atm_clos_config){ .stages = 3, .e = 4, .m = 4, .r = 4 };
    } else if (begins(shape, clos)) {
        const struct leat_sim_piece sizes = { shape.at + strlen(clos), shape.len - strlen(clos) };
        c->stages = 3;
        return read_sizes(r, sizes, (uint32_t *const[]){ &c->e, &c->m, &c->r }, 3,
                          "is no size, expected 1 to 64",
                          "is no size, expected E,M,R: three numbers, 1 to 64, as in clos:4,4,4");
    } else if (begins(shape, bmx)) {
        const struct leat_sim_piece size = { shape.at + strlen(bmx), shape.len - strlen(bmx) };
        c->stages = 1;
        return read_sizes(r, size, (uint32_t *const[]){ &c->e }, 1, "is no size, expected 2 to 64",
                          "is no size, expected K: one number, 2 to 64, as in bmx:4");
    } else {
        const struct leat_sim_piece whole = { r->name, strlen(r->name) };
        return unknown(r, "fabric '", shape.len ? shape : whole, false);
    }
    return LEAT_ERR_OK;
}

leat_err leat_sim_atm_fabric_parse(const char *name, struct leat_sim_atm_fabric *out,
                                   struct leat_text *why)
{
    struct reading r = { .fabric = { .buffer_cells = LEAT_SIM_ATM_FABRIC_BUFFER_DEFAULT,
                                     .period_ps_num = LEAT_SIM_ATM_FABRIC_PERIOD_DEFAULT_PS,
                                     .period_ps_den = 1 },
                         .name = name,
                         .why = why };
    struct leat_atm_clos_fault fault;
    struct leat_sim_piece rest = { name, strlen(name) };
    leat_err err = read_shape(&r, leat_sim_piece_cut(&rest, '/'));
    if (!err) err = read_parameters(&r, rest);
    if (err) return err;
    err = leat_atm_clos_init(&r.fabric.net, &r.config, &fault);
    if (err) {
        if (r.config.stages == 1 && fault.parameter) fault.parameter = 'k';
        leat_atm_clos_fault_text(&fault, why);
        return err;
    }
    *out = r.fabric;
    return LEAT_ERR_OK;
}

/* ---- back to a name ------------------------------------------------------------------------- */

static void put_number(struct leat_text *text, const char *before, uint32_t number)
{
    leat_text_puts(text, before);
    leat_text_decimal(text, number);
}

/* The default switching and table of the network. */
static struct leat_atm_clos by_default(const struct leat_atm_clos *net)
{
    const struct leat_atm_clos_config config = {
        .stages = net->stages, .e = net->e, .m = net->m, .r = net->r
    };
    struct leat_atm_clos plain = { 0 };
    leat_sim_must(!leat_atm_clos_init(&plain, &config, NULL));
    return plain;
}

void leat_sim_atm_fabric_name(const struct leat_sim_atm_fabric *fabric, struct leat_text *text)
{
    const struct leat_atm_clos *net = &fabric->net;
    const struct leat_atm_clos plain = by_default(net);
    if (net->stages == 1) {
        put_number(text, "bmx:", net->e);
    } else if (net->e == 4 && net->m == 4 && net->r == 4) {
        leat_text_puts(text, "clos444");
    } else {
        put_number(text, "clos:", net->e);
        put_number(text, ",", net->m);
        put_number(text, ",", net->r);
    }
    if (fabric->buffer_cells != LEAT_SIM_ATM_FABRIC_BUFFER_DEFAULT)
        put_number(text, "/buffer=", fabric->buffer_cells);
    if (fabric->period_ps_num != LEAT_SIM_ATM_FABRIC_PERIOD_DEFAULT_PS ||
        fabric->period_ps_den != 1) {
        const struct leat_sim_clock clock = { fabric->period_ps_num, fabric->period_ps_den };
        leat_text_puts(text, "/clock=");
        leat_sim_clock_put(&clock, text);
    }
    if (net->header_octets != plain.header_octets)
        leat_text_puts(text, "/switching=vc");
    else if (net->table_depth != plain.table_depth)
        put_number(text, "/table=", net->table_depth);
}

struct leat_atm_aal_config leat_sim_atm_fabric_unit(const struct leat_sim_atm_fabric *fabric,
                                                    const struct leat_atm_aal_config *wanted,
                                                    uint32_t port)
{
    struct leat_atm_aal_config unit = *wanted;
    unit.port = port;
    unit.ports = fabric->net.ports;
    unit.paths = fabric->net.paths;
    unit.header_octets = fabric->net.header_octets;
    unit.groups = fabric->groups;
    return unit;
}

/* ---- cell times ------------------------------------------------------------------------------ */

/* Divides both by their greatest common divisor. */
static void reduce(uint64_t *a, uint64_t *b)
{
    uint64_t x = *a, y = *b;
    while (y) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    *a /= x;
    *b /= x;
}

/* Of a cell in seconds, cells_den / cells_num, over that of a cycle: in lowest terms. */
leat_err leat_sim_atm_line_slot(const struct leat_atm_line *line,
                                const struct leat_sim_clock *clock, struct leat_sim_clock *out,
                                struct leat_text *why)
{
    uint64_t up[] = { line->cells_den, SECOND_PS, clock->den };
    uint64_t down[] = { line->cells_num, clock->num };
    enum { UP = sizeof up / sizeof *up, DOWN = sizeof down / sizeof *down };
    for (size_t i = 0; i < UP; i++)
        for (size_t k = 0; k < DOWN; k++)
            reduce(&up[i], &down[k]);
    if (up[0] > UINT64_MAX / up[1] || up[0] * up[1] > UINT64_MAX / up[2] ||
        down[0] > UINT64_MAX / LEAT_ATM_CELL_LEN / down[1])
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "the clock, expected one of fewer digits");
    const uint64_t num = up[0] * up[1] * up[2], den = down[0] * down[1];
    if (num < LEAT_ATM_CELL_LEN * den)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "a clock too slow for the line: units take an octet a cycle, "
                               "expected a cell time of the line to be 53 cycles or more");
    *out = (struct leat_sim_clock){ num, den };
    return LEAT_ERR_OK;
}

struct leat_sim_clock leat_sim_atm_fabric_slot(const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_sim_clock clock = { fabric->period_ps_num, fabric->period_ps_den };
    struct leat_sim_clock slot = { LEAT_ATM_CELL_LEN, 1 };
    struct leat_text why = LEAT_TEXT(1);
    if (fabric->graph && fabric->graph->line)
        leat_sim_must(!leat_sim_atm_line_slot(fabric->graph->line, &clock, &slot, &why));
    return slot;
}

struct leat_sim_clock leat_sim_atm_fabric_cell_ps(const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_atm_line *line = fabric->graph ? fabric->graph->line : NULL;
    if (line) return (struct leat_sim_clock){ line->cells_den * SECOND_PS, line->cells_num };
    return (struct leat_sim_clock){ fabric->period_ps_num * LEAT_ATM_CELL_LEN,
                                    fabric->period_ps_den };
}

bool leat_sim_atm_fabric_errs(const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_net_faults *list = fabric->faults ? fabric->faults->list : NULL;
    if (!fabric->graph || !fabric->graph->line) return false;
    for (uint32_t i = 0; list && i < list->count; i++)
        if (list->fault[i].kind == LEAT_NET_FAULT_BER) return true;
    return fabric->graph->host_errors;
}

uint32_t leat_sim_atm_fabric_idle_cycles(const struct leat_sim_atm_fabric *fabric, uint32_t from,
                                         uint32_t to)
{
    const struct leat_sim_atm_graph *g = fabric->graph;
    if (!g) return leat_atm_clos_idle_cycles(&fabric->net);
    const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(fabric);
    return (uint32_t)leat_sim_clock_at(
        &slot, leat_net_way_cycles(g->topology, g->routing, &g->net, from, to, g->seed, 1));
}

/* ---- parts ---------------------------------------------------------------------------------- */

enum { PART_PORTS_MIN = 32 }; /* fewer cost more in meetings than another thread saves */

uint32_t leat_sim_atm_fabric_parts(const struct leat_sim_atm_fabric *fabric)
{
    const uint32_t most = fabric->net.stages > 1 ? fabric->net.stage[0].switch_count : 1;
    const uint32_t wanted = fabric->parts ? fabric->parts : 1;
    return wanted < most ? wanted : most;
}

uint32_t leat_sim_atm_fabric_parts_for(const struct leat_sim_atm_fabric *fabric, uint32_t threads)
{
    struct leat_sim_atm_fabric divided = *fabric;
    const uint32_t most = fabric->net.ports / PART_PORTS_MIN;
    divided.parts = threads < most ? threads : most;
    return leat_sim_atm_fabric_parts(&divided);
}

uint32_t leat_sim_atm_fabric_part_begin(const struct leat_sim_atm_fabric *fabric, uint32_t stage,
                                        uint32_t part)
{
    return fabric->net.stage[stage].switch_count * part / leat_sim_atm_fabric_parts(fabric);
}

/* The last part that begins at or before this switch. */
uint32_t leat_sim_atm_fabric_part_of(const struct leat_sim_atm_fabric *fabric, uint32_t stage,
                                     uint32_t unit)
{
    return ((unit + 1) * leat_sim_atm_fabric_parts(fabric) - 1) /
           fabric->net.stage[stage].switch_count;
}
