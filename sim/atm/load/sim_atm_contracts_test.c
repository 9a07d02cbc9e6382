/*
 * Contracts in operation: those of admitted sets are kept in both models, and refusals are
 * justified. All sets are random or small enough to compute by hand.
 */
#include "leat_bytes.h"
#include "sim_atm_contracts.h"
#include "tap.h"
#include <string.h>

enum { PORTS_MAX = 64, SET_MAX = 64, UNIT = LEAT_ATM_RATE_UNIT };

static struct set {
    struct leat_sim_atm_contracts_config config;
    struct leat_sim_atm_connection connection[SET_MAX];
    struct leat_sim_atm_contracts_port port[PORTS_MAX];
    char fabric[64];
} set;

static uint64_t slot_ps(void)
{
    return LEAT_ATM_CELL_LEN * set.config.fabric.period_ps_num / set.config.fabric.period_ps_den;
}

static void set_begin(const char *fabric)
{
    struct leat_text why = LEAT_TEXT(256);
    memset(&set, 0, sizeof set);
    EQ(leat_sim_atm_fabric_parse(fabric, &set.config.fabric, &why), LEAT_ERR_OK);
    strcpy(set.fabric, fabric);
    set.config.connection = set.connection;
    set.config.port = set.port;
    for (uint32_t p = 0; p < PORTS_MAX; p++)
        set.port[p] = leat_sim_atm_contracts_port_default();
}

