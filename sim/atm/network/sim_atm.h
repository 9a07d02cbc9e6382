/*
 * A network of bus-matrix switches, simulated at one of two granularities, or without contention;
 * or a network of other switches, a cell time at once:
 *
 *   rtl    every register of every unit, a step per cycle (proto/atm: PPD, SPD, XPM)
 *   cell   one event per cell and hop (spec/atm.md, 8), the same deliveries in the same cycles
 *   alone  cells never meet: shows what contention costs
 *   graph  any topology of sim/net, each cell a packet of one flit (sim_atm_graph.c)
 *
 * At each port sits a host: an adaptation layer unit with its tasks, a plain source and sink, or a
 * test's own. A host sends and receives whole cells; it does not depend on the model that carries
 * them.
 *
 *     host              port                         network
 *      |  send(cell, s)  | octets on buf in s .. s+52   |
 *      |---------------->|----------------------------->|  checks in s+4 (virtual channels: s+6):
 *      |   refused(t)    |                              |  room in every crosspoint memory?
 *      |<----------------|<-----------------------------|  reported in s+5: resend, from s+6 on
 *      |                 |                              |
 *      |   room?         |   4th (6th) octet            |
 *      |<----------------|<-----------------------------|  none: the switch takes the cell back
 *      |   deliver(cell) |   53rd octet                 |
 *      |<----------------|<-----------------------------|
 *
 * In each cycle a host is first notified of a refusal, then acts if it requested to, then is
 * notified of arrivals. Hosts act in the order of their ports.
 */
#ifndef LEAT_SIM_ATM_H
#define LEAT_SIM_ATM_H

#include "atm_bmx.h"
#include "sim_agenda.h"
#include "sim_atm_fabric.h"
#include "sim_atm_phy.h"
#include "sim_crew.h"

enum leat_sim_atm_model {
    LEAT_SIM_ATM_RTL,
    LEAT_SIM_ATM_CELL,
    LEAT_SIM_ATM_ALONE,
    LEAT_SIM_ATM_GRAPH, /* of a network of other switches, in place of CELL and ALONE */
};

struct leat_sim_atm;

struct leat_sim_atm_host {
    void *context;
    /* The cell that began five (seven) cycles ago was refused. */
    void (*refused)(void *context, uint32_t port, uint64_t now);
    /* The cycle that leat_sim_atm_wake named has come. */
    void (*act)(void *context, uint32_t port, uint64_t now);
    /* For how many cells is there room? With none, the arriving cell is stopped. */
    uint32_t (*room)(void *context, uint32_t port);
    /* A cell has arrived; lent for the call. */
    void (*deliver)(void *context, uint32_t port, const uint8_t *cell, uint64_t now);
    /* Cell model. Up to and including which cycle, from `now` on, can hosts run independently of
     * each other, if each gets its cells when they arrive? A host then acts in the last cycle of
     * the stride for everything it requested within it. Hosts have room for
     * LEAT_SIM_ATM_STRIDE_ROOM cells when a stride begins, and send no cell without a route. 0: not
     * possible now. NULL: never; everything happens in its own cycle. */
    uint64_t (*stride)(void *context, uint64_t now);
    /* Hints in a stride: this host acts soon; and sooner, when it can read what it prefetched then,
     * with the cell that it gets (NULL: none) and the last cycle. They change nothing. NULL: it
     * needs no hints. */
    void (*fetch)(void *context, uint32_t port);
    void (*fetch_more)(void *context, uint32_t port, const uint8_t *cell, uint64_t last);
};

enum {
    LEAT_SIM_ATM_STRIDE = LEAT_ATM_CELL_LEN + 2, /* cycles, at most */
    LEAT_SIM_ATM_STRIDE_ROOM = 4,                /* cells: two arrive, two begin to */
};

/*
 * Several parts (fabric.parts): in strides, the threads of a crew simulate parts at once. A part
 * has some switches of the first stage, those of the last one with the same numbers, their ports,
 * and its share of the middle stage. Then hosts of different parts are active at once, in strides
 * only; event by event they still take turns. Results do not depend on the number of parts or
 * threads.
 */
struct leat_sim_atm_crew {
    struct leat_sim_crew *crew; /* NULL: the caller does the work of all parts */
    /* After a stride, with the host's context; NULL: nothing to do. First for each part on the
     * thread that simulates it, when no host is active any more; then once for the whole network,
     * on the caller's thread. */
    void (*part_done)(void *context, uint32_t part);
    void (*stride_done)(void *context);
};

