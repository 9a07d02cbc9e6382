#include "poets_mothership.h"
#include <string.h>

static const char *const host_cause_name[] = {
#define X(id, name) name,
    LEAT_POETS_HOST_LIST(X)
#undef X
};

const char *leat_poets_host_cause_name(unsigned cause)
{
    return cause < LEAT_POETS_HOST_COUNT ? host_cause_name[cause] : NULL;
}

/* ---- an application ------------------------------------------------------------------------- */

void leat_poets_app_init(struct leat_poets_app *app, const uint32_t *thread, uint32_t thread_count,
                         uint8_t *reported, bool stop_ack)
{
    *app = (struct leat_poets_app){
        .thread = thread, .thread_count = thread_count, .reported = reported, .stop_ack = stop_ack
    };
}

static void await_threads(struct leat_poets_app *app)
{
    app->waiting = app->thread_count;
    if (app->thread_count) memset(app->reported, 0, app->thread_count);
}

static bool takes(struct leat_poets_app *app, uint32_t command)
{
    if (!(app->staged & command)) return false;
    app->staged &= ~command;
    return true;
}

static void enter(struct leat_poets_app *app, enum leat_poets_app_state state)
{
    app->state = state;
    if (state == LEAT_POETS_APP_LOADING || state == LEAT_POETS_APP_STOPPING) await_threads(app);
    if (state == LEAT_POETS_APP_STOPPING && !app->stop_ack) app->waiting = 0;
}

static uint32_t stop(struct leat_poets_app *app)
{
    enter(app, LEAT_POETS_APP_STOPPING);
    return LEAT_POETS_ACTION_STOP;
}

static uint32_t go(struct leat_poets_app *app)
{
    enter(app, LEAT_POETS_APP_GONE);
    return LEAT_POETS_ACTION_PURGE;
}

/* One transition, if the state has one. RECL stays queued until nothing is left to stop. */
static uint32_t transition(struct leat_poets_app *app)
{
    const bool all = app->has_spec && app->has_supervisor && app->dist_seen == app->dist_wanted;
    const bool recalled = app->staged & LEAT_POETS_COMMAND_RECL;
    switch (app->state) {
    case LEAT_POETS_APP_UNDERDEFINED:
        if (takes(app, LEAT_POETS_COMMAND_RECL)) return go(app);
        if (app->has_spec && app->dist_seen > app->dist_wanted)
            enter(app, LEAT_POETS_APP_BROKEN);
        else if (all)
            enter(app, LEAT_POETS_APP_DEFINED);
        return 0;
    case LEAT_POETS_APP_DEFINED:
        if (takes(app, LEAT_POETS_COMMAND_RECL)) return go(app);
        if (!takes(app, LEAT_POETS_COMMAND_INIT)) return 0;
        enter(app, LEAT_POETS_APP_LOADING);
        return LEAT_POETS_ACTION_LOAD;
    case LEAT_POETS_APP_LOADING:
        if (!app->waiting) enter(app, LEAT_POETS_APP_READY);
        return 0;
    case LEAT_POETS_APP_READY:
        if (recalled || app->failed) return stop(app);
        if (!takes(app, LEAT_POETS_COMMAND_RUN)) return 0;
        enter(app, LEAT_POETS_APP_RUNNING);
        return LEAT_POETS_ACTION_RELEASE;
    case LEAT_POETS_APP_RUNNING:
        if (recalled || app->failed || app->staged & LEAT_POETS_COMMAND_BRKN ||
            takes(app, LEAT_POETS_COMMAND_STOP))
            return stop(app);
        return 0;
    case LEAT_POETS_APP_STOPPING:
        if (app->waiting) return 0;
        enter(app, app->staged & LEAT_POETS_COMMAND_BRKN ? LEAT_POETS_APP_BROKEN
                                                         : LEAT_POETS_APP_STOPPED);
        return LEAT_POETS_ACTION_END;
    case LEAT_POETS_APP_STOPPED:
    case LEAT_POETS_APP_BROKEN: return takes(app, LEAT_POETS_COMMAND_RECL) ? go(app) : 0;
    case LEAT_POETS_APP_GONE: return 0;
    }
    return 0;
}

