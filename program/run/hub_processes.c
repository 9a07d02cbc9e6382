#include "child.h"
#include "hub_parts.h"
#include <signal.h>
#include <string.h>

static bool is_gone(struct leat_hub *hub, uint32_t i)
{
    const pid_t pid = (pid_t)atomic_load(&leat_share_slot(hub->share, i)->pid);
    if (hub->config.alive && !hub->config.alive(hub->config.alive_context, i)) return true;
    return pid && leat_child_is_gone(pid, &hub->task[i].process);
}

/* The process of this task has ended, in this state. */
static void end_with(struct leat_hub *hub, uint32_t i, uint32_t state)
{
    const struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    const uint32_t number = atomic_load(&slot->signal);
    hub->task[i].report.saw_its_end = number != 0;
    if (number)
        leat_hub_end_run(hub, LEAT_HUB_DIED,
                         "the process of task %u was ended by signal %u (%s)%s%.*s", i, number,
                         strsignal((int)number), *slot->ended_in ? " in " : "",
                         LEAT_TASK_CALL_LEN - 1, slot->ended_in);
    else if (state != LEAT_SHARE_EXPECTED && state != LEAT_SHARE_ATTACHED)
        leat_hub_end_run(hub, LEAT_HUB_DIED, "the process of task %u is gone, without having left",
                         i);
    else
        leat_hub_end_run(hub, LEAT_HUB_DIED, "task %u never began: its process has ended", i);
}

/* Its process has ended before it attached, and its launcher, which would end the others if that
 * were a failure, has not. This is an error only if others take part in the run. */
static bool is_absent(const struct leat_hub *hub, uint32_t i, uint32_t state)
{
    return hub->config.has_launcher && state == LEAT_SHARE_EXPECTED && i < hub->share->expected &&
           hub->config.alive(hub->config.alive_context, i);
}

static void lose_task(struct leat_hub *hub, uint32_t i)
{
    const struct leat_hub_service *service = &hub->config.service;
    struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    struct leat_hub_slot *task = &hub->task[i];
    const uint32_t state = atomic_exchange(&slot->state, LEAT_SHARE_LEFT);
    const bool was_counted = state != LEAT_SHARE_WAITS && state != LEAT_SHARE_AHEAD;
    const struct leat_hub_watch *watch = hub->config.watch;
    task->report.left = true;
    leat_hub_count_tasks(hub, -1);
    if (watch && task->report.begun) watch->leaves(watch->context, i, hub->now - hub->offset);
    if (was_counted) atomic_fetch_sub(&hub->share->running, 1);
    if (service->gone && service->gone(service->context, hub, i, true, hub->now)) return;
    if (is_absent(hub, i, state))
        task->is_absent = hub->any_absent = true;
    else
        end_with(hub, i, state);
}

static bool is_there(enum leat_share_state state)
{
    return state == LEAT_SHARE_EXPECTED || state == LEAT_SHARE_ATTACHED ||
           state == LEAT_SHARE_RUNS || state == LEAT_SHARE_AHEAD || state == LEAT_SHARE_WAITS;
}

void leat_hub_note_gone(struct leat_hub *hub, uint32_t i, enum leat_share_state state)
{
    const struct leat_hub_service *service = &hub->config.service;
    struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    const struct leat_hub_watch *watch = hub->config.watch;
    hub->task[i].report.left = true;
    hub->task[i].report.clock = slot->clock;
    leat_hub_count_tasks(hub, -1);
    if (watch) watch->leaves(watch->context, i, slot->clock - hub->offset);
    if (state == LEAT_SHARE_FAILED || state == LEAT_SHARE_ABORTED)
        leat_hub_end_run(hub, state == LEAT_SHARE_FAILED ? LEAT_HUB_FAILED : LEAT_HUB_ABORTED,
                         "task %u: %s", i, slot->reason);
    else if (service->gone)
        service->gone(service->context, hub, i, false, hub->now);
}

/* A process may leave just before it ends: so check twice. */
static bool is_lost(struct leat_hub *hub, uint32_t i)
{
    const struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    return is_there(atomic_load(&slot->state)) && is_gone(hub, i) &&
           is_there(atomic_load(&slot->state));
}

static void lose_tasks(struct leat_hub *hub, bool terminated)
{
    for (uint32_t i = 0; i < hub->used && !hub->has_ended; i++) {
        const uint32_t number = atomic_load(&leat_share_slot(hub->share, i)->signal);
        if ((number == SIGTERM) == terminated && is_lost(hub, i)) lose_task(hub, i);
    }
}

static bool is_present(const struct leat_hub *hub, uint32_t i)
{
    const uint32_t state = atomic_load(&leat_share_slot(hub->share, i)->state);
    return state >= LEAT_SHARE_ATTACHED && !hub->task[i].is_absent;
}

static void check_absent(struct leat_hub *hub)
{
    uint32_t absent = 0, present = 0;
    while (absent < hub->used && !hub->task[absent].is_absent)
        absent++;
    while (present < hub->used && !is_present(hub, present))
        present++;
    if (present < hub->used)
        leat_hub_end_run(hub, LEAT_HUB_DIED,
                         "task %u never began, but task %u has: its process has ended", absent,
                         present);
}

/* When a task has died or ends the program, its launcher terminates all others. That task is the
 * reason, so it comes first. */
void leat_hub_check_processes(struct leat_hub *hub)
{
    uint32_t i = 0;
    if (hub->any_absent) check_absent(hub);
    while (i < hub->used && !is_lost(hub, i))
        i++;
    if (i == hub->used) return;
    for (i = 0; i < hub->used && !hub->has_ended; i++)
        if (atomic_load(&leat_share_slot(hub->share, i)->state) == LEAT_SHARE_ABORTED)
            leat_hub_note_gone(hub, i, LEAT_SHARE_ABORTED);
    lose_tasks(hub, false);
    lose_tasks(hub, true);
}