/* A cell that leaves the network by a port, and the time of its last octet; cell model only. */
struct leat_sim_atm_arrival {
    uint64_t at;
    uint32_t cell, label;
};

struct leat_sim_atm_port {
    /* One cache line: what strides of the cell model need. */
    uint64_t act_at; /* the time that the host requested */
    uint64_t refused_at, check_at;
    struct leat_sim_atm_arrival arrival[2]; /* a cell begins before the last one ends */
    uint32_t out_ppd;                       /* the network's, at this port */
    uint32_t part;                          /* that simulates it */
    /* Not in strides. */
    uint64_t send_at; /* first octet of the last cell on buf */
    uint32_t in_spd;
    /* Registers, rtl only. */
    uint8_t buf, ogbyte, icbyte, count;
    bool bufi, ogbytei, icbytei, icsuspend, ogsuspend;
    uint8_t out[LEAT_ATM_CELL_LEN], in[LEAT_ATM_CELL_LEN];
};

/*
 * Sees cells on their way; it changes nothing. A wire is a number as in leat_sim_atm_way, or the
 * one to a port. A cell that is sent again, or copied to several ports, has a new number.
 */
struct leat_sim_atm_watch {
    void *context;
    /* The first octet is put on the wire in cycle `at`, of which this is called at most
     * LEAT_SIM_ATM_STRIDE cycles later, and in any order. */
    void (*crosses)(void *context, uint64_t number, uint32_t wire, uint64_t at);
    /* The last octet is at its port, now; before the host is notified. */
    void (*arrives)(void *context, uint64_t number, uint32_t port, uint64_t now);
    uint64_t *number; /* [leat_sim_atm_watch_room] zeroed: of the cells in the network */
    uint64_t numbers; /* so far */
};

struct leat_sim_atm_counts {
    uint64_t suspensions;   /* of all PPDs */
    uint64_t port_refusals; /* by full hosts */
    uint64_t unrouted;      /* cells whose label lies outside the table */
    uint64_t lost;          /* cells, by switches without room and by faults; graph only: for all
                               models see leat_sim_atm_losses */
    uint64_t cells_out;     /* delivered to hosts */
    uint64_t strides;       /* cell model */
    uint64_t strides_ended; /* how often it returned to single events */
};

struct leat_sim_atm {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    bool in_host;   /* a host is active; its port is planned when it is done */
    bool in_stride; /* ... in a stride */
    bool pauses;    /* the run ends with the present cycle; set by hosts */
    uint64_t now;   /* the next cycle to run */
    struct leat_sim_atm_port *port;
    struct leat_sim_atm_host host;
    struct leat_sim_atm_crew crew;
    struct leat_sim_atm_counts counts;
    uint64_t *link_cells; /* read them with leat_sim_atm_link_cells */
    uint64_t *group;      /* read it with leat_sim_atm_group */
    struct leat_sim_atm_rtl *rtl;
    struct leat_sim_atm_cells *cells;
    struct leat_sim_atm_alone *alone;
    struct leat_sim_atm_slots *slots;
    struct leat_sim_atm_watch *watch;   /* NULL: nobody looks on */
    struct leat_sim_atm_faulty *faulty; /* NULL: bus matrices without faults, or another model */
};

/* Octets of memory for a network. */
size_t leat_sim_atm_footprint(const struct leat_sim_atm_fabric *fabric,
                              enum leat_sim_atm_model model);

/* Reset state. `memory`: that many octets, zeroed, aligned for any object, lent for the object's
 * lifetime. */
void leat_sim_atm_init(struct leat_sim_atm *sim, const struct leat_sim_atm_fabric *fabric,
                       enum leat_sim_atm_model model, const struct leat_sim_atm_host *host,
                       void *memory);

/* Call it before the first run. */
void leat_sim_atm_lend_crew(struct leat_sim_atm *sim, const struct leat_sim_atm_crew *crew);

/* Can its cells be seen on their way? Only the models CELL and GRAPH know them, with contention. */
bool leat_sim_atm_can_observe(const struct leat_sim_atm *sim);
size_t leat_sim_atm_watch_room(const struct leat_sim_atm *sim);

/* Lent for the lifetime. Before the first run, of a network whose host has no strides. */
void leat_sim_atm_observe(struct leat_sim_atm *sim, struct leat_sim_atm_watch *watch);

/* leat_sim_atm_wake when no host is active. */
void leat_sim_atm_hurry(struct leat_sim_atm *sim, uint32_t port, uint64_t at);

