/* Groups of hosts: their means, memory, and trees of SANs (sim_packetway_collect.h). */
#include "leat_arena.h"
#include "sim_packetway_parts.h"
#include <assert.h>
#include <string.h>

enum {
    WORD_LEN = LEAT_PACKETWAY_WORD_LEN,
    FRAME_LEN = LEAT_PACKETWAY_MESSAGE_LEN_MIN + LEAT_SIM_PACKETWAY_HEAD_LEN,
    /* Of a seat: its part enters, joins, is handed over or comes back; and in each operation of the
     * window it is on a link upwards or downwards, or a message of it has been sent or arrives. */
    PLANS_PER_SEAT = 2 + 4 * LEAT_SIM_COLLECT_WINDOW,
};

/* ---- means ----------------------------------------------------------------------------------- */

/* A SAN that has only some means uses messages. */
static const struct leat_port_means *means_of(const struct leat_sim_packetway *p, uint32_t san)
{
    const struct leat_port_means *means = p->config.san[san].net->means;
    return means && means->folds && means->octets_max >= WORD_LEN ? means : NULL;
}

static bool is_connected(const struct leat_sim_packetway *p)
{
    uint32_t routers[LEAT_SIM_PACKETWAY_SANS_MAX];
    leat_sim_packetway_measure_ways(&p->config, 0, routers);
    for (uint32_t i = 0; i < p->config.sans; i++)
        if (routers[i] == UINT32_MAX) return false;
    return true;
}

void leat_sim_packetway_measure_means(struct leat_sim_packetway *p)
{
    const uint64_t room = (uint64_t)p->mtu_least * WORD_LEN - FRAME_LEN;
    struct leat_port_means all = { .folds = UINT32_MAX,
                                   .words_max = LEAT_SIM_PACKETWAY_COLLECT_WORDS,
                                   .octets_max = room,
                                   .groups_max = LEAT_SIM_PACKETWAY_COLLECT_GROUPS };
    bool any = false;
    for (uint32_t i = 0; i < p->config.sans; i++) {
        const struct leat_port_means *one = means_of(p, i);
        if (!one) continue;
        any = true;
        all.folds &= one->folds;
        all.words_max = (uint32_t)leat_smaller(all.words_max, one->words_max);
        all.octets_max = leat_smaller(all.octets_max, one->octets_max);
        all.groups_max = (uint32_t)leat_smaller(all.groups_max, one->groups_max);
    }
    /* The result of a fold is cast. */
    all.words_max = (uint32_t)leat_smaller(all.words_max, all.octets_max / WORD_LEN);
    if (any && is_connected(p)) p->collect.base.means = all;
}

/* ---- memory ---------------------------------------------------------------------------------- */

size_t leat_sim_packetway_collect_plans(const struct leat_sim_packetway *p)
{
    return (size_t)p->collect.base.means.groups_max * p->nodes * PLANS_PER_SEAT;
}

/* A packet with so many octets of an operation. */
static uint32_t packet_len(uint64_t octets)
{
    return (uint32_t)(FRAME_LEN + (octets + WORD_LEN - 1) / WORD_LEN * WORD_LEN);
}

