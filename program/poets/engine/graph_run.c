#include "graph_place.h"
#include "graph_run_parts.h"
#include "handler_where.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CYCLES_PER_MICROSECOND = 240 };

uint64_t leat_poets_run_cycles(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 * CYCLES_PER_MICROSECOND +
           (uint64_t)now.tv_nsec * CYCLES_PER_MICROSECOND / 1000;
}

double leat_poets_run_seconds(void)
{
    return (double)leat_poets_run_cycles() / LEAT_POETS_RUN_CYCLES_PER_SECOND;
}

/* ---- what handlers call --------------------------------------------------------------------- */

static struct leat_poets_softswitch *softswitch_of(struct leat_poets_env *env)
{
    const struct leat_poets_run *run = env->engine;
    return &run->softswitch[env->block->thread];
}

static void log_line(struct leat_poets_env *env, unsigned level, const char *text)
{
    (void)level; /* output above the level is not sent here */
    leat_poets_softswitch_log(softswitch_of(env), env->block->index, text);
}

static void request_exit(struct leat_poets_env *env, int code)
{
    struct leat_poets_run *run = env->engine;
    int none = -1;
    atomic_compare_exchange_strong(&run->exit_code, &none, code != 0);
}

void leat_poets_run_tell_thrown(const struct leat_poets_machine *machine, const char *what,
                                void *const *frame, int count, struct leat_text *out)
{
    struct leat_handler_where where;
    leat_text_puts(out, what);
    if (!count ||
        !leat_handlers_where(machine->graph, machine->handlers, frame, count, NULL, &where))
        return;
    if (*where.handler) leat_text_puts(out, " in ");
    leat_text_puts(out, where.handler);
    if (*where.pin) leat_text_puts(out, " of ");
    leat_text_puts(out, where.pin);
    if (!where.file) return;
    leat_text_puts(out, ", ");
    leat_text_puts(out, where.file);
    leat_text_puts(out, ":");
    leat_text_decimal(out, where.line);
}

static void fail(struct leat_poets_env *env, const char *what)
{
    const struct leat_poets_run *run = env->engine;
    struct leat_text text = LEAT_TEXT(LEAT_POETS_TEXT_LEN);
    text.cap--; /* for a NUL */
    leat_poets_run_tell_thrown(run->machine, what, env->thrown, env->thrown_count, &text);
    leat_poets_softswitch_log(softswitch_of(env), env->block->index, text.buf);
}

static void debug_octet(struct leat_poets_env *env, uint8_t octet)
{
    struct leat_poets_run *run = env->engine;
    atomic_fetch_add(&run->debug_octets, 1);
    fprintf(run->options->host.lines, "%s%s: debug %02X\n",
            leat_poets_graph_host_prefix(&run->host),
            leat_poets_machine_name(run->machine, env->block->index), octet);
}

static bool send_control(struct leat_poets_env *env, uint8_t opcode, const void *payload,
                         size_t len)
{
    return leat_poets_softswitch_control(softswitch_of(env), env->block->index, opcode, payload,
                                         len);
}

static uint64_t cycles_of_clock(struct leat_poets_env *env)
{
    (void)env;
    return leat_poets_run_cycles();
}

static uint64_t cycles_of_turns(struct leat_poets_env *env)
{
    const struct leat_poets_run *run = env->engine;
    return run->turns;
}

void leat_poets_run_env(struct leat_poets_run *run, struct leat_poets_env *env, bool clock)
{
    *env = (struct leat_poets_env){ .graph = run->machine->graph_properties,
                                    .log = log_line,
                                    .exit = request_exit,
                                    .fail = fail,
                                    .uart = debug_octet,
                                    .cycles = clock ? cycles_of_clock : cycles_of_turns,
                                    .control = send_control,
                                    .engine = run,
                                    .log_level = run->options->log_level,
                                    .log_raw = run->options->log_raw };
}

/* ---- softswitches --------------------------------------------------------------------------- */

