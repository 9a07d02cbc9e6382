/*
 * Stations without XDP: a process per device with packet sockets, and a shared file with the same
 * page that XDP has in a map. The process holds a lock on the file, so a file without a lock was
 * left by a killed station: the next one starts with its registers.
 */
#include "live_aton_driver.h"
#include "live_guard.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_LEN = 96 };
static const char magic[8] = "leatRNG6", owner[] = "station";

struct share_mailbox {
    unsigned long read_at, written_at;
    uint32_t words[ATON_MAILBOX_LEN / sizeof(uint32_t)];
};

struct share {
    char magic[8];
    struct aton_config config;
    struct aton_page page;
    uint64_t counts[ATON_REASON_COUNT];
    uint32_t bell; /* of all mailboxes */
    struct share_mailbox mailbox, group[ATON_GROUPS];
    struct aton_window windows[ATON_SENDERS];
};

static struct aton_mailbox view_of(struct share_mailbox *mailbox)
{
    return (struct aton_mailbox){ .read_at = &mailbox->read_at,
                                  .written_at = &mailbox->written_at,
                                  .words = mailbox->words };
}

/* ---- the shared file ---------------------------------------------------------------------- */

/* Device numbers are local to a namespace, so its mark is in the name. */
static bool name_of(uint32_t device, char name[NAME_LEN], char *why)
{
    char mark[LIVE_HOME_MARK_LEN];
    if (!live_home_mark(mark)) return live_because(why, "/proc/self/ns/net: %s", strerror(errno));
    snprintf(name, NAME_LEN, "/leat-ring.%s.%u", mark, device);
    return true;
}

static bool is_whole(int fd)
{
    struct stat file;
    return fstat(fd, &file) == 0 && (size_t)file.st_size >= sizeof(struct share);
}

/* ---- who waits for a message -------------------------------------------------------------- */

