/*
 * The prototype at work: a cell network whose ports have adaptation layer units, and hosts that
 * write messages into them and read what arrives (spec/atm.md, 5 and 7.1, host mode `ideal`).
 *
 *     traffic --> host --> AAL unit --> network --> AAL unit --> host --> delivery: certificate
 *
 * A host has one lock, as in the prototype, and two tasks that ask for it: one writes messages, one
 * reads them, each one after the other. The one that asked first is served (the writer, of two in
 * one cycle); while the writer waits for a free block, the reader may go on. The reader is told of
 * a message in the cycle it is complete.
 *
 * A message's octets are those that it came with, or follow from its source and number: so a
 * receiver knows what it should have got.
 *
 * Between a unit and the network lie two lines (sim_atm_line.h), where errors may be configured. A
 * copy or a stray cell towards the network is sent before the unit's own cell, which waits; towards
 * the host it is handed over in the same cycle, behind the cell that came in.
 */
#ifndef LEAT_SIM_ATM_LOAD_H
#define LEAT_SIM_ATM_LOAD_H

#include "atm_aal_unit.h"
#include "sim_atm.h"
#include "sim_atm_line.h"
#include "sim_certificate.h"
#include "sim_histogram.h"

enum { LEAT_SIM_ATM_LOAD_BYTES_DEFAULT = 16 }; /* with the header of a message: one full cell */
enum { LEAT_SIM_ATM_LOAD_LINE_CYCLES = 56 };   /* from one cell of a unit to the next (note R2) */

/* A message that a host is to send. */
struct leat_sim_message {
    uint64_t at; /* cycle in which the request arises; accepted in the next one at the earliest */
    uint32_t to; /* LEAT_SIM_ATM_TRAFFIC_ALL: all ports */
    uint32_t len;
    const uint8_t *octets; /* lent until it is delivered; NULL: what follows from its number */
};

/* Where messages come from, port by port, each port's in order of time. False: no more. */
typedef bool leat_sim_atm_load_next(void *context, uint32_t port, struct leat_sim_message *out);

/* Who looks on; any may be NULL. Octets are lent for the call. */
struct leat_sim_atm_load_watch {
    void *context;
    /* A cell as the network gets it, its first octet on buf in cycle `at` (once more if it is
     * refused); or as the unit gets it, its last octet in cycle `at`. */
    void (*cell)(void *context, uint32_t port, enum leat_sim_atm_line_direction direction,
                 const uint8_t *cell, uint64_t at);
    /* A message is written: its host is free for the next one. */
    void (*written)(void *context, uint32_t port, uint32_t number, uint64_t at);
    /* A cell of a message was given up after the last transmission. */
    void (*undeliverable)(void *context, uint32_t port, uint32_t number, uint64_t at);
    /* A message is being read, and will have been in cycle delivery->at; told of those whose octets
     * are beyond doubt (cells_stay_sound), which from now on are lent no more. */
    void (*coming)(void *context, const struct leat_sim_delivery *delivery, uint32_t len);
    /* A message has been read. `octets` is NULL where it was told that it comes. */
    void (*delivered)(void *context, const struct leat_sim_delivery *delivery,
                      const uint8_t *octets, uint32_t len);
};

/* Whoever sits at the ports in place of the two tasks, as in sim_atm_platform.h; then `next` is not
 * asked. */
struct leat_sim_atm_load_desk {
    void *context;
    /* What the unit of a port told (flags of atm_aal_unit.h). */
    void (*hear)(void *context, uint32_t port, uint32_t told, uint64_t now);
    /* After that, and in the cycle it wished: gives commands to the unit. Returns the next cycle in
     * which it wishes to be asked; LEAT_NEVER: none. */
    uint64_t (*serve)(void *context, uint32_t port, uint64_t now);
};

