/*
 * Folding. Sixteen octets A = H x^64 + L stand D bits ahead of sixteen others B; modulo P,
 *     A x^D + B  =  H (x^(D+64) mod P) + L (x^D mod P) + B,
 * two carry-less products and two sums instead of D steps of division. Four such blocks run side by
 * side (D = 512); at the end they fold into one (D = 128), whose sixteen octets have the CRC of
 * all.
 *
 * In the reflected order a product of two reflected 64-bit numbers comes out multiplied by x, so
 * its constants are x^(D+63) and x^(D-1), reflected, in the upper half of 64 bits.
 */
#include "leat_crc_fold.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdatomic.h>
#include <string.h>

#if defined __aarch64__ && defined __ARM_FEATURE_CRC32 && defined __ARM_FEATURE_AES
#define FOLD 1
#include <arm_acle.h>
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

typedef uint64x2_t vec;

static bool has_instructions(void)
{
    const unsigned long wanted = HWCAP_PMULL | HWCAP_CRC32;
    return (getauxval(AT_HWCAP) & wanted) == wanted;
}

static vec pair(uint64_t low, uint64_t high)
{
    return vcombine_u64(vcreate_u64(low), vcreate_u64(high));
}

static vec load_lsb(const uint8_t *p)
{
    return vreinterpretq_u64_u8(vld1q_u8(p));
}

static vec reversed(vec v)
{
    const uint8x16_t swapped = vrev64q_u8(vreinterpretq_u8_u64(v));
    return vreinterpretq_u64_u8(vextq_u8(swapped, swapped, 8));
}

static void store_lsb(uint8_t *p, vec v)
{
    vst1q_u8(p, vreinterpretq_u8_u64(v));
}

static vec sum(vec a, vec b)
{
    return veorq_u64(a, b);
}

static vec product_low(vec a, vec b)
{
    return vreinterpretq_u64_p128(vmull_p64(vgetq_lane_u64(a, 0), vgetq_lane_u64(b, 0)));
}

static vec product_high(vec a, vec b)
{
    return vreinterpretq_u64_p128(
        vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b)));
}

static uint64_t low_half(vec v)
{
    return vgetq_lane_u64(v, 0);
}

static uint64_t high_half(vec v)
{
    return vgetq_lane_u64(v, 1);
}

/* Below this the instruction for the CRC itself is faster than folding. */
enum { FOLD_LEN_MIN = 128 };

/* The register is plain (no complement); the processor has this CRC as an instruction. */
static uint32_t short_lsb(uint32_t reg, const uint8_t *p, size_t len)
{
    for (; len >= 8; p += 8, len -= 8)
        reg = __crc32d(reg, leat_get_le64(p));
    for (; len; p++, len--)
        reg = __crc32b(reg, *p);
    return reg;
}

/* The same instruction with all bits reversed at input and output. */
static uint32_t short_msb(uint32_t reg, const uint8_t *p, size_t len)
{
    reg = __rbit(reg);
    for (; len >= 8; p += 8, len -= 8)
        reg = __crc32d(reg, __rbitll(leat_get_be64(p)));
    for (; len; p++, len--)
        reg = __crc32b(reg, (uint8_t)(__rbit(*p) >> 24));
    return __rbit(reg);
}

const char *leat_crc_fold_name(void)
{
    return "pmull+crc32";
}

#elif defined __x86_64__ && defined __PCLMUL__ && defined __SSSE3__
#define FOLD 1
#include <immintrin.h>

typedef __m128i vec;

static bool has_instructions(void)
{
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
}

static vec pair(uint64_t low, uint64_t high)
{
    return _mm_set_epi64x((long long)high, (long long)low);
}

static vec load_lsb(const uint8_t *p)
{
    return _mm_loadu_si128((const void *)p);
}

static vec reversed(vec v)
{
    return _mm_shuffle_epi8(v, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

static void store_lsb(uint8_t *p, vec v)
{
    _mm_storeu_si128((void *)p, v);
}

static vec sum(vec a, vec b)
{
    return _mm_xor_si128(a, b);
}

static vec product_low(vec a, vec b)
{
    return _mm_clmulepi64_si128(a, b, 0x00);
}

static vec product_high(vec a, vec b)
{
    return _mm_clmulepi64_si128(a, b, 0x11);
}

static uint64_t low_half(vec v)
{
    return (uint64_t)_mm_cvtsi128_si64(v);
}

static uint64_t high_half(vec v)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v));
}

/* Below this the tables are as fast. */
enum { FOLD_LEN_MIN = 32 };

static uint32_t short_lsb(uint32_t reg, const uint8_t *p, size_t len)
{
    return ~leat_crc32_by_table(~reg, p, len);
}

static uint32_t short_msb(uint32_t reg, const uint8_t *p, size_t len)
{
    return ~leat_crc32_msb_by_table(~reg, p, len);
}

const char *leat_crc_fold_name(void)
{
    return "pclmulqdq";
}
#endif

#ifdef FOLD

enum { LANE = 16, STRIDE = 4 * LANE };

/* Queries the processor once. Two threads that query at the same time get the same answer. */
bool leat_crc_fold_available(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == UNKNOWN) {
        answer = has_instructions() ? YES : NO;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == YES;
}

static vec fold(vec block, vec by, vec onto)
{
    return sum(sum(product_low(block, by), product_high(block, by)), onto);
}

static vec load_msb(const uint8_t *p)
{
    return reversed(load_lsb(p));
}

