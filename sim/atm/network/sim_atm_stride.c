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
 * check, from which on it is there. An SPD selects among the cells in its memories and the recorded
 * ones that are there: only if there are many do they enter their memories, which are seldom in the
 * cache. At the end of a stride, all selections up to and including the next cycle are settled.
 *
 * Parts of the network do this at once, each for its own ports and switches:
 *
 *     part 0   ports, stage 0 \ / stage 1 \ / stage 2     between two stages all parts meet, and
 *     part 1   ports, stage 0 / \ stage 1 / \ stage 2     take the cells that came from others
 *
 * Nobody depends on the order of cells that reach a switch by different inputs.
 */
#include "sim_atm_cell_parts.h"

enum {
    WORD_BITS = 64,
    COMING_MAX = 2, /* cells into a memory, or over a link, within a stride */
    STAGES = LEAT_ATM_CLOS_STAGES_MAX,
};

/* A cell for a PPD of another part. */
struct parcel {
    uint64_t at; /* of its check */
    struct entry entry;
    uint32_t ppd;
};

enum { AHEAD = 4 };  /* SPDs that are prefetched */
enum { BATCH = 16 }; /* cells to PPDs of this part, which are prefetched meanwhile */

struct box { /* from one part to another, between two stages */
    struct parcel *parcel;
    uint32_t count, cap;
};

/* What one thread writes; lines of their own. */
struct part {
    _Alignas(LEAT_ARENA_LINE) uint64_t *marked; /* SPDs with coming cells, a bit each */
    uint32_t mark_words[STAGES + 1];            /* where the words of a stage begin; the end */
    uint32_t spd_first[STAGES];                 /* the one of the first bit */
    uint32_t port_first, port_end;
    uint64_t *ports_at;      /* the time of the next event of 64 ports, or earlier */
    uint64_t next_at;        /* the next cycle with anything to do, or an earlier one */
    uint64_t cells_out;      /* since the last call of collect() */
    bool crowded;            /* some memory has had so many cells */
    struct box *box[STAGES]; /* behind each stage, for each part */
    struct parcel batch[BATCH];
    uint32_t batch_count;
    struct pool *pool;
    uint32_t index;
};

struct leat_sim_atm_strides {
    struct part *part;
    uint32_t many;     /* with so many cells a memory might refuse one within the next stride */
    uint64_t *port_at; /* the time of a port's next event */
};

