/* leat graph info: describes an application. */
#include "graph_job.h"
#include "json_out.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_EXPAT

enum { BINS = 33, BLOCK_LEN = 16, PIN_LEN = 8 };

/* How many devices have how many edges: none, one, 2 to 3, 4 to 7, ... */
struct degrees {
    uint32_t least, most, bin[BINS];
    uint64_t sum, count;
};

static void count_degree(struct degrees *d, uint32_t degree)
{
    int bin = 0;
    while (bin < BINS - 1 && degree >> bin)
        bin++;
    d->bin[bin]++;
    if (!d->count || degree < d->least) d->least = degree;
    if (degree > d->most) d->most = degree;
    d->sum += degree;
    d->count++;
}

static struct degrees degrees_of(const struct leat_graph_instance *i, const uint32_t *pins,
                                 const uint32_t *edges)
{
    struct degrees d = { 0 };
    for (uint32_t k = 0; k < i->device_count; k++)
        count_degree(&d, edges[pins[k + 1]] - edges[pins[k]]);
    return d;
}

/* ---- counts --------------------------------------------------------------------------------- */

struct census {
    uint32_t *devices;    /* by type */
    uint64_t *into, *out; /* by type and pin: edges */
    uint32_t *pin_at;     /* by type, in both */
    uint32_t normal, externals;
    uint64_t octets; /* that a run needs for devices and edges */
    bool octets_known;
};

static uint64_t edge_octets(const struct leat_graph_pin *pin)
{
    return (pin->properties.given ? pin->properties.layout.size : 0) +
           (uint64_t)(pin->state.given ? pin->state.layout.size : 0);
}

static void count_device(const struct leat_graph *g, const struct leat_graph_instance *i,
                         uint32_t d, struct census *c)
{
    const uint32_t type = i->device[d].type, *pin_at = c->pin_at;
    const struct leat_graph_type *t = &g->type[type];
    c->devices[type]++;
    *(t->kind == LEAT_GRAPH_EXTERNAL ? &c->externals : &c->normal) += 1;
    c->octets += BLOCK_LEN + t->properties.layout.size + t->state.layout.size +
                 (uint64_t)PIN_LEN * (t->input.count + t->output.count);
    for (uint32_t p = 0; p < t->input.count; p++) {
        const uint32_t at = i->input_base[d] + p, count = i->into_base[at + 1] - i->into_base[at];
        c->into[pin_at[type] + p] += count;
        c->octets += count * edge_octets(&t->input.pin[p]);
    }
    for (uint32_t p = 0; p < t->output.count; p++) {
        const uint32_t at = i->output_base[d] + p;
        c->out[pin_at[type] + p] += i->out_base[at + 1] - i->out_base[at];
    }
}

static bool is_known(const struct leat_graph_type *t)
{
    bool known = t->properties.plain && t->state.plain;
    for (uint32_t p = 0; p < t->input.count; p++)
        known = known && t->input.pin[p].properties.plain && t->input.pin[p].state.plain;
    return known;
}

static bool take_census(const struct leat_graph *g, const struct leat_graph_instance *i,
                        struct census *c)
{
    uint32_t pins = 0;
    c->devices = calloc(g->type_count + 1, sizeof *c->devices);
    c->pin_at = calloc(g->type_count + 1, sizeof *c->pin_at);
    if (!c->devices || !c->pin_at) return false;
    for (uint32_t t = 0; t < g->type_count; t++) {
        const uint32_t in = g->type[t].input.count, out = g->type[t].output.count;
        c->pin_at[t] = pins;
        pins += in > out ? in : out;
    }
    c->into = calloc(pins + 1, sizeof *c->into);
    c->out = calloc(pins + 1, sizeof *c->out);
    if (!c->into || !c->out) return false;
    for (uint32_t d = 0; d < i->device_count; d++)
        count_device(g, i, d, c);
    c->octets += (uint64_t)i->joined_count * PIN_LEN;
    c->octets_known = true;
    for (uint32_t t = 0; t < g->type_count; t++)
        c->octets_known = c->octets_known && (!c->devices[t] || is_known(&g->type[t]));
    return true;
}

static void free_census(struct census *c)
{
    free(c->devices);
    free(c->pin_at);
    free(c->into);
    free(c->out);
}

/* ---- JSON and text -------------------------------------------------------------------------- */

/* A number, or null: only a compiler knows it. */
static void put_number(struct leat_json *j, const char *key, bool known, uint64_t number)
{
    if (known)
        leat_json_uint(j, key, number);
    else
        leat_json_null(j, key);
}

static void put_octets(const char *key, const char *what, const struct leat_graph_struct *data,
                       struct leat_json *j, FILE *out)
{
    const uint32_t size = data->layout.count ? data->layout.size : 0;
    put_number(j, key, data->plain, size);
    if (!data->plain)
        text_print(out, ", %s of the compiler", what);
    else if (data->layout.count)
        text_print(out, ", %s %u octets", what, size);
}

