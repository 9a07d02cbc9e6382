/*
 * The parts of the engine for queueing switches (net_queue.c has the rules). Internal.
 *
 * Flits are switched one by one. What all flits of a packet need at a router is kept once, in a
 * visit: it is opened when the head leaves for the router and closed when the last flit has left
 * it. So the flits of a packet follow their head, however many packets share a wire.
 *
 *      flight  <-----  visit at A  -- next -->  visit at B  -- next -->  visit at the terminal
 *      (packet)         ^    ^                   ^
 *                      flit flit                flit (on the wire to B)
 *
 * Flits are nodes of lists: on a wire (a list per cycle of arrival), at an input's stage, in a
 * queue. A returning credit is a node too. Nodes and visits are numbered from 1; 0 is none, so that
 * zeroed memory is empty.
 */
#ifndef LEAT_NET_QUEUE_PARTS_H
#define LEAT_NET_QUEUE_PARTS_H

#include "net_parts.h"
#include "sim_agenda.h"
#include <assert.h>
#include <string.h>

enum {
    LEAT_NET_QUEUE_FLITS_MAX = 1 << 26, /* in the network: at this limit sources wait */
    LEAT_NET_QUEUE_SOURCE_CYCLES = 2,   /* from a terminal to its router, as in net_vc.c */
    LEAT_NET_QUEUE_RETURN_CYCLES = 2,   /* of a credit to a terminal, as there */
};

enum leat_net_queue_phase {
    LEAT_NET_QUEUE_WIRES,   /* entity: a slot of the wheel. Flits and credits arrive */
    LEAT_NET_QUEUE_ROUTERS, /* flits enter queues and leave them */
    LEAT_NET_QUEUE_ENDS,    /* entity: a destination. Its host is called */
    LEAT_NET_QUEUE_SOURCES, /* entity: a terminal. It sends a flit */
    LEAT_NET_QUEUE_PHASES,
};

struct leat_net_queue_node {
    uint32_t what; /* a visit; of a credit: an output port, or TERMINAL | t */
    uint32_t next;
};

struct leat_net_queue_list {
    uint32_t first, last, count;
};

struct leat_net_queue_visit {
    uint32_t flight, next;
    uint32_t in;                              /* an input port, or TERMINAL | t */
    uint32_t out;                             /* chosen by the head; LEAT_NET_NONE: not yet */
    uint16_t total, entered, sent, discarded; /* flits: total: that will have arrived here, ... */
    bool cut; /* the packet was cut here: further flits are discarded */
};

struct leat_net_queue_parcel { /* more about a flight */
    uint32_t holds;            /* open visits, and one until its end is reported */
    uint32_t next_end;         /* of the same cycle and destination; flight + 1, 0: none */
    bool ended;
};

struct leat_net_queue_source {
    uint32_t flight; /* LEAT_NET_NONE: idle */
    uint32_t visit, sent, credits;
};

struct leat_net_queue_pair {
    uint16_t in, out; /* ports of the router; of output and shared queues: in is 0 */
};

struct leat_net_queue_slot {
    uint32_t flits, credits;
};

struct leat_net_queues {
    struct leat_sim_agenda agenda;
    struct leat_net_flights flights;
    struct leat_net_queue_parcel *parcel; /* by flight */
    struct leat_net_queue_visit *visit;
    struct leat_net_queue_node *node;
    struct leat_net_queue_slot *slot;     /* of the wheel; a power of two */
    struct leat_net_queue_source *source; /* [terminals] */
    uint32_t *end_first;                  /* [terminals] flight + 1 */

