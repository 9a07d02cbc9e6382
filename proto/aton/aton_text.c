#include "aton_text.h"
#include "aton_image.h"
#include "aton_live.h"
#include "aton_wire.h"
#include "leat_bytes.h"
#include <string.h>

enum { LINK_TYPE = 148, SERIAL_LINK_TYPE = 152 }; /* spec/carriage.md: USER1 and USER5 */
enum { FLG_FROM_END = 5, CRC_FROM_END = 4 };
enum { AC_AT = 0, CTL_AT = 1, DA_AT = 3, SA_AT = 5, DATA_AT = 7, PARAM_AT = 9, PAYLOAD_AT = 11 };
enum { A = 2, C = 1 };

static const struct leat_name opcode_names[] = {
    { LEAT_ATON_ADD, "ADD" },   { LEAT_ATON_AND, "AND" },
    { LEAT_ATON_OR, "OR" },     { LEAT_ATON_MAX, "MAX" },
    { LEAT_ATON_MIN, "MIN" },   { LEAT_ATON_EQ, "EQ" },
    { LEAT_ATON_LT, "LT" },     { LEAT_ATON_LE, "LE" },
    { LEAT_ATON_SORT, "SORT" }, { LEAT_ATON_BITCOUNT, "BITCOUNT" },
    { LEAT_ATON_TREE, "TREE" }, { 0, NULL },
};

static const struct leat_name flag_names[] = { { A, "A" }, { C, "C" }, { 0, NULL } };

/* Where a field of the octet image is. In the serial image SD precedes AC, and eight symbols are
 * two octets. */
static size_t place(bool serial, size_t at)
{
    return serial ? 2 + 2 * at : at;
}

static void walk_ac(struct leat_fields *f, struct leat_aton_packet *p, bool serial)
{
    p->priority = (uint8_t)leat_fields_uint(f, "priority", place(serial, AC_AT), 3, p->priority);
    p->token = leat_fields_flag(f, "token", place(serial, AC_AT), p->token);
    if (p->token && !serial)
        leat_fields_refuse(f, LEAT_ERR_TYPE, "token",
                           "a token exists only as symbols on the ring, expected false");
    p->monitor = leat_fields_flag(f, "monitor", place(serial, AC_AT), p->monitor);
    p->reservation = (uint8_t)leat_fields_uint(f, "reservation", place(serial, AC_AT), 3,
                                               p->reservation);
}

static void walk_ctl(struct leat_fields *f, struct leat_aton_packet *p, bool serial)
{
    p->active = leat_fields_flag(f, "active", place(serial, CTL_AT), p->active);
    if (!p->active) {
        p->opcode = p->width_bits = p->reg = p->group = 0;
        return;
    }
    p->opcode = (uint8_t)leat_fields_enum(f, "opcode", place(serial, CTL_AT), 4, opcode_names,
                                          p->opcode);
    if (!leat_name_of(opcode_names, p->opcode))
        leat_fields_refuse(f, LEAT_ERR_TYPE, "opcode", "expected 1 (ADD) .. 11 (TREE)");
    p->width_bits = (uint8_t)leat_fields_uint(f, "width", place(serial, CTL_AT), 8, p->width_bits);
    if (p->width_bits != 16 && p->width_bits != 32 && p->width_bits != 64)
        leat_fields_refuse(f, LEAT_ERR_RANGE, "width", "expected 16, 32 or 64");
    p->reg = (uint8_t)leat_fields_uint(f, "register", place(serial, CTL_AT), 6, p->reg);
    p->group = leat_fields_flag(f, "group", place(serial, CTL_AT), p->group);
}

/* The initial values of a sender (spec/aton.md, "Commands"), with its own operand as v. */
static void start(struct leat_aton_packet *p)
{
    p->counter = 1;
    if (p->opcode == LEAT_ATON_MAX || p->opcode == LEAT_ATON_MIN) p->variable2 = p->sa;
    if (p->opcode == LEAT_ATON_EQ || p->opcode == LEAT_ATON_LE) p->variable2 = 1;
    if (p->opcode == LEAT_ATON_BITCOUNT) p->param = LEAT_ATON_COUNTER_BITS_MAX; /* any ring */
    if (p->opcode == LEAT_ATON_TREE) p->param = 1;
}

/* ---- payloads ----------------------------------------------------------------------------- */

