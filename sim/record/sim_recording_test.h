/* Shared by the tests of recordings: a recording in memory, and a function that reads all of it. */
#ifndef LEAT_SIM_RECORDING_TEST_H
#define LEAT_SIM_RECORDING_TEST_H

#include "sim_recorder.h"
#include "tap.h"
#include <string.h>

static char recorded[1 << 20];
static struct leat_text recorded_text;
static struct leat_sim_recorder recorder;
static struct leat_sim_recording reading;

static inline void record_from_the_beginning(void)
{
    leat_text_init(&recorded_text, recorded, sizeof recorded, NULL, NULL);
    leat_sim_recorder_init(&recorder, &recorded_text);
}

/* A small example of everything: two ports of a switch with a clock of 10/3 ns, and a counter
 * without a group. */
static const uint8_t sample_cell[6] = { 0x12, 0x30, 0, 0, 0, 0xff };

static inline void record_sample(void)
{
    struct leat_sim_flow flow = { .message = UINT64_MAX, .len = 300, .has_tag = true, .tag = 7 };
    record_from_the_beginning();
    const uint32_t clock = leat_sim_recorder_clock(&recorder, &(struct leat_sim_clock){ 10000, 3 });
    const uint32_t net = leat_sim_recorder_group(&recorder, 0, "net");
    const uint32_t bmx = leat_sim_recorder_group(&recorder, net, "bmx[0]");
    const uint32_t in = leat_sim_recorder_lane(&recorder, bmx, clock, 147, "port 1");
    const uint32_t out = leat_sim_recorder_lane(&recorder, bmx, 0, 147, "2");
    const uint32_t size = leat_sim_recorder_signal(&recorder, bmx, clock, 9, "size");
    const uint32_t total = leat_sim_recorder_signal(&recorder, 0, 0, 64, "total");
    const uint32_t busy = leat_sim_recorder_name(&recorder, "busy");
    leat_sim_record_begin(&recorder, 0, in, busy);
    const uint32_t header = leat_sim_recorder_name(&recorder, "\"header\"");
    flow.peer = out;
    leat_sim_record_place(&recorder, 0, in, header);
    leat_sim_record_flow(&recorder, 0, in, LEAT_SIM_LEAVES, &flow);
    leat_sim_record_begin(&recorder, 3333, in, header);
    leat_sim_record_value(&recorder, 3333, size, 511);
    leat_sim_record_end(&recorder, 1016666, in);
    leat_sim_record_frame(&recorder, 1016666, in, LEAT_SIM_IN, sample_cell, 6);
    leat_sim_record_value(&recorder, 2000000, total, UINT64_MAX);
    leat_sim_record_frame(&recorder, 2000000, out, LEAT_SIM_OUT, sample_cell, 5);
    leat_sim_record_instant(&recorder, 2000000, out, header);
    leat_sim_record_frame(&recorder, 2000001, out, LEAT_SIM_NO_DIRECTION, sample_cell, 0);
    flow = (struct leat_sim_flow){ .message = UINT64_MAX };
    leat_sim_record_flow(&recorder, 2000001, out, LEAT_SIM_ARRIVES, &flow);
    leat_sim_recorder_close(&recorder, 3000000);
    OK(!recorded_text.overflowed);
}

/* Reads all octets and passes every event to `on_event`. Returns the error and its offset in the
 * whole. */
static inline leat_err read_octets(const uint8_t *octets, size_t len,
                                   void (*on_event)(const struct leat_sim_event *, void *),
                                   void *user, size_t *stopped_at)
{
    size_t at = 0;
    leat_sim_recording_init(&reading);
    for (;;) {
        struct leat_sim_event e;
        bool found;
        size_t used, fault_at = 0;
        const leat_err err = leat_sim_recording_next(&reading, octets + at, len - at, &e, &found,
                                                     &used, &fault_at);
        *stopped_at = at + fault_at;
        if (err || !used) return err;
        if (found && on_event) on_event(&e, user);
        at += used;
    }
}

static inline leat_err read_recorded(void (*on_event)(const struct leat_sim_event *, void *),
                                     void *user)
{
    size_t stopped_at;
    return read_octets((const uint8_t *)recorded, recorded_text.len, on_event, user, &stopped_at);
}

#endif
