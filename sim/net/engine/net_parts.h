/* Shared by the engines of networks. Internal. */
#ifndef LEAT_NET_PARTS_H
#define LEAT_NET_PARTS_H

#include "leat_arena.h"
#include "leat_fingerprint.h"
#include "net.h"
#include <assert.h>
#include <leat/random.h>

/* Names of packets in fingerprints: they differ for all packets in flight, and are equal for
 * packets that are alike in equal states. */
struct leat_net_names {
    void *context;
    uint64_t (*name)(void *context, const struct leat_net_packet *packet); /* below 2^62 */
};

/* A switching engine. All memory comes from the arena given to `lay` (leat_arena_lay). */
struct leat_net_engine {
    void (*lay)(struct leat_net *net,
                struct leat_arena *arena); /* sets net->state; measuring: NULL memory */
    /* Does not call the hosts yet: the first run does. */
    void (*start)(struct leat_net *net);
    bool (*run)(struct leat_net *net, uint64_t until);
    void (*wake)(struct leat_net *net, uint32_t terminal);
    /* leat_net_insert. NULL: it cannot. */
    bool (*insert)(struct leat_net *net, uint32_t wire, const struct leat_net_packet *packet,
                   const struct leat_net_route *route, uint32_t channels);
    uint64_t (*inside)(const struct leat_net *net);
    /* leat_net_out_flits. NULL: it counts in net->out_flits. */
    uint64_t (*out_flits)(const struct leat_net *net, uint32_t out);
    uint32_t (*stuck)(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap);
    /* The wire is already marked as broken or repaired: mark the packets that cross it. */
    void (*broke)(struct leat_net *net, uint32_t out);
    /* The routing tables have changed: earlier options are stale. May be NULL. */
    void (*rerouted)(struct leat_net *net);
    const struct leat_net_part_engine *part; /* NULL: its networks cannot be divided */
    /* Everything that influences its future, relative to now, except what follows from the names
     * and routes of packets. NULL: it has no fingerprint. */
    void (*fingerprint)(const struct leat_net *net, const struct leat_net_names *names,
                        struct leat_fingerprint *out);
};

extern const struct leat_net_engine leat_net_vc_engine, leat_net_queue_engine, leat_net_team_engine;

/* A packet in flight. In a divided network each part that it crosses has one while flits of the
 * packet are on their way through it. */
struct leat_net_flight {
    struct leat_net_packet packet;
    uint64_t head_at;
    uint64_t fate_at; /* when it was lost, if it was */
    uint8_t fate;     /* enum leat_net_fate: reported at the end */
};

/* What every hop of it needs: apart from the rest, so that more of them fit into the caches, and
 * each into one line. */
struct leat_net_course {
    struct leat_net_route route;
    uint32_t hops;
    uint32_t unused[2];
};
_Static_assert(LEAT_ARENA_LINE % sizeof(struct leat_net_course) == 0, "none is in two lines");

/* ---- parts of a network (net_team.c) -------------------------------------------------------- */

/* Mail: what leaves a part for another one in a window of time, in words of the engine. */

enum {
    /* Words of mail, at most: of a flit, with its packet; and of a credit. */
    LEAT_NET_MAIL_FLIT = 2 +
                         (sizeof(struct leat_net_course) + sizeof(struct leat_net_flight) + 7) / 8,
    LEAT_NET_MAIL_CREDIT = 2,
};

static inline void leat_net_mail_put(struct leat_sim_parcel *mail, uint64_t word)
{
    assert(mail->count < mail->cap);
    mail->word[mail->count++] = word;
}