/* key NULL: not in JSON; edges NULL: it has none. */
static void put_pins(const struct leat_graph *g, const char *key, const char *what,
                     const struct leat_graph_pins *pins, const uint64_t *edges, struct leat_json *j,
                     FILE *out)
{
    if (key) leat_json_array(j, key);
    for (uint32_t i = 0; i < pins->count; i++) {
        const struct leat_graph_pin *pin = &pins->pin[i];
        const uint32_t len = leat_graph_payload_len(g, pin);
        const uint64_t edge_count = edges ? edges[i] : 0;
        text_print(out, "    %-7s %-20s %s", what, pin->name, pin->message_id);
        if (len != LEAT_GRAPH_NONE) text_print(out, " (%u octets)", len);
        text_print(out, "%s, %llu edges\n", pin->indexed ? ", indexed" : "",
                   (unsigned long long)edge_count);
        if (!key) continue;
        leat_json_object(j, NULL);
        leat_json_string(j, "name", pin->name);
        leat_json_string(j, "message", pin->message_id);
        put_number(j, "bytes", len != LEAT_GRAPH_NONE, len);
        leat_json_bool(j, "indexed", pin->indexed);
        leat_json_uint(j, "edges", edge_count);
        leat_json_end(j);
    }
    if (key) leat_json_end(j);
}

static void put_type(const struct leat_graph *g, uint32_t index, const struct census *c,
                     struct leat_json *j, FILE *out)
{
    static const struct {
        const char *key, *text;
    } kinds[] = { { "device", "device type" },
                  { "external", "external type" },
                  { "supervisor", "supervisor" } };
    const struct leat_graph_type *t = &g->type[index];
    FILE *of_devices = t->kind == LEAT_GRAPH_SUPERVISOR ? NULL : out;
    leat_json_object(j, NULL);
    leat_json_string(j, "id", t->id);
    leat_json_string(j, "kind", kinds[t->kind].key);
    leat_json_uint(j, "devices", c->devices[index]);
    text_print(out, "  %s %s", kinds[t->kind].text, t->id);
    text_print(of_devices, ": %u", c->devices[index]);
    put_octets("properties_bytes", "properties", &t->properties, j, of_devices);
    put_octets("state_bytes", "state", &t->state, j, of_devices);
    text_print(out, "\n");
    put_pins(g, "inputs", "input", &t->input, c->into + c->pin_at[index], j, out);
    put_pins(g, "outputs", "output", &t->output, c->out + c->pin_at[index], j, out);
    put_pins(g, NULL, "from", &t->from_supervisor, NULL, j, out);
    put_pins(g, NULL, "to", &t->to_supervisor, NULL, j, out);
    leat_json_end(j);
}

static void put_degrees(const char *key, const char *what, const struct degrees *d,
                        struct leat_json *j, FILE *out)
{
    const double mean = d->count ? (double)d->sum / (double)d->count : 0;
    leat_json_object(j, key);
    leat_json_uint(j, "least", d->least);
    json_general(j, "mean", mean, 6);
    leat_json_uint(j, "most", d->most);
    text_print(out, "  %s %u to %u, mean %.3g\n", what, d->least, d->most, mean);
    leat_json_array(j, "histogram");
    for (int i = 0; i < BINS; i++) {
        const uint32_t from = i ? UINT32_C(1) << (i - 1) : 0,
                       to = i ? (uint32_t)((UINT64_C(1) << i) - 1) : 0;
        char range[32];
        if (!d->bin[i]) continue;
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "from", from }, { "to", to }, { "devices", d->bin[i] });
        leat_json_end(j);
        snprintf(range, sizeof range, from == to ? "%u" : "%u to %u", from, to);
        text_print(out, "    %-20s %10u devices\n", range, d->bin[i]);
    }
    leat_json_end(j);
    leat_json_end(j);
}

static void put_all(const struct graph_task *task, uint32_t number, const struct census *c,
                    bool json)
{
    const struct leat_graph *g = &task->graph;
    const struct leat_graph_instance *i = task->instance;
    const struct degrees in = degrees_of(i, i->input_base, i->into_base);
    const struct degrees out_of = degrees_of(i, i->output_base, i->out_base);
    const char *dialect = leat_graph_dialect_name(g->dialect);
    FILE *out = json ? NULL : stdout;
    struct json_out file;
    struct leat_json *j = json_open(&file, json ? stdout : NULL);
    text_print(out, "%s%s of %s (%s): %u devices, %u externals, %u edges\n", task->prefix, i->id,
               g->id, dialect, c->normal, c->externals, i->joined_count);
    leat_json_uint(j, "task", number);
    leat_json_string(j, "file", g->report.file[0]);
    leat_json_string(j, "dialect", dialect);
    leat_json_string(j, "graph_type", g->id);
    leat_json_string(j, "instance", i->id);
    leat_json_array(j, "message_types");
    for (uint32_t k = 0; k < g->message_count; k++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "id", g->message[k].id);
        put_octets("bytes", NULL, &g->message[k].data, j, NULL);
        leat_json_end(j);
    }
    leat_json_end(j);
    leat_json_array(j, "device_types");
    for (uint32_t k = 0; k < g->type_count; k++)
        put_type(g, k, c, j, out);
    leat_json_end(j);
    LEAT_JSON_UINTS(j, { "devices", c->normal }, { "externals", c->externals },
                    { "edges", i->joined_count });
    put_degrees("in_degree", "edges into a device", &in, j, out);
    put_degrees("out_degree", "edges out of a device", &out_of, j, out);
    put_number(j, "memory_bytes", c->octets_known, c->octets);
    if (c->octets_known)
        text_print(out, "  memory               %20llu octets\n", (unsigned long long)c->octets);
    json_close(&file, json_status());
}

bool graph_show(const struct graph_task *task, uint32_t number, bool json)
{
    struct census c = { 0 };
    const bool taken = take_census(&task->graph, task->instance, &c) || complain("no memory");
    if (taken) put_all(task, number, &c, json);
    free_census(&c);
    return taken;
}

#endif
