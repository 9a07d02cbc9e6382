/* Shared by both models of a ring. */
#ifndef LEAT_SIM_ATON_PARTS_H
#define LEAT_SIM_ATON_PARTS_H

#include "sim_aton.h"

enum {
    RING_T_AT = 11,    /* symbols of a token before T */
    ATON_DATA_AT = 64, /* symbols of a packet before its data, where operands are fetched */
};

/* A pending order. Lists use index + 1; 0 is none. */
struct leat_sim_aton_entry {
    struct leat_aton_order order;
    uint64_t id, number;
    leat_time at, period;
    uint32_t next;
};

struct leat_sim_aton_seat {
    uint32_t at; /* bits from the monitor's output to this one's */
    bool present;
    struct leat_aton_station station;
    uint32_t place;             /* in ring->sequence */
    uint32_t first[2], last[2]; /* orders by time; [1]: those for idle time */
    uint32_t offered;           /* bit: the next order of the interface */
    uint32_t sends;             /* the order that was sent and has not returned */
    uint32_t waits_at;          /* in ring->waiting, + 1 */
    uint64_t handed;            /* orders so far */
    leat_time sent_at;
};

/* Moves the order from its queue to the station's `sends`. */
void leat_sim_aton_take_order(struct leat_sim_aton *ring, uint32_t station, uint32_t entry,
                              leat_time sent_at);

/* Reports that the station has the token, and sends. */
void leat_sim_aton_report_begins(struct leat_sim_aton *ring, uint32_t station);

/* Reports the outcome of the order that the station sends: certificate, host, and the order again
 * if it is periodic. */
void leat_sim_aton_report_done(struct leat_sim_aton *ring, uint32_t station,
                               const struct leat_aton_result *result, const uint8_t *payload,
                               leat_time at);
void leat_sim_aton_report_arrived(struct leat_sim_aton *ring, uint32_t station,
                                  uint16_t from_address, const uint8_t *octets, uint32_t len,
                                  leat_time at);

/* A token of this priority circulates: interfaces that raised it higher before forget it. */
void leat_sim_aton_show_priority(struct leat_sim_aton *ring);

/* Word model: decides the priority of a token that begins now, if it is still open. */
void leat_sim_aton_decide_priority(struct leat_sim_aton *ring);

/* Computes positions, B and the length of the ring from its stations. */
void leat_sim_aton_close(struct leat_sim_aton *ring);

/* The models. Each runs up to `until`, with no fault before it, or until ring->stop. */
void leat_sim_aton_run_bits(struct leat_sim_aton *ring, leat_time until);
void leat_sim_aton_run_words(struct leat_sim_aton *ring, leat_time until);

/* Bits that an interface holds back beside the one. */
static inline uint32_t leat_sim_aton_held(const struct leat_sim_aton_config *config)
{
    return config->delay ? config->delay - 1 : 0;
}

/* Bit model: no symbol but 0 is on the ring, and all stations work in the next bit time. */
void leat_sim_aton_clear_cells(struct leat_sim_aton *ring);

static inline size_t leat_sim_aton_awake_words(const struct leat_sim_aton_config *config)
{
    return config->stations / 64 + 1;
}

/* Does this station leave or join, and can it? The last one stays. */
bool leat_sim_aton_breaks(const struct leat_sim_aton *ring,
                          const struct leat_sim_aton_fault *fault);

/* The ring was interrupted: reports to all senders, and restarts the monitor. */
void leat_sim_aton_break_bits(struct leat_sim_aton *ring);
void leat_sim_aton_break_words(struct leat_sim_aton *ring);

/* Applies bit errors and station resets in bit time ring->now, before it is run. */
void leat_sim_aton_disturb(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault);

/* There is a token that no station takes before ring->now: continues bit by bit from here. */
void leat_sim_aton_enter_bits(struct leat_sim_aton *ring);

#endif
