/* leat fabric show|check of networks: structure, distances, routes, and deadlock analysis. */
#include "fabric.h"
#include "fabric_atm.h"
#include "fabric_draw.h"
#include "fabric_flits.h"
#include "fabric_labels.h"
#include "json_out.h"
#include "result_file.h"
#include "sim_atm_cost.h"
#include <inttypes.h>
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DISTANCES_ROUTERS_MAX = 4096, /* more would take too long, since all pairs are computed */
    ROUTE_MAX = 4096,             /* routers of a route that are shown */
    WHY_CAP = 512,
    CYCLE_CAP = 2048, /* characters of a cycle of LEAT_NET_DEADLOCK_CYCLE_MAX wires */
};

/* Distances between terminals, in routers passed. */
struct distances {
    bool known;
    uint32_t most;
    double mean; /* over all pairs, a terminal to itself included */
};

struct view {
    const char *name;
    bool has_cells; /* instead of flits */
    const struct leat_fabric_design *design;
    const struct leat_fabric_built *built;
    struct distances distances;
    bool has_pair; /* --path: from src to dst */
    uint32_t src, dst;
    const struct leat_sim_atm_labels *labels; /* --vpi; else NULL */
    const struct leat_sim_atm_graph *graph;   /* of cells; else NULL */
};

/* ---- measuring ------------------------------------------------------------------------------- */

static bool measure(const struct leat_net_topology *t, struct distances *out)
{
    uint32_t *distance = calloc(4 * (size_t)t->routers, sizeof *distance);
    if (!distance) return complain("no memory");
    uint32_t *scratch = distance + t->routers;
    uint32_t *senders = scratch + t->routers, *receivers = senders + t->routers; /* at a router */
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->terminals; i++) {
        senders[t->in_router[t->terminal_in[i]]]++;
        receivers[t->out_router[t->terminal_out[i]]]++;
    }
    for (uint32_t from = 0; from < t->routers && !interrupted; from++) {
        if (!senders[from]) continue;
        leat_net_topology_distances(t, from, distance, scratch);
        for (uint32_t to = 0; to < t->routers; to++) {
            if (!receivers[to]) continue;
            const uint32_t passed = 1 + distance[to];
            sum += (uint64_t)passed * senders[from] * receivers[to];
            if (passed > out->most) out->most = passed;
        }
    }
    out->known = !interrupted;
    out->mean = (double)sum / t->terminals / t->terminals;
    free(distance);
    return true;
}

/* Follows the first options of a packet with this salt. Returns the routers passed; 0: no route. */
static uint32_t follow(const struct view *v, uint64_t salt, uint32_t *router, uint32_t cap)
{
    const struct leat_net_topology *t = &v->built->topology;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    uint32_t at = t->in_router[t->terminal_in[v->src]], passed = 0;
    leat_net_route_begin(v->built->routing, v->src, v->dst, salt, &route);
    while (passed < cap) {
        router[passed++] = at;
        if (!leat_net_route_options(v->built->routing, at, &route, option)) return 0;
        route.phase = option[0].phase;
        const uint32_t to = t->out_to[t->out_first[at] + option[0].port];
        if (to & LEAT_NET_TERMINAL) return to == (LEAT_NET_TERMINAL | v->dst) ? passed : 0;
        at = t->in_router[to];
    }
    return 0;
}

/* ---- what they cost -------------------------------------------------------------------------- */

void fabric_put_cost(const struct leat_net_cost *cost, const char *units, const char *cycle)
{
    printf("%" PRIu64 " crosspoints, buffers of %" PRIu64 " %s, %" PRIu64
           " wires; the busiest memory moves %u %s in %s\n",
           cost->crosspoints, cost->buffer_flits, units, cost->wires, cost->memory_flits, units,
           cycle);
}

