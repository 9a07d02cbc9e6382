/*
 * A softswitch: the devices of one thread, served one turn at a time (spec/poets.md, 2).
 *
 *            +--------------------------- CTL/STOP ---------------------------+
 *            |                                                                v
 *   INIT --> BARRIER -- CTL/BARRIER --> RUN -- CTL/STOP --> (acknowledged) --> DEAD
 *                                        |                                    ^
 *                                        +-- an assertion fails --> KILLED ---+ CTL/STOP
 *
 *   a turn of RUN:  1 pending for the host      2 receive   3 instrumentation, where it is due
 *                   4 send (one edge)           5 idle      6 wait
 *
 * CTL/HOLD in RUN: it completes the send in flight and begins no other, nor an idle handler, but
 * still receives. With nothing in flight its devices are then all there is to save: their states,
 * and in their blocks what they want. Such blocks resume instead of OnInit (config.resumes).
 *
 * A turn consumes at most one packet and produces at most one. For speed, an engine whose threads
 * share memory may skip turns and process whole sends (begin_send, end_send), passing every packet
 * to its device at once (deliver): one of the orders that turns could have produced.
 *
 * Devices are blocks (poets_handler.h), addressed by their position in memory in units of 16
 * octets. Ready to send is level (the last result of ReadyToSend; a device that drops its flag does
 * not send) or latched (a raised flag is always sent, each pin queued once).
 */
#ifndef LEAT_POETS_SOFTSWITCH_H
#define LEAT_POETS_SOFTSWITCH_H

#include "poets_handler.h"
#include "poets_instr.h"
#include "poets_log.h"
#include "poets_wire.h"

enum {
    LEAT_POETS_BLOCK_UNIT = 16,
    LEAT_POETS_HOST_MAX = 4096, /* packets pending for the host; further log lines are discarded */
    LEAT_POETS_HELD_MAX = 64, /* packets pending for the barrier; when full, nothing is accepted */
    LEAT_POETS_NOTES_MAX = 8, /* lines per cause, then at powers of two */
    LEAT_POETS_LEVEL_OOR = 1, /* log level of out-of-range errors */
};
#define LEAT_POETS_EXTERNAL (UINT32_C(1) << 31) /* in an edge's block: an external by its number */
#define LEAT_POETS_AWAY     (UINT32_C(1) << 30) /* a remote device, by its index; see `seat` */
#define LEAT_POETS_INTERVAL UINT64_C(240000000) /* cycles between two records */

enum leat_poets_rts { LEAT_POETS_LATCHED, LEAT_POETS_LEVEL };

enum leat_poets_softswitch_state {
    LEAT_POETS_SS_INIT,
    LEAT_POETS_SS_BARRIER,
    LEAT_POETS_SS_RUN,
    LEAT_POETS_SS_KILLED,
    LEAT_POETS_SS_DEAD,
};

/* Location of a device: its thread, and its number there. */
struct leat_poets_seat {
    uint16_t thread, device;
};

/* Destination of an output pin's packets. */
struct leat_poets_out_edge {
    uint32_t block;       /* or LEAT_POETS_EXTERNAL, or LEAT_POETS_AWAY, and a number */
    uint32_t pin_address; /* pin, and edge << 8 */
};

/* Errors by cause; each has its own counter. */
#define LEAT_POETS_CAUSE_LIST(X)   \
    X(MS, "rx_ms")                 \
    X(OOR_DEVICE, "rx_oor_dev")    \
    X(OOR_PIN, "rx_oor_pin")       \
    X(OOR_EDGE, "rx_oor_edge")     \
    X(SHORT, "rx_short")           \
    X(BAD_OP, "rx_bad_op")         \
    X(BAD_PACKET, "rx_bad_packet") \
    X(BAD_TASK, "rx_bad_task")     \
    X(NOP, "rx_nop")               \
    X(BARRIER, "rx_barrier")       \
    X(DISCARDED, "rx_discarded")   \
    X(LOG_DROP, "log_drop")

enum leat_poets_cause {
#define X(id, name) LEAT_POETS_CAUSE_##id,
    LEAT_POETS_CAUSE_LIST(X)
#undef X
        LEAT_POETS_CAUSE_COUNT
};

struct leat_poets_softswitch_config {
    const struct leat_poets_type *const *type; /* by the number in a block */
    uint8_t *blocks;
    const uint32_t *device; /* its devices' blocks, by their number on this thread */
    uint32_t device_count;  /* at most 65535 */
    const struct leat_poets_out_edge *edge;
    const struct leat_poets_seat *seat; /* of all devices, by index; NULL: none is remote */
    struct leat_poets_env *env;
    uint32_t hw_address;
    uint8_t task; /* packets of other tasks are counted and dropped */
    enum leat_poets_rts rts;
    bool instr_first;     /* instrumentation before receiving */
    bool instruments;     /* records are due every `interval`; on request always */
    bool no_request_idle; /* devices idle without having requested it */
    bool stop_ack;        /* compat.stop_ack=off: no answer to STOP */
    bool resumes;         /* from blocks as a held softswitch leaves them: no OnInit */
    uint8_t compat;       /* LEAT_POETS_COMPAT_... of headers */
    uint64_t interval;
};

