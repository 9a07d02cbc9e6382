/*
 * Shared by the parts of a PacketWay network.
 *
 *   sim_packetway.c        config, memory, before time 0
 *   sim_packetway_host.c   hosts: segmentation, arrivals
 *   sim_packetway_data.c   messages of one packet
 *   sim_packetway_run.c    time, SANs, callbacks
 *   sim_packetway_hop.c    half-routers
 *   sim_packetway_fault.c  failures and repairs
 *   sim_packetway_cut.c    cut-through
 *   sim_packetway_group.c  groups of hosts: trees of SANs
 *   sim_packetway_collect.c  collective operations
 *   sim_packetway_show.c   packets for recordings
 *
 * Every consequence of a SAN's callback at t happens at t + step_ps or later. So SANs may run
 * step_ps ahead of each other, and still nothing comes too late for any of them.
 */
#ifndef LEAT_SIM_PACKETWAY_SIM_PARTS_H
#define LEAT_SIM_PACKETWAY_SIM_PARTS_H

#include "sim_packetway.h"

enum {
    PACKETWAY_HANDED_MAX = 2, /* packets that a SAN's port has accepted, and not sent */
    PACKETWAY_NONE = 0,       /* of numbers + 1 */
};

struct leat_sim_packetway_san_state {
    struct leat_sim_packetway *pktway;
    uint32_t index, first;              /* node of its port 0 */
    uint32_t places_at;                 /* of leat_port_ops.place: its own come from here on */
    uint32_t first_notice, last_notice; /* + 1, while SANs run side by side */
};

/* What a SAN reports of a packet while others run at the same time: sent; begins to arrive; has
 * arrived or is lost. So each packet has room for its own. */
enum { PACKETWAY_NOTICES = 3 };
struct leat_sim_packetway_notice {
    leat_time at;
    uint32_t step;
    uint32_t next; /* of the same SAN, + 1 */
};

/* A port of a SAN: a host or a half-router. Lists are of numbers + 1. */
struct leat_sim_packetway_node {
    uint32_t san, port, address;
    bool is_router;
    struct leat_packetway_host *as_host;
    struct leat_packetway_router *as_router;
    void *memory;
    size_t memory_len;
    uint32_t control;      /* its own messages in flight */
    uint32_t handed;       /* packets passed to the SAN, not sent */
    uint32_t ready;        /* the next packet to send */
    uint32_t next_waiting; /* next node that waits for the same room */
    bool waits;            /* `ready` waits for room */
    bool emit_due;         /* is planned */

    /* host */
    uint32_t host;                  /* its port of the network */
    uint32_t home;                  /* of config.home, + 1 */
    uint32_t first, last;           /* messages that are not wholly segmented */
    uint32_t open_first, open_last; /* messages that have begun, not ended */
    uint32_t window;                /* packets in flight */
    uint64_t messages;
    bool build_due;

    /* half-router */
    uint32_t router, end;
    struct leat_packetway_queue out;
    void *queue_memory;
    uint32_t in_used, out_used;     /* room */
    uint32_t wait_first, wait_last; /* nodes that wait for room here */
    uint32_t hold_first, hold_last; /* packets in routers that wait for room to leave */
    uint32_t held;                  /* of its `in_used`, at outputs that are locked */
    bool dead, credit_due, serves;
    bool locked; /* waits for outputs that wait for it */
};

enum leat_sim_packetway_step {
    PACKETWAY_HAND_OVER, /* entry */
    PACKETWAY_BUILD,     /* node */
    PACKETWAY_EMIT,      /* node */
    PACKETWAY_CREDIT,    /* node */
    PACKETWAY_NATIVE,    /* packet: to the SAN */
    PACKETWAY_SENT,      /* packet */
    PACKETWAY_HEAD,      /* packet: it begins to arrive */
    PACKETWAY_ARRIVED,   /* packet */
    PACKETWAY_LOST,      /* packet */
    PACKETWAY_TWIN,      /* packet: from twin to twin */
    PACKETWAY_OUT,       /* packet: to the output */
    PACKETWAY_BEGINS,    /* fault */
    PACKETWAY_ENDS,      /* fault */
    PACKETWAY_STEPS,
};

