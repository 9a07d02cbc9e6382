/*
 * The cell network in strides. Hosts affect each other only through cells, and a cell that is
 * selected for a port in cycle T has its last octet there in T+54. So all arrivals within a cell
 * time are known in advance, and that time can be simulated place by place:
 *
 *     cycles t+1 .. t+55     port 0, port 1, ...              receive cells, act, send cells
 *                            then the SPDs of the first stage, each with all its selections,
 *                            then those of the second one, ...
 *
 * Cells move downstream only, so no place depends on those downstream, with one exception: a full
 * memory refuses cells. If a memory has so many cells, or a host so little room, that this may
 * happen within a stride, the network continues event by event (sim_atm_cell.c) for a while. Both
 * ways do the same in the same cycles.
 *
 * A cell is recorded for its next memory as soon as it is selected upstream, with the cycle of its
 * check, from which on it is there; it enters the memory when the SPD reads it. At the end of a
 * stride, all selections up to and including the next cycle are settled.
 */
#include "sim_atm_cell_parts.h"

enum {
    WORD_BITS = 64,
    COMING_MAX = 2, /* cells into a memory, within a stride */
};

struct leat_sim_atm_strides {
    struct coming *coming; /* of all SPDs */
    uint64_t *marked;      /* SPDs with such cells, a bit each; every stage begins a word */
    uint32_t mark_words[LEAT_ATM_CLOS_STAGES_MAX + 1]; /* where its words begin; the end */
    uint32_t many;      /* with so many cells a memory might refuse one within the next stride */
    bool crowded;       /* some memory has had so many */
    uint64_t *port_at;  /* the time of a port's next event */
    uint64_t *ports_at; /* ... and of the first of 64 ports, or earlier */
};

static uint32_t words_over(uint32_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS;
}

static uint32_t stage_spds(const struct leat_atm_clos_stage *stage)
{
    return stage->switch_count * stage->outputs;
}

void leat_sim_atm_strides_lay(struct leat_sim_atm_cells *cells, const struct leat_atm_clos *net,
                              struct leat_arena *arena)
{
    struct leat_sim_atm_strides parts = { 0 };
    for (uint32_t i = 0; i < net->stages; i++)
        parts.mark_words[i + 1] = parts.mark_words[i] + words_over(stage_spds(&net->stage[i]));
    cells->strides = leat_arena_lay(arena, 1, sizeof *cells->strides);
    /* No more than fit into a memory. */
    parts.coming = leat_arena_lay(arena, (size_t)cells->memory_count * cells->places,
                                  sizeof *parts.coming);
    parts.marked = leat_arena_lay(arena, parts.mark_words[net->stages], sizeof *parts.marked);
    parts.port_at = leat_arena_lay(arena, net->ports, sizeof *parts.port_at);
    parts.ports_at = leat_arena_lay(arena, words_over(net->ports), sizeof *parts.ports_at);
    if (cells->strides) *cells->strides = parts;
}

void leat_sim_atm_strides_init(struct leat_sim_atm *sim)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    struct leat_sim_atm_cells *cells = sim->cells;
    cells->strides->many = cells->sure_count - COMING_MAX + 1;
    for (uint32_t i = 0; i < net->stages; i++)
        for (uint32_t k = 0; k < stage_spds(&net->stage[i]); k++) {
            struct spd *spd = &cells->spd[net->stage[i].spd_first + k];
            spd->mark_word = &cells->strides->marked[cells->strides->mark_words[i] + k / WORD_BITS];
            spd->mark_bit = k % WORD_BITS;
            spd->coming = &cells->strides->coming[(size_t)spd->memory * cells->places];
        }
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void mark(const struct spd *spd)
{
    *spd->mark_word |= UINT64_C(1) << spd->mark_bit;
}

/* Might the memory of this input refuse a cell within the next stride? The number of cells of all
 * inputs mostly answers this. */
static bool is_crowded_at(const struct leat_sim_atm_cells *cells, const struct spd *spd,
                          uint32_t input)
{
    const uint32_t many = cells->strides->many;
    if ((uint32_t)spd->cells + spd->coming_count < many) return false;
    uint32_t count = cells->memory[spd->memory + input].count;
    for (uint16_t i = 0; i < spd->coming_count; i++)
        count += spd->coming[i].input == input;
    return count >= many;
}

static void write_down(struct leat_sim_atm_cells *cells, struct spd *spd, uint8_t input,
                       struct entry entry, uint64_t at)
{
    spd->coming[spd->coming_count++] = (struct coming){ at, entry, input };
    if (is_crowded_at(cells, spd, input)) cells->strides->crowded = true;
    mark(spd);
}

