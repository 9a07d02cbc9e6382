/* What the parts of leat graph share. */
#ifndef LEAT_GRAPH_JOB_H
#define LEAT_GRAPH_JOB_H

#include "tool.h"

#ifdef HAVE_EXPAT
#include "graph.h"
#include "handler.h"

/* All mistakes on standard error; false: one of them is an error. */
bool graph_tell(const struct leat_graph_report *report);

/* --dialect. False after a complaint. */
bool graph_read_dialect(const struct arguments *args, enum leat_graph_dialect *out);

/* An option that this part does not know: true, after a complaint. */
bool graph_has_foreign(const struct arguments *args, const char *what, const char *known);

int graph_run(const struct arguments *args);

/* What a graph is made of. */
void graph_show(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                bool json);

#endif
#endif
