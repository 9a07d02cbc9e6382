/*
 * Connections with traffic contracts in a cell network (note, 3): admission, sources at the ports,
 * and the service that each connection got.
 *
 *     source --> shaper --> policer --> queue of the port ------> access link --> network --> sink
 *     greedy,    on, off    drop, tag,  levels 0, 1; CLP          53 cycles a     rtl or counts,
 *     random,               off         thresholds                cell            cell delays
 *     excess                                   ^
 *                          ABR, UBR: queue of the connection, gate at its share (levels 2, 3)
 *
 * Sources, shapers and policers work at the edges of the network's clock: a cell arrives in a
 * cycle. CTD counts from there, before the queue, to the end of the cycle of the 53rd octet at the
 * sink; CDV is the longest CTD minus the shortest. CLR is the fraction of cells with CLP 0 that a
 * queue lost, of those that passed the policer. Cells that the policer drops or tags have no
 * guarantee.
 *
 * ABR sources send an RM cell for 31 data cells. A cell that leaves a queue of `efci_cells` or more
 * is marked. The sink turns RM cells around, and they return by the same path of the network in the
 * other direction (note, 3.3). RM cells name their connection in QL, because labels end at the
 * port.
 *
 *     data    | connection (4) | number (8) | cycle of entry (8) | 6a ...
 */
#ifndef LEAT_SIM_ATM_CONTRACTS_H
#define LEAT_SIM_ATM_CONTRACTS_H

#include "atm_abr.h"
#include "sim_atm.h"
#include "sim_atm_contracts_admit.h"
#include "sim_certificate.h"
#include "sim_clock.h"
#include <leat/random.h>

enum {
    LEAT_SIM_ATM_SHAPER_CELLS = 256, /* waiting in a shaper */
    LEAT_SIM_BACK_CELLS = 8,         /* RM cells waiting to return */
};
#define LEAT_SIM_ATM_CONTRACTS_PS_MAX (UINT64_C(1) << 62) /* of simulated time */

struct leat_sim_atm_contract_counts {
    uint64_t sent;        /* by the source */
    uint64_t shaper_lost; /* for which the shaper had no room */
    uint64_t dropped;     /* by the policer */
    uint64_t tagged;      /* but not dropped */
    uint64_t entered;     /* with CLP 0, queued or lost before the queue */
    uint64_t lost;        /* of them */
    uint64_t tagged_lost, tagged_delivered;
    uint64_t delivered; /* with CLP 0 */
    uint64_t marked;    /* EFCI */
    uint64_t rm_sent, rm_returned, rm_lost;
    leat_time ctd_ps_min, ctd_ps_max, ctd_ps_sum; /* of data cells with CLP 0 */
    uint64_t ctd_count;
};

/* The service of a connection, compared with its contract. */
struct leat_sim_atm_contract_result {
    struct leat_sim_atm_contract_counts counts;
    double clr, ctd_mean_ps, throughput; /* cells per second, CLP 0 */
    leat_time ctd_ps, cdv_ps; /* the longest; a cell that still waits counts with its wait so far */
    uint64_t acr;             /* ABR: the rate at the end */
    bool clr_kept, ctd_kept, cdv_kept, mcr_kept, kept;
};

struct leat_sim_atm_contracts;

size_t leat_sim_atm_contracts_footprint(const struct leat_sim_atm_contracts_config *config,
                                        enum leat_sim_atm_model model);

/* Admits connections, and places the sources at cycle 0. The config is sound
 * (leat_sim_atm_contracts_check). `memory`: that many octets, zeroed, aligned for any object, lent
 * for the object's lifetime; the object lies in it. */
struct leat_sim_atm_contracts *
leat_sim_atm_contracts_init(const struct leat_sim_atm_contracts_config *config,
                            enum leat_sim_atm_model model, uint64_t seed, void *memory);

/* The longest run in this fabric, in cycles. */
uint64_t leat_sim_atm_contracts_cycles_max(const struct leat_sim_atm_fabric *fabric);

/* Runs all cycles before `until`. */
void leat_sim_atm_contracts_run(struct leat_sim_atm_contracts *contracts, uint64_t until);

const struct leat_sim_atm_admission *
leat_sim_atm_contracts_admission(const struct leat_sim_atm_contracts *contracts,
                                 uint32_t connection);
void leat_sim_atm_contracts_result(const struct leat_sim_atm_contracts *contracts,
                                   uint32_t connection, struct leat_sim_atm_contract_result *out);
uint64_t leat_sim_atm_contracts_certificate(const struct leat_sim_atm_contracts *contracts);
const struct leat_sim_atm *
leat_sim_atm_contracts_network(const struct leat_sim_atm_contracts *contracts);

#endif
