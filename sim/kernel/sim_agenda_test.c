/* The agenda against a plain array that is searched for the smallest (time, phase, entity). */
#include "sim_agenda.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { IDS_MAX = 1400000 };

static struct leat_sim_agenda a;
static void *memory;

static void begin(uint32_t phases, const uint32_t *entities)
{
    struct leat_sim_agenda_shape shape = { .phases = phases };
    for (uint32_t i = 0; i < phases; i++)
        shape.entities[i] = entities[i];
    const size_t len = leat_sim_agenda_footprint(&shape);
    free(memory);
    memory = malloc(len); /* exactly, so that the sanitizers detect an overrun */
    if (!memory) abort();
    memset(memory, 0xa5, len);
    leat_sim_agenda_init(&a, &shape, memory);
}

/* Advances and takes everything; the cycle, or LEAT_NEVER. */
static uint64_t run_cycle(uint64_t until, uint32_t *taken, uint32_t *last)
{
    uint64_t now = LEAT_NEVER;
    *taken = 0;
    if (!leat_sim_agenda_advance(&a, until, &now)) return LEAT_NEVER;
    for (uint32_t phase = 0; phase < a.phases; phase++)
        while (leat_sim_agenda_take(&a, phase, last))
            ++*taken;
    return now;
}

static void an_empty_agenda_stands_where_it_is_set(void)
{
    uint64_t now = 77;
    uint32_t e = 5;
    begin(1, (uint32_t[]){ 3 });
    OK(!leat_sim_agenda_advance(&a, 1000, &now));
    EQ(now, 77);
    leat_sim_agenda_set(&a, 0, 2, 1000); /* `until` itself has not been run */
    OK(!leat_sim_agenda_advance(&a, 1000, &now));
    OK(leat_sim_agenda_advance(&a, 1001, &now));
    EQ(now, 1000);
    OK(leat_sim_agenda_take(&a, 0, &e));
    EQ(e, 2);
    OK(!leat_sim_agenda_take(&a, 0, &e));
    OK(!leat_sim_agenda_advance(&a, LEAT_NEVER, &now));
    OK(!leat_sim_agenda_advance(&a, 10, &now));
    EQ(a.now, 1000); /* no time has passed, and none is repeated */
    leat_sim_agenda_set(&a, 0, 0, 1001);
    OK(leat_sim_agenda_advance(&a, LEAT_NEVER, &now));
    EQ(now, 1001);
}

static void the_lowest_bit_is_found(void)
{
    for (uint32_t bit = 0; bit < 64; bit++) {
        EQ(leat_sim_agenda_lowest(UINT64_C(1) << bit), bit);
        EQ(leat_sim_agenda_lowest(~UINT64_C(0) << bit), bit);
    }
}

static void three_levels_are_pulled_alike_in_a_loop_and_written_out(void)
{
    enum { COUNT = 9000, DUE = 2000 };
    struct leat_random r;
    uint32_t pulled[DUE], n = 0;
    leat_random_seed(&r, tap_seed());
    for (int written_out = 0; written_out < 2; written_out++) {
        begin(1, (uint32_t[]){ COUNT });
        EQ(a.phase[0].levels, 3);
        leat_random_seed(&r, tap_seed());
        for (int i = 0; i < DUE; i++)
            leat_sim_agenda_set(&a, 0, (uint32_t)leat_random_below(&r, COUNT), 0);
        uint32_t k = 0;
        for (; a.present[0]; k++) {
            const uint32_t e = written_out ? leat_sim_agenda_pull_3(&a, 0)
                                           : leat_sim_agenda_pull(&a, 0);
            if (!written_out) pulled[n++] = e;
            OK(k < n && pulled[k] == e && (!k || pulled[k - 1] < e));
        }
        EQ(k, n);
    }
    OK(n > DUE / 2);
}

