#include "graph_parts.h"
#include <stdlib.h>

bool leat_graph_grow(void **list, uint32_t count, uint32_t *cap, size_t size, uint32_t limit)
{
    if (count >= limit) return false;
    if (count < *cap) return true;
    const uint32_t wanted = *cap ? *cap + *cap / 2 + 1 : 8;
    void *grown = realloc(*list, wanted * size);
    if (!grown) return false;
    *list = grown;
    *cap = wanted;
    return true;
}
