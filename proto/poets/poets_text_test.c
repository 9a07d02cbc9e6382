#include "format_harness.h"
#include "poets_hex_test.h"
#include "poets_instr.h"
#include "poets_text.h"
#include "poets_wire.h"
#include <ctype.h>
#include <leat/random.h>
#include <string.h>

enum { PACKET_MAX = LEAT_POETS_PACKET_LEN_MAX, LINE_MAX = 400 };

static const struct leat_format *const format = &leat_poets_format;

/* The octets of the latest build. */
static uint8_t octets[PACKET_MAX];
static size_t octets_len;

static leat_err show(const uint8_t *buf, size_t len)
{
    return format_show_json(format, buf, len, NULL);
}

static leat_err build_words(const char *words)
{
    octets_len = 0;
    return format_build_words(format, words, octets, sizeof octets, &octets_len);
}

static bool built(const char *hex)
{
    uint8_t want[PACKET_MAX];
    return octets_len == unhex(hex, want) && memcmp(octets, want, octets_len) == 0;
}

/* ---- files of vectors ---- */

static void each_line(const char *name, void (*use)(const char *line))
{
    char path[512], line[LINE_MAX];
    unsigned lines = 0;
    snprintf(path, sizeof path, "%s/proto/poets/vectors/%s", LEAT_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    OK(file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        if (!isxdigit((unsigned char)line[0])) continue;
        use(line);
        lines++;
    }
    if (file) fclose(file);
    OK(lines > 0);
}

static void good_line(const char *line)
{
    uint8_t buf[LINE_MAX];
    format_round_trip(format, buf, unhex(line, buf));
}

static void every_good_vector_survives_the_text(void)
{
    each_line("poets_device.hex", good_line);
    each_line("poets_control.hex", good_line);
    each_line("poets_supervisor.hex", good_line);
}

static void bad_line(const char *line)
{
    uint8_t buf[LINE_MAX];
    char code[40] = "";
    size_t at = SIZE_MAX;
    const size_t len = unhex(line, buf);
    EQ(sscanf(strchr(line, '#'), "# %39s", code), 1);
    const leat_err err = format_show_json(format, buf, len, &at);
    OK(strcmp(leat_err_name(err), code) == 0);
    OK(strcmp(format_shown, "{}") == 0); /* nothing is shown */
    OK(at <= len);
}

static void every_bad_vector_is_refused_with_its_code(void)
{
    each_line("bad_poets_header.hex", bad_line);
    each_line("bad_poets_flits.hex", bad_line);
}

/* ---- what users read ---- */

static void check_text(const char *hex, const char *want)
{
    uint8_t buf[PACKET_MAX];
    EQ(show(buf, unhex(hex, buf)), LEAT_ERR_OK);
    OK(strcmp(format_shown, want) == 0);
    if (strcmp(format_shown, want) != 0) printf("# %s\n", format_shown);
}

static void each_class_shows_its_own_fields(void)
{
    check_text("0102000302030100070000000000c03f",
               "{\"class\":\"DEV\",\"task\":3,\"opcode\":\"NOP\",\"device\":513,\"pin\":2,"
               "\"edge\":259,\"nflit\":1,\"payload\":\"070000000000c03f\"}");
    check_text("e8030148000000000000000000000000",
               "{\"class\":\"CTL\",\"task\":8,\"opcode\":1,\"device\":1000,\"pinAddr\":0,"
               "\"nflit\":1,\"payload\":\"0000000000000000\"}");
    check_text("153600bf010200000000000000000000",
               "{\"class\":\"EXT\",\"task\":63,\"opcode\":\"NOP\",\"device\":13845,\"pin\":1,"
               "\"edge\":2,\"nflit\":1,\"payload\":\"0000000000000000\"}");
    check_text("0000fdc0110400000000000000000000",
               "{\"class\":\"SUP\",\"task\":0,\"opcode\":\"BARRIER\",\"device\":0,\"sender\":1041,"
               "\"nflit\":1,\"payload\":\"0000000000000000\"}");
    check_text("0400fa00000000000a00000000000000",
               "{\"class\":\"CTL\",\"task\":0,\"opcode\":\"IMPL\",\"device\":4,"
               "\"compat\":\"reply_cnc0\",\"pinAddr\":0,\"nflit\":1,"
               "\"payload\":\"0a00000000000000\"}");
}

static void log_and_instrumentation_show_what_they_carry(void)
{
    uint8_t buf[PACKET_MAX];
    check_text("0000fcc00100000000666768696a0000",
               "{\"class\":\"SUP\",\"task\":0,\"opcode\":\"LOG\",\"device\":0,\"sender\":1,"
               "\"nflit\":1,\"payload\":\"00666768696a0000\","
               "\"log\":{\"seq\":0,\"text\":\"fghij\"}}");
    const char v17[] = "0000fbc01104000000000000001c4e0ee8030000e6030000f401000007000000"
                       "ea0100000300000002000000010000000b00000016000000210000002c000000";
    EQ(show(buf, unhex(v17, buf)), LEAT_ERR_OK);
    OK(strstr(format_shown,
              "\"instr\":{\"cIDX\":0,\"cycles\":240000000,\"rxCnt\":1000,\"rxHanCnt\":998,"
              "\"txCnt\":500,\"supCnt\":7,\"txHanCnt\":490,\"idleCnt\":3,\"idleHanCnt\":2,"
              "\"blockCnt\":1,\"missCount\":11,\"hitCount\":22,\"writebackCount\":33,"
              "\"CPUIdleCount\":44}") != NULL);
    EQ(show(buf, 48), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"blockCnt\":1}") != NULL);
    EQ(show(buf, 32), LEAT_ERR_OK);
    OK(strstr(format_shown, "instr") == NULL);
}

