#include "child.h"
#include "hub_parts.h"
#include "jail.h"
#include <assert.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECOND_PS      UINT64_C(1000000000000)
#define CHECK_EVERY_NS INT64_C(50000000) /* checks of the processes, while tasks run */

enum { TURNS_TO_CHECK = 4096 };
#define ALONE_PS \
    UINT64_C(1000000000) /* a task that continues alone hands over after a millisecond */

/* ---- the end --------------------------------------------------------------------------------- */

void leat_hub_end_run(struct leat_hub *hub, enum leat_hub_end end, const char *format, ...)
{
    va_list arguments;
    if (hub->has_ended) return; /* the first reason counts */
    hub->has_ended = true;
    hub->end = end;
    va_start(arguments, format);
    if (hub->reason_cap) vsnprintf(hub->reason, hub->reason_cap, format, arguments);
    va_end(arguments);
}

void leat_hub_stop(struct leat_hub *hub, enum leat_hub_end end, const char *reason)
{
    leat_hub_end_run(hub, end, "%s", reason);
}

/* ---- observer -------------------------------------------------------------------------------- */

static void show_begin(const struct leat_hub *hub, uint32_t i)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    watch->begins(watch->context, i, leat_share_slot(hub->share, i)->port,
                  hub->task[i].report.start - hub->offset);
}

static void show_wait(struct leat_hub *hub, uint32_t i)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    const struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    struct leat_hub_slot *task = &hub->task[i];
    if (task->is_seen_waiting || atomic_load(&slot->state) != LEAT_SHARE_WAITS) return;
    task->is_seen_waiting = true;
    watch->waits(watch->context, i, slot->call, slot->clock - hub->offset);
}

/* ---- requests of tasks ----------------------------------------------------------------------- */

static void send_message(struct leat_hub *hub, uint32_t task, const struct leat_share_request *r)
{
    const struct leat_flight_message sent = {
        .from = task,
        .to = r->to,
        .cookie = r->cookie,
        .block = r->block,
        .len = r->len,
        .notify_sent = r->notify_sent,
        .cast = r->cast,
    };
    leat_hub_send(hub, &sent, r->at);
}

static void note_call(struct leat_hub *hub, uint32_t task, const struct leat_share_request *r)
{
    hub->task[task].asked++;
    leat_calls_add(&hub->calls, &(struct leat_call){ r->at, task, r->cookie, r->block, r->len });
}

static void take_requests(struct leat_hub *hub, uint32_t task)
{
    struct leat_share_slot *slot = leat_share_slot(hub->share, task);
    for (uint32_t i = 0; i < slot->requests; i++) {
        const struct leat_share_request *r = &slot->request[i];
        switch (r->kind) {
        case LEAT_SHARE_SEND: send_message(hub, task, r); break;
        case LEAT_SHARE_CALL: note_call(hub, task, r); break;
        case LEAT_SHARE_COLLECT: leat_hub_collect_take(hub, task, r); break;
        }
    }
    slot->requests = 0;
}

static void serve_call(struct leat_hub *hub)
{
    const struct leat_call c = leat_calls_take_first(&hub->calls);
    const struct leat_hub_service *service = &hub->config.service;
    if (service->call)
        service->call(service->context, hub, c.task, c.cookie,
                      leat_share_octets(hub->share, c.block), c.len, hub->now);
    else
        leat_hub_end_run(hub, LEAT_HUB_FAILED,
                         "task %u asked the run for what this run does not offer", c.task);
    leat_share_give(hub->share, c.block);
}

/* ---- turns ----------------------------------------------------------------------------------- */

bool leat_hub_waits(const struct leat_hub *hub, uint32_t i)
{
    return !hub->task[i].ahead_to &&
           atomic_load(&leat_share_slot(hub->share, i)->state) == LEAT_SHARE_WAITS;
}

const char *leat_hub_call(const struct leat_hub *hub, uint32_t i)
{
    return leat_hub_waits(hub, i) ? leat_share_slot(hub->share, i)->call : NULL;
}

static void check_interrupt(struct leat_hub *hub)
{
    const struct leat_share_copy *copy = &hub->share->copy;
    if (atomic_load_explicit(&copy->is_reported, memory_order_acquire))
        leat_hub_end_run(hub, LEAT_HUB_FAILED,
                         "task %u: a process that it forked called %.*s: only the task itself may",
                         copy->task, LEAT_SHARE_CALL_LEN - 1, copy->call);
    if (hub->config.interrupted && hub->config.interrupted())
        leat_hub_end_run(hub, LEAT_HUB_INTERRUPTED, "interrupted");
}

