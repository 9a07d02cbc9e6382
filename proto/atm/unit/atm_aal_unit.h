/*
 * The adaptation layer unit of the thesis' prototype (note 5; seed 001, 9.3.2): between a host and
 * a port of the cell network, it segments messages into cells, retransmits them until they are
 * acknowledged, acknowledges received cells and reassembles messages.
 *
 *     host                    unit                                    network
 *      |  commands   +--------+    +-----------------+    +--------+
 *      |------------>| STATE0 |--->| STATE1, 2, 3, 4 |--->| STATE5 |---> buf, ogbyte
 *      |             |        |    | header, number, |    | sends, |<--- ogsuspend
 *      |             |        |    | label           |    | frees  |
 *      |             |        |    +-----------------+    +--------+
 *      |             |        |                               ^ acknowledgement to send
 *      |   message   |        |    +---------+     +--------+ |      +--------+
 *      |<------------|        |<---| STATE8  |<----| STATE7 |-+------| STATE6 |<--- icbyte
 *      |             +--------+    | STATE10 |     |        |        |        |---> icsuspend
 *                                  +---------+     +--------+        +--------+
 *                     STATE9 counts all timers down, once per cycle
 *
 * The thesis describes the eleven controllers by the cycles in which they do something visible, and
 * so does this code: each controller knows the cycle of its next action, and a step in which none
 * is due changes nothing. Stepping the unit in every cycle or only at `wake_at` gives the same
 * registers. What hardware counts per cycle (timers, the byte being sent, the walk of STATE5 over
 * its list) is computed from the cycle when it is read.
 *
 * "Cycle n" is the state after the n-th step; cycle 0 is reset.
 *
 * With `resync` a stream recovers after cells of it were discarded, which it never does in the
 * prototype (README, "Resynchronisation"):
 *
 *     sender                                                      receiver
 *      | 5, 6, 7 ...  6 is lost 8 times: its message is discarded  | has 5; 7 is parked behind 6
 *      | RESYNC 6: "no number up to 6 will be sent again" -------->| drops what it has of a message
 *      |<--- RESYNCED 6                                            | with a gap; 7 joins
 */
#ifndef LEAT_ATM_AAL_UNIT_H
#define LEAT_ATM_AAL_UNIT_H

#include "atm_task_cell.h"
#include "leat_err.h"
#include "leat_fingerprint.h"
#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_AAL_BLOCKS = 1887,      /* of each buffer */
    LEAT_ATM_AAL_BLOCKS_MAX = 65534, /* of each buffer, when configured */
    LEAT_ATM_AAL_PORTS_MAX = 65535,  /* 0xffff is the broadcast's destination; without groups */
    LEAT_ATM_AAL_GROUPS_MAX = LEAT_ATM_TASK_GROUPS_MAX, /* of multicast */
    LEAT_ATM_AAL_DESCRIPTORS = 32,                      /* messages at a time from one source */
    LEAT_ATM_AAL_RETRANSMIT = 400000,                   /* cycles */
    LEAT_ATM_AAL_TRANSMISSIONS = 8,                     /* of a block, then it is undeliverable */
    LEAT_ATM_AAL_OBSOLETE = 40000,                      /* cycles */
    LEAT_ATM_AAL_SERVED_MAX = 10,                       /* tasks of one name on a port */
    LEAT_ATM_AAL_COMMANDS_MAX = 8,                      /* pending, of each kind */
    LEAT_ATM_AAL_OPEN_LISTS = 512,                      /* hash lists of complete messages */
    LEAT_ATM_AAL_NONE = 0xffff,                         /* no block */
};

struct leat_atm_aal_config {
    uint32_t port, ports;   /* this port, and how many there are */
    uint32_t paths;         /* access label: paths * destination + path; broadcast: to `ports`;
                               multicast to group g: to ports + 1 + g */
    uint32_t header_octets; /* 2: the label is a VPI; 4: a VPI and a VCI */
    uint32_t send_blocks, receive_blocks;
    uint32_t descriptors;
    uint32_t groups; /* of multicast that it may be in */
    uint32_t retransmit_cycles, obsolete_cycles;
    uint32_t transmissions_max;
    bool unsealed;    /* cells have no CRC-16: if no receiver checks it */
    bool resync;      /* streams recover after cells were discarded; numbers have 29 bits */
    bool reuses_last; /* a block that was freed is the next to be used: its memory is in the cache.
                         The prototype uses free blocks in turn; only their numbers differ */
    bool grants_unreported; /* the owner does not wait for GRANTED */
};

