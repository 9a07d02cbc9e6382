/* Circuits in a network: delays held to formulas, queues to the exact distribution of nD/D/1, both
 * models of switches to each other, losses to what lines did. */
#include "sim_atm_circuits_world_test.h"
#include <math.h>

static struct world w, other;

/* ---- idle networks --------------------------------------------------------------------------- */

static uint64_t cycle_from(leat_time ps)
{
    return (ps + WORLD_CYCLE_PS - 1) / WORLD_CYCLE_PS;
}

/* Between its first octets in and out; the cell itself; and in networks of slots the wait for the
 * slot that begins after its last octet. */
static uint64_t expected_cycles(uint64_t ready_from, bool has_slots, uint64_t idle)
{
    const uint64_t there = ready_from + WORLD_CELL;
    const uint64_t waits = has_slots ? (WORLD_CELL - there % WORLD_CELL) % WORLD_CELL : 0;
    return there + waits + idle;
}

static void an_idle_network_delays_cells_by_the_formula(void)
{
    static const char *const names[] = { "bmx:4", "clos444", "clos:2,3,2/switching=vc", "mesh:4",
                                         "mesh:3,3/switch=output" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        world_begin(&w, names[i], tap_seed() + i);
        world_add(&w, 0, 3, 2048000)->clock_ppm = 77;
        world_open(&w);
        world_run(&w, 400000);
        const uint64_t idle = leat_sim_atm_fabric_idle_cycles(&w.config.plain.fabric, 0, 3);
        const bool has_slots = w.config.plain.fabric.graph;
        OK(w.heards > 100);
        for (uint32_t k = 0; k < w.heards; k++) {
            EQ(w.heard[k].number, k);
            EQ(w.heard[k].at / WORLD_CYCLE_PS,
               expected_cycles(cycle_from(w.heard[k].ready_at), has_slots, idle));
        }
        const struct leat_sim_atm_circuits_line *line = &w.sim.line[0];
        const uint64_t jitter = line->delay.max - line->delay_min;
        OK(jitter < (uint64_t)WORLD_CYCLE_PS * (has_slots ? WORLD_CELL + 1 : 1));
        EQ(line->counts.octets_wrong + line->counts.octets_replaced + line->counts.shifts, 0);
        EQ(leat_atm_aal1_playout_counts(w.sim.channel[0].cbr->playout).underruns, 0);
        EQ(line->counts.cells_lost + line->counts.cells_extra + w.sim.unknown, 0);
        world_close(&w);
    }
}

/* The time of a cell is that of its last octet: 47 of them, or 46 with a pointer. */
static void cells_are_complete_with_their_last_octet(void)
{
    world_begin(&w, "bmx:2", tap_seed());
    struct leat_sim_atm_circuit *line = world_add(&w, 0, 1, 8000000); /* an octet a us */
    line->start = 0;
    line->block_len = 125;
    world_open(&w);
    world_run(&w, 200000);
    OK(w.heards > 16);
    for (uint32_t k = 0; k + 8 < w.heards; k += 8) {
        EQ(w.heard[k + 8].ready_at - w.heard[k].ready_at, UINT64_C(375000000));
        EQ(w.heard[0].ready_at, UINT64_C(46000000)); /* the first one points at the first block */
    }
    EQ(leat_sim_atm_circuit_packetisation(line), UINT64_C(47000000));
    EQ(leat_sim_atm_circuit_cell_time(line), UINT64_C(46875000));
    world_close(&w);
}

/* ---- nD/D/1 ---------------------------------------------------------------------------------- */

enum { SOURCES = 8, PERIOD = 10, RUNS = 1200 };

/*
 * N sources that each send a cell once in D cell times, with independent phases, into one line:
 * the chance that more than n cell times of work wait (Roberts and Virtamo 1991, the exact form):
 *   sum over k = n+1 .. N of C(N,k) ((k-n)/D)^k (1-(k-n)/D)^(N-k) (D-N+n)/(D-k+n)
 */
