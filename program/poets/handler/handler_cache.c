#include "handler_cache.h"
#include "handler_seal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40, /* as in the kernel */
    TRIES_MAX = 100,
    SHOWN = 120, /* octets of a path in a message */
    OTHERS_WRITE = S_IWGRP | S_IWOTH,
};

/* ---- the path to the folder ------------------------------------------------------------------ */

/* A walk down a path, folder by folder. */
struct walk {
    char *why;
    uid_t self, root; /* the owner of / can do everything, whatever the uid is in a container */
    unsigned links;
};

/* A part of a path: its folder, and the path up to it for messages. */
struct part {
    int at;
    const char *path;
    int len;
    bool ours; /* leat's own folder */
};

static int walk_down(struct walk *w, int at, const char *path, const char *ours);

/* The first refusal says why. */
__attribute__((format(printf, 2, 3))) static int refuse(struct walk *w, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    if (!*w->why) vsnprintf(w->why, LEAT_HANDLER_WHY_LEN, text, list);
    va_end(list);
    return -1;
}

static int follow(struct walk *w, int at, int link)
{
    char target[PATH_MAX];
    const ssize_t len = readlinkat(link, "", target, sizeof target - 1);
    if (len < 0 || ++w->links > LINKS_MAX)
        return refuse(w, "too many links on the way to the folder of compiled handlers");
    target[len] = '\0';
    return walk_down(w,
                     *target == '/' ? open("/", O_PATH | O_CLOEXEC) : fcntl(at, F_DUPFD_CLOEXEC, 0),
                     target, NULL);
}

/* Returns `opened`, or the target of the link; -1: others can change it. */
static int check_part(struct walk *w, const struct part *part, int opened)
{
    struct stat s;
    const int len = part->len < SHOWN ? part->len : SHOWN;
    if (fstat(opened, &s) != 0) return refuse(w, "%.*s: %s", len, part->path, strerror(errno));
    if (s.st_uid != w->self && (part->ours || (s.st_uid != 0 && s.st_uid != w->root)))
        return refuse(w,
                      "%.*s belongs to user %u, expected user %u: set XDG_CACHE_HOME to a folder "
                      "of your own",
                      len, part->path, (unsigned)s.st_uid, (unsigned)w->self);
    if (S_ISLNK(s.st_mode) && !part->ours) return follow(w, part->at, opened);
    if (!S_ISDIR(s.st_mode)) return refuse(w, "%.*s: expected a folder", len, part->path);
    if (part->ours && s.st_mode & OTHERS_WRITE)
        return refuse(w,
                      "%.*s: others may write there, and its files run with your rights: remove "
                      "those that are not yours, then chmod go-w %.*s",
                      len, part->path, len, part->path);
    return opened;
}

static int enter(struct walk *w, const struct part *part, const char *name)
{
    static const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    int opened = openat(part->at, name, flags);
    if (opened < 0 && errno == ENOENT && (mkdirat(part->at, name, 0700) == 0 || errno == EEXIST))
        opened = openat(part->at, name, flags);
    if (opened < 0)
        return refuse(w, "%.*s: cannot be made: %s: set XDG_CACHE_HOME to a folder of your own",
                      part->len < SHOWN ? part->len : SHOWN, part->path, strerror(errno));
    const int next = check_part(w, part, opened);
    if (next != opened) close(opened);
    return next;
}

/* Takes over `at`. The path from `ours` on consists of leat's own folders. */
static int walk_down(struct walk *w, int at, const char *path, const char *ours)
{
    char name[NAME_MAX + 1];
    for (const char *from = path; at >= 0;) {
        from += strspn(from, "/");
        const size_t len = strcspn(from, "/");
        if (!len) break;
        const struct part part = { at, path, (int)(from + len - path), ours && from >= ours };
        snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), from);
        const int next = enter(w, &part, name);
        close(at);
        at = next;
        from += len;
    }
    return at;
}

/* Without HOME it is the home folder in the user database: no other place is the user's own. */
static const char *home_of_user(void)
{
    const char *home = getenv("HOME");
    if (home && *home == '/') return home;
    const struct passwd *user = getpwuid(geteuid());
    return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : NULL;
}

