/* Admission to a network of switches, compared with numbers computed by hand.
 * sim_atm_contracts_test.c tests its guarantees by simulation. */
#include "sim_atm_contracts_admit.h"
#include "tap.h"
#include <string.h>

enum { PORTS_MAX = 64, SET_MAX = 64, UNIT = LEAT_ATM_RATE_UNIT };
#define SLOT_PS (UINT64_C(53) * 50000)

static struct leat_sim_atm_contracts_config config;
static struct leat_sim_atm_connection connection[SET_MAX];
static struct leat_sim_atm_contracts_port port[PORTS_MAX];
static struct leat_sim_atm_admission out[SET_MAX];

static uint64_t link_rate(void)
{
    return leat_sim_atm_contracts_link_rate(&config.fabric);
}

static void begin(const char *fabric)
{
    struct leat_text why = LEAT_TEXT(256);
    memset(&config, 0, sizeof config);
    EQ(leat_sim_atm_fabric_parse(fabric, &config.fabric, &why), LEAT_ERR_OK);
    config.connection = connection;
    config.port = port;
    for (uint32_t p = 0; p < PORTS_MAX; p++)
        port[p] = leat_sim_atm_contracts_port_default();
}

/* pcr in 1/1000 of a link. */
static struct leat_sim_atm_connection *add(enum leat_atm_class class, uint32_t from, uint32_t to,
                                           uint64_t pcr)
{
    struct leat_sim_atm_connection *c = &connection[config.connection_count++];
    const bool best_effort = class == LEAT_ATM_ABR || class == LEAT_ATM_UBR;
    *c = (struct leat_sim_atm_connection){
        .contract = { .class = class,
                      .pcr = link_rate() * pcr / 1000,
                      .scr = link_rate() * pcr / 1000,
                      .mbs = 1,
                      .clr_e12 = best_effort ? LEAT_ATM_CLR_ONE : 0,
                      .ctd_ps = LEAT_NEVER,
                      .cdv_ps = LEAT_NEVER },
        .from = from,
        .to = to,
        .path = LEAT_SIM_PATH_ANY,
    };
    return c;
}

static void admit(void)
{
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_OK);
    void *memory = calloc(1, leat_sim_atm_contracts_admit_footprint(&config));
    if (!memory) abort();
    leat_sim_atm_contracts_admit(&config, memory, out);
    free(memory);
}

static double share_of(uint32_t i)
{
    return (double)out[i].share / (double)link_rate();
}

static double slots(leat_time ps)
{
    return (double)ps / (double)SLOT_PS;
}

#define NEAR(a, b) OK((a) > (b)-0.001 && (a) < (b) + 0.001)

/* ---- numbers -------------------------------------------------------------------------------- */

static void a_link_carries_a_cell_in_53_cycles(void)
{
    begin("clos444");
    EQ(link_rate(), UINT64_C(512000000000000) / (53 * 50000)); /* 377358 cells/s */
    begin("clos444/clock=19.44MHz");
    EQ(link_rate() / UNIT, 366792); /* 19,440,000 / 53 */
    begin("clos444/clock=3MHz");
    EQ(link_rate(), UINT64_C(512) * 3000000 / 53);
}

static void queues_have_room_for_every_gate(void)
{
    begin("bmx:4");
    add(LEAT_ATM_ABR, 0, 1, 100);
    add(LEAT_ATM_ABR, 0, 1, 100);
    add(LEAT_ATM_UBR, 0, 2, 100);
    add(LEAT_ATM_CBR, 0, 2, 100);
    port[0].cells[1] = 7;
    port[0].clp_cells[1] = 3;
    const struct leat_atm_queue_config zero = leat_sim_atm_contracts_queue(&config, 0);
    const struct leat_atm_queue_config one = leat_sim_atm_contracts_queue(&config, 1);
    EQ(zero.level_count, LEAT_ATM_LEVEL_COUNT);
    EQ(zero.level[0].capacity, 64);
    EQ(zero.level[0].threshold, 16);
    EQ(zero.level[1].capacity, 7);
    EQ(zero.level[1].threshold, 3);
    EQ(zero.level[2].capacity, 2);
    EQ(zero.level[3].capacity, 1);
    EQ(one.level[2].capacity, 2); /* the ways back */
    EQ(one.level[3].capacity, 1); /* at least */
}

/* W = 8, g = 9/8: level 0 has R = (8/9)^3 after L = 2 + 9/8 + 81/64. A lone connection keeps it
 * busy for (1 + R L)/(R - r); the switches have nothing else to do. */
