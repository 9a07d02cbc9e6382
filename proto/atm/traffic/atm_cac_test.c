/*
 * Admission against a simulation. The multiplexers here are plain and independent of atm_queue:
 * links in a row, slot by slot; conforming sources, worst-case ones all at once and random ones.
 * Below them two levels always have cells, so that W takes as much as possible from the others.
 */
#include "atm_cac.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { UNIT = LEAT_ATM_RATE_UNIT };

/* ---- admission ----------------------------------------------------------------------------- */

#define SLOT_PS UINT64_C(4000000) /* 250000 cells per second */
static const uint64_t capacity = 250000 * UNIT;

static struct leat_atm_cac_link made(uint32_t w, uint32_t cells0, uint32_t cells1)
{
    struct leat_atm_cac_link_config c = {
        .capacity = capacity, .queue = { .level_count = LEAT_ATM_LEVEL_COUNT, .w = w }
    };
    const uint32_t cells[LEAT_ATM_LEVEL_COUNT] = { cells0, cells1, 50, 50 };
    for (int i = 0; i < LEAT_ATM_LEVEL_COUNT; i++)
        c.queue.level[i].capacity = cells[i];
    struct leat_atm_cac_link link = { 0 };
    EQ(leat_atm_cac_link_init(&link, &c), LEAT_ERR_OK);
    return link;
}

static struct leat_atm_contract contract_of(enum leat_atm_class class, uint64_t pcr, uint64_t scr,
                                            uint64_t mbs, uint64_t cdvt_slots)
{
    return (struct leat_atm_contract){ .class = class,
                                       .pcr = pcr * UNIT,
                                       .scr = scr * UNIT,
                                       .mbs = mbs,
                                       .cdvt_ps = cdvt_slots * SLOT_PS,
                                       .clr_e12 = class == LEAT_ATM_ABR || class == LEAT_ATM_UBR
                                                      ? LEAT_ATM_CLR_ONE
                                                      : 0,
                                       .ctd_ps = LEAT_NEVER,
                                       .cdv_ps = LEAT_NEVER };
}

static struct leat_atm_cac_answer ask(const struct leat_atm_contract *c,
                                      struct leat_atm_cac_link *link)
{
    struct leat_atm_cac_answer a = { .needed = 77 };
    EQ(leat_atm_cac_check(c, &link, 1, &a), LEAT_ERR_OK);
    return a;
}

static struct leat_atm_cac_answer admit(const struct leat_atm_contract *c,
                                        struct leat_atm_cac_link *link)
{
    struct leat_atm_cac_answer a = { .needed = 77 };
    EQ(leat_atm_cac_admit(c, &link, 1, &a), LEAT_ERR_OK);
    return a;
}

/* How many equal connections a link admits; *why is the first refusal. */
static unsigned admitted(const struct leat_atm_contract *c, struct leat_atm_cac_link *link,
                         struct leat_atm_cac_answer *why)
{
    unsigned n = 0;
    for (;;) {
        *why = admit(c, link);
        if (why->criterion != LEAT_ATM_CAC_ACCEPTED) return n;
        n++;
    }
}

/* W = 9: g = 10/9. Level 0 has C / g^3 = 0.729 C, level 1 0.81 C, level 2 0.9 C. */
static void rates_are_added_up_level_by_level(void)
{
    struct leat_atm_cac_link link = made(9, 100000, 100000);
    struct leat_atm_cac_answer why;
    struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 2500, 0, 0, 0); /* 1 % of the link */
    EQ(admitted(&c, &link, &why), 72);
    EQ(why.criterion, LEAT_ATM_CAC_RATE);
    EQ(why.level, 0);
    EQ(why.needed, 73 * 2500 * UNIT);
    OK(why.available <= capacity * 729 / 1000 && why.available > capacity * 729 / 1000 - 3);

    c = contract_of(LEAT_ATM_VBR_NRT, 10000, 2500, 10, 0);
    EQ(admitted(&c, &link, &why), 9); /* up to 81 % */
    EQ(why.level, 1);
    EQ(why.criterion, LEAT_ATM_CAC_RATE);

    c = contract_of(LEAT_ATM_ABR, 250000, 0, 0, 0);
    c.mcr = 2500 * UNIT;
    EQ(admitted(&c, &link, &why), 9); /* up to 90 % */
    EQ(why.level, 2);
    c.mcr = 0;
    EQ(admit(&c, &link).criterion, LEAT_ATM_CAC_ACCEPTED); /* requests nothing */
    c = contract_of(LEAT_ATM_UBR, 0, 0, 0, 0);
    EQ(admit(&c, &link).criterion, LEAT_ATM_CAC_ACCEPTED);

    c = contract_of(LEAT_ATM_CBR, 2500, 0, 0, 0); /* level 0 itself is not full: others suffer */
    struct leat_atm_cac_link fresh = made(9, 100000, 100000);
    struct leat_atm_contract nrt = contract_of(LEAT_ATM_VBR_NRT, 250000, 2500, 1, 0);
    EQ(admitted(&nrt, &fresh, &why), 81);
    EQ(ask(&c, &fresh).level, 1);
    EQ(ask(&c, &fresh).criterion, LEAT_ATM_CAC_RATE);
}

