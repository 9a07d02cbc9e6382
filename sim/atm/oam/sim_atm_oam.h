/*
 * Permanent connections between the ports of a simulated network, with operation and maintenance
 * (I.610): continuity check, AIS and RDI, performance monitoring. Ports are plain sources and sinks
 * of cells; each sends user cells at random to all others.
 *
 *     port p                                             port q
 *       end point of (p, q)  --- user, CC, FM, BR, RDI -->  end point of (q, p)
 *                            <-------------------------
 *
 * A connection is monitored both ways. Each of its ends counts user cells for itself, so what is
 * measured can be compared with what happened.
 */
#ifndef LEAT_SIM_ATM_OAM_H
#define LEAT_SIM_ATM_OAM_H

#include "atm_oam_alarm.h"
#include "atm_oam_block.h"
#include "leat_text.h"
#include "sim_atm_oam_cell.h"
#include "sim_atm_plain.h"

enum {
    LEAT_SIM_ATM_OAM_PAIRS_MAX = 32640, /* all of 256 ports */
    LEAT_SIM_ATM_OAM_PERIOD = 10000,    /* cycles: default */
    LEAT_SIM_ATM_OAM_PERIOD_MAX = 1000000000,
};

struct leat_sim_atm_oam_pair {
    uint32_t port[2];
};

/* A state of an end point has changed. Those of one end are told in order; in all, by when they
 * were noticed, which may be later than `at`. */
struct leat_sim_atm_oam_change {
    uint64_t at;
    uint32_t port, peer;
    enum leat_atm_oam_state state;
    bool holds;
    struct leat_atm_oam_defect defect;
};

struct leat_sim_atm_oam_config {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    const struct leat_sim_atm_oam_pair *pair; /* lent; no port with itself, none twice */
    uint32_t pairs;
    bool checks;    /* CC */
    uint32_t block; /* of performance monitoring, in user cells; 0: none */
    struct leat_sim_atm_oam_flow flow;
    uint64_t period; /* cycles */
    uint32_t load_ppm;
    uint64_t seed;
    struct leat_sim_atm_line_config line; /* all zeros: no errors; init sets the labels */
    void (*changed)(void *context, const struct leat_sim_atm_oam_change *change); /* may be NULL */
    void *context;
};

enum leat_sim_atm_oam_kind {
    LEAT_SIM_ATM_OAM_CC,
    LEAT_SIM_ATM_OAM_AIS,
    LEAT_SIM_ATM_OAM_RDI,
    LEAT_SIM_ATM_OAM_FM,
    LEAT_SIM_ATM_OAM_BR,
};
enum { LEAT_SIM_ATM_OAM_KINDS = LEAT_SIM_ATM_OAM_BR + 1 };

/* One end of a monitored connection. */
struct leat_sim_atm_oam_end {
    uint32_t port, peer;
    struct leat_atm_oam_alarm alarm;
    struct leat_atm_oam_block_source source; /* to the peer */
    struct leat_atm_oam_block_sink sink;     /* from the peer */
    struct leat_atm_oam_block_far far;       /* what the peer measured */
    struct leat_atm_oam_monitoring back;     /* to be sent, if it is due */
    bool forward_due, back_due;
    uint64_t users_sent, users_received; /* to and from the peer */
};

struct leat_sim_atm_oam_port {
    uint64_t user_at; /* of its next user cell */
    uint64_t oam_at;  /* no end has an OAM cell to send before */
    uint64_t users;   /* sent to all */
    uint32_t first, ends, turn;
};

struct leat_sim_atm_oam_counts {
    uint64_t users_sent, users_received;
    uint64_t sent[LEAT_SIM_ATM_OAM_KINDS], received[LEAT_SIM_ATM_OAM_KINDS];
    uint64_t refused; /* AIS cells for which a switch had no room */
    uint64_t bad;     /* OAM cells with a wrong CRC-10 */
    uint64_t unknown; /* cells of no connection that the port knows */
};

/* What the switch behind a wire does. */
struct leat_sim_atm_oam_wire {
    uint32_t first, count; /* of `passing`: connections, by the end that they come from */
    uint32_t next;         /* of this round */
    uint64_t round_at;     /* when it began; LEAT_NEVER: the wire works */
};

struct leat_sim_atm_oam {
    struct leat_sim_atm_oam_config config;
    struct leat_sim_atm_plain plain;
    struct leat_sim_atm_oam_port *port;
    struct leat_sim_atm_oam_end *end; /* by port and peer */
    uint32_t ends;
    struct leat_sim_atm_oam_wire *wire;
    uint32_t wires;
    uint32_t *passing;
    uint64_t watch_at; /* when switches look at their wires next */
    struct leat_sim_atm_oam_counts counts;
};

/* Wires of a fabric that switches watch. */
uint32_t leat_sim_atm_oam_wires(const struct leat_sim_atm_fabric *fabric);

/* Can it run? `why` has one line. `scratch`: a number for each of these wires, zeroed. */
leat_err leat_sim_atm_oam_check(const struct leat_sim_atm_oam_config *config, uint32_t *scratch,
                                struct leat_text *why);

/* For a checked config. */
size_t leat_sim_atm_oam_footprint(const struct leat_sim_atm_oam_config *config);

/* `memory`: zeroed, aligned for any object, lent for the object's lifetime. */
void leat_sim_atm_oam_init(struct leat_sim_atm_oam *oam,
                           const struct leat_sim_atm_oam_config *config, void *memory);

/* Runs all cycles before `until`. */
void leat_sim_atm_oam_run(struct leat_sim_atm_oam *oam, uint64_t until);

/* States as they are now: call it at the end of a run. */
void leat_sim_atm_oam_settle(struct leat_sim_atm_oam *oam);

/* The end of a connection; NULL: it is not monitored. */
struct leat_sim_atm_oam_end *leat_sim_atm_oam_find(const struct leat_sim_atm_oam *oam,
                                                   uint32_t port, uint32_t peer);

/* ---- switches (sim_atm_oam_watch.c) ---------------------------------------------------------- */

/* How many wires all connections pass together; 0: one has no certain way. Adds to passed[wire],
 * if it is not NULL. */
uint32_t leat_sim_atm_oam_watch_measure(const struct leat_sim_atm_oam_config *config,
                                        uint32_t *passed);
void leat_sim_atm_oam_watch_init(struct leat_sim_atm_oam *oam);

/* Between two cycles: sends AIS where it is due. */
void leat_sim_atm_oam_watch(struct leat_sim_atm_oam *oam);

#endif
