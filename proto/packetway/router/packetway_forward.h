/*
 * The forwarding path of a half-router (spec 5.2 to 5.8), shared by the simulator, user space and
 * the kernel: static inline, bounded, without external calls except the lookup.
 *
 *              +---------------------- router ----------------------+
 *   SAN 1 ---- | HR (SAN side) ----- twin link ----- HR (SAN side)  | ---- SAN 2
 *   hosts,     +----------------------------------------------------+
 *   buddies
 *
 *   symbols              consumed by the half-router that receives them
 *   L2RH, from this SAN  to the only twin unchanged; of several, to the twin that the L2RH names,
 *                        consumed
 *   L2RH, from a twin    consumed: its octets are the native route
 *   PH                   L3: by address, packetway_fib.h
 *
 * A packet is only read here. The sender drops the first `consumed` octets and, on a SAN, calls
 * leat_packetway_seal to apply the EI rule to its own copy.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_FORWARD_H
#define LEAT_PACKETWAY_FORWARD_H

#include "leat_bytes.h"
#include "packetway_fib.h"

/*
 * Every offset into the packet goes through LEAT_PACKETWAY_BOUND; if a verifier must see that it
 * stays inside a buffer, the includer defines it. LEAT_PACKETWAY_FIND(fib, dt, room) looks up an
 * address, LEAT_PACKETWAY_NATIVE(fib, index) a native route: both may be maps.
 */
#ifndef LEAT_PACKETWAY_BOUND
#define LEAT_PACKETWAY_BOUND(offset) (offset)
#endif
#ifndef LEAT_PACKETWAY_FRONT_MAX
#define LEAT_PACKETWAY_FRONT_MAX 64u /* leading records; the includer may read fewer */
#endif
#ifndef LEAT_PACKETWAY_FIND
#define LEAT_PACKETWAY_FIND               leat_packetway_fib_find
#define LEAT_PACKETWAY_NATIVE(fib, index) (&(fib)->natives[index])
#endif

enum {
    LEAT_PACKETWAY_PACKET_MIN = 24,
    LEAT_PACKETWAY_TWIN_HOP_LEN = 3, /* octets of an L2RH that names a twin */
    LEAT_PACKETWAY_START_LEN = 13,   /* of PH: up to DL and h */
};

/* Where a packet comes from. SELF: this half-router is its source. */
enum leat_packetway_side {
    LEAT_PACKETWAY_FROM_HOST, /* a node of this SAN, or unknown */
    LEAT_PACKETWAY_FROM_BUDDY,
    LEAT_PACKETWAY_FROM_TWIN,
    LEAT_PACKETWAY_FROM_SELF,
};

enum leat_packetway_verdict {
    LEAT_PACKETWAY_DROP,    /* silently; the reason is counted */
    LEAT_PACKETWAY_DELIVER, /* for this half-router */
    LEAT_PACKETWAY_TO_TWIN, /* over the router link, EI untouched */
    LEAT_PACKETWAY_TO_SAN,  /* on this SAN by `route`, after the EI rule */
    LEAT_PACKETWAY_COPIES,  /* logical: see leat_packetway_router_copy */
    LEAT_PACKETWAY_REFUSE,  /* an ERR may be due */
};

#define LEAT_PACKETWAY_REASON_LIST(X)                                 \
    X(NONE, "none")                                                   \
    X(VERSION, "version is not 0")                                    \
    X(ALIGN, "length is not whole words")                             \
    X(SHORT, "packet ends too early")                                 \
    X(L2RH_LEN, "L2RH without route octets")                          \
    X(TOO_MANY, "more than 64 leading records")                       \
    X(NO_TWIN, "L2RH names no twin")                                  \
    X(ADDRESS, "destination 0 or of the reserved class")              \
    X(UNKNOWN, "destination unknown, or only where it must not go")   \
    X(FAILED, "destination known only through what is reported down") \
    X(LINK, "the link to the twin is down")                           \
    X(MTU, "packet above the MTU")

enum leat_packetway_reason {
#define X(id, text) LEAT_PACKETWAY_REASON_##id,
    LEAT_PACKETWAY_REASON_LIST(X)
#undef X
        LEAT_PACKETWAY_REASON_COUNT
};

struct leat_packetway_decision {
    uint8_t verdict, reason;
    uint8_t priority;     /* of this hop */
    uint8_t twin;         /* TO_TWIN, LINK: index */
    uint8_t buddy;        /* TO_SAN: 1 + index of the buddy that forwards it; 0: none */
    uint8_t failure;      /* FAILED: 1 + index */
    uint8_t route_len;    /* TO_SAN */
    bool layer2;          /* by an L2RH */
    uint32_t consumed;    /* octets removed from the front */
    uint32_t header_at;   /* of PH, from the original front; whole packets only */
    uint32_t dt;          /* layer 3 */
    uint32_t mtu_words;   /* of the output */
    const uint8_t *route; /* lent from the packet or the table */
};

