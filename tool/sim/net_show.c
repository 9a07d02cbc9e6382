/* leat sim of networks: the result of a run, as a table or as one JSON object. */
#include "json_out.h"
#include "net_sim.h"
#include "style.h"
#include "threads.h"
#include <math.h>
#include <stdio.h>

static double per_second(double count, const struct net_result *r)
{
    return r->wall_seconds > 0 ? count / r->wall_seconds : 0;
}

static const char *pattern_name(const struct net_job *job)
{
    return leat_net_pattern_list(job->traffic.pattern)->name;
}

static bool is_open(const struct net_job *job)
{
    return job->traffic.pattern != LEAT_NET_TRACE &&
           !leat_net_pattern_list(job->traffic.pattern)->is_closed;
}

static double load_of(const struct net_job *job)
{
    return (double)job->traffic.load_ppm / LEAT_NET_LOAD_PPM_MAX;
}

/* ---- people --------------------------------------------------------------------------------- */

static void put(const char *text, uint64_t value)
{
    printf("  %-40s %14llu\n", text, (unsigned long long)value);
}

static void put_some(const char *text, uint64_t value)
{
    if (value) put(text, value);
}

/* Why it ended when it did. */
static const char *end_of(const struct net_job *job, const struct net_result *r)
{
    if (r->deadlock_len || r->dead) return ", deadlock";
    if (r->done) return ", then all was done";
    if (r->verdict == LEAT_NET_STEADY_PRECISE) return ", then precise enough";
    if (r->verdict == LEAT_NET_STEADY_SATURATED) return ", then surely saturated";
    if (r->load.cycles < job->cycles) return ", interrupted";
    return job->precision_ppm ? ", not yet precise enough" : "";
}

static void put_title(const struct net_job *job, const struct net_result *r)
{
    const struct leat_sim_clock *clock = &job->design->plan.clock;
    printf("%s, %s, traffic %s", job->design->name, job->fabric->kind->what, pattern_name(job));
    if (is_open(job)) printf(" at load %g", load_of(job));
    printf(", packets of %u flits, seed %llu\n", job->traffic.flits,
           (unsigned long long)job->traffic.seed);
    printf("%llu cycles (%.6g us of network time)%s\n", (unsigned long long)r->load.cycles,
           (double)r->load.cycles * (double)clock->num / (double)clock->den / 1e6, end_of(job, r));
}

static void put_steady(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_steady_result *s = &r->load.steady;
    printf("  %-40s %14llu  cycles%s\n", "warm-up", (unsigned long long)s->warmup,
           job->ends    ? "; what comes to an end needs none"
           : s->settled ? ""
                        : "; it did not settle: run longer");
    printf("  %-40s %14.4f  flits per terminal and cycle", "throughput", s->accepted);
    if (r->intervals) printf(", +- %.4f", s->accepted_half);
    if (!s->packets) {
        printf("\n  %-40s %14s  nothing came in that counts\n", "latency", "-");
        return;
    }
    printf("\n  %-40s %14.2f  cycles", "latency", s->latency_mean);
    if (r->intervals) printf(", +- %.2f", s->latency_half);
    printf("; median %llu, p99 %llu, max %llu\n", (unsigned long long)s->latency_p50,
           (unsigned long long)s->latency_p99, (unsigned long long)s->latency_max);
    printf("  %-40s %14.3f  routers\n", "hops", s->hops_mean);
    if (s->saturated)
        printf("  %ssaturated%s: %s\n", style(stdout, STYLE_DOUBTFUL), style_end(stdout),
               s->reason);
}

static void put_fates(const struct net_result *r)
{
    put_some("packets lost: no room", r->load.packets_ended[LEAT_NET_NO_ROOM]);
    put_some("packets lost: no route", r->load.packets_ended[LEAT_NET_NO_WAY]);
    put_some("packets lost: on a wire that broke", r->load.packets_ended[LEAT_NET_CUT]);
    put_some("packets lost: bit errors", r->load.packets_ended[LEAT_NET_CORRUPTED]);
    put_some("packets rerouted", r->load.packets_rerouted);
}

static void put_rounds(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_rounds *rounds = &r->load.rounds;
    const uint64_t requested = job->traffic.rounds;
    printf("  %-40s %14llu", "rounds", (unsigned long long)rounds->count);
    if (requested) printf("  of %llu", (unsigned long long)requested);
    puts(net_is_abandoned(job, r)    ? ": the next waits for a packet that was lost"
         : rounds->count < requested ? ": the others did not fit into the cycles"
                                     : "");
    if (!rounds->count) return;
    printf("  %-40s %14.1f  cycles; %llu to %llu\n", "a round",
           (double)rounds->cycles / (double)rounds->count, (unsigned long long)rounds->cycles_min,
           (unsigned long long)rounds->cycles_max);
}

