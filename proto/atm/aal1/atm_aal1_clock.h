/*
 * AAL1 clock recovery (thesis 8.5.3.3; I.363.1): the receiver reads its playout buffer at the rate
 * of the sender's service clock, which it recovers in one of two ways.
 *
 * SRTS, where both ends have the network clock fn. It is divided by 2^x so that fnx = fn / 2^x lies
 * in fs .. 2 fs. The sender counts cycles of fnx modulo 16 and samples the count after every N =
 * 3008 service bits, which is one cycle of eight payloads: the residual time stamp.
 *
 *     service bits   |<------- 3008 ------->|<------- 3008 ------->|
 *     fnx cycles     |<-------- M1 -------->|<-------- M2 -------->|    Mq = N fnx/fs +- y
 *     stamps         r0                     r1                     r2   Mq = r(q) - r(q-1) mod 16
 *
 * Both ends know the nominal Mq, and the clocks differ so little (y < 8 is what 4 bits allow) that
 * the residue determines the rest. Stamps are samples of one running count: a lost one only makes
 * the next difference span two periods. The receiver sums Mq over a window of periods: fs / fn =
 * (periods * N) / (sum of Mq * 2^x), exact to one count in the window.
 *
 * Adaptive, where there is no common clock: the filling level of the playout buffer steers the read
 * rate. Level above target means the sender is faster. A proportional-integral step per
 * observation, all integers, every term bounded.
 *
 * `leat sim --circuits` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL1_CLOCK_H
#define LEAT_ATM_AAL1_CLOCK_H

#include "leat_err.h"
#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_AAL1_SRTS_BITS = 3008,      /* N, service bits in a period: 8 * 47 octets */
    LEAT_ATM_AAL1_SRTS_MODULUS = 16,     /* of a stamp: p = 4 bits */
    LEAT_ATM_AAL1_SRTS_PPM_MAX = 200,    /* I.363.1: the tolerance that 4 bits are designed for */
    LEAT_ATM_AAL1_SRTS_WINDOW_MAX = 1024 /* periods */
};
#define LEAT_ATM_AAL1_NETWORK_HZ_MAX UINT64_C(2500000000)

/* ---- SRTS --------------------------------------------------------------------------------- */

struct leat_atm_aal1_srts_config {
    uint64_t network_hz;    /* fn: service_hz .. LEAT_ATM_AAL1_NETWORK_HZ_MAX */
    uint64_t service_hz;    /* nominal fs, at least 1 */
    uint32_t tolerance_ppm; /* of both clocks together; 0..LEAT_ATM_AAL1_SRTS_PPM_MAX */
    uint32_t window;        /* receiver: periods to sum, 1..LEAT_ATM_AAL1_SRTS_WINDOW_MAX */
};

/* x: how often fn is halved; the largest with fnx >= fs. */
leat_err leat_atm_aal1_srts_shift(const struct leat_atm_aal1_srts_config *config, unsigned *shift);

/* The caller's memory, the engine's fields. */
struct leat_atm_aal1_srts_send {
    unsigned shift;
    uint32_t bits_due; /* service bits until the next sample: 1..LEAT_ATM_AAL1_SRTS_BITS */
};

leat_err leat_atm_aal1_srts_send_init(struct leat_atm_aal1_srts_send *send,
                                      const struct leat_atm_aal1_srts_config *config);

/*
 * `bits` more service bits have passed and the network clock now shows network_count cycles of fn
 * (any origin, never decreasing). If a stamp is due, sets *ready and *rts. RANGE, and nothing
 * changes, if more bits passed than were due: the moment of the sample is lost.
 */
leat_err leat_atm_aal1_srts_send_bits(struct leat_atm_aal1_srts_send *send, uint32_t bits,
                                      uint64_t network_count, bool *ready, uint8_t *rts);

/* fs / fn as a fraction: service bits per cycles of fn. 0/0: not known yet. */
struct leat_atm_aal1_ratio {
    uint64_t service_bits, network_cycles;
};

/*
 * One span is the time between two good stamps: 1 period, or more where stamps were lost.
 *
 *   stamp        first one, or too many lost       otherwise
 *   -----------  --------------------------------  ----------------------------------------
 *   seen         it is the origin of later spans   span measured; outside tolerance: as lost
 *   lost         nothing                           the span grows by a period; too long for
 *                                                  4 bits: forget, wait for a first one
 */
