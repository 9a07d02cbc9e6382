/*
 * A fabric described in YAML:
 *
 *   topology: mesh            or any other kind; graph with edges
 *   size: [8, 8]              its numbers
 *   switch: vc                and every parameter of net_plan.h by its name
 *   edges:                    graphs: wires in both directions, or one_way
 *     - {a: 0, b: 1, cycles: 3, one_way: true}
 *   hosts: [0, 0, 1]          graphs: the router of each terminal
 *   table:                    routing: table
 *     - {at: 0, to: 2, by: 1}
 *
 * libcyaml reads it by the schema below. It tells what is wrong, and roughly where; libyaml's own
 * tree of the file tells the line.
 */
#include "net_design.h"
#include "place.h"
#include <stdlib.h>
#include <string.h>

#ifndef HAVE_CYAML

bool net_read_yaml(const char *file, struct net_design *design)
{
    (void)design;
    complain("%s: this leat was built without libcyaml-dev, which reads descriptions", file);
    return false;
}

#else

#include "input.h"
#include <cyaml/cyaml.h>
#include <stdio.h>
#include <yaml.h>

enum { FILE_LEN_MAX = 1 << 28, MESSAGE_CAP = 512, WORD_LEN_MAX = 64 };

/* ---- the schema ----------------------------------------------------------------------------- */

struct edge {
    uint32_t a, b, cycles;
    bool one_way;
};

struct entry {
    uint32_t at, to, by;
};

/* Parameters are words here, also those that are numbers: net_plan.h reads them. */
static const char *const parameters[] = { "switch", "vcs",        "buffer",    "flow",
                                          "full",   "routing",    "wire",      "pipeline",
                                          "credit", "iterations", "terminals", "clock" };
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

struct description {
    char *topology;
    uint32_t *size;
    unsigned size_count;
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
#define LIST(key, member, value, most)                                                      \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct description, \
                         member, &(value), 0, most)

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("topology", CYAML_FLAG_POINTER, struct description, topology, 0,
                           WORD_LEN_MAX),
    LIST("size", size, number, LEAT_NET_NUMBERS_MAX),
    CYAML_FIELD_UINT("routers", CYAML_FLAG_OPTIONAL, struct description, routers),
    LIST("edges", edges, edge_value, NET_EDGES_MAX),
    LIST("hosts", hosts, number, LEAT_NET_TERMINALS_MAX),
    LIST("table", table, entry_value, NET_ENTRIES_MAX),
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
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
                                                                 struct description, fields) };

/* ---- what libcyaml says --------------------------------------------------------------------- */

/* Its first message, and the innermost place of the trace behind it. */
struct saying {
    char text[MESSAGE_CAP];
    uint32_t line;
    const cyaml_schema_field_t *inside; /* of the fields that are known there */
};

static void hear(cyaml_log_t level, void *context, const char *format, va_list list)
{
    struct saying *s = context;
    char text[MESSAGE_CAP];
    (void)level;
    vsnprintf(text, sizeof text, format, list);
    text[strcspn(text, "\n")] = '\0';
    const char *line = strstr(text, "(line: ");
    if (line && !s->line) s->line = (uint32_t)strtoul(line + strlen("(line: "), NULL, 10);
    if (strstr(text, "field 'edges'")) s->inside = edge_fields;
    if (strstr(text, "field 'table'")) s->inside = entry_fields;
    if (!s->text[0]) {
        const char *begin = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
        memcpy(s->text, begin, strlen(begin) + 1);
    }
}

/* ---- where things are ----------------------------------------------------------------------- */

struct reader {
    struct place place;
    struct net_design *design;
    yaml_document_t tree;
};

static bool is_scalar(const yaml_node_t *node, const char *text)
{
    return node && node->type == YAML_SCALAR_NODE && node->data.scalar.length == strlen(text) &&
           memcmp(node->data.scalar.value, text, strlen(text)) == 0;
}

/* The value of a key of the outermost mapping; NULL: it is not there. */
static yaml_node_t *value_of(struct reader *r, const char *key)
{
    yaml_node_t *root = yaml_document_get_root_node(&r->tree);
    if (!root || root->type != YAML_MAPPING_NODE) return NULL;
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
         p++)
        if (is_scalar(yaml_document_get_node(&r->tree, p->key), key))
            return yaml_document_get_node(&r->tree, p->value);
    return NULL;
}

