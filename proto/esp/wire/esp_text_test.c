#include "esp_query.h"
#include "esp_text.h"
#include "format_harness.h"
#include <leat/random.h>
#include <string.h>

static const struct leat_format *const format = &leat_esp_format;

struct built {
    leat_err err;
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len;
};

static struct built build_words(const char *words)
{
    struct built b = { .len = 0 };
    b.err = format_build_words(format, words, b.octets, sizeof b.octets, &b.len);
    return b;
}

static struct leat_esp_packet packet_of(const char *words)
{
    const struct built b = build_words(words);
    struct leat_esp_packet p = { 0 };
    if (b.err) printf("# %s: %s\n", words, format_fields.message);
    EQ(b.err, LEAT_ERR_OK);
    EQ(leat_esp_packet_decode(b.octets, b.len, &p, NULL), LEAT_ERR_OK);
    EQ(b.len, leat_esp_packet_len(p.opcode));
    return p;
}

static void refuses(const char *words, leat_err err, const char *message)
{
    const struct built b = build_words(words);
    EQ(b.err, err);
    if (strcmp(format_fields.message, message) != 0)
        printf("# %s\n#   says: %s\n#   want: %s\n", words, format_fields.message, message);
    OK(strcmp(format_fields.message, message) == 0);
}

static void the_line_of_the_manual_builds_its_packet(void)
{
    static const uint8_t want[] = { 0x01, 0x01, 0x00, 0x04, 0, 0, 0,    0,    0,    0,   0,
                                    1,    0,    0,    0,    0, 0, 0,    0,    1,    0,   0,
                                    0,    0,    0,    0,    0, 3, 0x1d, 0x20, 0x55, 0xf4 };
    const struct built b = build_words("opcode=COUNT compValTag=1 thresh=3 flags=X");
    EQ(b.err, LEAT_ERR_OK);
    EQ(b.len, sizeof want);
    OK(memcmp(b.octets, want, sizeof want) == 0);
}

static void json_has_the_names_of_the_note(void)
{
    const struct built b = build_words("opcode=COMPARE loc=input|output flags=XR|R op=GT_S "
                                       "computationId=0xffffffffffffffff compValTag=7 pktVal=9");
    EQ(format_show_json(format, b.octets, b.len, NULL), LEAT_ERR_OK);
    char *crc = strstr(format_shown, ",\"crc\":");
    OK(crc);
    if (crc) *crc = '\0';
    OK(strcmp(format_shown, "{\"loc\":\"input|output\",\"flags\":\"XR|R\",\"opcode\":\"COMPARE\","
                            "\"length\":6,\"computationId\":18446744073709551615,\"compValTag\":7,"
                            "\"pktVal\":9,\"op\":\"GT_S\"") == 0);
}

static void the_tree_has_offsets_and_an_empty_loc(void)
{
    const struct built b = build_words("opcode=COUNT compValTag=1 thresh=3 flags=X");
    EQ(format_show_tree(format, b.octets, b.len, NULL), LEAT_ERR_OK);
    const char *want = "     0  loc: -\n"
                       "     0  flags: X\n"
                       "     1  opcode: COUNT (1)\n"
                       "     2  length: 4\n"
                       "     4  computationId: 0x0000000000000001\n"
                       "    12  compValTag: 0x0000000000000001\n"
                       "    20  thresh: 3\n"
                       "    28  crc: 0x1d2055f4\n";
    if (strcmp(format_shown, want) != 0) printf("%s", format_shown);
    OK(strcmp(format_shown, want) == 0);
}

