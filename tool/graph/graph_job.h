/* Shared by the parts of leat graph. */
#ifndef LEAT_GRAPH_JOB_H
#define LEAT_GRAPH_JOB_H

#include "tool.h"

#ifdef HAVE_EXPAT
#include "graph.h"
#include "graph_link.h"
#include "handler.h"

/* Prints the report on standard error; false: it has errors. */
bool graph_tell(const struct leat_graph_report *report);

/* --dialect. False after a complaint. */
bool graph_read_dialect(const struct arguments *args, enum leat_graph_dialect *out);

/* True, after a complaint: an option that does not apply here was given. */
bool graph_has_foreign(const struct arguments *args, const char *what, const char *known);

/* Opens the link to the other ranks of this run, over MPI. False after a complaint. */
bool graph_link_open(struct leat_poets_link *link);

/* All ranks read the same command line, and one complaint is enough: discards standard error until
 * the returned descriptor is restored. */
int graph_mute(void);
void graph_unmute(int before);

/* All ranks (NULL: there is one) report whether they succeeded, and what they have read. If not,
 * one of them prints the report. True: all succeeded. */
bool graph_agree(struct leat_poets_link *link, const struct leat_graph_report *report, bool good,
                 uint64_t fingerprint);

int graph_run(const struct arguments *args);

/* Describes a graph. */
void graph_show(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                bool json);

#endif
#endif
