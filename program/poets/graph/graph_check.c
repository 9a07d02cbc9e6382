/* Types and structs, once the whole file has been read; and values for structs. */
#include "graph_parts.h"
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 40 };

const char *leat_graph_dialect_name(enum leat_graph_dialect dialect)
{
    static const char *const name[] = { "orch", "v4", "v3", "auto" };
    return name[dialect];
}

/* ---- structs -------------------------------------------------------------------------------- */

static bool add_members(struct leat_graph *g, const struct leat_graph_struct *from, uint32_t first,
                        uint32_t end, uint32_t depth, struct leat_poets_layout *out);

/* The definition of that name, laid out; NULL: E_REF was reported. */
static struct leat_graph_message *find_definition(struct leat_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->definition_count; i++)
        if (strcmp(g->definition[i].id, name) == 0) return &g->definition[i];
    return NULL;
}

static bool add_member(struct leat_graph *g, const struct leat_graph_struct *from, uint32_t at,
                       uint32_t end, uint32_t depth, struct leat_poets_layout *out);

/* A type by name: a scalar, or a TypeDef. The node is `at` of out. */
static bool set_type(struct leat_graph *g, const struct leat_graph_member *m, uint32_t at,
                     uint32_t depth, struct leat_poets_layout *out)
{
    const char *type = m->type;
    if (leat_poets_layout_scalar(type, strlen(type), false, &out->node[at])) return true;
    const struct leat_graph_message *d = find_definition(g, type);
    if (!d)
        return leat_graph_wrong(&g->report, m->place,
                                strcmp(type, "half") == 0 ? "E_UNSUP" : "E_REF",
                                "type '%.*s', expected [u]int8_t to [u]int64_t, float, double or a "
                                "TypeDef",
                                SHOWN, type);
    if (!d->data.member_count)
        return leat_graph_wrong(&g->report, d->place, "E_STRUCT",
                                "%.*s is empty, expected a member", SHOWN, d->id);
    if (depth > LEAT_POETS_LAYOUT_DEPTH_MAX)
        return leat_graph_wrong(&g->report, m->place, "E_STRUCT",
                                "nested too deep, expected at most %d levels",
                                LEAT_POETS_LAYOUT_DEPTH_MAX);
    /* As a node of its own, with the member's name, and its dimensions after the member's. */
    const uint32_t copy = out->count;
    if (!add_member(g, &d->data, 0, d->data.member_count, depth + 1, out)) return false;
    struct leat_poets_layout_node *node = &out->node[at], *def = &out->node[copy];
    for (uint32_t i = 0; i < def->dim_count; i++) {
        if (node->dim_count == LEAT_POETS_LAYOUT_DIMS_MAX)
            return leat_graph_wrong(&g->report, m->place, "E_STRUCT",
                                    "too many dimensions, expected at most %d",
                                    LEAT_POETS_LAYOUT_DIMS_MAX);
        node->dim[node->dim_count++] = def->dim[i];
    }
    node->type = def->type;
    node->kind = def->kind;
    node->size = def->size;
    node->align = def->align;
    node->type_name = strdup(type);
    if (!node->initial && !node->dim_count) {
        node->initial = def->initial;
        def->initial = NULL;
    }
    /* The copy's own node is removed, its members stay. */
    free(def->name);
    free(def->type_name);
    free(def->initial);
    memmove(def, def + 1, (out->count - copy - 1) * sizeof *def);
    out->count--;
    for (uint32_t i = copy; i < out->count; i++)
        out->node[i].next--;
    return node->type_name;
}

