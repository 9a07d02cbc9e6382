/* Shared by the command lines of all unit benches, and the output of a run. */
#ifndef LEAT_UNIT_SHOW_H
#define LEAT_UNIT_SHOW_H

#include "result_file.h"
#include "tool.h"
#include "unit_trace.h"

enum { UNIT_CYCLES_MAX = 100000128, UNIT_CYCLES_AFTER = 128 /* the last stimulus */ };

struct unit_options {
    enum trace_format format;
    uint32_t cycles; /* 0: not given */
    const char *out, *vcd;
};

/* The input is the second operand, if there is one. False after a complaint: the command line is
 * wrong. */
bool unit_options_read(const struct arguments *args, struct unit_options *options);

struct unit_show {
    struct result_file trace_file, vcd_file;
    struct trace trace, vcd;
    bool has_vcd;
};

/* False after a message. */
bool unit_show_open(struct unit_show *show, const struct unit_options *options, const char *bench);

/* Is a file full, a pipe closed? */
bool unit_show_failed(const struct unit_show *show);

/* Keeps the output: all cycles, or those before an interruption. False after a complaint. */
bool unit_show_close(struct unit_show *show);

/* leat unit aal (unit_aal.c): operands are aal and, optionally, a schedule (aal_schedule.h). */
int run_unit_aal(const struct arguments *args);

#endif
