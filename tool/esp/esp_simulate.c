/* leat esp sim: one service on simulated routers, compared with the cost of collecting by unicast.
 */
#include "duration.h"
#include "esp_job.h"
#include "esp_record.h"
#include "json_out.h"
#include "result_file.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_CAP = 256, INSTALL_ATTEMPTS = 16 };

static const uint64_t memory_max = UINT64_C(8) << 30;
static const leat_time us = 1000000;

struct answer_text {
    char text[48];
};

struct esp_run {
    const struct esp_job *job;
    struct leat_sim_esp sim;
    void *memory;
    uint64_t truth, truth_high; /* average: the sum, in two halves */
    uint64_t duplicates;
    struct leat_sim_esp_traffic install;
};

/* ---- what is true ---------------------------------------------------------------------------- */

/* Routers with two children or more, members included; marks[]: children so far. */
static uint64_t count_branches(const struct leat_sim_esp *s, uint32_t *marks)
{
    uint64_t branches = 0;
    for (uint32_t m = 0; m < s->config.members; m++) {
        uint32_t r = s->config.member_at[m];
        while (marks[r]++ == 0 && s->paths.up[r] != LEAT_SIM_ESP_NONE)
            r = s->config.graph.wire[s->paths.up[r]].to;
    }
    for (uint32_t r = 0; r < s->config.graph.routers; r++)
        branches += marks[r] >= 2;
    return branches;
}

static bool find_truth(struct esp_run *run)
{
    const struct leat_sim_esp_config *c = &run->sim.config;
    uint64_t sum = 0, high = 0, max = c->value[0], min = c->value[0], branches = 0;
    uint32_t *marks = calloc(c->graph.routers, sizeof *marks);
    if (!marks) return complain("no memory for %u routers", c->graph.routers);
    for (uint32_t m = 0; m < c->members; m++) {
        sum += c->value[m];
        high += sum < c->value[m];
        if (c->value[m] > max) max = c->value[m];
        if (c->value[m] < min) min = c->value[m];
    }
    branches = count_branches(&run->sim, marks);
    free(marks);
    const enum leat_esp_announced kind = run->job->request.kind;
    run->truth = kind == LEAT_ESP_SERVICE_CENSUS ? c->members
                 : kind == LEAT_ESP_SERVICE_MAX  ? max
                 : kind == LEAT_ESP_SERVICE_MIN  ? min
                 : kind == LEAT_ESP_SERVICE_TREE ? branches
                                                 : sum;
    run->truth_high = kind == LEAT_ESP_SERVICE_AVERAGE ? high : 0;
    return true;
}

static bool is_right(const struct esp_run *run)
{
    const struct leat_esp_service_result *r = &run->sim.service.result;
    const bool has_count = run->job->request.kind == LEAT_ESP_SERVICE_AVERAGE;
    return r->end == LEAT_ESP_ANSWERED && r->answer == run->truth &&
           (!has_count ||
            (r->counted == run->sim.config.members && r->answer_high == run->truth_high));
}

/* ---- the run --------------------------------------------------------------------------------- */

static int refused(const struct leat_text *why)
{
    complain("%.*s", (int)why->len, why->buf);
    return WRONG;
}

int esp_open_network(const struct leat_sim_esp_config *c, struct leat_sim_esp *sim, void **memory,
                     struct leat_text *why)
{
    void *scratch = malloc(leat_sim_esp_paths_footprint(&c->graph));
    const leat_err err = scratch ? leat_sim_esp_check(c, scratch, why) : LEAT_ERR_MEMORY;
    free(scratch);
    if (err && scratch) return refused(why);
    const size_t len = leat_sim_esp_footprint(c);
    if (len > memory_max) {
        complain("this network would take %zu octets of memory, expected at most %" PRIu64, len,
                 memory_max);
        return WRONG;
    }
    *memory = err ? NULL : malloc(len);
    if (!*memory) return fail("no memory: the network needs %.1f MB", (double)len / 1e6);
    leat_sim_esp_init(sim, c, *memory);
    return DONE;
}

static int open_run(struct esp_run *run, struct leat_text *why)
{
    const int code = esp_open_network(&run->job->config, &run->sim, &run->memory, why);
    return code != DONE ? code : find_truth(run) ? DONE : FAILED;
}

/* One service, until nothing is in flight any more. */
static int run_one(struct leat_sim_esp *sim, const struct leat_esp_request *request,
                   struct leat_text *why)
{
    if (leat_sim_esp_ask(sim, request, why)) return refused(why);
    while (leat_sim_esp_run(sim, sim->now + request->settle_ps) && !interrupted) {
    }
    if (!sim->is_full) return DONE;
    return fail("more than %u packets in flight, expected fewer members or rounds",
                sim->config.flights_max);
}

