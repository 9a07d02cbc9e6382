/*
 * Epochs: one order, given by a schedule and a seed (spec/poets.md, 5.4). Softswitches take their
 * turns in the order of their addresses, so their packets are appended in the order of (source,
 * sequence) without sorting. The supervisor comes last. Tasks take turns by epochs, so each has the
 * run that it would have alone.
 */
#include "graph_run_parts.h"
#include <stdlib.h>
#include <string.h>

enum {
    QUANTUM = 16,
    SUPERVISOR_EPOCHS = 64, /* interval of OnSupervisorIdle */
    WAITING_MIN = 1024,     /* packets waiting in all inboxes before sending stops; */
    WAITING_PER_EDGE = 4,   /* or this many for each edge */
    INBOX_MAX = 1 << 26,    /* packets waiting at one softswitch */
    CHECK_TURNS = 1 << 12,  /* between two checks of the clock */
    EXTERNALS_MS = 5,       /* for processes of externals, while the graph is idle */
};

/* Packets in order; those of the next epoch begin at `due`. */
struct inbox {
    struct leat_poets_slot *slot;
    uint32_t first, due, count, cap;
};

struct epochs {
    struct leat_poets_run *run;
    struct leat_poets_env env;
    struct inbox *inbox, *control; /* by thread */
    struct inbox to_host;
    struct leat_random *random;
    bool failed;      /* out of memory, or too many packets */
    bool moved;       /* something happened in this epoch */
    bool full;        /* too many packets wait: this epoch only receives */
    bool crowded;     /* too many packets of the host wait: externals have to wait, too */
    bool works;       /* it does not wait for anything from outside */
    uint64_t checked; /* turns, when the clock was last read */
};

/* ---- inboxes -------------------------------------------------------------------------------- */

static void put(struct epochs *e, struct inbox *in, const uint8_t *packet, unsigned nflit)
{
    if (in->count == in->cap) {
        const uint32_t used = in->count - in->first;
        if (in->first > used) { /* more room before than there is in it */
            memmove(in->slot, in->slot + in->first, used * sizeof *in->slot);
            in->due -= in->first;
            in->count = used;
            in->first = 0;
        } else {
            const uint32_t cap = in->cap ? 2 * in->cap : 16;
            struct leat_poets_slot *grown = cap <= INBOX_MAX
                                                ? realloc(in->slot, cap * sizeof *grown)
                                                : NULL;
            if (!grown) {
                e->failed = true;
                return;
            }
            in->slot = grown;
            in->cap = cap;
        }
    }
    in->slot[in->count].nflit = (uint8_t)nflit;
    memcpy(in->slot[in->count++].packet, packet, (size_t)nflit * LEAT_POETS_FLIT_LEN);
}

/* Removes the slot at `at`; the rest stays in order, unless the schedule is random. */
static void drop(struct inbox *in, uint32_t at, bool keep_order)
{
    if (at == in->first) {
        in->first++;
    } else if (keep_order) {
        memmove(in->slot + at, in->slot + at + 1, (in->count - at - 1) * sizeof *in->slot);
        in->due--;
        in->count--;
        return;
    } else {
        in->slot[at] = in->slot[in->first++];
    }
    if (in->first == in->count) in->first = in->due = in->count = 0;
}

/* ---- one softswitch, one epoch -------------------------------------------------------------- */

/* Chooses the next of the packets that are due; false: none. */
static bool choose(struct epochs *e, uint32_t thread, uint32_t *at)
{
    struct inbox *in = &e->inbox[thread];
    const struct leat_poets_run_options *o = e->run->options;
    while (in->first < in->due) {
        struct leat_random *r = &e->random[thread];
        *at = in->first;
        if (o->schedule == LEAT_POETS_RUN_LIFO) *at = in->due - 1;
        if (o->schedule == LEAT_POETS_RUN_RANDOM)
            *at = in->first + (uint32_t)leat_random_below(r, in->due - in->first);
        if (o->schedule != LEAT_POETS_RUN_DELAY) return true;
        if ((double)(leat_random_next(r) >> 11) >= o->delay * 9007199254740992.0) return true;
        const struct leat_poets_slot later = in->slot[*at];
        drop(in, *at, true);
        put(e, in, later.packet, later.nflit);
        e->moved = true;
    }
    return false;
}

