/*
 * Texts to all members, through the duplicates that the engine has installed (esp_service.h,
 * MULTICAST): one packet to each point next to the root. Members among these, and those that joined
 * later, receive it directly, without copies (hops 0).
 */
#include "esp_driver.h"
#include "esp_host.h"
#include "esp_service_parts.h"
#include <string.h>

static bool send_to(struct leat_esp_host_root *r, struct leat_esp_management *m,
                    const struct leat_esp_next *to, bool copied)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len;
    m->cast.hops = copied ? LEAT_ESP_CAST_HOPS : 0;
    return !leat_esp_management_encode(m, esp_socket_key(&r->socket, m->opcode), octets,
                                       sizeof octets, &len) &&
           esp_socket_send(&r->socket, to, octets, len);
}

/* To the next points of the root, and to members that no duplicate serves. */
static bool send_all(struct leat_esp_host_root *r, struct leat_esp_management *m, uint32_t *packets)
{
    const struct leat_esp_service *s = &r->engine;
    const struct leat_esp_map *map = &s->map;
    const bool installed = leat_esp_service_can_cast(s, esp_socket_now());
    const uint32_t first = installed ? map->point_first[0] : 0;
    const uint32_t end = installed ? map->point_first[1] : 0;
    for (uint32_t i = first; i < end; i++, ++*packets) {
        const uint32_t point = map->point[i];
        const bool is_node = point < map->nodes;
        const struct leat_esp_next *to = is_node ? &map->node[point].address
                                                 : &s->roster.entry[point - map->nodes].address;
        if (!send_to(r, m, to, is_node)) return false;
    }
    for (uint32_t i = installed ? s->cast_members : 0; i < s->roster.count; i++, ++*packets)
        if (!send_to(r, m, &s->roster.entry[i].address, false)) return false;
    return true;
}

enum leat_esp_host_end leat_esp_host_root_cast(struct leat_esp_host_root *r, const uint8_t *text,
                                               uint16_t len, uint32_t *packets, char *why)
{
    static struct leat_esp_management m;
    *why = 0;
    *packets = 0;
    if (len > LEAT_ESP_PAYLOAD_LEN_MAX) {
        live_because(why, "a text of %u octets, expected at most %d", len,
                     LEAT_ESP_PAYLOAD_LEN_MAX);
        return LEAT_ESP_HOST_WRONG;
    }
    m = (struct leat_esp_management){ .opcode = LEAT_ESP_CAST };
    m.cast.group = r->engine.config.group;
    m.cast.serial = ++r->engine.serial;
    m.cast.payload_len = len;
    memcpy(m.cast.payload, text, len);
    if (send_all(r, &m, packets)) return LEAT_ESP_HOST_OK;
    live_because(why, "a packet cannot be sent");
    return LEAT_ESP_HOST_FAILED;
}