static uint64_t walk_item(struct leat_fields *f, const struct leat_aton_shape *s, size_t at,
                          unsigned *valid, uint64_t value)
{
    if (!s->flag_len) return leat_fields_uint(f, NULL, at, s->value_bits, value);
    if (!leat_fields_open(f, NULL, at)) return value;
    *valid = leat_fields_flag(f, "valid", at, *valid);
    value = leat_fields_uint(f, "value", at + s->flag_len, s->value_bits, value);
    leat_fields_close(f);
    return value;
}

/* Reading: zeros to be filled in, in the arena. */
static uint8_t *blank_payload(struct leat_fields *f, const struct leat_aton_shape *s,
                              struct leat_aton_packet *p)
{
    if (f->err) return NULL;
    p->payload_len = leat_aton_shape_len(s);
    uint8_t *payload = leat_arena_take_octets(f->arena, p->payload_len);
    p->payload = payload;
    if (payload)
        memset(payload, 0, p->payload_len);
    else
        leat_fields_refuse(f, LEAT_ERR_MEMORY, NULL, "too many items");
    return payload;
}

/* Item i. In the serial image it has no more symbols than bits. */
static size_t item_at(const struct leat_aton_shape *s, size_t i, bool serial)
{
    const size_t symbols = s->flag_len + (size_t)s->value_bits;
    return serial ? place(true, PAYLOAD_AT) + i * symbols / 4
                  : PAYLOAD_AT + i * leat_aton_item_len(s);
}

/*
 * *length is the field of the head that gives the number of items, `head` its name; NULL: one per
 * bit of W. If the user writes both, they must agree.
 */
static void walk_list(struct leat_fields *f, const char *name, struct leat_aton_packet *p,
                      const char *head, uint16_t *length, size_t max, bool serial)
{
    const bool reading = leat_fields_reading(f), written = leat_fields_has(f, name);
    const bool both = reading && written && length && leat_fields_has(f, head);
    const size_t given_length = length ? *length : 0;
    const size_t n = leat_fields_list(f, name, place(serial, PAYLOAD_AT),
                                      length ? *length : p->width_bits, max);
    if (length && written) *length = (uint16_t)n;
    if (!length && written && n != p->width_bits)
        leat_fields_refuse(f, LEAT_ERR_LENGTH, NULL, "expected one item per bit of the width");

    struct leat_aton_shape shape = { 0 };
    if (leat_aton_packet_shape(p, &shape) != LEAT_ERR_OK)
        leat_fields_refuse(f, LEAT_ERR_RANGE, NULL, "expected 1..17 slots");
    uint8_t *blank = reading ? blank_payload(f, &shape, p) : NULL;
    /* A sender puts its own operand into the first slot of a tree. */
    if (blank && !written && shape.flag_len) leat_aton_item_put(blank, &shape, 0, 1, 0);
    for (size_t i = 0; i < n && !f->err; i++) {
        unsigned valid;
        uint64_t value = leat_aton_item_get(p->payload, &shape, i, &valid);
        value = walk_item(f, &shape, item_at(&shape, i, serial), &valid, value);
        if (blank) leat_aton_item_put(blank, &shape, i, valid, value);
    }
    leat_fields_list_end(f);
    if (both && given_length != n)
        leat_fields_refuse(f, LEAT_ERR_FIELD, head, "contradicts the length of the list");
}

static void check_param(struct leat_fields *f, const struct leat_aton_packet *p)
{
    struct leat_aton_shape shape;
    if (leat_aton_packet_shape(p, &shape) != LEAT_ERR_OK)
        leat_fields_refuse(f, LEAT_ERR_RANGE, "param",
                           p->opcode == LEAT_ATON_TREE ? "expected 1..17 slots"
                                                       : "expected 1..16 bits per counter");
}

static void walk_long(struct leat_fields *f, struct leat_aton_packet *p, bool serial)
{
    if (p->opcode == LEAT_ATON_SORT) {
        walk_list(f, "values", p, "counter", &p->counter, LEAT_ATON_INTERFACES_MAX, serial);
        return;
    }
    p->param = (uint16_t)leat_fields_uint(f, "param", place(serial, PARAM_AT), 16, p->param);
    check_param(f, p);
    if (p->opcode == LEAT_ATON_BITCOUNT)
        walk_list(f, "counters", p, NULL, NULL, 64, serial);
    else
        walk_list(f, "slots", p, "param", &p->param, LEAT_ATON_SLOTS_MAX, serial);
}

