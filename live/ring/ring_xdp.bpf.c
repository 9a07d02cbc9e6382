/*
 * A live station in the kernel: the gate of ring_gate.h between a driver's receive queue and its
 * send queue. No process of this host runs. What is not of our Ethernet type goes up untouched.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdint.h>

/* The barrier hides from the compiler what it knows of x, so that the mask stays for the verifier.
 */
#define LEAT_ATON_BOUND(offset)              bounded(offset)
#define LEAT_ATON_REPEAT(count, step, state) bpf_loop(count, step, state, 0)
static __always_inline uint32_t bounded(uint32_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x & 2047;
}

#include "ring_gate.h"

#include "leat_crc_tables.h"
#include "leat_siphash.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, uint32_t);
    __type(value, struct ring_page);
} ring_page SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct ring_config);
} ring_config SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, RING_REASON_COUNT);
    __type(key, uint32_t);
    __type(value, uint64_t);
} ring_counts SEC(".maps");

/* By the sender's address: none can push another's budget out. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 65536);
    __type(key, uint32_t);
    __type(value, struct ring_bucket);
} ring_buckets SEC(".maps");

/* What has come of each sender's messages: taken over together with the mailbox. Without a key it
 * has one entry. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, RING_SENDERS);
    __type(key, uint32_t);
    __type(value, struct ring_window);
} ring_windows SEC(".maps");

/* The frame at hand: a packet's own memory may be written only where a constant says. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct ring_frame);
} ring_frames SEC(".maps");

/* What passive packets brought and nobody has read. The map outlives the program that made it: the
 * next one on the device takes it over. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, RING_MAILBOX_LEN);
} ring_mailbox SEC(".maps");

static __always_inline void *only(void *map)
{
    const uint32_t zero = 0;
    return bpf_map_lookup_elem(map, &zero);
}

/* ---- what the gate asks for --------------------------------------------------------------- */

/* Functions that are not static are verified once, each by itself, for any arguments. */
__attribute__((noinline)) int frame_crc(struct ring_frame *f)
{
    if (!f) return 0;
    uint8_t *image = f->octets + RING_IMAGE_AT;
    uint32_t crc = ~0u;
    const uint32_t flg_at = f->image_len - LEAT_ATON_TRAILER_LEN;
    crc = crc >> 8 ^ crc32_lsb[0][(crc ^ (image[0] & LEAT_ATON_AC_CRC_MASK)) & 255];
    for (uint32_t i = 1; i < RING_FRAME_MAX && i < flg_at; i++)
        crc = crc >> 8 ^ crc32_lsb[0][(crc ^ image[LEAT_ATON_BOUND(i)]) & 255];
    crc = crc >> 8 ^ crc32_lsb[0][crc & 255]; /* FLG as 0 */
    return (int)~crc;
}

static uint32_t ring_frame_crc(struct ring_frame *f)
{
    return (uint32_t)frame_crc(f);
}

/* Into f->mac: a function of this kind returns 32 bits. */
__attribute__((noinline)) int frame_mac(struct ring_frame *f)
{
    const struct ring_config *c = only(&ring_config);
    if (!f || !c) return 0;
    const uint8_t *o = f->octets + RING_HEADER_AT;
    const uint32_t len = LEAT_ATON_LIVE_HEADER_LEN + f->image_len;
    struct leat_sip s;
    leat_sip_start(&s, c->key);
    leat_sip_word(&s, leat_get_le64(o));
    leat_sip_word(&s, leat_get_le64(o + 8) & ~UINT64_C(0xff)); /* hops left */
    uint32_t at = 16;
    for (int i = 0; i < RING_FRAME_MAX / 8 && at + 8 <= len; i++, at += 8)
        leat_sip_word(&s, leat_get_le64(o + LEAT_ATON_BOUND(at)));
    uint64_t rest = 0;
    const uint32_t rest_len = len & 7;
    if (rest_len)
        rest = leat_get_le64(o + LEAT_ATON_BOUND(at)) & (~UINT64_C(0) >> (64 - 8 * rest_len));
    f->mac = leat_sip_finish(&s, rest, len);
    return 0;
}

static uint64_t ring_frame_mac(struct ring_frame *f, const struct ring_config *c)
{
    (void)c;
    frame_mac(f);
    return f->mac;
}

