/*
 * A circuit of a constant bit rate by AAL1. The sender's octets come by its service clock; the
 * receiver reads its playout buffer by a clock of its own:
 *
 *   network    the nominal rate; a sender that is faster or slower makes slips
 *   SRTS       nominal, corrected by the stamps of up to 1024 periods
 *   adaptive   steered by the level after each arrival
 *
 * All times are those of the simulation: no octet is read late, however long a host waits.
 */
#include "sim_atm_circuits.h"
#include <assert.h>
#include <string.h>

enum {
    USER_LEN = LEAT_ATM_AAL1_INTERLEAVE_USER_LEN,
    COLUMNS = LEAT_ATM_AAL1_INTERLEAVE_COLUMNS,
    PDU_LEN = LEAT_SIM_ATM_CHANNEL_PDU_LEN,
    PAYLOAD_LEN = LEAT_ATM_AAL1_PAYLOAD_LEN,
    BITS_IN_OCTET = 8,
    DUMMY = 0xff,
    ADAPTIVE_SMOOTHING = 7,  /* 128 observations */
    ADAPTIVE_SETTLES = 1024, /* observations */
    VARIATIONS = 2,          /* playout=auto: so many times what was seen, and a cell */
};
#define BILLION     UINT64_C(1000000000)
#define AUTO_MAX_PS UINT64_C(20000000000) /* 20 ms, and two cells */

/* Octets that become audible at once: a cell, or a block of the interleaver. */
static uint32_t chunk_len(const struct leat_sim_atm_circuit *plan)
{
    return plan->fec ? USER_LEN : PAYLOAD_LEN;
}

/* ---- the sender ------------------------------------------------------------------------------ */

/* The network clock, as both ends see it. */
static uint64_t network_count(leat_time at)
{
    /* 10^12 / 155,520,000, shortened */
    const struct leat_sim_clock network = { 1562500, 243 };
    return leat_sim_clock_last(&network, at);
}

/* A block is complete before its first column leaves; columns are spread over the next block. */
static void prepare_column(struct leat_sim_atm_channel *channel)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    const uint32_t column = cbr->column;
    uint8_t user[USER_LEN];
    if (column == 0) {
        leat_sim_atm_channel_fill(channel, cbr->octets, user, USER_LEN);
        leat_atm_aal1_interleave_fill(user, cbr->matrix);
        cbr->octets += USER_LEN;
    }
    channel->next = (struct leat_sim_atm_channel_sent){ .ready_at = cbr->service.at,
                                                        .mark = cbr->octets - USER_LEN };
    leat_atm_aal1_interleave_pdu(cbr->matrix, column, channel->next.pdu);
    leat_sim_atm_service_advance(&cbr->service,
                                 USER_LEN * (column + 1) / COLUMNS - USER_LEN * column / COLUMNS);
    cbr->column = (column + 1) % COLUMNS;
}

static void stamp(struct leat_sim_atm_cbr *cbr, uint32_t octets)
{
    bool ready = false;
    uint8_t rts = 0;
    leat_err err = leat_atm_aal1_srts_send_bits(&cbr->stamps, BITS_IN_OCTET * octets,
                                                network_count(cbr->service.at), &ready, &rts);
    if (!err && ready) err = leat_atm_aal1_segment_rts(&cbr->segment, rts);
    assert(!err);
    (void)err;
}

static void prepare_cell(struct leat_sim_atm_channel *channel)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    uint8_t octets[PAYLOAD_LEN];
    bool ready = false;
    leat_sim_atm_channel_fill(channel, cbr->octets, octets, sizeof octets);
    const size_t taken = leat_atm_aal1_segment_push(&cbr->segment, octets, sizeof octets,
                                                    channel->next.pdu, &ready);
    assert(ready);
    leat_sim_atm_service_advance(&cbr->service, (uint32_t)taken);
    channel->next.ready_at = cbr->service.at;
    channel->next.mark = cbr->octets;
    cbr->octets += taken;
    if (channel->plan->recovery == LEAT_SIM_ATM_CIRCUIT_SRTS) stamp(cbr, (uint32_t)taken);
}

void leat_sim_atm_cbr_prepare(struct leat_sim_atm_channel *channel)
{
    if (channel->plan->fec)
        prepare_column(channel);
    else
        prepare_cell(channel);
}

/* ---- playing --------------------------------------------------------------------------------- */

static void watch_error(struct leat_sim_atm_cbr *cbr)
{
    const int64_t error = (int64_t)(cbr->reader.due_at - cbr->truth.at);
    if (error < cbr->error_min) cbr->error_min = error;
    if (error > cbr->error_max) cbr->error_max = error;
}

