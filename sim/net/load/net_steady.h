/*
 * The steady state of a network, found while it runs, in bounded memory.
 *
 * Time is cut into batches of equal length. When the table is full, neighbours become one and the
 * length doubles, so that a run of any length has between half the table and all of it:
 *
 *     |--|--|--|--|--|--|--|--|      ->      |-----|-----|-----|-----|     |     |  ...
 *     begin                                  begin
 *
 *   warm-up      the fewest batches at the beginning whose loss makes the standard error of the
 *                mean of the others about as small as it can be (MSER: White 1997), for latency and
 *                for what waits, whichever is later; the first batch always, half of all at most
 *   settled      the latency does not drift any more: both halves behind the warm-up have one mean,
 *                to four standard errors
 *   intervals    95 %, by the means of 8 to 15 batches behind the warm-up and Student's t: few and
 *                long ones depend least on each other (Law 2015, 9.5)
 *   saturation   what waits grows: by more than a 200th of what is offered, and by more than three
 *                standard errors of its growth in a batch. What a steady queue holds goes up and
 *                down; its growth has mean 0, however heavy the load
 *
 * Each batch has its own histogram, and the warm-up ends with a batch: so latencies are those of
 * just the packets that arrived at or after the end of the warm-up. A warm-up that is given instead
 * is kept to the cycle.
 */
#ifndef LEAT_NET_STEADY_H
#define LEAT_NET_STEADY_H

#include "net.h"
#include "sim_histogram.h"

enum {
    LEAT_NET_STEADY_BATCHES = 32,      /* at most; half of them at least */
    LEAT_NET_STEADY_BATCH_CYCLES = 64, /* at first */
    LEAT_NET_STEADY_REASON_CAP = 192,
};

#define LEAT_NET_STEADY_FIND UINT64_MAX /* as a warm-up: find it */

struct leat_net_steady_batch {
    uint64_t packets, latency, hops; /* delivered; sums over them */
    uint64_t flits;                  /* delivered */
    uint64_t flits_no_room;          /* lost at full buffers */
    uint64_t flits_faulty;           /* lost by faults */
};

struct leat_net_steady {
    bool finds;     /* the warm-up */
    uint64_t begin; /* of the first batch */
    uint64_t batch_cycles;
    uint64_t batch_end; /* of the last batch in the table */
    uint32_t count;     /* of batches in the table */
    struct leat_net_steady_batch batch[LEAT_NET_STEADY_BATCHES];
    struct leat_sim_histogram *latency[LEAT_NET_STEADY_BATCHES];
    struct leat_sim_histogram *all; /* of the batches that count, for quantiles */
};

struct leat_net_steady_result {
    uint64_t warmup;     /* the first cycle that counts */
    uint64_t cycles;     /* that count; with all below */
    bool settled;        /* the latency does not drift any more */
    bool saturated;      /* see reason */
    bool has_intervals;  /* enough batches for them */
    uint64_t packets;    /* delivered */
    double latency_mean; /* cycles from creation to last flit */
    double latency_half; /* half the interval's width */
    uint64_t latency_p50, latency_p99, latency_max;
    double hops_mean;
    double offered;  /* flits per terminal and cycle; 0 where it is not known */
    double accepted; /* likewise: delivered */
    double accepted_half;
    char reason[LEAT_NET_STEADY_REASON_CAP];
};

/* `memory` is ZEROED, aligned for any object, lent for good; what is not used is not touched. */
size_t leat_net_steady_footprint(void);
void leat_net_steady_init(struct leat_net_steady *steady, uint64_t warmup, void *memory);

/* A packet ended; in order of time. */
void leat_net_steady_add(struct leat_net_steady *steady, const struct leat_net_arrival *arrival);

/*
 * The run has come to `now`, which is after all that was added: the pieces of time that count as
 * batches, [bound[i], bound[i + 1]), as many as are returned; bound has room for
 * LEAT_NET_STEADY_BATCHES + 1.
 */
uint32_t leat_net_steady_bounds(struct leat_net_steady *steady, uint64_t now, uint64_t *bound);

/* After _bounds. `offered`: the flits created in each piece; NULL: it is not known, as with traffic
 * that waits for what it sent; then nothing is said about saturation. */
void leat_net_steady_result(struct leat_net_steady *steady, uint64_t now, uint32_t terminals,
                            const uint64_t *offered, struct leat_net_steady_result *out);

/* Square root of a number that is not negative; Student's t for 95 % on both sides, by degrees of
 * freedom from 1 on. */
double leat_net_steady_root(double square);
double leat_net_steady_student(uint32_t freedom);

#endif