/* A request to a softswitch has the same opcode and no record. */
static void control_packets_carry_no_nested_object(void)
{
    uint8_t buf[PACKET_MAX] = { 0xff, 0xff, 0xfb, 0x40 };
    EQ(show(buf, 64), LEAT_ERR_OK);
    OK(strstr(format_shown, "instr") == NULL);
    buf[2] = 0xfc;
    EQ(show(buf, 64), LEAT_ERR_OK);
    OK(strstr(format_shown, "log") == NULL);
}

static void the_tree_has_offsets(void)
{
    uint8_t buf[PACKET_MAX];
    EQ(format_show_tree(format, buf, unhex("0000fcc00100000000666768696a0000", buf), NULL),
       LEAT_ERR_OK);
    OK(strstr(format_shown, "     3  class: SUP (3)\n") != NULL);
    OK(strstr(format_shown, "     2  opcode: LOG (252)\n") != NULL);
    OK(strstr(format_shown, "     4  sender: 0x00000001\n") != NULL);
    OK(strstr(format_shown, "     9    text: \"fghij\"\n") != NULL);
}

/* ---- what users write ---- */

static void words_of_a_command_line_make_the_published_packets(void)
{
    EQ(build_words("class=DEV task=3 device=513 pin=2 edge=259 payload=070000000000c03f"),
       LEAT_ERR_OK);
    OK(built("0102000302030100070000000000c03f"));
    EQ(build_words("class=SUP opcode=BARRIER sender=0x411"), LEAT_ERR_OK);
    OK(built("0000fdc0110400000000000000000000"));
    EQ(build_words("class=CTL opcode=STOP device=0xffff"), LEAT_ERR_OK);
    OK(built("fffffe40000000000000000000000000"));
    EQ(build_words("class=CTL opcode=IMPL device=4 payload=0a000000 compat=reply_cnc0"),
       LEAT_ERR_OK);
    OK(built("0400fa00000000000a00000000000000"));
    EQ(build_words("pin=2 edge=5 compat=hdr_pin_as_edge"), LEAT_ERR_OK);
    OK(built("00000000020200000000000000000000"));
    EQ(build_words("class=SUP opcode=KILL task=5 sender=0x411"), LEAT_ERR_OK);
    OK(built("0000ffc5110400000000000000000000"));
    EQ(build_words(""), LEAT_ERR_OK);
    OK(built("00000000000000000000000000000000"));
}

static void a_log_fragment_is_built_from_its_text(void)
{
    EQ(format_build_json(format,
                         "{\"class\":\"SUP\",\"opcode\":\"LOG\",\"sender\":2,"
                         "\"log\":{\"text\":\"dIDX OOR 9\"}}",
                         octets, sizeof octets, &octets_len),
       LEAT_ERR_OK);
    OK(built("0000fcc0020000000064494458204f4f52203900000000000000000000000000"));
    EQ(build_words("class=SUP opcode=LOG sender=1 log.seq=0 log.text=fghij"), LEAT_ERR_OK);
    OK(built("0000fcc00100000000666768696a0000"));
    EQ(build_words("class=SUP opcode=LOG log.seq=1 log.text=ab"), LEAT_ERR_OK);
    EQ(octets_len, 64); /* 1.5: all but the last occupy 4 flits */
    OK(memcmp(octets + 8, "\1ab\0", 4) == 0);
    EQ(build_words("class=SUP opcode=LOG log.text="
                   "0123456789012345678901234567890123456789012345678901234"),
       LEAT_ERR_OK);
    EQ(octets_len, 64);
    EQ(octets[63], '4');
}

