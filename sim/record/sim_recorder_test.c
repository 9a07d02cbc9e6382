/* The recorder: octets as in the picture, and everything recorded can be read. */
#include "sim_recorder.h"
#include "sim_recording_test.h"
#include <leat/random.h>

static void every_record_is_the_octets_of_the_picture(void)
{
    static const uint8_t wanted[] = {
        'L',  'E',  'A',  'T',  'R', 'E',  'C',  2,    0x01, 0x90, 0x4e, 3, /* clock */
        0x02, 0,    3,    'n',  'e', 't',                                   /* group */
        0x03, 1,    1,    147,  1,   2,    'p',  '0',                       /* lane */
        0x04, 0,    0,    64,   1,   'q',                                   /* signal */
        0x05, 4,    'b',  'u',  's', 'y',  0x10, 2,    1,                   /* begin */
        0x06, 5,    0x12, 2,    1,   0x11, 2,                               /* time, end */
        0x06, 0x80, 1,    0x13, 3,   255,  255,  255,  255,  255,  255,  255,
        255,  255,  1,                        /* value */
        0x14, 2,    2,    3,    7,   8,    9, /* frame */
        0x15, 2,    1,    0,    0,   0,    0, /* flow */
        0x15, 2,    0,    5,    2,   0xac, 2,    0x80, 0x80, 0x80, 0x80, 0x10,
        0x16, 2,    1,        /* flow, place */
        0x06, 1,    0x1f, 16, /* close */
    };
    const uint8_t frame[] = { 7, 8, 9 };
    const struct leat_sim_flow nothing = { 0 };
    const struct leat_sim_flow message = {
        .message = 5, .peer = 2, .len = 300, .has_tag = true, .tag = UINT32_MAX
    };
    record_from_the_beginning();
    EQ(leat_sim_recorder_clock(&recorder, &(struct leat_sim_clock){ 10000, 3 }), 1);
    EQ(leat_sim_recorder_group(&recorder, 0, "net"), 1);
    EQ(leat_sim_recorder_lane(&recorder, 1, 1, 147, "p0"), 2);
    EQ(leat_sim_recorder_signal(&recorder, 0, 0, 64, "q"), 3);
    EQ(leat_sim_recorder_name(&recorder, "busy"), 1);
    leat_sim_record_begin(&recorder, 0, 2, 1);
    leat_sim_record_instant(&recorder, 5, 2, 1);
    leat_sim_record_end(&recorder, 5, 2);
    leat_sim_record_value(&recorder, 133, 3, UINT64_MAX);
    leat_sim_record_frame(&recorder, 133, 2, LEAT_SIM_OUT, frame, sizeof frame);
    leat_sim_record_flow(&recorder, 133, 2, LEAT_SIM_PASSES, &nothing);
    leat_sim_record_flow(&recorder, 133, 2, LEAT_SIM_LEAVES, &message);
    leat_sim_record_place(&recorder, 133, 2, 1);
    leat_sim_recorder_close(&recorder, 134);
    EQ(recorded_text.len, sizeof wanted);
    OK(memcmp(recorded, wanted, sizeof wanted) == 0);
    EQ(read_recorded(NULL, NULL), LEAT_ERR_OK);
    OK(reading.closed);
}

static void recording_off_is_no_recorder(void)
{
    leat_sim_record_begin(NULL, 0, 1, 1);
    leat_sim_record_end(NULL, 0, 1);
    leat_sim_record_instant(NULL, 0, 1, 1);
    leat_sim_record_value(NULL, 0, 1, 1);
    leat_sim_record_frame(NULL, 0, 1, LEAT_SIM_IN, NULL, 0);
    leat_sim_record_flow(NULL, 0, 1, LEAT_SIM_LEAVES, &(struct leat_sim_flow){ 0 });
    leat_sim_record_place(NULL, 0, 1, 1);
    record_from_the_beginning();
    EQ(recorded_text.len, LEAT_SIM_RECORDING_HEAD_LEN);
    EQ(read_recorded(NULL, NULL), LEAT_ERR_OK);
    OK(reading.headed && !reading.closed);
}

/* ---- the campaign ------------------------------------------------------------------------- */

enum { EVENTS_MAX = 400, LANES = 5, SIGNALS = 4, NAMES = 3, FRAME_MAX = 80 };

/* Groups 1 and 2, then lanes 3..7, then signals 8..11 of these widths. */
static const uint8_t widths[SIGNALS] = { 1, 8, 33, 64 };

static struct leat_sim_event wanted_events[EVENTS_MAX];
static uint8_t wanted_frames[EVENTS_MAX][FRAME_MAX];
static int wanted_count, read_count, differing;

static void declare_all(void)
{
    char name[] = "lane0";
    record_from_the_beginning();
    leat_sim_recorder_clock(&recorder, &(struct leat_sim_clock){ 1, UINT64_MAX });
    leat_sim_recorder_group(&recorder, 0, "outer");
    leat_sim_recorder_group(&recorder, 1, "inner");
    for (uint32_t i = 0; i < LANES; i++, name[4]++)
        leat_sim_recorder_lane(&recorder, i % 3, i % 2, (uint16_t)(147 + i), name);
    for (uint32_t i = 0; i < SIGNALS; i++, name[4]++)
        leat_sim_recorder_signal(&recorder, 2, 1, widths[i], name);
    for (uint32_t i = 0; i < NAMES; i++, name[4]++)
        leat_sim_recorder_name(&recorder, name);
}

