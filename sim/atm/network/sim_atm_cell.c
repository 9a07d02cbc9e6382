/*
 * The network cell by cell (spec/atm.md, 8). A transfer that an SPD selects in cycle T:
 *
 *      T            T+5 (channels: T+7)                  T+53              T+54
 *      select ----> check by the PPD downstream -------> complete -------> last octet at a port
 *                   no room: select again in T+6         next select
 *
 * Crosspoint memories hold whole cells here. A cell is in a memory from its check on, and leaves
 * the memory upstream at the same time; the octets that the SPD has not yet taken there follow from
 * the cycle of its selection. So the end of a transfer needs no event, unless another cell waits
 * for the SPD. If a cell reaches an idle SPD, or one is refused, the selection in the next cycle is
 * decided at once; another cell that arrives in the same cycle decides it anew.
 */
#include "sim_atm_cell_parts.h"

enum { ROOM_FOR_SURE = 2 };     /* cells: one may arrive between select and check */
enum { EVENTS_AT_LEAST = 512 }; /* cycles, if strides are not possible */

static uint32_t memory_count(const struct leat_atm_clos *net)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < net->stages; i++)
        count += net->stage[i].switch_count * net->stage[i].inputs * net->stage[i].outputs;
    return count;
}

static struct leat_sim_agenda_shape agenda_shape(const struct leat_atm_clos *net)
{
    return (struct leat_sim_agenda_shape){
        .phases = PHASES,
        .entities = { [SPDS] = net->spd_count, [PORTS] = net->ports, [PPDS] = net->ppd_count },
    };
}

/* Cells that a part may take within a stride: those that its ports send, and one for each copy that
 * enters its memories, with the next one of each. */
static uint32_t cells_needed(const struct leat_sim_atm_fabric *fabric, uint32_t part)
{
    enum { SENT_MAX = 4, ENTER_MAX = 2 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < fabric->net.stages; i++) {
        const struct leat_atm_clos_stage *stage = &fabric->net.stage[i];
        const uint32_t switches = leat_sim_atm_fabric_part_begin(fabric, i, part + 1) -
                                  leat_sim_atm_fabric_part_begin(fabric, i, part);
        count += ENTER_MAX * switches * stage->inputs * stage->outputs;
        if (i == 0) count += SENT_MAX * switches * stage->inputs;
    }
    return count;
}

void leat_sim_atm_cells_lay(struct leat_sim_atm *sim, struct leat_arena *arena)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const struct leat_sim_agenda_shape shape = agenda_shape(net);
    struct leat_sim_atm_cells parts = { .memory_count = memory_count(net) };
    parts.places = sim->fabric.buffer_cells + 1;
    parts.parts = leat_sim_atm_fabric_parts(&sim->fabric);
    /* All full; and a port sends one, receives one, and has an octet of another one pending. */
    parts.cell_count = parts.memory_count * parts.places + 3 * net->ports;
    for (uint32_t part = 0; parts.parts > 1 && part < parts.parts; part++)
        parts.cell_count += cells_needed(&sim->fabric, part);
    sim->cells = leat_arena_lay(arena, 1, sizeof *sim->cells);
    parts.spd = leat_arena_lay_lines(arena, net->spd_count, sizeof *parts.spd);
    parts.ppd = leat_arena_lay_lines(arena, net->ppd_count, sizeof *parts.ppd);
    parts.memory = leat_arena_lay(arena, parts.memory_count, sizeof *parts.memory);
    parts.entry = leat_arena_lay(arena, (size_t)parts.memory_count * parts.places,
                                 sizeof *parts.entry);
    parts.cell = leat_arena_lay_lines(arena, parts.cell_count, sizeof *parts.cell);
    parts.pool = leat_arena_lay_lines(arena, parts.parts, sizeof *parts.pool);
    leat_sim_atm_strides_lay(&parts, &sim->fabric, arena);
    void *agenda = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
    if (!sim->cells) return;
    *sim->cells = parts;
    leat_sim_agenda_init(&sim->cells->agenda, &shape, agenda);
}

