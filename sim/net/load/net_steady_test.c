#include "net_steady.h"
#include "tap.h"
#include <leat/random.h>
#include <math.h>

enum { BATCHES = LEAT_NET_STEADY_BATCHES, PACKETS_MAX = 1 << 18 };

static struct leat_net_steady steady;
static struct leat_net_steady_result result;
static _Alignas(max_align_t) uint8_t memory[6 << 20];

static struct {
    uint64_t created_at, tail_at;
} packet[PACKETS_MAX];
static uint32_t packets;

static void start(uint64_t warmup)
{
    OK(leat_net_steady_footprint() <= sizeof memory);
    memset(memory, 0, leat_net_steady_footprint());
    leat_net_steady_init(&steady, warmup, memory);
    packets = 0;
}

static void end(uint64_t created_at, uint64_t tail_at, enum leat_net_fate fate)
{
    const struct leat_net_arrival arrival = {
        .packet = { .created_at = created_at, .flits = 1 },
        .tail_at = tail_at,
        .hops = 3,
        .fate = fate,
    };
    leat_net_steady_add(&steady, &arrival);
}

/* The result of a run where these packets were created, and arrived in this order. */
static void finish(uint64_t now, uint32_t terminals)
{
    uint64_t bound[BATCHES + 1], offered[BATCHES] = { 0 };
    const uint32_t pieces = leat_net_steady_bounds(&steady, now, bound);
    OK(pieces <= BATCHES);
    for (uint32_t i = 0, piece = 0; i < packets; i++) { /* created in order too */
        while (piece < pieces && packet[i].created_at >= bound[piece + 1])
            piece++;
        if (piece < pieces && packet[i].created_at >= bound[piece]) offered[piece]++;
    }
    leat_net_steady_result(&steady, now, terminals, offered, &result);
}

/* ---- chance ---------------------------------------------------------------------------------- */

/*
 * A verdict on a random run is occasionally wrong, and a test of many runs must allow for that. It
 * tolerates so many wrong verdicts that more occur with a probability below `false_alarm`, if each
 * has the probability given beside it. There are less than 30 such checks here: together they fail
 * by chance with less than one seed in a million.
 */
static const double false_alarm = 3e-8;

static int misses_max(int runs, double chance)
{
    double just = pow(1 - chance, runs), more = 1 - just; /* so many misses, more misses */
    int misses = 0;
    while (more > false_alarm) {
        just *= chance / (1 - chance) * (runs - misses) / (misses + 1);
        more -= just;
        misses++;
    }
    return misses;
}

static void misses_are_allowed_as_the_binomial_distribution_says(void)
{
    EQ(misses_max(10, 1e-9), 0);  /* one: 1e-8 */
    EQ(misses_max(10, 1e-6), 1);  /* two: 45e-12 */
    EQ(misses_max(2, 0.5), 2);    /* both: 1/4 */
    EQ(misses_max(40, 0.002), 4); /* four or more: 1.4e-6; five or more: 2e-8 */
    EQ(misses_max(1000, 0), 0);
}

/* ---- mathematics ----------------------------------------------------------------------------- */

static void roots_are_those_of_the_library(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    EQ(leat_net_steady_root(0) == 0, 1);
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        const double digits = (double)leat_random_next(&r);
        const double square = ldexp(digits, (int)leat_random_below(&r, 400) - 200);
        OK(fabs(leat_net_steady_root(square) / sqrt(square) - 1) < 1e-14 || square == 0);
    }
}

/* The mass of Student's distribution within t, by Simpson's rule over its density. */
static double student_mass(double t, double freedom)
{
    enum { STEPS = 20000 };
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double x = t * i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * pow(1 + x * x / freedom, -(freedom + 1) / 2);
    }
    const double peak = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) /
                        sqrt(freedom * 3.14159265358979);
    return 2 * peak * sum * t / STEPS / 3;
}

static void students_t_holds_95_percent_within(void)
{
    for (uint32_t freedom = 1; freedom < 100; freedom++)
        OK(fabs(student_mass(leat_net_steady_student(freedom), freedom) - 0.95) < 2e-5);
}

