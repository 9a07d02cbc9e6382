/*
 * A fabric described in YAML:
 *
 *   topology: mesh            or any other kind; graph with edges
 *   size: [8, 8]              its numbers; one needs no list
 *   switch: vc                and every parameter of net_plan.h by its name
 *   edges:                    graphs: wires in both directions, or one_way
 *     - {a: 0, b: 1, cycles: 3, one_way: true}
 *   hosts: [0, 0, 1]          graphs: the router of each terminal
 *   table:                    routing: table
 *     - {at: 0, to: 2, by: 1}
 *
 * libcyaml reads it by the schema below. Before that, the file is checked against the same schema
 * as libyaml's tree (fabric_tree_parts.h), which reports errors with their place.
 */
#include "fabric_flits.h"
#include "fabric_word_parts.h"
#include "leat_near.h"
#include <stdlib.h>

#ifndef HAVE_CYAML

bool leat_fabric_read_yaml(const char *file, bool (*interrupted)(void),
                           struct leat_fabric_design *design, struct leat_fabric_error *error)
{
    (void)interrupted, (void)design;
    return leat_fabric_no_yaml(file, error);
}

#else

#include "fabric_tree_parts.h"
#include "leat_tree.h"

enum { FILE_LEN_MAX = 1 << 28, MESSAGE_CAP = 512, WORD_LEN_MAX = 64 };

/* ---- the schema ----------------------------------------------------------------------------- */

struct edge {
    uint32_t a, b, cycles;
    bool one_way;
};

struct entry {
    uint32_t at, to, by;
};

/* All parameters are strings here, including numbers: net_plan.h parses them. */
static const char *const parameters[] = { "switch", "vcs",        "buffer",    "flow",
                                          "full",   "routing",    "wire",      "pipeline",
                                          "credit", "iterations", "terminals", "clock",
                                          "board",  "board-wire", "esp" };
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

struct description {
    char *topology;
    uint32_t routers;
    struct edge *edges;
    unsigned edges_count;
    uint32_t *hosts;
    unsigned hosts_count;
    struct entry *table;
    unsigned table_count;
    char *parameter[PARAMETERS];
};

static const cyaml_schema_value_t number = { CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t) };

static const cyaml_schema_field_t edge_fields[] = {
    CYAML_FIELD_UINT("a", CYAML_FLAG_DEFAULT, struct edge, a),
    CYAML_FIELD_UINT("b", CYAML_FLAG_DEFAULT, struct edge, b),
    CYAML_FIELD_UINT("cycles", CYAML_FLAG_OPTIONAL, struct edge, cycles),
    CYAML_FIELD_BOOL("one_way", CYAML_FLAG_OPTIONAL, struct edge, one_way),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t edge_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT,
                                                                     struct edge, edge_fields) };

static const cyaml_schema_field_t entry_fields[] = {
    CYAML_FIELD_UINT("at", CYAML_FLAG_DEFAULT, struct entry, at),
    CYAML_FIELD_UINT("to", CYAML_FLAG_DEFAULT, struct entry, to),
    CYAML_FIELD_UINT("by", CYAML_FLAG_DEFAULT, struct entry, by),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t entry_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT,
                                                                      struct entry, entry_fields) };

#define WORD(key, member)                                                                     \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct description, \
                           member, 0, WORD_LEN_MAX)
#define LIST(key, member, value, least, most)                                               \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct description, \
                         member, &(value), least, most)

