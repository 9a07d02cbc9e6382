#include "atm_abr.h"
#include <assert.h>

static uint64_t lowest_rate(const struct leat_atm_abr_config *config)
{
    return config->mcr > LEAT_ATM_CONTRACT_RATE_MIN ? config->mcr : LEAT_ATM_CONTRACT_RATE_MIN;
}

static bool factor_fits(uint32_t factor)
{
    return factor >= 1 && factor <= LEAT_ATM_ABR_FACTOR_MAX;
}

leat_err leat_atm_abr_source_init(struct leat_atm_abr_source *source,
                                  const struct leat_atm_abr_config *config)
{
    const struct leat_atm_contract contract = { .class = LEAT_ATM_ABR,
                                                .pcr = config->pcr,
                                                .mcr = config->mcr };
    const leat_err err = leat_atm_contract_check(&contract);
    if (err != LEAT_ERR_OK) return err;
    if (config->icr > config->pcr) return LEAT_ERR_RANGE;
    if (!factor_fits(config->rdf) || !factor_fits(config->rif)) return LEAT_ERR_RANGE;
    if (config->nrm < 2 || config->nrm > LEAT_ATM_ABR_NRM_MAX) return LEAT_ERR_RANGE;

    const uint64_t low = lowest_rate(config);
    *source = (struct leat_atm_abr_source){ .config = *config,
                                            .acr = config->icr > low ? config->icr : low };
    return LEAT_ERR_OK;
}

leat_time leat_atm_abr_source_due(const struct leat_atm_abr_source *source, leat_time now)
{
    if (!source->began) return now;
    const leat_time due = leat_time_add(source->last_at, leat_atm_rate_interval_ps(source->acr));
    return due > now ? due : now;
}

bool leat_atm_abr_source_send(struct leat_atm_abr_source *source, leat_time now,
                              struct leat_atm_rm *rm)
{
    assert(leat_atm_abr_source_due(source, now) == now);
    source->began = true;
    source->last_at = now;
    if (source->data_due > 0) {
        source->data_due--;
        return false;
    }
    source->data_due = source->config.nrm - 1;
    *rm = (struct leat_atm_rm){ .er = leat_atm_rate_encode(source->config.pcr),
                                .ccr = leat_atm_rate_encode(source->acr),
                                .mcr = leat_atm_rate_encode(source->config.mcr),
                                .sn = source->sn++ };
    return true;
}

leat_err leat_atm_abr_source_receive(struct leat_atm_abr_source *source,
                                     const struct leat_atm_rm *rm)
{
    if (!(rm->flags & LEAT_ATM_RM_DIR)) return LEAT_ERR_TYPE;
    const struct leat_atm_abr_config *c = &source->config;
    uint64_t acr = source->acr;
    if (rm->flags & LEAT_ATM_RM_CI)
        acr -= acr / c->rdf;
    else if (!(rm->flags & LEAT_ATM_RM_NI))
        acr += c->pcr / c->rif;

    const uint64_t er = leat_atm_rate_decode(rm->er), low = lowest_rate(c);
    if (acr > er) acr = er;
    if (acr > c->pcr) acr = c->pcr;
    source->acr = acr > low ? acr : low;
    return LEAT_ERR_OK;
}

void leat_atm_abr_destination_data(struct leat_atm_abr_destination *destination, uint8_t pt)
{
    if (pt <= (LEAT_ATM_PT_EFCI | LEAT_ATM_PT_SDU)) /* OAM cells carry no congestion information */
        destination->efci = pt & LEAT_ATM_PT_EFCI;
}

leat_err leat_atm_abr_destination_turn(const struct leat_atm_abr_destination *destination,
                                       const struct leat_atm_rm *rm, struct leat_atm_rm *out)
{
    if (rm->flags & LEAT_ATM_RM_DIR) return LEAT_ERR_TYPE;
    struct leat_atm_rm back = *rm;
    back.flags |= LEAT_ATM_RM_DIR;
    if (destination->efci) back.flags |= LEAT_ATM_RM_CI;
    *out = back;
    return LEAT_ERR_OK;
}

void leat_atm_abr_limit(struct leat_atm_rm *rm, uint64_t rate)
{
    if (leat_atm_rate_decode(rm->er) > rate) rm->er = leat_atm_rate_encode(rate);
}
