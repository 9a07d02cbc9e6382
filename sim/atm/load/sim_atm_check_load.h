/*
 * The check workload W(seed, load) of spec/atm.md, 8: plain sources and sinks at the ports, cells
 * to random ports by random paths, and a hash over all deliveries that both granularities and
 * other implementations of the note must reproduce.
 *
 * The note's sixteen ports and four paths are the fabric's here: dst = (r >> 3) mod ports,
 * k = (r >> 20) mod paths.
 */
#ifndef LEAT_SIM_ATM_CHECK_LOAD_H
#define LEAT_SIM_ATM_CHECK_LOAD_H

#include "sim_atm.h"
#include "sim_certificate.h"
#include "sim_histogram.h"

struct leat_sim_check_source {
    uint64_t state; /* xorshift64 */
    uint64_t number;
    uint64_t send_at; /* of the cell on the line */
    uint8_t cell[LEAT_ATM_CELL_LEN];
};

struct leat_sim_atm_check_load {
    struct leat_sim_atm sim;
    struct leat_sim_check_source *source;
    uint32_t load_percent;
    uint64_t until;
    uint64_t offered, delivered;
    struct leat_sim_delivery_hash hash;
    struct leat_sim_certificate certificate;
    struct leat_sim_histogram latency;
};

size_t leat_sim_atm_check_load_footprint(const struct leat_sim_atm_fabric *fabric,
                                         enum leat_sim_atm_model model);

/* Sources begin in cycle 0 and plan up to `until`. load_percent: 0 .. 100. `memory` is zeroed. */
void leat_sim_atm_check_load_init(struct leat_sim_atm_check_load *w,
                                  const struct leat_sim_atm_fabric *fabric,
                                  enum leat_sim_atm_model model, uint64_t seed,
                                  uint32_t load_percent, uint64_t until, void *memory);

/* Runs all cycles before `to`, at most `until`. */
void leat_sim_atm_check_load_run(struct leat_sim_atm_check_load *w, uint64_t to);

/* Cells whose 53rd octet was on buf before the next cycle. */
uint64_t leat_sim_atm_check_load_sent(const struct leat_sim_atm_check_load *w);

#endif
