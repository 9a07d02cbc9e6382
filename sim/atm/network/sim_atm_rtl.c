/*
 * The network at register level: in every cycle all SPDs, then all ports, then all PPDs
 * (spec/atm.md, 4.4). Idle units are skipped, and so are cycles in which everything is idle.
 */
#include "sim_atm_parts.h"
#include "sim_refuse.h"

struct wire { /* the input of a unit */
    const uint8_t *byte;
    const bool *byteind;
};

struct leat_sim_atm_rtl {
    struct leat_atm_bmx **bmx;    /* by switch */
    struct wire *into_ppd;        /* by PPD: an SPD or a port */
    const bool **suspends;        /* by SPD: a PPD or a port */
    struct leat_atm_spd **output; /* by port */
    struct leat_atm_ppd **input;
    bool busy; /* something moved in the last cycle */
};

static bool find(const void *context, uint32_t rank, uint32_t label, struct leat_atm_route *out)
{
    return leat_sim_atm_route(context, rank, label, out);
}

static struct leat_atm_bmx_config switch_config(const struct leat_sim_atm *sim, uint32_t stage,
                                                uint32_t unit)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    return (struct leat_atm_bmx_config){
        .inputs = net->stage[stage].inputs,
        .outputs = net->stage[stage].outputs,
        .cells = sim->fabric.buffer_cells,
        .header_len = net->header_octets,
        .depth = net->table_depth,
        .find = find,
        .context = sim,
        .rank = net->stage[stage].ppd_first + unit * net->stage[stage].inputs,
    };
}

void leat_sim_atm_rtl_lay(struct leat_sim_atm *sim, struct leat_arena *arena)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    struct leat_sim_atm_rtl *rtl = leat_arena_lay(arena, 1, sizeof *rtl), parts;
    parts.bmx = leat_arena_lay(arena, net->switch_count, sizeof(void *));
    parts.into_ppd = leat_arena_lay(arena, net->ppd_count, sizeof *parts.into_ppd);
    parts.suspends = leat_arena_lay(arena, net->spd_count, sizeof *parts.suspends);
    parts.output = leat_arena_lay(arena, net->ports, sizeof(void *));
    parts.input = leat_arena_lay(arena, net->ports, sizeof(void *));
    for (uint32_t stage = 0, s = 0; stage < net->stages; stage++)
        for (uint32_t unit = 0; unit < net->stage[stage].switch_count; unit++, s++) {
            const struct leat_atm_bmx_config config = switch_config(sim, stage, unit);
            const size_t len = leat_atm_bmx_footprint(&config);
            void *memory = leat_arena_lay(arena, 1, len);
            if (memory) {
                leat_sim_must(!leat_atm_bmx_init(memory, len, &config, &parts.bmx[s]));
            }
        }
    sim->rtl = rtl;
    if (!rtl) return;
    parts.busy = false;
    *rtl = parts;
}

static struct leat_atm_bmx *switch_at(const struct leat_sim_atm *sim,
                                      struct leat_atm_clos_place place)
{
    return sim->rtl->bmx[sim->fabric.net.stage[place.stage].switch_first + place.unit];
}

static struct leat_atm_ppd *ppd_at(const struct leat_sim_atm *sim, uint32_t ppd)
{
    const struct leat_atm_clos_place place = leat_atm_clos_ppd_place(&sim->fabric.net, ppd);
    return &switch_at(sim, place)->ppd[place.port];
}

static struct leat_atm_spd *spd_at(const struct leat_sim_atm *sim, uint32_t spd)
{
    const struct leat_atm_clos_place place = leat_atm_clos_spd_place(&sim->fabric.net, spd);
    return &switch_at(sim, place)->spd[place.port];
}

uint64_t leat_sim_atm_rtl_accepted(const struct leat_sim_atm *sim, uint32_t ppd)
{
    return sim->link_cells[ppd] + ppd_at(sim, ppd)->accepted;
}

/* Writes the entries of all labels, or only those of a group. Tables of channels are functions. */
static void fill_table(struct leat_sim_atm *sim, uint32_t ppd, uint32_t group)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const struct leat_atm_clos_place place = leat_atm_clos_ppd_place(net, ppd);
    struct leat_atm_route route;
    for (uint32_t label = 0; label < net->table_depth; label++) {
        if (group != LEAT_ATM_CLOS_NONE && leat_atm_clos_group(net, ppd, label) != group) continue;
        if (leat_sim_atm_route(sim, ppd, label, &route))
            leat_sim_must(!leat_atm_bmx_connect(switch_at(sim, place), place.port, label, &route));
    }
}