static void what_is_left_out_has_a_useful_default(void)
{
    const struct leat_esp_packet count = packet_of("");
    EQ(count.opcode, LEAT_ESP_COUNT);
    EQ(count.flags, LEAT_ESP_FLAG_X);
    EQ(count.loc, 0);
    EQ(count.computationId, 1);
    EQ(count.thresh, 1);
    EQ(packet_of("opcode=COMPARE").op, LEAT_ESP_COMPARE_LT);
    const struct leat_esp_packet collect = packet_of("opcode=COLLECT");
    EQ(collect.op, LEAT_ESP_FOLD_ADD);
    EQ(collect.val, 1);
    EQ(packet_of("opcode=NOP flags=").flags, 0);
    EQ(packet_of("opcode=NOP loc=7").loc, LEAT_ESP_LOC_ALL);

    /* The tags that RCHLD and RCOLLECT share are the same, the two that must differ are not. */
    const struct leat_esp_packet rchld = packet_of("opcode=RCHLD"),
                                 rcollect = packet_of("opcode=RCOLLECT");
    EQ(rchld.fwdThresh, 8);
    EQ(rchld.pktId, rcollect.pktId);
    EQ(rchld.sibCntTag, rcollect.sibCntTag);
    OK(rchld.fwdCntTag != rcollect.collectFwdTag && rchld.fwdCntTag != rcollect.compIdTag);
}

static void small_tags_never_meet_a_default(void)
{
    static const char *const tags[] = { "pktId", "sibCntTag", "compIdTag", "collectFwdTag" };
    for (unsigned t = 0; t < sizeof tags / sizeof *tags; t++) {
        for (unsigned value = 0; value < 256; value++) {
            char words[64];
            snprintf(words, sizeof words, "opcode=RCOLLECT %s=%u", tags[t], value);
            packet_of(words);
        }
    }
}

static void equal_tags_are_refused_by_name(void)
{
    static const char *const text =
        ": equals an earlier tag, expected tags that differ (defaults: 0x101..0x107)";
    char message[128];
    snprintf(message, sizeof message, "chldCntTag%s", text);
    refuses("opcode=COLLECT compValTag=5 chldCntTag=5", LEAT_ERR_DUPLICATE, message);
    refuses("opcode=COLLECT compValTag=0x102", LEAT_ERR_DUPLICATE, message);
    snprintf(message, sizeof message, "collectFwdTag%s", text);
    refuses("opcode=RCOLLECT collectFwdTag=0x103", LEAT_ERR_DUPLICATE, message);
}

static void fields_of_other_opcodes_are_refused_with_those_that_belong(void)
{
    refuses("opcode=COUNT pktId=4", LEAT_ERR_FIELD,
            "pktId: no such field here, expected one of opcode loc flags length computationId "
            "compValTag thresh crc");
    refuses("opcode=NOP thresh=4", LEAT_ERR_FIELD,
            "thresh: no such field here, expected one of opcode loc flags length computationId "
            "crc");
}

static void unknown_opcodes_are_refused_by_name_and_by_number(void)
{
    refuses("opcode=FROB", LEAT_ERR_FIELD,
            "opcode: unknown value 'FROB', expected a number or one of NOP COUNT COMPARE COLLECT "
            "RCHLD RCOLLECT QUERY REPLY JOIN ANNOUNCE INSTALL INSTALLED CAST WELCOME");
    refuses("opcode=63 thresh=1", LEAT_ERR_TYPE,
            "opcode: no such opcode, expected one of NOP COUNT COMPARE COLLECT RCHLD RCOLLECT "
            "QUERY REPLY JOIN ANNOUNCE INSTALL INSTALLED CAST WELCOME");
}

static void unknown_operators_are_refused_by_name_and_by_number(void)
{
    refuses("opcode=COMPARE op=0x17", LEAT_ERR_TYPE,
            "op: no such operator, expected one of LT LE GT GE EQ NE LT_S LE_S GT_S GE_S EQ_S "
            "NE_S");
    refuses("opcode=COLLECT op=0x11", LEAT_ERR_TYPE,
            "op: no such operator, expected one of ADD MIN MAX AND OR XOR ADDSAT MIN_S MAX_S "
            "ADDSAT_S");
    EQ(build_words("opcode=COLLECT op=LT").err, LEAT_ERR_FIELD);
    EQ(build_words("opcode=COMPARE op=ADD").err, LEAT_ERR_FIELD);
    EQ(build_words("opcode=RCOLLECT op=0x100000001").err, LEAT_ERR_RANGE);
}

