#include "cells.h"
#include "atm_arp.h"
#include "atm_ip.h"
#include "atm_signal.h"
#include "atm_text.h"
#include <leat/atm.h>
#include <stdlib.h>
#include <string.h>

enum { VCI_DEFAULT = 32 }; /* the first one that is free for users */

/* Formats that travel in AAL5. */
static bool is_in_aal5(const struct leat_format *format)
{
    return format == &leat_atmllc_format || format == &leat_atmvcmux_format ||
           format == &leat_atmarp_format || format == &leat_q2931_format;
}

static bool spans_cells(const struct leat_format *format)
{
    return format == &leat_aal5_format || is_in_aal5(format);
}

/* What AAL5 carries of a format: an ATMARP packet has an LLC header. The result lies in `pdu`. */
static leat_err wrap(const struct leat_format *format, const uint8_t *packet, size_t packet_len,
                     uint8_t pdu[CELLS_PDU_LEN_MAX], size_t *len)
{
    static uint8_t llc[LEAT_ATM_ARP_LEN_MAX + LEAT_ATM_IP_LLC_LEN];
    if (format == &leat_atmarp_format) {
        const struct leat_atm_ip_pdu arp = { .type = LEAT_ATM_IP_TYPE_ARP,
                                             .payload = packet,
                                             .payload_len = packet_len };
        const leat_err err = leat_atm_ip_encode(&arp, LEAT_ATM_IP_LLC, llc, sizeof llc,
                                                &packet_len);
        if (err) return err;
        packet = llc;
    }
    return leat_atm_aal5_pdu_encode(
        &(struct leat_atm_aal5_pdu){ .payload = packet, .payload_len = packet_len }, pdu,
        CELLS_PDU_LEN_MAX, len);
}

/* The inverse. Not found: it is no ATMARP packet, which was asked for. */
static leat_err unwrap(const struct leat_format *format, struct cells_packet *packet, bool *found,
                       size_t *fault_at)
{
    struct leat_atm_aal5_pdu pdu;
    struct leat_atm_ip_pdu arp = { 0 };
    const leat_err err = leat_atm_aal5_pdu_decode(packet->octets, packet->len, &pdu, fault_at);
    if (err) return err;
    packet->octets = pdu.payload;
    packet->len = pdu.payload_len;
    if (format != &leat_atmarp_format) return LEAT_ERR_OK;
    *found = !leat_atm_ip_decode(pdu.payload, pdu.payload_len, LEAT_ATM_IP_LLC, &arp, NULL) &&
             arp.oui == LEAT_ATM_IP_OUI_ETHER && arp.type == LEAT_ATM_IP_TYPE_ARP;
    packet->octets = arp.payload;
    packet->len = arp.payload_len;
    return LEAT_ERR_OK;
}

leat_err cells_frame(const struct leat_format *format, struct leat_fields *f, const uint8_t *packet,
                     size_t packet_len, uint8_t *cells, size_t cap, size_t *len)
{
    static uint8_t pdu[CELLS_PDU_LEN_MAX];
    if (!format->in_cells) { /* a prototype cell is a cell already */
        if (packet_len != CELL_LEN || cap < CELL_LEN) return LEAT_ERR_LENGTH;
        memcpy(cells, packet, CELL_LEN);
        *len = CELL_LEN;
        return LEAT_ERR_OK;
    }
    if (is_in_aal5(format)) {
        const leat_err err = wrap(format, packet, packet_len, pdu, &packet_len);
        if (err) return err;
        packet = pdu;
    }
    struct leat_atm_cell cell = { .interface = LEAT_ATM_UNI };
    cell.interface = (enum leat_atm_interface)leat_fields_enum(
        f, "interface", 0, 1, leat_atm_interface_names, cell.interface);
    cell.vpi = (uint16_t)leat_fields_uint(f, "vpi", 0, cell.interface == LEAT_ATM_UNI ? 8 : 12, 0);
    const bool signal = format == &leat_q2931_format;
    cell.vci = (uint16_t)leat_fields_uint(f, "vci", 0, 16,
                                          signal ? LEAT_ATM_SIGNAL_VCI : VCI_DEFAULT);
    if (packet_len % LEAT_ATM_PAYLOAD_LEN || !packet_len) return LEAT_ERR_LENGTH;
    *len = 0;
    for (size_t at = 0; at < packet_len; at += LEAT_ATM_PAYLOAD_LEN) {
        const bool last = at + LEAT_ATM_PAYLOAD_LEN == packet_len;
        cell.pt = spans_cells(format) && last ? LEAT_ATM_PT_SDU : 0;
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
        if (c->line == cells->line && c->vpi == vpi && c->vci == vci) return c;
    }
    if (cells->channel_count == CELLS_CHANNELS_MAX) return NULL;
    uint8_t *octets = malloc(CELLS_PDU_LEN_MAX);
    if (!octets) return NULL;
    struct cells_channel *c = &cells->channel[cells->channel_count++];
    *c = (struct cells_channel){ .vpi = vpi, .vci = vci, .line = cells->line, .octets = octets };
    return c;
}