/* Steps of collective operations: what a seat does, or what happens to it. */
enum leat_sim_packetway_collect_step {
    PACKETWAY_ENTERS = PACKETWAY_STEPS, /* its part is there ... */
    PACKETWAY_JOINS,                    /* ... and goes on to the SAN */
    PACKETWAY_HANDS_OVER,               /* its local part */
    PACKETWAY_GETS_LOCAL,               /* the local operation is over ... */
    PACKETWAY_LACKS_LOCAL,              /* ... has failed */
    PACKETWAY_UP,                       /* the part of its SAN is at the next one */
    PACKETWAY_DOWN,                     /* an outcome is here */
    PACKETWAY_TELL,                     /* a message with the outcome leaves for it ... */
    PACKETWAY_TOLD,                     /* ... is here ... */
    PACKETWAY_UNTOLD,                   /* ... is lost */
    PACKETWAY_GATHERED,                 /* a message with its part is there ... */
    PACKETWAY_UNGATHERED,               /* ... is lost */
};

struct leat_sim_packetway_packet {
    uint8_t *octets;
    uint32_t at, len;       /* the remaining octets */
    uint32_t entry;         /* + 1; none: a message of `owner` itself */
    uint32_t owner;         /* node */
    uint32_t from, to;      /* nodes, on this SAN or router link */
    uint32_t next;          /* + 1 */
    uint32_t in_of, out_of; /* node + 1: whose room it occupies */
    uint8_t priority;
    bool used, error, first, last, sent, over_link;
    uint32_t copy; /* of a packet to a logical address, which a half-router made; 0: none */

    /* Cut-through: this packet arrives, and another departs. In both: */
    uint32_t onward, behind;  /* + 1: the departing one, the arriving one, while both exist */
    uint32_t whole, whole_at; /* octets that arrive, and their offset */
    leat_time since, until;   /* they arrive evenly ... */
    bool is_vague;            /* ... or the first are there, all `until`; LEAT_NEVER: unknown */
    uint64_t spoilt;          /* EI: octets after it were bad */
    /* in the arriving one */
    bool is_coming; /* and its timing is known */
    bool went_on;   /* the other has begun */
    /* in the departing one */
    bool is_cut;        /* it was decided before all had arrived */
    bool is_out;        /* it had room in the output */
    leat_time lag;      /* delay of octets until they are at the output: links between twins */
    bool is_parked;     /* until all has arrived; then ... */
    uint8_t step;       /* ... this step is taken */
    leat_time ready_at; /* ... and not before */

    struct leat_sim_packetway_notice notice[PACKETWAY_NOTICES];
};

/* A message in flight. */
struct leat_sim_packetway_entry {
    struct leat_sim_letter letter; /* held by its packets in flight */
    uint64_t begun, arrived;       /* octets; of data: copies made, packets received */
    uint32_t open_next;
    bool is_open, is_cut, is_complete, is_noted;
    bool is_data; /* one packet, by leat_sim_packetway_post: */
    uint8_t priority;
    uint16_t pt, te;
    uint32_t dt;
};

/* The high half of the ID of a SAN's message: a packet, or a message of an operation. */
enum { PACKETWAY_IS_PACKET, PACKETWAY_IS_PART, PACKETWAY_IS_RESULT };

static inline bool packetway_is_control(const struct leat_sim_packetway_packet *packet)
{
    return packet->entry == PACKETWAY_NONE;
}

static inline uint32_t packetway_node_at(const struct leat_sim_packetway *p, uint32_t san,
                                         uint32_t port)
{
    return p->san[san].first + port;
}

/* ---- sim_packetway_run.c ---- */

void leat_sim_packetway_plan(struct leat_sim_packetway *p, leat_time at, uint32_t group,
                             uint32_t what, uint32_t step);
/* Groups: events of the same time are executed in their order. */
static inline uint32_t packetway_group_san(uint32_t san)
{
    return 1 + san;
}
static inline uint32_t packetway_group_node(uint32_t node)
{
    return 1 + LEAT_SIM_PACKETWAY_SANS_MAX + node;
}

void leat_sim_packetway_observe(struct leat_sim_packetway *p);
void leat_sim_packetway_tick(struct leat_sim_packetway *p);
void leat_sim_packetway_carry_out_now(struct leat_sim_packetway *p);
void leat_sim_packetway_note(struct leat_sim_packetway *p, uint32_t entry, bool sent);
bool leat_sim_packetway_send(struct leat_port_net *base, const struct leat_port_message *message,
                             leat_time at);
leat_time leat_sim_packetway_run(struct leat_port_net *base, leat_time until);

/* ---- sim_packetway_host.c ---- */

void leat_sim_packetway_append(struct leat_sim_packetway *p, uint32_t entry);
void leat_sim_packetway_kick(struct leat_sim_packetway *p, uint32_t node);
void leat_sim_packetway_build(struct leat_sim_packetway *p, uint32_t node);
void leat_sim_packetway_at_host(struct leat_sim_packetway *p, uint32_t packet);
void leat_sim_packetway_host_tick(struct leat_sim_packetway *p, uint32_t node);
/* The message of this packet will not arrive. */
void leat_sim_packetway_lose(struct leat_sim_packetway *p, uint32_t entry, const char *why);