static bool ring_rate_allows(const struct ring_config *c, uint16_t sender)
{
    const uint32_t key = sender;
    struct ring_bucket *bucket = bpf_map_lookup_elem(&ring_buckets, &key);
    return bucket && ring_bucket_take(bucket, c->rate_per_s, bpf_ktime_get_ns());
}

static struct ring_window *ring_window_of(uint16_t sender)
{
    const uint32_t key = sender;
    return bpf_map_lookup_elem(&ring_windows, &key);
}

static bool ring_mailbox_takes(struct ring_frame *f, uint32_t at, uint32_t len)
{
    const uint8_t *record = ring_image(f) + at;
    return bpf_ringbuf_output(&ring_mailbox, (void *)record, LEAT_ATON_BOUND(len), 0) == 0;
}

/* ---- the program -------------------------------------------------------------------------- */

__attribute__((noinline)) int check(struct ring_frame *f)
{
    const struct ring_config *c = only(&ring_config);
    if (!f || !c) return RING_FAILED;
    return (int)ring_check(f, c);
}

__attribute__((noinline)) int admit(struct ring_frame *f)
{
    const struct ring_config *c = only(&ring_config);
    const struct ring_page *page = only(&ring_page);
    if (!f || !c || !page) return RING_FAILED;
    return (int)ring_admit(f, c, page);
}

__attribute__((noinline)) int fold(struct ring_frame *f)
{
    const struct ring_config *c = only(&ring_config);
    const struct ring_page *page = only(&ring_page);
    if (!f || !c || !page) return RING_FAILED;
    return (int)ring_fold(f, c, page);
}

__attribute__((noinline)) int seal(struct ring_frame *f, bool changed)
{
    const struct ring_config *c = only(&ring_config);
    if (!f || !c) return RING_FAILED;
    ring_seal(f, c, changed);
    return RING_FOLDED;
}

static __always_inline void count(uint32_t reason)
{
    uint64_t *counter = bpf_map_lookup_elem(&ring_counts, &reason);
    if (counter) ++*counter;
}

/* Puts the frame back, longer if it has grown. */
static __always_inline bool put_back(struct xdp_md *xdp, struct ring_frame *f, uint32_t old_len)
{
    uint32_t len = f->len;
    if (len > RING_FRAME_MAX || len < RING_FRAME_MIN) return false;
    if (len != old_len && bpf_xdp_adjust_tail(xdp, (int)(len - old_len))) return false;
    __asm__ volatile("" : "+r"(len));
    if (len > RING_FRAME_MAX || len < RING_FRAME_MIN) return false;
    return bpf_xdp_store_bytes(xdp, 0, f->octets, len) == 0;
}

static __always_inline int leave(const struct ring_config *c)
{
    return c->turns_back ? XDP_TX : (int)bpf_redirect(c->out, 0);
}

SEC("xdp")
int ring_xdp(struct xdp_md *xdp)
{
    void *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    const struct ethhdr *ethernet = data;
    if ((void *)(ethernet + 1) > end || ethernet->h_proto != bpf_htons(LEAT_ATON_ETHER_TYPE))
        return XDP_PASS;
    struct ring_frame *f = only(&ring_frames);
    const struct ring_config *c = only(&ring_config);
    if (!f || !c) return XDP_DROP;

    uint32_t reason, len = (uint32_t)bpf_xdp_get_buff_len(xdp);
    f->len = len;
    if (len > RING_FRAME_MAX) {
        reason = RING_LONG;
    } else if (len < RING_FRAME_MIN) {
        reason = RING_SHORT;
    } else if (bpf_xdp_load_bytes(xdp, 0, f->octets, len)) {
        reason = RING_FAILED;
    } else {
        reason = (uint32_t)check(f);
        if (reason == RING_FOLDED) reason = (uint32_t)admit(f);
        if (reason == RING_FOLDED) reason = (uint32_t)fold(f);
    }
    if (reason <= RING_NO_ROOM) {
        seal(f, reason <= RING_REPLAYED);
        if (put_back(xdp, f, len)) {
            count(reason);
            return leave(c);
        }
        reason = RING_FAILED;
    }
    count(reason);
    return reason == RING_OWN ? XDP_PASS : XDP_DROP;
}

char ring_license[] SEC("license") = "BSD";
