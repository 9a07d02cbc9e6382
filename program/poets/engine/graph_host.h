/*
 * The host of a run: the mothership's driver. It owns the supervisor's object, prints the output of
 * devices and supervisor, keeps instrumentation, and records how the run ended. Engines deliver
 * packets (leat_poets_graph_host_packet) and take those that the host sends (`send`).
 */
#ifndef LEAT_GRAPH_HOST_H
#define LEAT_GRAPH_HOST_H

#include "graph_externals.h"
#include "graph_machine.h"
#include "leat_text.h"
#include "poets_mothership.h"
#include <stdatomic.h>

#define LEAT_POETS_RUN_REASON_LIST(X) \
    X(RUNNING, "running")             \
    X(SUCCESS, "success")             \
    X(STOPPED, "stopped")             \
    X(FAILED, "failed")               \
    X(IDLE, "idle")                   \
    X(ASSERTION, "assertion")         \
    X(LIMIT, "limit")                 \
    X(INTERRUPTED, "interrupted")

enum leat_poets_run_reason {
#define X(id, name) LEAT_POETS_RUN_##id,
    LEAT_POETS_RUN_REASON_LIST(X)
#undef X
        LEAT_POETS_RUN_REASON_COUNT
};

const char *leat_poets_run_reason_name(enum leat_poets_run_reason reason);

struct leat_poets_graph_host_options {
    FILE *lines; /* where lines go; or the callback gets them, with a device's index or none: */
    void (*line)(void *context, uint32_t index, const char *text, size_t len);
    void *context;
    void (*before_line)(void); /* NULL: nothing */
    const char *prefix;        /* of lines; NULL: none */
    const char *folder;        /* for files of the supervisor and instrumentation; NULL: the
                                  default, which must be the user's own */
    bool instrument;
    bool stop_ack;                                /* compat.stop_ack=off */
    bool reply_cnc0, reply_1flit;                 /* compat */
    uint64_t interval;                            /* cycles between two records */
    struct leat_poets_graph_externals *externals; /* NULL: packets for externals are counted */
};

/* A packet of the supervisor for a thread, sent before the application runs. */
struct leat_poets_early {
    uint32_t thread;
    struct leat_poets_slot slot;
};

struct leat_poets_graph_host {
    struct leat_poets_machine *machine;
    struct leat_poets_graph_host_options options;
    struct leat_poets_mothership mothership;
    struct leat_poets_app app;
    uint8_t *reported;
    struct leat_poets_host api; /* what the supervisor calls; api.engine is this host */
    void *object;
    enum leat_poets_run_reason reason;
    int exit_code;
    uint64_t supervisor_packets, lines, debug_octets;
    uint64_t lines_flushed;
    _Atomic double waited_seconds; /* for processes of externals, before it ran */
    bool table_failed;             /* a table of counters could not be written */
    atomic_bool supervising;       /* a handler of the supervisor runs */
    int files;                     /* the folder for files; -1: not open */
    char folder[4096];
    struct leat_poets_early *early;
    uint32_t early_count, early_cap;
    double *instr_time; /* of each thread, so far */
    bool *instr_begun;
    /* A packet to a thread. */
    void (*send)(struct leat_poets_graph_host *host, uint32_t thread, const uint8_t *packet,
                 unsigned nflit);
    void *engine;
};

bool leat_poets_graph_host_init(struct leat_poets_graph_host *host,
                                struct leat_poets_machine *machine,
                                const struct leat_poets_graph_host_options *options);
void leat_poets_graph_host_free(struct leat_poets_graph_host *host);

/* Stages definitions, INIT and RUN; the engine then starts its softswitches. */
void leat_poets_graph_host_begin(struct leat_poets_graph_host *host);
/* All processes of externals are attached, after so many seconds: the application may run. */
void leat_poets_graph_host_go(struct leat_poets_graph_host *host, double waited_seconds);
/* It has not been allowed to run yet. */
bool leat_poets_graph_host_waits(const struct leat_poets_graph_host *host);
/* A packet has arrived from the fabric. */
void leat_poets_graph_host_packet(struct leat_poets_graph_host *host, const uint8_t *packet,
                                  unsigned nflit);
/* Flushes printed lines: a handler may crash, or a reader may wait for them. */
void leat_poets_graph_host_flush(struct leat_poets_graph_host *host);
/* What its lines begin with. */
const char *leat_poets_graph_host_prefix(const struct leat_poets_graph_host *host);
/* OnSupervisorIdle, if there is one and the application runs. */
void leat_poets_graph_host_idle(struct leat_poets_graph_host *host);
/* What a handler failed with; of an exception also its handler and line, by the stack where it was
 * thrown. */
void leat_poets_run_tell_thrown(const struct leat_poets_machine *machine, const char *what,
                                void *const *frame, int count, struct leat_text *out);

/* CTL/HOLD to every thread. */
void leat_poets_graph_host_hold(struct leat_poets_graph_host *host);
/* Stops the application. The first reason counts. */
void leat_poets_graph_host_end(struct leat_poets_graph_host *host,
                               enum leat_poets_run_reason reason, int exit_code);
/* Every thread has acknowledged, or there was nothing to stop. */
bool leat_poets_graph_host_is_over(const struct leat_poets_graph_host *host);

#endif
