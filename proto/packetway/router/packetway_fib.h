/*
 * The forwarding table of a half-router: every address that it knows, with the routes to it,
 * computed from its local table (LRT) and the external ones (XRT) whenever these change.
 *
 *      address --hash--> entry 20 octets --> native route: a node of this SAN
 *                                        --> best twin, best buddy, and which of them is better
 *                                        --> the failure that removed the last route
 *      else ranges, the preferred ones first
 *
 * A packet from a buddy may be forwarded to a twin only, one from a twin to a buddy only (spec
 * 5.3), so the best of each kind is all that is needed. Half of the slots stay empty: 40 octets per
 * address. The lookup is header-only and uses no pointer that a kernel map could not replace.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_FIB_H
#define LEAT_PACKETWAY_FIB_H

#include "packetway_record.h"
#include <leat/time.h>

enum {
    LEAT_PACKETWAY_TWINS_MAX = 16,
    LEAT_PACKETWAY_BUDDIES_MAX = 64,
    LEAT_PACKETWAY_FAILURES_MAX = 16,   /* remembered at a time */
    LEAT_PACKETWAY_KNOWN_MAX = 1 << 22, /* addresses */
    LEAT_PACKETWAY_RANGES_MAX = 16384,
    LEAT_PACKETWAY_PAGE_BITS = 6,   /* addresses of a page: 64 */
    LEAT_PACKETWAY_PAGES = 1024,    /* lists of ranges; pages share them */
    LEAT_PACKETWAY_RANGE_PAGES = 8, /* of a range that is in lists; a wider one is in its own */
};

/* How the SAN addresses a node: opaque to PacketWay. One cache line. */
struct leat_packetway_native {
    uint8_t len; /* 0: the SAN needs no route (point to point) */
    uint8_t octets[LEAT_PACKETWAY_L2RH_LEN_MAX];
};

struct leat_packetway_neighbour {
    uint32_t address;
    uint32_t mtu_words; /* twin: of the router link; 0 = unlimited */
    uint32_t native;    /* buddy: 1 + index of its native route */
    uint16_t q;
    bool up;
};

enum {
    LEAT_PACKETWAY_ENTRY_ME = 1,         /* deliver here */
    LEAT_PACKETWAY_ENTRY_TWIN = 2,       /* the address is the twin's own */
    LEAT_PACKETWAY_ENTRY_BUDDY_LEADS = 4 /* the best buddy is better than the best twin */
};

struct leat_packetway_entry {
    uint32_t dt;     /* 0: the slot is empty */
    uint32_t native; /* 1 + index of the native route; 0: not on this SAN */
    uint16_t twin_q, buddy_q;
    uint16_t definer;    /* 1 + index of the first XRT with this address; 0: none */
    uint8_t twin, buddy; /* 1 + index; 0: no route of this kind */
    uint8_t failure;     /* 1 + index: why the last route is gone */
    uint8_t flags;
};

/* Addresses that are known only as a range. Those of this SAN come first, then by preference. */
struct leat_packetway_range {
    struct leat_packetway_address address;
    struct leat_packetway_entry entry; /* dt 0; at most one route */
};

/* Ranges by the pages that they meet, each list in the order of the ranges. Numbers + 1. */
struct leat_packetway_range_list {
    uint32_t first, last;
};
struct leat_packetway_range_link {
    uint32_t range, next;
};
struct leat_packetway_range_index {
    struct leat_packetway_range_list wide, page[LEAT_PACKETWAY_PAGES];
    struct leat_packetway_range_link *links; /* leat_packetway_fib_links of them */
    uint32_t used;
};

/* An accepted ERR/HRDOWN or LINKDOWN: the error sent to traffic for the lost nodes (spec 6.6). */
struct leat_packetway_failure {
    uint16_t te;
    uint32_t a, b;
    leat_time until; /* 0: free */
};

