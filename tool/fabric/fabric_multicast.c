/*
 * leat fabric show FABRIC --multicast PORTS: the tree by which switches carry a cell to some ports,
 * and where they copy it. Bus matrices do so by the entries of a multicast group in their tables;
 * others along the first shortest route to each switch, breadth first; in lattices the trees of
 * --calls are the same.
 */
#include "fabric.h"
#include "fabric_atm.h"
#include "json_out.h"
#include "number.h"
#include <stdlib.h>
#include <string.h>

/* A line of the tree: from a switch to a switch or a port. */
struct branch {
    uint32_t from, to, label; /* label: on this line */
    bool to_port;
};

struct tree {
    const char *name;
    bool has_labels;
    uint32_t source, ports;
    bool *member;
    uint32_t members;
    struct branch *branch; /* in order of its switches, breadth first */
    uint32_t branches, first_label;
    uint64_t alone; /* lines behind the first switch of a cell to each port alone, summed */
    uint32_t root;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool read_port(const struct verb *verb, const char **rest, uint32_t ports, uint32_t *out)
{
    char *end;
    const unsigned long port = strtoul(*rest, &end, 10);
    if (end == *rest || **rest == '-' || **rest == '+' || port >= ports)
        return misused(verb, "--multicast: port '%.*s', expected 0 to %u", (int)strcspn(*rest, ","),
                       *rest, ports - 1);
    *rest = end;
    *out = (uint32_t)port;
    return true;
}

/* "1,5,7-9" */
static bool read_members(const struct verb *verb, const char *text, struct tree *t)
{
    for (const char *rest = text;; rest++) {
        uint32_t first, last;
        if (!read_port(verb, &rest, t->ports, &first)) return false;
        last = first;
        if (*rest == '-') {
            rest++;
            if (!read_port(verb, &rest, t->ports, &last)) return false;
        }
        if (last < first || (*rest && *rest != ','))
            return misused(verb, "--multicast '%s', expected ports as in 1,5,7-9", text);
        for (uint32_t p = first; p <= last; p++) {
            if (t->member[p])
                return misused(verb, "--multicast: port %u twice, expected it once", p);
            t->member[p] = true;
            t->members++;
        }
        if (!*rest) return true;
    }
}

/* ---- bus matrices ---------------------------------------------------------------------------- */

static void add(struct tree *t, struct branch b)
{
    t->branch[t->branches++] = b;
}

/* What the entry for a label at a PPD adds; the labels of the next stage are at most those. */
static void grow_clos(struct tree *t, const struct leat_atm_clos *net, uint32_t ppd, uint32_t label,
                      const uint64_t *members)
{
    const struct leat_atm_clos_place place = leat_atm_clos_ppd_place(net, ppd);
    const struct leat_atm_clos_stage *stage = &net->stage[place.stage];
    struct leat_atm_route route;
    leat_atm_clos_group_route(net, ppd, label, members, &route);
    for (uint32_t u = 0; u < stage->outputs; u++) {
        if (!(route.select >> u & 1)) continue;
        const uint32_t spd = stage->spd_first + stage->outputs * place.unit + u;
        const uint32_t next = leat_atm_clos_link(net, spd);
        struct branch b = { .from = stage->switch_first + place.unit, .label = route.label };
        b.to_port = next == LEAT_ATM_CLOS_NONE;
        if (b.to_port) {
            b.to = spd - leat_atm_clos_output_spd(net, 0);
        } else {
            const struct leat_atm_clos_place to = leat_atm_clos_ppd_place(net, next);
            b.to = net->stage[to.stage].switch_first + to.unit;
        }
        add(t, b);
        if (!b.to_port) grow_clos(t, net, next, route.label, members);
    }
}

static bool grow_bus_matrices(const struct arguments *args, struct tree *t,
                              const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_atm_clos *net = &fabric->net;
    uint64_t members[(64 * 64 + 63) / 64] = { 0 };
    if (!leat_atm_clos_groups(net))
        return misused(args->verb,
                       "show: --multicast: no labels are left in the tables of %s for "
                       "a group, expected more of them (/table, /switching=vc)",
                       t->name);
    for (uint32_t p = 0; p < t->ports; p++)
        if (t->member[p]) members[p / 64] |= UINT64_C(1) << p % 64;
    const uint32_t ppd = leat_atm_clos_input_ppd(net, t->source);
    t->has_labels = true;
    t->first_label = leat_atm_clos_access(net, net->ports + 1, 0);
    t->root = leat_atm_clos_ppd_place(net, ppd).unit;
    t->alone = (uint64_t)net->stages * t->members;
    grow_clos(t, net, ppd, t->first_label, members);
    return true;
}

/* ---- any topology ---------------------------------------------------------------------------- */

/* The output port that each router is reached by first, and how many wires from the root it is. */
struct reach {
    uint32_t by, wires;
};

static void reach_all(const struct leat_net_topology *n, uint32_t root, struct reach *reach,
                      uint32_t *queue)
{
    uint32_t first = 0, count = 1;
    for (uint32_t r = 0; r < n->routers; r++)
        reach[r].by = LEAT_NET_NONE;
    queue[0] = root;
    for (; first < count; first++)
        for (uint32_t o = n->out_first[queue[first]]; o < n->out_first[queue[first] + 1]; o++) {
            const uint32_t to = leat_net_behind(n, o);
            if (to == LEAT_NET_NONE || to == root || reach[to].by != LEAT_NET_NONE) continue;
            reach[to] = (struct reach){ o, reach[queue[first]].wires + 1 };
            queue[count++] = to;
        }
}

static void mark_route(struct tree *t, const struct leat_net_topology *n, uint32_t port,
                       const struct reach *reach, bool *used)
{
    uint32_t at = n->out_router[n->terminal_out[port]];
    used[n->terminal_out[port]] = true;
    t->alone += reach[at].wires + 1;
    for (; at != t->root; at = n->out_router[reach[at].by])
        used[reach[at].by] = true;
}

/* All wires of the tree, from the root on. */
static void collect(struct tree *t, const struct leat_net_topology *n, bool *used, uint32_t *queue)
{
    uint32_t first = 0, count = 1;
    for (queue[0] = t->root; first < count; first++)
        for (uint32_t o = n->out_first[queue[first]]; o < n->out_first[queue[first] + 1]; o++) {
            if (!used[o]) continue;
            const uint32_t to = n->out_to[o];
            const bool to_port = to & LEAT_NET_TERMINAL;
            used[o] = false;
            add(t, (struct branch){ .from = queue[first],
                                    .to = to_port ? to & ~LEAT_NET_TERMINAL : n->in_router[to],
                                    .to_port = to_port });
            if (!to_port) queue[count++] = n->in_router[to];
        }
}

static bool grow_topology(struct tree *t, const struct leat_net_topology *n)
{
    struct reach *reach = calloc(n->routers, sizeof *reach);
    uint32_t *queue = calloc(n->routers, sizeof *queue);
    bool *used = calloc(n->outs, sizeof *used);
    const bool good = reach && queue && used;
    t->root = n->in_router[n->terminal_in[t->source]];
    if (good) reach_all(n, t->root, reach, queue);
    for (uint32_t p = 0; good && p < t->ports; p++)
        if (t->member[p]) mark_route(t, n, p, reach, used);
    if (good) collect(t, n, used, queue);
    free(reach);
    free(queue);
    free(used);
    return good || (complain("no memory for %u switches", n->routers), false);
}

/* ---- showing --------------------------------------------------------------------------------- */

struct totals {
    uint32_t switches, lines, copies; /* lines: all but that of the source */
};

static struct totals totals_of(const struct tree *t)
{
    struct totals n = { 1, t->branches, 0 };
    for (uint32_t i = 0; i < t->branches; i++) {
        n.switches += !t->branch[i].to_port;
        n.copies += i > 0 && t->branch[i].from == t->branch[i - 1].from;
    }
    return n;
}

static int compare_branches(const void *a, const void *b)
{
    const struct branch *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to_port != y->to_port) return x->to_port ? 1 : -1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void put_text(const struct tree *t)
{
    const struct totals n = totals_of(t);
    printf("%s: a cell from port %u to %u ports", t->name, t->source, t->members);
    if (t->has_labels) printf(", with label %u", t->first_label);
    printf("\n  port %u > switch %u\n", t->source, t->root);
    for (uint32_t i = 0; i < t->branches; i++) {
        const struct branch *b = &t->branch[i];
        if (!i || b->from != b[-1].from) printf("  switch %u >", b->from);
        printf(" %s%u", b->to_port ? "port " : "switch ", b->to);
        if (t->has_labels && !b->to_port) printf(" (label %u)", b->label);
        putchar(i + 1 < t->branches && b[1].from == b->from ? ',' : '\n');
    }
    printf("%u switches, %u lines behind the first switch, %u copies; as a cell for each port "
           "%llu lines\n",
           n.switches, n.lines, n.copies, (unsigned long long)t->alone);
}

static void put_json(const struct tree *t)
{
    const struct totals n = totals_of(t);
    struct json_out out;
    json_schema("leat.fabric.multicast/1");
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", t->name);
    leat_json_uint(j, "from", t->source);
    leat_json_array(j, "to_ports");
    for (uint32_t p = 0; p < t->ports; p++)
        if (t->member[p]) leat_json_uint(j, NULL, p);
    leat_json_end(j);
    LEAT_JSON_UINTS(j, { "switches", n.switches }, { "tree_lines", n.lines },
                    { "copies", n.copies }, { "lines_alone", t->alone });
    leat_json_array(j, "tree");
    for (uint32_t i = 0; i < t->branches; i++) {
        const struct branch *b = &t->branch[i];
        leat_json_break(j);
        leat_json_object(j, NULL);
        leat_json_uint(j, "at_switch", b->from);
        leat_json_uint(j, b->to_port ? "to_port" : "to_switch", b->to);
        if (t->has_labels) leat_json_uint(j, "label", b->label);
        leat_json_end(j);
    }
    leat_json_end(j);
    json_close(&out, json_status());
}

static int show(const struct arguments *args, struct tree *t, const struct leat_fabric_atm *atm)
{
    uint64_t source = 0;
    if (!number_take_within(args, "--from", 0, t->ports - 1, &source) ||
        !read_members(args->verb, argument(args, "--multicast"), t))
        return WRONG;
    t->source = (uint32_t)source;
    if (atm->fabric.graph ? !grow_topology(t, &atm->cells.built.topology)
                          : !grow_bus_matrices(args, t, &atm->fabric))
        return WRONG;
    qsort(t->branch, t->branches, sizeof *t->branch, compare_branches);
    (argument(args, "--json") ? put_json : put_text)(t);
    return DONE;
}

int fabric_show_multicast(const struct arguments *args, const struct leat_fabric_atm *atm)
{
    const struct leat_atm_clos *net = &atm->fabric.net;
    struct tree t = { .name = atm->base.name, .ports = net->ports };
    const uint32_t lines = atm->fabric.graph ? atm->cells.built.topology.outs : net->spd_count;
    const char *foreign = argument_in(args, "--vpi --path");
    if (foreign) return misuse(args->verb, "show: %s with --multicast, expected either", foreign);
    t.member = calloc(t.ports, sizeof *t.member);
    t.branch = calloc(lines, sizeof *t.branch);
    const int code = t.member && t.branch ? show(args, &t, atm)
                                          : (complain("no memory for %u ports", t.ports), FAILED);
    free(t.member);
    free(t.branch);
    return code;
}