/* CBR: clumps of 1 + CDVT/T cells from all at once, plus arrivals during the latency. */
static void clumps_need_buffer(void)
{
    struct leat_atm_cac_link link = made(9, 100, 100000);
    struct leat_atm_cac_answer why;
    const struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 500, 0, 0,
                                                   2000); /* T = 500 slots */
    EQ(admitted(&c, &link, &why), 19); /* 5 cells each, 0.04 * 4.5 more arrive during L */
    EQ(why.criterion, LEAT_ATM_CAC_BUFFER);
    EQ(why.level, 0);
    EQ(why.needed, 101);
    EQ(why.available, 100);
}

/* VBR: the queue grows while the peak lasts. */
static void bursts_need_buffer_for_what_the_service_does_not_take(void)
{
    /* Ten at half the link each, for 40 cells: 400 cells arrive in 80 slots; 0.729 * 80 are
     * served. */
    struct leat_atm_cac_link link = made(9, 1000, 1000);
    const struct leat_atm_contract c = contract_of(LEAT_ATM_VBR_RT, 125000, 2500, 40, 0);
    for (int i = 0; i < 10; i++)
        EQ(admit(&c, &link).criterion, LEAT_ATM_CAC_ACCEPTED);
    uint32_t *room = &link.config.queue.level[0].capacity;
    while (ask(&c, &link).criterion == LEAT_ATM_CAC_ACCEPTED)
        --*room;
    /* eleven: 440 cells, minus 0.729 of 78 slots (a burst ends with its last cell), plus latency */
    OK(*room + 1 > 440 - 59 && *room + 1 < 440 - 59 + 10);
}

static void tagged_cells_take_their_share_of_the_buffer(void)
{
    struct leat_atm_cac_link link = made(9, 100, 100000);
    link.config.queue.level[0].threshold = 40;
    struct leat_atm_cac_answer why;
    const struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 500, 0, 0, 2000);
    EQ(admitted(&c, &link, &why), 11);
    EQ(why.available, 60);
}

static void delays_are_promised_by_the_size_of_the_queue(void)
{
    struct leat_atm_cac_link link = made(9, 100, 200);
    /* latency (2 + 10/9 + 100/81) slots, 100 cells at 0.729 per slot */
    EQ(leat_atm_cac_link_wait_ps(&link, 0) / (SLOT_PS / 100), 434 + 100 * 100000 / 729);
    /* (2 + 10/9) slots, 200 * 10 + 9 cells at 0.81 */
    EQ(leat_atm_cac_link_wait_ps(&link, 1) / (SLOT_PS / 100), 311 + 2009 * 10000 / 81);
    OK(leat_atm_cac_link_wait_ps(&link, 2) == LEAT_NEVER);
    OK(leat_atm_cac_link_wait_ps(&link, 3) == LEAT_NEVER);

    struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 500, 0, 0, 2);
    link.config.fixed_ps = 12345;
    const uint64_t wait = leat_atm_cac_link_wait_ps(&link, 0);
    c.ctd_ps = wait + SLOT_PS + 12345;
    c.cdv_ps = wait;
    EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_ACCEPTED);
    c.ctd_ps--;
    EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_CTD);
    EQ(ask(&c, &link).needed, c.ctd_ps);
    EQ(ask(&c, &link).available, c.ctd_ps + 1);
    c.ctd_ps++;
    c.cdv_ps--;
    EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_CDV);
    EQ(ask(&c, &link).available, wait);
}

