#include "atm_aal1_clock.h"
#include "atm_aal1_playout.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

/* ---- SRTS --------------------------------------------------------------------------------- */

static const struct leat_atm_aal1_srts_config e1 = {
    .network_hz = 155520000, .service_hz = 2048000, .tolerance_ppm = 200, .window = 256
};

static void the_network_clock_is_halved_until_it_is_below_twice_the_service(void)
{
    static const struct {
        uint64_t network_hz, service_hz;
        unsigned shift;
    } cases[] = { { 155520000, 64000, 11 },   { 155520000, 1544000, 6 }, { 155520000, 2048000, 6 },
                  { 155520000, 44736000, 1 }, { 1000, 1000, 0 },         { 1999, 1000, 0 },
                  { 2000, 1000, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct leat_atm_aal1_srts_config c = { .network_hz = cases[i].network_hz,
                                                     .service_hz = cases[i].service_hz };
        unsigned shift = 99;
        EQ(leat_atm_aal1_srts_shift(&c, &shift), LEAT_ERR_OK);
        EQ(shift, cases[i].shift);
    }
}

static void limits_of_srts_hold(void)
{
    static struct leat_atm_aal1_srts_receive r;
    struct leat_atm_aal1_srts_send s;
    unsigned shift;
    const struct leat_atm_aal1_srts_config wrong[] = {
        { .network_hz = 1000, .service_hz = 0, .window = 1 },
        { .network_hz = 1000, .service_hz = 1001, .window = 1 },
        { .network_hz = LEAT_ATM_AAL1_NETWORK_HZ_MAX + 1, .service_hz = 1, .window = 1 },
        { .network_hz = 1000, .service_hz = 1000, .tolerance_ppm = 201, .window = 1 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        EQ(leat_atm_aal1_srts_shift(&wrong[i], &shift), LEAT_ERR_RANGE);
        EQ(leat_atm_aal1_srts_send_init(&s, &wrong[i]), LEAT_ERR_RANGE);
        EQ(leat_atm_aal1_srts_receive_init(&r, &wrong[i]), LEAT_ERR_RANGE);
    }
    struct leat_atm_aal1_srts_config c = e1;
    c.window = 0;
    EQ(leat_atm_aal1_srts_receive_init(&r, &c), LEAT_ERR_RANGE);
    c.window = LEAT_ATM_AAL1_SRTS_WINDOW_MAX + 1;
    EQ(leat_atm_aal1_srts_receive_init(&r, &c), LEAT_ERR_RANGE);
    EQ(leat_atm_aal1_srts_receive_init(&r, &e1), LEAT_ERR_OK);
    EQ(leat_atm_aal1_srts_receive_stamp(&r, 16), LEAT_ERR_RANGE);
}

static void a_stamp_is_due_after_3008_bits_and_never_late(void)
{
    struct leat_atm_aal1_srts_send s;
    bool ready = true;
    uint8_t rts = 0;
    EQ(leat_atm_aal1_srts_send_init(&s, &e1), LEAT_ERR_OK);
    EQ(s.bits_due, 3008);
    EQ(leat_atm_aal1_srts_send_bits(&s, 3000, 5, &ready, &rts), LEAT_ERR_OK);
    OK(!ready);
    EQ(s.bits_due, 8);
    EQ(leat_atm_aal1_srts_send_bits(&s, 9, 5, &ready, &rts), LEAT_ERR_RANGE);
    EQ(s.bits_due, 8);
    EQ(leat_atm_aal1_srts_send_bits(&s, 8, 64 * (16 * 7 + 13) + 63, &ready, &rts), LEAT_ERR_OK);
    OK(ready);
    EQ(rts, 13); /* cycles of 155.52 MHz / 64, modulo 16 */
    EQ(s.bits_due, 3008);
}

/*
 * The closed formula: the true service clock is fs (1 + ppb/10^9), so after q periods the network
 * clock shows floor(q N fn 10^9 / (fs (10^9 + ppb))) cycles more than `origin`. Exact by steps of
 * whole periods: the fraction is carried.
 */
struct sender {
    struct leat_atm_aal1_srts_send send;
    uint64_t count, fraction, step, step_rest, divisor;
};

static struct sender sender_of(const struct leat_atm_aal1_srts_config *c, int64_t ppb,
                               uint64_t origin)
{
    struct sender s = { .count = origin };
    /* cycles per period = (N fn / fs) 10^9 / (10^9 + ppb); fs divides N fn in our cases */
    const uint64_t nominal = LEAT_ATM_AAL1_SRTS_BITS * c->network_hz / c->service_hz;
    EQ(LEAT_ATM_AAL1_SRTS_BITS * c->network_hz % c->service_hz, 0);
    s.divisor = (uint64_t)(1000000000 + ppb);
    s.step = nominal * 1000000000 / s.divisor;
    s.step_rest = nominal * 1000000000 % s.divisor;
    EQ(leat_atm_aal1_srts_send_init(&s.send, c), LEAT_ERR_OK);
    return s;
}

static uint8_t next_stamp(struct sender *s)
{
    bool ready = false;
    uint8_t rts = 99;
    s->count += s->step;
    s->fraction += s->step_rest;
    s->count += s->fraction / s->divisor;
    s->fraction %= s->divisor;
    for (uint32_t bits = 0; bits < 3008; bits += 376)
        EQ(leat_atm_aal1_srts_send_bits(&s->send, 376, s->count, &ready, &rts), LEAT_ERR_OK);
    OK(ready);
    return rts;
}

static const int64_t offsets_ppb[] = { 0, 50000, -50000, 130, -130, 199999, -199999, 77777 };
enum { OFFSETS = sizeof offsets_ppb / sizeof *offsets_ppb };

static void the_service_clock_is_recovered_within_one_count(void)
{
    static struct leat_atm_aal1_srts_receive r;
    static const uint64_t services[] = { 64000, 2048000, 1536000 };
    for (unsigned i = 0; i < OFFSETS * 3; i++) {
        struct leat_atm_aal1_srts_config c = e1;
        c.service_hz = services[i % 3];
        const int64_t ppb = offsets_ppb[i / 3];
        struct sender s = sender_of(&c, ppb, 12345);
        EQ(leat_atm_aal1_srts_receive_init(&r, &c), LEAT_ERR_OK);
        EQ(leat_atm_aal1_srts_receive_ppb(&r), 0);
        EQ(leat_atm_aal1_srts_receive_ratio(&r).service_bits, 0);

        EQ(leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s)), LEAT_ERR_OK);
        const uint64_t origin = s.count >> r.shift;
        uint64_t oldest[300] = { origin };
        for (uint64_t q = 1; q < 300; q++) {
            EQ(leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s)), LEAT_ERR_OK);
            oldest[q] = s.count >> r.shift;
            const uint64_t periods = q < 256 ? q : 256;
            const struct leat_atm_aal1_ratio ratio = leat_atm_aal1_srts_receive_ratio(&r);
            EQ(ratio.service_bits, periods * 3008);
            EQ(ratio.network_cycles, (oldest[q] - oldest[q - periods]) << r.shift); /* exact */
        }
        /* One count of fnx in the window is the whole uncertainty: about 1.1 ppm here. */
        const int64_t count_ppb = (int64_t)(1000000000 / r.counts_sum) + 1;
        const int64_t error = leat_atm_aal1_srts_receive_ppb(&r) - ppb;
        OK(error <= count_ppb && error >= -count_ppb);
        EQ(r.rejected, 0);
    }
}