static enum leat_share_state state_of(const struct leat_hub *hub, uint32_t i)
{
    return (enum leat_share_state)atomic_load(&leat_share_slot(hub->share, i)->state);
}

static void take_from(struct leat_hub *hub, uint32_t i)
{
    const enum leat_share_state state = state_of(hub, i);
    struct leat_hub_task *report = &hub->task[i].report;
    if (report->left || state == LEAT_SHARE_EMPTY || hub->task[i].ahead_to) return;
    if (hub->config.watch && !report->begun) show_begin(hub, i);
    report->begun = true;
    take_requests(hub, i);
    if (hub->config.watch) show_wait(hub, i);
    if (state >= LEAT_SHARE_LEFT) leat_hub_note_gone(hub, i, state);
}

/* Takes the requests since the last turn, in the order of tasks. */
static void take_all(struct leat_hub *hub)
{
    for (; hub->taken < hub->used && !hub->has_ended; hub->taken++)
        take_from(hub, hub->taken);
    hub->taken = 0;
}

/* Does so while tasks still run: up to the first of these, the order is the same. */
static void take_early(struct leat_hub *hub)
{
    for (; hub->taken < hub->used && !hub->has_ended; hub->taken++) {
        const enum leat_share_state state = state_of(hub, hub->taken);
        if (hub->task[hub->taken].ahead_to == LEAT_NEVER ||
            (state != LEAT_SHARE_WAITS && state != LEAT_SHARE_EMPTY && state != LEAT_SHARE_AHEAD))
            return;
        take_from(hub, hub->taken);
    }
}

/* When this waiting task continues. */
static leat_time goes_on_at(const struct leat_hub *hub, uint32_t i)
{
    const struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    const struct leat_inbox *inbox = &hub->task[i].inbox;
    const struct leat_share_event *first = hub->hears_all ? leat_inbox_first(inbox)
                                                          : leat_inbox_first_loud(inbox);
    if (!first) return slot->deadline;
    const leat_time at = first->at > slot->clock ? first->at : slot->clock;
    return at < slot->deadline ? at : slot->deadline;
}

static leat_time next_task_at(struct leat_hub *hub, bool *any)
{
    leat_time next = LEAT_NEVER;
    *any = false;
    for (uint32_t i = 0; i < hub->used; i++) {
        *any |= hub->task[i].ahead_to != 0;
        if (!leat_hub_waits(hub, i)) continue;
        *any = true;
        const leat_time at = goes_on_at(hub, i);
        if (at < next) next = at;
    }
    return next;
}

/* Returns the number of messages among them. */
static uint32_t hand_events(struct leat_hub *hub, uint32_t i)
{
    struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    struct leat_inbox *inbox = &hub->task[i].inbox;
    const struct leat_share_event *first;
    uint32_t messages = 0;
    while ((first = leat_inbox_first(inbox)) && first->at <= hub->now &&
           slot->events < LEAT_SHARE_EVENTS) {
        slot->event[(slot->event_first + slot->events++) % LEAT_SHARE_EVENTS] = *first;
        messages += first->kind == LEAT_TASK_ARRIVED;
        leat_inbox_drop_first(inbox);
    }
    return messages;
}

static void note_wait(struct leat_hub *hub, uint32_t i, leat_time from)
{
    hub->task[i].report.waited_ps += hub->now - from;
    hub->task[i].report.clock = hub->now;
}

static void resume(struct leat_hub *hub, uint32_t i)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    struct leat_share_slot *slot = leat_share_slot(hub->share, i);
    const uint32_t messages = hand_events(hub, i);
    hub->polls += slot->polls ? slot->polls : !messages; /* answers of a service are no news */
    hub->by_the_clock |= slot->reads_clock;
    slot->polls = 0;
    slot->reads_clock = false;
    hub->task[i].is_seen_waiting = false;
    if (watch) watch->goes_on(watch->context, i, messages, hub->now - hub->offset);
    note_wait(hub, i, slot->clock);
    leat_turns_take(&hub->turns, i);
    leat_hub_expect_reserved(hub, i);
    leat_hub_let_go(hub, i, LEAT_SHARE_RUNS, hub->now);
}

