/*
 * Switches that watch their wires. Behind a silent wire, AIS goes downstream on every monitored
 * connection that passes it: a cell per period for each, one after the other.
 *
 *     period   |                              |
 *     slots    | c1 c2 c3 c4 . . . . . . . .  | c1 c2 c3 c4 . . .
 */
#include "sim_atm_oam.h"

enum { CELL_LEN = LEAT_ATM_CELL_LEN };

/* ---- who passes what ------------------------------------------------------------------------- */

uint32_t leat_sim_atm_oam_wires(const struct leat_sim_atm_fabric *fabric)
{
    return leat_sim_atm_wires_between(fabric) + fabric->net.ports;
}

uint32_t leat_sim_atm_oam_watch_measure(const struct leat_sim_atm_oam_config *config,
                                        uint32_t *passed)
{
    uint32_t sum = 0, wire[LEAT_SIM_ATM_WAY_MAX];
    for (uint32_t i = 0; i < 2 * config->pairs; i++) {
        const uint32_t *port = config->pair[i / 2].port;
        const struct leat_sim_atm_oam_way w = leat_sim_atm_oam_way(&config->fabric.net, port[i % 2],
                                                                   port[1 - i % 2]);
        const uint32_t count = leat_sim_atm_way(&config->fabric, w.from, w.to, w.path, wire);
        if (!count) return 0;
        sum += count;
        for (uint32_t k = 0; passed && k < count; k++)
            passed[wire[k]]++;
    }
    return sum;
}

static void pass(struct leat_sim_atm_oam *oam, uint32_t end, bool counts_only)
{
    uint32_t wire[LEAT_SIM_ATM_WAY_MAX];
    const struct leat_sim_atm_fabric *fabric = &oam->config.fabric;
    const struct leat_sim_atm_oam_way w = leat_sim_atm_oam_way(&fabric->net, oam->end[end].port,
                                                               oam->end[end].peer);
    const uint32_t count = leat_sim_atm_way(fabric, w.from, w.to, w.path, wire);
    for (uint32_t i = 0; i < count; i++) {
        struct leat_sim_atm_oam_wire *to = &oam->wire[wire[i]];
        if (!counts_only) oam->passing[to->first + to->count] = end;
        to->count++;
    }
}

void leat_sim_atm_oam_watch_init(struct leat_sim_atm_oam *oam)
{
    uint32_t first = 0;
    for (uint32_t end = 0; end < oam->ends; end++)
        pass(oam, end, true);
    for (uint32_t w = 0; w < oam->wires; w++) {
        oam->wire[w].first = first;
        oam->wire[w].round_at = LEAT_NEVER;
        first += oam->wire[w].count;
        oam->wire[w].count = 0;
    }
    for (uint32_t end = 0; end < oam->ends; end++)
        pass(oam, end, false);
}

/* ---- AIS ------------------------------------------------------------------------------------- */

static void send_ais(struct leat_sim_atm_oam *oam, uint32_t wire,
                     const struct leat_sim_atm_oam_end *end)
{
    const struct leat_atm_clos *net = &oam->config.fabric.net;
    const struct leat_sim_atm_oam_way w = leat_sim_atm_oam_way(net, end->port, end->peer);
    /* Switches of virtual paths know nothing of channels. */
    const struct leat_sim_atm_oam_flow flow = { .f5 = net->header_octets == LEAT_ATM_VC_HEADER };
    struct leat_atm_oam_defect defect = { .type = LEAT_SIM_ATM_OAM_LINE_FAILED };
    struct leat_atm_oam ais;
    uint8_t cell[CELL_LEN];
    leat_sim_atm_oam_put_wire(wire, defect.location);
    leat_atm_oam_defect_put(LEAT_ATM_OAM_AIS, &defect, &ais);
    leat_sim_atm_oam_write(net, flow, &w, &ais, cell);
    if (leat_sim_atm_insert(&oam->plain.sim, wire, w.from, w.to, w.path, cell))
        oam->counts.sent[LEAT_SIM_ATM_OAM_AIS]++;
    else
        oam->counts.refused++;
}

static void watch_wire(struct leat_sim_atm_oam *oam, uint32_t number)
{
    struct leat_sim_atm_oam_wire *wire = &oam->wire[number];
    const uint64_t now = oam->plain.sim.now;
    if (!leat_sim_atm_is_silent(&oam->plain.sim, number)) {
        wire->round_at = LEAT_NEVER;
        return;
    }
    if (wire->round_at == LEAT_NEVER) {
        wire->round_at = now;
        wire->next = 0;
    } else if (now >= wire->round_at + oam->config.period) {
        wire->round_at += oam->config.period;
        wire->next = 0;
    }
    if (wire->next == wire->count) return;
    send_ais(oam, number, &oam->end[oam->passing[wire->first + wire->next++]]);
}

void leat_sim_atm_oam_watch(struct leat_sim_atm_oam *oam)
{
    for (uint32_t w = 0; w < oam->wires; w++)
        if (oam->wire[w].count) watch_wire(oam, w);
    oam->watch_at = oam->plain.sim.now + CELL_LEN;
}
