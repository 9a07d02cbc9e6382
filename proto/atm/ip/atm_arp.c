#include "atm_arp.h"
#include "leat_bytes.h"
#include <string.h>

enum { HARDWARE = 0x0013, PROTOCOL = 0x0800 };
enum { PROTOCOL_AT = 2, SOURCE_AT = 4, OP_AT = 6, SOURCE_IP_AT = 8, TARGET_AT = 9 };
enum { TARGET_IP_AT = 11 };
enum { RESERVED = 0x80, E164 = 0x40, LEN_MASK = 0x3f };

bool leat_atm_arp_op_known(unsigned op)
{
    return op == LEAT_ATM_ARP_REQUEST || op == LEAT_ATM_ARP_REPLY ||
           op == LEAT_ATM_ARP_IN_REQUEST || op == LEAT_ATM_ARP_IN_REPLY || op == LEAT_ATM_ARP_NAK;
}

/* The rules for both directions. *which: 0 number, 1 subaddress, 2 IP address. */
static leat_err check_lengths(const struct leat_atm_arp_station *s, unsigned *which)
{
    *which = 0;
    if (s->is_e164 ? s->number_len < 1 || s->number_len > LEAT_ATM_ARP_E164_LEN_MAX
                   : s->number_len && s->number_len != LEAT_ATM_ARP_NSAPA_LEN)
        return LEAT_ERR_LENGTH;
    *which = 1;
    if (s->subaddress_len && s->subaddress_len != LEAT_ATM_ARP_NSAPA_LEN) return LEAT_ERR_LENGTH;
    if (s->subaddress_len && !s->is_e164) return LEAT_ERR_FIELD;
    *which = 2;
    return s->ip_len && s->ip_len != LEAT_ATM_ARP_IP_LEN ? LEAT_ERR_LENGTH : LEAT_ERR_OK;
}

/* E.164 numbers are digits; *at: the first that is none. */
static leat_err check_digits(const struct leat_atm_arp_station *s, const uint8_t *number,
                             size_t *at)
{
    for (size_t i = 0; s->is_e164 && i < s->number_len; i++)
        if (number[i] < '0' || number[i] > '9') {
            *at = i;
            return LEAT_ERR_RANGE;
        }
    return LEAT_ERR_OK;
}

/* The lengths of a station: two type and length octets at `at`, one of the IP address at ip_at. */
static leat_err decode_lengths(const uint8_t *buf, size_t at, size_t ip_at,
                               struct leat_atm_arp_station *out, size_t *fault_at)
{
    const size_t places[] = { at, at + 1, ip_at };
    unsigned which;
    if (buf[at] & RESERVED) return leat_fault(LEAT_ERR_RESERVED, at, fault_at);
    if (buf[at + 1] & RESERVED) return leat_fault(LEAT_ERR_RESERVED, at + 1, fault_at);
    if (buf[at + 1] & E164) return leat_fault(LEAT_ERR_TYPE, at + 1, fault_at);
    out->is_e164 = buf[at] & E164;
    out->number_len = buf[at] & LEN_MASK;
    out->subaddress_len = buf[at + 1] & LEN_MASK;
    out->ip_len = buf[ip_at];
    const leat_err err = check_lengths(out, &which);
    return err ? leat_fault(err, places[which], fault_at) : LEAT_ERR_OK;
}

static size_t station_len(const struct leat_atm_arp_station *s)
{
    return (size_t)s->number_len + s->subaddress_len + s->ip_len;
}

static leat_err decode_station(const uint8_t *buf, size_t at, struct leat_atm_arp_station *s,
                               size_t *fault_at)
{
    size_t digit = 0;
    const leat_err err = check_digits(s, buf + at, &digit);
    if (err) return leat_fault(err, at + digit, fault_at);
    memcpy(s->number, buf + at, s->number_len);
    memcpy(s->subaddress, buf + at + s->number_len, s->subaddress_len);
    memcpy(s->ip, buf + at + s->number_len + s->subaddress_len, s->ip_len);
    return LEAT_ERR_OK;
}

