/*
 * Events come out in the order of (time, to, from, number), whatever the order of insertion; those
 * that are added for the present time after it has begun come after its other events.
 */
#include "esp_flight.h"
#include "tap.h"
#include <leat/random.h>

enum { CAP = 64, REPLIES = 3, CAMPAIGN = LEAT_ROUNDS / 10 + 1000 };

static _Alignas(max_align_t) uint8_t memory[1 << 16];

/* An event, and how many moments had begun when it was added, if it was for the present one. */
struct added {
    struct leat_sim_esp_flight flight;
    unsigned turn;
};

static bool is_less(const struct added *x, const struct added *y)
{
    const struct leat_sim_esp_flight *a = &x->flight, *b = &y->flight;
    const uint64_t of_a[] = { a->at, x->turn, a->to, a->from, a->number };
    const uint64_t of_b[] = { b->at, y->turn, b->to, b->from, b->number };
    for (unsigned i = 0; i < 5; i++)
        if (of_a[i] != of_b[i]) return of_a[i] < of_b[i];
    return false;
}

/* A list from which the least is taken. */
struct plain {
    struct added added[CAP];
    unsigned count, begun;
    leat_time now;
};

static unsigned least(const struct plain *p)
{
    unsigned found = 0;
    for (unsigned i = 1; i < p->count; i++)
        if (is_less(&p->added[i], &p->added[found])) found = i;
    return found;
}

static void check_take(struct leat_sim_esp_flights *f, struct plain *p, leat_time until)
{
    struct leat_sim_esp_flight got;
    const unsigned at = least(p);
    const struct leat_sim_esp_flight *want = &p->added[at].flight;
    const bool has = p->count && want->at < until;
    const bool taken = leat_sim_esp_flights_take(f, until, &got);
    EQ(taken, has);
    if (!taken || !has) return;
    EQ(got.at, want->at);
    EQ(got.to, want->to);
    EQ(got.from, want->from);
    EQ(got.number, want->number);
    EQ(got.letter, want->letter);
    if (got.letter != LEAT_SIM_ESP_NO_LETTER) leat_sim_esp_letter_drop(f, got.letter);
    p->added[at] = p->added[--p->count];
    p->begun += f->present_next == 1;
    p->now = got.at;
}

static void add(struct leat_sim_esp_flights *f, struct plain *p, struct leat_random *r,
                uint64_t number)
{
    struct leat_sim_esp_flight flight = { .number = number, .letter = LEAT_SIM_ESP_NO_LETTER };
    flight.at = p->now + leat_random_below(r, 4);
    flight.to = (uint32_t)leat_random_below(r, 3);
    flight.from = 10 + (uint32_t)leat_random_below(r, 3);
    if (leat_random_below(r, 8) == 0) { /* a timer, which comes before events from others */
        flight.from = flight.to;
        flight.number = 0;
        for (unsigned i = 0; i < p->count; i++)
            if (p->added[i].flight.at == flight.at && p->added[i].flight.to == flight.to &&
                p->added[i].flight.from == flight.from)
                return; /* two of the same are one */
    } else if (p->count < CAP) {
        flight.letter = leat_sim_esp_letter_take(f);
        OK(flight.letter < CAP);
        f->letter[flight.letter].post.opcode = LEAT_ESP_COUNT;
    }
    EQ(leat_sim_esp_flights_add(f, &flight), p->count < CAP);
    if (p->count == CAP) return;
    p->added[p->count++] = (struct added){ flight, p->begun && flight.at == p->now ? p->begun : 0 };
}

static void events_come_in_their_order(void)
{
    struct leat_sim_esp_flights f;
    struct plain p = { .count = 0 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    OK(leat_sim_esp_flights_footprint(CAP, REPLIES) <= sizeof memory);
    leat_sim_esp_flights_init(&f, CAP, REPLIES, memory);
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        /* Growing and shrinking alternately, to the bounds. */
        const unsigned bias = i / 500 % 2 ? 3 : 6;
        if (leat_random_below(&r, 9) < bias)
            add(&f, &p, &r, i);
        else
            check_take(&f, &p, p.now + leat_random_below(&r, 6));
        EQ(f.count, p.count);
    }
}

static void letters_and_replies_end_when_all_are_dropped(void)
{
    struct leat_sim_esp_flights f;
    uint32_t letter[CAP];
    leat_sim_esp_flights_init(&f, CAP, REPLIES, memory);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < CAP; i++) {
            letter[i] = leat_sim_esp_letter_take(&f);
            f.letter[letter[i]].post.opcode = LEAT_ESP_JOIN;
            for (unsigned k = 0; k < i; k++)
                OK(letter[i] != letter[k]);
        }
        EQ(leat_sim_esp_letter_take(&f), LEAT_SIM_ESP_NO_LETTER);
        EQ(leat_sim_esp_letter_copy(&f, letter[0]), LEAT_SIM_ESP_NO_LETTER);
        for (unsigned i = 0; i < CAP; i++)
            leat_sim_esp_letter_drop(&f, letter[i]);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < REPLIES; i++) {
            letter[i] = leat_sim_esp_letter_take(&f);
            struct leat_esp_reply *reply = leat_sim_esp_letter_reply(&f, letter[i]);
            OK(reply != NULL);
            if (reply) reply->node = i;
        }
        letter[REPLIES] = leat_sim_esp_letter_copy(&f, letter[0]);
        EQ(f.letter[letter[REPLIES]].reply, f.letter[letter[0]].reply);
        leat_sim_esp_letter_drop(&f, letter[0]);
        letter[0] = leat_sim_esp_letter_take(&f);
        f.letter[letter[0]].post.opcode = LEAT_ESP_JOIN;
        OK(leat_sim_esp_letter_reply(&f, letter[0]) == NULL); /* the copy still has it */
        EQ(f.reply[f.letter[letter[REPLIES]].reply].reply.node, 0);
        for (unsigned i = 0; i <= REPLIES; i++)
            leat_sim_esp_letter_drop(&f, letter[i]);
    }
}

TAP_MAIN(T(events_come_in_their_order), T(letters_and_replies_end_when_all_are_dropped))
