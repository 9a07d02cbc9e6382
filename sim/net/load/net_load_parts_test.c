/* The load of a network in parts is measured as that of the whole. */
#include "net_load.h"
#include "net_result_test.h"
#include "net_world_test.h"

enum { CYCLES = 2500, CYCLES_PRECISE = 20000, TERMINALS = 16 };

static struct leat_net_faults faults;
static uint32_t precision_ppm; /* of all runs */

static struct leat_net_load_config config_of(const struct world *w, enum leat_net_pattern pattern,
                                             uint64_t warmup, bool faulty)
{
    struct leat_net_load_config config = { .warmup = warmup,
                                           .precision_ppm = precision_ppm,
                                           .topology = &w->topology };
    leat_net_traffic_default(&config.traffic, TERMINALS);
    config.traffic.pattern = pattern;
    config.traffic.load_ppm = 300000;
    config.traffic.flits = 3;
    config.traffic.seed = tap_seed();
    if (faulty) config.faults = &faults;
    return config;
}

/* Runs a mesh in pieces; there are results in between. */
static void run(enum leat_net_pattern pattern, uint64_t warmup, bool faulty, uint32_t parts,
                struct leat_net_load_result *out)
{
    static struct leat_net_load load;
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 4);
    struct leat_net_config switches = golden;
    struct leat_net_host host;
    struct world w;
    if (!world_build(&w, &shape, LEAT_NET_DOR, golden.channels)) abort();
    struct leat_net_load_config config = config_of(&w, pattern, warmup, faulty);
    switches.parts = parts;
    config.parts = leat_net_parts(&w.topology, &switches);
    EQ(config.parts, parts);
    void *memory = world_memory(leat_net_load_footprint(&config));
    leat_net_load_init(&load, &config, memory);
    leat_net_load_host(&load, &host);
    OK(!host.part_context == (parts == 1 || leat_net_pattern_list(pattern)->is_closed));
    world_begin(&w, &switches, &host);
    leat_net_load_attach(&load, &w.net);
    const uint64_t cycles = precision_ppm ? CYCLES_PRECISE : CYCLES;
    for (uint64_t until = 700; until < cycles + 700; until += 700) {
        OK(leat_net_load_run(&load, until < cycles ? until : cycles));
        leat_net_load_result(&load, out);
    }
    EQ(leat_net_load_tally(&load, 0)->packets_ended[LEAT_NET_DELIVERED],
       out->packets_ended[LEAT_NET_DELIVERED]);
    free(memory);
    world_end(&w);
}

static void compare(bool faulty)
{
    static struct leat_net_load_result whole, divided;
    for (int pattern = 0; pattern < LEAT_NET_PATTERNS; pattern++)
        for (int found = 0; found < 2; found++) {
            const uint64_t warmup = found ? LEAT_NET_STEADY_FIND : 333;
            if (pattern == LEAT_NET_TRACE) continue;
            run((enum leat_net_pattern)pattern, warmup, faulty, 1, &whole);
            OK(whole.packets_ended[LEAT_NET_DELIVERED] > 100 || faulty);
            for (uint32_t parts = 2; parts < 6; parts++) {
                run((enum leat_net_pattern)pattern, warmup, faulty, parts, &divided);
                result_is(&divided, &whole);
            }
        }
}

static void every_pattern_has_the_same_results_in_parts(void)
{
    compare(false);
}

static void also_with_faults(void)
{
    static const char *const lines[] = { "link:5-6@100..900", "flap:9-10@300../50,40",
                                         "port:3@1000..", "router:12@500..1500", "ber:1e-5" };
    char line[128];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    leat_net_faults_init(&faults);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        OK(!leat_net_faults_line(&faults, lines[i], strlen(lines[i]), &why));
    compare(true);
}

static void a_precise_run_ends_in_the_same_cycle(void)
{
    static struct leat_net_load_result whole, divided;
    precision_ppm = 100000;
    run(LEAT_NET_UNIFORM, LEAT_NET_STEADY_FIND, false, 1, &whole);
    OK(whole.cycles > 1536 && whole.cycles < CYCLES_PRECISE);
    for (uint32_t parts = 2; parts < 6; parts++) {
        run(LEAT_NET_UNIFORM, LEAT_NET_STEADY_FIND, false, parts, &divided);
        result_is(&divided, &whole);
    }
    precision_ppm = 0;
}

/* The batches of two halves are those of all. */
static void what_is_moved_counts_as_if_it_had_been_added_here(void)
{
    static struct leat_net_steady all, half[2];
    static struct leat_net_steady_result wanted, result;
    struct leat_random r;
    void *memory[3];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 3; i++) {
        memory[i] = world_memory(leat_net_steady_footprint());
        leat_net_steady_init(i < 2 ? &half[i] : &all, 500, memory[i]);
    }
    for (uint64_t at = 0; at < 20000; at += leat_random_below(&r, 20)) {
        const struct leat_net_arrival arrival = { .tail_at = at +
                                                             5000, /* half[1] is idle at first */
                                                  .packet = { .created_at = at, .flits = 2 },
                                                  .hops = 3 };
        leat_net_steady_add(&all, &arrival);
        leat_net_steady_add(&half[at > 9000 && leat_random_below(&r, 2)], &arrival);
    }
    leat_net_steady_move(&half[0], &half[1], 26000);
    leat_net_steady_result(&all, 26000, 1, NULL, &wanted);
    leat_net_steady_result(&half[0], 26000, 1, NULL, &result);
    steady_is(&result, &wanted);
    leat_net_steady_result(&half[1], 26000, 1, NULL, &result);
    EQ(result.packets, 0);
    for (int i = 0; i < 3; i++)
        free(memory[i]);
}

TAP_MAIN(T(every_pattern_has_the_same_results_in_parts), T(also_with_faults),
         T(a_precise_run_ends_in_the_same_cycle),
         T(what_is_moved_counts_as_if_it_had_been_added_here))
