/*
 * External devices: processes outside the graph that exchange packets with it (spec/poets.md,
 * 12.6). A process talks to the host in datagrams, each the frame of one packet (poets_text.h).
 *
 *   process                                           host
 *      | SUP/BARRIER  sender: number, or a name in the  |   attach; again at will, until released
 *      |              payload                           |
 *      | <-------- CTL/BARRIER  device: number          |   the application runs: begin
 *      | <-------- CTL/KILL     payload: why            |   refused
 *      | EXT  device: number, pin: its output pin,      |   the host sends a copy along each edge
 *      |      edge: 0                                   |   of this pin, as class DEV
 *      | <-------- EXT  device: number, pin: its input  |   as a device has sent it
 *      | SUP/STOP     sender: number, or a name         |   detach
 *      | <-------- CTL/STOP     device: number          |   the application has stopped: later
 *      |                                                |   packets are refused
 *
 * A peer is a process as the sockets know it: a number. It may have several externals, an external
 * has at most one peer.
 *
 *             SUP/BARRIER of a peer
 *   FREE ----------------------------> ATTACHED --- SUP/STOP, or the peer is gone ---> FREE
 *
 * Pure: the table belongs to the caller.
 */
#ifndef LEAT_POETS_EXTERNAL_H
#define LEAT_POETS_EXTERNAL_H

#include "poets_text.h"
#include "poets_wire.h"

#define LEAT_POETS_PEER_NONE UINT32_MAX       /* nobody is attached */
#define LEAT_POETS_PEER_HOST (UINT32_MAX - 1) /* the host itself: __halt__ */

enum {
    LEAT_POETS_EXTERNAL_FRAME_MAX = LEAT_POETS_CARRIAGE_LEN + LEAT_POETS_PACKET_LEN_MAX,
    LEAT_POETS_EXTERNAL_NAME_MAX = LEAT_POETS_PAYLOAD_LEN_MAX - 1 /* longer ones have a number */
};

/* As payload_len: only a compiler knows it, so any length does. */
#define LEAT_POETS_EXTERNAL_ANY_LEN UINT32_MAX

struct leat_poets_external {
    const char *name;
    const uint32_t *payload_len; /* of each output pin, in octets */
    uint32_t output_count;
    uint32_t peer;
    uint64_t attached;             /* how often */
    uint64_t received, sent, lost; /* packets from the process, to it, and for nobody */
};

/* What is refused, by cause. */
#define LEAT_POETS_REFUSAL_LIST(X)                                                \
    X(FRAME, "ext_bad_frame", "no frame with one packet")                         \
    X(CLASS, "ext_bad_class", "expected EXT, SUP/BARRIER or SUP/STOP")            \
    X(UNKNOWN, "ext_unknown", "there is no such external")                        \
    X(TAKEN, "ext_taken", "another process is attached to it")                    \
    X(FOREIGN, "ext_foreign", "the process is not attached to it")                \
    X(UNTIMELY, "ext_untimely", "expected after CTL/BARRIER and before CTL/STOP") \
    X(PIN, "ext_oor_pin", "the external has no such output pin")                  \
    X(EDGE, "ext_oor_edge", "expected edge 0: packets go along all edges")        \
    X(SHORT, "ext_short", "too few flits for the message")                        \
    X(CROWDED, "ext_crowded", "expected at most 64 processes")

enum leat_poets_refusal {
#define X(id, name, text) LEAT_POETS_REFUSED_##id,
    LEAT_POETS_REFUSAL_LIST(X)
#undef X
        LEAT_POETS_REFUSAL_COUNT
};

const char *leat_poets_refusal_name(unsigned refusal);
/* For people; at most LEAT_POETS_EXTERNAL_NAME_MAX characters. */
const char *leat_poets_refusal_text(unsigned refusal);

struct leat_poets_externals {
    struct leat_poets_external *external; /* by number */
    uint32_t count;
    uint8_t task;
    bool running; /* packets are accepted */
    uint64_t refused[LEAT_POETS_REFUSAL_COUNT];
};

enum leat_poets_external_event_kind {
    LEAT_POETS_EXTERNAL_REFUSED,  /* counted under `refusal`; answer with KILL */
    LEAT_POETS_EXTERNAL_ATTACHED, /* perhaps again: answer with BARRIER, if it runs */
    LEAT_POETS_EXTERNAL_DETACHED,
    LEAT_POETS_EXTERNAL_SENT, /* `packet` goes along the edges of output pin packet.pin */
};

struct leat_poets_external_event {
    enum leat_poets_external_event_kind kind;
    enum leat_poets_refusal refusal;
    uint32_t external; /* its number; with REFUSED it may be beyond the table */
    struct leat_poets_packet packet;
};

/* Counts and reports what the caller refuses: CROWDED. */
void leat_poets_externals_refuse(struct leat_poets_externals *externals,
                                 enum leat_poets_refusal refusal,
                                 struct leat_poets_external_event *out);

/* Handles a datagram of a peer: any octets. */
void leat_poets_externals_receive(struct leat_poets_externals *externals, uint32_t peer,
                                  const uint8_t *frame, size_t len,
                                  struct leat_poets_external_event *out);

/* The peer is gone: all its externals are free again. */
void leat_poets_externals_leave(struct leat_poets_externals *externals, uint32_t peer);

/* Externals that nobody is attached to. */
uint32_t leat_poets_externals_missing(const struct leat_poets_externals *externals);
/* Externals that a process is attached to. */
uint32_t leat_poets_externals_attached(const struct leat_poets_externals *externals);

/* The frame of a CTL packet for the process of an external: BARRIER, STOP, or KILL with a text.
 * Returns its length. */
size_t leat_poets_external_control(uint8_t task, uint8_t opcode, uint32_t number, const char *text,
                                   uint8_t frame[LEAT_POETS_EXTERNAL_FRAME_MAX]);

#endif
