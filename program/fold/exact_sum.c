#include "exact_sum.h"
#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

enum {
    FRACTION_BITS = 52,
    EXPONENT_NONE = 2047,     /* of infinities, and numbers that are none */
    EXPONENT_OF_BIT_0 = 1075, /* a double is m 2^(e - 1075), m with 53 bits */
    BITS = 96,
    WORD_BITS = 32,
    SHIFT = BITS - FRACTION_BITS - 1,
};

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Denormal numbers have that of the smallest normal ones. */
uint64_t leat_exact_sum_exponent(double number)
{
    const uint64_t bits = bits_of(number), exponent = bits >> FRACTION_BITS & EXPONENT_NONE;
    if (!(bits << 1)) return 0;
    return exponent ? exponent : 1;
}

static uint64_t mantissa_of(double number)
{
    const uint64_t bits = bits_of(number), one = UINT64_C(1) << FRACTION_BITS;
    const bool is_denormal = !(bits >> FRACTION_BITS & EXPONENT_NONE);
    return (bits & (one - 1)) | (is_denormal ? 0 : one);
}

static void count_special(double number, uint64_t word[LEAT_EXACT_SUM_WORDS])
{
    const uint64_t bits = bits_of(number), infinity = bits_of(INFINITY);
    word[0] = bits << 1 > infinity << 1;
    word[1] = bits == infinity;
    word[2] = bits == bits_of(-INFINITY);
}

void leat_exact_sum_split(double number, uint64_t largest, uint64_t word[LEAT_EXACT_SUM_WORDS])
{
    const uint64_t below = largest - leat_exact_sum_exponent(number);
    if (largest == EXPONENT_NONE) {
        count_special(number, word);
        return;
    }
    const unsigned_wide all = below < BITS ? (unsigned_wide)mantissa_of(number) << SHIFT >> below
                                           : 0;
    for (int i = 0; i < LEAT_EXACT_SUM_WORDS; i++) {
        const uint64_t piece = (uint32_t)(all >> (LEAT_EXACT_SUM_WORDS - 1 - i) * WORD_BITS);
        word[i] = number < 0 ? -piece : piece;
    }
}

static int highest_bit(unsigned_wide number)
{
    int bit = -1;
    for (; number; number >>= 1)
        bit++;
    return bit;
}

/* number 2^exponent, to the nearest that has `bits` bits and none below 2^lowest. */
static double rounded(unsigned_wide number, int exponent, int bits, int lowest)
{
    const int top = highest_bit(number) + exponent;
    const int last = top - (bits - 1) > lowest ? top - (bits - 1) : lowest;
    const int drop = last - exponent;
    if (drop <= 0) return ldexp((double)(uint64_t)number, exponent);
    if (drop > 127) return 0;
    const unsigned_wide half = (unsigned_wide)1 << (drop - 1), rest = number & (2 * half - 1);
    uint64_t kept = (uint64_t)(number >> drop);
    kept += rest > half || (rest == half && kept & 1);
    return ldexp((double)kept, last);
}

double leat_exact_sum_value(const uint64_t word[LEAT_EXACT_SUM_WORDS], uint64_t largest,
                            bool is_float)
{
    if (largest == EXPONENT_NONE) {
        if (word[0] || (word[1] && word[2])) return NAN;
        return word[1] ? INFINITY : -INFINITY;
    }
    wide sum = 0;
    for (int i = 0; i < LEAT_EXACT_SUM_WORDS; i++)
        sum = sum * ((wide)1 << WORD_BITS) + (int64_t)word[i];
    const unsigned_wide magnitude = sum < 0 ? -(unsigned_wide)sum : (unsigned_wide)sum;
    const int exponent = (int)largest - EXPONENT_OF_BIT_0 - SHIFT;
    const double value = is_float ? rounded(magnitude, exponent, 24, -149)
                                  : rounded(magnitude, exponent, 53, -1074);
    return sum < 0 ? -value : value;
}
