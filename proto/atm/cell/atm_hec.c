#include "atm_hec.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>

/* Syndrome -> bit + 1; 0 if no single bit explains it. All 40 syndromes differ. */
static const uint8_t error_bit[256] = {
    [0x31] = 1,  [0x9b] = 2,  [0xce] = 3,  [0x67] = 4,  [0xb0] = 5,  [0x58] = 6,  [0x2c] = 7,
    [0x16] = 8,  [0x0b] = 9,  [0x86] = 10, [0x43] = 11, [0xa2] = 12, [0x51] = 13, [0xab] = 14,
    [0xd6] = 15, [0x6b] = 16, [0xb6] = 17, [0x5b] = 18, [0xae] = 19, [0x57] = 20, [0xa8] = 21,
    [0x54] = 22, [0x2a] = 23, [0x15] = 24, [0x89] = 25, [0xc7] = 26, [0xe0] = 27, [0x70] = 28,
    [0x38] = 29, [0x1c] = 30, [0x0e] = 31, [0x07] = 32, [0x80] = 33, [0x40] = 34, [0x20] = 35,
    [0x10] = 36, [0x08] = 37, [0x04] = 38, [0x02] = 39, [0x01] = 40,
};

uint8_t leat_atm_hec_syndrome(const uint8_t header[LEAT_ATM_HEADER_LEN])
{
    return leat_crc_hec(header) ^ header[LEAT_ATM_HEADER_LEN - 1];
}

unsigned leat_atm_hec_error_bit(uint8_t syndrome)
{
    return error_bit[syndrome] ? error_bit[syndrome] - 1u : LEAT_ATM_HEADER_BITS;
}

void leat_atm_hec_init(struct leat_atm_hec *hec)
{
    hec->mode = LEAT_ATM_HEC_CORRECTION;
}

static enum leat_atm_hec_verdict enter(struct leat_atm_hec *hec, enum leat_atm_hec_mode next,
                                       enum leat_atm_hec_verdict verdict)
{
    hec->mode = next;
    return verdict;
}

static enum leat_atm_hec_verdict on_error(struct leat_atm_hec *hec, uint8_t *header, unsigned bit)
{
    switch (hec->mode) {
    case LEAT_ATM_HEC_CORRECTION:
        if (bit == LEAT_ATM_HEADER_BITS)
            return enter(hec, LEAT_ATM_HEC_DETECTION, LEAT_ATM_HEC_DISCARD);
        leat_bit_put(header, bit, !leat_bit_get(header, bit));
        return enter(hec, LEAT_ATM_HEC_DETECTION, LEAT_ATM_HEC_CORRECTED);
    case LEAT_ATM_HEC_DETECTION: return enter(hec, LEAT_ATM_HEC_DETECTION, LEAT_ATM_HEC_DISCARD);
    }
    abort();
}

enum leat_atm_hec_verdict leat_atm_hec_step(struct leat_atm_hec *hec,
                                            uint8_t header[LEAT_ATM_HEADER_LEN])
{
    const uint8_t syndrome = leat_atm_hec_syndrome(header);
    if (syndrome == 0) return enter(hec, LEAT_ATM_HEC_CORRECTION, LEAT_ATM_HEC_ACCEPT);
    return on_error(hec, header, leat_atm_hec_error_bit(syndrome));
}
