#include "atm_aal1_interleave.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = LEAT_ATM_AAL1_INTERLEAVE_ROWS, COLUMNS = LEAT_ATM_AAL1_INTERLEAVE_COLUMNS };
enum { DATA = LEAT_ATM_AAL1_FEC_DATA_LEN, AHEAD_MAX = LEAT_ATM_AAL1_INTERLEAVE_AHEAD_MAX };
enum { CSI_BIT = 3 };

void leat_atm_aal1_interleave_fill(const uint8_t user[LEAT_ATM_AAL1_INTERLEAVE_USER_LEN],
                                   struct leat_atm_aal1_matrix *matrix)
{
    for (size_t r = 0; r < ROWS; r++) {
        memcpy(matrix->row[r], user + r * DATA, DATA);
        leat_atm_aal1_fec_protect(matrix->row[r]);
    }
}

void leat_atm_aal1_interleave_pdu(const struct leat_atm_aal1_matrix *matrix, unsigned column,
                                  uint8_t pdu[LEAT_ATM_AAL1_PDU_LEN])
{
    const unsigned csi = column == 0, sc = column % LEAT_ATM_AAL1_CYCLE;
    pdu[0] = leat_atm_aal1_sn_encode((uint8_t)(csi << CSI_BIT | sc));
    for (size_t r = 0; r < ROWS; r++)
        pdu[1 + r] = matrix->row[r][column];
}

/* The one place where the state changes. In BLOCK, column 0 is expected. */
static void enter(struct leat_atm_aal1_interleave *rx, enum leat_atm_aal1_interleave_state next)
{
    rx->state = next;
    rx->column = 0;
    rx->astray = false;
    rx->erased_count = 0;
}

void leat_atm_aal1_interleave_init(struct leat_atm_aal1_interleave *rx)
{
    memset(&rx->counts, 0, sizeof rx->counts);
    rx->sn_mode = LEAT_ATM_AAL1_CORRECTION;
    enter(rx, LEAT_ATM_AAL1_INTERLEAVE_HUNT);
}

static void deliver(struct leat_atm_aal1_interleave *rx, struct leat_atm_aal1_interleave_out *out)
{
    out->user = rx->user;
    out->lost = rx->erased_count;
    for (size_t r = 0; r < ROWS; r++) {
        unsigned corrected;
        if (leat_atm_aal1_fec_correct(rx->matrix.row[r], rx->erased, rx->erased_count,
                                      &corrected)) {
            rx->counts.octets_corrected += corrected;
        } else {
            out->bad_rows |= UINT64_C(1) << r;
            rx->counts.rows_bad++;
        }
        memcpy(rx->user + r * DATA, rx->matrix.row[r], DATA);
    }
    rx->counts.lost += rx->erased_count;
    rx->counts.blocks++;
    enter(rx, LEAT_ATM_AAL1_INTERLEAVE_BLOCK);
}

/* The next column, or NULL if it is lost. */
static void add_column(struct leat_atm_aal1_interleave *rx, const uint8_t *payload,
                       struct leat_atm_aal1_interleave_out *out)
{
    for (size_t r = 0; r < ROWS; r++)
        rx->matrix.row[r][rx->column] = payload ? payload[r] : 0;
    if (!payload) {
        if (rx->erased_count < AHEAD_MAX) rx->erased[rx->erased_count] = (uint8_t)rx->column;
        rx->erased_count++;
    }
    rx->column++;
    if (rx->column == COLUMNS) deliver(rx, out);
}

static void on_hunt(struct leat_atm_aal1_interleave *rx, struct leat_atm_aal1_sn sn,
                    const uint8_t *payload, struct leat_atm_aal1_interleave_out *out)
{
    if (!sn.csi || sn.sc != 0) {
        rx->counts.discarded++;
        return;
    }
    enter(rx, LEAT_ATM_AAL1_INTERLEAVE_BLOCK);
    add_column(rx, payload, out);
}

static void cut(struct leat_atm_aal1_interleave *rx, enum leat_atm_aal1_interleave_state next,
                struct leat_atm_aal1_interleave_out *out)
{
    if (rx->column > 0) {
        rx->counts.blocks_cut++;
        out->cut = true;
    }
    enter(rx, next);
}

/* Far ahead: perhaps misinserted. A second one that follows it shows that the gap is real. */
static bool is_stray(struct leat_atm_aal1_interleave *rx, uint8_t sc,
                     struct leat_atm_aal1_interleave_out *out)
{
    if (rx->astray && sc == (rx->astray_sc + 1) % LEAT_ATM_AAL1_CYCLE) return false;
    rx->counts.discarded++;
    if (rx->astray) {
        cut(rx, LEAT_ATM_AAL1_INTERLEAVE_HUNT, out);
    } else {
        rx->astray = true;
        rx->astray_sc = sc;
    }
    return true;
}

static void on_block(struct leat_atm_aal1_interleave *rx, struct leat_atm_aal1_sn sn,
                     const uint8_t *payload, struct leat_atm_aal1_interleave_out *out)
{
    const unsigned ahead = (sn.sc - rx->column) % LEAT_ATM_AAL1_CYCLE;
    const bool far = ahead > AHEAD_MAX, first = (rx->column + ahead) % COLUMNS == 0;
    if (far && !sn.csi && is_stray(rx, sn.sc, out)) return;
    if (sn.csi && (far || !first)) {
        cut(rx, LEAT_ATM_AAL1_INTERLEAVE_HUNT, out);
        on_hunt(rx, sn, payload, out);
        return;
    }
    if (!sn.csi && first) {
        cut(rx, LEAT_ATM_AAL1_INTERLEAVE_HUNT, out);
        rx->counts.discarded++;
        return;
    }
    rx->astray = false;
    for (unsigned i = 0; i < ahead; i++)
        add_column(rx, NULL, out);
    add_column(rx, payload, out);
}

struct leat_atm_aal1_interleave_out
leat_atm_aal1_interleave_step(struct leat_atm_aal1_interleave *rx,
                              const uint8_t pdu[LEAT_ATM_AAL1_PDU_LEN])
{
    struct leat_atm_aal1_interleave_out out = { .user = NULL };
    const struct leat_atm_aal1_sn sn = leat_atm_aal1_sn_step(&rx->sn_mode, pdu[0]);
    rx->counts.cells++;
    if (!sn.valid) {
        rx->counts.discarded++;
        return out;
    }
    switch (rx->state) {
    case LEAT_ATM_AAL1_INTERLEAVE_HUNT: on_hunt(rx, sn, pdu + 1, &out); return out;
    case LEAT_ATM_AAL1_INTERLEAVE_BLOCK: on_block(rx, sn, pdu + 1, &out); return out;
    }
    abort();
}

struct leat_atm_aal1_interleave_out
leat_atm_aal1_interleave_flush(struct leat_atm_aal1_interleave *rx)
{
    struct leat_atm_aal1_interleave_out out = { .user = NULL };
    const unsigned missing = COLUMNS - rx->column;
    if (rx->column > 0 && missing <= AHEAD_MAX)
        for (unsigned i = 0; i < missing; i++)
            add_column(rx, NULL, &out);
    cut(rx, LEAT_ATM_AAL1_INTERLEAVE_HUNT, &out);
    return out;
}
