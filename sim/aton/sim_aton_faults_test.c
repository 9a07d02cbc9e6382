#include "sim_aton.h"
#include "sim_aton_world_test.h"
#include "tap.h"

static struct world one, other;

static const struct leat_aton_command add = { .opcode = LEAT_ATON_ADD,
                                              .width_bits = 32,
                                              .da = 0xffff };

static void open_ring(struct world *w, enum leat_sim_aton_model model, uint32_t n, uint32_t each)
{
    *w = (struct world){ .config = { .stations = n, .propagation_each = each, .model = model } };
    world_open(w);
    for (uint32_t i = 0; i < n; i++)
        leat_sim_aton_registers(&w->ring, i)->operand[0] = 10 * i + 1;
}

static void order(struct world *w, uint32_t station, const struct leat_aton_command *c,
                  leat_time at)
{
    const struct leat_aton_order o = { .command = *c };
    OK(leat_sim_aton_hand_over(&w->ring, station, &o, 0, at, 0));
}

static void fault(struct world *w, enum leat_sim_aton_fault_kind kind, uint32_t station,
                  leat_time at, unsigned flip)
{
    const struct leat_sim_aton_fault f = {
        .at = at, .kind = kind, .station = station, .flip = (uint8_t)flip
    };
    OK(leat_sim_aton_fault(&w->ring, &f));
}

/* ---- every field, every station, every wrong symbol ------------------------------------------ */

enum { N = 4, FROM = 1 };

static struct leat_aton_command command_of(unsigned opcode)
{
    struct leat_aton_command c = { .opcode = (uint8_t)opcode, .width_bits = 16, .da = 0xffff };
    if (opcode == LEAT_ATON_BITCOUNT) c.param = leat_aton_counter_bits(N);
    if (opcode == LEAT_ATON_TREE) c.param = leat_aton_slots(N);
    return c;
}

static bool is_right(struct world *w, const struct reported *t, const struct leat_aton_command *c)
{
    uint8_t payload[WORLD_PAYLOAD_MAX];
    const struct plain p = plain_round(w, FROM, c);
    const uint32_t len = plain_payload(&p, c, payload);
    return t->result.counter == p.counter && t->result.variable1 == p.v1 &&
           t->result.variable2 == p.v2 && t->payload_hash == leat_sim_payload_hash(payload, len);
}

/* A bit error before `station`, `at` symbols after the first of the packet there. The order and one
 * after it: neither may have a wrong answer, and the second has the right one. */
static void run_damaged(struct world *w, enum leat_sim_aton_model model,
                        const struct leat_aton_command *c, uint32_t station, leat_time at,
                        unsigned flip)
{
    open_ring(w, model, N, 1);
    const uint32_t distance = leat_sim_aton_distance(&w->ring, FROM, station);
    const leat_time sent_at = leat_sim_aton_distance(&w->ring, 0,
                                                     FROM); /* the token's first revolution */
    fault(w, LEAT_SIM_ATON_BIT_ERROR, station, sent_at + distance + at, flip);
    order(w, FROM, c, 0);
    order(w, FROM, c, 0);
    w->stop_after = 2;
    leat_sim_aton_run(&w->ring, 100000);
}

/* Returns whether the first answer was accepted. */
static bool never_wrong(struct world *w, const struct leat_aton_command *c)
{
    EQ(w->results, 2);
    const struct reported *first = &w->reported[0], *second = &w->reported[w->count - 1];
    OK(second->result.status == LEAT_ATON_DONE && is_right(w, second, c));
    if (first->result.status != LEAT_ATON_DONE) return false;
    OK(is_right(w, first, c));
    return true;
}

/* M, RRR and I; A and C, which interfaces after the damage set anyway. */
static bool is_uncovered(leat_time at, leat_time symbols)
{
    const leat_time flg = symbols - 48;
    return (at >= 12 && at < 16) || at == symbols - 2 || (at >= flg && at < flg + 8);
}

static void no_damage_makes_a_wrong_answer(void)
{
    for (unsigned opcode = LEAT_ATON_ADD; opcode <= LEAT_ATON_TREE; opcode++) {
        const struct leat_aton_command c = command_of(opcode);
        for (uint32_t station = 0; station < N; station++) {
            const uint32_t taken = (station + N - FROM - 1) % N; /* before it: SORT's growth */
            const leat_time symbols = leat_aton_symbols(&c, taken + 1);
            for (leat_time at = 0; at < symbols; at++)
                for (unsigned flip = 1; flip < 4; flip++) {
                    run_damaged(&one, LEAT_SIM_ATON_BIT, &c, station, at, flip);
                    const bool taken_for_good = never_wrong(&one, &c);
                    if (taken_for_good) OK(flip == 1 && is_uncovered(at, symbols));
                    run_damaged(&other, LEAT_SIM_ATON_WORD, &c, station, at, flip);
                    OK(world_same(&one, &other));
                    world_close(&one);
                    world_close(&other);
                }
        }
    }
}

