/*
 * Collective operations of groups of ports of a cell network (leat/port.h), in addition to the
 * messages of sim_atm_ports.h. Switches copy cells, but do not compute; so hosts do:
 *
 *     cast   the root's unit sends the octets once, as a multicast; switches copy its cells
 *
 *     fold      parts go up a tree of members as messages ...      ... the top casts the result
 *                        . top
 *                  .-----'-----.
 *                 .-.    .    .   a host folds what it gets
 *                 .  .   .    .   into its own part, at once
 *
 * Messages of operations use the queues, units and buffers of ordinary ones, in order of time.
 * Their cells carry octets that the load makes up, and checks: what a member gets is known without
 * them (sim_collect.h). Their deliveries are in the certificate, but have no callbacks.
 *
 * A group of some of the ports gets a label of its own (spec/atm.md, 10.7) when it is made. Where
 * all ports are members, or no label is free, casts are broadcasts: then they arrive at the units
 * of all ports. Hosts of members read them, however late; the others leave them to their unit,
 * which discards them (R9). A cast takes blocks of every receive buffer that it reaches, and each
 * of its cells is acknowledged from there: a piece begins only when there is room for all that, so
 * buffers cannot deadlock.
 *
 * A label is free again when the last cell of its group has been acknowledged, or is known to be
 * lost: not always as soon as the group is disbanded.
 *
 * If a unit gives up a message of an operation, it counts as having arrived at that time. The
 * operation has failed, unless a member has its result already: then the others get it too.
 */
#ifndef LEAT_SIM_ATM_COLLECT_H
#define LEAT_SIM_ATM_COLLECT_H

#include "sim_collect.h"

enum {
    LEAT_SIM_ATM_COLLECT_WORDS = 1024,     /* of a fold */
    LEAT_SIM_ATM_COLLECT_OCTETS = 1 << 24, /* of a cast */
    LEAT_SIM_ATM_COLLECT_GROUPS = 32,
    /* Labels of groups, times ports: what a unit knows of streams to groups is bounded. */
    LEAT_SIM_ATM_COLLECT_STREAMS = 4096,
};

/* An operation in progress. Seats are places, counted from the top of this operation's tree. */
struct leat_sim_atm_collect_course {
    uint64_t number;   /* + 1; 0: none yet */
    uint32_t entered;  /* parts of a fold */
    uint32_t lacking;  /* members that the cast has not reached, besides its root */
    uint32_t *missing; /* [ports] by seat: parts that a fold waits for there */
    uint64_t *got;     /* [ports] by place: octets of the cast */
    bool has_failed;   /* for those who do not have the result */
};

struct leat_sim_atm_collect_group {
    uint32_t to; /* the destination of its casts: all ports, or its label */
    struct leat_sim_atm_collect_course course[LEAT_SIM_COLLECT_WINDOW];
};

/* A label for a group. */
struct leat_sim_atm_collect_label {
    bool in_use;     /* by a group */
    uint32_t pieces; /* in flight, also of a group that is disbanded */
};

/* A part whose time has not come. */
struct leat_sim_atm_collect_part {
    uint64_t cycle;
    uint32_t group, place;
};

/* A member whose host has something to send in this cycle. */
struct leat_sim_atm_collect_ready {
    uint32_t group, place;
    uint64_t number;
};

struct leat_sim_atm_collect {
    struct leat_sim_collect base;
    struct leat_sim_atm_collect_group *group;
    struct leat_sim_atm_collect_label *label; /* [labels] */
    uint32_t labels;
    struct leat_sim_atm_collect_part *part; /* [groups * ports] */
    uint32_t part_count;
    struct leat_sim_atm_collect_ready *ready; /* [groups * ports] */
    uint32_t ready_count;
    uint32_t *parent;  /* [ports]: of a seat; the seats of n members are the first n */
    uint32_t *heard;   /* [1 + labels][ports][ports]: see leat_sim_atm_collect_heard */
    uint64_t *members; /* of a new group: a bit per port */
    uint32_t free;     /* entries + 1, as in the ports */
    uint32_t messages; /* of operations, which have not ended ... */
    uint32_t pieces;   /* ... and pieces in flight, also of some that have */
    uint32_t cast_max; /* octets of a piece of a cast; 0: there are no means */
};

#endif
