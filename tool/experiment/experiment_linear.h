/* The records of `leat experiment linear|matrix|contention`, between what measures them
 * (experiment_linear.c) and what draws them (experiment_linear_page.c). */
#ifndef LEAT_TOOL_EXPERIMENT_LINEAR_H
#define LEAT_TOOL_EXPERIMENT_LINEAR_H

#include "comm.h"
#include "experiment.h"
#include "leat_text.h"

enum linear_tracks {
    LINEAR_MEASURED,
    LINEAR_RULE,  /* the same records by the thesis' rule */
    LINEAR_APART, /* a run in which cells never meet */
    LINEAR_PUBLISHED,
    LINEAR_PUBLISHED_RULE,
    LINEAR_TRACKS,
};

struct linear_track {
    struct comm_records records; /* none: this track is not there */
    uint64_t *by_rule;           /* the cycles that hold; NULL: those of the records */
};

/* One of both programs with this input, with and without contention. */
struct linear_outcome {
    uint64_t cycle, cycle_alone; /* of the last record of its workers */
    uint64_t cells_lost, cells_again, certificate;
    size_t reordered; /* records at another position at their port without contention */
    uint32_t tasks;
    char *written; /* by the program; to be freed */
};

/* DONE, or a code after a complaint; then what is known so far. */
int linear_measure(struct experiment *e, bool is_matrix, const char *input,
                   struct linear_outcome *out);

/* The thesis' figure 11.18 with these tracks. `fabric` NULL: the records are those of a file. */
void linear_page(const char *fabric, const char *name, const struct linear_track *track,
                 struct leat_text *text);

#endif
