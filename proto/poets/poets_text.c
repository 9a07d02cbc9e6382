#include "poets_text.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include "poets_host.h"
#include "poets_instr.h"
#include "poets_log.h"
#include "poets_wire.h"
#include <assert.h>
#include <string.h>

enum { DEVICE_AT = 0, OPCODE_AT = 2, CLASS_AT = 3, PIN_AT = 4, EDGE_AT = 5, PAYLOAD_AT = 8 };

static const struct leat_name class_names[] = {
    { LEAT_POETS_CLASS_DEV, "DEV" },
    { LEAT_POETS_CLASS_CTL, "CTL" },
    { LEAT_POETS_CLASS_EXT, "EXT" },
    { LEAT_POETS_CLASS_SUP, "SUP" },
    { 0, NULL },
};

static const struct leat_name opcode_names[] = {
    { LEAT_POETS_OP_NOP, "NOP" },         { LEAT_POETS_OP_IMPL, "IMPL" },
    { LEAT_POETS_OP_INSTR, "INSTR" },     { LEAT_POETS_OP_LOG, "LOG" },
    { LEAT_POETS_OP_BARRIER, "BARRIER" }, { LEAT_POETS_OP_STOP, "STOP" },
    { LEAT_POETS_OP_KILL, "KILL" },       { 0, NULL },
};

static const struct leat_name compat_names[] = {
    { LEAT_POETS_COMPAT_REPLY_CNC0, "reply_cnc0" },
    { LEAT_POETS_COMPAT_HDR_PIN_AS_EDGE, "hdr_pin_as_edge" },
    { 0, NULL },
};

static void walk_header(struct leat_fields *f, size_t base, struct leat_poets_packet *p)
{
    p->packet_class = (enum leat_poets_class)leat_fields_enum(f, "class", base + CLASS_AT, 2,
                                                              class_names, p->packet_class);
    p->task = (uint8_t)leat_fields_uint(f, "task", base + CLASS_AT, 6, p->task);
    p->opcode = (uint8_t)leat_fields_enum(f, "opcode", base + OPCODE_AT, 8, opcode_names,
                                          p->opcode);
    p->device = (uint32_t)leat_fields_uint(f, "device", base + DEVICE_AT, 16, p->device);
    /* Shown only if nonzero: packets of the original are rare. */
    if (leat_fields_reading(f) || p->compat)
        p->compat = (uint8_t)leat_fields_mask(f, "compat", base + CLASS_AT, 2, compat_names,
                                              p->compat);

    switch (p->packet_class) {
    case LEAT_POETS_CLASS_DEV:
    case LEAT_POETS_CLASS_EXT:
        p->pin = (uint16_t)leat_fields_uint(f, "pin", base + PIN_AT, 8, p->pin);
        p->edge = (uint32_t)leat_fields_uint(f, "edge", base + EDGE_AT, 24, p->edge);
        break;
    case LEAT_POETS_CLASS_CTL:
        p->sender = (uint32_t)leat_fields_hex(f, "pinAddr", base + PIN_AT, 32, p->sender);
        break;
    case LEAT_POETS_CLASS_SUP:
        p->sender = (uint32_t)leat_fields_hex(f, "sender", base + PIN_AT, 32, p->sender);
        break;
    }
    leat_fields_derived(f, "nflit", base, 3, p->nflit);
}

/*
 * A nested object is a view of the payload. If both are given they must agree (a view that changes
 * the payload contradicts it); if only the view is given, the payload is made from it.
 */
static void refuse_contradiction(struct leat_fields *f, const char *name)
{
    leat_fields_refuse(f, LEAT_ERR_FIELD, name, "contradicts payload, expected one of them");
}

