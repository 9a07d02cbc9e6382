/*
 * Call control against a table written apart, as the recommendation has it: a row per state and
 * event. The campaign plays calls between a user and a network over channels that lose messages;
 * each step is the table's, and at the end both sides have the call or none has it.
 */
#include "atm_call.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------ */

/*
 * State, event, next state, message sent ("-": none). "#2" is a timer that has repeated its message
 * as often as it may. STATUS=0 reports the state Null. What is not here: in Null, "else" of Null;
 * elsewhere, "else".
 */
static const char *const table[] = {
    /* the user's side */
    "U0 do-setup U1 SETUP",
    "U0 SETUP U6 -",
    "U0 RC U0 -",
    "U0 STATUS U0 RC",
    "U0 STATUS=0 U0 -",
    "U0 ENQUIRY U0 STATUS",
    "U0 else U0 RC",
    "U1 CP U3 -",
    "U1 CONNECT U10 CA",
    "U1 timer U1 SETUP",
    "U1 timer#2 U0 -",
    "U1 RELEASE U12 -",
    "U1 do-release U11 RELEASE",
    "U3 CONNECT U10 CA",
    "U3 timer U11 RELEASE",
    "U3 RELEASE U12 -",
    "U3 do-release U11 RELEASE",
    "U6 do-proceed U9 CP",
    "U6 do-connect U8 CONNECT",
    "U6 do-release U0 RC",
    "U6 RELEASE U12 -",
    "U8 CA U10 -",
    "U8 timer U11 RELEASE",
    "U8 RELEASE U12 -",
    "U8 do-release U11 RELEASE",
    "U9 do-connect U8 CONNECT",
    "U9 RELEASE U12 -",
    "U9 do-release U11 RELEASE",
    "U10 RELEASE U12 -",
    "U10 do-release U11 RELEASE",
    "U10 timer U10 ENQUIRY",
    "U10 timer#2 U11 RELEASE",
    "U11 RELEASE U0 -",
    "U11 timer U11 RELEASE",
    "U11 timer#2 U0 -",
    "U12 RELEASE U12 -",
    "U12 do-release U0 RC",
    /* the network's */
    "N0 do-setup N6 SETUP",
    "N0 SETUP N1 -",
    "N0 RC N0 -",
    "N0 STATUS N0 RC",
    "N0 STATUS=0 N0 -",
    "N0 ENQUIRY N0 STATUS",
    "N0 else N0 RC",
    "N1 do-proceed N3 CP",
    "N1 do-connect N10 CONNECT",
    "N1 do-release N0 RC",
    "N1 RELEASE N11 -",
    "N3 do-connect N10 CONNECT",
    "N3 RELEASE N11 -",
    "N3 do-release N12 RELEASE",
    "N6 CP N9 -",
    "N6 CONNECT N8 -",
    "N6 timer N6 SETUP",
    "N6 timer#2 N0 -",
    "N6 RELEASE N11 -",
    "N6 do-release N12 RELEASE",
    "N8 do-complete N10 CA",
    "N8 RELEASE N11 -",
    "N8 do-release N12 RELEASE",
    "N9 CONNECT N8 -",
    "N9 timer N12 RELEASE",
    "N9 RELEASE N11 -",
    "N9 do-release N12 RELEASE",
    "N10 CA N10 -",
    "N10 RELEASE N11 -",
    "N10 do-release N12 RELEASE",
    "N10 timer N10 ENQUIRY",
    "N10 timer#2 N12 RELEASE",
    "N11 RELEASE N11 -",
    "N11 do-release N0 RC",
    "N12 RELEASE N0 -",
    "N12 timer N12 RELEASE",
    "N12 timer#2 N0 -",
    /* both, in any state but Null */
    "* SETUP * -",
    "* RC 0 -",
    "* STATUS * -",
    "* STATUS=0 0 -",
    "* ENQUIRY * STATUS",
    "* else * STATUS",
};

static const struct {
    const char *name;
    uint8_t type;
} messages[] = {
    { "-", 0 },
    { "SETUP", LEAT_ATM_SIGNAL_SETUP },
    { "CP", LEAT_ATM_SIGNAL_CALL_PROCEEDING },
    { "CONNECT", LEAT_ATM_SIGNAL_CONNECT },
    { "CA", LEAT_ATM_SIGNAL_CONNECT_ACK },
    { "RELEASE", LEAT_ATM_SIGNAL_RELEASE },
    { "RC", LEAT_ATM_SIGNAL_RELEASE_COMPLETE },
    { "STATUS", LEAT_ATM_SIGNAL_STATUS },
    { "ENQUIRY", LEAT_ATM_SIGNAL_STATUS_ENQUIRY },
    { "other", LEAT_ATM_SIGNAL_ADD_PARTY },
};
enum { MESSAGE_COUNT = sizeof messages / sizeof *messages };
static const char *const requests[] = { "do-setup", "do-proceed", "do-connect", "do-complete",
                                        "do-release" }; /* in the order of the events */

