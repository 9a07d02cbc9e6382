/* What the elements of a file create: types, pins, structs, devices, edges. */
#include "graph_read_parts.h"
#include "poets_path.h"
#include <stdlib.h>
#include <string.h>

/* ---- places and words ----------------------------------------------------------------------- */

struct leat_graph_place leat_graph_reader_here(const struct leat_graph_reader *r)
{
    const XML_Size column = XML_GetCurrentColumnNumber(r->parser) + 1;
    return (struct leat_graph_place){ .line = (uint32_t)XML_GetCurrentLineNumber(r->parser),
                                      .column = (uint16_t)(column < UINT16_MAX ? column : 0),
                                      .file = r->file_number };
}

struct leat_graph_frame *leat_graph_reader_top(struct leat_graph_reader *r)
{
    return &r->frame[r->depth - 1];
}

void leat_graph_reader_stop(struct leat_graph_reader *r)
{
    r->stopped = true;
    XML_StopParser(r->parser, XML_FALSE);
}

void leat_graph_reader_no_memory(struct leat_graph_reader *r)
{
    if (!r->stopped) WRONG_HERE(r, "E_LIMIT", "no memory, or too many");
    leat_graph_reader_stop(r);
}

/* A copy that lives as long as the graph; "" if absent. */
static char *keep(struct leat_graph_reader *r, const char *text)
{
    char *copy = strdup(text ? text : "");
    if (!copy) leat_graph_reader_no_memory(r);
    return copy;
}

static const char *attribute(const XML_Char **list, const char *name)
{
    for (; *list; list += 2)
        if (strcmp(list[0], name) == 0) return list[1];
    return NULL;
}

/* The number of a value's string, 0 if absent; surrounding blanks do not count. */
uint32_t leat_graph_reader_value_of(struct leat_graph_reader *r, const char *text, size_t len)
{
    while (len && strchr(" \t\r\n", *text))
        text++, len--;
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    if (!len) return LEAT_GRAPH_NO_STRING;
    const uint32_t number = leat_graph_strings_add(&r->graph->values, text, len);
    if (!number) leat_graph_reader_no_memory(r);
    return number;
}

static uint32_t attribute_value(struct leat_graph_reader *r, const XML_Char **list,
                                const char *name)
{
    const char *text = attribute(list, name);
    return text ? leat_graph_reader_value_of(r, text, strlen(text)) : LEAT_GRAPH_NO_STRING;
}

static void check_identifier(struct leat_graph_reader *r, const char *what, const char *text)
{
    if (!leat_poets_identifier(text, strlen(text)))
        WRONG_HERE(r, "E_IDENT", "%s '%.*s', expected letters, digits and _", what, SHOWN, text);
}

/* Room for one more in a list; false: there is none, which was reported. */
static bool grow(struct leat_graph_reader *r, void **list, uint32_t count, uint32_t *cap,
                 size_t size, uint32_t limit)
{
    const bool good = leat_graph_grow(list, count, cap, size, limit);
    if (!good) leat_graph_reader_no_memory(r);
    return good;
}

/* ---- what elements create -------------------------------------------------------------------- */

/* The namespace determines the meaning of all that follows. */
static void open_graphs(struct leat_graph_reader *r, const XML_Char **list)
{
    static const char home[] = "https://poets-project.org/schemas/",
                      part[] = "virtual-graph-schema-v";
    const char *space = attribute(list, "xmlns");
    const char *version = space ? strstr(space, part) : NULL;
    struct leat_graph *g = r->graph;
    if (version) version += strlen(part);
    if (r->wanted != LEAT_GRAPH_DIALECT_COUNT) {
        g->dialect = r->wanted;
    } else if (!space || !*space) {
        g->dialect = LEAT_GRAPH_ORCH;
    } else if (version && (strcmp(version, "3") == 0 || strcmp(version, "4") == 0) &&
               strncmp(space, home, strlen(home)) == 0) {
        g->dialect = *version == '3' ? LEAT_GRAPH_V3 : LEAT_GRAPH_V4;
    } else {
        WRONG_HERE(r, "E_NS", "%s%.*s, expected none, %s%s3 or ...4",
                   version ? "version " : "namespace ", 2 * SHOWN, version ? version : space, home,
                   part);
        leat_graph_reader_stop(r);
    }
}

static void open_graph_type(struct leat_graph_reader *r, const XML_Char **list)
{
    struct leat_graph *g = r->graph;
    if (g->has_type) {
        WRONG_HERE(r, "E_CARD", "a second GraphType, expected one");
        return;
    }
    g->has_type = true;
    g->place = leat_graph_reader_here(r);
    g->id = keep(r, attribute(list, "id"));
    if (g->id) check_identifier(r, "graph type", g->id);
}