/* 1.5: a fragment that is not the last fills 4 flits; the last carries the text's NUL. */
static void walk_log(struct leat_fields *f, size_t base, struct leat_poets_packet *p,
                     bool payload_given)
{
    const uint8_t *text = p->payload + 1;
    uint8_t seq = p->payload[0];
    size_t len = 0;
    while (len < LEAT_POETS_LOG_FRAGMENT_LEN && text[len])
        len++;
    const uint8_t *const held = text;
    const size_t held_len = len;
    if (!leat_fields_open(f, "log", base + PAYLOAD_AT)) return;
    seq = (uint8_t)leat_fields_uint(f, "seq", base + PAYLOAD_AT, 8, seq);
    leat_fields_string(f, "text", base + PAYLOAD_AT + 1, LEAT_POETS_LOG_FRAGMENT_LEN, &text, &len);
    leat_fields_close(f);

    if (!leat_fields_reading(f)) return;
    if (payload_given) {
        if (seq != p->payload[0] || len != held_len || memcmp(text, held, len) != 0)
            refuse_contradiction(f, "log");
        return;
    }
    const bool full = seq > 0 || len == LEAT_POETS_LOG_FRAGMENT_LEN;
    p->payload[0] = seq;
    memmove(p->payload + 1, text, len);
    p->payload_len = full ? LEAT_POETS_PAYLOAD_LEN_MAX : (uint16_t)(1 + len + 1);
}

/*
 * Reading: we send 14 counters (spec/poets.md, 1.6). A user who gives just the ten shown means the
 * form of 10.
 */
static unsigned instr_count(struct leat_fields *f, unsigned shown)
{
    if (!leat_fields_reading(f)) return shown;
    for (unsigned i = 0; i < LEAT_POETS_INSTR_COUNT_MAX; i++) {
        const bool short_form = i < LEAT_POETS_INSTR_COUNT_MIN;
        if (leat_fields_has(f, leat_poets_instr_name(i)) != short_form)
            return LEAT_POETS_INSTR_COUNT_MAX;
    }
    return LEAT_POETS_INSTR_COUNT_MIN;
}

static void walk_instr(struct leat_fields *f, size_t base, struct leat_poets_packet *p,
                       bool payload_given)
{
    struct leat_poets_instr instr = { .count = LEAT_POETS_INSTR_COUNT_MAX };
    size_t len;
    if (payload_given && leat_poets_instr_decode(p->payload, p->payload_len, &instr, NULL)) {
        if (leat_fields_reading(f) && leat_fields_has(f, "instr")) refuse_contradiction(f, "instr");
        return; /* too few flits for a record: the payload shows the octets */
    }
    const struct leat_poets_instr held = instr;
    if (leat_fields_open(f, "instr", base + PAYLOAD_AT)) {
        if (!payload_given) instr.count = instr_count(f, instr.count);
        for (unsigned i = 0; i < instr.count; i++)
            instr.counter[i] = (uint32_t)leat_fields_uint(
                f, leat_poets_instr_name(i), base + PAYLOAD_AT + 4 * i, 32, instr.counter[i]);
        leat_fields_close(f);
    }
    if (payload_given) {
        for (unsigned i = 0; i < instr.count; i++)
            if (instr.counter[i] != held.counter[i]) refuse_contradiction(f, "instr");
    } else if (!leat_poets_instr_encode(&instr, p->payload, sizeof p->payload, &len)) {
        p->payload_len = (uint16_t)len;
    }
}

/* The packet begins at `base`. */
static void walk(struct leat_fields *f, size_t base, struct leat_poets_packet *p)
{
    walk_header(f, base, p);
    const bool given = leat_fields_has(f, "payload"); /* showing: always */
    const uint8_t *payload = p->payload;
    size_t len = p->payload_len;
    leat_fields_octets(f, "payload", base + PAYLOAD_AT, LEAT_POETS_PAYLOAD_LEN_MAX, &payload, &len);
    if (payload != p->payload) {
        memcpy(p->payload, payload, len);
        p->payload_len = (uint16_t)len;
    }
    if (p->packet_class != LEAT_POETS_CLASS_SUP) return;
    if (p->opcode == LEAT_POETS_OP_LOG) walk_log(f, base, p, given);
    if (p->opcode == LEAT_POETS_OP_INSTR) walk_instr(f, base, p, given);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_poets_packet p;
    const leat_err err = leat_poets_packet_decode(octets, len, &p, fault_at);
    if (!err) walk(f, 0, &p);
    return err;
}

