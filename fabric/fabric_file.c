#include "fabric_word_parts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool refuse(const struct leat_fabric_place *place)
{
    return leat_fabric_refuse(place->error, LEAT_FABRIC_FILE, place->file, "%s", strerror(errno));
}

static FILE *open_file(const struct leat_fabric_place *place)
{
    FILE *in = strcmp(place->file, "-") == 0 ? stdin : fopen(place->file, "r");
    if (!in) refuse(place);
    return in;
}

static void close_file(FILE *in)
{
    if (in != stdin) fclose(in);
}

/* The next octet; EOF: the end, an interrupt, or a read error. A signal that interrupts nothing
 * only makes a call return early. */
static int next(FILE *in, const struct leat_fabric_place *place)
{
    int c;
    while ((c = getc(in)) == EOF && ferror(in) && errno == EINTR &&
           !(place->interrupted && place->interrupted()))
        clearerr(in);
    return c;
}

/* Was everything read? */
static bool is_whole(FILE *in, const struct leat_fabric_place *place)
{
    if (leat_fabric_is_interrupted(place)) return false;
    return !ferror(in) || refuse(place);
}

uint8_t *leat_fabric_file(const struct leat_fabric_place *place, size_t most, size_t *len)
{
    FILE *in = open_file(place);
    uint8_t *octets = NULL;
    bool good = in;
    *len = 0;
    for (int c = 0; good && (c = next(in, place)) != EOF;) {
        if (*len == most) {
            good = leat_fabric_refuse(place->error, LEAT_FABRIC_FILE, place->file,
                                      "longer than %zu octets, expected fewer", most);
            break;
        }
        uint8_t *grown = leat_fabric_grow(octets, *len, 1, place->error);
        good = grown;
        if (!grown) break;
        octets = grown;
        octets[(*len)++] = (uint8_t)c;
    }
    good = good && is_whole(in, place);
    if (in) close_file(in);
    if (good && !octets) octets = leat_fabric_take(1, 1, place->error);
    if (good) return octets;
    free(octets);
    return NULL;
}

/* Without its comment. */
static bool take_line(struct leat_fabric_place *place, struct word line, leat_fabric_line_fn *each,
                      void *context)
{
    const char *comment = memchr(line.text, '#', line.len);
    if (comment) line.len = (size_t)(comment - line.text);
    struct word rest = line, first;
    return !lines_word(&rest, &first) || each(context, place, line);
}

bool leat_fabric_lines(struct leat_fabric_place *place, leat_fabric_line_fn *each, void *context)
{
    char line[LEAT_FABRIC_LINE_LEN_MAX];
    FILE *in = open_file(place);
    bool good = in;
    if (strcmp(place->file, "-") == 0) place->file = "standard input";
    for (int c = 0; good && c != EOF && !leat_fabric_is_interrupted(place);) {
        size_t len = 0;
        while ((c = next(in, place)) != EOF && c != '\n' && len < sizeof line)
            line[len++] = (char)c;
        if (c == EOF && !len) break;
        place->line++;
        good = c == EOF || c == '\n' ||
               leat_fabric_wrong(place, "a line of more than %d characters, expected fewer",
                                 LEAT_FABRIC_LINE_LEN_MAX);
        good = good && take_line(place, (struct word){ line, len }, each, context);
    }
    good = good && is_whole(in, place);
    if (in) close_file(in);
    return good;
}

bool leat_fabric_no_yaml(const char *file, struct leat_fabric_error *error)
{
    return leat_fabric_refuse(
        error, LEAT_FABRIC_FILE, file,
        "this leat was built without libcyaml and libyaml, which read descriptions");
}
