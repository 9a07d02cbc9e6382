/*
 * What a device type is to the engines: sizes, pins, functions. An application's compiled handlers
 * export one of these; a device type written in C is one, too. This file is C and C++; compiled
 * handlers contain a copy of it, and LEAT_POETS_ABI is its version.
 *
 * A device is one block of octets, so that everything a packet accesses is contiguous:
 *
 *   0            16         properties_at     pins_at                      (each is aligned)
 *   +------------+----------+-----------------+---------+---------+---------------------------+
 *   | block      | state    | properties      | inputs  | outputs | edges of input 0, 1, ...  |
 *   +------------+----------+-----------------+---------+---------+---------------------------+
 *     identity                constant           where their edges are     properties and state
 *
 * The last output pin is the supervisor's, where a type has one; its single edge is implicit.
 */
#ifndef LEAT_POETS_HANDLER_H
#define LEAT_POETS_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_POETS_ABI = 3, LEAT_POETS_TEXT_LEN = 220 /* a log line with its NUL */ };

struct leat_poets_block {
    uint32_t ready;  /* level: pins that want to send; latched: pins that will */
    uint32_t index;  /* among all devices of the application */
    uint16_t device; /* on its thread */
    uint16_t thread; /* number of its thread */
    uint16_t type;
    uint8_t flags; /* the engine's */
    uint8_t last;  /* the pin that sent last */
};

/* Edges of a pin. Input: their data begin `first` octets after the block. Output: they are first,
 * first + 1, ... in the table of edges. */
struct leat_poets_edges {
    uint32_t first, count;
};

/* What handlers may call, and how they return results. One per worker. */
struct leat_poets_env {
    const void *graph; /* properties of the graph */
    void (*log)(struct leat_poets_env *env, unsigned level, const char *text);
    void (*exit)(struct leat_poets_env *env, int code);
    void (*fail)(struct leat_poets_env *env, const char *what); /* an assertion, an exception */
    void (*uart)(struct leat_poets_env *env, uint8_t octet);
    uint64_t (*cycles)(struct leat_poets_env *env);
    /* A packet with an opcode of the application, 01 to EF, and up to 56 octets, to the
     * supervisor's OnCTL. False: opcode or length are wrong, OnInit runs, or too many packets wait.
     */
    bool (*control)(struct leat_poets_env *env, uint8_t opcode, const void *payload, size_t len);
    struct leat_poets_block *block; /* of the device whose handler runs */
    void *engine;
    uint32_t log_level;  /* higher levels are not logged */
    uint32_t send_index; /* OnSend of an indexed pin: which edge */
    bool do_send;        /* OnSend: false: sends to nobody */
    bool log_raw;        /* compat: format strings are not filled in */
    void *const *thrown; /* with `fail`: the stack of an exception, or NULL */
    int thrown_count;
};

#define LEAT_POETS_ALL UINT32_MAX /* instead of a device's index */

/* Result of ReadyToSend: the pins that want to send, and above them: */
#define LEAT_POETS_REQUEST_IDLE (UINT64_C(1) << 32)
#define LEAT_POETS_FAILED       (UINT64_C(1) << 33) /* env->fail was called; all other bits are 0 */

typedef uint64_t (*leat_poets_ready_fn)(struct leat_poets_env *env, struct leat_poets_block *block);
/* OnInit and the like: nonzero: ReadyToSend must be called. Negative: it failed. */
typedef int (*leat_poets_turn_fn)(struct leat_poets_env *env, struct leat_poets_block *block);
/* The handler, then ReadyToSend. `edge` is the edge's data. */
typedef uint64_t (*leat_poets_receive_fn)(struct leat_poets_env *env,
                                          struct leat_poets_block *block, uint8_t *edge,
                                          const uint8_t *payload);
typedef uint64_t (*leat_poets_control_fn)(struct leat_poets_env *env,
                                          struct leat_poets_block *block, uint8_t opcode,
                                          const uint8_t *payload);
/* `payload` is zeroed. False: it failed. */
typedef bool (*leat_poets_send_fn)(struct leat_poets_env *env, struct leat_poets_block *block,
                                   uint8_t *payload);

struct leat_poets_pin {
    const char *name;
    uint32_t payload_len;
    bool indexed;
    uint32_t edge_len, edge_align; /* an edge's data: properties, then state */
    uint32_t properties_len, state_at, state_len;
    leat_poets_receive_fn receive; /* NULL: an output */
    leat_poets_send_fn send;       /* NULL: an input */
};

struct leat_poets_type {
    uint32_t abi;
    const char *id;
    uint32_t state_at, state_len, properties_at, properties_len, pins_at;
    uint32_t input_count, output_count; /* outputs with the supervisor's */
    bool to_supervisor;                 /* the last output is the supervisor's */
    const struct leat_poets_pin *input, *output;
    uint32_t from_supervisor_len;                        /* payload octets that it sends */
    leat_poets_ready_fn ready;                           /* never NULL */
    leat_poets_turn_fn init, device_idle, hardware_idle; /* each may be NULL */
    leat_poets_control_fn control;                       /* OnCtl; may be NULL */
    leat_poets_receive_fn from_supervisor;               /* may be NULL */
};

/* What a supervisor may call. */
struct leat_poets_host {
    const void *graph;
    void (*post)(struct leat_poets_host *host, const char *text);
    void (*stop)(struct leat_poets_host *host);
    void (*fail)(struct leat_poets_host *host, const char *what);
    /* A folder for files, created if needed; "" on failure. Lent until the next call. */
    const char *(*folder)(struct leat_poets_host *host, const char *suffix);
    /* The same to OnCtl of a device, by its index; LEAT_POETS_ALL: to all. False: opcode, length or
     * index are wrong, or too many wait before the start. */
    bool (*control)(struct leat_poets_host *host, uint32_t index, uint8_t opcode,
                    const void *payload, size_t len);
    void *engine;
    bool reply, bcast;   /* OnReceive: are they to be sent? */
    void *const *thrown; /* with `fail`: the stack of an exception, or NULL */
    int thrown_count;
};

/* Its object lives from create to destroy. Negative results are errors of the handler. */
struct leat_poets_supervisor {
    uint32_t abi;
    uint32_t in_len, out_len;
    void *(*create)(struct leat_poets_host *host);
    void (*destroy)(struct leat_poets_host *host, void *object);
    int (*init)(struct leat_poets_host *host, void *object);
    int (*stop)(struct leat_poets_host *host, void *object);
    int (*idle)(struct leat_poets_host *host,
                void *object); /* NULL: none; the next one may be NULL, too */
    int (*control)(struct leat_poets_host *host, void *object, uint8_t opcode,
                   const uint8_t *payload);
    int (*receive)(struct leat_poets_host *host, void *object, const uint8_t *payload,
                   uint8_t *reply, uint8_t *broadcast);
};

/* A struct whose layout only a compiler knows, and its values in order. */
struct leat_poets_value_table {
    uint32_t len, align, count;
    const void *initial, *value;
};

struct leat_poets_values {
    uint32_t abi, count;
    const struct leat_poets_value_table *table;
};

#endif
