/*
 * Programs that mostly repeat themselves run over the ports of a network with and without replay
 * (sim_replay.h). All results must be equal.
 */
#ifndef LEAT_SIM_REPLAY_SCENE_TEST_H
#define LEAT_SIM_REPLAY_SCENE_TEST_H

#include "sim_replay.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { SCENE_TASKS_MAX = 16, PHASES_MAX = 4, SCENE_MESSAGES_MAX = 1 << 17 };

/* A phase: who sends how much to whom. Each task then waits for its own messages. */
struct phase {
    enum { RING, PAIRS, TO_FIRST, FROM_FIRST, PHASE_KINDS } kind;
    uint32_t shift, len, pause; /* pause: cycles before it sends */
};

struct program {
    uint32_t tasks, phases, rounds;
    uint32_t ports; /* that they share; 0: each has its own */
    struct phase phase[PHASES_MAX];
    uint32_t longest;   /* of irregular messages */
    uint32_t odd_every; /* mean number of rounds between irregular ones; 0: none */
    uint64_t seed;
};

/* A network to run it over. */
struct scene_kind {
    /* Opens it, with or without replay; *replay: NULL. */
    struct leat_port_net *(*open)(const void *config, bool with_replay,
                                  struct leat_sim_replay **replay);
    void (*close)(bool with_replay);
    /* Its counters, from 0 on; false past the last. */
    bool (*count)(uint32_t i, bool with_replay, uint64_t *out);
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
    struct task task[SCENE_TASKS_MAX];
    uint32_t messages;  /* so far */
    leat_time *coming;  /* by id: the reported time; 0: none */
    uint32_t *receiver; /* by id: a task */
    uint64_t reported;  /* a hash of all callbacks */
    uint64_t cuts;      /* random state: where runs are cut into pieces */
    uint64_t peeks;     /* random state: where they are cut to read the network's counters */
    uint32_t peeked;    /* how often that was in a replay */
    struct leat_sim_replay *replay; /* NULL: without */
    const struct scene_kind *kind;
    leat_time cycle_ps;
    bool wants_coming;
    uint32_t sent, arrived;
};

/* ---- octets ---------------------------------------------------------------------------------- */

static inline uint8_t octet_of(uint64_t id, uint64_t i)
{
    return (uint8_t)(id * 31 + i * 7 + id / 256);
}

static inline bool is_sound(const struct leat_port_message *m)
{
    for (uint64_t i = 0; i < m->len; i++)
        if (m->octets[i] != octet_of(m->id, i)) return false;
    return true;
}

static inline void note(struct scene *s, uint64_t kind, const struct leat_port_message *m,
                        leat_time at)
{
    const uint64_t words[] = { kind, m->from, m->to, m->id, m->len, at };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        s->reported = leat_sim_fnv_word(s->reported, words[i]);
}

static inline void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    struct scene *s = context;
    s->sent++;
    note(s, 1, m, at);
}

/* The octets are no longer borrowed: free them. */
static inline void take(const struct leat_port_message *m)
{
    OK(is_sound(m));
    memset(m->octets, 0xee, m->len);
    free(m->octets);
}

static inline void on_coming(void *context, const struct leat_port_message *m, leat_time at)
{
    struct scene *s = context;
    EQ(s->coming[m->id], 0);
    s->coming[m->id] = at;
    take(m);
}

static inline void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct scene *s = context;
    struct task *task = &s->task[s->receiver[m->id]];
    if (s->coming[m->id])
        EQ(s->coming[m->id], at);
    else
        take(m);
    task->has++;
    s->arrived++;
    note(s, 2, m, at);
}

