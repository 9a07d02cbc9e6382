/*
 * Programs that mostly repeat themselves run over the ports of a cell network with and without
 * replay. All results must be equal.
 */
#include "leat_text.h"
#include "sim_atm_replay.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MAX = 16, PHASES_MAX = 4, MESSAGES_MAX = 1 << 17, CYCLE_PS = 50000 };

/* A phase: who sends how much to whom. Each task then waits for its own messages. */
struct phase {
    enum { RING, PAIRS, TO_FIRST, FROM_FIRST, PHASE_KINDS } kind;
    uint32_t shift, len, pause; /* pause: cycles before it sends */
};

struct program {
    uint32_t tasks, phases, rounds;
    struct phase phase[PHASES_MAX];
    uint32_t odd_every; /* mean number of rounds between irregular ones; 0: none */
    uint64_t seed;
};

struct task {
    uint32_t round, phase;
    uint32_t needs, has; /* messages so far: some arrive before they are needed */
    bool sends;          /* next, at `from` */
    leat_time from;
};

struct scene {
    struct leat_port_net *net;
    const struct program *program;
    struct task task[TASKS_MAX];
    uint32_t messages; /* so far */
    leat_time *coming; /* by id: the reported time; 0: none */
    uint64_t reported; /* a hash of all callbacks */
    uint64_t cuts;     /* random state: where runs are cut into pieces */
    uint64_t peeks;    /* random state: where they are cut to read the links' counts of cells */
    uint32_t peeked;   /* how often that was in a replay */
    struct leat_sim_atm_replay *replay; /* NULL: without */
    const struct leat_sim_atm *sim;
    bool wants_coming;
    uint32_t sent, arrived;
};

static struct leat_sim_atm_ports_config config_of(const char *name)
{
    struct leat_sim_atm_ports_config config = { .model = LEAT_SIM_ATM_CELL,
                                                .messages_max = MESSAGES_MAX };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse(name, &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    return config;
}

/* ---- octets ---------------------------------------------------------------------------------- */

static uint8_t octet_of(uint64_t id, uint64_t i)
{
    return (uint8_t)(id * 31 + i * 7 + id / 256);
}

static bool is_sound(const struct leat_port_message *m)
{
    for (uint64_t i = 0; i < m->len; i++)
        if (m->octets[i] != octet_of(m->id, i)) return false;
    return true;
}

static void note(struct scene *s, uint64_t kind, const struct leat_port_message *m, leat_time at)
{
    const uint64_t words[] = { kind, m->from, m->to, m->id, m->len, at };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        s->reported = leat_sim_fnv_word(s->reported, words[i]);
}

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    struct scene *s = context;
    s->sent++;
    note(s, 1, m, at);
}

/* The octets are no longer borrowed: free them. */
static void take(const struct leat_port_message *m)
{
    OK(is_sound(m));
    memset(m->octets, 0xee, m->len);
    free(m->octets);
}

