#include "leat_bytes.h"
#include "leat_crc_fold.h"
#include "leat_crc_tables.h"
#include <leat/crc.h>

enum { CRC10_LEFT = 6 }; /* the 10-bit register sits at the top of 16 bits */

uint8_t leat_crc_hec(const uint8_t header[4])
{
    /* I.432.1: the pattern 55 keeps an all-zero header from having an all-zero check. */
    return hec[3][header[0]] ^ hec[2][header[1]] ^ hec[1][header[2]] ^ hec[0][header[3]] ^ 0x55;
}

/* Any CRC of up to 16 bits, most significant bit first, register left-aligned. */
static uint16_t crc16_left(const uint16_t t[8][256], uint16_t crc, const uint8_t *p, size_t len)
{
    for (; len >= 8; p += 8, len -= 8)
        crc = t[7][p[0] ^ crc >> 8] ^ t[6][p[1] ^ (crc & 0xff)] ^ t[5][p[2]] ^ t[4][p[3]] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    if (len >= 4) {
        crc = t[3][p[0] ^ crc >> 8] ^ t[2][p[1] ^ (crc & 0xff)] ^ t[1][p[2]] ^ t[0][p[3]];
        p += 4;
        len -= 4;
    }
    for (; len; p++, len--)
        crc = (uint16_t)(crc << 8 ^ t[0][crc >> 8 ^ *p]);
    return crc;
}

uint16_t leat_crc10(uint16_t crc, const void *octets, size_t len)
{
    return crc16_left(crc10_left, (uint16_t)(crc << CRC10_LEFT), octets, len) >> CRC10_LEFT;
}

uint16_t leat_crc16_by_table(uint16_t crc, const void *octets, size_t len)
{
    return crc16_left(crc16_1021, crc, octets, len);
}

uint16_t leat_crc16(uint16_t crc, const void *octets, size_t len)
{
    return leat_crc_fold_available() ? leat_crc16_by_fold(crc, octets, len)
                                     : leat_crc16_by_table(crc, octets, len);
}

uint32_t leat_crc32_by_table(uint32_t crc, const void *octets, size_t len)
{
    const uint32_t(*t)[256] = crc32_lsb;
    const uint8_t *p = octets;
    crc = ~crc;
    for (; len >= 8; p += 8, len -= 8) {
        crc ^= leat_get_le32(p);
        crc = t[7][crc & 0xff] ^ t[6][crc >> 8 & 0xff] ^ t[5][crc >> 16 & 0xff] ^ t[4][crc >> 24] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; len; p++, len--)
        crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xff];
    return ~crc;
}

uint32_t leat_crc32_msb_by_table(uint32_t crc, const void *octets, size_t len)
{
    const uint32_t(*t)[256] = crc32_msb;
    const uint8_t *p = octets;
    crc = ~crc;
    for (; len >= 8; p += 8, len -= 8) {
        crc ^= leat_get_be32(p);
        crc = t[7][crc >> 24] ^ t[6][crc >> 16 & 0xff] ^ t[5][crc >> 8 & 0xff] ^ t[4][crc & 0xff] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; len; p++, len--)
        crc = crc << 8 ^ t[0][crc >> 24 ^ *p];
    return ~crc;
}

uint64_t leat_crc64(uint64_t crc, const void *octets, size_t len)
{
    const uint64_t(*t)[256] = crc64_xz;
    const uint8_t *p = octets;
    crc = ~crc;
    for (; len >= 8; p += 8, len -= 8) {
        crc ^= leat_get_le64(p);
        crc = t[7][crc & 0xff] ^ t[6][crc >> 8 & 0xff] ^ t[5][crc >> 16 & 0xff] ^
              t[4][crc >> 24 & 0xff] ^ t[3][crc >> 32 & 0xff] ^ t[2][crc >> 40 & 0xff] ^
              t[1][crc >> 48 & 0xff] ^ t[0][crc >> 56];
    }
    for (; len; p++, len--)
        crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xff];
    return ~crc;
}

uint32_t leat_crc32(uint32_t crc, const void *octets, size_t len)
{
    return leat_crc_fold_available() ? leat_crc32_by_fold(crc, octets, len)
                                     : leat_crc32_by_table(crc, octets, len);
}

uint32_t leat_crc32_msb(uint32_t crc, const void *octets, size_t len)
{
    return leat_crc_fold_available() ? leat_crc32_msb_by_fold(crc, octets, len)
                                     : leat_crc32_msb_by_table(crc, octets, len);
}

const char *leat_crc_engine(void)
{
    return leat_crc_fold_available() ? leat_crc_fold_name() : "tables";
}
