/*
 * Forwarding in the kernel: packetway_forward.h between the receive queue of one device and the
 * send queue of another. One program serves all devices of a router. It only forwards, by L2RH or
 * by an address that has an entry of its own; whatever requires an answer, a message, a copy or a
 * counter is passed unchanged to the router's process.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRONT = 256,        /* octets of a message that are read: leading records and PH */
    LEADING_MAX = 8,    /* leading records: a route through as many networks */
    SLACK = FRONT + 72, /* after the sum of two bounded offsets */
};

/* The barrier hides from the compiler what it knows of x, to keep the mask for the verifier. */
static __always_inline uint32_t bounded(uint32_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x & (FRONT - 1);
}

#define inline __inline__ __attribute__((always_inline))
#include "live_packetway_shared.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PACKETWAY_SANS_MAX); /* by half-router */
    __type(key, uint32_t);
    __type(value, struct packetway_port);
} packetway_ports SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, PACKETWAY_SANS_MAX); /* by half-router */
    __type(key, uint32_t);
    __type(value, uint32_t);
} packetway_devices SEC(".maps");

/* Over all half-routers; the loader sets the number. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, struct packetway_key);
    __type(value, struct packetway_entry);
} packetway_entries SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PACKETWAY_SANS_MAX *PACKETWAY_NODES_MAX);
    __type(key, uint32_t);
    __type(value, struct leat_packetway_native);
} packetway_natives SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PACKETWAY_SANS_MAX);
    __type(key, uint32_t);
    __type(value, struct packetway_fib);
} packetway_fibs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, PACKETWAY_SANS_MAX *PACKETWAY_NODES_MAX);
    __type(key, struct packetway_mac);
    __type(value, uint32_t);
} packetway_macs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, PACKETWAY_SANS_MAX);
    __type(key, uint32_t);
    __type(value, uint64_t);
} packetway_forwarded SEC(".maps");

/* ---- what forwarding asks for ---- */

/* Every fib here is the first member of such a struct. */
static __always_inline uint32_t address_of(const struct leat_packetway_fib *fib)
{
    return ((const struct packetway_fib *)fib)->me;
}

static __always_inline const struct leat_packetway_entry *
find(const struct leat_packetway_fib *fib, uint32_t dt, struct leat_packetway_entry *room)
{
    const struct packetway_key key = { address_of(fib), dt };
    (void)room;
    const struct packetway_entry *found = bpf_map_lookup_elem(&packetway_entries, &key);
    return found ? &found->entry : NULL;
}

static __always_inline const struct leat_packetway_native *
native_of(const struct leat_packetway_fib *fib, uint32_t index)
{
    const uint32_t key = ((const struct packetway_fib *)fib)->first_native + index;
    return bpf_map_lookup_elem(&packetway_natives, &key);
}

#define LEAT_PACKETWAY_BOUND(offset)      bounded(offset)
#define LEAT_PACKETWAY_FIND               find
#define LEAT_PACKETWAY_FRONT_MAX          LEADING_MAX
#define LEAT_PACKETWAY_NATIVE(fib, index) native_of(fib, index)
#include "packetway_forward.h"

/* The current packet. */
struct pass {
    uint32_t len, seen; /* octets of the message: all, and those in `front` */
    uint32_t half, out;
    enum leat_packetway_side side;
    uint32_t consumed;
    uint32_t error; /* seen by this router: for EI */
    uint8_t route[8];
    uint8_t front[FRONT + SLACK];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct pass);
} packetway_passes SEC(".maps");

/* ---- the decision -------------------------------------------------------------------------- */

/* Functions that are not static are verified once, each by itself, for any arguments. */

/* Where is PH? -1: beyond the octets read, or the packet is invalid. */
__attribute__((noinline)) int find_header(const struct pass *p)
{
    uint32_t at = 0;
    if (!p) return -1;
    if (leat_packetway_find_header(p->front, p->seen, 0, LEAT_PACKETWAY_FRONT_MAX, &at)) return -1;
    return (int)at;
}