static void a_record_is_built_from_its_counters(void)
{
    const char words[] = "class=SUP opcode=INSTR sender=0x411 instr.cIDX=0 instr.cycles=240000000 "
                         "instr.rxCnt=1000 instr.rxHanCnt=998 instr.txCnt=500 instr.supCnt=7 "
                         "instr.txHanCnt=490 instr.idleCnt=3 instr.idleHanCnt=2 instr.blockCnt=1";
    char more[500];
    EQ(build_words(words), LEAT_ERR_OK);
    OK(built("0000fbc01104000000000000001c4e0ee8030000e6030000f401000007000000"
             "ea010000030000000200000001000000"));
    snprintf(more, sizeof more,
             "%s instr.missCount=11 instr.hitCount=22 instr.writebackCount=33 "
             "instr.CPUIdleCount=44",
             words);
    EQ(build_words(more), LEAT_ERR_OK);
    OK(built("0000fbc01104000000000000001c4e0ee8030000e6030000f401000007000000"
             "ea0100000300000002000000010000000b00000016000000210000002c000000"));
    EQ(build_words("class=SUP opcode=INSTR"), LEAT_ERR_OK);
    EQ(octets_len, 64); /* 1.6: we emit the 4-flit form */
    EQ(build_words("class=SUP opcode=INSTR instr.rxCnt=1"), LEAT_ERR_OK);
    EQ(octets_len, 64);
}

static void a_payload_and_its_view_must_agree(void)
{
    static const char *const wrong[] = {
        "class=SUP opcode=LOG log.seq=3 log.text=abc payload=0078",
        "class=SUP opcode=LOG log.text=xy payload=0078",
        "class=SUP opcode=INSTR instr.hitCount=9 payload=01",
    };
    for (size_t i = 0; i < 3; i++) {
        EQ(build_words(wrong[i]), LEAT_ERR_FIELD);
        OK(strstr(format_fields.message, "contradicts payload") != NULL);
    }
    EQ(build_words("class=SUP opcode=LOG log.text=x payload=0078"), LEAT_ERR_OK);
    OK(built("0000fcc0000000000078000000000000"));
}

static void refused(const char *words, leat_err want, const char *place)
{
    memset(octets, 0xa5, sizeof octets);
    EQ(build_words(words), want);
    OK(strncmp(format_fields.message, place, strlen(place)) == 0);
    EQ(octets_len, 0);
    EQ(octets[0], 0xa5);
    if (tap_checks_failed) printf("# %s: %s\n", words, format_fields.message);
}

static void mistakes_are_named(void)
{
    refused("task=64", LEAT_ERR_RANGE, "task: 64 does not fit, expected 0..63");
    refused("device=65536", LEAT_ERR_RANGE, "device:");
    refused("pin=256", LEAT_ERR_RANGE, "pin:");
    refused("edge=16777216", LEAT_ERR_RANGE, "edge:");
    refused("class=SUP device=1", LEAT_ERR_POETS_SUPDEV, "device: class SUP has device 0");
    refused("opcode=STOP", LEAT_ERR_POETS_OPNOCNC, "opcode: only classes CTL and SUP");
    refused("class=EXT opcode=1", LEAT_ERR_POETS_OPNOCNC, "opcode:");
    refused("class=FOO", LEAT_ERR_FIELD, "class: unknown value 'FOO'");
    refused("payload=0", LEAT_ERR_SYNTAX, "payload: odd number");
    refused("class=SUP opcode=LOG log.text="
            "01234567890123456789012345678901234567890123456789012345",
            LEAT_ERR_LENGTH, "log.text: 56 octets");
    refused("payload=0000000000000000000000000000000000000000000000000000000000"
            "00000000000000000000000000000000000000000000000000000000",
            LEAT_ERR_LENGTH, "payload: 57 octets, expected at most 56");
}

/* Fields of another class are unknown; the octets are written, but finish reports them. */
static void fields_of_another_class_are_refused(void)
{
    EQ(build_words("class=DEV sender=1"), LEAT_ERR_FIELD);
    EQ(build_words("class=SUP pin=1"), LEAT_ERR_FIELD);
    EQ(build_words("class=CTL opcode=LOG log.text=a"), LEAT_ERR_FIELD);
    EQ(build_words("class=SUP opcode=INSTR instr.nonsense=1"), LEAT_ERR_FIELD);
}