static double work_exceeds(unsigned n)
{
    double sum = 0, choose = 1;
    for (unsigned k = 1; k <= SOURCES; k++) {
        choose = choose * (SOURCES - k + 1) / k;
        const double share = ((double)k - n) / PERIOD;
        if (k > n)
            sum += choose * pow(share, k) * pow(1 - share, SOURCES - k) *
                   ((double)PERIOD - SOURCES + n) / ((double)PERIOD - k + n);
    }
    return sum;
}

/* In how many cycles of a period are more than n cells there? A cell is there from when it could
 * begin to leave to when it has left. */
static void measure_period(uint64_t from, uint64_t idle, double exceeds[SOURCES])
{
    enum { CYCLES = PERIOD * WORLD_CELL };
    static uint32_t there[CYCLES];
    memset(there, 0, sizeof there);
    for (uint32_t k = 0; k < w.heards; k++) {
        const uint64_t begin = cycle_from(w.heard[k].ready_at) + idle,
                       end = w.heard[k].at / WORLD_CYCLE_PS;
        for (uint64_t t = leat_larger(begin, from); t < leat_smaller(end, from + CYCLES); t++)
            there[t - from]++;
    }
    for (unsigned n = 0; n < SOURCES; n++) {
        uint32_t count = 0;
        for (unsigned t = 0; t < CYCLES; t++)
            count += there[t] > n;
        exceeds[n] = (double)count / CYCLES;
    }
}

static void equal_circuits_with_random_phases_queue_as_nd_d_1(void)
{
    double sum[SOURCES] = { 0 }, squares[SOURCES] = { 0 };
    for (unsigned run = 0; run < RUNS; run++) {
        double exceeds[SOURCES];
        world_begin(&w, "bmx:9/buffer=16", tap_seed() * 1000003 + run);
        for (uint32_t from = 0; from < SOURCES; from++) /* 376 bits in ten cell times */
            world_add(&w, from, SOURCES, UINT64_C(376) * 1000000000 / (PERIOD * 2650));
        world_open(&w);
        world_run(&w, 6 * PERIOD * WORLD_CELL);
        measure_period(3 * PERIOD * WORLD_CELL,
                       leat_sim_atm_fabric_idle_cycles(&w.config.plain.fabric, 0, 1), exceeds);
        for (unsigned n = 0; n < SOURCES; n++) {
            sum[n] += exceeds[n];
            squares[n] += exceeds[n] * exceeds[n];
        }
        world_close(&w);
    }
    /* Rarer ones need more runs. In whole cycles, cells meet a 53rd less often. */
    for (unsigned n = 0; n < 5; n++) {
        const double mean = sum[n] / RUNS, wanted = work_exceeds(n),
                     deviation = sqrt(fabs(squares[n] / RUNS - mean * mean) / RUNS);
        printf("# more than %u: %.5f, nD/D/1 %.5f +- %.5f\n", n, mean, wanted, deviation);
        OK(fabs(mean - wanted) < 5 * deviation + wanted * n / WORLD_CELL + 1e-6);
    }
}

/* ---- models, faults, lines ------------------------------------------------------------------- */

/* Some of everything, drawn by the seed. */
static void add_any(struct world *world, uint64_t seed)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    const uint32_t ports = world->config.plain.fabric.net.ports;
    for (unsigned i = 0; i < 6; i++) {
        const uint32_t from = (uint32_t)leat_random_below(&r, ports),
                       other_port = (uint32_t)leat_random_below(&r, ports - 1),
                       to = other_port + (other_port >= from);
        if (i < 3) {
            struct leat_sim_atm_circuit *c = world_add(world, from, to, 10000000);
            c->clock_ppm = (int32_t)leat_random_below(&r, 401) - 200;
            c->recovery = (enum leat_sim_atm_circuit_recovery)i;
            c->fec = i == 0 && leat_random_below(&r, 2);
            if (i == 2) c->block_len = 1 + (uint32_t)leat_random_below(&r, 200);
        } else {
            struct leat_sim_atm_circuit *c = world_speak(world, from, to, 640000, 1000000000);
            c->channels = 3;
            c->talk = 3000000000;
            c->pause = leat_random_below(&r, 2) * 2000000000;
        }
    }
}

