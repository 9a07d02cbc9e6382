#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/atm.h>
#include <leat/crc.h>
#include <string.h>

/* The lowest bit of each field in the first 32 bits; HEC_AT is an octet. */
enum { GFC = 28, VPI = 20, VCI = 4, PT = 1, CLP = 0, HEC_AT = 4 };

static const uint8_t idle_header[LEAT_ATM_HEADER_LEN] = { 0, 0, 0, 1, 0x52 };
static const uint8_t unassigned_header[LEAT_ATM_HEADER_LEN] = { 0, 0, 0, 0, 0x55 };

leat_err leat_atm_cell_decode(const uint8_t *buf, size_t len, enum leat_atm_interface interface,
                              struct leat_atm_cell *out, size_t *fault_at)
{
    if (len < LEAT_ATM_CELL_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > LEAT_ATM_CELL_LEN) return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_CELL_LEN, fault_at);
    if (leat_crc_hec(buf) != buf[HEC_AT]) return leat_fault(LEAT_ERR_CHECKSUM, HEC_AT, fault_at);

    const uint32_t h = leat_get_be32(buf);
    const bool uni = interface == LEAT_ATM_UNI;
    out->interface = interface;
    out->gfc = uni ? (uint8_t)leat_bits(h, GFC, 4) : 0;
    out->vpi = (uint16_t)leat_bits(h, VPI, uni ? 8 : 12);
    out->vci = (uint16_t)leat_bits(h, VCI, 16);
    out->pt = (uint8_t)leat_bits(h, PT, 3);
    out->clp = (uint8_t)leat_bits(h, CLP, 1);
    memcpy(out->payload, buf + LEAT_ATM_HEADER_LEN, LEAT_ATM_PAYLOAD_LEN);
    return LEAT_ERR_OK;
}

/* Only the UNI has a GFC, and it takes four bits from the VPI. */
static bool fits(const struct leat_atm_cell *c)
{
    if (c->pt > 7 || c->clp > 1) return false;
    switch (c->interface) {
    case LEAT_ATM_UNI: return c->gfc <= 0xf && c->vpi <= 0xff;
    case LEAT_ATM_NNI: return c->gfc == 0 && c->vpi <= 0xfff;
    }
    return false;
}

leat_err leat_atm_cell_encode(const struct leat_atm_cell *c, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_ATM_CELL_LEN) return LEAT_ERR_SPACE;
    if (!fits(c)) return LEAT_ERR_RANGE;

    leat_put_be32(buf, (uint32_t)c->gfc << GFC | (uint32_t)c->vpi << VPI | (uint32_t)c->vci << VCI |
                           (uint32_t)c->pt << PT | (uint32_t)c->clp << CLP);
    buf[HEC_AT] = leat_crc_hec(buf);
    memcpy(buf + LEAT_ATM_HEADER_LEN, c->payload, LEAT_ATM_PAYLOAD_LEN);
    return LEAT_ERR_OK;
}

bool leat_atm_cell_is_idle(const uint8_t header[LEAT_ATM_HEADER_LEN])
{
    return memcmp(header, idle_header, sizeof idle_header) == 0;
}

bool leat_atm_cell_is_unassigned(const uint8_t header[LEAT_ATM_HEADER_LEN])
{
    return memcmp(header, unassigned_header, sizeof unassigned_header) == 0;
}

void leat_atm_cell_idle(uint8_t cell[LEAT_ATM_CELL_LEN])
{
    memcpy(cell, idle_header, sizeof idle_header);
    memset(cell + LEAT_ATM_HEADER_LEN, LEAT_ATM_FILL, LEAT_ATM_PAYLOAD_LEN);
}