static int install(struct esp_run *run, const struct leat_esp_request *service,
                   struct leat_text *why)
{
    const struct leat_esp_service_result *r = &run->sim.service.result;
    struct leat_esp_request request = *service;
    request.kind = LEAT_ESP_SERVICE_MULTICAST;
    request.robust = request.is_trusting = false;
    request.attempts = INSTALL_ATTEMPTS;
    request.lifetime_ms = LEAT_ESP_DUPLICATE_MS_MAX;
    const int code = run_one(&run->sim, &request, why);
    if (code != DONE) return code;
    if (r->end != LEAT_ESP_ANSWERED)
        return fail("no multicast: the route of %u members is not known, %u branch points have no "
                    "duplicate",
                    r->unplaced, r->uninstalled);
    run->duplicates = r->answer;
    run->install = leat_sim_esp_messages(&run->sim);
    leat_sim_esp_forget_traffic(&run->sim);
    return DONE;
}

static int run_all(struct esp_run *run, struct leat_text *why)
{
    struct leat_esp_request request = run->job->request;
    request.settle_ps = (leat_sim_esp_settle(&run->sim) + us - 1) / us * us;
    request.gap_ps = request.settle_ps;
    const int code = run->job->multicast ? install(run, &request, why) : DONE;
    return code == DONE ? run_one(&run->sim, &request, why) : code;
}

/* ---- results --------------------------------------------------------------------------------- */

/* An average is a sum and a count; all others are a number. */
static struct answer_text answer_text(const struct esp_run *run, uint64_t high, uint64_t number,
                                      uint64_t count)
{
    struct answer_text t;
    if (run->job->request.kind != LEAT_ESP_SERVICE_AVERAGE || !count) {
        snprintf(t.text, sizeof t.text, "%" PRIu64, number);
        return t;
    }
    uint64_t rest;
    const uint64_t average = leat_esp_part_average(high, number, (uint32_t)count, &rest);
    snprintf(t.text, sizeof t.text, "%" PRIu64 ".%06" PRIu64, average, rest * 1000000 / count);
    return t;
}

static struct answer_text true_text(const struct esp_run *run)
{
    return answer_text(run, run->truth_high, run->truth, run->sim.config.members);
}

static struct answer_text esp_text(const struct esp_run *run)
{
    const struct leat_esp_service_result *r = &run->sim.service.result;
    if (r->end == LEAT_ESP_ANSWERED) return answer_text(run, r->answer_high, r->answer, r->counted);
    return (struct answer_text){ "null" };
}

/* One kind of packets: two members, and a line. */
static void put_traffic(struct leat_sim_esp_traffic t, const char *key, const char *key_max,
                        const char *what, struct leat_json *j, FILE *text)
{
    leat_json_uint(j, key, t.packets);
    if (key_max) leat_json_uint(j, key_max, t.per_link_max);
    text_print(text, "  %-14s %20" PRIu64 "  over links, at most %" PRIu64 " over one\n", what,
               t.packets, t.per_link_max);
}

