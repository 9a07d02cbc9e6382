#include "atm_aal1.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* The note, 2.1: the header octets of SN = 0..15. */
static const uint8_t published[16] = { 0x00, 0x17, 0x2d, 0x3a, 0x4e, 0x59, 0x63, 0x74,
                                       0x8b, 0x9c, 0xa6, 0xb1, 0xc5, 0xd2, 0xe8, 0xff };

/* The definition, bit by bit: divide SN x^3 by x^3+x+1, then make the number of ones even. */
static uint8_t header_by_definition(unsigned sn)
{
    unsigned rest = sn << 3;
    for (unsigned bit = 6; bit >= 3; bit--)
        if (rest >> bit & 1) rest ^= 0xbu << (bit - 3);
    const unsigned seven = sn << 3 | rest;
    unsigned ones = 0;
    for (unsigned bit = 0; bit < 7; bit++)
        ones += seven >> bit & 1;
    return (uint8_t)(seven << 1 | ones % 2);
}

static void header_octets_are_golden(void)
{
    for (uint8_t sn = 0; sn < 16; sn++) {
        EQ(leat_atm_aal1_sn_encode(sn), published[sn]);
        EQ(header_by_definition(sn), published[sn]);
    }
}

static void only_csi_with_an_even_count_announces_a_pointer(void)
{
    for (uint8_t sn = 0; sn < 16; sn++) {
        const uint8_t csi = sn >> 3, sc = sn & 7;
        const bool p = sn == 8 || sn == 10 || sn == 12 || sn == 14;
        EQ(leat_atm_aal1_is_p_format(csi, sc), p);
        EQ(leat_atm_aal1_payload_len(csi, sc), p ? 46 : 47);
    }
}

static void pointers_are_0_to_93_or_127(void)
{
    for (unsigned octet = 0; octet < 256; octet++)
        EQ(leat_atm_aal1_pointer_is_legal((uint8_t)octet), octet < 94 || octet == 127);
}

static void both_formats_have_their_layout(void)
{
    struct leat_atm_aal1_pdu pdu = { .csi = 1, .sc = 3 };
    uint8_t buf[48];
    for (uint8_t i = 0; i < 47; i++)
        pdu.payload[i] = (uint8_t)(0x80 + i);
    EQ(leat_atm_aal1_pdu_encode(&pdu, buf, sizeof buf), LEAT_ERR_OK);
    EQ(buf[0], 0xb1);
    OK(memcmp(buf + 1, pdu.payload, 47) == 0);

    pdu.sc = 2;
    pdu.pointer = 93;
    EQ(leat_atm_aal1_pdu_encode(&pdu, buf, sizeof buf), LEAT_ERR_OK);
    EQ(buf[0], 0xa6);
    EQ(buf[1], 93);
    OK(memcmp(buf + 2, pdu.payload, 46) == 0);
}

