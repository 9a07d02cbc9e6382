/* leat/poets.h: graphs built in code, under every schedule; what handlers may do; errors. */
#include "tap.h"
#include <leat/poets.h>
#include <string.h>

enum { SCHEDULES = 6, NODES = 20 };

/* The i-th of them: two free ones, then each order. */
static struct leat_poets_options schedule(unsigned i, uint64_t seed)
{
    static const enum leat_poets_schedule kinds[SCHEDULES] = {
        LEAT_POETS_SCHEDULE_FREE, LEAT_POETS_SCHEDULE_FREE,   LEAT_POETS_SCHEDULE_FIFO,
        LEAT_POETS_SCHEDULE_LIFO, LEAT_POETS_SCHEDULE_RANDOM, LEAT_POETS_SCHEDULE_DELAY
    };
    return (struct leat_poets_options){
        .schedule = kinds[i], .workers = i ? 3 : 1, .delay = 0.5, .seed = seed
    };
}

/* ---- a flood: the lowest number that can be reached, over edges that add something ----------- */

struct number {
    uint32_t value;
};

struct edge {
    uint16_t adds;
};

struct edge_state {
    uint64_t received;
};

struct node {
    uint32_t least;
    uint8_t news;
    uint64_t total; /* of all that edges have carried */
};

static void node_init(struct leat_poets_device *d)
{
    const struct number *start = d->properties;
    struct node *s = d->state;
    s->least = start->value;
    s->news = 1;
}

static uint64_t node_ready(const struct leat_poets_device *d)
{
    const struct node *s = d->state;
    return s->news;
}

static void node_receive(struct leat_poets_device *d, const void *message)
{
    const struct number *m = message;
    const struct edge *e = d->edge;
    struct edge_state *es = d->edge_state;
    struct node *s = d->state;
    es->received++;
    s->total = es->received;
    if (m->value + e->adds >= s->least) return;
    s->least = m->value + e->adds;
    s->news = 1;
}

static bool node_send(struct leat_poets_device *d, void *message)
{
    struct number *m = message;
    struct node *s = d->state;
    m->value = s->least;
    s->news = 0;
    return true;
}

static const struct leat_poets_device_type node = {
    .name = "node",
    .state_len = sizeof(struct node),
    .properties_len = sizeof(struct number),
    .ready = node_ready,
    .init = node_init,
    .input = { { "in", sizeof(struct number), sizeof(struct edge), sizeof(struct edge_state),
                 node_receive } },
    .output = { { "out", sizeof(struct number), false, node_send } },
};

/* A ring with chords; node 3 begins with 5, all others with a thousand. */
static struct leat_poets_graph *flood(void)
{
    struct leat_poets_graph *g = leat_poets_graph_open("flood", NULL, 0);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct number start = { i == 3 ? 5 : 1000 };
        EQ(leat_poets_graph_device(g, &node, NULL, &start), i);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        const struct edge next = { 7 }, chord = { (uint16_t)(i + 1) };
        OK(leat_poets_graph_edge(g, (i + 1) % NODES, 0, i, 0, &next));
        OK(leat_poets_graph_edge(g, (i * 7 + 2) % NODES, 0, i, 0, &chord));
    }
    return g;
}

/* Bellman-Ford as a reference without packets. */
static void least_by_rounds(uint32_t *least)
{
    for (uint32_t i = 0; i < NODES; i++)
        least[i] = i == 3 ? 5 : 1000;
    for (int round = 0; round < NODES; round++)
        for (uint32_t i = 0; i < NODES; i++) {
            const uint32_t to[2] = { (i + 1) % NODES, (i * 7 + 2) % NODES }, adds[2] = { 7, i + 1 };
            for (int k = 0; k < 2; k++)
                if (least[i] + adds[k] < least[to[k]]) least[to[k]] = least[i] + adds[k];
        }
}