/* ---- which packets count --------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All that arrived at or after the warm-up, sorted, compared with the result. */
static void check_latencies(uint64_t now)
{
    static uint64_t latency[PACKETS_MAX];
    uint32_t count = 0;
    double sum = 0;
    for (uint32_t i = 0; i < packets; i++)
        if (packet[i].tail_at >= result.warmup) {
            latency[count] = packet[i].tail_at - packet[i].created_at;
            sum += (double)latency[count++];
        }
    EQ(result.packets, count);
    EQ(result.cycles, now - result.warmup);
    if (count == 0) return;
    qsort(latency, count, sizeof *latency, by_value);
    OK(fabs(result.latency_mean - sum / count) < 1e-9 * sum / count + 1e-12);
    EQ(result.latency_max, latency[count - 1]);
    EQ(result.latency_p50, latency[(count + 1) / 2 - 1]);
    EQ(result.latency_p99, latency[(count * UINT64_C(99) + 99) / 100 - 1]);
    OK(result.hops_mean == 3);
    OK(fabs(result.accepted - (double)count / (double)result.cycles) < 1e-9);
}

static void just_the_packets_behind_the_warm_up_count(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 200; round++) {
        const uint64_t gap_max = 1 + leat_random_below(&r, 1000);
        const uint64_t given = leat_random_below(&r, 3000);
        const uint32_t count = (uint32_t)leat_random_below(&r, 2000);
        uint64_t now = 0;
        start(round % 2 ? LEAT_NET_STEADY_FIND : given);
        while (packets < count) {
            now += leat_random_below(&r, gap_max);
            packet[packets].tail_at = now;
            packet[packets].created_at = now - leat_random_below(&r, now < 4000 ? now + 1 : 4000);
            end(packet[packets].created_at, now, LEAT_NET_DELIVERED);
            packets++;
        }
        now += leat_random_below(&r, 3) ? 1 : 5000; /* sometimes nothing happens for long */
        uint64_t bound[BATCHES + 1];
        leat_net_steady_bounds(&steady, now, bound);
        leat_net_steady_result(&steady, now, 1, NULL, &result);
        if (round % 2)
            OK(result.warmup <= now / 2 + 64);
        else
            EQ(result.warmup, given);
        if (now > result.warmup) check_latencies(now);
    }
}

/* Any length of run has between half the table and all of it, without gaps. */
static void batches_cover_the_run_in_equal_pieces(void)
{
    for (uint64_t now = 1; now < UINT64_C(1) << 40; now += now / 3 + 1) {
        uint64_t bound[BATCHES + 1];
        start(LEAT_NET_STEADY_FIND);
        leat_net_steady_reach(&steady, now);
        OK(steady.batch_end >= now);
        const uint32_t pieces = leat_net_steady_bounds(&steady, now, bound);
        OK(pieces <= BATCHES && (pieces >= BATCHES / 2 || now <= 32 * 64));
        EQ(bound[0], 0);
        EQ(bound[pieces], now);
        for (uint32_t i = 1; i + 1 < pieces; i++)
            EQ(bound[i + 1] - bound[i], bound[1]);
        OK(pieces < 2 || bound[pieces] - bound[pieces - 1] < 2 * bound[1]);
    }
}

/* Some are told late, none after a packet that ends later. */
static void created_packets_count_in_the_batch_of_their_time(void)
{
    const uint64_t warmups[] = { LEAT_NET_STEADY_FIND, 777 };
    for (int w = 0; w < 2; w++) {
        uint64_t bound[BATCHES + 1], want[BATCHES] = { 0 }, early = 0;
        start(warmups[w]);
        for (uint64_t now = 0; now < 9999; now++) {
            const uint64_t at = now % 3 ? now : now * (now % 7) / 7;
            leat_net_steady_created(&steady, at);
            packet[packets++].created_at = at;
            end(at, now, LEAT_NET_DELIVERED);
        }
        const uint32_t pieces = leat_net_steady_bounds(&steady, 9999, bound);
        for (uint32_t i = 0; i < packets; i++) {
            uint32_t piece = 0;
            early += packet[i].created_at < bound[0];
            if (packet[i].created_at < bound[0]) continue;
            while (piece + 1 < steady.count &&
                   packet[i].created_at >= bound[0] + (piece + 1) * steady.batch_cycles)
                piece++;
            want[piece]++;
        }
        OK(pieces > 1);
        EQ(steady.early, early);
        for (uint32_t i = 0; i < steady.count; i++)
            EQ(steady.batch[i].created, want[i]);
    }
}

static void a_run_shorter_than_its_warm_up_has_no_result(void)
{
    uint64_t bound[BATCHES + 1];
    start(1000);
    end(5, 20, LEAT_NET_DELIVERED);
    EQ(leat_net_steady_bounds(&steady, 1000, bound), 0);
    leat_net_steady_result(&steady, 1000, 1, NULL, &result);
    EQ(result.packets, 0);
    EQ(result.cycles, 0);
    EQ(result.warmup, 1000);
    OK(!result.saturated && !result.has_intervals);
}

