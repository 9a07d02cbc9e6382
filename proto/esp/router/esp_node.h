/*
 * A store in memory, for the library, the simulator and user space: groups of esp_store.h and the
 * node that they belong to. One thread at a time; who has several locks by group, with
 * leat_esp_store_group and leat_esp_execute.
 */
#ifndef LEAT_ESP_NODE_H
#define LEAT_ESP_NODE_H

#include "esp_core.h"
#include "esp_query.h"

enum { LEAT_ESP_GROUPS_MAX = 1 << 20, LEAT_ESP_AGES = 16 };

struct leat_esp_store {
    struct leat_esp_node node;
    struct leat_esp_group *group;
    uint32_t groups; /* a power of two */
};

/* How many groups have at least this many slots: at most LEAT_ESP_GROUPS_MAX. */
uint32_t leat_esp_groups_for(uint64_t slots);

/* Octets for `groups` groups (a power of two, 1 .. LEAT_ESP_GROUPS_MAX), 64 of them for alignment.
 */
size_t leat_esp_store_footprint(uint32_t groups);

/* An empty store in memory of that footprint. */
void leat_esp_store_init(struct leat_esp_store *store, const struct leat_esp_node *node,
                         uint32_t groups, void *memory);

/* The packet's operands as words, and back (`w` has the packet's opcode). */
void leat_esp_words_of(const struct leat_esp_packet *packet, struct leat_esp_words *w);
void leat_esp_words_back(const struct leat_esp_words *w, struct leat_esp_packet *packet);

/* The group of a computation, for its lock. */
static inline struct leat_esp_group *leat_esp_store_group(const struct leat_esp_store *store,
                                                          uint64_t mark)
{
    return &store->group[mark & (store->groups - 1)];
}

/* Executes, whatever the flags say. */
struct leat_esp_outcome leat_esp_store_execute(struct leat_esp_store *store, uint64_t clock,
                                               struct leat_esp_words *w);

/*
 * Many instructions in order, as so many calls of leat_esp_store_execute; what they will touch is
 * fetched from memory ahead.
 */
void leat_esp_store_execute_many(struct leat_esp_store *store, uint64_t clock,
                                 struct leat_esp_words *w, struct leat_esp_outcome *outcome,
                                 size_t count);

/*
 * What a node does to a packet at one of its stores: executes if X is set and E is not, sets E when
 * the instruction aborted or found no room. STOP: it goes no further. Else it goes on as it is now.
 */
struct leat_esp_outcome leat_esp_store_visit(struct leat_esp_store *store, uint64_t clock,
                                             struct leat_esp_packet *packet);

/*
 * Live bindings of a computation in its group at `now`, from slot *cursor on, at most `cap`.
 * Returns how many; *cursor is where to go on, 0 when that was all.
 */
uint32_t leat_esp_group_list(const struct leat_esp_group *group, uint64_t mark,
                             uint64_t computation, uint64_t now, uint32_t *cursor,
                             struct leat_esp_binding *out, uint32_t cap);

/* What lives in groups at `now`: how many bindings, by the part of tau that they have behind them.
 */
struct leat_esp_survey {
    uint64_t live;
    uint64_t age[LEAT_ESP_AGES]; /* age[i]: i/16 to (i+1)/16 of tau old */
    uint64_t full_buckets;
    uint64_t busiest; /* bindings in the fullest group */
};
void leat_esp_group_survey(const struct leat_esp_group *group, uint64_t tau, uint64_t now,
                           struct leat_esp_survey *survey);

/*
 * A node's answer to a query about this store, which has been decoded with the network's key.
 * False: it is not for this node.
 */
bool leat_esp_store_answer(const struct leat_esp_store *store, uint64_t now,
                           const struct leat_esp_management *query,
                           struct leat_esp_management *reply);

#endif
