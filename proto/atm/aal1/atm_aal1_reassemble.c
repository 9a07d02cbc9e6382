#include "atm_aal1_reassemble.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RTS_BITS = 4, PT_NOT_USER_DATA = 4, SC_LAST = LEAT_ATM_AAL1_CYCLE - 1 };

/* How much of a cell can be trusted. */
enum trust { LOST, PAYLOAD_ONLY, ALL };

leat_err leat_atm_aal1_reassemble_init(struct leat_atm_aal1_reassemble *r,
                                       const struct leat_atm_aal1_reassemble_config *config)
{
    if (config->block_len > LEAT_ATM_AAL1_BLOCK_LEN_MAX) return LEAT_ERR_RANGE;
    if (config->lost_cells_max > LEAT_ATM_AAL1_LOST_MAX) return LEAT_ERR_RANGE;

    *r = (struct leat_atm_aal1_reassemble){ .config = *config,
                                            .state = LEAT_ATM_AAL1_START,
                                            .sn_mode = LEAT_ATM_AAL1_CORRECTION,
                                            .block = leat_atm_aal1_block_at_start(
                                                config->block_len) };
    return LEAT_ERR_OK;
}

static uint8_t sc_after(uint8_t sc, unsigned steps)
{
    return (uint8_t)((sc + steps) % LEAT_ATM_AAL1_CYCLE);
}

/* The earlier stream does not help to find blocks and time stamps. */
static void restart(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_reassemble_out *out)
{
    r->aligned = false;
    r->rts_bits = 0;
    r->counts.restarts++;
    out->restarted = true;
}

/* The time stamp is collected over the odd SC of a cycle; only complete ones count. */
static void collect_rts(struct leat_atm_aal1_reassemble *r,
                        struct leat_atm_aal1_reassemble_out *out, enum trust trust, uint8_t sc,
                        uint8_t csi)
{
    if (sc == 0) r->rts_bits = 0;
    if (sc % 2 == 0) return;
    if (trust == ALL && r->rts_bits == sc / 2) {
        r->rts = (uint8_t)(r->rts << 1 | csi) & 0xf;
        r->rts_bits++;
    }
    if (sc != SC_LAST) return;
    out->rts_is = r->rts_bits == RTS_BITS ? LEAT_ATM_AAL1_RTS_SEEN : LEAT_ATM_AAL1_RTS_LOST;
    out->rts = out->rts_is == LEAT_ATM_AAL1_RTS_SEEN ? r->rts : 0;
}

/* A pointer that differs from the prediction of the earlier blocks: the newer one wins. */
static void realign(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_reassemble_out *out,
                    bool aligned, uint32_t until)
{
    if (r->aligned) {
        r->counts.pointer_errors++;
        out->block_at = SIZE_MAX;
    }
    r->aligned = aligned;
    r->block.until = until;
}

/* Compares the block pointer of a trusted cell with the expected one. */
static void check_pointer(struct leat_atm_aal1_reassemble *r,
                          struct leat_atm_aal1_reassemble_out *out, bool predicted, bool p_format,
                          uint8_t pointer)
{
    const bool none = pointer == LEAT_ATM_AAL1_POINTER_NONE;

    if (!p_format) {
        if (r->aligned && predicted) realign(r, out, false, 0);
        return;
    }
    r->block.pointed = true;
    if (!leat_atm_aal1_pointer_is_legal(pointer) || (!none && pointer >= r->block.block_len)) {
        r->counts.pointer_errors++; /* an octet without protection: trust the count instead */
        return;
    }
    const bool as_thought = none ? r->block.until >= LEAT_ATM_AAL1_POINTER_MAX
                                 : r->block.until == pointer;
    if (!r->aligned || !as_thought) realign(r, out, !none, none ? 0 : pointer);
}