static inline void on_lost(void *context, const struct leat_port_message *m, const char *why,
                           leat_time at)
{
    (void)context, (void)m, (void)why, (void)at;
    OK(false); /* no message is lost */
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static inline uint32_t port_of(const struct scene *s, uint32_t task)
{
    return s->program->ports ? task % s->program->ports : task;
}

static inline void send_to(struct scene *s, uint32_t from, uint32_t to, uint64_t len)
{
    struct leat_port_message m = {
        .from = port_of(s, from),
        .to = port_of(s, to),
        .id = s->messages++,
        .octets = malloc(len + 1),
        .len = len,
    };
    if (!m.octets) abort();
    for (uint64_t i = 0; i < len; i++)
        m.octets[i] = octet_of(m.id, i);
    s->receiver[m.id] = to;
    OK(leat_port_send(s->net, &m, s->task[from].from));
}

/* How this round is irregular, the same for all tasks; 0: it is regular. */
static inline uint64_t oddity(const struct program *p, uint32_t round)
{
    uint64_t state = p->seed + round;
    if (!p->odd_every || leat_random_splitmix(&state) % p->odd_every) return 0;
    return 1 + leat_random_splitmix(&state) % 4;
}

static inline void send_phase(struct scene *s, uint32_t me)
{
    const struct program *p = s->program;
    struct task *t = &s->task[me];
    const struct phase *f = &p->phase[t->phase];
    const uint64_t odd = oddity(p, t->round);
    uint32_t len = f->len;
    if (odd == 1) len += 4;
    if (odd == 2 && t->phase == 0) len = p->longest;
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

static inline bool goes_on(const struct scene *s, uint32_t me)
{
    const struct task *t = &s->task[me];
    return t->round < s->program->rounds &&
           (t->sends ? t->from <= s->net->now : t->has >= t->needs);
}

static inline void step(struct scene *s, uint32_t me)
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
    t->from = s->net->now + (p->phase[t->phase].pause + (odd == 4 ? 777 : 0)) * s->cycle_ps;
}

static inline leat_time next_time(const struct scene *s)
{
    leat_time next = LEAT_NEVER;
    for (uint32_t i = 0; i < s->program->tasks; i++)
        if (s->task[i].round < s->program->rounds && s->task[i].sends && s->task[i].from < next)
            next = s->task[i].from;
    return next;
}

static inline bool is_done(const struct scene *s)
{
    for (uint32_t i = 0; i < s->program->tasks; i++)
        if (s->task[i].round < s->program->rounds) return false;
    return !s->net->in_flight;
}

/* What the network has counted up to now becomes part of the report. */
static inline void peek(struct scene *s)
{
    if (s->replay) {
        s->peeked += s->replay->replays;
        leat_sim_replay_settle(s->replay);
    }
    uint64_t count;
    for (uint32_t i = 0; s->kind->count(i, s->replay != NULL, &count); i++)
        s->reported = leat_sim_fnv_word(s->reported, count);
}

/* Until when a run goes on, with one cut in so many. */
static inline leat_time cut(const struct scene *s, uint64_t *state, uint32_t one_in,
                            leat_time until)
{
    if (!*state || leat_random_splitmix(state) % one_in) return until;
    const leat_time at = s->net->now + leat_random_splitmix(state) % (900 * s->cycle_ps);
    return at < until ? at : until;
}

static inline void play(struct scene *s)
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
    uint64_t reported, with_counts, certificate, replayed;
    leat_time now;
    uint32_t sent, arrived, peeked;
};

/* Where the runs are cut, and where counters are read; 0: nowhere. */
struct scene_chance {
    uint64_t cuts, peeks;
};

static inline struct outcome run_program(const struct scene_kind *kind, const void *config,
                                         const struct program *program, leat_time cycle_ps,
                                         bool with_replay, struct scene_chance chance)
{
    struct scene s = { .program = program,
                       .kind = kind,
                       .cycle_ps = cycle_ps,
                       .cuts = chance.cuts,
                       .peeks = chance.peeks,
                       .wants_coming = program->seed % 4 != 0 };
    s.coming = calloc((size_t)program->rounds * program->phases * SCENE_TASKS_MAX * 2,
                      sizeof *s.coming);
    s.receiver = calloc((size_t)program->rounds * program->phases * SCENE_TASKS_MAX * 2,
                        sizeof *s.receiver);
    s.net = kind->open(config, with_replay, &s.replay);
    if (!s.coming || !s.receiver || !s.net) abort();
    for (uint32_t i = 0; i < program->tasks; i++)
        s.task[i].sends = true;
    play(&s);
    const uint64_t reported = s.reported;
    peek(&s);
    const struct outcome out = { .reported = reported,
                                 .with_counts = s.reported,
                                 .certificate = s.net->certificate,
                                 .replayed = with_replay ? s.replay->replayed : 0,
                                 .now = s.net->now,
                                 .sent = s.sent,
                                 .arrived = s.arrived,
                                 .peeked = s.peeked };
    free(s.coming);
    free(s.receiver);
    kind->close(with_replay);
    return out;
}

/* Only the run with replay is cut, but both are where counters are read. */
static inline struct outcome compare(const struct scene_kind *kind, const void *config,
                                     const struct program *program, leat_time cycle_ps,
                                     struct scene_chance chance)
{
    const struct scene_chance only_peeks = { .peeks = chance.peeks };
    const struct outcome plain = run_program(kind, config, program, cycle_ps, false, only_peeks);
    const struct outcome replay = run_program(kind, config, program, cycle_ps, true, chance);
    EQ(replay.sent, plain.sent);
    EQ(replay.arrived, plain.arrived);
    EQ(replay.reported, plain.reported);
    EQ(replay.certificate, plain.certificate);
    if (chance.cuts) return replay; /* `now` may be later than the last callback */
    EQ(replay.now, plain.now);
    EQ(replay.with_counts, plain.with_counts);
    return replay;
}

/* ---- chance ---------------------------------------------------------------------------------- */

static inline uint32_t below(uint64_t *state, uint32_t end)
{
    return (uint32_t)(leat_random_splitmix(state) % end);
}

static inline struct program random_program(uint64_t *state, uint32_t ports)
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
    p.longest = 70000;
    p.seed = leat_random_splitmix(state);
    return p;
}

#endif
