#include "net_plan.h"
#include "leat_tree.h"
#include "sim_piece_parts.h"
#include "sim_refuse.h"

enum { ITERATIONS_DEFAULT = 1, CHANNELS_DEFAULT = 4, BUFFER_DEFAULT = 8, QUEUE_DEFAULT = 64 };

static const struct leat_net_plan_spelling spellings[] = {
    { "line:N", "N routers in a row" },
    { "ring:N", "N routers in a ring" },
    { "crossbar:N", "one switch NxN" },
    { "grid:N", "a crossbar of NxN crosspoints, each a switch 2x2" },
    { "mesh:K1,K2,...", "a lattice with borders, up to 8 dimensions" },
    { "torus:K1,K2,...", "a lattice without borders, up to 8 dimensions" },
    { "hypercube:D", "2^D routers, each joined to D others" },
    { "fly:K,N", "K-ary N-fly: N stages of switches KxK, K^N terminals (banyan, omega)" },
    { "benes:N", "N terminals, a power of two; 2 log2 N - 1 stages of switches 2x2" },
    { "clos:E,M,R/switch=...", "Clos(E,M,R) of switches other than the bus matrix" },
    { "fattree:K,N", "K-ary N-tree: N levels of K^(N-1) switches, K^N terminals" },
    { "dragonfly:P,A,H", "A*H+1 groups of A routers with P terminals and H global wires each" },
    { "hyperx:S1,S2,...", "all routers of a line of the lattice are joined" },
    { "tinsel:X,Y", "the mailboxes of X x Y POETS boards (1,1): a mesh of boards of 4 x 4" },
    { "FILE.edges", "any graph: a line A B [CYCLES] for each wire, A > B for one way" },
    { "FILE.yaml", "a description: leat fabric check reports what is wrong with it" },
    { "/switch=WHAT", "vc (default), fifo, voq, output, shared, xpq or batcher" },
    { "/vcs=N", "virtual channels of a wire, 1 to 32 (vc: 4, others: 1)" },
    { "/buffer=FLITS", "vc: of a virtual channel (8); fifo, voq, batcher: of an input, output, "
                       "shared, xpq: of a queue (64)" },
    { "/flow=WHAT", "wormhole (default), cut-through or store-and-forward" },
    { "/full=WHAT", "what happens where a buffer is full: wait (default) or drop" },
    { "/routing=WHAT", "dor, tag, updown, hierarchical, adaptive, valiant or table (what is "
                       "natural for the topology)" },
    { "/terminals=N",
      "at each router of line, ring, mesh, torus, hypercube, hyperx and graphs (1)" },
    { "/wire=CYCLES", "that a flit needs from router to router, 1 to 1000 (1)" },
    { "/board=N", "routers of a board along each dimension of line, ring, mesh, torus (none)" },
    { "/board-wire=CYCLES", "that a flit needs from board to board, 1 to 1000 (1)" },
    { "/pipeline=CYCLES", "that a router needs for a flit, 1 to 16 (3)" },
    { "/credit=CYCLES", "until a credit is back, 1 to 64 (1)" },
    { "/iterations=N", "of iSLIP, 1 to 16 (1)" },
    { "/esp=CYCLES", "ESP routers that need so long per instruction, 1 to 1048576; /esp alone: 20 "
                     "(none)" },
    { "/clock=PERIOD", "a cycle, as in 1ns or 500MHz (1ns)" },
    { "/line=NAME", "with /cells: what all wires are, one of `leat fabric lines` (a cell in 53 "
                    "cycles)" },
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

const struct leat_net_plan_spelling *leat_net_plan_list(size_t index)
{
    return index < SPELLINGS ? &spellings[index] : NULL;
}

/* Defaults of the architecture. Crosspoint queues are those of the thesis, which stop cells. */
static void set_switch(struct leat_net_plan *plan, enum leat_net_switch architecture)
{
    const bool vc = architecture == LEAT_NET_SWITCH_VC;
    const uint32_t channels = plan->has_cells ? 0 : CHANNELS_DEFAULT;
    plan->net.architecture = architecture;
    plan->net.channels = plan->routing.channels = vc ? channels : 1;
    plan->net.buffer_flits = vc ? BUFFER_DEFAULT : QUEUE_DEFAULT;
    if (plan->has_cells) plan->net.drop = !vc && architecture != LEAT_NET_SWITCH_XPQ;
}

void leat_net_plan_default(enum leat_net_kind kind, bool has_cells, struct leat_net_plan *out)
{
    *out = (struct leat_net_plan){
        .shape = { .kind = kind, .terminals = 1, .wire_cycles = 1, .board_cycles = 1 },
        .routing = { .rule = leat_net_rule_default(kind) },
        .net = { .flow = LEAT_NET_WORMHOLE,
                 .pipeline = has_cells ? 1 : 3,
                 .credit_cycles = 1,
                 .iterations = ITERATIONS_DEFAULT },
        .clock = { has_cells ? LEAT_NET_PLAN_CELLS_PERIOD_DEFAULT_PS
                             : LEAT_NET_PLAN_PERIOD_DEFAULT_PS,
                   1 },
        .has_cells = has_cells,
    };
    set_switch(out, LEAT_NET_SWITCH_VC);
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* "'PIECE' WHAT" */
static leat_err wrong(struct leat_sim_piece p, const char *what, struct leat_text *why)
{
    return leat_sim_refuse(why, LEAT_ERR_SYNTAX, "'%.*s' %s", (int)p.len, p.at, what);
}

/* "..., expected a, b or c" */
static leat_err expected(const char *(*name)(uint32_t), uint32_t count, struct leat_text *why)
{
    leat_text_puts(why, ", expected ");
    for (uint32_t i = 0; i < count; i++) {
        if (i) leat_text_puts(why, i + 1 == count ? " or " : ", ");
        leat_text_puts(why, name(i));
    }
    return LEAT_ERR_SYNTAX;
}

/* Finds a value in a list of names. */
static leat_err find(struct leat_sim_piece value, const char *(*name)(uint32_t), uint32_t count,
                     uint32_t *out, struct leat_text *why)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!leat_sim_piece_is(value, name(i))) continue;
        *out = i;
        return LEAT_ERR_OK;
    }
    wrong(value, "is unknown", why);
    return expected(name, count, why);
}

