/* The gate of esp_gate.h in user space. */
#ifndef LEAT_ESP_USER_H
#define LEAT_ESP_USER_H

#include "esp_shared.h"

/* Which way a packet goes on. */
struct esp_out {
    enum esp_way_kind kind;
    uint32_t port; /* it leaves by; ESP_NO_PORT: none of ours */
    uint32_t next; /* which configured next hop says so; ESP_NEXT_MAX: none */
};

/* What the gate works on. */
struct esp_ground {
    struct esp_share *share;
    struct esp_locked_group *group;
    /* The way to an address (as esp_destination gives it); of bare frames 0. */
    struct esp_out (*way)(void *driver, const struct esp_place *at, const uint64_t to[2]);
    void *driver;
};

/* What became of a frame. */
struct esp_outcome {
    enum esp_reason reason;
    struct esp_out out; /* where reason <= ESP_ASKED */
    struct esp_pass pass;
};

/*
 * A frame of len octets, with ESP_FRAME_SLACK more behind it, that came by a port. False: it is not
 * ours. Else it was counted, and *outcome tells what is to be done: up to ESP_ASKED the frame goes
 * on as it is now, with its hop counted if it goes out. Who is told of management packets by
 * esp_is_for_process is the caller.
 */
bool esp_user_gate(struct esp_ground *ground, uint8_t *frame, uint32_t len, uint32_t port,
                   struct esp_outcome *outcome);

/* Counts again what could not be sent: by the reason why. */
void esp_user_unsent(struct esp_ground *ground, const struct esp_outcome *outcome,
                     enum esp_reason why);

/* The clock of this router: coarse, as the kernel's own for XDP. */
uint64_t esp_user_now_ns(const struct esp_config *config);

#endif
