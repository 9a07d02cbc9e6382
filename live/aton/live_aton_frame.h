/*
 * A live station's constants and memory: what the gate (live_aton_gate.h), the drivers and the host
 * share.
 *
 *    0      6      12     14        26              26+n          26+n+8
 *   +------+------+------+---------+---------------+-------------+---------+
 *   | to   | from | 88B6 | header  | octet image n | MAC if key  | padding |
 *   +------+------+------+---------+---------------+-------------+---------+
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_LIVE_ATON_FRAME_H
#define LEAT_LIVE_ATON_FRAME_H

#include "aton_live.h"
#include "aton_visit.h"
#include "leat_keys.h"

enum {
    ATON_MAC_LEN = 6,
    ATON_TO_AT = 0,
    ATON_FROM_AT = 6,
    ATON_TYPE_AT = 12,
    ATON_HEADER_AT = 14,
    ATON_SEQUENCE_AT = ATON_HEADER_AT + 4,
    ATON_HOPS_AT = ATON_HEADER_AT + 8,
    ATON_FLAGS_AT = ATON_HEADER_AT + 9,
    ATON_ZERO_AT = ATON_HEADER_AT + 10,
    ATON_IMAGE_AT = ATON_HEADER_AT + LEAT_ATON_LIVE_HEADER_LEN,
    ATON_FRAME_MIN = ATON_IMAGE_AT + LEAT_ATON_IMAGE_LEN_MIN,
    ATON_FRAME_MAX = 1514, /* an Ethernet frame without its check sequence */
    ATON_ETHERNET_MIN = 60,
    ATON_LONGEST_FOLD = ATON_IMAGE_AT + 30 + LEAT_ATON_MAC_LEN, /* W = 64 */
    ATON_HOPS_MAX = 255,
    ATON_SPAN = 2048, /* offsets into the image are bounded by it; a power of two */
    ATON_OCTETS = ATON_IMAGE_AT + ATON_SPAN + 16,
    ATON_AWAITED_MAX = 65536, /* own packets: this many of the latest are accepted */
    ATON_WHY_LEN = 320,
    ATON_MAILBOX_LEN = 65536, /* octets of unread messages; a power of two */
    ATON_SERIAL_LEN = 8,      /* with a key, it precedes the octets of a message */
    ATON_WINDOW = 4,          /* serials remembered per sender; a power of two */
    ATON_SENDERS = 65536,
    ATON_GROUPS = 8, /* a group's packets have its number plus one as live flags */
    ATON_GROUP_REGISTERS = LEAT_ATON_REGISTERS / ATON_GROUPS,
};

/* What became of a frame. X(id, name, text): counters are in this order; up to REPLAYED it was
 * changed and forwarded, up to NO_ROOM it is forwarded unchanged. */
#define ATON_REASONS(X)                                                                      \
    X(FOLDED, "folded", "took part and passed on")                                           \
    X(COPIED, "copied", "passive, to this station: copied to its mailbox and passed on")     \
    X(MAILBOX_FULL, "mailbox-full", "passive, to this station: passed on, mailbox full")     \
    X(REPLAYED, "replayed",                                                                  \
      "passive, to this station: passed on, not copied: its serial is not new")              \
    X(REPEATED, "repeated", "passed on as it came")                                          \
    X(NO_ROOM, "no-room", "passed on as it came: no room for one value more")                \
    X(OWN, "own", "own packet, back from the ring: handed to the host")                      \
    X(SHORT, "short", "dropped: ends before its image or its MAC does")                      \
    X(LONG, "long", "dropped: longer than an Ethernet frame")                                \
    X(ELSEWHERE, "elsewhere", "dropped: for another Ethernet address")                       \
    X(STRANGER, "stranger", "dropped: not from the previous station")                        \
    X(FOREIGN, "foreign", "dropped: of another ring")                                        \
    X(MALFORMED, "malformed", "dropped: fields that no packet has")                          \
    X(MAC, "mac", "dropped: the keyed MAC does not match")                                   \
    X(CRC, "crc", "dropped: the CRC does not match")                                         \
    X(HOPS, "hops", "dropped: no hops left")                                                 \
    X(RATE, "rate", "dropped: its sender sends too often")                                   \
    X(UNASKED, "unasked",                                                                    \
      "dropped: not sent by us, from our address: another station has it, or lies about it") \
    X(FAILED, "failed", "dropped: could not be changed or sent")

