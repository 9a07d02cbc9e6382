/*
 * leat esp sim: the room in the simulated stores. A computation has one group of 256 bindings at a
 * router. Where a router has more children the members are divided among several computations
 * (shards); then each router's store is as large as its own children need.
 */
#include "esp_job.h"
#include <stdlib.h>

enum {
    GROUP_CHILDREN_MAX = 128,
    SHARD_CHILDREN = 16, /* so few that a group has room for all shards that chance gives it */
    COUNTERS = 4,        /* bindings of a computation besides those of children */
};

uint32_t esp_parts(const struct esp_job *job)
{
    struct leat_esp_part part[LEAT_ESP_PARTS_MAX];
    return leat_esp_part_plan(job->config.members, job->request.value_bits, part);
}

bool esp_is_plain(const struct esp_job *job)
{
    return !job->request.robust && (job->request.kind == LEAT_ESP_SERVICE_CENSUS ||
                                    job->request.kind == LEAT_ESP_SERVICE_SUM ||
                                    job->request.kind == LEAT_ESP_SERVICE_AVERAGE);
}

bool esp_is_mapped(const struct esp_job *job)
{
    return job->multicast || job->request.kind == LEAT_ESP_SERVICE_TREE;
}

uint32_t esp_shards(const struct esp_job *job)
{
    const bool is_sharded = job->request.robust || esp_is_mapped(job);
    if (!is_sharded || job->most_children <= GROUP_CHILDREN_MAX) return 1;
    /* Routers may be children in each of them, members in one only. */
    const bool has_routers = job->most_routers > GROUP_CHILDREN_MAX;
    return ((has_routers ? job->config.members : job->most_children) + SHARD_CHILDREN - 1) /
           SHARD_CHILDREN;
}

/* Half of the slots are used when all attempts are in the stores. */
static uint32_t groups_for(const struct esp_job *job, uint64_t bindings)
{
    const uint64_t attempts = job->request.attempts + (job->multicast ? 1u : 0);
    return leat_esp_groups_for(2 * bindings * esp_parts(job) * attempts);
}

/* What is below a router in the tree that the members' packets go up. */
struct below {
    uint32_t own;     /* its own members */
    uint32_t members; /* all */
    uint32_t routers; /* children that have members below them */
    uint32_t pending; /* children that have not been added */
};

static uint64_t bindings_of(const struct below *b, uint64_t shards)
{
    const uint64_t deeper = b->members - b->own, in_all = b->routers * shards;
    const uint64_t computations = shards < b->members ? shards : b->members;
    return b->own + (in_all < deeper ? in_all : deeper) + COUNTERS * computations;
}

/* Adds each router to the one above it, once all below it have been added. */
static void add_up(const struct esp_job *job, const struct leat_sim_esp_paths *paths,
                   struct below *below, uint32_t *ready)
{
    const struct leat_sim_esp_graph *g = &job->config.graph;
    uint32_t count = 0;
    for (uint32_t m = 0; m < job->config.members; m++)
        below[job->member_at[m]].own++;
    for (uint32_t r = 0; r < g->routers; r++)
        if (paths->up[r] != LEAT_SIM_ESP_NONE) below[g->wire[paths->up[r]].to].pending++;
    for (uint32_t r = 0; r < g->routers; r++)
        if (!below[r].pending) ready[count++] = r;
    while (count) {
        const uint32_t r = ready[--count], up = paths->up[r];
        below[r].members += below[r].own;
        if (up == LEAT_SIM_ESP_NONE) continue;
        struct below *above = &below[g->wire[up].to];
        above->members += below[r].members;
        above->routers += below[r].members != 0;
        if (!--above->pending) ready[count++] = g->wire[up].to;
    }
}

static bool size_each(struct esp_job *job)
{
    const struct leat_sim_esp_graph *g = &job->config.graph;
    struct leat_text why = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    struct leat_sim_esp_paths paths;
    void *memory = malloc(leat_sim_esp_paths_footprint(g));
    struct below *below = calloc(g->routers, sizeof *below);
    job->groups_at = calloc(g->routers, sizeof *job->groups_at);
    const bool has_room = memory && below && job->groups_at;
    /* A graph that is not valid is refused later, with the reason. */
    if (has_room && !leat_sim_esp_paths_find(&paths, g, memory, &why)) {
        add_up(job, &paths, below, job->groups_at);
        for (uint32_t r = 0; r < g->routers; r++)
            job->groups_at[r] = groups_for(job, bindings_of(&below[r], esp_shards(job)));
        job->config.groups_at = job->groups_at;
    }
    free(memory);
    free(below);
    return has_room || complain("no memory for %u routers", g->routers);
}

bool esp_size_stores(struct esp_job *job)
{
    /* One binding for each child and three more, in one group. */
    const uint64_t bindings = esp_is_plain(job) ? COUNTERS : job->most_children + 3u;
    job->config.groups = groups_for(job, bindings);
    return esp_shards(job) == 1 || size_each(job);
}
