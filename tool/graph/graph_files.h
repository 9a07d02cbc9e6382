/* Files that leat graph run writes: its packets as a capture, its final states as a snapshot. */
#ifndef LEAT_GRAPH_FILES_H
#define LEAT_GRAPH_FILES_H

#include "graph_job.h"

#ifdef HAVE_EXPAT
#include "graph_run.h"
#include "result_file.h"

enum { GRAPH_RECORD_MAX = 1000000000, GRAPH_RECORD_DEFAULT = 1000000 };

struct graph_files {
    struct result_file record, snapshot;
    uint64_t packets, packets_max; /* seen, and at most recorded */
};

/* Opens the files of --record and --snapshot, and observes the run. False after a complaint. */
bool graph_files_open(struct graph_files *files, const struct arguments *args,
                      struct leat_poets_run_options *run);
void graph_files_drop(struct graph_files *files);

/* After a run: writes the rest. False after a complaint. */
bool graph_files_close(struct graph_files *files, const struct leat_poets_run_options *run,
                       const struct leat_poets_machine *machine,
                       const struct leat_poets_run_result *result);

#endif
#endif
