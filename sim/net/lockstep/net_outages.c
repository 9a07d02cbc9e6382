#include "net_outages.h"
#include "net_parts.h"
#include "net_routing_parts.h"
#include "sim_refuse.h"
#include <string.h>

/* ---- periods --------------------------------------------------------------------------------- */

/* Outages in the order of their first cycles. */
struct timeline {
    const struct leat_net_faults *faults;
    uint64_t cycles, at; /* at: where the next period begins */
    uint32_t outages;
    uint64_t first[LEAT_NET_OUTAGES_MAX], hash[LEAT_NET_OUTAGES_MAX];
};

/* Outage 0 is that of a cycle in which no fault acts. */
static void begin(struct timeline *t, const struct leat_net_faults *faults, uint64_t cycles)
{
    t->faults = faults;
    t->cycles = cycles;
    t->at = 0;
    t->outages = 1;
    t->first[0] = LEAT_NEVER;
    t->hash[0] = 0;
}

static uint32_t count_faults(const struct leat_net_faults *faults)
{
    return faults ? faults->count : 0;
}

static uint64_t hash_of(const struct leat_net_faults *faults, uint64_t at)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count_faults(faults); i++) {
        uint64_t number = i;
        if (leat_net_fault_is_active(&faults->fault[i], at)) hash += leat_random_splitmix(&number);
    }
    return hash;
}

static bool are_alike(const struct leat_net_faults *faults, uint64_t one, uint64_t other)
{
    for (uint32_t i = 0; i < count_faults(faults); i++)
        if (leat_net_fault_is_active(&faults->fault[i], one) !=
            leat_net_fault_is_active(&faults->fault[i], other))
            return false;
    return true;
}

/* Of a cycle. More than fit are counted as one. */
static uint32_t outage_at(struct timeline *t, uint64_t at)
{
    const uint64_t hash = hash_of(t->faults, at);
    uint32_t i = 0;
    while (i < t->outages && (t->hash[i] != hash || !are_alike(t->faults, t->first[i], at)))
        i++;
    if (i < t->outages) return i;
    t->outages++;
    if (i == LEAT_NET_OUTAGES_MAX) return i;
    t->first[i] = at;
    t->hash[i] = hash;
    return i;
}

static uint64_t next_change(const struct leat_net_faults *faults, uint64_t at)
{
    uint64_t next = LEAT_NEVER;
    for (uint32_t i = 0; i < count_faults(faults); i++)
        next = leat_smaller(next, leat_net_fault_next(&faults->fault[i], at));
    return next;
}

/* The period after this one; the first one begins at 0. */
static bool next_period(struct timeline *t, struct leat_net_lockstep_period *period)
{
    while (t->at < t->cycles) {
        const uint64_t at = t->at;
        const uint32_t outage = outage_at(t, at);
        t->at = next_change(t->faults, at);
        if (at && outage == period->outage) continue;
        *period = (struct leat_net_lockstep_period){ (uint32_t)at, outage };
        return true;
    }
    return false;
}

/* Returns how many there are, with their outages; what does not fit is not all counted. */
static uint32_t count_periods(struct timeline *t)
{
    struct leat_net_lockstep_period period = { 0 };
    uint32_t periods = 0;
    while (periods <= LEAT_NET_PERIODS_MAX && t->outages <= LEAT_NET_OUTAGES_MAX &&
           next_period(t, &period))
        periods++;
    return periods;
}

