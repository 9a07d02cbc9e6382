/* leat sim of a token ring: stations under load, each packet at a capture of the token. */
#include "fabric.h"
#include "fabric_aton.h"
#include "json_out.h"
#include "number.h"
#include "pieces.h"
#include "ring_job.h"
#include "sim.h"
#include "sim_atm_traffic.h"
#include "sim_histogram.h"
#include "sim_view.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLES_DEFAULT = 1000000, BYTES_DEFAULT = 16, LOAD_DEFAULT = SIM_LOAD_ONE / 2 };

struct station {
    struct leat_sim_atm_traffic_source source;
    uint64_t comes_at; /* the message that it sends or waits to send */
};

/* The command that station 1 repeats in idle time; registers hold random numbers. */
struct idle {
    const char *name; /* NULL: none */
    struct leat_aton_order order;
    uint64_t period;
    uint64_t done;
    struct leat_sim_histogram waited; /* from when it was due until it went out */
    struct leat_aton_result last;
};

enum { MESSAGE, IDLE }; /* ids of orders */

struct ring_load {
    const struct arguments *args;
    struct leat_sim_aton_port_config config; /* as the fabric's name has it */
    const struct leat_fabric *fabric;
    enum leat_sim_atm_traffic_pattern pattern;
    uint32_t load;
    uint64_t bytes, cycles, seed;

    struct leat_sim_aton ring;
    struct leat_sim_atm_traffic traffic;
    struct station *station;
    uint32_t *partner;
    uint8_t *octets; /* of every message */
    void *memory;
    struct leat_sim_histogram latency, of_priority[LEAT_ATON_PRIORITY_MAX + 1];
    struct idle idle;
    uint64_t offered, sent, delivered, symbols;
    double wall_seconds;
};

/* ---- the command line ----------------------------------------------------------------------- */

static bool read_idle(struct ring_load *l)
{
    const char *text = argument(l->args, "--idle"), *at = text ? strchr(text, '@') : NULL;
    if (!text) return true;
    const size_t len = at ? (size_t)(at - text) : strlen(text);
    const unsigned opcode = ring_opcode(text, len);
    if (opcode && opcode <= LEAT_ATON_LE && at && number_read(at + 1, false, &l->idle.period) &&
        l->idle.period > 0 && l->idle.period <= SIM_CYCLES_MAX) {
        l->idle.name = text;
        l->idle.order = (struct leat_aton_order){
            .command = { .opcode = (uint8_t)opcode, .width_bits = 32, .da = LEAT_ATON_DA_ALL },
            .when_idle = true,
        };
        return true;
    }
    return misused(
        l->args->verb,
        "--idle '%s', expected add, and, or, max, min, eq, lt or le, and bit times, as min@10000",
        text);
}

static bool read_load(struct ring_load *l)
{
    if (!sim_take_traffic(l->args, "", &l->pattern) || !read_idle(l) ||
        !sim_take_load(l->args, &l->load) || !number_take(l->args, "--cycles", &l->cycles) ||
        !number_take(l->args, "--seed", &l->seed) ||
        !number_take_within(l->args, "--bytes", 0, l->config.packet_octets, &l->bytes))
        return false;
    if (l->config.stations > 1) return true;
    return misused(l->args->verb, "%s has nobody to send to, expected 2 stations or more",
                   l->args->operand[0]);
}

/* ---- stations ------------------------------------------------------------------------------- */

static uint64_t symbols_of(const struct ring_load *l)
{
    return LEAT_ATON_FOLD_SYMBOLS + 8 * l->bytes;
}

/* The next message of a station waits there from its arrival time on. */
static void draw(struct ring_load *l, uint32_t station)
{
    struct station *s = &l->station[station];
    uint32_t to;
    if (!leat_sim_atm_traffic_next(&l->traffic, &s->source, station, &s->comes_at, &to) ||
        s->comes_at >= l->cycles)
        return;
    const struct leat_aton_order order = {
        .is_passive = true,
        .command = { .da = to == LEAT_SIM_ATM_TRAFFIC_ALL ? LEAT_ATON_DA_ALL : (uint16_t)(to + 1),
                     .priority = leat_sim_aton_port_priority(&l->config, station) },
        .octets = l->octets,
        .octets_len = (uint16_t)l->bytes,
    };
    const leat_time now = l->ring.now, at = s->comes_at > now ? s->comes_at : now;
    leat_sim_aton_hand_over(&l->ring, station, &order, MESSAGE, at, 0);
    l->offered++;
}

static void on_idle_done(struct idle *idle, const struct leat_sim_aton_result *result)
{
    idle->done++;
    idle->last = result->result;
    leat_sim_histogram_add(&idle->waited, result->sent_at > result->handed_at
                                              ? result->sent_at - result->handed_at
                                              : 0);
}

static void on_done(void *context, const struct leat_sim_aton_result *result)
{
    struct ring_load *l = context;
    if (result->id == IDLE) {
        on_idle_done(&l->idle, result);
        return;
    }
    l->sent++;
    l->symbols += symbols_of(l);
    draw(l, result->station);
}