static void a_small_buffer_is_refused(void)
{
    size_t len = 77;
    EQ(format_build_words(format, "", octets, 15, &len), LEAT_ERR_SPACE);
    EQ(len, 77);
}

static void random_packets_survive_the_text(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    long sound = 0;
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t buf[PACKET_MAX];
        const size_t len = 16 * (1 + leat_random_below(&r, 4));
        leat_random_fill(&r, buf, len);
        const uint64_t way = leat_random_below(&r, 4);
        if (way == 0) buf[2] = 0;
        if (way > 1) buf[0] = buf[1] = 0, buf[3] |= 0xc0;
        if (way == 2) buf[2] = LEAT_POETS_OP_LOG;
        if (way == 3) buf[2] = LEAT_POETS_OP_INSTR;
        struct leat_poets_packet p;
        if (leat_poets_packet_decode(buf, len, &p, NULL)) continue;
        format_round_trip(format, buf, len);
        sound++;
        if (tap_checks_failed) return;
    }
    OK(sound > LEAT_ROUNDS / 2);
}

/* ---- records of hosts ---- */

static void built_record(const struct leat_format *record, const char *words, const char *hex)
{
    uint8_t got[100], want[100];
    size_t len = 0;
    EQ(format_build_words(record, words, got, sizeof got, &len), LEAT_ERR_OK);
    EQ(len, unhex(hex, want));
    OK(memcmp(got, want, len) == 0);
    format_round_trip(record, want, len);
}

/* V19, and a packet whose octets are written here by hand. */
static void records_of_hosts_have_their_octets(void)
{
    char hex[140] = "11040000fffffd40";
    memset(hex + 16, '0', 120);
    built_record(&leat_poetsaddr_format, "hwAddr=0x411 class=CTL opcode=BARRIER device=0xffff",
                 hex);
    memcpy(hex, "0500020001020003020301000700", 28);
    built_record(&leat_poetsaddr_format,
                 "hwAddr=0x20005 class=DEV task=3 device=513 pin=2 edge=259 payload=07", hex);
    built_record(&leat_poetsdebug_format, "origin=0x411 octet=0xaa", "11040000aa");
    built_record(&leat_poetsdebug_format, "", "0000000000");
}

static void records_of_other_lengths_are_refused(void)
{
    static const uint8_t zeros[100];
    const struct leat_format *const records[] = { &leat_poetsaddr_format, &leat_poetsdebug_format };
    for (int i = 0; i < 2; i++)
        for (size_t len = 0; len < sizeof zeros; len++) {
            size_t fault = SIZE_MAX;
            format_show_begin(leat_fields_init_json);
            const leat_err err = records[i]->show(zeros, len, &format_fields, &fault);
            OK((err == LEAT_ERR_OK) == (len == records[i]->unit_len));
            if (err) OK(fault <= len);
            format_show_end();
        }
}

/* What is wrong with the packet is told at its place in the record. */
static void random_records_survive_the_text(void)
{
    struct leat_random r;
    uint8_t record[68];
    long sound = 0;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS && !tap_checks_failed; round++) {
        struct leat_poets_packet p;
        size_t wrong_at = 0, fault = SIZE_MAX;
        leat_random_fill(&r, record, sizeof record);
        if (round & 1) record[6] = 0;
        if (leat_poets_packet_decode(record + 4, 64, &p, &wrong_at) == LEAT_ERR_OK) {
            format_round_trip(&leat_poetsaddr_format, record, sizeof record);
            sound++;
        } else {
            format_show_begin(leat_fields_init_json);
            OK(leat_poetsaddr_format.show(record, sizeof record, &format_fields, &fault));
            EQ(fault, wrong_at + 4);
            format_show_end();
        }
        format_round_trip(&leat_poetsdebug_format, record, 5);
    }
    OK(sound > LEAT_ROUNDS / 4);
}

/* ---- captures and datagrams ---- */

static leat_err unframe(const uint8_t *buf, size_t len, size_t *at, size_t *packet_len)
{
    size_t fault = SIZE_MAX;
    format_show_begin(leat_fields_init_json);
    const leat_err err = format->framing->unframe(buf, len, &format_fields, at, packet_len, &fault);
    if (err) OK(fault <= len);
    format_show_end();
    return err;
}

