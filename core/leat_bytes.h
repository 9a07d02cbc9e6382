/*
 * Octet accessors. They never check: the codec has checked the length first. Compilers turn each
 * into one load or store where the machine allows it.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_BYTES_H
#define LEAT_BYTES_H

#include <stdint.h>

static inline uint16_t leat_get_be16(const uint8_t *p)
{
    return (uint16_t)((unsigned)p[0] << 8 | p[1]);
}

static inline uint32_t leat_get_be24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t leat_get_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t leat_get_be64(const uint8_t *p)
{
    return (uint64_t)leat_get_be32(p) << 32 | leat_get_be32(p + 4);
}

static inline uint16_t leat_get_le16(const uint8_t *p)
{
    return (uint16_t)((unsigned)p[1] << 8 | p[0]);
}

static inline uint32_t leat_get_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint64_t leat_get_le64(const uint8_t *p)
{
    return (uint64_t)leat_get_le32(p + 4) << 32 | leat_get_le32(p);
}

static inline void leat_put_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void leat_put_be24(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 16);
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)v;
}

static inline void leat_put_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static inline void leat_put_be64(uint8_t *p, uint64_t v)
{
    leat_put_be32(p, (uint32_t)(v >> 32));
    leat_put_be32(p + 4, (uint32_t)v);
}

static inline void leat_put_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void leat_put_le32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline void leat_put_le64(uint8_t *p, uint64_t v)
{
    leat_put_le32(p, (uint32_t)v);
    leat_put_le32(p + 4, (uint32_t)(v >> 32));
}

/* `width` bits of `word`, the lowest of which is bit `lsb`. width < 64. */
static inline uint64_t leat_bits(uint64_t word, unsigned lsb, unsigned width)
{
    return word >> lsb & ((UINT64_C(1) << width) - 1);
}

/* Does `value` fit in `width` bits? width <= 64. */
static inline int leat_fits(uint64_t value, unsigned width)
{
    return width >= 64 || value >> width == 0;
}

/* Bit `index` of a string of octets, bit 0 being the most significant of octet 0. */
static inline unsigned leat_bit_get(const uint8_t *p, uint64_t index)
{
    return (unsigned)p[index / 8] >> (7 - index % 8) & 1u;
}

static inline void leat_bit_put(uint8_t *p, uint64_t index, unsigned bit)
{
    const uint8_t mask = (uint8_t)(0x80u >> index % 8);
    p[index / 8] = (uint8_t)(bit ? p[index / 8] | mask : p[index / 8] & ~mask);
}

/* How many bits a number has; 0 has none. */
static inline unsigned leat_bit_width(uint64_t number)
{
#ifdef __GNUC__
    return number ? 64u - (unsigned)__builtin_clzll(number) : 0;
#else
    unsigned bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
#endif
}

#endif