static uint8_t type_of(const char *name)
{
    for (size_t i = 0; i < MESSAGE_COUNT; i++)
        if (strcmp(messages[i].name, name) == 0) return messages[i].type;
    return 255;
}

struct row {
    char state[8], event[16], next[8], sends[16];
};

static bool find_row(const char *state, const char *event, struct row *out)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        EQ(sscanf(table[i], "%7s %15s %7s %15s", out->state, out->event, out->next, out->sends), 4);
        if (strcmp(out->state, state) == 0 && strcmp(out->event, event) == 0) return true;
    }
    return false;
}

/* What the table says of an event; false: nothing, the request is refused. */
static bool ask_table(char side, unsigned state, const char *event, unsigned *next, uint8_t *sends)
{
    char name[8];
    struct row row;
    snprintf(name, sizeof name, "%c%u", side, state);
    const bool request = strncmp(event, "do-", 3) == 0 || strncmp(event, "timer", 5) == 0;
    bool found = find_row(name, event, &row);
    if (!found && request) return false;
    if (!found && state) found = find_row("*", event, &row);
    if (!found) found = find_row(state ? "*" : name, "else", &row);
    EQ(found, true);
    *next = row.next[0] == '*' ? state
                               : (unsigned)strtoul(row.next + (row.next[0] == side), NULL, 10);
    *sends = type_of(row.sends);
    return true;
}

/* The name of an event of the engine. */
static void name_event(const struct leat_atm_call *call, const struct leat_atm_call_in *in,
                       char name[24])
{
    const unsigned tries_max = call->state == LEAT_ATM_CALL_ACTIVE ? LEAT_ATM_CALL_ENQUIRIES_MAX
                                                                   : 1;
    if (in->event == LEAT_ATM_CALL_TIMER) {
        snprintf(name, 24, "timer%s", call->tries == tries_max ? "#2" : "");
    } else if (in->event != LEAT_ATM_CALL_MESSAGE) {
        snprintf(name, 24, "%s", requests[in->event]);
    } else {
        for (size_t i = 0; i < MESSAGE_COUNT; i++)
            if (messages[i].type == in->type)
                snprintf(name, 24, "%s%s", messages[i].name,
                         in->type == LEAT_ATM_SIGNAL_STATUS && !in->state ? "=0" : "");
    }
}

static const struct leat_atm_call_timers *const timers = &leat_atm_call_timers_default;

/* A step of the engine, which is the table's. */
static bool step(struct leat_atm_call *call, leat_time now, const struct leat_atm_call_in *in,
                 struct leat_atm_call_out *out)
{
    char name[24] = "";
    unsigned next = call->state;
    uint8_t sends = 0;
    const unsigned before = call->state;
    const char side = call->side == LEAT_ATM_CALL_USER ? 'U' : 'N';
    name_event(call, in, name);
    const bool timer_waits = in->event == LEAT_ATM_CALL_TIMER &&
                             (call->due_at == LEAT_NEVER || now < call->due_at);
    const bool want = timer_waits || ask_table(side, before, name, &next, &sends);
    const bool done = leat_atm_call_step(call, now, timers, in, out);
    EQ(done, want);
    EQ(call->state, next);
    EQ(out->send, sends);
    EQ(out->tell == LEAT_ATM_CALL_CLEARED, before != 0 && next == 0);
    if (done != want || call->state != next || out->send != sends)
        printf("# %c%u %s: %u, message %u\n", side, before, name, call->state, out->send);
    return done;
}

static void every_state_has_the_answers_of_the_table(void)
{
    static const uint8_t states[] = { 0, 1, 3, 6, 8, 9, 10, 11, 12 };
    struct leat_atm_call_out out;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < sizeof states; i++) {
            for (unsigned k = 0; k < MESSAGE_COUNT + 5; k++) {
                for (uint8_t peer = 0; peer < 2; peer++) {
                    struct leat_atm_call call;
                    leat_atm_call_init(&call, (enum leat_atm_call_side)side);
                    call.state = (enum leat_atm_call_state)states[i];
                    struct leat_atm_call_in in = { .event = LEAT_ATM_CALL_MESSAGE, .state = peer };
                    if (k < 5)
                        in.event = (enum leat_atm_call_event)k;
                    else if (k == 5)
                        in.event = LEAT_ATM_CALL_TIMER; /* none runs */
                    else
                        in.type = messages[k - 5].type;
                    step(&call, 7, &in, &out);
                }
            }
        }
    }
}

