#include "net_esp.h"
#include "net_esp_parts.h"
#include <assert.h>
#include <string.h>

enum { GROUPS = LEAT_NET_ESP_GROUPS_MAX, CHUNK_MIN = 64, OPERAND_LEN = LEAT_ESP_OPERAND_LEN };

/* ---- does it exist? -------------------------------------------------------------------------- */

leat_err leat_net_esp_check(const struct leat_net_topology *topology,
                            const struct leat_net_esp_config *config, struct leat_text *why)
{
    const struct leat_net_shape *shape = &topology->shape;
    const struct leat_text_range row[] = {
        { "ESP cycles per instruction", config->cycles, 1, LEAT_NET_ESP_CYCLES_MAX },
        { "bindings of an ESP store", config->slots, 0, LEAT_NET_ESP_SLOTS_MAX },
        { "routers with ESP", topology->routers, 1, LEAT_NET_ESP_ROUTERS_MAX },
        { "ports of a network with ESP", topology->terminals, 1, LEAT_NET_ESP_PORTS_MAX },
    };
    if (shape->kind == LEAT_NET_FLY && shape->number[1] > 1) {
        leat_text_puts(why, "ESP in a fly, expected another topology: no switch of a fly is on "
                            "the routes of all ports");
        return LEAT_ERR_RANGE;
    }
    const leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    return err ? err : leat_net_processors_check(topology, why);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void lay_groups(struct leat_net_esp *esp, struct leat_arena *arena, uint32_t routers,
                       uint32_t ports)
{
    static const struct leat_port_means means = {
        .folds = (1u << LEAT_PORT_FOLDS) - 1,
        .words_max = LEAT_NET_ESP_WORDS_MAX,
        .octets_max = LEAT_NET_ESP_OCTETS_MAX,
        .groups_max = GROUPS,
    };
    const size_t plans = 2 * (size_t)GROUPS * ports + routers + GROUPS * LEAT_SIM_COLLECT_WINDOW;
    leat_sim_collect_lay(&esp->collect, arena, &means, ports);
    leat_sim_post_lay(&esp->future, arena, 0, sizeof(struct leat_sim_letter), plans);
    esp->group = leat_arena_lay(arena, GROUPS, sizeof *esp->group);
    esp->sender = leat_arena_lay(arena, (size_t)GROUPS * ports, sizeof *esp->sender);
    uint32_t *missing = leat_arena_lay(arena, (size_t)GROUPS * LEAT_SIM_COLLECT_WINDOW * ports,
                                       sizeof *missing);
    for (uint32_t g = 0; g < GROUPS; g++) {
        struct leat_net_esp_group measured = { 0 };
        struct leat_net_esp_group *group = arena->memory ? &esp->group[g] : &measured;
        leat_net_esp_tree_lay(&group->tree, arena, routers, ports);
        for (uint32_t i = 0; arena->memory && i < LEAT_SIM_COLLECT_WINDOW; i++)
            group->op[i].missing = missing + ((size_t)g * LEAT_SIM_COLLECT_WINDOW + i) * ports;
    }
}

void leat_net_esp_lay(struct leat_net_esp *esp, struct leat_arena *arena,
                      const struct leat_net_port_config *port)
{
    const struct leat_net_topology *t = port->topology;
    esp->config = port->esp;
    if (!esp->config.slots) esp->config.slots = LEAT_ESP_GATHER_SLOTS;
    if (!esp->config.tau) esp->config.tau = LEAT_ESP_GATHER_TAU;
    lay_groups(esp, arena, t->routers, t->terminals - t->processors);
    leat_net_esp_packets_lay(esp, arena, t->terminals);
    leat_net_esp_search_lay(&esp->search, arena, t->routers);
    esp->processor = leat_arena_lay(arena, t->routers, sizeof *esp->processor);
    esp->store_size = leat_esp_store_footprint(leat_esp_groups_for(esp->config.slots));
    esp->store_memory = leat_arena_lay(arena, t->routers, esp->store_size);
}

/* The most octets that fill one packet of flits. */
static uint32_t chunk_of(const struct leat_net_port_config *port)
{
    const uint64_t room = (uint64_t)(port->packet_flits - port->head_flits) * port->flit_octets;
    const uint64_t head = leat_esp_cast_len(0);
    const uint64_t chunk = room > head ? (room - head) / OPERAND_LEN * OPERAND_LEN : 0;
    return (uint32_t)leat_smaller(leat_larger(chunk, CHUNK_MIN), LEAT_ESP_PAYLOAD_LEN_MAX);
}

void leat_net_esp_init(struct leat_net_esp *esp, const struct leat_net_port_config *port,
                       struct leat_net *net, struct leat_port_net *base)
{
    assert(net->topology->processors == net->topology->routers);
    esp->port = port;
    esp->net = net;
    esp->base = base;
    esp->chunk = chunk_of(port);
    leat_sim_collect_init(&esp->collect, base);
}

/* ---- groups ---------------------------------------------------------------------------------- */

uint32_t leat_net_esp_group(struct leat_net_esp *esp, const uint32_t *port, uint32_t count)
{
    const uint32_t id = leat_sim_collect_group(&esp->collect, port, count);
    if (!id) return 0;
    struct leat_net_esp_group *group = leat_net_esp_group_of(esp, id);
    if (!leat_net_esp_tree_find(&group->tree, esp->net->topology, port, count, &esp->search)) {
        leat_sim_collect_disband(&esp->collect, id);
        return 0;
    }
    group->serial = esp->serials++;
    group->epoch = 0;
    group->epoch_began = esp->base->now;
    for (uint32_t i = 0; i < LEAT_SIM_COLLECT_WINDOW; i++)
        group->op[i].number = 0;
    leat_net_esp_prepare(esp, &group->tree);
    return id;
}

void leat_net_esp_disband(struct leat_net_esp *esp, uint32_t group)
{
    leat_sim_collect_disband(&esp->collect, group);
}

/* ---- future events --------------------------------------------------------------------------- */

void leat_net_esp_plan(struct leat_net_esp *esp, enum leat_net_esp_step step, uint32_t entity,
                       uint64_t cycle)
{
    const uint64_t order = (uint64_t)step << 32 | entity;
    leat_sim_post_plan(&esp->future,
                       (struct leat_sim_plan){ cycle, order, entity, (uint32_t)step });
}

uint64_t leat_net_esp_due(const struct leat_net_esp *esp)
{
    return esp->future.plans ? esp->future.plan[0].at : LEAT_NEVER;
}

static uint32_t sender_of(const struct leat_net_esp *esp, uint32_t group, uint32_t port)
{
    return (group - 1) * esp->base->ports + port;
}

void leat_net_esp_collect(struct leat_net_esp *esp, const struct leat_port_part *part, leat_time at)
{
    assert(at >= esp->base->now);
    const uint64_t cycle = leat_sim_clock_cycle_from(&esp->port->clock, at);
    leat_sim_collect_hand_over(&esp->collect, part);
    leat_net_esp_plan(esp, LEAT_NET_ESP_ENTERS, sender_of(esp, part->group, part->port), cycle);
}

/* ---- the result ------------------------------------------------------------------------------ */

static void note_news(struct leat_net_esp *esp)
{
    if (!leat_sim_collect_has_news(&esp->collect)) return;
    esp->news_at = leat_sim_clock_at(&esp->port->clock, esp->now);
    esp->net->stop = true;
}

static void reach(struct leat_net_esp *esp, uint32_t group, uint64_t number, uint32_t place)
{
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, group, number);
    op->reached++;
    leat_sim_collect_reach(&esp->collect, group, place, number);
    note_news(esp);
}

