/* --view of leat run: states of tasks, messages, simulated time. */
#ifndef LEAT_RUN_VIEW_H
#define LEAT_RUN_VIEW_H

#include "hub.h"
#include "watch.h"

/* A run begins. */
void run_view_begin(void);

/* A sample, where the hub runs. */
void run_view_put(const struct leat_hub *hub);

#endif
