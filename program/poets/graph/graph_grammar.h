/*
 * Which element may appear where, how often, and with which attributes (spec/poets.md, 4.2 and
 * 4.3). The reader walks this table; graph_open.c acts on the elements.
 */
#ifndef LEAT_GRAPH_GRAMMAR_H
#define LEAT_GRAPH_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

enum leat_graph_element {
    ELEMENT_FILE,
    ELEMENT_GRAPHS,
    ELEMENT_GRAPH_TYPE,
    ELEMENT_TYPE_REFERENCE,
    ELEMENT_TYPES,
    ELEMENT_TYPE_DEF,
    ELEMENT_STRUCT, /* Properties, State, Message */
    ELEMENT_SCALAR,
    ELEMENT_TUPLE,
    ELEMENT_ARRAY,
    ELEMENT_DEFAULT,
    ELEMENT_CODE, /* a handler, shared code */
    ELEMENT_MESSAGE_TYPES,
    ELEMENT_MESSAGE_TYPE,
    ELEMENT_DEVICE_TYPES,
    ELEMENT_DEVICE_TYPE,
    ELEMENT_EXTERNAL_TYPE,
    ELEMENT_SUPERVISOR_TYPE,
    ELEMENT_INPUT_PIN,
    ELEMENT_OUTPUT_PIN,
    ELEMENT_INPUT_PIN_BARE, /* of an external */
    ELEMENT_OUTPUT_PIN_BARE,
    ELEMENT_SUPERVISOR_IN_PIN,
    ELEMENT_SUPERVISOR_OUT_PIN,
    ELEMENT_INSTANCE,
    ELEMENT_INSTANCE_PROPERTIES, /* v3 */
    ELEMENT_DEVICES,
    ELEMENT_EDGES,
    ELEMENT_DEVICE,
    ELEMENT_EXTERNAL,
    ELEMENT_EDGE,
    ELEMENT_VALUE,   /* P, S, M of v3 */
    ELEMENT_IGNORED, /* with everything inside it */
    ELEMENT_UNSUPPORTED,
    ELEMENT_COUNT
};

enum { DIALECT_ORCH = 1, DIALECT_V4 = 2, DIALECT_V3 = 4, DIALECT_ALL = 7, MANY = 0xffff };

/* Where the text of an element goes. Those of handlers are enum leat_graph_handler. */
enum {
    SLOT_SHARED = 100,
    SLOT_PROPERTIES,
    SLOT_STATE,
    SLOT_DATA,
    SLOT_PIN,
};

struct leat_graph_rule {
    enum leat_graph_element parent;
    const char *name;
    enum leat_graph_element element;
    uint8_t dialects;
    uint16_t least, most;
    const char *attributes; /* separated by blanks; "?" after an optional one */
    uint8_t slot;
};

/* NULL past the last. */
const struct leat_graph_rule *leat_graph_rule_at(size_t index);

#endif
