/*
 * Reads a snapshot (graph_snapshot.h) of a run that was held, or was idle: states, and what devices
 * want, so that a run with options.resumes goes on from there.
 */
#ifndef LEAT_GRAPH_RESTORE_H
#define LEAT_GRAPH_RESTORE_H

#include "graph_machine.h"

/* All of the file is checked, also of devices on other ranks. False: mistakes are in the graph's
 * report, and the machine is only to be freed. */
bool leat_poets_machine_restore(struct leat_poets_machine *machine, const char *file,
                                uint32_t *idle_steps);

#endif
