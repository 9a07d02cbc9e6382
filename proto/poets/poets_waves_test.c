#include "poets_waves.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/*
 * Ranks and a network with unbounded delay and reordering. The test sees it from outside, so the
 * truth is known: is any packet in flight, or any rank active?
 */
enum { RANKS_MAX = 16, FLYING_MAX = 256 };

struct flying {
    enum { PACKET, PROBE, COUNTS } kind;
    uint32_t to, wave;
    uint64_t sent, received;
};

static struct {
    struct leat_random random;
    struct leat_poets_waves waves;
    uint32_t ranks, flying_count, wave_asked[RANKS_MAX];
    uint64_t sent[RANKS_MAX], received[RANKS_MAX], budget, packets;
    bool active[RANKS_MAX];
    struct flying flying[FLYING_MAX];
    uint64_t one_wave_wrong; /* how often a single wave would have been wrong */
    enum leat_poets_verdict verdict;
} net;

static uint32_t chance(uint32_t below)
{
    return (uint32_t)leat_random_below(&net.random, below);
}

static bool is_quiet(void)
{
    for (uint32_t i = 0; i < net.flying_count; i++)
        if (net.flying[i].kind == PACKET) return false;
    for (uint32_t r = 0; r < net.ranks; r++)
        if (net.active[r]) return false;
    return true;
}

static void fly(struct flying what)
{
    net.flying[net.flying_count++] = what;
}

static void on_counts(const struct flying *f)
{
    net.verdict = leat_poets_waves_report(&net.waves, f->wave, f->sent, f->received);
    if (net.verdict == LEAT_POETS_BUSY && net.waves.sent == net.waves.received && !is_quiet())
        net.one_wave_wrong++;
    if (net.verdict == LEAT_POETS_IDLE) OK(is_quiet());
}

static void land(uint32_t at)
{
    const struct flying f = net.flying[at];
    net.flying[at] = net.flying[--net.flying_count];
    switch (f.kind) {
    case PACKET:
        net.active[f.to] = true;
        net.received[f.to]++;
        break;
    case PROBE: net.wave_asked[f.to] = f.wave; break;
    case COUNTS: on_counts(&f); break;
    }
}

/* An active rank sends, or finishes; a passive one answers. */
static void step(uint32_t r)
{
    if (net.active[r] && net.budget && net.flying_count < FLYING_MAX / 2 && chance(3)) {
        net.budget--;
        net.packets++;
        net.sent[r]++;
        fly((struct flying){ .kind = PACKET, .to = chance(net.ranks) });
    } else if (net.active[r]) {
        net.active[r] = false;
    } else if (net.wave_asked[r]) {
        fly((struct flying){ .kind = COUNTS,
                             .wave = net.wave_asked[r],
                             .sent = net.sent[r],
                             .received = net.received[r] });
        net.wave_asked[r] = 0;
    }
}

static void begin_wave(void)
{
    const uint32_t wave = leat_poets_waves_begin(&net.waves);
    net.verdict = LEAT_POETS_NOT_YET;
    for (uint32_t r = 0; r < net.ranks; r++)
        fly((struct flying){ .kind = PROBE, .to = r, .wave = wave });
}

static void run(uint32_t ranks, uint64_t budget, uint64_t seed)
{
    memset(&net, 0, sizeof net);
    leat_random_seed(&net.random, seed);
    net.waves = (struct leat_poets_waves){ .rank_count = ranks };
    net.ranks = ranks;
    net.budget = budget;
    net.active[chance(ranks)] = true;
    begin_wave();
    uint64_t steps = 0;
    while (net.verdict != LEAT_POETS_IDLE && steps++ < 1000 * (budget + 1000)) {
        if (net.verdict == LEAT_POETS_BUSY) begin_wave();
        if (net.flying_count && chance(2))
            land(chance(net.flying_count));
        else
            step(chance(ranks));
    }
    EQ(net.verdict, LEAT_POETS_IDLE); /* and it is detected in the end */
}

static void idleness_is_found_and_never_too_early(void)
{
    uint64_t seed = tap_seed(), packets = 0, wrong = 0;
    while (packets < LEAT_ROUNDS) {
        const uint64_t more = seed * 7919 % 500;
        run(2 + (uint32_t)(seed % (RANKS_MAX - 1)), more, seed);
        seed++;
        packets += net.packets + 1;
        wrong += net.one_wave_wrong;
    }
    OK(wrong > 0); /* the campaign has cases that one wave would get wrong */
}

static void two_waves_in_a_row_must_agree(void)
{
    struct leat_poets_waves waves = { .rank_count = 2 };
    EQ(leat_poets_waves_begin(&waves), 1);
    EQ(leat_poets_waves_report(&waves, 1, 5, 3), LEAT_POETS_NOT_YET);
    EQ(leat_poets_waves_report(&waves, 1, 1, 3), LEAT_POETS_BUSY); /* balanced, but the first */
    EQ(leat_poets_waves_begin(&waves), 2);
    EQ(leat_poets_waves_report(&waves, 1, 9, 9), LEAT_POETS_NOT_YET); /* late: ignored */
    EQ(leat_poets_waves_report(&waves, 2, 5, 3), LEAT_POETS_NOT_YET);
    EQ(leat_poets_waves_report(&waves, 2, 1, 3), LEAT_POETS_IDLE);
    EQ(leat_poets_waves_report(&waves, 2, 1, 3), LEAT_POETS_NOT_YET); /* nobody is missing */
    EQ(leat_poets_waves_begin(&waves), 3);
    EQ(leat_poets_waves_report(&waves, 3, 6, 3), LEAT_POETS_NOT_YET);
    EQ(leat_poets_waves_report(&waves, 3, 1, 4), LEAT_POETS_BUSY); /* one more has been sent */
}

TAP_MAIN(T(two_waves_in_a_row_must_agree), T(idleness_is_found_and_never_too_early))
