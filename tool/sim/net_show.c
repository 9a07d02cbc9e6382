/* leat sim of networks: what came of a run, as a table for people or one object for programs. */
#include "net_sim.h"
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

static void put_title(const struct net_job *job, const struct net_result *r)
{
    const struct leat_sim_clock *clock = &job->design->plan.clock;
    printf("%s, %s, traffic %s", job->design->name, job->fabric->kind->what, pattern_name(job));
    if (is_open(job)) printf(" at load %g", load_of(job));
    printf(", packets of %u flits, seed %llu\n", job->traffic.flits,
           (unsigned long long)job->traffic.seed);
    printf("%llu cycles (%.6g us of network time)%s\n", (unsigned long long)r->load.cycles,
           (double)r->load.cycles * (double)clock->num / (double)clock->den / 1e6,
           r->circle_len || r->dead       ? ", deadlock"
           : r->done                      ? ", then all was done"
           : r->load.cycles < job->cycles ? ", interrupted"
                                          : "");
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
    printf("; half within %llu, 99 %% within %llu, all within %llu\n",
           (unsigned long long)s->latency_p50, (unsigned long long)s->latency_p99,
           (unsigned long long)s->latency_max);
    printf("  %-40s %14.3f  routers\n", "way", s->hops_mean);
    if (s->saturated) printf("  saturated: %s\n", s->reason);
}

static void put_fates(const struct net_result *r)
{
    put_some("packets lost: no room", r->load.packets_ended[LEAT_NET_NO_ROOM]);
    put_some("packets lost: no way", r->load.packets_ended[LEAT_NET_NO_WAY]);
    put_some("packets lost: on a wire that broke", r->load.packets_ended[LEAT_NET_CUT]);
    put_some("packets lost: bit errors", r->load.packets_ended[LEAT_NET_CORRUPTED]);
    put_some("packets rerouted", r->load.packets_rerouted);
}

static void put_rounds(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_rounds *rounds = &r->load.rounds;
    const uint64_t asked = job->traffic.rounds;
    printf("  %-40s %14llu", "rounds", (unsigned long long)rounds->count);
    if (asked) printf("  of %llu", (unsigned long long)asked);
    puts(net_is_abandoned(job, r) ? ": the next waits for a packet that was lost"
         : rounds->count < asked  ? ": the others did not fit into the cycles"
                                  : "");
    if (!rounds->count) return;
    printf("  %-40s %14.1f  cycles; %llu to %llu\n", "a round",
           (double)rounds->cycles / (double)rounds->count, (unsigned long long)rounds->cycles_min,
           (unsigned long long)rounds->cycles_max);
}

/* Packets of a trace that the run did not come to. */
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

static void put_circle(const struct net_result *r)
{
    const uint32_t shown = r->circle_len < NET_CIRCLE_MAX ? r->circle_len : NET_CIRCLE_MAX;
    if (!r->circle_len) return;
    printf("  deadlock: %u buffers wait for each other\n", r->circle_len);
    for (uint32_t i = 0; i < shown; i++) {
        const struct leat_net_waiting *w = &r->circle[i];
        printf("    router %u, input %u, channel %u: a packet from %u to %u\n", w->router, w->in,
               w->channel, w->source, w->destination);
    }
}

void net_put_text(const struct net_job *job, const struct net_result *r)
{
    put_title(job, r);
    put("packets offered", r->load.packets_offered);
    put("packets delivered", r->load.packets_ended[LEAT_NET_DELIVERED]);
    put("packets under way or waiting", r->load.packets_waiting);
    put_beyond(job, r);
    put_fates(r);
    put_steady(job, r);
    if (leat_net_pattern_list(job->traffic.pattern)->is_closed) put_rounds(job, r);
    put("waits for room ahead", r->counts.waits);
    put_circle(r);
    printf("  %-40s %016llx\n", "certificate", (unsigned long long)r->load.certificate);
    printf("  %-40s %14.3f  seconds, %.4g cycles and %.4g flit-hops per second\n", "run",
           r->wall_seconds, per_second((double)r->load.cycles, r),
           per_second((double)r->counts.flit_hops, r));
}

/* ---- programs ------------------------------------------------------------------------------- */

static void put_key(const char *key, uint64_t value)
{
    printf("\"%s\":%llu,", key, (unsigned long long)value);
}

/* A figure, or null where there is none. */
static void put_figure(const char *key, bool known, double value, int decimals, const char *after)
{
    if (known)
        printf("\"%s\":%.*f%s", key, decimals, value, after);
    else
        printf("\"%s\":null%s", key, after);
}

static void put_latency(const struct net_result *r)
{
    const struct leat_net_steady_result *s = &r->load.steady;
    const bool known = s->packets;
    fputs("\"latency_cycles\":{", stdout);
    put_figure("mean", known, s->latency_mean, 4, ",");
    put_figure("p50", known, (double)s->latency_p50, 0, ",");
    put_figure("p99", known, (double)s->latency_p99, 0, ",");
    put_figure("max", known, (double)s->latency_max, 0, ",");
    put_figure("ci95", known && r->intervals, s->latency_half, 4, "},");
    put_figure("hops_mean", known, s->hops_mean, 5, ",");
}

