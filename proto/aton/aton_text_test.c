#include "aton_live.h"
#include "aton_model_test.h"
#include "aton_text.h"
#include "format_harness.h"

static const struct leat_format *const format = &leat_aton_format;

static leat_err build_words(const char *words, uint8_t octets[MODEL_IMAGE_MAX], size_t *len)
{
    return format_build_words(format, words, octets, MODEL_IMAGE_MAX, len);
}

static void words_give(const char *words, const char *json)
{
    uint8_t octets[MODEL_IMAGE_MAX];
    size_t len = 0;
    EQ(build_words(words, octets, &len), LEAT_ERR_OK);
    if (format_fields.err) printf("# %s: %s\n", words, format_fields.message);
    EQ(format_show_json(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown, json) == 0);
    if (strcmp(format_shown, json) != 0) printf("# got  %s\n# want %s\n", format_shown, json);
}

static void a_small_command_is_what_its_sender_starts_with(void)
{
    words_give("opcode=MIN width=32 variable1=7 sa=1",
               "{\"priority\":0,\"token\":false,\"monitor\":false,\"reservation\":0,"
               "\"active\":true,\"opcode\":\"MIN\",\"width\":32,\"register\":0,\"group\":false,"
               "\"da\":65535,"
               "\"sa\":1,\"counter\":1,\"variable1\":7,\"variable2\":1,\"flags\":\"\","
               "\"crc\":2461716085}");
    words_give("opcode=LE width=64 register=5 variable1=0xffffffffffffffff flags=A|C priority=7",
               "{\"priority\":7,\"token\":false,\"monitor\":false,\"reservation\":0,"
               "\"active\":true,\"opcode\":\"LE\",\"width\":64,\"register\":5,\"group\":false,"
               "\"da\":65535,"
               "\"sa\":0,\"counter\":1,\"variable1\":18446744073709551615,\"variable2\":1,"
               "\"flags\":\"A|C\",\"crc\":1141730187}");
}

/* A MIN packet built from words is the vector, octet for octet. */
static void words_make_the_vector(void)
{
    static const uint8_t want[] = { 0x00, 0xaa, 0x00, 0xff, 0xff, 0x00, 0x01, 0x00,
                                    0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00,
                                    0x01, 0x00, 0x92, 0xba, 0xce, 0x75 };
    uint8_t octets[MODEL_IMAGE_MAX];
    size_t len = 0;
    EQ(build_words("opcode=MIN width=32 variable1=7 sa=1", octets, &len), LEAT_ERR_OK);
    EQ(len, sizeof want);
    OK(memcmp(octets, want, sizeof want) == 0);
}

static struct leat_aton_packet packet_of(const char *words)
{
    static uint8_t octets[MODEL_IMAGE_MAX];
    struct leat_aton_packet p = { 0 };
    size_t len = 0;
    EQ(build_words(words, octets, &len), LEAT_ERR_OK);
    if (format_fields.err) printf("# %s: %s\n", words, format_fields.message);
    EQ(leat_aton_packet_decode(octets, len, &p, NULL), LEAT_ERR_OK);
    return p;
}

static void defaults_are_a_senders_start(void)
{
    struct leat_aton_packet p = packet_of("");
    EQ(p.opcode, LEAT_ATON_ADD);
    EQ(p.width_bits, 32);
    EQ(p.da, LEAT_ATON_DA_ALL);
    EQ(p.counter, 1);
    EQ(packet_of("opcode=MAX sa=9").variable2, 9);
    EQ(packet_of("opcode=EQ").variable2, 1);
    EQ(packet_of("opcode=LT").variable2, 0);
    EQ(packet_of("opcode=MAX sa=9 variable2=4").variable2, 4);
}

static void lists_decide_their_length_and_missing_ones_are_zeros(void)
{
    struct leat_aton_packet p = packet_of("opcode=SORT width=16 values.0=1 values.1=0x203");
    EQ(p.counter, 2);
    OK(memcmp(p.payload, "\x00\x01\x02\x03", 4) == 0);
    p = packet_of("opcode=SORT width=16 counter=3");
    EQ(p.payload_len, 6);
    p = packet_of("opcode=BITCOUNT width=16 param=9");
    EQ(p.payload_len, 32);
    p = packet_of("opcode=BITCOUNT");
    EQ(p.param, 16);
    p = packet_of("opcode=TREE width=16 param=5");
    EQ(p.payload_len, 15);
    OK(memcmp(p.payload, "\x01\x00\x00\x00", 4) == 0); /* the sender's own operand */
    p = packet_of("opcode=TREE width=16 slots.0.valid=1 slots.0.value=7 slots.1.valid=0");
    EQ(p.param, 2);
    OK(memcmp(p.payload, "\x01\x00\x07\x00\x00\x00", 6) == 0);
    p = packet_of("active=0 da=9 octets=77:6f:72:6b");
    EQ(p.payload_len, 4);
    OK(memcmp(p.payload, "work", 4) == 0);
}

