#include "clock.h"
#include "clock_counter.h"
#include "clock_owner.h"
#include "task.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define SECOND_PS   UINT64_C(1000000000000)
#define MICROSECOND UINT64_C(1000000)
#define NANOSECOND  UINT64_C(1000)
#define START_PS    SECOND_PS /* as that of a run */
#define READ_PS     (20 * NANOSECOND)
#define NAP_US      1000
#define EPOCH_S     946684800 /* 1 January 2000 */

/* The program sees the task's clock plus the time that passed before simulated time began. */
static leat_time passed_before;
static _Atomic leat_time own_clock = START_PS; /* outside of simulated time */
static _Atomic leat_time last_seen = START_PS;
static _Thread_local bool is_rank_thread;
static _Thread_local bool is_starting; /* the message library */

/* ---- the machine's clocks -------------------------------------------------------------------- */

/* The libc functions that ours replace. */
static struct {
    int (*clock_gettime)(clockid_t, struct timespec *);
    int (*gettimeofday)(struct timeval *, void *);
    time_t (*time)(time_t *);
    clock_t (*clock)(void);
    clock_t (*times)(struct tms *);
    int (*getrusage)(__rusage_who_t, struct rusage *);
    int (*timespec_get)(struct timespec *, int);
    int (*nanosleep)(const struct timespec *, struct timespec *);
    int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
    int (*usleep)(useconds_t);
    unsigned (*sleep)(unsigned);
} real;

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort(); /* a libc without clocks */
    memcpy(function, &found, sizeof found);
}

static void find_all(void)
{
    find(&real.gettimeofday, "gettimeofday");
    find(&real.time, "time");
    find(&real.clock, "clock");
    find(&real.times, "times");
    find(&real.getrusage, "getrusage");
    find(&real.timespec_get, "timespec_get");
    find(&real.nanosleep, "nanosleep");
    find(&real.clock_nanosleep, "clock_nanosleep");
    find(&real.usleep, "usleep");
    find(&real.sleep, "sleep");
    find(&real.clock_gettime, "clock_gettime");
}

/* ---- the caller ------------------------------------------------------------------------------ */

/* Are clocks simulated in this process at all? */
static bool has_simulated_clocks(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    if (known == UNKNOWN) {
        const char *wish = getenv(LEAT_REAL_CLOCK_VARIABLE);
        find_all();
        known = leat_task_is_wanted() && !(wish && !strcmp(wish, "1")) ? YES : NO;
    }
    return known == YES;
}

/* Code that both need works for the program in the program's own thread, unless it has called the
 * library. */
bool leat_clock_is_program(const void *caller)
{
    if (is_starting) return false;
    switch (leat_clock_owner_of(caller)) {
    case LEAT_CLOCK_PROGRAM: return true;
    case LEAT_CLOCK_LIBRARY: return false;
    case LEAT_CLOCK_SHARED: break;
    }
    const bool is_own_thread = is_rank_thread || gettid() == getpid();
    return is_own_thread && !leat_clock_is_in_call();
}

#define CALLER_IS_PROGRAM() \
    (has_simulated_clocks() && leat_clock_is_program(__builtin_return_address(0)))

/* ---- simulated time -------------------------------------------------------------------------- */

static leat_time seen_at(leat_time now)
{
    return leat_time_add(now, passed_before);
}

void leat_clock_set(leat_time now)
{
    atomic_store_explicit(&last_seen, seen_at(now), memory_order_relaxed);
}

void leat_clock_library_starts(const void *library)
{
    is_starting = true;
    leat_clock_owner_starts(library);
}

void leat_clock_library_started(void)
{
    leat_clock_owner_started();
    is_starting = false;
}

static unsigned crowd = 1; /* processes per processor */

void leat_clock_library_crowds(uint32_t processes)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    crowd = 1 + processes / (unsigned)(processors > 0 ? processors : 1);
}

static bool library_ends;
static struct timespec end_began;

void leat_clock_library_ends(void)
{
    if (!has_simulated_clocks()) return;
    real.clock_gettime(CLOCK_MONOTONIC, &end_began);
    library_ends = true;
}

static leat_time read_clock(void);

static uint64_t read_ns(void)
{
    return read_clock() / NANOSECOND;
}

