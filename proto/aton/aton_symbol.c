#include "aton_symbol.h"
#include "aton_interface_parts.h"
#include <string.h>

/* Offsets of fields at the same place in every packet, and lengths, in symbols. */
enum {
    AC_AT = 8,
    CTL_AT = 16,
    DA_AT = 32,
    COVERED_AT = CTL_AT, /* from here to FLG the CRC covers all bits unchanged */
    DATA_AT = 64,
    PARAM_AT = 80,
};

enum order { MSB_FIRST, LSB_FIRST };

static enum order variable1_order(const struct leat_aton_packet *p)
{
    /* A carry moves up; a comparison is decided from the top. */
    return p->opcode <= LEAT_ATON_OR ? LSB_FIRST : MSB_FIRST;
}

static enum order item_order(const struct leat_aton_packet *p)
{
    return p->active && p->opcode == LEAT_ATON_BITCOUNT ? LSB_FIRST : MSB_FIRST;
}

/* Symbols from SD to the end of the data's head: everything but payload and trailer. */
static size_t payload_at(const struct leat_aton_packet *p)
{
    if (!p->active) return DATA_AT + 16;
    return leat_aton_is_fold(p) ? DATA_AT + 16 + 2u * p->width_bits : DATA_AT + 32;
}

static size_t payload_symbols(const struct leat_aton_shape *s)
{
    return s->count * (size_t)(s->flag_len + s->value_bits);
}

/* ---- CRC ---------------------------------------------------------------------------------- */

/* Over the symbols of a packet whose FLG begins at flg_at: all of them 0 or 1. */
static uint32_t serial_crc(const uint8_t *symbols, size_t flg_at)
{
    uint32_t crc = LEAT_ATON_CRC_START;
    for (unsigned i = 0; i < 8; i++)
        crc = leat_aton_crc_bit(crc, symbols[AC_AT + i] & (LEAT_ATON_AC_CRC_MASK >> (7 - i)));
    for (size_t i = COVERED_AT; i < flg_at; i++)
        crc = leat_aton_crc_bit(crc, symbols[i]);
    for (unsigned i = 0; i < ATON_FLG_LEN; i++)
        crc = leat_aton_crc_bit(crc, 0);
    return ~crc;
}

/* ---- encoding ----------------------------------------------------------------------------- */

leat_err leat_aton_frame_measure(const struct leat_aton_frame *frame, size_t *symbol_count)
{
    struct leat_aton_shape shape;
    const leat_err err = leat_aton_packet_check(&frame->packet, &shape);
    if (err) return err;
    if (frame->intermediate > 1 || frame->error > 1) return LEAT_ERR_RANGE;
    *symbol_count = frame->packet.token
                        ? LEAT_ATON_TOKEN_SYMBOLS
                        : payload_at(&frame->packet) + payload_symbols(&shape) + ATON_TRAILER_LEN;
    return LEAT_ERR_OK;
}

/* Each returns where the next symbol goes. */
static uint8_t *put(uint8_t *to, uint64_t value, unsigned bits, enum order order)
{
    for (unsigned i = 0; i < bits; i++)
        *to++ = value >> (order == LSB_FIRST ? i : bits - 1 - i) & 1;
    return to;
}

static uint8_t *put_payload(uint8_t *to, const struct leat_aton_packet *p)
{
    struct leat_aton_shape shape;
    if (leat_aton_packet_shape(p, &shape) != LEAT_ERR_OK) return to; /* measured before: valid */
    const enum order order = item_order(p);
    for (size_t i = 0; i < shape.count; i++) {
        unsigned valid;
        const uint64_t value = leat_aton_item_get(p->payload, &shape, i, &valid);
        to = put(to, valid, shape.flag_len, MSB_FIRST);
        to = put(to, value, shape.value_bits, order);
    }
    return to;
}

static uint8_t *put_data(uint8_t *to, const struct leat_aton_packet *p)
{
    if (!p->active) {
        to = put(to, p->payload_len, 16, MSB_FIRST);
        return put_payload(to, p);
    }
    to = put(to, p->counter, 16, LSB_FIRST);
    if (leat_aton_is_fold(p)) {
        to = put(to, p->variable1, p->width_bits, variable1_order(p));
        return put(to, p->variable2, p->width_bits, LSB_FIRST);
    }
    to = put(to, p->param, 16, MSB_FIRST);
    return put_payload(to, p);
}

