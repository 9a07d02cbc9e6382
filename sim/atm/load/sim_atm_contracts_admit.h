/*
 * Admission of connections to a network of bus-matrix switches: may a connection with this contract
 * go from this port to that one, and on which path? Yes means that its contract is kept, and those
 * admitted before stay kept, whatever conforming sources do (the sum of worst cases, no chance).
 *
 *     connection --> queue of the port --> access link --> SPD --> SPD --> SPD --> destination
 *                    four levels, W        53 cycles       K cells per input, in turns,
 *                    (atm_queue)           a cell          no levels, nothing is lost: a full
 *                                                          memory suspends whoever writes
 *
 * The port. Whether the access link takes a connection is atm_cac's to say (rate, buffer, CLR).
 * A cell of level 0 or 1 waits there as long as atm_cac promises, or as long as these levels can
 * keep the link busy, whichever is less.
 *
 * The switches know no levels, and a suspension hurts everyone behind it. So admission sees to it
 * that no crosspoint memory is ever full: then there are no suspensions, and the network is feed-
 * forward, to be reckoned stage by stage. Time in slots of 53 cycles. Behind the waits J so far, a
 * connection of GCRA(T, tau) brings at most 1 + (tau + J + s)/T cells in a time s; VBR has two such
 * lines; all that comes by one link is below 1 + s. An SPD serves one cell per slot, its n inputs
 * in use in turns: each input gets a cell per n slots at least.
 *   memory    longest queue of the input at the rate 1/n, or of all inputs at the rate 1, whichever
 *             is less: at most K cells
 *   wait      n times that queue less 1, or the longest time the SPD can be busy, whichever is
 *             less; 0 where n = 1
 *   CTD, CDV  sums of the waits; CTD has the cell's transmission and the idle network too. They
 *             grow with every connection, so all that were admitted are looked at again
 * The price is capacity that lies idle; larger crosspoint memories take more connections.
 *
 * Best effort (ABR, UBR) waits at its port, each connection in a queue of its own with a gate:
 * cells leave it at a share of what is left over, and no more bunched than GCRA(1/share, tau).
 * Shares grow alike until a link is full (max-min fair in steps), from MCR on for ABR. The way back
 * of the RM cells gets a sixteenth. Cells that a policer tagged pass at a share likewise, since
 * switches do not look at CLP. A share is what is sure to do no harm: it does not move when others
 * are silent.
 *
 * A path that the connection does not name is the least loaded one that takes it.
 */
#ifndef LEAT_SIM_ATM_CONTRACTS_ADMIT_H
#define LEAT_SIM_ATM_CONTRACTS_ADMIT_H

#include "atm_cac.h"
#include "sim_atm_fabric.h"

enum {
    LEAT_SIM_ATM_CONNECTIONS_MAX = 1024,
    LEAT_SIM_ATM_PORTS_CELLS_MAX = 1 << 16,
    LEAT_SIM_BEST_LEVEL = 2,    /* best effort: this level and the one below */
    LEAT_SIM_BACK_DIVISOR = 16, /* of the share, for RM cells: twice one in 32 */
};
#define LEAT_SIM_PATH_ANY UINT32_MAX

enum leat_sim_atm_police {
    LEAT_SIM_ATM_POLICE_DROP,
    LEAT_SIM_ATM_POLICE_TAG,
    LEAT_SIM_ATM_POLICE_OFF
};

enum leat_sim_atm_source {
    LEAT_SIM_ATM_SOURCE_GREEDY, /* as early as the contract allows, all such sources at once */
    LEAT_SIM_ATM_SOURCE_RANDOM, /* bursts and silences, conforming */
    LEAT_SIM_ATM_SOURCE_EXCESS, /* PCR times a factor, whatever the contract says */
};

struct leat_sim_atm_connection {
    struct leat_atm_contract contract; /* UBR: pcr may be 0, then it is the link's */
    uint32_t from, to;
    uint32_t path; /* or LEAT_SIM_PATH_ANY */
    enum leat_sim_atm_source source;
    uint32_t excess_percent; /* EXCESS: of PCR */
    enum leat_sim_atm_police police;
    bool shape; /* before the policer */
};

/* The queues before an access link. */
struct leat_sim_atm_contracts_port {
    uint32_t w;
    uint32_t cells[2], clp_cells[2]; /* capacity and threshold of levels 0 and 1 */
    uint32_t best_cells;             /* of each connection of best effort */
    uint32_t efci_cells;             /* from so many on its cells are marked */
};

/* What a port has when nothing is said about it. */
struct leat_sim_atm_contracts_port leat_sim_atm_contracts_port_default(void);

struct leat_sim_atm_contracts_config {
    struct leat_sim_atm_fabric fabric;
    const struct leat_sim_atm_connection *connection; /* lent for good */
    uint32_t connection_count;                        /* 1 .. LEAT_SIM_ATM_CONNECTIONS_MAX */
    const struct leat_sim_atm_contracts_port *port;   /* by port; lent for good */
    bool admit_all;                                   /* those refused send all the same */
};

/* RANGE, FIELD: an unsound contract (leat_atm_contract_check), a port or path that the fabric does
 * not have, a queue beyond the limits, or a link beyond LEAT_ATM_CONTRACT_RATE_MAX. */
leat_err leat_sim_atm_contracts_check(const struct leat_sim_atm_contracts_config *config);

enum leat_sim_atm_admit_place {
    LEAT_SIM_AT_ACCESS, /* the access link of port `number` */
    LEAT_SIM_AT_SPD,    /* SPD `number` of the fabric */
    LEAT_SIM_AT_END,    /* the whole way */
};

struct leat_sim_atm_admit_answer {
    enum leat_atm_cac_criterion criterion; /* ACCEPTED, or what fails: */
    enum leat_sim_atm_admit_place place;
    uint32_t number;
    uint32_t victim;            /* the connection that would suffer: this one or another */
    uint64_t needed, available; /* in the criterion's unit (atm_cac.h) */
};

/* What became of a request. */
struct leat_sim_atm_admission {
    bool admitted;
    struct leat_sim_atm_admit_answer why;
    uint32_t path;
    leat_time ctd_ps, cdv_ps; /* promised; LEAT_NEVER: nothing is */
    uint64_t share;           /* best effort and tagged cells: a rate, as in contracts */
    leat_time share_tau_ps;
};

/* Octets of memory while all connections of a sound config are asked. */
size_t leat_sim_atm_contracts_admit_footprint(const struct leat_sim_atm_contracts_config *config);

/* Asks for one connection after the other, then gives out shares. `memory`: that many octets,
 * zeroed, aligned for any object, free again afterwards. `out`: one per connection. */
void leat_sim_atm_contracts_admit(const struct leat_sim_atm_contracts_config *config, void *memory,
                                  struct leat_sim_atm_admission *out);

/* The queue of a port as atm_queue and atm_cac see it; levels 2 and 3 hold a cell of each gate. */
struct leat_atm_queue_config
leat_sim_atm_contracts_queue(const struct leat_sim_atm_contracts_config *config, uint32_t port);

/* Cells per second of any link, as a rate. */
uint64_t leat_sim_atm_contracts_link_rate(const struct leat_sim_atm_fabric *fabric);

/* "access link of port 3: buffer: 101 cells needed, at most 64 cells". */
void leat_sim_atm_admit_answer_text(const struct leat_sim_atm_admit_answer *answer,
                                    struct leat_text *text);

#endif
