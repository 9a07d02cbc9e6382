#include "aton_wire.h"
#include "aton_visit.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/crc.h>
#include <string.h>

/* ---- payload ------------------------------------------------------------------------------ */

static uint64_t get_be(const uint8_t *p, unsigned len)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < len; i++)
        value = value << 8 | p[i];
    return value;
}

static void put_be(uint8_t *p, unsigned len, uint64_t value)
{
    for (unsigned i = len; i-- > 0; value >>= 8)
        p[i] = (uint8_t)value;
}

uint64_t leat_aton_item_get(const uint8_t *payload, const struct leat_aton_shape *s, size_t i,
                            unsigned *valid)
{
    const uint8_t *item = payload + i * leat_aton_item_len(s);
    *valid = s->flag_len ? item[0] : 1;
    return get_be(item + s->flag_len, s->value_len);
}

void leat_aton_item_put(uint8_t *payload, const struct leat_aton_shape *s, size_t i, unsigned valid,
                        uint64_t value)
{
    uint8_t *item = payload + i * leat_aton_item_len(s);
    if (s->flag_len) item[0] = (uint8_t)valid;
    put_be(item + s->flag_len, s->value_len, value);
}

/* Whole octets hold more bits than are sent: the rest must be zero. *bad is the first bad item. */
static leat_err payload_check(const uint8_t *payload, const struct leat_aton_shape *s, size_t *bad)
{
    if (!s->flag_len && s->value_bits == 8 * s->value_len) return LEAT_ERR_OK;
    for (size_t i = 0; i < s->count; i++) {
        unsigned valid;
        const uint64_t value = leat_aton_item_get(payload, s, i, &valid);
        if (valid <= 1 && leat_fits(value, s->value_bits)) continue;
        *bad = i;
        return LEAT_ERR_RANGE;
    }
    return LEAT_ERR_OK;
}

