#include "leat_tree.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

static alignas(max_align_t) uint8_t memory[1 << 16];
static struct leat_arena arena;

static struct leat_tree *parse(const char *json)
{
    struct leat_tree *root = NULL;
    leat_arena_init(&arena, memory, sizeof memory);
    EQ(leat_tree_parse_json(&arena, json, strlen(json), &root, NULL), LEAT_ERR_OK);
    return root;
}

static void json_becomes_a_tree(void)
{
    const struct leat_tree *t = parse(" {\"a\": 1, \"b\" :[true,null,\"x\\n\\u0041\"],\"c\":{}} ");
    EQ(t->kind, LEAT_TREE_OBJECT);
    EQ(leat_tree_find(t, "a")->number, 1);
    const struct leat_tree *list = leat_tree_find(t, "b");
    EQ(list->kind, LEAT_TREE_LIST);
    EQ(list->child->kind, LEAT_TREE_BOOL);
    EQ(list->child->next->kind, LEAT_TREE_NULL);
    OK(list->last->text_len == 3 && memcmp(list->last->text, "x\nA", 3) == 0);
    EQ(leat_tree_find(t, "c")->kind, LEAT_TREE_OBJECT);
    OK(!leat_tree_find(t, "d") && !leat_tree_find(list, "a"));
}

static void a_character_is_an_octet_however_it_is_written(void)
{
    const struct leat_tree *t = parse("[\"\\u00e9\",\"\xc3\xa9\",\"\xc2\x80z\"]");
    OK(t->child->text_len == 1 && t->child->text[0] == '\xe9');
    OK(t->child->next->text_len == 1 && t->child->next->text[0] == '\xe9');
    OK(t->last->text_len == 2 && memcmp(t->last->text, "\x80z", 2) == 0);
}

static void numbers_are_exact_to_64_bits(void)
{
    uint64_t n = 0;
    OK(parse("18446744073709551615")->number == UINT64_MAX);
    OK(leat_tree_number("0xffffffffffffffff", 18, &n) && n == UINT64_MAX);
    OK(leat_tree_number("0b101", 5, &n) && n == 5);
    OK(leat_tree_number("007", 3, &n) && n == 7);
    OK(!leat_tree_number("18446744073709551616", 20, &n));
    OK(!leat_tree_number("0x10000000000000000", 19, &n));
    OK(!leat_tree_number("", 0, &n) && !leat_tree_number("0x", 2, &n));
    OK(!leat_tree_number("12a", 3, &n) && !leat_tree_number("0b2", 3, &n));
    OK(leat_tree_digit('9') == 9 && leat_tree_digit('a') == 10 && leat_tree_digit('F') == 15);
    OK(leat_tree_digit('g') > 15 && leat_tree_digit('@') > 15 && leat_tree_digit('/') > 15);
}

