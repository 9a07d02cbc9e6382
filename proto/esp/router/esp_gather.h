/*
 * COLLECT at a router of a simulated network where the group of the computation is installed
 * (spec/esp.md, "Installed groups"): the router knows how many children it has, so no COUNT comes
 * first, and the bindings are ready for the group's next operation (esp_core.h).
 *
 * A word of a group in an epoch is a computation of its own; so are folds with another identity.
 */
#ifndef LEAT_ESP_GATHER_H
#define LEAT_ESP_GATHER_H

#include "esp_node.h"
#include <leat/port.h>

enum { LEAT_ESP_GATHER_SLOTS = 1 << 12 }; /* of a router's store, unless others are given */

#define LEAT_ESP_GATHER_TAU UINT64_C(10000000000000) /* ps: 10 s, as spec/esp.md has it */

struct leat_esp_gather {
    uint64_t serial, epoch; /* of the group */
    uint32_t children;      /* of this router */
};

enum leat_esp_fold leat_esp_gather_fold(enum leat_port_fold fold);

/* A COLLECT of a word. */
struct leat_esp_packet leat_esp_gather_packet(const struct leat_esp_gather *group,
                                              enum leat_port_fold fold, uint32_t word,
                                              uint64_t value);

/* The value of a child. PASS: that was the last one, and *value is the total. STOP: others are
 * missing. Anything else: the store could not do it. */
uint32_t leat_esp_gather_collect(struct leat_esp_store *store, leat_time clock,
                                 const struct leat_esp_gather *group, enum leat_port_fold fold,
                                 uint32_t word, uint64_t *value);

/* A CAST, for recordings: of a word of this computation, or octets of a cast (0). It has no key, so
 * its MAC is 0; its serial is the operation (32) and the word or chunk (32); hops are not counted.
 * Returns its octets. */
enum { LEAT_ESP_GATHER_CAST_MAX = LEAT_ESP_MANAGEMENT_LEN_MAX };
size_t leat_esp_gather_cast(const struct leat_esp_gather *group, uint64_t computation,
                            uint64_t operation, uint32_t index, const void *payload, size_t len,
                            uint8_t out[LEAT_ESP_GATHER_CAST_MAX]);

/* Octets of a CAST with this payload (spec/esp.md, "Management"). */
size_t leat_esp_cast_len(uint64_t payload);

#endif
