/*
 * A recording as a table: a header line, then a line for every event (RFC 4180), for spreadsheets
 * and scripts. Fields that an event does not have are empty.
 *
 *   time_ps  event    track       name            value  message  peer    length  tag
 *   -------  -------  ----------  --------------  -----  -------  ------  ------  ---
 *   0        place    the lane    the place
 *   0        begin    the lane    of the span                                          (end too)
 *   0        instant  the lane    its own
 *   0        value    the signal                  its value
 *   0        frame    the lane    in, out, none                           octets
 *   0        leaves   the lane                           number   a lane  octets  tag  (passes,
 *   0        close    the end                                                          arrives too)
 *
 * Tracks and peers are named by their paths ("network.port3"). Times are picoseconds since the
 * start of the run.
 */
#ifndef LEAT_SIM_EXPORT_CSV_H
#define LEAT_SIM_EXPORT_CSV_H

#include "leat_text.h"
#include "sim_recording.h"

struct leat_sim_export_csv {
    const struct leat_sim_recording *rec;
    struct leat_text *out;
};

/* Writes the header line. Both are lent until the last event. */
void leat_sim_export_csv_init(struct leat_sim_export_csv *x, const struct leat_sim_recording *rec,
                              struct leat_text *out);

/* Call it for every event of the recording, right after it was read. */
void leat_sim_export_csv_event(struct leat_sim_export_csv *x, const struct leat_sim_event *e);

#endif
