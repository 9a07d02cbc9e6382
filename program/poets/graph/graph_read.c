/* Reads the elements of a file, as expat reports them, into a graph. */
#include "graph_read_parts.h"
#include "graph_slice.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct source {
    const char *file;
    bool type_only;                      /* for a file that another one refers to, */
    const struct leat_graph_place *from; /* from here */
    struct leat_graph_slice *slice;      /* NULL: the whole file */
};

static bool read_file(struct leat_graph *graph, enum leat_graph_dialect dialect,
                      const struct source *source);

/* ---- text ----------------------------------------------------------------------------------- */

static bool holds_text(const struct leat_graph_reader *r, const struct leat_graph_rule *rule)
{
    switch ((unsigned)rule->element) {
    case ELEMENT_CODE:
    case ELEMENT_DEFAULT:
    case ELEMENT_VALUE:
    case ELEMENT_INSTANCE_PROPERTIES: return true;
    case ELEMENT_STRUCT: return r->graph->dialect != LEAT_GRAPH_V3;
    default: return false;
    }
}

static void add_text(struct leat_graph_reader *r, const char *text, size_t len)
{
    if (r->text_len + len > LEAT_GRAPH_CODE_LEN_MAX) {
        if (!r->stopped)
            WRONG_HERE(r, "E_LIMIT", "the text is too long, expected at most %d octets",
                       LEAT_GRAPH_CODE_LEN_MAX);
        leat_graph_reader_stop(r);
        return;
    }
    if (r->text_len + len > r->text_cap) {
        const size_t cap = 2 * (r->text_len + len);
        char *grown = realloc(r->text, cap);
        if (!grown) {
            leat_graph_reader_no_memory(r);
            return;
        }
        r->text = grown;
        r->text_cap = cap;
    }
    memcpy(r->text + r->text_len, text, len);
    r->text_len += len;
    for (size_t i = 0; i < len; i++)
        r->text_lines += text[i] == '\n';
}

static void XMLCALL on_text(void *user, const XML_Char *text, int length)
{
    struct leat_graph_reader *r = user;
    const size_t len = (size_t)length;
    if (r->skipped || !r->depth) return;
    struct leat_graph_frame *f = leat_graph_reader_top(r);
    if (holds_text(r, f->rule)) {
        /* A comment removes lines from the text, but the compiler's lines must be the file's. */
        if (!r->text_len) r->text_place = leat_graph_reader_here(r);
        const uint32_t line = (uint32_t)XML_GetCurrentLineNumber(r->parser);
        while (!r->stopped && r->text_place.line + r->text_lines < line)
            add_text(r, "\n", 1);
        add_text(r, text, len);
        return;
    }
    if (f->stray || strspn(text, " \t\r\n") >= len) return;
    for (size_t i = 0; i < len && !f->stray; i++)
        f->stray = !strchr(" \t\r\n", text[i]);
    if (f->stray) WRONG_HERE(r, "E_ELEM", "text in %s, expected elements only", f->rule->name);
}

/* Appends to the existing text, on its own line. */
static void append_code(struct leat_graph_reader *r, struct leat_graph_code *code)
{
    struct leat_graph_code added = { NULL, r->text_place };
    size_t had = code->text ? strlen(code->text) : 0, pad = 0;
    uint32_t line = code->place.line;
    if (!r->text_len) added.place = leat_graph_reader_top(r)->place;
    for (size_t i = 0; i < had; i++)
        line += code->text[i] == '\n';
    if (had && r->text_len && r->text_place.line > line) pad = r->text_place.line - line;
    added.text = malloc(had + pad + r->text_len + 1);
    if (!added.text) {
        leat_graph_reader_no_memory(r);
        return;
    }
    if (had) memcpy(added.text, code->text, had);
    memset(added.text + had, '\n', pad);
    if (r->text_len) memcpy(added.text + had + pad, r->text, r->text_len);
    added.text[had + pad + r->text_len] = '\0';
    if (had) added.place = code->place;
    free(code->text);
    *code = added;
}

static struct leat_graph_code *code_of(struct leat_graph_reader *r,
                                       const struct leat_graph_rule *rule)
{
    if (rule->parent == ELEMENT_GRAPH_TYPE) return &r->graph->shared;
    if (rule->slot == SLOT_SHARED) return &leat_graph_reader_last_type(r)->shared;
    if (rule->slot != SLOT_PIN) return &leat_graph_reader_last_type(r)->handler[rule->slot];
    struct leat_graph_pins *pins = leat_graph_reader_pins_of(r, rule->parent);
    return &pins->pin[pins->count - 1].handler;
}

