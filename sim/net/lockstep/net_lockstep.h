/*
 * A network whose routers take each cycle together: made for devices with thousands of threads,
 * which run thousands of networks at once, and here for one processor. Results are those of
 * net_vc.c to the last bit: each packet, certificate, histogram and count.
 *
 *     net, load --plan, job, start--> words of 32 bits --run, here or on a device--> words
 *                                                                --end--> net, load, as if run
 *
 * The words of a network: `plan` and `job` do not change, `state` and `store` do. Networks of the
 * same topology, routing, switches and faults may share a plan. A run is divided into legs, each
 * within one batch of the statistics (net_steady.h) and one period of the faults (net_outages.h).
 *
 * Where packets may wait for each other, a plan is watched. If all do, only the engine knows when
 * its run would have ended: run the network there. If some do, their run is as long as any other.
 *
 * Supported: switches with virtual channels and credits, rules with rows (net_rows.h), all traffic,
 * all faults.
 */
#ifndef LEAT_NET_LOCKSTEP_H
#define LEAT_NET_LOCKSTEP_H

#include "net_load.h"
#include "net_lockstep_watch_parts.h"
#include "net_outages.h"

enum {
    LEAT_NET_LOCKSTEP_CYCLES_MAX = 0x7fffffff, /* of a run */
    LEAT_NET_LOCKSTEP_TRACE_MAX = 1 << 16,     /* packets */
    LEAT_NET_LOCKSTEP_PACKETS_MAX = 1 << 24,   /* in flight: a flit has so many bits for them */
};

/* Can this be run so? `why`: if not, what cannot. */
leat_err leat_net_lockstep_check(const struct leat_net *net, const struct leat_net_load *load,
                                 uint64_t cycles, struct leat_text *why);

/* For what has passed the check, with the outages of its faults. Sizes first, then the words. */
void leat_net_lockstep_size(const struct leat_net *net, const struct leat_net_outages *outages,
                            struct leat_net_lockstep_plan *plan);

/* `watched`: deadlocks are noticed, which costs a little. */
void leat_net_lockstep_plan(const struct leat_net *net, const struct leat_net_outages *outages,
                            bool watched, uint32_t *words);

uint32_t leat_net_lockstep_job_words(const struct leat_net_load *load);
void leat_net_lockstep_job(const struct leat_net_load *load, uint32_t *words);

/* The beginning of a run: both are ZEROED. Returns its table of batches. */
struct leat_net_lockstep_table leat_net_lockstep_start(const uint32_t *plan,
                                                       struct leat_net_load *load, uint32_t *state,
                                                       uint32_t *store);

/* The leg that begins at `now`, in a run of so many cycles, with the table of the leg before. */
struct leat_net_lockstep_leg leat_net_lockstep_next(const uint32_t *plan,
                                                    struct leat_net_lockstep_table table,
                                                    uint32_t now, uint32_t cycles);

/* Runs the cycles of a leg. */
void leat_net_lockstep_run(const uint32_t *plan, const uint32_t *job, uint32_t *state,
                           uint32_t *store, struct leat_net_lockstep_leg leg);

/* After so many cycles all finite work was done; 0: it is not done. */
uint32_t leat_net_lockstep_done(const uint32_t *plan, const uint32_t *store);

/* At the end of a leg: flits are in the network, and nothing will ever move. The engine would have
 * ended the run some cycles ago. */
bool leat_net_lockstep_is_deadlocked(const uint32_t *plan, const uint32_t *store, uint32_t now);

/* At the end of a leg: what leat_net_stuck finds. `doomed`: room for as many octets as there are
 * lanes; `store`: with its buffers and packets. */
uint32_t leat_net_lockstep_stuck(const struct leat_net *net, const uint32_t *plan,
                                 const uint32_t *state, const uint32_t *store, uint8_t *doomed,
                                 struct leat_net_waiting *out, uint32_t cap);

/* With a precision, at load->look_at, which is the end of a leg: judges (net_load.h). Reads only
 * the words of the store before its `bins`. */
void leat_net_lockstep_judge(const uint32_t *plan, const uint32_t *store, uint32_t now,
                             struct leat_net_load *load);

/* Moves what was counted in so many cycles to `net` and `load`, which have not run themselves. */
void leat_net_lockstep_end(const uint32_t *plan, const uint32_t *store, uint32_t cycles,
                           struct leat_net *net, struct leat_net_load *load);

#endif
