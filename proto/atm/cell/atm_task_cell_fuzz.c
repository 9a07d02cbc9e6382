/*
 * Property: whatever decodes encodes back to the same octets: this cell has no second spelling. The
 * target corrects the CRC first, so that more than one input in 65536 passes.
 */
#include "atm_task_cell.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_task_cell cell;
    struct leat_atm_task_message message;
    uint8_t octets[LEAT_ATM_TASK_CELL_LEN], back[LEAT_ATM_TASK_CELL_LEN];
    const leat_err err = leat_atm_task_cell_decode(data, len, &cell, NULL);

    if (len != sizeof octets) {
        if (err == LEAT_ERR_OK) abort();
        return 0;
    }
    memcpy(octets, data, len);
    leat_put_be16(octets + 51, leat_crc16(0, octets + 5, 46));
    if (leat_atm_task_cell_decode(octets, len, &cell, NULL) != LEAT_ERR_OK) return 0;
    if (leat_atm_task_cell_is_first(&cell)) {
        if (leat_atm_task_message_decode(cell.payload, 36, &message, NULL) != LEAT_ERR_OK) abort();
        if (leat_atm_task_message_encode(&message, cell.payload, 36) != LEAT_ERR_OK) abort();
    }
    if (leat_atm_task_cell_encode(&cell, back, sizeof back) != LEAT_ERR_OK) abort();
    if (memcmp(back, octets, sizeof back) != 0) abort();
    return 0;
}
