#include "atm_signal.h"
#include "atm_text.h"
#include "format_harness.h"
#include <leat/random.h>
#include <string.h>

static const struct leat_format *const format = &leat_q2931_format;
static uint8_t octets[LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX];
static size_t len;

static leat_err from_words(const char *words)
{
    len = 0;
    return format_build_words(format, words, octets, sizeof octets, &len);
}

static void few_words_make_a_setup(void)
{
    static const uint8_t want[] = { 9,    3,    0, 0, 1,    5,   0x80, 0,    18,
                                    0x70, 0x80, 0, 5, 0x81, '4', '6',  '7',  '0',
                                    0x59, 0x80, 0, 5, 0x84, 0,   3,    0xe8, 0xbe };
    EQ(from_words("type=setup call=1 elements.0.id=called-number elements.0.number=4670 "
                  "elements.1.id=traffic-descriptor elements.1.forwardPeak=1000 "
                  "elements.1.bestEffort=true"),
       LEAT_ERR_OK);
    OK(len == sizeof want && memcmp(octets, want, len) == 0);
}

static void elements_are_shown_by_name(void)
{
    EQ(from_words(
           "type=STATUS call=3 toOriginator=true elements.0.id=cause elements.0.cause=normal"),
       LEAT_ERR_OK);
    EQ(format_show_json(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strcmp(
           format_shown,
           "{\"call\":3,\"toOriginator\":true,\"type\":\"STATUS\",\"follow\":false,"
           "\"action\":\"clear\",\"length\":6,\"elements\":[{\"id\":\"cause\",\"coding\":\"ITU-T\","
           "\"follow\":false,\"action\":\"clear\",\"length\":2,\"location\":\"user\","
           "\"cause\":\"normal\"}]}") == 0);
    EQ(format_show_tree(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "14      cause: normal (16)\n"));
}

/* The tree's offsets, with an optional octet and without. */
static void fields_have_their_offsets(void)
{
    EQ(from_words("type=SETUP elements.0.id=bearer-capability"), LEAT_ERR_OK);
    EQ(format_show_tree(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "14      clipping: 0\n"));
    EQ(from_words("type=SETUP elements.0.id=bearer-capability elements.0.transfer=CBR"),
       LEAT_ERR_OK);
    EQ(format_show_tree(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "14      transfer: CBR (5)\n"));
    OK(strstr(format_shown, "15      clipping: 0\n"));
    EQ(from_words("type=SETUP elements.0.id=aal-parameters elements.0.sscs=1"), LEAT_ERR_OK);
    EQ(format_show_tree(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "14      sscs: 1\n"));
}

static void without_words_every_element_is_shown(void)
{
    struct leat_atm_signal_message m;
    struct leat_atm_signal_content c;
    EQ(from_words(""), LEAT_ERR_OK);
    EQ(leat_atm_signal_message_decode(octets, len, &m, NULL), LEAT_ERR_OK);
    EQ(m.element_count, 11);
    for (unsigned i = 0; i < m.element_count; i++)
        EQ(leat_atm_signal_content_decode(&m.element[i], &c), LEAT_ERR_OK);
    format_round_trip(format, octets, len);
    EQ(from_words("type=CONNECT"), LEAT_ERR_OK);
    EQ(len, LEAT_ATM_SIGNAL_HEADER_LEN);
}

static void mistakes_are_explained(void)
{
    EQ(from_words("type=SETTUP"), LEAT_ERR_FIELD);
    OK(strstr(format_fields.message, "SETUP"));
    EQ(from_words("call=8388608"), LEAT_ERR_RANGE);
    EQ(from_words("type=SETUP elements.0.id=called-number elements.0.number=12x"), LEAT_ERR_LENGTH);
    OK(strstr(format_fields.message, "1 to 15 digits"));
    EQ(from_words("type=SETUP elements.0.id=called-number"), LEAT_ERR_LENGTH);
    EQ(from_words("type=SETUP elements.0.id=qos elements.0.peak=1"), LEAT_ERR_FIELD);
    OK(strstr(format_fields.message, "forwardClass"));
    EQ(from_words("type=SETUP elements.0.id=0xfe elements.0.cause=1"), LEAT_ERR_FIELD);
    EQ(from_words("type=SETUP spare=3"), LEAT_ERR_RANGE);
    EQ(from_words("type=SETUP elements.0.id=traffic-descriptor "
                  "elements.0.forwardPeak=16777216"),
       LEAT_ERR_RANGE);
    len = 99;
    EQ(format_build_words(format, "", octets, 20, &len), LEAT_ERR_SPACE);
    EQ(len, 99);
}

static void the_format_says_how_long_a_message_is(void)
{
    EQ(from_words("type=RELEASE elements.0.id=cause"), LEAT_ERR_OK);
    EQ(format->measure(octets, sizeof octets), len);
    EQ(format->measure(octets, 8), 0);
    OK(strcmp(format->name, "q2931") == 0);
    EQ(format->link_type, 0);
}

/* Known identifiers and unknown ones, contents at random: the text builds the same octets. */
static void what_is_shown_builds_the_same_octets(void)
{
    static const uint8_t ids[] = { 0x08, 0x14, 0x54, 0x55, 0x58, 0x59,
                                   0x5a, 0x5c, 0x5e, 0x6c, 0x70, 0xec };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 50; i++) {
        uint8_t contents[4][8];
        struct leat_atm_signal_message m = { .element_count = 4 };
        m.call = (uint32_t)leat_random_below(&r, LEAT_ATM_SIGNAL_CALL_MAX + 1);
        m.type = (uint8_t)leat_random_next(&r);
        m.instruction = (uint8_t)leat_random_next(&r);
        leat_random_fill(&r, contents, sizeof contents);
        for (unsigned k = 0; k < m.element_count; k++) {
            struct leat_atm_signal_element *e = &m.element[k];
            e->id = ids[leat_random_below(&r, sizeof ids)];
            e->instruction = leat_random_below(&r, 2) ? 0x80 : (uint8_t)leat_random_next(&r);
            if (leat_random_below(&r, 2)) contents[k][0] = 0x81;
            e->octets = contents[k];
            e->len = (uint16_t)leat_random_below(&r, sizeof contents[k]);
        }
        EQ(leat_atm_signal_message_encode(&m, octets, sizeof octets, &len), LEAT_ERR_OK);
        format_round_trip(format, octets, len);
    }
}

TAP_MAIN(T(few_words_make_a_setup), T(elements_are_shown_by_name), T(fields_have_their_offsets),
         T(without_words_every_element_is_shown), T(mistakes_are_explained),
         T(the_format_says_how_long_a_message_is), T(what_is_shown_builds_the_same_octets))
