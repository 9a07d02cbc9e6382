/*
 * Messages and contents, against octets written by hand from Q.2931 (test/tshark/q2931.py compares
 * every field with another reading of it) and against a plain second reading of the octets.
 */
#include "atm_signal.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* ---- messages ------------------------------------------------------------------------------- */

static const uint8_t release[] = {
    0x09, 0x03, 0x80, 0x00, 0x07,       /* call 7, to the side that chose it */
    0x4d, 0x80, 0x00, 0x0a,             /* RELEASE, ten octets */
    0x08, 0x80, 0x00, 0x02, 0x83, 0x90, /* cause: transit network, normal */
    0xfe, 0xd5, 0x00, 0x00,             /* nobody knows this one */
};

static void a_message_is_laid_out_as_the_recommendation_says(void)
{
    struct leat_atm_signal_message m;
    uint8_t back[sizeof release];
    size_t len = 0;
    EQ(leat_atm_signal_message_decode(release, sizeof release, &m, NULL), LEAT_ERR_OK);
    EQ(m.call, 7);
    OK(m.to_originator);
    EQ(m.type, LEAT_ATM_SIGNAL_RELEASE);
    EQ(m.instruction, LEAT_ATM_SIGNAL_INSTRUCTION);
    EQ(m.element_count, 2);
    OK(leat_atm_signal_message_find(&m, LEAT_ATM_SIGNAL_CAUSE) == &m.element[0]);
    OK(!leat_atm_signal_message_find(&m, LEAT_ATM_SIGNAL_QOS));
    OK(m.element[0].octets == release + 13 && m.element[0].len == 2);
    EQ(m.element[1].id, 0xfe);
    EQ(m.element[1].instruction, 0xd5);
    EQ(m.element[1].len, 0);
    EQ(leat_atm_signal_message_encode(&m, back, sizeof back, &len), LEAT_ERR_OK);
    OK(len == sizeof release && memcmp(back, release, len) == 0);
}

/* A plain second reading: is this a message, and how many elements has it? -1: it is not. */
static int plain_elements(const uint8_t *p, size_t len)
{
    if (len < 9 || len > 4096 || p[0] != 9 || p[1] != 3) return -1;
    if ((size_t)(p[7] * 256 + p[8]) != len - 9) return -1;
    int count = 0;
    size_t left = len - 9;
    for (p += 9; left; count++) {
        const size_t element = left < 4 ? left + 1 : 4 + (size_t)(p[2] * 256 + p[3]);
        if (element > left) return -1;
        p += element;
        left -= element;
    }
    return count <= 32 ? count : -1;
}

/* Random elements, sometimes damaged afterwards. */
static size_t random_message(struct leat_random *r, uint8_t *p)
{
    size_t at = 9;
    const uint64_t count = leat_random_below(r, 36);
    p[0] = 9;
    p[1] = 3;
    leat_random_fill(r, p + 2, 5);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t len = leat_random_below(r, 12);
        leat_random_fill(r, p + at, 4 + len);
        p[at + 2] = 0;
        p[at + 3] = (uint8_t)len;
        at += 4 + len;
    }
    p[7] = (uint8_t)((at - 9) >> 8);
    p[8] = (uint8_t)(at - 9);
    if (leat_random_below(r, 2)) {
        const uint64_t where = leat_random_below(r, at);
        p[where] = (uint8_t)leat_random_next(r);
    }
    return at - (leat_random_below(r, 8) == 0);
}

static void messages_survive_octet_for_octet_as_the_plain_reading_expects(void)
{
    struct leat_random r;
    static uint8_t octets[1024], back[1024];
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_atm_signal_message m = { .call = 99 };
        const size_t len = random_message(&r, octets);
        size_t fault_at = SIZE_MAX, back_len = 0;
        const int want = plain_elements(octets, len);
        const leat_err err = leat_atm_signal_message_decode(octets, len, &m, &fault_at);
        EQ(err == LEAT_ERR_OK ? (int)m.element_count : -1, want);
        if (err) {
            OK(fault_at <= len && m.call == 99);
            continue;
        }
        EQ(leat_atm_signal_message_encode(&m, back, sizeof back, &back_len), LEAT_ERR_OK);
        OK(back_len == len && memcmp(back, octets, len) == 0);
    }
}