static void set_up_tables(struct leat_sim_atm *sim, uint32_t number)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const struct leat_atm_clos_stage *stage = &net->stage[number];
    struct leat_atm_clos_table *table = &sim->cells->table[number];
    leat_atm_clos_table_init(table, net, number);
    for (uint32_t i = 0; i < stage->switch_count * stage->inputs; i++) {
        struct ppd *ppd = &sim->cells->ppd[stage->ppd_first + i];
        struct leat_atm_route first;
        const bool known = leat_atm_clos_route(net, stage->ppd_first + i, 0, &first);
        assert(known);
        ppd->table = table;
        ppd->label_first = first.label;
    }
}

static void link_stage(struct leat_sim_atm *sim, const struct leat_atm_clos_stage *stage,
                       uint32_t *memory)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    for (uint32_t unit = 0; unit < stage->switch_count; unit++) {
        const uint32_t first_spd = stage->spd_first + unit * stage->outputs;
        for (uint32_t i = 0; i < stage->outputs; i++) {
            struct spd *spd = &sim->cells->spd[first_spd + i];
            const uint32_t ppd = leat_atm_clos_link(net, first_spd + i);
            spd->memory = *memory;
            *memory += stage->inputs;
            spd->to = ppd == LEAT_ATM_CLOS_NONE ? 0 : ppd; /* init sets ports and parts */
        }
        for (uint32_t i = 0; i < stage->inputs; i++) {
            const uint32_t p = stage->ppd_first + unit * stage->inputs + i;
            struct ppd *ppd = &sim->cells->ppd[p];
            ppd->from = leat_atm_clos_feeder(net, p);
            ppd->from_port = ppd->from == LEAT_ATM_CLOS_NONE;
            ppd->first_spd = first_spd;
            ppd->input = (uint8_t)i;
        }
    }
}

void leat_sim_atm_cells_init(struct leat_sim_atm *sim)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    struct leat_sim_atm_cells *cells = sim->cells;
    uint32_t memory = 0;
    for (uint32_t i = 0; i < net->stages; i++) {
        link_stage(sim, &net->stage[i], &memory);
        set_up_tables(sim, i);
    }
    for (uint32_t p = 0; p < net->ports; p++) {
        sim->port[p].out_ppd = leat_atm_clos_input_ppd(net, p);
        cells->ppd[sim->port[p].out_ppd].from = p;
        cells->spd[leat_atm_clos_output_spd(net, p)].to = p;
        sim->port[p].in_spd = leat_atm_clos_output_spd(net, p);
    }
    cells->check_after = net->header_octets + LEAT_ATM_ROLLBACK_EXTRA;
    cells->full_size_min = (int64_t)CELL_LEN * sim->fabric.buffer_cells - cells->check_after;
    cells->sure_count = sim->fabric.buffer_cells - 1; /* including the one that is leaving */
    cells->pool[0].end = cells->cell_count;
    for (uint32_t part = 0; part < cells->parts; part++)
        cells->pool[part].need = cells_needed(&sim->fabric, part);
    leat_sim_atm_strides_init(sim);
}

/* The pool with the most cells beyond its own need, if that counts. */
static struct pool *richest_but(struct leat_sim_atm_cells *cells, const struct pool *poor,
                                bool needs_count, uint32_t *surplus)
{
    struct pool *richest = NULL;
    *surplus = 0;
    for (uint32_t i = 0; i < cells->parts; i++) {
        struct pool *pool = &cells->pool[i];
        const uint32_t kept = needs_count ? pool->need : 0, count = pool_count(pool);
        if (pool == poor || count <= kept || count - kept <= *surplus) continue;
        *surplus = count - kept;
        richest = pool;
    }
    return richest;
}

