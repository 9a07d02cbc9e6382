/* Runs that end by themselves say what long ones say: as often as their intervals promise. */
#include "net_load.h"
#include "net_world_test.h"
#include <math.h>

enum {
    RUNS = 40 + LEAT_ROUNDS / 50000,
    CYCLES_MAX = 400000,
    TRUE_RUNS = 4,
    TRUE_CYCLES = 100000,
};

/* Of intervals of 95 % a twentieth misses; up to 8 % were measured at the loads of this test.
 * Six standard deviations more have a probability below 1e-8. */
static int misses_max(int runs, double chance)
{
    return (int)(runs * chance + 6 * sqrt(runs * chance * (1 - chance))) + 1;
}

static struct leat_net_load load;
static struct world w;
static void *memory;

static void begin(uint32_t load_ppm, uint64_t seed, uint32_t precision_ppm)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 4);
    struct leat_net_host host;
    if (!world_build(&w, &shape, LEAT_NET_DOR, golden.channels)) abort();
    struct leat_net_load_config config = { .warmup = LEAT_NET_STEADY_FIND,
                                           .precision_ppm = precision_ppm,
                                           .topology = &w.topology };
    leat_net_traffic_default(&config.traffic, w.topology.terminals);
    config.traffic.load_ppm = load_ppm;
    config.traffic.seed = seed;
    memory = world_memory(leat_net_load_footprint(&config));
    leat_net_load_init(&load, &config, memory);
    leat_net_load_host(&load, &host);
    world_begin(&w, &golden, &host);
    leat_net_load_attach(&load, &w.net);
}

static void end(void)
{
    free(memory);
    world_end(&w);
}

static void run(uint32_t load_ppm, uint64_t seed, uint32_t precision_ppm, uint64_t cycles,
                struct leat_net_load_result *out, enum leat_net_steady_verdict *verdict)
{
    begin(load_ppm, seed, precision_ppm);
    OK(leat_net_load_run(&load, cycles));
    leat_net_load_result(&load, out);
    *verdict = load.verdict;
    end();
}

/* Means over long runs. */
static void find_truth(uint32_t load_ppm, uint64_t seed, double *latency, double *accepted)
{
    static struct leat_net_load_result result;
    enum leat_net_steady_verdict verdict;
    *latency = *accepted = 0;
    for (int i = 0; i < TRUE_RUNS; i++) {
        run(load_ppm, seed + (uint64_t)i, 0, TRUE_CYCLES, &result, &verdict);
        *latency += result.steady.latency_mean / TRUE_RUNS;
        *accepted += result.steady.accepted / TRUE_RUNS;
        EQ(verdict, LEAT_NET_STEADY_GOES_ON);
        EQ(result.cycles, TRUE_CYCLES);
    }
}

static void measure(uint32_t load_ppm, uint32_t precision_ppm)
{
    static struct leat_net_load_result result;
    const uint64_t seed = tap_seed() * 1000000;
    enum leat_net_steady_verdict verdict;
    int misses = 0, throughput_misses = 0, errors = 0;
    double latency, accepted, cycles = 0;
    find_truth(load_ppm, seed, &latency, &accepted);
    for (int i = 0; i < RUNS; i++) {
        run(load_ppm, seed + 1000 + (uint64_t)i, precision_ppm, CYCLES_MAX, &result, &verdict);
        const struct leat_net_steady_result *s = &result.steady;
        EQ(verdict, LEAT_NET_STEADY_PRECISE);
        OK(s->latency_half <= precision_ppm / 1e6 * s->latency_mean);
        misses += fabs(s->latency_mean - latency) > s->latency_half;
        throughput_misses += fabs(s->accepted - accepted) > s->accepted_half;
        errors += fabs(s->latency_mean - latency) > precision_ppm / 1e6 * latency;
        cycles += (double)result.cycles / RUNS;
    }
    printf("# load %.2f, precision %g: %.0f cycles; of %d intervals %d of latency and %d of "
           "throughput miss; %d errors\n",
           load_ppm / 1e6, precision_ppm / 1e6, cycles, RUNS, misses, throughput_misses, errors);
    OK(misses <= misses_max(RUNS, 0.08) && throughput_misses <= misses_max(RUNS, 0.08));
    OK(errors <= misses_max(RUNS, 0.01));
}

static void intervals_hold_the_mean_of_long_runs_at_moderate_load(void)
{
    measure(300000, 20000);
}

static void intervals_hold_the_mean_of_long_runs_at_heavy_load(void)
{
    measure(700000, 50000);
}

static void what_is_saturated_ends_soon(void)
{
    static struct leat_net_load_result result;
    enum leat_net_steady_verdict verdict;
    for (uint64_t i = 0; i < 20; i++) {
        run(1000000, tap_seed() + i, 50000, CYCLES_MAX, &result, &verdict);
        EQ(verdict, LEAT_NET_STEADY_SATURATED);
        OK(result.steady.saturated && result.cycles <= 16384);
    }
}

static void a_verdict_needs_two_looks_that_agree(void)
{
    begin(1000000, tap_seed(), 900000);
    EQ(load.look_at, 1536);
    while (!load.seen && load.look_at < 100000)
        OK(leat_net_load_run(&load, load.look_at));
    EQ(load.seen, LEAT_NET_STEADY_SATURATED);
    EQ(load.verdict, LEAT_NET_STEADY_GOES_ON);
    leat_net_load_judge(&load, w.net.now);
    EQ(load.verdict, LEAT_NET_STEADY_SATURATED);
    const uint64_t now = w.net.now;
    OK(leat_net_load_run(&load, now + 1000));
    EQ(w.net.now, now);
    end();
}

TAP_MAIN(T(a_verdict_needs_two_looks_that_agree),
         T(intervals_hold_the_mean_of_long_runs_at_moderate_load),
         T(intervals_hold_the_mean_of_long_runs_at_heavy_load), T(what_is_saturated_ends_soon))