leat_err leat_aton_frame_encode(const struct leat_aton_frame *frame, uint8_t *symbols, size_t cap,
                                size_t *count)
{
    const struct leat_aton_packet *p = &frame->packet;
    size_t need;
    const leat_err err = leat_aton_frame_measure(frame, &need);
    if (err) return err;
    if (cap < need) return LEAT_ERR_SPACE;

    memcpy(symbols, aton_starting, sizeof aton_starting);
    uint8_t *to = put(symbols + AC_AT, leat_aton_ac_encode(p), 8, MSB_FIRST);
    if (!p->token) {
        to = put(to, leat_aton_ctl_encode(p), 16, MSB_FIRST);
        to = put(to, p->da, 16, MSB_FIRST);
        to = put(to, p->sa, 16, MSB_FIRST);
        to = put_data(to, p);
        const uint32_t crc = serial_crc(symbols, (size_t)(to - symbols));
        to = put(to, leat_aton_flg_encode(p), ATON_FLG_LEN, MSB_FIRST);
        to = put(to, crc, ATON_CRC_LEN, LSB_FIRST);
    }
    memcpy(to, aton_ending, ATON_ED_FIXED_LEN);
    to[ATON_ED_FIXED_LEN] = frame->intermediate;
    to[ATON_ED_FIXED_LEN + 1] = frame->error;
    *count = need;
    return LEAT_ERR_OK;
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* Reads at a symbol; the first error stops it, and then every number read is 0. */
struct reader {
    const uint8_t *symbols;
    size_t count, at;
    leat_err err;
    size_t fault;
};

static void blame(struct reader *r, leat_err err, size_t at)
{
    if (r->err || !err) return;
    r->err = err;
    r->fault = at;
}

static uint64_t take(struct reader *r, unsigned bits, enum order order)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bits; i++) {
        if (r->at >= r->count) blame(r, LEAT_ERR_SHORT, r->count);
        if (!r->err && r->symbols[r->at] > 1) blame(r, LEAT_ERR_RANGE, r->at);
        if (r->err) return 0;
        value |= (uint64_t)r->symbols[r->at++] << (order == LSB_FIRST ? i : bits - 1 - i);
    }
    return value;
}

static void skip(struct reader *r, size_t bits)
{
    for (size_t i = 0; i < bits && !r->err; i++)
        (void)take(r, 1, MSB_FIRST);
}

static void expect(struct reader *r, const uint8_t *pattern, size_t len)
{
    for (size_t i = 0; i < len && !r->err; i++, r->at++) {
        if (r->at >= r->count)
            blame(r, LEAT_ERR_SHORT, r->count);
        else if (r->symbols[r->at] != pattern[i])
            blame(r, LEAT_ERR_RANGE, r->at);
    }
}

static void take_ending(struct reader *r, struct leat_aton_frame *frame)
{
    expect(r, aton_ending, ATON_ED_FIXED_LEN);
    frame->intermediate = (uint8_t)take(r, 1, MSB_FIRST);
    frame->error = (uint8_t)take(r, 1, MSB_FIRST);
    if (r->at < r->count) blame(r, LEAT_ERR_LENGTH, r->at);
}

/* CTL to the end of the data's head. */
static void take_head(struct reader *r, struct leat_aton_packet *p, struct leat_aton_shape *shape)
{
    blame(r, leat_aton_ctl_decode((uint16_t)take(r, 16, MSB_FIRST), p), CTL_AT);
    p->da = (uint16_t)take(r, 16, MSB_FIRST);
    if (!r->err && !leat_aton_region_is_valid(p)) blame(r, LEAT_ERR_RANGE, DA_AT);
    p->sa = (uint16_t)take(r, 16, MSB_FIRST);
    if (!p->active) {
        p->payload_len = take(r, 16, MSB_FIRST);
    } else {
        p->counter = (uint16_t)take(r, 16, LSB_FIRST);
        if (p->counter > LEAT_ATON_INTERFACES_MAX) blame(r, LEAT_ERR_RANGE, DATA_AT);
        if (leat_aton_is_fold(p)) {
            p->variable1 = take(r, p->width_bits, variable1_order(p));
            p->variable2 = take(r, p->width_bits, LSB_FIRST);
        } else {
            p->param = (uint16_t)take(r, 16, MSB_FIRST);
        }
    }
    if (!r->err) blame(r, leat_aton_packet_shape(p, shape), PARAM_AT);
}

