#include "net_lockstep.h"
#include "net_parts.h"
#include "net_routing_parts.h"
#include "sim_refuse.h"
#include <string.h>

_Static_assert((int)LEAT_NET_LOCKSTEP_BATCHES == (int)LEAT_NET_STEADY_BATCHES, "one table");

/* Every packet in flight has a flit in a lane, on a wire or at its source. More numbers than that:
 * one that is given back is not taken again in the same cycle. */
static uint64_t count_packets(const struct leat_net *net)
{
    const struct leat_net_topology *t = net->topology;
    const uint64_t room = (uint64_t)t->ins * net->config.channels * net->config.buffer_flits;
    const uint64_t slots = leat_net_up_to_power(3u + leat_net_wire_cycles(t));
    return room + ((uint64_t)t->outs + t->terminals) * slots + 4 * (uint64_t)t->terminals;
}

/* ---- what it can do -------------------------------------------------------------------------- */

leat_err leat_net_lockstep_check(const struct leat_net *net, const struct leat_net_load *load,
                                 uint64_t cycles, struct leat_text *why)
{
    const struct leat_sim_clock *clock = &load->config.clock;
    const struct leat_net_pattern_spelling *pattern = leat_net_pattern_list(
        load->config.traffic.pattern);
    if (net->config.architecture != LEAT_NET_SWITCH_VC)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%s switches, expected vc",
                               leat_net_switch_name(net->config.architecture));
    if (net->config.drop)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "switches that lose packets, expected credits");
    if (load->config.traffic.trace_count > LEAT_NET_LOCKSTEP_TRACE_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "a trace of %u packets, expected at most %u",
                               load->config.traffic.trace_count, LEAT_NET_LOCKSTEP_TRACE_MAX);
    if (pattern->is_closed && load->config.traffic.rounds > UINT32_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%" PRIu64 " rounds, expected 32 bits",
                               load->config.traffic.rounds);
    if (cycles > LEAT_NET_LOCKSTEP_CYCLES_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%" PRIu64 " cycles, expected at most %u",
                               cycles, LEAT_NET_LOCKSTEP_CYCLES_MAX);
    if (clock->num > UINT32_MAX || clock->den > UINT32_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "a clock that is no ratio of 32 bits");
    if (count_packets(net) > LEAT_NET_LOCKSTEP_PACKETS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "room for %" PRIu64 " flits, expected at most %u",
                               count_packets(net), LEAT_NET_LOCKSTEP_PACKETS_MAX);
    return leat_net_outages_check(net->routing, load->config.faults, cycles, why);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* So many words, at an even place: some hold numbers of 64 bits. */
static uint32_t lay(uint32_t *words, uint64_t count, size_t size)
{
    const uint32_t at = *words;
    *words += (uint32_t)((count * size + 7) / 8 * 2);
    return at;
}

static void size_plan(const struct leat_net_outages *outages, struct leat_net_lockstep_plan *p)
{
    const struct leat_net_rows *rows = &outages->rows;
    const uint64_t table = (uint64_t)p->routers * p->routers;
    uint32_t *words = &p->plan_words;
    lay(words, 1, sizeof *p);
    p->in_first = lay(words, p->routers + 1u, sizeof(uint32_t));
    p->out_first = lay(words, p->routers + 1u, sizeof(uint32_t));
    p->in = lay(words, p->ins, sizeof(struct leat_net_lockstep_in));
    p->out = lay(words, p->outs, sizeof(struct leat_net_lockstep_out));
    p->terminal = lay(words, p->terminals, sizeof(struct leat_net_lockstep_terminal));
    p->row = lay(words, rows->tables * table, sizeof *rows->row);
    p->branch = lay(words, rows->branches, sizeof *rows->branch);
    p->choice = lay(words, rows->choices, sizeof *rows->choice);
    p->set = lay(words, rows->sets, sizeof *rows->set);
    p->period = lay(words, p->periods, sizeof *outages->period);
    p->table = lay(words, p->outages, sizeof *outages->table);
    p->broken = lay(words, (uint64_t)p->outages * p->outs, sizeof *outages->broken);
    p->dead = lay(words, (uint64_t)p->outages * p->terminals, sizeof *outages->dead);
    p->errors = lay(words, outages->errors ? (uint64_t)p->outages * p->outs : 0,
                    sizeof *outages->errors);
}