struct leat_sim_atm_load_config {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    uint32_t len_max;               /* of any message */
    struct leat_atm_aal_config aal; /* port, ports, paths and header_octets are filled in */
    leat_sim_atm_load_next *next;
    void *next_context;
    struct leat_sim_atm_line_config line; /* all zeros: no errors; labels are filled in */
    struct leat_sim_atm_load_watch watch;
    struct leat_sim_atm_load_desk desk; /* all NULL: none */
    bool handed_over;                   /* messages come between runs too: leat_sim_atm_load_wake */
    /* Where cells stand for a message whose octets they do not carry: its payload hash. False: they
     * do carry them. With next_context; may be NULL. */
    bool (*digest)(void *context, const struct leat_sim_delivery *delivery, uint32_t len,
                   uint64_t *hash);
    /* Of a message: do its octets not count in the certificate, only their number? NULL: they do.
     */
    bool (*is_private)(void *context, const struct leat_sim_delivery *delivery);
    /* What has been read, in order of time, and the cycle in which it arose (LEAT_NEVER: forgotten
     * since). With next_context; may be NULL. */
    void (*arrived)(void *context, const struct leat_sim_delivery *delivery, uint64_t arose_at);
    /* A message is given up; so many ports have not read it. With next_context; may be NULL. */
    void (*given_up)(void *context, uint32_t port, uint32_t ports_missing, uint64_t at);
};

struct leat_sim_atm_load_counts {
    uint64_t messages_offered, cells_offered;
    uint64_t messages_delivered, cells_delivered, bytes_delivered;
    uint64_t altered;       /* messages whose octets are not those that were sent */
    uint64_t duplicated;    /* messages delivered twice to a port */
    uint64_t refused;       /* messages longer than the send buffer */
    uint64_t unreadable;    /* messages that nobody could ask for: damaged, or gone meanwhile */
    uint64_t undeliverable; /* blocks given up by their senders; with resync messages */
    uint64_t given_up_delivered; /* messages given up, and delivered to all: acknowledgements were
                                    lost, or came too late */
};

struct leat_sim_atm_load_sent { /* what is remembered of a message until it has arrived */
    uint64_t at;
    const uint8_t *octets; /* NULL: made up */
    uint32_t number, len;
    uint32_t copies; /* still to be delivered */
    bool given_up;
};

struct leat_sim_atm_load_complete { /* a message that can be read */
    uint64_t at, until;             /* LEAT_NEVER: it does not become obsolete unread */
    uint32_t id;
    uint32_t len;
    uint16_t block; /* its head, as long as it is there */
};

struct leat_sim_atm_load_line { /* the lines of a port, and what is on its way to the network */
    struct leat_sim_atm_line to_network, to_host;
    struct leat_sim_atm_line_arrival out;
    uint32_t piece;   /* which of the extra cells is being sent; behind them the unit's own */
    uint64_t sent_at; /* first octet of it */
    uint64_t next_at; /* of the next piece; LEAT_NEVER: none */
};

struct leat_sim_atm_load_host {
    struct leat_atm_aal_unit unit;
    struct leat_sim_message message; /* the next to send */
    bool has_message, writing, reading;
    bool scarce;                        /* so little room for cells that one may be stopped soon */
    uint64_t own_at;                    /* the next cycle in which the host acts by itself */
    uint64_t desk_at;                   /* ... its desk */
    uint64_t write_end_at, read_end_at; /* a task asks again when it has been served */
    uint64_t written_from, read_from;   /* what it does now does not end before this */
    uint32_t number;                    /* of messages sent */
    uint32_t skipped;                   /* messages of this port, before that: see below */
    uint8_t *octets;                    /* of the message being written */
    struct leat_sim_atm_load_complete *complete; /* ring, in order of time */
    uint32_t complete_head, complete_count;
    uint32_t reading_len;
    struct leat_sim_delivery reading_coming; /* where it was told that the message comes */
    uint64_t moved, still_since; /* sim_atm_load_stuck.h: cells so far, and since when */
};

