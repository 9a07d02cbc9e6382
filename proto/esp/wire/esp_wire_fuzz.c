/*
 * Whatever decodes encodes back to the same octets; where the reserved bit was set, to a packet of
 * the same meaning. Tried on the input as it is and with its length and CRC corrected.
 */
#include "leat_bytes.h"
#include <leat/crc.h>
#include <leat/esp.h>
#include <stdlib.h>
#include <string.h>

static void try(const uint8_t *octets, size_t len)
{
    struct leat_esp_packet p, again, pattern;
    uint8_t back[LEAT_ESP_PACKET_LEN_MAX];
    size_t back_len = 0, fault_at = 0;

    memset(&p, 0xa5, sizeof p);
    memset(&pattern, 0xa5, sizeof pattern);
    if (leat_esp_packet_decode(octets, len, &p, &fault_at) != LEAT_ERR_OK) {
        if (fault_at > len || memcmp(&p, &pattern, sizeof p) != 0) abort();
        return;
    }
    if (leat_esp_packet_encode(&p, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != leat_esp_packet_len(p.opcode) || back_len > len) abort();
    if (!(octets[LEAT_ESP_CONTROL_AT] & 0x10)) {
        if (memcmp(back, octets, back_len) != 0) abort();
        return;
    }
    if (leat_esp_packet_decode(back, back_len, &again, NULL) != LEAT_ERR_OK) abort();
    uint8_t twice[LEAT_ESP_PACKET_LEN_MAX];
    if (leat_esp_packet_encode(&again, twice, sizeof twice, NULL) != LEAT_ERR_OK) abort();
    if (memcmp(back, twice, back_len) != 0) abort();
    if (memcmp(back + 1, octets + 1, back_len - 1 - LEAT_ESP_CRC_LEN) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t mended[LEAT_ESP_PACKET_LEN_MAX];
    try(data, len);
    if (len < LEAT_ESP_PACKET_LEN_MIN || len > sizeof mended) return 0;
    memcpy(mended, data, len);
    const size_t own_len = leat_esp_packet_len(mended[LEAT_ESP_OPCODE_AT]);
    if (!own_len || own_len > len) return 0;
    const size_t crc_at = own_len - LEAT_ESP_CRC_LEN;
    leat_put_be16(mended + LEAT_ESP_LENGTH_AT, (uint16_t)((crc_at - LEAT_ESP_OPERANDS_AT) / 4));
    leat_put_be32(mended + crc_at, leat_crc32(0, mended, crc_at));
    try(mended, len);
    return 0;
}
