#include "graph_layout.h"
#include "graph_parts.h"
#include "graph_scan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void leat_poets_layout_free(struct leat_poets_layout *layout)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        free(layout->node[i].name);
        free(layout->node[i].type_name);
        free(layout->node[i].initial);
    }
    free(layout->node);
    free(layout->initial);
    *layout = (struct leat_poets_layout){ 0 };
}

/* ---- types ---------------------------------------------------------------------------------- */

/* The first ten are those of the POD grammar. The width of `long` differs between platforms. */
static const struct {
    const char *name;
    enum leat_poets_layout_kind kind;
    uint32_t size;
} scalars[] = {
    { "uint8_t", LEAT_POETS_LAYOUT_UINT, 1 },    { "uint16_t", LEAT_POETS_LAYOUT_UINT, 2 },
    { "uint32_t", LEAT_POETS_LAYOUT_UINT, 4 },   { "uint64_t", LEAT_POETS_LAYOUT_UINT, 8 },
    { "int8_t", LEAT_POETS_LAYOUT_INT, 1 },      { "int16_t", LEAT_POETS_LAYOUT_INT, 2 },
    { "int32_t", LEAT_POETS_LAYOUT_INT, 4 },     { "int64_t", LEAT_POETS_LAYOUT_INT, 8 },
    { "float", LEAT_POETS_LAYOUT_FLOAT, 4 },     { "double", LEAT_POETS_LAYOUT_FLOAT, 8 },
    { "bool", LEAT_POETS_LAYOUT_UINT, 1 },       { "int", LEAT_POETS_LAYOUT_INT, 4 },
    { "unsigned", LEAT_POETS_LAYOUT_UINT, 4 },   { "short", LEAT_POETS_LAYOUT_INT, 2 },
    { "signed char", LEAT_POETS_LAYOUT_INT, 1 },
};
enum { POD_SCALARS = 10 };

bool leat_poets_layout_scalar(const char *name, size_t len, bool any_arithmetic,
                              struct leat_poets_layout_node *out)
{
    const size_t count = any_arithmetic ? sizeof scalars / sizeof *scalars : POD_SCALARS;
    for (size_t i = 0; i < count; i++)
        if (strlen(scalars[i].name) == len && memcmp(scalars[i].name, name, len) == 0) {
            out->type = scalars[i].name;
            out->kind = scalars[i].kind;
            out->size = out->align = scalars[i].size;
            return true;
        }
    return false;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

struct leat_poets_layout_node *leat_poets_layout_add(struct leat_poets_layout *layout,
                                                     const char *name, size_t len)
{
    if (!leat_graph_grow((void **)&layout->node, layout->count, &layout->cap, sizeof *layout->node,
                         LEAT_POETS_LAYOUT_NODES_MAX))
        return NULL;
    struct leat_poets_layout_node *node = &layout->node[layout->count];
    *node = (struct leat_poets_layout_node){ .name = strndup(name, len),
                                             .next = layout->count + 1 };
    if (!node->name) return NULL;
    layout->count++;
    return node;
}

static uint32_t round_up(uint32_t value, uint32_t align)
{
    return (value + align - 1) / align * align;
}

/* Octets of all elements, or more than the limit. */
static uint32_t total_of(const struct leat_poets_layout_node *node)
{
    uint64_t total = node->size;
    for (uint32_t i = 0; i < node->dim_count; i++) {
        total *= node->dim[i];
        if (total > LEAT_POETS_LAYOUT_SIZE_MAX) return UINT32_MAX;
    }
    return (uint32_t)total;
}

/* Members from..to of one struct: their offsets, its size and alignment. */
static bool place_members(struct leat_poets_layout *layout, uint32_t from, uint32_t to,
                          uint32_t *size, uint32_t *align)
{
    uint32_t at = 0;
    *align = 1;
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        struct leat_poets_layout_node *node = &layout->node[i];
        if (node->kind == LEAT_POETS_LAYOUT_STRUCT &&
            !place_members(layout, i + 1, node->next, &node->size, &node->align))
            return false;
        if (layout->packed) node->align = 1;
        node->offset = round_up(at, node->align);
        const uint32_t total = total_of(node);
        if (total > LEAT_POETS_LAYOUT_SIZE_MAX || node->offset + total > LEAT_POETS_LAYOUT_SIZE_MAX)
            return false;
        at = node->offset + total;
        if (node->align > *align) *align = node->align;
    }
    *size = at ? round_up(at, *align) : 1; /* an empty struct of C++ has an octet */
    return true;
}