static void walk_active(struct leat_fields *f, struct leat_aton_packet *p, bool serial)
{
    const unsigned w = p->width_bits;
    if (leat_fields_reading(f)) start(p);
    p->counter = (uint16_t)leat_fields_uint(f, "counter", place(serial, DATA_AT), 16, p->counter);
    if (p->counter > LEAT_ATON_INTERFACES_MAX)
        leat_fields_refuse(f, LEAT_ERR_RANGE, "counter", "expected 0..65534");
    if (!leat_aton_is_fold(p)) {
        walk_long(f, p, serial);
        return;
    }
    p->variable1 = leat_fields_uint(f, "variable1", place(serial, PARAM_AT), w, p->variable1);
    p->variable2 = leat_fields_uint(f, "variable2", place(serial, PARAM_AT + w / 8), w,
                                    p->variable2);
}

static void walk_passive(struct leat_fields *f, struct leat_aton_packet *p, bool serial)
{
    leat_fields_derived(f, "length", place(serial, DATA_AT), 16, p->payload_len);
    leat_fields_octets(f, "octets", place(serial, PARAM_AT), LEAT_ATON_OCTETS_MAX, &p->payload,
                       &p->payload_len);
}

/* From CTL to the end of the data. */
static void walk_body(struct leat_fields *f, struct leat_aton_packet *p, bool serial)
{
    walk_ctl(f, p, serial);
    p->da = (uint16_t)leat_fields_hex(f, "da", place(serial, DA_AT), 16, p->da);
    if (!leat_aton_region_is_valid(p))
        leat_fields_refuse(f, LEAT_ERR_RANGE, "da", "expected the number of a group, 0..31");
    p->sa = (uint16_t)leat_fields_hex(f, "sa", place(serial, SA_AT), 16, p->sa);
    if (p->active)
        walk_active(f, p, serial);
    else
        walk_passive(f, p, serial);
}

static void walk_flags(struct leat_fields *f, struct leat_aton_packet *p, size_t at)
{
    const unsigned flags = (p->recognised ? A : 0) | (p->copied ? C : 0);
    const uint64_t given = leat_fields_mask(f, "flags", at, 2, flag_names, flags);
    p->recognised = (given & A) != 0;
    p->copied = (given & C) != 0;
}

/* `octets` are the image when showing, NULL when reading. */
static void walk(struct leat_fields *f, struct leat_aton_packet *p, const uint8_t *octets,
                 size_t len)
{
    walk_ac(f, p, false);
    walk_body(f, p, false);
    walk_flags(f, p, len - FLG_FROM_END);
    leat_fields_checksum(f, "crc", len - CRC_FROM_END, 32,
                         octets ? leat_get_be32(octets + len - CRC_FROM_END) : 0);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_aton_packet p;
    const leat_err err = leat_aton_packet_decode(octets, len, &p, fault_at);
    if (err) return err;
    walk(f, &p, octets, len);
    return LEAT_ERR_OK;
}

static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_aton_packet p = {
        .active = 1, .opcode = LEAT_ATON_ADD, .width_bits = 32, .da = LEAT_ATON_DA_ALL
    };
    walk(f, &p, NULL, LEAT_ATON_IMAGE_LEN_MIN);
    return f->err ? f->err : leat_aton_packet_encode(&p, octets, cap, len);
}

static size_t measure(const uint8_t *octets, size_t len)
{
    size_t image_len;
    return leat_aton_packet_measure(octets, len, &image_len, NULL) ? 0 : image_len;
}

/* ---- the serial image ----------------------------------------------------------------------- */

/* FLG(8) CRC(32) ED(8): symbols before the end. */
enum { FLG_SYMBOLS = 48, CRC_SYMBOLS = 40, BITS_SYMBOLS = 2 };

static void walk_serial(struct leat_fields *f, struct leat_aton_frame *frame, uint32_t crc)
{
    size_t symbols = LEAT_ATON_TOKEN_SYMBOLS;
    walk_ac(f, &frame->packet, true);
    if (!frame->packet.token) {
        walk_body(f, &frame->packet, true);
        if (leat_aton_frame_measure(frame, &symbols)) symbols = FLG_SYMBOLS; /* reading: an error */
        walk_flags(f, &frame->packet, (symbols - FLG_SYMBOLS) / 4);
        leat_fields_checksum(f, "crc", (symbols - CRC_SYMBOLS) / 4, 32, crc);
    }
    const size_t bits_at = (symbols - BITS_SYMBOLS) / 4;
    frame->intermediate = leat_fields_flag(f, "intermediate", bits_at, frame->intermediate);
    frame->error = leat_fields_flag(f, "error", bits_at, frame->error);
}

