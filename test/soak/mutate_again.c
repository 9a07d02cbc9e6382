/* One process runs main many times. What a run changed in memory is undone from copies of pages,
 * its allocations are freed as a whole (mutate_memory.c), its descriptors closed, its mappings
 * removed. A run that does what cannot be undone (threads, processes, other programs' code) ends
 * the batch; the server repeats it in a process of its own.
 *
 * Which pages runs change is learnt: after a batch the kernel tells which pages belong to this
 * process alone. If there are others than those that were undone, the batch does not count and is
 * repeated with them.
 */
#define _GNU_SOURCE
#include "mutate.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { REGIONS_MAX = 256, HANDLERS_MAX = 32, MAPPINGS_MAX = 64, OURS_FROM = 900 };

static struct region {
    uintptr_t from, to;
} regions[REGIONS_MAX];
static size_t region_count;

static bool running; /* a case of a batch */
static jmp_buf behind;
static int code_of_case;
static struct {
    void (*call)(void *);
    void *with;
} handlers[HANDLERS_MAX];
static size_t handler_count;
static struct {
    void *at;
    size_t len;
} mappings[MAPPINGS_MAX];
static size_t mapping_count;
static char made[PATH_MAX]; /* a folder of this run */

/* ---- which memory is watched ---- */

