/*
 * The words of a network that runs in lockstep (net_lockstep_parts.h), and how a thread sees them.
 * Devices compile it too (core/leat_device.h). Internal.
 */
#ifndef LEAT_NET_LOCKSTEP_WORDS_PARTS_H
#define LEAT_NET_LOCKSTEP_WORDS_PARTS_H

#include "net_draw_parts.h"
#include "net_fate_parts.h"
#include "net_turns_parts.h"
#include "sim_certificate_parts.h"
#include "sim_histogram_parts.h"

/* A flit: the number of its packet, and these bits; on a wire its channel, too. */
#define LEAT_NET_LOCKSTEP_TAIL   UINT32_C(0x80000000)
#define LEAT_NET_LOCKSTEP_HEAD   UINT32_C(0x40000000)
#define LEAT_NET_LOCKSTEP_THERE  UINT32_C(0x20000000)
#define LEAT_NET_LOCKSTEP_PACKET UINT32_C(0x00ffffff)

/* Of the two ends of a wire: a terminal, not a port. (NONE has this bit too.) */
#define LEAT_NET_LOCKSTEP_TERMINAL UINT32_C(0x80000000)
#define LEAT_NET_LOCKSTEP_NONE     UINT32_MAX
#define LEAT_NET_LOCKSTEP_NEVER    UINT32_MAX /* a cycle */

enum {
    LEAT_NET_LOCKSTEP_CHANNEL = 24,  /* the lowest bit of it, in a flit on a wire */
    LEAT_NET_LOCKSTEP_BATCHES = 32,  /* those of net_steady.h */
    LEAT_NET_LOCKSTEP_DETOUR = 0x80, /* in a phase: around a broken wire */
    LEAT_NET_LOCKSTEP_BINS = LEAT_SIM_HISTOGRAM_EXACT +
                             ((32 - LEAT_SIM_HISTOGRAM_EXACT_BITS) << LEAT_SIM_HISTOGRAM_STEP_BITS),
};

/* ---- the plan: what many networks share, and what does not change ---------------------------- */

struct leat_net_lockstep_in {
    uint32_t from; /* an output port, TERMINAL | t, or NONE */
    uint32_t back; /* cycles of a credit */
};

struct leat_net_lockstep_out {
    uint32_t to;     /* an input port, TERMINAL | t, or NONE */
    uint32_t cycles; /* of a flit, from the switch to the other end */
};

struct leat_net_lockstep_terminal {
    uint32_t router, port; /* where it receives: the port among those of the router */
    uint32_t out, in;      /* that port among all; and where it sends */
};

/*
 * Sizes, and where arrays begin: in words from the start of what holds them.
 *
 *   radix                       ports of a router, at most
 *   fused                       both allocations in one cycle
 *   whole                       channels are granted only with room for the whole packet
 *   stores                      store and forward
 *   ripening                    cycles of a long pipeline before a head requests
 *   outages, periods            of its faults (net_outages.h); outage 0: there are none
 *   errors_from                 wires have errors from this cycle on; NEVER: none has
 *   watched                     packets may wait for each other: each leg ends with a look
 *   flit_slots .. packets       powers of two
 *   in_first .. plan_words      in the plan
 *   lane .. state_words         in the state
 *   source .. store_words       in the store; what is read back ends with buffers
 *
 * A program for one plan may know it when it is compiled: then LEAT_NET_LOCKSTEP_KNOWN is set, and
 * each of them is a constant. Any program may know whether there are faults: then
 * LEAT_NET_LOCKSTEP_FAULTY is 0 or 1.
 */
/* clang-format off */
#define LEAT_NET_LOCKSTEP_FIELDS(F)                                                                \
    F(routers) F(ins) F(outs) F(terminals) F(radix) F(channels) F(shift) F(buffer)                 \
    F(fused) F(whole) F(stores) F(ripening) F(credit_cycles) F(outages) F(periods) F(errors_from)  \
    F(watched) F(flit_slots) F(credit_slots) F(packets)                                                       \
    F(in_first) F(out_first) F(in) F(out) F(terminal) F(row) F(branch) F(choice) F(set)            \
    F(period) F(table) F(broken) F(dead) F(errors) F(plan_words)                                   \
    F(lane) F(port_in) F(port_out) F(ahead) F(host) F(entry) F(flits) F(credits)                   \
    F(entry_credits) F(pool) F(loss) F(state_words)                                                \
    F(source) F(batch) F(round) F(pending) F(delivered) F(out_flits) F(created) F(bins)            \
    F(tally) F(buffers) F(packet) F(free) F(fate) F(mover) F(store_words)
/* clang-format on */

struct leat_net_lockstep_plan {
#define LEAT_NET_LOCKSTEP_FIELD(name) uint32_t name;
    LEAT_NET_LOCKSTEP_FIELDS(LEAT_NET_LOCKSTEP_FIELD)
#undef LEAT_NET_LOCKSTEP_FIELD
};

