/* Members and roots over a socket: what their files share. */
#ifndef LEAT_ESP_HOST_H
#define LEAT_ESP_HOST_H

#include "esp_socket.h"

struct leat_esp_host_member {
    struct esp_socket socket;
    struct leat_esp_member engine;
    struct leat_esp_next root, via;
    uint64_t announced, refused, casts, last_cast;
    struct esp_letter letter;
    struct leat_esp_management message;
    uint16_t cast_len;
    uint8_t cast[LEAT_ESP_PAYLOAD_LEN_MAX];
};

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
