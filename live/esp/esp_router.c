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
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)LEAT_ESP_HOST_WHY_LEN == (int)LIVE_WHY_LEN, "one length of reasons");
_Static_assert((int)ESP_WHY_LEN == (int)LIVE_WHY_LEN, "one length of reasons");
_Static_assert(sizeof(struct esp_share) % 64 == 16, "see its filler");
static const char magic[8] = "leatESP6", owner[] = "router";
static volatile sig_atomic_t ending;

/* In the order in which they are tried. */
static const struct esp_driver *const drivers[] = {
#ifdef HAVE_XDP
    &esp_xdp_driver,
#endif
    &esp_packet_driver, &esp_udp_driver
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

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
        return live_because(why, "router '%.40s', expected 1 to %d of a-z, 0-9 and -", router,
                            LEAT_ESP_ROUTER_NAME_MAX);
    if (!live_home_mark(mark)) return live_because(why, "/proc/self/ns/net: %s", strerror(errno));
    snprintf(name, ESP_FILE_NAME_LEN, "/leat-esp.%s.%s", mark, router);
    return true;
}

int esp_file_open(const char *name, int flags, char *why)
{
    const int file = live_file_open(name, flags, owner, true, why);
    if (file < 0 && errno == ENOENT)
        live_because(why, "no router here, expected one from leat esp route");
    return file;
}

struct esp_share *esp_file_map(int fd)
{
    struct stat file;
    if (fstat(fd, &file) || (size_t)file.st_size < sizeof(struct esp_share)) return NULL;
    struct esp_share *share = live_file_map(fd, (size_t)file.st_size);
    if (!share) return NULL;
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
    struct esp_share *share = live_file_map(fd, len);
    if (!share) return NULL;
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

struct start {
    struct esp_share *share;
    const struct esp_driver *driver;
    bool kept;
    int file;
};

struct report {
    char why[LEAT_ESP_ROUTER_WHY_LEN];
    bool started, kept;
};

/* The child's side: reports the result on `ready`, then serves. */
_Noreturn static void become_router(void *context, int ready)
{
    const struct start *start = context;
    const struct esp_driver *driver = start->driver;
    const struct sigaction end = { .sa_handler = end_soon };
    struct report report = { .kept = start->kept };
    static struct esp_process p;
    struct live_home home;
    p = (struct esp_process){ .memory = { .share = start->share, .maps = { -1, -1, -1, -1, -1 } } };
    if (driver->number != LEAT_ESP_ROUTER_XDP) p.memory.group = esp_file_groups(start->share);
    report.started = live_file_lock(start->file);
    if (!report.started) live_because(report.why, "another process has become this router");
    report.started = report.started && esp_manage_open(&p, report.why) &&
                     driver->start(&p, &report.kept, report.why);
    if (report.started) {
        live_process_detach();
        sigaction(SIGINT, &end, NULL);
        sigaction(SIGTERM, &end, NULL);
        signal(SIGPIPE, SIG_IGN);
        live_home_open(&home, start->file);
        leat_live_guard(driver->number == LEAT_ESP_ROUTER_XDP ? LEAT_LIVE_XDP : 0, &home);
    } else { /* before reporting: another driver may be tried at once, while this process ends */
        close(start->file); /* and with it the lock */
    }
    if (write(ready, &report, sizeof report) != (ssize_t)sizeof report || !report.started) _exit(1);
    close(ready);
    while (!ending && !live_home_is_gone(&home))
        driver->serve(&p);
    if (!ending) live_home_leave(&home, "the ESP router");
    _exit(0);
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
    if (old && old->clear) old->clear(&share->config, ignored);
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

static bool start_by(const struct esp_driver *driver, const struct leat_esp_router_config *config,
                     struct esp_config *c, int file, char *reason, int *slower_at, char *why)
{
    struct report report = { .why = "" };
    c->driver = driver->number;
    struct esp_share *share = earlier(file, c, config->node_id != 0);
    struct start start = { share, driver, share != NULL, file };
    if (share && driver->number != LEAT_ESP_ROUTER_XDP) mend(share);
    if (!share) start.share = share = file_begin(file, c);
    if (!share) return live_because(why, "the shared file: %s", strerror(errno));
    leat_key_ring_set(&share->keys, &config->keys);
    live_because(share->why, "%.200s", reason);
    share->slower_at = -1;
    const bool started = live_process_start(become_router, &start, &report, sizeof report,
                                            report.why) &&
                         report.started;
    if (started)
        live_because(why, "%s%.250s%s", share->why, share->mode,
                     report.kept ? "; took over the stores of an earlier router" : "");
    else
        live_because(why, "%s", report.why);
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
    if (any) live_because(reason, "the kernel takes it");
    if (driver) {
        *used = driver->number;
        if (start_by(driver, config, c, file, reason, slower_at, refused)) {
            memcpy(why, refused, sizeof refused);
            return true;
        }
    }
    if (!any)
        return live_because(why, "no driver %s: %.250s", driver ? driver->name : "xdp", refused);
    live_because(reason, "slower: no XDP: %.200s", refused);
    *slower_at = 0;
    *used = LEAT_ESP_ROUTER_PACKET;
    return start_by(&esp_packet_driver, config, c, file, reason, slower_at, why);
}

/* Does it exist, and does it share a port with c? Then *port is its number in c. */
static bool shares_port(int file, const struct esp_config *c, uint32_t *port)
{
    struct esp_share *other = esp_file_map(file);
    bool shares = false, serves = live_file_holder(file) != 0;
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
            live_because(why, "%s is a port of the router '%s', expected leat esp stop --name %s",
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
        live_because(why, "--listen '%.60s', expected ADDRESS or ADDRESS:PORT", config->listen);
        return LEAT_ESP_ROUTER_WRONG;
    }
    if (config->driver == LEAT_ESP_ROUTER_UDP && !c.next_count) {
        live_because(why, "an overlay without a next hop, expected --next-hop ADDRESS");
        return LEAT_ESP_ROUTER_WRONG;
    }
    live_home_sweep("leat-esp");
    if (!are_free(name, &c, why)) return LEAT_ESP_ROUTER_WRONG;
    const int file = esp_file_open(name, O_CREAT, why);
    if (file < 0) return LEAT_ESP_ROUTER_FAILED;
    struct stat before = { 0 };
    fstat(file, &before);
    const bool ran = live_file_holder(file) > 0, ended = live_file_end_holder(file, owner, why);
    const bool started = ended && start_any(config, &c, file, used, slower_at, why);
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
    bool ended = live_file_end_holder(file, owner, why);
    if (ended && share) {
        const struct esp_driver *driver = driver_of(share->config.driver);
        ended = !driver || !driver->clear || driver->clear(&share->config, why);
        munmap(share, (size_t)share->len);
    }
    if (ended) shm_unlink(name);
    close(file);
    return ended ? LEAT_ESP_ROUTER_OK : LEAT_ESP_ROUTER_FAILED;
}