static void wide_fields_and_idle_pointers_are_refused(void)
{
    uint8_t buf[48], before[48];
    memset(buf, 0xcc, sizeof buf);
    memcpy(before, buf, sizeof buf);
    const struct leat_atm_aal1_pdu wrong[] = {
        { .csi = 2 },
        { .sc = 8 },
        { .csi = 1, .sc = 2, .pointer = 94 },
        { .csi = 1, .sc = 2, .pointer = 255 },
        { .csi = 1, .sc = 3, .pointer = 1 },
        { .csi = 0, .sc = 2, .pointer = 1 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EQ(leat_atm_aal1_pdu_encode(&wrong[i], buf, sizeof buf), LEAT_ERR_RANGE);
    EQ(leat_atm_aal1_pdu_encode(&(struct leat_atm_aal1_pdu){ 0 }, buf, 47), LEAT_ERR_SPACE);
    OK(memcmp(buf, before, sizeof buf) == 0);
}

/* Decodes, and on error checks that the output is untouched. */
static leat_err try(const uint8_t *buf, size_t len, struct leat_atm_aal1_pdu *out, size_t *at)
{
    struct leat_atm_aal1_pdu before;
    memset(out, 0xa5, sizeof *out);
    memset(&before, 0xa5, sizeof before);
    const leat_err err = leat_atm_aal1_pdu_decode(buf, len, out, at);
    if (err) OK(memcmp(out, &before, sizeof before) == 0);
    EQ(leat_atm_aal1_pdu_decode(buf, len, &before, NULL), err);
    return err;
}

static void every_other_length_is_refused(void)
{
    const uint8_t buf[64] = { 0 };
    struct leat_atm_aal1_pdu pdu;
    for (size_t len = 0; len < sizeof buf; len++) {
        size_t at = 99;
        const leat_err want = len < 48 ? LEAT_ERR_SHORT : len > 48 ? LEAT_ERR_LENGTH : LEAT_ERR_OK;
        EQ(try(buf, len, &pdu, &at), want);
        EQ(at, len < 48 ? len : len > 48 ? 48 : 99);
    }
}

/* 240 of the 256 octets are no header: refused, at offset 0. */
static void every_flip_in_the_header_is_refused(void)
{
    struct leat_atm_aal1_pdu pdu;
    for (unsigned octet = 0; octet < 256; octet++) {
        const uint8_t buf[48] = { (uint8_t)octet };
        const bool good = header_by_definition(octet >> 4) == octet;
        size_t at = 99;
        EQ(try(buf, sizeof buf, &pdu, &at), good ? LEAT_ERR_OK : LEAT_ERR_CHECKSUM);
        EQ(at, good ? 99 : 0);
    }
}

static void illegal_pointers_are_refused_at_their_octet(void)
{
    struct leat_atm_aal1_pdu pdu;
    for (unsigned octet = 0; octet < 256; octet++) {
        const uint8_t buf[48] = { 0xc5, (uint8_t)octet };
        size_t at = 99;
        const leat_err want = octet >= 128                ? LEAT_ERR_RESERVED
                              : octet > 93 && octet < 127 ? LEAT_ERR_RANGE
                                                          : LEAT_ERR_OK;
        EQ(try(buf, sizeof buf, &pdu, &at), want);
        EQ(at, want ? 1 : 99);
        if (!want) EQ(pdu.pointer, octet);
    }
}

static struct leat_atm_aal1_pdu random_pdu(struct leat_random *r)
{
    struct leat_atm_aal1_pdu pdu;
    leat_random_fill(r, pdu.payload, sizeof pdu.payload);
    pdu.csi = (uint8_t)leat_random_below(r, 2);
    pdu.sc = (uint8_t)leat_random_below(r, 8);
    pdu.pointer = 0;
    if (pdu.csi == 1 && pdu.sc % 2 == 0) {
        const uint64_t pointer = leat_random_below(r, 95);
        pdu.pointer = pointer == 94 ? 127 : (uint8_t)pointer;
        pdu.payload[46] = 0;
    }
    return pdu;
}

static void random_pdus_come_back_the_same(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        const struct leat_atm_aal1_pdu pdu = random_pdu(&r);
        struct leat_atm_aal1_pdu back;
        uint8_t buf[48];
        OK(leat_atm_aal1_pdu_encode(&pdu, buf, sizeof buf) == LEAT_ERR_OK);
        OK(leat_atm_aal1_pdu_decode(buf, sizeof buf, &back, NULL) == LEAT_ERR_OK);
        OK(memcmp(&pdu, &back, sizeof pdu) == 0); /* all octets: there is no padding */
    }
}

static void random_octets_decode_to_what_encodes_them(void)
{
    struct leat_random r;
    long decoded = 0;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_aal1_pdu pdu;
        uint8_t buf[48], back[48];
        leat_random_fill(&r, buf, sizeof buf);
        if (leat_atm_aal1_pdu_decode(buf, sizeof buf, &pdu, NULL)) continue;
        decoded++;
        OK(leat_atm_aal1_pdu_encode(&pdu, back, sizeof back) == LEAT_ERR_OK);
        OK(memcmp(buf, back, sizeof buf) == 0);
    }
    OK(decoded > LEAT_ROUNDS / 32);
}

/* ---- the machine that corrects or detects ------------------------------------------------- */

