/* The server of mutate.h. It stops before main, and goes through cases FROM to TO: batches by a
 * process that runs main again and again (mutate_again.c), and alone, in a process of its own,
 * what a batch cannot do, whatever ended a batch, and the last case of each batch, which has to
 * end as it did there. Only runs alone are judged.
 *
 *   LEAT_MUTATE_OCTETS=FILE   where cases come from   LEAT_MUTATE_FILE=FILE      what main reads
 *   LEAT_MUTATE_SEED=N        chooses them            LEAT_MUTATE_CASES=FROM:TO
 *   LEAT_MUTATE_SECONDS=N     ends earlier            LEAT_MUTATE_BATCH=N        1: each alone
 *   LEAT_MUTATE_REPORT=FILE   lines "found NUMBER TEXT", "unlike NUMBER TEXT"; then the totals
 *   LEAT_MUTATE_KEEP=PREFIX   octets of cases that found something, PREFIX + number
 */
#define _GNU_SOURCE
#include "mutate.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_S = 60, BLOCKED_S = 300, BATCH_S = 5, HIGH = 900, HOW_MAX = 512 };

#define MEMORY (UINT64_C(2000) << 20)

struct shared *shared;

/* What this call has done. */
static struct {
    uint64_t cases, codes[3], alone, found, unlike, repeated;
} totals;
static FILE *report;
static const char *keep;

static const char *word(const char *name)
{
    const char *value = getenv(name);
    if (value) return value;
    fprintf(stderr, "mutate: %s is not set\n", name);
    _exit(99);
}

static uint64_t number_of(const char *name)
{
    return strtoull(word(name), NULL, 10);
}

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- a case's files ---- */

static void write_all(const char *path, const void *octets, size_t len)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, octets, len) != (ssize_t)len) _exit(99);
    close(file);
}

void case_write(void)
{
    write_all(shared->path, shared->octets, shared->len);
}

void case_files(void)
{
    dup2(shared->null, STDIN_FILENO);
    dup2(shared->null, STDOUT_FILENO);
    dup2(shared->message, STDERR_FILENO);
}

static size_t message_len(void)
{
    struct stat found;
    return fstat(shared->message, &found) ? 0 : (size_t)found.st_size;
}

static void empty_message(void)
{
    if (ftruncate(shared->message, 0) || lseek(shared->message, 0, SEEK_SET)) _exit(99);
}

static void one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ') *text = ' ';
}

struct ending case_ending(int code)
{
    char text[1024];
    struct ending ending = { .code = code };
    if (!message_len()) return ending;
    const ssize_t got = pread(shared->message, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    ending.message = 0xcbf29ce484222325;
    for (ssize_t i = 0; i < got; i++)
        ending.message = (ending.message ^ (uint8_t)text[i]) * 0x100000001b3;
    ending.message |= 1;
    snprintf(ending.said, sizeof ending.said, "%.159s", text);
    one_line(ending.said);
    empty_message();
    return ending;
}

/* ---- children ---- */

static double seconds_of(pid_t child)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &used)) return 0;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Waits for something; a process that only gets no processor is not asleep. */
static bool is_asleep(pid_t child)
{
    char text[256];
    snprintf(text, sizeof text, "/proc/%ld/stat", (long)child);
    const int file = open(text, O_RDONLY | O_CLOEXEC);
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state && state[1] && state[2] == 'S';
}

/* Its status. A child that stays at one case for too long is killed: *hangs. */
static int wait_for(pid_t child, bool *hangs)
{
    int status;
    const int file = (int)syscall(SYS_pidfd_open, child, 0);
    uint64_t number = shared->number;
    double begun = seconds_of(child);
    int64_t since = now_ns();
    *hangs = false;
    for (;;) {
        struct pollfd waited = { .fd = file, .events = POLLIN };
        if (poll(&waited, 1, 1000) > 0) break;
        if (number != shared->number) {
            number = shared->number;
            begun = seconds_of(child);
            since = now_ns();
        }
        if (seconds_of(child) - begun < LIMIT_S &&
            (now_ns() - since < BLOCKED_S * INT64_C(1000000000) || !is_asleep(child)))
            continue;
        *hangs = true;
        kill(child, SIGKILL);
    }
    close(file);
    while (waitpid(child, &status, 0) != child) {
    }
    return status;
}

