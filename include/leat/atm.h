/*
 * ATM cell (ITU-T I.361), at the user-network (UNI) or network-network interface (NNI):
 *
 *          31   28 27      20 19              4 3   1  0
 *         +-------+----------+-----------------+-----+---+-----+------------+
 *   UNI   |  GFC  |   VPI    |       VCI       |  PT |CLP| HEC | 48 octets  |
 *         +-------+----------+-----------------+-----+---+-----+------------+
 *   NNI   |       VPI        |       VCI       |  PT |CLP| HEC | 48 octets  |
 *         +------------------+-----------------+-----+---+-----+------------+
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 */
#ifndef LEAT_ATM_H
#define LEAT_ATM_H

#include <leat/err.h>
#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lengths in octets. */
enum { LEAT_ATM_CELL_LEN = 53, LEAT_ATM_HEADER_LEN = 5, LEAT_ATM_PAYLOAD_LEN = 48 };

/* Where the cell is: at the user-network or at the network-network interface. */
enum leat_atm_interface { LEAT_ATM_UNI, LEAT_ATM_NNI };

/* Payload types with a meaning of their own; 0..3 are user data. */
enum {
    LEAT_ATM_PT_SDU = 1,  /* user data: SDU type 1, the last cell of an AAL5 PDU */
    LEAT_ATM_PT_EFCI = 2, /* user data: congestion met */
    LEAT_ATM_PT_OAM_SEGMENT = 4,
    LEAT_ATM_PT_OAM_END = 5,
    LEAT_ATM_PT_RM = 6,
};

/* The meaning of a cell, in host order. Its layout is never the wire's. */
struct leat_atm_cell {
    enum leat_atm_interface interface;
    uint8_t gfc;  /* 4 bits, UNI only: 0 at the NNI */
    uint16_t vpi; /* 8 bits at the UNI, 12 at the NNI */
    uint16_t vci; /* 16 bits */
    uint8_t pt;   /* 3 bits */
    uint8_t clp;  /* 1 bit */
    uint8_t payload[LEAT_ATM_PAYLOAD_LEN];
};

/*
 * `len` must be exactly LEAT_ATM_CELL_LEN. On error *out is untouched and *fault_at (may be NULL)
 * is the offset of the error. The octets do not show the interface: the caller gives it.
 */
LEAT_API leat_err leat_atm_cell_decode(const uint8_t *buf, size_t len,
                                       enum leat_atm_interface interface, struct leat_atm_cell *out,
                                       size_t *fault_at);

/* Writes LEAT_ATM_CELL_LEN octets. On error writes nothing and returns the reason. */
LEAT_API leat_err leat_atm_cell_encode(const struct leat_atm_cell *cell, uint8_t *buf, size_t cap);

/* What the unused octets of idle cells and of OAM payloads hold (I.432.1, I.610). */
enum { LEAT_ATM_FILL = 0x6a };

/*
 * Two headers belong to no connection. An idle cell adapts the rate of a link and never reaches the
 * ATM layer (I.432.1); an unassigned cell is a gap that the ATM layer itself left (I.361).
 */
LEAT_API bool leat_atm_cell_is_idle(const uint8_t header[LEAT_ATM_HEADER_LEN]);
LEAT_API bool leat_atm_cell_is_unassigned(const uint8_t header[LEAT_ATM_HEADER_LEN]);
LEAT_API void leat_atm_cell_idle(uint8_t cell[LEAT_ATM_CELL_LEN]);

/*
 * AAL5 (ITU-T I.363.5): a PDU is cut into whole cell payloads, the last one marked in PT.
 *
 *   CPCS-PDU   +---------------+-----------+----+-----+--------+--------+
 *              |    payload    | PAD 0..47 | UU | CPI | Length | CRC-32 |
 *              +---------------+-----------+----+-----+--------+--------+
 *      octets       1..65535                  1    1      2        4        = a multiple of 48
 *
 * Reassembly of one virtual channel:
 *
 *   state       cell            last cell         timer due
 *   ----------  --------------  ----------------  ---------------
 *   IDLE        -> COLLECTING   deliver or drop   nothing
 *   COLLECTING  stay            -> IDLE, ditto    -> IDLE, drop
 *     (full)    -> SKIPPING, drop; -> IDLE, drop
 *   SKIPPING    stay            -> IDLE           nothing
 *
 * Cells that carry no user data (PT 4..7) are ignored.
 *
 * The engines (sender and reassembly) are library only: for programs that link libleat.
 */

enum {
    LEAT_ATM_AAL5_TRAILER_LEN = 8,
    LEAT_ATM_AAL5_PAYLOAD_LEN_MAX = 65535,
    LEAT_ATM_AAL5_PDU_LEN_MAX = 65568, /* 1366 cells */
};

/* PAD, Length and CRC follow from these. */
struct leat_atm_aal5_pdu {
    uint8_t uu, cpi;
    const uint8_t *payload; /* decode: lent from the octets decoded */
    size_t payload_len;     /* 1..65535 */
};

/* Octets of the CPCS-PDU around a payload. */
static inline size_t leat_atm_aal5_pdu_len(size_t payload_len)
{
    return (payload_len + LEAT_ATM_AAL5_TRAILER_LEN + LEAT_ATM_PAYLOAD_LEN - 1) /
           LEAT_ATM_PAYLOAD_LEN * LEAT_ATM_PAYLOAD_LEN;
}

