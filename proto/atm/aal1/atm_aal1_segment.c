#include "atm_aal1_segment.h"
#include <assert.h>
#include <string.h>

enum { RTS_MAX = 15, RTS_FIRST_BIT = 3 };

leat_err leat_atm_aal1_segment_init(struct leat_atm_aal1_segment *segment, uint32_t block_len)
{
    if (block_len > LEAT_ATM_AAL1_BLOCK_LEN_MAX) return LEAT_ERR_RANGE;
    *segment = (struct leat_atm_aal1_segment){ .block = leat_atm_aal1_block_at_start(block_len) };
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal1_segment_rts(struct leat_atm_aal1_segment *segment, uint8_t rts)
{
    if (rts > RTS_MAX) return LEAT_ERR_RANGE;
    segment->rts_next = rts;
    return LEAT_ERR_OK;
}

/* CSI and pointer are known before the first octet of the payload. */
static void open_pdu(struct leat_atm_aal1_segment *s)
{
    struct leat_atm_aal1_pdu *pdu = &s->pdu;

    if (pdu->sc == 0) s->rts = s->rts_next;
    pdu->pointer = 0;
    if (pdu->sc % 2 != 0)
        pdu->csi = s->rts >> (RTS_FIRST_BIT - pdu->sc / 2) & 1;
    else
        pdu->csi = leat_atm_aal1_block_pointer(&s->block, pdu->sc, &pdu->pointer);
}

static void close_pdu(struct leat_atm_aal1_segment *s, uint8_t *cell_payload)
{
    const leat_err err = leat_atm_aal1_pdu_encode(&s->pdu, cell_payload, LEAT_ATM_AAL1_PDU_LEN);
    assert(err == LEAT_ERR_OK);
    (void)leat_atm_aal1_block_advance(&s->block, s->used);
    s->pdu.sc = (uint8_t)((s->pdu.sc + 1) % LEAT_ATM_AAL1_CYCLE);
    s->used = 0;
}

size_t leat_atm_aal1_segment_push(struct leat_atm_aal1_segment *segment, const uint8_t *octets,
                                  size_t len, uint8_t *cell_payload, bool *ready)
{
    *ready = false;
    if (len == 0) return 0;
    if (segment->used == 0) open_pdu(segment);
    const size_t payload_len = leat_atm_aal1_payload_len(segment->pdu.csi, segment->pdu.sc);
    const size_t room = payload_len - segment->used;
    const size_t taken = len < room ? len : room;

    memcpy(segment->pdu.payload + segment->used, octets, taken);
    segment->used += taken;
    if (segment->used == payload_len) {
        close_pdu(segment, cell_payload);
        *ready = true;
    }
    return taken;
}