/* On this SAN: by this route, if it belongs to a known node. */
static __always_inline bool to_san(struct pass *p, const struct leat_packetway_decision *d,
                                   uint32_t half)
{
    struct packetway_mac to = { .half = half };
    if (d->verdict != LEAT_PACKETWAY_TO_SAN || d->route_len != PACKETWAY_MAC_LEN) return false;
    if (d->mtu_words && (p->len - p->consumed) / 8 > d->mtu_words) return false;
    for (int i = 0; i < PACKETWAY_MAC_LEN; i++)
        p->route[i] = to.mac[i] = d->route[i];
    p->out = half;
    return !d->layer2 || bpf_map_lookup_elem(&packetway_macs, &to);
}

/* From a twin; `from` octets are already consumed. */
__attribute__((noinline)) int over(struct pass *p, uint32_t half)
{
    struct leat_packetway_decision d;
    const struct leat_packetway_fib *fib = bpf_map_lookup_elem(&packetway_fibs, &half);
    if (!p || !fib) return 0;
    const uint32_t from = p->consumed;
    if (from >= FRONT || from >= p->seen) return 0;
    if (leat_packetway_front(fib, LEAT_PACKETWAY_FROM_TWIN, p->front + bounded(from),
                             p->seen - from, &d))
        return 0;
    p->consumed = from + d.consumed;
    return to_san(p, &d, half);
}

/* 1: it is forwarded by p->route at half-router p->out. */
__attribute__((noinline)) int decide(struct pass *p)
{
    struct leat_packetway_decision d;
    if (!p) return 0;
    const uint32_t half = p->half;
    const struct leat_packetway_fib *fib = bpf_map_lookup_elem(&packetway_fibs, &half);
    const int at = find_header(p);
    if (!fib || at < 0) return 0;
    const uint8_t *header = p->front + bounded((uint32_t)at);
    if (leat_get_be24(header + LEAT_PACKETWAY_SA_AT) == address_of(fib))
        return 0; /* another node has our address */
    const bool keyed = ((const struct packetway_fib *)fib)->keyed;
    if (keyed && leat_packetway_pt_is_keyed(leat_get_be16(header + LEAT_PACKETWAY_PT_AT))) return 0;
    p->error = leat_packetway_contradicts(p->front, p->len, (uint32_t)at);
    if (leat_packetway_front(fib, p->side, p->front, p->seen, &d)) return 0;
    p->consumed = d.consumed;
    if (d.verdict == LEAT_PACKETWAY_TO_TWIN) return over(p, d.twin < half ? d.twin : d.twin + 1u);
    if (d.buddy && p->side == LEAT_PACKETWAY_FROM_HOST) return 0; /* a RDRC is due */
    return to_san(p, &d, half);
}

/* ---- the program --------------------------------------------------------------------------- */

/* The half-router of the input device; PACKETWAY_SANS_MAX: none. */
static __always_inline uint32_t half_of(uint32_t device)
{
    for (uint32_t i = 0; i < PACKETWAY_SANS_MAX; i++) {
        const uint32_t key = i;
        const struct packetway_port *port = bpf_map_lookup_elem(&packetway_ports, &key);
        if (port && port->device == device) return i;
    }
    return PACKETWAY_SANS_MAX;
}

/* The sender matters only if there are other half-routers. */
static __always_inline enum leat_packetway_side side_of(uint32_t half, const uint8_t *mac)
{
    struct packetway_mac from = { .half = half };
    const struct packetway_fib *fib = bpf_map_lookup_elem(&packetway_fibs, &half);
    if (!fib || !fib->fib.buddy_count) return LEAT_PACKETWAY_FROM_HOST;
    for (int i = 0; i < PACKETWAY_MAC_LEN; i++)
        from.mac[i] = mac[i];
    const uint32_t *kind = bpf_map_lookup_elem(&packetway_macs, &from);
    return kind && *kind == PACKETWAY_IS_BUDDY ? LEAT_PACKETWAY_FROM_BUDDY
                                               : LEAT_PACKETWAY_FROM_HOST;
}

