/*
 * The prototype under load: a cell network with adaptation layer units at its ports, and hosts that
 * write messages into them and read what arrives (spec/atm.md, 5 and 7.1, host mode `ideal`).
 *
 *     traffic --> host --> AAL unit --> network --> AAL unit --> host --> delivery: certificate
 *
 * A host has one lock, as in the prototype, and two tasks that request it: one writes messages, one
 * reads them, each one at a time. The first request is served first (the writer's, if both come in
 * one cycle). While the writer waits for a free block, the reader may proceed. The reader is
 * notified of a message in the cycle in which it is complete.
 *
 * A message comes with its octets, or they are derived from its source and number: so the receiver
 * can verify them.
 *
 * Between a unit and the network lie two lines (sim_atm_line.h), where errors may be configured. A
 * copy or a stray cell towards the network is sent before the unit's own cell, which waits. Towards
 * the host it is delivered in the same cycle, after the cell that came in.
 *
 * If the fabric has several parts (sim_atm.h), hosts of different parts run at once in strides.
 * Each part has its own counters, and reports the messages that it wrote, delivered and abandoned
 * when the stride is over: then all is settled in order of time. So within a stride, hosts find
 * the messages of others as they were when it began.
 */
#ifndef LEAT_SIM_ATM_LOAD_H
#define LEAT_SIM_ATM_LOAD_H

#include "atm_aal_unit.h"
#include "leat_arena.h"
#include "sim_atm.h"
#include "sim_atm_line.h"
#include "sim_certificate.h"
#include "sim_histogram.h"

enum { LEAT_SIM_ATM_LOAD_BYTES_DEFAULT = 16 }; /* with the header of a message: one full cell */
enum { LEAT_SIM_ATM_LOAD_LINE_CYCLES = 56 };   /* from one cell of a unit to the next (note R2) */

/* A message for a host to send. */
struct leat_sim_message {
    uint64_t at; /* cycle in which the request arises; accepted in the next one at the earliest */
    uint32_t to; /* LEAT_SIM_ATM_TRAFFIC_ALL: all ports; LEAT_SIM_ATM_TRAFFIC_GROUP: of a group */
    uint32_t len;
    const uint8_t *octets; /* lent until it is delivered; NULL: derived from its number */
};

/* The source of messages, for each port in order of time. False: no more. */
typedef bool leat_sim_atm_load_next(void *context, uint32_t port, struct leat_sim_message *out);

/* Callbacks for an observer; any may be NULL. Octets are lent for the call. */
struct leat_sim_atm_load_watch {
    void *context;
    /* A cell as the network gets it, its first octet on buf in cycle `at` (called again if it is
     * refused); or as the unit gets it, its last octet in cycle `at`. */
    void (*cell)(void *context, uint32_t port, enum leat_sim_atm_line_direction direction,
                 const uint8_t *cell, uint64_t at);
    /* A message is written: its host can take the next one. */
    void (*written)(void *context, uint32_t port, uint32_t number, uint64_t at);
    /* A cell of a message was abandoned after its last transmission. */
    void (*undeliverable)(void *context, uint32_t port, uint32_t number, uint64_t at);
    /* A message is being read, and will be complete in cycle delivery->at. Only called if its
     * octets are certain (cells_stay_sound); they are no longer lent afterwards. */
    void (*coming)(void *context, const struct leat_sim_delivery *delivery, uint32_t len);
    /* A message has been read. `octets` is NULL if `coming` was called for it. */
    void (*delivered)(void *context, const struct leat_sim_delivery *delivery,
                      const uint8_t *octets, uint32_t len);
};

/* Replaces the two tasks at the ports, as in sim_atm_platform.h; then `next` is not called. */
struct leat_sim_atm_load_desk {
    void *context;
    /* The unit of a port reported something (flags of atm_aal_unit.h). */
    void (*on_report)(void *context, uint32_t port, uint32_t reported, uint64_t now);
    /* Gives commands to the unit. Called after `on_report`, and in the cycle that the last call
     * returned; LEAT_NEVER: none. */
    uint64_t (*serve)(void *context, uint32_t port, uint64_t now);
};

