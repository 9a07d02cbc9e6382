#include "hub_parts.h"
#include "leat_fnv.h"
#include <assert.h>
#include <string.h>

/* Calls one of the observer's functions for messages. */
static void show_message(const struct leat_hub *hub, uint64_t id, leat_hub_see *see, leat_time at)
{
    const struct leat_flight_message *m = leat_flight_at(&hub->flight, id);
    const struct leat_hub_message seen = {
        .number = m->number,
        .from = m->from,
        .to = m->to,
        .port = leat_share_slot(hub->share, m->from)->port,
        .octets = leat_share_octets(hub->share, m->block),
        .len = m->len,
    };
    see(hub->config.watch->context, &seen, at);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void post(struct leat_hub *hub, uint32_t task, const struct leat_share_event *event)
{
    if (!hub->task[task].report.left)
        leat_inbox_add(&hub->task[task].inbox, event);
    else if (event->block)
        leat_share_give(hub->share, event->block);
}

static void post_octets(struct leat_hub *hub, uint32_t task, enum leat_task_event_kind kind,
                        uint64_t cookie, const void *octets, size_t len, leat_time at)
{
    const uint64_t block = leat_share_take(&hub->blocks, len);
    assert(at >= hub->now);
    if (!block) {
        leat_hub_end_run(hub, LEAT_HUB_FAILED, "no memory for answers to task %u", task);
        return;
    }
    if (len) memcpy(leat_share_octets(hub->share, block), octets, len);
    post(hub, task,
         &(struct leat_share_event){
             .kind = kind, .cookie = cookie, .block = block, .len = len, .at = at });
}

void leat_hub_answer(struct leat_hub *hub, uint32_t task, uint64_t cookie, const void *octets,
                     size_t len, leat_time at)
{
    if (hub->task[task].asked) hub->task[task].asked--;
    post_octets(hub, task, LEAT_TASK_ANSWERED, cookie, octets, len, at);
}

void leat_hub_collected(struct leat_hub *hub, uint32_t task, uint64_t cookie, const void *octets,
                        size_t len, leat_time at)
{
    if (hub->task[task].asked) hub->task[task].asked--;
    leat_hub_note_news(hub);
    post_octets(hub, task, LEAT_TASK_COLLECTED, cookie, octets, len, at);
}

void leat_hub_disagree(struct leat_hub *hub, uint32_t one, uint32_t other, const char *in_what)
{
    leat_hub_end_run(
        hub, LEAT_HUB_FAILED,
        "tasks %u and %u take part in one collective operation with different %s, expected the "
        "same call with the same root, operation and length",
        one, other, in_what);
}

void leat_hub_signal(struct leat_hub *hub, uint32_t task, const void *octets, size_t len,
                     leat_time at)
{
    leat_hub_note_news(hub);
    post_octets(hub, task, LEAT_TASK_SIGNALLED, 0, octets, len, at);
}

/* ---- messages of tasks ----------------------------------------------------------------------- */

uint32_t leat_hub_begin_flight(struct leat_hub *hub, const struct leat_flight_message *message,
                               leat_time at)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    struct leat_flight_message sent = *message;
    sent.number = hub->messages++;
    sent.order = leat_hub_order_next(hub, sent.from, sent.to);
    const uint32_t id = leat_flight_add(&hub->flight, &sent);
    leat_hub_count_sent(hub, sent.from, sent.to, sent.len);
    if (watch) show_message(hub, id, watch->handed_over, at - hub->offset);
    return id;
}

void leat_hub_send(struct leat_hub *hub, const struct leat_flight_message *sent, leat_time at)
{
    const struct leat_port_message message = {
        .from = leat_share_slot(hub->share, sent->from)->port,
        .to = leat_share_slot(hub->share, sent->to)->port,
        .id = leat_hub_begin_flight(hub, sent, at),
        .octets = leat_share_octets(hub->share, sent->block),
        .len = sent->len,
        .is_private = leat_share_block_at(hub->share, sent->block)->is_private,
    };
    if (!leat_port_send(hub->config.net, &message, at - hub->offset))
        leat_hub_end_run(hub, LEAT_HUB_FAILED,
                         "more messages are in flight than the network has room for");
}

void leat_hub_show_sent(const struct leat_hub *hub, uint32_t id, leat_time at)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    if (watch) show_message(hub, id, watch->sent, at - hub->offset);
}

/* ---- callbacks of the network ---------------------------------------------------------------- */

/* May the service, or a multicast, reach this task at any time, unexpectedly? */
static bool is_served(const struct leat_hub *hub, uint32_t i)
{
    const struct leat_hub_service *service = &hub->config.service;
    return hub->task[i].asked || hub->config.has_casts ||
           ((service->call || service->gone) && !service->only_answers);
}

/* The task of this slot continues, at its time `now`. Each poll of one that shares memory lets
 * others go on. */
void leat_hub_let_go(struct leat_hub *hub, uint32_t i, enum leat_share_state state, leat_time now)
{
    struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    const bool hands_over = atomic_load(&slot->shares_memory) || is_served(hub, i);
    slot->clock = now;
    slot->horizon = hands_over ? hub->now : hub->horizon;
    atomic_store(&slot->state, (uint32_t)state);
    leat_share_give_turn(hub->share, i, &hub->waking[i / LEAT_SHARE_GROUP]);
}

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_hub *hub = context;
    const struct leat_hub_watch *watch = hub->config.watch;
    if (leat_hub_is_own(message)) return;
    const struct leat_flight_message *m = leat_flight_at(&hub->flight, message->id);
    if (watch) show_message(hub, message->id, watch->sent, at);
    if (!m->notify_sent) return;
    post(hub, m->from,
         &(struct leat_share_event){ .kind = LEAT_TASK_SENT,
                                     .task = m->to,
                                     .cookie = m->cookie,
                                     .at = leat_time_add(at, hub->offset) });
}

