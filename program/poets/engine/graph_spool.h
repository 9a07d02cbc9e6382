/*
 * A recording over ranks. Each keeps the packets that it sends in a temporary file; after the run
 * rank 0 gets them all in the order of their times, equal ones in the order of ranks, and shows
 * them to the observer. Ranks of one machine have one clock; a rank of another machine counts from
 * its own start.
 */
#ifndef LEAT_GRAPH_SPOOL_H
#define LEAT_GRAPH_SPOOL_H

#include "graph_run.h"
#include "graph_streams.h"
#include <stdio.h>

struct leat_poets_spool {
    FILE *file;        /* NULL: nothing is recorded */
    uint64_t began_ns; /* by the clock of this machine */
    uint64_t count;
};

/* False: `errno` says why. */
bool leat_poets_spool_open(struct leat_poets_spool *spool, uint64_t began_ns);
void leat_poets_spool_close(struct leat_poets_spool *spool);

void leat_poets_spool_put(struct leat_poets_spool *spool, uint64_t time_ns, bool to_host,
                          uint32_t address, const uint8_t *packet, unsigned nflit);

/* On all ranks, at the end. False: a file could not be written or read, which is reported, or there
 * is no memory. */
bool leat_poets_spool_merge(struct leat_poets_spool *spool,
                            const struct leat_poets_run_watch *watch,
                            struct leat_poets_streams *streams);

#endif