static void what_does_not_fit_is_not_encoded(void)
{
    static const uint8_t zeros[5000];
    uint8_t buf[64];
    size_t len = 99;
    struct leat_atm_signal_message m = { .call = LEAT_ATM_SIGNAL_CALL_MAX + 1 };
    EQ(leat_atm_signal_message_encode(&m, buf, sizeof buf, &len), LEAT_ERR_RANGE);
    m.call = 0;
    EQ(leat_atm_signal_message_encode(&m, buf, 8, &len), LEAT_ERR_SPACE);
    m.element_count = LEAT_ATM_SIGNAL_ELEMENTS_MAX + 1;
    EQ(leat_atm_signal_message_encode(&m, buf, sizeof buf, &len), LEAT_ERR_FULL);
    m.element_count = 1;
    m.element[0] = (struct leat_atm_signal_element){ .octets = zeros, .len = sizeof zeros };
    EQ(leat_atm_signal_message_encode(&m, buf, sizeof buf, &len), LEAT_ERR_LENGTH);
    EQ(len, 99);
}

/* ---- contents ------------------------------------------------------------------------------- */

static struct leat_atm_signal_element element_of(uint8_t id, const void *octets, size_t len)
{
    return (struct leat_atm_signal_element){
        .id = id, .instruction = LEAT_ATM_SIGNAL_INSTRUCTION, .octets = octets, .len = (uint16_t)len
    };
}

/* Decodes octets given as text, and checks that they encode to themselves. */
static struct leat_atm_signal_content content_of(uint8_t id, const char *octets, size_t len)
{
    struct leat_atm_signal_content c = { 0 };
    const struct leat_atm_signal_element e = element_of(id, octets, len);
    uint8_t back[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX];
    uint16_t back_len = 0;
    EQ(leat_atm_signal_content_decode(&e, &c), LEAT_ERR_OK);
    EQ(leat_atm_signal_content_encode(&c, back, sizeof back, &back_len), LEAT_ERR_OK);
    OK(back_len == len && memcmp(back, octets, len) == 0);
    EQ(leat_atm_signal_content_encode(&c, back, len - 1, &back_len), LEAT_ERR_SPACE);
    return c;
}

static void contents_have_the_meaning_of_the_recommendation(void)
{
    struct leat_atm_signal_content c = content_of(LEAT_ATM_SIGNAL_CAUSE,
                                                  "\x82\xe6"
                                                  "303",
                                                  5);
    EQ(c.value[LEAT_ATM_SIGNAL_CAUSE_LOCATION], 2);
    EQ(c.value[LEAT_ATM_SIGNAL_CAUSE_VALUE], 102);
    OK(c.tail_len == 3 && memcmp(c.tail, "303", 3) == 0);

    EQ(content_of(LEAT_ATM_SIGNAL_CALL_STATE, "\x0a", 1).value[LEAT_ATM_SIGNAL_STATE], 10);
    EQ(content_of(LEAT_ATM_SIGNAL_ENDPOINT_STATE, "\x0c", 1).value[LEAT_ATM_SIGNAL_STATE], 12);

    c = content_of(LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE, "\0\x81\x02", 3);
    EQ(c.value[LEAT_ATM_SIGNAL_ENDPOINT_FLAG], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_ENDPOINT_VALUE], 0x102);

    c = content_of(LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER, "\x88\x00\x03\x01\x00", 5);
    EQ(c.value[LEAT_ATM_SIGNAL_CONNECTION_ASSOCIATED], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_CONNECTION_EXCLUSIVE], 0);
    EQ(c.value[LEAT_ATM_SIGNAL_CONNECTION_VPCI], 3);
    EQ(c.value[LEAT_ATM_SIGNAL_CONNECTION_VCI], 256);

    c = content_of(LEAT_ATM_SIGNAL_QOS, "\1\2", 2);
    EQ(c.value[LEAT_ATM_SIGNAL_QOS_FORWARD], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_QOS_BACKWARD], 2);
}

static void items_are_there_or_not(void)
{
    const char octets[] = "\x84\x05\x63\xb7\x85\x00\x00\x01\xa0\x00\x00\x64\xbe\xbf\x01";
    struct leat_atm_signal_content c = content_of(LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, octets, 15);
    EQ(c.value[LEAT_ATM_SIGNAL_PEAK], 353207);
    EQ(c.value[LEAT_ATM_SIGNAL_PEAK + 1], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_BURST_CLP0], 100);
    OK(leat_atm_signal_content_has(&c, LEAT_ATM_SIGNAL_BEST_EFFORT));
    EQ(c.value[LEAT_ATM_SIGNAL_TRAFFIC_OPTIONS], LEAT_ATM_SIGNAL_TAG_FORWARD);
    OK(!leat_atm_signal_content_has(&c, LEAT_ATM_SIGNAL_SUSTAINABLE));

    c = content_of(LEAT_ATM_SIGNAL_AAL_PARAMETERS, "\x05\x8c\x23\xe4\x81\x00\x01\x84\x00", 9);
    EQ(c.value[LEAT_ATM_SIGNAL_AAL_TYPE], LEAT_ATM_SIGNAL_AAL_5);
    EQ(c.value[LEAT_ATM_SIGNAL_AAL_FORWARD_SDU], 9188);
    EQ(c.value[LEAT_ATM_SIGNAL_AAL_BACKWARD_SDU], 1);
    OK(leat_atm_signal_content_has(&c, LEAT_ATM_SIGNAL_AAL_SSCS));
}

