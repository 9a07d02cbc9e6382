#include "atm_oam.h"
#include "atm_rm.h"
#include "atm_seal.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* The vector of the note, 3.3: forward, ER 353207, CCR 1000, MCR 100 cells/s. */
static const uint8_t golden[LEAT_ATM_PAYLOAD_LEN] = { 0x01, 0x00, 0x64, 0xb1,        0x53,
                                                      0xe8, 0x4d, 0x20, [46] = 0x01, [47] = 0xfa };

static bool same(const struct leat_atm_rm *a, const struct leat_atm_rm *b)
{
    return a->flags == b->flags && a->er == b->er && a->ccr == b->ccr && a->mcr == b->mcr &&
           a->ql == b->ql && a->sn == b->sn;
}

static struct leat_atm_rm golden_rm(void)
{
    return (struct leat_atm_rm){ .er = leat_atm_rate_encode(353207 * LEAT_ATM_RATE_UNIT),
                                 .ccr = leat_atm_rate_encode(1000 * LEAT_ATM_RATE_UNIT),
                                 .mcr = leat_atm_rate_encode(100 * LEAT_ATM_RATE_UNIT) };
}

static void the_vector_of_the_note_is_encoded_and_decoded(void)
{
    const struct leat_atm_rm rm = golden_rm();
    struct leat_atm_rm back;
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
    EQ(rm.er, 0x64b1);
    EQ(rm.ccr, 0x53e8);
    EQ(rm.mcr, 0x4d20);
    EQ(leat_atm_rm_encode(&rm, buf, sizeof buf), LEAT_ERR_OK);
    OK(memcmp(buf, golden, sizeof buf) == 0);
    EQ(leat_atm_rm_decode(golden, sizeof golden, &back, NULL), LEAT_ERR_OK);
    OK(same(&rm, &back));
}

static void every_field_has_its_place(void)
{
    const struct leat_atm_rm rm = { .flags = LEAT_ATM_RM_DIR | LEAT_ATM_RM_CI | LEAT_ATM_RM_RA,
                                    .er = 0x1122,
                                    .ccr = 0x3344,
                                    .mcr = 0x5566,
                                    .ql = 0x778899aa,
                                    .sn = 0xbbccddee };
    const uint8_t want[16] = { 0x01, 0xa8, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
                               0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee };
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
    EQ(leat_atm_rm_encode(&rm, buf, sizeof buf), LEAT_ERR_OK);
    OK(memcmp(buf, want, sizeof want) == 0);
    for (size_t i = sizeof want; i < 46; i++)
        EQ(buf[i], 0);
    EQ(LEAT_ATM_RM_BN, 0x40);
    EQ(LEAT_ATM_RM_NI, 0x10);
}

static void every_coded_rate_comes_back_and_they_rise(void)
{
    uint64_t last = 0;
    for (unsigned code = 0x4000; code <= 0x7fff; code++) {
        const uint64_t rate = leat_atm_rate_decode((uint16_t)code);
        const unsigned e = code >> 9 & 31, m = code & 511;
        OK(rate == ((UINT64_C(1) << e) * 512 + ((uint64_t)m << e))); /* 2^e (1 + m/512) in 512ths */
        OK(rate > last);
        EQ(leat_atm_rate_encode(rate), code);
        if (last) EQ(leat_atm_rate_encode(rate - 1), code - 1);
        last = rate;
    }
    EQ(leat_atm_rate_decode(0x4000), LEAT_ATM_RATE_UNIT); /* one cell per second */
}

static void rates_beyond_the_scale_are_its_ends(void)
{
    EQ(leat_atm_rate_encode(0), 0);
    EQ(leat_atm_rate_encode(LEAT_ATM_RATE_UNIT - 1), 0);
    EQ(leat_atm_rate_encode(UINT64_C(1) << 41), 0x7fff);
    EQ(leat_atm_rate_encode(UINT64_MAX), 0x7fff);
    for (unsigned code = 0; code < 0x4000; code++)
        EQ(leat_atm_rate_decode((uint16_t)code), 0); /* nz is 0 */
}

