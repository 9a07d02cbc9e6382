/* A root over a socket: what its files share. */
#ifndef LEAT_ESP_ROOT_H
#define LEAT_ESP_ROOT_H

#include "esp_socket.h"

struct leat_esp_host_root {
    struct esp_socket socket;
    struct leat_esp_service engine;
    void *memory;
    uint64_t refused;                        /* packets that were malformed or had another key */
    uint8_t challenge_key[LEAT_ESP_KEY_LEN]; /* of this root alone */
    struct esp_letter letter;
    struct leat_esp_management message;
};

/* The tree of the last request that asked for one, and the members. Lent until the next request. */
const struct leat_esp_map *leat_esp_host_root_map(const struct leat_esp_host_root *root);
const struct leat_esp_roster *leat_esp_host_root_roster(const struct leat_esp_host_root *root);

#endif
