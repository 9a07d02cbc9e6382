#include "ether_port_parts.h"
#include <assert.h>

enum { GROUPS = LEAT_SIM_ETHER_ESP_GROUPS, OPERAND_LEN = LEAT_ESP_OPERAND_LEN };

/* What goes on in the same bit time comes in this order, then by number. */
enum step {
    ENTERS,   /* the time of a part: sender */
    COMPUTED, /* the processor is done with its first packet */
    REACHED,  /* all of a result is at a member: window and sender */
    FAILED,   /* an operation is over without a result: window and group */
};

static struct leat_sim_ether_port *of(struct leat_port_net *base)
{
    return (struct leat_sim_ether_port *)base; /* its first member */
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t sender_of(const struct leat_sim_ether_port *p, uint32_t group, uint32_t station)
{
    return (group - 1) * p->base.ports + station;
}

static uint32_t group_of(const struct leat_sim_ether_port *p, uint32_t sender)
{
    return sender / p->base.ports + 1;
}

static uint32_t station_of(const struct leat_sim_ether_port *p, uint32_t sender)
{
    return sender % p->base.ports;
}

static uint32_t place_of(struct leat_sim_ether_port *p, uint32_t sender)
{
    return leat_sim_collect_of(&p->esp.collect, group_of(p, sender))->place[station_of(p, sender)] -
           1;
}

static struct leat_sim_member *member_of(struct leat_sim_ether_port *p, uint32_t sender)
{
    return &leat_sim_collect_of(&p->esp.collect, group_of(p, sender))->member[place_of(p, sender)];
}

static struct leat_sim_ether_esp_operation *operation_of(struct leat_sim_ether_port *p,
                                                         uint32_t group, uint64_t number)
{
    return &p->esp.group[group - 1].op[number % LEAT_SIM_COLLECT_WINDOW];
}

static leat_time now_of(const struct leat_sim_ether_port *p)
{
    return leat_sim_clock_at(&p->config.clock, p->now);
}

static void plan(struct leat_sim_ether_port *p, enum step step, uint32_t entity, uint64_t at)
{
    const uint64_t order = (uint64_t)step << 32 | entity;
    leat_sim_post_plan(&p->esp.future, (struct leat_sim_plan){ at, order, entity, (uint32_t)step });
}

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_sim_ether_esp_lay(struct leat_sim_ether_port *p, struct leat_arena *arena)
{
    static const struct leat_port_means means = {
        .folds = (1u << LEAT_PORT_FOLDS) - 1,
        .words_max = LEAT_SIM_ETHER_ESP_WORDS_MAX,
        .octets_max = LEAT_SIM_ETHER_ESP_OCTETS_MAX,
        .groups_max = GROUPS,
    };
    struct leat_sim_ether_esp *esp = &p->esp;
    const uint32_t stations = p->config.stations;
    const size_t senders = (size_t)GROUPS * stations, windows = LEAT_SIM_COLLECT_WINDOW;
    leat_sim_collect_lay(&esp->collect, arena, &means, stations);
    leat_sim_post_lay(&esp->future, arena, 0, sizeof(struct leat_sim_letter),
                      senders * (1 + windows) + 1 + GROUPS * windows);
    esp->group = leat_arena_lay(arena, GROUPS, sizeof *esp->group);
    esp->sender = leat_arena_lay(arena, senders, sizeof *esp->sender);
    uint32_t *missing = leat_arena_lay(arena, senders * windows, sizeof *missing);
    esp->store_memory = leat_arena_lay(
        arena, 1, leat_esp_store_footprint(leat_esp_groups_for(LEAT_ESP_GATHER_SLOTS)));
    for (size_t i = 0; arena->memory && i < GROUPS * windows; i++)
        esp->group[i / windows].op[i % windows].missing = missing + i * stations;
}

void leat_sim_ether_esp_init(struct leat_sim_ether_port *p)
{
    const struct leat_esp_node node = { .id = 1, .tau = LEAT_ESP_GATHER_TAU };
    const uint32_t room = p->config.frame_octets - (uint32_t)leat_esp_cast_len(0);
    assert(p->config.frame_octets >= LEAT_SIM_ETHER_ESP_PAYLOAD_MIN);
    p->esp.chunk = room / OPERAND_LEN * OPERAND_LEN;
    leat_esp_store_init(&p->esp.store, &node, leat_esp_groups_for(LEAT_ESP_GATHER_SLOTS),
                        p->esp.store_memory);
    leat_sim_collect_init(&p->esp.collect, &p->base);
}

/* ---- groups and parts ------------------------------------------------------------------------ */

uint32_t leat_sim_ether_esp_group(struct leat_port_net *base, const uint32_t *port, uint32_t count)
{
    struct leat_sim_ether_esp *esp = &of(base)->esp;
    const uint32_t id = leat_sim_collect_group(&esp->collect, port, count);
    if (!id) return 0;
    struct leat_sim_ether_esp_group *group = &esp->group[id - 1];
    group->serial = esp->serials++;
    group->epoch = 0;
    group->epoch_began = base->now;
    for (uint32_t i = 0; i < LEAT_SIM_COLLECT_WINDOW; i++)
        group->op[i].number = 0;
    return id;
}

void leat_sim_ether_esp_disband(struct leat_port_net *base, uint32_t group)
{
    leat_sim_collect_disband(&of(base)->esp.collect, group);
}

void leat_sim_ether_esp_collect(struct leat_port_net *base, const struct leat_port_part *part,
                                leat_time at)
{
    struct leat_sim_ether_port *p = of(base);
    assert(at >= base->now);
    leat_sim_collect_hand_over(&p->esp.collect, part);
    plan(p, ENTERS, sender_of(p, part->group, part->port),
         leat_larger(p->now, leat_sim_clock_cycle_from(&p->config.clock, at)));
}

static uint32_t packets_of(const struct leat_sim_ether_esp *esp, const struct leat_port_part *part)
{
    if (part->kind == LEAT_PORT_FOLD) return part->words ? part->words : 1;
    return part->len ? (uint32_t)((part->len - 1) / esp->chunk + 1) : 1;
}

static void begin_operation(struct leat_sim_ether_port *p, const struct leat_port_part *part,
                            struct leat_sim_ether_esp_operation *op, uint64_t number)
{
    const uint32_t members = leat_sim_collect_of(&p->esp.collect, part->group)->members;
    *op = (struct leat_sim_ether_esp_operation){ .number = number + 1,
                                                 .packets = packets_of(&p->esp, part),
                                                 .missing = op->missing };
    for (uint32_t place = 0; place < members; place++)
        op->missing[place] = op->packets;
}

static void enter(struct leat_sim_ether_port *p, uint32_t sender)
{
    const struct leat_port_part *part = &member_of(p, sender)->part;
    const uint32_t id = group_of(p, sender);
    const uint64_t number = leat_sim_collect_enter(&p->esp.collect, id, place_of(p, sender));
    struct leat_sim_ether_esp_operation *op = operation_of(p, id, number);
    if (op->number != number + 1) begin_operation(p, part, op, number);
    if (part->kind == LEAT_PORT_CAST && part->root != part->port) return;
    p->esp.sender[sender] = (struct leat_sim_ether_esp_sender){ .count = op->packets };
    leat_sim_ether_port_begin(p, part->port);
}

/* ---- to the switch --------------------------------------------------------------------------- */

/* The packet of a member's part with this number. */
static struct leat_sim_ether_esp_packet packet_of(struct leat_sim_ether_port *p, uint32_t sender,
                                                  uint32_t index)
{
    const struct leat_sim_member *member = member_of(p, sender);
    const struct leat_port_part *part = &member->part;
    const struct leat_sim_ether_esp_group *group = &p->esp.group[part->group - 1];
    const uint64_t at = (uint64_t)index * p->esp.chunk;
    struct leat_sim_ether_esp_packet packet = {
        .group = { group->serial, group->epoch,
                   leat_sim_collect_of(&p->esp.collect, part->group)->members },
        .operation = member->parts - 1,
        .index = index,
    };
    if (part->kind == LEAT_PORT_FOLD) {
        packet.what = LEAT_SIM_ETHER_ESP_VALUE;
        packet.fold = part->fold;
        packet.value = part->words ? part->word[index] : 0;
    } else {
        packet.what = LEAT_SIM_ETHER_ESP_OCTETS;
        packet.len = (size_t)leat_smaller(p->esp.chunk, part->len - at);
        packet.octets = packet.len ? part->octets + at : NULL;
    }
    return packet;
}

static uint32_t len_of(const struct leat_sim_ether_esp_packet *packet)
{
    return (uint32_t)(packet->what == LEAT_SIM_ETHER_ESP_VALUE
                          ? leat_esp_packet_len(LEAT_ESP_COLLECT)
                          : leat_esp_cast_len(packet->len));
}

bool leat_sim_ether_esp_next(struct leat_sim_ether_port *p, uint32_t station, uint32_t *sender,
                             uint32_t *payload)
{
    for (uint32_t id = 1; id <= GROUPS; id++) {
        struct leat_sim_ether_esp_sender *s = &p->esp.sender[sender_of(p, id, station)];
        if (s->is_out || s->next == s->count) continue;
        *sender = sender_of(p, id, station);
        const struct leat_sim_ether_esp_packet packet = packet_of(p, *sender, s->next);
        *payload = len_of(&packet);
        s->is_out = true;
        return true;
    }
    return false;
}

static void compute(struct leat_sim_ether_port *p)
{
    plan(p, COMPUTED, 0, p->now + p->config.esp_cycles);
}

void leat_sim_ether_esp_take(struct leat_sim_ether_port *p, uint32_t sender, uint64_t left)
{
    struct leat_sim_ether_esp *esp = &p->esp;
    const struct leat_sim_ether_esp_packet packet = packet_of(p, sender, esp->sender[sender].next);
    leat_sim_ether_esp_show(p, &packet, station_of(p, sender), p->base.ports, left, p->now);
    esp->sender[sender].link = 0;
    if (esp->first)
        esp->sender[esp->last - 1].link = sender + 1;
    else
        esp->first = sender + 1;
    esp->last = sender + 1;
    if (esp->first == sender + 1) compute(p);
}

/* ---- the processor --------------------------------------------------------------------------- */

/* Copies to the members, except the root of a cast. */
static void copy(struct leat_sim_ether_port *p, uint32_t id,
                 const struct leat_sim_ether_esp_packet *packet)
{
    struct leat_sim_group *group = leat_sim_collect_of(&p->esp.collect, id);
    struct leat_sim_ether_esp_operation *op = operation_of(p, id, packet->operation);
    const struct leat_port_part *what = &leat_sim_collect_op(group, packet->operation)->what;
    const uint32_t window = (uint32_t)(packet->operation % LEAT_SIM_COLLECT_WINDOW);
    for (uint32_t place = 0; place < group->members; place++) {
        const uint32_t station = group->member[place].port;
        uint64_t left;
        if (what->kind == LEAT_PORT_CAST && what->root == station) continue;
        const uint64_t at = leat_sim_ether_port_make(p, station, len_of(packet), &left);
        leat_sim_ether_esp_show(p, packet, p->base.ports, station, left, at);
        if (--op->missing[place]) continue;
        plan(p, REACHED, sender_of(p, id, station) * LEAT_SIM_COLLECT_WINDOW + window, at);
    }
}

static void renew(struct leat_sim_ether_port *p, struct leat_sim_ether_esp_group *group)
{
    group->epoch++;
    group->epoch_began = now_of(p);
}

/* All packets of a fold are computed. */
static void end_fold(struct leat_sim_ether_port *p, uint32_t id,
                     const struct leat_sim_ether_esp_operation *op)
{
    struct leat_sim_ether_esp_group *group = &p->esp.group[id - 1];
    const uint32_t window = (uint32_t)((op->number - 1) % LEAT_SIM_COLLECT_WINDOW);
    if (op->words_known < op->packets)
        plan(p, FAILED, (id - 1) * LEAT_SIM_COLLECT_WINDOW + window,
             leat_sim_clock_cycle_from(&p->config.clock, now_of(p) + p->base.latency));
    else if (now_of(p) - group->epoch_began > LEAT_ESP_GATHER_TAU / 2)
        renew(p, group);
}

/* A word of a member. */
static void fold(struct leat_sim_ether_port *p, uint32_t id,
                 struct leat_sim_ether_esp_packet *packet)
{
    struct leat_sim_operation *meaning = leat_sim_collect_op(
        leat_sim_collect_of(&p->esp.collect, id), packet->operation);
    struct leat_sim_ether_esp_operation *op = operation_of(p, id, packet->operation);
    if (leat_esp_gather_collect(&p->esp.store, now_of(p), &packet->group, packet->fold,
                                packet->index, &packet->value) == LEAT_ESP_PASS) {
        packet->what = LEAT_SIM_ETHER_ESP_RESULT;
        packet->len = meaning->what.words ? sizeof packet->value : 0;
        if (packet->len) meaning->word[packet->index] = packet->value;
        op->words_known++;
        copy(p, id, packet);
    }
    if (++op->computed == (uint64_t)packet->group.children * op->packets) end_fold(p, id, op);
}

/* Octets of a root; after the last ones it goes on. */
static void cast(struct leat_sim_ether_port *p, uint32_t sender,
                 const struct leat_sim_ether_esp_packet *packet)
{
    const uint32_t id = group_of(p, sender);
    copy(p, id, packet);
    if (packet->index + 1 == p->esp.sender[sender].count)
        leat_sim_collect_reach(&p->esp.collect, id, place_of(p, sender), packet->operation);
}

/* It is done with its first packet, whose station may send the next one. */
static void computed(struct leat_sim_ether_port *p)
{
    struct leat_sim_ether_esp *esp = &p->esp;
    const uint32_t sender = esp->first - 1;
    struct leat_sim_ether_esp_sender *s = &esp->sender[sender];
    struct leat_sim_ether_esp_packet packet = packet_of(p, sender, s->next++);
    esp->first = s->link;
    if (esp->first) compute(p);
    s->is_out = false;
    if (packet.what == LEAT_SIM_ETHER_ESP_VALUE)
        fold(p, group_of(p, sender), &packet);
    else
        cast(p, sender, &packet);
    leat_sim_ether_port_begin(p, station_of(p, sender));
}

/* ---- the result ------------------------------------------------------------------------------ */

static void reached(struct leat_sim_ether_port *p, uint32_t entity)
{
    const uint32_t sender = entity / LEAT_SIM_COLLECT_WINDOW, id = group_of(p, sender);
    const struct leat_sim_ether_esp_operation *op =
        &p->esp.group[id - 1].op[entity % LEAT_SIM_COLLECT_WINDOW];
    leat_sim_collect_reach(&p->esp.collect, id, place_of(p, sender), op->number - 1);
}

/* Bindings of it may be left in the store. */
static void failed(struct leat_sim_ether_port *p, uint32_t entity)
{
    const uint32_t id = entity / LEAT_SIM_COLLECT_WINDOW + 1;
    struct leat_sim_ether_esp_group *group = &p->esp.group[id - 1];
    const struct leat_sim_ether_esp_operation *op = &group->op[entity % LEAT_SIM_COLLECT_WINDOW];
    const uint32_t members = leat_sim_collect_of(&p->esp.collect, id)->members;
    renew(p, group);
    for (uint32_t place = 0; place < members; place++)
        leat_sim_collect_fail(&p->esp.collect, id, place, op->number - 1);
}

void leat_sim_ether_esp_act(struct leat_sim_ether_port *p)
{
    while (leat_sim_ether_esp_due(p) <= p->now) {
        const struct leat_sim_plan due = leat_sim_post_take(&p->esp.future);
        switch ((enum step)due.step) {
        case ENTERS: enter(p, due.entry); break;
        case COMPUTED: computed(p); break;
        case REACHED: reached(p, due.entry); break;
        case FAILED: failed(p, due.entry); break;
        }
    }
}
