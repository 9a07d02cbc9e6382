/*
 * The contract between a connection and the network (note, 3.1; thesis 8.6.2 to 8.6.6), and the two
 * engines that enforce it at the access.
 *
 *     source --> shaper --> link --> policer --> network
 *                delays              drops or tags
 *
 *   class     rules (GCRA)                                    delay priority
 *   --------  ----------------------------------------------  ---------------------------------
 *   CBR       (1/PCR, CDVT)                                   0, served first
 *   VBR-rt    (1/PCR, CDVT) and (1/SCR, BT + CDVT)            0
 *   VBR-nrt   the same; no promise on delay variation         1
 *   ABR       none: the rate follows RM cells (atm_abr)       2
 *   UBR       none                                            3
 *
 * BT = (MBS - 1) (1/SCR - 1/PCR): exactly MBS cells may arrive at the peak rate. Intervals are
 * picoseconds, rounded up: no source may send faster than declared, so the sums of admission
 * (atm_cac) stay valid. A source that keeps the rounded interval, as the shaper does, always
 * conforms.
 */
#ifndef LEAT_ATM_CONTRACT_H
#define LEAT_ATM_CONTRACT_H

#include "atm_gcra.h"
#include "atm_rm.h"

enum leat_atm_class {
    LEAT_ATM_CBR,
    LEAT_ATM_VBR_RT,
    LEAT_ATM_VBR_NRT,
    LEAT_ATM_ABR,
    LEAT_ATM_UBR,
    LEAT_ATM_CLASS_COUNT
};
enum { LEAT_ATM_LEVEL_COUNT = 4 }; /* delay priorities of the classes */

/* "CBR", "VBR-rt", ... */
const char *leat_atm_class_name(enum leat_atm_class class);

/* The delay priority, 0 .. LEAT_ATM_LEVEL_COUNT-1. */
unsigned leat_atm_class_level(enum leat_atm_class class);

#define LEAT_ATM_SECOND_PS UINT64_C(1000000000000)
#define LEAT_ATM_CLR_ONE   UINT64_C(1000000000000) /* a loss ratio of 1 */

/* Rates are in units of 1/LEAT_ATM_RATE_UNIT cell per second, as in RM cells (atm_rm.h). */
#define LEAT_ATM_CONTRACT_RATE_MAX (UINT64_C(1) << 41) /* beyond the largest coded rate */
enum {
    LEAT_ATM_CONTRACT_RATE_MIN = LEAT_ATM_RATE_UNIT, /* one cell per second: T is at most 1 s */
    LEAT_ATM_CONTRACT_MBS_MAX = 1 << 20,
};
#define LEAT_ATM_CONTRACT_CDVT_PS_MAX LEAT_ATM_SECOND_PS

struct leat_atm_contract {
    enum leat_atm_class class;
    uint64_t pcr;     /* RATE_MIN .. RATE_MAX; ignored for UBR */
    uint64_t scr;     /* VBR: RATE_MIN .. pcr */
    uint64_t mcr;     /* ABR: 0 .. pcr */
    uint64_t mbs;     /* VBR: cells at the peak rate, 1 .. MBS_MAX */
    uint64_t cdvt_ps; /* CBR, VBR: 0 .. CDVT_PS_MAX */
    uint64_t clr_e12; /* requested: lost cells in 10^12 at most; LEAT_ATM_CLR_ONE: any */
    leat_time ctd_ps; /* requested: the longest transfer delay; LEAT_NEVER: any */
    leat_time cdv_ps; /* requested: longest minus shortest delay; LEAT_NEVER: any */
};

/* RANGE if a limit above is exceeded, FIELD if VBR-nrt requests a delay variation. */
leat_err leat_atm_contract_check(const struct leat_atm_contract *contract);

/* 1/rate in picoseconds, rounded up; LEAT_NEVER for rate 0. */
leat_time leat_atm_rate_interval_ps(uint64_t rate);

/* All must conform; a cell counts in all or in none (note, 3.1). */
enum { LEAT_ATM_RULES_MAX = 2 };
struct leat_atm_rules {
    unsigned count; /* 0: anything conforms */
    struct leat_atm_gcra rule[LEAT_ATM_RULES_MAX];
};

/* The rules of a contract, in picoseconds; fails as leat_atm_contract_check does. */
leat_err leat_atm_contract_rules(const struct leat_atm_contract *contract,
                                 struct leat_atm_rules *out);

/* ---- policer (UPC, NPC) -------------------------------------------------------------------- */

enum leat_atm_police { LEAT_ATM_POLICE_DROP, LEAT_ATM_POLICE_TAG };

/* What happens to a cell. TAG: its CLP becomes 1. */
enum leat_atm_verdict { LEAT_ATM_PASS, LEAT_ATM_TAG, LEAT_ATM_DROP, LEAT_ATM_VERDICT_COUNT };

/* The caller's memory, the engine's fields. */
struct leat_atm_policer {
    struct leat_atm_rules rules;
    enum leat_atm_police police;
    struct leat_atm_gcra_schedule state[LEAT_ATM_RULES_MAX];
    uint64_t counts[LEAT_ATM_VERDICT_COUNT]; /* by verdict */
};

/* Rules in any unit of time. RANGE: too many, or one is wrong. */
leat_err leat_atm_policer_init(struct leat_atm_policer *policer, const struct leat_atm_rules *rules,
                               enum leat_atm_police police);

/* A cell arrives now, never before the last one. Not conforming: dropped, or tagged if CLP is 0. */
enum leat_atm_verdict leat_atm_policer_decide(struct leat_atm_policer *policer, uint64_t now,
                                              bool clp);

/* ---- shaper -------------------------------------------------------------------------------- */

struct leat_atm_shaper {
    struct leat_atm_rules rules;
    struct leat_atm_gcra_schedule state[LEAT_ATM_RULES_MAX];
    uint64_t last_at; /* when the last cell left */
};

leat_err leat_atm_shaper_init(struct leat_atm_shaper *shaper, const struct leat_atm_rules *rules);

/*
 * A cell arrives now, never before the last one. Returns when it leaves: first in, first out, at
 * the earliest time at which it conforms. LEAT_NEVER, and nothing changes: time ends before.
 */
uint64_t leat_atm_shaper_decide(struct leat_atm_shaper *shaper, uint64_t now);

#endif
