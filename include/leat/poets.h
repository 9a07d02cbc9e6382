/*
 * POETS for programs: device types written in C, graphs built in code, without XML.
 *
 *   struct state { uint32_t sum; bool has; };
 *   enum { IN };                                    inputs and outputs are numbered from 0
 *   enum { OUT };
 *
 *   static uint64_t ready(const struct leat_poets_device *d) { ... return has ? 1 << OUT : 0; }
 *   static void on_in(struct leat_poets_device *d, const void *message) { ... }
 *   static bool on_out(struct leat_poets_device *d, void *message) { ... return true; }
 *
 *   static const struct leat_poets_device_type station = {
 *       .name = "station", .state_len = sizeof(struct state), .ready = ready,
 *       .input = { { "in", sizeof(struct token), .receive = on_in } },
 *       .output = { { "out", sizeof(struct token), .send = on_out } },
 *   };
 *
 *   struct leat_poets_graph *g = leat_poets_graph_open("ring", NULL, 0);
 *   const uint32_t a = leat_poets_graph_device(g, &station, "a", NULL), b = ...;
 *   leat_poets_graph_edge(g, b, IN, a, OUT, NULL);          the destination first, as in XML
 *   if (!leat_poets_graph_run(g, NULL, &result)) puts(leat_poets_graph_why(g));
 *   const struct state *s = leat_poets_graph_state(g, a);
 *   leat_poets_graph_close(g);
 *
 * A handler sees only its own device: its properties, which never change, and its state, which
 * starts as zeros. Handlers of one device never run at the same time, those of different devices
 * may; the schedule determines the order of packets. After every handler of a device `ready`
 * returns which of its outputs want to send. Messages are structs of at most 56 octets.
 *
 * A graph keeps the first error of its construction: later calls do nothing, and run fails with its
 * text. So a program may check once, at the end. A handler that crashes is reported with its
 * device's name on standard error, and ends the process with exit code 1.
 */
#ifndef LEAT_POETS_H
#define LEAT_POETS_H

#include <leat/api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LEAT_POETS_PINS_MAX = 31,        /* inputs of a type, and outputs */
    LEAT_POETS_MESSAGE_MAX = 56,     /* octets */
    LEAT_POETS_STRUCT_MAX = 1 << 24, /* octets of a state, of properties */
    LEAT_POETS_TYPES_MAX = 256,      /* device types of a graph */
    LEAT_POETS_WHY_LEN = 400,
    LEAT_POETS_POST_LEN = 1024, /* of a supervisor's line */
};
#define LEAT_POETS_NONE UINT32_MAX

/* What `ready` may return besides 1 << OUTPUT: a message for the supervisor is ready; call
 * device_idle when there is nothing else to do. */
#define LEAT_POETS_READY_SUPERVISOR (UINT64_C(1) << 31)
#define LEAT_POETS_READY_IDLE       (UINT64_C(1) << 32)

/* A device, as its handlers see it; lent for the call. */
struct leat_poets_device {
    void *state;
    const void *properties;
    const void *graph;   /* properties of the graph */
    uint32_t number;     /* as leat_poets_graph_device gave it */
    const void *edge;    /* in `receive`: properties of the edge, */
    void *edge_state;    /* and its state */
    uint32_t send_index; /* to be set in `send` of an indexed output: which of its edges */
    bool failed;         /* leat_poets_fail was called */
    struct leat_poets_env *env;
};

