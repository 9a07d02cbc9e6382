#include "port_fold.h"
#include "sim_atm_ports_parts.h"
#include <assert.h>
#include <string.h>

enum {
    SPARE_BLOCKS = 16, /* of a receive buffer, besides what a piece of a cast brings */
    CAST_BLOCKS = 12,  /* of a piece of a cast: longer ones are not read while others are sent */
    /* What a tree of parts is made for: the time from one part that a host takes to the next, and
     * that from host to host. Of all ratios this is the fastest over clos444, for parts of 0 to
     * 1,024 words; 1:1 would be a binomial tree. */
    TREE_GAP = 2,
    TREE_LATENCY = 3,
    WORD_LEN = 8,
};

static struct leat_sim_atm_ports *of(struct leat_port_net *net)
{
    return (struct leat_sim_atm_ports *)net; /* its first member */
}

static struct leat_sim_atm_collect_course *course_of(struct leat_sim_atm_collect *c, uint32_t group,
                                                     uint64_t number)
{
    return &c->group[group - 1].course[number % LEAT_SIM_COLLECT_WINDOW];
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* The top of an operation's tree is another member each time: otherwise its unit, which keeps few
 * messages of one source at a time, would be the bottleneck of folds in a row. */
static uint32_t seat_of(uint32_t place, uint64_t number, uint32_t members)
{
    return (uint32_t)((place + members - number % members) % members);
}

static uint32_t place_of(uint32_t seat, uint64_t number, uint32_t members)
{
    return (uint32_t)((seat + number % members) % members);
}

/* The tree in which a result would spread fastest from the top, if each member could pass it on
 * every TREE_GAP, and it took TREE_LATENCY. Backwards it is the one that gathers fastest. */
static void plant(struct leat_sim_atm_collect *c, uint32_t ports)
{
    uint64_t *free_at = c->group[0].course[0].got; /* not in use yet */
    free_at[0] = 0;
    for (uint32_t seat = 1; seat < ports; seat++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < seat; i++)
            if (free_at[i] < free_at[best]) best = i;
        c->parent[seat] = best;
        free_at[seat] = free_at[best] + TREE_LATENCY;
        free_at[best] += TREE_GAP;
    }
    memset(free_at, 0, ports * sizeof *free_at);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void be_ready(struct leat_sim_atm_ports *port, uint32_t group, uint32_t place,
                     uint64_t number)
{
    struct leat_sim_atm_collect *c = &port->collect;
    c->ready[c->ready_count++] = (struct leat_sim_atm_collect_ready){ group, place, number };
    leat_sim_atm_load_pause(&port->load);
}

static void send(struct leat_sim_atm_ports *port, const struct leat_sim_atm_collect_ready *ready,
                 uint32_t to, uint64_t len)
{
    const struct leat_sim_group *group = leat_sim_collect_of(&port->collect.base, ready->group);
    leat_sim_atm_ports_carry(
        port, &(struct leat_sim_atm_ports_entry){
                  .message = { .from = group->member[ready->place].port, .to = to, .len = len },
                  .group = ready->group,
                  .place = ready->place,
                  .operation = ready->number });
}

/* The octets of a root, the result of a fold, or a part of it to the next host. */
static void send_ready(struct leat_sim_atm_ports *port,
                       const struct leat_sim_atm_collect_ready *ready)
{
    struct leat_sim_atm_collect *c = &port->collect;
    struct leat_sim_group *group = leat_sim_collect_of(&c->base, ready->group);
    const struct leat_port_part *what = &leat_sim_collect_op(group, ready->number)->what;
    const uint32_t seat = seat_of(ready->place, ready->number, group->members);
    const uint64_t len = what->kind == LEAT_PORT_CAST ? what->len : what->words * WORD_LEN;
    if (what->kind == LEAT_PORT_FOLD && seat) {
        const uint32_t to = place_of(c->parent[seat], ready->number, group->members);
        send(port, ready, group->member[to].port, len);
        return;
    }
    course_of(c, ready->group, ready->number)->lacking = group->members - 1;
    send(port, ready, c->group[ready->group - 1].to, len);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The first part of an operation is there. */
static void begin(struct leat_sim_atm_collect *c, struct leat_sim_atm_collect_course *course,
                  uint32_t members, uint64_t number)
{
    course->number = number + 1;
    course->has_failed = false;
    course->entered = 0;
    course->lacking = 0;
    for (uint32_t i = 0; i < members; i++) {
        course->missing[i] = 1;
        course->got[i] = 0;
        if (i) course->missing[c->parent[i]]++;
    }
}

/* A part is there, of this member or of one below it. */
static void take(struct leat_sim_atm_ports *port, uint32_t group, uint32_t place, uint64_t number)
{
    struct leat_sim_atm_collect *c = &port->collect;
    const uint32_t members = leat_sim_collect_of(&c->base, group)->members;
    uint32_t *missing = &course_of(c, group, number)->missing[seat_of(place, number, members)];
    assert(*missing);
    if (!--*missing) be_ready(port, group, place, number);
}

/* Folding takes no time, and its order does not matter: all parts go into the result at once. */
static void fold(struct leat_sim_operation *op, struct leat_sim_atm_collect_course *course,
                 const struct leat_port_part *part)
{
    if (course->entered++)
        leat_port_fold_words(part->fold, op->word, part->word, part->words);
    else if (part->words)
        memcpy(op->word, part->word, part->words * sizeof *op->word);
}

static void enter(struct leat_sim_atm_ports *port, uint32_t id, uint32_t place)
{
    struct leat_sim_atm_collect *c = &port->collect;
    struct leat_sim_group *group = leat_sim_collect_of(&c->base, id);
    const uint64_t number = leat_sim_collect_enter(&c->base, id, place);
    struct leat_sim_atm_collect_course *course = course_of(c, id, number);
    const struct leat_port_part *part = &group->member[place].part;
    if (course->number != number + 1) begin(c, course, group->members, number);
    if (part->kind == LEAT_PORT_FOLD) {
        fold(leat_sim_collect_op(group, number), course, part);
        take(port, id, place, number);
    } else if (part->port == part->root) {
        be_ready(port, id, place, number);
    }
}

uint64_t leat_sim_atm_collect_due(const struct leat_sim_atm_ports *port)
{
    const struct leat_sim_atm_collect *c = &port->collect;
    uint64_t due = LEAT_NEVER;
    for (uint32_t i = 0; i < c->part_count; i++)
        due = leat_smaller(due, c->part[i].cycle);
    return due;
}

void leat_sim_atm_collect_go_on(struct leat_sim_atm_ports *port)
{
    struct leat_sim_atm_collect *c = &port->collect;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->part_count; i++) {
        const struct leat_sim_atm_collect_part part = c->part[i];
        if (part.cycle < port->load.sim.now)
            enter(port, part.group, part.place);
        else
            c->part[kept++] = part;
    }
    c->part_count = kept;
    for (uint32_t i = 0; i < c->ready_count; i++)
        send_ready(port, &c->ready[i]);
    c->ready_count = 0;
    port->has_called |= leat_sim_collect_has_news(&c->base);
}

/* ---- results --------------------------------------------------------------------------------- */

static void reach(struct leat_sim_atm_ports *port, const struct leat_sim_atm_ports_entry *e,
                  uint32_t place)
{
    struct leat_sim_collect *base = &port->collect.base;
    const struct leat_sim_group *group = leat_sim_collect_of(base, e->group);
    if (group->member[place].is_reached[e->operation % LEAT_SIM_COLLECT_WINDOW]) return;
    if (course_of(&port->collect, e->group, e->operation)->has_failed)
        leat_sim_collect_fail(base, e->group, place, e->operation);
    else
        leat_sim_collect_reach(base, e->group, place, e->operation);
    leat_sim_atm_load_pause(&port->load);
}

bool leat_sim_atm_collect_is_for(const struct leat_sim_atm_ports *port,
                                 const struct leat_sim_atm_ports_entry *e, uint32_t reader)
{
    const struct leat_sim_group *group = &port->collect.base.group[e->group - 1];
    return reader != e->message.from && group->place[reader];
}

void leat_sim_atm_collect_written(struct leat_sim_atm_ports *port,
                                  struct leat_sim_atm_ports_entry *e)
{
    if (leat_sim_atm_traffic_is_to_many(e->message.to)) reach(port, e, e->place);
}

void leat_sim_atm_collect_got(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e,
                              uint32_t reader, uint32_t len)
{
    struct leat_sim_atm_collect_course *course = course_of(&port->collect, e->group, e->operation);
    const struct leat_sim_group *group = leat_sim_collect_of(&port->collect.base, e->group);
    const uint32_t place = group->place[reader] - 1;
    course->got[place] += len;
    if (course->got[place] < e->message.len) return;
    reach(port, e, place);
    if (!--course->lacking) leat_sim_atm_ports_end(port, e);
}

void leat_sim_atm_collect_arrived(struct leat_sim_atm_ports *port,
                                  struct leat_sim_atm_ports_entry *e)
{
    const struct leat_sim_group *group = leat_sim_collect_of(&port->collect.base, e->group);
    take(port, e->group, group->place[e->message.to] - 1, e->operation);
    leat_sim_atm_ports_end(port, e);
}

void leat_sim_atm_collect_given_up(struct leat_sim_atm_ports *port,
                                   struct leat_sim_atm_ports_entry *e)
{
    const struct leat_sim_group *group = leat_sim_collect_of(&port->collect.base, e->group);
    course_of(&port->collect, e->group, e->operation)->has_failed = true;
    if (!leat_sim_atm_traffic_is_to_many(e->message.to)) {
        leat_sim_atm_collect_arrived(port, e);
        return;
    }
    for (uint32_t i = 0; i < group->members; i++)
        reach(port, e, i);
    leat_sim_atm_ports_end(port, e);
}

/* ---- labels ---------------------------------------------------------------------------------- */

uint32_t leat_sim_atm_collect_labels(const struct leat_atm_clos *net)
{
    const uint32_t most = LEAT_SIM_ATM_COLLECT_STREAMS / net->ports;
    return (uint32_t)leat_smaller(leat_smaller(most, LEAT_ATM_AAL_GROUPS_MAX),
                                  leat_atm_clos_groups(net));
}

static struct leat_sim_atm_collect_label *label_of(struct leat_sim_atm_ports *port, uint32_t to)
{
    return to == LEAT_SIM_ATM_TRAFFIC_ALL ? NULL
                                          : &port->collect.label[LEAT_SIM_ATM_TRAFFIC_GROUP - to];
}

void leat_sim_atm_collect_begun(struct leat_sim_atm_ports *port, uint32_t to)
{
    struct leat_sim_atm_collect_label *label = label_of(port, to);
    if (label) label->pieces++;
}

void leat_sim_atm_collect_over(struct leat_sim_atm_ports *port, uint32_t to)
{
    if (!leat_sim_atm_traffic_is_to_many(to)) return;
    struct leat_sim_atm_collect_label *label = label_of(port, to);
    if (label) label->pieces--;
}

uint32_t *leat_sim_atm_collect_heard(const struct leat_sim_atm_ports *port, uint32_t source,
                                     uint32_t reader, uint32_t to)
{
    const size_t ports = port->net.ports, stream = LEAT_SIM_ATM_TRAFFIC_ALL - to;
    return &port->collect.heard[(stream * ports + source) * ports + reader];
}

/* Nothing of the last group that had this label is in flight. A copy that is, of a cell that has
 * been acknowledged, does no harm: units know its number. */
static bool is_free(const struct leat_sim_atm_ports *port, uint32_t label)
{
    const struct leat_sim_atm_collect_label *l = &port->collect.label[label];
    return !l->in_use && !l->pieces && leat_sim_atm_load_group_is_quiet(&port->load, label);
}

/* The destination of the casts of a new group. */
static uint32_t take_label(struct leat_sim_atm_ports *port, const uint32_t *member, uint32_t count)
{
    struct leat_sim_atm_collect *c = &port->collect;
    uint32_t label = 0;
    if (count == port->net.ports) return LEAT_SIM_ATM_TRAFFIC_ALL;
    while (label < c->labels && !is_free(port, label))
        label++;
    if (label == c->labels) return LEAT_SIM_ATM_TRAFFIC_ALL;
    memset(c->members, 0, (port->net.ports + 63) / 64 * sizeof *c->members);
    for (uint32_t i = 0; i < count; i++)
        c->members[member[i] / 64] |= UINT64_C(1) << member[i] % 64;
    leat_sim_atm_load_set_group(&port->load, label, c->members);
    c->label[label].in_use = true;
    return LEAT_SIM_ATM_TRAFFIC_GROUP - label;
}

/* ---- groups ---------------------------------------------------------------------------------- */

uint32_t leat_sim_atm_collect_group(struct leat_port_net *net, const uint32_t *member,
                                    uint32_t count)
{
    struct leat_sim_atm_collect *c = &of(net)->collect;
    const uint32_t group = net->means ? leat_sim_collect_group(&c->base, member, count) : 0;
    if (!group) return 0;
    for (uint32_t i = 0; i < LEAT_SIM_COLLECT_WINDOW; i++)
        c->group[group - 1].course[i].number = 0;
    c->group[group - 1].to = take_label(of(net), member, count);
    return group;
}

void leat_sim_atm_collect_disband(struct leat_port_net *net, uint32_t group)
{
    struct leat_sim_atm_collect *c = &of(net)->collect;
    struct leat_sim_atm_collect_label *label = label_of(of(net), c->group[group - 1].to);
    if (label) label->in_use = false;
    leat_sim_collect_disband(&c->base, group);
}

void leat_sim_atm_collect_part(struct leat_port_net *net, const struct leat_port_part *part,
                               leat_time at)
{
    struct leat_sim_atm_ports *port = of(net);
    struct leat_sim_atm_collect *c = &port->collect;
    assert(at >= net->now);
    c->part[c->part_count++] = (struct leat_sim_atm_collect_part){
        .cycle = leat_sim_atm_ports_cycle_from(port, at),
        .group = part->group,
        .place = leat_sim_collect_hand_over(&c->base, part),
    };
}

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_sim_atm_collect_lay(struct leat_sim_atm_collect *c, struct leat_arena *arena,
                              const struct leat_sim_atm_fabric *fabric)
{
    const uint32_t ports = fabric->net.ports;
    static const struct leat_port_means means = {
        .folds = (1u << LEAT_PORT_FOLDS) - 1,
        .words_max = LEAT_SIM_ATM_COLLECT_WORDS,
        .octets_max = LEAT_SIM_ATM_COLLECT_OCTETS,
        .groups_max = LEAT_SIM_ATM_COLLECT_GROUPS,
    };
    const size_t all = (size_t)means.groups_max * ports, courses = all * LEAT_SIM_COLLECT_WINDOW;
    leat_sim_collect_lay(&c->base, arena, &means, ports);
    c->group = leat_arena_lay(arena, means.groups_max, sizeof *c->group);
    c->part = leat_arena_lay(arena, all, sizeof *c->part);
    c->ready = leat_arena_lay(arena, all, sizeof *c->ready);
    c->parent = leat_arena_lay(arena, ports, sizeof *c->parent);
    c->labels = fabric->groups;
    c->label = leat_arena_lay(arena, c->labels, sizeof *c->label);
    c->members = leat_arena_lay(arena, (ports + 63) / 64, sizeof *c->members);
    c->heard = leat_arena_lay(arena, (1 + (size_t)c->labels) * ports * ports, sizeof *c->heard);
    uint32_t *missing = leat_arena_lay(arena, courses, sizeof *missing);
    uint64_t *got = leat_arena_lay(arena, courses, sizeof *got);
    if (!arena->memory) return;
    for (uint32_t i = 0; i < means.groups_max * LEAT_SIM_COLLECT_WINDOW; i++) {
        struct leat_sim_atm_collect_course *course =
            &c->group[i / LEAT_SIM_COLLECT_WINDOW].course[i % LEAT_SIM_COLLECT_WINDOW];
        course->missing = missing + (size_t)i * ports;
        course->got = got + (size_t)i * ports;
    }
}

/* The blocks of a piece of a cast. All acknowledgements of the pieces in flight have room at once,
 * and arrive, one after the other, long before their cells are sent again. */
static uint32_t cast_blocks(const struct leat_sim_atm_ports *port)
{
    const struct leat_atm_aal_config *aal = &port->load.config.aal;
    const uint32_t ports = port->net.ports;
    const uint64_t ack_cycles = (uint64_t)LEAT_SIM_ATM_LOAD_LINE_CYCLES * ports;
    const uint32_t room = aal->receive_blocks < SPARE_BLOCKS ? 0
                                                             : aal->receive_blocks - SPARE_BLOCKS;
    const uint64_t most = leat_smaller(room / (ports + 1),
                                       aal->retransmit_cycles / (2 * ack_cycles));
    return (uint32_t)leat_smaller(leat_smaller(most, CAST_BLOCKS), aal->send_blocks);
}

void leat_sim_atm_collect_init(struct leat_sim_atm_ports *port)
{
    struct leat_sim_atm_collect *c = &port->collect;
    const uint32_t blocks = cast_blocks(port);
    plant(c, port->net.ports);
    if (!blocks) return;
    c->cast_max = leat_atm_aal_message_max(blocks);
    leat_sim_collect_init(&c->base, &port->net);
}
