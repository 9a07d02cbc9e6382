#include "sim_collect.h"
#include "leat_fnv.h"
#include "sim_certificate.h"
#include <assert.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_sim_collect_lay(struct leat_sim_collect *c, struct leat_arena *arena,
                          const struct leat_port_means *means, uint32_t ports)
{
    const size_t groups = means->groups_max;
    c->means = *means;
    c->group = leat_arena_lay(arena, groups, sizeof *c->group);
    c->news = leat_arena_lay(arena, groups * ports, sizeof *c->news);
    struct leat_sim_member *member = leat_arena_lay(arena, groups * ports, sizeof *member);
    uint32_t *place = leat_arena_lay(arena, groups * ports, sizeof *place);
    uint64_t *word = leat_arena_lay(arena, groups * LEAT_SIM_COLLECT_WINDOW * means->words_max,
                                    sizeof *word);
    if (!arena->memory) return;
    for (size_t i = 0; i < groups; i++) {
        struct leat_sim_group *group = &c->group[i];
        group->member = member + i * ports;
        group->place = place + i * ports;
        for (size_t k = 0; k < LEAT_SIM_COLLECT_WINDOW; k++)
            group->op[k].word = word + (i * LEAT_SIM_COLLECT_WINDOW + k) * means->words_max;
    }
}

void leat_sim_collect_init(struct leat_sim_collect *c, struct leat_port_net *net)
{
    c->net = net;
    net->means = &c->means;
}

/* ---- groups ---------------------------------------------------------------------------------- */

uint32_t leat_sim_collect_group(struct leat_sim_collect *c, const uint32_t *port, uint32_t count)
{
    const uint32_t ports = c->net->ports;
    uint32_t id = 0;
    assert(count >= 2);
    while (id < c->means.groups_max && c->group[id].members)
        id++;
    if (id == c->means.groups_max) return 0;
    struct leat_sim_group *group = &c->group[id];
    group->members = count;
    group->oldest = 0;
    memset(group->place, 0, ports * sizeof *group->place);
    for (uint32_t i = 0; i < count; i++) {
        assert(port[i] < ports && (!i || port[i] > port[i - 1]));
        group->member[i] = (struct leat_sim_member){ .port = port[i] };
        group->place[port[i]] = i + 1;
    }
    return id + 1;
}

void leat_sim_collect_disband(struct leat_sim_collect *c, uint32_t id)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    assert(group->members);
    for (uint32_t i = 0; i < group->members; i++)
        assert(!group->member[i].has_part && group->member[i].parts == group->oldest);
    group->members = 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool agree(const struct leat_port_part *a, const struct leat_port_part *b)
{
    if (a->kind != b->kind) return false;
    return a->kind == LEAT_PORT_CAST ? a->root == b->root && a->len == b->len
                                     : a->fold == b->fold && a->words == b->words;
}

static void begin(const struct leat_sim_collect *c, struct leat_sim_operation *op,
                  const struct leat_port_part *part)
{
    const struct leat_port_means *means = &c->means;
    assert(part->kind == LEAT_PORT_CAST
               ? part->len <= means->octets_max
               : means->folds >> part->fold & 1 && part->words <= means->words_max);
    *op = (struct leat_sim_operation){ .what = *part, .word = op->word };
    if (part->words) memset(op->word, 0, part->words * sizeof *op->word);
}

/* Its collected() comes by itself, if all that it needs has been handed over. */
static void count_in_flight(const struct leat_sim_collect *c, const struct leat_sim_group *group,
                            struct leat_sim_operation *op, const struct leat_port_part *part)
{
    const bool is_root = part->kind == LEAT_PORT_CAST && part->port == part->root;
    op->handed++;
    if (part->kind == LEAT_PORT_FOLD) {
        if (op->handed == group->members) c->net->in_flight += group->members;
    } else if (is_root) {
        op->has_root = true;
        op->what = *part;
        c->net->in_flight += op->handed;
    } else if (op->has_root) {
        c->net->in_flight++;
    }
}

uint32_t leat_sim_collect_hand_over(struct leat_sim_collect *c, const struct leat_port_part *part)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, part->group);
    assert(group->members && part->port < c->net->ports && group->place[part->port]);
    const uint32_t place = group->place[part->port] - 1;
    struct leat_sim_member *member = &group->member[place];
    struct leat_sim_operation *op = leat_sim_collect_op(group, member->parts);
    assert(!member->has_part && member->parts - group->oldest < LEAT_SIM_COLLECT_WINDOW);
    if (!op->handed) begin(c, op, part);
    assert(agree(&op->what, part));
    count_in_flight(c, group, op, part);
    member->part = *part;
    member->parts++;
    member->has_part = true;
    member->has_entered = false;
    return place;
}

/* ---- results --------------------------------------------------------------------------------- */

static void note(struct leat_sim_collect *c, uint32_t id, uint32_t place)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    const uint32_t port = group->member[place].port;
    c->news[c->news_count++] = (struct leat_sim_collect_news){ port, id, place };
}

/* A member that would be too far ahead of others waits for them: its collected() does not come by
 * itself. */
static void note_or_withhold(struct leat_sim_collect *c, uint32_t id, uint32_t place)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    struct leat_sim_member *member = &group->member[place];
    member->is_withheld = member->parts - group->oldest >= LEAT_SIM_COLLECT_WINDOW;
    if (member->is_withheld)
        c->net->in_flight--;
    else
        note(c, id, place);
}