/* Takes half of what another pool can do without, so that it happens rarely. */
static void provide(struct leat_sim_atm_cells *cells, struct pool *pool, uint32_t wanted,
                    bool needs_count)
{
    while (pool_count(pool) < wanted) {
        uint32_t surplus;
        struct pool *from = richest_but(cells, pool, needs_count, &surplus);
        assert(from);
        const uint32_t missing = wanted - pool_count(pool), half = surplus / 2;
        const uint32_t count = missing < half ? half : missing;
        pool_move(from, pool, cells->cell, count < surplus ? count : surplus);
    }
}

void leat_sim_atm_cells_provide(struct leat_sim_atm_cells *cells, uint32_t part)
{
    provide(cells, &cells->pool[part], cells->pool[part].need, true);
}

/* Events use one pool for the whole network. */
static uint32_t take_any_cell(struct leat_sim_atm_cells *cells, const uint8_t *octets)
{
    provide(cells, &cells->pool[0], 1, false);
    return take_cell(cells, &cells->pool[0], octets);
}

static void free_cell(struct leat_sim_atm_cells *cells, uint32_t number)
{
    pool_free(&cells->pool[0], cells->cell, number);
}

static void plan_port(struct leat_sim_atm *sim, uint32_t p)
{
    leat_sim_agenda_set(&sim->cells->agenda, PORTS, p, port_due(&sim->port[p]));
}

static void hurry_port(struct leat_sim_atm *sim, uint32_t p, uint64_t at)
{
    if (at < leat_sim_agenda_due(&sim->cells->agenda, PORTS, p))
        leat_sim_agenda_set(&sim->cells->agenda, PORTS, p, at);
}

void leat_sim_atm_cells_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    if (sim->cells->in_strides)
        leat_sim_atm_strides_wake(sim, port, at);
    else
        hurry_port(sim, port, at);
}

void leat_sim_atm_cells_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *octets,
                             uint64_t at)
{
    const uint32_t number = sim->port[port].out_ppd;
    struct ppd *ppd = &sim->cells->ppd[number];
    if (sim->cells->in_strides) {
        leat_sim_atm_strides_send(sim, port, octets, at);
        return;
    }
    sim->port[port].send_at = at;
    ppd->sent = (struct entry){ take_any_cell(sim->cells, octets),
                                leat_atm_label_get(octets, sim->fabric.net.header_octets) };
    ppd->incoming = &ppd->sent;
    /* The octets are on the link from at + 1 on, as an SPD's are from its select + 2 on. */
    leat_sim_agenda_set(&sim->cells->agenda, PPDS, number, at + sim->cells->check_after - 1);
}

const uint8_t *leat_sim_atm_cells_sent(const struct leat_sim_atm *sim, uint32_t port)
{
    return sim->cells->cell[sim->cells->ppd[sim->port[port].out_ppd].sent.cell].octets;
}

/* Strides count a cell before its check. */
bool leat_sim_atm_cells_is_early(const struct leat_sim_atm *sim, uint32_t ppd)
{
    return sim->cells->in_strides && awaits_check(&sim->cells->ppd[ppd], sim->now);
}

uint64_t leat_sim_atm_cells_accepted(const struct leat_sim_atm *sim, uint32_t ppd)
{
    return sim->link_cells[ppd] + sim->cells->ppd[ppd].accepted -
           leat_sim_atm_cells_is_early(sim, ppd);
}

static struct entry *top_entry(struct leat_sim_atm_cells *cells, const struct spd *spd)
{
    const uint32_t m = spd->memory + spd->selected;
    return entry_at(cells, m, cells->memory[m].head);
}

static void select_for_port(struct leat_sim_atm *sim, struct spd *spd)
{
    struct leat_sim_atm_port *port = &sim->port[spd->to];
    const uint64_t at = spd->free_at + 1;
    if (begin_arrival(port, at, *top_entry(sim->cells, spd))) hurry_port(sim, spd->to, at);
    if (!leat_sim_atm_faults_is_dead(sim, spd->to) &&
        sim->host.room(sim->host.context, spd->to) >= ROOM_FOR_SURE) {
        leave(sim->cells, spd);
        return;
    }
    port->check_at = selected_at(spd) + sim->cells->check_after;
    hurry_port(sim, spd->to, port->check_at);
}

