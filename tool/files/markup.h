/* Text for pages, charts and tables: numbers in C notation, escaped names. */
#ifndef LEAT_MARKUP_H
#define LEAT_MARKUP_H

#include "leat_text.h"

enum { MARKUP_PIECE_CAP = 1024 }; /* the longest piece of one call of text_format */

/* As printf; longer output is truncated. */
void text_format(struct leat_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Escapes a name or a command for XML and HTML, as content or attribute. Invalid UTF-8 and
 * characters that XML forbids become U+FFFD. */
void text_escape(struct leat_text *text, const char *characters);

/* The same, truncated with an ellipsis after this many characters. */
void text_escape_short(struct leat_text *text, const char *characters, size_t most);

/* Number of characters (not octets). */
size_t text_width(const char *characters);

#endif
