#include "handler_compiler.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 2, NOT_STARTED = 127 };

extern char **environ;

/* ---- the compiler --------------------------------------------------------------------------- */

/* Our environment, with messages in one language; to be freed. */
static char **environment(char *folder)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 3, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "LANG", 4) != 0 &&
            strncmp(environ[i], "TMPDIR=", 7) != 0)
            copy[kept++] = environ[i];
    if (copy) copy[kept++] = (char *)"LC_ALL=C";
    if (copy) copy[kept] = folder;
    return copy;
}

static _Noreturn void become(const struct leat_poets_compiler_start *start, char **env)
{
    sigset_t none;
    const int nothing = open("/dev/null", O_RDONLY);
    sigemptyset(&none);
    setpgid(0, 0);
    dup2(nothing, STDIN_FILENO);
    dup2(start->output, STDOUT_FILENO);
    dup2(start->output, STDERR_FILENO);
    fcntl(start->folder, F_SETFD, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(start->words[0], start->words, env);
    dprintf(STDERR_FILENO, "%s: %s\n", start->words[0], strerror(errno));
    _exit(NOT_STARTED);
}

/* ---- the keeper ----------------------------------------------------------------------------- */

static volatile sig_atomic_t is_ended;
static volatile pid_t group;

static void end_group(int number)
{
    (void)number;
    is_ended = 1;
    kill(-group, SIGKILL);
}

/* Signals are blocked at the start. Reaps everything left of a killed group, so that nothing writes
 * to the folder any more; a server that a compiler starts leaves its group. */
static _Noreturn void watch_over(const struct leat_poets_compiler_start *start, char **env,
                                 pid_t leat)
{
    const struct sigaction ends = { .sa_handler = end_group };
    sigset_t none;
    int status = 1, last;
    pid_t ended;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getppid() != leat) _exit(1);
    const pid_t compiler = fork();
    if (compiler < 0) {
        dprintf(start->output, "%s: %s\n", start->words[0], strerror(errno));
        _exit(NOT_STARTED);
    }
    if (!compiler) become(start, env);
    free(env);
    setpgid(compiler, compiler);
    group = compiler;
    sigaction(SIGTERM, &ends, NULL);
    signal(SIGINT, SIG_IGN); /* from a terminal: leat gets it too, and notifies us */
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    while ((ended = waitpid(-compiler, &last, 0)) > 0 || errno == EINTR) {
        if (ended != compiler) continue;
        status = WIFEXITED(last) ? WEXITSTATUS(last) : 1;
        if (!is_ended) break;
    }
    _exit(is_ended ? 1 : status);
}

pid_t leat_poets_compiler_begin(const struct leat_poets_compiler_start *start)
{
    sigset_t all, before;
    char folder[64];
    snprintf(folder, sizeof folder, "TMPDIR=/proc/self/fd/%d", start->folder);
    char **env = environment(folder);
    if (!env) return -1;
    const pid_t leat = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t keeper = fork();
    if (!keeper) watch_over(start, env, leat);
    const int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(env);
    errno = why;
    return keeper;
}

bool leat_poets_compiler_end(pid_t keeper, const atomic_int *interrupted)
{
    int status = 1;
    bool signalled = false;
    for (;;) {
        const pid_t ended = waitpid(keeper, &status, WNOHANG);
        if (ended > 0) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR) return false;
        if (!signalled && interrupted && *interrupted) signalled = kill(keeper, SIGTERM) == 0;
        poll(NULL, 0, POLL_MS);
    }
}

/* ---- its version ---------------------------------------------------------------------------- */

/* The first line; the rest is read and discarded, so that the writer does not block. */
static void read_line(int from, char *out, size_t cap)
{
    size_t len = 0;
    char octets[512];
    for (ssize_t got; (got = read(from, octets, sizeof octets)) > 0 || (got < 0 && errno == EINTR);)
        for (ssize_t i = 0; i < got; i++)
            if (len + 1 < cap) out[len++] = octets[i];
    out[len] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

bool leat_poets_compiler_version(const char *compiler, char *out, size_t cap)
{
    char *words[] = { (char *)compiler, (char *)"--version", NULL };
    posix_spawn_file_actions_t actions;
    int ends[2], status = 1;
    pid_t child = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(out, cap, "%s", strerror(errno));
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int why = posix_spawnp(&child, compiler, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (why == ENOENT)
        snprintf(out, cap, "expected a C++ compiler (package g++)");
    else if (why)
        snprintf(out, cap, "%s", strerror(why));
    else
        read_line(ends[0], out, cap);
    close(ends[0]);
    while (!why && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return !why && WIFEXITED(status) && WEXITSTATUS(status) == 0 && *out;
}