/* From now on complaints are about the line of this key, or of an entry of its list. */
static void stand_at(struct reader *r, const char *key, uint32_t index)
{
    yaml_node_t *node = value_of(r, key);
    if (!node) return;
    if (node->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *item = node->data.sequence.items.start + index;
        if (item < node->data.sequence.items.top) node = yaml_document_get_node(&r->tree, *item);
    }
    r->place.line = (uint32_t)node->start_mark.line + 1;
}

/* The first line, from `line` on, where this key or word stands; else `line`. */
static uint32_t line_of_key(struct reader *r, const char *key, uint32_t line)
{
    uint32_t found = 0;
    for (int i = 1;; i++) {
        const yaml_node_t *node = yaml_document_get_node(&r->tree, i);
        if (!node) return found ? found : line;
        const uint32_t at = (uint32_t)node->start_mark.line + 1;
        if (is_scalar(node, key) && at >= line && (!found || at < found)) found = at;
    }
}

static bool complain_schema(struct reader *r, const struct saying *s)
{
    static const char unexpected[] = "Unexpected key: ", seen[] = "Mapping field already seen: ";
    char known[MESSAGE_CAP] = "";
    r->place.line = s->line ? s->line : 1;
    if (strncmp(s->text, seen, strlen(seen)) == 0) {
        const char *key = s->text + strlen(seen);
        r->place.line = line_of_key(r, key, r->place.line + 1);
        return wrong(&r->place, "'%s' is there twice, expected it once", key);
    }
    if (strncmp(s->text, unexpected, strlen(unexpected)) != 0)
        return wrong(&r->place, "%s", s->text);
    const char *key = s->text + strlen(unexpected);
    r->place.line = line_of_key(r, key, r->place.line);
    for (const cyaml_schema_field_t *f = s->inside; f->key; f++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                 f == s->inside ? "" : ", ", f->key);
    return wrong(&r->place, "unknown key '%s', expected one of %s", key, known);
}

/* ---- from description to design ------------------------------------------------------------- */

static bool take_topology(struct reader *r, const struct description *y)
{
    struct leat_net_plan *plan = &r->design->plan;
    char known[MESSAGE_CAP] = "";
    enum leat_net_kind kind;
    stand_at(r, "topology", 0);
    if (leat_net_kind_find(y->topology, strlen(y->topology), &kind)) {
        leat_net_plan_default(kind, plan);
        plan->shape.numbers = y->size_count;
        for (uint32_t i = 0; i < y->size_count; i++)
            plan->shape.number[i] = y->size[i];
        return true;
    }
    for (uint32_t i = 0; i < LEAT_NET_KINDS; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 leat_net_kind_name((enum leat_net_kind)i));
    return wrong(&r->place, "topology '%s', expected one of %s", y->topology, known);
}

static bool take_parameters(struct reader *r, const struct description *y)
{
    char line[MESSAGE_CAP];
    struct leat_text why;
    for (size_t i = 0; i < PARAMETERS; i++) { /* the switch comes first: it brings defaults */
        const char *value = y->parameter[i];
        if (!value) continue;
        leat_text_init(&why, line, sizeof line, NULL, NULL);
        if (!leat_net_plan_set(&r->design->plan, parameters[i], strlen(parameters[i]), value,
                               strlen(value), &why))
            continue;
        stand_at(r, parameters[i], 0);
        return wrong(&r->place, "%s: %.*s", parameters[i], (int)why.len, line);
    }
    return true;
}

/* A list that only graphs have. */
static bool is_for_graph(struct reader *r, const char *key, bool given)
{
    if (!given || r->design->plan.shape.kind == LEAT_NET_GRAPH) return true;
    stand_at(r, key, 0);
    return wrong(&r->place, "%s, expected them with topology: graph only", key);
}

static bool take_edges(struct reader *r, const struct description *y)
{
    struct net_design *d = r->design;
    struct leat_net_shape *shape = &d->plan.shape;
    if (!is_for_graph(r, "edges", y->edges_count) || !is_for_graph(r, "routers", y->routers))
        return false;
    if (shape->kind != LEAT_NET_GRAPH) return true;
    d->edge = net_take(y->edges_count, sizeof *d->edge);
    if (!d->edge) return false;
    shape->routers = y->routers;
    for (uint32_t i = 0; i < y->edges_count; i++) {
        const struct edge *e = &y->edges[i];
        const uint32_t most = y->routers ? y->routers - 1 : LEAT_NET_ROUTERS_MAX - 1;
        if (e->a > most || e->b > most || e->a == e->b || e->cycles > LEAT_NET_WIRE_CYCLES_MAX) {
            stand_at(r, "edges", i);
            return wrong(
                &r->place,
                "a: %u, b: %u, cycles: %u: expected two routers of 0 to %u, and at most %d "
                "cycles",
                e->a, e->b, e->cycles, most, LEAT_NET_WIRE_CYCLES_MAX);
        }
        d->edge[i] = (struct leat_net_edge){ e->a, e->b, e->cycles, e->one_way };
        if (!y->routers && e->a >= shape->routers) shape->routers = e->a + 1;
        if (!y->routers && e->b >= shape->routers) shape->routers = e->b + 1;
    }
    shape->edge = d->edge;
    shape->edges = y->edges_count;
    return true;
}

