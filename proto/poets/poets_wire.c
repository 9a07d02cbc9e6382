#include "poets_wire.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <stdbool.h>
#include <string.h>

enum { OPCODE_AT = 2, PIN_ADDR_AT = 4 };

static bool is_flits(size_t len)
{
    return len > 0 && len <= LEAT_POETS_PACKET_LEN_MAX && len % LEAT_POETS_FLIT_LEN == 0;
}

static bool has_edge(enum leat_poets_class c)
{
    return c == LEAT_POETS_CLASS_DEV || c == LEAT_POETS_CLASS_EXT;
}

leat_err leat_poets_swaddr_check(uint32_t swaddr, enum leat_poets_class *out)
{
    enum leat_poets_class c = (enum leat_poets_class)leat_poets_field_get(swaddr,
                                                                          LEAT_POETS_FIELD_CLASS);
    const uint32_t opcode = leat_poets_field_get(swaddr, LEAT_POETS_FIELD_OPCODE);

    if (has_edge(c) && opcode != LEAT_POETS_OP_NOP) {
        /* 1.1: the original's replies lack CNC (D3); they are decoded as what they mean. */
        if (c != LEAT_POETS_CLASS_DEV || opcode != LEAT_POETS_OP_IMPL)
            return LEAT_ERR_POETS_OPNOCNC;
        c = LEAT_POETS_CLASS_CTL;
    }
    if (c == LEAT_POETS_CLASS_SUP && leat_poets_field_get(swaddr, LEAT_POETS_FIELD_DEVICE))
        return LEAT_ERR_POETS_SUPDEV;
    *out = c;
    return LEAT_ERR_OK;
}

static void decode_header(uint32_t swaddr, uint32_t pin_addr, enum leat_poets_class c,
                          struct leat_poets_packet *out)
{
    const bool edge = has_edge(c);
    const bool cnc0 = c == LEAT_POETS_CLASS_CTL &&
                      !leat_poets_field_get(swaddr, LEAT_POETS_FIELD_CNC);

    out->packet_class = c;
    out->compat = cnc0 ? LEAT_POETS_COMPAT_REPLY_CNC0 : 0;
    out->task = (uint8_t)leat_poets_field_get(swaddr, LEAT_POETS_FIELD_TASK);
    out->opcode = (uint8_t)leat_poets_field_get(swaddr, LEAT_POETS_FIELD_OPCODE);
    out->device = leat_poets_field_get(swaddr, LEAT_POETS_FIELD_DEVICE);
    out->pin = edge ? (uint16_t)leat_poets_field_get(pin_addr, LEAT_POETS_FIELD_PIN) : 0;
    out->edge = edge ? leat_poets_field_get(pin_addr, LEAT_POETS_FIELD_EDGE) : 0;
    out->sender = edge ? 0 : pin_addr;
}

leat_err leat_poets_packet_decode(const uint8_t *buf, size_t len, struct leat_poets_packet *out,
                                  size_t *fault_at)
{
    enum leat_poets_class c;

    if (!is_flits(len))
        return leat_fault(LEAT_ERR_POETS_FLITS,
                          len < LEAT_POETS_PACKET_LEN_MAX ? len : LEAT_POETS_PACKET_LEN_MAX,
                          fault_at);
    const uint32_t swaddr = leat_get_le32(buf);
    const leat_err err = leat_poets_swaddr_check(swaddr, &c);
    if (err) return leat_fault(err, err == LEAT_ERR_POETS_OPNOCNC ? OPCODE_AT : 0, fault_at);

    decode_header(swaddr, leat_get_le32(buf + PIN_ADDR_AT), c, out);
    const size_t payload_len = len - LEAT_POETS_HEADER_LEN;
    out->nflit = (uint8_t)(len / LEAT_POETS_FLIT_LEN);
    out->payload_len = (uint16_t)payload_len;
    memcpy(out->payload, buf + LEAT_POETS_HEADER_LEN, payload_len);
    memset(out->payload + payload_len, 0, LEAT_POETS_PAYLOAD_LEN_MAX - payload_len);
    return LEAT_ERR_OK;
}

