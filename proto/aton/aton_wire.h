/*
 * ATON packet: one command that goes once round a token ring and folds an operand of every
 * interface into its data (specs/aton.md). This is its octet image, the form of files, captures
 * and the live ring; aton_symbol.h has the form on the ring itself.
 *
 *    0     1        3      5      7                                   n-5   n-4
 *   +-----+--------+------+------+-----------------------------------+-----+---------+
 *   | AC  |  CTL   |  DA  |  SA  |  data                             | FLG | CRC-32  |
 *   +-----+--------+------+------+-----------------------------------+-----+---------+
 *
 *   AC    PPP T M RRR        priority, token, monitor, reservation
 *   CTL   active(1) opc(4) width(2) register(6) 000
 *   FLG   A C 0 0 A C 0 0    address recognised, copied, twice
 *
 *   data                     head                                payload
 *   opc 1..8                 Counter(16) Variable-1 Variable-2   -
 *   opc 9  SORT              Counter(16) PARAM(16) = 0           Counter values
 *   opc 10 BITCOUNT          Counter(16) PARAM(16) = c           W counters, (c+7)/8 octets each
 *   opc 11 TREE              Counter(16) PARAM(16) = H           H slots: octet 0 or 1, value
 *   passive                  length(16)                          that many octets
 *
 * Every number is big-endian, whatever its bit order on the ring; W is 16, 32 or 64. The CRC (IEEE
 * 802.3) takes T, M, RRR and FLG as 0, since stations on the way may change them.
 *
 * The head alone says how long the image is. Every image that decodes is canonical: it encodes to
 * the same octets. What is refused, and as what:
 *
 *   SHORT      the buffer ends before the image (fault: the end of the buffer)
 *   LENGTH     octets are left over (fault: the first of them)
 *   TYPE       opcode 0 or 12..15; T = 1: a token has no octet image
 *   RANGE      width code 3; Counter above 65,534; PARAM of BITCOUNT or TREE outside its limits;
 *              a BITCOUNT counter that does not fit c bits; a TREE valid octet above 1
 *   RESERVED   the zeros of CTL and FLG; all of CTL but `active` in a passive packet; PARAM of SORT
 *   CHECKSUM   CRC; the two copies of A C in FLG, which the CRC does not cover, differ
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ATON_WIRE_H
#define LEAT_ATON_WIRE_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATON_DA_ALL = 0xFFFF, /* the whole ring is the execution region */
    LEAT_ATON_INTERFACES_MAX = 65534,
    LEAT_ATON_REGISTER_MAX = 63,
    LEAT_ATON_COUNTER_BITS_MAX = 16, /* c: ceil(log2(n+1)) for the longest ring */
    LEAT_ATON_SLOTS_MAX = 17,        /* H: ceil(log2 n) + 1 for the longest ring */
    LEAT_ATON_OCTETS_MAX = 65535,    /* a passive packet's */
    LEAT_ATON_IMAGE_LEN_MIN = 14,    /* passive and empty */
    LEAT_ATON_IMAGE_LEN_MAX = 16 + LEAT_ATON_INTERFACES_MAX * 8, /* SORT, W = 64 */
};

enum leat_aton_opcode {
    LEAT_ATON_ADD = 1,
    LEAT_ATON_AND,
    LEAT_ATON_OR,
    LEAT_ATON_MAX,
    LEAT_ATON_MIN,
    LEAT_ATON_EQ,
    LEAT_ATON_LT,
    LEAT_ATON_LE,
    LEAT_ATON_SORT,
    LEAT_ATON_BITCOUNT,
    LEAT_ATON_TREE,
};

/*
 * The meaning of a packet. What its kind does not use is 0 after decoding; encoding refuses it in
 * CTL of a passive packet and in PARAM of SORT, and does not look at the rest.
 */
struct leat_aton_packet {
    uint8_t priority;    /* 3 bits */
    uint8_t token;       /* 1: a token, which has only an AC (aton_symbol.h) */
    uint8_t monitor;     /* 1: has passed the monitor station */
    uint8_t reservation; /* 3 bits */
    uint8_t active;      /* 0: passive */
    uint8_t opcode;      /* enum leat_aton_opcode */
    uint8_t width_bits;  /* W: 16, 32 or 64 */
    uint8_t reg;         /* operand register, 6 bits */
    uint8_t recognised;  /* A */
    uint8_t copied;      /* C */
    uint16_t da, sa;
    uint16_t counter;              /* interfaces that took part */
    uint16_t param;                /* opc 9..11 */
    uint64_t variable1, variable2; /* opc 1..8: W bits each */
    const uint8_t *payload;        /* as in the image; lent. Passive, opc 9..11 */
    size_t payload_len;            /* passive: `length` */
};