    struct leat_net_queue_list *stage; /* [ins] flits not yet in a queue */
    struct leat_net_queue_list *queue; /* fifo, batcher: [ins], else by lane_first */
    uint64_t *lane_first;              /* [outs] voq, xpq: a queue per input; else one */
    uint64_t *head_at;                 /* [ins] fifo, batcher: since when its head is the head */
    uint32_t *in_flits;                /* [ins] fifo, voq, batcher: in its queues */
    uint32_t *out_flits;               /* [outs] in queues, bound for it */
    uint32_t *router_flits;            /* [routers] in queues */
    uint32_t *router_outs;             /* [routers] wires that exist */
    uint32_t *router_busy;             /* [routers] those with a flit in a queue */
    uint32_t *credits;                 /* [outs] */
    uint16_t *out_turn, *in_turn;      /* [outs], [ins] the first in round-robin order */
    uint32_t *blocked;                 /* [routers] blocked heads that wait for room ahead */

    /* Bits, `words` words for each. */
    uint64_t *staged; /* [routers] inputs with a flit at the stage */
    uint64_t *wanted; /* [routers] outputs for which some queue offers a flit */
    uint64_t *offers; /* [outs] the inputs (lanes) that offer one */
    /* Scratch of one router. */
    uint64_t *ready;                  /* outputs that are wanted and can send */
    uint64_t *free;                   /* inputs without a partner */
    uint64_t *asked;                  /* inputs with a grant */
    uint64_t *grants;                 /* [radix] the outputs that chose this input */
    struct leat_net_queue_pair *pair; /* [radix] */

    uint8_t *mark; /* [ins] for leat_net_stuck */

    uint64_t inside;     /* flits */
    uint64_t asleep;     /* the sum of `blocked` */
    uint64_t planned;    /* entries of the agenda */
    uint64_t acted_at;   /* the last cycle in which something happened */
    uint64_t counted_to; /* waits of blocked heads are counted for all cycles before this */
    uint32_t flits_cap;  /* of inside */
    uint32_t nodes_cap, nodes_top, nodes_free;
    uint32_t visits_cap, visits_top, visits_free, visits_used;
    uint32_t words, slots;
    bool credited; /* flits wait for room (credits); else they are lost */
    bool running;  /* hosts may call leat_net_wake */
    bool asking;   /* ... in the phase of the sources */
};

static inline struct leat_net_queues *leat_net_queues_of(const struct leat_net *net)
{
    return net->state;
}

/* ---- the agenda ---------------------------------------------------------------------------- */

static inline void leat_net_queue_plan(struct leat_net_queues *q, enum leat_net_queue_phase phase,
                                       uint32_t entity, uint64_t at)
{
    const uint64_t due = leat_sim_agenda_due(&q->agenda, phase, entity);
    if (due == at) return;
    q->planned += due == LEAT_NEVER;
    leat_sim_agenda_set(&q->agenda, phase, entity, at);
}

/* ---- lists --------------------------------------------------------------------------------- */

static inline void leat_net_queue_push(struct leat_net_queues *q, struct leat_net_queue_list *list,
                                       uint32_t node)
{
    q->node[node].next = 0;
    if (list->count++)
        q->node[list->last].next = node;
    else
        list->first = node;
    list->last = node;
}

static inline uint32_t leat_net_queue_pop(struct leat_net_queues *q,
                                          struct leat_net_queue_list *list)
{
    const uint32_t node = list->first;
    assert(list->count);
    list->first = q->node[node].next;
    list->count--;
    return node;
}

/* The visit of the flit at the head. */
static inline struct leat_net_queue_visit *leat_net_queue_head(const struct leat_net_queues *q,
                                                               const struct leat_net_queue_list *l)
{
    assert(l->count);
    return &q->visit[q->node[l->first].what];
}

/* ---- packets (net_queue_packet.c) ---------------------------------------------------------- */

uint32_t leat_net_queue_node_take(struct leat_net_queues *q, uint32_t what);
void leat_net_queue_node_give(struct leat_net_queues *q, uint32_t node);

