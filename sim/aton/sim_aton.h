/*
 * A ring that runs: ATON interfaces in a circle, links with delay, a token, a monitor, faults
 * (spec/aton.md). Time is counted in bits.
 *
 *         +---------+  p_0 bits   +---------+  p_1 bits   +---------+
 *    +--->|    0    |------------>|    1    |------------>|    2    |---- ... ----+
 *    |    | monitor |             +---------+             +---------+             |
 *    |    +---------+    each interface holds one bit back                        |
 *    +---------------- B = max(0, 24 - n - sum p) bits, so that the token fits <--+
 *
 * In bit time t every interface takes in the symbol that is before it and puts its own in place of
 * it; what it puts out is before the next one p_i + 1 bit times later. So a packet of P symbols
 * whose first goes out in bit time t is back at t + P + n + sum p + B.
 *
 * Two models, with the same results at the same times and one certificate:
 *
 *   bit    every interface, every bit time (aton_interface.h)
 *   word   one event per packet and interface (aton_visit.h); idle rounds of the token are skipped.
 *          Where a bit error or a station that forgets would disturb a packet or the token, it
 *          goes bit by bit until the ring is sound again
 *
 * A host hands orders to its interface, for a time not before the present one; each interface sends
 * its own in the order of these times, those for idle time when there is no other. What came of an
 * order, and packets that came in, are told at their time; who is told may hand over new orders and
 * change registers, but not run. An interface fetches the operand with the first bit of the data.
 */
#ifndef LEAT_SIM_ATON_H
#define LEAT_SIM_ATON_H

#include "aton_interface.h"
#include "leat_text.h"
#include "sim_certificate.h"

enum {
    LEAT_SIM_ATON_STATIONS_MAX = LEAT_ATON_INTERFACES_MAX,
    LEAT_SIM_ATON_PROPAGATION_MAX = 1 << 20, /* bits of a link */
    LEAT_SIM_ATON_BITS_MAX = 1 << 24,        /* of all links */
    LEAT_SIM_ATON_ORDERS_MAX = 1 << 24,
    LEAT_SIM_ATON_FAULTS_MAX = 1 << 20,
};

enum leat_sim_aton_model { LEAT_SIM_ATON_BIT, LEAT_SIM_ATON_WORD };

struct leat_sim_aton_config {
    uint32_t stations;           /* 1 .. */
    const uint16_t *address;     /* [stations], lent; NULL: 1, 2, ... */
    const uint32_t *propagation; /* [stations], of the link behind each, lent; NULL: `each` */
    uint32_t propagation_each;
    enum leat_sim_aton_model model;
    uint32_t monitor;     /* station; when it leaves, the next one in the ring takes over */
    uint32_t payload_max; /* octets that an interface can take in */
    uint32_t orders_max;  /* handed over and not done, at all stations, 1 .. */
    uint32_t faults_max;  /* to come, at a time */
};

/* What came of an order, in bit times. */
struct leat_sim_aton_result {
    uint32_t station;
    uint64_t id;                      /* the host's */
    uint64_t number;                  /* of the station's orders */
    leat_time handed_at, sent_at, at; /* sent: the first symbol; lost before: as `at` */
    struct leat_aton_result result;
    const struct leat_aton_order *order; /* lent for the call, as is the payload */
    const uint8_t *payload;
};

/* A passive packet that came in. */
struct leat_sim_aton_arrival {
    uint32_t station, from; /* from: by its address; stations if there is none such */
    uint64_t number;        /* of the sender's orders */
    leat_time sent_at, at;
    const uint8_t *octets; /* lent for the call */
    uint32_t len;
};

struct leat_sim_aton_host {
    void *context;
    void (*done)(void *context, const struct leat_sim_aton_result *result);      /* may be NULL */
    void (*arrived)(void *context, const struct leat_sim_aton_arrival *arrival); /* may be NULL */
    /* An order goes out, its first symbol at sent_at; told when the token is taken. May be NULL. */
    void (*begins)(void *context, uint32_t station, uint64_t id, leat_time sent_at);
};

enum leat_sim_aton_fault_kind {
    LEAT_SIM_ATON_BIT_ERROR, /* the symbol that the station takes in then is another: XOR `flip` */
    LEAT_SIM_ATON_FORGETS, /* the interface forgets what it is in the middle of, and only repeats */
    LEAT_SIM_ATON_LEAVES,  /* is bypassed; its orders are lost */
    LEAT_SIM_ATON_JOINS,
};

struct leat_sim_aton_fault {
    leat_time at;
    enum leat_sim_aton_fault_kind kind;
    uint32_t station;
    uint8_t flip; /* 1: 0 for 1, J for K; 2, 3: code violations */
};

