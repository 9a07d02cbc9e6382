/*
 * leat atm ping: loopback of OAM cells through a simulated network, and where they are lost.
 *
 *   atm_ping.c         the command line, the cells to one port, what is shown
 *   atm_ping_locate.c  tests over all paths, and the places that explain those that fail
 */
#ifndef LEAT_ATM_PING_VERB_H
#define LEAT_ATM_PING_VERB_H

#include "fabric_atm.h"
#include "sim.h"
#include "sim_atm_ping.h"
#include "tool.h"

enum {
    PING_COUNT_MAX = 1000,
    PING_PATIENCE = 200000, /* cycles, for the last answer */
    PING_PLACES_MAX = 16,   /* that explain what failed */
    PING_NAME_CAP = LEAT_FABRIC_WIRE_CAP,
};

struct ping_job {
    const struct arguments *args;
    struct leat_fabric_atm *atm;
    const struct leat_net_topology *wires;
    uint32_t to, from, count;
    uint64_t first_at, apart, seed;
    uint32_t load_ppm;
    enum leat_sim_atm_model model;
    struct sim_recorded record;
    bool paths; /* test all paths even if nothing is lost */
};

/* What explains tests that fail: one of some wires, switches and ports that tests cannot tell
 * apart. */
struct ping_place {
    uint32_t failed; /* tests that it explains */
    uint32_t one_of; /* so many names follow in `name` of the result */
};

struct ping_located {
    uint32_t tests, answered;
    uint32_t places, names;
    uint32_t unexplained; /* tests that failed, though everything on their way works */
    struct ping_place place[PING_PLACES_MAX];
    char (*name)[PING_NAME_CAP]; /* of all places, one after the other; freed by the caller */
};

/* Sends the requests of a config until all are answered, or for long enough. `record`: what is
 * recorded, or NULL. False after a complaint. */
bool ping_send(const struct ping_job *job, struct leat_sim_atm_ping_request *request,
               uint32_t requests, bool pinned, const struct sim_recorded *record, uint64_t *cycles);

/* Tests each path by itself, and tells where cells are lost. False after a complaint. */
bool ping_locate(const struct ping_job *job, struct ping_located *out);

int run_ping(const struct arguments *args);

#endif
