/*
 * Detects the steady state of a network while it runs, in bounded memory.
 *
 * Time is divided into batches of equal length. When the table is full, neighbours are merged and
 * the length doubles, so a run of any length has between half the table and all of it:
 *
 *     |--|--|--|--|--|--|--|--|      ->      |-----|-----|-----|-----|     |     |  ...
 *     begin                                  begin
 *
 *   warm-up      the fewest batches at the beginning whose removal makes the standard error of the
 *                mean of the others about as small as possible (MSER: White 1997), for latency and
 *                for the backlog, whichever is later; at least the first batch, at most half of all
 *   settled      the latency no longer drifts: both halves after the warm-up have the same mean,
 *                within four standard errors
 *   intervals    95 %, from the means of 8 to 15 batches after the warm-up and Student's t: few and
 *                long batches are least correlated (Law 2015, 9.5)
 *   saturation   the backlog grows: by more than a 200th of the offered load, and by more than
 *                three standard errors of its growth per batch. A steady queue goes up and down;
 *                its growth has mean 0, however heavy the load
 *   precision    a run may end once its intervals are narrow enough. Law and Carson (1979): look at
 *                few lengths only, each 4/3 and 3/2 times the one before, since every look is a
 *                chance to be wrong; so looks are when the table has three quarters of its batches,
 *                and when it is full. A look needs a settled latency, 400 times as many cycles
 *                after the warm-up as a packet takes, and intervals within p / (1 + p) of their
 *                means, which keeps the error within p of the true mean (Law 2015, 9.4.1). Two
 *                looks must agree: an interval that is narrow by accident is rarely so twice.
 *                400, and two looks, were found by measuring how many intervals
 *                hold the mean of long runs: net_precision_test.c
 *
 * Each batch has its own histogram, and the warm-up ends with a batch: so latencies are exactly
 * those of the packets that arrived at or after the end of the warm-up. A warm-up given by the user
 * is exact to the cycle.
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

#define LEAT_NET_STEADY_FIND UINT64_MAX /* as a warm-up: detect it */

/* What a look says. */
enum leat_net_steady_verdict {
    LEAT_NET_STEADY_GOES_ON,
    LEAT_NET_STEADY_PRECISE,   /* mean latency and throughput are known well enough */
    LEAT_NET_STEADY_SATURATED, /* the backlog grows and grows, and the throughput is known */
};

struct leat_net_steady_batch {
    uint64_t packets, latency, hops; /* delivered; sums over them */
    uint64_t flits;                  /* delivered */
    uint64_t flits_no_room;          /* lost because of full buffers */
    uint64_t flits_faulty;           /* lost because of faults */
    uint64_t created;                /* packets, as far as they are counted one by one */
};

struct leat_net_steady {
    bool finds;     /* detects the warm-up */
    uint64_t begin; /* of the first batch */
    uint64_t early; /* packets created before it */
    uint64_t batch_cycles;
    uint64_t batch_end; /* of the last batch in the table */
    uint32_t count;     /* of batches in the table */
    struct leat_net_steady_batch batch[LEAT_NET_STEADY_BATCHES];
    struct leat_sim_histogram *latency[LEAT_NET_STEADY_BATCHES];
    struct leat_sim_histogram *all; /* of the measured batches, for quantiles */
};

struct leat_net_steady_result {
    uint64_t warmup;     /* the first measured cycle */
    uint64_t cycles;     /* measured; as all below */
    bool settled;        /* the latency no longer drifts */
    bool saturated;      /* see reason */
    bool has_intervals;  /* there are enough batches for them */
    uint64_t packets;    /* delivered */
    double latency_mean; /* cycles from creation to last flit */
    double latency_half; /* half the interval's width */
    uint64_t latency_p50, latency_p99, latency_max;
    double hops_mean;
    double offered;  /* flits per terminal and cycle; 0 if unknown */
    double accepted; /* the same: delivered */
    double accepted_half;
    char reason[LEAT_NET_STEADY_REASON_CAP];
};

/* `memory` is ZEROED, aligned for any object, lent for the object's lifetime; unused parts are not
 * touched. */
size_t leat_net_steady_footprint(void);
void leat_net_steady_init(struct leat_net_steady *steady, uint64_t warmup, void *memory);

/* A packet ended. Call it in order of time. */
void leat_net_steady_add(struct leat_net_steady *steady, const struct leat_net_arrival *arrival);

/* A packet was created at `at`, which is not after the next one that ends. */
void leat_net_steady_created(struct leat_net_steady *steady, uint64_t at);

/* The run has reached `now`: the table is the one of that time. */
void leat_net_steady_reach(struct leat_net_steady *steady, uint64_t now);

/* The run has reached `now`. Moves all that was added to `from`, which has the same warm-up, to
 * `to`, as if it had been added there. */
void leat_net_steady_move(struct leat_net_steady *to, struct leat_net_steady *from, uint64_t now);

/* The run has reached `now`. What was added on all ranks is moved to rank 0. */
void leat_net_steady_gather(struct leat_net_steady *steady, struct leat_sim_ranks *ranks,
                            uint64_t now);

/*
 * The run has reached `now`, which is after everything that was added. Returns the number of
 * measured batches; batch i is [bound[i], bound[i + 1]). bound has room for LEAT_NET_STEADY_BATCHES
 * + 1.
 */
uint32_t leat_net_steady_bounds(struct leat_net_steady *steady, uint64_t now, uint64_t *bound);

/* Call it after _bounds. `offered`: the flits created in each batch; NULL if unknown, as with
 * closed traffic: then saturation is not judged. */
void leat_net_steady_result(struct leat_net_steady *steady, uint64_t now, uint32_t terminals,
                            const uint64_t *offered, struct leat_net_steady_result *out);

/* The first cycle after `now` at which to look. */
uint64_t leat_net_steady_look_after(const struct leat_net_steady *steady, uint64_t now);

/* Call it after _bounds, at such a cycle. `precision_ppm`: the greatest error of mean latency and
 * throughput, as a share; `offered` as for _result. Reads the batches, not their histograms. */
enum leat_net_steady_verdict leat_net_steady_judge(struct leat_net_steady *steady, uint64_t now,
                                                   const uint64_t *offered, uint32_t precision_ppm);

/* Square root of a nonnegative number; Student's t for two-sided 95 %, by degrees of freedom from 1
 * on. */
double leat_net_steady_root(double square);
double leat_net_steady_student(uint32_t freedom);

#endif
