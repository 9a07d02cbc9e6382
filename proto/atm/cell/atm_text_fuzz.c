/* Property: the text shown for a cell builds the same cell again, octet for octet. */
#include "atm_rebuild_test.h"
#include "atm_seal.h"
#include "atm_text.h"
#include <leat/crc.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    shown_and_rebuilt(&leat_atm_format, data, len);
    if (len == LEAT_ATM_CELL_LEN) {
        uint8_t cell[LEAT_ATM_CELL_LEN];
        memcpy(cell, data, sizeof cell);
        cell[LEAT_ATM_HEADER_LEN - 1] = leat_crc_hec(cell);
        shown_and_rebuilt(&leat_atm_format, cell, sizeof cell);
        leat_atm_payload_seal(cell + LEAT_ATM_HEADER_LEN, 0);
        shown_and_rebuilt(&leat_atm_format, cell, sizeof cell);
    }
    return 0;
}
