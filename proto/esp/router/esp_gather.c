#include "esp_gather.h"
#include <assert.h>
#include <string.h>

enum { TOTAL_TAG = 1, GROUP_TAGS = 2 }; /* those of groups: their serial number, from this one on */

static const uint8_t fold_of[LEAT_PORT_FOLDS] = {
    [LEAT_PORT_SUM] = LEAT_ESP_FOLD_ADD, [LEAT_PORT_AND] = LEAT_ESP_FOLD_AND,
    [LEAT_PORT_OR] = LEAT_ESP_FOLD_OR,   [LEAT_PORT_XOR] = LEAT_ESP_FOLD_XOR,
    [LEAT_PORT_MAX] = LEAT_ESP_FOLD_MAX, [LEAT_PORT_MIN] = LEAT_ESP_FOLD_MIN,
};

enum leat_esp_fold leat_esp_gather_fold(enum leat_port_fold fold)
{
    return (enum leat_esp_fold)fold_of[fold];
}

struct leat_esp_packet leat_esp_gather_packet(const struct leat_esp_gather *group,
                                              enum leat_port_fold fold, uint32_t word,
                                              uint64_t value)
{
    const uint64_t place = (leat_esp_identity(fold_of[fold]) & 1) << 32 | word;
    const uint64_t epoch = leat_esp_mix64(group->serial, group->epoch);
    return (struct leat_esp_packet){ .flags = LEAT_ESP_FLAG_X,
                                     .opcode = LEAT_ESP_COLLECT,
                                     .op = fold_of[fold],
                                     .computationId = leat_esp_mix64(epoch, place),
                                     .compValTag = TOTAL_TAG,
                                     .val = value,
                                     .chldCntTag = group->serial + GROUP_TAGS };
}

uint32_t leat_esp_gather_collect(struct leat_esp_store *store, leat_time clock,
                                 const struct leat_esp_gather *group, enum leat_port_fold fold,
                                 uint32_t word, uint64_t *value)
{
    struct leat_esp_packet c = leat_esp_gather_packet(group, fold, word, *value);
    struct leat_esp_words w;
    leat_esp_words_of(&c, &w);
    w.installed = (uint16_t)group->children;
    w.parent = c.chldCntTag;
    const struct leat_esp_outcome outcome = leat_esp_store_execute(store, clock, &w);
    leat_esp_words_back(&w, &c);
    if (outcome.verdict == LEAT_ESP_PASS) *value = c.val;
    return outcome.verdict;
}

size_t leat_esp_gather_cast(const struct leat_esp_gather *group, uint64_t computation,
                            uint64_t operation, uint32_t index, const void *payload, size_t len,
                            uint8_t out[LEAT_ESP_GATHER_CAST_MAX])
{
    struct leat_esp_management m = {
        .opcode = LEAT_ESP_CAST,
        .computationId = computation,
        .cast = { .group = group->serial + GROUP_TAGS,
                  .serial = operation << 32 | index,
                  .hops = UINT8_MAX,
                  .payload_len = (uint16_t)len },
    };
    size_t written = 0;
    assert(len <= sizeof m.cast.payload);
    if (len) memcpy(m.cast.payload, payload, len);
    const leat_err err = leat_esp_management_encode(&m, NULL, out, LEAT_ESP_GATHER_CAST_MAX,
                                                    &written);
    assert(!err);
    return err ? 0 : written;
}

size_t leat_esp_cast_len(uint64_t payload)
{
    const size_t words = 8 + 2 * (size_t)((payload + 7) / 8);
    return LEAT_ESP_PACKET_LEN_MIN + 4 * words;
}
