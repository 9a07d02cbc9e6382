/*
 * leat graph run --sandbox: handlers of strangers.
 *
 *     read, compile --> fork --+--> jail --> load, run, write --> exit code
 *                              +--> wait --> files appear under their names
 *
 * Files of --record and --snapshot, sockets of --attach and the cache are open or read before; the
 * process in the jail cannot rename what it has written, so the first one does.
 */
#include "graph_job.h"

#ifdef HAVE_EXPAT

#include "jail.h"
#include "number.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_PS UINT64_C(1000000000000)

bool graph_sandbox_read(const struct arguments *args, struct graph_job *job)
{
    const char *wanted = argument(args, "--sandbox"), *refused = argument(args, "--no-sandbox");
    const char *limit = argument_in(args, "--sandbox-memory --sandbox-time");
    leat_time time = 3600 * SECOND_PS;
    job->sandbox = wanted ? GRAPH_SANDBOX : refused ? GRAPH_NO_SANDBOX : GRAPH_SANDBOX_FOR_OTHERS;
    job->sandbox_memory = UINT64_C(4) << 30;
    if (wanted && refused)
        return misused(args->verb, "--sandbox and --no-sandbox, expected one of them");
    if (refused && limit) return misused(args->verb, "%s with --no-sandbox", limit);
    if (wanted && job->run.link)
        return misused(args->verb, "--sandbox with --engine mpi, expected another engine");
    if (!number_take(args, "--sandbox-memory", &job->sandbox_memory) ||
        !number_take(args, "--sandbox-time", &time))
        return false;
    job->sandbox_seconds = (uint32_t)(time / SECOND_PS);
    return true;
}

/* Root can change all files anyway. */
static bool is_of_another(const char *file)
{
    struct stat status;
    return strcmp(file, "-") != 0 && !stat(file, &status) && status.st_uid != geteuid() &&
           status.st_uid != 0;
}

bool graph_sandbox_is_needed(struct graph_job *job)
{
    for (uint32_t i = 0; i < job->task_count && job->sandbox == GRAPH_SANDBOX_FOR_OTHERS; i++) {
        if (!is_of_another(job->task[i]->file)) continue;
        caution("%s belongs to another user: %s", job->task[i]->file,
                job->run.link
                    ? "expected --no-sandbox, since --engine mpi has no sandbox"
                    : "its handlers run in a sandbox (--no-sandbox: with all your rights)");
        job->sandbox = GRAPH_SANDBOX;
    }
    return job->sandbox == GRAPH_SANDBOX;
}

/* The folder of --output, which is made if it is missing. False after a complaint. */
static bool find_output(const struct graph_job *job, char path[PATH_MAX])
{
    const char *folder = job->run.host.folder;
    if (!folder) return true;
    if (mkdir(folder, 0777) && errno != EEXIST) return complain("%s: %s", folder, strerror(errno));
    return realpath(folder, path) || complain("%s: %s", folder, strerror(errno));
}

/* To the process outside: which files are whole. */
static _Noreturn void run_inside(struct graph_job *job, const struct leat_jail *jail,
                                 int (*run)(struct graph_job *job), pid_t outside, int to_outside)
{
    struct graph_kept kept = { 0 };
    int code = FAILED;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != outside) _exit(FAILED);
    job->files.kept = &kept;
    if (leat_jail_enter(jail))
        code = run(job);
    else
        complain("the sandbox cannot be entered: %s", strerror(errno));
    if (!flush_printed() || write(to_outside, &kept, sizeof kept) != sizeof kept) code = FAILED;
    _exit(code);
}

/* Its exit code, after what ended it. */
static int await(pid_t child, const struct graph_job *job)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        if (interrupted) kill(child, interrupted);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGXCPU)
        complain("the sandbox was ended: more than %u s of a processor (--sandbox-time)",
                 job->sandbox_seconds);
    else
        complain("the sandbox was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return FAILED;
}

/* The process inside, and its end. */
static int run_and_await(struct graph_job *job, const struct leat_jail *jail,
                         int (*run)(struct graph_job *job))
{
    struct graph_kept kept = { 0 };
    const pid_t outside = getpid();
    int ends[2], code = FAILED;
    if (pipe(ends)) return fail("no pipe for a sandbox: %s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (!child) run_inside(job, jail, run, outside, ends[1]);
    close(ends[1]);
    if (child > 0) {
        code = await(child, job);
        if (read(ends[0], &kept, sizeof kept) != sizeof kept) kept = (struct graph_kept){ 0 };
        if (!graph_files_keep(&job->files, &kept)) code = FAILED;
    } else {
        complain("no process for a sandbox: %s", strerror(errno));
    }
    close(ends[0]);
    return code;
}

int graph_sandbox_run(struct graph_job *job, int (*run)(struct graph_job *job))
{
    char why[256], output[PATH_MAX] = "";
    if (!find_output(job, output)) return WRONG;
    const struct leat_jail_limits limits = { .writable = *output ? output : NULL,
                                             .memory = job->sandbox_memory,
                                             .seconds = job->sandbox_seconds,
                                             .is_alone = true };
    struct leat_jail *jail = leat_jail_open(&limits, why, sizeof why);
    if (!jail)
        complain("this system refuses a sandbox: %s; --no-sandbox runs the handlers with all your "
                 "rights",
                 why);
    const int code = jail ? run_and_await(job, jail, run) : WRONG;
    leat_jail_close(jail);
    return code;
}

#endif