static void the_order_is_time_then_phase_then_entity(void)
{
    const struct {
        uint64_t at;
        uint32_t phase, entity;
    } wanted[] = { { 0, 0, 1 }, { 0, 1, 0 }, { 3, 0, 4 },   { 3, 0, 5 },
                   { 3, 2, 0 }, { 4, 1, 7 }, { 500, 0, 0 }, { 500, 0, 2 } };
    enum { COUNT = sizeof wanted / sizeof *wanted };
    for (uint32_t start = 0; start < COUNT; start++) {
        uint32_t n = 0, entity = 0;
        uint64_t now = 0;
        begin(3, (uint32_t[]){ 8, 8, 1 });
        for (uint32_t k = 0; k < COUNT; k++) { /* another insertion order each time */
            const uint32_t i = (start + 3 * k) % COUNT;
            leat_sim_agenda_set(&a, wanted[i].phase, wanted[i].entity, wanted[i].at);
        }
        while (leat_sim_agenda_advance(&a, 1000, &now))
            for (uint32_t phase = 0; phase < 3; phase++)
                while (leat_sim_agenda_take(&a, phase, &entity)) {
                    EQ(now, wanted[n].at);
                    EQ(phase, wanted[n].phase);
                    EQ(entity, wanted[n].entity);
                    n++;
                }
        EQ(n, COUNT);
    }
}

static void what_is_still_to_come_in_this_cycle_may_be_set(void)
{
    uint64_t now = 0;
    uint32_t e = 0;
    begin(2, (uint32_t[]){ 100, 100 });
    leat_sim_agenda_set(&a, 0, 10, 7);
    OK(leat_sim_agenda_advance(&a, 100, &now));
    OK(leat_sim_agenda_take(&a, 0, &e));
    leat_sim_agenda_set(&a, 0, 11, 7);
    leat_sim_agenda_set(&a, 0, 99, 7);
    leat_sim_agenda_set(&a, 1, 0, 7);
    leat_sim_agenda_set(&a, 0, 10, 8);
    OK(leat_sim_agenda_take(&a, 0, &e) && e == 11);
    leat_sim_agenda_set(&a, 0, 99, LEAT_NEVER);
    OK(!leat_sim_agenda_take(&a, 0, &e));
    OK(leat_sim_agenda_take(&a, 1, &e) && e == 0);
    OK(!leat_sim_agenda_take(&a, 1, &e));
    OK(leat_sim_agenda_advance(&a, 100, &now));
    EQ(now, 8);
}

static void the_last_entity_of_the_largest_agenda_acts(void)
{
    uint32_t taken, last = 0;
    begin(2, (uint32_t[]){ LEAT_SIM_ENTITIES_MAX, 1 });
    leat_sim_agenda_set(&a, 0, LEAT_SIM_ENTITIES_MAX - 1, 5);
    EQ(run_cycle(6, &taken, &last), 5);
    EQ(taken, 1);
    EQ(last, LEAT_SIM_ENTITIES_MAX - 1);
}

static void an_event_lies_in_wheel_or_heap_and_crosses_the_border_unseen(void)
{
    for (uint64_t base = 0; base < 300; base += 7)
        for (uint64_t far = 1; far < 3 * LEAT_SIM_WHEEL; far++) {
            uint32_t taken, last = 9;
            begin(1, (uint32_t[]){ 2 });
            OK(run_cycle(base, &taken, &last) == LEAT_NEVER);
            leat_sim_agenda_set(&a, 0, 1, base + far);
            EQ(leat_sim_agenda_due(&a, 0, 1), base + far);
            OK(run_cycle(base + far, &taken, &last) == LEAT_NEVER);
            EQ(run_cycle(base + far + 1, &taken, &last), base + far);
            EQ(taken, 1);
            EQ(last, 1);
            EQ(leat_sim_agenda_due(&a, 0, 1), LEAT_NEVER);
        }
}

static void an_event_is_cancelled_on_either_side_of_the_border(void)
{
    for (uint64_t far = LEAT_SIM_WHEEL - 1; far < 2 * LEAT_SIM_WHEEL + 2; far++)
        for (uint64_t passed = 0; passed < far; passed++) {
            uint32_t taken, last = 9;
            begin(1, (uint32_t[]){ 3 });
            leat_sim_agenda_set(&a, 0, 1, far);
            leat_sim_agenda_set(&a, 0, 2, far);
            OK(run_cycle(passed, &taken, &last) == LEAT_NEVER);
            leat_sim_agenda_set(&a, 0, 1, LEAT_NEVER);
            EQ(run_cycle(LEAT_NEVER, &taken, &last), far);
            EQ(taken, 1);
            EQ(last, 2);
            EQ(run_cycle(LEAT_NEVER, &taken, &last), LEAT_NEVER);
        }
}

