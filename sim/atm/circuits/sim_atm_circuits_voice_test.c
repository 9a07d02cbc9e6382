/* Voice: talk spurts held to the chain that they are drawn from, losses to a closed form, late
 * frames to a plain model. */
#include "sim_atm_circuits_world_test.h"
#include <math.h>

static struct world w;

enum { MS = 1000000000 }; /* in ps */

/* ---- talk spurts ----------------------------------------------------------------------------- */

/* A chain of two states: it talks for talk/(talk + pause) of the time. Of F frames of C channels,
 * each tells as much as (1 - l)/(1 + l) independent ones, l = 1 - frame/talk - frame/pause. */
static void speakers_talk_their_share_of_the_time(void)
{
    static const struct {
        leat_time talk, pause;
    } means[] = { { 100 * (leat_time)MS, 150 * (leat_time)MS },
                  { 1004 * (leat_time)MS, 1587 * (leat_time)MS },
                  { 40 * (leat_time)MS, 20 * (leat_time)MS } };
    for (unsigned i = 0; i < 3; i++) {
        world_begin(&w, "bmx:2", tap_seed() + i);
        struct leat_sim_atm_circuit *c = world_speak(&w, 0, 1, 8000, 20 * (leat_time)MS);
        c->channels = 300;
        c->talk = means[i].talk;
        c->pause = means[i].pause;
        world_open(&w);
        world_run(&w, 200000000); /* 10 s */
        const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
        const double talk = (double)c->talk, pause = (double)c->pause, frame = (double)c->frame,
                     share = talk / (talk + pause), l = 1 - frame / talk - frame / pause,
                     alike = (double)n->frames * (1 - l) / (1 + l),
                     deviation = sqrt(share * (1 - share) / alike);
        OK(n->frames >= 300 * 499 && n->frames <= 300 * 500);
        OK(fabs((double)n->frames_talk / (double)n->frames - share) < 5 * deviation);
        EQ(n->frames_played + n->frames_under_way, n->frames_talk);
        /* A spurt is talk/frame frames long on average, geometrically. */
        uint64_t spurts = 0;
        for (uint32_t k = 0; k < 300; k++)
            spurts += w.sim.channel[k].voice->spurt;
        const double length = (double)n->frames_talk / (double)spurts;
        OK(fabs(length / (talk / frame) - 1) < 5 / sqrt((double)spurts) + 300.0 / (double)spurts);
        world_close(&w);
    }
}

static void without_pauses_every_frame_is_sent(void)
{
    world_begin(&w, "clos444", tap_seed());
    world_speak(&w, 3, 7, 64000, 5 * (leat_time)MS)->channels = 20;
    w.config.plain.load_ppm = 200000;
    world_open(&w);
    world_run(&w, 4000000); /* 200 ms, 40 frames */
    const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
    OK(n->frames == n->frames_talk || n->frames == n->frames_talk + 1);
    EQ(n->frames_played + n->frames_under_way, n->frames_talk);
    EQ(n->cells_sent, n->frames_talk); /* 40 octets */
    OK(w.sim.line[0].mouth_min >= 10 * (leat_time)MS);
    OK(w.sim.line[0].mouth.max < 10 * (leat_time)MS + 100 * (leat_time)1000000);
    world_close(&w);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* A frame of k cells arrives if no line loses one of them. */
static void frames_are_lost_as_their_cells_are(void)
{
    for (uint32_t cells = 1; cells <= 4; cells++) {
        world_begin(&w, "bmx:2", tap_seed() + cells);
        w.config.plain.line.lose = 5000000; /* of each line */
        struct leat_sim_atm_circuit *c = world_speak(&w, 0, 1, 64000 * 45 / 40 * cells,
                                                     5 * (leat_time)MS);
        c->channels = 100;
        world_open(&w);
        world_run(&w, 40000000); /* 2 s, 400 frames */
        const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
        const double sent = (double)n->frames_talk, chance = 1 - pow(1 - 0.005, 2.0 * cells);
        const double lost = (double)(n->frames_talk - n->frames_played - n->frames_late -
                                     n->frames_under_way);
        EQ(leat_sim_atm_voice_frame_len(c), 45 * cells);
        EQ(n->frames_damaged, 0);
        OK(fabs(lost - sent * chance) < 5 * sqrt(sent * chance) + (double)n->frames_under_way);
        OK(lost > 100);
        world_close(&w);
    }
}

static void damaged_frames_are_not_played(void)
{
    world_begin(&w, "bmx:2", tap_seed());
    w.config.plain.line.payload_errors = 100000;
    world_speak(&w, 0, 1, 72000, 5 * (leat_time)MS)->channels = 100;
    world_open(&w);
    world_run(&w, 40000000);
    const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
    const double sent = (double)n->frames_talk, chance = 1 - pow(1 - 1e-4, 2.0 * 48 * 8);
    OK(fabs(sent - (double)n->frames_played - sent * chance) < 5 * sqrt(sent * chance));
    OK(n->frames_damaged < 10); /* CRC-10 misses one in a thousand, at most */
    world_close(&w);
}

/* ---- lateness -------------------------------------------------------------------------------- */

/* Frame k of the only spurt is played k frame times after the first one, which waited. */
static void late_frames_are_those_of_the_plain_model(void)
{
    struct leat_random r;
    uint64_t all_late = 0, all_played = 0;
    leat_random_seed(&r, tap_seed());
    for (unsigned run = 0; run < 10; run++) {
        world_begin(&w, run % 2 ? "clos444" : "mesh:5", tap_seed() + run);
        w.config.plain.load_ppm = 700000;
        struct leat_sim_atm_circuit *c = world_speak(&w, 0, 3, 1920000, 150000000);
        c->playout = leat_random_below(&r, 4000000);
        world_open(&w);
        world_run(&w, 2000000);
        uint64_t late = 0, played = 0, most = 0, least = UINT64_MAX;
        for (uint32_t k = 0; k < w.heards; k++) {
            const leat_time at = w.heard[0].at + c->playout + k * c->frame;
            EQ(w.heard[k].number, k);
            late += w.heard[k].at > at;
            if (w.heard[k].at > at) continue;
            played++;
            most = leat_larger(most, at - w.heard[k].ready_at + c->frame);
            least = leat_smaller(least, at - w.heard[k].ready_at + c->frame);
        }
        EQ(w.sim.line[0].counts.frames_late, late);
        EQ(w.sim.line[0].counts.frames_played, played);
        EQ(w.sim.line[0].mouth.max, most);
        EQ(w.sim.line[0].mouth_min, least);
        all_late += late;
        all_played += played;
        world_close(&w);
    }
    OK(all_late > 20 && all_played > 20);
}

TAP_MAIN(T(speakers_talk_their_share_of_the_time), T(without_pauses_every_frame_is_sent),
         T(frames_are_lost_as_their_cells_are), T(damaged_frames_are_not_played),
         T(late_frames_are_those_of_the_plain_model))