/* ---- a plain ring: every interface, every bit time ------------------------------------------- */

enum { PLAIN_MAX = 120, PLAIN_BITS_MAX = 4 * PLAIN_MAX, NOISE_MAX = 300 };

struct plain_ring {
    uint32_t n, bits, at[PLAIN_MAX]; /* at: from the monitor's output */
    struct leat_aton_station station[PLAIN_MAX];
    uint8_t cell[PLAIN_BITS_MAX];
};

static void open_plain_ring(struct plain_ring *p, const struct leat_sim_aton *ring)
{
    *p = (struct plain_ring){ .n = ring->config.stations, .bits = ring->bits };
    for (uint32_t i = 0; i < p->n; i++) {
        p->at[i] = i ? leat_sim_aton_distance(ring, 0, i) : 0;
        leat_aton_station_init(&p->station[i], (uint16_t)(i + 1), NULL, 0);
        p->station[i].it.operand[0] = i;
    }
    p->station[0].is_monitor = 1;
    p->station[0].ring_bits = p->bits;
    leat_aton_station_release(&p->station[0]);
}

static uint8_t *plain_cell(struct plain_ring *p, uint32_t station, leat_time t)
{
    return &p->cell[(p->at[station] + p->bits - t % p->bits) % p->bits];
}

static void plain_step(struct plain_ring *p, leat_time t)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint8_t *cell = plain_cell(p, i, t);
        *cell = leat_aton_station_step(&p->station[i], *cell) & 3;
    }
}

static void open_noisy(struct leat_sim_aton *ring, void **memory, uint32_t n, uint32_t each)
{
    static const struct leat_sim_aton_host nobody;
    const struct leat_sim_aton_config config = { .stations = n,
                                                 .propagation_each = each,
                                                 .model = LEAT_SIM_ATON_BIT,
                                                 .orders_max = 4,
                                                 .faults_max = NOISE_MAX };
    *memory = malloc(leat_sim_aton_footprint(&config));
    leat_sim_aton_init(ring, &config, &nobody, *memory);
    for (uint32_t i = 0; i < n; i++)
        leat_sim_aton_registers(ring, i)->operand[0] = i;
}

/* A burst of J, more than are listed, and single errors later on. */
static uint32_t draw_noise(struct leat_sim_aton_fault *noise, struct leat_random *r, uint32_t n,
                           uint32_t burst)
{
    uint32_t count = 0;
    const leat_time burst_at = leat_random_below(r, 300);
    for (uint32_t i = 0; i < burst; i++)
        noise[count++] = (struct leat_sim_aton_fault){ .at = burst_at, .station = i, .flip = 2 };
    for (unsigned i = 0; i < 8; i++) {
        struct leat_sim_aton_fault *one_more = &noise[count++];
        *one_more = (struct leat_sim_aton_fault){ .at = leat_random_below(r, 2000) };
        one_more->station = (uint32_t)leat_random_below(r, n);
        one_more->flip = (uint8_t)(1 + leat_random_below(r, 3));
    }
    return count;
}

static void interfaces_that_sleep_do_what_those_do_that_never_sleep(void)
{
    static struct plain_ring plain;
    static struct leat_sim_aton ring;
    static struct leat_sim_aton_fault noise[NOISE_MAX];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    bool overflowed = false;
    for (unsigned k = 0; k < LEAT_ROUNDS / 200 + 20 && !tap_checks_failed; k++) {
        void *memory;
        const uint32_t n = k ? 1 + (uint32_t)leat_random_below(&r, PLAIN_MAX) : PLAIN_MAX;
        open_noisy(&ring, &memory, n, (uint32_t)leat_random_below(&r, 3));
        open_plain_ring(&plain, &ring);
        const uint32_t from = (uint32_t)leat_random_below(&r, n);
        const struct leat_aton_order o = { .command = command_of(1 + k % 11) };
        leat_sim_aton_hand_over(&ring, from, &o, 0, 0, 0);
        plain.station[from].wants = 1;
        plain.station[from].order = o;
        const uint32_t burst = k % 2 ? (uint32_t)leat_random_below(&r, n) : n;
        const uint32_t count = draw_noise(noise, &r, n, burst);
        for (uint32_t i = 0; i < count; i++)
            leat_sim_aton_fault(&ring, &noise[i]);
        bool same = true;
        for (leat_time t = 0; t < 3000 && same; t++) {
            for (uint32_t i = 0; i < n && same; i++)
                same = leat_sim_aton_symbol(&ring, i) == *plain_cell(&plain, i, t);
            for (uint32_t i = 0; i < count; i++)
                if (noise[i].at == t) *plain_cell(&plain, noise[i].station, t) ^= noise[i].flip;
            plain_step(&plain, t);
            leat_sim_aton_run(&ring, t + 1);
            overflowed |= ring.has_more_marks;
        }
        OK(same);
        free(memory);
    }
    OK(overflowed);
}

