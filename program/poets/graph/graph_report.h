/*
 * Errors and warnings about a graph's files, in the order of the files, up to a limit.
 *
 *   FILE:LINE:COLUMN: CODE: what was found, and what was expected
 *
 * The codes are those of spec/poets.md, 8; W_... and marked ones are warnings.
 */
#ifndef LEAT_GRAPH_REPORT_H
#define LEAT_GRAPH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEAT_GRAPH_MISTAKES_MAX = 64,
    LEAT_GRAPH_FILES_MAX = 64,
    LEAT_GRAPH_TEXT_LEN_MAX = 400,
};

/* Columns count from 1; 0: not known. */
struct leat_graph_place {
    uint32_t line;
    uint16_t column, file;
};

struct leat_graph_mistake {
    struct leat_graph_place place;
    uint32_t order; /* of two at one place */
    bool warning;
    const char *code;
    char text[LEAT_GRAPH_TEXT_LEN_MAX];
};

struct leat_graph_report {
    char *file[LEAT_GRAPH_FILES_MAX];
    uint16_t file_count;
    uint32_t error_count, warning_count; /* including those beyond the limit */
    uint32_t kept;
    struct leat_graph_mistake mistake[LEAT_GRAPH_MISTAKES_MAX];
};

/* All zero is an empty report. */
void leat_graph_report_free(struct leat_graph_report *report);

/* The number of a file name; false: out of memory, or one file too many. */
bool leat_graph_report_file(struct leat_graph_report *report, const char *name, uint16_t *out);

/* If there are too many, errors displace warnings. Always false, so that a check can end with it.
 */
bool leat_graph_wrong(struct leat_graph_report *report, struct leat_graph_place place,
                      const char *code, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
void leat_graph_warn(struct leat_graph_report *report, struct leat_graph_place place,
                     const char *code, const char *text, ...) __attribute__((format(printf, 4, 5)));

/* In the order of files, lines and columns. */
void leat_graph_report_sort(struct leat_graph_report *report);

#endif