/* Is there room for another visit? New packets leave a quarter free: those inside have priority. */
bool leat_net_queue_visit_room(const struct leat_net_queues *q, bool new_packet);
uint32_t leat_net_queue_visit_open(struct leat_net_queues *q, uint32_t flight, uint32_t in,
                                   uint16_t total);
/* Closes it if no more flits will come. */
void leat_net_queue_visit_check(struct leat_net_queues *q, uint32_t visit);

/* Cuts the packet here. Its flits ahead travel on; nothing follows them. */
void leat_net_queue_visit_cut(struct leat_net_queues *q, uint32_t visit);

/* The end of a packet will be reported in this cycle. An earlier fate is kept. */
void leat_net_queue_end(struct leat_net_queues *q, uint32_t flight, enum leat_net_fate fate,
                        uint64_t now);
/* Reports the ends at this destination. */
void leat_net_queue_report(struct leat_net *net, uint32_t terminal, uint64_t now);

void leat_net_queue_release(struct leat_net_queues *q, uint32_t flight);

/* ---- wires (net_queue.c) ------------------------------------------------------------------- */

void leat_net_queue_launch(struct leat_net_queues *q, uint32_t node, uint64_t at);
/* Returns a credit: this input has a free place again. */
void leat_net_queue_credit(struct leat_net *net, uint32_t in, uint64_t now);
/* Flits that an input accepts before it must return a credit. */
uint32_t leat_net_queue_places(const struct leat_net *net, uint32_t in);

/* ---- switches (net_queue_switch.c, net_queue_match.c) -------------------------------------- */

/* One cycle of a router. */
void leat_net_queue_step(struct leat_net *net, uint32_t router, uint64_t now);

/* Does the queue of this input and output have room? Both are numbered network-wide. */
bool leat_net_queue_has_room(const struct leat_net *net, uint32_t in, uint32_t out);

/* Has each input one queue, of which only the head can leave? */
static inline bool leat_net_queue_has_heads(const struct leat_net *net)
{
    return net->config.architecture == LEAT_NET_SWITCH_FIFO ||
           net->config.architecture == LEAT_NET_SWITCH_BATCHER;
}

static inline bool leat_net_queue_at_inputs(const struct leat_net *net)
{
    return leat_net_queue_has_heads(net) || net->config.architecture == LEAT_NET_SWITCH_VOQ;
}

/* Could a flit leave by this output now? */
static inline bool leat_net_queue_open(const struct leat_net *net, const struct leat_net_queues *q,
                                       uint32_t out)
{
    return !q->credited || q->credits[out] || net->topology->out_to[out] & LEAT_NET_TERMINAL;
}

/* The first bit at or after `from`, of `words` words; LEAT_NET_NONE: there is none. */
static inline uint32_t leat_net_queue_bit(const uint64_t *bits, uint32_t words, uint32_t from)
{
    uint32_t at = from / 64;
    if (at >= words) return LEAT_NET_NONE;
    uint64_t word = bits[at] & ~UINT64_C(0) << from % 64;
    while (!word) {
        if (++at == words) return LEAT_NET_NONE;
        word = bits[at];
    }
    return at * 64 + leat_sim_agenda_lowest(word);
}

/* The same, wrapping around. */
static inline uint32_t leat_net_queue_turn(const uint64_t *bits, uint32_t words, uint32_t from)
{
    const uint32_t found = leat_net_queue_bit(bits, words, from);
    return found != LEAT_NET_NONE || !from ? found : leat_net_queue_bit(bits, words, 0);
}

/* Matches the outputs in q->ready with inputs (lanes). Fills q->pair and returns how many. Each
 * input of a voq sends at most one flit, as does each input of a fifo or batcher, which has one
 * head. */
uint32_t leat_net_queue_match_one(struct leat_net *net, uint32_t router);
uint32_t leat_net_queue_match_islip(struct leat_net *net, uint32_t router);

uint32_t leat_net_queue_stuck(const struct leat_net *net, struct leat_net_waiting *out,
                              uint32_t cap);

#endif
