#include "leat_fnv.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static const uint8_t v7[16] = { 0x01, 0x02, 0x00, 0x03, 0x02, 0x03, 0x01, 0x00,
                                0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x3f };

/* V22 of spec/poets.md. */
static void published_hashes(void)
{
    OK(leat_fnv(LEAT_FNV_EMPTY, "", 0) == UINT64_C(0xcbf29ce484222325));
    OK(leat_fnv(LEAT_FNV_EMPTY, "POETS", 5) == UINT64_C(0xd34b968f066e2066));
    OK(leat_fnv(LEAT_FNV_EMPTY, v7, sizeof v7) == UINT64_C(0x2b234590a99b3713));
}

static void pieces_hash_like_the_whole(void)
{
    for (size_t cut = 0; cut <= sizeof v7; cut++) {
        const uint64_t head = leat_fnv(LEAT_FNV_EMPTY, v7, cut);
        OK(leat_fnv(head, v7 + cut, sizeof v7 - cut) == UINT64_C(0x2b234590a99b3713));
    }
}

/* The prime is 2^40 + 2^8 + 0xb3: the product by shifts must agree. */
static void random_octets_hash_like_the_shifted_sum(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 1000; round++) {
        uint8_t buf[64];
        const size_t len = leat_random_below(&r, sizeof buf + 1);
        uint64_t want = LEAT_FNV_EMPTY;
        leat_random_fill(&r, buf, len);
        for (size_t i = 0; i < len; i++) {
            want ^= buf[i];
            want = (want << 40) + (want << 8) + (want << 7) + (want << 5) + (want << 4) +
                   (want << 1) + want;
        }
        OK(leat_fnv(LEAT_FNV_EMPTY, buf, len) == want);
    }
}

/* V21: the generator that a softswitch draws its choices from is core's. */
static void the_generator_of_schedules_is_the_published_one(void)
{
    static const uint64_t first[] = { UINT64_C(0xb3f2af6d0fc710c5), UINT64_C(0x853b559647364cea),
                                      UINT64_C(0x92f89756082a4514), UINT64_C(0x642e1c7bc266a3a7) };
    static const unsigned pick[] = { 7, 5, 5, 3, 6, 1, 0, 3, 8, 5 };
    struct leat_random r;
    leat_random_seed(&r, 1);
    for (size_t i = 0; i < 4; i++)
        OK(leat_random_next(&r) == first[i]);
    leat_random_seed(&r, 1);
    for (size_t i = 0; i < 10; i++)
        EQ(leat_random_below(&r, 10), pick[i]);
}

TAP_MAIN(T(published_hashes), T(pieces_hash_like_the_whole),
         T(random_octets_hash_like_the_shifted_sum),
         T(the_generator_of_schedules_is_the_published_one))
