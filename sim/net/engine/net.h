/*
 * A running network: a topology, its routing, and switches of one architecture. Time is in cycles;
 * a wire carries a flit per cycle.
 *
 *   vc       input-queued routers with virtual channels and credits (net_vc.c)
 *   fifo     one queue per input: its head blocks the others (net_queue.c, with all below)
 *   voq      a queue per input and output, matched by iSLIP
 *   output   a queue per output
 *   shared   one memory for all outputs
 *   xpq      a queue per crosspoint, each output takes turns: the bus-matrix switch
 *   batcher  a queue per input before a sorter and a Banyan, which never block; the head that has
 *            waited longest wins its output
 *
 * At each terminal sits a host. The network asks it for its next packet when the one before has
 * left, and the host may return one that is created later: so source queues need no memory.
 *
 *     host                    network                                        host
 *      |  next(t, &packet)       |  from created_at on: a flit per cycle       |
 *      |<------------------------|                                             |
 *      |                         |  tail flit out of the last router           |
 *      |                         |-------------------------------------------->| arrive(arrival)
 *
 * Within a cycle the network first reports arrivals, and the losses of the cycle before. Then it
 * asks hosts, in an unspecified order, and they send. Then the switches work. So a reply may leave
 * in the cycle in which its request arrived. Without contention a packet takes
 *
 *     2 + (pipeline + wire cycles) of each router passed + flits - 1        cycles (vc)
 *
 * from its creation until its last flit is at its terminal; wires of terminals count one cycle.
 */
#ifndef LEAT_NET_H
#define LEAT_NET_H

#include "net_fate_parts.h"
#include "net_routing.h"
#include "sim_crew.h"
#include "sim_ranks.h"
#include <leat/time.h>

enum leat_net_switch {
    LEAT_NET_SWITCH_VC,
    LEAT_NET_SWITCH_FIFO,
    LEAT_NET_SWITCH_VOQ,
    LEAT_NET_SWITCH_OUTPUT,
    LEAT_NET_SWITCH_SHARED,
    LEAT_NET_SWITCH_XPQ,
    LEAT_NET_SWITCH_BATCHER,
};

/* When a packet may proceed (vc only): flit by flit; when there will be room for all of it; or when
 * all of it has arrived, too. */
enum leat_net_flow { LEAT_NET_WORMHOLE, LEAT_NET_CUT_THROUGH, LEAT_NET_STORE_AND_FORWARD };

enum {
    LEAT_NET_SWITCHES = LEAT_NET_SWITCH_BATCHER + 1,
    LEAT_NET_FLOWS = LEAT_NET_STORE_AND_FORWARD + 1,
    LEAT_NET_BUFFER_MAX = 65535,
    LEAT_NET_PIPELINE_MAX = 16,
    LEAT_NET_CREDIT_CYCLES_MAX = 64,
    LEAT_NET_ITERATIONS_MAX = 16,
    LEAT_NET_FLITS_MAX = 65535,     /* of a packet */
    LEAT_NET_ROOM_MAX = 1 << 30,    /* flits, in all buffers of a part */
    LEAT_NET_LANES_MAX = 1 << 29,   /* virtual channels of all ports and terminals of a part, a
                                       power of two at each: two more bits say what they are */
    LEAT_NET_FLIGHTS_MAX = 1 << 24, /* packets in flight: at this limit sources wait */
    LEAT_NET_PART_ROUTERS = 128,    /* keep a thread busier than it costs to meet the others */
};

struct leat_net_config {
    enum leat_net_switch architecture;
    enum leat_net_flow flow;
    bool drop; /* packets without room are lost; else they wait (credits). vc: a packet whose head
                  may have a channel, but finds none with room for all of it, is lost as a whole; in
                  its source it waits */
    uint32_t channels; /* virtual channels; 1 unless vc */
    bool
        in_order; /* vc: terminals send into their first channel only. With routing in order, packets
                      from one terminal to another then stay in order */
    uint32_t buffer_flits;  /* vc: per virtual channel; fifo, voq, batcher: per input; output, xpq:
                              per queue; shared: per output, all in one */
    uint32_t pipeline;      /* cycles from a flit's arrival to its departure, 1 ..; 3 is channel
                              allocation, switch allocation, traversal */
    uint32_t credit_cycles; /* 0 ..: to process a credit that returned over its wire */
    uint32_t iterations;    /* of iSLIP; 1 where there is none */
    uint32_t parts; /* simulated side by side (leat_net_parts); 0, 1: not divided. Results are the
                       same */
    /* Each rank has its share of the parts; lent for the lifetime. NULL: this process has all. With
     * ranks, hosts have part contexts; all ranks make the same calls; counts and out_flits are the
     * rank's own; leat_net_stuck finds nothing. */
    struct leat_sim_ranks *ranks;
};

