/* The text of aal34, aal5 and atmtask: what is shown can be read back, and users' spellings
 * work. */
#include "atm_aal34.h"
#include "atm_task_cell.h"
#include "atm_text.h"
#include "format_harness.h"
#include <leat/atm.h>
#include <leat/random.h>
#include <string.h>

enum { PACKET_MAX = LEAT_ATM_AAL5_PDU_LEN_MAX };

static void expect_words(const struct leat_format *format, const char *words, const char *hex)
{
    static uint8_t octets[PACKET_MAX];
    size_t len = 0;
    EQ(format_build_words(format, words, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(2 * len, strlen(hex));
    for (size_t i = 0; i < len && 2 * i < strlen(hex); i++) {
        const char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };
        EQ(octets[i], strtoul(digits, NULL, 16));
    }
}

/* A refusal comes with a text that says what was expected. */
static void expect_refusal(const struct leat_format *format, const char *words, leat_err err,
                           const char *expected)
{
    static uint8_t octets[PACKET_MAX];
    size_t len = 777;
    EQ(format_build_words(format, words, octets, sizeof octets, &len), err);
    OK(strstr(format_fields.message, expected) != NULL);
    if (!strstr(format_fields.message, expected))
        printf("# %s: %s\n", words, format_fields.message);
}

static const struct leat_format *const formats[] = { &leat_aal34_format, &leat_aal5_format,
                                                     &leat_atmtask_format };

/* ---- all three ------------------------------------------------------------------------------ */

static void nothing_is_shown_of_an_unsound_packet(void)
{
    const uint8_t octets[60] = { 1, 2, 3 };
    for (int i = 0; i < 3; i++) {
        for (size_t len = 0; len <= sizeof octets; len++) {
            size_t fault_at = 999;
            OK(format_show_json(formats[i], octets, len, &fault_at) != LEAT_ERR_OK);
            OK(strcmp(format_shown, "{}") == 0);
            OK(fault_at <= len);
        }
    }
}

static void unknown_fields_are_refused(void)
{
    expect_refusal(&leat_aal34_format, "md=1", LEAT_ERR_FIELD, "mid");
    expect_refusal(&leat_aal34_format, "cpcs.tag=1", LEAT_ERR_FIELD, "btag");
    expect_refusal(&leat_aal5_format, "data=00", LEAT_ERR_FIELD, "payload");
    expect_refusal(&leat_atmtask_format, "payload=00", LEAT_ERR_FIELD, "data");
    expect_refusal(&leat_atmtask_format, "flag=end message.id=1", LEAT_ERR_FIELD, "message");
}

/* A packet built without fields is valid, and what it shows builds it again. */
static void the_default_packet_of_each_format_is_sound(void)
{
    static uint8_t octets[PACKET_MAX];
    for (int i = 0; i < 3; i++) {
        size_t len = 0;
        EQ(format_build_words(formats[i], "", octets, sizeof octets, &len), LEAT_ERR_OK);
        format_round_trip(formats[i], octets, len);
        if (formats[i]->unit_len) EQ(len, formats[i]->unit_len);
        EQ(formats[i]->link_type, 0);
    }
}

static void a_buffer_that_is_too_small_is_refused(void)
{
    for (int i = 0; i < 3; i++) {
        uint8_t octets[48] = { 0x77 };
        size_t len = 777;
        EQ(format_build_words(formats[i], "", octets, 47, &len), LEAT_ERR_SPACE);
        EQ(len, 777);
        EQ(octets[0], 0x77);
    }
}

/* ---- aal34 ---------------------------------------------------------------------------------- */

#define ZEROS_22 "00000000000000000000000000000000000000000000"
#define ABCDEFGH                                               \
    "c001"                                                     \
    "00010008"                                                 \
    "4142434445464748"                                         \
    "00010008"                                                 \
    "00000000000000000000000000000000000000000000000000000000" \
    "4133"

static void the_single_segment_of_the_note_is_shown_with_its_cpcs_pdu(void)
{
    static uint8_t octets[PACKET_MAX];
    size_t len = 0;
    expect_words(&leat_aal34_format, "mid=1 cpcs.btag=1 cpcs.payload=4142434445464748", ABCDEFGH);
    EQ(format_build_words(&leat_aal34_format, "mid=1 cpcs.btag=1 cpcs.payload=4142434445464748",
                          octets, sizeof octets, &len),
       LEAT_ERR_OK);
    EQ(format_show_json(&leat_aal34_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown,
              "{\"st\":\"SSM\",\"sn\":0,\"p\":0,\"mid\":1,"
              "\"payload\":\"00010008414243444546474800010008\","
              "\"cpcs\":{\"cpi\":0,\"btag\":1,\"baSize\":8,\"payload\":\"4142434445464748\","
              "\"al\":0,\"etag\":1,\"length\":8},\"li\":16,\"crc\":307}") == 0);
    EQ(format_show_tree(&leat_aal34_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "crc: 0x133") != NULL);
}

static void words_make_every_kind_of_sar_pdu(void)
{
    expect_words(&leat_aal34_format,
                 "st=BOM sn=5 mid=0x12a payload=0102030405060708090a0b0c0d0e0f101112131415161718"
                 "191a1b1c1d1e1f202122232425262728292a2b2c",
                 "952a0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324"
                 "25262728292a2b2cb01f");
    expect_words(&leat_aal34_format, "payload=" ZEROS_22 ZEROS_22, "c000" ZEROS_22 ZEROS_22 "b3e9");
    uint8_t octets[LEAT_ATM_AAL34_SAR_LEN];
    struct leat_atm_aal34_sar sar;
    size_t len = 0;
    EQ(format_build_words(&leat_aal34_format, "st=EOM abort=true p=1 mid=3", octets, sizeof octets,
                          &len),
       LEAT_ERR_OK);
    EQ(leat_atm_aal34_sar_decode(octets, len, &sar, NULL), LEAT_ERR_OK);
    EQ(sar.li, LEAT_ATM_AAL34_LI_ABORT);
    EQ(sar.mid10, 0x203);
    EQ(format_build_words(&leat_aal34_format, "st=COM", octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(leat_atm_aal34_sar_decode(octets, len, &sar, NULL), LEAT_ERR_OK);
    EQ(sar.li, 44);
    EQ(format_build_words(&leat_aal34_format, "cpcs.baSize=100 cpcs.cpi=7", octets, sizeof octets,
                          &len),
       LEAT_ERR_OK);
    EQ(octets[2], 7);
    EQ(octets[5], 100);
}

static void mistakes_in_aal34_are_explained(void)
{
    const struct leat_format *f = &leat_aal34_format;
    expect_refusal(f, "st=FIRST", LEAT_ERR_FIELD, "BOM");
    expect_refusal(f, "mid=512", LEAT_ERR_RANGE, "0..511");
    expect_refusal(f, "sn=16", LEAT_ERR_RANGE, "0..15");
    expect_refusal(f, "st=BOM payload=00", LEAT_ERR_LENGTH, "expected 44 octets in BOM");
    expect_refusal(f, "payload=00", LEAT_ERR_LENGTH, "8 to 44 in SSM");
    expect_refusal(f, "st=BOM cpcs.btag=1", LEAT_ERR_FIELD, "payload");
    expect_refusal(f, "st=EOM abort=yes payload=00000000", LEAT_ERR_FIELD, "payload");
    expect_refusal(f, "cpcs.payload=0102 cpcs.baSize=1", LEAT_ERR_RANGE, "at least");
    expect_refusal(f, "cpcs.payload=" ZEROS_22 "000000000000000000000000000000", LEAT_ERR_LENGTH,
                   "at most 36");
    expect_refusal(f, "payload=0001000100000000 cpcs.btag=1", LEAT_ERR_FIELD, "contradicts");
    expect_refusal(f, "payload=00010000000100010000000000 cpcs.btag=1", LEAT_ERR_FIELD,
                   "contradicts");
}

/* A changed field in only one of the two views must be detected. */
static void an_edited_cpcs_beside_its_old_payload_is_refused(void)
{
    static uint8_t octets[PACKET_MAX];
    size_t len = 0;
    EQ(format_build_json(&leat_aal34_format,
                         "{\"payload\":\"00010008414243444546474800010008\","
                         "\"cpcs\":{\"btag\":1,\"payload\":\"4142434445464749\"}}",
                         octets, sizeof octets, &len),
       LEAT_ERR_FIELD);
    EQ(format_build_json(&leat_aal34_format,
                         "{\"payload\":\"00010008414243444546474800010008\","
                         "\"cpcs\":{\"btag\":1,\"payload\":\"4142434445464748\"}}",
                         octets, sizeof octets, &len),
       LEAT_ERR_OK);
}

static void random_sar_pdus_are_built_again_from_their_text(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS / 10; round++) {
        struct leat_atm_aal34_sar sar = { .li = 44 };
        sar.st = (enum leat_atm_aal34_st)leat_random_below(&r, 4);
        sar.sn = (uint8_t)leat_random_below(&r, 16);
        sar.mid10 = (uint16_t)leat_random_below(&r, 1024);
        uint8_t octets[LEAT_ATM_AAL34_SAR_LEN];
        if (sar.st == LEAT_ATM_AAL34_EOM) sar.li = (uint8_t)(4 + leat_random_below(&r, 41));
        if (sar.st == LEAT_ATM_AAL34_SSM) sar.li = (uint8_t)(8 + leat_random_below(&r, 37));
        leat_random_fill(&r, sar.payload, sar.li);
        if (sar.st == LEAT_ATM_AAL34_EOM && round % 8 == 0) sar.li = LEAT_ATM_AAL34_LI_ABORT;
        if (sar.st == LEAT_ATM_AAL34_SSM && round % 2) { /* a valid CPCS-PDU */
            uint8_t payload[36];
            size_t len = 0;
            const struct leat_atm_aal34_cpcs cpcs = { (uint8_t)round, (uint8_t)(round >> 8),
                                                      (uint16_t)(36 + round % 1000), payload,
                                                      leat_random_below(&r, 37) };
            leat_random_fill(&r, payload, sizeof payload);
            OK(leat_atm_aal34_cpcs_encode(&cpcs, sar.payload, 44, &len) == LEAT_ERR_OK);
            sar.li = (uint8_t)len;
        }
        OK(leat_atm_aal34_sar_encode(&sar, octets, sizeof octets) == LEAT_ERR_OK);
        format_round_trip(&leat_aal34_format, octets, sizeof octets);
        if (tap_checks_failed > 9) return;
    }
}

/* ---- aal5 ----------------------------------------------------------------------------------- */

static void nothing_said_is_the_published_pdu_of_forty_zeros(void)
{
    expect_words(&leat_aal5_format, "",
                 "0000000000000000000000000000000000000000000000000000000000000000000000000000000"
                 "000000028864d7f99");
    static uint8_t octets[PACKET_MAX];
    size_t len = 0;
    EQ(format_build_words(&leat_aal5_format, "uu=1 cpi=2 payload=41", octets, sizeof octets, &len),
       LEAT_ERR_OK);
    EQ(format_show_json(&leat_aal5_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "{\"payload\":\"41\",\"uu\":1,\"cpi\":2,\"length\":1,\"crc\":") ==
       format_shown);
    EQ(format_show_tree(&leat_aal5_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "    42  length: 1\n") != NULL);
}

static void mistakes_in_aal5_are_explained(void)
{
    expect_refusal(&leat_aal5_format, "payload=", LEAT_ERR_LENGTH, "1 to 65535");
    expect_refusal(&leat_aal5_format, "payload=123", LEAT_ERR_SYNTAX, "odd number");
    expect_refusal(&leat_aal5_format, "uu=256", LEAT_ERR_RANGE, "0..255");
}

static void random_pdus_are_built_again_from_their_text(void)
{
    static uint8_t payload[65535], octets[PACKET_MAX];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS / 10; round++) {
        struct leat_atm_aal5_pdu pdu = { (uint8_t)round, (uint8_t)(round >> 8), payload,
                                         1 + leat_random_below(&r, 200) };
        size_t len = 0;
        if (round == 0) pdu.payload_len = 65535;
        leat_random_fill(&r, payload, pdu.payload_len);
        OK(leat_atm_aal5_pdu_encode(&pdu, octets, sizeof octets, &len) == LEAT_ERR_OK);
        format_round_trip(&leat_aal5_format, octets, len);
        if (tap_checks_failed > 9) return;
    }
}

/* ---- atmtask -------------------------------------------------------------------------------- */

#define BROADCAST_285                                                                              \
    "04000000000000000300010001ffff000000720000006300000076ffffffff000000010000011d00000000000000" \
    "00"                                                                                           \
    "00000000"                                                                                     \
    "4a78"

static void words_make_the_published_cells(void)
{
    expect_words(&leat_atmtask_format,
                 "vpi=0x40 source=1 destination=broadcast message.name=rcv message.instance=-1 "
                 "message.id=1 data=0000011d",
                 BROADCAST_285);
    expect_words(&leat_atmtask_format,
                 "vpi=0x15 source=1 destination=5 message.name=rcv message.instance=1 "
                 "message.id=1 data=0000022044a22e98",
                 "015000000000000003000100010005000000720000006300000076000000010000000100000220"
                 "44a22e980000000000000000dfbd");
    expect_words(&leat_atmtask_format, "vpi=6 type=ACK source=1 destination=1",
                 "00600000000001000000010001000100000000000000000000000000000000000000000000000000"
                 "0000000000000000000000be22");
}

static void the_published_cell_is_shown_by_name(void)
{
    static uint8_t octets[PACKET_MAX];
    size_t len = 0;
    EQ(format_build_words(
           &leat_atmtask_format,
           "vpi=64 source=1 destination=0xffff message.name=rcv message.instance=4294967295 "
           "message.id=1 data=0000011d",
           octets, sizeof octets, &len),
       LEAT_ERR_OK);
    EQ(format_show_json(&leat_atmtask_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown,
              "{\"vpi\":64,\"type\":\"message\",\"flag\":\"single\",\"sequence\":1,"
              "\"source\":1,\"destination\":65535,\"message\":{\"name\":\"rcv\","
              "\"instance\":4294967295,\"id\":1},\"data\":\"0000011d000000000000000000000000\","
              "\"crc\":19064}") == 0);
}

/* Integers of a name that are not characters, and names shorter than three. */
static void a_name_that_is_no_text_is_shown_as_integers(void)
{
    static uint8_t octets[PACKET_MAX];
    size_t len = 0;
    EQ(format_build_json(&leat_atmtask_format, "{\"message\":{\"nameWords\":[1,256,4294967295]}}",
                         octets, sizeof octets, &len),
       LEAT_ERR_OK);
    EQ(format_show_json(&leat_atmtask_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"nameWords\":[1,256,4294967295]") != NULL);
    format_round_trip(&leat_atmtask_format, octets, len);
    EQ(format_build_words(&leat_atmtask_format, "message.name=ab", octets, sizeof octets, &len),
       LEAT_ERR_OK);
    EQ(octets[18], 'a');
    EQ(octets[22], 'b');
    EQ(octets[26], 0);
    EQ(format_show_json(&leat_atmtask_format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"name\":\"ab\"") != NULL);
}

static void flags_are_named_by_the_type_of_the_cell(void)
{
    static uint8_t octets[PACKET_MAX];
    static const char *const words[] = { "flag=middle",
                                         "flag=begin",
                                         "flag=end",
                                         "flag=single",
                                         "type=ACK flag=broadcast",
                                         "type=ACK flag=point-to-point",
                                         "type=RESYNC flag=broadcast",
                                         "type=RESYNCED flag=point-to-point" };
    static const uint8_t flags[] = { 0, 1, 2, 3, 0, 4, 0, 4 };
    size_t len = 0;
    for (int i = 0; i < 8; i++) {
        EQ(format_build_words(&leat_atmtask_format, words[i], octets, sizeof octets, &len),
           LEAT_ERR_OK);
        EQ(octets[8], flags[i]);
        EQ(format_show_json(&leat_atmtask_format, octets, len, NULL), LEAT_ERR_OK);
        OK(strstr(format_shown, strrchr(words[i], '=') + 1) != NULL);
    }
}

static void mistakes_in_atmtask_are_explained(void)
{
    const struct leat_format *f = &leat_atmtask_format;
    expect_refusal(f, "type=2", LEAT_ERR_TYPE, "message (0), ACK (1)");
    expect_refusal(f, "flag=4", LEAT_ERR_RESERVED, "single (3)");
    expect_refusal(f, "type=ACK flag=single", LEAT_ERR_FIELD, "point-to-point");
    expect_refusal(f, "type=ACK flag=3", LEAT_ERR_RESERVED, "point-to-point (4)");
    expect_refusal(f, "type=ACK flag=264", LEAT_ERR_RESERVED, "group-31 (256)");
    expect_refusal(f, "type=RESYNC flag=2", LEAT_ERR_RESERVED, "point-to-point (4)");
    expect_refusal(f, "sequence=536870912", LEAT_ERR_RANGE, "0..536870911");
    expect_refusal(f, "vpi=4096", LEAT_ERR_RANGE, "0..4095");
    expect_refusal(f, "message.name=long", LEAT_ERR_LENGTH, "at most 3");
    expect_refusal(f, "data=0000000000000000000000000000000000", LEAT_ERR_LENGTH, "at most 16");
}

static void random_cells_are_built_again_from_their_text(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS / 10; round++) {
        struct leat_atm_task_cell cell = { 0 };
        cell.vpi = (uint16_t)leat_random_below(&r, 4096);
        cell.flag = (uint16_t)leat_random_below(&r, 4);
        cell.sequence = (uint32_t)leat_random_below(&r, round % 2 ? 1 << 29 : 1 << 16);
        cell.source = (uint16_t)leat_random_next(&r);
        cell.destination = (uint16_t)leat_random_next(&r);
        uint8_t octets[LEAT_ATM_TASK_CELL_LEN];
        leat_random_fill(&r, cell.payload, sizeof cell.payload);
        if (round % 3 == 0) { /* a name of characters, any of them */
            cell.payload[0] = cell.payload[1] = cell.payload[2] = 0;
            cell.payload[4] = cell.payload[5] = cell.payload[6] = 0;
            cell.payload[8] = cell.payload[9] = cell.payload[10] = 0;
        }
        if (round % 4 == 0) {
            cell.type = round % 12 ? LEAT_ATM_TASK_ACK : LEAT_ATM_TASK_RESYNCED;
            cell.flag = round % 8 ? 4 : 0;
        }
        OK(leat_atm_task_cell_encode(&cell, octets, sizeof octets) == LEAT_ERR_OK);
        format_round_trip(&leat_atmtask_format, octets, sizeof octets);
        if (tap_checks_failed > 9) return;
    }
}

TAP_MAIN(T(nothing_is_shown_of_an_unsound_packet), T(unknown_fields_are_refused),
         T(the_default_packet_of_each_format_is_sound), T(a_buffer_that_is_too_small_is_refused),
         T(the_single_segment_of_the_note_is_shown_with_its_cpcs_pdu),
         T(words_make_every_kind_of_sar_pdu), T(mistakes_in_aal34_are_explained),
         T(an_edited_cpcs_beside_its_old_payload_is_refused),
         T(random_sar_pdus_are_built_again_from_their_text),
         T(nothing_said_is_the_published_pdu_of_forty_zeros), T(mistakes_in_aal5_are_explained),
         T(random_pdus_are_built_again_from_their_text), T(words_make_the_published_cells),
         T(the_published_cell_is_shown_by_name), T(a_name_that_is_no_text_is_shown_as_integers),
         T(flags_are_named_by_the_type_of_the_cell), T(mistakes_in_atmtask_are_explained),
         T(random_cells_are_built_again_from_their_text))
