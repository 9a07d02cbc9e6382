#include "poets_path.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static bool is(struct leat_poets_path_part part, const char *text)
{
    return part.len == strlen(text) && memcmp(part.text, text, part.len) == 0;
}

static leat_err parse(const char *text, bool blanks, struct leat_poets_path *out, size_t *at)
{
    return leat_poets_path_parse(text, strlen(text), blanks, out, at);
}

static void a_path_names_its_destination_first(void)
{
    struct leat_poets_path p;
    EQ(parse("c_1_2:in-0:out", false, &p, NULL), LEAT_ERR_OK);
    OK(is(p.to, "c_1_2") && is(p.to_pin, "in") && is(p.from, "0") && is(p.from_pin, "out"));
    EQ(parse(":-dev:out", false, &p, NULL), LEAT_ERR_OK);
    OK(is(p.to, "") && is(p.to_pin, "") && is(p.from, "dev"));
    EQ(parse("dev:in-:", false, &p, NULL), LEAT_ERR_OK);
    OK(is(p.from, "") && is(p.from_pin, ""));
}

static void blanks_are_the_orchestrators(void)
{
    struct leat_poets_path p;
    size_t at = 99;
    EQ(parse(" a : b - c : d ", true, &p, NULL), LEAT_ERR_OK);
    OK(is(p.to, "a") && is(p.to_pin, "b") && is(p.from, "c") && is(p.from_pin, "d"));
    EQ(parse("a: b-c:d", false, &p, &at), LEAT_ERR_SYNTAX);
    EQ(at, 2);
}

static void what_is_no_path_is_refused_at_its_place(void)
{
    static const struct {
        const char *text;
        size_t at;
    } bad[] = { { "", 0 },          { "a", 1 },        { "a:b", 3 },      { "a:b:c:d", 3 },
                { "a:b-c", 5 },     { "a:-c:d", 2 },   { "a:b-c:", 6 },   { "a:b-c:d-", 7 },
                { "a.b:c-d:e", 1 }, { "a:b--c:d", 4 }, { "a:b-c:d e", 7 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct leat_poets_path p = { .to = { "x", 1 } };
        size_t at = 99;
        EQ(parse(bad[i].text, false, &p, &at), LEAT_ERR_SYNTAX);
        EQ(at, bad[i].at);
        OK(is(p.to, "x")); /* untouched */
    }
}

static void random_paths_come_back_in_their_parts(void)
{
    static const char letters[] = "abcXYZ019_";
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 10; round++) {
        char part[4][8], text[64];
        struct leat_poets_path p;
        for (int i = 0; i < 4; i++) {
            const size_t len = 1 + leat_random_below(&r, 6);
            for (size_t k = 0; k < len; k++)
                part[i][k] = letters[leat_random_below(&r, sizeof letters - 1)];
            part[i][len] = '\0';
            OK(leat_poets_identifier(part[i], len));
        }
        snprintf(text, sizeof text, "%s:%s-%s:%s", part[0], part[1], part[2], part[3]);
        EQ(parse(text, round & 1, &p, NULL), LEAT_ERR_OK);
        OK(is(p.to, part[0]) && is(p.to_pin, part[1]) && is(p.from, part[2]) &&
           is(p.from_pin, part[3]));
    }
    OK(!leat_poets_identifier("", 0) && !leat_poets_identifier("a-b", 3));
}

TAP_MAIN(T(a_path_names_its_destination_first), T(blanks_are_the_orchestrators),
         T(what_is_no_path_is_refused_at_its_place), T(random_paths_come_back_in_their_parts))
