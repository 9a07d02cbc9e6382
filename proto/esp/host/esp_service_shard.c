/*
 * Shards: a group of a store has no room for all children of a busy router, so the members are
 * divided among several computations, which are in different groups.
 */
#include "esp_limits.h"
#include "esp_service_parts.h"

uint32_t leat_esp_service_shards_max(uint32_t members)
{
    return (members + LEAT_ESP_SHARD_MEMBERS - 1) / LEAT_ESP_SHARD_MEMBERS;
}

/* Bindings of a failed attempt take room until they expire: few attempts must be enough. */
uint32_t leat_esp_service_more_shards(const struct leat_esp_service *s)
{
    const uint32_t most = leat_esp_service_shards_max(s->result.members);
    return 4 * s->shards > most ? most : 4 * s->shards > most / 4 ? 4 * s->shards : most / 4;
}

/*
 * The computation IDs of an attempt. Those of several shards follow one another in their upper 32
 * bits, which a key leaves as they are: so the computation of a packet is found at once.
 */
static void draw_computations(struct leat_esp_service *s)
{
    const uint8_t *key = s->config.computation_key;
    uint64_t number = 0;
    for (uint32_t i = 0; i < s->computings; i++) {
        if (!i || s->shards == 1)
            number = leat_random_next(&s->random);
        else
            number += UINT64_C(1) << 32;
        s->computing[i].computation =
            key ? leat_esp_computation_keyed(key, (uint32_t)(number >> 32)) : number;
    }
}

struct leat_esp_computing *leat_esp_service_computing(struct leat_esp_service *s,
                                                      uint64_t computation)
{
    const uint32_t first = (uint32_t)(s->computing[0].computation >> 32);
    const uint32_t place = (uint32_t)(computation >> 32) - first;
    for (uint32_t i = 0; s->shards == 1 && i < s->computings; i++)
        if (s->computing[i].computation == computation) return &s->computing[i];
    if (s->shards == 1 || place >= s->computings || s->computing[place].computation != computation)
        return NULL;
    return &s->computing[place];
}

uint32_t leat_esp_service_shard(const struct leat_esp_service *s, uint32_t member)
{
    return s->shards == 1 ? 0 : (uint32_t)(leat_esp_mix64(s->first_serial, member) % s->shards);
}

void leat_esp_service_deal(struct leat_esp_service *s)
{
    draw_computations(s);
    if (s->shards == 1) s->computing[0].members = s->result.members;
    for (uint32_t m = 0; s->shards > 1 && m < s->result.members; m++)
        s->computing[leat_esp_service_shard(s, m) * s->parts].members++;
    s->missing = 0;
    for (uint32_t shard = 0; shard < s->shards; shard++)
        if (s->computing[shard * s->parts].members) s->missing += s->parts;
}
