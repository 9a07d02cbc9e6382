#include "aton_model_test.h"
#include "aton_wire.h"
#include "leat_bytes.h"
#include "tap.h"

static leat_err encode(const struct leat_aton_packet *p)
{
    uint8_t buf[MODEL_IMAGE_MAX];
    size_t len;
    return leat_aton_packet_encode(p, buf, sizeof buf, &len);
}

/* Decodes into a struct full of a pattern, which must survive an error. */
static leat_err decode_untouched(const uint8_t *buf, size_t len, size_t *fault_at)
{
    struct leat_aton_packet out, before;
    memset(&out, 0xA5, sizeof out);
    memset(&before, 0xA5, sizeof before);
    const leat_err err = leat_aton_packet_decode(buf, len, &out, fault_at);
    if (err) OK(memcmp(&out, &before, sizeof out) == 0);
    if (err) OK(*fault_at <= len);
    return err;
}

/* Built by hand: CTL is 1 0101 01 000000 000, the CRC is zlib's. */
static void a_min_packet_is_golden(void)
{
    static const uint8_t golden[] = { 0x00, 0xaa, 0x00, 0xff, 0xff, 0x00, 0x01, 0x00,
                                      0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00,
                                      0x01, 0x00, 0x92, 0xba, 0xce, 0x75 };
    const struct leat_aton_packet p = model_min_packet();
    struct leat_aton_packet back;
    uint8_t buf[sizeof golden];
    size_t len = 0;
    EQ(leat_aton_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, sizeof golden);
    OK(memcmp(buf, golden, sizeof golden) == 0);
    EQ(leat_aton_packet_decode(golden, sizeof golden, &back, NULL), LEAT_ERR_OK);
    OK(model_same_packet(&p, &back));
}

static void encodes_back(const uint8_t *octets, size_t len)
{
    struct leat_aton_packet p;
    uint8_t back[MODEL_IMAGE_MAX];
    size_t fault, back_len = 0;
    EQ(leat_aton_packet_decode(octets, len, &p, &fault), LEAT_ERR_OK);
    EQ(leat_aton_packet_encode(&p, back, sizeof back, &back_len), LEAT_ERR_OK);
    EQ(back_len, len);
    OK(memcmp(back, octets, len) == 0);
    EQ(model_image_crc(octets, len - 5), leat_get_be32(octets + len - 4));
}

static void every_vector_decodes_and_encodes_back(void)
{
    EQ(model_each_vector(encodes_back), 21);
}

static void every_bad_vector_is_refused_with_its_code(void)
{
    uint8_t octets[MODEL_IMAGE_MAX];
    char note[80], code[80];
    size_t len, fault;
    int n = 0;
    FILE *file = fopen(MODEL_VECTORS "bad_aton_packets.hex", "r");
    OK(file != NULL);
    if (!file) return;
    for (; model_vector(file, octets, &len, note); n++) {
        const leat_err err = decode_untouched(octets, len, &fault);
        OK(sscanf(note, "%79s", code) == 1 && strcmp(code, leat_err_name(err)) == 0);
        if (strcmp(code, leat_err_name(err)) != 0)
            printf("# %s: got %s\n", note, leat_err_name(err));
    }
    fclose(file);
    EQ(n, 35);
}

static void is_short_when_cut(const uint8_t *octets, size_t len)
{
    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1); /* so that a sanitizer sees a read beyond */
        size_t fault = 0;
        if (!exact) abort();
        memcpy(exact, octets, cut);
        EQ(decode_untouched(exact, cut, &fault), LEAT_ERR_SHORT);
        EQ(fault, cut);
        free(exact);
    }
}

static void every_truncation_is_short_at_its_end(void)
{
    OK(model_each_vector(is_short_when_cut) > 0);
}

