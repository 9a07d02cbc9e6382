/*
 * Tasks of a port that share memory: whose turn it is, and what happens if one does not wait.
 *
 *     runs --- for too long ---> runs beside the others ---> waits: its clock is set to theirs
 *              (nobody waits for it, so that what it waits for can happen)
 */
#include "hub_parts.h"

static bool shares_memory(const struct leat_hub *hub, uint32_t i)
{
    return atomic_load(&leat_share_slot(hub->share, i)->shares_memory);
}

static uint32_t port_of(const struct leat_hub *hub, uint32_t i)
{
    return leat_share_slot(hub->share, i)->port;
}

void leat_hub_give_turns(struct leat_hub *hub)
{
    leat_turns_begin(&hub->turns);
    for (uint32_t i = 0; i < hub->used; i++)
        if (shares_memory(hub, i) && leat_hub_is_due(hub, i))
            leat_turns_offer(&hub->turns, port_of(hub, i), i);
}

bool leat_hub_has_turn(const struct leat_hub *hub, uint32_t i)
{
    return !shares_memory(hub, i) || leat_turns_has(&hub->turns, port_of(hub, i), i);
}

/* Could the task wait for another one? */
static bool any_waits_at(const struct leat_hub *hub, uint32_t port)
{
    for (uint32_t i = 0; i < hub->used; i++)
        if (port_of(hub, i) == port && shares_memory(hub, i) && leat_hub_waits(hub, i)) return true;
    return false;
}

static void run_beside(struct leat_hub *hub, uint32_t i)
{
    struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    uint32_t runs = LEAT_SHARE_RUNS;
    if (!atomic_compare_exchange_strong(&slot->state, &runs, LEAT_SHARE_AHEAD)) return;
    atomic_fetch_sub(&hub->share->running, 1);
    atomic_fetch_or(&slot->notes, LEAT_TASK_RUNS_BESIDE);
    hub->task[i].ahead_to = LEAT_NEVER;
    leat_turns_end(&hub->turns, slot->port);
}

void leat_hub_check_turns(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i++) {
        const struct leat_share_slot *slot = leat_share_slot(hub->share, i);
        if (atomic_load(&slot->state) == LEAT_SHARE_RUNS && shares_memory(hub, i) &&
            any_waits_at(hub, slot->port) &&
            leat_turns_is_long(&hub->turns, slot->port, i, (pid_t)atomic_load(&slot->pid)))
            run_beside(hub, i);
    }
}

static bool is_beside(const struct leat_hub *hub, uint32_t i)
{
    return hub->task[i].ahead_to == LEAT_NEVER;
}

bool leat_hub_any_is_beside(const struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i++)
        if (is_beside(hub, i)) return true;
    return false;
}

void leat_hub_rejoin(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i++) {
        struct leat_share_slot *slot = leat_share_slot(hub->share, i);
        if (!is_beside(hub, i) || atomic_load(&slot->state) == LEAT_SHARE_AHEAD) continue;
        hub->task[i].ahead_to = 0;
        if (slot->clock < hub->now) slot->clock = hub->now;
        for (uint32_t k = 0; k < slot->requests; k++)
            if (slot->request[k].at < hub->now) slot->request[k].at = hub->now;
    }
}
