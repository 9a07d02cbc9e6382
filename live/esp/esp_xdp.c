/*
 * Routers in the kernel. The program on the devices is the data path: it holds its maps, and a
 * process that finds the program finds them. Nothing is pinned, and nothing is left behind when the
 * devices disappear. Packets pass while the router's process is away, and the next process takes
 * over the stores as they are.
 */
#include "esp_driver.h"
#include "live_xdp.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <esp_xdp.skel.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of this process: what it loaded. */
static struct {
    struct esp_xdp_bpf *program;
    struct ring_buffer *events;
} path;

/* ---- finding ------------------------------------------------------------------------------ */

void esp_xdp_let_go(struct esp_maps *maps)
{
    int *const all[] = { &maps->groups, &maps->config, &maps->counts, &maps->duplicates,
                         &maps->keys };
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
    *maps = (struct esp_maps){ -1, -1, -1, -1, -1 };
    if (program < 0)
        return errno == EPERM ? live_refused(why, "its program", LIVE_SYS_ADMIN, "") : false;
    maps->groups = live_xdp_map(program, "esp_groups", sizeof(struct esp_locked_group),
                                c->group_count);
    maps->config = live_xdp_map(program, "esp_config", sizeof(struct esp_config), 1);
    maps->counts = live_xdp_map(program, "esp_counts", sizeof(struct esp_counts), 1);
    maps->duplicates = live_xdp_map(program, "esp_duplicates", sizeof(struct leat_esp_duplicate),
                                    LEAT_ESP_DUPLICATES);
    maps->keys = live_xdp_map(program, "esp_keys", sizeof(struct leat_key_ring), 1);
    close(program);
    if (maps->groups >= 0 && maps->config >= 0 && maps->counts >= 0 && maps->duplicates >= 0 &&
        maps->keys >= 0)
        return true;
    esp_xdp_let_go(maps);
    return live_because(why, "the program on the devices is another version's, or of another size");
}

