/* What a delivery adds to a certificate; devices compile it too (core/leat_device.h). Internal. */
#ifndef LEAT_SIM_CERTIFICATE_PARTS_H
#define LEAT_SIM_CERTIFICATE_PARTS_H

#include "leat_device.h"

/* Odd, so that every step is invertible: no lane loses information. Digits of pi. */
#define LEAT_SIM_MIX_A UINT64_C(0x243f6a8885a308d3)
#define LEAT_SIM_MIX_B UINT64_C(0x13198a2e03707345)

/* Both factors and the rotation carry low bits up and high bits down. */
static inline uint64_t leat_sim_mix_stir(uint64_t lane, uint64_t word, uint64_t factor)
{
    lane = (lane ^ word) * factor;
    return lane << 29 | lane >> 35;
}

static inline uint64_t leat_sim_mix_finish(uint64_t a, uint64_t b)
{
    const uint64_t hash = leat_sim_mix_stir(a, b, LEAT_SIM_MIX_B);
    const uint64_t mixed = (hash ^ hash >> 32) * LEAT_SIM_MIX_A;
    return mixed ^ mixed >> 29;
}

/* Every word passes each lane's factor once before the sum: records that differ in one bit have
 * unrelated mixes. */
static inline uint64_t leat_sim_certificate_mix(uint64_t at, uint64_t source, uint64_t destination,
                                                uint64_t number, uint64_t payload_hash)
{
    uint64_t a = leat_sim_mix_stir(LEAT_SIM_MIX_B, at, LEAT_SIM_MIX_A);
    uint64_t b = leat_sim_mix_stir(LEAT_SIM_MIX_A, source, LEAT_SIM_MIX_B);
    a = leat_sim_mix_stir(a, destination, LEAT_SIM_MIX_A);
    b = leat_sim_mix_stir(b, number, LEAT_SIM_MIX_B);
    return leat_sim_mix_finish(leat_sim_mix_stir(a, payload_hash, LEAT_SIM_MIX_A), b);
}

#endif
