/*
 * What handlers must not do: crash, end the process, or never return. Each is reported with the
 * name of the device, and the process exits with 1. Handlers run in the process, so the run cannot
 * continue.
 */
#include "graph_run_parts.h"
#include "handler_where.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else /* as in musl: a crash is reported without handler and line */
static int backtrace(void **frame, int frames_max)
{
    (void)frame, (void)frames_max;
    return 0;
}
#endif

enum {
    SIGNALLED = 128,          /* exit code of an interrupt, and its number */
    CHECK_NS = 100000000,     /* between two checks of a run that is to end */
    CHECKS_WITHOUT_TURN = 20, /* in the same handler: it does not return */
    CHECKS_TO_ANSWER = 100,   /* until its thread says where it is, on a busy machine too */
    FRAMES_MAX = 64,          /* of a stack that are looked at */
};

enum { ASKS = SIGTRAP /* the guard asks a thread where it is */ };
static const int crashes[LEAT_POETS_RUN_CRASHES] = { SIGSEGV, SIGBUS,  SIGFPE,
                                                     SIGILL,  SIGABRT, SIGTRAP };
static _Thread_local struct leat_poets_env *watched; /* of a thread that runs devices */
static _Thread_local struct leat_poets_runs *hosted; /* by the thread that runs supervisors */
static _Thread_local const struct leat_poets_run_options
    *outside; /* a run: code is loaded or unloaded */
static _Thread_local stack_t stack_before;

/* ---- reporting: only functions that a signal handler may call -------------------------------- */

