/*
 * The values and spans of a recording as waveforms in picoseconds. A signal has its values (unknown
 * until the first). A lane has the number of the name of its innermost open span, 0 for none.
 * Groups are modules. Characters that VCD does not allow in names become _.
 */
#ifndef LEAT_SIM_EXPORT_VCD_H
#define LEAT_SIM_EXPORT_VCD_H

#include "leat_text.h"
#include "leat_vcd.h"
#include "sim_recording.h"

/* About two megabytes: too large for the stack. */
struct leat_sim_export_vcd {
    const struct leat_sim_recording *rec;
    struct leat_vcd vcd;
    bool started;
    uint32_t signal[LEAT_SIM_TRACKS_MAX + 1]; /* number in the VCD file, by lane or signal */
    struct leat_vcd_signal signals[LEAT_SIM_TRACKS_MAX];
};

/* Writes the header. Both are lent until the last event. */
void leat_sim_export_vcd_init(struct leat_sim_export_vcd *x, const struct leat_sim_recording *rec,
                              struct leat_text *out);

/* Call it for every event of the recording, right after it was read. */
void leat_sim_export_vcd_event(struct leat_sim_export_vcd *x, const struct leat_sim_event *e);

#endif