enum aton_reason {
#define X(id, name, text) ATON_##id,
    ATON_REASONS(X)
#undef X
        ATON_REASON_COUNT
};

/* A station's configuration. Lengths are multiples of 8, so that maps have no gaps. */
struct aton_config {
    uint32_t ring_id;
    uint32_t device, out;                          /* interface indices */
    uint32_t rate_per_s;                           /* packets per sender; 0: unlimited */
    uint8_t own[8], from[8], previous[8], next[8]; /* Ethernet addresses: six octets of each */
    uint32_t has_key;                              /* the keys are in the page */
    uint32_t driver;
    uint32_t frame_max;     /* MTU of the output, at most ATON_FRAME_MAX */
    uint32_t turns_back;    /* 1: XDP_TX; else redirected to `out` */
    char why[ATON_WHY_LEN]; /* why this driver, for people */
};

/* What the host and the passing packets share: mapped by both. */
struct aton_page {
    struct leat_aton_interface interface;
    uint32_t issued; /* sequence number of the latest packet sent */
    uint32_t used;   /* bits: blocks of registers that groups use */
    uint64_t serial; /* of the latest message sent with a key */
    struct leat_key_ring keys;
};

struct aton_frame {
    uint32_t len;
    uint32_t image_len;
    uint64_t mac; /* as computed by aton_frame_mac */
    uint8_t octets[ATON_OCTETS];
};

/* A sender's budget: what is left, and at what time. */
struct aton_bucket {
    uint64_t at_ns;
    uint64_t tokens_ns; /* accrued time: a packet costs 1e9 / rate */
};

/*
 * The latest messages of one sender. A serial is the sender's time of day in nanoseconds, or its
 * last serial plus one: it increases, over restarts too. A message is new if its serial is above
 * the oldest that is remembered, and not among them; messages of several processes may thus
 * overtake each other a little.
 */
struct aton_window {
    uint64_t serial[ATON_WINDOW];
};

/* Is it new? Then it is recorded, by exactly one of the processors that may have it at once. */
static inline bool aton_window_take(struct aton_window *w, uint64_t serial)
{
    for (int tries = 0; tries < ATON_WINDOW; tries++) {
        uint32_t oldest = 0;
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < ATON_WINDOW; i++) {
            const uint64_t seen = *(volatile uint64_t *)&w->serial[i];
            if (seen == serial) return false;
            if (seen < least) {
                least = seen;
                oldest = i;
            }
        }
        if (serial < least) return false;
        if (__sync_val_compare_and_swap(&w->serial[oldest & (ATON_WINDOW - 1)], least, serial) ==
            least)
            return true;
    }
    return false;
}

static inline bool aton_same_mac(const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < ATON_MAC_LEN; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static inline void aton_put_mac(uint8_t *to, const uint8_t *mac)
{
    for (int i = 0; i < ATON_MAC_LEN; i++)
        to[i] = mac[i];
}

/* At most a quarter second accrues. Returns whether one more packet is within the rate. */
static inline bool aton_bucket_take(struct aton_bucket *b, uint32_t rate_per_s, uint64_t now_ns)
{
    const uint64_t saved_max = 250000000, price = 1000000000u / rate_per_s;
    uint64_t saved = b->tokens_ns + (now_ns - b->at_ns);
    if (b->at_ns == 0 || saved > saved_max) saved = saved_max;
    b->at_ns = now_ns;
    b->tokens_ns = saved >= price ? saved - price : saved;
    return saved >= price;
}

static inline uint8_t *aton_image(struct aton_frame *f)
{
    return f->octets + ATON_IMAGE_AT;
}

static inline uint32_t aton_mac_len(const struct aton_config *c)
{
    return c->has_key ? LEAT_ATON_MAC_LEN : 0;
}

#endif
