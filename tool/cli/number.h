/* Numbers as users write them. */
#ifndef LEAT_NUMBER_H
#define LEAT_NUMBER_H

#include "tool.h"
#include <stdint.h>

/* The value of an option: a whole number within limits; *out keeps its value if the option is
 * absent. False after a complaint. */
bool number_take(const struct arguments *args, const char *option, uint64_t least, uint64_t most,
                 uint64_t *out);

/* The same, where 32 bits hold it. */
bool number_take_small(const struct arguments *args, const char *option, uint32_t least,
                       uint32_t most, uint32_t *out);

/* The same with k (1024), M or G behind it. */
bool number_take_amount(const struct arguments *args, const char *option, uint64_t least,
                        uint64_t most, uint64_t *out);

/* "0.25" or "25e-2" in parts of 10^decimals, rounded; whether it is exact (may be NULL). False: it
 * is not a number, more than one, or would round to zero. */
bool number_read_fraction(const char *text, uint32_t decimals, uint32_t *out, bool *exact);

#endif
