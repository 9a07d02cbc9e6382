#include "net_traffic.h"
#include "tap.h"
#include <math.h>

enum { MANY = LEAT_ROUNDS < 100000 ? 20000 : 200000, TERMINALS_MAX = 4096 };

static struct leat_net_traffic_config config;
static struct leat_net_traffic traffic;
static _Alignas(max_align_t) uint8_t memory[1 << 20];

static char why_text[256];
static struct leat_text why;

static void listen(void)
{
    memset(why_text, 0, sizeof why_text);
    leat_text_init(&why, why_text, sizeof why_text - 1, NULL, NULL);
}

static void describe(enum leat_net_pattern pattern, uint32_t terminals, uint32_t load_ppm,
                     uint32_t flits)
{
    leat_net_traffic_default(&config, terminals);
    config.pattern = pattern;
    config.load_ppm = load_ppm;
    config.flits = flits;
    config.seed = tap_seed();
}

static void start(void)
{
    listen();
    EQ(leat_net_traffic_check(&config, &why), LEAT_ERR_OK);
    OK(leat_net_traffic_footprint(&config) <= sizeof memory);
    memset(memory, 0, sizeof memory);
    leat_net_traffic_init(&traffic, &config, memory);
}

static void prepare(enum leat_net_pattern pattern, uint32_t terminals, uint32_t load_ppm,
                    uint32_t flits)
{
    describe(pattern, terminals, load_ppm, flits);
    start();
}

static struct leat_net_packet next_of(uint32_t terminal)
{
    struct leat_net_packet packet = { .destination = LEAT_NET_NONE };
    OK(leat_net_traffic_next(&traffic, terminal, &packet));
    return packet;
}

/* ---- names and limits ------------------------------------------------------------------------ */

static void patterns_have_names_and_names_have_patterns(void)
{
    enum leat_net_pattern pattern;
    for (size_t i = 0; i < LEAT_NET_PATTERNS; i++) {
        const struct leat_net_pattern_spelling *spelling = leat_net_pattern_list(i);
        OK(leat_net_pattern_find(spelling->name, &pattern));
        EQ(pattern, i);
        OK(strlen(spelling->text) > 0);
        EQ(spelling->is_closed, i >= LEAT_NET_ALLTOALL);
    }
    OK(leat_net_pattern_list(LEAT_NET_PATTERNS) == NULL);
    const struct {
        const char *name;
        enum leat_net_pattern pattern;
    } more[] = {
        { "bit-reverse", LEAT_NET_BITREVERSE },        { "bit-complement", LEAT_NET_BITCOMPLEMENT },
        { "all-to-all", LEAT_NET_ALLTOALL },           { "allreduce-ring", LEAT_NET_ALLREDUCE },
        { "broadcast-tree", LEAT_NET_BROADCAST_TREE }, { "neighbor", LEAT_NET_NEIGHBOUR }
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        OK(leat_net_pattern_find(more[i].name, &pattern));
        EQ(pattern, more[i].pattern);
    }
    pattern = LEAT_NET_TRACE;
    OK(!leat_net_pattern_find("uniforms", &pattern));
    OK(!leat_net_pattern_find("unifor", &pattern));
    OK(!leat_net_pattern_find("", &pattern));
    EQ(pattern, LEAT_NET_TRACE);
}

static void refused(const char *expected)
{
    listen();
    EQ(leat_net_traffic_check(&config, &why), LEAT_ERR_RANGE);
    OK(strstr(why_text, expected) != NULL);
    if (!strstr(why_text, expected)) printf("# said: %s\n", why_text);
}

