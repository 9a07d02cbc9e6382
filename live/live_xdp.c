#include "live_xdp.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <stdarg.h>
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

int live_xdp_program(uint32_t id, const char *name)
{
    struct bpf_prog_info info = { 0 };
    uint32_t len = sizeof info;
    const int fd = id ? bpf_prog_get_fd_by_id(id) : -1;
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