static uint32_t words_over(uint32_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t switches_of(const struct leat_sim_atm_fabric *fabric, uint32_t stage, uint32_t part)
{
    return leat_sim_atm_fabric_part_begin(fabric, stage, part + 1) -
           leat_sim_atm_fabric_part_begin(fabric, stage, part);
}

/* Two stages have one link from each switch to each. */
static void lay_boxes(struct part *part, const struct leat_sim_atm_fabric *fabric, uint32_t stage,
                      struct leat_arena *arena)
{
    const uint32_t parts = leat_sim_atm_fabric_parts(fabric);
    part->box[stage] = leat_arena_lay_lines(arena, parts, sizeof *part->box[stage]);
    for (uint32_t to = 0; to < parts; to++) {
        const uint32_t links = to == part->index ? 0
                                                 : switches_of(fabric, stage, part->index) *
                                                       switches_of(fabric, stage + 1, to);
        const uint32_t cap = COMING_MAX * links;
        struct parcel *parcel = leat_arena_lay_lines(arena, cap, sizeof *parcel);
        if (part->box[stage]) part->box[stage][to] = (struct box){ .parcel = parcel, .cap = cap };
    }
}

static struct part lay_part(const struct leat_sim_atm_fabric *fabric, uint32_t index,
                            struct leat_arena *arena)
{
    const struct leat_atm_clos *net = &fabric->net;
    struct part part = { .index = index, .next_at = LEAT_NEVER };
    for (uint32_t i = 0; i < net->stages; i++) {
        const struct leat_atm_clos_stage *stage = &net->stage[i];
        part.mark_words[i + 1] = part.mark_words[i] +
                                 words_over(switches_of(fabric, i, index) * stage->outputs);
        part.spd_first[i] = stage->spd_first +
                            leat_sim_atm_fabric_part_begin(fabric, i, index) * stage->outputs;
        if (i + 1 < net->stages) lay_boxes(&part, fabric, i, arena);
    }
    part.port_first = leat_sim_atm_fabric_part_begin(fabric, 0, index) * net->stage[0].inputs;
    part.port_end = leat_sim_atm_fabric_part_begin(fabric, 0, index + 1) * net->stage[0].inputs;
    part.marked = leat_arena_lay_lines(arena, part.mark_words[net->stages], sizeof *part.marked);
    part.ports_at = leat_arena_lay_lines(arena, words_over(part.port_end - part.port_first),
                                         sizeof *part.ports_at);
    return part;
}

void leat_sim_atm_strides_lay(struct leat_sim_atm_cells *cells,
                              const struct leat_sim_atm_fabric *fabric, struct leat_arena *arena)
{
    struct leat_sim_atm_strides parts = { 0 };
    cells->strides = leat_arena_lay(arena, 1, sizeof *cells->strides);
    parts.part = leat_arena_lay_lines(arena, cells->parts, sizeof *parts.part);
    /* No more than fit into a memory. */
    cells->coming_far = leat_arena_lay(arena, (size_t)cells->memory_count * cells->places,
                                       sizeof *cells->coming_far);
    parts.port_at = leat_arena_lay(arena, fabric->net.ports, sizeof *parts.port_at);
    for (uint32_t i = 0; i < cells->parts; i++) {
        struct part part = lay_part(fabric, i, arena);
        part.pool = cells->pool ? &cells->pool[i] : NULL;
        if (parts.part) parts.part[i] = part;
    }
    if (cells->strides) *cells->strides = parts;
}

static void init_spds(struct leat_sim_atm *sim, const struct part *part, uint32_t stage)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const struct leat_atm_clos_stage *s = &sim->fabric.net.stage[stage];
    const uint32_t count = switches_of(&sim->fabric, stage, part->index) * s->outputs;
    for (uint32_t k = 0; k < count; k++) {
        struct spd *spd = &cells->spd[part->spd_first[stage] + k];
        /* Output u of a switch is linked to switch u of the next stage. */
        const bool is_last = stage + 1 == sim->fabric.net.stages;
        spd->to_part = is_last ? TO_PORT
                               : (uint8_t)leat_sim_atm_fabric_part_of(&sim->fabric, stage + 1,
                                                                      k % s->outputs);
    }
}

void leat_sim_atm_strides_init(struct leat_sim_atm *sim)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    cells->strides->many = cells->sure_count - COMING_MAX + 1;
    for (uint32_t i = 0; i < cells->parts; i++)
        for (uint32_t stage = 0; stage < sim->fabric.net.stages; stage++)
            init_spds(sim, &cells->strides->part[i], stage);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* An SPD of a stage has coming cells. */
static inline void mark(struct part *part, uint32_t stage, uint32_t number)
{
    const uint32_t k = number - part->spd_first[stage];
    part->marked[part->mark_words[stage] + k / WORD_BITS] |= UINT64_C(1) << k % WORD_BITS;
}

/* Might the memory of this input refuse a cell within the next stride? The number of cells of all
 * inputs mostly answers this. */
static bool is_crowded_at(const struct leat_sim_atm_cells *cells, struct spd *spd, uint32_t input)
{
    const uint32_t many = cells->strides->many;
    if ((uint32_t)spd->cells + spd->coming_count < many) return false;
    uint32_t count = spd->waiting >> input & 1 ? cells->memory[spd->memory + input].count : 0;
    for (uint16_t i = 0; i < spd->coming_count; i++)
        count += coming_at(cells, spd, i)->input == input;
    return count >= many;
}

