#include "aton_priority.h"
#include "sim_aton.h"
#include "sim_aton_world_test.h"
#include "tap.h"

static struct world one;

static const struct leat_aton_command add = { .opcode = LEAT_ATON_ADD,
                                              .width_bits = 16,
                                              .da = 0xffff };

static void open_with(struct world *w, enum leat_sim_aton_model model, uint32_t n, uint32_t each)
{
    *w = (struct world){ .config = { .stations = n, .propagation_each = each, .model = model } };
    world_open(w);
}

static void order(struct world *w, uint32_t station, uint8_t priority)
{
    struct leat_aton_order o = { .command = add };
    o.command.priority = priority;
    OK(leat_sim_aton_hand_over(&w->ring, station, &o, 0, 0, 0));
}

/* ---- the stack ------------------------------------------------------------------------------ */

static void a_priority_goes_back_to_where_it_was_raised_from(void)
{
    struct leat_aton_raises r = { 0 };
    EQ(leat_aton_raises_release(&r, 0, 2), 2);
    EQ(leat_aton_raises_release(&r, 3, 6), 6); /* another station has raised it to 3 */
    OK(leat_aton_raises_has(&r, 6) && !leat_aton_raises_has(&r, 2));
    EQ(leat_aton_raises_release(&r, 6, 5), 5); /* one of those that wait still has more than 3 */
    EQ(leat_aton_raises_release(&r, 5, 1), 3);
    OK(leat_aton_raises_has(&r, 2));
    EQ(leat_aton_raises_release(&r, 2, 0), 0);
    EQ(r.count, 0);
    EQ(leat_aton_raises_release(&r, 0, 7), 7);
    leat_aton_raises_see(&r, 7);
    EQ(r.count, 1);
    leat_aton_raises_see(&r, 6); /* the ring has restarted */
    EQ(r.count, 0);
}

/* ---- who goes when -------------------------------------------------------------------------- */

/* Station 5 requests priority 4 in the packet that passes it: it goes before 2, 3 and 4. */
static void who_reserves_goes_first(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_with(&one, model, 7, 1);
        for (uint32_t station = 1; station < 7; station++)
            order(&one, station, station == 5 ? 4 : station == 6 ? 2 : 0);
        leat_sim_aton_run(&one.ring, 5000);
        static const uint32_t wanted[] = { 1, 5, 6, 2, 3, 4 };
        EQ(one.results, 6);
        for (int i = 0; i < 6; i++)
            EQ(one.reported[i].station, wanted[i]);
        world_close(&one);
    }
}

/* Station 1 is done, and has another order. In the bit time in which the token begins this still
 * counts, and the token is raised for it; a bit time later the request of station 2 holds. */
static void an_order_that_comes_with_the_token_is_in_time(void)
{
    static const uint32_t wanted[2][3] = { { 1, 1, 2 }, { 1, 2, 1 } };
    for (unsigned late = 0; late < 2; late++) {
        for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
            struct leat_aton_order urgent = { .command = add };
            urgent.command.priority = 6;
            open_with(&one, model, 4, 1);
            order(&one, 1, 0);
            order(&one, 2, 2);
            one.stop_after = 1;
            const leat_time done_at = leat_sim_aton_run(&one.ring, 5000);
            OK(leat_sim_aton_hand_over(&one.ring, 1, &urgent, 0, done_at + late, 0));
            leat_sim_aton_run(&one.ring, 5000);
            EQ(one.results, 3);
            for (int i = 0; i < 3; i++)
                EQ(one.reported[i].station, wanted[late][i]);
            world_close(&one);
        }
    }
}

enum { PLAIN_STATIONS = 12, PLAIN_ORDERS = 5 };

/* A plain implementation of the scheme: a token that moves from station to station. */
struct plain_ring {
    uint32_t n, left[PLAIN_STATIONS];               /* orders that wait */
    uint8_t priority[PLAIN_STATIONS][PLAIN_ORDERS]; /* the last goes first */
    uint8_t before[PLAIN_STATIONS][8];              /* before[s][p]: s raised to p from here */
    bool raised[PLAIN_STATIONS][8];
    uint8_t token;
};

static uint8_t plain_next(const struct plain_ring *p, uint32_t s)
{
    return p->left[s] ? p->priority[s][p->left[s] - 1] : 0;
}

/* A packet of station s has returned. */
static void plain_release(struct plain_ring *p, uint32_t s)
{
    uint8_t asked = 0, base = p->token;
    for (uint32_t i = 0; i < p->n; i++)
        if (plain_next(p, i) > asked) asked = plain_next(p, i);
    if (p->raised[s][p->token]) base = p->before[s][p->token];
    p->raised[s][p->token] = false;
    p->token = base;
    if (asked <= base) return;
    p->raised[s][asked] = true;
    p->before[s][asked] = base;
    p->token = asked;
}