leat_err leat_net_outages_check(const struct leat_net_routing *routing,
                                const struct leat_net_faults *faults, uint64_t cycles,
                                struct leat_text *why)
{
    const uint64_t routers = routing->topology->routers;
    struct timeline t;
    const leat_err err = leat_net_rows_check(routing, why);
    if (err) return err;
    begin(&t, faults, cycles);
    const uint32_t periods = count_periods(&t);
    if (t.outages > LEAT_NET_OUTAGES_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "faults that act in more than %u combinations, expected fewer",
                               LEAT_NET_OUTAGES_MAX);
    if (periods > LEAT_NET_PERIODS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "faults that begin and end more than %u times, expected fewer",
                               LEAT_NET_PERIODS_MAX);
    if (t.outages > 1 && t.outages * routers * routers > LEAT_NET_OUTAGES_ROWS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "faults that act in %u combinations, expected at most %" PRIu64
                               " with so many routers",
                               t.outages - 1, LEAT_NET_OUTAGES_ROWS_MAX / (routers * routers) - 1);
    return LEAT_ERR_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* What is needed once only. */
struct places {
    void *rows, *player;
    uint8_t *broken, *dead;
};

static bool has_errors(const struct leat_net_faults *faults)
{
    for (uint32_t i = 0; i < count_faults(faults); i++)
        if (faults->fault[i].kind == LEAT_NET_FAULT_BER) return true;
    return false;
}

static void lay(struct leat_net_outages *o, const struct leat_net_routing *routing,
                const struct timeline *t, uint32_t periods, struct leat_arena *arena,
                struct places *places)
{
    const struct leat_net_topology *topology = routing->topology;
    const size_t outs = topology->outs, terminals = topology->terminals, outages = t->outages;
    places->rows = leat_arena_lay(arena, 1, leat_net_rows_footprint(routing, t->outages));
    places->player = NULL;
    if (t->faults)
        places->player = leat_arena_lay(arena, 1,
                                        leat_net_fault_player_footprint(t->faults, topology));
    places->broken = leat_arena_lay(arena, outs, sizeof *places->broken);
    places->dead = leat_arena_lay(arena, terminals, sizeof *places->dead);
    o->period = leat_arena_lay(arena, periods, sizeof *o->period);
    o->table = leat_arena_lay(arena, outages, sizeof *o->table);
    o->broken = leat_arena_lay(arena, outages * outs, sizeof *o->broken);
    o->dead = leat_arena_lay(arena, outages * terminals, sizeof *o->dead);
    if (has_errors(t->faults)) o->errors = leat_arena_lay(arena, outages * outs, sizeof *o->errors);
}

size_t leat_net_outages_footprint(const struct leat_net_routing *routing,
                                  const struct leat_net_faults *faults, uint64_t cycles)
{
    struct leat_net_outages outages = { .count = 0 };
    struct leat_arena arena = { 0 };
    struct places places;
    struct timeline t;
    begin(&t, faults, cycles);
    const uint32_t periods = count_periods(&t);
    lay(&outages, routing, &t, periods, &arena, &places);
    return arena.used;
}

/* ---- outages --------------------------------------------------------------------------------- */

/* Faults are played to a network that does not run. */
static void do_nothing_at(struct leat_net *net, uint32_t place)
{
    (void)net;
    (void)place;
}

static const struct leat_net_engine still = { .wake = do_nothing_at, .broke = do_nothing_at };

/* The table of the last outage, whose broken wires are known. */
static bool add_table(struct leat_net_outages *o, const struct leat_net *net)
{
    const size_t outs = net->topology->outs;
    uint32_t same = 0;
    while (same < o->count && memcmp(o->broken + same * outs, net->out_broken, outs) != 0)
        same++;
    o->table[o->count] = same < o->count ? o->table[same] : o->rows.tables;
    return same < o->count || leat_net_rows_add(&o->rows, net->routing, net->out_broken);
}

/* As the network is now. */
static bool add_outage(struct leat_net_outages *o, const struct leat_net *net)
{
    const size_t outs = net->topology->outs, terminals = net->topology->terminals;
    if (!add_table(o, net)) return false;
    memcpy(o->broken + o->count * outs, net->out_broken, outs);
    memcpy(o->dead + o->count * terminals, net->terminal_dead, terminals);
    if (net->out_errors)
        memcpy(o->errors + o->count * outs, net->out_errors, outs * sizeof *o->errors);
    o->count++;
    return true;
}

static bool add_periods(struct leat_net_outages *o, struct timeline *t, struct leat_net *net,
                        struct leat_net_fault_player *player)
{
    struct leat_net_lockstep_period period;
    while (next_period(t, &period)) {
        o->period[o->periods++] = period;
        if (period.outage < o->count) continue;
        net->now = period.from;
        leat_net_fault_player_apply(player, net);
        if (net->out_errors && o->errors_from > period.from) o->errors_from = period.from;
        if (!add_outage(o, net)) return false;
    }
    return true;
}

bool leat_net_outages_init(struct leat_net_outages *outages, struct leat_net_routing *routing,
                           const struct leat_net_faults *faults, uint64_t cycles, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    struct leat_net_fault_player player = { .next_at = LEAT_NEVER };
    struct places places;
    struct timeline t;
    begin(&t, faults, cycles);
    const uint32_t periods = count_periods(&t);
    *outages = (struct leat_net_outages){ .errors_from = LEAT_NET_LOCKSTEP_NEVER };
    lay(outages, routing, &t, periods, &arena, &places);
    leat_net_rows_init(&outages->rows, routing, t.outages, places.rows);
    struct leat_net net = { .topology = routing->topology,
                            .routing = routing,
                            .engine = &still,
                            .out_broken = places.broken,
                            .terminal_dead = places.dead };
    if (faults) leat_net_fault_player_init(&player, faults, routing->topology, 0, places.player);
    begin(&t, faults, cycles);
    const bool fits = add_outage(outages, &net) && add_periods(outages, &t, &net, &player);
    for (uint32_t out = 0; out < net.topology->outs; out++)
        leat_net_routing_wire(routing, out, false);
    return fits;
}