static leat_err show_serial(const uint8_t *octets, size_t len, struct leat_fields *f,
                            size_t *fault_at)
{
    uint8_t payload[LEAT_ATON_IMAGE_PAYLOAD_MAX];
    struct leat_aton_frame frame;
    uint32_t crc;
    const leat_err err = leat_aton_image_decode(octets, len, payload, &frame, &crc, fault_at);
    if (err) return err;
    walk_serial(f, &frame, crc);
    return LEAT_ERR_OK;
}

static leat_err build_serial(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_aton_frame frame = {
        .packet = { .active = 1, .opcode = LEAT_ATON_ADD, .width_bits = 32, .da = LEAT_ATON_DA_ALL }
    };
    walk_serial(f, &frame, 0);
    return f->err ? f->err : leat_aton_image_encode(&frame, octets, cap, len);
}

static size_t measure_serial(const uint8_t *octets, size_t len)
{
    size_t image_len;
    return leat_aton_image_measure(octets, len, &image_len, NULL) ? 0 : image_len;
}

const struct leat_format leat_aton_serial_format = {
    .name = "atonserial",
    .summary = "ATON frame (serial image): the symbols of a packet or a token on the ring",
    .link_type = SERIAL_LINK_TYPE,
    .show = show_serial,
    .build = build_serial,
    .measure = measure_serial,
};

/* ---- Ethernet ----------------------------------------------------------------------------- */

static void walk_live(struct leat_fields *f, struct leat_aton_live *live)
{
    live->ring_id = (uint32_t)leat_fields_hex(f, "ringId", 0, 32, live->ring_id);
    live->sequence = (uint32_t)leat_fields_uint(f, "sequence", 4, 32, live->sequence);
    live->hops_left = (uint8_t)leat_fields_uint(f, "hopsLeft", 8, 8, live->hops_left);
    live->flags = (uint8_t)leat_fields_hex(f, "ringFlags", 9, 8, live->flags);
}

/* An image with an invalid head has no length of its own: show gets everything that is left. */
static leat_err unframe_ether(const uint8_t *frame, size_t len, struct leat_fields *f,
                              size_t *packet_at, size_t *packet_len, size_t *fault_at)
{
    struct leat_aton_live live;
    const leat_err err = leat_aton_live_header_decode(frame, len, &live, fault_at);
    if (err) return err;
    walk_live(f, &live);

    const size_t left = len - LEAT_ATON_LIVE_HEADER_LEN;
    const size_t image_len = measure(frame + LEAT_ATON_LIVE_HEADER_LEN, left);
    *packet_at = LEAT_ATON_LIVE_HEADER_LEN;
    *packet_len = image_len && image_len < left ? image_len : left;
    return LEAT_ERR_OK;
}

/* Without a MAC: that needs a key, which no capture has. */
static leat_err frame_ether(struct leat_fields *f, const uint8_t *packet, size_t packet_len,
                            uint8_t *out, size_t cap, size_t *len)
{
    struct leat_aton_live live = { .hops_left = UINT8_MAX };
    walk_live(f, &live);
    if (f->err) return f->err;
    const leat_err err = leat_aton_live_header_encode(&live, out, cap);
    if (err || packet_len > cap - LEAT_ATON_LIVE_HEADER_LEN) return LEAT_ERR_SPACE;
    memcpy(out + LEAT_ATON_LIVE_HEADER_LEN, packet, packet_len);
    *len = LEAT_ATON_LIVE_HEADER_LEN + packet_len;
    return LEAT_ERR_OK;
}

static const struct leat_framing ether_framing = { unframe_ether, frame_ether };

const struct leat_format leat_aton_format = {
    .name = "aton",
    .summary = "ATON packet (octet image): an active command or a passive packet of the ring",
    .link_type = LINK_TYPE,
    .ether_type = LEAT_ATON_ETHER_TYPE,
    .show = show,
    .build = build,
    .measure = measure,
    .ether_framing = &ether_framing,
};
