/*
 * A channel of voice by AAL2: a message for each frame of speech, none in pauses. Spurts and pauses
 * are whole frames: one ends, or begins, at a frame with a chance of frame/mean, so their lengths
 * are geometric, the exponential distribution in steps.
 *
 *     spurt 1                    spurt 2
 *     |f7 |f8 |f9 |   .   .   .   |f13|f14|        sent when a frame is complete
 *          \   \__ \                \
 *           +----+----+----+         +----+----    played a frame time apart; the first frame of a
 *           |f7  |f8  |f9  |         |f13 |        spurt waits the playout time
 *
 * A frame that comes after its time is late, and lost.
 */
#include "sim_atm_circuits.h"
#include <assert.h>
#include <string.h>

enum {
    MESSAGE_LEN_MIN = LEAT_ATM_AAL2_PAYLOAD_LEN,
    NO_SPURT = 0, /* they count from 1 */
};
#define GAP_MAX_PS    UINT64_C(1000000000000) /* the engine's: a second */
#define PS_IN_SECOND  UINT64_C(1000000000000)
#define BITS_IN_OCTET 8

uint32_t leat_sim_atm_voice_frame_len(const struct leat_sim_atm_circuit *plan)
{
    return (uint32_t)(plan->rate * (plan->frame / 1000) / (PS_IN_SECOND / 1000 * BITS_IN_OCTET));
}

/* ---- the sender ------------------------------------------------------------------------------ */

static bool has_chance(struct leat_random *random, leat_time of, leat_time in)
{
    return leat_random_below(random, in) < of;
}

static void next_frame(struct leat_sim_atm_channel *channel)
{
    struct leat_sim_atm_voice *voice = channel->voice;
    const struct leat_sim_atm_circuit *plan = channel->plan;
    const bool talked = voice->talks;
    if (plan->pause && has_chance(&channel->random, plan->frame, talked ? plan->talk : plan->pause))
        voice->talks = !talked;
    voice->spurt += voice->talks && !talked;
    voice->frame_at += plan->frame;
    voice->frame++;
}

/* Frames that passed count when the next one is spoken, so that counts do not depend on how far
 * the sender looks ahead. */
static void begin_message(struct leat_sim_atm_channel *channel)
{
    struct leat_sim_atm_voice *voice = channel->voice;
    const uint32_t len = leat_sim_atm_voice_frame_len(channel->plan);
    do
        next_frame(channel);
    while (!voice->talks);
    leat_sim_atm_channel_fill(channel, voice->frame * len, voice->speech, len);
    const leat_err err = leat_atm_aal2_segment_message(&voice->segment, voice->speech, len);
    assert(!err);
    (void)err;
}

void leat_sim_atm_voice_prepare(struct leat_sim_atm_channel *channel)
{
    struct leat_sim_atm_voice *voice = channel->voice;
    struct leat_sim_atm_channel_sent *next = &channel->next;
    if (!leat_atm_aal2_segment_next(&voice->segment, next->pdu)) {
        begin_message(channel);
        const bool has = leat_atm_aal2_segment_next(&voice->segment, next->pdu);
        assert(has);
        (void)has;
        next->begins = true;
    } else
        next->begins = false;
    next->ready_at = voice->frame_at;
    next->mark = voice->frame;
    next->spurt = voice->spurt;
}

/* ---- the receiver ---------------------------------------------------------------------------- */

static void play(struct leat_sim_atm_channel *channel, const struct leat_sim_atm_channel_sent *own,
                 leat_time now)
{
    struct leat_sim_atm_voice *voice = channel->voice;
    struct leat_sim_atm_circuits_line *line = channel->line;
    const leat_time frame = channel->plan->frame;
    if (voice->playing != own->spurt) {
        voice->playing = own->spurt;
        voice->base_frame = own->mark;
        voice->base_at = now + channel->plan->playout;
    }
    const leat_time at = voice->base_at + (own->mark - voice->base_frame) * frame;
    if (now > at) {
        line->counts.frames_late++;
        return;
    }
    const uint64_t mouth = at - own->ready_at + frame;
    line->counts.frames_played++;
    leat_sim_histogram_add(&line->mouth, mouth);
    line->mouth_min = leat_smaller(line->mouth_min, mouth);
}