static bool lack_memory(struct leat_poets_layout_fault *fault)
{
    snprintf(fault->why, sizeof fault->why, "no memory");
    fault->no_memory = true;
    return false;
}

bool leat_poets_layout_place(struct leat_poets_layout *layout, bool packed,
                             struct leat_poets_layout_fault *fault)
{
    layout->packed = packed;
    const bool fits = place_members(layout, 0, layout->count, &layout->size, &layout->align);
    free(layout->initial);
    layout->initial = fits ? calloc(1, layout->size) : NULL;
    if (!fits)
        snprintf(fault->why, sizeof fault->why,
                 "the struct is too large, expected at most %d octets", LEAT_POETS_LAYOUT_SIZE_MAX);
    else if (!layout->initial)
        return lack_memory(fault);
    return layout->initial;
}

/* ---- declarations --------------------------------------------------------------------------- */

struct parse {
    struct leat_poets_scan scan;
    struct leat_poets_layout *layout;
    bool cpp;
    uint32_t depth;
    /* Defaults are assigned after all offsets are known. */
    struct {
        uint32_t node;
        struct leat_poets_scan at;
    } initial[LEAT_POETS_LAYOUT_NODES_MAX];
    uint32_t initial_count;
};

static bool parse_members(struct parse *p, bool inner);

static bool is_word(const char *name, size_t len, const char *word)
{
    return name && strlen(word) == len && memcmp(name, word, len) == 0;
}

/* "unsigned int", "short int", "char" and the like: one of the known names. */
static const char *arithmetic_name(struct leat_poets_scan *s, const char *name, size_t *len)
{
    struct leat_poets_scan before = *s;
    size_t more;
    const char *second = leat_poets_scan_name(s, &more);
    if (is_word(name, *len, "unsigned") && is_word(second, more, "char"))
        return *len = 7, "uint8_t";
    if (is_word(name, *len, "unsigned") && is_word(second, more, "short"))
        return *len = 8, "uint16_t";
    if (is_word(name, *len, "signed") && is_word(second, more, "char"))
        return *len = 11, "signed char";
    const bool takes_int = is_word(name, *len, "unsigned") || is_word(name, *len, "short");
    if (takes_int && is_word(second, more, "int")) return name;
    *s = before;
    return name;
}

static bool parse_dims(struct parse *p, struct leat_poets_layout_node *node)
{
    while (leat_poets_scan_take(&p->scan, '[')) {
        struct leat_poets_layout_node count = { .name = (char *)"[]",
                                                .type = "uint32_t",
                                                .kind = LEAT_POETS_LAYOUT_UINT,
                                                .size = sizeof(uint32_t) };
        uint32_t length;
        if (node->dim_count == LEAT_POETS_LAYOUT_DIMS_MAX)
            return leat_poets_scan_fail(&p->scan, "at most %d dimensions",
                                        LEAT_POETS_LAYOUT_DIMS_MAX);
        if (!leat_poets_scan_number(&p->scan, &count, true, (uint8_t *)&length)) return false;
        if (!leat_poets_scan_take(&p->scan, ']')) return leat_poets_scan_fail(&p->scan, "']'");
        if (!length) return leat_poets_scan_fail(&p->scan, "a length of 1 or more before this");
        node->dim[node->dim_count++] = length;
    }
    return true;
}

