/*
 * Connections that are set up and released while a network runs. Users at the ports and the
 * switches speak Q.2931 (proto/atm/signal) in AAL5 cells on VCI 5 of every line; these cells share
 * the lines with those of the calls. A switch admits each call to the lines that its cells leave by
 * (atm_cac), takes labels of these lines, and forwards by its table of labels.
 *
 *      user            switch                                          switch
 *      | queue > line | VCI 5 --> AAL5 --> call control (atm_node)    |
 *      |------------->|                      | enter, remove          | ...
 *      |              | VPI/VCI --> table of labels --> copies --> queue > line
 *      |<-------------| queue < line                                  |
 *
 * All lines are slotted: a cell takes a slot. A switch has an output queue of four levels for each
 * line (atm_queue): nothing blocks inside it, and a point-to-multipoint call is copied to the
 * queues of its branches. Cells on VCI 5 have level 2, after all that is guaranteed; the queue
 * serves it at least once in W + 1 slots.
 *
 * Users admit calls to their own line, too. They send cells as early as the contract allows
 * (atm_contract) from CONNECT to RELEASE; the called user of a call with cells both ways begins
 * when it has heard the caller. Branches of a point-to-multipoint call take the first of the
 * shortest routes, other calls that with the least booked rate on the next line.
 */
#ifndef LEAT_SIM_ATM_CALLS_H
#define LEAT_SIM_ATM_CALLS_H

#include "atm_contract.h"
#include "sim_atm_calls_graph.h"
#include "sim_clock.h"
#include "sim_histogram.h"

#define LEAT_SIM_ATM_CALLS_ANY UINT32_MAX

enum {
    LEAT_SIM_ATM_CALLS_MAX = 1 << 16,   /* of a plan */
    LEAT_SIM_ATM_CALLS_LIVE = 1 << 16,  /* ends of calls at users, at one time */
    LEAT_SIM_ATM_PARTIES_MAX = 1 << 15, /* of a plan; at users, at one time */
    LEAT_SIM_ATM_CALLS_RANDOM_MAX = 16,
    LEAT_SIM_ATM_CALLS_LABELS_MAX = 1 << 15,
    LEAT_SIM_ATM_CALLS_CELLS_MAX = 1 << 16, /* of a queue */
    LEAT_SIM_ATM_CALLS_CAUSES = 128,
};
#define LEAT_SIM_ATM_CALLS_OCTETS_MAX (UINT64_C(1) << 31) /* of memory */
#define LEAT_SIM_ATM_CALLS_PS_MAX     (UINT64_C(1) << 62) /* of simulated time */

/* What a call asks for. */
struct leat_sim_atm_calls_want {
    struct leat_atm_contract contract; /* no ABR; rates of whole cells per second */
    bool both_ways;                    /* point to point only */
    bool data;                         /* users send cells */
};

/* Times of plans are slots. */
struct leat_sim_atm_calls_party {
    uint32_t port;
    uint64_t add_at, drop_at; /* the first party of a call: 0; LEAT_NEVER: with the call */
};

struct leat_sim_atm_calls_plan {
    uint64_t at, hold; /* hold: from CONNECT to RELEASE; LEAT_NEVER: to the end of the run */
    uint32_t from;
    uint32_t first_party, parties; /* one: point to point */
    struct leat_sim_atm_calls_want want;
};

/* Calls that arise at random. */
struct leat_sim_atm_calls_random {
    uint32_t from, to; /* ports; ANY: every port, and any other port each time */
    uint64_t hold;     /* mean */
    bool is_fixed;     /* always the mean; otherwise exponential */
    uint64_t gap_q16;  /* sources 0: mean between two calls of a port, in slots / 2^16 */
    uint32_t sources;  /* at each port, with one call at a time; 0: a Poisson process */
    uint64_t idle;     /* mean between two calls of a source */
    struct leat_sim_atm_calls_want want;
};

/* Of all lines. */
struct leat_sim_atm_calls_lines {
    uint32_t cells[LEAT_ATM_LEVEL_COUNT]; /* of the queues */
    uint32_t w;
    uint32_t labels; /* VPI 0, VCI 32 .. */
    /* What admission takes for the wait before a line: NEVER: the sum of what the lines before it
     * promise to level 0. */
    leat_time jitter_ps;
    uint32_t node_calls; /* at each switch, at one time; 0: by the number of switches */
};

struct leat_sim_atm_calls_lines leat_sim_atm_calls_lines_default(void);

struct leat_sim_atm_calls_config {
    const struct leat_sim_atm_calls_graph *graph; /* lent */
    struct leat_sim_clock slot;
    uint64_t line_rate; /* of contracts */
    struct leat_sim_atm_calls_lines lines;
    const struct leat_sim_atm_calls_plan *plan; /* by time; lent, as all below */
    uint32_t plans;
    const struct leat_sim_atm_calls_party *party;
    uint32_t parties;
    const struct leat_sim_atm_calls_random *random;
    uint32_t randoms;
    uint64_t warmup; /* calls that arise before this slot are not counted */
    uint64_t seed;
    /* A line begins with a cell, lent for the call. NULL: nobody wants to know. */
    void (*carried)(void *context, uint32_t link, uint64_t slot, const uint8_t *cell);
    void *context;
};

