#include "atm_aal2.h"
#include "atm_seal_test.h"
#include "tap.h"
#include <leat/random.h>
#include <stdbool.h>
#include <string.h>

/* The note, 2.2: SN 1, IT 3, payload 00..2c, LI 45, CRC 2b3. */
static struct leat_atm_aal2_pdu published_pdu(void)
{
    struct leat_atm_aal2_pdu pdu = { .sn = 1, .it = LEAT_ATM_AAL2_SSM, .li = 45 };
    for (uint8_t i = 0; i < 45; i++)
        pdu.payload[i] = i;
    return pdu;
}

static void published_octets(uint8_t buf[48])
{
    buf[0] = 0x13;
    for (uint8_t i = 0; i < 45; i++)
        buf[1 + i] = i;
    buf[46] = 0xb6;
    buf[47] = 0xb3;
}

static bool same(const struct leat_atm_aal2_pdu *a, const struct leat_atm_aal2_pdu *b)
{
    return a->sn == b->sn && a->it == b->it && a->li == b->li &&
           memcmp(a->payload, b->payload, sizeof a->payload) == 0;
}

/* Decodes, and on error checks that the output is untouched. */
static leat_err try(const uint8_t *buf, size_t len, struct leat_atm_aal2_pdu *out, size_t *at)
{
    struct leat_atm_aal2_pdu before;
    memset(out, 0xa5, sizeof *out);
    memset(&before, 0xa5, sizeof before);
    const leat_err err = leat_atm_aal2_pdu_decode(buf, len, out, at);
    if (err) OK(memcmp(out, &before, sizeof before) == 0);
    EQ(leat_atm_aal2_pdu_decode(buf, len, &before, NULL), err);
    return err;
}

static void the_published_vector_is_golden_both_ways(void)
{
    const struct leat_atm_aal2_pdu pdu = published_pdu();
    struct leat_atm_aal2_pdu back;
    uint8_t want[48], buf[48];
    published_octets(want);
    EQ(plain_crc10(want), 0x2b3);
    EQ(leat_atm_aal2_pdu_encode(&pdu, buf, sizeof buf), LEAT_ERR_OK);
    OK(memcmp(buf, want, sizeof want) == 0);
    EQ(leat_atm_aal2_pdu_decode(want, sizeof want, &back, NULL), LEAT_ERR_OK);
    OK(same(&pdu, &back));
}

static void every_other_length_is_refused(void)
{
    uint8_t buf[64] = { 0 };
    struct leat_atm_aal2_pdu pdu;
    published_octets(buf);
    for (size_t len = 0; len < sizeof buf; len++) {
        size_t at = 99;
        const leat_err want = len < 48 ? LEAT_ERR_SHORT : len > 48 ? LEAT_ERR_LENGTH : LEAT_ERR_OK;
        EQ(try(buf, len, &pdu, &at), want);
        EQ(at, len < 48 ? len : len > 48 ? 48 : 99);
    }
}

static void every_flip_of_one_or_two_bits_is_refused(void)
{
    struct leat_atm_aal2_pdu pdu;
    for (unsigned a = 0; a < 384; a++)
        for (unsigned b = a; b < 384; b++) { /* b == a: one bit */
            uint8_t buf[48];
            size_t at = 99;
            published_octets(buf);
            buf[a / 8] ^= (uint8_t)(1u << a % 8);
            if (b != a) buf[b / 8] ^= (uint8_t)(1u << b % 8);
            OK(leat_atm_aal2_pdu_decode(buf, sizeof buf, &pdu, &at) == LEAT_ERR_CHECKSUM);
            OK(at == 46);
        }
}

static void it_and_li_have_their_limits(void)
{
    struct leat_atm_aal2_pdu pdu;
    for (unsigned it = 0; it < 16; it++)
        for (unsigned li = 0; li < 64; li++) {
            uint8_t buf[48] = { (uint8_t)(0x50 | it) };
            size_t at = 99;
            buf[46] = (uint8_t)(li << 2);
            plain_seal(buf);
            const leat_err want = it > 3              ? LEAT_ERR_RESERVED
                                  : li < 1 || li > 45 ? LEAT_ERR_LENGTH
                                                      : LEAT_ERR_OK;
            EQ(try(buf, sizeof buf, &pdu, &at), want);
            EQ(at, it > 3 ? 0 : want ? 46 : 99);
            if (!want) OK(pdu.sn == 5 && pdu.it == it && pdu.li == li);
        }
}

