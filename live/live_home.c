#include "live_home.h"
#include "live_system.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* since 5.14 */
#endif

static const char names_folder[] = "/run/netns"; /* ip-netns(8) */
static const char files_folder[] = "/dev/shm";   /* where shm_open creates them */

enum { FILES_MAX = 1 << 16 /* that are inspected */, END_TRIES = 300 };

/* ---- whose files are whose ------------------------------------------------------------------ */

static uint64_t cookie_here(void)
{
    uint64_t cookie = 0;
    socklen_t len = sizeof cookie;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return 0;
    if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len)) cookie = 0;
    close(fd);
    return cookie;
}

bool live_home_mark(char mark[LIVE_HOME_MARK_LEN])
{
    struct stat here;
    if (stat("/proc/self/ns/net", &here)) return false;
    snprintf(mark, LIVE_HOME_MARK_LEN, "%llu.%llu", (unsigned long long)here.st_ino,
             (unsigned long long)cookie_here());
    return true;
}

/* Is it "BEGINNING" "COOKIE." with another cookie than ours? False without a cookie. */
static bool is_stale(const char *name, const char *beginning, uint64_t ours)
{
    const size_t len = strlen(beginning);
    char *end;
    if (strncmp(name, beginning, len) != 0) return false;
    const uint64_t cookie = strtoull(name + len, &end, 10);
    return *end == '.' && cookie && ours && cookie != ours;
}

void live_home_sweep(const char *prefix)
{
    char mark[LIVE_HOME_MARK_LEN], beginning[NAME_MAX + 1];
    DIR *all = opendir(files_folder);
    if (!all) return;
    if (live_home_mark(mark)) {
        char *dot = strchr(mark, '.');
        const uint64_t cookie = strtoull(dot + 1, NULL, 10);
        struct stat about;
        struct dirent *entry;
        snprintf(beginning, sizeof beginning, "%s.%.*s", prefix, (int)(dot + 1 - mark), mark);
        for (int i = 0; i < FILES_MAX && (entry = readdir(all)); i++)
            if (is_stale(entry->d_name, beginning, cookie) &&
                fstatat(dirfd(all), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
                about.st_uid == geteuid())
                unlinkat(dirfd(all), entry->d_name, 0);
    }
    closedir(all);
}

/* ---- the file and its process ---------------------------------------------------------------- */

/* A file that leat made: others have no right to it, and it has no other name, under which it would
 * be a file of somebody else's. */
static bool is_ours(const struct stat *about)
{
    return S_ISREG(about->st_mode) && !(about->st_mode & 077) && about->st_nlink <= 1;
}

int live_file_open(const char *name, int flags, const char *owner, bool has_name, char *why)
{
    struct stat about;
    const int file = shm_open(name, flags | O_RDWR | O_CLOEXEC, 0600);
    const int err = file < 0 || fstat(file, &about) != 0 ? errno : 0;
    const bool is_another = !err && S_ISREG(about.st_mode) && about.st_uid != geteuid();
    const bool is_file = err ? err != EINVAL && err != ELOOP : is_another || is_ours(&about);
    if (!err && is_file && !is_another) return file;
    if (file >= 0) close(file);
    if (!is_file) /* shm_open returns EINVAL for a folder, ELOOP for a link */
        live_because(
            why, "/dev/shm%s is in the way, expected a file of leat or nothing there: remove it%s",
            name, has_name ? ", or choose another --name" : "");
    else if (err && err != EACCES)
        live_because(why, "the %s's shared file: %s", owner, strerror(err));
    else
        live_because(why, "the %s's file /dev/shm%s is of another user, expected that user%s",
                     owner, name, has_name ? " or another --name" : "");
    errno = err ? err : EACCES;
    return -1;
}

bool live_file_lock(int file)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(file, F_SETLK, &lock) == 0;
}

pid_t live_file_holder(int file)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(file, F_GETLK, &lock) || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid;
}

