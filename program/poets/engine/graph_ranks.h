/* What the engine over ranks and its last act, gathering, share. */
#ifndef LEAT_GRAPH_RANKS_H
#define LEAT_GRAPH_RANKS_H

#include "graph_link.h"
#include "graph_run_parts.h"

/* Kinds of notes. Numbers are in this order. */
enum {
    LEAT_POETS_NOTE_PROBE = 1, /* wave */
    LEAT_POETS_NOTE_COUNTS,    /* wave, sent, received: the sender is passive */
    LEAT_POETS_NOTE_IDLE,      /* all are: OnHardwareIdle, then vote */
    LEAT_POETS_NOTE_VOTE,      /* is it content? */
    LEAT_POETS_NOTE_RESUME,    /* all have voted */
    LEAT_POETS_NOTE_EXIT,      /* code that a handler asked for */
    LEAT_POETS_NOTE_INTERRUPT, /* signal */
    LEAT_POETS_NOTE_END,       /* reason, exit code, signal */
    LEAT_POETS_NOTE_TOTALS,    /* what a rank has counted */
    LEAT_POETS_NOTE_PULL,      /* the next piece of states is wanted, on the data channel */
    LEAT_POETS_NOTE_BYE,
};

/* Once the run is over on all ranks, and nothing is under way: what all have counted, and the hash
 * of all states, into rank 0's result. */
void leat_poets_ranks_gather(const struct leat_poets_run *run, struct leat_poets_run_result *out);

#endif