/*
 * The whole of buf is one CPCS-PDU. On error *out is untouched and *fault_at (may be NULL) is the
 * offset of the error: SHORT, LENGTH (no multiple of 48, or Length does not agree), CHECKSUM. The
 * CRC covers PAD, but the content of PAD has no meaning.
 */
LEAT_API leat_err leat_atm_aal5_pdu_decode(const uint8_t *buf, size_t len,
                                           struct leat_atm_aal5_pdu *out, size_t *fault_at);

/* `buf` must not overlap the payload. */
LEAT_API leat_err leat_atm_aal5_pdu_encode(const struct leat_atm_aal5_pdu *pdu, uint8_t *buf,
                                           size_t cap, size_t *len);

/*
 * Segmentation for one virtual channel. Only the end of a PDU is built in memory; all other cell
 * payloads are lent from the caller's own octets.
 */
struct leat_atm_aal5_sender {
    uint8_t header[2][LEAT_ATM_HEADER_LEN]; /* with HEC; [1] is the last cell's */
    uint8_t pt;                             /* 0 or EFCI */
    struct leat_atm_aal5_pdu pdu;
    size_t whole_count, cell_count; /* cells lent from the payload; all of them */
    size_t next;                    /* invariant: next <= cell_count */
    size_t summed_count;            /* cells that crc covers: <= whole_count */
    uint32_t crc;
    uint8_t tail[2 * LEAT_ATM_PAYLOAD_LEN]; /* rest of the payload, PAD, trailer: 1 or 2 cells */
};

/* `like` gives the header of every cell (its payload is ignored): PT is 0 or 2. */
LEAT_API leat_err leat_atm_aal5_sender_init(struct leat_atm_aal5_sender *s,
                                            const struct leat_atm_cell *like);

/* The payload is lent until its last cell is sent. Discards cells of an earlier PDU not yet
 * sent. */
LEAT_API leat_err leat_atm_aal5_sender_begin(struct leat_atm_aal5_sender *s,
                                             const struct leat_atm_aal5_pdu *pdu);

/* The next cell as PT and 48 octets, lent until the next begin; false after the last cell. */
LEAT_API bool leat_atm_aal5_sender_next(struct leat_atm_aal5_sender *s, uint8_t *pt,
                                        const uint8_t **payload);

/* The same, written as octets: up to count_max cells of 53 octets each. Returns how many. */
LEAT_API size_t leat_atm_aal5_sender_cells(struct leat_atm_aal5_sender *s, uint8_t *cells,
                                           size_t count_max);

/* Reassembly. */
struct leat_atm_aal5; /* opaque */

struct leat_atm_aal5_config {
    size_t pdu_len_max;   /* longest payload to accept, 1..65535 */
    leat_time gap_ps_max; /* a PDU whose cells stop for longer is dropped */
};

/* What a step handles: a cell that arrived, or the timer of wake_at. */
enum leat_atm_aal5_event { LEAT_ATM_AAL5_CELL, LEAT_ATM_AAL5_TIMER };

struct leat_atm_aal5_in {
    enum leat_atm_aal5_event event;
    uint8_t pt;             /* CELL: payload type */
    const uint8_t *payload; /* CELL: 48 octets, borrowed for the call */
};

enum leat_atm_aal5_drop {
    LEAT_ATM_AAL5_DROP_OVERFLOW, /* longer than pdu_len_max */
    LEAT_ATM_AAL5_DROP_LATE,     /* no cell for gap_ps_max */
    LEAT_ATM_AAL5_DROP_LENGTH,   /* Length does not agree with the number of cells */
    LEAT_ATM_AAL5_DROP_CRC,
    LEAT_ATM_AAL5_DROP_COUNT
};

/* What a step did: nothing for the caller, a whole PDU, or a PDU dropped. */
enum leat_atm_aal5_what { LEAT_ATM_AAL5_NOTHING, LEAT_ATM_AAL5_DELIVER, LEAT_ATM_AAL5_DROP };

/*
 * What the caller must do now. At most one PDU ends; the timer may move. Fields that do not apply
 * stay unchanged.
 */
struct leat_atm_aal5_out {
    enum leat_atm_aal5_what what;
    enum leat_atm_aal5_drop reason; /* DROP */
    struct leat_atm_aal5_pdu pdu;   /* DELIVER: its payload is lent until the next step */
    leat_time wake_at;              /* step with TIMER then; >= now, or LEAT_NEVER */
};

/* The caller provides the memory: ask for its size, pass it in, and keep it alive. */
LEAT_API size_t leat_atm_aal5_footprint(const struct leat_atm_aal5_config *config);
LEAT_API leat_err leat_atm_aal5_init(void *memory, size_t memory_len,
                                     const struct leat_atm_aal5_config *config,
                                     struct leat_atm_aal5 **out);

/* Total and deterministic: every state accepts every event. now never decreases. */
LEAT_API void leat_atm_aal5_step(struct leat_atm_aal5 *aal5, leat_time now,
                                 const struct leat_atm_aal5_in *in, struct leat_atm_aal5_out *out);

/*
 * A burst of `count` cells of this channel, 53 octets each, straight from the link. Skips cells
 * with a wrong HEC. Stops after the cell that ends a PDU (delivered or dropped); returns how many
 * cells were taken.
 */
LEAT_API size_t leat_atm_aal5_step_cells(struct leat_atm_aal5 *aal5, leat_time now,
                                         const uint8_t *cells, size_t count,
                                         struct leat_atm_aal5_out *out);

#ifdef __cplusplus
}
#endif

#endif
