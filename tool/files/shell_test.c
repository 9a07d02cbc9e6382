/* Words quoted for a shell. */
#include "shell.h"
#include "tap.h"
#include <stdbool.h>
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

TAP_MAIN(T(plain_words_stay_as_they_are), T(other_words_stand_in_quotes), T(a_quote_stands_outside),
         T(only_so_many_octets_are_put), T(a_shell_gives_every_octet_back))