/* ---- leading records ----------------------------------------------------------------------- */

static inline uint32_t leat_packetway_l2rh_size(uint32_t len)
{
    return (LEAT_PACKETWAY_L2RH_HEAD_LEN + len + 7) / 8 * 8;
}

static inline uint32_t leat_packetway_symbol_size(uint32_t len)
{
    return (LEAT_PACKETWAY_SYMBOL_HEAD_LEN + len + 7) / 8 * 8;
}

/* Are there `more` octets from `at` on? */
static inline bool leat_packetway_has(uint32_t seen, uint32_t at, uint32_t more)
{
    return at <= seen && seen - at >= more;
}

/*
 * The offset of PH after at most `max` leading records from `at` on; or an error of spec 2.2 (b),
 * lenient. `seen` octets are available.
 */
static inline enum leat_packetway_reason leat_packetway_find_header(const uint8_t *octets,
                                                                    uint32_t seen, uint32_t at,
                                                                    uint32_t max, uint32_t *out)
{
    for (uint32_t i = 0; i <= LEAT_PACKETWAY_FRONT_MAX; i++) {
        if (!leat_packetway_has(seen, at, LEAT_PACKETWAY_PACKET_MIN))
            return LEAT_PACKETWAY_REASON_SHORT;
        const uint8_t *head = octets + LEAT_PACKETWAY_BOUND(at);
        if (head[0] >> 6) return LEAT_PACKETWAY_REASON_VERSION;
        if (!leat_packetway_leading_begins(head[1])) {
            *out = at;
            return LEAT_PACKETWAY_REASON_NONE;
        }
        if (head[1] == LEAT_PACKETWAY_L2RH_CLASS) return LEAT_PACKETWAY_REASON_L2RH_LEN;
        const uint32_t size = leat_packetway_is_l2rh(head[1])
                                  ? leat_packetway_l2rh_size(head[1] & LEAT_PACKETWAY_L2RH_LEN_MAX)
                                  : leat_packetway_symbol_size(head[LEAT_PACKETWAY_SYMBOL_L_AT]);
        if (size > seen - at) return LEAT_PACKETWAY_REASON_SHORT;
        if (i >= max) break;
        at += size;
    }
    return LEAT_PACKETWAY_REASON_TOO_MANY;
}

/* ---- where to ------------------------------------------------------------------------------ */

static inline void leat_packetway_refuse(struct leat_packetway_decision *d,
                                         enum leat_packetway_reason reason)
{
    d->verdict = LEAT_PACKETWAY_REFUSE;
    d->reason = (uint8_t)reason;
}

static inline void leat_packetway_drop(struct leat_packetway_decision *d,
                                       enum leat_packetway_reason reason)
{
    d->verdict = LEAT_PACKETWAY_DROP;
    d->reason = (uint8_t)reason;
}

static inline void leat_packetway_hand_over(const struct leat_packetway_fib *fib, uint32_t twin,
                                            struct leat_packetway_decision *d)
{
    const struct leat_packetway_neighbour *t = &fib->twins[twin & (LEAT_PACKETWAY_TWINS_MAX - 1)];
    d->twin = (uint8_t)twin;
    d->mtu_words = t->mtu_words;
    d->verdict = LEAT_PACKETWAY_TO_TWIN;
    if (!t->up) leat_packetway_refuse(d, LEAT_PACKETWAY_REASON_LINK);
}

static inline void leat_packetway_emit(const struct leat_packetway_fib *fib, uint32_t native,
                                       struct leat_packetway_decision *d)
{
    const struct leat_packetway_native *n = LEAT_PACKETWAY_NATIVE(fib, native - 1);
    if (!n) { /* the map may have lost it */
        leat_packetway_refuse(d, LEAT_PACKETWAY_REASON_UNKNOWN);
        return;
    }
    d->route = n->octets;
    d->route_len = n->len;
    d->mtu_words = fib->mtu_words;
    d->verdict = LEAT_PACKETWAY_TO_SAN;
}

/*
 * Rule 5 with its restrictions: from a buddy to a twin, from a twin to a buddy, otherwise to the
 * better one.
 */