static uint32_t place_of(struct leat_net_esp *esp, uint32_t group, uint32_t port)
{
    return leat_sim_collect_of(&esp->collect, group)->place[port] - 1;
}

void leat_net_esp_deliver(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet)
{
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, packet->group,
                                                                  packet->operation);
    const uint32_t place = place_of(esp, packet->group, packet->to);
    if (!--op->missing[place]) reach(esp, packet->group, packet->operation, place);
}

void leat_net_esp_all_left(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet)
{
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, packet->group,
                                                                  packet->operation);
    const uint32_t place = place_of(esp, packet->group, packet->from);
    if (packet->what != LEAT_NET_ESP_RISING || packet->index + 1 < op->packets) return;
    op->missing[place] = 0;
    reach(esp, packet->group, packet->operation, place);
}

/* Has everything been sent that it needs? */
static bool is_complete(struct leat_net_esp *esp, uint32_t group,
                        const struct leat_net_esp_operation *op)
{
    const struct leat_port_part *what = &leat_net_esp_meaning(esp, group, op->number - 1)->what;
    return what->kind == LEAT_PORT_CAST
               ? op->entered != 0
               : op->entered == leat_sim_collect_of(&esp->collect, group)->members;
}

static void end_if_over(struct leat_net_esp *esp, uint32_t group, struct leat_net_esp_operation *op)
{
    const uint32_t members = leat_sim_collect_of(&esp->collect, group)->members;
    if (op->live || op->is_ending || op->reached == members || !is_complete(esp, group, op)) return;
    const leat_time now = leat_sim_clock_at(&esp->port->clock, esp->now);
    const uint32_t window = (uint32_t)((op->number - 1) % LEAT_SIM_COLLECT_WINDOW);
    op->is_ending = true;
    leat_net_esp_plan(esp, LEAT_NET_ESP_ENDS, (group - 1) * LEAT_SIM_COLLECT_WINDOW + window,
                      leat_sim_clock_cycle_from(&esp->port->clock, now + esp->base->latency));
}

