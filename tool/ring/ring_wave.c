/* The registers of a ring's interfaces as waveforms, bit time by bit time. */
#include "leat_vcd.h"
#include "result_file.h"
#include "ring_job.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNALS = RING_WAVE_SIGNALS, PATH_CAP = 64 };

static const struct {
    const char *name;
    unsigned width;
} signals[SIGNALS] = {
    { "symbol", 2 }, /* before the interface: 0, 1, J, K */
    { "role", 2 },   { "field", 4 },    { "bit", 32 }, { "takes_part", 1 },
    { "carry", 1 },  { "relation", 2 }, { "x", 64 },   { "crc", 32 },
};

const char *ring_wave_name(uint32_t signal)
{
    return signals[signal].name;
}

unsigned ring_wave_width(uint32_t signal)
{
    return signals[signal].width;
}

void ring_wave_values(const struct leat_sim_aton *ring, uint32_t station,
                      uint64_t value[RING_WAVE_SIGNALS])
{
    const struct leat_aton_station *s = leat_sim_aton_station(ring, station);
    const uint64_t values[SIGNALS] = { leat_sim_aton_symbol(ring, station),
                                       s->role,
                                       s->in.phase,
                                       s->in.at,
                                       s->takes_part,
                                       s->carry,
                                       s->relation,
                                       s->x,
                                       s->crc_in };
    memcpy(value, values, sizeof values);
}

struct ring_wave {
    struct result_file file;
    struct leat_vcd vcd;
    struct leat_vcd_signal *signal;
};

static bool declare(struct ring_wave *w, const struct leat_sim_aton *ring)
{
    const size_t count = (size_t)ring->config.stations * SIGNALS;
    w->signal = calloc(count, sizeof *w->signal);
    if (!w->signal) return complain("no memory for waveforms");
    leat_err err = leat_vcd_init(&w->vcd, &w->file.out.text, "1 ns", w->signal, count);
    for (uint32_t i = 0; i < ring->config.stations && !err; i++)
        for (unsigned k = 0; k < SIGNALS && !err; k++) {
            char path[PATH_CAP];
            uint32_t number;
            snprintf(path, sizeof path, "ring.station[%u].%s", i + 1, signals[k].name);
            err = leat_vcd_declare(&w->vcd, path, signals[k].width, &number);
        }
    if (err) complain("waveforms: %s", leat_err_text(err));
    return !err;
}

struct ring_wave *ring_wave_open(const char *path, const struct leat_sim_aton *ring)
{
    struct ring_wave *w = calloc(1, sizeof *w);
    if (!w) {
        complain("no memory for waveforms");
        return NULL;
    }
    if (!result_file_open(&w->file, path) || !declare(w, ring)) {
        result_file_drop(&w->file);
        free(w->signal);
        free(w);
        return NULL;
    }
    leat_vcd_start(&w->vcd);
    ring_wave_step(w, ring);
    return w;
}

void ring_wave_step(struct ring_wave *w, const struct leat_sim_aton *ring)
{
    leat_vcd_time(&w->vcd, ring->now);
    for (uint32_t i = 0; i < ring->config.stations; i++) {
        if (!leat_sim_aton_is_present(ring, i)) continue;
        uint64_t value[SIGNALS];
        ring_wave_values(ring, i, value);
        for (uint32_t k = 0; k < SIGNALS; k++)
            leat_vcd_set(&w->vcd, i * SIGNALS + k, value[k]);
    }
}

bool ring_wave_close(struct ring_wave *w, const struct leat_sim_aton *ring, bool keep)
{
    leat_vcd_end(&w->vcd, ring->now + 1);
    const bool closed = result_file_close(&w->file, keep);
    free(w->signal);
    free(w);
    return closed;
}
