/*
 * AAL3/4 engines: segmentation for one (VC, MID), reassembly of one VC with many MIDs open.
 *
 * No command uses it yet, and no public header has it; its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL34_ENGINE_H
#define LEAT_ATM_AAL34_ENGINE_H

#include "atm_aal34.h"
#include <leat/time.h>
#include <stdbool.h>

/* The sender of one (VC, MID). SN continues from PDU to PDU; the tag changes with each. */
struct leat_atm_aal34_sender {
    uint16_t mid10;
    uint8_t sn, tag;
    const uint8_t *payload;
    size_t payload_len, cpcs_len, sent; /* invariant: sent <= cpcs_len */
    uint8_t header[LEAT_ATM_AAL34_CPCS_HEADER_LEN];
    uint8_t tail[3 + LEAT_ATM_AAL34_CPCS_TRAILER_LEN]; /* PAD and trailer */
};

leat_err leat_atm_aal34_sender_init(struct leat_atm_aal34_sender *s, uint16_t mid10);

/* The payload is lent until its last SAR-PDU is sent. Discards what was not yet sent before. */
leat_err leat_atm_aal34_sender_begin(struct leat_atm_aal34_sender *s, uint8_t cpi,
                                     const uint8_t *payload, size_t payload_len);

/* The next SAR-PDU; false (and nothing written) after the last one. */
bool leat_atm_aal34_sender_next(struct leat_atm_aal34_sender *s,
                                uint8_t sar[LEAT_ATM_AAL34_SAR_LEN]);

/* Aborts the PDU. True: its begin was sent, and `sar` now holds the abort to send after it. */
bool leat_atm_aal34_sender_abort(struct leat_atm_aal34_sender *s,
                                 uint8_t sar[LEAT_ATM_AAL34_SAR_LEN]);

/*
 * Reassembly of one virtual channel; every MID has a state of its own.
 *
 *   state     BOM              COM                  EOM                  SSM              timer
 *   --------  ---------------  -------------------  -------------------  ---------------  -------
 *   CLOSED    -> OPEN          NOT_OPEN, -> SKIP    NOT_OPEN             deliver          -
 *   OPEN      UNENDED, stay    collect, or drop     deliver or drop,     UNENDED,         LATE,
 *                              and -> SKIP          -> CLOSED            deliver,         -> SKIP
 *                                                                        -> CLOSED
 *   SKIPPING  -> OPEN          stay                 -> CLOSED            deliver,         -
 *                                                                        -> CLOSED
 *
 * A BOM that finds mids_max PDUs open is dropped (FULL, -> SKIPPING). SKIPPING ignores the rest of
 * a PDU whose loss has been reported: one PDU is one drop. A SAR-PDU with a wrong CRC-10 cannot be
 * trusted, nor can its MID. It is dropped (CRC), and its gap in the sequence drops the PDU that it
 * belonged to. Cells that carry no user data (PT 4..7) are ignored.
 */
struct leat_atm_aal34; /* opaque */

struct leat_atm_aal34_config {
    size_t pdu_len_max;   /* longest payload to accept, 1..65535 */
    size_t mids_max;      /* PDUs open at once, 1..1024 */
    leat_time gap_ps_max; /* a PDU whose cells stop for longer is dropped */
};

enum leat_atm_aal34_event { LEAT_ATM_AAL34_CELL, LEAT_ATM_AAL34_TIMER };

struct leat_atm_aal34_in {
    enum leat_atm_aal34_event event;
    uint8_t pt;         /* CELL: payload type of the cell */
    const uint8_t *sar; /* CELL: its 48 payload octets, borrowed for the call */
};

enum leat_atm_aal34_drop {
    LEAT_ATM_AAL34_DROP_CRC,      /* CRC-10 is wrong */
    LEAT_ATM_AAL34_DROP_LI,       /* LI does not suit ST */
    LEAT_ATM_AAL34_DROP_SEQUENCE, /* SN is not the next one */
    LEAT_ATM_AAL34_DROP_UNENDED,  /* BOM or SSM while a PDU is open */
    LEAT_ATM_AAL34_DROP_NOT_OPEN, /* COM or EOM while none is */
    LEAT_ATM_AAL34_DROP_TAG,      /* Btag != Etag */
    LEAT_ATM_AAL34_DROP_LENGTH,   /* Length does not match the octets received */
    LEAT_ATM_AAL34_DROP_BASIZE,   /* BASize below Length */
    LEAT_ATM_AAL34_DROP_AL,       /* AL is not 0 */
    LEAT_ATM_AAL34_DROP_OVERFLOW, /* longer than pdu_len_max */
    LEAT_ATM_AAL34_DROP_FULL,     /* mids_max PDUs are open */
    LEAT_ATM_AAL34_DROP_ABORT,    /* the sender aborted it */
    LEAT_ATM_AAL34_DROP_LATE,     /* no cell for gap_ps_max */
    LEAT_ATM_AAL34_DROP_COUNT
};

enum { LEAT_ATM_AAL34_DROPS_MAX = 2 }; /* an SSM may end an open PDU and be bad itself */

/* What the caller must do now. Fields that do not apply stay unchanged. */
struct leat_atm_aal34_out {
    bool delivered;
    uint8_t drop_count;
    uint16_t mid10; /* of the PDU delivered or dropped; undefined with DROP_CRC */
    enum leat_atm_aal34_drop drops[LEAT_ATM_AAL34_DROPS_MAX];
    struct leat_atm_aal34_cpcs pdu; /* delivered: its payload is lent until the next step */
    leat_time wake_at;              /* step with TIMER then; >= now, or LEAT_NEVER */
};

/* The caller provides the memory: ask for its size, pass it in, and keep it alive. */
size_t leat_atm_aal34_footprint(const struct leat_atm_aal34_config *config);
leat_err leat_atm_aal34_init(void *memory, size_t memory_len,
                             const struct leat_atm_aal34_config *config,
                             struct leat_atm_aal34 **out);

/*
 * Total and deterministic: every state accepts every event. now never decreases. A timer step drops
 * at most one PDU, the one silent for longest; wake_at == now means that another is due.
 */
void leat_atm_aal34_step(struct leat_atm_aal34 *aal34, leat_time now,
                         const struct leat_atm_aal34_in *in, struct leat_atm_aal34_out *out);

/* PDUs open now. */
size_t leat_atm_aal34_open_count(const struct leat_atm_aal34 *aal34);

#endif