/* ---- the monitor ---------------------------------------------------------------------------- */

static void a_lost_token_is_made_anew(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_ring(&one, model, 5, 3);
        fault(&one, LEAT_SIM_ATON_BIT_ERROR, 2, 1000 / one.ring.bits * one.ring.bits + 9, 2);
        order(&one, 3, &add, 1100);
        leat_sim_aton_run(&one.ring, 5000);
        EQ(one.ring.counts.silences, 1);
        EQ(one.count, 1);
        EQ(one.reported[0].result.counter, 5);
        world_close(&one);
    }
}

/* T of the token is flipped, and in the next revolution M of what it has become is K: SD and half
 * an AC circulate for ever. */
static void half_an_ac_is_no_sign_of_life(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_ring(&one, model, 3, 0);
        fault(&one, LEAT_SIM_ATON_BIT_ERROR, 1, leat_sim_aton_distance(&one.ring, 0, 1) + 11, 1);
        fault(&one, LEAT_SIM_ATON_BIT_ERROR, 0, 24 + 12, 3);
        order(&one, 2, &add, 100);
        leat_sim_aton_run(&one.ring, 5000);
        EQ(one.ring.counts.silences, 1);
        EQ(one.results, 1);
        EQ(one.reported[0].result.counter, 3);
        world_close(&one);
    }
}

/* A link that is longer than the packet, so that all of it is in flight when its sender resets. */
static void an_orphan_is_stripped(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_ring(&one, model, 3, 300);
        order(&one, 1, &add, 0);
        order(&one, 2, &add, 0);
        fault(&one, LEAT_SIM_ATON_FORGETS, 1, 301 + 400, 0);
        leat_sim_aton_run(&one.ring, 20000);
        EQ(one.ring.counts.orphans, 1);
        EQ(one.count, 2);
        EQ(one.reported[0].result.status, LEAT_ATON_LOST);
        EQ(one.reported[0].at, 701);
        EQ(one.reported[1].result.status, LEAT_ATON_DONE);
        EQ(one.reported[1].result.counter, 3);
        world_close(&one);
    }
}

/*
 * Station 3 raises the token for station 4, whose packet is a long one, and lowers it with an empty
 * packet. The token after this is lost at any place: the monitor's wait for it counts from the end
 * of the empty packet, however long the one before was.
 */
static void a_token_lost_behind_an_empty_packet_is_missed_as_soon(void)
{
    static const struct leat_aton_command urgent = {
        .opcode = LEAT_ATON_SORT, .width_bits = 64, .da = 0xffff, .priority = 5
    };
    bool is_lost = false;
    for (leat_time at = 880; at < 960; at++) {
        for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
            struct world *w = model == LEAT_SIM_ATON_BIT ? &one : &other;
            open_ring(w, model, 5, 2);
            order(w, 3, &add, 0);
            order(w, 4, &urgent, 20);
            order(w, 2, &add, 3000);
            fault(w, LEAT_SIM_ATON_BIT_ERROR, 4, at, 2);
            leat_sim_aton_run(&w->ring, 5000);
            EQ(w->results, 3);
        }
        OK(world_same(&one, &other));
        is_lost |= one.ring.counts.silences > 0 && one.reported[1].result.status == LEAT_ATON_DONE;
        world_close(&one);
        world_close(&other);
    }
    OK(is_lost);
}

/*
 * The smallest ring with this case: the only packet before the empty one is longer by two words of
 * the command, and a bit error hits the lowered token.
 */