/* P or S of the open device or edge. */
static void close_value(struct leat_graph_reader *r, const struct leat_graph_rule *rule)
{
    struct leat_graph_instance *i = leat_graph_reader_last_instance(r);
    const uint32_t value = r->text_len ? leat_graph_reader_value_of(r, r->text, r->text_len)
                                       : LEAT_GRAPH_NO_STRING;
    if (rule->parent == ELEMENT_EDGE && i->edge_count) {
        struct leat_graph_edge *e = &i->edge[i->edge_count - 1];
        *(rule->slot == SLOT_STATE ? &e->state : &e->properties) = value;
    } else if (rule->parent != ELEMENT_EDGE && i->device_count) {
        struct leat_graph_device *d = &i->device[i->device_count - 1];
        *(rule->slot == SLOT_STATE ? &d->state : &d->properties) = value;
    }
}

static void close_element(struct leat_graph_reader *r, const struct leat_graph_rule *rule)
{
    switch ((unsigned)rule->element) {
    case ELEMENT_CODE: append_code(r, code_of(r, rule)); break;
    case ELEMENT_STRUCT:
        if (r->graph->dialect != LEAT_GRAPH_V3) append_code(r, &r->data->code);
        r->data = NULL;
        break;
    case ELEMENT_TYPE_DEF: r->data = NULL; break;
    case ELEMENT_SCALAR:
    case ELEMENT_TUPLE:
    case ELEMENT_ARRAY: r->member_depth--; break;
    case ELEMENT_DEFAULT:
        if (r->data && r->data->member_count && r->text_len) {
            struct leat_graph_member *m = NULL; /* the enclosing one */
            for (uint32_t i = r->data->member_count; i-- > 0 && !m;)
                if (r->data->member[i].depth + 1 == r->member_depth) m = &r->data->member[i];
            free(m->initial);
            m->initial = strndup(r->text, r->text_len);
            if (!m->initial) leat_graph_reader_no_memory(r);
        }
        break;
    case ELEMENT_VALUE: close_value(r, rule); break;
    case ELEMENT_INSTANCE_PROPERTIES:
        leat_graph_reader_last_instance(r)->properties =
            r->text_len ? leat_graph_reader_value_of(r, r->text, r->text_len) : 0;
        break;
    default: break;
    }
}

/* ---- the walk ------------------------------------------------------------------------------- */

static const struct leat_graph_rule *find_rule(const struct leat_graph_reader *r, const char *name)
{
    const uint8_t dialect = (uint8_t)(1 << r->graph->dialect);
    const enum leat_graph_element parent = r->depth ? r->frame[r->depth - 1].rule->element
                                                    : ELEMENT_FILE;
    const struct leat_graph_children *c = &r->children[parent];
    for (uint8_t i = 0; i < c->count; i++) {
        const struct leat_graph_rule *rule = leat_graph_rule_at(c->rule[i]);
        if (rule->dialects & dialect && strcmp(rule->name, name) == 0) return rule;
    }
    return NULL;
}

/* "A, B or C": what the open element may contain. */
static void wrong_element(struct leat_graph_reader *r, const char *name)
{
    const enum leat_graph_element parent = r->depth ? leat_graph_reader_top(r)->rule->element
                                                    : ELEMENT_FILE;
    char known[300];
    size_t used = 0;
    const struct leat_graph_rule *rule;
    known[0] = '\0';
    for (size_t i = 0; (rule = leat_graph_rule_at(i)); i++)
        if (rule->parent == parent && rule->dialects & 1 << r->graph->dialect &&
            used < sizeof known - SHOWN)
            used += (size_t)snprintf(known + used, sizeof known - used, used ? ", %s" : "%s",
                                     rule->name);
    WRONG_HERE(r, "E_ELEM", "%.*s in %s, expected %s", SHOWN, name,
               r->depth ? leat_graph_reader_top(r)->rule->name : "the file",
               used ? known : "no element");
}

static bool is_attribute(const char *name, const struct leat_graph_attributes *known, uint32_t i)
{
    return strncmp(name, known->at[i].name, known->at[i].len) == 0 &&
           name[known->at[i].len] == '\0';
}

