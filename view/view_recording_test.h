/* A small recording in a file, for tests. */
#ifndef VIEW_RECORDING_TEST_H
#define VIEW_RECORDING_TEST_H

#include "sim_recorder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDING_LINK = 149, RECORDING_CAP = 1 << 16 };

static struct {
    char path[64];
    uint8_t octets[RECORDING_CAP];
    size_t len;
} recording;

/* Two kinds of frames, `frames` in all, on one lane. */
static void recording_make(unsigned frames)
{
    static const uint8_t frame[2][3] = { { 1, 2, 3 }, { 1, 2, 255 } };
    struct leat_text text;
    struct leat_sim_recorder r;
    const struct leat_sim_clock clock = { .num = 10, .den = 1 };
    leat_text_init(&text, (char *)recording.octets, sizeof recording.octets, NULL, NULL);
    leat_sim_recorder_init(&r, &text);
    const uint32_t ticks = leat_sim_recorder_clock(&r, &clock);
    const uint32_t lane = leat_sim_recorder_lane(&r, 0, ticks, RECORDING_LINK, "lane");
    for (unsigned i = 0; i < frames; i++)
        leat_sim_recorder_put(&r, &(struct leat_sim_event){ .kind = LEAT_SIM_FRAME,
                                                            .at = 10 * (i + 1),
                                                            .track = lane,
                                                            .direction = LEAT_SIM_IN,
                                                            .octets = frame[i % 2],
                                                            .len = sizeof *frame });
    leat_sim_recorder_close(&r, 10 * (frames + 1));
    recording.len = text.len;
}

/* These octets in a new file. */
static void recording_write(const void *octets, size_t len)
{
    strcpy(recording.path, "/tmp/leat_view_test.XXXXXX");
    const int fd = mkstemp(recording.path);
    if (fd < 0 || write(fd, octets, len) != (ssize_t)len) abort();
    close(fd);
}

#endif
