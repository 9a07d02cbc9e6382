#include "poets_waves.h"

uint32_t leat_poets_waves_begin(struct leat_poets_waves *waves)
{
    waves->waiting = waves->rank_count;
    waves->sent = waves->received = 0;
    return ++waves->wave;
}

enum leat_poets_verdict leat_poets_waves_report(struct leat_poets_waves *waves, uint32_t wave,
                                                uint64_t sent, uint64_t received)
{
    if (wave != waves->wave || !waves->waiting) return LEAT_POETS_NOT_YET;
    waves->sent += sent;
    waves->received += received;
    if (--waves->waiting) return LEAT_POETS_NOT_YET;
    const bool idle = wave > 1 && waves->received_before == waves->sent;
    waves->received_before = waves->received;
    return idle ? LEAT_POETS_IDLE : LEAT_POETS_BUSY;
}