/* Every attribute is known, and none is missing. */
static bool check_attributes(struct leat_graph_reader *r, const struct leat_graph_rule *rule,
                             const struct leat_graph_attributes *known, const XML_Char **list)
{
    bool good = true;
    for (const XML_Char **a = list; *a; a += 2) {
        bool found = rule->element == ELEMENT_IGNORED || rule->element == ELEMENT_UNSUPPORTED;
        for (uint32_t i = 0; i < known->count && !found; i++)
            found = is_attribute(*a, known, i);
        if (!found)
            good = WRONG_HERE(r, "E_ATTR", "attribute %.*s of %s, expected %s", SHOWN, *a,
                              rule->name, known->count ? rule->attributes : "none");
    }
    for (uint32_t i = 0; i < known->count; i++) {
        const XML_Char **a = list;
        while (*a && !is_attribute(*a, known, i))
            a += 2;
        if (!*a && !known->at[i].optional)
            good = WRONG_HERE(r, "E_ATTR", "%s without %.*s, expected it", rule->name,
                              (int)known->at[i].len, known->at[i].name);
    }
    return good;
}

/* Is it allowed here, with room for it? False: it is skipped, with everything inside it. */
static bool may_open(struct leat_graph_reader *r, const struct leat_graph_rule *rule,
                     const char *name, const XML_Char **list)
{
    if (!rule) return wrong_element(r, name), false;
    const size_t number = (size_t)(rule - leat_graph_rule_at(0));
    if (r->depth == LEAT_GRAPH_TYPE_DEPTH_MAX)
        return WRONG_HERE(r, "E_LIMIT", "nested too deep, expected at most %d levels",
                          LEAT_GRAPH_TYPE_DEPTH_MAX);
    if (rule->element == ELEMENT_UNSUPPORTED)
        return WRONG_HERE(r, "E_UNSUP", "%s in %s is not supported", name,
                          r->depth ? leat_graph_reader_top(r)->rule->name : "the file");
    if (r->depth && rule->most == 1) {
        uint64_t *seen = &leat_graph_reader_top(r)->seen[number / 64], bit = UINT64_C(1)
                                                                             << number % 64;
        if (*seen & bit)
            return WRONG_HERE(r, "E_CARD", "a second %s in %s, expected one", name,
                              leat_graph_reader_top(r)->rule->name);
        *seen |= bit;
    }
    if (!check_attributes(r, rule, &r->attributes[number], list)) return false;
    return !(r->type_only && rule->element == ELEMENT_INSTANCE);
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **list)
{
    struct leat_graph_reader *r = user;
    if (r->skipped || r->stopped) {
        r->skipped++;
        return;
    }
    const struct leat_graph_rule *rule = find_rule(r, name);
    if (!may_open(r, rule, name, list) || rule->element == ELEMENT_IGNORED) {
        r->skipped = 1;
        return;
    }
    r->frame[r->depth++] = (struct leat_graph_frame){ .rule = rule,
                                                      .place = leat_graph_reader_here(r) };
    r->text_len = r->text_lines = 0;
    leat_graph_reader_open(r, rule, list);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct leat_graph_reader *r = user;
    (void)name;
    if (r->skipped) {
        r->skipped--;
        return;
    }
    if (r->stopped) return;
    const struct leat_graph_frame *f = leat_graph_reader_top(r);
    const struct leat_graph_children *c = &r->children[f->rule->element];
    for (uint8_t k = 0; k < c->required_count; k++) {
        const uint8_t i = c->required[k];
        const struct leat_graph_rule *rule = leat_graph_rule_at(i);
        if (rule->dialects & 1 << r->graph->dialect && !(f->seen[i / 64] >> i % 64 & 1))
            leat_graph_wrong(&r->graph->report, f->place, "E_CARD", "%s without %s, expected one",
                             f->rule->name, rule->name);
    }
    close_element(r, f->rule);
    r->text_len = r->text_lines = 0;
    r->depth--;
}

static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public_id, int internal)
{
    struct leat_graph_reader *r = user;
    (void)name, (void)system, (void)public_id, (void)internal;
    WRONG_HERE(r, "E_XML", "DOCTYPE, expected none");
    leat_graph_reader_stop(r);
}

