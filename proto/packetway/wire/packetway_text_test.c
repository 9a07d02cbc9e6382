#include "format_harness.h"
#include "packetway_model_test.h"
#include "packetway_text.h"
#include "packetway_vectors_test.h"
#include "packetway_wire.h"
#include <string.h>

static const struct leat_format *const format = &leat_packetway_format;
static uint8_t out[MODEL_LEN_MAX];

static leat_err show(const uint8_t *buf, size_t len)
{
    return format_show_json(format, buf, len, NULL);
}

static leat_err build_words(const char *words, size_t *len)
{
    return format_build_words(format, words, out, sizeof out, len);
}

static bool built_is(const char *hex, size_t len)
{
    uint8_t want[VECTOR_LEN_MAX];
    const size_t want_len = unhex(hex, want);
    return len == want_len && memcmp(out, want, len) == 0;
}

/* ---- showing and reading back ---- */

static void every_vector_survives_json(void)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        format_round_trip(format, buf, unhex(vectors[i].hex, buf));
        if (tap_checks_failed) {
            printf("# %s\n", vectors[i].name);
            return;
        }
    }
}

static void messages_of_the_model_survive_json(void)
{
    static struct model model;
    leat_random_seed(&model.random, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 10; i++) {
        model_message(&model);
        format_round_trip(format, model.buf, model.len);
        if (tap_checks_failed) {
            printf("# round %u\n", i);
            return;
        }
    }
}

static void t23_looks_like_this(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    const size_t len = unhex(vectors[11].hex, buf);
    EQ(show(buf, len), LEAT_ERR_OK);
    OK(strcmp(format_shown,
              "{\"leading\":[{\"kind\":\"L2RH\",\"octets\":\"0101020300\"},"
              "{\"kind\":\"SYMBOL\",\"type\":\"MULTICAST\",\"octets\":\"2a\"},"
              "{\"kind\":\"L2RH\",\"octets\":\"03000300\"}],"
              "\"priority\":9,\"dt\":513,\"pt\":\"MPI\",\"te\":7,\"e\":0,\"pl\":3,\"dl\":1,\"h\":0,"
              "\"sa\":769,\"data\":\"48454c4c4f\",\"ei\":0}") == 0);
}

static void t26_looks_like_this(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    const size_t len = unhex(vectors[14].hex, buf);
    EQ(show(buf, len), LEAT_ERR_OK);
    OK(strcmp(format_shown,
              "{\"priority\":0,\"dt\":770,\"pt\":\"RRP\",\"te\":\"RTBL\",\"e\":0,\"pl\":0,"
              "\"dl\":13,\"h\":0,\"sa\":258,\"records\":[{\"type\":\"RTHD\",\"rl\":12,\"sn\":3,"
              "\"records\":[{\"type\":\"SNID\",\"rl\":0,\"sanId\":512},"
              "{\"type\":\"RCVF\",\"rl\":1,\"addresses\":[514,259,258]},"
              "{\"type\":\"SRQR\",\"rl\":1,\"q\":3,\"routes\":[\"0101020300\"]},"
              "{\"type\":\"MTUR\",\"rl\":0,\"mtu\":1024},"
              "{\"type\":\"ADDR\",\"rl\":5,\"address\":513,\"records\":["
              "{\"type\":\"NAME\",\"rl\":1,\"name\":\"Super\"},"
              "{\"type\":\"CAPA\",\"rl\":0,\"cc\":\"FLOAT-DSP\",\"parameters\":\"0408\"},"
              "{\"type\":\"SRQR\",\"rl\":1,\"q\":2,\"routes\":[\"03000300\"]}]}]}],\"ei\":0}") ==
       0);
}

static void t15_shows_its_crcs_and_ot(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    const size_t len = unhex(vectors[3].hex, buf);
    EQ(show(buf, len), LEAT_ERR_OK);
    OK(strstr(format_shown,
              "\"oh\":[{\"type\":\"CRC32-OT\",\"mandatory\":true,\"crc\":64189726},"
              "{\"type\":\"CRC64-OT\",\"mandatory\":true,\"crc\":4662880658970743687},"
              "{\"type\":\"SELF-DEFINED-OT\",\"mandatory\":false}]"));
    OK(strstr(format_shown, "\"ot\":[{\"type\":34,\"mandatory\":false,\"octets\":\"dead\"}]"));
}

