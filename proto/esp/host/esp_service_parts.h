/* What the files of the service share. */
#ifndef LEAT_ESP_SERVICE_PARTS_H
#define LEAT_ESP_SERVICE_PARTS_H

#include "esp_service.h"

/* Our tags in every computation; members take them from the announcement. */
enum {
    LEAT_ESP_TAG_CHILDREN = 1,
    LEAT_ESP_TAG_TOTAL,
    LEAT_ESP_TAG_FORWARDED,
    LEAT_ESP_TAG_COLLECTED,
    LEAT_ESP_TAG_END,
};

void leat_esp_service_end(struct leat_esp_service *service, leat_time now, enum leat_esp_end how);

/* Shards (esp_service_shard.c): the most of so many members; after an attempt that was crowded. */
uint32_t leat_esp_service_shards_max(uint32_t members);
uint32_t leat_esp_service_more_shards(const struct leat_esp_service *service);

/* Draws the computations of an attempt and divides the members; a shard without any will not
 * answer. */
void leat_esp_service_deal(struct leat_esp_service *service);

/* The shard of a member in this attempt. */
uint32_t leat_esp_service_shard(const struct leat_esp_service *service, uint32_t member);

/* NULL: it belongs to another attempt, or to nobody. */
struct leat_esp_computing *leat_esp_service_computing(struct leat_esp_service *service,
                                                      uint64_t computation);

/* The tree map (esp_service_tree.c): all members have registered; starts to query the nodes. */
void leat_esp_service_begin_queries(struct leat_esp_service *service, leat_time now);

/* The current wave of queries, or of INSTALLs, is over. */
void leat_esp_service_wave(struct leat_esp_service *service, leat_time now);
void leat_esp_service_install_wave(struct leat_esp_service *service, leat_time now);

/* The next query of the current wave; false: there is none. */
bool leat_esp_service_query(struct leat_esp_service *service, struct leat_esp_post *post);
bool leat_esp_service_install(struct leat_esp_service *service, struct leat_esp_post *post);

/* The duplicates (esp_service_cast.c): the tree is known; starts to install them. */
void leat_esp_service_begin_install(struct leat_esp_service *service, leat_time now);

/* May announcements up to `until` go through duplicates? */
bool leat_esp_service_can_cast(const struct leat_esp_service *service, leat_time until);

/* Number of destinations of announcements, one packet each. */
uint32_t leat_esp_service_targets(const struct leat_esp_service *service);

/* The n-th destination; CAST is set in the post if it is a point of the map. */
void leat_esp_service_target(const struct leat_esp_service *service, uint32_t n,
                             struct leat_esp_post *post);

#endif
