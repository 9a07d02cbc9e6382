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
    return complain("%s:%u: %s", place->file, place->line, message);
}
