/*
 * leat atm ping: where cells are lost. A loopback cell is sent over each path to PORT and to ports
 * of other switches, and back over another one, while switches do not reroute. Everything on the
 * way of a cell that came back works. The fewest other wires, switches and ports explain the rest.
 */
#include "atm_ping.h"
#include "net_routing.h"
#include "sim.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 2,         /* of each test: a bit error takes one cell, a fault both */
    OTHERS_MAX = 8,    /* other switches whose ports are tested, of Clos networks */
    TARGETS_MAX = 256, /* ports that are tested */
    HOPS_MAX = 64,     /* switches that a cell passes */
    PARTS_MAX = 4 * HOPS_MAX,
};

/* A cell to a port and back, and all that it passes: wires by the output port that they leave, then
 * switches, then ports. */
struct test {
    uint32_t to, path, back;
    uint32_t parts, part[PARTS_MAX];
    bool answered, explained;
};

struct tests {
    const struct ping_job *job;
    struct test *test;
    uint32_t count, cap;
    uint32_t wires, switches, ports; /* of the network */
    uint8_t *works;                  /* [wires + switches + ports] */
};

static void pass(const struct tests *t, struct test *test, uint32_t part)
{
    (void)t;
    if (test->parts < PARTS_MAX) test->part[test->parts++] = part;
}

/* ---- ways ------------------------------------------------------------------------------------ */

static void pass_clos(const struct tests *t, uint32_t from, uint32_t to, uint32_t path,
                      struct test *test)
{
    const struct leat_atm_clos *net = &t->job->atm->fabric.net;
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    leat_atm_clos_path(net, from, to, path, false, hop);
    for (uint32_t i = 0; i < net->stages; i++) {
        const struct leat_atm_clos_place at = leat_atm_clos_spd_place(net, hop[i].spd);
        pass(t, test, t->wires + net->stage[at.stage].switch_first + at.unit);
        if (i + 1 < net->stages) pass(t, test, hop[i].spd);
    }
}

/* By the first options of the cells' routing, before anything is broken. */
static void pass_graph(const struct tests *t, uint32_t from, uint32_t to, struct test *test)
{
    const struct leat_sim_atm_graph *g = t->job->atm->fabric.graph;
    const struct leat_net_topology *net = g->topology;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    uint64_t random = g->seed ^ ((uint64_t)from << 32 | to);
    uint32_t at = net->in_router[net->terminal_in[from]];
    leat_net_route_begin(g->routing, from, to, leat_random_splitmix(&random), &route);
    for (uint32_t passed = 0; passed < HOPS_MAX; passed++) {
        pass(t, test, t->wires + at);
        if (!leat_net_route_options(g->routing, at, &route, option)) return;
        route.phase = option[0].phase;
        const uint32_t out = net->out_first[at] + option[0].port;
        if (net->out_to[out] & LEAT_NET_TERMINAL) return;
        pass(t, test, out);
        at = net->in_router[net->out_to[out]];
    }
}

static void add_test(struct tests *t, uint32_t to, uint32_t path, uint32_t back)
{
    const uint32_t from = t->job->from;
    if (t->count == t->cap) return;
    struct test *test = &t->test[t->count++];
    *test = (struct test){ .to = to, .path = path, .back = back };
    pass(t, test, t->wires + t->switches + from);
    pass(t, test, t->wires + t->switches + to);
    if (t->job->atm->fabric.graph) {
        pass_graph(t, from, to, test);
        pass_graph(t, to, from, test);
    } else {
        pass_clos(t, from, to, path, test);
        pass_clos(t, to, from, back, test);
    }
}

/* By each path there, and back by the same one and by the next. */
static void add_paths(struct tests *t, uint32_t to)
{
    const uint32_t paths = t->job->atm->fabric.net.paths;
    for (uint32_t path = 0; path < paths; path++) {
        add_test(t, to, path, path);
        if (paths > 1) add_test(t, to, path, (path + 1) % paths);
    }
}

/* PORT, the port beside it, and a port of some other switches; of other networks, many ports. */
static void add_all(struct tests *t)
{
    const struct leat_atm_clos *net = &t->job->atm->fabric.net;
    const bool clos = net->stages > 1;
    const uint32_t to = t->job->to, group = clos ? net->e : 1, groups = net->ports / group;
    const uint32_t most = clos ? OTHERS_MAX : TARGETS_MAX;
    const uint32_t step = (groups + most - 1) / most;
    add_paths(t, to);
    if (clos && net->e > 1) add_paths(t, to / net->e * net->e + (to + 1) % net->e);
    for (uint32_t i = 0; i < groups; i += step)
        if (i * group != to) add_paths(t, i * group);
}