/* A connection that only requires no loss of reserved cells; rates in 1/1000 of a link. */
static struct leat_sim_atm_connection *set_add(enum leat_atm_class class, uint32_t from,
                                               uint32_t to, uint64_t pcr, uint64_t scr)
{
    struct leat_sim_atm_connection *c = &set.connection[set.config.connection_count++];
    const uint64_t link = leat_sim_atm_contracts_link_rate(&set.config.fabric);
    const bool best_effort = class == LEAT_ATM_ABR || class == LEAT_ATM_UBR;
    *c = (struct leat_sim_atm_connection){
        .contract = { .class = class,
                      .pcr = link * pcr / 1000,
                      .scr = link * scr / 1000,
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

static struct leat_sim_atm_contracts *set_run(enum leat_sim_atm_model model, uint64_t seed,
                                              uint64_t cycles)
{
    EQ(leat_sim_atm_contracts_check(&set.config), LEAT_ERR_OK);
    void *memory = calloc(1, leat_sim_atm_contracts_footprint(&set.config, model));
    if (!memory) abort();
    struct leat_sim_atm_contracts *s = leat_sim_atm_contracts_init(&set.config, model, seed,
                                                                   memory);
    leat_sim_atm_contracts_run(s, cycles);
    return s;
}

static struct leat_sim_atm_contract_result result_of(const struct leat_sim_atm_contracts *s,
                                                     uint32_t i)
{
    struct leat_sim_atm_contract_result r;
    leat_sim_atm_contracts_result(s, i, &r);
    return r;
}

static bool is_admitted(const struct leat_sim_atm_contracts *s, uint32_t i)
{
    return leat_sim_atm_contracts_admission(s, i)->admitted;
}

/* ---- campaign ------------------------------------------------------------------------------- */

static uint64_t below(struct leat_random *r, uint64_t bound)
{
    return leat_random_below(r, bound);
}

static void random_contract(struct leat_random *r, struct leat_sim_atm_connection *c)
{
    struct leat_atm_contract *k = &c->contract;
    const bool best_effort = k->class == LEAT_ATM_ABR || k->class == LEAT_ATM_UBR;
    k->mbs = 1 + below(r, 20);
    k->scr = k->pcr / (1 + below(r, 8));
    if (k->class == LEAT_ATM_ABR && below(r, 2)) k->mcr = k->pcr / (1 + below(r, 10));
    if (best_effort) return;
    if (!below(r, 2)) k->cdvt_ps = below(r, 40 * slot_ps());
    if (below(r, 2)) k->ctd_ps = (10 + below(r, 500)) * slot_ps();
    if (below(r, 2) && k->class != LEAT_ATM_VBR_NRT) k->cdv_ps = (5 + below(r, 500)) * slot_ps();
}

static void random_connection(struct leat_random *r)
{
    const uint32_t ports = set.config.fabric.net.ports;
    static const uint64_t scales[] = { 3, 10, 40, 150, 500 };
    const enum leat_atm_class class = (enum leat_atm_class)below(r, LEAT_ATM_CLASS_COUNT);
    const uint32_t from = (uint32_t)below(r, ports);
    const uint32_t to = (uint32_t)below(r, ports);
    const uint64_t scale = scales[below(r, 5)];
    struct leat_sim_atm_connection *c = set_add(class, from, to, 2 + below(r, scale), 1);
    random_contract(r, c);
    if (below(r, 4) == 0) c->path = (uint32_t)below(r, set.config.fabric.net.paths);
    c->source = LEAT_SIM_ATM_SOURCE_GREEDY;
    if (!below(r, 3))
        c->source = (enum leat_sim_atm_source)below(r, LEAT_SIM_ATM_SOURCE_EXCESS + 1);
    c->excess_percent = 101 + (uint32_t)below(r, 1000);
    c->police = below(r, 2) ? LEAT_SIM_ATM_POLICE_DROP : LEAT_SIM_ATM_POLICE_TAG;
    c->shape = below(r, 3) == 0;
}

static void random_set(struct leat_random *r)
{
    static const char *const fabrics[] = {
        "bmx:2",
        "bmx:4",
        "bmx:8/buffer=16",
        "clos444",
        "clos:2,2,2",
        "clos:3,2,3/buffer=4",
        "clos:2,3,4/buffer=16",
        "clos444/buffer=64",
        "clos:4,4,2/switching=vc/clock=7MHz",
        "clos:1,1,3/buffer=1",
        "clos:4,7,4/buffer=32/clock=12.5ns",
    };
    set_begin(fabrics[below(r, sizeof fabrics / sizeof *fabrics)]);
    for (uint32_t p = 0; p < set.config.fabric.net.ports; p++) {
        struct leat_sim_atm_contracts_port *port = &set.port[p];
        const uint64_t w_max = below(r, 2) ? 8 : 100;
        port->w = 1 + (uint32_t)below(r, w_max);
        for (int level = 0; level < 2; level++) {
            port->cells[level] = 1 + (uint32_t)below(r, 100);
            port->clp_cells[level] = (uint32_t)below(r, port->cells[level]);
        }
    }
    const uint32_t count = 1 + (uint32_t)below(r, SET_MAX);
    while (set.config.connection_count < count)
        random_connection(r);
}

static void check_kept(const struct leat_sim_atm_contracts *s, const char *model, uint64_t seed)
{
    bool good = leat_sim_atm_contracts_network(s)->counts.suspensions == 0;
    for (uint32_t i = 0; i < set.config.connection_count; i++) {
        const struct leat_sim_atm_admission *a = leat_sim_atm_contracts_admission(s, i);
        const struct leat_sim_atm_contract_result r = result_of(s, i);
        if (!a->admitted) {
            good &= r.counts.sent == 0;
            continue;
        }
        good &= r.kept && r.ctd_ps <= a->ctd_ps && r.cdv_ps <= a->cdv_ps;
        if (!(r.kept && r.ctd_ps <= a->ctd_ps && r.cdv_ps <= a->cdv_ps))
            printf("# connection %u: class %d lost %llu ctd %llu of %llu cdv %llu of %llu mcr %d\n",
                   i, (int)set.connection[i].contract.class, (unsigned long long)r.counts.lost,
                   (unsigned long long)r.ctd_ps, (unsigned long long)a->ctd_ps,
                   (unsigned long long)r.cdv_ps, (unsigned long long)a->cdv_ps, r.mcr_kept);
    }
    OK(good);
    if (!good)
        printf("# set %llu, %s, %s: %llu suspensions\n", (unsigned long long)seed, set.fabric,
               model, (unsigned long long)leat_sim_atm_contracts_network(s)->counts.suspensions);
}

/* Runs the set in both models, and compares them with their contracts and each other. */
static void run_both_models(uint64_t seed, uint64_t cycles)
{
    struct leat_sim_atm_contracts *cell = set_run(LEAT_SIM_ATM_CELL, seed, cycles);
    struct leat_sim_atm_contracts *rtl = set_run(LEAT_SIM_ATM_RTL, seed, cycles);
    check_kept(cell, "cell", seed);
    check_kept(rtl, "rtl", seed);
    OK(leat_sim_atm_contracts_certificate(cell) == leat_sim_atm_contracts_certificate(rtl));
    free(cell);
    free(rtl);
}

static void every_class_is_admitted_and_every_criterion_refuses(void)
{
    set_begin("bmx:4");
    set.port[2].cells[0] = 4;
    set.port[2].clp_cells[0] = 2;
    for (int i = 0; i < LEAT_ATM_CLASS_COUNT; i++)
        set_add((enum leat_atm_class)i, 0, 1, 50, 20);
    const uint32_t admitted = set.config.connection_count;
    set_add(LEAT_ATM_CBR, 1, 2, 1001, 0);                                /* the link's rate */
    set_add(LEAT_ATM_VBR_RT, 2, 3, 900, 10)->contract.mbs = 50;          /* the port's buffer */
    set_add(LEAT_ATM_CBR, 3, 0, 10, 0)->contract.ctd_ps = slot_ps() / 2; /* a cell takes a slot */
    set_add(LEAT_ATM_CBR, 0, 1, 10, 0)->contract.cdv_ps = 0;             /* others share its path */
    static const enum leat_atm_cac_criterion wanted[] = { LEAT_ATM_CAC_RATE, LEAT_ATM_CAC_BUFFER,
                                                          LEAT_ATM_CAC_CTD, LEAT_ATM_CAC_CDV };
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 0);
    for (uint32_t i = 0; i < set.config.connection_count; i++) {
        EQ(is_admitted(s, i), i < admitted);
        if (i >= admitted)
            EQ(leat_sim_atm_contracts_admission(s, i)->why.criterion, wanted[i - admitted]);
    }
    free(s);
    run_both_models(1, 100000);
}

static void admitted_contracts_are_kept_in_both_models(void)
{
    enum { SETS = LEAT_ROUNDS / 10000 < 20 ? 20 : LEAT_ROUNDS / 10000 };
    for (uint64_t n = 0; n < SETS && !tap_checks_failed; n++) {
        struct leat_random r;
        const uint64_t seed = tap_seed() * 1000003 + n;
        leat_random_seed(&r, seed);
        random_set(&r);
        const uint64_t cycles = 20000 + below(&r, 150000);
        run_both_models(seed, cycles);
    }
}

/* ---- what admission is good for ------------------------------------------------------------- */

/* Three connections of 30 % each meet before port 5; a fourth one does not fit. */
static void overbook(bool admit_all)
{
    set_begin("clos444");
    for (uint32_t i = 0; i < 4; i++) {
        struct leat_sim_atm_connection *c = set_add(LEAT_ATM_CBR, 4 * i, 5, 300, 0);
        c->contract.ctd_ps = 60 * slot_ps();
        c->contract.cdv_ps = 55 * slot_ps();
    }
    set.config.admit_all = admit_all;
}

static void a_refused_connection_forced_in_breaks_contracts(void)
{
    static const enum leat_sim_atm_model models[2] = { LEAT_SIM_ATM_CELL, LEAT_SIM_ATM_RTL };
    uint64_t certificate[2][2];
    for (int forced = 0; forced < 2; forced++)
        for (int m = 0; m < 2; m++) {
            overbook(forced);
            struct leat_sim_atm_contracts *s = set_run(models[m], 1, 300000);
            uint32_t broken = 0;
            for (uint32_t i = 0; i < 3; i++) {
                OK(is_admitted(s, i));
                broken += !result_of(s, i).kept;
            }
            OK(!is_admitted(s, 3));
            EQ(leat_sim_atm_contracts_admission(s, 3)->why.criterion, LEAT_ATM_CAC_RATE);
            OK(forced ? broken > 0 : broken == 0);
            OK(forced ? leat_sim_atm_contracts_network(s)->counts.suspensions > 0
                      : leat_sim_atm_contracts_network(s)->counts.suspensions == 0);
            OK(forced ? result_of(s, 3).counts.sent > 0 : result_of(s, 3).counts.sent == 0);
            certificate[forced][m] = leat_sim_atm_contracts_certificate(s);
            free(s);
        }
    OK(certificate[0][0] == certificate[0][1]);
    OK(certificate[1][0] == certificate[1][1]);
    OK(certificate[0][0] != certificate[1][0]);
}

/* A cell that still waits at the end has waited at least so long, although it never arrived. */
static void a_cell_that_never_arrives_counts_as_late(void)
{
    overbook(true);
    set.port[12].w = 1;
    for (uint32_t i = 0; i < 4; i++)
        set.connection[i].contract.clr_e12 = LEAT_ATM_CLR_ONE;
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 300000);
    const struct leat_sim_atm_contract_result r = result_of(s, 0);
    OK(r.ctd_ps >= r.counts.ctd_ps_max);
    OK(!r.ctd_kept && !r.cdv_kept && r.clr_kept && r.mcr_kept && !r.kept);
    free(s);
}

/* ---- policing, shaping ---------------------------------------------------------------------- */

static struct leat_sim_atm_contract_result alone(enum leat_sim_atm_police police, bool shape,
                                                 uint32_t percent)
{
    set_begin("bmx:4");
    struct leat_sim_atm_connection *c = set_add(LEAT_ATM_CBR, 1, 2, 100,
                                                0); /* a cell in ten slots */
    c->contract.cdvt_ps = slot_ps();
    c->source = LEAT_SIM_ATM_SOURCE_EXCESS;
    c->excess_percent = percent;
    c->police = police;
    c->shape = shape;
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 53000); /* 100 cells at PCR */
    const struct leat_sim_atm_contract_result r = result_of(s, 0);
    OK(r.kept);
    free(s);
    return r;
}

