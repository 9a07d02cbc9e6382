/*
 * Where an ESP packet is in a frame, and what a router may change around it. Octets only: no store,
 * no socket. XDP and user space compile this one source.
 *
 *    0    6    12     14
 *   +----+----+------+-------------------------------------------------+
 *   | to |from| 88B5 | ESP packet | padding                            |   bare link
 *   +----+----+------+-------------------------------------------------+
 *   | to |from| 0800 | IPv4, Router Alert (24), protocol 253 | ESP     |
 *   | to |from| 0800 | IPv4 (20 or 24) | UDP to port 4253    | ESP     |
 *   | to |from| 86DD | IPv6 | Hop-by-Hop with Router Alert (8) | ESP   |   next header 253
 *   | to |from| 86DD | IPv6 | UDP to port 4253               | ESP     |
 *   +----+----+------+-------------------------------------------------+
 *
 * Everything else, including fragments, other options and VLAN tags, is not for ESP: the kernel
 * handles it.
 *
 * All functions take the frame as [data, end); every access is checked against end in the form that
 * the kernel's verifier requires. In user space 128 octets after end must be readable, since a
 * pointer is advanced before it is compared.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_FRAME_H
#define LEAT_ESP_FRAME_H

#include "esp_store.h"
#include "leat_bytes.h"
#include <leat/esp.h>

enum {
    ESP_MAC_LEN = 6,
    ESP_TO_AT = 0,
    ESP_FROM_AT = 6,
    ESP_TYPE_AT = 12,
    ESP_ETHERNET_LEN = 14,
    ESP_FRAME_MAX = 1514,  /* an Ethernet frame without its check sequence */
    ESP_FRAME_SLACK = 128, /* octets after a frame in user space */
    ESP_HEAD_MASK = 127,   /* maximum header length before a packet, for the verifier */
    ESP_TYPE_IPV4 = 0x0800,
    ESP_TYPE_IPV6 = 0x86DD,
    ESP_IP_UDP = 17,
    ESP_IP_HOP_BY_HOP = 0,
    ESP_IPV4_BEGIN = 0x45, /* version and words of the header */
    ESP_IPV4_BEGIN_ALERT = 0x46,
    ESP_IPV4_TOTAL_AT = 2,
    ESP_IPV4_FRAGMENT_AT = 6,
    ESP_IPV4_TTL_AT = 8,
    ESP_IPV4_PROTOCOL_AT = 9,
    ESP_IPV4_SUM_AT = 10,
    ESP_IPV4_FROM_AT = 12,
    ESP_IPV4_TO_AT = 16,
    ESP_IPV4_LEN = 20,
    ESP_IPV4_ALERT_LEN = 24,
    ESP_IPV4_FRAGMENT = 0x3fff, /* more fragments, or an offset */
    ESP_IPV6_BEGIN = 0x60,
    ESP_IPV6_PAYLOAD_AT = 4,
    ESP_IPV6_NEXT_AT = 6,
    ESP_IPV6_HOPS_AT = 7,
    ESP_IPV6_FROM_AT = 8,
    ESP_IPV6_TO_AT = 24,
    ESP_IPV6_LEN = 40,
    ESP_IPV6_ALERT_LEN = 8,
    ESP_UDP_TO_AT = 2,
    ESP_UDP_LEN_AT = 4,
    ESP_UDP_SUM_AT = 6,
    ESP_UDP_LEN = 8,
};

#define ESP_IPV4_ALERT  UINT32_C(0x94040000)     /* RFC 2113 */
#define ESP_IPV6_ALERT  UINT32_C(0x05020000)     /* RFC 2711: option 5 of two octets, value 0 */
#define ESP_IPV4_MAPPED UINT64_C(0xffff00000000) /* ::ffff before an IPv4 address (RFC 4291) */

enum esp_carriage { ESP_BARE, ESP_IPV4_RAW, ESP_IPV4_UDP, ESP_IPV6_RAW, ESP_IPV6_UDP };