/* In a fork of the task's process, which is no task. */
static void leave_in_copy(void)
{
    const leat_time seen = atomic_load(&last_seen);
    leat_clock_counter_leave();
    if (seen > atomic_load(&own_clock)) atomic_store(&own_clock, seen);
}

void leat_clock_thread_begins(void)
{
    is_rank_thread = true;
}

void leat_clock_begin(void)
{
    static bool is_registered;
    if (!is_registered) is_registered = !pthread_atfork(NULL, NULL, leave_in_copy);
    is_rank_thread = true;
    passed_before = atomic_load(&own_clock) - START_PS;
    leat_clock_set(leat_task_now());
    if (has_simulated_clocks() && leat_clock_counter_begin(read_ns) == LEAT_CLOCK_COUNTER_REAL)
        leat_task_note(LEAT_TASK_READS_COUNTER);
}

void leat_clock_leave(void)
{
    leat_clock_counter_leave();
    atomic_store(&own_clock, seen_at(leat_task_now()));
}

/* A thread that is not the program's own, or a signal handler that interrupted an access, may not
 * access the task: it sees the last time that was read. */
static bool may_touch_task(void)
{
    return is_rank_thread && leat_clock_try_lock();
}

/* A clock read takes time, so a program that polls the clock sees time pass. */
static leat_time read_clock(void)
{
    if (!leat_clock_is_simulated()) return atomic_fetch_add(&own_clock, READ_PS) + READ_PS;
    if (!may_touch_task()) return atomic_load_explicit(&last_seen, memory_order_relaxed);
    leat_clock_settle();
    leat_task_charge(READ_PS);
    leat_task_note_clock();
    const leat_time now = leat_task_now();
    leat_clock_set(now);
    leat_clock_unlock();
    return seen_at(now);
}

bool leat_clock_read_run(double *seconds)
{
    if (!has_simulated_clocks()) return false;
    const leat_time seen = read_clock();
    *seconds = 1e-9 * (double)((seen - passed_before - START_PS) / NANOSECOND);
    return true;
}

/* Sleeps for a span, or until a time. Returns the rest, to be slept in real time: outside simulated
 * time (the process's own clock accounts for it), and in threads other than the rank's own. */
static leat_time sleep_simulated(leat_time t, bool is_absolute)
{
    const bool is_simulated = leat_clock_is_simulated();
    if (is_simulated && may_touch_task()) {
        leat_clock_settle();
        const leat_time until = t > passed_before ? t - passed_before : 0;
        const leat_time deadline = is_absolute ? until : leat_time_add(leat_task_now(), t);
        leat_task_note_clock(); /* it may poll between sleeps, until a certain time */
        while (leat_task_now() < deadline)
            leat_clock_wait(deadline, "the end of a sleep");
        leat_clock_unlock();
        return 0;
    }
    const leat_time now = atomic_load(is_simulated ? &last_seen : &own_clock);
    const leat_time span = !is_absolute ? t : t > now ? t - now : 0;
    if (!is_simulated) atomic_fetch_add(&own_clock, span);
    return span;
}

/* ---- conversions ----------------------------------------------------------------------------- */

static struct timespec as_timespec(leat_time t, time_t epoch)
{
    return (struct timespec){ .tv_sec = (time_t)(t / SECOND_PS) + epoch,
                              .tv_nsec = (long)(t % SECOND_PS / NANOSECOND) };
}

static struct timeval as_timeval(leat_time t, time_t epoch)
{
    return (struct timeval){ .tv_sec = (time_t)(t / SECOND_PS) + epoch,
                             .tv_usec = (suseconds_t)(t % SECOND_PS / MICROSECOND) };
}

