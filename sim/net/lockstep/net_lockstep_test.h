/* Random networks under load, run by the engine of net_vc.c or otherwise, and compared. */
#ifndef LEAT_NET_LOCKSTEP_TEST_H
#define LEAT_NET_LOCKSTEP_TEST_H

#include "net_crowd_test.h"
#include "net_lockstep.h"
#include "net_result_test.h"
#include "net_topology_parts.h"

enum { TRACE_LEN = 200, JOB_FAULTS = 6, GRAPH_ROUTERS = 8, GRAPH_EDGES = 12, WAITING_CAP = 64 };

/* A run, and what came of it. */
struct job {
    struct leat_net_shape shape;
    enum leat_net_route_rule rule;
    struct leat_net_config switches;
    struct leat_net_load_config load;
    uint64_t cycles;
    struct leat_net_trace_entry trace[TRACE_LEN]; /* where the traffic is one */
    struct leat_net_fault fault[JOB_FAULTS];      /* places are any numbers */
    uint32_t faults;
    struct leat_net_edge edge[GRAPH_EDGES]; /* where the shape is a graph */
    bool watched;                           /* its packets may wait for each other */
};

struct outcome {
    struct leat_net_load_result load;
    struct leat_net_counts counts;
    uint64_t flits_over_wires;
    enum leat_net_steady_verdict verdict;
    bool alive; /* not dead */
    struct leat_net_waiting waiting[WAITING_CAP];
    uint32_t stuck;
};

struct bench {
    struct world w;
    struct leat_net_shape shape;
    struct leat_net_load load;
    struct leat_net_trace_entry trace[TRACE_LEN];
    struct leat_net_faults faults;
    void *memory;
};

/* In order of time. */
static inline void random_trace(struct leat_random *r, struct leat_net_trace_entry *trace,
                                uint32_t flits_max)
{
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < TRACE_LEN; i++) {
        cycle += leat_random_below(r, 4);
        trace[i] = (struct leat_net_trace_entry){ .cycle = cycle };
        trace[i].source = (uint32_t)leat_random_next(r);
        trace[i].destination = (uint32_t)leat_random_next(r);
        trace[i].flits = (uint32_t)leat_random_below(r, flits_max + 1);
    }
}

/* Terminals are those of the network. */
static inline void fit_trace(struct leat_net_trace_entry *trace, uint32_t terminals)
{
    for (uint32_t i = 0; i < TRACE_LEN; i++) {
        trace[i].source %= terminals;
        trace[i].destination %= terminals;
    }
}

static inline struct leat_net_fault random_fault(struct leat_random *r, uint64_t cycles)
{
    struct leat_net_fault f = { .to = LEAT_NEVER };
    f.kind = (enum leat_net_fault_kind)leat_random_below(r, LEAT_NET_FAULT_KINDS);
    f.a = (uint32_t)leat_random_next(r);
    f.b = (uint32_t)leat_random_below(r, 2);
    f.one_way = leat_random_below(r, 2);
    if (leat_random_below(r, 4)) f.from = leat_random_below(r, cycles);
    if (leat_random_below(r, 3)) f.to = f.from + 1 + leat_random_below(r, cycles);
    f.up = one_to(r, 200);
    f.down = one_to(r, 50);
    f.bit_errors = leat_random_next(r);
    f.bit_errors >>= 8 + leat_random_below(r, 8);
    return f;
}

/* A wire between two routers, from this output port on; a port, if there is none. */
static inline void fit_wire(struct leat_net_fault *f, const struct leat_net_topology *t)
{
    const uint32_t first = f->a % t->outs;
    uint32_t out = first;
    do
        out = (out + 1) % t->outs;
    while (leat_net_behind(t, out) == LEAT_NET_NONE && out != first);
    f->a = t->out_router[out];
    f->b = leat_net_behind(t, out);
    if (f->b != LEAT_NET_NONE) return;
    f->kind = LEAT_NET_FAULT_PORT;
    f->a = 0;
}

/* Places are those of the network. */
static inline void fit_faults(const struct job *job, const struct leat_net_topology *t,
                              struct leat_net_faults *faults)
{
    leat_net_faults_init(faults);
    for (uint32_t i = 0; i < job->faults; i++) {
        struct leat_net_fault *f = &faults->fault[faults->count++];
        struct leat_text why = LEAT_TEXT(256);
        *f = job->fault[i];
        if (f->kind == LEAT_NET_FAULT_ROUTER)
            f->a %= t->routers;
        else if (f->kind == LEAT_NET_FAULT_PORT)
            f->a %= t->terminals;
        else if (f->kind == LEAT_NET_FAULT_BER && f->b)
            f->a = f->b = LEAT_NET_NONE;
        else
            fit_wire(f, t);
        OK(!leat_net_fault_check(f, t, faults->flit_bits, &why));
    }
}

