#include "atm_oam.h"
#include "atm_rm.h"
#include "atm_seal.h"
#include "atm_text.h"
#include "format_harness.h"
#include "leat_bytes.h"
#include <leat/atm.h>
#include <leat/crc.h>
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN };

static const struct leat_format *const format = &leat_atm_format;

static leat_err show(const uint8_t *cell)
{
    return format_show_json(format, cell, CELL, NULL);
}

static leat_err build(const char *json, uint8_t *cell)
{
    size_t len = 0;
    return format_build_json(format, json, cell, CELL, &len);
}

static leat_err build_words(const char *words, uint8_t *cell)
{
    size_t len = 0;
    return format_build_words(format, words, cell, CELL, &len);
}

static void seal(uint8_t *cell)
{
    const unsigned pt = cell[3] >> 1 & 7;
    cell[4] = leat_crc_hec(cell);
    if (pt >= LEAT_ATM_PT_OAM_SEGMENT && pt <= LEAT_ATM_PT_RM)
        leat_atm_payload_seal(cell + LEAT_ATM_HEADER_LEN, 0);
}

static void the_format_says_where_cells_travel(void)
{
    OK(strcmp(format->name, "atm") == 0);
    EQ(format->unit_len, 53);
    EQ(format->link_type, 147);
    EQ(format->ether_type + format->udp_port + format->ip_protocol, 0);
    OK(strcmp(leat_name_of(leat_atm_interface_names, LEAT_ATM_NNI), "NNI") == 0);
    for (unsigned pt = 0; pt < 8; pt++)
        OK(leat_name_of(leat_atm_pt_names, pt) != NULL);
}

static void a_cell_is_shown_as_json(void)
{
    uint8_t cell[CELL] = { 0x01, 0x23, 0x45, 0x62, 0x8e, [52] = 0xff };
    EQ(show(cell), LEAT_ERR_OK);
    OK(strcmp(format_shown,
              "{\"interface\":\"UNI\",\"gfc\":0,\"vpi\":18,\"vci\":13398,\"pt\":\"user-1\","
              "\"clp\":0,\"hec\":142,\"kind\":\"assigned\",\"payload\":\""
              "000000000000000000000000000000000000000000000000"
              "0000000000000000000000000000000000000000000000ff\"}") == 0);
}

static void a_resource_management_cell_is_shown_with_its_rates(void)
{
    uint8_t cell[CELL] = { 0x04, 0x00, 0x00, 0x6c, 0x0e, 0x01,        0x00,       0x64,
                           0xb1, 0x53, 0xe8, 0x4d, 0x20, [51] = 0x01, [52] = 0xfa };
    EQ(show(cell), LEAT_ERR_OK);
    OK(strstr(format_shown,
              "\"rm\":{\"ID\":1,\"DIR\":false,\"BN\":false,\"CI\":false,\"NI\":false,"
              "\"RA\":false,\"ERrate\":352768,\"ER\":25777,\"CCRrate\":1000,\"CCR\":21480,"
              "\"MCRrate\":100,\"MCR\":19744,\"QL\":0,\"SN\":0,\"crc\":506}") != NULL);
    EQ(format_show_tree(format, cell, CELL, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "7    ER: 0x64b1\n") != NULL);
}

static void cells_of_virtual_paths_are_shown_as_oam_if_their_crc_holds(void)
{
    for (unsigned vci = 2; vci <= 5; vci++)
        for (unsigned pt = 0; pt < 4; pt++) {
            uint8_t cell[CELL] = { 0, 0x10, 0, (uint8_t)(vci << 4 | pt << 1), [5] = 0x14 };
            leat_atm_payload_seal(cell + LEAT_ATM_HEADER_LEN, 0);
            cell[4] = leat_crc_hec(cell);
            EQ(show(cell), LEAT_ERR_OK);
            EQ(strstr(format_shown, "\"function\":\"continuity\"") != NULL,
               (vci == 3 || vci == 4) && pt % 2 == 0);
            cell[20] ^= 1;
            EQ(show(cell), LEAT_ERR_OK);
            OK(strstr(format_shown, "\"oam\"") == NULL);
        }
    uint8_t cell[CELL];
    EQ(build_words("vpi=1 vci=4 pt=user-0 oam.type=fault oam.function=AIS", cell), LEAT_ERR_OK);
    EQ(cell[3], 0x40);
    EQ(cell[5], 0x10);
    EQ(leat_atm_payload_check(cell + 5, 48, NULL), LEAT_ERR_OK);
}

static void the_kinds_of_cells_are_distinguished(void)
{
    uint8_t cell[CELL];
    leat_atm_cell_idle(cell);
    EQ(show(cell), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"kind\":\"idle\"") != NULL);
    EQ(build("{}", cell), LEAT_ERR_OK); /* the default cell */
    EQ(show(cell), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"kind\":\"unassigned\"") != NULL);
}

