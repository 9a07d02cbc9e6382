#include "graph_restore.h"
#include "graph_snapshot.h"
#include <errno.h>
#include <expat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16,
    TEXT_LEN_MAX = 1 << 30, /* of one state */
    SHOWN = 60,             /* characters of a name in a message */
};

enum level { OUTSIDE, GRAPH, SNAPSHOT, ITEM, STATE };

struct restoring {
    XML_Parser parser;
    struct leat_poets_machine *machine;
    struct leat_graph_report *report;
    uint16_t file;
    enum level level;
    bool stopped, has_snapshot, of_edges, has_state;
    uint32_t device, pin, edge; /* the next that may come; of edges: of an input pin of a device */
    uint32_t idle_steps;
    /* The item that is being read. */
    const struct leat_graph_struct *data; /* NULL: it has no state */
    uint8_t *octets;                      /* NULL: it is on another rank */
    uint32_t len;
    struct leat_graph_place text_place;
    bool as_octets;
    char *text; /* of S */
    size_t text_len, text_cap;
};

static struct leat_graph_place place_of(const struct restoring *r)
{
    const XML_Size column = XML_GetCurrentColumnNumber(r->parser) + 1;
    return (struct leat_graph_place){ .line = (uint32_t)XML_GetCurrentLineNumber(r->parser),
                                      .column = column < UINT16_MAX ? (uint16_t)column : 0,
                                      .file = r->file };
}

/* The first mistake ends it. */
#define WRONG_AT(r, place, code, ...)                                                 \
    do {                                                                              \
        if (!(r)->stopped) leat_graph_wrong((r)->report, (place), code, __VA_ARGS__); \
        (r)->stopped = true;                                                          \
        XML_StopParser((r)->parser, XML_FALSE);                                       \
    } while (0)
#define WRONG(r, code, ...) WRONG_AT(r, place_of(r), code, __VA_ARGS__)

static const char *attribute_of(const XML_Char **list, const char *name)
{
    for (; *list; list += 2)
        if (strcmp(list[0], name) == 0) return list[1];
    return NULL;
}

/* Decimal, or hexadecimal behind 0x. */
static bool read_number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *out <= most;
}

/* ---- the head ------------------------------------------------------------------------------- */

static bool is_of(struct restoring *r, const XML_Char **list, const char *name, const char *want)
{
    const char *text = attribute_of(list, name);
    if (text && strcmp(text, want) == 0) return true;
    WRONG(r, "E_REF", "GraphSnapshot with %s '%.*s', expected '%.*s', as the graph has it", name,
          SHOWN, text ? text : "", SHOWN, want);
    return false;
}

static void on_snapshot(struct restoring *r, const XML_Char **list)
{
    const char *reason = attribute_of(list, "reason"), *resumable = attribute_of(list, "resumable");
    const char *steps = attribute_of(list, "idleSteps");
    uint64_t number = 0;
    if (r->has_snapshot) WRONG(r, "E_CARD", "a second GraphSnapshot, expected one");
    r->has_snapshot = true;
    if (r->stopped || !is_of(r, list, "graphTypeId", r->machine->graph->id) ||
        !is_of(r, list, "graphInstId", r->machine->instance->id))
        return;
    if (!resumable || strcmp(resumable, "true") != 0)
        WRONG(r, "E_VALUE",
              "a snapshot of a run that ended with '%.*s', expected one that can go on: idle, or "
              "ended by --until or a signal while it ran, without a supervisor",
              SHOWN, reason ? reason : "");
    else if (steps && !read_number(steps, UINT32_MAX, &number))
        WRONG(r, "E_ATTR", "idleSteps '%.*s', expected a whole number", SHOWN, steps);
    r->idle_steps = (uint32_t)number;
}

/* ---- the items, in their order -------------------------------------------------------------- */

static uint32_t type_of(const struct restoring *r, uint32_t index)
{
    const struct leat_poets_machine *m = r->machine;
    return m->instance->device[m->device[index]].type;
}

static bool is_local(const struct restoring *r, uint32_t index)
{
    const struct leat_poets_machine *m = r->machine;
    return leat_poets_machine_rank_of(m, m->seat[index].thread) == m->rank;
}

