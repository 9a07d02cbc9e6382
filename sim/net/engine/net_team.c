/*
 * A network in parts, which a crew simulates side by side. Each part is a network of its own
 * (net_cut.h), with its own memory; parts interact only by mail: what crosses the wires between
 * them. As wires need time, mail written in a window of so many cycles is due after it at the
 * earliest:
 *
 *     part 0   |--- window ---|--- window ---|        advance, write mail
 *     part 1   |--- window ---|--- window ---|
 *                             ^ all meet, then read what the others have written
 *
 * There are two sets of letter boxes: while one is read, the next window's mail goes into the
 * other, so that one meeting per window is enough. If nothing happens for some time, all parts know
 * it after they have met, and skip it.
 *
 * Hosts that must be called by one thread at a time are called by member 0. Then a window is one
 * cycle, in two halves: what arrives; calls; what the switches do. Member 0 does cycles with little
 * work alone.
 */
#include "net_cut.h"
#include "net_parts.h"

enum {
    WINDOW_MAX = 64,
    LINE = 64,
    BUSY_ROUTERS = 64, /* of each member: their work takes longer than to call the crew twice */
};

/* What a part tells the others at the end of a window; no two in one cache line. */
struct notice {
    uint64_t next_at; /* the next cycle in which anything happens */
    uint64_t unused[LINE / sizeof(uint64_t) - 1];
};

struct team {
    uint32_t parts;
    uint32_t window;  /* cycles */
    uint32_t *first;  /* [parts + 1] the first router of each */
    uint32_t *number; /* [terminals] of the whole: its number in the part where it sends */
    struct leat_net *part;
    struct leat_net_topology *topology; /* [parts] */
    struct leat_net_mail *box[2];       /* [from * parts + to] */
    struct notice *notice[2];           /* [parts] */
    uint64_t until;                     /* of this run */
    bool rests;                         /* nothing will ever happen */
    struct leat_sim_crew *crew;         /* of this step; NULL: the caller does it alone */
};

static struct team *team_of(const struct leat_net *net)
{
    return net->state;
}

