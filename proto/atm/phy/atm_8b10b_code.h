/*
 * The 8B/10B code of Widmer and Franaszek (IBM J. Res. Dev. 27, 1983; Fibre Channel): an octet
 * HGFEDCBA becomes ten bits abcdei fghj, a sent first, of which the first six depend on EDCBA and
 * the last four on HGF. Ones and zeros balance within one: the running disparity says which
 * prevailed so far, and of the two forms of an unbalanced word the other one is sent.
 *
 * Control words are K28.0 to K28.7. The seven bits 0011111 or 1100000 (comma) occur in K28.1, K28.5
 * and K28.7 only, so that K28.5 shows where words begin.
 */
#ifndef LEAT_ATM_8B10B_CODE_H
#define LEAT_ATM_8B10B_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEAT_ATM_8B10B_WORDS = 1024,
    LEAT_ATM_8B10B_K28_5 = 0xbc, /* its octet */
    LEAT_ATM_8B10B_K28_5_MINUS = 0x0fa,
    LEAT_ATM_8B10B_K28_5_PLUS = 0x305, /* its words, by the disparity before */
};

/* The ten bits, a most significant. *plus is the running disparity: false for -1. Control octets
 * are 1c, 3c .. fc; of others the lower five bits are taken as 28. */
unsigned leat_atm_8b10b_encode(uint8_t octet, bool control, bool *plus);

/* What words mean. Private. */
struct leat_atm_8b10b_table {
    uint16_t meaning[LEAT_ATM_8B10B_WORDS];
};

void leat_atm_8b10b_table_init(struct leat_atm_8b10b_table *table);

struct leat_atm_8b10b_symbol {
    uint8_t octet;
    bool control;
    bool violation; /* no word of the code, or not at this disparity */
};

struct leat_atm_8b10b_symbol leat_atm_8b10b_decode(const struct leat_atm_8b10b_table *table,
                                                   unsigned word, bool *plus);

#endif
