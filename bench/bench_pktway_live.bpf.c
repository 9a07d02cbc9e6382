/* The surroundings of a measured router: a frame that is sent repeatedly, a plain forwarder that is
 * the limit, and a counting sink. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdint.h>

enum { WORDS = 15, PT_AT = 21 + 6 };

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint32_t);
} devices SEC(".maps");

uint64_t frame[WORDS];
uint32_t gen_device;
uint8_t out_to[6], out_from[6];
uint64_t sunk;

/* The buffer was sent before, so the whole frame is written. */
SEC("xdp")
int bench_gen(struct xdp_md *xdp)
{
    uint64_t *to = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    if ((void *)(to + WORDS) > end) return XDP_DROP;
    for (int i = 0; i < WORDS; i++)
        to[i] = frame[i];
    return (int)bpf_redirect(gen_device, 0);
}

/* The limit: a fixed output. */
SEC("xdp")
int bench_plain(struct xdp_md *xdp)
{
    uint8_t *o = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    if ((void *)(o + 14) > end) return XDP_DROP;
    for (int i = 0; i < 6; i++) {
        o[i] = out_to[i];
        o[6 + i] = out_from[i];
    }
    return (int)bpf_redirect_map(&devices, 0, XDP_DROP);
}

/* PT 1024 is counted; RRP is passed up to the host. */
SEC("xdp")
int bench_sink(struct xdp_md *xdp)
{
    const uint8_t *o = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    if ((void *)(o + PT_AT + 10) > end) return XDP_PASS;
    /* a frame of the plain forwarder may still have its L2RH */
    if (o[PT_AT] != 4 && o[PT_AT + 8] != 4) return XDP_PASS;
    __sync_fetch_and_add(&sunk, 1);
    return XDP_DROP;
}

char bench_license[] SEC("license") = "Dual BSD/GPL";
