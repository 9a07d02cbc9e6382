/*
 * leat ring --record: the packets of a simulated ring, and what becomes of them at each station. A
 * bit time is 1 ns.
 *
 *   ring            group
 *     fabric        lane     which ring (record_fabric.h)
 *     port0 ...     lanes    the packet leaves, passes and arrives (flows); as its sender put it
 *                            out and got it back (frames), and, of small rings, as each station
 *                            sent it on
 *     variable0 ... signals  Variable-1 as it leaves the station; commands with a single variable
 *     token         signal   the station that has the token, or has sent on the packet last
 *     bits          group    with --model bit, bit by bit: those of ring_wave.c for each station
 *
 * The word model tells of visits, the bit model of bits; both of packets and results.
 */
#include "leat_bytes.h"
#include "record_fabric.h"
#include "result_file.h"
#include "ring_job.h"
#include "sim_recorder.h"
#include <leat/capture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINK_ATON = LEAT_LINK_USER0 + 1,
    PS_PER_BIT = 1000,
    FRAMES_STATIONS_MAX = 256, /* each visit is a frame */
    NAME_CAP = 32,
};

struct ring_record {
    struct result_file file;
    struct leat_sim_recorder recorder;
    const struct leat_sim_aton *ring;
    uint32_t *port, *variable,
        *bits;      /* [stations], bits: [stations * RING_WAVE_SIGNALS], or NULL */
    uint64_t *last; /* of bits */
    uint32_t token;
    uint64_t packets;
    leat_time now;
    uint8_t *octets; /* of an answer as a packet */
};

static struct ring_record *of(struct ring_query *query)
{
    return query->record;
}

/* Stations learn of a token a little after it came. */
static leat_time time_of(struct ring_record *r, leat_time bit)
{
    const leat_time at = bit * PS_PER_BIT;
    if (at > r->now) r->now = at;
    return r->now;
}

static void put_flow(struct ring_record *r, uint32_t station, leat_sim_step step, size_t len,
                     leat_time bit)
{
    const struct leat_sim_flow flow = { .message = LEAT_SIM_FIRST_PACKET + r->packets, .len = len };
    leat_sim_record_flow(&r->recorder, time_of(r, bit), r->port[station], step, &flow);
}

static void put_frame(struct ring_record *r, uint32_t station, leat_sim_direction direction,
                      const uint8_t *octets, size_t len, leat_time bit)
{
    if (len <= LEAT_SIM_FRAME_LEN_MAX)
        leat_sim_record_frame(&r->recorder, time_of(r, bit), r->port[station], direction, octets,
                              len);
}

/* ---- what happens ---------------------------------------------------------------------------- */

void ring_record_begins(void *context, uint32_t station, uint64_t id, leat_time sent_at)
{
    struct ring_record *r = of(context);
    (void)id;
    leat_sim_record_value(&r->recorder, time_of(r, sent_at), r->token, station);
    put_flow(r, station, LEAT_SIM_LEAVES, 0, sent_at);
}

void ring_record_visited(void *context, uint32_t station, const uint8_t *image, uint32_t len,
                         leat_time at)
{
    const struct ring_query *query = context;
    struct ring_record *r = of(context);
    const struct leat_aton_command *c = &query->order.command;
    const bool is_sender = station == query->job->from;
    if (!is_sender) put_flow(r, station, LEAT_SIM_PASSES, len, at);
    leat_sim_record_value(&r->recorder, time_of(r, at), r->token, station);
    if (c->opcode < LEAT_ATON_SORT)
        leat_sim_record_value(&r->recorder, r->now, r->variable[station],
                              leat_aton_value_get(image, LEAT_ATON_VARIABLE_AT, c->width_bits));
    if ((is_sender || r->ring->config.stations <= FRAMES_STATIONS_MAX) &&
        len <= LEAT_SIM_FRAME_LEN_MAX) {
        memcpy(r->octets, image, len);
        leat_aton_packet_seal(r->octets, len); /* the simulated ring does without a CRC */
        put_frame(r, station, LEAT_SIM_OUT, r->octets, len, at);
    }
}

void ring_record_done(struct ring_query *query)
{
    struct ring_record *r = query->record;
    const struct leat_sim_aton_result *result = &query->result;
    size_t len = 0;
    query->packet.sa = (uint16_t)(result->station + 1);
    if (result->result.status == LEAT_ATON_DONE &&
        !leat_aton_packet_encode(&query->packet, r->octets, LEAT_SIM_FRAME_LEN_MAX, &len))
        put_frame(r, result->station, LEAT_SIM_IN, r->octets, len, result->at);
    put_flow(r, result->station, LEAT_SIM_ARRIVES, len, result->at);
    r->packets++;
}

