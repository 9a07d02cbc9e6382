/*
 * Property: whatever decodes encodes to octets of the same meaning, canonical ones to themselves;
 * and the text that is shown builds the same octets.
 */
#include "atm_aal2.h"
#include "atm_rebuild_test.h"
#include "atm_seal_test.h"
#include "atm_text.h"
#include <stdlib.h>
#include <string.h>

/* Zeros after LI. */
static bool is_canonical(const uint8_t *octets, size_t li)
{
    for (size_t i = 1 + li; i < 1 + LEAT_ATM_AAL2_PAYLOAD_LEN; i++)
        if (octets[i] != 0) return false;
    return true;
}

static void check(const uint8_t *data, size_t len)
{
    struct leat_atm_aal2_pdu pdu, again;
    uint8_t back[LEAT_ATM_AAL2_PDU_LEN];

    if (leat_atm_aal2_pdu_decode(data, len, &pdu, NULL) != LEAT_ERR_OK) return;
    if (leat_atm_aal2_pdu_encode(&pdu, back, sizeof back) != LEAT_ERR_OK) abort();
    if (leat_atm_aal2_pdu_decode(back, sizeof back, &again, NULL) != LEAT_ERR_OK) abort();
    if (pdu.sn != again.sn || pdu.it != again.it || pdu.li != again.li) abort();
    if (memcmp(pdu.payload, again.payload, sizeof pdu.payload) != 0) abort();
    if (is_canonical(data, pdu.li) && memcmp(back, data, sizeof back) != 0) abort();
    if (!shown_and_rebuilt(&leat_aal2_format, back, sizeof back)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t sealed[LEAT_ATM_AAL2_PDU_LEN];

    check(data, len);
    if (len < sizeof sealed) return 0;
    memcpy(sealed, data, sizeof sealed);
    plain_seal(sealed); /* no fuzzer guesses a CRC */
    check(sealed, sizeof sealed);
    return 0;
}
