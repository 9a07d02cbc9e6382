/*
 * A network of bus-matrix switches that runs, at one of two granularities, or without contention:
 *
 *   rtl    every register of every unit, a step per cycle (proto/atm: PPD, SPD, XPM)
 *   cell   one event per cell and hop (spec/atm.md, 8), the same deliveries in the same cycles
 *   alone  cells never meet: to see what contention costs
 *
 * At each port sits a host: an adaptation layer unit with its tasks, a plain source and sink, or
 * what a test wants. A host hands over whole cells and gets whole cells; it neither knows nor cares
 * which model carries them.
 *
 *     host              port                         network
 *      |  send(cell, s)  | octets on buf in s .. s+52   |
 *      |---------------->|----------------------------->|  checks in s+4 (virtual channels: s+6):
 *      |   refused(t)    |                              |  room in every crosspoint memory?
 *      |<----------------|<-----------------------------|  told in s+5: send again, from s+6 on
 *      |                 |                              |
 *      |   room?         |   4th (6th) octet            |
 *      |<----------------|<-----------------------------|  none: the switch takes the cell back
 *      |   deliver(cell) |   53rd octet                 |
 *      |<----------------|<-----------------------------|
 *
 * In one cycle a host is told of a refusal, then acts if it wished to, then hears of what comes in.
 * Hosts act in the order of their ports.
 */
#ifndef LEAT_SIM_ATM_H
#define LEAT_SIM_ATM_H

#include "atm_bmx.h"
#include "sim_agenda.h"
#include "sim_atm_fabric.h"

enum leat_sim_atm_model { LEAT_SIM_ATM_RTL, LEAT_SIM_ATM_CELL, LEAT_SIM_ATM_ALONE };

struct leat_sim_atm;

struct leat_sim_atm_host {
    void *context;
    /* The cell that began five (seven) cycles ago was refused. */
    void (*refused)(void *context, uint32_t port, uint64_t now);
    /* The cycle that leat_sim_atm_wake named has come. */
    void (*act)(void *context, uint32_t port, uint64_t now);
    /* For how many cells is there room? With none, the cell that is coming in is stopped. */
    uint32_t (*room)(void *context, uint32_t port);
    /* A cell has come in; lent for the call. */
    void (*deliver)(void *context, uint32_t port, const uint8_t *cell, uint64_t now);
    /* Cell model. Up to and including which cycle, from `now` on, may each host go by itself, not
     * knowing what the others do meanwhile, but getting its cells when they come? Then it acts in
     * the last cycle of a stride for all that it wished to do in it. Hosts have room for
     * LEAT_SIM_ATM_STRIDE_ROOM cells when a stride begins, and send none that leads nowhere.
     * 0: that is not possible now. NULL: never; everything happens in its own cycle. */
    uint64_t (*stride)(void *context, uint64_t now);
};

enum {
    LEAT_SIM_ATM_STRIDE = LEAT_ATM_CELL_LEN + 2, /* cycles, at the most */
    LEAT_SIM_ATM_STRIDE_ROOM = 4,                /* cells: two come in, two begin to */
};

/* A cell that leaves the network by a port, and when its last octet does; cell model only. */
struct leat_sim_atm_arrival {
    uint64_t at;
    uint32_t cell, label;
};

struct leat_sim_atm_port {
    /* A line of the cache: what the cell model looks at. */
    uint64_t act_at; /* what the host wished */
    uint64_t refused_at, check_at;
    struct leat_sim_atm_arrival arrival[2]; /* the one before has an octet left when one begins */
    uint32_t out_ppd, in_spd;               /* the network's, at this port */
    uint64_t send_at;                       /* first octet of the last cell on buf */
    /* Registers, rtl only. */
    uint8_t buf, ogbyte, icbyte, count;
    bool bufi, ogbytei, icbytei, icsuspend, ogsuspend;
    uint8_t out[LEAT_ATM_CELL_LEN], in[LEAT_ATM_CELL_LEN];
};

struct leat_sim_atm_counts {
    uint64_t suspensions;   /* of all PPDs */
    uint64_t port_refusals; /* by hosts that are full */
    uint64_t unrouted;      /* cells whose label lies outside the table */
    uint64_t cells_out;     /* delivered to hosts */
    uint64_t strides;       /* cell model */
    uint64_t strides_ended; /* how often it went on event by event */
};

struct leat_sim_atm {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    bool in_host; /* one is at work; its port is planned when it is done */
    bool pauses;  /* the run ends with the present cycle; hosts may set it */
    uint64_t now; /* the next cycle to run */
    struct leat_sim_atm_port *port;
    struct leat_sim_atm_host host;
    struct leat_sim_atm_counts counts;
    struct leat_sim_atm_rtl *rtl;
    struct leat_sim_atm_cells *cells;
    struct leat_sim_atm_alone *alone;
};

/* Octets of memory for a network. */
size_t leat_sim_atm_footprint(const struct leat_sim_atm_fabric *fabric,
                              enum leat_sim_atm_model model);

/* Reset state. `memory`: that many octets, zeroed, aligned for any object, lent for good. */
void leat_sim_atm_init(struct leat_sim_atm *sim, const struct leat_sim_atm_fabric *fabric,
                       enum leat_sim_atm_model model, const struct leat_sim_atm_host *host,
                       void *memory);

/* What leat_sim_atm_wake does where no host is at work. */
void leat_sim_atm_hurry(struct leat_sim_atm *sim, uint32_t port, uint64_t at);

/* The host of this port acts in cycle `at`, in place of an earlier wish; LEAT_NEVER: not. While a
 * host is at work it speaks for its own port only. */
static inline void leat_sim_atm_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    sim->port[port].act_at = at;
    if (!sim->in_host) leat_sim_atm_hurry(sim, port, at);
}

/* A cell of 53 octets goes out, its first octet on buf in cycle `at` (not before the present one,
 * and not before the last cell's 53rd octet). */
void leat_sim_atm_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *cell, uint64_t at);

/* The octets of the cell sent last, as long as its first ones are on their way. */
const uint8_t *leat_sim_atm_sent(const struct leat_sim_atm *sim, uint32_t port);

/* Runs all cycles before `until` (with strides: not LEAT_NEVER), or up to the one in which a host
 * wanted a pause. */
void leat_sim_atm_run(struct leat_sim_atm *sim, uint64_t until);

/* What the wires into a port carry after the last cycle, rtl only; the port sees it in the next. */
struct leat_sim_atm_wires {
    uint8_t icbyte;
    bool icbytei, ogsuspend;
};
void leat_sim_atm_wires(const struct leat_sim_atm *sim, uint32_t port,
                        struct leat_sim_atm_wires *out);

#endif
