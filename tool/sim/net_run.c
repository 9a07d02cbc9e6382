/* leat sim of networks: runs the job piece by piece, so that interrupts are noticed. */
#include "net_device.h"
#include "net_sim.h"
#include "pieces.h"
#include "sim.h"
#include "sim_mpi.h"
#include "sim_view.h"
#include "threads.h"
#include <stdlib.h>

/* A run of so many seconds tells whether ranks are worth it; a shorter one tells it at its end. */
#define ASSESS_SECONDS 1.0

/* ---- the end of the work --------------------------------------------------------------------- */

bool net_is_done(const struct net_simulation *s)
{
    uint64_t ended = 0;
    if (s->job->traffic.pattern != LEAT_NET_TRACE) return s->load.traffic.round_left == 0;
    for (uint32_t fate = 0; fate < LEAT_NET_FATES; fate++)
        ended += leat_net_load_tally(&s->load, 0)->packets_ended[fate];
    return ended == s->job->traffic.trace_count;
}

static bool next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct net_simulation *s = context;
    return s->host.next(s->host.context, terminal, packet);
}

/* The run ends with the last packet: idle cycles after it would distort the figures. */
static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct net_simulation *s = context;
    s->host.arrive(s->host.context, arrival);
    s->done = net_is_done(s);
    s->net.stop = s->done;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Ranks have equal shares of the parts, one for each of their threads. */
static struct leat_net_config config_of(const struct net_job *job)
{
    struct leat_net_config net = job->design->plan.net;
    net.ranks = job->ranks;
    net.parts = leat_net_parts_worth(&job->built->topology, job->threads);
    if (job->ranks) net.parts = job->ranks->count * job->threads;
    return net;
}

static uint32_t own_parts(const struct net_job *job, const struct leat_net_config *net)
{
    const uint32_t parts = leat_net_parts(&job->built->topology, net);
    const uint32_t rank = leat_sim_ranks_own(job->ranks);
    return leat_net_parts_first(net, parts, rank + 1) - leat_net_parts_first(net, parts, rank);
}

bool net_set_up(struct net_simulation *s, const struct net_job *job)
{
    const struct leat_fabric_built *built = job->built;
    const struct leat_net_config net = config_of(job);
    const uint32_t parts = own_parts(job, &net);
    const struct leat_net_load_config config = {
        .traffic = job->traffic,
        .parts = parts,
        .ranks = job->ranks,
        .warmup = job->warmup,
        .precision_ppm = job->precision_ppm,
        .clock = job->design->plan.clock,
        .faults = net_job_faults(job),
        .topology = &built->topology,
    };
    struct leat_net_host host = { .context = s, .next = next, .arrive = arrive };
    *s = (struct net_simulation){ .job = job };
    s->load_memory = sim_memory(leat_net_load_footprint(&config));
    const size_t net_len = leat_net_footprint(&built->topology, &net);
    s->net_memory = sim_memory_often(net_len, job->device.where == DEVICE_CPU ? net_len : 0);
    if (job->links) s->out_flits = sim_memory(built->topology.outs * sizeof *s->out_flits);
    if (!s->load_memory || !s->net_memory || (job->links && !s->out_flits)) return false;
    leat_net_load_init(&s->load, &config, s->load_memory);
    leat_net_load_host(&s->load, &s->host);
    if (!job->ends) host = s->host;
    leat_net_init(&s->net, &built->topology, built->routing, &net, &host, s->net_memory);
    leat_net_load_attach(&s->load, &s->net);
    s->crew = threads_start(parts);
    leat_net_lend(&s->net, leat_crew_lend(s->crew));
    return true;
}

void net_free(struct net_simulation *s)
{
    leat_crew_end(s->crew);
    free(s->net_memory);
    free(s->load_memory);
    free(s->out_flits);
}

/* A rank without memory ends all. */
static bool set_up_all(struct net_simulation *s, const struct net_job *job)
{
    const bool good = net_set_up(s, job);
    struct leat_sim_ranks *ranks = job->ranks;
    return ranks ? ranks->least(ranks, good) == 1 : good;
}

static uint64_t agree(void *context, uint64_t until)
{
    struct leat_sim_ranks *ranks = ((struct net_simulation *)context)->job->ranks;
    return ranks->least(ranks, until);
}

/* Ranks that wait for each other most of the time are slower than one process: tells so, once this
 * many seconds have passed. */
