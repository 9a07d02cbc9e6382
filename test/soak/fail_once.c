/* Preloaded into a command: counts its allocations and system calls, and lets one of them fail.
 *
 *   LEAT_FAIL=FILE            two 64-bit numbers, shared by all its processes: how many calls
 *                             there were, and which one fails (0: none)
 *   LEAT_FAIL_LOG=FILE        a line per call: its number, its name, and a hash of who called whom
 *   LEAT_FAIL_PROGRAM=NAME    only processes of this program count
 *
 * What stdio does inside the C library cannot be replaced; so a failing fopen gets /dev/full, or
 * fails, and a failing fflush or fclose finds its file on /dev/full.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FRAMES_MAX = 24 };

static struct shared {
    _Atomic uint64_t count, failing;
} * shared;
static int log_file = -1;
static _Thread_local bool inside;

static int open_plainly(const char *path, int flags)
{
    return path ? (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600) : -1;
}

__attribute__((constructor)) static void begin(void)
{
    const char *program = getenv("LEAT_FAIL_PROGRAM");
    if (program && strcmp(program, program_invocation_short_name) != 0) return;
    void *frames[1];
    inside = true;
    backtrace(frames, 1); /* loads what it needs */
    inside = false;
    const int file = open_plainly(getenv("LEAT_FAIL"), O_RDWR);
    if (file < 0) return;
    const int log = open_plainly(getenv("LEAT_FAIL_LOG"), O_WRONLY | O_APPEND);
    if (log >= 0) log_file = fcntl(log, F_DUPFD_CLOEXEC, 500);
    if (log >= 0) syscall(SYS_close, log);
    void *at = (void *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED,
                               file, 0);
    syscall(SYS_close, file);
    if (at != MAP_FAILED) shared = at;
}

/* Of the places in leat and its libraries from which the call came. */
static uint64_t hash_of_callers(void **frames, int count)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 2; i < count; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 0x100000001b3;
    return hash;
}

static void tell(const char *name, uint64_t number)
{
    void *frames[FRAMES_MAX];
    char line[128];
    const int depth = backtrace(frames, FRAMES_MAX);
    const int len = snprintf(line, sizeof line, "%llu %s %llx\n", (unsigned long long)number, name,
                             (unsigned long long)hash_of_callers(frames, depth));
    syscall(SYS_write, log_file, line, (size_t)len);
}

/* Shows where the failing call came from, on the log. */
static void tell_place(void)
{
    void *frames[FRAMES_MAX];
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), log_file);
}

/* Is it this call that fails? */
static bool fails(const char *name, int error)
{
    if (!shared || inside) return false;
    const int before = errno;
    const uint64_t number = atomic_fetch_add(&shared->count, 1) + 1;
    const uint64_t failing = atomic_load(&shared->failing);
    inside = true;
    if (log_file >= 0 && (!failing || number == failing)) tell(name, number);
    if (log_file >= 0 && number == failing) tell_place();
    inside = false;
    errno = number == failing ? error : before;
    return number == failing;
}

/* A function that fails with `error` and returns `bad`. */
#define WRAP(result, name, parameters, arguments, bad, error) \
    result name parameters;                                   \
    result name parameters                                    \
    {                                                         \
        static result(*next) parameters;                      \
        if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name); \
        if (fails(#name, error)) return bad;                  \
        return next arguments;                                \
    }

/* ---- memory: not by dlsym, which allocates ---- */

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size)
{
    return fails("calloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *old, size_t size)
{
    return fails("realloc", ENOMEM) ? NULL : __libc_realloc(old, size);
}
void *aligned_alloc(size_t to, size_t size)
{
    return fails("aligned_alloc", ENOMEM) ? NULL : __libc_memalign(to, size);
}
void *reallocarray(void *old, size_t n, size_t size)
{
    if (fails("reallocarray", ENOMEM)) return NULL;
    size_t octets;
    if (__builtin_mul_overflow(n, size, &octets)) return errno = ENOMEM, NULL;
    return __libc_realloc(old, octets);
}
int posix_memalign(void **out, size_t to, size_t size)
{
    if (fails("posix_memalign", ENOMEM)) return ENOMEM;
    *out = __libc_memalign(to, size);
    return *out ? 0 : ENOMEM;
}
WRAP(void *, mmap, (void *at, size_t len, int how, int flags, int fd, off_t from),
     (at, len, how, flags, fd, from), MAP_FAILED, ENOMEM)

/* ---- files ---- */

int openat(int at, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("openat", EMFILE) ? -1 : (int)syscall(SYS_openat, at, path, flags, mode);
}
int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("open", EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
WRAP(ssize_t, read, (int fd, void *to, size_t len), (fd, to, len), -1, EIO)
WRAP(ssize_t, pread, (int fd, void *to, size_t len, off_t at), (fd, to, len, at), -1, EIO)
WRAP(ssize_t, write, (int fd, const void *from, size_t len), (fd, from, len), -1, ENOSPC)
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t len, off_t at), (fd, from, len, at), -1,
     ENOSPC)
WRAP(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), -1, ENOSPC)
WRAP(int, fsync, (int fd), (fd), -1, EIO)
WRAP(int, ftruncate, (int fd, off_t len), (fd, len), -1, ENOSPC)
WRAP(int, fallocate, (int fd, int how, off_t at, off_t len), (fd, how, at, len), -1, ENOSPC)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1, EIO)
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), -1, EIO)
WRAP(int, renameat2, (int a, const char *from, int b, const char *to, unsigned how),
     (a, from, b, to, how), -1, EIO)
