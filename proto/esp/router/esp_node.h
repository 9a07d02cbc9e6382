/*
 * A store in memory, for the library, the simulator and user space: the groups of esp_store.h and
 * their node. Single-threaded; a caller with several threads locks per group, with
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

/* Number of groups for at least this many slots, at most LEAT_ESP_GROUPS_MAX. */
uint32_t leat_esp_groups_for(uint64_t slots);

/* Octets for `groups` groups (a power of two, 1 .. LEAT_ESP_GROUPS_MAX), 64 more to align them. */
size_t leat_esp_store_footprint(uint32_t groups);

/* Initialises an empty store in memory of that footprint. */
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

/* Executes the instruction and ignores the flags. */
struct leat_esp_outcome leat_esp_store_execute(struct leat_esp_store *store, uint64_t clock,
                                               struct leat_esp_words *w);

/*
 * Executes many instructions in order, like as many calls of leat_esp_store_execute, but prefetches
 * the memory they will access.
 */
void leat_esp_store_execute_many(struct leat_esp_store *store, uint64_t clock,
                                 struct leat_esp_words *w, struct leat_esp_outcome *outcome,
                                 size_t count);

/*
 * What a node does to a packet at one of its stores: executes it if X is set and E is not, and sets
 * E when the instruction aborted or found no room. STOP: the packet is discarded. Otherwise it is
 * forwarded as it is now.
 */
struct leat_esp_outcome leat_esp_store_visit(struct leat_esp_store *store, uint64_t clock,
                                             struct leat_esp_packet *packet);

/*
 * Live bindings of a computation in its group at `now`, from slot *cursor on, at most `cap`.
 * Returns the count; *cursor is where to continue, or 0 at the end.
 */
uint32_t leat_esp_group_list(const struct leat_esp_group *group, uint64_t mark,
                             uint64_t computation, uint64_t now, uint32_t *cursor,
                             struct leat_esp_binding *out, uint32_t cap);

/* What is live in groups at `now`: the number of bindings, by elapsed fraction of tau. */
struct leat_esp_survey {
    uint64_t live;
    uint64_t age[LEAT_ESP_AGES]; /* age[i]: i/16 to (i+1)/16 of tau old */
    uint64_t full_buckets;
    uint64_t busiest; /* bindings in the fullest group */
};
void leat_esp_group_survey(const struct leat_esp_group *group, uint64_t tau, uint64_t now,
                           struct leat_esp_survey *survey);

/*
 * Answers a query about this store; the query was decoded with the network's key. False: it is not
 * for this node.
 */
bool leat_esp_store_answer(const struct leat_esp_store *store, uint64_t now,
                           const struct leat_esp_management *query,
                           struct leat_esp_management *reply);

#endif