static const char *kind_name(uint32_t i)
{
    return leat_net_kind_name((enum leat_net_kind)i);
}

static const char *switch_name(uint32_t i)
{
    return leat_net_switch_name((enum leat_net_switch)i);
}

static const char *flow_name(uint32_t i)
{
    return leat_net_flow_name((enum leat_net_flow)i);
}

static const char *rule_name(uint32_t i)
{
    return leat_net_rule_name((enum leat_net_route_rule)i);
}

static const char *full_name(uint32_t drop)
{
    return drop ? "drop" : "wait";
}

/* Numbers of 1 to `most`, and of what. */
static const struct number {
    const char *key;
    uint32_t most;
    const char *what;
} numbers[] = {
    { "vcs", LEAT_NET_CHANNELS_MAX, " virtual channels" },
    { "buffer", LEAT_NET_BUFFER_MAX, " flits" },
    { "terminals", LEAT_NET_RADIX_MAX - 1, " terminals at a router" },
    { "wire", LEAT_NET_WIRE_CYCLES_MAX, " cycles" },
    { "board", LEAT_NET_ROUTERS_MAX, " routers" },
    { "board-wire", LEAT_NET_WIRE_CYCLES_MAX, " cycles" },
    { "pipeline", LEAT_NET_PIPELINE_MAX, " cycles" },
    { "credit", LEAT_NET_CREDIT_CYCLES_MAX, " cycles" },
    { "iterations", LEAT_NET_ITERATIONS_MAX, " iterations" },
    { "esp", LEAT_NET_ESP_CYCLES_MAX, " cycles per instruction" },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static uint32_t *place_of(struct leat_net_plan *plan, size_t number)
{
    uint32_t *const places[NUMBERS] = { &plan->net.channels,    &plan->net.buffer_flits,
                                        &plan->shape.terminals, &plan->shape.wire_cycles,
                                        &plan->shape.board,     &plan->shape.board_cycles,
                                        &plan->net.pipeline,    &plan->net.credit_cycles,
                                        &plan->net.iterations,  &plan->esp.cycles };
    return places[number];
}

static leat_err set_number(struct leat_net_plan *plan, size_t i, struct leat_sim_piece value,
                           struct leat_text *why)
{
    uint64_t number;
    const bool is_number = leat_tree_number(value.at, value.len, &number);
    if (!is_number || !number || number > numbers[i].most)
        return leat_sim_refuse(
            why, LEAT_ERR_SYNTAX, "'%.*s' %s, expected 1 to %u%s", (int)value.len, value.at,
            is_number ? "is out of range" : "is no number", numbers[i].most, numbers[i].what);
    *place_of(plan, i) = (uint32_t)number;
    plan->routing.channels = plan->net.channels;
    return LEAT_ERR_OK;
}

/* Whether there is such a line is for the caller to say. */
static leat_err set_line(struct leat_net_plan *plan, struct leat_sim_piece value,
                         struct leat_text *why)
{
    if (!plan->has_cells)
        return leat_sim_refuse(why, LEAT_ERR_SYNTAX,
                               "'line=%.*s' is a line of cells, expected it with /cells, as in "
                               "torus:4,4/cells/line=stm1",
                               (int)value.len, value.at);
    if (!value.len || value.len >= sizeof plan->line)
        return wrong(value, "is no line, expected one of `leat fabric lines`", why);
    memset(plan->line, 0, sizeof plan->line);
    memcpy(plan->line, value.at, value.len);
    return LEAT_ERR_OK;
}

static leat_err set_word(struct leat_net_plan *plan, struct leat_sim_piece key,
                         struct leat_sim_piece value, struct leat_text *why)
{
    uint32_t found = 0;
    leat_err err = LEAT_ERR_OK;
    if (leat_sim_piece_is(key, "switch")) {
        err = find(value, switch_name, LEAT_NET_SWITCHES, &found, why);
        if (!err) set_switch(plan, (enum leat_net_switch)found);
    } else if (leat_sim_piece_is(key, "flow")) {
        err = find(value, flow_name, LEAT_NET_FLOWS, &found, why);
        if (!err) plan->net.flow = (enum leat_net_flow)found;
    } else if (leat_sim_piece_is(key, "routing")) {
        err = find(value, rule_name, LEAT_NET_RULES, &found, why);
        if (!err) plan->routing.rule = (enum leat_net_route_rule)found;
    } else if (leat_sim_piece_is(key, "full")) {
        err = find(value, full_name, 2, &found, why);
        if (!err) plan->net.drop = found;
    } else if (leat_sim_piece_is(key, "line")) {
        err = set_line(plan, value, why);
    } else if (!leat_sim_clock_read(value.at, value.len, &plan->clock)) {
        err = wrong(value, LEAT_SIM_CLOCK_EXPECTED, why);
    }
    return err;
}

bool leat_net_plan_number(const struct leat_net_plan *plan, const char *parameter, uint32_t *out)
{
    struct leat_net_plan own = *plan;
    for (size_t i = 0; i < NUMBERS; i++)
        if (strcmp(numbers[i].key, parameter) == 0) {
            *out = *place_of(&own, i);
            return true;
        }
    return false;
}

static const char *const words[] = { "switch", "flow", "routing", "full", "clock", "line" };
enum { WORDS = sizeof words / sizeof *words };

/* The index of a key among numbers, then words; NUMBERS + WORDS: it is unknown. */
static size_t key_index(struct leat_sim_piece key)
{
    size_t i = 0;
    while (i < NUMBERS && !leat_sim_piece_is(key, numbers[i].key))
        i++;
    while (i >= NUMBERS && i < NUMBERS + WORDS && !leat_sim_piece_is(key, words[i - NUMBERS]))
        i++;
    return i;
}

static leat_err unknown_parameter(struct leat_sim_piece key, struct leat_text *why)
{
    const char *between = "is no parameter, expected one of ";
    wrong(key, "", why);
    for (size_t i = 0; i < SPELLINGS; i++) {
        if (spellings[i].name[0] != '/') continue;
        leat_text_puts(why, between);
        leat_text_puts(why, spellings[i].name);
        between = ", ";
    }
    return LEAT_ERR_SYNTAX;
}

leat_err leat_net_plan_set(struct leat_net_plan *plan, const char *parameter, size_t parameter_len,
                           const char *value, size_t value_len, struct leat_text *why)
{
    const struct leat_sim_piece key = { parameter, parameter_len }, text = { value, value_len };
    const size_t i = key_index(key);
    if (i == NUMBERS + WORDS) return unknown_parameter(key, why);
    return i < NUMBERS ? set_number(plan, i, text, why) : set_word(plan, key, text, why);
}

/* The switch comes first, because it sets defaults of others. */
leat_err leat_net_plan_parameters(const char *text, struct leat_net_plan *plan,
                                  struct leat_text *why)
{
    struct leat_net_plan read = *plan;
    bool given[NUMBERS + WORDS] = { false }, has_cells = false;
    for (int pass = 0; pass < 2; pass++) {
        struct leat_sim_piece rest = { NULL, 0 };
        if (*text == '/') rest = (struct leat_sim_piece){ text + 1, strlen(text) - 1 };
        while (rest.at) {
            const struct leat_sim_piece whole = leat_sim_piece_cut(&rest, '/');
            struct leat_sim_piece value = whole;
            const struct leat_sim_piece key = leat_sim_piece_cut(&value, '=');
            const size_t i = key_index(key);
            const bool is_bare_esp = leat_sim_piece_is(whole, "esp");
            if (plan->has_cells && leat_sim_piece_is(whole, "cells")) {
                if (pass == 0 && has_cells)
                    return wrong(whole, "is given twice, expected it once", why);
                has_cells = true;
                continue;
            }
            if (i == NUMBERS + WORDS || (!value.at && !is_bare_esp))
                return unknown_parameter(whole, why);
            if (leat_sim_piece_is(key, "switch") != (pass == 0)) continue;
            if (given[i]) return wrong(key, "is given twice, expected it once", why);
            given[i] = true;
            if (is_bare_esp) {
                read.esp.cycles = LEAT_NET_ESP_CYCLES_DEFAULT;
                continue;
            }
            const leat_err err = leat_net_plan_set(&read, key.at, key.len, value.at, value.len,
                                                   why);
            if (err) return err;
        }
    }
    *plan = read;
    return LEAT_ERR_OK;
}

/* ---- the name ------------------------------------------------------------------------------- */

/* The letters that a name begins with. */
static size_t kind_len(const char *name)
{
    size_t len = 0;
    while (name[len] >= 'a' && name[len] <= 'z')
        len++;
    return len;
}

/* A mesh of POETS boards: its numbers are boards. */
static bool is_tinsel(const char *name)
{
    return leat_sim_piece_is((struct leat_sim_piece){ name, kind_len(name) }, "tinsel");
}

/* Clos networks are those of the thesis unless another switch is requested. */
bool leat_net_plan_is(const char *name)
{
    enum leat_net_kind kind;
    struct leat_sim_piece rest = { name, strlen(name) };
    if (is_tinsel(name)) return true;
    if (!leat_net_kind_find(name, kind_len(name), &kind) || kind == LEAT_NET_GRAPH) return false;
    bool switches = kind != LEAT_NET_CLOS;
    leat_sim_piece_cut(&rest, '/');
    while (rest.at && !switches) {
        struct leat_sim_piece value = leat_sim_piece_cut(&rest, '/');
        switches = leat_sim_piece_is(leat_sim_piece_cut(&value, '='), "switch") && value.at;
    }
    return switches;
}

/* "8,8" or "8x8" */
static leat_err read_numbers(struct leat_sim_piece text, struct leat_net_shape *shape,
                             struct leat_text *why)
{
    for (size_t begin = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && text.at[i] != ',' && text.at[i] != 'x') continue;
        uint64_t number;
        if (shape->numbers == LEAT_NET_NUMBERS_MAX ||
            !leat_tree_number(text.at + begin, i - begin, &number))
            return leat_sim_refuse(
                why, LEAT_ERR_SYNTAX,
                "'%.*s' is no size, expected %s: up to %u numbers with commas between",
                (int)text.len, text.at, leat_net_kind_numbers(shape->kind), LEAT_NET_NUMBERS_MAX);
        shape->number[shape->numbers++] = number < LEAT_NET_NONE ? (uint32_t)number : LEAT_NET_NONE;
        begin = i + 1;
    }
    return LEAT_ERR_OK;
}