/* What arrives in the same picosecond is there to be read. */
static void read_until(struct leat_sim_atm_cbr *cbr, leat_time until)
{
    while (cbr->playout && cbr->reader.due_at < until) {
        uint8_t octet;
        leat_atm_aal1_playout_read(cbr->playout, cbr->reader.due_at, &octet, 1);
        watch_error(cbr);
        leat_atm_aal1_adaptive_advance(&cbr->reader);
        leat_sim_atm_service_advance(&cbr->truth, 1);
        cbr->read++;
    }
}

static void begin_reading(struct leat_sim_atm_channel *channel, leat_time at)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    const struct leat_sim_atm_circuit *plan = channel->plan;
    const uint32_t chunk = chunk_len(plan), gain = (uint32_t)(BILLION / (chunk * ADAPTIVE_SETTLES));
    const struct leat_atm_aal1_adaptive_config config = {
        .service_hz = plan->rate,
        .target_len = chunk + cbr->tolerance_len,
        .smoothing = ADAPTIVE_SMOOTHING,
        .gain_p = gain,
        .gain_i = 16 * gain, /* settles four times as slowly */
        .ppb_max = LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX,
        .ppb_step = LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX,
    };
    leat_err err = leat_atm_aal1_adaptive_init(&cbr->reader, &config, at);
    assert(!err);
    (void)err;
    if (plan->recovery == LEAT_SIM_ATM_CIRCUIT_SRTS)
        leat_atm_aal1_adaptive_steer(&cbr->reader, leat_atm_aal1_srts_receive_ppb(&cbr->stamped));
    leat_sim_atm_service_init(&cbr->truth, plan->rate, plan->clock_ppm, at);
}

/* How long before its cell was complete was the first of these octets there? */
static leat_time age_of_first(const struct leat_sim_atm_circuit *plan, size_t len)
{
    const uint32_t later = plan->fec ? USER_LEN + USER_LEN * (COLUMNS - 1) / COLUMNS
                                     : (uint32_t)len;
    struct leat_sim_atm_service service;
    leat_sim_atm_service_init(&service, plan->rate, 0, 0);
    leat_sim_atm_service_advance(&service, later - 1);
    return service.at;
}

/* The first octets have arrived. */
static void begin_playing(struct leat_sim_atm_channel *channel, size_t len, leat_time now)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    const uint32_t chunk = chunk_len(channel->plan);
    const struct leat_atm_aal1_playout_config config = {
        .capacity_len = 2 * (cbr->tolerance_len + chunk),
        .start_len = 2 * (cbr->tolerance_len + chunk),
        .start_ps = cbr->tolerance,
        .overrun = LEAT_ATM_AAL1_DROP_OLDEST,
        .underrun = LEAT_ATM_AAL1_REFILL,
        .dummy = DUMMY,
    };
    const leat_err err = leat_atm_aal1_playout_init(cbr->playout_memory, cbr->playout_memory_len,
                                                    &config, &cbr->playout);
    assert(!err);
    (void)err;
    cbr->delay = now + cbr->tolerance - cbr->kept_ready_at + age_of_first(channel->plan, len);
    begin_reading(channel, now + cbr->tolerance);
}

/* Octets come out of the adaptation layer. */
static void play(struct leat_sim_atm_channel *channel, const uint8_t *octets, size_t len,
                 leat_time now)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    if (!len || cbr->tolerance == LEAT_NEVER) return;
    if (!cbr->playout) begin_playing(channel, len, now);
    channel->line->counts.octets += len;
    leat_atm_aal1_playout_arrive(cbr->playout, now, octets, len);
    if (channel->plan->recovery == LEAT_SIM_ATM_CIRCUIT_ADAPTIVE)
        leat_atm_aal1_adaptive_observe(&cbr->reader, leat_atm_aal1_playout_level(cbr->playout));
}

static uint32_t octets_in(const struct leat_sim_atm_circuit *plan, leat_time time)
{
    struct leat_sim_atm_service service;
    leat_sim_atm_service_init(&service, plan->rate, 0, 0);
    const uint64_t octet_ps = service.whole + (service.rest > 0);
    return (uint32_t)((time + octet_ps - 1) / octet_ps);
}

/* The longest that is learnt. */
static leat_time learnt_max(const struct leat_sim_atm_circuit *plan)
{
    return leat_smaller(AUTO_MAX_PS + 2 * leat_sim_atm_circuit_cell_time(plan),
                        leat_sim_atm_circuit_playout_max(plan));
}

