/*
 * A valid frame, then one with the input over some part of it, perhaps truncated; then valid
 * frames: the receiver finds them, and chunks make no difference.
 */
#include "atm_stm1.h"
#include <stdlib.h>
#include <string.h>

enum { FRAME = LEAT_ATM_STM1_FRAME_LEN };

static uint64_t feed(struct leat_atm_stm1 *rx, const uint8_t *line, size_t len, size_t chunk)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_stm1_feed(rx, line + at, n, &out);
        if (used == 0 || used > n) abort();
        at += used;
        if (out.event == LEAT_ATM_TC_NOTHING) continue;
        hash = hash * 31 + at * 16 + out.event;
        if (out.cell && leat_atm_hec_syndrome(out.cell) != 0) abort();
    }
    return hash;
}

/* After damage: a false pattern, two true ones, one frame for the cells; after a slip four more. */
enum { LINE = 2, RECOVERY = 1 + 2 + 1, CLEAN = LINE + RECOVERY + LEAT_ATM_STM1_BAD_FRAMES_MAX };
static uint8_t clean[CLEAN * FRAME];

static void make_clean_frames(void)
{
    uint8_t memory[LEAT_ATM_CELL_LEN];
    struct leat_atm_stream stream;
    struct leat_atm_stm1_sender tx;
    if (leat_atm_stream_init(&stream, memory, sizeof memory) != LEAT_ERR_OK) abort();
    leat_atm_stm1_sender_init(&tx, &stream);
    leat_atm_stm1_sender_pull(&tx, clean, sizeof clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t damaged[FRAME];
    struct leat_atm_stm1 a, b;
    if (clean[0] == 0) make_clean_frames();
    if (len < 4) return 0;
    if (leat_atm_stm1_init(&a, &LEAT_ATM_DELINEATION_DEFAULT) != LEAT_ERR_OK) abort();
    feed(&a, clean, FRAME, FRAME);

    const size_t place = (data[0] * 256u + data[1]) % FRAME;
    const size_t n = len - 4 < FRAME - place ? len - 4 : FRAME - place;
    memcpy(damaged, clean + FRAME, FRAME);
    memcpy(damaged + place, data + 4, n);
    const size_t slip = data[2];
    b = a;
    if (feed(&a, damaged, FRAME - slip, FRAME) != feed(&b, damaged, FRAME - slip, 1u + data[3]))
        abort();

    const size_t frames = RECOVERY + (slip ? LEAT_ATM_STM1_BAD_FRAMES_MAX : 0);
    feed(&a, clean + LINE * FRAME, frames * FRAME, SIZE_MAX);
    if (a.state != LEAT_ATM_STM1_IN_FRAME || a.at != 0) abort();
    if (a.cells.state != LEAT_ATM_DELINEATION_SYNC) abort();
    const size_t octets = (LINE + frames) * LEAT_ATM_STM1_CONTAINER_LEN;
    if ((octets + leat_atm_delineation_to_boundary(&a.cells)) % LEAT_ATM_CELL_LEN != 0) abort();
    return 0;
}