static void the_policer_drops_what_exceeds(void)
{
    /* At twice PCR every second cell is early: one in ten slots passes. */
    struct leat_sim_atm_contract_result r = alone(LEAT_SIM_ATM_POLICE_DROP, false, 200);
    OK(r.counts.sent >= 199 && r.counts.sent <= 201);
    OK(r.counts.dropped >= 99 && r.counts.dropped <= 101);
    EQ(r.counts.sent, r.counts.dropped + r.counts.entered);
    EQ(r.counts.tagged, 0);
    OK(r.counts.delivered + 2 >= r.counts.entered);

    /* At three times PCR the second and third of three are. */
    r = alone(LEAT_SIM_ATM_POLICE_DROP, false, 300);
    OK(r.counts.sent >= 299 && r.counts.sent <= 301);
    OK(r.counts.dropped >= 199 && r.counts.dropped <= 201);
}

static void the_policer_tags_what_exceeds(void)
{
    const struct leat_sim_atm_contract_result r = alone(LEAT_SIM_ATM_POLICE_TAG, false, 200);
    OK(r.counts.tagged >= 99 && r.counts.tagged <= 101);
    EQ(r.counts.dropped, 0); /* the network is empty, so the share is large */
    OK(r.counts.tagged_delivered + 2 >= r.counts.tagged);
    OK(r.counts.delivered >= 98 && r.counts.delivered <= 101);
}

