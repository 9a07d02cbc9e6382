/*
 * Parties against a table written apart, a row per state and event; and a campaign: a root's side
 * and a leaf's side over channels that lose messages.
 */
#include "atm_party.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------ */

/* State, event, next state, message sent. A request without a row is refused, any other event
 * without a row does nothing. */
static const char *const table[] = {
    "0 do-add 1 ADD",
    "0 join 1 -",
    "0 join-asked 6 -",
    "0 ADD 6 -",
    "0 ADD-ACK 0 DROP-ACK",
    "0 DROP 0 DROP-ACK",
    "0 STATUS 0 DROP-ACK",

    "1 do-drop 11 DROP",
    "1 joined 10 -",
    "1 ADD-ACK 10 -",
    "1 REJECT 0 -",
    "1 DROP 12 -",
    "1 DROP-ACK 0 -",
    "1 STATUS=0 0 -",
    "1 timer 11 DROP",

    "6 do-accept 10 ADD-ACK",
    "6 do-drop 0 REJECT",
    "6 joined 10 -",
    "6 DROP 12 -",
    "6 DROP-ACK 0 -",
    "6 STATUS=0 0 -",

    "10 do-drop 11 DROP",
    "10 DROP 12 -",
    "10 DROP-ACK 0 -",
    "10 STATUS=0 0 -",
    "10 timer 10 ENQUIRY",
    "10 timer#2 11 DROP",

    "11 REJECT 0 -",
    "11 DROP 0 -",
    "11 DROP-ACK 0 -",
    "11 STATUS=0 0 -",
    "11 timer 11 DROP",
    "11 timer#2 0 -",

    "12 do-drop 0 DROP-ACK",
    "12 DROP-ACK 0 -",
    "12 STATUS=0 0 -",
};

static const struct {
    const char *name;
    uint8_t type;
} messages[] = {
    { "-", 0 },
    { "ADD", LEAT_ATM_SIGNAL_ADD_PARTY },
    { "ADD-ACK", LEAT_ATM_SIGNAL_ADD_PARTY_ACK },
    { "REJECT", LEAT_ATM_SIGNAL_ADD_PARTY_REJECT },
    { "DROP", LEAT_ATM_SIGNAL_DROP_PARTY },
    { "DROP-ACK", LEAT_ATM_SIGNAL_DROP_PARTY_ACK },
    { "STATUS", LEAT_ATM_SIGNAL_STATUS },
    { "ENQUIRY", LEAT_ATM_SIGNAL_STATUS_ENQUIRY },
    { "CONNECT", LEAT_ATM_SIGNAL_CONNECT },
};
enum { MESSAGE_COUNT = sizeof messages / sizeof *messages };
static const char *const requests[] = { "do-add",     "do-accept", "do-drop", "join",
                                        "join-asked", "joined",    "leave" };
enum { REQUEST_COUNT = sizeof requests / sizeof *requests };

static void name_event(const struct leat_atm_party *party, const struct leat_atm_party_in *in,
                       char name[24])
{
    const unsigned tries_max = party->state == LEAT_ATM_PARTY_ACTIVE ? LEAT_ATM_CALL_ENQUIRIES_MAX
                                                                     : 1;
    if (in->event == LEAT_ATM_PARTY_TIMER) {
        snprintf(name, 24, "timer%s", party->tries == tries_max ? "#2" : "");
    } else if (in->event != LEAT_ATM_PARTY_MESSAGE) {
        snprintf(name, 24, "%s", requests[in->event]);
    } else {
        for (size_t i = 0; i < MESSAGE_COUNT; i++)
            if (messages[i].type == in->type)
                snprintf(name, 24, "%s%s", messages[i].name,
                         in->type == LEAT_ATM_SIGNAL_STATUS && !in->state ? "=0" : "");
    }
}

/* The row of an event; without one the state stays. */
static bool ask_table(unsigned state, const char *event, unsigned *next, char sends[16])
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        unsigned from;
        char name[24];
        EQ(sscanf(table[i], "%u %23s %u %15s", &from, name, next, sends), 4);
        if (from == state && strcmp(name, event) == 0) return true;
    }
    *next = strcmp(event, "leave") ? state : 0;
    snprintf(sends, 16, "%s", strcmp(event, "ENQUIRY") ? "-" : "STATUS");
    return false;
}

