/*
 * A live station in the kernel: the gate of live_aton_gate.h between a driver's receive queue and
 * its send queue. No process of this host runs. Frames of other Ethernet types are passed up
 * unchanged.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdint.h>

/* The barrier hides from the compiler what it knows of x, to keep the mask for the verifier. */
#define LEAT_ATON_BOUND(offset)              bounded(offset)
#define LEAT_ATON_REPEAT(count, step, state) bpf_loop(count, step, state, 0)
static __always_inline uint32_t bounded(uint32_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x & 2047;
}

#include "live_aton_gate.h"

#include "leat_crc_tables.h"
#include "leat_siphash.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, uint32_t);
    __type(value, struct aton_page);
} aton_page SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct aton_config);
} aton_config SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, ATON_REASON_COUNT);
    __type(key, uint32_t);
    __type(value, uint64_t);
} aton_counts SEC(".maps");

/* By the sender's address: none can evict another's budget. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 65536);
    __type(key, uint32_t);
    __type(value, struct aton_bucket);
} aton_buckets SEC(".maps");

/* The messages received from each sender: taken over together with the mailbox. Without a key it
 * has one entry. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ATON_SENDERS);
    __type(key, uint32_t);
    __type(value, struct aton_window);
} aton_windows SEC(".maps");

/* The current frame: a packet's own memory may be written only at constant offsets. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct aton_frame);
} aton_frames SEC(".maps");

/* Unread data of passive packets. The map outlives the program that made it: the next one on the
 * device takes it over. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, ATON_MAILBOX_LEN);
} aton_mailbox SEC(".maps");

/* The same of each group of stations, for the process that speaks for it here. */
#define GROUP_MAILBOX(number)                  \
    struct {                                   \
        __uint(type, BPF_MAP_TYPE_RINGBUF);    \
        __uint(max_entries, ATON_MAILBOX_LEN); \
    } aton_group_##number SEC(".maps");
GROUP_MAILBOX(0)
GROUP_MAILBOX(1)
GROUP_MAILBOX(2)
GROUP_MAILBOX(3)
GROUP_MAILBOX(4)
GROUP_MAILBOX(5)
GROUP_MAILBOX(6)
GROUP_MAILBOX(7)

static __always_inline void *only(void *map)
{
    const uint32_t zero = 0;
    return bpf_map_lookup_elem(map, &zero);
}

/* ---- what the gate asks for --------------------------------------------------------------- */

/* Functions that are not static are verified once, each by itself, for any arguments. */
__attribute__((noinline)) int frame_crc(struct aton_frame *f)
{
    if (!f) return 0;
    uint8_t *image = f->octets + ATON_IMAGE_AT;
    uint32_t crc = ~0u;
    const uint32_t flg_at = f->image_len - LEAT_ATON_TRAILER_LEN;
    crc = crc >> 8 ^ crc32_lsb[0][(crc ^ (image[0] & LEAT_ATON_AC_CRC_MASK)) & 255];
    for (uint32_t i = 1; i < ATON_FRAME_MAX && i < flg_at; i++)
        crc = crc >> 8 ^ crc32_lsb[0][(crc ^ image[LEAT_ATON_BOUND(i)]) & 255];
    crc = crc >> 8 ^ crc32_lsb[0][crc & 255]; /* FLG as 0 */
    return (int)~crc;
}

static uint32_t aton_frame_crc(struct aton_frame *f)
{
    return (uint32_t)frame_crc(f);
}

/* Into f->mac: a function of this kind returns 32 bits. */
__attribute__((noinline)) int frame_mac(struct aton_frame *f, uint32_t turn, uint32_t key)
{
    const struct aton_page *page = only(&aton_page);
    if (!f || !page) return 0;
    const uint8_t *o = f->octets + ATON_HEADER_AT;
    const uint32_t len = LEAT_ATON_LIVE_HEADER_LEN + f->image_len;
    struct leat_sip s;
    leat_sip_start(&s, page->keys.of_turn[turn & 1].key[key & (LEAT_KEYS_MAX - 1)]);
    leat_sip_word(&s, leat_get_le64(o));
    leat_sip_word(&s, leat_get_le64(o + 8) & ~UINT64_C(0xff)); /* hops left */
    uint32_t at = 16;
    for (int i = 0; i < ATON_FRAME_MAX / 8 && at + 8 <= len; i++, at += 8)
        leat_sip_word(&s, leat_get_le64(o + LEAT_ATON_BOUND(at)));
    uint64_t rest = 0;
    const uint32_t rest_len = len & 7;
    if (rest_len)
        rest = leat_get_le64(o + LEAT_ATON_BOUND(at)) & (~UINT64_C(0) >> (64 - 8 * rest_len));
    f->mac = leat_sip_finish(&s, rest, len);
    return 0;
}

static uint64_t aton_frame_mac(struct aton_frame *f, const struct aton_page *page, uint32_t turn,
                               uint32_t key)
{
    (void)page;
    frame_mac(f, turn, key);
    return f->mac;
}

