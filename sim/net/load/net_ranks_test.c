/* Ranks that simulate parts of one network have the results of one process; unless there are
 * faults, each builds only its own share. The ranks here are
 * threads, each with its own network; what they send each other is copied. */
#define _GNU_SOURCE /* barriers */
#include "net_load.h"
#include "net_world_test.h"
#include <pthread.h>

enum { RANKS_MAX = 4, CYCLES = 1500, CYCLES_PRECISE = 20000 };

/* ---- plain ranks ----------------------------------------------------------------------------- */

static struct {
    pthread_barrier_t barrier;
    uint32_t count;
    const struct leat_sim_parcel *out[RANKS_MAX];
    uint64_t number[RANKS_MAX];
    uint64_t *word[RANKS_MAX];
} table;

static void meet(void)
{
    pthread_barrier_wait(&table.barrier);
}

static uint64_t least(struct leat_sim_ranks *ranks, uint64_t number)
{
    uint64_t result = number;
    table.number[ranks->rank] = number;
    meet();
    for (uint32_t r = 0; r < ranks->count; r++)
        result = leat_smaller(result, table.number[r]);
    meet();
    return result;
}

static uint64_t exchange(struct leat_sim_ranks *ranks, const struct leat_sim_parcel *out,
                         struct leat_sim_parcel *in, uint64_t number)
{
    table.out[ranks->rank] = out;
    meet();
    for (uint32_t r = 0; r < ranks->count; r++) {
        const struct leat_sim_parcel *from = &table.out[r][ranks->rank];
        EQ(from->cap > 0, in[r].cap > 0); /* both sides know whether anything may come */
        OK(from->count <= in[r].cap);
        in[r].count = from->count;
        memcpy(in[r].word, from->word, from->count * sizeof *from->word);
    }
    meet();
    return least(ranks, number);
}

static void add(struct leat_sim_ranks *ranks, uint64_t *word, size_t count)
{
    uint64_t *sum = world_memory(count * sizeof *sum);
    table.word[ranks->rank] = word;
    meet();
    for (uint32_t r = 0; r < ranks->count; r++)
        for (size_t i = 0; i < count; i++)
            sum[i] += table.word[r][i];
    meet();
    memcpy(word, sum, count * sizeof *sum);
    free(sum);
}

/* ---- a job ----------------------------------------------------------------------------------- */

struct job {
    struct leat_net_shape shape;
    enum leat_net_route_rule rule;
    struct leat_net_config switches;
    enum leat_net_pattern pattern;
    uint32_t threads, flits;
    const struct leat_net_faults *faults;
    uint64_t seed;
    uint32_t precision_ppm;
};

struct outcome {
    struct leat_net_load_result load;
    struct leat_net_counts counts;
    uint64_t flits_over_wires;
    bool alive;
};

struct rank {
    const struct job *job;
    struct leat_sim_ranks ranks;
    struct outcome outcome;
    pthread_t thread;
};

static void run(const struct job *job, struct leat_sim_ranks *ranks, struct outcome *out)
{
    struct leat_net_load load;
    struct leat_net_config switches = job->switches;
    struct leat_net_host host;
    struct world w;
    const uint32_t own = leat_sim_ranks_own(ranks);
    switches.ranks = ranks;
    switches.parts = job->threads * leat_sim_ranks_count(ranks);
    const struct leat_net_share share = { switches.parts, own * job->threads,
                                          (own + 1) * job->threads };
    if (!world_build_share(&w, &job->shape, job->rule, switches.channels,
                           job->faults ? NULL : &share))
        abort();
    const uint32_t parts = leat_net_parts(&w.topology, &switches);
    struct leat_net_load_config config = {
        .ranks = ranks,
        .parts = leat_net_parts_first(&switches, parts, own + 1) -
                 leat_net_parts_first(&switches, parts, own),
        .warmup = 200,
        .precision_ppm = job->precision_ppm,
        .faults = job->faults,
        .topology = &w.topology,
    };
    leat_net_traffic_default(&config.traffic, w.topology.terminals);
    config.traffic.pattern = job->pattern;
    config.traffic.load_ppm = 250000;
    config.traffic.flits = job->flits;
    config.traffic.seed = job->seed;
    void *memory = world_memory(leat_net_load_footprint(&config));
    leat_net_load_init(&load, &config, memory);
    leat_net_load_host(&load, &host);
    world_begin(&w, &switches, &host);
    leat_net_load_attach(&load, &w.net);
    out->alive = true;
    const uint64_t cycles = job->precision_ppm ? CYCLES_PRECISE : CYCLES;
    for (uint64_t until = 400; out->alive && until < cycles + 400; until += 400)
        out->alive = leat_net_load_run(&load, until < cycles ? until : cycles);
    leat_net_load_result(&load, &out->load);
    out->counts = w.net.counts;
    leat_sim_ranks_add(ranks, (uint64_t *)&out->counts, sizeof out->counts / sizeof(uint64_t));
    out->flits_over_wires = 0;
    for (uint32_t o = 0; o < w.topology.outs; o++)
        out->flits_over_wires += leat_net_out_flits(&w.net, o) * (o + 1);
    leat_sim_ranks_add(ranks, &out->flits_over_wires, 1);
    if (ranks) EQ(leat_net_stuck(&w.net, NULL, 0), 0);
    free(memory);
    world_end(&w);
}

static void *be_rank(void *argument)
{
    struct rank *rank = argument;
    run(rank->job, &rank->ranks, &rank->outcome);
    return NULL;
}

