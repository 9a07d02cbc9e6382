/*
 * A recording: what happened in a run, as one stream of octets. sim_recorder writes it, this file
 * reads it, exporters make pcapng, VCD, Perfetto's JSON, CSV and OTF2 of it.
 *
 *   file     "LEATREC" version=2, then records: a kind (one octet) and its fields
 *   number   7 bits per octet, the lowest first, 0x80 on all but the last; the shortest form
 *   string   number of octets (1..127), printable characters of ASCII
 *
 *   kind  name     fields
 *   ----  -------  ----------------------------------------------------------------------------
 *   0x01  CLOCK    num den                        a clock domain of num/den ps; the first is 1
 *   0x02  GROUP    parent string                  a track that holds tracks: a network, a switch
 *   0x03  LANE     parent clock link string       a track of spans, instants, frames and flows
 *   0x04  SIGNAL   parent clock width string      a track of values: a register, a counter
 *   0x05  NAME     string                         of spans and instants; the first is 1
 *   0x06  TIME     ps since the last, not 0       of the records that follow it; begins with 0
 *   0x10  BEGIN    lane name                      a span opens; spans of a lane nest
 *   0x11  END      lane                           the innermost span closes
 *   0x12  INSTANT  lane name
 *   0x13  VALUE    signal value
 *   0x14  FRAME    lane direction length octets   a packet, in the lane's link type
 *   0x15  FLOW     lane step message peer length tag
 *                                                 a message leaves, passes or reaches a lane; peer:
 *                                                 the lane at its other end, 0: not known; length
 *                                                 in octets; tag: 1 more than it, 0: it has none.
 *                                                 From 2^34 on: not a message, but a packet or cell
 *                                                 of a network; from 2^62 on: a collective
 *                                                 operation (leat_sim_operation_flow)
 *   0x16  PLACE    lane name                      what the lane shows is there from now on: at a
 *                                                 host, at a port
 *   0x1f  CLOSE    number of records before it    the last record
 *
 * Groups, lanes and signals share one numbering, from 1; parent 0 and clock 0 are none. Clocks and
 * tracks come before the first TIME or event, names before their use. What does not end with CLOSE
 * was cut. Every recording has one form only: what is read and written again is the same octets.
 */
#ifndef LEAT_SIM_RECORDING_H
#define LEAT_SIM_RECORDING_H

#include "leat_err.h"
#include "sim_clock.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    LEAT_SIM_RECORDING_HEAD_LEN = 8,
    LEAT_SIM_CLOCKS_MAX = 255,
    LEAT_SIM_TRACKS_MAX = 65535,
    LEAT_SIM_NAMES_MAX = 65535,
    LEAT_SIM_PATH_LEN_MAX = 127, /* of a track's path, and of any name */
    LEAT_SIM_SPANS_MAX = 8,      /* open in one lane */
    LEAT_SIM_WIDTH_MAX = 64,     /* bits of a value */
    LEAT_SIM_FRAME_LEN_MAX = 65535,
    LEAT_SIM_RECORD_LEN_MAX = LEAT_SIM_FRAME_LEN_MAX + 32,
    LEAT_SIM_STRINGS_LEN_MAX = 4 << 20, /* of all names together */
};
#define LEAT_SIM_RECORDING_HEAD "LEATREC\x02"

/* The characters of names. */
static inline bool leat_sim_is_printable(uint8_t octet)
{
    return octet >= ' ' && octet <= '~';
}

typedef enum {
    LEAT_SIM_CLOCK = 0x01,
    LEAT_SIM_GROUP,
    LEAT_SIM_LANE,
    LEAT_SIM_SIGNAL,
    LEAT_SIM_NAME,
    LEAT_SIM_TIME,
    LEAT_SIM_BEGIN = 0x10,
    LEAT_SIM_END,
    LEAT_SIM_INSTANT,
    LEAT_SIM_VALUE,
    LEAT_SIM_FRAME,
    LEAT_SIM_FLOW,
    LEAT_SIM_PLACE,
    LEAT_SIM_CLOSE = 0x1f,
} leat_sim_kind;

typedef enum { LEAT_SIM_NO_DIRECTION, LEAT_SIM_IN, LEAT_SIM_OUT } leat_sim_direction;
typedef enum { LEAT_SIM_LEAVES, LEAT_SIM_PASSES, LEAT_SIM_ARRIVES } leat_sim_step;