/*
 * Tinsel 0.8 (POETSII/tinsel, config.py and README): 4 x 4 mailboxes on a board, boards in a mesh.
 * 240 MHz as the Orchestrator has it; 100 cycles from board to board as its simulation has. With
 * two channels of 8 flits in so long a wire, the four of a board's edge carry together about what
 * one link of 10 Gb/s does: 4 x 16 flits in a round trip of 2 x 100 cycles. Two cycles in a router
 * are our guess.
 */
static void set_tinsel(struct leat_net_plan *plan)
{
    plan->shape.board = 4;
    plan->shape.board_cycles = 100;
    if (plan->has_cells) return;
    plan->net.channels = plan->routing.channels = 2;
    plan->net.pipeline = 2;
    plan->clock = (struct leat_sim_clock){ 12500, 3 };
}

static leat_err read_boards(struct leat_sim_piece text, struct leat_net_shape *shape,
                            struct leat_text *why)
{
    if (text.len == 0) {
        shape->numbers = 2;
        shape->number[0] = shape->number[1] = 1;
        return LEAT_ERR_OK;
    }
    const leat_err err = read_numbers(text, shape, why);
    if (err || shape->numbers == 2) return err;
    return wrong(text, "is no number of boards, expected X,Y", why);
}

/* Boards become routers, once the mailboxes of a board are known. */
static void count_mailboxes(struct leat_net_shape *shape)
{
    for (uint32_t i = 0; i < shape->numbers; i++) {
        const uint64_t routers = (uint64_t)shape->number[i] * shape->board;
        shape->number[i] = routers < LEAT_NET_NONE ? (uint32_t)routers : LEAT_NET_NONE;
    }
}