static void numbers_that_do_not_fit_are_refused(void)
{
    EQ(build_words("loc=8").err, LEAT_ERR_RANGE);
    EQ(build_words("flags=16").err, LEAT_ERR_RANGE);
    EQ(build_words("opcode=256").err, LEAT_ERR_RANGE);
    EQ(build_words("thresh=18446744073709551616").err, LEAT_ERR_SYNTAX);
    EQ(packet_of("thresh=18446744073709551615").thresh == UINT64_MAX, 1);
}

static void derived_fields_need_not_be_right(void)
{
    const struct built plain = build_words("opcode=RCHLD"),
                       edited = build_words("opcode=RCHLD length=77 crc=12");
    EQ(edited.err, LEAT_ERR_OK);
    EQ(edited.len, plain.len);
    OK(memcmp(edited.octets, plain.octets, plain.len) == 0);
}

static void a_small_buffer_is_refused(void)
{
    for (size_t cap = 0; cap <= 32; cap++) {
        uint8_t octets[32];
        size_t len = 0;
        EQ(format_build_words(format, "", octets, cap, &len),
           cap < 32 ? LEAT_ERR_SPACE : LEAT_ERR_OK); /* a COUNT has 32 octets */
    }
}

static void octets_after_the_crc_are_not_shown(void)
{
    static char plain[FORMAT_SHOWN_MAX];
    uint8_t octets[46] = { 0 }, back[LEAT_ESP_PACKET_LEN_MAX];
    const struct built b = build_words("");
    size_t back_len = 0;
    EQ(format_show_json(format, b.octets, b.len, NULL), LEAT_ERR_OK);
    strcpy(plain, format_shown);
    memcpy(octets, b.octets, b.len);
    EQ(format_show_json(format, octets, sizeof octets, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown, plain) == 0);
    EQ(format_build_json(format, format_shown, back, sizeof back, &back_len), LEAT_ERR_OK);
    OK(back_len == b.len && memcmp(back, b.octets, b.len) == 0);
}

static void a_malformed_packet_shows_nothing_but_where(void)
{
    size_t fault_at = 0;
    struct built b = build_words("opcode=RCHLD");
    b.octets[20] ^= 1;
    EQ(format_show_json(format, b.octets, b.len, &fault_at), LEAT_ERR_CHECKSUM);
    EQ(fault_at, 44);
    OK(strcmp(format_shown, "{}") == 0);
}

static void the_format_travels_as_the_note_says(void)
{
    OK(strcmp(format->name, "esp") == 0);
    EQ(format->link_type, 149);
    EQ(format->ether_type, 0x88b5);
    EQ(format->udp_port, 4253);
    EQ(format->ip_protocol, 253);
    EQ(format->unit_len, 0);
    OK(!format->framing && !format->ether_framing);
}

static void names_are_those_of_the_note(void)
{
    OK(strcmp(leat_name_of(leat_esp_loc_names, 4), "input") == 0);
    OK(strcmp(leat_name_of(leat_esp_loc_names, 1), "centre") == 0);
    OK(strcmp(leat_name_of(leat_esp_loc_names, 2), "output") == 0);
    OK(strcmp(leat_name_of(leat_esp_flag_names, 8), "XR") == 0);
    OK(strcmp(leat_name_of(leat_esp_flag_names, 4), "E") == 0);
    OK(strcmp(leat_name_of(leat_esp_flag_names, 2), "R") == 0);
    OK(strcmp(leat_name_of(leat_esp_flag_names, 1), "X") == 0);
    OK(strcmp(leat_name_of(leat_esp_opcode_names, 5), "RCOLLECT") == 0);
    OK(strcmp(leat_name_of(leat_esp_compare_names, 0x11), "LT_S") == 0);
    OK(strcmp(leat_name_of(leat_esp_fold_names, 7), "ADDSAT") == 0);
    OK(!leat_name_of(leat_esp_opcode_names, 6));
    for (uint32_t op = 0; op < 64; op++) {
        EQ(leat_name_of(leat_esp_compare_names, op) != NULL,
           leat_esp_operator_known(LEAT_ESP_KIND_COMPARE, op));
        EQ(leat_name_of(leat_esp_fold_names, op) != NULL,
           leat_esp_operator_known(LEAT_ESP_KIND_FOLD, op));
    }
}

