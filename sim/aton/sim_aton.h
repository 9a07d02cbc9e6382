/*
 * A running ring: ATON interfaces, links with delay, a token, a monitor, faults (spec/aton.md).
 * Time is in bits.
 *
 *         +---------+  p_0 bits   +---------+  p_1 bits   +---------+
 *    +--->|    0    |------------>|    1    |------------>|    2    |---- ... ----+
 *    |    | monitor |             +---------+             +---------+             |
 *    |    +---------+     each interface delays by one bit                        |
 *    +---------------- B = max(0, 24 - n - sum p) bits, so that the token fits <--+
 *
 * In bit time t every interface reads the symbol at its input and replaces it by its own. Its
 * output is at the input of the next one p_i + 1 bit times later. So a packet of P symbols whose
 * first leaves in bit time t has returned at t + P + n + sum p + B.
 *
 * Interfaces may hold back more than one bit (`delay`). Then they can change symbols that they have
 * put out: those of TREE's slots, where a result goes back into its slot (LEAT_ATON_BACK). That
 * needs a delay of W + 1 bits or more: the host sees to it. A revolution takes as many more bits.
 *
 * Two models, with the same results at the same times and one certificate:
 *
 *   bit    every interface, every bit time (aton_interface.h)
 *   word   one event per packet and interface (aton_visit.h); idle revolutions of the token are
 *          skipped. Where a bit error or a station that resets would disturb a packet or the token,
 *          it runs bit by bit until the ring has recovered
 *
 * A host submits orders to its interface, for the present or a later time. Each interface sends its
 * own in the order of these times, those for idle time when there is no other. Outcomes of orders,
 * and packets that arrive, are reported at their time. The callback may submit new orders and
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
    LEAT_SIM_ATON_BITS_MAX = 1 << 24,        /* of all links, and held by all interfaces */
    LEAT_SIM_ATON_DELAY_MAX = 1024,          /* bits */
    LEAT_SIM_ATON_ORDERS_MAX = 1 << 24,
    LEAT_SIM_ATON_FAULTS_MAX = 1 << 20,
    LEAT_SIM_ATON_MARKS_MAX = 64, /* a packet or a token has four */
};

enum leat_sim_aton_model { LEAT_SIM_ATON_BIT, LEAT_SIM_ATON_WORD };

struct leat_sim_aton_config {
    uint32_t stations;           /* 1 .. */
    const uint16_t *address;     /* [stations], lent; NULL: 1, 2, ... */
    const uint32_t *propagation; /* [stations], of the link after each, lent; NULL: `each` */
    uint32_t propagation_each;
    uint32_t delay; /* bits that each interface holds back; 0: one */
    enum leat_sim_aton_model model;
    uint32_t monitor;     /* station; when it leaves, the next one in the ring takes over */
    uint32_t payload_max; /* octets that an interface can receive */
    uint32_t orders_max;  /* pending at all stations, 1 .. */
    uint32_t faults_max;  /* pending at a time */
};

/* The outcome of an order, in bit times. */
struct leat_sim_aton_result {
    uint32_t station;
    uint64_t id;                      /* the host's */
    uint64_t number;                  /* of the station's orders */
    leat_time handed_at, sent_at, at; /* sent: the first symbol; if lost before: same as `at` */
    struct leat_aton_result result;
    const struct leat_aton_order *order; /* lent for the call, as is the payload */
    const uint8_t *payload;
};

/* A passive packet that arrived. */
struct leat_sim_aton_arrival {
    uint32_t station, from; /* from: by its address; `stations` if there is no such station */
    uint64_t number;        /* of the sender's orders */
    leat_time sent_at, at;
    const uint8_t *octets; /* lent for the call */
    uint32_t len;
};

struct leat_sim_aton_host {
    void *context;
    void (*done)(void *context, const struct leat_sim_aton_result *result);      /* may be NULL */
    void (*arrived)(void *context, const struct leat_sim_aton_arrival *arrival); /* may be NULL */
    /* An order is sent, its first symbol at sent_at; called when the token is taken. May be
     * NULL. */
    void (*begins)(void *context, uint32_t station, uint64_t id, leat_time sent_at);
    /* Word model: an interface has sent on the data of an active packet, whose image is this now;
     * its sender first. May be NULL. */
    void (*visited)(void *context, uint32_t station, const uint8_t *image, uint32_t len,
                    leat_time at);
};

enum leat_sim_aton_fault_kind {
    LEAT_SIM_ATON_BIT_ERROR, /* the symbol that the station reads then is changed: XOR `flip` */
    LEAT_SIM_ATON_FORGETS,   /* the interface loses its state, and only repeats */
    LEAT_SIM_ATON_LEAVES,    /* is bypassed; its orders are lost */
    LEAT_SIM_ATON_JOINS,
};

struct leat_sim_aton_fault {
    leat_time at;
    enum leat_sim_aton_fault_kind kind;
    uint32_t station;
    uint8_t flip; /* 1: 0 for 1, J for K; 2, 3: code violations */
};

