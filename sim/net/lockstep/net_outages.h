/*
 * The faults of a run (net_faults.h) as periods in which nothing changes. Each has an outage: which
 * wires are broken, which terminals are dead, which wires have errors.
 *
 *     faults     ------[link]-------[link]---[ber]---
 *     period     |    |     |      |     |  |    |
 *     outage     0    1     0      1     0  2    0       0: none
 *
 * So all that depends on faults is known before the run, once for all runs with the same ones.
 */
#ifndef LEAT_NET_OUTAGES_H
#define LEAT_NET_OUTAGES_H

#include "net_faults.h"
#include "net_lockstep_words_parts.h"
#include "net_rows.h"

enum {
    LEAT_NET_PERIODS_MAX = 1 << 16,
    LEAT_NET_OUTAGES_MAX = 1 << 10,      /* different ones */
    LEAT_NET_OUTAGES_ROWS_MAX = 1 << 26, /* of all their tables */
};

struct leat_net_outages {
    struct leat_net_rows rows; /* a table for each different set of broken wires */
    struct leat_net_lockstep_period *period;
    uint32_t periods, count;
    uint32_t *table;      /* [count] in the rows */
    uint8_t *broken;      /* [count * outs] */
    uint8_t *dead;        /* [count * terminals] */
    uint32_t *errors;     /* [count * outs] as in leat_net_errors; NULL: there are none */
    uint32_t errors_from; /* a cycle; NEVER: there are none */
};

/* Do these routes and faults fit, for runs of at most so many cycles? `faults`: NULL if there are
 * none. `why`: if not, what does not. */
leat_err leat_net_outages_check(const struct leat_net_routing *routing,
                                const struct leat_net_faults *faults, uint64_t cycles,
                                struct leat_text *why);

/* For what has passed the check. `memory`: that many octets, ZEROED, aligned for any object, lent
 * for the object's lifetime. The routing has no broken wires, and none afterwards. False: there are
 * more different branches than fit. */
size_t leat_net_outages_footprint(const struct leat_net_routing *routing,
                                  const struct leat_net_faults *faults, uint64_t cycles);
bool leat_net_outages_init(struct leat_net_outages *outages, struct leat_net_routing *routing,
                           const struct leat_net_faults *faults, uint64_t cycles, void *memory);

#endif
