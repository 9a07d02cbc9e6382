/*
 * Groups of ports and their collective operations, for networks that have means for them
 * (leat/port.h): which parts have been handed over, who has got the result, and callbacks to make.
 * How parts become a result is the network's own protocol.
 *
 *     collect() --> hand_over ... at its time: enter --> the network's protocol
 *                                                         | op->word: the result of a fold
 *     collected() <-- report: port by port <-- reach <----+ for each member, in any order
 *
 * Operations of a group are numbered from 0 on. A fold needs the parts of all members; but the root
 * of a cast goes on as soon as the network has taken its octets, so several casts of a group may be
 * on their way, and may reach a member in any order, even before it hands over its part. A member
 * waits while more than LEAT_SIM_COLLECT_WINDOW operations would be in progress.
 */
#ifndef LEAT_SIM_COLLECT_H
#define LEAT_SIM_COLLECT_H

#include "leat_arena.h"
#include <leat/port.h>

enum { LEAT_SIM_COLLECT_WINDOW = 4 };

struct leat_sim_operation {
    struct leat_port_part what; /* its first part; of a cast, the root's as soon as it is there */
    uint64_t *word;             /* [words_max]: the result, for the network to write */
    uint64_t hash;              /* of the result, once somebody has it */
    uint32_t handed, over;      /* parts, members */
    bool has_root, has_hash;
};

struct leat_sim_member {
    uint32_t port;
    struct leat_port_part part; /* the last one */
    uint64_t parts;             /* handed over so far: the last one's operation is parts - 1 */
    bool has_part;              /* which is not collected */
    bool has_entered;           /* its time has come */
    bool is_withheld;           /* it waits for the window */
    bool is_reached[LEAT_SIM_COLLECT_WINDOW], has_failed[LEAT_SIM_COLLECT_WINDOW];
};

struct leat_sim_group {
    uint32_t members; /* 0: not in use */
    uint64_t oldest;  /* operations before this one are over */
    struct leat_sim_operation op[LEAT_SIM_COLLECT_WINDOW];
    struct leat_sim_member *member; /* [ports], by place */
    uint32_t *place;                /* [ports]: + 1; 0: no member */
};

struct leat_sim_collect_news {
    uint32_t port, group, place;
};

struct leat_sim_collect {
    struct leat_port_net *net;
    struct leat_port_means means;
    struct leat_sim_group *group;       /* [groups_max] */
    struct leat_sim_collect_news *news; /* [groups_max * ports] */
    uint32_t news_count;
};

void leat_sim_collect_lay(struct leat_sim_collect *collect, struct leat_arena *arena,
                          const struct leat_port_means *means, uint32_t ports);
/* After lay, in zeroed memory, and after `net` has its ports. Sets its means. */
void leat_sim_collect_init(struct leat_sim_collect *collect, struct leat_port_net *net);

/* For leat_port_ops: groups are numbered from 1 on. */
uint32_t leat_sim_collect_group(struct leat_sim_collect *collect, const uint32_t *port,
                                uint32_t count);
void leat_sim_collect_disband(struct leat_sim_collect *collect, uint32_t group);
/* Returns the place of the member in its group. */
uint32_t leat_sim_collect_hand_over(struct leat_sim_collect *collect,
                                    const struct leat_port_part *part);

static inline struct leat_sim_group *leat_sim_collect_of(struct leat_sim_collect *collect,
                                                         uint32_t group)
{
    return &collect->group[group - 1];
}

/* The operation of a group with this number, which is not over. */
static inline struct leat_sim_operation *leat_sim_collect_op(struct leat_sim_group *group,
                                                             uint64_t number)
{
    return &group->op[number % LEAT_SIM_COLLECT_WINDOW];
}

/* The time of a member's part has come: from now on the network sees it. Returns the number of its
 * operation. A cast may already have reached it: then news are queued. */
uint64_t leat_sim_collect_enter(struct leat_sim_collect *collect, uint32_t group, uint32_t place);

/* The operation is over for this member (of a cast's root: its octets are taken): now, or as soon
 * as its part enters. */
void leat_sim_collect_reach(struct leat_sim_collect *collect, uint32_t group, uint32_t place,
                            uint64_t number);

/* The same, but it has failed for this member. */
void leat_sim_collect_fail(struct leat_sim_collect *collect, uint32_t group, uint32_t place,
                           uint64_t number);

/* Is a callback queued? Then the run ends at the present time. */
static inline bool leat_sim_collect_has_news(const struct leat_sim_collect *collect)
{
    return collect->news_count != 0;
}

/* Makes all queued callbacks, at the present time of the net. */
void leat_sim_collect_report(struct leat_sim_collect *collect);

#endif
