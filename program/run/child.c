#include "child.h"
#include "jail.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END_AWAITED_MS = 10000 }; /* after a task has left, for its last output */

extern char **environ;

void *leat_child_grown(void *old, size_t count, size_t size)
{
    void *fresh = reallocarray(old, count ? count : 1, size);
    if (fresh) return fresh;
    fprintf(stderr, "leat: no memory for %zu times %zu octets\n", count, size);
    exit(1);
}

char *leat_child_copied(const char *text)
{
    const size_t len = strlen(text) + 1;
    return memcpy(leat_child_grown(NULL, len, 1), text, len);
}

/* ---- programs and words ---------------------------------------------------------------------- */

static bool is_program(const char *file)
{
    return access(file, X_OK) == 0;
}

char *leat_child_find(const char *name, const char *path)
{
    if (*name == '/') return is_program(name) ? leat_child_copied(name) : NULL;
    while (path && *path) {
        const size_t len = strcspn(path, ":");
        char *file = NULL;
        if (asprintf(&file, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name) < 0) return NULL;
        if (is_program(file)) return file;
        free(file);
        path += len + (path[len] == ':');
    }
    return NULL;
}

char *leat_child_find_named(const char *name, const char *path)
{
    if (strchr(name, '/')) return is_program(name) ? leat_child_copied(name) : NULL;
    char *file = leat_child_find(name, path);
    return file ? file : leat_child_find(name, getenv("PATH"));
}

void leat_child_words_append(struct leat_child_words *words, const char *text)
{
    words->text = leat_child_grown(words->text, words->count + 2, sizeof *words->text);
    words->text[words->count++] = leat_child_copied(text);
    words->text[words->count] = NULL;
}

struct leat_child_words leat_child_words_of(char *const *texts)
{
    struct leat_child_words words = { leat_child_grown(NULL, 1, sizeof *words.text), 0 };
    words.text[0] = NULL;
    for (; texts && *texts; texts++)
        leat_child_words_append(&words, *texts);
    return words;
}

/* Replaces an older one. */
static void set_variable(struct leat_child_words *words, const char *variable)
{
    const size_t len = strcspn(variable, "=") + 1;
    for (size_t i = 0; i < words->count; i++) {
        if (strncmp(words->text[i], variable, len) != 0) continue;
        free(words->text[i]);
        words->text[i] = leat_child_copied(variable);
        return;
    }
    leat_child_words_append(words, variable);
}

void leat_child_words_free(struct leat_child_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->text[i]);
    free(words->text);
}

static struct leat_child_words environment_of(const struct leat_hub *hub, uint32_t slot,
                                              char *const *variables, char *const *more)
{
    struct leat_child_words words = leat_child_words_of(environ);
    char text[128];
    for (; variables && *variables; variables++)
        set_variable(&words, *variables);
    for (; more && *more; more++)
        set_variable(&words, *more);
    snprintf(text, sizeof text, LEAT_TASK_RUN_VARIABLE "=%s", leat_hub_path(hub));
    set_variable(&words, text);
    snprintf(text, sizeof text, LEAT_TASK_SLOT_VARIABLE "=%u", slot);
    set_variable(&words, text);
    return words;
}

/* ---- processes ------------------------------------------------------------------------------- */

void leat_child_init(struct leat_child *process)
{
    *process = (struct leat_child){ .output = -1 };
}

static void close_all_but_standard(void)
{
    if (!syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0)) return;
    for (long file = sysconf(_SC_OPEN_MAX); --file > STDERR_FILENO;) /* before Linux 5.9 */
        close((int)file);
}

/* In the new process: the environment of one in a jail. */
static char *const *enter(const struct leat_child_start *start)
{
    struct leat_child_words words = leat_child_words_of(start->environment);
    set_variable(&words, "TMPDIR=/dev/shm");
    if (leat_jail_enter(start->jail)) return words.text;
    dprintf(STDERR_FILENO, "leat: the jail cannot be entered: %s\n", strerror(errno));
    _exit(126);
}

/* In the new process. */
static _Noreturn void become(const struct leat_child_start *start, int output, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, start->end_signal ? start->end_signal : SIGKILL);
    if (getppid() != parent) _exit(1);
    if (start->input == LEAT_CHILD_NO_INPUT) {
        const int nothing = open("/dev/null", O_RDONLY);
        if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    }
    if (output >= 0) {
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
    }
    char *const *environment = start->jail ? enter(start) : start->environment;
    if (start->is_bare) close_all_but_standard();
    if (!start->directory || !chdir(start->directory))
        execve(start->file, start->argv, environment);
    _exit(127);
}

