/*
 * The engines of OAM with any cells at any times. An end point has nothing to send before it is due
 * again, and its states are those of the last cells. A sink never loses more cells than its source
 * sent, and what it sends back decodes to what it was.
 */
#include "atm_oam_alarm.h"
#include "atm_oam_block.h"
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 8, BLOCK = 16 };

struct bench {
    struct leat_atm_oam_alarm alarm;
    struct leat_atm_oam_block_sink sink;
    struct leat_atm_oam_block_far far;
    uint64_t now;
};

static void try_send(struct bench *b)
{
    leat_atm_oam_alarm_advance(&b->alarm, b->now);
    while (leat_atm_oam_alarm_next(&b->alarm, b->now) != LEAT_ATM_OAM_SEND_NONE) {
    }
    if (leat_atm_oam_alarm_due(&b->alarm) <= b->now) abort();
    if (b->alarm.state[LEAT_ATM_OAM_IN_LOC].holds !=
        (2 * (b->now - b->alarm.state[LEAT_ATM_OAM_IN_LOC].cell_at) >= 7 * PERIOD))
        abort();
}

static void try_monitoring(struct bench *b, const struct leat_atm_oam *oam)
{
    struct leat_atm_oam_monitoring cell, back, again;
    struct leat_atm_oam wire;
    if (!leat_atm_oam_monitoring_get(oam, &cell)) return;
    if (cell.function == LEAT_ATM_OAM_BACKWARD) {
        leat_atm_oam_block_far_backward(&b->far, &cell);
        return;
    }
    if (!leat_atm_oam_block_sink_forward(&b->sink, &cell, &back)) return;
    leat_atm_oam_monitoring_put(&back, &wire);
    if (!leat_atm_oam_monitoring_get(&wire, &again)) abort();
    if (again.received != back.received || again.errors != back.errors) abort();
    if (b->sink.counts.lost > b->sink.counts.cells || b->sink.cells) abort();
}

static void take(struct bench *b, const struct leat_atm_oam *oam)
{
    struct leat_atm_oam_defect defect;
    leat_atm_oam_alarm_advance(&b->alarm, b->now);
    if (leat_atm_oam_defect_get(oam, &defect) && oam->function == LEAT_ATM_OAM_AIS)
        leat_atm_oam_alarm_ais(&b->alarm, &defect, b->now);
    else if (leat_atm_oam_defect_get(oam, &defect))
        leat_atm_oam_alarm_rdi(&b->alarm, &defect, b->now);
    try_monitoring(b, oam);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { STEP = 8 };
    struct bench b = { .now = 0 };
    leat_atm_oam_alarm_init(&b.alarm, PERIOD, true, 0);
    leat_atm_oam_block_sink_init(&b.sink, BLOCK);
    leat_atm_oam_block_far_init(&b.far, BLOCK);
    for (; len >= STEP; data += STEP, len -= STEP) {
        struct leat_atm_oam oam = { .type = data[0] >> 4, .function = data[0] & 0xf };
        uint8_t payload[LEAT_ATM_PAYLOAD_LEN] = { data[1] };
        memcpy(oam.specific, data + 2, STEP - 2);
        b.now += data[1] & 0xf;
        try_send(&b);
        if (data[0] & 0x80) {
            leat_atm_oam_alarm_user(&b.alarm, b.now);
            leat_atm_oam_block_sink_user(&b.sink, payload, data[0] & 1);
        } else {
            take(&b, &oam);
        }
        try_send(&b);
    }
    return 0;
}
