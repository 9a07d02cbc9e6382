/*
 * What the data path of a router, its process and observers share. XDP keeps each part in a map of
 * its own; for the others everything is one file in memory, with the groups last:
 *
 *   struct esp_share | struct esp_locked_group x config.group_count
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_SHARED_H
#define LEAT_ESP_SHARED_H

#include "esp_core.h"
#include "esp_duplicate.h"
#include "esp_frame.h"
#include "esp_limits.h"
#include "leat_keys.h"

enum {
    ESP_PORTS_MAX = 16,
    ESP_NEXT_MAX = 16,
    ESP_STORES_MAX = 1 + 2 * ESP_PORTS_MAX,
    ESP_NO_PORT = ESP_PORTS_MAX, /* leaves by a device that is not ours, or not at all */
    ESP_OPCODES = LEAT_ESP_OPCODE_END,
    ESP_WHY_LEN = 320,
};

/*
 * What became of a frame. X(id, name, text): counters are in this order. Up to ASKED the frame is
 * forwarded; the others end here.
 */
#define ESP_REASONS(X)                                                                 \
    X(EXECUTED, "executed", "executed and passed on")                                  \
    X(CARRIED, "carried", "passed on as it came: NOP, X not set, or E set")            \
    X(ABORTED, "aborted", "passed on with E: what the instruction needs is not there") \
    X(FULL, "full", "passed on with E: its buckets are full of live bindings")         \
    X(LIMITED, "limited", "passed on with E: its source or port creates too much")     \
    X(MANAGED, "managed", "passed on: a management packet")                            \
    X(ASKED, "asked", "passed on: a query that this router answers too")               \
    X(STOPPED, "stopped", "executed, and the instruction stops it here")               \
    X(TAKEN, "taken", "a management packet for this router")                           \
    X(DUPLICATED, "duplicated", "copies of it went on to the next addresses")          \
    X(SHORT, "short", "dropped: ends before its packet does")                          \
    X(OPCODE, "opcode", "dropped: unknown opcode")                                     \
    X(LENGTH, "length", "dropped: Length is not the opcode's")                         \
    X(CRC, "crc", "dropped: the CRC does not match")                                   \
    X(TAGS, "tags", "dropped: two tags are equal")                                     \
    X(OPERATOR, "operator", "dropped: unknown operator")                               \
    X(ZERO, "zero", "dropped: the word after the operator is not 0")                   \
    X(UNKEYED, "unkeyed", "dropped: its computation ID is not made with the key")      \
    X(UNSOUND, "unsound", "dropped: the IP or UDP header cannot be right")             \
    X(HOPS, "hops", "dropped: no hops left")                                           \
    X(NO_WAY, "no-way", "dropped: no route to where it wants to go")                   \
    X(UNRESOLVED, "unresolved", "dropped: its next hop has no known Ethernet address") \
    X(FAILED, "failed", "dropped: could not be changed or sent")

enum esp_reason {
#define X(id, name, text) ESP_##id,
    ESP_REASONS(X)
#undef X
        ESP_REASON_COUNT
};

enum esp_way_kind {
    ESP_WAY_HOST, /* to this host's own stack, which may also have to resolve the neighbour first */
    ESP_WAY_OUT,  /* by a device */
    ESP_WAY_NONE, /* no route */
};

/* A store of the router: its node, and the position of its groups among all. */
struct esp_store {
    struct leat_esp_node node;
    uint32_t first;
    uint32_t mask; /* groups - 1 */
};

/* Stores are numbered: the centre 0, input of port p 1 + 2p, output of port p 2 + 2p. */
enum { ESP_STORE_CENTRE = 0, ESP_STORE_INPUT = 1, ESP_STORE_OUTPUT = 2 };

struct esp_port {
    uint32_t device; /* interface index; the overlay has one port without a device */
    uint32_t zero;
    uint8_t mac[8]; /* six octets of it */
    char name[16];  /* name of the device when it was opened: it may be gone by now */
};

/* A configured next hop for destinations in a prefix: an address that is looked up instead of the
 * destination, or a neighbour given by device and Ethernet address, which needs no lookup. */
struct esp_next {
    uint64_t prefix[2], mask[2]; /* IPv4 as ::ffff:a.b.c.d */
    uint64_t address[2];
    uint32_t device; /* 0: by address */
    uint16_t udp_port;
    uint8_t mac[6];
    uint32_t zero;
};

