#include "markup.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

void text_format(struct leat_text *text, const char *format, ...)
{
    char piece[MARKUP_PIECE_CAP];
    va_list list;
    va_start(list, format);
    const int len = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    if (len > 0)
        leat_text_put(text, piece, (size_t)len < sizeof piece ? (size_t)len : sizeof piece - 1);
}

/* Octets of the character that begins here, 0 where none does or where XML 1.0 does not allow it.
 */
static size_t character_len(const char *at)
{
    uint32_t code;
    const size_t len = leat_text_utf8(at, strnlen(at, 4), &code);
    if (!len || (code & 0xfffe) == 0xfffe) return 0;
    return code >= ' ' || code == '\t' || code == '\n' ? len : 0;
}

void text_escape_short(struct leat_text *text, const char *characters, size_t most)
{
    for (; *characters && most; most--) {
        const size_t len = character_len(characters);
        switch (*characters) {
        case '&': leat_text_puts(text, "&amp;"); break;
        case '<': leat_text_puts(text, "&lt;"); break;
        case '>': leat_text_puts(text, "&gt;"); break;
        case '"': leat_text_puts(text, "&quot;"); break;
        default:
            if (len)
                leat_text_put(text, characters, len);
            else
                leat_text_puts(text, replacement);
        }
        characters += len ? len : 1;
    }
    if (*characters) leat_text_puts(text, "…");
}

void text_escape(struct leat_text *text, const char *characters)
{
    text_escape_short(text, characters, SIZE_MAX);
}

size_t text_width(const char *characters)
{
    size_t width = 0;
    for (; *characters; width++) {
        const size_t len = character_len(characters);
        characters += len ? len : 1;
    }
    return width;
}
