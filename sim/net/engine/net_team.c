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
 * There are two sets of boxes: while one is read, the next window's mail goes into the
 * other, so that one meeting per window is enough. If nothing happens for some time, all parts know
 * it after they have met, and skip it.
 *
 * Hosts that must be called by one thread at a time are called by member 0. Then a window is one
 * cycle, in two halves: what arrives; calls; what the switches do. Member 0 does cycles with little
 * work alone.
 *
 * Ranks: each process has some of the parts. When its members have met, member 0 exchanges parcels
 * with the other ranks: all boxes for their parts.
 */
#include "net_cut.h"
#include "net_parts.h"
#include <string.h>

enum {
    WINDOW_MAX = 64,
    BOX_HEAD = 2, /* words before a box in a parcel: from << 32 | to, its count */
    LINE = 64,
    BUSY_ROUTERS = 64, /* of each member: their work takes longer than to call the crew twice */
};

/* What a part tells the others at the end of a window; no two in one cache line. */
struct notice {
    uint64_t next_at; /* the next cycle in which anything happens */
    uint64_t unused[LINE / sizeof(uint64_t) - 1];
};

struct team {
    uint32_t parts;       /* of all ranks */
    uint32_t begin, end;  /* those of this rank */
    uint32_t window;      /* cycles */
    bool is_agreed;       /* the window is that of all ranks */
    uint32_t *first;      /* [parts + 1] the first router of each */
    uint32_t *number;     /* [terminals] of the whole: its number in the part where it sends */
    struct leat_net *own; /* [end - begin] */
    struct leat_net_topology *topology; /* [end - begin] */
    struct leat_sim_parcel *box[2];     /* [from * parts + to] */
    struct notice *notice[2];           /* [end - begin] */
    struct leat_sim_parcel *parcel[2];  /* [ranks] out, in: all boxes for a rank, or from it */
    uint64_t until;                     /* of this run */
    uint64_t next_at;                   /* of all ranks */
    bool rests;                         /* nothing will ever happen */
    struct leat_sim_crew *crew;         /* of this step; NULL: the caller does it alone */
};

static struct team *team_of(const struct leat_net *net)
{
    return net->state;
}

static const struct leat_net_part_engine *engine_of(const struct leat_net *net)
{
    return team_of(net)->own[0].engine->part;
}

/* A part of this rank. */
static struct leat_net *part_of(const struct team *team, uint32_t index)
{
    return &team->own[index - team->begin];
}

