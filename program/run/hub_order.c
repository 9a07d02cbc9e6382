/*
 * The order of messages. A network delivers the messages of a port to another in their order, but a
 * cast may overtake a message, or be overtaken. The receiver's host holds what comes too soon:
 *
 *     sent:    1 message   2 cast   3 message
 *     arrived: 2 (held)    3 (held) 1          ---> the task gets 1, 2, 3
 *
 * Only where tasks multicast: elsewhere the network's order is enough.
 */
#include "child.h"
#include "hub_parts.h"
#include <stdlib.h>
#include <string.h>

struct leat_hub_order {
    uint32_t sent, due; /* the next one that is sent; that is handed to the receiver */
};

struct leat_hub_held {
    struct leat_flight_message message;
    struct leat_share_event event;
};

uint32_t leat_hub_order_next(struct leat_hub *hub, uint32_t from, uint32_t to)
{
    struct leat_hub_slot *task = &hub->task[from];
    if (!hub->config.has_casts) return 0;
    if (!task->order) {
        task->order = leat_child_grown(NULL, hub->config.slots, sizeof *task->order);
        memset(task->order, 0, hub->config.slots * sizeof *task->order);
    }
    return task->order[to].sent++;
}

static bool find_held(const struct leat_hub *hub, uint32_t from, uint32_t to, uint32_t order,
                      uint32_t *out)
{
    for (uint32_t i = 0; i < hub->held_count; i++) {
        const struct leat_flight_message *m = &hub->held[i].message;
        if (m->from != from || m->to != to || m->order != order) continue;
        *out = i;
        return true;
    }
    return false;
}

void leat_hub_order_pass(struct leat_hub *hub, const struct leat_flight_message *m,
                         const struct leat_share_event *event)
{
    struct leat_hub_order *order = hub->config.has_casts ? &hub->task[m->from].order[m->to] : NULL;
    uint32_t i;
    if (order && m->order != order->due) {
        hub->held = leat_child_grown(hub->held, hub->held_count + 1, sizeof *hub->held);
        hub->held[hub->held_count++] = (struct leat_hub_held){ *m, *event };
        return;
    }
    leat_hub_hand(hub, m, event);
    if (!order) return;
    order->due++;
    while (find_held(hub, m->from, m->to, order->due, &i)) {
        struct leat_hub_held next = hub->held[i];
        hub->held[i] = hub->held[--hub->held_count];
        next.event.at = event->at;
        leat_hub_hand(hub, &next.message, &next.event);
        order->due++;
    }
}

void leat_hub_order_free(struct leat_hub *hub)
{
    free(hub->held);
}
