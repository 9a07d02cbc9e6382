/* Shared by the files of ESP in networks of switches and their ports. Internal. */
#ifndef LEAT_NET_ESP_PARTS_H
#define LEAT_NET_ESP_PARTS_H

#include "net_esp.h"
#include "net_port.h"

enum leat_net_esp_what {
    LEAT_NET_ESP_VALUE,  /* COLLECT, up */
    LEAT_NET_ESP_RESULT, /* CAST of a word, down */
    LEAT_NET_ESP_RISING, /* CAST of a member's octets, on its way to the tree's root */
    LEAT_NET_ESP_COPY,   /* the same, down */
};

/* What goes on in the same cycle comes in this order, then by number. */
enum leat_net_esp_step {
    LEAT_NET_ESP_ENTERS,   /* the time of a part: group and port */
    LEAT_NET_ESP_SENDS,    /* the next packet of a part */
    LEAT_NET_ESP_COMPUTED, /* a processor is done: router */
    LEAT_NET_ESP_ENDS,     /* an operation that has no packet left: group and place in the window */
};

/* An ESP packet. It is sent as one or more packets of flits, which make one when all are there. */
struct leat_net_esp_packet {
    uint64_t value;                            /* of a COLLECT */
    uint64_t serial;                           /* for bit errors */
    uint64_t operation;                        /* of its group */
    uint32_t group, index;                     /* its word, or its chunk */
    uint32_t from, to;                         /* terminals */
    uint32_t next;                             /* + 1, in a queue or free list */
    uint32_t pieces, begun, missing, in_wires; /* packets of flits */
    uint8_t what;
    bool has_error; /* E */
    bool is_lost;   /* it only waits until all of its flits have ended */
};

/* Packets, by number + 1. */
struct leat_net_esp_queue {
    uint32_t first, last;
    uint32_t sending; /* taken out of the queue; not all of its flits have left */
};

struct leat_net_esp_processor {
    struct leat_esp_store store;
    bool has_store;
    uint32_t first, last; /* packets that have arrived, + 1; the first one is computed */
};

/* The packets of a member's part that are still to be sent. */
struct leat_net_esp_sender {
    uint32_t next, count;
};

struct leat_net_esp_operation {
    uint64_t number;      /* + 1; 0: none */
    uint64_t live;        /* packets that exist, and those still to be sent */
    uint32_t packets;     /* of a member's part, or of the root's octets */
    uint32_t entered;     /* parts that packets are sent for */
    uint32_t reached;     /* members that have the result */
    uint32_t words_known; /* at the root of the tree */
    bool is_ending;
    uint32_t *missing; /* [ports] by place: packets; 0: it is reached */
};

struct leat_net_esp_group {
    struct leat_net_esp_tree tree;
    uint64_t serial;
    uint64_t epoch;        /* of its computation IDs */
    leat_time epoch_began; /* not after the first binding of this epoch */
    struct leat_net_esp_operation op[LEAT_SIM_COLLECT_WINDOW];
};

static inline uint32_t leat_net_esp_host_count(const struct leat_net_esp *esp)
{
    return esp->net->topology->terminals - esp->net->topology->processors;
}

/* Groups are numbered from 1 on. */
static inline struct leat_net_esp_group *leat_net_esp_group_of(struct leat_net_esp *esp,
                                                               uint32_t group)
{
    return &esp->group[group - 1];
}

static inline struct leat_net_esp_operation *
leat_net_esp_operation_of(struct leat_net_esp *esp, uint32_t group, uint64_t number)
{
    return &leat_net_esp_group_of(esp, group)->op[number % LEAT_SIM_COLLECT_WINDOW];
}

/* What the operation is, with its root's octets. */
static inline struct leat_sim_operation *leat_net_esp_meaning(struct leat_net_esp *esp,
                                                              uint32_t group, uint64_t number)
{
    return leat_sim_collect_op(leat_sim_collect_of(&esp->collect, group), number);
}

/* ---- for net_port.c -------------------------------------------------------------------------- */

/* For a checked topology with processors. */
void leat_net_esp_lay(struct leat_net_esp *esp, struct leat_arena *arena,
                      const struct leat_net_port_config *port);