/* ---- sim_packetway_data.c ---- */

/* Queues it at its host, behind what is not less urgent. */
void leat_sim_packetway_append_data(struct leat_sim_packetway *p, uint32_t entry);
/* Makes the packet of the first message of a host. */
void leat_sim_packetway_build_data(struct leat_sim_packetway *p, uint32_t node);
/* It is at a host, whose engine has read it. */
void leat_sim_packetway_take_data(struct leat_sim_packetway *p,
                                  const struct leat_sim_packetway_packet *packet);
/* None of its packets is left. */
void leat_sim_packetway_end_data(struct leat_sim_packetway *p, uint32_t entry);
/* A half-router copies a packet to a logical address, which then is done. */
void leat_sim_packetway_copy(struct leat_sim_packetway *p, uint32_t packet, uint32_t node,
                             const struct leat_packetway_arrival *arrival,
                             const struct leat_packetway_routed *routed);

/* ---- sim_packetway_hop.c ---- */

/* PACKETWAY_NONE: none is free; else + 1. */
uint32_t leat_sim_packetway_take(struct leat_sim_packetway *p, uint32_t owner, uint32_t entry);
void leat_sim_packetway_drop(struct leat_sim_packetway *p, uint32_t packet, const char *why);
void leat_sim_packetway_done(struct leat_sim_packetway *p, uint32_t packet);
/* Handles the output of a node's engine. */
void leat_sim_packetway_pump(struct leat_sim_packetway *p, uint32_t node);
void leat_sim_packetway_emit(struct leat_sim_packetway *p, uint32_t node);
void leat_sim_packetway_credit(struct leat_sim_packetway *p, uint32_t node);
void leat_sim_packetway_native_send(struct leat_sim_packetway *p, uint32_t packet);
void leat_sim_packetway_sent(struct leat_sim_packetway *p, uint32_t packet);
void leat_sim_packetway_arrived(struct leat_sim_packetway *p, uint32_t packet);
void leat_sim_packetway_lost(struct leat_sim_packetway *p, uint32_t packet);
void leat_sim_packetway_twin(struct leat_sim_packetway *p, uint32_t packet);
/* A packet has crossed the link between these nodes. */
void leat_sim_packetway_count_crossing(struct leat_sim_packetway *p, uint32_t from, uint32_t to);
void leat_sim_packetway_out(struct leat_sim_packetway *p, uint32_t packet);

/* The side from which a packet came to a half-router. */
enum leat_packetway_side leat_sim_packetway_side(const struct leat_sim_packetway *p,
                                                 const struct leat_sim_packetway_packet *packet);
/* The engine of a half-router processes a packet. */
void leat_sim_packetway_decide(struct leat_sim_packetway *p, uint32_t packet, uint32_t node);
/* Why a packet of a host is lost whose port is down, or to it. */
extern const char leat_sim_packetway_port_down[];
/* Reports to the observer what the half-router has decided, and does it. */
void leat_sim_packetway_obey(struct leat_sim_packetway *p, uint32_t packet, uint32_t node,
                             const struct leat_packetway_arrival *arrival,
                             const struct leat_packetway_routed *routed);
/* Releases its room and frees it; the state of its message and its host is unchanged. */
void leat_sim_packetway_free(struct leat_sim_packetway *p, uint32_t packet);
/* Returns it to the free list that it belongs to. */
void leat_sim_packetway_put_back(struct leat_sim_packetway *p, uint32_t packet);

/* ---- sim_packetway_locked.c ---- */

/* Finds the outputs that wait for each other, whatever goes on elsewhere: the largest set in which
 * each waits for room at an input whose packets all wait for outputs of the set. False: none. */
bool leat_sim_packetway_find_locked(struct leat_sim_packetway *p);
/* Each of these half-routers, or each that holds packets, discards one. */
void leat_sim_packetway_break_up(struct leat_sim_packetway *p, bool all);

/* ---- sim_packetway_cut.c ---- */

void leat_sim_packetway_head(struct leat_sim_packetway *p, uint32_t packet);
/* All of a packet that was cut through has arrived, or it failed to. */
void leat_sim_packetway_cut_ends(struct leat_sim_packetway *p, uint32_t packet, bool sound);
/* The departing packet is gone. True: the arriving one replaces it. */
bool leat_sim_packetway_cut_off(struct leat_sim_packetway *p, struct leat_sim_packetway_packet *k);
/* When a half-router can decide about it, if it comes from its twin. LEAT_NEVER, here and below:
 * unknown, it is parked. */
