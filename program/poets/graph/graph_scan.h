/* Tokens of C and JSON in a text that ends with NUL. */
#ifndef LEAT_GRAPH_SCAN_H
#define LEAT_GRAPH_SCAN_H

#include "graph_layout.h"

struct leat_poets_scan {
    const char *at;
    uint32_t line; /* from 0 */
    struct leat_poets_layout_fault *fault;
};

/* Past blanks and comments; false: a comment without end. */
bool leat_poets_scan_skip(struct leat_poets_scan *s);

/* Takes a character, after blanks and comments, if it is the next one. */
bool leat_poets_scan_take(struct leat_poets_scan *s, char c);

/* A name: *len characters at the returned pointer; NULL: there is none. */
const char *leat_poets_scan_name(struct leat_poets_scan *s, size_t *len);

/* "what, expected ...", with an excerpt of the text. Always false. */
bool leat_poets_scan_fail(struct leat_poets_scan *s, const char *expected, ...)
    __attribute__((format(printf, 2, 3)));

/* A number literal into one element. `cpp`: with suffixes, true, false and characters. */
bool leat_poets_scan_number(struct leat_poets_scan *s, const struct leat_poets_layout_node *node,
                            bool cpp, uint8_t *octets);

#endif
