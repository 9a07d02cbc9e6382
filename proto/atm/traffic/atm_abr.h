/*
 * The available bit rate service (note, 3.3; thesis 8.6.5): a source that adapts its rate to RM
 * cells.
 *
 *     source  --RM-- 31 data cells --RM-->  switches  ---------------->  destination
 *     ACR                                   EFCI on data, CI, NI, ER on RM     |
 *        <--------------------------------  the same RM cell, backward  <------+
 *
 *   backward RM cell    ACR becomes                     then
 *   ------------------  ------------------------------  -----------------------------------
 *   CI                  ACR - ACR / rdf                 at most ER and PCR,
 *   neither CI nor NI   ACR + PCR / rif                 and then at least MCR
 *   NI alone            ACR
 *
 * A source at rate 0 would never send the RM cell that could raise its rate. So if MCR is below one
 * cell per second, ACR never falls below one cell per second.
 */
#ifndef LEAT_ATM_ABR_H
#define LEAT_ATM_ABR_H

#include "atm_contract.h"

/* Decisions of the note. */
enum { LEAT_ATM_ABR_RDF = 16, LEAT_ATM_ABR_RIF = 16, LEAT_ATM_ABR_NRM = 32 };
enum { LEAT_ATM_ABR_FACTOR_MAX = 1 << 15, LEAT_ATM_ABR_NRM_MAX = 1 << 16 };

struct leat_atm_abr_config {
    uint64_t pcr, mcr; /* as in a contract of class ABR */
    uint64_t icr;      /* the initial rate: up to pcr, mcr if it is lower */
    uint32_t rdf, rif; /* reciprocals, 1..LEAT_ATM_ABR_FACTOR_MAX */
    uint32_t nrm;      /* one cell in so many is an RM cell, 2..LEAT_ATM_ABR_NRM_MAX */
};

/* ---- source -------------------------------------------------------------------------------- */

/* The caller's memory, the engine's fields. */
struct leat_atm_abr_source {
    struct leat_atm_abr_config config;
    uint64_t acr;      /* invariant: max(mcr, one cell per second) .. pcr */
    uint32_t data_due; /* data cells before the next RM cell */
    uint32_t sn;       /* of the next RM cell */
    bool began;
    leat_time last_at; /* when the last cell was sent */
};

/* RANGE: a value is outside its limits. */
leat_err leat_atm_abr_source_init(struct leat_atm_abr_source *source,
                                  const struct leat_atm_abr_config *config);

/* The earliest time from now on at which ACR allows a cell; it changes with ACR. */
leat_time leat_atm_abr_source_due(const struct leat_atm_abr_source *source, leat_time now);

/*
 * A cell is sent now, not before it is due. true: it must be an RM cell with the fields of *rm; the
 * very first cell is one. false: a data cell, *rm is untouched.
 */
bool leat_atm_abr_source_send(struct leat_atm_abr_source *source, leat_time now,
                              struct leat_atm_rm *rm);

/* An RM cell has returned. TYPE, and nothing changes: it is not a backward one. */
leat_err leat_atm_abr_source_receive(struct leat_atm_abr_source *source,
                                     const struct leat_atm_rm *rm);

/* ---- destination, switch ------------------------------------------------------------------- */

struct leat_atm_abr_destination {
    bool efci; /* the last data cell had met congestion */
};

/* Any cell but RM arrives, with this payload type. */
void leat_atm_abr_destination_data(struct leat_atm_abr_destination *destination, uint8_t pt);

/* The RM cell to return. TYPE, and *out is untouched: it is already a backward one. */
leat_err leat_atm_abr_destination_turn(const struct leat_atm_abr_destination *destination,
                                       const struct leat_atm_rm *rm, struct leat_atm_rm *out);

/* A switch allows no more than `rate`: ER is lowered to it, never raised. */
void leat_atm_abr_limit(struct leat_atm_rm *rm, uint64_t rate);

#endif
