/* Words quoted for a shell. */
#include "shell.h"
#include "tap.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char put[4096];

static const char *quoted(const char *word, size_t len)
{
    FILE *out = tmpfile();
    shell_put_word(out, word, len);
    rewind(out);
    put[fread(put, 1, sizeof put - 1, out)] = '\0';
    fclose(out);
    return put;
}

static bool is(const char *word, const char *as)
{
    return strcmp(quoted(word, strlen(word)), as) == 0;
}

static void plain_words_stay_as_they_are(void)
{
    OK(is("mesh:8,8/vcs=2", "mesh:8,8/vcs=2"));
    OK(is("share/fabrics/my_lab.yaml", "share/fabrics/my_lab.yaml"));
    OK(is("5@1000..2000", "5@1000..2000") && is("50%", "50%") && is("-j", "-j"));
}

static void other_words_stand_in_quotes(void)
{
    OK(is("", "''"));
    OK(is("two words", "'two words'"));
    OK(is("link:3>7", "'link:3>7'"));
    OK(is("$HOME", "'$HOME'") && is("*", "'*'") && is("~", "'~'") && is("a;b", "'a;b'"));
    OK(is("a\nb", "'a\nb'") && is("\\", "'\\'") && is("\"", "'\"'") && is("#", "'#'"));
}

static void a_quote_stands_outside(void)
{
    OK(is("it's", "'it'\\''s'"));
    OK(is("'", "''\\'''"));
}

static void only_so_many_octets_are_put(void)
{
    OK(strcmp(quoted("abc def", 3), "abc") == 0);
    OK(strcmp(quoted("abc def", 4), "'abc '") == 0);
    OK(strcmp(quoted("abc", 0), "''") == 0);
}

/* The shell itself is the judge. */
static bool shell_takes(const char *word, size_t len)
{
    char command[4200], back[1024];
    snprintf(command, sizeof command, "printf %%s %s", quoted(word, len));
    FILE *shell = popen(command, "r");
    const size_t got = fread(back, 1, sizeof back, shell);
    return pclose(shell) == 0 && got == len && memcmp(back, word, len) == 0;
}

static void a_shell_gives_every_octet_back(void)
{
    char all[255], some[40];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i + 1);
    OK(shell_takes(all, sizeof all));
    uint64_t state = tap_seed();
    for (int round = 0; round < 20; round++) {
        static const char often[] = "'\"\\$` \n!*";
        for (size_t i = 0; i < sizeof some; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            const unsigned chance = (unsigned)(state >> 40);
            some[i] = chance & 1 ? often[chance / 2 % (sizeof often - 1)]
                                 : (char)(chance / 2 % 255 + 1);
        }
        OK(shell_takes(some, sizeof some));
    }
}

/* ---- words taken apart ----------------------------------------------------------------------- */

enum { WORDS_CAP = 8 };

static bool splits(const char *text, int want, const char *const *as)
{
    char *words[WORDS_CAP];
    const int count = shell_split(text, words, WORDS_CAP);
    bool good = count == want;
    for (int i = 0; good && i < count; i++)
        good = strcmp(words[i], as[i]) == 0;
    if (count > 0) good = good && !words[count];
    if (count > 0) free(words[0]);
    return good;
}

#define SPLITS(text, count, ...) splits(text, count, (const char *const[]){ __VA_ARGS__, NULL })

static void blanks_part_words_unless_quoted(void)
{
    OK(SPLITS("valgrind --leak-check=full", 2, "valgrind", "--leak-check=full"));
    OK(SPLITS("  a\t\nb  ", 2, "a", "b"));
    OK(SPLITS("'a b' \"c d\" e\\ f", 3, "a b", "c d", "e f"));
    OK(SPLITS("a'b'\"c\"d", 1, "abcd"));
    OK(SPLITS("'' x", 2, "", "x"));
    OK(SPLITS("\"a\\\"b\\n\" 'c\\d'", 2, "a\"b\\n", "c\\d"));
}

static void nothing_and_too_much_are_told_apart(void)
{
    OK(SPLITS("", 0, "") && SPLITS(" \n", 0, ""));
    OK(SPLITS("a 'b", SHELL_OPEN_QUOTE, "") && SPLITS("\"", SHELL_OPEN_QUOTE, ""));
    OK(SPLITS("1 2 3 4 5 6 7", 7, "1", "2", "3", "4", "5", "6", "7"));
    OK(SPLITS("1 2 3 4 5 6 7 8", SHELL_TOO_MANY, ""));
}

/* The same words as sh has, one in a line. Only characters that it does not replace. */
static void words_are_those_of_a_shell(void)
{
    static const char often[] = "ab '\"\\-=\t";
    uint64_t state = tap_seed();
    for (int round = 0; round < 60; round++) {
        char text[24], command[200], want[200], got[200] = "", *words[WORDS_CAP];
        for (size_t i = 0; i < sizeof text - 1; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            text[i] = often[(state >> 40) % (sizeof often - 1)];
        }
        text[sizeof text - 1] = '\0';
        const int count = shell_split(text, words, WORDS_CAP);
        if (count <= 0 || text[sizeof text - 2] == '\\') { /* sh would read on, or has no word */
            if (count > 0) free(words[0]);
            continue;
        }
        for (int i = 0; i < count; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "<%s>", words[i]);
        free(words[0]);
        snprintf(command, sizeof command, "printf '<%%s>' %s", text);
        FILE *shell = popen(command, "r");
        want[fread(want, 1, sizeof want - 1, shell)] = '\0';
        OK(pclose(shell) == 0 && strcmp(got, want) == 0);
    }
}

TAP_MAIN(T(plain_words_stay_as_they_are), T(other_words_stand_in_quotes), T(a_quote_stands_outside),
         T(only_so_many_octets_are_put), T(a_shell_gives_every_octet_back),
         T(blanks_part_words_unless_quoted), T(nothing_and_too_much_are_told_apart),
         T(words_are_those_of_a_shell))