static void put_saturation(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_steady_result *s = &r->load.steady;
    printf("\"warmup_cycles\":%llu,", (unsigned long long)s->warmup);
    printf("\"settled\":%s,", job->ends ? "null" : s->settled ? "true" : "false");
    if (job->ends) printf("\"done\":%s,", r->done ? "true" : "false");
    printf("\"saturated\":%s,", s->saturated ? "true" : "false");
    if (s->saturated) printf("\"saturation\":\"%s\",", s->reason);
}

static void put_lost(const struct net_result *r)
{
    const uint64_t *ended = r->load.packets_ended;
    printf("\"lost\":{\"no_room\":%llu,\"no_way\":%llu,\"cut\":%llu,\"corrupted\":%llu},",
           (unsigned long long)ended[LEAT_NET_NO_ROOM], (unsigned long long)ended[LEAT_NET_NO_WAY],
           (unsigned long long)ended[LEAT_NET_CUT], (unsigned long long)ended[LEAT_NET_CORRUPTED]);
    put_key("rerouted", r->load.packets_rerouted);
}

static void put_deadlock(const struct net_result *r)
{
    const uint32_t shown = r->circle_len < NET_CIRCLE_MAX ? r->circle_len : NET_CIRCLE_MAX;
    if (!r->circle_len) {
        fputs("\"deadlock\":null,", stdout);
        return;
    }
    fputs("\"deadlock\":[", stdout);
    for (uint32_t i = 0; i < shown; i++) {
        const struct leat_net_waiting *w = &r->circle[i];
        printf("%s{\"router\":%u,\"in\":%u,\"channel\":%u,\"source\":%u,\"destination\":%u}",
               i ? "," : "", w->router, w->in, w->channel, w->source, w->destination);
    }
    fputs("],", stdout);
}

static void put_collective(const struct net_job *job, const struct leat_net_rounds *rounds)
{
    if (!leat_net_pattern_list(job->traffic.pattern)->is_closed) return;
    printf("\"rounds\":{\"count\":%llu,", (unsigned long long)rounds->count);
    put_figure("asked", job->traffic.rounds, (double)job->traffic.rounds, 0, ",");
    printf("\"mean\":%.3f,\"min\":%llu,\"max\":%llu},",
           rounds->count ? (double)rounds->cycles / (double)rounds->count : 0,
           (unsigned long long)rounds->cycles_min, (unsigned long long)rounds->cycles_max);
}

static void put_trace(const struct net_job *job, const struct net_result *r)
{
    if (job->traffic.pattern != LEAT_NET_TRACE) return;
    printf("\"trace\":{\"packets\":%u,\"not_begun\":%llu},", job->traffic.trace_count,
           (unsigned long long)beyond(job, r));
}

/* Flits over each wire between routers, by output port. */
static void put_links(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_topology *t = &job->built->topology;
    const char *between = "";
    if (!job->links) return;
    fputs("\"links\":[", stdout);
    for (uint32_t out = 0; out < t->outs; out++) {
        if (leat_net_behind(t, out) == LEAT_NET_NONE) continue;
        printf("%s%llu", between, (unsigned long long)r->out_flits[out]);
        between = ",";
    }
    fputs("],", stdout);
}

void net_put_json(const struct net_job *job, const struct net_result *r)
{
    const struct leat_net_load_result *l = &r->load;
    const bool vc = job->design->plan.net.architecture == LEAT_NET_SWITCH_VC;
    fputs("{\"fabric\":", stdout);
    print_quoted(job->design->name);
    printf(",\"model\":\"%s\",\"traffic\":\"%s\",", vc ? "flit" : "queue", pattern_name(job));
    if (is_open(job)) printf("\"load\":%g,", load_of(job));
    put_key("flits", job->traffic.flits);
    put_key("seed", job->traffic.seed);
    put_key("cycles", l->cycles);
    printf("\"cycle_ns\":%.12g,", leat_fabric_ns(&job->design->plan.clock, 1));
    put_key("cells_offered", l->flits_offered);
    put_key("cells_delivered", l->flits_ended[LEAT_NET_DELIVERED]);
    put_key("messages_offered", l->packets_offered);
    put_key("messages_delivered", l->packets_ended[LEAT_NET_DELIVERED]);
    put_key("messages_waiting", l->packets_waiting);
    printf("\"throughput\":%.6f,", l->steady.accepted);
    put_figure("throughput_ci95", r->intervals, l->steady.accepted_half, 6, ",");
    put_latency(r);
    put_saturation(job, r);
    put_key("suspensions", r->counts.waits);
    put_key("retransmissions", 0);
    put_lost(r);
    put_deadlock(r);
    put_collective(job, &l->rounds);
    put_trace(job, r);
    printf("\"fairness\":{\"min\":%llu,\"max\":%llu},", (unsigned long long)l->delivered_min,
           (unsigned long long)l->delivered_max);
    put_links(job, r);
    put_key("flit_hops", r->counts.flit_hops);
    printf("\"certificate\":\"%016llx\",", (unsigned long long)l->certificate);
    printf("\"wall_seconds\":%.6f,\"cycles_per_second\":%.0f,\"flit_hops_per_second\":%.0f}\n",
           r->wall_seconds, per_second((double)l->cycles, r),
           per_second((double)r->counts.flit_hops, r));
}
