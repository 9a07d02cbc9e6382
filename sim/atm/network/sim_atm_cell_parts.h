/*
 * What the two ways to run the cell model share: event by event (sim_atm_cell.c), and in strides
 * (sim_atm_stride.c).
 */
#ifndef LEAT_SIM_ATM_CELL_PARTS_H
#define LEAT_SIM_ATM_CELL_PARTS_H

#include "sim_atm_cell_pool.h"
#include "sim_atm_faults_parts.h"

enum phase { SPDS, PORTS, PPDS, PHASES };

struct entry { /* a cell in a crosspoint memory, with the label it arrived with */
    uint32_t cell, label;
};

struct coming {  /* strides: a cell that will enter a memory */
    uint32_t at; /* from this cycle on, the one of its check; its low bits, see coming_since() */
    struct entry entry;
    uint8_t input;
    bool is_copy; /* its octets are not those that the PPD has */
};

enum {
    TO_PORT = UINT8_MAX, /* as a part */
    NEAR_COMING = 6,     /* as many as fit into two lines; the first two into the first one */
};

struct spd { /* two lines, of which strides mostly need the first */
    _Alignas(LEAT_ARENA_LINE) uint64_t free_at; /* the transfer is complete; 0: there was none */
    uint64_t waiting;                           /* bits: inputs with a cell */
    uint32_t memory;  /* number of the first of its crosspoint memories, one per input */
    uint32_t to;      /* the PPD downstream, or a port */
    uint8_t to_part;  /* the part of the PPD downstream, or TO_PORT */
    uint8_t selected; /* input; unchanged while idle */
    uint8_t previous; /* the input selected before */
    bool left;      /* the selected cell has left its memory: the next memory has it, or the port */
    uint16_t cells; /* in all of its memories */
    uint16_t coming_count;           /* strides: cells that will enter its memories, ... */
    struct coming near[NEAR_COMING]; /* ... those of an input in order of time: coming_at() */
};

struct ppd {                                                /* a line */
    _Alignas(LEAT_ARENA_LINE) const struct entry *incoming; /* the cell that begins to arrive */
    const struct leat_atm_clos_table *table;                /* of its stage ... */
    uint32_t label_first;                                   /* ... and what label 0 becomes here */
    uint32_t from;                                          /* the SPD upstream, or a port */
    uint32_t first_spd;
    uint8_t input;
    bool from_port;
    bool is_dropped;   /* strides: the cell sent has no outputs, and is still to be freed */
    struct entry sent; /* by a port; in strides by any sender */
    uint64_t check_at; /* strides: when the cell sent is checked; LEAT_NEVER: none yet */
    uint64_t accepted; /* cells */
};

struct memory {
    uint16_t head, count;
};

struct leat_sim_atm_cells {
    struct leat_sim_agenda agenda;
    struct spd *spd;
    struct ppd *ppd;
    struct memory *memory;
    struct entry *entry; /* all memories' first places, used most, then the second */
    struct cell *cell;
    struct pool *pool; /* of each part; events use the first */
    struct leat_atm_clos_table table[LEAT_ATM_CLOS_STAGES_MAX];
    uint32_t memory_count, cell_count;
    uint32_t parts;
    uint32_t places;      /* one more than cells: the last cell may arrive while the first leaves */
    uint32_t check_after; /* the select: 5, with virtual channels 7 */
    uint32_t sure_count;  /* a memory with fewer cells certainly has room */
    int64_t full_size_min;

    struct leat_sim_atm_strides *strides;
    struct coming *coming_far; /* of all SPDs: as many as fit into their memories */
    bool in_strides;           /* it runs in strides now: the agenda is empty */
    uint64_t events_until;     /* otherwise: it does not try strides before this cycle */
};

/* Cells for the pool of a part, at least as many as it needs, without the needs of the others. */
void leat_sim_atm_cells_provide(struct leat_sim_atm_cells *cells, uint32_t part);

void leat_sim_atm_strides_lay(struct leat_sim_atm_cells *cells,
                              const struct leat_sim_atm_fabric *fabric, struct leat_arena *arena);
void leat_sim_atm_strides_init(struct leat_sim_atm *sim);

/* Starts strides at cycle sim->now, if possible. */
bool leat_sim_atm_strides_begin(struct leat_sim_atm *sim);

/* Runs up to `until`, to a pause, or as long as strides are possible. */
void leat_sim_atm_strides_run(struct leat_sim_atm *sim, uint64_t until);

/* Between runs: the network runs event by event from here on, until strides begin again. */
void leat_sim_atm_strides_end(struct leat_sim_atm *sim);

/* leat_sim_atm_send and leat_sim_atm_wake in strides. */
void leat_sim_atm_strides_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *octets,
                               uint64_t at);
void leat_sim_atm_strides_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at);

static inline struct entry *entry_at(struct leat_sim_atm_cells *cells, uint32_t memory,
                                     uint32_t place)
{
    return &cells->entry[(size_t)place * cells->memory_count + memory];
}

/* When the transfer began: a select and a cell time always belong together. */
static inline uint64_t selected_at(const struct spd *spd)
{
    return spd->free_at ? spd->free_at - CELL_LEN : 0;
}

static inline bool is_to_port(const struct spd *spd)
{
    return spd->to_part == TO_PORT;
}

/* Strides: the i-th cell that will enter a memory of this SPD. */
static inline struct coming *coming_at(const struct leat_sim_atm_cells *cells, struct spd *spd,
                                       uint32_t i)
{
    return i < NEAR_COMING
               ? &spd->near[i]
               : &cells->coming_far[(size_t)spd->memory * cells->places + i - NEAR_COMING];
}