static inline void write_down(struct leat_sim_atm_cells *cells, struct part *part, uint32_t stage,
                              uint32_t number, struct coming coming)
{
    struct spd *spd = &cells->spd[number];
    *coming_at(cells, spd, spd->coming_count++) = coming;
    if (is_crowded_at(cells, spd, coming.input)) part->crowded = true;
    mark(part, stage, number);
}

/* A late copy of a cell to a group may come to a switch where its label has no members any more. It
 * exists until it is checked. */
static void free_dropped(struct leat_sim_atm_cells *cells, struct pool *pool, struct ppd *ppd)
{
    pool_free(pool, cells->cell, ppd->sent.cell);
    ppd->is_dropped = false;
}

/* A cell reaches a PPD of this part, which checks it in cycle `at`. The outputs that it goes to;
 * its label becomes the new one. */
static inline uint64_t reach(struct leat_sim_atm *sim, struct part *part, struct parcel *parcel)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct ppd *ppd = &cells->ppd[parcel->ppd];
    if (ppd->is_dropped) free_dropped(cells, part->pool, ppd);
    ppd->accepted++;
    ppd->sent = parcel->entry;
    ppd->check_at = parcel->at;
    assert(parcel->entry.label < ppd->table->entries || sim->fabric.groups || sim->faulty);
    const uint64_t outputs = find_outputs(sim, parcel->ppd, parcel->at, &parcel->entry.label);
    ppd->is_dropped = !outputs;
    return outputs;
}

/* It is recorded for its next memories: there is room. */
static inline void forward(struct leat_sim_atm *sim, struct part *part, uint32_t stage,
                           const struct parcel *parcel, uint64_t outputs)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const struct ppd *ppd = &cells->ppd[parcel->ppd];
    const uint32_t at = (uint32_t)parcel->at;
    const struct entry entry = parcel->entry;
    if (!outputs) return;
    write_down(cells, part, stage, ppd->first_spd + leat_sim_agenda_lowest(outputs),
               (struct coming){ at, entry, ppd->input, false });
    while (outputs &= outputs - 1)
        write_down(cells, part, stage, ppd->first_spd + leat_sim_agenda_lowest(outputs),
                   (struct coming){ at, copy_entry(cells, part->pool, entry), ppd->input, true });
}

/* In a large network neither PPDs nor SPDs are in the cache: each is prefetched for all cells of
 * the batch before the first needs it. */
static void forward_batch(struct leat_sim_atm *sim, struct part *part, uint32_t stage)
{
    const struct leat_sim_atm_cells *cells = sim->cells;
    uint64_t outputs[BATCH];
    for (uint32_t i = 0; i < part->batch_count; i++) {
        struct parcel *parcel = &part->batch[i];
        outputs[i] = reach(sim, part, parcel);
        if (outputs[i])
            leat_arena_fetch(&cells->spd[cells->ppd[parcel->ppd].first_spd +
                                         leat_sim_agenda_lowest(outputs[i])]);
    }
    for (uint32_t i = 0; i < part->batch_count; i++)
        forward(sim, part, stage, &part->batch[i], outputs[i]);
    part->batch_count = 0;
}

/* With the next batch, if the network is large: then its hosts want hints, too. */
static inline void forward_later(struct leat_sim_atm *sim, struct part *part, uint32_t stage,
                                 struct parcel parcel)
{
    if (!sim->host.fetch) {
        const uint64_t outputs = reach(sim, part, &parcel);
        forward(sim, part, stage, &parcel, outputs);
        return;
    }
    leat_arena_fetch(&sim->cells->ppd[parcel.ppd]);
    part->batch[part->batch_count++] = parcel;
    if (part->batch_count == BATCH) forward_batch(sim, part, stage);
}

