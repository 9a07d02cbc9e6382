/*
 * Routers with virtual channels: shared by their files. Internal.
 *
 *        lanes: a buffer for every virtual          ahead: what is known of the lanes at the
 *        channel of an input port                   other end of an output port's wire
 *
 *   --> [ | | |h|] lane 0  --+                +-- used, holder --> wire --> lane 0
 *   --> [ | |t|b|] lane 1  --+--> switch -----+-- used, holder              lane 1
 *         wire <-- credits                                          <-- credits
 *
 * A head at the front of its lane is routed and requests a channel of the wire ahead. It holds the
 * channel until its tail has left, and each of its flits requests the switch. Both allocators are
 * separable, input first, with round-robin arbiters that advance only when their choice was granted
 * (Becker and Dally 2009). One cycle of a router, at most one flit per input and per output port:
 *
 *   pipeline   in cycle a      a+1             a+2
 *      1       ask and leave
 *      2       ask, switch     leave
 *      3       ask             switch          leave        more: that many later
 *
 * Between routers there are only wires and credits, both with a delay of at least one cycle. So all
 * routers take each step together, in any order: a cycle is a few passes over lists of the lanes
 * that request a channel and of the input ports that request the switch. Nothing else is visited.
 *
 * All zero is the state of an empty network: memory that is never used is never touched.
 */
#ifndef LEAT_NET_VC_PARTS_H
#define LEAT_NET_VC_PARTS_H

#include "net_parts.h"
#include "sim_agenda.h"
#include <assert.h>

/* A flit: the packet's index among the flights, and these bits. */
#define LEAT_NET_VC_HEAD   UINT32_C(0x40000000)
#define LEAT_NET_VC_TAIL   UINT32_C(0x80000000)
#define LEAT_NET_VC_FLIGHT (UINT32_C(0x40000000) - 1)

/* On the return wire: not a credit, but a lane whose head may request a channel now. */
#define LEAT_NET_VC_RIPE UINT32_C(0x80000000)

/* In `to` of an output port: the flit leaves the network, or this part of it. */
#define LEAT_NET_VC_AWAY (LEAT_NET_TERMINAL | LEAT_NET_CROSSING)

enum {
    LEAT_NET_VC_CHUNK = 64,       /* records, of which the first one links to another chunk */
    LEAT_NET_VC_ENTRY_CYCLES = 2, /* from a terminal to the lane of its router */
    LEAT_NET_VC_REGION_BITS = 6,  /* of a router's number within its region, at least */
    LEAT_NET_VC_REGIONS_MAX = 256,
    LEAT_NET_VC_FAR_LANES = 1 << 12, /* more do not fit into caches: what is due is prefetched */
    LEAT_NET_VC_RETURN_CYCLES = 2,   /* of a credit, to or from a terminal */
};

enum leat_net_vc_state {
    LEAT_NET_VC_IDLE,
    LEAT_NET_VC_WHOLE,   /* store and forward: the tail is not there yet */
    LEAT_NET_VC_RIPENS,  /* in the first cycles of a long pipeline */
    LEAT_NET_VC_ASKS,    /* requests a channel; or sleeps, because none was available */
    LEAT_NET_VC_MOVES,   /* holds a channel */
    LEAT_NET_VC_DISCARDS /* the packet is lost: its flits are dropped */
};

/* A virtual channel of an input port: lane (port << shift | channel). */
enum { LEAT_NET_VC_DETOUR = 0x80 }; /* the option avoids a broken wire; no phase has this bit */

struct leat_net_vc_lane {
    uint32_t front; /* the first flit; the others are stored elsewhere, as lanes are mostly short */
    union {
        uint32_t channels; /* ASKS: of the only option; 0: look it up again */
        uint32_t flight;   /* MOVES, once its head has left; DISCARDS */
    };
    uint16_t
        next; /* where the search for a channel of the router starts: after the last one held */
    uint16_t count;
    uint16_t port; /* ASKS: of the only option, or of the requested one; MOVES: it goes there */
    union {
        uint8_t phase; /* ASKS: of that option, XOR the packet's: rarely differs; or _DETOUR */
        uint8_t fate;  /* DISCARDS */
    };
    uint8_t state;
};

