/* Damaged messages, shown as far as their fields are known. Octets and expectations are written
 * from the layout of the spec. */
#include "format_harness.h"
#include "packetway_model_test.h"
#include "packetway_text.h"
#include "packetway_vectors_test.h"
#include "packetway_wire.h"
#include <leat/random.h>
#include <stdio.h>
#include <string.h>

static const struct leat_format *const format = &leat_packetway_format;
static struct leat_damages damages;
static char sound[FORMAT_SHOWN_MAX];

static leat_err show_lenient(const uint8_t *buf, size_t len, size_t *fault_at)
{
    format_show_begin(leat_fields_init_json);
    const leat_err err = format->show_lenient(buf, len, &format_fields, &damages, fault_at);
    format_show_end();
    return err;
}

/* ---- each kind of damage ---- */

struct expected {
    const char *name, *hex;
    const char *shown; /* the fields; NULL: none is known */
    struct leat_damage damage[3];
};

#define HEAD(dt, pt, te, e, pl, dl, h, sa)                                             \
    "{\"priority\":0,\"dt\":" dt ",\"pt\":" pt ",\"te\":" te ",\"e\":" e ",\"pl\":" pl \
    ",\"dl\":" dl ",\"h\":" h ",\"sa\":" sa
#define PLAIN       HEAD("513", "\"PVM\"", "0", "0", "0", "0", "0", "257")
#define OPTIONS     HEAD("513", "\"PVM\"", "0", "0", "0", "0", "1", "257") ",\"oh\":[{\"type\":"
#define RRP(te, dl) HEAD("258", "\"RRP\"", te, "0", "0", dl, "0", "257")
#define REST        ",\"data\":\"\",\"ei\":5}"
#define TAIL        "0000000000000005"

