/* Random errors on the lines of random networks, and how the units handle them. */
#include "sim_atm_line_oracle_test.h"

struct plan {
    char fabric[64];
    struct leat_sim_atm_line_config line;
    uint32_t retransmit, obsolete, send_blocks, blocks, messages, broadcast_percent;
    uint64_t seed;
};

static uint32_t draw(struct leat_random *r, uint32_t min, uint32_t max)
{
    return min + (uint32_t)leat_random_below(r, (uint64_t)max - min + 1);
}

/* Nothing, a little, or a lot. */
static uint32_t draw_rate(struct leat_random *r, uint32_t max)
{
    const uint32_t kind = draw(r, 0, 2);
    return kind == 0 ? 0 : draw(r, 0, kind == 1 ? max / 50 : max);
}

static struct plan draw_plan(struct leat_random *r)
{
    static const char *const fabrics[] = { "bmx:2",      "bmx:3",      "bmx:5",      "clos:2,2,2",
                                           "clos:2,3,2", "clos:2,1,3", "clos:3,2,2", "clos444" };
    struct plan plan = { .blocks = 4096 };
    enum { LARGE = sizeof fabrics / sizeof *fabrics - 1 };
    const uint32_t fabric = draw(r, 0, LARGE);
    const uint32_t buffer = draw(r, 1, 8), channels = draw(r, 0, 3) == 0;
    snprintf(plan.fabric, sizeof plan.fabric, "%s/buffer=%u/switching=%s", fabrics[fabric], buffer,
             channels ? "vc" : "vp");
    plan.line.seed = leat_random_next(r);
    plan.line.header_errors = draw_rate(r, 5000000);
    plan.line.payload_errors = draw_rate(r, 1000000);
    plan.line.lose = draw_rate(r, 50000000);
    plan.line.insert = draw_rate(r, 150000000);
    plan.line.duplicate = draw_rate(r, 150000000);
    plan.line.hec = draw(r, 0, 1);
    plan.retransmit = draw(r, 4000, 12000);
    plan.obsolete = draw(r, 0, 1) ? 1000000 : draw(r, 1000, 4000);
    plan.send_blocks = draw(r, 0, 1) ? LEAT_ATM_AAL_BLOCKS : draw(r, 3, 20);
    plan.messages = draw(r, 1, MESSAGES_MAX - 1);
    plan.broadcast_percent = draw(r, 0, 2) ? 0 : 20;
    plan.seed = leat_random_next(r);
    /* A unit that retransmits before all could reply keeps the network full of copies. */
    if (fabric == LARGE) {
        plan.retransmit *= 8;
        plan.broadcast_percent /= 4;
    }
    return plan;
}

/* By then everything would have been abandoned, even with room for only one message at a time. */
static uint64_t last_cycle(const struct plan *plan)
{
    return (uint64_t)UINT8_MAX * plan->retransmit * plan->messages;
}

static void draw_messages(struct run *run, const struct plan *plan, uint32_t ports)
{
    struct leat_random r;
    leat_random_seed(&r, plan->seed);
    for (uint32_t port = 0; port < ports; port++) {
        uint64_t at = 0;
        run->message_count[port] = plan->messages;
        for (uint32_t i = 0; i < plan->messages; i++) {
            struct message *m = &run->message[port][i];
            const bool all = draw(&r, 1, 100) <= plan->broadcast_percent;
            at += draw(&r, 0, 2000);
            m->at = at;
            m->to = all ? LEAT_SIM_ATM_TRAFFIC_ALL : draw(&r, 0, ports - 1);
            m->len = draw(&r, 0, 3) ? 16 : draw(&r, 0, LEN_MAX);
        }
    }
}

