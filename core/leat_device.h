/*
 * For code that a processor and an OpenCL device (OpenCL C 1.2) both compile. Such a header uses no
 * library, no function pointer, no recursion, and no word of OpenCL (as step, any, local). A
 * pointer into shared memory says which:
 *
 *   LEAT_DEVICE_PLAN    what does not change while it runs
 *   LEAT_DEVICE_STATE   small and often used: a device may keep it close to a group of threads
 *   LEAT_DEVICE_STORE   the rest
 */
#ifndef LEAT_DEVICE_H
#define LEAT_DEVICE_H

#ifdef __OPENCL_VERSION__

typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

#define LEAT_API          /* of headers that others use */
#define UINT16_MAX        0xffffu
#define UINT32_MAX        0xffffffffu
#define UINT32_C(number)  number##u
#define UINT64_C(number)  number##ul
#define LEAT_DEVICE_PLAN  __global const
#define LEAT_DEVICE_STORE __global
#ifdef LEAT_DEVICE_NEAR /* as the one who compiles it says */
#define LEAT_DEVICE_STATE __local
#else
#define LEAT_DEVICE_STATE __global
#endif

#define LEAT_DEVICE_ADD(word, value) atomic_add(word, value)
#define LEAT_DEVICE_AND(word, value) atomic_and(word, value)
#define LEAT_DEVICE_OR(word, value)  atomic_or(word, value)
#define LEAT_DEVICE_MAX(word, value) atomic_max(word, value)

static inline uint32_t leat_device_lowest(uint32_t set)
{
    return 31 - clz(set & -set);
}

static inline uint32_t leat_device_highest(uint64_t number)
{
    return 63 - (uint32_t)clz(number);
}

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAT_DEVICE_PLAN const
#define LEAT_DEVICE_STATE
#define LEAT_DEVICE_STORE

/* Change a word that several threads change. ADD returns what it was. */
#define LEAT_DEVICE_ADD(word, value) leat_device_add(word, value)
#define LEAT_DEVICE_AND(word, value) (*(word) &= (value))
#define LEAT_DEVICE_OR(word, value)  (*(word) |= (value))
#define LEAT_DEVICE_MAX(word, value) leat_device_max(word, value)

static inline uint32_t leat_device_add(uint32_t *word, uint32_t value)
{
    const uint32_t before = *word;
    *word += value;
    return before;
}

static inline void leat_device_max(uint32_t *word, uint32_t value)
{
    if (value > *word) *word = value;
}

/* The number of the lowest bit of a set that is not empty. */
static inline uint32_t leat_device_lowest(uint32_t set)
{
    uint32_t bit = 0;
#ifdef __GNUC__
    bit = (uint32_t)__builtin_ctz(set);
#else
    while (!(set >> bit & 1))
        bit++;
#endif
    return bit;
}

/* The number of the highest bit of a number that is not 0. */
static inline uint32_t leat_device_highest(uint64_t number)
{
#ifdef __GNUC__
    return 63 - (uint32_t)__builtin_clzll(number);
#else
    uint32_t bit = 0;
    while (number >> bit > 1)
        bit++;
    return bit;
#endif
}

#endif
#endif