static struct leat_share_event arrival(const struct leat_hub *hub,
                                       const struct leat_flight_message *m, leat_time at)
{
    return (
        struct leat_share_event){ .kind = LEAT_TASK_ARRIVED,
                                  .task = m->from,
                                  .cookie = m->cookie,
                                  .block = m->block,
                                  .len = m->len,
                                  .is_quiet = leat_share_block_at(hub->share, m->block)->is_quiet,
                                  .at = leat_time_add(at, hub->offset) };
}

/* FNV-1a, one task at a time. */
static void mark_order(struct leat_hub_task *task, uint32_t from)
{
    task->order = (task->order ^ (from + 1)) * LEAT_FNV_PRIME;
}

void leat_hub_hand(struct leat_hub *hub, const struct leat_flight_message *m,
                   const struct leat_share_event *event)
{
    mark_order(&hub->task[m->to].report, m->from);
    if (!m->handed) post(hub, m->to, event);
}

void leat_hub_arrive(struct leat_hub *hub, uint64_t id, leat_time at)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    const struct leat_flight_message m = *leat_flight_at(&hub->flight, id);
    const struct leat_share_event event = arrival(hub, &m, at);
    if (watch) show_message(hub, id, watch->arrived, at);
    leat_hub_count_received(hub, m.to, m.len);
    leat_flight_remove(&hub->flight, id);
    if (m.cast) leat_hub_cast_note(hub, m.cast, event.at);
    leat_hub_order_pass(hub, &m, &event);
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_hub *hub = context;
    if (leat_hub_is_own(message))
        leat_hub_own_arrived(hub, message, leat_time_add(at, hub->offset));
    else
        leat_hub_arrive(hub, message->id, at);
}

/*
 * A waiting task that no other event can reach earlier may continue now, with the time and the
 * message that it will have then, while the network catches up and other tasks run. Its requests
 * are taken at their own time and place, so results do not change. Not if the service may reach it
 * before, nor with an observer, which needs everything in order.
 */
static void on_coming(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_hub *hub = context;
    if (leat_hub_is_own(message)) return;
    struct leat_flight_message *m = leat_flight_at(&hub->flight, message->id);
    struct leat_hub_slot *task = &hub->task[m->to];
    struct leat_share_slot *slot = leat_share_slot(hub->share, m->to);
    const struct leat_share_event event = arrival(hub, m, at);
    const bool alone = !is_served(hub, m->to) && !hub->config.watch;
    if (!alone || event.is_quiet || task->ahead_to || !leat_hub_waits(hub, m->to) ||
        task->inbox.count || slot->events || slot->deadline < event.at || slot->clock > event.at ||
        atomic_load(&slot->shares_memory))
        return;
    m->handed = true;
    task->ahead_to = event.at;
    task->waits_from = slot->clock;
    slot->event[(slot->event_first + slot->events++) % LEAT_SHARE_EVENTS] = event;
    leat_hub_let_go(hub, m->to, LEAT_SHARE_AHEAD, event.at);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct leat_hub *hub = context;
    const struct leat_hub_watch *watch = hub->config.watch;
    if (leat_hub_is_own(message)) {
        leat_hub_own_lost(hub, message, why);
        return;
    }
    const struct leat_flight_message *m = leat_flight_at(&hub->flight, message->id);
    if (watch) show_message(hub, message->id, watch->lost, at);
    leat_hub_end_run(hub, LEAT_HUB_LOST,
                     "a message of %llu octets from task %u to task %u was lost: %s",
                     (unsigned long long)m->len, m->from, m->to, why);
    if (!m->handed) leat_share_give(hub->share, m->block);
    leat_flight_remove(&hub->flight, message->id);
}

static void on_stuck(void *context, enum leat_port_stuck how, const char *why, leat_time at)
{
    struct leat_hub *hub = context;
    leat_hub_end_run(hub, how == LEAT_PORT_LOCKED ? LEAT_HUB_STUCK : LEAT_HUB_LIVELOCKED,
                     "at %.9f s %s", 1e-12 * (double)at, why);
}

static void on_collected(void *context, const struct leat_port_part *part, bool is_done,
                         leat_time at)
{
    struct leat_hub *hub = context;
    leat_hub_collect_note(hub, part, is_done, leat_time_add(at, hub->offset));
}

static void on_packet(void *context, const struct leat_port_packet *packet, leat_time at)
{
    const struct leat_hub_watch *watch = ((const struct leat_hub *)context)->config.watch;
    watch->packet(watch->context, packet, at);
}

struct leat_port_observer leat_hub_observer(struct leat_hub *hub)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    return (struct leat_port_observer){ .context = hub,
                                        .sent = on_sent,
                                        .arrived = on_arrived,
                                        .lost = on_lost,
                                        .stuck = on_stuck,
                                        .coming = on_coming,
                                        .collected = on_collected,
                                        .packet = watch && watch->packet ? on_packet : NULL };
}