/* ---- what explains it ------------------------------------------------------------------------ */

static bool has_part(const struct test *test, uint32_t part)
{
    for (uint32_t i = 0; i < test->parts; i++)
        if (test->part[i] == part) return true;
    return false;
}

/* The tests that failed, are not yet explained, and would be by this part. */
static uint32_t failed_with(const struct tests *t, uint32_t part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count; i++)
        count += !t->test[i].answered && !t->test[i].explained && has_part(&t->test[i], part);
    return count;
}

static void name_part(const struct tests *t, uint32_t part, char name[PING_NAME_CAP])
{
    char wire[LEAT_FABRIC_WIRE_CAP];
    if (part >= t->wires + t->switches) {
        snprintf(name, PING_NAME_CAP, "port %u", part - t->wires - t->switches);
    } else if (part >= t->wires) {
        snprintf(name, PING_NAME_CAP, "switch %u", part - t->wires);
    } else {
        leat_fabric_name_wire(t->job->wires, part, wire);
        snprintf(name, PING_NAME_CAP, "wire %.100s", wire);
    }
}

static void mark_explained(struct tests *t, uint32_t part)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (has_part(&t->test[i], part)) t->test[i].explained = true;
}

/* The parts that explain the most, all that do so alike. False: there is none. */
static bool explain_most(struct tests *t, struct ping_located *out)
{
    const uint32_t parts = t->wires + t->switches + t->ports;
    uint32_t most = 0;
    for (uint32_t part = 0; part < parts; part++)
        if (!t->works[part]) most = (uint32_t)leat_larger(most, failed_with(t, part));
    if (!most || out->places == PING_PLACES_MAX) return false;
    struct ping_place *place = &out->place[out->places++];
    *place = (struct ping_place){ .failed = most };
    uint32_t first = parts;
    for (uint32_t part = 0; part < parts; part++) {
        if (t->works[part] || failed_with(t, part) != most) continue;
        name_part(t, part, out->name[out->names++]);
        place->one_of++;
        t->works[part] = first != parts; /* all but one are settled with this place */
        if (first == parts) first = part;
    }
    mark_explained(t, first);
    return true;
}

static void conclude(struct tests *t, struct ping_located *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct test *test = &t->test[i];
        out->answered += test->answered;
        for (uint32_t k = 0; test->answered && k < test->parts; k++)
            t->works[test->part[k]] = true;
    }
    out->tests = t->count;
    while (explain_most(t, out)) {
    }
    for (uint32_t i = 0; i < t->count; i++)
        out->unexplained += !t->test[i].answered && !t->test[i].explained;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool send_tests(struct tests *t, struct leat_sim_atm_ping_request *request)
{
    uint64_t cycles;
    for (uint32_t i = 0; i < TRIES * t->count; i++) {
        const struct test *test = &t->test[i % t->count];
        request[i] = (struct leat_sim_atm_ping_request){ .to = test->to,
                                                         .path = test->path,
                                                         .back = test->back };
    }
    if (!ping_send(t->job, request, TRIES * t->count, true, NULL, &cycles)) return false;
    for (uint32_t i = 0; i < TRIES * t->count; i++)
        t->test[i % t->count].answered |= request[i].answered_at != LEAT_NEVER;
    return true;
}

bool ping_locate(const struct ping_job *job, struct ping_located *out)
{
    const struct leat_atm_clos *net = &job->atm->fabric.net;
    const struct leat_sim_atm_graph *g = job->atm->fabric.graph;
    struct tests t = { .job = job, .ports = net->ports };
    t.wires = g ? g->topology->outs : net->spd_count;
    t.switches = g ? g->topology->routers : net->switch_count;
    t.cap = net->stages > 1 ? 2 * net->paths * (OTHERS_MAX + 3) : TARGETS_MAX + 1;
    const size_t parts = t.wires + t.switches + (size_t)t.ports;
    *out = (struct ping_located){ .tests = 0 };
    t.test = sim_memory(t.cap * sizeof *t.test);
    t.works = sim_memory(parts);
    out->name = sim_memory(parts * sizeof *out->name);
    struct leat_sim_atm_ping_request *request = sim_memory(TRIES * t.cap * sizeof *request);
    bool good = t.test && t.works && out->name && request;
    if (good) add_all(&t);
    good = good && send_tests(&t, request);
    if (good) conclude(&t, out);
    free(t.test);
    free(t.works);
    free(request);
    return good;
}