leat_time leat_sim_packetway_cut_known(const struct leat_sim_packetway *p,
                                       struct leat_sim_packetway_packet *k, uint32_t node);
/* When it can leave on the SAN of a node, if the decision is made at `at`. */
leat_time leat_sim_packetway_cut_start(const struct leat_sim_packetway *p,
                                       const struct leat_sim_packetway_packet *k, uint32_t node,
                                       leat_time at);
/* Schedules its next step, or parks it. */
void leat_sim_packetway_plan_or_park(struct leat_sim_packetway *p, uint32_t packet, uint32_t node,
                                     leat_time at, enum leat_sim_packetway_step step);

/* ---- sim_packetway_group.c ---- */

/* A seat of a group, and one of its operations. */
struct packetway_seat_ref {
    uint32_t group, seat;
    uint64_t number;
};

/* What its groups can do; the rest of it has been measured. No means: zeros. */
void leat_sim_packetway_measure_means(struct leat_sim_packetway *p);
/* Lays out nothing where there are no means. */
void leat_sim_packetway_collect_lay(struct leat_sim_packetway *p, struct leat_arena *arena);
size_t leat_sim_packetway_collect_plans(const struct leat_sim_packetway *p);
uint32_t leat_sim_packetway_group(struct leat_port_net *base, const uint32_t *port, uint32_t count);
void leat_sim_packetway_disband(struct leat_port_net *base, uint32_t group);

static inline struct leat_sim_packetway_branch *packetway_branch(const struct leat_sim_packetway *p,
                                                                 uint32_t group, uint32_t san)
{
    return &p->collect.branch[(size_t)(group - 1) * p->config.sans + san];
}

static inline struct leat_sim_packetway_seat *packetway_seat(const struct leat_sim_packetway *p,
                                                             uint32_t group, uint32_t seat)
{
    return &p->collect.seat[(size_t)(group - 1) * p->nodes + seat];
}

/* ---- sim_packetway_collect.c ---- */

void leat_sim_packetway_collect(struct leat_port_net *base, const struct leat_port_part *part,
                                leat_time at);
/* For the observer of a SAN. */
void leat_sim_packetway_on_collected(void *context, const struct leat_port_part *part, bool is_done,
                                     leat_time at);
/* Takes a step of an operation. */
void leat_sim_packetway_collect_step(struct leat_sim_packetway *p, uint32_t code,
                                     enum leat_sim_packetway_collect_step step);

/* ---- sim_packetway_show.c ---- */

/* For leat_port_ops: the places of each SAN, then the half-routers. */
bool leat_sim_packetway_place(const struct leat_port_net *base, uint32_t place,
                              struct leat_port_place *out);
/* From now on SANs show their packets, if the observer of the network wants that. */
void leat_sim_packetway_show_sans(struct leat_sim_packetway *p);
/* SANs without a callback to come are left behind, but members that wait for others send packets:
 * these are seen in time. */
void leat_sim_packetway_show_quiet(struct leat_sim_packetway *p);
/* The message of so many octets in collect.shown, behind its count, is at a half-router. */
void leat_sim_packetway_show(struct leat_sim_packetway *p,
                             const struct leat_sim_packetway_node *node, bool is_out, uint32_t len);

/* ---- sim_packetway_fault.c ---- */

/* Does a router detect errors in packets that arrive then? */
bool leat_sim_packetway_sees_errors(const struct leat_sim_packetway *p, uint32_t router,
                                    leat_time at);

/* Sets the neighbours of an engine, in its router and on its SAN. */
void leat_sim_packetway_map(struct leat_sim_packetway *p, uint32_t node);
void leat_sim_packetway_fault(struct leat_sim_packetway *p, uint32_t fault, bool begins);

/* ---- sim_packetway.c ---- */

/* A node's description of itself: its name, and whether it is a host, or a router on which SANs. */
size_t leat_sim_packetway_about(const struct leat_sim_packetway *p,
                                const struct leat_sim_packetway_node *n,
                                uint8_t out[LEAT_PACKETWAY_ABOUT_LEN_MAX]);
void leat_sim_packetway_start_engine(struct leat_sim_packetway *p, uint32_t node);
/* Routers on the shortest route from a SAN to each other one; UINT32_MAX: there is none. */
void leat_sim_packetway_measure_ways(const struct leat_sim_packetway_config *config, uint32_t san,
                                     uint32_t *routers);

#endif