static inline bool begin(struct bench *b, const struct job *job)
{
    struct leat_net_load_config config = job->load;
    struct leat_net_host host;
    b->shape = job->shape;
    if (b->shape.kind == LEAT_NET_GRAPH) b->shape.edge = job->edge;
    if (!world_build(&b->w, &b->shape, job->rule, job->switches.channels)) return false;
    config.traffic.terminals = b->w.topology.terminals;
    config.traffic.shape = &b->shape;
    if (config.traffic.pattern == LEAT_NET_TRACE) {
        memcpy(b->trace, job->trace, sizeof b->trace);
        fit_trace(b->trace, config.traffic.terminals);
        config.traffic.trace = b->trace;
        config.traffic.trace_count = TRACE_LEN;
    }
    config.topology = &b->w.topology;
    fit_faults(job, &b->w.topology, &b->faults);
    if (b->faults.count) config.faults = &b->faults;
    char line[256];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_net_traffic_check(&config.traffic, &why) ||
        leat_net_check(&b->w.topology, &job->switches, &why)) {
        world_end(&b->w);
        return false;
    }
    b->memory = world_memory(leat_net_load_footprint(&config));
    leat_net_load_init(&b->load, &config, b->memory);
    leat_net_load_host(&b->load, &host);
    world_begin(&b->w, &job->switches, &host);
    leat_net_load_attach(&b->load, &b->w.net);
    return true;
}

static inline void end(struct bench *b, struct outcome *out)
{
    leat_net_load_result(&b->load, &out->load);
    out->counts = b->w.net.counts;
    out->verdict = b->load.verdict;
    out->flits_over_wires = 0;
    for (uint32_t o = 0; o < b->w.topology.outs; o++)
        out->flits_over_wires += leat_net_out_flits(&b->w.net, o) * (o + 1);
    free(b->memory);
    world_end(&b->w);
}

static inline bool run(const struct job *job, struct outcome *out)
{
    struct bench b;
    if (!begin(&b, job)) return false;
    out->alive = leat_net_load_run(&b.load, job->cycles);
    out->stuck = leat_net_stuck(&b.w.net, out->waiting, WAITING_CAP);
    end(&b, out);
    return true;
}

static inline void compare(const struct outcome *a, const struct outcome *b)
{
    result_is(&a->load, &b->load);
    EQ(a->counts.flit_hops, b->counts.flit_hops);
    EQ(a->counts.packets_begun, b->counts.packets_begun);
    EQ(a->counts.flits_begun, b->counts.flits_begun);
    EQ(a->counts.flits_delivered, b->counts.flits_delivered);
    EQ(a->counts.waits, b->counts.waits);
    EQ(a->counts.packets_rerouted, b->counts.packets_rerouted);
    for (int fate = 0; fate < LEAT_NET_FATES; fate++)
        EQ(a->counts.packets_ended[fate], b->counts.packets_ended[fate]);
    EQ(a->flits_over_wires, b->flits_over_wires);
    EQ(a->verdict, b->verdict);
}

/* The same buffers wait for each other. */
static inline void compare_stuck(const struct outcome *a, const struct outcome *b)
{
    EQ(a->stuck, b->stuck);
    OK(a->stuck <= WAITING_CAP);
    OK(memcmp(a->waiting, b->waiting, a->stuck * sizeof *a->waiting) == 0);
}

/* Both ran for as long as the one in lockstep. If that is dead, it is left to the engine, which
 * knows since when; or does not tell it yet, if the last movement was a few cycles ago. */
static inline bool is_left_to_the_engine(const struct outcome *engine,
                                         const struct outcome *lockstep)
{
    OK(engine->alive || !lockstep->alive);
    OK(engine->stuck || lockstep->alive);
    return !lockstep->alive;
}