static void what_is_not_json_is_refused_with_its_place(void)
{
    static const struct {
        const char *text;
        leat_err err;
        size_t at;
    } cases[] = {
        { "", LEAT_ERR_SYNTAX, 0 },
        { "{", LEAT_ERR_SYNTAX, 1 },
        { "{\"a\" 1}", LEAT_ERR_SYNTAX, 5 },
        { "{\"a\":1,}", LEAT_ERR_SYNTAX, 7 },
        { "[1 2]", LEAT_ERR_SYNTAX, 3 },
        { "tru", LEAT_ERR_SYNTAX, 0 },
        { "-1", LEAT_ERR_SYNTAX, 0 },
        { "1.5", LEAT_ERR_SYNTAX, 1 },
        { "99999999999999999999", LEAT_ERR_RANGE, 0 },
        { "\"abc", LEAT_ERR_SYNTAX, 1 },
        { "\"a\\q\"", LEAT_ERR_SYNTAX, 4 },
        { "\"\\u0100\"", LEAT_ERR_SYNTAX, 7 },
        { "\"\\", LEAT_ERR_SYNTAX, 1 },
        { "\"\xe2\x82\xac\"", LEAT_ERR_SYNTAX, 2 },
        { "\"\xc3\"", LEAT_ERR_SYNTAX, 3 },
        { "1 1", LEAT_ERR_SYNTAX, 2 },
        { "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", LEAT_ERR_RANGE, 16 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leat_tree *root = NULL;
        size_t at = 999;
        leat_arena_init(&arena, memory, sizeof memory);
        EQ(leat_tree_parse_json(&arena, cases[i].text, strlen(cases[i].text), &root, &at),
           cases[i].err);
        EQ(at, cases[i].at);
        OK(!root);
    }
}

static void a_spent_arena_is_an_error_and_no_crash(void)
{
    const char *json = "{\"a\":[1,2,{\"b\":\"c\\td\"}]}";
    for (size_t cap = 0; cap < 1000; cap += 8) {
        struct leat_tree *root = NULL;
        leat_arena_init(&arena, memory, cap);
        const leat_err err = leat_tree_parse_json(&arena, json, strlen(json), &root, NULL);
        OK(err ? err == LEAT_ERR_MEMORY && !root : root != NULL);
    }
}

static void the_extent_of_a_value_in_a_stream_is_found(void)
{
    EQ(leat_tree_json_extent("{\"a\":\"}\\\"}\"} {", 14), 12);
    EQ(leat_tree_json_extent("\n [1,[2]] x", 11), 9);
    EQ(leat_tree_json_extent("{\"a\":[1,2]", 10), 0);
    EQ(leat_tree_json_extent("", 0), 0);
}

static void pairs_build_the_same_tree(void)
{
    static const char *const pairs[] = { "kind=ADDR", "records.0.address=0x201",
                                         "records.0.type=", "records.1.address=5" };
    leat_arena_init(&arena, memory, sizeof memory);
    struct leat_tree *root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    for (size_t i = 0; i < 4; i++)
        EQ(leat_tree_add_pair(&arena, root, pairs[i], strlen(pairs[i])), LEAT_ERR_OK);
    const struct leat_tree *records = leat_tree_find(root, "records");
    EQ(records->kind, LEAT_TREE_LIST);
    EQ(leat_tree_find(records->child, "type")->text_len, 0);
    OK(memcmp(leat_tree_find(records->last, "address")->text, "5", 1) == 0);
}

static void pairs_that_contradict_are_refused(void)
{
    static const struct {
        const char *pair;
        leat_err err;
    } cases[] = {
        { "novalue", LEAT_ERR_SYNTAX },
        { "=1", LEAT_ERR_SYNTAX },
        { "a..b=1", LEAT_ERR_SYNTAX },
        { "a=2", LEAT_ERR_DUPLICATE },
        { "a.b=1", LEAT_ERR_FIELD },
        { "l.5=1", LEAT_ERR_FIELD },
        { "l.x=1", LEAT_ERR_FIELD },
        { "l=1", LEAT_ERR_FIELD },
        { "0=1", LEAT_ERR_FIELD },
        { "a1.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1", LEAT_ERR_RANGE },
    };
    leat_arena_init(&arena, memory, sizeof memory);
    struct leat_tree *root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    EQ(leat_tree_add_pair(&arena, root, "a=1", 3), LEAT_ERR_OK);
    EQ(leat_tree_add_pair(&arena, root, "l.0=1", 5), LEAT_ERR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        EQ(leat_tree_add_pair(&arena, root, cases[i].pair, strlen(cases[i].pair)), cases[i].err);
}

static void random_text_never_breaks_the_reader(void)
{
    static const char alphabet[] = "{}[]\",:\\ntf0123456789aue .\n";
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        char text[64];
        const size_t len = leat_random_below(&r, sizeof text);
        for (size_t k = 0; k < len; k++)
            text[k] = alphabet[leat_random_below(&r, sizeof alphabet - 1)];
        struct leat_tree *root = NULL;
        size_t at = 0;
        leat_arena_init(&arena, memory, sizeof memory);
        const leat_err err = leat_tree_parse_json(&arena, text, len, &root, &at);
        OK(err ? at <= len && !root : root != NULL);
        OK(leat_tree_json_extent(text, len) <= len);
    }
}

TAP_MAIN(T(json_becomes_a_tree), T(a_character_is_an_octet_however_it_is_written),
         T(numbers_are_exact_to_64_bits), T(what_is_not_json_is_refused_with_its_place),
         T(a_spent_arena_is_an_error_and_no_crash), T(the_extent_of_a_value_in_a_stream_is_found),
         T(pairs_build_the_same_tree), T(pairs_that_contradict_are_refused),
         T(random_text_never_breaks_the_reader))