static void ring_the_bell(uint32_t *bell)
{
    __atomic_add_fetch(bell, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A message that arrives after the first line changes the number, and nobody sleeps. */
static void wait_for_mail(struct aton_seat *seat, int timeout_ms)
{
    const uint32_t seen = __atomic_load_n(seat->bell, __ATOMIC_ACQUIRE);
    const struct timespec span = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
    if (aton_mailbox_is_empty(&seat->mailbox))
        syscall(SYS_futex, seat->bell, FUTEX_WAIT, seen, &span, NULL, 0);
}

/* ---- the process -------------------------------------------------------------------------- */

static void serve_one(struct share *share, struct aton_frame *f, int in, int out,
                      struct aton_bucket *buckets)
{
    const ssize_t got = recv(in, f->octets, ATON_FRAME_MAX + 1, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) { /* the device may be down for a while */
        const struct timespec pause = { .tv_nsec = 100000000 };
        nanosleep(&pause, NULL);
        return;
    }
    f->len = (uint32_t)got;
    struct aton_mailbox groups[ATON_GROUPS], mailbox = view_of(&share->mailbox);
    for (int i = 0; i < ATON_GROUPS; i++)
        groups[i] = view_of(&share->group[i]);
    mailbox.windows = share->windows;
    mailbox.groups = groups;
    enum aton_reason reason = aton_user_gate(f, &share->config, &share->page, buckets, &mailbox);
    if (reason == ATON_COPIED) ring_the_bell(&share->bell);
    if (reason <= ATON_NO_ROOM && send(out, f->octets, f->len, 0) < 0) reason = ATON_FAILED;
    __atomic_add_fetch(&share->counts[reason], 1, __ATOMIC_RELAXED);
}

_Noreturn static void serve(struct share *share, int in, int out, struct live_home *home)
{
    static struct aton_frame frame;
    static struct aton_bucket buckets[65536];
    while (!live_home_is_gone(home))
        serve_one(share, &frame, in, out, buckets);
    live_home_leave(home, "the station of a ring");
    _exit(0);
}

struct start {
    const struct aton_config *config;
    int file;
};

/* The child's side of joining: reports the result on `ready`, then serves. */
_Noreturn static void become_station(void *context, int ready)
{
    const struct start *start = context;
    const struct aton_config *c = start->config;
    char why[LEAT_ATON_HOST_WHY_LEN] = "";
    struct share *share = live_file_map(start->file, sizeof *share);
    struct live_home home;
    const struct timeval turn = { .tv_sec = 1 }; /* then it checks whether its device exists */
    const int in = aton_socket(c->device, why), out = aton_socket(c->out, why);
    if (!share) live_because(why, "the shared file: %s", strerror(errno));
    if (!*why && !live_file_lock(start->file))
        live_because(why, "another station serves this device");
    if (!*why) {
        share->config = *c;
        live_process_detach();
        if (chdir("/")) live_because(why, "/: %s", strerror(errno));
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn);
        live_home_open(&home, start->file);
        live_home_needs(&home, in, c->device, c->out);
        leat_live_guard(0, &home);
    }
    if (write(ready, why, sizeof why) != (ssize_t)sizeof why || *why) _exit(1);
    close(ready);
    serve(share, in, out, &home);
}

/* ---- joining and leaving ------------------------------------------------------------------ */

/* Registers as an earlier station left them, or fresh ones. */
static bool prepare(int file, const struct leat_aton_interface *fresh, const struct leat_keys *keys,
                    bool *kept, char *why)
{
    struct share *share = is_whole(file) ? live_file_map(file, sizeof *share) : NULL;
    *kept = share && memcmp(share->magic, magic, sizeof magic) == 0;
    if (share && !*kept) munmap(share, sizeof *share);
    if (!*kept) /* of zeros, which take no memory */
        share = ftruncate(file, 0) || ftruncate(file, sizeof *share)
                    ? NULL
                    : live_file_map(file, sizeof *share);
    if (!share) return live_because(why, "the shared file: %s", strerror(errno));
    if (!*kept) {
        share->page.interface = *fresh;
        /* not an earlier station's */
        share->page.issued = (uint32_t)live_now_ns(CLOCK_MONOTONIC) * 2654435761u;
        memcpy(share->magic, magic, sizeof magic);
    }
    share->page.interface.address = fresh->address;
    leat_key_ring_set(&share->page.keys, keys);
    munmap(share, sizeof *share);
    return true;
}

/* How it has joined, for later inspection. */
static void report_join(struct aton_config *c, int file, const char *note, bool kept)
{
    struct share *share = live_file_map(file, sizeof *share);
    aton_report_join(c, note, kept);
    if (!share) return;
    memcpy(share->config.why, c->why, sizeof c->why);
    munmap(share, sizeof *share);
}

static bool join(struct aton_config *c, const struct leat_aton_interface *fresh,
                 const struct leat_keys *keys, int *slower_at, char *why)
{
    char name[NAME_LEN], note[LEAT_ATON_HOST_WHY_LEN];
    bool kept = false;
    (void)slower_at; /* it has one mode */
    if (!name_of(c->device, name, why)) return false;
    live_home_sweep("leat-ring");
    const int file = live_file_open(name, O_CREAT, owner, false, why);
    if (file < 0) return false;
    struct start start = { c, file };
    const bool joined =
        live_file_end_holder(file, owner, why) && prepare(file, fresh, keys, &kept, why) &&
        live_process_start(become_station, &start, why, LEAT_ATON_HOST_WHY_LEN, why) && !*why;
    if (joined) {
        live_because(note, ", by process %d", (int)live_file_holder(file));
        report_join(c, file, note, kept);
    }
    if (!joined && !live_file_holder(file) && !kept) shm_unlink(name);
    close(file);
    return joined;
}

/* The seat by its open file, which is closed. */
static bool take_seat(int file, struct aton_seat *seat)
{
    struct share *share = is_whole(file) ? live_file_map(file, sizeof *share) : NULL;
    const pid_t process = live_file_holder(file);
    close(file);
    if (share && process && memcmp(share->magic, magic, sizeof magic) == 0) {
        *seat = (struct aton_seat){ .config = share->config,
                                    .page = &share->page,
                                    .counts = share->counts,
                                    .mailbox = view_of(&share->mailbox),
                                    .bell = &share->bell,
                                    .windows_map = -1,
                                    .process = (int)process,
                                    .mapping = share,
                                    .mapping_len = sizeof *share };
        return true;
    }
    if (share) munmap(share, sizeof *share);
    return false;
}

static enum leat_aton_host_end find(uint32_t device, struct aton_seat *seat, char *why)
{
    char name[NAME_LEN];
    if (!name_of(device, name, why)) return LEAT_ATON_HOST_FAILED;
    const int file = live_file_open(name, 0, owner, false, why);
    if (file < 0 && errno == ENOENT) return LEAT_ATON_HOST_ABSENT;
    if (file < 0) {
        const size_t len = strlen(why);
        snprintf(why + len, LIVE_WHY_LEN - len, "%s", ATON_LEND_HINT);
        return LEAT_ATON_HOST_FAILED;
    }
    if (take_seat(file, seat)) return LEAT_ATON_HOST_OK;
    live_because(why, "the process of this station has ended, expected leat ring join again (its "
                      "registers are kept)");
    return LEAT_ATON_HOST_FAILED;
}

static bool turn_to_group(struct aton_seat *seat, uint8_t group, char *why)
{
    struct share *share = seat->mapping;
    (void)why;
    seat->mailbox = view_of(&share->group[group]);
    return true;
}

static void let_go(struct aton_seat *seat)
{
    munmap(seat->mapping, seat->mapping_len);
}

static int lend(const struct aton_seat *seat, int fd[ATON_LENT_MAX])
{
    char name[NAME_LEN], ignored[LIVE_WHY_LEN];
    if (!name_of(seat->config.device, name, ignored)) return 0;
    fd[0] = live_file_open(name, 0, owner, false, ignored);
    return fd[0] >= 0;
}

static bool borrow(const int *fd, int count, struct aton_seat *seat)
{
    const int file = count == 1 ? fcntl(fd[0], F_DUPFD_CLOEXEC, 0) : -1;
    if (file < 0 || !take_seat(file, seat)) return false;
    close(fd[0]);
    return true;
}

static bool counts(struct aton_seat *seat, uint64_t total[ATON_REASON_COUNT])
{
    for (int i = 0; i < ATON_REASON_COUNT; i++)
        total[i] = __atomic_load_n(&seat->counts[i], __ATOMIC_RELAXED);
    return true;
}

static enum leat_aton_host_end leave(uint32_t device, char *why)
{
    char name[NAME_LEN];
    if (!name_of(device, name, why)) return LEAT_ATON_HOST_FAILED;
    const int file = live_file_open(name, 0, owner, false, why);
    if (file < 0) return errno == ENOENT ? LEAT_ATON_HOST_ABSENT : LEAT_ATON_HOST_FAILED;
    const bool ended = live_file_end_holder(file, owner, why);
    if (ended) shm_unlink(name);
    close(file);
    return ended ? LEAT_ATON_HOST_OK : LEAT_ATON_HOST_FAILED;
}

const struct aton_driver aton_packet_driver = { "packet",      join,  find,   turn_to_group,
                                                let_go,        lend,  borrow, counts,
                                                wait_for_mail, leave, NULL };