static void one_wrong_bit_is_corrected_once(void)
{
    for (uint8_t sn = 0; sn < 16; sn++)
        for (unsigned bit = 0; bit < 8; bit++) {
            enum leat_atm_aal1_sn_mode mode = LEAT_ATM_AAL1_CORRECTION;
            const uint8_t bad = published[sn] ^ (uint8_t)(1u << bit);
            struct leat_atm_aal1_sn got = leat_atm_aal1_sn_step(&mode, bad);
            OK(got.valid && got.corrected);
            EQ(got.csi << 3 | got.sc, sn);
            EQ(mode, LEAT_ATM_AAL1_DETECTION);

            got = leat_atm_aal1_sn_step(&mode, bad); /* twice in a row: no longer trusted */
            OK(!got.valid && !got.corrected);
            EQ(mode, LEAT_ATM_AAL1_DETECTION);
        }
}

static void two_wrong_bits_are_detected_in_both_modes(void)
{
    for (uint8_t sn = 0; sn < 16; sn++)
        for (unsigned a = 0; a < 8; a++)
            for (unsigned b = 0; b < a; b++) {
                const uint8_t bad = published[sn] ^ (uint8_t)(1u << a | 1u << b);
                enum leat_atm_aal1_sn_mode mode = LEAT_ATM_AAL1_CORRECTION;
                for (int twice = 0; twice < 2; twice++) {
                    const struct leat_atm_aal1_sn got = leat_atm_aal1_sn_step(&mode, bad);
                    OK(!got.valid && !got.corrected && got.csi == 0 && got.sc == 0);
                    EQ(mode, LEAT_ATM_AAL1_DETECTION);
                }
            }
}

static void a_sound_header_restores_correction(void)
{
    for (uint8_t sn = 0; sn < 16; sn++) {
        enum leat_atm_aal1_sn_mode mode = LEAT_ATM_AAL1_DETECTION;
        const struct leat_atm_aal1_sn got = leat_atm_aal1_sn_step(&mode, published[sn]);
        OK(got.valid && !got.corrected);
        EQ(got.csi << 3 | got.sc, sn);
        EQ(mode, LEAT_ATM_AAL1_CORRECTION);
    }
}

/* The table of the note, 1.2, with distances instead of syndromes, all octets in both modes. */
static void every_octet_follows_the_table_of_modes(void)
{
    for (unsigned octet = 0; octet < 256; octet++) {
        unsigned nearest = 0, distance = 9;
        for (unsigned sn = 0; sn < 16; sn++) {
            unsigned differ = 0;
            for (unsigned bit = 0; bit < 8; bit++)
                differ += (octet ^ published[sn]) >> bit & 1;
            if (differ < distance) {
                distance = differ;
                nearest = sn;
            }
        }
        for (int detecting = 0; detecting < 2; detecting++) {
            enum leat_atm_aal1_sn_mode mode = detecting ? LEAT_ATM_AAL1_DETECTION
                                                        : LEAT_ATM_AAL1_CORRECTION;
            const struct leat_atm_aal1_sn got = leat_atm_aal1_sn_step(&mode, (uint8_t)octet);
            EQ(got.valid, distance == 0 || (distance == 1 && !detecting));
            EQ(got.corrected, distance == 1 && !detecting);
            if (got.valid) EQ(got.csi << 3 | got.sc, nearest);
            EQ(mode, distance == 0 ? LEAT_ATM_AAL1_CORRECTION : LEAT_ATM_AAL1_DETECTION);
        }
    }
}

TAP_MAIN(T(header_octets_are_golden), T(only_csi_with_an_even_count_announces_a_pointer),
         T(pointers_are_0_to_93_or_127), T(both_formats_have_their_layout),
         T(wide_fields_and_idle_pointers_are_refused), T(every_other_length_is_refused),
         T(every_flip_in_the_header_is_refused), T(illegal_pointers_are_refused_at_their_octet),
         T(random_pdus_come_back_the_same), T(random_octets_decode_to_what_encodes_them),
         T(one_wrong_bit_is_corrected_once), T(two_wrong_bits_are_detected_in_both_modes),
         T(a_sound_header_restores_correction), T(every_octet_follows_the_table_of_modes))
