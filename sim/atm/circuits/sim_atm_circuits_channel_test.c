/* Both ends of a channel on a desk: cells pass by hand, after a constant time. */
#include "sim_atm_circuits.h"
#include "tap.h"
#include <stdalign.h>
#include <string.h>

enum { US = 1000000, DELAY = 30 * US, MEMORY_LEN = 1 << 18 };

static struct {
    struct leat_sim_atm_channel channel;
    struct leat_sim_atm_circuits_line line;
    struct leat_sim_atm_circuit plan;
    alignas(64) uint8_t memory[MEMORY_LEN];
} desk;

static struct leat_sim_atm_channel *begin(const struct leat_sim_atm_circuit *plan)
{
    struct leat_arena arena = { .memory = desk.memory, .cap = MEMORY_LEN }, measured = { 0 };
    struct leat_sim_atm_channel other = { 0 };
    memset(&desk, 0, sizeof desk);
    desk.plan = *plan;
    desk.line.delay_min = desk.line.mouth_min = UINT64_MAX;
    leat_sim_atm_channel_lay(&other, &desk.plan, &measured);
    leat_sim_atm_channel_lay(&desk.channel, &desk.plan, &arena);
    EQ(measured.used, arena.used);
    desk.channel.line = &desk.line;
    return &desk.channel;
}

static const struct leat_sim_atm_circuit circuit = {
    .kind = LEAT_SIM_ATM_CIRCUIT_CBR, .rate = 8000000, .start = 7 * US, .playout = 100 * US
};
static const struct leat_sim_atm_circuit voice = { .kind = LEAT_SIM_ATM_CIRCUIT_VOICE,
                                                   .rate = 64000,
                                                   .start = 0,
                                                   .playout = 1000 * (leat_time)US,
                                                   .channels = 1,
                                                   .frame = 10000 * (leat_time)US };

/* The next cell, sent and kept. */
static struct leat_sim_atm_channel_sent send_next(struct leat_sim_atm_channel *channel)
{
    const struct leat_sim_atm_channel_sent next = channel->next;
    leat_sim_atm_channel_send(channel);
    leat_sim_atm_channel_prepare(channel);
    return next;
}

static void carry(struct leat_sim_atm_channel *channel)
{
    const struct leat_sim_atm_channel_sent cell = send_next(channel);
    const struct leat_sim_atm_channel_sent *own = leat_sim_atm_channel_match(channel, cell.pdu,
                                                                             false);
    OK(own != NULL);
    leat_sim_atm_channel_take(channel, cell.pdu, own, cell.ready_at + DELAY);
}

static void a_channel_by_itself_plays_what_it_sends(void)
{
    struct leat_sim_atm_channel *channel = begin(&circuit);
    leat_sim_atm_channel_init(channel, tap_seed(), 1);
    for (unsigned k = 0; k < 100; k++)
        carry(channel);
    leat_sim_atm_channel_settle(channel, 100000 * (leat_time)US);
    const struct leat_sim_atm_circuits_counts *n = &desk.line.counts;
    EQ(n->cells_sent, 100);
    EQ(n->cells_delivered, 100);
    EQ(n->octets, 47 * 99); /* the last cell is kept back */
    EQ(desk.line.delay_min, DELAY);
    EQ(desk.line.delay.max, DELAY);
    EQ(leat_atm_aal1_playout_counts(channel->cbr->playout).played_len, 47 * 99);
    /* Cell 0 ends after 47 octets and is known when cell 1 is there; its first octet was there 93
     * octets before that. */
    EQ(channel->cbr->delay, 93 * US + DELAY + 100 * US);
}

/* Octets are a function of the seed and of their place alone. */
static void content_does_not_depend_on_pieces(void)
{
    struct leat_sim_atm_channel *channel = begin(&circuit);
    uint8_t whole[300], piece[300];
    channel->content = 12345;
    leat_sim_atm_channel_fill(channel, 11, whole, sizeof whole);
    for (size_t at = 0; at < sizeof whole; at += 13) {
        const size_t len = leat_smaller(13, sizeof whole - at);
        leat_sim_atm_channel_fill(channel, 11 + at, piece, len);
        EQ(memcmp(piece, whole + at, len), 0);
    }
    leat_sim_atm_channel_fill(channel, 12, piece, sizeof piece);
    OK(memcmp(piece, whole, sizeof whole) != 0);
}

static void ones_are_counted(void)
{
    EQ(leat_sim_atm_circuits_ones(0), 0);
    EQ(leat_sim_atm_circuits_ones(UINT64_MAX), 64);
    for (unsigned i = 0; i < 64; i++)
        EQ(leat_sim_atm_circuits_ones(UINT64_C(1) << i | 1), i ? 2 : 1);
}

