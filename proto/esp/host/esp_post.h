/*
 * What an end system sends, as a value: the destination, and an instruction or a management packet.
 * The carrier encodes it (leat/esp.h, esp_query.h); the simulator delivers it as it is.
 */
#ifndef LEAT_ESP_POST_H
#define LEAT_ESP_POST_H

#include "esp_core.h"
#include "esp_query.h"

struct leat_esp_post {
    struct leat_esp_next to; /* a member's packets all go to its root: all zeros */
    uint8_t opcode;          /* an instruction's: words; a management packet's: that one */
    uint8_t hops;            /* CAST: contains an announcement */
    uint64_t computation;    /* of the header */
    union {
        struct leat_esp_words words;
        struct leat_esp_query query;
        struct leat_esp_join join; /* the sender fills in its own address */
        struct leat_esp_welcome welcome;
        struct leat_esp_announce announce;
        struct leat_esp_install install;
        struct leat_esp_installed installed;
    };
};

/* Encodes a post, CRC and MAC included; the key is the one for its opcode, NULL: none. */
leat_err leat_esp_post_encode(const struct leat_esp_post *post, const uint8_t key[LEAT_ESP_KEY_LEN],
                              uint8_t *buf, size_t cap, size_t *len);

#endif