static inline void leat_packetway_next_hop(const struct leat_packetway_fib *fib,
                                           const struct leat_packetway_entry *e,
                                           enum leat_packetway_side side,
                                           struct leat_packetway_decision *d)
{
    const bool twin = e->twin && side != LEAT_PACKETWAY_FROM_TWIN;
    const bool buddy = e->buddy && side != LEAT_PACKETWAY_FROM_BUDDY;
    if (buddy && (!twin || e->flags & LEAT_PACKETWAY_ENTRY_BUDDY_LEADS)) {
        d->buddy = e->buddy;
        leat_packetway_emit(
            fib, fib->buddies[(e->buddy - 1u) & (LEAT_PACKETWAY_BUDDIES_MAX - 1)].native, d);
    } else if (twin) {
        leat_packetway_hand_over(fib, e->twin - 1u, d);
    } else {
        d->failure = e->failure;
        leat_packetway_refuse(d, e->failure ? LEAT_PACKETWAY_REASON_FAILED
                                            : LEAT_PACKETWAY_REASON_UNKNOWN);
    }
}

/* Spec 5.3. */
static inline void leat_packetway_by_address(const struct leat_packetway_fib *fib,
                                             enum leat_packetway_side side, uint32_t dt,
                                             struct leat_packetway_decision *d)
{
    struct leat_packetway_entry room;
    d->dt = dt;
    if (dt & LEAT_PACKETWAY_NOT_PHYSICAL) {
        if (leat_packetway_class_of(dt) == LEAT_PACKETWAY_CLASS_LOGICAL)
            d->verdict = LEAT_PACKETWAY_COPIES;
        else
            leat_packetway_refuse(d, LEAT_PACKETWAY_REASON_ADDRESS);
        return;
    }
    if (dt >= LEAT_PACKETWAY_ADDRESS_HEY_YOU) {
        d->verdict = LEAT_PACKETWAY_DELIVER;
        return;
    }
    const struct leat_packetway_entry *e = dt ? LEAT_PACKETWAY_FIND(fib, dt, &room) : NULL;
    if (!e)
        leat_packetway_refuse(d,
                              dt ? LEAT_PACKETWAY_REASON_UNKNOWN : LEAT_PACKETWAY_REASON_ADDRESS);
    else if (e->flags & LEAT_PACKETWAY_ENTRY_ME)
        d->verdict = LEAT_PACKETWAY_DELIVER;
    else if (e->flags & LEAT_PACKETWAY_ENTRY_TWIN && side != LEAT_PACKETWAY_FROM_TWIN)
        leat_packetway_hand_over(fib, e->twin - 1u, d);
    else if (e->native)
        leat_packetway_emit(fib, e->native, d);
    else
        leat_packetway_next_hop(fib, e, side, d);
}

static inline void leat_packetway_by_name_of_twin(const struct leat_packetway_fib *fib,
                                                  const uint8_t *octets, uint32_t len,
                                                  struct leat_packetway_decision *d)
{
    leat_packetway_refuse(d, LEAT_PACKETWAY_REASON_NO_TWIN);
    if (len != LEAT_PACKETWAY_TWIN_HOP_LEN) return;
    const uint32_t address = leat_get_be24(octets);
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TWINS_MAX && i < fib->twin_count; i++)
        if (fib->twins[i].address == address) {
            d->reason = LEAT_PACKETWAY_REASON_NONE;
            leat_packetway_hand_over(fib, i, d);
            return;
        }
}

/* An L2RH at `at`. Returns how many octets must be available, or 0 when it is decided. */
static inline uint32_t leat_packetway_by_route(const struct leat_packetway_fib *fib,
                                               enum leat_packetway_side side, const uint8_t *octets,
                                               uint32_t seen, uint32_t at,
                                               struct leat_packetway_decision *d)
{
    const uint8_t *head = octets + LEAT_PACKETWAY_BOUND(at);
    const uint32_t len = head[1] & LEAT_PACKETWAY_L2RH_LEN_MAX;
    d->layer2 = true;
    d->priority = head[0] & LEAT_PACKETWAY_PRIORITY_MAX;
    d->consumed = at;
    if (!len) {
        leat_packetway_drop(d, LEAT_PACKETWAY_REASON_L2RH_LEN);
        return 0;
    }
    if (side != LEAT_PACKETWAY_FROM_TWIN && fib->twin_count == 1) {
        leat_packetway_hand_over(fib, 0, d);
        return 0;
    }
    if (!leat_packetway_has(seen, at, 2 + len)) return at + 2 + len;
    d->consumed = at + leat_packetway_l2rh_size(len);
    if (side != LEAT_PACKETWAY_FROM_TWIN) {
        leat_packetway_by_name_of_twin(fib, head + 2, len, d);
        return 0;
    }
    d->route = head + 2;
    d->route_len = (uint8_t)len;
    d->mtu_words = fib->mtu_words;
    d->verdict = LEAT_PACKETWAY_TO_SAN;
    return 0;
}

