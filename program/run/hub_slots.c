/* The slots of a hub: which tasks there are, which are being started, and what they sent. */
#include "child.h"
#include "hub_parts.h"
#include <string.h>

void leat_hub_note_news(struct leat_hub *hub)
{
    hub->quiet_from = hub->now;
    hub->polls = 0;
    hub->by_the_clock = false;
}

void leat_hub_count_tasks(struct leat_hub *hub, int more)
{
    leat_hub_note_news(hub);
    hub->tasks += (uint32_t)more;
}

void leat_hub_expect(struct leat_hub *hub, uint32_t slot)
{
    struct leat_share_slot *s = leat_share_slot(hub->share, slot);
    s->clock = hub->task[slot].report.start = hub->now;
    atomic_store(&s->pid, 0);
    s->port = hub->config.port ? hub->config.port[slot] : slot % hub->config.net->ports;
    if (slot >= hub->used) hub->used = slot + 1;
    leat_hub_count_tasks(hub, 1);
    atomic_fetch_add(&hub->share->running, 1);
    atomic_store(&s->state, LEAT_SHARE_EXPECTED);
}

static bool is_unused(const struct leat_hub *hub, uint32_t slot)
{
    return !hub->task[slot].parent &&
           atomic_load(&leat_share_slot(hub->share, slot)->state) == LEAT_SHARE_EMPTY;
}

uint32_t leat_hub_next_slots(const struct leat_hub *hub, uint32_t count)
{
    uint32_t slot = 0, found = 0;
    for (; slot < hub->config.slots && found < count; slot++)
        found = is_unused(hub, slot) ? found + 1 : 0;
    return found == count ? slot - count : hub->config.slots;
}

void leat_hub_expect_no_more(struct leat_hub *hub, uint32_t slot)
{
    if (is_unused(hub, slot)) leat_hub_count_tasks(hub, -1);
}

void leat_hub_expect_pid(struct leat_hub *hub, uint32_t slot, pid_t pid)
{
    atomic_store(&leat_share_slot(hub->share, slot)->pid, (uint32_t)pid);
}

void leat_hub_reserve(struct leat_hub *hub, uint32_t parent, uint32_t slot)
{
    hub->task[slot].parent = parent + 1;
    hub->reserved++;
}

void leat_hub_expect_reserved(struct leat_hub *hub, uint32_t parent)
{
    for (uint32_t i = 0; hub->reserved && i < hub->config.slots; i++) {
        if (hub->task[i].parent != parent + 1) continue;
        hub->task[i].parent = 0;
        hub->reserved--;
        leat_hub_expect(hub, i);
    }
}

/* ---- what tasks have sent and received ------------------------------------------------------- */

/* Few tasks send to all others, or at all: a row exists once its task sends. */
static void count_pair(struct leat_hub *hub, uint32_t from, uint32_t to, uint64_t octets)
{
    struct leat_hub_slot *task = &hub->task[from];
    if (!task->sent_to) {
        task->sent_to = leat_child_grown(NULL, hub->config.slots, sizeof *task->sent_to);
        memset(task->sent_to, 0, hub->config.slots * sizeof *task->sent_to);
    }
    task->sent_to[to].messages++;
    task->sent_to[to].octets += octets;
}

void leat_hub_count_sent(struct leat_hub *hub, uint32_t task, uint32_t to, uint64_t octets)
{
    leat_hub_note_news(hub);
    count_pair(hub, task, to, octets);
    hub->task[task].report.messages_sent++;
    hub->task[task].report.octets_sent += octets;
}

void leat_hub_count_received(struct leat_hub *hub, uint32_t task, uint64_t octets)
{
    leat_hub_note_news(hub);
    hub->task[task].report.messages_received++;
    hub->task[task].report.octets_received += octets;
}