static void far_events_that_are_moved_leave_the_others_in_order(void)
{
    enum { COUNT = 200 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < 20 + LEAT_ROUNDS / 10000; k++) {
        uint32_t left = 0, taken = 0, last = 0;
        uint64_t before = 0, now;
        begin(1, (uint32_t[]){ COUNT });
        for (uint32_t e = 0; e < COUNT; e++)
            leat_sim_agenda_set(&a, 0, e, 1000 + leat_random_below(&r, 100000));
        for (uint32_t e = 0; e < COUNT; e++)
            if (leat_random_below(&r, 2)) {
                const uint32_t which = (uint32_t)leat_random_below(&r, COUNT);
                leat_sim_agenda_set(
                    &a, 0, which,
                    leat_random_below(&r, 2) ? LEAT_NEVER : 1000 + leat_random_below(&r, 100000));
            }
        for (uint32_t e = 0; e < COUNT; e++)
            left += leat_sim_agenda_due(&a, 0, e) != LEAT_NEVER;
        while ((now = run_cycle(LEAT_NEVER, &taken, &last)) != LEAT_NEVER) {
            OK(now > before && taken <= left);
            before = now;
            left -= taken;
        }
        EQ(left, 0);
    }
}

static void a_quadrillion_idle_cycles_cost_a_step(void)
{
    const uint64_t far = UINT64_C(1000000000000000);
    uint32_t taken, last = 9;
    uint64_t at = 3;
    begin(1, (uint32_t[]){ 70 });
    for (int k = 0; k < 10000; k++, at += far) {
        leat_sim_agenda_set(&a, 0, 69, at);
        EQ(run_cycle(LEAT_NEVER, &taken, &last), at);
    }
    /* Up to the last cycle there is. */
    leat_sim_agenda_set(&a, 0, 69, LEAT_NEVER - 1);
    leat_sim_agenda_set(&a, 0, 68, LEAT_NEVER - LEAT_SIM_WHEEL);
    EQ(run_cycle(LEAT_NEVER, &taken, &last), LEAT_NEVER - LEAT_SIM_WHEEL);
    leat_sim_agenda_set(&a, 0, 3, LEAT_NEVER - 5);
    leat_sim_agenda_set(&a, 0, 3, LEAT_NEVER);
    EQ(run_cycle(LEAT_NEVER, &taken, &last), LEAT_NEVER - 1);
    EQ(run_cycle(LEAT_NEVER, &taken, &last), LEAT_NEVER);
    EQ(taken, 0);
}

/* ---- the campaign ------------------------------------------------------------------------- */

static uint64_t model_due[IDS_MAX]; /* by id; LEAT_NEVER: nothing */
static uint32_t model_first[LEAT_SIM_PHASES_MAX + 1];
static uint32_t model_ids;

/* The smallest (time, phase, entity) before `until`: ids are numbered by phase, then entity. */
static bool model_next(uint64_t until, uint32_t *id)
{
    uint64_t best = until;
    for (uint32_t i = 0; i < model_ids; i++)
        if (model_due[i] < best) {
            best = model_due[i];
            *id = i;
        }
    return best < until;
}

static uint32_t model_phase(uint32_t id)
{
    uint32_t phase = 0;
    while (id >= model_first[phase + 1])
        phase++;
    return phase;
}