static void without_a_policer_all_pass(void)
{
    const struct leat_sim_atm_contract_result r = alone(LEAT_SIM_ATM_POLICE_OFF, false, 200);
    EQ(r.counts.entered, r.counts.sent);
    OK(r.counts.delivered + 2 >= r.counts.sent);
    EQ(r.counts.dropped + r.counts.tagged, 0);
}

static void a_shaper_keeps_the_policer_content(void)
{
    const struct leat_sim_atm_contract_result r = alone(LEAT_SIM_ATM_POLICE_DROP, true, 200);
    EQ(r.counts.dropped, 0);
    OK(r.counts.entered >= 99 && r.counts.entered <= 101);
    EQ(r.counts.shaper_lost, 0); /* a hundred wait in it */

    const struct leat_sim_atm_contract_result more = alone(LEAT_SIM_ATM_POLICE_DROP, true, 1000);
    EQ(more.counts.dropped, 0);
    OK(more.counts.shaper_lost >= 1000 - 102 - LEAT_SIM_ATM_SHAPER_CELLS);
    OK(more.counts.shaper_lost <= 1000 - 98 - LEAT_SIM_ATM_SHAPER_CELLS);
}

/* CLP 1 stays out of a queue with threshold 0, and CLP 0 notices nothing. */
static void the_threshold_of_the_port_holds_for_tagged_cells(void)
{
    set_begin("bmx:4");
    struct leat_sim_atm_connection *c = set_add(LEAT_ATM_CBR, 1, 2, 100, 0);
    c->source = LEAT_SIM_ATM_SOURCE_EXCESS;
    c->excess_percent = 200;
    c->police = LEAT_SIM_ATM_POLICE_TAG;
    set.port[1].clp_cells[0] = 0;
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 53000);
    const struct leat_sim_atm_contract_result r = result_of(s, 0);
    EQ(r.counts.tagged_lost, r.counts.tagged);
    OK(r.counts.tagged >= 99);
    EQ(r.counts.lost, 0);
    OK(r.kept);
    free(s);
}