/* The thesis' values, for a network of `ports` ports and `paths` paths. */
void leat_atm_aal_config_default(struct leat_atm_aal_config *config, uint32_t port, uint32_t ports,
                                 uint32_t paths);

/* Host commands (note 5.2). The longer ones stand for their run of bus words. */
enum leat_atm_aal_verb {
    LEAT_ATM_AAL_INITSEND,
    LEAT_ATM_AAL_PUT,         /* `len` octets at `octets` (lent until WRITTEN), four a word */
    LEAT_ATM_AAL_DESTINATION, /* `destination`; LEAT_ATM_TASK_BROADCAST: all; or a group */
    LEAT_ATM_AAL_SEND,        /* the five words of `message` */
    LEAT_ATM_AAL_RECEIVE,     /* the five words of `message` */
    LEAT_ATM_AAL_GET,         /* `len` octets, four a word */
    /* Several at once, each as early as possible. */
    LEAT_ATM_AAL_WRITE, /* INITSEND, PUT, DESTINATION and SEND */
    LEAT_ATM_AAL_READ,  /* RECEIVE and, if it is granted, GET */
};

struct leat_atm_aal_command {
    enum leat_atm_aal_verb verb;
    uint32_t len;
    uint64_t not_before; /* earliest cycle of acceptance */
    const uint8_t *octets;
    struct leat_atm_task_message message;
    uint16_t destination;
    bool begun; /* the unit's: a WRITE has its first block */
};

/* What a step reports; flags of `reported`. */
enum leat_atm_aal_reported {
    LEAT_ATM_AAL_LINE = 1,           /* line_cell has its first octet on buf at line_at, soon */
    LEAT_ATM_AAL_WRITTEN = 2,        /* the message is ready to be sent, wlcked = 0 */
    LEAT_ATM_AAL_COMPLETE = 4,       /* message_reported (its head block) can be read */
    LEAT_ATM_AAL_GRANTED = 8,        /* a read request, from reply_at on: message_read */
    LEAT_ATM_AAL_DENIED = 16,        /* a read request, at reply_at */
    LEAT_ATM_AAL_GOT = 32,           /* the last GET has ended */
    LEAT_ATM_AAL_UNDELIVERABLE = 64, /* block_reported discarded; its destination, its message.
                                        With resync: the whole message, reported once */
    LEAT_ATM_AAL_EXIT = 128,         /* the message being written is too long: discarded */
    LEAT_ATM_AAL_TOOLONG = 256,      /* the buffer's last octet is in use */
    LEAT_ATM_AAL_NOMEM = 512,        /* the message being written waits for a block */
    LEAT_ATM_AAL_DISCARDED = 1024,   /* an obsolete message was discarded */
    /* The events that the owner waits for; the others end no step early. */
    LEAT_ATM_AAL_NEWS = LEAT_ATM_AAL_DISCARDED - 1,
};

struct leat_atm_aal_counts {
    uint64_t cells_sent, acks_sent, cells_received, acks_received, discarded; /* used most */
    uint64_t retransmissions, refusals;
    uint64_t bad_cells, misdelivered, duplicates, parked;
    uint64_t acks_unmatched, undeliverable, discarded_unread;
    uint64_t beyond;         /* cells too far ahead to be parked: neither kept nor acknowledged */
    uint64_t given_up;       /* messages of which a cell was discarded */
    uint64_t resyncs_sent;   /* RESYNC cells */
    uint64_t resynchronised; /* gaps known to the receiver */
    uint64_t cut_short;      /* messages dropped by their receiver: the sender discarded a cell */
};

/* Two lists in one array of links (note 5.1): free blocks and busy blocks. */
struct leat_atm_aal_link {
    uint16_t next, prev;
};

struct leat_atm_aal_chain {
    struct leat_atm_aal_link *link;
    uint16_t free_head, free_tail, busy_head, busy_tail;
    uint16_t busy_count, count;
    bool reuses_last;
};