/* A message, as seen by a lane. */
struct leat_sim_flow {
    uint64_t message; /* its number */
    uint32_t peer;    /* the lane at its other end; 0: unknown */
    uint32_t tag;     /* the bits of a signed number */
    bool has_tag;
    uint64_t len; /* octets */
};

/* Numbers of flows from the last member of a collective operation to each other one:
 * 01(2) group(18) operation(32) member(12). */
enum {
    LEAT_SIM_MEMBER_BITS = 12,
    LEAT_SIM_GROUP_AT = LEAT_SIM_MEMBER_BITS + 32,
    LEAT_SIM_GROUP_MASK = (1 << 18) - 1,
};

static inline uint64_t leat_sim_operation_flow(uint32_t group, uint32_t operation, uint32_t member)
{
    return UINT64_C(1) << 62 | (uint64_t)(group & LEAT_SIM_GROUP_MASK) << LEAT_SIM_GROUP_AT |
           (uint64_t)operation << LEAT_SIM_MEMBER_BITS | member;
}

static inline bool leat_sim_is_operation(const struct leat_sim_flow *flow)
{
    return flow->message >> 62 == 1;
}

/* Packets and cells inside a network, as its wires carry them. */
#define LEAT_SIM_FIRST_PACKET (UINT64_C(1) << 34)

static inline bool leat_sim_is_packet(const struct leat_sim_flow *flow)
{
    return flow->message >> 62 == 0 && flow->message >= LEAT_SIM_FIRST_PACKET;
}

/* The contents of one record; only the fields of its kind are set. TIME is never returned: it is in
 * `at`. */
struct leat_sim_event {
    leat_sim_kind kind;
    leat_time at;
    uint32_t track; /* of a declaration: the new one */
    uint32_t name;  /* BEGIN, INSTANT, PLACE; END: of the span that closes; NAME: the new one */
    uint64_t value; /* VALUE; CLOSE: the number of records */
    leat_sim_direction direction;
    leat_sim_step step;
    struct leat_sim_flow flow;
    const uint8_t *octets; /* FRAME: lent from the reader's buffer */
    size_t len;
};

struct leat_sim_track {
    leat_sim_kind kind; /* GROUP, LANE or SIGNAL */
    uint32_t parent, clock;
    uint16_t link_type; /* of a lane's frames (pcap's numbers); 0: it has none */
    uint8_t width;      /* of a signal */
    uint8_t depth;      /* spans that are open now, by name, the outermost first */
    uint16_t open[LEAT_SIM_SPANS_MAX];
    uint32_t string_at;
    uint8_t string_len;
};

struct leat_sim_name {
    uint32_t string_at;
    uint8_t string_len;
};

/* Several megabytes: too large for the stack. */
struct leat_sim_recording {
    bool headed, eventful, closed, timed; /* timed: a TIME precedes the next event */
    leat_time now;
    uint64_t records;
    uint32_t clock_count, track_count, name_count, string_len;
    struct leat_sim_clock clocks[LEAT_SIM_CLOCKS_MAX + 1]; /* index 0 of all three is unused */
    struct leat_sim_track tracks[LEAT_SIM_TRACKS_MAX + 1];
    struct leat_sim_name names[LEAT_SIM_NAMES_MAX + 1];
    char strings[LEAT_SIM_STRINGS_LEN_MAX];
};

void leat_sim_recording_init(struct leat_sim_recording *rec);

/*
 * Takes the next record from the front of `buf`; *used octets are consumed.
 *   OK, *used > 0, *found      the record is in *out
 *   OK, *used > 0, !*found     header or TIME: call again
 *   OK, *used == 0             more octets are needed: any number, at most LEAT_SIM_RECORD_LEN_MAX
 *                              in all. A file that ends here is truncated, unless it is closed
 *   an error, *used == 0       the recording is damaged, at buf[*fault_at]; fault_at may be NULL
 * After CLOSE every further octet is an error (LENGTH).
 */
leat_err leat_sim_recording_next(struct leat_sim_recording *rec, const uint8_t *buf, size_t len,
                                 struct leat_sim_event *out, bool *found, size_t *used,
                                 size_t *fault_at);

/* "net.switch3.port1": the track and its parents. Writes at most PATH_LEN_MAX and a 0. */
size_t leat_sim_recording_path(const struct leat_sim_recording *rec, uint32_t track,
                               char path[LEAT_SIM_PATH_LEN_MAX + 1]);

/* The text of a name, not terminated by a 0. */
const char *leat_sim_recording_name(const struct leat_sim_recording *rec, uint32_t name,
                                    size_t *len);

#endif
