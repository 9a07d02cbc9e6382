/*
 * Stations in the kernel. The program on the device is the station: it holds its maps, and a
 * process that finds the program finds them. Nothing is pinned, and nothing is left behind when the
 * device disappears. A start that is killed at any point has either attached its program or not.
 */
#include "live_aton_driver.h"
#include "live_xdp.h"
#include <aton_xdp.skel.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- finding ------------------------------------------------------------------------------ */

/* Of a ring buffer's pages the reader's position is writable; after it come the writer's position
 * and the records. */
static bool mailbox_map(int fd, struct aton_mailbox *mailbox)
{
    const size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
    char *read_at = mmap(NULL, page_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *rest = mmap(NULL, page_len + ATON_MAILBOX_LEN, PROT_READ, MAP_SHARED, fd,
                      (off_t)page_len);
    if (read_at != MAP_FAILED && rest != MAP_FAILED) {
        *mailbox = (struct aton_mailbox){ (void *)read_at, (void *)rest, (void *)(rest + page_len),
                                          NULL, NULL };
        return true;
    }
    if (read_at != MAP_FAILED) munmap(read_at, page_len);
    if (rest != MAP_FAILED) munmap(rest, page_len + ATON_MAILBOX_LEN);
    return false;
}

static void mailbox_unmap(struct aton_mailbox *mailbox)
{
    const size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
    if (!mailbox->read_at) return;
    munmap(mailbox->read_at, page_len);
    munmap(mailbox->written_at, page_len + ATON_MAILBOX_LEN);
}

static bool seat_of(int program, struct aton_seat *seat)
{
    const uint32_t zero = 0;
    const int config = live_xdp_map(program, "aton_config", sizeof(struct aton_config), 0);
    const int page = live_xdp_map(program, "aton_page", sizeof(struct aton_page), 0);
    *seat = (struct aton_seat){ .counts_map = live_xdp_map(program, "aton_counts", 8, 0),
                                .mapping = MAP_FAILED,
                                .mapping_len = ATON_PAGE_LEN,
                                .mailbox_map = live_xdp_map(program, "aton_mailbox", 0, 0),
                                .windows_map = live_xdp_map(program, "aton_windows",
                                                            sizeof(struct aton_window),
                                                            ATON_SENDERS) };
    if (page >= 0)
        seat->mapping = mmap(NULL, ATON_PAGE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    const bool whole = config >= 0 && seat->counts_map >= 0 && seat->mapping != MAP_FAILED &&
                       seat->mailbox_map >= 0 && mailbox_map(seat->mailbox_map, &seat->mailbox) &&
                       bpf_map_lookup_elem(config, &zero, &seat->config) == 0;
    if (config >= 0) close(config);
    if (page >= 0) close(page);
    seat->page = seat->mapping;
    return whole;
}

static void let_go(struct aton_seat *seat)
{
    if (seat->mapping && seat->mapping != MAP_FAILED) munmap(seat->mapping, seat->mapping_len);
    mailbox_unmap(&seat->mailbox);
    if (seat->counts_map >= 0) close(seat->counts_map);
    if (seat->mailbox_map >= 0) close(seat->mailbox_map);
    if (seat->windows_map >= 0) close(seat->windows_map);
    for (int i = 0; seat->is_lent && i < ATON_GROUPS; i++)
        if (seat->lent_group[i] >= 0) close(seat->lent_group[i]);
}

static enum leat_aton_host_end find(uint32_t device, struct aton_seat *seat, char *why)
{
    uint32_t flags;
    live_xdp_quiet();
    const uint32_t id = live_xdp_attached(device, &flags);
    const int program = id ? live_xdp_program(id, "aton_xdp") : -1;
    if (program < 0) {
        if (!id || errno != EPERM) return LEAT_ATON_HOST_ABSENT;
        return live_refused(why, "its program", LIVE_SYS_ADMIN, ATON_LEND_HINT),
               LEAT_ATON_HOST_FAILED;
    }
    const bool found = seat_of(program, seat);
    close(program);
    if (found) return LEAT_ATON_HOST_OK;
    let_go(seat);
    live_because(why,
                 "the station on this device is another version's, or there is no right to it; "
                 "expected root, and leat ring join again");
    return LEAT_ATON_HOST_FAILED;
}

/* A map of the program on a device; -1: there is none. */
static int map_of(uint32_t device, const char *name, uint32_t value_len)
{
    uint32_t flags;
    const uint32_t id = live_xdp_attached(device, &flags);
    const int program = id ? live_xdp_program(id, "aton_xdp") : -1;
    if (program < 0) return -1;
    const int map = live_xdp_map(program, name, value_len, 0);
    close(program);
    return map;
}

/* The mailbox of a group. */
static int group_map(uint32_t device, uint8_t group)
{
    char name[BPF_OBJ_NAME_LEN];
    snprintf(name, sizeof name, "aton_group_%u", group);
    return map_of(device, name, 0);
}

static bool turn_to_group(struct aton_seat *seat, uint8_t group, char *why)
{
    struct aton_mailbox mailbox;
    const int map = seat->is_lent ? seat->lent_group[group] : group_map(seat->config.device, group);
    if (seat->is_lent) seat->lent_group[group] = -1;
    if (map < 0 || !mailbox_map(map, &mailbox)) {
        if (map >= 0) close(map);
        return live_because(why, "the station on this device has no groups, expected leat ring "
                                 "join again, by this version of leat");
    }
    mailbox_unmap(&seat->mailbox);
    close(seat->mailbox_map);
    seat->mailbox = mailbox;
    seat->mailbox_map = map;
    return true;
}

/* In the order of enum lent. */
enum lent { LENT_PAGE, LENT_COUNTS, LENT_MAILBOX, LENT_GROUPS };

static int lend(const struct aton_seat *seat, int fd[ATON_LENT_MAX])
{
    const uint32_t device = seat->config.device;
    fd[LENT_PAGE] = map_of(device, "aton_page", sizeof(struct aton_page));
    fd[LENT_COUNTS] = map_of(device, "aton_counts", sizeof(uint64_t));
    fd[LENT_MAILBOX] = map_of(device, "aton_mailbox", 0);
    for (uint8_t i = 0; i < ATON_GROUPS; i++)
        fd[LENT_GROUPS + i] = group_map(device, i);
    bool is_whole = true;
    for (int i = 0; i < ATON_LENT_MAX; i++)
        is_whole = is_whole && fd[i] >= 0;
    for (int i = 0; !is_whole && i < ATON_LENT_MAX; i++)
        if (fd[i] >= 0) close(fd[i]);
    return is_whole ? ATON_LENT_MAX : 0;
}

static bool borrow(const int *fd, int count, struct aton_seat *seat)
{
    if (count != ATON_LENT_MAX) return false;
    seat->mapping_len = ATON_PAGE_LEN;
    seat->mapping = mmap(NULL, ATON_PAGE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd[LENT_PAGE], 0);
    if (seat->mapping == MAP_FAILED) return false;
    if (!mailbox_map(fd[LENT_MAILBOX], &seat->mailbox)) {
        munmap(seat->mapping, seat->mapping_len);
        return false;
    }
    close(fd[LENT_PAGE]);
    seat->page = seat->mapping;
    seat->counts_map = fd[LENT_COUNTS];
    seat->mailbox_map = fd[LENT_MAILBOX];
    seat->windows_map = -1;
    seat->is_lent = true;
    memcpy(seat->lent_group, fd + LENT_GROUPS, sizeof seat->lent_group);
    return true;
}

static bool counts(struct aton_seat *seat, uint64_t total[ATON_REASON_COUNT])
{
    for (uint32_t i = 0; i < ATON_REASON_COUNT; i++)
        if (!live_xdp_sum(seat->counts_map, i, &total[i], 1)) return false;
    return true;
}

static void wait_for_mail(struct aton_seat *seat, int timeout_ms)
{
    struct pollfd wait = { .fd = seat->mailbox_map, .events = POLLIN };
    poll(&wait, 1, timeout_ms);
}

/* ---- joining and leaving ------------------------------------------------------------------ */

/* If the output may lose what native XDP sends, *why says so. */
static bool can_send(const struct aton_config *c, char why[LIVE_WHY_LEN])
{
    return c->turns_back || live_xdp_can_send(c->out, LIVE_XDP_OUT, why);
}

/* Replaces a program of ours, or none. Native if that is safe and the driver supports it. */
static bool attach(const struct aton_config *c, int program, int *slower_at,
                   char note[LIVE_WHY_LEN], char *why)
{
    char slow[LIVE_WHY_LEN] = "";
    bool generic = !can_send(c, slow);
    if (!live_xdp_attach(c->device, program, "aton_xdp", &generic, why)) return false;
    *slower_at = live_xdp_mode(generic, slow, note);
    return true;
}

/* With a key, received serials stay known; without one nothing must be known. */
static bool take_windows(struct aton_xdp_bpf *station, const struct aton_config *c,
                         const struct aton_seat *old)
{
    struct bpf_map *windows = station->maps.aton_windows;
    if (!c->has_key) return bpf_map__set_max_entries(windows, 1) == 0;
    return !old || old->windows_map < 0 || bpf_map__reuse_fd(windows, old->windows_map) == 0;
}

/* A map of the station that it replaces, if that has it. */
static bool take_map(struct bpf_map *map, int fd)
{
    const bool taken = fd < 0 || bpf_map__reuse_fd(map, fd) == 0;
    if (fd >= 0) close(fd);
    return taken;
}

static bool take_groups(struct aton_xdp_bpf *station, uint32_t device)
{
    struct bpf_map *const mailbox[ATON_GROUPS] = {
        station->maps.aton_group_0, station->maps.aton_group_1, station->maps.aton_group_2,
        station->maps.aton_group_3, station->maps.aton_group_4, station->maps.aton_group_5,
        station->maps.aton_group_6, station->maps.aton_group_7
    };
    for (uint8_t i = 0; i < ATON_GROUPS; i++)
        if (!take_map(mailbox[i], group_map(device, i))) return false;
    return true;
}

/* The program in the kernel, with the registers and mailboxes of the station that it replaces, if
 * any: processes that have mapped them, or wait for a message, go on. */
static struct aton_xdp_bpf *load(const struct aton_config *c, const struct aton_seat *old,
                                 char *why)
{
    struct aton_xdp_bpf *station = aton_xdp_bpf__open();
    const bool loaded = station && take_windows(station, c, old) &&
                        (!old ||
                         (bpf_map__reuse_fd(station->maps.aton_mailbox, old->mailbox_map) == 0 &&
                          take_groups(station, c->device) &&
                          take_map(station->maps.aton_page,
                                   map_of(c->device, "aton_page", sizeof(struct aton_page))))) &&
                        aton_xdp_bpf__load(station) == 0;
    if (loaded) return station;
    live_refused(why, "the kernel does not take the program", LIVE_XDP | LIVE_SYS_ADMIN, "");
    aton_xdp_bpf__destroy(station);
    return NULL;
}

/* Registers and sequence of the old station are in its map; or fresh ones. Its program goes on with
 * the new keys. */
static bool fill(struct aton_xdp_bpf *station, const struct aton_config *c,
                 const struct leat_aton_interface *fresh, const struct leat_keys *keys,
                 const struct aton_seat *old)
{
    const uint32_t zero = 0;
    struct aton_page page = { .interface = *fresh, /* a sequence of no earlier station */
                              .issued = (uint32_t)live_now_ns(CLOCK_MONOTONIC) * 2654435761u };
    leat_key_ring_set(old ? &old->page->keys : &page.keys, keys);
    return bpf_map_update_elem(bpf_map__fd(station->maps.aton_config), &zero, c, 0) == 0 &&
           (old || bpf_map_update_elem(bpf_map__fd(station->maps.aton_page), &zero, &page, 0) == 0);
}

static bool join(struct aton_config *c, const struct leat_aton_interface *fresh,
                 const struct leat_keys *keys, int *slower_at, char *why)
{
    struct aton_seat seat;
    char ignored[LEAT_ATON_HOST_WHY_LEN] = "", note[LIVE_WHY_LEN] = "";
    const uint32_t zero = 0;
    live_xdp_quiet();
    const bool kept = find(c->device, &seat, ignored) == LEAT_ATON_HOST_OK;
    const struct aton_seat *old = kept ? &seat : NULL;
    c->turns_back = c->out == c->device && live_xdp_can_send(c->out, LIVE_XDP_BACK, ignored);
    struct aton_xdp_bpf *station = load(c, old, why);
    bool joined = station && fill(station, c, fresh, keys, old);
    if (station && !joined) live_because(why, "its maps cannot be filled: %s", strerror(errno));
    joined = joined && attach(c, bpf_program__fd(station->progs.aton_xdp), slower_at, note, why);
    if (joined) {
        if (old) old->page->interface.address = fresh->address;
        if (*slower_at >= 0) *slower_at += (int)strlen(c->why);
        aton_report_join(c, note, kept);
        bpf_map_update_elem(bpf_map__fd(station->maps.aton_config), &zero, c, 0);
    }
    aton_xdp_bpf__destroy(station);
    if (kept) let_go(&seat);
    return joined;
}

static enum leat_aton_host_end leave(uint32_t device, char *why)
{
    bool was_there;
    live_xdp_quiet();
    if (!live_xdp_detach(device, "aton_xdp", &was_there, why)) return LEAT_ATON_HOST_FAILED;
    return was_there ? LEAT_ATON_HOST_OK : LEAT_ATON_HOST_ABSENT;
}

/* The other end of a veth may have stopped polling since. */
static bool works(const struct aton_config *c, char *why)
{
    char lost[LIVE_WHY_LEN];
    uint32_t flags = 0;
    live_xdp_attached(c->device, &flags);
    if (flags != XDP_FLAGS_DRV_MODE || can_send(c, lost)) return true;
    return live_because(
        why, "%s: what this station sends on is lost, expected leat ring join again", lost);
}

const struct aton_driver aton_xdp_driver = { "xdp",         join,  find,   turn_to_group,
                                             let_go,        lend,  borrow, counts,
                                             wait_for_mail, leave, works };