/* A circle, and some wires across: by tables, which no one has checked for deadlock. */
static inline void random_graph(struct leat_random *r, struct job *job)
{
    struct leat_net_shape *s = &job->shape;
    *s = (struct leat_net_shape){ .kind = LEAT_NET_GRAPH };
    s->routers = 2 + one_to(r, GRAPH_ROUTERS - 2);
    s->terminals = one_to(r, 2);
    s->wire_cycles = one_to(r, 4);
    s->edges = s->routers + (uint32_t)leat_random_below(r, GRAPH_EDGES - GRAPH_ROUTERS + 1);
    for (uint32_t i = 0; i < s->edges; i++) {
        struct leat_net_edge *e = &job->edge[i];
        e->a = i < s->routers ? i : (uint32_t)leat_random_below(r, s->routers);
        e->b = (e->a + 1 + (i < s->routers ? 0 : (uint32_t)leat_random_below(r, s->routers - 1))) %
               s->routers;
        e->one_way = i >= s->routers && !leat_random_below(r, 4);
    }
    job->rule = LEAT_NET_TABLE;
    job->watched = true;
    job->switches.drop = false;
    job->switches.channels = one_to(r, 2);
}

static inline struct job random_job(struct leat_random *r)
{
    struct job job = { .shape = random_shape(r) };
    job.switches = random_config(r);
    job.rule = (enum leat_net_route_rule)leat_random_below(r, LEAT_NET_RULES);
    job.watched = leat_random_below(r, 4);
    const bool is_graph = !leat_random_below(r, 8);
    if (is_graph) random_graph(r, &job);
    job.cycles = one_to(r, 3000);
    job.load.warmup = leat_random_below(r, 2) ? LEAT_NET_STEADY_FIND
                                              : leat_random_below(r, job.cycles);
    if (leat_random_below(r, 2)) job.load.clock = (struct leat_sim_clock){ 2500, 3 };
    leat_net_traffic_default(&job.load.traffic, 1);
    job.load.traffic.pattern = (enum leat_net_pattern)leat_random_below(r, LEAT_NET_PATTERNS);
    job.load.traffic.load_ppm = (uint32_t)leat_random_below(r, is_graph ? 1000000 : 600000);
    job.load.traffic.flits = one_to(r, is_graph ? 16 : 5);
    job.load.traffic.seed = leat_random_next(r);
    if (is_graph) job.load.traffic.load_ppm >>= leat_random_below(r, 4);
    if (job.switches.flow != LEAT_NET_WORMHOLE) job.switches.buffer_flits += job.load.traffic.flits;
    if (job.load.traffic.pattern > LEAT_NET_TRACE)
        job.load.traffic.rounds = leat_random_below(r, 4);
    random_trace(r, job.trace, job.load.traffic.flits);
    if (leat_random_below(r, 3) == 0) {
        job.load.precision_ppm = one_to(r, 500000);
        job.cycles += leat_random_below(r, 12000);
    }
    if (is_graph || leat_random_below(r, 2)) job.faults = one_to(r, JOB_FAULTS);
    for (uint32_t i = 0; i < job.faults; i++)
        job.fault[i] = random_fault(r, job.cycles);
    return job;
}

/* A circle of six and a hub, whose wires break, until cycle `to`: ways across become ways around,
 * and with few channels these form a cycle. */
static inline struct job wheel_job(uint64_t to)
{
    enum { RIM = 6 };
    static const uint32_t rim[RIM] = { 0, 1, 2, 3, 4, 5 };
    struct job job = { .rule = LEAT_NET_TABLE, .watched = true, .cycles = 8000, .faults = RIM };
    job.shape = (struct leat_net_shape){ .kind = LEAT_NET_GRAPH,
                                         .routers = RIM + 1,
                                         .edges = 2 * RIM,
                                         .wire_cycles = 1,
                                         .terminal_at = rim,
                                         .terminal_count = RIM };
    for (uint32_t i = 0; i < RIM; i++) {
        job.edge[i] = (struct leat_net_edge){ .a = i, .b = RIM };
        job.edge[RIM + i] = (struct leat_net_edge){ .a = i, .b = (i + 1) % RIM };
        job.fault[i] = (struct leat_net_fault){ .kind = LEAT_NET_FAULT_LINK };
        job.fault[i].a = (i + RIM) * 4 + RIM - 1; /* before the port to the hub, among all ports */
        job.fault[i].from = 1000;
        job.fault[i].to = to;
    }
    job.switches = golden;
    job.switches.channels = 1;
    job.load.warmup = LEAT_NET_STEADY_FIND;
    leat_net_traffic_default(&job.load.traffic, RIM);
    job.load.traffic.load_ppm = 900000;
    job.load.traffic.flits = 6;
    return job;
}

#endif
