#include "fi_others.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reads a file of the kernel about a thread. False: there is no such thread, or no such file. */
static bool read_about(pid_t thread, const char *name, char *text, size_t cap)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)thread, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = file < 0 ? -1 : read(file, text, cap - 1);
    if (file >= 0) close(file);
    text[len > 0 ? len : 0] = '\0';
    return len > 0;
}

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static enum leat_fi_other_state state_in(const char *status)
{
    const char *at = strstr(status, "State:\t");
    switch (at ? at[strlen("State:\t")] : 'R') {
    case 'S': return LEAT_FI_OTHER_SLEEPS;
    case 'Z':
    case 'X': return LEAT_FI_OTHER_IS_GONE;
    default: return LEAT_FI_OTHER_RUNS;
    }
}

/* How libc and libgomp wait for a lock that another thread holds: in this operation of the kernel,
 * as long as the lock has this value. */
static bool is_of_lock(unsigned operation, unsigned value)
{
    const unsigned command = operation & ~(unsigned)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    return (command == FUTEX_WAIT && (value == 2 || value == UINT32_MAX)) ||
           command == FUTEX_LOCK_PI;
}

/* A thread that sleeps: in which call? The kernel shows its number and its arguments; where it does
 * not show them, most threads wait for others. */
static void read_call(pid_t thread, struct leat_fi_other *out)
{
    char text[256];
    unsigned long where, operation, value;
    long call;
    const bool is_known = read_about(thread, "syscall", text, sizeof text);
    if (is_known && strncmp(text, "running", 7) == 0) {
        out->state = LEAT_FI_OTHER_RUNS;
        return;
    }
    if (is_known && sscanf(text, "%ld %lx %lx %lx", &call, &where, &operation, &value) == 4) {
        if (call != SYS_futex) return;
        out->wants_lock = is_of_lock((unsigned)operation, (unsigned)value);
    }
    out->state = LEAT_FI_OTHER_BLOCKS;
}

struct leat_fi_other leat_fi_other_look(pid_t thread)
{
    char status[4096];
    struct leat_fi_other out = { .state = LEAT_FI_OTHER_IS_GONE };
    if (!read_about(thread, "status", status, sizeof status)) return out;
    out.state = state_in(status);
    out.switches = number_after(status, "\nvoluntary_ctxt_switches:") +
                   number_after(status, "\nnonvoluntary_ctxt_switches:");
    if (out.state == LEAT_FI_OTHER_SLEEPS) read_call(thread, &out);
    return out;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t = { 0 };
    syscall(SYS_clock_gettime, clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The kernel's number for the clock of a thread: of one thread (4), time on a processor (2). */
uint64_t leat_fi_other_computed_ns(pid_t thread)
{
    return read_clock((clockid_t)((~(unsigned)thread << 3) | 4 | 2));
}

uint64_t leat_fi_real_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void leat_fi_real_pause(uint64_t span_ns)
{
    const struct timespec pause = { .tv_nsec = (long)span_ns };
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}

static bool any_other_runs(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    bool found = false;
    while (folder && !found && (entry = readdir(folder)) != NULL) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (!thread || thread == gettid()) continue;
        found = leat_fi_other_look(thread).state == LEAT_FI_OTHER_RUNS;
    }
    if (folder) closedir(folder);
    return found;
}

void leat_fi_others_settle(void)
{
    enum { TRIES = 200, PAUSE_NS = 1000000 };
    static int tries;
    while (tries++ < TRIES && any_other_runs())
        leat_fi_real_pause(PAUSE_NS);
}