static bool aton_rate_allows(const struct aton_config *c, uint16_t sender)
{
    const uint32_t key = sender;
    struct aton_bucket *bucket = bpf_map_lookup_elem(&aton_buckets, &key);
    return bucket && aton_bucket_take(bucket, c->rate_per_s, bpf_ktime_get_ns());
}

static struct aton_window *aton_window_of(uint16_t sender)
{
    const uint32_t key = sender;
    return bpf_map_lookup_elem(&aton_windows, &key);
}

static bool aton_mailbox_takes(struct aton_frame *f, uint32_t at, uint32_t len)
{
    void *record = aton_image(f) + at;
    const uint64_t bounded_len = LEAT_ATON_BOUND(len);
#define PUT(map) (bpf_ringbuf_output(&(map), record, bounded_len, 0) == 0)
    switch (aton_group_of(f)) {
    case 1: return PUT(aton_group_0);
    case 2: return PUT(aton_group_1);
    case 3: return PUT(aton_group_2);
    case 4: return PUT(aton_group_3);
    case 5: return PUT(aton_group_4);
    case 6: return PUT(aton_group_5);
    case 7: return PUT(aton_group_6);
    case 8: return PUT(aton_group_7);
    default: return PUT(aton_mailbox);
    }
#undef PUT
}

/* ---- the program -------------------------------------------------------------------------- */

__attribute__((noinline)) int check(struct aton_frame *f)
{
    const struct aton_config *c = only(&aton_config);
    const struct aton_page *page = only(&aton_page);
    if (!f || !c || !page) return ATON_FAILED;
    return (int)aton_check(f, c, page);
}

__attribute__((noinline)) int admit(struct aton_frame *f)
{
    const struct aton_config *c = only(&aton_config);
    const struct aton_page *page = only(&aton_page);
    if (!f || !c || !page) return ATON_FAILED;
    return (int)aton_admit(f, c, page);
}

__attribute__((noinline)) int fold(struct aton_frame *f)
{
    const struct aton_config *c = only(&aton_config);
    const struct aton_page *page = only(&aton_page);
    if (!f || !c || !page) return ATON_FAILED;
    return (int)aton_fold(f, c, page);
}

__attribute__((noinline)) int seal(struct aton_frame *f, bool changed)
{
    const struct aton_config *c = only(&aton_config);
    const struct aton_page *page = only(&aton_page);
    if (!f || !c || !page) return ATON_FAILED;
    aton_seal(f, c, page, changed);
    return ATON_FOLDED;
}

static __always_inline void count(uint32_t reason)
{
    uint64_t *counter = bpf_map_lookup_elem(&aton_counts, &reason);
    if (counter) ++*counter;
}

/* Writes the frame back, longer if it has grown. */
static __always_inline bool put_back(struct xdp_md *xdp, struct aton_frame *f, uint32_t old_len)
{
    uint32_t len = f->len;
    if (len > ATON_FRAME_MAX || len < ATON_FRAME_MIN) return false;
    if (len != old_len && bpf_xdp_adjust_tail(xdp, (int)(len - old_len))) return false;
    __asm__ volatile("" : "+r"(len));
    if (len > ATON_FRAME_MAX || len < ATON_FRAME_MIN) return false;
    return bpf_xdp_store_bytes(xdp, 0, f->octets, len) == 0;
}

static __always_inline int leave(const struct aton_config *c)
{
    return c->turns_back ? XDP_TX : (int)bpf_redirect(c->out, 0);
}

SEC("xdp")
int aton_xdp(struct xdp_md *xdp)
{
    void *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
    const struct ethhdr *ethernet = data;
    if ((void *)(ethernet + 1) > end || ethernet->h_proto != bpf_htons(LEAT_ATON_ETHER_TYPE))
        return XDP_PASS;
    struct aton_frame *f = only(&aton_frames);
    const struct aton_config *c = only(&aton_config);
    if (!f || !c) return XDP_DROP;

    uint32_t reason, len = (uint32_t)bpf_xdp_get_buff_len(xdp);
    f->len = len;
    if (len > ATON_FRAME_MAX) {
        reason = ATON_LONG;
    } else if (len < ATON_FRAME_MIN) {
        reason = ATON_SHORT;
    } else if (bpf_xdp_load_bytes(xdp, 0, f->octets, len)) {
        reason = ATON_FAILED;
    } else {
        reason = (uint32_t)check(f);
        if (reason == ATON_FOLDED) reason = (uint32_t)admit(f);
        if (reason == ATON_FOLDED) reason = (uint32_t)fold(f);
    }
    if (reason <= ATON_NO_ROOM) {
        seal(f, reason <= ATON_REPLAYED);
        if (put_back(xdp, f, len)) {
            count(reason);
            return leave(c);
        }
        reason = ATON_FAILED;
    }
    count(reason);
    return reason == ATON_OWN ? XDP_PASS : XDP_DROP;
}

char aton_license[] SEC("license") = "BSD";
