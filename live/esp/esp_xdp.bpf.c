/*
 * A router in the kernel: the gate of esp_gate.h between the receive queue of one device and the
 * send queue of another. One program serves all devices of the router; the groups of all stores are
 * one array, each with its own spin lock, so that any number of CPUs may run it at a time. What is
 * not ESP is passed up unchanged.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdint.h>

#include "esp_gate.h"

enum { AF_INET = 2, AF_INET6 = 10 };

/* The groups of all stores, one after the other: the loader sets their number. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct esp_locked_group);
} esp_groups SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE); /* tests set the clock there */
    __type(key, uint32_t);
    __type(value, struct esp_config);
} esp_config SEC(".maps");

/* Changed in place while packets pass. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, uint32_t);
    __type(value, struct leat_key_ring);
} esp_keys SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct esp_counts);
} esp_counts SEC(".maps");

/* Output devices, by interface index. */
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
    __uint(max_entries, 64);
    __type(key, uint32_t);
    __type(value, uint32_t);
} esp_devices SEC(".maps");

/* Reports to the router's process: management packets, and passing packets while it is watched. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 20);
} esp_events SEC(".maps");

/* What ports and sources have created recently. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ESP_PORTS_MAX);
    __type(key, uint32_t);
    __type(value, struct esp_locked_ingress);
} esp_ingress SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, LEAT_ESP_BUDGETS);
    __type(key, uint32_t);
    __type(value, struct leat_esp_budget);
} esp_budgets SEC(".maps");

/* Written by the router's process, which also makes the copies. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, LEAT_ESP_DUPLICATES);
    __type(key, uint32_t);
    __type(value, struct leat_esp_duplicate);
} esp_duplicates SEC(".maps");

static __always_inline void *only(void *map)
{
    const uint32_t zero = 0;
    return bpf_map_lookup_elem(map, &zero);
}

static __always_inline uint64_t now_ns(const struct esp_config *c)
{
    return c->clock_ns ? c->clock_ns : bpf_ktime_get_coarse_ns();
}

/* ---- what the gate asks for --------------------------------------------------------------- */

/* Functions that are not static are verified once, each by itself, for any arguments; and each has
 * a stack of its own. */
static __always_inline struct leat_esp_budget *budget_of(const struct esp_config *c,
                                                         const struct esp_pass *p)
{
    if (!c->limits.price_ticks) return NULL;
    const uint32_t entry = leat_esp_budget_of(&c->store[ESP_STORE_CENTRE].node, p->source);
    return bpf_map_lookup_elem(&esp_budgets, &entry);
}

static __always_inline struct esp_locked_ingress *ingress_of(const struct esp_config *c,
                                                             const struct esp_pass *p)
{
    const uint32_t port = p->port;
    return c->limits.capacity ? bpf_map_lookup_elem(&esp_ingress, &port) : NULL;
}

/* How many bindings may be created for p now. */
__attribute__((noinline)) int allowance(const struct esp_pass *p)
{
    const struct esp_config *c = only(&esp_config);
    if (!p || !c) return 0;
    const struct leat_esp_limits limits = c->limits;
    const uint64_t now = now_ns(c);
    struct leat_esp_budget *budget = budget_of(c, p);
    struct esp_locked_ingress *in = ingress_of(c, p);
    uint32_t by_source = LEAT_ESP_TAGS_MAX, by_port = LEAT_ESP_TAGS_MAX;
    if (budget) by_source = leat_esp_budget_allows(budget, &limits, now);
    if (in) {
        bpf_spin_lock(&in->lock);
        by_port = leat_esp_ingress_allows(&in->ingress, &limits, now);
        bpf_spin_unlock(&in->lock);
    }
    return (int)(by_source < by_port ? by_source : by_port);
}

