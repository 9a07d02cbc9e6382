/*
 * The serial image in octets against the plain model of symbols (a string of 0 1 J K), packed here
 * a second time by arithmetic on the string.
 */
#include "aton_image.h"
#include "aton_model_test.h"
#include "aton_text.h"
#include "format_harness.h"

static char string[MODEL_SYMBOLS_MAX];
static uint8_t packed[MODEL_SYMBOLS_MAX], image[LEAT_ATON_IMAGE_SERIAL_MAX];
static uint8_t payload[LEAT_ATON_IMAGE_PAYLOAD_MAX];

/* Two bits for each character, idle behind the last. */
static size_t pack(size_t count)
{
    size_t len = 0;
    while (count % 4)
        string[count++] = '0';
    for (size_t i = 0; i < count; i += 4) {
        unsigned octet = 0;
        for (size_t k = i; k < i + 4; k++)
            octet = 4 * octet + (unsigned)(strchr("01JK", string[k]) - "01JK");
        packed[len++] = (uint8_t)octet;
    }
    return len;
}

static size_t random_image(struct model *m, struct leat_random *r, unsigned *i, unsigned *e)
{
    model_random(m, r);
    *i = (unsigned)leat_random_below(r, 2);
    *e = (unsigned)leat_random_below(r, 2);
    return pack(model_symbols(m, *i, *e, string));
}

static void random_frames_are_the_models_octets_and_come_back(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < LEAT_ROUNDS / 10 && !tap_checks_failed; k++) {
        static struct model m;
        struct leat_aton_frame frame = { 0 };
        unsigned i, e;
        uint32_t crc = 0;
        size_t len = 0, measured = 0;
        const size_t want = random_image(&m, &r, &i, &e);
        const struct leat_aton_frame sent = { .packet = m.packet,
                                              .intermediate = (uint8_t)i,
                                              .error = (uint8_t)e };
        EQ(leat_aton_image_encode(&sent, image, sizeof image, &len), LEAT_ERR_OK);
        OK(len == want && memcmp(image, packed, len) == 0);
        EQ(leat_aton_image_measure(packed, want, &measured, NULL), LEAT_ERR_OK);
        EQ(measured, want);
        EQ(leat_aton_image_decode(packed, want, payload, &frame, &crc, NULL), LEAT_ERR_OK);
        OK(model_same_packet(&frame.packet, &m.packet));
        OK(frame.intermediate == i && frame.error == e);
        EQ(leat_aton_image_encode(&sent, image, want - 1, &len), LEAT_ERR_SPACE);
    }
}

/* SD, AC with T = 1, ED: JK0JK000 00010000 JK1JK100. */
static void a_token_is_six_octets(void)
{
    static const uint8_t want[] = { 0xB2, 0xC0, 0x01, 0x00, 0xB6, 0xD0 };
    const struct leat_aton_frame token = { .packet = { .token = 1 } };
    struct leat_aton_frame back = { 0 };
    uint32_t crc = 7;
    size_t len = 0;
    EQ(leat_aton_image_encode(&token, image, sizeof image, &len), LEAT_ERR_OK);
    EQ(len, sizeof want);
    OK(memcmp(image, want, sizeof want) == 0);
    EQ(leat_aton_image_decode(want, len, payload, &back, &crc, NULL), LEAT_ERR_OK);
    OK(back.packet.token == 1 && crc == 0);
}

/* The CRC is x^31 first, its lowest bit in the reflected register. */
static void the_crc_is_the_one_sent(void)
{
    struct model m = { .packet = model_min_packet() };
    struct leat_aton_frame frame;
    uint32_t crc = 0;
    const size_t count = model_symbols(&m, 0, 0, string), len = pack(count);
    uint32_t want = 0;
    for (size_t i = 0; i < 32; i++)
        want |= (uint32_t)(string[count - 40 + i] == '1') << i;
    EQ(leat_aton_image_decode(packed, len, payload, &frame, &crc, NULL), LEAT_ERR_OK);
    EQ(crc, want);
}

static void wrong_images_are_refused_at_their_place(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < 200; k++) {
        static struct model m;
        struct leat_aton_frame frame;
        unsigned i, e;
        uint32_t crc;
        size_t at = 0;
        const size_t len = random_image(&m, &r, &i, &e);
        const size_t cut = leat_random_below(&r, len);
        EQ(leat_aton_image_decode(packed, cut, payload, &frame, &crc, &at), LEAT_ERR_SHORT);
        EQ(at, cut);
        EQ(leat_aton_image_decode(packed, len + 1, payload, &frame, &crc, &at), LEAT_ERR_LENGTH);
        EQ(at, len);
        packed[0] ^= 0x10; /* K of SD */
        EQ(leat_aton_image_decode(packed, len, payload, &frame, &crc, &at), LEAT_ERR_RANGE);
        EQ(at, 0);
        packed[0] ^= 0x10;
        packed[12] ^= 0x01; /* a bit of SA */
        EQ(leat_aton_image_decode(packed, len, payload, &frame, &crc, &at), LEAT_ERR_CHECKSUM);
        EQ(at, (model_symbols(&m, i, e, string) - 40) / 4);
    }
}