bool esp_xdp_counts(const struct esp_maps *maps, struct esp_counts *total)
{
    return live_xdp_sum(maps->counts, 0, (uint64_t *)(void *)total, sizeof *total / 8);
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

/* In place: a packet has the old keys or the new ones. */
bool esp_xdp_change_keys(const struct esp_maps *maps, const struct leat_keys *keys, char *why)
{
    struct leat_key_ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED,
                                      maps->keys, 0);
    if (ring == MAP_FAILED) return live_because(why, "the map of its keys: %s", strerror(errno));
    leat_key_ring_set(ring, keys);
    munmap(ring, sizeof *ring);
    return true;
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

/* ---- starting and ending ------------------------------------------------------------------ */

static bool clear(const struct esp_config *c, char *why)
{
    bool cleared = true, was_there;
    live_xdp_quiet();
    for (uint32_t i = 0; i < c->port_count; i++)
        cleared &= live_xdp_detach(c->port[i].device, "esp_xdp", &was_there, why);
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

/* The stores of the program that is already attached, if they have the same shape. */
static bool take_over(const struct esp_config *c)
{
    struct esp_maps maps;
    struct esp_config old;
    const uint32_t zero = 0;
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    if (!esp_xdp_find(c, &maps, ignored)) return false;
    const bool same = bpf_map_lookup_elem(maps.config, &zero, &old) == 0 && same_stores(&old, c) &&
                      bpf_map__reuse_fd(path.program->maps.esp_groups, maps.groups) == 0 &&
                      bpf_map__reuse_fd(path.program->maps.esp_counts, maps.counts) == 0 &&
                      bpf_map__reuse_fd(path.program->maps.esp_duplicates, maps.duplicates) == 0;
    esp_xdp_let_go(&maps);
    return same;
}

static bool put_config(const struct esp_config *c)
{
    const uint32_t zero = 0;
    return bpf_map_update_elem(bpf_map__fd(path.program->maps.esp_config), &zero, c, 0) == 0;
}

static bool put_keys(const struct leat_key_ring *keys)
{
    const uint32_t zero = 0;
    return bpf_map_update_elem(bpf_map__fd(path.program->maps.esp_keys), &zero, keys, 0) == 0;
}

/* A route may leave by any device. Devices that would lose what native XDP sends are left to the
 * kernel. */
static bool put_devices(const struct esp_config *c)
{
    const int devices = bpf_map__fd(path.program->maps.esp_devices);
    char ignored[LIVE_WHY_LEN];
    struct if_nameindex *all = if_nameindex();
    for (struct if_nameindex *i = all; i && i->if_index; i++) {
        if (c->generic || live_xdp_can_send(i->if_index, LIVE_XDP_OUT, ignored))
            bpf_map_update_elem(devices, &i->if_index, &i->if_index, 0);
        else
            bpf_map_delete_elem(devices, &i->if_index);
    }
    if (all) if_freenameindex(all);
    for (uint32_t i = 0; i < c->port_count; i++)
        if (bpf_map_update_elem(devices, &c->port[i].device, &c->port[i].device, 0)) return false;
    return true;
}

/* ---- on the devices ------------------------------------------------------------------------ */

static bool is_port(const struct esp_config *c, uint32_t device)
{
    return esp_port_of(c, device) != ESP_NO_PORT;
}

/* All configured output devices: ports and next hops. */
static bool can_send(const struct esp_config *c, char slow[LIVE_WHY_LEN])
{
    bool can = true;
    for (uint32_t i = 0; can && i < c->port_count; i++)
        can = live_xdp_can_send(c->port[i].device, LIVE_XDP_OVER, slow);
    for (uint32_t i = 0; can && i < c->next_count; i++)
        if (c->next[i].device && !is_port(c, c->next[i].device))
            can = live_xdp_can_send(c->next[i].device, LIVE_XDP_OUT, slow);
    if (can && c->bare_device && !is_port(c, c->bare_device))
        can = live_xdp_can_send(c->bare_device, LIVE_XDP_OUT, slow);
    return can;
}

/* Attaches to all devices in one mode: *generic becomes true if a driver supports no other. */
static bool attach_all(const struct esp_config *c, bool *generic, char *why)
{
    const int program = bpf_program__fd(path.program->progs.esp_xdp);
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    for (uint32_t i = 0; i < c->port_count; i++)
        if (!live_xdp_attach(c->port[i].device, program, "esp_xdp", generic, why))
            return clear(c, ignored), false;
    return true;
}

/* In the drivers if all of them send what comes from another; otherwise in generic mode on all of
 * them, since the kernel does the sending there. */
static bool put_on(struct esp_share *s, char *why)
{
    struct esp_config *c = &s->config;
    char slow[LIVE_WHY_LEN] = "";
    bool generic = false;
    if (!attach_all(c, &generic, why)) return false;
    if (!generic) generic = !can_send(c, slow);
    c->generic = generic;
    if (!put_config(c) || !put_devices(c))
        return live_because(why, "its maps cannot be filled: %s", strerror(errno));
    if (generic && !attach_all(c, &generic, why)) return false;
    s->slower_at = live_xdp_mode(generic, slow, s->mode);
    return true;
}

/* The other end of a veth may stop polling at any time. */
static void check_devices(struct esp_process *p)
{
    enum { TURNS = 5 }; /* of ESP_SERVE_MS, at least */
    static uint32_t turn;
    struct esp_share *s = p->memory.share;
    char ignored[LEAT_ESP_ROUTER_WHY_LEN], lost[LIVE_WHY_LEN];
    if (++turn % TURNS || s->config.generic || can_send(&s->config, lost)) return;
    put_on(s, ignored);
}

static void serve(struct esp_process *p)
{
    ring_buffer__poll(path.events, ESP_SERVE_MS);
    check_devices(p);
}

static bool start(struct esp_process *p, bool *kept, char *why)
{
    const struct esp_config *c = &p->memory.share->config;
    live_xdp_quiet();
    path.program = esp_xdp_bpf__open();
    if (!path.program) return live_because(why, "libbpf: %s", strerror(errno));
    *kept = *kept && take_over(c);
    if (!*kept) bpf_map__set_max_entries(path.program->maps.esp_groups, c->group_count);
    bool good = esp_xdp_bpf__load(path.program) == 0;
    if (!good)
        live_refused(why, "the kernel does not take the program", LIVE_XDP | LIVE_SYS_ADMIN, "");
    if (good && (!put_config(c) || !put_keys(&p->memory.share->keys)))
        good = live_because(why, "its maps cannot be filled: %s", strerror(errno));
    if (good)
        path.events = ring_buffer__new(bpf_map__fd(path.program->maps.esp_events), on_event, p,
                                       NULL);
    if (good && !path.events) good = live_because(why, "its events: %s", strerror(errno));
    if (good) live_xdp_keep(bpf_program__fd(path.program->progs.esp_xdp));
    good = good && put_on(p->memory.share, why);
    good = good && esp_xdp_find(c, &p->memory.maps, why);
    if (!good) esp_xdp_bpf__destroy(path.program);
    return good;
}

const struct esp_driver esp_xdp_driver = { "xdp", LEAT_ESP_ROUTER_XDP, start, serve, clear };