static void size_state(struct leat_net_lockstep_plan *p)
{
    const uint64_t wires = (uint64_t)p->ins + p->terminals;
    uint32_t *words = &p->state_words;
    p->lane = lay(words, (uint64_t)p->ins << p->shift, sizeof(struct leat_net_lockstep_lane));
    p->port_in = lay(words, p->ins, sizeof(struct leat_net_lockstep_port_in));
    p->port_out = lay(words, p->outs, sizeof(struct leat_net_lockstep_port_out));
    p->ahead = lay(words, (uint64_t)p->outs << p->shift, sizeof(struct leat_net_lockstep_ahead));
    p->host = lay(words, p->terminals, sizeof(struct leat_net_lockstep_host));
    p->entry = lay(words, (uint64_t)p->terminals << p->shift, sizeof(uint16_t));
    p->flits = lay(words, wires * p->flit_slots, sizeof(uint32_t));
    p->credits = lay(words, (uint64_t)p->outs * p->credit_slots, sizeof(uint32_t));
    p->entry_credits = lay(words, (uint64_t)p->terminals * p->credit_slots, sizeof(uint32_t));
    p->pool = lay(words, 1, sizeof(struct leat_net_lockstep_pool));
    p->loss = lay(words, p->outages > 1 ? p->ins : 0, sizeof(struct leat_net_lockstep_loss));
}

static void size_store(struct leat_net_lockstep_plan *p)
{
    const uint64_t batches = LEAT_NET_LOCKSTEP_BATCHES;
    const bool faulty = p->outages > 1;
    uint32_t *words = &p->store_words;
    p->source = lay(words, p->terminals, sizeof(struct leat_net_source));
    p->batch = lay(words, batches + 1, sizeof(struct leat_net_lockstep_sums));
    p->round = lay(words, 1, sizeof(struct leat_net_lockstep_round));
    p->pending = lay(words, p->terminals, sizeof(struct leat_net_lockstep_pending));
    p->delivered = lay(words, p->terminals, sizeof(uint32_t));
    p->out_flits = lay(words, p->outs, sizeof(uint32_t));
    p->created = lay(words, batches + 1, sizeof(uint32_t));
    p->tally = lay(words, faulty ? batches + 1 : 0, sizeof(struct leat_net_lockstep_tally));
    p->bins = lay(words, batches * LEAT_NET_LOCKSTEP_BINS, sizeof(uint32_t));
    p->buffers = lay(words, (uint64_t)(p->ins << p->shift) * p->buffer, sizeof(uint32_t));
    p->packet = lay(words, p->packets, sizeof(struct leat_net_lockstep_packet));
    p->free = lay(words, p->packets, sizeof(uint32_t));
    p->fate = lay(words, faulty ? p->packets : 0, sizeof(uint32_t));
    p->mover = lay(words, faulty ? p->ins << p->shift : 0, sizeof(struct leat_net_lockstep_mover));
}