/* Where the parts are, as offsets into the frame. */
struct esp_place {
    uint32_t carriage; /* enum esp_carriage */
    uint32_t udp_at;   /* 0: none */
    uint32_t packet_at;
    uint32_t packet_len; /* as stated by the carrier: the frame may be longer */
};

enum esp_found {
    ESP_FOUND,
    ESP_NOT_OURS,      /* the kernel's */
    ESP_FOUND_UNSOUND, /* for us, but the IP or UDP header is invalid */
};

static inline bool esp_same_mac(const uint8_t *a, const uint8_t *b)
{
    return leat_get_be32(a) == leat_get_be32(b) && leat_get_be16(a + 4) == leat_get_be16(b + 4);
}

static inline void esp_put_mac(uint8_t *to, const uint8_t *mac)
{
    for (int i = 0; i < ESP_MAC_LEN; i++)
        to[i] = mac[i];
}

static inline uint32_t esp_sum_fold(uint64_t sum)
{
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    return (uint32_t)((sum >> 16) + (sum & 0xffff));
}

static inline bool esp_is_ipv4(const struct esp_place *at)
{
    return at->carriage == ESP_IPV4_UDP || at->carriage == ESP_IPV4_RAW;
}

static inline bool esp_is_ipv6(const struct esp_place *at)
{
    return at->carriage == ESP_IPV6_UDP || at->carriage == ESP_IPV6_RAW;
}

/* An address as octets, and as two numbers. */
static inline void esp_address_read(const uint8_t octets[LEAT_ESP_ADDRESS_LEN], uint64_t address[2])
{
    address[0] = leat_get_be64(octets);
    address[1] = leat_get_be64(octets + 8);
}

static inline void esp_address_write(const uint64_t address[2],
                                     uint8_t octets[LEAT_ESP_ADDRESS_LEN])
{
    leat_put_be64(octets, address[0]);
    leat_put_be64(octets + 8, address[1]);
}

/* ---- finding ------------------------------------------------------------------------------ */

static inline enum esp_found esp_find_udp(const uint8_t *data, const uint8_t *end, uint32_t udp_at,
                                          uint32_t room, struct esp_place *at)
{
    const uint8_t *udp = data + udp_at;
    if (udp + ESP_UDP_LEN > end || room < ESP_UDP_LEN) return ESP_FOUND_UNSOUND;
    if (leat_get_be16(udp + ESP_UDP_TO_AT) != LEAT_ESP_UDP_PORT) return ESP_NOT_OURS;
    const uint32_t len = leat_get_be16(udp + ESP_UDP_LEN_AT);
    if (len < ESP_UDP_LEN || len > room) return ESP_FOUND_UNSOUND;
    at->udp_at = udp_at;
    at->packet_at = udp_at + ESP_UDP_LEN;
    at->packet_len = len - ESP_UDP_LEN;
    return ESP_FOUND;
}