/* ---- sources -------------------------------------------------------------------------------- */

/* An independent check of a source: GCRA as in the note, on the entries that arrive. */
static void conforming_sources_fill_their_contract(void)
{
    static const enum leat_sim_atm_source sources[] = { LEAT_SIM_ATM_SOURCE_GREEDY,
                                                        LEAT_SIM_ATM_SOURCE_RANDOM };
    for (int k = 0; k < 2; k++) {
        set_begin("bmx:2");
        struct leat_sim_atm_connection *c = set_add(LEAT_ATM_VBR_RT, 0, 1, 500, 50);
        c->contract.mbs = 8;
        c->contract.cdvt_ps = 5 * slot_ps();
        c->source = sources[k];
        struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 3, 5300000);
        const struct leat_sim_atm_contract_result r = result_of(s, 0);
        EQ(r.counts.dropped, 0);
        EQ(r.counts.entered, r.counts.sent);
        OK(r.counts.sent <= 5000 + 10);        /* SCR of 100,000 slots, and a burst */
        OK(r.counts.sent > (k ? 1000 : 3500)); /* it rests, or is silent at times */
        OK(r.counts.sent <= r.counts.delivered + 3);
        free(s);
    }
}

static void runs_repeat_and_seeds_differ(void)
{
    uint64_t certificate[3];
    for (int i = 0; i < 3; i++) {
        set_begin("clos:2,2,2");
        set_add(LEAT_ATM_CBR, 0, 3, 50, 0)->source = LEAT_SIM_ATM_SOURCE_RANDOM;
        struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, i == 2 ? 8 : 7, 100000);
        certificate[i] = leat_sim_atm_contracts_certificate(s);
        free(s);
    }
    OK(certificate[0] == certificate[1] && certificate[0] != certificate[2]);
}

/* A run in pieces gives the same result. */
static void slices_change_nothing(void)
{
    overbook(true);
    struct leat_sim_atm_contracts *whole = set_run(LEAT_SIM_ATM_CELL, 5, 100000);
    struct leat_sim_atm_contracts *pieces = set_run(LEAT_SIM_ATM_CELL, 5, 0);
    for (uint64_t at = 777; at < 100000; at += 777)
        leat_sim_atm_contracts_run(pieces, at);
    leat_sim_atm_contracts_run(pieces, 100000);
    OK(leat_sim_atm_contracts_certificate(whole) == leat_sim_atm_contracts_certificate(pieces));
    free(whole);
    free(pieces);
}

static void time_ends_before_its_numbers_do(void)
{
    set_begin("clos444");
    EQ(leat_sim_atm_contracts_cycles_max(&set.config.fabric),
       LEAT_SIM_ATM_CONTRACTS_PS_MAX / 50000);
    set_begin("clos444/clock=3MHz");
    OK(leat_sim_atm_contracts_cycles_max(&set.config.fabric) ==
       (LEAT_SIM_ATM_CONTRACTS_PS_MAX / 1000000 * 3 +
        (LEAT_SIM_ATM_CONTRACTS_PS_MAX % 1000000 * 3 + 2) / 1000000));

    /* A cell per second, almost to the end: the models skip the silence. */
    set_begin("bmx:2");
    struct leat_sim_atm_connection *c = set_add(LEAT_ATM_CBR, 0, 1, 0, 0);
    c->contract.pcr = UNIT;
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 1000 * UINT64_C(20000000));
    OK(result_of(s, 0).counts.delivered > 400); /* it rests at times */
    free(s);
}

/* ---- best effort ---------------------------------------------------------------------------- */

/* Two ABR sources at one port: marks alone lead each to its share, and MCR is kept. */
static void abr_sources_find_their_share(void)
{
    enum { CYCLES = 10000000 };
    set_begin("clos444");
    for (uint32_t i = 0; i < 2; i++)
        set_add(LEAT_ATM_ABR, 0, 5 + i, 900, 0);
    set.connection[0].contract.mcr = leat_sim_atm_contracts_link_rate(&set.config.fabric) / 10;
    set_add(LEAT_ATM_CBR, 0, 9, 200, 0);
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, CYCLES);
    for (uint32_t i = 0; i < 2; i++) {
        const struct leat_sim_atm_contract_result r = result_of(s, i);
        const double share = (double)leat_sim_atm_contracts_admission(s, i)->share / UNIT;
        OK(r.kept && r.counts.marked > 0);
        OK(r.throughput <= share * 1.01);
        OK(r.throughput >= share * 0.5);
        OK(r.acr <= set.connection[i].contract.pcr);
        /* one in 32 is an RM cell, and all come back */
        OK(r.counts.rm_sent * LEAT_ATM_ABR_NRM >= r.counts.sent - LEAT_ATM_ABR_NRM &&
           r.counts.rm_sent * LEAT_ATM_ABR_NRM <= r.counts.sent + LEAT_ATM_ABR_NRM);
        OK(r.counts.rm_returned + r.counts.rm_lost + 8 >= r.counts.rm_sent);
    }
    OK(result_of(s, 2).kept && result_of(s, 2).counts.lost == 0);
    free(s);
}

