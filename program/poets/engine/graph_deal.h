/*
 * A large file read by all ranks together: each reads a slice of it, and keeps the edges of its own
 * devices, which the order of the file or chance gives it (not locality: that needs all edges).
 *
 *   slice --devices, to all--> names become numbers --edges, to the ranks of both their ends-->
 *   edges sorted by pin --their numbers at remote inputs--> an instance as if read whole
 *
 * All ranks have all devices, by name and type; values and edges only of their own. Externals
 * belong to rank 0.
 */
#ifndef LEAT_GRAPH_DEAL_H
#define LEAT_GRAPH_DEAL_H

#include "graph_link.h"
#include "graph_place.h"

struct leat_poets_deal {
    enum leat_poets_placement placement;
    uint32_t threads; /* wanted */
    uint64_t seed;
    uint64_t edges, cut; /* result: of the whole file, and those between ranks */
};

/* All ranks call it. False, for all of them: the file is not sound, or cannot be read in slices;
 * leat_graph_read has the reasons. Free the graph in either case. */
bool leat_poets_deal_graph(struct leat_graph *graph, const char *file,
                           enum leat_graph_dialect dialect, struct leat_poets_link *link,
                           struct leat_poets_deal *deal);

#endif
