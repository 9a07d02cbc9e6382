/* leat sim: runs what was asked for, piece by piece, so that an interrupt is heard. */
#include "pieces.h"
#include "sim.h"
#include <stdlib.h>

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

static bool run_to(void *context, uint64_t until)
{
    struct simulation *s = context;
    if (s->job->check_load)
        leat_sim_check_load_run(&s->check, until);
    else
        leat_sim_load_run(&s->load, until);
    return true;
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
    out->cycles = pieces_run(s->job->cycles, run_to, s, &out->wall_seconds);
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
