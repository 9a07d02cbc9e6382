/* Turns the user's options into a router's configuration. */
#ifndef LEAT_ESP_PLAN_H
#define LEAT_ESP_PLAN_H

#include "esp_driver.h"

enum { ESP_FILE_NAME_LEN = 96 };

/* Everything but the driver. False: see `why`; the user's error. */
bool esp_plan(const struct leat_esp_router_config *from, struct esp_config *config, char *why);

/*
 * May the stores of an earlier router be kept? Then config gets their secrets, and their id unless
 * the user wants another. A new tau applies to new bindings only.
 */
bool esp_plan_keeps(const struct esp_config *old, struct esp_config *config, bool has_id);

/* "10.0.0.1" or "fe80::1"; IPv4 as ::ffff:a.b.c.d. */
bool esp_plan_address(const char *text, uint64_t address[2]);

/* ADDRESS/BITS or ADDRESS; bits outside the mask become 0. */
bool esp_plan_prefix(const char *text, uint64_t prefix[2], uint64_t mask[2]);

/* An address followed by ":PORT"; an IPv6 address is then in brackets. */
bool esp_plan_endpoint(const char *text, uint64_t address[2], uint16_t *port);

/* The same as text; port 0: the address alone. */
enum { ESP_ENDPOINT_TEXT_LEN = 64 };
void esp_plan_endpoint_text(const uint64_t address[2], uint16_t port,
                            char text[ESP_ENDPOINT_TEXT_LEN]);

/* ---- the shared file (esp_router.c) --------------------------------------------------------- */

/* Device numbers are local to a namespace, so its number is in the name. */
bool esp_file_name(const char *router, char name[ESP_FILE_NAME_LEN], char *why);

/* A descriptor, or -1: see `why` and errno. Files of other users are not opened: their contents
 * would be trusted. */
int esp_file_open(const char *name, int flags, char *why);

/* NULL: not our file, or incomplete. share->len octets. */
struct esp_share *esp_file_map(int fd);
struct esp_locked_group *esp_file_groups(struct esp_share *share);

#endif