static leat_err parse(const char *name, bool has_cells, struct leat_net_plan *out,
                      struct leat_text *why)
{
    struct leat_net_plan plan;
    enum leat_net_kind kind;
    struct leat_sim_piece rest = { name, strlen(name) };
    const size_t kind_end = kind_len(name), parameters = leat_sim_piece_cut(&rest, '/').len;
    const struct leat_sim_piece letters = { name, kind_end };
    const bool tinsel = is_tinsel(name);
    if (tinsel) {
        kind = LEAT_NET_MESH;
    } else if (!leat_net_kind_find(name, kind_end, &kind) || kind == LEAT_NET_GRAPH) {
        wrong(letters, "is no topology", why);
        return expected(kind_name, LEAT_NET_GRAPH, why); /* graphs come from files */
    }
    leat_net_plan_default(kind, has_cells, &plan);
    if (tinsel) set_tinsel(&plan);
    const size_t begin = kind_end + (name[kind_end] == ':');
    const struct leat_sim_piece size = { name + begin, parameters - begin };
    leat_err err = (tinsel ? read_boards : read_numbers)(size, &plan.shape, why);
    if (!err) err = leat_net_plan_parameters(name + parameters, &plan, why);
    if (!err && tinsel) count_mailboxes(&plan.shape);
    if (!err) err = leat_net_shape_check(&plan.shape, why);
    if (err) return err;
    why->len = 0;
    *out = plan;
    return LEAT_ERR_OK;
}