struct leat_net_packet {
    uint64_t created_at;
    uint64_t number; /* the host's own; identifies the packet together with the source */
    uint64_t random; /* for its routing */
    uint32_t source, destination;
    uint32_t flits; /* 1 .. LEAT_NET_FLITS_MAX */
};

/* The end of a packet. */
struct leat_net_arrival {
    struct leat_net_packet packet;
    enum leat_net_fate fate;
    uint64_t head_at, tail_at; /* at the terminal; if lost: when it was lost */
    uint32_t hops;             /* routers passed */
    bool rerouted;
};

struct leat_net_host {
    void *context;
    /* The next packet of this terminal. False: none until leat_net_wake. Not called before the
     * first run. */
    bool (*next)(void *context, uint32_t terminal, struct leat_net_packet *packet);
    /* A packet arrived, or was lost. Called in order of time; those of one cycle by destination
     * and, if several of one destination were lost, by source and number. Lent for the call. */
    void (*arrive)(void *context, const struct leat_net_arrival *arrival);
    /* NULL: as above. Else a context for each part of the network that this process has, instead of
     * `context`: several threads call the host at once, each with its own. `next` is called by the
     * part where the terminal sends, `arrive` by the one where it receives; only calls of one part
     * are in order; leat_net_wake and `stop` are not for such hosts. Lent for the lifetime. */
    void *const *part_context;
    /* NULL: chance decides (leat_net_errors). Else, where wires may have errors: does this packet
     * of one flit get over the wire of this output port unharmed? Asked in order of time for each
     * wire, not of packets that are lost already. For networks in one part. */
    bool (*crosses)(void *context, uint32_t out, const struct leat_net_packet *packet);
};

/* Sees packets on their way, in order of time; it changes nothing. */
struct leat_net_watch {
    void *context;
    /* The first flit leaves its terminal; vc: it has reached its router, LEAT_NET_ENTRY_CYCLES
     * later, so that networks without an observer need not ask for one. */
    void (*begins)(void *context, const struct leat_net_packet *packet, uint64_t now);
    /* The first flit passes a switch, into the wire of this output port. */
    void (*passes)(void *context, const struct leat_net_packet *packet, uint32_t out, uint64_t now);
};

struct leat_net_counts {
    uint64_t flit_hops;                  /* flits that passed a switch */
    uint64_t packets_begun, flits_begun; /* their first flit has left its terminal */
    uint64_t packets_ended[LEAT_NET_FATES];
    uint64_t flits_delivered;
    uint64_t packets_rerouted;
    uint64_t waits; /* cycles in which a flit at the head of its queue could not proceed for lack of
                       room, or of a channel, ahead */
};

struct leat_net_engine;

struct leat_net {
    const struct leat_net_topology *topology;
    struct leat_net_routing *routing;
    struct leat_net_config config;
    struct leat_net_host host;
    struct leat_net_counts counts;
    uint64_t now;           /* the next cycle to run */
    bool stop;              /* set by the host: leat_net_run returns after this cycle */
    uint64_t *out_flits;    /* [outs] the engine's: leat_net_out_flits */
    uint8_t *out_broken;    /* [outs] */
    uint32_t broken_wires;  /* how many of them are broken */
    uint8_t *terminal_dead; /* [terminals] */
    uint32_t *out_errors; /* [outs] probability in 2^-32 that a flit is damaged; NULL: no errors */
    uint64_t seed;        /* of those errors */
    const struct leat_net_watch *watch; /* NULL: nobody looks on */
    const struct leat_net_engine *engine;
    void *state;                  /* the engine's */
    struct leat_sim_crew *crew;   /* does the work of the parts; NULL: the caller does */
    struct leat_sim_parcel *mail; /* of a part: what leaves for each other one */
};

const char *leat_net_switch_name(enum leat_net_switch architecture);
const char *leat_net_flow_name(enum leat_net_flow flow);

