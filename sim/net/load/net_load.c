#include "net_load.h"
#include "leat_arena.h"
#include "sim_refuse.h"
#include <string.h>

enum {
    PIECES_MAX = LEAT_NET_STEADY_BATCHES + 1, /* all batches, and a given warm-up */
    NUMBERS = sizeof(struct leat_net_offered) / sizeof(uint64_t),
};

/* Locations of parts that have their own footprint. */
struct places {
    void *traffic, *player;
};

static uint32_t count_tallies(const struct leat_net_load_config *config)
{
    return config->parts > 1 && !leat_net_pattern_list(config->traffic.pattern)->is_closed
               ? config->parts
               : 1;
}

/* Each begins a cache line, since another thread writes the next one. */
static void lay_tally(struct leat_net_load *load, uint32_t part, struct leat_arena *arena)
{
    const struct leat_net_load_config *c = &load->config;
    struct leat_net_tally *tally = leat_arena_lay_lines(arena, 1, sizeof *tally);
    uint64_t *delivered = leat_arena_lay(arena, c->traffic.terminals, sizeof *delivered);
    void *steady = leat_arena_lay(arena, 1, leat_net_steady_footprint());
    if (!tally) return;
    *tally = (struct leat_net_tally){ .load = load, .delivered = delivered };
    leat_net_steady_init(&tally->steady, c->warmup, steady);
    leat_sim_certificate_init(&tally->certificate);
    load->tally[part] = tally;
}

static void lay_out(struct leat_net_load *load, struct leat_arena *arena, struct places *places)
{
    const struct leat_net_load_config *c = &load->config;
    load->tallies = count_tallies(c);
    load->tally = leat_arena_lay(arena, load->tallies, sizeof *load->tally);
    for (uint32_t i = 0; i < load->tallies; i++)
        lay_tally(load, i, arena);
    if (c->ranks)
        load->skipped = leat_arena_lay(arena, c->traffic.terminals, sizeof *load->skipped);
    places->traffic = leat_arena_lay(arena, 1, leat_net_traffic_footprint(&c->traffic));
    if (c->faults)
        places->player = leat_arena_lay(arena, 1,
                                        leat_net_fault_player_footprint(c->faults, c->topology));
}

size_t leat_net_load_footprint(const struct leat_net_load_config *config)
{
    struct leat_net_load load = { .config = *config };
    struct leat_arena arena = { 0 };
    struct places places;
    lay_out(&load, &arena, &places);
    return arena.used;
}

/* Dead terminals are ignored in the end, with all that they created. */
static bool may_kill_terminals(const struct leat_net_faults *faults)
{
    for (uint32_t i = 0; faults && i < faults->count; i++)
        if (faults->fault[i].kind == LEAT_NET_FAULT_ROUTER ||
            faults->fault[i].kind == LEAT_NET_FAULT_PORT)
            return true;
    return false;
}

void leat_net_load_init(struct leat_net_load *load, const struct leat_net_load_config *config,
                        void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    struct places places;
    *load = (struct leat_net_load){ .config = *config, .player.next_at = LEAT_NEVER };
    lay_out(load, &arena, &places);
    leat_net_traffic_init(&load->traffic, &config->traffic, places.traffic);
    load->counts_created = !may_kill_terminals(config->faults) &&
                           config->traffic.pattern != LEAT_NET_TRACE;
    load->look_at = LEAT_NEVER;
    if (config->precision_ppm)
        load->look_at = leat_net_steady_look_after(&leat_net_load_tally(load, 0)->steady, 0);
    if (config->faults)
        leat_net_fault_player_init(&load->player, config->faults, config->topology,
                                   config->traffic.seed, places.player);
}

/* ---- the host -------------------------------------------------------------------------------- */

static bool next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct leat_net_tally *tally = context;
    struct leat_net_load *load = tally->load;
    uint64_t last_at;
    /* The last one has left: it was created in a cycle that has been reached. */
    if (load->counts_created && leat_net_traffic_last(&load->traffic, terminal, &last_at))
        leat_net_steady_created(&tally->steady, last_at);
    return leat_net_traffic_next(&load->traffic, terminal, packet);
}