/* A virtual channel of an output port, or of a terminal's wire into its router. */
struct leat_net_vc_ahead {
    uint16_t used; /* flits in the lane ahead, or in flight to or from it */
    uint16_t next; /* after the lane of the router that holds it, or held it last */
    uint32_t bid;  /* within a cycle: the best one; 0: none */
};

struct leat_net_vc_in {
    uint32_t back; /* where credits go: the first channel of an output port, or of a terminal; or
                      CROSSING | its number among the channels of cut wires */
    uint32_t router, out_first;
    uint32_t able; /* a bit per channel: its lane has a flit, a channel and a credit */
    uint16_t port; /* of the router */
    uint16_t back_cycles;
    uint16_t out_turn;     /* of the switch's arbiter: an output port */
    uint16_t channel_turn; /* among lanes that request the same output port */
};

struct leat_net_vc_out {
    uint32_t taken; /* a bit per channel */
    uint32_t
        to; /* the first lane at the other end, TERMINAL | its own number, or CROSSING | index */
    uint32_t router;
    uint16_t cycles; /* from the switch to the other end */
    uint16_t turn;   /* of the switch's arbiter: an input port */
    uint32_t bid;    /* within a cycle: the best one; 0: none */
};

/* A lane requests a channel, or an output port. */
struct leat_net_vc_bid {
    uint32_t what, lane;
    uint32_t value; /* the sooner its turn, the higher */
};

/* Neighbouring routers take each step together: what they touch mostly stays in the caches. */
struct leat_net_vc_region {
    uint32_t *asking, asking_count; /* lanes whose heads request a channel */
    uint32_t *ports, ports_count;   /* input ports with lanes that are able */
};

struct leat_net_vc_router {
    uint32_t in_first, out_first;
    uint32_t sleepers;
    bool hungry;         /* some sleeper waits for room, not only for a channel */
    uint64_t sleeping[]; /* [words] lanes that requested a channel in vain */
};

enum leat_net_vc_source_state {
    LEAT_NET_VC_SOURCE_EMPTY,
    LEAT_NET_VC_SOURCE_WOKEN,   /* its host must be asked */
    LEAT_NET_VC_SOURCE_WAITS,   /* until its packet is created */
    LEAT_NET_VC_SOURCE_SENDS,   /* in the list of sending sources */
    LEAT_NET_VC_SOURCE_BLOCKED, /* until a credit comes */
    LEAT_NET_VC_SOURCE_HELD,    /* dead, with a packet that has not begun */
};

struct leat_net_vc_source {
    struct leat_net_packet packet;
    uint32_t flight; /* valid while sent > 0 */
    uint16_t sent;
    uint8_t channel; /* of the last packet */
    uint8_t state;
};

/* A calendar: records by due cycle, in chunks from a pool. A day is the place of its next record;
 * if that is a multiple of a chunk, it needs another one. */
struct leat_net_vc_calendar {
    uint32_t *day;           /* [days] 0: none */
    uint64_t *record;        /* [cap * CHUNK] the chunk at 0 is not used */
    uint32_t last_day;       /* days - 1, a mask */
    uint32_t cap, top, free; /* free: a list of chunks; 0 ends it */
    uint32_t full_days;      /* that have records */
};

struct leat_net_vc {
    uint32_t shift;  /* log2 of the lanes of a port */
    uint32_t mask;   /* of a channel in the number of a lane */
    uint32_t buffer; /* flits of a lane */
    uint32_t lanes;  /* of all routers */
    uint32_t words;  /* of a router's set of lanes */
    bool fused;      /* both allocations in one cycle */
    bool whole;      /* channels are granted only with room for the whole packet */
    bool direct;     /* heads request as soon as they are at the front */
    uint32_t ripening;
    uint64_t inside;   /* flits */
    uint64_t moved_at; /* the cycle after the last movement */
    uint64_t blocked;  /* lanes with a flit and a channel, but no credit */
    uint64_t sleepers;