static const struct leat_atm_call_timers *const timers = &leat_atm_call_timers_default;

static bool step(struct leat_atm_party *party, leat_time now, const struct leat_atm_party_in *in,
                 struct leat_atm_party_out *out)
{
    char name[24] = "", sends[16] = "-", sent[16] = "?";
    unsigned next = party->state;
    const unsigned before = party->state;
    bool want = true;
    name_event(party, in, name);
    if (in->event != LEAT_ATM_PARTY_TIMER || (party->due_at != LEAT_NEVER && now >= party->due_at))
        want = ask_table(before, name, &next, sends) || in->event >= LEAT_ATM_PARTY_LEAVE;
    const bool done = leat_atm_party_step(party, now, timers, in, out);
    for (size_t i = 0; i < MESSAGE_COUNT; i++)
        if (messages[i].type == out->send) snprintf(sent, sizeof sent, "%s", messages[i].name);
    EQ(done, want);
    EQ(party->state, next);
    OK(strcmp(sent, sends) == 0);
    EQ(out->tell == LEAT_ATM_PARTY_CLEARED,
       before != 0 && next == 0 && in->event != LEAT_ATM_PARTY_LEAVE);
    if (done != want || party->state != next || strcmp(sent, sends) != 0)
        printf("# %u %s: %u, %s\n", before, name, party->state, sent);
    return done;
}

static void every_state_of_a_party_has_the_answers_of_the_table(void)
{
    static const uint8_t states[] = { 0, 1, 6, 10, 11, 12 };
    struct leat_atm_party_out out;
    for (size_t i = 0; i < sizeof states; i++) {
        for (unsigned k = 0; k <= REQUEST_COUNT; k++) {
            struct leat_atm_party party = { (enum leat_atm_party_state)states[i], 0, LEAT_NEVER };
            const struct leat_atm_party_in in = { .event = k < REQUEST_COUNT
                                                               ? (enum leat_atm_party_event)k
                                                               : LEAT_ATM_PARTY_TIMER };
            step(&party, 5, &in, &out);
        }
        for (unsigned k = 1; k < MESSAGE_COUNT; k++) {
            for (uint8_t peer = 0; peer < 2; peer++) {
                struct leat_atm_party party = { (enum leat_atm_party_state)states[i], 0,
                                                LEAT_NEVER };
                step(&party, 5,
                     &(struct leat_atm_party_in){ LEAT_ATM_PARTY_MESSAGE, messages[k].type, 3,
                                                  peer },
                     &out);
            }
        }
    }
}

static void parties_have_timers_of_their_own(void)
{
    struct leat_atm_party party;
    struct leat_atm_party_out out;
    const struct leat_atm_party_in timer = { .event = LEAT_ATM_PARTY_TIMER };
    leat_atm_party_init(&party);
    step(&party, 0, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_ADD }, &out);
    EQ(party.due_at, timers->t399_ps);
    step(&party, party.due_at, &timer, &out);
    EQ(out.tell, LEAT_ATM_PARTY_GIVEN_UP);
    EQ(out.cause, LEAT_ATM_CAUSE_TIMER);
    EQ(party.due_at, timers->t399_ps + timers->t398_ps);
    step(&party, party.due_at, &timer, &out);
    step(&party, party.due_at, &timer, &out);
    EQ(party.state, LEAT_ATM_PARTY_NULL);
    EQ(out.told_cause, LEAT_ATM_CAUSE_TIMER);
}

/* ---- the campaign --------------------------------------------------------------------------- */

enum { FLIGHT_MAX = 32, SIDES = 2 };
#define MS       UINT64_C(1000000000)
#define CALMS_BY (UINT64_C(10000000) * MS)

struct flight {
    leat_time at;
    struct leat_atm_party_in in;
};

struct game {
    struct leat_random *r;
    uint64_t loss_percent;
    leat_time now, act_at[SIDES];
    struct leat_atm_party party[SIDES];
    struct flight flight[SIDES][FLIGHT_MAX];
    unsigned count[SIDES];
};

