/*
 * Property: whatever decodes as a SAR-PDU encodes to octets of the same meaning; the same for a
 * CPCS-PDU. The target corrects the CRC-10 first, so that more than one input in 1024 passes.
 */
#include "atm_aal34.h"
#include "atm_seal_test.h"
#include <stdlib.h>
#include <string.h>

static void try_sar(const uint8_t *octets)
{
    struct leat_atm_aal34_sar a, b;
    uint8_t sar[LEAT_ATM_AAL34_SAR_LEN], back[LEAT_ATM_AAL34_SAR_LEN];
    memcpy(sar, octets, sizeof sar);
    plain_seal(sar);
    if (leat_atm_aal34_sar_decode(sar, sizeof sar, &a, NULL) != LEAT_ERR_OK) return;
    if (leat_atm_aal34_sar_encode(&a, back, sizeof back) != LEAT_ERR_OK) abort();
    if (leat_atm_aal34_sar_decode(back, sizeof back, &b, NULL) != LEAT_ERR_OK) abort();
    if (a.st != b.st || a.sn != b.sn || a.mid10 != b.mid10 || a.li != b.li) abort();
    if (memcmp(a.payload, b.payload, sizeof a.payload) != 0) abort();
    if (a.li == LEAT_ATM_AAL34_SEGMENT_LEN && memcmp(sar, back, sizeof sar) != 0) abort();
}

static void try_cpcs(const uint8_t *data, size_t len)
{
    static uint8_t back[LEAT_ATM_AAL34_CPCS_LEN_MAX];
    struct leat_atm_aal34_cpcs a, b;
    size_t back_len = 0;
    if (leat_atm_aal34_cpcs_decode(data, len, &a, NULL) != LEAT_ERR_OK) return;
    if (leat_atm_aal34_cpcs_encode(&a, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != len) abort();
    if (leat_atm_aal34_cpcs_decode(back, back_len, &b, NULL) != LEAT_ERR_OK) abort();
    if (a.cpi != b.cpi || a.btag != b.btag || a.basize != b.basize) abort();
    if (a.payload_len != b.payload_len || memcmp(a.payload, b.payload, a.payload_len) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_aal34_sar sar;
    if (len != LEAT_ATM_AAL34_SAR_LEN &&
        leat_atm_aal34_sar_decode(data, len, &sar, NULL) == LEAT_ERR_OK)
        abort();
    if (len >= LEAT_ATM_AAL34_SAR_LEN) try_sar(data);
    try_cpcs(data, len);
    return 0;
}