/* T M RRR and FLG are outside the CRC: T is refused, M and RRR are free, FLG has its own copy. */
static void flips_are_refused(const uint8_t *octets, size_t len)
{
    uint8_t flipped[MODEL_IMAGE_MAX];
    for (size_t bit = 0; bit < 8 * len; bit++) {
        size_t fault;
        memcpy(flipped, octets, len);
        flipped[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        const leat_err err = decode_untouched(flipped, len, &fault);
        if (bit >= 4 && bit < 8)
            EQ(err, LEAT_ERR_OK);
        else
            OK(err != LEAT_ERR_OK);
    }
}

static void every_single_bit_error_is_refused_where_the_crc_covers(void)
{
    OK(model_each_vector(flips_are_refused) > 0);
}

static void an_octet_too_many_is_refused_where_it_begins(void)
{
    const struct leat_aton_packet p = model_min_packet();
    uint8_t buf[64] = { 0 };
    size_t len, fault = 0;
    EQ(leat_aton_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(decode_untouched(buf, len + 1, &fault), LEAT_ERR_LENGTH);
    EQ(fault, len);
}

static void measure_needs_only_the_head_and_ignores_what_follows(void)
{
    uint8_t buf[MODEL_IMAGE_MAX] = { 0 };
    struct model m;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned opcode = 0; opcode <= 11; opcode++) {
        model_random_kind(&m, &r, opcode);
        size_t len = model_image(&m, buf), measured = 0, fault = 0;
        const size_t head = len - m.packet.payload_len - 5;
        EQ(leat_aton_packet_measure(buf, len + 100, &measured, &fault), LEAT_ERR_OK);
        EQ(measured, len);
        EQ(leat_aton_packet_measure(buf, head, &measured, &fault), LEAT_ERR_OK);
        EQ(measured, len);
        EQ(leat_aton_packet_measure(buf, head - 1, &measured, &fault), LEAT_ERR_SHORT);
        EQ(fault, head - 1);
    }
}

static void huge_lengths_are_short_and_nothing_else(void)
{
    static const uint8_t sort[] = { 0, 0xcc, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0 };
    static const uint8_t passive[] = { 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0 };
    size_t fault, len = 0;
    EQ(leat_aton_packet_measure(sort, sizeof sort, &len, &fault), LEAT_ERR_OK);
    EQ(len, LEAT_ATON_IMAGE_LEN_MAX);
    EQ(len, 524288);
    EQ(decode_untouched(sort, sizeof sort, &fault), LEAT_ERR_SHORT);
    EQ(leat_aton_packet_measure(passive, sizeof passive, &len, &fault), LEAT_ERR_OK);
    EQ(len, LEAT_ATON_IMAGE_LEN_MIN + LEAT_ATON_OCTETS_MAX);
    EQ(decode_untouched(passive, sizeof passive, &fault), LEAT_ERR_SHORT);
}

static void the_longest_sort_goes_there_and_back(void)
{
    static uint8_t values[LEAT_ATON_INTERFACES_MAX * 8], image[LEAT_ATON_IMAGE_LEN_MAX];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, values, sizeof values);
    struct leat_aton_packet p = { .active = 1,
                                  .opcode = LEAT_ATON_SORT,
                                  .width_bits = 64,
                                  .counter = LEAT_ATON_INTERFACES_MAX,
                                  .payload = values,
                                  .payload_len = sizeof values };
    struct leat_aton_packet back;
    size_t len = 0;
    EQ(leat_aton_packet_encode(&p, image, sizeof image - 1, &len), LEAT_ERR_SPACE);
    EQ(leat_aton_packet_encode(&p, image, sizeof image, &len), LEAT_ERR_OK);
    EQ(len, sizeof image);
    EQ(leat_aton_packet_decode(image, len, &back, NULL), LEAT_ERR_OK);
    OK(model_same_packet(&p, &back));
}

