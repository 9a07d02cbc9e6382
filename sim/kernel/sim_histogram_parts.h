/* The bin of a value; devices compile it too (core/leat_device.h). Internal. */
#ifndef LEAT_SIM_HISTOGRAM_PARTS_H
#define LEAT_SIM_HISTOGRAM_PARTS_H

#include "leat_device.h"

enum {
    LEAT_SIM_HISTOGRAM_EXACT_BITS = 12,
    LEAT_SIM_HISTOGRAM_STEP_BITS = 8,
    LEAT_SIM_HISTOGRAM_EXACT = 1 << LEAT_SIM_HISTOGRAM_EXACT_BITS,
};

static inline uint32_t leat_sim_histogram_bin(uint64_t value)
{
    if (value < LEAT_SIM_HISTOGRAM_EXACT) return (uint32_t)value;
    const uint32_t top = leat_device_highest(value);
    const uint32_t step = (uint32_t)(value >> (top - LEAT_SIM_HISTOGRAM_STEP_BITS)) &
                          ((1u << LEAT_SIM_HISTOGRAM_STEP_BITS) - 1);
    return LEAT_SIM_HISTOGRAM_EXACT +
           ((top - LEAT_SIM_HISTOGRAM_EXACT_BITS) << LEAT_SIM_HISTOGRAM_STEP_BITS) + step;
}

#endif