/* The network has caught up with a task that ran ahead: waits for it if it still runs. */
static void meet(struct leat_hub *hub, uint32_t i)
{
    struct leat_hub_slot *task = &hub->task[i];
    uint32_t ahead = LEAT_SHARE_AHEAD;
    if (!task->ahead_to || task->ahead_to > hub->now) return;
    task->ahead_to = 0;
    note_wait(hub, i, task->waits_from);
    atomic_fetch_add(&hub->share->running, 1);
    if (!atomic_compare_exchange_strong(&leat_share_slot(hub->share, i)->state, &ahead,
                                        LEAT_SHARE_RUNS))
        atomic_fetch_sub(&hub->share->running, 1);
}

/* Nothing that tasks do from now on affects another one before this. `others`: when the first task
 * continues that does not continue now; a task that continues alone may run on until then, though
 * not for ever: the run may be interrupted. */
static leat_time horizon(const struct leat_hub *hub, uint32_t due, leat_time others)
{
    const struct leat_port_net *net = hub->config.net;
    const bool quiet = !net->in_flight;
    const leat_time enough = hub->now + ALONE_PS;
    leat_time from = hub->now;
    if (due == 1) from = others < enough ? others : enough;
    return quiet ? leat_time_add(from, net->latency) : hub->now;
}

bool leat_hub_is_due(const struct leat_hub *hub, uint32_t i)
{
    return leat_hub_waits(hub, i) && goes_on_at(hub, i) <= hub->now;
}

static void resume_due(struct leat_hub *hub)
{
    uint32_t due = 0;
    leat_time others = LEAT_NEVER;
    leat_hub_give_turns(hub);
    for (uint32_t i = 0; i < hub->used; i++) {
        hub->task[i].goes_on = false;
        if (!leat_hub_waits(hub, i)) continue;
        const leat_time at = goes_on_at(hub, i);
        const bool goes_on = at <= hub->now && leat_hub_has_turn(hub, i);
        hub->task[i].goes_on = goes_on;
        due += goes_on;
        if (!goes_on && at < others) others = at;
    }
    if (leat_calls_next_at(&hub->calls) < others) others = leat_calls_next_at(&hub->calls);
    hub->horizon = horizon(hub, due, others);
    atomic_fetch_add(&hub->share->running, due);
    for (uint32_t i = 0; i < hub->used; i++)
        if (hub->task[i].goes_on)
            resume(hub, i);
        else
            meet(hub, i);
}

/* Waits while tasks run. Returns when all that are not ahead wait, or the run has ended. */
static void await_tasks(struct leat_hub *hub)
{
    uint32_t running;
    while (!hub->has_ended && (running = atomic_load(&hub->share->running)) != 0) {
        take_early(hub);
        leat_share_await_tasks(hub->share, running, CHECK_EVERY_NS);
        check_interrupt(hub);
        if (atomic_load(&hub->share->running) != running) continue;
        leat_hub_check_processes(hub);
        leat_hub_check_turns(hub);
    }
}

/* For longer than a poll; or it polls while another thread of it sleeps. */
static bool sleeps(const struct leat_share_slot *slot)
{
    return slot->deadline != LEAT_NEVER &&
           (slot->deadline > slot->clock + ALONE_PS || slot->wakes_at > slot->clock);
}

static bool any_sleeps(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i++)
        if (leat_hub_waits(hub, i) && sleeps(leat_share_slot(hub->share, i))) return true;
    return false;
}

/* A program that counts its polls itself makes fewer. Those beside a sleeper do not count: it may
 * do something when it wakes. */
static bool has_polled_too_often(struct leat_hub *hub)
{
    const uint64_t each = (uint64_t)hub->tasks * LEAT_HUB_POLLS_OF_EACH;
    const uint64_t most = each > LEAT_HUB_POLLS_MAX ? each : LEAT_HUB_POLLS_MAX;
    const uint64_t times = hub->by_the_clock ? LEAT_HUB_POLLS_BY_THE_CLOCK : 1;
    if (!hub->config.limits_polls || hub->polls < times * most) return false;
    const bool sleeps = any_sleeps(hub);
    if (sleeps) hub->polls = 0;
    return !sleeps;
}

/* Do tasks only poll for something that never comes? */
static bool is_in_vain(struct leat_hub *hub)
{
    const bool is_long = hub->config.patience && hub->polls >= LEAT_HUB_POLLS_MIN &&
                         hub->now > hub->quiet_from &&
                         hub->now - hub->quiet_from >= hub->config.patience;
    return !hub->config.net->in_flight && (is_long || has_polled_too_often(hub));
}

