/*
 * The values and spans of a recording as waveforms in picoseconds: a signal has its values (unknown
 * until the first), a lane the number of the name of its innermost open span, 0 for none. Groups
 * are modules. Where a name has characters that waveforms do not allow, they become _.
 */
#ifndef LEAT_SIM_EXPORT_VCD_H
#define LEAT_SIM_EXPORT_VCD_H

#include "leat_text.h"
#include "leat_vcd.h"
#include "sim_recording.h"

/* About two megabytes: not for the stack. */
struct leat_sim_export_vcd {
    const struct leat_sim_recording *rec;
    struct leat_vcd vcd;
    bool started;
    uint32_t signal[LEAT_SIM_TRACKS_MAX + 1]; /* of a lane or signal, for the waveform */
    struct leat_vcd_signal signals[LEAT_SIM_TRACKS_MAX];
};

/* Writes the head. Both are lent until the last event. */
void leat_sim_export_vcd_init(struct leat_sim_export_vcd *x, const struct leat_sim_recording *rec,
                              struct leat_text *out);

/* Every event of the recording, right after it was read. */
void leat_sim_export_vcd_event(struct leat_sim_export_vcd *x, const struct leat_sim_event *e);

#endif