static void best_effort_is_promised_nothing(void)
{
    struct leat_atm_cac_link link = made(9, 100, 100);
    static const enum leat_atm_class classes[] = { LEAT_ATM_ABR, LEAT_ATM_UBR };
    for (int i = 0; i < 2; i++) {
        struct leat_atm_contract c = contract_of(classes[i], 100, 0, 0, 0);
        c.clr_e12 = 100;
        EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_CLR);
        EQ(ask(&c, &link).needed, 100);
        c.clr_e12 = LEAT_ATM_CLR_ONE;
        c.ctd_ps = UINT64_MAX - 1;
        EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_CTD);
        c.ctd_ps = LEAT_NEVER;
        c.cdv_ps = UINT64_MAX - 1;
        EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_CDV);
        c.cdv_ps = LEAT_NEVER;
        EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_ACCEPTED);
    }
}

static void the_reason_names_the_link_of_the_path(void)
{
    struct leat_atm_cac_link a = made(9, 30, 30), b = made(9, 100, 100), c = made(9, 100, 100);
    struct leat_atm_cac_link *const path[] = { &a, &b, &c };
    struct leat_atm_cac_answer answer;
    struct leat_atm_contract cbr = contract_of(LEAT_ATM_CBR, 500, 0, 0, 2);
    struct leat_atm_contract big = contract_of(LEAT_ATM_CBR, 500, 0, 0, 48500); /* 98 cells */
    EQ(admit(&big, &c).criterion, LEAT_ATM_CAC_ACCEPTED);
    EQ(leat_atm_cac_admit(&cbr, path, 3, &answer), LEAT_ERR_OK);
    EQ(answer.criterion, LEAT_ATM_CAC_ACCEPTED);
    EQ(leat_atm_cac_admit(&cbr, path, 3, &answer), LEAT_ERR_OK);
    EQ(answer.criterion, LEAT_ATM_CAC_BUFFER);
    EQ(answer.link, 2);
    EQ(a.connections, 1); /* a refused connection is booked nowhere */
    EQ(b.connections, 1);
    EQ(c.connections, 2);
    EQ(leat_atm_cac_check(&big, path, 3, &answer), LEAT_ERR_OK);
    EQ(answer.link, 0);

    /* delays add up until the sum is too large */
    leat_atm_cac_release(&big, &path[2], 1);
    cbr.cdv_ps = leat_atm_cac_link_wait_ps(&a, 0) + leat_atm_cac_link_wait_ps(&b, 0);
    EQ(leat_atm_cac_check(&cbr, path, 2, &answer), LEAT_ERR_OK);
    EQ(answer.criterion, LEAT_ATM_CAC_ACCEPTED);
    EQ(leat_atm_cac_check(&cbr, path, 3, &answer), LEAT_ERR_OK);
    EQ(answer.criterion, LEAT_ATM_CAC_CDV);
    EQ(answer.link, 2);
}

/* Cells that wait at one link arrive in larger clumps at the next. */
static void later_links_see_the_variation_of_earlier_ones(void)
{
    struct leat_atm_cac_link a = made(9, 100, 100), b = made(9, 100, 100);
    struct leat_atm_cac_link *const path[] = { &a, &b };
    struct leat_atm_cac_answer answer;
    const struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 5000, 0, 0, 2); /* T = 50 slots */
    EQ(leat_atm_cac_admit(&c, path, 2, &answer), LEAT_ERR_OK);
    const uint64_t wait = leat_atm_cac_link_wait_ps(&a, 0);
    const uint64_t grown = b.level[0].peak.burst_q20 - a.level[0].peak.burst_q20;
    const uint64_t want = (wait << 12) / (50 * SLOT_PS) << 8; /* wait / T cells */
    OK(grown >= want && grown < want + want / 100 + 300);
}

static void release_gives_back_what_was_booked(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    struct leat_atm_cac_link links[3] = { made(4, 200, 200), made(9, 100, 100), made(50, 80, 80) };
    struct leat_atm_cac_link *const path[] = { &links[0], &links[1], &links[2] };
    const struct leat_atm_cac_link before[3] = { links[0], links[1], links[2] };
    struct leat_atm_contract live[30];
    size_t count = 0;
    for (int i = 0; i < 200; i++) {
        struct leat_atm_cac_answer a;
        const enum leat_atm_class class = (enum leat_atm_class)leat_random_below(
            &r, LEAT_ATM_CLASS_COUNT);
        const uint64_t pcr = 1000 + leat_random_below(&r, 3000),
                       scr = 1 + leat_random_below(&r, 1000), mbs = 1 + leat_random_below(&r, 5),
                       cdvt_slots = leat_random_below(&r, 10);
        const struct leat_atm_contract c = contract_of(class, pcr, scr, mbs, cdvt_slots);
        if (count == 30 || (count && leat_random_below(&r, 3) == 0)) {
            const size_t which = leat_random_below(&r, count);
            leat_atm_cac_release(&live[which], path, 3);
            live[which] = live[--count];
        } else {
            EQ(leat_atm_cac_admit(&c, path, 3, &a), LEAT_ERR_OK);
            if (a.criterion == LEAT_ATM_CAC_ACCEPTED) live[count++] = c;
        }
    }
    OK(count > 0);
    while (count)
        leat_atm_cac_release(&live[--count], path, 3);
    for (int i = 0; i < 3; i++)
        OK(memcmp(&links[i], &before[i], sizeof before[i]) == 0);
}