static void lost_stamps_do_no_harm(void)
{
    static struct leat_atm_aal1_srts_receive r;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (unsigned i = 0; i < OFFSETS; i++) {
        struct sender s = sender_of(&e1, offsets_ppb[i], 7);
        EQ(leat_atm_aal1_srts_receive_init(&r, &e1), LEAT_ERR_OK);
        OK(r.span_max >= 4);
        EQ(leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s)), LEAT_ERR_OK);
        const uint64_t origin = s.count >> r.shift;
        uint64_t q = 0, seen_q = 0, seen_count = 0;
        for (uint32_t lost_in_row = 0; q < 200;) {
            const uint8_t rts = next_stamp(&s);
            q++;
            if (lost_in_row + 1 < r.span_max && leat_random_below(&random, 3) == 0) {
                leat_atm_aal1_srts_receive_lost(&r);
                lost_in_row++;
                continue;
            }
            EQ(leat_atm_aal1_srts_receive_stamp(&r, rts), LEAT_ERR_OK);
            lost_in_row = 0;
            seen_q = q;
            seen_count = s.count >> r.shift;
        }
        const struct leat_atm_aal1_ratio ratio = leat_atm_aal1_srts_receive_ratio(&r);
        EQ(ratio.service_bits, seen_q * 3008);
        EQ(ratio.network_cycles, (seen_count - origin) << r.shift);
        EQ(r.rejected, 0);
    }
}