static void a_graph_comes_to_the_same_under_every_schedule(void)
{
    struct leat_poets_graph *g = flood();
    struct leat_poets_result r;
    uint32_t want[NODES];
    least_by_rounds(want);
    OK(!leat_poets_graph_state(g, 0));
    for (unsigned i = 0; i < 4 * SCHEDULES; i++) {
        const struct leat_poets_options o = schedule(i % SCHEDULES, tap_seed() + i);
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.reason, LEAT_POETS_END_IDLE);
        OK(strcmp(r.reason_name, "idle") == 0);
        EQ(r.receives, r.sends);
        OK(r.receives >= 2 * NODES && !r.lines);
        EQ(r.epochs == 0, o.schedule == LEAT_POETS_SCHEDULE_FREE);
        for (uint32_t n = 0; n < NODES; n++) {
            const struct node *s = leat_poets_graph_state(g, n);
            EQ(s->least, want[n]);
            OK(s->total >= 1);
        }
    }
    OK(!leat_poets_graph_state(g, NODES));
    leat_poets_graph_close(g);
}

static void a_schedule_and_its_seed_are_one_run(void)
{
    struct leat_poets_graph *g = flood(), *again = flood();
    for (unsigned i = 2; i < SCHEDULES; i++) {
        struct leat_poets_options o = schedule(i, tap_seed());
        struct leat_poets_result a, b;
        OK(leat_poets_graph_run(g, &o, &a));
        o.workers = 9; /* which has no effect */
        OK(leat_poets_graph_run(again, &o, &b));
        EQ(a.states, b.states);
        EQ(a.receives, b.receives);
        EQ(a.epochs, b.epochs);
    }
    leat_poets_graph_close(g);
    leat_poets_graph_close(again);
}

static void a_graph_may_grow_between_runs(void)
{
    struct leat_poets_graph *g = flood();
    struct leat_poets_result r;
    const struct number start = { 2 };
    const struct edge e = { 1 };
    OK(leat_poets_graph_run(g, NULL, &r));
    const uint32_t more = leat_poets_graph_device(g, &node, "more", &start);
    EQ(more, NODES);
    OK(leat_poets_graph_edge(g, 0, 0, more, 0, &e));
    OK(leat_poets_graph_run(g, NULL, &r));
    EQ(((const struct node *)leat_poets_graph_state(g, 0))->least, 3);
    leat_poets_graph_close(g);
}

/* ---- everything else a handler may do -------------------------------------------------------- */

struct plan { /* of the graph */
    int exits;
    bool fails, bad_index, says;
};

struct busy {
    uint32_t idles, answers, sum, sent, hardware;
    uint8_t ask;
};

struct question {
    uint32_t from, value[5]; /* two flits */
};

static void busy_init(struct leat_poets_device *d)
{
    ((struct busy *)d->state)->ask = 1;
}

static uint64_t busy_ready(const struct leat_poets_device *d)
{
    const struct busy *s = d->state;
    return (s->ask ? LEAT_POETS_READY_SUPERVISOR : 0) |
           (s->answers == 1 && s->idles < 3 ? LEAT_POETS_READY_IDLE : 0) |
           (s->idles == 3 && s->sent < 2 ? 1u << 1 : 0) | UINT64_C(1) << 40;
}

static bool busy_ask(struct leat_poets_device *d, void *message)
{
    struct question *q = message;
    EQ(q->from, 0);
    q->from = d->number;
    for (uint32_t i = 0; i < 5; i++)
        q->value[i] = d->number + i;
    ((struct busy *)d->state)->ask = 0;
    return true;
}

static void busy_answer(struct leat_poets_device *d, const void *message)
{
    struct busy *s = d->state;
    s->answers++;
    s->sum += *(const uint32_t *)message;
}

static void busy_idle(struct leat_poets_device *d)
{
    ((struct busy *)d->state)->idles++;
}

/* To the first edge, then to the third. */
static bool busy_pick(struct leat_poets_device *d, void *message)
{
    const struct plan *plan = d->graph;
    struct busy *s = d->state;
    (void)message;
    d->send_index = plan->bad_index ? 3 : 2 * s->sent;
    s->sent++;
    if (plan->fails) leat_poets_fail(d, "this cannot be");
    return true;
}

static bool never(struct leat_poets_device *d, void *message)
{
    (void)d;
    (void)message;
    return false;
}

static void busy_hardware(struct leat_poets_device *d)
{
    ((struct busy *)d->state)->hardware++;
}