/* A packet from its fields, and the length of its octets. */
static leat_err read_packet(struct leat_fields *f, size_t base, uint8_t *octets, size_t cap,
                            size_t *len)
{
    struct leat_poets_packet p = { .packet_class = LEAT_POETS_CLASS_DEV };
    walk(f, base, &p);
    if (p.packet_class == LEAT_POETS_CLASS_SUP && p.device)
        leat_fields_refuse(f, LEAT_ERR_POETS_SUPDEV, "device",
                           "class SUP has device 0; who sends it goes into sender");
    if (p.opcode &&
        (p.packet_class == LEAT_POETS_CLASS_DEV || p.packet_class == LEAT_POETS_CLASS_EXT))
        leat_fields_refuse(f, LEAT_ERR_POETS_OPNOCNC, "opcode",
                           "only classes CTL and SUP have an opcode, expected 0");
    return f->err ? f->err : leat_poets_packet_encode(&p, octets, cap, len);
}

static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    return read_packet(f, 0, octets, cap, len);
}

/* ---- captures and datagrams ---- */

enum { DIRECTION_AT = 0, LENGTH_AT = 1, HW_ADDR_AT = 2 };
enum { TO_FABRIC = 0, TO_HOST = 1 };

static const struct leat_name direction_names[] = {
    { TO_FABRIC, "toFabric" },
    { TO_HOST, "toHost" },
    { 0, NULL },
};

struct carriage {
    uint8_t direction;
    uint32_t hw_addr;
};

static void walk_carriage(struct leat_fields *f, struct carriage *c)
{
    c->direction = (uint8_t)leat_fields_enum(f, "direction", DIRECTION_AT, 1, direction_names,
                                             c->direction);
    c->hw_addr = (uint32_t)leat_fields_hex(f, "hwAddr", HW_ADDR_AT, 32, c->hw_addr);
}

