#include "carriage.h"
#include "atm_task_cell.h"
#include "atm_text.h"
#include "leat_bytes.h"
#include "leat_format.h"
#include <leat/capture.h>

enum {
    ETHER_IPV4 = 0x0800,
    ETHER_IPV6 = 0x86dd,
    ETHER_VLAN = 0x8100,
    ETHER_QINQ = 0x88a8,
    VLAN_DEPTH_MAX = 4,
    IP_UDP = 17,
    IPV6_EXTENSION_MAX = 8,
};

/* What a lower layer calls a format by; a format that it does not know has 0. */
enum number { LINK_TYPE, ETHER_TYPE, IP_PROTOCOL, UDP_PORT };

static const struct leat_format *by(enum number kind, unsigned number)
{
    const struct leat_format *f;
    for (size_t i = 0; number && (f = leat_format_at(i)); i++) {
        const unsigned numbers[] = { f->link_type, f->ether_type, f->ip_protocol, f->udp_port };
        if (numbers[kind] == number) return f;
    }
    return NULL;
}

static bool found(const struct leat_format *format, const uint8_t *p, size_t len, bool ether,
                  struct carried *out)
{
    *out = (struct carried){ .format = format, .frame = p, .len = len, .ether = ether };
    return format != NULL;
}

static bool in_udp(const uint8_t *p, size_t len, struct carried *out)
{
    enum { UDP_HEADER = 8 };
    if (len < UDP_HEADER) return false;
    const struct leat_format *format = by(UDP_PORT, leat_get_be16(p + 2));
    if (!format) format = by(UDP_PORT, leat_get_be16(p));
    size_t udp_len = leat_get_be16(p + 4);
    if (udp_len < UDP_HEADER || udp_len > len) udp_len = len; /* truncated: the codec reports it */
    return found(format, p + UDP_HEADER, udp_len - UDP_HEADER, false, out);
}

static bool in_ip_payload(unsigned protocol, const uint8_t *p, size_t len, struct carried *out)
{
    if (protocol == IP_UDP) return in_udp(p, len, out);
    return found(by(IP_PROTOCOL, protocol), p, len, false, out);
}

static bool in_ipv4(const uint8_t *p, size_t len, struct carried *out)
{
    enum { HEADER_MIN = 20, FRAGMENT = 0x3fff }; /* more fragments, or an offset */
    if (len < HEADER_MIN || p[0] >> 4 != 4) return false;
    const size_t header = 4 * (size_t)(p[0] & 15);
    size_t total = leat_get_be16(p + 2);
    if (total > len || total < header) total = len;
    if (header < HEADER_MIN || header > total || leat_get_be16(p + 6) & FRAGMENT) return false;
    return in_ip_payload(p[9], p + header, total - header, out);
}

static bool in_ipv6(const uint8_t *p, size_t len, struct carried *out)
{
    enum { HEADER = 40, HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, DESTINATION = 60 };
    if (len < HEADER || p[0] >> 4 != 6) return false;
    const size_t payload = leat_get_be16(p + 4);
    if (payload && payload + HEADER < len) len = payload + HEADER;
    unsigned next = p[6];
    size_t at = HEADER;
    for (int i = 0; i < IPV6_EXTENSION_MAX; i++) {
        if (next != HOP_BY_HOP && next != ROUTING && next != FRAGMENT && next != DESTINATION) break;
        if (len - at < 8) return false;
        if (next == FRAGMENT && leat_get_be16(p + at + 2) & 0xfff9) return false; /* one of many */
        const size_t extension = next == FRAGMENT ? 8 : 8 * ((size_t)p[at + 1] + 1);
        if (extension > len - at) return false;
        next = p[at];
        at += extension;
    }
    return in_ip_payload(next, p + at, len - at, out);
}

static bool in_ip(const uint8_t *p, size_t len, struct carried *out)
{
    return in_ipv4(p, len, out) || in_ipv6(p, len, out);
}

/* The content after an Ethernet type; link layers differ only before it. */
static bool in_ether_type(uint16_t type, const uint8_t *p, size_t len, struct carried *out)
{
    for (int i = 0; i < VLAN_DEPTH_MAX && (type == ETHER_VLAN || type == ETHER_QINQ); i++) {
        if (len < 4) return false;
        type = leat_get_be16(p + 2);
        p += 4;
        len -= 4;
    }
    if (type == ETHER_IPV4) return in_ipv4(p, len, out);
    if (type == ETHER_IPV6) return in_ipv6(p, len, out);
    return found(by(ETHER_TYPE, type), p, len, true, out);
}

/* The type stands at type_at, the payload at payload_at. */
static bool in_link(const uint8_t *p, size_t len, size_t type_at, size_t payload_at,
                    struct carried *out)
{
    if (len < payload_at) return false;
    return in_ether_type(leat_get_be16(p + type_at), p + payload_at, len - payload_at, out);
}

bool carriage_find(uint16_t link_type, const uint8_t *p, size_t len, struct carried *out)
{
    switch (link_type) {
    case LEAT_LINK_NULL:
    case LEAT_LINK_LOOP: return len >= 4 && in_ip(p + 4, len - 4, out);
    case LEAT_LINK_ETHERNET: return in_link(p, len, 12, 14, out);
    case LEAT_LINK_RAW:
    case LEAT_LINK_IPV4:
    case LEAT_LINK_IPV6: return in_ip(p, len, out);
    case LEAT_LINK_LINUX_SLL: return in_link(p, len, 14, 16, out);
    case LEAT_LINK_LINUX_SLL2: return in_link(p, len, 0, 20, out);
    case LEAT_LINK_USER0:
        return found(leat_atm_task_cell_recognise(p, len) ? &leat_atmtask_format
                                                          : by(LINK_TYPE, link_type),
                     p, len, false, out);
    default: return found(by(LINK_TYPE, link_type), p, len, false, out);
    }
}

const struct leat_framing *carriage_framing(const struct leat_format *format, bool ether)
{
    return ether && format->ether_framing ? format->ether_framing : format->framing;
}
