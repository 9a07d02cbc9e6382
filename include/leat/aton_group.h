/*
 * Groups of stations of a live ATON ring that fold words of 64 bits together (spec/aton.md,
 * "Collective operations of groups" and "Groups on the live ring"): sums, extremes, barriers, by
 * packets that the stations' kernels fold. One process of each member's host speaks for it.
 *
 *   every member                      the first member           every member, agreed by messages
 *   leat_aton_group_open    ------->  leat_aton_group_claim ---> leat_aton_group_join
 *   which blocks are free here        this one, on all the ring  epoch, members, stations
 *
 *   leat_aton_group_enter(group, LEAT_PORT_SUM, word, words);        lent until it is over
 *   while ((state = leat_aton_group_step(group)) == LEAT_ATON_GROUP_WORKS)
 *       leat_aton_group_wait(group, 1000);                           or something else
 *
 * A ring has LEAT_ATON_GROUPS blocks of registers; each group owns one. A block is locked on each
 * member's host as long as the process lives. Nothing blocks but claim, at most as long as it says,
 * and wait.
 *
 * Packets are repeated when they are lost. BROKEN: for as long as the patience no packet came back,
 * or a station is not what it was, or others have a result that did not arrive here. The members
 * then need another way to agree; the group is closed.
 *
 * In libleat_aton. Needs the rights of leat/aton.h. `why`: LEAT_ATON_HOST_WHY_LEN characters.
 */
#ifndef LEAT_ATON_GROUP_H
#define LEAT_ATON_GROUP_H

#include <leat/aton.h>
#include <leat/port.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LEAT_ATON_GROUPS = 8,
    LEAT_ATON_GROUP_PASS_WORDS = 6, /* of a pass; a fold of more takes several */
    LEAT_ATON_GROUP_CASTS = 16,     /* fewer casts than this between two folds */
    LEAT_ATON_GROUP_CAST_WORDS = 24,
};

/* The process's way to a group; opaque. */
struct leat_aton_group;

struct leat_aton_group_seat {
    char device[16];
    uint32_t ring_id;
    uint16_t address;
    uint32_t blocks; /* bit b: block b is locked for this process */
};

enum leat_aton_group_state {
    LEAT_ATON_GROUP_WORKS,
    LEAT_ATON_GROUP_OVER,
    LEAT_ATON_GROUP_BROKEN, /* leat_aton_group_why */
};

/* What happened to a group's packets. */
struct leat_aton_group_counts {
    uint64_t sent, lost, received, reminders;
};

/*
 * Finds this host's station of a ring (0: the only one) and locks all blocks that are free here.
 * Registers that a killed process left in them become 0. WRONG: there are several stations, or only
 * stations of other rings. Results otherwise as those of leat_aton_host_open.
 */
LEAT_API enum leat_aton_host_end leat_aton_group_open(uint32_t ring_id,
                                                      struct leat_aton_group **out,
                                                      struct leat_aton_group_seat *seat, char *why);

/*
 * For the first member: is a block of its own free on the whole ring? Then this host's registers
 * say that it is taken, and *stations is the number of stations. FAILED: it is not. SILENT: the
 * ring does not answer. Takes at most ten times timeout_us.
 */
LEAT_API enum leat_aton_host_end leat_aton_group_claim(struct leat_aton_group *group, uint8_t block,
                                                       uint64_t timeout_us, uint32_t *stations,
                                                       char *why);

/* Gives the claimed block back, for another one. */
LEAT_API void leat_aton_group_unclaim(struct leat_aton_group *group, uint8_t block);

/*
 * Becomes a member, and unlocks all other blocks. Members must have joined before any of them
 * enters. is_first: it has claimed the block. The group is broken after patience_us without an
 * answer.
 */
LEAT_API enum leat_aton_host_end leat_aton_group_join(struct leat_aton_group *group, uint8_t block,
                                                      uint16_t epoch, uint16_t members,
                                                      uint32_t stations, bool is_first,
                                                      uint64_t patience_us, char *why);

/* Hands over this host's words, lent until it is over; none: a barrier. One at a time. */
LEAT_API void leat_aton_group_enter(struct leat_aton_group *group, enum leat_port_fold fold,
                                    uint64_t *word, uint32_t words);

/*
 * Words of one member, the root, for all. The root does not wait for the others: it is over when
 * the words have passed all stations. The others' words become these. `number`: of the operation,
 * alike at all members, and one more each time. Otherwise as enter.
 */
LEAT_API void leat_aton_group_cast(struct leat_aton_group *group, bool is_root, uint32_t number,
                                   uint64_t *word, uint32_t words);

/* Goes on as far as possible without waiting. OVER: the words are the result. */
LEAT_API enum leat_aton_group_state leat_aton_group_step(struct leat_aton_group *group);

/* Sleeps until something may have happened, at most this long. */
LEAT_API void leat_aton_group_wait(struct leat_aton_group *group, uint64_t timeout_us);

/* Why it has failed: a sentence without a full stop. */
LEAT_API const char *leat_aton_group_why(const struct leat_aton_group *group);

/* What has happened in it so far. */
LEAT_API void leat_aton_group_count(const struct leat_aton_group *group,
                                    struct leat_aton_group_counts *out);

/* Its registers become 0, its blocks are free. NULL is allowed. */
LEAT_API void leat_aton_group_close(struct leat_aton_group *group);

#ifdef __cplusplus
}
#endif

#endif
