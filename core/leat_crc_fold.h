/*
 * CRCs by the processor's carry-less multiplication. Call only if leat_crc_fold_available() is
 * true; leat_crc.c chooses.
 */
#ifndef LEAT_CRC_FOLD_H
#define LEAT_CRC_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool leat_crc_fold_available(void);
const char *leat_crc_fold_name(void);
uint32_t leat_crc32_by_fold(uint32_t crc, const void *octets, size_t len);
uint32_t leat_crc32_msb_by_fold(uint32_t crc, const void *octets, size_t len);
uint16_t leat_crc16_by_fold(uint16_t crc, const void *octets, size_t len);

#endif
