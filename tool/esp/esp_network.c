/* leat esp sim: the routers, from a tree, a file of edges or the name of a fabric. */
#include "esp_job.h"
#include "fabric.h"
#include "fabric_flits.h"
#include "leat_tree.h"
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 32, FANOUT_MAX = 1024 };

static bool no_memory(void)
{
    return complain("no memory for the routers");
}

/* "DEPTH,FANOUT" */
static bool read_tree(const struct esp_job *job, const char *text, uint64_t *levels,
                      uint64_t *fanout)
{
    const size_t len = strcspn(text, ",");
    if (text[len] && leat_tree_number(text, len, levels) && *levels >= 1 && *levels <= LEVELS_MAX &&
        leat_tree_number(text + len + 1, strlen(text + len + 1), fanout) && *fanout >= 1 &&
        *fanout <= FANOUT_MAX)
        return true;
    return misused(
        job->args->verb,
        "--tree '%s', expected LEVELS,FANOUT: levels of routers, 1 to %d, and routers below "
        "each, 1 to %d",
        text, LEVELS_MAX, FANOUT_MAX);
}

/* Router 0 at the top, then level by level; the places of members are the routers of the last
 * level. */
static bool make_tree(struct esp_job *job, const char *text)
{
    struct leat_sim_esp_graph *g = &job->config.graph;
    uint64_t levels, fanout, routers = 0, width = 1, first_leaf = 0;
    if (!read_tree(job, text, &levels, &fanout)) return false;
    for (uint64_t level = 0; level < levels; level++, width *= fanout) {
        first_leaf = routers;
        routers += width;
        if (routers <= LEAT_SIM_ESP_ROUTERS_MAX) continue;
        return misused(job->args->verb, "--tree %s has too many routers, expected at most %d", text,
                       LEAT_SIM_ESP_ROUTERS_MAX);
    }
    g->routers = (uint32_t)routers;
    g->wires = 2 * (g->routers - 1);
    job->places = (uint32_t)(routers - first_leaf);
    job->wire = calloc(g->wires + 1, sizeof *job->wire);
    job->place = calloc(job->places, sizeof *job->place);
    if (!job->wire || !job->place) return no_memory();
    for (uint32_t r = 1; r < g->routers; r++) {
        const uint32_t above = (r - 1) / (uint32_t)fanout;
        job->wire[2 * (r - 1)] = (struct leat_sim_esp_wire){ r, above, job->delay_ps };
        job->wire[2 * (r - 1) + 1] = (struct leat_sim_esp_wire){ above, r, job->delay_ps };
    }
    for (uint32_t i = 0; i < job->places; i++)
        job->place[i] = (uint32_t)first_leaf + i;
    return true;
}

/* A wire of n cycles has n delays; the places of members are the terminals. */
static bool take_topology(struct esp_job *job, const struct leat_net_topology *t)
{
    struct leat_sim_esp_graph *g = &job->config.graph;
    g->routers = t->routers;
    job->places = t->terminals;
    job->wire = calloc((size_t)t->outs + 1, sizeof *job->wire);
    job->place = calloc((size_t)t->terminals + 1, sizeof *job->place);
    if (!job->wire || !job->place) return no_memory();
    for (uint32_t out = 0; out < t->outs; out++) {
        const uint32_t behind = leat_net_behind(t, out);
        if (behind == LEAT_NET_NONE) continue;
        job->wire[g->wires++] = (struct leat_sim_esp_wire){ t->out_router[out], behind,
                                                            t->out_cycles[out] * job->delay_ps };
    }
    for (uint32_t i = 0; i < t->terminals; i++)
        job->place[i] = t->in_router[t->terminal_in[i]];
    return true;
}

static bool build_graph(struct esp_job *job, const char *word,
                        const struct leat_fabric_design *design)
{
    struct leat_fabric_built built;
    struct leat_fabric_error error;
    const bool built_it = leat_fabric_build_topology(design, &built, &error);
    const bool made = built_it ? take_topology(job, &built.topology)
                               : fabric_refused(job->args->verb, word, &error);
    leat_fabric_built_free(&built);
    return made;
}

static bool make_edges(struct esp_job *job, const char *file)
{
    struct leat_fabric_design design;
    struct leat_fabric_error error;
    const bool made = leat_fabric_graph_read(file, NULL, &design, &error)
                          ? build_graph(job, file, &design)
                          : fabric_refused(job->args->verb, file, &error);
    leat_fabric_design_free(&design);
    return made;
}

static bool make_fabric(struct esp_job *job, const char *word)
{
    const struct leat_fabric_kind *kind = leat_fabric_kind_of(word);
    if (kind != &leat_fabric_kind_flits)
        return misused(
            job->args->verb,
            "--fabric '%s', expected a network of leat fabric list, as mesh:4,4 or a file of "
            "edges or YAML",
            word);
    struct leat_fabric *fabric = fabric_read(job->args->verb, word);
    const bool made = fabric && build_graph(job, word, &leat_fabric_as_flits(fabric)->design);
    leat_fabric_close(fabric);
    return made;
}

bool esp_make_network(struct esp_job *job)
{
    const char *tree = argument(job->args, "--tree"), *file = argument(job->args, "--graph");
    const char *fabric = argument(job->args, "--fabric");
    if (!!tree + !!file + !!fabric != 1)
        return misused(job->args->verb,
                       "%s needs one of --tree D,F, --graph FILE and --fabric NAME",
                       job->args->operand[0]);
    const bool made = tree   ? make_tree(job, tree)
                      : file ? make_edges(job, file)
                             : make_fabric(job, fabric);
    job->config.graph.wire = job->wire;
    return made;
}
