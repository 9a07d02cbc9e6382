/* Shared by the parts of this folder; leat_graph_grow also serves handlers and engines. */
#ifndef LEAT_GRAPH_PARTS_H
#define LEAT_GRAPH_PARTS_H

#include "graph.h"

/* Room for one more in a list that grows by half; `limit` items at most. */
bool leat_graph_grow(void **list, uint32_t count, uint32_t *cap, size_t size, uint32_t limit);

/* All checks that need the whole file. */
void leat_graph_check_types(struct leat_graph *graph);
void leat_graph_join(struct leat_graph *graph, struct leat_graph_instance *instance);

/* Its parts: names become numbers; pins get numbers, and edges are sorted by them. False: the
 * report says why. */
bool leat_graph_join_names(struct leat_graph *graph, struct leat_graph_instance *instance);
bool leat_graph_link(struct leat_graph *graph, struct leat_graph_instance *instance);
/* Frees the lists of this part. */
void leat_graph_unlink(struct leat_graph_instance *instance);

#endif
