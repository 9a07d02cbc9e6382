/*
 * The duplicate module (spec/esp.md, "Services", multicast): at a branch point every CAST of a
 * group is forwarded to each of a few addresses. An entry may also say how many children the node
 * has in the group, for COLLECT ("Installed groups"). The module is separate from the five
 * instructions and the only part of a node that sends more packets than it receives, so everything
 * about it is bounded:
 *
 *   copies of one packet    LEAT_ESP_COPIES_MAX, each with one hop less
 *   groups                  LEAT_ESP_DUPLICATES, in sets of WAYS; a live one is never evicted
 *   lifetime                as granted, at most LEAT_ESP_DUPLICATE_MS_MAX
 *   authorization           holders of the group's key only: the caller decodes INSTALL with it
 *   replay                  a serial that is not above the last one of the group is refused, also
 *                           after the duplicate expired, until another group takes its entry
 *
 *   install: leat_esp_duplicate_install(table, install, now)      cast: leat_esp_duplicate_find
 *
 * Compiles for BPF, where the table is a map: place() returns the indices of the candidate entries.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_DUPLICATE_H
#define LEAT_ESP_DUPLICATE_H

#include "esp_query.h"
#include "esp_store.h"

enum {
    LEAT_ESP_DUPLICATES = 256,
    LEAT_ESP_DUPLICATE_WAYS = 4,
    LEAT_ESP_DUPLICATE_MS_MAX = 3600000,
};

/* All zero: empty. */
struct leat_esp_duplicate {
    uint64_t group, serial;
    uint64_t expiry; /* live iff now < expiry */
    uint32_t count, children;
    uint64_t parent;
    struct leat_esp_next next[LEAT_ESP_COPIES_MAX];
};

struct leat_esp_duplicates {
    struct leat_esp_duplicate entry[LEAT_ESP_DUPLICATES];
};

/* chldCntTag of a node in a group. A packet that misses its node is not for the next one. */
LEAT_ESP_INLINE uint64_t leat_esp_children_tag(uint64_t group, uint64_t node)
{
    return leat_esp_mix64(group, node);
}

/* Index of the way-th entry that a group may use. */
LEAT_ESP_INLINE uint32_t leat_esp_duplicate_place(uint64_t group, uint32_t way)
{
    const uint32_t sets = LEAT_ESP_DUPLICATES / LEAT_ESP_DUPLICATE_WAYS;
    return (uint32_t)(leat_esp_spread(group) & (sets - 1)) * LEAT_ESP_DUPLICATE_WAYS + way;
}

LEAT_ESP_INLINE bool leat_esp_duplicate_is(const struct leat_esp_duplicate *d, uint64_t group,
                                           uint64_t now)
{
    return d->group == group && now < d->expiry;
}

/* NULL: none is live. */
static inline const struct leat_esp_duplicate *
leat_esp_duplicate_find(const struct leat_esp_duplicates *table, uint64_t group, uint64_t now)
{
    for (uint32_t way = 0; way < LEAT_ESP_DUPLICATE_WAYS; way++) {
        const struct leat_esp_duplicate *d = &table->entry[leat_esp_duplicate_place(group, way)];
        if (leat_esp_duplicate_is(d, group, now)) return d;
    }
    return NULL;
}

/* The group's own old entry, else an unused one, else the one that expired longest ago. */
static inline struct leat_esp_duplicate *
leat_esp_duplicate_choose(struct leat_esp_duplicates *table, uint64_t group, uint64_t now)
{
    struct leat_esp_duplicate *best = NULL;
    for (uint32_t way = 0; way < LEAT_ESP_DUPLICATE_WAYS; way++) {
        struct leat_esp_duplicate *d = &table->entry[leat_esp_duplicate_place(group, way)];
        if (d->group == group && d->serial) return d;
        if (now >= d->expiry && (!best || d->expiry < best->expiry)) best = d;
    }
    return best;
}

/*
 * Applies an INSTALL that was decoded with its group's key; times in ticks of ticks_per_ms. Returns
 * an enum leat_esp_result; *lifetime_ms is the lifetime granted.
 */
static inline enum leat_esp_result leat_esp_duplicate_install(struct leat_esp_duplicates *table,
                                                              const struct leat_esp_install *in,
                                                              uint64_t now, uint64_t ticks_per_ms,
                                                              uint32_t *lifetime_ms)
{
    struct leat_esp_duplicate *d = leat_esp_duplicate_choose(table, in->group, now);
    *lifetime_ms = 0;
    if (!d) return LEAT_ESP_RESULT_FULL;
    if (in->serial == 0 || (d->group == in->group && in->serial <= d->serial))
        return LEAT_ESP_RESULT_STALE;
    d->group = in->group;
    d->serial = in->serial;
    d->count = d->children = 0;
    d->expiry = now;
    if ((in->count == 0 && in->children == 0) || in->lifetime_ms == 0)
        return LEAT_ESP_RESULT_REMOVED;
    *lifetime_ms = in->lifetime_ms;
    if (*lifetime_ms > LEAT_ESP_DUPLICATE_MS_MAX) *lifetime_ms = LEAT_ESP_DUPLICATE_MS_MAX;
    d->expiry = now + *lifetime_ms * ticks_per_ms;
    d->children = in->children;
    d->parent = in->parent;
    for (uint32_t i = 0; i < LEAT_ESP_COPIES_MAX && i < in->count; i++)
        d->next[d->count++] = in->next[i];
    return LEAT_ESP_RESULT_INSTALLED;
}

#endif