uint64_t leat_sim_collect_enter(struct leat_sim_collect *c, uint32_t id, uint32_t place)
{
    struct leat_sim_member *member = &leat_sim_collect_of(c, id)->member[place];
    const uint64_t number = member->parts - 1;
    member->has_entered = true;
    if (member->is_reached[number % LEAT_SIM_COLLECT_WINDOW]) note_or_withhold(c, id, place);
    return number;
}

void leat_sim_collect_reach(struct leat_sim_collect *c, uint32_t id, uint32_t place,
                            uint64_t number)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    struct leat_sim_member *member = &group->member[place];
    bool *is_reached = &member->is_reached[number % LEAT_SIM_COLLECT_WINDOW];
    assert(number - group->oldest < LEAT_SIM_COLLECT_WINDOW && !*is_reached);
    *is_reached = true;
    if (member->has_part && member->has_entered && member->parts == number + 1)
        note_or_withhold(c, id, place);
}

void leat_sim_collect_fail(struct leat_sim_collect *c, uint32_t id, uint32_t place, uint64_t number)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    group->member[place].has_failed[number % LEAT_SIM_COLLECT_WINDOW] = true;
    leat_sim_collect_reach(c, id, place, number);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static uint64_t hash_of(struct leat_sim_operation *op)
{
    if (op->has_hash) return op->hash;
    op->has_hash = true;
    op->hash = leat_sim_payload_hash(NULL, 0);
    if (op->what.is_private)
        op->hash = op->what.kind == LEAT_PORT_CAST ? op->what.len : op->what.words;
    else if (op->what.kind == LEAT_PORT_CAST)
        op->hash = leat_sim_payload_hash(op->what.octets, (size_t)op->what.len);
    else
        for (uint32_t i = 0; i < op->what.words; i++)
            op->hash = leat_sim_fnv_word(op->hash, op->word[i]);
    return op->hash;
}

static void certify(const struct leat_sim_collect *c, uint32_t id,
                    const struct leat_sim_member *member, struct leat_sim_operation *op,
                    bool is_done)
{
    const struct leat_sim_delivery delivery = { .at = c->net->now,
                                                .source = (uint64_t)id << 1 | !is_done,
                                                .destination = member->port,
                                                .number = member->parts - 1,
                                                .payload_hash = is_done ? hash_of(op) : 0 };
    struct leat_sim_certificate certificate = { .sum = c->net->collected };
    leat_sim_certificate_add(&certificate, &delivery);
    c->net->collected = leat_sim_certificate_value(&certificate);
}

static void give_result(const struct leat_sim_operation *op, struct leat_port_part *part)
{
    if (part->kind == LEAT_PORT_FOLD && part->words)
        memcpy(part->word, op->word, part->words * sizeof *part->word);
    if (part->kind == LEAT_PORT_CAST && part->port != part->root && part->len)
        memcpy(part->octets, op->what.octets, part->len);
}

/* All members have got the result of the oldest operation: members that waited for that go on,
 * after all others of this time. */
static void end_oldest(struct leat_sim_collect *c, uint32_t id)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    struct leat_sim_operation *op = leat_sim_collect_op(group, group->oldest);
    for (uint32_t i = 0; i < group->members; i++)
        group->member[i].is_reached[group->oldest % LEAT_SIM_COLLECT_WINDOW] =
            group->member[i].has_failed[group->oldest % LEAT_SIM_COLLECT_WINDOW] = false;
    *op = (struct leat_sim_operation){ .word = op->word };
    group->oldest++;
    for (uint32_t i = 0; i < group->members; i++) {
        struct leat_sim_member *member = &group->member[i];
        if (!member->is_withheld || member->parts - group->oldest >= LEAT_SIM_COLLECT_WINDOW)
            continue;
        member->is_withheld = false;
        c->net->in_flight++;
        note(c, id, i);
    }
}

static void tell(struct leat_sim_collect *c, uint32_t id, uint32_t place)
{
    const struct leat_port_observer *observer = &c->net->observer;
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    struct leat_sim_member *member = &group->member[place];
    struct leat_sim_operation *op = leat_sim_collect_op(group, member->parts - 1);
    const bool is_done = !member->has_failed[(member->parts - 1) % LEAT_SIM_COLLECT_WINDOW];
    certify(c, id, member, op, is_done);
    if (is_done) give_result(op, &member->part);
    member->has_part = false;
    c->net->in_flight--;
    op->over++;
    observer->collected(observer->context, &member->part, is_done, c->net->now);
}

static void end_all(struct leat_sim_collect *c, uint32_t id)
{
    struct leat_sim_group *group = leat_sim_collect_of(c, id);
    while (leat_sim_collect_op(group, group->oldest)->over == group->members)
        end_oldest(c, id);
}

static bool is_before(const struct leat_sim_collect_news *a, const struct leat_sim_collect_news *b)
{
    return a->port != b->port ? a->port < b->port : a->group < b->group;
}

/* By insertion: they are few, and mostly in order. */
static void sort(struct leat_sim_collect_news *news, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct leat_sim_collect_news moving = news[i];
        uint32_t at = i;
        for (; at && is_before(&moving, &news[at - 1]); at--)
            news[at] = news[at - 1];
        news[at] = moving;
    }
}

void leat_sim_collect_report(struct leat_sim_collect *c)
{
    while (c->news_count) {
        const uint32_t count = c->news_count;
        sort(c->news, count);
        for (uint32_t i = 0; i < count; i++)
            tell(c, c->news[i].group, c->news[i].place);
        c->news_count = 0;
        for (uint32_t i = 1; i <= c->means.groups_max; i++)
            if (leat_sim_collect_of(c, i)->members) end_all(c, i);
    }
}