#ifdef LEAT_NET_LOCKSTEP_KNOWN
#define LEAT_NET_PLAN(plan, name) LEAT_NET_LOCKSTEP_##name
#else
#define LEAT_NET_PLAN(plan, name) ((plan)->name)
#endif

#ifdef LEAT_NET_LOCKSTEP_FAULTY
#define LEAT_NET_IS_FAULTY(plan) LEAT_NET_LOCKSTEP_FAULTY
#else
#define LEAT_NET_IS_FAULTY(plan) (LEAT_NET_PLAN(plan, outages) > 1)
#endif

/* From this cycle on, up to the next period. */
struct leat_net_lockstep_period {
    uint32_t from, outage;
};

/* The traffic of one network; followed by the destinations of terminals, where each has one, or by
 * the entries of a trace. */
struct leat_net_lockstep_job {
    struct leat_net_draw draw;
    uint32_t clock_num, clock_den; /* picoseconds of a cycle; num 0: time is in cycles */
    uint32_t rounds;               /* of a collective; 0: unlimited */
    uint32_t trace_count;
    uint32_t seed_low, seed_high; /* of errors */
};

struct leat_net_lockstep_entry {
    uint32_t cycle, destination, flits;
    uint32_t next; /* of the same source */
};

/* Batches of statistics (net_steady.h) at this time. */
struct leat_net_lockstep_table {
    uint32_t begin, batch_cycles;
};

/* The batch of a cycle; BATCHES: it is before the first one. */
static inline uint32_t leat_net_lockstep_batch_of(struct leat_net_lockstep_table table, uint32_t at)
{
    return at < table.begin ? LEAT_NET_LOCKSTEP_BATCHES : (at - table.begin) / table.batch_cycles;
}

/* Cycles that are run without a change: now .. until - 1. */
struct leat_net_lockstep_leg {
    uint32_t now, until;
    uint32_t halves;         /* before the first cycle the table was full */
    uint32_t outage, before; /* `before`: up to this leg; the same, or a period begins with it */
    struct leat_net_lockstep_table table;
};

/* ---- the state of a network ------------------------------------------------------------------ */

/* A virtual channel of an input port: lane (port << shift | channel). */
struct leat_net_lockstep_lane {
    uint16_t first, count; /* of its flits: a ring */
    uint16_t
        next; /* where the search for a channel of the router starts: after the last one held */
    uint16_t port; /* where it goes; before it asks: from which cycle on it may, the lower half */
    uint8_t set;   /* of channels, while it asks */
    uint8_t phase; /* while it asks: the packet's next one, XOR that of now */
};

/* An input port: sets of its channels, and the turns of its arbiter. */
struct leat_net_lockstep_port_in {
    uint32_t early;  /* with a head that may not request yet: for its tail, or for the pipeline */
    uint32_t asking; /* that request a channel */
    uint32_t moving; /* that hold one */
    uint16_t out_turn, channel_turn;
};

struct leat_net_lockstep_port_out {
    uint32_t taken;  /* channels */
    uint32_t wanted; /* within a cycle: those with a bid */
    uint32_t bid;    /* within a cycle: the best one; 0: none */
    uint32_t turn;
};

/* A virtual channel of an output port. */
struct leat_net_lockstep_ahead {
    uint32_t bid;  /* within a cycle: the best one */
    uint16_t used; /* flits in the lane ahead, or in flight to or from it */
    uint16_t next; /* after the lane of the router that held it last */
};

struct leat_net_lockstep_host {
    uint32_t due;    /* its packet leaves from this cycle on */
    uint32_t packet; /* its number, once it has begun */
    uint16_t sent;
    uint16_t channel; /* of the last packet */
};

/* Numbers of packets: each is used for the first time before any is used again, and then in the
 * order in which they were given back. There are so many that none is missing. */
struct leat_net_lockstep_pool {
    uint32_t taken, given;
};

/* Lanes of an input port that lose packets. Only with faults. */
struct leat_net_lockstep_loss {
    uint32_t discards; /* those which drop a packet, a flit per cycle */
    uint32_t ended;    /* those which have dropped its tail: told in the next cycle */
};

/* ---- its store ------------------------------------------------------------------------------- */

struct leat_net_lockstep_packet {
    uint32_t created_at, number, source, destination;
    uint32_t salt;
    uint32_t phase;
    uint32_t hops;
    uint32_t flits;
};

/* What is drawn, but not begun. */
struct leat_net_lockstep_pending {
    uint32_t destination, salt, flits;
};

/* The packet of a lane that holds a channel, or that discards it. Only with faults. */
struct leat_net_lockstep_mover {
    uint32_t packet;
    uint32_t passed; /* flits of it */
};

/* Counters of a batch, of what is rare. Only with faults. */
enum {
    LEAT_NET_LOCKSTEP_LOST = 0, /* packets, by fate */
    LEAT_NET_LOCKSTEP_LOST_FLITS = LEAT_NET_LOCKSTEP_LOST + LEAT_NET_FATES,
    LEAT_NET_LOCKSTEP_REROUTED = LEAT_NET_LOCKSTEP_LOST_FLITS + LEAT_NET_FATES, /* packets, */
    LEAT_NET_LOCKSTEP_ARRIVED_REROUTED, /* and those of them that were delivered */
    LEAT_NET_LOCKSTEP_COUNTERS,
};