/* The host of this port acts in cycle `at`, which replaces an earlier request; LEAT_NEVER: it does
 * not. While a host is active it may only wake its own port. */
static inline void leat_sim_atm_wake(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    sim->port[port].act_at = at;
    if (!sim->in_host) leat_sim_atm_hurry(sim, port, at);
}

/* Sends a cell of 53 octets, its first octet on buf in cycle `at` (not before the present one, and
 * not before the last cell's 53rd octet). */
void leat_sim_atm_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *cell, uint64_t at);

/* The octets of the cell sent last, while its first ones are in flight. */
const uint8_t *leat_sim_atm_sent(const struct leat_sim_atm *sim, uint32_t port);

/* The members of a multicast group (0 .. fabric.groups - 1): a bit per port, 64 a word. */
static inline uint64_t *leat_sim_atm_group(const struct leat_sim_atm *sim, uint32_t group)
{
    return &sim->group[(size_t)group * ((sim->fabric.net.ports + 63) / 64)];
}

/* Call it between runs: writes the labels of a group with other members into the tables of all
 * switches, in no time. Its cells go to the members' ports. */
void leat_sim_atm_set_group(struct leat_sim_atm *sim, uint32_t group, const uint64_t *members);

/* Runs all cycles before `until` (with strides: not LEAT_NEVER), or up to the one in which a host
 * requested a pause. */
void leat_sim_atm_run(struct leat_sim_atm *sim, uint64_t until);

/*
 * Links, each in one direction: the one into each PPD, by its number (the first come from the
 * ports), then the one to each port. How many cells has a link carried so far?
 *
 * A cell counts when its receiver accepts it: a PPD when it has the header and finds room, a port
 * when it has the whole cell. A refused transfer, which ends after a few octets, does not count.
 *
 * Without contention there are no switches, and nothing is counted.
 */
uint32_t leat_sim_atm_link_count(const struct leat_atm_clos *net);
uint64_t leat_sim_atm_link_cells(const struct leat_sim_atm *sim, uint32_t link);

/* Cells lost inside the network by their reasons, a copy of several for itself; and cells that took
 * another way because of faults. */
struct leat_sim_atm_losses {
    uint64_t cells[LEAT_NET_FATES]; /* none that are DELIVERED */
    uint64_t rerouted;
};
void leat_sim_atm_losses(const struct leat_sim_atm *sim, struct leat_sim_atm_losses *out);
uint64_t leat_sim_atm_losses_sum(const struct leat_sim_atm_losses *losses);

/* Of a graph on physical lines: what bit errors did to its cells. */
void leat_sim_atm_graph_phy(const struct leat_sim_atm *sim, struct leat_sim_atm_phy_counts *out);

/* Of a graph: cells that left by this output port of its switches. */
uint64_t leat_sim_atm_graph_carried(const struct leat_sim_atm *sim, uint32_t out);

/*
 * Wires, each in one direction: from switch to switch, by its output port (bus matrices: by its
 * SPD), then the one from each port. On the way from one port to another: the wires, the port's own
 * first, without the one to the other port. Their number; 0: switches choose a wire for each cell.
 */
enum { LEAT_SIM_ATM_WAY_MAX = 256 };
uint32_t leat_sim_atm_wires_between(const struct leat_sim_atm_fabric *fabric);
uint32_t leat_sim_atm_way(const struct leat_sim_atm_fabric *fabric, uint32_t from, uint32_t to,
                          uint32_t path, uint32_t wire[LEAT_SIM_ATM_WAY_MAX]);

/* Is this wire broken, or the port that it comes from dead, and has been for so many cycles that
 * nothing it carried before is still being received? */
bool leat_sim_atm_is_silent(const struct leat_sim_atm *sim, uint32_t wire);

/* The switch behind a silent wire sends a cell of its own, as if it had come by that wire on the
 * way between two ports. Call it between runs without strides. False: there is no room now, or
 * cells of these ports do not take this wire any more. */
bool leat_sim_atm_insert(struct leat_sim_atm *sim, uint32_t wire, uint32_t from, uint32_t to,
                         uint32_t path, const uint8_t *cell);

/* The wires into a port after the last cycle, rtl only; the port sees them in the next. */
struct leat_sim_atm_wires {
    uint8_t icbyte;
    bool icbytei, ogsuspend;
};
void leat_sim_atm_wires(const struct leat_sim_atm *sim, uint32_t port,
                        struct leat_sim_atm_wires *out);

#endif