/* TREE with one slot of 16 bits: 161 symbols, three of them padding. */
static void what_follows_ed_is_idle(void)
{
    static struct model m;
    struct leat_aton_frame frame;
    uint32_t crc;
    size_t at = 0;
    m = (struct model){ .packet = { .active = 1, .opcode = 11, .width_bits = 16, .param = 1 },
                        .count = 1 };
    const size_t count = model_symbols(&m, 0, 0, string), len = pack(count);
    EQ(count, 161);
    EQ(len, 41);
    EQ(leat_aton_image_decode(packed, len, payload, &frame, &crc, &at), LEAT_ERR_OK);
    packed[40] |= 1;
    EQ(leat_aton_image_decode(packed, len, payload, &frame, &crc, &at), LEAT_ERR_RESERVED);
    EQ(at, 40);
}

/* Passive octets: 8 symbols each, 128 for the rest. */
static void longer_frames_than_the_limit_have_no_serial_image(void)
{
    static uint8_t octets[LEAT_ATON_IMAGE_PAYLOAD_MAX];
    struct leat_aton_frame frame = { .packet = { .payload = octets, .payload_len = 8176 } };
    struct leat_aton_frame back;
    uint32_t crc;
    size_t len = 0, at = 0;
    EQ(leat_aton_image_encode(&frame, image, sizeof image, &len), LEAT_ERR_OK);
    EQ(len, sizeof image);
    EQ(leat_aton_image_decode(image, len, payload, &back, &crc, &at), LEAT_ERR_OK);
    EQ(back.packet.payload_len, 8176);
    frame.packet.payload_len++;
    EQ(leat_aton_image_encode(&frame, image, sizeof image, &len), LEAT_ERR_SPACE);
    image[19] |= 1; /* the length: 8177 */
    EQ(leat_aton_image_measure(image, sizeof image, &len, &at), LEAT_ERR_LENGTH);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void the_text_is_that_of_the_octet_image_and_two_bits_more(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < 300 && !tap_checks_failed; k++) {
        static struct model m;
        static uint8_t octets[MODEL_IMAGE_MAX], built[LEAT_ATON_IMAGE_SERIAL_MAX];
        static char plain[sizeof format_shown];
        unsigned i, e;
        size_t built_len = 0;
        const size_t len = random_image(&m, &r, &i, &e);
        const size_t octets_len = model_image(&m, octets);
        EQ(format_show_json(&leat_aton_format, octets, octets_len, NULL), LEAT_ERR_OK);
        strcpy(plain, format_shown);
        EQ(format_show_json(&leat_aton_serial_format, packed, len, NULL), LEAT_ERR_OK);
        const size_t same = (size_t)(strstr(plain, "\"crc\"") - plain);
        OK(strncmp(plain, format_shown, same) == 0);
        OK(strstr(format_shown, i ? "\"intermediate\":true" : "\"intermediate\":false") != NULL);
        OK(strstr(format_shown, e ? "\"error\":true" : "\"error\":false") != NULL);
        EQ(format_build_json(&leat_aton_serial_format, format_shown, built, sizeof built,
                             &built_len),
           LEAT_ERR_OK);
        OK(built_len == len && memcmp(built, packed, len) == 0);
        EQ(leat_aton_serial_format.measure(packed, len), len);
    }
}

static void a_token_has_text_here(void)
{
    uint8_t octets[16];
    size_t len = 0;
    EQ(format_build_words(&leat_aton_serial_format, "token=true priority=3", octets, sizeof octets,
                          &len),
       LEAT_ERR_OK);
    EQ(len, 6);
    EQ(format_show_json(&leat_aton_serial_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown, "{\"priority\":3,\"token\":true,\"monitor\":false,\"reservation\":0,"
                            "\"intermediate\":false,\"error\":false}") == 0);
}

TAP_MAIN(T(random_frames_are_the_models_octets_and_come_back), T(a_token_is_six_octets),
         T(the_crc_is_the_one_sent), T(wrong_images_are_refused_at_their_place),
         T(what_follows_ed_is_idle), T(longer_frames_than_the_limit_have_no_serial_image),
         T(the_text_is_that_of_the_octet_image_and_two_bits_more), T(a_token_has_text_here))
