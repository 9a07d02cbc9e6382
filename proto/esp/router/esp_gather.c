#include "esp_gather.h"
#include <assert.h>
#include <string.h>

enum { TOTAL_TAG = 1, GROUP_TAGS = 2 }; /* those of groups: their serial number, from this one on */

static const uint8_t fold_of[LEAT_PORT_FOLDS] = {
    [LEAT_PORT_SUM] = LEAT_ESP_FOLD_ADD, [LEAT_PORT_AND] = LEAT_ESP_FOLD_AND,
    [LEAT_PORT_OR] = LEAT_ESP_FOLD_OR,   [LEAT_PORT_XOR] = LEAT_ESP_FOLD_XOR,
    [LEAT_PORT_MAX] = LEAT_ESP_FOLD_MAX, [LEAT_PORT_MIN] = LEAT_ESP_FOLD_MIN,
};

/* What changes no value when it is folded into it. */
static uint64_t identity_of(enum leat_port_fold fold)
{
    return fold == LEAT_PORT_AND || fold == LEAT_PORT_MIN ? UINT64_MAX : 0;
}

struct leat_esp_packet leat_esp_gather_packet(const struct leat_esp_gather *group,
                                              enum leat_port_fold fold, uint32_t word,
                                              uint64_t value)
{
    const uint64_t place = (uint64_t)(identity_of(fold) & 1) << 32 | word;
    const uint64_t epoch = leat_esp_mix64(group->serial, group->epoch);
    return (struct leat_esp_packet){ .flags = LEAT_ESP_FLAG_X,
                                     .opcode = LEAT_ESP_COLLECT,
                                     .op = fold_of[fold],
                                     .computationId = leat_esp_mix64(epoch, place),
                                     .compValTag = TOTAL_TAG,
                                     .val = value,
                                     .chldCntTag = group->serial + GROUP_TAGS };
}

/* A COMPARE with this tag of the same computation: put(tag, value) if op(stored, value), or if it
 * is unbound. False: it was aborted. */
static bool compare(struct leat_esp_store *store, leat_time clock,
                    const struct leat_esp_packet *collect, uint64_t tag, uint64_t value,
                    enum leat_esp_compare op)
{
    struct leat_esp_packet packet = { .flags = LEAT_ESP_FLAG_X,
                                      .opcode = LEAT_ESP_COMPARE,
                                      .op = (uint32_t)op,
                                      .computationId = collect->computationId,
                                      .compValTag = tag,
                                      .pktVal = value };
    leat_esp_store_visit(store, clock, &packet);
    return !(packet.flags & LEAT_ESP_FLAG_E);
}

/* A count is never above the installed one, so GT binds it only if it is unbound; 0 is below it, so
 * LT sets it again. The comparisons with the total are always true. */
uint32_t leat_esp_gather_collect(struct leat_esp_store *store, leat_time clock,
                                 const struct leat_esp_gather *group, enum leat_port_fold fold,
                                 uint32_t word, uint64_t *value)
{
    struct leat_esp_packet c = leat_esp_gather_packet(group, fold, word, *value);
    const uint64_t total = c.compValTag, count = c.chldCntTag, identity = identity_of(fold);
    if (!compare(store, clock, &c, count, group->children, LEAT_ESP_COMPARE_GT))
        return LEAT_ESP_FULL;
    const struct leat_esp_outcome outcome = leat_esp_store_visit(store, clock, &c);
    if (outcome.verdict != LEAT_ESP_PASS) return outcome.verdict;
    *value = c.val;
    compare(store, clock, &c, count, group->children, LEAT_ESP_COMPARE_LT);
    compare(store, clock, &c, total, identity,
            identity ? LEAT_ESP_COMPARE_LE : LEAT_ESP_COMPARE_GE);
    return LEAT_ESP_PASS;
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