/* ---- warm-up --------------------------------------------------------------------------------- */

/* A packet a cycle, whose latency is that of a curve, and some noise. */
static void run_curve(double (*curve)(double), uint64_t seed, uint64_t now)
{
    struct leat_random r;
    leat_random_seed_entity(&r, tap_seed(), seed);
    start(LEAT_NET_STEADY_FIND);
    for (uint64_t at = 2000; at < now; at++)
        end(at - (uint64_t)(0.5 + curve((double)at / (double)now) +
                            (double)leat_random_below(&r, 20)),
            at, LEAT_NET_DELIVERED);
    leat_net_steady_result(&steady, now, 1, NULL, &result);
}

static double flat(double x)
{
    return x >= 0 ? 100 : 0;
}

static double step_at_a_quarter(double x)
{
    return x < 0.25 ? 400 : 100;
}

static double settling(double x)
{
    return 100 - 80 * exp(-x * 30);
}

static double rising(double x)
{
    return 100 + 1000 * x;
}

static void the_warm_up_ends_where_the_curve_is_level(void)
{
    enum { RUNS = 40, CURVES = 3 };
    /* Four standard errors, by Student's distribution: with the degrees of freedom of one half's
     * batches, it is twice the measured rate. Of 20000 runs at most 75 omitted more than
     * necessary. */
    const double drifts = 1 - student_mass(4, 11), late = 0.005;
    const struct {
        double (*curve)(double);
        uint64_t from, to; /* where it is level, and where that is detected */
        double off;        /* of the mean after it */
    } level[CURVES] = { { flat, 0, 12500, 0.2 },
                        { step_at_a_quarter, 25000, 40000, 0.2 },
                        { settling, 5000, 40000, 0.3 } };
    for (int i = 0; i < CURVES; i++) {
        int settled = 0, noticed = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            run_curve(level[i].curve, seed, 100000);
            settled += result.settled;
            noticed += result.warmup < level[i].to;
            OK(result.warmup >= level[i].from);
            OK(fabs(result.latency_mean - 109.5) < level[i].off);
        }
        OK(settled >= RUNS - misses_max(RUNS, drifts));
        OK(noticed >= RUNS - misses_max(RUNS, late));
    }
    run_curve(rising, 0, 100000);
    OK(!result.settled);
}

/* ---- queues with closed forms ---------------------------------------------------------------- */

struct queue {
    uint32_t arrivals_ppm;
    uint32_t service; /* cycles; the mean of a geometric distribution where it is random */
    bool is_random;
    uint32_t room; /* packets that may wait; 0: any number */
};

static uint64_t draw_service(const struct queue *q, struct leat_random *r)
{
    uint64_t cycles = 1;
    if (!q->is_random) return q->service;
    while (leat_random_below(r, q->service) != 0)
        cycles++;
    return cycles;
}

/* One server; a packet arrives in each cycle with this probability. */
static void run_queue(const struct queue *q, uint64_t seed, uint64_t warmup, uint64_t now)
{
    static uint64_t waiting[PACKETS_MAX];
    struct leat_random r;
    uint64_t done_at = 0;
    uint32_t in = 0, out = 0; /* waiting[out] is being served, or is next */
    bool busy = false;
    leat_random_seed_entity(&r, tap_seed(), seed);
    start(warmup);
    for (uint64_t at = 0; at < now; at++) {
        if (busy && done_at == at) {
            end(waiting[out++], at, LEAT_NET_DELIVERED);
            busy = false;
        }
        if (leat_random_below(&r, 1000000) < q->arrivals_ppm && packets < PACKETS_MAX) {
            packet[packets++].created_at = at;
            if (q->room && in - out >= q->room)
                end(at, at, LEAT_NET_NO_ROOM);
            else
                waiting[in++] = at;
        }
        if (!busy && out < in) {
            done_at = at + draw_service(q, &r);
            busy = true;
        }
    }
    OK(packets < PACKETS_MAX);
    finish(now, 1);
}

/* The work that a packet finds is a random walk with a wall; from its second moment, the mean time
 * in a Geo/D/1 queue of D = s, and in one of geometric service of mean s (Takagi 1993). */