/* How the payload is divided: `count` items of `flag_len + value_len` octets. */
struct leat_aton_shape {
    size_t count;
    uint8_t flag_len;   /* 1: a valid octet before the value (TREE) */
    uint8_t value_len;  /* octets, big-endian */
    uint8_t value_bits; /* of which these are sent */
};

/*
 * Decodes one image of exactly `len` octets. On error *out is untouched and *fault_at (may be
 * NULL) tells where. out->payload is lent from buf.
 */
leat_err leat_aton_packet_decode(const uint8_t *buf, size_t len, struct leat_aton_packet *out,
                                 size_t *fault_at);

/* Writes *len octets, or nothing and says why. */
leat_err leat_aton_packet_encode(const struct leat_aton_packet *packet, uint8_t *buf, size_t cap,
                                 size_t *len);

/*
 * The length of the image that begins at buf, by its head alone: octets may follow it (padding of
 * a frame), or some of it may be missing (*image_len > len). SHORT if the head is not whole.
 */
leat_err leat_aton_packet_measure(const uint8_t *buf, size_t len, size_t *image_len,
                                  size_t *fault_at);

/* Can this packet be sent? If so *shape is its payload's. A token passes with its AC alone. */
leat_err leat_aton_packet_check(const struct leat_aton_packet *packet,
                                struct leat_aton_shape *shape);

/* Item i < shape->count. `valid` is 0 or 1, and 1 where the shape has no flags. */
uint64_t leat_aton_item_get(const uint8_t *payload, const struct leat_aton_shape *shape, size_t i,
                            unsigned *valid);
void leat_aton_item_put(uint8_t *payload, const struct leat_aton_shape *shape, size_t i,
                        unsigned valid, uint64_t value);

/*
 * The CRC of an image that ends with FLG at flg_at: what stands in the four octets behind it. Who
 * changes an image in place (aton_visit.h) writes it anew with leat_aton_packet_seal.
 */
uint32_t leat_aton_packet_crc(const uint8_t *buf, size_t flg_at);
void leat_aton_packet_seal(uint8_t *buf, size_t image_len);

/* Offsets in the octet image, and lengths. */
enum {
    LEAT_ATON_AC_AT = 0,
    LEAT_ATON_CTL_AT = 1,
    LEAT_ATON_DA_AT = 3,
    LEAT_ATON_SA_AT = 5,
    LEAT_ATON_COUNTER_AT = 7, /* passive: length */
    LEAT_ATON_PARAM_AT = 9,
    LEAT_ATON_VARIABLE_AT = 9,
    LEAT_ATON_PASSIVE_PAYLOAD_AT = 9,
    LEAT_ATON_LONG_PAYLOAD_AT = 11,
    LEAT_ATON_FLG_LEN = 1,
    LEAT_ATON_CRC_LEN = 4,
    LEAT_ATON_TRAILER_LEN = LEAT_ATON_FLG_LEN + LEAT_ATON_CRC_LEN,
};

/* ---- fields that both images share -------------------------------------------------------- */

/* The lowest bit of each field of AC and CTL; masks of FLG. */
enum {
    LEAT_ATON_AC_PRIORITY = 5,
    LEAT_ATON_AC_TOKEN = 4,
    LEAT_ATON_AC_MONITOR = 3,
    LEAT_ATON_AC_RESERVATION = 0,
    LEAT_ATON_AC_CRC_MASK = 0xE0, /* what the CRCs take of AC: no station changes it */
    LEAT_ATON_CTL_ACTIVE = 15,
    LEAT_ATON_CTL_OPCODE = 11,
    LEAT_ATON_CTL_WIDTH = 9, /* codes 0, 1, 2 are 16, 32, 64 */
    LEAT_ATON_CTL_REGISTER = 3,
    LEAT_ATON_CTL_ZERO = 7,
    LEAT_ATON_FLG_A = 0x88,
    LEAT_ATON_FLG_C = 0x44,
    LEAT_ATON_FLG_ZERO = 0x33,
};

static inline void leat_aton_ac_decode(uint8_t ac, struct leat_aton_packet *out)
{
    out->priority = ac >> LEAT_ATON_AC_PRIORITY;
    out->token = ac >> LEAT_ATON_AC_TOKEN & 1;
    out->monitor = ac >> LEAT_ATON_AC_MONITOR & 1;
    out->reservation = ac >> LEAT_ATON_AC_RESERVATION & 7;
}