/* Without a mark ACR climbs to PCR: the queue never grows when the share is above it. */
static void abr_alone_gets_its_peak(void)
{
    set_begin("bmx:2");
    set_add(LEAT_ATM_ABR, 0, 1, 300, 0);
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 1000000);
    const struct leat_sim_atm_contract_result r = result_of(s, 0);
    const uint64_t pcr = set.connection[0].contract.pcr; /* as RM cells can express it */
    EQ(r.acr, leat_atm_rate_decode(leat_atm_rate_encode(pcr)));
    EQ(r.counts.lost, 0);
    EQ(r.counts.marked, 0);
    free(s);
}

/* UBR takes the remaining capacity, loses the rest, and affects no other connection. */
static void ubr_gets_what_is_left(void)
{
    set_begin("bmx:4");
    struct leat_sim_atm_connection *c = set_add(LEAT_ATM_CBR, 0, 3, 300, 0);
    c->contract.ctd_ps = 60 * slot_ps();
    for (uint32_t i = 0; i < 3; i++)
        set_add(LEAT_ATM_UBR, i, 3, 0, 0);
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 2000000);
    const double link = (double)leat_sim_atm_contracts_link_rate(&set.config.fabric) / UNIT;
    double all = 0;
    for (uint32_t i = 0; i < 4; i++)
        all += result_of(s, i).throughput;
    OK(result_of(s, 0).kept && result_of(s, 0).counts.lost == 0);
    for (uint32_t i = 1; i < 4; i++) {
        const struct leat_sim_atm_contract_result r = result_of(s, i);
        OK(r.counts.lost > 0 && r.throughput > 0.1 * link && r.throughput < 0.3 * link);
    }
    OK(all > 0.7 * link && all <= link);
    free(s);
}

/* Greedy MCR besides reserved traffic at the limit: it is kept. */
static void mcr_is_had_beside_full_reservations(void)
{
    set_begin("clos444/buffer=32");
    set.port[0].best_cells = 8;
    for (uint32_t i = 0; i < 6; i++)
        set_add(LEAT_ATM_CBR, 0, 10 + i, 110, 0);
    struct leat_sim_atm_connection *abr = set_add(LEAT_ATM_ABR, 0, 1, 1000, 0);
    abr->contract.mcr = leat_sim_atm_contracts_link_rate(&set.config.fabric) * 15 / 100;
    set_add(LEAT_ATM_UBR, 0, 1, 0, 0);
    struct leat_sim_atm_contracts *s = set_run(LEAT_SIM_ATM_CELL, 1, 5300000);
    for (uint32_t i = 0; i < set.config.connection_count; i++) {
        OK(is_admitted(s, i));
        OK(result_of(s, i).kept);
    }
    OK(result_of(s, 6).counts.delivered >= 100000 * 15 / 100 - 50);
    free(s);
}

TAP_MAIN(T(every_class_is_admitted_and_every_criterion_refuses),
         T(admitted_contracts_are_kept_in_both_models),
         T(a_refused_connection_forced_in_breaks_contracts),
         T(a_cell_that_never_arrives_counts_as_late), T(the_policer_drops_what_exceeds),
         T(the_policer_tags_what_exceeds), T(without_a_policer_all_pass),
         T(a_shaper_keeps_the_policer_content), T(the_threshold_of_the_port_holds_for_tagged_cells),
         T(conforming_sources_fill_their_contract), T(runs_repeat_and_seeds_differ),
         T(slices_change_nothing), T(time_ends_before_its_numbers_do),
         T(abr_sources_find_their_share), T(abr_alone_gets_its_peak), T(ubr_gets_what_is_left),
         T(mcr_is_had_beside_full_reservations))