/* The field of packetway_auth_test.c. What it shows is derived from its octets, which are read
 * back. */
static void a_keyed_message_shows_from_whom_it_is(void)
{
    static const char keyed[] = "00000102001a0001 0000000180000101 7e16000101000102 "
                                "0102030405060708 ff661f1800795981 2900000001000201 "
                                "0000000000000000";
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = unhex(keyed, buf);
    EQ(show(buf, len), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"oh\":[{\"type\":\"CRYPTOGRAPHIC\",\"mandatory\":false,"
                            "\"octets\":\"0001010001020102030405060708ff661f1800795981\","
                            "\"from\":257,\"to\":258,\"serial\":72623859790382856,"
                            "\"mac\":18403431115243739521}]"));
    EQ(format_show_tree(format, buf, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "    18      from: 0x000101\n"));
    OK(strstr(format_shown, "    32      mac: 0xff661f1800795981\n"));
    format_round_trip(format, buf, len);
    buf[17] = 21; /* another length is nothing of ours */
    EQ(show(buf, len), LEAT_ERR_OK);
    OK(!strstr(format_shown, "serial"));
}

/* The tree shows the offset of every field. */
static void a_tree_has_the_offsets_of_the_fields(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = unhex(vectors[3].hex, buf);
    EQ(format_show_tree(format, buf, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "    56      crc: 0x03d3751e\n"));
    OK(strstr(format_shown, "    64      crc: 0x40b5e1411bfd9387\n"));
    OK(strstr(format_shown, "    74      octets: dead\n"));
    OK(strstr(format_shown, "    80  ei: 0x0000000000000000\n"));
    len = unhex(vectors[5].hex, buf); /* T17 */
    EQ(format_show_tree(format, buf, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "    21      address: 0x000201\n"));
    OK(strstr(format_shown, "    30          q: 6\n"));
    OK(strstr(format_shown, "    34            -: 0101020300\n"));
    OK(strstr(format_shown, "    52          mtu: 1024\n"));
}

static void nothing_is_shown_of_malformed_input(void)
{
    for (unsigned i = 0; i < MALFORMED_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(malformed[i].hex, buf);
        size_t fault_at = 0;
        EQ(format_show_json(format, buf, len, &fault_at), malformed[i].err);
        EQ(fault_at, malformed[i].at);
        OK(strcmp(format_shown, "{}") == 0);
    }
}

/* ---- what users type ---- */

static void the_smallest_thing_to_type_is_wru(void)
{
    size_t len = 0;
    EQ(build_words("", &len), LEAT_ERR_OK);
    OK(built_is("007ffffe001b0001 0000000000000000 0000000000000000", len)); /* T24 */
    EQ(build_words("te=WRU", &len), LEAT_ERR_OK);
    OK(built_is("007ffffe001b0001 0000000000000000 0000000000000000", len));
}

static void a_pvm_message_is_typed_in_four_words(void)
{
    size_t len = 0;
    EQ(build_words("dt=0x201 sa=0x101 pt=PVM data=010203", &len), LEAT_ERR_OK);
    OK(built_is("0000020100000052 0a00000100000101 0102030000000000 0000000000000000", len));
}

static void records_are_typed_by_their_place(void)
{
    size_t len = 0;
    EQ(build_words("dt=0x302 sa=0x301 te=GVL2 records.0.type=ADDR records.0.address=0x201", &len),
       LEAT_ERR_OK);
    OK(built_is(vectors[4].hex, len)); /* T16 */
    EQ(build_words("dt=0x102 sa=0x101 te=TELL records.0.type=ADDR records.0.min=0x200 "
                   "records.0.max=0x20f records.1.type=ADDR records.1.value=0x300 "
                   "records.1.mask=0x7fff00",
                   &len),
       LEAT_ERR_OK);
    OK(built_is(vectors[18].hex, len)); /* T30 */
    EQ(build_words("dt=0x201 pt=PVM oh.0.type=CRC32-OT", &len), LEAT_ERR_OK);
    EQ(len, 16 + 8 + 8 + 8);
}