__attribute__((noinline)) int charge(const struct esp_pass *p, uint32_t created)
{
    const struct esp_config *c = only(&esp_config);
    if (!p || !c) return 0;
    struct leat_esp_budget *budget = budget_of(c, p);
    struct esp_locked_ingress *in = ingress_of(c, p);
    if (budget) leat_esp_budget_charge(budget, &c->limits, created);
    if (in) {
        bpf_spin_lock(&in->lock);
        leat_esp_ingress_charge(&in->ingress, created);
        bpf_spin_unlock(&in->lock);
    }
    return 0;
}

/* Reads whose results are unused: they fetch what the instruction will need from memory while the
 * lock is fetched, too. There is no prefetch here. */
static __always_inline void touch(const struct leat_esp_group *group, uint64_t key)
{
    const uint32_t first = leat_esp_bucket_first(leat_esp_spread(key));
    const struct leat_esp_bucket *b = &group->bucket[first & (LEAT_ESP_BUCKETS - 1)];
    (void)*(const volatile uint64_t *)b->key;
    (void)*(const volatile uint64_t *)b->computation;
    (void)*(const volatile uint64_t *)b->expiry;
    (void)*(const volatile uint64_t *)b->value;
}

static __always_inline void touch_tags(const struct leat_esp_group *group,
                                       const struct leat_esp_words *w, uint64_t mark)
{
    touch(group, w->operand[0] ^ mark); /* a tag of every instruction */
    if (w->opcode < LEAT_ESP_COLLECT) return;
    if (w->opcode != LEAT_ESP_COLLECT) touch(group, w->operand[1] ^ mark);
    touch(group, w->operand[2] ^ mark);
    if (w->opcode == LEAT_ESP_RCOLLECT) touch(group, w->operand[4] ^ mark);
}

__attribute__((noinline)) int store_run(struct esp_pass *p, uint32_t number, uint32_t allowed)
{
    const struct esp_config *c = only(&esp_config);
    if (!p || !c || number >= ESP_STORES_MAX) return LEAT_ESP_ABORTED;
    const struct esp_store *store = &c->store[number];
    const struct leat_esp_node node = store->node;
    const uint64_t mark = leat_esp_mark(&node, p->words.computation), clock = now_ns(c);
    const uint32_t index = store->first + ((uint32_t)mark & store->mask);
    struct esp_locked_group *g = bpf_map_lookup_elem(&esp_groups, &index);
    if (!g) return LEAT_ESP_ABORTED;
    touch_tags(&g->group, &p->words, mark);
    bpf_spin_lock(&g->lock);
    const struct leat_esp_outcome out = leat_esp_execute(&g->group, &node, clock, mark, allowed,
                                                         &p->words);
    bpf_spin_unlock(&g->lock);
    return (int)(out.verdict | out.created << 8);
}

static __always_inline struct leat_esp_outcome esp_store_run(struct esp_pass *p, uint32_t store)
{
    uint32_t allowed = LEAT_ESP_TAGS_MAX;
    if (p->limited) allowed = (uint32_t)allowance(p);
    const uint32_t packed = (uint32_t)store_run(p, store, allowed), created = packed >> 8;
    if (p->limited && created) charge(p, created);
    return (struct leat_esp_outcome){ .verdict = packed & 0xff, .created = created };
}

static __always_inline const struct leat_esp_duplicate *esp_find_group(uint64_t group)
{
    const struct esp_config *c = only(&esp_config);
    for (uint32_t way = 0; c && way < LEAT_ESP_DUPLICATE_WAYS; way++) {
        const uint32_t place = leat_esp_duplicate_place(group, way);
        const struct leat_esp_duplicate *d = bpf_map_lookup_elem(&esp_duplicates, &place);
        if (d && leat_esp_duplicate_is(d, group, now_ns(c))) return d;
    }
    return NULL;
}

/* ---- the route ---------------------------------------------------------------------------- */

struct way {
    uint32_t kind, device;
    uint8_t to[8], from[8];
};

static __always_inline void from_of(const struct esp_config *c, uint32_t device, struct way *way)
{
    const uint32_t port = esp_port_of(c, device);
    if (port < ESP_PORTS_MAX) esp_put_mac(way->from, c->port[port].mac);
}

