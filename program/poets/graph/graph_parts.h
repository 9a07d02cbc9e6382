/* What the parts of this folder share. */
#ifndef LEAT_GRAPH_PARTS_H
#define LEAT_GRAPH_PARTS_H

#include "graph.h"

/* Room for one more in a list that grows by halves; `limit` items at most. */
bool leat_graph_grow(void **list, uint32_t count, uint32_t *cap, size_t size, uint32_t limit);

/* The folders that a path goes through, all but its last part. The path is changed and changed
 * back.
 */
bool leat_graph_make_parents(char *path);

/* A folder that only the user can write, made where it is not there, as a descriptor. -1: `why`
 * tells it; another user may have made it, or a link of this name. */
int leat_graph_own_folder(const char *path, char *why, size_t cap);

/* All that can be said once the whole file is there. */
void leat_graph_check_types(struct leat_graph *graph);
void leat_graph_join(struct leat_graph *graph, struct leat_graph_instance *instance);

/* The last part of joining: pins get numbers, edges are sorted by them. For an instance that has
 * numbers instead of names. False: the report says why. */
bool leat_graph_link(struct leat_graph *graph, struct leat_graph_instance *instance);

#endif
