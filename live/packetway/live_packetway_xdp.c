/*
 * Loading, attaching and filling. The program is attached by links that this process owns: they end
 * with it, in any case, so nothing is left behind that forwards by old tables.
 */
#include "live_packetway_xdp.h"
#include "live_packetway_shared.h"
#include "live_xdp.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <packetway_xdp.skel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct packetway_xdp {
    struct packetway_xdp_bpf *program;
    int links[PACKETWAY_SANS_MAX];
    uint32_t link_count;
    bool generic;
    uint32_t version[PACKETWAY_SANS_MAX]; /* of the fib in the maps */
    bool published[PACKETWAY_SANS_MAX];
};

/* ---- filling ------------------------------------------------------------------------------- */

static bool put(const struct bpf_map *map, const void *key, const void *value)
{
    return bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY) == 0;
}

/* Removes what a half-router no longer knows; `wanted` false: everything of it. */
static void take_out(struct packetway_xdp *x, const struct packetway_fib *fib, bool wanted)
{
    const int fd = bpf_map__fd(x->program->maps.packetway_entries);
    struct packetway_key key, next;
    bool more = bpf_map_get_next_key(fd, NULL, &key) == 0;
    while (more) {
        more = bpf_map_get_next_key(fd, &key, &next) == 0;
        if (key.me == fib->me && !(wanted && leat_packetway_fib_exact(&fib->fib, key.dt)))
            bpf_map_delete_elem(fd, &key);
        key = next;
    }
}

static bool put_native(struct packetway_xdp *x, const struct packetway_fib *fib, uint32_t number)
{
    const uint32_t key = fib->first_native + number - 1;
    return !number || put(x->program->maps.packetway_natives, &key, &fib->fib.natives[number - 1]);
}

static bool put_entries(struct packetway_xdp *x, const struct packetway_fib *fib)
{
    const uint32_t slots = UINT32_C(1) << fib->fib.slot_bits;
    bool good = true;
    for (uint32_t i = 0; good && i < slots; i++) {
        const struct packetway_entry value = { fib->fib.entries[i] };
        const struct packetway_key key = { fib->me, value.entry.dt };
        if (!key.dt) continue;
        good = put_native(x, fib, value.entry.native) &&
               put(x->program->maps.packetway_entries, &key, &value);
    }
    return good;
}

static uint32_t kind_of(const struct packetway_half *h, uint32_t half,
                        const struct packetway_mac *key)
{
    const struct packetway_node *node = packetway_san_node_at(&h->san, key->mac, PACKETWAY_MAC_LEN);
    if (h->san.plan.udp || key->half != half || !node) return 0;
    return node->router ? PACKETWAY_IS_BUDDY : PACKETWAY_IS_HOST;
}

/* The known nodes, by MAC. */
static bool put_macs(struct packetway_xdp *x, const struct packetway_half *h, uint32_t half)
{
    const struct bpf_map *map = x->program->maps.packetway_macs;
    struct packetway_mac key, next;
    bool more = bpf_map_get_next_key(bpf_map__fd(map), NULL, &key) == 0;
    bool good = true;
    while (more) {
        more = bpf_map_get_next_key(bpf_map__fd(map), &key, &next) == 0;
        if (key.half == half && !kind_of(h, half, &key))
            bpf_map_delete_elem(bpf_map__fd(map), &key);
        key = next;
    }
    for (uint32_t i = 0; good && !h->san.plan.udp && i < h->san.node_count; i++) {
        struct packetway_mac there = { .half = half };
        memcpy(there.mac, h->san.nodes[i].native.octets, PACKETWAY_MAC_LEN);
        const uint32_t kind = kind_of(h, half, &there);
        good = put(map, &there, &kind);
    }
    return good;
}

static bool put_buddies(struct packetway_xdp *x, const struct packetway_fib *fib)
{
    bool good = true;
    for (uint32_t i = 0; good && i < fib->fib.buddy_count; i++)
        good = !fib->fib.buddies[i].up || put_native(x, fib, fib->fib.buddies[i].native);
    return good;
}

bool packetway_xdp_publish(struct packetway_xdp *x, struct packetway_router *r)
{
    bool all = true, keyed = false;
    for (uint32_t i = 0; i < r->count; i++)
        keyed = keyed || packetway_san_is_keyed(&r->half[i].san);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct leat_packetway_fib *now = leat_packetway_router_fib(r->half[i].engine);
        if (x->published[i] && x->version[i] == now->version) continue;
        const struct packetway_fib fib = { .fib = *now,
                                           .me = r->half[i].san.plan.address,
                                           .first_native = i * PACKETWAY_NODES_MAX,
                                           .keyed = keyed };
        take_out(x, &fib, true);
        const bool good = put_macs(x, &r->half[i], i) && put_buddies(x, &fib) &&
                          put_entries(x, &fib) && put(x->program->maps.packetway_fibs, &i, &fib);
        if (!good) take_out(x, &fib, false); /* then everything is passed up */
        x->published[i] = true;
        x->version[i] = now->version;
        all &= good;
    }
    return all;
}