static uint32_t settle(struct leat_poets_app *app)
{
    uint32_t actions = 0;
    enum leat_poets_app_state before;
    do {
        before = app->state;
        actions |= transition(app);
    } while (app->state != before);
    return actions;
}

uint32_t leat_poets_app_define(struct leat_poets_app *app, enum leat_poets_part part, uint8_t task,
                               uint32_t dist_wanted)
{
    switch (part) {
    case LEAT_POETS_PART_SPEC:
        if (app->has_spec || task > LEAT_POETS_TASK_MAX) enter(app, LEAT_POETS_APP_BROKEN);
        app->has_spec = true;
        app->task = task;
        app->dist_wanted = dist_wanted;
        break;
    case LEAT_POETS_PART_DIST:
        if (app->state != LEAT_POETS_APP_UNDERDEFINED) enter(app, LEAT_POETS_APP_BROKEN);
        app->dist_seen++;
        break;
    case LEAT_POETS_PART_SUPD:
        if (app->has_supervisor) enter(app, LEAT_POETS_APP_BROKEN);
        app->has_supervisor = true;
        break;
    }
    return settle(app);
}

uint32_t leat_poets_app_command(struct leat_poets_app *app, enum leat_poets_command command)
{
    app->staged |= command;
    return settle(app);
}

/* The index of a thread, or thread_count. */
static uint32_t find_thread(const struct leat_poets_app *app, uint32_t address)
{
    uint32_t from = 0, to = app->thread_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (app->thread[middle] < address)
            from = middle + 1;
        else
            to = middle;
    }
    return from < app->thread_count && app->thread[from] == address ? from : app->thread_count;
}

/* ---- packets -------------------------------------------------------------------------------- */

void leat_poets_mothership_init(struct leat_poets_mothership *ms, uint32_t device_count,
                                uint32_t external_count, bool has_supervisor_input)
{
    memset(ms, 0, sizeof *ms);
    ms->device_count = device_count;
    ms->external_count = external_count;
    ms->has_supervisor_input = has_supervisor_input;
}

static void warn(struct leat_poets_mothership *ms, enum leat_poets_host_cause cause,
                 struct leat_poets_event *out)
{
    ms->cause[cause]++;
    out->kind = LEAT_POETS_EVENT_WARNING;
    out->cause = cause;
}

/* BARRIER while loading, STOP while stopping. */
static void on_report(struct leat_poets_mothership *ms, struct leat_poets_app *app,
                      enum leat_poets_app_state wanted, struct leat_poets_event *out)
{
    const uint32_t thread = find_thread(app, out->packet.sender);
    if (thread == app->thread_count) {
        warn(ms, LEAT_POETS_HOST_UNKNOWN_THREAD, out);
    } else if (app->state != wanted) {
        warn(ms, LEAT_POETS_HOST_WRONG_STATE, out);
    } else if (!app->reported[thread]) {
        app->reported[thread] = 1;
        app->waiting--;
        out->actions = settle(app);
        out->kind = LEAT_POETS_EVENT_ACTIONS;
    }
}

static void on_kill(struct leat_poets_mothership *ms, struct leat_poets_app *app,
                    struct leat_poets_event *out)
{
    if (find_thread(app, out->packet.sender) == app->thread_count) {
        warn(ms, LEAT_POETS_HOST_UNKNOWN_THREAD, out);
        return;
    }
    app->failed = true;
    out->actions = settle(app);
    out->kind = LEAT_POETS_EVENT_ACTIONS;
}

/* The open line of a device; if there are too many, the oldest one is evicted. */
static struct leat_poets_join *join_of(struct leat_poets_mothership *ms, uint32_t index)
{
    struct leat_poets_join *oldest = &ms->join[0];
    for (int i = 0; i < LEAT_POETS_JOINS_MAX; i++)
        if (ms->join[i].open && ms->join[i].index == index) return &ms->join[i];
    for (int i = 0; i < LEAT_POETS_JOINS_MAX; i++) {
        struct leat_poets_join *join = &ms->join[i];
        if (!join->open || (oldest->open && join->since < oldest->since)) oldest = join;
        if (!oldest->open) break;
    }
    *oldest = (struct leat_poets_join){ .open = true, .index = index, .since = ms->clock };
    return oldest;
}