/*
 * Decides on as few octets as possible: `seen` octets from the front (spec 5.8; L3 needs 4 after
 * the symbols). Returns how many octets must be available first, or 0: then *d is the decision,
 * except for the MTU and, at layer 2, a priority that only PH has.
 */
static inline uint32_t leat_packetway_front(const struct leat_packetway_fib *fib,
                                            enum leat_packetway_side side, const uint8_t *octets,
                                            uint32_t seen, struct leat_packetway_decision *d)
{
    uint32_t at = 0;
    *d = (struct leat_packetway_decision){ 0 };
    for (uint32_t i = 0; i <= LEAT_PACKETWAY_FRONT_MAX; i++) {
        if (!leat_packetway_has(seen, at, 2)) return at + 2;
        const uint8_t *head = octets + LEAT_PACKETWAY_BOUND(at);
        if (head[0] >> 6) {
            leat_packetway_drop(d, LEAT_PACKETWAY_REASON_VERSION);
            return 0;
        }
        if (leat_packetway_is_l2rh(head[1]))
            return leat_packetway_by_route(fib, side, octets, seen, at, d);
        if (!leat_packetway_is_symbol(head[1])) {
            if (!leat_packetway_has(seen, at, 4)) return at + 4;
            d->consumed = at;
            d->priority = head[0] & LEAT_PACKETWAY_PRIORITY_MAX;
            leat_packetway_by_address(fib, side, leat_get_be24(head + LEAT_PACKETWAY_DT_AT), d);
            return 0;
        }
        if (!leat_packetway_has(seen, at, LEAT_PACKETWAY_SYMBOL_HEAD_LEN))
            return at + LEAT_PACKETWAY_SYMBOL_HEAD_LEN;
        at += leat_packetway_symbol_size(head[LEAT_PACKETWAY_SYMBOL_L_AT]);
    }
    leat_packetway_drop(d, LEAT_PACKETWAY_REASON_TOO_MANY);
    return 0;
}

static inline bool leat_packetway_goes_on(const struct leat_packetway_decision *d)
{
    return d->verdict == LEAT_PACKETWAY_TO_TWIN || d->verdict == LEAT_PACKETWAY_TO_SAN;
}

/* The decision for a whole packet. */
static inline void leat_packetway_forward(const struct leat_packetway_fib *fib,
                                          enum leat_packetway_side side, const uint8_t *octets,
                                          uint32_t len, struct leat_packetway_decision *d)
{
    uint32_t header_at = 0;
    enum leat_packetway_reason reason = LEAT_PACKETWAY_REASON_ALIGN;
    if (len % 8 == 0)
        reason = leat_packetway_find_header(octets, len, 0, LEAT_PACKETWAY_FRONT_MAX, &header_at);
    if (reason != LEAT_PACKETWAY_REASON_NONE) {
        *d = (struct leat_packetway_decision){ 0 };
        leat_packetway_drop(d, reason);
        return;
    }
    if (leat_packetway_front(fib, side, octets, len, d))
        leat_packetway_drop(d, LEAT_PACKETWAY_REASON_SHORT);
    d->header_at = header_at;
    if (d->layer2 && !d->priority) d->priority = octets[LEAT_PACKETWAY_BOUND(header_at)] & 63;
    if (leat_packetway_goes_on(d) && d->mtu_words && (len - d->consumed) / 8 > d->mtu_words)
        leat_packetway_refuse(d, LEAT_PACKETWAY_REASON_MTU);
}

/* ---- EI ------------------------------------------------------------------------------------ */

static inline uint32_t leat_packetway_dl(const uint8_t *header)
{
    return (uint32_t)(header[LEAT_PACKETWAY_E_AT] & 1) << 24 |
           leat_get_be24(header + LEAT_PACKETWAY_DL_AT);
}

/* Does the length contradict DL, after PH at `at`? OH fields take at least one word more. */
static inline bool leat_packetway_contradicts(const uint8_t *octets, uint32_t len, uint32_t at)
{
    const uint8_t *h = octets + LEAT_PACKETWAY_BOUND(at);
    const uint32_t dl = leat_packetway_dl(h);
    const uint32_t words = (len - at) / 8;
    return h[LEAT_PACKETWAY_H_AT] >> 7 ? words < dl + 4 : words != dl + 3;
}

/*
 * The EI rule, applied once per router by the half-router that sends on a SAN (spec 5.6), to its
 * copy of the packet. `header_at` is the offset of PH in these octets.
 */