struct leat_atm_aal1_srts_receive {
    struct leat_atm_aal1_srts_config config;
    unsigned shift;
    uint32_t span_max;     /* periods that a residue can still resolve */
    bool locked;           /* there is an origin */
    uint8_t rts;           /* the origin */
    uint32_t span;         /* periods since, this one included */
    uint32_t oldest, used; /* of the ring below */
    uint64_t periods_sum, counts_sum;
    uint64_t rejected; /* stamps outside the tolerance */
    struct {
        uint8_t periods;
        uint32_t counts;
    } spans[LEAT_ATM_AAL1_SRTS_WINDOW_MAX];
};

leat_err leat_atm_aal1_srts_receive_init(struct leat_atm_aal1_srts_receive *receive,
                                         const struct leat_atm_aal1_srts_config *config);

/* A period ended with this stamp, 0..15; RANGE above. */
leat_err leat_atm_aal1_srts_receive_stamp(struct leat_atm_aal1_srts_receive *receive, uint8_t rts);

/* A period ended, its stamp was lost. */
void leat_atm_aal1_srts_receive_lost(struct leat_atm_aal1_srts_receive *receive);

/* The number of lost periods is unknown: wait for a first stamp. Measured values stay. */
void leat_atm_aal1_srts_receive_restart(struct leat_atm_aal1_srts_receive *receive);

/* The mean over the window, as far as it is filled. */
struct leat_atm_aal1_ratio
leat_atm_aal1_srts_receive_ratio(const struct leat_atm_aal1_srts_receive *receive);

/* By how many parts in 10^9 that differs from the nominal service_hz / network_hz. */
int64_t leat_atm_aal1_srts_receive_ppb(const struct leat_atm_aal1_srts_receive *receive);

/* ---- adaptive ----------------------------------------------------------------------------- */

enum {
    LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX = 1000000, /* 1000 ppm */
    LEAT_ATM_AAL1_ADAPTIVE_SMOOTHING_MAX = 16,
    LEAT_ATM_AAL1_ADAPTIVE_LEVEL_MAX = 1 << 20, /* octets: the largest playout buffer */
    LEAT_ATM_AAL1_ADAPTIVE_GAIN_MAX = 1 << 20,
};

struct leat_atm_aal1_adaptive_config {
    uint64_t service_hz; /* nominal bit rate, 8..LEAT_ATM_AAL1_NETWORK_HZ_MAX */
    uint32_t target_len; /* level to hold, 0..LEAT_ATM_AAL1_ADAPTIVE_LEVEL_MAX */
    uint32_t smoothing;  /* the level is averaged over about 2^smoothing observations */
    uint32_t gain_p;     /* ppb per octet of error, 1..LEAT_ATM_AAL1_ADAPTIVE_GAIN_MAX */
    uint32_t gain_i;     /* 2^-16 ppb per octet of error and observation, 0..same */
    uint32_t ppb_max;    /* largest deviation, 1..LEAT_ATM_AAL1_ADAPTIVE_PPB_MAX */
    uint32_t ppb_step;   /* largest change by one observation, 1..same */
};

/* The caller's memory, the engine's fields. */
struct leat_atm_aal1_adaptive {
    struct leat_atm_aal1_adaptive_config config;
    int64_t level_q16;    /* smoothed; invariant: 0..LEVEL_MAX */
    int64_t integral_q16; /* ppb; invariant: within +-ppb_max */
    int32_t ppb; /* the rate steered to, in parts in 10^9 above (below) the nominal one; invariant:
                    within +-ppb_max */
    leat_time due_at; /* the next octet is to be read, */
    uint32_t due_q16; /* and this fraction of a picosecond later */
};

/* Reads begin at start_at. */
leat_err leat_atm_aal1_adaptive_init(struct leat_atm_aal1_adaptive *adaptive,
                                     const struct leat_atm_aal1_adaptive_config *config,
                                     leat_time start_at);

/* Observes the level, at an arrival for example; levels above the bound count as the bound. */
void leat_atm_aal1_adaptive_observe(struct leat_atm_aal1_adaptive *adaptive, size_t level_len);

/* Another recovery steers: from now on reads are so many parts in 10^9 faster than nominal; beyond
 * ppb_max they are as fast as that. */
void leat_atm_aal1_adaptive_steer(struct leat_atm_aal1_adaptive *adaptive, int64_t ppb);

/* The octet that was due has been read; the next is due one period later. */
void leat_atm_aal1_adaptive_advance(struct leat_atm_aal1_adaptive *adaptive);

#endif