static const cyaml_schema_field_t fields[] = {
    WORD("topology", topology),
    CYAML_FIELD_IGNORE("size", CYAML_FLAG_OPTIONAL), /* a list or one number: take_size */
    CYAML_FIELD_UINT("routers", CYAML_FLAG_OPTIONAL, struct description, routers),
    LIST("edges", edges, edge_value, 0, LEAT_FABRIC_EDGES_MAX),
    LIST("hosts", hosts, number, 1, LEAT_NET_TERMINALS_MAX),
    LIST("table", table, entry_value, 0, LEAT_FABRIC_ENTRIES_MAX),
    WORD("switch", parameter[0]),
    WORD("vcs", parameter[1]),
    WORD("buffer", parameter[2]),
    WORD("flow", parameter[3]),
    WORD("full", parameter[4]),
    WORD("routing", parameter[5]),
    WORD("wire", parameter[6]),
    WORD("pipeline", parameter[7]),
    WORD("credit", parameter[8]),
    WORD("iterations", parameter[9]),
    WORD("terminals", parameter[10]),
    WORD("clock", parameter[11]),
    WORD("board", parameter[12]),
    WORD("board-wire", parameter[13]),
    WORD("esp", parameter[14]),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
                                                                 struct description, fields) };
static const cyaml_schema_value_t size_list = { CYAML_VALUE_SEQUENCE(
    CYAML_FLAG_POINTER, uint32_t, &number, 1, LEAT_NET_NUMBERS_MAX) };

/* ---- where things are ----------------------------------------------------------------------- */

struct reader {
    struct leat_fabric_tree tree;
    struct leat_fabric_design *design;
};

static yaml_node_t *value_of(struct reader *r, const char *key)
{
    return leat_fabric_tree_value(&r->tree, leat_fabric_tree_root(&r->tree), key);
}

/* From now on errors refer to the line of this key, or of an entry of its list; unchanged if there
 * is no such key. */
static void stand_at(struct reader *r, const char *key, uint32_t index)
{
    const yaml_node_t *node = value_of(r, key),
                      *entry = leat_fabric_tree_entry(&r->tree, node, index);
    if (node) r->tree.place.line = leat_fabric_tree_line(entry ? entry : node);
}

static uint32_t line_of(struct reader *r, const char *key, uint32_t otherwise)
{
    const yaml_node_t *node = value_of(r, key);
    return node ? leat_fabric_tree_line(node) : otherwise;
}

/* ---- from description to design ------------------------------------------------------------- */

static bool take_topology(struct reader *r, const struct description *y)
{
    char known[MESSAGE_CAP] = "";
    enum leat_net_kind kind;
    stand_at(r, "topology", 0);
    if (y->topology && leat_net_kind_find(y->topology, strlen(y->topology), &kind)) {
        leat_net_plan_default(kind, r->design->plan.has_cells, &r->design->plan);
        return true;
    }
    for (uint32_t i = 0; i < LEAT_NET_KINDS; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 leat_net_kind_name((enum leat_net_kind)i));
    if (!y->topology)
        return leat_fabric_wrong(&r->tree.place, "no topology, expected topology: and one of %s",
                                 known);
    const struct word given = { y->topology, strlen(y->topology) };
    struct leat_near near = leat_near_to(given.text, given.len);
    leat_near_try_all(&near, known);
    return leat_fabric_wrong(&r->tree.place, "topology '%s', %sexpected one of %s",
                             show(given).text, near.text, known);
}

/* The numbers have been checked to be numbers of 32 bits. */
static bool take_size(struct reader *r)
{
    struct leat_net_shape *shape = &r->design->plan.shape;
    const yaml_node_t *size = value_of(r, "size"), *n = size;
    if (!size) return true;
    if (!leat_fabric_tree_check(&r->tree, "size", size,
                                size->type == YAML_SCALAR_NODE ? &number : &size_list))
        return false;
    if (shape->kind == LEAT_NET_GRAPH) {
        stand_at(r, "size", 0);
        return leat_fabric_wrong(&r->tree.place, "size, expected edges with topology: graph");
    }
    if (size->type != YAML_SCALAR_NODE) n = leat_fabric_tree_entry(&r->tree, size, 0);
    while (n) {
        shape->number[shape->numbers++] = (uint32_t)strtoul((char *)n->data.scalar.value, NULL, 10);
        n = leat_fabric_tree_entry(&r->tree, size, shape->numbers);
    }
    return true;
}