static uint64_t edge(struct leat_net_tally *tally, uint64_t cycle)
{
    const struct leat_sim_clock *clock = &tally->load->config.clock;
    if (!clock->num) return cycle;
    if (cycle != tally->edge_cycle) {
        leat_sim_must(!leat_sim_clock_edge(clock, cycle, &tally->edge_at));
        tally->edge_cycle = cycle;
    }
    return tally->edge_at;
}

static void certify(struct leat_net_tally *tally, const struct leat_net_arrival *arrival)
{
    const struct leat_sim_delivery delivery = {
        .at = edge(tally, arrival->tail_at),
        .source = arrival->packet.source,
        .destination = arrival->packet.destination,
        .number = arrival->packet.number,
        .payload_hash = arrival->packet.flits,
    };
    leat_sim_certificate_add(&tally->certificate, &delivery);
}

static void wake(struct leat_net_load *load, enum leat_net_wakes wakes, uint32_t destination)
{
    if (wakes == LEAT_NET_WAKE_DESTINATION) leat_net_wake(load->net, destination);
    if (wakes == LEAT_NET_WAKE_ALL)
        for (uint32_t t = 0; t < load->config.traffic.terminals; t++)
            leat_net_wake(load->net, t);
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct leat_net_tally *tally = context;
    struct leat_net_load *load = tally->load;
    tally->packets_ended[arrival->fate]++;
    tally->flits_ended[arrival->fate] += arrival->packet.flits;
    leat_net_steady_add(&tally->steady, arrival);
    if (arrival->fate == LEAT_NET_DELIVERED) {
        tally->delivered[arrival->packet.source]++;
        tally->packets_rerouted += arrival->rerouted;
        certify(tally, arrival);
    }
    wake(load, leat_net_traffic_arrived(&load->traffic, arrival), arrival->packet.destination);
}

void leat_net_load_host(struct leat_net_load *load, struct leat_net_host *host)
{
    *host = (struct leat_net_host){ .context = load->tally[0], .next = next, .arrive = arrive };
    if (load->tallies > 1 || load->config.ranks) host->part_context = load->tally;
}

void leat_net_load_attach(struct leat_net_load *load, struct leat_net *net)
{
    load->net = net;
}

/* ---- what came of it ------------------------------------------------------------------------ */

/* Moves all to the first tally. */
static void join_tallies(struct leat_net_load *load)
{
    struct leat_net_tally *all = load->tally[0];
    for (uint32_t i = 1; i < load->tallies; i++) {
        struct leat_net_tally *tally = load->tally[i];
        for (int fate = 0; fate < LEAT_NET_FATES; fate++) {
            all->packets_ended[fate] += tally->packets_ended[fate];
            all->flits_ended[fate] += tally->flits_ended[fate];
            tally->packets_ended[fate] = tally->flits_ended[fate] = 0;
        }
        all->packets_rerouted += tally->packets_rerouted;
        tally->packets_rerouted = 0;
        for (uint32_t t = 0; t < load->config.traffic.terminals; t++) {
            all->delivered[t] += tally->delivered[t];
            tally->delivered[t] = 0;
        }
        leat_net_steady_move(&all->steady, &tally->steady, load->net->now);
        leat_sim_certificate_join(&all->certificate, &tally->certificate);
        leat_sim_certificate_init(&tally->certificate);
    }
}

/* Moves what all ranks counted to rank 0. */
static void gather_ranks(struct leat_net_load *load)
{
    struct leat_sim_ranks *ranks = load->config.ranks;
    struct leat_net_tally *all = load->tally[0];
    uint64_t *const row[] = { all->packets_ended, all->flits_ended, &all->packets_rerouted,
                              &all->certificate.sum, all->delivered };
    const size_t len[] = { LEAT_NET_FATES, LEAT_NET_FATES, 1, 1, load->config.traffic.terminals };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        leat_sim_ranks_add(ranks, row[i], len[i]);
        if (ranks->rank) memset(row[i], 0, len[i] * sizeof *row[i]);
    }
    leat_net_steady_gather(&all->steady, ranks, load->net->now);
}