static void open_message(struct leat_graph_reader *r, struct leat_graph_message **all,
                         uint32_t *count, uint32_t *cap, const XML_Char **list)
{
    if (!grow(r, (void **)all, *count, cap, sizeof **all, LEAT_GRAPH_TYPES_MAX)) return;
    struct leat_graph_message *m = &(*all)[*count];
    *m = (struct leat_graph_message){ .id = keep(r, attribute(list, "id")),
                                      .place = leat_graph_reader_here(r) };
    if (!m->id) return;
    ++*count;
    m->data.place = m->place;
    check_identifier(r, leat_graph_reader_top(r)->rule->name, m->id);
}

static void open_type(struct leat_graph_reader *r, enum leat_graph_type_kind kind,
                      const XML_Char **list)
{
    struct leat_graph *g = r->graph;
    if (!grow(r, (void **)&g->type, g->type_count, &g->type_cap, sizeof *g->type,
              LEAT_GRAPH_TYPES_MAX))
        return;
    struct leat_graph_type *t = &g->type[g->type_count];
    *t = (struct leat_graph_type){ .kind = kind, .id = keep(r, attribute(list, "id")) };
    if (!t->id) return;
    g->type_count++;
    t->place = t->properties.place = t->state.place = leat_graph_reader_here(r);
    if (kind != LEAT_GRAPH_SUPERVISOR || *t->id)
        check_identifier(r, leat_graph_reader_top(r)->rule->name, t->id);
}

struct leat_graph_type *leat_graph_reader_last_type(struct leat_graph_reader *r)
{
    return &r->graph->type[r->graph->type_count - 1];
}

struct leat_graph_pins *leat_graph_reader_pins_of(struct leat_graph_reader *r,
                                                  enum leat_graph_element element)
{
    struct leat_graph_type *t = leat_graph_reader_last_type(r);
    if (element == ELEMENT_SUPERVISOR_IN_PIN) return &t->from_supervisor;
    if (element == ELEMENT_SUPERVISOR_OUT_PIN) return &t->to_supervisor;
    return element == ELEMENT_INPUT_PIN || element == ELEMENT_INPUT_PIN_BARE ? &t->input
                                                                             : &t->output;
}

static void open_pin(struct leat_graph_reader *r, enum leat_graph_element element,
                     const XML_Char **list)
{
    struct leat_graph_pins *pins = leat_graph_reader_pins_of(r, element);
    const bool named = element != ELEMENT_SUPERVISOR_IN_PIN &&
                       element != ELEMENT_SUPERVISOR_OUT_PIN;
    const char *indexed = attribute(list, "indexed");
    if (!grow(r, (void **)&pins->pin, pins->count, &pins->cap, sizeof *pins->pin,
              2 * LEAT_GRAPH_INPUTS_MAX))
        return;
    struct leat_graph_pin *pin = &pins->pin[pins->count];
    *pin = (struct leat_graph_pin){ .name = keep(r, attribute(list, "name")),
                                    .message_id = keep(r, attribute(list, "messageTypeId")),
                                    .message = LEAT_GRAPH_NONE,
                                    .place = leat_graph_reader_here(r) };
    pins->count++;
    if (!pin->name || !pin->message_id) return;
    pin->properties.place = pin->state.place = pin->place;
    pin->indexed = indexed && (strcmp(indexed, "true") == 0 || strcmp(indexed, "1") == 0);
    if (indexed && !pin->indexed && strcmp(indexed, "false") != 0 && strcmp(indexed, "0") != 0)
        leat_graph_wrong(&r->graph->report, pin->place, "E_ATTR",
                         "indexed=\"%.*s\", expected true or false", SHOWN, indexed);
    if (named) check_identifier(r, "pin", pin->name);
}

/* Where a struct's element belongs. */
static struct leat_graph_struct *struct_of(struct leat_graph_reader *r,
                                           enum leat_graph_element parent, uint8_t slot)
{
    struct leat_graph *g = r->graph;
    if (parent == ELEMENT_GRAPH_TYPE) return &g->properties;
    if (parent == ELEMENT_MESSAGE_TYPE) return &g->message[g->message_count - 1].data;
    if (parent == ELEMENT_INPUT_PIN) {
        struct leat_graph_pins *pins = &leat_graph_reader_last_type(r)->input;
        struct leat_graph_pin *pin = &pins->pin[pins->count - 1];
        return slot == SLOT_STATE ? &pin->state : &pin->properties;
    }
    return slot == SLOT_STATE ? &leat_graph_reader_last_type(r)->state
                              : &leat_graph_reader_last_type(r)->properties;
}