bool leat_poets_run_make(struct leat_poets_run *run, struct leat_poets_env *env, uint32_t per_env)
{
    const struct leat_poets_machine *m = run->machine;
    const struct leat_poets_run_options *o = run->options;
    /* Workers write to their own softswitches all the time: no two may share a cache line. */
    const size_t len = (m->thread_count + 1) * sizeof *run->softswitch;
    run->softswitch = aligned_alloc(_Alignof(struct leat_poets_softswitch), len);
    run->memory = calloc(m->thread_count + 1, sizeof *run->memory);
    if (!run->softswitch || !run->memory) return false;
    memset(run->softswitch, 0, len);
    for (uint32_t t = m->thread_from; t < m->thread_to; t++) {
        const struct leat_poets_softswitch_config config = {
            .type = m->handlers->type,
            .blocks = m->blocks,
            .device = m->dealt + m->first[t],
            .device_count = m->first[t + 1] - m->first[t],
            .edge = m->edge,
            .seat = m->seat,
            .env = &env[t / per_env],
            .hw_address = m->address[t],
            .task = m->task,
            .rts = o->rts,
            .instr_first = o->instr_first,
            .instruments = o->host.instrument,
            .no_request_idle = o->no_request_idle,
            .stop_ack = o->host.stop_ack,
            .resumes = o->resumes,
            .compat = o->hdr_pin_as_edge ? LEAT_POETS_COMPAT_HDR_PIN_AS_EDGE : 0,
            .interval = o->host.interval,
        };
        run->memory[t] = malloc(leat_poets_softswitch_footprint(&config));
        if (!run->memory[t]) return false;
        leat_poets_softswitch_init(&run->softswitch[t], &config, run->memory[t]);
    }
    leat_poets_run_lend_env(run, true);
    return true;
}

static void free_run(struct leat_poets_run *run)
{
    for (uint32_t t = 0; run->memory && t < run->machine->thread_count; t++)
        free(run->memory[t]);
    free(run->memory);
    free(run->softswitch);
}

/* ---- observer -------------------------------------------------------------------------------- */

/* Since the beginning: by the fabric's clock, by turns, or by the machine's clock. */
static uint64_t time_ns(const struct leat_poets_run *run)
{
    const struct leat_poets_fabric_options *f = &run->options->fabric;
    uint64_t cycles = 0;
    if (f->net)
        return (run->turns / f->clock_den * f->clock_num +
                run->turns % f->clock_den * f->clock_num / f->clock_den) /
               1000;
    if (run->options->schedule == LEAT_POETS_RUN_FREE)
        cycles = leat_poets_run_cycles() - run->began;
    else
        for (uint32_t i = 0; i < run->all->count; i++) /* they take turns */
            cycles += run->all->run[i].turns;
    return cycles * 1000 / CYCLES_PER_MICROSECOND;
}

void leat_poets_run_show(struct leat_poets_run *run, bool to_host, uint32_t thread,
                         const uint8_t *packet, unsigned nflit)
{
    const struct leat_poets_run_watch *watch = &run->options->watch;
    if (!watch->packet) return;
    const uint32_t address = run->machine->address[thread];
    pthread_mutex_lock(&run->all->watching);
    if (run->all->packets++ < watch->packets_max) {
        if (run->options->link)
            leat_poets_spool_put(&run->spool, time_ns(run), to_host, address, packet, nflit);
        else
            watch->packet(watch->context, time_ns(run), to_host, address, packet, nflit);
    }
    pthread_mutex_unlock(&run->all->watching);
}

void leat_poets_run_progress(struct leat_poets_runs *runs, uint64_t receives)
{
    const struct leat_poets_run_watch *watch = &runs->run->options->watch;
    if (!watch->progress) return;
    const double now = leat_poets_run_seconds() - runs->began;
    if (now - runs->progress_at < 0.5) return;
    runs->progress_at = now;
    watch->progress(watch->context, now, receives);
}

uint64_t leat_poets_run_received(const struct leat_poets_run *run)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < run->machine->thread_count; t++)
        sum += run->softswitch[t].handled;
    return sum;
}

/* ---- ends ----------------------------------------------------------------------------------- */

bool leat_poets_run_hardware_idle(const struct leat_poets_run *run, uint32_t from, uint32_t to)
{
    bool active = false;
    for (uint32_t t = from; t < to; t++)
        active = leat_poets_softswitch_hardware_idle(&run->softswitch[t]) || active;
    return active;
}

static uint32_t idle_steps_max(const struct leat_poets_run *run)
{
    enum { STEPS = 10 };
    if (!run->machine->has_hardware_idle) return 1;
    return run->options->idle_steps ? run->options->idle_steps : STEPS;
}

static void end_from_outside(struct leat_poets_run *run, enum leat_poets_run_reason reason)
{
    leat_poets_graph_host_end(&run->host, reason, reason == LEAT_POETS_RUN_INTERRUPTED);
}

bool leat_poets_run_end_held(struct leat_poets_run *run)
{
    if (run->held == LEAT_POETS_RUN_RUNNING) return false;
    end_from_outside(run, run->held);
    return true;
}