void leat_sim_atm_strides_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *octets,
                               uint64_t at)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct part *part = &cells->strides->part[sim->port[port].part];
    const uint32_t label = leat_atm_label_get(octets, sim->fabric.net.header_octets);
    const struct entry entry = { take_cell(cells, part->pool, octets), label };
    forward_later(sim, part, 0,
                  (struct parcel){ at + cells->check_after - 1, entry, sim->port[port].out_ppd });
    if (!sim->in_stride) forward_batch(sim, part, 0);
}

static void post(struct box *box, const struct parcel *parcel)
{
    assert(box->count < box->cap);
    box->parcel[box->count++] = *parcel;
}

/* Takes the cells that the other parts sent from the stage before. */
static void take_parcels(struct leat_sim_atm *sim, struct part *part, uint32_t stage)
{
    for (uint32_t from = 0; stage && from < sim->cells->parts; from++) {
        struct box *box = &sim->cells->strides->part[from].box[stage - 1][part->index];
        for (uint32_t i = 0; i < box->count; i++)
            forward_later(sim, part, stage, box->parcel[i]);
        box->count = 0;
    }
    forward_batch(sim, part, stage);
}

/* Cells that are there before cycle `at` enter their memories. */
static void come_in(struct leat_sim_atm_cells *cells, struct spd *spd, uint64_t at)
{
    uint16_t kept = 0;
    for (uint16_t i = 0; i < spd->coming_count; i++) {
        const struct coming *c = coming_at(cells, spd, i);
        if (has_come(c, at))
            put_behind(cells, spd, c->input, c->entry);
        else if (kept++ < i)
            *coming_at(cells, spd, kept - 1u) = *c;
    }
    spd->coming_count = kept;
}

/* The first cycle in which one of them is there. */
static uint64_t next_coming(const struct leat_sim_atm_cells *cells, struct spd *spd, uint64_t now)
{
    uint64_t at = LEAT_NEVER;
    for (uint16_t i = 0; i < spd->coming_count; i++)
        at = leat_smaller(at, coming_since(coming_at(cells, spd, i), now));
    return at;
}

/* The inputs of those that are there before cycle `at`. */
static uint64_t inputs_there(const struct leat_sim_atm_cells *cells, struct spd *spd, uint64_t at)
{
    uint64_t inputs = 0;
    for (uint16_t i = 0; i < spd->coming_count; i++) {
        const struct coming *c = coming_at(cells, spd, i);
        inputs |= (uint64_t)has_come(c, at) << c->input;
    }
    return inputs;
}

/* The first of an input leaves, and never enters its memory. */
static struct entry take_coming(const struct leat_sim_atm_cells *cells, struct spd *spd,
                                uint32_t input)
{
    uint32_t i = 0;
    while (coming_at(cells, spd, i)->input != input)
        i++;
    const struct entry entry = coming_at(cells, spd, i)->entry;
    for (spd->coming_count--; i < spd->coming_count; i++)
        *coming_at(cells, spd, i) = *coming_at(cells, spd, i + 1);
    return entry;
}

static struct entry take_stored(struct leat_sim_atm_cells *cells, struct spd *spd)
{
    const uint32_t m = spd->memory + spd->selected;
    const struct entry entry = *entry_at(cells, m, cells->memory[m].head);
    leave(cells, spd);
    return entry;
}

static void wake_port(struct leat_sim_atm *sim, struct part *part, uint32_t port, uint64_t at)
{
    uint64_t *ports_at = &part->ports_at[(port - part->port_first) / WORD_BITS];
    uint64_t *port_at = &sim->cells->strides->port_at[port];
    *port_at = leat_smaller(*port_at, at);
    *ports_at = leat_smaller(*ports_at, at);
}

