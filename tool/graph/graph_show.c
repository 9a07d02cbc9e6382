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

static uint32_t bin_from(int bin)
{
    return bin ? UINT32_C(1) << (bin - 1) : 0;
}

static uint32_t bin_to(int bin)
{
    return bin ? (uint32_t)((UINT64_C(1) << bin) - 1) : 0;
}

static double mean_of(const struct degrees *d)
{
    return d->count ? (double)d->sum / (double)d->count : 0;
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

/* ---- JSON ----------------------------------------------------------------------------------- */

static void put_octets(struct leat_json *j, const char *key, const struct leat_graph_struct *data)
{
    if (!data->plain)
        leat_json_null(j, key);
    else
        leat_json_uint(j, key, data->layout.count ? data->layout.size : 0);
}

static void put_pins(struct leat_json *j, const char *key, const struct leat_graph *g,
                     const struct leat_graph_pins *pins, const uint64_t *edges)
{
    leat_json_array(j, key);
    for (uint32_t i = 0; i < pins->count; i++) {
        const struct leat_graph_pin *pin = &pins->pin[i];
        const uint32_t len = leat_graph_payload_len(g, pin);
        leat_json_object(j, NULL);
        leat_json_string(j, "name", pin->name);
        leat_json_string(j, "message", pin->message_id);
        if (len == LEAT_GRAPH_NONE)
            leat_json_null(j, "octets");
        else
            leat_json_uint(j, "octets", len);
        leat_json_bool(j, "indexed", pin->indexed);
        leat_json_uint(j, "edges", edges ? edges[i] : 0);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_type(struct leat_json *j, const struct leat_graph *g, uint32_t index,
                     const struct census *c)
{
    static const char *const kinds[] = { "device", "external", "supervisor" };
    const struct leat_graph_type *t = &g->type[index];
    leat_json_object(j, NULL);
    leat_json_string(j, "id", t->id);
    leat_json_string(j, "kind", kinds[t->kind]);
    leat_json_uint(j, "devices", c->devices[index]);
    put_octets(j, "properties", &t->properties);
    put_octets(j, "state", &t->state);
    put_pins(j, "inputs", g, &t->input, c->into + c->pin_at[index]);
    put_pins(j, "outputs", g, &t->output, c->out + c->pin_at[index]);
    leat_json_end(j);
}

static void put_degrees(struct leat_json *j, const char *name, const struct degrees *d)
{
    leat_json_object(j, name);
    leat_json_uint(j, "least", d->least);
    json_general(j, "mean", mean_of(d), 6);
    leat_json_uint(j, "most", d->most);
    leat_json_array(j, "histogram");
    for (int i = 0; i < BINS; i++) {
        if (!d->bin[i]) continue;
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "from", bin_from(i) }, { "to", bin_to(i) }, { "devices", d->bin[i] });
        leat_json_end(j);
    }
    leat_json_end(j);
    leat_json_end(j);
}

static void show_json(const struct leat_graph *g, const struct leat_graph_instance *i,
                      const struct census *c, const struct degrees *in, const struct degrees *out)
{
    struct json_out file;
    struct leat_json *j = json_open(&file, stdout);
    leat_json_string(j, "file", g->report.file[0]);
    leat_json_string(j, "dialect", leat_graph_dialect_name(g->dialect));
    leat_json_string(j, "graph_type", g->id);
    leat_json_string(j, "instance", i->id);
    leat_json_array(j, "messages");
    for (uint32_t k = 0; k < g->message_count; k++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "id", g->message[k].id);
        put_octets(j, "octets", &g->message[k].data);
        leat_json_end(j);
    }
    leat_json_end(j);
    leat_json_array(j, "device_types");
    for (uint32_t k = 0; k < g->type_count; k++)
        put_type(j, g, k, c);
    leat_json_end(j);
    LEAT_JSON_UINTS(j, { "devices", c->normal }, { "externals", c->externals },
                    { "edges", i->joined_count });
    put_degrees(j, "in_degree", in);
    put_degrees(j, "out_degree", out);
    if (c->octets_known)
        leat_json_uint(j, "memory_octets", c->octets);
    else
        leat_json_null(j, "memory_octets");
    json_close(&file);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void show_pins(const struct leat_graph *g, const char *what,
                      const struct leat_graph_pins *pins, const uint64_t *edges)
{
    for (uint32_t i = 0; i < pins->count; i++) {
        const uint32_t len = leat_graph_payload_len(g, &pins->pin[i]);
        printf("    %-7s %-20s %s", what, pins->pin[i].name, pins->pin[i].message_id);
        if (len != LEAT_GRAPH_NONE) printf(" (%u octets)", len);
        printf("%s, %llu edges\n", pins->pin[i].indexed ? ", indexed" : "",
               (unsigned long long)(edges ? edges[i] : 0));
    }
}

static void show_size(const char *what, const struct leat_graph_struct *data)
{
    if (!data->plain)
        printf(", %s of the compiler", what);
    else if (data->layout.count)
        printf(", %s %u octets", what, data->layout.size);
}

static void show_degrees(const char *what, const struct degrees *d)
{
    printf("  %s %u to %u, mean %.3g\n", what, d->least, d->most, mean_of(d));
    for (int i = 0; i < BINS; i++) {
        char range[32];
        if (!d->bin[i]) continue;
        snprintf(range, sizeof range, bin_from(i) == bin_to(i) ? "%u" : "%u to %u", bin_from(i),
                 bin_to(i));
        printf("    %-20s %10u devices\n", range, d->bin[i]);
    }
}

static void show_text(const struct leat_graph *g, const struct leat_graph_instance *i,
                      const struct census *c, const struct degrees *in, const struct degrees *out)
{
    static const char *const kinds[] = { "device type", "external type", "supervisor" };
    printf("%s of %s (%s): %u devices, %u externals, %u edges\n", i->id, g->id,
           leat_graph_dialect_name(g->dialect), c->normal, c->externals, i->joined_count);
    for (uint32_t k = 0; k < g->type_count; k++) {
        const struct leat_graph_type *t = &g->type[k];
        printf("  %s %s", kinds[t->kind], t->id);
        if (t->kind != LEAT_GRAPH_SUPERVISOR) {
            printf(": %u", c->devices[k]);
            show_size("properties", &t->properties);
            show_size("state", &t->state);
        }
        putchar('\n');
        show_pins(g, "input", &t->input, c->into + c->pin_at[k]);
        show_pins(g, "output", &t->output, c->out + c->pin_at[k]);
        show_pins(g, "from", &t->from_supervisor, NULL);
        show_pins(g, "to", &t->to_supervisor, NULL);
    }
    show_degrees("edges into a device", in);
    show_degrees("edges out of a device", out);
    if (c->octets_known)
        printf("  memory               %20llu octets\n", (unsigned long long)c->octets);
}

void graph_show(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                bool json)
{
    struct census c = { 0 };
    if (take_census(graph, instance, &c)) {
        const struct degrees in = degrees_of(instance, instance->input_base, instance->into_base);
        const struct degrees out = degrees_of(instance, instance->output_base, instance->out_base);
        (json ? show_json : show_text)(graph, instance, &c, &in, &out);
    } else {
        complain("no memory");
    }
    free_census(&c);
}

#endif