static void sink_receive(struct leat_poets_device *d, const void *message)
{
    const struct plan *plan = d->graph;
    (void)message;
    ++*(uint32_t *)d->state;
    if (plan->says) leat_poets_log(d, 2, "heard %s %u", "of", d->number);
    leat_poets_log(d, 3, "not told");
    if (plan->exits) leat_poets_exit(d, plan->exits - 1);
}

static const struct leat_poets_device_type busy = {
    .name = "busy",
    .state_len = sizeof(struct busy),
    .ready = busy_ready,
    .init = busy_init,
    .device_idle = busy_idle,
    .hardware_idle = busy_hardware,
    .from_supervisor = busy_answer,
    .to_supervisor = busy_ask,
    .output = { { "unused", 8, false, never }, { "pick", 0, true, busy_pick } },
};

static const struct leat_poets_device_type sink = {
    .name = "sink", .state_len = 4, .input = { { "in", 0, .receive = sink_receive } }
};

struct asked {
    uint32_t count;
    uint8_t stop_at;
};

static void boss_init(struct leat_poets_supervising *self)
{
    ((struct asked *)self->state)->stop_at = 0;
    leat_poets_post(self, "begins");
}

static void boss_receive(struct leat_poets_supervising *self, const void *message)
{
    const struct question *q = message;
    struct asked *s = self->state;
    EQ(q->value[4], q->from + 4);
    leat_poets_reply(self, &(uint32_t){ 100 + q->from });
    if (++s->count == 2) leat_poets_broadcast(self, &(uint32_t){ 1 });
}

static const struct leat_poets_supervisor_type boss = {
    .state_len = sizeof(struct asked),
    .message_len = sizeof(struct question),
    .answer_len = 4,
    .init = boss_init,
    .receive = boss_receive,
};

/* Devices 0 and 1 are busy; both have edges to the sinks 2, 3 and 4. */
static struct leat_poets_graph *office(const struct plan *plan,
                                       const struct leat_poets_supervisor_type *supervisor)
{
    struct leat_poets_graph *g = leat_poets_graph_open("office", plan, sizeof *plan);
    for (uint32_t i = 0; i < 5; i++)
        leat_poets_graph_device(g, i < 2 ? &busy : &sink, NULL, NULL);
    for (uint32_t from = 0; from < 2; from++)
        for (uint32_t to = 2; to < 5; to++)
            OK(leat_poets_graph_edge(g, to, 0, from, 1, NULL));
    OK(leat_poets_graph_supervisor(g, supervisor));
    return g;
}

struct received {
    uint32_t lines, of_supervisor, of_sinks;
    char last[64];
};

static void on_line(void *context, uint32_t device, const char *text)
{
    struct received *h = context;
    h->lines++;
    h->of_supervisor += device == LEAT_POETS_NONE;
    h->of_sinks += device >= 2 && device < 5;
    snprintf(h->last, sizeof h->last, "%s", text);
}

static void replies_broadcasts_indexed_sends_and_idling(void)
{
    static const struct plan plan = { .says = true };
    for (unsigned i = 0; i < SCHEDULES; i++) {
        struct received received = { 0 };
        struct leat_poets_graph *g = office(&plan, &boss);
        struct leat_poets_options o = schedule(i, tap_seed());
        struct leat_poets_result r;
        o.line = on_line;
        o.context = &received;
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.reason, LEAT_POETS_END_IDLE);
        EQ(r.supervisor_messages, 2);
        for (uint32_t d = 0; d < 2; d++) {
            const struct busy *s = leat_poets_graph_state(g, d);
            EQ(s->answers, 2);
            EQ(s->sum, 101 + d);
            EQ(s->sent, s->idles == 3 ? 2 : 0);
            OK(s->idles <= 3 && s->hardware >= 10);
        }
        EQ(*(const uint32_t *)leat_poets_graph_state(g, 3), 0); /* edge 1 of both */
        EQ(received.of_supervisor, 1);
        EQ(received.of_sinks, received.lines - 1);
        EQ(r.lines, received.lines);
        leat_poets_graph_close(g);
    }
}