struct leat_packetway_fib {
    struct leat_packetway_entry *entries;
    struct leat_packetway_range *ranges;
    struct leat_packetway_range_index *index; /* of the ranges; NULL: all are looked at */
    const struct leat_packetway_native *natives;
    uint32_t slot_bits; /* 1 << slot_bits entries */
    uint32_t count, known_max;
    uint32_t range_count, ranges_max;
    uint32_t twin_count, buddy_count;
    uint32_t mtu_words; /* of this SAN */
    uint32_t version;   /* changes with every update */
    struct leat_packetway_neighbour twins[LEAT_PACKETWAY_TWINS_MAX];
    struct leat_packetway_neighbour buddies[LEAT_PACKETWAY_BUDDIES_MAX];
    struct leat_packetway_failure failures[LEAT_PACKETWAY_FAILURES_MAX];
};

/* ---- lookup -------------------------------------------------------------------------------- */

static inline uint32_t leat_packetway_fib_slot(const struct leat_packetway_fib *fib, uint32_t dt)
{
    return dt * UINT32_C(0x9E3779B1) >> (32 - fib->slot_bits);
}

static inline struct leat_packetway_entry *
leat_packetway_fib_exact(const struct leat_packetway_fib *fib, uint32_t dt)
{
    const uint32_t mask = (UINT32_C(1) << fib->slot_bits) - 1;
    for (uint32_t slot = leat_packetway_fib_slot(fib, dt);; slot = (slot + 1) & mask) {
        struct leat_packetway_entry *e = &fib->entries[slot];
        if (e->dt == dt) return e;
        if (!e->dt) return NULL;
    }
}

/* Combined ranges: the first of this SAN, or the first of each kind of route. */
const struct leat_packetway_entry *leat_packetway_fib_ranges(const struct leat_packetway_fib *fib,
                                                             uint32_t dt,
                                                             struct leat_packetway_entry *room);

/* What is known of an address, or NULL. Lent until the next change, or `room`. dt is not 0. */
static inline const struct leat_packetway_entry *
leat_packetway_fib_find(const struct leat_packetway_fib *fib, uint32_t dt,
                        struct leat_packetway_entry *room)
{
    const struct leat_packetway_entry *e = leat_packetway_fib_exact(fib, dt);
    if (e || !fib->range_count) return e;
    return leat_packetway_fib_ranges(fib, dt, room);
}

/* ---- making it ----------------------------------------------------------------------------- */

/* Slots for that many addresses: a power of two, at least twice as many. */
uint32_t leat_packetway_fib_slot_bits(uint32_t known_max);

/* Links that an index of that many ranges needs. */
static inline size_t leat_packetway_fib_links(uint32_t ranges_max)
{
    return (size_t)ranges_max * (LEAT_PACKETWAY_RANGE_PAGES + 1);
}

/* Adds a range behind the others. False: no room. */
bool leat_packetway_fib_add_range(struct leat_packetway_fib *fib,
                                  const struct leat_packetway_address *address,
                                  const struct leat_packetway_entry *entry);

/* The ranges that may hold dt, in their order. Begin with zeroes; false: no more. */
struct leat_packetway_range_walk {
    uint32_t at, wide;
    bool begun;
};
bool leat_packetway_fib_next_range(const struct leat_packetway_fib *fib, uint32_t dt,
                                   struct leat_packetway_range_walk *walk, uint32_t *range);

/* Forgets all addresses. The neighbours stay. */
void leat_packetway_fib_clear(struct leat_packetway_fib *fib);

/* The entry of an address, created if missing; NULL: no room. */
struct leat_packetway_entry *leat_packetway_fib_take(struct leat_packetway_fib *fib, uint32_t dt);

/*
 * Adds a route to `entry` of total quality q through twin or buddy `index`. Equal routes are
 * offered in order of increasing preference: shorter RCVF first, then the lower address (spec 5.3,
 * rule 5).
 */
void leat_packetway_entry_offer(struct leat_packetway_entry *entry, bool twin, uint32_t index,
                                uint16_t q);

#endif