/* Timers: when they begin, and how often they repeat. */
static void timers_run_as_long_as_they_are_set(void)
{
    struct leat_atm_call call;
    struct leat_atm_call_out out;
    const struct leat_atm_call_in setup = { .event = LEAT_ATM_CALL_DO_SETUP },
                                  timer = { .event = LEAT_ATM_CALL_TIMER };
    leat_atm_call_init(&call, LEAT_ATM_CALL_USER);
    EQ(call.due_at, LEAT_NEVER);
    step(&call, 100, &setup, &out);
    EQ(call.due_at, 100 + timers->t303_ps);
    step(&call, 99 + timers->t303_ps, &timer, &out);
    EQ(out.send, 0);
    step(&call, 100 + timers->t303_ps, &timer, &out);
    EQ(out.send, LEAT_ATM_SIGNAL_SETUP);
    EQ(call.due_at, 100 + 2 * timers->t303_ps);
    step(&call, call.due_at, &timer, &out);
    EQ(call.state, LEAT_ATM_CALL_NULL);
    EQ(out.told_cause, LEAT_ATM_CAUSE_TIMER);
    EQ(call.due_at, LEAT_NEVER);

    step(&call, 0, &setup, &out);
    step(&call, 0,
         &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, LEAT_ATM_SIGNAL_CALL_PROCEEDING, 0, 0 },
         &out);
    EQ(call.due_at, timers->t310_ps);
    step(&call, call.due_at, &timer, &out);
    EQ(out.tell, LEAT_ATM_CALL_GIVEN_UP);
    EQ(out.cause, LEAT_ATM_CAUSE_NO_RESPONSE);
    EQ(call.due_at, timers->t310_ps + timers->t308_ps);
}

static void causes_travel_and_are_told(void)
{
    struct leat_atm_call call;
    struct leat_atm_call_out out;
    leat_atm_call_init(&call, LEAT_ATM_CALL_NETWORK);
    step(&call, 0, &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_DO_SETUP }, &out);
    step(&call, 0, &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_DO_RELEASE, .cause = 37 },
         &out);
    EQ(out.cause, 37);
    step(&call, 0,
         &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, LEAT_ATM_SIGNAL_RELEASE_COMPLETE, 17,
                                     0 },
         &out);
    EQ(out.told_cause, 17);
    step(&call, 0,
         &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, LEAT_ATM_SIGNAL_CONNECT, 0, 0 }, &out);
    EQ(out.cause, LEAT_ATM_CAUSE_NO_SUCH_CALL);
    step(&call, 0,
         &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, LEAT_ATM_SIGNAL_STATUS_ENQUIRY, 0, 0 },
         &out);
    EQ(out.cause, LEAT_ATM_CAUSE_STATUS);
    EQ(out.state, LEAT_ATM_CALL_NULL);
}

/* ---- the campaign --------------------------------------------------------------------------- */

enum { FLIGHT_MAX = 32, SIDES = 2 };
#define MS       UINT64_C(1000000000)
#define DELAY_PS (20 * MS)
#define CALMS_BY (UINT64_C(10000000) * MS)

struct flight {
    leat_time at;
    struct leat_atm_call_in in;
};

/* A call between a user and a network, and what each of them will do next. */
struct game {
    struct leat_random *r;
    uint64_t loss_percent;
    leat_time now, act_at[SIDES];
    bool agreed[SIDES]; /* the application wants the call to live */
    struct leat_atm_call call[SIDES];
    struct flight flight[SIDES][FLIGHT_MAX]; /* towards each side, in order */
    unsigned count[SIDES];
};

static leat_time some_time(struct game *g)
{
    const uint64_t factor = leat_random_below(g->r, 8);
    return leat_time_add(g->now, factor * leat_random_below(g->r, 2000) * MS);
}

static bool play(struct game *g, int side, const struct leat_atm_call_in *in)
{
    struct leat_atm_call_out out;
    const bool done = step(&g->call[side], g->now, in, &out);
    if (out.tell != LEAT_ATM_CALL_NOTHING) g->act_at[side] = some_time(g);
    if (!out.send) return done;
    const uint64_t dice = leat_random_below(g->r, 100);
    if (dice < g->loss_percent) return done;
    EQ(g->count[!side] < FLIGHT_MAX, 1);
    g->flight[!side][g->count[!side]++] = (struct flight){
        leat_time_add(g->now, DELAY_PS),
        { LEAT_ATM_CALL_MESSAGE, out.send, out.cause, out.state },
    };
    return done;
}

