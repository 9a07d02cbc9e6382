#include "sim_atm_oam_cell.h"
#include "leat_bytes.h"
#include <assert.h>
#include <leat/random.h>
#include <string.h>

enum { LAST = LEAT_ATM_VC_HEADER - 1 }; /* the octet with VCI, PT and CLP */
enum { SOURCE_AT = LEAT_ATM_HEADER_LEN, NUMBER_AT = SOURCE_AT + 4, FILL_AT = NUMBER_AT + 8 };
enum { FROM_AT = 17, TO_AT = FROM_AT + 4 }; /* in the specific field: unused in all functions */
enum { PLACE_WIRE = 2, WIRE_AT = 12 };      /* in a location: its kind, the wire */
enum { CLP_SHARE = 4 };                     /* every fourth user cell has CLP 1 */

struct leat_sim_atm_oam_way leat_sim_atm_oam_way(const struct leat_atm_clos *net, uint32_t from,
                                                 uint32_t to)
{
    return (struct leat_sim_atm_oam_way){ from, to, (from + to) % net->paths };
}

static bool has_paths(const struct leat_atm_clos *net)
{
    return net->header_octets == LEAT_ATM_VP_HEADER;
}

static uint32_t vci_of(const uint8_t *cell)
{
    return (leat_get_be32(cell) >> 4) & 0xffff;
}

void leat_sim_atm_oam_write_header(const struct leat_atm_clos *net,
                                   const struct leat_sim_atm_oam_way *way, uint32_t vci,
                                   uint8_t cell[LEAT_ATM_CELL_LEN])
{
    memset(cell, 0, LEAT_ATM_HEADER_LEN);
    if (has_paths(net)) leat_put_be32(cell, vci << 4);
    leat_atm_label_put(cell, net->header_octets, leat_atm_clos_access(net, way->to, way->path));
}

void leat_sim_atm_oam_write_user(const struct leat_atm_clos *net,
                                 const struct leat_sim_atm_oam_way *way, uint64_t number,
                                 uint8_t cell[LEAT_ATM_CELL_LEN])
{
    uint64_t fill = number ^ (uint64_t)way->from << 32;
    leat_sim_atm_oam_write_header(net, way, LEAT_SIM_ATM_OAM_VCI + way->from, cell);
    cell[LAST] |= number % CLP_SHARE == 0;
    leat_put_be32(cell + SOURCE_AT, way->from);
    leat_put_be64(cell + NUMBER_AT, number);
    for (size_t i = FILL_AT; i < LEAT_ATM_CELL_LEN; i += 4)
        leat_put_be32(cell + i, (uint32_t)leat_random_splitmix(&fill));
}

void leat_sim_atm_oam_write(const struct leat_atm_clos *net, struct leat_sim_atm_oam_flow flow,
                            const struct leat_sim_atm_oam_way *way, const struct leat_atm_oam *oam,
                            uint8_t cell[LEAT_ATM_CELL_LEN])
{
    struct leat_atm_oam marked = *oam;
    const uint32_t f4 = flow.segment ? LEAT_ATM_OAM_VCI_SEGMENT : LEAT_ATM_OAM_VCI_END,
                   pt = flow.segment ? LEAT_ATM_PT_OAM_SEGMENT : LEAT_ATM_PT_OAM_END;
    leat_sim_atm_oam_write_header(net, way, flow.f5 ? LEAT_SIM_ATM_OAM_VCI + way->from : f4, cell);
    if (flow.f5) cell[LAST] |= (uint8_t)(pt << 1);
    leat_put_be32(marked.specific + FROM_AT, way->from);
    leat_put_be32(marked.specific + TO_AT, way->to);
    const leat_err err = leat_atm_oam_encode(&marked, cell + LEAT_ATM_HEADER_LEN,
                                             LEAT_ATM_PAYLOAD_LEN);
    assert(!err);
    (void)err;
}

static bool is_f5(const uint8_t *cell)
{
    const unsigned pt = cell[LAST] >> 1 & 7;
    return pt == LEAT_ATM_PT_OAM_SEGMENT || pt == LEAT_ATM_PT_OAM_END;
}

static bool is_f4(const uint8_t *cell, uint32_t header_octets)
{
    const uint32_t vci = vci_of(cell);
    return header_octets == LEAT_ATM_VP_HEADER &&
           (vci == LEAT_ATM_OAM_VCI_SEGMENT || vci == LEAT_ATM_OAM_VCI_END);
}

void leat_sim_atm_oam_read(const struct leat_atm_clos *net, uint32_t port,
                           const uint8_t cell[LEAT_ATM_CELL_LEN], struct leat_sim_atm_oam_read *out)
{
    const bool f4 = is_f4(cell, net->header_octets);
    *out = (struct leat_sim_atm_oam_read){ .kind = LEAT_SIM_ATM_OAM_USER };
    if (has_paths(net) && !f4)
        out->from = vci_of(cell) - LEAT_SIM_ATM_OAM_VCI;
    else
        out->from = leat_get_be32(cell + SOURCE_AT);
    if (!f4 && !is_f5(cell)) return;
    out->kind = LEAT_SIM_ATM_OAM_BAD;
    if (leat_atm_oam_decode(cell + LEAT_ATM_HEADER_LEN, LEAT_ATM_PAYLOAD_LEN, &out->oam, NULL))
        return;
    out->kind = leat_get_be32(out->oam.specific + TO_AT) == port ? LEAT_SIM_ATM_OAM_CELL
                                                                 : LEAT_SIM_ATM_OAM_STRAY;
    if (f4 || !has_paths(net)) out->from = leat_get_be32(out->oam.specific + FROM_AT);
}

void leat_sim_atm_oam_put_wire(uint32_t wire, uint8_t location[LEAT_ATM_OAM_PLACE_LEN])
{
    memset(location, 0, LEAT_ATM_OAM_PLACE_LEN);
    location[0] = PLACE_WIRE;
    leat_put_be32(location + WIRE_AT, wire);
}

bool leat_sim_atm_oam_get_wire(const uint8_t location[LEAT_ATM_OAM_PLACE_LEN], uint32_t *wire)
{
    if (location[0] != PLACE_WIRE) return false;
    *wire = leat_get_be32(location + WIRE_AT);
    return true;
}
