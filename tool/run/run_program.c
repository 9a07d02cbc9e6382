/* leat run: identifies a program, starts it as the tasks of a run, and ends it. */
#include "mpi_service.h"
#include "run.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- what it is ------------------------------------------------------------------------------ */

static bool is_program(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* As a shell finds it. */
static bool find_on_path(const char *name, char *out, size_t cap)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(out, cap, "%s", name);
        return is_program(out);
    }
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        const size_t len = strcspn(at, ":");
        snprintf(out, cap, "%.*s%s%s", (int)len, at, len ? "/" : "./", name);
        if (is_program(out)) return true;
        at += len + (at[len] == ':');
    }
    return false;
}

/* A part of leat: next to the command in a build, or where it was installed. */
bool run_has_part(const char *name, char *out, size_t cap)
{
    static const char *const places[] = { "../program", "../lib/leat" };
    char own[RUN_PATH_CAP];
    const ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len <= 0) return false;
    own[len] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char place[2 * RUN_PATH_CAP];
        snprintf(place, sizeof place, "%s/%s/%s", own, places[i], name);
        char *real = realpath(place, NULL);
        if (!real) continue;
        snprintf(out, cap, "%s", real);
        free(real);
        return true;
    }
    return false;
}

/* One of the thesis' programs, by its name alone. */
static bool find_example(const char *name, char *out, size_t cap)
{
    char part[64];
    snprintf(part, sizeof part, "programs/%.40s", name);
    return !strchr(name, '/') && run_has_part(part, out, cap);
}

/* The libraries that a program is linked with, as the loader finds them; NULL: errno says why not.
 */
static FILE *list_libraries(const char *program, pid_t *lister)
{
    int ends[2];
    posix_spawn_file_actions_t files;
    char *const words[] = { "ldd", (char *)program, NULL };
    if (pipe(ends)) return NULL;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    const int err = posix_spawnp(lister, "ldd", &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (!err) return fdopen(ends[0], "r");
    close(ends[0]);
    errno = err;
    return NULL;
}

struct linkage {
    bool mpi, pvm, atm, any;
    char other_mpi[32]; /* the library of an MPI that is not Open MPI 4; "": none */
};

/* "	libmpich.so.12 => ...": MPICH and those that descend from it, in their various packages. */
static void read_line(const char *line, struct linkage *found)
{
    const char *name = line + strspn(line, " \t");
    const bool is_mpi = !strncmp(name, "libmpi.so", 9) || !strncmp(name, "libmpich.so", 11);
    found->any |= strstr(line, ".so") != NULL;
    found->pvm |= strstr(line, "libpvm3.so") != NULL;
    found->atm |= strstr(line, "libleat-atm.so") != NULL;
    if (!is_mpi) return;
    if (!strncmp(name, "libmpi.so.40", 12))
        found->mpi = true;
    else
        snprintf(found->other_mpi, sizeof found->other_mpi, "%.*s", (int)strcspn(name, " \n"),
                 name);
}

/* False, with a complaint unless a signal came: ldd's output is incomplete. It exits with 1 if
 * there is nothing to list. */
static bool read_linkage(const char *program, struct linkage *out)
{
    struct linkage found = { 0 };
    int status = 0;
    pid_t lister;
    char line[RUN_PATH_CAP];
    FILE *list = list_libraries(program, &lister);
    if (!list)
        return complain("ldd, which lists what %s is linked with, cannot be started: %s", program,
                        strerror(errno));
    while (fgets(line, sizeof line, list))
        read_line(line, &found);
    fclose(list);
    if (interrupted) kill(lister, SIGTERM);
    while (waitpid(lister, &status, 0) < 0 && errno == EINTR) {
    }
    if (interrupted) return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
        *out = found;
        return true;
    }
    return complain("ldd, which lists what %s is linked with, failed", program);
}

static bool is_elf(const char *path)
{
    char magic[4] = { 0 };
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const bool read = fread(magic, 1, sizeof magic, file) == sizeof magic;
    fclose(file);
    return read && !memcmp(magic, "\177ELF", sizeof magic);
}

static bool refuse_program(const char *name)
{
    struct stat status;
    if (!strchr(name, '/') || stat(name, &status))
        return complain("%s: no such program, expected one that can be executed", name);
    return complain("%s: %s, expected a program", name,
                    S_ISREG(status.st_mode)   ? "a file without the right to execute it"
                    : S_ISDIR(status.st_mode) ? "a folder"
                                              : "no file");
}

const char *const run_library_names[] = { [RUN_MPI] = "mpi", [RUN_PVM] = "pvm", [RUN_ATM] = "atm" };