static bool is_sound(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

/* Limited by the range of our clock: 213 days. */
static leat_time as_time(const struct timespec *t)
{
    const uint64_t seconds = (uint64_t)t->tv_sec;
    if (seconds >= LEAT_NEVER / SECOND_PS) return LEAT_NEVER;
    return leat_time_add(seconds * SECOND_PS, (uint64_t)t->tv_nsec * NANOSECOND);
}

static bool is_of_the_day(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
           clock == CLOCK_REALTIME_ALARM;
}

/* Negative clock numbers are CPU time clocks of other processes and threads. */
static bool is_of_computing(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The library's. */
static int read_real(clockid_t clock, struct timespec *out)
{
    const int result = real.clock_gettime(clock, out);
    if (result || !library_ends || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE))
        return result;
    const int64_t passed = (out->tv_sec - end_began.tv_sec) * INT64_C(1000000000) + out->tv_nsec -
                           end_began.tv_nsec;
    if (passed <= 0) return result;
    const int64_t slowed = end_began.tv_nsec + passed / crowd;
    *out = (struct timespec){ .tv_sec = end_began.tv_sec + slowed / 1000000000,
                              .tv_nsec = slowed % 1000000000 };
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!CALLER_IS_PROGRAM()) return read_real(clock, out);
    const leat_time now = read_clock();
    *out = as_timespec(is_of_computing(clock) ? now - START_PS : now,
                       is_of_the_day(clock) ? EPOCH_S : 0);
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    if (!CALLER_IS_PROGRAM()) return real.gettimeofday(out, zone);
    if (zone) memset(zone, 0, sizeof(struct timezone));
    *out = as_timeval(read_clock(), EPOCH_S);
    return 0;
}

time_t time(time_t *out)
{
    if (!CALLER_IS_PROGRAM()) return real.time(out);
    const time_t now = as_timespec(read_clock(), EPOCH_S).tv_sec;
    if (out) *out = now;
    return now;
}

int timespec_get(struct timespec *out, int base)
{
    if (!CALLER_IS_PROGRAM()) return real.timespec_get(out, base);
    if (base != TIME_UTC) return 0;
    *out = as_timespec(read_clock(), EPOCH_S);
    return base;
}

clock_t clock(void)
{
    if (!CALLER_IS_PROGRAM()) return real.clock();
    return (clock_t)((read_clock() - START_PS) / (SECOND_PS / CLOCKS_PER_SEC));
}

clock_t times(struct tms *out)
{
    if (!CALLER_IS_PROGRAM()) return real.times(out);
    const leat_time now = read_clock(), tick = SECOND_PS / (leat_time)sysconf(_SC_CLK_TCK);
    if (out) *out = (struct tms){ .tms_utime = (clock_t)((now - START_PS) / tick) };
    return (clock_t)(now / tick);
}

/* Everything in it except times is the machine's. */
int getrusage(__rusage_who_t who, struct rusage *out)
{
    const bool is_simulated = CALLER_IS_PROGRAM();
    const int result = real.getrusage(who, out);
    if (!is_simulated || result) return result;
    out->ru_stime = (struct timeval){ 0 };
    out->ru_utime = as_timeval(who == RUSAGE_CHILDREN ? 0 : read_clock() - START_PS, 0);
    return 0;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* 0 or an error number, as in clock_nanosleep. */
static int sleep_well(leat_time t, bool is_absolute, struct timespec *left)
{
    const leat_time span = sleep_simulated(t, is_absolute);
    if (!span) return 0;
    const struct timespec rest = as_timespec(span, 0);
    return real.clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, left);
}

static int failed_by(int error)
{
    if (!error) return 0;
    errno = error;
    return -1;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left)
{
    if (!CALLER_IS_PROGRAM()) return real.clock_nanosleep(clock, flags, span, left);
    if (!is_sound(span) || is_of_computing(clock)) return EINVAL;
    if (!(flags & TIMER_ABSTIME)) return sleep_well(as_time(span), false, left);
    struct timespec until = *span;
    if (is_of_the_day(clock)) until.tv_sec -= EPOCH_S;
    return until.tv_sec < 0 ? 0 : sleep_well(as_time(&until), true, NULL);
}

int nanosleep(const struct timespec *span, struct timespec *left)
{
    if (!CALLER_IS_PROGRAM()) return real.nanosleep(span, left);
    return failed_by(is_sound(span) ? sleep_well(as_time(span), false, left) : EINVAL);
}

int usleep(useconds_t span)
{
    if (!CALLER_IS_PROGRAM()) return real.usleep(span < NAP_US ? span * crowd : span);
    return failed_by(sleep_well(span * MICROSECOND, false, NULL));
}

unsigned sleep(unsigned span)
{
    struct timespec left = { 0 };
    if (!CALLER_IS_PROGRAM()) return library_ends ? 0 : real.sleep(span);
    if (!sleep_well(span * SECOND_PS, false, &left)) return 0;
    return (unsigned)left.tv_sec + (left.tv_nsec >= 500000000);
}