void leat_net_lockstep_size(const struct leat_net *net, const struct leat_net_outages *outages,
                            struct leat_net_lockstep_plan *plan)
{
    const struct leat_net_topology *t = net->topology;
    const struct leat_net_config *c = &net->config;
    const uint32_t wire = leat_net_wire_cycles(t), there = 1u + (c->pipeline > 1) + wire;
    const uint32_t back = 1 + wire + c->credit_cycles; /* at least that of a terminal */
    *plan = (struct leat_net_lockstep_plan){
        .routers = t->routers,
        .ins = t->ins,
        .outs = t->outs,
        .terminals = t->terminals,
        .radix = t->radix,
        .channels = c->channels,
        .buffer = c->buffer_flits,
        .fused =
            c->pipeline<3, .whole = c->flow != LEAT_NET_WORMHOLE,
                        .stores = c->flow == LEAT_NET_STORE_AND_FORWARD, .ripening = c->pipeline> 3
                ? c->pipeline - 3
                : 0,
        .credit_cycles = c->credit_cycles,
        .outages = outages->count,
        .periods = outages->periods,
        .errors_from = outages->errors_from,
        .flit_slots = leat_net_up_to_power(there + 1),
        .credit_slots = leat_net_up_to_power(back + 1),
    };
    while (UINT32_C(1) << plan->shift < c->channels)
        plan->shift++;
    plan->packets = leat_net_up_to_power(count_packets(net));
    size_plan(outages, plan);
    size_state(plan);
    size_store(plan);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void fill_ports(const struct leat_net *net, const struct leat_net_lockstep_plan *p,
                       uint32_t *words)
{
    const struct leat_net_topology *t = net->topology;
    struct leat_net_lockstep_in *in = (void *)(words + p->in);
    struct leat_net_lockstep_out *out = (void *)(words + p->out);
    struct leat_net_lockstep_terminal *terminal = (void *)(words + p->terminal);
    for (uint32_t i = 0; i < t->ins; i++) {
        const uint32_t from = t->in_from[i];
        in[i] = (struct leat_net_lockstep_in){ from, LEAT_NET_RETURN_CYCLES };
        if (!(from & LEAT_NET_TERMINAL))
            in[i].back = 1 + net->config.credit_cycles + t->out_cycles[from];
    }
    for (uint32_t o = 0; o < t->outs; o++)
        out[o] = (struct leat_net_lockstep_out){ t->out_to[o], 1u + (net->config.pipeline > 1) +
                                                                   t->out_cycles[o] };
    for (uint32_t i = 0; i < t->terminals; i++)
        terminal[i] = (struct leat_net_lockstep_terminal){ net->routing->target[i].router,
                                                           net->routing->target[i].port,
                                                           t->terminal_out[i], t->terminal_in[i] };
}

static void fill_rows(const struct leat_net_rows *rows, const struct leat_net_lockstep_plan *p,
                      uint32_t *words)
{
    const size_t table = (size_t)p->routers * p->routers;
    memcpy(words + p->row, rows->row, rows->tables * table * sizeof *rows->row);
    memcpy(words + p->branch, rows->branch, rows->branches * sizeof *rows->branch);
    memcpy(words + p->choice, rows->choice, rows->choices * sizeof *rows->choice);
    memcpy(words + p->set, rows->set, rows->sets * sizeof *rows->set);
}

static void fill_outages(const struct leat_net_outages *o, const struct leat_net_lockstep_plan *p,
                         uint32_t *words)
{
    const size_t outs = (size_t)o->count * p->outs, terminals = (size_t)o->count * p->terminals;
    memcpy(words + p->period, o->period, o->periods * sizeof *o->period);
    memcpy(words + p->table, o->table, o->count * sizeof *o->table);
    memcpy(words + p->broken, o->broken, outs * sizeof *o->broken);
    memcpy(words + p->dead, o->dead, terminals * sizeof *o->dead);
    if (o->errors) memcpy(words + p->errors, o->errors, outs * sizeof *o->errors);
}

void leat_net_lockstep_plan(const struct leat_net *net, const struct leat_net_outages *outages,
                            bool watched, uint32_t *words)
{
    const struct leat_net_topology *t = net->topology;
    struct leat_net_lockstep_plan *p = (void *)words;
    leat_net_lockstep_size(net, outages, p);
    p->watched = watched;
    memcpy(words + p->in_first, t->in_first, (t->routers + 1u) * sizeof *t->in_first);
    memcpy(words + p->out_first, t->out_first, (t->routers + 1u) * sizeof *t->out_first);
    fill_ports(net, p, words);
    fill_rows(&outages->rows, p, words);
    fill_outages(outages, p, words);
}

enum {
    JOB_WORDS = sizeof(struct leat_net_lockstep_job) / sizeof(uint32_t),
    ENTRY_WORDS = sizeof(struct leat_net_lockstep_entry) / sizeof(uint32_t),
};

uint32_t leat_net_lockstep_job_words(const struct leat_net_load *load)
{
    const struct leat_net_traffic_config *c = &load->config.traffic;
    if (load->traffic.to) return JOB_WORDS + c->terminals;
    return JOB_WORDS + c->trace_count * ENTRY_WORDS;
}

void leat_net_lockstep_job(const struct leat_net_load *load, uint32_t *words)
{
    const struct leat_net_traffic_config *c = &load->config.traffic;
    struct leat_net_lockstep_job *job = (void *)words;
    struct leat_net_lockstep_entry *entry = (void *)(words + JOB_WORDS);
    *job = (struct leat_net_lockstep_job){
        .draw = load->traffic.draw,
        .clock_num = (uint32_t)load->config.clock.num,
        .clock_den = (uint32_t)load->config.clock.den,
        .rounds = (uint32_t)c->rounds,
        .trace_count = c->trace_count,
        .seed_low = (uint32_t)c->seed,
        .seed_high = (uint32_t)(c->seed >> 32),
    };
    if (load->traffic.to)
        memcpy(words + JOB_WORDS, load->traffic.to, c->terminals * sizeof *load->traffic.to);
    for (uint32_t i = 0; i < c->trace_count; i++)
        entry[i] = (struct leat_net_lockstep_entry){
            .cycle = c->trace[i].cycle < LEAT_NET_LOCKSTEP_NEVER ? (uint32_t)c->trace[i].cycle
                                                                 : LEAT_NET_LOCKSTEP_NEVER,
            .destination = c->trace[i].destination,
            .flits = c->trace[i].flits,
            .next = load->traffic.trace_next[i],
        };
}

struct leat_net_lockstep_table leat_net_lockstep_start(const uint32_t *plan,
                                                       struct leat_net_load *load, uint32_t *state,
                                                       uint32_t *store)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    struct leat_net_lockstep_host *host = (void *)(state + p->host);
    struct leat_net_lockstep_pending *pending = (void *)(store + p->pending);
    struct leat_net_lockstep_round *round = (void *)(store + p->round);
    round->left = (uint32_t)load->traffic.round_left;
    for (uint32_t t = 0; t < p->terminals; t++) {
        struct leat_net_packet packet;
        host[t].due = LEAT_NET_LOCKSTEP_NEVER;
        if (!leat_net_traffic_next(&load->traffic, t, &packet)) continue;
        pending[t] = (struct leat_net_lockstep_pending){ packet.destination,
                                                         (uint32_t)packet.random, packet.flits };
        if (packet.created_at < LEAT_NET_LOCKSTEP_NEVER) host[t].due = (uint32_t)packet.created_at;
    }
    memcpy(store + p->source, load->traffic.source, p->terminals * sizeof *load->traffic.source);
    return (struct leat_net_lockstep_table){
        .begin = (uint32_t)leat_net_load_tally(load, 0)->steady.begin,
        .batch_cycles = LEAT_NET_STEADY_BATCH_CYCLES,
    };
}

