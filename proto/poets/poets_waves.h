/*
 * Termination detection over ranks that send each other packets. Mattern's four counters
 * (spec/poets.md, 5.3): one rank asks all others in waves how many packets they have sent to other
 * ranks and how many packets from other ranks they have processed; each answers when it is passive.
 *
 *   wave k      S S S S   R R R R            idle: the sum of R in wave k
 *   wave k+1    S S S S   R R R R                  is the sum of S in wave k+1
 *
 * One wave is not enough: it samples the ranks at different times, and a packet in flight may
 * compensate for one that was counted too early.
 */
#ifndef LEAT_POETS_WAVES_H
#define LEAT_POETS_WAVES_H

#include <stdbool.h>
#include <stdint.h>

/* At first zero but for rank_count. */
struct leat_poets_waves {
    uint32_t rank_count;
    uint32_t wave;    /* its number; 0: none yet */
    uint32_t waiting; /* reports outstanding */
    uint64_t sent, received;
    uint64_t received_before; /* in the previous wave */
};

enum leat_poets_verdict { LEAT_POETS_NOT_YET, LEAT_POETS_BUSY, LEAT_POETS_IDLE };

/* Ends the last wave and starts a new one. Returns its number: ask all ranks to report for it. */
uint32_t leat_poets_waves_begin(struct leat_poets_waves *waves);

/* Counts of a passive rank, once per rank and wave. Reports of other waves are ignored. */
enum leat_poets_verdict leat_poets_waves_report(struct leat_poets_waves *waves, uint32_t wave,
                                                uint64_t sent, uint64_t received);

#endif
