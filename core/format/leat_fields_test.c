/* A small format of our own, walked in all directions: text, tree and fields together. */
#include "leat_fields.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

struct thing {
    uint8_t kind, marks;
    bool loud;
    uint64_t tag;
    uint8_t fixed[4];
    const uint8_t *data, *name;
    size_t data_len, name_len;
    size_t hop_count, part_count;
    uint16_t hop[4];
    uint32_t part[3];
    bool has_inner;
    uint8_t inner;
};

static const struct leat_name kinds[] = { { 1, "ONE" }, { 2, "TWO" }, { 0, NULL } };
static const struct leat_name marks[] = { { 8, "XR" }, { 1, "X" }, { 0, NULL } };

static void walk(struct leat_fields *f, struct thing *t)
{
    t->kind = (uint8_t)leat_fields_enum(f, "kind", 0, 4, kinds, t->kind);
    t->marks = (uint8_t)leat_fields_mask(f, "marks", 1, 4, marks, t->marks);
    t->loud = leat_fields_flag(f, "loud", 1, t->loud);
    t->tag = leat_fields_hex(f, "tag", 2, 64, t->tag);
    leat_fields_octets_fixed(f, "fixed", 10, t->fixed, sizeof t->fixed, true);
    leat_fields_octets(f, "data", 14, 40, &t->data, &t->data_len);
    leat_fields_string(f, "name", 54, 20, &t->name, &t->name_len);
    t->hop_count = leat_fields_list(f, "hops", 60, t->hop_count, 4);
    for (size_t i = 0; i < t->hop_count; i++)
        t->hop[i] = (uint16_t)leat_fields_uint(f, NULL, 60 + 2 * i, 16, t->hop[i]);
    leat_fields_list_end(f);
    t->part_count = leat_fields_list(f, "parts", 70, t->part_count, 3);
    for (size_t i = 0; i < t->part_count; i++) {
        if (!leat_fields_open(f, NULL, 70)) continue;
        t->part[i] = (uint32_t)leat_fields_uint(f, "size", 70, 32, t->part[i]);
        if (t->part[i] == 7) leat_fields_refuse(f, LEAT_ERR_FIELD, NULL, "7 is not allowed");
        leat_fields_close(f);
    }
    leat_fields_list_end(f);
    if ((leat_fields_reading(f) || t->has_inner) && leat_fields_open(f, "inner", 90)) {
        t->inner = (uint8_t)leat_fields_uint(f, "depth", 90, 8, t->inner);
        leat_fields_close(f);
        t->has_inner = true;
    }
    leat_fields_checksum(f, "crc", 91, 16, 0xbeef);
    leat_fields_derived(f, "len", 93, 8, 17);
    leat_fields_derived_name(f, "status", 93, "good");
    leat_fields_fixed(f, "zero", 94, 8, 0);
    if (leat_fields_reading(f) && t->kind == 0)
        leat_fields_refuse(f, LEAT_ERR_FIELD, "kind", "0 is not allowed");
}

static alignas(max_align_t) uint8_t memory[1 << 16];
static char shown[4096];

static struct thing example(void)
{
    static const uint8_t data[] = { 0xde, 0xad };
    return (struct thing){ .kind = 2,
                           .marks = 9,
                           .loud = true,
                           .tag = UINT64_MAX,
                           .fixed = { 1, 2, 3, 4 },
                           .data = data,
                           .data_len = 2,
                           .name = (const uint8_t *)"a\"b\\\x01\xff",
                           .name_len = 6,
                           .hop_count = 2,
                           .hop = { 7, 65535 },
                           .part_count = 1,
                           .part = { 9 },
                           .has_inner = true,
                           .inner = 3 };
}

static const char *show(struct thing t, bool json)
{
    struct leat_text text;
    static struct leat_fields f;
    leat_text_init(&text, shown, sizeof shown - 1, NULL, NULL);
    json ? leat_fields_init_json(&f, &text) : leat_fields_init_tree(&f, &text);
    walk(&f, &t);
    EQ(leat_fields_finish(&f), LEAT_ERR_OK);
    shown[text.len] = '\0';
    return shown;
}

static leat_err read_json(const char *json, struct thing *t, const char **message)
{
    static struct leat_fields f;
    struct leat_arena arena;
    struct leat_tree *root = NULL;
    leat_arena_init(&arena, memory, sizeof memory);
    const leat_err err = leat_tree_parse_json(&arena, json, strlen(json), &root, NULL);
    if (err) return err;
    leat_fields_init_read(&f, root, &arena);
    walk(&f, t);
    *message = f.message;
    return leat_fields_finish(&f);
}