/* Packets of a trace that the run did not reach. */
static uint64_t beyond(const struct net_job *job, const struct net_result *r)
{
    uint64_t count = 0;
    for (uint32_t i = job->traffic.trace_count; i-- > 0 && job->trace[i].cycle >= r->load.cycles;)
        count++;
    return count;
}

static void put_beyond(const struct net_job *job, const struct net_result *r)
{
    const uint64_t count = beyond(job, r);
    if (count)
        printf("  %-40s %14llu  of %u: their cycles come later\n", "packets of the trace not begun",
               (unsigned long long)count, job->traffic.trace_count);
}

static void put_deadlock_text(const struct net_result *r)
{
    const uint32_t shown = r->deadlock_len < NET_DEADLOCK_MAX ? r->deadlock_len : NET_DEADLOCK_MAX;
    if (!r->deadlock_len) return;
    printf("  %sdeadlock%s: %u buffers wait for each other\n", style(stdout, STYLE_BAD),
           style_end(stdout), r->deadlock_len);
    for (uint32_t i = 0; i < shown; i++) {
        const struct leat_net_waiting *w = &r->deadlock[i];
        printf("    router %u, input %u, channel %u: a packet from %u to %u\n", w->router, w->in,
               w->channel, w->source, w->destination);
    }
}

void net_put_text(const struct net_job *job, const struct net_result *r)
{
    put_title(job, r);
    put("packets offered", r->load.packets_offered);
    put("packets delivered", r->load.packets_ended[LEAT_NET_DELIVERED]);
    put("packets in flight or waiting", r->load.packets_waiting);
    put_beyond(job, r);
    put_fates(r);
    put_steady(job, r);
    if (leat_net_pattern_list(job->traffic.pattern)->is_closed) put_rounds(job, r);
    put("waits for room ahead", r->counts.waits);
    put_deadlock_text(r);
    printf("  %-40s %016llx\n", "certificate", (unsigned long long)r->load.certificate);
    printf("  %-40s %14.3f  seconds%s, %.4g cycles and %.4g flit-hops per second\n", "run",
           r->wall_seconds, threads_text(r->threads, r->ranks),
           per_second((double)r->load.cycles, r), per_second((double)r->counts.flit_hops, r));
}

/* ---- programs ------------------------------------------------------------------------------- */

/* A figure, or null where there is none. */
static void put_figure(struct leat_json *j, const char *key, bool known, double value, int decimals)
{
    json_fixed(j, key, known ? value : NAN, decimals);
}

static void put_latency(struct leat_json *j, const struct net_result *r)
{
    const struct leat_net_steady_result *s = &r->load.steady;
    const bool known = s->packets;
    leat_json_object(j, "latency_cycles");
    put_figure(j, "mean", known, s->latency_mean, 4);
    put_figure(j, "p50", known, (double)s->latency_p50, 0);
    put_figure(j, "p99", known, (double)s->latency_p99, 0);
    put_figure(j, "max", known, (double)s->latency_max, 0);
    put_figure(j, "ci95", known && r->intervals, s->latency_half, 4);
    leat_json_end(j);
    put_figure(j, "hops_mean", known, s->hops_mean, 5);
}

static void put_saturation(struct leat_json *j, const struct net_job *job,
                           const struct net_result *r)
{
    const struct leat_net_steady_result *s = &r->load.steady;
    leat_json_uint(j, "warmup_cycles", s->warmup);
    if (job->ends) {
        leat_json_null(j, "settled");
        leat_json_bool(j, "done", r->done);
    } else {
        leat_json_bool(j, "settled", s->settled);
    }
    leat_json_bool(j, "saturated", s->saturated);
    if (s->saturated) leat_json_string(j, "saturation", s->reason);
}

static void put_precision(struct leat_json *j, const struct net_job *job,
                          const struct net_result *r)
{
    static const char *const stops[] = { [LEAT_NET_STEADY_GOES_ON] = "cycles",
                                         [LEAT_NET_STEADY_PRECISE] = "precision",
                                         [LEAT_NET_STEADY_SATURATED] = "saturation" };
    if (!job->precision_ppm) return;
    json_general(j, "precision", job->precision_ppm / 1e6, 6);
    leat_json_string(j, "stopped_by", stops[r->verdict]);
}