/* clang-format off */
static const struct expected expected[] = {
    { "V=2 in PH", "8000020100000052 0000000000000101" TAIL, PLAIN REST,
      { { LEAT_ERR_PACKETWAY_VERSION, 0, "V = 0" } } },
    { "V=1 and low bits of an L2RH", "4181050000000000 0000020100000052 0000000000000101" TAIL,
      "{\"leading\":[{\"priority\":1,\"kind\":\"L2RH\",\"octets\":\"05\"}],"
      "\"priority\":0,\"dt\":513,\"pt\":\"PVM\",\"te\":0,\"e\":0,\"pl\":0,\"dl\":0,\"h\":0,"
      "\"sa\":257" REST,
      { { LEAT_ERR_PACKETWAY_VERSION, 0, NULL }, { LEAT_ERR_PACKETWAY_RSV, 0, NULL } } },
    { "L2RH without octets", "0080000000000000 0000020100000052 0000000000000101" TAIL,
      "{\"leading\":[{\"kind\":\"L2RH\",\"octets\":\"\"}],"
      "\"priority\":0,\"dt\":513,\"pt\":\"PVM\",\"te\":0,\"e\":0,\"pl\":0,\"dl\":0,\"h\":0,"
      "\"sa\":257" REST,
      { { LEAT_ERR_PACKETWAY_L2RH_LEN, 0, NULL } } },
    { "symbol of type 0", "00f0000001ab0000 0000020100000052 0000000000000101" TAIL,
      "{\"leading\":[{\"kind\":\"SYMBOL\",\"type\":0,\"octets\":\"ab\"}],"
      "\"priority\":0,\"dt\":513,\"pt\":\"PVM\",\"te\":0,\"e\":0,\"pl\":0,\"dl\":0,\"h\":0,"
      "\"sa\":257" REST,
      { { LEAT_ERR_PACKETWAY_SYM_TYPE, 0, NULL } } },
    { "DT reserved", "00c0000100000052 0000000000000101" TAIL,
      HEAD("12582913", "\"PVM\"", "0", "0", "0", "0", "0", "257") REST,
      { { LEAT_ERR_PACKETWAY_DT_RESERVED, 0, NULL } } },
    { "DT=0, PT=0", "0000000000000000 0000000000000101" TAIL,
      HEAD("0", "0", "0", "0", "0", "0", "0", "257") REST,
      { { LEAT_ERR_PACKETWAY_ADDR, 0, NULL }, { LEAT_ERR_PACKETWAY_PT, 0, "PT of 1..65535" } } },
    { "E=5, PL=3 without data", "0000020100000052 5600000000000101" TAIL,
      HEAD("513", "\"PVM\"", "0", "5", "3", "0", "0", "257") REST,
      { { LEAT_ERR_PACKETWAY_ENDIAN, 0, NULL }, { LEAT_ERR_PACKETWAY_PAD, 0, NULL } } },
    { "RZ=0x55", "0000020100000052 0000000055000101" TAIL, PLAIN REST,
      { { LEAT_ERR_PACKETWAY_RSV, 0, NULL } } },
    { "SA of another class", "0000020100000052 0000000000800101" TAIL,
      HEAD("513", "\"PVM\"", "0", "0", "0", "0", "0", "8388865") REST,
      { { LEAT_ERR_PACKETWAY_SA, 0, "SA = 0 or physical, 1..0x7ffffd" } } },
    { "OH of type 0", "0000020100000052 0000000080000101 4002abcd00000000" TAIL,
      OPTIONS "0,\"mandatory\":false,\"octets\":\"abcd\"}]" REST,
      { { LEAT_ERR_PACKETWAY_OH_TYPE, 16, NULL } } },
    { "unknown OH, mandatory", "0000020100000052 0000000080000101 e101ab0000000000" TAIL,
      OPTIONS "33,\"mandatory\":true,\"octets\":\"ab\"}]" REST,
      { { LEAT_ERR_PACKETWAY_OH_MANDATORY, 16, "T = 0, or a known type" } } },
    { "CRC32-HERE of three octets", "0000020100000052 0000000080000101 4203abcdef000000" TAIL,
      OPTIONS "\"CRC32-HERE\",\"mandatory\":false,\"octets\":\"abcdef\"}]" REST,
      { { LEAT_ERR_PACKETWAY_OH_LEN, 16, NULL } } },
    { "CRC32-OT with an octet, and wrong",
      "0000020100000052 0000000080000101 4301ab0000000000 0000000700000000" TAIL,
      OPTIONS "\"CRC32-OT\",\"mandatory\":false,\"octets\":\"ab\",\"crc\":7}]" REST,
      { { LEAT_ERR_PACKETWAY_OH_LEN, 16, NULL }, { LEAT_ERR_PACKETWAY_CRC, 24, NULL } } },
    { "CRC64-HERE is wrong",
      "0000020100000052 0000000080000101 4408000000000000 0009000000000000" TAIL,
      OPTIONS "\"CRC64-HERE\",\"mandatory\":false,\"crc\":9}]" REST,
      { { LEAT_ERR_PACKETWAY_CRC, 16, NULL } } },
    { "OT of type 0, mandatory",
      "0000020100000052 0000000080000101 4600000000000000 c001ab0000000000" TAIL,
      OPTIONS "\"SELF-DEFINED-OT\",\"mandatory\":false}],\"data\":\"\","
      "\"ot\":[{\"type\":0,\"mandatory\":true,\"octets\":\"ab\"}],\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_OH_TYPE, 24, NULL }, { LEAT_ERR_PACKETWAY_OH_MANDATORY, 24, NULL } } },
    { "a word too many", "0000020100000052 0000000000000101 0123456789abcdef" TAIL,
      PLAIN ",\"data\":\"\",\"extra\":\"0123456789abcdef\",\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_TRAILING, 16, "TAIL" } } },
    { "unknown TE of RRP", "0000010200630001 0000000100000101 2900000001000201" TAIL,
      RRP("99", "1") ",\"data\":\"2900000001000201\",\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_TE, 0, NULL } } },
    { "RRP with e=1, PL=1", "0000010200150001 8200000100000101 2900000001000201" TAIL,
      HEAD("258", "\"RRP\"", "\"GVL2\"", "8", "1", "1", "0", "257")
      ",\"records\":[{\"type\":\"ADDR\",\"rl\":0,\"address\":513}],\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_ENDIAN, 0, NULL }, { LEAT_ERR_PACKETWAY_PAD, 0, NULL } } },
    { "GVL2 of two nodes",
      "0000010200150001 0000000200000101 2900000001000201 2900000001000202" TAIL,
      RRP("\"GVL2\"", "2") ",\"records\":[{\"type\":\"ADDR\",\"rl\":0,\"address\":513},"
      "{\"type\":\"ADDR\",\"rl\":0,\"address\":514}],\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_MSG, 24, "one ADDR, single and physical" } } },
    { "an unknown record before ADDR",
      "0000010200180001 0000000200000101 3700000001000201 2900000001000201" TAIL,
      RRP("\"TELL\"", "2") ",\"records\":[{\"type\":\"ADDR\",\"rl\":0,\"address\":513}],\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_REC_TYPE, 16, NULL } } },
    { "records that cannot be read", "0000010200150001 0000000100000101 2900000501000201" TAIL,
      RRP("\"GVL2\"", "1") ",\"data\":\"2900000501000201\",\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_REC_LEN, 16, "a record as in section 3 of the note" } } },
    { "an ADDR in an ADDR, whose content nobody checked",
      "0000010200180001 0000000300000101 2900000201000201 2900000101000202 2aff000000000000" TAIL,
      RRP("\"TELL\"", "3") ",\"records\":[{\"type\":\"ADDR\",\"rl\":2,\"address\":513,"
      "\"records\":[{\"type\":\"ADDR\",\"rl\":1,\"address\":514}]}],\"ei\":5}",
      { { LEAT_ERR_PACKETWAY_MSG, 16, NULL } } },
    { "data beyond the end", "4000020100000052 0000000200000101" TAIL, NULL,
      { { LEAT_ERR_PACKETWAY_VERSION, 0, NULL } } },
};
/* clang-format on */

static void check_damage(const struct expected *x, leat_err err, size_t at)
{
    unsigned count = 0;
    EQ(err, x->damage[0].err);
    EQ(at, x->damage[0].at);
    for (; x->shown && count < 3 && x->damage[count].err; count++) {
        EQ(damages.item[count].err, x->damage[count].err);
        EQ(damages.item[count].at, x->damage[count].at);
        if (x->damage[count].expected)
            OK(strcmp(damages.item[count].expected, x->damage[count].expected) == 0);
    }
    EQ(damages.count, count);
}

static void each_damage_is_marked_and_the_other_fields_are_shown(void)
{
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct expected *x = &expected[i];
        uint8_t buf[VECTOR_LEN_MAX];
        size_t at = 99;
        const size_t len = unhex(x->hex, buf);
        const leat_err err = show_lenient(buf, len, &at);
        check_damage(x, err, at);
        OK(strcmp(format_shown, x->shown ? x->shown : "{}") == 0);
        if (tap_checks_failed) {
            printf("# %s: %s\n", x->name, format_shown);
            return;
        }
    }
}

/* ---- what strict decoding says stays the same ---- */

/* Do the places of other fields depend on what is damaged? */
static bool hides_places(leat_err err, size_t at, size_t header_at)
{
    return err == LEAT_ERR_PACKETWAY_SHORT || err == LEAT_ERR_PACKETWAY_ALIGN ||
           err == LEAT_ERR_PACKETWAY_OH_UNTERM || err == LEAT_ERR_PACKETWAY_OT_LEN ||
           (err == LEAT_ERR_PACKETWAY_TOO_MANY && at <= header_at);
}

static void the_error_is_that_of_strict_decoding(void)
{
    for (unsigned i = 0; i < MALFORMED_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        size_t at = 99;
        const size_t len = unhex(malformed[i].hex, buf);
        EQ(show_lenient(buf, len, &at), malformed[i].err);
        EQ(at, malformed[i].at);
        if (hides_places(malformed[i].err, at, 0)) EQ(damages.count, 0);
        if (damages.count) EQ(damages.item[0].err, malformed[i].err);
        OK(damages.count || strcmp(format_shown, "{}") == 0);
        if (tap_checks_failed) {
            printf("# %s\n", malformed[i].name);
            return;
        }
    }
}

static void every_bit_flip_of_every_vector_is_harmless(void)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        for (size_t bit = 0; bit < 8 * len && !tap_checks_failed; bit++) {
            size_t strict_at = 0, at = 0;
            buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
            const leat_err err = format_show_json(format, buf, len, &strict_at);
            EQ(show_lenient(buf, len, &at), err);
            EQ(at, strict_at);
            buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* ---- random messages ---- */

static struct model model;

/* Behind the leading records, by the pictures of spec 1.1 and 1.2. */
static size_t find_header(void)
{
    size_t at = 0;
    for (;;) {
        const uint8_t *p = model.buf + at;
        if (p[1] >> 6 == 2)
            at += (p[1] % 64 + 9U) / 8 * 8;
        else if (p[1] >> 4 == 15)
            at += (p[4] + 12U) / 8 * 8;
        else
            return at;
    }
}

/* Replaces the value of a field of PH in `sound`; such a name occurs only there. */
static void expect_value(const char *name, uint32_t value)
{
    static char copy[FORMAT_SHOWN_MAX];
    char key[16], text[16];
    snprintf(key, sizeof key, "\"%s\":", name);
    snprintf(text, sizeof text, "%u", value);
    const char *from = strstr(sound, key);
    OK(from != NULL);
    if (!from) return;
    from += strlen(key);
    const size_t before = (size_t)(from - sound);
    memcpy(copy, sound, before);
    strcpy(copy + before, text);
    strcat(copy, strchr(from, ','));
    strcpy(sound, copy);
}

static void put_address(uint8_t *p, uint32_t address)
{
    for (unsigned i = 0; i < 3; i++)
        p[i] = (uint8_t)(address >> (16 - 8 * i));
}

/* Breaks one rule of the PH at `ph` and writes into `sound` what is then shown. */
static leat_err damage_one_field(uint8_t *ph)
{
    uint32_t value;
    switch (dice(&model, 5)) {
    case 0: ph[0] |= (uint8_t)((1 + dice(&model, 3)) << 6); return LEAT_ERR_PACKETWAY_VERSION;
    case 1: ph[12] |= (uint8_t)(1 + dice(&model, 127)); return LEAT_ERR_PACKETWAY_RSV;
    case 2:
        value = 5 + dice(&model, 3) + (ph[8] & 0x80 ? 8U : 0U);
        ph[8] = (uint8_t)((ph[8] & 0x0F) | value << 4);
        expect_value("e", value);
        return LEAT_ERR_PACKETWAY_ENDIAN;
    case 3:
        value = 0x7FFFFE + dice(&model, 0x800002);
        put_address(ph + 13, value);
        expect_value("sa", value);
        return LEAT_ERR_PACKETWAY_SA;
    default:
        value = dice(&model, 2) ? 0 : 0xC00000 + dice(&model, 0x200000);
        put_address(ph + 1, value);
        expect_value("dt", value);
        return value ? LEAT_ERR_PACKETWAY_DT_RESERVED : LEAT_ERR_PACKETWAY_ADDR;
    }
}

static void one_damaged_field_leaves_all_others_as_they_were(void)
{
    leat_random_seed(&model.random, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 10 && !tap_checks_failed; i++) {
        size_t at = 99;
        model_message(&model);
        EQ(format_show_json(format, model.buf, model.len, NULL), LEAT_ERR_OK);
        strcpy(sound, format_shown);
        EQ(show_lenient(model.buf, model.len, NULL), LEAT_ERR_OK);
        EQ(damages.count, 0);
        OK(strcmp(format_shown, sound) == 0);

        const size_t header_at = find_header();
        const leat_err err = damage_one_field(model.buf + header_at);
        EQ(show_lenient(model.buf, model.len, &at), err);
        EQ(at, header_at);
        OK(strcmp(format_shown, sound) == 0);
        for (unsigned k = 1; k < damages.count; k++) /* a CRC covers the field */
            EQ(damages.item[k].err, LEAT_ERR_PACKETWAY_CRC);
        if (tap_checks_failed) printf("# round %u\n# %s\n# %s\n", i, sound, format_shown);
    }
}

/* ---- limits, and the parts of the decoder ---- */

static void more_than_64_damages_are_not_listed(void)
{
    uint8_t buf[2 * VECTOR_LEN_MAX];
    for (unsigned count = 32; count <= 33; count++) {
        size_t at = 99, len = 0;
        for (; len < (size_t)8 * count; len += 8)
            unhex("4181050000000000", buf + len); /* two of them */
        len += unhex("0000020100000052 0000000000000101" TAIL, buf + len);
        EQ(show_lenient(buf, len, &at), LEAT_ERR_PACKETWAY_VERSION);
        EQ(at, 0);
        EQ(damages.count, count == 32 ? LEAT_DAMAGE_MAX : 0);
    }
}

static void headers_are_read_whatever_they_break(void)
{
    static const leat_err want[] = { LEAT_ERR_PACKETWAY_VERSION, LEAT_ERR_PACKETWAY_ADDR,
                                     LEAT_ERR_PACKETWAY_PT,      LEAT_ERR_PACKETWAY_ENDIAN,
                                     LEAT_ERR_PACKETWAY_PAD,     LEAT_ERR_PACKETWAY_RSV,
                                     LEAT_ERR_PACKETWAY_SA };
    leat_err faults[LEAT_PACKETWAY_HEADER_FAULTS_MAX];
    struct leat_packetway_header h;
    uint8_t buf[VECTOR_LEN_MAX];
    unhex("c900000000070000 7e000000ff800101", buf);
    EQ(leat_packetway_header_faults(buf, LEAT_PACKETWAY_STRICT, faults), 7);
    OK(memcmp(faults, want, sizeof want) == 0);
    EQ(leat_packetway_header_faults(buf, LEAT_PACKETWAY_LENIENT, faults), 5);
    leat_packetway_header_read(buf, &h);
    EQ(h.priority, 9);
    EQ(h.te, 7);
    EQ(h.e, 7);
    EQ(h.pl, 7);
    EQ(h.sa, 0x800101);
    OK(h.h);
}

static void leading_records_are_read_whatever_they_break(void)
{
    leat_err faults[LEAT_PACKETWAY_LEADING_FAULTS_MAX];
    struct leat_packetway_leading r;
    uint8_t buf[VECTOR_LEN_MAX];
    unhex("c9f0000002abcd00", buf);
    EQ(leat_packetway_leading_faults(buf, LEAT_PACKETWAY_STRICT, faults), 3);
    EQ(faults[0], LEAT_ERR_PACKETWAY_VERSION);
    EQ(faults[1], LEAT_ERR_PACKETWAY_RSV);
    EQ(faults[2], LEAT_ERR_PACKETWAY_SYM_TYPE);
    EQ(leat_packetway_leading_read(buf, 8, &r), LEAT_ERR_OK);
    EQ(r.priority, 9);
    EQ(r.len, 2);
    buf[4] = 4; /* nine octets */
    EQ(leat_packetway_leading_read(buf, 8, &r), LEAT_ERR_PACKETWAY_SHORT);
}

static void a_message_is_examined_as_it_is(void)
{
    struct leat_packetway_message m = { .ei = 1 };
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = unhex("0000020100000052 0000000055ffffff" TAIL, buf);
    EQ(leat_packetway_message_examine(buf, len, &m, &damages), LEAT_ERR_OK);
    EQ(m.header.sa, 0xFFFFFF);
    EQ(m.ei, 5);
    EQ(damages.count, 2);
    m.ei = 1;
    EQ(leat_packetway_message_examine(buf, len - 8, &m, &damages), LEAT_ERR_PACKETWAY_SHORT);
    EQ(m.ei, 1);
}

TAP_MAIN(T(each_damage_is_marked_and_the_other_fields_are_shown),
         T(the_error_is_that_of_strict_decoding), T(every_bit_flip_of_every_vector_is_harmless),
         T(one_damaged_field_leaves_all_others_as_they_were),
         T(more_than_64_damages_are_not_listed), T(headers_are_read_whatever_they_break),
         T(leading_records_are_read_whatever_they_break), T(a_message_is_examined_as_it_is))
