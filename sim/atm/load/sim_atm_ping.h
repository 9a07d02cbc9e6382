/*
 * Loopback of OAM cells (I.610) through a simulated network: a port sends requests, each with a
 * place that sends it back, and notes which came back and when.
 *
 *     port `from`                     network                     port `to`
 *       request, by one path  ---------------------------------->  end of the connection
 *       answer, by another one <---------------------------------  same tag, no longer to go back
 *
 * Cells of virtual paths carry VCI 4 (F4), those of virtual channels PT 5 (F5). Ports may also send
 * cells of users, so that the network is busy; then an answer may wait for its port.
 */
#ifndef LEAT_SIM_ATM_PING_H
#define LEAT_SIM_ATM_PING_H

#include "atm_oam.h"
#include "sim_atm.h"
#include <leat/random.h>

enum {
    LEAT_SIM_ATM_PING_REQUESTS_MAX = 1 << 16,
    LEAT_SIM_ATM_PING_LOAD_ONE = 1000000,
    LEAT_SIM_ATM_PING_ANSWERS = 16, /* that wait at a port; later ones are dropped */
};

struct leat_sim_atm_ping_request {
    uint32_t to, path, back;       /* a port, and the paths there and from there */
    uint64_t sent_at, answered_at; /* first octet, last octet; LEAT_NEVER: not yet */
};

struct leat_sim_atm_ping_config {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    uint32_t from, requests;
    struct leat_sim_atm_ping_request *request; /* lent; to, path and back are given */
    uint64_t first_at, apart;                  /* cycles: of the requests; `apart` 53 .. */
    uint32_t load_ppm;                         /* of user cells, from all ports to all */
    uint64_t seed;
};

struct leat_sim_atm_ping_answer {
    uint32_t to, path;
    struct leat_atm_oam_loopback loopback;
};

struct leat_sim_atm_ping_port {
    struct leat_random random;
    uint64_t free_at; /* its last cell is on the line before */
    uint64_t user_at; /* of its next user cell */
    uint32_t answers;
    struct leat_sim_atm_ping_answer answer[LEAT_SIM_ATM_PING_ANSWERS];
    uint8_t cell[LEAT_ATM_CELL_LEN]; /* being sent */
};

struct leat_sim_atm_ping {
    struct leat_sim_atm_ping_config config;
    struct leat_sim_atm sim;
    struct leat_sim_atm_ping_port *port;
    uint32_t sent, answered; /* requests */
    uint64_t users_sent, users_received;
};

size_t leat_sim_atm_ping_footprint(const struct leat_sim_atm_ping_config *config);

/* `memory`: zeroed, aligned for any object, lent for the object's lifetime. */
void leat_sim_atm_ping_init(struct leat_sim_atm_ping *ping,
                            const struct leat_sim_atm_ping_config *config, void *memory);

/* Runs all cycles before `until`. */
void leat_sim_atm_ping_run(struct leat_sim_atm_ping *ping, uint64_t until);

/* Is it a loopback cell of either flow, in a network with such headers? */
bool leat_sim_atm_ping_is_loopback(const uint8_t *cell, uint32_t header_octets);

/* All that the place of a cell says: a port and a path to it. */
void leat_sim_atm_ping_place(uint32_t port, uint32_t path, uint8_t place[LEAT_ATM_OAM_PLACE_LEN]);

#endif