bool live_file_end_holder(int file, const char *owner, char *why)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    for (int i = 0; i < END_TRIES; i++) {
        const pid_t pid = live_file_holder(file);
        if (!pid) return true;
        if (pid < 0) return live_because(why, "the %s's process is not visible from here", owner);
        if (i == 0 && kill(pid, SIGTERM) && errno != ESRCH)
            return live_because(why, "process %d stays: %s", (int)pid, strerror(errno));
        if (i == END_TRIES / 2) kill(pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return live_because(why, "process %d does not end", (int)live_file_holder(file));
}

void *live_file_map(int file, size_t len)
{
    void *mapped = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

bool live_process_start(void (*serve)(void *context, int ready), void *context, void *report,
                        size_t report_len, char *why)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC)) return live_because(why, "a pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t first = fork();
    if (first == 0) {
        if (fork() != 0) _exit(0); /* the second one has no parent */
        close(ready[0]);
        serve(context, ready[1]);
    }
    close(ready[1]);
    while (first > 0 && waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    ssize_t got = -1;
    while (first > 0 && (got = read(ready[0], report, report_len)) < 0 && errno == EINTR) {
    }
    close(ready[0]);
    return got == (ssize_t)report_len || live_because(why, "no process could be started");
}

void live_process_detach(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    signal(SIGHUP, SIG_IGN);
}

/* ---- what a process checks ------------------------------------------------------------------- */

static bool has_name(const struct live_home *h)
{
    struct stat there;
    return fstatat(h->names, h->name, &there, 0) == 0 && there.st_ino == h->namespace &&
           there.st_dev == h->namespace_on;
}

/* The name of this process's namespace, if it has one. */
static void find_name(struct live_home *h)
{
    struct stat here;
    DIR *all = opendir(names_folder);
    bool found = false;
    if (!all) return;
    if (stat("/proc/self/ns/net", &here) == 0) {
        h->namespace = here.st_ino;
        h->namespace_on = here.st_dev;
        h->names = open(names_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    for (struct dirent *entry; h->names >= 0 && !found && (entry = readdir(all));) {
        snprintf(h->name, sizeof h->name, "%s", entry->d_name);
        found = has_name(h);
    }
    closedir(all);
    if (found || h->names < 0) return;
    close(h->names);
    h->names = -1;
}

/* The folder of the file, and its name there. */
static void find_file(struct live_home *h, int file)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t len = readlink(link, path, sizeof path - 1);
    if (len <= 0) return;
    path[len] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || slash == path || strlen(slash + 1) >= sizeof h->file) return;
    memcpy(h->file, slash + 1, strlen(slash + 1) + 1);
    *slash = 0;
    h->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void live_home_open(struct live_home *h, int file)
{
    memset(h, 0, sizeof *h);
    h->names = h->folder = h->socket = -1;
    find_name(h);
    if (file >= 0) find_file(h, file);
    tzset(); /* the log prints the time of day, and reads a file for it */
    openlog("leat", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void live_home_needs(struct live_home *h, int socket, uint32_t device, uint32_t other)
{
    h->socket = socket;
    h->device[0] = device;
    h->device[1] = other;
}

static bool has_device(const struct live_home *h, uint32_t device)
{
    struct ifreq request = { .ifr_ifindex = (int)device };
    return ioctl(h->socket, SIOCGIFNAME, &request) == 0 || errno != ENODEV;
}

bool live_home_is_gone(struct live_home *h)
{
    const uint64_t now_s = live_now_ns(CLOCK_MONOTONIC_COARSE) / 1000000000;
    if (now_s < h->check_at_s) return false;
    h->check_at_s = now_s + 1;
    if (h->names >= 0 && !has_name(h)) {
        snprintf(h->reason, sizeof h->reason, "its network namespace was deleted");
        return true;
    }
    for (int i = 0; h->socket >= 0 && i < LIVE_HOME_DEVICES; i++) {
        if (!h->device[i] || has_device(h, h->device[i])) continue;
        snprintf(h->reason, sizeof h->reason, "its network device %u is gone", h->device[i]);
        return true;
    }
    return false;
}

void live_home_leave(const struct live_home *h, const char *name)
{
    const bool left = h->folder >= 0 && unlinkat(h->folder, h->file, 0) && errno != ENOENT;
    char file[NAME_MAX + 64] = "";
    if (left) snprintf(file, sizeof file, "; its file %s stays: %s", h->file, strerror(errno));
    fprintf(stderr, "leat: %s ends: %s%s\n", name, h->reason, file);
    syslog(LOG_NOTICE, "%s ends: %s%s", name, h->reason, file);
}
