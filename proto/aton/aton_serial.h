/*
 * The serial units of an interface (spec/aton.md, "Commands" and "Errors"; seed 003, section 3).
 * Each takes one bit time: bits of the ring and of a register go in, one bit comes out, and one or
 * two flip-flops hold the state for the next bit.
 *
 *     passing bit ---->+---------+----> outgoing bit         adder         carry
 *                      |  unit   |                           incrementer   carry, preset
 *     operand bit ---->+---------+                           compare       UNDECIDED, GREATER, LESS
 *                        ^     |                             CRC           32 flip-flops
 *                        +-----+ flip-flops
 *
 * AND and OR have no flip-flops. Adder and incrementer need the least significant bit first, the
 * comparison the most significant one.
 */
#ifndef LEAT_ATON_SERIAL_H
#define LEAT_ATON_SERIAL_H

#include "aton_wire.h"

/* ---- arithmetic ----------------------------------------------------------------------------- */

static inline unsigned leat_aton_add_bit(uint8_t *carry, unsigned passing, unsigned operand)
{
    const unsigned half = passing ^ operand, sum = half ^ *carry;
    *carry = (uint8_t)((passing & operand) | (half & *carry));
    return sum;
}

/* Adds the preset carry, 0 or 1. */
static inline unsigned leat_aton_increment_bit(uint8_t *carry, unsigned passing)
{
    const unsigned sum = passing ^ *carry;
    *carry &= (uint8_t)passing;
    return sum;
}

/* ---- compare and select --------------------------------------------------------------------- */

/* GREATER: the operand exceeds the passing number. Latched at the first bit that differs. */
enum leat_aton_compared { LEAT_ATON_UNDECIDED, LEAT_ATON_GREATER, LEAT_ATON_LESS };

static inline void leat_aton_compare_bit(uint8_t *relation, unsigned passing, unsigned operand)
{
    const unsigned found = operand > passing ? LEAT_ATON_GREATER : LEAT_ATON_LESS;
    if (*relation == LEAT_ATON_UNDECIDED && operand != passing) *relation = (uint8_t)found;
}

/* MAX and MIN, after the bits were compared: while UNDECIDED they are the same. */
static inline unsigned leat_aton_select_bit(unsigned opcode, unsigned relation, unsigned passing,
                                            unsigned operand)
{
    const unsigned wanted = opcode == LEAT_ATON_MAX ? LEAT_ATON_GREATER : LEAT_ATON_LESS;
    return relation == wanted ? operand : passing;
}

/* MAX and MIN: is the address to be loaded? Also on a tie: the last in ring order is reported. */
static inline bool leat_aton_is_selected(unsigned opcode, unsigned relation)
{
    return relation != (opcode == LEAT_ATON_MAX ? LEAT_ATON_LESS : LEAT_ATON_GREATER);
}

/* EQ, LT, LE, and a tree's GT and GE: does `v REL operand` hold, v being the number that passed? */
static inline bool leat_aton_is_counted(unsigned opcode, unsigned relation)
{
    if (opcode == LEAT_ATON_EQ) return relation == LEAT_ATON_UNDECIDED;
    if (opcode == LEAT_ATON_LT) return relation == LEAT_ATON_GREATER;
    if (opcode == LEAT_ATON_GT) return relation == LEAT_ATON_LESS;
    if (opcode == LEAT_ATON_GE) return relation != LEAT_ATON_GREATER;
    return relation != LEAT_ATON_LESS;
}

/* Bit `at` of Variable-2, least significant first, that holds an address. */
static inline unsigned leat_aton_address_bit(uint16_t address, unsigned at)
{
    return at < 16 ? (unsigned)address >> at & 1u : 0;
}

/* ---- CRC: checker and generator are the same register ---------------------------------------- */

#define LEAT_ATON_CRC_START      UINT32_MAX
#define LEAT_ATON_CRC_POLYNOMIAL UINT32_C(0xEDB88320) /* IEEE 802.3, reflected */

static inline uint32_t leat_aton_crc_bit(uint32_t crc, unsigned bit)
{
    return crc >> 1 ^ (LEAT_ATON_CRC_POLYNOMIAL & -((crc ^ bit) & 1));
}

/* The CRC bit that is due; the register then shifts to the next. */
static inline unsigned leat_aton_crc_out(uint32_t *crc)
{
    const unsigned bit = ~*crc & 1;
    *crc >>= 1;
    return bit;
}

#endif