/* A router's configuration. No padding, so that maps accept it. */
struct esp_config {
    uint64_t node_id;
    uint64_t tau_ns;
    uint64_t clock_ns; /* the time, for tests; 0: the kernel's clock */
    uint32_t port_count, next_count, group_count;
    uint32_t has_key, driver, tracing; /* the keys are apart: they change while packets pass */
    uint32_t bare_device;              /* output device of frames on bare links; 0: to the host */
    uint32_t keyed_only;               /* computation IDs must be made with the key */
    uint8_t bare_mac[8];
    struct leat_esp_limits limits;
    uint64_t listen[2]; /* overlay: where it listens; zeros: any address */
    uint16_t listen_port;
    uint16_t generic; /* 1: XDP in generic mode, on the kernel's packets */
    uint16_t zeros[2];
    struct esp_port port[ESP_PORTS_MAX];
    struct esp_next next[ESP_NEXT_MAX];
    struct esp_store store[ESP_STORES_MAX];
};

struct esp_counts {
    uint64_t reason[ESP_REASON_COUNT];
    uint64_t verdict[ESP_OPCODES][LEAT_ESP_VERDICTS]; /* results of instructions, per store */
    uint64_t created;                                 /* bindings */
    uint64_t host;                                    /* in total, passed to the host */
};

/* One frame being processed. */
struct esp_pass {
    struct leat_esp_words words;
    struct esp_place at;
    uint64_t source;  /* its sender's address, folded */
    uint32_t port;    /* input port */
    uint32_t changed; /* 1: words differ from what is in the frame */
    uint32_t limited; /* 1: creations are limited */
    uint32_t zero;
};

/* The router's process receives it, whether or not it is also forwarded. */
static inline bool esp_is_for_process(uint32_t reason)
{
    return reason == ESP_ASKED || reason == ESP_TAKEN || reason == ESP_DUPLICATED;
}

/* ESP_NO_PORT: not one of ours. */
static inline uint32_t esp_port_of(const struct esp_config *c, uint32_t device)
{
    for (uint32_t i = 0; i < ESP_PORTS_MAX; i++) {
        if (i >= c->port_count) break;
        if (c->port[i].device == device) return i;
    }
    return ESP_NO_PORT;
}

/* The first match; ESP_NEXT_MAX: none. */
static inline uint32_t esp_next_of(const struct esp_config *c, const uint64_t to[2])
{
    for (uint32_t i = 0; i < ESP_NEXT_MAX; i++) {
        if (i >= c->next_count) break;
        const struct esp_next *n = &c->next[i];
        if ((((to[0] & n->mask[0]) ^ n->prefix[0]) | ((to[1] & n->mask[1]) ^ n->prefix[1])) == 0)
            return i;
    }
    return ESP_NEXT_MAX;
}

/* ---- under locks ---------------------------------------------------------------------------- */

/* The kernel's lock in XDP; in user space a sequence number that is odd while the data changes. */
#ifdef __bpf__
#define ESP_LOCK struct bpf_spin_lock
#else
#define ESP_LOCK uint32_t
#endif

/* Values of a kernel array begin 16 octets after a cache line: this aligns the buckets to one. */
struct esp_locked_group {
    ESP_LOCK lock;
    uint32_t zero;
    uint64_t filler[5];
    struct leat_esp_group group;
    uint64_t tail[2];
};

struct esp_locked_ingress {
    ESP_LOCK lock;
    uint32_t zero;
    struct leat_esp_ingress ingress;
};

/* ---- what the data path reports to the router's process ------------------------------------- */

enum {
    ESP_EVENT_FRAME,
    ESP_EVENT_SIGHT,
    ESP_EVENT_FRAME_MAX = 1280, /* the longest management packet, in its frame */
    ESP_SIGHTS = 1024,
};

/* A management packet, in its frame. */
struct esp_event {
    uint32_t kind, port, frame_len, zero;
    uint8_t frame[ESP_EVENT_FRAME_MAX];
};

/* A packet that passed while an observer watches. */
struct esp_sight {
    uint32_t kind, port, reason, carriage;
    uint64_t at_ns;
    uint64_t source[2], destination[2];
    struct leat_esp_words words; /* as they left */
};

/* The latest packets. next counts all; sight i is at i mod ESP_SIGHTS. */
struct esp_sights {
    uint64_t next;
    struct esp_sight sight[ESP_SIGHTS];
};

#ifndef __bpf__
struct esp_share {
    char magic[8];
    uint64_t len; /* of the file */
    struct esp_config config;
    struct leat_key_ring keys;
    struct esp_sights sights;
    char why[ESP_WHY_LEN], mode[ESP_WHY_LEN]; /* why this driver, and its mode, for people */
    int slower_at;    /* offset in mode of the reason why it is slower; -1: it is not */
    uint64_t refused; /* management packets for the router: wrong key or malformed */
    uint64_t unsent;  /* answers and copies that its process could not send */
    /* For the drivers in user space; XDP has maps for these. */
    struct esp_counts counts;
    struct esp_locked_ingress ingress[ESP_PORTS_MAX];
    struct leat_esp_budget budget[LEAT_ESP_BUDGETS];
    struct leat_esp_duplicates duplicates;
    uint64_t filler[7]; /* behind it, the groups of esp_locked_group are at cache lines */
};
#endif

#endif
