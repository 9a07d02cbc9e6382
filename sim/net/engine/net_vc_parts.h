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
 * Between routers there are only wires and credits, both with a delay of at least one cycle. So
 * regions of neighbouring routers take a cycle one after the other, in any order: what arrives,
 * then a few passes over lists of the lanes that request a channel and of the input ports that
 * request the switch. Nothing else is visited.
 *
 * All zero is the state of an empty network: memory that is never used is never touched.
 */
#ifndef LEAT_NET_VC_PARTS_H
#define LEAT_NET_VC_PARTS_H

#include "net_parts.h"
#include "net_turns_parts.h"
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
    LEAT_NET_VC_CHUNK = 64,            /* records, of which the first one links to another chunk */
    LEAT_NET_VC_REGION_BITS = 6,       /* of a router's number within its region, at least */
    LEAT_NET_VC_SMALL_REGION_BITS = 4, /* the same in small networks: a region, from one step of a
                                          cycle to the next, stays in the first cache */
    LEAT_NET_VC_SMALL_ROUTERS = 256,   /* of a small network, at most */
    LEAT_NET_VC_REGIONS_MAX = 1024,
    LEAT_NET_VC_HOPS_MAX = 1 << 14,  /* more do not fit into the first cache */
    LEAT_NET_VC_FAR_LANES = 1 << 14, /* more do not fit into caches: what is due is prefetched */
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
    uint32_t back; /* where credits go: the first channel of an output port; TERMINAL | that of a
                      terminal; CROSSING | its number among the channels of cut wires */
    uint32_t router, out_first;
    uint32_t able;         /* a bit per channel: its lane has a flit, a channel and a credit */
    uint16_t local;        /* its first lane's number within the router */
    uint16_t out_turn;     /* of the switch's arbiter: an output port */
    uint16_t channel_turn; /* among lanes that request the same output port */
    uint16_t hops;         /* the router's row of `hop` */
    uint32_t back_delay;   /* of credits: a slot of their calendar, from now on */
    uint32_t place;        /* of the router, for its routing */
    struct leat_net_vc_lane lane[]; /* [1 << shift] */
};

/* With 4 channels it is a cache line. */
struct leat_net_vc_out {
    uint32_t taken; /* a bit per channel */
    uint32_t to;    /* the first lane at the other end, TERMINAL | its own first channel, or
                       CROSSING | index */
    uint32_t router;
    uint32_t lane_first; /* of the router */
    uint32_t bid;        /* within a cycle: the best one; 0: none */
    uint32_t delay;      /* from the switch to the other end: a slot of the calendar of flits */
    uint32_t turn;       /* of the switch's arbiter: the first lane of an input port */
    uint32_t flits;      /* over the wire, after those in out_flits of the network */
    struct leat_net_vc_ahead ahead[]; /* [1 << shift] */
};

/* Neighbouring routers take a cycle together: what they touch mostly stays in the caches. */
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

/* A calendar: records by due cycle and row, in chunks from a pool. Each region has a row, and the
 * terminals have the last one; a slot is a cycle << row_bits | a row. A day is the place of a row's
 * next record; if that is a multiple of a chunk, it needs another one. */
struct leat_net_vc_calendar {
    uint32_t *day;           /* [days << row_bits] 0: none */
    uint64_t *record;        /* [cap * CHUNK] the chunk at 0 is not used */
    uint32_t last_day;       /* days - 1 */
    uint32_t last_slot;      /* (days << row_bits) - 1, a mask */
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
    uint32_t hungry; /* routers */

    uint64_t rests_at; /* nothing happens from this cycle on; NEVER: something does */
    uint64_t before;   /* movement, when this cycle began */
    bool due;          /* in this cycle sources are due, */
    bool ends;         /* and packets end */

