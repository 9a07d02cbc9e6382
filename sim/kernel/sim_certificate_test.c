/* The hashes of a run's deliveries: published vectors, plain models, sensitivity. */
#include "leat_bytes.h"
#include "leat_fnv.h"
#include "sim_certificate.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static uint64_t fnv_text(const char *text)
{
    return leat_fnv(LEAT_FNV_EMPTY, (const uint8_t *)text, strlen(text));
}

static void fnv_gives_its_published_values(void)
{
    OK(fnv_text("") == UINT64_C(0xcbf29ce484222325));
    OK(fnv_text("a") == UINT64_C(0xaf63dc4c8601ec8c));
    OK(fnv_text("foobar") == UINT64_C(0x85944171f73967e8));
}

static void a_word_is_its_eight_octets(void)
{
    struct leat_random r;
    int bad = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        uint8_t octets[8];
        const uint64_t word = leat_random_next(&r) >> i % 65 % 64 << i % 7 * 8;
        const uint64_t hash = leat_random_next(&r);
        leat_put_le64(octets, i % 65 == 64 ? 0 : word);
        bad += leat_sim_fnv_word(hash, i % 65 == 64 ? 0 : word) != leat_fnv(hash, octets, 8);
    }
    EQ(bad, 0);
}

static unsigned ones(uint64_t word)
{
    unsigned n = 0;
    for (; word; word &= word - 1)
        n++;
    return n;
}

/* ---- certificates ------------------------------------------------------------------------- */

static uint64_t plain_stir(uint64_t lane, uint64_t word, uint64_t factor)
{
    lane = (lane ^ word) * factor;
    return lane << 29 | lane >> 35;
}

/* Written again, from the picture: two lanes of words, each with its factor, and a last mix. */
static uint64_t plain_mix(const struct leat_sim_delivery *d)
{
    static const uint64_t factor[2] = { UINT64_C(0x243f6a8885a308d3),
                                        UINT64_C(0x13198a2e03707345) };
    const uint64_t word[5] = { d->at, d->source, d->destination, d->number, d->payload_hash };
    uint64_t lane[2] = { factor[1], factor[0] };
    for (size_t i = 0; i < 5; i++)
        lane[i % 2] = plain_stir(lane[i % 2], word[i], factor[i % 2]);
    uint64_t mix = plain_stir(lane[0], lane[1], factor[1]);
    mix = (mix ^ mix >> 32) * factor[0];
    return mix ^ mix >> 29;
}

static struct leat_sim_delivery draw_delivery(struct leat_random *r)
{
    uint64_t word[5];
    for (size_t i = 0; i < 5; i++) { /* long and short numbers */
        const uint64_t drawn = leat_random_next(r);
        word[i] = drawn >> leat_random_below(r, 64);
    }
    return (struct leat_sim_delivery){ word[0], word[1], word[2], word[3], word[4] };
}

static uint64_t certificate_of(const struct leat_sim_delivery *d, size_t count)
{
    struct leat_sim_certificate c;
    leat_sim_certificate_init(&c);
    for (size_t i = 0; i < count; i++)
        leat_sim_certificate_add(&c, &d[i]);
    return leat_sim_certificate_value(&c);
}

static void a_certificate_is_the_sum_of_mixes_in_any_order_and_in_parts(void)
{
    enum { COUNT = 20 };
    struct leat_sim_delivery d[COUNT];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    EQ(certificate_of(d, 0), 0);
    for (int round = 0; round < 200; round++) {
        struct leat_sim_certificate left, right;
        uint64_t sum = 0;
        leat_time last = 0;
        for (size_t i = 0; i < COUNT; i++) {
            d[i] = draw_delivery(&r);
            sum += plain_mix(&d[i]);
            if (d[i].at > last) last = d[i].at;
        }
        EQ(certificate_of(d, COUNT), sum);
        for (size_t i = COUNT - 1; i; i--) {
            const size_t k = leat_random_below(&r, i + 1);
            const struct leat_sim_delivery other = d[i];
            d[i] = d[k];
            d[k] = other;
        }
        EQ(certificate_of(d, COUNT), sum);
        leat_sim_certificate_init(&left);
        leat_sim_certificate_init(&right);
        for (size_t i = 0; i < COUNT; i++)
            leat_sim_certificate_add(leat_random_below(&r, 2) ? &left : &right, &d[i]);
        leat_sim_certificate_join(&left, &right);
        EQ(leat_sim_certificate_value(&left), sum);
        EQ(left.at, last);
    }
}

/* Also: what two deliveries exchange, or one gains and another loses, does not cancel out. */
static void every_bit_of_a_delivery_turns_about_half_the_bits_of_its_mix(void)
{
    enum { ROUNDS = 200 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t bit = 0; bit < 5 * 64; bit++) {
        unsigned turned = 0, least = 64;
        for (int i = 0; i < ROUNDS; i++) {
            struct leat_sim_delivery d[2];
            for (int k = 0; k < 2; k++)
                d[k] = draw_delivery(&r);
            uint64_t *const word[2][5] = {
                { &d[0].at, &d[0].source, &d[0].destination, &d[0].number, &d[0].payload_hash },
                { &d[1].at, &d[1].source, &d[1].destination, &d[1].number, &d[1].payload_hash },
            };
            const uint64_t both = certificate_of(d, 2), before = certificate_of(d, 1);
            const uint64_t one = *word[0][bit / 64], other = *word[1][bit / 64];
            *word[0][bit / 64] = one ^ UINT64_C(1) << bit % 64;
            const unsigned n = ones(before ^ certificate_of(d, 1));
            turned += n;
            if (n < least) least = n;
            *word[0][bit / 64] = other;
            *word[1][bit / 64] = one;
            OK(one == other || certificate_of(d, 2) != both);
            *word[0][bit / 64] = one + 1;
            *word[1][bit / 64] = other - 1;
            OK(certificate_of(d, 2) != both);
        }
        OK(least > 0);
        OK(turned > 26 * ROUNDS && turned < 38 * ROUNDS); /* 32 on average, ten deviations off */
    }
}