/* A cell is sent from cycle `at` on. */
static void transfer(struct leat_sim_atm *sim, struct part *part, uint32_t stage, struct spd *spd,
                     struct entry entry, uint64_t at)
{
    const uint64_t check_at = at + sim->cells->check_after;
    spd->free_at = at + CELL_LEN;
    if (is_to_port(spd)) {
        if (begin_arrival(&sim->port[spd->to], spd->free_at + 1, entry))
            wake_port(sim, part, spd->to, spd->free_at + 1);
    } else if (spd->to_part == part->index)
        forward_later(sim, part, stage + 1, (struct parcel){ check_at, entry, spd->to });
    else
        post(&part->box[stage][spd->to_part], &(struct parcel){ check_at, entry, spd->to });
}

/* A cell that is selected, and when. */
struct selection {
    struct entry entry;
    uint64_t at;
};

/* There is only one cell: it need not enter its memory. False: its turn is after the next cycle. */
static bool pass_one(struct spd *spd, uint64_t last, struct selection *out)
{
    const struct coming c = spd->near[0];
    const uint64_t at = leat_larger(spd->free_at, coming_since(&c, last) + 1);
    if (at > last + 1) return false;
    spd->coming_count = 0;
    spd->selected = c.input;
    *out = (struct selection){ c.entry, at };
    return true;
}

static bool select_one(struct leat_sim_atm_cells *cells, struct spd *spd, uint64_t last,
                       struct selection *out)
{
    uint64_t at = spd->free_at;
    if (at > last + 1) return false;
    if (spd->coming_count > NEAR_COMING) come_in(cells, spd, at);
    uint64_t inputs = spd->waiting | inputs_there(cells, spd, at);
    if (!inputs) {
        at = next_coming(cells, spd, last) + 1;
        if (at > last + 1) return false;
        inputs = inputs_there(cells, spd, at);
    }
    spd->selected = next_input(inputs, spd->selected);
    const bool stored = spd->waiting >> spd->selected & 1;
    out->entry = stored ? take_stored(cells, spd) : take_coming(cells, spd, spd->selected);
    out->at = at;
    return true;
}

/* All selections of an SPD up to and including the cycle after `last`. False: it has more cells. */
static bool run_spd(struct leat_sim_atm *sim, struct part *part, uint32_t stage, struct spd *spd,
                    uint64_t last)
{
    struct selection s;
    while (spd->waiting || spd->coming_count) {
        const bool one = !spd->waiting && spd->coming_count == 1;
        if (!(one ? pass_one(spd, last, &s) : select_one(sim->cells, spd, last, &s))) return false;
        transfer(sim, part, stage, spd, s.entry, s.at);
    }
    return true;
}

static void run_spds(struct leat_sim_atm *sim, struct part *part, uint32_t stage, uint64_t last)
{
    struct spd *spd = &sim->cells->spd[part->spd_first[stage]];
    for (uint32_t w = part->mark_words[stage]; w < part->mark_words[stage + 1]; w++) {
        uint64_t ahead = sim->host.fetch ? part->marked[w] : 0;
        for (uint32_t i = 0; ahead && i < AHEAD; i++, ahead &= ahead - 1)
            leat_arena_fetch(spd + leat_sim_agenda_lowest(ahead));
        for (uint64_t rest = part->marked[w]; rest; rest &= rest - 1) {
            if (ahead) leat_arena_fetch(spd + leat_sim_agenda_lowest(ahead));
            ahead &= ahead - 1;
            if (run_spd(sim, part, stage, spd + leat_sim_agenda_lowest(rest), last))
                part->marked[w] &= ~(rest & -rest);
        }
        spd += WORD_BITS;
    }
    forward_batch(sim, part, stage + 1);
}

/* ---- ports ----------------------------------------------------------------------------------- */

void leat_sim_atm_strides_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    struct part *part = &sim->cells->strides->part[sim->port[port].part];
    wake_port(sim, part, port, at);
    part->next_at = leat_smaller(part->next_at, at);
}

