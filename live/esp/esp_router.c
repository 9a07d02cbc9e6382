/*
 * Starting and ending a router. Its process holds a lock on the shared file, so a file without a
 * lock was left by a killed router: the next one starts with its stores.
 */
#include "esp_router.h"
#include "esp_plan.h"
#include "live_guard.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert((int)LEAT_ESP_ROUTER_WHY_LEN == (int)ESP_WHY_LEN, "one length of reasons");
enum { LEAVE_TRIES = 300 };
static const char magic[8] = "leatESP5";
static volatile sig_atomic_t ending;

/* In the order in which they are tried. */
static const struct esp_driver *const drivers[] = {
#ifdef HAVE_XDP
    &esp_xdp_driver,
#endif
    &esp_packet_driver, &esp_udp_driver
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

bool esp_because(char *why, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    vsnprintf(why, LEAT_ESP_ROUTER_WHY_LEN, text, list);
    va_end(list);
    return false;
}

static const struct esp_driver *driver_of(uint32_t number)
{
    for (int i = 0; i < DRIVERS; i++)
        if ((uint32_t)drivers[i]->number == number) return drivers[i];
    return NULL;
}

/* ---- the shared file ---------------------------------------------------------------------- */

bool esp_file_name(const char *router, char name[ESP_FILE_NAME_LEN], char *why)
{
    char mark[LIVE_HOME_MARK_LEN];
    if (!router) router = "esp";
    const size_t len = strlen(router);
    if (len < 1 || len > LEAT_ESP_ROUTER_NAME_MAX ||
        strspn(router, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
        return esp_because(why, "router '%.40s', expected 1 to %d of a-z, 0-9 and -", router,
                           LEAT_ESP_ROUTER_NAME_MAX);
    if (!live_home_mark(mark)) return esp_because(why, "/proc/self/ns/net: %s", strerror(errno));
    snprintf(name, ESP_FILE_NAME_LEN, "/leat-esp.%s.%s", mark, router);
    return true;
}

int esp_file_open(const char *name, int flags, char *why)
{
    struct stat about;
    const int fd = shm_open(name, flags | O_RDWR | O_CLOEXEC, 0600);
    const int err = fd < 0 || fstat(fd, &about) != 0 ? errno : 0;
    const bool is_file = err ? err != EINVAL && err != ELOOP : S_ISREG(about.st_mode);
    if (!err && is_file && about.st_uid == geteuid()) return fd;
    if (fd >= 0) close(fd);
    if (err == ENOENT)
        esp_because(why, "no router here, expected one from leat esp route");
    else if (!is_file) /* shm_open returns EINVAL for a folder, ELOOP for a link */
        esp_because(why,
                    "/dev/shm%s is in the way, expected a file of leat or nothing there: remove "
                    "it, or choose another --name",
                    name);
    else if (err && err != EACCES)
        esp_because(why, "the router's shared file: %s", strerror(err));
    else
        esp_because(why,
                    "the router's file /dev/shm%s is of another user, expected that user or "
                    "another --name",
                    name);
    errno = err ? err : EACCES;
    return -1;
}

pid_t esp_file_holder(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid;
}

struct esp_share *esp_file_map(int fd)
{
    struct stat file;
    if (fstat(fd, &file) || (size_t)file.st_size < sizeof(struct esp_share)) return NULL;
    struct esp_share *share = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   fd, 0);
    if (share == MAP_FAILED) return NULL;
    if (memcmp(share->magic, magic, sizeof magic) == 0 && share->len == (uint64_t)file.st_size)
        return share;
    munmap(share, (size_t)file.st_size);
    return NULL;
}

struct esp_locked_group *esp_file_groups(struct esp_share *share)
{
    return (struct esp_locked_group *)(void *)(share + 1);
}

static size_t file_len(const struct esp_config *c)
{
    const bool in_maps = c->driver == LEAT_ESP_ROUTER_XDP;
    return sizeof(struct esp_share) +
           (in_maps ? 0 : (size_t)c->group_count * sizeof(struct esp_locked_group));
}

/* A file of zeros with this config. */
static struct esp_share *file_begin(int fd, const struct esp_config *c)
{
    const size_t len = file_len(c);
    if (ftruncate(fd, 0) || ftruncate(fd, (off_t)len)) return NULL;
    struct esp_share *share = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (share == MAP_FAILED) return NULL;
    share->config = *c;
    share->len = len;
    memcpy(share->magic, magic, sizeof magic);
    return share;
}

/* ---- the process -------------------------------------------------------------------------- */

static void end_soon(int signal_number)
{
    (void)signal_number;
    ending = 1;
}

static void detach_from_terminal(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct sigaction end = { .sa_handler = end_soon };
    setsid();
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

struct told {
    char why[LEAT_ESP_ROUTER_WHY_LEN];
    bool started, kept;
};

/* The child's side: reports the result on `ready`, then serves. */
_Noreturn static void become_router(struct esp_share *share, const struct esp_driver *driver,
                                    bool kept, int file, int ready)
{
    struct told told = { .kept = kept };
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    static struct esp_process p;
    struct live_home home;
    p = (struct esp_process){ .memory = { .share = share, .maps = { -1, -1, -1, -1 } } };
    if (driver->number != LEAT_ESP_ROUTER_XDP) p.memory.group = esp_file_groups(share);
    told.started = fcntl(file, F_SETLK, &lock) == 0;
    if (!told.started) esp_because(told.why, "another process has become this router");
    told.started = told.started && esp_manage_open(&p, told.why) &&
                   driver->start(&p, &told.kept, told.why);
    if (told.started) {
        detach_from_terminal();
        live_home_open(&home, file);
        leat_live_guard(driver->number == LEAT_ESP_ROUTER_XDP ? LEAT_LIVE_XDP : 0, &home);
    } else { /* before reporting: another driver may be tried at once, while this process ends */
        lock.l_type = F_UNLCK;
        fcntl(file, F_SETLK, &lock);
    }
    if (write(ready, &told, sizeof told) != (ssize_t)sizeof told || !told.started) _exit(1);
    close(ready);
    while (!ending && !live_home_is_gone(&home))
        driver->serve(&p);
    if (!ending) live_home_leave(&home, "the ESP router");
    _exit(0);
}

static bool begin(struct esp_share *share, const struct esp_driver *driver, int file,
                  struct told *told)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC)) return esp_because(told->why, "a pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t first = fork();
    if (first == 0) {
        /* Forks twice, so that the router has no parent to wait for it. */
        if (fork() != 0) _exit(0);
        close(ready[0]);
        become_router(share, driver, told->kept, file, ready[1]);
    }
    close(ready[1]);
    while (first > 0 && waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    const ssize_t got = first > 0 ? read(ready[0], told, sizeof *told) : -1;
    close(ready[0]);
    if (got != (ssize_t)sizeof *told) return esp_because(told->why, "no process could be started");
    return told->started;
}

/* Ends the process that serves the file. */
static bool end_holder(int fd, char *why)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    for (int i = 0; i < LEAVE_TRIES; i++) {
        const pid_t pid = esp_file_holder(fd);
        if (!pid) return true;
        if (pid < 0) return esp_because(why, "the router's process is not to be seen from here");
        if (i == 0 && kill(pid, SIGTERM) && errno != ESRCH)
            return esp_because(why, "process %d stays: %s", (int)pid, strerror(errno));
        if (i == LEAVE_TRIES / 2) kill(pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return esp_because(why, "process %d does not end", (int)esp_file_holder(fd));
}

/* ---- starting ----------------------------------------------------------------------------- */

/* What an earlier router left in the file, for `c` to continue with; NULL: nothing that fits. */
static struct esp_share *earlier(int file, struct esp_config *c, bool has_id)
{
    struct esp_share *share = esp_file_map(file);
    if (!share) return NULL;
    const struct esp_driver *old = driver_of(share->config.driver);
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    struct esp_config kept = *c;
    if (share->config.driver == c->driver && file_len(c) == share->len &&
        esp_plan_keeps(&share->config, &kept, has_id)) {
        /* Windows of another length: their numbers are not comparable. */
        if (share->config.limits.window_ticks != kept.limits.window_ticks)
            memset(share->ingress, 0, sizeof share->ingress);
        *c = kept;
        share->config = *c;
        return share;
    }
    if (old) old->clear(&share->config, ignored);
    munmap(share, (size_t)share->len);
    return NULL;
}

/* A process that was killed in the middle of an instruction left its group half changed: its
 * contents cannot be trusted. */
static void mend(struct esp_share *share)
{
    struct esp_locked_group *group = esp_file_groups(share);
    for (uint32_t i = 0; i < share->config.group_count; i++)
        if (group[i].lock % 2) memset(&group[i], 0, sizeof group[i]);
}

static bool start_by(const struct esp_driver *driver, struct esp_config *c, bool has_id, int file,
                     char *reason, int *slower_at, char *why)
{
    struct told told = { .why = "" };
    c->driver = driver->number;
    struct esp_share *share = earlier(file, c, has_id);
    told.kept = share != NULL;
    if (told.kept && driver->number != LEAT_ESP_ROUTER_XDP) mend(share);
    if (!share) share = file_begin(file, c);
    if (!share) return esp_because(why, "the shared file: %s", strerror(errno));
    esp_because(share->why, "%.200s", reason);
    share->slower_at = -1;
    const bool started = begin(share, driver, file, &told);
    if (started)
        esp_because(why, "%s%.250s%s", share->why, share->mode,
                    told.kept ? "; took over the stores of an earlier router" : "");
    else
        esp_because(why, "%s", told.why);
    if (started && share->slower_at >= 0) *slower_at = (int)strlen(share->why) + share->slower_at;
    munmap(share, (size_t)share->len);
    return started;
}

static bool start_any(const struct leat_esp_router_config *config, struct esp_config *c, int file,
                      enum leat_esp_router_driver *used, int *slower_at, char *why)
{
    char reason[LEAT_ESP_ROUTER_WHY_LEN] = "it was asked for";
    char refused[LEAT_ESP_ROUTER_WHY_LEN] = "this leat was built without XDP";
    const bool any = config->driver == LEAT_ESP_ROUTER_ANY;
    const struct esp_driver *driver = driver_of(any ? LEAT_ESP_ROUTER_XDP : config->driver);
    if (any) esp_because(reason, "the kernel takes it");
    if (driver) {
        *used = driver->number;
        if (start_by(driver, c, config->node_id != 0, file, reason, slower_at, refused)) {
            memcpy(why, refused, sizeof refused);
            return true;
        }
    }
    if (!any)
        return esp_because(why, "no driver %s: %.250s", driver ? driver->name : "xdp", refused);
    esp_because(reason, "slower: no XDP: %.200s", refused);
    *slower_at = 0;
    *used = LEAT_ESP_ROUTER_PACKET;
    return start_by(&esp_packet_driver, c, config->node_id != 0, file, reason, slower_at, why);
}

/* Does it exist, and does it share a port with c? Then *port is its number in c. */
static bool shares_port(int file, const struct esp_config *c, uint32_t *port)
{
    struct esp_share *other = esp_file_map(file);
    bool shares = false, serves = esp_file_holder(file) != 0;
    if (!other) return false;
#ifdef HAVE_XDP
    struct esp_maps maps;
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    if (!serves && other->config.driver == LEAT_ESP_ROUTER_XDP &&
        esp_xdp_find(&other->config, &maps, ignored)) {
        serves = true; /* the kernel continues without the process */
        esp_xdp_let_go(&maps);
    }
#endif
    for (uint32_t i = 0; serves && !shares && i < c->port_count; i++) {
        if (!c->port[i].device) continue; /* an overlay has none */
        shares = esp_port_of(&other->config, c->port[i].device) != ESP_NO_PORT;
        *port = i;
    }
    munmap(other, (size_t)other->len);
    return shares;
}

/* Two routers on one device would both execute what arrives. */
static bool are_free(const char *own, const struct esp_config *c, char *why)
{
    DIR *folder = opendir("/dev/shm");                        /* where shm_open creates them */
    const size_t len = (size_t)(strrchr(own, '.') + 1 - own); /* up to the router's name */
    uint32_t port = 0;
    bool free = true;
    for (struct dirent *entry; free && folder && (entry = readdir(folder));) {
        char name[ESP_FILE_NAME_LEN], ignored[LEAT_ESP_ROUTER_WHY_LEN];
        if (snprintf(name, sizeof name, "/%s", entry->d_name) >= (int)sizeof name ||
            strncmp(name, own, len) != 0 || strcmp(name, own) == 0)
            continue;
        const int file = esp_file_open(name, 0, ignored);
        if (file < 0) continue;
        free = !shares_port(file, c, &port);
        close(file);
        if (!free)
            esp_because(why, "%s is a port of the router '%s', expected leat esp stop --name %s",
                        c->port[port].name, name + len, name + len);
    }
    if (folder) closedir(folder);
    return free;
}

enum leat_esp_router_end leat_esp_router_start(const struct leat_esp_router_config *config,
                                               enum leat_esp_router_driver *used, int *slower_at,
                                               char *why)
{
    static struct esp_config c;
    char name[ESP_FILE_NAME_LEN];
    *why = 0;
    *slower_at = -1;
    if (!esp_file_name(config->name, name, why) || !esp_plan(config, &c, why))
        return LEAT_ESP_ROUTER_WRONG;
    if (config->listen && !esp_plan_endpoint(config->listen, c.listen, &c.listen_port)) {
        esp_because(why, "--listen '%.60s', expected ADDRESS or ADDRESS:PORT", config->listen);
        return LEAT_ESP_ROUTER_WRONG;
    }
    if (config->driver == LEAT_ESP_ROUTER_UDP && !c.next_count) {
        esp_because(why, "an overlay without a next hop, expected --next-hop ADDRESS");
        return LEAT_ESP_ROUTER_WRONG;
    }
    live_home_sweep("leat-esp");
    if (!are_free(name, &c, why)) return LEAT_ESP_ROUTER_WRONG;
    const int file = esp_file_open(name, O_CREAT, why);
    if (file < 0) return LEAT_ESP_ROUTER_FAILED;
    struct stat before = { 0 };
    fstat(file, &before);
    const bool ran = esp_file_holder(file) > 0, ended = end_holder(file, why);
    const bool started = ended && start_any(config, &c, file, used, slower_at, why);
    explicit_bzero(&c, sizeof c);
    if (!started && before.st_size == 0) shm_unlink(name); /* otherwise an earlier one's is left */
    if (!started && ran && ended) {
        const size_t len = strlen(why);
        snprintf(why + len, LEAT_ESP_ROUTER_WHY_LEN - len, "; the router that was here has ended");
    }
    close(file);
    return started ? LEAT_ESP_ROUTER_OK : LEAT_ESP_ROUTER_FAILED;
}

enum leat_esp_router_end leat_esp_router_stop(const char *router, char *why)
{
    char name[ESP_FILE_NAME_LEN];
    *why = 0;
    if (!esp_file_name(router, name, why)) return LEAT_ESP_ROUTER_WRONG;
    const int file = esp_file_open(name, 0, why);
    if (file < 0) return errno == ENOENT ? LEAT_ESP_ROUTER_WRONG : LEAT_ESP_ROUTER_FAILED;
    struct esp_share *share = esp_file_map(file);
    bool ended = end_holder(file, why);
    if (ended && share) {
        const struct esp_driver *driver = driver_of(share->config.driver);
        ended = !driver || driver->clear(&share->config, why);
        munmap(share, (size_t)share->len);
    }
    if (ended) shm_unlink(name);
    close(file);
    return ended ? LEAT_ESP_ROUTER_OK : LEAT_ESP_ROUTER_FAILED;
}
