#include "sim_aton_collect_parts.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_sim_aton_collect_lay(struct leat_sim_aton_collect *c, struct leat_arena *arena,
                               uint32_t ports, uint64_t octets_max)
{
    const struct leat_port_means means = { .folds = (1u << LEAT_PORT_FOLDS) - 1,
                                           .words_max = LEAT_SIM_ATON_COLLECT_WORDS_MAX,
                                           .octets_max = octets_max,
                                           .groups_max = LEAT_ATON_COLLECT_GROUPS_MAX };
    leat_sim_collect_lay(&c->base, arena, &means, ports);
    c->member = leat_arena_lay(arena, (size_t)means.groups_max * ports, sizeof *c->member);
    c->seat = leat_arena_lay(arena, ports, sizeof *c->seat);
}

void leat_sim_aton_collect_init(struct leat_sim_aton_collect *c, struct leat_port_net *net,
                                struct leat_sim_aton *ring)
{
    c->ring = ring;
    leat_sim_collect_init(&c->base, net);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct leat_aton_member *member_of(const struct leat_sim_aton_collect *c, uint32_t id,
                                          uint32_t place)
{
    return &c->member[(size_t)(id - 1) * c->base.net->ports + place];
}

uint32_t leat_sim_aton_collect_group(struct leat_sim_aton_collect *c, const uint32_t *port,
                                     uint32_t count)
{
    const uint32_t id = leat_sim_collect_group(&c->base, port, count);
    if (!id) return 0;
    const uint16_t epoch = ++c->epoch[id - 1];
    for (uint32_t i = 0; i < count; i++)
        leat_aton_member_join(member_of(c, id, i), (uint8_t)(id - 1), epoch, i == 0, 0,
                              leat_sim_aton_registers(c->ring, port[i])->operand);
    return id;
}

void leat_sim_aton_collect_disband(struct leat_sim_aton_collect *c, uint32_t id)
{
    const uint32_t members = leat_sim_collect_of(&c->base, id)->members;
    leat_sim_collect_disband(&c->base, id);
    for (uint32_t i = 0; i < members; i++)
        leat_aton_member_leave(member_of(c, id, i));
}

/* ---- sending --------------------------------------------------------------------------------- */

/* At most once for each group: a member has one part, and one order of it at a time. */
static void queue(struct leat_sim_aton_collect *c, uint32_t station, uint32_t id)
{
    struct leat_sim_aton_collect_seat *seat = &c->seat[station];
    assert(seat->waits < LEAT_ATON_COLLECT_GROUPS_MAX);
    seat->waiting[seat->waits++] = (uint8_t)id;
}

void leat_sim_aton_collect_enter(struct leat_sim_aton_collect *c, uint32_t id, uint32_t place)
{
    const struct leat_port_part *part = &leat_sim_collect_of(&c->base, id)->member[place].part;
    struct leat_aton_member *member = member_of(c, id, place);
    leat_sim_collect_enter(&c->base, id, place);
    if (part->kind == LEAT_PORT_FOLD)
        leat_aton_member_enter(member, part->fold, part->word, part->words);
    if (part->kind == LEAT_PORT_CAST ? part->root == part->port : leat_aton_member_wants(member))
        queue(c, part->port, id);
}

/* The root goes on as soon as the interface has the packet. */
static void begin_cast(struct leat_sim_aton_collect *c, uint32_t id, uint32_t place,
                       uint8_t *buffer, struct leat_aton_order *order)
{
    const struct leat_sim_member *root = &leat_sim_collect_of(&c->base, id)->member[place];
    const uint64_t number = root->parts - 1;
    const struct leat_aton_collect_head head = { .kind = LEAT_ATON_COLLECT_CAST,
                                                 .group = (uint8_t)(id - 1),
                                                 .epoch = c->epoch[id - 1],
                                                 .number = (uint32_t)number };
    const size_t len = (size_t)root->part.len;
    leat_aton_collect_head_encode(&head, buffer);
    if (len) memcpy(buffer + LEAT_ATON_COLLECT_HEAD_LEN, root->part.octets, len);
    *order = (struct leat_aton_order){ .is_passive = true,
                                       .command.da = LEAT_ATON_DA_ALL,
                                       .octets = buffer,
                                       .octets_len = (uint16_t)(LEAT_ATON_COLLECT_HEAD_LEN + len) };
    leat_sim_collect_reach(&c->base, id, place, number);
}

bool leat_sim_aton_collect_next(struct leat_sim_aton_collect *c, uint32_t station, uint8_t *buffer,
                                struct leat_aton_order *order)
{
    struct leat_sim_aton_collect_seat *seat = &c->seat[station];
    if (!seat->waits) return false;
    const uint32_t id = seat->waiting[0];
    const struct leat_sim_group *group = leat_sim_collect_of(&c->base, id);
    const uint32_t place = group->place[station] - 1;
    memmove(seat->waiting, seat->waiting + 1, --seat->waits);
    seat->sends = id;
    seat->is_cast = group->member[place].part.kind == LEAT_PORT_CAST;
    if (seat->is_cast)
        begin_cast(c, id, place, buffer, order);
    else
        leat_aton_member_order(member_of(c, id, place), order, buffer);
    seat->symbols = order->is_passive ? LEAT_ATON_FOLD_SYMBOLS + UINT64_C(8) * order->octets_len
                                      : leat_aton_symbols(&order->command, 0);
    return true;
}

/* ---- callbacks of the ring ------------------------------------------------------------------- */

/* The words of a member are the result; all members have the same. */
static void finish(struct leat_sim_aton_collect *c, uint32_t id, uint32_t place)
{
    struct leat_sim_group *group = leat_sim_collect_of(&c->base, id);
    const struct leat_sim_member *member = &group->member[place];
    struct leat_sim_operation *op = leat_sim_collect_op(group, member->parts - 1);
    const size_t len = member->part.words * sizeof *op->word;
    assert(!op->over || !len || memcmp(op->word, member->part.word, len) == 0);
    if (len) memcpy(op->word, member->part.word, len);
    leat_sim_collect_reach(&c->base, id, place, member->parts - 1);
}

void leat_sim_aton_collect_done(struct leat_sim_aton_collect *c,
                                const struct leat_sim_aton_result *r)
{
    struct leat_sim_aton_collect_seat *seat = &c->seat[r->station];
    const uint32_t id = seat->sends;
    seat->sends = 0;
    leat_sim_must(r->result.status == LEAT_ATON_DONE && r->result.copied); /* there are no faults */
    if (seat->is_cast) return; /* its group may be gone */
    const uint32_t place = leat_sim_collect_of(&c->base, id)->place[r->station] - 1;
    struct leat_aton_member *member = member_of(c, id, place);
    if (leat_aton_member_done(member, &r->result, r->payload))
        finish(c, id, place);
    else if (leat_aton_member_wants(member))
        queue(c, r->station, id);
}

static void on_cast(struct leat_sim_aton_collect *c, uint32_t id, uint32_t place,
                    uint32_t low_number, const struct leat_sim_aton_arrival *a)
{
    struct leat_sim_group *group = leat_sim_collect_of(&c->base, id);
    const uint64_t number = group->oldest + (uint32_t)(low_number - (uint32_t)group->oldest);
    const struct leat_port_part *what = &leat_sim_collect_op(group, number)->what;
    assert(what->len == a->len - LEAT_ATON_COLLECT_HEAD_LEN);
    assert(!what->len ||
           memcmp(what->octets, a->octets + LEAT_ATON_COLLECT_HEAD_LEN, what->len) == 0);
    leat_sim_collect_reach(&c->base, id, place, number);
}

static void receive(struct leat_sim_aton_collect *c, uint32_t id, uint32_t place,
                    const struct leat_sim_aton_arrival *a)
{
    struct leat_aton_member *member = member_of(c, id, place);
    const bool wanted = leat_aton_member_wants(member);
    if (leat_aton_member_receive(member, a->octets, a->len))
        finish(c, id, place);
    else if (leat_aton_member_wants(member) && !wanted)
        queue(c, a->station, id);
}

bool leat_sim_aton_collect_arrived(struct leat_sim_aton_collect *c,
                                   const struct leat_sim_aton_arrival *a)
{
    struct leat_aton_collect_head head;
    if (!leat_aton_collect_head_decode(a->octets, a->len, &head)) return false;
    const uint32_t id = head.group + 1u;
    const struct leat_sim_group *group = leat_sim_collect_of(&c->base, id);
    if (!group->members || head.epoch != c->epoch[head.group] || !group->place[a->station])
        return true; /* it is for others */
    const uint32_t place = group->place[a->station] - 1;
    if (head.kind == LEAT_ATON_COLLECT_CAST)
        on_cast(c, id, place, head.number, a);
    else
        receive(c, id, place, a);
    return true;
}
