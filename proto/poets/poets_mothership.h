/*
 * The mothership: how the host handles packets from the fabric, and the life cycle of an
 * application (spec/poets.md, 3).
 *
 *   UNDERDEFINED --all parts--> DEFINED --INIT--> LOADING --every thread at the barrier--> READY
 *        |                        |                                                        |
 *      RECL                     RECL                        RUN: the barrier opens --------+
 *        v                        v                                                        v
 *       GONE                     GONE <--RECL-- STOPPED <--all acknowledged-- STOPPING <-- RUNNING
 *
 * Commands are queued and take effect as soon as the state allows: a STOP before RUN stops right
 * after it. The actions to perform are returned as a mask, in the order of their values.
 */
#ifndef LEAT_POETS_MOTHERSHIP_H
#define LEAT_POETS_MOTHERSHIP_H

#include "poets_instr.h"
#include "poets_log.h"
#include "poets_wire.h"

enum leat_poets_app_state {
    LEAT_POETS_APP_UNDERDEFINED,
    LEAT_POETS_APP_DEFINED,
    LEAT_POETS_APP_LOADING,
    LEAT_POETS_APP_READY,
    LEAT_POETS_APP_RUNNING,
    LEAT_POETS_APP_STOPPING,
    LEAT_POETS_APP_STOPPED,
    LEAT_POETS_APP_BROKEN,
    LEAT_POETS_APP_GONE,
};

enum leat_poets_part { LEAT_POETS_PART_SPEC, LEAT_POETS_PART_DIST, LEAT_POETS_PART_SUPD };

enum leat_poets_command {
    LEAT_POETS_COMMAND_INIT = 1,
    LEAT_POETS_COMMAND_RUN = 2,
    LEAT_POETS_COMMAND_STOP = 4,
    LEAT_POETS_COMMAND_RECL = 8,
    LEAT_POETS_COMMAND_BRKN = 16,
};

enum leat_poets_action {
    LEAT_POETS_ACTION_LOAD = 1,    /* create and start the softswitches; OnInit of the supervisor */
    LEAT_POETS_ACTION_RELEASE = 2, /* BARRIER to every thread */
    LEAT_POETS_ACTION_STOP = 4,    /* STOP to every thread, then OnStop of the supervisor */
    LEAT_POETS_ACTION_END = 8,     /* destroy the supervisor's object */
    LEAT_POETS_ACTION_PURGE = 16,  /* forget the application */
};

struct leat_poets_app {
    enum leat_poets_app_state state;
    uint8_t task;
    bool has_spec, has_supervisor, failed, stop_ack;
    uint32_t dist_wanted, dist_seen;
    uint32_t staged;
    const uint32_t *thread;         /* hardware addresses, ascending */
    uint32_t thread_count, waiting; /* number of them that have not reported */
    uint8_t *reported;              /* by thread */
};

/* `thread` and `reported` (thread_count octets) belong to the caller and must outlive the
 * application. */
void leat_poets_app_init(struct leat_poets_app *app, const uint32_t *thread, uint32_t thread_count,
                         uint8_t *reported, bool stop_ack);

/* A part of its definition, in any order. SPEC gives its task and the number of DISTs. Returns a
 * mask of actions. */
uint32_t leat_poets_app_define(struct leat_poets_app *app, enum leat_poets_part part, uint8_t task,
                               uint32_t dist_wanted);
uint32_t leat_poets_app_command(struct leat_poets_app *app, enum leat_poets_command command);

/* The host's counters. */
#define LEAT_POETS_HOST_LIST(X)         \
    X(MS0, "host_ms0")                  \
    X(NO_EXTERNAL, "ext_none")          \
    X(SUP_DROP, "sup_drop")             \
    X(BAD_TASK, "bad_task")             \
    X(BAD_OP, "bad_op")                 \
    X(BAD_PACKET, "bad_packet")         \
    X(BAD_INDEX, "bad_index")           \
    X(UNKNOWN_THREAD, "unknown_thread") \
    X(WRONG_STATE, "wrong_state")       \
    X(LOG_BAD, "log_bad")

enum leat_poets_host_cause {
#define X(id, name) LEAT_POETS_HOST_##id,
    LEAT_POETS_HOST_LIST(X)
#undef X
        LEAT_POETS_HOST_COUNT
};

const char *leat_poets_host_cause_name(unsigned cause);

enum { LEAT_POETS_JOINS_MAX = 64 /* log lines open at a time */ };

struct leat_poets_join {
    bool open;
    uint32_t index;
    uint64_t since; /* the older of two is evicted */
    struct leat_poets_log_state state;
};

struct leat_poets_mothership {
    struct leat_poets_app *app[LEAT_POETS_TASK_MAX + 1];
    uint32_t device_count, external_count;
    bool has_supervisor_input; /* the supervisor handles packets from devices */
    uint64_t cause[LEAT_POETS_HOST_COUNT];
    uint64_t clock;
    struct leat_poets_join join[LEAT_POETS_JOINS_MAX];
};

void leat_poets_mothership_init(struct leat_poets_mothership *ms, uint32_t device_count,
                                uint32_t external_count, bool has_supervisor_input);

enum leat_poets_event_kind {
    LEAT_POETS_EVENT_NOTHING,    /* and nothing to do */
    LEAT_POETS_EVENT_WARNING,    /* counted under `cause`, discarded */
    LEAT_POETS_EVENT_EXTERNAL,   /* packet.device is the external */
    LEAT_POETS_EVENT_SUPERVISOR, /* OnReceive; packet.sender is the device */
    LEAT_POETS_EVENT_CONTROL,    /* OnCTL with packet.opcode */
    LEAT_POETS_EVENT_LINES,      /* of device packet.sender; one may be of another device */
    LEAT_POETS_EVENT_INSTR,
    LEAT_POETS_EVENT_ACTIONS,
};

struct leat_poets_event {
    enum leat_poets_event_kind kind;
    enum leat_poets_host_cause cause;
    uint32_t actions;
    struct leat_poets_packet packet;
    struct leat_poets_log_lines lines;
    struct leat_poets_instr instr;
};

/* Handles a packet from the fabric: any octets. */
void leat_poets_mothership_receive(struct leat_poets_mothership *ms, const uint8_t *octets,
                                   size_t len, struct leat_poets_event *out);

#endif
