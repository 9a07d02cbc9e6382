#include "port_load.h"
#include "fabric.h"
#include "number.h"
#include "pieces.h"
#include "sim.h"
#include "sim_view.h"
#include "threads.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES_DEFAULT = 64, SLICE = 10000 };

struct port_load_source {
    struct leat_sim_atm_traffic_source source;
    uint64_t at; /* of its next message */
    uint32_t to;
    bool is_done;
};

bool port_load_read(struct port_load *l)
{
    l->bytes = BYTES_DEFAULT;
    l->seed = 1;
    return sim_take_traffic(l->args, "", &l->pattern) && sim_take_load(l->args, &l->load) &&
           number_take(l->args, "--cycles", &l->cycles) &&
           number_take(l->args, "--seed", &l->seed) && number_take(l->args, "--bytes", &l->bytes);
}

/* ---- running --------------------------------------------------------------------------------- */

static leat_time time_of(const struct port_load *l, uint64_t cycle)
{
    leat_time at;
    return leat_sim_clock_edge(&l->clock, cycle, &at) ? LEAT_NEVER : at;
}

static uint64_t cycle_of(const struct port_load *l, leat_time at)
{
    uint64_t cycle;
    return leat_sim_clock_cycle(&l->clock, at, &cycle) ? LEAT_NEVER : cycle;
}

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

/* The id of a message is the cycle of its creation. */
static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct port_load *l = context;
    const uint64_t cycles = cycle_of(l, at) - m->id;
    l->delivered++;
    leat_sim_histogram_add(&l->latency, cycles);
    if (l->arrived) l->arrived(l, m, cycles);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct port_load *l = context;
    (void)message, (void)at;
    l->lost++;
    l->why = why;
}

static void draw(struct port_load *l, uint32_t port)
{
    struct port_load_source *s = &l->source[port];
    s->is_done = !leat_sim_atm_traffic_next(&l->traffic, &s->source, port, &s->at, &s->to);
}

static void hand_over(struct port_load *l, uint32_t from, uint32_t to, uint64_t at)
{
    const struct leat_port_message message = {
        .from = from, .to = to, .id = at, .octets = l->octets, .len = l->bytes
    };
    const leat_time then = time_of(l, at);
    l->offered++;
    leat_port_send(l->net, &message, then > l->net->now ? then : l->net->now);
}

/* All messages created before `until`; if too many are in flight, the rest waits at its source. */
static void hand_over_until(struct port_load *l, uint64_t until)
{
    const uint32_t ports = l->net->ports;
    for (uint32_t i = 0; i < ports; i++)
        for (struct port_load_source *s = &l->source[i]; !s->is_done && s->at < until; draw(l, i)) {
            if (l->net->in_flight + ports > LEAT_FABRIC_MESSAGES_MAX) return;
            if (s->to != LEAT_SIM_ATM_TRAFFIC_ALL) hand_over(l, i, s->to, s->at);
            for (uint32_t to = 0; s->to == LEAT_SIM_ATM_TRAFFIC_ALL && to < ports; to++)
                if (to != i) hand_over(l, i, to, s->at);
        }
}

static bool run_piece(void *context, uint64_t until)
{
    struct port_load *l = context;
    for (uint64_t at = cycle_of(l, l->net->now); at < until && !interrupted;) {
        at = at + SLICE < until ? at + SLICE : until;
        hand_over_until(l, at);
        while (l->net->now < time_of(l, at))
            leat_port_run(l->net, time_of(l, at));
    }
    return true;
}

static void take_view(void *context, struct watch_sample *sample)
{
    const struct port_load *l = context;
    sample->column[SIM_VIEW_ACCEPTED] = (double)l->delivered;
    sample->column[SIM_VIEW_LATENCY_SUM] = (double)l->latency.sum;
    sample->column[SIM_VIEW_LATENCY_COUNT] = (double)l->latency.count;
    sample->column[SIM_VIEW_IN_FLIGHT] = (double)l->net->in_flight;
    watch_fact(sample, "messages offered", (double)l->offered);
    watch_fact(sample, "messages delivered", (double)l->delivered);
    watch_fact(sample, "messages lost", (double)l->lost);
}

