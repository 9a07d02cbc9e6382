/*
 * The Reed-Solomon code of AAL1's error correction (I.363.1): 124 octets and 4 check octets over
 * GF(2^8), of x^8+x^7+x^2+x+1, alpha = 02. The generator has the roots alpha^120 .. alpha^123.
 *
 *      0                                      123 124     127
 *    +-------------------------------------------+-----------+
 *    |  user octets, the coefficient of x^127    |  check    |  ... to that of x^0
 *    +-------------------------------------------+-----------+
 *
 * Distance 5: any two wrong octets are corrected, or four at known places (erasures), or one wrong
 * octet beside two erasures. With t wrong octets and e erasures: 2t + e <= 4. Beyond that some rows
 * look like another one: of three wrong octets 7750 in 65025 do, and what four erasures hide can
 * never be checked.
 */
#ifndef LEAT_ATM_AAL1_FEC_H
#define LEAT_ATM_AAL1_FEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_AAL1_FEC_DATA_LEN = 124,
    LEAT_ATM_AAL1_FEC_CHECK_LEN = 4,
    LEAT_ATM_AAL1_FEC_ROW_LEN = 128,
};

/* Writes the last four octets. */
void leat_atm_aal1_fec_protect(uint8_t row[LEAT_ATM_AAL1_FEC_ROW_LEN]);

/*
 * Corrects the row in place; `erased` lists distinct places whose octets are unknown. False if it
 * cannot: then nothing is changed. *corrected counts the octets that changed.
 */
bool leat_atm_aal1_fec_correct(uint8_t row[LEAT_ATM_AAL1_FEC_ROW_LEN], const uint8_t *erased,
                               size_t erased_count, unsigned *corrected);

#endif