/* ---- running --------------------------------------------------------------------------------- */

/* The period of a cycle. */
static uint32_t period_of(const uint32_t *plan, uint32_t at)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    const struct leat_net_lockstep_period *period = (const void *)(plan + p->period);
    uint32_t first = 0, end = p->periods;
    while (end - first > 1) {
        const uint32_t middle = (first + end) / 2;
        if (period[middle].from <= at)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* Its outage, and where it ends. */
static uint32_t place_leg(const uint32_t *plan, struct leat_net_lockstep_leg *leg)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    const struct leat_net_lockstep_period *period = (const void *)(plan + p->period);
    const uint32_t i = period_of(plan, leg->now);
    leg->outage = leg->before = period[i].outage;
    if (i && leg->now == period[i].from) leg->before = period[i - 1].outage;
    return i + 1 < p->periods ? period[i + 1].from : LEAT_NET_LOCKSTEP_NEVER;
}

struct leat_net_lockstep_leg leat_net_lockstep_next(const uint32_t *plan,
                                                    struct leat_net_lockstep_table table,
                                                    uint32_t now, uint32_t cycles)
{
    struct leat_net_lockstep_leg leg = { .now = now, .table = table };
    leg.halves = now >= table.begin &&
                 leat_net_lockstep_batch_of(table, now) == LEAT_NET_LOCKSTEP_BATCHES;
    if (leg.halves) leg.table.batch_cycles *= 2;
    const uint64_t next = leat_net_lockstep_batch_of(leg.table, now) + UINT64_C(1);
    const uint64_t end = now < table.begin ? table.begin
                                           : table.begin + next * leg.table.batch_cycles;
    leg.until = (uint32_t)leat_smaller(leat_smaller(end, place_leg(plan, &leg)), cycles);
    return leg;
}