static void play(struct game *g, int side, const struct leat_atm_party_in *in)
{
    struct leat_atm_party_out out;
    step(&g->party[side], g->now, in, &out);
    const leat_time later = leat_time_add(g->now, leat_random_below(g->r, 9000) * MS);
    if (out.tell != LEAT_ATM_PARTY_NOTHING) g->act_at[side] = later;
    if (!out.send) return;
    const uint64_t dice = leat_random_below(g->r, 100);
    if (dice < g->loss_percent) return;
    EQ(g->count[!side] < FLIGHT_MAX, 1);
    g->flight[!side][g->count[!side]++] = (struct flight){
        leat_time_add(g->now, 20 * MS), { LEAT_ATM_PARTY_MESSAGE, out.send, out.cause, out.state }
    };
}

static void act(struct game *g, int side)
{
    const enum leat_atm_party_state state = g->party[side].state;
    const bool live = leat_random_below(g->r, 4) != 0;
    g->act_at[side] = LEAT_NEVER;
    if (live && state == LEAT_ATM_PARTY_ADD_RECEIVED)
        play(g, side, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_ACCEPT });
    else if (state == LEAT_ATM_PARTY_DROP_RECEIVED || state == LEAT_ATM_PARTY_ADD_RECEIVED ||
             (!live && state == LEAT_ATM_PARTY_ACTIVE))
        play(g, side, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_DROP, .cause = 16 });
}

static void play_side(struct game *g, int side)
{
    if (g->count[side] && g->flight[side][0].at == g->now) {
        const struct leat_atm_party_in in = g->flight[side][0].in;
        memmove(g->flight[side], g->flight[side] + 1, --g->count[side] * sizeof(struct flight));
        play(g, side, &in);
    }
    if (g->party[side].due_at == g->now)
        play(g, side, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_TIMER });
    if (g->act_at[side] == g->now) act(g, side);
}

static bool is_calm(const struct game *g)
{
    const enum leat_atm_party_state a = g->party[0].state, b = g->party[1].state;
    return a == b && (a == LEAT_ATM_PARTY_NULL || a == LEAT_ATM_PARTY_ACTIVE) && !g->count[0] &&
           !g->count[1] && g->act_at[0] == LEAT_NEVER && g->act_at[1] == LEAT_NEVER;
}

static enum leat_atm_party_state play_game(struct leat_random *r, uint64_t loss_percent)
{
    struct game g = { .r = r, .loss_percent = loss_percent, .act_at = { LEAT_NEVER, LEAT_NEVER } };
    leat_atm_party_init(&g.party[0]);
    leat_atm_party_init(&g.party[1]);
    play(&g, 0, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_ADD });
    while (!is_calm(&g) && g.now < CALMS_BY) {
        leat_time at = LEAT_NEVER;
        for (int side = 0; side < SIDES; side++) {
            at = leat_smaller(at, leat_smaller(g.act_at[side], g.party[side].due_at));
            if (g.count[side]) at = leat_smaller(at, g.flight[side][0].at);
        }
        if (at == LEAT_NEVER) break;
        g.now = at;
        play_side(&g, 0);
        play_side(&g, 1);
    }
    OK(is_calm(&g));
    return g.party[0].state;
}

static void parties_over_a_lossy_channel_end_on_both_sides_or_live_on_both(void)
{
    static const uint8_t losses[] = { 0, 1, 10, 30, 60 };
    struct leat_random r;
    long active[sizeof losses] = { 0 }, games = 50 + LEAT_ROUNDS / 1000;
    leat_random_seed(&r, tap_seed());
    for (size_t k = 0; k < sizeof losses; k++)
        for (long i = 0; i < games; i++)
            active[k] += play_game(&r, losses[k]) == LEAT_ATM_PARTY_ACTIVE;
    OK(active[0] > 0 && active[0] < games); /* both ends were seen */
    OK(active[4] < active[0]);
}

TAP_MAIN(T(every_state_of_a_party_has_the_answers_of_the_table),
         T(parties_have_timers_of_their_own),
         T(parties_over_a_lossy_channel_end_on_both_sides_or_live_on_both))
