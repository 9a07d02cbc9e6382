/*
 * The path of an edge (spec/poets.md, 4.5): DESTINATION FIRST.
 *
 *   [dst] ':' dstPin '-' [src] ':' srcPin          cell_1_2:in-cell_1_1:out
 *
 * An empty device is the supervisor; its pin may be empty, too.
 */
#ifndef LEAT_POETS_PATH_H
#define LEAT_POETS_PATH_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>

struct leat_poets_path_part {
    const char *text; /* in the path */
    size_t len;
};

struct leat_poets_path {
    struct leat_poets_path_part to, to_pin, from, from_pin;
};

/* [A-Za-z0-9_]+ */
bool leat_poets_identifier(const char *text, size_t len);

/* `blanks`: allowed between the parts (Orchestrator). SYNTAX: not a path; *fault_at is the offset,
 * *out is untouched. */
leat_err leat_poets_path_parse(const char *text, size_t len, bool blanks,
                               struct leat_poets_path *out, size_t *fault_at);

#endif