static void unsound_questions_get_no_answer(void)
{
    struct leat_atm_cac_link a = made(9, 100, 100), b = a;
    struct leat_atm_cac_link *const path[] = { &a, &b, &a };
    struct leat_atm_cac_link *many[LEAT_ATM_CAC_PATH_MAX + 1] = { &a };
    struct leat_atm_cac_answer answer = { .needed = 77 };
    struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 500, 0, 0, 2);
    EQ(leat_atm_cac_check(&c, path, 0, &answer), LEAT_ERR_RANGE);
    EQ(leat_atm_cac_check(&c, many, LEAT_ATM_CAC_PATH_MAX + 1, &answer), LEAT_ERR_RANGE);
    EQ(leat_atm_cac_check(&c, path, 3, &answer), LEAT_ERR_DUPLICATE);
    c.pcr = 0;
    EQ(leat_atm_cac_check(&c, path, 2, &answer), LEAT_ERR_RANGE);
    EQ(leat_atm_cac_admit(&c, path, 2, &answer), LEAT_ERR_RANGE);
    EQ(answer.needed, 77);

    struct leat_atm_cac_link_config bad = a.config;
    bad.capacity = 0;
    EQ(leat_atm_cac_link_init(&a, &bad), LEAT_ERR_RANGE);
    bad.capacity = LEAT_ATM_CONTRACT_RATE_MAX + 1;
    EQ(leat_atm_cac_link_init(&a, &bad), LEAT_ERR_RANGE);
    bad = a.config;
    bad.queue.level_count = 3;
    EQ(leat_atm_cac_link_init(&a, &bad), LEAT_ERR_RANGE);
    bad = a.config;
    bad.queue.w = 0;
    EQ(leat_atm_cac_link_init(&a, &bad), LEAT_ERR_RANGE);
}

/* The widest numbers: refused by name, never by a wrapped sum. */
static void the_largest_contracts_are_refused_by_name(void)
{
    struct leat_atm_cac_link link = made(1, LEAT_ATM_QUEUE_CAPACITY_MAX,
                                         LEAT_ATM_QUEUE_CAPACITY_MAX);
    struct leat_atm_contract c = { .class = LEAT_ATM_CBR,
                                   .pcr = LEAT_ATM_CONTRACT_RATE_MAX,
                                   .cdvt_ps = LEAT_ATM_CONTRACT_CDVT_PS_MAX,
                                   .ctd_ps = LEAT_NEVER,
                                   .cdv_ps = LEAT_NEVER };
    EQ(ask(&c, &link).criterion, LEAT_ATM_CAC_BURST);
    EQ(ask(&c, &link).needed, (UINT64_C(1) << 41) / UNIT + 1);
    EQ(ask(&c, &link).available, LEAT_ATM_CAC_BURST_CELLS_MAX);

    struct leat_atm_cac_link_config fast = link.config;
    fast.capacity = LEAT_ATM_CONTRACT_RATE_MAX;
    fast.queue.w = LEAT_ATM_QUEUE_W_MAX;
    EQ(leat_atm_cac_link_init(&link, &fast), LEAT_ERR_OK);
    c.pcr = UNIT;
    link.connections = LEAT_ATM_CAC_CONNECTIONS_MAX - 1;
    EQ(admit(&c, &link).criterion, LEAT_ATM_CAC_ACCEPTED);
    EQ(admit(&c, &link).criterion, LEAT_ATM_CAC_CONNECTIONS);

    /* a slow link with the largest queue: the promise saturates instead of wrapping */
    fast.capacity = LEAT_ATM_CONTRACT_RATE_MIN;
    EQ(leat_atm_cac_link_init(&link, &fast), LEAT_ERR_OK);
    OK(leat_atm_cac_link_wait_ps(&link, 1) > UINT64_C(1) << 63);
}