static void put_result(const struct esp_run *run)
{
    const struct leat_sim_esp *s = &run->sim;
    const struct leat_esp_service_result *r = &s->service.result;
    const uint64_t certificate = leat_sim_certificate_value(&s->certificate);
    const leat_time took = r->ended_at - r->began_at;
    FILE *text = run->job->json ? NULL : stdout;
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    leat_json_string(j, "service", run->job->service);
    leat_json_uint(j, "members", r->members);
    leat_json_uint(j, "routers", s->config.graph.routers);
    leat_json_number(j, "true_answer", true_text(run).text);
    leat_json_number(j, "esp_answer", esp_text(run).text);
    leat_json_bool(j, "right", is_right(run));
    esp_result_json(j, r);
    json_fixed(j, "seconds", (double)took / 1e12, 6);
    text_print(text, "%s of %u members over %u routers\n", run->job->service, r->members,
               s->config.graph.routers);
    if (r->end == LEAT_ESP_ANSWERED)
        text_print(text, "  %-14s %20s  %s\n", "answer", esp_text(run).text,
                   is_right(run) ? "right" : "wrong");
    else
        text_print(text, "  %-14s %20s  %s\n", "answer", "none", esp_end_name(r->end));
    text_print(text, "  %-14s %20s\n", "truth", true_text(run).text);
    text_print(text, "  %-14s %20u  the last with %u rounds, %u void\n", "attempts", r->attempts,
               r->rounds, r->voids);
    text_print(text, "  %-14s %20s\n", "time", duration_text(took / us * us));
    put_traffic(leat_sim_esp_instructions(s), "packets", "packets_per_link_max", "packets", j,
                text);
    put_traffic(leat_sim_esp_messages(s), "announce_packets", "announce_per_link_max",
                "announcements", j, text);
    put_traffic(leat_sim_esp_unicast(s), "unicast_packets", "unicast_per_link_max", "unicast", j,
                text);
    if (run->job->multicast) {
        leat_json_uint(j, "duplicates", run->duplicates);
        text_print(text, "  %-14s %20" PRIu64 "  at branch points\n", "duplicates",
                   run->duplicates);
        put_traffic(run->install, "install_packets", NULL, "to install", j, text);
    }
    LEAT_JSON_UINTS(j, { "executed", s->counts.executed }, { "aborted", s->counts.aborted },
                    { "store_full", s->counts.full }, { "lost", s->counts.lost },
                    { "duplicated", s->counts.duplicated }, { "reordered", s->counts.reordered });
    json_certificate(j, "certificate", certificate);
    text_print(text, "  %-14s     %016" PRIx64 "\n", "certificate", certificate);
    json_close(&out, esp_end_status(r->end));
}

/* ---- a tree ---------------------------------------------------------------------------------- */

/* Routers are identified by the source of their answers: the number of their entity. */
static void put_node(void *context, uint32_t node, struct leat_text *out)
{
    const struct leat_sim_esp *s = context;
    leat_text_puts(out, node ? "router " : "root");
    if (node) leat_text_decimal(out, leat_sim_esp_router_of(&s->service.map.node[node].address));
}

static void put_member(void *context, uint32_t member, struct leat_text *out)
{
    (void)context;
    leat_text_puts(out, "member ");
    leat_text_decimal(out, member);
}

static bool put_tree(struct esp_run *run, const char *path, bool is_dot)
{
    const struct esp_tree tree = { .map = &run->sim.service.map,
                                   .roster = &run->sim.service.roster,
                                   .context = &run->sim,
                                   .put_node = put_node,
                                   .put_member = put_member };
    return esp_tree_write(&tree, path, is_dot);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int show(struct esp_run *run)
{
    const struct leat_esp_service_result *r = &run->sim.service.result;
    const bool is_tree = run->job->request.kind == LEAT_ESP_SERVICE_TREE;
    if (is_tree && run->job->dot && !put_tree(run, run->job->dot, true)) return FAILED;
    put_result(run);
    if (!flush_printed()) return FAILED;
    if (is_tree && !run->job->json && !put_tree(run, NULL, false)) return FAILED;
    if (r->end == LEAT_ESP_ANSWERED) return DONE;
    if (is_tree)
        complain("no whole tree: the route of %u of %u members is not known", r->unplaced,
                 r->members);
    else if (r->end == LEAT_ESP_VOID)
        complain("no answer: %u of %u attempts were void, the last among them; %" PRIu64
                 " packets came with E, %" PRIu64 " instructions found their store full",
                 r->voids, r->attempts, r->errors, run->sim.counts.full);
    else if (!r->received)
        complain("no answer in time: nothing came from %u members in %u attempts", r->members,
                 r->attempts);
    else
        complain("no answer in time: %u of %u branches at the root are missing in the last of %u "
                 "attempts, %" PRIu64 " packets came with E",
                 r->branches_missing, r->branches, r->attempts, r->errors);
    return FAILED;
}

int esp_simulate(const struct arguments *args)
{
    struct esp_job job;
    struct esp_run run = { .job = &job };
    int code = WRONG;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    const char *dot = argument(args, "--dot"), *record = argument(args, "--record");
    struct result_name names[2];
    size_t count = 0;
    if (dot) names[count++] = (struct result_name){ "--dot", dot };
    if (record) names[count++] = (struct result_name){ "--record", record };
    if (esp_read_job(args, &job) &&
        (!count || result_names_apart(args->verb, names, count, argument(args, "--values")))) {
        code = open_run(&run, &why);
        if (code == DONE && record &&
            !esp_record_open(record, argument(args, "--fabric"), &run.sim))
            code = FAILED;
        if (code == DONE) code = run_all(&run, &why);
        if (!esp_record_close(code == DONE)) code = FAILED;
        if (code == DONE && !interrupted) code = show(&run);
    }
    free(run.memory);
    esp_job_free(&job);
    return finish(code);
}