static __always_inline void ask_kernel(struct xdp_md *xdp, const struct esp_place *at,
                                       const uint64_t from[2], const uint64_t to[2],
                                       struct way *way)
{
    struct bpf_fib_lookup f;
    __builtin_memset(&f, 0, sizeof f);
    f.ifindex = xdp->ingress_ifindex;
    f.l4_protocol = at->udp_at ? ESP_IP_UDP : LEAT_ESP_IP_PROTOCOL;
    if (esp_is_ipv6(at)) {
        f.family = AF_INET6;
        for (int i = 0; i < 2; i++) {
            f.ipv6_src[2 * i] = bpf_htonl((uint32_t)(from[i] >> 32));
            f.ipv6_src[2 * i + 1] = bpf_htonl((uint32_t)from[i]);
            f.ipv6_dst[2 * i] = bpf_htonl((uint32_t)(to[i] >> 32));
            f.ipv6_dst[2 * i + 1] = bpf_htonl((uint32_t)to[i]);
        }
    } else {
        f.family = AF_INET;
        f.ipv4_src = bpf_htonl((uint32_t)from[1]);
        f.ipv4_dst = bpf_htonl((uint32_t)to[1]);
    }
    const long result = bpf_fib_lookup(xdp, &f, sizeof f, 0);
    way->kind = ESP_WAY_HOST;
    if (result == BPF_FIB_LKUP_RET_BLACKHOLE || result == BPF_FIB_LKUP_RET_UNREACHABLE ||
        result == BPF_FIB_LKUP_RET_PROHIBIT)
        way->kind = ESP_WAY_NONE;
    if (result != BPF_FIB_LKUP_RET_SUCCESS) return; /* also: the neighbour is unresolved */
    const uint32_t device = f.ifindex;
    if (!bpf_map_lookup_elem(&esp_devices, &device)) return; /* or to send it, from here */
    way->kind = ESP_WAY_OUT;
    way->device = f.ifindex;
    esp_put_mac(way->to, f.dmac);
    esp_put_mac(way->from, f.smac);
}

static __always_inline void find_way(struct xdp_md *xdp, const struct esp_config *c,
                                     const struct esp_place *at, struct way *way)
{
    const uint8_t *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    uint64_t from[2], to[2];
    way->kind = ESP_WAY_HOST;
    if (at->carriage == ESP_BARE) {
        if (!c->bare_device) return;
        way->kind = ESP_WAY_OUT;
        way->device = c->bare_device;
        esp_put_mac(way->to, c->bare_mac);
        from_of(c, way->device, way);
        return;
    }
    esp_destination(data, end, at, to);
    const uint32_t index = c->next_count ? esp_next_of(c, to) : ESP_NEXT_MAX;
    if (index < ESP_NEXT_MAX) {
        const struct esp_next *next = &c->next[index];
        if (next->device) {
            way->kind = ESP_WAY_OUT;
            way->device = next->device;
            esp_put_mac(way->to, next->mac);
            from_of(c, way->device, way);
            return;
        }
        to[0] = next->address[0];
        to[1] = next->address[1];
    }
    esp_source(data, end, at, from);
    ask_kernel(xdp, at, from, to, way);
}

/* ---- the program -------------------------------------------------------------------------- */