static void say(const char *text)
{
    const ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Whose code runs. Without a run it is that of static objects. */
struct origin {
    const struct leat_poets_run_options *options;
    const struct leat_poets_run *run;
    const struct leat_poets_block *block;
    bool supervisor;
    bool here;           /* in this thread, */
    const void *address; /* at this instruction; NULL: behind a call */
};

static void say_number(uint32_t number)
{
    char digits[12];
    int at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    say(digits + at);
}

/* Handler and line, as far as the stack shows them. */
static void say_where(struct origin c)
{
    void *frame[FRAMES_MAX] = { NULL };
    struct leat_handler_where where;
    if (!c.here || !c.run || !c.run->machine->handlers) return;
    const int count = backtrace(frame, FRAMES_MAX);
    if (!leat_handlers_where(c.run->machine->graph, c.run->machine->handlers, frame, count,
                             c.address, &where))
        return;
    if (*where.handler) say(" in ");
    say(where.handler);
    if (*where.pin) say(" of ");
    say(where.pin);
    if (!where.file) return;
    say(", ");
    say(where.file);
    say(":");
    say_number(where.line);
}

/* Several threads may crash at once: the first reports, and ends the process. */
static void begin_report(void)
{
    static atomic_bool begun;
    static _Thread_local bool here;
    if (here) _exit(1); /* the report itself has crashed */
    here = true;
    while (atomic_exchange(&begun, true))
        pause();
}

static _Noreturn void give_up(struct origin c, const char *what)
{
    const int number = c.options && c.options->interrupted ? *c.options->interrupted : 0;
    begin_report();
    say("leat: ");
    if (c.run) say(leat_poets_graph_host_prefix(&c.run->host));
    if (c.supervisor) {
        say("the supervisor: ");
    } else if (c.run && c.block) {
        say("device ");
        say(leat_poets_machine_name(c.run->machine, c.block->index));
        say(": ");
    }
    say(c.options && !c.run ? "a constructor or destructor " : "a handler ");
    say(what);
    say_where(c);
    say("\n");
    if (c.options && c.options->watch.crashed) c.options->watch.crashed(c.options->watch.context);
    _exit(number ? SIGNALLED + number : 1);
}

/* The task whose supervisor runs; NULL: none does. */
static struct leat_poets_run *supervising(const struct leat_poets_runs *runs)
{
    for (uint32_t i = 0; runs && i < runs->count; i++)
        if (atomic_load(&runs->run[i].host.supervising)) return &runs->run[i];
    return NULL;
}

/* In this thread, if any. */
static struct origin origin_here(void)
{
    const struct leat_poets_run *supervisor = supervising(hosted);
    const struct leat_poets_run *run = supervisor ? supervisor : watched ? watched->engine : NULL;
    return (struct origin){ .options = run ? run->options : outside,
                            .run = run,
                            .block = watched ? watched->block : NULL,
                            .supervisor = supervisor,
                            .here = true };
}

/* The instruction that a signal has stopped; NULL: not known on this processor. */
static const void *address_in(const void *context)
{
#if defined __x86_64__
    return (const void *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (const void *)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static const char does_not_return[] = "does not come back";
static _Atomic bool is_asked; /* a thread whose handler does not return, by ASKS */
static _Atomic(const struct leat_poets_block *) asked_block;

/* The handler that the guard has found is still the one that runs. */
static bool is_stuck(struct origin c)
{
    return c.options && (c.block || c.supervisor || !c.run) && c.block == atomic_load(&asked_block);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    struct origin origin = origin_here();
    (void)info;
    origin.address = address_in(context);
    if (number == ASKS && atomic_exchange(&is_asked, false)) {
        if (is_stuck(origin)) give_up(origin, does_not_return);
        return;
    }
    give_up(origin, number == SIGFPE    ? "crashed: arithmetic (SIGFPE)"
                    : number == SIGABRT ? "called abort"
                    : number == SIGILL || number == SIGTRAP
                        ? "crashed: a trap, as for division by zero (SIGILL, SIGTRAP)"
                        : "crashed: memory that is not there (SIGSEGV)");
}

static void on_exit_of_process(void)
{
    const struct origin c = origin_here();
    if (c.options) give_up(c, "called exit, expected handler_exit");
}

/* Two copies of a run would send and print, and only one would be waited for. */
static void on_fork(void)
{
    const struct origin c = origin_here();
    if (c.options) give_up(c, "called fork, expected no second process");
}

/* ---- threads that run handlers -------------------------------------------------------------- */

void leat_poets_run_watch_crashes(void)
{
    static _Thread_local char stack[1 << 16];
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    watched = NULL;
    sigaltstack(&other, &stack_before); /* a handler may recurse without end */
}

void leat_poets_run_enlist(struct leat_poets_env *env)
{
    struct leat_poets_run *run = env->engine;
    pthread_mutex_lock(&run->inspecting);
    if (run->watched_count < LEAT_POETS_RUN_WORKERS_MAX)
        run->watched[run->watched_count++] = (struct leat_poets_run_watched){ pthread_self(), env };
    pthread_mutex_unlock(&run->inspecting);
    watched = env;
}

void leat_poets_run_watch_env(struct leat_poets_env *env)
{
    watched = env;
}

/* This thread does not run its handlers any more. */
static void strike_off(struct leat_poets_run *run)
{
    pthread_mutex_lock(&run->inspecting);
    for (uint32_t i = run->watched_count; i-- > 0;)
        if (pthread_equal(run->watched[i].thread, pthread_self()))
            run->watched[i] = run->watched[--run->watched_count];
    pthread_mutex_unlock(&run->inspecting);
}

void leat_poets_run_forget_crashes(struct leat_poets_runs *runs)
{
    for (uint32_t i = 0; runs && i < runs->count; i++)
        strike_off(&runs->run[i]);
    sigaltstack(&stack_before, NULL);
    watched = NULL;
}

/* ---- code that does not return --------------------------------------------------------------- */

/* How long an application has run: not while it waits for processes of externals. */
static double ran_seconds(const struct leat_poets_run_guard *guard,
                          const struct leat_poets_run *run)
{
    const double seconds = (double)(leat_poets_run_cycles() - guard->began) /
                           LEAT_POETS_RUN_CYCLES_PER_SECOND;
    if (!run) return seconds;
    if (atomic_load(&run->over) || leat_poets_graph_host_waits(&run->host)) return 0;
    return seconds - run->host.waited_seconds;
}

/* One of the tasks, or the only one. */
static bool is_to_end(const struct leat_poets_run_guard *guard)
{
    const struct leat_poets_run_options *o = guard->options;
    const struct leat_poets_runs *runs = guard->runs;
    double most = runs ? 0 : ran_seconds(guard, NULL);
    for (uint32_t i = 0; runs && i < runs->count; i++) {
        const double seconds = ran_seconds(guard, &runs->run[i]);
        if (seconds > most) most = seconds;
    }
    return (o->interrupted && *o->interrupted) || (o->seconds_max > 0 && most > o->seconds_max);
}

/* A device whose handler runs, and its task; the progress of all that have not stopped. */
struct stuck {
    struct leat_poets_run *run;
    const struct leat_poets_block *block;
    uint64_t turns;
};

/* These are read while others write them; a torn value differs, and so is not taken for a
 * standstill. ThreadSanitizer need not report that. */
__attribute__((no_sanitize_thread)) static void add_progress(struct leat_poets_run *run,
                                                             struct stuck *now)
{
    const struct leat_poets_machine *m = run->machine;
    now->turns += __atomic_load_n(&run->host.supervisor_packets, __ATOMIC_RELAXED);
    pthread_mutex_lock(&run->inspecting);
    now->turns += __atomic_load_n(&run->turns, __ATOMIC_RELAXED);
    for (uint32_t t = m->thread_from; run->env_lent && t < m->thread_to; t++) {
        const struct leat_poets_softswitch *ss = &run->softswitch[t];
        if (__atomic_load_n(&ss->state, __ATOMIC_RELAXED) == LEAT_POETS_SS_DEAD) continue;
        if (!now->block) {
            now->block = __atomic_load_n(&ss->config.env->block, __ATOMIC_RELAXED);
            now->run = run;
        }
        now->turns += 1 + __atomic_load_n(&ss->handled, __ATOMIC_RELAXED) +
                      __atomic_load_n(&ss->sent, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&run->inspecting);
}

static struct stuck read_progress(struct leat_poets_runs *runs)
{
    struct stuck now = { 0 };
    for (uint32_t i = 0; runs && i < runs->count; i++)
        add_progress(&runs->run[i], &now);
    return now;
}

/* Does a handler run? Waiting for others does no harm. */
static bool is_busy(const struct leat_poets_runs *runs, struct stuck now)
{
    return !runs || now.block || supervising(runs);
}

void leat_poets_run_lend_env(struct leat_poets_run *run, bool lent)
{
    pthread_mutex_lock(&run->inspecting);
    run->env_lent = lent;
    pthread_mutex_unlock(&run->inspecting);
}

/* Asks the thread of a handler that does not return where it is; it ends the process. */
__attribute__((no_sanitize_thread)) static void ask(struct leat_poets_run_guard *guard,
                                                    struct stuck now)
{
    atomic_store(&asked_block, now.block);
    atomic_store(&is_asked, true);
    if (!now.block) {
        pthread_kill(guard->host, ASKS);
        return;
    }
    pthread_mutex_lock(&now.run->inspecting);
    for (uint32_t i = 0; i < now.run->watched_count; i++)
        if (__atomic_load_n(&now.run->watched[i].env->block, __ATOMIC_RELAXED) == now.block)
            pthread_kill(now.run->watched[i].thread, ASKS);
    pthread_mutex_unlock(&now.run->inspecting);
}

static void *watch(void *context)
{
    struct leat_poets_run_guard *guard = context;
    struct stuck before = { 0 };
    unsigned checks = 0;
    pthread_mutex_lock(&guard->lock);
    while (!guard->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += CHECK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (pthread_cond_timedwait(&guard->over, &guard->lock, &until) != ETIMEDOUT) continue;
        if (!is_to_end(guard)) continue;
        const struct stuck now = read_progress(guard->runs);
        const struct leat_poets_run *supervisor = supervising(guard->runs);
        checks = is_busy(guard->runs, now) && now.block == before.block && now.turns == before.turns
                     ? checks + 1
                     : 0;
        before = now;
        if (checks == CHECKS_WITHOUT_TURN) ask(guard, now);
        if (checks >= CHECKS_WITHOUT_TURN + CHECKS_TO_ANSWER)
            give_up((struct origin){ .options = guard->options,
                                     .run = supervisor ? supervisor : now.run,
                                     .block = now.block,
                                     .supervisor = supervisor },
                    does_not_return);
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

static void begin_watch(struct leat_poets_run_guard *guard)
{
    sigset_t all, before;
    pthread_condattr_t clock;
    pthread_mutex_init(&guard->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&guard->over, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* other threads handle signals */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    guard->watches = pthread_create(&guard->thread, NULL, watch, guard) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_watch(struct leat_poets_run_guard *guard)
{
    pthread_mutex_lock(&guard->lock);
    guard->is_over = true;
    pthread_cond_signal(&guard->over);
    pthread_mutex_unlock(&guard->lock);
    if (guard->watches) pthread_join(guard->thread, NULL);
    pthread_mutex_destroy(&guard->lock);
    pthread_cond_destroy(&guard->over);
}

/* ---- a run ---------------------------------------------------------------------------------- */

static void register_hooks(void)
{
    atexit(on_exit_of_process);
    (void)!at_quick_exit(on_exit_of_process);
    pthread_atfork(on_fork, NULL, NULL);
}

void leat_poets_run_guard_begin(struct leat_poets_run_guard *guard,
                                const struct leat_poets_run_options *options,
                                struct leat_poets_runs *runs)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct sigaction action = { .sa_sigaction = on_crash,
                                      .sa_flags = SA_ONSTACK | SA_SIGINFO };
    void *frame[1];
    backtrace(frame, 1); /* loads what it needs, which a signal handler could not */
    *guard = (struct leat_poets_run_guard){
        .options = options, .runs = runs, .began = leat_poets_run_cycles(), .host = pthread_self()
    };
    hosted = runs;
    if (!runs) {
        outside = options;
        leat_poets_run_watch_crashes();
    }
    pthread_once(&once, register_hooks);
    for (size_t i = 0; i < LEAT_POETS_RUN_CRASHES; i++)
        sigaction(crashes[i], &action, &guard->before[i]);
    begin_watch(guard);
}

void leat_poets_run_guard_end(struct leat_poets_run_guard *guard)
{
    end_watch(guard);
    for (size_t i = 0; i < LEAT_POETS_RUN_CRASHES; i++)
        sigaction(crashes[i], &guard->before[i], NULL);
    if (!guard->runs) leat_poets_run_forget_crashes(NULL);
    outside = NULL;
    hosted = NULL;
}