/* The limits find other errors of a number. */
static bool is_number(struct reader *r, const char *key, const char *value)
{
    static const char *const words[] = { "switch", "flow", "full", "routing", "clock" };
    uint64_t any;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(key, words[i]) == 0) return true;
    if (leat_tree_number(value, strlen(value), &any)) return true;
    stand_at(r, key, 0);
    if (!*value)
        return leat_fabric_wrong(&r->tree.place, "%s: nothing, expected a whole number", key);
    return leat_fabric_wrong(&r->tree.place, "%s: '%s', expected a whole number", key, value);
}

static bool take_parameters(struct reader *r, const struct description *y)
{
    for (size_t i = 0; i < PARAMETERS; i++) { /* the switch comes first: it sets defaults */
        const char *value = y->parameter[i];
        if (!value) continue;
        if (!is_number(r, parameters[i], value)) return false;
        struct leat_text why = LEAT_TEXT(MESSAGE_CAP);
        if (!leat_net_plan_set(&r->design->plan, parameters[i], strlen(parameters[i]), value,
                               strlen(value), &why))
            continue;
        stand_at(r, parameters[i], 0);
        return leat_fabric_wrong(&r->tree.place, "%s: %.*s", parameters[i], (int)why.len, why.buf);
    }
    return true;
}

/* A key that only graphs have. */
static bool is_for_graph(struct reader *r, const char *key)
{
    if (!value_of(r, key) || r->design->plan.shape.kind == LEAT_NET_GRAPH) return true;
    stand_at(r, key, 0);
    return leat_fabric_wrong(&r->tree.place, "%s, expected them with topology: graph only", key);
}

static bool check_edge(struct reader *r, uint32_t index, const struct edge *e, uint32_t routers)
{
    const bool good = e->a < routers && e->b < routers && e->a != e->b;
    if (good && e->cycles && e->cycles <= LEAT_NET_WIRE_CYCLES_MAX) return true;
    const yaml_node_t *edge = leat_fabric_tree_entry(&r->tree, value_of(r, "edges"), index);
    r->tree.place.line = leat_fabric_tree_line(edge);
    if (!good)
        return leat_fabric_wrong(&r->tree.place,
                                 "a: %u, b: %u, expected two different routers of 0 to %u", e->a,
                                 e->b, routers - 1);
    if (!leat_fabric_tree_value(&r->tree, edge, "cycles")) return true; /* as long as the others */
    return leat_fabric_wrong(&r->tree.place, "cycles: %u, expected 1 to %d", e->cycles,
                             LEAT_NET_WIRE_CYCLES_MAX);
}

static bool check_routers(struct reader *r, const struct description *y)
{
    if (!is_for_graph(r, "routers")) return false;
    if (!value_of(r, "routers") || (y->routers && y->routers <= LEAT_NET_ROUTERS_MAX)) return true;
    stand_at(r, "routers", 0);
    return leat_fabric_wrong(&r->tree.place, "routers: %u, expected 1 to %d", y->routers,
                             LEAT_NET_ROUTERS_MAX);
}

static bool take_edges(struct reader *r, const struct description *y)
{
    struct leat_fabric_design *d = r->design;
    struct leat_net_shape *shape = &d->plan.shape;
    if (!is_for_graph(r, "edges") || !check_routers(r, y)) return false;
    if (shape->kind != LEAT_NET_GRAPH) return true;
    d->edge = leat_fabric_take(y->edges_count, sizeof *d->edge, r->tree.place.error);
    d->edge_line = leat_fabric_take(y->edges_count, sizeof *d->edge_line, r->tree.place.error);
    if (!d->edge || !d->edge_line) return false;
    shape->routers = y->routers;
    for (uint32_t i = 0; i < y->edges_count; i++) {
        const struct edge *e = &y->edges[i];
        if (!check_edge(r, i, e, y->routers ? y->routers : LEAT_NET_ROUTERS_MAX)) return false;
        d->edge[i] = (struct leat_net_edge){ e->a, e->b, e->cycles, e->one_way };
        d->edge_line[i] = leat_fabric_tree_line(
            leat_fabric_tree_entry(&r->tree, value_of(r, "edges"), i));
        if (e->a >= shape->routers) shape->routers = e->a + 1;
        if (e->b >= shape->routers) shape->routers = e->b + 1;
    }
    shape->edge = d->edge;
    shape->edges = y->edges_count;
    return true;
}

