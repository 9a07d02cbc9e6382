/* Names become numbers: devices, their types, pins, and the edges of each pin in their order. */
#include "graph_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 40 };

struct joining {
    struct leat_graph *g;
    struct leat_graph_instance *i;
    uint32_t *device_of; /* by the number of a name */
    uint32_t *type_of;   /* by the number of a type's name */
    uint32_t *pin_name;  /* of each pin of each type: the number of its name */
    uint32_t *pin_at;    /* by type: its inputs in pin_name, then its outputs */
    uint8_t *scratch;    /* for values */
    bool no_memory;
};

static void *table(struct joining *j, size_t count, uint32_t fill)
{
    uint32_t *t = malloc((count + 1) * sizeof *t);
    if (!t) j->no_memory = true;
    for (size_t i = 0; t && i <= count; i++)
        t[i] = fill;
    return t;
}

/* ---- devices -------------------------------------------------------------------------------- */

static uint32_t scratch_len(const struct leat_graph *g)
{
    uint32_t most = g->properties.layout.size;
    for (uint32_t i = 0; i < g->type_count; i++) {
        const struct leat_graph_type *t = &g->type[i];
        if (t->properties.layout.size > most) most = t->properties.layout.size;
        if (t->state.layout.size > most) most = t->state.layout.size;
        for (uint32_t k = 0; k < t->input.count; k++) {
            const struct leat_graph_pin *pin = &t->input.pin[k];
            if (pin->properties.layout.size > most) most = pin->properties.layout.size;
            if (pin->state.layout.size > most) most = pin->state.layout.size;
        }
    }
    return most + 1;
}

static void check_value(struct joining *j, const struct leat_graph_struct *data, uint32_t value,
                        struct leat_graph_place place, const char *what)
{
    bool compiled;
    if (!value) return;
    if (data->given)
        leat_graph_value(j->g, data, value, place, j->scratch, &compiled);
    else if (strcmp(leat_graph_string(&j->g->values, value), "{}") != 0)
        leat_graph_wrong(&j->g->report, place, "E_VALUE", "%s, expected none: the type has none",
                         what);
}

static bool number_types(struct joining *j)
{
    struct leat_graph *g = j->g;
    uint32_t pins = 0;
    for (uint32_t i = 0; i < g->type_count; i++)
        pins += g->type[i].input.count + g->type[i].output.count;
    j->pin_at = table(j, g->type_count, 0);
    j->pin_name = table(j, pins, LEAT_GRAPH_NONE);
    j->type_of = table(j, g->pin_names.count, LEAT_GRAPH_NONE);
    if (j->no_memory) return false;
    pins = 0;
    for (uint32_t i = 0; i < g->type_count; i++) {
        const struct leat_graph_type *t = &g->type[i];
        const uint32_t name = leat_graph_strings_find(&g->pin_names, t->id, strlen(t->id));
        if (name && t->kind != LEAT_GRAPH_SUPERVISOR) j->type_of[name] = i;
        j->pin_at[i] = pins;
        for (int out = 0; out < 2; out++) {
            const struct leat_graph_pins *list = out ? &t->output : &t->input;
            for (uint32_t k = 0; k < list->count; k++)
                j->pin_name[pins++] = leat_graph_strings_find(&g->pin_names, list->pin[k].name,
                                                              strlen(list->pin[k].name));
        }
    }
    return true;
}

static void join_device(struct joining *j, uint32_t index)
{
    struct leat_graph *g = j->g;
    struct leat_graph_device *d = &j->i->device[index];
    const bool external = d->type;
    const char *type_name = leat_graph_string(&g->pin_names, d->type_name);
    d->type = j->type_of[d->type_name];
    if (j->device_of[d->name] != LEAT_GRAPH_NONE)
        leat_graph_wrong(&g->report, d->place, "E_DUP",
                         "a second device '%.*s', expected another name", SHOWN,
                         leat_graph_string(&g->names, d->name));
    else
        j->device_of[d->name] = index;
    if (d->type == LEAT_GRAPH_NONE || (g->type[d->type].kind == LEAT_GRAPH_EXTERNAL) != external) {
        leat_graph_wrong(&g->report, d->place, "E_REF", "type '%.*s', expected the id of %s", SHOWN,
                         type_name, external ? "an ExternalType" : "a DeviceType");
        d->type = LEAT_GRAPH_NONE;
        return;
    }
    check_value(j, &g->type[d->type].properties, d->properties, d->place, "P");
    check_value(j, &g->type[d->type].state, d->state, d->place, "S");
}

static bool join_devices(struct joining *j)
{
    j->device_of = table(j, j->g->names.count, LEAT_GRAPH_NONE);
    if (j->no_memory) return false;
    for (uint32_t d = 0; d < j->i->device_count; d++)
        join_device(j, d);
    return true;
}

