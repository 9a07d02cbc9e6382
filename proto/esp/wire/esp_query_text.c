#include "esp_text.h"
#include "esp_text_parts.h"
#include "leat_bytes.h"
#include <string.h>

/* clang-format off */
#define NAME(value, name, text) { value, text },

const struct leat_name leat_esp_service_names[] = { LEAT_ESP_SERVICE_LIST(NAME) { 0, NULL } };
const struct leat_name leat_esp_value_names[] = { LEAT_ESP_VALUE_LIST(NAME) { 0, NULL } };
const struct leat_name leat_esp_result_names[] = { LEAT_ESP_RESULT_LIST(NAME) { 0, NULL } };
/* clang-format on */

static void walk(struct leat_fields *f, struct leat_esp_management *m, unsigned words, uint32_t crc)
{
    struct leat_esp_walk w = { .text = f, .at = LEAT_ESP_OPERANDS_AT };
    if (!leat_fields_reading(f)) leat_esp_opcode_walk(f, LEAT_ESP_OPCODE_AT, m->opcode, true);
    leat_fields_derived(f, "length", LEAT_ESP_LENGTH_AT, 16, words);
    m->computationId = leat_fields_hex(f, "computationId", LEAT_ESP_COMPUTATION_AT, 64,
                                       m->computationId);
    leat_esp_management_walk(&w, m);
    m->mac = leat_fields_hex(f, "mac", w.at, 64, m->mac);
    leat_fields_checksum(f, "crc", w.at + LEAT_ESP_MAC_LEN, 32, crc);
}

leat_err leat_esp_management_show(const uint8_t *octets, size_t len, struct leat_fields *f,
                                  size_t *fault_at)
{
    struct leat_esp_management m;
    const leat_err err = leat_esp_management_decode(octets, len, NULL, &m, fault_at);
    if (err) return err;
    const size_t crc_at = leat_esp_management_len(octets, len) - LEAT_ESP_CRC_LEN;
    walk(f, &m, leat_get_be16(octets + LEAT_ESP_LENGTH_AT), leat_get_be32(octets + crc_at));
    return LEAT_ERR_OK;
}

/* Defaults: 1 for numbers that distinguish things, the centre, ten seconds. */
static struct leat_esp_management preset(unsigned opcode)
{
    struct leat_esp_management m = { .opcode = (uint8_t)opcode, .computationId = 1 };
    switch ((enum leat_esp_management_opcode)opcode) {
    case LEAT_ESP_QUERY:
        m.query = (struct leat_esp_query){ .nonce = 1, .store = LEAT_ESP_LOC_CENTRE };
        break;
    case LEAT_ESP_REPLY:
        m.reply = (struct leat_esp_reply){
            .node = 1, .nonce = 1, .store = LEAT_ESP_LOC_CENTRE, .tau = UINT64_C(10000000000)
        };
        break;
    case LEAT_ESP_JOIN:
        m.join =
            (struct leat_esp_join){ .group = 1, .member = 1, .serial = 1, .lifetime_ms = 10000 };
        break;
    case LEAT_ESP_ANNOUNCE:
        m.announce = (struct leat_esp_announce){
            .group = 1, .serial = 1, .rounds = 1, .task = { .opcode = LEAT_ESP_NOP }
        };
        break;
    case LEAT_ESP_INSTALL:
        m.install = (struct leat_esp_install){ .group = 1, .serial = 1, .lifetime_ms = 10000 };
        break;
    case LEAT_ESP_INSTALLED:
        m.installed = (struct leat_esp_installed){ .group = 1, .node = 1, .serial = 1 };
        break;
    case LEAT_ESP_CAST:
        m.cast = (struct leat_esp_cast){ .group = 1, .serial = 1, .hops = 8 };
        break;
    case LEAT_ESP_WELCOME:
        m.welcome = (struct leat_esp_welcome){ .group = 1, .member = 1, .serial = 1 };
        break;
    case LEAT_ESP_MANAGEMENT_END: break;
    }
    return m;
}

leat_err leat_esp_management_build(struct leat_fields *f, unsigned opcode, uint8_t *octets,
                                   size_t cap, size_t *len)
{
    struct leat_esp_management m = preset(opcode);
    if (opcode == LEAT_ESP_ANNOUNCE && leat_fields_has(f, "task"))
        m.announce.task = leat_esp_preset;
    walk(f, &m, 0, 0);
    if (f->err) return f->err;
    return leat_esp_management_encode(&m, NULL, octets, cap, len);
}
