/*
 * Connection admission control for a network of bus-matrix switches: may a connection with this
 * contract go from this port to that one, and on which path? If it is admitted, its contract and
 * those of all connections admitted before are kept, whatever conforming sources do. The guarantee
 * is deterministic: a sum of worst cases.
 *
 *     connection --> queue of the port --> access link --> SPD --> SPD --> SPD --> destination
 *                    four levels, W        53 cycles       K cells per input, in turns,
 *                    (atm_queue)           a cell          no levels, nothing is lost: a full
 *                                                          memory suspends its writers
 *
 * The port. atm_cac decides whether the access link takes a connection (rate, buffer, CLR). A cell
 * of level 0 or 1 waits there as long as atm_cac promises, or as long as these levels can keep the
 * link busy, whichever is less.
 *
 * The switches have no priority levels, and a suspension delays everyone behind it. So admission
 * ensures that no crosspoint memory is ever full: then there are no suspensions, and the network is
 * feed-forward and can be analysed stage by stage. Time is in slots of 53 cycles. After the waits J
 * so far, a connection of GCRA(T, tau) brings at most 1 + (tau + J + s)/T cells in a time s; VBR
 * has two such bounds; everything that comes over one link is below 1 + s. An SPD serves one cell
 * per slot, and its n active inputs in turns: each input gets a cell per n slots at least.
 *   memory    longest queue of the input at the rate 1/n, or of all inputs at the rate 1, whichever
 *             is less: at most K cells
 *   wait      n times that queue less 1, or the longest time the SPD can be busy, whichever is
 *             less; 0 where n = 1
 *   CTD, CDV  sums of the waits; CTD includes the cell's transmission and the idle network. They
 *             grow with every connection, so all admitted connections are checked again
 * The price is idle capacity; larger crosspoint memories admit more connections.
 *
 * Best effort (ABR, UBR) waits at its port. Each connection has its own queue with a gate: cells
 * leave it at a share of the remaining capacity, and no more bunched than GCRA(1/share, tau).
 * Shares grow equally until a link is full (max-min fair in steps), starting at MCR for ABR. The
 * return path of the RM cells gets a sixteenth. Cells that a policer tagged also pass at a share,
 * because switches ignore CLP. A share is a safe rate: it does not grow when others are silent.
 *
 * If the connection does not name a path, it gets the least loaded one that admits it.
 */
#ifndef LEAT_SIM_ATM_CONTRACTS_ADMIT_H
#define LEAT_SIM_ATM_CONTRACTS_ADMIT_H

#include "atm_cac.h"
#include "sim_atm_fabric.h"

enum {
    LEAT_SIM_ATM_CONNECTIONS_MAX = 1024,
    LEAT_SIM_ATM_PORTS_CELLS_MAX = 1 << 16,
    LEAT_SIM_BEST_LEVEL = 2,    /* best effort uses this level and the one below */
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
    struct leat_atm_contract contract; /* UBR: pcr may be 0, which means the link's rate */
    uint32_t from, to;
    uint32_t path; /* or LEAT_SIM_PATH_ANY */
    enum leat_sim_atm_source source;
    uint32_t excess_percent; /* EXCESS: relative to PCR */
    enum leat_sim_atm_police police;
    bool shape; /* before the policer */
};

/* The queues in front of an access link. */
struct leat_sim_atm_contracts_port {
    uint32_t w;
    uint32_t cells[2], clp_cells[2]; /* capacity and threshold of levels 0 and 1 */
    uint32_t best_cells;             /* of each best-effort connection */
    uint32_t efci_cells; /* cells that leave a queue of this length or longer are marked */
};

/* The default queues of a port. */
struct leat_sim_atm_contracts_port leat_sim_atm_contracts_port_default(void);

struct leat_sim_atm_contracts_config {
    struct leat_sim_atm_fabric fabric;
    const struct leat_sim_atm_connection *connection; /* lent for the lifetime */
    uint32_t connection_count;                        /* 1 .. LEAT_SIM_ATM_CONNECTIONS_MAX */
    const struct leat_sim_atm_contracts_port *port;   /* by port; lent for the lifetime */
    bool admit_all;                                   /* refused connections send anyway */
};

/* RANGE, FIELD: an unsound contract (leat_atm_contract_check), a port or path that the fabric does
 * not have, a queue beyond the limits, or a link beyond LEAT_ATM_CONTRACT_RATE_MAX. */
leat_err leat_sim_atm_contracts_check(const struct leat_sim_atm_contracts_config *config);

enum leat_sim_atm_admit_place {
    LEAT_SIM_AT_ACCESS, /* the access link of port `number` */
    LEAT_SIM_AT_SPD,    /* SPD `number` of the fabric */
    LEAT_SIM_AT_END,    /* the whole path */
};

struct leat_sim_atm_admit_answer {
    enum leat_atm_cac_criterion criterion; /* ACCEPTED, or what fails: */
    enum leat_sim_atm_admit_place place;
    uint32_t number;
    uint32_t victim; /* the connection whose contract would be broken: this one or another */
    uint64_t needed, available; /* in the criterion's unit (atm_cac.h) */
};

/* The outcome of a request. */
struct leat_sim_atm_admission {
    bool admitted;
    struct leat_sim_atm_admit_answer why;
    uint32_t path;
    leat_time ctd_ps, cdv_ps; /* guaranteed; LEAT_NEVER: not */
    uint64_t share;           /* best effort and tagged cells: a rate, as in contracts */
    leat_time share_tau_ps;
};

/* Octets of memory that the admission of a sound config needs. */
size_t leat_sim_atm_contracts_admit_footprint(const struct leat_sim_atm_contracts_config *config);

/* Admits one connection after the other, then assigns shares. `memory`: that many octets, zeroed,
 * aligned for any object, only needed during the call. `out`: one per connection. */
void leat_sim_atm_contracts_admit(const struct leat_sim_atm_contracts_config *config, void *memory,
                                  struct leat_sim_atm_admission *out);

/* The queue of a port as atm_queue and atm_cac see it; levels 2 and 3 hold a cell of each gate. */
struct leat_atm_queue_config
leat_sim_atm_contracts_queue(const struct leat_sim_atm_contracts_config *config, uint32_t port);

/* Cells per second of any link, as a rate of contracts. */
uint64_t leat_sim_atm_contracts_link_rate(const struct leat_sim_atm_fabric *fabric);

/* "access link of port 3: buffer: 101 cells needed, at most 64 cells". */
void leat_sim_atm_admit_answer_text(const struct leat_sim_atm_admit_answer *answer,
                                    struct leat_text *text);

#endif
