#include "sim_refuse.h"
#include <stdarg.h>

static bool begins(const char *text, const char *with)
{
    while (*with && *text == *with) {
        text++;
        with++;
    }
    return !*with;
}

leat_err leat_sim_refuse(struct leat_text *why, leat_err err, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    for (const char *at = format; *at; at++) {
        const char *string = at;
        size_t len = 1;
        if (*at == '%') {
            switch (*++at) {
            case 'c': leat_text_putc(why, (char)va_arg(list, int)); continue;
            case 'u': leat_text_decimal(why, va_arg(list, unsigned)); continue;
            case 's':
                string = va_arg(list, const char *);
                len = strlen(string);
                break;
            case '.': /* %.*s */
                len = (size_t)va_arg(list, int);
                string = va_arg(list, const char *);
                at += 2;
                break;
            default:
                assert(begins(at, PRIu64)); /* nothing else is known */
                leat_text_decimal(why, va_arg(list, uint64_t));
                at += sizeof PRIu64 - 2;
                continue;
            }
        }
        if (len) leat_text_put(why, string, len); /* else it may be NULL */
    }
    va_end(list);
    return err;
}
