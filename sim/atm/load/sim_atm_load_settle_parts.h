/*
 * What becomes of messages: sent, delivered, abandoned.
 *
 *     a host acts --+--> at once
 *                   +--> in a stride: its part remembers it, and all are told in order of time
 */
#ifndef LEAT_SIM_ATM_LOAD_SETTLE_PARTS_H
#define LEAT_SIM_ATM_LOAD_SETTLE_PARTS_H

#include "sim_atm_load.h"

enum { LEAT_SIM_ATM_LOAD_ID_MASK = 0x7fffffff }; /* a message's id is not negative */

static inline uint32_t leat_sim_atm_load_message_id(const struct leat_sim_atm_load *load,
                                                    uint32_t port, uint32_t number)
{
    return (number * load->config.fabric.net.ports + port) & LEAT_SIM_ATM_LOAD_ID_MASK;
}

/* Where message `number` of a port is kept, if it still is. */
static inline struct leat_sim_atm_load_sent *
leat_sim_atm_load_sent_of(const struct leat_sim_atm_load *load, uint32_t port, uint32_t number)
{
    return &load->sent[(size_t)port * load->window + (number & (load->window - 1))];
}

/* Does a host act in a stride, so that what concerns others is settled at its end? With
 * handed_over, strides are so short that nothing of this happens within them. */
static inline bool leat_sim_atm_load_settles_later(const struct leat_sim_atm_load *load)
{
    return load->sim.in_stride && !load->config.handed_over;
}

/* A message is being written. */
void leat_sim_atm_load_keep_sent(struct leat_sim_atm_load *load, uint32_t port,
                                 const struct leat_sim_atm_load_sent *sent);

/* Adds a delivery to this certificate, as in a run that skips nothing. */
void leat_sim_atm_load_certify_in(const struct leat_sim_atm_load *load,
                                  const struct leat_sim_delivery *delivery,
                                  struct leat_sim_certificate *certificate);

/* A message of this port, or one to it, is delivered or abandoned. */
void leat_sim_atm_load_report_end(struct leat_sim_atm_load *load, uint32_t port,
                                  const struct leat_sim_delivery *of, bool given_up);

/* For struct leat_sim_atm_crew. */
void leat_sim_atm_load_part_done(void *context, uint32_t number);
void leat_sim_atm_load_stride_done(void *context);

/* Adds what parts have counted to the counts of the load. */
void leat_sim_atm_load_collect(struct leat_sim_atm_load *load);

#endif
