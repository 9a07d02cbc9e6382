/*
 * Faults inside a network of bus-matrix switches: which cells they take, and which way cells go
 * around them. Hosts do not know about faults, and both models ask here in the same cycles:
 *
 *     switch A                      switch B                        port
 *       SPD ------ wire ----------> PPD: check --> SPD ------------> 53rd octet
 *                                    |                                |
 *                     wire broken or cell damaged: lost     port dead or damaged: lost
 *                     way behind broken: another middle switch, or lost
 *
 * A cell crosses a wire in the cycle in which it is checked behind it. What waits in a switch whose
 * wires break is lost when it leaves. A cell that is lost takes part in everything before its loss.
 *
 * The access label names a middle switch, the other labels do not (atm_clos.h). So the first switch
 * can choose another middle switch for a cell, and only its table changes. Cells of one port to
 * another that lose their middle switch share one of those left.
 */
#ifndef LEAT_SIM_ATM_FAULTS_PARTS_H
#define LEAT_SIM_ATM_FAULTS_PARTS_H

#include "leat_arena.h"
#include "net_faults.h"
#include "sim_atm.h"

/* The result of a check. */
struct leat_sim_atm_verdict {
    uint64_t select; /* the outputs that are left */
    uint32_t lost;   /* copies */
    uint8_t why;     /* enum leat_net_fate, of those */
    bool rerouted;
};

/* What a PPD, or the wire to a port, has taken; each is counted by the thread that simulates it. */
struct leat_sim_atm_taken {
    uint64_t cells[LEAT_NET_FATES], rerouted;
    struct leat_sim_atm_verdict last; /* of the cell checked last */
};

struct leat_sim_atm_faulty {
    struct leat_net_fault_player player;
    bool any;           /* some fault is active */
    uint64_t *up;       /* [first switches] the middle switches that they reach, a bit each */
    uint64_t *down;     /* [middle switches] the last switches that they reach */
    uint64_t *through;  /* [last switches] the middle switches that reach them */
    uint64_t *whole_at; /* [SPDs, then ports] when the wire was last whole */
    struct leat_sim_atm_taken *ppd, *port;
};

/* Lays out sim->faulty, if the fabric has faults and this model knows them. */
void leat_sim_atm_faults_lay(struct leat_sim_atm *sim, struct leat_arena *arena);

/* Brings it to the state of a cycle: between runs of the model. */
void leat_sim_atm_faults_apply(struct leat_sim_atm *sim, uint64_t cycle);

/* A cell with this label is checked at a PPD in cycle `at`; the table sends it to `select`. Counts
 * what is lost, and returns the outputs that are left. */
uint64_t leat_sim_atm_faults_check(const struct leat_sim_atm *sim, uint32_t ppd, uint32_t label,
                                   uint64_t at, uint64_t select);

/* The PPD has refused the cell that it checked last, or checks it later: it does not count. */
void leat_sim_atm_faults_forget(const struct leat_sim_atm *sim, uint32_t ppd);

/* Cells that a PPD has lost from the wire to it. */
uint64_t leat_sim_atm_faults_cut(const struct leat_sim_atm *sim, uint32_t ppd);

/* The 53rd octet of a cell is at a port in cycle `at`. False: the cell is lost, and counted. */
bool leat_sim_atm_faults_arrives(const struct leat_sim_atm *sim, uint32_t port, uint64_t at);

/* leat_sim_atm_is_silent. */
bool leat_sim_atm_faults_is_silent(const struct leat_sim_atm *sim, uint32_t wire);

/* Does the first switch send cells from one port to another by another middle switch now? */
bool leat_sim_atm_faults_reroutes(const struct leat_sim_atm *sim, uint32_t from, uint32_t to);

/* Is a port dead? Then it takes every cell. */
static inline bool leat_sim_atm_faults_is_dead(const struct leat_sim_atm *sim, uint32_t port)
{
    return sim->faulty && sim->faulty->player.terminal_faults[port];
}

#endif
