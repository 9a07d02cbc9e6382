#include "atm_route.h"
#include <assert.h>
#include <string.h>

void leat_atm_route_pack(const struct leat_atm_route *route, uint32_t fan_out, uint8_t *entry)
{
    assert(fan_out >= 1 && fan_out <= LEAT_ATM_ROUTE_VP_FAN_OUT_MAX);
    assert(route->select >> fan_out == 0 && route->label >> LEAT_ATM_ROUTE_VPI_BITS == 0);
    const size_t len = leat_atm_route_entry_len(fan_out);
    memset(entry, 0, len);
    /* Bit 0 is the lowest of the last octet. */
    for (uint32_t u = 0; u < fan_out; u++) {
        if (!(route->select >> u & 1)) continue;
        entry[len - 1 - u / 8] |= (uint8_t)(1u << u % 8);
        for (uint32_t i = 0; i < LEAT_ATM_ROUTE_VPI_BITS; i++) {
            const uint32_t bit = fan_out + LEAT_ATM_ROUTE_VPI_BITS * u + i;
            entry[len - 1 - bit / 8] |= (uint8_t)((route->label >> i & 1u) << bit % 8);
        }
    }
}