/* "= 5", "= {1, 2}", "{5}": kept for later, and skipped. */
static bool parse_initial(struct parse *p, uint32_t node)
{
    if (!p->cpp || *p->scan.at == ';' || *p->scan.at == ',') return true;
    const bool equals = leat_poets_scan_take(&p->scan, '=');
    if (!leat_poets_scan_skip(&p->scan)) return leat_poets_scan_fail(&p->scan, "a value");
    if (!equals && *p->scan.at != '{') return leat_poets_scan_fail(&p->scan, "';'");
    p->initial[p->initial_count].node = node;
    p->initial[p->initial_count++].at = p->scan;
    for (uint32_t depth = 0; *p->scan.at; p->scan.at++) {
        if (!leat_poets_scan_skip(&p->scan)) break;
        if (strchr("\"'#()", *p->scan.at)) break; /* more than numbers: left to the compiler */
        if (!depth && (*p->scan.at == ';' || *p->scan.at == ',')) return true;
        depth += *p->scan.at == '{';
        if (*p->scan.at == '}' && depth-- == 0) break;
    }
    return leat_poets_scan_fail(&p->scan, "a value of plain numbers");
}

/* The names after a type, each a node like `proto`. */
static bool parse_names(struct parse *p, const struct leat_poets_layout_node *proto)
{
    do {
        size_t len;
        const char *name = leat_poets_scan_name(&p->scan, &len);
        if (!name) return leat_poets_scan_fail(&p->scan, "the name of a member");
        struct leat_poets_layout_node *node = leat_poets_layout_add(p->layout, name, len);
        if (!node && p->layout->count < LEAT_POETS_LAYOUT_NODES_MAX)
            return lack_memory(p->scan.fault);
        if (!node)
            return leat_poets_scan_fail(&p->scan, "at most %d members before this",
                                        LEAT_POETS_LAYOUT_NODES_MAX);
        node->type = proto->type;
        node->kind = proto->kind;
        node->size = proto->size;
        node->align = proto->align;
        if (!parse_dims(p, node)) return false;
        if (!leat_poets_scan_skip(&p->scan))
            return leat_poets_scan_fail(&p->scan, "the end of a comment");
        if (!parse_initial(p, p->layout->count - 1)) return false;
    } while (p->cpp && leat_poets_scan_take(&p->scan, ','));
    return true;
}

/* After "struct": its members, then one name. */
static bool parse_struct(struct parse *p)
{
    const uint32_t at = p->layout->count;
    if (!leat_poets_scan_take(&p->scan, '{')) return leat_poets_scan_fail(&p->scan, "'{'");
    if (++p->depth > LEAT_POETS_LAYOUT_DEPTH_MAX)
        return leat_poets_scan_fail(&p->scan, "at most %d levels of structs",
                                    LEAT_POETS_LAYOUT_DEPTH_MAX);
    if (!leat_poets_layout_add(p->layout, "", 0))
        return p->layout->count < LEAT_POETS_LAYOUT_NODES_MAX
                   ? lack_memory(p->scan.fault)
                   : leat_poets_scan_fail(&p->scan, "fewer members");
    p->layout->node[at].kind = LEAT_POETS_LAYOUT_STRUCT;
    p->layout->node[at].type = "struct";
    if (!parse_members(p, true)) return false;
    p->depth--;
    struct leat_poets_layout_node *node = &p->layout->node[at];
    size_t len;
    const char *name = leat_poets_scan_name(&p->scan, &len);
    if (!name) return leat_poets_scan_fail(&p->scan, "the name of a member");
    char *copy = strndup(name, len);
    if (!copy) return leat_poets_scan_fail(&p->scan, "memory");
    free(node->name);
    node->name = copy;
    node->next = p->layout->count;
    return parse_dims(p, node);
}

static bool parse_member(struct parse *p)
{
    struct leat_poets_layout_node proto = { 0 };
    struct leat_poets_scan before = p->scan;
    size_t len;
    const char *type = leat_poets_scan_name(&p->scan, &len);
    if (is_word(type, len, "struct")) {
        if (!parse_struct(p)) return false;
    } else {
        if (type && p->cpp) type = arithmetic_name(&p->scan, type, &len);
        if (!type || !leat_poets_layout_scalar(type, len, p->cpp, &proto)) {
            leat_poets_scan_skip(&before);
            p->scan = before;
            return leat_poets_scan_fail(&p->scan,
                                        "a type: [u]int8_t to [u]int64_t, float, double, struct");
        }
        if (!parse_names(p, &proto)) return false;
    }
    return leat_poets_scan_take(&p->scan, ';') || leat_poets_scan_fail(&p->scan, "';'");
}