static double time_in_queue(const struct queue *q)
{
    const double p = q->arrivals_ppm / 1e6, s = q->service;
    return s + p * s * (s - 1) / (q->is_random ? 1 : 2) / (1 - p * s);
}

static const struct queue light = { 125000, 4, false, 0 }, busy_queue = { 200000, 4, false, 0 },
                          random_queue = { 100000, 5, true, 0 };

static void the_mean_is_that_of_the_closed_form(void)
{
    enum { RUNS = 8 }; /* the standard deviation of their mean is 0.3 % */
    const struct queue *const queues[] = { &light, &busy_queue, &random_queue };
    int settled = 0;
    for (int i = 0; i < 3; i++) {
        double mean = 0, half = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            run_queue(queues[i], seed, LEAT_NET_STEADY_FIND, 1000000);
            settled += result.settled;
            OK(!result.saturated && result.has_intervals && result.latency_half > 0);
            mean += result.latency_mean / RUNS;
            half += result.latency_half / RUNS;
        }
        OK(fabs(mean / time_in_queue(queues[i]) - 1) < 0.03);
        OK(half < 0.05 * mean);
    }
    OK(settled >= 3 * RUNS - misses_max(3 * RUNS, 1 - student_mass(4, 13)));
}

/* Of so many intervals, this many percent hold the truth. */
static void coverage(const struct queue *q, uint64_t warmup, uint64_t now)
{
    enum { RUNS = 1000 };
    const double wrong = 0.06; /* at most: so few batches cannot reach 5 %; and at least 4 % */
    const int least = RUNS - misses_max(RUNS, wrong), most = RUNS * 99 / 100;
    int latency = 0, accepted = 0, saturated = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        run_queue(q, seed, warmup, now);
        latency += fabs(result.latency_mean - time_in_queue(q)) < result.latency_half;
        accepted += fabs(result.accepted - q->arrivals_ppm / 1e6) < result.accepted_half;
        saturated += result.saturated;
    }
    OK(latency >= least && latency <= most);
    OK(accepted >= least && accepted <= most);
    EQ(saturated, 0);
}

static void nineteen_of_twenty_intervals_hold_the_truth(void)
{
    coverage(&light, LEAT_NET_STEADY_FIND, 30000);
    coverage(&busy_queue, LEAT_NET_STEADY_FIND, 100000);
    coverage(&random_queue, 5000, 50000);
}

/* ---- saturation ------------------------------------------------------------------------------ */

static void heavy_queues_that_are_steady_are_not_called_saturated(void)
{
    enum { RUNS = 200 };
    const double wrong = 2e-4; /* at most: none was, of 16000 */
    const struct queue queues[] = { { 90000, 10, false, 0 },
                                    { 90000, 10, true, 0 },
                                    { 180000, 5, true, 0 },
                                    { 95000, 10, false, 0 } };
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        int saturated = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            run_queue(&queues[i], seed, LEAT_NET_STEADY_FIND, 10000 + seed * 200);
            saturated += result.saturated;
            OK(result.saturated == (result.reason[0] != '\0'));
        }
        OK(saturated <= misses_max(RUNS, wrong));
    }
}

static void queues_that_grow_are_always_called_saturated(void)
{
    enum { RUNS = 100 };
    const double wrong = 0.005; /* at most: of 1000 runs of the slowest one was */
    const struct queue queues[] = { { 110000, 10, false, 0 },
                                    { 120000, 10, true, 0 },
                                    { 220000, 5, true, 0 },
                                    { 400000, 5, false, 0 } };
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        int saturated = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            run_queue(&queues[i], seed, LEAT_NET_STEADY_FIND, 60000 + seed * 200);
            saturated += result.saturated;
            if (result.saturated) OK(strstr(result.reason, "wait, more and more of them") != NULL);
        }
        OK(saturated >= RUNS - misses_max(RUNS, wrong));
    }
}

static void what_is_lost_at_full_buffers_saturates_too(void)
{
    const struct queue full = { 120000, 10, false, 8 }, roomy = { 70000, 10, false, 64 };
    run_queue(&full, 1, LEAT_NET_STEADY_FIND, 50000);
    OK(result.saturated);
    double offered = 0, accepted = 0;
    EQ(sscanf(result.reason, "of %lf flits offered per terminal and cycle %lf came", &offered,
              &accepted),
       2);
    OK(fabs(offered - result.offered) < 1e-4 && fabs(accepted - result.accepted) < 1e-4);
    OK(fabs(offered - 0.12) < 0.006 && accepted <= 0.1001);
    OK(strstr(result.reason, "found full buffers and were lost") != NULL);
    run_queue(&roomy, 1, LEAT_NET_STEADY_FIND, 50000);
    OK(!result.saturated);
}

