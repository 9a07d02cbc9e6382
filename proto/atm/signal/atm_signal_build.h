/*
 * Messages from contents, and contracts from and to the contents of a SETUP.
 *
 *   class     transfer   peak      sustainable, burst     best effort
 *   --------  ---------  --------  ---------------------  -----------
 *   CBR       5          PCR
 *   VBR-rt    9          PCR       SCR, MBS
 *   VBR-nrt   10         PCR       SCR, MBS
 *   ABR       12         PCR
 *   UBR       (none)     PCR                              yes
 *
 * Rates of contracts are those of CLP 0 and 1 together, in whole cells per second, rounded up. CDVT
 * and the requested CTD and CDV are not signalled; QoS class 0 accepts any loss.
 */
#ifndef LEAT_ATM_SIGNAL_BUILD_H
#define LEAT_ATM_SIGNAL_BUILD_H

#include "atm_contract.h"
#include "atm_signal.h"

struct leat_atm_signal_builder {
    struct leat_atm_signal_message message;
    uint8_t store[LEAT_ATM_SIGNAL_ELEMENTS_MAX][LEAT_ATM_SIGNAL_CONTENT_LEN_MAX];
};

/* A message without elements. */
void leat_atm_signal_build(struct leat_atm_signal_builder *b, enum leat_atm_signal_type type,
                           uint32_t call, bool to_originator);

/* One more element. FULL, and what leat_atm_signal_content_encode refuses: nothing is added. */
leat_err leat_atm_signal_build_add(struct leat_atm_signal_builder *b,
                                   const struct leat_atm_signal_content *content);

/* The same, as it is; its octets stay the caller's. */
leat_err leat_atm_signal_build_carry(struct leat_atm_signal_builder *b,
                                     const struct leat_atm_signal_element *element);

/*
 * The traffic descriptor, bearer capability and QoS parameter of a call. A backward contract of
 * NULL: no cells that way, as point-to-multipoint calls must have it. RANGE: a contract is invalid,
 * or more than 2^24 - 1 cells; FIELD: the contracts differ in class.
 */
leat_err leat_atm_signal_contract_add(struct leat_atm_signal_builder *b,
                                      const struct leat_atm_contract *forward,
                                      const struct leat_atm_contract *backward, bool multipoint);

struct leat_atm_signal_contract {
    bool multipoint;
    bool has[2];                          /* forward, backward: cells go this way */
    struct leat_atm_contract contract[2]; /* CDVT is the caller's */
};

/*
 * The inverse, of a SETUP. FIELD: an element is missing; others: wrong contents, or no valid
 * contract. On error *out is untouched.
 */
leat_err leat_atm_signal_contract_find(const struct leat_atm_signal_message *m, uint64_t cdvt_ps,
                                       struct leat_atm_signal_contract *out);

#endif
