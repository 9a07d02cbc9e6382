/*
 * BMX: a bus-matrix switch of any size, input units (PPD) and output units (SPD) around a matrix of
 * crosspoint memories (spec/atm.md, 4.4, 4.6).
 *
 *   link 0 --> PPD 0 --[ XPM(0,0) ]--[ XPM(0,1) ]--
 *   link 1 --> PPD 1 --[ XPM(1,0) ]--[ XPM(1,1) ]--
 *                           |             |
 *                         SPD 0         SPD 1
 *                           v             v
 *
 * In every cycle of a network all SPDs step, then the devices at its edge (AAL units, sources,
 * sinks), then all PPDs. So a PPD sees what an SPD put on the link in the same cycle, and an SPD
 * sees the suspend that a PPD raised in the previous one. Within a class the order is free.
 *
 * To connect switches to a network, pass each link and each suspend signal to its destination.
 */
#ifndef LEAT_ATM_BMX_H
#define LEAT_ATM_BMX_H

#include "atm_ppd.h"
#include "atm_spd.h"
#include "leat_err.h"

enum { LEAT_ATM_BMX_PORTS_MAX = 64 };

/* What a link carries: 8 data bits and a valid bit. */
struct leat_atm_link {
    uint8_t byte;
    bool byteind;
};

/* The prototype's: 4, 4, LEAT_ATM_XPM_CELLS, LEAT_ATM_VP_HEADER, LEAT_ATM_TABLE_DEPTH_MIN. */
struct leat_atm_bmx_config {
    uint32_t inputs;           /* 1..LEAT_ATM_BMX_PORTS_MAX */
    uint32_t outputs;          /* the same; VP: 1..LEAT_ATM_ROUTE_VP_FAN_OUT_MAX */
    uint32_t cells;            /* each XPM holds: 1..LEAT_ATM_XPM_CELLS_MAX */
    uint32_t header_len;       /* LEAT_ATM_VP_HEADER or LEAT_ATM_VC_HEADER */
    uint32_t depth;            /* VP: entries of a table, LEAT_ATM_TABLE_DEPTH_MIN..MAX */
    leat_atm_route_find *find; /* VC */
    const void *context;       /* passed to find; lent for the life of the switch */
    uint32_t rank;             /* of PPD 0 in the network; PPD p is rank + p */
};

struct leat_atm_bmx {
    struct leat_atm_matrix matrix;
    struct leat_atm_ppd *ppd; /* [matrix.inputs] */
    struct leat_atm_spd *spd; /* [matrix.outputs] */
};

/* Why there can be no such switch: a sentence with the limit. NULL: there can. */
const char *leat_atm_bmx_refusal(const struct leat_atm_bmx_config *config);

/* The caller provides the memory (aligned as by malloc): ask for its size, pass it in, keep it
 * alive. */
size_t leat_atm_bmx_footprint(const struct leat_atm_bmx_config *config);

/* Reset state, tables of zeros. LEAT_ERR_RANGE if there is a refusal, LEAT_ERR_MEMORY. */
leat_err leat_atm_bmx_init(void *memory, size_t memory_len,
                           const struct leat_atm_bmx_config *config, struct leat_atm_bmx **out);

/* VP, set-up: writes an entry straight into a table. RANGE: the VPI, an output or the label is too
 * big. */
leat_err leat_atm_bmx_connect(struct leat_atm_bmx *bmx, unsigned input, unsigned vpi,
                              const struct leat_atm_route *route);

static inline void leat_atm_bmx_step_spd(struct leat_atm_bmx *bmx, unsigned output, bool suspend)
{
    if (suspend || !leat_atm_spd_is_idle(&bmx->spd[output], &bmx->matrix))
        leat_atm_spd_step(&bmx->spd[output], &bmx->matrix, suspend);
}

static inline void leat_atm_bmx_step_ppd(struct leat_atm_bmx *bmx, unsigned input,
                                         struct leat_atm_link link)
{
    if (link.byteind || !leat_atm_ppd_is_idle(&bmx->ppd[input]))
        leat_atm_ppd_step(&bmx->ppd[input], &bmx->matrix, link.byte, link.byteind);
}

/* What output s sends, and whether input p suspends its sender. */
static inline struct leat_atm_link leat_atm_bmx_link(const struct leat_atm_bmx *bmx,
                                                     unsigned output)
{
    return (struct leat_atm_link){ bmx->spd[output].byte, bmx->spd[output].byteind };
}

static inline bool leat_atm_bmx_suspends(const struct leat_atm_bmx *bmx, unsigned input)
{
    return bmx->ppd[input].suspend;
}

#endif
