#include "format_find.h"

const struct leat_format *format_find(const struct verb *verb, const char *name)
{
    const struct leat_format *format = leat_format_find(name);
    if (!format)
        misuse(verb, "unknown format '%s', %sexpected one of %s", name,
               did_you_mean(name, format_names()), format_names());
    return format;
}