static void mistakes_are_refused_with_what_was_expected(void)
{
    static const struct {
        const char *words, *expected;
        leat_err err;
    } wrong[] = {
        { "opcode=MEAN", "ADD AND OR MAX MIN EQ LT LE SORT BITCOUNT TREE", LEAT_ERR_FIELD },
        { "opcode=0", "1 (ADD) .. 11 (TREE)", LEAT_ERR_TYPE },
        { "opcode=12", "1 (ADD) .. 11 (TREE)", LEAT_ERR_TYPE },
        { "width=8", "16, 32 or 64", LEAT_ERR_RANGE },
        { "width=16 variable1=65536", "0..65535", LEAT_ERR_RANGE },
        { "token=1", "only as symbols", LEAT_ERR_TYPE },
        { "counter=65535", "0..65534", LEAT_ERR_RANGE },
        { "register=64", "0..63", LEAT_ERR_RANGE },
        { "opcode=SORT variable1=1", "variable1", LEAT_ERR_FIELD },
        { "opcode=SORT counter=9 values.0=1", "counter: contradicts", LEAT_ERR_FIELD },
        { "opcode=TREE param=5 slots.0.valid=1", "param: contradicts", LEAT_ERR_FIELD },
        { "opcode=BITCOUNT param=17", "param: expected 1..16 bits", LEAT_ERR_RANGE },
        { "opcode=BITCOUNT counters.0=1", "one item per bit", LEAT_ERR_LENGTH },
        { "opcode=TREE param=0", "param: expected 1..17 slots", LEAT_ERR_RANGE },
        { "opcode=TREE param=18", "1..17 slots", LEAT_ERR_RANGE },
        { "opcode=SORT width=16 values.0=65536", "values.0", LEAT_ERR_RANGE },
        { "active=0 opcode=ADD", "opcode", LEAT_ERR_FIELD },
        { "flags=Z", "A C", LEAT_ERR_FIELD },
        { "octets=00", "octets", LEAT_ERR_FIELD },
    };
    uint8_t octets[MODEL_IMAGE_MAX];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t len = 0;
        const leat_err err = build_words(wrong[i].words, octets, &len);
        EQ(err, wrong[i].err);
        OK(strstr(format_fields.message, wrong[i].expected) != NULL);
        if (!strstr(format_fields.message, wrong[i].expected))
            printf("# %s: %s\n", wrong[i].words, format_fields.message);
    }
}

static void too_little_room_is_refused(void)
{
    uint8_t memory[4096], octets[21];
    struct leat_arena arena;
    size_t len = 0;
    leat_arena_init(&arena, memory, sizeof memory);
    struct leat_tree *root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    EQ(format_build(format, root, &arena, octets, sizeof octets, &len), LEAT_ERR_SPACE);
    EQ(leat_tree_add_pair(&arena, root, "opcode=SORT", 11), LEAT_ERR_OK);
    EQ(leat_tree_add_pair(&arena, root, "counter=65534", 13), LEAT_ERR_OK);
    EQ(format_build(format, root, &arena, octets, sizeof octets, &len), LEAT_ERR_MEMORY);
}

static void returns_as_json(const uint8_t *octets, size_t len)
{
    format_round_trip(format, octets, len);
}

static void every_vector_shown_as_json_builds_the_same_octets(void)
{
    EQ(model_each_vector(returns_as_json), 21);
}

static void random_packets_shown_as_json_build_the_same_octets(void)
{
    struct leat_random r;
    static struct model m;
    uint8_t octets[MODEL_IMAGE_MAX];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS && !tap_checks_failed; i++) {
        model_random(&m, &r);
        returns_as_json(octets, model_image(&m, octets));
    }
}