struct leat_poets_ring_entry {
    uint32_t block, pin;
};

struct leat_poets_slot {
    uint8_t nflit;
    uint8_t packet[LEAT_POETS_PACKET_LEN_MAX];
};

struct leat_poets_slots {
    struct leat_poets_slot *slot;
    uint32_t cap, first, count;
};

/* A send in flight: its payload no longer changes. */
struct leat_poets_sending {
    struct leat_poets_block *block; /* NULL: none */
    uint32_t pin, payload_len;
    bool to_supervisor;
    const struct leat_poets_out_edge *edge; /* [count], unless to the supervisor */
    uint32_t count;
    _Alignas(16) uint8_t payload[LEAT_POETS_PAYLOAD_LEN_MAX + 8];
};

struct leat_poets_softswitch {
    /* One cache line, so that neighbours do not share one. */
    _Alignas(64) struct leat_poets_softswitch_config config;
    enum leat_poets_softswitch_state state;
    struct leat_poets_ring_entry *ring;
    uint32_t ring_cap, ring_first, ring_count;
    struct leat_poets_slots host, held;
    struct leat_poets_sending sending;
    uint32_t next_edge; /* of the send in flight */
    uint32_t idle_asked, idle_next;
    bool holds; /* CTL/HOLD has come */
    bool instr_due;
    uint64_t instr_at;
    uint64_t waited_since;
    bool waiting;
    struct leat_poets_instr instr;
    uint64_t cause[LEAT_POETS_CAUSE_COUNT];
    /* Over the whole run. Deliveries without a turn count as handled only. */
    uint64_t received, handled, sent, sent_host;
    uint64_t reported[4]; /* their values at the last record */
};

/* The memory it needs besides the struct. */
size_t leat_poets_softswitch_footprint(const struct leat_poets_softswitch_config *config);
/* `memory` is aligned as malloc's. */
void leat_poets_softswitch_init(struct leat_poets_softswitch *ss,
                                const struct leat_poets_softswitch_config *config, void *memory);

/* OnInit of all devices; then the barrier report is pending for the host. */
void leat_poets_softswitch_start(struct leat_poets_softswitch *ss, uint64_t now);

struct leat_poets_step_in {
    uint64_t now; /* cycles */
    bool can_send;
    bool prefer_send;      /* a schedule that prefers sending to receiving */
    const uint8_t *packet; /* received packet, or NULL */
    unsigned nflit;
};

enum leat_poets_step_kind {
    LEAT_POETS_STEP_TURN, /* something was done locally */
    LEAT_POETS_STEP_SEND, /* to thread `thread` */
    LEAT_POETS_STEP_SEND_HOST,
    LEAT_POETS_STEP_WAIT_RX, /* passive: only a packet, or a due record, changes that */
    LEAT_POETS_STEP_WAIT_TX_OR_RX,
    LEAT_POETS_STEP_DONE,
};

struct leat_poets_step_out {
    enum leat_poets_step_kind kind;
    bool taken; /* the packet was consumed */
    uint16_t thread;
    struct leat_poets_slot out;
};

/* One turn. */
void leat_poets_softswitch_step(struct leat_poets_softswitch *ss,
                                const struct leat_poets_step_in *in,
                                struct leat_poets_step_out *out);

/* OnHardwareIdle of all devices that have one. True: a device is ready to send or to idle. */
bool leat_poets_softswitch_hardware_idle(struct leat_poets_softswitch *ss);

/* No packet held, nothing to send, no idle flag, nothing pending for the host, no record due. After
 * CTL/HOLD what devices want does not count. */
bool leat_poets_softswitch_is_passive(const struct leat_poets_softswitch *ss);

/* ---- parts of turns ------------------------------------------------------------------------- */

/* A packet from the wire: any octets. False: there is no room to hold it. */
bool leat_poets_softswitch_receive(struct leat_poets_softswitch *ss, const uint8_t *packet,
                                   unsigned nflit, uint64_t now);

/* Runs OnSend of the next pin. False: there is none, or it sends to nobody and is complete. */
bool leat_poets_softswitch_begin_send(struct leat_poets_softswitch *ss);
void leat_poets_softswitch_end_send(struct leat_poets_softswitch *ss);

