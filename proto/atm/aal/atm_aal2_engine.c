#include "atm_aal2_engine.h"
#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { PT_NOT_USER_DATA = 4 };

static uint8_t sn_after(uint8_t sn)
{
    return (uint8_t)((sn + 1) % LEAT_ATM_AAL2_SN_COUNT);
}

/* ---- segmentation ------------------------------------------------------------------------- */

leat_err leat_atm_aal2_segment_message(struct leat_atm_aal2_segment *segment,
                                       const uint8_t *message, size_t len)
{
    if (len < 1 || len > LEAT_ATM_AAL2_MESSAGE_LEN_MAX) return LEAT_ERR_LENGTH;
    if (segment->sent_len < segment->message_len) return LEAT_ERR_FULL;
    segment->message = message;
    segment->message_len = len;
    segment->sent_len = 0;
    return LEAT_ERR_OK;
}

static enum leat_atm_aal2_it it_of(bool first, bool last)
{
    if (first) return last ? LEAT_ATM_AAL2_SSM : LEAT_ATM_AAL2_BOM;
    return last ? LEAT_ATM_AAL2_EOM : LEAT_ATM_AAL2_COM;
}

bool leat_atm_aal2_segment_next(struct leat_atm_aal2_segment *segment, uint8_t *cell_payload)
{
    const size_t left = segment->message_len - segment->sent_len;
    if (left == 0) return false;

    const size_t li = left < LEAT_ATM_AAL2_PAYLOAD_LEN ? left : LEAT_ATM_AAL2_PAYLOAD_LEN;
    struct leat_atm_aal2_pdu pdu = { .sn = segment->sn,
                                     .it = it_of(segment->sent_len == 0, li == left),
                                     .li = (uint8_t)li };
    memcpy(pdu.payload, segment->message + segment->sent_len, li);
    const leat_err err = leat_atm_aal2_pdu_encode(&pdu, cell_payload, LEAT_ATM_AAL2_PDU_LEN);
    assert(err == LEAT_ERR_OK);
    segment->sent_len += li;
    segment->sn = sn_after(segment->sn);
    return true;
}

/* ---- reassembly --------------------------------------------------------------------------- */

enum state { IDLE, OPEN, SKIPPING };

struct leat_atm_aal2_reassemble {
    struct leat_atm_aal2_reassemble_config config;
    enum state state;
    leat_time now;     /* of the latest step */
    leat_time seen_at; /* OPEN: the latest cell of the message */
    uint8_t sn;        /* OPEN: of that cell */
    size_t used;       /* invariant: used <= message_len_max */
    uint8_t buffer[];
};

size_t leat_atm_aal2_reassemble_footprint(const struct leat_atm_aal2_reassemble_config *config)
{
    return sizeof(struct leat_atm_aal2_reassemble) + config->message_len_max;
}

leat_err leat_atm_aal2_reassemble_init(void *memory, size_t memory_len,
                                       const struct leat_atm_aal2_reassemble_config *config,
                                       struct leat_atm_aal2_reassemble **out)
{
    if (config->message_len_max < LEAT_ATM_AAL2_PAYLOAD_LEN) return LEAT_ERR_RANGE;
    if (config->message_len_max > LEAT_ATM_AAL2_MESSAGE_LEN_MAX) return LEAT_ERR_RANGE;
    if (memory_len < leat_atm_aal2_reassemble_footprint(config)) return LEAT_ERR_MEMORY;
    if ((uintptr_t)memory % alignof(struct leat_atm_aal2_reassemble)) return LEAT_ERR_MEMORY;

    struct leat_atm_aal2_reassemble *r = memory;
    *r = (struct leat_atm_aal2_reassemble){ .config = *config, .state = IDLE };
    *out = r;
    return LEAT_ERR_OK;
}

static leat_time deadline(const struct leat_atm_aal2_reassemble *r)
{
    return r->state == OPEN ? leat_time_add(r->seen_at, r->config.gap_ps_max) : LEAT_NEVER;
}

/* The one place where the state changes. */
static void enter(struct leat_atm_aal2_reassemble *r, enum state next)
{
    r->state = next;
}

static void drop(struct leat_atm_aal2_reassemble *r, struct leat_atm_aal2_out *out,
                 enum leat_atm_aal2_drop why, enum state next)
{
    out->dropped = why;
    enter(r, next);
}

