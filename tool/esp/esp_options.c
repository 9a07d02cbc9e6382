/* leat esp sim: reads the options. */
#include "esp_job.h"
#include "lines.h"
#include "number.h"
#include <stdlib.h>
#include <string.h>

enum {
    ATTEMPTS_DEFAULT = 8,
    BITS_DEFAULT = 24, /* one part, however many members */
    REPLIES = 1 << 16,
    SPARE_FLIGHTS = 1 << 16,
    ROUNDS_AT_A_TIME = 4, /* in flight from each member, copies included */
    OWN_GROUPS = 4,       /* of a store, for packets of one's own */
};

static const leat_time delay_default = 1000000000, tau_default = 10000000000000, us = 1000000;

static const struct service {
    const char *name;
    enum leat_esp_announced kind;
    bool robust;
} services[] = {
    { "census", LEAT_ESP_SERVICE_CENSUS, false },
    { "max", LEAT_ESP_SERVICE_MAX, false },
    { "min", LEAT_ESP_SERVICE_MIN, false },
    { "sum", LEAT_ESP_SERVICE_SUM, false },
    { "average", LEAT_ESP_SERVICE_AVERAGE, false },
    { "tree", LEAT_ESP_SERVICE_TREE, false },
    { "robust-census", LEAT_ESP_SERVICE_CENSUS, true },
    { "robust-sum", LEAT_ESP_SERVICE_SUM, true },
    { "robust-average", LEAT_ESP_SERVICE_AVERAGE, true },
};

const char *esp_find_service(const char *name, struct leat_esp_request *request)
{
    const struct service *s = services;
    while (strcmp(s->name, name) != 0)
        s++;
    request->kind = s->kind;
    request->robust = s->robust;
    return s->name;
}

static bool read_service(struct esp_job *job)
{
    const char *text = argument(job->args, "--service");
    if (!text) return misused(job->args->verb, "sim needs --service, one of " ESP_SERVICES);
    job->service = esp_find_service(text, &job->request);
    return true;
}

/* As a part of 2^64. */
static uint64_t chance_of(const struct esp_job *job, const char *option)
{
    const uint64_t one = 1000000000; /* 10^ESP_CHANCE_DECIMALS */
    uint32_t parts = 0;
    number_take_share(job->args, option, &parts);
    return parts == one ? LEAT_SIM_ESP_ALWAYS : UINT64_MAX / one * parts;
}

