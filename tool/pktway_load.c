/*
 * leat sim of a PacketWay network: messages by a pattern over all hosts. A cycle is a nanosecond
 * here, since SANs have clocks of their own, and a load of 1 is 10 Mbit/s from every host.
 */
#include "pieces.h"
#include "pktway_design.h"
#include "sim.h"
#include "sim_histogram.h"
#include "sim_traffic.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOAD_DEFAULT = SIM_LOAD_ONE / 20,
    BYTES_DEFAULT = 64,
    BYTES_MAX = 1 << 20,
    CYCLES_DEFAULT = 10000000,
    NS_PER_OCTET = 800, /* at 10 Mbit/s */
    SLICE = 10000,
    PS_PER_CYCLE = 1000,
};

struct source {
    struct leat_sim_traffic_source source;
    uint64_t at; /* of its next message */
    uint32_t to;
    bool is_done;
};

struct pktway_load {
    const struct arguments *args;
    enum leat_sim_traffic_pattern pattern;
    uint32_t load;
    uint64_t bytes, cycles, seed;
    struct pktway_design design;
    struct pktway_built built;
    struct leat_sim_traffic traffic;
    struct source *source;
    uint32_t *partner;
    uint8_t *octets; /* of every message */
    struct leat_sim_histogram latency, within, across;
    uint64_t offered, delivered, lost;
    const char *why; /* of the last one lost */
    double wall_seconds;
};

/* ---- the command line ------------------------------------------------------------------------
 */

static bool read_load(struct pktway_load *l)
{
    static const char *const known[] = { "--traffic", "--load",  "--cycles",     "--seed", "--json",
                                         "--bytes",   "--fault", "--forwarding", NULL };
    const char *word = l->args->operand[0], *name = argument(l->args, "--traffic");
    if (!pktway_refuse_foreign(l->args, word, known)) return false;
    if (name && !leat_sim_traffic_find(name, &l->pattern)) {
        misuse(l->args->verb,
               "--traffic '%s', expected uniform, permutation, hotspot, broadcast or bursty", name);
        return false;
    }
    return sim_take_load(l->args, &l->load) &&
           sim_read_number(l->args, "--cycles", 1, SIM_CYCLES_MAX, &l->cycles) &&
           sim_read_number(l->args, "--seed", 0, UINT64_MAX, &l->seed) &&
           sim_read_number(l->args, "--bytes", 0, BYTES_MAX, &l->bytes) &&
           pktway_read(l->args->verb, word, &l->design) && pktway_read_options(l->args, &l->design);
}

/* ---- running ---------------------------------------------------------------------------------
 */

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

/* The id of a message is the cycle in which it arose. */
static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct pktway_load *l = context;
    const struct leat_sim_pktway *net = &l->built.net;
    const bool near = leat_sim_pktway_san_of(net, m->from) == leat_sim_pktway_san_of(net, m->to);
    const uint64_t cycles = at / PS_PER_CYCLE - m->id;
    l->delivered++;
    leat_sim_histogram_add(&l->latency, cycles);
    leat_sim_histogram_add(near ? &l->within : &l->across, cycles);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct pktway_load *l = context;
    (void)message, (void)at;
    l->lost++;
    l->why = why;
}

static void draw(struct pktway_load *l, uint32_t port)
{
    struct source *s = &l->source[port];
    s->is_done = !leat_sim_traffic_next(&l->traffic, &s->source, port, &s->at, &s->to);
}

static void hand_over(struct pktway_load *l, uint32_t from, uint32_t to, uint64_t at)
{
    struct leat_port_net *net = &l->built.net.base;
    const struct leat_port_message message = { from, to, at, l->octets, l->bytes };
    const leat_time then = at * PS_PER_CYCLE;
    l->offered++;
    leat_port_send(net, &message, then > net->now ? then : net->now);
}

/* All messages that arise before `until`; where too many are under way, the rest waits with its
 * source. */
static void hand_over_until(struct pktway_load *l, uint64_t until)
{
    const uint32_t ports = l->built.net.base.ports;
    for (uint32_t i = 0; i < ports; i++)
        for (struct source *s = &l->source[i]; !s->is_done && s->at < until; draw(l, i)) {
            if (l->built.net.base.under_way + ports > RUN_MESSAGES_MAX) return;
            if (s->to != LEAT_SIM_TRAFFIC_ALL) hand_over(l, i, s->to, s->at);
            for (uint32_t to = 0; s->to == LEAT_SIM_TRAFFIC_ALL && to < ports; to++)
                if (to != i) hand_over(l, i, to, s->at);
        }
}

static bool run_piece(void *context, uint64_t until)
{
    struct pktway_load *l = context;
    struct leat_port_net *net = &l->built.net.base;
    for (uint64_t at = net->now / PS_PER_CYCLE; at < until && !interrupted;) {
        at = at + SLICE < until ? at + SLICE : until;
        hand_over_until(l, at);
        while (net->now < at * PS_PER_CYCLE)
            leat_port_run(net, at * PS_PER_CYCLE);
    }
    return true;
}

static bool prepare(struct pktway_load *l)
{
    const struct run_job job = pktway_job(l->args);
    if (!pktway_open(&l->design, &job, false, RUN_MESSAGES_MAX, NULL, &l->built)) return false;
    const uint32_t ports = l->built.net.base.ports;
    l->built.net.base.hear = (struct leat_port_hear){ l, on_sent, on_arrived, on_lost, NULL };
    l->source = sim_memory(ports * sizeof *l->source);
    l->partner = sim_memory(ports * sizeof *l->partner);
    l->octets = sim_memory(l->bytes + 1);
    if (!l->source || !l->partner || !l->octets) return false;
    leat_sim_histogram_init(&l->latency);
    leat_sim_histogram_init(&l->within);
    leat_sim_histogram_init(&l->across);
    leat_sim_traffic_init(&l->traffic, l->pattern, ports, l->load,
                          NS_PER_OCTET * (l->bytes ? l->bytes : 1), l->seed, l->partner);
    for (uint32_t i = 0; i < ports; i++) {
        leat_sim_traffic_source_init(&l->source[i].source, l->seed, i);
        draw(l, i);
    }
    return true;
}