/* Reads as much of the message as needed: PH, or also the leading records before it. */
static __always_inline bool read_front(struct xdp_md *xdp, struct pass *p, const uint8_t *message)
{
    if (!leat_packetway_leading_begins(message[1])) {
        p->seen = LEAT_PACKETWAY_PACKET_MIN;
        __builtin_memcpy(p->front, message, LEAT_PACKETWAY_PACKET_MIN);
        return true;
    }
    uint32_t seen = p->len < FRONT ? p->len : FRONT;
    __asm__ volatile("" : "+r"(seen));
    if (seen < LEAT_PACKETWAY_PACKET_MIN || seen > FRONT) return false;
    p->seen = seen;
    return bpf_xdp_load_bytes(xdp, PACKETWAY_MESSAGE_AT, p->front, seen) == 0;
}

/* Reads the frame; false: it is not for this router. */
static __always_inline bool take_in(struct xdp_md *xdp, struct pass *p)
{
    const uint8_t *o = (const uint8_t *)(long)xdp->data;
    const uint8_t *end = (const uint8_t *)(long)xdp->data_end;
    if (o + PACKETWAY_MESSAGE_AT + LEAT_PACKETWAY_PACKET_MIN > end || !packetway_is_ours(o))
        return false;
    const uint32_t half = half_of(xdp->ingress_ifindex);
    const struct packetway_port *port = bpf_map_lookup_elem(&packetway_ports, &half);
    if (!port) return false;
    for (int i = 0; i < PACKETWAY_MAC_LEN; i++)
        if (o[i] != port->mac[i]) return false;
    p->len = 8u * leat_get_be16(o + PACKETWAY_COUNT_AT);
    if (p->len < LEAT_PACKETWAY_PACKET_MIN ||
        p->len > (uint32_t)bpf_xdp_get_buff_len(xdp) - PACKETWAY_MESSAGE_AT)
        return false;
    p->half = half;
    p->side = side_of(half, o + PACKETWAY_FROM_AT);
    return read_front(xdp, p, o + PACKETWAY_MESSAGE_AT);
}

/* The header for the next hop, and the EI rule; the message now begins `consumed` octets later. */
static __always_inline bool put_out(struct xdp_md *xdp, const struct pass *p,
                                    const struct packetway_port *out)
{
    uint8_t tail[8];
    const uint32_t len = p->len - p->consumed, tail_at = PACKETWAY_MESSAGE_AT + len - 8;
    uint8_t *o = (uint8_t *)(long)xdp->data;
    const uint8_t *end = (const uint8_t *)(long)xdp->data_end;
    if (o + PACKETWAY_MESSAGE_AT > end) return false;
    packetway_put_head(o, p->route, out->mac, len / 8);
    if (bpf_xdp_load_bytes(xdp, tail_at, tail, sizeof tail)) return false;
    const uint64_t ei = leat_get_be64(tail);
    if (!ei && !p->error) return true; /* unchanged */
    leat_put_be64(tail, leat_packetway_ei_step(ei, p->error));
    return bpf_xdp_store_bytes(xdp, tail_at, tail, sizeof tail) == 0;
}

SEC("xdp")
int packetway_xdp(struct xdp_md *xdp)
{
    const uint32_t zero = 0;
    struct pass *p = bpf_map_lookup_elem(&packetway_passes, &zero);
    if (!p || !take_in(xdp, p) || !decide(p)) return XDP_PASS;
    const uint32_t half = p->half, leaves = p->out, consumed = p->consumed;
    const struct packetway_port *out = bpf_map_lookup_elem(&packetway_ports, &leaves);
    if (!out || !out->device || consumed > FRONT) return XDP_PASS;
    if (p->len - consumed < LEAT_PACKETWAY_PACKET_MIN) return XDP_PASS;
    if (consumed && bpf_xdp_adjust_head(xdp, (int)consumed)) return XDP_PASS;
    if (!put_out(xdp, p, out)) return XDP_DROP;
    uint64_t *count = bpf_map_lookup_elem(&packetway_forwarded, &half);
    if (count) ++*count;
    return (int)bpf_redirect_map(&packetway_devices, leaves, 0);
}

char packetway_license[] SEC("license") = "BSD";
