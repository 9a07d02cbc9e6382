/*
 * Bounded text output. Octets collect in the caller's buffer. When it is full, `flush` empties it;
 * without a flush the rest is dropped and `overflowed` is set. No heap, no stdio.
 */
#ifndef LEAT_TEXT_H
#define LEAT_TEXT_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LEAT_TEXT_CAP_MIN = 64 }; /* the longest single piece that must fit an empty buffer */

struct leat_text {
    char *buf;
    size_t cap, len;
    bool overflowed;
    void (*flush)(struct leat_text *text); /* empties buf[0..len), sets len to 0; may be NULL */
    void *user;                            /* flush's own */
};

/* cap >= LEAT_TEXT_CAP_MIN. */
void leat_text_init(struct leat_text *text, char *buf, size_t cap,
                    void (*flush)(struct leat_text *), void *user);

/* Text in a buffer of this size on the stack: struct leat_text why = LEAT_TEXT(256); */
#define LEAT_TEXT(size)                         \
    {                                           \
        .buf = (char[size]){ 0 }, .cap = (size) \
    }

/* Makes room for n <= LEAT_TEXT_CAP_MIN characters; NULL when there is none. */
char *leat_text_reserve(struct leat_text *text, size_t n);

void leat_text_put(struct leat_text *text, const char *chars, size_t len);
void leat_text_decimal(struct leat_text *text, uint64_t value);
void leat_text_hex(struct leat_text *text, const uint8_t *octets, size_t len);

/* At least `digits` hexadecimal digits, no prefix. */
void leat_text_hex_number(struct leat_text *text, uint64_t value, unsigned digits);

/* A JSON string with its quotes; octets outside ASCII are written as \u00XX. */
void leat_text_quoted(struct leat_text *text, const char *chars, size_t len);

/* The same, but valid UTF-8 stays as it is. */
void leat_text_quoted_utf8(struct leat_text *text, const char *chars, size_t len);

/* The UTF-8 character at the front (Unicode 15, table 3-7: the shortest form only, no surrogates).
 * Returns its length in octets, or 0 if there is none; sets its code. */
size_t leat_text_utf8(const void *octets, size_t len, uint32_t *code);

/* Would a terminal act on it? */
bool leat_text_is_control(uint32_t code);

/*
 * Foreign text, made safe for a terminal: ASCII, UTF-8, tabs and line ends stay as they are;
 * control characters and octets that are not UTF-8 become \xNN.
 */
void leat_text_harmless(struct leat_text *text, const void *octets, size_t len);

/* "WHAT VALUE, expected LEAST to MOST". Returns RANGE, for `return`. */
leat_err leat_text_out_of_range(struct leat_text *text, const char *what, uint64_t value,
                                uint64_t least, uint64_t most);

/* A number of a configuration and its limits. */
struct leat_text_range {
    const char *what;
    uint64_t value, least, most;
};

/* RANGE and out_of_range for the first number outside its limits; OK if there is none. */
leat_err leat_text_check_ranges(struct leat_text *text, const struct leat_text_range *range,
                                size_t count);

static inline void leat_text_puts(struct leat_text *text, const char *string)
{
    leat_text_put(text, string, strlen(string));
}

static inline void leat_text_putc(struct leat_text *text, char c)
{
    if (text->len < text->cap)
        text->buf[text->len++] = c;
    else
        leat_text_put(text, &c, 1);
}

#endif