static void open_any(struct world *world, const char *name, uint64_t seed)
{
    world_begin(world, name, seed);
    world->config.plain.load_ppm = 500000;
    world->config.plain.line.lose = 2000000;
    world->config.plain.line.duplicate = 1000000;
    world->config.plain.line.insert = 1000000;
    world->config.plain.line.payload_errors = 10000;
    add_any(world, seed);
}

static void both_models_carry_the_same_cells(void)
{
    static const char *const names[] = { "bmx:4", "clos:2,2,2", "clos:2,3,2/switching=vc" };
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t seed = tap_seed() * 31 + i;
        open_any(&w, names[i], seed);
        open_any(&other, names[i], seed);
        other.config.plain.model = LEAT_SIM_ATM_RTL;
        world_open(&w);
        world_open(&other);
        world_run(&w, 60000);
        world_run(&other, 60000);
        EQ(leat_sim_certificate_value(&w.sim.plain.certificate),
           leat_sim_certificate_value(&other.sim.plain.certificate));
        OK(w.heards > 100);
        EQ(w.heards, other.heards);
        for (uint32_t l = 0; l < w.config.lines; l++)
            EQ(memcmp(&w.sim.line[l].counts, &other.sim.line[l].counts,
                      sizeof w.sim.line[l].counts),
               0);
        world_close(&w);
        world_close(&other);
    }
}

/* A run in pieces is the same run. */
static void interrupted_runs_are_beginnings_of_long_ones(void)
{
    open_any(&w, "mesh:5", tap_seed());
    open_any(&other, "mesh:5", tap_seed());
    world_open(&w);
    world_open(&other);
    for (uint64_t until = 1000; until <= 300000; until += 2300)
        leat_sim_atm_circuits_run(&w.sim, until);
    world_run(&w, 300000);
    world_run(&other, 300000);
    EQ(leat_sim_certificate_value(&w.sim.plain.certificate),
       leat_sim_certificate_value(&other.sim.plain.certificate));
    for (uint32_t l = 0; l < w.config.lines; l++)
        EQ(memcmp(&w.sim.line[l].counts, &other.sim.line[l].counts, sizeof w.sim.line[l].counts),
           0);
    world_close(&w);
    world_close(&other);
}

static void run_on_lines(uint32_t lose, uint32_t duplicate, struct leat_sim_atm_line_counts *lines)
{
    world_begin(&w, "bmx:4", tap_seed());
    w.config.plain.line.lose = lose;
    w.config.plain.line.duplicate = duplicate;
    for (uint32_t from = 0; from < 3; from++)
        world_add(&w, from, 3, 20000000);
    world_open(&w);
    world_run(&w, 2000000);
    leat_sim_atm_plain_lines(&w.sim.plain, lines);
}

static void every_cell_is_delivered_lost_or_under_way(void)
{
    struct leat_sim_atm_line_counts lines;
    uint64_t lost = 0, late = 0;
    run_on_lines(10000000, 0, &lines);
    for (uint32_t l = 0; l < 3; l++) {
        lost += w.sim.line[l].counts.cells_lost;
        late += world_under_way(&w, l);
        EQ(w.sim.line[l].counts.cells_damaged + w.sim.line[l].counts.cells_extra, 0);
    }
    OK(lost > 200);
    OK(lines.lost >= lost && lines.lost - lost <= late);
    OK(late < 30);
    world_close(&w);
}

