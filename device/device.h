/*
 * Devices that compute beside the processor, by OpenCL: GPUs, and processors through PoCL.
 *
 *     leat_devices_find --> a list --> leat_device_open --> device_net.h runs networks on it
 */
#ifndef LEAT_DEVICE_LIST_H
#define LEAT_DEVICE_LIST_H

#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_DEVICES_MAX = 32, LEAT_DEVICE_NAME_CAP = 96 };

struct leat_device_info {
    char name[LEAT_DEVICE_NAME_CAP];
    char platform[LEAT_DEVICE_NAME_CAP];
    char driver[LEAT_DEVICE_NAME_CAP];
    bool is_gpu, is_processor;
    const char *lacks;         /* why leat cannot use it; NULL: it can */
    uint64_t memory;           /* octets */
    uint64_t allocation_max;   /* of one buffer */
    uint64_t close_memory;     /* of a group of threads; 0: none of its own */
    uint32_t units, group_max; /* threads of a group */
    void *id;                  /* OpenCL's */
};

/* Returns how many there are, numbered from 0 in OpenCL's order. 0: none, and `why` says what is
 * missing. */
uint32_t leat_devices_find(struct leat_device_info *out, uint32_t cap, struct leat_text *why);

struct leat_device;

/* NULL after an error, which `why` tells. */
struct leat_device *leat_device_open(const struct leat_device_info *info, struct leat_text *why);
void leat_device_close(struct leat_device *device);

#endif