/* What has happened so far. */
struct leat_sim_aton_counts {
    uint64_t packets; /* that were begun */
    uint64_t visits;  /* active packets at interfaces that they passed, senders not counted */
    uint64_t results, damaged, lost, arrivals;
    uint64_t orphans, silences; /* what the monitor met */
    uint64_t breaks;            /* stations that joined or left */
};

struct leat_sim_aton_entry;
struct leat_sim_aton_seat;

struct leat_sim_aton {
    struct leat_sim_aton_config config;
    struct leat_sim_aton_host host;
    leat_time now; /* all before it has happened */
    bool stop;     /* a host may set it: run() returns as soon as all of this time is told */
    uint32_t bits; /* round the ring: n + sum p + B */
    struct leat_sim_aton_counts counts;
    struct leat_sim_certificate certificate;

    struct leat_sim_aton_seat *seat;   /* [stations] */
    uint32_t *circle, present;         /* stations in the ring, from the monitor on */
    uint16_t *by_address;              /* [65536]: station + 1 */
    uint32_t *waiting, waits;          /* stations with orders */
    struct leat_sim_aton_entry *entry; /* [orders_max]: handed over */
    uint32_t entry_free, entries;      /* a list, + 1; those from `entries` on were never used */
    struct leat_sim_aton_fault *fault; /* [faults_max], a heap, the earliest on top */
    uint32_t faults;
    leat_time due; /* bit: when an order's time comes */

    /* Bit by bit. */
    uint8_t *cell; /* [bits]: the symbols on the ring */
    bool by_bits;
    /* Word by word: the token, or a packet. */
    leat_time released_at; /* its first symbol */
    uint32_t released_by;
    uint8_t released_priority;
    uint8_t held_priority; /* of the token that the packet's sender has taken */
    leat_time silent_from; /* since when the monitor has looked for an AC, when it was released */
    uint32_t monitor_symbols;
    bool has_packet, is_empty; /* empty: it takes a token that nobody wants */
    bool has_priorities;       /* some order has */
    bool is_undecided;         /* the released token's priority: until its first symbol goes out */
    uint32_t sender, next;     /* place in the circle from the sender on */
    leat_time sent_at;
    uint8_t *image;
    uint32_t image_len, image_cap;
};

/* Is there such a ring? `why`: what, and what was expected. */
leat_err leat_sim_aton_check(const struct leat_sim_aton_config *config, struct leat_text *why);

/* Octets of memory for a config that was checked. */
size_t leat_sim_aton_footprint(const struct leat_sim_aton_config *config);

/* The monitor sends a token in bit time 0. `memory`: aligned for any object, lent for good. */
void leat_sim_aton_init(struct leat_sim_aton *ring, const struct leat_sim_aton_config *config,
                        const struct leat_sim_aton_host *host, void *memory);

/* The registers of a station; they may be written whenever the ring does not run. */
struct leat_aton_interface *leat_sim_aton_registers(struct leat_sim_aton *ring, uint32_t station);

/* All of it, to look at: bit by bit only. */
const struct leat_aton_station *leat_sim_aton_station(const struct leat_sim_aton *ring,
                                                      uint32_t station);

/* The symbol before a station in the present bit time: bit by bit only. */
unsigned leat_sim_aton_symbol(const struct leat_sim_aton *ring, uint32_t station);

bool leat_sim_aton_is_present(const struct leat_sim_aton *ring, uint32_t station);

/*
 * The order is handed over at `at`, not before the present time (asserted). period > 0: again and
 * again, so many bit times after it was done. Octets are lent until it is done. False: too many are
 * under way, the station is not in the ring, or no packet could say it.
 */
bool leat_sim_aton_hand_over(struct leat_sim_aton *ring, uint32_t station,
                             const struct leat_aton_order *order, uint64_t id, leat_time at,
                             leat_time period);

/*
 * A fault to come; bit errors and stations that forget are told before the ring runs for the first
 * time (asserted). False: too many are to come. A station that leaves or joins breaks the circle
 * for an instant: all symbols on it are lost, whoever has sent is told so, and the monitor begins
 * anew with a token when all is silent. It is no fault for a station to leave twice.
 */
bool leat_sim_aton_fault(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault);

/* Runs all bit times before `until`, or until a host has set `stop`; returns `now`. */
leat_time leat_sim_aton_run(struct leat_sim_aton *ring, leat_time until);

/* Bits from what a station puts out to what another takes in; to itself: round the ring. */
uint32_t leat_sim_aton_distance(const struct leat_sim_aton *ring, uint32_t from, uint32_t to);

/* The sum of all links' delays. */
uint64_t leat_sim_aton_propagation(const struct leat_sim_aton *ring);

#endif