static leat_err check(const struct leat_poets_packet *p)
{
    if ((unsigned)p->packet_class > LEAT_POETS_CLASS_SUP) return LEAT_ERR_TYPE;
    if (p->task > LEAT_POETS_TASK_MAX) return LEAT_ERR_POETS_TASK;
    if (p->device > LEAT_POETS_DEVICE_MAX) return LEAT_ERR_POETS_DEV;
    if (p->packet_class == LEAT_POETS_CLASS_SUP && p->device) return LEAT_ERR_POETS_SUPDEV;
    if (has_edge(p->packet_class)) {
        if (p->opcode != LEAT_POETS_OP_NOP) return LEAT_ERR_POETS_OPNOCNC;
        if (p->pin > LEAT_POETS_PIN_MAX) return LEAT_ERR_POETS_PIN;
        if (p->edge > LEAT_POETS_EDGE_MAX) return LEAT_ERR_POETS_EDGE;
    }
    if (p->payload_len > LEAT_POETS_PAYLOAD_LEN_MAX) return LEAT_ERR_POETS_PAYLOAD;
    return LEAT_ERR_OK;
}

static uint32_t swaddr_of(const struct leat_poets_packet *p)
{
    enum leat_poets_class c = p->packet_class;
    if (c == LEAT_POETS_CLASS_CTL && p->opcode == LEAT_POETS_OP_IMPL &&
        p->compat & LEAT_POETS_COMPAT_REPLY_CNC0)
        c = LEAT_POETS_CLASS_DEV;
    uint32_t w = leat_poets_field_set(0, LEAT_POETS_FIELD_CLASS, c);
    w = leat_poets_field_set(w, LEAT_POETS_FIELD_TASK, p->task);
    w = leat_poets_field_set(w, LEAT_POETS_FIELD_OPCODE, p->opcode);
    return leat_poets_field_set(w, LEAT_POETS_FIELD_DEVICE, p->device);
}

static uint32_t pin_addr_of(const struct leat_poets_packet *p)
{
    if (!has_edge(p->packet_class)) return p->sender;
    const bool d1 = p->compat & LEAT_POETS_COMPAT_HDR_PIN_AS_EDGE;
    const uint32_t w = leat_poets_field_set(0, LEAT_POETS_FIELD_PIN, p->pin);
    return leat_poets_field_set(w, LEAT_POETS_FIELD_EDGE, d1 ? p->pin : p->edge);
}

leat_err leat_poets_packet_encode(const struct leat_poets_packet *p, uint8_t *buf, size_t cap,
                                  size_t *len)
{
    const leat_err err = check(p);
    if (err) return err;
    const size_t used = LEAT_POETS_HEADER_LEN + p->payload_len;
    const size_t total = leat_poets_nflit(p->payload_len) * LEAT_POETS_FLIT_LEN;
    if (cap < total) return LEAT_ERR_SPACE;

    leat_put_le32(buf, swaddr_of(p));
    leat_put_le32(buf + PIN_ADDR_AT, pin_addr_of(p));
    memcpy(buf + LEAT_POETS_HEADER_LEN, p->payload, p->payload_len);
    memset(buf + used, 0, total - used); /* 1.3: no stale octets in the tail */
    *len = total;
    return LEAT_ERR_OK;
}

leat_err leat_poets_packet_extend(const uint8_t *buf, size_t len,
                                  uint8_t slot[LEAT_POETS_PACKET_LEN_MAX])
{
    if (!is_flits(len)) return LEAT_ERR_POETS_FLITS;
    memcpy(slot, buf, len);
    memset(slot + len, 0, LEAT_POETS_PACKET_LEN_MAX - len);
    return LEAT_ERR_OK;
}