static void traffic_that_cannot_be_is_refused_with_the_reason(void)
{
    const struct {
        enum leat_net_pattern pattern;
        uint32_t terminals, load_ppm, flits;
        const char *expected;
    } row[] = {
        { LEAT_NET_TRANSPOSE, 12, 1, 1, "transpose traffic of 12 terminals, expected a square" },
        { LEAT_NET_TRANSPOSE, 32, 1, 1, "expected a square" },
        { LEAT_NET_SHUFFLE, 12, 1, 1, "expected a power of two" },
        { LEAT_NET_BITREVERSE, 0, 1, 1, "terminals 0, expected 1 to" },
        { LEAT_NET_BITREVERSE, 9, 1, 1, "expected a power of two" },
        { LEAT_NET_BITCOMPLEMENT, 6, 1, 1, "expected a power of two" },
        { LEAT_NET_ALLREDUCE, 1, 1, 1, "of 1 terminal, expected 2 or more" },
        { LEAT_NET_UNIFORM, 4, 1000001, 1, "1000001, expected 0 to 1000000" },
        { LEAT_NET_UNIFORM, 4, 1, 0, "flits of a packet 0, expected 1 to 65535" },
        { (enum leat_net_pattern)LEAT_NET_PATTERNS, 4, 1, 1, "traffic pattern" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        describe(row[i].pattern, row[i].terminals, row[i].load_ppm, row[i].flits);
        refused(row[i].expected);
    }
    describe(LEAT_NET_HOTSPOT, 4, 1, 1);
    config.hot_percent = 101;
    refused("101, expected 0 to 100");
    describe(LEAT_NET_BURSTY, 4, 1, 1);
    config.burst = 0;
    refused("packets of a burst 0");
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* 1 / p - 1 failures precede a success of probability p. */
static void the_mean_of_gaps_is_right_to_a_millionth(void)
{
    const uint64_t loads[] = { 1, 7, 1000, 50000, 123456, 333333, 400000, 999999, 1000000 };
    const uint64_t flits[] = { 1, 2, 4, 53, 1000, 65535 };
    for (size_t l = 0; l < sizeof loads / sizeof *loads; l++)
        for (size_t f = 0; f < sizeof flits / sizeof *flits; f++) {
            struct leat_net_gaps gaps;
            double mean = 1;
            leat_net_gaps_init(&gaps, loads[l], 1000000 * flits[f]);
            for (uint32_t k = 0; k < gaps.bits; k++)
                mean += ldexp(gaps.chance[k], (int)k - 32);
            const double want = 1e6 * (double)flits[f] / (double)loads[l];
            OK(fabs(mean / want - 1) < 1e-6);
        }
}

/* Counts of each gap against p (1 - p)^gap, six standard deviations. */
static void gaps_are_geometric(void)
{
    const uint64_t chances[] = { 1000000, 900000, 400000, 100000, 20000 };
    for (size_t c = 0; c < sizeof chances / sizeof *chances; c++) {
        struct leat_net_gaps gaps;
        struct leat_random r;
        uint32_t seen[64] = { 0 };
        double left = MANY;
        const double p = (double)chances[c] / 1e6;
        leat_random_seed(&r, tap_seed());
        leat_net_gaps_init(&gaps, chances[c], 1000000);
        for (int i = 0; i < MANY; i++) {
            const uint64_t gap = leat_net_gaps_draw(&gaps, &r);
            if (gap < 64) seen[gap]++;
        }
        for (int gap = 0; gap < 64; left *= 1 - p, gap++)
            OK(fabs(seen[gap] - p * left) < 6 * sqrt(p * left) + 2);
    }
}

/* ---- patterns -------------------------------------------------------------------------------- */

static void destinations_are(enum leat_net_pattern pattern, uint32_t terminals,
                             uint32_t (*want)(uint32_t terminal, uint32_t terminals))
{
    prepare(pattern, terminals, 500000, 1);
    for (uint32_t t = 0; t < terminals; t++) {
        EQ(next_of(t).destination, want(t, terminals));
        EQ(next_of(t).destination, want(t, terminals));
    }
}

static uint32_t bits_of(uint32_t terminals)
{
    uint32_t bits = 0;
    while (UINT32_C(1) << bits < terminals)
        bits++;
    return bits;
}

static uint32_t by_bits(uint32_t t, uint32_t bits, uint32_t step, uint32_t offset)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < bits; i++)
        if (t >> i & 1) to |= UINT32_C(1) << (i * step + offset) % bits;
    return to;
}

static uint32_t want_shuffle(uint32_t t, uint32_t terminals)
{
    return by_bits(t, bits_of(terminals), 1, 1);
}

static uint32_t want_reverse(uint32_t t, uint32_t terminals)
{
    const uint32_t bits = bits_of(terminals);
    return by_bits(t, bits, bits - 1, bits - 1);
}

static uint32_t want_halves_changed(uint32_t t, uint32_t terminals)
{
    return by_bits(t, bits_of(terminals), 1, bits_of(terminals) / 2);
}

static uint32_t want_complement(uint32_t t, uint32_t terminals)
{
    return ~t & (terminals - 1);
}