static void a_lone_connection_waits_at_its_port_only(void)
{
    static const struct {
        const char *fabric;
        double idle; /* cycles */
    } cases[] = { { "bmx:4", 6 }, { "clos444", 18 }, { "clos444/switching=vc", 24 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].fabric);
        add(LEAT_ATM_CBR, 0, 2, 100);
        admit();
        const double rate = 512.0 / 729, latency = 2 + 9.0 / 8 + 81.0 / 64;
        const double wait = (1 + rate * latency) / (rate - 0.1);
        OK(out[0].admitted);
        NEAR(slots(out[0].cdv_ps), wait);
        NEAR(slots(out[0].ctd_ps), wait + 1 + cases[i].idle / 53);
    }
}

/* Two inputs of an SPD, each with less than two cells at a time: one waits for one of the other. */
static void inputs_of_an_spd_take_turns(void)
{
    begin("bmx:4");
    add(LEAT_ATM_CBR, 0, 2, 10);
    admit();
    const double before = slots(out[0].cdv_ps);
    add(LEAT_ATM_CBR, 1, 2, 10);
    admit();
    OK(out[0].admitted && out[1].admitted);
    NEAR(slots(out[0].cdv_ps), before + 1);
    NEAR(slots(out[1].cdv_ps), before + 1);
    add(LEAT_ATM_CBR, 3, 1, 10); /* elsewhere */
    admit();
    NEAR(slots(out[0].cdv_ps), before + 1);
    NEAR(slots(out[2].cdv_ps), before);
}

/* Two connections of one input may come back to back; if another input has its turn between them,
 * the second finds the first still there. */
