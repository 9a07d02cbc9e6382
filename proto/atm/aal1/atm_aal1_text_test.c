#include "atm_aal1.h"
#include "atm_text.h"
#include "format_harness.h"
#include <leat/random.h>
#include <string.h>

static const struct leat_format *const format = &leat_aal1_format;

static leat_err from_words(const char *words, uint8_t pdu[48])
{
    size_t len = 0;
    return format_build_words(format, words, pdu, 48, &len);
}

static void fields_are_shown_by_name(void)
{
    uint8_t pdu[48] = { 0xa6, 5, 0xff };
    EQ(format_show_json(format, pdu, sizeof pdu, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "{\"csi\":1,\"sc\":2,\"crc\":3,\"parity\":0,\"pointer\":5,"
                            "\"payload\":\"ff00") == format_shown);
    pdu[0] = 0x17;
    EQ(format_show_json(format, pdu, sizeof pdu, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "pointer") == NULL);
    OK(strstr(format_shown, "\"payload\":\"05ff00") != NULL);
    EQ(format_show_tree(format, pdu, sizeof pdu, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "sc: 1") != NULL);
}

static void few_words_make_a_pdu(void)
{
    uint8_t pdu[48];
    EQ(from_words("", pdu), LEAT_ERR_OK);
    EQ(pdu[0], 0x00);
    EQ(from_words("sc=3 payload=0102", pdu), LEAT_ERR_OK);
    OK(memcmp(pdu, "\x3a\x01\x02\x00", 4) == 0);
    EQ(from_words("csi=1 sc=6 pointer=127 payload=ff", pdu), LEAT_ERR_OK);
    OK(memcmp(pdu, "\xe8\x7f\xff\x00", 4) == 0);
}

static void mistakes_are_explained(void)
{
    uint8_t pdu[48];
    EQ(from_words("sc=8", pdu), LEAT_ERR_RANGE);
    OK(strstr(format_fields.message, "0..7") != NULL);
    EQ(from_words("sc=2 pointer=1", pdu), LEAT_ERR_FIELD);
    OK(strstr(format_fields.message, "csi=1") != NULL);
    EQ(from_words("csi=1 sc=2 pointer=94", pdu), LEAT_ERR_RANGE);
    OK(strstr(format_fields.message, "0..93") != NULL);
    EQ(from_words("snc=2", pdu), LEAT_ERR_FIELD);
    EQ(from_words("csi=1 payload="
                  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                  "202122232425262728292a2b2c2d2e",
                  pdu),
       LEAT_ERR_LENGTH); /* 47 octets beside a pointer */
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
    const uint8_t pdu[48] = { 0x01 };
    size_t at = 99;
    EQ(format_show_json(format, pdu, sizeof pdu, &at), LEAT_ERR_CHECKSUM);
    EQ(at, 0);
    OK(strcmp(format_shown, "{}") == 0);
}

static void what_is_shown_builds_the_same_octets(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        uint8_t pdu[48];
        leat_random_fill(&r, pdu, sizeof pdu);
        pdu[0] = leat_atm_aal1_sn_encode((uint8_t)leat_random_below(&r, 16));
        pdu[1] %= 94; /* a legal pointer, if it is one */
        format_round_trip(format, pdu, sizeof pdu);
    }
}

static void the_format_travels_in_cells(void)
{
    OK(strcmp(format->name, "aal1") == 0);
    EQ(format->unit_len, 48);
    EQ(format->link_type, 0);
}

TAP_MAIN(T(fields_are_shown_by_name), T(few_words_make_a_pdu), T(mistakes_are_explained),
         T(a_small_buffer_is_refused), T(damaged_octets_show_nothing),
         T(what_is_shown_builds_the_same_octets), T(the_format_travels_in_cells))