/* Spec section 4; a DB that has no room for the addresses is data alone. */
static void memory_requests_have_fields_of_their_own(void)
{
    static const struct {
        const char *words, *hex, *shown;
    } rows[] = {
        { "dt=0x103 sa=0x101 pt=MEM-READ replyAddress=0x1000 sourceAddress=0x2000 count=64",
          "0000010300000003 0000000300000101 0000000000001000 0000000000002000 0000000000000040 "
          "0000000000000000",
          "\"replyAddress\":4096,\"sourceAddress\":8192,\"count\":64,\"ei\"" },
        { "dt=0x101 sa=0x103 pt=MEM-WRITE memoryAddress=0x1000 data=cafe",
          "0000010100000004 0c00000200000103 0000000000001000 cafe000000000000 0000000000000000",
          "\"memoryAddress\":4096,\"data\":\"cafe\",\"ei\"" },
        { "dt=0x101 sa=0x103 pt=MEM-WRITE data=cafe",
          "0000010100000004 0c00000100000103 cafe000000000000 0000000000000000",
          "\"sa\":259,\"data\":\"cafe\",\"ei\"" },
        { "dt=0x101 sa=0x103 pt=MEM-READ data=0000000000000001",
          "0000010100000003 0000000100000103 0000000000000001 0000000000000000",
          "\"sa\":259,\"data\":\"0000000000000001\",\"ei\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = 0;
        EQ(build_words(rows[i].words, &len), LEAT_ERR_OK);
        OK(built_is(rows[i].hex, len));
        EQ(show(out, len), LEAT_ERR_OK);
        OK(strstr(format_shown, rows[i].shown));
    }
}

static void derived_fields_need_not_be_right(void)
{
    size_t len = 0;
    EQ(build_words("dt=0x201 sa=0x101 pt=82 dl=99 pl=7 h=1 data=010203", &len), LEAT_ERR_OK);
    OK(built_is("0000020100000052 0a00000100000101 0102030000000000 0000000000000000", len));
}

/* Words, the error, and a phrase that the text must contain. */
static const struct {
    const char *words;
    leat_err err;
    const char *says;
} mistakes[] = {
    { "dt=0", LEAT_ERR_PACKETWAY_LIMIT, "dt: expected physical" },
    { "dt=0xc00001", LEAT_ERR_PACKETWAY_LIMIT, "dt: expected physical" },
    { "dt=0x1000000", LEAT_ERR_RANGE, "dt: " },
    { "sa=0x7ffffe", LEAT_ERR_PACKETWAY_LIMIT, "sa: expected 0" },
    { "pt=0", LEAT_ERR_PACKETWAY_LIMIT, "pt: " },
    { "pt=TCP", LEAT_ERR_FIELD, "PVM" },
    { "te=GVSC", LEAT_ERR_FIELD, "GVL2" },
    { "te=41", LEAT_ERR_PACKETWAY_LIMIT, "te: expected GVL2" },
    { "pt=ERR te=27", LEAT_ERR_PACKETWAY_LIMIT, "te: expected UNK" },
    { "priority=64", LEAT_ERR_RANGE, "priority: " },
    { "pt=PVM e=5", LEAT_ERR_PACKETWAY_LIMIT, "e: expected 0..4" },
    { "e=8", LEAT_ERR_PACKETWAY_LIMIT, "e: RRP and ERR are big-endian" },
    { "data=00", LEAT_ERR_FIELD, "data: no such field" },
    { "pt=PVM records.0.type=ADDR", LEAT_ERR_FIELD, "records: no such field" },
    { "te=GVL2", LEAT_ERR_PACKETWAY_MSG, "records: expected one ADDR" },
    { "te=GVL2 records.0.type=ADDR records.0.address=0xe00001", LEAT_ERR_PACKETWAY_ADDR,
      "records: expected one ADDR" },
    { "te=TELL records.0.type=ADDR", LEAT_ERR_PACKETWAY_ADDR, "records.0" },
    { "te=TELL records.0.type=ADDR records.0.min=5 records.0.max=4", LEAT_ERR_PACKETWAY_RANGE,
      "records.0" },
    { "te=TELL records.0.type=NAME", LEAT_ERR_PACKETWAY_LIMIT, "records.0.name: " },
    { "te=TELL records.0.type=CAPA records.0.cc=0", LEAT_ERR_PACKETWAY_LIMIT, "records.0.cc: " },
    { "te=TELL records.0.address=1", LEAT_ERR_PACKETWAY_LIMIT, "records.0.type: expected ADDR" },
    { "te=TELL records.0.type=SCID", LEAT_ERR_FIELD, "SNID" },
    { "te=TELL records.0.type=NAME records.0.name=x records.0.records.0.type=NAME", LEAT_ERR_FIELD,
      "records.0.records: no such field" },
    { "te=INFO records.0.type=ADDR records.0.address=1 records.0.records.0.type=ADDR "
      "records.0.records.0.address=1 records.0.records.0.records.0.type=MTUR",
      LEAT_ERR_PACKETWAY_LIMIT, "records.0.records.0.records: nesting" },
    { "te=RTBL records.0.type=RCVF", LEAT_ERR_PACKETWAY_LIMIT,
      "records.0.addresses: expected 1..128" },
    { "te=RTBL records.0.type=SNID records.0.sanId=0xe00000", LEAT_ERR_PACKETWAY_LIMIT,
      "records.0.sanId: " },
    { "te=INFO records.0.type=LADR records.0.addresses.0.address=1", LEAT_ERR_PACKETWAY_ADDR,
      "records.0.addresses.0" },
    { "te=INFO records.0.type=LADR", LEAT_ERR_PACKETWAY_LIMIT, "records.0.addresses: " },
    { "te=INFO records.0.type=SRQR records.0.routes.0=", LEAT_ERR_PACKETWAY_LIMIT,
      "records.0.routes: " },
    { "te=INFO records=7", LEAT_ERR_SYNTAX, "records: expected a list" },
    { "te=INFO records.0=7", LEAT_ERR_SYNTAX, "expected an object" },
    { "leading.0.kind=L2RH", LEAT_ERR_PACKETWAY_LIMIT, "leading.0" },
    { "leading.0.kind=SYMBOL leading.0.type=0", LEAT_ERR_PACKETWAY_LIMIT, "leading.0" },
    { "pt=PVM oh.0.type=0x21 oh.0.mandatory=true", LEAT_ERR_PACKETWAY_LIMIT, "oh.0.mandatory: " },
    { "pt=PVM oh.0.type=0", LEAT_ERR_PACKETWAY_LIMIT, "oh.0.type: " },
    { "pt=PVM oh.0.type=SELF-DEFINED-OT", LEAT_ERR_PACKETWAY_LIMIT, "ot: goes together" },
    { "pt=PVM ot.0.type=7", LEAT_ERR_PACKETWAY_LIMIT, "ot: goes together" },
    { "pt=PVM oh.0.type=6 ot.0.type=7 ot.0.mandatory=1", LEAT_ERR_PACKETWAY_LIMIT,
      "ot.0.mandatory: " },
    { "pt=ERR te=GENERAL data=00", LEAT_ERR_PACKETWAY_LIMIT, "data: expected the quoted" },
    { "pt=PVM data=0", LEAT_ERR_SYNTAX, "data: odd number" },
};

static void mistakes_are_reported_with_what_was_expected(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        size_t len = 99;
        EQ(build_words(mistakes[i].words, &len), mistakes[i].err);
        OK(strstr(format_fields.message, mistakes[i].says));
        if (tap_checks_failed) {
            printf("# %s\n# says: %s\n", mistakes[i].words, format_fields.message);
            return;
        }
    }
}