static void a_long_silence_waits_for_a_first_stamp(void)
{
    static struct leat_atm_aal1_srts_receive r;
    struct sender s = sender_of(&e1, 0, 0);
    EQ(leat_atm_aal1_srts_receive_init(&r, &e1), LEAT_ERR_OK);
    leat_atm_aal1_srts_receive_lost(&r); /* nothing to lose yet */
    OK(!r.locked);
    (void)leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s));
    (void)leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s));
    const struct leat_atm_aal1_ratio before = leat_atm_aal1_srts_receive_ratio(&r);
    for (uint32_t i = 0; i < r.span_max; i++) {
        OK(r.locked);
        leat_atm_aal1_srts_receive_lost(&r);
    }
    OK(!r.locked);
    (void)leat_atm_aal1_srts_receive_stamp(&r, 3); /* an origin, no span */
    EQ(leat_atm_aal1_srts_receive_ratio(&r).service_bits, before.service_bits);
    leat_atm_aal1_srts_receive_restart(&r);
    OK(!r.locked);
    EQ(leat_atm_aal1_srts_receive_ratio(&r).network_cycles, before.network_cycles);
}

/* A wrong stamp is not within +-3 of the nominal residue: it is ignored, and the next span is
 * two. */
static void a_stamp_outside_the_tolerance_is_passed_over(void)
{
    static struct leat_atm_aal1_srts_receive r;
    struct sender s = sender_of(&e1, 50000, 0);
    EQ(leat_atm_aal1_srts_receive_init(&r, &e1), LEAT_ERR_OK);
    (void)leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s));
    const uint64_t origin = s.count >> r.shift;
    (void)leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s) ^ 8);
    EQ(r.rejected, 1);
    (void)leat_atm_aal1_srts_receive_stamp(&r, next_stamp(&s));
    EQ(leat_atm_aal1_srts_receive_ratio(&r).service_bits, 2 * 3008);
    EQ(leat_atm_aal1_srts_receive_ratio(&r).network_cycles, ((s.count >> r.shift) - origin)
                                                                << r.shift);
}

/* ---- adaptive ----------------------------------------------------------------------------- */

static const struct leat_atm_aal1_adaptive_config steer = {
    .service_hz = 2048000,
    .target_len = 1000,
    .smoothing = 8,
    .gain_p = 6000,
    .gain_i = 28000, /* critically damped at 47 octets per observation */
    .ppb_max = 300000,
    .ppb_step = 20000,
};

static struct leat_atm_aal1_adaptive made(struct leat_atm_aal1_adaptive_config c)
{
    struct leat_atm_aal1_adaptive a;
    EQ(leat_atm_aal1_adaptive_init(&a, &c, 0), LEAT_ERR_OK);
    return a;
}

static void at_the_target_the_nominal_rate_is_kept(void)
{
    struct leat_atm_aal1_adaptive a = made(steer);
    for (int i = 0; i < 1000; i++)
        leat_atm_aal1_adaptive_observe(&a, 1000);
    EQ(a.ppb, 0);
    for (int i = 0; i < 2048000 / 8; i++)
        leat_atm_aal1_adaptive_advance(&a);
    EQ(a.due_at, 1000000000000); /* one second, exactly */
}