leat_err leat_poets_carriage_get(const uint8_t *frame, size_t len, const uint8_t **packet,
                                 size_t *packet_len, size_t *fault_at)
{
    if (len < LEAT_POETS_CARRIAGE_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (frame[LENGTH_AT] > len - LEAT_POETS_CARRIAGE_LEN)
        return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (frame[DIRECTION_AT] > TO_HOST) return leat_fault(LEAT_ERR_TYPE, DIRECTION_AT, fault_at);
    *packet = frame + LEAT_POETS_CARRIAGE_LEN;
    *packet_len = frame[LENGTH_AT];
    return LEAT_ERR_OK;
}

static leat_err unframe(const uint8_t *frame, size_t len, struct leat_fields *f, size_t *packet_at,
                        size_t *packet_len, size_t *fault_at)
{
    const uint8_t *packet;
    const leat_err err = leat_poets_carriage_get(frame, len, &packet, packet_len, fault_at);
    if (err) return err;
    walk_carriage(f, &(struct carriage){ .direction = frame[DIRECTION_AT],
                                         .hw_addr = leat_get_le32(frame + HW_ADDR_AT) });
    *packet_at = LEAT_POETS_CARRIAGE_LEN;
    return LEAT_ERR_OK;
}

size_t leat_poets_carriage_put(bool to_host, uint32_t hw_addr, const uint8_t *packet,
                               size_t packet_len, uint8_t *frame)
{
    assert(packet_len <= LEAT_POETS_PACKET_LEN_MAX);
    frame[DIRECTION_AT] = to_host ? TO_HOST : TO_FABRIC;
    frame[LENGTH_AT] = (uint8_t)packet_len;
    leat_put_le32(frame + HW_ADDR_AT, hw_addr);
    memcpy(frame + LEAT_POETS_CARRIAGE_LEN, packet, packet_len);
    return LEAT_POETS_CARRIAGE_LEN + packet_len;
}

static leat_err frame(struct leat_fields *f, const uint8_t *packet, size_t packet_len, uint8_t *out,
                      size_t cap, size_t *len)
{
    struct carriage c = { .direction = TO_FABRIC };
    if (packet_len > LEAT_POETS_PACKET_LEN_MAX) return LEAT_ERR_POETS_FLITS;
    if (cap < LEAT_POETS_CARRIAGE_LEN + packet_len) return LEAT_ERR_SPACE;
    /* MS gives the direction of a packet, if the user does not. */
    if (packet_len >= 4 && leat_poets_field_get(leat_get_le32(packet), LEAT_POETS_FIELD_MS))
        c.direction = TO_HOST;
    walk_carriage(f, &c);
    if (f->err) return f->err;

    *len = leat_poets_carriage_put(c.direction == TO_HOST, c.hw_addr, packet, packet_len, out);
    return LEAT_ERR_OK;
}

static const struct leat_framing framing = { unframe, frame };

const struct leat_format leat_poets_format = {
    .name = "poets",
    .summary = "POETS packet: device, control, external or supervisor; log and instrumentation",
    .link_type = 151,
    .udp_port = 4255,
    .show = show,
    .build = build,
    .framing = &framing,
};

/* ---- records of hosts (1.7) ---- */

enum { ADDR_PACKET_AT = 4, DEBUG_OCTET_AT = 4 };

/* The fields of the packet follow the address. All 64 octets belong to it: how many flits are
 * valid is not told. */
static leat_err show_addr(const uint8_t *octets, size_t len, struct leat_fields *f,
                          size_t *fault_at)
{
    struct leat_poets_p_addr record;
    struct leat_poets_packet p;
    leat_err err = leat_poets_p_addr_decode(octets, len, &record, fault_at);
    if (err) return err;
    err = leat_poets_packet_decode(record.packet, sizeof record.packet, &p, fault_at);
    if (err) return leat_fault(err, ADDR_PACKET_AT + *fault_at, fault_at);
    leat_fields_hex(f, "hwAddr", 0, 32, record.hw_addr);
    walk(f, ADDR_PACKET_AT, &p);
    return LEAT_ERR_OK;
}

static leat_err build_addr(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_poets_p_addr record = { 0 };
    size_t packet_len;
    record.hw_addr = (uint32_t)leat_fields_hex(f, "hwAddr", 0, 32, 0);
    leat_err err = read_packet(f, ADDR_PACKET_AT, record.packet, sizeof record.packet, &packet_len);
    if (!err) err = leat_poets_p_addr_encode(&record, octets, cap);
    if (!err) *len = LEAT_POETS_P_ADDR_LEN;
    return err;
}

const struct leat_format leat_poetsaddr_format = {
    .name = "poetsaddr",
    .summary = "POETS P_Addr record: a hardware address and the packet for it",
    .unit_len = LEAT_POETS_P_ADDR_LEN,
    .show = show_addr,
    .build = build_addr,
};

static void walk_debug(struct leat_fields *f, struct leat_poets_p_debug *d)
{
    d->origin = (uint32_t)leat_fields_hex(f, "origin", 0, 32, d->origin);
    d->octet = (uint8_t)leat_fields_hex(f, "octet", DEBUG_OCTET_AT, 8, d->octet);
}

static leat_err show_debug(const uint8_t *octets, size_t len, struct leat_fields *f,
                           size_t *fault_at)
{
    struct leat_poets_p_debug record;
    const leat_err err = leat_poets_p_debug_decode(octets, len, &record, fault_at);
    if (!err) walk_debug(f, &record);
    return err;
}

static leat_err build_debug(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_poets_p_debug record = { 0 };
    walk_debug(f, &record);
    if (f->err) return f->err;
    *len = LEAT_POETS_P_DEBUG_LEN;
    return leat_poets_p_debug_encode(&record, octets, cap);
}

const struct leat_format leat_poetsdebug_format = {
    .name = "poetsdebug",
    .summary = "POETS P_Debug record: an octet that a thread has written to its UART",
    .unit_len = LEAT_POETS_P_DEBUG_LEN,
    .show = show_debug,
    .build = build_debug,
};