static void too_little_room_for_a_message_is_reported(void)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        EQ(show(buf, len), LEAT_ERR_OK);
        for (size_t cap = 0; cap < len; cap += 8) {
            size_t built = 99;
            EQ(format_build_json(format, format_shown, out, cap, &built), LEAT_ERR_PACKETWAY_NOSPC);
            EQ(built, 99);
        }
    }
}

/* ---- frames ---- */

static void a_frame_counts_the_words_of_its_message(void)
{
    uint8_t packet[VECTOR_LEN_MAX], frame[VECTOR_LEN_MAX];
    const size_t len = unhex(vectors[0].hex, packet);
    size_t frame_len = 0, at = 0, got = 0, fault = 0;
    struct leat_fields *f = NULL; /* the frame has no fields of its own */
    EQ(format->framing->frame(f, packet, len, frame, sizeof frame, &frame_len), LEAT_ERR_OK);
    EQ(frame_len, len + 2);
    OK(frame[0] == 0 && frame[1] == len / 8);
    memset(frame + frame_len, 0x77, 6); /* padding of the carrier */
    for (size_t pad = 0; pad <= 6; pad++) {
        EQ(format->framing->unframe(frame, frame_len + pad, f, &at, &got, &fault), LEAT_ERR_OK);
        EQ(at, 2);
        EQ(got, len);
    }
    for (size_t cut = 0; cut < frame_len; cut++) {
        EQ(format->framing->unframe(frame, cut, f, &at, &got, &fault), LEAT_ERR_SHORT);
        EQ(fault, cut);
    }
    for (size_t cap = 0; cap < frame_len; cap++)
        EQ(format->framing->frame(f, packet, len, frame, cap, &frame_len), LEAT_ERR_SPACE);
    EQ(format->framing->frame(f, packet, 20, frame, sizeof frame, &frame_len), LEAT_ERR_LENGTH);
    EQ(format->framing->frame(f, packet, (size_t)8 << 16, frame, SIZE_MAX, &frame_len),
       LEAT_ERR_LENGTH);
}

