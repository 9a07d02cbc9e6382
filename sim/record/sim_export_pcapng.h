/*
 * The frames of a recording as a capture. Each lane and direction with frames is an interface,
 * named by the lane's path ("net.port3", "net.port3 in", "net.port3 out"), with the lane's link
 * type. Time is in nanoseconds since the start of the run.
 */
#ifndef LEAT_SIM_EXPORT_PCAPNG_H
#define LEAT_SIM_EXPORT_PCAPNG_H

#include "leat_text.h"
#include "sim_recording.h"

enum {
    LEAT_SIM_DIRECTIONS = 3,
    LEAT_SIM_BLOCK_EXTRA = 256, /* overhead of a frame, or of an interface with its name */
};

/* About a megabyte: too large for the stack. */
struct leat_sim_export_pcapng {
    const struct leat_sim_recording *rec;
    struct leat_text *out;
    uint32_t interface_count;
    uint32_t interface[LEAT_SIM_TRACKS_MAX + 1][LEAT_SIM_DIRECTIONS]; /* number + 1; 0: none yet */
    uint8_t block[LEAT_SIM_FRAME_LEN_MAX + LEAT_SIM_BLOCK_EXTRA];
};

/* Writes the header. Both are lent until the last event. */
void leat_sim_export_pcapng_init(struct leat_sim_export_pcapng *x,
                                 const struct leat_sim_recording *rec, struct leat_text *out);

/* Call it for every event of the recording, right after it was read. */
void leat_sim_export_pcapng_event(struct leat_sim_export_pcapng *x, const struct leat_sim_event *e);

#endif