static leat_err frame(const char *json, const uint8_t *packet, size_t packet_len, uint8_t *buf,
                      size_t cap, size_t *len)
{
    struct leat_arena arena = format_arena();
    struct leat_tree *tree = NULL;
    EQ(leat_tree_parse_json(&arena, json, strlen(json), &tree, NULL), LEAT_ERR_OK);
    leat_fields_init_read(&format_fields, tree, &arena);
    return format->framing->frame(&format_fields, packet, packet_len, buf, cap, len);
}

/* A barrier report from thread 0x0411, in its datagram, padded to 24 octets. */
static const uint8_t carried[24] = { 1, 16, 0x11, 0x04, 0, 0, 0, 0, 0xfd, 0xc0, 0x11, 0x04 };

static void the_frame_holds_direction_length_and_address(void)
{
    uint8_t buf[24];
    size_t at = 0, packet_len = 0, len = 0;
    EQ(unframe(carried, sizeof carried, &at, &packet_len), LEAT_ERR_OK);
    EQ(at, 6);
    EQ(packet_len, 16);
    OK(strcmp(format_shown, "{\"direction\":\"toHost\",\"hwAddr\":1041}") == 0);
    EQ(frame(format_shown, carried + at, packet_len, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, 22);
    OK(memcmp(buf, carried, len) == 0);
    memset(buf, 0, sizeof buf);
    EQ(leat_poets_carriage_put(true, 1041, carried + at, packet_len, buf), 22);
    OK(memcmp(buf, carried, len) == 0);
    const uint8_t *packet = NULL;
    EQ(leat_poets_carriage_get(carried, sizeof carried, &packet, &packet_len, NULL), LEAT_ERR_OK);
    OK(packet == carried + at);
    EQ(packet_len, 16);
}

static void padding_after_the_packet_is_tolerated_and_lack_of_octets_is_not(void)
{
    for (size_t len = 0; len <= sizeof carried; len++) {
        size_t at = 0, packet_len = 0;
        EQ(unframe(carried, len, &at, &packet_len), len < 22 ? LEAT_ERR_SHORT : LEAT_ERR_OK);
        EQ(packet_len, len < 22 ? 0 : 16);
    }
    uint8_t buf[24];
    size_t at = 0, packet_len = 0;
    memcpy(buf, carried, sizeof buf);
    buf[1] = 255;
    EQ(unframe(buf, sizeof buf, &at, &packet_len), LEAT_ERR_SHORT);
    buf[1] = 16;
    buf[0] = 2;
    EQ(unframe(buf, sizeof buf, &at, &packet_len), LEAT_ERR_TYPE);
    OK(strcmp(format_shown, "{}") == 0);
}

static void the_direction_is_where_the_packet_goes_unless_said(void)
{
    const uint8_t *report = carried + 6;
    const uint8_t release[16] = { 0xff, 0xff, 0xfd, 0x40 };
    uint8_t buf[80];
    size_t len = 0;
    EQ(frame("{}", report, 16, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(buf[0], 1);
    EQ(frame("{}", release, 16, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(buf[0], 0);
    EQ(frame("{\"direction\":\"toHost\"}", release, 16, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(buf[0], 1);
    EQ(frame("{\"direction\":2}", release, 16, buf, sizeof buf, &len), LEAT_ERR_RANGE);
    OK(strncmp(format_fields.message, "direction:", 10) == 0);
    EQ(frame("{}", release, 16, buf, 21, &len), LEAT_ERR_SPACE);
    EQ(frame("{}", carried, 65, buf, sizeof buf, &len), LEAT_ERR_POETS_FLITS);
}

TAP_MAIN(T(every_good_vector_survives_the_text), T(every_bad_vector_is_refused_with_its_code),
         T(each_class_shows_its_own_fields), T(log_and_instrumentation_show_what_they_carry),
         T(control_packets_carry_no_nested_object), T(the_tree_has_offsets),
         T(words_of_a_command_line_make_the_published_packets),
         T(a_log_fragment_is_built_from_its_text), T(a_record_is_built_from_its_counters),
         T(a_payload_and_its_view_must_agree), T(mistakes_are_named),
         T(fields_of_another_class_are_refused), T(a_small_buffer_is_refused),
         T(random_packets_survive_the_text), T(records_of_hosts_have_their_octets),
         T(records_of_other_lengths_are_refused), T(random_records_survive_the_text),
         T(the_frame_holds_direction_length_and_address),
         T(padding_after_the_packet_is_tolerated_and_lack_of_octets_is_not),
         T(the_direction_is_where_the_packet_goes_unless_said))
