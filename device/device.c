#include "device_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool leat_device_fail(struct leat_text *why, const char *what, int32_t error)
{
    leat_text_puts(why, what);
    leat_text_puts(why, ": ");
    leat_text_puts(why, opencl_error(error));
    return false;
}

/* ---- the list -------------------------------------------------------------------------------- */

static uint64_t number_of(const struct opencl *cl, void *id, uint32_t what, size_t size)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (size == sizeof narrow) {
        cl->GetDeviceInfo(id, what, size, &narrow, NULL);
        return narrow;
    }
    cl->GetDeviceInfo(id, what, size, &wide, NULL);
    return wide;
}

/* A version is "OpenCL 1.2 ...". */
static bool is_older(const char *version)
{
    unsigned major = 0, minor = 0;
    return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 && major * 10 + minor < 12;
}

static const char *find_lack(const struct opencl *cl, void *id)
{
    char version[LEAT_DEVICE_NAME_CAP] = "";
    cl->GetDeviceInfo(id, OPENCL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    if (!number_of(cl, id, OPENCL_DEVICE_AVAILABLE, sizeof(uint32_t))) return "it is not available";
    if (!number_of(cl, id, OPENCL_DEVICE_COMPILER_AVAILABLE, sizeof(uint32_t)))
        return "it has no compiler";
    if (!number_of(cl, id, OPENCL_DEVICE_ENDIAN_LITTLE, sizeof(uint32_t)))
        return "it is big-endian";
    return is_older(version) ? "it is older than OpenCL 1.2" : NULL;
}

static void describe(const struct opencl *cl, void *platform, void *id,
                     struct leat_device_info *out)
{
    *out = (struct leat_device_info){ .id = id, .lacks = find_lack(cl, id) };
    const uint64_t type = number_of(cl, id, OPENCL_DEVICE_TYPE, sizeof(uint64_t));
    const size_t cap = LEAT_DEVICE_NAME_CAP - 1;
    cl->GetDeviceInfo(id, OPENCL_DEVICE_NAME, cap, out->name, NULL);
    cl->GetDeviceInfo(id, OPENCL_DRIVER_VERSION, cap, out->driver, NULL);
    cl->GetPlatformInfo(platform, OPENCL_PLATFORM_NAME, cap, out->platform, NULL);
    out->is_gpu = type & OPENCL_DEVICE_TYPE_GPU;
    out->is_processor = type & OPENCL_DEVICE_TYPE_CPU;
    out->memory = number_of(cl, id, OPENCL_DEVICE_GLOBAL_MEM_SIZE, sizeof(uint64_t));
    out->allocation_max = number_of(cl, id, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(uint64_t));
    if (number_of(cl, id, OPENCL_DEVICE_LOCAL_MEM_TYPE, sizeof(uint32_t)) == OPENCL_LOCAL)
        out->close_memory = number_of(cl, id, OPENCL_DEVICE_LOCAL_MEM_SIZE, sizeof(uint64_t));
    out->units = (uint32_t)number_of(cl, id, OPENCL_DEVICE_MAX_COMPUTE_UNITS, sizeof(uint32_t));
    out->group_max = (uint32_t)number_of(cl, id, OPENCL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
}

uint32_t leat_devices_find(struct leat_device_info *out, uint32_t cap, struct leat_text *why)
{
    const char *reason;
    const struct opencl *cl = opencl_load(&reason);
    void *platform[LEAT_DEVICES_MAX], *id[LEAT_DEVICES_MAX];
    uint32_t platforms = 0, count = 0;
    if (!cl) {
        leat_text_puts(why, reason);
        return 0;
    }
    const int32_t error = cl->GetPlatformIDs(LEAT_DEVICES_MAX, platform, &platforms);
    if (error && error != OPENCL_PLATFORM_NOT_FOUND)
        leat_device_fail(why, "OpenCL's platforms", error);
    else if (error || !platforms)
        leat_text_puts(why, opencl_error(OPENCL_PLATFORM_NOT_FOUND));
    if (error) return 0;
    for (uint32_t p = 0; p < platforms && p < LEAT_DEVICES_MAX; p++) {
        uint32_t devices = 0;
        if (cl->GetDeviceIDs(platform[p], OPENCL_DEVICE_TYPE_ALL, LEAT_DEVICES_MAX, id, &devices))
            continue;
        for (uint32_t i = 0; i < devices && i < LEAT_DEVICES_MAX && count < cap; i++)
            describe(cl, platform[p], id[i], &out[count++]);
    }
    if (!count) leat_text_puts(why, "OpenCL knows no device");
    return count;
}

/* ---- one of them ----------------------------------------------------------------------------- */

struct leat_device *leat_device_open(const struct leat_device_info *info, struct leat_text *why)
{
    const char *reason;
    struct leat_device *device = calloc(1, sizeof *device);
    int32_t error = 0;
    if (!device) {
        leat_text_puts(why, "no memory");
        return NULL;
    }
    device->cl = opencl_load(&reason);
    device->info = *info;
    if (info->lacks || !device->cl) {
        leat_text_puts(why, info->lacks ? info->lacks : reason);
        free(device);
        return NULL;
    }
    device->context = device->cl->CreateContext(NULL, 1, &device->info.id, NULL, NULL, &error);
    if (!error)
        device->queue = device->cl->CreateCommandQueue(device->context, info->id, 0, &error);
    if (!error) return device;
    leat_device_fail(why, info->name, error);
    leat_device_close(device);
    return NULL;
}

void leat_device_close(struct leat_device *device)
{
    if (!device) return;
    if (device->queue) device->cl->ReleaseCommandQueue(device->queue);
    if (device->context) device->cl->ReleaseContext(device->context);
    free(device);
}
