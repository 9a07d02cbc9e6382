/* Random networks under load, run by the engine of net_vc.c or otherwise, and compared. */
#ifndef LEAT_NET_LOCKSTEP_TEST_H
#define LEAT_NET_LOCKSTEP_TEST_H

#include "net_crowd_test.h"
#include "net_lockstep.h"
#include "net_result_test.h"
#include "net_topology_parts.h"

enum { TRACE_LEN = 200, JOB_FAULTS = 6 };

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
};

struct outcome {
    struct leat_net_load_result load;
    struct leat_net_counts counts;
    uint64_t flits_over_wires;
    enum leat_net_steady_verdict verdict;
    bool alive;
};

struct bench {
    struct world w;
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
    if (!world_build(&b->w, &job->shape, job->rule, job->switches.channels)) return false;
    config.traffic.terminals = b->w.topology.terminals;
    config.traffic.shape = &job->shape;
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

static inline struct job random_job(struct leat_random *r)
{
    struct job job = { .shape = random_shape(r) };
    job.switches = random_config(r);
    job.rule = (enum leat_net_route_rule)leat_random_below(r, LEAT_NET_RULES);
    job.cycles = one_to(r, 3000);
    job.load.warmup = leat_random_below(r, 2) ? LEAT_NET_STEADY_FIND
                                              : leat_random_below(r, job.cycles);
    if (leat_random_below(r, 2)) job.load.clock = (struct leat_sim_clock){ 2500, 3 };
    leat_net_traffic_default(&job.load.traffic, 1);
    job.load.traffic.pattern = (enum leat_net_pattern)leat_random_below(r, LEAT_NET_PATTERNS);
    job.load.traffic.load_ppm = (uint32_t)leat_random_below(r, 600000);
    job.load.traffic.flits = one_to(r, 5);
    job.load.traffic.seed = leat_random_next(r);
    if (job.switches.flow != LEAT_NET_WORMHOLE) job.switches.buffer_flits += job.load.traffic.flits;
    if (job.load.traffic.pattern > LEAT_NET_TRACE)
        job.load.traffic.rounds = leat_random_below(r, 4);
    random_trace(r, job.trace, job.load.traffic.flits);
    if (leat_random_below(r, 3) == 0) {
        job.load.precision_ppm = one_to(r, 500000);
        job.cycles += leat_random_below(r, 12000);
    }
    if (leat_random_below(r, 2)) job.faults = one_to(r, JOB_FAULTS);
    for (uint32_t i = 0; i < job.faults; i++)
        job.fault[i] = random_fault(r, job.cycles);
    return job;
}

#endif
