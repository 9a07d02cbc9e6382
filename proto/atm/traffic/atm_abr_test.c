#include "atm_abr.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { UNIT = LEAT_ATM_RATE_UNIT };

static const struct leat_atm_abr_config config = {
    .pcr = 102400 * UNIT, /* has an exact code */
    .mcr = 100 * UNIT,
    .icr = 1600 * UNIT,
    .rdf = LEAT_ATM_ABR_RDF,
    .rif = LEAT_ATM_ABR_RIF,
    .nrm = LEAT_ATM_ABR_NRM,
};

static struct leat_atm_abr_source made(void)
{
    struct leat_atm_abr_source s;
    EQ(leat_atm_abr_source_init(&s, &config), LEAT_ERR_OK);
    return s;
}

static struct leat_atm_rm backward(unsigned flags)
{
    return (struct leat_atm_rm){ .flags = (uint8_t)(LEAT_ATM_RM_DIR | flags),
                                 .er = leat_atm_rate_encode(config.pcr) };
}

static void receive(struct leat_atm_abr_source *s, struct leat_atm_rm rm)
{
    EQ(leat_atm_abr_source_receive(s, &rm), LEAT_ERR_OK);
}

/* Note, 3.3, each line of the source rule. */
static void the_rate_follows_the_rule(void)
{
    struct leat_atm_abr_source s = made();
    EQ(s.acr, 1600 * UNIT);
    receive(&s, backward(0));
    EQ(s.acr, (1600 + 6400) * UNIT); /* linear: PCR / 16 */
    receive(&s, backward(LEAT_ATM_RM_NI));
    EQ(s.acr, 8000 * UNIT);
    receive(&s, backward(LEAT_ATM_RM_CI));
    EQ(s.acr, 7500 * UNIT); /* exponential: 15/16 */
    receive(&s, backward(LEAT_ATM_RM_CI | LEAT_ATM_RM_NI));
    EQ(s.acr, 7500 * UNIT - 7500 * UNIT / 16);

    struct leat_atm_rm er = backward(0);
    er.er = leat_atm_rate_encode(1024 * UNIT);
    receive(&s, er);
    EQ(s.acr, 1024 * UNIT); /* no more than ER */
    er.er = 0;
    receive(&s, er);
    EQ(s.acr, 100 * UNIT); /* no less than MCR */
    for (int i = 0; i < 17; i++)
        receive(&s, backward(0));
    EQ(s.acr, config.pcr); /* no more than PCR */
    for (int i = 0; i < 1000; i++)
        receive(&s, backward(LEAT_ATM_RM_CI));
    EQ(s.acr, config.mcr);
}

static void a_forward_rm_cell_changes_no_rate(void)
{
    struct leat_atm_abr_source s = made();
    const struct leat_atm_rm rm = { .flags = LEAT_ATM_RM_CI };
    EQ(leat_atm_abr_source_receive(&s, &rm), LEAT_ERR_TYPE);
    EQ(s.acr, 1600 * UNIT);
}

static void a_source_without_a_minimum_still_trickles(void)
{
    struct leat_atm_abr_config c = config;
    struct leat_atm_abr_source s;
    c.mcr = c.icr = 0;
    EQ(leat_atm_abr_source_init(&s, &c), LEAT_ERR_OK);
    EQ(s.acr, UNIT);
    struct leat_atm_rm rm = backward(LEAT_ATM_RM_CI);
    rm.er = 0;
    receive(&s, rm);
    EQ(s.acr, UNIT);
    OK(leat_atm_abr_source_send(&s, 5, &rm));
    EQ(leat_atm_abr_source_due(&s, 6), 5 + UINT64_C(1000000000000));
}

static void one_cell_in_32_is_an_rm_cell_and_the_first_is(void)
{
    struct leat_atm_abr_source s = made();
    leat_time now = 1000;
    for (uint32_t i = 0; i < 200; i++) {
        struct leat_atm_rm rm, untouched;
        memset(&untouched, 0xa5, sizeof untouched);
        memcpy(&rm, &untouched, sizeof rm);
        now = leat_atm_abr_source_due(&s, now);
        EQ(leat_atm_abr_source_send(&s, now, &rm), i % 32 == 0);
        if (i % 32) {
            OK(memcmp(&rm, &untouched, sizeof rm) == 0);
            continue;
        }
        EQ(rm.flags, 0);
        EQ(leat_atm_rate_decode(rm.er), config.pcr);
        EQ(leat_atm_rate_decode(rm.ccr), s.acr);
        EQ(leat_atm_rate_decode(rm.mcr), config.mcr);
        EQ(rm.sn, i / 32);
        uint8_t payload[LEAT_ATM_PAYLOAD_LEN];
        EQ(leat_atm_rm_encode(&rm, payload, sizeof payload), LEAT_ERR_OK);
    }
}

