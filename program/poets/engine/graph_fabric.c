/*
 * Threads over a fabric: events of threads and of the host in one heap, by cycle; the network runs
 * up to each of them. The order is the same on every machine.
 */
#include "graph_fabric.h"
#include "graph_run_parts.h"
#include "leat_bytes.h"
#include "leat_fnv.h"
#include "leat_heap.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHECK_EVENTS = 256,    /* between two checks for external ends */
    HOST_QUEUE_MAX = 4096, /* packets waiting at the host before it stops receiving */
    TICKS_PER_RECORD = 16, /* checks of sleeping threads per record interval */
    NAP_NS = 50000,
    HOST_IDLE_MS = 1, /* minimum interval of OnSupervisorIdle */
};
#define NEVER UINT64_MAX

struct fabric;

struct task {
    struct fabric *fabric;
    struct leat_poets_run *run;
    struct leat_poets_env env;
    uint32_t first, end;   /* its units */
    uint32_t alive, awake; /* packets from and to its units; units that are not asleep */
    uint64_t idle_at;      /* when its idleness is noticed; NEVER: it is not idle */
    bool waits;            /* idleness does not end it: at idle_at the supervisor has its turn */
    uint64_t host_idle_at;
    uint64_t ran_from, ran_to;
};

/* A thread, or the host. */
struct unit {
    uint64_t at;                   /* when its turn ends and the next begins; NEVER: it sleeps */
    struct leat_poets_mail *taken; /* received by the turn that ends then */
    struct leat_poets_mail *out;   /* sent by it */
};

struct fabric {
    struct leat_poets_runs *runs;
    const struct leat_poets_fabric_options *options;
    struct task *task;
    uint32_t task_count, over_count;
    struct task *last; /* that had its turn */
    bool host_acted;   /* states of tasks may have changed */
    struct leat_poets_mailboxes mail;
    struct unit *unit; /* the last is the host */
    uint8_t *task_of;  /* by unit */
    uint32_t *heap, heap_count;
    uint32_t host;                     /* its number */
    struct leat_poets_mail_list queue; /* packets that the host has to send */
    uint32_t queued;
    uint64_t now, tick, tick_cycles, supervise_at, limit, events;
    bool failed; /* no memory */
};

/* ---- time ----------------------------------------------------------------------------------- */

static leat_time edge(const struct fabric *f, uint64_t cycle)
{
    const uint64_t num = f->options->clock_num, den = f->options->clock_den;
    return cycle / den * num + cycle % den * num / den;
}

/* The first cycle that does not begin before `at`. */
static uint64_t cycle_from(const struct fabric *f, leat_time at)
{
    const uint64_t num = f->options->clock_num, den = f->options->clock_den;
    return at / num * den + (at % num * den + num - 1) / num;
}

/* The present. A network with a different clock may be a fraction of a cycle ahead. */
static leat_time network_time(const struct fabric *f)
{
    const leat_time at = edge(f, f->now);
    return at > f->mail.net->now ? at : f->mail.net->now;
}

static double seconds(const struct fabric *f)
{
    return (double)f->now * (double)f->options->clock_num / (double)f->options->clock_den * 1e-12;
}

/* The first cycle that is later. */
static uint64_t cycles_until(const struct fabric *f, double seconds_max)
{
    const double ps = seconds_max * 1e12;
    return ps < 1e19 ? cycle_from(f, (leat_time)ps) + 1 : NEVER;
}

static uint64_t cycles_of_ms(const struct fabric *f, uint64_t ms)
{
    return cycle_from(f, ms * UINT64_C(1000000000));
}

/* ---- idleness of a task ---------------------------------------------------------------------- */

static void count_alive(struct task *task, int change)
{
    task->alive += (uint32_t)change;
    task->waits = false;
    task->idle_at = task->alive || task->awake
                        ? NEVER
                        : task->fabric->now + task->fabric->options->costs.detect;
}