static uint64_t draw_delay(struct leat_random *r)
{
    switch (leat_random_below(r, 8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return LEAT_SIM_WHEEL - 2 + leat_random_below(r, 5);
    case 3: return leat_random_below(r, 1000);
    case 4: return leat_random_below(r, UINT64_C(1) << leat_random_below(r, 40));
    default: return 1 + leat_random_below(r, 60);
    }
}

/* `first`: the first id that is still pending in the cycle `now`. */
static void set_some(struct leat_random *r, uint64_t now, uint32_t first)
{
    for (uint64_t n = leat_random_below(r, 4); n; n--) {
        const uint32_t id = (uint32_t)leat_random_below(r, model_ids), phase = model_phase(id);
        uint64_t at = now + draw_delay(r);
        if (at == now && id < first) at++;
        if (leat_random_below(r, 10) == 0) at = LEAT_NEVER;
        model_due[id] = at;
        if (leat_random_below(r, 4))
            leat_sim_agenda_set(&a, phase, id - model_first[phase], at);
        else
            leat_sim_agenda_move(&a, phase, id - model_first[phase], at);
    }
}

static bool same_due(void)
{
    for (uint32_t id = 0; id < model_ids; id++) {
        const uint32_t phase = model_phase(id);
        if (leat_sim_agenda_due(&a, phase, id - model_first[phase]) != model_due[id]) return false;
    }
    return true;
}

static void campaign_begin(uint32_t phases, const uint32_t *entities)
{
    model_ids = 0;
    for (uint32_t i = 0; i < phases; i++) {
        model_first[i] = model_ids;
        model_ids += entities[i];
    }
    model_first[phases] = model_ids;
    for (uint32_t i = 0; i < model_ids; i++)
        model_due[i] = LEAT_NEVER;
    begin(phases, entities);
}

/* One cycle of both, with sets in between. False: they differ. */
static bool same_cycle(struct leat_random *r, uint64_t now)
{
    uint32_t id = 0, entity = 0;
    for (uint32_t phase = 0; phase < a.phases; phase++)
        while (leat_sim_agenda_take(&a, phase, &entity)) {
            if (!model_next(now + 1, &id) || model_due[id] != now) return false;
            if (id != model_first[phase] + entity) return false;
            model_due[id] = LEAT_NEVER;
            set_some(r, now, id + 1);
        }
    return !model_next(now + 1, &id);
}

static bool campaign(struct leat_random *r, uint32_t phases, const uint32_t *entities, int rounds)
{
    uint64_t stands_at = 0;
    campaign_begin(phases, entities);
    for (int k = 0; k < rounds; k++) {
        uint32_t id = 0;
        uint64_t now = LEAT_NEVER;
        const uint64_t until = leat_random_below(r, 6) ? LEAT_NEVER : stands_at + draw_delay(r);
        const bool any = model_next(until, &id);
        if (leat_sim_agenda_advance(&a, until, &now) != any) return false;
        if (any) {
            if (now != model_due[id] || !same_cycle(r, now)) return false;
            stands_at = now + 1; /* nothing more is pending in `now` */
        } else {
            if (now != LEAT_NEVER) return false;
            if (until != LEAT_NEVER && until > stands_at) stands_at = until;
        }
        set_some(r, stands_at, 0);
        if (k % 64 == 0 && !same_due()) return false;
    }
    return same_due();
}

static void the_agenda_equals_the_plain_model_for_all_sizes_up_to_300(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t n = 1; n <= 300; n++) {
        const uint32_t phases = 1 + n % LEAT_SIM_PHASES_MAX;
        uint32_t entities[LEAT_SIM_PHASES_MAX] = { n, n / 2, 1 + n % 7, 300 - n };
        const bool same = campaign(&r, phases, entities, 20 + LEAT_ROUNDS / 10000);
        OK(same);
        if (!same) printf("# with %u entities\n", n);
    }
}

static void the_agenda_equals_the_plain_model_for_few_entities(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    OK(campaign(&r, 3, (uint32_t[]){ 16, 12, 16 }, LEAT_ROUNDS / 4));
}

static void the_agenda_equals_the_plain_model_for_large_sizes(void)
{
    static const uint32_t sizes[] = { 4095, 4096, 4097, 12288 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 2);
    for (int i = 0; i < 4; i++)
        OK(campaign(&r, 2, (uint32_t[]){ sizes[i], 65 }, 400));
    OK(campaign(&r, 1, (uint32_t[]){ 262145 }, 60));
    OK(campaign(&r, 2, (uint32_t[]){ 7, 1 << 20 }, 20));
}