    uint32_t row_bits;
    struct leat_net_vc_calendar flits;   /* lane << 32 | flit; TERMINAL | channel << 32 | flit */
    struct leat_net_vc_calendar credits; /* a channel, or RIPE | lane */
    struct leat_net_vc_ahead *entry;     /* [terminals << shift] the wires into the network */
    unsigned char *in;                   /* [ins * leat_net_vc_in_size] leat_net_vc_in_at */
    unsigned char *out;                  /* [outs * leat_net_vc_out_size] leat_net_vc_out_at */
    unsigned char *router;               /* [routers * router_size] leat_net_vc_router_at */
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
    uint64_t *ended_set;                /* [ended_words] destinations; empty between uses */
    uint32_t *ended_flight;             /* [ended_words * 64] */
    uint32_t ended_words;
    uint32_t *arriving; /* [in_cuts << shift] of a part: the flight whose flits come in */
    struct leat_net_vc_source *source; /* [terminals] */
    struct leat_sim_agenda agenda;     /* of waiting sources */
    uint32_t waiting;                  /* in it */
    void *agenda_memory;

    uint8_t *hop; /* [routers * terminals] the port to each; NULL: routes are computed */
    uint32_t hop_channels;

    uint32_t *wanted_channels, *wanted_outs; /* scratch: [lanes + 1], [ins + 1] */
    uint8_t *doomed;                         /* scratch of deadlock detection: [lanes] */
};

#ifdef __GNUC__
#define LEAT_NET_VC_PREFETCH(address) __builtin_prefetch(address)
#else
#define LEAT_NET_VC_PREFETCH(address) ((void)(address))
#endif

/* One cycle of all routers: what arrives, and what they do. */
void leat_net_vc_act(struct leat_net *net);

/* Drops a flit of each lost packet. All routers have acted: what a wire did to a packet in this
 * cycle came first, whatever their order. */
void leat_net_vc_discard_flits(struct leat_net *net);

/* Looks up where this head may go. */
void leat_net_vc_route(struct leat_net *net, uint32_t lane, uint32_t head);

/* Sleeping lanes request again. */
void leat_net_vc_rouse(struct leat_net_vc *vc, uint32_t router);

void leat_net_vc_fingerprint(const struct leat_net *net, const struct leat_net_names *names,
                             struct leat_fingerprint *out);
uint32_t leat_net_vc_stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap);
uint32_t leat_net_vc_stuck_parts(const struct leat_net *const *part, uint32_t parts,
                                 struct leat_net_waiting *out, uint32_t cap);

/* Adds a chunk to the day and returns the place of its first record. */
uint32_t leat_net_vc_extend(struct leat_net_vc_calendar *c, uint32_t *day);

static inline uint64_t leat_net_vc_slot(const struct leat_net_vc *vc, uint32_t row, uint64_t at)
{
    return at << vc->row_bits | row;
}

static inline void leat_net_vc_enter(struct leat_net_vc_calendar *c, uint64_t slot, uint64_t record)
{
    uint32_t *day = &c->day[slot & c->last_slot];
    const uint32_t place = *day % LEAT_NET_VC_CHUNK ? *day : leat_net_vc_extend(c, day);
    c->record[place] = record;
    *day = place + 1;
}

/* The records of a row that are due, from the last to the first: those after a chunk's first place
 * and before `end`, which is 0 when there are no more. Others may enter meanwhile, for later. */
struct leat_net_vc_due {
    uint32_t chunk, end;
};

static inline struct leat_net_vc_due leat_net_vc_due_before(uint32_t end)
{
    return (struct leat_net_vc_due){ (end - 1) / LEAT_NET_VC_CHUNK * LEAT_NET_VC_CHUNK, end };
}

/* What is due in this slot: it is not in the calendar any more. */
static inline struct leat_net_vc_due leat_net_vc_due(struct leat_net_vc_calendar *c, uint64_t slot)
{
    uint32_t *day = &c->day[slot & c->last_slot];
    const uint32_t end = *day;
    c->full_days -= end != 0;
    *day = 0;
    return leat_net_vc_due_before(end);
}