/* A member as a node, with everything inside it: from `at` up to `end` of the list. */
static bool add_member(struct leat_graph *g, const struct leat_graph_struct *from, uint32_t at,
                       uint32_t end, uint32_t depth, struct leat_poets_layout *out)
{
    const struct leat_graph_member *m = &from->member[at], *inner = m;
    const uint32_t node = out->count;
    if (!leat_poets_layout_add(out, m->name, strlen(m->name)))
        return leat_graph_wrong(&g->report, m->place, "E_LIMIT",
                                "too many members, expected at most %d",
                                LEAT_POETS_LAYOUT_NODES_MAX);
    if (m->initial && !(out->node[node].initial = strdup(m->initial)))
        return leat_graph_wrong(&g->report, m->place, "E_LIMIT", "no memory");
    /* Arrays of arrays are one node. */
    for (; inner->kind == LEAT_GRAPH_ARRAY; inner = &from->member[++at]) {
        if (out->node[node].dim_count == LEAT_POETS_LAYOUT_DIMS_MAX)
            return leat_graph_wrong(&g->report, inner->place, "E_STRUCT",
                                    "too many dimensions, expected at most %d",
                                    LEAT_POETS_LAYOUT_DIMS_MAX);
        out->node[node].dim[out->node[node].dim_count++] = inner->length;
        if (inner->type) break;
        if (at + 1 >= end || from->member[at + 1].depth != inner->depth + 1)
            return leat_graph_wrong(
                &g->report, inner->place, "E_STRUCT",
                "Array without type and without a member, expected one of them");
    }
    if (inner->kind != LEAT_GRAPH_TUPLE) {
        const bool good = set_type(g, inner, node, depth, out);
        out->node[node].next = out->count;
        return good;
    }
    out->node[node].kind = LEAT_POETS_LAYOUT_STRUCT;
    out->node[node].type = "struct";
    uint32_t stop = at + 1;
    while (stop < end && from->member[stop].depth > inner->depth)
        stop++;
    const bool good = add_members(g, from, at + 1, stop, depth + 1, out);
    out->node[node].next = out->count;
    return good;
}

static bool add_members(struct leat_graph *g, const struct leat_graph_struct *from, uint32_t first,
                        uint32_t end, uint32_t depth, struct leat_poets_layout *out)
{
    bool good = true;
    if (depth > LEAT_POETS_LAYOUT_DEPTH_MAX)
        return leat_graph_wrong(&g->report, from->place, "E_STRUCT",
                                "nested too deep, expected at most %d levels",
                                LEAT_POETS_LAYOUT_DEPTH_MAX);
    for (uint32_t i = first; i < end;) {
        uint32_t next = i + 1;
        while (next < end && from->member[next].depth > from->member[i].depth)
            next++;
        for (uint32_t k = first; k < i; k++)
            if (from->member[k].depth == from->member[i].depth &&
                strcmp(from->member[k].name, from->member[i].name) == 0)
                good = leat_graph_wrong(&g->report, from->member[i].place, "E_DUP",
                                        "a second member '%.*s'", SHOWN, from->member[i].name);
        good = add_member(g, from, i, next, depth, out) && good;
        i = next;
    }
    return good;
}

/* Offsets of its members, if they can be determined without a compiler. */
static void lay_out(struct leat_graph *g, struct leat_graph_struct *data, bool packed)
{
    struct leat_poets_layout_fault fault = { 0 };
    struct leat_graph_place place = data->code.text ? data->code.place : data->place;
    if (g->dialect == LEAT_GRAPH_V3) {
        data->plain = add_members(g, data, 0, data->member_count, 0, &data->layout);
        if (data->plain && !(leat_poets_layout_place(&data->layout, true, &fault) &&
                             leat_poets_layout_initialise(&data->layout, &fault)))
            data->plain = leat_graph_wrong(&g->report, place, "E_STRUCT", "%s", fault.why);
        return;
    }
    const bool cpp = g->dialect == LEAT_GRAPH_ORCH;
    const char *text = data->code.text ? data->code.text : "";
    data->plain = leat_poets_layout_parse(text, cpp, packed || !cpp, &data->layout, &fault);
    /* What is not understood may still be C++, which the compiler knows. */
    if (data->plain || (cpp && !fault.no_memory)) return;
    place.line += fault.line;
    place.column = fault.line ? 0 : place.column;
    leat_graph_wrong(&g->report, place, "E_STRUCT", "%s", fault.why);
}

/* Types whose width differs on the original machine. */
static void warn_of_widths(struct leat_graph *g, const struct leat_graph_struct *data)
{
    static const char *const words[] = { "long", "size_t", "*" };
    for (size_t i = 0; !data->plain && data->code.text && i < sizeof words / sizeof *words; i++)
        if (strstr(data->code.text, words[i]) && !strchr(data->code.text, '/'))
            leat_graph_warn(&g->report, data->code.place, "W_PORT",
                            "'%s' in a message is wider than on the original's 32 bits", words[i]);
}

static void check_name(struct leat_graph *g, struct leat_graph_place place, const char *name)
{
    static const char *const prefix[] = { "P_", "p_", "__", "tinsel", "softswitch_" };
    for (size_t i = 0; g->dialect == LEAT_GRAPH_ORCH && i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0)
            leat_graph_warn(&g->report, place, "W_NAME",
                            "'%.*s': names that begin with %s are reserved", SHOWN, name,
                            prefix[i]);
}

/* ---- types ---------------------------------------------------------------------------------- */

