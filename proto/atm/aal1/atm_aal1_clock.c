#include "atm_aal1_clock.h"
#include <string.h>

/* ---- SRTS --------------------------------------------------------------------------------- */

enum {
    HALF_MODULUS = LEAT_ATM_AAL1_SRTS_MODULUS / 2,
    SPAN_MAX = 8, /* periods; after a longer silence start again, however good the clocks */
    MILLION = 1000000,
};

static leat_err check_config(const struct leat_atm_aal1_srts_config *c)
{
    if (c->service_hz < 1 || c->network_hz < c->service_hz) return LEAT_ERR_RANGE;
    if (c->network_hz > LEAT_ATM_AAL1_NETWORK_HZ_MAX) return LEAT_ERR_RANGE;
    if (c->tolerance_ppm > LEAT_ATM_AAL1_SRTS_PPM_MAX) return LEAT_ERR_RANGE;
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal1_srts_shift(const struct leat_atm_aal1_srts_config *config, unsigned *shift)
{
    const leat_err err = check_config(config);
    if (err) return err;
    *shift = 0;
    while (config->service_hz << (*shift + 1) <= config->network_hz)
        ++*shift;
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal1_srts_send_init(struct leat_atm_aal1_srts_send *send,
                                      const struct leat_atm_aal1_srts_config *config)
{
    unsigned shift;
    const leat_err err = leat_atm_aal1_srts_shift(config, &shift);
    if (err) return err;
    *send = (struct leat_atm_aal1_srts_send){ .shift = shift, .bits_due = LEAT_ATM_AAL1_SRTS_BITS };
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal1_srts_send_bits(struct leat_atm_aal1_srts_send *send, uint32_t bits,
                                      uint64_t network_count, bool *ready, uint8_t *rts)
{
    if (bits > send->bits_due) return LEAT_ERR_RANGE;
    send->bits_due -= bits;
    *ready = send->bits_due == 0;
    if (*ready) {
        *rts = (network_count >> send->shift) % LEAT_ATM_AAL1_SRTS_MODULUS;
        send->bits_due = LEAT_ATM_AAL1_SRTS_BITS;
    }
    return LEAT_ERR_OK;
}

/* N fn k / (2^x fs), the counts of fnx expected in k periods, rounded down. */
static uint64_t nominal_counts(const struct leat_atm_aal1_srts_receive *r, uint32_t periods)
{
    return periods * (uint64_t)LEAT_ATM_AAL1_SRTS_BITS * r->config.network_hz /
           (r->config.service_hz << r->shift);
}

/*
 * How far a true count may be from nominal_counts: y = tolerance * nominal, rounded up, plus one
 * because both are whole numbers.
 */
static uint64_t slack(const struct leat_atm_aal1_srts_receive *r, uint32_t periods)
{
    const uint64_t nominal = nominal_counts(r, periods) + 1;
    return (nominal * r->config.tolerance_ppm + MILLION - 1) / MILLION + 1;
}

leat_err leat_atm_aal1_srts_receive_init(struct leat_atm_aal1_srts_receive *receive,
                                         const struct leat_atm_aal1_srts_config *config)
{
    unsigned shift;
    const leat_err err = leat_atm_aal1_srts_shift(config, &shift);
    if (err) return err;
    if (config->window < 1 || config->window > LEAT_ATM_AAL1_SRTS_WINDOW_MAX) return LEAT_ERR_RANGE;

    memset(receive, 0, sizeof *receive);
    receive->config = *config;
    receive->shift = shift;
    receive->span_max = 1; /* slack of one period is at most 3 */
    while (receive->span_max < SPAN_MAX && slack(receive, receive->span_max + 1) < HALF_MODULUS)
        receive->span_max++;
    return LEAT_ERR_OK;
}

static void remember(struct leat_atm_aal1_srts_receive *r, uint32_t periods, uint32_t counts)
{
    /* A window holds at least the newest span, then as many others as fit. */
    while (r->used > 0 && r->periods_sum + periods > r->config.window) {
        r->periods_sum -= r->spans[r->oldest].periods;
        r->counts_sum -= r->spans[r->oldest].counts;
        r->oldest = (r->oldest + 1) % LEAT_ATM_AAL1_SRTS_WINDOW_MAX;
        r->used--;
    }
    const uint32_t newest = (r->oldest + r->used++) % LEAT_ATM_AAL1_SRTS_WINDOW_MAX;
    r->spans[newest].periods = (uint8_t)periods;
    r->spans[newest].counts = counts;
    r->periods_sum += periods;
    r->counts_sum += counts;
}

leat_err leat_atm_aal1_srts_receive_stamp(struct leat_atm_aal1_srts_receive *receive, uint8_t rts)
{
    if (rts >= LEAT_ATM_AAL1_SRTS_MODULUS) return LEAT_ERR_RANGE;
    if (!receive->locked) {
        receive->locked = true;
        receive->rts = rts;
        receive->span = 1;
        return LEAT_ERR_OK;
    }
    /* Of all counts with this residue, the one in nominal-8 .. nominal+7. */
    const uint64_t lowest = nominal_counts(receive, receive->span) - HALF_MODULUS;
    const uint64_t residue = ((uint64_t)rts - receive->rts - lowest) % LEAT_ATM_AAL1_SRTS_MODULUS;
    const uint64_t off = residue < HALF_MODULUS ? HALF_MODULUS - residue : residue - HALF_MODULUS;

    if (off > slack(receive, receive->span)) {
        receive->rejected++;
        leat_atm_aal1_srts_receive_lost(receive);
        return LEAT_ERR_OK;
    }
    remember(receive, receive->span, (uint32_t)(lowest + residue));
    receive->rts = rts;
    receive->span = 1;
    return LEAT_ERR_OK;
}

void leat_atm_aal1_srts_receive_lost(struct leat_atm_aal1_srts_receive *receive)
{
    if (!receive->locked) return;
    if (receive->span < receive->span_max)
        receive->span++;
    else
        leat_atm_aal1_srts_receive_restart(receive);
}

void leat_atm_aal1_srts_receive_restart(struct leat_atm_aal1_srts_receive *receive)
{
    receive->locked = false;
}

struct leat_atm_aal1_ratio
leat_atm_aal1_srts_receive_ratio(const struct leat_atm_aal1_srts_receive *receive)
{
    return (struct leat_atm_aal1_ratio){
        .service_bits = receive->periods_sum * LEAT_ATM_AAL1_SRTS_BITS,
        .network_cycles = receive->counts_sum << receive->shift,
    };
}

int64_t leat_atm_aal1_srts_receive_ppb(const struct leat_atm_aal1_srts_receive *receive)
{
    const struct leat_atm_aal1_ratio ratio = leat_atm_aal1_srts_receive_ratio(receive);
    if (ratio.network_cycles == 0) return 0;

    /* bits/cycles : fs/fn. The bounds keep both products below 2^53; 1000 times that still fits. */
    const int64_t seen = (int64_t)(ratio.service_bits * receive->config.network_hz);
    const int64_t nominal = (int64_t)(ratio.network_cycles * receive->config.service_hz);
    int64_t rest = seen - nominal, ppb = 0;
    for (int thousand = 0; thousand < 3; thousand++) {
        rest *= 1000;
        ppb = ppb * 1000 + rest / nominal;
        rest %= nominal;
    }
    return ppb;
}

/* ---- adaptive ----------------------------------------------------------------------------- */

enum { Q16 = 65536, BITS_IN_OCTET = 8, BILLION = 1000000000 };
#define PS_IN_SECOND UINT64_C(1000000000000)

static int64_t clamp(int64_t value, int64_t limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

leat_err leat_atm_aal1_adaptive_init(struct leat_atm_aal1_adaptive *adaptive,
                                     const struct leat_atm_aal1_adaptive_config *config,
                                     leat_time start_at)
{
    const struct leat_atm_aal1_adaptive_config *c = config;
    if (c->service_hz < BITS_IN_OCTET || c->service_hz > LEAT_ATM_AAL1_NETWORK_HZ_MAX)
        return LEAT_ERR_RANGE;
    if (c->target_len > LEAT_ATM_AAL1_ADAPTIVE_LEVEL_MAX) return LEAT_ERR_RANGE;
    if (c->smoothing > LEAT_ATM_AAL1_ADAPTIVE_SMOOTHING_MAX) return LEAT_ERR_RANGE;
    if (c->gain_p < 1 || c->gain_p > LEAT_ATM_AAL1_ADAPTIVE_GAIN_MAX) return LEAT_ERR_RANGE;
    if (c->gain_i > LEAT_ATM_AAL1_ADAPTIVE_GAIN_MAX) return LEAT_ERR_RANGE;
    if (c->ppb_max < 1 || c->ppb_max > LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX) return LEAT_ERR_RANGE;
    if (c->ppb_step < 1 || c->ppb_step > LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX) return LEAT_ERR_RANGE;

    *adaptive = (struct leat_atm_aal1_adaptive){ .config = *config,
                                                 .level_q16 = (int64_t)config->target_len * Q16,
                                                 .due_at = start_at };
    return LEAT_ERR_OK;
}

/*
 * Bounds: the error is below 2^20 octets, so 2^36 in Q16; times a gain of 2^20 that is 2^56. The
 * division by 2^smoothing rounds towards zero: the average stops 2^(smoothing-16) octets short, at
 * most one.
 */
void leat_atm_aal1_adaptive_observe(struct leat_atm_aal1_adaptive *adaptive, size_t level_len)
{
    const struct leat_atm_aal1_adaptive_config *c = &adaptive->config;
    const int64_t limit_q16 = (int64_t)c->ppb_max * Q16;
    const size_t level = level_len < LEAT_ATM_AAL1_ADAPTIVE_LEVEL_MAX
                             ? level_len
                             : LEAT_ATM_AAL1_ADAPTIVE_LEVEL_MAX;

    adaptive->level_q16 += ((int64_t)level * Q16 - adaptive->level_q16) /
                           ((int64_t)1 << c->smoothing);
    const int64_t error_q16 = adaptive->level_q16 - (int64_t)c->target_len * Q16;

    adaptive->integral_q16 = clamp(adaptive->integral_q16 + error_q16 * c->gain_i / Q16, limit_q16);
    const int64_t wanted = clamp((error_q16 * c->gain_p + adaptive->integral_q16) / Q16,
                                 c->ppb_max);
    adaptive->ppb += (int32_t)clamp(wanted - adaptive->ppb, c->ppb_step);
}

void leat_atm_aal1_adaptive_steer(struct leat_atm_aal1_adaptive *adaptive, int64_t ppb)
{
    adaptive->ppb = (int32_t)clamp(ppb, adaptive->config.ppb_max);
}

/* The octet's period at the steered rate: nominal / (1 + ppb/10^9), without 128-bit products. */
static uint64_t period_q16(const struct leat_atm_aal1_adaptive *a)
{
    const uint64_t nominal = BITS_IN_OCTET * PS_IN_SECOND * Q16 / a->config.service_hz;
    const uint64_t divisor = (uint64_t)(BILLION + a->ppb);
    return nominal / divisor * BILLION + nominal % divisor * BILLION / divisor;
}

void leat_atm_aal1_adaptive_advance(struct leat_atm_aal1_adaptive *adaptive)
{
    const uint64_t next_q16 = period_q16(adaptive) + adaptive->due_q16;
    adaptive->due_at = leat_time_add(adaptive->due_at, next_q16 / Q16);
    adaptive->due_q16 = next_q16 % Q16;
}
