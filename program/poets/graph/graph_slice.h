/*
 * A file read in slices, so that several processes read it together: each reads its head, up to the
 * devices, and one slice of what follows.
 *
 *   <Graphs> types <DeviceInstances> | DevI DevI | DevI </...><EdgeInstances> EdgeI | EdgeI ... end
 *                head                  slice 0     slice 1                           slice 2
 *
 * A slice begins at the first text that looks like a device or an edge in its share of the file. If
 * that is within a comment, the slice before does not end between two elements, which its reader
 * notices. So if all slices are read, nothing is lost or read twice.
 */
#ifndef LEAT_GRAPH_SLICE_H
#define LEAT_GRAPH_SLICE_H

#include "graph.h"

struct leat_graph_slice {
    uint64_t head_len, from, to, file_len;
    bool from_edges, to_edges; /* it begins, it ends among edges; otherwise among devices */
    bool empty;                /* the slices before have all */
    uint32_t breaks;           /* newlines in it, once it has been read */
};

/* Slice `number` of `count`. False: the file has no devices, or cannot be read. */
bool leat_graph_slice_find(struct leat_graph_slice *slice, const char *file, uint32_t number,
                           uint32_t count);

/* Types, and the only instance with the devices and edges of a slice: they are not joined, and
 * lines are counted as if the slice followed the head. False: it has errors or warnings, or cannot
 * be read in slices: leat_graph_read has the reasons. Free it in either case. */
bool leat_graph_read_slice(struct leat_graph *graph, const char *file,
                           enum leat_graph_dialect dialect, struct leat_graph_slice *slice,
                           uint32_t number, uint32_t count);

#endif