static void a_packet_is_shown_as_json(void)
{
    OK(strcmp(show(example(), true),
              "{\"kind\":\"TWO\",\"marks\":\"XR|X\",\"loud\":true,\"tag\":18446744073709551615,"
              "\"fixed\":\"01020304\",\"data\":\"dead\",\"name\":\"a\\\"b\\\\\\u0001\\u00ff\","
              "\"hops\":[7,65535],\"parts\":[{\"size\":9}],\"inner\":{\"depth\":3},\"crc\":48879,"
              "\"len\":17,\"status\":\"good\",\"zero\":0}") == 0);
}

static void a_packet_is_shown_as_a_tree_with_offsets(void)
{
    struct thing t = example();
    t.marks = 6;
    const char *tree = show(t, false);
    OK(strstr(tree, "     0  kind: TWO (2)\n") == tree);
    OK(strstr(tree, "     1  marks: 0x6\n"));
    OK(strstr(tree, "     2  tag: 0xffffffffffffffff\n"));
    OK(strstr(tree, "    62    -: 65535\n"));
    OK(strstr(tree, "    91  crc: 0xbeef\n    93  len: 17\n"));
}

static void what_is_shown_can_be_read_back(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 100; i++) {
        struct thing t = example(), back = { 0 };
        static uint8_t data[40], name[20];
        const char *message = "";
        leat_random_fill(&r, data, sizeof data);
        leat_random_fill(&r, name, sizeof name);
        leat_random_fill(&r, t.fixed, sizeof t.fixed);
        t.kind = (uint8_t)(1 + leat_random_below(&r, 15));
        t.marks = (uint8_t)leat_random_below(&r, 16);
        t.tag = leat_random_next(&r);
        t.tag >>= leat_random_below(&r, 64);
        t.loud = leat_random_below(&r, 2);
        t.data = data, t.data_len = leat_random_below(&r, 41);
        t.name = name, t.name_len = leat_random_below(&r, 21);
        t.hop_count = leat_random_below(&r, 5);
        t.has_inner = leat_random_below(&r, 2);
        EQ(read_json(show(t, true), &back, &message), LEAT_ERR_OK);
        EQ(back.kind, t.kind);
        EQ(back.marks, t.marks);
        EQ(back.loud, t.loud);
        OK(back.tag == t.tag);
        OK(memcmp(back.fixed, t.fixed, 4) == 0);
        OK(back.data_len == t.data_len && memcmp(back.data, data, t.data_len) == 0);
        OK(back.name_len == t.name_len && memcmp(back.name, name, t.name_len) == 0);
        EQ(back.hop_count, t.hop_count);
        OK(memcmp(back.hop, t.hop, 2 * t.hop_count) == 0);
        EQ(back.has_inner, t.has_inner);
    }
}

static void the_order_of_members_does_not_matter(void)
{
    struct thing t = { 0 };
    const char *message = "";
    EQ(read_json("{\"crc\":0,\"tag\":\"0x10\",\"kind\":\"one\",\"parts\":[{\"size\":1},{}]}", &t,
                 &message),
       LEAT_ERR_OK);
    EQ(t.tag, 16);
    EQ(t.kind, 1);
    EQ(t.part_count, 2);
    t.marks = 9;
    EQ(read_json("{\"kind\":1,\"marks\":\"-\"}", &t, &message), LEAT_ERR_OK);
    EQ(t.marks, 0);
}