static void three_stations_miss_the_token_behind_an_empty_packet_at_the_same_time(void)
{
    static const uint8_t widths[] = { 16, 32, 64 };
    uint64_t silences = 0;
    for (unsigned k = 0; k < 9; k++) {
        struct leat_aton_command plain = add, urgent = add;
        plain.width_bits = urgent.width_bits = widths[k % 3];
        urgent.priority = 1;
        for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
            struct world *w = model == LEAT_SIM_ATON_BIT ? &one : &other;
            open_ring(w, model, 3, 0);
            order(w, 1, &plain, 0);
            order(w, 2, &urgent, 0);
            order(w, 1, &plain, 2000);
            fault(w, LEAT_SIM_ATON_BIT_ERROR, 0, 568, 1 + k / 3);
            leat_sim_aton_run(&w->ring, 5000);
            EQ(w->results, 3);
        }
        OK(world_same(&one, &other));
        silences += one.ring.counts.silences;
        world_close(&one);
        world_close(&other);
    }
    OK(silences > 0);
}

/* ---- stations come and go -------------------------------------------------------------------- */

static void a_dead_station_is_bypassed_and_the_counter_shows_it(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_ring(&one, model, 5, 2);
        OK(leat_sim_aton_is_present(&one.ring, 2));
        fault(&one, LEAT_SIM_ATON_LEAVES, 2, 1000, 0);
        fault(&one, LEAT_SIM_ATON_LEAVES, 0, 2000, 0); /* the monitor */
        fault(&one, LEAT_SIM_ATON_JOINS, 2, 3000, 0);
        for (leat_time at = 0; at < 4; at++)
            order(&one, 3, &add, 1000 * at + 100);
        leat_sim_aton_run(&one.ring, 5000);
        OK(!leat_sim_aton_is_present(&one.ring, 0) && leat_sim_aton_is_present(&one.ring, 2));
        EQ(one.count, 4);
        EQ(one.reported[0].result.counter, 5);
        EQ(one.reported[1].result.counter, 4);
        EQ(one.reported[2].result.counter, 3);
        EQ(one.reported[3].result.counter, 4);
        EQ(one.reported[3].result.variable1, 11 + 21 + 31 + 41);
        EQ(one.ring.counts.breaks, 3);
        EQ(leat_sim_aton_propagation(&one.ring), 10);
        world_close(&one);
    }
}

static void who_leaves_in_the_middle_loses_its_orders_and_hangs_nobody(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        open_ring(&one, model, 5, 0);
        order(&one, 3, &add, 0);
        order(&one, 3, &add, 0);
        order(&one, 1, &add, 0);
        order(&one, 4, &add, 150);
        fault(&one, LEAT_SIM_ATON_LEAVES, 3, 400, 0);
        leat_sim_aton_run(&one.ring, 5000);
        EQ(one.results, 4);
        EQ(one.ring.counts.lost, 2);
        EQ(one.reported[1].result.status, LEAT_ATON_LOST);
        EQ(one.reported[1].at, 400);
        const struct leat_aton_order o = { .command = add };
        OK(!leat_sim_aton_hand_over(&one.ring, 3, &o, 0, 6000, 0)); /* it is not there */
        world_close(&one);
    }
}

/* ---- chance --------------------------------------------------------------------------------- */

enum { PLANNED_MAX = 24 };

/* The events of a ring: drawn once, and applied to both models. */
struct plan {
    uint32_t orders, faults, cuts;
    struct {
        struct leat_aton_order order;
        uint32_t station;
        leat_time at, period;
    } order[PLANNED_MAX];
    struct leat_sim_aton_fault fault[PLANNED_MAX];
    leat_time cut[PLANNED_MAX]; /* the ring is run up to here, and the host writes a register */
    uint64_t registers;
};

static void plan_order(struct plan *p, struct leat_random *r, uint32_t n, leat_time span)
{
    static const uint8_t octets[64] = "octets of passive packets, which all who are asked take in";
    struct leat_aton_order *o = &p->order[p->orders].order;
    o->command = world_random_command(r, n);
    o->when_idle = leat_random_below(r, 8) == 0;
    o->is_passive = leat_random_below(r, 4) == 0;
    o->octets = octets;
    o->octets_len = (uint16_t)leat_random_below(r, sizeof octets);
    p->order[p->orders].station = (uint32_t)leat_random_below(r, n);
    p->order[p->orders].at = leat_random_below(r, span);
    p->order[p->orders].period = leat_random_below(r, 16) ? 0 : 1 + leat_random_below(r, 500);
    p->orders++;
}