static void cells_that_are_passed_over_are_lost(void)
{
    struct leat_sim_atm_channel *channel = begin(&circuit);
    struct leat_sim_atm_channel_sent cell[6];
    leat_sim_atm_channel_init(channel, tap_seed(), 1);
    for (unsigned k = 0; k < 6; k++)
        cell[k] = send_next(channel);
    OK(leat_sim_atm_channel_match(channel, cell[0].pdu, false) != NULL);
    OK(leat_sim_atm_channel_match(channel, cell[3].pdu, false) != NULL);
    EQ(desk.line.counts.cells_lost, 2);
    EQ(leat_sim_atm_channel_match(channel, cell[3].pdu, true) != NULL, false); /* a copy */
    EQ(leat_sim_atm_channel_match(channel, cell[1].pdu, true) != NULL, false); /* too late */
    cell[4].pdu[20] ^= 0x55;
    EQ(leat_sim_atm_channel_match(channel, cell[4].pdu, false) != NULL, false);
    OK(leat_sim_atm_channel_match(channel, cell[4].pdu, true) != NULL);
    EQ(desk.line.counts.cells_lost, 2);
}

static void a_silent_network_keeps_only_the_latest_cells(void)
{
    struct leat_sim_atm_channel *channel = begin(&circuit);
    leat_sim_atm_channel_init(channel, tap_seed(), 1);
    for (unsigned k = 0; k < LEAT_SIM_ATM_CHANNEL_KEPT + 10; k++)
        send_next(channel);
    EQ(desk.line.counts.cells_lost, 10);
    EQ(channel->sent - channel->heard, LEAT_SIM_ATM_CHANNEL_KEPT);
}

/* The steps of a circuit, one by one: cell k is complete with octet 47 (k + 1). */
static void circuits_make_cells_in_time(void)
{
    struct leat_arena arena = { .memory = desk.memory, .cap = MEMORY_LEN };
    struct leat_sim_atm_channel *channel = begin(&circuit);
    memset(desk.memory, 0, sizeof desk.memory);
    leat_sim_atm_cbr_lay(channel, &arena);
    leat_sim_atm_cbr_init(channel, 5);
    for (uint64_t k = 0; k < 20; k++) {
        leat_sim_atm_cbr_prepare(channel);
        EQ(channel->next.ready_at, 5 + 47 * (k + 1) * US);
        EQ(channel->next.mark, 47 * k);
        EQ(channel->next.pdu[0] >> 4 & 7, k % 8); /* SC */
        leat_sim_atm_cbr_take(channel, channel->next.pdu, &channel->next, channel->next.ready_at);
    }
    EQ(desk.line.counts.octets_wrong, 0);
    leat_sim_atm_cbr_settle(channel, 5 + 47 * 21 * US);
    OK(channel->cbr->read > 47 * 15);
}

/* The same of voice: 80 octets in two cells, all at the end of their frame. */
static void speakers_make_cells_in_time(void)
{
    struct leat_arena arena = { .memory = desk.memory, .cap = MEMORY_LEN };
    struct leat_sim_atm_channel *channel = begin(&voice);
    memset(desk.memory, 0, sizeof desk.memory);
    EQ(leat_sim_atm_voice_frame_len(&voice), 80);
    leat_sim_atm_voice_lay(channel, &arena);
    leat_sim_atm_voice_init(channel, 3);
    for (uint64_t k = 0; k < 20; k++) {
        leat_sim_atm_voice_prepare(channel);
        EQ(channel->next.mark, k / 2 + 1);
        EQ(channel->next.begins, k % 2 == 0);
        EQ(channel->next.ready_at, 3 + channel->next.mark * voice.frame);
        leat_sim_atm_channel_send(channel);
        if (k >= 18) continue;
        channel->heard = channel->sent;
        leat_sim_atm_voice_take(channel, channel->next.pdu, &channel->next,
                                channel->next.ready_at + DELAY);
    }
    EQ(desk.line.counts.frames_played, 9);
    EQ(leat_sim_atm_voice_under_way(channel), 1);
    EQ(leat_sim_atm_voice_frames(channel, 3 + 10 * voice.frame), 10);
    EQ(leat_sim_atm_voice_frames(channel, 2 + 10 * voice.frame), 9);
    EQ(leat_sim_atm_voice_frames(channel, 0), 0);
    EQ(desk.line.mouth_min, voice.frame + DELAY + voice.playout);
    EQ(desk.line.mouth.max, desk.line.mouth_min);
}

TAP_MAIN(T(a_channel_by_itself_plays_what_it_sends), T(content_does_not_depend_on_pieces),
         T(ones_are_counted), T(cells_that_are_passed_over_are_lost),
         T(a_silent_network_keeps_only_the_latest_cells), T(circuits_make_cells_in_time),
         T(speakers_make_cells_in_time))