/* Adds a cell's octets to the message; `next` is IDLE if it was the last. */
static void collect(struct leat_atm_aal2_reassemble *r, struct leat_atm_aal2_out *out,
                    const struct leat_atm_aal2_pdu *pdu, enum state next)
{
    if (pdu->li > r->config.message_len_max - r->used) {
        drop(r, out, LEAT_ATM_AAL2_DROP_OVERFLOW, next == OPEN ? SKIPPING : IDLE);
        return;
    }
    memcpy(r->buffer + r->used, pdu->payload, pdu->li);
    r->used += pdu->li;
    r->sn = pdu->sn;
    r->seen_at = r->now;
    enter(r, next);
    if (next == IDLE) {
        out->message = r->buffer;
        out->message_len = r->used;
    }
}

/* BOM and SSM: an open message has lost its end. */
static void on_begin(struct leat_atm_aal2_reassemble *r, struct leat_atm_aal2_out *out,
                     const struct leat_atm_aal2_pdu *pdu, enum state next)
{
    if (r->state == OPEN)
        out->dropped = pdu->sn == sn_after(r->sn) ? LEAT_ATM_AAL2_DROP_BEGUN
                                                  : LEAT_ATM_AAL2_DROP_SEQUENCE;
    r->used = 0;
    collect(r, out, pdu, next);
}

/* COM and EOM; `next` is the state after a good one. */
static void on_continue(struct leat_atm_aal2_reassemble *r, struct leat_atm_aal2_out *out,
                        const struct leat_atm_aal2_pdu *pdu, enum state next)
{
    const enum state after_drop = next == OPEN ? SKIPPING : IDLE;
    switch (r->state) {
    case IDLE: drop(r, out, LEAT_ATM_AAL2_DROP_ORPHAN, after_drop); return;
    case SKIPPING: enter(r, after_drop); return;
    case OPEN:
        if (pdu->sn == sn_after(r->sn))
            collect(r, out, pdu, next);
        else
            drop(r, out, LEAT_ATM_AAL2_DROP_SEQUENCE, after_drop);
        return;
    }
    abort();
}

static void on_cell(struct leat_atm_aal2_reassemble *r, struct leat_atm_aal2_out *out,
                    const struct leat_atm_cell *cell)
{
    struct leat_atm_aal2_pdu pdu;
    if (cell->pt & PT_NOT_USER_DATA) return;

    const leat_err err = leat_atm_aal2_pdu_decode(cell->payload, LEAT_ATM_AAL2_PDU_LEN, &pdu, NULL);
    if (err != LEAT_ERR_OK) {
        const bool crc = err == LEAT_ERR_CHECKSUM;
        if (r->state != SKIPPING)
            drop(r, out, crc ? LEAT_ATM_AAL2_DROP_CRC : LEAT_ATM_AAL2_DROP_FORMAT, SKIPPING);
        return;
    }
    switch (pdu.it) {
    case LEAT_ATM_AAL2_BOM: on_begin(r, out, &pdu, OPEN); return;
    case LEAT_ATM_AAL2_SSM: on_begin(r, out, &pdu, IDLE); return;
    case LEAT_ATM_AAL2_COM: on_continue(r, out, &pdu, OPEN); return;
    case LEAT_ATM_AAL2_EOM: on_continue(r, out, &pdu, IDLE); return;
    }
    abort();
}

/* An early wake is harmless: it only re-arms. */
static void on_timer(struct leat_atm_aal2_reassemble *r, struct leat_atm_aal2_out *out)
{
    if (r->state == OPEN && r->now >= deadline(r)) drop(r, out, LEAT_ATM_AAL2_DROP_LATE, SKIPPING);
}

struct leat_atm_aal2_out leat_atm_aal2_reassemble_step(struct leat_atm_aal2_reassemble *r,
                                                       leat_time now,
                                                       const struct leat_atm_aal2_in *in)
{
    struct leat_atm_aal2_out out = { .dropped = LEAT_ATM_AAL2_DROP_NOTHING };

    assert(now >= r->now);
    r->now = now;
    switch (in->event) {
    case LEAT_ATM_AAL2_CELL: on_cell(r, &out, in->cell); break;
    case LEAT_ATM_AAL2_TIMER: on_timer(r, &out); break;
    }
    const leat_time due = deadline(r);
    out.wake_at = due > now ? due : now; /* overdue means: at once */
    return out;
}
