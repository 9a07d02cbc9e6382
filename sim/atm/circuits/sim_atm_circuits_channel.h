/*
 * One virtual channel: a circuit of a constant bit rate, or a channel of voice; both ends. The
 * simulation keeps what was sent until it has arrived, so that delays, losses and wrong octets are
 * those that happened, whatever the adaptation layers make of them.
 */
#ifndef LEAT_SIM_ATM_CIRCUITS_CHANNEL_H
#define LEAT_SIM_ATM_CIRCUITS_CHANNEL_H

#include "atm_aal1_clock.h"
#include "atm_aal1_interleave.h"
#include "atm_aal1_playout.h"
#include "atm_aal1_reassemble.h"
#include "atm_aal1_segment.h"
#include "atm_aal2_engine.h"
#include "leat_arena.h"
#include "sim_clock.h"
#include <leat/random.h>

struct leat_sim_atm_circuit;
struct leat_sim_atm_circuits_line;

enum {
    LEAT_SIM_ATM_CHANNEL_KEPT = 256, /* cells that may be under way; older ones are lost */
    LEAT_SIM_ATM_CHANNEL_PDU_LEN = LEAT_ATM_AAL1_PDU_LEN,
};

/* ---- service clocks -------------------------------------------------------------------------- */

/* A clock of octets, exact: so many bits per second, some millionths faster or slower. */
struct leat_sim_atm_service {
    leat_time at;       /* of the last octet */
    uint64_t part, den; /* ... and part/den ps later */
    uint64_t whole, rest;
};

void leat_sim_atm_service_init(struct leat_sim_atm_service *service, uint64_t rate, int32_t ppm,
                               leat_time start);
/* So many octets later; at most LEAT_ATM_AAL1_INTERLEAVE_USER_LEN. */
void leat_sim_atm_service_advance(struct leat_sim_atm_service *service, uint32_t octets);

/* ---- circuits (sim_atm_circuits_cbr.c) ------------------------------------------------------- */

struct leat_sim_atm_cbr {
    /* sender */
    struct leat_sim_atm_service service;
    uint64_t octets; /* in cells so far */
    struct leat_atm_aal1_segment segment;
    struct leat_atm_aal1_srts_send stamps;
    struct leat_atm_aal1_matrix *matrix; /* fec */
    unsigned column;
    /* receiver */
    struct leat_atm_aal1_reassemble reassemble;
    struct leat_atm_aal1_interleave *deinterleave; /* fec */
    bool kept_is_own; /* the cell that reassembly keeps back is one of ours: */
    uint8_t kept[LEAT_SIM_ATM_CHANNEL_PDU_LEN];
    leat_time kept_ready_at;
    uint64_t kept_octet; /* its first octet; fec: that of its block */
    uint64_t place;      /* the octet that should come next */
    struct leat_atm_aal1_srts_receive stamped;
    uint32_t learnt;             /* cells */
    uint64_t seen_min, seen_max; /* their delays */
    leat_time tolerance;         /* the playout time used; LEAT_NEVER: not known yet */
    uint32_t tolerance_len;      /* the same in octets */
    void *playout_memory;
    size_t playout_memory_len;
    struct leat_atm_aal1_playout *playout; /* NULL: nothing to play yet */
    struct leat_atm_aal1_adaptive reader;  /* the read clock */
    struct leat_sim_atm_service truth;     /* the sender's, from the first octet read on */
    int64_t error_min, error_max;          /* of the read clock against it, ps */
    uint64_t read;                         /* octets */
    leat_time delay; /* of the first octet played, from when it was there to when it was read */
};

/* ---- voice (sim_atm_circuits_voice.c) -------------------------------------------------------- */

struct leat_sim_atm_voice {
    /* sender */
    leat_time frame_at; /* when the present frame is complete */
    uint64_t frame;     /* its number */
    uint32_t spurt;
    bool talks;
    struct leat_atm_aal2_segment segment;
    uint8_t *speech; /* of the frame that is sent */
    /* receiver */
    struct leat_atm_aal2_reassemble *reassemble;
    leat_time wake_at;
    uint32_t playing; /* spurt */
    uint64_t base_frame;
    leat_time base_at; /* when that frame is played */
};

