/* The UDP socket of an end system, its keys and its clock. */
#ifndef LEAT_ESP_SOCKET_H
#define LEAT_ESP_SOCKET_H

#include "esp_service.h"
#include "leat_keys.h"
#include <leat/esp.h>

/* Packets received at once. What is due is sent after them, so that a flood delays it little. */
enum { ESP_LETTERS_AT_ONCE = 256, ESP_BATCH = 32 };

struct esp_socket {
    int fd;
    struct leat_keys keys, group_keys; /* of the network, and derived from them */
    uint64_t sent, received;
};

/* A received packet. */
struct esp_letter {
    struct leat_esp_next from;
    size_t len;
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
};

enum leat_esp_host_end esp_socket_open(struct esp_socket *s,
                                       const struct leat_esp_host_config *config, char *why);
void esp_socket_close(struct esp_socket *s);

/* "ADDRESS[:PORT]"; false: see `why`. */
bool esp_socket_address(const char *what, const char *text, struct leat_esp_next *out, char *why);

/* A random number that is not 0. */
uint64_t esp_socket_draw(void);

/* In picoseconds, as the engines count. */
leat_time esp_socket_now(void);

bool esp_socket_send(struct esp_socket *s, const struct leat_esp_next *to, const uint8_t *octets,
                     size_t len);

/* Packets for one call of the system; they are sent when there are many of them, or by flush. */
struct esp_batch {
    struct esp_socket *socket;
    unsigned count;
    uint8_t octets[ESP_BATCH][LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len[ESP_BATCH];
    struct leat_esp_next to[ESP_BATCH];
};
void esp_batch_add(struct esp_batch *b, const struct leat_esp_next *to, const uint8_t *octets,
                   size_t len);
void esp_batch_flush(struct esp_batch *b);

/* Sends a post with the first key of its kind; a JOIN gets the address that it is sent from. */
bool esp_socket_post(struct esp_socket *s, const struct leat_esp_next *to,
                     const struct leat_esp_post *post);

/* The next packet; false: none is available. */
bool esp_socket_receive(struct esp_socket *s, struct esp_letter *letter);

/* Waits until a packet arrives or `until`; false: interrupted. */
bool esp_socket_wait(const struct esp_socket *s, leat_time until);

/* The key that signs packets of this kind; NULL: none. */
const uint8_t *esp_socket_key(const struct esp_socket *s, uint8_t opcode);

/* Decodes a management packet with one of the keys of its kind. */
bool esp_socket_decode(const struct esp_socket *s, const struct esp_letter *letter,
                       struct leat_esp_management *out);

#endif