bool run_program_find(struct run_job *job, const char *library)
{
    const char *name = job->words[0];
    if (!find_on_path(name, job->program, sizeof job->program) &&
        !find_example(name, job->program, sizeof job->program))
        return refuse_program(name);
    for (size_t i = RUN_MPI; library && i <= RUN_ATM; i++)
        if (!strcmp(library, run_library_names[i])) job->library = (enum run_library)i;
    if (library) return true;
    if (!is_elf(job->program))
        return complain(
            "%s: no binary program; for a script, --library mpi, pvm or atm says what it runs",
            name);
    struct linkage found;
    if (!read_linkage(job->program, &found)) return false;
    if (!found.any)
        return complain("%s: a static program, expected one that is linked dynamically: leat can "
                        "redirect only the messages and the clock of such programs",
                        name);
    if (*found.other_mpi)
        return complain(
            "%s: linked with %s, expected libmpi.so.40: leat runs programs of Open MPI 4 "
            "(Debian: libopenmpi-dev, mpicc.openmpi); Debian's MPICH is built for UCX "
            "and cannot load a provider",
            name, found.other_mpi);
    if (!found.mpi && !found.pvm && !found.atm)
        return complain(
            "%s: linked with neither libmpi nor libpvm3, expected an Open MPI or PVM program, "
            "or one that is linked with libleat-atm (if it loads one of them later, say "
            "--library mpi, pvm or atm)",
            name);
    job->library = found.mpi ? RUN_MPI : found.pvm ? RUN_PVM : RUN_ATM;
    return true;
}

/* ---- its start ------------------------------------------------------------------------------- */

bool run_find_part(const char *name, char *out, size_t cap)
{
    if (run_has_part(name, out, cap)) return true;
    return complain("%s is not there, expected it beside the command or in ../lib/leat", name);
}