static void ethernet_puts_an_oui_and_a_protocol_in_front(void)
{
    uint8_t frame[VECTOR_LEN_MAX];
    const size_t len = unhex("0200000300 0003 007ffffe001b0001 0000000000000000 0000000000000000 "
                             "0000",
                             frame);
    size_t at = 0, got = 0, fault = 0;
    EQ(format->ether_framing->unframe(frame, len, NULL, &at, &got, &fault), LEAT_ERR_OK);
    EQ(at, 7);
    EQ(got, 24);
    for (size_t cut = 0; cut < 7 + 24; cut++) {
        EQ(format->ether_framing->unframe(frame, cut, NULL, &at, &got, &fault), LEAT_ERR_SHORT);
        EQ(fault, cut);
    }
    for (unsigned i = 0; i < 5; i++) {
        frame[i] ^= 1;
        EQ(format->ether_framing->unframe(frame, len, NULL, &at, &got, &fault), LEAT_ERR_TYPE);
        frame[i] ^= 1;
    }
}

TAP_MAIN(T(every_vector_survives_json), T(messages_of_the_model_survive_json),
         T(t23_looks_like_this), T(t26_looks_like_this), T(t15_shows_its_crcs_and_ot),
         T(a_keyed_message_shows_from_whom_it_is), T(a_tree_has_the_offsets_of_the_fields),
         T(nothing_is_shown_of_malformed_input), T(the_smallest_thing_to_type_is_wru),
         T(a_pvm_message_is_typed_in_four_words), T(records_are_typed_by_their_place),
         T(memory_requests_have_fields_of_their_own), T(derived_fields_need_not_be_right),
         T(mistakes_are_reported_with_what_was_expected),
         T(too_little_room_for_a_message_is_reported), T(a_frame_counts_the_words_of_its_message),
         T(ethernet_puts_an_oui_and_a_protocol_in_front))