/* A late copy of a cell to a group may come to a switch where its label has no members any more. It
 * exists until it is checked. */
static void free_dropped(struct leat_sim_atm_cells *cells, struct ppd *ppd)
{
    copy_cell(cells, ppd->sent.cell, 0);
    ppd->is_dropped = false;
}

/* A cell reaches a PPD, which checks it in cycle `at`: there is room. */
static void forward(struct leat_sim_atm *sim, uint32_t number, struct entry entry, uint64_t at)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct ppd *ppd = &cells->ppd[number];
    struct spd *spd = &cells->spd[ppd->first_spd];
    if (ppd->is_dropped) free_dropped(cells, ppd);
    sim->link_cells[number]++;
    ppd->sent = entry;
    ppd->check_at = at;
    assert(entry.label < ppd->label_count || sim->fabric.groups);
    uint64_t outputs = find_outputs(sim, number, &entry.label);
    ppd->is_dropped = !outputs;
    while (outputs) {
        write_down(cells, &spd[leat_sim_agenda_lowest(outputs)], ppd->input, entry, at);
        if (!(outputs &= outputs - 1)) return;
        cells->use[entry.cell].copies++;
    }
}

void leat_sim_atm_strides_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *octets,
                               uint64_t at)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const uint32_t label = leat_atm_label_get(octets, sim->fabric.net.header_octets);
    forward(sim, sim->port[port].out_ppd, (struct entry){ take_cell(cells, octets), label },
            at + cells->check_after - 1);
}

/* Cells that are there before cycle `at` enter their memories. */
static void come_in(struct leat_sim_atm_cells *cells, struct spd *spd, uint64_t at)
{
    uint16_t kept = 0;
    for (uint16_t i = 0; i < spd->coming_count; i++) {
        const struct coming *c = &spd->coming[i];
        if (c->at < at)
            put_behind(cells, spd, (uint8_t)c->input, c->entry);
        else if (kept++ < i)
            spd->coming[kept - 1] = *c;
    }
    spd->coming_count = kept;
}

/* The first cycle in which one of them is there. */
static uint64_t next_coming(const struct spd *spd)
{
    uint64_t at = LEAT_NEVER;
    for (uint16_t i = 0; i < spd->coming_count; i++)
        at = leat_smaller(at, spd->coming[i].at);
    return at;
}

/* A cell is sent from cycle `at` on. */
static void transfer(struct leat_sim_atm *sim, struct spd *spd, struct entry entry, uint64_t at)
{
    spd->selected_at = at;
    spd->free_at = at + CELL_LEN;
    if (!spd->to_port)
        forward(sim, spd->to, entry, at + sim->cells->check_after);
    else if (begin_arrival(&sim->port[spd->to], spd->free_at + 1, entry))
        leat_sim_atm_strides_wake(sim, spd->to, spd->free_at + 1);
}

/* A cell that is selected, and when. */
struct selection {
    struct entry entry;
    uint64_t at;
};

/* There is only one cell: it need not enter its memory. False: its turn is after the next cycle. */
static bool pass_one(struct spd *spd, uint64_t last, struct selection *out)
{
    const struct coming c = spd->coming[0];
    const uint64_t at = leat_larger(spd->free_at, c.at + 1);
    if (at > last + 1) return false;
    spd->coming_count = 0;
    spd->selected = (uint8_t)c.input;
    *out = (struct selection){ c.entry, at };
    return true;
}

static bool select_one(struct leat_sim_atm_cells *cells, struct spd *spd, uint64_t last,
                       struct selection *out)
{
    uint64_t at = spd->free_at;
    if (at > last + 1) return false;
    come_in(cells, spd, at);
    if (!spd->waiting) {
        at = next_coming(spd) + 1;
        if (at > last + 1) return false;
        come_in(cells, spd, at);
    }
    spd->selected = next_input(spd, spd->selected);
    const uint32_t m = spd->memory + spd->selected;
    *out = (struct selection){ *entry_at(cells, m, cells->memory[m].head), at };
    leave(cells, spd);
    return true;
}

/* All selections of an SPD up to and including the cycle after `last`. */
static void run_spd(struct leat_sim_atm *sim, struct spd *spd, uint64_t last)
{
    struct selection s;
    while (spd->waiting || spd->coming_count) {
        const bool one = !spd->waiting && spd->coming_count == 1;
        if (!(one ? pass_one(spd, last, &s) : select_one(sim->cells, spd, last, &s))) return;
        transfer(sim, spd, s.entry, s.at);
    }
    *spd->mark_word &= ~(UINT64_C(1) << spd->mark_bit);
}