enum leat_atm_aal_block_state {
    LEAT_ATM_AAL_NOT_READY, /* blktime -1 */
    LEAT_ATM_AAL_READY,     /* blktime 0 */
    LEAT_ATM_AAL_SENT,      /* blktime > 0 */
};

/* The cells from one unit to another have numbers of their own if they are broadcast, or for this
 * one only, or for each group that both are in. */
enum leat_atm_aal_streams {
    LEAT_ATM_AAL_TO_ALL,
    LEAT_ATM_AAL_TO_ONE,
    LEAT_ATM_AAL_TO_GROUP, /* and so on */
};

struct leat_atm_aal_send_block {
    uint64_t expires_at; /* of a sent one: blktime is the time left until then */
    uint64_t free_at;    /* if to_free: since when ogblktofr is 1; may be in the future */
    uint32_t message;    /* which of this unit's messages, counted */
    uint32_t sequence;
    uint16_t destination, acks_missing;
    uint8_t flag, state, to_free, transmissions;
    uint8_t stream;   /* enum leat_atm_aal_streams */
    uint8_t given_up; /* some block of its message was discarded */
};

struct leat_atm_aal_receive_block {
    uint16_t next_in_message; /* of a parked one: the next whose turn may have come */
    uint16_t next_waiting;    /* for its service; of a parked one: the next of its stream */
    uint8_t in_message;
    uint8_t parked; /* 2: and its turn may have come */
    uint8_t is_ack; /* then it has no octets: these fields are complete */
    uint8_t resync; /* RESYNC, or with is_ack RESYNCED */
    uint8_t stream;
    uint16_t source, flag; /* of its cell */
    uint32_t sequence;
};

/* A message being assembled or served; it has the number of its head block. */
enum {
    LEAT_ATM_AAL_SERVED_NEAR = 4, /* as many as fit into a cache line */
    LEAT_ATM_AAL_SERVED_FAR = LEAT_ATM_AAL_SERVED_MAX - LEAT_ATM_AAL_SERVED_NEAR,
};
struct leat_atm_aal_message {
    uint64_t obsolete_at;
    uint64_t next_obsolete_at; /* of next_aging, which is likely not in the cache */
    uint32_t serial;           /* by the age of descriptors */
    uint32_t id;               /* of its header */
    uint16_t source, tail_block;
    uint16_t next_of_source, next_aging;
    uint16_t next_open, prev_open; /* complete, and may still be read */
    uint8_t stream, complete, expired, served_count;
    uint8_t all_instances;                     /* of a task may read it */
    uint8_t kept;                              /* it stays until it is served */
    uint32_t served[LEAT_ATM_AAL_SERVED_NEAR]; /* the first ones */
};

/* A stream that a unit receives. */
struct leat_atm_aal_stream {
    uint32_t received;     /* last in order */
    uint32_t skip_to;      /* if `skips`: no number up to this one will arrive */
    uint16_t parked_first; /* block + 1 of the lowest number parked; 0: none */
    uint16_t parked_last;  /* if there is a first one: the block of the highest */
    uint16_t incomplete;   /* the first incomplete message, its head block + 1; 0: none */
    uint8_t skips;
};

/* The state that a unit keeps about each other unit. */
struct leat_atm_aal_peer {
    uint32_t number;                   /* last sent to it, point to point */
    struct leat_atm_aal_stream stream; /* from it, point to point */
    uint16_t message_count;
    uint16_t first_message, last_message; /* if message_count > 0 */
    uint16_t unused[3];                   /* two of these fill a cache line */
};

/* A multicast group, as the tables of the network have it. */
struct leat_atm_aal_group {
    const uint64_t *members; /* a bit per port, lent; NULL: it is not set up */
    uint32_t member_count;
    uint32_t number; /* last sent to it */
};

/* A gap: a stream to another unit (broadcast: 2 * port, point to point: 2 * port + 1; then group by
 * group) of which cells were discarded, until the receiver is known to know it. */
struct leat_atm_aal_gap {
    uint64_t sent_at, send_at; /* RESYNC: the last one, the next one */
    uint64_t wait_cycles;      /* between the next ones */
    uint32_t number;           /* the last discarded one */
    bool open;
};