static void a_tree_shows_offsets_and_names(void)
{
    uint8_t octets[MODEL_IMAGE_MAX];
    size_t len = 0;
    EQ(build_words("opcode=TREE width=16 slots.0.valid=1 slots.0.value=7", octets, &len),
       LEAT_ERR_OK);
    EQ(format_show_tree(format, octets, len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "     1  opcode: TREE (11)\n") != NULL);
    OK(strstr(format_shown, "     3  da: 0xffff\n") != NULL);
    OK(strstr(format_shown, "    12      value: 7\n") != NULL);
    OK(strstr(format_shown, "    14  flags: -\n") != NULL);
}

static void damage_is_reported_and_nothing_shown(void)
{
    uint8_t octets[MODEL_IMAGE_MAX];
    size_t len = 0, fault = 0;
    EQ(build_words("", octets, &len), LEAT_ERR_OK);
    octets[12] ^= 1;
    EQ(format_show_tree(format, octets, len, &fault), LEAT_ERR_CHECKSUM);
    EQ(fault, 18);
    OK(strcmp(format_shown, "") == 0);
}

static void an_ethernet_frame_shows_its_ring_and_finds_the_image(void)
{
    static const char want[] = "{\"ringId\":7847,\"sequence\":9,\"hopsLeft\":8,\"ringFlags\":1}";
    const uint8_t key[LEAT_ATON_KEY_LEN] = { 1 };
    const struct leat_aton_live live = {
        .ring_id = 7847,
        .sequence = 9,
        .hops_left = 8,
        .flags = 1,
        .packet = { .active = 1, .opcode = LEAT_ATON_MIN, .width_bits = 16 }
    };
    uint8_t frame[60] = { 0 };
    size_t len, at = 0, packet_len = 0, fault = 0;
    EQ(leat_aton_live_encode(&live, key, frame, sizeof frame, &len), LEAT_ERR_OK);
    format_show_begin(leat_fields_init_json);
    EQ(format->ether_framing->unframe(frame, sizeof frame, &format_fields, &at, &packet_len,
                                      &fault),
       LEAT_ERR_OK);
    format_show_end();
    OK(strcmp(format_shown, want) == 0);
    EQ(at, 12);
    EQ(packet_len, 18);

    static const char words[] = "{\"ringId\":7847,\"sequence\":9,\"hopsLeft\":8,\"ringFlags\":1}";
    uint8_t back[60] = { 0 };
    struct leat_arena arena;
    struct leat_tree *root = NULL;
    static uint8_t memory[4096];
    leat_arena_init(&arena, memory, sizeof memory);
    EQ(leat_tree_parse_json(&arena, words, strlen(words), &root, NULL), LEAT_ERR_OK);
    leat_fields_init_read(&format_fields, root, &arena);
    EQ(format->ether_framing->frame(&format_fields, frame + at, packet_len, back, sizeof back,
                                    &len),
       LEAT_ERR_OK);
    OK(len == 30 && memcmp(back, frame, len) == 0);

    frame[13] = 0x80; /* opcode 0: no length, so show gets the rest and reports it */
    EQ(format->ether_framing->unframe(frame, sizeof frame, &format_fields, &at, &packet_len,
                                      &fault),
       LEAT_ERR_OK);
    EQ(packet_len, sizeof frame - 12);
    EQ(format->ether_framing->unframe(frame, 11, &format_fields, &at, &packet_len, &fault),
       LEAT_ERR_SHORT);
    frame[10] = 1;
    EQ(format->ether_framing->unframe(frame, sizeof frame, &format_fields, &at, &packet_len,
                                      &fault),
       LEAT_ERR_RESERVED);
    EQ(fault, 10);
}

static void the_format_travels_where_the_design_says(void)
{
    OK(strcmp(format->name, "aton") == 0);
    EQ(format->link_type, 148);
    EQ(format->ether_type, 0x88B6);
    EQ(format->udp_port, 0);
}

TAP_MAIN(T(a_small_command_is_what_its_sender_starts_with), T(words_make_the_vector),
         T(defaults_are_a_senders_start), T(lists_decide_their_length_and_missing_ones_are_zeros),
         T(mistakes_are_refused_with_what_was_expected), T(too_little_room_is_refused),
         T(every_vector_shown_as_json_builds_the_same_octets),
         T(random_packets_shown_as_json_build_the_same_octets), T(a_tree_shows_offsets_and_names),
         T(damage_is_reported_and_nothing_shown),
         T(an_ethernet_frame_shows_its_ring_and_finds_the_image),
         T(the_format_travels_where_the_design_says))
