/*
 * OpenCL 1.2, as far as leat uses it: loaded when it is asked for, so that neither the build nor a
 * start of leat needs it. Declared here by its specification (Khronos 2012), without headers of its
 * own.
 */
#ifndef LEAT_OPENCL_H
#define LEAT_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of the specification; names as there, without CL_. */
enum {
    OPENCL_SUCCESS = 0,
    OPENCL_DEVICE_NOT_FOUND = -1,
    OPENCL_PLATFORM_NOT_FOUND = -1001, /* cl_khr_icd */

    OPENCL_PLATFORM_NAME = 0x0902,

    OPENCL_DEVICE_TYPE = 0x1000,
    OPENCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    OPENCL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    OPENCL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    OPENCL_DEVICE_LOCAL_MEM_TYPE = 0x1022,
    OPENCL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    OPENCL_DEVICE_ENDIAN_LITTLE = 0x1026,
    OPENCL_DEVICE_AVAILABLE = 0x1027,
    OPENCL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    OPENCL_DEVICE_NAME = 0x102B,
    OPENCL_DRIVER_VERSION = 0x102D,
    OPENCL_DEVICE_VERSION = 0x102F,

    OPENCL_DEVICE_TYPE_CPU = 1 << 1,
    OPENCL_DEVICE_TYPE_GPU = 1 << 2,
    OPENCL_LOCAL = 1, /* local memory of its own */

    OPENCL_PROGRAM_BUILD_LOG = 0x1183,
    OPENCL_MEM_READ_WRITE = 1 << 0,
};

#define OPENCL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

/* Objects of OpenCL are pointers to unknown types. */
#define OPENCL_FUNCTIONS(F)                                                                       \
    F(int32_t, GetPlatformIDs, (uint32_t, void **, uint32_t *))                                   \
    F(int32_t, GetPlatformInfo, (void *, uint32_t, size_t, void *, size_t *))                     \
    F(int32_t, GetDeviceIDs, (void *, uint64_t, uint32_t, void **, uint32_t *))                   \
    F(int32_t, GetDeviceInfo, (void *, uint32_t, size_t, void *, size_t *))                       \
    F(void *, CreateContext,                                                                      \
      (const intptr_t *, uint32_t, void *const *,                                                 \
       void (*)(const char *, const void *, size_t, void *), void *, int32_t *))                  \
    F(int32_t, ReleaseContext, (void *))                                                          \
    F(void *, CreateCommandQueue, (void *, void *, uint64_t, int32_t *))                          \
    F(int32_t, ReleaseCommandQueue, (void *))                                                     \
    F(void *, CreateProgramWithSource,                                                            \
      (void *, uint32_t, const char **, const size_t *, int32_t *))                               \
    F(int32_t, BuildProgram,                                                                      \
      (void *, uint32_t, void *const *, const char *, void (*)(void *, void *), void *))          \
    F(int32_t, GetProgramBuildInfo, (void *, void *, uint32_t, size_t, void *, size_t *))         \
    F(int32_t, ReleaseProgram, (void *))                                                          \
    F(void *, CreateKernel, (void *, const char *, int32_t *))                                    \
    F(int32_t, SetKernelArg, (void *, uint32_t, size_t, const void *))                            \
    F(int32_t, ReleaseKernel, (void *))                                                           \
    F(void *, CreateBuffer, (void *, uint64_t, size_t, void *, int32_t *))                        \
    F(int32_t, ReleaseMemObject, (void *))                                                        \
    F(int32_t, EnqueueWriteBuffer,                                                                \
      (void *, void *, uint32_t, size_t, size_t, const void *, uint32_t, void *const *, void **)) \
    F(int32_t, EnqueueReadBuffer,                                                                 \
      (void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *const *, void **))       \
    F(int32_t, EnqueueFillBuffer,                                                                 \
      (void *, void *, const void *, size_t, size_t, size_t, uint32_t, void *const *, void **))   \
    F(int32_t, EnqueueNDRangeKernel,                                                              \
      (void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,        \
       void *const *, void **))                                                                   \
    F(int32_t, Finish, (void *))

struct opencl {
#define OPENCL_MEMBER(type, name, parameters) type(*name) parameters;
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
#undef OPENCL_MEMBER
};

/* The functions; NULL: there is no OpenCL here, and *why says what is missing. */
const struct opencl *opencl_load(const char **why);

/* What an error means. */
const char *opencl_error(int32_t error);

#endif
