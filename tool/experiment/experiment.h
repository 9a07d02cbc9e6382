/* Shared by the parts of `leat experiment`: runs and measures the thesis' programs. */
#ifndef LEAT_TOOL_EXPERIMENT_H
#define LEAT_TOOL_EXPERIMENT_H

#include "comm.h"
#include "result_file.h"
#include "run.h"

enum {
    EXPERIMENT_PATH_CAP = 64,
    EXPERIMENT_SIZE_MAX = 11, /* of generated inputs: 2 n^2 tasks multiply two matrices */
};

struct experiment {
    const struct arguments *args;
    struct run_job job;
    uint32_t ports, crossing; /* of the fabric: cycles of a first octet from port 0 to port 1 */
    bool json;
    struct result_file page;         /* of charts; its name NULL: none is wanted */
    bool is_drawn;                   /* the page has content and shall be kept */
    char title[EXPERIMENT_PATH_CAP]; /* of the run, for the progress */
    /* A temporary folder of the experiment, and its files. */
    char folder[EXPERIMENT_PATH_CAP], input[EXPERIMENT_PATH_CAP], records[EXPERIMENT_PATH_CAP];
};

/* Runs a program of the thesis with one argument; its communication goes into *records (`all`:
 * exchanges with the first task too). Returns DONE, or the exit code after a complaint; call
 * comm_free and run_outcome_free in either case. */
int experiment_run(struct experiment *e, const char *program, const char *argument,
                   bool contention_free, bool all, struct comm_records *records,
                   struct run_outcome *out);

/* Copies a file (NULL: `text`) to e->input, since programs append to their input; *len: its octets.
 * False after a complaint. */
bool experiment_copy_input(const struct experiment *e, const char *file, const char *text,
                           long *len);

/* The ATM fabric of the next runs: sets what depends on it. To be closed by leat_fabric_close; NULL
 * after a complaint. */
struct leat_fabric *experiment_fabric(struct experiment *e, const char *word);

int experiment_compare(struct experiment *e);
int experiment_echo(struct experiment *e);
int experiment_linear(struct experiment *e);
int experiment_matrix(struct experiment *e);
int experiment_contention(struct experiment *e);
/* Without programs and their folder. */
int experiment_circuit(const struct arguments *args);

/* ---- what the thesis printed (experiment_published.c) ---- */

enum {
    PUBLISHED_DELAYS = 14,
    PUBLISHED_WITHOUT_CONTENTION = 9211, /* cycle of the last record, in a timeline made by hand */
};

struct published_delay {
    uint32_t octets, cycles;
};

extern const struct published_delay published_delays[PUBLISHED_DELAYS];
extern const char published_system[], published_product[];
/* Appendix K.3.1, what the tasks of that system did: proto/atm/vectors/apps/comm_experimental.csv,
 * as text (tool/CMakeLists.txt). */
extern const char published_records[];

#endif
