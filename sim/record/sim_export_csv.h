/*
 * A recording as a table: a line of names, then a line for every event (RFC 4180), for spreadsheets
 * and scripts. What an event does not have is empty.
 *
 *   time_ps  event    track       name            value  message  peer    length  tag
 *   -------  -------  ----------  --------------  -----  -------  ------  ------  ---
 *   0        place    the lane    the place
 *   0        begin    the lane    of the span                                           end:
 * likewise 0        instant  the lane    its own 0        value    the signal                  its
 * value 0        frame    the lane    in, out, none                           octets 0 leaves   the
 * lane                           number   a lane  octets  tag   passes, arrives too 0        close
 * the end
 *
 * Tracks and peers are named by their paths ("network.port3"), times are picoseconds since the run
 * began.
 */
#ifndef LEAT_SIM_EXPORT_CSV_H
#define LEAT_SIM_EXPORT_CSV_H

#include "leat_text.h"
#include "sim_recording.h"

struct leat_sim_export_csv {
    const struct leat_sim_recording *rec;
    struct leat_text *out;
};

/* Writes the line of names. Both are lent until the last event. */
void leat_sim_export_csv_init(struct leat_sim_export_csv *x, const struct leat_sim_recording *rec,
                              struct leat_text *out);

/* Every event of the recording, right after it was read. */
void leat_sim_export_csv_event(struct leat_sim_export_csv *x, const struct leat_sim_event *e);

#endif