/* Where the head ends and the payload, if any, begins. */
static size_t payload_at(const struct leat_aton_packet *p)
{
    if (!p->active) return LEAT_ATON_PASSIVE_PAYLOAD_AT;
    return leat_aton_is_fold(p) ? LEAT_ATON_VARIABLE_AT + p->width_bits / 4u
                                : LEAT_ATON_LONG_PAYLOAD_AT;
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* The head of the data; p has the fields before it. *image_len is the announced length. */
static leat_err data_head_decode(const uint8_t *buf, size_t len, struct leat_aton_packet *p,
                                 struct leat_aton_shape *shape, size_t *image_len, size_t *fault_at)
{
    const size_t head_len = payload_at(p);
    if (len < head_len) return leat_fault(LEAT_ERR_SHORT, len, fault_at);

    const uint16_t first = leat_get_be16(buf + LEAT_ATON_COUNTER_AT);
    if (!p->active) {
        p->payload_len = first;
    } else {
        p->counter = first;
        if (first > LEAT_ATON_INTERFACES_MAX)
            return leat_fault(LEAT_ERR_RANGE, LEAT_ATON_COUNTER_AT, fault_at);
        if (!leat_aton_is_fold(p)) p->param = leat_get_be16(buf + LEAT_ATON_PARAM_AT);
    }
    const leat_err err = leat_aton_packet_shape(p, shape);
    if (err) return leat_fault(err, LEAT_ATON_PARAM_AT, fault_at);
    p->payload_len = leat_aton_shape_len(shape);
    p->payload = p->payload_len ? buf + head_len : NULL;
    *image_len = head_len + p->payload_len + LEAT_ATON_TRAILER_LEN;
    return LEAT_ERR_OK;
}

static leat_err head_decode(const uint8_t *buf, size_t len, struct leat_aton_packet *p,
                            struct leat_aton_shape *shape, size_t *image_len, size_t *fault_at)
{
    if (len < LEAT_ATON_COUNTER_AT) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    leat_aton_ac_decode(buf[LEAT_ATON_AC_AT], p);
    if (p->token) return leat_fault(LEAT_ERR_TYPE, LEAT_ATON_AC_AT, fault_at);
    const leat_err err = leat_aton_ctl_decode(leat_get_be16(buf + LEAT_ATON_CTL_AT), p);
    if (err) return leat_fault(err, LEAT_ATON_CTL_AT, fault_at);
    p->da = leat_get_be16(buf + LEAT_ATON_DA_AT);
    if (!leat_aton_region_is_valid(p)) return leat_fault(LEAT_ERR_RANGE, LEAT_ATON_DA_AT, fault_at);
    p->sa = leat_get_be16(buf + LEAT_ATON_SA_AT);
    return data_head_decode(buf, len, p, shape, image_len, fault_at);
}

leat_err leat_aton_packet_measure(const uint8_t *buf, size_t len, size_t *image_len,
                                  size_t *fault_at)
{
    struct leat_aton_packet p = { 0 };
    struct leat_aton_shape shape;
    return head_decode(buf, len, &p, &shape, image_len, fault_at);
}

/*
 * Over AC to FLG of an image, with T, M, RRR and FLG taken as 0. Only the priority remains of AC:
 * the eight CRCs of that one octet are in a table, so the rest needs no copy, and mostly one
 * call.
 */
uint32_t leat_aton_packet_crc(const uint8_t *buf, size_t flg_at)
{
    static const uint32_t crc_of_priority[8] = { 0xd202ef8d, 0xe96ccf45, 0xa4deae1d, 0x9fb08ed5,
                                                 0x3fba6cad, 0x04d44c65, 0x49662d3d, 0x72080df5 };
    const uint32_t crc = crc_of_priority[buf[LEAT_ATON_AC_AT] >> LEAT_ATON_AC_PRIORITY];
    const uint8_t flg = 0;
    if (buf[flg_at] == flg)
        return leat_crc32(crc, buf + LEAT_ATON_CTL_AT,
                          flg_at + LEAT_ATON_FLG_LEN - LEAT_ATON_CTL_AT);
    return leat_crc32(leat_crc32(crc, buf + LEAT_ATON_CTL_AT, flg_at - LEAT_ATON_CTL_AT), &flg,
                      LEAT_ATON_FLG_LEN);
}

void leat_aton_packet_seal(uint8_t *buf, size_t image_len)
{
    const size_t crc_at = image_len - LEAT_ATON_CRC_LEN;
    leat_put_be32(buf + crc_at, leat_aton_packet_crc(buf, crc_at - LEAT_ATON_FLG_LEN));
}

leat_err leat_aton_packet_decode(const uint8_t *buf, size_t len, struct leat_aton_packet *out,
                                 size_t *fault_at)
{
    struct leat_aton_packet p = { 0 };
    struct leat_aton_shape shape;
    size_t image_len, bad = 0;
    leat_err err = head_decode(buf, len, &p, &shape, &image_len, fault_at);
    if (err) return err;
    if (len < image_len) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > image_len) return leat_fault(LEAT_ERR_LENGTH, image_len, fault_at);

    const size_t flg_at = image_len - LEAT_ATON_TRAILER_LEN, crc_at = image_len - LEAT_ATON_CRC_LEN;
    if (leat_aton_packet_crc(buf, flg_at) != leat_get_be32(buf + crc_at))
        return leat_fault(LEAT_ERR_CHECKSUM, crc_at, fault_at);
    err = payload_check(p.payload, &shape, &bad);
    if (err)
        return leat_fault(err, LEAT_ATON_LONG_PAYLOAD_AT + bad * leat_aton_item_len(&shape),
                          fault_at);
    err = leat_aton_flg_decode(buf[flg_at], &p);
    if (err) return leat_fault(err, flg_at, fault_at);

    if (leat_aton_is_fold(&p)) {
        p.variable1 = leat_aton_value_get(buf, LEAT_ATON_VARIABLE_AT, p.width_bits);
        p.variable2 = leat_aton_value_get(buf, LEAT_ATON_VARIABLE_AT + p.width_bits / 8,
                                          p.width_bits);
    }
    *out = p;
    return LEAT_ERR_OK;
}

/* ---- encoding ----------------------------------------------------------------------------- */

static bool ac_fits(const struct leat_aton_packet *p)
{
    return p->priority <= 7 && p->token <= 1 && p->monitor <= 1 && p->reservation <= 7;
}