/* ---- edges ---------------------------------------------------------------------------------- */

static bool find_pin(const struct joining *j, uint32_t type, bool out, uint16_t name, uint32_t *pin)
{
    const struct leat_graph_type *t = &j->g->type[type];
    const uint32_t at = j->pin_at[type] + (out ? t->input.count : 0);
    const uint32_t count = out ? t->output.count : t->input.count;
    for (*pin = 0; *pin < count; ++*pin)
        if (j->pin_name[at + *pin] == name) return true;
    return false;
}

/* One end: the device, and a pin of its type. */
static bool join_end(struct joining *j, const struct leat_graph_edge *e, bool out, uint32_t *device,
                     uint32_t *pin)
{
    const uint32_t name = out ? e->from : e->to;
    const uint16_t pin_name = out ? e->from_pin : e->to_pin;
    const char *what = out ? "an output" : "an input";
    *device = j->device_of[name];
    if (*device == LEAT_GRAPH_NONE)
        return leat_graph_wrong(&j->g->report, e->place, "E_REF",
                                "device '%.*s', expected the id of a DevI", SHOWN,
                                leat_graph_string(&j->g->names, name));
    const uint32_t type = j->i->device[*device].type;
    if (type == LEAT_GRAPH_NONE) return false; /* already reported */
    if (find_pin(j, type, out, pin_name, pin)) return true;
    const char *shown = leat_graph_string(&j->g->pin_names, pin_name), *id = j->g->type[type].id;
    if (find_pin(j, type, !out, pin_name, pin))
        return leat_graph_wrong(&j->g->report, e->place, "E_DIR",
                                "pin '%.*s' of %.*s is not %s, expected TO:INPUT-FROM:OUTPUT",
                                SHOWN, shown, SHOWN, id, what);
    return leat_graph_wrong(&j->g->report, e->place, "E_PIN", "pin '%.*s', expected %s pin of %.*s",
                            SHOWN, shown, what, SHOWN, id);
}

/* The connection exists without it. */
static void supervisor_edge(struct joining *j, struct leat_graph_edge *e)
{
    if (e->properties || e->state)
        leat_graph_wrong(&j->g->report, e->place, "E_VALUE",
                         "P or S, expected none on an edge of the supervisor");
    else
        leat_graph_warn(&j->g->report, e->place, "E_PATH",
                        "an edge of the supervisor is passed over: every device has one");
    const uint32_t name = e->to == LEAT_GRAPH_NONE ? e->from : e->to;
    if (j->device_of[name] == LEAT_GRAPH_NONE)
        leat_graph_wrong(&j->g->report, e->place, "E_REF",
                         "device '%.*s', expected the id of a DevI", SHOWN,
                         leat_graph_string(&j->g->names, name));
}

/* False: it is skipped. */
static bool join_edge(struct joining *j, struct leat_graph_edge *e)
{
    struct leat_graph *g = j->g;
    uint32_t to, from, to_pin, from_pin;
    if (e->to == LEAT_GRAPH_NONE || e->from == LEAT_GRAPH_NONE) return supervisor_edge(j, e), false;
    const bool to_good = join_end(j, e, false, &to, &to_pin);
    const bool from_good = join_end(j, e, true, &from, &from_pin);
    if (!to_good || !from_good) return false;
    const struct leat_graph_pin *in = &g->type[j->i->device[to].type].input.pin[to_pin];
    const struct leat_graph_pin *out = &g->type[j->i->device[from].type].output.pin[from_pin];
    if (in->message != out->message ||
        (in->message == LEAT_GRAPH_NONE && strcmp(in->message_id, out->message_id) != 0))
        return leat_graph_wrong(&g->report, e->place, "E_MSGTYPE",
                                "%.*s carries '%.*s' and %.*s '%.*s', expected one message type",
                                SHOWN, in->name, SHOWN, in->message_id, SHOWN, out->name, SHOWN,
                                out->message_id);
    if (e->number != LEAT_GRAPH_NONE && !out->indexed)
        return leat_graph_wrong(&g->report, e->place, "E_INDEX",
                                "sendIndex, expected none: pin %.*s is not indexed", SHOWN,
                                out->name);
    check_value(j, &in->properties, e->properties, e->place, "P");
    check_value(j, &in->state, e->state, e->place, "S");
    e->to = to;
    e->from = from;
    e->to_pin = (uint16_t)to_pin;
    e->from_pin = (uint16_t)from_pin;
    return true;
}

static uint32_t global_input(const struct leat_graph_instance *i, const struct leat_graph_edge *e)
{
    return i->input_base[e->to] + e->to_pin;
}

static uint32_t global_output(const struct leat_graph_instance *i, const struct leat_graph_edge *e)
{
    return i->output_base[e->from] + e->from_pin;
}