static void on_coming(void *context, const struct leat_port_message *m, leat_time at)
{
    struct scene *s = context;
    EQ(s->coming[m->id], 0);
    s->coming[m->id] = at;
    take(m);
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct scene *s = context;
    struct task *task = &s->task[m->to];
    if (s->coming[m->id])
        EQ(s->coming[m->id], at);
    else
        take(m);
    task->has++;
    s->arrived++;
    note(s, 2, m, at);
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context, (void)m, (void)why, (void)at;
    OK(false); /* no message is lost */
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void send_to(struct scene *s, uint32_t from, uint32_t to, uint64_t len)
{
    struct leat_port_message m = {
        .from = from, .to = to, .id = s->messages++, .octets = malloc(len + 1), .len = len
    };
    if (!m.octets) abort();
    for (uint64_t i = 0; i < len; i++)
        m.octets[i] = octet_of(m.id, i);
    OK(leat_port_send(s->net, &m, s->task[from].from));
}

/* How this round is irregular, the same for all tasks; 0: it is regular. */
static uint64_t oddity(const struct program *p, uint32_t round)
{
    uint64_t state = p->seed + round;
    if (!p->odd_every || leat_random_splitmix(&state) % p->odd_every) return 0;
    return 1 + leat_random_splitmix(&state) % 4;
}

static void send_phase(struct scene *s, uint32_t me)
{
    const struct program *p = s->program;
    struct task *t = &s->task[me];
    const struct phase *f = &p->phase[t->phase];
    const uint64_t odd = oddity(p, t->round);
    uint32_t len = f->len;
    if (odd == 1) len += 4;
    if (odd == 2 && t->phase == 0) len = 70000; /* in pieces */
    if (odd == 3 && me == p->seed % p->tasks) {
        send_to(s, me, me, 100);
        t->needs++;
    }
    switch (f->kind) {
    case RING:
        send_to(s, me, (me + f->shift) % p->tasks, len);
        t->needs++;
        break;
    case PAIRS:
        if ((me ^ 1) >= p->tasks) break;
        send_to(s, me, me ^ 1, len);
        t->needs++;
        break;
    case TO_FIRST:
        if (me)
            send_to(s, me, 0, len);
        else
            t->needs += p->tasks - 1;
        break;
    case FROM_FIRST:
        for (uint32_t i = 1; !me && i < p->tasks; i++)
            send_to(s, 0, i, len);
        t->needs += me != 0;
        break;
    case PHASE_KINDS: abort();
    }
}

static bool goes_on(const struct scene *s, uint32_t me)
{
    const struct task *t = &s->task[me];
    return t->round < s->program->rounds &&
           (t->sends ? t->from <= s->net->now : t->has >= t->needs);
}

static void step(struct scene *s, uint32_t me)
{
    struct task *t = &s->task[me];
    const struct program *p = s->program;
    if (t->sends) {
        send_phase(s, me);
        t->sends = false;
        return;
    }
    if (++t->phase == p->phases) {
        t->phase = 0;
        t->round++;
    }
    const uint64_t odd = oddity(p, t->round);
    t->sends = true;
    t->from = s->net->now + (p->phase[t->phase].pause + (odd == 4 ? 777 : 0)) * (leat_time)CYCLE_PS;
}

static leat_time next_time(const struct scene *s)
{
    leat_time next = LEAT_NEVER;
    for (uint32_t i = 0; i < s->program->tasks; i++)
        if (s->task[i].round < s->program->rounds && s->task[i].sends && s->task[i].from < next)
            next = s->task[i].from;
    return next;
}

static bool is_done(const struct scene *s)
{
    for (uint32_t i = 0; i < s->program->tasks; i++)
        if (s->task[i].round < s->program->rounds) return false;
    return !s->net->in_flight;
}

/* What the links have carried up to now becomes part of the report. */
static void peek(struct scene *s)
{
    if (s->replay) {
        s->peeked += s->replay->replays;
        leat_sim_atm_replay_settle(s->replay);
    }
    for (uint32_t i = 0; i < leat_sim_atm_link_count(&s->sim->fabric.net); i++)
        s->reported = leat_sim_fnv_word(s->reported, leat_sim_atm_link_cells(s->sim, i));
}

/* Until when a run goes on, with one cut in so many. */
static leat_time cut(const struct scene *s, uint64_t *state, uint32_t one_in, leat_time until)
{
    if (!*state || leat_random_splitmix(state) % one_in) return until;
    const leat_time at = s->net->now + leat_random_splitmix(state) % (900 * CYCLE_PS);
    return at < until ? at : until;
}

static void play(struct scene *s)
{
    s->net->observer = (struct leat_port_observer){ .context = s,
                                                    .sent = on_sent,
                                                    .arrived = on_arrived,
                                                    .lost = on_lost,
                                                    .coming = s->wants_coming ? on_coming : NULL };
    while (!is_done(s)) {
        for (uint32_t i = 0; i < s->program->tasks; i++)
            while (goes_on(s, i))
                step(s, i);
        const leat_time next = next_time(s), until = cut(s, &s->cuts, 8, next),
                        peek_at = cut(s, &s->peeks, 1000, until);
        if (!is_done(s)) leat_port_run(s->net, peek_at);
        if (peek_at < until) peek(s);
    }
}

/* ---- with and without replay ----------------------------------------------------------------- */

struct outcome {
    uint64_t reported, with_cells, certificate, replayed;
    leat_time now;
    uint32_t sent, arrived, peeked;
};

static struct outcome run_program(const struct program *program,
                                  const struct leat_sim_atm_ports_config *config, bool with_replay,
                                  uint64_t cuts, uint64_t peeks)
{
    static struct leat_sim_atm_replay replay;
    static struct leat_sim_atm_ports port;
    struct scene s = { .program = program,
                       .cuts = cuts,
                       .peeks = peeks,
                       .replay = with_replay ? &replay : NULL,
                       .sim = with_replay ? &replay.port.load.sim : &port.load.sim,
                       .wants_coming = program->seed % 4 != 0 };
    const size_t len = with_replay ? leat_sim_atm_replay_footprint(config)
                                   : leat_sim_atm_ports_footprint(config);
    void *memory = calloc(1, len);
    s.coming = calloc((size_t)program->rounds * program->phases * TASKS_MAX * 2, sizeof *s.coming);
    if (!memory || !s.coming) abort();
    if (with_replay)
        leat_sim_atm_replay_init(&replay, config, memory);
    else
        leat_sim_atm_ports_init(&port, config, memory);
    s.net = with_replay ? &replay.net : &port.net;
    for (uint32_t i = 0; i < program->tasks; i++)
        s.task[i].sends = true;
    play(&s);
    const uint64_t reported = s.reported;
    peek(&s);
    free(s.coming);
    free(memory);
    return (struct outcome){ .reported = reported,
                             .with_cells = s.reported,
                             .certificate = s.net->certificate,
                             .replayed = with_replay ? replay.replayed : 0,
                             .now = s.net->now,
                             .sent = s.sent,
                             .arrived = s.arrived,
                             .peeked = s.peeked };
}

/* Only the run with replay is cut, but both are where links are read. */
static struct outcome compare(const struct program *program,
                              const struct leat_sim_atm_ports_config *config, uint64_t cuts,
                              uint64_t peeks)
{
    const struct outcome plain = run_program(program, config, false, 0, peeks);
    const struct outcome replay = run_program(program, config, true, cuts, peeks);
    EQ(replay.sent, plain.sent);
    EQ(replay.arrived, plain.arrived);
    EQ(replay.reported, plain.reported);
    EQ(replay.certificate, plain.certificate);
    if (cuts) return replay; /* `now` may be later than the last callback */
    EQ(replay.now, plain.now);
    EQ(replay.with_cells, plain.with_cells);
    return replay;
}

static void a_ring_that_goes_on_for_long_is_replayed(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = {
        .tasks = 16, .phases = 1, .rounds = 600, .phase = { { RING, 1, 300, 0 } }, .seed = 1
    };
    config.aal.obsolete_cycles = 2000;
    OK(compare(&program, &config, 0, 0).replayed > 600 * 16 / 3);
}

/* The `until` of runs does not affect the period. */
static void a_ring_is_replayed_however_its_run_is_cut(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = {
        .tasks = 16, .phases = 1, .rounds = 200, .phase = { { RING, 1, 40, 0 } }, .seed = 1
    };
    config.aal.obsolete_cycles = 2000;
    OK(compare(&program, &config, tap_seed() | 1, 0).replayed > 200 * 16 / 2);
}

static void links_count_the_cells_of_a_replay_at_any_time(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = { .tasks = 2,
                                     .phases = 2,
                                     .rounds = 5000,
                                     .phase = { { TO_FIRST, 0, 28, 0 }, { FROM_FIRST, 0, 40, 0 } },
                                     .seed = 2 };
    config.aal.obsolete_cycles = 2000;
    OK(compare(&program, &config, 0, tap_seed() | 1).peeked > 1);
}

static void a_message_there_and_back_is_replayed_at_once(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = { .tasks = 2,
                                     .phases = 2,
                                     .rounds = 1000,
                                     .phase = { { TO_FIRST, 0, 28, 0 }, { FROM_FIRST, 0, 28, 0 } },
                                     .seed = 2 };
    config.aal.obsolete_cycles = 2000;
    OK(compare(&program, &config, 0, 0).replayed > 2 * 900);
}

/* In a network of 256 ports a fingerprint costs as much as thousands of cells. Replay still
 * pays. */
static void a_large_network_is_replayed_too(void)
{
    const struct leat_sim_atm_ports_config config = config_of("clos:16,16,16");
    const struct program program = { .tasks = 2,
                                     .phases = 2,
                                     .rounds = 2000,
                                     .phase = { { TO_FIRST, 0, 1000, 0 },
                                                { FROM_FIRST, 0, 1000, 0 } },
                                     .seed = 3 };
    OK(compare(&program, &config, 0, 0).replayed > 2 * 900);
}

static uint32_t below(uint64_t *state, uint32_t end)
{
    return (uint32_t)(leat_random_splitmix(state) % end);
}

static struct program random_program(uint64_t *state, uint32_t ports)
{
    static const uint32_t len_max[] = { 5, 40, 300, 2000 };
    struct program p = { .tasks = 2 + below(state, ports - 1) };
    p.phases = 1 + below(state, 4);
    const uint32_t longest = len_max[below(state, 4)];
    for (uint32_t i = 0; i < p.phases; i++) {
        p.phase[i].kind = below(state, PHASE_KINDS);
        p.phase[i].shift = 1 + below(state, p.tasks - 1);
        p.phase[i].len = below(state, longest);
        if (!below(state, 3)) p.phase[i].pause = below(state, 3000);
    }
    p.rounds = 20 + 4000 / (p.tasks * p.phases);
    if (below(state, 3)) p.odd_every = 20 + below(state, 200);
    p.seed = leat_random_splitmix(state);
    return p;
}

/* Small buffers, messages that expire soon, and spurious retransmissions. The latter only where no
 * message is so long that it would be retransmitted for ever. */
static void vary(struct leat_sim_atm_ports_config *config, bool has_long, uint64_t *state)
{
    if (below(state, 2)) config->aal.obsolete_cycles = 500 + below(state, 5000);
    if (below(state, 4) == 0) config->aal.send_blocks = config->aal.receive_blocks = 200;
    if (below(state, 4) == 0) config->aal.descriptors = 2;
    if (below(state, 4) == 0 && !has_long)
        config->aal.retransmit_cycles = 100000 + below(state, 100000);
    config->aal.transmissions_max = UINT8_MAX;
}

static void no_observer_sees_a_difference(void)
{
    static const char *const fabrics[] = { "clos444", "clos:2,2,2", "clos:3,2,4", "bmx:8" };
    const uint32_t scenes = LEAT_ROUNDS / 50000 > 4 ? LEAT_ROUNDS / 50000 : 4;
    uint64_t state = tap_seed(), replayed = 0, programs = 0;
    for (uint32_t i = 0; i < scenes; i++) {
        struct leat_sim_atm_ports_config config = config_of(fabrics[i % 4]);
        const uint32_t ports = config.fabric.net.ports;
        const struct program p = random_program(&state, ports < TASKS_MAX ? ports : TASKS_MAX);
        vary(&config, p.odd_every > 0, &state);
        config.aal.resync = i / 2 % 2; /* which changes nothing */
        const uint64_t seed = leat_random_splitmix(&state) | 1;
        const uint64_t of_this = compare(&p, &config, i % 2 ? seed : 0, i % 2 ? 0 : seed).replayed;
        replayed += of_this;
        programs += of_this > 0;
    }
    printf("# %llu messages replayed, in %llu of %u programs\n", (unsigned long long)replayed,
           (unsigned long long)programs, scenes);
}

TAP_MAIN(T(a_ring_that_goes_on_for_long_is_replayed), T(a_ring_is_replayed_however_its_run_is_cut),
         T(links_count_the_cells_of_a_replay_at_any_time),
         T(a_message_there_and_back_is_replayed_at_once), T(a_large_network_is_replayed_too),
         T(no_observer_sees_a_difference))