/* The chunk is done and used again. */
static inline struct leat_net_vc_due leat_net_vc_due_more(struct leat_net_vc_calendar *c,
                                                          struct leat_net_vc_due due)
{
    const uint32_t end = (uint32_t)c->record[due.chunk];
    c->record[due.chunk] = c->free;
    c->free = due.chunk;
    return leat_net_vc_due_before(end);
}

static inline struct leat_net_flight *leat_net_vc_flight(const struct leat_net_vc *vc,
                                                         uint32_t flit)
{
    return &vc->flights.flight[flit & LEAT_NET_VC_FLIGHT];
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* An input port and its lanes are together: a flit that arrives touches little more than a line. */
static inline size_t leat_net_vc_in_size(uint32_t shift)
{
    return sizeof(struct leat_net_vc_in) + (sizeof(struct leat_net_vc_lane) << shift);
}

static inline struct leat_net_vc_in *leat_net_vc_in_at(const struct leat_net_vc *vc, uint32_t in)
{
    return (struct leat_net_vc_in *)(void *)(vc->in + in * leat_net_vc_in_size(vc->shift));
}

static inline struct leat_net_vc_lane *leat_net_vc_lane_at(const struct leat_net_vc *vc,
                                                           uint32_t lane)
{
    return &leat_net_vc_in_at(vc, lane >> vc->shift)->lane[lane & vc->mask];
}

static inline struct leat_net_course *leat_net_vc_course(const struct leat_net_vc *vc,
                                                         uint32_t flit)
{
    return &vc->flights.course[flit & LEAT_NET_VC_FLIGHT];
}

static inline uint32_t leat_net_vc_first_flit(const struct leat_net_vc *vc, uint32_t lane)
{
    return leat_net_vc_lane_at(vc, lane)->front;
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
    return leat_net_vc_lane_at(vc, lane)->count && flit & LEAT_NET_VC_HEAD
               ? flit & LEAT_NET_VC_FLIGHT
               : leat_net_vc_lane_at(vc, lane)->flight;
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

/* ---- lanes and channels ---------------------------------------------------------------------- */

static inline uint32_t leat_net_vc_bit(const struct leat_net_vc *vc, uint32_t lane)
{
    return UINT32_C(1) << (lane & vc->mask);
}

static inline uint32_t leat_net_vc_region_of(const struct leat_net_vc *vc, uint32_t router)
{
    return router >> vc->region_bits;
}

static inline size_t leat_net_vc_out_size(uint32_t shift)
{
    return sizeof(struct leat_net_vc_out) + (sizeof(struct leat_net_vc_ahead) << shift);
}

static inline struct leat_net_vc_out *leat_net_vc_out_at(const struct leat_net_vc *vc, uint32_t out)
{
    return (struct leat_net_vc_out *)(void *)(vc->out + out * leat_net_vc_out_size(vc->shift));
}

static inline struct leat_net_vc_ahead *leat_net_vc_ahead_at(const struct leat_net_vc *vc,
                                                             uint32_t channel)
{
    return &leat_net_vc_out_at(vc, channel >> vc->shift)->ahead[channel & vc->mask];
}

/* The channel that a lane holds. */
static inline uint32_t leat_net_vc_way(const struct leat_net_vc *vc, uint32_t lane)
{
    return (leat_net_vc_in_at(vc, lane >> vc->shift)->out_first << vc->shift) +
           leat_net_vc_lane_at(vc, lane)->next - 1;
}

/* The lane that holds a channel, if it is taken. */
static inline uint32_t leat_net_vc_holder(const struct leat_net_vc *vc, uint32_t channel)
{
    const struct leat_net_vc_out *out = leat_net_vc_out_at(vc, channel >> vc->shift);
    return out->lane_first + out->ahead[channel & vc->mask].next - 1;
}

static inline bool leat_net_vc_is_taken(const struct leat_net_vc *vc, uint32_t channel)
{
    return leat_net_vc_out_at(vc, channel >> vc->shift)->taken & leat_net_vc_bit(vc, channel);
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

#endif
