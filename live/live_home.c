#include "live_home.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* since 5.14 */
#endif

static const char names_folder[] = "/run/netns"; /* ip-netns(8) */
static const char files_folder[] = "/dev/shm";   /* where shm_open creates them */

enum { FILES_MAX = 1 << 16 }; /* that are looked at */

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

/* Is it "BEGINNING" "COOKIE." with another cookie than ours? Without a cookie there is no answer.
 */
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

/* ---- what a process looks for --------------------------------------------------------------- */

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
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if ((uint64_t)now.tv_sec < h->look_at_s) return false;
    h->look_at_s = (uint64_t)now.tv_sec + 1;
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

void live_home_leave(const struct live_home *h, const char *who)
{
    const bool left = h->folder >= 0 && unlinkat(h->folder, h->file, 0) && errno != ENOENT;
    char file[NAME_MAX + 64] = "";
    if (left) snprintf(file, sizeof file, "; its file %s stays: %s", h->file, strerror(errno));
    fprintf(stderr, "leat: %s ends: %s%s\n", who, h->reason, file);
    syslog(LOG_NOTICE, "%s ends: %s%s", who, h->reason, file);
}
