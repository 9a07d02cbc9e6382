/*
 * Cell delineation: finds the cells in a stream of octets by their header checks alone (I.432.1;
 * note, 1.3), and delivers those for the ATM layer.
 *
 *   state    looks at              a correct header                  a bad one
 *   -------  --------------------  --------------------------------  ------------------------------
 *   HUNT     every octet           -> PRESYNC                        stay, one octet on
 *   PRESYNC  every 53rd octet      stay; the DELTA-th -> SYNC        -> HUNT
 *   SYNC     every 53rd octet      stay, deliver                     stay; the ALPHA-th in a row
 *                                                                    -> HUNT
 *
 * A header is bad if its syndrome is not 0, even if correction saves the cell: correction and
 * delineation watch the same line. Only in SYNC are headers corrected (atm_hec.h) and cells
 * delivered; the first of these is the one whose header made the DELTA. Idle cells are removed.
 */
#ifndef LEAT_ATM_DELINEATION_H
#define LEAT_ATM_DELINEATION_H

#include "atm_hec.h"
#include "atm_tc.h"

enum leat_atm_delineation_state {
    LEAT_ATM_DELINEATION_HUNT,
    LEAT_ATM_DELINEATION_PRESYNC,
    LEAT_ATM_DELINEATION_SYNC,
};

struct leat_atm_delineation_config {
    unsigned alpha, delta; /* at least 1 each */
};

/* ALPHA and DELTA of I.432.1. */
#define LEAT_ATM_DELINEATION_DEFAULT \
    ((struct leat_atm_delineation_config){ .alpha = 7, .delta = 6 })

/* Private to the engine, except the state and the count. */
struct leat_atm_delineation {
    struct leat_atm_delineation_config config;
    enum leat_atm_delineation_state state;
    unsigned run; /* PRESYNC: valid headers in a row; SYNC: bad ones in a row */
    struct leat_atm_hec hec;
    uint8_t cell[LEAT_ATM_CELL_LEN];
    size_t have; /* octets in cell */
    bool deliver;
    uint64_t idle_count; /* idle cells removed so far */
};

leat_err leat_atm_delineation_init(struct leat_atm_delineation *d,
                                   const struct leat_atm_delineation_config *config);

/* Returns the number of octets used: at least one if len is not 0. Events: CELL .. LOST. */
size_t leat_atm_delineation_feed(struct leat_atm_delineation *d, const uint8_t *octets, size_t len,
                                 struct leat_atm_tc_out *out);

/* The line is known to be broken here: back to HUNT, with all state discarded. */
void leat_atm_delineation_hunt(struct leat_atm_delineation *d);

/* Octets from here to the next cell boundary, 0 to 52. Undefined in HUNT. */
size_t leat_atm_delineation_to_boundary(const struct leat_atm_delineation *d);

#endif
