/* Frames from a table, sent by live test runs, and a sink that counts those with a mark. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdint.h>

enum { FRAME_LEN = 120 };

struct frame {
    uint64_t word[FRAME_LEN / 8];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1024);
    __type(key, uint32_t);
    __type(value, struct frame);
} frames SEC(".maps");

uint32_t mask, device, mark_at, mark;
uint64_t sunk, sent;

/* The beginning; what follows is as it was. */
SEC("xdp")
int flood_gen(struct xdp_md *xdp)
{
    uint64_t *to = (void *)(long)xdp->data;
    const void *end = (void *)(long)xdp->data_end;
    const uint32_t key = sent++ & mask;
    const struct frame *from = bpf_map_lookup_elem(&frames, &key);
    if (!from || (void *)(to + FRAME_LEN / 8) > end) return XDP_DROP;
    for (int i = 0; i < FRAME_LEN / 8; i++)
        to[i] = from->word[i];
    return (int)bpf_redirect(device, 0);
}

SEC("xdp")
int flood_sink(struct xdp_md *xdp)
{
    uint32_t found = 0;
    if (bpf_xdp_load_bytes(xdp, mark_at, &found, sizeof found) == 0 && found == mark)
        __sync_fetch_and_add(&sunk, 1);
    return XDP_DROP;
}

char flood_license[] SEC("license") = "Dual BSD/GPL";
