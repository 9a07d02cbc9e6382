/* Graphs built in code: calls create what leat_graph_read creates from a file. */
#include "graph_parts.h"
#include "graph_place.h"
#include "poets_parts.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct leat_poets_graph {
    struct leat_graph graph;
    struct leat_poets_c_type *type[LEAT_POETS_TYPES_MAX];         /* as in graph.type */
    const struct leat_poets_type *type_for[LEAT_POETS_TYPES_MAX]; /* engines */
    const struct leat_poets_supervisor_type *supervisor;
    struct leat_poets_c_supervisor supervisor_for;
    size_t octets_len, octets_cap; /* of graph.octets */
    struct leat_handlers handlers;
    struct leat_poets_machine machine;
    bool has_run;
    bool broken; /* by an error in building it */
    char why[LEAT_POETS_WHY_LEN];
};

static bool wrong(struct leat_poets_graph *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Keeps the first error, which invalidates the graph. Always false. */
static bool wrong(struct leat_poets_graph *g, const char *format, ...)
{
    va_list words;
    if (g->broken) return false;
    g->broken = true;
    va_start(words, format);
    vsnprintf(g->why, sizeof g->why, format, words);
    va_end(words);
    return false;
}

static bool is_sound(const struct leat_poets_graph *g)
{
    return g && !g->broken;
}

const char *leat_poets_graph_why(const struct leat_poets_graph *graph)
{
    return graph ? graph->why : "no memory";
}

/* ---- structs and values --------------------------------------------------------------------- */

/* A struct of which only the length is known. */
static bool make_struct(struct leat_graph_struct *out, uint32_t len)
{
    out->given = len;
    out->plain = true;
    out->layout.size = len;
    out->layout.align = 1;
    out->layout.initial = calloc(1, len + 1);
    return out->layout.initial;
}

/* A copy of a value; its number, 0: zeros, or no memory. */
static uint32_t keep_value(struct leat_poets_graph *g, const void *octets, size_t len)
{
    if (!octets || !len) return 0;
    const size_t room = (len + LEAT_GRAPH_VALUE_UNIT - 1) / LEAT_GRAPH_VALUE_UNIT *
                        LEAT_GRAPH_VALUE_UNIT;
    if (g->octets_len + room > g->octets_cap) {
        const size_t cap = g->octets_cap + g->octets_cap / 2 + room;
        uint8_t *grown = cap / LEAT_GRAPH_VALUE_UNIT < UINT32_MAX ? realloc(g->graph.octets, cap)
                                                                  : NULL;
        if (!grown) return wrong(g, "no memory for properties");
        g->graph.octets = grown;
        g->octets_cap = cap;
    }
    memcpy(g->graph.octets + g->octets_len, octets, len);
    const uint32_t number = (uint32_t)(g->octets_len / LEAT_GRAPH_VALUE_UNIT) + 1;
    g->octets_len += room;
    return number;
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool check_message(struct leat_poets_graph *g, const struct leat_poets_device_type *type,
                          const char *pin, uint32_t len, bool has_handler)
{
    if (!has_handler) return wrong(g, "device type %s: pin %s has no handler", type->name, pin);
    if (len <= LEAT_POETS_MESSAGE_MAX) return true;
    return wrong(g, "device type %s: the message of pin %s has %u octets, expected at most %d",
                 type->name, pin, len, LEAT_POETS_MESSAGE_MAX);
}

static bool check_type(struct leat_poets_graph *g, const struct leat_poets_device_type *type)
{
    if (!type || !type->name || !*type->name) return wrong(g, "a device type without a name");
    const uint32_t outputs = leat_poets_output_count(type);
    if (type->state_len > LEAT_POETS_STRUCT_MAX || type->properties_len > LEAT_POETS_STRUCT_MAX)
        return wrong(g, "device type %s: state or properties, expected at most %d octets",
                     type->name, LEAT_POETS_STRUCT_MAX);
    if (!type->ready && (outputs || type->to_supervisor))
        return wrong(g, "device type %s has outputs, expected `ready`", type->name);
    for (uint32_t i = 0; i < leat_poets_input_count(type); i++) {
        const struct leat_poets_input *in = &type->input[i];
        if (!check_message(g, type, in->name, in->message_len, in->receive)) return false;
        if (in->edge_properties_len > LEAT_POETS_STRUCT_MAX ||
            in->edge_state_len > LEAT_POETS_STRUCT_MAX)
            return wrong(g, "device type %s: edges of %s, expected at most %d octets", type->name,
                         in->name, LEAT_POETS_STRUCT_MAX);
    }
    for (uint32_t i = 0; i < outputs; i++)
        if (!check_message(g, type, type->output[i].name, type->output[i].message_len,
                           type->output[i].send))
            return false;
    return true;
}

/* The pins of a type, for the tables of edges: only inputs have structs. */
static bool make_pins(struct leat_graph_pins *out, uint32_t count)
{
    out->pin = calloc(count + 1, sizeof *out->pin);
    out->count = out->pin ? count : 0;
    return out->pin;
}

static bool make_type(struct leat_graph_type *t, const struct leat_poets_device_type *own)
{
    *t = (struct leat_graph_type){ .kind = LEAT_GRAPH_DEVICE, .id = strdup(own->name) };
    bool good = t->id && make_struct(&t->state, own->state_len) &&
                make_struct(&t->properties, own->properties_len) &&
                make_pins(&t->input, leat_poets_input_count(own)) &&
                make_pins(&t->output, leat_poets_output_count(own));
    for (uint32_t i = 0; good && i < t->input.count; i++)
        good = make_struct(&t->input.pin[i].properties, own->input[i].edge_properties_len) &&
               make_struct(&t->input.pin[i].state, own->input[i].edge_state_len);
    for (uint32_t i = 0; good && i < t->output.count; i++)
        t->output.pin[i].indexed = own->output[i].indexed;
    return good;
}

/* The number of a type, which is added if new. False: there is an error. */
static bool find_type(struct leat_poets_graph *g, const struct leat_poets_device_type *own,
                      uint32_t *number)
{
    struct leat_graph *graph = &g->graph;
    for (*number = 0; *number < graph->type_count; ++*number)
        if (g->type[*number]->own == own) return true;
    if (!check_type(g, own)) return false;
    if (graph->type_count == LEAT_POETS_TYPES_MAX)
        return wrong(g, "device types, expected at most %d", LEAT_POETS_TYPES_MAX);
    struct leat_poets_c_type *type = calloc(1, sizeof *type);
    if (!type || !leat_graph_grow((void **)&graph->type, graph->type_count, &graph->type_cap,
                                  sizeof *graph->type, LEAT_POETS_TYPES_MAX)) {
        free(type);
        return wrong(g, "no memory for device type %s", own->name);
    }
    type->own = own;
    g->type[*number] = type;
    return make_type(&graph->type[graph->type_count++], own) ||
           wrong(g, "no memory for device type %s", own->name);
}

/* ---- building ------------------------------------------------------------------------------- */

struct leat_poets_graph *leat_poets_graph_open(const char *name, const void *properties, size_t len)
{
    struct leat_poets_graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    struct leat_graph *graph = &g->graph;
    const bool fits = len <= LEAT_POETS_STRUCT_MAX;
    if (!fits) wrong(g, "properties of the graph, expected at most %d", LEAT_POETS_STRUCT_MAX);
    graph->instance = calloc(1, sizeof *graph->instance);
    graph->instance_count = graph->instance != NULL;
    graph->id = strdup(name ? name : "graph");
    /* Octets, not words, from the first value on. */
    graph->octets = malloc(LEAT_GRAPH_VALUE_UNIT);
    g->octets_cap = LEAT_GRAPH_VALUE_UNIT;
    if (!graph->instance || !graph->id || !graph->octets ||
        !make_struct(&graph->properties, fits ? (uint32_t)len : 0) ||
        !(graph->instance->id = strdup(graph->id))) {
        leat_poets_graph_close(g);
        return NULL;
    }
    if (fits) graph->instance->properties = keep_value(g, properties, len);
    return g;
}

void leat_poets_graph_close(struct leat_poets_graph *graph)
{
    if (!graph) return;
    leat_poets_machine_free(&graph->machine);
    for (uint32_t i = 0; i < graph->graph.type_count; i++)
        free(graph->type[i]);
    leat_graph_free(&graph->graph);
    free(graph);
}

/* Its own name, or one made from its type's and its number. */
static bool name_device(struct leat_poets_graph *g, const char *type, const char *name,
                        uint32_t *out)
{
    char made[128];
    struct leat_graph_strings *names = &g->graph.names;
    const uint32_t before = names->count;
    if (!name) {
        snprintf(made, sizeof made, "%.100s_%u", type, g->graph.instance->device_count);
        name = made;
    }
    *out = leat_graph_strings_add(names, name, strlen(name));
    if (!*out) return wrong(g, "no memory for device %.100s", name);
    return names->count > before ||
           wrong(g, "a second device '%.100s', expected another name", name);
}

uint32_t leat_poets_graph_device(struct leat_poets_graph *graph,
                                 const struct leat_poets_device_type *type, const char *name,
                                 const void *properties)
{
    struct leat_poets_graph *g = graph;
    uint32_t number, string;
    if (!is_sound(g) || !find_type(g, type, &number) || !name_device(g, type->name, name, &string))
        return LEAT_POETS_NONE;
    struct leat_graph_instance *i = g->graph.instance;
    if (!leat_graph_grow((void **)&i->device, i->device_count, &i->device_cap, sizeof *i->device,
                         INT32_MAX)) {
        wrong(g, "no memory for device %u", i->device_count);
        return LEAT_POETS_NONE;
    }
    i->device[i->device_count] = (struct leat_graph_device){
        .name = string,
        .properties = keep_value(g, properties, type->properties_len),
        .type = number,
    };
    return is_sound(g) ? i->device_count++ : LEAT_POETS_NONE;
}

static const struct leat_poets_device_type *type_of(const struct leat_poets_graph *g,
                                                    uint32_t device)
{
    return g->type[g->graph.instance->device[device].type]->own;
}

/* Do these devices and pins exist, and do they carry the same message? */
static bool check_edge(struct leat_poets_graph *g, uint32_t to, unsigned in, uint32_t from,
                       unsigned out)
{
    const struct leat_graph_instance *i = g->graph.instance;
    if (to >= i->device_count || from >= i->device_count)
        return wrong(g, "edge %u: from device %u to %u, expected 0 to %u", i->edge_count, from, to,
                     i->device_count - 1);
    const struct leat_poets_device_type *a = type_of(g, from), *b = type_of(g, to);
    if (in >= leat_poets_input_count(b))
        return wrong(g, "edge %u: input %u of device %.100s, expected below %u (%s)", i->edge_count,
                     in, leat_graph_device_name(&g->graph, i, to), leat_poets_input_count(b),
                     b->name);
    if (out >= leat_poets_output_count(a))
        return wrong(g, "edge %u: output %u of device %.100s, expected below %u (%s)",
                     i->edge_count, out, leat_graph_device_name(&g->graph, i, from),
                     leat_poets_output_count(a), a->name);
    if (b->input[in].message_len == a->output[out].message_len) return true;
    return wrong(g, "edge %u: %s.%s carries %u octets and %s.%s %u, expected the same message",
                 i->edge_count, b->name, b->input[in].name, b->input[in].message_len, a->name,
                 a->output[out].name, a->output[out].message_len);
}

bool leat_poets_graph_edge(struct leat_poets_graph *graph, uint32_t to, unsigned in, uint32_t from,
                           unsigned out, const void *properties)
{
    struct leat_poets_graph *g = graph;
    if (!is_sound(g) || !check_edge(g, to, in, from, out)) return false;
    struct leat_graph_instance *i = g->graph.instance;
    if (!leat_graph_grow((void **)&i->edge, i->edge_count, &i->edge_cap, sizeof *i->edge,
                         INT32_MAX))
        return wrong(g, "no memory for edge %u", i->edge_count);
    i->edge[i->edge_count] = (struct leat_graph_edge){
        .to = to,
        .from = from,
        .properties = keep_value(g, properties, type_of(g, to)->input[in].edge_properties_len),
        .number = LEAT_GRAPH_NONE,
        .to_pin = (uint16_t)in,
        .from_pin = (uint16_t)out,
    };
    i->edge_count += is_sound(g);
    return is_sound(g);
}

bool leat_poets_graph_supervisor(struct leat_poets_graph *graph,
                                 const struct leat_poets_supervisor_type *type)
{
    if (!is_sound(graph)) return false;
    if (type->message_len > LEAT_POETS_MESSAGE_MAX || type->answer_len > LEAT_POETS_MESSAGE_MAX)
        return wrong(graph, "messages of the supervisor have %u and %u octets, expected at most %d",
                     type->message_len, type->answer_len, LEAT_POETS_MESSAGE_MAX);
    if (type->state_len > LEAT_POETS_STRUCT_MAX)
        return wrong(graph, "state of the supervisor, expected at most %d octets",
                     LEAT_POETS_STRUCT_MAX);
    graph->supervisor = type;
    return true;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Without a schedule, connected devices share a thread. */
static bool build_machine(struct leat_poets_graph *g, const struct leat_poets_run_options *run)
{
    struct leat_graph *graph = &g->graph;
    const uint32_t threads = leat_poets_run_threads(run);
    uint32_t *order = leat_graph_order(
        graph, graph->instance,
        run->schedule == LEAT_POETS_RUN_FREE ? LEAT_POETS_PLACE_LOCALITY : LEAT_POETS_PLACE_BLOCK,
        threads, run->seed);
    const bool good = order && leat_poets_machine_build(&g->machine, graph, graph->instance,
                                                        &g->handlers, threads, order, 0, 1);
    free(order);
    return good;
}

/* Again, since edges may have been added after a run. None has a sendIndex. */
static bool link_edges(struct leat_graph *graph)
{
    struct leat_graph_instance *i = graph->instance;
    leat_graph_unlink(i);
    for (uint32_t e = 0; e < i->edge_count; e++)
        i->edge[e].number = LEAT_GRAPH_NONE;
    return leat_graph_link(graph, i);
}

static bool make_machine(struct leat_poets_graph *g, const struct leat_poets_run_options *run)
{
    const struct leat_poets_supervisor_type *s = g->supervisor;
    struct leat_graph *graph = &g->graph;
    if (!is_sound(g)) return false;
    for (uint32_t i = 0; i < graph->type_count; i++) {
        if (g->type[i]->own->to_supervisor && !(s && s->receive))
            return wrong(g, "device type %s speaks to a supervisor, expected one that receives",
                         g->type[i]->own->name);
        leat_poets_c_type_make(g->type[i], g->type[i]->own, s ? s->message_len : 0,
                               s ? s->answer_len : 0);
        g->type_for[i] = &g->type[i]->type;
    }
    if (s) leat_poets_c_supervisor_make(&g->supervisor_for, s);
    g->handlers = (struct leat_handlers){ .type = g->type_for,
                                          .supervisor = s ? &g->supervisor_for.supervisor : NULL };
    leat_poets_machine_free(&g->machine);
    if (link_edges(graph) && build_machine(g, run)) return true;
    return wrong(g, "%s", graph->report.kept ? graph->report.mistake[0].text : "no memory");
}

static bool check_options(struct leat_poets_graph *g, const struct leat_poets_options *o)
{
    if ((unsigned)o->schedule > LEAT_POETS_SCHEDULE_DELAY)
        return wrong(g, "schedule %d, expected one of enum leat_poets_schedule", (int)o->schedule);
    if (!(o->delay >= 0 && o->delay <= 0.99))
        return wrong(g, "delay %g, expected 0 to 0.99", o->delay);
    if (!(o->seconds_max >= 0))
        return wrong(g, "seconds_max %g, expected 0 or more", o->seconds_max);
    return o->workers <= LEAT_POETS_RUN_WORKERS_MAX ||
           wrong(g, "workers %u, expected at most %d", o->workers, LEAT_POETS_RUN_WORKERS_MAX);
}

static void pass_line(void *context, uint32_t index, const char *text, size_t len)
{
    const struct leat_poets_options *o = context;
    char *copy = strndup(text, len);
    if (copy) o->line(o->context, index, copy);
    free(copy);
}

static struct leat_poets_run_options run_options(const struct leat_poets_options *o)
{
    enum { LOG_LEVEL = 2 };
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t workers = o->workers ? o->workers : processors > 0 ? (uint32_t)processors : 1;
    if (workers > LEAT_POETS_RUN_WORKERS_MAX) workers = LEAT_POETS_RUN_WORKERS_MAX;
    struct leat_poets_run_options run = {
        .host = { .lines = stdout,
                  .line = o->line ? pass_line : NULL,
                  .context = (void *)(uintptr_t)o,
                  .stop_ack = true,
                  .interval = LEAT_POETS_INTERVAL },
        .schedule = (enum leat_poets_run_schedule)o->schedule,
        .delay = o->delay,
        .seed = o->seed,
        .quantum = o->quantum,
        .workers = workers,
        .rts = o->latched ? LEAT_POETS_LATCHED : LEAT_POETS_LEVEL,
        .log_level = o->log_level ? o->log_level : LOG_LEVEL,
        .until_stop = o->until_stop,
        .seconds_max = o->seconds_max,
        .idle_steps = o->idle_steps,
    };
    return run;
}

static const enum leat_poets_reason reason_of[LEAT_POETS_RUN_REASON_COUNT] = {
    [LEAT_POETS_RUN_RUNNING] = LEAT_POETS_END_ASSERTION,
    [LEAT_POETS_RUN_SUCCESS] = LEAT_POETS_END_SUCCESS,
    [LEAT_POETS_RUN_STOPPED] = LEAT_POETS_END_STOPPED,
    [LEAT_POETS_RUN_FAILED] = LEAT_POETS_END_FAILED,
    [LEAT_POETS_RUN_IDLE] = LEAT_POETS_END_IDLE,
    [LEAT_POETS_RUN_ASSERTION] = LEAT_POETS_END_ASSERTION,
    [LEAT_POETS_RUN_LIMIT] = LEAT_POETS_END_LIMIT,
    [LEAT_POETS_RUN_INTERRUPTED] = LEAT_POETS_END_ASSERTION,
};

bool leat_poets_graph_run(struct leat_poets_graph *graph, const struct leat_poets_options *options,
                          struct leat_poets_result *out)
{
    static const struct leat_poets_options none = { 0 };
    const struct leat_poets_options *o = options ? options : &none;
    struct leat_poets_run_result r;
    *out = (struct leat_poets_result){ 0 };
    if (!is_sound(graph)) return false;
    graph->why[0] = '\0';
    if (!check_options(graph, o)) return graph->broken = false;
    const struct leat_poets_run_options run = run_options(o);
    graph->has_run = false;
    if (!make_machine(graph, &run)) return false;
    if (!leat_poets_run(&graph->machine, &run, &r))
        return wrong(graph, "no memory, or too many packets wait at a device");
    graph->has_run = true;
    *out = (struct leat_poets_result){ .reason = reason_of[r.reason],
                                       .reason_name = leat_poets_run_reason_name(r.reason),
                                       .seconds = r.seconds,
                                       .receives = r.receives,
                                       .sends = r.sends,
                                       .supervisor_messages = r.supervisor_packets,
                                       .lines = r.lines,
                                       .epochs = r.epochs,
                                       .states = r.digest };
    return true;
}

const void *leat_poets_graph_state(const struct leat_poets_graph *graph, uint32_t device)
{
    if (!graph || !graph->has_run || device >= graph->machine.device_count) return NULL;
    const uint8_t *block = (const uint8_t *)leat_poets_machine_block(&graph->machine, device);
    return block + graph->type[graph->graph.instance->device[device].type]->type.state_at;
}
