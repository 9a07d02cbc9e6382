/*
 * AAL2 (older form) segmentation and reassembly of one virtual channel.
 *
 * A message is cut into payloads of 45 octets, the last one shorter; SN continues from message to
 * message. The receiver keeps one message open:
 *
 *   state       BOM           COM            EOM            SSM           bad cell     timer due
 *   ----------  ------------  -------------  -------------  ------------  -----------  ---------
 *   IDLE        -> OPEN       drop ORPHAN    drop ORPHAN    deliver       drop         nothing
 *                             -> SKIPPING                                 -> SKIPPING
 *   OPEN        drop BEGUN    stay (*)       deliver (*)    drop BEGUN,   drop         drop LATE
 *               -> OPEN                      -> IDLE        deliver       -> SKIPPING  -> SKIPPING
 *                                                           -> IDLE
 *   SKIPPING    -> OPEN       stay           -> IDLE        deliver       stay         nothing
 *                                                           -> IDLE
 *
 *   (*) SN must follow that of the cell before, otherwise drop SEQUENCE; the message must stay
 *       within message_len_max, otherwise drop OVERFLOW; then COM -> SKIPPING, EOM -> IDLE.
 *       A BOM or SSM whose SN does not follow drops for SEQUENCE, too: an end was lost before it.
 *
 * One damaged message is one drop: SKIPPING ignores the rest of it. Cells that carry no user data
 * (PT 4..7) are ignored.
 *
 * `leat sim --circuits` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL2_ENGINE_H
#define LEAT_ATM_AAL2_ENGINE_H

#include "atm_aal2.h"
#include <leat/atm.h>
#include <leat/time.h>
#include <stdbool.h>

enum { LEAT_ATM_AAL2_MESSAGE_LEN_MAX = 65535 };

/* ---- segmentation ------------------------------------------------------------------------- */

/* The caller's memory, the engine's fields; all zero at first. The message is lent until its last
 * cell. */
struct leat_atm_aal2_segment {
    const uint8_t *message;
    size_t message_len, sent_len;
    uint8_t sn;
};

/* LENGTH if len is not 1..LEAT_ATM_AAL2_MESSAGE_LEN_MAX, FULL while another is in flight. */
leat_err leat_atm_aal2_segment_message(struct leat_atm_aal2_segment *segment,
                                       const uint8_t *message, size_t len);

/* Writes the LEAT_ATM_AAL2_PDU_LEN octets of the next cell's payload; false: nothing to send. */
bool leat_atm_aal2_segment_next(struct leat_atm_aal2_segment *segment, uint8_t *cell_payload);

/* ---- reassembly --------------------------------------------------------------------------- */

struct leat_atm_aal2_reassemble; /* opaque */

struct leat_atm_aal2_reassemble_config {
    size_t message_len_max; /* longest to accept, 45..LEAT_ATM_AAL2_MESSAGE_LEN_MAX */
    leat_time gap_ps_max;   /* a message whose cells stop for so long is dropped */
};

enum leat_atm_aal2_event { LEAT_ATM_AAL2_CELL, LEAT_ATM_AAL2_TIMER };

struct leat_atm_aal2_in {
    enum leat_atm_aal2_event event;
    const struct leat_atm_cell *cell; /* borrowed for the call; CELL only */
};

enum leat_atm_aal2_drop {
    LEAT_ATM_AAL2_DROP_NOTHING,
    LEAT_ATM_AAL2_DROP_CRC,      /* CRC-10 does not match */
    LEAT_ATM_AAL2_DROP_FORMAT,   /* IT or LI has no meaning */
    LEAT_ATM_AAL2_DROP_SEQUENCE, /* SN does not follow: cells were lost */
    LEAT_ATM_AAL2_DROP_ORPHAN,   /* COM or EOM of a message that was never begun */
    LEAT_ATM_AAL2_DROP_BEGUN,    /* BOM or SSM while another message was open */
    LEAT_ATM_AAL2_DROP_OVERFLOW, /* longer than message_len_max */
    LEAT_ATM_AAL2_DROP_LATE,     /* its cells stopped */
};

/* One cell may drop a message and deliver another. */
struct leat_atm_aal2_out {
    enum leat_atm_aal2_drop dropped;
    const uint8_t *message; /* lent until the next step; NULL: none is complete */
    size_t message_len;
    leat_time wake_at; /* step with TIMER then; >= now, or LEAT_NEVER */
};

/* The caller provides the memory: ask for its size, pass it in, and keep it alive. */
size_t leat_atm_aal2_reassemble_footprint(const struct leat_atm_aal2_reassemble_config *config);
leat_err leat_atm_aal2_reassemble_init(void *memory, size_t memory_len,
                                       const struct leat_atm_aal2_reassemble_config *config,
                                       struct leat_atm_aal2_reassemble **out);

/* Total and deterministic: every state accepts every event. now never decreases. */
struct leat_atm_aal2_out leat_atm_aal2_reassemble_step(struct leat_atm_aal2_reassemble *r,
                                                       leat_time now,
                                                       const struct leat_atm_aal2_in *in);

#endif