static uint32_t want_transpose_5(uint32_t t, uint32_t terminals)
{
    (void)terminals;
    return t % 5 * 5 + t / 5;
}

static void patterns_of_bits_move_each_bit_to_its_place(void)
{
    for (uint32_t terminals = 1; terminals <= TERMINALS_MAX; terminals *= 2) {
        destinations_are(LEAT_NET_SHUFFLE, terminals, want_shuffle);
        destinations_are(LEAT_NET_BITREVERSE, terminals, want_reverse);
        destinations_are(LEAT_NET_BITCOMPLEMENT, terminals, want_complement);
        if (bits_of(terminals) % 2 == 0)
            destinations_are(LEAT_NET_TRANSPOSE, terminals, want_halves_changed);
    }
    destinations_are(LEAT_NET_TRANSPOSE, 25, want_transpose_5);
}

static uint32_t want_half_a_ring(uint32_t t, uint32_t terminals)
{
    return (t + (terminals + 1) / 2 - 1) % terminals;
}

static uint32_t want_next_in_ring(uint32_t t, uint32_t terminals)
{
    return (t + 1) % terminals;
}

static void without_a_lattice_tornado_and_neighbour_go_round_one_ring(void)
{
    for (uint32_t terminals = 1; terminals < 20; terminals++) {
        destinations_are(LEAT_NET_TORNADO, terminals, want_half_a_ring);
        destinations_are(LEAT_NET_NEIGHBOUR, terminals, want_next_in_ring);
    }
}

/* Three nested loops over a torus of 5 x 4 x 3 with two terminals at each router. */
static void in_a_lattice_they_go_on_in_every_dimension(void)
{
    const struct leat_net_shape shape = { .kind = LEAT_NET_TORUS,
                                          .number = { 5, 4, 3 },
                                          .numbers = 3,
                                          .terminals = 2,
                                          .wire_cycles = 1 };
    for (int tornado = 0; tornado < 2; tornado++) {
        describe(tornado ? LEAT_NET_TORNADO : LEAT_NET_NEIGHBOUR, 120, 500000, 1);
        config.shape = &shape;
        start();
        for (uint32_t t = 0, z = 0; z < 3; z++)
            for (uint32_t y = 0; y < 4; y++)
                for (uint32_t x = 0; x < 5; x++)
                    for (uint32_t i = 0; i < 2; i++, t++) {
                        const uint32_t to_x = (x + (tornado ? 2 : 1)) % 5, to_y = (y + 1) % 4,
                                       to_z = (z + 1) % 3;
                        EQ(next_of(t).destination, 2 * (to_x + 5 * (to_y + 4 * to_z)) + i);
                    }
    }
}

static void a_hypercube_has_neighbours_in_all_its_dimensions(void)
{
    const struct leat_net_shape shape = {
        .kind = LEAT_NET_HYPERCUBE, .number = { 10 }, .numbers = 1, .terminals = 1, .wire_cycles = 1
    };
    describe(LEAT_NET_NEIGHBOUR, 1024, 500000, 1);
    config.shape = &shape;
    start();
    for (uint32_t t = 0; t < 1024; t++)
        EQ(next_of(t).destination, 1023 - t);
}

static void a_permutation_is_one_ring_through_all_terminals(void)
{
    uint32_t first[64], differ = 0;
    for (uint32_t terminals = 1; terminals <= 64; terminals++) {
        uint32_t at = 0, steps = 0;
        prepare(LEAT_NET_PERMUTATION, terminals, 500000, 1);
        do {
            const uint32_t to = next_of(at).destination;
            OK(to < terminals);
            EQ(next_of(at).destination, to);
            at = to % terminals;
        } while (++steps < terminals && at != 0);
        EQ(at, 0);
        EQ(steps, terminals);
    }
    for (uint32_t t = 0; t < 64; t++)
        first[t] = traffic.to[t];
    config.seed++;
    start();
    for (uint32_t t = 0; t < 64; t++)
        differ += first[t] != traffic.to[t];
    OK(differ > 0);
}

static uint32_t counts[64];

static void count_destinations(uint32_t terminal)
{
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < MANY; i++) {
        const uint32_t to = next_of(terminal).destination;
        OK(to < 64);
        counts[to % 64]++;
    }
}

static bool about(uint32_t count, double share)
{
    return fabs(count - share * MANY) <= 6 * sqrt(share * MANY);
}

