/*
 * A POETS application as described by its file: types with their handlers, and instances of devices
 * and edges. leat_graph_read makes one from a file (graph_read.c: elements; graph_check.c: types
 * and structs; graph_join.c: devices and edges); errors go into the report.
 *
 *   graph --- message types --- struct
 *         |-- device types ---- pins ---- message type, struct of the edge's properties and state
 *         |                 |-- handlers (C++ text, with the line where it stands)
 *         |-- instances ------- devices by name, edges by path
 *                                  |
 *                                  +--> joined: for each device its pins, for each pin its edges
 */
#ifndef LEAT_GRAPH_H
#define LEAT_GRAPH_H

#include "graph_layout.h"
#include "graph_report.h"
#include "graph_strings.h"

enum {
    LEAT_GRAPH_INPUTS_MAX = 256,
    LEAT_GRAPH_OUTPUTS_MAX = 32, /* with the supervisor's */
    LEAT_GRAPH_TYPES_MAX = 4096, /* device types, message types, TypeDefs, each */
    LEAT_GRAPH_MESSAGE_LEN_MAX = 56,
    LEAT_GRAPH_INSTANCES_MAX = 64,
    LEAT_GRAPH_TYPE_DEPTH_MAX = 32,
    LEAT_GRAPH_CODE_LEN_MAX = 1 << 24, /* octets of one handler, one struct, one value */
    LEAT_GRAPH_VALUE_UNIT = 16,        /* octets; of graphs without a file */
};
#define LEAT_GRAPH_EDGES_PER_PIN_MAX (UINT32_C(1) << 24)
#define LEAT_GRAPH_NONE              UINT32_MAX

enum leat_graph_dialect {
    LEAT_GRAPH_ORCH, /* Orchestrator: no namespace */
    LEAT_GRAPH_V4,
    LEAT_GRAPH_V3,
    LEAT_GRAPH_DIALECT_COUNT /* as an argument: as the file says */
};

/* Text of the file; NULL where it has none. Its lines are those of the file from `place` on. */
struct leat_graph_code {
    char *text;
    struct leat_graph_place place;
};

/* One member of v3, as it was written. */
struct leat_graph_member {
    enum { LEAT_GRAPH_SCALAR, LEAT_GRAPH_TUPLE, LEAT_GRAPH_ARRAY } kind;
    char *name, *type, *initial; /* the last two may be NULL */
    uint32_t length;
    uint32_t depth; /* within its struct */
    struct leat_graph_place place;
};

struct leat_graph_struct {
    struct leat_graph_code code; /* v4, Orchestrator */
    struct leat_graph_member *member;
    uint32_t member_count, member_cap; /* v3 */
    char *c_name;                      /* v3: another name for the type, or NULL */
    bool given;                        /* the element was there */
    bool plain;                        /* `layout` is known; otherwise only a compiler knows it */
    struct leat_poets_layout layout;
    struct leat_graph_place place;
};

struct leat_graph_message {
    char *id;
    struct leat_graph_struct data;
    struct leat_graph_place place;
};

struct leat_graph_pin {
    char *name;
    char *message_id;
    uint32_t message; /* LEAT_GRAPH_NONE: unknown (Orchestrator: 56 octets) */
    bool indexed;
    struct leat_graph_struct properties, state; /* of an input pin's edges */
    struct leat_graph_code handler;
    struct leat_graph_place place;
};

struct leat_graph_pins {
    struct leat_graph_pin *pin;
    uint32_t count, cap;
};

enum leat_graph_handler {
    LEAT_GRAPH_READY_TO_SEND,
    LEAT_GRAPH_ON_INIT,
    LEAT_GRAPH_ON_HARDWARE_IDLE,
    LEAT_GRAPH_ON_DEVICE_IDLE,
    LEAT_GRAPH_ON_CTL,
    LEAT_GRAPH_ON_STOP, /* from here on only the supervisor's; it also has OnInit and OnCTL */
    LEAT_GRAPH_ON_SUPERVISOR_IDLE,
    LEAT_GRAPH_ON_RTCL,
    LEAT_GRAPH_HANDLER_COUNT
};

enum leat_graph_type_kind { LEAT_GRAPH_DEVICE, LEAT_GRAPH_EXTERNAL, LEAT_GRAPH_SUPERVISOR };