/* After lay, in zeroed memory; all is lent for the lifetime. Sets the means of `base`. */
void leat_net_esp_init(struct leat_net_esp *esp, const struct leat_net_port_config *port,
                       struct leat_net *net, struct leat_port_net *base);

/* For leat_port_ops. A group for which there is no tree: 0. */
uint32_t leat_net_esp_group(struct leat_net_esp *esp, const uint32_t *port, uint32_t count);
void leat_net_esp_disband(struct leat_net_esp *esp, uint32_t group);
void leat_net_esp_collect(struct leat_net_esp *esp, const struct leat_port_part *part,
                          leat_time at);

/* The cycle of the next event outside of the flit network; LEAT_NEVER: none. */
uint64_t leat_net_esp_due(const struct leat_net_esp *esp);
/* Carries out all events up to this cycle, which the flit network is about to run. */
void leat_net_esp_act(struct leat_net_esp *esp, uint64_t cycle);

/* For leat_net_host. False: this terminal has no ESP packet to send. */
bool leat_net_esp_next(struct leat_net_esp *esp, uint32_t terminal, struct leat_net_packet *packet);
/* False: this is not an ESP packet. */
bool leat_net_esp_arrive(struct leat_net_esp *esp, const struct leat_net_arrival *arrival);

/* This terminal is dead: what it has not sent is lost. */
void leat_net_esp_lose_unsent(struct leat_net_esp *esp, uint32_t terminal);
/* The network is deadlocked: all its packets are lost. */
void leat_net_esp_die(struct leat_net_esp *esp);

/* ---- packets (net_esp_packet.c) -------------------------------------------------------------- */

void leat_net_esp_packets_lay(struct leat_net_esp *esp, struct leat_arena *arena,
                              uint32_t terminals);

/* Sends a packet like this from one terminal to another. It is counted as live; if there is no room
 * or its port is dead, it is lost at once. */
void leat_net_esp_send(struct leat_net_esp *esp, const struct leat_net_esp_packet *like,
                       uint32_t from, uint32_t to);
/* The processor's first packet goes on from here, or ends. */
void leat_net_esp_send_on(struct leat_net_esp *esp, uint32_t index, uint32_t from, uint32_t to);
void leat_net_esp_end_packet(struct leat_net_esp *esp, uint32_t index);

/* Of a CAST: its octets. */
uint64_t leat_net_esp_payload_of(struct leat_net_esp *esp,
                                 const struct leat_net_esp_packet *packet);

void leat_net_esp_plan(struct leat_net_esp *esp, enum leat_net_esp_step step, uint32_t entity,
                       uint64_t cycle);

/* ---- processors (net_esp_router.c) ----------------------------------------------------------- */

/* A group was made: its routers have stores from now on. */
void leat_net_esp_prepare(struct leat_net_esp *esp, const struct leat_net_esp_tree *tree);
/* A packet has arrived at the processor of a router. */
void leat_net_esp_take_in(struct leat_net_esp *esp, uint32_t router, uint32_t index);
/* It has computed the first of them. */
void leat_net_esp_computed(struct leat_net_esp *esp, uint32_t router);

/* A COLLECT of this packet's word. */
struct leat_esp_packet leat_net_esp_collect_of(struct leat_net_esp *esp,
                                               const struct leat_net_esp_packet *packet);

/* ---- recordings (net_esp_show.c) ------------------------------------------------------------- */

/* For leat_port_ops: ports, then the processors of routers. */
bool leat_net_esp_place(const struct leat_net_esp *esp, uint32_t place,
                        struct leat_port_place *out);
/* Its first flit leaves where it comes from, or all of it has arrived where it goes. */
void leat_net_esp_show(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet,
                       bool is_out);

/* ---- operations (net_esp.c) ------------------------------------------------------------------ */

/* A packet has arrived at its host. */
void leat_net_esp_deliver(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet);
/* The last octets of a cast have left their host. */
void leat_net_esp_all_left(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet);
/* One packet less is live: is that the end of its operation? */
void leat_net_esp_count_down(struct leat_net_esp *esp, uint32_t group, uint64_t number);

#endif