/* One turn. False: it waits. */
static bool turn(struct epochs *e, uint32_t thread)
{
    struct leat_poets_softswitch *ss = &e->run->softswitch[thread];
    struct inbox *control = &e->control[thread], *in = &e->inbox[thread];
    struct leat_poets_step_in step = { .now = ++e->run->turns, .can_send = !e->full };
    struct leat_poets_step_out out;
    const bool random = e->run->options->schedule == LEAT_POETS_RUN_RANDOM;
    const bool is_control = control->first < control->due;
    uint32_t at = 0;
    struct leat_poets_slot slot;
    bool have = is_control;
    if (is_control)
        slot = control->slot[control->first];
    else if (ss->state == LEAT_POETS_SS_RUN || ss->state == LEAT_POETS_SS_KILLED ||
             ss->state == LEAT_POETS_SS_DEAD)
        have = choose(e, thread, &at);
    if (have && !is_control) slot = in->slot[at];
    if (have) {
        step.packet = slot.packet;
        step.nflit = slot.nflit;
        step.prefer_send = random && !is_control && leat_random_next(&e->random[thread]) >> 63;
    }
    leat_poets_softswitch_step(ss, &step, &out);
    if (out.taken && is_control) drop(control, control->first, true);
    if (out.taken && !is_control) drop(in, at, e->run->options->schedule == LEAT_POETS_RUN_LIFO);
    const bool to_host = out.kind == LEAT_POETS_STEP_SEND_HOST;
    if (to_host || out.kind == LEAT_POETS_STEP_SEND) {
        leat_poets_run_show(e->run, to_host, to_host ? thread : out.thread, out.out.packet,
                            out.out.nflit);
        put(e, to_host ? &e->to_host : &e->inbox[out.thread], out.out.packet, out.out.nflit);
    }
    const bool waits = out.kind == LEAT_POETS_STEP_WAIT_RX || out.kind == LEAT_POETS_STEP_DONE ||
                       out.kind == LEAT_POETS_STEP_WAIT_TX_OR_RX;
    e->moved = e->moved || !waits || out.taken;
    return !waits || out.taken;
}

/* Packets sent in this epoch can be received in the next. */
static void begin_epoch(struct epochs *e)
{
    const uint64_t edges = e->run->machine->instance->edge_count;
    uint64_t waiting = 0, from_host = 0;
    e->moved = false;
    e->run->epochs++;
    for (uint32_t t = 0; t < e->run->machine->thread_count; t++) {
        e->inbox[t].due = e->inbox[t].count;
        e->control[t].due = e->control[t].count;
        waiting += e->inbox[t].count - e->inbox[t].first;
        from_host += e->control[t].count - e->control[t].first;
    }
    e->to_host.due = e->to_host.count;
    e->crowded = from_host > WAITING_MIN;
    e->full = waiting > WAITING_MIN && waiting > WAITING_PER_EDGE * edges;
}

static void epoch(struct epochs *e)
{
    struct leat_poets_graph_host *host = &e->run->host;
    const uint32_t quantum = e->run->options->quantum ? e->run->options->quantum : QUANTUM;
    begin_epoch(e);
    for (uint32_t t = 0; t < e->run->machine->thread_count; t++)
        for (uint32_t k = 0; k < quantum && turn(e, t); k++) {
        }
    e->env.block = NULL; /* no handler runs, however long the host waits */
    while (e->to_host.first < e->to_host.due) {
        const struct leat_poets_slot slot = e->to_host.slot[e->to_host.first];
        drop(&e->to_host, e->to_host.first, true);
        leat_poets_graph_host_packet(host, slot.packet, slot.nflit);
        e->moved = true;
    }
    leat_poets_graph_host_flush(host);
    if (e->run->epochs % SUPERVISOR_EPOCHS == 0) leat_poets_graph_host_idle(host);
}

/* ---- the run -------------------------------------------------------------------------------- */

static void send_to_thread(struct leat_poets_graph_host *host, uint32_t thread,
                           const uint8_t *packet, unsigned nflit)
{
    struct epochs *e = host->engine;
    leat_poets_run_show(e->run, false, thread, packet, nflit);
    put(e, &e->control[thread], packet, nflit);
}

static bool packets_wait(const struct epochs *e)
{
    for (uint32_t t = 0; t < e->run->machine->thread_count; t++)
        if (e->inbox[t].first < e->inbox[t].count || e->control[t].first < e->control[t].count ||
            !leat_poets_softswitch_is_passive(&e->run->softswitch[t]))
            return true;
    return e->to_host.first < e->to_host.count;
}

