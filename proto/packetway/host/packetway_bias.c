#include "packetway_bias.h"
#include <string.h>

leat_err leat_packetway_block_check(const struct leat_packetway_block *b)
{
    const bool fits = b->count >= 1 && b->bias <= LEAT_PACKETWAY_ADDRESS_MAX &&
                      b->count <= LEAT_PACKETWAY_ADDRESS_MAX - b->bias;
    return fits ? LEAT_ERR_OK : LEAT_ERR_RANGE;
}

/* How many blocks begin at or below the address: only the last of them can contain it. */
static uint32_t count_up_to(const struct leat_packetway_bias_map *map, uint32_t address)
{
    uint32_t low = 0, high = map->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (map->blocks[middle].bias <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t end_of(const struct leat_packetway_block *b)
{
    return b->bias + b->count;
}

leat_err leat_packetway_bias_add(struct leat_packetway_bias_map *map,
                                 const struct leat_packetway_block *block, uint32_t *other)
{
    leat_err err = leat_packetway_block_check(block);
    if (err) return err;
    const uint32_t at = count_up_to(map, block->bias);
    struct leat_packetway_block *place = map->blocks + at;
    uint32_t overlapped = UINT32_MAX;
    if (at > 0 && end_of(place - 1) >= block->bias) overlapped = at - 1;
    if (at < map->count && end_of(block) >= place->bias) overlapped = at;
    if (overlapped != UINT32_MAX) {
        if (other) *other = overlapped;
        return LEAT_ERR_DUPLICATE;
    }
    if (map->count == map->cap) return LEAT_ERR_FULL;
    memmove(place + 1, place, (map->count - at) * sizeof *place);
    *place = *block;
    map->count++;
    return LEAT_ERR_OK;
}

const struct leat_packetway_block *
leat_packetway_bias_find(const struct leat_packetway_bias_map *map, uint32_t address,
                         uint32_t *local)
{
    const uint32_t n = count_up_to(map, address);
    if (n == 0 || address > end_of(&map->blocks[n - 1])) return NULL;
    if (local) *local = address - map->blocks[n - 1].bias;
    return &map->blocks[n - 1];
}