/* Each line damages one field of a valid packet. */
static void wide_fields_are_refused(void)
{
    struct leat_aton_packet p;
#define SPOILT(err, spoil) (p = model_min_packet(), p.spoil, EQ_ERR(encode(&p), err))
#define EQ_ERR(a, b)       OK((a) == (b))
    SPOILT(LEAT_ERR_OK, variable1 = UINT32_MAX);
    SPOILT(LEAT_ERR_RANGE, priority = 8);
    SPOILT(LEAT_ERR_RANGE, token = 2);
    SPOILT(LEAT_ERR_TYPE, token = 1);
    SPOILT(LEAT_ERR_RANGE, monitor = 2);
    SPOILT(LEAT_ERR_RANGE, reservation = 8);
    SPOILT(LEAT_ERR_RANGE, active = 2);
    SPOILT(LEAT_ERR_TYPE, opcode = 0);
    SPOILT(LEAT_ERR_TYPE, opcode = 12);
    SPOILT(LEAT_ERR_RANGE, width_bits = 0);
    SPOILT(LEAT_ERR_RANGE, width_bits = 128);
    SPOILT(LEAT_ERR_RANGE, width_bits = 48);
    SPOILT(LEAT_ERR_RANGE, reg = 64);
    SPOILT(LEAT_ERR_RANGE, counter = 65535);
    SPOILT(LEAT_ERR_RANGE, variable1 = UINT64_C(1) << 32);
    SPOILT(LEAT_ERR_RANGE, variable2 = UINT64_C(1) << 32);
    SPOILT(LEAT_ERR_RANGE, recognised = 2);
    SPOILT(LEAT_ERR_RANGE, copied = 2);
    SPOILT(LEAT_ERR_LENGTH, payload_len = 1);
    SPOILT(LEAT_ERR_RESERVED, active = 0);
#undef SPOILT
#undef EQ_ERR
}

static void payloads_that_do_not_fit_their_head_are_refused(void)
{
    static uint8_t octets[65536];
    struct leat_aton_packet p = { .active = 1,
                                  .opcode = LEAT_ATON_SORT,
                                  .width_bits = 16,
                                  .counter = 2,
                                  .payload = octets,
                                  .payload_len = 4 };
    EQ(encode(&p), LEAT_ERR_OK);
    p.payload_len = 3;
    EQ(encode(&p), LEAT_ERR_LENGTH);
    p.payload_len = 4;
    p.param = 1;
    EQ(encode(&p), LEAT_ERR_RESERVED);

    p.opcode = LEAT_ATON_BITCOUNT, p.param = 3, p.payload_len = 16;
    EQ(encode(&p), LEAT_ERR_OK);
    octets[15] = 8;
    EQ(encode(&p), LEAT_ERR_RANGE);
    octets[15] = 7;
    EQ(encode(&p), LEAT_ERR_OK);
    p.param = 0;
    EQ(encode(&p), LEAT_ERR_RANGE);
    p.param = LEAT_ATON_COUNTER_BITS_MAX + 1;
    EQ(encode(&p), LEAT_ERR_RANGE);

    p.opcode = LEAT_ATON_TREE, p.param = 2, p.payload_len = 6;
    EQ(encode(&p), LEAT_ERR_OK);
    octets[3] = 2;
    EQ(encode(&p), LEAT_ERR_RANGE);
    octets[3] = 1;
    EQ(encode(&p), LEAT_ERR_OK);
    p.param = 0;
    EQ(encode(&p), LEAT_ERR_RANGE);
    p.param = LEAT_ATON_SLOTS_MAX + 1;
    EQ(encode(&p), LEAT_ERR_RANGE);

    p = (struct leat_aton_packet){ .payload = octets, .payload_len = 65536 };
    EQ(encode(&p), LEAT_ERR_LENGTH);
}

