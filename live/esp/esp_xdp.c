/*
 * Routers in the kernel. The program on the devices is the data path: it holds its maps, and
 * whoever finds the program finds them. So nothing is pinned, nothing is left behind when the
 * devices go, packets pass while the router's process is away, and the next process takes the
 * stores over as they are.
 */
#include "esp_driver.h"
#include "live_xdp.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <esp_xdp.skel.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of this process: what it loaded. */
static struct {
    struct esp_xdp_bpf *program;
    struct ring_buffer *events;
} path;

/* ---- finding ------------------------------------------------------------------------------ */

void esp_xdp_let_go(struct esp_maps *maps)
{
    int *const all[] = { &maps->groups, &maps->config, &maps->counts, &maps->duplicates };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (*all[i] >= 0) close(*all[i]);
        *all[i] = -1;
    }
}

bool esp_xdp_find(const struct esp_config *c, struct esp_maps *maps, char *why)
{
    int program = -1;
    uint32_t flags;
    *why = 0;
    live_xdp_quiet();
    for (uint32_t i = 0; i < c->port_count && program < 0; i++)
        program = live_xdp_program(live_xdp_attached(c->port[i].device, &flags), "esp_xdp");
    *maps = (struct esp_maps){ -1, -1, -1, -1 };
    if (program < 0) return errno == EPERM ? esp_because(why, "no right to BPF programs") : false;
    maps->groups = live_xdp_map(program, "esp_groups", sizeof(struct esp_locked_group),
                                c->group_count);
    maps->config = live_xdp_map(program, "esp_config", sizeof(struct esp_config), 1);
    maps->counts = live_xdp_map(program, "esp_counts", sizeof(struct esp_counts), 1);
    maps->duplicates = live_xdp_map(program, "esp_duplicates", sizeof(struct leat_esp_duplicate),
                                    LEAT_ESP_DUPLICATES);
    close(program);
    if (maps->groups >= 0 && maps->config >= 0 && maps->counts >= 0 && maps->duplicates >= 0)
        return true;
    esp_xdp_let_go(maps);
    return esp_because(why, "the program on the devices is another version's, or of another size");
}

bool esp_xdp_counts(const struct esp_maps *maps, struct esp_counts *total)
{
    const uint32_t zero = 0;
    const int cpus = libbpf_num_possible_cpus();
    struct esp_counts *of_cpu = cpus > 0 ? calloc((size_t)cpus, sizeof *of_cpu) : NULL;
    const bool told = of_cpu && bpf_map_lookup_elem(maps->counts, &zero, of_cpu) == 0;
    uint64_t *sums = (uint64_t *)(void *)total;
    memset(total, 0, sizeof *total);
    for (int cpu = 0; told && cpu < cpus; cpu++) {
        const uint64_t *counts = (const uint64_t *)(const void *)&of_cpu[cpu];
        for (size_t i = 0; i < sizeof *total / sizeof *sums; i++)
            sums[i] += counts[i];
    }
    free(of_cpu);
    return told;
}

bool esp_xdp_group(const struct esp_maps *maps, uint32_t index, struct leat_esp_group *out)
{
    struct esp_locked_group locked;
    if (bpf_map_lookup_elem_flags(maps->groups, &index, &locked, BPF_F_LOCK)) return false;
    *out = locked.group;
    return true;
}

bool esp_xdp_publish(const struct esp_maps *maps, const struct leat_esp_duplicates *table,
                     uint64_t group)
{
    for (uint32_t way = 0; way < LEAT_ESP_DUPLICATE_WAYS; way++) {
        const uint32_t place = leat_esp_duplicate_place(group, way);
        if (bpf_map_update_elem(maps->duplicates, &place, &table->entry[place], 0)) return false;
    }
    return true;
}

bool esp_xdp_watch(const struct esp_maps *maps, uint32_t on)
{
    const uint32_t zero = 0;
    struct esp_config c;
    if (bpf_map_lookup_elem(maps->config, &zero, &c)) return false;
    c.tracing = on;
    return bpf_map_update_elem(maps->config, &zero, &c, 0) == 0;
}

/* ---- events ------------------------------------------------------------------------------- */

static int on_event(void *context, void *data, size_t len)
{
    struct esp_process *p = context;
    struct esp_sights *sights = &p->memory.share->sights;
    uint32_t kind;
    memcpy(&kind, data, sizeof kind);
    if (kind == ESP_EVENT_FRAME && len >= sizeof(struct esp_event)) {
        const struct esp_event *event = data;
        esp_manage_frame(p, event->frame, event->frame_len, event->port);
    } else if (kind == ESP_EVENT_SIGHT && len >= sizeof(struct esp_sight)) {
        memcpy(&sights->sight[sights->next % ESP_SIGHTS], data, sizeof(struct esp_sight));
        __atomic_store_n(&sights->next, sights->next + 1, __ATOMIC_RELEASE);
    }
    return 0;
}

static void serve(struct esp_process *p)
{
    (void)p;
    ring_buffer__poll(path.events, ESP_SERVE_MS);
}

/* ---- starting and ending ------------------------------------------------------------------ */

/* Not by value: the library looks at the gaps of its structures, which a copy need not keep. */
static void in_place_of(int program, struct bpf_xdp_attach_opts *opts)
{
    memset(opts, 0, sizeof *opts);
    opts->sz = sizeof *opts;
    opts->old_prog_fd = program;
}