struct leat_sim_atm_load {
    struct leat_sim_atm_load_config config;
    struct leat_sim_atm sim;
    struct leat_sim_atm_load_host *host;
    struct leat_sim_atm_line_medium *medium;
    struct leat_sim_atm_load_line *line; /* of each port; NULL: without errors */
    struct leat_sim_atm_load_sent *sent; /* a window of each port's messages */
    uint32_t window;                     /* a power of two */
    uint8_t *received;                   /* one message */
    struct leat_sim_atm_load_counts counts;
    struct leat_sim_certificate certificate;
    struct leat_sim_histogram latency;
    uint64_t last_delivery_at;
    uint64_t moved, still_since; /* sim_atm_load_stuck.h: cells got and messages read, since when */
    uint64_t looked_at;          /* ... the cycle of the last look */
    uint32_t idle_looks;         /* ... in a row, in which nobody sent */
    struct leat_sim_delivery *delivery; /* of this stride, port by port */
    uint32_t *in_order;                 /* of time: their numbers */
    uint32_t delivery_count;
    uint64_t stride_from, stride_last;
    uint32_t scarce;       /* hosts */
    bool cells_stay_sound; /* no line alters an octet, and the cell model does not touch them */
    uint64_t last;         /* cycle of this run */
    uint64_t quiet_before; /* nothing that has begun is told before this cycle */
    uint64_t tells_after;  /* what begins now is not told sooner than after so many cycles */
    bool ahead;            /* see leat_sim_atm_load_be_prompt */
    bool stopped;
    /* Cycles and messages that went by without being simulated, since what becomes of them was
     * known (sim_atm_replay.h): only the certificate, and those who look at a clock, take them into
     * account. */
    uint64_t skipped_cycles;
};

size_t leat_sim_atm_load_footprint(const struct leat_sim_atm_load_config *config);

/* Reset: cycle 0 is over, cycle 1 is next. `memory` is zeroed, aligned, lent for good. */
void leat_sim_atm_load_init(struct leat_sim_atm_load *load,
                            const struct leat_sim_atm_load_config *config, void *memory);

/* Runs up to and including cycle `last`. */
void leat_sim_atm_load_run(struct leat_sim_atm_load *load, uint64_t last);

/* In the cell model hosts go in strides (sim_atm.h), the result being the same; not where a line
 * has errors, nor where somebody watches cells. Who looks at hosts in other ways wants everything
 * in its own cycle, and cells with their CRC. Where messages are handed over, what is told is told
 * in its own cycle in any case. */
void leat_sim_atm_load_be_prompt(struct leat_sim_atm_load *load);

/* Between runs: the source of this port had no message, and may have one now, of the last cycle
 * that was run or later; or its desk wishes to be asked. */
void leat_sim_atm_load_wake(struct leat_sim_atm_load *load, uint32_t port);

/* A delivery becomes part of the certificate, as that of a run which skips nothing. */
void leat_sim_atm_load_certify(struct leat_sim_atm_load *load,
                               const struct leat_sim_delivery *delivery);

/* From within a run: it ends with the present cycle. */
void leat_sim_atm_load_pause(struct leat_sim_atm_load *load);

/* No message arises any more; what is being written is still sent. */
void leat_sim_atm_load_stop(struct leat_sim_atm_load *load);

/* Has everything been sent, acknowledged or given up, and read? Parked cells do not count. */
bool leat_sim_atm_load_is_quiet(const struct leat_sim_atm_load *load);

/* Runs until that is so and stays so, or up to and including cycle `last`. True: it is. */
bool leat_sim_atm_load_drain(struct leat_sim_atm_load *load, uint64_t last);

/* Streams (from one port to another, point to point or broadcasts) of which a cell was given up, as
 * long as the receiver may wait for it: with resync until it knows, else for ever. */
uint64_t leat_sim_atm_load_gaps(const struct leat_sim_atm_load *load);

/* Adds up what the units counted, and what the lines counted in both directions. */
void leat_sim_atm_load_units(const struct leat_sim_atm_load *load, struct leat_atm_aal_counts *out);
void leat_sim_atm_load_lines(const struct leat_sim_atm_load *load,
                             struct leat_sim_atm_line_counts *out);

/* Messages that have arisen up to the last cycle run and wait to be written. Draws them: for the
 * end of a run. */
void leat_sim_atm_load_count_offered(struct leat_sim_atm_load *load);

#endif