static void on_arrived(void *context, const struct leat_sim_aton_arrival *a)
{
    struct ring_load *l = context;
    l->delivered++;
    const uint8_t priority = leat_sim_aton_port_priority(&l->config, a->from);
    const uint64_t latency = a->at - l->station[a->from].comes_at;
    leat_sim_histogram_add(&l->latency, latency);
    leat_sim_histogram_add(&l->of_priority[priority], latency);
}

/* ---- running -------------------------------------------------------------------------------- */

static void begin_idle(struct ring_load *l)
{
    struct leat_random random;
    if (!l->idle.name) return;
    leat_random_seed(&random, l->seed);
    for (uint32_t i = 0; i < l->config.stations; i++)
        leat_sim_aton_registers(&l->ring, i)->operand[0] = leat_random_next(&random);
    leat_sim_histogram_init(&l->idle.waited);
    leat_sim_aton_hand_over(&l->ring, 0, &l->idle.order, IDLE, 0, l->idle.period);
}

static bool prepare(struct ring_load *l)
{
    const struct leat_sim_aton_config config = { .stations = l->config.stations,
                                                 .propagation_each = l->config.propagation,
                                                 .model = l->config.model,
                                                 .payload_max = (uint32_t)l->bytes,
                                                 .orders_max = l->config.stations + 1 };
    const struct leat_sim_aton_host host = { .context = l, .done = on_done, .arrived = on_arrived };
    l->memory = sim_memory(leat_sim_aton_footprint(&config));
    l->station = sim_memory(config.stations * sizeof *l->station);
    l->partner = sim_memory(config.stations * sizeof *l->partner);
    l->octets = sim_memory(l->bytes + 1);
    if (!l->memory || !l->station || !l->partner || !l->octets) return false;
    leat_sim_aton_init(&l->ring, &config, &host, l->memory);
    leat_sim_histogram_init(&l->latency);
    for (unsigned p = 0; p <= LEAT_ATON_PRIORITY_MAX; p++)
        leat_sim_histogram_init(&l->of_priority[p]);
    /* All stations share the ring, so each has 1/n of it. */
    leat_sim_atm_traffic_init(&l->traffic, l->pattern, config.stations, l->load,
                              (symbols_of(l) * config.stations) << LEAT_SIM_ATM_TRAFFIC_TIME_BITS,
                              l->seed, l->partner);
    for (uint32_t i = 0; i < config.stations; i++) {
        leat_sim_atm_traffic_source_init(&l->station[i].source, l->seed, i);
        draw(l, i);
    }
    begin_idle(l);
    return true;
}

static bool run_piece(void *context, uint64_t until)
{
    struct ring_load *l = context;
    leat_sim_aton_run(&l->ring, until);
    return true;
}

/* Messages queued behind those that stations have drawn. */
static void count_waiting(struct ring_load *l, uint64_t cycles)
{
    for (uint32_t i = 0; i < l->config.stations; i++) {
        struct station *s = &l->station[i];
        uint32_t to;
        uint64_t at = s->comes_at;
        if (!l->traffic.gap) continue;
        if (at >= cycles && at < l->cycles) l->offered--; /* it has not come yet */
        while (at < cycles && leat_sim_atm_traffic_next(&l->traffic, &s->source, i, &at, &to))
            l->offered += at < cycles;
    }
}

/* ---- showing -------------------------------------------------------------------------------- */

static double per_second(const struct ring_load *l, double count)
{
    return l->wall_seconds > 0 ? count / l->wall_seconds : 0;
}

static void put_latency(const char *of, const struct leat_sim_histogram *latency,
                        struct leat_json *j, FILE *text)
{
    const double mean = leat_sim_histogram_mean(latency);
    const uint64_t p50 = leat_sim_histogram_quantile(latency, 500),
                   p99 = leat_sim_histogram_quantile(latency, 990);
    text_print(text,
               "  %-32s %14.1f  bit times; p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64 "\n", of,
               mean, p50, p99, latency->max);
    json_fixed(j, "mean", mean, 4);
    LEAT_JSON_UINTS(j, { "p50", p50 }, { "p99", p99 }, { "max", latency->max });
    leat_json_end(j);
}

/* The highest first; without priorities there is one latency for all. */
static void put_priorities(const struct ring_load *l, struct leat_json *j, FILE *text)
{
    if (!l->config.priorities) return;
    leat_json_array(j, "latency_of_priorities");
    for (unsigned p = LEAT_ATON_PRIORITY_MAX + 1; p-- > 0;) {
        char of[32];
        if (!l->of_priority[p].count) continue;
        snprintf(of, sizeof of, "latency at priority %u", p);
        leat_json_object(j, NULL);
        leat_json_uint(j, "priority", p);
        leat_json_uint(j, "deliveries", l->of_priority[p].count);
        put_latency(of, &l->of_priority[p], j, text);
    }
    leat_json_end(j);
}