static inline void leat_packetway_seal(uint8_t *octets, uint32_t len, uint32_t header_at,
                                       bool error_seen)
{
    uint8_t *tail = octets + LEAT_PACKETWAY_BOUND(len - 8);
    const bool error = error_seen || leat_packetway_contradicts(octets, len, header_at);
    leat_put_be64(tail, leat_packetway_ei_step(leat_get_be64(tail), error));
}

/* ---- cut-through (spec 5.8) ---------------------------------------------------------------- */

#define LEAT_PACKETWAY_ALL UINT32_MAX

/*
 * May forwarding begin after `seen` octets? 0: *d is final and forwarding may begin (or the packet
 * is not forwarded); otherwise the number of octets needed first, LEAT_PACKETWAY_ALL for the whole
 * packet. in_mtu_words is the MTU of the input; 0 = unlimited.
 */
static inline uint32_t leat_packetway_cut_through(const struct leat_packetway_fib *fib,
                                                  enum leat_packetway_side side,
                                                  const uint8_t *octets, uint32_t seen,
                                                  uint32_t in_mtu_words,
                                                  struct leat_packetway_decision *d)
{
    const uint32_t need = leat_packetway_front(fib, side, octets, seen, d);
    if (need || !leat_packetway_goes_on(d)) return need;
    if (!d->mtu_words || (in_mtu_words && in_mtu_words <= d->mtu_words)) return 0;

    uint32_t at = d->consumed;
    for (uint32_t i = 0; i <= LEAT_PACKETWAY_FRONT_MAX; i++) {
        if (!leat_packetway_has(seen, at, LEAT_PACKETWAY_SYMBOL_HEAD_LEN))
            return at + LEAT_PACKETWAY_SYMBOL_HEAD_LEN;
        const uint8_t *head = octets + LEAT_PACKETWAY_BOUND(at);
        if (leat_packetway_is_l2rh(head[1]))
            at += leat_packetway_l2rh_size(head[1] & LEAT_PACKETWAY_L2RH_LEN_MAX);
        else if (leat_packetway_is_symbol(head[1]))
            at += leat_packetway_symbol_size(head[LEAT_PACKETWAY_SYMBOL_L_AT]);
        else
            break;
    }
    if (!leat_packetway_has(seen, at, LEAT_PACKETWAY_START_LEN))
        return at + LEAT_PACKETWAY_START_LEN;
    const uint8_t *h = octets + LEAT_PACKETWAY_BOUND(at);
    const uint32_t dl = leat_packetway_dl(h);
    if ((at - d->consumed) / 8 + dl + 3 > d->mtu_words) {
        leat_packetway_refuse(d, LEAT_PACKETWAY_REASON_MTU);
        return 0;
    }
    return h[LEAT_PACKETWAY_H_AT] >> 7 ? LEAT_PACKETWAY_ALL : 0;
}

/*
 * The one word that is held back during cut-through, since it may be TAIL.
 */
struct leat_packetway_cut {
    uint8_t word[16]; /* the word held back, then the beginning of the next */
    uint32_t len;
};

/* Accepts the next octets; writes those that may be sent (at most len + 7) and returns their
 * number. */
static inline uint32_t leat_packetway_cut_push(struct leat_packetway_cut *cut,
                                               const uint8_t *octets, uint32_t len, uint8_t *out)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (cut->len == sizeof cut->word) {
            for (uint32_t k = 0; k < 8; k++)
                out[written + k] = cut->word[k];
            for (uint32_t k = 0; k < 8; k++)
                cut->word[k] = cut->word[8 + k];
            written += 8;
            cut->len = 8;
        }
        cut->word[cut->len++] = octets[i];
    }
    return written;
}

/*
 * The end of the packet: writes the rest, at most 16 octets, its last word being TAIL after the EI
 * rule. A fault (short, odd length, the native layer's CRC) cannot recall what has been sent: the
 * partial word is dropped and the last whole one reports an error at this router.
 */
static inline uint32_t leat_packetway_cut_end(struct leat_packetway_cut *cut, bool fault,
                                              uint8_t *out)
{
    const uint32_t whole = cut->len / 8 * 8;
    const bool error = fault || whole != cut->len;
    for (uint32_t k = 0; k < whole; k++)
        out[k] = cut->word[k];
    if (whole)
        leat_put_be64(out + whole - 8,
                      leat_packetway_ei_step(leat_get_be64(out + whole - 8), error));
    cut->len = 0;
    return whole;
}

/* The text of a reason. Never NULL. */
const char *leat_packetway_reason_text(enum leat_packetway_reason reason);

#endif
