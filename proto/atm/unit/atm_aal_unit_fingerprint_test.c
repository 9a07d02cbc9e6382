/*
 * Fingerprints of adaptation layer units: the same run at another time, with other numbers and in
 * other blocks has the same fingerprint in every cycle; any other run differs.
 */
#include "atm_aal_unit_test.h"

enum { WORDS = 4096, CYCLES = 2000 };

static uint32_t last_number(void *context, uint32_t from, uint32_t to)
{
    (void)context;
    return from == HERE || from == THERE ? stations[from == THERE].unit.peer[to].number : 0;
}

static uint64_t name_message(void *context, uint32_t id)
{
    (void)context;
    return id;
}

static const struct leat_atm_aal_names names = { NULL, last_number, name_message, UINT16_MAX };

/* Both units, after the current step. */
static bool fingerprint_of_all(struct leat_fingerprint *l)
{
    for (unsigned i = 0; i < station_count; i++)
        leat_atm_aal_unit_fingerprint(&stations[i].unit, now + 1, &names, l);
    return leat_fingerprint_holds(l);
}

struct moment {
    uint64_t word[WORDS];
    size_t count;
};

static bool keep(struct moment *m)
{
    struct leat_fingerprint l = { .word = m->word, .cap = WORDS };
    const bool holds = fingerprint_of_all(&l);
    m->count = l.count;
    return holds;
}

static bool is_like(struct moment *m)
{
    struct leat_fingerprint l = { .word = m->word, .cap = m->count, .compares = true };
    return fingerprint_of_all(&l);
}

static void two_wired(void)
{
    struct leat_atm_aal_config here = thesis(HERE), there = thesis(THERE);
    here.obsolete_cycles = there.obsolete_cycles = 500;
    now = station_count = 0;
    wired = true;
    set_up(&here);
    set_up(&there);
}

/* A message to THERE; it is requested in cycle 1000 from its beginning. The paths wrap in between:
 * there are as many cells and acknowledgements as paths. */
static void send_there(uint64_t from, uint32_t len, struct moment *kept, unsigned *equal)
{
    const struct leat_atm_task_message message = { { 'r', 'c', 'v' }, 1, 1 };
    run(from);
    write_to(&stations[0].unit, THERE, len);
    for (uint64_t at = from + 1; at < from + CYCLES; at++) {
        if (at == from + 1000) ask(&stations[1].unit, message);
        if (at == from + 1000) get(&stations[1].unit, len);
        run(at);
        if (at == from + 1800) leat_atm_aal_unit_read_end(&stations[1].unit, now);
        if (equal)
            *equal += is_like(&kept[at - from]);
        else
            OK(keep(&kept[at - from]));
    }
}

static struct moment kept[CYCLES];

static void the_same_course_has_one_fingerprint_in_every_cycle(void)
{
    unsigned equal = 0;
    two_wired();
    send_there(10000, 100, kept, NULL); /* 4 cells; registers that reset has left are written */
    send_there(20000, 100, kept, NULL);
    send_there(30000, 100, kept, &equal);
    EQ(equal, CYCLES - 1);
}

static void another_course_is_not(void)
{
    unsigned equal = 0;
    two_wired();
    send_there(10000, 100, kept, NULL);
    send_there(30000, 104, kept, &equal);
    OK(equal < 10); /* at its end everything is over, in either case */
    for (unsigned i = 1; i < CYCLES - 1; i++)
        if (kept[i].count == kept[i + 1].count && i < 600)
            OK(memcmp(kept[i].word, kept[i + 1].word, kept[i].count * sizeof *kept[i].word) != 0);
}

static void broadcasts_and_what_waits_for_a_block_are_like_nothing(void)
{
    two_wired();
    write_to(&stations[0].unit, LEAT_ATM_TASK_BROADCAST, 4);
    run(60);
    OK(!keep(&kept[0]));
    struct leat_atm_aal_config small = thesis(HERE);
    small.send_blocks = 2;
    struct leat_atm_aal_unit *unit = alone_with(small);
    write_to(unit, THERE, 20);
    run(200);
    OK(keep(&kept[0]));
    write_to(unit, THERE, 20);
    run(400);
    EQ(unit->nomem, 1);
    OK(!keep(&kept[0]));
}

/* Discarded cells have no fingerprint: RESYNC has its own timers. */
static void units_with_gaps_and_their_cells_have_no_fingerprint(void)
{
    struct leat_atm_aal_config config = thesis(HERE);
    config.resync = true;
    config.retransmit_cycles = 1000;
    config.transmissions_max = 1;
    struct leat_atm_aal_unit *unit = alone_with(config);
    write_to(unit, THERE, 4);
    run(900);
    OK(keep(&kept[0]));
    run(2000);
    EQ(unit->gap_count, 1);
    EQ(unit->send.busy_count, 0);
    OK(!keep(&kept[0]));
    uint64_t word[8];
    struct leat_fingerprint l = { .word = word, .cap = 8 };
    const struct leat_atm_aal_names wide = { NULL, last_number, name_message, unit->number_mask };
    leat_atm_aal_cell_fingerprint(unit->resync_cell, &wide, &l);
    OK(!leat_fingerprint_holds(&l));
}

static void cells_are_recognised_by_their_header_and_counted_numbers(void)
{
    uint64_t word[2][8];
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN] = { 0 };
    two_wired();
    leat_put_be16(cell + 5, LEAT_ATM_TASK_MESSAGE);
    leat_put_be16(cell + 11, HERE);
    leat_put_be16(cell + 13, THERE);
    for (unsigned i = 0; i < 2; i++) {
        struct leat_fingerprint l = { .word = word[i], .cap = 8 };
        stations[0].unit.peer[THERE].number = (uint16_t)(65535 + i * 10);
        leat_put_be16(cell + 9, (uint16_t)(65530 + i * 10));
        leat_atm_aal_cell_fingerprint(cell, &names, &l);
        OK(leat_fingerprint_holds(&l));
        EQ(l.count, 2);
    }
    EQ(memcmp(word[0], word[1], 16), 0);
    EQ(word[0][1], 5);
    leat_put_be16(cell + 13, LEAT_ATM_TASK_BROADCAST);
    struct leat_fingerprint l = { .word = word[0], .cap = 8 };
    leat_atm_aal_cell_fingerprint(cell, &names, &l);
    OK(!leat_fingerprint_holds(&l));
}

TAP_MAIN(T(the_same_course_has_one_fingerprint_in_every_cycle), T(another_course_is_not),
         T(broadcasts_and_what_waits_for_a_block_are_like_nothing),
         T(units_with_gaps_and_their_cells_have_no_fingerprint),
         T(cells_are_recognised_by_their_header_and_counted_numbers))