/* The only other encoding that files of this kind claim; expat knows it as US-ASCII. */
static int XMLCALL on_encoding(void *user, const XML_Char *name, XML_Encoding *info)
{
    (void)user;
    if (strcasecmp(name, "ASCII") != 0) return XML_STATUS_ERROR;
    for (int i = 0; i < 256; i++)
        info->map[i] = i < 128 ? i : -1;
    info->data = NULL;
    info->convert = NULL;
    info->release = NULL;
    return XML_STATUS_OK;
}

static void wrong_xml(struct leat_graph_reader *r)
{
    const enum XML_Error error = XML_GetErrorCode(r->parser);
    const struct leat_graph_place place = leat_graph_reader_here(r);
    if (r->stopped) return;
    const bool twice = error == XML_ERROR_DUPLICATE_ATTRIBUTE;
    leat_graph_wrong(&r->graph->report, place, twice ? "E_ATTR" : "E_XML",
                     "%s, expected well-formed XML", XML_ErrorString(error));
    r->stopped = true;
}

static uint32_t count_breaks(const char *text, size_t len)
{
    const char *end = text + len;
    uint32_t count = 0;
    while ((text = memchr(text, '\n', (size_t)(end - text)))) {
        text++;
        count++;
    }
    return count;
}

/* A piece of the text; the end comes with the last one, which is empty. */
static void parse(struct leat_graph_reader *r, size_t len, bool end)
{
    r->fed += len;
    if (XML_ParseBuffer(r->parser, (int)len, end) != XML_STATUS_OK) wrong_xml(r);
    const XML_Index at = XML_GetCurrentByteIndex(r->parser);
    if (!r->stopped && at >= 0 && r->fed - (uint64_t)at > TOKEN_LEN_MAX) {
        WRONG_HERE(r, "E_LIMIT", "a tag of more than %d octets", TOKEN_LEN_MAX);
        r->stopped = true;
    }
}

void leat_graph_reader_feed(struct leat_graph_reader *r, FILE *in, uint64_t len)
{
    const bool to_the_end = len == UINT64_MAX;
    r->breaks = 0;
    for (bool end = !len; !end && !r->stopped;) {
        char *piece = XML_GetBuffer(r->parser, PIECE);
        if (!piece) {
            leat_graph_reader_no_memory(r);
            return;
        }
        const size_t got = fread(piece, 1, len < PIECE ? (size_t)len : PIECE, in);
        if (ferror(in)) {
            WRONG_HERE(r, "E_XML", "cannot be read: %s", strerror(errno));
            r->stopped = true;
            return;
        }
        if (!to_the_end) len -= got;
        end = !got || !len;
        r->breaks += count_breaks(piece, got);
        parse(r, got, to_the_end && !got);
    }
}

static void split_attributes(const char *at, struct leat_graph_attributes *a)
{
    for (; *at && a->count < ATTRIBUTES_MAX; a->count++) {
        const size_t len = strcspn(at, " ?");
        a->at[a->count].name = at;
        a->at[a->count].len = len;
        a->at[a->count].optional = at[len] == '?';
        at += strcspn(at, " ");
        at += *at == ' ';
    }
}

/* The grammar, indexed for the walk, since files have millions of elements. */
static void index_rules(struct leat_graph_reader *r)
{
    const struct leat_graph_rule *rule;
    for (uint8_t i = 0; (rule = leat_graph_rule_at(i)) && i < RULES_MAX; i++) {
        split_attributes(rule->attributes, &r->attributes[i]);
        for (int parent = 0; parent < ELEMENT_COUNT; parent++) {
            struct leat_graph_children *c = &r->children[parent];
            if (rule->parent != ELEMENT_COUNT && (int)rule->parent != parent) continue;
            assert(c->count < CHILDREN_MAX);
            c->rule[c->count++] = i;
            if (rule->least) c->required[c->required_count++] = i;
        }
    }
    assert(!rule); /* there are no more than RULES_MAX */
}

/* The file of a GraphTypeReference, relative to the one that names it. */
static bool follow_reference(struct leat_graph_reader *r)
{
    const char *slash = strrchr(r->file, '/');
    const int folder = slash && *r->reference.text != '/' ? (int)(slash - r->file) + 1 : 0;
    char *path = NULL;
    if (asprintf(&path, "%.*s%s", folder, r->file, r->reference.text) < 0)
        return leat_graph_wrong(&r->graph->report, r->reference.place, "E_LIMIT", "no memory");
    const bool good = read_file(
        r->graph, LEAT_GRAPH_V3,
        &(struct source){ .file = path, .type_only = true, .from = &r->reference.place });
    if (good && r->graph->id && strcmp(r->graph->id, r->reference_id) != 0)
        leat_graph_wrong(&r->graph->report, r->reference.place, "E_REF",
                         "graph type '%.*s' in that file, expected '%.*s'", SHOWN, r->graph->id,
                         SHOWN, r->reference_id);
    free(path);
    return good;
}