/* Over one second of octets the due times are the closed formula, to a part in 10^9. */
static void the_read_times_follow_the_rate(void)
{
    static const int32_t rates[] = { 1000000, -1000000, 50000, -50000, 1 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct leat_atm_aal1_adaptive a = made(steer);
        a.ppb = rates[i];
        for (int k = 0; k < 2048000 / 8; k++)
            leat_atm_aal1_adaptive_advance(&a);
        const int64_t want = (int64_t)(1e21 / (1e9 + rates[i]));
        const int64_t off = (int64_t)a.due_at - want;
        OK(off < 100 && off > -100);
    }
}

static void every_step_and_the_rate_are_bounded(void)
{
    struct leat_atm_aal1_adaptive a = made(steer);
    int32_t before = 0;
    for (int i = 0; i < 6000; i++) {
        leat_atm_aal1_adaptive_observe(&a, i < 1000 ? SIZE_MAX : 0);
        const int32_t ppb = a.ppb, change = ppb - before;
        OK(change <= 20000 && change >= -20000);
        OK(ppb <= 300000 && ppb >= -300000);
        if (i < 1000) OK(change >= 0);
        before = ppb;
    }
    EQ(before, -300000);
}

/* A million octets at a rate that another recovery names take so much less time, or more. */
static void another_recovery_may_steer_the_reads(void)
{
    for (int64_t ppb = -200000; ppb <= 200000; ppb += 50000) {
        struct leat_atm_aal1_adaptive a = made(steer);
        leat_atm_aal1_adaptive_steer(&a, ppb);
        for (int i = 0; i < 1000000; i++)
            leat_atm_aal1_adaptive_advance(&a);
        const double expected = 1e6 * 3906250 / (1 + (double)ppb / 1e9); /* at 2.048 Mb/s */
        const double off = (double)a.due_at - expected;
        OK(off > -1000 && off < 1000);
    }
    struct leat_atm_aal1_adaptive a = made(steer);
    leat_atm_aal1_adaptive_steer(&a, INT64_MAX);
    EQ(a.ppb, steer.ppb_max);
    leat_atm_aal1_adaptive_steer(&a, INT64_MIN);
    EQ(a.ppb, -(int64_t)steer.ppb_max);
}

static void limits_of_adaptive_hold(void)
{
    struct leat_atm_aal1_adaptive a;
    struct leat_atm_aal1_adaptive_config wrong[9];
    for (size_t i = 0; i < 9; i++)
        wrong[i] = steer;
    wrong[0].service_hz = 7;
    wrong[1].service_hz = LEAT_ATM_AAL1_NETWORK_HZ_MAX + 1;
    wrong[2].target_len = LEAT_ATM_AAL1_ADAPTIVE_LEVEL_MAX + 1;
    wrong[3].smoothing = LEAT_ATM_AAL1_ADAPTIVE_SMOOTHING_MAX + 1;
    wrong[4].gain_p = 0;
    wrong[5].gain_i = LEAT_ATM_AAL1_ADAPTIVE_GAIN_MAX + 1;
    wrong[6].ppb_max = 0;
    wrong[7].ppb_max = LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX + 1;
    wrong[8].ppb_step = 0;
    for (size_t i = 0; i < 9; i++)
        EQ(leat_atm_aal1_adaptive_init(&a, &wrong[i], 0), LEAT_ERR_RANGE);

    /* The extremes do not overflow (the sanitizers check). */
    struct leat_atm_aal1_adaptive_config big = steer;
    big.gain_p = big.gain_i = LEAT_ATM_AAL1_ADAPTIVE_GAIN_MAX;
    big.ppb_max = big.ppb_step = LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX;
    big.smoothing = 0;
    big.service_hz = 8;
    a = made(big);
    for (int i = 0; i < 1000; i++) {
        leat_atm_aal1_adaptive_observe(&a, i % 3 ? SIZE_MAX : 0);
        leat_atm_aal1_adaptive_advance(&a);
    }
    OK(a.due_at < LEAT_NEVER);
}