void leat_sim_atm_rtl_set_group(struct leat_sim_atm *sim, uint32_t group)
{
    for (uint32_t number = 0; number < sim->fabric.net.ppd_count; number++) {
        struct leat_atm_ppd *ppd = ppd_at(sim, number);
        fill_table(sim, number, group);
        /* Models look into tables when a header is checked; here it is translated a cycle before. */
        if (ppd->valid >> leat_atm_valid_ready(ppd->header_len) & 1) leat_atm_ppd_translate(ppd);
    }
}

void leat_sim_atm_rtl_init(struct leat_sim_atm *sim)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    struct leat_sim_atm_rtl *rtl = sim->rtl;
    for (uint32_t ppd = 0; ppd < net->ppd_count; ppd++) {
        const uint32_t feeder = leat_atm_clos_feeder(net, ppd);
        fill_table(sim, ppd, LEAT_ATM_CLOS_NONE);
        if (feeder == LEAT_ATM_CLOS_NONE) continue;
        const struct leat_atm_spd *spd = spd_at(sim, feeder);
        rtl->into_ppd[ppd] = (struct wire){ &spd->byte, &spd->byteind };
        rtl->suspends[feeder] = &ppd_at(sim, ppd)->suspend;
    }
    for (uint32_t p = 0; p < net->ports; p++) {
        struct leat_sim_atm_port *port = &sim->port[p];
        const uint32_t ppd = leat_atm_clos_input_ppd(net, p),
                       spd = leat_atm_clos_output_spd(net, p);
        rtl->input[p] = ppd_at(sim, ppd);
        rtl->output[p] = spd_at(sim, spd);
        rtl->into_ppd[ppd] = (struct wire){ &port->ogbyte, &port->ogbytei };
        rtl->suspends[spd] = &port->icsuspend;
    }
}

static void step_spds(struct leat_sim_atm *sim)
{
    struct leat_sim_atm_rtl *rtl = sim->rtl;
    bool busy = false;
    for (uint32_t s = 0, spd = 0; s < sim->fabric.net.switch_count; s++) {
        struct leat_atm_bmx *bmx = rtl->bmx[s];
        for (uint32_t output = 0; output < bmx->matrix.outputs; output++, spd++) {
            const bool suspend = *rtl->suspends[spd];
            if (!suspend && leat_atm_spd_is_idle(&bmx->spd[output], &bmx->matrix)) continue;
            leat_atm_spd_step(&bmx->spd[output], &bmx->matrix, suspend);
            busy = true;
        }
    }
    rtl->busy = busy;
}

/* A header is complete: the route of its cell is what faults leave of it. */
static void meet_faults(struct leat_sim_atm *sim, uint32_t number, struct leat_atm_ppd *unit)
{
    struct leat_atm_route route = { 0 };
    if (!(unit->valid >> leat_atm_valid_ready(unit->header_len) & 1)) return;
    const uint32_t label = leat_atm_label_get(unit->header, unit->header_len);
    leat_sim_atm_route(sim, number, label, &route);
    route.select = leat_sim_atm_faults_check(sim, number, label, sim->now, route.select);
    leat_atm_ppd_redirect(unit, &route);
}

static void step_ppds(struct leat_sim_atm *sim)
{
    struct leat_sim_atm_rtl *rtl = sim->rtl;
    for (uint32_t s = 0, ppd = 0; s < sim->fabric.net.switch_count; s++) {
        struct leat_atm_bmx *bmx = rtl->bmx[s];
        for (uint32_t input = 0; input < bmx->matrix.inputs; input++, ppd++) {
            const struct wire in = rtl->into_ppd[ppd];
            struct leat_atm_ppd *unit = &bmx->ppd[input];
            if (!*in.byteind && leat_atm_ppd_is_idle(unit)) continue;
            const uint64_t refused = unit->refused, dropped = unit->dropped;
            if (sim->faulty && sim->faulty->any) meet_faults(sim, ppd, unit);
            leat_atm_ppd_step(unit, &bmx->matrix, *in.byte, *in.byteind);
            if (sim->faulty && refused != unit->refused) leat_sim_atm_faults_forget(sim, ppd);
            sim->counts.suspensions += unit->refused - refused;
            sim->counts.unrouted += unit->dropped - dropped;
            rtl->busy = true;
        }
    }
}