static void every_operator_and_flag_comes_back_by_name(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < LEAT_ESP_OPCODE_END * 32 * 128; i++) {
        const struct leat_esp_packet p = {
            .loc = i & 7,
            .flags = i >> 3 & 15,
            .op = i >> 7 & 31,
            .opcode = (uint8_t)(i >> 12),
            .compValTag = 1,
            .chldCntTag = 2,
            .pktId = 3,
            .sibCntTag = 4,
            .fwdCntTag = 5,
            .compIdTag = 6,
            .collectFwdTag = 7,
        };
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        size_t len;
        if (leat_esp_packet_encode(&p, octets, sizeof octets, &len) != LEAT_ERR_OK) continue;
        format_round_trip(format, octets, len);
        count++;
    }
    EQ(count, 128 * (3 * 32 + 12 + 2 * 10)); /* without an operator, compare, fold */
}

static void random_packets_shown_as_json_build_the_same_octets(void)
{
    struct leat_random r;
    leat_random_seed_entity(&r, tap_seed(), 4);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        const uint64_t bits = leat_random_next(&r);
        struct leat_esp_packet p = { .loc = bits & 7,
                                     .flags = bits >> 3 & 15,
                                     .op = LEAT_ESP_FOLD_MIN };
        p.opcode = (uint8_t)leat_random_below(&r, LEAT_ESP_OPCODE_END);
        p.computationId = leat_random_next(&r) >> (bits >> 7 & 63);
        const struct leat_esp_instruction *row = leat_esp_instruction_of(p.opcode);
        for (unsigned i = 0; i < row->words / 2u; i++)
            if (row->operand[i].kind <= LEAT_ESP_KIND_VALUE)
                leat_esp_operand_set(&p, &row->operand[i], leat_random_next(&r));
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        size_t len = 0;
        EQ(leat_esp_packet_encode(&p, octets, sizeof octets, &len), LEAT_ERR_OK);
        format_round_trip(format, octets, len);
    }
}

/* ---- management --------------------------------------------------------------------------- */

static void management_has_fields_of_its_own(void)
{
    struct built b = build_words("opcode=QUERY target=0x77 nonce=9 store=output cursor=32 mac=5");
    EQ(b.err, LEAT_ERR_OK);
    EQ(format_show_json(format, b.octets, b.len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "{\"opcode\":\"QUERY\",\"length\":8,\"computationId\":1,\"target\":119,"
                            "\"nonce\":9,\"store\":\"output\",\"cursor\":32,\"mac\":5,\"crc\":"));
    b = build_words("opcode=CAST payload=68656c6c6f hops=3");
    EQ(format_show_tree(format, b.octets, b.len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "    28  hops: 3\n"
                            "    30  payloadLen: 5\n"
                            "    36  payload: 68656c6c6f\n"
                            "    44  mac: 0x0000000000000000\n"
                            "    52  crc: "));
    refuses("opcode=QUERY flags=X", LEAT_ERR_FIELD,
            "flags: no such field here, expected one of opcode length computationId target nonce "
            "store cursor mac crc");
    refuses("opcode=QUERY store=3", LEAT_ERR_RANGE,
            "store: no such store, expected one of input centre output");
    refuses("opcode=ANNOUNCE service=99", LEAT_ERR_RANGE,
            "service: no such service, expected one of none census max min sum average "
            "robust-sum robust-average tree multicast");
    EQ(build_words("opcode=INSTALLED result=9").err, LEAT_ERR_RANGE);
    EQ(build_words("opcode=ANNOUNCE valueFrom=9").err, LEAT_ERR_RANGE);
    EQ(build_words("opcode=ANNOUNCE valueFrom=part valueShift=63").err, LEAT_ERR_OK);
    EQ(build_words("opcode=ANNOUNCE valueShift=64").err, LEAT_ERR_RANGE);
    EQ(build_words("opcode=JOIN has=2").err, LEAT_ERR_RANGE);
    EQ(build_words("opcode=JOIN address=00").err, LEAT_ERR_LENGTH);
    EQ(build_words("opcode=WELCOME is=known challenge=7").err, LEAT_ERR_OK);
    EQ(build_words("opcode=WELCOME is=2").err, LEAT_ERR_RANGE);
}