/* One epoch; `others`: another task has something to do. */
static void step(struct epochs *e, bool others)
{
    struct leat_poets_run *run = e->run;
    leat_poets_run_watch_env(&e->env);
    epoch(e);
    if (atomic_load(&run->exit_code) >= 0 || run->turns - e->checked >= CHECK_TURNS) {
        leat_poets_run_check_end(run);
        e->checked = run->turns;
    }
    e->works = e->moved || packets_wait(e);
    if (!e->crowded)
        leat_poets_graph_externals_serve(&run->host, e->works || others ? 0 : EXTERNALS_MS);
    if (e->works || packets_wait(e)) return;
    if (leat_poets_graph_host_waits(&run->host)) leat_poets_run_check_end(run);
    if (run->host.app.state != LEAT_POETS_APP_RUNNING || leat_poets_run_end_held(run)) return;
    const bool active = leat_poets_run_hardware_idle(run, 0, run->machine->thread_count);
    e->env.block = NULL;
    leat_poets_run_count_idle(run, active || packets_wait(e));
    leat_poets_graph_host_idle(&run->host);
    leat_poets_run_check_end(run);
}

static void report_progress(struct leat_poets_runs *runs)
{
    uint64_t receives = 0;
    for (uint32_t k = 0; k < runs->count; k++)
        receives += leat_poets_run_received(&runs->run[k]);
    leat_poets_run_progress(runs, receives);
}

/* False: a task has failed. */
static bool run_to_the_end(struct leat_poets_runs *runs, struct epochs *task)
{
    uint64_t turns = 0, reported = 0;
    for (uint32_t k = 0; k < runs->count; k++)
        leat_poets_graph_host_begin(&runs->run[k].host);
    for (uint32_t over = 0; over < runs->count;) {
        uint32_t working = over = 0;
        for (uint32_t k = 0; k < runs->count; k++)
            working += task[k].works;
        for (uint32_t k = 0; k < runs->count; k++) {
            struct epochs *e = &task[k];
            if (leat_poets_run_is_over(e->run)) {
                e->works = false;
                over++;
                continue;
            }
            const uint64_t before = e->run->turns;
            step(e, working > e->works);
            turns += e->run->turns - before;
            if (e->failed) return false;
        }
        if (turns - reported < CHECK_TURNS) continue;
        reported = turns;
        report_progress(runs);
    }
    return true;
}

/* False: no memory. */
static bool make(struct epochs *e, struct leat_poets_run *run)
{
    const uint32_t threads = run->machine->thread_count;
    e->run = run;
    leat_poets_run_env(run, &e->env, false);
    e->inbox = calloc(threads + 1, sizeof *e->inbox);
    e->control = calloc(threads + 1, sizeof *e->control);
    e->random = calloc(threads + 1, sizeof *e->random);
    if (!e->inbox || !e->control || !e->random || !leat_poets_run_make(run, &e->env, threads + 1))
        return false;
    for (uint32_t t = 0; t < threads; t++)
        leat_random_seed_entity(&e->random[t], run->options->seed, t);
    run->host.send = send_to_thread;
    run->host.engine = e;
    return true;
}

static void free_epochs(struct epochs *e)
{
    leat_poets_run_lend_env(e->run, false);
    for (uint32_t t = 0; t < e->run->machine->thread_count; t++) {
        if (e->inbox) free(e->inbox[t].slot);
        if (e->control) free(e->control[t].slot);
    }
    free(e->inbox);
    free(e->control);
    free(e->random);
    free(e->to_host.slot);
}

bool leat_poets_run_epochs(struct leat_poets_runs *runs)
{
    struct epochs *task = calloc(runs->count, sizeof *task);
    uint32_t made = 0;
    bool good = task;
    while (good && made < runs->count) {
        good = make(&task[made], &runs->run[made]);
        made++;
    }
    if (good) {
        leat_poets_run_watch_crashes();
        for (uint32_t k = 0; k < runs->count; k++)
            leat_poets_run_enlist(&task[k].env);
        good = run_to_the_end(runs, task);
        leat_poets_run_forget_crashes(runs);
    }
    while (made)
        free_epochs(&task[--made]);
    free(task);
    return good;
}
