#include "handler_where.h"
#include <string.h>

/* ---- handlers by their lines ----------------------------------------------------------------- */

static const char *const handler_name[LEAT_GRAPH_HANDLER_COUNT] = {
    [LEAT_GRAPH_READY_TO_SEND] = "ReadyToSend",
    [LEAT_GRAPH_ON_INIT] = "OnInit",
    [LEAT_GRAPH_ON_HARDWARE_IDLE] = "OnHardwareIdle",
    [LEAT_GRAPH_ON_DEVICE_IDLE] = "OnDeviceIdle",
    [LEAT_GRAPH_ON_CTL] = "OnCtl",
    [LEAT_GRAPH_ON_STOP] = "OnStop",
    [LEAT_GRAPH_ON_SUPERVISOR_IDLE] = "OnSupervisorIdle",
    [LEAT_GRAPH_ON_RTCL] = "OnRTCL",
};

/* What is searched, and how many handlers have that line. */
struct search {
    uint16_t file;
    uint32_t line;
    unsigned found;
    struct leat_handler_where *out;
};

static void consider(struct search *s, const struct leat_graph_code *code, const char *handler,
                     const char *pin)
{
    uint32_t lines = 0;
    if (!code->text || code->place.file != s->file) return;
    for (const char *at = code->text; *at; at++)
        lines += *at == '\n';
    if (s->line < code->place.line || s->line > code->place.line + lines) return;
    if (s->found++) return;
    s->out->handler = handler;
    s->out->pin = pin;
}

static void consider_pins(struct search *s, const struct leat_graph_pins *pins, const char *handler)
{
    for (uint32_t i = 0; i < pins->count; i++)
        consider(s, &pins->pin[i].handler, handler, pins->pin[i].name);
}

/* The only handler of the type on this line. */
static bool find_by_line(const struct leat_graph_type *t, struct search *s)
{
    for (int i = 0; i < LEAT_GRAPH_HANDLER_COUNT; i++)
        consider(s, &t->handler[i], handler_name[i], "");
    consider_pins(s, &t->input, "OnReceive");
    consider_pins(s, &t->from_supervisor, "OnReceive");
    consider_pins(s, &t->output, "OnSend");
    consider_pins(s, &t->to_supervisor, "OnSend");
    return s->found == 1;
}

/* ---- handlers by their functions ------------------------------------------------------------- */

struct nearest {
    uintptr_t address, at;
    struct leat_handler_where *out;
};

/* Function pointers are passed by address: ISO C has no conversion to numbers of memory. */
static void nearer(struct nearest *n, const void *function, const char *handler, const char *pin)
{
    uintptr_t at;
    memcpy(&at, function, sizeof at);
    if (!at || at > n->address || at <= n->at) return;
    n->at = at;
    n->out->handler = handler;
    n->out->pin = pin;
}

static void find_device(const struct leat_poets_type *t, struct nearest *n)
{
    nearer(n, &t->ready, handler_name[LEAT_GRAPH_READY_TO_SEND], "");
    nearer(n, &t->init, handler_name[LEAT_GRAPH_ON_INIT], "");
    nearer(n, &t->device_idle, handler_name[LEAT_GRAPH_ON_DEVICE_IDLE], "");
    nearer(n, &t->hardware_idle, handler_name[LEAT_GRAPH_ON_HARDWARE_IDLE], "");
    nearer(n, &t->control, handler_name[LEAT_GRAPH_ON_CTL], "");
    nearer(n, &t->from_supervisor, "OnReceive", "");
    for (uint32_t i = 0; i < t->input_count; i++)
        nearer(n, &t->input[i].receive, "OnReceive", t->input[i].name);
    for (uint32_t i = 0; i < t->output_count; i++)
        nearer(n, &t->output[i].send, "OnSend", t->output[i].name);
}

static void find_supervisor(const struct leat_poets_supervisor *s, struct nearest *n)
{
    nearer(n, &s->create, "", "");
    nearer(n, &s->destroy, "", "");
    nearer(n, &s->init, handler_name[LEAT_GRAPH_ON_INIT], "");
    nearer(n, &s->stop, handler_name[LEAT_GRAPH_ON_STOP], "");
    nearer(n, &s->idle, handler_name[LEAT_GRAPH_ON_SUPERVISOR_IDLE], "");
    nearer(n, &s->control, "OnCTL", "");
    nearer(n, &s->receive, "OnReceive", "");
}

/* ---- places --------------------------------------------------------------------------------- */

static const struct leat_handler_object *object_at(const struct leat_handlers *h, uintptr_t address)
{
    for (uint32_t i = 0; i < h->object_count; i++)
        if (h->object[i].loaded && address >= h->object[i].base &&
            address - h->object[i].base < h->object[i].extent)
            return &h->object[i];
    return NULL;
}

static bool is_named(const char *file, const struct leat_handler_line *line)
{
    const size_t len = strlen(file), name_len = strlen(line->name),
                 folder_len = strlen(line->folder);
    if (!folder_len) return strcmp(file, line->name) == 0;
    return len == folder_len + 1 + name_len && memcmp(file, line->folder, folder_len) == 0 &&
           strcmp(file + folder_len + 1, line->name) == 0;
}

/* The number of a file of the graph; file_count: it is another one. */
static uint16_t file_of(const struct leat_graph_report *r, const struct leat_handler_line *line)
{
    uint16_t i = 0;
    while (i < r->file_count && !is_named(r->file[i], line))
        i++;
    return i;
}

/* The first frame in the text of the graph gives the line. */
static bool take_line(const struct leat_graph *graph, const struct leat_handler_object *o,
                      uintptr_t address, struct search *s)
{
    struct leat_handler_line line;
    if (!leat_handler_lines_find(&o->lines, address - o->base, &line)) return false;
    const uint16_t file = file_of(&graph->report, &line);
    if (file == graph->report.file_count) return false;
    s->out->file = graph->report.file[file];
    s->out->line = line.line;
    s->file = file;
    s->line = line.line;
    return true;
}

bool leat_handlers_where(const struct leat_graph *graph, const struct leat_handlers *handlers,
                         void *const *frame, int count, const void *exact,
                         struct leat_handler_where *out)
{
    const struct leat_handler_object *last = NULL;
    uintptr_t outermost = 0;
    struct search s = { .out = out };
    *out = (struct leat_handler_where){ .handler = "", .pin = "" };
    for (int i = 0; i < count; i++) {
        /* An address behind a call may belong to the next line. */
        const uintptr_t address = (uintptr_t)frame[i] - (frame[i] != exact);
        const struct leat_handler_object *o = object_at(handlers, address);
        if (!o) continue;
        last = o;
        outermost = address;
        if (!out->file) take_line(graph, o, address, &s);
    }
    if (!last || last->type == LEAT_GRAPH_NONE) return last;
    if (out->file && find_by_line(&graph->type[last->type], &s)) return true;
    out->handler = out->pin = "";
    struct nearest n = { .address = outermost, .out = out };
    if (graph->type[last->type].kind == LEAT_GRAPH_SUPERVISOR)
        find_supervisor(handlers->supervisor, &n);
    else
        find_device(handlers->type[last->type], &n);
    return true;
}
