/* --view of leat sim: accepted load, latency and what is in flight, as curves over cycles. */
#ifndef LEAT_SIM_VIEW_H
#define LEAT_SIM_VIEW_H

#include "pieces.h"

/* Columns of a sample. Latencies are a sum over what was delivered, and how many they are. */
enum {
    SIM_VIEW_ACCEPTED = PIECES_COLUMN,
    SIM_VIEW_LATENCY_SUM,
    SIM_VIEW_LATENCY_COUNT,
    SIM_VIEW_IN_FLIGHT,
    SIM_VIEW_END
};

struct sim_view {
    double load_of_one; /* what is counted in SIM_VIEW_ACCEPTED, one in a cycle, as a load */
    const char *load_unit, *in_flight_unit;
};

/* Of the next run. `take` is called between its pieces. */
void sim_view(const struct sim_view *view, void (*take)(void *, struct watch_sample *),
              void *context);

#endif