bool leat_sim_atm_rtl_insert(struct leat_sim_atm *sim, uint32_t number, uint64_t outputs,
                             const uint8_t *cell)
{
    const struct leat_atm_clos_place place = leat_atm_clos_ppd_place(&sim->fabric.net, number);
    struct leat_atm_bmx *bmx = switch_at(sim, place);
    const struct leat_atm_ppd *ppd = &bmx->ppd[place.port];
    for (uint64_t left = outputs; left; left &= left - 1)
        if (!leat_sim_atm_fits_whole(
                sim,
                leat_atm_xpm_at(&bmx->matrix, ppd->input, (unsigned)__builtin_ctzll(left))->size))
            return false;
    for (; outputs; outputs &= outputs - 1)
        for (unsigned i = 0; i < CELL_LEN; i++)
            leat_atm_xpm_push(&bmx->matrix, ppd->input, (unsigned)__builtin_ctzll(outputs),
                              cell[i]);
    sim->rtl->busy = true;
    return true;
}

/* STATE6 counts octets like this (spec/atm.md, R5). */
static void take_octet(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    const bool stopped = port->icsuspend;
    port->icsuspend = false;
    if (!port->icbytei) {
        port->icsuspend = false;
        return;
    }
    if (stopped) {
        port->count = 0;
        return;
    }
    port->in[port->count] = port->icbyte;
    if (port->count == leat_sim_atm_stop_at(sim) && !leat_sim_atm_has_room(sim, p)) {
        port->icsuspend = true;
        sim->counts.port_refusals++;
    }
    if (++port->count < CELL_LEN) return;
    port->count = 0;
    if (sim->faulty && !leat_sim_atm_faults_arrives(sim, p, now)) return;
    leat_sim_atm_count_out(sim, p);
    sim->host.deliver(sim->host.context, p, port->in, now);
}

static void put_octet(struct leat_sim_atm *sim, struct leat_sim_atm_port *port, uint64_t now)
{
    port->bufi = now >= port->send_at && now - port->send_at < CELL_LEN;
    if (!port->bufi) return;
    port->buf = port->out[now - port->send_at];
    sim->rtl->busy = true;
}

static void step_port(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    port->ogbyte = port->buf;
    port->ogbytei = port->bufi;
    port->icbyte = sim->rtl->output[p]->byte;
    port->icbytei = sim->rtl->output[p]->byteind;
    port->ogsuspend = sim->rtl->input[p]->suspend;
    if (port->ogsuspend) {
        port->send_at = LEAT_NEVER;
        sim->host.refused(sim->host.context, p, now);
    }
    if (port->act_at <= now) {
        port->act_at = LEAT_NEVER;
        sim->host.act(sim->host.context, p, now);
    }
    put_octet(sim, port, now);
    take_octet(sim, p, now);
    if (port->ogbytei || port->icsuspend) sim->rtl->busy = true;
}

/* The first cycle with any event, after a cycle in which nothing moved. */
static uint64_t next_event(const struct leat_sim_atm *sim)
{
    uint64_t at = LEAT_NEVER;
    for (uint32_t p = 0; p < sim->fabric.net.ports; p++) {
        const struct leat_sim_atm_port *port = &sim->port[p];
        if (port->act_at < at) at = port->act_at;
        if (port->send_at >= sim->now && port->send_at < at) at = port->send_at;
    }
    return at;
}

void leat_sim_atm_rtl_run(struct leat_sim_atm *sim, uint64_t until)
{
    sim->pauses = false;
    while (sim->now < until && !sim->pauses) {
        if (!sim->rtl->busy) {
            const uint64_t at = next_event(sim);
            if (at > sim->now) sim->now = at < until ? at : until;
            if (sim->now == until) return;
        }
        step_spds(sim);
        for (uint32_t p = 0; p < sim->fabric.net.ports; p++)
            step_port(sim, p, sim->now);
        step_ppds(sim);
        sim->now++;
    }
}

/* An SPD's first action in a cycle is to put its buf on the link (spec/atm.md, 4.3, S1). */
void leat_sim_atm_wires(const struct leat_sim_atm *sim, uint32_t port,
                        struct leat_sim_atm_wires *out)
{
    assert(sim->model == LEAT_SIM_ATM_RTL);
    const struct leat_atm_spd *spd = sim->rtl->output[port];
    *out = (struct leat_sim_atm_wires){
        .icbyte = spd->buf,
        .icbytei = spd->bufind,
        .ogsuspend = sim->rtl->input[port]->suspend,
    };
}