/* Selects in cycle `at`, the present or the next one; there is a cell. */
static void select_cell(struct leat_sim_atm *sim, uint32_t number, uint64_t at)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct spd *spd = &cells->spd[number];
    assert(spd->waiting);
    spd->previous = spd->selected;
    spd->selected = next_input(spd->waiting, spd->previous);
    spd->free_at = at + CELL_LEN;
    spd->left = false;
    if (spd->cells > 1) leat_sim_agenda_set(&cells->agenda, SPDS, number, spd->free_at);
    if (is_to_port(spd))
        select_for_port(sim, spd);
    else {
        cells->ppd[spd->to].incoming = top_entry(cells, spd);
        leat_sim_agenda_set(&cells->agenda, PPDS, spd->to, at + cells->check_after);
    }
}

/* Another cell arrived before the one selected for the next cycle begins to leave. */
static void select_anew(struct leat_sim_atm *sim, uint32_t number)
{
    struct spd *spd = &sim->cells->spd[number];
    if (spd->left) {
        const struct leat_sim_atm_arrival *arrival = sim->port[spd->to].arrival;
        if (arrival->at != spd->free_at + 1) arrival++;
        come_back(sim->cells, spd, (struct entry){ arrival->cell, arrival->label });
    }
    spd->selected = spd->previous;
    select_cell(sim, number, selected_at(spd));
}

/* A refused cell stays at the head, and the next input that has a cell is selected in the next
 * cycle. */
static void take_back(struct leat_sim_atm *sim, uint32_t number, uint64_t now)
{
    leat_sim_agenda_set(&sim->cells->agenda, SPDS, number, LEAT_NEVER); /* it is not complete */
    select_cell(sim, number, now + 1);
}

/* Octets in a memory, as the register model would count them after the SPDs' step of `now`. */
static int64_t octets_in(const struct leat_sim_atm_cells *cells, const struct spd *spd,
                         uint8_t input, uint64_t now)
{
    int64_t octets = (int64_t)CELL_LEN * cells->memory[spd->memory + input].count;
    if (spd->selected == input && now < spd->free_at) {
        if (spd->left) octets += CELL_LEN;
        if (now > selected_at(spd)) octets -= (int64_t)(now - selected_at(spd));
    }
    return octets;
}

static bool has_room(const struct leat_sim_atm_cells *cells, const struct spd *spd, uint8_t input,
                     uint64_t now)
{
    if (cells->memory[spd->memory + input].count < cells->sure_count) return true;
    return octets_in(cells, spd, input, now) < cells->full_size_min;
}

/* Do all these outputs have room, for one input? One full memory refuses the whole cell. */
static bool have_room(const struct leat_sim_atm_cells *cells, const struct ppd *ppd,
                      uint64_t outputs, uint64_t now)
{
    for (; outputs; outputs &= outputs - 1)
        if (!has_room(cells, &cells->spd[ppd->first_spd + leat_sim_agenda_lowest(outputs)],
                      ppd->input, now))
            return false;
    return true;
}

static void enqueue(struct leat_sim_atm *sim, uint32_t number, uint8_t input, struct entry entry,
                    uint64_t now)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct spd *spd = &cells->spd[number];
    put_behind(cells, spd, input, entry);
    if (now >= spd->free_at)
        select_cell(sim, number, now + 1);
    else if (now < selected_at(spd))
        select_anew(sim, number);
    else
        leat_sim_agenda_set(&cells->agenda, SPDS, number, spd->free_at);
}

static void refuse(struct leat_sim_atm *sim, const struct ppd *ppd, uint64_t now)
{
    sim->counts.suspensions++;
    if (!ppd->from_port) {
        take_back(sim, ppd->from, now);
        return;
    }
    sim->port[ppd->from].refused_at = now + 1;
    hurry_port(sim, ppd->from, now + 1);
}

/* An entry that selects nothing is not an error of the label (spec/atm.md, 4.2). */
static bool is_unrouted(const struct leat_sim_atm *sim, uint32_t number, uint32_t label)
{
    struct leat_atm_route route;
    return label >= sim->fabric.net.table_depth && !leat_sim_atm_route(sim, number, label, &route);
}