static void the_next_cycle_is_reached_by_a_step_or_by_a_jump_alike(void)
{
    static uint64_t room[1 << 12];
    const struct leat_sim_agenda_shape shape = { .phases = 2, .entities = { 3, 3 } };
    OK(leat_sim_agenda_footprint(&shape) <= sizeof room);
    for (int jumps = 0; jumps < 2; jumps++) {
        struct leat_sim_agenda one;
        uint32_t entity = 0;
        uint64_t now = 0;
        leat_sim_agenda_init(&one, &shape, room);
        leat_sim_agenda_set(&one, 1, 2, 7);
        leat_sim_agenda_set(&one, 0, 1, 8);
        OK(leat_sim_agenda_advance(&one, 100, &now));
        EQ(now, 7);
        OK(!leat_sim_agenda_any(&one, 0));
        OK(leat_sim_agenda_any(&one, 1));
        OK(!leat_sim_agenda_slot_is_empty(one.present));
        OK(leat_sim_agenda_take(&one, 1, &entity));
        EQ(entity, 2);
        OK(leat_sim_agenda_slot_is_empty(one.present));
        OK(jumps ? leat_sim_agenda_jump(&one, 100, &now)
                 : leat_sim_agenda_advance(&one, 100, &now));
        EQ(now, 8);
        OK(leat_sim_agenda_any(&one, 0));
        OK(leat_sim_agenda_take(&one, 0, &entity));
        EQ(entity, 1);
    }
}

/* Up to the end of the word after the one that is read first. */
static void slots_that_hold_something_are_seen_and_forgotten(void)
{
    const struct leat_sim_agenda_shape shape = { .phases = 1, .entities = { 1 } };
    static uint64_t room[1024];
    struct leat_sim_agenda one;
    OK(leat_sim_agenda_footprint(&shape) <= sizeof room);
    for (uint64_t at = 1; at < LEAT_SIM_WHEEL; at++) {
        leat_sim_agenda_init(&one, &shape, room);
        leat_sim_agenda_set(&one, 0, 0, at);
        for (uint64_t from = 0; from <= at; from++)
            EQ(leat_sim_agenda_ahead(&one, from), at - from);
        leat_sim_agenda_forget(&one, at);
        for (uint64_t from = 0; from <= at; from++)
            OK(leat_sim_agenda_ahead(&one, from) > 64 - from % 64);
    }
}

static void the_next_event_is_seen_without_reaching_it(void)
{
    const struct leat_sim_agenda_shape shape = { .phases = 1, .entities = { 70 } };
    struct leat_sim_agenda agenda;
    void *room = malloc(leat_sim_agenda_footprint(&shape));
    uint64_t now = 0;
    uint32_t entity = 0;
    leat_sim_agenda_init(&agenda, &shape, room);
    EQ(leat_sim_agenda_next(&agenda), LEAT_NEVER);
    leat_sim_agenda_set(&agenda, 0, 3, 5000);
    EQ(leat_sim_agenda_next(&agenda), 5000); /* in the heap */
    leat_sim_agenda_set(&agenda, 0, 69, 40);
    EQ(leat_sim_agenda_next(&agenda), 40);
    OK(!leat_sim_agenda_advance(&agenda, 40, &now));
    EQ(leat_sim_agenda_next(&agenda), 40); /* the present cycle */
    OK(leat_sim_agenda_advance(&agenda, 41, &now) && leat_sim_agenda_take(&agenda, 0, &entity));
    EQ(entity, 69);
    OK(!leat_sim_agenda_take(&agenda, 0, &entity));
    EQ(leat_sim_agenda_next(&agenda), 5000);
    free(room);
}

TAP_MAIN(T(the_next_event_is_seen_without_reaching_it),
         T(slots_that_hold_something_are_seen_and_forgotten),
         T(the_next_cycle_is_reached_by_a_step_or_by_a_jump_alike),
         T(an_empty_agenda_stands_where_it_is_set), T(the_lowest_bit_is_found),
         T(three_levels_are_pulled_alike_in_a_loop_and_written_out),
         T(the_order_is_time_then_phase_then_entity),
         T(what_is_still_to_come_in_this_cycle_may_be_set),
         T(the_last_entity_of_the_largest_agenda_acts),
         T(an_event_lies_in_wheel_or_heap_and_crosses_the_border_unseen),
         T(an_event_is_cancelled_on_either_side_of_the_border),
         T(far_events_that_are_moved_leave_the_others_in_order),
         T(a_quadrillion_idle_cycles_cost_a_step),
         T(the_agenda_equals_the_plain_model_for_all_sizes_up_to_300),
         T(the_agenda_equals_the_plain_model_for_few_entities),
         T(the_agenda_equals_the_plain_model_for_large_sizes))
