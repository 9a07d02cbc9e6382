#include "atm_aal2.h"
#include "atm_text.h"
#include "format_harness.h"
#include <leat/random.h>
#include <string.h>

static const struct leat_format *const format = &leat_aal2_format;

static leat_err from_words(const char *words, uint8_t pdu[48])
{
    size_t len = 0;
    return format_build_words(format, words, pdu, 48, &len);
}

/* The note, 2.2: SN 1, IT 3, payload 00..2c. */
static void published_octets(uint8_t pdu[48])
{
    pdu[0] = 0x13;
    for (uint8_t i = 0; i < 45; i++)
        pdu[1 + i] = i;
    pdu[46] = 0xb6;
    pdu[47] = 0xb3;
}

static void fields_are_shown_by_name(void)
{
    uint8_t pdu[48];
    published_octets(pdu);
    EQ(format_show_json(format, pdu, sizeof pdu, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "{\"sn\":1,\"it\":\"SSM\",\"payload\":\"000102") == format_shown);
    OK(strstr(format_shown, "2c\",\"li\":45,\"crc\":691}") != NULL);
    EQ(format_show_tree(format, pdu, sizeof pdu, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "crc: 0x2b3") != NULL);
}

static void few_words_make_a_pdu(void)
{
    uint8_t pdu[48], want[48];
    published_octets(want);
    EQ(from_words("sn=1 payload=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                  "202122232425262728292a2b2c",
                  pdu),
       LEAT_ERR_OK);
    OK(memcmp(pdu, want, sizeof pdu) == 0);

    struct leat_atm_aal2_pdu meaning;
    EQ(from_words("", pdu), LEAT_ERR_OK);
    EQ(leat_atm_aal2_pdu_decode(pdu, sizeof pdu, &meaning, NULL), LEAT_ERR_OK);
    OK(meaning.it == LEAT_ATM_AAL2_SSM && meaning.li == 45 && meaning.sn == 0);
    EQ(from_words("it=bom sn=15 payload=ff:ee", pdu), LEAT_ERR_OK);
    EQ(leat_atm_aal2_pdu_decode(pdu, sizeof pdu, &meaning, NULL), LEAT_ERR_OK);
    OK(meaning.it == LEAT_ATM_AAL2_BOM && meaning.li == 2 && meaning.sn == 15);
}

static void mistakes_are_explained(void)
{
    uint8_t pdu[48];
    EQ(from_words("sn=16", pdu), LEAT_ERR_RANGE);
    OK(strstr(format_fields.message, "0..15") != NULL);
    EQ(from_words("it=FIRST", pdu), LEAT_ERR_FIELD);
    OK(strstr(format_fields.message, "BOM") != NULL);
    EQ(from_words("it=4", pdu), LEAT_ERR_RANGE);
    EQ(from_words("payload=", pdu), LEAT_ERR_LENGTH);
    OK(strstr(format_fields.message, "1 to 45") != NULL);
    EQ(from_words("payload=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                  "202122232425262728292a2b2c2d",
                  pdu),
       LEAT_ERR_LENGTH);
    EQ(from_words("mid=1", pdu), LEAT_ERR_FIELD);
}

static void a_small_buffer_is_refused(void)
{
    uint8_t pdu[48];
    size_t len = 99;
    EQ(format_build_words(format, "", pdu, 47, &len), LEAT_ERR_SPACE);
    EQ(len, 99);
}

static void damaged_octets_show_nothing(void)
{
    uint8_t pdu[48];
    published_octets(pdu);
    pdu[7] ^= 1;
    size_t at = 99;
    EQ(format_show_json(format, pdu, sizeof pdu, &at), LEAT_ERR_CHECKSUM);
    EQ(at, 46);
    OK(strcmp(format_shown, "{}") == 0);
}

static void what_is_shown_builds_the_same_octets(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_atm_aal2_pdu pdu = { 0 };
        pdu.sn = (uint8_t)leat_random_below(&r, 16);
        pdu.it = (enum leat_atm_aal2_it)leat_random_below(&r, 4);
        pdu.li = (uint8_t)(1 + leat_random_below(&r, 45));
        uint8_t octets[48];
        leat_random_fill(&r, pdu.payload, pdu.li);
        OK(leat_atm_aal2_pdu_encode(&pdu, octets, sizeof octets) == LEAT_ERR_OK);
        format_round_trip(format, octets, sizeof octets);
    }
}

static void the_format_travels_in_cells(void)
{
    OK(strcmp(format->name, "aal2") == 0);
    EQ(format->unit_len, 48);
    EQ(format->link_type, 0);
}

TAP_MAIN(T(fields_are_shown_by_name), T(few_words_make_a_pdu), T(mistakes_are_explained),
         T(a_small_buffer_is_refused), T(damaged_octets_show_nothing),
         T(what_is_shown_builds_the_same_octets), T(the_format_travels_in_cells))