static void a_run_ends_as_its_devices_want(void)
{
    static const struct {
        struct plan plan;
        enum leat_poets_reason reason;
        const char *last;
    } cases[] = {
        { { .exits = 1 }, LEAT_POETS_END_SUCCESS, "begins" },
        { { .exits = 4 }, LEAT_POETS_END_FAILED, "begins" },
        { { .fails = true }, LEAT_POETS_END_ASSERTION, "this cannot be" },
        { { .bad_index = true }, LEAT_POETS_END_ASSERTION, "sendIndex is out of range" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (unsigned i = 0; i < SCHEDULES; i++) {
            struct received received = { 0 };
            struct leat_poets_options o = schedule(i, tap_seed());
            struct leat_poets_result r;
            struct leat_poets_graph *g = leat_poets_graph_open("one", &cases[k].plan,
                                                               sizeof cases[k].plan);
            leat_poets_graph_device(g, &busy, "a", NULL);
            for (uint32_t to = 1; to < 4; to++) {
                leat_poets_graph_device(g, &sink, NULL, NULL);
                leat_poets_graph_edge(g, to, 0, 0, 1, NULL);
            }
            leat_poets_graph_supervisor(g, &boss);
            o.line = on_line;
            o.context = &received;
            OK(leat_poets_graph_run(g, &o, &r));
            EQ(r.reason, cases[k].reason);
            OK(strcmp(received.last, cases[k].last) == 0);
            leat_poets_graph_close(g);
        }
}

static void count_and_stop(struct leat_poets_supervising *self, const void *message)
{
    struct asked *s = self->state;
    (void)message;
    if (++s->count == 2) leat_poets_stop(self);
}

static void say_count(struct leat_poets_supervising *self)
{
    leat_poets_post(self, "%u questions", ((struct asked *)self->state)->count);
}

static void the_supervisor_stops_a_run_and_has_the_last_word(void)
{
    static const struct leat_poets_supervisor_type brief = { .state_len = sizeof(struct asked),
                                                             .message_len = sizeof(struct question),
                                                             .receive = count_and_stop,
                                                             .stop = say_count };
    static const struct plan plan = { 0 };
    for (unsigned i = 0; i < SCHEDULES; i++) {
        struct received received = { 0 };
        struct leat_poets_graph *g = office(&plan, &brief);
        struct leat_poets_options o = schedule(i, tap_seed());
        struct leat_poets_result r;
        o.line = on_line;
        o.context = &received;
        o.until_stop = true;
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.reason, LEAT_POETS_END_STOPPED);
        OK(strcmp(received.last, "2 questions") == 0);
        leat_poets_graph_close(g);
    }
}

/* A pin that is wanted once, with a condition that its twin clears. */
static uint64_t both_ready(const struct leat_poets_device *d)
{
    return *(const uint8_t *)d->state ? 3 : 0;
}

static void both_init(struct leat_poets_device *d)
{
    *(uint8_t *)d->state = 1;
}

static bool both_send(struct leat_poets_device *d, void *message)
{
    (void)message;
    *(uint8_t *)d->state = 0;
    return true;
}

static void latched_outputs_send_and_levels_drop(void)
{
    static const struct leat_poets_device_type both = {
        .name = "both",
        .state_len = 1,
        .ready = both_ready,
        .init = both_init,
        .output = { { "a", 0, false, both_send }, { "b", 0, false, both_send } },
    };
    static const struct plan plan = { 0 };
    for (int latched = 0; latched < 2; latched++) {
        struct leat_poets_graph *g = leat_poets_graph_open("twins", &plan, sizeof plan);
        const struct leat_poets_options o = { .schedule = LEAT_POETS_SCHEDULE_FIFO,
                                              .latched = latched };
        struct leat_poets_result r;
        leat_poets_graph_device(g, &both, NULL, NULL);
        leat_poets_graph_device(g, &sink, NULL, NULL);
        leat_poets_graph_edge(g, 1, 0, 0, 0, NULL);
        leat_poets_graph_edge(g, 1, 0, 0, 1, NULL);
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(*(const uint32_t *)leat_poets_graph_state(g, 1), latched ? 2 : 1);
        leat_poets_graph_close(g);
    }
}

/* ---- one token, many workers ----------------------------------------------------------------- */

enum { TOKEN_STATIONS = 16, TOKEN_STEPS = 400, TOKEN_RUNS = 60 };

struct holder {
    uint32_t steps;
    bool has;
};

static void holder_init(struct leat_poets_device *d)
{
    ((struct holder *)d->state)->has = d->number == 0;
}

static uint64_t holder_ready(const struct leat_poets_device *d)
{
    return ((const struct holder *)d->state)->has ? 1 | LEAT_POETS_READY_SUPERVISOR : 0;
}

static void holder_receive(struct leat_poets_device *d, const void *message)
{
    *(struct holder *)d->state = (struct holder){ *(const uint32_t *)message + 1, true };
}

static bool holder_send(struct leat_poets_device *d, void *message)
{
    struct holder *s = d->state;
    s->has = false;
    *(uint32_t *)message = s->steps;
    return s->steps < TOKEN_STEPS;
}

static bool holder_report(struct leat_poets_device *d, void *message)
{
    (void)message;
    ((struct holder *)d->state)->has = false;
    return true;
}

static void ignore_message(struct leat_poets_supervising *self, const void *message)
{
    (void)message;
    ++*(uint32_t *)self->state;
}

/* Almost all are idle almost always, and the active one may lose the processor at any time. */
static void idleness_is_not_found_while_a_token_is_on_its_way(void)
{
    static const struct leat_poets_device_type holder = {
        .name = "holder",
        .state_len = sizeof(struct holder),
        .ready = holder_ready,
        .init = holder_init,
        .to_supervisor = holder_report,
        .input = { { "in", 4, .receive = holder_receive } },
        .output = { { "out", 4, false, holder_send } },
    };
    static const struct leat_poets_supervisor_type ear = { .state_len = 4,
                                                           .receive = ignore_message };
    struct leat_poets_graph *g = leat_poets_graph_open("token", NULL, 0);
    leat_poets_graph_supervisor(g, &ear);
    for (uint32_t i = 0; i < TOKEN_STATIONS; i++)
        leat_poets_graph_device(g, &holder, NULL, NULL);
    for (uint32_t i = 0; i < TOKEN_STATIONS; i++)
        leat_poets_graph_edge(g, (i + 1) % TOKEN_STATIONS, 0, i, 0, NULL);
    for (int run = 0; run < TOKEN_RUNS; run++) {
        const struct leat_poets_options o = { .workers = 8, .latched = true };
        struct leat_poets_result r;
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.receives, TOKEN_STEPS);
        EQ(r.supervisor_messages, TOKEN_STEPS + 1);
    }
    leat_poets_graph_close(g);
}

