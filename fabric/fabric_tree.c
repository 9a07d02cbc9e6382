#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CYAML

#include "fabric_tree_parts.h"
#include "fabric_word_parts.h"
#include "leat_near.h"
#include "leat_tree.h"

/* YAML parsers take time that grows with the square of the depth, and of the anchors. */
enum { DEPTH_MAX = 16, ANCHORS_MAX = 256, KEYS_CAP = 512 };

/* ---- reading -------------------------------------------------------------------------------- */

/* What has been seen of a file. */
struct scan {
    unsigned documents, depth, anchors;
};

static bool scan_event(struct leat_fabric_tree *tree, struct scan *scan, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    tree->place.line = (uint32_t)event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++scan->documents > 1)
            return leat_fabric_wrong(&tree->place,
                                     "a second document, expected the end of the file");
        break;
    case YAML_SCALAR_EVENT: anchor = event->data.scalar.anchor; break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        anchor = event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                                          : event->data.mapping_start.anchor;
        if (++scan->depth > DEPTH_MAX)
            return leat_fabric_wrong(&tree->place, "nested too deep, expected at most %d levels",
                                     DEPTH_MAX);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: scan->depth--; break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_ALIAS_EVENT: break;
    }
    if (anchor && ++scan->anchors > ANCHORS_MAX)
        return leat_fabric_wrong(&tree->place, "one anchor (&) too many, expected at most %d",
                                 ANCHORS_MAX);
    return true;
}

/* Octets that are not text have only an offset. */
static bool refuse_syntax(struct leat_fabric_tree *tree, const yaml_parser_t *parser,
                          const uint8_t *octets, size_t len)
{
    tree->place.line = (uint32_t)parser->problem_mark.line + 1;
    if (parser->error == YAML_MEMORY_ERROR) return leat_fabric_no_memory(tree->place.error, 0);
    if (parser->error == YAML_READER_ERROR)
        for (size_t i = 0; i < len && i < parser->problem_offset; i++)
            tree->place.line += octets[i] == '\n';
    return leat_fabric_wrong(&tree->place, "%s, expected YAML",
                             parser->problem ? parser->problem : "it is broken");
}

/* One event after the other, without storing them. */
static bool scan_all(struct leat_fabric_tree *tree, yaml_parser_t *parser, const uint8_t *octets,
                     size_t len)
{
    struct scan scan = { 0 };
    yaml_event_t event;
    bool good = true, end = false;
    while (good && !end && !leat_fabric_is_interrupted(&tree->place)) {
        if (!yaml_parser_parse(parser, &event)) return refuse_syntax(tree, parser, octets, len);
        end = event.type == YAML_STREAM_END_EVENT;
        good = scan_event(tree, &scan, &event);
        yaml_event_delete(&event);
    }
    return good && end;
}

static bool load(struct leat_fabric_tree *tree, yaml_parser_t *parser, const uint8_t *octets,
                 size_t len)
{
    if (yaml_parser_load(parser, &tree->document)) return true;
    return refuse_syntax(tree, parser, octets, len);
}

static bool read_tree(struct leat_fabric_tree *tree, const uint8_t *octets, size_t len)
{
    bool good = true;
    for (int pass = 0; good && pass < 2; pass++) {
        yaml_parser_t parser;
        if (!yaml_parser_initialize(&parser)) return leat_fabric_no_memory(tree->place.error, 0);
        yaml_parser_set_input_string(&parser, octets, len);
        good = (pass == 0 ? scan_all : load)(tree, &parser, octets, len);
        yaml_parser_delete(&parser);
    }
    tree->place.line = good ? 1 : tree->place.line;
    return good;
}

/* ---- finding -------------------------------------------------------------------------------- */

static struct word text_of(const yaml_node_t *scalar)
{
    return (struct word){ (const char *)scalar->data.scalar.value, scalar->data.scalar.length };
}

uint32_t leat_fabric_tree_line(const yaml_node_t *node)
{
    return (uint32_t)node->start_mark.line + 1;
}

yaml_node_t *leat_fabric_tree_root(struct leat_fabric_tree *tree)
{
    return yaml_document_get_root_node(&tree->document);
}

yaml_node_t *leat_fabric_tree_value(struct leat_fabric_tree *tree, const yaml_node_t *mapping,
                                    const char *key)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE) return NULL;
    const yaml_node_pair_t *end = mapping->data.mapping.pairs.top;
    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < end; p++) {
        const yaml_node_t *k = yaml_document_get_node(&tree->document, p->key);
        if (k->type == YAML_SCALAR_NODE && is_word(text_of(k), key))
            return yaml_document_get_node(&tree->document, p->value);
    }
    return NULL;
}