static bool is_own(const struct team *team, uint32_t index)
{
    return team->begin <= index && index < team->end;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The most words that a part writes to another in a window, or reads from it. */
static uint32_t mail_cap(const struct leat_net *part, uint32_t other, bool writes, uint32_t window)
{
    const struct leat_net_topology *t = part->topology;
    const uint64_t credits = (uint64_t)part->config.channels * LEAT_NET_MAIL_CREDIT;
    uint64_t words = 0;
    for (uint32_t i = 0; i < t->out_cuts; i++)
        if (t->out_cut[i].part == other) words += writes ? LEAT_NET_MAIL_FLIT : credits;
    for (uint32_t i = 0; i < t->in_cuts; i++)
        if (t->in_cut[i].part == other) words += writes ? credits : LEAT_NET_MAIL_FLIT;
    assert(words * window < UINT32_MAX);
    return (uint32_t)(words * window);
}

/* No window is longer than the shortest wire between parts, and the two cycles at its ends. With
 * ranks: of the wires that this one knows. */
static uint32_t window_bound(const struct leat_net_topology *t, const uint32_t *first,
                             uint32_t parts)
{
    uint32_t bound = WINDOW_MAX;
    for (uint32_t out = t->out_first[t->held_begin]; out < t->out_first[t->held_end]; out++) {
        const uint32_t to = leat_net_behind(t, out);
        if (to == LEAT_NET_NONE || t->out_cycles[out] + 2u >= bound) continue;
        if (leat_net_cut_part(first, parts, to) !=
            leat_net_cut_part(first, parts, t->out_router[out]))
            bound = t->out_cycles[out] + 2u;
    }
    return bound;
}

/* Returns how many wires it shares with others. */
static uint64_t lay_part(struct leat_net *net, struct team *team, uint32_t index,
                         struct leat_arena *arena)
{
    struct leat_net_topology measured, *topology = &measured;
    if (team->topology) topology = &team->topology[index - team->begin];
    struct leat_net part = { .topology = topology, .routing = net->routing, .config = net->config };
    leat_arena_lay_lines(arena, 1, LINE);
    leat_net_cut_build(net->topology, team->first, team->parts, index, arena, topology);
    part.config.parts = 1;
    part.config.ranks = NULL;
    part.engine = &leat_net_vc_engine;
    part.engine->lay(&part, arena);
    if (team->own) *part_of(team, index) = part;
    return (uint64_t)topology->out_cuts + topology->in_cuts;
}

static void place_boxes(struct team *team, uint32_t set, uint64_t *word)
{
    for (uint32_t from = 0; from < team->parts; from++)
        for (uint32_t to = 0; to < team->parts; to++) {
            struct leat_sim_parcel *box = &team->box[set][from * team->parts + to];
            if (is_own(team, from))
                box->cap = mail_cap(part_of(team, from), to, true, team->window);
            else if (is_own(team, to))
                box->cap = mail_cap(part_of(team, to), from, false, team->window);
            box->word = word;
            word += box->cap;
        }
}

/* A parcel to a rank has the boxes from own parts to its parts; one from it, those back. */
static void place_parcels(const struct leat_net *net, struct team *team, uint64_t *word)
{
    const struct leat_net_config *c = &net->config;
    for (uint32_t r = 0; r < c->ranks->count; r++) {
        const uint32_t begin = leat_net_parts_first(c, team->parts, r);
        const uint32_t end = leat_net_parts_first(c, team->parts, r + 1);
        uint64_t words[2] = { 0, 0 };
        for (uint32_t own = team->begin; r != c->ranks->rank && own < team->end; own++)
            for (uint32_t other = begin; other < end; other++) {
                const uint32_t out = team->box[0][own * team->parts + other].cap;
                const uint32_t in = team->box[0][other * team->parts + own].cap;
                words[0] += out ? out + BOX_HEAD : 0;
                words[1] += in ? in + BOX_HEAD : 0;
            }
        for (int way = 0; way < 2; way++) {
            assert(words[way] < INT32_MAX);
            team->parcel[way][r] = (struct leat_sim_parcel){ .word = word,
                                                             .cap = (uint32_t)words[way] };
            word += words[way];
        }
    }
}

/* Room for what crosses so many ends of wires: at each, flits one way and credits the other. */
static void lay_boxes(const struct leat_net *net, struct team *team, uint64_t cuts,
                      struct leat_arena *arena)
{
    const size_t pairs = (size_t)team->parts * team->parts, own = team->end - team->begin;
    const uint64_t ends = LEAT_NET_MAIL_FLIT +
                          (uint64_t)net->config.channels * LEAT_NET_MAIL_CREDIT;
    const uint64_t words = cuts * team->window * ends;
    for (uint32_t set = 0; set < 2; set++) {
        team->notice[set] = leat_arena_lay_lines(arena, own, sizeof *team->notice[set]);
        team->box[set] = leat_arena_lay(arena, pairs, sizeof *team->box[set]);
        uint64_t *word = leat_arena_lay(arena, words, sizeof *word);
        if (word) place_boxes(team, set, word);
    }
    if (!net->config.ranks) return;
    for (uint32_t way = 0; way < 2; way++)
        team->parcel[way] = leat_arena_lay(arena, net->config.ranks->count,
                                           sizeof *team->parcel[way]);
    uint64_t *word = leat_arena_lay(arena, words + 2 * BOX_HEAD * own * team->parts, sizeof *word);
    if (word) place_parcels(net, team, word);
}

static void lay(struct leat_net *net, struct leat_arena *arena)
{
    uint32_t first[LEAT_NET_PARTS_MAX + 1];
    struct team measured = { 0 }, *team = leat_arena_lay(arena, 1, sizeof *team);
    uint64_t cuts = 0;
    net->state = team;
    if (!team) team = &measured;
    team->parts = leat_net_parts(net->topology, &net->config);
    team->begin = leat_net_parts_first(&net->config, team->parts,
                                       leat_sim_ranks_own(net->config.ranks));
    team->end = leat_net_parts_first(&net->config, team->parts,
                                     leat_sim_ranks_own(net->config.ranks) + 1);
    leat_net_cut_bounds(net->topology, team->parts, first);
    team->window = window_bound(net->topology, first, team->parts);
    uint32_t *kept = leat_arena_lay(arena, (size_t)team->parts + 1, sizeof *kept);
    team->first = kept ? kept : first;
    for (uint32_t i = 0; i <= team->parts; i++)
        team->first[i] = first[i];
    team->number = leat_arena_lay(arena, net->topology->terminals, sizeof *team->number);
    team->own = leat_arena_lay(arena, team->end - team->begin, sizeof *team->own);
    team->topology = leat_arena_lay(arena, team->end - team->begin, sizeof *team->topology);
    for (uint32_t i = team->begin; i < team->end; i++)
        cuts += lay_part(net, team, i, arena);
    lay_boxes(net, team, cuts, arena);
}

static void start(struct leat_net *net)
{
    struct team *team = net->state;
    assert(net->host.part_context || !net->config.ranks);
    for (uint32_t i = team->begin; i < team->end; i++) {
        struct leat_net *part = part_of(team, i);
        part->host = net->host;
        if (net->host.part_context) part->host.context = net->host.part_context[i - team->begin];
        part->out_flits = net->out_flits + part->topology->out_base;
        part->out_broken = net->out_broken + part->topology->out_base;
        part->terminal_dead = net->terminal_dead;
        for (uint32_t t = 0; t < part->topology->terminals; t++)
            team->number[part->topology->terminal[t]] = t;
        part->engine->start(part);
    }
    for (uint32_t i = team->begin; i < team->end; i++) {
        const uint32_t window = engine_of(net)->window(part_of(team, i));
        if (window < team->window) team->window = window;
    }
}

/* ---- mail ------------------------------------------------------------------------------------ */

static void open_boxes(struct team *team, uint32_t index, uint32_t set)
{
    struct leat_sim_parcel *box = team->box[set] + (size_t)index * team->parts;
    for (uint32_t to = 0; to < team->parts; to++)
        box[to].count = 0;
    part_of(team, index)->mail = box;
}

static bool has_written(const struct team *team, uint32_t index)
{
    for (uint32_t to = 0; to < team->parts; to++)
        if (part_of(team, index)->mail[to].count) return true;
    return false;
}

static void read_boxes(struct leat_net *net, uint32_t index, uint32_t set)
{
    struct team *team = net->state;
    for (uint32_t from = 0; from < team->parts; from++) {
        const struct leat_sim_parcel *box = &team->box[set][from * team->parts + index];
        if (box->count) engine_of(net)->receive(part_of(team, index), box);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void write_parcels(struct leat_net *net, uint32_t set)
{
    struct team *team = net->state;
    const struct leat_net_config *c = &net->config;
    for (uint32_t r = 0; r < c->ranks->count; r++) {
        struct leat_sim_parcel *parcel = &team->parcel[0][r];
        const uint32_t end = leat_net_parts_first(c, team->parts, r + 1);
        parcel->count = 0;
        if (!parcel->cap) continue;
        for (uint32_t from = team->begin; from < team->end; from++)
            for (uint32_t to = leat_net_parts_first(c, team->parts, r); to < end; to++) {
                const struct leat_sim_parcel *box = &team->box[set][from * team->parts + to];
                if (!box->count) continue;
                parcel->word[parcel->count++] = (uint64_t)from << 32 | to;
                parcel->word[parcel->count++] = box->count;
                memcpy(parcel->word + parcel->count, box->word, box->count * sizeof *box->word);
                parcel->count += box->count;
            }
    }
}

static void read_parcels(struct leat_net *net, uint32_t set)
{
    struct team *team = net->state;
    for (uint32_t from = 0; from < team->parts; from++)
        for (uint32_t to = team->begin; !is_own(team, from) && to < team->end; to++)
            team->box[set][from * team->parts + to].count = 0;
    for (uint32_t r = 0; r < net->config.ranks->count; r++) {
        const struct leat_sim_parcel *parcel = &team->parcel[1][r];
        for (uint32_t at = 0; parcel->cap && at < parcel->count;) {
            const uint64_t pair = parcel->word[at++], count = parcel->word[at++];
            struct leat_sim_parcel *box =
                &team->box[set][(pair >> 32) * team->parts + (uint32_t)pair];
            assert(count <= box->cap && at + count <= parcel->count);
            memcpy(box->word, parcel->word + at, count * sizeof *box->word);
            box->count = (uint32_t)count;
            at += (uint32_t)count;
        }
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* The next cycle in which anything happens in any part of this rank; NEVER: none. */
static uint64_t next_of_own(const struct team *team, uint32_t set)
{
    uint64_t next_at = LEAT_NEVER;
    for (uint32_t i = 0; i < team->end - team->begin; i++)
        next_at = leat_smaller(next_at, team->notice[set][i].next_at);
    return next_at;
}

static void advance_part(struct leat_net *net, uint32_t index, uint32_t set, uint64_t to)
{
    struct team *team = net->state;
    struct leat_net *part = part_of(team, index);
    open_boxes(team, index, set);
    engine_of(net)->advance(part, to);
    team->notice[set][index - team->begin].next_at = has_written(team, index)
                                                         ? to
                                                         : engine_of(net)->next(part);
}

/* All parts have advanced: what do other ranks tell? Returns the next cycle in which anything
 * happens. */
static uint64_t meet_all(struct leat_net *net, uint32_t member, uint32_t set)
{
    struct team *team = net->state;
    struct leat_sim_ranks *ranks = net->config.ranks;
    leat_sim_crew_meet(net->crew);
    if (!ranks) return next_of_own(team, set);
    if (!member) {
        write_parcels(net, set);
        team->next_at = ranks->exchange(ranks, team->parcel[0], team->parcel[1],
                                        next_of_own(team, set));
        read_parcels(net, set);
    }
    leat_sim_crew_meet(net->crew);
    return team->next_at;
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
        for (uint32_t i = team->begin + member; i < team->end; i += members)
            advance_part(net, i, set, to);
        from = meet_all(net, member, set);
        for (uint32_t i = team->begin + member; i < team->end; i += members)
            read_boxes(net, i, set);
    }
    if (!member) team->rests = from == LEAT_NEVER;
}

/* ---- cycles in steps ------------------------------------------------------------------------- */

static void begin_cycle(void *context, uint32_t member)
{
    struct leat_net *net = context;
    struct team *team = net->state;
    const uint32_t members = leat_sim_crew_members(team->crew);
    for (uint32_t i = member; i < team->end; i += members)
        engine_of(net)->begin(&team->own[i], net->now);
}

static void end_cycle(void *context, uint32_t member)
{
    struct leat_net *net = context;
    struct team *team = net->state;
    const uint32_t members = leat_sim_crew_members(team->crew);
    for (uint32_t i = member; i < team->end; i += members) {
        open_boxes(team, i, 0);
        engine_of(net)->end(&team->own[i]);
    }
    leat_sim_crew_meet(team->crew);
    for (uint32_t i = member; i < team->end; i += members)
        read_boxes(net, i, 0);
}

static bool is_busy(const struct leat_net *net)
{
    const struct team *team = net->state;
    uint64_t routers = 0;
    for (uint32_t i = 0; i < team->end - team->begin; i++)
        routers += engine_of(net)->busy_routers(&team->own[i]);
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
        for (uint32_t i = 0; i < team->end - team->begin; i++) {
            const struct leat_net_packet *packet = engine_of(net)->first_end(&team->own[i]);
            if (!packet || (first && !is_before(packet, first))) continue;
            first = packet;
            reporter = i;
        }
        if (!first) return;
        engine_of(net)->report_end(&team->own[reporter]);
    }
}

static void step(struct leat_net *net)
{
    struct team *team = net->state;
    team->crew = is_busy(net) ? net->crew : NULL;
    leat_sim_crew_do(team->crew, begin_cycle, net);
    report_ends(net);
    for (uint32_t i = 0; i < team->end - team->begin; i++)
        engine_of(net)->send(&team->own[i]);
    leat_sim_crew_do(team->crew, end_cycle, net);
    net->now++;
}

static void run_steps(struct leat_net *net)
{
    struct team *team = net->state;
    while (net->now < team->until && !net->stop) {
        uint64_t at = LEAT_NEVER;
        for (uint32_t i = 0; i < team->end - team->begin; i++)
            at = leat_smaller(at, engine_of(net)->next(&team->own[i]));
        team->rests = at == LEAT_NEVER;
        if (team->rests) return;
        if (at < team->until) {
            net->now = at;
            step(net);
            continue;
        }
        for (uint32_t i = 0; i < team->end - team->begin; i++)
            engine_of(net)->advance(&team->own[i], team->until);
        net->now = team->until;
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* What users changed between runs. */
static void prepare(struct leat_net *net)
{
    struct team *team = net->state;
    for (uint32_t i = 0; i < team->end - team->begin; i++) {
        struct leat_net *part = &team->own[i];
        part->now = net->now;
        part->broken_wires = net->broken_wires;
        part->seed = net->seed;
        if (net->out_errors) part->out_errors = net->out_errors + part->topology->out_base;
    }
    team->rests = false;
    if (!team->is_agreed && net->config.ranks)
        team->window = (uint32_t)net->config.ranks->least(net->config.ranks, team->window);
    team->is_agreed = true;
}

static void add_counts(struct leat_net *net)
{
    const struct team *team = net->state;
    enum { NUMBERS = sizeof net->counts / sizeof(uint64_t) };
    _Static_assert(sizeof net->counts == NUMBERS * sizeof(uint64_t), "counts are numbers");
    uint64_t *sum = (uint64_t *)&net->counts;
    net->counts = (struct leat_net_counts){ 0 };
    for (uint32_t i = 0; i < team->end - team->begin; i++) {
        const uint64_t *number = (const uint64_t *)&team->own[i].counts;
        for (uint32_t n = 0; n < NUMBERS; n++)
            sum[n] += number[n];
    }
}

static uint64_t inside(const struct leat_net *net)
{
    const struct team *team = net->state;
    uint64_t flits = 0;
    for (uint32_t i = 0; i < team->end - team->begin; i++)
        flits += team->own[i].engine->inside(&team->own[i]);
    return flits;
}

/* Nothing will happen any more. True: the network is empty. */
static bool come_to_rest(struct leat_net *net)
{
    struct team *team = net->state;
    uint64_t since = net->now, moved_at = 0; /* not before this run */
    for (uint32_t i = 0; i < team->end - team->begin; i++) {
        uint64_t part_since, part_moved_at;
        engine_of(net)->rest(&team->own[i], &part_since, &part_moved_at);
        since = leat_larger(since, part_since);
        moved_at = leat_larger(moved_at, part_moved_at);
    }
    since = leat_sim_ranks_most(net->config.ranks, since);
    moved_at = leat_sim_ranks_most(net->config.ranks, moved_at);
    const bool empty = !leat_sim_ranks_most(net->config.ranks, inside(net));
    for (uint32_t i = 0; i < team->end - team->begin; i++)
        engine_of(net)->settle(&team->own[i], since);
    net->now = since;
    if (!empty)
        net->now = moved_at;
    else if (team->until != LEAT_NEVER)
        net->now = team->until;
    return empty;
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
    const uint32_t index = leat_net_cut_part(team->first, team->parts, router);
    if (!is_own(team, index)) return;
    struct leat_net *part = part_of(team, index);
    part->engine->wake(part, team->number[terminal]);
}

/* The wire's part marks the packets that are about to cross it, the part at its end those on it. */
static void broke(struct leat_net *net, uint32_t out)
{
    const struct team *team = net->state;
    const struct leat_net_topology *t = net->topology;
    const uint32_t from = leat_net_cut_part(team->first, team->parts, t->out_router[out]);
    const uint32_t behind = leat_net_behind(t, out);
    const uint32_t to = behind == LEAT_NET_NONE
                            ? from
                            : leat_net_cut_part(team->first, team->parts, behind);
    prepare(net);
    if (is_own(team, from)) {
        struct leat_net *part = part_of(team, from);
        part->engine->broke(part, out - part->topology->out_base);
    }
    if (to != from && is_own(team, to)) {
        struct leat_net *part = part_of(team, to);
        engine_of(net)->cut(part, t->out_to[out] - part->topology->in_base);
    }
}

static void rerouted(struct leat_net *net)
{
    struct team *team = net->state;
    prepare(net);
    for (uint32_t i = 0; i < team->end - team->begin; i++)
        if (team->own[i].engine->rerouted) team->own[i].engine->rerouted(&team->own[i]);
}

static uint64_t out_flits(const struct leat_net *net, uint32_t out)
{
    const struct team *team = net->state;
    const struct leat_net_topology *t = net->topology;
    if (out < t->out_first[t->held_begin] || out >= t->out_first[t->held_end]) return 0;
    const uint32_t index = leat_net_cut_part(team->first, team->parts, t->out_router[out]);
    if (!is_own(team, index)) return 0;
    const struct leat_net *part = part_of(team, index);
    return part->engine->out_flits(part, out - part->topology->out_base);
}

static uint32_t stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap)
{
    const struct team *team = net->state;
    const struct leat_net *part[LEAT_NET_PARTS_MAX];
    if (net->config.ranks) return 0;
    for (uint32_t i = 0; i < team->parts; i++)
        part[i] = &team->own[i];
    return engine_of(net)->stuck(part, team->parts, out, cap);
}

const struct leat_net_engine leat_net_team_engine = {
    .lay = lay,
    .start = start,
    .run = run,
    .wake = wake,
    .inside = inside,
    .out_flits = out_flits,
    .stuck = stuck,
    .broke = broke,
    .rerouted = rerouted,
};