/* A log line, if `level` is not above the run's (2). Truncated after 219 characters. */
LEAT_API void leat_poets_log(const struct leat_poets_device *device, unsigned level,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the application: 0 is success, all else is failure. The first call counts. */
LEAT_API void leat_poets_exit(const struct leat_poets_device *device, int code);
/* Ends the application: an assertion failed. */
LEAT_API void leat_poets_fail(struct leat_poets_device *device, const char *what);

/* A packet to the supervisor's `control`: an opcode of the application, 0x01 to 0xEF, and up to
 * LEAT_POETS_MESSAGE_MAX octets (NULL, 0: none). False: opcode or length are wrong, `init` runs, or
 * too many packets wait. */
LEAT_API bool leat_poets_control(const struct leat_poets_device *device, uint8_t opcode,
                                 const void *payload, size_t len);

/* An input pin of a device type. */
struct leat_poets_input {
    const char *name; /* NULL: there is no such pin */
    uint32_t message_len;
    uint32_t edge_properties_len, edge_state_len; /* of each edge that leads here */
    void (*receive)(struct leat_poets_device *device, const void *message);
};

/* An output pin of a device type. */
struct leat_poets_output {
    const char *name;
    uint32_t message_len;
    bool indexed; /* to one of its edges, device->send_index; else to all */
    /* Fills in the message, which is zeroed. False: nothing is sent. */
    bool (*send)(struct leat_poets_device *device, void *message);
};

/* Lent until the graph is closed. Handlers that are NULL do nothing. */
struct leat_poets_device_type {
    const char *name;
    uint32_t state_len, properties_len;
    uint64_t (*ready)(const struct leat_poets_device *device);
    void (*init)(struct leat_poets_device *device);
    void (*device_idle)(struct leat_poets_device *device);   /* requested by ready */
    void (*hardware_idle)(struct leat_poets_device *device); /* the whole graph is idle */
    void (*from_supervisor)(struct leat_poets_device *device, const void *message);
    /* An opcode that the supervisor has sent, and 56 octets, zero after what was sent. */
    void (*control)(struct leat_poets_device *device, uint8_t opcode, const void *payload);
    /* The message for the supervisor; its length is the supervisor's. */
    bool (*to_supervisor)(struct leat_poets_device *device, void *message);
    struct leat_poets_input input[LEAT_POETS_PINS_MAX];
    struct leat_poets_output output[LEAT_POETS_PINS_MAX];
};

/* The supervisor: one, on the host. Its handlers never run at the same time. */
struct leat_poets_supervising {
    void *state;
    const void *graph;
    struct leat_poets_host *host;
    uint8_t *reply, *broadcast; /* of the calls below */
    uint32_t answer_len;
};

/* A line of the supervisor: to standard output, or to the run's `line`. */
LEAT_API void leat_poets_post(const struct leat_poets_supervising *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* In `receive`: answers with answer_len octets, to the device that sent, or to all. */
LEAT_API void leat_poets_reply(const struct leat_poets_supervising *self, const void *answer);
LEAT_API void leat_poets_broadcast(const struct leat_poets_supervising *self, const void *answer);
/* A packet to `control` of a device by its number (LEAT_POETS_NONE: of all), as leat_poets_control
 * sends it to the supervisor. False: opcode, length or number are wrong, or too many wait before
 * the start. */
LEAT_API bool leat_poets_control_device(const struct leat_poets_supervising *self, uint32_t device,
                                        uint8_t opcode, const void *payload, size_t len);
/* Ends the application. */
LEAT_API void leat_poets_stop(const struct leat_poets_supervising *self);

/* The supervisor's handlers. Those that are NULL do nothing. */
struct leat_poets_supervisor_type {
    uint32_t state_len;
    uint32_t message_len; /* of what devices send */
    uint32_t answer_len;  /* of replies and broadcasts */
    void (*init)(struct leat_poets_supervising *self);
    void (*receive)(struct leat_poets_supervising *self, const void *message);
    /* An opcode that a device has sent, and 56 octets, zero after what was sent. */
    void (*control)(struct leat_poets_supervising *self, uint8_t opcode, const void *payload);
    void (*idle)(struct leat_poets_supervising *self); /* with it, idleness does not end a run */
    void (*stop)(struct leat_poets_supervising *self);
};

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A graph; opaque. */
struct leat_poets_graph;

/* All devices see `properties` of `len` octets as `graph`; NULL, 0: nothing. Returns NULL without
 * memory; all other functions treat NULL as a graph that has failed. */
LEAT_API struct leat_poets_graph *leat_poets_graph_open(const char *name, const void *properties,
                                                        size_t len);
LEAT_API void leat_poets_graph_close(struct leat_poets_graph *graph);

/* Adds a device and returns its number, 0, 1, ... Names are unique; NULL: TYPE_NUMBER. `properties`
 * of type->properties_len octets is copied; NULL: zeros. LEAT_POETS_NONE: there is a mistake. */
LEAT_API uint32_t leat_poets_graph_device(struct leat_poets_graph *graph,
                                          const struct leat_poets_device_type *type,
                                          const char *name, const void *properties);

/* An edge to input `in` of `to`, from output `out` of `from`. `properties` as above. Edges of an
 * indexed output are numbered in the order of their creation. */
LEAT_API bool leat_poets_graph_edge(struct leat_poets_graph *graph, uint32_t to, unsigned in,
                                    uint32_t from, unsigned out, const void *properties);

/* The supervisor. `type` is lent until the graph is closed. */
LEAT_API bool leat_poets_graph_supervisor(struct leat_poets_graph *graph,
                                          const struct leat_poets_supervisor_type *type);

/* The error in words, for people; "" if there is none. */
LEAT_API const char *leat_poets_graph_why(const struct leat_poets_graph *graph);

/* ---- runs ------------------------------------------------------------------------------------ */

/* The order in which devices handle packets. */
enum leat_poets_schedule {
    LEAT_POETS_SCHEDULE_FREE, /* as fast as possible, no order is promised */
    LEAT_POETS_SCHEDULE_FIFO, /* the others: one order, made of the schedule and the seed */
    LEAT_POETS_SCHEDULE_LIFO,
    LEAT_POETS_SCHEDULE_RANDOM,
    LEAT_POETS_SCHEDULE_DELAY,
};

/* All zero suits most programs. */
struct leat_poets_options {
    enum leat_poets_schedule schedule;
    double delay; /* of LEAT_POETS_SCHEDULE_DELAY: chance, 0 to 0.99 */
    uint64_t seed;
    uint32_t
        workers; /* LEAT_POETS_SCHEDULE_FREE: 0: as many as there are processors; 256 at most */
    uint32_t quantum;    /* the others: turns of a thread in an epoch; 0: 16 */
    bool latched;        /* an output that `ready` has named will send, whatever happens meanwhile;
                            else only if ready still names it */
    bool until_stop;     /* idleness does not end it */
    double seconds_max;  /* 0: no limit */
    uint32_t log_level;  /* 0: 2 */
    uint32_t idle_steps; /* ends the run after so many idle steps, each with hardware_idle; 0: 10 */
    /* Lines of devices and of the supervisor (LEAT_POETS_NONE); NULL: to standard output. */
    void (*line)(void *context, uint32_t device, const char *text);
    void *context;
};

/* Why a run ended. */
enum leat_poets_reason {
    LEAT_POETS_END_SUCCESS,   /* leat_poets_exit(0) */
    LEAT_POETS_END_STOPPED,   /* leat_poets_stop */
    LEAT_POETS_END_FAILED,    /* leat_poets_exit of another number */
    LEAT_POETS_END_IDLE,      /* nothing is left to do */
    LEAT_POETS_END_ASSERTION, /* leat_poets_fail, or a send_index that is not there */
    LEAT_POETS_END_LIMIT,     /* seconds_max */
};

/* How a run ended, and what it counted. */
struct leat_poets_result {
    enum leat_poets_reason reason;
    const char *reason_name;
    double seconds;
    uint64_t receives, sends, supervisor_messages, lines, epochs;
    uint64_t states; /* a hash of all states */
};

/* Runs the graph from its beginning, any number of times. `options` NULL: all zero. False: nothing
 * ran, and leat_poets_graph_why has the reason. *out says how the run ended. */
LEAT_API bool leat_poets_graph_run(struct leat_poets_graph *graph,
                                   const struct leat_poets_options *options,
                                   struct leat_poets_result *out);

/* The state of a device after the last run; NULL: there was no run, or there is no such device.
 * Lent until the next run. */
LEAT_API const void *leat_poets_graph_state(const struct leat_poets_graph *graph, uint32_t device);

#ifdef __cplusplus
}
#endif

#endif