static void count_awake(struct fabric *f, uint32_t number, int change)
{
    if (number == f->host) return;
    struct task *task = &f->task[f->task_of[number]];
    task->awake += (uint32_t)change;
    count_alive(task, 0);
}

static struct task *task_of(const struct fabric *f, const struct leat_poets_mail *mail)
{
    return &f->task[f->task_of[mail->from == f->host ? mail->to : mail->from]];
}

/* The first of all that are to be noticed as idle; NULL: none. */
static struct task *first_idle(const struct fabric *f)
{
    struct task *first = NULL;
    for (uint32_t i = 0; i < f->task_count; i++)
        if (f->task[i].idle_at != NEVER && (!first || f->task[i].idle_at < first->idle_at))
            first = &f->task[i];
    return first;
}

/* ---- events --------------------------------------------------------------------------------- */

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct fabric *f = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return f->unit[x].at != f->unit[y].at ? f->unit[x].at < f->unit[y].at : x < y;
}

static struct leat_heap units_of(struct fabric *f)
{
    return (struct leat_heap){
        .element = f->heap, .size = sizeof *f->heap, .before = is_before, .context = f
    };
}

static void plan(struct fabric *f, uint32_t number, uint64_t at)
{
    const struct leat_heap heap = units_of(f);
    f->unit[number].at = at;
    leat_heap_push(&heap, &f->heap_count, &number);
    count_awake(f, number, 1);
}

static uint32_t take_next(struct fabric *f)
{
    const struct leat_heap heap = units_of(f);
    uint32_t number;
    leat_heap_take(&heap, &f->heap_count, &number);
    count_awake(f, number, -1);
    return number;
}

/* A unit that is busy, or has its turn, checks by itself when it is done. */
static void wake(struct fabric *f, uint32_t number, uint64_t at)
{
    if (f->unit[number].at == NEVER) plan(f, number, at > f->now ? at : f->now);
}

static void wake_at(void *context, uint32_t number, leat_time at)
{
    struct fabric *f = context;
    wake(f, number, cycle_from(f, at));
}

/* ---- a thread ------------------------------------------------------------------------------- */

/* What handlers ran so far. */
struct work {
    uint64_t received, sent, idled;
};

static struct work work_of(const struct leat_poets_softswitch *ss)
{
    return (struct work){ ss->handled, ss->instr.counter[LEAT_POETS_INSTR_TX_HAN_CNT],
                          ss->instr.counter[LEAT_POETS_INSTR_IDLE_HAN_CNT] };
}

