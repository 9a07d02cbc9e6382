/*
 * A recording as a trace in JSON, for ui.perfetto.dev and chrome://tracing:
 *
 *   group    a process, named by its path         span     B and E; those open at the end are ended
 *   lane     a thread                             instant  i
 *   signal   a counter of its group, C            frame    i, with length, link type, direction
 *                                                 flow     s, t, f: arrows between spans, with
 *                                                          length and tag; of a collective
 *                                                          operation with its group and number;
 *                                                          of a packet outside of spans at one
 *                                                          without length, X
 *                                                 place    i, "at ..."
 *
 * Time is in microseconds, exact to the picosecond; on tracks with a clock, args.cycle has the
 * cycle. Lanes and signals without a group belong to a process named "recording".
 */
#ifndef LEAT_SIM_EXPORT_PERFETTO_H
#define LEAT_SIM_EXPORT_PERFETTO_H

#include "leat_json.h"
#include "sim_recording.h"

struct leat_sim_export_perfetto {
    const struct leat_sim_recording *rec;
    struct leat_json json;
    bool orphans; /* the process of tracks without a group is declared */
};

/* Writes the header. Both are lent until the last event. */
void leat_sim_export_perfetto_init(struct leat_sim_export_perfetto *x,
                                   const struct leat_sim_recording *rec, struct leat_text *out);

/* Call it for every event of the recording, right after it was read. */
void leat_sim_export_perfetto_event(struct leat_sim_export_perfetto *x,
                                    const struct leat_sim_event *e);

#endif