/* ---- the simulation ------------------------------------------------------------------------ */

enum {
    LINKS = 3,
    FLOWS = 48,
    ROOM = 1024 /* above all capacities */,
    LEVELS = LEAT_ATM_LEVEL_COUNT
};

struct cell {
    unsigned flow;
    uint64_t born_ps;
};

/* One multiplexer: a list per level, the service rule of the note, 3.2. */
struct mux {
    struct cell list[2][ROOM]; /* rings; other levels have no cells of their own */
    uint64_t put[2], taken[2];
    uint32_t passed[LEVELS];
};

struct flow {
    struct leat_atm_contract contract;
    size_t first, last; /* links */
    struct leat_atm_shaper shaper;
    uint64_t next_ps;
    bool greedy; /* sends as early as it conforms, then pauses so that it can repeat that */
    uint64_t in_row;
    bool tagged; /* sends cells with CLP 1 without any limit */
    /* its fate */
    uint64_t sent, arrived, lost, shortest_ps, longest_ps;
};

static struct sim {
    struct leat_atm_cac_link link[LINKS];
    struct mux mux[LINKS];
    struct flow flow[FLOWS];
    size_t links, flows;
    unsigned full_from; /* levels from here on always have a cell, of no flow */
    uint64_t abr;       /* slots that level 2 got */
    struct leat_random random;
} sim;

static struct leat_atm_cac_link *const sim_path[LINKS] = { &sim.link[0], &sim.link[1],
                                                           &sim.link[2] };

static size_t waiting(const struct mux *m, unsigned level)
{
    return level < sim.full_from ? (size_t)(m->put[level] - m->taken[level]) : 1;
}

static void mux_put(size_t link, struct cell cell)
{
    struct flow *f = &sim.flow[cell.flow];
    struct mux *m = &sim.mux[link];
    const unsigned level = leat_atm_class_level(f->contract.class);
    const struct leat_atm_queue_config *q = &sim.link[link].config.queue;
    const uint32_t room = f->tagged ? q->level[level].threshold : q->level[level].capacity;
    if (waiting(m, level) >= room)
        f->lost += !f->tagged;
    else
        m->list[level][m->put[level]++ % ROOM] = cell;
}

/* The level to serve now, LEVELS for none. */
static unsigned mux_choice(size_t link)
{
    const struct mux *m = &sim.mux[link];
    for (unsigned l = 0; l < LEVELS; l++)
        if (waiting(m, l) && m->passed[l] >= sim.link[link].config.queue.w) return l;
    for (unsigned l = 0; l < LEVELS; l++)
        if (waiting(m, l)) return l;
    return LEVELS;
}

static void cell_leaves(size_t link, struct cell cell, uint64_t now_ps)
{
    struct flow *f = &sim.flow[cell.flow];
    if (link < f->last) {
        mux_put(link + 1, cell); /* it is there before the next slot begins */
        return;
    }
    const uint64_t delay_ps = now_ps + SLOT_PS - cell.born_ps;
    if (f->arrived == 0 || delay_ps < f->shortest_ps) f->shortest_ps = delay_ps;
    if (delay_ps > f->longest_ps) f->longest_ps = delay_ps;
    f->arrived++;
}

static void mux_slot(size_t link, uint64_t now_ps)
{
    struct mux *m = &sim.mux[link];
    const unsigned level = mux_choice(link);
    if (level == LEVELS) return;
    for (unsigned l = level + 1; l < LEVELS; l++)
        m->passed[l] += waiting(m, l) > 0;
    m->passed[level] = 0;
    sim.abr += level == 2;
    if (level < sim.full_from) cell_leaves(link, m->list[level][m->taken[level]++ % ROOM], now_ps);
}

/* The arrival of a flow's next cell: worst case, or random; always conforming. */
static void flow_schedules(struct flow *f, uint64_t now_ps)
{
    const uint64_t t_ps = leat_atm_rate_interval_ps(f->contract.pcr);
    uint64_t wish_ps = now_ps;
    if (f->greedy && ++f->in_row % 64 == 0) wish_ps += 100 * t_ps;
    if (!f->greedy)
        wish_ps += leat_random_below(&sim.random, 4) ? 0
                                                     : leat_random_below(&sim.random, 20 * t_ps);
    f->next_ps = leat_atm_shaper_decide(&f->shaper, wish_ps);
}

