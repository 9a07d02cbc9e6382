/* What the parts of leat graph share. */
#ifndef LEAT_GRAPH_JOB_H
#define LEAT_GRAPH_JOB_H

#include "tool.h"

#ifdef HAVE_EXPAT
#include "graph.h"
#include "graph_link.h"
#include "handler.h"

/* All mistakes on standard error; false: one of them is an error. */
bool graph_tell(const struct leat_graph_report *report);

/* --dialect. False after a complaint. */
bool graph_read_dialect(const struct arguments *args, enum leat_graph_dialect *out);

/* An option that this part does not know: true, after a complaint. */
bool graph_has_foreign(const struct arguments *args, const char *what, const char *known);

/* To the other ranks of this run, over MPI. False after a complaint. */
bool graph_link_open(struct leat_poets_link *link);

/* All ranks read the same words, and one complaint is enough: standard error leads nowhere, until
 * what this returns is given back. */
int graph_mute(void);
void graph_unmute(int before);

/* All ranks (NULL: there is one) say whether all is well with them, and what they have read. What
 * is in the report is told where it is not, by one of them. True: all is well everywhere. */
bool graph_agree(struct leat_poets_link *link, const struct leat_graph_report *report, bool good,
                 uint64_t fingerprint);

int graph_run(const struct arguments *args);

/* What a graph is made of. */
void graph_show(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                bool json);

#endif
#endif
