#include "atm_oam.h"
#include "atm_seal.h"
#include "atm_seal_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static struct leat_atm_oam loopback(void)
{
    struct leat_atm_oam oam = { .type = LEAT_ATM_OAM_FAULT, .function = 8 };
    memset(oam.specific, LEAT_ATM_FILL, sizeof oam.specific);
    return oam;
}

static void an_oam_payload_is_laid_out_as_the_note_says(void)
{
    const struct leat_atm_oam oam = loopback();
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
    EQ(leat_atm_oam_encode(&oam, buf, sizeof buf), LEAT_ERR_OK);
    EQ(buf[0], 0x18);
    for (size_t i = 1; i < 46; i++)
        EQ(buf[i], 0x6a);
    EQ(buf[46] >> 2, 0); /* reserved */
    OK(plain_check(buf));
}

static void the_seal_is_the_crc_of_374_bits(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
        size_t at = SIZE_MAX;
        leat_random_fill(&r, buf, sizeof buf);
        EQ(leat_atm_payload_check(buf, sizeof buf, &at),
           plain_check(buf) ? LEAT_ERR_OK : LEAT_ERR_CHECKSUM);
        const unsigned six = (unsigned)leat_random_below(&r, 64);
        leat_atm_payload_seal(buf, six);
        EQ(leat_atm_payload_six(buf), six);
        EQ(leat_atm_payload_crc(buf), (buf[46] & 3) << 8 | buf[47]);
        OK(plain_check(buf));
        EQ(leat_atm_payload_check(buf, sizeof buf, NULL), LEAT_ERR_OK);
    }
}

static void other_lengths_and_every_bit_error_are_refused(void)
{
    const struct leat_atm_oam oam = loopback();
    struct leat_atm_oam out, pattern;
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN + 1] = { 0 };
    size_t at;
    memset(&pattern, 0xa5, sizeof pattern);
    memcpy(&out, &pattern, sizeof out);
    EQ(leat_atm_oam_encode(&oam, buf, LEAT_ATM_PAYLOAD_LEN), LEAT_ERR_OK);
    for (size_t len = 0; len < LEAT_ATM_PAYLOAD_LEN; len++) {
        EQ(leat_atm_oam_decode(buf, len, &out, &at), LEAT_ERR_SHORT);
        EQ(at, len);
    }
    EQ(leat_atm_oam_decode(buf, sizeof buf, &out, &at), LEAT_ERR_LENGTH);
    EQ(at, LEAT_ATM_PAYLOAD_LEN);
    for (unsigned bit = 0; bit < 8 * LEAT_ATM_PAYLOAD_LEN; bit++) {
        leat_bit_put(buf, bit, !leat_bit_get(buf, bit));
        EQ(leat_atm_oam_decode(buf, LEAT_ATM_PAYLOAD_LEN, &out, &at), LEAT_ERR_CHECKSUM);
        EQ(at, LEAT_ATM_SEAL_AT);
        leat_bit_put(buf, bit, !leat_bit_get(buf, bit));
    }
    OK(memcmp(&out, &pattern, sizeof out) == 0);
    EQ(leat_atm_oam_decode(buf, LEAT_ATM_PAYLOAD_LEN, &out, NULL), LEAT_ERR_OK);
}

static void what_does_not_fit_is_refused_and_nothing_is_written(void)
{
    struct leat_atm_oam oam = loopback();
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN] = { 0 };
    EQ(leat_atm_oam_encode(&oam, buf, sizeof buf - 1), LEAT_ERR_SPACE);
    oam.type = 16;
    EQ(leat_atm_oam_encode(&oam, buf, sizeof buf), LEAT_ERR_RANGE);
    oam.type = 1;
    oam.function = 16;
    EQ(leat_atm_oam_encode(&oam, buf, sizeof buf), LEAT_ERR_RANGE);
    for (size_t i = 0; i < sizeof buf; i++)
        EQ(buf[i], 0);
}

