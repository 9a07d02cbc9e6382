#include "sim_atm_load_line_parts.h"
#include <assert.h>

void leat_sim_atm_load_line_init(struct leat_sim_atm_load *load)
{
    const struct leat_atm_clos *net = &load->config.fabric.net;
    struct leat_sim_atm_line_config line = load->config.line;
    line.label_count = net->paths * (net->ports + 1); /* the last ones are broadcast labels */
    line.header_octets = net->header_octets;
    assert(leat_sim_atm_line_config_check(&line, net->ports) == LEAT_ERR_OK);
    leat_sim_atm_line_medium_init(load->medium, &line);
    for (uint32_t port = 0; port < net->ports; port++) {
        struct leat_sim_atm_load_line *l = &load->line[port];
        leat_sim_atm_line_init(&l->to_network, load->medium, port, LEAT_SIM_ATM_LINE_TO_NETWORK);
        leat_sim_atm_line_init(&l->to_host, load->medium, port, LEAT_SIM_ATM_LINE_TO_HOST);
        l->next_at = LEAT_NEVER;
    }
}

/* Extra cells first, then the unit's own. If that is lost, its time passes nevertheless. */
static void send_piece(struct leat_sim_atm_load *load, uint32_t port, uint64_t at)
{
    struct leat_sim_atm_load_line *line = &load->line[port];
    const bool own = line->piece == line->out.extra_count;
    if (!own)
        leat_sim_atm_load_send_cell(load, port, line->out.extra[line->piece], at);
    else if (line->out.own_arrives)
        leat_sim_atm_load_send_cell(load, port, line->out.own, at);
    line->sent_at = at;
    line->next_at = own ? LEAT_NEVER : at + LEAT_SIM_ATM_LOAD_LINE_CYCLES;
}

void leat_sim_atm_load_line_send(struct leat_sim_atm_load *load, uint32_t port)
{
    struct leat_sim_atm_load_line *line = &load->line[port];
    struct leat_atm_aal_unit *unit = &load->host[port].unit;
    const uint64_t at = unit->line_at;
    leat_sim_atm_line_pass(&line->to_network, load->medium, unit->line_cell, at, &line->out);
    line->piece = 0;
    if (line->out.extra_count)
        leat_atm_aal_unit_hold(unit,
                               (uint64_t)LEAT_SIM_ATM_LOAD_LINE_CYCLES * line->out.extra_count);
    send_piece(load, port, at);
}

void leat_sim_atm_load_line_go_on(struct leat_sim_atm_load *load, uint32_t port, uint64_t at)
{
    load->line[port].piece++;
    send_piece(load, port, at);
}

void leat_sim_atm_load_line_send_again(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_line *line = &load->line[port];
    struct leat_atm_aal_unit *unit = &load->host[port].unit;
    if (line->piece < line->out.extra_count)
        leat_atm_aal_unit_hold(unit, now + 1 - line->sent_at);
    else {
        leat_atm_aal_unit_refuse(unit, now);
        unit->reported &= ~(uint32_t)LEAT_ATM_AAL_LINE;
    }
    send_piece(load, port, now + 1);
}

void leat_sim_atm_load_line_receive(struct leat_sim_atm_load *load, uint32_t port,
                                    const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_line *line = &load->line[port].to_host;
    struct leat_sim_atm_line_arrival in;
    leat_sim_atm_line_pass(line, load->medium, cell, now, &in);
    if (in.own_arrives) leat_sim_atm_load_receive_cell(load, port, in.own, now);
    for (uint32_t i = 0; i < in.extra_count; i++) {
        if (leat_atm_aal_unit_room(&load->host[port].unit) > 0)
            leat_sim_atm_load_receive_cell(load, port, in.extra[i], now);
        else
            line->counts.no_room++;
    }
}

void leat_sim_atm_load_lines(const struct leat_sim_atm_load *load,
                             struct leat_sim_atm_line_counts *out)
{
    *out = (struct leat_sim_atm_line_counts){ 0 };
    for (uint32_t port = 0; load->line && port < load->config.fabric.net.ports; port++) {
        leat_sim_atm_line_counts_add(out, &load->line[port].to_network.counts);
        leat_sim_atm_line_counts_add(out, &load->line[port].to_host.counts);
    }
}