static bool take_hosts(struct reader *r, const struct description *y)
{
    struct net_design *d = r->design;
    if (!is_for_graph(r, "hosts", y->hosts_count)) return false;
    if (!y->hosts_count) return true;
    d->terminal_at = net_take(y->hosts_count, sizeof *d->terminal_at);
    if (!d->terminal_at) return false;
    for (uint32_t i = 0; i < y->hosts_count; i++) {
        if (y->hosts[i] >= d->plan.shape.routers) {
            stand_at(r, "hosts", i);
            return wrong(&r->place, "host at router %u, expected 0 to %u", y->hosts[i],
                         d->plan.shape.routers - 1);
        }
        d->terminal_at[i] = y->hosts[i];
    }
    d->plan.shape.terminal_at = d->terminal_at;
    d->plan.shape.terminal_count = y->hosts_count;
    return true;
}

static bool take_table(struct reader *r, const struct description *y)
{
    struct net_design *d = r->design;
    if (!y->table_count) return true;
    stand_at(r, "table", 0);
    if (d->plan.routing.rule != LEAT_NET_TABLE)
        return wrong(&r->place, "a table, expected it with routing: table only");
    d->entry = net_take(y->table_count, sizeof *d->entry);
    if (!d->entry) return false;
    d->entries = y->table_count;
    for (uint32_t i = 0; i < y->table_count; i++) {
        stand_at(r, "table", i);
        d->entry[i] = (struct net_entry){ y->table[i].at, y->table[i].to, y->table[i].by,
                                          r->place.line };
    }
    return true;
}

static bool take_all(struct reader *r, const struct description *y)
{
    if (!take_topology(r, y) || !take_parameters(r, y) || !take_edges(r, y) || !take_hosts(r, y) ||
        !take_table(r, y))
        return false;
    stand_at(r, r->design->plan.shape.kind == LEAT_NET_GRAPH ? "edges" : "size", 0);
    r->design->line = r->place.line;
    return true;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool load(struct reader *r, const uint8_t *octets, size_t len)
{
    struct saying said = { .inside = fields };
    const cyaml_config_t config = {
        .log_fn = hear, .log_ctx = &said, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR
    };
    struct description *y = NULL;
    const cyaml_err_t err = cyaml_load_data(octets, len, &config, &schema, (cyaml_data_t **)&y,
                                            NULL);
    if (err && !said.text[0]) snprintf(said.text, sizeof said.text, "%s", cyaml_strerror(err));
    bool good = !err || complain_schema(r, &said);
    if (good && !y) good = wrong(&r->place, "nothing in it, expected at least topology:");
    good = good && take_all(r, y);
    cyaml_free(&config, &schema, y, 0);
    return good;
}

static bool parse(struct reader *r, const uint8_t *octets, size_t len)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return complain("no memory"), false;
    yaml_parser_set_input_string(&parser, octets, len);
    bool good = yaml_parser_load(&parser, &r->tree);
    if (!good) {
        r->place.line = (uint32_t)parser.problem_mark.line + 1;
        wrong(&r->place, "%s, expected YAML", parser.problem ? parser.problem : "it is broken");
    } else {
        good = load(r, octets, len);
        yaml_document_delete(&r->tree);
    }
    yaml_parser_delete(&parser);
    return good;
}

bool net_read_yaml(const char *file, struct net_design *design)
{
    struct reader r = { .place = { file, 1 }, .design = design };
    struct input in;
    if (!input_open(&in, file)) return false;
    bool good = input_fill(&in, FILE_LEN_MAX + 1) && !interrupted;
    if (good && input_len(&in) > FILE_LEN_MAX) {
        complain("%s: longer than %d octets, expected fewer", file, FILE_LEN_MAX);
        good = false;
    }
    good = good && parse(&r, input_octets(&in), input_len(&in));
    input_close(&in);
    return good;
}

#endif