/* At once, or when nothing is in flight. One that is not yet released is held when it is. */
static void hold_or_end(struct leat_poets_run *run, enum leat_poets_run_reason reason)
{
    const bool saves = run->options->holds && !run->machine->handlers->supervisor;
    if (!saves || leat_poets_graph_host_waits(&run->host)) {
        end_from_outside(run, reason);
    } else if (run->host.app.state == LEAT_POETS_APP_RUNNING) {
        run->held = reason;
        leat_poets_graph_host_hold(&run->host);
    }
}

void leat_poets_run_check_end_after(struct leat_poets_run *run, double seconds)
{
    const struct leat_poets_run_options *o = run->options;
    const int code = atomic_load(&run->exit_code);
    if (run->host.reason != LEAT_POETS_RUN_RUNNING) return;
    if (code >= 0)
        leat_poets_graph_host_end(&run->host, code ? LEAT_POETS_RUN_FAILED : LEAT_POETS_RUN_SUCCESS,
                                  code);
    else if (run->held != LEAT_POETS_RUN_RUNNING)
        return;
    else if (o->interrupted && *o->interrupted)
        hold_or_end(run, LEAT_POETS_RUN_INTERRUPTED);
    else if (o->seconds_max > 0 && seconds > o->seconds_max)
        hold_or_end(run, LEAT_POETS_RUN_LIMIT);
}

void leat_poets_run_check_end(struct leat_poets_run *run)
{
    const bool waits = leat_poets_graph_host_waits(&run->host);
    const double ran = leat_poets_run_seconds() - run->all->began - run->host.waited_seconds;
    leat_poets_run_check_end_after(run, waits ? 0 : ran);
}

static void end_idle(struct leat_poets_run *run)
{
    const struct leat_poets_supervisor *s = run->machine->handlers->supervisor;
    if (atomic_load(&run->exit_code) >= 0) return; /* the next check ends it */
    if (run->options->until_stop || run->options->seconds_max > 0 || (s && s->idle)) return;
    const struct leat_poets_graph_externals *x = run->options->host.externals;
    if (x && leat_poets_externals_attached(&x->table)) return; /* a process may send */
    leat_poets_graph_host_end(&run->host, LEAT_POETS_RUN_IDLE, 0);
}

bool leat_poets_run_count_idle(struct leat_poets_run *run, bool active)
{
    run->idle_steps = active ? 0 : run->idle_steps + 1;
    const bool enough = run->idle_steps >= idle_steps_max(run);
    if (enough) end_idle(run);
    return enough;
}

bool leat_poets_run_is_over(struct leat_poets_run *run)
{
    if (atomic_load(&run->over)) return true;
    if (!leat_poets_graph_host_is_over(&run->host)) return false;
    run->seconds = leat_poets_run_seconds() - run->all->began - run->host.waited_seconds;
    atomic_store(&run->over, true);
    leat_poets_graph_externals_end(&run->host);
    return true;
}

uint32_t leat_poets_run_threads(const struct leat_poets_run_options *options)
{
    const struct leat_poets_fabric_options *f = &options->fabric;
    const uint64_t places = (uint64_t)f->boxes * f->threads_per_box;
    const uint32_t ranks = options->link ? options->link->rank_count : 1;
    if (f->net)
        return places < LEAT_POETS_MACHINE_THREADS_MAX ? (uint32_t)places
                                                       : LEAT_POETS_MACHINE_THREADS_MAX;
    return options->schedule == LEAT_POETS_RUN_FREE
               ? ranks * options->workers * LEAT_POETS_RUN_THREADS_PER_WORKER
               : LEAT_POETS_RUN_THREADS_EPOCH;
}

bool leat_poets_run_shares(const struct leat_poets_run_options *options, const uint32_t *devices,
                           uint32_t count, uint32_t *threads, uint32_t *least)
{
    const uint32_t alone = leat_poets_run_threads(options);
    const uint32_t most = options->fabric.net ? alone : LEAT_POETS_MACHINE_THREADS_MAX;
    uint64_t wanted = 0, needed = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        threads[i] = alone;
        wanted += leat_poets_place_threads(devices[i], alone);
        needed += leat_poets_place_threads(devices[i], 1);
        all += devices[i];
    }
    if (wanted <= most || count == 1) return true; /* one: whoever builds it notices */
    *least = (uint32_t)(options->fabric.net ? needed : wanted);
    if (*least > most) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t more = (most - needed) * devices[i] / all;
        threads[i] = leat_poets_place_threads(devices[i], 1) + (uint32_t)more;
    }
    return true;
}