static void what_does_not_fit_is_not_written(void)
{
    uint8_t buf[48], before[48];
    memset(buf, 0xcc, sizeof buf);
    memcpy(before, buf, sizeof buf);
    struct leat_atm_aal2_pdu pdu = published_pdu();
    EQ(leat_atm_aal2_pdu_encode(&pdu, buf, 47), LEAT_ERR_SPACE);
    pdu.sn = 16;
    EQ(leat_atm_aal2_pdu_encode(&pdu, buf, sizeof buf), LEAT_ERR_RANGE);
    pdu = published_pdu();
    pdu.li = 0;
    EQ(leat_atm_aal2_pdu_encode(&pdu, buf, sizeof buf), LEAT_ERR_LENGTH);
    pdu.li = 46;
    EQ(leat_atm_aal2_pdu_encode(&pdu, buf, sizeof buf), LEAT_ERR_LENGTH);
    OK(memcmp(buf, before, sizeof buf) == 0);
}

static struct leat_atm_aal2_pdu random_pdu(struct leat_random *r)
{
    struct leat_atm_aal2_pdu pdu = { 0 };
    pdu.sn = (uint8_t)leat_random_below(r, 16);
    pdu.it = (enum leat_atm_aal2_it)leat_random_below(r, 4);
    pdu.li = (uint8_t)(1 + leat_random_below(r, 45));
    leat_random_fill(r, pdu.payload, pdu.li);
    return pdu;
}

static void random_pdus_come_back_the_same(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        const struct leat_atm_aal2_pdu pdu = random_pdu(&r);
        struct leat_atm_aal2_pdu back;
        uint8_t buf[48];
        OK(leat_atm_aal2_pdu_encode(&pdu, buf, sizeof buf) == LEAT_ERR_OK);
        OK(leat_atm_aal2_pdu_decode(buf, sizeof buf, &back, NULL) == LEAT_ERR_OK);
        OK(same(&pdu, &back));
        if (i % 64 == 0) OK(plain_check(buf));
    }
}

/* Octets with a correct CRC: canonical ones encode to themselves, others keep their meaning. */
static void random_octets_decode_to_what_encodes_them(void)
{
    struct leat_random r;
    long decoded = 0;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_atm_aal2_pdu pdu, again;
        uint8_t buf[48], back[48];
        leat_random_fill(&r, buf, sizeof buf);
        const bool canonical = i % 2;
        const size_t li = buf[46] >> 2;
        if (canonical && li < 45) memset(buf + 1 + li, 0, 45 - li);
        plain_seal(buf);
        if (leat_atm_aal2_pdu_decode(buf, sizeof buf, &pdu, NULL)) continue;
        decoded++;
        OK(leat_atm_aal2_pdu_encode(&pdu, back, sizeof back) == LEAT_ERR_OK);
        if (canonical) OK(memcmp(buf, back, sizeof buf) == 0);
        OK(leat_atm_aal2_pdu_decode(back, sizeof back, &again, NULL) == LEAT_ERR_OK);
        OK(same(&pdu, &again));
    }
    OK(decoded > LEAT_ROUNDS / 100);
}

static void random_octets_are_nearly_always_refused(void)
{
    struct leat_random r;
    long decoded = 0;
    leat_random_seed(&r, tap_seed() + 2);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_aal2_pdu pdu;
        uint8_t buf[48];
        leat_random_fill(&r, buf, sizeof buf);
        decoded += leat_atm_aal2_pdu_decode(buf, sizeof buf, &pdu, NULL) == LEAT_ERR_OK;
    }
    OK(decoded < LEAT_ROUNDS / 1000); /* 2^-10 by the CRC, 1/4 by IT, 45/64 by LI */
}

TAP_MAIN(T(the_published_vector_is_golden_both_ways), T(every_other_length_is_refused),
         T(every_flip_of_one_or_two_bits_is_refused), T(it_and_li_have_their_limits),
         T(what_does_not_fit_is_not_written), T(random_pdus_come_back_the_same),
         T(random_octets_decode_to_what_encodes_them), T(random_octets_are_nearly_always_refused))