void fabric_cost_json(struct leat_json *j, const struct leat_net_cost *cost, const char *units)
{
    char room[32], memory[32];
    snprintf(room, sizeof room, "room_%s", units);
    snprintf(memory, sizeof memory, "memory_%s", units);
    leat_json_object(j, "cost");
    LEAT_JSON_UINTS(j, { "crosspoints", cost->crosspoints }, { room, cost->buffer_flits },
                    { "wires", cost->wires }, { memory, cost->memory_flits });
    leat_json_end(j);
}

/* ---- people --------------------------------------------------------------------------------- */

static void put_switches(const struct view *v)
{
    const struct leat_net_config *c = &v->design->plan.net;
    const char *flits = v->has_cells ? "cells" : "flits";
    const char *cycles = v->has_cells ? "cell times" : "cycles";
    printf("switches    %s", leat_net_switch_name(c->architecture));
    if (c->architecture == LEAT_NET_SWITCH_VC)
        printf(", %u virtual channels of %u %s, %s", c->channels, c->buffer_flits, flits,
               leat_net_flow_name(c->flow));
    else
        printf(", buffers of %u %s", c->buffer_flits, flits);
    printf(", %s when full, %u %s in a router\n", c->drop ? "drop" : "wait", c->pipeline, cycles);
    struct leat_net_cost cost;
    leat_net_cost(&v->built->topology, c, &cost);
    printf("cost        ");
    fabric_put_cost(&cost, flits, v->has_cells ? "a cell time" : "a cycle");
}

static const struct leat_atm_line *line_of(const struct view *v)
{
    return v->graph ? v->graph->line : NULL;
}

static double cell_cycles(const struct view *v)
{
    struct leat_sim_clock slot = { 0, 1 };
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    leat_sim_atm_line_slot(line_of(v), &v->design->plan.clock, &slot, &why);
    return (double)slot.num / (double)slot.den;
}

static void put_line(const struct view *v)
{
    const struct leat_atm_line *line = line_of(v);
    if (!line) return;
    printf("line        %s, %s: %.6g Mb/s, %.2f %% overhead, %.1f cells/s\n", line->name,
           line->summary, (double)line->bits_per_s / 1e6, leat_atm_line_overhead_ppm(line) / 1e4,
           (double)line->cells_num / (double)line->cells_den);
    printf("cell time   %.6g cycles; frames delay a cell by up to %.3f us more, which slots leave "
           "out\n",
           cell_cycles(v), (double)leat_atm_line_framing_ps(line) / 1e6);
}

static void put_line_json(struct leat_json *j, const struct view *v)
{
    const struct leat_atm_line *line = line_of(v);
    if (!line) return;
    leat_json_string(j, "physical_line", line->name);
    LEAT_JSON_UINTS(j, { "bits_per_second", line->bits_per_s },
                    { "cells_numerator", line->cells_num },
                    { "cells_denominator", line->cells_den });
    leat_json_micro(j, "overhead_share", leat_atm_line_overhead_ppm(line));
    json_general(j, "cell_cycles", cell_cycles(v), 12);
    leat_json_micro(j, "framing_delay_us", leat_atm_line_framing_ps(line));
}

static void put_deadlock(const struct view *v)
{
    const struct leat_net_deadlock *d = &v->built->deadlock;
    if (!d->possible) {
        printf("deadlock    none: %llu dependencies of %llu channels have no cycle%s\n",
               (unsigned long long)d->dependencies, (unsigned long long)d->channels,
               d->smaller ? " (in a smaller one of its kind)" : "");
        return;
    }
    struct leat_text cycle = LEAT_TEXT(CYCLE_CAP);
    leat_net_deadlock_text(d, &cycle);
    printf("deadlock    %s: %.*s\n",
           v->design->plan.net.drop ? "none, since full buffers drop; else" : "possible",
           (int)cycle.len, cycle.buf);
}

static bool is_same_route(const uint32_t *a, uint32_t a_len, const uint32_t *b, uint32_t b_len)
{
    return a_len == b_len && memcmp(a, b, a_len * sizeof *a) == 0;
}