static void run_spds(struct leat_sim_atm *sim, uint64_t last)
{
    const struct leat_sim_atm_strides *strides = sim->cells->strides;
    for (uint32_t i = 0; i < sim->fabric.net.stages; i++) {
        struct spd *spd = &sim->cells->spd[sim->fabric.net.stage[i].spd_first];
        for (uint32_t w = strides->mark_words[i]; w < strides->mark_words[i + 1]; w++) {
            for (uint64_t rest = strides->marked[w]; rest; rest &= rest - 1)
                run_spd(sim, spd + leat_sim_agenda_lowest(rest), last);
            spd += WORD_BITS;
        }
    }
}

/* ---- ports ----------------------------------------------------------------------------------- */

void leat_sim_atm_strides_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    struct leat_sim_atm_strides *strides = sim->cells->strides;
    strides->port_at[port] = leat_smaller(strides->port_at[port], at);
    strides->ports_at[port / WORD_BITS] = leat_smaller(strides->ports_at[port / WORD_BITS], at);
}

static void run_port(struct leat_sim_atm *sim, uint32_t p, uint64_t last)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    sim->in_host = true;
    while (port->arrival[0].at <= last)
        deliver(sim, p, port->arrival[0].at);
    if (port->act_at <= last) {
        port->act_at = LEAT_NEVER;
        sim->host.act(sim->host.context, p, last);
    }
    sim->in_host = false;
    sim->cells->strides->port_at[p] = leat_smaller(port->act_at, port->arrival[0].at);
}

static void run_ports(struct leat_sim_atm *sim, uint64_t last)
{
    struct leat_sim_atm_strides *strides = sim->cells->strides;
    const uint32_t ports = sim->fabric.net.ports;
    for (uint32_t w = 0; w < words_over(ports); w++) {
        if (strides->ports_at[w] > last) continue;
        const uint32_t end = (w + 1) * WORD_BITS < ports ? (w + 1) * WORD_BITS : ports;
        uint64_t next_at = LEAT_NEVER;
        for (uint32_t p = w * WORD_BITS; p < end; p++) {
            if (strides->port_at[p] <= last) run_port(sim, p, last);
            next_at = leat_smaller(next_at, strides->port_at[p]);
        }
        strides->ports_at[w] = next_at;
    }
}

/* The next cycle with anything to do, or an earlier one. */
static uint64_t next_cycle(const struct leat_sim_atm *sim)
{
    const struct leat_sim_atm_strides *strides = sim->cells->strides;
    uint64_t at = LEAT_NEVER;
    for (uint32_t w = 0; w < strides->mark_words[sim->fabric.net.stages]; w++)
        if (strides->marked[w]) return sim->now;
    for (uint32_t w = 0; w < words_over(sim->fabric.net.ports); w++)
        at = leat_smaller(at, strides->ports_at[w]);
    return leat_larger(at, sim->now);
}

/* ---- from events to strides and back --------------------------------------------------------- */

static bool is_crowded(const struct leat_sim_atm *sim)
{
    for (uint32_t i = 0; i < sim->fabric.net.spd_count; i++) {
        const struct spd *spd = &sim->cells->spd[i];
        for (uint32_t input = 0; input < spd->inputs; input++)
            if (is_crowded_at(sim->cells, spd, input)) return true;
    }
    return false;
}

/* The hosts are ready, no refusal is pending, and none is possible. */
static bool is_calm(const struct leat_sim_atm *sim)
{
    if (sim->cells->sure_count < COMING_MAX) return false;
    if (!sim->host.stride(sim->host.context, sim->now)) return false;
    for (uint32_t p = 0; p < sim->fabric.net.ports; p++)
        if (sim->port[p].refused_at != LEAT_NEVER || sim->port[p].check_at != LEAT_NEVER)
            return false;
    return !is_crowded(sim);
}

static void drop_event(struct leat_sim_atm_cells *cells, uint32_t phase, uint32_t entity)
{
    leat_sim_agenda_set(&cells->agenda, phase, entity, LEAT_NEVER);
}

static void begin_spd(struct leat_sim_atm_cells *cells, uint32_t number)
{
    struct spd *spd = &cells->spd[number];
    drop_event(cells, SPDS, number);
    if (spd->waiting) mark(spd);
}

