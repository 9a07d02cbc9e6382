/*
 * Whatever decodes encodes back to the same octets; on an error the output is untouched. Tried on
 * the input as it is and with Control, length, MAC and CRC corrected.
 */
#include "esp_query.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

static void try(const uint8_t *octets, size_t len, const uint8_t *key)
{
    struct leat_esp_management m, pattern;
    uint8_t back[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t back_len = 0, fault_at = 0;

    memset(&m, 0xa5, sizeof m);
    memset(&pattern, 0xa5, sizeof pattern);
    if (leat_esp_management_decode(octets, len, key, &m, &fault_at) != LEAT_ERR_OK) {
        if (fault_at > len || memcmp(&m, &pattern, sizeof m) != 0) abort();
        return;
    }
    if (leat_esp_management_encode(&m, key, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != leat_esp_management_len(octets, len) || back_len > len) abort();
    if (memcmp(back, octets, back_len) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t key[LEAT_ESP_KEY_LEN] = { 1, 2, 3 };
    uint8_t mended[LEAT_ESP_MANAGEMENT_LEN_MAX];
    try(data, len, NULL);
    if (len < LEAT_ESP_PACKET_LEN_MIN + LEAT_ESP_MAC_LEN || len > sizeof mended) return 0;
    const size_t operands_len = (len - LEAT_ESP_PACKET_LEN_MIN) / 8 * 8;
    const size_t crc_at = LEAT_ESP_OPERANDS_AT + operands_len;
    memcpy(mended, data, len);
    mended[LEAT_ESP_CONTROL_AT] = 0;
    mended[LEAT_ESP_OPCODE_AT] = (uint8_t)(LEAT_ESP_QUERY + mended[LEAT_ESP_OPCODE_AT] % 7);
    leat_put_be16(mended + LEAT_ESP_LENGTH_AT, (uint16_t)(operands_len / 4));
    leat_put_be64(mended + crc_at - LEAT_ESP_MAC_LEN,
                  leat_esp_management_mac(key, mended, crc_at + LEAT_ESP_CRC_LEN));
    leat_put_be32(mended + crc_at, leat_crc32(0, mended, crc_at));
    try(mended, len, key);
    return 0;
}