static uintptr_t hex(const char **at)
{
    uintptr_t value = 0;
    for (;; (*at)++) {
        const char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

static void add_region(const char *line, uintptr_t except_from, uintptr_t except_to)
{
    struct region region = { 0 };
    region.from = hex(&line);
    line++;
    region.to = hex(&line);
    if (strncmp(line, " rw-p", 5) != 0 || strstr(line, "[stack]")) return;
    if (region.from < except_from && region.to > except_from) { /* adjacent mappings are one */
        regions[region_count++] = (struct region){ region.from, except_from };
        region.from = except_from;
    }
    if (region.from >= except_from && region.from < except_to) region.from = except_to;
    if (region.from >= region.to) return;
    if (region_count > REGIONS_MAX - 2) abort();
    regions[region_count++] = region;
}

void again_prepare(void)
{
    uintptr_t from, to;
    memory_range(&from, &to);
    char *const text = (char *)shared->words;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t got;
    while ((got = read(file, text + len, sizeof shared->words - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    close(file);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        add_region(line, from, to);
    }
}

static bool is_known(uintptr_t page, size_t known)
{
    for (size_t i = 0; i < known; i++)
        if (shared->pages[i] == page) return true;
    return false;
}

/* Pages of the region that this process has written; the file's entries are words. */
static size_t learn_region(int pagemap, const struct region *region, size_t known)
{
    size_t added = 0;
    const size_t words = sizeof shared->words / sizeof *shared->words;
    for (uintptr_t from = region->from; from < region->to; from += words * PAGE) {
        const size_t wanted = (region->to - from) / PAGE < words ? (region->to - from) / PAGE
                                                                 : words;
        const ssize_t got = pread(pagemap, shared->words, wanted * 8, (off_t)(from / PAGE * 8));
        if (got != (ssize_t)(wanted * 8)) abort();
        for (size_t i = 0; i < wanted; i++) {
            const uint64_t word = shared->words[i];
            const bool present = word >> 63 & 1, of_file = word >> 61 & 1,
                       exclusive = word >> 56 & 1;
            const uintptr_t page = from + i * PAGE;
            if (!present || of_file || !exclusive || is_known(page, known)) continue;
            if (shared->page_count == PAGES_MAX) abort();
            shared->pages[shared->page_count++] = page;
            added++;
        }
    }
    return added;
}

static bool learn_pages(void)
{
    const size_t known = shared->page_count;
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t added = 0;
    for (size_t i = 0; i < region_count; i++)
        added += learn_region(pagemap, &regions[i], known);
    close(pagemap);
    return added != 0;
}

/* The words that main is called with, and the environment, lie above the stack: pointers, then
 * texts. */
static void copy_words(bool undoes)
{
    char **const pointers = shared->argv, **end = shared->environment;
    while (*end)
        end++;
    const size_t len = (size_t)((char *)end - (char *)pointers), texts_len = shared->texts_len;
    if (len + texts_len > sizeof shared->words_copy) abort();
    if (undoes) {
        memcpy(pointers, shared->words_copy, len);
        memcpy(shared->texts, shared->words_copy + len, texts_len);
    } else {
        memcpy(shared->words_copy, pointers, len);
        memcpy(shared->words_copy + len, shared->texts, texts_len);
    }
}

static void copy_pages(void)
{
    copy_words(false);
    for (size_t i = 0; i < shared->page_count; i++)
        memcpy(shared->copies[i], (const void *)shared->pages[i], PAGE);
}

static void undo_pages(void)
{
    copy_words(true);
    for (size_t i = 0; i < shared->page_count; i++)
        memcpy((void *)shared->pages[i], shared->copies[i], PAGE);
}

/* ---- a case ---- */

static void remove_made(void)
{
    DIR *folder = made[0] ? opendir(made) : NULL;
    const struct dirent *each;
    while (folder && (each = readdir(folder)))
        unlinkat(dirfd(folder), each->d_name, 0);
    if (folder) closedir(folder);
    if (made[0]) rmdir(made);
}

static _Noreturn void end_batch(int status)
{
    remove_made();
    running = false;
    void (*leave)(int) = NULL;
    *(void **)&leave = dlsym(RTLD_NEXT, "_exit");
    leave(learn_pages() ? BATCH_PAGES : status);
    abort();
}

void again_exit(int code, bool flushes)
{
    if (!running) return;
    code_of_case = code;
    while (flushes && handler_count) {
        handler_count--;
        handlers[handler_count].call(handlers[handler_count].with);
    }
    if (flushes) fflush(NULL);
    longjmp(behind, 1);
}

void again_unsuited(const char *call)
{
    if (!running) return;
    snprintf(shared->unsuited, sizeof shared->unsuited, "%s", call);
    end_batch(BATCH_UNSUITED);
}

static void undo(void)
{
    running = false;
    while (mapping_count) {
        mapping_count--;
        munmap(mappings[mapping_count].at, mappings[mapping_count].len);
    }
    remove_made();
    close_range(3, OURS_FROM - 1, 0);
    memory_end_case();
    undo_pages();
}

static struct ending run_case(uint64_t number)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    case_draw(number);
    case_write();
    case_files();
    if (!setjmp(behind)) {
        running = true;
        again_exit(shared->main(shared->argc, shared->argv, shared->environment), true);
    }
    /* What is undone has the code, too. */
    const struct ending ended = case_ending(code_of_case & 0xff);
    undo();
    return ended;
}

void again_run(uint64_t end, int64_t seconds)
{
    int64_t now = now_ns();
    const int64_t until = now + seconds * 1000000000;
    memory_begin();
    copy_pages();
    memset(shared->codes, 0, sizeof shared->codes);
    for (; shared->number < end; shared->number++) {
        const struct ending ended = run_case(shared->number);
        shared->last = ended;
        if (ended.code > 2 || (ended.code && !ended.message)) end_batch(BATCH_SUSPECT);
        shared->codes[ended.code]++;
        const int64_t then = now;
        now = now_ns();
        if (now - then > shared->slowest_ns) {
            shared->slowest_ns = now - then;
            shared->slowest = shared->number;
        }
        if (now < until) continue;
        shared->number++;
        break;
    }
    end_batch(BATCH_DONE);
}

/* ---- what a run would leave behind ---- */

#define NEXT(function, name) \
    static function *next;   \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, name)

void exit(int code)
{
    typedef void function(int);
    NEXT(function, "exit");
    again_exit(code, true);
    next(code);
    abort();
}

void _exit(int code)
{
    typedef void function(int);
    NEXT(function, "_exit");
    again_exit(code, false);
    next(code);
    abort();
}

int __cxa_atexit(void (*call)(void *), void *with, void *object);
int __cxa_atexit(void (*call)(void *), void *with, void *object)
{
    typedef int function(void (*)(void *), void *, void *);
    NEXT(function, "__cxa_atexit");
    if (!running) return next(call, with, object);
    if (handler_count == HANDLERS_MAX) return -1;
    handlers[handler_count].call = call;
    handlers[handler_count++].with = with;
    return 0;
}

void *mmap(void *at, size_t len, int protection, int flags, int file, off_t offset)
{
    typedef void *function(void *, size_t, int, int, int, off_t);
    NEXT(function, "mmap");
    if (running && (flags & MAP_FIXED || mapping_count == MAPPINGS_MAX)) again_unsuited("mmap");
    void *found = next(at, len, protection, flags, file, offset);
    if (running && found != MAP_FAILED) {
        mappings[mapping_count].at = found;
        mappings[mapping_count++].len = len;
    }
    return found;
}

void *mmap64(void *at, size_t len, int protection, int flags, int file, off_t offset)
{
    return mmap(at, len, protection, flags, file, offset);
}

int munmap(void *at, size_t len)
{
    typedef int function(void *, size_t);
    NEXT(function, "munmap");
    size_t i = 0;
    while (i < mapping_count && mappings[i].at != at)
        i++;
    if (running && (i == mapping_count || mappings[i].len != len)) again_unsuited("munmap");
    if (running) mappings[i] = mappings[--mapping_count];
    return next(at, len);
}

char *mkdtemp(char *name)
{
    typedef char *function(char *);
    NEXT(function, "mkdtemp");
    if (running && made[0]) again_unsuited("mkdtemp");
    char *folder = next(name);
    if (running && folder) snprintf(made, sizeof made, "%s", folder);
    return folder;
}

/* A case that calls one of these has a process of its own. */
#define UNSUITED(result, name, parameters, arguments) \
    result name parameters                            \
    {                                                 \
        typedef result function parameters;           \
        NEXT(function, #name);                        \
        again_unsuited(#name);                        \
        return next arguments;                        \
    }

typedef const posix_spawn_file_actions_t *spawn_files;
typedef const posix_spawnattr_t *spawn_options;
UNSUITED(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *w),
         (t, a, f, w))
UNSUITED(pid_t, fork, (void), ())
UNSUITED(int, posix_spawn,
         (pid_t * p, const char *w, spawn_files f, spawn_options o, char *const *a, char *const *e),
         (p, w, f, o, a, e))
UNSUITED(int, posix_spawnp,
         (pid_t * p, const char *w, spawn_files f, spawn_options o, char *const *a, char *const *e),
         (p, w, f, o, a, e))
UNSUITED(int, execv, (const char *w, char *const *a), (w, a))
UNSUITED(int, execvp, (const char *w, char *const *a), (w, a))
UNSUITED(int, execve, (const char *w, char *const *a, char *const *e), (w, a, e))
UNSUITED(FILE *, popen, (const char *w, const char *m), (w, m))
UNSUITED(int, system, (const char *w), (w))
UNSUITED(void *, dlopen, (const char *w, int f), (w, f))
UNSUITED(int, mkdir, (const char *w, mode_t m), (w, m))
UNSUITED(int, chdir, (const char *w), (w))
UNSUITED(int, setrlimit, (__rlimit_resource_t r, const struct rlimit *l), (r, l))
UNSUITED(void *, mremap, (void *a, size_t o, size_t n, int f, ...), (a, o, n, f))
