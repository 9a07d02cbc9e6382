/*
 * What an end system sends, as a value: to whom, and an instruction or a management packet. The
 * carrier encodes it (leat/esp.h, esp_query.h), the simulator hands it over as it is.
 */
#ifndef LEAT_ESP_POST_H
#define LEAT_ESP_POST_H

#include "esp_core.h"
#include "esp_query.h"

struct leat_esp_post {
    struct leat_esp_next to; /* a member's are all for its root: then all zeros */
    uint8_t opcode;          /* an instruction's: words; a management packet's: that one */
    uint8_t hops;            /* CAST: has an announcement in it */
    uint64_t computation;    /* of the head */
    union {
        struct leat_esp_words words;
        struct leat_esp_query query;
        struct leat_esp_join join; /* whom it comes from is filled in by whoever sends it */
        struct leat_esp_welcome welcome;
        struct leat_esp_announce announce;
        struct leat_esp_install install;
        struct leat_esp_installed installed;
    };
};

/* Octets of a post, CRC and MAC included; the key is the one for its opcode, NULL: none. */
leat_err leat_esp_post_encode(const struct leat_esp_post *post, const uint8_t key[LEAT_ESP_KEY_LEN],
                              uint8_t *buf, size_t cap, size_t *len);

#endif