/* The next device of this name; those before it have no state. False: another was expected. */
static bool find_device(struct restoring *r, const char *id)
{
    const struct leat_poets_machine *m = r->machine;
    for (; !r->of_edges && r->device < m->device_count; r->device++) {
        const char *name = leat_poets_machine_name(m, r->device);
        if (strcmp(name, id) == 0) return true;
        if (!m->graph->type[type_of(r, r->device)].state.given) continue;
        WRONG(r, "E_REF", "DevS of '%.*s', expected that of '%.*s'", SHOWN, id, SHOWN, name);
        return false;
    }
    WRONG(r, "E_REF", "DevS of '%.*s', expected no further device", SHOWN, id);
    return false;
}

static void on_device(struct restoring *r, const XML_Char **list)
{
    const char *id = attribute_of(list, "id"), *rts = attribute_of(list, "rts");
    const struct leat_poets_machine *m = r->machine;
    uint64_t wants = 0;
    if (!find_device(r, id ? id : "")) return;
    const uint32_t index = r->device++, type = type_of(r, index);
    const struct leat_poets_type *t = m->handlers->type[type];
    const uint64_t pins = (UINT64_C(1) << t->output_count) - 1;
    if (rts &&
        (!read_number(rts, UINT64_MAX, &wants) || wants & ~(pins | LEAT_POETS_REQUEST_IDLE))) {
        WRONG(r, "E_ATTR", "rts '%.*s', expected bits of the %u outputs of a '%.*s'", SHOWN, rts,
              t->output_count, SHOWN, m->graph->type[type].id);
        return;
    }
    r->data = m->graph->type[type].state.given ? &m->graph->type[type].state : NULL;
    r->len = t->state_len;
    r->octets = NULL;
    if (!is_local(r, index)) return;
    leat_poets_machine_want(r->machine, index, wants);
    r->octets = (uint8_t *)leat_poets_machine_block(m, index) + t->state_at;
}

/* The next edge with a state: the input r->pin of r->device, r->edge. False: there is none. */
static bool find_edge(struct restoring *r)
{
    const struct leat_poets_machine *m = r->machine;
    const struct leat_graph_instance *i = m->instance;
    for (; r->device < m->device_count; r->device++, r->pin = 0) {
        const struct leat_graph_pins *input = &m->graph->type[type_of(r, r->device)].input;
        for (; r->pin < input->count; r->pin++, r->edge = 0) {
            const uint32_t at = i->input_base[m->device[r->device]] + r->pin;
            if (input->pin[r->pin].state.given && r->edge < i->into_base[at + 1] - i->into_base[at])
                return true;
        }
    }
    return false;
}

static const struct leat_graph_edge *edge_at(const struct restoring *r)
{
    const struct leat_poets_machine *m = r->machine;
    const struct leat_graph_instance *i = m->instance;
    const uint32_t at = i->input_base[m->device[r->device]] + r->pin;
    return &i->edge[i->into[i->into_base[at] + r->edge]];
}

static bool is_path(const char *const part[LEAT_POETS_SNAPSHOT_PATH], const char *id)
{
    for (int i = 0; i < LEAT_POETS_SNAPSHOT_PATH; i++) {
        const size_t len = strlen(part[i]);
        if (strncmp(id, part[i], len) != 0) return false;
        id += len;
    }
    return !*id;
}

/* Behind the last device. False: there is a device with a state before. */
static bool begin_edges(struct restoring *r)
{
    const struct leat_poets_machine *m = r->machine;
    for (; !r->of_edges && r->device < m->device_count; r->device++)
        if (m->graph->type[type_of(r, r->device)].state.given) {
            WRONG(r, "E_CARD", "no DevS of '%.*s', expected one", SHOWN,
                  leat_poets_machine_name(m, r->device));
            return false;
        }
    if (!r->of_edges) r->device = 0;
    r->of_edges = true;
    return true;
}

