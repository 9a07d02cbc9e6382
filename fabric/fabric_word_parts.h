/* Names of fabrics with parameters: ring16/propagation=5/clock=4MHz; files that describe them. */
#ifndef LEAT_FABRIC_WORD_PARTS_H
#define LEAT_FABRIC_WORD_PARTS_H

#include "fabric_error.h"
#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A piece of a name or a line; not terminated. */
struct word {
    const char *text;
    size_t len;
};

enum { SHOWN_LEN_MAX = 40 };

/* A word for display: not too long, without control characters. */
struct shown {
    char text[SHOWN_LEN_MAX + 4];
};

static inline struct shown show(struct word w)
{
    struct shown s;
    const size_t len = w.len < SHOWN_LEN_MAX ? w.len : SHOWN_LEN_MAX;
    for (size_t i = 0; i < len; i++)
        s.text[i] = (char)(w.text[i] >= ' ' && w.text[i] <= '~' ? w.text[i] : '?');
    strcpy(s.text + len, len < w.len ? "..." : "");
    return s;
}

static inline bool is_word(struct word w, const char *text)
{
    return w.len == strlen(text) && memcmp(w.text, text, w.len) == 0;
}

static inline bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r'); /* those between: \n, \v, \f */
}

/* The next word of a line, which is advanced past it. */
static inline bool lines_word(struct word *line, struct word *out)
{
    while (line->len && is_blank(*line->text)) {
        line->text++;
        line->len--;
    }
    *out = (struct word){ line->text, 0 };
    while (out->len < line->len && !is_blank(out->text[out->len]))
        out->len++;
    line->text += out->len;
    line->len -= out->len;
    return out->len > 0;
}

/* The piece of a name up to the next '/'. */
struct word leat_fabric_piece(const char **rest);

/* The value of KEY=VALUE. */
bool leat_fabric_value(struct word piece, const char *key, struct word *value);

bool leat_fabric_number(struct word value, uint64_t least, uint64_t most, uint32_t *out);

/* Reads a whole name into *out; on error `why` has what is wrong with it. */
typedef leat_err leat_fabric_parser(const char *name, void *out, struct leat_text *why);

/* The same, with the place in *error: the first piece that makes the name invalid. */
bool leat_fabric_parse(const char *name, leat_fabric_parser *parse, void *out,
                       struct leat_fabric_error *error);

/* ---- files (fabric_file.c) ---- */

enum { LEAT_FABRIC_LINE_LEN_MAX = 4096 };

/* All octets of place->file, at most `most`, for free(). NULL with an error. */
uint8_t *leat_fabric_file(const struct leat_fabric_place *place, size_t most, size_t *len);

/* A line without its end and its comment; lent for the call. False, with an error, stops
 * reading. */
typedef bool leat_fabric_line_fn(void *context, const struct leat_fabric_place *place,
                                 struct word line);

/* Calls it for every line of place->file ("-": standard input) that is not blank or a comment after
 * '#'. place->line is then the last line. */
bool leat_fabric_lines(struct leat_fabric_place *place, leat_fabric_line_fn *each, void *context);

/* The error that this leat was built without YAML. */
bool leat_fabric_no_yaml(const char *file, struct leat_fabric_error *error);

#endif