static const struct leat_net_part_engine *engine_of(const struct leat_net *net)
{
    return team_of(net)->part[0].engine->part;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The most words that `from` writes to `to` in a window. */
static uint32_t mail_cap(const struct leat_net *from, uint32_t to, uint32_t window)
{
    const struct leat_net_topology *t = from->topology;
    uint64_t words = 0;
    for (uint32_t i = 0; i < t->out_cuts; i++)
        if (t->out_cut[i].part == to) words += LEAT_NET_MAIL_FLIT;
    for (uint32_t i = 0; i < t->in_cuts; i++)
        if (t->in_cut[i].part == to)
            words += (uint64_t)from->config.channels * LEAT_NET_MAIL_CREDIT;
    assert(words * window < UINT32_MAX);
    return (uint32_t)(words * window);
}

/* A wire's cycles bound the window of those parts that it joins, and those that of all. */
static uint32_t window_bound(const struct leat_net_topology *part, uint32_t bound)
{
    const uint32_t cycles = part->cut_cycles_min + 2;
    return part->in_cuts && cycles < bound ? cycles : bound;
}

static void lay_part(struct leat_net *net, struct team *team, uint32_t index,
                     struct leat_arena *arena)
{
    struct leat_net_topology measured,
        *topology = team->topology ? &team->topology[index] : &measured;
    struct leat_net part = { .topology = topology, .routing = net->routing, .config = net->config };
    leat_arena_lay_lines(arena, 1, LINE);
    leat_net_cut_build(net->topology, team->first, team->parts, index, arena, topology);
    part.config.parts = 1;
    part.engine = &leat_net_vc_engine;
    part.engine->lay(&part, arena);
    team->window = window_bound(topology, team->window);
    if (team->part) team->part[index] = part;
}

/* Room for the boxes of all pairs: every cut wire has its flits in one and its credits in
 * another. */
static void lay_boxes(struct team *team, uint64_t cuts, uint32_t channels, struct leat_arena *arena)
{
    const uint64_t words = cuts * team->window *
                           (LEAT_NET_MAIL_FLIT + (uint64_t)channels * LEAT_NET_MAIL_CREDIT);
    for (uint32_t set = 0; set < 2; set++) {
        const size_t pairs = (size_t)team->parts * team->parts;
        team->notice[set] = leat_arena_lay_lines(arena, team->parts, sizeof *team->notice[set]);
        team->box[set] = leat_arena_lay(arena, pairs, sizeof *team->box[set]);
        uint64_t *word = leat_arena_lay(arena, words, sizeof *word);
        for (uint32_t from = 0; word && from < team->parts; from++)
            for (uint32_t to = 0; to < team->parts; to++) {
                struct leat_net_mail *box = &team->box[set][from * team->parts + to];
                box->word = word;
                box->cap = mail_cap(&team->part[from], to, team->window);
                word += box->cap;
            }
    }
}

static uint64_t count_cuts(const struct leat_net_topology *t, const uint32_t *first, uint32_t parts)
{
    uint64_t cuts = 0;
    for (uint32_t out = 0; out < t->outs; out++) {
        const uint32_t to = leat_net_behind(t, out);
        if (to == LEAT_NET_NONE) continue;
        cuts += leat_net_cut_part(first, parts, to) !=
                leat_net_cut_part(first, parts, t->out_router[out]);
    }
    return cuts;
}

static void lay(struct leat_net *net, struct leat_arena *arena)
{
    uint32_t first[LEAT_SIM_CREW_MAX + 1];
    struct team measured = { 0 }, *team = leat_arena_lay(arena, 1, sizeof *team);
    net->state = team;
    if (!team) team = &measured;
    team->parts = leat_net_parts(net->topology, &net->config);
    team->window = WINDOW_MAX;
    leat_net_cut_bounds(net->topology, team->parts, first);
    uint32_t *kept = leat_arena_lay(arena, (size_t)team->parts + 1, sizeof *kept);
    team->first = kept ? kept : first;
    for (uint32_t i = 0; i <= team->parts; i++)
        team->first[i] = first[i];
    team->number = leat_arena_lay(arena, net->topology->terminals, sizeof *team->number);
    team->part = leat_arena_lay(arena, team->parts, sizeof *team->part);
    team->topology = leat_arena_lay(arena, team->parts, sizeof *team->topology);
    for (uint32_t i = 0; i < team->parts; i++)
        lay_part(net, team, i, arena);
    lay_boxes(team, count_cuts(net->topology, first, team->parts), net->config.channels, arena);
}

static void start(struct leat_net *net)
{
    struct team *team = net->state;
    for (uint32_t i = 0; i < team->parts; i++) {
        struct leat_net *part = &team->part[i];
        part->host = net->host;
        if (net->host.part_context) part->host.context = net->host.part_context[i];
        part->out_flits = net->out_flits + part->topology->out_base;
        part->out_broken = net->out_broken + part->topology->out_base;
        part->terminal_dead = net->terminal_dead;
        for (uint32_t t = 0; t < part->topology->terminals; t++)
            team->number[part->topology->terminal[t]] = t;
        part->engine->start(part);
    }
    for (uint32_t i = 0; i < team->parts; i++) {
        const uint32_t window = engine_of(net)->window(&team->part[i]);
        if (window < team->window) team->window = window;
    }
}

/* ---- mail ------------------------------------------------------------------------------------ */

static void open_boxes(struct team *team, uint32_t index, uint32_t set)
{
    struct leat_net_mail *box = team->box[set] + (size_t)index * team->parts;
    for (uint32_t to = 0; to < team->parts; to++)
        box[to].count = 0;
    team->part[index].mail = box;
}

static bool has_written(const struct team *team, uint32_t index)
{
    for (uint32_t to = 0; to < team->parts; to++)
        if (team->part[index].mail[to].count) return true;
    return false;
}

static void read_boxes(struct leat_net *net, uint32_t index, uint32_t set)
{
    struct team *team = net->state;
    for (uint32_t from = 0; from < team->parts; from++) {
        const struct leat_net_mail *box = &team->box[set][from * team->parts + index];
        if (box->count) engine_of(net)->receive(&team->part[index], box);
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* The next cycle in which anything happens in any part; NEVER: none. */
static uint64_t next_of_all(const struct team *team, uint32_t set)
{
    uint64_t next_at = LEAT_NEVER;
    for (uint32_t i = 0; i < team->parts; i++)
        next_at = leat_smaller(next_at, team->notice[set][i].next_at);
    return next_at;
}

static void advance_part(struct leat_net *net, uint32_t index, uint32_t set, uint64_t to)
{
    struct team *team = net->state;
    struct leat_net *part = &team->part[index];
    open_boxes(team, index, set);
    engine_of(net)->advance(part, to);
    team->notice[set][index].next_at = has_written(team, index) ? to : engine_of(net)->next(part);
}

/* A member's work in a run. All decide alike, from the same notices. */
static void work(void *context, uint32_t member)
{
    struct leat_net *net = context;
    struct team *team = net->state;
    const uint32_t members = leat_sim_crew_members(net->crew);
    uint64_t from = net->now, to = from;
    for (uint32_t set = 0; to < team->until && from != LEAT_NEVER; set ^= 1) {
        to = leat_smaller(team->until, from + team->window);
        for (uint32_t i = member; i < team->parts; i += members)
            advance_part(net, i, set, to);
        leat_sim_crew_meet(net->crew);
        for (uint32_t i = member; i < team->parts; i += members)
            read_boxes(net, i, set);
        from = next_of_all(team, set);
    }
    if (!member) team->rests = from == LEAT_NEVER;
}

/* ---- cycles in steps ------------------------------------------------------------------------- */

static void begin_cycle(void *context, uint32_t member)
{
    struct leat_net *net = context;
    struct team *team = net->state;
    const uint32_t members = leat_sim_crew_members(team->crew);
    for (uint32_t i = member; i < team->parts; i += members)
        engine_of(net)->begin(&team->part[i], net->now);
}

static void end_cycle(void *context, uint32_t member)
{
    struct leat_net *net = context;
    struct team *team = net->state;
    const uint32_t members = leat_sim_crew_members(team->crew);
    for (uint32_t i = member; i < team->parts; i += members) {
        open_boxes(team, i, 0);
        engine_of(net)->end(&team->part[i]);
    }
    leat_sim_crew_meet(team->crew);
    for (uint32_t i = member; i < team->parts; i += members)
        read_boxes(net, i, 0);
}

static bool is_busy(const struct leat_net *net)
{
    const struct team *team = net->state;
    uint64_t routers = 0;
    for (uint32_t i = 0; i < team->parts; i++)
        routers += engine_of(net)->busy_routers(&team->part[i]);
    return routers >= (uint64_t)BUSY_ROUTERS * leat_sim_crew_members(net->crew);
}

static bool is_before(const struct leat_net_packet *a, const struct leat_net_packet *b)
{
    if (a->destination != b->destination) return a->destination < b->destination;
    return a->source != b->source ? a->source < b->source : a->number < b->number;
}

/* Each part has its ends in order. */
static void report_ends(struct leat_net *net)
{
    struct team *team = net->state;
    for (;;) {
        const struct leat_net_packet *first = NULL;
        uint32_t reporter = 0;
        for (uint32_t i = 0; i < team->parts; i++) {
            const struct leat_net_packet *packet = engine_of(net)->first_end(&team->part[i]);
            if (!packet || (first && !is_before(packet, first))) continue;
            first = packet;
            reporter = i;
        }
        if (!first) return;
        engine_of(net)->report_end(&team->part[reporter]);
    }
}

static void step(struct leat_net *net)
{
    struct team *team = net->state;
    team->crew = is_busy(net) ? net->crew : NULL;
    leat_sim_crew_do(team->crew, begin_cycle, net);
    report_ends(net);
    for (uint32_t i = 0; i < team->parts; i++)
        engine_of(net)->send(&team->part[i]);
    leat_sim_crew_do(team->crew, end_cycle, net);
    net->now++;
}

static void run_steps(struct leat_net *net)
{
    struct team *team = net->state;
    while (net->now < team->until && !net->stop) {
        uint64_t at = LEAT_NEVER;
        for (uint32_t i = 0; i < team->parts; i++)
            at = leat_smaller(at, engine_of(net)->next(&team->part[i]));
        team->rests = at == LEAT_NEVER;
        if (team->rests) return;
        if (at < team->until) {
            net->now = at;
            step(net);
            continue;
        }
        for (uint32_t i = 0; i < team->parts; i++)
            engine_of(net)->advance(&team->part[i], team->until);
        net->now = team->until;
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* What users changed between runs. */
static void prepare(struct leat_net *net)
{
    struct team *team = net->state;
    for (uint32_t i = 0; i < team->parts; i++) {
        struct leat_net *part = &team->part[i];
        part->now = net->now;
        part->broken_wires = net->broken_wires;
        part->seed = net->seed;
        if (net->out_errors) part->out_errors = net->out_errors + part->topology->out_base;
    }
    team->rests = false;
}

static void add_counts(struct leat_net *net)
{
    const struct team *team = net->state;
    enum { NUMBERS = sizeof net->counts / sizeof(uint64_t) };
    _Static_assert(sizeof net->counts == NUMBERS * sizeof(uint64_t), "counts are numbers");
    uint64_t *sum = (uint64_t *)&net->counts;
    net->counts = (struct leat_net_counts){ 0 };
    for (uint32_t i = 0; i < team->parts; i++) {
        const uint64_t *number = (const uint64_t *)&team->part[i].counts;
        for (uint32_t n = 0; n < NUMBERS; n++)
            sum[n] += number[n];
    }
}

static uint64_t inside(const struct leat_net *net)
{
    const struct team *team = net->state;
    uint64_t flits = 0;
    for (uint32_t i = 0; i < team->parts; i++)
        flits += team->part[i].engine->inside(&team->part[i]);
    return flits;
}

/* Nothing will happen any more. True: the network is empty. */
static bool come_to_rest(struct leat_net *net)
{
    struct team *team = net->state;
    uint64_t since = net->now, moved_at = 0; /* not before this run */
    for (uint32_t i = 0; i < team->parts; i++) {
        uint64_t part_since, part_moved_at;
        engine_of(net)->rest(&team->part[i], &part_since, &part_moved_at);
        since = leat_larger(since, part_since);
        moved_at = leat_larger(moved_at, part_moved_at);
    }
    for (uint32_t i = 0; i < team->parts; i++)
        engine_of(net)->settle(&team->part[i], since);
    net->now = since;
    if (inside(net))
        net->now = moved_at;
    else if (team->until != LEAT_NEVER)
        net->now = team->until;
    return !inside(net);
}

static bool run(struct leat_net *net, uint64_t until)
{
    struct team *team = net->state;
    if (net->now >= until) return true;
    prepare(net);
    team->until = until;
    if (net->host.part_context)
        leat_sim_crew_do(net->crew, work, net);
    else
        run_steps(net);
    const bool alive = !team->rests || come_to_rest(net);
    if (!team->rests && net->host.part_context) net->now = until;
    add_counts(net);
    return alive;
}

/* ---- what users do between runs -------------------------------------------------------------- */

static void wake(struct leat_net *net, uint32_t terminal)
{
    const struct team *team = net->state;
    const uint32_t router = net->topology->in_router[net->topology->terminal_in[terminal]];
    struct leat_net *part = &team->part[leat_net_cut_part(team->first, team->parts, router)];
    part->engine->wake(part, team->number[terminal]);
}

static void broke(struct leat_net *net, uint32_t out)
{
    struct team *team = net->state;
    const uint32_t router = net->topology->out_router[out];
    const uint32_t index = leat_net_cut_part(team->first, team->parts, router);
    struct leat_net *part = &team->part[index];
    const uint32_t to = part->topology->out_to[out - part->topology->out_base];
    prepare(net);
    part->engine->broke(part, out - part->topology->out_base);
    if (to & LEAT_NET_TERMINAL || !(to & LEAT_NET_CROSSING)) return;
    const struct leat_net_cut *cut = &part->topology->out_cut[to ^ LEAT_NET_CROSSING];
    engine_of(net)->cut(&team->part[cut->part], cut->port);
}

static void rerouted(struct leat_net *net)
{
    struct team *team = net->state;
    prepare(net);
    for (uint32_t i = 0; i < team->parts; i++)
        if (team->part[i].engine->rerouted) team->part[i].engine->rerouted(&team->part[i]);
}

static uint32_t stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap)
{
    const struct team *team = net->state;
    const struct leat_net *part[LEAT_SIM_CREW_MAX];
    for (uint32_t i = 0; i < team->parts; i++)
        part[i] = &team->part[i];
    return engine_of(net)->stuck(part, team->parts, out, cap);
}

const struct leat_net_engine leat_net_team_engine = {
    .lay = lay,
    .start = start,
    .run = run,
    .wake = wake,
    .inside = inside,
    .stuck = stuck,
    .broke = broke,
    .rerouted = rerouted,
};