WRAP(int, link, (const char *from, const char *to), (from, to), -1, EIO)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, ENOSPC)
WRAP(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), -1, ENOSPC)
WRAP(int, mkstemp, (char *path), (path), -1, ENOSPC)
WRAP(char *, mkdtemp, (char *path), (path), NULL, ENOSPC)
WRAP(int, stat, (const char *path, struct stat *out), (path, out), -1, EACCES)
WRAP(int, lstat, (const char *path, struct stat *out), (path, out), -1, EACCES)
WRAP(int, fstat, (int fd, struct stat *out), (fd, out), -1, EIO)
WRAP(DIR *, opendir, (const char *path), (path), NULL, EMFILE)
WRAP(ssize_t, readlink, (const char *path, char *to, size_t len), (path, to, len), -1, EACCES)
WRAP(char *, realpath, (const char *path, char *to), (path, to), NULL, EACCES)
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode), -1, EPERM)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
WRAP(int, flock, (int fd, int how), (fd, how), -1, ENOLCK)
WRAP(int, dup, (int fd), (fd), -1, EMFILE)
WRAP(int, dup2, (int fd, int to), (fd, to), -1, EMFILE)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
WRAP(int, shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode), -1, EMFILE)

/* The descriptor is closed all the same, as Linux does. */
int close(int fd)
{
    const bool failing = fails("close", EIO);
    const int result = (int)syscall(SYS_close, fd);
    if (failing) errno = EIO;
    return failing ? -1 : result;
}

/* ---- stdio ---- */

/* What is written to this file from now on finds no room. */
static void fill_up(FILE *file)
{
    const int full = open_plainly("/dev/full", O_WRONLY);
    if (fileno(file) >= 0 && (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY)
        syscall(SYS_dup3, full, fileno(file), O_CLOEXEC);
    syscall(SYS_close, full);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*next)(const char *, const char *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    if (fails("fopen", EMFILE)) return NULL;
    FILE *file = next(path, mode);
    if (file && *mode != 'r' && fails("fopen, full", 0)) fill_up(file);
    return file;
}
FILE *fdopen(int fd, const char *mode)
{
    static FILE *(*next)(int, const char *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fdopen");
    if (fails("fdopen", ENOMEM)) return NULL;
    FILE *file = next(fd, mode);
    if (file && *mode != 'r' && fails("fdopen, full", 0)) fill_up(file);
    return file;
}
int fflush(FILE *file)
{
    static int (*next)(FILE *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fflush");
    if (file && file != stderr && fails("fflush", 0)) fill_up(file);
    return next(file);
}
int fclose(FILE *file)
{
    static int (*next)(FILE *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fclose");
    if (fails("fclose", 0)) fill_up(file);
    return next(file);
}
WRAP(FILE *, tmpfile, (void), (), NULL, EMFILE)
WRAP(FILE *, open_memstream, (char **at, size_t *len), (at, len), NULL, ENOMEM)

/* ---- sockets and pipes ---- */

WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, EMFILE)
WRAP(int, bind, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len), -1, EADDRINUSE)
WRAP(int, listen, (int fd, int n), (fd, n), -1, EADDRINUSE)
WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len), -1,
     ECONNREFUSED)
WRAP(int, accept4, (int fd, struct sockaddr *from, socklen_t *len, int flags),
     (fd, from, len, flags), -1, EMFILE)
WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
     (fd, level, name, value, len), -1, ENOPROTOOPT)
WRAP(int, pipe, (int fd[2]), (fd), -1, EMFILE)
WRAP(int, pipe2, (int fd[2], int flags), (fd, flags), -1, EMFILE)

/* ---- processes and threads ---- */

WRAP(pid_t, fork, (void), (), -1, EAGAIN)
WRAP(int, posix_spawnp,
     (pid_t * child, const char *file, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *how, char *const words[], char *const variables[]),
     (child, file, actions, how, words, variables), EAGAIN, EAGAIN)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how, void *(*work)(void *), void *with),
     (thread, how, work, with), EAGAIN, EAGAIN)
