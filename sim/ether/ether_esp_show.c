/* Frames of ESP as octets, without FCS, for recordings. */
#include "ether_port_parts.h"
#include "leat_bytes.h"
#include "sim_refuse.h"
#include <leat/capture.h>
#include <string.h>

enum {
    ETHER_TYPE = 0x88B5, /* spec/esp.md */
    HEADER_LEN = LEAT_SIM_ETHER_HEADER_LEN,
    SHORTEST = LEAT_SIM_ETHER_FRAME_MIN - LEAT_SIM_ETHER_FCS_LEN,
};

bool leat_sim_ether_esp_place(const struct leat_port_net *base, uint32_t place,
                              struct leat_port_place *out)
{
    if (place > base->ports) return false;
    *out = (struct leat_port_place){ .what = place < base->ports ? "port" : "switch",
                                     .number = place % base->ports,
                                     .link_type = LEAT_LINK_ETHERNET };
    return true;
}

/* Its address is that before the first station's. */
static void put_address(const struct leat_sim_ether_port *p, uint32_t place, uint8_t *out)
{
    leat_sim_ether_port_address(place < p->base.ports ? place : UINT32_MAX, out);
}

static size_t write_packet(const struct leat_sim_ether_esp_packet *packet, uint8_t *out)
{
    const struct leat_esp_packet collect = leat_esp_gather_packet(&packet->group, packet->fold,
                                                                  packet->index, packet->value);
    uint8_t word[sizeof(uint64_t)];
    size_t len = 0;
    switch (packet->what) {
    case LEAT_SIM_ETHER_ESP_VALUE:
        leat_sim_must(!leat_esp_packet_encode(&collect, out, LEAT_ESP_GATHER_CAST_MAX, &len));
        return len;
    case LEAT_SIM_ETHER_ESP_RESULT:
        leat_put_be64(word, packet->value);
        return leat_esp_gather_cast(&packet->group, collect.computationId, packet->operation,
                                    packet->index, word, packet->len, out);
    case LEAT_SIM_ETHER_ESP_OCTETS: break;
    }
    return leat_esp_gather_cast(&packet->group, 0, packet->operation, packet->index, packet->octets,
                                packet->len, out);
}

void leat_sim_ether_esp_show(const struct leat_sim_ether_port *p,
                             const struct leat_sim_ether_esp_packet *packet, uint32_t from,
                             uint32_t to, uint64_t left, uint64_t arrived)
{
    const struct leat_port_observer *observer = &p->base.observer;
    uint8_t frame[HEADER_LEN + LEAT_ESP_GATHER_CAST_MAX] = { 0 };
    if (!observer->packet) return;
    put_address(p, to, frame);
    put_address(p, from, frame + LEAT_SIM_ETHER_MAC_LEN);
    leat_put_be16(frame + HEADER_LEN - 2, ETHER_TYPE);
    const size_t len = HEADER_LEN + write_packet(packet, frame + HEADER_LEN);
    struct leat_port_packet shown = { .place = from,
                                      .octets = frame,
                                      .len = leat_larger(len, SHORTEST) };
    observer->packet(observer->context, &shown, leat_sim_clock_at(&p->config.clock, left));
    shown.place = to;
    shown.is_out = true;
    observer->packet(observer->context, &shown, leat_sim_clock_at(&p->config.clock, arrived));
}
