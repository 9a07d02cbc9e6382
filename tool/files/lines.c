#include "lines.h"
#include "leat_tree.h"
#include "tool.h"
#include <stdarg.h>
#include <stdio.h>

bool wrong(const struct leat_fabric_place *place, const char *text, ...)
{
    char message[1024];
    va_list list;
    va_start(list, text);
    vsnprintf(message, sizeof message, text, list);
    va_end(list);
    return complain("%s:%u: %s", place->file, place->line, message);
}

bool lines_read(const char *file, leat_fabric_line_fn *each, void *context, uint32_t *lines)
{
    struct leat_fabric_error error = { .code = LEAT_FABRIC_FINE };
    struct leat_fabric_place place = { file, 0, &error, is_interrupted };
    char text[LEAT_FABRIC_TEXT_CAP + LEAT_FABRIC_FILE_CAP];
    if (!*file) return complain("'' is no file name, expected one");
    const bool good = leat_fabric_lines(&place, each, context);
    *lines = place.line;
    if (error.code == LEAT_FABRIC_FINE) return good;        /* `each` may have complained */
    if (error.code == LEAT_FABRIC_INTERRUPTED) return true; /* the verb ends by itself */
    leat_fabric_error_text(&error, file, text, sizeof text);
    return complain("%s", text);
}

/* ---- numbers -------------------------------------------------------------------------------- */

struct reader {
    const struct lines_numbers *numbers;
    uint32_t count;
};

static bool read_numbers(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct reader *r = context;
    const struct lines_numbers *n = r->numbers;
    struct word word;
    while (lines_word(&line, &word)) {
        uint64_t number;
        if (!leat_tree_number(word.text, word.len, &number))
            return wrong(place, "'%s', expected a whole number", show(word).text);
        if (n->bits < 64 && number >> n->bits)
            return wrong(place, "%s %llu, expected one that fits %u bits", n->what,
                         (unsigned long long)number, n->bits);
        if (r->count == n->count)
            return wrong(place, "%s %u, expected one for each of %u %s", n->what, r->count + 1,
                         n->count, n->owners);
        n->number[r->count++] = number;
    }
    return true;
}

bool lines_read_numbers(const char *file, const struct lines_numbers *n)
{
    struct reader reader = { .numbers = n };
    uint32_t lines;
    if (!lines_read(file, read_numbers, &reader, &lines)) return false;
    if (reader.count == n->count) return true;
    return complain("%s:%u: %u %ss, expected one for each of %u %s", file, lines, reader.count,
                    n->what, n->count, n->owners);
}