static void read_stream(struct leat_graph_reader *r, FILE *in, struct leat_graph_slice *slice)
{
    r->parser = XML_ParserCreate(NULL);
    if (!r->parser) {
        leat_graph_wrong(&r->graph->report, (struct leat_graph_place){ .file = r->file_number },
                         "E_LIMIT", "no memory");
        r->stopped = true;
        return;
    }
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    XML_SetUnknownEncodingHandler(r->parser, on_encoding, r);
    index_rules(r);
    if (!slice)
        leat_graph_reader_feed(r, in, UINT64_MAX);
    else if (!leat_graph_reader_feed_slice(r, in, slice))
        r->stopped = true;
    r->graph->file_len += slice ? slice->file_len : r->fed;
    XML_ParserFree(r->parser);
}

/* False: the file cannot be read further. */
static bool read_file(struct leat_graph *graph, enum leat_graph_dialect dialect,
                      const struct source *source)
{
    const char *file = source->file;
    struct leat_graph_reader *r = calloc(1, sizeof *r);
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    const struct leat_graph_place whole = source->from ? *source->from
                                                       : (struct leat_graph_place){ 0 };
    bool good = false;
    if (!in) {
        /* The place of one that no other file names is that file. */
        leat_graph_wrong(&graph->report, whole, "E_XML", "%s%scannot be opened: %s",
                         source->from ? file : "", source->from ? ": " : "", strerror(errno));
    } else if (!r || !leat_graph_report_file(&graph->report, in == stdin ? "standard input" : file,
                                             &r->file_number)) {
        leat_graph_wrong(&graph->report, whole, "E_LIMIT", "%s: no memory, or too many files",
                         file);
    } else {
        r->graph = graph;
        r->file = file;
        r->type_only = source->type_only;
        r->wanted = dialect;
        read_stream(r, in, source->slice);
        good = !r->stopped;
        if (good && r->reference.text) good = follow_reference(r);
        free(r->text);
        free(r->reference.text);
        free(r->reference_id);
    }
    if (in && in != stdin) fclose(in);
    free(r);
    return good;
}

/* False: it cannot be read to the end. */
static bool read_types(struct leat_graph *graph, enum leat_graph_dialect dialect,
                       const struct source *source)
{
    const char *file = source->file;
    uint16_t number;
    *graph = (struct leat_graph){ .file = strdup(file) };
    /* File 0, so that errors without a place have a file name. */
    leat_graph_report_file(&graph->report, strcmp(file, "-") == 0 ? "standard input" : file,
                           &number);
    if (!graph->file)
        return leat_graph_wrong(&graph->report, (struct leat_graph_place){ 0 }, "E_LIMIT",
                                "no memory");
    if (!read_file(graph, dialect, source)) return false;
    if (!graph->has_type && !graph->report.error_count)
        leat_graph_wrong(&graph->report, (struct leat_graph_place){ .line = 1 }, "E_CARD",
                         "no GraphType, expected one");
    graph->complete = graph->has_type;
    leat_graph_check_types(graph);
    return true;
}

bool leat_graph_read(struct leat_graph *graph, const char *file, enum leat_graph_dialect dialect)
{
    const bool complete = read_types(graph, dialect, &(struct source){ .file = file });
    for (uint32_t i = 0; complete && i < graph->instance_count; i++)
        leat_graph_join(graph, &graph->instance[i]);
    leat_graph_report_sort(&graph->report);
    return !graph->report.error_count;
}

bool leat_graph_read_slice(struct leat_graph *graph, const char *file,
                           enum leat_graph_dialect dialect, struct leat_graph_slice *slice,
                           uint32_t number, uint32_t count)
{
    *graph = (struct leat_graph){ 0 };
    return leat_graph_slice_find(slice, file, number, count) &&
           read_types(graph, dialect, &(struct source){ .file = file, .slice = slice }) &&
           graph->instance_count == 1 && !graph->report.error_count && !graph->report.warning_count;
}
