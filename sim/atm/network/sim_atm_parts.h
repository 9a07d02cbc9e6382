/* Shared by the models of a cell network and their common part. */
#ifndef LEAT_SIM_ATM_PARTS_H
#define LEAT_SIM_ATM_PARTS_H

#include "leat_arena.h"
#include "sim_atm.h"
#include "sim_atm_faults_parts.h"
#include <assert.h>
#include <string.h>

enum { CELL_LEN = LEAT_ATM_CELL_LEN };

/* All lay out their memory in an arena, which may only measure (leat_arena_lay). */
void leat_sim_atm_rtl_lay(struct leat_sim_atm *sim, struct leat_arena *arena);
void leat_sim_atm_rtl_init(struct leat_sim_atm *sim);
void leat_sim_atm_rtl_run(struct leat_sim_atm *sim, uint64_t until);
void leat_sim_atm_rtl_set_group(struct leat_sim_atm *sim, uint32_t group);
uint64_t leat_sim_atm_rtl_accepted(const struct leat_sim_atm *sim, uint32_t ppd);

void leat_sim_atm_cells_lay(struct leat_sim_atm *sim, struct leat_arena *arena);
void leat_sim_atm_cells_init(struct leat_sim_atm *sim);
void leat_sim_atm_cells_run(struct leat_sim_atm *sim, uint64_t until);
/* Tables are about to change. */
void leat_sim_atm_cells_before_tables(struct leat_sim_atm *sim);
/* As many cells as can be in the network. */
uint32_t leat_sim_atm_cells_max(const struct leat_sim_atm *sim);
/* Faults have begun or ended. */
void leat_sim_atm_cells_set_faults(struct leat_sim_atm *sim);
/* Is the last cell of a PPD still to be checked, but already counted? */
bool leat_sim_atm_cells_is_early(const struct leat_sim_atm *sim, uint32_t ppd);
void leat_sim_atm_cells_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at);
void leat_sim_atm_cells_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *octets,
                             uint64_t at);
const uint8_t *leat_sim_atm_cells_sent(const struct leat_sim_atm *sim, uint32_t port);
/* Cells that a PPD has accepted. */
uint64_t leat_sim_atm_cells_accepted(const struct leat_sim_atm *sim, uint32_t ppd);

/* Does a whole cell fit into a memory with so many octets, even if what has left of the first one
 * comes back? A cell that arrives octet by octet needs less. */
static inline bool leat_sim_atm_fits_whole(const struct leat_sim_atm *sim, int64_t octets)
{
    const int64_t returned = sim->fabric.net.header_octets + LEAT_ATM_ROLLBACK_EXTRA;
    return !octets || octets + CELL_LEN + returned <= (int64_t)CELL_LEN * sim->fabric.buffer_cells;
}

/* A switch sends a cell of its own, by `outputs`; its header is complete. False: no room. */
bool leat_sim_atm_rtl_insert(struct leat_sim_atm *sim, uint32_t ppd, uint64_t outputs,
                             const uint8_t *cell);
bool leat_sim_atm_cells_insert(struct leat_sim_atm *sim, uint32_t ppd, uint64_t outputs,
                               const uint8_t *cell);

void leat_sim_atm_alone_lay(struct leat_sim_atm *sim, struct leat_arena *arena);
void leat_sim_atm_alone_run(struct leat_sim_atm *sim, uint64_t until);
void leat_sim_atm_alone_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at);
void leat_sim_atm_alone_send(struct leat_sim_atm *sim, const uint8_t *octets, uint64_t at);

void leat_sim_atm_graph_lay(struct leat_sim_atm *sim, bool alone, struct leat_arena *arena);
bool leat_sim_atm_graph_is_alone(const struct leat_sim_atm *sim);
/* sim->watch is set. */
void leat_sim_atm_graph_observe(struct leat_sim_atm *sim);
void leat_sim_atm_graph_run(struct leat_sim_atm *sim, uint64_t until);
void leat_sim_atm_graph_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at);
void leat_sim_atm_graph_send(struct leat_sim_atm *sim, uint32_t port, uint64_t at);

bool leat_sim_atm_graph_is_silent(const struct leat_sim_atm *sim, uint32_t wire);
bool leat_sim_atm_graph_insert(struct leat_sim_atm *sim, uint32_t wire, uint32_t from, uint32_t to,
                               const uint8_t *cell);
void leat_sim_atm_graph_losses(const struct leat_sim_atm *sim, struct leat_sim_atm_losses *out);

/* The entry for any label in the table of a PPD, also for those of groups. False, *out untouched:
 * it has no such entry. */
bool leat_sim_atm_route(const struct leat_sim_atm *sim, uint32_t ppd, uint32_t label,
                        struct leat_atm_route *out);

/* The last octet of a cell arrives at a port. */
static inline void leat_sim_atm_count_out(struct leat_sim_atm *sim, uint32_t port)
{
    sim->counts.cells_out++;
    sim->link_cells[sim->fabric.net.ppd_count + port]++;
}

/* Does this host take another cell? A dead port takes all, and loses them. */
static inline bool leat_sim_atm_has_room(const struct leat_sim_atm *sim, uint32_t port)
{
    return leat_sim_atm_faults_is_dead(sim, port) || sim->host.room(sim->host.context, port);
}

/* The index of the octet at which a full host stops a cell: 3, with virtual channels 5. */
static inline uint32_t leat_sim_atm_stop_at(const struct leat_sim_atm *sim)
{
    return sim->fabric.net.header_octets + 1;
}

#endif
