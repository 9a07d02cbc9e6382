#include "net_rows.h"
#include "net_routing_parts.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

enum { BUCKETS = 1 << 12 };

/* A branch before it is known whether there is an equal one. */
struct draft {
    struct leat_net_choice choice[LEAT_NET_PHASE_KINDS][LEAT_NET_RADIX_MAX];
    struct leat_net_branch branch; /* without `first` */
};

leat_err leat_net_rows_check(const struct leat_net_routing *routing, struct leat_text *why)
{
    const enum leat_net_route_rule rule = routing->config.rule;
    if (rule == LEAT_NET_ADAPTIVE || rule == LEAT_NET_VALIANT)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "routing %s, expected a rule with one way at a time",
                               leat_net_rule_name(rule));
    if (routing->topology->processors)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "routers with processors, expected none");
    if (routing->topology->routers > LEAT_NET_ROWS_ROUTERS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u routers, expected at most %u",
                               routing->topology->routers, LEAT_NET_ROWS_ROUTERS_MAX);
    return LEAT_ERR_OK;
}

static void lay(struct leat_net_rows *rows, uint32_t tables, struct leat_arena *arena)
{
    const size_t table = (size_t)rows->routers * rows->routers;
    rows->row = leat_arena_lay(arena, tables * table, sizeof *rows->row);
    rows->branch = leat_arena_lay(arena, LEAT_NET_BRANCHES_MAX, sizeof *rows->branch);
    rows->choice = leat_arena_lay(arena, LEAT_NET_CHOICES_MAX, sizeof *rows->choice);
    rows->bucket = leat_arena_lay(arena, BUCKETS, sizeof *rows->bucket);
    rows->next = leat_arena_lay(arena, LEAT_NET_BRANCHES_MAX, sizeof *rows->next);
}

size_t leat_net_rows_footprint(const struct leat_net_routing *routing, uint32_t tables)
{
    struct leat_net_rows rows = { .routers = routing->topology->routers };
    struct leat_arena arena = { 0 };
    lay(&rows, tables, &arena);
    return arena.used;
}

/* ---- one branch ------------------------------------------------------------------------------ */

static uint8_t number_of(struct leat_net_rows *rows, uint32_t channels)
{
    uint32_t i = 0;
    while (i < rows->sets && rows->set[i] != channels)
        i++;
    assert(i < LEAT_NET_SETS_MAX);
    if (i == rows->sets) rows->set[rows->sets++] = channels;
    return (uint8_t)i;
}

/* A rule may name any port where its packets never come. */
static bool is_sound(const struct leat_net_topology *t, const uint8_t *broken, uint32_t router,
                     uint32_t port)
{
    const uint32_t out_first = t->out_first[router];
    return port < t->out_first[router + 1] - out_first && !(broken && broken[out_first + port]);
}

/* All answers of the rule to a packet in this phase. */
static void ask(struct leat_net_rows *rows, const struct leat_net_routing *routing,
                const uint8_t *broken, uint32_t router, uint32_t terminal, uint32_t phase,
                uint32_t kind, struct draft *draft)
{
    struct leat_net_turn turn = { 0, 1 };
    for (; turn.turn < turn.turns; turn.turn++) {
        struct leat_net_route route = { .destination = terminal,
                                        .via = LEAT_NET_NONE,
                                        .place = routing->target[terminal].place,
                                        .phase = (uint8_t)phase };
        struct leat_net_option option = { 0 };
        turn.turns = 1;
        if (!routing->rule(routing, router, &route, &turn, &option) ||
            !is_sound(routing->topology, broken, router, option.port))
            option.port = option.channels = 0;
        draft->choice[kind][turn.turn] = (struct leat_net_choice){
            .port = (uint16_t)option.port,
            .set = number_of(rows, option.channels),
            .phase = option.phase,
        };
        draft->branch.turns[kind] = (uint16_t)(turn.turn + 1);
    }
}