struct leat_net_lockstep_counter {
    uint32_t low, high;
};

struct leat_net_lockstep_tally {
    struct leat_net_lockstep_counter of[LEAT_NET_LOCKSTEP_COUNTERS];
};

/* Rounds of a collective, and the end of finite work. */
struct leat_net_lockstep_round {
    uint64_t cycles; /* of all rounds that have ended */
    uint32_t count, cycles_min, cycles_max;
    uint32_t at;         /* when this round began */
    uint32_t left;       /* packets that must still arrive in it; 0: no more rounds */
    uint32_t ended;      /* packets of a trace */
    uint32_t done_after; /* so many cycles all work was done; 0: it is not */
    uint32_t seen;       /* by a look: twice its cycle: flits wait, and nothing can move; one more:
                            something can */
};

/* What happened in a batch; the last row is for all cycles before the first batch. */
struct leat_net_lockstep_sums {
    uint64_t certificate, latency, hops;
    uint64_t packets, flits; /* delivered */
    uint64_t begun;          /* packets */
    uint64_t flits_begun;    /* flits that have left their terminals */
    uint64_t flit_hops, waits;
    uint64_t latency_max;
};

/* One network, as a thread sees it, and what this thread has counted. */
struct leat_net_lockstep_view {
    LEAT_DEVICE_PLAN struct leat_net_lockstep_plan *plan;
    LEAT_DEVICE_PLAN uint32_t *in_first, *out_first;
    LEAT_DEVICE_PLAN struct leat_net_lockstep_in *in;
    LEAT_DEVICE_PLAN struct leat_net_lockstep_out *out;
    LEAT_DEVICE_PLAN struct leat_net_lockstep_terminal *terminal;
    LEAT_DEVICE_PLAN uint16_t *row;
    LEAT_DEVICE_PLAN struct leat_net_branch *branch;
    LEAT_DEVICE_PLAN struct leat_net_choice *choice;
    LEAT_DEVICE_PLAN uint32_t *set;    /* of channels */
    LEAT_DEVICE_PLAN uint16_t *intact; /* rows while no wire is broken; `row` is of this outage */
    LEAT_DEVICE_PLAN uint8_t *broken, *dead; /* in this outage: wires, terminals */
    LEAT_DEVICE_PLAN uint32_t *errors;
    LEAT_DEVICE_PLAN struct leat_net_lockstep_job *job;
    LEAT_DEVICE_PLAN uint32_t *to;
    LEAT_DEVICE_PLAN struct leat_net_lockstep_entry *trace;

    LEAT_DEVICE_STATE struct leat_net_lockstep_lane *lane;
    LEAT_DEVICE_STATE struct leat_net_lockstep_port_in *port_in;
    LEAT_DEVICE_STATE struct leat_net_lockstep_port_out *port_out;
    LEAT_DEVICE_STATE struct leat_net_lockstep_ahead *ahead;
    LEAT_DEVICE_STATE struct leat_net_lockstep_host *host;
    LEAT_DEVICE_STATE uint16_t *entry; /* [terminals << shift] used flits of the lane ahead */
    LEAT_DEVICE_STATE uint32_t *flits; /* [(ins + terminals) * flit_slots] on wires */
    LEAT_DEVICE_STATE uint32_t *credits, *entry_credits; /* sets of channels, by slot */
    LEAT_DEVICE_STATE struct leat_net_lockstep_pool *pool;
    LEAT_DEVICE_STATE struct leat_net_lockstep_loss *loss;

    LEAT_DEVICE_STORE struct leat_net_source *source;
    LEAT_DEVICE_STORE struct leat_net_lockstep_round *round;
    LEAT_DEVICE_STORE struct leat_net_lockstep_pending *pending;
    LEAT_DEVICE_STORE struct leat_net_lockstep_packet *packet;
    LEAT_DEVICE_STORE uint32_t *free;
    LEAT_DEVICE_STORE uint32_t *buffers;
    LEAT_DEVICE_STORE uint32_t *delivered; /* by source */
    LEAT_DEVICE_STORE uint32_t *out_flits;
    LEAT_DEVICE_STORE uint32_t
        *created; /* [batches + 1] packets; the last: before the first batch */
    LEAT_DEVICE_STORE struct leat_net_lockstep_sums *batch; /* [batches + 1] */
    LEAT_DEVICE_STORE uint32_t *bins; /* of the latencies of this batch; 0 before the first */
    LEAT_DEVICE_STORE struct leat_net_lockstep_tally *tally; /* of this batch */
    LEAT_DEVICE_STORE uint32_t *fate; /* of packets; 0: nothing has happened to it */
    LEAT_DEVICE_STORE struct leat_net_lockstep_mover *mover;

    struct leat_net_lockstep_table table;
    uint32_t now;
    struct leat_net_lockstep_sums sums;
};

#endif