static pid_t begin_child(void)
{
    const pid_t child = fork();
    if (child < 0) _exit(99);
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

static pid_t begin_alone(void)
{
    const pid_t child = begin_child();
    if (child) return child;
    case_files();
    setpgid(0, 0);
    /* That of mutate_memory.c counts, too. Sanitizers have a limit of their own. */
    if (!dlsym(RTLD_DEFAULT, "__asan_init"))
        setrlimit(RLIMIT_DATA, &(struct rlimit){ 2 * MEMORY, 2 * MEMORY });
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    exit(shared->main(shared->argc, shared->argv, shared->environment));
}

static const char *wrong_end(int status, bool hangs, char *text, size_t text_size)
{
    static const char *const reports[] = { "Sanitizer", "runtime error:", "Assertion `",
                                           "terminate called" };
    static char said[MESSAGE_MAX];
    const ssize_t got = pread(shared->message, said, sizeof said - 1, 0);
    said[got > 0 ? got : 0] = '\0';
    const char *what = NULL;
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (strstr(said, reports[i])) what = "a report";
    if (hangs) what = "does not end";
    if (!what && WIFSIGNALED(status)) what = strsignal(WTERMSIG(status));
    if (!what && WEXITSTATUS(status) > 2) what = "another exit code";
    if (!what && WEXITSTATUS(status) && !got) what = "no message";
    if (!what) return NULL;
    snprintf(text, text_size, "status %#x, %s: %.400s", (unsigned)status, what, said);
    one_line(text);
    return text;
}

static void tell_found(uint64_t number, const char *how)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%llu", keep, (unsigned long long)number);
    write_all(path, shared->octets, shared->len);
    fprintf(report, "found %llu %s\n", (unsigned long long)number, how);
    fflush(report);
    totals.found++;
}

/* Runs it in a process of its own, and judges. */
static struct ending run_alone(uint64_t number)
{
    char how[HOW_MAX];
    bool hangs;
    case_draw(number);
    case_write();
    empty_message();
    const pid_t child = begin_alone();
    const int status = wait_for(child, &hangs);
    kill(-child, SIGKILL); /* what it may have started */
    const char *wrong = wrong_end(status, hangs, how, sizeof how);
    const struct ending ended = case_ending(WIFEXITED(status) ? WEXITSTATUS(status) : 255);
    if (wrong) tell_found(number, wrong);
    totals.alone++;
    return ended;
}

static void count(struct ending ended)
{
    totals.cases++;
    if (ended.code <= 2) totals.codes[ended.code]++;
}

/* One by one. */
static uint64_t run_each(uint64_t from, uint64_t to, int64_t until)
{
    while (from < to && now_ns() < until)
        count(run_alone(from++));
    return from;
}

/* A batch and a process of its own do not agree. */
static void tell_unlike(uint64_t number, struct ending alone, const char *how)
{
    fprintf(report, "unlike %llu %d '%s', in a batch %s %d '%s'\n", (unsigned long long)number,
            alone.code, alone.said, how, shared->last.code, shared->last.said);
    fflush(report);
    totals.unlike++;
}

static void compare_last(void)
{
    const struct ending last = shared->last, alone = run_alone(shared->number - 1);
    if (alone.code != last.code || (alone.code && alone.message != last.message))
        tell_unlike(shared->number - 1, alone, "");
}

/* From `from` on; returns the number of the next case. What a crash ends is not known to have
 * undone all: the cases before it are another batch, up to *fence. */
static uint64_t run_batch(uint64_t from, uint64_t to, uint64_t *fence)
{
    bool hangs;
    shared->number = from;
    const pid_t child = begin_child();
    if (child == 0) again_run(to, BATCH_S);
    const int status = wait_for(child, &hangs);
    const int how = !hangs && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (how == BATCH_PAGES) return totals.repeated++, from;
    if (how < 0 && shared->number > from) return *fence = shared->number, from;
    for (int i = 0; i < 3; i++)
        totals.codes[i] += shared->codes[i];
    totals.cases += shared->number - from;
    if (how == BATCH_DONE) return compare_last(), shared->number;
    const uint64_t found = totals.found;
    const struct ending alone = run_alone(shared->number);
    count(alone);
    const char *why = hangs ? "hang" : how == BATCH_SUSPECT ? "end" : "crash, before";
    if (totals.found == found && how != BATCH_UNSUITED) tell_unlike(shared->number, alone, why);
    return shared->number + 1;
}

