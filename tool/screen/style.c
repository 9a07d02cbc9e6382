#include "style.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Complaints show errno: it stays as it was. */
bool is_screen(int file)
{
    const int number = errno;
    const char *kind = getenv("TERM");
    const bool is = kind && *kind && strcmp(kind, "dumb") != 0 && isatty(file);
    errno = number;
    return is;
}

/* https://no-color.org */
static bool has_colours(FILE *to)
{
    const char *none = getenv("NO_COLOR");
    return !(none && *none) && is_screen(fileno(to));
}

const char *style(FILE *to, enum style style)
{
    static const char *const begins[] = {
        [STYLE_HEADING] = "\33[1m", [STYLE_DOUBTFUL] = "\33[33m", [STYLE_BAD] = "\33[1;31m"
    };
    return has_colours(to) ? begins[style] : "";
}

const char *style_end(FILE *to)
{
    return has_colours(to) ? "\33[0m" : "";
}

void style_put(FILE *to, enum style meaning, const char *text)
{
    fprintf(to, "%s%s%s", style(to, meaning), text, style_end(to));
}
