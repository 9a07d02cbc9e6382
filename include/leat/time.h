/*
 * Time is a number that the caller passes in. Nothing below live/ reads a clock.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_TIME_H
#define LEAT_TIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t leat_time; /* picoseconds since the run began: 213 days */
#define LEAT_NEVER UINT64_MAX

/* Saturates at LEAT_NEVER, so a deadline can never wrap into the past. */
static inline leat_time leat_time_add(leat_time at, leat_time span_ps)
{
    return span_ps > LEAT_NEVER - at ? LEAT_NEVER : at + span_ps;
}

/* The smaller of two numbers: times, cycles or counts. */
static inline uint64_t leat_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The larger of two numbers. */
static inline uint64_t leat_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#ifdef __cplusplus
}
#endif

#endif