/* It sends to itself for ever. */
static uint64_t always(const struct leat_poets_device *d)
{
    (void)d;
    return 1;
}

static void a_storm_ends_at_its_limit(void)
{
    static const struct leat_poets_device_type storm = {
        .name = "storm",
        .state_len = 4,
        .ready = always,
        .input = { { "in", 0, .receive = sink_receive } },
        .output = { { "out", 0, false, both_send } },
    };
    static const struct plan plan = { 0 };
    for (unsigned i = 0; i < SCHEDULES; i++) {
        struct leat_poets_graph *g = leat_poets_graph_open("storm", &plan, sizeof plan);
        struct leat_poets_options o = schedule(i, tap_seed());
        struct leat_poets_result r;
        o.seconds_max = 0.01;
        leat_poets_graph_device(g, &storm, NULL, NULL);
        leat_poets_graph_edge(g, 0, 0, 0, 0, NULL);
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.reason, LEAT_POETS_END_LIMIT);
        leat_poets_graph_close(g);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void refused(struct leat_poets_graph *g, const char *why)
{
    struct leat_poets_result r;
    OK(!leat_poets_graph_run(g, NULL, &r));
    OK(strstr(leat_poets_graph_why(g), why));
    if (!strstr(leat_poets_graph_why(g), why)) printf("# %s\n", leat_poets_graph_why(g));
    EQ(leat_poets_graph_device(g, &node, NULL, NULL), LEAT_POETS_NONE);
    OK(!leat_poets_graph_edge(g, 0, 0, 0, 0, NULL));
    OK(!leat_poets_graph_supervisor(g, &boss));
    OK(strstr(leat_poets_graph_why(g), why)); /* the first error stays */
    leat_poets_graph_close(g);
}

static struct leat_poets_graph *with_type(const struct leat_poets_device_type *type)
{
    struct leat_poets_graph *g = leat_poets_graph_open("g", NULL, 0);
    EQ(leat_poets_graph_device(g, type, "a", NULL), LEAT_POETS_NONE);
    return g;
}

static void mistakes_in_types_are_named(void)
{
    struct leat_poets_device_type t = node;
    refused(with_type(NULL), "a device type without a name");
    t.name = "";
    refused(with_type(&t), "a device type without a name");
    t = node;
    t.input[0].message_len = 57;
    refused(with_type(&t), "node: the message of pin in has 57 octets, expected at most 56");
    t = node;
    t.output[0].send = NULL;
    refused(with_type(&t), "node: pin out has no handler");
    t = node;
    t.input[0].receive = NULL;
    refused(with_type(&t), "node: pin in has no handler");
    t = node;
    t.ready = NULL;
    refused(with_type(&t), "node has outputs, expected `ready`");
    t = node;
    t.state_len = LEAT_POETS_STRUCT_MAX + 1;
    refused(with_type(&t), "state or properties");
    t = node;
    t.input[0].edge_state_len = LEAT_POETS_STRUCT_MAX + 1;
    refused(with_type(&t), "edges of in");
}

static void mistakes_in_graphs_are_named(void)
{
    struct leat_poets_graph *g = flood();
    EQ(leat_poets_graph_device(g, &node, "node_3", NULL), LEAT_POETS_NONE);
    refused(g, "a second device 'node_3', expected another name");
    OK(!leat_poets_graph_edge(g = flood(), NODES, 0, 0, 0, NULL));
    refused(g, "edge 40: from device 0 to 20, expected 0 to 19");
    OK(!leat_poets_graph_edge(g = flood(), 1, 1, 0, 0, NULL));
    refused(g, "edge 40: input 1 of device node_1, expected below 1 (node)");
    OK(!leat_poets_graph_edge(g = flood(), 1, 0, 2, 7, NULL));
    refused(g, "edge 40: output 7 of device node_2, expected below 1 (node)");
    const uint32_t other = leat_poets_graph_device(g = flood(), &sink, NULL, NULL);
    OK(!leat_poets_graph_edge(g, other, 0, 0, 0, NULL));
    refused(g, "edge 40: sink.in carries 0 octets and node.out 4, expected the same message");
    struct leat_poets_supervisor_type loud = { .answer_len = 60 };
    OK(!leat_poets_graph_supervisor(g = flood(), &loud));
    refused(g, "messages of the supervisor have 0 and 60 octets, expected at most 56");
    leat_poets_graph_device(g = flood(), &busy, NULL, NULL);
    refused(g, "device type busy speaks to a supervisor, expected one that receives");
    refused(leat_poets_graph_open("g", "", (size_t)LEAT_POETS_STRUCT_MAX + 1), "properties of the");
    refused(NULL, "no memory");
    leat_poets_graph_close(NULL);
}

static void options_that_cannot_be_are_refused_and_the_graph_stays(void)
{
    static const struct {
        struct leat_poets_options options;
        const char *why;
    } cases[] = {
        { { .schedule = (enum leat_poets_schedule)9 }, "schedule 9, expected" },
        { { .delay = 1 }, "delay 1, expected 0 to 0.99" },
        { { .workers = 257 }, "workers 257, expected at most 256" },
        { { .seconds_max = -1 }, "seconds_max -1, expected 0 or more" },
    };
    struct leat_poets_graph *g = flood();
    struct leat_poets_result r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OK(!leat_poets_graph_run(g, &cases[i].options, &r));
        OK(strstr(leat_poets_graph_why(g), cases[i].why));
    }
    OK(leat_poets_graph_run(g, NULL, &r));
    OK(leat_poets_graph_why(g)[0] == '\0');
    leat_poets_graph_close(g);
}

