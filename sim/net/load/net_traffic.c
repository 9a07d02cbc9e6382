#include "net_traffic.h"
#include "leat_arena.h"
#include "leat_tree.h"
#include "sim_draw.h"
#include "sim_refuse.h"

static const struct leat_net_pattern_spelling spellings[LEAT_NET_PATTERNS] = {
    [LEAT_NET_UNIFORM] = { "uniform", "any terminal, with equal probability", false },
    [LEAT_NET_PERMUTATION] = { "permutation", "one other terminal each, drawn by the seed", false },
    [LEAT_NET_TRANSPOSE] = { "transpose", "from (x, y) to (y, x); terminals: a square", false },
    [LEAT_NET_BITREVERSE] = { "bit-reverse", "the bits of the number backwards", false },
    [LEAT_NET_BITCOMPLEMENT] = { "bit-complement", "all bits of the number turned over", false },
    [LEAT_NET_SHUFFLE] = { "shuffle", "the bits of the number turned left by one", false },
    [LEAT_NET_TORNADO] = { "tornado", "just less than half way round each dimension", false },
    [LEAT_NET_NEIGHBOUR] = { "neighbour", "one further in each dimension", false },
    [LEAT_NET_HOTSPOT] = { "hotspot", "a quarter to terminal 0, the others uniform", false },
    [LEAT_NET_BROADCAST] = { "broadcast", "to all others, a packet each", false },
    [LEAT_NET_BURSTY] = { "bursty", "bursts to any terminal, and silences", false },
    [LEAT_NET_TRACE] = { "trace", "what a file says", false },
    [LEAT_NET_ALLTOALL] = { "all-to-all", "collective: to all others, step by step", true },
    [LEAT_NET_ALLREDUCE] = { "allreduce", "collective: twice round the ring", true },
    [LEAT_NET_BROADCAST_TREE] = { "broadcast-tree", "collective: from terminal 0, doubling", true },
};

static const struct {
    const char *name;
    enum leat_net_pattern pattern;
} other_names[] = {
    { "neighbor", LEAT_NET_NEIGHBOUR },
    { "bitcomp", LEAT_NET_BITCOMPLEMENT },
    { "bitrev", LEAT_NET_BITREVERSE },
    { "allreducering", LEAT_NET_ALLREDUCE },
};

const struct leat_net_pattern_spelling *leat_net_pattern_list(size_t index)
{
    return index < LEAT_NET_PATTERNS ? &spellings[index] : NULL;
}

static bool same_but_hyphens(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-')
            a++;
        while (*b == '-')
            b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

bool leat_net_pattern_find(const char *name, enum leat_net_pattern *out)
{
    for (size_t i = 0; i < LEAT_NET_PATTERNS; i++)
        if (same_but_hyphens(name, spellings[i].name)) {
            *out = (enum leat_net_pattern)i;
            return true;
        }
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (same_but_hyphens(name, other_names[i].name)) {
            *out = other_names[i].pattern;
            return true;
        }
    return false;
}

/* ---- is there such traffic? ------------------------------------------------------------------ */

void leat_net_traffic_default(struct leat_net_traffic_config *config, uint32_t terminals)
{
    *config = (struct leat_net_traffic_config){
        .terminals = terminals,
        .flits = 1,
        .hot_percent = LEAT_NET_HOT_PERCENT,
        .burst = LEAT_NET_BURST,
    };
}

static uint32_t side_of_square(uint32_t terminals) /* 0: not a square */
{
    uint32_t side = 0;
    while ((uint64_t)side * side < terminals)
        side++;
    return (uint64_t)side * side == terminals ? side : 0;
}

/* "shuffle traffic of 12 terminals, expected ..." */
static leat_err refuse_terminals(const struct leat_net_traffic_config *c, const char *expected,
                                 struct leat_text *why)
{
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "%s traffic of %u terminal%s, expected %s",
                           spellings[c->pattern].name, c->terminals, c->terminals == 1 ? "" : "s",
                           expected);
}

static leat_err check_terminals(const struct leat_net_traffic_config *c, struct leat_text *why)
{
    const enum leat_net_pattern p = c->pattern;
    const bool of_bits = p == LEAT_NET_BITREVERSE || p == LEAT_NET_BITCOMPLEMENT ||
                         p == LEAT_NET_SHUFFLE;
    if (p == LEAT_NET_TRANSPOSE && !side_of_square(c->terminals))
        return refuse_terminals(c, "a square, as 16 or 64", why);
    if (of_bits && c->terminals & (c->terminals - 1))
        return refuse_terminals(c, "a power of two", why);
    if ((p == LEAT_NET_BROADCAST || spellings[p].is_closed) && c->terminals < 2)
        return refuse_terminals(c, "2 or more", why);
    return LEAT_ERR_OK;
}

