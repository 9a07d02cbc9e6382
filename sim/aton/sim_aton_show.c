/* The packets of a ring of ports, for recordings: as octet images, where stations see them. */
#include "sim_aton_parts.h"
#include "sim_aton_port_parts.h"
#include "sim_refuse.h"
#include <leat/capture.h>

enum { LINK_ATON = LEAT_LINK_USER0 + 1 }; /* spec/carriage.md */

bool leat_sim_aton_port_place(const struct leat_port_net *net, uint32_t place,
                              struct leat_port_place *out)
{
    if (place >= net->ports) return false;
    *out = (struct leat_port_place){ .what = "port", .number = place, .link_type = LINK_ATON };
    return true;
}

static bool is_watched(const struct leat_sim_aton_port *p)
{
    return p->base.observer.packet != NULL;
}

/* Seen at a bit time. */
static void tell(const struct leat_sim_aton_port *p, uint32_t station, bool is_out, size_t len,
                 uint64_t bit)
{
    const struct leat_port_observer *observer = &p->base.observer;
    const struct leat_port_packet packet = {
        .place = station, .is_out = is_out, .octets = p->image, .len = len
    };
    observer->packet(observer->context, &packet, leat_sim_clock_at(&p->config.clock, bit));
}

static const struct leat_aton_order *sent_by(const struct leat_sim_aton_port *p, uint32_t station)
{
    return &p->ring.entry[p->ring.seat[station].sends - 1].order;
}

/* Head and payload of a passive packet. */
static size_t draw_passive(struct leat_sim_aton_port *p, uint32_t from, const uint8_t *octets,
                           size_t octets_len)
{
    const struct leat_aton_order *order = sent_by(p, from);
    const struct leat_aton_packet packet = {
        .priority = order->command.priority,
        .da = order->command.da,
        .sa = leat_sim_aton_registers(&p->ring, from)->address,
        .payload = octets,
        .payload_len = octets_len,
    };
    size_t len = 0;
    leat_sim_must(!leat_aton_packet_encode(&packet, p->image, p->image_cap, &len));
    return len;
}

void leat_sim_aton_port_show_sent(struct leat_sim_aton_port *p, uint32_t station, uint64_t bit)
{
    if (!is_watched(p)) return;
    const struct leat_aton_order *order = sent_by(p, station);
    size_t len = 0;
    if (order->is_passive)
        len = draw_passive(p, station, order->octets, order->octets_len);
    else
        leat_sim_must(!leat_aton_begin(leat_sim_aton_registers(&p->ring, station), &order->command,
                                       p->image, p->image_cap, &len));
    tell(p, station, false, len, bit);
}

void leat_sim_aton_port_show_arrived(struct leat_sim_aton_port *p,
                                     const struct leat_sim_aton_arrival *a)
{
    if (is_watched(p))
        tell(p, a->station, true, draw_passive(p, a->from, a->octets, a->len), a->at);
}

void leat_sim_aton_port_show_returned(struct leat_sim_aton_port *p,
                                      const struct leat_sim_aton_result *r)
{
    const struct leat_aton_command *c = &r->order->command;
    if (!is_watched(p) || r->order->is_passive || r->result.status != LEAT_ATON_DONE) return;
    const struct leat_aton_packet packet = {
        .priority = c->priority,
        .active = 1,
        .opcode = c->opcode,
        .width_bits = c->width_bits,
        .reg = c->reg,
        .recognised = r->result.recognised,
        .copied = r->result.copied,
        .da = c->da,
        .sa = leat_sim_aton_registers(&p->ring, r->station)->address,
        .counter = r->result.counter,
        .param = c->param,
        .variable1 = r->result.variable1,
        .variable2 = r->result.variable2,
        .payload = r->payload,
        .payload_len = r->result.payload_len,
    };
    size_t len = 0;
    leat_sim_must(!leat_aton_packet_encode(&packet, p->image, p->image_cap, &len));
    tell(p, r->station, true, len, r->at);
}