static void on_log(struct leat_poets_mothership *ms, struct leat_poets_event *out)
{
    if (out->packet.sender >= ms->device_count) {
        warn(ms, LEAT_POETS_HOST_BAD_INDEX, out);
        return;
    }
    struct leat_poets_join *join = join_of(ms, out->packet.sender);
    const enum leat_poets_log_verdict verdict = leat_poets_log_join(&join->state, &out->packet,
                                                                    &out->lines);
    join->open = join->state.present;
    if (verdict == LEAT_POETS_LOG_DROPPED)
        warn(ms, LEAT_POETS_HOST_LOG_BAD, out);
    else if (verdict == LEAT_POETS_LOG_LINE)
        out->kind = LEAT_POETS_EVENT_LINES;
}

/* SUP: by opcode. */
static void on_supervisor_packet(struct leat_poets_mothership *ms, struct leat_poets_event *out)
{
    struct leat_poets_app *app = ms->app[out->packet.task];
    const bool running = app && app->state == LEAT_POETS_APP_RUNNING;
    if (!app) {
        warn(ms, LEAT_POETS_HOST_BAD_TASK, out);
        return;
    }
    switch (out->packet.opcode) {
    case LEAT_POETS_OP_BARRIER: on_report(ms, app, LEAT_POETS_APP_LOADING, out); return;
    case LEAT_POETS_OP_STOP: on_report(ms, app, LEAT_POETS_APP_STOPPING, out); return;
    case LEAT_POETS_OP_KILL: on_kill(ms, app, out); return;
    case LEAT_POETS_OP_LOG: on_log(ms, out); return;
    case LEAT_POETS_OP_INSTR:
        if (leat_poets_instr_decode(out->packet.payload, out->packet.payload_len, &out->instr,
                                    NULL))
            warn(ms, LEAT_POETS_HOST_BAD_PACKET, out);
        else if (find_thread(app, out->packet.sender) == app->thread_count)
            warn(ms, LEAT_POETS_HOST_UNKNOWN_THREAD, out);
        else
            out->kind = LEAT_POETS_EVENT_INSTR;
        return;
    case LEAT_POETS_OP_NOP: warn(ms, LEAT_POETS_HOST_BAD_OP, out); return;
    default: break;
    }
    if (out->packet.opcode >= LEAT_POETS_OP_RESERVED && out->packet.opcode != LEAT_POETS_OP_IMPL)
        warn(ms, LEAT_POETS_HOST_BAD_OP, out);
    else if (!running || (out->packet.opcode == LEAT_POETS_OP_IMPL && !ms->has_supervisor_input))
        warn(ms, LEAT_POETS_HOST_SUP_DROP, out);
    else if (out->packet.opcode != LEAT_POETS_OP_IMPL)
        out->kind = LEAT_POETS_EVENT_CONTROL;
    else if (out->packet.sender >= ms->device_count)
        warn(ms, LEAT_POETS_HOST_BAD_INDEX, out);
    else
        out->kind = LEAT_POETS_EVENT_SUPERVISOR;
}

void leat_poets_mothership_receive(struct leat_poets_mothership *ms, const uint8_t *octets,
                                   size_t len, struct leat_poets_event *out)
{
    ms->clock++;
    out->kind = LEAT_POETS_EVENT_NOTHING;
    out->actions = 0;
    if (leat_poets_packet_decode(octets, len, &out->packet, NULL))
        warn(ms, LEAT_POETS_HOST_BAD_PACKET, out);
    else if (out->packet.packet_class == LEAT_POETS_CLASS_SUP)
        on_supervisor_packet(ms, out);
    else if (out->packet.packet_class != LEAT_POETS_CLASS_EXT)
        warn(ms, LEAT_POETS_HOST_MS0, out);
    else if (!ms->app[out->packet.task])
        warn(ms, LEAT_POETS_HOST_BAD_TASK, out);
    else if (out->packet.device >= ms->external_count)
        warn(ms, LEAT_POETS_HOST_NO_EXTERNAL, out);
    else
        out->kind = LEAT_POETS_EVENT_EXTERNAL;
}