/* Zeroed; the caller frees it with end(). */
static struct run *begin(const struct plan *plan, enum leat_sim_atm_model model)
{
    struct run *run = calloc(1, sizeof *run);
    struct leat_sim_atm_load_config config = { .model = model, .line = plan->line };
    if (!run || !fabric_named(plan->fabric, &config.fabric)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.retransmit_cycles = plan->retransmit;
    config.aal.obsolete_cycles = plan->obsolete;
    config.aal.send_blocks = plan->send_blocks;
    config.aal.receive_blocks = plan->blocks;
    config.aal.transmissions_max = UINT8_MAX;
    draw_messages(run, plan, config.fabric.net.ports);
    start(run, &config);
    return run;
}

static bool same_counts(const struct leat_sim_atm_line_counts *a,
                        const struct leat_sim_atm_line_counts *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* words without gaps */
}

static void print_plan(const struct plan *p)
{
    printf(
        "# %s seed %llu line seed %llu header %u payload %u lose %u insert %u duplicate %u hec %d "
        "retransmit %u obsolete %u messages %u broadcast %u blocks %u, %u\n",
        p->fabric, (unsigned long long)p->seed, (unsigned long long)p->line.seed,
        p->line.header_errors, p->line.payload_errors, p->line.lose, p->line.insert,
        p->line.duplicate, p->line.hec, p->retransmit, p->obsolete, p->messages,
        p->broadcast_percent, p->send_blocks, p->blocks);
}

static void check_run(struct run *run, const struct plan *plan, bool drained)
{
    const int failed = tap_checks_failed;
    struct leat_sim_atm_line_counts lines;
    struct leat_atm_aal_counts units;
    uint64_t missing[2];
    leat_sim_atm_load_lines(&run->load, &lines);
    leat_sim_atm_load_units(&run->load, &units);
    count_missing(run, missing);
    run->oracle.counts.no_room = lines.no_room;
    OK(drained);
    OK(same_counts(&lines, &run->oracle.counts));
    EQ(run->oracle.mistaken, 0);
    EQ(run->wrong, 0);
    EQ(run->load.counts.undeliverable, 0);
    EQ(missing[0], 0);
    OK(missing[1] <= units.discarded_unread + run->load.counts.unreadable);
    if (plan->obsolete == 1000000) EQ(missing[1], 0);
    if (!lines.undetected) {
        EQ(run->load.counts.altered, 0);
        EQ(run->load.counts.duplicated, 0);
        EQ(parked_cells(run), 0);
    }
    if (tap_checks_failed != failed) print_plan(plan);
}

static void check_equal(const struct run *a, const struct run *b, const struct plan *plan)
{
    const int failed = tap_checks_failed;
    struct leat_sim_atm_line_counts lines[2];
    struct leat_atm_aal_counts units[2];
    leat_sim_atm_load_lines(&a->load, &lines[0]);
    leat_sim_atm_load_lines(&b->load, &lines[1]);
    leat_sim_atm_load_units(&a->load, &units[0]);
    leat_sim_atm_load_units(&b->load, &units[1]);
    EQ(leat_sim_certificate_value(&a->load.certificate),
       leat_sim_certificate_value(&b->load.certificate));
    OK(same_counts(&lines[0], &lines[1]));
    OK(memcmp(&units[0], &units[1], sizeof *units) == 0);
    OK(memcmp(&a->load.counts, &b->load.counts, sizeof a->load.counts) == 0);
    EQ(a->load.sim.counts.suspensions, b->load.sim.counts.suspensions);
    EQ(a->load.sim.counts.unrouted, b->load.sim.counts.unrouted);
    EQ(a->load.sim.counts.port_refusals, b->load.sim.counts.port_refusals);
    EQ(a->load.sim.now, b->load.sim.now);
    if (tap_checks_failed != failed) print_plan(plan);
}

static void every_message_arrives_once_and_whole_unless_the_oracle_doubts_it(void)
{
    const int cases = 20 + LEAT_ROUNDS / 10000;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        struct run *rtl = begin(&plan, LEAT_SIM_ATM_RTL), *cell = begin(&plan, LEAT_SIM_ATM_CELL);
        const bool rtl_drained = comes_to_rest(&rtl->load, last_cycle(&plan));
        const bool cell_drained = comes_to_rest(&cell->load, last_cycle(&plan));
        check_run(rtl, &plan, rtl_drained);
        check_run(cell, &plan, cell_drained);
        check_equal(rtl, cell, &plan);
        end(rtl);
        end(cell);
    }
}

/* Then copies and strays find no room, hosts stop the network, and the network stops the hosts. */
static void both_models_agree_when_buffers_are_full_too(void)
{
    const int cases = 20 + LEAT_ROUNDS / 10000;
    struct leat_random r;
    uint64_t no_room = 0, repeated = 0;
    leat_random_seed(&r, tap_seed() + 1);
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        plan.send_blocks = plan.blocks = draw(&r, 3, 12);
        plan.line.duplicate = draw(&r, 0, 500000000);
        struct run *rtl = begin(&plan, LEAT_SIM_ATM_RTL), *cell = begin(&plan, LEAT_SIM_ATM_CELL);
        leat_sim_atm_load_run(&rtl->load, 30000);
        leat_sim_atm_load_run(&cell->load, 30000);
        check_equal(rtl, cell, &plan);
        EQ(rtl->oracle.mistaken, 0);
        struct leat_sim_atm_line_counts lines;
        leat_sim_atm_load_lines(&rtl->load, &lines);
        no_room += lines.no_room;
        repeated += rtl->repeated;
        end(rtl);
        end(cell);
    }
    OK(no_room > 0);
    OK(repeated > 0);
}

/* One damaged cell in 2^16 passes the CRC by chance: the line and the oracle agree which. */
static void what_the_crc_lets_through_by_chance_is_predicted(void)
{
    const int cases = 2 + LEAT_ROUNDS / 50000;
    struct leat_random r;
    uint64_t undetected = 0, damaged = 0;
    leat_random_seed(&r, tap_seed() + 2);
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        plan.line.payload_errors = 1500000; /* nearly every second cell */
        plan.line.header_errors = plan.line.lose = 0;
        plan.messages = MESSAGES_MAX - 1;
        plan.broadcast_percent = 0;
        struct run *run = begin(&plan, LEAT_SIM_ATM_CELL);
        check_run(run, &plan, comes_to_rest(&run->load, last_cycle(&plan)));
        undetected += run->oracle.counts.undetected;
        damaged += run->oracle.counts.damaged;
        end(run);
    }
    if (damaged > 40 * 65536) OK(undetected > 0);
}

TAP_MAIN(T(every_message_arrives_once_and_whole_unless_the_oracle_doubts_it),
         T(both_models_agree_when_buffers_are_full_too),
         T(what_the_crc_lets_through_by_chance_is_predicted))
