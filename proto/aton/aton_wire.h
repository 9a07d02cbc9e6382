/*
 * The ATON packet within leat: <leat/aton.h> has its meaning and its picture, this header the
 * fields and shapes that codecs and engines share.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ATON_WIRE_H
#define LEAT_ATON_WIRE_H

#include "leat_err.h"
#include <leat/aton.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The layout of the payload: `count` items of `flag_len + value_len` octets. */
struct leat_aton_shape {
    size_t count;
    uint8_t flag_len;   /* 1: a valid octet before the value (TREE) */
    uint8_t value_len;  /* octets, big-endian */
    uint8_t value_bits; /* of which these are sent */
};

/* Can this packet be sent? If so *shape is its payload's. A token passes with its AC alone. */
leat_err leat_aton_packet_check(const struct leat_aton_packet *packet,
                                struct leat_aton_shape *shape);

/* Item i < shape->count. `valid` is 0 or 1; it is 1 if the shape has no flags. */
uint64_t leat_aton_item_get(const uint8_t *payload, const struct leat_aton_shape *shape, size_t i,
                            unsigned *valid);
void leat_aton_item_put(uint8_t *payload, const struct leat_aton_shape *shape, size_t i,
                        unsigned valid, uint64_t value);

/*
 * The CRC of an image that ends with FLG at flg_at: the content of the four octets after it. Code
 * that changes an image in place (aton_visit.h) rewrites it with leat_aton_packet_seal.
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
    LEAT_ATON_AC_CRC_MASK = 0xE0, /* the part of AC in the CRCs: no station changes it */
    LEAT_ATON_CTL_ACTIVE = 15,
    LEAT_ATON_CTL_OPCODE = 11,
    LEAT_ATON_CTL_OPCODE_MASK = 15, /* of the shifted value */
    LEAT_ATON_CTL_WIDTH = 9,        /* codes 0, 1, 2 are 16, 32, 64 */
    LEAT_ATON_CTL_REGISTER = 3,
    LEAT_ATON_CTL_GROUP = 2,
    LEAT_ATON_CTL_ZERO = 3,
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
    const unsigned active = ctl >> LEAT_ATON_CTL_ACTIVE,
                   opcode = ctl >> LEAT_ATON_CTL_OPCODE & LEAT_ATON_CTL_OPCODE_MASK;
    const unsigned width = ctl >> LEAT_ATON_CTL_WIDTH & 3;
    if (ctl & LEAT_ATON_CTL_ZERO || (!active && ctl)) return LEAT_ERR_RESERVED;
    if (active && (opcode < LEAT_ATON_ADD || opcode > LEAT_ATON_TREE)) return LEAT_ERR_TYPE;
    if (width == 3) return LEAT_ERR_RANGE;
    out->active = (uint8_t)active;
    out->opcode = (uint8_t)opcode;
    out->width_bits = (uint8_t)(active ? 16u << width : 0);
    out->reg = ctl >> LEAT_ATON_CTL_REGISTER & LEAT_ATON_REGISTER_MAX;
    out->group = ctl >> LEAT_ATON_CTL_GROUP & 1;
    return LEAT_ERR_OK;
}

static inline uint16_t leat_aton_ctl_encode(const struct leat_aton_packet *p)
{
    const int width = p->width_bits >> 5; /* 16, 32, 64 to 0, 1, 2; 0 to 0 */
    return (uint16_t)(p->active << LEAT_ATON_CTL_ACTIVE | p->opcode << LEAT_ATON_CTL_OPCODE |
                      width << LEAT_ATON_CTL_WIDTH | p->reg << LEAT_ATON_CTL_REGISTER |
                      p->group << LEAT_ATON_CTL_GROUP);
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

/* DA of a group is its number. */
static inline bool leat_aton_region_is_valid(const struct leat_aton_packet *packet)
{
    return !packet->group || packet->da < LEAT_ATON_GROUPS_MAX;
}

/* opc 1..8: the data are Counter and two Variables, and no payload. */
static inline bool leat_aton_is_fold(const struct leat_aton_packet *packet)
{
    return packet->active && packet->opcode < LEAT_ATON_SORT;
}

/*
 * The shape that a head announces: active, opcode and width_bits must be valid; also uses counter,
 * param and (passive) payload_len. Errors are PARAM's.
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