static bool has_dead_terminals(const struct leat_net_load *load)
{
    for (uint32_t t = 0; t < load->config.traffic.terminals; t++)
        if (load->net->terminal_dead[t]) return true;
    return false;
}

/* Counts what was created, but not by terminals whose mark is set; ranks share the work. */
static void draw_offered(const struct leat_net_load *load, const uint8_t *but,
                         const uint64_t *bound, uint32_t count, struct leat_net_offered *piece)
{
    struct leat_sim_ranks *ranks = load->config.ranks;
    for (uint32_t t = 0; ranks && t < load->config.traffic.terminals; t++)
        load->skipped[t] = t % ranks->count != ranks->rank || (but && but[t]);
    leat_net_traffic_offered(&load->traffic, bound, count, ranks ? load->skipped : but, piece);
    leat_sim_ranks_add(ranks, &piece->packets, count * NUMBERS);
}

/* The packets that were counted, as many intervals as have the batches; the first may be that
 * before them. The last batch may be incomplete: then it belongs to the interval of the one before
 * it. */
static void add_created(const struct leat_net_load *load, uint32_t count,
                        struct leat_net_offered *piece)
{
    const struct leat_net_steady *steady = &leat_net_load_tally(load, 0)->steady;
    const uint32_t skip = steady->begin > 0;
    if (skip) piece->packets += steady->early;
    for (uint32_t i = 0; skip < count && i < steady->count; i++)
        piece[skip + i < count ? skip + i : count - 1].packets += steady->batch[i].created;
    for (uint32_t i = 0; i < count; i++)
        piece[i].flits = piece[i].packets * load->config.traffic.flits;
}

/* Counts what was created: in total, and in each of the intervals [bound[i], bound[i + 1]), the
 * first of which starts with the run. */
static void count_offered(const struct leat_net_load *load, const uint64_t *bound, uint32_t count,
                          struct leat_net_offered *piece, struct leat_net_load_result *out)
{
    if (load->counts_created) {
        leat_net_traffic_left(&load->traffic, bound, count, piece);
        leat_sim_ranks_add(load->config.ranks, &piece->packets, count * NUMBERS);
        add_created(load, count, piece);
    } else {
        draw_offered(load, NULL, bound, count, piece);
    }
    for (uint32_t i = 0; i < count; i++) {
        out->packets_offered += piece[i].packets;
        out->flits_offered += piece[i].flits;
    }
    if (has_dead_terminals(load)) draw_offered(load, load->net->terminal_dead, bound, count, piece);
}

/* The flits offered in each batch; flits has room for PIECES_MAX. */
static void find_offered(struct leat_net_load *load, uint64_t now, uint64_t *flits,
                         struct leat_net_load_result *out)
{
    uint64_t bound[PIECES_MAX + 1] = { 0 };
    struct leat_net_offered piece[PIECES_MAX] = { { 0 } };
    struct leat_net_steady *steady = &leat_net_load_tally(load, 0)->steady;
    const uint32_t skip = steady->begin > 0;
    const uint32_t batches = leat_net_steady_bounds(steady, now, bound + skip);
    if (batches == 0) bound[skip] = now; /* the warm-up has not ended */
    count_offered(load, bound, skip + batches, piece, out);
    for (uint32_t i = 0; i < batches; i++)
        flits[i] = piece[skip + i].flits;
}

static void find_open(struct leat_net_load *load, struct leat_net_load_result *out)
{
    uint64_t flits[PIECES_MAX];
    const uint64_t now = load->net->now;
    find_offered(load, now, flits, out);
    leat_net_steady_result(&leat_net_load_tally(load, 0)->steady, now,
                           load->config.traffic.terminals, flits, &out->steady);
}

