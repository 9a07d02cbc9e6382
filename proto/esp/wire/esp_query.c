#include "esp_query.h"
#include "esp_text_parts.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/crc.h>
#include <string.h>

enum { HOPS_AT = LEAT_ESP_OPERANDS_AT + 16 };

static bool is_management(unsigned opcode)
{
    return opcode >= LEAT_ESP_QUERY && opcode < LEAT_ESP_MANAGEMENT_END;
}

/* Every operand list consists of whole 64-bit words; the MAC is the last. */
static bool length_is_possible(unsigned words)
{
    return words >= LEAT_ESP_MANAGEMENT_WORDS_MIN && words <= LEAT_ESP_MANAGEMENT_WORDS_MAX &&
           words % 2 == 0;
}

size_t leat_esp_management_len(const uint8_t *buf, size_t len)
{
    if (len < LEAT_ESP_OPERANDS_AT || !is_management(buf[LEAT_ESP_OPCODE_AT])) return 0;
    const unsigned words = leat_get_be16(buf + LEAT_ESP_LENGTH_AT);
    return length_is_possible(words) ? LEAT_ESP_PACKET_LEN_MIN + 4 * (size_t)words : 0;
}

uint64_t leat_esp_management_mac(const uint8_t key[LEAT_ESP_KEY_LEN], const uint8_t *buf,
                                 size_t len)
{
    const size_t mac_at = len - LEAT_ESP_CRC_LEN - LEAT_ESP_MAC_LEN;
    const bool cast = buf[LEAT_ESP_OPCODE_AT] == LEAT_ESP_CAST;
    struct leat_sip s;
    leat_sip_start(&s, key);
    size_t at = 0;
    for (; mac_at - at >= 8; at += 8) {
        uint64_t eight = leat_get_le64(buf + at);
        if (cast && at + 8 > HOPS_AT && at <= HOPS_AT)
            eight &= ~(UINT64_C(0xff) << 8 * (HOPS_AT - at));
        leat_sip_word(&s, eight);
    }
    return leat_sip_rest(&s, buf, at, mac_at);
}

void leat_esp_key_of_group(const uint8_t key[LEAT_ESP_KEY_LEN], uint64_t group,
                           uint8_t out[LEAT_ESP_KEY_LEN])
{
    struct leat_sip s;
    for (unsigned half_of_it = 0; half_of_it < 2; half_of_it++) {
        leat_sip_start(&s, key);
        leat_sip_word(&s, group);
        leat_put_le64(out + 8 * half_of_it, leat_sip_finish(&s, half_of_it, 9));
    }
}

/* The header, CRC and MAC of a packet; *packet_len is its length. */
static leat_err check(const uint8_t *buf, size_t len, const uint8_t *key, size_t *packet_len,
                      size_t *fault_at)
{
    if (len < LEAT_ESP_PACKET_LEN_MIN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (!is_management(buf[LEAT_ESP_OPCODE_AT]))
        return leat_fault(LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT, fault_at);
    if (buf[LEAT_ESP_CONTROL_AT] != 0)
        return leat_fault(LEAT_ERR_RESERVED, LEAT_ESP_CONTROL_AT, fault_at);
    *packet_len = leat_esp_management_len(buf, len);
    if (!*packet_len) return leat_fault(LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT, fault_at);
    if (len < *packet_len) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    const size_t crc_at = *packet_len - LEAT_ESP_CRC_LEN, mac_at = crc_at - LEAT_ESP_MAC_LEN;
    if (leat_crc32(0, buf, crc_at) != leat_get_be32(buf + crc_at))
        return leat_fault(LEAT_ERR_CHECKSUM, crc_at, fault_at);
    if (key && leat_esp_management_mac(key, buf, *packet_len) != leat_get_be64(buf + mac_at))
        return leat_fault(LEAT_ERR_CHECKSUM, mac_at, fault_at);
    return LEAT_ERR_OK;
}

leat_err leat_esp_management_decode(const uint8_t *buf, size_t len,
                                    const uint8_t key[LEAT_ESP_KEY_LEN],
                                    struct leat_esp_management *out, size_t *fault_at)
{
    size_t packet_len;
    const leat_err err = check(buf, len, key, &packet_len, fault_at);
    if (err) return err;
    struct leat_esp_walk w = { .from = buf,
                               .at = LEAT_ESP_OPERANDS_AT,
                               .end = packet_len - LEAT_ESP_CRC_LEN - LEAT_ESP_MAC_LEN };
    struct leat_esp_management m = { .opcode = buf[LEAT_ESP_OPCODE_AT],
                                     .computationId = leat_get_be64(buf + LEAT_ESP_COMPUTATION_AT),
                                     .mac = leat_get_be64(buf + w.end) };
    leat_esp_management_walk(&w, &m);
    if (w.err) return leat_fault(w.err, w.fault_at, fault_at);
    if (w.at != w.end) return leat_fault(LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT, fault_at);
    *out = m;
    return LEAT_ERR_OK;
}

leat_err leat_esp_management_encode(const struct leat_esp_management *m,
                                    const uint8_t key[LEAT_ESP_KEY_LEN], uint8_t *buf, size_t cap,
                                    size_t *len)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    struct leat_esp_management copy = *m;
    struct leat_esp_walk w = { .to = octets, .at = LEAT_ESP_OPERANDS_AT, .end = sizeof octets };
    if (!is_management(m->opcode)) return LEAT_ERR_TYPE;
    leat_esp_management_walk(&w, &copy);
    if (w.err) return w.err;

    const size_t mac_at = w.at, crc_at = mac_at + LEAT_ESP_MAC_LEN;
    const size_t packet_len = crc_at + LEAT_ESP_CRC_LEN;
    if (cap < packet_len) return LEAT_ERR_SPACE;
    octets[LEAT_ESP_CONTROL_AT] = 0;
    octets[LEAT_ESP_OPCODE_AT] = m->opcode;
    leat_put_be16(octets + LEAT_ESP_LENGTH_AT, (uint16_t)((crc_at - LEAT_ESP_OPERANDS_AT) / 4));
    leat_put_be64(octets + LEAT_ESP_COMPUTATION_AT, m->computationId);
    leat_put_be64(octets + mac_at, key ? leat_esp_management_mac(key, octets, packet_len) : m->mac);
    leat_put_be32(octets + crc_at, leat_crc32(0, octets, crc_at));
    memcpy(buf, octets, packet_len);
    if (len) *len = packet_len;
    return LEAT_ERR_OK;
}