static inline uint8_t leat_aton_ac_encode(const struct leat_aton_packet *p)
{
    return (uint8_t)(p->priority << LEAT_ATON_AC_PRIORITY | p->token << LEAT_ATON_AC_TOKEN |
                     p->monitor << LEAT_ATON_AC_MONITOR |
                     p->reservation << LEAT_ATON_AC_RESERVATION);
}

static inline leat_err leat_aton_ctl_decode(uint16_t ctl, struct leat_aton_packet *out)
{
    const unsigned active = ctl >> LEAT_ATON_CTL_ACTIVE, opcode = ctl >> LEAT_ATON_CTL_OPCODE & 15;
    const unsigned width = ctl >> LEAT_ATON_CTL_WIDTH & 3;
    if (ctl & LEAT_ATON_CTL_ZERO || (!active && ctl)) return LEAT_ERR_RESERVED;
    if (active && (opcode < LEAT_ATON_ADD || opcode > LEAT_ATON_TREE)) return LEAT_ERR_TYPE;
    if (width == 3) return LEAT_ERR_RANGE;
    out->active = (uint8_t)active;
    out->opcode = (uint8_t)opcode;
    out->width_bits = (uint8_t)(active ? 16u << width : 0);
    out->reg = ctl >> LEAT_ATON_CTL_REGISTER & LEAT_ATON_REGISTER_MAX;
    return LEAT_ERR_OK;
}

static inline uint16_t leat_aton_ctl_encode(const struct leat_aton_packet *p)
{
    const int width = p->width_bits >> 5; /* 16, 32, 64 to 0, 1, 2; 0 to 0 */
    return (uint16_t)(p->active << LEAT_ATON_CTL_ACTIVE | p->opcode << LEAT_ATON_CTL_OPCODE |
                      width << LEAT_ATON_CTL_WIDTH | p->reg << LEAT_ATON_CTL_REGISTER);
}

static inline leat_err leat_aton_flg_decode(uint8_t flg, struct leat_aton_packet *out)
{
    if (flg & LEAT_ATON_FLG_ZERO) return LEAT_ERR_RESERVED;
    if (flg >> 4 != (flg & 15)) return LEAT_ERR_CHECKSUM; /* the second copy is the only check */
    out->recognised = (flg & LEAT_ATON_FLG_A) != 0;
    out->copied = (flg & LEAT_ATON_FLG_C) != 0;
    return LEAT_ERR_OK;
}

static inline uint8_t leat_aton_flg_encode(const struct leat_aton_packet *p)
{
    return (uint8_t)((p->recognised ? LEAT_ATON_FLG_A : 0) | (p->copied ? LEAT_ATON_FLG_C : 0));
}

/* opc 1..8: the data are Counter and two Variables, and no payload. */
static inline bool leat_aton_is_fold(const struct leat_aton_packet *packet)
{
    return packet->active && packet->opcode < LEAT_ATON_SORT;
}

/*
 * The shape that a head announces: active, opcode and width_bits must be sound; looks also at
 * counter, param and (passive) payload_len. Errors are PARAM's.
 */
static inline leat_err leat_aton_packet_shape(const struct leat_aton_packet *p,
                                              struct leat_aton_shape *shape)
{
    const uint8_t width_len = p->width_bits / 8;
    if (leat_aton_is_fold(p)) {
        *shape = (struct leat_aton_shape){ 0 };
    } else if (!p->active) {
        *shape = (struct leat_aton_shape){ p->payload_len, 0, 1, 8 };
    } else if (p->opcode == LEAT_ATON_SORT) {
        if (p->param != 0) return LEAT_ERR_RESERVED;
        *shape = (struct leat_aton_shape){ p->counter, 0, width_len, p->width_bits };
    } else if (p->opcode == LEAT_ATON_BITCOUNT) {
        if (p->param < 1 || p->param > LEAT_ATON_COUNTER_BITS_MAX) return LEAT_ERR_RANGE;
        *shape = (struct leat_aton_shape){ p->width_bits, 0, (uint8_t)((p->param + 7) / 8),
                                           (uint8_t)p->param };
    } else {
        if (p->param < 1 || p->param > LEAT_ATON_SLOTS_MAX) return LEAT_ERR_RANGE;
        *shape = (struct leat_aton_shape){ p->param, 1, width_len, p->width_bits };
    }
    return LEAT_ERR_OK;
}

/* Octets of one item and of the whole payload. */
static inline size_t leat_aton_item_len(const struct leat_aton_shape *shape)
{
    return (size_t)shape->flag_len + shape->value_len;
}

static inline size_t leat_aton_shape_len(const struct leat_aton_shape *shape)
{
    return shape->count * leat_aton_item_len(shape);
}

#endif