/* Packets of several salts; a route that several of them take is shown once. All cells of a pair
 * have one salt. */
static void put_routes(const struct view *v)
{
    enum { SALTS = 4 };
    static uint32_t router[SALTS][ROUTE_MAX];
    uint32_t passed[SALTS];
    uint64_t state = 0, salt = v->graph ? leat_sim_atm_route_random(v->graph, v->src, v->dst) : 0;
    for (int i = 0; i < (v->graph ? 1 : SALTS); i++) {
        passed[i] = follow(v, salt, router[i], ROUTE_MAX);
        salt = leat_random_splitmix(&state);
        int same = 0;
        while (same < i && !is_same_route(router[same], passed[same], router[i], passed[i]))
            same++;
        if (same < i) continue;
        printf("route       %u:", v->src);
        for (uint32_t r = 0; r < passed[i]; r++)
            printf(" %u", router[i][r]);
        printf(" :%u\n", v->dst);
    }
}

static void put_text(const struct view *v)
{
    const struct leat_net_topology *t = &v->built->topology;
    const char *kind = leat_net_shape_class(&v->design->plan.shape);
    printf("%s: %s\n", v->name,
           v->has_cells ? "an ATM fabric of switches in any topology"
                        : leat_fabric_kind_flits.what);
    printf("terminals   %u\n", t->terminals);
    printf("routers     %u, of up to %u ports\n", t->routers, t->radix);
    printf("wires       %u, each one way\n", t->wires);
    if (v->design->plan.shape.board)
        printf("boards      of %u routers along each dimension, %u cycles from one to another\n",
               v->design->plan.shape.board, v->design->plan.shape.board_cycles);
    if (kind) printf("class       %s\n", kind);
    if (v->distances.known)
        printf("distance    %.4g routers on average between terminals, at most %u\n",
               v->distances.mean, v->distances.most);
    put_line(v);
    put_switches(v);
    if (v->design->plan.esp.cycles)
        printf("ESP         %u cycles per instruction\n", v->design->plan.esp.cycles);
    printf("routing     %s\n", leat_net_rule_name(v->design->plan.routing.rule));
    put_deadlock(v);
    if (v->has_pair) put_routes(v);
    if (v->labels) fabric_labels_text(v->labels, v->has_pair, v->src, v->dst);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void put_json(const struct view *v)
{
    const struct leat_net_topology *t = &v->built->topology;
    const struct leat_net_config *c = &v->design->plan.net;
    const struct leat_net_deadlock *d = &v->built->deadlock;
    const char *kind = leat_net_shape_class(&v->design->plan.shape);
    struct leat_net_cost cost;
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    struct leat_text cycle = LEAT_TEXT(CYCLE_CAP);
    leat_net_deadlock_text(d, &cycle);
    leat_json_string(j, "fabric", v->name);
    leat_json_string(j, "topology", leat_net_kind_name(v->design->plan.shape.kind));
    LEAT_JSON_UINTS(j, { "terminals", t->terminals }, { "routers", t->routers },
                    { "wires", t->wires }, { "radix", t->radix });
    if (v->design->plan.shape.board) {
        leat_json_uint(j, "board", v->design->plan.shape.board);
        leat_json_uint(j, "board_wire", v->design->plan.shape.board_cycles);
    }
    if (kind) leat_json_string(j, "class", kind);
    if (v->distances.known) {
        json_fixed(j, "distance_mean", v->distances.mean, 6);
        leat_json_uint(j, "distance_max", v->distances.most);
    }
    put_line_json(j, v);
    leat_json_string(j, "switch", leat_net_switch_name(c->architecture));
    leat_json_uint(j, "vcs", c->channels);
    leat_json_uint(j, v->has_cells ? "buffer_cells" : "buffer_flits", c->buffer_flits);
    leat_json_string(j, "flow", leat_net_flow_name(c->flow));
    leat_json_string(j, "full", c->drop ? "drop" : "wait");
    leat_json_uint(j, "pipeline", c->pipeline);
    leat_net_cost(t, c, &cost);
    fabric_cost_json(j, &cost, v->has_cells ? "cells" : "flits");
    if (v->design->plan.esp.cycles) leat_json_uint(j, "esp", v->design->plan.esp.cycles);
    leat_json_string(j, "routing", leat_net_rule_name(v->design->plan.routing.rule));
    leat_json_object(j, "deadlock_check");
    leat_json_bool(j, "possible", d->possible);
    leat_json_bool(j, "smaller", d->smaller);
    leat_json_uint(j, "channels", d->channels);
    leat_json_uint(j, "dependencies", d->dependencies);
    leat_json_chars(j, "channel_cycle", cycle.buf, d->possible ? cycle.len : 0);
    leat_json_end(j);
    if (v->labels) fabric_labels_json(j, v->labels, v->has_pair, v->src, v->dst);
    json_close(&out, json_status());
}

/* ---- the command ---------------------------------------------------------------------------- */

static int show(const struct arguments *args, struct view *v)
{
    const struct leat_net_topology *t = &v->built->topology;
    const char *pair = argument(args, "--path");
    v->has_pair = pair;
    if (pair &&
        !fabric_read_pair(args->verb, pair, "terminal", t->terminals, false, &v->src, &v->dst))
        return WRONG;
    if (t->routers <= DISTANCES_ROUTERS_MAX && !measure(t, &v->distances)) return FAILED;
    (argument(args, "--json") ? put_json : put_text)(v);
    return DONE;
}

int fabric_show_flits(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_flits *n = leat_fabric_as_flits(fabric);
    struct view v = { .name = fabric->name, .design = &n->design, .built = &n->built };
    struct leat_fabric_error error;
    if (argument(args, "--vpi"))
        return misuse(args->verb, "show: --vpi, expected an ATM fabric: others have no VPI");
    if (argument_in(args, "--multicast --from"))
        return misuse(args->verb, "show: %s, expected an ATM fabric, as in %s/cells",
                      argument_in(args, "--multicast --from"), fabric->word);
    if (leat_fabric_build(&n->design, &n->built, &error)) return show(args, &v);
    fabric_refused(args->verb, fabric->word, &error);
    return WRONG;
}

int fabric_show_cells(const struct arguments *args, const struct leat_fabric_atm *atm)
{
    struct view v = { .name = atm->base.name,
                      .has_cells = true,
                      .graph = atm->fabric.graph,
                      .design = &atm->cells.design,
                      .built = &atm->cells.built };
    struct fabric_labels labels = { .memory = NULL };
    int code = WRONG;
    if (!argument(args, "--vpi")) return show(args, &v);
    v.labels = &labels.labels;
    if (fabric_labels_make(atm->base.name, atm->fabric.graph, &labels)) code = show(args, &v);
    free(labels.memory);
    return code;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static int draw_to(const struct arguments *args, const struct leat_net_topology *t)
{
    static struct result_file file; /* large */
    const struct result_name names[] = { { "-o", argument(args, "-o") } };
    if (!result_names_apart(args->verb, names, 1, NULL)) return WRONG;
    if (!result_file_open(&file, names[0].path)) return FAILED;
    leat_text_puts(&file.out.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    fabric_draw(t, NULL, &file.out.text);
    return result_file_close(&file, true) ? DONE : FAILED;
}

int fabric_draw_any(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_net_topology t;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    void *memory = fabric_topology(fabric, &t, &why);
    int code = WRONG;
    if (memory && fabric_draw_fits(&t, &why))
        code = draw_to(args, &t);
    else
        complain("%s: %.*s", fabric->word, (int)why.len, why.buf);
    free(memory);
    return code;
}