static void uniform_packets_go_to_every_terminal_alike_the_own_one_too(void)
{
    prepare(LEAT_NET_UNIFORM, 24, 500000, 1);
    count_destinations(5);
    for (uint32_t to = 0; to < 64; to++)
        OK(to < 24 ? about(counts[to], 1.0 / 24) : counts[to] == 0);
}

static void a_quarter_of_hotspot_packets_go_to_terminal_0_or_as_many_as_are_asked_for(void)
{
    for (uint32_t percent = 25; percent <= 100; percent += 25) {
        const double hot = percent / 100.0;
        describe(LEAT_NET_HOTSPOT, 16, 500000, 1);
        EQ(config.hot_percent, 25);
        config.hot_percent = percent;
        start();
        count_destinations(3);
        OK(about(counts[0], hot + (1 - hot) / 16));
        for (uint32_t to = 1; to < 16; to++)
            OK(about(counts[to], (1 - hot) / 16));
    }
}

/* ---- load ------------------------------------------------------------------------------------ */

/* Standard deviations of the number of packets by then: a burst or broadcast counts as one. */
static double deviation(enum leat_net_pattern pattern, uint32_t terminals)
{
    if (pattern == LEAT_NET_BURSTY) return sqrt(2.0 * LEAT_NET_BURST / MANY);
    if (pattern == LEAT_NET_BROADCAST) return sqrt((terminals - 1.0) / MANY);
    return sqrt(1.0 / MANY);
}

static void every_pattern_offers_the_load_that_was_asked_for(void)
{
    const uint32_t loads[] = { 1, 1000, 100000, 333333, 900000, 1000000 };
    for (int pattern = 0; pattern < LEAT_NET_TRACE; pattern++)
        for (size_t l = 0; l < sizeof loads / sizeof *loads; l++) {
            uint64_t last = 0;
            prepare((enum leat_net_pattern)pattern, 16, loads[l], 1 + (uint32_t)l * 3);
            for (uint64_t i = 0; i < MANY; i++) {
                const struct leat_net_packet packet = next_of(3);
                OK(packet.created_at >= last && packet.destination < 16);
                EQ(packet.number, i);
                EQ(packet.source, 3);
                EQ(packet.flits, config.flits);
                last = packet.created_at;
            }
            const double load = (double)MANY * config.flits / (double)last;
            const double off = load * 1e6 / loads[l] - 1;
            OK(fabs(off) < 5.5 * deviation(config.pattern, 16));
        }
}

/* So many packets are exact to 0.2 %: five standard deviations. */
static void all_terminals_together_offer_it_to_a_five_hundredth(void)
{
    const uint32_t loads[] = { 50000, 400000 };
    for (size_t l = 0; l < sizeof loads / sizeof *loads; l++) {
        const uint64_t bound[] = { 0, UINT64_C(6250000) * 1000000 / loads[l] / 1024 };
        struct leat_net_offered offered;
        prepare(LEAT_NET_UNIFORM, 1024, loads[l], 1);
        leat_net_traffic_offered(&traffic, bound, 1, NULL, &offered);
        const double load = (double)offered.flits / 1024 / (double)bound[1];
        OK(fabs(load * 1e6 / loads[l] - 1) < 0.002);
        EQ(offered.flits, offered.packets);
    }
}

static void at_full_load_there_is_a_flit_for_every_cycle(void)
{
    prepare(LEAT_NET_UNIFORM, 4, 1000000, 1);
    for (uint64_t i = 0; i < 1000; i++)
        EQ(next_of(2).created_at, i);
    prepare(LEAT_NET_BURSTY, 4, 1000000, 5);
    for (uint64_t i = 0; i < 1000; i++)
        EQ(next_of(2).created_at, 5 * i);
}

static void without_load_nothing_comes(void)
{
    struct leat_net_packet packet;
    for (int pattern = 0; pattern < LEAT_NET_TRACE; pattern++) {
        prepare((enum leat_net_pattern)pattern, 16, 0, 1);
        OK(!leat_net_traffic_next(&traffic, 0, &packet));
    }
}