static void other_lengths_and_every_bit_error_are_refused(void)
{
    struct leat_atm_rm out, pattern;
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN + 1] = { 0 };
    size_t at;
    memset(&pattern, 0xa5, sizeof pattern);
    memcpy(&out, &pattern, sizeof out);
    memcpy(buf, golden, sizeof golden);
    for (size_t len = 0; len < LEAT_ATM_PAYLOAD_LEN; len++) {
        EQ(leat_atm_rm_decode(buf, len, &out, &at), LEAT_ERR_SHORT);
        EQ(at, len);
    }
    EQ(leat_atm_rm_decode(buf, sizeof buf, &out, &at), LEAT_ERR_LENGTH);
    EQ(at, LEAT_ATM_PAYLOAD_LEN);
    for (unsigned bit = 0; bit < 8 * LEAT_ATM_PAYLOAD_LEN; bit++) {
        leat_bit_put(buf, bit, !leat_bit_get(buf, bit));
        EQ(leat_atm_rm_decode(buf, LEAT_ATM_PAYLOAD_LEN, &out, &at), LEAT_ERR_CHECKSUM);
        EQ(at, LEAT_ATM_SEAL_AT);
        leat_bit_put(buf, bit, !leat_bit_get(buf, bit));
    }
    buf[0] = 2; /* of another protocol, and valid */
    leat_atm_payload_seal(buf, 0);
    EQ(leat_atm_rm_decode(buf, LEAT_ATM_PAYLOAD_LEN, &out, &at), LEAT_ERR_TYPE);
    EQ(at, 0);
    OK(memcmp(&out, &pattern, sizeof out) == 0);
}

static void what_does_not_fit_is_refused_and_nothing_is_written(void)
{
    static const struct leat_atm_rm wide[] = {
        { .flags = 0x04 }, { .er = 0x8000 }, { .ccr = 0x8000 }, { .mcr = 0x8000 }
    };
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN] = { 0 };
    const struct leat_atm_rm rm = golden_rm();
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        EQ(leat_atm_rm_encode(&wide[i], buf, sizeof buf), LEAT_ERR_RANGE);
    EQ(leat_atm_rm_encode(&rm, buf, sizeof buf - 1), LEAT_ERR_SPACE);
    for (size_t i = 0; i < sizeof buf; i++)
        EQ(buf[i], 0);
}

static void random_rm_payloads_survive(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        const uint64_t a = leat_random_next(&r), b = leat_random_next(&r);
        const struct leat_atm_rm rm = { .flags = a & LEAT_ATM_RM_FLAGS,
                                        .er = a >> 8 & 0x7fff,
                                        .ccr = a >> 24 & 0x7fff,
                                        .mcr = a >> 40 & 0x7fff,
                                        .ql = (uint32_t)b,
                                        .sn = (uint32_t)(b >> 32) };
        struct leat_atm_rm back;
        uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
        EQ(leat_atm_rm_encode(&rm, buf, sizeof buf), LEAT_ERR_OK);
        EQ(leat_atm_rm_decode(buf, sizeof buf, &back, NULL), LEAT_ERR_OK);
        OK(same(&rm, &back));
    }
}

/* Reserved bits are ignored: the octets may change once, the meaning never. */
static void random_octets_keep_their_meaning(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_rm rm, again;
        uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
        leat_random_fill(&r, buf, sizeof buf);
        buf[0] = LEAT_ATM_RM_ABR;
        leat_atm_payload_seal(buf, 0);
        EQ(leat_atm_rm_decode(buf, sizeof buf, &rm, NULL), LEAT_ERR_OK);
        EQ(leat_atm_rm_encode(&rm, buf, sizeof buf), LEAT_ERR_OK);
        EQ(leat_atm_rm_decode(buf, sizeof buf, &again, NULL), LEAT_ERR_OK);
        OK(same(&rm, &again));
    }
}

TAP_MAIN(T(the_vector_of_the_note_is_encoded_and_decoded), T(every_field_has_its_place),
         T(every_coded_rate_comes_back_and_they_rise), T(rates_beyond_the_scale_are_its_ends),
         T(other_lengths_and_every_bit_error_are_refused),
         T(what_does_not_fit_is_refused_and_nothing_is_written), T(random_rm_payloads_survive),
         T(random_octets_keep_their_meaning))