leat_err leat_net_traffic_check(const struct leat_net_traffic_config *c, struct leat_text *why)
{
    const struct leat_text_range row[] = {
        { "traffic pattern", (uint32_t)c->pattern, 0, LEAT_NET_PATTERNS - 1 },
        { "terminals", c->terminals, 1, LEAT_NET_TERMINALS_MAX },
        { "load in millionths", c->load_ppm, 0, LEAT_NET_LOAD_PPM_MAX },
        { "flits of a packet", c->flits, 1, LEAT_NET_FLITS_MAX },
        { "percent to the hot spot", c->hot_percent, 0, 100 },
        { "packets of a burst", c->burst, 1, LEAT_NET_BURST_MAX },
    };
    const leat_err bad = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    if (bad) return bad;
    return check_terminals(c, why);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* Digit k of a geometric number is 1 with probability Q / (1 + Q), where Q is the probability of
 * 2^k consecutive failures. With 32-bit probabilities the mean is exact to at least 2^-27. */
void leat_net_gaps_init(struct leat_net_gaps *gaps, uint64_t num, uint64_t den)
{
    assert(0 < num && num <= den && den <= UINT64_C(1) << 63);
    uint64_t failures = leat_sim_fixed_divide(den - num, den, 64);
    *gaps = (struct leat_net_gaps){ 0 };
    while (gaps->bits < LEAT_NET_GAP_BITS) {
        const uint64_t quarter = failures >> 2, whole = (UINT64_C(1) << 62) + quarter;
        const uint64_t chance = (leat_sim_fixed_divide(quarter, whole, 33) + 1) >> 1;
        if (!chance) break;
        gaps->chance[gaps->bits++] = (uint32_t)chance;
        failures = leat_sim_fixed_multiply(failures, failures);
    }
}

/* The probability of a packet, a broadcast, or the end of a silence in each cycle. A burst of b
 * packets takes b flits cycles; a silence of mean b flits (1 - load) / load compensates. */
static void make_gaps(struct leat_net_traffic *traffic)
{
    const struct leat_net_traffic_config *c = &traffic->config;
    const uint64_t load = c->load_ppm, one = LEAT_NET_LOAD_PPM_MAX;
    if (!load) return;
    if (c->pattern == LEAT_NET_BURSTY)
        leat_net_gaps_init(&traffic->draw.gaps, load,
                           load + (uint64_t)c->burst * c->flits * (one - load));
    else if (c->pattern == LEAT_NET_BROADCAST)
        leat_net_gaps_init(&traffic->draw.gaps, load, one * c->flits * (c->terminals - 1));
    else
        leat_net_gaps_init(&traffic->draw.gaps, load, one * c->flits);
}

/* ---- patterns where each terminal has one destination ---------------------------------------- */

static bool has_one_destination(enum leat_net_pattern pattern)
{
    return pattern >= LEAT_NET_PERMUTATION && pattern <= LEAT_NET_NEIGHBOUR;
}

static uint32_t reversed(uint32_t number, uint32_t limit) /* a power of two */
{
    uint32_t result = 0;
    for (; limit > 1; limit /= 2, number /= 2)
        result = result * 2 + number % 2;
    return result;
}

static uint32_t turned_left(uint32_t number, uint32_t limit)
{
    return limit == 1 ? 0 : (number * 2 % limit) | number / (limit / 2);
}

struct lattice {
    uint32_t size[LEAT_NET_DIMENSIONS_MAX];
    uint32_t dimensions;
    uint32_t per_router;
};

static struct lattice lattice_of(const struct leat_net_traffic_config *c)
{
    if (!c->shape || !leat_net_shape_dimensions(c->shape))
        return (struct lattice){ .size = { c->terminals }, .dimensions = 1, .per_router = 1 };
    struct lattice lattice = { .dimensions = leat_net_shape_dimensions(c->shape),
                               .per_router = c->shape->terminals };
    uint64_t terminals = lattice.per_router;
    for (uint32_t d = 0; d < lattice.dimensions; d++) {
        lattice.size[d] = leat_net_shape_size(c->shape, d);
        terminals *= lattice.size[d];
    }
    assert(terminals == c->terminals);
    return lattice;
}

/* Moved by a fraction of a dimension's size k, at the same place of its router. */
static uint32_t moved(const struct lattice *lattice, uint32_t terminal, bool tornado)
{
    uint32_t router = terminal / lattice->per_router, to = 0, scale = 1;
    for (uint32_t d = 0; d < lattice->dimensions; d++) {
        const uint32_t k = lattice->size[d], by = tornado ? (k + 1) / 2 - 1 : 1;
        to += (router % k + by) % k * scale;
        router /= k;
        scale *= k;
    }
    return to * lattice->per_router + terminal % lattice->per_router;
}

static void make_destinations(struct leat_net_traffic *traffic)
{
    const struct leat_net_traffic_config *c = &traffic->config;
    const struct lattice lattice = lattice_of(c);
    const uint32_t side = side_of_square(c->terminals);
    if (c->pattern == LEAT_NET_PERMUTATION)
        leat_sim_draw_partners(c->seed, traffic->to, c->terminals);
    for (uint32_t t = 0; t < c->terminals; t++) {
        uint32_t *to = &traffic->to[t];
        if (c->pattern == LEAT_NET_TRANSPOSE) *to = t % side * side + t / side;
        if (c->pattern == LEAT_NET_BITREVERSE) *to = reversed(t, c->terminals);
        if (c->pattern == LEAT_NET_BITCOMPLEMENT) *to = c->terminals - 1 - t;
        if (c->pattern == LEAT_NET_SHUFFLE) *to = turned_left(t, c->terminals);
        if (c->pattern == LEAT_NET_TORNADO) *to = moved(&lattice, t, true);
        if (c->pattern == LEAT_NET_NEIGHBOUR) *to = moved(&lattice, t, false);
    }
}

/* ---- collectives ----------------------------------------------------------------------------- */

static bool is_closed(enum leat_net_pattern pattern)
{
    return spellings[pattern].is_closed;
}

/* The destination of a terminal's next packet in this round, if it may be sent already. */
static bool next_step(const struct leat_net_traffic *traffic, uint32_t terminal, uint32_t *to)
{
    return traffic->round_left &&
           leat_net_draw_step(&traffic->draw, &traffic->source[terminal], terminal, to);
}

static void begin_round(struct leat_net_traffic *traffic, uint64_t at)
{
    traffic->round_at = at;
    traffic->round_left = leat_net_round_packets(&traffic->draw);
    for (uint32_t t = 0; t < traffic->config.terminals; t++) {
        traffic->source[t].next_at = at;
        traffic->source[t].sent = traffic->source[t].received = 0;
    }
}

static void end_round(struct leat_net_traffic *traffic, uint64_t at)
{
    struct leat_net_rounds *rounds = &traffic->rounds;
    const uint64_t cycles = at - traffic->round_at;
    if (!rounds->count || cycles < rounds->cycles_min) rounds->cycles_min = cycles;
    if (cycles > rounds->cycles_max) rounds->cycles_max = cycles;
    rounds->cycles += cycles;
    rounds->count++;
    if (!traffic->config.rounds || rounds->count < traffic->config.rounds) begin_round(traffic, at);
}

enum leat_net_wakes leat_net_traffic_arrived(struct leat_net_traffic *traffic,
                                             const struct leat_net_arrival *arrival)
{
    if (!is_closed(traffic->config.pattern) || arrival->fate != LEAT_NET_DELIVERED)
        return LEAT_NET_WAKE_NOBODY;
    struct leat_net_source *source = &traffic->source[arrival->packet.destination];
    uint32_t to;
    source->received++;
    source->next_at = arrival->tail_at + 1;
    if (--traffic->round_left == 0) {
        end_round(traffic, arrival->tail_at + 1);
        return traffic->round_left ? LEAT_NET_WAKE_ALL : LEAT_NET_WAKE_NOBODY;
    }
    return next_step(traffic, arrival->packet.destination, &to) ? LEAT_NET_WAKE_DESTINATION
                                                                : LEAT_NET_WAKE_NOBODY;
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* From the last entry to the first, each is linked before the later ones of its source. */
static void chain_trace(struct leat_net_traffic *traffic)
{
    for (uint32_t i = traffic->config.trace_count; i-- > 0;) {
        struct leat_net_source *source = &traffic->source[traffic->config.trace[i].source];
        traffic->trace_next[i] = source->to;
        source->to = i;
    }
}

static bool draw_trace(const struct leat_net_traffic *traffic, struct leat_net_source *source,
                       struct leat_net_packet *packet)
{
    if (source->to == LEAT_NET_NONE) return false;
    const struct leat_net_trace_entry *entry = &traffic->config.trace[source->to];
    packet->created_at = entry->cycle;
    packet->destination = entry->destination;
    if (entry->flits) packet->flits = entry->flits;
    packet->random = leat_random_next(&source->random);
    source->to = traffic->trace_next[source->to];
    source->number++;
    return true;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void lay_out(struct leat_net_traffic *traffic, struct leat_arena *arena)
{
    const struct leat_net_traffic_config *c = &traffic->config;
    traffic->source = leat_arena_lay(arena, c->terminals, sizeof *traffic->source);
    if (has_one_destination(c->pattern))
        traffic->to = leat_arena_lay(arena, c->terminals, sizeof *traffic->to);
    if (c->pattern == LEAT_NET_TRACE)
        traffic->trace_next = leat_arena_lay(arena, c->trace_count, sizeof *traffic->trace_next);
}

size_t leat_net_traffic_footprint(const struct leat_net_traffic_config *config)
{
    struct leat_net_traffic traffic = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&traffic, &arena);
    return arena.used;
}

static void init_source(const struct leat_net_traffic *traffic, uint32_t terminal,
                        struct leat_net_source *source)
{
    *source = (struct leat_net_source){ .to = LEAT_NET_NONE };
    leat_random_seed_entity(&source->random, traffic->config.seed, terminal);
}

void leat_net_traffic_init(struct leat_net_traffic *traffic,
                           const struct leat_net_traffic_config *config, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *traffic = (struct leat_net_traffic){ .config = *config };
    lay_out(traffic, &arena);
    if (is_closed(config->pattern) || config->pattern == LEAT_NET_TRACE)
        for (uint32_t t = 0; t < config->terminals; t++)
            init_source(traffic, t, &traffic->source[t]);
    traffic->draw = (struct leat_net_draw){ .pattern = config->pattern,
                                            .terminals = config->terminals,
                                            .flits = config->flits,
                                            .is_silent = !config->load_ppm,
                                            .has_destination = traffic->to != NULL,
                                            .hot_percent = config->hot_percent,
                                            .burst = config->burst };
    make_gaps(traffic);
    if (traffic->to) make_destinations(traffic);
    if (traffic->trace_next) chain_trace(traffic);
    if (is_closed(config->pattern)) begin_round(traffic, 0);
    traffic->config.shape = NULL; /* lent until here */
}

/* Depends on the source only: so a copy of it predicts the packets. */
static bool draw_open(const struct leat_net_traffic *traffic, struct leat_net_source *source,
                      uint32_t terminal, struct leat_net_packet *packet)
{
    struct leat_net_drawn drawn;
    *packet = (struct leat_net_packet){ .source = terminal,
                                        .flits = traffic->config.flits,
                                        .number = source->number };
    if (traffic->config.pattern == LEAT_NET_TRACE) return draw_trace(traffic, source, packet);
    if (!leat_net_draw_packet(&traffic->draw, source, terminal,
                              traffic->to ? traffic->to[terminal] : 0, &drawn))
        return false;
    packet->created_at = drawn.created_at;
    packet->destination = drawn.destination;
    packet->random = drawn.random;
    return true;
}

static bool draw_closed(struct leat_net_traffic *traffic, uint32_t terminal,
                        struct leat_net_packet *packet)
{
    struct leat_net_source *source = &traffic->source[terminal];
    struct leat_net_drawn drawn;
    if (!traffic->round_left || !leat_net_draw_closed(&traffic->draw, source, terminal, &drawn))
        return false;
    *packet = (struct leat_net_packet){
        .created_at = drawn.created_at,
        .number = source->number - 1,
        .random = drawn.random,
        .source = terminal,
        .destination = drawn.destination,
        .flits = traffic->config.flits,
    };
    return true;
}

bool leat_net_traffic_next(struct leat_net_traffic *traffic, uint32_t terminal,
                           struct leat_net_packet *packet)
{
    struct leat_net_source *source = &traffic->source[terminal];
    if (is_closed(traffic->config.pattern)) return draw_closed(traffic, terminal, packet);
    /* Now, not before, so that a process does not touch the sources of other ranks. */
    if (!source->number && traffic->config.pattern != LEAT_NET_TRACE)
        init_source(traffic, terminal, source);
    return draw_open(traffic, source, terminal, packet);
}

bool leat_net_traffic_last(const struct leat_net_traffic *traffic, uint32_t terminal, uint64_t *at)
{
    const struct leat_net_traffic_config *c = &traffic->config;
    const struct leat_net_source *source = &traffic->source[terminal];
    if (!source->number || is_closed(c->pattern) || c->pattern == LEAT_NET_TRACE) return false;
    *at = leat_net_drawn_last(&traffic->draw, source);
    return true;
}

/* ---- what is offered ------------------------------------------------------------------------- */

/* Adds a packet to its interval, which is not before *piece. False: after the last. */
static bool add_offered(const struct leat_net_packet *packet, const uint64_t *bound, uint32_t count,
                        uint32_t *piece, struct leat_net_offered *out)
{
    while (*piece < count && packet->created_at >= bound[*piece + 1])
        (*piece)++;
    if (*piece == count) return false;
    if (packet->created_at >= bound[*piece]) {
        out[*piece].packets++;
        out[*piece].flits += packet->flits;
    }
    return true;
}

static void add_trace(const struct leat_net_traffic *traffic, const uint64_t *bound, uint32_t count,
                      const uint8_t *but, struct leat_net_offered *out)
{
    const struct leat_net_traffic_config *c = &traffic->config;
    uint32_t piece = 0;
    for (uint32_t i = 0; i < c->trace_count; i++) {
        const struct leat_net_packet packet = {
            .created_at = c->trace[i].cycle,
            .flits = c->trace[i].flits ? c->trace[i].flits : c->flits,
        };
        if (but && but[c->trace[i].source]) continue;
        if (!add_offered(&packet, bound, count, &piece, out)) return;
    }
}

void leat_net_traffic_offered(const struct leat_net_traffic *traffic, const uint64_t *bound,
                              uint32_t count, const uint8_t *but, struct leat_net_offered *out)
{
    assert(!is_closed(traffic->config.pattern));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct leat_net_offered){ 0 };
    if (traffic->config.pattern == LEAT_NET_TRACE) {
        add_trace(traffic, bound, count, but, out);
        return;
    }
    for (uint32_t t = 0; t < traffic->config.terminals; t++) {
        struct leat_net_source source;
        struct leat_net_packet packet;
        uint32_t piece = 0;
        if (but && but[t]) continue;
        init_source(traffic, t, &source);
        while (draw_open(traffic, &source, t, &packet))
            if (!add_offered(&packet, bound, count, &piece, out)) break;
    }
}

void leat_net_traffic_left(const struct leat_net_traffic *traffic, const uint64_t *bound,
                           uint32_t count, struct leat_net_offered *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct leat_net_offered){ 0 };
    for (uint32_t t = 0; t < traffic->config.terminals; t++) {
        struct leat_net_packet packet = { .flits = traffic->config.flits };
        uint32_t piece = 0;
        if (!leat_net_traffic_last(traffic, t, &packet.created_at)) continue;
        struct leat_net_source source = traffic->source[t];
        while (add_offered(&packet, bound, count, &piece, out))
            if (!draw_open(traffic, &source, t, &packet)) break;
    }
}

