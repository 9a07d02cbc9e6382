/*
 * leat esp on real hosts: verb_esp_live.c has the subverbs of routers, esp_services.c those of
 * end systems; esp_router_show.c shows a router.
 */
#ifndef LEAT_ESP_LIVE_TOOL_H
#define LEAT_ESP_LIVE_TOOL_H

#include "esp_router.h"
#include "tool.h"

int esp_route(const struct arguments *args);
int esp_key(const struct arguments *args);
int esp_stop(const struct arguments *args);
int esp_status(const struct arguments *args);
int esp_store(const struct arguments *args);
int esp_trace(const struct arguments *args);

int esp_join(const struct arguments *args);
int esp_service(const struct arguments *args); /* census, max, min, sum, average, tree */
int esp_multicast(const struct arguments *args);

/* --key-file; no keys if it is absent. False after a complaint. */
bool esp_read_keys(const struct arguments *args, struct leat_keys *keys);

/* ---- showing a router (esp_router_show.c) --------------------------------------------------- */

const char *esp_driver_name(uint32_t driver);

/* False after a complaint. */
bool esp_show_status(struct leat_esp_router *router, bool json);
bool esp_show_bindings(struct leat_esp_router *router, uint64_t computation, bool json);
void esp_show_sight(const struct esp_config *config, const struct esp_sight *sight, bool json);

#endif