/* One OnDeviceIdle, or none: false. */
bool leat_poets_softswitch_idle(struct leat_poets_softswitch *ss);

/* The packet of a send to its `edge`th edge, or to the supervisor. */
void leat_poets_softswitch_packet(struct leat_poets_softswitch *ss, uint32_t edge,
                                  struct leat_poets_step_out *out);

/* The oldest packet for the host; false: none. */
bool leat_poets_softswitch_take_host(struct leat_poets_softswitch *ss, struct leat_poets_slot *out);

/* The record that is due, as a packet for the host; false: none. */
bool leat_poets_softswitch_instr(struct leat_poets_softswitch *ss, uint64_t now,
                                 struct leat_poets_slot *out);

/* A log line of a device: split into fragments for the host. */
void leat_poets_softswitch_log(struct leat_poets_softswitch *ss, uint32_t index, const char *text);

/* A packet with an opcode of the application, 01 to EF, from a device to the supervisor. False:
 * opcode or length are wrong, it is OnInit that sends, before the application runs, or too many
 * packets wait for the host. */
bool leat_poets_softswitch_control(struct leat_poets_softswitch *ss, uint32_t index, uint8_t opcode,
                                   const void *payload, size_t len);

/* An assertion failed, or the like: sends KILL to the host; no further handler runs. */
void leat_poets_softswitch_kill(struct leat_poets_softswitch *ss);

const char *leat_poets_cause_name(unsigned cause);

/* ---- what must be fast ---------------------------------------------------------------------- */

enum { LEAT_POETS_FLAG_QUEUED = 1, LEAT_POETS_FLAG_IDLE = 2 };

static inline struct leat_poets_block *leat_poets_block_at(const struct leat_poets_softswitch *ss,
                                                           uint32_t block)
{
    uint8_t *octets = ss->config.blocks + (size_t)block * LEAT_POETS_BLOCK_UNIT;
    return (struct leat_poets_block *)(void *)octets;
}

static inline void leat_poets_softswitch_push(struct leat_poets_softswitch *ss,
                                              struct leat_poets_block *block, uint32_t pin)
{
    const uint32_t at = ss->ring_first + ss->ring_count++;
    const uint32_t number = (uint32_t)((size_t)((uint8_t *)block - ss->config.blocks) /
                                       LEAT_POETS_BLOCK_UNIT);
    ss->ring[at < ss->ring_cap ? at : at - ss->ring_cap] = (struct leat_poets_ring_entry){ number,
                                                                                           pin };
}

/* It has a send to begin. */
static inline bool leat_poets_softswitch_can_begin(const struct leat_poets_softswitch *ss)
{
    return ss->state == LEAT_POETS_SS_RUN && ss->ring_count && !ss->holds;
}

/* Turns the result of ReadyToSend into pending sends. */
static inline void leat_poets_softswitch_ready(struct leat_poets_softswitch *ss,
                                               struct leat_poets_block *block, uint64_t said)
{
    if (said >> 32) {
        if (said & LEAT_POETS_FAILED) {
            leat_poets_softswitch_kill(ss);
            return;
        }
        if (!(block->flags & LEAT_POETS_FLAG_IDLE)) {
            block->flags |= LEAT_POETS_FLAG_IDLE;
            ss->idle_asked++;
        }
    }
    if (ss->config.rts == LEAT_POETS_LEVEL) {
        block->ready = (uint32_t)said;
        if (block->ready && !(block->flags & LEAT_POETS_FLAG_QUEUED)) {
            block->flags |= LEAT_POETS_FLAG_QUEUED;
            leat_poets_softswitch_push(ss, block, 0);
        }
        return;
    }
    uint32_t raised = (uint32_t)said & ~block->ready;
    block->ready |= raised;
    for (uint32_t pin = 0; raised; pin++, raised >>= 1)
        if (raised & 1) leat_poets_softswitch_push(ss, block, pin);
}

/* Delivers a packet whose pin and edge are known to exist to a running softswitch. */
static inline void leat_poets_softswitch_deliver(struct leat_poets_softswitch *ss,
                                                 struct leat_poets_block *block,
                                                 uint32_t pin_address, const uint8_t *payload)
{
    const struct leat_poets_type *type = ss->config.type[block->type];
    const struct leat_poets_pin *pin = &type->input[pin_address & 0xff];
    uint8_t *octets = (uint8_t *)block;
    const struct leat_poets_edges *edges =
        (const struct leat_poets_edges *)(void *)(octets + type->pins_at) + (pin_address & 0xff);
    ss->handled++;
    leat_poets_softswitch_ready(
        ss, block,
        pin->receive(ss->config.env, block,
                     octets + edges->first + (size_t)(pin_address >> 8) * pin->edge_len, payload));
}

#endif
