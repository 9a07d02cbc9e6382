/*
 * All the CRCs of the rooms, one interface. Start with 0 and pass the pieces in order. Initial
 * values and final complements are built in, so every intermediate result is the CRC of the octets
 * so far.
 *
 *   function        polynomial          order  init/xor   used by
 *   leat_crc_hec    x^8+x^2+x+1         msb    0 / 55     ATM header (I.432.1)
 *   leat_crc10      633                 msb    0 / 0      AAL3/4, AAL2 (old form), OAM, RM
 *   leat_crc16      1021                msb    0 / 0      the thesis' own AAL cell
 *   leat_crc32_msb  04c11db7            msb    ~0 / ~0    AAL5
 *   leat_crc32      04c11db7            lsb    ~0 / ~0    ATON, ESP, PacketWay (IEEE 802.3)
 *   leat_crc64      42f0e1eba9ea3693    lsb    ~0 / ~0    PacketWay (CRC-64/XZ)
 *
 * Long buffers of the 32-bit CRCs, and the part of a cell that leat_crc16 covers, are folded by
 * carry-less multiplication if the processor has it; the table code is the oracle of the tests
 * (leat_crc32_by_table...). doc/performance.md has figures.
 */
#ifndef LEAT_CRC_H
#define LEAT_CRC_H

#include <leat/api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The CRC of `octets`, continued from `crc` (0 at the beginning); see the table above. The HEC is
 * that of a whole header. */
LEAT_API uint8_t leat_crc_hec(const uint8_t header[4]);
LEAT_API uint16_t leat_crc10(uint16_t crc, const void *octets, size_t len);
LEAT_API uint16_t leat_crc16(uint16_t crc, const void *octets, size_t len);
LEAT_API uint32_t leat_crc32(uint32_t crc, const void *octets, size_t len);
LEAT_API uint32_t leat_crc32_msb(uint32_t crc, const void *octets, size_t len);
LEAT_API uint64_t leat_crc64(uint64_t crc, const void *octets, size_t len);

/* The same with tables only, on any processor. */
LEAT_API uint16_t leat_crc16_by_table(uint16_t crc, const void *octets, size_t len);
LEAT_API uint32_t leat_crc32_by_table(uint32_t crc, const void *octets, size_t len);
LEAT_API uint32_t leat_crc32_msb_by_table(uint32_t crc, const void *octets, size_t len);

/* How leat_crc32 works on this machine: "tables", "pmull+crc32", "pclmulqdq". */
LEAT_API const char *leat_crc_engine(void);

#ifdef __cplusplus
}
#endif

#endif