/* ---- who looks on ---------------------------------------------------------------------------- */

uint32_t leat_sim_atm_cells_max(const struct leat_sim_atm *sim)
{
    return sim->cells->cell_count;
}

/* Its first octet was put on this wire in cycle `at`. */
static void see_crossing(struct leat_sim_atm *sim, uint32_t cell, uint32_t wire, uint64_t at)
{
    struct leat_sim_atm_watch *w = sim->watch;
    if (wire >= sim->fabric.net.spd_count || !w->number[cell]) w->number[cell] = ++w->numbers;
    w->crosses(w->context, w->number[cell], wire, at);
}

static void see_arrival(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_watch *w = sim->watch;
    const uint32_t cell = sim->port[p].arrival[0].cell;
    see_crossing(sim, cell, sim->port[p].in_spd, now - CELL_LEN);
    w->arrives(w->context, w->number[cell], p, now);
    w->number[cell] = 0;
}

/* A PPD has accepted it. */
static void see_acceptance(struct leat_sim_atm *sim, const struct ppd *ppd, uint32_t cell,
                           uint64_t outputs, uint64_t now)
{
    const uint32_t wire = ppd->from_port ? sim->fabric.net.spd_count + ppd->from : ppd->from;
    see_crossing(sim, cell, wire, now + 1 - sim->cells->check_after);
    if (!outputs) sim->watch->number[cell] = 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* A PPD has the header of the arriving cell: what is its route, and is there room? */
static void check(struct leat_sim_atm *sim, uint32_t number, uint64_t now)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct ppd *ppd = &cells->ppd[number];
    struct entry entry = *ppd->incoming;
    if (entry.label >= ppd->table->entries)
        sim->counts.unrouted += is_unrouted(sim, number, entry.label);
    uint64_t outputs = find_outputs(sim, number, now, &entry.label);
    if (!have_room(cells, ppd, outputs, now)) {
        if (sim->faulty) leat_sim_atm_faults_forget(sim, number);
        refuse(sim, ppd, now);
        if (ppd->from_port) free_cell(cells, entry.cell);
        return;
    }
    ppd->accepted++;
    if (sim->watch) see_acceptance(sim, ppd, entry.cell, outputs, now);
    if (!ppd->from_port) leave(cells, &cells->spd[ppd->from]);
    if (!outputs) free_cell(cells, entry.cell);
    while (outputs) {
        const uint32_t number_out = ppd->first_spd + leat_sim_agenda_lowest(outputs);
        outputs &= outputs - 1;
        const struct entry copy = entry;
        if (outputs) entry.cell = take_any_cell(cells, cells->cell[copy.cell].octets);
        enqueue(sim, number_out, ppd->input, copy, now);
    }
}

/* As a check that ended the last cycle. */
bool leat_sim_atm_cells_insert(struct leat_sim_atm *sim, uint32_t number, uint64_t outputs,
                               const uint8_t *octets)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const struct ppd *ppd = &cells->ppd[number];
    const uint32_t label = leat_atm_label_get(octets, sim->fabric.net.header_octets);
    assert(!cells->in_strides && sim->now);
    for (uint64_t left = outputs; left; left &= left - 1)
        if (!leat_sim_atm_fits_whole(
                sim, octets_in(cells, &cells->spd[ppd->first_spd + leat_sim_agenda_lowest(left)],
                               ppd->input, sim->now - 1)))
            return false;
    for (; outputs; outputs &= outputs - 1)
        enqueue(sim, ppd->first_spd + leat_sim_agenda_lowest(outputs), ppd->input,
                (struct entry){ take_any_cell(cells, octets), label }, sim->now - 1);
    return true;
}

/* The host has no room: the arriving cell returns to its memory. */
static void stop_arrival(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    sim->counts.port_refusals++;
    port->arrival[port->arrival[1].at == LEAT_NEVER ? 0 : 1].at = LEAT_NEVER;
    take_back(sim, port->in_spd, now);
}