static void each_mistake_names_its_place_and_what_was_expected(void)
{
    static const struct {
        const char *json, *says;
        leat_err err;
    } cases[] = {
        { "{\"kind\":\"SIX\"}", "kind: unknown value 'SIX', expected a number or one of ONE TWO",
          LEAT_ERR_FIELD },
        { "{\"kind\":16}", "kind: 16 does not fit, expected 0..15", LEAT_ERR_RANGE },
        { "{\"kind\":[]}", "kind: expected a name or a number", LEAT_ERR_SYNTAX },
        { "{\"kind\":0}", "kind: 0 is not allowed", LEAT_ERR_FIELD },
        { "{\"kind\":1,\"marks\":\"X|Q\"}", "marks: unknown value 'Q'", LEAT_ERR_FIELD },
        { "{\"kind\":1,\"marks\":{}}", "marks: expected names joined", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"tag\":\"abc\"}", "tag: expected a number", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"data\":\"abc\"}", "data: odd number of hex digits (character 3)",
          LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"data\":\"zz\"}", "data: expected pairs of hex digits (character 1)",
          LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"data\":7}", "data: expected octets", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"fixed\":\"0102030405\"}", "fixed: 5 octets, expected at most 4",
          LEAT_ERR_LENGTH },
        { "{\"kind\":1,\"name\":7}", "name: expected a string", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"hops\":[1,2,3,4,5]}", "hops: 5 items, expected at most 4",
          LEAT_ERR_RANGE },
        { "{\"kind\":1,\"hops\":[1,65536]}", "hops.1: 65536 does not fit, expected 0..65535",
          LEAT_ERR_RANGE },
        { "{\"kind\":1,\"hops\":3}", "hops: expected a list", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"parts\":[{\"size\":1},{\"sise\":1}]}",
          "parts.1.sise: no such field here, did you mean size? expected one of size",
          LEAT_ERR_FIELD },
        { "{\"kind\":1,\"inner\":3}", "inner: expected an object", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"zero\":3}", "zero: expected 0", LEAT_ERR_FIELD },
        { "{\"kind\":1,\"len\":256}", "len: 256 does not fit, expected 0..255", LEAT_ERR_RANGE },
        { "{\"kind\":1,\"crc\":\"x\"}", "crc: expected a number", LEAT_ERR_SYNTAX },
        { "{\"kind\":1,\"parts\":[{\"size\":7}]}", "parts.0: 7 is not allowed", LEAT_ERR_FIELD },
        { "{\"kind\":1,\"kind\":2}", "kind: the field is given twice", LEAT_ERR_FIELD },
        { "{\"kind\":1,\"knid\":2}",
          "knid: no such field here, did you mean kind? expected one of kind", LEAT_ERR_FIELD },
        { "[]", "expected an object", LEAT_ERR_SYNTAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thing t = { 0 };
        const char *message = "";
        EQ(read_json(cases[i].json, &t, &message), cases[i].err);
        if (strncmp(message, cases[i].says, strlen(cases[i].says)) != 0)
            printf("# got '%s'\n", message);
        OK(strncmp(message, cases[i].says, strlen(cases[i].says)) == 0);
    }
}

static void fields_return_what_the_user_wrote(void)
{
    struct leat_arena arena;
    static struct leat_fields f;
    leat_arena_init(&arena, memory, sizeof memory);
    struct leat_tree *root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    EQ(leat_tree_add_pair(&arena, root, "kind=2", 6), LEAT_ERR_OK);
    leat_fields_init_read(&f, root, &arena);
    OK(leat_fields_has(&f, "kind"));
    OK(!leat_fields_has(&f, "tag"));
    OK(leat_name_of(kinds, 2) && strcmp(leat_name_of(kinds, 2), "TWO") == 0);
    OK(!leat_name_of(kinds, 3));
}

static void text_that_does_not_fit_is_cut_and_says_so(void)
{
    struct leat_text t = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    for (int i = 0; i < 20; i++)
        leat_text_puts(&t, "abcdefg");
    OK(t.overflowed && t.len <= t.cap);
    leat_text_decimal(&t, 12345);
    leat_text_hex_number(&t, 1, 16);
    leat_text_hex(&t, (const uint8_t *)t.buf, 4);
    leat_text_putc(&t, 'x');
    OK(leat_text_reserve(&t, LEAT_TEXT_CAP_MIN) == NULL);
    EQ(t.len, t.cap);
}

static char kept[1024];
static size_t kept_len;

static void keep(struct leat_text *text)
{
    memcpy(kept + kept_len, text->buf, text->len);
    kept_len += text->len;
    text->len = 0;
}

static void what_is_out_of_range_is_reported_with_what_was_expected(void)
{
    char line[100] = { 0 };
    struct leat_text t;
    leat_text_init(&t, line, sizeof line - 1, NULL, NULL);
    EQ(leat_text_out_of_range(&t, "stations", 0, 1, UINT64_MAX), LEAT_ERR_RANGE);
    OK(strcmp(line, "stations 0, expected 1 to 18446744073709551615") == 0);
}

static void the_first_number_that_is_out_of_range_is_reported(void)
{
    struct leat_text_range range[] = { { "a", 1, 1, 2 }, { "b", 2, 1, 2 }, { "c", 0, 0, 0 } };
    struct leat_text t = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    EQ(leat_text_check_ranges(&t, range, 3), LEAT_ERR_OK);
    EQ(t.len, 0);
    range[1].value = 3;
    range[2].value = 1;
    EQ(leat_text_check_ranges(&t, range, 3), LEAT_ERR_RANGE);
    EQ(t.len, strlen("b 3, expected 1 to 2"));
    OK(memcmp(t.buf, "b 3, expected 1 to 2", t.len) == 0);
}

static void text_is_flushed_when_the_buffer_is_full(void)
{
    char small[LEAT_TEXT_CAP_MIN];
    uint8_t octets[100];
    struct leat_text t;
    memset(octets, 0x5a, sizeof octets);
    kept_len = 0;
    leat_text_init(&t, small, sizeof small, keep, NULL);
    leat_text_hex(&t, octets, sizeof octets);
    leat_text_decimal(&t, UINT64_MAX);
    leat_text_hex_number(&t, 0xabc, 4);
    leat_text_quoted(&t, "q\"", 2);
    leat_text_put(&t, "end", 3);
    keep(&t);
    EQ(kept_len, 200 + 20 + 4 + 5 + 3);
    OK(memcmp(kept + 200, "184467440737095516150abc\"q\\\"\"end", 32) == 0);
    OK(!t.overflowed);
}

static void what_a_terminal_would_obey_is_shown_as_numbers(void)
{
#define ROW(octets, shown)               \
    {                                    \
        octets, sizeof octets - 1, shown \
    }
    static const struct {
        const char *octets;
        size_t len;
        const char *shown;
    } rows[] = {
        ROW("plain \\ \"text\"\n\tgoes on", "plain \\ \"text\"\n\tgoes on"),
        ROW("\x1b]0;title\x07\x1b[2J\r\x7f\0", "\\x1b]0;title\\x07\\x1b[2J\\x0d\\x7f\\x00"),
        ROW("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
        ROW("\xc2\x9b\x32J \xc2\xa0", "\\xc2\\x9b2J \xc2\xa0"), /* CSI of 8 bits */
        ROW("\xc0\x9b \xe0\x80\x9b \xf0\x80\x80\x9b",           /* the same, longer */
            "\\xc0\\x9b \\xe0\\x80\\x9b \\xf0\\x80\\x80\\x9b"),
        ROW("\x9b \xe2\x82", "\\x9b \\xe2\\x82"), /* alone, and cut off */
        ROW("\xe2\x82x\xf5", "\\xe2\\x82x\\xf5"),
        ROW("\xed\xa0\x80 \xf4\x90\x80\x80", /* a surrogate, and above all characters */
            "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"),
    };
#undef ROW
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[LEAT_TEXT_CAP_MIN + 40] = { 0 };
        struct leat_text t;
        leat_text_init(&t, line, sizeof line - 1, NULL, NULL);
        leat_text_harmless(&t, rows[i].octets, rows[i].len);
        OK(strcmp(line, rows[i].shown) == 0);
        if (strcmp(line, rows[i].shown) != 0) printf("# %zu: %s\n", i, line);
    }
}

/* Compared with an encoder: every code, and every octet that follows its first ones. */
static void a_character_is_read_back_and_nothing_else_is_one(void)
{
    uint32_t count = 0, read = 0, wrong = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        uint8_t at[5] = { 0 };
        const uint32_t tail = 0x80, six = 0x3f;
        const size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = 1; i < len; i++)
            at[i] = (uint8_t)(tail | (code >> 6 * (len - 1 - i) & six));
        at[0] = (uint8_t)(len == 1 ? code : (0xf00U >> len & 0xff) | code >> 6 * (len - 1));
        const bool is_surrogate = code >= 0xd800 && code < 0xe000;
        wrong += leat_text_utf8(at, sizeof at, &read) != (is_surrogate ? 0 : len);
        wrong += !is_surrogate && read != code;
        wrong += leat_text_utf8(at, len - 1, &read) != 0;
    }
    EQ(wrong, 0);
    for (uint32_t i = 0; i < 0x10000; i++) { /* of two octets: 128 * 256 and 30 * 64 */
        const uint8_t at[2] = { (uint8_t)(i >> 8), (uint8_t)i };
        count += leat_text_utf8(at, 2, &read) > 0;
    }
    EQ(count, 128 * 256 + 30 * 64);
    OK(leat_text_is_control(0x1b) && leat_text_is_control(0x7f) && leat_text_is_control(0x9f));
    OK(!leat_text_is_control(' ') && !leat_text_is_control('~') && !leat_text_is_control(0xa0));
}

TAP_MAIN(T(a_packet_is_shown_as_json), T(a_packet_is_shown_as_a_tree_with_offsets),
         T(what_is_shown_can_be_read_back), T(the_order_of_members_does_not_matter),
         T(each_mistake_names_its_place_and_what_was_expected),
         T(fields_return_what_the_user_wrote), T(text_that_does_not_fit_is_cut_and_says_so),
         T(what_is_out_of_range_is_reported_with_what_was_expected),
         T(the_first_number_that_is_out_of_range_is_reported),
         T(text_is_flushed_when_the_buffer_is_full),
         T(what_a_terminal_would_obey_is_shown_as_numbers),
         T(a_character_is_read_back_and_nothing_else_is_one))