/* Back to back to one terminal; ten on average; silences compensate. */
static void bursts_go_to_one_terminal_back_to_back(void)
{
    uint32_t bursts = 0, to = 64;
    uint64_t last = 0;
    prepare(LEAT_NET_BURSTY, 16, 200000, 4);
    for (int i = 0; i < MANY; i++) {
        const bool inside = traffic.source[5].left > 0;
        const struct leat_net_packet packet = next_of(5);
        if (inside) {
            EQ(packet.destination, to);
            EQ(packet.created_at - last, 4);
        } else {
            bursts++;
        }
        to = packet.destination;
        last = packet.created_at;
    }
    OK(fabs((double)MANY / bursts / LEAT_NET_BURST - 1) < 6 * sqrt(1.0 * LEAT_NET_BURST / MANY));
}

static void a_broadcast_is_a_packet_for_each_other_terminal(void)
{
    uint64_t last = UINT64_MAX;
    prepare(LEAT_NET_BROADCAST, 16, 300000, 1);
    for (int i = 0; i < 100; i++) {
        uint32_t seen = 0;
        const uint64_t at = next_of(7).created_at;
        OK(at != last);
        last = at;
        seen |= UINT32_C(1) << (7 + 1); /* the first goes to the next terminal */
        for (int others = 1; others < 15; others++) {
            const struct leat_net_packet packet = next_of(7);
            EQ(packet.created_at, at);
            seen |= UINT32_C(1) << packet.destination;
        }
        EQ(seen, 0xffff & ~(1u << 7));
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

static void what_a_terminal_creates_depends_on_no_other_terminal(void)
{
    struct leat_net_packet alone[200];
    for (int pattern = 0; pattern < LEAT_NET_TRACE; pattern++) {
        prepare((enum leat_net_pattern)pattern, 16, 400000, 2);
        for (int i = 0; i < 200; i++)
            alone[i] = next_of(9);
        start();
        for (int i = 0; i < 200; i++) {
            for (uint32_t t = 0; t < 9; t++)
                next_of(t);
            const struct leat_net_packet packet = next_of(9);
            EQ(packet.created_at, alone[i].created_at);
            EQ(packet.destination, alone[i].destination);
            EQ(packet.random, alone[i].random);
        }
    }
}

static void what_is_offered_is_what_will_be_drawn_piece_by_piece(void)
{
    const uint64_t bound[] = { 10, 10, 100, 1000, 1001, 5000 };
    const uint8_t but[16] = { [3] = 1, [4] = 1 };
    for (int pattern = 0; pattern < LEAT_NET_TRACE; pattern++) {
        struct leat_net_offered offered[5], want[5] = { { 0 } };
        prepare((enum leat_net_pattern)pattern, 16, 400000, 2);
        for (uint32_t t = 0; t < 16; t++) {
            struct leat_net_packet packet = { 0 };
            if (but[t]) continue;
            while ((packet = next_of(t)).created_at < 5000)
                for (int i = 0; i < 5; i++)
                    if (packet.created_at >= bound[i] && packet.created_at < bound[i + 1]) {
                        want[i].packets++;
                        want[i].flits += packet.flits;
                    }
        }
        leat_net_traffic_offered(&traffic, bound, 5, but, offered);
        for (int i = 0; i < 5; i++) {
            EQ(offered[i].packets, want[i].packets);
            EQ(offered[i].flits, want[i].flits);
        }
        EQ(offered[0].packets, 0);
        OK(offered[4].packets > 0);
    }
}

/* Each terminal is asked for another number of packets before, one of them for none. */
static void what_is_left_begins_with_the_last_packet_of_each_terminal(void)
{
    const uint64_t bound[] = { 0, 300, 5000 };
    for (int pattern = 0; pattern < LEAT_NET_TRACE; pattern++) {
        const uint8_t but[16] = { 1 };
        struct leat_net_offered all[2], left[2];
        uint64_t before[2] = { 0 }, last_at;
        prepare((enum leat_net_pattern)pattern, 16, 400000, 2);
        OK(!leat_net_traffic_last(&traffic, 0, &last_at));
        for (uint32_t t = 1; t < 16; t++) {
            uint64_t created_at = next_of(t).created_at;
            for (uint32_t i = 1; i < 20 * t; i++) {
                OK(leat_net_traffic_last(&traffic, t, &last_at));
                EQ(last_at, created_at);
                if (created_at < bound[2]) before[created_at >= bound[1]]++;
                created_at = next_of(t).created_at;
            }
        }
        leat_net_traffic_offered(&traffic, bound, 2, but, all);
        leat_net_traffic_left(&traffic, bound, 2, left);
        for (int i = 0; i < 2; i++) {
            EQ(left[i].packets, all[i].packets - before[i]);
            EQ(left[i].flits, 2 * left[i].packets);
        }
        OK(before[0] && left[0].packets && left[1].packets);
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

static const struct leat_net_trace_entry trace[] = {
    { 5, 1, 2, 3 }, { 5, 0, 3, 0 }, { 7, 1, 0, 9 }, { 7, 1, 1, 1 }, { 40, 3, 2, 2 },
};

static void a_trace_is_sent_as_written(void)
{
    const uint64_t bound[] = { 0, 7, 40 };
    const uint8_t but[4] = { 1, 0, 0, 0 };
    struct leat_net_packet packet;
    struct leat_net_offered offered[2];
    describe(LEAT_NET_TRACE, 4, 0, 6);
    config.trace = trace;
    config.trace_count = 5;
    start();
    const uint32_t order[] = { 0, 2, 3 };
    for (uint64_t i = 0; i < 3; i++) {
        const struct leat_net_trace_entry *want = &trace[order[i]];
        packet = next_of(1);
        EQ(packet.created_at, want->cycle);
        EQ(packet.destination, want->destination);
        EQ(packet.flits, want->flits);
        EQ(packet.number, i);
    }
    OK(!leat_net_traffic_next(&traffic, 1, &packet));
    OK(!leat_net_traffic_next(&traffic, 2, &packet));
    EQ(next_of(0).flits, 6); /* the packet length of this run */
    leat_net_traffic_offered(&traffic, bound, 2, NULL, offered);
    EQ(offered[0].packets, 2);
    EQ(offered[0].flits, 9);
    EQ(offered[1].flits, 10);
    leat_net_traffic_offered(&traffic, bound, 2, but, offered);
    EQ(offered[0].flits, 3);
}

static leat_err read_line(const char *line, struct leat_net_trace_entry *out, bool *has)
{
    listen();
    return leat_net_trace_line(line, strlen(line), 16, 100, out, has, &why);
}

static void lines_of_a_trace_are_three_or_four_numbers(void)
{
    const char *const good[] = { "100 3 15 4", "100,3,15,4", " 100\t3 , 15 4 # then silence\r\n" };
    struct leat_net_trace_entry entry;
    bool has = false;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        EQ(read_line(good[i], &entry, &has), LEAT_ERR_OK);
        OK(has);
        EQ(entry.cycle, 100);
        EQ(entry.source, 3);
        EQ(entry.destination, 15);
        EQ(entry.flits, 4);
    }
    EQ(read_line("4000 0 1", &entry, &has), LEAT_ERR_OK);
    EQ(entry.flits, 0);
    const char *const none[] = { "", "   \n", "# 1 2 3 4" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        EQ(read_line(none[i], &entry, &has), LEAT_ERR_OK);
        OK(!has);
    }
}

static void wrong_lines_of_a_trace_are_refused_with_what_was_expected(void)
{
    const char *const bad[][2] = {
        { "99 3 15", "'99' is no cycle (of lines in order of time), expected 100 to" },
        { "100 16 15", "'16' is no source, expected 0 to 15" },
        { "100 3 -1", "'-1' is no destination, expected 0 to 15" },
        { "100 3 15 0", "'0' is no number of flits, expected 1 to 65535" },
        { "100 3", "2 numbers, expected CYCLE SOURCE DESTINATION [FLITS]" },
        { "100 3 15 1 1", "5 numbers, expected" },
        { "18446744073709551615 0 0", "is no cycle" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct leat_net_trace_entry entry = { .flits = 77 };
        bool has;
        OK(read_line(bad[i][0], &entry, &has) != LEAT_ERR_OK);
        OK(strstr(why_text, bad[i][1]) != NULL);
        EQ(entry.flits, 77);
    }
}

static void any_line_of_a_trace_gets_an_answer_within_limits(void)
{
    static const char letters[] = "0123456789 ,\t#x-";
    struct leat_random r;
    int sound = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        char line[24];
        const size_t len = (size_t)leat_random_below(&r, sizeof line);
        struct leat_net_trace_entry entry;
        bool has;
        for (size_t k = 0; k < len; k++)
            line[k] = letters[leat_random_below(&r, sizeof letters - 1)];
        listen();
        if (leat_net_trace_line(line, len, 16, 0, &entry, &has, &why)) {
            OK(why.len > 0);
        } else if (has) {
            OK(entry.source < 16 && entry.destination < 16 && entry.flits <= LEAT_NET_FLITS_MAX);
            sound++;
        }
    }
    OK(sound > 0);
}

/* ---- collectives: by hand; whole ones are in net_load_test.c -------------------------------- */

static enum leat_net_wakes arrive(uint32_t to, uint64_t at, enum leat_net_fate fate)
{
    const struct leat_net_arrival arrival = { .packet = { .destination = to, .flits = 1 },
                                              .fate = fate,
                                              .tail_at = at };
    return leat_net_traffic_arrived(&traffic, &arrival);
}

static void a_step_waits_for_what_must_come_in_before(void)
{
    struct leat_net_packet packet;
    prepare(LEAT_NET_ALLREDUCE, 2, 0, 1); /* 2 steps */
    config.rounds = 2;
    start();
    EQ(next_of(0).destination, 1);
    EQ(next_of(1).destination, 0);
    OK(!leat_net_traffic_next(&traffic, 0, &packet));
    EQ(arrive(0, 9, LEAT_NET_DELIVERED), LEAT_NET_WAKE_DESTINATION);
    packet = next_of(0);
    EQ(packet.created_at, 10);
    EQ(packet.number, 1);
    OK(!leat_net_traffic_next(&traffic, 0, &packet));
    EQ(arrive(1, 11, LEAT_NET_DELIVERED), LEAT_NET_WAKE_DESTINATION);
    next_of(1);
    EQ(arrive(0, 15, LEAT_NET_CUT), LEAT_NET_WAKE_NOBODY);
    EQ(arrive(0, 20, LEAT_NET_DELIVERED), LEAT_NET_WAKE_NOBODY); /* it has no more steps */
    EQ(arrive(1, 30, LEAT_NET_DELIVERED), LEAT_NET_WAKE_ALL);
    EQ(traffic.rounds.count, 1);
    EQ(traffic.rounds.cycles, 31); /* cycles 0 to 30 */
    EQ(next_of(1).created_at, 31);
    next_of(0);
    arrive(0, 40, LEAT_NET_DELIVERED);
    arrive(1, 40, LEAT_NET_DELIVERED);
    arrive(0, 50, LEAT_NET_DELIVERED);
    EQ(arrive(1, 50, LEAT_NET_DELIVERED), LEAT_NET_WAKE_NOBODY);
    EQ(traffic.rounds.count, 2);
    EQ(traffic.rounds.cycles_min, 20);
    EQ(traffic.rounds.cycles_max, 31);
    OK(!leat_net_traffic_next(&traffic, 0, &packet));
}

TAP_MAIN(T(patterns_have_names_and_names_have_patterns),
         T(traffic_that_cannot_be_is_refused_with_the_reason),
         T(the_mean_of_gaps_is_right_to_a_millionth), T(gaps_are_geometric),
         T(patterns_of_bits_move_each_bit_to_its_place),
         T(without_a_lattice_tornado_and_neighbour_go_round_one_ring),
         T(in_a_lattice_they_go_on_in_every_dimension),
         T(a_hypercube_has_neighbours_in_all_its_dimensions),
         T(a_permutation_is_one_ring_through_all_terminals),
         T(uniform_packets_go_to_every_terminal_alike_the_own_one_too),
         T(a_quarter_of_hotspot_packets_go_to_terminal_0_or_as_many_as_are_asked_for),
         T(every_pattern_offers_the_load_that_was_asked_for),
         T(all_terminals_together_offer_it_to_a_five_hundredth),
         T(at_full_load_there_is_a_flit_for_every_cycle), T(without_load_nothing_comes),
         T(bursts_go_to_one_terminal_back_to_back),
         T(a_broadcast_is_a_packet_for_each_other_terminal),
         T(what_a_terminal_creates_depends_on_no_other_terminal),
         T(what_is_offered_is_what_will_be_drawn_piece_by_piece),
         T(what_is_left_begins_with_the_last_packet_of_each_terminal),
         T(a_trace_is_sent_as_written), T(lines_of_a_trace_are_three_or_four_numbers),
         T(wrong_lines_of_a_trace_are_refused_with_what_was_expected),
         T(any_line_of_a_trace_gets_an_answer_within_limits),
         T(a_step_waits_for_what_must_come_in_before))
