/* Pieces of text for pages, charts and tables: numbers as C writes them, names made harmless. */
#ifndef LEAT_REPORT_TEXT_H
#define LEAT_REPORT_TEXT_H

#include "leat_text.h"

enum { REPORT_PIECE_CAP = 1024 }; /* the longest piece of one call of text_format */

/* As printf; what is longer than a piece is cut. */
void text_format(struct leat_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Characters of a name or a command as content or attribute of XML and HTML. What is no UTF-8, or
 * no character that XML may hold, becomes U+FFFD. */
void text_escape(struct leat_text *text, const char *characters);

/* The same, cut after so many characters; what was cut is an ellipsis. */
void text_escape_short(struct leat_text *text, const char *characters, size_t most);

/* How many characters (not octets) it has. */
size_t text_width(const char *characters);

#endif