/* Open MPI loads plug-ins that search for its symbols globally. The part stays open. */
void *run_load_mpi(const char *name, const char *function, const char *user)
{
    char part[RUN_PATH_CAP];
    if (!run_find_part(name, part, sizeof part)) {
        complain("%s needs it: build leat where libopenmpi-dev is installed", user);
        return NULL;
    }
    void *object = dlopen(part, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = object ? dlsym(object, function) : NULL;
    if (!symbol) complain("%s: %s", user, dlerror());
    return symbol;
}

char **run_environment(const struct run_job *job, const char *library)
{
    static char path[2 * RUN_PATH_CAP];
    static char *list[3];
    char part[RUN_PATH_CAP];
    const char *old = getenv("LD_LIBRARY_PATH");
    if (!run_find_part(library, part, sizeof part)) return NULL;
    *strrchr(part, '/') = '\0';
    snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s%s%s", part, old ? ":" : "", old ? old : "");
    list[0] = path;
    list[1] = job->real_clock ? (char *)"LEAT_REAL_CLOCK=1" : NULL;
    return list;
}

const char *run_search_path(const struct run_job *job)
{
    static char path[3 * RUN_PATH_CAP];
    const char *slash = strrchr(job->program, '/'), *old = getenv("PATH");
    const int len = slash ? (int)(slash - job->program) : 1;
    snprintf(path, sizeof path, "%.*s:%s", len, slash ? job->program : ".", old ? old : "");
    return path;
}

enum { WORDS_CAP = 96 };

struct words {
    char *word[WORDS_CAP + 1];
    size_t count;
};

/* `list` ends with NULL. */
static void add(struct words *words, const char *const *list)
{
    for (; *list && words->count < WORDS_CAP; list++)
        words->word[words->count++] = (char *)*list;
}

/* What makes Open MPI use the provider (spec/programs.md), and only paths that work. */
static const char *const mpi_settings[][2] = {
    { "pml", "cm" },
    /* Ranks of all hosts find each other in MPI_Init, in real time, and not when they first send. */
    { "mpi_add_procs_cutoff", "4096" },
    /* A rank that waits sleeps in the provider. On a busy machine each yield before that costs it
     * its processor. */
    { "mpi_yield_when_idle", "0" },
    { "mtl", "ofi" },
    { "mtl_ofi_provider_include", "leat" },
    { "osc", "sm,rdma,pt2pt" },
    { "osc_rdma_btls", "ofi" },
    { "btl", "self,ofi" },
    { "btl_ofi_provider_include", "leat" },
    /* Lock by lock: two ranks that want a lock of all ranks and one of one rank at the same time
     * would withdraw and try again for ever, in step, since nothing disturbs a simulation. */
    { "osc_rdma_locking_mode", "on_demand" },
    /* Accumulate by lock, get and put: the path over atomic operations knows too few of them. */
    { "osc_rdma_network_max_amo", "0" },
    /* Long accumulates in steps of an eighth of this: each of them waits for the target. */
    { "osc_rdma_buffer_size", "262144" },
    /* As many one-sided operations at once as the provider takes, which travel together. */
    { "btl_ofi_progress_threshold", "255" },
    /* Opening memory costs nothing here. Kept open, it must not be freed, which some programs do. */
    { "mpi_leave_pinned", "0" },
};

/* The words of mpirun: its own, and all of ours. */
static char **mpi_words(const struct run_job *job, const char *path, const char *part,
                        const struct leat_child_words *command)
{
    static char number[16], preload[RUN_PATH_CAP + 16], provider[RUN_PATH_CAP + 24];
    static char run[RUN_PATH_CAP + 16], components[RUN_PATH_CAP + 40];
    struct words w = { 0 };
    snprintf(number, sizeof number, "%u", job->tasks);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", part);
    snprintf(provider, sizeof provider, "FI_PROVIDER_PATH=%.*s", (int)(strrchr(part, '/') - part),
             part);
    snprintf(run, sizeof run, "%s=%s", LEAT_TASK_RUN_VARIABLE, path);
    add(&w, (const char *const[]){ "mpirun", "-n", number, "--oversubscribe", "--bind-to", "none",
                                   "-x", preload, "-x", provider, "-x", run, NULL });
    if (geteuid() == 0) add(&w, (const char *const[]){ "--allow-run-as-root", NULL });
    if (job->real_clock) add(&w, (const char *const[]){ "-x", "LEAT_REAL_CLOCK=1", NULL });
    for (size_t i = 0; i < sizeof mpi_settings / sizeof *mpi_settings; i++)
        add(&w, (const char *const[]){ "--mca", mpi_settings[i][0], mpi_settings[i][1], NULL });
    if (job->collectives == RUN_BY_NETWORK) {
        snprintf(components, sizeof components, "%.*s:SYSTEM_DEFAULT:USER_DEFAULT",
                 (int)(strrchr(part, '/') - part), part);
        add(&w, (const char *const[]){ "--mca", "mca_base_component_path", components, "--mca",
                                       "coll_leat_priority", "90", "--mca", "coll_leat_exact",
                                       job->has_exact_sums ? "1" : "0", NULL });
    }
    char **all = calloc(w.count + command->count + 1, sizeof *all);
    if (!all) return complain("no memory"), NULL;
    memcpy(all, w.word, w.count * sizeof *all);
    memcpy(all + w.count, command->text, command->count * sizeof *all);
    return all;
}

/* If leat is killed, the launcher ends, and kills ranks that compute for ever. Files that leat has
 * inherited would not reach ranks, but leave the launcher too few descriptors. */
static bool start(char **words, const struct leat_hub *hub, struct run_processes *out)
{
    char *file = leat_child_find_named(words[0], NULL);
    const struct leat_child_start launcher = {
        .file = file,
        .argv = words,
        .environment = environ,
        .end_signal = SIGTERM,
        .is_bare = true,
        .jail = leat_hub_jail(hub),
        /* A debugger reads the terminal: mpirun, then in the background, may not. */
        .input = out->job->tool.needs_terminal ? LEAT_CHILD_NO_INPUT : LEAT_CHILD_OWN_INPUT
    };
    leat_child_init(&out->launcher);
    const bool started = file && leat_child_begin(&out->launcher, &launcher);
    if (!started) complain("%s cannot be started: %s", words[0], strerror(file ? errno : ENOENT));
    free(file);
    return started;
}

/* mpirun has up to four descriptors for each rank, and some for itself; if it runs out of them it
 * may wait for ever. So leat raises the limit if necessary, and also for ranks that are started
 * later, if it can. */
static bool allow_descriptors(const struct run_processes *processes)
{
    enum { OF_MPIRUN = 32, OF_RANK = 4 };
    const rlim_t needed = OF_MPIRUN + OF_RANK * (rlim_t)processes->job->tasks;
    const rlim_t wanted = OF_MPIRUN + OF_RANK * (rlim_t)processes->slots;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted) return true;
    const bool is_enough = limit.rlim_cur >= needed;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (limit.rlim_cur >= needed && !setrlimit(RLIMIT_NOFILE, &limit)) return true;
    if (is_enough) return true;
    return complain(
        "the limit of open files is %llu, expected %llu or more for %u ranks: see ulimit -n",
        (unsigned long long)limit.rlim_max, (unsigned long long)needed, processes->job->tasks);
}

static bool start_ranks(struct run_processes *processes, struct leat_hub *hub)
{
    char part[RUN_PATH_CAP];
    if (!allow_descriptors(processes) || !run_find_part("libleat-fi.so", part, sizeof part))
        return false;
    struct leat_child_words command;
    char **words = run_tool_command(processes->job, part, &command)
                       ? mpi_words(processes->job, leat_hub_path(hub), part, &command)
                       : NULL;
    const bool started = words && start(words, hub, processes);
    free(words);
    leat_child_words_free(&command);
    return started;
}

