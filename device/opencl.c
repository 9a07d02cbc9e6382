#include "opencl.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char library[] = "libOpenCL.so.1";

/* A pointer to data becomes one to a function, which C does not convert but POSIX permits. */
static bool find(void *from, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(from, name);
    if (symbol) memcpy(function, &symbol, size);
    return symbol != NULL;
}

const struct opencl *opencl_load(const char **why)
{
    static struct opencl functions;
    static char reason[200];
    void *from = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    *why = reason;
    if (!from) {
        snprintf(reason, sizeof reason, "%s is missing (Debian: ocl-icd-libopencl1)", library);
        return NULL;
    }
#define FIND(type, name, parameters)                                                            \
    if (!find(from, "cl" #name, &functions.name, sizeof functions.name)) {                      \
        snprintf(reason, sizeof reason, "%s has no cl%s, expected OpenCL 1.2", library, #name); \
        return NULL;                                                                            \
    }
    OPENCL_FUNCTIONS(FIND)
#undef FIND
    return &functions;
}

const char *opencl_error(int32_t error)
{
    static const struct {
        int32_t error;
        const char *text;
    } known[] = {
        { -1, "no device found" },
        { -2, "the device is not available" },
        { -3, "there is no compiler" },
        { -4, "no memory on the device" },
        { -5, "out of resources: the device ended the work, or lost it" },
        { -6, "no memory" },
        { -11, "the program does not compile" },
        { -36, "the device is lost" },
        { -52, "a kernel lacks arguments" },
        { -54, "groups of this size are not possible" },
        { -55, "items of this size are not possible" },
        { -61, "a buffer of this size is not possible" },
        { -1001, "no driver found (/etc/OpenCL/vendors, or OCL_ICD_VENDORS)" },
        { -9999, "an illegal access on the device" },
    };
    static char number[40];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) return known[i].text;
    snprintf(number, sizeof number, "OpenCL error %d", (int)error);
    return number;
}
