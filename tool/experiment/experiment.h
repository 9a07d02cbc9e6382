/* What the parts of `leat experiment` share: the thesis' programs, run and measured. */
#ifndef LEAT_TOOL_EXPERIMENT_H
#define LEAT_TOOL_EXPERIMENT_H

#include "comm.h"
#include "run.h"

enum { EXPERIMENT_PATH_CAP = 64 };

struct experiment {
    const struct arguments *args;
    struct run_job job;
    struct leat_atm_clos net; /* of the fabric */
    bool json;
    /* A folder of its own, for the time of the experiment, and what lies in it. */
    char folder[EXPERIMENT_PATH_CAP], input[EXPERIMENT_PATH_CAP], records[EXPERIMENT_PATH_CAP];
};

/* Runs a program of the thesis, with one argument; what its tasks sent and received goes into
 * *records (`all`: exchanges with the first task too). Returns DONE, or the exit code after a
 * complaint; either way comm_free and run_outcome_free. */
int experiment_run(struct experiment *e, const char *program, const char *argument,
                   bool contention_free, bool all, struct comm_records *records,
                   struct run_outcome *out);

/* Copies the input of a program (`file` NULL: `text`) to e->input, for programs write behind their
 * input; *len: its octets. False after a complaint. */
bool experiment_copy_input(const struct experiment *e, const char *file, const char *text,
                           long *len);

int experiment_echo(struct experiment *e);
int experiment_linear(struct experiment *e);
int experiment_matrix(struct experiment *e);
int experiment_contention(struct experiment *e);

/* ---- what the thesis printed (experiment_published.c) ---- */

enum {
    PUBLISHED_DELAYS = 14,
    PUBLISHED_RECORDS = 134,
    PUBLISHED_WITHOUT_CONTENTION = 9211, /* cycle of the last record, in a timeline made by hand */
};

struct published_delay {
    uint32_t octets, cycles;
};

extern const struct published_delay published_delays[PUBLISHED_DELAYS];
extern const char published_system[], published_product[];
extern const struct comm_record published_records[PUBLISHED_RECORDS];

#endif