static leat_err active_check(const struct leat_aton_packet *p)
{
    const unsigned w = p->width_bits;
    if (p->opcode < LEAT_ATON_ADD || p->opcode > LEAT_ATON_TREE) return LEAT_ERR_TYPE;
    if (w != 16 && w != 32 && w != 64) return LEAT_ERR_RANGE;
    if (p->reg > LEAT_ATON_REGISTER_MAX || p->group > 1) return LEAT_ERR_RANGE;
    if (!leat_aton_region_is_valid(p)) return LEAT_ERR_RANGE;
    if (p->counter > LEAT_ATON_INTERFACES_MAX) return LEAT_ERR_RANGE;
    if (!leat_aton_is_fold(p)) return LEAT_ERR_OK;
    return leat_fits(p->variable1, w) && leat_fits(p->variable2, w) ? LEAT_ERR_OK : LEAT_ERR_RANGE;
}

static leat_err passive_check(const struct leat_aton_packet *p)
{
    if (p->opcode || p->width_bits || p->reg || p->group) return LEAT_ERR_RESERVED;
    return p->payload_len <= LEAT_ATON_OCTETS_MAX ? LEAT_ERR_OK : LEAT_ERR_LENGTH;
}

leat_err leat_aton_packet_check(const struct leat_aton_packet *p, struct leat_aton_shape *shape)
{
    size_t bad;
    if (!ac_fits(p)) return LEAT_ERR_RANGE;
    *shape = (struct leat_aton_shape){ 0 };
    if (p->token) return LEAT_ERR_OK;
    if (p->active > 1 || p->recognised > 1 || p->copied > 1) return LEAT_ERR_RANGE;
    leat_err err = p->active ? active_check(p) : passive_check(p);
    if (!err) err = leat_aton_packet_shape(p, shape);
    if (err) return err;
    if (p->payload_len != leat_aton_shape_len(shape)) return LEAT_ERR_LENGTH;
    return payload_check(p->payload, shape, &bad);
}

static void head_encode(const struct leat_aton_packet *p, uint8_t *buf)
{
    buf[LEAT_ATON_AC_AT] = leat_aton_ac_encode(p) & LEAT_ATON_AC_CRC_MASK;
    leat_put_be16(buf + LEAT_ATON_CTL_AT, leat_aton_ctl_encode(p));
    leat_put_be16(buf + LEAT_ATON_DA_AT, p->da);
    leat_put_be16(buf + LEAT_ATON_SA_AT, p->sa);
    leat_put_be16(buf + LEAT_ATON_COUNTER_AT, p->active ? p->counter : (uint16_t)p->payload_len);
    if (leat_aton_is_fold(p)) {
        leat_aton_value_put(buf, LEAT_ATON_VARIABLE_AT, p->width_bits, p->variable1);
        leat_aton_value_put(buf, LEAT_ATON_VARIABLE_AT + p->width_bits / 8, p->width_bits,
                            p->variable2);
    } else if (p->active) {
        leat_put_be16(buf + LEAT_ATON_PARAM_AT, p->param);
    }
}

leat_err leat_aton_packet_encode(const struct leat_aton_packet *p, uint8_t *buf, size_t cap,
                                 size_t *len)
{
    struct leat_aton_shape shape;
    const leat_err err = leat_aton_packet_check(p, &shape);
    if (err) return err;
    if (p->token) return LEAT_ERR_TYPE;
    const size_t head_len = payload_at(p);
    const size_t flg_at = head_len + p->payload_len, crc_at = flg_at + LEAT_ATON_FLG_LEN;
    if (cap < crc_at + LEAT_ATON_CRC_LEN) return LEAT_ERR_SPACE;

    head_encode(p, buf);
    if (p->payload_len) memcpy(buf + head_len, p->payload, p->payload_len);
    buf[flg_at] = 0;
    leat_put_be32(buf + crc_at, leat_crc32(0, buf, crc_at));
    /* Fields that the CRC takes as 0 come last. */
    buf[LEAT_ATON_AC_AT] = leat_aton_ac_encode(p);
    buf[flg_at] = leat_aton_flg_encode(p);
    *len = crc_at + LEAT_ATON_CRC_LEN;
    return LEAT_ERR_OK;
}
