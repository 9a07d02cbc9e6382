#include "live_xdp.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAPS_MAX = 16 };

static int say_nothing(enum libbpf_print_level level, const char *text, va_list list)
{
    (void)level, (void)text, (void)list;
    return 0;
}

void live_xdp_quiet(void)
{
    libbpf_set_print(say_nothing);
}

uint32_t live_xdp_attached(uint32_t device, uint32_t *flags)
{
    struct bpf_xdp_query_opts query;
    memset(&query, 0, sizeof query);
    query.sz = sizeof query;
    if (bpf_xdp_query((int)device, 0, &query)) return 0;
    *flags = query.drv_prog_id ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
    return query.drv_prog_id ? query.drv_prog_id : query.skb_prog_id;
}

static int kept = -1;

void live_xdp_keep(int program)
{
    kept = program;
}

/* A descriptor of a program that is attached to a device. */
static int open_program(uint32_t id)
{
    struct bpf_prog_info info = { 0 };
    uint32_t len = sizeof info;
    if (kept >= 0 && bpf_obj_get_info_by_fd(kept, &info, &len) == 0 && info.id == id)
        return fcntl(kept, F_DUPFD_CLOEXEC, 0);
    return bpf_prog_get_fd_by_id(id);
}

int live_xdp_program(uint32_t id, const char *name)
{
    struct bpf_prog_info info = { 0 };
    uint32_t len = sizeof info;
    const int fd = id ? open_program(id) : -1;
    if (fd < 0) return -1;
    if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0 && strcmp(info.name, name) == 0) return fd;
    close(fd);
    return -1;
}

int live_xdp_map(int program, const char *name, uint32_t value_len, uint32_t entries)
{
    uint32_t ids[MAPS_MAX], len = sizeof(struct bpf_prog_info);
    struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uint64_t)(uintptr_t)ids };
    if (bpf_obj_get_info_by_fd(program, &info, &len)) return -1;
    for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
        struct bpf_map_info map = { 0 };
        uint32_t map_len = sizeof map;
        const int fd = bpf_map_get_fd_by_id(ids[i]);
        if (fd < 0) continue;
        if (bpf_obj_get_info_by_fd(fd, &map, &map_len) == 0 && strcmp(map.name, name) == 0 &&
            map.value_size == value_len && (!entries || map.max_entries == entries))
            return fd;
        close(fd);
    }
    return -1;
}

bool live_xdp_sum(int map, uint32_t key, uint64_t *total, size_t count)
{
    const int cpus = libbpf_num_possible_cpus();
    uint64_t *of_cpus = cpus > 0 ? calloc((size_t)cpus * count, sizeof *of_cpus) : NULL;
    const bool is_read = of_cpus && bpf_map_lookup_elem(map, &key, of_cpus) == 0;
    memset(total, 0, count * sizeof *total);
    for (size_t i = 0; is_read && i < (size_t)cpus * count; i++)
        total[i % count] += of_cpus[i];
    free(of_cpus);
    return is_read;
}

/* Not by value: the library reads the padding of its structures, which a copy need not preserve. */
static void in_place_of(int program, struct bpf_xdp_attach_opts *opts)
{
    memset(opts, 0, sizeof *opts);
    opts->sz = sizeof *opts;
    opts->old_prog_fd = program;
}

/* Replaces `old`; -1: none. */
static int put(uint32_t device, int program, int old, uint32_t flags)
{
    struct bpf_xdp_attach_opts replacing;
    in_place_of(old, &replacing);
    if (old < 0) flags |= XDP_FLAGS_UPDATE_IF_NOEXIST;
    return bpf_xdp_attach((int)device, program, flags, old < 0 ? NULL : &replacing);
}

/* Whose program is in the way. */
static bool is_taken(const char *device, uint32_t id, char why[LIVE_WHY_LEN])
{
    struct bpf_prog_info info = { 0 };
    uint32_t len = sizeof info;
    const int fd = bpf_prog_get_fd_by_id(id);
    const bool is_known = fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0;
    if (fd >= 0) close(fd);
    return live_because(why,
                        "%s has another XDP program, %s (id %u), expected none: ip link set dev %s "
                        "xdp off removes it; --driver packet needs none",
                        device, is_known && *info.name ? info.name : "without a name", id, device);
}

bool live_xdp_attach(uint32_t device, int program, const char *name, bool *generic,
                     char why[LIVE_WHY_LEN])
{
    char device_name[IF_NAMESIZE] = "?";
    uint32_t has = 0;
    const uint32_t wanted = *generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
    const uint32_t id = live_xdp_attached(device, &has);
    int old = live_xdp_program(id, name);
    if_indextoname(device, device_name);
    if (id && old < 0) return is_taken(device_name, id, why);
    if (old >= 0 && has != wanted) {
        bool was_there;
        close(old);
        if (!live_xdp_detach(device, name, &was_there, why)) return false;
        old = -1;
    }
    int err = put(device, program, old, wanted);
    if (err && old < 0 && !*generic) { /* the driver has no XDP support: generic mode */
        err = put(device, program, old, XDP_FLAGS_SKB_MODE);
        *generic = err == 0;
    }
    if (old >= 0) close(old);
    if (err)
        return live_because(why, "%s does not take the program: %s", device_name, strerror(-err));
    return true;
}

int live_xdp_mode(bool generic, const char *slow, char text[LIVE_WHY_LEN])
{
    static const char behind[] = ", behind the driver (generic mode), ";
    if (generic)
        live_because(text, "%sslower: %s", behind, *slow ? slow : "a driver knows no XDP");
    else
        live_because(text, ", in the driver (native mode)");
    return generic ? (int)sizeof behind - 1 : -1;
}

bool live_xdp_detach(uint32_t device, const char *name, bool *was_there, char why[LIVE_WHY_LEN])
{
    uint32_t flags = 0;
    const int program = live_xdp_program(live_xdp_attached(device, &flags), name);
    *was_there = program >= 0;
    if (!*was_there) return true;
    struct bpf_xdp_attach_opts replacing;
    in_place_of(program, &replacing);
    const int err = bpf_xdp_detach((int)device, flags, &replacing);
    close(program);
    return err ? live_because(why, "the program stays: %s", strerror(-err)) : true;
}
