/* The results of `leat experiment echo`, between what measures (experiment_echo.c) and what draws
 * them (experiment_echo_page.c). */
#ifndef LEAT_TOOL_EXPERIMENT_ECHO_H
#define LEAT_TOOL_EXPERIMENT_ECHO_H

#include "experiment.h"
#include "fabric.h"

enum {
    ECHO_POINTS_MAX = 256,
    ECHO_WORD_OCTETS = 4, /* the program sends integers */
    ECHO_ROWS = 4,
    ECHO_LINE_RATES = 2,
};

struct echo_point {
    uint32_t octets;
    double cycles;
};

/* A delay for each of several sizes. */
struct echo_curve {
    struct echo_point point[ECHO_POINTS_MAX];
    size_t count;
};

struct echo_line { /* cycles = slope * octets + base */
    double slope, base;
};

struct echo_figures {
    double r_max;  /* octets per cycle */
    double n_half; /* octets */
    double t_0;    /* cycles */
};

struct echo_result {
    const char *fabric;
    uint32_t crossing; /* cycles, of the first octet */
    char formula[FABRIC_FORMULA_CAP];
    struct echo_curve measured, theory, published;
    struct echo_curve tried; /* in the search for n_1/2 */
    struct echo_line line, published_line;
};

struct echo_row {
    const char *name, *key;
    struct echo_figures figures;
};

/* Of the lines of the prototype, Mbit/s; they carry an octet per cycle. */
extern const double echo_line_rate[ECHO_LINE_RATES];

/* Runs the program: from the cycle in which the writer gets its lock to that in which the reader
 * has the last word of so many octets. DONE, or a code after a complaint. */
int echo_measure(struct experiment *e, uint32_t octets, double *cycles);

/* The closed form of a message alone, in cycles. */
double echo_theory(uint32_t crossing, uint32_t octets);

/* Figures 11.16 and 11.17 of the thesis and its table 11.2 with these results; row NULL: the
 * experiment was interrupted, and there are only delays. */
void echo_page(const struct echo_result *result, const struct echo_row *row,
               struct leat_text *text);

#endif
