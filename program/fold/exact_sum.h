/*
 * Sums of real numbers that do not depend on the order, nor on how the numbers are spread over
 * ranks: each is cut into integers, whose sums are exact.
 *
 *     largest = the largest exponent of all numbers, E         (a fold: MAX)
 *     number  = m 2^(e - E), a fraction with 96 bits:  | 32 bits | 32 bits | 32 bits |   (SUM each)
 *                                                        word 0    word 1    word 2
 *
 * Bits of a number below 2^(E - 95) are cut off, towards 0. So the result differs from the exact
 * sum of n numbers, of which x has the largest magnitude, by less than n |x| 2^-94, and by half a
 * unit of its last place for the final rounding. At most 2^30 numbers.
 *
 * Infinities and numbers that are none have the largest exponent; then the words count them: such
 * numbers, +infinity, -infinity.
 */
#ifndef LEAT_EXACT_SUM_H
#define LEAT_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

enum { LEAT_EXACT_SUM_WORDS = 3 };

/* What the largest of is needed. */
uint64_t leat_exact_sum_exponent(double number);
/* The words of a number, once the largest exponent is known. */
void leat_exact_sum_split(double number, uint64_t largest, uint64_t word[LEAT_EXACT_SUM_WORDS]);
/* The sum, from the sums of all words; rounded to the nearest float or double, ties to even. */
double leat_exact_sum_value(const uint64_t word[LEAT_EXACT_SUM_WORDS], uint64_t largest,
                            bool is_float);

#endif