enum leat_atm_aal_controller { /* in the order of a step */
                               LEAT_ATM_AAL_STATE5,
                               LEAT_ATM_AAL_STATE2,
                               LEAT_ATM_AAL_STATE10,
                               LEAT_ATM_AAL_STATE9,
                               LEAT_ATM_AAL_STATE8,
                               LEAT_ATM_AAL_STATE7,
                               LEAT_ATM_AAL_STATE0,
                               LEAT_ATM_AAL_CONTROLLERS,
};

struct leat_atm_aal_commands {
    uint8_t head, count;
    struct leat_atm_aal_command waiting[LEAT_ATM_AAL_COMMANDS_MAX];
};

/* In groups of a cache line each, as they are used together: in a large network, no unit is in the
 * cache when its turn comes. What is rarely used comes last. */
struct leat_atm_aal_unit {
    uint64_t wake_at; /* the next cycle in which a step does anything */
    uint64_t due[LEAT_ATM_AAL_CONTROLLERS];

    uint64_t rare_at; /* the first due of STATE2, 10, 9 and 8, which have little to do; or sooner */
    /* The reports of the last steps; the owner clears `reported`. */
    uint32_t reported;
    uint16_t message_reported, block_reported;
    /* STATE5 */
    uint8_t sending, freeing, scan_waits;
    uint8_t sending_ack; /* 2: RESYNC */
    uint8_t scan_wraps;  /* scan_block was the tail when it was examined, and no longer is */
    uint8_t nomem;       /* STATE0 waits for a block */
    uint16_t scan_block; /* cursnd at the look of cycle look_at */
    uint64_t look_at;
    uint64_t ack_asked_at; /* q of note R6, may be in the future; LEAT_NEVER: no acknowledgement */
    uint64_t ack_free_at;  /* F */
    uint64_t resync_requested_at; /* as ack_asked_at; LEAT_NEVER: resync_cell is free */
    uint32_t scan_finds; /* blocks that a walk may find: ready ones, and those to be freed */
    uint32_t gap_count;  /* STATE9: open ones */

    uint64_t line_at;
    uint8_t *line_cell;
    struct leat_atm_aal_chain send;
    struct leat_atm_aal_send_block *send_block;
    uint8_t *send_cell; /* LEAT_ATM_AAL_CELL_STRIDE octets a block */

    struct leat_atm_aal_chain receive;
    struct leat_atm_aal_receive_block *receive_block;
    uint8_t *receive_cell; /* as send_cell */
    struct leat_atm_aal_message *message;
    struct leat_atm_aal_peer *peer;

    /* STATE7 */
    uint64_t service_from, service_until;
    uint32_t service_match_message;
    uint16_t service_block, service_match;
    uint16_t waiting_head, waiting_tail; /* received, not yet served */
    uint16_t candidates;                 /* parked ones whose turn may have come */
    uint16_t in_message_count;
    uint16_t others_parked; /* cells that are parked, of broadcasts and to groups */
    uint8_t service;        /* enum in atm_aal_unit_receive.c */
    uint8_t reading;        /* STATE0 */
    uint16_t message_read;  /* STATE8: granted */
    /* STATE10: complete messages in the order in which they become obsolete */
    uint16_t aging_head, aging_tail;
    uint16_t write_first; /* STATE0: head block of the message being written, NONE: none */
    uint32_t message_serial;
    uint64_t reply_at;
    uint32_t path;        /* STATE1 to STATE4: k of note R1 */
    uint32_t number_mask; /* numbers of cells have 16 bits, with resync 29 */

    /* STATE0 */
    uint64_t write_free_at, read_free_at; /* next acceptance */
    uint64_t put_base;                    /* cycle that the octets of this PUT are counted from */
    uint32_t put_done;
    uint16_t write_offset; /* 0..36 in the tail block */
    uint16_t destination;
    /* STATE1 to STATE4 */
    uint64_t label_at;       /* when segment_block gets its label: may be in the past, see settle */
    uint64_t label_taken_at; /* the last one */
    uint16_t segment_block, segment_cells;
    uint16_t messages_busy; /* ogmsgnum */
    uint32_t message_count; /* written so far */

    struct leat_atm_aal_config config;
    uint64_t gap_at;      /* STATE9: the first send_at of all gaps, or earlier */
    uint32_t group_cells; /* sent to groups, or received from them in order */
    uint32_t broadcast_number;