/* A fault loses every tenth packet: the others pass, and nothing waits. */
static void what_falls_to_faults_saturates_nothing(void)
{
    start(LEAT_NET_STEADY_FIND);
    for (uint64_t at = 100; at < 50000; at += 2) {
        packet[packets++].created_at = at - 100;
        end(at - 100, at, at % 10 ? LEAT_NET_DELIVERED : LEAT_NET_CUT);
    }
    finish(50000, 1);
    OK(!result.saturated);
    OK(fabs(result.accepted - 0.4) < 0.001);
    OK(fabs(result.offered - 0.5) < 0.01);
}

/* ---- precision ------------------------------------------------------------------------------- */

static void looks_are_when_the_table_is_full_or_three_quarters_full(void)
{
    static const uint64_t at[] = { 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384 };
    for (uint64_t warmup = 0; warmup < 800; warmup += 700) {
        uint64_t now = 0, bound[BATCHES + 1];
        start(warmup ? warmup : LEAT_NET_STEADY_FIND);
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            now = leat_net_steady_look_after(&steady, now);
            EQ(now, warmup + at[i]);
            EQ(leat_net_steady_bounds(&steady, now, bound), i % 2 ? BATCHES : BATCHES / 4 * 3);
        }
    }
}

/* A packet per cycle from each terminal; latencies of this mean, plus or minus `spread`; `backlog`
 * of ten thousand packets do not arrive. */
static enum leat_net_steady_verdict judge(uint64_t now, uint64_t latency, uint64_t spread,
                                          uint32_t backlog, uint32_t precision_ppm)
{
    uint64_t bound[BATCHES + 1], offered[BATCHES] = { 0 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    start(0);
    for (uint64_t at = latency + spread; at < now; at++)
        if (leat_random_below(&r, 10000) >= backlog)
            end(at - latency - spread + leat_random_below(&r, 2 * spread + 1), at,
                LEAT_NET_DELIVERED);
    const uint32_t count = leat_net_steady_bounds(&steady, now, bound);
    for (uint32_t i = 0; i < count; i++)
        offered[i] = bound[i + 1] - bound[i];
    return leat_net_steady_judge(&steady, now, offered, precision_ppm);
}

static void a_look_needs_narrow_intervals_and_enough_cycles(void)
{
    EQ(judge(8192, 10, 5, 0, 50000), LEAT_NET_STEADY_PRECISE);
    EQ(judge(8192, 10, 5, 0, 100), LEAT_NET_STEADY_GOES_ON);
    EQ(judge(3072, 10, 0, 0, 50000), LEAT_NET_STEADY_GOES_ON); /* less than 400 latencies */
    EQ(judge(8192, 30, 0, 0, 50000), LEAT_NET_STEADY_GOES_ON);
    EQ(judge(1536, 2000, 0, 0, 50000), LEAT_NET_STEADY_GOES_ON); /* nothing has arrived */
}

static void a_backlog_that_grows_is_saturated_once_the_throughput_is_known(void)
{
    EQ(judge(2048, 10, 5, 3000, 200000), LEAT_NET_STEADY_SATURATED);
    EQ(judge(2048, 10, 5, 3000, 100), LEAT_NET_STEADY_GOES_ON);
}

TAP_MAIN(T(misses_are_allowed_as_the_binomial_distribution_says), T(roots_are_those_of_the_library),
         T(students_t_holds_95_percent_within), T(just_the_packets_behind_the_warm_up_count),
         T(batches_cover_the_run_in_equal_pieces),
         T(created_packets_count_in_the_batch_of_their_time),
         T(a_run_shorter_than_its_warm_up_has_no_result),
         T(the_warm_up_ends_where_the_curve_is_level), T(the_mean_is_that_of_the_closed_form),
         T(nineteen_of_twenty_intervals_hold_the_truth),
         T(heavy_queues_that_are_steady_are_not_called_saturated),
         T(queues_that_grow_are_always_called_saturated),
         T(what_is_lost_at_full_buffers_saturates_too), T(what_falls_to_faults_saturates_nothing),
         T(looks_are_when_the_table_is_full_or_three_quarters_full),
         T(a_look_needs_narrow_intervals_and_enough_cycles),
         T(a_backlog_that_grows_is_saturated_once_the_throughput_is_known))