bool leat_handler_cache_open(struct leat_handler_cache *cache)
{
    const char *base = getenv("XDG_CACHE_HOME"), *below = "";
    char path[PATH_MAX];
    struct stat top;
    struct walk w = { .why = cache->why, .self = geteuid() };
    *cache = (struct leat_handler_cache){ .folder = -1, .build = -1 };
    if (!base || *base != '/') base = home_of_user(), below = "/.cache";
    if (!base || snprintf(path, sizeof path, "%s%s/leat/poets", base, below) >= (int)sizeof path)
        return refuse(&w, "no folder for compiled handlers: set HOME or XDG_CACHE_HOME to a folder "
                          "of your own") >= 0;
    const int at = open("/", O_PATH | O_CLOEXEC);
    if (at >= 0 && fstat(at, &top) == 0) w.root = top.st_uid;
    cache->folder = walk_down(&w, at, path, path + strlen(base) + strlen(below));
    return cache->folder >= 0;
}

/* ---- the folder of a build ------------------------------------------------------------------ */

static void empty_folder(DIR *folder)
{
    for (const struct dirent *e; (e = readdir(folder));)
        unlinkat(dirfd(folder), e->d_name, 0); /* . and .. stay */
}

/* Left by a killed leat: nobody holds its lock any more. */
static void remove_stale(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stale = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fdopendir(fd) : NULL;
    if (stale) {
        empty_folder(stale);
        unlinkat(folder, name, AT_REMOVEDIR);
        closedir(stale);
    } else if (fd >= 0) {
        close(fd);
    }
}

static void remove_all_stale(int cache)
{
    const int fd = openat(cache, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        if (strncmp(e->d_name, "build.", 6) == 0) remove_stale(cache, e->d_name);
    if (folder) closedir(folder);
}

/* Locks it, so that it is not taken for a stale one; false: it was removed before. */
static bool lock(int build)
{
    struct stat s;
    return flock(build, LOCK_EX | LOCK_NB) == 0 && fstat(build, &s) == 0 && s.st_nlink;
}

bool leat_handler_cache_build(struct leat_handler_cache *cache)
{
    if (cache->build < 0) remove_all_stale(cache->folder);
    for (int i = 0; cache->build < 0 && i < TRIES_MAX; i++) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number) return false;
        snprintf(cache->name, sizeof cache->name, "build.%016llx", (unsigned long long)number);
        if (mkdirat(cache->folder, cache->name, 0700) == 0)
            cache->build = openat(cache->folder, cache->name,
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        else if (errno != EEXIST)
            break;
        if (cache->build >= 0 && !lock(cache->build)) {
            close(cache->build);
            cache->build = -1;
        }
    }
    return cache->build >= 0;
}

void leat_handler_cache_close(struct leat_handler_cache *cache)
{
    DIR *folder = cache->build < 0 ? NULL : fdopendir(cache->build);
    if (folder) empty_folder(folder);
    if (folder) closedir(folder);
    if (*cache->name) unlinkat(cache->folder, cache->name, AT_REMOVEDIR);
    if (cache->folder >= 0) close(cache->folder);
    *cache = (struct leat_handler_cache){ .folder = -1, .build = -1 };
}

/* ---- files ---------------------------------------------------------------------------------- */

/* -1: it does not exist, or is not a file that only the user can write. */
static int open_own(int folder, const char *name)
{
    struct stat s;
    /* O_NONBLOCK: a pipe of this name does not block us. */
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
        !(s.st_mode & OTHERS_WRITE))
        return fd;
    close(fd);
    return -1;
}

int leat_handler_cache_find(const struct leat_handler_cache *cache, const char *name)
{
    return open_own(cache->folder, name);
}

int leat_handler_cache_keep(const struct leat_handler_cache *cache, const char *name)
{
    const int old = open_own(cache->folder, name);
    /* Nobody else can reach the build's folder, so any mode is safe until now. */
    const int fd = openat(cache->build, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool has_run = old >= 0 && fd >= 0 && leat_handler_has_run(old) &&
                         leat_handler_seal_same(old, fd);
    if (old >= 0) close(old);
    if (fd >= 0 && fchmod(fd, has_run ? 0700 : 0600) == 0 &&
        renameat(cache->build, name, cache->folder, name) == 0)
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

bool leat_handler_has_run(int object)
{
    struct stat s;
    return fstat(object, &s) == 0 && s.st_mode & S_IXUSR;
}

void leat_handler_set_run(int object)
{
    (void)!fchmod(object, 0700); /* otherwise it is reported once more */
}
