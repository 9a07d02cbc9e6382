/*
 * SPD: the output unit of a bus-matrix switch (spec/atm.md, 4.3), one step per network cycle. It
 * serves the XPMs of its output round robin, cell by cell, without an idle byte between two cells,
 * and takes back a cell that the next switch refuses.
 *
 *   XPM(0, output) --\
 *   XPM(1, output) ---> [ buf ] --> [ byte ] --> link        siqnum: the XPM whose cell it is
 *   XPM(2, output) --/                  <------- suspend     iqcnt:  bytes of it popped
 *
 *   selected in cycle T: bytes 1..53 popped in T+1..T+53, on the link in T+2..T+54, next selection
 *   in T+53. Suspended, seen in T+6: head returns to lsthead (five bytes), and the scan of the same
 *   cycle starts after the refused XPM.
 *
 * The thesis has an iqcnt per XPM. Only the selected one's can differ from 0, because the selection
 * moves on only when a cell is complete or taken back; so one register is enough.
 */
#ifndef LEAT_ATM_SPD_H
#define LEAT_ATM_SPD_H

#include "atm_xpm.h"
#include <stdbool.h>
#include <stdint.h>

struct leat_atm_spd {
    uint8_t buf, byte;
    bool bufind, byteind;
    bool trsmit;
    uint8_t siqnum;
    uint8_t iqcnt; /* of XPM siqnum */
    uint8_t output;
    uint16_t lsthead;
    uint8_t rollback; /* bytes popped when suspend arrives */
};

/* header_len: of the input unit at the other end of the link, as leat_atm_ppd_init has it. */
void leat_atm_spd_init(struct leat_atm_spd *spd, unsigned output, unsigned header_len);

/* The register iqcnt[input] of the thesis. */
static inline unsigned leat_atm_spd_iqcnt(const struct leat_atm_spd *spd, unsigned input)
{
    return input == spd->siqnum ? spd->iqcnt : 0;
}

/* S2. Checks nothing: a suspension without a transmission adds bytes that never existed. */
void leat_atm_spd_roll_back(struct leat_atm_spd *spd, struct leat_atm_matrix *matrix);

/* S4: the XPM after the last choice, around to the last choice itself; none: nothing changes. */
static inline void leat_atm_spd_select(struct leat_atm_spd *spd,
                                       const struct leat_atm_matrix *matrix)
{
    const uint64_t waiting = matrix->waiting[spd->output];
    const uint64_t behind = waiting & ~((UINT64_C(2) << spd->siqnum) - 1);
    if (!waiting) return;
    spd->siqnum = (uint8_t)__builtin_ctzll(behind ? behind : waiting);
    spd->trsmit = true;
}

static inline void leat_atm_spd_step(struct leat_atm_spd *spd, struct leat_atm_matrix *matrix,
                                     bool suspend)
{
    spd->byte = spd->buf; /* S1 */
    spd->byteind = spd->bufind;
    if (suspend) leat_atm_spd_roll_back(spd, matrix);
    spd->bufind = spd->trsmit;
    if (spd->trsmit) { /* S3 */
        if (spd->iqcnt == 0) spd->lsthead = leat_atm_xpm_at(matrix, spd->siqnum, spd->output)->head;
        spd->buf = leat_atm_xpm_pop(matrix, spd->siqnum, spd->output);
        spd->trsmit = ++spd->iqcnt != LEAT_ATM_CELL_LEN;
        if (!spd->trsmit) spd->iqcnt = 0;
    }
    if (!spd->trsmit) leat_atm_spd_select(spd, matrix);
}

/* Would a step change nothing as long as suspend is not raised? */
static inline bool leat_atm_spd_is_idle(const struct leat_atm_spd *spd,
                                        const struct leat_atm_matrix *matrix)
{
    return !(spd->trsmit | spd->bufind | spd->byteind) && spd->byte == spd->buf &&
           !matrix->waiting[spd->output];
}

#endif