static void users_build_cells_with_few_words(void)
{
    uint8_t cell[CELL];
    EQ(build_words("vpi=0x12 vci=0x3456 pt=user-1 payload=01:02", cell), LEAT_ERR_OK);
    OK(memcmp(cell, "\x01\x23\x45\x62\x8e\x01\x02\x00", 8) == 0);
    EQ(build_words("interface=NNI vpi=0xabc vci=0x3456 pt=user-efci-1 clp=1", cell), LEAT_ERR_OK);
    OK(memcmp(cell, "\xab\xc3\x45\x67\x38", 5) == 0);
    EQ(build_words("interface=nni vpi=0x40 vci=6 rm.ERrate=353207 rm.CCRrate=1000 rm.MCRrate=100",
                   cell),
       LEAT_ERR_OK);
    OK(memcmp(cell, "\x04\x00\x00\x6c\x0e\x01\x00\x64\xb1\x53\xe8\x4d\x20\x00", 14) == 0);
    EQ(leat_get_be16(cell + 51), 0x01fa);
    EQ(build_words("rm.DIR=yes rm.CI=1 rm.ER=0x1234", cell), LEAT_ERR_OK);
    OK(memcmp(cell + 5, "\x01\xa0\x12\x34", 4) == 0);
    EQ(build_words("vci=100 oam.type=fault oam.function=loopback oam.specific=01", cell),
       LEAT_ERR_OK);
    EQ(cell[3] >> 1 & 7, LEAT_ATM_PT_OAM_END);
    OK(memcmp(cell + 5, "\x18\x01\x6a\x6a", 4) == 0);
    EQ(build_words("kind=idle", cell), LEAT_ERR_OK);
    OK(memcmp(cell, "\x00\x00\x00\x01\x52\x6a\x6a", 7) == 0 && cell[52] == 0x6a);
    EQ(build_words("pt=oam-segment", cell), LEAT_ERR_OK);
    EQ(cell[5], 0x14); /* a continuity check */
    EQ(leat_atm_payload_check(cell + 5, 48, NULL), LEAT_ERR_OK);
}

static void a_payload_and_its_meaning_must_agree(void)
{
    uint8_t cell[CELL];
    EQ(build_words("pt=rm rm.ER=0x1234 rm.SN=77", cell), LEAT_ERR_OK);
    EQ(show(cell), LEAT_ERR_OK);
    char *sn = strstr(format_shown, "\"SN\":77");
    OK(sn != NULL);
    if (sn) sn[5] = '8';
    EQ(build(format_shown, cell), LEAT_ERR_FIELD);
    OK(strncmp(format_fields.message, "rm: contradicts payload", 23) == 0);
}

static void the_nni_has_a_vpi_of_twelve_bits(void)
{
    uint8_t cell[CELL], back[CELL];
    size_t at, len = 0;
    EQ(build_words("interface=NNI vpi=0xabc vci=40", cell), LEAT_ERR_OK);
    EQ(format_show_json(&leat_atm_nni_format, cell, CELL, &at), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"interface\":\"NNI\",\"gfc\":0,\"vpi\":2748,") != NULL);
    EQ(format_build_json(&leat_atm_nni_format, format_shown, back, CELL, &len), LEAT_ERR_OK);
    OK(memcmp(cell, back, CELL) == 0);
}

static void mistakes_are_explained(void)
{
    static const struct {
        const char *words, *text;
        leat_err err;
    } wrong[] = {
        { "vpi=256", "vpi: 256 does not fit, expected 0..255", LEAT_ERR_RANGE },
        { "interface=NNI vpi=4096", "vpi: 4096 does not fit, expected 0..4095", LEAT_ERR_RANGE },
        { "interface=NNI gfc=1", "gfc: expected 0 at the NNI", LEAT_ERR_RANGE },
        { "pt=8", "pt: 8 does not fit", LEAT_ERR_RANGE },
        { "pt=oam", "pt: unknown value 'oam'", LEAT_ERR_FIELD },
        { "interface=XNI", "interface: unknown value", LEAT_ERR_FIELD },
        { "pt=user-0 oam.type=1", "oam: expected with pt=oam-segment", LEAT_ERR_FIELD },
        { "pt=user-0 rm.ER=1", "rm: expected with pt=rm only", LEAT_ERR_FIELD },
        { "oam.type=1 rm.ER=1", "oam: expected with pt=oam-segment", LEAT_ERR_FIELD },
        { "pt=oam-end payload=01", "payload: its CRC-10 does not match", LEAT_ERR_CHECKSUM },
        { "rm.ER=0x1234 rm.ERrate=9", "rm.ERrate: contradicts the code", LEAT_ERR_FIELD },
        { "rm.ID=2", "rm.ID: expected 1", LEAT_ERR_FIELD },
        { "kind=unassigned vpi=3", "kind: contradicts the other fields", LEAT_ERR_FIELD },
        { "kind=bogus", "kind: unknown value 'bogus'", LEAT_ERR_FIELD },
        { "rm.ER=0x8000", "rm.ER: 32768 does not fit", LEAT_ERR_RANGE },
        { "oam.type=16", "oam.type: 16 does not fit", LEAT_ERR_RANGE },
        { "oam.speciffic=00", "oam.speciffic: no such field", LEAT_ERR_FIELD },
        { "colour=red", "colour: no such field here", LEAT_ERR_FIELD },
        { "payload=0", "payload: odd number", LEAT_ERR_SYNTAX },
        { "clp=maybe", "clp: expected a number", LEAT_ERR_SYNTAX },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t cell[CELL];
        EQ(build_words(wrong[i].words, cell), wrong[i].err);
        OK(strncmp(format_fields.message, wrong[i].text, strlen(wrong[i].text)) == 0);
    }
}