static void sim_slot(uint64_t slot)
{
    const uint64_t now_ps = slot * SLOT_PS;
    for (unsigned i = 0; i < sim.flows; i++)
        for (int k = 0; sim.flow[i].tagged && k < 5; k++)
            mux_put(sim.flow[i].first, (struct cell){ i, now_ps });
    for (unsigned i = 0; i < sim.flows; i++)
        for (struct flow *f = &sim.flow[i]; f->next_ps <= now_ps;) {
            mux_put(f->first, (struct cell){ i, f->next_ps });
            f->sent++;
            flow_schedules(f, f->next_ps);
        }
    for (size_t link = sim.links; link-- > 0;)
        mux_slot(link, now_ps);
}

static void sim_begin(size_t links, const struct leat_atm_cac_link *link, uint64_t seed)
{
    memset(&sim, 0, sizeof sim);
    leat_random_seed(&sim.random, seed);
    sim.links = links;
    sim.full_from = 2;
    for (size_t i = 0; i < links; i++)
        sim.link[i] = link[i];
}

static void sim_add(const struct leat_atm_contract *c, size_t first, size_t last, bool greedy,
                    uint64_t start_ps)
{
    struct flow *f = &sim.flow[sim.flows++];
    struct leat_atm_rules rules;
    *f = (struct flow){ .contract = *c, .first = first, .last = last, .greedy = greedy };
    EQ(leat_atm_contract_rules(c, &rules), LEAT_ERR_OK);
    EQ(leat_atm_shaper_init(&f->shaper, &rules), LEAT_ERR_OK);
    f->next_ps = leat_atm_shaper_decide(&f->shaper, start_ps);
}

static void sim_run(uint64_t slots)
{
    for (uint64_t slot = 0; slot < slots; slot++)
        sim_slot(slot);
}

static uint64_t sim_lost(void)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < sim.flows; i++)
        lost += sim.flow[i].lost;
    return lost;
}

static uint64_t sim_longest_ps(void)
{
    uint64_t longest_ps = 0;
    for (size_t i = 0; i < sim.flows; i++)
        if (sim.flow[i].longest_ps > longest_ps) longest_ps = sim.flow[i].longest_ps;
    return longest_ps;
}

/* Every flow got what its contract requests. */
static void contracts_are_kept(void)
{
    for (size_t i = 0; i < sim.flows; i++) {
        const struct flow *f = &sim.flow[i];
        EQ(f->lost, 0);
        OK(f->longest_ps <= f->contract.ctd_ps);
        OK(f->longest_ps - f->shortest_ps <= f->contract.cdv_ps);
    }
}

static struct leat_atm_contract any_contract(void)
{
    struct leat_random *r = &sim.random;
    static const enum leat_atm_class classes[] = { LEAT_ATM_CBR, LEAT_ATM_VBR_RT,
                                                   LEAT_ATM_VBR_NRT };
    const uint64_t pcr = 1000 + leat_random_below(r, leat_random_below(r, 2) ? 9000 : 90000);
    const enum leat_atm_class class = classes[leat_random_below(r, 3)];
    const uint64_t scr = 1 + leat_random_below(r, pcr / (1 + leat_random_below(r, 9))),
                   mbs = 1 + leat_random_below(r, 30),
                   cdvt_slots = leat_random_below(r, leat_random_below(r, 2) ? 10 : 1000);
    return contract_of(class, pcr, scr, mbs, cdvt_slots);
}

/* Requests exactly what the path promises; VBR-nrt cannot request a delay variation. */
static void wish_what_is_promised(struct leat_atm_contract *c, size_t first, size_t last)
{
    uint64_t wait = 0;
    for (size_t i = first; i <= last; i++)
        wait += leat_atm_cac_link_wait_ps(&sim.link[i], leat_atm_class_level(c->class));
    c->ctd_ps = wait + (last - first + 1) * SLOT_PS;
    if (c->class != LEAT_ATM_VBR_NRT) c->cdv_ps = wait;
}

