/*
 * A POETS packet: 1 to 4 flits of 16 octets, everything little-endian (spec/poets.md, 1.1-1.4).
 *
 *   swAddr, octets 0-3    31  30  29       24 23          16 15                             0
 *                        +---+---+-----------+--------------+-------------------------------+
 *                        |MS |CNC|  TASK (6) |  OPCODE (8)  |          DEVICE (16)          |
 *                        +---+---+-----------+--------------+-------------------------------+
 *   pinAddr, octets 4-7   31                                        8 7                    0
 *                        +-------------------------------------------+----------------------+
 *   DEV, EXT             |               EDGE (24)                   |       PIN (8)        |
 *                        +-------------------------------------------+----------------------+
 *   SUP                  |                       sender, opaque                             |
 *                        +------------------------------------------------------------------+
 *   octets 8-63          payload, 0 to 56 octets, zero up to the end of the last flit
 *
 *   MS CNC  class                                   OPCODE  DEVICE              pinAddr
 *    0  0   DEV  ordinary packet to a device        0       index, FFFF = all   pin and edge
 *    0  1   CTL  control packet to a softswitch     any     index, FFFF = all   0 unless stated
 *    1  0   EXT  packet to an external device       0       external id         pin and edge
 *    1  1   SUP  packet to supervisor, mothership   any     0                   sender
 *
 * The payload's length is not on the wire: the receiver knows it from the target pin's message
 * type. Decode's payload is therefore everything that the flits hold.
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 */
#ifndef LEAT_POETS_WIRE_H
#define LEAT_POETS_WIRE_H

#include "leat_err.h"
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_POETS_FLIT_LEN = 16,
    LEAT_POETS_NFLIT_MAX = 4,
    LEAT_POETS_HEADER_LEN = 8,
    LEAT_POETS_PACKET_LEN_MAX = LEAT_POETS_FLIT_LEN * LEAT_POETS_NFLIT_MAX,
    LEAT_POETS_PAYLOAD_LEN_MAX = LEAT_POETS_PACKET_LEN_MAX - LEAT_POETS_HEADER_LEN,
    LEAT_POETS_TASK_MAX = 63,
    LEAT_POETS_DEVICE_ALL = 0xffff, /* every device of the thread */
    LEAT_POETS_DEVICE_MAX = 0xffff,
    LEAT_POETS_PIN_MAX = 0xff,
    LEAT_POETS_EDGE_MAX = 0xffffff,
};

/* The value is MS and CNC as on the wire. */
enum leat_poets_class {
    LEAT_POETS_CLASS_DEV = 0,
    LEAT_POETS_CLASS_CTL = 1,
    LEAT_POETS_CLASS_EXT = 2,
    LEAT_POETS_CLASS_SUP = 3,
};

/* 1.4. 01..EF belong to the application, F0..F9 are reserved; the codec carries them all. */
enum {
    LEAT_POETS_OP_NOP = 0x00,
    LEAT_POETS_OP_RESERVED = 0xf0, /* the first */
    LEAT_POETS_OP_HOLD = 0xf9,     /* ours (12.8) */
    LEAT_POETS_OP_IMPL = 0xfa,
    LEAT_POETS_OP_INSTR = 0xfb,
    LEAT_POETS_OP_LOG = 0xfc,
    LEAT_POETS_OP_BARRIER = 0xfd,
    LEAT_POETS_OP_STOP = 0xfe,
    LEAT_POETS_OP_KILL = 0xff,
};

/* Quirks of the original that are visible in a header (spec/poets.md, 6); bits of a mask. */
enum {
    /* D3: CTL/IMPL with CNC=0. Every decoder accepts it and reports it here. */
    LEAT_POETS_COMPAT_REPLY_CNC0 = 1,
    /* D1: DEV and EXT carry the pin in the edge field. No decoder can tell. */
    LEAT_POETS_COMPAT_HDR_PIN_AS_EDGE = 2,
};

