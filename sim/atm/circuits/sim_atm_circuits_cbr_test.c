/* Circuits of a constant bit rate: clocks held to what was set, playout to a plain model, octets to
 * what was sent. */
#include "sim_atm_circuits_world_test.h"
#include <math.h>

static struct world w;

static struct leat_sim_atm_cbr *cbr_of(uint32_t line)
{
    return w.sim.channel[w.sim.line[line].first].cbr;
}

static double deviation_ppm(const struct leat_sim_atm_cbr *cbr)
{
    return cbr->reader.ppb / 1e3;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* After a second by its own clock it is a second later, less or more. */
static void service_clocks_are_exact(void)
{
    for (int32_t ppm = -1000; ppm <= 1000; ppm += 125) {
        struct leat_sim_atm_service s;
        leat_sim_atm_service_init(&s, 8000000, ppm, 5);
        for (int32_t i = 0; i < 1000; i++)
            leat_sim_atm_service_advance(&s, 1000);
        leat_sim_atm_service_advance(&s, (uint32_t)(ppm + 1000));
        leat_sim_atm_service_advance(&s, 0);
        /* 10^6 + ppm + 1000 octets at 10^6 + ppm a second: 1000 / (10^6 + ppm) s more */
        EQ(s.at,
           5 + UINT64_C(1000000000000) + UINT64_C(1000000000000000) / (uint64_t)(1000000 + ppm));
    }
}

/* Between two stamps there are so many cycles of the network clock, and one more or less. */
static void stamps_recover_the_clock_within_one_count(void)
{
    static const uint64_t rates[] = { 2048000, 1544000, 34368000, 6312000 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned run = 0; run < 10; run++) {
        const uint64_t rate = rates[run % 4];
        const int32_t ppm = run == 0   ? 200
                            : run == 1 ? -200
                                       : (int32_t)leat_random_below(&r, 401) - 200;
        world_begin(&w, run % 5 ? "bmx:6" : "clos444", tap_seed() + run);
        w.config.plain.load_ppm = 400000;
        struct leat_sim_atm_circuit *c = world_add(&w, 0, 5, rate);
        c->clock_ppm = ppm;
        c->recovery = LEAT_SIM_ATM_CIRCUIT_SRTS;
        c->playout = 500000000;
        world_open(&w);
        world_run(&w, 2500000);
        const struct leat_sim_atm_cbr *cbr = cbr_of(0);
        const struct leat_atm_aal1_ratio ratio = leat_atm_aal1_srts_receive_ratio(&cbr->stamped);
        const long double counts = (long double)(ratio.network_cycles >> cbr->stamped.shift),
                          fnx = 155520000.0L / (long double)(1 << cbr->stamped.shift),
                          fs = (long double)rate * (1 + (long double)ppm / 1e6L);
        OK(ratio.service_bits > 50 * 3008);
        OK(fabsl(counts - (long double)ratio.service_bits * fnx / fs) < 1);
        EQ(cbr->stamped.rejected, 0);
        /* The read clock follows: a count is 1/counts of the frequency. */
        OK(fabs(deviation_ppm(cbr) - ppm) < 1.01e6 / (double)counts);
        EQ(leat_atm_aal1_playout_counts(cbr->playout).underruns, 0);
        EQ(leat_atm_aal1_playout_counts(cbr->playout).overruns, 0);
        EQ(w.sim.line[0].counts.octets_wrong + w.sim.line[0].counts.shifts, 0);
        /* After k periods the mean is a count in k wrong, at most; before, it is the nominal one. */
        const double periods = (double)ratio.service_bits / 3008,
                     first = 3 * fabs(ppm * 1e-6) * (double)(3008 * fnx / fs),
                     counts_off = 2 + log(periods) + first;
        OK((double)(cbr->error_max - cbr->error_min) < counts_off * 1e12 / (double)fnx);
        world_close(&w);
    }
}

static void the_level_of_the_buffer_recovers_the_clock(void)
{
    for (int32_t ppm = -150; ppm <= 150; ppm += 100) {
        world_begin(&w, "bmx:2", tap_seed() + (uint64_t)(ppm + 150));
        w.config.plain.load_ppm = 300000;
        struct leat_sim_atm_circuit *c = world_add(&w, 0, 1, 8000000);
        c->clock_ppm = ppm;
        c->recovery = LEAT_SIM_ATM_CIRCUIT_ADAPTIVE;
        c->playout = 1000000000; /* 1 ms: 1000 octets */
        world_open(&w);
        world_run(&w, 20000000);
        OK(fabs(deviation_ppm(cbr_of(0)) - ppm) < 10);
        const size_t level = leat_atm_aal1_playout_level(cbr_of(0)->playout);
        OK(level > 900 && level < 1150);
        EQ(leat_atm_aal1_playout_counts(cbr_of(0)->playout).underruns, 0);
        world_close(&w);
    }
}

/* ---- playout --------------------------------------------------------------------------------- */

/* A buffer by itself: cells of 47 octets, known once the next one is there; reads at the nominal
 * rate; empty: it fills again; full: the oldest octets go. */
struct model {
    uint64_t level, capacity, first_at, waits;
    bool plays;
    struct leat_atm_aal1_playout_counts counts;
};

static void model_read(struct model *m, uint64_t at)
{
    if (!m->plays) m->plays = m->level && at >= m->first_at + m->waits;
    if (m->plays && m->level) {
        m->level--;
        m->counts.played_len++;
        return;
    }
    m->counts.dummy_len++;
    m->counts.underruns += m->plays;
    m->plays = false;
}

static void model_arrive(struct model *m, uint64_t at)
{
    const uint64_t sum = m->level + 47;
    if (!m->level) m->first_at = at;
    m->level = leat_smaller(sum, m->capacity);
    m->counts.arrived_len += 47;
    m->counts.dropped_len += sum - m->level;
    m->counts.overruns += sum > m->level;
    if (m->level == m->capacity) m->plays = true;
}

/* Octet n is read n octet times after the first; 6.4e7 bit/s: 125 ns. */
enum { OCTET_PS = 125000 };

static void run_model(struct model *m, uint64_t end)
{
    uint64_t next = m->waits + w.heard[1].at;
    for (uint32_t k = 1; k < w.heards; k++) {
        for (; next < w.heard[k].at; next += OCTET_PS)
            model_read(m, next);
        model_arrive(m, w.heard[k].at);
    }
    for (; next < end; next += OCTET_PS)
        model_read(m, next);
}

static void the_playout_buffer_is_a_plain_queue(void)
{
    struct leat_random r;
    uint64_t underruns = 0, overruns = 0;
    leat_random_seed(&r, tap_seed());
    for (unsigned run = 0; run < 12; run++) {
        world_begin(&w, run % 2 ? "bmx:6" : "mesh:6", tap_seed() * 100 + run);
        w.config.plain.load_ppm = (uint32_t)leat_random_below(&r, 700000);
        struct leat_sim_atm_circuit *c = world_add(&w, 1, 4, 64000000);
        c->clock_ppm = (int32_t)leat_random_below(&r, 2001) - 1000;
        c->playout = leat_random_below(&r, 40000) * 1000;
        world_open(&w);
        world_run(&w, 1000000);
        OK(w.heards > 1000);
        struct model m = { .waits = c->playout };
        m.capacity = 2 * (47 + (c->playout + OCTET_PS - 1) / OCTET_PS);
        run_model(&m, UINT64_C(1000000) * WORLD_CYCLE_PS);
        const struct leat_atm_aal1_playout_counts n = leat_atm_aal1_playout_counts(
            cbr_of(0)->playout);
        EQ(n.arrived_len, m.counts.arrived_len);
        EQ(n.played_len, m.counts.played_len);
        EQ(n.dropped_len, m.counts.dropped_len);
        EQ(n.dummy_len, m.counts.dummy_len);
        EQ(n.underruns, m.counts.underruns);
        EQ(n.overruns, m.counts.overruns);
        underruns += n.underruns;
        overruns += n.overruns;
        world_close(&w);
    }
    OK(underruns > 10 && overruns > 10);
}

/* Two clocks that differ by d slip d/10^6 of all octets: the difference ends in dummies or drops,
 * but for what the buffer holds. */
static void a_clock_that_nobody_recovers_slips(void)
{
    for (int32_t ppm = -1000; ppm <= 1000; ppm += 2000) {
        world_begin(&w, "bmx:2", tap_seed());
        struct leat_sim_atm_circuit *c = world_add(&w, 0, 1, 64000000);
        c->clock_ppm = ppm;
        c->playout = 10000000;
        world_open(&w);
        world_run(&w, 20000000); /* a second: 8,000,000 octets */
        const struct leat_atm_aal1_playout_counts n = leat_atm_aal1_playout_counts(
            cbr_of(0)->playout);
        const int64_t slipped = (int64_t)n.dummy_len - (int64_t)n.dropped_len;
        OK(llabs(slipped + 8 * ppm) < 400);
        OK(ppm < 0 ? n.underruns > 10 && !n.overruns : n.overruns > 10 && !n.underruns);
        world_close(&w);
    }
}

/* ---- octets ---------------------------------------------------------------------------------- */

/* How often is one cell alone between two gaps? The robust algorithm takes it for a stray. */
static uint64_t lonely_cells(void)
{
    uint64_t count = 0;
    for (uint32_t k = 0; k + 2 < w.heards; k++)
        count += w.heard[k + 1].number - w.heard[k].number > 1 &&
                 w.heard[k + 2].number - w.heard[k + 1].number > 1;
    return count;
}

static void lost_cells_are_replaced_and_the_stream_keeps_its_length(void)
{
    world_begin(&w, "bmx:2", tap_seed());
    w.config.plain.line.lose = 500000; /* rarely two of eight */
    world_add(&w, 0, 1, 64000000)->playout = 100000000;
    world_open(&w);
    world_run(&w, 10000000);
    const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
    OK(n->cells_lost > 50);
    /* What was lost before the last cell is known with the next one. */
    const uint64_t last = w.heard[w.heards - 1].number - w.heard[w.heards - 2].number - 1;
    if (lonely_cells() == 0) {
        EQ(cbr_of(0)->reassemble.counts.lost, n->cells_lost - last);
        EQ(n->octets_replaced, 47 * (n->cells_lost - last));
    }
    EQ(n->octets_wrong, 0);
    OK(n->shifts <= 2 * lonely_cells());
    world_close(&w);
}

/* One damaged bit in 10^5 is 8 octets in 10^5, those of the SN octet apart, and cells in START. */
static void damaged_octets_are_those_of_the_lines(void)
{
    world_begin(&w, "bmx:2", tap_seed());
    w.config.plain.line.payload_errors = 5000; /* on each of two lines */
    struct leat_sim_atm_circuit *c = world_add(&w, 0, 1, 64000000);
    c->playout = 100000000;
    world_open(&w);
    world_run(&w, 10000000);
    const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
    const double expected = 8e-5 * (double)n->octets, deviation = sqrt(expected);
    OK(fabs((double)n->octets_wrong - expected) < 5 * deviation);
    OK(n->cells_damaged > 100);
    EQ(n->octets_replaced + n->shifts, 0);
    world_close(&w);
}

static void forward_error_correction_restores_lost_cells(void)
{
    for (unsigned corrects = 0; corrects < 2; corrects++) {
        world_begin(&w, "bmx:2", tap_seed());
        w.config.plain.line.lose = 500000;
        struct leat_sim_atm_circuit *c = world_add(&w, 0, 1, 64000000);
        c->fec = corrects;
        c->playout = 100000000;
        world_open(&w);
        world_run(&w, 10000000);
        const struct leat_sim_atm_circuits_counts *n = &w.sim.line[0].counts;
        OK(n->cells_lost > 50);
        EQ(n->octets_replaced == 0, corrects);
        EQ(n->octets_wrong, 0);
        OK(n->octets > 3000000);
        if (corrects) {
            EQ(n->rows_bad + n->shifts, 0); /* five of 128 are rarely lost */
            EQ(cbr_of(0)->deinterleave->counts.lost <= n->cells_lost, true);
            EQ(leat_sim_atm_circuit_packetisation(c), UINT64_C(728500000));
        }
        world_close(&w);
    }
}

static void structured_streams_stay_in_their_blocks(void)
{
    for (uint32_t block = 1; block < 500; block = 3 * block + 1) {
        world_begin(&w, "clos444", tap_seed() + block);
        w.config.plain.load_ppm = 500000;
        struct leat_sim_atm_circuit *c = world_add(&w, 2, 9, 30000000);
        c->block_len = block;
        world_open(&w);
        world_run(&w, 1000000);
        OK(w.sim.line[0].counts.octets > 100000);
        EQ(w.sim.line[0].counts.octets_wrong + w.sim.line[0].counts.shifts, 0);
        EQ(cbr_of(0)->reassemble.counts.pointer_errors, 0);
        world_close(&w);
    }
}

/* What is learnt suffices where the load stays the same. */
static void learnt_playout_times_hold(void)
{
    world_begin(&w, "clos444", tap_seed());
    w.config.plain.load_ppm = 300000;
    for (uint32_t from = 0; from < 8; from++)
        world_add(&w, from, from + 8, 2048000);
    world_open(&w);
    world_run(&w, 10000000);
    for (uint32_t l = 0; l < 8; l++) {
        const struct leat_sim_atm_cbr *cbr = cbr_of(l);
        OK(cbr->tolerance > leat_sim_atm_circuit_cell_time(&w.line[l]));
        OK(cbr->tolerance < 3 * leat_sim_atm_circuit_cell_time(&w.line[l]));
        EQ(leat_atm_aal1_playout_counts(cbr->playout).underruns, 0);
        OK(cbr->delay >
           cbr->tolerance + 2 * leat_sim_atm_circuit_cell_time(&w.line[l]) - 100000000);
    }
    world_close(&w);
}

TAP_MAIN(T(service_clocks_are_exact), T(stamps_recover_the_clock_within_one_count),
         T(the_level_of_the_buffer_recovers_the_clock), T(the_playout_buffer_is_a_plain_queue),
         T(a_clock_that_nobody_recovers_slips),
         T(lost_cells_are_replaced_and_the_stream_keeps_its_length),
         T(damaged_octets_are_those_of_the_lines), T(forward_error_correction_restores_lost_cells),
         T(structured_streams_stay_in_their_blocks), T(learnt_playout_times_hold))