static bool any_dies(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i++)
        if (!hub->task[i].report.left && atomic_load(&leat_share_slot(hub->share, i)->signal))
            return true;
    return false;
}

/* In real time. Polls are so fast that a task may have died, or be about to, without anybody having
 * noticed. */
static void await_deaths(struct leat_hub *hub)
{
    enum { PAUSE_MS = 20, PAUSES = 10, PAUSES_TO_DIE = 250 };
    for (int i = 0; !hub->has_ended && i < (any_dies(hub) ? PAUSES_TO_DIE : PAUSES); i++) {
        poll(NULL, 0, PAUSE_MS);
        leat_hub_check_processes(hub);
    }
}

/* Do events wait for a task that waits? */
static bool has_events(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i++)
        if (leat_hub_waits(hub, i) && hub->task[i].inbox.count) return true;
    return false;
}

/* All tasks wait, or are ahead: advances to the next event. */
static void move_on(struct leat_hub *hub)
{
    struct leat_port_net *net = hub->config.net;
    bool any;
    const leat_time task_at = next_task_at(hub, &any);
    const leat_time call_at = leat_calls_next_at(&hub->calls);
    const leat_time limit = task_at < call_at ? task_at : call_at;
    if (!any && call_at == LEAT_NEVER) {
        leat_hub_end_run(hub, LEAT_HUB_DONE, "%s", "");
        return;
    }
    if (limit == LEAT_NEVER && !net->in_flight && !hub->hears_all && has_events(hub)) {
        hub->hears_all = true;
        return;
    }
    const bool is_beside = leat_hub_any_is_beside(hub);
    if (limit == LEAT_NEVER && !net->in_flight && is_beside) {
        poll(NULL, 0, 1);
        leat_hub_check_processes(hub);
        return;
    }
    if (limit == LEAT_NEVER && !net->in_flight) {
        leat_hub_end_run(hub, LEAT_HUB_STUCK, "all tasks wait, and nothing is in flight");
        return;
    }
    if (!is_beside && is_in_vain(hub)) {
        await_deaths(hub);
        leat_hub_end_run(
            hub, LEAT_HUB_STUCK,
            "for %.6g s of simulated time no message was sent or received, while tasks polled "
            "%llu times (--patience allows more)",
            1e-12 * (double)(hub->now - hub->quiet_from), (unsigned long long)hub->polls);
        return;
    }
    if (limit > hub->now) {
        const leat_time until = limit == LEAT_NEVER ? LEAT_NEVER : limit - hub->offset;
        const leat_time reached = leat_time_add(leat_port_run(net, until), hub->offset);
        if (reached > hub->now) hub->now = reached;
        leat_hub_collect_go_on(hub);
        leat_hub_carry_go_on(hub);
        if (hub->config.watch)
            hub->config.watch->reached(hub->config.watch->context, hub->now - hub->offset);
    }
    if (call_at <= hub->now)
        serve_call(hub);
    else
        resume_due(hub);
    hub->hears_all = false;
}

/* Those that continue and sleep wake together: a system call takes as long as a small task. Those
 * that poll have gone on already. */
static void wake_tasks(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->used; i += LEAT_SHARE_GROUP) {
        uint32_t *waking = &hub->waking[i / LEAT_SHARE_GROUP];
        if (*waking) leat_share_ring(hub->share, i, *waking);
        *waking = 0;
    }
}

enum leat_hub_end leat_hub_run(struct leat_hub *hub, char *reason, size_t reason_cap)
{
    hub->reason = reason;
    hub->reason_cap = reason_cap;
    for (uint64_t turn = 1; !hub->has_ended; turn++) {
        await_tasks(hub);
        if (turn % TURNS_TO_CHECK == 0)
            leat_hub_check_processes(hub); /* some may never run again */
        check_interrupt(hub);
        leat_hub_rejoin(hub);
        if (!hub->has_ended) take_all(hub);
        if (!hub->has_ended) move_on(hub);
        wake_tasks(hub);
    }
    for (uint32_t i = 0; i < hub->used; i++) {
        const struct leat_share_slot *slot = leat_share_slot(hub->share, i);
        struct leat_hub_task *report = &hub->task[i].report;
        if (!leat_hub_waits(hub, i)) continue;
        snprintf(report->doing, sizeof report->doing, "%s%s", slot->call, slot->about);
        report->clock = slot->clock;
    }
    return hub->end;
}