static void run_port(struct leat_sim_atm *sim, struct part *part, uint32_t p, uint64_t last)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    while (port->arrival[0].at <= last) {
        part->cells_out += deliver(sim, part->pool, p, port->arrival[0].at);
    }
    if (port->act_at <= last) {
        port->act_at = LEAT_NEVER;
        sim->host.act(sim->host.context, p, last);
    }
    sim->cells->strides->port_at[p] = leat_smaller(port->act_at, port->arrival[0].at);
}

/* What the next ports touch is prefetched: first the port and its host, then its cell, then what
 * both point to. */
static void fetch_ports(const struct leat_sim_atm *sim, const uint32_t *due, uint32_t count,
                        uint64_t last)
{
    enum { HOST = 4, CELL = 2, MORE = 1 }; /* ports ahead */
    const struct leat_sim_atm_host *host = &sim->host;
    if (count > HOST) {
        leat_arena_fetch(&sim->port[due[HOST]]);
        host->fetch(host->context, due[HOST]);
    }
    if (count > CELL && sim->port[due[CELL]].arrival[0].at <= last)
        leat_arena_fetch(&sim->cells->cell[sim->port[due[CELL]].arrival[0].cell]);
    if (count > MORE) {
        const struct leat_sim_atm_arrival *arrival = &sim->port[due[MORE]].arrival[0];
        host->fetch_more(host->context, due[MORE],
                         arrival->at <= last ? sim->cells->cell[arrival->cell].octets : NULL, last);
    }
}

/* Some ports; the time of their next event, or earlier. */
static uint64_t run_some_ports(struct leat_sim_atm *sim, struct part *part, uint32_t first,
                               uint32_t end, uint64_t last)
{
    const uint64_t *port_at = sim->cells->strides->port_at;
    uint32_t due[WORD_BITS], count = 0;
    uint64_t next_at = LEAT_NEVER;
    for (uint32_t p = first; p < end; p++) {
        due[count] = p;
        count += port_at[p] <= last;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (sim->host.fetch) fetch_ports(sim, due + i, count - i, last);
        run_port(sim, part, due[i], last);
    }
    for (uint32_t p = first; p < end; p++)
        next_at = leat_smaller(next_at, port_at[p]);
    return next_at;
}

