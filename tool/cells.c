#include "cells.h"
#include "atm_aal5_text.h"
#include "atm_task_text.h"
#include "atm_text.h"
#include "atm_wire.h"
#include <stdlib.h>
#include <string.h>

enum { VCI_DEFAULT = 32 }; /* the first one that is free for users */

bool cells_carry(const struct leat_format *format)
{
    return !format->link_type && format != &leat_atmtask_format;
}

leat_err cells_frame(const struct leat_format *format, struct leat_fields *f, const uint8_t *packet,
                     size_t packet_len, uint8_t *cells, size_t cap, size_t *len)
{
    if (!cells_carry(format)) { /* a prototype cell is a cell already */
        if (packet_len != CELL_LEN || cap < CELL_LEN) return LEAT_ERR_LENGTH;
        memcpy(cells, packet, CELL_LEN);
        *len = CELL_LEN;
        return LEAT_ERR_OK;
    }
    struct leat_atm_cell cell = { .interface = LEAT_ATM_UNI };
    cell.vpi = (uint16_t)leat_fields_uint(f, "vpi", 0, 8, 0);
    cell.vci = (uint16_t)leat_fields_uint(f, "vci", 0, 16, VCI_DEFAULT);
    if (packet_len % LEAT_ATM_PAYLOAD_LEN || !packet_len) return LEAT_ERR_LENGTH;
    *len = 0;
    for (size_t at = 0; at < packet_len; at += LEAT_ATM_PAYLOAD_LEN) {
        const bool last = at + LEAT_ATM_PAYLOAD_LEN == packet_len;
        cell.pt = format == &leat_aal5_format && last ? LEAT_ATM_PT_SDU : 0;
        memcpy(cell.payload, packet + at, LEAT_ATM_PAYLOAD_LEN);
        const leat_err err = leat_atm_cell_encode(&cell, cells + *len, cap - *len);
        if (err) return err;
        *len += CELL_LEN;
    }
    return LEAT_ERR_OK;
}

static struct cells_channel *channel_of(struct cells *cells, uint16_t vpi, uint16_t vci)
{
    for (size_t i = 0; i < cells->channel_count; i++) {
        struct cells_channel *c = &cells->channel[i];
        if (c->vpi == vpi && c->vci == vci) return c;
    }
    if (cells->channel_count == CELLS_CHANNELS_MAX) return NULL;
    uint8_t *octets = malloc(CELLS_PDU_LEN_MAX);
    if (!octets) return NULL;
    struct cells_channel *c = &cells->channel[cells->channel_count++];
    *c = (struct cells_channel){ .vpi = vpi, .vci = vci, .octets = octets };
    return c;
}

static bool is_user_cell(const struct leat_atm_cell *cell)
{
    return !(cell->pt & LEAT_ATM_PT_OAM_SEGMENT) && (cell->vpi || cell->vci); /* 0/0: idle */
}

leat_err cells_take(struct cells *cells, const struct leat_format *format, const uint8_t *octets,
                    size_t len, struct cells_packet *out, bool *found, size_t *fault_at)
{
    struct leat_atm_cell cell;
    *found = false;
    const leat_err err = leat_atm_cell_decode(octets, len, LEAT_ATM_UNI, &cell, fault_at);
    if (err || !is_user_cell(&cell)) return err;
    *out = (struct cells_packet){ cell.vpi, cell.vci, octets + LEAT_ATM_HEADER_LEN,
                                  LEAT_ATM_PAYLOAD_LEN };
    *fault_at = 0;
    if (format != &leat_aal5_format) {
        *found = true;
        return LEAT_ERR_OK;
    }
    struct cells_channel *c = channel_of(cells, cell.vpi, cell.vci);
    if (!c) return LEAT_ERR_FULL;
    if (c->len + LEAT_ATM_PAYLOAD_LEN > CELLS_PDU_LEN_MAX) {
        c->len = 0;
        return LEAT_ERR_LENGTH;
    }
    memcpy(c->octets + c->len, cell.payload, LEAT_ATM_PAYLOAD_LEN);
    c->len += LEAT_ATM_PAYLOAD_LEN;
    if (!(cell.pt & LEAT_ATM_PT_SDU)) return LEAT_ERR_OK;
    out->octets = c->octets;
    out->len = c->len;
    c->len = 0;
    *found = true;
    return LEAT_ERR_OK;
}

size_t cells_unfinished(const struct cells *cells)
{
    size_t count = 0;
    for (size_t i = 0; i < cells->channel_count; i++)
        count += cells->channel[i].len != 0;
    return count;
}

void cells_close(struct cells *cells)
{
    for (size_t i = 0; i < cells->channel_count; i++)
        free(cells->channel[i].octets);
    cells->channel_count = 0;
}