static void open_struct(struct leat_graph_reader *r, struct leat_graph_struct *data,
                        const XML_Char **list)
{
    const char *c_name = attribute(list, "cTypeName");
    r->data = data;
    r->member_depth = 0;
    data->given = true;
    data->place = leat_graph_reader_here(r);
    if (c_name) data->c_name = keep(r, c_name);
    if (c_name) check_identifier(r, "cTypeName", c_name);
}

static void open_member(struct leat_graph_reader *r, enum leat_graph_element element,
                        const XML_Char **list)
{
    struct leat_graph_struct *data = r->data;
    const char *length = attribute(list, "length"), *type = attribute(list, "type");
    const char *initial = attribute(list, "default");
    if (!data || !grow(r, (void **)&data->member, data->member_count, &data->member_cap,
                       sizeof *data->member, LEAT_POETS_LAYOUT_NODES_MAX))
        return;
    struct leat_graph_member *m = &data->member[data->member_count++];
    *m = (struct leat_graph_member){
        .kind = element == ELEMENT_SCALAR  ? LEAT_GRAPH_SCALAR
                : element == ELEMENT_TUPLE ? LEAT_GRAPH_TUPLE
                                           : LEAT_GRAPH_ARRAY,
        .name = keep(r, attribute(list, "name")),
        .type = type ? keep(r, type) : NULL,
        .initial = initial ? keep(r, initial) : NULL,
        .depth = r->member_depth++,
        .place = leat_graph_reader_here(r),
    };
    if (m->name) check_identifier(r, "member", m->name);
    if (!length) return;
    char *end;
    const unsigned long count = strtoul(length, &end, 10);
    if (*end || !*length || *length == '-' || !count || count > LEAT_POETS_LAYOUT_SIZE_MAX)
        leat_graph_wrong(&r->graph->report, m->place, "E_STRUCT",
                         "length '%.*s', expected a number from 1", SHOWN, length);
    else
        m->length = (uint32_t)count;
    if (!m->length) m->length = 1;
}

static void open_instance(struct leat_graph_reader *r, const XML_Char **list)
{
    struct leat_graph *g = r->graph;
    if (!grow(r, (void **)&g->instance, g->instance_count, &g->instance_cap, sizeof *g->instance,
              LEAT_GRAPH_INSTANCES_MAX))
        return;
    struct leat_graph_instance *i = &g->instance[g->instance_count];
    *i = (struct leat_graph_instance){ .id = keep(r, attribute(list, "id")),
                                       .type_id = keep(r, attribute(list, "graphTypeId")),
                                       .properties = attribute_value(r, list, "P"),
                                       .place = leat_graph_reader_here(r) };
    g->instance_count++;
    if (i->id) check_identifier(r, "graph instance", i->id);
}

struct leat_graph_instance *leat_graph_reader_last_instance(struct leat_graph_reader *r)
{
    return &r->graph->instance[r->graph->instance_count - 1];
}

static void open_device(struct leat_graph_reader *r, bool external, const XML_Char **list)
{
    struct leat_graph_instance *i = leat_graph_reader_last_instance(r);
    const char *id = attribute(list, "id"), *type = attribute(list, "type");
    if (!grow(r, (void **)&i->device, i->device_count, &i->device_cap, sizeof *i->device,
              LEAT_GRAPH_STRINGS_COUNT_MAX))
        return;
    struct leat_graph_device *d = &i->device[i->device_count];
    *d = (struct leat_graph_device){
        .name = leat_graph_strings_add(&r->graph->names, id, strlen(id)),
        .type_name = leat_graph_strings_add(&r->graph->pin_names, type, strlen(type)),
        .properties = attribute_value(r, list, "P"),
        .state = attribute_value(r, list, "S"),
        .place = leat_graph_reader_here(r),
        .type = external,
    };
    if (!d->name || !d->type_name) {
        leat_graph_reader_no_memory(r);
        return;
    }
    i->device_count++;
    check_identifier(r, leat_graph_reader_top(r)->rule->name, id);
}

static uint32_t send_index_of(struct leat_graph_reader *r, const XML_Char **list)
{
    const char *text = attribute(list, "sendIndex");
    char *end;
    if (!text) return LEAT_GRAPH_NONE;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && value < LEAT_GRAPH_NONE) return (uint32_t)value;
    WRONG_HERE(r, "E_INDEX", "sendIndex '%.*s', expected a number", SHOWN, text);
    return LEAT_GRAPH_NONE;
}