    uint8_t ack_cell[64];
    struct leat_atm_aal_counts counts;
    struct leat_atm_task_message asked; /* by the read request */
    struct leat_atm_aal_commands read, write;

    uint64_t *parked_as;          /* of each receive block: its ordinal among all ever parked */
    uint32_t *served_far;         /* SERVED_FAR of each message */
    uint64_t *ack_missing;        /* ackdesc of broadcast blocks, a bit per port */
    struct leat_atm_aal_gap *gap; /* two of each peer, then those of groups */
    struct leat_atm_aal_group *group;
    struct leat_atm_aal_stream *all_stream;   /* broadcasts from each other unit */
    struct leat_atm_aal_stream *group_stream; /* [groups][ports]: from each other unit */
    uint32_t gap_requested;                   /* STATE9: the one of resync_cell */
    uint8_t resync_cell[64];
    uint16_t open[LEAT_ATM_AAL_OPEN_LISTS]; /* STATE8's, by the low bits of the id */
};

enum { LEAT_ATM_AAL_CELL_STRIDE = 64 };

/* RANGE: a value of the configuration is outside its limits. */
leat_err leat_atm_aal_config_check(const struct leat_atm_aal_config *config);

/* Octets of memory for a unit with a valid configuration. */
size_t leat_atm_aal_unit_footprint(const struct leat_atm_aal_config *config);

/* `memory`: that many octets, zeroed, aligned for any object; lent as long as the unit lives. */
void leat_atm_aal_unit_init(struct leat_atm_aal_unit *unit,
                            const struct leat_atm_aal_config *config, void *memory);

/* The same in two pieces of memory: what every message uses, and the rest, which is larger in large
 * networks. Systems can give them pages of different sizes. */
size_t leat_atm_aal_unit_footprint_often(const struct leat_atm_aal_config *config);
size_t leat_atm_aal_unit_footprint_seldom(const struct leat_atm_aal_config *config);
void leat_atm_aal_unit_init_in(struct leat_atm_aal_unit *unit,
                               const struct leat_atm_aal_config *config, void *often, void *seldom);

/*
 * In one cycle, in this order: refuse (if the network's PPD raised its suspend signal in the last
 * cycle), step, then room or receive (if the fourth or the last octet of a cell arrives).
 */
void leat_atm_aal_unit_refuse(struct leat_atm_aal_unit *unit, uint64_t now);

/* All steps that are due up to and including `now`, each in its own cycle. Stops after a step that
 * reports something. Returns the cycle of the last step. */
uint64_t leat_atm_aal_unit_step(struct leat_atm_aal_unit *unit, uint64_t now);

/* Cells for which the receive buffer has room; 0: suspend the arriving cell. */
static inline uint32_t leat_atm_aal_unit_room(const struct leat_atm_aal_unit *unit)
{
    return (uint32_t)unit->receive.count - unit->receive.busy_count;
}
void leat_atm_aal_unit_receive(struct leat_atm_aal_unit *unit, const uint8_t *cell, uint64_t now);
/* The same for a cell whose octets are known to be intact: no CRC check. */
void leat_atm_aal_unit_receive_sound(struct leat_atm_aal_unit *unit, const uint8_t *cell,
                                     uint64_t now);

/* The line is busy: the cell reported with LINE begins so many cycles later. */
void leat_atm_aal_unit_hold(struct leat_atm_aal_unit *unit, uint64_t cycles);

/* A command for the next cycle or later, after the pending ones. False: too many are pending. */
bool leat_atm_aal_unit_command(struct leat_atm_aal_unit *unit,
                               const struct leat_atm_aal_command *command, uint64_t now);

/* Sets up a multicast group, in no time: it consists of the ports whose bits are set in `members`,
 * 64 a word, which is lent until it is set up again. To be called for all units, also those that
 * are not in it. number[p]: the last one that port p has sent to the group of before. Late copies
 * of its cells are thus behind all that follow. */
void leat_atm_aal_unit_set_group(struct leat_atm_aal_unit *unit, uint32_t group,
                                 const uint64_t *members, const uint32_t *number);

/* Does this unit neither wait for acknowledgements from this group nor for cells of it? */
bool leat_atm_aal_unit_group_is_quiet(const struct leat_atm_aal_unit *unit, uint32_t group);