/* The application does what it can: it goes on with the call, or ends it. */
static void act(struct game *g, int side)
{
    const enum leat_atm_call_state state = g->call[side].state;
    const bool live = leat_random_below(g->r, 4) != 0;
    g->act_at[side] = LEAT_NEVER;
    if (state == LEAT_ATM_CALL_NULL) return;
    if (live && state == LEAT_ATM_CALL_ACTIVE) return;
    if (live) {
        for (int event = LEAT_ATM_CALL_DO_PROCEED; event <= LEAT_ATM_CALL_DO_COMPLETE; event++) {
            const uint64_t skip = leat_random_below(g->r, 3) == 0;
            if (skip && event == LEAT_ATM_CALL_DO_PROCEED) continue;
            if (!play(g, side,
                      &(struct leat_atm_call_in){ .event = (enum leat_atm_call_event)event }))
                continue;
            if (event == LEAT_ATM_CALL_DO_PROCEED) g->act_at[side] = some_time(g);
            return;
        }
    }
    const bool must = state == LEAT_ATM_CALL_RELEASE_REQUEST ||
                      state == LEAT_ATM_CALL_RELEASE_INDICATION;
    if (!live || must)
        play(g, side, &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_DO_RELEASE, .cause = 16 });
    else if (g->call[side].due_at == LEAT_NEVER)
        g->act_at[side] = some_time(g); /* nobody else will move */
}

static leat_time next_time(const struct game *g)
{
    leat_time at = LEAT_NEVER;
    for (int side = 0; side < SIDES; side++) {
        at = leat_smaller(at, leat_smaller(g->act_at[side], g->call[side].due_at));
        if (g->count[side]) at = leat_smaller(at, g->flight[side][0].at);
    }
    return at;
}

static void play_side(struct game *g, int side)
{
    if (g->count[side] && g->flight[side][0].at == g->now) {
        const struct leat_atm_call_in in = g->flight[side][0].in;
        memmove(g->flight[side], g->flight[side] + 1, --g->count[side] * sizeof(struct flight));
        play(g, side, &in);
    }
    if (g->call[side].due_at == g->now)
        play(g, side, &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_TIMER });
    if (g->act_at[side] == g->now) act(g, side);
}

/* Nothing is under way, and both have the call or none. */
static bool is_calm(const struct game *g)
{
    const enum leat_atm_call_state a = g->call[0].state, b = g->call[1].state;
    return a == b && (a == LEAT_ATM_CALL_NULL || a == LEAT_ATM_CALL_ACTIVE) && !g->count[0] &&
           !g->count[1] && g->act_at[0] == LEAT_NEVER && g->act_at[1] == LEAT_NEVER;
}

static enum leat_atm_call_state play_game(struct leat_random *r, uint64_t loss_percent)
{
    struct game g = { .r = r, .loss_percent = loss_percent, .act_at = { LEAT_NEVER, LEAT_NEVER } };
    leat_atm_call_init(&g.call[0], LEAT_ATM_CALL_USER);
    leat_atm_call_init(&g.call[1], LEAT_ATM_CALL_NETWORK);
    const int caller = (int)leat_random_below(r, 2);
    play(&g, caller, &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_DO_SETUP });
    while (!is_calm(&g) && g.now < CALMS_BY) {
        g.now = next_time(&g);
        if (g.now == LEAT_NEVER) break;
        play_side(&g, 0);
        play_side(&g, 1);
    }
    OK(is_calm(&g));
    if (!is_calm(&g)) printf("# U%u and N%u\n", g.call[0].state, g.call[1].state);
    return g.call[0].state;
}

static void calls_over_a_lossy_channel_end_on_both_sides_or_live_on_both(void)
{
    static const uint8_t losses[] = { 0, 1, 10, 30, 60 };
    struct leat_random r;
    long active[sizeof losses] = { 0 }, games = 50 + LEAT_ROUNDS / 1000;
    leat_random_seed(&r, tap_seed());
    for (size_t k = 0; k < sizeof losses; k++)
        for (long i = 0; i < games; i++)
            active[k] += play_game(&r, losses[k]) == LEAT_ATM_CALL_ACTIVE;
    OK(active[0] > 0 && active[0] < games); /* both ends were seen */
    OK(active[4] < active[0]);
}

TAP_MAIN(T(every_state_has_the_answers_of_the_table), T(timers_run_as_long_as_they_are_set),
         T(causes_travel_and_are_told),
         T(calls_over_a_lossy_channel_end_on_both_sides_or_live_on_both))