/* ---- both ------------------------------------------------------------------------------------ */

struct leat_sim_atm_channel_sent {
    leat_time ready_at;
    uint64_t mark;  /* cbr: its first octet; voice: the frame */
    uint32_t spurt; /* voice */
    bool begins;    /* voice: the first cell of a frame */
    uint8_t pdu[LEAT_SIM_ATM_CHANNEL_PDU_LEN];
};

struct leat_sim_atm_channel {
    const struct leat_sim_atm_circuit *plan;
    struct leat_sim_atm_circuits_line *line; /* whose counts are counted */
    struct leat_random random;
    uint64_t content;    /* seed of its octets */
    uint64_t sent;       /* cells */
    uint64_t heard;      /* cells before it have arrived, or are lost */
    uint64_t ready_from; /* cycle from which its next cell can be sent; LEAT_NEVER: none */
    struct leat_sim_atm_channel_sent next;
    struct leat_sim_atm_channel_sent kept[LEAT_SIM_ATM_CHANNEL_KEPT]; /* by number */
    struct leat_sim_atm_cbr *cbr;
    struct leat_sim_atm_voice *voice;
};

/* Octets of a channel, from `first` on. */
void leat_sim_atm_channel_fill(const struct leat_sim_atm_channel *channel, uint64_t first,
                               uint8_t *octets, size_t len);

void leat_sim_atm_channel_lay(struct leat_sim_atm_channel *channel,
                              const struct leat_sim_atm_circuit *plan, struct leat_arena *arena);
void leat_sim_atm_channel_init(struct leat_sim_atm_channel *channel, uint64_t seed,
                               uint64_t entity);

/* The next cell is made. */
void leat_sim_atm_channel_prepare(struct leat_sim_atm_channel *channel);

/* Is this SAR-PDU one of those under way? NULL: it is not. `damaged`: it may differ in some bits.
 * Those before it are lost. */
const struct leat_sim_atm_channel_sent *
leat_sim_atm_channel_match(struct leat_sim_atm_channel *channel, const uint8_t *pdu, bool damaged);

/* The next cell leaves: it is kept, and its number returned. */
uint64_t leat_sim_atm_channel_send(struct leat_sim_atm_channel *channel);

/* A SAR-PDU arrives; `own`: the one that was sent, or NULL. */
void leat_sim_atm_channel_take(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                               const struct leat_sim_atm_channel_sent *own, leat_time now);

/* Reads up to now. */
void leat_sim_atm_channel_settle(struct leat_sim_atm_channel *channel, leat_time now);

void leat_sim_atm_cbr_lay(struct leat_sim_atm_channel *channel, struct leat_arena *arena);
void leat_sim_atm_cbr_init(struct leat_sim_atm_channel *channel, leat_time start);
void leat_sim_atm_cbr_prepare(struct leat_sim_atm_channel *channel);
void leat_sim_atm_cbr_take(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                           const struct leat_sim_atm_channel_sent *own, leat_time now);
void leat_sim_atm_cbr_settle(struct leat_sim_atm_channel *channel, leat_time now);

void leat_sim_atm_voice_lay(struct leat_sim_atm_channel *channel, struct leat_arena *arena);
void leat_sim_atm_voice_init(struct leat_sim_atm_channel *channel, leat_time start);
void leat_sim_atm_voice_prepare(struct leat_sim_atm_channel *channel);
void leat_sim_atm_voice_take(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                             const struct leat_sim_atm_channel_sent *own, leat_time now);

/* Frames that have passed up to now, and those of which cells are under way. */
uint64_t leat_sim_atm_voice_frames(const struct leat_sim_atm_channel *channel, leat_time now);
uint64_t leat_sim_atm_voice_under_way(const struct leat_sim_atm_channel *channel);

/* Octets of a frame of voice. */
uint32_t leat_sim_atm_voice_frame_len(const struct leat_sim_atm_circuit *plan);

/* Bits that are one; most words have few. (Where a processor may lack popcount, compilers call a
 * function.) */
static inline unsigned leat_sim_atm_circuits_ones(uint64_t word)
{
    unsigned count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

#endif
