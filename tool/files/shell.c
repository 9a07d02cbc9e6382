#include "shell.h"
#include <stdbool.h>
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