/* The current frame. Not on the stack, which the instructions nearly fill. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct esp_pass);
} esp_passes SEC(".maps");

__attribute__((noinline)) int packet_read(struct xdp_md *xdp, struct esp_pass *p)
{
    const uint8_t *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    const struct esp_config *c = only(&esp_config);
    const struct leat_key_ring *keys = only(&esp_keys);
    if (!p || !c || !keys) return ESP_FAILED;
    p->limited = c->limits.capacity || c->limits.price_ticks;
    if (p->limited) p->source = esp_source_folded(data, end, &p->at);
    return (int)esp_read(data, end, c, keys, p);
}

__attribute__((noinline)) int packet_manage(struct xdp_md *xdp, const struct esp_pass *p,
                                            uint32_t to_host)
{
    const uint8_t *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    const struct esp_config *c = only(&esp_config);
    if (!p || !c) return ESP_FAILED;
    return (int)esp_manage(data + (p->at.packet_at & ESP_HEAD_MASK), end, p->at.packet_len, c,
                           to_host);
}

__attribute__((noinline)) int packet_write(struct xdp_md *xdp, const struct esp_pass *p)
{
    if (!p) return 0;
    return esp_write((void *)(long)xdp->data, (void *)(long)xdp->data_end, p);
}

/* Over a whole datagram, piece by piece: its length is not constant, and the verifier needs a
 * constant. */
static __always_inline uint64_t datagram_sum(struct xdp_md *xdp, const struct esp_place *at)
{
    enum { PIECE = 32 };
    const uint32_t to = at->packet_at + at->packet_len;
    uint8_t piece[PIECE];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ESP_FRAME_MAX / PIECE; i++) {
        const uint32_t from = at->udp_at + PIECE * i;
        uint32_t len = to - from;
        if (from >= to) break;
        if (len > PIECE) len = PIECE;
        __builtin_memset(piece, 0, sizeof piece);
        LEAT_ESP_HIDE(len);
        if (len < 1 || len > PIECE || bpf_xdp_load_bytes(xdp, from, piece, len)) break;
        for (int k = 0; k < PIECE; k += 4)
            sum += leat_get_be32(piece + k);
    }
    return sum;
}

__attribute__((noinline)) int udp_seal(struct xdp_md *xdp, const struct esp_pass *p)
{
    if (!p) return 0;
    const uint64_t sum = p->at.carriage == ESP_IPV6_UDP ? datagram_sum(xdp, &p->at) : 0;
    return esp_udp_seal((void *)(long)xdp->data, (void *)(long)xdp->data_end, &p->at, sum);
}

/* The kernel's own packets carry their checksum state; what native XDP sends does not. */
__attribute__((noinline)) int wants_seal(struct xdp_md *xdp, const struct esp_pass *p,
                                         uint32_t to_host)
{
    const struct esp_config *c = only(&esp_config);
    if (!p || !c) return 0;
    return esp_udp_wants_seal((void *)(long)xdp->data, (void *)(long)xdp->data_end, p,
                              to_host || c->generic);
}

__attribute__((noinline)) int way_find(struct xdp_md *xdp, const struct esp_pass *p,
                                       struct way *way)
{
    const struct esp_config *c = only(&esp_config);
    if (p && way && c) find_way(xdp, c, &p->at, way);
    return 0;
}

/* The frame, for the router's process. */
static __always_inline bool hand_over(struct xdp_md *xdp, const struct esp_pass *p)
{
    struct esp_event *event = bpf_ringbuf_reserve(&esp_events, sizeof *event, 0);
    if (!event) return false;
    uint64_t len = bpf_xdp_get_buff_len(xdp);
    if (len > ESP_EVENT_FRAME_MAX) len = ESP_EVENT_FRAME_MAX;
    event->kind = ESP_EVENT_FRAME;
    event->port = p->port;
    event->zero = 0;
    event->frame_len = (uint32_t)len;
    if (len < ESP_ETHERNET_LEN || bpf_xdp_load_bytes(xdp, 0, event->frame, (uint32_t)len)) {
        bpf_ringbuf_discard(event, 0);
        return false;
    }
    bpf_ringbuf_submit(event, 0);
    return true;
}