void leat_net_esp_count_down(struct leat_net_esp *esp, uint32_t group, uint64_t number)
{
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, group, number);
    assert(op->number == number + 1 && op->live);
    op->live--;
    end_if_over(esp, group, op);
}

/* It has failed for those who do not have the result. If nobody has it, bindings of it may be left
 * in stores. */
static void end(struct leat_net_esp *esp, uint32_t entity)
{
    const uint32_t id = entity / LEAT_SIM_COLLECT_WINDOW + 1;
    struct leat_net_esp_group *group = leat_net_esp_group_of(esp, id);
    struct leat_net_esp_operation *op = &group->op[entity % LEAT_SIM_COLLECT_WINDOW];
    const uint64_t number = op->number - 1;
    const struct leat_sim_operation *meaning = leat_net_esp_meaning(esp, id, number);
    const uint32_t members = leat_sim_collect_of(&esp->collect, id)->members;
    if (!op->reached && meaning->what.kind == LEAT_PORT_FOLD) {
        group->epoch++;
        group->epoch_began = leat_sim_clock_at(&esp->port->clock, esp->now);
    }
    for (uint32_t place = 0; place < members; place++) {
        if (!op->missing[place]) continue;
        op->missing[place] = 0;
        op->reached++;
        leat_sim_collect_fail(&esp->collect, id, place, number);
        note_news(esp);
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static uint32_t packets_of(const struct leat_net_esp *esp, const struct leat_port_part *part)
{
    if (part->kind == LEAT_PORT_FOLD) return part->words ? part->words : 1;
    return part->len ? (uint32_t)((part->len - 1) / esp->chunk + 1) : 1;
}

static void begin_operation(struct leat_net_esp *esp, const struct leat_port_part *part,
                            struct leat_net_esp_operation *op, uint64_t number)
{
    const struct leat_sim_group *group = leat_sim_collect_of(&esp->collect, part->group);
    *op = (struct leat_net_esp_operation){ .number = number + 1,
                                           .packets = packets_of(esp, part),
                                           .missing = op->missing };
    for (uint32_t place = 0; place < group->members; place++)
        op->missing[place] = op->packets;
}

/* Cycles that the busiest router of the tree needs for a word or a chunk: to compute, and for flits
 * on its two wires to and from the processor. */
static uint64_t pace_of(const struct leat_net_esp *esp, const struct leat_net_esp_tree *tree,
                        const struct leat_port_part *part)
{
    const bool is_fold = part->kind == LEAT_PORT_FOLD;
    const uint64_t payload = is_fold ? sizeof(uint64_t) : leat_smaller(part->len, esp->chunk);
    const uint64_t down = leat_net_port_flits(esp->port, leat_esp_cast_len(payload));
    const uint64_t up = leat_net_port_flits(esp->port, leat_esp_packet_len(LEAT_ESP_COLLECT));
    const uint64_t values = is_fold ? tree->children_max : 0;
    const uint64_t in = values * up + down, out = (is_fold ? up : 0) + tree->copies_max * down;
    return leat_larger(leat_larger(in, out), (values + 1) * esp->config.cycles);
}

/* The next packet of a part leaves. */
static void send_next(struct leat_net_esp *esp, uint32_t entity)
{
    const uint32_t ports = esp->base->ports, id = entity / ports + 1, port = entity % ports;
    struct leat_net_esp_sender *sender = &esp->sender[entity];
    const struct leat_net_topology *t = esp->net->topology;
    const struct leat_sim_member *member =
        &leat_sim_collect_of(&esp->collect, id)->member[place_of(esp, id, port)];
    const struct leat_port_part *part = &member->part;
    const bool is_fold = part->kind == LEAT_PORT_FOLD;
    const struct leat_net_esp_packet packet = {
        .what = is_fold ? LEAT_NET_ESP_VALUE : LEAT_NET_ESP_RISING,
        .value = is_fold && part->words ? part->word[sender->next] : 0,
        .operation = member->parts - 1,
        .group = id,
        .index = sender->next++,
    };
    if (sender->next < sender->count)
        leat_net_esp_plan(esp, LEAT_NET_ESP_SENDS, entity,
                          esp->now + pace_of(esp, &leat_net_esp_group_of(esp, id)->tree, part));
    leat_net_esp_send(esp, &packet, port, ports + t->in_router[t->terminal_in[port]]);
}

static void enter(struct leat_net_esp *esp, uint32_t entity)
{
    const uint32_t ports = esp->base->ports, id = entity / ports + 1, port = entity % ports;
    const uint32_t place = place_of(esp, id, port);
    const uint64_t number = leat_sim_collect_enter(&esp->collect, id, place);
    const struct leat_port_part *part = &leat_sim_collect_of(&esp->collect, id)->member[place].part;
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, id, number);
    note_news(esp);
    if (op->number != number + 1) begin_operation(esp, part, op, number);
    if (part->kind == LEAT_PORT_CAST && part->root != port) return;
    op->entered++;
    op->live += op->packets;
    esp->sender[entity] = (struct leat_net_esp_sender){ .count = op->packets };
    send_next(esp, entity);
}

void leat_net_esp_act(struct leat_net_esp *esp, uint64_t cycle)
{
    esp->now = cycle;
    while (leat_net_esp_due(esp) <= cycle) {
        const struct leat_sim_plan due = leat_sim_post_take(&esp->future);
        switch ((enum leat_net_esp_step)due.step) {
        case LEAT_NET_ESP_ENTERS: enter(esp, due.entry); break;
        case LEAT_NET_ESP_SENDS: send_next(esp, due.entry); break;
        case LEAT_NET_ESP_COMPUTED:
            if (!esp->is_dead) leat_net_esp_computed(esp, due.entry);
            break;
        case LEAT_NET_ESP_ENDS: end(esp, due.entry); break;
        }
    }
}

/* ---- the end of the network ------------------------------------------------------------------ */

/* What members still have to send counts; nothing else does. */
static void lose_all_of(struct leat_net_esp *esp, uint32_t id, struct leat_net_esp_operation *op)
{
    const struct leat_sim_group *group = leat_sim_collect_of(&esp->collect, id);
    op->live = 0;
    for (uint32_t i = 0; i < group->members; i++) {
        const struct leat_sim_member *member = &group->member[i];
        const struct leat_net_esp_sender *sender = &esp->sender[sender_of(esp, id, member->port)];
        if (member->has_part && member->has_entered && member->parts == op->number)
            op->live += sender->count - sender->next;
    }
    end_if_over(esp, id, op);
}

void leat_net_esp_die(struct leat_net_esp *esp)
{
    esp->is_dead = true;
    esp->now = esp->net->now;
    for (uint32_t id = 1; id <= GROUPS; id++) {
        const struct leat_sim_group *group = leat_sim_collect_of(&esp->collect, id);
        for (uint32_t i = 0; group->members && i < LEAT_SIM_COLLECT_WINDOW; i++) {
            struct leat_net_esp_operation *op = &leat_net_esp_group_of(esp, id)->op[i];
            if (op->number > group->oldest) lose_all_of(esp, id, op);
        }
    }
}