struct leat_sim_atm_load_config {
    /* Several parts: without handed_over, desk, keeps, digest and is_private; `watch` with
     * leat_sim_atm_load_be_prompt only. `next` is called for ports of different parts at once. */
    struct leat_sim_atm_fabric fabric;
    struct leat_sim_crew *crew; /* that simulates the parts; NULL: the caller does it alone */
    enum leat_sim_atm_model model;
    uint32_t len_max;               /* of the longest message */
    struct leat_atm_aal_config aal; /* port, ports, paths and header_octets are set by init */
    leat_sim_atm_load_next *next;
    void *next_context;
    struct leat_sim_atm_line_config line; /* all zeros: no errors; init sets the labels */
    struct leat_sim_atm_load_watch watch;
    struct leat_sim_atm_load_desk desk; /* all NULL: none */
    bool handed_over; /* messages also come between runs: leat_sim_atm_load_wake */
    /* The payload hash of a message whose octets are not in its cells. False: they are. Called with
     * next_context; may be NULL. */
    bool (*digest)(void *context, const struct leat_sim_delivery *delivery, uint32_t len,
                   uint64_t *hash);
    /* Does the certificate ignore the octets of this message, except for their number? NULL: no. */
    bool (*is_private)(void *context, const struct leat_sim_delivery *delivery);
    /* A broadcast or multicast is complete at a port. Does its host read it, however late? Otherwise it never
     * does. Called with next_context; NULL: every host reads all that has not expired. */
    bool (*keeps)(void *context, uint32_t port, uint32_t source, uint32_t number);
    /* Deliveries in order of time, with the cycle in which the message arose (LEAT_NEVER: no longer
     * known). Called with next_context; may be NULL. */
    void (*arrived)(void *context, const struct leat_sim_delivery *delivery, uint64_t arose_at);
    /* A message is abandoned; so many ports have not read it. Called with next_context; may be
     * NULL. */
    void (*given_up)(void *context, uint32_t port, uint32_t ports_missing, uint64_t at);
};

struct leat_sim_atm_load_counts {
    uint64_t messages_offered, cells_offered;
    uint64_t messages_delivered, cells_delivered, bytes_delivered;
    uint64_t altered;       /* messages whose octets differ from those sent */
    uint64_t duplicated;    /* messages delivered twice to a port */
    uint64_t refused;       /* messages longer than the send buffer */
    uint64_t unreadable;    /* messages that could not be requested: damaged, or gone meanwhile */
    uint64_t undeliverable; /* blocks abandoned by their senders; with resync: messages */
    uint64_t given_up_delivered; /* messages abandoned although delivered to all: acknowledgements
                                    were lost or late */
};

struct leat_sim_atm_load_sent { /* kept of a message until it has arrived */
    uint64_t at;
    const uint8_t *octets; /* NULL: derived */
    uint32_t number, len;
    uint32_t copies; /* still to be delivered */
    bool given_up;
};

struct leat_sim_atm_load_complete { /* a message that can be read */
    uint64_t at, until;             /* until: when it expires unread; LEAT_NEVER: it does not */
    uint32_t id, number;
    uint32_t len;
    uint16_t source;
    uint16_t block; /* its head, while it exists */
};

struct leat_sim_atm_load_line { /* the lines of a port, and the cells in flight to the network */
    struct leat_sim_atm_line to_network, to_host;
    struct leat_sim_atm_line_arrival out;
    uint32_t piece;   /* which of the extra cells is being sent; the unit's own comes last */
    uint64_t sent_at; /* its first octet */
    uint64_t next_at; /* of the next piece; LEAT_NEVER: none */
};

enum { LEAT_SIM_ATM_LOAD_NEAR = 2 }; /* messages that can be read: as many as fit into a line */

struct leat_sim_atm_load_host { /* in lines, as its unit */
    _Alignas(LEAT_ARENA_LINE) struct leat_sim_atm_load_part *part;
    struct leat_sim_message message; /* the next to send */
    bool has_message, writing, reading;
    bool scarce;      /* so few free blocks that a cell may be refused soon */
    uint32_t number;  /* of messages sent */
    uint64_t own_at;  /* the next cycle in which the host acts on its own */
    uint64_t desk_at; /* ... its desk */
    uint32_t complete_head, complete_count;

    uint64_t write_end_at, read_end_at; /* a task requests again after it has been served */
    uint64_t written_from, read_from;   /* its current operation does not end before this */
    uint8_t *octets;                    /* of the message being written */
    uint32_t skipped; /* messages of this port that were skipped before: see below */
    uint32_t reading_len;
    uint32_t reading_number;
    uint16_t reading_source;
    uint16_t reading_block;                      /* where the message is likely to be */
    struct leat_sim_atm_load_complete *complete; /* ring, in order of time; without ... */

    struct leat_sim_atm_load_complete near[LEAT_SIM_ATM_LOAD_NEAR]; /* ... its first places */
    struct leat_atm_aal_unit unit;
    struct leat_sim_delivery reading_coming; /* set when `coming` was called */
    uint64_t moved, still_since; /* cells so far, and their last change (sim_atm_load_stuck.h) */
};

struct leat_sim_atm_load_report {      /* of a stride: a message is delivered, or abandoned */
    struct leat_sim_delivery delivery; /* abandoned: only cycle, source and number */
    bool given_up;
};

struct leat_sim_atm_load_written { /* in a stride */
    uint32_t port;
    struct leat_sim_atm_load_sent sent;
};

/* What the hosts of a part have in common; only the thread that simulates it writes here. */
struct leat_sim_atm_load_part {
    _Alignas(LEAT_ARENA_LINE) struct leat_sim_atm_load_counts
        counts;                              /* since they were last collected */
    struct leat_sim_certificate certificate; /* ... of strides */
    uint64_t last_delivery_at;
    uint32_t scarce; /* hosts */
    uint32_t report_count, report_cap, written_count, written_cap;
    struct leat_sim_atm_load_report *report;   /* of this stride, port by port */
    struct leat_sim_atm_load_written *written; /* ... */
    uint8_t *received;                         /* one message */
};

