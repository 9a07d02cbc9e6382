/* leat atm ping: reads the command line, sends the cells, shows what came back. */
#include "atm_ping.h"
#include "fabric.h"
#include "json_out.h"
#include "leat_tree.h"
#include "number.h"
#include "result_file.h"
#include "sim.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_CYCLES = 10000 };

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_port(const struct ping_job *job, uint32_t *out)
{
    const struct arguments *args = job->args;
    const uint32_t ports = job->atm->base.ports;
    const char *text = args->operand[1];
    uint64_t number;
    if (args->operand_count != 2)
        return misused(args->verb, "ping: expected one port, as in leat atm ping 5");
    if (!leat_tree_number(text, strlen(text), &number) || number >= ports)
        return misused(args->verb, "ping: port '%s', expected 0 to %u", text, ports - 1);
    *out = (uint32_t)number;
    return true;
}

static bool read_job(const struct arguments *args, struct leat_fabric *fabric, struct ping_job *job)
{
    *job = (struct ping_job){ .args = args,
                              .atm = leat_fabric_as_atm(fabric),
                              .count = 4,
                              .first_at = 1000,
                              .apart = 2000,
                              .seed = 1,
                              .paths = argument(args, "--paths") };
    job->wires = sim_wires(args, fabric);
    return job->wires && read_port(job, &job->to) &&
           number_take_small_within(args, "--from", 0, job->atm->base.ports - 1, &job->from) &&
           number_take_small(args, "--count", &job->count) &&
           number_take(args, "--first-at", &job->first_at) &&
           number_take(args, "--apart", &job->apart) && number_take(args, "--seed", &job->seed) &&
           number_take_share(args, "--load", &job->load_ppm) &&
           sim_read_model(args, &job->atm->fabric, &job->model) && sim_read_faults(args, fabric) &&
           sim_read_record(args, fabric, &job->record);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Until all requests are answered, or the last one has waited for long enough. */
static uint64_t run(struct leat_sim_atm_ping *ping, uint64_t limit)
{
    const uint32_t requests = ping->config.requests;
    while (ping->sim.now < limit && ping->answered < requests && !is_interrupted())
        leat_sim_atm_ping_run(ping, leat_smaller(ping->sim.now + PIECE_CYCLES, limit));
    return ping->sim.now;
}

bool ping_send(const struct ping_job *job, struct leat_sim_atm_ping_request *request,
               uint32_t requests, bool pinned, const struct sim_recorded *record, uint64_t *cycles)
{
    static struct leat_sim_atm_ping ping;
    const struct leat_sim_atm_ping_config config = { .fabric = job->atm->fabric,
                                                     .model = job->model,
                                                     .from = job->from,
                                                     .requests = requests,
                                                     .request = request,
                                                     .first_at = job->first_at,
                                                     .apart = job->apart,
                                                     .load_ppm = job->load_ppm,
                                                     .seed = job->seed };
    job->atm->faults.pinned = pinned;
    job->atm->faults.seed = job->seed;
    void *memory = sim_memory(leat_sim_atm_ping_footprint(&config));
    if (!memory) return false;
    leat_sim_atm_ping_init(&ping, &config, memory);
    const bool is_recorded = record && record->path;
    bool good = !is_recorded || sim_record_open(record, &ping.sim, NULL);
    if (good) *cycles = run(&ping, job->first_at + requests * job->apart + PING_PATIENCE);
    if (good && is_recorded) good = sim_record_close(*cycles);
    free(memory);
    return good;
}

/* ---- figures --------------------------------------------------------------------------------- */

struct figures {
    uint32_t answered;
    uint64_t sum, least, most; /* cycles there and back */
};

static struct figures figures_of(const struct leat_sim_atm_ping_request *request, uint32_t count)
{
    struct figures f = { .least = UINT64_MAX };
    for (uint32_t i = 0; i < count; i++) {
        if (request[i].answered_at == LEAT_NEVER) continue;
        const uint64_t cycles = request[i].answered_at - request[i].sent_at + 1;
        f.answered++;
        f.sum += cycles;
        f.least = leat_smaller(f.least, cycles);
        f.most = leat_larger(f.most, cycles);
    }
    return f;
}

static double microseconds(const struct ping_job *job, double cycles)
{
    return cycles * (double)job->atm->base.clock.num / (double)job->atm->base.clock.den / 1e6;
}

static bool is_f4(const struct ping_job *job)
{
    return job->atm->fabric.net.header_octets == LEAT_ATM_VP_HEADER;
}

static void put_places(const struct ping_located *l)
{
    uint32_t name = 0;
    printf("paths, each for itself: %u of %u tests came back\n", l->answered, l->tests);
    for (uint32_t i = 0; i < l->places; i++) {
        printf("  lost %s ", l->place[i].one_of > 1 ? "at one of" : "at");
        for (uint32_t k = 0; k < l->place[i].one_of; k++)
            printf("%s%s", k ? ", " : "", l->name[name++]);
        printf(" (%u test%s)\n", l->place[i].failed, l->place[i].failed == 1 ? "" : "s");
    }
    if (l->unexplained)
        printf("  lost by chance, or for a time: %u tests whose way works\n", l->unexplained);
}

/* Requests without those that an interrupt kept back. */
static uint32_t count_sent(const struct leat_sim_atm_ping_request *request, uint32_t count)
{
    while (interrupted && count && request[count - 1].sent_at == LEAT_NEVER)
        count--;
    return count;
}

static void put_text(const struct ping_job *job, const struct leat_sim_atm_ping_request *request,
                     const struct figures *f, const struct ping_located *l)
{
    const uint32_t sent = count_sent(request, job->count);
    printf("port %u of %s from port %u: %s\n", job->to, job->atm->base.name, job->from,
           is_f4(job) ? "loopback cells of flow F4 (VCI 4)" : "loopback cells of flow F5 (PT 5)");
    for (uint32_t i = 0; i < sent; i++) {
        const uint64_t cycles = request[i].answered_at - request[i].sent_at + 1;
        printf("  cell %u, sent in cycle %" PRIu64 ": ", i, request[i].sent_at);
        if (request[i].sent_at == LEAT_NEVER || request[i].answered_at == LEAT_NEVER)
            printf("%s\n", interrupted ? "not back yet" : "lost");
        else
            printf("back after %" PRIu64 " cycles, %.3f us\n", cycles,
                   microseconds(job, (double)cycles));
    }
    printf("%u of %u came back", f->answered, sent);
    if (f->answered)
        printf(": %.3f us on average, %.3f to %.3f",
               microseconds(job, (double)f->sum / f->answered), microseconds(job, (double)f->least),
               microseconds(job, (double)f->most));
    printf("\n");
    if (l->tests) put_places(l);
}

static void put_json_places(struct leat_json *j, const struct ping_located *l)
{
    uint32_t name = 0;
    leat_json_uint(j, "tests", l->tests);
    leat_json_uint(j, "tests_answered", l->answered);
    leat_json_uint(j, "tests_unexplained", l->unexplained);
    leat_json_array(j, "lost_at");
    for (uint32_t i = 0; i < l->places; i++) {
        leat_json_array(j, NULL);
        for (uint32_t k = 0; k < l->place[i].one_of; k++)
            leat_json_string(j, NULL, l->name[name++]);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_json(const struct ping_job *job, const struct leat_sim_atm_ping_request *request,
                     const struct figures *f, const struct ping_located *l, struct leat_text *text)
{
    const uint32_t sent = count_sent(request, job->count);
    struct leat_json json, *j = &json;
    json_begin(j, text);
    leat_json_string(j, "fabric", job->atm->base.name);
    LEAT_JSON_UINTS(j, { "from", job->from }, { "to", job->to });
    leat_json_string(j, "oam_flow", is_f4(job) ? "F4" : "F5");
    LEAT_JSON_UINTS(j, { "cells_sent", sent }, { "cells_back", f->answered });
    leat_json_array(j, "round_trip_cycles");
    for (uint32_t i = 0; i < sent; i++)
        if (request[i].answered_at == LEAT_NEVER)
            leat_json_null(j, NULL);
        else
            leat_json_uint(j, NULL, request[i].answered_at - request[i].sent_at + 1);
    leat_json_end(j);
    if (l->tests) put_json_places(j, l);
    json_finish(j, json_status());
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int ping(const struct ping_job *job, struct result_file *json)
{
    struct ping_located located = { .tests = 0 };
    struct leat_sim_atm_ping_request *request = sim_memory(job->count * sizeof *request);
    uint64_t cycles;
    if (!request) return FAILED;
    for (uint32_t i = 0; i < job->count; i++)
        request[i].to = job->to;
    bool good = ping_send(job, request, job->count, false, &job->record, &cycles);
    const struct figures f = figures_of(request, good ? job->count : 0);
    const bool all = f.answered == job->count;
    if (good && !interrupted && (!all || job->paths)) good = ping_locate(job, &located);
    if (good && json->name)
        put_json(job, request, &f, &located, &json->out.text);
    else if (good)
        put_text(job, request, &f, &located);
    free(located.name);
    free(request);
    if (!good) return FAILED;
    if (!all && !interrupted)
        complain("%s: %u of %u cells to port %u did not come back", job->atm->base.name,
                 job->count - f.answered, job->count, job->to);
    return all ? DONE : FAILED;
}

static bool files_are_apart(const struct arguments *args)
{
    const char *json = argument(args, "--json");
    return sim_check_record(args) &&
           (!json || !*json || strcmp(json, "-") == 0 || result_apart_from_options(args, "--json"));
}

int run_ping(const struct arguments *args)
{
    static struct result_file json; /* large */
    struct ping_job job;
    const char *path = argument(args, "--json"), *name = argument(args, "--fabric");
    struct leat_fabric *fabric = fabric_read_atm(args->verb, name ? name : "clos444");
    if (!fabric) return WRONG;
    int code = read_job(args, fabric, &job) ? DONE : WRONG;
    if (code == DONE && !files_are_apart(args)) code = WRONG;
    if (code == DONE && path && !result_file_open(&json, *path ? path : NULL)) code = FAILED;
    if (code == DONE) {
        code = ping(&job, &json);
        if (json.name && !result_file_close(&json, json.out.text.len > 0) && !code) code = FAILED;
    }
    leat_fabric_close(fabric);
    return finish(code);
}
