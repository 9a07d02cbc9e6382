/*
 * Any stamps, any losses, any levels: the recovered clocks stay within their tolerance, read times
 * never go back.
 */
#include "atm_aal1_clock.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct leat_atm_aal1_srts_receive r;
    struct leat_atm_aal1_adaptive a;
    const struct leat_atm_aal1_srts_config srts = { .network_hz = 155520000,
                                                    .service_hz = 64000 + (len & 7) * 300000,
                                                    .tolerance_ppm = 200,
                                                    .window = 16 };
    const struct leat_atm_aal1_adaptive_config adaptive = { .service_hz = 64000,
                                                            .target_len = 100,
                                                            .smoothing = 2,
                                                            .gain_p = 900,
                                                            .gain_i = 30000,
                                                            .ppb_max = 100000,
                                                            .ppb_step = 5000 };
    if (leat_atm_aal1_srts_receive_init(&r, &srts) != LEAT_ERR_OK) abort();
    if (leat_atm_aal1_adaptive_init(&a, &adaptive, 0) != LEAT_ERR_OK) abort();
    for (size_t i = 0; i < len; i++) {
        if (data[i] & 0xe0)
            (void)leat_atm_aal1_srts_receive_stamp(&r, data[i] & 15);
        else
            leat_atm_aal1_srts_receive_lost(&r);
        /* Tolerance and one count in each period of more than 3008: below 1000 ppm together. */
        const int64_t ppb = leat_atm_aal1_srts_receive_ppb(&r);
        if (ppb > 1000000 || ppb < -1000000) abort();

        const leat_time before = a.due_at;
        leat_atm_aal1_adaptive_observe(&a, data[i]);
        leat_atm_aal1_adaptive_advance(&a);
        if (a.due_at <= before) abort();
        if (a.ppb > 100000 || a.ppb < -100000) abort();
    }
    return 0;
}