/* ---- lines of a trace file ------------------------------------------------------------------- */

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r' || c == '\n';
}

leat_err leat_net_trace_line(const char *line, size_t len, uint32_t terminals, uint64_t cycle_min,
                             struct leat_net_trace_entry *out, bool *has, struct leat_text *why)
{
    const struct {
        const char *what;
        uint64_t min, max;
    } column[] = { { "cycle (of lines in order of time)", cycle_min, LEAT_NET_TRACE_CYCLE_MAX },
                   { "source", 0, terminals - UINT64_C(1) },
                   { "destination", 0, terminals - UINT64_C(1) },
                   { "number of flits", 1, LEAT_NET_FLITS_MAX } };
    enum { COLUMNS = sizeof column / sizeof *column };
    uint64_t value[COLUMNS] = { 0 };
    size_t count = 0;
    for (size_t i = 0; i < len && line[i] != '#';) {
        const size_t start = i;
        while (i < len && line[i] != '#' && !is_between(line[i]))
            i++;
        if (i == start) {
            i++;
            continue;
        }
        if (count < COLUMNS &&
            (!leat_tree_number(line + start, i - start, &value[count]) ||
             value[count] < column[count].min || value[count] > column[count].max))
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "'%.*s' is no %s, expected %" PRIu64 " to %" PRIu64,
                                   (int)(i - start), line + start, column[count].what,
                                   column[count].min, column[count].max);
        count++;
    }
    *has = count > 0;
    if (count == 0) return LEAT_ERR_OK;
    if (count < COLUMNS - 1 || count > COLUMNS)
        return leat_sim_refuse(why, LEAT_ERR_SYNTAX,
                               "%u numbers, expected CYCLE SOURCE DESTINATION [FLITS]",
                               (unsigned)count);
    *out = (struct leat_net_trace_entry){ value[0], (uint32_t)value[1], (uint32_t)value[2],
                                          (uint32_t)value[3] };
    return LEAT_ERR_OK;
}