static void open_edge(struct leat_graph_reader *r, const XML_Char **list)
{
    struct leat_graph *g = r->graph;
    struct leat_graph_instance *i = leat_graph_reader_last_instance(r);
    const char *text = attribute(list, "path");
    const struct leat_graph_place place = leat_graph_reader_here(r);
    struct leat_poets_path path;
    if (leat_poets_path_parse(text, strlen(text), g->dialect == LEAT_GRAPH_ORCH, &path, NULL)) {
        leat_graph_wrong(&g->report, place, "E_PATH",
                         "path '%.*s', expected TO:PIN-FROM:PIN, the destination first", 2 * SHOWN,
                         text);
        return;
    }
    if (!path.to.len && !path.from.len) {
        leat_graph_wrong(&g->report, place, "E_PATH",
                         "path '%.*s' from supervisor to supervisor, expected a device", SHOWN,
                         text);
        return;
    }
    if (!grow(r, (void **)&i->edge, i->edge_count, &i->edge_cap, sizeof *i->edge,
              LEAT_GRAPH_STRINGS_COUNT_MAX))
        return;
    const uint32_t to = leat_graph_strings_add(&g->names, path.to.text, path.to.len);
    const uint32_t from = leat_graph_strings_add(&g->names, path.from.text, path.from.len);
    const uint32_t to_pin = leat_graph_strings_add(&g->pin_names, path.to_pin.text,
                                                   path.to_pin.len);
    const uint32_t from_pin = leat_graph_strings_add(&g->pin_names, path.from_pin.text,
                                                     path.from_pin.len);
    if (!to || !from || !to_pin || !from_pin || g->pin_names.count > UINT16_MAX) {
        leat_graph_reader_no_memory(r);
        return;
    }
    i->edge[i->edge_count++] = (struct leat_graph_edge){
        .to = path.to.len ? to : LEAT_GRAPH_NONE,
        .from = path.from.len ? from : LEAT_GRAPH_NONE,
        .properties = attribute_value(r, list, "P"),
        .state = attribute_value(r, list, "S"),
        .number = send_index_of(r, list),
        .to_pin = (uint16_t)to_pin,
        .from_pin = (uint16_t)from_pin,
        .place = place,
    };
}

void leat_graph_reader_open(struct leat_graph_reader *r, const struct leat_graph_rule *rule,
                            const XML_Char **list)
{
    struct leat_graph *g = r->graph;
    switch (rule->element) {
    case ELEMENT_GRAPHS: open_graphs(r, list); break;
    case ELEMENT_GRAPH_TYPE: open_graph_type(r, list); break;
    case ELEMENT_TYPE_REFERENCE:
        r->reference = (struct leat_graph_code){ keep(r, attribute(list, "src")),
                                                 leat_graph_reader_here(r) };
        r->reference_id = keep(r, attribute(list, "id"));
        break;
    case ELEMENT_TYPE_DEF:
        open_message(r, &g->definition, &g->definition_count, &g->definition_cap, list);
        if (g->definition_count) open_struct(r, &g->definition[g->definition_count - 1].data, list);
        break;
    case ELEMENT_MESSAGE_TYPE:
        open_message(r, &g->message, &g->message_count, &g->message_cap, list);
        break;
    case ELEMENT_STRUCT: open_struct(r, struct_of(r, rule->parent, rule->slot), list); break;
    case ELEMENT_SCALAR:
    case ELEMENT_TUPLE:
    case ELEMENT_ARRAY: open_member(r, rule->element, list); break;
    case ELEMENT_DEVICE_TYPE: open_type(r, LEAT_GRAPH_DEVICE, list); break;
    case ELEMENT_EXTERNAL_TYPE: open_type(r, LEAT_GRAPH_EXTERNAL, list); break;
    case ELEMENT_SUPERVISOR_TYPE: open_type(r, LEAT_GRAPH_SUPERVISOR, list); break;
    case ELEMENT_INPUT_PIN:
    case ELEMENT_OUTPUT_PIN:
    case ELEMENT_INPUT_PIN_BARE:
    case ELEMENT_OUTPUT_PIN_BARE:
    case ELEMENT_SUPERVISOR_IN_PIN:
    case ELEMENT_SUPERVISOR_OUT_PIN: open_pin(r, rule->element, list); break;
    case ELEMENT_INSTANCE: open_instance(r, list); break;
    case ELEMENT_DEVICE: open_device(r, false, list); break;
    case ELEMENT_EXTERNAL: open_device(r, true, list); break;
    case ELEMENT_EDGE: open_edge(r, list); break;
    case ELEMENT_FILE:
    case ELEMENT_TYPES:
    case ELEMENT_DEFAULT:
    case ELEMENT_CODE:
    case ELEMENT_MESSAGE_TYPES:
    case ELEMENT_DEVICE_TYPES:
    case ELEMENT_INSTANCE_PROPERTIES:
    case ELEMENT_DEVICES:
    case ELEMENT_EDGES:
    case ELEMENT_VALUE:
    case ELEMENT_IGNORED:
    case ELEMENT_UNSUPPORTED:
    case ELEMENT_COUNT: break;
    }
}
