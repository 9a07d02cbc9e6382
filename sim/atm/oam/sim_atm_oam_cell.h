/* Cells of monitored connections: users' and OAM. Headers have no HEC, which only lines add. */
#ifndef LEAT_SIM_ATM_OAM_CELL_H
#define LEAT_SIM_ATM_OAM_CELL_H

#include "atm_clos.h"
#include "atm_oam.h"

enum {
    LEAT_SIM_ATM_OAM_VCI = 32, /* of user cells of port 0, where virtual paths are switched */
};

struct leat_sim_atm_oam_flow {
    bool f5;      /* of a virtual channel; else F4, of a virtual path */
    bool segment; /* else end to end */
};

/* A connection one way, and a path. */
struct leat_sim_atm_oam_way {
    uint32_t from, to, path;
};

/* The path that a permanent connection takes. */
struct leat_sim_atm_oam_way leat_sim_atm_oam_way(const struct leat_atm_clos *net, uint32_t from,
                                                 uint32_t to);

/* The label; where paths are switched, the VCI behind it. */
void leat_sim_atm_oam_write_header(const struct leat_atm_clos *net,
                                   const struct leat_sim_atm_oam_way *way, uint32_t vci,
                                   uint8_t cell[LEAT_ATM_CELL_LEN]);

void leat_sim_atm_oam_write_user(const struct leat_atm_clos *net,
                                 const struct leat_sim_atm_oam_way *way, uint64_t number,
                                 uint8_t cell[LEAT_ATM_CELL_LEN]);

/* Marks it with both ports, in octets that I.610 leaves unused. */
void leat_sim_atm_oam_write(const struct leat_atm_clos *net, struct leat_sim_atm_oam_flow flow,
                            const struct leat_sim_atm_oam_way *way, const struct leat_atm_oam *oam,
                            uint8_t cell[LEAT_ATM_CELL_LEN]);

static inline bool leat_sim_atm_oam_clp(const uint8_t *cell)
{
    return cell[LEAT_ATM_HEADER_LEN - 2] & 1;
}

/* A cell that has arrived at `port`. */
struct leat_sim_atm_oam_read {
    enum {
        LEAT_SIM_ATM_OAM_USER,
        LEAT_SIM_ATM_OAM_CELL,
        LEAT_SIM_ATM_OAM_BAD,   /* OAM with a wrong CRC-10 */
        LEAT_SIM_ATM_OAM_STRAY, /* OAM for another port */
    } kind;
    uint32_t from;
    struct leat_atm_oam oam;
};

void leat_sim_atm_oam_read(const struct leat_atm_clos *net, uint32_t port,
                           const uint8_t cell[LEAT_ATM_CELL_LEN],
                           struct leat_sim_atm_oam_read *out);

/* Where a wire is broken, as the location of a defect; and back. False: it is no such place. */
enum { LEAT_SIM_ATM_OAM_LINE_FAILED = 1 }; /* the type of the defect */
void leat_sim_atm_oam_put_wire(uint32_t wire, uint8_t location[LEAT_ATM_OAM_PLACE_LEN]);
bool leat_sim_atm_oam_get_wire(const uint8_t location[LEAT_ATM_OAM_PLACE_LEN], uint32_t *wire);

#endif
