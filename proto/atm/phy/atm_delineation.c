#include "atm_delineation.h"
#include <stdlib.h>
#include <string.h>

/* The one place where the state changes. */
static void enter(struct leat_atm_delineation *d, enum leat_atm_delineation_state next)
{
    d->state = next;
    d->run = 0;
    d->deliver = false;
    leat_atm_hec_init(&d->hec);
}

/* In HUNT `cell` is a window of five octets that slides along the stream. */
static void hunt_one_octet_on(struct leat_atm_delineation *d)
{
    enter(d, LEAT_ATM_DELINEATION_HUNT);
    memmove(d->cell, d->cell + 1, LEAT_ATM_HEADER_LEN - 1);
    d->have = LEAT_ATM_HEADER_LEN - 1;
}

leat_err leat_atm_delineation_init(struct leat_atm_delineation *d,
                                   const struct leat_atm_delineation_config *config)
{
    if (config->alpha == 0 || config->delta == 0) return LEAT_ERR_RANGE;
    d->config = *config;
    d->idle_count = 0;
    leat_atm_delineation_hunt(d);
    return LEAT_ERR_OK;
}

void leat_atm_delineation_hunt(struct leat_atm_delineation *d)
{
    enter(d, LEAT_ATM_DELINEATION_HUNT);
    d->have = 0;
}

size_t leat_atm_delineation_to_boundary(const struct leat_atm_delineation *d)
{
    return d->have ? LEAT_ATM_CELL_LEN - d->have : 0;
}

static enum leat_atm_tc_event on_sound_header(struct leat_atm_delineation *d)
{
    switch (d->state) {
    case LEAT_ATM_DELINEATION_HUNT:
        enter(d, LEAT_ATM_DELINEATION_PRESYNC);
        return LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_DELINEATION_PRESYNC:
        if (++d->run < d->config.delta) return LEAT_ATM_TC_NOTHING;
        enter(d, LEAT_ATM_DELINEATION_SYNC);
        d->deliver = true;
        return LEAT_ATM_TC_SYNC;
    case LEAT_ATM_DELINEATION_SYNC:
        leat_atm_hec_step(&d->hec, d->cell);
        d->run = 0;
        d->deliver = true;
        return LEAT_ATM_TC_NOTHING;
    }
    abort();
}

static enum leat_atm_tc_event on_bad_header(struct leat_atm_delineation *d)
{
    switch (d->state) {
    case LEAT_ATM_DELINEATION_HUNT:
    case LEAT_ATM_DELINEATION_PRESYNC: hunt_one_octet_on(d); return LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_DELINEATION_SYNC:
        if (++d->run == d->config.alpha) {
            hunt_one_octet_on(d);
            return LEAT_ATM_TC_LOST;
        }
        d->deliver = leat_atm_hec_step(&d->hec, d->cell) == LEAT_ATM_HEC_CORRECTED;
        return d->deliver ? LEAT_ATM_TC_NOTHING : LEAT_ATM_TC_DISCARD;
    }
    abort();
}

static enum leat_atm_tc_event on_whole_cell(struct leat_atm_delineation *d)
{
    d->have = 0;
    if (!d->deliver) return LEAT_ATM_TC_NOTHING;
    if (leat_atm_cell_is_idle(d->cell)) {
        d->idle_count++;
        return LEAT_ATM_TC_NOTHING;
    }
    return LEAT_ATM_TC_CELL;
}

size_t leat_atm_delineation_feed(struct leat_atm_delineation *d, const uint8_t *octets, size_t len,
                                 struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    while (used < len && out->event == LEAT_ATM_TC_NOTHING) {
        const bool header = d->have < LEAT_ATM_HEADER_LEN;
        const size_t want = (header ? LEAT_ATM_HEADER_LEN : LEAT_ATM_CELL_LEN) - d->have;
        const size_t n = want < len - used ? want : len - used;
        memcpy(d->cell + d->have, octets + used, n);
        d->have += n;
        used += n;
        if (n < want) break;
        if (!header)
            out->event = on_whole_cell(d);
        else
            out->event = leat_atm_hec_syndrome(d->cell) == 0 ? on_sound_header(d)
                                                             : on_bad_header(d);
    }
    if (out->event == LEAT_ATM_TC_CELL) {
        out->cell = d->cell;
        /* A delivered cell whose bad header was corrected: a valid header clears run. */
        out->corrected = d->run > 0;
    }
    return used;
}