static bool parse_members(struct parse *p, bool inner)
{
    for (;;) {
        if (!leat_poets_scan_skip(&p->scan))
            return leat_poets_scan_fail(&p->scan, "the end of a comment");
        if (inner && leat_poets_scan_take(&p->scan, '}')) return true;
        if (!*p->scan.at) return !inner || leat_poets_scan_fail(&p->scan, "'}'");
        if (!parse_member(p)) return false;
    }
}

/* Two members of one struct with one name. */
static bool names_differ(const struct leat_poets_layout *layout, uint32_t from, uint32_t to,
                         struct leat_poets_layout_fault *fault)
{
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        const struct leat_poets_layout_node *a = &layout->node[i];
        if (!names_differ(layout, i + 1, a->next, fault)) return false;
        for (uint32_t k = a->next; k < to; k = layout->node[k].next)
            if (strcmp(a->name, layout->node[k].name) == 0) {
                snprintf(fault->why, sizeof fault->why,
                         "two members '%.60s', expected different names", a->name);
                return false;
            }
    }
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool assign_struct(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                          uint32_t from, uint32_t to, bool cpp, uint8_t *octets);

/* The elements of a node from its dimension `dim` on. */
static bool assign_elements(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                            uint32_t at, uint32_t dim, bool cpp, uint8_t *octets)
{
    const struct leat_poets_layout_node *node = &layout->node[at];
    if (dim == node->dim_count)
        return node->kind != LEAT_POETS_LAYOUT_STRUCT
                   ? leat_poets_scan_number(s, node, cpp, octets)
                   : assign_struct(s, layout, at + 1, node->next, cpp, octets);
    size_t stride = node->size;
    for (uint32_t i = dim + 1; i < node->dim_count; i++)
        stride *= node->dim[i];
    if (!leat_poets_scan_take(s, '{'))
        return leat_poets_scan_fail(s, "'{' before the elements of %s", node->name);
    for (uint32_t i = 0; !leat_poets_scan_take(s, '}'); i++) {
        if (i == node->dim[dim])
            return leat_poets_scan_fail(s, "'}': %s has %u elements", node->name, node->dim[dim]);
        if (!assign_elements(s, layout, at, dim + 1, cpp, octets + i * stride)) return false;
        if (!leat_poets_scan_take(s, ',') && *s->at != '}')
            return leat_poets_scan_fail(s, "',' or '}'");
    }
    return true;
}

/* Values up to '}' or, without braces, up to the end. */
static bool assign_members(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                           uint32_t from, uint32_t to, bool cpp, char end, uint8_t *octets)
{
    uint32_t i = from;
    for (;; i = layout->node[i].next) {
        if (!leat_poets_scan_skip(s)) return leat_poets_scan_fail(s, "the end of a comment");
        if (*s->at == end) break;
        if (i >= to)
            return leat_poets_scan_fail(s, "no more values: the struct has no more members");
        if (!assign_elements(s, layout, i, 0, cpp, octets + layout->node[i].offset)) return false;
        if (!leat_poets_scan_take(s, ',') && *s->at != end)
            return leat_poets_scan_fail(s, end ? "',' or '}'" : "',' or the end");
    }
    if (end) s->at++;
    return true;
}

static bool assign_struct(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                          uint32_t from, uint32_t to, bool cpp, uint8_t *octets)
{
    if (!leat_poets_scan_take(s, '{'))
        return leat_poets_scan_fail(s, "'{' before the members of a struct");
    return assign_members(s, layout, from, to, cpp, '}', octets);
}