static void put_lost(struct leat_json *j, const struct net_result *r)
{
    const uint64_t *ended = r->load.packets_ended;
    leat_json_object(j, "losses");
    LEAT_JSON_UINTS(j, { "no_room", ended[LEAT_NET_NO_ROOM] }, { "no_way", ended[LEAT_NET_NO_WAY] },
                    { "cut", ended[LEAT_NET_CUT] }, { "corrupted", ended[LEAT_NET_CORRUPTED] });
    leat_json_end(j);
    leat_json_uint(j, "packets_rerouted", r->load.packets_rerouted);
}

static void put_deadlock(struct leat_json *j, const struct net_result *r)
{
    const uint32_t shown = r->deadlock_len < NET_DEADLOCK_MAX ? r->deadlock_len : NET_DEADLOCK_MAX;
    if (!r->deadlock_len) {
        leat_json_null(j, "deadlock");
        return;
    }
    leat_json_array(j, "deadlock");
    for (uint32_t i = 0; i < shown; i++) {
        const struct leat_net_waiting *w = &r->deadlock[i];
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "router", w->router }, { "in", w->in }, { "channel", w->channel },
                        { "source", w->source }, { "destination", w->destination });
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_collective(struct leat_json *j, const struct net_job *job,
                           const struct leat_net_rounds *rounds)
{
    if (!leat_net_pattern_list(job->traffic.pattern)->is_closed) return;
    leat_json_object(j, "round_cycles");
    leat_json_uint(j, "count", rounds->count);
    put_figure(j, "asked", job->traffic.rounds, (double)job->traffic.rounds, 0);
    json_fixed(j, "mean", rounds->count ? (double)rounds->cycles / (double)rounds->count : 0, 3);
    leat_json_uint(j, "min", rounds->cycles_min);
    leat_json_uint(j, "max", rounds->cycles_max);
    leat_json_end(j);
}

static void put_trace(struct leat_json *j, const struct net_job *job, const struct net_result *r)
{
    if (job->traffic.pattern != LEAT_NET_TRACE) return;
    leat_json_object(j, "trace");
    leat_json_uint(j, "packets", job->traffic.trace_count);
    leat_json_uint(j, "not_begun", beyond(job, r));
    leat_json_end(j);
}

/* Flits over each wire between routers, by output port. */
static void put_links(struct leat_json *j, const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_topology *t = &job->built->topology;
    if (!job->links) return;
    leat_json_array(j, "links");
    for (uint32_t out = 0; out < t->outs; out++)
        if (leat_net_behind(t, out) != LEAT_NET_NONE) leat_json_uint(j, NULL, r->out_flits[out]);
    leat_json_end(j);
}

void net_put_json(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_load_result *l = &r->load;
    const bool vc = job->design->plan.net.architecture == LEAT_NET_SWITCH_VC;
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", job->design->name);
    leat_json_string(j, "model", vc ? "flit" : "queue");
    leat_json_string(j, "traffic", pattern_name(job));
    if (is_open(job)) json_general(j, "load", load_of(job), 6);
    LEAT_JSON_UINTS(j, { "packet_flits", job->traffic.flits }, { "seed", job->traffic.seed },
                    { "cycles", l->cycles });
    json_general(j, "cycle_ns", leat_fabric_ns(&job->design->plan.clock, 1), 12);
    LEAT_JSON_UINTS(j, { "flits_offered", l->flits_offered },
                    { "flits_delivered", l->flits_ended[LEAT_NET_DELIVERED] },
                    { "packets_offered", l->packets_offered },
                    { "packets_delivered", l->packets_ended[LEAT_NET_DELIVERED] },
                    { "packets_waiting", l->packets_waiting });
    json_fixed(j, "throughput", l->steady.accepted, 6);
    put_figure(j, "throughput_ci95", r->intervals, l->steady.accepted_half, 6);
    put_latency(j, r);
    put_saturation(j, job, r);
    put_precision(j, job, r);
    leat_json_uint(j, "suspensions", r->counts.waits);
    put_lost(j, r);
    put_deadlock(j, r);
    put_collective(j, job, &l->rounds);
    put_trace(j, job, r);
    leat_json_object(j, "fairness");
    leat_json_uint(j, "min", l->delivered_min);
    leat_json_uint(j, "max", l->delivered_max);
    leat_json_end(j);
    put_links(j, job, r);
    leat_json_uint(j, "flit_hops", r->counts.flit_hops);
    json_certificate(j, "certificate", l->certificate);
    leat_json_uint(j, "threads", r->threads);
    leat_json_uint(j, "ranks", r->ranks);
    json_fixed(j, "wall_seconds", r->wall_seconds, 6);
    json_fixed(j, "cycles_per_second", per_second((double)l->cycles, r), 0);
    json_fixed(j, "flit_hops_per_second", per_second((double)r->counts.flit_hops, r), 0);
    json_close(&out, r->deadlock_len ? "deadlock" : json_status());
}
