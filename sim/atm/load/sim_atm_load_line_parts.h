/*
 * Cells between a port's unit and the network: directly, or over a line with errors.
 *
 *     unit --> send --> extra cells, then its own --> network
 *     unit <-- receive <-- own and extra cells    <--
 */
#ifndef LEAT_SIM_ATM_LOAD_LINE_PARTS_H
#define LEAT_SIM_ATM_LOAD_LINE_PARTS_H

#include "sim_atm_load.h"

static inline void leat_sim_atm_load_watch_cell(const struct leat_sim_atm_load *load, uint32_t port,
                                                enum leat_sim_atm_line_direction direction,
                                                const uint8_t *cell, uint64_t at)
{
    const struct leat_sim_atm_load_watch *watch = &load->config.watch;
    if (watch->cell) watch->cell(watch->context, port, direction, cell, at);
}

static inline void leat_sim_atm_load_send_cell(struct leat_sim_atm_load *load, uint32_t port,
                                               const uint8_t *cell, uint64_t at)
{
    leat_sim_atm_send(&load->sim, port, cell, at);
    leat_sim_atm_load_watch_cell(load, port, LEAT_SIM_ATM_LINE_TO_NETWORK, cell, at);
}

static inline void leat_sim_atm_load_receive_cell(struct leat_sim_atm_load *load, uint32_t port,
                                                  const uint8_t *cell, uint64_t now)
{
    if (load->cells_stay_sound)
        leat_atm_aal_unit_receive_sound(&load->host[port].unit, cell, now);
    else
        leat_atm_aal_unit_receive(&load->host[port].unit, cell, now);
    leat_sim_atm_load_watch_cell(load, port, LEAT_SIM_ATM_LINE_TO_HOST, cell, now);
}

/* The rest is for loads with lines. */
void leat_sim_atm_load_line_init(struct leat_sim_atm_load *load);

/* The unit has sent a cell: the line decides what of it arrives. */
void leat_sim_atm_load_line_send(struct leat_sim_atm_load *load, uint32_t port);
/* The next piece of it. */
void leat_sim_atm_load_line_go_on(struct leat_sim_atm_load *load, uint32_t port, uint64_t at);
/* A refused cell is sent again unchanged: the line has decided its fate. */
void leat_sim_atm_load_line_send_again(struct leat_sim_atm_load *load, uint32_t port, uint64_t now);

/* There is room for the cell that arrived; extra cells may find none. */
void leat_sim_atm_load_line_receive(struct leat_sim_atm_load *load, uint32_t port,
                                    const uint8_t *cell, uint64_t now);

#endif
