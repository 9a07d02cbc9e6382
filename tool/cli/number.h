/* Numbers, times and shares as users write them. */
#ifndef LEAT_NUMBER_H
#define LEAT_NUMBER_H

#include "tool.h"
#include <stdint.h>

/* "10000", "1e4", "10k", "1.5M", "64Ki" or "0x40": a whole number. k, M, G and T are powers of
 * 1000, Ki, Mi, Gi and Ti of 1024. Of octets ("64k", "1GiB", "10kB") a bare k, M, G or T is a power
 * of 1024, too. False: it is none. */
bool number_read(const char *text, bool is_octets, uint64_t *out);

/* "0.25" or "25e-2" in parts of 10^decimals, rounded; whether it is exact (may be NULL). False: it
 * is not a number, more than one, or would round to zero. */
bool number_read_fraction(const char *text, uint32_t decimals, uint32_t *out, bool *exact);

/* ---- values of options: *out stays as it is if the option is absent; false after a complaint - */

/* Is this value one that the option may have? (arguments_read has asked this of every value.) */
bool number_check(const struct verb *verb, const struct option *option, const char *text);

/* A count, octets or a time (in picoseconds), as the option's row says. */
bool number_take(const struct arguments *args, const char *option, uint64_t *out);
bool number_take_small(const struct arguments *args, const char *option, uint32_t *out);

/* The same where only the command line as a whole tells the limits. */
bool number_take_within(const struct arguments *args, const char *option, uint64_t least,
                        uint64_t most, uint64_t *out);
bool number_take_small_within(const struct arguments *args, const char *option, uint32_t least,
                              uint32_t most, uint32_t *out);

/* A share in parts of 10^decimals. */
bool number_take_share(const struct arguments *args, const char *option, uint32_t *out);

#endif
