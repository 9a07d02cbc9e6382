/*
 * Connection admission: may a connection with this contract take this path? The note leaves the
 * rule open; this one is ours. Acceptance guarantees the following, as long as every connection is
 * policed to its contract (atm_contract): no conforming cell of CBR and VBR is lost in a queue of
 * the path (atm_queue), none waits longer than the links promise, and the ABR connections together
 * get their MCR. This holds even if all sources send their worst case at the same moment. So every
 * CLR is kept, 0 included. The price of a deterministic guarantee: bursts need buffers.
 *
 *     contract --> link 0 --> link 1 --> ... --> destination        a link: queue of four levels
 *                  wait <= promised, so cells reach link 1 with that much more variation
 *
 * Arrivals. A connection of GCRA(T, tau) brings at most 1 + (s + tau)/T cells in any time s: a
 * burst of 1 + tau/T cells and a rate of 1/T. VBR has two such lines, peak and mean (SCR), and
 * stays below both. At a link tau is CDVT and the waits promised by the links before. Lines of
 * connections add up; so a link needs to know sums only.
 *
 * Service. W lets waiting lower levels send. While level i has cells, a level below it is served
 * once at first and once per W cells served above it; with g = (W + 1)/W and m levels below, of N
 * services at least (N - 1 - g - ... - g^(m-1)) / g^m are for level i and above. Adding one slot
 * for the cell that is being sent: a rate R = C/g^m after a latency L = (2 + g + ... + g^(m-1))/C
 * (1/C where m = 0).
 *
 * Criteria at each link for the level of the connection and the levels below it, sums over the
 * levels down to the one examined:
 *   rate      of all means, and MCR, at most R
 *   buffer    levels 0, 1: the longest queue, the largest of arrivals(s) - R (s - L), at most the
 *             capacity less the threshold: so much may be full of tagged cells
 *   CTD, CDV  the sum along the path of what links promise. Level 0: a full queue, L + capacity/R.
 *             Level 1: above it W cells pass per cell, L + ((W + 1) capacity + W)/R. Such promises
 *             are independent of others, so admission never hurts earlier connections. CTD has the
 *             transmission of the cell and the fixed delay of the link too
 *   CLR       levels 2, 3 promise none: ABR and UBR must not want a CLR, CTD or CDV
 *
 * Arithmetic is in integers, rounded to the safe side.
 */
#ifndef LEAT_ATM_CAC_H
#define LEAT_ATM_CAC_H

#include "atm_contract.h"
#include "atm_queue.h"

enum {
    LEAT_ATM_CAC_PATH_MAX = 64,             /* links */
    LEAT_ATM_CAC_CONNECTIONS_MAX = 1 << 20, /* per link, UBR not counted */
    LEAT_ATM_CAC_BURST_CELLS_MAX = 1 << 21, /* of one connection */
};

struct leat_atm_cac_link_config {
    uint64_t capacity;                  /* a rate: LEAT_ATM_CONTRACT_RATE_MIN..MAX */
    leat_time fixed_ps;                 /* propagation and switching */
    struct leat_atm_queue_config queue; /* LEAT_ATM_LEVEL_COUNT levels */
};

/* An upper bound on the arrivals. */
struct leat_atm_cac_line {
    uint64_t rate;      /* as in contracts */
    uint64_t burst_q20; /* cells * 2^20 */
};

/* The caller's memory, the engine's fields: one link and its promises. */
struct leat_atm_cac_link {
    struct leat_atm_cac_link_config config;
    uint64_t connections;
    struct {
        struct leat_atm_cac_line peak, mean; /* sums over the connections of a level */
    } level[LEAT_ATM_LEVEL_COUNT];
};

/* RANGE: a value is outside its limits. */
leat_err leat_atm_cac_link_init(struct leat_atm_cac_link *link,
                                const struct leat_atm_cac_link_config *config);

/* The longest wait that the link promises to cells of a level, LEAT_NEVER for levels 2 and 3. */
leat_time leat_atm_cac_link_wait_ps(const struct leat_atm_cac_link *link, unsigned level);

enum leat_atm_cac_criterion {
    LEAT_ATM_CAC_ACCEPTED,
    LEAT_ATM_CAC_RATE,        /* needed, available: rates */
    LEAT_ATM_CAC_BUFFER,      /* cells */
    LEAT_ATM_CAC_BURST,       /* cells: more than the rule can sum */
    LEAT_ATM_CAC_CONNECTIONS, /* connections */
    LEAT_ATM_CAC_CTD,         /* ps: needed is the contract's limit, available the promise */
    LEAT_ATM_CAC_CDV,
    LEAT_ATM_CAC_CLR, /* lost cells in 10^12, likewise */
    LEAT_ATM_CAC_CRITERION_COUNT
};

struct leat_atm_cac_answer {
    enum leat_atm_cac_criterion criterion; /* ACCEPTED, or the first that fails: */
    size_t link;    /* index in the path (CTD, CDV: where the sum becomes too large) */
    unsigned level; /* the delay priority that would suffer */
    uint64_t needed, available;
};

/*
 * Checks, and changes nothing. RANGE, FIELD: the contract is invalid (leat_atm_contract_check) or
 * the path has no link or too many; DUPLICATE: it has a link twice. On error *out is untouched.
 */
leat_err leat_atm_cac_check(const struct leat_atm_contract *contract,
                            struct leat_atm_cac_link *const *path, size_t link_count,
                            struct leat_atm_cac_answer *out);

/* Checks and, if the answer is ACCEPTED, books the connection on all links of the path. */
leat_err leat_atm_cac_admit(const struct leat_atm_contract *contract,
                            struct leat_atm_cac_link *const *path, size_t link_count,
                            struct leat_atm_cac_answer *out);

/* Releases what was booked for a connection, with the contract and path of its admission. */
void leat_atm_cac_release(const struct leat_atm_contract *contract,
                          struct leat_atm_cac_link *const *path, size_t link_count);

#endif
