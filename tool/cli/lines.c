#include "lines.h"
#include "input.h"
#include "tool.h"
#include <string.h>

/* Without its comment. False after a complaint. */
static bool tell(struct place *place, struct word line, line_fn each, void *context)
{
    const char *comment = memchr(line.text, '#', line.len);
    place->line++;
    if (line.len > LINE_LEN_MAX)
        return wrong(place, "a line of more than %d characters, expected fewer", LINE_LEN_MAX);
    if (comment) line.len = (size_t)(comment - line.text);
    struct word rest = line, first;
    return !lines_word(&rest, &first) || each(context, place, line);
}

/* The lines in the buffer; at the end of the file also an unterminated one. */
static bool tell_lines(struct input *in, struct place *place, line_fn each, void *context)
{
    while (input_len(in) && !interrupted) {
        const char *text = (const char *)input_octets(in);
        const char *end = memchr(text, '\n', input_len(in));
        if (!end && !in->at_end && input_len(in) <= LINE_LEN_MAX) return true;
        const size_t len = end ? (size_t)(end - text) : input_len(in);
        if (!tell(place, (struct word){ text, len }, each, context)) return false;
        input_skip(in, len + (end != NULL));
    }
    return true;
}

bool lines_read(const char *file, line_fn each, void *context, uint32_t *lines)
{
    struct input in;
    if (!input_open(&in, file)) return false;
    struct place place = { in.name, 0 };
    bool good = true;
    do {
        good = input_fill(&in, LINE_LEN_MAX + 2) && tell_lines(&in, &place, each, context);
    } while (good && !interrupted && !(in.at_end && !input_len(&in)));
    input_close(&in);
    *lines = place.line;
    return good;
}