/* A collective creates only what it can send. */
static void find_closed(struct leat_net_load *load, struct leat_net_load_result *out)
{
    const struct leat_net_traffic *traffic = &load->traffic;
    for (uint32_t t = 0; t < traffic->config.terminals; t++)
        out->packets_offered += traffic->source[t].number;
    out->flits_offered = out->packets_offered * traffic->config.flits;
    leat_net_steady_result(&leat_net_load_tally(load, 0)->steady, load->net->now,
                           traffic->config.terminals, NULL, &out->steady);
}

static void find_fairness(const struct leat_net_load *load, struct leat_net_load_result *out)
{
    out->delivered_min = UINT64_MAX;
    for (uint32_t t = 0; t < load->config.traffic.terminals; t++) {
        const uint64_t delivered = leat_net_load_tally(load, 0)->delivered[t];
        if (delivered < out->delivered_min) out->delivered_min = delivered;
        if (delivered > out->delivered_max) out->delivered_max = delivered;
    }
}

void leat_net_load_result(struct leat_net_load *load, struct leat_net_load_result *out)
{
    const struct leat_net_tally *all = load->tally[0];
    join_tallies(load);
    if (load->config.ranks) gather_ranks(load);
    *out = (struct leat_net_load_result){
        .cycles = load->net->now,
        .packets_rerouted = all->packets_rerouted,
        .certificate = leat_sim_certificate_value(&all->certificate),
        .rounds = load->traffic.rounds,
    };
    if (leat_net_pattern_list(load->config.traffic.pattern)->is_closed)
        find_closed(load, out);
    else
        find_open(load, out);
    find_fairness(load, out);
    out->packets_waiting = out->packets_offered;
    for (int fate = 0; fate < LEAT_NET_FATES; fate++) {
        out->packets_ended[fate] = all->packets_ended[fate];
        out->flits_ended[fate] = all->flits_ended[fate];
        out->packets_waiting -= all->packets_ended[fate];
    }
}

/* ---- running --------------------------------------------------------------------------------- */

void leat_net_load_judge(struct leat_net_load *load, uint64_t now)
{
    const bool closed = leat_net_pattern_list(load->config.traffic.pattern)->is_closed;
    struct leat_net_steady *steady = &leat_net_load_tally(load, 0)->steady;
    struct leat_net_load_result counts = { 0 };
    uint64_t flits[PIECES_MAX], bound[PIECES_MAX + 1];
    if (!closed) find_offered(load, now, flits, &counts);
    leat_net_steady_bounds(steady, now, bound);
    const enum leat_net_steady_verdict seen = leat_net_steady_judge(
        steady, now, closed ? NULL : flits, load->config.precision_ppm);
    if (seen == load->seen) load->verdict = seen;
    load->seen = seen;
    load->look_at = leat_net_steady_look_after(steady, now);
}

/* Every rank has the verdict of rank 0, which has all that was counted. */
static void look(struct leat_net_load *load)
{
    struct leat_sim_ranks *ranks = load->config.ranks;
    join_tallies(load);
    if (ranks) gather_ranks(load);
    leat_net_load_judge(load, load->net->now);
    if (ranks)
        load->verdict = (enum leat_net_steady_verdict)ranks->least(
            ranks, ranks->rank ? UINT64_MAX : load->verdict);
}

bool leat_net_load_run(struct leat_net_load *load, uint64_t until)
{
    struct leat_net *net = load->net;
    while (net->now < until && !load->verdict) {
        if (load->player.next_at <= net->now) leat_net_fault_player_apply(&load->player, net);
        uint64_t next_at = load->player.next_at < until ? load->player.next_at : until;
        if (load->look_at < next_at) next_at = load->look_at;
        if (!leat_net_run(net, next_at)) return false;
        if (net->stop) break;
        if (net->now == load->look_at) look(load);
    }
    return true;
}