static void every_smaller_buffer_is_refused_and_left_alone(void)
{
    const struct leat_aton_packet p = model_min_packet();
    uint8_t buf[22], before[22];
    size_t len = 0;
    memset(buf, 0xA5, sizeof buf);
    memset(before, 0xA5, sizeof before);
    for (size_t cap = 0; cap < sizeof buf; cap++)
        EQ(leat_aton_packet_encode(&p, buf, cap, &len), LEAT_ERR_SPACE);
    OK(memcmp(buf, before, sizeof buf) == 0);
    EQ(len, 0);
    EQ(leat_aton_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
}

static void ac_ctl_and_flg_know_all_their_values(void)
{
    struct leat_aton_packet p = { 0 };
    int sound = 0;
    for (unsigned ac = 0; ac < 256; ac++) {
        leat_aton_ac_decode((uint8_t)ac, &p);
        EQ(leat_aton_ac_encode(&p), ac);
    }
    for (unsigned ctl = 0; ctl < 65536; ctl++) {
        if (leat_aton_ctl_decode((uint16_t)ctl, &p) != LEAT_ERR_OK) continue;
        EQ(leat_aton_ctl_encode(&p), ctl);
        sound++;
    }
    EQ(sound, 1 + 11 * 3 * 64 * 2); /* passive; opcodes, widths, registers, group or not */
    sound = 0;
    for (unsigned flg = 0; flg < 256; flg++) {
        if (leat_aton_flg_decode((uint8_t)flg, &p) != LEAT_ERR_OK) continue;
        EQ(leat_aton_flg_encode(&p), flg);
        sound++;
    }
    EQ(sound, 4);
}

static void a_group_has_a_number_of_0_to_31(void)
{
    struct leat_aton_packet p = model_min_packet();
    struct leat_aton_shape shape;
    OK(leat_aton_region_is_valid(&p)); /* the whole ring */
    p.group = 1;
    OK(!leat_aton_region_is_valid(&p));
    EQ(leat_aton_packet_check(&p, &shape), LEAT_ERR_RANGE);
    for (p.da = 0; p.da < 40; p.da++) {
        EQ(leat_aton_region_is_valid(&p), p.da < 32);
        EQ(leat_aton_packet_check(&p, &shape), p.da < 32 ? LEAT_ERR_OK : LEAT_ERR_RANGE);
    }
    const struct leat_aton_packet passive = { .group = 1, .da = 3 };
    EQ(leat_aton_packet_check(&passive, &shape), LEAT_ERR_RESERVED);
}

static void stations_may_change_m_rrr_and_flg_without_touching_the_crc(void)
{
    struct leat_aton_packet p = model_min_packet();
    uint8_t plain[22], marked[22];
    size_t len;
    EQ(leat_aton_packet_encode(&p, plain, sizeof plain, &len), LEAT_ERR_OK);
    p.monitor = 1, p.reservation = 5, p.recognised = 1, p.copied = 1;
    EQ(leat_aton_packet_encode(&p, marked, sizeof marked, &len), LEAT_ERR_OK);
    EQ(marked[0], 0x0d);
    EQ(marked[17], 0xcc);
    OK(memcmp(plain + 18, marked + 18, 4) == 0);
    p.priority = 1;
    EQ(leat_aton_packet_encode(&p, marked, sizeof marked, &len), LEAT_ERR_OK);
    OK(memcmp(plain + 18, marked + 18, 4) != 0);
}

static void shapes_follow_counter_param_and_width(void)
{
    uint8_t octets[64] = { 0 };
    struct leat_aton_packet p = model_min_packet();
    struct leat_aton_shape s;
    unsigned valid = 9;
    EQ(leat_aton_packet_check(&p, &s), LEAT_ERR_OK);
    OK(leat_aton_is_fold(&p));
    EQ(leat_aton_shape_len(&s), 0);
    p.opcode = LEAT_ATON_SORT, p.counter = 5;
    EQ(leat_aton_packet_shape(&p, &s), LEAT_ERR_OK);
    EQ(leat_aton_shape_len(&s), 20);
    p.opcode = LEAT_ATON_BITCOUNT, p.param = 9;
    EQ(leat_aton_packet_shape(&p, &s), LEAT_ERR_OK);
    EQ(leat_aton_shape_len(&s), 64);
    p.opcode = LEAT_ATON_TREE, p.param = 3;
    EQ(leat_aton_packet_shape(&p, &s), LEAT_ERR_OK);
    EQ(leat_aton_shape_len(&s), 15);
    EQ(leat_aton_item_len(&s), 5);
    OK(!leat_aton_is_fold(&p));
    leat_aton_item_put(octets, &s, 2, 1, 0x01020304);
    OK(memcmp(octets + 10, "\x01\x01\x02\x03\x04\x00", 6) == 0);
    EQ(leat_aton_item_get(octets, &s, 2, &valid), 0x01020304);
    EQ(valid, 1);
    EQ(leat_aton_item_get(octets, &s, 1, &valid), 0);
    EQ(valid, 0);
}

static void random_packets_are_the_models_octets_and_come_back(void)
{
    struct leat_random r;
    static struct model m;
    uint8_t want[MODEL_IMAGE_MAX], buf[MODEL_IMAGE_MAX];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_aton_packet back;
        size_t len = 0, fault;
        model_random(&m, &r);
        const size_t want_len = model_image(&m, want);
        EQ(leat_aton_packet_encode(&m.packet, buf, sizeof buf, &len), LEAT_ERR_OK);
        EQ(len, want_len);
        OK(memcmp(buf, want, want_len) == 0);
        EQ(leat_aton_packet_decode(want, want_len, &back, &fault), LEAT_ERR_OK);
        OK(model_same_packet(&m.packet, &back));
        if (tap_checks_failed) break;
    }
}

