/* Frames of a recording, read again by the reader of captures. */
#include "sim_export_pcapng.h"
#include "sim_export_test.h"
#include <leat/capture.h>
#include <leat/random.h>

static struct leat_sim_export_pcapng x;
static struct leat_capture capture;

static void export(const struct leat_sim_event *e, void *user)
{
    (void)user;
    leat_sim_export_pcapng_event(&x, e);
}

static void export_all(void)
{
    export_from_the_beginning();
    leat_sim_export_pcapng_init(&x, &reading, &exported_text);
    EQ(read_recorded(export, NULL), LEAT_ERR_OK);
    leat_capture_init(&capture);
}

/* The next packet, from *at on; false at the end. */
static bool next_packet(size_t *at, struct leat_capture_packet *p)
{
    bool found = false;
    size_t used, wanted;
    while (*at < exported_text.len && !found) {
        const leat_err err = leat_capture_next(&capture, (const uint8_t *)exported + *at,
                                               exported_text.len - *at, p, &found, &used, &wanted);
        OK(!err && used);
        if (err || !used) return false;
        *at += used;
    }
    return found;
}

static void frames_come_out_with_time_and_link_type(void)
{
    struct leat_capture_packet p;
    size_t at = 0;
    record_sample();
    export_all();
    OK(next_packet(&at, &p));
    EQ(p.len, 6);
    EQ(p.time_ns, 1016); /* 1016666 ps */
    EQ(p.link_type, 147);
    OK(memcmp(p.octets, sample_cell, 6) == 0);
    OK(next_packet(&at, &p));
    EQ(p.len, 5);
    EQ(p.time_ns, 2000);
    OK(next_packet(&at, &p));
    EQ(p.len, 0);
    EQ(p.time_ns, 2000);
    OK(!next_packet(&at, &p));
    EQ(capture.interface_count, 3);
    exported_string();
}

static bool is_in_export(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i + len <= exported_text.len; i++)
        if (memcmp(exported + i, text, len) == 0) return true;
    return false;
}

static void interfaces_are_named_by_path_and_direction(void)
{
    record_sample();
    export_all();
    OK(is_in_export("net.bmx[0].port 1 in"));
    OK(is_in_export("net.bmx[0].2 out"));
    OK(!is_in_export("net.bmx[0].port 1 out"));
}

static void a_recording_without_frames_is_an_empty_capture(void)
{
    struct leat_capture_packet p;
    size_t at = 0;
    record_from_the_beginning();
    leat_sim_recorder_lane(&recorder, 0, 0, 147, "lane");
    leat_sim_recorder_close(&recorder, 5);
    export_all();
    OK(exported_text.len > 0);
    OK(!next_packet(&at, &p));
    EQ(capture.interface_count, 0);
}

static void frames_of_all_lengths_come_out_whole(void)
{
    static uint8_t frame[LEAT_SIM_FRAME_LEN_MAX];
    static const size_t lens[] = { 0, 1, 2, 3, 4, 53, 1500, LEAT_SIM_FRAME_LEN_MAX };
    struct leat_random r;
    struct leat_capture_packet p;
    size_t at = 0;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, frame, sizeof frame);
    record_from_the_beginning();
    leat_sim_recorder_lane(&recorder, 0, 0, 1, "lane");
    for (uint64_t i = 0; i < 8; i++)
        leat_sim_record_frame(&recorder, 1000 * i, 1, LEAT_SIM_IN, frame, lens[i]);
    leat_sim_recorder_close(&recorder, 8000);
    export_all();
    for (uint64_t i = 0; i < 8; i++) {
        OK(next_packet(&at, &p));
        EQ(p.len, lens[i]);
        EQ(p.time_ns, i);
        OK(memcmp(p.octets, frame, p.len) == 0);
    }
    EQ(capture.interface_count, 1);
}

TAP_MAIN(T(frames_come_out_with_time_and_link_type), T(interfaces_are_named_by_path_and_direction),
         T(a_recording_without_frames_is_an_empty_capture), T(frames_of_all_lengths_come_out_whole))