/* In the place of a program of ours, or of none. Native, or as the driver can. */
static bool attach(uint32_t device, int program, bool *generic, char *why)
{
    char name[IF_NAMESIZE] = "?";
    uint32_t flags = XDP_FLAGS_DRV_MODE;
    const uint32_t id = live_xdp_attached(device, &flags);
    const int old = live_xdp_program(id, "esp_xdp");
    if_indextoname(device, name);
    if (id && old < 0)
        return esp_because(why, "%s has an XDP program of somebody else (id %u)", name, id);
    struct bpf_xdp_attach_opts replacing;
    in_place_of(old, &replacing);
    const struct bpf_xdp_attach_opts *how = old >= 0 ? &replacing : NULL;
    if (old < 0) flags = XDP_FLAGS_DRV_MODE | XDP_FLAGS_UPDATE_IF_NOEXIST;
    int err = bpf_xdp_attach((int)device, program, flags, how);
    if (err && old < 0) { /* the driver knows no XDP: behind it, then */
        flags = XDP_FLAGS_SKB_MODE | XDP_FLAGS_UPDATE_IF_NOEXIST;
        err = bpf_xdp_attach((int)device, program, flags, how);
    }
    if (old >= 0) close(old);
    if (err) return esp_because(why, "%s does not take the program: %s", name, strerror(-err));
    *generic |= (flags & XDP_FLAGS_SKB_MODE) != 0;
    return true;
}

static bool detach(uint32_t device, char *why)
{
    uint32_t flags = 0;
    const int program = live_xdp_program(live_xdp_attached(device, &flags), "esp_xdp");
    if (program < 0) return true;
    struct bpf_xdp_attach_opts replacing;
    in_place_of(program, &replacing);
    const int err = bpf_xdp_detach((int)device, flags, &replacing);
    close(program);
    return err ? esp_because(why, "the router stays: %s", strerror(-err)) : true;
}

static bool clear(const struct esp_config *c, char *why)
{
    bool cleared = true;
    live_xdp_quiet();
    for (uint32_t i = 0; i < c->port_count; i++)
        cleared &= detach(c->port[i].device, why);
    return cleared;
}

static bool same_stores(const struct esp_config *a, const struct esp_config *b)
{
    for (uint32_t i = 0; i < 1 + 2 * b->port_count; i++)
        if (a->store[i].node.id != b->store[i].node.id ||
            a->store[i].node.seed != b->store[i].node.seed ||
            a->store[i].mask != b->store[i].mask || a->store[i].first != b->store[i].first)
            return false;
    return true;
}

/* The stores of the program that is there already, where they have the same shape. */
static bool take_over(const struct esp_config *c)
{
    struct esp_maps maps;
    struct esp_config old;
    const uint32_t zero = 0;
    char ignored[LEAT_ROUTER_WHY_LEN];
    if (!esp_xdp_find(c, &maps, ignored)) return false;
    const bool same = bpf_map_lookup_elem(maps.config, &zero, &old) == 0 && same_stores(&old, c) &&
                      bpf_map__reuse_fd(path.program->maps.esp_groups, maps.groups) == 0 &&
                      bpf_map__reuse_fd(path.program->maps.esp_counts, maps.counts) == 0 &&
                      bpf_map__reuse_fd(path.program->maps.esp_duplicates, maps.duplicates) == 0;
    esp_xdp_let_go(&maps);
    return same;
}

static bool fill(const struct esp_config *c)
{
    const uint32_t zero = 0;
    const int devices = bpf_map__fd(path.program->maps.esp_devices);
    if (bpf_map_update_elem(bpf_map__fd(path.program->maps.esp_config), &zero, c, 0)) return false;
    struct if_nameindex *all = if_nameindex(); /* a route may leave by any device */
    for (struct if_nameindex *i = all; i && i->if_index; i++)
        bpf_map_update_elem(devices, &i->if_index, &i->if_index, 0);
    if (all) if_freenameindex(all);
    for (uint32_t i = 0; i < c->port_count; i++)
        if (bpf_map_update_elem(devices, &c->port[i].device, &c->port[i].device, 0)) return false;
    return true;
}

static bool put_on(const struct esp_config *c, char *note, char *why)
{
    bool generic = false;
    const int program = bpf_program__fd(path.program->progs.esp_xdp);
    for (uint32_t i = 0; i < c->port_count; i++) {
        if (attach(c->port[i].device, program, &generic, why)) continue;
        char ignored[LEAT_ROUTER_WHY_LEN];
        for (uint32_t j = 0; j < i; j++)
            detach(c->port[j].device, ignored);
        return false;
    }
    esp_because(note,
                generic ? ", behind a driver (generic mode)" : ", in the driver (native mode)");
    return true;
}

static bool start(struct esp_process *p, bool *kept, char *note, char *why)
{
    const struct esp_config *c = &p->memory.share->config;
    live_xdp_quiet();
    path.program = esp_xdp_bpf__open();
    if (!path.program) return esp_because(why, "libbpf: %s", strerror(errno));
    *kept = *kept && take_over(c);
    if (!*kept) bpf_map__set_max_entries(path.program->maps.esp_groups, c->group_count);
    bool good = esp_xdp_bpf__load(path.program) == 0;
    if (!good) esp_because(why, "the kernel does not take the program: %s", strerror(errno));
    if (good && !fill(c)) good = esp_because(why, "its maps cannot be filled: %s", strerror(errno));
    if (good)
        path.events = ring_buffer__new(bpf_map__fd(path.program->maps.esp_events), on_event, p,
                                       NULL);
    if (good && !path.events) good = esp_because(why, "its events: %s", strerror(errno));
    good = good && put_on(c, note, why);
    good = good && esp_xdp_find(c, &p->memory.maps, why);
    if (!good) esp_xdp_bpf__destroy(path.program);
    return good;
}

const struct esp_driver esp_xdp_driver = { "xdp", LEAT_ROUTER_XDP, start, serve, clear };