/* Counters restart with each record; then nothing else was done. */
static uint64_t since(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static uint64_t cost_of(const struct fabric *f, const struct leat_poets_softswitch *ss,
                        struct work before, bool sends)
{
    const struct leat_poets_fabric_costs *c = &f->options->costs;
    const struct work after = work_of(ss);
    return c->turn + since(before.received, after.received) * c->receive +
           since(before.sent, after.sent) * c->send + since(before.idled, after.idled) * c->idle +
           (sends ? c->edge : 0);
}

/* Posts and releases the packets of the previous turn. */
static void end_turn(struct fabric *f, struct unit *u)
{
    if (u->taken) {
        count_alive(task_of(f, u->taken), -1);
        leat_poets_mail_done(&f->mail, u->taken, network_time(f));
    }
    u->taken = NULL;
    if (u->out) leat_poets_mail_post(&f->mail, u->out, network_time(f));
    u->out = NULL;
}

/* NULL: no memory. */
static struct leat_poets_mail *new_mail(struct fabric *f, struct task *task, uint32_t from,
                                        uint32_t to, const uint8_t *packet, unsigned nflit)
{
    struct leat_poets_mail *mail = leat_poets_mail_new(&f->mail, from, to, packet, nflit);
    if (mail)
        count_alive(task, 1);
    else
        f->failed = true;
    return mail;
}

/* The packet that has arrived for a thread. Data waits until the barrier is open. */
static struct leat_poets_mail *arrived_for(const struct fabric *f, uint32_t number,
                                           const struct leat_poets_softswitch *ss)
{
    struct leat_poets_mail *mail = leat_poets_mail_oldest(&f->mail, number);
    const bool early = ss->state == LEAT_POETS_SS_INIT || ss->state == LEAT_POETS_SS_BARRIER;
    return mail && early && mail->from != f->host ? NULL : mail;
}

static uint64_t send(struct fabric *f, struct task *task, uint32_t number,
                     const struct leat_poets_step_out *out)
{
    struct unit *u = &f->unit[number];
    const bool to_host = out->kind == LEAT_POETS_STEP_SEND_HOST;
    const uint32_t to = to_host ? f->host : task->first + out->thread;
    leat_poets_run_show(task->run, to_host, to_host ? number - task->first : out->thread,
                        out->out.packet, out->out.nflit);
    u->out = new_mail(f, task, number, to, out->out.packet, out->out.nflit);
    return f->mail.user[number].box == f->mail.user[to].box
               ? f->options->costs.copy * out->out.nflit
               : 0;
}

static bool is_over(const struct task *task)
{
    return leat_poets_graph_host_is_over(&task->run->host);
}

/* The cycle of its next turn; NEVER: it sleeps. */
static uint64_t thread_turn(struct fabric *f, uint32_t number)
{
    struct task *task = &f->task[f->task_of[number]];
    struct leat_poets_softswitch *ss = &task->run->softswitch[number - task->first];
    struct unit *u = &f->unit[number];
    f->last = task;
    end_turn(f, u);
    struct leat_poets_mail *mail = arrived_for(f, number, ss);
    if (is_over(task)) { /* packets that were under way */
        if (mail) leat_poets_mail_take(&f->mail, mail);
        u->taken = mail;
        return mail ? f->now + f->options->costs.turn : NEVER;
    }
    const struct work before = work_of(ss);
    const bool begins = ss->state == LEAT_POETS_SS_INIT;
    const struct leat_poets_step_in in = { .now = f->now,
                                           .can_send = !f->mail.user[number].sends,
                                           .packet = mail ? leat_poets_mail_packet(mail) : NULL,
                                           .nflit = mail ? mail->nflit : 0 };
    struct leat_poets_step_out out;
    task->run->turns = f->now;
    leat_poets_run_watch_env(&task->env);
    leat_poets_softswitch_step(ss, &in, &out);
    task->env.block = NULL; /* no handler runs any more */
    const bool sends = out.kind == LEAT_POETS_STEP_SEND || out.kind == LEAT_POETS_STEP_SEND_HOST;
    uint64_t cost = cost_of(f, ss, before, sends);
    if (begins) cost += ss->config.device_count * f->options->costs.receive;
    if (out.taken) {
        leat_poets_mail_take(&f->mail, mail);
        u->taken = mail;
    }
    if (sends) cost += send(f, task, number, &out);
    return out.kind == LEAT_POETS_STEP_TURN || sends || out.taken ? f->now + cost : NEVER;
}

/* ---- the host ------------------------------------------------------------------------------- */

static void send_to_thread(struct leat_poets_graph_host *host, uint32_t thread,
                           const uint8_t *packet, unsigned nflit)
{
    struct task *task = host->engine;
    struct fabric *f = task->fabric;
    struct leat_poets_mail *mail = new_mail(f, task, f->host, task->first + thread, packet, nflit);
    if (!mail) return;
    task->run->turns = f->now;
    leat_poets_run_show(task->run, false, thread, packet, nflit);
    leat_poets_mail_append(&f->queue, mail);
    f->queued++;
    wake(f, f->host, f->now);
}

static void flush_lines(struct fabric *f)
{
    for (uint32_t i = 0; i < f->task_count; i++)
        leat_poets_graph_host_flush(&f->task[i].run->host);
}

/* Sends one packet if its slot is free, and receives one unless too many wait to be sent. */
static uint64_t host_turn(struct fabric *f)
{
    struct unit *u = &f->unit[f->host];
    end_turn(f, u);
    if (f->queued && !f->mail.user[f->host].sends) {
        f->queued--;
        leat_poets_mail_post(&f->mail, leat_poets_mail_first(&f->queue), network_time(f));
    }
    struct leat_poets_mail *mail = leat_poets_mail_oldest(&f->mail, f->host);
    if (!mail) flush_lines(f);
    if (!mail || f->queued >= HOST_QUEUE_MAX) return NEVER;
    leat_poets_mail_take(&f->mail, mail);
    u->taken = mail;
    f->host_acted = true;
    leat_poets_graph_host_packet(&task_of(f, mail)->run->host, leat_poets_mail_packet(mail),
                                 mail->nflit);
    return f->now + f->options->costs.host;
}

/* ---- idle steps ------------------------------------------------------------------------------ */

static void supervisor_idle(struct fabric *f, struct task *task)
{
    if (f->now < task->host_idle_at) return;
    task->host_idle_at = f->now + cycles_of_ms(f, HOST_IDLE_MS);
    f->host_acted = true;
    leat_poets_graph_host_idle(&task->run->host);
}

static void supervisors_idle(struct fabric *f)
{
    if (f->now < f->supervise_at) return;
    f->supervise_at = NEVER;
    for (uint32_t i = 0; i < f->task_count; i++) {
        supervisor_idle(f, &f->task[i]);
        if (f->task[i].host_idle_at < f->supervise_at) f->supervise_at = f->task[i].host_idle_at;
    }
}

/* OnHardwareIdle everywhere. True: a device wants to continue. */
static bool hardware_idle(struct fabric *f, struct task *task)
{
    const struct leat_poets_fabric_costs *c = &f->options->costs;
    const bool handlers = task->run->machine->has_hardware_idle;
    bool active = false;
    task->run->turns = f->now;
    leat_poets_run_watch_env(&task->env);
    for (uint32_t t = task->first; t < task->end; t++) {
        struct leat_poets_softswitch *ss = &task->run->softswitch[t - task->first];
        active = leat_poets_softswitch_hardware_idle(ss) || active;
        if (leat_poets_softswitch_is_passive(ss)) continue;
        wake(f, t, f->now + c->turn + (handlers ? ss->config.device_count * c->receive : 0));
    }
    task->env.block = NULL;
    return active || task->awake;
}

/* It is not to end by idleness. True: it waits until OnSupervisorIdle is due. */
static bool waits_for_supervisor(struct fabric *f, struct task *task)
{
    if (task->run->host.reason != LEAT_POETS_RUN_RUNNING) return false;
    if (atomic_load(&task->run->exit_code) >= 0 || f->now >= task->host_idle_at) return false;
    task->idle_at = task->host_idle_at;
    return task->waits = true;
}

/* What OnSupervisorIdle waits for may need this processor, if nobody else does. */
static void nap(const struct fabric *f)
{
    static const struct timespec some = { .tv_nsec = NAP_NS };
    if (!f->heap_count && !f->mail.alive) nanosleep(&some, NULL);
}

/* All units of a task sleep, and none of its packets is in flight. */
static void idle_step(struct fabric *f, struct task *task)
{
    struct leat_poets_run *run = task->run;
    const bool waited = task->waits;
    f->last = task;
    f->host_acted = true;
    count_alive(task, 0); /* the next step */
    if (is_over(task)) {
        task->idle_at = NEVER;
        return;
    }
    if (run->host.app.state != LEAT_POETS_APP_RUNNING) {
        snprintf(f->mail.failed, sizeof f->mail.failed, "the host waits for threads in vain");
        return;
    }
    if (waited) nap(f);
    if (!waited) {
        if (leat_poets_run_end_held(run)) return;
        const bool ends = leat_poets_run_count_idle(run, hardware_idle(f, task));
        if (ends && waits_for_supervisor(f, task)) return;
    }
    supervisor_idle(f, task);
    leat_poets_run_check_end_after(run, seconds(f));
}

/* ---- the run -------------------------------------------------------------------------------- */

/* External reasons to end, and progress. */
static void check_outside(struct fabric *f)
{
    uint64_t receives = 0;
    f->host_acted = true;
    for (uint32_t i = 0; i < f->task_count; i++)
        leat_poets_run_check_end_after(f->task[i].run, seconds(f));
    if (!f->runs->run->options->watch.progress) return;
    for (uint32_t i = 0; i < f->task_count; i++)
        receives += leat_poets_run_received(f->task[i].run);
    leat_poets_run_progress(f->runs, receives);
}

/* Timed events, whatever else happens. */
static void keep_time(struct fabric *f)
{
    if (f->now >= f->tick) {
        f->tick = f->now + f->tick_cycles;
        for (uint32_t t = 0; t < f->host; t++)
            wake(f, t, f->now);
    }
    if (!f->queued) supervisors_idle(f);
    if (f->now >= f->limit || f->events++ % CHECK_EVENTS == 0 ||
        atomic_load(&f->last->run->exit_code) >= 0)
        check_outside(f);
}

/* When tasks began to run, and ended. */
static void note_states(struct fabric *f)
{
    f->host_acted = false;
    f->over_count = 0;
    for (uint32_t i = 0; i < f->task_count; i++) {
        struct task *task = &f->task[i];
        const bool running = task->run->host.app.state == LEAT_POETS_APP_RUNNING;
        if (running && task->ran_from == NEVER) task->ran_from = f->now;
        if (!running && task->ran_from != NEVER && task->ran_to == NEVER) task->ran_to = f->now;
        f->over_count += leat_poets_run_is_over(task->run);
    }
}

static void unit_turn(struct fabric *f)
{
    const uint32_t number = take_next(f);
    const uint64_t again = number == f->host ? host_turn(f) : thread_turn(f, number);
    f->unit[number].at = NEVER;
    if (again != NEVER) plan(f, number, again);
}

/* The next event: of the network, of a unit, of a timer, or that a task is idle. False: there will
 * be none. */
static bool next_event(struct fabric *f)
{
    struct task *idle = first_idle(f);
    const uint64_t idle_at = idle ? idle->idle_at : NEVER;
    const uint64_t unit_at = f->heap_count ? f->unit[f->heap[0]].at : NEVER;
    const uint64_t work_at = unit_at < f->tick ? unit_at : f->tick;
    const uint64_t next = work_at <= idle_at ? work_at : idle_at;
    if (f->mail.net->in_flight &&
        leat_poets_mailboxes_run(&f->mail, next == NEVER ? LEAT_NEVER : edge(f, next)))
        return true;
    if (next == NEVER) return false;
    f->now = next;
    if (next != work_at) {
        idle_step(f, idle);
        return true;
    }
    keep_time(f);
    if (unit_at == next) unit_turn(f);
    return true;
}

static void begin(struct fabric *f)
{
    for (uint32_t i = 0; i < f->task_count; i++)
        leat_poets_graph_host_begin(&f->task[i].run->host);
    for (uint32_t t = 0; t < f->host; t++)
        wake(f, t, 0);
    for (uint32_t i = 0; i < f->task_count; i++)
        count_alive(&f->task[i], 0);
    note_states(f);
}

static void run_to_the_end(struct fabric *f)
{
    begin(f);
    while (f->over_count < f->task_count && !f->failed && !f->mail.failed[0]) {
        if (!next_event(f))
            snprintf(f->mail.failed, sizeof f->mail.failed, "packets wait and nothing moves");
        if (f->host_acted) note_states(f);
    }
}

static void sum_up(const struct fabric *f, const struct task *task,
                   struct leat_poets_fabric_result *out)
{
    const struct leat_poets_mailboxes *m = &f->mail;
    uint8_t words[24];
    *out = (struct leat_poets_fabric_result){
        .cycles = f->now, .threads = m->threads_count, .host = m->host_count, .copied = m->copied
    };
    if (task->ran_to != NEVER) out->ran_cycles = task->ran_to - task->ran_from;
    for (uint32_t b = 0; b <= m->boxes; b++)
        if (m->box[b].packets > out->busiest_packets) {
            out->busiest_packets = m->box[b].packets;
            out->busiest_port = m->box[b].port;
        }
    memcpy(out->failed, m->failed, sizeof out->failed);
    leat_put_le64(words, m->net->certificate);
    leat_put_le64(words + 8, out->cycles);
    leat_put_le64(words + 16, out->copied);
    out->certificate = leat_fnv(LEAT_FNV_EMPTY, words, sizeof words);
}

/* Its threads have the places behind those of the task before. */
static bool make_task(struct fabric *f, uint32_t number)
{
    struct task *task = &f->task[number];
    struct leat_poets_run *run = &f->runs->run[number];
    const uint32_t threads = run->machine->thread_count;
    *task = (struct task){ .fabric = f,
                           .run = run,
                           .first = run->machine->base,
                           .end = run->machine->base + threads,
                           .idle_at = NEVER,
                           .ran_from = NEVER,
                           .ran_to = NEVER };
    for (uint32_t t = 0; t < threads; t++) {
        f->task_of[task->first + t] = (uint8_t)number;
        run->machine->address[t] = f->mail.user[task->first + t].address;
    }
    leat_poets_run_env(run, &task->env, false);
    run->host.send = send_to_thread;
    run->host.engine = task;
    return leat_poets_run_make(run, &task->env, threads + 1);
}

static bool make(struct fabric *f)
{
    const struct leat_poets_fabric_options *o = f->options;
    const struct leat_poets_mailbox_config config = { .net = o->net,
                                                      .bare = o->bare,
                                                      .place = o->place,
                                                      .boxes = o->boxes,
                                                      .threads = f->host,
                                                      .slots = o->slots,
                                                      .host_port = o->host_port,
                                                      .host_address = o->host_address };
    f->task = calloc(f->task_count, sizeof *f->task);
    f->unit = calloc((size_t)f->host + 1, sizeof *f->unit);
    f->heap = calloc((size_t)f->host + 1, sizeof *f->heap);
    f->task_of = calloc((size_t)f->host + 1, sizeof *f->task_of);
    bool good = leat_poets_mailboxes_make(&f->mail, &config) && f->task && f->unit && f->heap &&
                f->task_of;
    f->mail.context = f;
    f->mail.came = f->mail.free_to_send = wake_at;
    for (uint32_t t = 0; good && t <= f->host; t++)
        f->unit[t].at = NEVER;
    f->last = f->task;
    for (uint32_t i = 0; good && i < f->task_count; i++)
        good = make_task(f, i);
    return good;
}

bool leat_poets_run_fabric(struct leat_poets_runs *runs)
{
    const struct leat_poets_run_options *o = runs->run->options;
    const struct leat_poets_machine *last = runs->run[runs->count - 1].machine;
    struct fabric f = { .runs = runs,
                        .options = &o->fabric,
                        .task_count = runs->count,
                        .host = last->base + last->thread_count,
                        .tick = NEVER,
                        .limit = NEVER };
    bool good = make(&f);
    if (o->seconds_max > 0) f.limit = cycles_until(&f, o->seconds_max);
    if (o->host.instrument) f.tick = f.tick_cycles = o->host.interval / TICKS_PER_RECORD + 1;
    if (good) {
        leat_poets_run_watch_crashes();
        for (uint32_t i = 0; i < runs->count; i++)
            leat_poets_run_enlist(&f.task[i].env);
        run_to_the_end(&f);
        leat_poets_run_forget_crashes(runs);
        for (uint32_t i = 0; i < runs->count; i++)
            sum_up(&f, &f.task[i], &runs->run[i].fabric);
        good = !f.failed;
    }
    for (uint32_t i = 0; i < runs->count; i++)
        leat_poets_run_lend_env(&runs->run[i], false);
    leat_poets_mailboxes_free(&f.mail);
    free(f.task);
    free(f.unit);
    free(f.heap);
    free(f.task_of);
    return good;
}
