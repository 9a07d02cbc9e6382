/*
 * The input is a script of cells and timers. The oracle: messages within their limit, wake times
 * never in the past, and no message without a beginning.
 */
#include "atm_aal2_engine.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static alignas(max_align_t) unsigned char memory[512];
    const struct leat_atm_aal2_reassemble_config config = { .message_len_max = 150,
                                                            .gap_ps_max = 5 };
    struct leat_atm_aal2_reassemble *r = NULL;
    uint8_t sn = 0;
    unsigned begun = 0, ended = 0;
    leat_time now = 0;

    if (leat_atm_aal2_reassemble_init(memory, sizeof memory, &config, &r) != LEAT_ERR_OK) abort();
    for (size_t i = 0; i + 1 < len; i += 2) {
        /* data[i]: IT (2), SN jumps (1), damage (1), timer (1), time (3); data[i+1]: LI */
        sn = (uint8_t)((sn + 1 + (data[i] >> 2 & 1)) % LEAT_ATM_AAL2_SN_COUNT);
        const struct leat_atm_aal2_pdu pdu = { .sn = sn,
                                               .it = (enum leat_atm_aal2_it)(data[i] & 3),
                                               .li = (uint8_t)(1 + data[i + 1] % 45) };
        struct leat_atm_cell c = { .pt = data[i + 1] >> 6 == 3 ? 4 : 0 };
        if (leat_atm_aal2_pdu_encode(&pdu, c.payload, sizeof c.payload)) abort();
        if (data[i] & 8) c.payload[data[i + 1] % 48] ^= 1;
        const struct leat_atm_aal2_in in = { data[i] & 16 ? LEAT_ATM_AAL2_TIMER
                                                          : LEAT_ATM_AAL2_CELL,
                                             &c };
        now += data[i] >> 5;
        begun += pdu.it == LEAT_ATM_AAL2_BOM || pdu.it == LEAT_ATM_AAL2_SSM;
        const struct leat_atm_aal2_out out = leat_atm_aal2_reassemble_step(r, now, &in);
        ended += out.message != NULL;
        if (out.message_len > config.message_len_max || ended > begun) abort();
        if ((out.message == NULL) != (out.message_len == 0)) abort();
        if (out.wake_at < now) abort();
    }
    return 0;
}