static bool begin(struct port_load *l, uint64_t message_cycles)
{
    struct leat_fabric_error error;
    struct leat_fabric_config config = { 0 };
    if (!threads_take(l->args, &config.threads)) return false;
    if (!leat_fabric_open(l->fabric, &config, &error))
        return fabric_refused(l->args->verb, l->fabric->word, &error);
    const uint32_t ports = l->fabric->net->ports;
    l->net = l->fabric->net;
    l->net->observer = (struct leat_port_observer){
        .context = l, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
    l->source = sim_memory(ports * sizeof *l->source);
    l->partner = sim_memory(ports * sizeof *l->partner);
    l->octets = sim_memory(l->bytes + 1);
    if (!l->source || !l->partner || !l->octets) return false;
    leat_sim_histogram_init(&l->latency);
    leat_sim_atm_traffic_init(&l->traffic, l->pattern, ports, l->load,
                              message_cycles << LEAT_SIM_ATM_TRAFFIC_TIME_BITS, l->seed,
                              l->partner);
    for (uint32_t i = 0; i < ports; i++) {
        leat_sim_atm_traffic_source_init(&l->source[i].source, l->seed, i);
        draw(l, i);
    }
    sim_view(
        &(struct sim_view){ (double)message_cycles / ports, "share of the capacity", "messages" },
        take_view, l);
    return true;
}

int port_load_run(struct port_load *l, uint64_t message_cycles,
                  void (*put)(const struct port_load *load, uint64_t cycles))
{
    const bool only_check = l->args->only_check, good = begin(l, message_cycles);
    if (good && !only_check) put(l, pieces_run(l->cycles, run_piece, l, &l->wall_seconds));
    free(l->source);
    free(l->partner);
    free(l->octets);
    return !good ? WRONG : only_check ? DONE : finish(DONE);
}

/* ---- showing --------------------------------------------------------------------------------- */

void port_load_head_text(const struct port_load *l, const char *more)
{
    printf("%s, %s%s, traffic %s at load %g, messages of %" PRIu64 " octets, seed %" PRIu64 "\n",
           l->fabric->name, l->fabric->kind->what, more, leat_sim_atm_traffic_name(l->pattern),
           (double)l->load / SIM_LOAD_ONE, l->bytes, l->seed);
}

const char *port_load_end_word(const struct port_load *l, uint64_t cycles)
{
    return cycles < l->cycles ? ", interrupted" : "";
}

void port_load_counts_text(const struct port_load *l)
{
    printf("  %-32s %14" PRIu64 "\n", "messages offered", l->offered);
    printf("  %-32s %14" PRIu64 "\n", "messages delivered", l->delivered);
    printf("  %-32s %14" PRIu64 "%s%s\n", "messages lost", l->lost, l->why ? "  the last: " : "",
           l->why ? l->why : "");
}

void port_load_latency_text(const char *of, const char *unit, const struct leat_sim_histogram *h)
{
    printf("  %-32s %14.1f  %s; p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64 "; %" PRIu64
           " messages\n",
           of, leat_sim_histogram_mean(h), unit, leat_sim_histogram_quantile(h, 500),
           leat_sim_histogram_quantile(h, 990), h->max, h->count);
}

void port_load_end_text(const struct port_load *l)
{
    printf("  %-32s %016" PRIx64 "\n", "certificate", l->net->certificate);
    printf("  %-32s %14.3f  seconds%s\n", "run", l->wall_seconds,
           threads_text(leat_sim_crew_members(leat_crew_lend(l->fabric->crew)), 1));
}

struct leat_json *port_load_open_json(struct json_out *out, const struct port_load *l)
{
    struct leat_json *j = json_open(out, stdout);
    leat_json_string(j, "fabric", l->fabric->name);
    return j;
}

void port_load_head_json(struct leat_json *j, const struct port_load *l, uint64_t cycles)
{
    leat_json_string(j, "traffic", leat_sim_atm_traffic_name(l->pattern));
    json_general(j, "load", (double)l->load / SIM_LOAD_ONE, 6);
    LEAT_JSON_UINTS(j, { "bytes", l->bytes }, { "seed", l->seed }, { "cycles", cycles });
    json_general(j, "cycle_ns", leat_fabric_ns(&l->clock, 1), 12);
    LEAT_JSON_UINTS(j, { "ports", l->net->ports }, { "messages_offered", l->offered },
                    { "messages_delivered", l->delivered },
                    { "messages_waiting", l->offered - l->delivered - l->lost },
                    { "messages_lost", l->lost });
}

void port_load_latency_json(struct leat_json *j, const char *name,
                            const struct leat_sim_histogram *h)
{
    leat_json_object(j, name);
    json_fixed(j, "mean", leat_sim_histogram_mean(h), 4);
    LEAT_JSON_UINTS(j, { "p50", leat_sim_histogram_quantile(h, 500) },
                    { "p99", leat_sim_histogram_quantile(h, 990) }, { "max", h->max },
                    { "count", h->count });
    leat_json_end(j);
}

void port_load_close_json(struct json_out *out, const struct port_load *l)
{
    json_certificate(&out->json, "certificate", l->net->certificate);
    json_fixed(&out->json, "wall_seconds", l->wall_seconds, 6);
    json_close(out, json_status());
}

/* ---- leat sim of any kind that has no load of its own ---------------------------------------- */

static void put_ports(const struct port_load *l, uint64_t cycles)
{
    const struct leat_fabric_load *as = l->fabric->kind->load;
    /* Of all cycles of all ports. */
    const double throughput = (double)(l->delivered * as->message_cycles(l->fabric, l->bytes)) /
                              (double)cycles / l->net->ports;
    if (argument(l->args, "--json")) {
        struct json_out out;
        struct leat_json *j = port_load_open_json(&out, l);
        port_load_head_json(j, l, cycles);
        json_fixed(j, "throughput", throughput, 6);
        port_load_latency_json(j, "latency_cycles", &l->latency);
        port_load_close_json(&out, l);
        return;
    }
    port_load_head_text(l, "");
    printf("%" PRIu64 " %s; %u %s%s\n", cycles, as->cycles, l->net->ports, as->ports,
           port_load_end_word(l, cycles));
    port_load_counts_text(l);
    printf("  %-32s %14.6f  of what %s\n", "throughput", throughput, as->capacity);
    port_load_latency_text("latency", as->cycles, &l->latency);
    port_load_end_text(l);
}

int sim_ports(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct port_load l; /* a histogram is large */
    const struct leat_fabric_load *as = fabric->kind->load;
    l = (struct port_load){ .args = args,
                            .fabric = fabric,
                            .load = as->load,
                            .cycles = as->cycles_default,
                            .clock = fabric->clock };
    if (!port_load_read(&l)) return WRONG;
    if (fabric->ports < 2)
        return misuse(args->verb, "%s has nobody to send to, expected 2 %s or more", fabric->word,
                      as->ports);
    return port_load_run(&l, as->message_cycles(fabric, l.bytes), put_ports);
}