void leat_sim_packetway_collect_lay(struct leat_sim_packetway *p, struct leat_arena *arena)
{
    struct leat_sim_packetway_collect *c = &p->collect;
    const struct leat_port_means means = c->base.means;
    const size_t groups = means.groups_max, seats = groups * p->nodes;
    if (!groups) return;
    leat_sim_collect_lay(&c->base, arena, &means, p->base.ports);
    c->part_len = packet_len(means.words_max * WORD_LEN);
    c->packet_len = packet_len(means.octets_max);
    c->tree = leat_arena_lay(arena, groups, sizeof *c->tree);
    c->branch = leat_arena_lay(arena, groups * p->config.sans, sizeof *c->branch);
    c->seat = leat_arena_lay(arena, seats, sizeof *c->seat);
    c->seat_of = leat_arena_lay(arena, groups * p->base.ports, sizeof *c->seat_of);
    c->word = leat_arena_lay(arena, seats * means.words_max, sizeof *c->word);
    c->part = leat_arena_lay(arena, seats, c->part_len);
    c->sink = leat_arena_lay(arena, 1, means.octets_max);
    c->shown = leat_arena_lay(arena, 1, LEAT_SIM_PACKETWAY_COUNT_LEN + c->packet_len);
    uint8_t *packet = leat_arena_lay(arena, groups * LEAT_SIM_COLLECT_WINDOW, c->packet_len);
    if (!arena->memory) return;
    for (size_t i = 0; i < groups * LEAT_SIM_COLLECT_WINDOW; i++)
        c->tree[i / LEAT_SIM_COLLECT_WINDOW].course[i % LEAT_SIM_COLLECT_WINDOW].packet =
            packet + i * c->packet_len;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Of the SANs with members, the one from which the farthest other one is nearest. */
static uint32_t find_root(const struct leat_sim_packetway *p, const uint32_t *members)
{
    uint32_t routers[LEAT_SIM_PACKETWAY_SANS_MAX], best = 0, best_far = UINT32_MAX;
    for (uint32_t san = 0; san < p->config.sans; san++) {
        if (!members[san]) continue;
        uint32_t far = 0;
        leat_sim_packetway_measure_ways(&p->config, san, routers);
        for (uint32_t i = 0; i < p->config.sans; i++)
            if (members[i] && routers[i] > far) far = routers[i];
        if (far >= best_far) continue;
        best_far = far;
        best = san;
    }
    return best;
}

/* The first router that leads a SAN one step towards the root. All SANs that it leads there have
 * the same parent: its first end that is so near. */
static const struct leat_sim_packetway_router *find_router(const struct leat_sim_packetway *p,
                                                           const uint32_t *far, uint32_t san,
                                                           uint32_t *end, uint32_t *parent_end)
{
    for (uint32_t i = 0; i < p->config.routers; i++) {
        const struct leat_sim_packetway_router *r = &p->config.router[i];
        bool is_here = false, leads = false;
        for (uint32_t k = r->ends; k--;) {
            if (r->end[k].san == san) {
                is_here = true;
                *end = k;
            } else if (far[r->end[k].san] + 1 == far[san]) {
                leads = true;
                *parent_end = k;
            }
        }
        if (is_here && leads) return r;
    }
    return NULL;
}

/* The nodes of the half-routers from a SAN to its parent, and of the twin there. */
static void find_parent(const struct leat_sim_packetway *p, const uint32_t *far, uint32_t san,
                        uint32_t *up, uint32_t *hub)
{
    uint32_t end = 0, parent_end = 0;
    const struct leat_sim_packetway_router *r = find_router(p, far, san, &end, &parent_end);
    assert(r);
    *up = packetway_node_at(p, san, r->end[end].port);
    *hub = packetway_node_at(p, r->end[parent_end].san, r->end[parent_end].port);
}

struct draft {
    uint32_t members[LEAT_SIM_PACKETWAY_SANS_MAX];
    uint32_t far[LEAT_SIM_PACKETWAY_SANS_MAX];
    uint32_t up[LEAT_SIM_PACKETWAY_SANS_MAX], hub[LEAT_SIM_PACKETWAY_SANS_MAX]; /* nodes */
};

/* SANs with members, and those between them and the root. */
static void grow(const struct leat_sim_packetway *p, uint32_t group, struct draft *d)
{
    struct leat_sim_packetway_tree *tree = &p->collect.tree[group - 1];
    tree->root = find_root(p, d->members);
    leat_sim_packetway_measure_ways(&p->config, tree->root, d->far);
    for (uint32_t san = 0; san < p->config.sans; san++)
        *packetway_branch(p, group, san) = (struct leat_sim_packetway_branch){ .parent = san };
    for (uint32_t san = 0; san < p->config.sans; san++) {
        if (!d->members[san]) continue;
        for (uint32_t at = san; !packetway_branch(p, group, at)->is_used;) {
            struct leat_sim_packetway_branch *b = packetway_branch(p, group, at);
            b->is_used = true;
            if (at == tree->root) break;
            find_parent(p, d->far, at, &d->up[at], &d->hub[at]);
            b->parent = p->node[d->hub[at]].san;
            at = b->parent;
        }
    }
}

/* Does the tree use this half-router? */
static bool is_on_tree(const struct leat_sim_packetway *p, uint32_t group, const struct draft *d,
                       uint32_t node)
{
    for (uint32_t san = 0; san < p->config.sans; san++) {
        const struct leat_sim_packetway_branch *b = packetway_branch(p, group, san);
        if (b->is_used && b->parent != san && (d->up[san] == node || d->hub[san] == node))
            return true;
    }
    return false;
}

/* Nodes are SAN by SAN, and so are seats; members are in the order of their nodes. */
static void take_seats(const struct leat_sim_packetway *p, uint32_t group, const struct draft *d)
{
    const struct leat_sim_group *members = &p->collect.base.group[group - 1];
    struct leat_sim_packetway_tree *tree = &p->collect.tree[group - 1];
    tree->seats = 0;
    for (uint32_t i = 0; i < p->nodes; i++) {
        const struct leat_sim_packetway_node *n = &p->node[i];
        struct leat_sim_packetway_branch *b = packetway_branch(p, group, n->san);
        const uint32_t place = n->is_router ? 0 : members->place[n->host];
        if (!place && !(n->is_router && is_on_tree(p, group, d, i))) continue;
        if (!b->end) b->first = tree->seats;
        if (place)
            p->collect.seat_of[(size_t)(group - 1) * p->base.ports + place - 1] = tree->seats;
        *packetway_seat(p, group, tree->seats++) =
            (struct leat_sim_packetway_seat){ .node = i, .place = place };
        b->end = tree->seats;
    }
}

static uint32_t find_seat(const struct leat_sim_packetway *p, uint32_t group, uint32_t node)
{
    const struct leat_sim_packetway_branch *b = packetway_branch(p, group, p->node[node].san);
    uint32_t seat = b->first;
    while (packetway_seat(p, group, seat)->node != node)
        seat++;
    return seat;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Ends the groups of the SANs before this one. */
static void disband_locally(const struct leat_sim_packetway *p, uint32_t group, uint32_t sans)
{
    for (uint32_t san = 0; san < sans; san++) {
        const uint32_t local = packetway_branch(p, group, san)->local;
        if (local) leat_port_disband(p->config.san[san].net, local);
    }
}

static bool group_locally(const struct leat_sim_packetway *p, uint32_t group, const struct draft *d)
{
    uint32_t port[LEAT_SIM_PACKETWAY_NODES_MAX];
    for (uint32_t san = 0; san < p->config.sans; san++) {
        struct leat_sim_packetway_branch *b = packetway_branch(p, group, san);
        if (!d->members[san] || !means_of(p, san)) continue;
        for (uint32_t i = b->first; i < b->end; i++)
            port[i - b->first] = p->node[packetway_seat(p, group, i)->node].port;
        b->local = leat_port_group(p->config.san[san].net, port, b->end - b->first);
        if (b->local) continue;
        disband_locally(p, group, san);
        return false;
    }
    return true;
}

uint32_t leat_sim_packetway_group(struct leat_port_net *base, const uint32_t *port, uint32_t count)
{
    struct leat_sim_packetway *p = (struct leat_sim_packetway *)base;
    struct draft d = { 0 };
    const uint32_t group = leat_sim_collect_group(&p->collect.base, port, count);
    if (!group) return 0;
    for (uint32_t i = 0; i < count; i++)
        d.members[p->node[p->host[port[i]]].san]++;
    grow(p, group, &d);
    take_seats(p, group, &d);
    for (uint32_t san = 0; san < p->config.sans; san++) {
        struct leat_sim_packetway_branch *b = packetway_branch(p, group, san);
        if (!b->is_used || b->parent == san) continue;
        b->up = find_seat(p, group, d.up[san]);
        b->hub = find_seat(p, group, d.hub[san]);
    }
    for (uint32_t i = 0; i < LEAT_SIM_COLLECT_WINDOW; i++)
        p->collect.tree[group - 1].course[i].number = 0;
    if (group_locally(p, group, &d)) {
        p->groups++;
        return group;
    }
    leat_sim_collect_disband(&p->collect.base, group);
    return 0;
}

void leat_sim_packetway_disband(struct leat_port_net *base, uint32_t group)
{
    struct leat_sim_packetway *p = (struct leat_sim_packetway *)base;
    leat_sim_collect_disband(&p->collect.base, group);
    disband_locally(p, group, p->config.sans);
    p->groups--;
}