void leat_net_lockstep_run(const uint32_t *plan, const uint32_t *job, uint32_t *state,
                           uint32_t *store, struct leat_net_lockstep_leg leg)
{
    if (leg.halves) leat_net_lockstep_halve((const void *)plan, store, 0, 1);
    struct leat_net_lockstep_view v = leat_net_lockstep_view(plan, job, state, store, leg);
    if (leg.outage != leg.before) leat_net_lockstep_change_all(&v, leg.before, 0, 1);
    for (; v.now < leg.until; v.now++)
        for (uint32_t stage = 0; stage < leat_net_lockstep_stages(&v); stage++)
            leat_net_lockstep_step_all(&v, stage, 0, 1);
    if (v.plan->watched) leat_net_lockstep_watch_all(&v, 0, 1);
    leat_net_lockstep_add(&v.batch[leat_net_lockstep_batch_of(leg.table, leg.now)], &v.sums);
}

uint32_t leat_net_lockstep_done(const uint32_t *plan, const uint32_t *store)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    const struct leat_net_lockstep_round *round = (const void *)(store + p->round);
    return round->done_after;
}

bool leat_net_lockstep_is_deadlocked(const uint32_t *plan, const uint32_t *store, uint32_t now)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    const struct leat_net_lockstep_round *round = (const void *)(store + p->round);
    return p->watched && now && round->seen == now << 1;
}

/* ---- what came of it ------------------------------------------------------------------------- */

static uint64_t flits_lost(const struct leat_net_lockstep_tally *row)
{
    uint64_t flits = 0;
    for (uint32_t fate = LEAT_NET_DELIVERED + 1; fate < LEAT_NET_FATES; fate++)
        flits += leat_net_lockstep_counted(row, LEAT_NET_LOCKSTEP_LOST_FLITS + fate);
    return flits;
}

/* Sums of batches, and what is offered: all that a verdict needs. */
static void move_batches(const struct leat_net_lockstep_plan *p, const uint32_t *store,
                         uint32_t cycles, struct leat_net_load *load)
{
    const struct leat_net_lockstep_sums *sums = (const void *)(store + p->batch);
    const struct leat_net_lockstep_tally *row = (const void *)(store + p->tally);
    struct leat_net_steady *steady = &leat_net_load_tally(load, 0)->steady;
    leat_net_steady_reach(steady, cycles);
    for (uint32_t i = 0; cycles > steady->begin && i < steady->count; i++) {
        steady->batch[i].packets = sums[i].packets;
        steady->batch[i].latency = sums[i].latency;
        steady->batch[i].hops = sums[i].hops;
        steady->batch[i].flits = sums[i].flits;
        steady->batch[i].created = (store + p->created)[i];
        if (p->outages > 1) steady->batch[i].flits_faulty = flits_lost(&row[i]);
    }
    steady->early = (store + p->created)[LEAT_NET_LOCKSTEP_BATCHES];
    memcpy(load->traffic.source, store + p->source, p->terminals * sizeof *load->traffic.source);
}

/* The terminals that are dead after so many cycles. */
static void mark_dead(const uint32_t *plan, uint32_t cycles, struct leat_net *net)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    const struct leat_net_lockstep_period *period = (const void *)(plan + p->period);
    const uint8_t *dead = (const void *)(plan + p->dead);
    if (p->outages == 1 || !cycles) return;
    const uint32_t outage = period[period_of(plan, cycles - 1)].outage;
    memcpy(net->terminal_dead, dead + (size_t)outage * p->terminals, p->terminals);
}

void leat_net_lockstep_judge(const uint32_t *plan, const uint32_t *store, uint32_t now,
                             struct leat_net_load *load)
{
    move_batches((const void *)plan, store, now, load);
    mark_dead(plan, now, load->net);
    leat_net_load_judge(load, now);
}