static void random_octets_are_refused(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        uint8_t buf[48];
        size_t fault = 0;
        const size_t len = leat_random_below(&r, sizeof buf + 1);
        leat_random_fill(&r, buf, len);
        OK(decode_untouched(buf, len, &fault) != LEAT_ERR_OK); /* but for one CRC in 2^32 */
    }
}

/* Random heads with length, FLG and CRC corrected: what then decodes is canonical. */
static void random_octets_with_a_right_crc_are_refused_or_canonical(void)
{
    struct leat_random r;
    uint8_t buf[MODEL_IMAGE_MAX], back[MODEL_IMAGE_MAX];
    int sound = 0;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, buf, sizeof buf);
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_aton_packet p;
        size_t len, back_len = 0, fault = 0;
        leat_random_fill(&r, buf, 32);
        buf[2] &= 0xF9, buf[7] = 0, buf[8] &= 7, buf[9] = 0;
        if (leat_aton_packet_measure(buf, sizeof buf, &len, NULL) != LEAT_ERR_OK) continue;
        if (len > sizeof buf) continue;
        buf[len - 5] &= 0xCC;
        model_octets(buf + len - 4, model_image_crc(buf, len - 5), 4);
        if (decode_untouched(buf, len, &fault) != LEAT_ERR_OK) continue;
        sound++;
        EQ(leat_aton_packet_decode(buf, len, &p, NULL), LEAT_ERR_OK);
        EQ(leat_aton_packet_encode(&p, back, sizeof back, &back_len), LEAT_ERR_OK);
        EQ(back_len, len);
        OK(memcmp(buf, back, len) == 0);
        if (tap_checks_failed) break;
    }
    OK(sound > LEAT_ROUNDS / 200);
}

TAP_MAIN(T(a_min_packet_is_golden), T(every_vector_decodes_and_encodes_back),
         T(every_bad_vector_is_refused_with_its_code), T(every_truncation_is_short_at_its_end),
         T(every_single_bit_error_is_refused_where_the_crc_covers),
         T(an_octet_too_many_is_refused_where_it_begins),
         T(measure_needs_only_the_head_and_ignores_what_follows),
         T(huge_lengths_are_short_and_nothing_else), T(the_longest_sort_goes_there_and_back),
         T(wide_fields_are_refused), T(payloads_that_do_not_fit_their_head_are_refused),
         T(every_smaller_buffer_is_refused_and_left_alone), T(ac_ctl_and_flg_know_all_their_values),
         T(a_group_has_a_number_of_0_to_31),
         T(stations_may_change_m_rrr_and_flg_without_touching_the_crc),
         T(shapes_follow_counter_param_and_width),
         T(random_packets_are_the_models_octets_and_come_back), T(random_octets_are_refused),
         T(random_octets_with_a_right_crc_are_refused_or_canonical))