static struct leat_atm_aal2_out step(struct leat_sim_atm_voice *voice,
                                     const struct leat_atm_aal2_in *in, leat_time now)
{
    const struct leat_atm_aal2_out out = leat_atm_aal2_reassemble_step(voice->reassemble, now, in);
    voice->wake_at = out.wake_at;
    return out;
}

static bool is_as_sent(const struct leat_sim_atm_channel *channel, const uint8_t *message,
                       size_t len, uint64_t frame)
{
    uint8_t sent[LEAT_SIM_ATM_CIRCUITS_FRAME_LEN_MAX];
    const uint32_t wanted = leat_sim_atm_voice_frame_len(channel->plan);
    leat_sim_atm_channel_fill(channel, frame * wanted, sent, wanted);
    return len == wanted && memcmp(message, sent, len) == 0;
}

void leat_sim_atm_voice_take(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                             const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    struct leat_sim_atm_voice *voice = channel->voice;
    const struct leat_atm_aal2_in timer = { .event = LEAT_ATM_AAL2_TIMER };
    struct leat_atm_cell cell = { 0 };
    const struct leat_atm_aal2_in in = { .event = LEAT_ATM_AAL2_CELL, .cell = &cell };
    if (voice->wake_at <= now) (void)step(voice, &timer, voice->wake_at);
    memcpy(cell.payload, pdu, sizeof cell.payload);
    const struct leat_atm_aal2_out out = step(voice, &in, now);
    if (!out.message) return;
    if (!own || !is_as_sent(channel, out.message, out.message_len, own->mark))
        channel->line->counts.frames_damaged++;
    else
        play(channel, own, now);
}

/* ---- figures --------------------------------------------------------------------------------- */

uint64_t leat_sim_atm_voice_frames(const struct leat_sim_atm_channel *channel, leat_time now)
{
    const leat_time frame = channel->plan->frame,
                    start = channel->voice->frame_at - channel->voice->frame * frame;
    return now < start ? 0 : (now - start) / frame;
}

uint64_t leat_sim_atm_voice_under_way(const struct leat_sim_atm_channel *channel)
{
    uint64_t frames = 0, last = UINT64_MAX;
    for (uint64_t n = channel->heard; n < channel->sent; n++) {
        const uint64_t frame = channel->kept[n % LEAT_SIM_ATM_CHANNEL_KEPT].mark;
        frames += frame != last;
        last = frame;
    }
    return frames;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static struct leat_atm_aal2_reassemble_config
reassemble_config(const struct leat_sim_atm_circuit *plan)
{
    const uint32_t len = leat_sim_atm_voice_frame_len(plan);
    return (struct leat_atm_aal2_reassemble_config){
        .message_len_max = len < MESSAGE_LEN_MIN ? MESSAGE_LEN_MIN : len, .gap_ps_max = GAP_MAX_PS
    };
}

void leat_sim_atm_voice_lay(struct leat_sim_atm_channel *channel, struct leat_arena *arena)
{
    const struct leat_atm_aal2_reassemble_config config = reassemble_config(channel->plan);
    struct leat_sim_atm_voice *voice = leat_arena_lay(arena, 1, sizeof *voice);
    uint8_t *speech = leat_arena_lay(arena, leat_sim_atm_voice_frame_len(channel->plan), 1);
    void *memory = leat_arena_lay(arena, 1, leat_atm_aal2_reassemble_footprint(&config));
    channel->voice = voice;
    if (!voice) return; /* it only measures */
    voice->speech = speech;
    voice->reassemble = memory;
}

void leat_sim_atm_voice_init(struct leat_sim_atm_channel *channel, leat_time start)
{
    struct leat_sim_atm_voice *voice = channel->voice;
    const struct leat_sim_atm_circuit *plan = channel->plan;
    const struct leat_atm_aal2_reassemble_config config = reassemble_config(plan);
    const leat_err err = leat_atm_aal2_reassemble_init(voice->reassemble,
                                                       leat_atm_aal2_reassemble_footprint(&config),
                                                       &config, &voice->reassemble);
    assert(!err);
    (void)err;
    voice->wake_at = LEAT_NEVER;
    voice->frame_at = start;
    voice->playing = NO_SPURT;
    voice->talks = !plan->pause ||
                   has_chance(&channel->random, plan->talk, plan->talk + plan->pause);
    voice->spurt = voice->talks;
}