/* Is there a message that a read request with these words would get now? */
bool leat_atm_aal_unit_has(const struct leat_atm_aal_unit *unit,
                           const struct leat_atm_task_message *asked);

/* The host will read this message, which is complete: a broadcast too stays until it is served. */
void leat_atm_aal_unit_keep(struct leat_atm_aal_unit *unit, uint16_t message);

/* The reader is done with the granted message (rlcked = 0). */
void leat_atm_aal_unit_read_end(struct leat_atm_aal_unit *unit, uint64_t now);

/* A hint: this message will be read soon. Changes nothing. */
void leat_atm_aal_unit_fetch(const struct leat_atm_aal_unit *unit, uint16_t message);

/* Hints: the unit steps soon; and sooner, up to cycle `last`, with a cell that arrives (NULL:
 * none). Change nothing. */
void leat_atm_aal_unit_fetch_state(const struct leat_atm_aal_unit *unit);
void leat_atm_aal_unit_fetch_blocks(const struct leat_atm_aal_unit *unit, const uint8_t *cell,
                                    uint64_t last);

/* Octets of a complete message from `offset` on, after its 20 octets of header. */
void leat_atm_aal_unit_copy(const struct leat_atm_aal_unit *unit, uint16_t message, uint32_t offset,
                            uint8_t *out, uint32_t len);

/* Octets of a complete message after its header; its last cell counts as full. */
uint32_t leat_atm_aal_unit_octets(const struct leat_atm_aal_unit *unit, uint16_t message);

/* The cycles of a put or get of `len` octets, four per word: io(N) of note 5.4. */
uint64_t leat_atm_aal_io_cycles(uint32_t len);

/* T(N) of note 5.4: one way, without contention, over three stages that switch virtual paths. */
uint64_t leat_atm_aal_one_way_cycles(uint32_t len);

/* The same over any idle network, which the first octet crosses in so many cycles
 * (leat_atm_clos_idle_cycles; THESIS_CYCLES in T(N)): nothing else of T(N) depends on it. */
enum { LEAT_ATM_AAL_THESIS_CYCLES = 18 };
uint64_t leat_atm_aal_one_way_cycles_over(uint32_t len, uint32_t network_cycles);

/* The longest message for a buffer of so many blocks. */
static inline uint32_t leat_atm_aal_message_max(uint32_t blocks)
{
    return blocks * LEAT_ATM_TASK_PAYLOAD_LEN - LEAT_ATM_TASK_MESSAGE_LEN;
}

/* Writes pending past changes to the blocks, for callers that read them after step `now`. Does not
 * affect the behaviour of the unit. */
void leat_atm_aal_unit_settle(struct leat_atm_aal_unit *unit, uint64_t now);

/* How numbers that only ever grow enter a fingerprint (leat_fingerprint.h): the last number that a
 * port sent to another one, and the part of an id that does not depend on the time. */
struct leat_atm_aal_names {
    void *context;
    uint32_t (*last_number)(void *context, uint32_t from, uint32_t to);
    uint64_t (*message)(void *context, uint32_t id);
    uint32_t number_mask; /* of the units */
};

/* The fingerprint of the unit, with all steps before `now` done. Units that broadcast, park cells,
 * have gaps or wait for a block have none. And of a cell, without its label and payload. */
void leat_atm_aal_unit_fingerprint(struct leat_atm_aal_unit *unit, uint64_t now,
                                   const struct leat_atm_aal_names *names,
                                   struct leat_fingerprint *out);
void leat_atm_aal_cell_fingerprint(const uint8_t *cell, const struct leat_atm_aal_names *names,
                                   struct leat_fingerprint *out);

/* Registers as a logic analyser would see them after step `now`. State numbers are those of note
 * 5.3; state7 of a controller that waits for a cell is 0, also where the note has 16. */
struct leat_atm_aal_view {
    uint8_t state1, state2, state3, state4, state5, state7;
    uint16_t cursnd, iccurb;
};
void leat_atm_aal_unit_view(const struct leat_atm_aal_unit *unit, uint64_t now,
                            struct leat_atm_aal_view *out);
bool leat_atm_aal_unit_blktofr(const struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now);
int64_t leat_atm_aal_unit_blktime(const struct leat_atm_aal_unit *unit, uint16_t block,
                                  uint64_t now);

#endif