static void put_idle(const struct idle *idle, struct leat_json *j, FILE *text)
{
    if (!idle->name) return;
    leat_json_object(j, "idle");
    leat_json_string(j, "command", idle->name);
    LEAT_JSON_UINTS(j, { "commands", idle->done }, { "counter", idle->last.counter },
                    { "variable1", idle->last.variable1 }, { "variable2", idle->last.variable2 });
    text_print(text,
               "  %-32s %14" PRIu64
               "  of %s in idle time; the last: Counter %u, Variable-1 %" PRIu64
               ", Variable-2 %" PRIu64 "\n",
               "commands", idle->done, idle->name, idle->last.counter, idle->last.variable1,
               idle->last.variable2);
    leat_json_object(j, "wait_cycles");
    put_latency("wait for idle time", &idle->waited, j, text);
    leat_json_end(j);
}

/* A count of messages: a member, and a line. */
static void put_count(const char *key, const char *what, uint64_t count, struct leat_json *j,
                      FILE *text)
{
    leat_json_uint(j, key, count);
    text_print(text, "  %-32s %14" PRIu64 "\n", what, count);
}

static void put_result(const struct ring_load *l, uint64_t cycles, FILE *text)
{
    const double throughput = (double)l->symbols / (double)cycles,
                 load = (double)l->load / SIM_LOAD_ONE, rate = per_second(l, (double)cycles);
    const char *traffic = leat_sim_atm_traffic_name(l->pattern);
    const uint64_t certificate = leat_sim_certificate_value(&l->ring.certificate);
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    leat_json_string(j, "fabric", l->fabric->name);
    leat_json_string(j, "model", l->config.model == LEAT_SIM_ATON_BIT ? "bit" : "word");
    leat_json_string(j, "traffic", traffic);
    json_general(j, "load", load, 6);
    LEAT_JSON_UINTS(j, { "bytes", l->bytes }, { "seed", l->seed }, { "cycles", cycles });
    json_general(j, "cycle_ns", leat_fabric_ns(&l->config.clock, 1), 12);
    leat_json_uint(j, "ring_bits", l->ring.bits);
    text_print(text,
               "%s, %s, traffic %s at load %g, messages of %" PRIu64 " octets, seed %" PRIu64 "\n",
               l->fabric->name, l->fabric->kind->what, traffic, load, l->bytes, l->seed);
    text_print(text, "%" PRIu64 " bit times, %u bits round the ring%s\n", cycles, l->ring.bits,
               cycles < l->cycles ? ", interrupted" : "");
    put_count("messages_offered", "messages offered", l->offered, j, text);
    put_count("messages_delivered", "messages sent", l->sent, j, text);
    put_count("messages_waiting", "messages waiting", l->offered - l->sent, j, text);
    put_count("deliveries", "deliveries", l->delivered, j, text);
    json_fixed(j, "throughput", throughput, 6);
    text_print(text, "  %-32s %14.6f  of all bit times carry packets\n", "throughput", throughput);
    leat_json_object(j, "latency_cycles");
    put_latency("latency", &l->latency, j, text);
    put_priorities(l, j, text);
    put_idle(&l->idle, j, text);
    json_certificate(j, "certificate", certificate);
    json_fixed(j, "wall_seconds", l->wall_seconds, 6);
    json_fixed(j, "cycles_per_second", rate, 0);
    json_close(&out, json_status());
    text_print(text, "  %-32s %016" PRIx64 "\n", "certificate", certificate);
    text_print(text, "  %-32s %14.3f  seconds, %.4g bit times per second\n", "run", l->wall_seconds,
               rate);
}

static void take_view(void *context, struct watch_sample *sample)
{
    const struct ring_load *l = context;
    sample->column[SIM_VIEW_ACCEPTED] = (double)l->symbols;
    sample->column[SIM_VIEW_LATENCY_SUM] = (double)l->latency.sum;
    sample->column[SIM_VIEW_LATENCY_COUNT] = (double)l->latency.count;
    sample->column[SIM_VIEW_IN_FLIGHT] = (double)l->offered - (double)l->sent;
    watch_fact(sample, "messages sent", (double)l->sent);
    watch_fact(sample, "deliveries", (double)l->delivered);
}

int sim_aton(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct ring_load load; /* a histogram is large */
    load = (struct ring_load){ .args = args,
                               .fabric = fabric,
                               .config = leat_fabric_as_aton(fabric)->config,
                               .load = LOAD_DEFAULT,
                               .bytes = BYTES_DEFAULT,
                               .cycles = CYCLES_DEFAULT,
                               .seed = 1 };
    if (!read_load(&load)) return WRONG;
    if (args->only_check) return DONE;
    int code = FAILED;
    if (prepare(&load)) {
        sim_view(&(struct sim_view){ 1, "share of all bit times", "messages" }, take_view, &load);
        const uint64_t cycles = pieces_run(load.cycles, run_piece, &load, &load.wall_seconds);
        count_waiting(&load, cycles);
        code = DONE;
        put_result(&load, cycles, argument(args, "--json") ? NULL : stdout);
    }
    free(load.memory);
    free(load.station);
    free(load.partner);
    free(load.octets);
    return finish(code);
}
