/* ESP packets as octets, for recordings. */
#include "leat_bytes.h"
#include "net_esp_parts.h"
#include "sim_refuse.h"
#include <leat/capture.h>

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
                         uint64_t computation, uint8_t *out)
{
    const struct leat_net_esp_group *group = leat_net_esp_group_of(esp, packet->group);
    const struct leat_esp_gather gather = { .serial = group->serial, .epoch = group->epoch };
    const struct leat_port_part *what =
        &leat_net_esp_meaning(esp, packet->group, packet->operation)->what;
    const bool is_result = packet->what == LEAT_NET_ESP_RESULT;
    const uint64_t len = leat_net_esp_payload_of(esp, packet);
    const uint8_t *octets = len ? what->octets + (size_t)packet->index * esp->chunk : NULL;
    uint8_t word[sizeof(uint64_t)];
    leat_put_be64(word, packet->value);
    return leat_esp_gather_cast(&gather, is_result ? computation : 0, packet->operation,
                                packet->index, is_result ? word : octets, (size_t)len, out);
}

void leat_net_esp_show(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet,
                       bool is_out)
{
    const struct leat_port_observer *observer = &esp->base->observer;
    uint8_t octets[LEAT_ESP_GATHER_CAST_MAX];
    size_t len = 0;
    if (!observer->packet) return;
    struct leat_esp_packet collect = leat_net_esp_collect_of(esp, packet);
    if (packet->has_error) collect.flags |= LEAT_ESP_FLAG_E;
    if (packet->what == LEAT_NET_ESP_VALUE)
        leat_sim_must(!leat_esp_packet_encode(&collect, octets, sizeof octets, &len));
    else
        len = write_cast(esp, packet, collect.computationId, octets);
    const struct leat_port_packet shown = {
        .place = is_out ? packet->to : packet->from, .is_out = is_out, .octets = octets, .len = len
    };
    observer->packet(observer->context, &shown, leat_sim_clock_at(&esp->port->clock, esp->now));
}
