#include "aton_live.h"
#include "aton_model_test.h"
#include "leat_bytes.h"
#include "leat_siphash.h"
#include "tap.h"

static const uint8_t key[LEAT_ATON_KEY_LEN] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
};
enum { IMAGE_LEN = 22, BARE_LEN = 12 + IMAGE_LEN, KEYED_LEN = BARE_LEN + 8, FRAME_MAX = 2048 };

static struct leat_aton_live min_query(void)
{
    return (struct leat_aton_live){
        .ring_id = 0x1EA7, .sequence = 0x01020304, .hops_left = 8, .packet = model_min_packet()
    };
}

static leat_err decode_untouched(const uint8_t *buf, size_t len, const uint8_t *with_key,
                                 size_t *fault_at)
{
    struct leat_aton_live out, before;
    memset(&out, 0xA5, sizeof out);
    memset(&before, 0xA5, sizeof before);
    const leat_err err = leat_aton_live_decode(buf, len, with_key, &out, fault_at);
    if (err) OK(memcmp(&out, &before, sizeof out) == 0);
    if (err) OK(*fault_at <= len);
    return err;
}

static void a_live_query_is_golden(void)
{
    static const uint8_t golden[BARE_LEN] = { 0x00, 0x00, 0x1e, 0xa7, 0x01, 0x02, 0x03, 0x04,
                                              0x08, 0x00, 0x00, 0x00, /* header */
                                              0x00, 0xaa, 0x00, 0xff, 0xff, 0x00, 0x01, 0x00,
                                              0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00,
                                              0x01, 0x00, 0x92, 0xba, 0xce, 0x75 };
    const struct leat_aton_live live = min_query();
    struct leat_aton_live back;
    uint8_t buf[KEYED_LEN];
    size_t len = 0;
    EQ(leat_aton_live_encode(&live, NULL, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, BARE_LEN);
    OK(memcmp(buf, golden, BARE_LEN) == 0);
    EQ(leat_aton_live_decode(golden, BARE_LEN, NULL, &back, NULL), LEAT_ERR_OK);
    EQ(back.ring_id, 0x1EA7);
    EQ(back.sequence, 0x01020304);
    EQ(back.hops_left, 8);
    EQ(back.flags, 0);
    OK(model_same_packet(&back.packet, &live.packet));
    EQ(leat_aton_live_header_decode(golden, 12, &back, NULL), LEAT_ERR_OK);
    uint8_t header[LEAT_ATON_LIVE_HEADER_LEN];
    EQ(leat_aton_live_header_encode(&back, header, sizeof header - 1), LEAT_ERR_SPACE);
    EQ(leat_aton_live_header_encode(&back, header, sizeof header), LEAT_ERR_OK);
    OK(memcmp(header, golden, sizeof header) == 0);
    EQ(back.ring_id, 0x1EA7);
}

static void the_mac_covers_all_but_hops_left(void)
{
    struct leat_aton_live live = min_query();
    uint8_t buf[KEYED_LEN], zeroed[KEYED_LEN];
    size_t len = 0, fault;
    EQ(leat_aton_live_encode(&live, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, KEYED_LEN);
    memcpy(zeroed, buf, sizeof buf);
    zeroed[8] = 0;
    OK(leat_get_be64(buf + BARE_LEN) == leat_siphash(key, zeroed, BARE_LEN));
    OK(leat_aton_live_mac(key, buf, BARE_LEN) == leat_siphash(key, zeroed, BARE_LEN));
    for (size_t bit = 0; bit < 8 * KEYED_LEN; bit++) {
        buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const leat_err err = decode_untouched(buf, len, key, &fault);
        if (bit / 8 == 8)
            EQ(err, LEAT_ERR_OK);
        else
            OK(err != LEAT_ERR_OK);
        buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void another_key_or_no_mac_is_refused(void)
{
    const struct leat_aton_live live = min_query();
    uint8_t other[LEAT_ATON_KEY_LEN] = { 1 }, buf[64] = { 0 };
    size_t len, fault = 0;
    EQ(leat_aton_live_encode(&live, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(decode_untouched(buf, len, key, &fault), LEAT_ERR_OK);
    EQ(decode_untouched(buf, len, other, &fault), LEAT_ERR_CHECKSUM);
    EQ(fault, BARE_LEN);
    EQ(decode_untouched(buf, BARE_LEN, key, &fault), LEAT_ERR_SHORT);
    EQ(fault, BARE_LEN);
    memset(buf + BARE_LEN, 0, sizeof buf - BARE_LEN);
    EQ(decode_untouched(buf, sizeof buf, key, &fault), LEAT_ERR_CHECKSUM); /* padding is no MAC */
}

/* A frame of Ethernet has at least 46 octets of payload; the rest of a short one is noise. */
static void padding_is_passed_over_with_and_without_a_key(void)
{
    const struct leat_aton_live live = min_query();
    struct leat_aton_live back;
    uint8_t buf[60];
    size_t len;
    memset(buf, 0x5A, sizeof buf);
    EQ(leat_aton_live_encode(&live, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(leat_aton_live_decode(buf, sizeof buf, key, &back, NULL), LEAT_ERR_OK);
    OK(model_same_packet(&back.packet, &live.packet));
    EQ(leat_aton_live_decode(buf, sizeof buf, NULL, &back, NULL), LEAT_ERR_OK);
    OK(model_same_packet(&back.packet, &live.packet));
}

static void every_truncation_is_short_at_its_end(void)
{
    const struct leat_aton_live live = min_query();
    uint8_t buf[KEYED_LEN];
    size_t len, fault = 0;
    EQ(leat_aton_live_encode(&live, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    for (size_t cut = 0; cut < len; cut++) {
        EQ(decode_untouched(buf, cut, key, &fault), LEAT_ERR_SHORT);
        EQ(fault, cut);
        if (cut < BARE_LEN) EQ(decode_untouched(buf, cut, NULL, &fault), LEAT_ERR_SHORT);
    }
}

static void the_zeros_of_the_header_are_zero(void)
{
    const struct leat_aton_live live = min_query();
    struct leat_aton_live back;
    uint8_t buf[KEYED_LEN];
    size_t len, fault = 0;
    EQ(leat_aton_live_encode(&live, NULL, buf, sizeof buf, &len), LEAT_ERR_OK);
    buf[11] = 1;
    EQ(decode_untouched(buf, len, NULL, &fault), LEAT_ERR_RESERVED);
    EQ(fault, 10);
    EQ(leat_aton_live_header_decode(buf, len, &back, &fault), LEAT_ERR_RESERVED);
    EQ(leat_aton_live_header_decode(buf, 11, &back, &fault), LEAT_ERR_SHORT);
    EQ(fault, 11);
}

/* Offsets of an image's errors count from the live header. */
static void a_damaged_image_is_reported_at_its_place_in_the_frame(void)
{
    struct leat_aton_live live = min_query();
    uint8_t buf[KEYED_LEN];
    size_t len, fault = 0;
    EQ(leat_aton_live_encode(&live, NULL, buf, sizeof buf, &len), LEAT_ERR_OK);
    buf[24] ^= 1;
    EQ(decode_untouched(buf, len, NULL, &fault), LEAT_ERR_CHECKSUM);
    EQ(fault, 30);
    buf[13] = 0x80;
    EQ(decode_untouched(buf, len, NULL, &fault), LEAT_ERR_TYPE);
    EQ(fault, 13);
}

static void what_does_not_fit_is_refused_and_nothing_written(void)
{
    struct leat_aton_live live = min_query();
    uint8_t buf[KEYED_LEN], before[KEYED_LEN];
    size_t len = 0;
    memset(buf, 0xA5, sizeof buf);
    memset(before, 0xA5, sizeof before);
    for (size_t cap = 0; cap < KEYED_LEN; cap++) {
        EQ(leat_aton_live_encode(&live, key, buf, cap, &len), LEAT_ERR_SPACE);
        if (cap < BARE_LEN) EQ(leat_aton_live_encode(&live, NULL, buf, cap, &len), LEAT_ERR_SPACE);
    }
    live.packet.opcode = 0;
    EQ(leat_aton_live_encode(&live, key, buf, sizeof buf, &len), LEAT_ERR_TYPE);
    OK(memcmp(buf, before, sizeof buf) == 0);
    EQ(len, 0);
}

static void random_live_packets_come_back(void)
{
    struct leat_random r;
    static struct model m;
    uint8_t want[FRAME_MAX], buf[FRAME_MAX];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        const uint8_t *with_key = leat_random_below(&r, 2) ? key : NULL;
        struct leat_aton_live live = { 0 };
        live.ring_id = (uint32_t)leat_random_next(&r);
        live.sequence = (uint32_t)leat_random_next(&r);
        live.hops_left = (uint8_t)leat_random_next(&r);
        live.flags = (uint8_t)leat_random_next(&r);
        struct leat_aton_live back;
        size_t len = 0, fault;
        model_random(&m, &r);
        live.packet = m.packet;
        uint8_t *to = model_octets(want, live.ring_id, 4);
        to = model_octets(to, live.sequence, 4);
        to = model_octets(to, live.hops_left, 1);
        to = model_octets(to, live.flags, 1);
        to = model_octets(to, 0, 2);
        to += model_image(&m, to);
        const size_t bare_len = (size_t)(to - want);
        EQ(leat_aton_live_encode(&live, with_key, buf, sizeof buf, &len), LEAT_ERR_OK);
        EQ(len, bare_len + (with_key ? 8 : 0));
        OK(memcmp(buf, want, bare_len) == 0);
        EQ(leat_aton_live_decode(buf, len, with_key, &back, &fault), LEAT_ERR_OK);
        OK(back.ring_id == live.ring_id && back.sequence == live.sequence &&
           back.hops_left == live.hops_left && back.flags == live.flags);
        OK(model_same_packet(&back.packet, &live.packet));
        if (tap_checks_failed) break;
    }
}

static void random_octets_are_refused(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        uint8_t buf[80];
        size_t fault = 0;
        const size_t len = leat_random_below(&r, sizeof buf + 1);
        leat_random_fill(&r, buf, len);
        if (len >= 12) leat_put_be16(buf + 10, 0);
        OK(decode_untouched(buf, len, i & 1 ? key : NULL, &fault) != LEAT_ERR_OK);
    }
}

TAP_MAIN(T(a_live_query_is_golden), T(the_mac_covers_all_but_hops_left),
         T(another_key_or_no_mac_is_refused), T(padding_is_passed_over_with_and_without_a_key),
         T(every_truncation_is_short_at_its_end), T(the_zeros_of_the_header_are_zero),
         T(a_damaged_image_is_reported_at_its_place_in_the_frame),
         T(what_does_not_fit_is_refused_and_nothing_written), T(random_live_packets_come_back),
         T(random_octets_are_refused))