/* The fate of a call, or of a party that was added. */
enum leat_sim_atm_calls_what {
    LEAT_SIM_ATM_CALL_WAITS, /* it has not begun yet */
    LEAT_SIM_ATM_CALL_BEGUN,
    LEAT_SIM_ATM_CALL_CONNECTED,
    LEAT_SIM_ATM_CALL_BLOCKED,  /* with a cause, before it was connected */
    LEAT_SIM_ATM_CALL_RELEASED, /* by the caller, at its end */
    LEAT_SIM_ATM_CALL_LOST,     /* by the network, with a cause */
};

struct leat_sim_atm_calls_fate {
    enum leat_sim_atm_calls_what what;
    uint8_t cause;
    uint64_t set_up;          /* slots from SETUP to CONNECT, or ADD PARTY to its answer */
    uint64_t sent, delivered; /* cells, both ways; of parties: 0 and those delivered at its port */
};

struct leat_sim_atm_calls_counts {
    uint64_t offered, connected, blocked, released, lost; /* calls */
    uint64_t parties_offered, parties_added, parties_refused;
    uint64_t by_cause[LEAT_SIM_ATM_CALLS_CAUSES], party_causes[LEAT_SIM_ATM_CALLS_CAUSES];
    uint64_t blocked_by_user; /* of `blocked`: the caller's or the called line was full */
    uint64_t live, live_max;  /* connected calls */
    uint64_t live_slots;      /* the sum of live over the slots since the warm-up */
    uint64_t cells_sent, cells_delivered, cells_lost; /* of calls; lost: in full queues */
    uint64_t cells_late;                              /* whose label had ended */
    uint64_t misdelivered, copies;                    /* copies: made by switches, beyond one */
    uint64_t messages, signal_cells, signal_lost;
};

struct leat_sim_atm_calls_use {
    uint64_t cells, signal_cells; /* carried; signal_cells are among them */
    uint64_t booked_max;          /* rate of contracts */
    uint32_t labels_max;          /* of its line */
};

struct leat_sim_atm_calls; /* opaque */

/* RANGE: too large, or a limit above is exceeded; `why` has one line for the user. */
leat_err leat_sim_atm_calls_check(const struct leat_sim_atm_calls_config *config,
                                  struct leat_text *why);
size_t leat_sim_atm_calls_footprint(const struct leat_sim_atm_calls_config *config);

/* `memory`: that many octets, zeroed, aligned for any object, lent for the object's lifetime. */
struct leat_sim_atm_calls *leat_sim_atm_calls_init(const struct leat_sim_atm_calls_config *config,
                                                   void *memory);

/* All slots before `until`. */
void leat_sim_atm_calls_run(struct leat_sim_atm_calls *calls, uint64_t until);

uint64_t leat_sim_atm_calls_now(const struct leat_sim_atm_calls *calls);
uint64_t leat_sim_atm_calls_certificate(const struct leat_sim_atm_calls *calls);
const struct leat_sim_atm_calls_counts *
leat_sim_atm_calls_counts(const struct leat_sim_atm_calls *calls);
struct leat_sim_atm_calls_use leat_sim_atm_calls_use(const struct leat_sim_atm_calls *calls,
                                                     uint32_t link);
/* Of a call of the plan; of its party, by the number in the plan. */
const struct leat_sim_atm_calls_fate *
leat_sim_atm_calls_fate(const struct leat_sim_atm_calls *calls, uint32_t plan);
const struct leat_sim_atm_calls_fate *
leat_sim_atm_calls_party_fate(const struct leat_sim_atm_calls *calls, uint32_t party);
/* In slots: set-up times of calls; delays of cells from their user to the other. */
const struct leat_sim_histogram *leat_sim_atm_calls_set_up(const struct leat_sim_atm_calls *calls);
const struct leat_sim_histogram *leat_sim_atm_calls_delay(const struct leat_sim_atm_calls *calls);

/* How many such calls does a line admit, if it carries no others? `access`: from a user; otherwise
 * from a switch, where cells come from a user (`first`) or from another switch. */
enum leat_sim_atm_calls_place {
    LEAT_SIM_ATM_CALLS_ACCESS,
    LEAT_SIM_ATM_CALLS_FIRST,
    LEAT_SIM_ATM_CALLS_INNER,
};
uint32_t leat_sim_atm_calls_circuits(const struct leat_sim_atm_calls_config *config,
                                     const struct leat_sim_atm_calls_want *want,
                                     enum leat_sim_atm_calls_place place);

#endif