/* Whose orders are served, in sequence; the monitor has the token first. */
static uint32_t plain_run(struct plain_ring *p, uint32_t *served)
{
    uint32_t count = 0, waiting = 0;
    for (uint32_t i = 0; i < p->n; i++)
        waiting += p->left[i];
    for (uint32_t s = 1 % p->n; count < waiting; s = (s + 1) % p->n) {
        if (p->left[s] && plain_next(p, s) >= p->token) {
            served[count++] = s;
            p->left[s]--;
            plain_release(p, s);
        } else if (p->raised[s][p->token]) {
            plain_release(p, s);
        }
    }
    return count;
}

static void stations_are_served_as_the_plain_reading_says(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint64_t round = 0; round < LEAT_ROUNDS / 1000; round++) {
        struct plain_ring p = { .n = 1 + (uint32_t)leat_random_below(&r, PLAIN_STATIONS) };
        uint32_t served[PLAIN_STATIONS * PLAIN_ORDERS];
        const uint32_t each = (uint32_t)leat_random_below(&r, 4);
        open_with(&one, round % 2 ? LEAT_SIM_ATON_BIT : LEAT_SIM_ATON_WORD, p.n, each);
        for (uint32_t s = 0; s < p.n; s++) {
            p.left[s] = (uint32_t)leat_random_below(&r, PLAIN_ORDERS + 1);
            for (uint32_t k = 0; k < p.left[s]; k++)
                p.priority[s][k] = (uint8_t)leat_random_below(&r, 8);
            for (uint32_t k = p.left[s]; k-- > 0;)
                order(&one, s, p.priority[s][k]);
        }
        const uint32_t count = plain_run(&p, served);
        one.stop_after = count;
        leat_sim_aton_run(&one.ring, count ? 200000 : 1000);
        bool same = one.count == count;
        for (uint32_t i = 0; same && i < count; i++)
            same = one.reported[i].station == served[i];
        OK(same);
        world_close(&one);
    }
}

/* ---- when something is wrong ----------------------------------------------------------------- */

/* A bit error makes a reservation of 4 that no station has, in the packet of station 1. */
static void open_with_noise(struct world *w, enum leat_sim_aton_model model)
{
    open_with(w, model, 5, 10);
    const leat_time sent_at = leat_sim_aton_distance(&w->ring, 0, 1);
    const struct leat_sim_aton_fault flip = {
        .at = sent_at + leat_sim_aton_distance(&w->ring, 1, 3) + 13, /* the first R */
        .kind = LEAT_SIM_ATON_BIT_ERROR,
        .station = 3,
        .flip = 1,
    };
    OK(leat_sim_aton_fault(&w->ring, &flip));
    order(w, 1, 0);
    order(w, 2, 0);
}

static void who_raised_the_token_takes_it_back(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_with_noise(&one, model);
        leat_sim_aton_run(&one.ring, 20000);
        EQ(one.results, 2);
        EQ(one.ring.counts.silences + one.ring.counts.lost + one.ring.counts.damaged, 0);
        /* From 1 to itself, the empty packet, and on to 2. */
        const uint64_t round = plain_bits(&one), way = round + 128 + round + 11;
        EQ(one.reported[1].sent_at - one.reported[0].at, way);
        world_close(&one);
    }
}

static void the_monitor_does_it_for_one_that_forgets(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_with_noise(&one, model);
        const leat_time back_at = leat_sim_aton_distance(&one.ring, 0, 1) + 128 + 32 +
                                  plain_bits(&one);
        const struct leat_sim_aton_fault forgets = { .at = back_at + 30, /* the token is out */
                                                     .kind = LEAT_SIM_ATON_FORGETS,
                                                     .station = 1 };
        OK(leat_sim_aton_fault(&one.ring, &forgets));
        leat_sim_aton_run(&one.ring, 20000);
        EQ(one.results, 2);
        EQ(one.reported[0].at, back_at);
        EQ(one.ring.counts.silences + one.ring.counts.lost + one.ring.counts.damaged, 0);
        /* From 1 to the monitor, another revolution, the empty packet, and from the monitor to
         * 2. */
        const uint64_t round = plain_bits(&one), way = 4 * 11 + round + 128 + round + 2 * 11;
        EQ(one.reported[1].sent_at - one.reported[0].at, way);
        world_close(&one);
    }
}

TAP_MAIN(T(a_priority_goes_back_to_where_it_was_raised_from), T(who_reserves_goes_first),
         T(an_order_that_comes_with_the_token_is_in_time),
         T(stations_are_served_as_the_plain_reading_says), T(who_raised_the_token_takes_it_back),
         T(the_monitor_does_it_for_one_that_forgets))