struct leat_graph_type {
    enum leat_graph_type_kind kind;
    char *id;
    struct leat_graph_struct properties, state;
    struct leat_graph_code shared; /* of a supervisor: Code */
    struct leat_graph_code handler[LEAT_GRAPH_HANDLER_COUNT];
    struct leat_graph_pins input, output;
    struct leat_graph_pins from_supervisor, to_supervisor; /* one pin each at most */
    struct leat_graph_place place;
};

/* As written: numbers of strings. 28 octets, since there may be millions. */
struct leat_graph_device {
    uint32_t name, type_name, properties, state;
    struct leat_graph_place place;
    uint32_t type; /* LEAT_GRAPH_NONE: unknown; before joining: is it external? */
};

struct leat_graph_edge {
    uint32_t to, from; /* names; after joining: devices, LEAT_GRAPH_NONE is the supervisor */
    uint32_t properties, state;
    uint32_t number; /* sendIndex, LEAT_GRAPH_NONE: not given; after joining: its place among the
                      * edges of its input, in the order of the file */
    uint16_t to_pin, from_pin; /* names of pins; after joining: pins */
    struct leat_graph_place place;
};

/*
 * Devices (externals among them) and their edges. After joining, global pins are numbered device by
 * device: input_base[d] + pin. The edges into a pin, in the order of the file, are
 * into[into_base[p]] and so on; those out of a pin, in the order of sending, out[...]. Both hold
 * numbers of edges.
 */
struct leat_graph_instance {
    char *id, *type_id;
    uint32_t properties;                    /* a string */
    struct leat_graph_code properties_code; /* v3 */
    struct leat_graph_device *device;
    uint32_t device_count, device_cap;
    struct leat_graph_edge *edge;
    uint32_t edge_count, edge_cap;
    struct leat_graph_place place;
    uint32_t *input_base, *output_base; /* device_count + 1 each */
    uint32_t *into_base, *out_base;     /* global pins + 1 each */
    uint32_t *into, *out;
    uint32_t input_count, output_count; /* global pins */
    uint32_t joined_count;              /* edges without those of the supervisor */
};

struct leat_graph {
    struct leat_graph_report report;
    enum leat_graph_dialect dialect;
    char *file, *id;
    struct leat_graph_struct properties;
    struct leat_graph_code shared; /* v3 may have several: one after the other, lines kept */
    struct leat_graph_message *message;
    uint32_t message_count, message_cap;
    struct leat_graph_message *definition; /* v3: TypeDefs */
    uint32_t definition_count, definition_cap;
    struct leat_graph_type *type;
    uint32_t type_count, type_cap;
    struct leat_graph_instance *instance;
    uint32_t instance_count, instance_cap;
    struct leat_graph_strings names, pin_names, values;
    uint8_t *octets; /* of a graph without a file: value v is there, at (v - 1) units; else NULL */
    struct leat_graph_place place; /* of its GraphType */
    bool has_type, complete;       /* complete: read to its end, perhaps with errors */
    uint64_t file_len;
};

/*
 * Reads and checks a file ("-": standard input). True: graph->report has no errors. The report has
 * all errors and warnings, also on failure. `dialect` LEAT_GRAPH_DIALECT_COUNT: as its namespace
 * says.
 */
bool leat_graph_read(struct leat_graph *graph, const char *file, enum leat_graph_dialect dialect);
void leat_graph_free(struct leat_graph *graph);

/* The instance of that name, or the only one; NULL: E_NOINST is in the report. */
struct leat_graph_instance *leat_graph_select(struct leat_graph *graph, const char *id);

/* "the name of a device", for messages. */
static inline const char *leat_graph_device_name(const struct leat_graph *graph,
                                                 const struct leat_graph_instance *instance,
                                                 uint32_t device)
{
    return leat_graph_string(&graph->names, instance->device[device].name);
}

const char *leat_graph_dialect_name(enum leat_graph_dialect dialect);

/* Octets of a pin's payload: 0 to 56. LEAT_GRAPH_NONE: only a compiler knows. */
uint32_t leat_graph_payload_len(const struct leat_graph *graph, const struct leat_graph_pin *pin);

/* The value of a string for a struct, over its defaults: E_VALUE if it does not fit. Also true if
 * only a compiler can decide; *compiled is then set. `octets` has layout.size; unused if compiled.
 */
bool leat_graph_value(struct leat_graph *graph, const struct leat_graph_struct *data,
                      uint32_t value, struct leat_graph_place place, uint8_t *octets,
                      bool *compiled);

#endif