static inline enum esp_found esp_find_ipv4(const uint8_t *data, const uint8_t *end, uint64_t len,
                                           struct esp_place *at)
{
    const uint8_t *ip = data + ESP_ETHERNET_LEN;
    if (ip + ESP_IPV4_LEN > end) return ESP_NOT_OURS;
    const uint32_t protocol = ip[ESP_IPV4_PROTOCOL_AT],
                   total = leat_get_be16(ip + ESP_IPV4_TOTAL_AT);
    uint32_t header = ESP_IPV4_LEN;
    if (protocol != ESP_IP_UDP && protocol != LEAT_ESP_IP_PROTOCOL) return ESP_NOT_OURS;
    if (leat_get_be16(ip + ESP_IPV4_FRAGMENT_AT) & ESP_IPV4_FRAGMENT) return ESP_NOT_OURS;
    uint64_t sum = (uint64_t)leat_get_be32(ip) + leat_get_be32(ip + 4) + leat_get_be32(ip + 8) +
                   leat_get_be32(ip + 12) + leat_get_be32(ip + 16);
    if (ip[0] == ESP_IPV4_BEGIN_ALERT) { /* one option: Router Alert */
        if (ip + ESP_IPV4_ALERT_LEN > end) return ESP_NOT_OURS;
        if (leat_get_be32(ip + ESP_IPV4_LEN) != ESP_IPV4_ALERT) return ESP_NOT_OURS;
        sum += ESP_IPV4_ALERT;
        header = ESP_IPV4_ALERT_LEN;
    } else if (ip[0] != ESP_IPV4_BEGIN || protocol == LEAT_ESP_IP_PROTOCOL) {
        return ESP_NOT_OURS;
    }
    at->carriage = protocol == ESP_IP_UDP ? ESP_IPV4_UDP : ESP_IPV4_RAW;
    at->udp_at = 0;
    at->packet_at = ESP_ETHERNET_LEN + header;
    at->packet_len = total - header;
    enum esp_found found = ESP_FOUND;
    if (protocol == ESP_IP_UDP)
        found = esp_find_udp(data, end, ESP_ETHERNET_LEN + header,
                             total < header ? 0 : total - header, at);
    if (found != ESP_FOUND) return found;
    const bool sound = total >= header && ESP_ETHERNET_LEN + total <= len;
    return sound && esp_sum_fold(sum) == 0xffff ? ESP_FOUND : ESP_FOUND_UNSOUND;
}

static inline enum esp_found esp_find_ipv6(const uint8_t *data, const uint8_t *end,
                                           struct esp_place *at)
{
    const uint8_t *ip = data + ESP_ETHERNET_LEN;
    const uint32_t after = ESP_ETHERNET_LEN + ESP_IPV6_LEN;
    if (ip + ESP_IPV6_LEN > end || ip[0] >> 4 != ESP_IPV6_BEGIN >> 4) return ESP_NOT_OURS;
    const uint32_t room = leat_get_be16(ip + ESP_IPV6_PAYLOAD_AT);
    at->udp_at = 0;
    if (ip[ESP_IPV6_NEXT_AT] == ESP_IP_UDP) {
        at->carriage = ESP_IPV6_UDP;
        return esp_find_udp(data, end, after, room, at);
    }
    const uint8_t *hop = data + after;
    if (ip[ESP_IPV6_NEXT_AT] != ESP_IP_HOP_BY_HOP || hop + ESP_IPV6_ALERT_LEN > end)
        return ESP_NOT_OURS;
    /* Padding before or after it. */
    const bool alert = leat_get_be32(hop + 2) == ESP_IPV6_ALERT ||
                       leat_get_be32(hop + 4) == ESP_IPV6_ALERT;
    if (hop[0] != LEAT_ESP_IP_PROTOCOL || hop[1] != 0 || !alert) return ESP_NOT_OURS;
    at->carriage = ESP_IPV6_RAW;
    at->packet_at = after + ESP_IPV6_ALERT_LEN;
    at->packet_len = room - ESP_IPV6_ALERT_LEN;
    return room < ESP_IPV6_ALERT_LEN ? ESP_FOUND_UNSOUND : ESP_FOUND;
}

static inline enum esp_found esp_find_kind(const uint8_t *data, const uint8_t *end, uint64_t len,
                                           struct esp_place *at)
{
    if (data + ESP_ETHERNET_LEN > end) return ESP_NOT_OURS;
    const uint32_t type = leat_get_be16(data + ESP_TYPE_AT);
    if (type == ESP_TYPE_IPV4) return esp_find_ipv4(data, end, len, at);
    if (type == ESP_TYPE_IPV6) return esp_find_ipv6(data, end, at);
    if (type != LEAT_ESP_ETHER_TYPE) return ESP_NOT_OURS;
    at->carriage = ESP_BARE;
    at->udp_at = 0;
    at->packet_at = ESP_ETHERNET_LEN;
    at->packet_len = (uint32_t)len - ESP_ETHERNET_LEN;
    return ESP_FOUND;
}