    uint64_t rests_at; /* nothing happens from this cycle on; NEVER: something does */
    uint64_t before;   /* movement, when this cycle began */
    bool due;          /* in this cycle sources are due, */
    bool ends;         /* and packets end */

    struct leat_net_vc_calendar flits;   /* lane << 32 | flit, TERMINAL | out << 32 | flight */
    struct leat_net_vc_calendar credits; /* a channel, or RIPE | lane */
    struct leat_net_vc_lane *lane;       /* [ins << shift] */
    struct leat_net_vc_ahead *ahead;     /* [(outs + terminals) << shift] */
    struct leat_net_vc_in *in;
    struct leat_net_vc_out *out;
    unsigned char *router; /* [routers * router_size] leat_net_vc_router_at */
    size_t router_size;
    bool far; /* it exceeds the caches */
    /* [(buffer - 1) * lanes] the second place of every lane, then the third of every lane ...: the
     * places in use are adjacent; and [lanes] where the second flit is. */
    uint32_t *flit;
    uint16_t *second;
    uint16_t *passed; /* [lanes] flits of its packet that left; only if wires have errors */
    struct leat_net_flights flights;

    struct leat_net_vc_region *region; /* [regions] */
    uint32_t regions, region_bits;
    uint32_t *sends, sends_count;       /* terminals that send */
    uint32_t *woken, woken_count;       /* terminals to be asked */
    uint32_t *discards, discards_count; /* lanes */
    uint64_t *ended;                    /* destination << 32 | flight; reported in the next cycle */
    uint32_t ended_count, ended_next;   /* ended_next: those before it are reported */
    uint32_t *arriving; /* [in_cuts << shift] of a part: the flight whose flits come in */
    struct leat_net_vc_source *source; /* [terminals] */
    struct leat_sim_agenda agenda;     /* of waiting sources */
    uint32_t waiting;                  /* in it */
    void *agenda_memory;

    struct leat_net_vc_bid *channel_bid, *switch_bid; /* scratch: [lanes], [ins] */
    uint8_t *doomed;                                  /* scratch of deadlock detection: [lanes] */
};

#ifdef __GNUC__
#define LEAT_NET_VC_PREFETCH(address) __builtin_prefetch(address)
#else
#define LEAT_NET_VC_PREFETCH(address) ((void)(address))
#endif

/* One cycle of all routers. */
void leat_net_vc_act(struct leat_net *net);

/* This head at the front of its lane has reached another router and requests a channel. */
void leat_net_vc_ask(struct leat_net *net, uint32_t lane, uint32_t head);

/* Looks up where this head may go. */
void leat_net_vc_route(struct leat_net *net, uint32_t lane, uint32_t head);

/* Must the head wait before it requests: for its tail, or for the pipeline? The router processes it
 * from cycle `at` on. */
bool leat_net_vc_defer(struct leat_net *net, uint32_t lane, uint64_t at);

/* Sleeping lanes request again. */
void leat_net_vc_rouse(struct leat_net_vc *vc, uint32_t router);

uint32_t leat_net_vc_stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap);
uint32_t leat_net_vc_stuck_parts(const struct leat_net *const *part, uint32_t parts,
                                 struct leat_net_waiting *out, uint32_t cap);

/* Adds a chunk to the day and returns the place of its first record. */
uint32_t leat_net_vc_extend(struct leat_net_vc_calendar *c, uint32_t *day);

static inline void leat_net_vc_enter(struct leat_net_vc_calendar *c, uint64_t at, uint64_t record)
{
    uint32_t *day = &c->day[at & c->last_day];
    const uint32_t place = *day % LEAT_NET_VC_CHUNK ? *day : leat_net_vc_extend(c, day);
    c->record[place] = record;
    *day = place + 1;
}

