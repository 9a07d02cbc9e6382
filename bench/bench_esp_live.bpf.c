/* The surroundings of a measured router: packets from a table, the plain forwarders that are the
 * limit, and a counting sink. */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdint.h>

enum { FRAME_LEN = 128, SENT_WORDS = 15, AF_INET = 2, HOP_AT = 14 + 8, CHECK_AT = 14 + 10 };

struct frame {
    uint64_t word[FRAME_LEN / 8];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, uint32_t);
    __type(value, struct frame);
} frames SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
    __uint(max_entries, 64);
    __type(key, uint32_t);
    __type(value, uint32_t);
} devices SEC(".maps");

uint32_t mask, next, gen_device, out_device;
uint8_t out_to[6], out_from[6];
uint64_t sunk;

/* One frame of the table after the other; the buffer was sent before, so the whole frame is
 * written. */
SEC("xdp")
int bench_gen(struct xdp_md *xdp)
{
    uint64_t *to = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    const uint32_t key = next++ & mask;
    const struct frame *from = bpf_map_lookup_elem(&frames, &key);
    if (!from || (void *)(to + SENT_WORDS) > end) return XDP_DROP;
    for (int i = 0; i < SENT_WORDS; i++)
        to[i] = from->word[i];
    return (int)bpf_redirect(gen_device, 0);
}

static __always_inline int leave(struct xdp_md *xdp, const uint8_t *mac_to, const uint8_t *mac_from,
                                 uint32_t device)
{
    uint8_t *o = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    if ((void *)(o + CHECK_AT + 2) > end || o[HOP_AT] < 2) return XDP_DROP;
    o[HOP_AT]--;
    const uint32_t sum = ((uint32_t)o[CHECK_AT] << 8 | o[CHECK_AT + 1]) + 0x100;
    o[CHECK_AT] = (uint8_t)((sum + (sum >> 16)) >> 8);
    o[CHECK_AT + 1] = (uint8_t)(sum + (sum >> 16));
    for (int i = 0; i < 6; i++) {
        o[i] = mac_to[i];
        o[6 + i] = mac_from[i];
    }
    return (int)bpf_redirect_map(&devices, device, XDP_DROP);
}

/* The limit: a fixed output. */
SEC("xdp")
int bench_plain(struct xdp_md *xdp)
{
    return leave(xdp, out_to, out_from, out_device);
}

/* Forwarding by the kernel's routes only. */
SEC("xdp")
int bench_fib(struct xdp_md *xdp)
{
    const uint8_t *o = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    struct bpf_fib_lookup f;
    if ((void *)(o + 34) > end) return XDP_PASS;
    __builtin_memset(&f, 0, sizeof f);
    f.family = AF_INET;
    f.ifindex = xdp->ingress_ifindex;
    f.l4_protocol = o[23];
    f.ipv4_src = *(const uint32_t *)(const void *)(o + 26);
    f.ipv4_dst = *(const uint32_t *)(const void *)(o + 30);
    if (bpf_fib_lookup(xdp, &f, sizeof f, 0) != BPF_FIB_LKUP_RET_SUCCESS) return XDP_PASS;
    return leave(xdp, f.dmac, f.smac, f.ifindex);
}

/* For routers behind the driver: a veth takes redirected frames only with a program on it. */
SEC("xdp")
int bench_pass(struct xdp_md *xdp)
{
    (void)xdp;
    return XDP_PASS;
}

SEC("xdp")
int bench_sink(struct xdp_md *xdp)
{
    (void)xdp;
    __sync_fetch_and_add(&sunk, 1);
    return XDP_DROP;
}

char bench_license[] SEC("license") = "Dual BSD/GPL";
