/* leat sim: runs what was asked for, piece by piece, so that an interrupt is heard. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A piece takes about this long, however fast the network is: long enough to cost nothing, short
 * enough for somebody who waits for the end. */
static const double piece_seconds_min = 0.02, piece_seconds_max = 0.1;
static const double progress_seconds = 0.2;
enum { FIRST_PIECE_CYCLES = 256 };

struct simulation {
    const struct sim_job *job;
    struct leat_sim_check_load check; /* with W, else the rest */
    struct leat_sim_load load;
    struct leat_sim_traffic traffic;
    struct leat_sim_traffic_source *source;
    uint32_t *partner;
    void *memory;
};

void *sim_memory(size_t len)
{
    void *memory = calloc(1, len);
    if (!memory)
        complain("no memory: the network needs %.1f MB (a smaller fabric, --model cell and fewer "
                 "--blocks need less)",
                 (double)len / 1e6);
    return memory;
}

static bool next_message(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct simulation *s = context;
    out->len = s->job->bytes;
    return leat_sim_traffic_next(&s->traffic, &s->source[port], port, &out->at, &out->to);
}

/* The load of a port is that of its line: a message takes a cell time for each of its cells. */
static bool set_up_traffic(struct simulation *s)
{
    const struct sim_job *job = s->job;
    const uint32_t ports = job->fabric.net.ports;
    const uint64_t cells = (job->bytes + LEAT_ATM_TASK_MESSAGE_LEN + LEAT_ATM_TASK_PAYLOAD_LEN -
                            1) /
                           LEAT_ATM_TASK_PAYLOAD_LEN;
    s->source = sim_memory(ports * sizeof *s->source);
    s->partner = sim_memory(ports * sizeof *s->partner);
    if (!s->source || !s->partner) return false;
    leat_sim_traffic_init(&s->traffic, job->pattern, ports, job->load, LEAT_ATM_CELL_LEN * cells,
                          job->seed, s->partner);
    for (uint32_t port = 0; port < ports; port++)
        leat_sim_traffic_source_init(&s->source[port], job->seed, port);
    return true;
}

static bool set_up_load(struct simulation *s)
{
    const struct sim_job *job = s->job;
    const struct leat_sim_load_config config = {
        .fabric = job->fabric,
        .model = job->model,
        .len_max = job->bytes,
        .aal = job->aal,
        .next = next_message,
        .next_context = s,
        .line = job->line,
    };
    if (!set_up_traffic(s)) return false;
    s->memory = sim_memory(leat_sim_load_footprint(&config));
    if (!s->memory) return false;
    leat_sim_load_init(&s->load, &config, s->memory);
    return true;
}

static bool set_up_check(struct simulation *s)
{
    const struct sim_job *job = s->job;
    s->memory = sim_memory(leat_sim_check_load_footprint(&job->fabric, job->model));
    if (!s->memory) return false;
    leat_sim_check_load_init(&s->check, &job->fabric, job->model, job->seed,
                             job->load / SIM_PERCENT, job->cycles, s->memory);
    return true;
}

static struct leat_sim_atm *network_of(struct simulation *s)
{
    return s->job->check_load ? &s->check.sim : &s->load.sim;
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_progress(uint64_t cycles, uint64_t all)
{
    fprintf(stderr, "\r%5.1f %%  cycle %llu", 100 * (double)cycles / (double)all,
            (unsigned long long)cycles);
}

/* The cycles that were run. */
static uint64_t run_pieces(struct simulation *s)
{
    const bool watched = isatty(STDERR_FILENO);
    uint64_t cycles = 0, piece = FIRST_PIECE_CYCLES;
    double at = now_seconds(), shown_at = at;
    while (cycles < s->job->cycles && !interrupted) {
        const uint64_t left = s->job->cycles - cycles;
        cycles += piece < left ? piece : left;
        if (s->job->check_load)
            leat_sim_check_load_run(&s->check, cycles);
        else
            leat_sim_load_run(&s->load, cycles);
        const double now = now_seconds();
        if (now - at < piece_seconds_min) piece *= 2;
        if (now - at > piece_seconds_max && piece > 1) piece /= 2;
        at = now;
        if (watched && now - shown_at > progress_seconds) {
            show_progress(cycles, s->job->cycles);
            shown_at = now;
        }
    }
    if (watched) fputs("\r\33[K", stderr);
    return cycles;
}

static void collect(struct simulation *s, struct sim_result *out)
{
    out->network = &network_of(s)->counts;
    if (s->job->check_load) {
        out->cells_offered = leat_sim_check_load_sent(&s->check);
        out->cells_delivered = s->check.delivered;
        out->certificate = leat_sim_certificate_value(&s->check.certificate);
        out->last_delivery_at = s->check.certificate.at;
        out->delivery_hash = leat_sim_delivery_hash_value(&s->check.hash);
        out->latency = &s->check.latency;
        return;
    }
    leat_sim_load_count_offered(&s->load);
    leat_sim_load_units(&s->load, &out->units);
    leat_sim_load_lines(&s->load, &out->lines);
    out->messages = s->load.counts;
    out->cells_offered = out->messages.cells_offered;
    out->cells_delivered = out->messages.cells_delivered;
    out->certificate = leat_sim_certificate_value(&s->load.certificate);
    out->last_delivery_at = s->load.last_delivery_at;
    out->latency = &s->load.latency;
}

static bool simulate(struct simulation *s, struct sim_result *out)
{
    const char *record = s->job->record;
    if (!(s->job->check_load ? set_up_check(s) : set_up_load(s))) return false;
    if (record && !sim_record_open(record, network_of(s), s->job->check_load ? NULL : &s->load))
        return false;
    const double start = now_seconds();
    out->cycles = run_pieces(s);
    out->wall_seconds = now_seconds() - start;
    collect(s, out);
    return !record || sim_record_close(out->cycles);
}

int sim_run(const struct sim_job *job, struct sim_result *result)
{
    static struct simulation s;
    s.job = job;
    *result = (struct sim_result){ 0 };
    const bool done = simulate(&s, result);
    free(s.memory);
    free(s.source);
    free(s.partner);
    s.memory = s.source = NULL;
    s.partner = NULL;
    return done ? DONE : FAILED;
}