static void cells_leave_at_the_rate_allowed(void)
{
    struct leat_atm_abr_source s = made();
    struct leat_atm_rm rm;
    EQ(leat_atm_abr_source_due(&s, 77), 77);
    (void)leat_atm_abr_source_send(&s, 100, &rm);
    EQ(leat_atm_abr_source_due(&s, 101), 100 + 625000000); /* 1600 cells/s */
    receive(&s, backward(0));
    EQ(leat_atm_abr_source_due(&s, 101), 100 + 125000000); /* 8000: the wait is shortened */
    EQ(leat_atm_abr_source_due(&s, 999000000), 999000000); /* no credit accumulates */
    (void)leat_atm_abr_source_send(&s, 999000000, &rm);
    EQ(leat_atm_abr_source_due(&s, 999000000), 1124000000);
}

/* Note, 3.3: a destination that last saw EFCI sets CI when it turns the RM cell around. */
static void the_destination_turns_rm_cells_and_reports_congestion(void)
{
    struct leat_atm_abr_destination d = { 0 };
    struct leat_atm_rm rm = { .flags = LEAT_ATM_RM_NI, .er = 0x64b1, .ccr = 1, .mcr = 2, .sn = 9 };
    struct leat_atm_rm back;
    EQ(leat_atm_abr_destination_turn(&d, &rm, &back), LEAT_ERR_OK);
    EQ(back.flags, LEAT_ATM_RM_DIR | LEAT_ATM_RM_NI);
    OK(back.er == rm.er && back.ccr == rm.ccr && back.mcr == rm.mcr && back.sn == rm.sn);

    static const struct {
        uint8_t pt;
        bool ci;
    } cells[] = { { 2, true },  { 0, false }, { 3, true }, { 4, true },
                  { 1, false }, { 5, false }, { 2, true } };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        leat_atm_abr_destination_data(&d, cells[i].pt);
        EQ(leat_atm_abr_destination_turn(&d, &rm, &back), LEAT_ERR_OK);
        EQ(!!(back.flags & LEAT_ATM_RM_CI), cells[i].ci);
    }
    const struct leat_atm_rm before = back;
    EQ(leat_atm_abr_destination_turn(&d, &before, &back), LEAT_ERR_TYPE);
    EQ(back.flags, before.flags);
}

static void a_switch_lowers_er_and_never_raises_it(void)
{
    struct leat_atm_rm rm = { .er = leat_atm_rate_encode(4096 * UNIT) };
    leat_atm_abr_limit(&rm, 5000 * UNIT);
    EQ(leat_atm_rate_decode(rm.er), 4096 * UNIT);
    leat_atm_abr_limit(&rm, 1000 * UNIT);
    EQ(leat_atm_rate_decode(rm.er), 1000 * UNIT);
    leat_atm_abr_limit(&rm, 0);
    EQ(leat_atm_rate_decode(rm.er), 0);
}

static void configurations_outside_the_limits_are_refused(void)
{
    struct leat_atm_abr_source s;
    struct leat_atm_abr_config c;
#define REFUSED(field, value)        \
    (c = config, c.field = (value)); \
    EQ(leat_atm_abr_source_init(&s, &c), LEAT_ERR_RANGE)
    REFUSED(pcr, 0);
    REFUSED(mcr, config.pcr + 1);
    REFUSED(icr, config.pcr + 1);
    REFUSED(rdf, 0);
    REFUSED(rdf, LEAT_ATM_ABR_FACTOR_MAX + 1);
    REFUSED(rif, 0);
    REFUSED(rif, LEAT_ATM_ABR_FACTOR_MAX + 1);
    REFUSED(nrm, 1);
    REFUSED(nrm, LEAT_ATM_ABR_NRM_MAX + 1);
#undef REFUSED
}

/* The rule of the note again, in floating point. */
static void random_rm_cells_agree_with_the_rule_in_real_numbers(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    struct leat_atm_abr_source s = made();
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_rm rm = backward(leat_random_next(&r) & LEAT_ATM_RM_FLAGS);
        if (leat_random_below(&r, 4) == 0)
            rm.er = (uint16_t)(0x4000 | leat_random_below(&r, 0x2600));
        double acr = (double)s.acr;
        if (rm.flags & LEAT_ATM_RM_CI)
            acr -= acr / 16;
        else if (!(rm.flags & LEAT_ATM_RM_NI))
            acr += (double)config.pcr / 16;
        const double er = (double)leat_atm_rate_decode(rm.er);
        acr = acr < er ? acr : er;
        acr = acr < (double)config.pcr ? acr : (double)config.pcr;
        acr = acr > (double)config.mcr ? acr : (double)config.mcr;
        receive(&s, rm);
        OK((double)s.acr - acr < 1 && acr - (double)s.acr < 1);
    }
}

