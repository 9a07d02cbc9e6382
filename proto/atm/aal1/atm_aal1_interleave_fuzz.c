/*
 * The input chooses which SAR-PDUs are lost, repeated or damaged, an octet each; a clean block
 * after them is delivered exactly.
 */
#include "atm_aal1_interleave.h"
#include <stdlib.h>
#include <string.h>

enum {
    SCRIPT_LEN_MAX = 200,
    COLUMNS = LEAT_ATM_AAL1_INTERLEAVE_COLUMNS,
    PDU = LEAT_ATM_AAL1_PDU_LEN
};

static uint8_t user[LEAT_ATM_AAL1_INTERLEAVE_USER_LEN], pdus[COLUMNS][PDU];

static void make_block(void)
{
    static struct leat_atm_aal1_matrix matrix;
    for (size_t i = 0; i < sizeof user; i++)
        user[i] = (uint8_t)(i * 7 + i / 256);
    leat_atm_aal1_interleave_fill(user, &matrix);
    for (unsigned c = 0; c < COLUMNS; c++)
        leat_atm_aal1_interleave_pdu(&matrix, c, pdus[c]);
}

static bool step(struct leat_atm_aal1_interleave *rx, const uint8_t *pdu)
{
    const struct leat_atm_aal1_interleave_out out = leat_atm_aal1_interleave_step(rx, pdu);
    if (rx->column >= COLUMNS || (rx->state == LEAT_ATM_AAL1_INTERLEAVE_HUNT && rx->column > 0))
        abort();
    return out.user && memcmp(out.user, user, sizeof user) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct leat_atm_aal1_interleave rx;
    bool exact = false;
    if (len > SCRIPT_LEN_MAX) return 0;
    if (pdus[0][0] == 0) make_block();
    leat_atm_aal1_interleave_init(&rx);
    for (size_t i = 0; i < len; i++) {
        uint8_t pdu[PDU];
        memcpy(pdu, pdus[i % COLUMNS], PDU);
        if (data[i] % 4 == 1) continue;
        if (data[i] % 4 == 2) step(&rx, pdu);
        if (data[i] % 4 == 3) pdu[data[i] / 4 % PDU] ^= data[i];
        step(&rx, pdu);
    }
    for (unsigned i = 0; i < COLUMNS; i++)
        exact = step(&rx, pdus[i]);
    if (!exact) abort();
    return 0;
}