bool leat_poets_layout_assign(const struct leat_poets_layout *layout, const char *text, bool cpp,
                              uint8_t *octets, struct leat_poets_layout_fault *fault)
{
    struct leat_poets_scan s = { .at = text, .fault = fault };
    leat_poets_scan_skip(&s);
    if (!*s.at) return true;
    if (cpp && *s.at != '{') return assign_members(&s, layout, 0, layout->count, cpp, '\0', octets);
    if (!assign_struct(&s, layout, 0, layout->count, cpp, octets)) return false;
    leat_poets_scan_skip(&s);
    return !*s.at || leat_poets_scan_fail(&s, "the end");
}

/* The default of a member; a single number may also be in braces. */
static bool assign_initial(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                           uint32_t at, uint8_t *octets)
{
    const struct leat_poets_layout_node *node = &layout->node[at];
    const bool single = !node->dim_count && node->kind != LEAT_POETS_LAYOUT_STRUCT;
    const bool braces = single && leat_poets_scan_take(s, '{');
    if (braces && leat_poets_scan_take(s, '}')) return true; /* zero */
    if (!assign_elements(s, layout, at, 0, true, octets)) return false;
    return !braces || leat_poets_scan_take(s, '}') || leat_poets_scan_fail(s, "'}'");
}

bool leat_poets_layout_parse(const char *text, bool cpp, bool packed, struct leat_poets_layout *out,
                             struct leat_poets_layout_fault *fault)
{
    struct parse *p = calloc(1, sizeof *p);
    *out = (struct leat_poets_layout){ 0 };
    *fault = (struct leat_poets_layout_fault){ 0 };
    if (!p) return lack_memory(fault);
    p->scan = (struct leat_poets_scan){ .at = text, .fault = fault };
    p->layout = out;
    p->cpp = cpp;
    bool good = parse_members(p, false) && names_differ(out, 0, out->count, fault) &&
                leat_poets_layout_place(out, packed, fault);
    /* Only top-level members have defaults here: those inside structs are left to the compiler. */
    for (uint32_t i = 0; good && i < p->initial_count; i++) {
        const uint32_t at = p->initial[i].node;
        struct leat_poets_scan s = p->initial[i].at;
        bool top = false;
        for (uint32_t k = 0; k <= at; k = out->node[k].next)
            top = top || k == at;
        uint8_t *octets = out->initial + out->node[at].offset;
        good = top ? assign_initial(&s, out, at, octets)
                   : leat_poets_scan_fail(&s, "defaults of plain members only");
        good = good && ((leat_poets_scan_skip(&s) && (*s.at == ';' || *s.at == ',')) ||
                        leat_poets_scan_fail(&s, "a value of plain numbers"));
    }
    free(p);
    if (!good) leat_poets_layout_free(out);
    return good;
}

/* ---- values by name (JSON) ------------------------------------------------------------------ */

static bool json_members(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                         uint32_t from, uint32_t to, char end, uint8_t *octets);

/* "name": ; the name is *len characters at the returned pointer. */
static const char *json_name(struct leat_poets_scan *s, size_t *len)
{
    if (!leat_poets_scan_take(s, '"')) return leat_poets_scan_fail(s, "a name in quotes"), NULL;
    const char *name = s->at;
    while (*s->at && *s->at != '"' && *s->at != '\\')
        s->at++;
    *len = (size_t)(s->at - name);
    if (!leat_poets_scan_take(s, '"')) return leat_poets_scan_fail(s, "'\"'"), NULL;
    if (!leat_poets_scan_take(s, ':')) return leat_poets_scan_fail(s, "':'"), NULL;
    return name;
}

