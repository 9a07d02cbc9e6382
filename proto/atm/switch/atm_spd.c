#include "atm_spd.h"
#include "atm_ppd.h"

void leat_atm_spd_init(struct leat_atm_spd *spd, unsigned output, unsigned header_len)
{
    *spd = (struct leat_atm_spd){ .output = (uint8_t)output,
                                  .rollback = (uint8_t)(header_len + LEAT_ATM_ROLLBACK_EXTRA) };
}

void leat_atm_spd_roll_back(struct leat_atm_spd *spd, struct leat_atm_matrix *matrix)
{
    struct leat_atm_xpm *x = leat_atm_xpm_at(matrix, spd->siqnum, spd->output);
    x->head = spd->lsthead;
    leat_atm_xpm_resize(matrix, spd->siqnum, spd->output, x->size + spd->rollback);
    spd->iqcnt = 0;
    spd->trsmit = false;
}