static void assess_ranks(struct net_simulation *s, double after)
{
    const struct sim_exchanges e = sim_ranks_exchanges();
    const double passed = seconds_now() - s->begun, share = e.seconds / passed;
    if (!s->job->ranks || s->is_assessed || passed < after) return;
    s->is_assessed = true;
    const double speed = s->job->ranks->count * (1 - share);
    if (speed < 1)
        caution("%u ranks spend %.0f %% of the time meeting, every %.1f cycles: this is about %.1f "
                "times the speed of one process (larger networks, longer wires and fewer ranks "
                "gain more)",
                s->job->ranks->count, 100 * share, (double)s->net.now / (double)e.count, speed);
}

static bool run_to(void *context, uint64_t until)
{
    struct net_simulation *s = context;
    s->dead = !leat_net_load_run(&s->load, until);
    assess_ranks(s, ASSESS_SECONDS);
    return !s->dead && !s->done && !s->load.verdict;
}

/* Intervals need a second batch of packets; and a job measured as a whole is not a sample. */
static bool has_intervals(const struct net_simulation *s,
                          const struct leat_net_steady_result *result)
{
    const struct leat_net_steady *steady = &leat_net_load_tally(&s->load, 0)->steady;
    uint32_t batches = 0;
    for (uint32_t i = 0; i < steady->count; i++)
        if (steady->begin + i * steady->batch_cycles >= result->warmup)
            batches += steady->batch[i].packets > 0;
    return result->has_intervals && batches >= 2 && !s->done;
}

/* Each rank knows those of its own wires. */
static void count_links(struct net_simulation *s)
{
    const uint32_t outs = s->net.topology->outs;
    for (uint32_t out = 0; out < outs; out++)
        s->out_flits[out] = leat_net_out_flits(&s->net, out);
    leat_sim_ranks_add(s->job->ranks, s->out_flits, outs);
}

void net_take_result(struct net_simulation *s, struct net_result *out)
{
    struct leat_sim_ranks *ranks = s->job->ranks;
    out->ranks = leat_sim_ranks_count(ranks);
    out->threads = leat_sim_crew_members(leat_crew_lend(s->crew));
    out->dead = s->dead;
    out->done = s->done;
    out->verdict = s->load.verdict;
    leat_net_load_result(&s->load, &out->load);
    out->intervals = has_intervals(s, &out->load.steady);
    out->counts = s->net.counts;
    leat_sim_ranks_add(ranks, (uint64_t *)&out->counts, sizeof out->counts / sizeof(uint64_t));
    out->out_flits = s->out_flits;
    if (s->job->links) count_links(s);
    out->deadlock_len = leat_net_stuck(&s->net, out->deadlock, NET_DEADLOCK_MAX);
}

/* ---- --view ---------------------------------------------------------------------------------- */

static void take_view(void *context, struct watch_sample *sample)
{
    const struct net_simulation *s = context;
    const struct leat_net_counts *counts = &s->net.counts;
    uint64_t latency = 0, measured = 0, ended = 0;
    for (uint32_t t = 0; t < s->load.tallies; t++) {
        const struct leat_net_steady *steady = &leat_net_load_tally(&s->load, t)->steady;
        for (uint32_t i = 0; i < steady->count; i++) {
            latency += steady->batch[i].latency;
            measured += steady->batch[i].packets;
        }
    }
    for (uint32_t fate = 0; fate < LEAT_NET_FATES; fate++)
        ended += counts->packets_ended[fate];
    sample->column[SIM_VIEW_ACCEPTED] = (double)counts->flits_delivered;
    sample->column[SIM_VIEW_LATENCY_SUM] = (double)latency;
    sample->column[SIM_VIEW_LATENCY_COUNT] = (double)measured;
    sample->column[SIM_VIEW_IN_FLIGHT] = (double)counts->packets_begun - (double)ended;
    watch_fact(sample, "packets delivered", (double)counts->packets_ended[LEAT_NET_DELIVERED]);
    watch_fact(sample, "packets lost", (double)(ended - counts->packets_ended[LEAT_NET_DELIVERED]));
}

static void show_view(struct net_simulation *s)
{
    sim_view(&(struct sim_view){ 1.0 / s->job->traffic.terminals, "share of a terminal's line",
                                 "packets" },
             take_view, s);
}

static bool simulate(struct net_simulation *s, const struct net_job *job, struct net_result *out)
{
    struct leat_sim_ranks *ranks = job->ranks;
    if (!set_up_all(s, job) || (job->record && !net_record_open(job, &s->net))) return false;
    s->begun = seconds_now();
    show_view(s);
    pieces_run_alike(job->cycles, run_to, ranks ? agree : NULL, s, &out->wall_seconds);
    assess_ranks(s, ASSESS_SECONDS / 50);
    net_take_result(s, out);
    return net_record_close(s->net.now, true);
}