struct leat_sim_atm_load {
    struct leat_sim_atm_load_config config;
    struct leat_sim_atm sim;
    struct leat_sim_atm_load_host *host;
    struct leat_sim_atm_line_medium *medium;
    struct leat_sim_atm_load_line *line; /* by port; NULL: no errors */
    struct leat_sim_atm_load_sent *sent; /* a window of messages per port */
    uint32_t window;                     /* a power of two */
    uint8_t *received;                   /* one message, of the first part */
    struct leat_sim_atm_load_part *part;
    uint32_t parts;
    struct leat_sim_atm_load_counts counts; /* this and the next: between runs */
    struct leat_sim_certificate certificate;
    struct leat_sim_histogram latency;
    uint64_t last_delivery_at;
    uint64_t moved, still_since; /* sim_atm_load_stuck.h: cells received and messages read, and when
                                    this last changed */
    uint64_t inspected_at;       /* ... the cycle of the last check */
    uint32_t idle_inspections;   /* ... consecutive checks in which nobody sent */
    const struct leat_sim_atm_load_report **in_order; /* reports of a stride, by time */
    uint64_t stride_from;
    bool cells_stay_sound;  /* no line alters octets, and the cell model does not touch them */
    uint64_t last;          /* last cycle of this run */
    uint64_t quiet_before;  /* no operation in progress is reported before this cycle */
    uint64_t reports_after; /* an operation that begins now is reported after this many cycles at
                             the earliest */
    bool ahead;             /* see leat_sim_atm_load_be_prompt */
    uint32_t number_max;    /* larger numbers of messages do not fit into an id */
    /* Cycles and messages that were replayed instead of simulated (sim_atm_replay.h). Only the
     * certificate and clock conversions take them into account. */
    uint64_t skipped_cycles;
};

/* The i-th message that a host can read, in order of time. */
static inline struct leat_sim_atm_load_complete *
leat_sim_atm_load_readable(const struct leat_sim_atm_load *load,
                           struct leat_sim_atm_load_host *host, uint32_t i)
{
    const uint32_t blocks = load->config.aal.receive_blocks, from_head = host->complete_head + i;
    const uint32_t place = from_head < blocks ? from_head : from_head - blocks;
    return place < LEAT_SIM_ATM_LOAD_NEAR ? &host->near[place] : &host->complete[place];
}

size_t leat_sim_atm_load_footprint(const struct leat_sim_atm_load_config *config);

/* Reset: cycle 0 is over, cycle 1 is next. `memory` is zeroed, aligned, lent for the object's
 * lifetime. */
void leat_sim_atm_load_init(struct leat_sim_atm_load *load,
                            const struct leat_sim_atm_load_config *config, void *memory);

/* Runs up to and including cycle `last`. */
void leat_sim_atm_load_run(struct leat_sim_atm_load *load, uint64_t last);

/* In the cell model hosts run in strides (sim_atm.h), with the same results; but not if a line has
 * errors, or an observer watches cells. Call this to observe hosts in other ways: then everything
 * happens in its own cycle, and cells have their CRC. With handed_over, all callbacks are made in
 * their own cycle anyway. */
void leat_sim_atm_load_be_prompt(struct leat_sim_atm_load *load);

/* Call it between runs: the source of this port had no message, and may have one now, of the last
 * cycle that was run or later; or its desk requests a call. */
void leat_sim_atm_load_wake(struct leat_sim_atm_load *load, uint32_t port);

/* Adds a delivery to the certificate, as in a run that skips nothing. */
void leat_sim_atm_load_certify(struct leat_sim_atm_load *load,
                               const struct leat_sim_delivery *delivery);

/* Has a host so little room that it may refuse a cell soon? */
bool leat_sim_atm_load_is_scarce(const struct leat_sim_atm_load *load);

/* Call it within a run: the run ends with the present cycle. */
void leat_sim_atm_load_pause(struct leat_sim_atm_load *load);

/* Is everything sent, acknowledged or abandoned, and read? Parked cells do not count. */
bool leat_sim_atm_load_is_quiet(const struct leat_sim_atm_load *load);

/* Streams (from one port to another, point to point or broadcast) with an abandoned cell that the
 * receiver may still wait for: with resync until it knows, else for ever. */
uint64_t leat_sim_atm_load_gaps(const struct leat_sim_atm_load *load);

/* Sums the counters of the units, and those of the lines in both directions. */
void leat_sim_atm_load_units(const struct leat_sim_atm_load *load, struct leat_atm_aal_counts *out);
void leat_sim_atm_load_lines(const struct leat_sim_atm_load *load,
                             struct leat_sim_atm_line_counts *out);

/* Counts messages that arose up to the last cycle and wait to be written. It draws them: call it at
 * the end of a run. */
void leat_sim_atm_load_count_offered(struct leat_sim_atm_load *load);

#endif
