/*
 * Traffic of networks: who creates which packet when, and for whom.
 *
 *   open       at each terminal and cycle a packet is created with probability load / flits,
 *              independently of the network: a Bernoulli process. Every terminal has its own random
 *              stream. The pattern selects destinations; "any terminal" includes the sender itself,
 *              as in the literature (Dally and Towles 2004, 3.2, has the patterns).
 *   bursty     bursts of packets back to back to one terminal, then silence; both lengths are
 *              geometric, and the load is the requested one
 *   trace      packets from a list
 *   closed     collectives: what a terminal sends next depends on what it received. All begin
 *              together; when the last packet has arrived, the next round begins:
 *                all-to-all      T - 1 steps: in step s to the terminal s further
 *                allreduce       2 (T - 1) steps: to the right neighbour in the ring (reduce, then
 *                                gather; Patarasuk and Yuan 2009)
 *                broadcast tree  binomial, from terminal 0: each holder sends to 1, 2, 4 .. further
 *              A step begins when as many packets have arrived as steps are done; the host sees in
 *              the next cycle what arrived in this one. A lost packet ends the collective.
 *
 * Load is in flits per terminal and cycle, in millionths.
 */
#ifndef LEAT_NET_TRAFFIC_H
#define LEAT_NET_TRAFFIC_H

#include "net.h"
#include "net_draw_parts.h"

enum {
    LEAT_NET_PATTERNS = LEAT_NET_BROADCAST_TREE + 1,
    LEAT_NET_LOAD_PPM_MAX = 1000000,
    LEAT_NET_HOT_PERCENT = 25,
    LEAT_NET_BURST = 10, /* packets, on average */
    LEAT_NET_BURST_MAX = 1000000,
};

#define LEAT_NET_TRACE_CYCLE_MAX (UINT64_C(1) << 62)

struct leat_net_trace_entry {
    uint64_t cycle;
    uint32_t source, destination;
    uint32_t flits; /* 0: the packet length of this run */
};

struct leat_net_traffic_config {
    enum leat_net_pattern pattern;
    uint32_t terminals;
    uint32_t load_ppm; /* open and bursty only */
    uint32_t flits;    /* of a packet */
    uint32_t hot_percent, burst;
    uint64_t seed;
    uint64_t rounds; /* of a collective; 0: unlimited */
    /* tornado, neighbour: the lattice; NULL, or another kind: one ring of all terminals. Used by
     * check and init only. */
    const struct leat_net_shape *shape;
    /* trace only: by cycle; lent for the lifetime. */
    const struct leat_net_trace_entry *trace;
    uint32_t trace_count;
};

/* 0 < num <= den <= 2^63. */
void leat_net_gaps_init(struct leat_net_gaps *gaps, uint64_t num, uint64_t den);

/* Durations of the rounds of a collective, in cycles. */
struct leat_net_rounds {
    uint64_t count, cycles, cycles_min, cycles_max;
};

struct leat_net_traffic {
    struct leat_net_traffic_config config;
    struct leat_net_draw draw;      /* open traffic, but no trace */
    struct leat_net_source *source; /* [terminals] */
    uint32_t *to;         /* [terminals] for patterns with one destination each; else NULL */
    uint32_t *trace_next; /* [trace_count] the next entry of the same source */
    struct leat_net_rounds rounds;
    uint64_t round_at;   /* when this round began */
    uint64_t round_left; /* packets that must still arrive in it; 0: no more rounds */
};

struct leat_net_pattern_spelling {
    const char *name;
    const char *text;
    bool is_closed;
};

/* By number of the pattern; NULL past the last. */
const struct leat_net_pattern_spelling *leat_net_pattern_list(size_t index);

/* By name; hyphens are ignored. */
bool leat_net_pattern_find(const char *name, enum leat_net_pattern *out);

/* Uniform traffic of this many terminals, packets of one flit, no load. */
void leat_net_traffic_default(struct leat_net_traffic_config *config, uint32_t terminals);

/* Is this config valid? `why`: what is wrong, and what was expected. */
leat_err leat_net_traffic_check(const struct leat_net_traffic_config *config,
                                struct leat_text *why);

/* For a checked config. `memory` is ZEROED, aligned for any object, lent for the object's lifetime;
 * the sources of terminals that are never asked for a packet are not touched. */
size_t leat_net_traffic_footprint(const struct leat_net_traffic_config *config);
void leat_net_traffic_init(struct leat_net_traffic *traffic,
                           const struct leat_net_traffic_config *config, void *memory);

/* The next packet of a terminal. False: there is none, or none yet. */
bool leat_net_traffic_next(struct leat_net_traffic *traffic, uint32_t terminal,
                           struct leat_net_packet *packet);

/* When the last packet that a terminal was asked for is created. False: none is known, as always
 * with closed traffic and traces. */
bool leat_net_traffic_last(const struct leat_net_traffic *traffic, uint32_t terminal, uint64_t *at);

/* A packet arrived, or was lost: whose source may have a packet again? */
enum leat_net_wakes { LEAT_NET_WAKE_NOBODY, LEAT_NET_WAKE_DESTINATION, LEAT_NET_WAKE_ALL };
enum leat_net_wakes leat_net_traffic_arrived(struct leat_net_traffic *traffic,
                                             const struct leat_net_arrival *arrival);

/*
 * Counts what is created in each interval [bound[i], bound[i + 1]), i < count, by all terminals
 * except those where `but` is not 0 (NULL: by all). Draws everything anew. Not for closed traffic.
 */
struct leat_net_offered {
    uint64_t packets, flits;
};
void leat_net_traffic_offered(const struct leat_net_traffic *traffic, const uint64_t *bound,
                              uint32_t count, const uint8_t *but, struct leat_net_offered *out);

/* The same, but only the last packet that each terminal was asked for and those after it; nothing
 * of terminals that were never asked. Not for traces. */
void leat_net_traffic_left(const struct leat_net_traffic *traffic, const uint64_t *bound,
                           uint32_t count, struct leat_net_offered *out);

/*
 * Parses a line of a trace file: "CYCLE SOURCE DESTINATION [FLITS]", separated by blanks or commas;
 * text after # is ignored. *has: the line held an entry. `cycle_min`: the cycle of the line before.
 * On error *out is untouched and `why` says what is wrong and what was expected.
 */
leat_err leat_net_trace_line(const char *line, size_t len, uint32_t terminals, uint64_t cycle_min,
                             struct leat_net_trace_entry *out, bool *has, struct leat_text *why);

#endif
