/* The records of `leat experiment linear|matrix|contention`, between what measures them
 * (experiment_linear.c) and what draws them (experiment_linear_page.c). */
#ifndef LEAT_TOOL_EXPERIMENT_LINEAR_H
#define LEAT_TOOL_EXPERIMENT_LINEAR_H

#include "comm.h"
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

/* The thesis' figure 11.18 with these tracks. `fabric` NULL: the records are those of a file. */
void linear_page(const char *fabric, const char *name, const struct linear_track *track,
                 struct leat_text *text);

#endif