static bool read_links(struct esp_job *job)
{
    struct leat_sim_esp_config *c = &job->config;
    job->delay_ps = delay_default;
    c->tau_ps = tau_default;
    if (!number_take(job->args, "--delay", &job->delay_ps) ||
        !number_take(job->args, "--tau", &c->tau_ps))
        return false;
    c->access_ps = job->delay_ps;
    c->reorder_ps = ESP_REORDER_DELAYS * job->delay_ps;
    c->loss = chance_of(job, "--loss");
    c->duplicate = chance_of(job, "--duplicate");
    c->reorder = chance_of(job, "--reorder");
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

/* Round robin over the places. */
static bool place_members(struct esp_job *job)
{
    struct leat_sim_esp_config *c = &job->config;
    uint32_t *children = calloc(c->graph.routers, sizeof *children);
    job->member_at = calloc(c->members, sizeof *job->member_at);
    job->value = calloc(c->members, sizeof *job->value);
    if (!children || !job->member_at || !job->value) {
        free(children);
        return complain("no memory for %u members", c->members);
    }
    for (uint32_t i = 0; i < c->graph.wires; i++)
        if (++children[c->graph.wire[i].to] > job->most_routers) job->most_routers++;
    for (uint32_t m = 0; m < c->members; m++) {
        job->member_at[m] = job->place[m % job->places];
        children[job->member_at[m]]++;
    }
    for (uint32_t r = 0; r < c->graph.routers; r++)
        if (children[r] > job->most_children) job->most_children = children[r];
    free(children);
    c->member_at = job->member_at;
    c->value = job->value;
    return true;
}

static bool read_values(struct esp_job *job)
{
    const char *file = argument(job->args, "--values");
    const bool is_random = !file || strcmp(file, "random") == 0;
    uint32_t bits = is_random ? BITS_DEFAULT : LEAT_ESP_VALUE_BITS;
    if (!number_take_small(job->args, "--bits", &bits)) return false;
    job->request.value_bits = (uint8_t)bits;
    if (is_random) {
        struct leat_random r;
        leat_random_seed(&r, job->config.seed);
        for (uint32_t m = 0; m < job->config.members; m++)
            job->value[m] = leat_random_next(&r) & leat_esp_part_mask(bits);
        return true;
    }
    const struct lines_numbers values = { "value", "members", job->config.members, bits,
                                          job->value };
    return lines_read_numbers(file, &values);
}

static bool read_members(struct esp_job *job)
{
    struct leat_sim_esp_config *c = &job->config;
    c->members = job->places;
    if (!job->places) return complain("no place for members, expected at least one");
    return number_take_small(job->args, "--members", &c->members) &&
           number_take_small_within(job->args, "--at-router", 0, c->graph.routers - 1,
                                    &c->graph.root) &&
           place_members(job);
}

/* ---- the service ----------------------------------------------------------------------------- */

static bool read_request(struct esp_job *job)
{
    const struct leat_sim_esp_config *c = &job->config;
    const bool is_faulty = c->loss || c->duplicate || c->reorder;
    struct leat_esp_request *r = &job->request;
    r->rounds = r->robust || is_faulty ? LEAT_ESP_ROUNDS_DEFAULT : 1;
    const bool is_tree = r->kind == LEAT_ESP_SERVICE_TREE;
    r->attempts = (r->robust && is_faulty) || ((r->robust || is_tree) && esp_shards(job) > 1)
                      ? ATTEMPTS_DEFAULT
                      : 1;
    r->is_trusting = argument(job->args, "--trust") != NULL;
    if (esp_is_plain(job) && argument(job->args, "--rounds"))
        return misused(job->args->verb,
                       "--rounds for %s, expected robust-%s: COUNT and COLLECT count "
                       "every packet",
                       job->service, job->service);
    if (r->is_trusting && !r->robust)
        return misused(job->args->verb, "--trust for %s, expected a robust service", job->service);
    if (!number_take_small(job->args, "--rounds", &r->rounds) ||
        !number_take_small(job->args, "--attempts", &r->attempts))
        return false;
    r->shards = esp_shards(job);
    r->copies = is_faulty ? LEAT_ESP_ROUNDS_DEFAULT : 1;
    r->copies_max = LEAT_ESP_ANNOUNCEMENTS_MAX;
    r->rounds_max = argument(job->args, "--rounds") ? 0 : LEAT_ESP_ROUNDS_MAX;
    r->pace_ps = us;
    return true;
}

bool esp_read_places(const struct arguments *args, struct esp_job *job)
{
    struct leat_sim_esp_config *c = &job->config;
    *job = (struct esp_job){ .args = args, .config.seed = 1 };
    if (!number_take(args, "--seed", &c->seed) || !read_links(job) || !esp_make_network(job) ||
        !read_members(job))
        return false;
    c->groups = OWN_GROUPS;
    c->flights_max = SPARE_FLIGHTS + c->graph.routers + ROUNDS_AT_A_TIME * c->members;
    return true;
}

bool esp_read_job(const struct arguments *args, struct esp_job *job)
{
    *job = (struct esp_job){ .args = args, .config.seed = 1 };
    job->json = argument(args, "--json") != NULL;
    job->dot = argument(args, "--dot");
    job->multicast = argument(args, "--multicast") != NULL;
    if (args->operand_count > 1)
        return misused(args->verb, "'%s', expected nothing behind sim", args->operand[1]);
    if (!read_service(job) || !number_take(args, "--seed", &job->config.seed) || !read_links(job) ||
        !esp_make_network(job) || !read_members(job) || !read_values(job) || !read_request(job))
        return false;
    if (job->dot && job->request.kind != LEAT_ESP_SERVICE_TREE)
        return misused(args->verb, "--dot for %s, expected --service tree", job->service);
    struct leat_sim_esp_config *c = &job->config;
    c->flights_max = SPARE_FLIGHTS + c->graph.routers +
                     ROUNDS_AT_A_TIME * esp_parts(job) * c->members;
    c->has_duplicates = job->multicast;
    c->replies_max = esp_is_mapped(job) ? REPLIES : 0;
    return esp_size_stores(job);
}

void esp_job_free(struct esp_job *job)
{
    free(job->wire);
    free(job->place);
    free(job->member_at);
    free(job->value);
    free(job->groups_at);
}
