/* Shared by the files of this layer. Internal. */
#ifndef LEAT_DEVICE_PARTS_H
#define LEAT_DEVICE_PARTS_H

#include "device.h"
#include "opencl.h"

struct leat_device {
    const struct opencl *cl;
    struct leat_device_info info;
    void *context, *queue;
};

/* The program of networks, line by line; its lines end with NULL. Made by the build from the
 * headers that it shares with the processor, and net.cl. */
extern const char *const leat_device_net_text[];

/* Says what was tried and what OpenCL answered; false. */
bool leat_device_fail(struct leat_text *why, const char *what, int32_t error);

#endif