/* Fills links in a row with random contracts; returns how many were refused. */
static unsigned fill_at_random(bool greedy)
{
    struct leat_random *r = &sim.random;
    unsigned refused = 0;
    for (unsigned tries = 0; sim.flows < FLOWS && tries < 3 * FLOWS; tries++) {
        const size_t first = leat_random_below(r, sim.links);
        const size_t last = first + leat_random_below(r, sim.links - first);
        struct leat_atm_contract c = any_contract();
        wish_what_is_promised(&c, first, last);
        struct leat_atm_cac_answer a;
        EQ(leat_atm_cac_admit(&c, sim_path + first, last - first + 1, &a), LEAT_ERR_OK);
        if (a.criterion != LEAT_ATM_CAC_ACCEPTED) {
            OK(a.criterion == LEAT_ATM_CAC_RATE || a.criterion == LEAT_ATM_CAC_BUFFER);
            OK(a.needed > a.available);
            refused++;
            continue;
        }
        const bool is_greedy = greedy || leat_random_below(r, 2);
        sim_add(&c, first, last, is_greedy,
                greedy ? 500 * SLOT_PS : leat_random_below(r, 500 * SLOT_PS));
    }
    return refused;
}

static void admitted_contracts_are_kept(void)
{
    enum { SLOTS = 2500 };
    uint64_t rounds = 0, refused = 0, delivered = 0;
    for (long round = 0; round < LEAT_ROUNDS; round += SLOTS) {
        struct leat_atm_cac_link links[LINKS];
        struct leat_random r;
        leat_random_seed(&r, tap_seed() + (uint64_t)round);
        for (size_t i = 0; i < LINKS; i++) {
            const uint32_t w = 1 + (uint32_t)leat_random_below(&r, 40),
                           cells0 = 10 + (uint32_t)leat_random_below(&r, 300),
                           cells1 = 10 + (uint32_t)leat_random_below(&r, 600);
            links[i] = made(w, cells0, cells1);
        }
        const size_t link_count = 1 + leat_random_below(&r, LINKS);
        sim_begin(link_count, links, leat_random_next(&r));
        refused += fill_at_random(leat_random_below(&r, 2));
        rounds++;
        sim_run(SLOTS);
        contracts_are_kept();
        for (size_t i = 0; i < sim.flows; i++)
            delivered += sim.flow[i].arrived;
    }
    OK(refused > 10 * rounds && delivered > rounds * SLOTS / 4); /* the links were full, and used */
}

/* Equal flows, all in their worst case; all levels below are full. */
static void sim_equal(const struct leat_atm_contract *c, struct leat_atm_cac_link link, unsigned n,
                      uint64_t slots)
{
    sim_begin(1, &link, 1);
    sim.full_from = leat_atm_class_level(c->class) + 1;
    for (unsigned i = 0; i < n; i++)
        sim_add(c, 0, 0, true, 500 * SLOT_PS);
    sim_run(slots);
}

/* Equal flows: how many make the network fail? */
static unsigned breaks_at(const struct leat_atm_contract *c, struct leat_atm_cac_link link,
                          unsigned from, uint64_t slots)
{
    for (unsigned n = from; n <= FLOWS; n++) {
        sim_equal(c, link, n, slots);
        if (sim_lost()) return n;
    }
    return FLOWS + 1;
}

/* The rule is not more conservative than necessary: a few connections more and cells are lost. */
static void a_little_beyond_the_rule_cells_are_lost(void)
{
    struct leat_atm_cac_answer why;
    static const struct {
        struct {
            enum leat_atm_class class;
            uint64_t pcr, scr, mbs, cdvt_slots;
        } of;
        uint32_t w, cells;
        enum leat_atm_cac_criterion why;
        unsigned more; /* so many beyond the rule fail in the simulation */
    } cases[] = {
        { { LEAT_ATM_CBR, 500, 0, 0, 2000 }, 9, 100, LEAT_ATM_CAC_BUFFER, 2 },
        { { LEAT_ATM_CBR, 9000, 0, 0, 200 }, 9, 60, LEAT_ATM_CAC_BUFFER, 2 },
        { { LEAT_ATM_CBR, 10000, 0, 0, 0 }, 9, 60, LEAT_ATM_CAC_RATE, 2 },
        { { LEAT_ATM_CBR, 7000, 0, 0, 0 }, 4, 60, LEAT_ATM_CAC_RATE, 4 },
        { { LEAT_ATM_VBR_RT, 50000, 3000, 20, 0 }, 9, 200, LEAT_ATM_CAC_BUFFER, 2 },
        { { LEAT_ATM_VBR_NRT, 50000, 3000, 20, 0 }, 9, 200, LEAT_ATM_CAC_BUFFER, 3 },
        { { LEAT_ATM_VBR_NRT, 100000, 9000, 4, 5 }, 9, 400, LEAT_ATM_CAC_RATE, 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct leat_atm_contract c = contract_of(cases[i].of.class, cases[i].of.pcr,
                                                       cases[i].of.scr, cases[i].of.mbs,
                                                       cases[i].of.cdvt_slots);
        const struct leat_atm_cac_link link = made(cases[i].w, cases[i].cells, cases[i].cells);
        struct leat_atm_cac_link booked = link;
        const unsigned n = admitted(&c, &booked, &why);
        OK(n > 0 && n < FLOWS);
        EQ(why.criterion, cases[i].why);
        const unsigned broken = breaks_at(&c, link, n, 20000);
        OK(broken > n);                  /* what the rule admits works */
        OK(broken <= n + cases[i].more); /* and not many more would */
    }
}

/* The promised delay is realistic too: admitted connections can make cells wait that long. */
static void the_promised_delay_is_nearly_reached(void)
{
    struct leat_atm_cac_answer why;
    const struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 500, 0, 0, 2000);
    const struct leat_atm_cac_link link = made(9, 100, 100);
    struct leat_atm_cac_link booked = link;
    const unsigned n = admitted(&c, &booked, &why);
    sim_equal(&c, link, n, 5000);
    const uint64_t promised_ps = leat_atm_cac_link_wait_ps(&link, 0) + SLOT_PS;
    EQ(sim_lost(), 0);
    OK(sim_longest_ps() <= promised_ps);
    OK(sim_longest_ps() > promised_ps * 85 / 100);

    /* so a contract that requests less is correctly refused */
    struct leat_atm_contract hasty = c;
    hasty.ctd_ps = sim_longest_ps() - 1;
    struct leat_atm_cac_link fresh = link;
    EQ(ask(&hasty, &fresh).criterion, LEAT_ATM_CAC_CTD);
}