static leat_err build_json(const char *json, struct built *b)
{
    return b->err = format_build_json(format, json, b->octets, sizeof b->octets, &b->len);
}

static void an_announced_instruction_is_an_object(void)
{
    struct built b;
    struct leat_esp_management m = { 0 };
    EQ(build_json("{\"opcode\":\"ANNOUNCE\",\"computationId\":8,\"service\":\"sum\",\"valueFrom\":"
                  "\"own\",\"task\":{\"opcode\":\"COLLECT\",\"op\":\"MAX\",\"loc\":\"output\"}}",
                  &b),
       LEAT_ERR_OK);
    EQ(leat_esp_management_decode(b.octets, b.len, NULL, &m, NULL), LEAT_ERR_OK);
    EQ(m.announce.service, LEAT_ESP_SERVICE_SUM);
    EQ(m.announce.task.opcode, LEAT_ESP_COLLECT);
    EQ(m.announce.task.op, LEAT_ESP_FOLD_MAX);
    EQ(m.announce.task.loc, LEAT_ESP_LOC_OUTPUT);
    EQ(m.announce.task.chldCntTag, 0x102);
    EQ(m.announce.task.computationId, 8);
    EQ(build_json("{\"opcode\":\"ANNOUNCE\",\"task\":{\"opcode\":\"QUERY\"}}", &b), LEAT_ERR_TYPE);
    EQ(build_json("{\"opcode\":\"ANNOUNCE\",\"task\":{\"opcode\":4,\"pktId\":260}}", &b),
       LEAT_ERR_DUPLICATE);
    EQ(build_json("{\"opcode\":\"INSTALL\",\"next\":[{\"address\":\"00\"}]}", &b), LEAT_ERR_LENGTH);
}

static void every_management_vector_comes_back_by_name(void)
{
    char path[512], line[4096];
    snprintf(path, sizeof path, "%s/proto/esp/vectors/esp_management.hex", LEAT_SOURCE_DIR);
    FILE *file = fopen(path, "r");
    unsigned count = 0;
    OK(file);
    while (file && fgets(line, sizeof line, file)) {
        uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
        size_t len = 0;
        unsigned octet;
        int used;
        for (const char *p = line; *p != '#' && sscanf(p, " %2x%n", &octet, &used) == 1; p += used)
            octets[len++] = (uint8_t)octet;
        if (!len) continue;
        format_round_trip(format, octets, len);
        EQ(format->measure(octets, len), len);
        count++;
    }
    EQ(count, 20);
    if (file) fclose(file);
    OK(strcmp(leat_name_of(leat_esp_service_names, LEAT_ESP_SERVICE_TREE), "tree") == 0);
    OK(strcmp(leat_name_of(leat_esp_value_names, LEAT_ESP_VALUE_OWN), "own") == 0);
    OK(strcmp(leat_name_of(leat_esp_result_names, LEAT_ESP_RESULT_STALE), "stale") == 0);
}

TAP_MAIN(T(the_line_of_the_manual_builds_its_packet), T(json_has_the_names_of_the_note),
         T(the_tree_has_offsets_and_an_empty_loc), T(what_is_left_out_has_a_useful_default),
         T(small_tags_never_meet_a_default), T(equal_tags_are_refused_by_name),
         T(fields_of_other_opcodes_are_refused_with_those_that_belong),
         T(unknown_opcodes_are_refused_by_name_and_by_number),
         T(unknown_operators_are_refused_by_name_and_by_number),
         T(numbers_that_do_not_fit_are_refused), T(derived_fields_need_not_be_right),
         T(a_small_buffer_is_refused), T(octets_after_the_crc_are_not_shown),
         T(a_malformed_packet_shows_nothing_but_where), T(the_format_travels_as_the_note_says),
         T(names_are_those_of_the_note), T(every_operator_and_flag_comes_back_by_name),
         T(random_packets_shown_as_json_build_the_same_octets), T(management_has_fields_of_its_own),
         T(an_announced_instruction_is_an_object), T(every_management_vector_comes_back_by_name))
