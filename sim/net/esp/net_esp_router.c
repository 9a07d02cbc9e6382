/* What the processor of a router does to a packet: the room's instruction core, and copies. */
#include "net_esp_parts.h"
#include <assert.h>

/* ---- its store ------------------------------------------------------------------------------- */

void leat_net_esp_prepare(struct leat_net_esp *esp, const struct leat_net_esp_tree *tree)
{
    const uint32_t groups = leat_esp_groups_for(esp->config.slots);
    for (uint32_t r = 0; r < esp->net->topology->routers; r++) {
        struct leat_net_esp_processor *processor = &esp->processor[r];
        const struct leat_esp_node node = { .id = r + UINT64_C(1),
                                            .seed = leat_esp_mix64(esp->port->seed, r),
                                            .tau = esp->config.tau };
        if (!tree->children[r] || processor->has_store) continue;
        processor->has_store = true;
        leat_esp_store_init(&processor->store, &node, groups,
                            esp->store_memory + r * esp->store_size);
    }
}

/* ---- folds ----------------------------------------------------------------------------------- */

static enum leat_port_fold fold_of(struct leat_net_esp *esp,
                                   const struct leat_net_esp_packet *packet)
{
    return leat_net_esp_meaning(esp, packet->group, packet->operation)->what.fold;
}

struct leat_esp_packet leat_net_esp_collect_of(struct leat_net_esp *esp,
                                               const struct leat_net_esp_packet *packet)
{
    const struct leat_net_esp_group *group = leat_net_esp_group_of(esp, packet->group);
    const struct leat_esp_gather gather = { .serial = group->serial, .epoch = group->epoch };
    return leat_esp_gather_packet(&gather, fold_of(esp, packet), packet->index, packet->value);
}

static uint32_t collect(struct leat_net_esp *esp, uint32_t router,
                        struct leat_net_esp_packet *packet)
{
    const struct leat_net_esp_group *group = leat_net_esp_group_of(esp, packet->group);
    const struct leat_esp_gather gather = { group->serial, group->epoch,
                                            group->tree.children[router] };
    return leat_esp_gather_collect(&esp->processor[router].store,
                                   leat_sim_clock_at(&esp->port->clock, esp->now), &gather,
                                   fold_of(esp, packet), packet->index, &packet->value);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The terminal that gets no copy: where the packet came from, or the root of the cast. */
static void copy(struct leat_net_esp *esp, uint32_t router, const struct leat_net_esp_packet *like,
                 uint32_t except_processor, uint32_t except_host)
{
    const struct leat_net_esp_tree *tree = &leat_net_esp_group_of(esp, like->group)->tree;
    const uint32_t hosts = leat_net_esp_host_count(esp);
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, like->group,
                                                                  like->operation);
    for (uint32_t c = tree->first[router]; c; c = tree->next[c - 1]) {
        if (hosts + c - 1 == except_processor) continue;
        op->live++;
        leat_net_esp_send(esp, like, hosts + router, hosts + c - 1);
    }
    for (uint32_t h = tree->first_host[router]; h; h = tree->next_host[h - 1]) {
        if (h - 1 == except_host) continue;
        op->live++;
        leat_net_esp_send(esp, like, hosts + router, h - 1);
    }
}

/* The root of the tree knows a word. */
static void answer(struct leat_net_esp *esp, uint32_t root, const struct leat_net_esp_packet *value)
{
    struct leat_net_esp_group *group = leat_net_esp_group_of(esp, value->group);
    struct leat_net_esp_operation *op = leat_net_esp_operation_of(esp, value->group,
                                                                  value->operation);
    struct leat_sim_operation *meaning = leat_net_esp_meaning(esp, value->group, value->operation);
    struct leat_net_esp_packet result = *value;
    const leat_time now = leat_sim_clock_at(&esp->port->clock, esp->now);
    if (meaning->what.words) meaning->word[value->index] = value->value;
    result.what = LEAT_NET_ESP_RESULT;
    copy(esp, root, &result, LEAT_NET_NONE, LEAT_NET_NONE);
    if (++op->words_known < op->packets || now - group->epoch_began <= esp->config.tau / 2) return;
    group->epoch++;
    group->epoch_began = now;
}

static void forward_value(struct leat_net_esp *esp, uint32_t router, uint32_t index)
{
    const struct leat_net_esp_tree *tree =
        &leat_net_esp_group_of(esp, esp->packet[index].group)->tree;
    struct leat_net_esp_packet *packet = &esp->packet[index];
    const uint32_t hosts = leat_net_esp_host_count(esp);
    uint32_t verdict = LEAT_ESP_PASS;
    if (!packet->has_error) verdict = collect(esp, router, packet);
    packet->has_error |= verdict != LEAT_ESP_PASS && verdict != LEAT_ESP_STOP;
    if (router != tree->root && verdict != LEAT_ESP_STOP) {
        leat_net_esp_send_on(esp, index, hosts + router, hosts + tree->parent[router]);
        return;
    }
    if (verdict == LEAT_ESP_PASS && !packet->has_error) answer(esp, router, packet);
    leat_net_esp_end_packet(esp, index);
}

static void forward_cast(struct leat_net_esp *esp, uint32_t router, uint32_t index)
{
    struct leat_net_esp_packet like = esp->packet[index];
    const struct leat_net_esp_tree *tree = &leat_net_esp_group_of(esp, like.group)->tree;
    const uint32_t hosts = leat_net_esp_host_count(esp);
    const bool is_rising = like.what == LEAT_NET_ESP_RISING;
    uint32_t root = LEAT_NET_NONE;
    if (like.what != LEAT_NET_ESP_RESULT)
        root = leat_net_esp_meaning(esp, like.group, like.operation)->what.root;
    if (is_rising && router != tree->root) {
        leat_net_esp_operation_of(esp, like.group, like.operation)->live++;
        leat_net_esp_send(esp, &like, hosts + router, hosts + tree->parent[router]);
    }
    if (is_rising) like.what = LEAT_NET_ESP_COPY;
    if (!is_rising || tree->is_two_way)
        copy(esp, router, &like, is_rising ? like.from : LEAT_NET_NONE, root);
    else if (router == tree->root)
        copy(esp, router, &like, LEAT_NET_NONE, root);
    leat_net_esp_end_packet(esp, index);
}

/* ---- one after the other --------------------------------------------------------------------- */

static void begin(struct leat_net_esp *esp, uint32_t router)
{
    leat_net_esp_plan(esp, LEAT_NET_ESP_COMPUTED, router, esp->now + esp->config.cycles);
}

void leat_net_esp_take_in(struct leat_net_esp *esp, uint32_t router, uint32_t index)
{
    struct leat_net_esp_processor *p = &esp->processor[router];
    esp->packet[index].next = 0;
    if (p->first)
        esp->packet[p->last - 1].next = index + 1;
    else
        p->first = index + 1;
    if (p->first == index + 1) begin(esp, router);
    p->last = index + 1;
}

void leat_net_esp_computed(struct leat_net_esp *esp, uint32_t router)
{
    struct leat_net_esp_processor *p = &esp->processor[router];
    const uint32_t index = p->first - 1;
    p->first = esp->packet[index].next;
    if (p->first) begin(esp, router);
    if (esp->packet[index].what == LEAT_NET_ESP_VALUE)
        forward_value(esp, router, index);
    else
        forward_cast(esp, router, index);
}