static struct leat_sim_flow draw_flow(struct leat_random *r)
{
    const uint32_t peer = (uint32_t)leat_random_below(r, LANES + 1);
    struct leat_sim_flow flow = { .peer = peer ? 2 + peer : 0 };
    flow.message = leat_random_next(r);
    flow.message >>= leat_random_below(r, 64);
    flow.len = leat_random_next(r);
    flow.len >>= leat_random_below(r, 64);
    flow.has_tag = leat_random_below(r, 2);
    if (!flow.has_tag) return flow;
    flow.tag = (uint32_t)(leat_random_next(r) >> 32);
    flow.tag >>= leat_random_below(r, 32);
    return flow;
}

static struct leat_sim_event draw_event(struct leat_random *r, leat_time at, uint8_t *frame,
                                        uint32_t depth[LANES])
{
    const uint32_t lane = (uint32_t)leat_random_below(r, LANES), name = 1 + lane % NAMES;
    struct leat_sim_event e = { .at = at, .track = 3 + lane };
    switch (leat_random_below(r, 7)) {
    case 0:
        e.kind = depth[lane] < LEAT_SIM_SPANS_MAX ? LEAT_SIM_BEGIN : LEAT_SIM_INSTANT;
        e.name = name;
        depth[lane] += e.kind == LEAT_SIM_BEGIN;
        return e;
    case 1:
        e.kind = depth[lane] ? LEAT_SIM_END : LEAT_SIM_INSTANT;
        e.name = name; /* each lane has one name for all its spans */
        depth[lane] -= e.kind == LEAT_SIM_END;
        return e;
    case 2:
        e.kind = LEAT_SIM_FRAME;
        e.direction = (leat_sim_direction)leat_random_below(r, 3);
        e.len = leat_random_below(r, FRAME_MAX + 1);
        leat_random_fill(r, frame, FRAME_MAX);
        e.octets = frame;
        return e;
    case 3:
        e.kind = LEAT_SIM_FLOW;
        e.step = (leat_sim_step)leat_random_below(r, 3);
        e.flow = draw_flow(r);
        return e;
    case 4:
        e.kind = LEAT_SIM_PLACE;
        e.name = name;
        return e;
    default: break;
    }
    const uint32_t signal = (uint32_t)leat_random_below(r, SIGNALS);
    e.kind = LEAT_SIM_VALUE;
    e.track = 8 + signal;
    e.value = leat_random_next(r) >> (64 - widths[signal]);
    e.value >>= leat_random_below(r, widths[signal]);
    return e;
}

static bool same_flow(const struct leat_sim_flow *a, const struct leat_sim_flow *b)
{
    return a->message == b->message && a->peer == b->peer && a->len == b->len &&
           a->has_tag == b->has_tag && a->tag == b->tag;
}

static bool same_event(const struct leat_sim_event *a, const struct leat_sim_event *b)
{
    return a->kind == b->kind && a->at == b->at && a->track == b->track && a->name == b->name &&
           a->value == b->value && a->direction == b->direction && a->step == b->step &&
           same_flow(&a->flow, &b->flow) && a->len == b->len &&
           (!a->len || memcmp(a->octets, b->octets, a->len) == 0);
}

static void compare(const struct leat_sim_event *e, void *user)
{
    (void)user;
    if (e->kind < LEAT_SIM_BEGIN || e->kind == LEAT_SIM_CLOSE) return;
    differing += read_count >= wanted_count || !same_event(e, &wanted_events[read_count]);
    read_count++;
}

static void record_at_random(struct leat_random *r)
{
    uint32_t depth[LANES] = { 0 };
    leat_time at = 0;
    declare_all();
    wanted_count = (int)leat_random_below(r, EVENTS_MAX + 1);
    for (int i = 0; i < wanted_count; i++) {
        if (leat_random_below(r, 2)) {
            const uint64_t bits = leat_random_next(r);
            at += bits >> (6 + leat_random_below(r, 58)) >> 8;
        }
        wanted_events[i] = draw_event(r, at, wanted_frames[i], depth);
        leat_sim_recorder_put(&recorder, &wanted_events[i]);
    }
    leat_sim_recorder_close(&recorder, at + leat_random_below(r, 2));
}

static void what_is_recorded_is_read_again(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < 20 + LEAT_ROUNDS / 1000; k++) {
        record_at_random(&r);
        read_count = differing = 0;
        const leat_err err = read_recorded(compare, NULL);
        OK(!err && reading.closed && !differing && read_count == wanted_count);
        EQ(reading.records, recorder.records);
    }
}

static void sink_of_64(struct leat_text *text)
{
    struct leat_text *all = text->user;
    leat_text_put(all, text->buf, text->len);
    text->len = 0;
}

static void a_recording_leaves_through_the_smallest_buffer(void)
{
    static char all[sizeof recorded];
    char small[LEAT_TEXT_CAP_MIN];
    struct leat_text whole, text;
    record_sample();
    leat_text_init(&whole, all, sizeof all, NULL, NULL);
    leat_text_init(&text, small, sizeof small, sink_of_64, &whole);
    leat_sim_recorder_init(&recorder, &text);
    leat_sim_recorder_group(&recorder, 0, "net");
    leat_sim_recorder_lane(&recorder, 1, 0, 147, "lane");
    for (uint64_t i = 0; i < 100; i++)
        leat_sim_record_frame(&recorder, i, 2, LEAT_SIM_IN, (const uint8_t *)recorded, 100);
    leat_sim_recorder_close(&recorder, 100);
    sink_of_64(&text);
    size_t stopped_at;
    EQ(read_octets((const uint8_t *)all, whole.len, NULL, NULL, &stopped_at), LEAT_ERR_OK);
    OK(reading.closed);
    EQ(stopped_at, whole.len);
}

TAP_MAIN(T(every_record_is_the_octets_of_the_picture), T(recording_off_is_no_recorder),
         T(what_is_recorded_is_read_again), T(a_recording_leaves_through_the_smallest_buffer))