static void random_oam_payloads_survive(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_oam oam, back;
        uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
        leat_random_fill(&r, oam.specific, sizeof oam.specific);
        oam.type = i >> 4 & 0xf;
        oam.function = i & 0xf;
        EQ(leat_atm_oam_encode(&oam, buf, sizeof buf), LEAT_ERR_OK);
        EQ(leat_atm_oam_decode(buf, sizeof buf, &back, NULL), LEAT_ERR_OK);
        EQ(back.type, oam.type);
        EQ(back.function, oam.function);
        OK(memcmp(back.specific, oam.specific, sizeof oam.specific) == 0);
    }
}

/* Sealed octets return unchanged, except for the six bits that a receiver ignores. */
static void random_octets_keep_their_meaning(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_oam oam;
        uint8_t buf[LEAT_ATM_PAYLOAD_LEN], back[LEAT_ATM_PAYLOAD_LEN];
        leat_random_fill(&r, buf, sizeof buf);
        leat_atm_payload_seal(buf, 0);
        EQ(leat_atm_oam_decode(buf, sizeof buf, &oam, NULL), LEAT_ERR_OK);
        EQ(leat_atm_oam_encode(&oam, back, sizeof back), LEAT_ERR_OK);
        OK(memcmp(buf, back, sizeof buf) == 0);
    }
}

static void reserved_bits_are_ignored_when_received(void)
{
    const struct leat_atm_oam oam = loopback();
    uint8_t buf[LEAT_ATM_PAYLOAD_LEN];
    struct leat_atm_oam back;
    EQ(leat_atm_oam_encode(&oam, buf, sizeof buf), LEAT_ERR_OK);
    for (unsigned reserved = 1; reserved < 64; reserved++) {
        buf[46] = (uint8_t)(reserved << 2);
        const unsigned crc = plain_crc10(buf);
        leat_put_be16(buf + 46, (uint16_t)(reserved << 10 | crc));
        EQ(leat_atm_oam_decode(buf, sizeof buf, &back, NULL), LEAT_ERR_OK);
        EQ(back.type, oam.type);
        EQ(back.function, oam.function);
        OK(memcmp(back.specific, oam.specific, sizeof oam.specific) == 0);
    }
}

/* By offsets of I.610, written out by hand. */
static void a_loopback_cell_says_whether_it_goes_back_its_tag_and_two_places(void)
{
    struct leat_atm_oam_loopback in = { .goes_back = true, .tag = 0x01020304 }, out;
    struct leat_atm_oam oam;
    memset(in.place, 0xff, sizeof in.place);
    memset(in.source, 0x33, sizeof in.source);
    leat_atm_oam_loopback_put(&in, &oam);
    EQ(oam.type << 4 | oam.function, 0x18);
    EQ(oam.specific[0], 1);
    EQ(leat_get_be32(oam.specific + 1), 0x01020304);
    for (size_t i = 5; i < 45; i++)
        EQ(oam.specific[i], i < 21 ? 0xff : i < 37 ? 0x33 : 0x6a);
    oam.specific[0] = 0xfe; /* the other bits do not count */
    OK(leat_atm_oam_loopback_get(&oam, &out) && !out.goes_back && out.tag == in.tag);
    EQ(memcmp(out.place, in.place, sizeof in.place), 0);
    EQ(memcmp(out.source, in.source, sizeof in.source), 0);
    for (unsigned other = 0; other < 256; other++) {
        oam.type = other >> 4 & 0xf;
        oam.function = other & 0xf;
        OK(leat_atm_oam_loopback_get(&oam, &out) == (other == 0x18));
    }
}

TAP_MAIN(T(a_loopback_cell_says_whether_it_goes_back_its_tag_and_two_places),
         T(an_oam_payload_is_laid_out_as_the_note_says), T(the_seal_is_the_crc_of_374_bits),
         T(other_lengths_and_every_bit_error_are_refused),
         T(what_does_not_fit_is_refused_and_nothing_is_written), T(random_oam_payloads_survive),
         T(random_octets_keep_their_meaning), T(reserved_bits_are_ignored_when_received))