static void compare(const struct job *job, uint32_t count)
{
    static struct rank rank[RANKS_MAX];
    static struct outcome whole;
    struct job one = *job;
    one.threads = 1;
    run(&one, NULL, &whole);
    pthread_barrier_init(&table.barrier, NULL, count);
    for (uint32_t r = 0; r < count; r++) {
        rank[r] = (struct rank){ .job = job,
                                 .ranks = { .abi = LEAT_SIM_RANKS_ABI,
                                            .rank = r,
                                            .count = count,
                                            .exchange = exchange,
                                            .least = least,
                                            .add = add } };
        if (pthread_create(&rank[r].thread, NULL, be_rank, &rank[r])) abort();
    }
    for (uint32_t r = 0; r < count; r++)
        pthread_join(rank[r].thread, NULL);
    pthread_barrier_destroy(&table.barrier);
    const struct outcome *all = &rank[0].outcome;
    EQ(all->alive, whole.alive);
    EQ(all->load.cycles, whole.load.cycles);
    EQ(all->load.certificate, whole.load.certificate);
    EQ(all->load.packets_offered, whole.load.packets_offered);
    EQ(all->load.packets_waiting, whole.load.packets_waiting);
    EQ(all->load.delivered_min, whole.load.delivered_min);
    EQ(all->load.delivered_max, whole.load.delivered_max);
    EQ(all->load.steady.latency_p99, whole.load.steady.latency_p99);
    EQ(all->load.steady.latency_max, whole.load.steady.latency_max);
    OK(all->load.steady.latency_mean == whole.load.steady.latency_mean);
    OK(all->load.steady.accepted == whole.load.steady.accepted);
    OK(all->load.steady.offered == whole.load.steady.offered);
    for (int fate = 0; fate < LEAT_NET_FATES; fate++)
        EQ(all->load.packets_ended[fate], whole.load.packets_ended[fate]);
    EQ(all->counts.flit_hops, whole.counts.flit_hops);
    EQ(all->counts.waits, whole.counts.waits);
    EQ(all->flits_over_wires, whole.flits_over_wires);
}

static void some_networks(const struct leat_net_faults *faults)
{
    static const struct {
        enum leat_net_kind kind;
        uint32_t a, b;
    } shapes[] = { { LEAT_NET_TORUS, 5, 4 },
                   { LEAT_NET_MESH, 4, 4 },
                   { LEAT_NET_FATTREE, 3, 2 },
                   { LEAT_NET_FLY, 2, 4 },
                   { LEAT_NET_LINE, 9, 0 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t count = 2; count <= RANKS_MAX; count++) {
            struct job job = {
                .shape = shape_of(shapes[i].kind, shapes[i].a, shapes[i].b),
                .switches = golden,
                .pattern = count % 2 ? LEAT_NET_UNIFORM : LEAT_NET_BURSTY,
                .threads = 1 + (uint32_t)i % 2,
                .flits = 1 + count,
                .faults = faults,
                .seed = tap_seed() + i,
            };
            job.shape.wire_cycles = count;
            job.rule = leat_net_rule_default(job.shape.kind);
            compare(&job, count);
        }
}

static void ranks_have_the_results_of_one_process(void)
{
    some_networks(NULL);
}

static void also_with_faults(void)
{
    static const char *const lines[] = { "link:1-2@100..900", "port:3@700..", "ber:1e-5" };
    static struct leat_net_faults faults;
    char line[128];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    leat_net_faults_init(&faults);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        OK(!leat_net_faults_line(&faults, lines[i], strlen(lines[i]), &why));
    some_networks(&faults);
}

/* A ring without the channels that would keep it free of deadlock. */
static void ranks_see_a_deadlock_in_the_same_cycle(void)
{
    struct job job = {
        .shape = shape_of(LEAT_NET_RING, 8, 0),
        .rule = LEAT_NET_DOR,
        .switches = golden,
        .pattern = LEAT_NET_TORNADO,
        .threads = 1,
        .flits = 12,
        .seed = tap_seed(),
    };
    job.switches.channels = 1;
    job.switches.buffer_flits = 2;
    compare(&job, 3);
    static struct outcome whole;
    run(&job, NULL, &whole);
    OK(!whole.alive);
}

static void ranks_are_precise_enough_in_the_same_cycle(void)
{
    struct job job = {
        .shape = shape_of(LEAT_NET_MESH, 4, 4),
        .rule = LEAT_NET_DOR,
        .switches = golden,
        .pattern = LEAT_NET_UNIFORM,
        .threads = 2,
        .flits = 1,
        .seed = tap_seed(),
        .precision_ppm = 100000,
    };
    static struct outcome whole;
    run(&job, NULL, &whole);
    OK(whole.load.cycles < CYCLES_PRECISE);
    for (uint32_t count = 2; count <= RANKS_MAX; count++)
        compare(&job, count);
}

/* The least, the most and the sum; one process needs nobody. */
static void without_ranks_a_process_agrees_with_itself(void)
{
    uint64_t word = 5;
    EQ(leat_sim_ranks_count(NULL), 1);
    EQ(leat_sim_ranks_own(NULL), 0);
    EQ(leat_sim_ranks_most(NULL, 7), 7);
    leat_sim_ranks_add(NULL, &word, 1);
    EQ(word, 5);
}

/* leat_net_steady_gather is seen by its sums above: latencies of all ranks are those of one. */
TAP_MAIN(T(ranks_have_the_results_of_one_process), T(also_with_faults),
         T(ranks_see_a_deadlock_in_the_same_cycle), T(ranks_are_precise_enough_in_the_same_cycle),
         T(without_ranks_a_process_agrees_with_itself))
