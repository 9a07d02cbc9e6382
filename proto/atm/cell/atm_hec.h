/*
 * Header error control at the receiver (I.432.1, thesis 8.3.2): corrects single errors, detects
 * double ones. Line errors are single or in bursts, so only an isolated error is taken as single:
 *
 *   mode        syndrome 0               single-bit syndrome              any other syndrome
 *   ----------  -----------------------  -------------------------------  ----------------------
 *   CORRECTION  accept, stay             correct, accept, -> DETECTION    discard, -> DETECTION
 *   DETECTION   accept, -> CORRECTION    discard, stay                    discard, stay
 */
#ifndef LEAT_ATM_HEC_H
#define LEAT_ATM_HEC_H

#include <leat/atm.h>

enum { LEAT_ATM_HEADER_BITS = 40 };

enum leat_atm_hec_mode { LEAT_ATM_HEC_CORRECTION, LEAT_ATM_HEC_DETECTION };

struct leat_atm_hec {
    enum leat_atm_hec_mode mode;
};

enum leat_atm_hec_verdict { LEAT_ATM_HEC_ACCEPT, LEAT_ATM_HEC_CORRECTED, LEAT_ATM_HEC_DISCARD };

/* 0: the header is valid, as far as the check can detect. */
uint8_t leat_atm_hec_syndrome(const uint8_t header[LEAT_ATM_HEADER_LEN]);

/*
 * The bit whose error alone leaves this syndrome, 0 being the most significant of octet 0; or
 * LEAT_ATM_HEADER_BITS if there is none.
 */
unsigned leat_atm_hec_error_bit(uint8_t syndrome);

void leat_atm_hec_init(struct leat_atm_hec *hec);

/* Checks the next header of the link, and changes it only if the verdict is CORRECTED. */
enum leat_atm_hec_verdict leat_atm_hec_step(struct leat_atm_hec *hec,
                                            uint8_t header[LEAT_ATM_HEADER_LEN]);

#endif
