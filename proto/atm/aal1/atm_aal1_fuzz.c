/*
 * Property: whatever decodes encodes to the same octets, and the text shown builds them.
 */
#include "atm_aal1.h"
#include "atm_rebuild_test.h"
#include "atm_text.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_aal1_pdu pdu;
    uint8_t back[LEAT_ATM_AAL1_PDU_LEN];

    if (leat_atm_aal1_pdu_decode(data, len, &pdu, NULL) != LEAT_ERR_OK) return 0;
    if (leat_atm_aal1_pdu_encode(&pdu, back, sizeof back) != LEAT_ERR_OK) abort();
    if (memcmp(back, data, sizeof back) != 0) abort();
    if (!shown_and_rebuilt(&leat_aal1_format, back, sizeof back)) abort();
    return 0;
}
