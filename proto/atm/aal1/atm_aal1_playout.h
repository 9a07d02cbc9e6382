/*
 * AAL1 playout buffer: equalizes the delay of cells (thesis 8.5.3.2). Octets arrive in jerks and
 * are read evenly; play begins late enough that the largest delay variation finds octets waiting.
 *
 *   state    octets arrive                        octets are read
 *   -------  -----------------------------------  ---------------------------------------
 *   FILLING  stored; level >= start_len, or the   dummy octets; first octet older than
 *            first octet of age start_ps:         start_ps: -> PLAYING, and read there
 *            -> PLAYING
 *   PLAYING  stored                               delivered; too few: one underrun, dummy
 *                                                 octets for the rest, and by policy
 *                                                 -> FILLING or stay
 *   both     what does not fit is one overrun: by policy the newest or the oldest octets go
 *
 * Library only: for programs that link libleat. No command of leat calls it.
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
    size_t start_len;    /* 1..capacity_len: this much makes play begin */
    leat_time start_ps;  /* or this age of the first octet; LEAT_NEVER: only the level counts */
    enum leat_atm_aal1_overrun overrun;
    enum leat_atm_aal1_underrun underrun;
    uint8_t dummy; /* read where there is nothing to read */
};

struct leat_atm_aal1_playout_counts {
    uint64_t arrived_len; /* octets given, dropped ones included */
    uint64_t played_len;  /* octets of these that were read */
    uint64_t dropped_len; /* octets of these that did not fit */
    uint64_t dummy_len;   /* octets read that never arrived */
    uint64_t underruns, overruns;
};

struct leat_atm_aal1_playout; /* opaque */

/* Memory is the caller's: ask how much, hand it over, keep it alive. */
size_t leat_atm_aal1_playout_footprint(const struct leat_atm_aal1_playout_config *config);
leat_err leat_atm_aal1_playout_init(void *memory, size_t memory_len,
                                    const struct leat_atm_aal1_playout_config *config,
                                    struct leat_atm_aal1_playout **out);

/* Octets of one cell (or of a few that were lost) arrive. now never falls. */
void leat_atm_aal1_playout_arrive(struct leat_atm_aal1_playout *playout, leat_time now,
                                  const uint8_t *octets, size_t len);

/* Always writes `len` octets; returns how many of them, from the front, had arrived. */
size_t leat_atm_aal1_playout_read(struct leat_atm_aal1_playout *playout, leat_time now,
                                  uint8_t *octets, size_t len);

/* Octets waiting now: what adaptive clock recovery looks at. */
size_t leat_atm_aal1_playout_level(const struct leat_atm_aal1_playout *playout);

struct leat_atm_aal1_playout_counts
leat_atm_aal1_playout_counts(const struct leat_atm_aal1_playout *playout);

#endif