/* ---- showing ---------------------------------------------------------------------------------
 */

static double megabits(const struct pktway_load *l, uint64_t cycles)
{
    return 8e3 * (double)l->delivered * (double)l->bytes / (double)cycles / l->built.net.base.ports;
}

static void put_latency_text(const char *of, const struct leat_sim_histogram *h)
{
    printf("  %-32s %14.1f  ns; p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64 "; %" PRIu64
           " messages\n",
           of, leat_sim_histogram_mean(h), leat_sim_histogram_quantile(h, 500),
           leat_sim_histogram_quantile(h, 990), h->max, h->count);
}

static void put_text(const struct pktway_load *l, uint64_t cycles)
{
    const struct leat_sim_pktway_counts *c = &l->built.net.counts;
    printf("%s, forwarding %s, traffic %s at load %g, messages of %" PRIu64 " octets, seed %" PRIu64
           "\n",
           l->design.name, l->design.by_address ? "by address" : "planned",
           leat_sim_traffic_name(l->pattern), (double)l->load / SIM_LOAD_ONE, l->bytes, l->seed);
    printf("%" PRIu64 " ns; hosts %u, SANs %u, routers %u\n", cycles, l->built.net.base.ports,
           l->design.sans, l->design.routers);
    printf("  %-32s %14" PRIu64 "\n", "messages offered", l->offered);
    printf("  %-32s %14" PRIu64 "\n", "messages delivered", l->delivered);
    printf("  %-32s %14" PRIu64 "%s%s\n", "messages lost", l->lost, l->why ? "  the last: " : "",
           l->why ? l->why : "");
    printf("  %-32s %14.6f  Mbit/s of each host\n", "throughput", megabits(l, cycles));
    put_latency_text("latency", &l->latency);
    put_latency_text("latency within a SAN", &l->within);
    put_latency_text("latency across SANs", &l->across);
#define X(id, text) printf("  %-44s %2" PRIu64 "\n", text, c->id);
    LEAT_SIM_PKTWAY_COUNT_LIST(X)
#undef X
    printf("  %-32s %016" PRIx64 "\n", "certificate", l->built.net.base.certificate);
    printf("  %-32s %14.3f  seconds\n", "run", l->wall_seconds);
}

static void put_latency_json(const char *name, const struct leat_sim_histogram *h)
{
    printf("\"%s\":{\"mean\":%.4f,\"p50\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"max\":%" PRIu64
           ",\"count\":%" PRIu64 "},",
           name, leat_sim_histogram_mean(h), leat_sim_histogram_quantile(h, 500),
           leat_sim_histogram_quantile(h, 990), h->max, h->count);
}

static void put_json(const struct pktway_load *l, uint64_t cycles)
{
    const struct leat_sim_pktway_counts *c = &l->built.net.counts;
    fputs("{\"fabric\":", stdout);
    print_quoted(l->design.name);
    printf(",\"forwarding\":\"%s\",\"traffic\":\"%s\",\"load\":%g,\"bytes\":%" PRIu64
           ",\"seed\":%" PRIu64 ",\"cycles\":%" PRIu64 ",\"ports\":%u,",
           l->design.by_address ? "address" : "planned", leat_sim_traffic_name(l->pattern),
           (double)l->load / SIM_LOAD_ONE, l->bytes, l->seed, cycles, l->built.net.base.ports);
    printf("\"messages_offered\":%" PRIu64 ",\"messages_delivered\":%" PRIu64
           ",\"messages_waiting\":%" PRIu64 ",\"messages_lost\":%" PRIu64 ",\"throughput\":%.6f,",
           l->offered, l->delivered, l->offered - l->delivered - l->lost, l->lost,
           megabits(l, cycles));
    put_latency_json("latency_cycles", &l->latency);
    put_latency_json("within_cycles", &l->within);
    put_latency_json("across_cycles", &l->across);
    fputs("\"counts\":{", stdout);
    const char *before = "";
#define X(id, text)                                  \
    printf("%s\"" #id "\":%" PRIu64, before, c->id); \
    before = ",";
    LEAT_SIM_PKTWAY_COUNT_LIST(X)
#undef X
    printf("},\"certificate\":\"%016" PRIx64 "\",\"wall_seconds\":%.6f}\n",
           l->built.net.base.certificate, l->wall_seconds);
}

int pktway_fabric_sim(const struct arguments *args)
{
    static struct pktway_load load; /* histograms are large */
    int code = WRONG;
    load = (struct pktway_load){ .args = args,
                                 .load = LOAD_DEFAULT,
                                 .bytes = BYTES_DEFAULT,
                                 .cycles = CYCLES_DEFAULT,
                                 .seed = 1 };
    if (!read_load(&load)) return WRONG;
    if (prepare(&load)) {
        code = DONE;
        if (!args->only_check) {
            const uint64_t cycles = pieces_run(load.cycles, run_piece, &load, &load.wall_seconds);
            (argument(args, "--json") ? put_json : put_text)(&load, cycles);
        }
    }
    if (load.built.design) pktway_close(&load.built);
    free(load.source);
    free(load.partner);
    free(load.octets);
    return args->only_check || code != DONE ? code : finish(code);
}