/* Removes up to a chunk of records from the day and returns how many; 0: none are left. */
uint32_t leat_net_vc_due(struct leat_net_vc_calendar *c, uint64_t now, uint64_t *record);

static inline struct leat_net_flight *leat_net_vc_flight(const struct leat_net_vc *vc,
                                                         uint32_t flit)
{
    return &vc->flights.flight[flit & LEAT_NET_VC_FLIGHT];
}

static inline uint32_t leat_net_vc_first_flit(const struct leat_net_vc *vc, uint32_t lane)
{
    return vc->lane[lane].front;
}

/* Where a lane stores its flit i = 1 .. */
static inline uint32_t *leat_net_vc_place(const struct leat_net_vc *vc, uint32_t lane, uint32_t i)
{
    uint32_t place = vc->second[lane] + i - 1;
    if (place >= vc->buffer - 1) place -= vc->buffer - 1;
    return &vc->flit[(size_t)place * vc->lanes + lane];
}

static inline struct leat_net_vc_router *leat_net_vc_router_at(const struct leat_net_vc *vc,
                                                               uint32_t router)
{
    return (struct leat_net_vc_router *)(void *)(vc->router + router * vc->router_size);
}

/* The packet of a lane in state MOVES. */
static inline uint32_t leat_net_vc_mover(const struct leat_net_vc *vc, uint32_t lane)
{
    const uint32_t flit = leat_net_vc_first_flit(vc, lane);
    return vc->lane[lane].count && flit & LEAT_NET_VC_HEAD ? flit & LEAT_NET_VC_FLIGHT
                                                           : vc->lane[lane].flight;
}

/* The room that a packet needs in an adaptive channel. */
static inline uint32_t leat_net_vc_adaptive_need(const struct leat_net_vc *vc,
                                                 const struct leat_net_flight *flight)
{
    return flight->packet.flits < vc->buffer ? flight->packet.flits : vc->buffer;
}

/* ---- wires to other parts (net_vc_cut.c) ---------------------------------------------------- */

extern const struct leat_net_part_engine leat_net_vc_part_engine;

/* A flit, or a credit, leaves over a cut wire; it is at the other end at `at`. */
void leat_net_vc_post_flit(struct leat_net *net, uint32_t cut, uint32_t channel, uint32_t flit,
                           uint64_t at);
void leat_net_vc_post_credit(struct leat_net *net, uint32_t cut_channel, uint64_t at);

/* Steps of a cycle, and the flits on a wire (net_vc.c). */
void leat_net_vc_begin(struct leat_net *net);
void leat_net_vc_report_end(struct leat_net *net);
void leat_net_vc_send(struct leat_net *net);
void leat_net_vc_finish(struct leat_net *net);
/* Runs the next cycle before `until` that has anything to do, or advances to `until`. */
void leat_net_vc_advance(struct leat_net *net, uint64_t until);
bool leat_net_vc_is_quiet(const struct leat_net_vc *vc);
void leat_net_vc_doom_wire(struct leat_net *net, uint32_t to);

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The second flit becomes the first one. */
static inline void leat_net_vc_move_up(struct leat_net_vc *vc, uint32_t lane)
{
    struct leat_net_vc_lane *l = &vc->lane[lane];
    const uint32_t second = vc->second[lane] + 1u;
    l->front = *leat_net_vc_place(vc, lane, 1);
    vc->second[lane] = (uint16_t)(l->count == 1 || second == vc->buffer - 1 ? 0 : second);
}