static void run_ports(struct leat_sim_atm *sim, struct part *part, uint64_t last)
{
    uint64_t *ports_at = part->ports_at;
    for (uint32_t first = part->port_first; first < part->port_end; first += WORD_BITS) {
        const uint32_t end = first + WORD_BITS < part->port_end ? first + WORD_BITS
                                                                : part->port_end;
        if (*ports_at <= last) *ports_at = run_some_ports(sim, part, first, end, last);
        ports_at++;
    }
    forward_batch(sim, part, 0);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The next cycle with anything to do in this part, or an earlier one. */
static uint64_t next_cycle_of(const struct leat_sim_atm *sim, const struct part *part)
{
    uint64_t at = LEAT_NEVER;
    for (uint32_t w = 0; w < part->mark_words[sim->fabric.net.stages]; w++)
        if (part->marked[w]) return 0;
    for (uint32_t w = 0; w < words_over(part->port_end - part->port_first); w++)
        at = leat_smaller(at, part->ports_at[w]);
    return at;
}

/* A stride, and the members of the crew that simulate it. */
struct stride {
    struct leat_sim_atm *sim;
    uint64_t last;
    uint32_t members;
    struct leat_sim_crew *crew; /* NULL: one member */
};

/* Parts are dealt out to members in turn. */
static void run_member(void *context, uint32_t member)
{
    const struct stride *s = context;
    struct leat_sim_atm *sim = s->sim;
    const uint32_t parts = sim->cells->parts, stages = sim->fabric.net.stages;
    struct part *part = sim->cells->strides->part;
    for (uint32_t i = member; i < parts; i += s->members)
        run_ports(sim, &part[i], s->last);
    for (uint32_t stage = 0; stage < stages; stage++) {
        if (stage) leat_sim_crew_meet(s->crew);
        for (uint32_t i = member; i < parts; i += s->members) {
            take_parcels(sim, &part[i], stage);
            run_spds(sim, &part[i], stage, s->last);
        }
    }
    for (uint32_t i = member; i < parts; i += s->members) {
        part[i].next_at = next_cycle_of(sim, &part[i]);
        if (sim->crew.part_done) sim->crew.part_done(sim->host.context, i);
    }
}

static void run_stride(struct leat_sim_atm *sim, uint64_t last)
{
    struct leat_sim_crew *crew = sim->cells->parts > 1 ? sim->crew.crew : NULL;
    struct stride s = { sim, last, leat_sim_crew_members(crew), crew };
    for (uint32_t i = 0; sim->cells->parts > 1 && i < sim->cells->parts; i++)
        leat_sim_atm_cells_provide(sim->cells, i);
    sim->in_host = sim->in_stride = true;
    leat_sim_crew_do(crew, run_member, &s);
    sim->in_host = sim->in_stride = false;
    if (sim->crew.stride_done) sim->crew.stride_done(sim->host.context);
}

static uint64_t next_cycle(const struct leat_sim_atm *sim)
{
    uint64_t at = LEAT_NEVER;
    for (uint32_t i = 0; i < sim->cells->parts; i++)
        at = leat_smaller(at, sim->cells->strides->part[i].next_at);
    return leat_larger(at, sim->now);
}

/* What parts have counted. */
static void collect(struct leat_sim_atm *sim)
{
    for (uint32_t i = 0; i < sim->cells->parts; i++) {
        struct part *part = &sim->cells->strides->part[i];
        sim->counts.cells_out += part->cells_out;
        part->cells_out = 0;
    }
}

/* Has a memory had so many cells that one may be refused? Forgets it. */
static bool was_crowded(struct leat_sim_atm *sim)
{
    bool crowded = false;
    for (uint32_t i = 0; i < sim->cells->parts; i++) {
        crowded = crowded || sim->cells->strides->part[i].crowded;
        sim->cells->strides->part[i].crowded = false;
    }
    return crowded;
}

/* ---- from events to strides and back --------------------------------------------------------- */

static bool is_crowded(const struct leat_sim_atm *sim)
{
    for (uint32_t s = 0; s < sim->fabric.net.stages; s++) {
        const struct leat_atm_clos_stage *stage = &sim->fabric.net.stage[s];
        for (uint32_t i = 0; i < stage->switch_count * stage->outputs; i++)
            for (uint32_t input = 0; input < stage->inputs; input++)
                if (is_crowded_at(sim->cells, &sim->cells->spd[stage->spd_first + i], input))
                    return true;
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

static void begin_spds(struct leat_sim_atm *sim, struct part *part, uint32_t stage)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    const uint32_t count = switches_of(&sim->fabric, stage, part->index) *
                           sim->fabric.net.stage[stage].outputs;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t number = part->spd_first[stage] + k;
        drop_event(cells, SPDS, number);
        if (cells->spd[number].waiting) mark(part, stage, number);
    }
}

/* A cell with a pending check leaves its memory and is recorded for the next one. */
static void foresee_check(struct leat_sim_atm *sim, struct part *part, uint32_t stage,
                          uint32_t number)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct ppd *ppd = &cells->ppd[number];
    ppd->check_at = leat_sim_agenda_due(&cells->agenda, PPDS, number);
    if (ppd->check_at == LEAT_NEVER) return;
    drop_event(cells, PPDS, number);
    const struct entry entry = *ppd->incoming;
    if (!ppd->from_port) leave(cells, &cells->spd[ppd->from]);
    forward_later(sim, part, stage, (struct parcel){ ppd->check_at, entry, number });
}