/* Edges sorted by pin, each pin's in the order of the file. base[p] advances to its end and is
 * restored. */
static void sort_edges(const struct leat_graph_instance *i, bool out, uint32_t *base, uint32_t pins,
                       uint32_t *list)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < i->edge_count; k++)
        base[(out ? global_output : global_input)(i, &i->edge[k])]++;
    for (uint32_t p = 0; p <= pins; p++) {
        const uint32_t count = p < pins ? base[p] : 0;
        base[p] = sum;
        sum += count;
    }
    for (uint32_t k = 0; k < i->edge_count; k++)
        list[base[(out ? global_output : global_input)(i, &i->edge[k])]++] = k;
    for (uint32_t p = pins; p > 0; p--)
        base[p] = base[p - 1];
    base[0] = 0;
}

/* Duplicate edges between the same pins. `last` has the output that was last seen at an input. */
static void find_twins(struct joining *j, uint32_t *last)
{
    struct leat_graph_instance *i = j->i;
    for (uint32_t p = 0; p < i->output_count; p++)
        for (uint32_t k = i->out_base[p]; k < i->out_base[p + 1]; k++) {
            const struct leat_graph_edge *e = &i->edge[i->out[k]];
            uint32_t *seen = &last[global_input(i, e)];
            const bool twin = *seen == p;
            *seen = p;
            if (!twin) continue;
            static const char text[] = "a second edge on this path, expected one";
            if (j->g->dialect == LEAT_GRAPH_ORCH)
                leat_graph_warn(&j->g->report, e->place, "E_DUP", "%s", text);
            else
                leat_graph_wrong(&j->g->report, e->place, "E_DUP", "%s", text);
        }
}

/* By sendIndex, if given: exactly 0 to k-1. */
static void order_pin(struct joining *j, uint32_t p, uint32_t *sorted)
{
    struct leat_graph_instance *i = j->i;
    uint32_t *edge = i->out + i->out_base[p];
    const uint32_t count = i->out_base[p + 1] - i->out_base[p];
    uint32_t given = 0;
    for (uint32_t k = 0; k < count; k++) {
        given += i->edge[edge[k]].number != LEAT_GRAPH_NONE;
        sorted[k] = LEAT_GRAPH_NONE;
    }
    for (uint32_t k = 0; given && k < count; k++) {
        const struct leat_graph_edge *e = &i->edge[edge[k]];
        const char *why = e->number == LEAT_GRAPH_NONE
                              ? "no sendIndex, expected one as on other edges"
                          : e->number >= count ? "sendIndex is too large, expected 0 to"
                          : sorted[e->number] != LEAT_GRAPH_NONE
                              ? "sendIndex is there already, expected another one of 0 to"
                              : NULL;
        if (why && e->number == LEAT_GRAPH_NONE)
            leat_graph_wrong(&j->g->report, e->place, "E_INDEX", "%s of this pin", why);
        else if (why)
            leat_graph_wrong(&j->g->report, e->place, "E_INDEX", "%s %u", why, count - 1);
        else
            sorted[e->number] = edge[k];
    }
    for (uint32_t k = 0; given && k < count; k++)
        if (sorted[k] != LEAT_GRAPH_NONE) edge[k] = sorted[k];
}

/* sendIndex has served its purpose. */
static void number_edges(struct leat_graph_instance *i)
{
    for (uint32_t p = 0; p < i->input_count; p++)
        for (uint32_t k = i->into_base[p]; k < i->into_base[p + 1]; k++)
            i->edge[i->into[k]].number = k - i->into_base[p];
}

static void check_pins(struct joining *j)
{
    struct leat_graph_instance *i = j->i;
    uint32_t *work = table(j, i->edge_count > i->input_count ? i->edge_count : i->input_count,
                           LEAT_GRAPH_NONE);
    if (!work) return;
    find_twins(j, work);
    for (uint32_t p = 0; p < i->output_count; p++)
        order_pin(j, p, work);
    for (uint32_t p = 0; p < i->input_count; p++)
        if (i->into_base[p + 1] - i->into_base[p] >= LEAT_GRAPH_EDGES_PER_PIN_MAX)
            leat_graph_wrong(&j->g->report, i->edge[i->into[i->into_base[p]]].place, "E_LIMIT",
                             "edges into one pin, expected fewer than 2^24");
    free(work);
}

static void join_edges(struct joining *j)
{
    struct leat_graph_instance *i = j->i;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < i->edge_count; k++)
        if (join_edge(j, &i->edge[k])) i->edge[kept++] = i->edge[k];
    i->edge_count = kept;
}

/* ---- pins ----------------------------------------------------------------------------------- */