static void on_edge(struct restoring *r, const XML_Char **list)
{
    const struct leat_poets_machine *m = r->machine;
    const char *id = attribute_of(list, "id"), *part[LEAT_POETS_SNAPSHOT_PATH];
    if (!begin_edges(r)) return;
    if (!find_edge(r)) {
        WRONG(r, "E_REF", "EdgeS of '%.*s', expected no further edge", SHOWN, id ? id : "");
        return;
    }
    leat_poets_snapshot_path(m, edge_at(r), part);
    if (!id || !is_path(part, id)) {
        WRONG(r, "E_REF", "EdgeS of '%.*s', expected that of '%.*s:%.*s-%.*s:%.*s'", SHOWN,
              id ? id : "", SHOWN, part[0], SHOWN, part[2], SHOWN, part[4], SHOWN, part[6]);
        return;
    }
    const struct leat_poets_type *t = m->handlers->type[type_of(r, r->device)];
    const struct leat_poets_pin *pin = &t->input[r->pin];
    r->data = &m->graph->type[type_of(r, r->device)].input.pin[r->pin].state;
    r->len = pin->state_len;
    r->octets = NULL;
    if (is_local(r, r->device)) {
        uint8_t *block = (uint8_t *)leat_poets_machine_block(m, r->device);
        const struct leat_poets_edges *edges = (const void *)(block + t->pins_at);
        r->octets = block + edges[r->pin].first + (size_t)r->edge * pin->edge_len + pin->state_at;
    }
    r->edge++;
}

/* ---- states --------------------------------------------------------------------------------- */

static bool keep_text(struct restoring *r, const char *text, size_t len)
{
    const size_t need = r->text_len + len + 1;
    if (need > r->text_cap) {
        char *grown = need > TEXT_LEN_MAX ? NULL : realloc(r->text, 2 * need);
        if (!grown) {
            WRONG(r, "E_LIMIT", "no memory, or a state with more than %d characters", TEXT_LEN_MAX);
            return false;
        }
        r->text = grown;
        r->text_cap = 2 * need;
    }
    memcpy(r->text + r->text_len, text, len);
    r->text_len += len;
    r->text[r->text_len] = '\0';
    return true;
}

static void on_state(struct restoring *r, const XML_Char **list)
{
    const char *octets = attribute_of(list, "octets");
    if (!r->data || r->has_state) {
        WRONG(r, "E_CARD", "an S, expected %s", r->data ? "one" : "none: the type has no state");
        return;
    }
    r->has_state = true;
    r->as_octets = octets;
    r->text_place = place_of(r);
    r->text_len = 0;
    keep_text(r, octets ? octets : "", octets ? strlen(octets) : 0);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void set_octets(struct restoring *r)
{
    bool good = r->text_len == 2 * (size_t)r->len;
    for (size_t i = 0; i < r->text_len && good; i++)
        good = digit(r->text[i]) >= 0;
    if (!good) WRONG(r, "E_VALUE", "octets of a state, expected %u hexadecimal digits", 2 * r->len);
    for (uint32_t i = 0; good && r->octets && i < r->len; i++)
        r->octets[i] = (uint8_t)(digit(r->text[2 * i]) << 4 | digit(r->text[2 * i + 1]));
}

/* The members over zeros and over ones: one that is missing differs. */
static void set_members(struct restoring *r)
{
    const struct leat_poets_layout *layout = &r->data->layout;
    const size_t len = layout->count ? layout->size : 0;
    struct leat_poets_layout_fault fault = { 0 };
    uint8_t *zeros = calloc(3, len + 1);
    if (!zeros) {
        WRONG(r, "E_LIMIT", "no memory");
        return;
    }
    uint8_t *ones = zeros + len, *copy = ones + len;
    memset(ones, 0xff, len);
    if (!leat_poets_layout_assign_json(layout, r->text, zeros, &fault) ||
        !leat_poets_layout_assign_json(layout, r->text, ones, &fault)) {
        r->text_place.line += fault.line;
        if (fault.line) r->text_place.column = 0;
        WRONG_AT(r, r->text_place, "E_VALUE", "%s", fault.why);
    } else {
        leat_poets_members_copy(layout, ones, copy);
        if (memcmp(zeros, copy, len) != 0)
            WRONG(r, "E_VALUE", "a state without some of its members, expected all");
        else if (r->octets)
            memcpy(r->octets, zeros, len);
    }
    free(zeros);
}

static void set_state(struct restoring *r)
{
    if (r->as_octets)
        set_octets(r);
    else if (!r->data->plain)
        WRONG(r, "E_ATTR", "an S without octets, expected them: only a compiler knows its members");
    else
        set_members(r);
}

/* ---- the file ------------------------------------------------------------------------------- */

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **list)
{
    static const char *const expected[] = { "Graph", "GraphSnapshot", "DevS or EdgeS", "S",
                                            "nothing" };
    struct restoring *r = user;
    const bool device = strcmp(name, "DevS") == 0, edge = strcmp(name, "EdgeS") == 0;
    if (r->stopped) return;
    if (r->level == STATE ||
        (r->level == SNAPSHOT ? !device && !edge : strcmp(name, expected[r->level]) != 0)) {
        WRONG(r, "E_ELEM", "element '%.*s', expected %s", SHOWN, name, expected[r->level]);
        return;
    }
    switch (r->level++) {
    case OUTSIDE: break;
    case GRAPH: on_snapshot(r, list); break;
    case SNAPSHOT:
        r->has_state = false;
        if (device)
            on_device(r, list);
        else
            on_edge(r, list);
        break;
    case ITEM: on_state(r, list); break;
    case STATE: break;
    }
}