leat_err leat_atm_arp_decode(const uint8_t *buf, size_t len, struct leat_atm_arp_packet *out,
                             size_t *fault_at)
{
    struct leat_atm_arp_packet p = { 0 };
    if (len < LEAT_ATM_ARP_HEADER_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (leat_get_be16(buf) != HARDWARE) return leat_fault(LEAT_ERR_TYPE, 0, fault_at);
    if (leat_get_be16(buf + PROTOCOL_AT) != PROTOCOL)
        return leat_fault(LEAT_ERR_TYPE, PROTOCOL_AT, fault_at);
    const unsigned op = leat_get_be16(buf + OP_AT);
    if (!leat_atm_arp_op_known(op)) return leat_fault(LEAT_ERR_TYPE, OP_AT, fault_at);
    p.op = (enum leat_atm_arp_op)op;

    leat_err err = decode_lengths(buf, SOURCE_AT, SOURCE_IP_AT, &p.source, fault_at);
    if (!err) err = decode_lengths(buf, TARGET_AT, TARGET_IP_AT, &p.target, fault_at);
    if (err) return err;
    const size_t target_at = LEAT_ATM_ARP_HEADER_LEN + station_len(&p.source);
    const size_t end = target_at + station_len(&p.target);
    if (len < end) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > end) return leat_fault(LEAT_ERR_LENGTH, end, fault_at);

    err = decode_station(buf, LEAT_ATM_ARP_HEADER_LEN, &p.source, fault_at);
    if (!err) err = decode_station(buf, target_at, &p.target, fault_at);
    if (!err) *out = p;
    return err;
}

static leat_err check_station(const struct leat_atm_arp_station *s)
{
    unsigned which;
    size_t at;
    const leat_err err = check_lengths(s, &which);
    return err ? err : check_digits(s, s->number, &at);
}

static uint8_t type_and_len(bool is_e164, uint8_t len)
{
    return (uint8_t)((is_e164 ? E164 : 0u) | len);
}

static uint8_t *encode_station(const struct leat_atm_arp_station *s, uint8_t *to)
{
    memcpy(to, s->number, s->number_len);
    to += s->number_len;
    memcpy(to, s->subaddress, s->subaddress_len);
    to += s->subaddress_len;
    memcpy(to, s->ip, s->ip_len);
    return to + s->ip_len;
}

leat_err leat_atm_arp_encode(const struct leat_atm_arp_packet *packet, uint8_t *buf, size_t cap,
                             size_t *len)
{
    const struct leat_atm_arp_station *s = &packet->source, *t = &packet->target;
    leat_err err = check_station(s);
    if (!err) err = check_station(t);
    if (!err && !leat_atm_arp_op_known((unsigned)packet->op)) err = LEAT_ERR_TYPE;
    if (err) return err;
    const size_t all = LEAT_ATM_ARP_HEADER_LEN + station_len(s) + station_len(t);
    if (cap < all) return LEAT_ERR_SPACE;

    leat_put_be16(buf, HARDWARE);
    leat_put_be16(buf + PROTOCOL_AT, PROTOCOL);
    leat_put_be16(buf + OP_AT, (uint16_t)packet->op);
    buf[SOURCE_AT] = type_and_len(s->is_e164, s->number_len);
    buf[SOURCE_AT + 1] = s->subaddress_len;
    buf[SOURCE_IP_AT] = s->ip_len;
    buf[TARGET_AT] = type_and_len(t->is_e164, t->number_len);
    buf[TARGET_AT + 1] = t->subaddress_len;
    buf[TARGET_IP_AT] = t->ip_len;
    encode_station(t, encode_station(s, buf + LEAT_ATM_ARP_HEADER_LEN));
    *len = all;
    return LEAT_ERR_OK;
}