/*
 * A sender `ppb` fast, a network that delays each cell by 0..jitter_ps and keeps their order, a
 * playout buffer read at the steered times. In the second half of the run the mean rate must equal
 * the sender's, as precisely as the level is steady: one octet more or less is 0.27 ppm of it. The
 * buffer must neither underrun nor overrun.
 */
enum { CELLS = 160000, CELL_LEN = 47, BUFFER_LEN = 4000 };
#define OCTET_PS 3906250.0 /* at 2.048 Mb/s */

struct line {
    struct leat_random random;
    int64_t ppb;
    leat_time jitter_ps, last_at;
    uint64_t cells;
};

static leat_time next_arrival(struct line *l)
{
    const double period = CELL_LEN * OCTET_PS / (1.0 + (double)l->ppb / 1e9);
    const leat_time sent = (leat_time)((double)++l->cells * period);
    const leat_time at = sent + leat_random_below(&l->random, l->jitter_ps + 1);
    l->last_at = at > l->last_at ? at : l->last_at;
    return l->last_at;
}

static void converges(int64_t ppb, leat_time jitter_ps, double within_ppb)
{
    static alignas(max_align_t) unsigned char memory[BUFFER_LEN + 512];
    const struct leat_atm_aal1_playout_config config = { .capacity_len = BUFFER_LEN,
                                                         .start_len = 1000,
                                                         .start_ps = LEAT_NEVER };
    struct leat_atm_aal1_playout *playout = NULL;
    struct leat_atm_aal1_adaptive a = made(steer);
    struct line line = { .ppb = ppb, .jitter_ps = jitter_ps };
    const uint8_t octets[CELL_LEN] = { 0 };
    uint64_t reads = 0;
    leat_time since = 0;

    EQ(leat_atm_aal1_playout_init(memory, sizeof memory, &config, &playout), LEAT_ERR_OK);
    leat_random_seed(&line.random, tap_seed());
    for (uint64_t i = 0; i < CELLS; i++) {
        const leat_time at = next_arrival(&line);
        uint8_t octet;
        for (; a.due_at < at; leat_atm_aal1_adaptive_advance(&a), reads++)
            (void)leat_atm_aal1_playout_read(playout, a.due_at, &octet, 1);
        leat_atm_aal1_playout_arrive(playout, at, octets, sizeof octets);
        leat_atm_aal1_adaptive_observe(&a, leat_atm_aal1_playout_level(playout));
        if (i == CELLS / 2) {
            since = a.due_at;
            reads = 0;
        }
    }
    const double elapsed = (double)(a.due_at - since);
    const double rate_ppb = ((double)reads * OCTET_PS / elapsed - 1) * 1e9;
    const double error = rate_ppb - (double)ppb;
    if (error > within_ppb || error < -within_ppb) printf("# %f ppb off\n", error);
    OK(error <= within_ppb && error >= -within_ppb);
    EQ(leat_atm_aal1_playout_counts(playout).underruns, 0);
    EQ(leat_atm_aal1_playout_counts(playout).overruns, 0);
}

static void the_adaptive_clock_finds_the_sender_s_rate_through_jitter(void)
{
    static const int64_t offsets[] = { 0, 50000, -50000, 200000, -200000 };
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        converges(offsets[i], 0, 500);
        converges(offsets[i], 1000000000, 5000); /* up to 1 ms, five cells' time */
    }
}

TAP_MAIN(T(the_network_clock_is_halved_until_it_is_below_twice_the_service), T(limits_of_srts_hold),
         T(a_stamp_is_due_after_3008_bits_and_never_late),
         T(the_service_clock_is_recovered_within_one_count), T(lost_stamps_do_no_harm),
         T(a_long_silence_waits_for_a_first_stamp), T(a_stamp_outside_the_tolerance_is_passed_over),
         T(at_the_target_the_nominal_rate_is_kept), T(the_read_times_follow_the_rate),
         T(every_step_and_the_rate_are_bounded), T(another_recovery_may_steer_the_reads),
         T(limits_of_adaptive_hold), T(the_adaptive_clock_finds_the_sender_s_rate_through_jitter))