/* In rings the phase names the dimension that the packet is in; in others, phases are 0 and 1. */
static void draw_up(struct leat_net_rows *rows, const struct leat_net_routing *routing,
                    const uint8_t *broken, uint32_t router, uint32_t terminal, struct draft *draft)
{
    memset(&draft->branch, 0, sizeof draft->branch);
    ask(rows, routing, broken, router, terminal, 0, 0, draft);
    if (routing->is_dimension_order)
        draft->branch.pair = (uint16_t)(draft->choice[0][0].phase >> 1);
    for (uint32_t kind = 1; kind < LEAT_NET_PHASE_KINDS; kind++)
        ask(rows, routing, broken, router, terminal, 2u * draft->branch.pair + kind - 1, kind,
            draft);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static uint32_t hash_of(const struct draft *draft)
{
    uint64_t hash = draft->branch.pair;
    for (uint32_t kind = 0; kind < LEAT_NET_PHASE_KINDS; kind++)
        for (uint32_t i = 0; i < draft->branch.turns[kind]; i++) {
            const struct leat_net_choice *c = &draft->choice[kind][i];
            hash ^= (uint64_t)c->set << 32 | (uint32_t)c->port << 16 | c->phase;
            hash = leat_random_splitmix(&hash) + kind;
        }
    return (uint32_t)hash % BUCKETS;
}

static bool is_equal(const struct leat_net_rows *rows, const struct leat_net_branch *branch,
                     const struct draft *draft)
{
    if (branch->pair != draft->branch.pair) return false;
    for (uint32_t kind = 0; kind < LEAT_NET_PHASE_KINDS; kind++) {
        const uint32_t turns = branch->turns[kind];
        if (turns != draft->branch.turns[kind]) return false;
        if (memcmp(&rows->choice[branch->first[kind]], draft->choice[kind],
                   turns * sizeof *rows->choice) != 0)
            return false;
    }
    return true;
}

static bool add(struct leat_net_rows *rows, const struct draft *draft, uint32_t bucket)
{
    if (rows->branches == LEAT_NET_BRANCHES_MAX) return false;
    struct leat_net_branch *branch = &rows->branch[rows->branches];
    *branch = draft->branch;
    for (uint32_t kind = 0; kind < LEAT_NET_PHASE_KINDS; kind++) {
        const uint32_t turns = branch->turns[kind];
        if (LEAT_NET_CHOICES_MAX - rows->choices < turns) return false;
        branch->first[kind] = rows->choices;
        memcpy(&rows->choice[rows->choices], draft->choice[kind], turns * sizeof *rows->choice);
        rows->choices += turns;
    }
    rows->next[rows->branches] = rows->bucket[bucket];
    rows->bucket[bucket] = ++rows->branches;
    return true;
}

/* Numbers in buckets and chains are one more than those of branches: 0 ends a chain. */
static bool find(struct leat_net_rows *rows, const struct draft *draft, uint16_t *out)
{
    const uint32_t bucket = hash_of(draft);
    uint32_t i = rows->bucket[bucket];
    while (i && !is_equal(rows, &rows->branch[i - 1], draft))
        i = rows->next[i - 1];
    if (!i && !add(rows, draft, bucket)) return false;
    *out = (uint16_t)((i ? i : rows->branches) - 1);
    return true;
}

void leat_net_rows_init(struct leat_net_rows *rows, const struct leat_net_routing *routing,
                        uint32_t tables, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *rows = (struct leat_net_rows){ .routers = routing->topology->routers };
    lay(rows, tables, &arena);
    number_of(rows, routing->channels.all);
}

/* Goals that have no terminal keep row 0, which nobody reads. */
bool leat_net_rows_add(struct leat_net_rows *rows, const struct leat_net_routing *routing,
                       const uint8_t *broken)
{
    const struct leat_net_topology *t = routing->topology;
    uint16_t *row = rows->row + (size_t)rows->tables++ * t->routers * t->routers;
    struct draft draft;
    for (uint32_t terminal = 0; terminal < t->terminals; terminal++) {
        const uint32_t goal = routing->target[terminal].router;
        if (terminal && routing->target[terminal - 1].router == goal) continue;
        for (uint32_t router = 0; router < t->routers; router++) {
            if (router == goal) continue;
            draw_up(rows, routing, broken, router, terminal, &draft);
            if (!find(rows, &draft, &row[(size_t)router * t->routers + goal])) return false;
        }
    }
    return true;
}