/* ---- start and end of a hub ------------------------------------------------------------------ */

/* The tasks' memory, where they find it. */
static void make_file(struct leat_hub *hub)
{
    static const char in_jail[] = "/dev/shm/leat-run";
    if (hub->config.jail) {
        hub->file = leat_jail_file(hub->config.jail, in_jail);
        snprintf(hub->path, sizeof hub->path, "%s", in_jail);
    } else {
        hub->file = memfd_create("leat run", MFD_CLOEXEC);
        snprintf(hub->path, sizeof hub->path, "/proc/%ld/fd/%d", (long)getpid(), hub->file);
    }
}

struct leat_hub *leat_hub_create(const struct leat_hub_config *config, char *why, size_t why_cap)
{
    struct leat_hub *hub = leat_child_grown(NULL, 1, sizeof *hub);
    assert(config->slots >= config->expected && config->slots <= LEAT_HUB_SLOTS_MAX);
    *hub = (struct leat_hub){ .config = *config, .file = -1 };
    hub->now = hub->offset = config->start ? config->start : SECOND_PS;
    hub->task = leat_child_grown(NULL, config->slots, sizeof *hub->task);
    for (uint32_t i = 0; i < config->slots; i++)
        hub->task[i] = (struct leat_hub_slot){ .process = -1 };
    make_file(hub);
    hub->share = leat_share_create(config->slots, hub->file, why, why_cap);
    if (!hub->share) {
        leat_hub_destroy(hub);
        return NULL;
    }
    leat_turns_init(&hub->turns, config->net->ports, config->slots, config->turn_ns);
    hub->share->expected = config->expected;
    hub->share->ports = config->net->ports;
    hub->share->compute_scale = config->compute_scale;
    hub->share->overhead = config->overhead;
    hub->share->start = hub->offset;
    leat_share_blocks_init(&hub->blocks, hub->share, config->slots);
    leat_share_take_short_turns();
    for (uint32_t i = 0; i < config->expected; i++)
        leat_hub_expect(hub, i);
    config->net->observer = leat_hub_observer(hub);
    return hub;
}

void leat_hub_destroy(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->config.slots; i++) {
        leat_inbox_free(&hub->task[i].inbox);
        free(hub->task[i].sent_to);
        free(hub->task[i].order);
        if (hub->task[i].process >= 0) close(hub->task[i].process);
    }
    if (hub->share) {
        leat_share_end_life(hub->share);
        munmap(hub->share, leat_share_len(hub->config.slots));
    }
    if (hub->file >= 0) close(hub->file);
    leat_turns_free(&hub->turns);
    leat_hub_collect_free(hub);
    leat_hub_carry_free(hub);
    leat_hub_order_free(hub);
    leat_hub_cast_free(hub);
    free(hub->task);
    leat_flight_free(&hub->flight);
    leat_calls_free(&hub->calls);
    free(hub);
}

const struct leat_jail *leat_hub_jail(const struct leat_hub *hub)
{
    return hub->config.jail;
}

const char *leat_hub_path(const struct leat_hub *hub)
{
    return hub->path;
}

const struct leat_hub_task *leat_hub_task(const struct leat_hub *hub, uint32_t slot)
{
    struct leat_hub_task *report = &hub->task[slot].report;
    report->pid = (pid_t)atomic_load(&leat_share_slot(hub->share, slot)->pid);
    report->notes = atomic_load(&leat_share_slot(hub->share, slot)->notes);
    return report;
}

const struct leat_task_profile *leat_hub_profile(const struct leat_hub *hub, uint32_t slot,
                                                 uint32_t index)
{
    const struct leat_share_slot *s = leat_share_slot(hub->share, slot);
    const uint32_t most = s->profiles < LEAT_SHARE_PROFILES ? s->profiles : LEAT_SHARE_PROFILES;
    return index < most ? &s->profile[index] : NULL;
}

const struct leat_timeline *leat_hub_timeline(const struct leat_hub *hub, uint32_t slot)
{
    return &leat_share_slot(hub->share, slot)->timeline;
}

const struct leat_hub_pair *leat_hub_sent_to(const struct leat_hub *hub, uint32_t slot)
{
    return hub->task[slot].sent_to;
}

leat_time leat_hub_now(const struct leat_hub *hub)
{
    return hub->now;
}