/* Appends the payload of one cell, or dummy octets in its place, at its SC. */
static void append(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_reassemble_out *out,
                   enum trust trust, uint8_t sc)
{
    uint8_t pointer = 0;
    const bool predicted = leat_atm_aal1_block_pointer(&r->block, sc, &pointer) && r->aligned;
    const bool structured = leat_atm_aal1_block_has_pointers(&r->block);
    const bool p_format = trust == ALL ? structured && leat_atm_aal1_is_p_format(r->kept.csi, sc)
                                       : predicted;
    const size_t len = LEAT_ATM_AAL1_PAYLOAD_LEN - (p_format ? 1 : 0);
    uint8_t *to = r->octets + out->octets_len;

    assert(out->octets_len + len <= sizeof r->octets);
    if (trust == LOST)
        memset(to, r->config.dummy, len);
    else
        memcpy(to, r->kept.octets + (p_format ? 1 : 0), len);
    if (trust == ALL && structured) check_pointer(r, out, predicted, p_format, r->kept.octets[0]);
    if (r->aligned || r->block.block_len == 1) {
        const size_t first = leat_atm_aal1_block_advance(&r->block, len);
        if (first < len && out->block_at == SIZE_MAX) out->block_at = out->octets_len + first;
    }
    collect_rts(r, out, trust, sc, r->kept.csi);
    out->octets_len += len;
}

static void fill_gap(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_reassemble_out *out,
                     unsigned lost_cells)
{
    if (lost_cells > r->config.lost_cells_max) {
        restart(r, out);
        return;
    }
    for (unsigned i = 1; i <= lost_cells; i++)
        append(r, out, LOST, sc_after(r->last_sc, i));
    out->dummy_len = out->octets_len;
    r->counts.lost += lost_cells;
}

static void keep(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_sn sn, const uint8_t *pdu)
{
    r->kept.csi = sn.csi;
    r->kept.sc = sn.sc;
    memcpy(r->kept.octets, pdu + 1, sizeof r->kept.octets);
}

/* The one place where the state changes; every cell in sequence moves L. */
static void enter(struct leat_atm_aal1_reassemble *r, enum leat_atm_aal1_reassemble_state next,
                  uint8_t last_sc)
{
    r->state = next;
    r->last_sc = last_sc;
}

static void on_valid_in_sync(struct leat_atm_aal1_reassemble *r,
                             struct leat_atm_aal1_reassemble_out *out, uint8_t sc)
{
    append(r, out, ALL, r->kept.sc);
    if (sc == sc_after(r->last_sc, 1))
        enter(r, LEAT_ATM_AAL1_SYNC, sc);
    else
        enter(r, LEAT_ATM_AAL1_OUT_OF_SEQUENCE, r->last_sc);
}

static void on_valid_out_of_sequence(struct leat_atm_aal1_reassemble *r,
                                     struct leat_atm_aal1_reassemble_out *out, uint8_t sc)
{
    const uint8_t last = r->last_sc, kept = r->kept.sc;
    enum leat_atm_aal1_reassemble_state next = LEAT_ATM_AAL1_SYNC;

    if (sc == sc_after(last, 1)) {
        r->counts.misinserted++;
    } else if (sc == sc_after(kept, 1)) {
        fill_gap(r, out, (unsigned)(kept - last - 1) % LEAT_ATM_AAL1_CYCLE);
        append(r, out, ALL, kept);
    } else if (sc == sc_after(last, 2)) {
        append(r, out, PAYLOAD_ONLY, sc_after(last, 1));
    } else {
        r->counts.discarded++;
        next = LEAT_ATM_AAL1_OUT_OF_SYNC;
    }
    enter(r, next, sc);
}

static void on_valid_after_invalid(struct leat_atm_aal1_reassemble *r,
                                   struct leat_atm_aal1_reassemble_out *out, uint8_t sc)
{
    const uint8_t last = r->last_sc;

    if (sc == sc_after(last, 1)) {
        r->counts.misinserted++;
        enter(r, LEAT_ATM_AAL1_SYNC, sc);
    } else if (sc == sc_after(last, 2)) {
        append(r, out, PAYLOAD_ONLY, sc_after(last, 1));
        enter(r, LEAT_ATM_AAL1_SYNC, sc);
    } else {
        r->counts.discarded++;
        enter(r, LEAT_ATM_AAL1_OUT_OF_SEQUENCE, last);
    }
}

