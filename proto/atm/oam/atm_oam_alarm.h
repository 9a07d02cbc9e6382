/*
 * Fault management of a connection, at an end point (ITU-T I.610): continuity check (CC), alarm
 * indication (AIS), remote defect indication (RDI). The states and their times are in README.md.
 *
 *   cells that arrive --> user, ais, rdi --+                 +--> next: RDI or CC to send now
 *   time -------------------------------> advance --> states-+--> due: when to ask again
 *   user cells that leave --> sent --------------------------+
 *
 * Times are of the caller, in any unit. They never decrease from call to call.
 */
#ifndef LEAT_ATM_OAM_ALARM_H
#define LEAT_ATM_OAM_ALARM_H

#include "atm_oam.h"

/*
 * The function-specific field of AIS and RDI cells:
 *
 *      0             1                     17                    45
 *     +-------------+---------------------+---------------------+
 *     | defect type | defect location     | unused: 6a          |
 *     +-------------+---------------------+---------------------+
 *
 * I.610 leaves the coding of both to the operator.
 */
struct leat_atm_oam_defect {
    uint8_t type;
    uint8_t location[LEAT_ATM_OAM_PLACE_LEN];
};

/* function: LEAT_ATM_OAM_AIS or LEAT_ATM_OAM_RDI. */
void leat_atm_oam_defect_put(unsigned function, const struct leat_atm_oam_defect *defect,
                             struct leat_atm_oam *out);

/* False, *out untouched: it is neither AIS nor RDI. */
bool leat_atm_oam_defect_get(const struct leat_atm_oam *oam, struct leat_atm_oam_defect *out);

/* A continuity check: nothing but its type. */
void leat_atm_oam_check_put(struct leat_atm_oam *out);

enum leat_atm_oam_state { LEAT_ATM_OAM_IN_LOC, LEAT_ATM_OAM_IN_AIS, LEAT_ATM_OAM_IN_RDI };
enum { LEAT_ATM_OAM_STATES = LEAT_ATM_OAM_IN_RDI + 1 };

/* In halves of a period. */
enum { LEAT_ATM_OAM_LOC_HALVES = 7, LEAT_ATM_OAM_RELEASE_HALVES = 5 };

enum leat_atm_oam_send { LEAT_ATM_OAM_SEND_NONE, LEAT_ATM_OAM_SEND_RDI, LEAT_ATM_OAM_SEND_CC };

/* A state, while it holds and after: `at` is when it changed last. */
struct leat_atm_oam_alarm_state {
    bool holds;
    uint64_t at;
    uint64_t cell_at;                  /* the last cell that keeps it (LOC: that ends it) */
    struct leat_atm_oam_defect defect; /* of that cell (LOC: none) */
};

struct leat_atm_oam_alarm {
    uint64_t period;
    bool checks; /* CC is active, both ways */
    struct leat_atm_oam_alarm_state state[LEAT_ATM_OAM_STATES];
    uint64_t sent_at; /* the last user or CC cell */
    uint64_t rdi_at;  /* the next RDI, while LOC or AIS holds */
};

#define LEAT_ATM_OAM_PERIOD_MIN 2
#define LEAT_ATM_OAM_PERIOD_MAX (UINT64_C(1) << 60)

/* Active from `now` on: as if a cell had passed each way. */
void leat_atm_oam_alarm_init(struct leat_atm_oam_alarm *alarm, uint64_t period, bool checks,
                             uint64_t now);

/* States are those of `now` afterwards. A set bit of the result: that state has changed, at its
 * `at`. */
unsigned leat_atm_oam_alarm_advance(struct leat_atm_oam_alarm *alarm, uint64_t now);

/* Advance first. A cell has arrived: of a user or CC; AIS; RDI. */
unsigned leat_atm_oam_alarm_user(struct leat_atm_oam_alarm *alarm, uint64_t now);
unsigned leat_atm_oam_alarm_ais(struct leat_atm_oam_alarm *alarm,
                                const struct leat_atm_oam_defect *defect, uint64_t now);
unsigned leat_atm_oam_alarm_rdi(struct leat_atm_oam_alarm *alarm,
                                const struct leat_atm_oam_defect *defect, uint64_t now);

/* A user cell has been sent. */
void leat_atm_oam_alarm_sent(struct leat_atm_oam_alarm *alarm, uint64_t now);

/* Advance first. The cell that is to be sent now, which then counts as sent. */
enum leat_atm_oam_send leat_atm_oam_alarm_next(struct leat_atm_oam_alarm *alarm, uint64_t now);

/* When `next` may have a cell, if nothing arrives and no user cell is sent before. LEAT_NEVER: it
 * will not. */
uint64_t leat_atm_oam_alarm_due(const struct leat_atm_oam_alarm *alarm);

/* What its RDI cells say: the defect of AIS, or none. */
const struct leat_atm_oam_defect *leat_atm_oam_alarm_defect(const struct leat_atm_oam_alarm *alarm);

#endif
