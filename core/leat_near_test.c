#include "leat_near.h"
#include "tap.h"
#include <leat/random.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *text(const char *word, const char *list)
{
    static struct leat_near near;
    near = leat_near_to(word, strlen(word));
    leat_near_try_all(&near, list);
    return near.text;
}

static bool proposes(const char *word, const char *list, const char *want)
{
    const char *got = text(word, list);
    if (strcmp(got, want) != 0) printf("# %s: '%s'\n", word, got);
    return strcmp(got, want) == 0;
}

static void the_nearest_name_is_proposed_and_the_first_of_two(void)
{
    OK(proposes("bufer", "vcs buffer flow", "did you mean buffer? "));
    OK(proposes("bufer", "vcs, buffer, flow", "did you mean buffer? "));
    OK(proposes("cylces", "cycle cycles", "did you mean cycles? "));
    OK(proposes("cat", "car bat", "did you mean car? "));
}

static void names_may_be_tried_one_by_one(void)
{
    struct leat_near near = leat_near_to("mash", 4);
    leat_near_try(&near, "torus", 5);
    OK(!near.text[0]);
    leat_near_try(&near, "mesh:8,8", 4);
    OK(strcmp(near.text, "did you mean mesh? ") == 0);
    leat_near_try(&near, "mush", 4); /* not nearer */
    OK(strcmp(near.text, "did you mean mesh? ") == 0);
}

static void case_is_no_mistake(void)
{
    OK(proposes("conut", "NOP COUNT COMPARE", "did you mean COUNT? "));
    OK(proposes("Mesh", "mesh torus", "did you mean mesh? "));
}

static void short_and_different_words_are_near_to_none(void)
{
    OK(proposes("m", "n mesh", "") && proposes("", "a b", "") && proposes("x", "", ""));
    OK(proposes("hypercube", "mesh torus", "") && proposes("ab", "ac ba", ""));
    OK(proposes("ab", "AB", "did you mean AB? "));
}

/* One letter is changed, left out, inserted, or swapped with the one before. */
static void mistype(struct leat_random *r, const char *name, char *out)
{
    const size_t len = strlen(name), at = leat_random_below(r, len);
    const char letter = (char)('a' + leat_random_below(r, 26));
    strcpy(out, name);
    switch (leat_random_below(r, 4)) {
    case 0: out[at] = letter; break;
    case 1: memmove(out + at, out + at + 1, len - at); break;
    case 2:
        memmove(out + at + 1, out + at, len - at + 1);
        out[at] = letter;
        break;
    default:
        if (!at) return;
        out[at] = name[at - 1];
        out[at - 1] = name[at];
    }
}

static void every_single_mistake_is_found(void)
{
    struct leat_random r;
    char name[LEAT_NEAR_LEN_MAX], wrong[LEAT_NEAR_LEN_MAX + 2], want[64];
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 2000; round++) {
        const size_t len = 4 + leat_random_below(&r, sizeof name - 5);
        for (size_t i = 0; i < len; i++)
            name[i] = (char)('a' + leat_random_below(&r, 26));
        name[len] = '\0';
        mistype(&r, name, wrong);
        snprintf(want, sizeof want, "did you mean %s? ", name);
        OK(proposes(wrong, name, want));
    }
}

static void long_words_are_near_to_none(void)
{
    char word[LEAT_NEAR_LEN_MAX + 2] = "", want[64];
    memset(word, 'a', LEAT_NEAR_LEN_MAX + 1);
    OK(proposes(word, word, ""));
    word[LEAT_NEAR_LEN_MAX] = '\0';
    snprintf(want, sizeof want, "did you mean %s? ", word);
    OK(proposes(word, word, want));
}

TAP_MAIN(T(the_nearest_name_is_proposed_and_the_first_of_two), T(names_may_be_tried_one_by_one),
         T(case_is_no_mistake), T(short_and_different_words_are_near_to_none),
         T(every_single_mistake_is_found), T(long_words_are_near_to_none))
