/*
 * Transmission convergence (thesis 8.2, 8.3.2): how cells become the octets of a link and cells
 * again. Cells are 53 octets here: the receiver of the cells knows the interface.
 *
 *     sender                                                    receiver
 *     cells --> leat_atm_stream ---------- octets ------------> leat_atm_delineation --> cells
 *                 |  idle cells fill gaps                         ^  idle cells end here
 *                 +--> leat_atm_stm1_sender - STM-1 frames --> leat_atm_stm1 --> (octets) --+
 *                 +--> leat_atm_plcp_sender -- nibbles ------> leat_atm_plcp --> cells
 *
 * Receivers take octets in chunks of any size. A `feed` stops at the first event and returns how
 * many octets it has used; call it again with the rest:
 *
 *     while (len > 0) {
 *         const size_t used = leat_atm_delineation_feed(d, octets, len, &out);
 *         ... out ...
 *         octets += used, len -= used;
 *     }
 */
#ifndef LEAT_ATM_TC_H
#define LEAT_ATM_TC_H

#include <leat/atm.h>

enum leat_atm_tc_event {
    LEAT_ATM_TC_NOTHING,    /* the chunk is used up */
    LEAT_ATM_TC_CELL,       /* a cell for the ATM layer; its header was valid or was corrected */
    LEAT_ATM_TC_DISCARD,    /* a cell was dropped because of its header */
    LEAT_ATM_TC_SYNC,       /* cell boundaries are now known */
    LEAT_ATM_TC_LOST,       /* ... and are no longer known */
    LEAT_ATM_TC_FRAME_SYNC, /* frame boundaries are now known */
    LEAT_ATM_TC_FRAME_LOST, /* ... and are no longer known, nor are those of cells */
    LEAT_ATM_TC_LABEL,      /* STM-1, E3: the frame does not say that it holds cells */
    LEAT_ATM_TC_POINTER,    /* STM-1: the container is not where this profile expects it */
    LEAT_ATM_TC_OFFSET,     /* STM-1: H4 disagrees with the cell boundaries in use */
    LEAT_ATM_TC_PARITY,     /* E3, DS3: parity of the frame before is wrong */
};

struct leat_atm_tc_out {
    enum leat_atm_tc_event event;
    const uint8_t *cell; /* CELL: 53 octets, lent until the next feed */
    bool corrected;      /* CELL: one bit of the header was corrected */
};

#endif