static void the_delivery_hash_is_fnv_over_the_records_of_three_words(void)
{
    static const uint64_t d[4][4] = { /* cycle, output, source, number */
                                      { 18, 2, 9, 0 },
                                      { 18, 5, 15, 4 },
                                      { 71, 0, 9, 1 },
                                      { 200000, 15, 255, 70000 }
    };
    uint8_t records[4 * 24];
    struct leat_sim_delivery_hash h;
    leat_sim_delivery_hash_init(&h);
    for (size_t i = 0; i < 4; i++) {
        leat_put_le64(records + 24 * i, d[i][0]);
        leat_put_le64(records + 24 * i + 8, d[i][1] * 256 + d[i][2]);
        leat_put_le64(records + 24 * i + 16, d[i][3]);
        leat_sim_delivery_hash_add(&h, d[i][0], (uint32_t)d[i][1], (uint32_t)d[i][2], d[i][3]);
        OK(leat_sim_delivery_hash_value(&h) == leat_fnv(LEAT_FNV_EMPTY, records, 24 * (i + 1)));
    }
}

/* ---- payloads ----------------------------------------------------------------------------- */

/* The same by single octets: steps of 16, the last of which ends with the payload. */
static uint64_t plain_payload_hash(const uint8_t *octets, size_t len)
{
    static const uint64_t factor[2] = { UINT64_C(0x243f6a8885a308d3),
                                        UINT64_C(0x13198a2e03707345) };
    uint64_t lane[2] = { len, ~(uint64_t)len };
    for (size_t at = 0; at == 0 || at < len; at += 16) {
        const size_t from = at + 16 > len && len >= 16 ? len - 16 : at;
        for (size_t i = 0; i < 2; i++) {
            uint64_t word = 0;
            for (size_t k = 0; k < 8 && from + 8 * i + k < len; k++)
                word |= (uint64_t)octets[from + 8 * i + k] << 8 * k;
            lane[i] = (lane[i] ^ word) * factor[i];
            lane[i] = lane[i] << 29 | lane[i] >> 35;
        }
    }
    uint64_t hash = (lane[0] ^ lane[1]) * factor[1];
    hash = hash << 29 | hash >> 35;
    hash = (hash ^ hash >> 32) * factor[0];
    return hash ^ hash >> 29;
}

static void a_payload_hash_is_the_same_on_every_machine(void)
{
    struct leat_random r;
    uint8_t octets[200];
    int bad = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        const size_t len = leat_random_below(&r, 101), at = leat_random_below(&r, 99);
        leat_random_fill(&r, octets, sizeof octets);
        bad += leat_sim_payload_hash(octets + at, len) != plain_payload_hash(octets + at, len);
    }
    EQ(bad, 0);
    OK(leat_sim_payload_hash(octets, 0) == plain_payload_hash(octets, 0));
}

static void every_bit_of_a_payload_turns_about_half_the_bits_of_its_hash(void)
{
    enum { LEN = 36, ROUNDS = 200 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t bit = 0; bit < 8 * LEN; bit++) {
        unsigned turned = 0, least = 64;
        for (int i = 0; i < ROUNDS; i++) {
            uint8_t octets[LEN];
            leat_random_fill(&r, octets, LEN);
            const uint64_t before = leat_sim_payload_hash(octets, LEN);
            octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const unsigned n = ones(before ^ leat_sim_payload_hash(octets, LEN));
            turned += n;
            if (n < least) least = n;
        }
        OK(least > 0);
        OK(turned > 26 * ROUNDS && turned < 38 * ROUNDS); /* 32 on average, ten deviations off */
    }
}

static void payloads_of_zeros_differ_by_their_length(void)
{
    static const uint8_t zeros[64];
    uint64_t seen[65];
    for (size_t len = 0; len <= 64; len++) {
        seen[len] = leat_sim_payload_hash(zeros, len);
        for (size_t other = 0; other < len; other++)
            OK(seen[other] != seen[len]);
    }
}

TAP_MAIN(T(fnv_gives_its_published_values), T(a_word_is_its_eight_octets),
         T(a_certificate_is_the_sum_of_mixes_in_any_order_and_in_parts),
         T(every_bit_of_a_delivery_turns_about_half_the_bits_of_its_mix),
         T(the_delivery_hash_is_fnv_over_the_records_of_three_words),
         T(a_payload_hash_is_the_same_on_every_machine),
         T(every_bit_of_a_payload_turns_about_half_the_bits_of_its_hash),
         T(payloads_of_zeros_differ_by_their_length))