static void on_valid_out_of_sync(struct leat_atm_aal1_reassemble *r,
                                 struct leat_atm_aal1_reassemble_out *out, uint8_t sc)
{
    if (sc != sc_after(r->last_sc, 1)) {
        r->counts.discarded++;
        enter(r, LEAT_ATM_AAL1_OUT_OF_SYNC, sc);
        return;
    }
    restart(r, out);
    append(r, out, ALL, r->kept.sc);
    enter(r, LEAT_ATM_AAL1_SYNC, sc);
}

static void on_valid(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_reassemble_out *out,
                     uint8_t sc)
{
    switch (r->state) {
    case LEAT_ATM_AAL1_START: enter(r, LEAT_ATM_AAL1_OUT_OF_SYNC, sc); return;
    case LEAT_ATM_AAL1_OUT_OF_SYNC: on_valid_out_of_sync(r, out, sc); return;
    case LEAT_ATM_AAL1_SYNC: on_valid_in_sync(r, out, sc); return;
    case LEAT_ATM_AAL1_OUT_OF_SEQUENCE: on_valid_out_of_sequence(r, out, sc); return;
    case LEAT_ATM_AAL1_INVALID: on_valid_after_invalid(r, out, sc); return;
    }
    abort();
}

static void on_invalid(struct leat_atm_aal1_reassemble *r, struct leat_atm_aal1_reassemble_out *out)
{
    switch (r->state) {
    case LEAT_ATM_AAL1_START: r->counts.discarded++; return;
    case LEAT_ATM_AAL1_SYNC:
        append(r, out, ALL, r->kept.sc);
        enter(r, LEAT_ATM_AAL1_INVALID, r->last_sc);
        return;
    case LEAT_ATM_AAL1_OUT_OF_SYNC:
    case LEAT_ATM_AAL1_OUT_OF_SEQUENCE:
    case LEAT_ATM_AAL1_INVALID:
        r->counts.discarded += 2;
        enter(r, LEAT_ATM_AAL1_START, 0);
        return;
    }
    abort();
}

static struct leat_atm_aal1_reassemble_out finish(const struct leat_atm_aal1_reassemble *r,
                                                  struct leat_atm_aal1_reassemble_out out)
{
    out.octets = r->octets;
    if (out.block_at == SIZE_MAX) out.block_at = out.octets_len;
    return out;
}

struct leat_atm_aal1_reassemble_out
leat_atm_aal1_reassemble_cell(struct leat_atm_aal1_reassemble *r, const struct leat_atm_cell *cell)
{
    struct leat_atm_aal1_reassemble_out out = { .block_at = SIZE_MAX };
    if (cell->pt & PT_NOT_USER_DATA) return finish(r, out);

    const struct leat_atm_aal1_sn sn = leat_atm_aal1_sn_step(&r->sn_mode, cell->payload[0]);
    r->counts.cells++;
    r->counts.corrected += sn.corrected;
    r->counts.invalid += !sn.valid;
    if (sn.valid)
        on_valid(r, &out, sn.sc);
    else
        on_invalid(r, &out);
    keep(r, sn, cell->payload); /* ignored in START */
    return finish(r, out);
}

struct leat_atm_aal1_reassemble_out
leat_atm_aal1_reassemble_flush(struct leat_atm_aal1_reassemble *r)
{
    struct leat_atm_aal1_reassemble_out out = { .block_at = SIZE_MAX };
    if (r->state == LEAT_ATM_AAL1_SYNC)
        append(r, &out, ALL, r->kept.sc);
    else if (r->state != LEAT_ATM_AAL1_START)
        r->counts.discarded++;
    enter(r, LEAT_ATM_AAL1_START, 0);
    return finish(r, out);
}