/*
 * Folds all whole lanes into one; p and len advance. `first` goes into the first octets. A macro,
 * so that the compiler knows the order of loading.
 */
#define FOLD_LANES(load, by512, by128, first)                                         \
    vec one = sum(load(p), first);                                                    \
    if (len >= 2 * STRIDE) {                                                          \
        vec b = load(p + LANE), c = load(p + 2 * LANE), d = load(p + 3 * LANE);       \
        for (p += STRIDE, len -= STRIDE; len >= STRIDE; p += STRIDE, len -= STRIDE) { \
            one = fold(one, by512, load(p));                                          \
            b = fold(b, by512, load(p + LANE));                                       \
            c = fold(c, by512, load(p + 2 * LANE));                                   \
            d = fold(d, by512, load(p + 3 * LANE));                                   \
        }                                                                             \
        one = fold(fold(fold(one, by128, b), by128, c), by128, d);                    \
    } else {                                                                          \
        p += LANE;                                                                    \
        len -= LANE;                                                                  \
    }                                                                                 \
    for (; len >= LANE; p += LANE, len -= LANE)                                       \
    one = fold(one, by128, load(p))

uint32_t leat_crc32_by_fold(uint32_t crc, const void *octets, size_t len)
{
    const uint8_t *p = octets;
    if (len < FOLD_LEN_MIN) return ~short_lsb(~crc, p, len);
    const vec by512 = pair(UINT64_C(0x653d982200000000), UINT64_C(0xcad38e8f00000000));
    const vec by128 = pair(UINT64_C(0x65673b4600000000), UINT64_C(0x9ba54c6f00000000));
    FOLD_LANES(load_lsb, by512, by128, pair(~crc, 0));
    uint8_t block[LANE];
    store_lsb(block, one);
    return ~short_lsb(short_lsb(0, block, LANE), p, len);
}

uint32_t leat_crc32_msb_by_fold(uint32_t crc, const void *octets, size_t len)
{
    const uint8_t *p = octets;
    if (len < FOLD_LEN_MIN) return ~short_msb(~crc, p, len);
    const vec by512 = pair(0xe6228b11, 0x8833794c);
    const vec by128 = pair(0xe8a45605, 0xc5b9cd4c);
    FOLD_LANES(load_msb, by512, by128, pair(0, (uint64_t)(uint32_t)~crc << 32));
    uint8_t block[LANE];
    store_lsb(block, reversed(one));
    return ~short_msb(short_msb(0, block, LANE), p, len);
}

/*
 * A cell's 46 octets are the case that matters: six words, all multiplied at the same time, each by
 * the x^64i of its place. The sum has 80 bits; they become 64, and Barrett's division by two
 * products gives the remainder: q = V x^16 / P, r = the low 16 bits of q P.
 */
enum { WORD = 8, WORDS_MAX = 8, CELL_SEALED_LEN = 46 };

static inline uint16_t crc16_of_words(uint16_t crc, const uint8_t *p, size_t len)
{
    static const uint64_t power[WORDS_MAX] = { 0x0001, 0xb861, 0xaefc, 0x650b,
                                               0x8e29, 0x26aa, 0xcde2, 0x2535 };
    const size_t first_len = (len - 1) % WORD + 1; /* the odd octets come first */
    size_t place = (len - first_len) / WORD;
    const uint64_t first = leat_get_be64(p) >> 8 * (WORD - first_len) ^ (uint64_t)crc
                                                                            << 8 * (first_len - 2);
    vec all = product_low(pair(first, 0), pair(power[place], 0));
    p += first_len;
    if (place % 2) {
        all = sum(all, product_low(pair(leat_get_be64(p), 0), pair(power[--place], 0)));
        p += WORD;
    }
    for (; place; p += LANE, place -= 2) {
        const vec two = load_msb(p), by = pair(power[place - 2], power[place - 1]);
        all = sum(all, sum(product_low(two, by), product_high(two, by)));
    }
    const vec by64 = pair(power[1], 0);
    const uint64_t v = low_half(all) ^ low_half(product_low(pair(high_half(all), 0), by64));
    const uint64_t quotient =
        v ^ high_half(product_low(pair(v, 0), pair(UINT64_C(0x11303471a041b343), 0)));
    return (uint16_t)low_half(product_low(pair(quotient, 0), pair(0x1021, 0)));
}

uint16_t leat_crc16_by_fold(uint16_t crc, const void *octets, size_t len)
{
    if (len == CELL_SEALED_LEN) return crc16_of_words(crc, octets, CELL_SEALED_LEN); /* no loops */
    if (len < LANE || len % WORD == 1 || len > WORD * WORDS_MAX)
        return leat_crc16_by_table(crc, octets, len);
    return crc16_of_words(crc, octets, len);
}

#else /* no such instructions at compile time: leat_crc.c uses its tables */

bool leat_crc_fold_available(void)
{
    return false;
}

const char *leat_crc_fold_name(void)
{
    return "none";
}

uint32_t leat_crc32_by_fold(uint32_t crc, const void *octets, size_t len)
{
    return leat_crc32_by_table(crc, octets, len);
}

uint32_t leat_crc32_msb_by_fold(uint32_t crc, const void *octets, size_t len)
{
    return leat_crc32_msb_by_table(crc, octets, len);
}

uint16_t leat_crc16_by_fold(uint16_t crc, const void *octets, size_t len)
{
    return leat_crc16_by_table(crc, octets, len);
}
#endif