static void act_port(struct leat_sim_atm *sim, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    sim->in_host = true;
    if (port->refused_at == now) {
        port->refused_at = LEAT_NEVER;
        sim->host.refused(sim->host.context, p, now);
    }
    if (port->act_at == now) {
        port->act_at = LEAT_NEVER;
        sim->host.act(sim->host.context, p, now);
    }
    if (port->check_at == now) {
        port->check_at = LEAT_NEVER;
        if (leat_sim_atm_has_room(sim, p))
            leave(sim->cells, &sim->cells->spd[port->in_spd]);
        else
            stop_arrival(sim, p, now);
    }
    if (port->arrival[0].at == now) {
        if (sim->watch) see_arrival(sim, p, now);
        sim->counts.cells_out += deliver(sim, sim->cells->pool, p, now);
    }
    sim->in_host = false;
    plan_port(sim, p);
}

/* Every event before `until` in its own cycle, or up to a pause. */
static void run_events(struct leat_sim_atm *sim, uint64_t until)
{
    struct leat_sim_agenda *agenda = &sim->cells->agenda;
    uint64_t now;
    uint32_t entity;
    while (leat_sim_agenda_advance(agenda, until, &now)) {
        while (leat_sim_agenda_any(agenda, SPDS) && leat_sim_agenda_take(agenda, SPDS, &entity))
            select_cell(sim, entity, now);
        while (leat_sim_agenda_any(agenda, PORTS) && leat_sim_agenda_take(agenda, PORTS, &entity))
            act_port(sim, entity, now);
        while (leat_sim_agenda_any(agenda, PPDS) && leat_sim_agenda_take(agenda, PPDS, &entity))
            check(sim, entity, now);
        if (sim->pauses) {
            sim->now = now + 1;
            return;
        }
    }
    if (until != LEAT_NEVER && until > sim->now) sim->now = until;
}

/* Strides find the routes of cells before they are checked. */
void leat_sim_atm_cells_before_tables(struct leat_sim_atm *sim)
{
    leat_sim_atm_strides_end(sim);
}

/* While there are faults, every label is looked up. */
void leat_sim_atm_cells_set_faults(struct leat_sim_atm *sim)
{
    static const struct leat_atm_clos_table empty;
    for (uint32_t s = 0; s < sim->fabric.net.stages; s++) {
        const struct leat_atm_clos_stage *stage = &sim->fabric.net.stage[s];
        for (uint32_t i = 0; i < stage->switch_count * stage->inputs; i++)
            sim->cells->ppd[stage->ppd_first + i].table = sim->faulty->any ? &empty
                                                                           : &sim->cells->table[s];
    }
}

uint64_t leat_sim_atm_cells_look_up(const struct leat_sim_atm *sim, uint32_t number, uint64_t at,
                                    uint32_t *label)
{
    struct leat_atm_route found = { 0 };
    leat_sim_atm_route(sim, number, *label, &found);
    if (sim->faulty && sim->faulty->any)
        found.select = leat_sim_atm_faults_check(sim, number, *label, at, found.select);
    *label = found.label;
    return found.select;
}

/* In strides if hosts and network allow it, else event by event. */
void leat_sim_atm_cells_run(struct leat_sim_atm *sim, uint64_t until)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    sim->pauses = false;
    if (!sim->host.stride) {
        assert(!cells->in_strides);
        run_events(sim, until);
        return;
    }
    assert(until != LEAT_NEVER);
    while (!sim->pauses && sim->now < until) {
        if (cells->in_strides ||
            (sim->now >= cells->events_until && leat_sim_atm_strides_begin(sim)))
            leat_sim_atm_strides_run(sim, until);
        if (cells->in_strides || sim->pauses || sim->now >= until) continue;
        if (sim->now >= cells->events_until) cells->events_until = sim->now + EVENTS_AT_LEAST;
        run_events(sim, until < cells->events_until ? until : cells->events_until);
    }
}