static void set_tolerance(struct leat_sim_atm_channel *channel, leat_time tolerance)
{
    channel->cbr->tolerance = tolerance;
    channel->cbr->tolerance_len = octets_in(channel->plan, tolerance);
}

static void learn(struct leat_sim_atm_channel *channel, uint64_t delay)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    if (cbr->tolerance != LEAT_NEVER) return;
    cbr->seen_min = leat_smaller(cbr->seen_min, delay);
    cbr->seen_max = leat_larger(cbr->seen_max, delay);
    if (++cbr->learnt < LEAT_SIM_ATM_CIRCUITS_LEARN) return;
    const leat_time wanted = VARIATIONS * (cbr->seen_max - cbr->seen_min) +
                             leat_sim_atm_circuit_cell_time(channel->plan);
    set_tolerance(channel, leat_smaller(wanted, learnt_max(channel->plan)));
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static unsigned differences(const uint8_t *a, const uint8_t *b, size_t len)
{
    unsigned count = 0;
    for (size_t i = 0; i < len; i++)
        count += a[i] != b[i];
    return count;
}

static void steer(struct leat_sim_atm_cbr *cbr, const struct leat_atm_aal1_reassemble_out *out)
{
    if (out->restarted) leat_atm_aal1_srts_receive_restart(&cbr->stamped);
    switch (out->rts_is) {
    case LEAT_ATM_AAL1_RTS_NONE: return;
    case LEAT_ATM_AAL1_RTS_LOST: leat_atm_aal1_srts_receive_lost(&cbr->stamped); return;
    case LEAT_ATM_AAL1_RTS_SEEN: break;
    }
    (void)leat_atm_aal1_srts_receive_stamp(&cbr->stamped, out->rts);
    leat_atm_aal1_adaptive_steer(&cbr->reader, leat_atm_aal1_srts_receive_ppb(&cbr->stamped));
}

/* Octets come out of the adaptation layer: so many dummies, then those from `first` on;
 * UINT64_MAX: they are nobody's. */
static void follow(struct leat_sim_atm_channel *channel, uint64_t first, size_t dummies, size_t len)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    const uint64_t place = cbr->place + dummies;
    if (first == UINT64_MAX) first = place;
    channel->line->counts.shifts += cbr->playout && first != place;
    cbr->place = first + len;
}

/* The octets of a cell stand at the end of its SAR-PDU. */
static void compare(struct leat_sim_atm_channel *channel,
                    const struct leat_atm_aal1_reassemble_out *out)
{
    const struct leat_sim_atm_cbr *cbr = channel->cbr;
    struct leat_sim_atm_circuits_counts *counts = &channel->line->counts;
    const size_t own = out->octets_len - out->dummy_len;
    if (cbr->tolerance == LEAT_NEVER || !out->octets_len) return;
    follow(channel, cbr->kept_is_own ? cbr->kept_octet : UINT64_MAX, out->dummy_len, own);
    counts->octets_replaced += out->dummy_len;
    counts->octets_wrong += cbr->kept_is_own ? differences(out->octets + out->dummy_len,
                                                           cbr->kept + PDU_LEN - own, own)
                                             : own;
}

static void take_cell(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                      const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    struct leat_atm_cell cell = { 0 };
    memcpy(cell.payload, pdu, PDU_LEN);
    const struct leat_atm_aal1_reassemble_out out = leat_atm_aal1_reassemble_cell(&cbr->reassemble,
                                                                                  &cell);
    if (channel->plan->recovery == LEAT_SIM_ATM_CIRCUIT_SRTS) steer(cbr, &out);
    compare(channel, &out);
    play(channel, out.octets, out.octets_len, now);
    cbr->kept_is_own = own;
    if (!own) return;
    memcpy(cbr->kept, own->pdu, PDU_LEN);
    cbr->kept_octet = own->mark;
    cbr->kept_ready_at = own->ready_at;
}

/* The block that ended with one of the latest cells, or the one before it. */
static void compare_block(struct leat_sim_atm_channel *channel, const uint8_t *user)
{
    const uint64_t latest = channel->cbr->kept_octet;
    uint64_t best = UINT64_MAX;
    uint8_t sent[USER_LEN];
    unsigned wrong = USER_LEN;
    for (uint64_t back = 0; back <= USER_LEN && back <= latest; back += USER_LEN) {
        leat_sim_atm_channel_fill(channel, latest - back, sent, USER_LEN);
        const unsigned now = differences(user, sent, USER_LEN);
        if (now >= wrong) continue;
        wrong = now;
        best = latest - back;
    }
    follow(channel, best, 0, USER_LEN);
    channel->line->counts.octets_wrong += wrong;
}

