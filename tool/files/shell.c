#include "shell.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *word, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    for (size_t i = 0; i < len; i++)
        if (!memchr(plain, word[i], sizeof plain - 1)) return false;
    return len > 0;
}

/* Inside single quotes everything is literal except a quote itself, which is written as '\''. */
void shell_put_word(FILE *out, const char *word, size_t len)
{
    if (is_plain(word, len)) {
        fwrite(word, 1, len, out);
        return;
    }
    putc('\'', out);
    for (size_t i = 0; i < len; i++)
        if (word[i] == '\'')
            fputs("'\\''", out);
        else
            putc(word[i], out);
    putc('\'', out);
}

/* One word, up to a blank that is not quoted. False: a quote has no end. In double quotes a
 * backslash stands for itself, unless one of these characters follows. */
static bool take_word(const char **text, char **out)
{
    static const char special[] = "$`\"\\\n";
    char quote = '\0';
    const char *at = *text;
    for (; *at && (quote || !strchr(" \t\n", *at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"') {
            quote = quote ? '\0' : *at;
            continue;
        }
        const bool escapes = *at == '\\' && at[1] && quote != '\'' &&
                             (!quote || strchr(special, at[1]));
        if (escapes && *++at == '\n') continue; /* a continued line */
        *(*out)++ = *at;
    }
    *(*out)++ = '\0';
    *text = at;
    return !quote;
}

int shell_split(const char *text, char **words, size_t cap)
{
    /* Words are no longer than in the text, and each has a blank or its end for the '\0'. */
    char *memory = malloc(strlen(text) + 1), *out = memory;
    size_t count = 0;
    int wrong = memory ? 0 : SHELL_NO_MEMORY;
    while (!wrong && *(text += strspn(text, " \t\n"))) {
        if (count + 1 >= cap) {
            wrong = SHELL_TOO_MANY;
            break;
        }
        words[count++] = out;
        if (!take_word(&text, &out)) wrong = SHELL_OPEN_QUOTE;
    }
    words[wrong ? 0 : count] = NULL;
    if (!wrong && count) return (int)count;
    free(memory);
    return wrong;
}