/* Of any kind at any time, or a few bit times after the one before. */
static void plan_fault(struct plan *p, struct leat_random *r, uint32_t n, leat_time span)
{
    struct leat_sim_aton_fault *f = &p->fault[p->faults];
    const bool follows = p->faults && leat_random_below(r, 3) == 0;
    const leat_time from = follows ? f[-1].at : 0;
    f->at = from + leat_random_below(r, follows ? 200 : span);
    f->kind = leat_random_below(r, 3) ? LEAT_SIM_ATON_BIT_ERROR
                                      : (enum leat_sim_aton_fault_kind)leat_random_below(r, 4);
    f->station = (uint32_t)leat_random_below(r, n);
    f->flip = (uint8_t)(1 + leat_random_below(r, 3));
    p->faults++;
}

static void draw_plan(struct plan *p, struct leat_random *r, uint32_t n)
{
    const leat_time span = 200 + leat_random_below(r, leat_random_below(r, 2) ? 2000 : 10000);
    const uint64_t orders = 1 + leat_random_below(r, PLANNED_MAX),
                   faults = leat_random_below(r, leat_random_below(r, 2) ? 4 : PLANNED_MAX + 1),
                   cuts = leat_random_below(r, 4);
    *p = (struct plan){ 0 };
    while (p->orders < orders)
        plan_order(p, r, n, span);
    while (p->faults < faults)
        plan_fault(p, r, n, span + span / 3);
    for (leat_time at = 0; p->cuts < cuts; p->cuts++)
        p->cut[p->cuts] = at += 1 + leat_random_below(r, span / 3);
    p->registers = leat_random_next(r);
}

static void carry_out(struct world *w, const struct plan *p)
{
    world_open(w);
    world_random_registers(w, p->registers);
    for (uint32_t i = 0; i < p->orders; i++)
        OK(leat_sim_aton_hand_over(&w->ring, p->order[i].station, &p->order[i].order, i,
                                   p->order[i].at, p->order[i].period));
    for (uint32_t i = 0; i < p->faults; i++)
        OK(leat_sim_aton_fault(&w->ring, &p->fault[i]));
    for (uint32_t i = 0; i < p->cuts; i++) {
        leat_sim_aton_run(&w->ring, p->cut[i]);
        leat_sim_aton_registers(&w->ring, i % w->config.stations)->operand[i] ^= p->registers;
    }
    w->stop_after = p->orders;
    /* A damaged length is believed: the ring waits for the end of the longest possible packet. */
    const leat_time longest = (leat_time)(UINT16_MAX + 1) * 64;
    if (w->results < p->orders) leat_sim_aton_run(&w->ring, 400000 + p->faults * longest);
    OK(w->results >= p->orders); /* nothing hangs */
}

/* Only the word model has `visits`. */
static bool same_counts(const struct leat_sim_aton_counts *a, const struct leat_sim_aton_counts *b)
{
    return a->packets == b->packets && a->results == b->results && a->damaged == b->damaged &&
           a->lost == b->lost && a->arrivals == b->arrivals && a->orphans == b->orphans &&
           a->silences == b->silences && a->breaks == b->breaks;
}

static void both_models_fail_in_the_same_way_at_the_same_time(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < LEAT_ROUNDS / 250 + 10 && !tap_checks_failed; k++) {
        struct plan plan;
        world_random_ring(&one, &r, leat_random_below(&r, 8) ? 12 : 48);
        one.config.payload_max = leat_random_below(&r, 8) ? 0
                                                          : 1 + (uint32_t)leat_random_below(&r, 60);
        draw_plan(&plan, &r, one.config.stations);
        other = one;
        other.config.address = other.address;
        other.config.propagation = other.propagation;
        other.config.model = LEAT_SIM_ATON_WORD;
        carry_out(&one, &plan);
        carry_out(&other, &plan);
        OK(world_same(&one, &other));
        OK(same_counts(&one.ring.counts, &other.ring.counts));
        if (tap_checks_failed) printf("# in round %d, with %u stations\n", k, one.config.stations);
        world_close(&one);
        world_close(&other);
    }
}

TAP_MAIN(T(no_damage_makes_a_wrong_answer),
         T(interfaces_that_sleep_do_what_those_do_that_never_sleep), T(a_lost_token_is_made_anew),
         T(half_an_ac_is_no_sign_of_life), T(an_orphan_is_stripped),
         T(a_token_lost_behind_an_empty_packet_is_missed_as_soon),
         T(three_stations_miss_the_token_behind_an_empty_packet_at_the_same_time),
         T(a_dead_station_is_bypassed_and_the_counter_shows_it),
         T(who_leaves_in_the_middle_loses_its_orders_and_hangs_nobody),
         T(both_models_fail_in_the_same_way_at_the_same_time))
