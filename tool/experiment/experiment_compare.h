/* The results of `leat experiment compare`, between what measures (experiment_compare.c) and what
 * draws them (experiment_compare_page.c). */
#ifndef LEAT_TOOL_EXPERIMENT_COMPARE_H
#define LEAT_TOOL_EXPERIMENT_COMPARE_H

#include "chart.h"
#include "experiment_linear.h"
#include "fabric_atm.h"
#include "net_cost.h"
#include <string.h>

enum compare_program { COMPARE_LINEAR, COMPARE_MATRIX, COMPARE_PROGRAMS };

enum { COMPARE_FABRICS_MAX = CHART_STYLES, COMPARE_DELAYS = 2 };

/* A program's messages in octets, whose one-way delays are compared. */
extern const uint32_t compare_octets[COMPARE_DELAYS];
extern const char *const compare_names[COMPARE_PROGRAMS];

struct compare_row {
    const char *word; /* as the user wrote it */
    char fabric[LEAT_FABRIC_NAME_CAP];
    uint32_t ports;
    double period_ns; /* of a cycle */
    struct leat_net_cost cost;
    double delay[COMPARE_DELAYS]; /* cycles */
    struct linear_outcome program[COMPARE_PROGRAMS];
    const char *status; /* "done", or why its figures are not all there */
};

struct compare {
    struct compare_row row[COMPARE_FABRICS_MAX];
    size_t rows;
    uint32_t size;      /* of -n; 0: the thesis' inputs */
    const char *unit;   /* of all times: "cycles", where all fabrics have the same clock; or "us" */
    double unit_ns;     /* 0: cycles, whatever they take */
    char size_text[64]; /* what is solved */
};

/* Cycles of this row in the unit of all. */
double compare_time(const struct compare *c, const struct compare_row *row, double cycles);

/* What contention costs a program: cycles; less than none where another order takes longer. */
double compare_contention(const struct linear_outcome *program);

static inline bool compare_is_done(const struct compare_row *row)
{
    return strcmp(row->status, "done") == 0;
}

void compare_page(const struct compare *compare, struct leat_text *text);

#endif