leat_err leat_net_plan_parse(const char *name, struct leat_net_plan *out, struct leat_text *why)
{
    return parse(name, false, out, why);
}

leat_err leat_net_plan_parse_cells(const char *name, struct leat_net_plan *out,
                                   struct leat_text *why)
{
    return parse(name, true, out, why);
}

/* ---- back to a name ------------------------------------------------------------------------- */

static void put_word(struct leat_text *text, const char *key, const char *value)
{
    leat_text_putc(text, '/');
    leat_text_puts(text, key);
    leat_text_putc(text, '=');
    leat_text_puts(text, value);
}

void leat_net_plan_name(const struct leat_net_plan *plan, struct leat_text *text)
{
    const struct leat_net_config *net = &plan->net;
    struct leat_net_plan plain, own = *plan;
    leat_net_plan_default(plan->shape.kind, plan->has_cells, &plain);
    set_switch(&plain, net->architecture);
    leat_text_puts(text, leat_net_kind_name(plan->shape.kind));
    for (uint32_t i = 0; i < plan->shape.numbers; i++) {
        leat_text_putc(text, i ? ',' : ':');
        leat_text_decimal(text, plan->shape.number[i]);
    }
    if (plan->has_cells) leat_text_puts(text, "/cells");
    if (net->architecture != LEAT_NET_SWITCH_VC || plan->shape.kind == LEAT_NET_CLOS)
        put_word(text, "switch", leat_net_switch_name(net->architecture));
    for (size_t i = 0; i < NUMBERS; i++) {
        if (*place_of(&own, i) == *place_of(&plain, i)) continue;
        put_word(text, numbers[i].key, "");
        leat_text_decimal(text, *place_of(&own, i));
    }
    if (net->flow != LEAT_NET_WORMHOLE) put_word(text, "flow", leat_net_flow_name(net->flow));
    if (net->drop != plain.net.drop) put_word(text, "full", full_name(net->drop));
    if (plan->routing.rule != plain.routing.rule)
        put_word(text, "routing", leat_net_rule_name(plan->routing.rule));
    if (plan->clock.num != plain.clock.num || plan->clock.den != plain.clock.den) {
        put_word(text, "clock", "");
        leat_sim_clock_put(&plan->clock, text);
    }
    if (*plan->line) put_word(text, "line", plan->line);
}