static void take_column(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                        const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    struct leat_sim_atm_circuits_counts *counts = &channel->line->counts;
    if (own) {
        cbr->kept_octet = own->mark;
        cbr->kept_ready_at = own->ready_at;
    }
    const struct leat_atm_aal1_interleave_out out = leat_atm_aal1_interleave_step(cbr->deinterleave,
                                                                                  pdu);
    if (!out.user || cbr->tolerance == LEAT_NEVER) return;
    counts->rows_bad += leat_sim_atm_circuits_ones(out.bad_rows);
    compare_block(channel, out.user);
    play(channel, out.user, USER_LEN, now);
}

void leat_sim_atm_cbr_take(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                           const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    read_until(channel->cbr, now);
    if (own) learn(channel, now - own->ready_at);
    if (channel->plan->fec)
        take_column(channel, pdu, own, now);
    else
        take_cell(channel, pdu, own, now);
}

void leat_sim_atm_cbr_settle(struct leat_sim_atm_channel *channel, leat_time now)
{
    read_until(channel->cbr, now);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

void leat_sim_atm_cbr_lay(struct leat_sim_atm_channel *channel, struct leat_arena *arena)
{
    const struct leat_sim_atm_circuit *plan = channel->plan;
    const leat_time longest = plan->playout == LEAT_NEVER ? learnt_max(plan) : plan->playout;
    const struct leat_atm_aal1_playout_config config = {
        .capacity_len = 2 * (octets_in(plan, longest) + chunk_len(plan))
    };
    struct leat_sim_atm_cbr *cbr = leat_arena_lay(arena, 1, sizeof *cbr);
    struct leat_atm_aal1_matrix *matrix = leat_arena_lay(arena, plan->fec, sizeof *matrix);
    struct leat_atm_aal1_interleave *deinterleave = leat_arena_lay(arena, plan->fec,
                                                                   sizeof *deinterleave);
    const size_t playout_len = leat_atm_aal1_playout_footprint(&config);
    void *playout = leat_arena_lay(arena, 1, playout_len);
    channel->cbr = cbr;
    if (!cbr) return; /* it only measures */
    cbr->matrix = matrix;
    cbr->deinterleave = deinterleave;
    cbr->playout_memory = playout;
    cbr->playout_memory_len = playout_len;
}

static void init_recovery(struct leat_sim_atm_cbr *cbr, const struct leat_sim_atm_circuit *plan)
{
    const struct leat_atm_aal1_srts_config srts = {
        .network_hz = LEAT_SIM_ATM_CIRCUITS_NETWORK_HZ,
        .service_hz = plan->rate,
        .tolerance_ppm = LEAT_ATM_AAL1_SRTS_PPM_MAX,
        .window = LEAT_ATM_AAL1_SRTS_WINDOW_MAX,
    };
    if (plan->recovery != LEAT_SIM_ATM_CIRCUIT_SRTS) return;
    leat_err err = leat_atm_aal1_srts_send_init(&cbr->stamps, &srts);
    if (!err) err = leat_atm_aal1_srts_receive_init(&cbr->stamped, &srts);
    assert(!err);
    (void)err;
    stamp(cbr, LEAT_ATM_AAL1_SRTS_BITS / BITS_IN_OCTET); /* a period ends where the stream begins */
}

void leat_sim_atm_cbr_init(struct leat_sim_atm_channel *channel, leat_time start)
{
    struct leat_sim_atm_cbr *cbr = channel->cbr;
    const struct leat_sim_atm_circuit *plan = channel->plan;
    const struct leat_atm_aal1_reassemble_config reassemble = {
        .block_len = plan->block_len, .lost_cells_max = LEAT_ATM_AAL1_LOST_MAX, .dummy = DUMMY
    };
    leat_err err = leat_atm_aal1_segment_init(&cbr->segment, plan->block_len);
    if (!err) err = leat_atm_aal1_reassemble_init(&cbr->reassemble, &reassemble);
    assert(!err);
    (void)err;
    leat_sim_atm_service_init(&cbr->service, plan->rate, plan->clock_ppm, start);
    if (plan->fec) {
        leat_sim_atm_service_advance(&cbr->service, USER_LEN);
        leat_atm_aal1_interleave_init(cbr->deinterleave);
    }
    init_recovery(cbr, plan);
    cbr->seen_min = UINT64_MAX;
    cbr->tolerance = LEAT_NEVER;
    if (plan->playout != LEAT_NEVER) set_tolerance(channel, plan->playout);
}