/* A cell with a pending check leaves its memory and is recorded for the next one. */
static void foresee_check(struct leat_sim_atm *sim, uint32_t number)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct ppd *ppd = &cells->ppd[number];
    ppd->check_at = leat_sim_agenda_due(&cells->agenda, PPDS, number);
    if (ppd->check_at == LEAT_NEVER) return;
    drop_event(cells, PPDS, number);
    const struct entry entry = *ppd->incoming;
    if (!ppd->from_port) leave(cells, &cells->spd[ppd->from]);
    forward(sim, number, entry, ppd->check_at);
}

bool leat_sim_atm_strides_begin(struct leat_sim_atm *sim)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const struct leat_atm_clos *net = &sim->fabric.net;
    if (!is_calm(sim)) return false;
    cells->in_strides = true;
    for (uint32_t i = 0; i < net->spd_count; i++)
        begin_spd(cells, i);
    for (uint32_t i = 0; i < net->ppd_count; i++)
        foresee_check(sim, i);
    for (uint32_t w = 0; w < words_over(net->ports); w++)
        cells->strides->ports_at[w] = LEAT_NEVER;
    for (uint32_t p = 0; p < net->ports; p++) {
        drop_event(cells, PORTS, p);
        cells->strides->port_at[p] = LEAT_NEVER;
        leat_sim_atm_strides_wake(sim, p, port_due(&sim->port[p]));
    }
    run_spds(sim, sim->now - 1);
    return true;
}

static void end_spd(struct leat_sim_atm_cells *cells, uint32_t number, uint64_t now)
{
    struct spd *spd = &cells->spd[number];
    come_in(cells, spd, now);
    spd->coming_count = 0;
    spd->left = true;
    if (spd->waiting) leat_sim_agenda_set(&cells->agenda, SPDS, number, spd->free_at);
}

/* A cell with a pending check returns to where it was. */
static void await_check(struct leat_sim_atm *sim, uint32_t number, uint64_t now)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct ppd *ppd = &cells->ppd[number];
    if (!awaits_check(ppd, now)) {
        if (ppd->is_dropped) free_dropped(cells, ppd);
        return;
    }
    ppd->is_dropped = false;
    sim->link_cells[number]--;
    uint32_t label = ppd->sent.label;
    uint64_t copies = find_outputs(sim, number, &label);
    while (copies &= copies - 1)
        cells->use[ppd->sent.cell].copies--;
    ppd->incoming = &ppd->sent;
    if (!ppd->from_port) {
        struct spd *spd = &cells->spd[ppd->from];
        const uint32_t m = spd->memory + spd->selected;
        come_back(cells, spd, ppd->sent);
        spd->left = false;
        ppd->incoming = entry_at(cells, m, cells->memory[m].head);
    }
    leat_sim_agenda_set(&cells->agenda, PPDS, number, ppd->check_at);
}

/* Everything before cycle `now` is done; from there on event by event. */
static void end_strides(struct leat_sim_atm *sim, uint64_t now)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const struct leat_atm_clos *net = &sim->fabric.net;
    uint64_t none;
    const bool empty = !leat_sim_agenda_advance(&cells->agenda, now, &none);
    assert(empty);
    cells->in_strides = false;
    sim->counts.strides_ended++;
    sim->now = now;
    memset(cells->strides->marked, 0,
           cells->strides->mark_words[net->stages] * sizeof *cells->strides->marked);
    for (uint32_t i = 0; i < net->spd_count; i++)
        end_spd(cells, i, now);
    for (uint32_t i = 0; i < net->ppd_count; i++)
        await_check(sim, i, now);
    for (uint32_t p = 0; p < net->ports; p++)
        leat_sim_agenda_set(&cells->agenda, PORTS, p, port_due(&sim->port[p]));
}

void leat_sim_atm_strides_end(struct leat_sim_atm *sim)
{
    if (sim->cells->in_strides) end_strides(sim, sim->now);
}

void leat_sim_atm_strides_run(struct leat_sim_atm *sim, uint64_t until)
{
    struct leat_sim_atm_strides *strides = sim->cells->strides;
    while (!sim->pauses && sim->now < until) {
        const uint64_t from = next_cycle(sim);
        if (from >= until) {
            sim->now = until;
            return;
        }
        const uint64_t allowed = sim->host.stride(sim->host.context, from);
        if (!allowed || (strides->crowded && is_crowded(sim))) {
            end_strides(sim, from);
            return;
        }
        strides->crowded = false;
        const uint64_t last = leat_smaller(leat_smaller(allowed, until - 1),
                                           from + LEAT_SIM_ATM_STRIDE - 1);
        sim->counts.strides++;
        run_ports(sim, last);
        run_spds(sim, last);
        sim->now = last + 1;
    }
}