/* The whole time, close to the present: no cell waits for 2^31 cycles. */
static inline uint64_t coming_since(const struct coming *coming, uint64_t now)
{
    return now + (uint64_t)(int64_t)(int32_t)(coming->at - (uint32_t)now);
}

static inline bool has_come(const struct coming *coming, uint64_t before)
{
    return (int32_t)(coming->at - (uint32_t)before) < 0;
}

/* Appends a cell to the memory of an input. */
static inline void put_behind(struct leat_sim_atm_cells *cells, struct spd *spd, uint8_t input,
                              struct entry entry)
{
    struct memory *m = &cells->memory[spd->memory + input];
    uint32_t place = (uint32_t)m->head + m->count;
    if (place >= cells->places) place -= cells->places;
    assert(m->count < cells->places);
    *entry_at(cells, spd->memory + input, place) = entry;
    m->count++;
    spd->cells++;
    spd->waiting |= UINT64_C(1) << input;
}

/* The selected cell leaves its memory for good. */
static inline void leave(struct leat_sim_atm_cells *cells, struct spd *spd)
{
    struct memory *m = &cells->memory[spd->memory + spd->selected];
    m->head = m->head + 1u == cells->places ? 0 : (uint16_t)(m->head + 1);
    if (--m->count == 0) {
        m->head = 0;
        spd->waiting &= ~(UINT64_C(1) << spd->selected);
    }
    spd->cells--;
    spd->left = true;
}

/* Undoes leave(): nothing of the cell has been sent. */
static inline void come_back(struct leat_sim_atm_cells *cells, struct spd *spd, struct entry entry)
{
    const uint32_t number = spd->memory + spd->selected;
    struct memory *m = &cells->memory[number];
    m->head = (uint16_t)((m->head ? m->head : cells->places) - 1);
    *entry_at(cells, number, m->head) = entry;
    m->count++;
    spd->waiting |= UINT64_C(1) << spd->selected;
    spd->cells++;
}

/* Below, where the table has no formula for a label: of groups; of all, while there are faults. */
uint64_t leat_sim_atm_cells_look_up(const struct leat_sim_atm *sim, uint32_t number, uint64_t at,
                                    uint32_t *label);

/* The outputs of a cell that is checked in cycle `at`, none if its label has no entry; the label
 * becomes the new one. */
static inline uint64_t find_outputs(const struct leat_sim_atm *sim, uint32_t number, uint64_t at,
                                    uint32_t *label)
{
    const struct ppd *ppd = &sim->cells->ppd[number];
    if (*label < ppd->table->entries) {
        const uint64_t select = leat_atm_clos_table_select(ppd->table, label);
        *label += ppd->label_first;
        return select;
    }
    return leat_sim_atm_cells_look_up(sim, number, at, label);
}

/* Strides: is the cell sent checked only in cycle `now` or later? */
static inline bool awaits_check(const struct ppd *ppd, uint64_t now)
{
    return ppd->check_at >= now && ppd->check_at != LEAT_NEVER;
}

/* The next input after `last`, of those that have a cell (spec/atm.md, S4). */
static inline uint8_t next_input(uint64_t inputs, uint8_t last)
{
    const uint64_t behind = inputs & ~((UINT64_C(2) << last) - 1);
    return (uint8_t)leat_sim_agenda_lowest(behind ? behind : inputs);
}

/* The time of the port's next event. */
static inline uint64_t port_due(const struct leat_sim_atm_port *port)
{
    uint64_t at = port->act_at;
    if (port->refused_at < at) at = port->refused_at;
    if (port->check_at < at) at = port->check_at;
    return port->arrival[0].at < at ? port->arrival[0].at : at;
}

static inline uint32_t take_cell(struct leat_sim_atm_cells *cells, struct pool *pool,
                                 const uint8_t *octets)
{
    const uint32_t number = pool_take(pool, cells->cell);
    memcpy(cells->cell[number].octets, octets, CELL_LEN);
    return number;
}

static inline struct entry copy_entry(struct leat_sim_atm_cells *cells, struct pool *pool,
                                      struct entry entry)
{
    return (struct entry){ take_cell(cells, pool, cells->cell[entry.cell].octets), entry.label };
}

/* A cell begins to leave by a port; the last octet of the one before may still be pending. True: it
 * is not. */
static inline bool begin_arrival(struct leat_sim_atm_port *port, uint64_t at, struct entry entry)
{
    const bool alone = port->arrival[0].at == LEAT_NEVER || port->arrival[0].at == at;
    port->arrival[alone ? 0 : 1] = (struct leat_sim_atm_arrival){ at, entry.cell, entry.label };
    return alone;
}

/* The last octet of a cell arrives at a port. False: it is lost there. */
static inline bool deliver(struct leat_sim_atm *sim, struct pool *pool, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_port *port = &sim->port[p];
    const struct leat_sim_atm_arrival arrival = port->arrival[0];
    uint8_t *cell = sim->cells->cell[arrival.cell].octets; /* the label of the last hop */
    leat_atm_label_put(cell, sim->fabric.net.header_octets, arrival.label);
    port->arrival[0] = port->arrival[1];
    port->arrival[1].at = LEAT_NEVER;
    const bool arrives = !sim->faulty || leat_sim_atm_faults_arrives(sim, p, now);
    if (arrives) {
        sim->link_cells[sim->fabric.net.ppd_count + p]++;
        sim->host.deliver(sim->host.context, p, cell, now);
    }
    pool_free(pool, sim->cells->cell, arrival.cell);
    return arrives;
}

#endif
