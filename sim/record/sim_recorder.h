/*
 * The recorder writes the events of a run as a recording (sim_recording.h has the picture). Declare
 * clocks and tracks first, then record events in order of time, then close it.
 *
 *   lane = leat_sim_recorder_lane(&r, group, clock, LEAT_LINK_USER0, "port3");
 *   busy = leat_sim_recorder_name(&r, "busy");
 *   ...
 *   leat_sim_record_begin(recorder, now_ps, lane, busy);      recorder == NULL: off, one branch
 *
 * Numbers start at 1; 0 means no parent or no clock. The octets go to a leat_text. The limits of
 * sim_recording.h and the order of time are asserted. The reader checks kinds of tracks, lengths of
 * paths, nesting of spans and widths of values: the recorder does not store tracks.
 */
#ifndef LEAT_SIM_RECORDER_H
#define LEAT_SIM_RECORDER_H

#include "leat_text.h"
#include "sim_recording.h"

struct leat_sim_recorder {
    struct leat_text *out;
    leat_time now;
    uint64_t records;
    uint32_t clocks, tracks, names, strings_len;
    bool eventful, closed;
};

/* Writes the header. `out` is lent until close. */
void leat_sim_recorder_init(struct leat_sim_recorder *r, struct leat_text *out);

/* Each returns the new number. Only names may still be declared after the first event. */
uint32_t leat_sim_recorder_clock(struct leat_sim_recorder *r, const struct leat_sim_clock *clock);
uint32_t leat_sim_recorder_group(struct leat_sim_recorder *r, uint32_t parent, const char *name);
uint32_t leat_sim_recorder_lane(struct leat_sim_recorder *r, uint32_t parent, uint32_t clock,
                                uint16_t link_type, const char *name);
uint32_t leat_sim_recorder_signal(struct leat_sim_recorder *r, uint32_t parent, uint32_t clock,
                                  unsigned width, const char *name);
uint32_t leat_sim_recorder_name(struct leat_sim_recorder *r, const char *name);

/* Any event except CLOSE, with the fields of its kind. */
void leat_sim_recorder_put(struct leat_sim_recorder *r, const struct leat_sim_event *e);

/* The recording ends at `at`. The caller flushes the text. */
void leat_sim_recorder_close(struct leat_sim_recorder *r, leat_time at);

static inline void leat_sim_record_begin(struct leat_sim_recorder *r, leat_time at, uint32_t lane,
                                         uint32_t name)
{
    if (r)
        leat_sim_recorder_put(r,
                              &(struct leat_sim_event){
                                  .kind = LEAT_SIM_BEGIN, .at = at, .track = lane, .name = name });
}

static inline void leat_sim_record_end(struct leat_sim_recorder *r, leat_time at, uint32_t lane)
{
    if (r)
        leat_sim_recorder_put(
            r, &(struct leat_sim_event){ .kind = LEAT_SIM_END, .at = at, .track = lane });
}

static inline void leat_sim_record_instant(struct leat_sim_recorder *r, leat_time at, uint32_t lane,
                                           uint32_t name)
{
    if (r)
        leat_sim_recorder_put(
            r, &(struct leat_sim_event){
                   .kind = LEAT_SIM_INSTANT, .at = at, .track = lane, .name = name });
}

static inline void leat_sim_record_value(struct leat_sim_recorder *r, leat_time at, uint32_t signal,
                                         uint64_t value)
{
    if (r)
        leat_sim_recorder_put(
            r, &(struct leat_sim_event){
                   .kind = LEAT_SIM_VALUE, .at = at, .track = signal, .value = value });
}

static inline void leat_sim_record_frame(struct leat_sim_recorder *r, leat_time at, uint32_t lane,
                                         leat_sim_direction direction, const uint8_t *octets,
                                         size_t len)
{
    if (r)
        leat_sim_recorder_put(r, &(struct leat_sim_event){ .kind = LEAT_SIM_FRAME,
                                                           .at = at,
                                                           .track = lane,
                                                           .direction = direction,
                                                           .octets = octets,
                                                           .len = len });
}

static inline void leat_sim_record_flow(struct leat_sim_recorder *r, leat_time at, uint32_t lane,
                                        leat_sim_step step, const struct leat_sim_flow *flow)
{
    if (r)
        leat_sim_recorder_put(
            r, &(struct leat_sim_event){
                   .kind = LEAT_SIM_FLOW, .at = at, .track = lane, .step = step, .flow = *flow });
}

static inline void leat_sim_record_place(struct leat_sim_recorder *r, leat_time at, uint32_t lane,
                                         uint32_t name)
{
    if (r)
        leat_sim_recorder_put(r,
                              &(struct leat_sim_event){
                                  .kind = LEAT_SIM_PLACE, .at = at, .track = lane, .name = name });
}

#endif
