/*
 * AAL1 playout buffer: equalizes the delay of cells (thesis 8.5.3.2). Octets arrive in bursts and
 * are read evenly. Play begins late enough that octets are waiting even after the largest delay
 * variation.
 *
 *   state    octets arrive                        octets are read
 *   -------  -----------------------------------  ---------------------------------------
 *   FILLING  stored; level >= start_len, or the   dummy octets; first octet older than
 *            first octet of age start_ps:         start_ps: -> PLAYING, and read there
 *            -> PLAYING
 *   PLAYING  stored                               delivered; too few: one underrun, dummy
 *                                                 octets for the rest, and by policy
 *                                                 -> FILLING or stay
 *   both     no room: one overrun, which drops the newest or the oldest octets, by policy
 *
 * `leat sim --circuits` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL1_PLAYOUT_H
#define LEAT_ATM_AAL1_PLAYOUT_H

#include "leat_err.h"
#include <leat/time.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_ATM_AAL1_PLAYOUT_LEN_MAX = 1 << 20 };

enum leat_atm_aal1_overrun { LEAT_ATM_AAL1_DROP_NEWEST, LEAT_ATM_AAL1_DROP_OLDEST };
enum leat_atm_aal1_underrun { LEAT_ATM_AAL1_REFILL, LEAT_ATM_AAL1_PLAY_ON };

struct leat_atm_aal1_playout_config {
    size_t capacity_len; /* 1..LEAT_ATM_AAL1_PLAYOUT_LEN_MAX */
    size_t start_len;    /* 1..capacity_len: play begins at this level */
    leat_time start_ps;  /* or at this age of the first octet; LEAT_NEVER: only the level counts */
    enum leat_atm_aal1_overrun overrun;
    enum leat_atm_aal1_underrun underrun;
    uint8_t dummy; /* read if the buffer is empty */
};

struct leat_atm_aal1_playout_counts {
    uint64_t arrived_len; /* octets received, dropped ones included */
    uint64_t played_len;  /* of these, octets that were read */
    uint64_t dropped_len; /* of these, octets that did not fit */
    uint64_t dummy_len;   /* octets read that never arrived */
    uint64_t underruns, overruns;
};

struct leat_atm_aal1_playout; /* opaque */

/* The caller provides the memory: ask for its size, pass it in, and keep it alive. */
size_t leat_atm_aal1_playout_footprint(const struct leat_atm_aal1_playout_config *config);
leat_err leat_atm_aal1_playout_init(void *memory, size_t memory_len,
                                    const struct leat_atm_aal1_playout_config *config,
                                    struct leat_atm_aal1_playout **out);

/* Octets of one cell (or of a few that were lost) arrive. now never decreases. */
void leat_atm_aal1_playout_arrive(struct leat_atm_aal1_playout *playout, leat_time now,
                                  const uint8_t *octets, size_t len);

/* Always writes `len` octets; returns how many of them, from the front, had arrived. */
size_t leat_atm_aal1_playout_read(struct leat_atm_aal1_playout *playout, leat_time now,
                                  uint8_t *octets, size_t len);

/* Octets waiting now: the input of adaptive clock recovery. */
size_t leat_atm_aal1_playout_level(const struct leat_atm_aal1_playout *playout);

struct leat_atm_aal1_playout_counts
leat_atm_aal1_playout_counts(const struct leat_atm_aal1_playout *playout);

#endif