static bool take_hosts(struct reader *r, const struct description *y)
{
    struct leat_fabric_design *d = r->design;
    if (!is_for_graph(r, "hosts")) return false;
    if (!y->hosts_count) return true;
    stand_at(r, "terminals", 0);
    if (value_of(r, "terminals"))
        return leat_fabric_wrong(&r->tree.place, "terminals beside hosts, expected one of the two");
    d->terminal_at = leat_fabric_take(y->hosts_count, sizeof *d->terminal_at, r->tree.place.error);
    if (!d->terminal_at) return false;
    for (uint32_t i = 0; i < y->hosts_count; i++) {
        if (y->hosts[i] >= d->plan.shape.routers) {
            stand_at(r, "hosts", i);
            return leat_fabric_wrong(&r->tree.place, "host at router %u, expected 0 to %u",
                                     y->hosts[i], d->plan.shape.routers - 1);
        }
        d->terminal_at[i] = y->hosts[i];
    }
    d->plan.shape.terminal_at = d->terminal_at;
    d->plan.shape.terminal_count = y->hosts_count;
    return true;
}

static bool take_table(struct reader *r, const struct description *y)
{
    struct leat_fabric_design *d = r->design;
    if (!y->table_count) return true;
    stand_at(r, "table", 0);
    if (d->plan.routing.rule != LEAT_NET_TABLE)
        return leat_fabric_wrong(&r->tree.place, "a table, expected it with routing: table only");
    d->entry = leat_fabric_take(y->table_count, sizeof *d->entry, r->tree.place.error);
    if (!d->entry) return false;
    d->entries = y->table_count;
    for (uint32_t i = 0; i < y->table_count; i++) {
        stand_at(r, "table", i);
        d->entry[i] = (struct leat_fabric_entry){ y->table[i].at, y->table[i].to, y->table[i].by,
                                                  r->tree.place.line };
    }
    return true;
}

/* Records the lines of values that can only be rejected once everything is known. */
static void take_lines(struct reader *r)
{
    struct leat_fabric_design *d = r->design;
    const bool vc = d->plan.net.architecture == LEAT_NET_SWITCH_VC;
    r->tree.place.line = line_of(r, "topology", 1);
    stand_at(r, d->plan.shape.kind == LEAT_NET_GRAPH ? "edges" : "size", 0);
    d->line = r->tree.place.line;
    d->routing_line = line_of(r, "routing", d->line);
    d->switch_line = line_of(r, "buffer", line_of(r, "vcs", d->line));
    if (!vc && d->plan.net.flow != LEAT_NET_WORMHOLE)
        d->switch_line = line_of(r, "flow", d->switch_line);
    if (!vc && d->plan.net.channels != 1) d->switch_line = line_of(r, "vcs", d->switch_line);
}

static bool take_all(struct reader *r, const struct description *y)
{
    if (!take_topology(r, y) || !take_size(r) || !take_parameters(r, y) || !take_edges(r, y) ||
        !take_hosts(r, y) || !take_table(r, y))
        return false;
    take_lines(r);
    return true;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool load(void *context, struct leat_fabric_tree *tree, const uint8_t *octets, size_t len)
{
    struct reader r = { .tree = *tree, .design = context };
    struct description *y = leat_fabric_tree_load(&r.tree, octets, len, &schema, "topology");
    if (!y) return false;
    const bool good = take_all(&r, y);
    leat_fabric_tree_unload(&schema, y);
    return good;
}

bool leat_fabric_read_yaml(const char *file, bool (*interrupted)(void),
                           struct leat_fabric_design *design, struct leat_fabric_error *error)
{
    return leat_fabric_tree_file(&(struct leat_fabric_place){ file, 1, error, interrupted },
                                 FILE_LEN_MAX, load, design);
}

#endif
