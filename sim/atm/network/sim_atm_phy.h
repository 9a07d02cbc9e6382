/*
 * The physical lines of a network of slots, as bit errors strike them: every wire on which there
 * are errors is a sender and a receiver of its line (atm_trunk.h), with a cell in every slot.
 *
 *     cell --> header with the label of the line --> trunk ~~~ bit errors ~~~> trunk --> cell
 *              VPI, VCI: 32 + label                  one step a slot              or no cell
 *
 * A wire without errors carries cells as they are, which is what its trunk would do. With the first
 * cell under errors its trunk begins, and is stepped through all slots from then on, with or
 * without cells; it ends when there have been no errors for long. A long silence of a wire is
 * stepped at its end only (SILENCE), in the same place of the frames.
 *
 * A cell whose label is another one behind the line belongs to no connection there, and is lost.
 */
#ifndef LEAT_SIM_ATM_PHY_H
#define LEAT_SIM_ATM_PHY_H

#include "atm_trunk.h"
#include "leat_arena.h"
#include <leat/random.h>

enum {
    LEAT_SIM_ATM_PHY_SILENCE = 4096, /* slots */
    LEAT_SIM_ATM_PHY_CHUNK_BITS = 10 /* errors are drawn for up to 2^10 - 1 bits at once */
};

struct leat_sim_atm_phy_counts {
    uint64_t cells;       /* on lines with errors */
    uint64_t bits;        /* damaged there, also of overhead and of empty slots */
    uint64_t corrected;   /* headers of cells */
    uint64_t discarded;   /* cells, for their headers or for violations of the code */
    uint64_t missed;      /* cells, while frames or cells were not found */
    uint64_t misrouted;   /* cells that passed with another label */
    uint64_t altered;     /* cells that passed with wrong octets behind the header */
    uint64_t strays;      /* cells that nobody sent, which belong to no connection */
    uint64_t lost_bounds; /* how often a receiver lost frames or cells */
};

struct leat_sim_atm_phy_line {
    bool begun, seeded;
    uint64_t slot;   /* the next one to step */
    uint64_t calm;   /* steps since there were errors */
    uint64_t errors; /* a chance per bit, in 2^-64; then, that 2^i bits in a row are sound: */
    uint64_t sound[LEAT_SIM_ATM_PHY_CHUNK_BITS];
    struct leat_random random;
    struct leat_atm_trunk trunk;
};

struct leat_sim_atm_phy {
    uint64_t seed;
    uint32_t lines;
    struct leat_atm_trunk ready; /* what lines begin with */
    struct leat_sim_atm_phy_line *line;
    struct leat_sim_atm_phy_counts counts;
};

/* So many lines; the arena may only measure. */
void leat_sim_atm_phy_lay(struct leat_sim_atm_phy *phy, uint32_t lines, struct leat_arena *arena);
void leat_sim_atm_phy_init(struct leat_sim_atm_phy *phy, const struct leat_atm_line *line,
                           uint64_t seed);

/* The slots of a line, given by its number, rise; those between calls are empty. In `slot` it
 * carries a cell of 53 octets, with bit errors of this chance, in 2^-64. False: the cell is lost.
 * True: it has arrived, perhaps altered. */
bool leat_sim_atm_phy_carry(struct leat_sim_atm_phy *phy, uint32_t number, uint64_t slot,
                            uint64_t errors, uint32_t label, uint8_t *cell);

#endif