/* What the parts of a network need of their engine. `now` is the part's own. */
struct leat_net_part_engine {
    /* The fewest cycles from a cut wire's one end to the other, of flits and of credits: net->mail
     * reaches the other part so much later, or after more cycles. */
    uint32_t (*window)(const struct leat_net *net);
    /* The mail of another part arrives. */
    void (*receive)(struct leat_net *net, const struct leat_sim_parcel *mail);
    /* All cycles before `until`, hosts included. */
    void (*advance)(struct leat_net *net, uint64_t until);
    /* The next cycle, from `now` on, in which anything happens, unless mail comes; NEVER: none. */
    uint64_t (*next)(struct leat_net *net);
    /* Since when has nothing happened, if `next` is NEVER? When was the cycle after the last
     * movement? */
    void (*rest)(const struct leat_net *net, uint64_t *since, uint64_t *moved_at);
    /* All parts rest since this cycle: as if this one had not counted further ones. */
    void (*settle)(struct leat_net *net, uint64_t at);
    /* A wire into this part broke, given by its input port: mark the packets on it. */
    void (*cut)(struct leat_net *net, uint32_t in);
    /* leat_net_stuck, of all parts together. */
    uint32_t (*stuck)(const struct leat_net *const *part, uint32_t parts,
                      struct leat_net_waiting *out, uint32_t cap);
    /* Routers with work in the next cycle. */
    uint32_t (*busy_routers)(const struct leat_net *net);
    /* One cycle in steps, for hosts that are called by one thread: what arrives; the ends of
     * packets, each with its own call, in order; what the hosts send; the switches. */
    void (*begin)(struct leat_net *net, uint64_t at);
    const struct leat_net_packet *(*first_end)(const struct leat_net *net); /* NULL: none */
    void (*report_end)(struct leat_net *net);
    void (*send)(struct leat_net *net);
    void (*end)(struct leat_net *net);
};

/* The number of a terminal of this network, or part of one, in the whole. */
static inline uint32_t leat_net_terminal(const struct leat_net *net, uint32_t terminal)
{
    return net->topology->terminal ? net->topology->terminal[terminal] : terminal;
}

/* A pool for packets in flight: allocated from the top until something is freed, so that unused
 * memory is never touched. */
struct leat_net_flights {
    struct leat_net_flight *flight;
    struct leat_net_course *course;
    uint32_t *free; /* a stack of freed ones */
    uint32_t cap, top, free_count;
};

void leat_net_flights_lay(struct leat_net_flights *flights, uint32_t cap, struct leat_arena *arena);
/* LEAT_NET_NONE: the pool is exhausted. */
uint32_t leat_net_flights_take(struct leat_net_flights *flights);
static inline bool leat_net_flights_none(const struct leat_net_flights *flights)
{
    return !flights->free_count && flights->top == flights->cap;
}
void leat_net_flights_give(struct leat_net_flights *flights, uint32_t index);

/* A flight for a packet that begins inside; LEAT_NET_NONE: the pool is exhausted. */
uint32_t leat_net_flights_insert(struct leat_net *net, struct leat_net_flights *flights,
                                 const struct leat_net_packet *packet,
                                 const struct leat_net_route *route);

/* Ends a packet: counts it and calls the host. The engine is responsible for the order. */
void leat_net_end(struct leat_net *net, const struct leat_net_flight *flight,
                  const struct leat_net_course *course, uint64_t now);

/* Is this flit of the packet damaged on this wire? A function of seed, wire, packet and flit,
 * independent of any order. */
bool leat_net_damages(const struct leat_net *net, uint32_t out,
                      const struct leat_net_packet *packet, uint32_t flit);

/* The next power of two; n is at most 2^31. */
static inline uint32_t leat_net_up_to_power(uint64_t n)
{
    uint32_t power = 1;
    assert(n <= UINT32_C(1) << 31);
    while (power < n)
        power *= 2;
    return power;
}

/* Of the longest wire. */
static inline uint32_t leat_net_wire_cycles(const struct leat_net_topology *topology)
{
    uint32_t most = topology->cut_cycles ? topology->cut_cycles : 1;
    for (uint32_t out = 0; out < topology->outs; out++)
        if (topology->out_cycles[out] > most) most = topology->out_cycles[out];
    return most;
}

#endif
