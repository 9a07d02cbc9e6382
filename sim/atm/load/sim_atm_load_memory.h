/*
 * The memory of a load (sim_atm_load.h), in this order:
 *
 *     hosts, messages sent, parts, network, what units use for every message | what they use seldom
 *                                                                            ^ often
 */
#ifndef LEAT_SIM_ATM_LOAD_MEMORY_H
#define LEAT_SIM_ATM_LOAD_MEMORY_H

#include "sim_atm_load.h"

/* For leat_sim_atm_load_init: the memory of the network, and that of all units, one after the
 * other. */
struct leat_sim_atm_load_pieces {
    void *network;
    uint8_t *often, *seldom;
    size_t often_len; /* up to `seldom` */
    size_t len;
};

/* Sets the pointers of a load. Without memory it only measures. */
void leat_sim_atm_load_lay(struct leat_sim_atm_load *load,
                           const struct leat_sim_atm_load_config *config, void *memory,
                           struct leat_sim_atm_load_pieces *pieces);

/* So many of the first octets of its memory are used all the time: large pages make a network of
 * 256 ports a third faster. The others are mostly never touched. */
size_t leat_sim_atm_load_footprint_often(const struct leat_sim_atm_load_config *config);

#endif