static bool is_user_cell(const struct leat_atm_cell *cell)
{
    return !(cell->pt & LEAT_ATM_PT_OAM_SEGMENT) && (cell->vpi || cell->vci); /* 0/0: idle */
}

/* One more cell of an AAL5 packet, whose end the cell itself marks. */
static leat_err collect(struct cells_channel *c, const struct leat_atm_cell *cell,
                        struct cells_packet *out, bool *found)
{
    const bool last = cell->pt & LEAT_ATM_PT_SDU;
    if (c->skipping) {
        c->skipping = !last;
        return LEAT_ERR_OK;
    }
    const bool fits = c->len + LEAT_ATM_PAYLOAD_LEN <= CELLS_PDU_LEN_MAX;
    if (fits) {
        memcpy(c->octets + c->len, cell->payload, LEAT_ATM_PAYLOAD_LEN);
        c->len += LEAT_ATM_PAYLOAD_LEN;
        if (!last) return LEAT_ERR_OK;
    }
    out->octets = c->octets;
    out->len = c->len;
    c->len = 0;
    c->skipping = !fits && !last;
    *found = fits;
    return fits ? LEAT_ERR_OK : LEAT_ERR_LENGTH;
}

leat_err cells_take(struct cells *cells, const struct leat_format *format, const uint8_t *octets,
                    size_t len, struct cells_packet *out, bool *found, size_t *fault_at)
{
    struct leat_atm_cell cell;
    *found = false;
    *out = (struct cells_packet){ 0 };
    const leat_err err = leat_atm_cell_decode(octets, len, cells->interface, &cell, fault_at);
    const bool signal = format == &leat_q2931_format;
    if (err || !is_user_cell(&cell) || (signal && cell.vci != LEAT_ATM_SIGNAL_VCI)) return err;
    *fault_at = 0;
    out->vpi = cell.vpi;
    out->vci = cell.vci;
    if (!spans_cells(format)) {
        out->octets = octets + LEAT_ATM_HEADER_LEN;
        out->len = LEAT_ATM_PAYLOAD_LEN;
        *found = true;
        return LEAT_ERR_OK;
    }
    struct cells_channel *c = channel_of(cells, cell.vpi, cell.vci);
    if (!c) return LEAT_ERR_FULL;
    const leat_err collected = collect(c, &cell, out, found);
    if (collected || !*found || !is_in_aal5(format)) return collected;
    return unwrap(format, out, found, fault_at);
}

bool cells_take_unfinished(struct cells *cells, struct cells_packet *out)
{
    for (size_t i = 0; i < cells->channel_count; i++) {
        struct cells_channel *c = &cells->channel[i];
        if (!c->len) continue;
        *out = (struct cells_packet){ c->vpi, c->vci, c->octets, c->len };
        c->len = 0;
        return true;
    }
    return false;
}

void cells_close(struct cells *cells)
{
    for (size_t i = 0; i < cells->channel_count; i++)
        free(cells->channel[i].octets);
    cells->channel_count = 0;
}