static void XMLCALL on_text(void *user, const XML_Char *text, int len)
{
    struct restoring *r = user;
    if (!r->stopped && r->level == STATE && !r->as_octets) keep_text(r, text, (size_t)len);
}

static void at_the_end(struct restoring *r)
{
    const char *part[LEAT_POETS_SNAPSHOT_PATH];
    if (!begin_edges(r) || !find_edge(r)) return;
    leat_poets_snapshot_path(r->machine, edge_at(r), part);
    WRONG(r, "E_CARD", "no EdgeS of '%.*s:%.*s-%.*s:%.*s', expected one", SHOWN, part[0], SHOWN,
          part[2], SHOWN, part[4], SHOWN, part[6]);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct restoring *r = user;
    (void)name;
    if (r->stopped) return;
    switch (r->level--) {
    case STATE: set_state(r); break;
    case ITEM:
        if (r->data && !r->has_state) WRONG(r, "E_CARD", "no S, expected one");
        break;
    case SNAPSHOT: at_the_end(r); break;
    case GRAPH:
        if (!r->has_snapshot) WRONG(r, "E_CARD", "no GraphSnapshot, expected one");
        break;
    case OUTSIDE: break;
    }
}

/* Entities could expand without bound, and none is needed. */
static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public_id, int internal)
{
    struct restoring *r = user;
    (void)name, (void)system, (void)public_id, (void)internal;
    WRONG(r, "E_XML", "a DOCTYPE, expected none");
}

static void read_pieces(struct restoring *r, FILE *in)
{
    bool end = false;
    while (!end && !r->stopped) {
        void *piece = XML_GetBuffer(r->parser, PIECE);
        const size_t len = piece ? fread(piece, 1, PIECE, in) : 0;
        end = len == 0;
        if (!piece || ferror(in)) {
            WRONG(r, "E_XML", "%s", piece ? strerror(errno) : "no memory");
            return;
        }
        if (XML_ParseBuffer(r->parser, (int)len, end) == XML_STATUS_OK || r->stopped) continue;
        WRONG(r, "E_XML", "%s, expected well-formed XML",
              XML_ErrorString(XML_GetErrorCode(r->parser)));
    }
}

static void read_file(struct restoring *r, FILE *in)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    read_pieces(r, in);
}

bool leat_poets_machine_restore(struct leat_poets_machine *machine, const char *file,
                                uint32_t *idle_steps)
{
    struct restoring r = { .machine = machine, .report = &machine->graph->report };
    const bool known = leat_graph_report_file(r.report, file, &r.file);
    const struct leat_graph_place whole = { .file = r.file };
    r.parser = XML_ParserCreate(NULL);
    FILE *in = fopen(file, "r");
    bool good = false;
    if (!in) {
        leat_graph_wrong(r.report, whole, "E_XML", "cannot be opened: %s", strerror(errno));
    } else if (!known || !r.parser) {
        leat_graph_wrong(r.report, whole, "E_LIMIT", "no memory, or too many files");
    } else if (machine->handlers->supervisor) {
        leat_graph_wrong(r.report, whole, "E_UNSUP",
                         "the application has a supervisor, expected none: a snapshot does not "
                         "have its state");
    } else {
        read_file(&r, in);
        good = !r.stopped;
    }
    if (in) fclose(in);
    if (r.parser) XML_ParserFree(r.parser);
    free(r.text);
    *idle_steps = r.idle_steps;
    return good;
}