static void copies_of_cells_are_extra(void)
{
    struct leat_sim_atm_line_counts lines;
    uint64_t extra = 0;
    run_on_lines(0, 10000000, &lines);
    for (uint32_t l = 0; l < 3; l++) {
        extra += w.sim.line[l].counts.cells_extra;
        EQ(w.sim.line[l].counts.cells_lost, 0);
        OK(world_under_way(&w, l) < 10);
    }
    OK(extra > 200);
    OK(extra <= lines.duplicated && extra + 10 >= lines.duplicated);
    EQ(w.sim.unknown, 0);
    world_close(&w);
}

/* A broken link loses what would have passed it, and nothing else. */
static void a_broken_link_loses_what_passes_it(void)
{
    world_begin(&w, "clos:2,2,2", tap_seed());
    faults_add(&w.bench, "link:0-2@100000..200000");
    w.config.plain.fabric.faults = &w.bench.faults;
    world_add(&w, 0, 2, 10000000)->playout = 100000000; /* by middle switch 0 */
    world_add(&w, 0, 3, 10000000)->playout = 100000000; /* by the other one */
    world_open(&w);
    world_run(&w, 400000);
    const uint64_t cell = leat_sim_atm_circuit_cell_time(&w.line[0]);
    const int64_t expected = (int64_t)(100000 * (uint64_t)WORLD_CYCLE_PS / cell);
    OK(llabs((int64_t)w.sim.line[0].counts.cells_lost - expected) <= 2);
    EQ(w.sim.line[1].counts.cells_lost, 0);
    EQ(w.sim.line[0].counts.shifts, 1); /* SC counts at most six lost cells in a row */
    EQ(w.sim.line[1].counts.shifts, 0);
    world_close(&w);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static leat_err refuse(const char *name, uint32_t copies, uint64_t rate, uint32_t *line)
{
    struct leat_text why = LEAT_TEXT(256);
    world_begin(&w, name, 1);
    for (uint32_t i = 0; i < copies; i++)
        world_add(&w, 0, 1, rate);
    const leat_err err = leat_sim_atm_circuits_check(&w.config, line, &why);
    EQ(err != LEAT_ERR_OK, why.len > 0);
    world_close(&w);
    return err;
}

/* A port carries 377,358 cells a second, 47 octets each: 141.88 Mb/s. */
static void more_than_a_line_carries_is_refused(void)
{
    uint32_t line = 0;
    EQ(refuse("bmx:2", 2, 70900000, &line), LEAT_ERR_OK);
    EQ(refuse("bmx:2", 2, 71000000, &line), LEAT_ERR_RANGE);
    EQ(line, 1);
    EQ(refuse("mesh:4,4/routing=adaptive/vcs=3", 1, 64000, &line), LEAT_ERR_RANGE);
    EQ(line, 0);
}

static void too_many_channels_are_refused(void)
{
    struct leat_text why = LEAT_TEXT(256);
    uint32_t line = 9;
    world_begin(&w, "bmx:3", 1);
    world_speak(&w, 0, 1, 8000, 20000000000)->channels = LEAT_SIM_ATM_CIRCUITS_CHANNELS_MAX;
    EQ(leat_sim_atm_circuits_check(&w.config, &line, &why), LEAT_ERR_OK);
    world_speak(&w, 2, 1, 8000, 20000000000);
    EQ(leat_sim_atm_circuits_check(&w.config, &line, &why), LEAT_ERR_RANGE);
    EQ(line, 1);
    EQ(leat_sim_atm_circuit_playout_max(&w.line[0]), UINT64_C(1000000000000));
    world_close(&w);
}

TAP_MAIN(T(an_idle_network_delays_cells_by_the_formula),
         T(cells_are_complete_with_their_last_octet),
         T(equal_circuits_with_random_phases_queue_as_nd_d_1), T(both_models_carry_the_same_cells),
         T(interrupted_runs_are_beginnings_of_long_ones),
         T(every_cell_is_delivered_lost_or_under_way), T(copies_of_cells_are_extra),
         T(a_broken_link_loses_what_passes_it), T(more_than_a_line_carries_is_refused),
         T(too_many_channels_are_refused))