/* An observer watches: reports the packet, and what became of it. */
__attribute__((noinline)) int report(struct xdp_md *xdp, const struct esp_pass *p, uint32_t reason)
{
    const uint8_t *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    if (!p) return 0;
    struct esp_sight *sight = bpf_ringbuf_reserve(&esp_events, sizeof *sight, 0);
    if (!sight) return 0;
    sight->kind = ESP_EVENT_SIGHT;
    sight->port = p->port;
    sight->reason = reason;
    sight->carriage = p->at.carriage;
    sight->at_ns = bpf_ktime_get_ns();
    sight->words = p->words;
    esp_source(data, end, &p->at, sight->source);
    esp_destination(data, end, &p->at, sight->destination);
    bpf_ringbuf_submit(sight, 0);
    return 0;
}

/* Writes the packet back and forwards it. Returns the outcome; *action is the kernel's. */
static __always_inline uint32_t leave(struct xdp_md *xdp, const struct esp_pass *p,
                                      const struct way *way, uint32_t reason,
                                      struct esp_counts *counts, int *action)
{
    uint8_t *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    if (way->kind == ESP_WAY_NONE) return ESP_NO_WAY;
    if (way->kind == ESP_WAY_OUT && !esp_hop(data, end, &p->at)) return ESP_HOPS;
    if (p->changed && !packet_write(xdp, p)) return ESP_FAILED;
    if (wants_seal(xdp, p, way->kind == ESP_WAY_HOST) && !udp_seal(xdp, p)) return ESP_FAILED;
    if (way->kind == ESP_WAY_HOST) {
        counts->host++;
        *action = XDP_PASS;
        return reason;
    }
    if (data + ESP_ETHERNET_LEN > end) return ESP_FAILED;
    esp_put_mac(data + ESP_TO_AT, way->to);
    esp_put_mac(data + ESP_FROM_AT, way->from);
    *action = (int)bpf_redirect_map(&esp_devices, way->device, XDP_DROP);
    return *action == XDP_REDIRECT ? reason : ESP_FAILED;
}

SEC("xdp")
int esp_xdp(struct xdp_md *xdp)
{
    const uint8_t *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    struct esp_place at = { 0 };
    const enum esp_found found = esp_find(data, end, &at);
    if (found == ESP_NOT_OURS) return XDP_PASS;
    const struct esp_config *c = only(&esp_config);
    struct esp_counts *counts = only(&esp_counts);
    struct esp_pass *p = only(&esp_passes);
    if (!c || !counts || !p) return XDP_DROP;
    p->at = at;
    p->changed = 0;
    p->words.opcode = 0;
    p->port = esp_port_of(c, xdp->ingress_ifindex);
    if (p->port >= ESP_PORTS_MAX || !esp_same_mac(data, c->port[p->port].mac)) return XDP_PASS;

    int action = XDP_DROP;
    struct way way;
    __builtin_memset(&way, 0, sizeof way);
    uint32_t reason = found == ESP_FOUND ? (uint32_t)packet_read(xdp, p) : (uint32_t)ESP_UNSOUND;
    if (reason == ESP_EXECUTED) {
        reason = esp_input(p, counts);
        if (reason <= ESP_ASKED) way_find(xdp, p, &way);
        if (reason == ESP_EXECUTED && way.kind == ESP_WAY_OUT && esp_loc(p) & LEAT_ESP_LOC_OUTPUT)
            reason = esp_output(p, esp_port_of(c, way.device), counts);
    } else if (reason <= ESP_ASKED) {
        way_find(xdp, p, &way);
        if (reason == ESP_MANAGED) {
            reason = (uint32_t)packet_manage(xdp, p, way.kind == ESP_WAY_HOST);
            if (esp_is_for_process(reason) && !hand_over(xdp, p))
                reason = reason == ESP_ASKED ? ESP_MANAGED : ESP_FAILED;
        }
    }
    if (reason <= ESP_ASKED) reason = leave(xdp, p, &way, reason, counts, &action);
    LEAT_ESP_HIDE(reason); /* the compiler must compare the index itself, not a copy */
    if (reason < ESP_REASON_COUNT) counts->reason[reason]++;
    if (c->tracing) report(xdp, p, reason);
    return action;
}

char esp_license[] SEC("license") = "Dual BSD/GPL";
