/*
 * ESP packets as octets, for recordings. No key protects them: the MAC of a CAST is 0. Its serial
 * is the operation (32) and the word or chunk (32); hops are not counted.
 */
#include "esp_query.h"
#include "leat_bytes.h"
#include "net_esp_parts.h"
#include "sim_refuse.h"
#include <leat/capture.h>
#include <string.h>

enum { LINK_ESP = LEAT_LINK_USER0 + 2 }; /* spec/carriage.md */

bool leat_net_esp_place(const struct leat_net_esp *esp, uint32_t place, struct leat_port_place *out)
{
    const uint32_t hosts = leat_net_esp_host_count(esp);
    if (place >= esp->net->topology->terminals) return false;
    *out = (struct leat_port_place){ .what = place < hosts ? "port" : "router",
                                     .number = place < hosts ? place : place - hosts,
                                     .link_type = LINK_ESP };
    return true;
}

/* A result's word, or octets of a cast. */
static size_t write_cast(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet,
                         const struct leat_esp_packet *collect, uint8_t *out, size_t cap)
{
    const struct leat_port_part *what =
        &leat_net_esp_meaning(esp, packet->group, packet->operation)->what;
    const bool is_result = packet->what == LEAT_NET_ESP_RESULT;
    struct leat_esp_management m = {
        .opcode = LEAT_ESP_CAST,
        .computationId = is_result ? collect->computationId : 0,
        .cast = { .group = collect->chldCntTag,
                  .serial = packet->operation << 32 | packet->index,
                  .hops = UINT8_MAX,
                  .payload_len = (uint16_t)leat_net_esp_payload_of(esp, packet) },
    };
    size_t len = 0;
    if (is_result && m.cast.payload_len)
        leat_put_be64(m.cast.payload, packet->value);
    else if (m.cast.payload_len)
        memcpy(m.cast.payload, what->octets + (size_t)packet->index * esp->chunk,
               m.cast.payload_len);
    leat_sim_must(!leat_esp_management_encode(&m, NULL, out, cap, &len));
    return len;
}

void leat_net_esp_show(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet,
                       bool is_out)
{
    const struct leat_port_observer *observer = &esp->base->observer;
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len = 0;
    if (!observer->packet) return;
    struct leat_esp_packet collect = leat_net_esp_collect_of(esp, packet);
    if (packet->has_error) collect.flags |= LEAT_ESP_FLAG_E;
    if (packet->what == LEAT_NET_ESP_VALUE)
        leat_sim_must(!leat_esp_packet_encode(&collect, octets, sizeof octets, &len));
    else
        len = write_cast(esp, packet, &collect, octets, sizeof octets);
    const struct leat_port_packet shown = {
        .place = is_out ? packet->to : packet->from, .is_out = is_out, .octets = octets, .len = len
    };
    observer->packet(observer->context, &shown, leat_sim_clock_at(&esp->port->clock, esp->now));
}