static void foresee_checks(struct leat_sim_atm *sim)
{
    for (uint32_t i = 0; i < sim->fabric.net.stages; i++) {
        const struct leat_atm_clos_stage *stage = &sim->fabric.net.stage[i];
        for (uint32_t k = 0; k < stage->switch_count * stage->inputs; k++) {
            const uint32_t part = leat_sim_atm_fabric_part_of(&sim->fabric, i, k / stage->inputs);
            foresee_check(sim, &sim->cells->strides->part[part], i, stage->ppd_first + k);
        }
        for (uint32_t part = 0; part < sim->cells->parts; part++)
            forward_batch(sim, &sim->cells->strides->part[part], i);
    }
}

static void begin_ports(struct leat_sim_atm *sim, struct part *part)
{
    for (uint32_t w = 0; w < words_over(part->port_end - part->port_first); w++)
        part->ports_at[w] = LEAT_NEVER;
    for (uint32_t p = part->port_first; p < part->port_end; p++) {
        drop_event(sim->cells, PORTS, p);
        sim->cells->strides->port_at[p] = LEAT_NEVER;
        wake_port(sim, part, p, port_due(&sim->port[p]));
    }
}

bool leat_sim_atm_strides_begin(struct leat_sim_atm *sim)
{
    struct leat_sim_atm_cells *cells = sim->cells;
    struct part *part = cells->strides->part;
    if (!is_calm(sim)) return false;
    cells->in_strides = true;
    for (uint32_t i = 0; cells->parts > 1 && i < cells->parts; i++)
        leat_sim_atm_cells_provide(cells, i);
    for (uint32_t i = 0; i < cells->parts; i++)
        for (uint32_t stage = 0; stage < sim->fabric.net.stages; stage++)
            begin_spds(sim, &part[i], stage);
    foresee_checks(sim);
    for (uint32_t i = 0; i < cells->parts; i++)
        begin_ports(sim, &part[i]);
    for (uint32_t stage = 0; stage < sim->fabric.net.stages; stage++)
        for (uint32_t i = 0; i < cells->parts; i++) {
            take_parcels(sim, &part[i], stage);
            run_spds(sim, &part[i], stage, sim->now - 1);
        }
    for (uint32_t i = 0; i < cells->parts; i++)
        part[i].next_at = next_cycle_of(sim, &part[i]);
    return true;
}

static void end_spd(struct leat_sim_atm_cells *cells, uint32_t number, uint64_t now)
{
    struct spd *spd = &cells->spd[number];
    come_in(cells, spd, now);
    for (uint16_t i = 0; i < spd->coming_count; i++) /* their PPDs still have one of each */
        if (coming_at(cells, spd, i)->is_copy)
            pool_free(cells->pool, cells->cell, coming_at(cells, spd, i)->entry.cell);
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
        if (ppd->is_dropped) free_dropped(cells, cells->pool, ppd);
        return;
    }
    if (sim->faulty) leat_sim_atm_faults_forget(sim, number);
    ppd->is_dropped = false;
    ppd->accepted--;
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
    for (uint32_t i = 0; i < cells->parts; i++) {
        struct part *part = &cells->strides->part[i];
        memset(part->marked, 0, part->mark_words[net->stages] * sizeof *part->marked);
    }
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

static void run_strides(struct leat_sim_atm *sim, uint64_t until)
{
    while (!sim->pauses && sim->now < until) {
        const uint64_t from = next_cycle(sim);
        if (from >= until) {
            sim->now = until;
            return;
        }
        const uint64_t allowed = sim->host.stride(sim->host.context, from);
        if (!allowed || (was_crowded(sim) && is_crowded(sim))) {
            end_strides(sim, from);
            return;
        }
        const uint64_t last = leat_smaller(leat_smaller(allowed, until - 1),
                                           from + LEAT_SIM_ATM_STRIDE - 1);
        sim->counts.strides++;
        run_stride(sim, last);
        sim->now = last + 1;
    }
}

void leat_sim_atm_strides_run(struct leat_sim_atm *sim, uint64_t until)
{
    run_strides(sim, until);
    collect(sim);
}