/* ---- its end --------------------------------------------------------------------------------- */

bool run_processes_have_ended(struct run_processes *processes)
{
    if (processes->pvm || processes->atm) return false; /* its service tracks each */
    return leat_child_reap(&processes->launcher, false);
}

static void pause_ms(int ms)
{
    const struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };
    nanosleep(&pause, NULL);
}

/* Or a signal: after MPI_Finalize ranks may continue as long as they like. False: all of them have
 * ended, but mpirun, which sometimes misses the end of ranks that crash together, has not. */
static bool await_end(struct run_processes *processes, const struct leat_hub *hub)
{
    enum { SOON_MS = 2, LATER_MS = 50, REPORT_AFTER_MS = 5000 };
    for (int ms = 0; !interrupted && !run_processes_have_ended(processes);) {
        const int step = ms < REPORT_AFTER_MS ? SOON_MS : LATER_MS;
        pause_ms(step);
        if (ms >= REPORT_AFTER_MS) continue;
        ms += step;
        if (ms < REPORT_AFTER_MS) continue;
        const uint32_t others = run_alive_signal(processes, hub, 0);
        if (!others) return run_processes_have_ended(processes);
        caution("the simulation is over; waiting for processes of the program that still run: %u",
                others);
    }
    return true;
}

/* The launcher cleans up, if it can; its ranks hang in their waits. Their forks end with them. */
static void end_by_force(struct run_processes *processes, const struct leat_hub *hub)
{
    enum { ROUNDS = 500, ROUND_MS = 10 }; /* on a busy machine it needs more than a second */
    struct leat_child *launcher = &processes->launcher;
    if (!run_processes_have_ended(processes)) kill(launcher->pid, SIGTERM);
    for (int i = 0; i < ROUNDS; i++) {
        const bool others_run = run_alive_signal(processes, hub, SIGKILL) > 0;
        if (run_processes_have_ended(processes) && !others_run) return;
        pause_ms(ROUND_MS);
    }
    if (!run_processes_have_ended(processes)) kill(launcher->pid, SIGKILL);
}

/* When a rank has died or aborts, mpirun ends the others itself, and its exit code says how. */
static void await_launcher(struct run_processes *processes)
{
    enum { ROUNDS = 5000, ROUND_MS = 2 };
    for (int i = 0; i < ROUNDS && !interrupted && !run_processes_have_ended(processes); i++)
        pause_ms(ROUND_MS);
}

static int end_ranks(struct run_processes *processes, const struct leat_hub *hub,
                     enum leat_hub_end end)
{
    struct leat_child *launcher = &processes->launcher;
    if (end == LEAT_HUB_DONE && !await_end(processes, hub)) end = LEAT_HUB_DIED;
    if (end == LEAT_HUB_DIED || end == LEAT_HUB_ABORTED) await_launcher(processes);
    const bool has_code = run_processes_have_ended(processes);
    const bool force = end != LEAT_HUB_DONE || interrupted || WIFSIGNALED(launcher->status);
    if (force) end_by_force(processes, hub);
    leat_child_reap(launcher, true);
    if (force) run_session_remove(launcher->pid);
    if (end != LEAT_HUB_DONE && !has_code) return FAILED;
    return WIFEXITED(launcher->status) ? WEXITSTATUS(launcher->status)
                                       : SIGNALLED + WTERMSIG(launcher->status);
}

/* ---- of any library -------------------------------------------------------------------------- */

static bool prepare_mpi(struct run_processes *processes)
{
    processes->mpi = leat_mpi_service_create(processes->slots);
    processes->service = leat_mpi_service_hooks(processes->mpi);
    return true;
}

static void free_mpi(struct run_processes *processes)
{
    leat_mpi_service_destroy(processes->mpi);
}

static const struct run_library_ops mpi_ops = {
    .prepare = prepare_mpi, .start = start_ranks, .end = end_ranks, .free = free_mpi
};
static const struct run_library_ops *const library_ops[] = {
    [RUN_MPI] = &mpi_ops, [RUN_PVM] = &run_pvm_ops, [RUN_ATM] = &run_atm_ops
};

bool run_processes_prepare(struct run_processes *processes)
{
    /* Some messages carry addresses (one-sided ones do), and every run must be the same. If this is
     * not allowed, only the certificates of such programs differ. */
    personality(ADDR_NO_RANDOMIZE);
    processes->ops = library_ops[processes->job->library];
    return !processes->ops->prepare || processes->ops->prepare(processes);
}

void run_processes_free(struct run_processes *processes)
{
    if (processes->ops && processes->ops->free) processes->ops->free(processes);
}
