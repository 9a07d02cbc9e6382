#include "help_page.h"
#include <string.h>

static const char heading[] = "== ", indent[] = "    ";

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

bool help_ends(const char *line)
{
    return !line || begins(line, heading);
}

const char *const *help_page(const struct verb *verb, const char *name)
{
    const char *const *line = verb->help;
    if (!name) return line;
    for (; *line; line++)
        if (begins(*line, heading) && strcmp(*line + strlen(heading), name) == 0) return line + 1;
    return NULL;
}

const char *help_topic(const struct verb *verb, size_t index)
{
    for (const char *const *line = verb->help; *line; line++) {
        const char *name = *line + strlen(heading);
        if (begins(*line, heading) && !subverb_find(verb, name) && !index--) return name;
    }
    return NULL;
}

const char *help_example(const char *const *page, size_t index)
{
    for (; !help_ends(*page); page++)
        if (begins(*page, indent) && !index--) return *page + strlen(indent);
    return NULL;
}

static bool is_text(const char *line)
{
    return !help_ends(line) && *line && !begins(line, indent);
}

const char *const *help_paragraph(const char *const **page, size_t *lines)
{
    while (!help_ends(**page) && !is_text(**page))
        ++*page;
    const char *const *first = *page;
    while (is_text(**page))
        ++*page;
    *lines = (size_t)(*page - first);
    return *lines ? first : NULL;
}
