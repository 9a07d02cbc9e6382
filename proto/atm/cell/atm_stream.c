#include "atm_stream.h"
#include <assert.h>
#include <leat/crc.h>
#include <string.h>

leat_err leat_atm_stream_init(struct leat_atm_stream *s, void *memory, size_t memory_len)
{
    if (memory_len < LEAT_ATM_CELL_LEN) return LEAT_ERR_MEMORY;
    s->queue = memory;
    s->cells_max = memory_len / LEAT_ATM_CELL_LEN;
    s->first = 0;
    s->count = 0;
    s->sent = LEAT_ATM_CELL_LEN;
    s->idle_count = 0;
    return LEAT_ERR_OK;
}

leat_err leat_atm_stream_put(struct leat_atm_stream *s, const uint8_t cell[LEAT_ATM_CELL_LEN])
{
    if (s->count == s->cells_max) return LEAT_ERR_FULL;
    uint8_t *slot = s->queue + (s->first + s->count) % s->cells_max * LEAT_ATM_CELL_LEN;
    memcpy(slot, cell, LEAT_ATM_CELL_LEN);
    slot[LEAT_ATM_HEADER_LEN - 1] = leat_crc_hec(slot);
    s->count++;
    return LEAT_ERR_OK;
}

void leat_atm_stream_next(struct leat_atm_stream *s, uint8_t cell[LEAT_ATM_CELL_LEN])
{
    assert(s->sent == LEAT_ATM_CELL_LEN);
    if (s->count == 0) {
        leat_atm_cell_idle(cell);
        s->idle_count++;
        return;
    }
    memcpy(cell, s->queue + s->first * LEAT_ATM_CELL_LEN, LEAT_ATM_CELL_LEN);
    s->first = (s->first + 1) % s->cells_max;
    s->count--;
}

void leat_atm_stream_pull(struct leat_atm_stream *s, uint8_t *octets, size_t len)
{
    while (len > 0) {
        if (s->sent == LEAT_ATM_CELL_LEN) {
            leat_atm_stream_next(s, s->cell);
            s->sent = 0;
        }
        const size_t left = LEAT_ATM_CELL_LEN - s->sent;
        const size_t n = left < len ? left : len;
        memcpy(octets, s->cell + s->sent, n);
        s->sent += n;
        octets += n;
        len -= n;
    }
}

size_t leat_atm_stream_to_boundary(const struct leat_atm_stream *s)
{
    return LEAT_ATM_CELL_LEN - s->sent;
}