/* The meaning of a packet. Fields are wider than on the wire, so that encode can refuse. */
struct leat_poets_packet {
    enum leat_poets_class packet_class;
    uint8_t compat; /* LEAT_POETS_COMPAT_...; each acts only on the packets it names */
    uint8_t task;   /* 6 bits */
    uint8_t opcode;
    uint8_t nflit;        /* 1..4, set by decode; encode takes the fewest for payload_len */
    uint16_t payload_len; /* 0..56; from decode 8, 24, 40 or 56 */
    uint16_t pin;         /* DEV, EXT: 8 bits */
    uint32_t device;      /* 16 bits; SUP: 0 */
    uint32_t edge;        /* DEV, EXT: 24 bits */
    uint32_t sender;      /* SUP: device index or hwAddr, as the opcode says; CTL: pinAddr */
    uint8_t payload[LEAT_POETS_PAYLOAD_LEN_MAX]; /* from decode: zero beyond payload_len */
};

/* How many flits a payload needs: 0-8 octets 1, 9-24 2, 25-40 3, 41-56 4. */
static inline unsigned leat_poets_nflit(size_t payload_len)
{
    return (unsigned)((LEAT_POETS_HEADER_LEN + payload_len - 1) / LEAT_POETS_FLIT_LEN + 1);
}

/*
 * `len` must be 16, 32, 48 or 64 (P_E_FLITS). On error *out is untouched and *fault_at (may be
 * NULL) is the offset of the error.
 */
leat_err leat_poets_packet_decode(const uint8_t *buf, size_t len, struct leat_poets_packet *out,
                                  size_t *fault_at);

/* Writes whole flits, *len octets, with a zero tail; or nothing and returns the error. */
leat_err leat_poets_packet_encode(const struct leat_poets_packet *packet, uint8_t *buf, size_t cap,
                                  size_t *len);

/* Copies a packet of `len` octets, at most 64, into a slot of 64, zero-padded. */
leat_err leat_poets_packet_extend(const uint8_t *buf, size_t len,
                                  uint8_t slot[LEAT_POETS_PACKET_LEN_MAX]);

/* The class of a swAddr, or an error if it has none. On error *out is untouched. */
leat_err leat_poets_swaddr_check(uint32_t swaddr, enum leat_poets_class *out);

/* Fields of the two words: the lowest bit << 8 | width. */
enum leat_poets_field {
    LEAT_POETS_FIELD_DEVICE = 0 << 8 | 16, /* of swAddr */
    LEAT_POETS_FIELD_OPCODE = 16 << 8 | 8,
    LEAT_POETS_FIELD_TASK = 24 << 8 | 6,
    LEAT_POETS_FIELD_CNC = 30 << 8 | 1,
    LEAT_POETS_FIELD_MS = 31 << 8 | 1,
    LEAT_POETS_FIELD_CLASS = 30 << 8 | 2, /* MS and CNC together */
    LEAT_POETS_FIELD_PIN = 0 << 8 | 8,    /* of pinAddr */
    LEAT_POETS_FIELD_EDGE = 8 << 8 | 24,
};

static inline uint32_t leat_poets_field_mask(enum leat_poets_field field)
{
    return (UINT32_C(1) << ((unsigned)field & 0xff)) - 1;
}

static inline uint32_t leat_poets_field_get(uint32_t word, enum leat_poets_field field)
{
    return word >> ((unsigned)field >> 8) & leat_poets_field_mask(field);
}

/* The word with one field replaced. No other bit changes: a value that is too wide loses its high
 * bits. */
static inline uint32_t leat_poets_field_set(uint32_t word, enum leat_poets_field field,
                                            uint32_t value)
{
    const unsigned lsb = (unsigned)field >> 8;
    const uint32_t mask = leat_poets_field_mask(field);
    return (word & ~(mask << lsb)) | (value & mask) << lsb;
}

#endif
