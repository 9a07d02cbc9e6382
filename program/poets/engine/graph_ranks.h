/* What the engine over ranks and its final gathering step share. */
#ifndef LEAT_GRAPH_RANKS_H
#define LEAT_GRAPH_RANKS_H

#include "graph_link.h"
#include "graph_run_parts.h"

/* Kinds of notes. Numbers are in this order. */
enum {
    LEAT_POETS_NOTE_PROBE = 1, /* wave */
    LEAT_POETS_NOTE_COUNTS,    /* wave, sent, received: the sender is passive */
    LEAT_POETS_NOTE_IDLE,      /* all ranks are idle: OnHardwareIdle, then vote */
    LEAT_POETS_NOTE_VOTE,      /* does the rank agree to end? */
    LEAT_POETS_NOTE_RESUME,    /* all have voted */
    LEAT_POETS_NOTE_EXIT,      /* code that a handler asked for */
    LEAT_POETS_NOTE_INTERRUPT, /* signal */
    LEAT_POETS_NOTE_END,       /* reason, exit code, signal */
    LEAT_POETS_NOTE_TOTALS,    /* counters of a rank */
    LEAT_POETS_NOTE_PULL,      /* requests the next piece of states, on the data channel */
    LEAT_POETS_NOTE_BYE,
};

/* After the run is over on all ranks, with nothing in flight: collects all counters and the hash of
 * all states into rank 0's result. */
void leat_poets_ranks_gather(const struct leat_poets_run *run, struct leat_poets_run_result *out);

#endif
