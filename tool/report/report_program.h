/*
 * Runs of programs over networks, as a page compares them.
 *
 *   a program       a command with its options: what was run over several fabrics
 *   a run of it     the latest over one fabric
 *   a state         "computing" or a call; it has one style in all drawings of a program
 *
 * Pictures are bounded: more than 64 tasks are merged into groups of equal size (the last may be
 * smaller), more than 256 bins of a timeline into wider ones. Nothing is left out by that: octets
 * are summed, shares averaged.
 */
#ifndef LEAT_REPORT_PROGRAM_H
#define LEAT_REPORT_PROGRAM_H

#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROGRAM_RUNS_MAX = 256,   /* that a page shows */
    PROGRAM_FABRICS_MAX = 40, /* of one program */
    PROGRAM_TASKS_MAX = 1024,
    PROGRAM_ROWS_MAX = 64,     /* of matrices and timelines */
    PROGRAM_COLUMNS_MAX = 256, /* of timelines */
    PROGRAM_BINS_MAX = 4096,   /* that a result may have */
    PROGRAM_STATES_MAX = 128,
    PROGRAM_WIRES_MAX = 32,
    PROGRAM_NAME_CAP = 64,
    PROGRAM_WIRE_CAP = 128, /* of its name, as in leat_fabric_wire */
    PROGRAM_UNITS = 4,
    PROGRAM_STYLED = 8,                 /* states with a colour of their own */
    PROGRAM_OTHER = PROGRAM_STYLED + 1, /* the style of all others */
    PROGRAM_STYLES = PROGRAM_OTHER + 1, /* style 0: computing */
};

struct program_call {
    char name[PROGRAM_NAME_CAP];
    double calls, octets, seconds, waiting_seconds; /* over all tasks */
};

/* What wires carry: "flits". They are keys of busiest_wires. */
extern const char *const program_unit[PROGRAM_UNITS];

struct program_wire {
    char name[PROGRAM_WIRE_CAP];
    double utilisation, carried;
    const char *unit; /* one of program_unit; NULL: unknown */
};

/* Octets and messages between groups of tasks, [sender group][receiver group]. */
struct program_matrix {
    uint32_t rows, group; /* tasks in a group */
    double *octets, *messages;
};

/* Shares of time, [row][column][state]. */
struct program_timeline {
    uint32_t rows, group, columns, states;
    double column_seconds;
    float *share;
    char (*state)[PROGRAM_NAME_CAP];
};

struct program_run {
    int64_t id;
    char *version, *command, *options, *fabric, *created;
    char status[PROGRAM_NAME_CAP], certificate[PROGRAM_NAME_CAP];
    uint32_t tasks;
    double seconds, messages, octets;
    double contention_seconds;                 /* NAN: not measured */
    double task_seconds, task_waiting_seconds; /* over all tasks */
    struct program_call *call;
    uint32_t calls;
    struct program_wire wire[PROGRAM_WIRES_MAX];
    uint32_t wires; /* 0: its network does not count what each wire carries */
    struct program_matrix matrix;
    struct program_timeline timeline;
};

struct programs {
    struct program_run run[PROGRAM_RUNS_MAX]; /* those of one program are together */
    size_t runs;
};

/* Reads a result into a run that is otherwise set (report_program_json.c). False: it is damaged. No
 * memory counts as that, too. */
bool program_result_read(const char *json, struct program_run *run);
void program_run_free(struct program_run *run);

/* ---- one program, for its drawings (report_states.c) ---- */

/* A unit in which all times of a program are shown. */
struct program_unit {
    const char *name;
    double seconds;
};

struct program {
    size_t number; /* from 1, for the ids of elements */
    const struct program_run *run;
    size_t runs;
    struct program_unit unit; /* of tables: that of the shortest time */
    /* Times that differ by orders of magnitude are not seen on one axis: runs are drawn in scales,
     * each with an axis and a unit of its own. The slowest have scale 0. */
    size_t scale[PROGRAM_RUNS_MAX], scales;
    struct program_unit scale_unit[PROGRAM_RUNS_MAX];
    char state[PROGRAM_STATES_MAX][PROGRAM_NAME_CAP]; /* "computing" first, then the longest */
    double seconds[PROGRAM_STATES_MAX];               /* over all tasks and fabrics */
    size_t states;
};

/* The program of the run at `first`; the next one begins at first + runs. */
void program_describe(const struct programs *programs, size_t first, size_t number,
                      struct program *out);

/* The style of a state. */
unsigned program_style(const struct program *program, const char *state);
const char *program_style_name(const struct program *program, unsigned style);

/* A task's mean time in each style, in seconds: those outside calls first. */
void program_times(const struct program *program, const struct program_run *run,
                   double seconds[PROGRAM_STYLES]);

/* Do all runs that measured a matrix have the same one? */
bool program_has_one_matrix(const struct program *program);

/* Style sheet rules for states and cells, on a page or on white paper. */
void program_style_sheet(struct leat_text *text);
void program_style_sheet_on_paper(struct leat_text *text);

/* A legend of the states that a drawing has, by their styles, from (x, y) up to `right`. `text`
 * NULL: only its end. Returns the y below it. */
double program_legend(const struct program *program, const bool has[PROGRAM_STYLES],
                      struct leat_text *text, double x, double y, double right);

/* ---- a horizontal axis of time (report_time_axis.c) ---- */

struct time_axis {
    double left, right, top, bottom; /* of what is drawn over it */
    double seconds, unit_seconds;    /* at its right end; of its unit */
    const char *unit;
};

/* An axis that covers the longest time, which is in seconds. */
struct time_axis time_axis_make(double longest, const struct program_unit *unit, double left,
                                double right, double top, double bottom);
double time_axis_at(const struct time_axis *axis, double seconds);

/* Ticks, lines and "NAME, UNIT" below. */
void time_axis_put(const struct time_axis *axis, const char *name, struct leat_text *text);

/* ---- drawings: an <svg> element each; its height at its width ---- */

enum { TIMELINE_WIDTH = 1056 };

void program_bars(const struct program *program, size_t scale, struct leat_text *text);
double program_bars_height(const struct program *program, size_t scale);

/* False (and nothing is drawn): the run has none. */
bool program_matrix(const struct program *program, const struct program_run *run,
                    struct leat_text *text);
double program_matrix_height(void);

void program_timelines(const struct program *program, size_t scale, struct leat_text *text);
double program_timelines_height(const struct program *program, size_t scale); /* 0: none */

#endif
