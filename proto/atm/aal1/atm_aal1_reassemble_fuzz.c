/*
 * The input is a script of cells, one octet each, after one octet of configuration. The oracle is
 * the engine's contract: bounds, and every cell delivered or counted with its reason.
 */
#include "atm_aal1_reassemble.h"
#include <stdlib.h>
#include <string.h>

static size_t check(struct leat_atm_aal1_reassemble_out out, unsigned lost_max)
{
    if (out.octets_len > (lost_max + 1u) * LEAT_ATM_AAL1_PAYLOAD_LEN) abort();
    if (out.dummy_len > out.octets_len || out.block_at > out.octets_len) abort();
    if (out.rts_is != LEAT_ATM_AAL1_RTS_SEEN && out.rts != 0) abort();
    return out.octets_len > out.dummy_len; /* cells delivered: at most the one kept back */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_aal1_reassemble r;
    if (len == 0) return 0;
    const struct leat_atm_aal1_reassemble_config config = { .block_len = data[0] / 7 * 10,
                                                            .lost_cells_max = data[0] % 7 };
    if (leat_atm_aal1_reassemble_init(&r, &config) != LEAT_ERR_OK) abort();

    size_t delivered = 0;
    for (size_t i = 1; i < len; i++) {
        struct leat_atm_cell c = { .pt = 0 };
        memset(c.payload, data[i], sizeof c.payload);
        /* One in four is any octet, the others have a valid header. */
        if (data[i] & 0x30) c.payload[0] = leat_atm_aal1_sn_encode((uint8_t)(data[i] & 0xf));
        delivered += check(leat_atm_aal1_reassemble_cell(&r, &c), config.lost_cells_max);
        const size_t kept = r.state != LEAT_ATM_AAL1_START;
        if (r.counts.cells != delivered + r.counts.misinserted + r.counts.discarded + kept) abort();
    }
    delivered += check(leat_atm_aal1_reassemble_flush(&r), config.lost_cells_max);
    if (r.counts.cells != delivered + r.counts.misinserted + r.counts.discarded) abort();
    return 0;
}
