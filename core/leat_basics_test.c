/* Small parts that share one test file: octets, errors, time, arena, ring, fingerprint. */
#include "leat_arena.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include "leat_fingerprint.h"
#include "leat_ring.h"
#include "tap.h"
#include <leat/random.h>
#include <leat/time.h>
#include <stdalign.h>
#include <string.h>

static void octets_go_in_and_out_in_both_orders(void)
{
    uint8_t b[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    EQ(leat_get_be16(b), 0x0102);
    EQ(leat_get_be24(b), 0x010203);
    EQ(leat_get_be32(b), 0x01020304);
    EQ(leat_get_be64(b), 0x0102030405060708);
    EQ(leat_get_le16(b), 0x0201);
    EQ(leat_get_le32(b), 0x04030201);
    EQ(leat_get_le64(b), 0x0807060504030201);
    leat_put_be16(b, 0x1122);
    EQ(leat_get_le16(b), 0x2211);
    leat_put_be24(b, 0x334455);
    EQ(leat_get_be24(b), 0x334455);
    leat_put_be32(b, 0x66778899);
    EQ(leat_get_le32(b), 0x99887766);
    leat_put_be64(b, 0x0123456789abcdef);
    EQ(leat_get_le64(b), (long long)0xefcdab8967452301);
    leat_put_le16(b, 0x1122);
    EQ(leat_get_be16(b), 0x2211);
    leat_put_le32(b, 0x33445566);
    EQ(leat_get_be32(b), 0x66554433);
    leat_put_le64(b, 0x0123456789abcdef);
    EQ(leat_get_be64(b), (long long)0xefcdab8967452301);
}

static void the_width_of_a_number_is_the_place_of_its_highest_bit(void)
{
    EQ(leat_bit_width(0), 0);
    for (unsigned bits = 1; bits <= 64; bits++) {
        EQ(leat_bit_width(UINT64_C(1) << (bits - 1)), bits);
        EQ(leat_bit_width(UINT64_MAX >> (64 - bits)), bits);
    }
}

static void bits_are_counted_from_the_most_significant(void)
{
    uint8_t b[2] = { 0x80, 0x01 };
    EQ(leat_bit_get(b, 0), 1);
    EQ(leat_bit_get(b, 1), 0);
    EQ(leat_bit_get(b, 15), 1);
    leat_bit_put(b, 1, 1);
    leat_bit_put(b, 15, 0);
    EQ(leat_get_be16(b), 0xc000);
    EQ(leat_bits(0xabcd, 4, 8), 0xbc);
    OK(leat_fits(255, 8) && !leat_fits(256, 8) && leat_fits(UINT64_MAX, 64));
}

static void every_error_has_a_name_and_a_text_of_its_own(void)
{
    for (leat_err i = LEAT_ERR_OK; i < LEAT_ERR_COUNT; i++) {
        OK(strlen(leat_err_name(i)) > 0 && strlen(leat_err_text(i)) > 0);
        for (leat_err k = LEAT_ERR_OK; k < i; k++)
            OK(strcmp(leat_err_name(i), leat_err_name(k)) != 0);
    }
    OK(strcmp(leat_err_name(LEAT_ERR_CHECKSUM), "CHECKSUM") == 0);
    OK(strcmp(leat_err_text((leat_err)-1), "unknown error") == 0);
    OK(strcmp(leat_err_name(LEAT_ERR_COUNT), "UNKNOWN") == 0);
}

static void a_refusal_has_an_offset_if_wanted(void)
{
    size_t at = 7;
    EQ(leat_fault(LEAT_ERR_SHORT, 3, &at), LEAT_ERR_SHORT);
    EQ(at, 3);
    EQ(leat_fault(LEAT_ERR_RANGE, 3, NULL), LEAT_ERR_RANGE);
}

static void deadlines_saturate(void)
{
    EQ(leat_time_add(5, 7), 12);
    OK(leat_time_add(UINT64_MAX - 1, 5) == LEAT_NEVER);
    OK(leat_time_add(LEAT_NEVER, 0) == LEAT_NEVER);
}

static void one_of_two_numbers_is_smaller_and_one_larger(void)
{
    OK(leat_smaller(1, UINT64_MAX) == 1 && leat_smaller(UINT64_MAX, 1) == 1);
    OK(leat_larger(1, UINT64_MAX) == UINT64_MAX && leat_larger(UINT64_MAX, 1) == UINT64_MAX);
    OK(leat_smaller(3, 3) == 3 && leat_larger(3, 3) == 3);
}

static void an_arena_without_memory_measures_what_one_with_memory_lays(void)
{
    static _Alignas(max_align_t) uint8_t memory[256];
    struct leat_arena measure = { 0 }, earnest = { .memory = memory, .cap = sizeof memory };
    OK(leat_arena_lay(&measure, 5, 3) == NULL);
    OK(leat_arena_lay(&measure, 2, 8) == NULL);
    uint8_t *first = leat_arena_lay(&earnest, 5, 3), *second = leat_arena_lay(&earnest, 2, 8);
    EQ(measure.used, earnest.used);
    OK(first == memory && second >= first + 15 && second + 16 == memory + earnest.used);
    EQ((uintptr_t)second % _Alignof(max_align_t), 0);
}

static void lines_of_an_arena_begin_where_lines_of_the_cache_do(void)
{
    static _Alignas(LEAT_ARENA_LINE) uint8_t memory[1024];
    for (size_t shift = 0; shift < LEAT_ARENA_LINE; shift++) {
        struct leat_arena measure = { 0 };
        struct leat_arena earnest = { .memory = memory + shift, .cap = sizeof memory - shift };
        OK(leat_arena_lay_lines(&measure, 3, 64) == NULL);
        const uint8_t *lines = leat_arena_lay_lines(&earnest, 3, 64);
        EQ(measure.used, earnest.used);
        EQ((uintptr_t)lines % LEAT_ARENA_LINE, 0);
        OK(lines >= earnest.memory && lines + 3 * 64 <= earnest.memory + earnest.used);
        leat_arena_fetch(lines); /* a hint, for any address */
        leat_arena_fetch(NULL);
    }
}

static void an_arena_gives_aligned_zeroed_memory_until_it_is_spent(void)
{
    alignas(max_align_t) uint8_t memory[256];
    memset(memory, 0xff, sizeof memory);
    struct leat_arena a;
    leat_arena_init(&a, memory, sizeof memory);
    OK(leat_arena_take_octets(&a, 3) == memory);
    uint8_t *p = leat_arena_take(&a, 10);
    OK((uintptr_t)p % alignof(max_align_t) == 0 && p[0] == 0 && p[9] == 0);
    OK(leat_arena_take(&a, 256) == NULL);
    OK(leat_arena_take_octets(&a, sizeof memory - a.used) != NULL);
    OK(leat_arena_take_octets(&a, 1) == NULL);
    OK(leat_arena_take(&a, 0) == NULL || a.used == sizeof memory);
}

/* Compared with a plain queue that never wraps. */
static void a_ring_is_a_bounded_queue(void)
{
    enum { CAPACITY = 7, STEPS = 20000 };
    static uint32_t model[STEPS];
    uint32_t memory[CAPACITY];
    size_t first = 0, last = 0;
    struct leat_ring ring;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    EQ(leat_ring_init(&ring, memory, sizeof memory, sizeof *memory, CAPACITY), LEAT_ERR_OK);
    for (int i = 0; i < STEPS; i++) {
        uint32_t item = (uint32_t)i;
        if (leat_random_below(&r, 2)) {
            const bool pushed = leat_ring_push(&ring, &item);
            EQ(pushed, last - first < CAPACITY);
            if (pushed) model[last++] = item;
        } else {
            const bool popped = leat_ring_pop(&ring, &item);
            EQ(popped, first < last);
            if (popped) EQ(item, model[first++]);
        }
        EQ(leat_ring_count(&ring), last - first);
    }
}

static void a_ring_refuses_memory_that_is_too_small(void)
{
    uint8_t memory[8];
    struct leat_ring ring;
    EQ(leat_ring_init(&ring, memory, 8, 4, 3), LEAT_ERR_MEMORY);
    EQ(leat_ring_init(&ring, memory, 8, SIZE_MAX, 2), LEAT_ERR_MEMORY);
    EQ(leat_ring_init(&ring, memory, 8, 0, 3), LEAT_ERR_RANGE);
    EQ(leat_ring_init(&ring, memory, 8, 4, 0), LEAT_ERR_RANGE);
    EQ(leat_ring_init(&ring, memory, 8, 4, 2), LEAT_ERR_OK);
}

/* A state with a time that always matters, a time from which on something may happen, and a
 * number. */
static bool fingerprint_of(struct leat_fingerprint *l, uint64_t at, uint64_t from, uint64_t now)
{
    leat_fingerprint_put_time(l, at, now);
    leat_fingerprint_put_from(l, from, now);
    leat_fingerprint_put(l, 7);
    return leat_fingerprint_holds(l);
}

static bool is_like(uint64_t *word, size_t count, uint64_t at, uint64_t from, uint64_t now)
{
    struct leat_fingerprint l = { .word = word, .cap = count, .compares = true };
    return fingerprint_of(&l, at, from, now);
}

static void fingerprints_are_equal_when_the_same_future_follows(void)
{
    uint64_t word[4];
    struct leat_fingerprint l = { .word = word, .cap = 4 };
    OK(fingerprint_of(&l, 90, 50, 100));
    EQ(l.count, 3);
    OK(is_like(word, 3, 90, 50, 100));
    OK(is_like(word, 3, 1090, 1050, 1100));
    OK(is_like(word, 3, 1090, 1099, 1100)); /* past times are equal, ... */
    OK(!is_like(word, 3, 1090, 1100, 1100));
    OK(!is_like(word, 3, 1091, 1050, 1100)); /* ... but not one that always matters */
    OK(!is_like(word, 3, LEAT_NEVER, 1050, 1100));
    OK(!is_like(word, 4, 90, 50, 100)); /* it has more words */
    OK(!is_like(word, 2, 90, 50, 100));
    l = (struct leat_fingerprint){ .word = word, .cap = 2 };
    OK(!fingerprint_of(&l, 90, 50, 100)); /* no room */
    l = (struct leat_fingerprint){ .word = word, .cap = 4 };
    leat_fingerprint_fail(&l);
    OK(!fingerprint_of(&l, 90, 50, 100));
    l = (struct leat_fingerprint){ .word = word, .cap = 4 };
    OK(fingerprint_of(&l, LEAT_NEVER, LEAT_NEVER, 100));
    OK(is_like(word, 3, LEAT_NEVER, LEAT_NEVER, 200));
}

TAP_MAIN(T(octets_go_in_and_out_in_both_orders), T(bits_are_counted_from_the_most_significant),
         T(the_width_of_a_number_is_the_place_of_its_highest_bit),
         T(every_error_has_a_name_and_a_text_of_its_own), T(a_refusal_has_an_offset_if_wanted),
         T(deadlines_saturate), T(one_of_two_numbers_is_smaller_and_one_larger),
         T(an_arena_gives_aligned_zeroed_memory_until_it_is_spent),
         T(an_arena_without_memory_measures_what_one_with_memory_lays),
         T(lines_of_an_arena_begin_where_lines_of_the_cache_do), T(a_ring_is_a_bounded_queue),
         T(a_ring_refuses_memory_that_is_too_small),
         T(fingerprints_are_equal_when_the_same_future_follows))
