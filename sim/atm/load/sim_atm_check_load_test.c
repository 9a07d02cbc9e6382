#include "leat_fnv.h"
#include "sim_atm_check_load.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static const char *const model_name[] = { "rtl", "cell" };

static struct leat_sim_atm_fabric fabric_of(const char *name)
{
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    return fabric;
}

struct outcome {
    uint64_t sent, delivered, suspensions, unrouted, hash, certificate, mean_cycles, max_cycles;
};

static struct outcome outcome_of(const struct leat_sim_atm_check_load *w)
{
    return (struct outcome){
        .sent = leat_sim_atm_check_load_sent(w),
        .delivered = w->delivered,
        .suspensions = w->sim.counts.suspensions,
        .unrouted = w->sim.counts.unrouted,
        .hash = leat_sim_delivery_hash_value(&w->hash),
        .certificate = leat_sim_certificate_value(&w->certificate),
        .mean_cycles = (uint64_t)leat_sim_histogram_mean(&w->latency),
        .max_cycles = w->latency.max,
    };
}

/* In pieces of random length, where `pieces` is given. */
static struct outcome run(const struct leat_sim_atm_fabric *fabric, enum leat_sim_atm_model model,
                          uint64_t seed, uint32_t load_percent, uint64_t cycles,
                          struct leat_random *pieces)
{
    static struct leat_sim_atm_check_load w;
    void *memory = calloc(1, leat_sim_atm_check_load_footprint(fabric, model));
    if (!memory) abort();
    leat_sim_atm_check_load_init(&w, fabric, model, seed, load_percent, cycles, memory);
    for (uint64_t to = 0; pieces && to < cycles; to += 1 + leat_random_below(pieces, 300))
        leat_sim_atm_check_load_run(&w, to);
    leat_sim_atm_check_load_run(&w, cycles);
    const struct outcome out = outcome_of(&w);
    free(memory);
    return out;
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* eight numbers of 64 bits: no gaps */
}

static void both_models_give_the_check_values_of_the_note(void)
{
    static const struct {
        uint64_t cycles, seed, sent, delivered, suspensions, hash;
        uint32_t load_percent;
    } row[] = {
        { 2000, 1, 592, 463, 0, UINT64_C(0x531fc4cf1e674c5e), 100 },
        { 20000, 1, 5831, 5524, 2351, UINT64_C(0x0c5f1c411bae1632), 100 },
        { 20000, 7, 5830, 5498, 1389, UINT64_C(0xa56c5da194053512), 60 },
    };
    const struct leat_sim_atm_fabric fabric = fabric_of("clos444");
    for (int m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            const struct outcome out = run(&fabric, (enum leat_sim_atm_model)m, row[i].seed,
                                           row[i].load_percent, row[i].cycles, NULL);
            EQ(out.sent, row[i].sent);
            EQ(out.delivered, row[i].delivered);
            EQ(out.suspensions, row[i].suspensions);
            EQ(out.hash, row[i].hash);
            EQ(out.unrouted, 0);
        }
}

static void without_load_nothing_is_sent(void)
{
    const struct leat_sim_atm_fabric fabric = fabric_of("clos444");
    for (int m = 0; m < 2; m++) {
        const struct outcome out = run(&fabric, (enum leat_sim_atm_model)m, 1, 0, 3000, NULL);
        EQ(out.sent, 0);
        EQ(out.delivered, 0);
        EQ(out.hash, LEAT_FNV_EMPTY);
    }
}

static void a_lone_cell_takes_the_idle_time_and_a_cell_time(void)
{
    /* In the first 53 cycles of a single switch at full load: every source has sent one cell, and
     * those that met no other have been in flight for 6 + 53 cycles. */
    const struct leat_sim_atm_fabric fabric = fabric_of("bmx:2");
    for (int m = 0; m < 2; m++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            const struct outcome out = run(&fabric, (enum leat_sim_atm_model)m, seed, 100,
                                           53 + 6 + 1, NULL);
            EQ(out.sent, 2);
            OK(out.delivered == 1 || out.delivered == 2);
            EQ(out.max_cycles, 53 + 6);
        }
}

static void a_run_in_pieces_is_the_same_run(void)
{
    const struct leat_sim_atm_fabric fabric = fabric_of("clos444/buffer=2");
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int m = 0; m < 2; m++) {
        const struct outcome whole = run(&fabric, (enum leat_sim_atm_model)m, 5, 70, 5000, NULL);
        const struct outcome pieces = run(&fabric, (enum leat_sim_atm_model)m, 5, 70, 5000, &r);
        OK(whole.delivered > 0);
        OK(same(&whole, &pieces));
    }
}

static void random_runs_are_the_same_in_both_models(void)
{
    static const char *const shapes[] = {
        "bmx:2",      "bmx:3",   "bmx:16",      "bmx:20",     "clos:1,1,1",  "clos:2,3,2",
        "clos:4,3,5", "clos444", "clos:3,5,17", "clos:2,1,4", "clos:2,20,3", "clos:1,2,3"
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes, CASES = LEAT_ROUNDS / 5000 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < CASES + 20; i++) {
        char name[64];
        const uint64_t seed = leat_random_next(&r) >> 32;
        const uint64_t cycles = 1 + leat_random_below(&r, 6000);
        const uint32_t load = (uint32_t)leat_random_below(&r, 101);
        const char *shape = shapes[leat_random_below(&r, SHAPES)];
        snprintf(name, sizeof name, "%s/buffer=%u", shape, 1 + (unsigned)leat_random_below(&r, 8));
        const struct leat_sim_atm_fabric fabric = fabric_of(name);
        const struct outcome rtl = run(&fabric, LEAT_SIM_ATM_RTL, seed, load, cycles, NULL);
        const struct outcome cell = run(&fabric, LEAT_SIM_ATM_CELL, seed, load, cycles, NULL);
        if (same(&rtl, &cell)) continue;
        tap_checks_failed++;
        for (int m = 0; m < 2; m++)
            printf(
                "# leat sim %s --traffic W --load %u.%02u --cycles %llu --seed %llu --model %s\n",
                name, load / 100, load % 100, (unsigned long long)cycles, (unsigned long long)seed,
                model_name[m]);
    }
}

TAP_MAIN(T(both_models_give_the_check_values_of_the_note), T(without_load_nothing_is_sent),
         T(a_lone_cell_takes_the_idle_time_and_a_cell_time), T(a_run_in_pieces_is_the_same_run),
         T(random_runs_are_the_same_in_both_models))