/* Cells that a policer tagged fill the queue up to the threshold all the time. */
static void tagged_cells_do_no_harm(void)
{
    struct leat_atm_cac_answer why;
    const struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 500, 0, 0, 2000);
    struct leat_atm_cac_link link = made(9, 100, 100);
    link.config.queue.level[0].threshold = 40;
    struct leat_atm_cac_link booked = link;
    const unsigned n = admitted(&c, &booked, &why);
    for (unsigned more = 0; more <= 2; more += 2) {
        sim_begin(1, &link, 1);
        sim_add(&c, 0, 0, true, LEAT_NEVER);
        sim.flow[0].tagged = true;
        for (unsigned i = 0; i < n + more; i++)
            sim_add(&c, 0, 0, true, 500 * SLOT_PS);
        sim_run(5000);
        OK(more ? sim_lost() > 0 : sim_lost() == 0);
        OK(sim_longest_ps() <= leat_atm_cac_link_wait_ps(&link, 0) + SLOT_PS);
    }
}

/* ABR gets its minimum even when every source above sends as much as it may. */
static void abr_gets_its_minimum(void)
{
    enum { SLOTS = 50000 };
    const struct leat_atm_cac_link link = made(9, 300, 300);
    sim_begin(1, &link, tap_seed());
    struct leat_atm_contract abr = contract_of(LEAT_ATM_ABR, 250000, 0, 0, 0);
    abr.mcr = 50000 * UNIT; /* a fifth of the link */
    EQ(admit(&abr, &sim.link[0]).criterion, LEAT_ATM_CAC_ACCEPTED);
    const struct leat_atm_contract cbr = contract_of(LEAT_ATM_CBR, 5000, 0, 0, 0);
    while (admit(&cbr, &sim.link[0]).criterion == LEAT_ATM_CAC_ACCEPTED)
        sim_add(&cbr, 0, 0, true, 0);
    EQ(sim.flows, 35); /* 70 % */
    sim_run(SLOTS);
    EQ(sim_lost(), 0);
    OK(sim.abr >= SLOTS / 5);
}

TAP_MAIN(T(rates_are_added_up_level_by_level), T(clumps_need_buffer),
         T(bursts_need_buffer_for_what_the_service_does_not_take),
         T(tagged_cells_take_their_share_of_the_buffer),
         T(delays_are_promised_by_the_size_of_the_queue), T(best_effort_is_promised_nothing),
         T(the_reason_names_the_link_of_the_path), T(later_links_see_the_variation_of_earlier_ones),
         T(release_gives_back_what_was_booked), T(unsound_questions_get_no_answer),
         T(the_largest_contracts_are_refused_by_name), T(admitted_contracts_are_kept),
         T(a_little_beyond_the_rule_cells_are_lost), T(the_promised_delay_is_nearly_reached),
         T(tagged_cells_do_no_harm), T(abr_gets_its_minimum))