/* Counters. */
struct leat_sim_aton_counts {
    uint64_t packets; /* that were begun */
    uint64_t visits;  /* active packets at interfaces that they passed, without senders */
    uint64_t results, damaged, lost, arrivals;
    uint64_t orphans, silences; /* detected by the monitor */
    uint64_t breaks;            /* stations that joined or left */
};

struct leat_sim_aton_entry;
struct leat_sim_aton_seat;

struct leat_sim_aton {
    struct leat_sim_aton_config config;
    struct leat_sim_aton_host host;
    leat_time now; /* everything before it has happened */
    bool stop;     /* a host may set it: run() returns when everything of this time is reported */
    uint32_t bits; /* of a revolution: n + sum p + B */
    struct leat_sim_aton_counts counts;
    struct leat_sim_certificate certificate;

    struct leat_sim_aton_seat *seat;   /* [stations] */
    uint32_t *sequence, present;       /* stations in the ring, from the monitor on */
    uint16_t *by_address;              /* [65536]: station + 1 */
    uint32_t *waiting, waits;          /* stations with orders */
    struct leat_sim_aton_entry *entry; /* [orders_max]: pending */
    uint32_t entry_free, entries;      /* free list, + 1; those from `entries` on were never used */
    struct leat_sim_aton_fault *fault; /* [faults_max], a heap, the earliest on top */
    uint32_t faults;
    leat_time due; /* bit: the time of the next order */

    /* Bit model. */
    uint8_t *cell;   /* [bits]: the symbols on the ring */
    uint64_t *awake; /* a bit for each station that may do more than repeat */
    uint32_t mark[LEAT_SIM_ATON_MARKS_MAX], marks; /* cells that hold J */
    uint32_t asleep;                               /* stations */
    bool has_more_marks;                           /* than there is room for: all stations work */
    bool by_bits;
    /* Word model: the token, or a packet. */
    leat_time released_at; /* its first symbol */
    uint32_t released_by;
    uint8_t released_priority;
    uint8_t held_priority; /* of the token that the packet's sender has taken */
    leat_time silent_from; /* since when the monitor had looked for an AC, when it was released */
    uint32_t monitor_symbols;
    bool has_packet, is_empty; /* empty: it takes a token that nobody wants */
    bool has_priorities;       /* some order has one */
    bool is_undecided;         /* the released token's priority, until its first symbol leaves */
    uint32_t sender, next;     /* position in the ring, counted from the sender */
    leat_time sent_at;
    uint8_t *image;
    uint32_t image_len, image_cap;
};

/* Is this ring valid? `why`: what is wrong, and what was expected. */
leat_err leat_sim_aton_check(const struct leat_sim_aton_config *config, struct leat_text *why);

/* Octets of memory for a checked config. */
size_t leat_sim_aton_footprint(const struct leat_sim_aton_config *config);

/* The monitor sends a token in bit time 0. `memory`: aligned for any object, lent for the ring's
 * lifetime. */
void leat_sim_aton_init(struct leat_sim_aton *ring, const struct leat_sim_aton_config *config,
                        const struct leat_sim_aton_host *host, void *memory);

/* The registers of a station; they may be written while the ring does not run. */
struct leat_aton_interface *leat_sim_aton_registers(struct leat_sim_aton *ring, uint32_t station);

/* The whole station, to inspect: bit model only. */
const struct leat_aton_station *leat_sim_aton_station(const struct leat_sim_aton *ring,
                                                      uint32_t station);

/* The symbol at a station's input in the present bit time: bit model only. */
unsigned leat_sim_aton_symbol(const struct leat_sim_aton *ring, uint32_t station);

bool leat_sim_aton_is_present(const struct leat_sim_aton *ring, uint32_t station);

/*
 * Submits an order for `at`, not before the present time (asserted). period > 0: it is repeated, so
 * many bit times after it was done. Octets are lent until it is done. False: too many are pending,
 * the station is not in the ring, or no packet can express the order.
 */
bool leat_sim_aton_hand_over(struct leat_sim_aton *ring, uint32_t station,
                             const struct leat_aton_order *order, uint64_t id, leat_time at,
                             leat_time period);

/*
 * Schedules a fault. Bit errors and station resets must be scheduled before the ring runs for the
 * first time (asserted). False: too many are pending. A station that leaves or joins interrupts the
 * ring for an instant: all symbols on it are lost, all senders are notified, and the monitor starts
 * again with a token when all is silent. It is no fault for a station to leave twice.
 */
bool leat_sim_aton_fault(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault);

/* Runs all bit times before `until`, or until a host has set `stop`; returns `now`. */
leat_time leat_sim_aton_run(struct leat_sim_aton *ring, leat_time until);

/* Bits from the output of a station to the input of another; to itself: a revolution. */
uint32_t leat_sim_aton_distance(const struct leat_sim_aton *ring, uint32_t from, uint32_t to);

/* The sum of all links' delays, and of what interfaces hold back beside the one bit. */
uint64_t leat_sim_aton_propagation(const struct leat_sim_aton *ring);

#endif