static void end_batch(const struct leat_net_lockstep_plan *p, const uint32_t *store, uint32_t i,
                      struct leat_net_steady *steady)
{
    const struct leat_net_lockstep_sums *sums = (const void *)(store + p->batch);
    const uint32_t *bins = store + p->bins + (size_t)i * LEAT_NET_LOCKSTEP_BINS;
    struct leat_sim_histogram *h = steady->latency[i];
    uint64_t left = sums[i].packets;
    h->count = sums[i].packets;
    h->sum = sums[i].latency;
    h->max = sums[i].latency_max;
    for (uint32_t bin = 0; left; bin++) {
        if (bins[bin]) h->bin[bin] = bins[bin];
        left -= bins[bin];
    }
}

static void end_counts(const struct leat_net_lockstep_sums *sums, struct leat_net *net,
                       struct leat_net_tally *tally)
{
    tally->certificate.sum += sums->certificate;
    tally->packets_ended[LEAT_NET_DELIVERED] += sums->packets;
    tally->flits_ended[LEAT_NET_DELIVERED] += sums->flits;
    net->counts.packets_ended[LEAT_NET_DELIVERED] += sums->packets;
    net->counts.flits_delivered += sums->flits;
    net->counts.packets_begun += sums->begun;
    net->counts.flits_begun += sums->flits_begun;
    net->counts.flit_hops += sums->flit_hops;
    net->counts.waits += sums->waits;
}

static void end_losses(const struct leat_net_lockstep_tally *row, struct leat_net *net,
                       struct leat_net_tally *tally)
{
    for (uint32_t fate = LEAT_NET_DELIVERED + 1; fate < LEAT_NET_FATES; fate++) {
        const uint64_t packets = leat_net_lockstep_counted(row, LEAT_NET_LOCKSTEP_LOST + fate);
        tally->packets_ended[fate] += packets;
        tally->flits_ended[fate] += leat_net_lockstep_counted(row,
                                                              LEAT_NET_LOCKSTEP_LOST_FLITS + fate);
        net->counts.packets_ended[fate] += packets;
    }
    net->counts.packets_rerouted += leat_net_lockstep_counted(row, LEAT_NET_LOCKSTEP_REROUTED);
    tally->packets_rerouted += leat_net_lockstep_counted(row, LEAT_NET_LOCKSTEP_ARRIVED_REROUTED);
}

static void end_rounds(const struct leat_net_lockstep_round *round,
                       struct leat_net_traffic *traffic)
{
    traffic->rounds = (struct leat_net_rounds){ .count = round->count,
                                                .cycles = round->cycles,
                                                .cycles_min = round->cycles_min,
                                                .cycles_max = round->cycles_max };
    traffic->round_at = round->at;
    traffic->round_left = round->left;
}

void leat_net_lockstep_end(const uint32_t *plan, const uint32_t *store, uint32_t cycles,
                           struct leat_net *net, struct leat_net_load *load)
{
    const struct leat_net_lockstep_plan *p = (const void *)plan;
    struct leat_net_tally *tally = leat_net_load_tally(load, 0);
    const struct leat_net_lockstep_sums *sums = (const void *)(store + p->batch);
    const struct leat_net_lockstep_tally *row = (const void *)(store + p->tally);
    net->now = cycles;
    move_batches(p, store, cycles, load);
    for (uint32_t i = 0; cycles > tally->steady.begin && i < tally->steady.count; i++)
        end_batch(p, store, i, &tally->steady);
    for (uint32_t i = 0; i <= LEAT_NET_LOCKSTEP_BATCHES; i++)
        end_counts(&sums[i], net, tally);
    for (uint32_t t = 0; t < p->terminals; t++)
        tally->delivered[t] = (store + p->delivered)[t];
    for (uint32_t out = 0; out < p->outs; out++)
        net->out_flits[out] = (store + p->out_flits)[out];
    end_rounds((const void *)(store + p->round), &load->traffic);
    for (uint32_t i = 0; p->outages > 1 && i <= LEAT_NET_LOCKSTEP_BATCHES; i++)
        end_losses(&row[i], net, tally);
    mark_dead(plan, cycles, net);
}