static void a_memory_of_one_cell_takes_no_pair_that_must_wait(void)
{
    begin("bmx:4/buffer=1");
    add(LEAT_ATM_CBR, 0, 2, 10);
    add(LEAT_ATM_CBR, 0, 2, 10);
    add(LEAT_ATM_CBR, 1, 2, 10);
    add(LEAT_ATM_CBR, 1, 3, 10);
    add(LEAT_ATM_CBR, 0, 3, 10); /* one of each input: each has a memory */
    admit();
    OK(out[0].admitted && out[1].admitted && !out[2].admitted && out[3].admitted &&
       out[4].admitted);
    EQ(out[2].why.criterion, LEAT_ATM_CAC_BUFFER);
    EQ(out[2].why.place, LEAT_SIM_AT_SPD);
    EQ(out[2].why.number, 2);
    EQ(out[2].why.needed, 2);
    EQ(out[2].why.available, 1);
    EQ(out[2].why.victim, 0);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void a_port_is_asked_by_atm_cac(void)
{
    begin("bmx:8");
    for (uint32_t i = 0; i < 7; i++)
        add(LEAT_ATM_CBR, 0, 1 + i, 110);
    admit();
    for (uint32_t i = 0; i < 6; i++)
        OK(out[i].admitted);
    OK(!out[6].admitted); /* 77 % of a link, of which W leaves 70 */
    EQ(out[6].why.criterion, LEAT_ATM_CAC_RATE);
    EQ(out[6].why.place, LEAT_SIM_AT_ACCESS);
    EQ(out[6].why.number, 0);
    EQ(out[6].why.victim, 6);
    OK(out[6].ctd_ps == LEAT_NEVER);
    port[0].w = 1000;
    admit();
    OK(out[6].admitted);
}

static void an_output_takes_no_more_than_a_link_does(void)
{
    begin("bmx:8/buffer=64");
    for (uint32_t i = 0; i < 4; i++)
        add(LEAT_ATM_CBR, i, 7, 300);
    admit();
    OK(out[0].admitted && out[1].admitted && out[2].admitted && !out[3].admitted);
    EQ(out[3].why.criterion, LEAT_ATM_CAC_RATE);
    EQ(out[3].why.place, LEAT_SIM_AT_SPD);
    EQ(out[3].why.number, 7);
    EQ(out[3].why.available, link_rate());
    OK(out[3].why.needed > link_rate() * 119 / 100 && out[3].why.needed <= link_rate() * 12 / 10);
}

static void promises_to_others_are_kept(void)
{
    begin("bmx:4");
    struct leat_sim_atm_connection *first = add(LEAT_ATM_CBR, 0, 2, 50);
    admit();
    first->contract.cdv_ps = out[0].cdv_ps; /* exactly what it has alone */
    add(LEAT_ATM_CBR, 1, 2, 50);
    add(LEAT_ATM_CBR, 1, 3, 50);
    admit();
    OK(out[0].admitted && !out[1].admitted && out[2].admitted);
    EQ(out[1].why.criterion, LEAT_ATM_CAC_CDV);
    EQ(out[1].why.place, LEAT_SIM_AT_END);
    EQ(out[1].why.victim, 0);
    EQ(out[1].why.needed, first->contract.cdv_ps);
    OK(out[1].why.available > first->contract.cdv_ps);
    first->contract.cdv_ps = LEAT_NEVER;
    first->contract.ctd_ps = out[0].ctd_ps - 1;
    admit();
    EQ(out[0].why.criterion, LEAT_ATM_CAC_CTD); /* not even alone */
    OK(out[1].admitted);
}

static void best_effort_wants_no_promise(void)
{
    begin("bmx:4");
    add(LEAT_ATM_UBR, 0, 1, 0)->contract.clr_e12 = 5;
    add(LEAT_ATM_ABR, 0, 1, 100)->contract.ctd_ps = 5;
    struct leat_sim_atm_connection *c = add(LEAT_ATM_ABR, 0, 1, 1000);
    c->contract.mcr = link_rate() * 95 / 100;
    admit();
    EQ(out[0].why.criterion, LEAT_ATM_CAC_CLR);
    EQ(out[1].why.criterion, LEAT_ATM_CAC_CTD);
    EQ(out[2].why.criterion, LEAT_ATM_CAC_RATE);
    OK(!out[0].admitted && !out[1].admitted && !out[2].admitted);
    EQ(out[0].share + out[1].share + out[2].share, 0);
    config.admit_all = true; /* if forced, they use their gates */
    admit();
    OK(!out[0].admitted && out[0].share > 0 && out[2].share > 0);
}

/* ---- paths ---------------------------------------------------------------------------------- */

static void connections_spread_over_the_paths(void)
{
    begin("clos444");
    for (uint32_t i = 0; i < 4; i++)
        add(LEAT_ATM_CBR, i, 4 + i, 150);
    add(LEAT_ATM_CBR, 0, 9, 10)->path = 2;
    admit();
    bool seen[4] = { false };
    for (uint32_t i = 0; i < 4; i++) {
        OK(out[i].admitted && !seen[out[i].path]);
        seen[out[i].path] = true;
    }
    EQ(out[4].path, 2);
}

/* A connection that its own path cannot take may use another. */
static void a_full_path_is_passed_by(void)
{
    begin("clos:2,2,2/buffer=1");
    add(LEAT_ATM_CBR, 0, 2, 5)->path = 0;
    add(LEAT_ATM_CBR, 0, 3, 5)->path = 0;
    add(LEAT_ATM_CBR, 1, 1, 20)->path = 1;
    add(LEAT_ATM_CBR, 1, 0, 5)->path = 0;
    add(LEAT_ATM_CBR, 1, 0, 5); /* path 0 has less load */
    admit();
    OK(out[0].admitted && out[1].admitted && out[2].admitted && !out[3].admitted);
    OK(out[4].admitted);
    EQ(out[4].path, 1);
    EQ(out[3].why.criterion, LEAT_ATM_CAC_BUFFER);
}

/* ---- shares --------------------------------------------------------------------------------- */

static void shares_are_fair(void)
{
    begin("bmx:8/buffer=64");
    for (uint32_t i = 0; i < 4; i++)
        add(LEAT_ATM_UBR, i, 7, 0);
    add(LEAT_ATM_UBR, 5, 6, 0);
    admit();
    for (uint32_t i = 0; i < 4; i++)
        OK(share_of(i) > 0.24 && share_of(i) <= 0.25);
    OK(share_of(4) > 0.99);
    connection[1].contract.pcr = link_rate() / 10; /* it wants less and leaves the rest */
    admit();
    EQ(out[1].share, link_rate() / 10);
    for (uint32_t i = 0; i < 4; i++)
        OK(i == 1 || (share_of(i) > 0.29 && share_of(i) < 0.305));
}

static void shares_are_what_reservations_leave(void)
{
    begin("bmx:4/buffer=64");
    add(LEAT_ATM_CBR, 0, 3, 400);
    add(LEAT_ATM_UBR, 1, 3, 0);
    admit();
    OK(share_of(1) > 0.4 && share_of(1) <= 0.6);
    EQ(out[0].share, 0);
    connection[0].police = LEAT_SIM_ATM_POLICE_TAG; /* excess cells have a share */
    admit();
    OK(share_of(0) > 0.1 && share_of(1) > 0.1 && share_of(0) + share_of(1) <= 0.6);
}

static void abr_has_its_minimum_at_least(void)
{
    begin("bmx:4/buffer=64");
    add(LEAT_ATM_ABR, 0, 3, 1000)->contract.mcr = link_rate() / 2;
    for (uint32_t i = 1; i < 3; i++)
        add(LEAT_ATM_ABR, i, 3, 1000);
    admit();
    OK(share_of(0) >= 0.5);
    OK(out[0].share_tau_ps > 10 * SLOT_PS && out[0].share_tau_ps < 20 * SLOT_PS);
    EQ(out[1].share_tau_ps, 0);
    OK(share_of(1) > 0.1 && share_of(2) > 0.1);
    OK(share_of(0) + share_of(1) + share_of(2) <= 1);
}

/* ---- the edges ------------------------------------------------------------------------------ */

static void unsound_configs_are_reported(void)
{
    begin("bmx:4");
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE); /* no connection */
    struct leat_sim_atm_connection *c = add(LEAT_ATM_CBR, 0, 1, 100), sound = *c;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_OK);
    c->from = 4;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    *c = sound;
    c->to = 4;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    *c = sound;
    c->path = 1;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    *c = sound;
    c->contract.pcr = 0;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    *c = sound;
    c->contract.class = LEAT_ATM_VBR_NRT;
    c->contract.cdv_ps = 5;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_FIELD);
    *c = sound;
    c->source = LEAT_SIM_ATM_SOURCE_EXCESS;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    *c = sound;
    port[3].clp_cells[1] = port[3].cells[1] + 1;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    port[3] = leat_sim_atm_contracts_port_default();
    port[3].w = 0;
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
    begin("bmx:4/clock=1000000MHz"); /* more cells per second than contracts can say */
    add(LEAT_ATM_CBR, 0, 1, 1);
    EQ(leat_sim_atm_contracts_check(&config), LEAT_ERR_RANGE);
}

