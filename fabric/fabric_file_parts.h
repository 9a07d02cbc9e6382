/* Files that describe fabrics. */
#ifndef LEAT_FABRIC_FILE_PARTS_H
#define LEAT_FABRIC_FILE_PARTS_H

#include "fabric_error.h"
#include "fabric_word_parts.h"

enum { LEAT_FABRIC_LINE_LEN_MAX = 4096 };

/* All octets of place->file, at most so many, for free(). NULL with an error. */
uint8_t *leat_fabric_file(const struct leat_fabric_place *place, size_t most, size_t *len);

/* A line without its end and its comment; lent for the call. False, with an error, stops reading.
 * */
typedef bool leat_fabric_line_fn(void *context, const struct leat_fabric_place *place,
                                 struct word line);

/* Calls it for every line of place->file ("-": standard input) that is not blank or a comment after
 * '#'. place->line is then the last line. */
bool leat_fabric_lines(struct leat_fabric_place *place, leat_fabric_line_fn *each, void *context);

/* The error that this leat was built without YAML. */
bool leat_fabric_no_yaml(const char *file, struct leat_fabric_error *error);

#endif