static void take_trailer(struct reader *r, struct leat_aton_frame *frame)
{
    const size_t flg_at = r->at, crc_at = flg_at + ATON_FLG_LEN;
    const uint8_t flg = (uint8_t)take(r, ATON_FLG_LEN, MSB_FIRST);
    const uint32_t crc = (uint32_t)take(r, ATON_CRC_LEN, LSB_FIRST);
    take_ending(r, frame);
    if (!r->err && serial_crc(r->symbols, flg_at) != crc) blame(r, LEAT_ERR_CHECKSUM, crc_at);
    if (!r->err) blame(r, leat_aton_flg_decode(flg, &frame->packet), flg_at);
}

static void take_payload(struct reader *r, const struct leat_aton_packet *p,
                         const struct leat_aton_shape *shape, uint8_t *payload)
{
    const enum order order = item_order(p);
    for (size_t i = 0; i < shape->count; i++) {
        const unsigned valid = (unsigned)take(r, shape->flag_len, MSB_FIRST);
        leat_aton_item_put(payload, shape, i, valid, take(r, shape->value_bits, order));
    }
}

static void take_packet(struct reader *r, uint8_t *payload, size_t payload_cap,
                        struct leat_aton_frame *frame)
{
    struct leat_aton_packet *p = &frame->packet;
    struct leat_aton_shape shape = { 0 };
    take_head(r, p, &shape);
    struct reader again = *r; /* nothing is stored before the whole frame is known to be valid */
    skip(r, payload_symbols(&shape));
    take_trailer(r, frame);
    p->payload_len = leat_aton_shape_len(&shape);
    if (p->payload_len > payload_cap) blame(r, LEAT_ERR_SPACE, again.at);
    if (r->err || !p->payload_len) return;
    take_payload(&again, p, &shape, payload);
    p->payload = payload;
}

leat_err leat_aton_frame_length(const uint8_t *symbols, size_t count, size_t *symbol_count,
                                size_t *fault_at)
{
    struct reader r = { symbols, count, 0, LEAT_ERR_OK, 0 };
    struct leat_aton_packet p = { 0 };
    struct leat_aton_shape shape = { 0 };
    expect(&r, aton_starting, sizeof aton_starting);
    leat_aton_ac_decode((uint8_t)take(&r, 8, MSB_FIRST), &p);
    if (!p.token) take_head(&r, &p, &shape);
    if (r.err) {
        if (fault_at) *fault_at = r.fault;
        return r.err;
    }
    *symbol_count = p.token ? LEAT_ATON_TOKEN_SYMBOLS
                            : payload_at(&p) + payload_symbols(&shape) + ATON_TRAILER_LEN;
    return LEAT_ERR_OK;
}

leat_err leat_aton_frame_decode(const uint8_t *symbols, size_t count, uint8_t *payload,
                                size_t payload_cap, struct leat_aton_frame *out, size_t *fault_at)
{
    struct reader r = { symbols, count, 0, LEAT_ERR_OK, 0 };
    struct leat_aton_frame frame = { 0 };
    expect(&r, aton_starting, sizeof aton_starting);
    leat_aton_ac_decode((uint8_t)take(&r, 8, MSB_FIRST), &frame.packet);
    if (frame.packet.token)
        take_ending(&r, &frame);
    else
        take_packet(&r, payload, payload_cap, &frame);
    if (r.err) {
        if (fault_at) *fault_at = r.fault;
        return r.err;
    }
    *out = frame;
    return LEAT_ERR_OK;
}