static inline enum esp_found esp_find(const uint8_t *data, const uint8_t *end, struct esp_place *at)
{
    uint64_t len = (uint64_t)(end - data);
    LEAT_ESP_HIDE(len); /* the verifier needs the whole difference of pointers */
    const enum esp_found found = esp_find_kind(data, end, len, at);
    /* More is announced than is present: reject the rest. */
    return found == ESP_FOUND && at->packet_at + at->packet_len > len ? ESP_FOUND_UNSOUND : found;
}

/* ---- leaving ------------------------------------------------------------------------------ */

/* Where a packet goes; an IPv4 address in the last four octets after ::ffff. */
static inline void esp_destination(const uint8_t *data, const uint8_t *end,
                                   const struct esp_place *at, uint64_t address[2])
{
    const uint8_t *ip = data + ESP_ETHERNET_LEN;
    address[0] = address[1] = 0;
    if (esp_is_ipv6(at) && ip + ESP_IPV6_LEN <= end) {
        esp_address_read(ip + ESP_IPV6_TO_AT, address);
    } else if (esp_is_ipv4(at) && ip + ESP_IPV4_LEN <= end) {
        address[1] = ESP_IPV4_MAPPED | leat_get_be32(ip + ESP_IPV4_TO_AT);
    }
}

/* The sender, in the same form; of a bare frame the Ethernet address. */
static inline void esp_source(const uint8_t *data, const uint8_t *end, const struct esp_place *at,
                              uint64_t address[2])
{
    const uint8_t *ip = data + ESP_ETHERNET_LEN;
    address[0] = address[1] = 0;
    if (esp_is_ipv6(at) && ip + ESP_IPV6_LEN <= end) {
        esp_address_read(ip + ESP_IPV6_FROM_AT, address);
    } else if (esp_is_ipv4(at) && ip + ESP_IPV4_LEN <= end) {
        address[1] = ESP_IPV4_MAPPED | leat_get_be32(ip + ESP_IPV4_FROM_AT);
    } else if (data + ESP_ETHERNET_LEN <= end) {
        address[1] = (uint64_t)leat_get_be32(data + ESP_FROM_AT) << 16 |
                     leat_get_be16(data + ESP_FROM_AT + 4);
    }
}

/* The sender as one number, for its budget. An IPv6 sender is represented by its /64 network. */
static inline uint64_t esp_source_folded(const uint8_t *data, const uint8_t *end,
                                         const struct esp_place *at)
{
    uint64_t address[2];
    esp_source(data, end, at, address);
    return address[0] ? address[0] : address[1];
}

/* Decrements the hop count. False: none is left, and nothing has changed. Bare links do not count
 * hops. */
static inline bool esp_hop(uint8_t *data, const uint8_t *end, const struct esp_place *at)
{
    uint8_t *ip = data + ESP_ETHERNET_LEN;
    if (ip + ESP_IPV4_LEN > end) return at->carriage == ESP_BARE;
    if (esp_is_ipv4(at)) {
        if (ip[ESP_IPV4_TTL_AT] <= 1) return false;
        ip[ESP_IPV4_TTL_AT]--;
        const uint32_t sum = leat_get_be16(ip + ESP_IPV4_SUM_AT) +
                             0x100u; /* RFC 1141: the word decreases by 0x100 */
        leat_put_be16(ip + ESP_IPV4_SUM_AT, (uint16_t)(sum + (sum >> 16)));
    } else if (esp_is_ipv6(at)) {
        if (ip[ESP_IPV6_HOPS_AT] <= 1) return false;
        ip[ESP_IPV6_HOPS_AT]--;
    }
    return true;
}

#endif
