/*
 * The input is a script of arrivals and reads. The oracle: octets leave in the order of arrival,
 * and each is played, dropped or still waiting.
 */
#include "atm_aal1_playout.h"
#include <stdalign.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static alignas(max_align_t) unsigned char memory[512];
    struct leat_atm_aal1_playout *p = NULL;
    if (len < 2) return 0;
    const struct leat_atm_aal1_playout_config config = {
        .capacity_len = 1 + data[0] % 100,
        .start_len = 1 + data[1] % (1u + data[0] % 100),
        .start_ps = data[1],
        .overrun = data[0] & 0x80 ? LEAT_ATM_AAL1_DROP_OLDEST : LEAT_ATM_AAL1_DROP_NEWEST,
        .underrun = data[1] & 0x80 ? LEAT_ATM_AAL1_PLAY_ON : LEAT_ATM_AAL1_REFILL,
    };
    if (leat_atm_aal1_playout_init(memory, sizeof memory, &config, &p) != LEAT_ERR_OK) abort();

    leat_time now = 0;
    uint8_t next = 0; /* arriving octets count up */
    uint64_t dropped_before = 0;
    uint8_t expected = 0; /* the next to be played, while nothing was dropped */
    for (size_t i = 2; i < len; i++) {
        uint8_t octets[16];
        const size_t n = data[i] & 15;
        now += data[i] >> 5;
        if (data[i] & 16) {
            for (size_t k = 0; k < n; k++)
                octets[k] = next++;
            leat_atm_aal1_playout_arrive(p, now, octets, n);
        } else {
            const size_t played = leat_atm_aal1_playout_read(p, now, octets, n);
            if (played > n) abort();
            for (size_t k = 0; k < played && dropped_before == 0; k++)
                if (octets[k] != expected++) abort();
        }
        const struct leat_atm_aal1_playout_counts c = leat_atm_aal1_playout_counts(p);
        const size_t level = leat_atm_aal1_playout_level(p);
        if (level > config.capacity_len) abort();
        if (c.arrived_len != c.played_len + c.dropped_len + level) abort();
        dropped_before = c.dropped_len;
    }
    return 0;
}
