/* A rate limit per key: bounds the messages that others can make a node send. */
#ifndef LEAT_PACKETWAY_LIMIT_H
#define LEAT_PACKETWAY_LIMIT_H

#include "packetway_codes.h"
#include <leat/packetway.h>
#include <leat/time.h>
#include <stdbool.h>

enum {
    LEAT_PACKETWAY_ERR_PER_S = 10, /* per SA (spec 5.7) */
};

/* At most this many per second. A slot used by another key in the same second is closed. */
static inline bool leat_packetway_window_open(struct leat_packetway_window *w, uint32_t key,
                                              uint32_t per_second, leat_time now)
{
    const uint64_t second = now / LEAT_PACKETWAY_SECOND;
    if (w->second != second || !w->count) {
        *w = (struct leat_packetway_window){ .key = key, .count = 1, .second = second };
        return true;
    }
    if (w->key != key || w->count == per_second) return false;
    w->count++;
    return true;
}

/* Index of the window for two numbers. */
static inline uint32_t leat_packetway_limit_slot(uint32_t a, uint32_t b)
{
    return ((a * UINT32_C(0x9E3779B1)) ^ (b * UINT32_C(0x85EBCA6B))) >> 24;
}

#endif
