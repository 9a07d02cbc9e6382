#include "report_text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

void text_format(struct leat_text *text, const char *format, ...)
{
    char piece[REPORT_PIECE_CAP];
    va_list list;
    va_start(list, format);
    const int len = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    if (len > 0)
        leat_text_put(text, piece, (size_t)len < sizeof piece ? (size_t)len : sizeof piece - 1);
}

/* Octets of the character that begins here, 0 where none does (Unicode 15, table 3-7: the shortest
 * form only, no surrogates) or where XML 1.0 does not allow it. */
static size_t character_len(const unsigned char *at)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (at[0] < 0x80) return at[0] >= ' ' || at[0] == '\t' || at[0] == '\n' ? 1 : 0;
    const size_t len = at[0] >= 0xf0 && at[0] < 0xf8   ? 4
                       : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                       : at[0] >= 0xc0 && at[0] < 0xe0 ? 2
                                                       : 0;
    uint32_t code = at[0] & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0; /* the end of the string, too */
        code = code << 6 | (at[i] & 0x3f);
    }
    const bool sound = len && code >= least[len] && code <= 0x10ffff &&
                       !(code >= 0xd800 && code < 0xe000) && (code & 0xfffe) != 0xfffe;
    return sound ? len : 0;
}

void text_escape_short(struct leat_text *text, const char *characters, size_t most)
{
    for (; *characters && most; most--) {
        const size_t len = character_len((const unsigned char *)characters);
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
        const size_t len = character_len((const unsigned char *)characters);
        characters += len ? len : 1;
    }
    return width;
}