/*
 * A loop: sources share a link that marks EFCI while its queue is long; RM cells return after a
 * delay. One cell per slot leaves the link.
 */
enum { SOURCES = 4, SLOT_PS = 1000000000, LOOP = 20, MARK_FROM = 50, FLIGHT = 64, WAITING = 4096 };

struct loop_cell {
    unsigned source;
    bool is_rm, efci;
    struct leat_atm_rm rm;
};

static struct {
    struct leat_atm_abr_source source[SOURCES];
    struct leat_atm_abr_destination destination[SOURCES];
    uint64_t sent[SOURCES];
    struct loop_cell waiting[WAITING]; /* ring before the link */
    size_t head, len, longest;
    struct loop_cell back[FLIGHT]; /* arrivals at the sources in slot i mod FLIGHT */
} loop;

static void loop_slot(uint64_t slot)
{
    const leat_time now = slot * SLOT_PS;
    struct loop_cell *home = &loop.back[slot % FLIGHT];
    if (home->is_rm) receive(&loop.source[home->source], home->rm);
    home->is_rm = false;
    for (unsigned i = 0; i < SOURCES; i++) {
        if (leat_atm_abr_source_due(&loop.source[i], now) > now || loop.len == WAITING) continue;
        struct loop_cell *c = &loop.waiting[(loop.head + loop.len++) % WAITING];
        *c = (struct loop_cell){ .source = i, .efci = loop.len > MARK_FROM };
        c->is_rm = leat_atm_abr_source_send(&loop.source[i], now, &c->rm);
        loop.sent[i]++;
    }
    if (loop.len > loop.longest) loop.longest = loop.len;
    if (loop.len == 0) return;
    const struct loop_cell *c = &loop.waiting[loop.head];
    loop.head = (loop.head + 1) % WAITING;
    loop.len--;
    struct leat_atm_abr_destination *d = &loop.destination[c->source];
    if (!c->is_rm) leat_atm_abr_destination_data(d, c->efci ? LEAT_ATM_PT_EFCI : 0);
    if (!c->is_rm) return;
    struct loop_cell *out = &loop.back[(slot + LOOP) % FLIGHT];
    *out = *c;
    EQ(leat_atm_abr_destination_turn(d, &c->rm, &out->rm), LEAT_ERR_OK);
}

static void sources_share_a_link_by_its_marks_alone(void)
{
    enum { SLOTS = 400000, CAPACITY = 1000 }; /* cells per second */
    memset(&loop, 0, sizeof loop);
    for (unsigned i = 0; i < SOURCES; i++) {
        struct leat_atm_abr_config c = config;
        c.pcr = CAPACITY * UNIT;
        c.mcr = 10 * UNIT;
        c.icr = (i + 1) * 100 * UNIT; /* different rates, in sum the capacity */
        c.rif = 256;
        EQ(leat_atm_abr_source_init(&loop.source[i], &c), LEAT_ERR_OK);
    }
    for (uint64_t slot = 0; slot < SLOTS; slot++)
        loop_slot(slot);
    uint64_t all = 0;
    for (unsigned i = 0; i < SOURCES; i++)
        all += loop.sent[i];
    OK(all > SLOTS * 95 / 100 && all < SLOTS * 101 / 100); /* the link is used, not overloaded */
    OK(loop.longest < 1000);
    for (unsigned i = 0; i < SOURCES; i++)
        OK(loop.sent[i] > all / SOURCES * 80 / 100 && loop.sent[i] < all / SOURCES * 120 / 100);
}

TAP_MAIN(T(the_rate_follows_the_rule), T(a_forward_rm_cell_changes_no_rate),
         T(a_source_without_a_minimum_still_trickles),
         T(one_cell_in_32_is_an_rm_cell_and_the_first_is), T(cells_leave_at_the_rate_allowed),
         T(the_destination_turns_rm_cells_and_reports_congestion),
         T(a_switch_lowers_er_and_never_raises_it),
         T(configurations_outside_the_limits_are_refused),
         T(random_rm_cells_agree_with_the_rule_in_real_numbers),
         T(sources_share_a_link_by_its_marks_alone))