static void a_small_buffer_is_refused(void)
{
    uint8_t cell[CELL] = { 0 };
    size_t len = 0;
    EQ(format_build_words(format, "", cell, sizeof cell - 1, &len), LEAT_ERR_SPACE);
    EQ(len, 0);
    EQ(cell[4], 0);
}

static void damaged_cells_are_refused_with_their_place_and_not_shown(void)
{
    uint8_t cell[CELL];
    size_t at = SIZE_MAX;
    EQ(build_words("vci=100 pt=oam-end", cell), LEAT_ERR_OK);
    for (unsigned bit = 0; bit < 8 * CELL; bit++) {
        const bool in_header = bit < 8 * LEAT_ATM_HEADER_LEN;
        leat_bit_put(cell, bit, !leat_bit_get(cell, bit));
        EQ(format_show_json(format, cell, CELL, &at), LEAT_ERR_CHECKSUM);
        EQ(at, in_header ? 4 : 51);
        OK(strcmp(format_shown, "{}") == 0);
        leat_bit_put(cell, bit, !leat_bit_get(cell, bit));
    }
    for (size_t len = 0; len < sizeof cell; len++) {
        EQ(format_show_json(format, cell, len, &at), LEAT_ERR_SHORT);
        EQ(at, len);
    }
    EQ(show(cell), LEAT_ERR_OK);
}

static void an_rm_cell_of_another_protocol_is_shown_as_octets(void)
{
    uint8_t cell[CELL] = { 0, 0, 0, 6 << 1, 0, 2, 3, 4 };
    seal(cell);
    EQ(show(cell), LEAT_ERR_OK);
    OK(strstr(format_shown, "\"payload\":\"020304") != NULL);
    OK(strstr(format_shown, "\"rm\":") == NULL);
    format_round_trip(format, cell, CELL);
}

static void every_sound_cell_survives_show_and_build(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        uint8_t cell[CELL];
        leat_random_fill(&r, cell, sizeof cell);
        if (i & 1) cell[LEAT_ATM_HEADER_LEN] = LEAT_ATM_RM_ABR;
        seal(cell);
        format_round_trip(format, cell, CELL);
    }
}

static void nested_fields_alone_give_the_same_cell(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        uint8_t cell[CELL] = { 0, 0, 0 }, back[CELL];
        leat_random_fill(&r, cell + 5, sizeof cell - 5);
        cell[3] = (uint8_t)((4 + i % 3) << 1);
        if (i % 3 == 2) { /* RM: reserved bits are 0 */
            cell[5] = LEAT_ATM_RM_ABR;
            cell[6] &= LEAT_ATM_RM_FLAGS;
            for (unsigned k = 7; k < 13; k += 2)
                cell[k] &= 0x7f;
            memset(cell + 21, 0, 30);
        }
        seal(cell);
        EQ(show(cell), LEAT_ERR_OK);
        char *payload = strstr(format_shown, "\"payload\":\"");
        OK(payload != NULL);
        if (!payload) continue;
        const size_t gone = strlen("\"payload\":\"") + 96 + 2; /* and its comma */
        memmove(payload, payload + gone, strlen(payload + gone) + 1);
        EQ(build(format_shown, back), LEAT_ERR_OK);
        OK(memcmp(cell, back, sizeof cell) == 0);
    }
}

TAP_MAIN(T(the_format_says_where_cells_travel), T(a_cell_is_shown_as_json),
         T(a_resource_management_cell_is_shown_with_its_rates),
         T(cells_of_virtual_paths_are_shown_as_oam_if_their_crc_holds),
         T(the_kinds_of_cells_are_distinguished), T(users_build_cells_with_few_words),
         T(a_payload_and_its_meaning_must_agree), T(the_nni_has_a_vpi_of_twelve_bits),
         T(mistakes_are_explained), T(a_small_buffer_is_refused),
         T(damaged_cells_are_refused_with_their_place_and_not_shown),
         T(an_rm_cell_of_another_protocol_is_shown_as_octets),
         T(every_sound_cell_survives_show_and_build), T(nested_fields_alone_give_the_same_cell))