static void says(struct leat_sim_atm_admit_answer answer, const char *want)
{
    struct leat_text text = LEAT_TEXT(256);
    leat_sim_atm_admit_answer_text(&answer, &text);
    OK(text.len == strlen(want) && memcmp(text.buf, want, text.len) == 0);
}

static void answers_read_as_sentences(void)
{
    says((struct leat_sim_atm_admit_answer){ .criterion = LEAT_ATM_CAC_ACCEPTED }, "accepted");
    says((struct leat_sim_atm_admit_answer){ LEAT_ATM_CAC_RATE, LEAT_SIM_AT_SPD, 46, 0, 1200 * UNIT,
                                             1000 * UNIT },
         "SPD 46: rate: 1200 cells/s needed, at most 1000 cells/s");
    says(
        (struct leat_sim_atm_admit_answer){ LEAT_ATM_CAC_BUFFER, LEAT_SIM_AT_ACCESS, 3, 0, 65, 64 },
        "access link of port 3: buffer: 65 cells needed, at most 64 cells");
    says((struct leat_sim_atm_admit_answer){ LEAT_ATM_CAC_CTD, LEAT_SIM_AT_END, 0, 0, 5000, 7000 },
         "the way: CTD: 5 ns wanted, promised 7 ns");
    says((struct leat_sim_atm_admit_answer){ LEAT_ATM_CAC_CDV, LEAT_SIM_AT_ACCESS, 1, 0, 5000,
                                             LEAT_NEVER },
         "access link of port 1: CDV: 5 ns wanted, promised nothing");
    says((struct leat_sim_atm_admit_answer){ LEAT_ATM_CAC_CLR, LEAT_SIM_AT_ACCESS, 1, 0, 9, 10 },
         "access link of port 1: CLR: 9 in 10^12 wanted, promised 10 in 10^12");
}

TAP_MAIN(T(a_link_carries_a_cell_in_53_cycles), T(queues_have_room_for_every_gate),
         T(a_lone_connection_waits_at_its_port_only), T(inputs_of_an_spd_take_turns),
         T(a_memory_of_one_cell_takes_no_pair_that_must_wait), T(a_port_is_asked_by_atm_cac),
         T(an_output_takes_no_more_than_a_link_does), T(promises_to_others_are_kept),
         T(best_effort_wants_no_promise), T(connections_spread_over_the_paths),
         T(a_full_path_is_passed_by), T(shares_are_fair), T(shares_are_what_reservations_leave),
         T(abr_has_its_minimum_at_least), T(unsound_configs_are_reported),
         T(answers_read_as_sentences))