static bool number_pins(struct joining *j)
{
    struct leat_graph_instance *i = j->i;
    i->input_base = table(j, i->device_count, 0);
    i->output_base = table(j, i->device_count, 0);
    if (j->no_memory) return false;
    uint64_t inputs = 0, outputs = 0;
    for (uint32_t d = 0; d < i->device_count; d++) {
        const uint32_t type = i->device[d].type;
        i->input_base[d] = (uint32_t)inputs;
        i->output_base[d] = (uint32_t)outputs;
        inputs += type == LEAT_GRAPH_NONE ? 0 : j->g->type[type].input.count;
        outputs += type == LEAT_GRAPH_NONE ? 0 : j->g->type[type].output.count;
        if (inputs > INT32_MAX || outputs > INT32_MAX)
            return leat_graph_wrong(&j->g->report, i->device[d].place, "E_LIMIT",
                                    "pins of all devices, expected fewer than 2^31");
    }
    i->input_base[i->device_count] = i->input_count = (uint32_t)inputs;
    i->output_base[i->device_count] = i->output_count = (uint32_t)outputs;
    return true;
}

static void link_pins(struct joining *j)
{
    struct leat_graph_instance *i = j->i;
    if (!number_pins(j)) return;
    i->joined_count = i->edge_count;
    i->into_base = table(j, i->input_count + 1, 0);
    i->out_base = table(j, i->output_count + 1, 0);
    i->into = table(j, i->edge_count, 0);
    i->out = table(j, i->edge_count, 0);
    if (j->no_memory) return;
    sort_edges(i, false, i->into_base, i->input_count, i->into);
    sort_edges(i, true, i->out_base, i->output_count, i->out);
    check_pins(j);
    number_edges(i);
}

bool leat_graph_link(struct leat_graph *graph, struct leat_graph_instance *instance)
{
    struct joining j = { .g = graph, .i = instance };
    link_pins(&j);
    if (j.no_memory) leat_graph_wrong(&graph->report, instance->place, "E_LIMIT", "no memory");
    return !graph->report.error_count;
}

static void check_instance(struct joining *j)
{
    struct leat_graph *g = j->g;
    const struct leat_graph_instance *i = j->i;
    if (g->id && strcmp(g->id, i->type_id) != 0) {
        static const char text[] = "graphTypeId '%.*s', expected '%.*s'";
        /* A published v3 application has a different name here, and there is only one type. */
        if (g->dialect == LEAT_GRAPH_V3)
            leat_graph_warn(&g->report, i->place, "E_REF", text, SHOWN, i->type_id, SHOWN, g->id);
        else
            leat_graph_wrong(&g->report, i->place, "E_REF", text, SHOWN, i->type_id, SHOWN, g->id);
    }
    for (uint32_t k = 0; k < g->instance_count && &g->instance[k] != i; k++)
        if (strcmp(g->instance[k].id, i->id) == 0)
            leat_graph_wrong(&g->report, i->place, "E_DUP",
                             "a second graph instance '%.*s', expected another name", SHOWN, i->id);
    check_value(j, &g->properties, i->properties, i->place, "P");
}

bool leat_graph_join_names(struct leat_graph *graph, struct leat_graph_instance *instance)
{
    struct joining j = { .g = graph, .i = instance };
    j.scratch = malloc(scratch_len(graph));
    if (!j.scratch) j.no_memory = true;
    if (j.scratch) check_instance(&j);
    if (j.scratch && number_types(&j) && join_devices(&j)) join_edges(&j);
    if (j.no_memory) leat_graph_wrong(&graph->report, instance->place, "E_LIMIT", "no memory");
    free(j.device_of);
    free(j.type_of);
    free(j.pin_name);
    free(j.pin_at);
    free(j.scratch);
    return !j.no_memory;
}

void leat_graph_join(struct leat_graph *graph, struct leat_graph_instance *instance)
{
    if (leat_graph_join_names(graph, instance)) leat_graph_link(graph, instance);
}

struct leat_graph_instance *leat_graph_select(struct leat_graph *graph, const char *id)
{
    char all[200] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < graph->instance_count; i++) {
        if (id ? strcmp(graph->instance[i].id, id) == 0 : graph->instance_count == 1)
            return &graph->instance[i];
        if (used < sizeof all - SHOWN - 2)
            used += (size_t)snprintf(all + used, sizeof all - used, " %.*s", SHOWN,
                                     graph->instance[i].id);
    }
    const struct leat_graph_place place = graph->has_type ? graph->place
                                                          : (struct leat_graph_place){ .line = 1 };
    if (!graph->instance_count)
        leat_graph_wrong(&graph->report, place, "E_NOINST", "no GraphInstance, expected one");
    else
        leat_graph_wrong(&graph->report, graph->instance[0].place, "E_NOINST",
                         "%s%.*s, expected --instance with one of%s",
                         id ? "no graph instance " : "several graph instances", SHOWN, id ? id : "",
                         all);
    return NULL;
}
