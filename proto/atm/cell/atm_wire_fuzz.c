/* Property: whatever decodes at either interface encodes back to the same octets. */
#include <leat/atm.h>
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

static void try_cell(const uint8_t *data, size_t len, enum leat_atm_interface interface)
{
    struct leat_atm_cell cell;
    uint8_t back[LEAT_ATM_CELL_LEN];
    size_t at = len + 1;

    if (leat_atm_cell_decode(data, len, interface, &cell, &at) != LEAT_ERR_OK) {
        if (at > len) abort(); /* the fault has a place */
        return;
    }
    if (leat_atm_cell_encode(&cell, back, sizeof back) != LEAT_ERR_OK) abort();
    if (memcmp(back, data, sizeof back) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_cell(data, len, LEAT_ATM_UNI);
    try_cell(data, len, LEAT_ATM_NNI);
    if (len == LEAT_ATM_CELL_LEN) { /* and past the check, which a fuzzer seldom passes */
        uint8_t cell[LEAT_ATM_CELL_LEN];
        memcpy(cell, data, sizeof cell);
        cell[LEAT_ATM_HEADER_LEN - 1] = leat_crc_hec(cell);
        try_cell(cell, sizeof cell, LEAT_ATM_UNI);
        try_cell(cell, sizeof cell, LEAT_ATM_NNI);
    }
    return 0;
}