uint64_t packetway_xdp_forwarded(const struct packetway_xdp *x, uint32_t san)
{
    uint64_t sum;
    live_xdp_sum(bpf_map__fd(x->program->maps.packetway_forwarded), san, &sum, 1);
    return sum;
}

/* ---- loading ------------------------------------------------------------------------------- */

static bool load(struct packetway_xdp *x, uint32_t entries, char *why)
{
    x->program = packetway_xdp_bpf__open();
    if (!x->program) return live_because(why, "libbpf: %s", strerror(errno));
    bpf_map__set_max_entries(x->program->maps.packetway_entries, entries);
    if (packetway_xdp_bpf__load(x->program) == 0) return true;
    return live_refused(why, "the kernel does not take the program", LIVE_XDP, "");
}

static bool attach(struct packetway_xdp *x, const struct packetway_san *san, bool generic,
                   char *why)
{
    struct bpf_link_create_opts how;
    memset(&how, 0, sizeof how); /* the library reads its padding, too */
    how.sz = sizeof how;
    how.flags = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
    const int program = bpf_program__fd(x->program->progs.packetway_xdp);
    const int link = bpf_link_create(program, (int)san->device, BPF_XDP, &how);
    if (link < 0)
        return live_because(why,
                            errno == EBUSY ? "%s has an XDP program already: %s"
                                           : "%s does not take the program: %s",
                            san->plan.device, strerror(errno));
    x->links[x->link_count++] = link;
    return true;
}

static void detach_all(struct packetway_xdp *x)
{
    while (x->link_count)
        close(x->links[--x->link_count]);
}

static bool attach_all(struct packetway_xdp *x, const struct packetway_router *r, bool generic,
                       char *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < r->count; i++)
        if (!r->half[i].san.plan.udp) good = attach(x, &r->half[i].san, generic, why);
    if (!good) detach_all(x);
    return good;
}

static bool can_send(const struct packetway_router *r, char slow[LIVE_WHY_LEN])
{
    bool can = true;
    for (uint32_t i = 0; can && i < r->count; i++)
        if (!r->half[i].san.plan.udp)
            can = live_xdp_can_send(r->half[i].san.device, LIVE_XDP_OVER, slow);
    return can;
}

/* In the drivers if all of them send what comes from another; otherwise in generic mode on all of
 * them, since the kernel does the sending there. */
static bool put_on(struct packetway_xdp *x, struct packetway_router *r, char *note, char *why)
{
    char slow[LIVE_WHY_LEN] = "";
    bool generic = !attach_all(x, r, false, why);
    if (!generic && !can_send(r, slow)) {
        detach_all(x);
        generic = true;
    }
    if (generic && !attach_all(x, r, true, why)) return false;
    r->slower_at = live_xdp_mode(generic, slow, note);
    x->generic = generic;
    return true;
}

static bool put_ports(struct packetway_xdp *x, const struct packetway_router *r, char *why)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct packetway_san *san = &r->half[i].san;
        struct packetway_port port = { .device = san->device };
        if (san->plan.udp) continue;
        memcpy(port.mac, san->mac, PACKETWAY_MAC_LEN);
        if (!put(x->program->maps.packetway_ports, &i, &port) ||
            !put(x->program->maps.packetway_devices, &i, &san->device))
            return live_because(why, "its maps cannot be filled: %s", strerror(errno));
    }
    return true;
}

struct packetway_xdp *packetway_xdp_open(struct packetway_router *r, char *note, char *why)
{
    struct packetway_xdp *x = calloc(1, sizeof *x);
    uint32_t entries = 0;
    live_xdp_quiet();
    for (uint32_t i = 0; i < r->count; i++)
        entries += leat_packetway_router_fib(r->half[i].engine)->known_max;
    bool good = x && load(x, entries, why) && put_ports(x, r, why);
    good = good && (packetway_xdp_publish(x, r) ||
                    live_because(why, "its maps cannot be filled: %s", strerror(errno)));
    good = good && put_on(x, r, note, why);
    if (good) return x;
    if (x) packetway_xdp_close(x);
    return NULL;
}

bool packetway_xdp_again(struct packetway_xdp *x, struct packetway_router *r, char *note, char *why)
{
    detach_all(x);
    return put_ports(x, r, why) && put_on(x, r, note, why);
}

bool packetway_xdp_works(const struct packetway_xdp *x, const struct packetway_router *r, char *why)
{
    return x->generic || can_send(r, why);
}

void packetway_xdp_close(struct packetway_xdp *x)
{
    detach_all(x);
    packetway_xdp_bpf__destroy(x->program);
    free(x);
}