static void an_optional_octet_follows_a_clear_bit_8(void)
{
    struct leat_atm_signal_content c = content_of(LEAT_ATM_SIGNAL_BEARER_CAPABILITY, "\x90\xa1", 2);
    EQ(c.value[LEAT_ATM_SIGNAL_BEARER_CLASS], LEAT_ATM_SIGNAL_CLASS_X);
    OK(!leat_atm_signal_content_has(&c, LEAT_ATM_SIGNAL_BEARER_TRANSFER));
    EQ(c.value[LEAT_ATM_SIGNAL_BEARER_CLIPPING], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_BEARER_CONFIGURATION], 1);
    c = content_of(LEAT_ATM_SIGNAL_BEARER_CAPABILITY, "\x10\x85\x80", 3);
    EQ(c.value[LEAT_ATM_SIGNAL_BEARER_TRANSFER], 5);
    EQ(c.value[LEAT_ATM_SIGNAL_BEARER_CONFIGURATION], 0);

    c = content_of(LEAT_ATM_SIGNAL_CALLING_NUMBER,
                   "\x81"
                   "42",
                   3);
    OK(c.tail_len == 2 && c.tail[0] == '4');
    c = content_of(LEAT_ATM_SIGNAL_CALLING_NUMBER,
                   "\x11\xa3"
                   "42",
                   4);
    EQ(c.value[LEAT_ATM_SIGNAL_NUMBER_TYPE], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_NUMBER_PRESENTATION], 1);
    EQ(c.value[LEAT_ATM_SIGNAL_NUMBER_SCREENING], 3);
    OK(c.tail_len == 2 && c.tail[0] == '4');
}

static leat_err refused(uint8_t id, const char *octets, size_t len)
{
    struct leat_atm_signal_content c = { .id = 77 };
    const struct leat_atm_signal_element e = element_of(id, octets, len);
    const leat_err err = leat_atm_signal_content_decode(&e, &c);
    EQ(c.id, 77);
    return err;
}

static void contents_that_would_not_come_back_are_refused(void)
{
    EQ(refused(0xfe, "", 0), LEAT_ERR_TYPE);
    EQ(refused(LEAT_ATM_SIGNAL_CAUSE, "\x80", 1), LEAT_ERR_SHORT);
    EQ(refused(LEAT_ATM_SIGNAL_CAUSE, "\x80\x10", 2), LEAT_ERR_RESERVED);
    EQ(refused(LEAT_ATM_SIGNAL_CAUSE, "\x90\x90", 2), LEAT_ERR_RESERVED);
    EQ(refused(LEAT_ATM_SIGNAL_CALL_STATE, "\x40", 1), LEAT_ERR_RESERVED);
    EQ(refused(LEAT_ATM_SIGNAL_CALL_STATE, "\x0a\x00", 2), LEAT_ERR_TYPE);
    EQ(refused(LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "\x84\x00\x00", 3), LEAT_ERR_SHORT);
    EQ(refused(LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "\x86\x00\x00\x00", 4), LEAT_ERR_TYPE);
    EQ(refused(LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "\x00", 1), LEAT_ERR_TYPE);
    EQ(refused(LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "\x84\0\0\1\x84\0\0\1", 8), LEAT_ERR_RESERVED);
    EQ(refused(LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "\x85\0\0\1\x84\0\0\1", 8), LEAT_ERR_RESERVED);
    EQ(refused(LEAT_ATM_SIGNAL_BEARER_CAPABILITY, "\x10", 1), LEAT_ERR_SHORT);
    EQ(refused(LEAT_ATM_SIGNAL_BEARER_CAPABILITY, "", 0), LEAT_ERR_SHORT);
    struct leat_atm_signal_element e = element_of(LEAT_ATM_SIGNAL_QOS, "\0\0", 2);
    struct leat_atm_signal_content c;
    e.instruction = 0xe0; /* the network's own coding */
    EQ(leat_atm_signal_content_decode(&e, &c), LEAT_ERR_TYPE);
}