static uint32_t entries_of(const yaml_node_t *list)
{
    return (uint32_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

yaml_node_t *leat_fabric_tree_entry(struct leat_fabric_tree *tree, const yaml_node_t *list,
                                    uint32_t index)
{
    if (!list || list->type != YAML_SEQUENCE_NODE || index >= entries_of(list)) return NULL;
    return yaml_document_get_node(&tree->document, list->data.sequence.items.start[index]);
}

/* ---- checking ------------------------------------------------------------------------------- */

struct keys {
    char text[KEYS_CAP];
};

/* "a, b, c" */
static struct keys keys_of(const cyaml_schema_field_t *fields)
{
    struct keys keys = { "" };
    for (const cyaml_schema_field_t *f = fields; f->key; f++)
        snprintf(keys.text + strlen(keys.text), sizeof keys.text - strlen(keys.text), "%s%s",
                 f == fields ? "" : ", ", f->key);
    return keys;
}

/* "NAME: WHAT IT IS, expected ..." */
static bool refuse(struct leat_fabric_tree *tree, const char *name, const yaml_node_t *node,
                   const char *expected)
{
    struct shown text;
    tree->place.line = leat_fabric_tree_line(node);
    if (node->type == YAML_SEQUENCE_NODE || node->type == YAML_MAPPING_NODE)
        return leat_fabric_wrong(&tree->place, "%s: %s, expected %s", name,
                                 node->type == YAML_SEQUENCE_NODE ? "a list" : "keys and values",
                                 expected);
    text = show(text_of(node));
    if (!text.text[0])
        return leat_fabric_wrong(&tree->place, "%s: nothing, expected %s", name, expected);
    return leat_fabric_wrong(&tree->place, "%s: '%s', expected %s", name, text.text, expected);
}

/* Only decimal: libcyaml would read a leading zero as octal. */
static bool check_number(struct leat_fabric_tree *tree, const char *name, const yaml_node_t *node)
{
    uint64_t number;
    if (node->type == YAML_SCALAR_NODE) {
        const struct word w = text_of(node);
        if (leat_tree_number(w.text, w.len, &number) && number <= UINT32_MAX &&
            (w.len == 1 || w.text[0] != '0'))
            return true;
    }
    return refuse(tree, name, node, "a whole number of at most 4294967295");
}

/* libcyaml reads every other word as true. */
static bool check_truth(struct leat_fabric_tree *tree, const char *name, const yaml_node_t *node)
{
    static const char *const words[] = { "true", "false", "yes", "no" };
    for (size_t i = 0; node->type == YAML_SCALAR_NODE && i < sizeof words / sizeof *words; i++)
        if (is_word(text_of(node), words[i])) return true;
    return refuse(tree, name, node, "true or false");
}

/* Errors quote these words, so control characters are rejected. */
static bool is_printable(struct word w)
{
    for (size_t i = 0; i < w.len; i++)
        if (w.text[i] < ' ' || w.text[i] > '~') return false;
    return true;
}

static bool check_string(struct leat_fabric_tree *tree, const char *name, const yaml_node_t *node,
                         const cyaml_schema_value_t *schema)
{
    char expected[64];
    if (node->type != YAML_SCALAR_NODE) return refuse(tree, name, node, "a word");
    const struct word w = text_of(node);
    snprintf(expected, sizeof expected, "a word of at most %u plain characters",
             schema->string.max);
    if (w.len < schema->string.min || w.len > schema->string.max || !is_printable(w))
        return refuse(tree, name, node, expected);
    return true;
}

static bool check_list(struct leat_fabric_tree *tree, const char *name, const yaml_node_t *node,
                       const cyaml_schema_value_t *schema)
{
    if (node->type != YAML_SEQUENCE_NODE) return refuse(tree, name, node, "a list");
    const uint32_t count = entries_of(node), min = schema->sequence.min, max = schema->sequence.max;
    tree->place.line = leat_fabric_tree_line(node);
    if (count < min)
        return leat_fabric_wrong(&tree->place, "%s: a list of %u, expected at least %u", name,
                                 count, min);
    if (count > max)
        return leat_fabric_wrong(&tree->place, "%s: a list of %u, expected at most %u", name, count,
                                 max);
    for (uint32_t i = 0; i < count; i++)
        if (!leat_fabric_tree_check(tree, name, leat_fabric_tree_entry(tree, node, i),
                                    schema->sequence.entry))
            return false;
    return true;
}

/* The field that a key names; NULL with an error. */
static const cyaml_schema_field_t *find_field(struct leat_fabric_tree *tree, const yaml_node_t *key,
                                              const cyaml_schema_field_t *fields)
{
    struct shown text = { "" };
    tree->place.line = leat_fabric_tree_line(key);
    if (key->type == YAML_SCALAR_NODE) {
        for (const cyaml_schema_field_t *f = fields; f->key; f++)
            if (is_word(text_of(key), f->key)) return f;
        text = show(text_of(key));
    }
    const struct keys known = keys_of(fields);
    struct leat_near near = leat_near_to(text.text, strlen(text.text));
    leat_near_try_all(&near, known.text);
    leat_fabric_wrong(&tree->place, "unknown key '%s', %sexpected one of %s", text.text, near.text,
                      known.text);
    return NULL;
}

static bool check_fields(struct leat_fabric_tree *tree, const yaml_node_t *node,
                         const cyaml_schema_field_t *fields)
{
    uint64_t seen = 0;
    const yaml_node_pair_t *end = node->data.mapping.pairs.top;
    for (const yaml_node_pair_t *p = node->data.mapping.pairs.start; p < end; p++) {
        const yaml_node_t *key = yaml_document_get_node(&tree->document, p->key);
        const cyaml_schema_field_t *f = find_field(tree, key, fields);
        if (!f) return false;
        if (seen >> (f - fields) & 1)
            return leat_fabric_wrong(&tree->place, "'%s' is there twice, expected it once", f->key);
        seen |= UINT64_C(1) << (f - fields);
        if (!leat_fabric_tree_check(tree, f->key, yaml_document_get_node(&tree->document, p->value),
                                    &f->value))
            return false;
    }
    tree->place.line = leat_fabric_tree_line(node);
    for (const cyaml_schema_field_t *f = fields; f->key; f++)
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && !(seen >> (f - fields) & 1))
            return leat_fabric_wrong(&tree->place, "no %s, expected the keys %s", f->key,
                                     keys_of(fields).text);
    return true;
}

static bool check_mapping(struct leat_fabric_tree *tree, const char *name, const yaml_node_t *node,
                          const cyaml_schema_value_t *schema)
{
    char expected[KEYS_CAP + 32];
    if (node->type == YAML_MAPPING_NODE) return check_fields(tree, node, schema->mapping.fields);
    snprintf(expected, sizeof expected, "the keys %s", keys_of(schema->mapping.fields).text);
    return refuse(tree, name, node, expected);
}

bool leat_fabric_tree_check(struct leat_fabric_tree *tree, const char *name,
                            const yaml_node_t *node, const cyaml_schema_value_t *schema)
{
    if (schema->type == CYAML_UINT) return check_number(tree, name, node);
    if (schema->type == CYAML_BOOL) return check_truth(tree, name, node);
    if (schema->type == CYAML_STRING) return check_string(tree, name, node, schema);
    if (schema->type == CYAML_SEQUENCE) return check_list(tree, name, node, schema);
    if (schema->type == CYAML_MAPPING) return check_mapping(tree, name, node, schema);
    return true;
}

static const cyaml_config_t quiet = { .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR };

void *leat_fabric_tree_load(struct leat_fabric_tree *tree, const uint8_t *octets, size_t len,
                            const cyaml_schema_value_t *schema, const char *first)
{
    void *data = NULL;
    const yaml_node_t *root = leat_fabric_tree_root(tree);
    if (!root) {
        leat_fabric_wrong(&tree->place, "nothing in it, expected at least %s:", first);
        return NULL;
    }
    if (!leat_fabric_tree_check(tree, "the description", root, schema)) return NULL;
    const cyaml_err_t err = cyaml_load_data(octets, len, &quiet, schema, &data, NULL);
    if (!err && data) return data;
    leat_fabric_wrong(&tree->place, "libcyaml cannot read it: %s, expected plain YAML",
                      cyaml_strerror(err));
    return NULL;
}

void leat_fabric_tree_unload(const cyaml_schema_value_t *schema, void *data)
{
    cyaml_free(&quiet, schema, data, 0);
}

bool leat_fabric_tree_file(const struct leat_fabric_place *place, size_t most,
                           leat_fabric_tree_fn *load_it, void *context)
{
    struct leat_fabric_tree tree = { .place = *place };
    size_t len;
    uint8_t *octets = leat_fabric_file(place, most, &len);
    bool good = octets && read_tree(&tree, octets, len);
    if (good) {
        good = !leat_fabric_is_interrupted(place) && load_it(context, &tree, octets, len);
        yaml_document_delete(&tree.document);
    }
    free(octets);
    return good;
}

#endif