/* ---- opcodes of the application -------------------------------------------------------------- */

enum { ASKED = 30 };

static void told(struct leat_poets_device *d, uint8_t opcode, const void *payload)
{
    const uint32_t *value = payload;
    const struct number mine = { *value * (d->number + 1) };
    struct number *s = d->state;
    s->value += opcode;
    OK(!leat_poets_control(d, 0, &mine, sizeof mine));
    OK(!leat_poets_control(d, 0xf0, &mine, sizeof mine));
    OK(!leat_poets_control(d, 1, &mine, LEAT_POETS_MESSAGE_MAX + 1));
    OK(leat_poets_control(d, (uint8_t)(d->number + 1), &mine, sizeof mine));
}

static void tell_all(struct leat_poets_supervising *self)
{
    const uint32_t value = 5;
    OK(!leat_poets_control_device(self, ASKED, 1, NULL, 0));
    OK(!leat_poets_control_device(self, 0, 0xf0, NULL, 0));
    OK(leat_poets_control_device(self, LEAT_POETS_NONE, 0xef, &value, sizeof value));
    OK(leat_poets_control_device(self, 2, 0x10, &value, sizeof value));
}

/* Sum and count of what has come back. */
static void tally(struct leat_poets_supervising *self, uint8_t opcode, const void *payload)
{
    const struct number *m = payload;
    uint32_t *s = self->state;
    s[0] += m->value;
    if (m->value != 5U * opcode) leat_poets_post(self, "opcode %u: %u", opcode, m->value);
    if (++s[1] < ASKED + 1) return;
    leat_poets_post(self, "%u", s[0]);
    leat_poets_stop(self);
}