/* Is this network valid? `why`: what is wrong, and what was expected. */
leat_err leat_net_check(const struct leat_net_topology *topology,
                        const struct leat_net_config *config, struct leat_text *why);

/* How many parts such a network has: as many as the config says, but not more than routers; only
 * networks of vc switches can be divided. */
uint32_t leat_net_parts(const struct leat_net_topology *topology,
                        const struct leat_net_config *config);

/* Without contention: from the departure of a packet's first flit from its terminal to its arrival
 * at the other, for a packet of so many flits. */
uint64_t leat_net_way_cycles(const struct leat_net_topology *topology,
                             const struct leat_net_routing *routing,
                             const struct leat_net_config *config, uint32_t from, uint32_t to,
                             uint64_t random, uint32_t flits);

/* The first of them that this rank has; that of rank `ranks`: their number. */
uint32_t leat_net_parts_first(const struct leat_net_config *config, uint32_t parts, uint32_t rank);

/* How many parts are worth so many threads: a small network is faster with fewer. */
uint32_t leat_net_parts_worth(const struct leat_net_topology *topology, uint32_t threads);

/* Octets of memory in addition to topology and routing, for a checked config. */
size_t leat_net_footprint(const struct leat_net_topology *topology,
                          const struct leat_net_config *config);

/* Empty, at cycle 0. `memory`: that many octets, ZEROED, aligned for any object, lent for the
 * network's lifetime; unused parts are not touched. */
void leat_net_init(struct leat_net *net, const struct leat_net_topology *topology,
                   struct leat_net_routing *routing, const struct leat_net_config *config,
                   const struct leat_net_host *host, void *memory);

/* Members of the crew simulate the parts; it is lent until another one, or NULL, is. Between runs
 * only. */
void leat_net_lend(struct leat_net *net, struct leat_sim_crew *crew);

/* Lent until another one, or NULL, is. Between runs only, of networks in one part. */
void leat_net_observe(struct leat_net *net, const struct leat_net_watch *watch);

/* Runs all cycles before `until`, or up to and including the one in which the host sets `stop`; the
 * next run continues as if there had been no stop. True: done. False: deadlocked: flits are in the
 * network and nothing will ever move; `now` is the cycle after the last movement. */
bool leat_net_run(struct leat_net *net, uint64_t until);

/* The host of this terminal has a packet again. Call it within arrive and next, or between runs. */
void leat_net_wake(struct leat_net *net, uint32_t terminal);

/* Between runs: a packet of one flit begins in the next cycle behind a wire, given by its output
 * port, or TERMINAL | t: as if that wire had carried it, with this state of its routing and one of
 * these channels. False: there is no room for it, or the network is divided. */
bool leat_net_insert(struct leat_net *net, uint32_t wire, const struct leat_net_packet *packet,
                     const struct leat_net_route *route, uint32_t channels);

/* Flits in the network. */
uint64_t leat_net_flits_inside(const struct leat_net *net);

/* Flits that went over the wire of this output port; with ranks: 0, if another one has it. */
uint64_t leat_net_out_flits(const struct leat_net *net, uint32_t out);

/*
 * Buffers that wait for each other: the packet in `buffer` waits for the one in `next`. For a
 * network that is deadlocked, at least partly: finds a cycle among the buffers whose packets can
 * never move and returns its length; 0: there is none. The cycle closes: the last waits for the
 * first. Of a longer cycle the first `cap` are returned.
 */
struct leat_net_waiting {
    uint32_t router, in, channel; /* the buffer: an input port 0.. of the router, its channel */
    uint32_t source, destination; /* of the packet at its head */
};
uint32_t leat_net_stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap);

/* Faults take effect at once. Call these between runs, with a wire given by its output port, and
 * then _rerouted once. A packet that crosses a wire when it breaks is lost; its flits travel on as
 * ballast. A dead terminal begins no packet (one that it is sending is cut), and packets that reach
 * it are lost; its own packets wait until it is repaired. */
void leat_net_break(struct leat_net *net, uint32_t out, bool broken);
void leat_net_kill(struct leat_net *net, uint32_t terminal, bool dead);
void leat_net_rerouted(struct leat_net *net);

/* From now on flits over wire o are damaged with probability errors[o], in 2^-32. `errors` has room
 * for all output ports, zeroed, and is lent for the network's lifetime; only that of the first call
 * is used. */
void leat_net_errors(struct leat_net *net, uint32_t *errors, uint64_t seed);

#endif