static int judge(const struct net_job *job, const struct net_result *result)
{
    if (result->dead)
        complain("%s: deadlock: nothing moves any more", job->design->name);
    else if (result->deadlock_len)
        complain("%s: deadlock: %u buffers wait for each other, while others go on",
                 job->design->name, result->deadlock_len);
    else if (net_is_abandoned(job, result))
        complain("%s: the collective waits for a packet that was lost", job->design->name);
    else
        return DONE;
    return FAILED;
}

/* What cannot be divided over ranks. */
static bool check_ranks(const struct net_job *job)
{
    if (!job->ranks) return true;
    const struct leat_net_config net = config_of(job);
    const uint32_t count = job->ranks->count;
    const uint32_t parts = leat_net_parts(&job->built->topology, &net);
    if (leat_net_pattern_list(job->traffic.pattern)->is_closed || job->ends)
        return misused(job->verb,
                       "%u ranks with %s traffic, expected one process (and --threads): "
                       "what a terminal sends depends on all others",
                       count, leat_net_pattern_list(job->traffic.pattern)->name);
    if (job->design->plan.net.architecture != LEAT_NET_SWITCH_VC)
        return misused(job->verb,
                       "%u ranks with %s switches, expected one process: only networks of "
                       "vc switches are divided",
                       count, leat_net_switch_name(job->design->plan.net.architecture));
    if (parts < count || parts != net.parts)
        return misused(job->verb,
                       "%u ranks of %u threads with %u routers, expected at most %u parts", count,
                       job->threads, job->built->topology.routers, parts);
    return true;
}

static int report(const struct net_job *job, const struct net_result *result)
{
    (job->json ? net_put_json : net_put_text)(job, result);
    const int code = finish(DONE);
    return code == DONE ? judge(job, result) : code;
}

static int run_job(struct net_simulation *s, const struct net_job *job)
{
    static struct net_result result;
    const int code = simulate(s, job, &result) ? report(job, &result) : FAILED;
    net_free(s);
    return code;
}

/* ---- on a device ----------------------------------------------------------------------------- */

/* The only job, until it is taken, and the exit code of its report. */
struct single {
    const struct net_job *job;
    int code;
    bool is_left; /* to the processor */
};

static bool take_job(void *context, struct net_job *job, uint32_t *number)
{
    struct single *single = context;
    if (!single->job) return false;
    *job = *single->job;
    *number = 0;
    single->job = NULL;
    return true;
}

static bool report_job(void *context, uint32_t number, const struct net_job *job,
                       const struct net_result *result)
{
    struct single *single = context;
    (void)number;
    single->code = report(job, result);
    return single->code == DONE;
}

static void leave_job(void *context, uint32_t number)
{
    struct single *single = context;
    (void)number;
    single->is_left = true;
}

/* One network is no work for a GPU: with auto, the processor is faster. */
static int run_on_device(struct net_simulation *s, const struct net_job *job)
{
    struct single single = { .job = job, .code = DONE };
    const struct net_device_work work = {
        .context = &single,
        .count = 1,
        .partly = true,
        .next = take_job,
        .done = report_job,
        .leave = leave_job,
    };
    if (job->device.where == DEVICE_AUTO) {
        caution("--device auto: one network runs faster on the processor");
        return run_job(s, job);
    }
    const int code = net_device_run(job, &work);
    if (code == DONE && single.is_left) {
        caution(
            "nothing moves any more: the processor runs it again, to tell who waits since when");
        return run_job(s, job);
    }
    return code == DONE ? single.code : code;
}

int sim_flits(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct net_job job;
    static struct net_simulation s;
    static struct leat_sim_ranks ranks;
    int code = WRONG;
    const bool many = sim_is_under_mpi() && !args->only_check;
    if (many && !sim_ranks_open(&ranks)) return FAILED;
    if (net_read_job(args, fabric, many ? &ranks : NULL, &job) && check_ranks(&job)) {
        threads_tell(fabric, job.threads);
        code = args->only_check                 ? net_device_check(&job)
               : job.device.where == DEVICE_CPU ? run_job(&s, &job)
                                                : run_on_device(&s, &job);
    }
    if (many) ranks.close(&ranks);
    free(job.trace);
    return code;
}
