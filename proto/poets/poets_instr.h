/*
 * The payload of an instrumentation packet, SUP/INSTR (spec/poets.md, 1.6): 32-bit counters,
 * 10 of them in 3 flits, or 14 in 4 flits where the thread has performance counters.
 *
 *   0 cIDX | 4 cycles | 8 rxCnt | 12 rxHanCnt | 16 txCnt | 20 supCnt | 24 txHanCnt | 28 idleCnt
 *   32 idleHanCnt | 36 blockCnt || 40 missCount | 44 hitCount | 48 writebackCount | 52 CPUIdleCount
 *
 * cIDX numbers the records; all others count since the previous record.
 */
#ifndef LEAT_POETS_INSTR_H
#define LEAT_POETS_INSTR_H

#include "leat_err.h"
#include <stddef.h>
#include <stdint.h>

#define LEAT_POETS_INSTR_LIST(X)         \
    X(CIDX, "cIDX")                      \
    X(CYCLES, "cycles")                  \
    X(RX_CNT, "rxCnt")                   \
    X(RX_HAN_CNT, "rxHanCnt")            \
    X(TX_CNT, "txCnt")                   \
    X(SUP_CNT, "supCnt")                 \
    X(TX_HAN_CNT, "txHanCnt")            \
    X(IDLE_CNT, "idleCnt")               \
    X(IDLE_HAN_CNT, "idleHanCnt")        \
    X(BLOCK_CNT, "blockCnt")             \
    X(MISS_COUNT, "missCount")           \
    X(HIT_COUNT, "hitCount")             \
    X(WRITEBACK_COUNT, "writebackCount") \
    X(CPU_IDLE_COUNT, "CPUIdleCount")

enum leat_poets_instr_counter {
#define X(id, name) LEAT_POETS_INSTR_##id,
    LEAT_POETS_INSTR_LIST(X)
#undef X
        LEAT_POETS_INSTR_COUNT_MAX
};

enum {
    LEAT_POETS_INSTR_COUNT_MIN = LEAT_POETS_INSTR_MISS_COUNT,
    LEAT_POETS_INSTR_LEN_MIN = 4 * LEAT_POETS_INSTR_COUNT_MIN,
    LEAT_POETS_INSTR_LEN_MAX = 4 * LEAT_POETS_INSTR_COUNT_MAX,
};

struct leat_poets_instr {
    unsigned count; /* 10 or 14 */
    uint32_t counter[LEAT_POETS_INSTR_COUNT_MAX];
};

/*
 * `len` must be 40 or 56, the payloads of 3 and 4 flits. Counters beyond out->count become 0. On
 * error *out is untouched and *fault_at (may be NULL) is the offset of the error.
 */
leat_err leat_poets_instr_decode(const uint8_t *payload, size_t len, struct leat_poets_instr *out,
                                 size_t *fault_at);

/* Writes 40 or 56 octets, or nothing and returns the error. */
leat_err leat_poets_instr_encode(const struct leat_poets_instr *instr, uint8_t *payload, size_t cap,
                                 size_t *len);

/* The name of a counter in spec/poets.md; NULL where there is none. */
const char *leat_poets_instr_name(unsigned counter);

#endif