/* Removes the first flit of a lane and returns its credit. */
LEAT_SIM_ALWAYS_INLINE uint32_t leat_net_vc_take(struct leat_net *net, struct leat_net_vc *vc,
                                                 uint32_t lane, const struct leat_net_vc_in *in,
                                                 struct leat_net_vc_lane *l)
{
    const uint32_t flit = l->front, back = in->back | (lane & vc->mask);
    if (--l->count) leat_net_vc_move_up(vc, lane);
    if (back & LEAT_NET_CROSSING)
        leat_net_vc_post_credit(net, back, net->now + in->back_cycles);
    else
        leat_net_vc_enter(&vc->credits, net->now + in->back_cycles, back);
    return flit;
}

static inline uint32_t leat_net_vc_bit(const struct leat_net_vc *vc, uint32_t lane)
{
    return UINT32_C(1) << (lane & vc->mask);
}

static inline struct leat_net_vc_region *leat_net_vc_region_of(const struct leat_net_vc *vc,
                                                               uint32_t router)
{
    return &vc->region[router >> vc->region_bits];
}

/* The lane has a flit, a channel and a credit: it requests the switch. */
static inline void leat_net_vc_enable(struct leat_net_vc *vc, uint32_t lane)
{
    struct leat_net_vc_in *in = &vc->in[lane >> vc->shift];
    struct leat_net_vc_region *region = leat_net_vc_region_of(vc, in->router);
    region->ports[region->ports_count] = lane >> vc->shift;
    region->ports_count += !in->able;
    in->able |= leat_net_vc_bit(vc, lane);
}

/* The number of a lane within its router. */
static inline uint32_t leat_net_vc_local(const struct leat_net_vc *vc,
                                         const struct leat_net_vc_in *in, uint32_t lane)
{
    return (uint32_t)in->port << vc->shift | (lane & vc->mask);
}

/* The channel that a lane holds. */
static inline uint32_t leat_net_vc_way(const struct leat_net_vc *vc, uint32_t lane)
{
    return (vc->in[lane >> vc->shift].out_first << vc->shift) + vc->lane[lane].next - 1;
}

/* The lane that holds a channel, if it is taken. */
static inline uint32_t leat_net_vc_holder(const struct leat_net_vc *vc, uint32_t channel)
{
    const uint32_t router = vc->out[channel >> vc->shift].router;
    return (leat_net_vc_router_at(vc, router)->in_first << vc->shift) + vc->ahead[channel].next - 1;
}

static inline bool leat_net_vc_is_taken(const struct leat_net_vc *vc, uint32_t channel)
{
    return vc->out[channel >> vc->shift].taken & leat_net_vc_bit(vc, channel);
}

static inline bool leat_net_vc_is_full(const struct leat_net_vc *vc, uint32_t channel)
{
    return vc->ahead[channel].used == vc->buffer;
}

static inline void leat_net_vc_end(struct leat_net_vc *vc, uint32_t flight)
{
    const uint32_t destination = vc->flights.flight[flight].packet.destination;
    vc->ended[vc->ended_count++] = (uint64_t)destination << 32 | flight;
}

/* The first thing that happens to a packet is its fate; within a cycle, wire faults take
 * precedence. */
static inline void leat_net_vc_doom(struct leat_net_flight *flight, enum leat_net_fate fate,
                                    uint64_t at)
{
    if (flight->fate != LEAT_NET_DELIVERED) return;
    flight->fate = (uint8_t)fate;
    flight->fate_at = at;
}

/* This head has reached the front of its lane; the router processes it from cycle `at` on. */
static inline void leat_net_vc_head(struct leat_net *net, struct leat_net_vc *vc, uint32_t lane,
                                    uint32_t head, uint64_t at)
{
    assert(head & LEAT_NET_VC_HEAD);
    if (vc->direct || !leat_net_vc_defer(net, lane, at)) leat_net_vc_ask(net, lane, head);
}

/* The same for the flit at the front; reading one that has just been written is slow. */
static inline void leat_net_vc_front(struct leat_net *net, struct leat_net_vc *vc, uint32_t lane,
                                     uint64_t at)
{
    leat_net_vc_head(net, vc, lane, leat_net_vc_first_flit(vc, lane), at);
}

#endif