void ring_record_step(struct ring_record *r)
{
    for (uint32_t i = 0; r->bits && i < r->ring->config.stations; i++) {
        uint64_t value[RING_WAVE_SIGNALS];
        if (!leat_sim_aton_is_present(r->ring, i)) continue;
        ring_wave_values(r->ring, i, value);
        for (uint32_t k = 0; k < RING_WAVE_SIGNALS; k++) {
            const size_t n = (size_t)i * RING_WAVE_SIGNALS + k;
            if (value[k] == r->last[n] && r->ring->now) continue;
            r->last[n] = value[k];
            leat_sim_record_value(&r->recorder, time_of(r, r->ring->now), r->bits[n], value[k]);
        }
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t declare_signal(struct ring_record *r, uint32_t group, uint32_t clock,
                               const char *what, uint32_t number, unsigned width)
{
    char name[NAME_CAP];
    snprintf(name, sizeof name, "%s%u", what, number);
    return leat_sim_recorder_signal(&r->recorder, group, clock, width, name);
}

static void declare_bits(struct ring_record *r, uint32_t group, uint32_t clock)
{
    const uint32_t bits = leat_sim_recorder_group(&r->recorder, group, "bits");
    for (uint32_t i = 0; i < r->ring->config.stations; i++)
        for (uint32_t k = 0; k < RING_WAVE_SIGNALS; k++)
            r->bits[(size_t)i * RING_WAVE_SIGNALS + k] = declare_signal(
                r, bits, clock, ring_wave_name(k), i, ring_wave_width(k));
}

static void declare(struct ring_record *r)
{
    char name[NAME_CAP];
    struct leat_sim_event fabric;
    const uint32_t stations = r->ring->config.stations;
    const uint32_t clock = leat_sim_recorder_clock(&r->recorder,
                                                   &(struct leat_sim_clock){ PS_PER_BIT, 1 });
    const uint32_t group = leat_sim_recorder_group(&r->recorder, 0, "ring");
    snprintf(name, sizeof name, "ring%u", stations);
    const bool has_name = record_fabric_declare(&r->recorder, group, name, &fabric);
    for (uint32_t i = 0; i < stations; i++) {
        snprintf(name, sizeof name, "port%u", i);
        r->port[i] = leat_sim_recorder_lane(&r->recorder, group, clock, LINK_ATON, name);
        r->variable[i] = declare_signal(r, group, clock, "variable", i, 64);
    }
    r->token = leat_sim_recorder_signal(&r->recorder, group, clock, 32, "token");
    if (r->bits) declare_bits(r, group, clock);
    if (has_name) leat_sim_recorder_put(&r->recorder, &fabric);
}

static bool make_room(struct ring_record *r, bool by_bits)
{
    const uint32_t stations = r->ring->config.stations;
    const uint64_t tracks = (uint64_t)stations * (by_bits ? 2 + RING_WAVE_SIGNALS : 2);
    if (tracks + 8 > LEAT_SIM_TRACKS_MAX)
        return complain("--record: %u stations, expected at most %u%s", stations,
                        (LEAT_SIM_TRACKS_MAX - 8) / (by_bits ? 2 + RING_WAVE_SIGNALS : 2),
                        by_bits ? " with --model bit" : "");
    const size_t signals = (size_t)stations * RING_WAVE_SIGNALS;
    r->port = calloc(stations, sizeof *r->port);
    r->variable = calloc(stations, sizeof *r->variable);
    r->octets = malloc(LEAT_SIM_FRAME_LEN_MAX);
    r->bits = by_bits ? calloc(signals, sizeof *r->bits) : NULL;
    r->last = by_bits ? calloc(signals, sizeof *r->last) : NULL;
    return (r->port && r->variable && r->octets && (!by_bits || (r->bits && r->last))) ||
           complain("no memory for the recording of %u stations", stations);
}

static void forget(struct ring_record *r)
{
    result_file_drop(&r->file);
    free(r->port);
    free(r->variable);
    free(r->octets);
    free(r->bits);
    free(r->last);
    free(r);
}

struct ring_record *ring_record_open(const char *path, const struct leat_sim_aton *ring)
{
    struct ring_record *r = calloc(1, sizeof *r);
    if (!r) {
        complain("no memory for a recording");
        return NULL;
    }
    r->ring = ring;
    if (!make_room(r, ring->config.model == LEAT_SIM_ATON_BIT) ||
        !result_file_open(&r->file, path)) {
        forget(r);
        return NULL;
    }
    leat_sim_recorder_init(&r->recorder, &r->file.out.text);
    declare(r);
    ring_record_step(r);
    return r;
}

bool ring_record_close(struct ring_record *r, bool keep)
{
    leat_sim_recorder_close(&r->recorder, time_of(r, r->ring->now));
    const bool closed = result_file_close(&r->file, keep);
    forget(r);
    return closed;
}
