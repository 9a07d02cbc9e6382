/*
 * An entry of a routing table in a bus-matrix switch: for a label, the outputs to which the cell
 * goes, and its new label (note, 4.2 and 4.6). A label is the VPI (12 bits) if virtual paths are
 * switched, VPI and VCI together (28 bits) if virtual channels are. All selected outputs get the
 * same label: no network here needs more.
 *
 * In a table of virtual paths an entry is stored as F VPIs and F flags for F outputs, high output
 * first, at the low end of ceil(13 F / 8) octets. F = 4, the prototype's:
 *
 *   |0000|  VPOUT3  |  VPOUT2  |  VPOUT1  |  VPOUT0  |DSTFLG3..0|
 *     4       12         12         12         12          4        bits, 7 octets
 */
#ifndef LEAT_ATM_ROUTE_H
#define LEAT_ATM_ROUTE_H

#include "leat_bytes.h"
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_ROUTE_VPI_BITS = 12,
    LEAT_ATM_ROUTE_LABEL_BITS = 28,
    LEAT_ATM_ROUTE_VP_FAN_OUT_MAX = 16,
    LEAT_ATM_ROUTE_ENTRY_LEN_MAX = 26, /* of 16 outputs */
    LEAT_ATM_ROUTE_BELOW_LABEL = 4,    /* bits: upper ones of the VCI, or payload type and CLP */
};

/* Octets of the header that a switch translates: those that contain its label. */
enum { LEAT_ATM_VP_HEADER = 2, LEAT_ATM_VC_HEADER = 4 };

struct leat_atm_route {
    uint64_t select; /* bit u: output u */
    uint32_t label;  /* the new one */
};

static inline uint32_t leat_atm_label_get(const uint8_t *cell, uint32_t header_octets)
{
    return (header_octets == LEAT_ATM_VP_HEADER ? leat_get_be16(cell) : leat_get_be32(cell)) >>
           LEAT_ATM_ROUTE_BELOW_LABEL;
}

/* The bits below the label stay unchanged. */
static inline void leat_atm_label_put(uint8_t *cell, uint32_t header_octets, uint32_t label)
{
    const uint32_t below = cell[header_octets - 1] & ((1u << LEAT_ATM_ROUTE_BELOW_LABEL) - 1);
    const uint32_t word = label << LEAT_ATM_ROUTE_BELOW_LABEL | below;
    if (header_octets == LEAT_ATM_VP_HEADER)
        leat_put_be16(cell, (uint16_t)word);
    else
        leat_put_be32(cell, word);
}

/* Octets of an entry for 1 .. LEAT_ATM_ROUTE_VP_FAN_OUT_MAX outputs. */
static inline size_t leat_atm_route_entry_len(uint32_t fan_out)
{
    return ((LEAT_ATM_ROUTE_VPI_BITS + 1) * (size_t)fan_out + 7) / 8;
}

/* The entry as it is stored. Outputs not selected have VPI 0. */
void leat_atm_route_pack(const struct leat_atm_route *route, uint32_t fan_out, uint8_t *entry);

#endif