/* Short ones first: until it is known which pages runs change, only the first case of a batch has
 * its own state. */
static uint64_t run_batches(uint64_t at, uint64_t to, uint64_t batch, int64_t until)
{
    uint64_t fence = to, size = 1;
    while (at < to && now_ns() < until) {
        if (at == fence) fence = to;
        const uint64_t before = at;
        at = run_batch(at, at + size < fence ? at + size : fence, &fence);
        if (at > before && size < batch) size = 4 * size < batch ? 4 * size : batch;
    }
    return at;
}

/* ---- the server ---- */

static void read_octets(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = read(file, shared->seed_octets, sizeof shared->seed_octets);
    if (file < 0 || got < 0 || got == sizeof shared->seed_octets) _exit(99);
    shared->seed_len = (size_t)got;
    close(file);
}

static int high(int file)
{
    const int copy = fcntl(file, F_DUPFD_CLOEXEC, HIGH);
    if (copy < 0) _exit(99);
    close(file);
    return copy;
}

/* From the first word of main to the end of its environment. */
static void find_texts(char **argv, char **environment)
{
    char *end = shared->texts = argv[0];
    for (char **each = argv; each < environment; each++)
        if (*each && *each + strlen(*each) + 1 > end) end = *each + strlen(*each) + 1;
    for (char **each = environment; *each; each++)
        if (*each + strlen(*each) + 1 > end) end = *each + strlen(*each) + 1;
    shared->texts_len = (size_t)(end - shared->texts);
}

static void prepare(main_function *program, int argc, char **argv, char **environment)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) _exit(99);
    shared->main = program;
    shared->argc = argc;
    shared->argv = argv;
    shared->environment = environment;
    find_texts(argv, environment);
    shared->path = word("LEAT_MUTATE_FILE");
    shared->seed = number_of("LEAT_MUTATE_SEED");
    keep = word("LEAT_MUTATE_KEEP");
    read_octets(word("LEAT_MUTATE_OCTETS"));
    report = fopen(word("LEAT_MUTATE_REPORT"), "we");
    shared->null = high(open("/dev/null", O_RDWR | O_CLOEXEC));
    shared->message = high(memfd_create("message", MFD_CLOEXEC));
    if (!report) _exit(99);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    unsetenv("LD_PRELOAD");
}

static int serve(int argc, char **argv, char **environment, main_function *program)
{
    prepare(program, argc, argv, environment);
    const uint64_t batch = number_of("LEAT_MUTATE_BATCH");
    const int64_t until = now_ns() + (int64_t)number_of("LEAT_MUTATE_SECONDS") * 1000000000;
    char *end;
    uint64_t at = strtoull(word("LEAT_MUTATE_CASES"), &end, 10);
    const uint64_t to = strtoull(end + 1, NULL, 10);
    again_prepare();
    if (batch == 1)
        at = run_each(at, to, until);
    else
        at = run_batches(at, to, batch, until);
    if (shared->unsuited[0]) fprintf(report, "unsuited %s\n", shared->unsuited);
    fprintf(report, "slowest %llu %.3f\n", (unsigned long long)shared->slowest,
            (double)shared->slowest_ns / 1e9);
    fprintf(report,
            "next %llu cases %llu codes %llu %llu %llu alone %llu found %llu unlike %llu repeated "
            "%llu pages %zu\n",
            (unsigned long long)at, (unsigned long long)totals.cases,
            (unsigned long long)totals.codes[0], (unsigned long long)totals.codes[1],
            (unsigned long long)totals.codes[2], (unsigned long long)totals.alone,
            (unsigned long long)totals.found, (unsigned long long)totals.unlike,
            (unsigned long long)totals.repeated, shared->page_count);
    fclose(report);
    _exit(0);
}

static main_function *leat_main;

static int serve_main(int argc, char **argv, char **environment)
{
    return serve(argc, argv, environment, leat_main);
}

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack);
int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack)
{
    typedef int function(main_function *, int, char **, void (*)(void), void (*)(void),
                         void (*)(void), void *);
    function *next;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    leat_main = program;
    return next(serve_main, argc, argv, init, fini, loader, stack);
}