bool leat_child_begin(struct leat_child *process, const struct leat_child_start *start)
{
    const pid_t parent = getpid();
    if (start->collect) {
        process->output = memfd_create("output of a task", MFD_CLOEXEC);
        if (process->output < 0) return false;
    }
    fflush(NULL);
    process->pid = fork();
    if (!process->pid) become(start, process->output, parent);
    return process->pid > 0;
}

bool leat_child_begin_task(struct leat_child *process, struct leat_hub *hub, uint32_t slot,
                           char *const *variables, char *const *more,
                           const struct leat_child_start *start)
{
    struct leat_child_words environment = environment_of(hub, slot, variables, more);
    struct leat_child_start whole = *start;
    whole.environment = environment.text;
    whole.jail = leat_hub_jail(hub);
    const bool has_begun = leat_child_begin(process, &whole);
    leat_child_words_free(&environment);
    if (has_begun) leat_hub_expect_pid(hub, slot, process->pid);
    return has_begun;
}

bool leat_child_reap(struct leat_child *process, bool wait)
{
    if (process->is_reaped || process->pid <= 0) return true;
    pid_t pid;
    do
        pid = waitpid(process->pid, &process->status, wait ? 0 : WNOHANG);
    while (pid < 0 && errno == EINTR);
    process->is_reaped = pid != 0;
    return process->is_reaped;
}

bool leat_child_is_gone(pid_t pid, int *descriptor)
{
    if (*descriptor < 0) *descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    if (*descriptor < 0) return kill(pid, 0) && errno == ESRCH; /* out of descriptors */
    struct pollfd ended = { .fd = *descriptor, .events = POLLIN };
    return poll(&ended, 1, 0) > 0;
}

void leat_child_await(struct leat_child *process, bool (*interrupted)(void))
{
    for (int ms = 0; process->output >= 0 && !leat_child_reap(process, false); ms++) {
        if (ms == END_AWAITED_MS || (interrupted && interrupted())) return;
        poll(NULL, 0, 1);
    }
}

static bool all_have_ended(struct leat_child *processes, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        if (!leat_child_reap(&processes[i], false)) all = false;
    return all;
}

void leat_child_end_all(struct leat_child *processes, size_t count, bool at_once,
                        bool (*interrupted)(void))
{
    while (!at_once && !all_have_ended(processes, count)) {
        at_once = interrupted && interrupted();
        poll(NULL, 0, 2);
    }
    for (size_t i = 0; i < count; i++) {
        if (!leat_child_reap(&processes[i], false)) kill(processes[i].pid, SIGKILL);
        leat_child_reap(&processes[i], true);
    }
}

void leat_child_free(struct leat_child *process)
{
    if (process->output >= 0) close(process->output);
    free(process->line);
    process->output = -1;
    process->line = NULL;
}

/* ---- output ---------------------------------------------------------------------------------- */

size_t leat_child_read(struct leat_child *process, void *octets, size_t cap)
{
    if (process->output < 0) return 0;
    const ssize_t got = pread(process->output, octets, cap, (off_t)process->output_read);
    if (got > 0) {
        process->output_read += (uint64_t)got;
        return (size_t)got;
    }
    if (process->output_freed < process->output_read)
        fallocate(process->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  (off_t)process->output_read);
    process->output_freed = process->output_read;
    return 0;
}

static void append_to_line(struct leat_child *process, const uint8_t *octets, size_t len)
{
    if (process->line_len + len > process->line_cap) {
        process->line_cap = 2 * (process->line_len + len);
        process->line = leat_child_grown(process->line, process->line_cap, 1);
    }
    if (len) memcpy(process->line + process->line_len, octets, len);
    process->line_len += len;
}

static void log_line(struct leat_child *process, int log, const char *name)
{
    if (log >= 0) dprintf(log, "[%s] %.*s\n", name, (int)process->line_len, process->line);
    process->line_len = 0;
}

void leat_child_log(struct leat_child *process, int log, const char *name, const uint8_t *octets,
                    size_t len)
{
    while (len) {
        const uint8_t *end = memchr(octets, '\n', len);
        const size_t here = end ? (size_t)(end - octets) : len;
        append_to_line(process, octets, here);
        if (end) log_line(process, log, name);
        octets += here + (end != NULL);
        len -= here + (end != NULL);
    }
}

void leat_child_log_end(struct leat_child *process, int log, const char *name)
{
    if (process->line_len) log_line(process, log, name);
}