static void check_messages(struct leat_graph *g)
{
    for (uint32_t i = 0; i < g->message_count; i++) {
        struct leat_graph_message *m = &g->message[i];
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(g->message[k].id, m->id) == 0)
                leat_graph_wrong(&g->report, m->place, "E_DUP",
                                 "a second message type '%.*s', expected another name", SHOWN,
                                 m->id);
        lay_out(g, &m->data, true);
        check_name(g, m->place, m->id);
        warn_of_widths(g, &m->data);
        if (m->data.plain && m->data.layout.count &&
            m->data.layout.size > LEAT_GRAPH_MESSAGE_LEN_MAX)
            leat_graph_wrong(&g->report, m->place, "E_LIMIT",
                             "message '%.*s' has %u octets, expected at most %d", SHOWN, m->id,
                             m->data.layout.size, LEAT_GRAPH_MESSAGE_LEN_MAX);
    }
}

static void check_definitions(struct leat_graph *g)
{
    for (uint32_t i = 0; i < g->definition_count; i++) {
        struct leat_graph_message *d = &g->definition[i];
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(g->definition[k].id, d->id) == 0)
                leat_graph_wrong(&g->report, d->place, "E_DUP",
                                 "a second TypeDef '%.*s', expected another name", SHOWN, d->id);
        lay_out(g, &d->data, true);
    }
}

/* The message type of a pin. */
static void check_message(struct leat_graph *g, struct leat_graph_pin *pin)
{
    for (uint32_t i = 0; i < g->message_count && pin->message == LEAT_GRAPH_NONE; i++)
        if (strcmp(g->message[i].id, pin->message_id) == 0) pin->message = i;
    if (pin->message != LEAT_GRAPH_NONE) return;
    if (g->dialect == LEAT_GRAPH_ORCH)
        leat_graph_warn(&g->report, pin->place, "E_REF",
                        "message type '%.*s' is unknown: its payload is %d octets", SHOWN,
                        pin->message_id, LEAT_GRAPH_MESSAGE_LEN_MAX);
    else
        leat_graph_wrong(&g->report, pin->place, "E_REF",
                         "message type '%.*s', expected the id of a MessageType", SHOWN,
                         pin->message_id);
}

static bool has_pin(const struct leat_graph_pins *pins, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(pins->pin[i].name, name) == 0) return true;
    return false;
}

static void check_pins(struct leat_graph *g, struct leat_graph_pins *pins,
                       const struct leat_graph_pins *others, uint32_t most, const char *what)
{
    for (uint32_t i = 0; i < pins->count; i++) {
        struct leat_graph_pin *pin = &pins->pin[i];
        const bool twice = *pin->name && (has_pin(pins, i, pin->name) ||
                                          (others && has_pin(others, others->count, pin->name)));
        if (twice)
            leat_graph_wrong(&g->report, pin->place, "E_DUP",
                             "a second pin '%.*s', expected another name", SHOWN, pin->name);
        check_name(g, pin->place, pin->name);
        check_message(g, pin);
        lay_out(g, &pin->properties, false);
        lay_out(g, &pin->state, false);
        if (i == most)
            leat_graph_wrong(&g->report, pin->place, "E_LIMIT",
                             "one %s too many, expected at most %u", what, most);
    }
}

static void check_type(struct leat_graph *g, uint32_t index)
{
    struct leat_graph_type *t = &g->type[index];
    const uint32_t outputs = LEAT_GRAPH_OUTPUTS_MAX - t->to_supervisor.count;
    for (uint32_t k = 0; k < index; k++)
        if (strcmp(g->type[k].id, t->id) == 0)
            leat_graph_wrong(&g->report, t->place, "E_DUP",
                             "a second device type '%.*s', expected another name", SHOWN, t->id);
    check_name(g, t->place, t->id);
    if (t->kind != LEAT_GRAPH_SUPERVISOR) { /* its structs are C++ in every dialect */
        lay_out(g, &t->properties, false);
        lay_out(g, &t->state, false);
    }
    check_pins(g, &t->input, NULL, LEAT_GRAPH_INPUTS_MAX, "input pin");
    check_pins(g, &t->output, g->dialect == LEAT_GRAPH_ORCH ? &t->input : NULL, outputs,
               "output pin");
    check_pins(g, &t->from_supervisor, NULL, 1, "supervisor pin");
    check_pins(g, &t->to_supervisor, NULL, 1, "supervisor pin");
}

