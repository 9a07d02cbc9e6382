#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* splitmix64 of state 0: the first outputs its authors publish. */
static void splitmix_gives_the_published_numbers(void)
{
    uint64_t state = 0;
    OK(leat_random_splitmix(&state) == UINT64_C(0xe220a8397b1dcdaf));
    OK(leat_random_splitmix(&state) == UINT64_C(0x6e789e6aa1b965f4));
    OK(leat_random_splitmix(&state) == UINT64_C(0x06c45d188009454f));
}

/* spec/poets.md, V21 */
static void seed_one_gives_the_numbers_of_the_note(void)
{
    static const uint64_t want[] = { UINT64_C(0xb3f2af6d0fc710c5), UINT64_C(0x853b559647364cea),
                                     UINT64_C(0x92f89756082a4514), UINT64_C(0x642e1c7bc266a3a7) };
    static const int picks[] = { 7, 5, 5, 3, 6, 1, 0, 3, 8, 5 };
    struct leat_random r;
    leat_random_seed(&r, 1);
    for (int i = 0; i < 4; i++)
        OK(leat_random_next(&r) == want[i]);
    leat_random_seed(&r, 1);
    for (int i = 0; i < 10; i++)
        EQ(leat_random_below(&r, 10), picks[i]);
}

/* The high half of a 64 x 64 product, one bit of the factor at a time. */
static uint64_t high_product(uint64_t a, uint64_t b)
{
    uint64_t high = 0, low = 0;
    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (b >> i & 1) {
            low += a;
            high += low < a;
        }
    }
    return high;
}

static void below_is_the_high_half_of_the_product(void)
{
    struct leat_random r, twin;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 20000; i++) {
        uint64_t bound = leat_random_next(&r);
        bound >>= leat_random_below(&r, 64);
        twin = r;
        EQ(leat_random_below(&r, bound), high_product(leat_random_next(&twin), bound));
    }
    EQ(leat_random_below(&r, 0), 0);
    EQ(leat_random_below(&r, 1), 0);
}

static void entities_have_streams_of_their_own(void)
{
    struct leat_random a, b, plain;
    leat_random_seed_entity(&a, 5, 1);
    leat_random_seed_entity(&b, 5, 2);
    const uint64_t of_a = leat_random_next(&a), of_b = leat_random_next(&b);
    OK(of_a != of_b);
    leat_random_seed_entity(&a, 5, 0);
    leat_random_seed(&plain, 5);
    EQ(leat_random_next(&a), leat_random_next(&plain));
}

static void fill_writes_the_requested_octets_and_no_more(void)
{
    struct leat_random r;
    for (size_t len = 0; len < 40; len++) {
        uint8_t a[41], b[41];
        memset(a, 0xaa, sizeof a);
        leat_random_seed(&r, 1);
        leat_random_fill(&r, a, len);
        EQ(a[len], 0xaa);
        leat_random_seed(&r, 1);
        leat_random_fill(&r, b, sizeof b);
        OK(memcmp(a, b, len) == 0); /* a longer fill begins the same */
    }
}

TAP_MAIN(T(splitmix_gives_the_published_numbers), T(seed_one_gives_the_numbers_of_the_note),
         T(below_is_the_high_half_of_the_product), T(entities_have_streams_of_their_own),
         T(fill_writes_the_requested_octets_and_no_more))
