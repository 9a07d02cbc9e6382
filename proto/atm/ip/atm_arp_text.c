#include "atm_arp.h"
#include "atm_text.h"
#include <string.h>

enum { OP_AT = 6, SOURCE_AT = 4, TARGET_AT = 9, IP_TEXT_MAX = 15 };

static const struct leat_name op_names[] = {
    { LEAT_ATM_ARP_REQUEST, "request" },
    { LEAT_ATM_ARP_REPLY, "reply" },
    { LEAT_ATM_ARP_IN_REQUEST, "InATMARP-request" },
    { LEAT_ATM_ARP_IN_REPLY, "InATMARP-reply" },
    { LEAT_ATM_ARP_NAK, "NAK" },
    { 0, NULL },
};
static const struct leat_name number_types[] = { { 0, "NSAPA" }, { 1, "E.164" }, { 0, NULL } };

/* "10.0.0.1" to four octets, "" to none. False: it is neither. */
static bool ip_read(const uint8_t *text, size_t len, struct leat_atm_arp_station *s)
{
    size_t at = 0;
    s->ip_len = len ? LEAT_ATM_ARP_IP_LEN : 0;
    for (unsigned i = 0; len && i < LEAT_ATM_ARP_IP_LEN; i++) {
        const size_t begin = at;
        unsigned value = 0;
        for (; at < len && at < begin + 3 && text[at] >= '0' && text[at] <= '9'; at++)
            value = 10 * value + (text[at] - (unsigned)'0');
        if (at == begin || value > UINT8_MAX) return false;
        s->ip[i] = (uint8_t)value;
        if (i + 1 < LEAT_ATM_ARP_IP_LEN && (at == len || text[at++] != '.')) return false;
    }
    return at == len;
}

static void walk_ip(struct leat_fields *f, size_t at, struct leat_atm_arp_station *s)
{
    struct leat_text text = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    for (unsigned i = 0; i < s->ip_len; i++) {
        if (i) leat_text_putc(&text, '.');
        leat_text_decimal(&text, s->ip[i]);
    }
    const uint8_t *octets = (const uint8_t *)text.buf;
    size_t len = text.len;
    leat_fields_string(f, "ip", at, IP_TEXT_MAX, &octets, &len);
    if (leat_fields_reading(f) && !ip_read(octets, len, s))
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, "ip", "expected an IPv4 address such as 10.0.0.1");
}

/* A number or subaddress, at most `max` octets. */
static void walk_octets(struct leat_fields *f, const char *name, size_t at, bool digits, size_t max,
                        uint8_t *to, uint8_t *to_len)
{
    const uint8_t *octets = to;
    size_t len = *to_len;
    if (digits)
        leat_fields_string(f, name, at, max, &octets, &len);
    else
        leat_fields_octets(f, name, at, max, &octets, &len);
    if (octets != to && !f->err) memcpy(to, octets, len);
    *to_len = (uint8_t)len;
}

static void walk_station(struct leat_fields *f, const char *name, size_t type_at, size_t at,
                         struct leat_atm_arp_station *s)
{
    if (!leat_fields_open(f, name, at)) return;
    const bool e164 = leat_fields_enum(f, "type", type_at, 1, number_types, s->is_e164);
    if (e164 != s->is_e164) s->number_len = 0;
    s->is_e164 = e164;
    walk_octets(f, "number", at, e164, e164 ? LEAT_ATM_ARP_E164_LEN_MAX : LEAT_ATM_ARP_NSAPA_LEN,
                s->number, &s->number_len);
    walk_octets(f, "subaddress", at + s->number_len, false, LEAT_ATM_ARP_NSAPA_LEN, s->subaddress,
                &s->subaddress_len);
    walk_ip(f, at + s->number_len + s->subaddress_len, s);
    leat_fields_close(f);
}

static size_t station_len(const struct leat_atm_arp_station *s)
{
    return (size_t)s->number_len + s->subaddress_len + s->ip_len;
}

static void walk(struct leat_fields *f, struct leat_atm_arp_packet *p)
{
    const unsigned op = (unsigned)leat_fields_enum(f, "op", OP_AT, 16, op_names, p->op);
    if (leat_atm_arp_op_known(op))
        p->op = (enum leat_atm_arp_op)op;
    else
        leat_fields_refuse(f, LEAT_ERR_TYPE, "op",
                           "expected request (1), reply (2), InATMARP-request (8), "
                           "InATMARP-reply (9) or NAK (10)");
    walk_station(f, "source", SOURCE_AT, LEAT_ATM_ARP_HEADER_LEN, &p->source);
    walk_station(f, "target", TARGET_AT, LEAT_ATM_ARP_HEADER_LEN + station_len(&p->source),
                 &p->target);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_arp_packet packet;
    const leat_err err = leat_atm_arp_decode(octets, len, &packet, fault_at);
    if (!err) walk(f, &packet);
    return err;
}

/* No fields: a request for 10.0.0.2 by the station 10.0.0.1, whose number is all zeros. */
static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_arp_packet packet = {
        .op = LEAT_ATM_ARP_REQUEST,
        .source = { .number_len = LEAT_ATM_ARP_NSAPA_LEN, .ip_len = 4, .ip = { 10, 0, 0, 1 } },
        .target = { .ip_len = 4, .ip = { 10, 0, 0, 2 } },
    };
    walk(f, &packet);
    const leat_err err = f->err ? f->err : leat_atm_arp_encode(&packet, octets, cap, len);
    if (err == LEAT_ERR_LENGTH)
        leat_fields_refuse(f, err, "number",
                           "expected 20 octets (NSAPA) or 1 to 15 digits (E.164); subaddress: 20 "
                           "octets or none");
    if (err == LEAT_ERR_RANGE)
        leat_fields_refuse(f, err, "number", "an E.164 number has digits only");
    if (err == LEAT_ERR_FIELD)
        leat_fields_refuse(f, err, "subaddress", "expected only behind a number of type=E.164");
    return f->err ? f->err : err;
}

const struct leat_format leat_atmarp_format = {
    .name = "atmarp",
    .in_cells = true,
    .summary = "ATMARP and InATMARP (RFC 2225): which ATM number has an IP address",
    .show = show,
    .build = build,
};