static bool json_elements(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                          uint32_t at, uint32_t dim, uint8_t *octets)
{
    const struct leat_poets_layout_node *node = &layout->node[at];
    if (dim == node->dim_count) {
        if (node->kind != LEAT_POETS_LAYOUT_STRUCT)
            return leat_poets_scan_number(s, node, false, octets);
        if (!leat_poets_scan_take(s, '{')) return leat_poets_scan_fail(s, "'{' for %s", node->name);
        return json_members(s, layout, at + 1, node->next, '}', octets);
    }
    size_t stride = node->size;
    for (uint32_t i = dim + 1; i < node->dim_count; i++)
        stride *= node->dim[i];
    const bool sparse = leat_poets_scan_take(s, '{'); /* {"7": value} */
    if (!sparse && !leat_poets_scan_take(s, '['))
        return leat_poets_scan_fail(s, "'[' for %s", node->name);
    for (uint32_t i = 0; !leat_poets_scan_take(s, sparse ? '}' : ']'); i++) {
        size_t len;
        const char *name = sparse ? json_name(s, &len) : NULL;
        if (sparse && !name) return false;
        const uint64_t index = sparse ? strtoull(name, NULL, 10) : i;
        if (index >= node->dim[dim])
            return leat_poets_scan_fail(s, "an index below %u for %s", node->dim[dim], node->name);
        if (!json_elements(s, layout, at, dim + 1, octets + index * stride)) return false;
        if (!leat_poets_scan_take(s, ',') && *s->at != (sparse ? '}' : ']'))
            return leat_poets_scan_fail(s, "',' or the end of %s", node->name);
    }
    return true;
}

static bool json_members(struct leat_poets_scan *s, const struct leat_poets_layout *layout,
                         uint32_t from, uint32_t to, char end, uint8_t *octets)
{
    for (;;) {
        size_t len;
        leat_poets_scan_skip(s);
        if (*s->at == end) break;
        const struct leat_poets_scan before = *s;
        const char *name = json_name(s, &len);
        if (!name) return false;
        uint32_t i = from;
        while (i < to && !is_word(name, len, layout->node[i].name))
            i = layout->node[i].next;
        if (i >= to) {
            *s = before;
            return leat_poets_scan_fail(s, "the name of a member");
        }
        if (!json_elements(s, layout, i, 0, octets + layout->node[i].offset)) return false;
        if (!leat_poets_scan_take(s, ',') && *s->at != end)
            return leat_poets_scan_fail(s, end ? "',' or '}'" : "',' or the end");
    }
    if (end) s->at++;
    return true;
}

bool leat_poets_layout_assign_json(const struct leat_poets_layout *layout, const char *text,
                                   uint8_t *octets, struct leat_poets_layout_fault *fault)
{
    struct leat_poets_scan s = { .at = text, .fault = fault };
    const bool braces = leat_poets_scan_take(&s, '{');
    if (!json_members(&s, layout, 0, layout->count, braces ? '}' : '\0', octets)) return false;
    leat_poets_scan_skip(&s);
    return !*s.at || leat_poets_scan_fail(&s, "the end");
}

/* A JSON value for one node, all of its elements. */
static bool assign_node(const struct leat_poets_layout *layout, uint32_t at, uint8_t *octets,
                        struct leat_poets_layout_fault *fault)
{
    const struct leat_poets_layout_node *node = &layout->node[at];
    struct leat_poets_scan s = { .at = node->initial, .fault = fault };
    leat_poets_scan_skip(&s);
    const bool members = node->kind == LEAT_POETS_LAYOUT_STRUCT && !node->dim_count && *s.at == '"';
    const bool good = members ? json_members(&s, layout, at + 1, node->next, '\0', octets)
                              : json_elements(&s, layout, at, 0, octets);
    if (!good) return false;
    leat_poets_scan_skip(&s);
    return !*s.at || leat_poets_scan_fail(&s, "the end");
}

static bool initialise(const struct leat_poets_layout *layout, uint32_t from, uint32_t to,
                       uint8_t *octets, struct leat_poets_layout_fault *fault)
{
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        const struct leat_poets_layout_node *node = &layout->node[i];
        const uint32_t elements = total_of(node) / node->size;
        for (uint32_t k = 0; node->kind == LEAT_POETS_LAYOUT_STRUCT && k < elements; k++)
            if (!initialise(layout, i + 1, node->next, octets + node->offset + k * node->size,
                            fault))
                return false;
        if (node->initial && !assign_node(layout, i, octets + node->offset, fault)) return false;
    }
    return true;
}

bool leat_poets_layout_initialise(struct leat_poets_layout *layout,
                                  struct leat_poets_layout_fault *fault)
{
    return initialise(layout, 0, layout->count, layout->initial, fault);
}
