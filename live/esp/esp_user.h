/* The gate of esp_gate.h in user space. */
#ifndef LEAT_ESP_USER_H
#define LEAT_ESP_USER_H

#include "esp_shared.h"

/* The route of a packet. */
struct esp_out {
    enum esp_way_kind kind;
    uint32_t port; /* output port; ESP_NO_PORT: none of ours */
    uint32_t next; /* index of the configured next hop used; ESP_NEXT_MAX: none */
};

/* What the gate works on. */
struct esp_ground {
    struct esp_share *share;
    struct esp_locked_group *group;
    /* The route to an address (as esp_destination gives it); for bare frames 0. */
    struct esp_out (*way)(void *driver, const struct esp_place *at, const uint64_t to[2]);
    void *driver;
};

/* What became of a frame. */
struct esp_outcome {
    enum esp_reason reason;
    struct esp_out out; /* if reason <= ESP_ASKED */
    struct esp_pass pass;
};

/*
 * Processes a frame of len octets, followed by ESP_FRAME_SLACK more, that arrived at a port. False:
 * it is not ours. Otherwise it was counted, and *outcome says what to do: up to ESP_ASKED the frame
 * is forwarded as it is now, with its hop count decremented if it leaves this host. The caller
 * passes management packets to the process (esp_is_for_process).
 */
bool esp_user_gate(struct esp_ground *ground, uint8_t *frame, uint32_t len, uint32_t port,
                   struct esp_outcome *outcome);

/* Recounts a frame that could not be sent, under the reason. */
void esp_user_unsent(struct esp_ground *ground, const struct esp_outcome *outcome,
                     enum esp_reason why);

/* The clock of this router: coarse, like the kernel's clock for XDP. */
uint64_t esp_user_now_ns(const struct esp_config *config);

#endif