static bool sum_up(struct leat_poets_run *run, struct leat_poets_run_result *out)
{
    out->seconds = atomic_load(&run->over) ? run->seconds
                                           : leat_poets_run_seconds() - run->all->began;
    out->reason = run->host.reason;
    out->exit_code = run->host.exit_code;
    out->table_failed = run->host.table_failed;
    out->supervisor_packets = run->host.supervisor_packets;
    out->lines = run->host.lines;
    out->debug_octets = atomic_load(&run->debug_octets);
    out->epochs = run->epochs;
    out->idle_steps_done = run->idle_steps;
    out->resumable = !run->machine->handlers->supervisor &&
                     (out->reason == LEAT_POETS_RUN_IDLE ||
                      (run->held != LEAT_POETS_RUN_RUNNING && out->reason == run->held));
    out->fabric = run->fabric;
    out->receives = leat_poets_run_received(run);
    for (uint32_t t = 0; t < run->machine->thread_count; t++) {
        const struct leat_poets_softswitch *ss = &run->softswitch[t];
        out->sends += ss->sent + ss->sent_host;
        for (int i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
            out->cause[i] += ss->cause[i];
    }
    memcpy(out->host_cause, run->host.mothership.cause, sizeof out->host_cause);
    out->packets = run->all->packets;
    out->frames_bad = run->frames_bad;
    out->frames_unknown = run->frames_unknown;
    return leat_poets_run_gather(run, out);
}

/* With ranks, `packet` is called at the end. */
static bool open_spool(struct leat_poets_run *run)
{
    if (!run->options->link || !run->options->watch.packet) return true;
    if (leat_poets_spool_open(&run->spool, run->began * 1000 / CYCLES_PER_MICROSECOND)) return true;
    fprintf(stderr, "leat: no temporary file for a recording: %s\n", strerror(errno));
    run->options->link->abort(run->options->link, 1);
    return false;
}

static bool run_engine(struct leat_poets_runs *runs)
{
    const struct leat_poets_run_options *o = runs->run->options;
    if (o->link) return leat_poets_run_ranks(runs);
    if (o->fabric.net) return leat_poets_run_fabric(runs);
    return o->schedule == LEAT_POETS_RUN_FREE ? leat_poets_run_local(runs)
                                              : leat_poets_run_epochs(runs);
}

/* Its threads are numbered behind those of the task before. */
static void address_threads(struct leat_poets_machine *m, uint32_t task, uint32_t base)
{
    m->task = (uint8_t)task;
    m->base = base;
    for (uint32_t t = 0; t < m->thread_count; t++)
        m->address[t] = base + t;
}

static bool begin_task(struct leat_poets_runs *runs, uint32_t number, struct leat_poets_task *task)
{
    struct leat_poets_run *run = &runs->run[number];
    const struct leat_poets_machine *before = number ? runs->run[number - 1].machine : NULL;
    *run = (struct leat_poets_run){ .all = runs,
                                    .machine = task->machine,
                                    .options = task->options,
                                    .began = leat_poets_run_cycles(),
                                    .idle_steps = task->options->idle_steps_done,
                                    .inspecting = PTHREAD_MUTEX_INITIALIZER };
    task->result = (struct leat_poets_run_result){ 0 };
    atomic_init(&run->exit_code, -1);
    address_threads(task->machine, number, before ? before->base + before->thread_count : 0);
    return leat_poets_graph_host_init(&run->host, task->machine, &task->options->host);
}

static void end_task(struct leat_poets_run *run)
{
    if (run->options->host.lines) fflush(run->options->host.lines);
    leat_poets_spool_close(&run->spool);
    free_run(run);
    leat_poets_graph_host_free(&run->host);
}

bool leat_poets_run_tasks(struct leat_poets_task *task, uint32_t count)
{
    struct leat_poets_runs runs = { .run = calloc(count, sizeof *runs.run),
                                    .watching = PTHREAD_MUTEX_INITIALIZER };
    struct leat_poets_run_guard guard;
    bool good = runs.run;
    for (; good && runs.count < count; runs.count++)
        good = begin_task(&runs, runs.count, &task[runs.count]);
    runs.began = leat_poets_run_seconds();
    leat_poets_run_guard_begin(&guard, task->options, &runs);
    for (uint32_t i = 0; good && i < count; i++)
        good = open_spool(&runs.run[i]);
    good = good && run_engine(&runs);
    for (uint32_t i = 0; good && i < count; i++)
        good = sum_up(&runs.run[i], &task[i].result);
    leat_poets_run_guard_end(&guard);
    for (uint32_t i = 0; i < runs.count; i++)
        end_task(&runs.run[i]);
    free(runs.run);
    return good;
}

bool leat_poets_run(struct leat_poets_machine *machine,
                    const struct leat_poets_run_options *options, struct leat_poets_run_result *out)
{
    struct leat_poets_task task = { .machine = machine, .options = options };
    const bool good = leat_poets_run_tasks(&task, 1);
    *out = task.result;
    return good;
}
