/* What the parts of this folder share. */
#ifndef LEAT_GRAPH_PARTS_H
#define LEAT_GRAPH_PARTS_H

#include "graph.h"

/* Room for one more in a list that grows by half; `limit` items at most. */
bool leat_graph_grow(void **list, uint32_t count, uint32_t *cap, size_t size, uint32_t limit);

/* Creates the parent folders of a path. The path is modified and restored. */
bool leat_graph_make_parents(char *path);

/* A folder that only the user can write, created if missing, as a descriptor. -1: `why` says why;
 * another user may have made it, or a link of this name. */
int leat_graph_own_folder(const char *path, char *why, size_t cap);

/* All checks that need the whole file. */
void leat_graph_check_types(struct leat_graph *graph);
void leat_graph_join(struct leat_graph *graph, struct leat_graph_instance *instance);

/* The last part of joining, for an instance with numbers instead of names: pins get numbers, edges
 * are sorted by them. False: the report says why. */
bool leat_graph_link(struct leat_graph *graph, struct leat_graph_instance *instance);

#endif