static void keep_line(void *context, uint32_t device, const char *text)
{
    (void)device;
    snprintf(context, 80, "%s", text);
}

static void opcodes_go_to_devices_and_come_back(void)
{
    static const struct leat_poets_device_type ear = { .name = "ear",
                                                       .state_len = sizeof(struct number),
                                                       .control = told };
    static const struct leat_poets_supervisor_type mouth = { .state_len = 8,
                                                             .init = tell_all,
                                                             .control = tally };
    char line[80] = "", want[80];
    struct leat_poets_graph *g = leat_poets_graph_open("opcodes", NULL, 0);
    leat_poets_graph_supervisor(g, &mouth);
    for (int i = 0; i < ASKED; i++)
        leat_poets_graph_device(g, &ear, NULL, NULL);
    snprintf(want, sizeof want, "%d", 5 * ASKED * (ASKED + 1) / 2 + 5 * 3);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        struct leat_poets_options o = schedule(i, 7);
        struct leat_poets_result r;
        o.line = keep_line;
        o.context = line;
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.reason, LEAT_POETS_END_STOPPED);
        EQ(strcmp(line, want), 0);
        for (uint32_t d = 0; d < ASKED; d++) {
            const struct number *s = leat_poets_graph_state(g, d);
            EQ(s->value, d == 2 ? 0xef + 0x10 : 0xef);
        }
    }
    leat_poets_graph_close(g);
}

static void a_graph_without_devices_is_idle(void)
{
    struct leat_poets_graph *g = leat_poets_graph_open(NULL, NULL, 0);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        const struct leat_poets_options o = schedule(i, 1);
        struct leat_poets_result r;
        OK(leat_poets_graph_run(g, &o, &r));
        EQ(r.reason, LEAT_POETS_END_IDLE);
        EQ(r.receives, 0);
    }
    leat_poets_graph_close(g);
}

TAP_MAIN(T(a_graph_comes_to_the_same_under_every_schedule), T(a_schedule_and_its_seed_are_one_run),
         T(a_graph_may_grow_between_runs), T(replies_broadcasts_indexed_sends_and_idling),
         T(a_run_ends_as_its_devices_want), T(the_supervisor_stops_a_run_and_has_the_last_word),
         T(latched_outputs_send_and_levels_drop),
         T(idleness_is_not_found_while_a_token_is_on_its_way), T(a_storm_ends_at_its_limit),
         T(mistakes_in_types_are_named), T(mistakes_in_graphs_are_named),
         T(options_that_cannot_be_are_refused_and_the_graph_stays),
         T(opcodes_go_to_devices_and_come_back), T(a_graph_without_devices_is_idle))