static void numbers_are_digits_or_an_address_of_twenty_octets(void)
{
    static const char address[] = "\x82"
                                  "abcdefghijklmnopqrst";
    EQ(content_of(LEAT_ATM_SIGNAL_CALLED_NUMBER, address, 21).tail_len, 20);
    EQ(refused(LEAT_ATM_SIGNAL_CALLED_NUMBER, address, 20), LEAT_ERR_LENGTH);
    EQ(refused(LEAT_ATM_SIGNAL_CALLED_NUMBER, "\x81", 1), LEAT_ERR_LENGTH);
    EQ(refused(LEAT_ATM_SIGNAL_CALLED_NUMBER,
               "\x81"
               "12a",
               4),
       LEAT_ERR_RANGE);
    EQ(refused(LEAT_ATM_SIGNAL_CALLED_NUMBER,
               "\x81"
               "1234567890123456",
               17),
       LEAT_ERR_LENGTH);
    EQ(refused(LEAT_ATM_SIGNAL_CALLED_NUMBER,
               "\x80"
               "1",
               2),
       LEAT_ERR_TYPE);
    EQ(content_of(LEAT_ATM_SIGNAL_CALLED_NUMBER,
                  "\x81"
                  "123456789012345",
                  16)
           .tail_len,
       15);
}

static void wide_values_and_long_tails_are_refused(void)
{
    uint8_t buf[64];
    uint16_t len = 9;
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_CAUSE };
    c.value[LEAT_ATM_SIGNAL_CAUSE_VALUE] = 128;
    EQ(leat_atm_signal_content_encode(&c, buf, sizeof buf, &len), LEAT_ERR_RANGE);
    c.value[LEAT_ATM_SIGNAL_CAUSE_VALUE] = 1;
    c.tail = buf;
    c.tail_len = LEAT_ATM_SIGNAL_DIAGNOSTICS_LEN_MAX + 1;
    EQ(leat_atm_signal_content_encode(&c, buf, sizeof buf, &len), LEAT_ERR_LENGTH);
    c = (struct leat_atm_signal_content){ .id = LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR };
    leat_atm_signal_content_set(&c, LEAT_ATM_SIGNAL_PEAK, 1 << 24);
    EQ(leat_atm_signal_content_encode(&c, buf, sizeof buf, &len), LEAT_ERR_RANGE);
    c.id = 0xfe;
    EQ(leat_atm_signal_content_encode(&c, buf, sizeof buf, &len), LEAT_ERR_TYPE);
    EQ(len, 9);
}

/* Whatever decodes comes back; most random contents do not, so valid ones are altered. */
static void random_contents_come_back_or_are_refused(void)
{
    static const struct {
        uint8_t id;
        const char *octets;
        uint16_t len;
    } begin[] = {
        { LEAT_ATM_SIGNAL_CAUSE,
          "\x82\xe6"
          "303",
          5 },
        { LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "\x84\x05\x63\xb7\x85\x00\x00\x01\xbe\xbf\x01", 11 },
        { LEAT_ATM_SIGNAL_AAL_PARAMETERS, "\x05\x8c\x23\xe4\x81\x00\x01\x84\x00", 9 },
        { LEAT_ATM_SIGNAL_BEARER_CAPABILITY, "\x10\x85\x80", 3 },
        { LEAT_ATM_SIGNAL_CALLING_NUMBER,
          "\x11\xa3"
          "42",
          4 },
        { LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER, "\x88\x00\x03\x01\x00", 5 },
    };
    struct leat_random r;
    long sound = 0;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        uint8_t octets[16], back[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX];
        const size_t k = (size_t)i % (sizeof begin / sizeof *begin);
        uint16_t back_len = 0;
        memcpy(octets, begin[k].octets, begin[k].len);
        const uint64_t at = leat_random_below(&r, begin[k].len);
        octets[at] = (uint8_t)leat_random_next(&r);
        const uint64_t cut = leat_random_below(&r, 8) == 0;
        const struct leat_atm_signal_element e = element_of(begin[k].id, octets,
                                                            begin[k].len - cut);
        struct leat_atm_signal_content c;
        if (leat_atm_signal_content_decode(&e, &c)) continue;
        sound++;
        EQ(leat_atm_signal_content_encode(&c, back, sizeof back, &back_len), LEAT_ERR_OK);
        OK(back_len == e.len && memcmp(back, octets, e.len) == 0);
    }
    OK(sound > LEAT_ROUNDS / 40);
}

TAP_MAIN(T(a_message_is_laid_out_as_the_recommendation_says),
         T(messages_survive_octet_for_octet_as_the_plain_reading_expects),
         T(what_does_not_fit_is_not_encoded), T(contents_have_the_meaning_of_the_recommendation),
         T(items_are_there_or_not), T(an_optional_octet_follows_a_clear_bit_8),
         T(contents_that_would_not_come_back_are_refused),
         T(numbers_are_digits_or_an_address_of_twenty_octets),
         T(wide_values_and_long_tails_are_refused), T(random_contents_come_back_or_are_refused))