void leat_graph_check_types(struct leat_graph *graph)
{
    check_definitions(graph);
    lay_out(graph, &graph->properties, false);
    check_messages(graph);
    for (uint32_t i = 0; i < graph->type_count; i++)
        check_type(graph, i);
}

uint32_t leat_graph_payload_len(const struct leat_graph *graph, const struct leat_graph_pin *pin)
{
    if (pin->message == LEAT_GRAPH_NONE) return LEAT_GRAPH_MESSAGE_LEN_MAX;
    const struct leat_graph_struct *data = &graph->message[pin->message].data;
    if (!data->plain) return LEAT_GRAPH_NONE;
    return data->layout.count ? data->layout.size : 0; /* an empty struct of C++ has an octet */
}

/* ---- values --------------------------------------------------------------------------------- */

bool leat_graph_value(struct leat_graph *graph, const struct leat_graph_struct *data,
                      uint32_t value, struct leat_graph_place place, uint8_t *octets,
                      bool *compiled)
{
    struct leat_poets_layout_fault fault = { 0 };
    const bool cpp = graph->dialect == LEAT_GRAPH_ORCH;
    *compiled = !data->plain;
    if (!data->plain) return true;
    memcpy(octets, data->layout.initial, data->layout.size);
    if (!value) return true;
    if (graph->octets) {
        memcpy(octets, graph->octets + (size_t)(value - 1) * LEAT_GRAPH_VALUE_UNIT,
               data->layout.size);
        return true;
    }
    const char *text = leat_graph_string(&graph->values, value);
    const bool good = graph->dialect == LEAT_GRAPH_V3
                          ? leat_poets_layout_assign_json(&data->layout, text, octets, &fault)
                          : leat_poets_layout_assign(&data->layout, text, cpp, octets, &fault);
    *compiled = !good && cpp && data->layout.count;
    if (good || *compiled) return true;
    return leat_graph_wrong(&graph->report, place, "E_VALUE", "value: %s", fault.why);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void free_struct(struct leat_graph_struct *data)
{
    for (uint32_t i = 0; i < data->member_count; i++) {
        free(data->member[i].name);
        free(data->member[i].type);
        free(data->member[i].initial);
    }
    free(data->member);
    free(data->code.text);
    free(data->c_name);
    leat_poets_layout_free(&data->layout);
}

static void free_pins(struct leat_graph_pins *pins)
{
    for (uint32_t i = 0; i < pins->count; i++) {
        struct leat_graph_pin *pin = &pins->pin[i];
        free(pin->name);
        free(pin->message_id);
        free(pin->handler.text);
        free_struct(&pin->properties);
        free_struct(&pin->state);
    }
    free(pins->pin);
}

static void free_type(struct leat_graph_type *t)
{
    for (int i = 0; i < LEAT_GRAPH_HANDLER_COUNT; i++)
        free(t->handler[i].text);
    free(t->id);
    free(t->shared.text);
    free_struct(&t->properties);
    free_struct(&t->state);
    free_pins(&t->input);
    free_pins(&t->output);
    free_pins(&t->from_supervisor);
    free_pins(&t->to_supervisor);
}

static void free_messages(struct leat_graph_message *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(list[i].id);
        free_struct(&list[i].data);
    }
    free(list);
}

void leat_graph_unlink(struct leat_graph_instance *instance)
{
    struct leat_graph_instance *i = instance;
    uint32_t **const list[] = { &i->input_base, &i->output_base, &i->into_base,
                                &i->out_base,   &i->into,        &i->out };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        free(*list[k]);
        *list[k] = NULL;
    }
}

static void free_instance(struct leat_graph_instance *i)
{
    free(i->id);
    free(i->type_id);
    free(i->device);
    free(i->edge);
    leat_graph_unlink(i);
}

void leat_graph_free(struct leat_graph *graph)
{
    for (uint32_t i = 0; i < graph->type_count; i++)
        free_type(&graph->type[i]);
    for (uint32_t i = 0; i < graph->instance_count; i++)
        free_instance(&graph->instance[i]);
    free_messages(graph->message, graph->message_count);
    free_messages(graph->definition, graph->definition_count);
    free(graph->type);
    free(graph->instance);
    free(graph->file);
    free(graph->id);
    free(graph->shared.text);
    free_struct(&graph->properties);
    leat_graph_strings_free(&graph->names);
    leat_graph_strings_free(&graph->pin_names);
    leat_graph_strings_free(&graph->values);
    free(graph->octets);
    leat_graph_report_free(&graph->report);
    *graph = (struct leat_graph){ 0 };
}
