#include "place.h"
#include "tool.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool wrong(const struct place *place, const char *text, ...)
{
    char message[1024];
    va_list list;
    va_start(list, text);
    vsnprintf(message, sizeof message, text, list);
    va_end(list);
    complain("%s:%u: %s", place->file, place->line, message);
    return false;
}

struct shown show(struct word w)
{
    struct shown s;
    const size_t len = w.len < SHOWN_LEN_MAX ? w.len : SHOWN_LEN_MAX;
    for (size_t i = 0; i < len; i++)
        s.text[i] = (char)(w.text[i] >= ' ' && w.text[i] <= '~' ? w.text[i] : '?');
    strcpy(s.text + len, len < w.len ? "..." : "");
    return s;
}

bool is_word(struct word w, const char *text)
{
    return w.len == strlen(text) && memcmp(w.text, text, w.len) == 0;
}

bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r'); /* those between: \n, \v, \f */
}
