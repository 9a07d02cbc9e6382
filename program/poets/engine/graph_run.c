#include "graph_run_parts.h"
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

static void fail(struct leat_poets_env *env, const char *what)
{
    leat_poets_softswitch_log(softswitch_of(env), env->block->index, what);
}

static void debug_octet(struct leat_poets_env *env, uint8_t octet)
{
    struct leat_poets_run *run = env->engine;
    atomic_fetch_add(&run->debug_octets, 1);
    fprintf(run->options->host.lines, "%s: debug %02X\n",
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
            .rts = o->rts,
            .instr_first = o->instr_first,
            .instruments = o->host.instrument,
            .no_request_idle = o->no_request_idle,
            .stop_ack = o->host.stop_ack,
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
    if (f->net)
        return (run->turns / f->clock_den * f->clock_num +
                run->turns % f->clock_den * f->clock_num / f->clock_den) /
               1000;
    return (run->options->schedule == LEAT_POETS_RUN_FREE ? leat_poets_run_cycles() - run->began
                                                          : run->turns) *
           1000 / CYCLES_PER_MICROSECOND;
}

void leat_poets_run_show(struct leat_poets_run *run, bool to_host, uint32_t thread,
                         const uint8_t *packet, unsigned nflit)
{
    const struct leat_poets_run_watch *watch = &run->options->watch;
    if (!watch->packet) return;
    pthread_mutex_lock(&run->watching);
    watch->packet(watch->context, time_ns(run), to_host, run->machine->address[thread], packet,
                  nflit);
    pthread_mutex_unlock(&run->watching);
}

void leat_poets_run_progress(struct leat_poets_run *run, double began, uint64_t receives)
{
    const struct leat_poets_run_watch *watch = &run->options->watch;
    if (!watch->progress) return;
    const double now = leat_poets_run_seconds() - began;
    if (now - run->progress_at < 0.5) return;
    run->progress_at = now;
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

uint32_t leat_poets_run_idle_steps(const struct leat_poets_run *run)
{
    enum { STEPS = 10 };
    if (!run->machine->has_hardware_idle) return 1;
    return run->options->idle_steps ? run->options->idle_steps : STEPS;
}

void leat_poets_run_check_end_after(struct leat_poets_run *run, double seconds)
{
    const struct leat_poets_run_options *o = run->options;
    const int code = atomic_load(&run->exit_code);
    if (run->host.reason != LEAT_POETS_RUN_RUNNING) return;
    if (code >= 0)
        leat_poets_graph_host_end(&run->host, code ? LEAT_POETS_RUN_FAILED : LEAT_POETS_RUN_SUCCESS,
                                  code);
    else if (o->interrupted && *o->interrupted)
        leat_poets_graph_host_end(&run->host, LEAT_POETS_RUN_INTERRUPTED, 1);
    else if (o->seconds_max > 0 && seconds > o->seconds_max)
        leat_poets_graph_host_end(&run->host, LEAT_POETS_RUN_LIMIT, 0);
}

void leat_poets_run_check_end(struct leat_poets_run *run, double began)
{
    const bool waits = leat_poets_graph_host_waits(&run->host);
    const double ran = leat_poets_run_seconds() - began - run->host.waited_seconds;
    leat_poets_run_check_end_after(run, waits ? 0 : ran);
}

void leat_poets_run_end_idle(struct leat_poets_run *run)
{
    const struct leat_poets_supervisor *s = run->machine->handlers->supervisor;
    if (atomic_load(&run->exit_code) >= 0) return; /* the next check ends it */
    if (run->options->until_stop || run->options->seconds_max > 0 || (s && s->idle)) return;
    const struct leat_poets_graph_externals *x = run->options->host.externals;
    if (x && leat_poets_externals_attached(&x->table)) return; /* a process may send */
    leat_poets_graph_host_end(&run->host, LEAT_POETS_RUN_IDLE, 0);
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

static void sum_up(const struct leat_poets_run *run, struct leat_poets_run_result *out)
{
    out->reason = run->host.reason;
    out->exit_code = run->host.exit_code;
    out->table_failed = run->host.table_failed;
    out->supervisor_packets = run->host.supervisor_packets;
    out->lines = run->host.lines;
    out->debug_octets = atomic_load(&run->debug_octets);
    out->epochs = run->epochs;
    out->fabric = run->fabric;
    out->receives = leat_poets_run_received(run);
    for (uint32_t t = 0; t < run->machine->thread_count; t++) {
        const struct leat_poets_softswitch *ss = &run->softswitch[t];
        out->sends += ss->sent + ss->sent_host;
        for (int i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
            out->cause[i] += ss->cause[i];
    }
    memcpy(out->host_cause, run->host.mothership.cause, sizeof out->host_cause);
    out->frames_bad = run->frames_bad;
    out->frames_unknown = run->frames_unknown;
    if (run->options->link)
        leat_poets_ranks_gather(run, out);
    else
        out->digest = leat_poets_machine_digest(run->machine);
}

static bool run_engine(struct leat_poets_run *run)
{
    if (run->options->link) return leat_poets_run_ranks(run);
    if (run->options->fabric.net) return leat_poets_run_fabric(run);
    return run->options->schedule == LEAT_POETS_RUN_FREE ? leat_poets_run_local(run)
                                                         : leat_poets_run_epochs(run);
}

bool leat_poets_run(struct leat_poets_machine *machine,
                    const struct leat_poets_run_options *options, struct leat_poets_run_result *out)
{
    struct leat_poets_run run = { .machine = machine,
                                  .options = options,
                                  .began = leat_poets_run_cycles(),
                                  .watching = PTHREAD_MUTEX_INITIALIZER,
                                  .inspecting = PTHREAD_MUTEX_INITIALIZER };
    struct leat_poets_run_guard guard;
    *out = (struct leat_poets_run_result){ 0 };
    atomic_init(&run.exit_code, -1);
    bool good = leat_poets_graph_host_init(&run.host, machine, &options->host);
    const double began = leat_poets_run_seconds();
    leat_poets_run_guard_begin(&guard, options, &run);
    good = good && run_engine(&run);
    out->seconds = leat_poets_run_seconds() - began - run.host.waited_seconds;
    if (good) sum_up(&run, out);
    leat_poets_run_guard_end(&guard);
    if (options->host.lines) fflush(options->host.lines);
    free_run(&run);
    leat_poets_graph_host_free(&run.host);
    return good;
}
