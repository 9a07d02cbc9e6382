#include "esp_post.h"
#include "esp_node.h"

/* An announcement in a CAST, keyed as if it were sent alone. */
static leat_err wrap(const struct leat_esp_post *post, const uint8_t key[LEAT_ESP_KEY_LEN],
                     struct leat_esp_cast *cast)
{
    struct leat_esp_management inner = { .opcode = LEAT_ESP_ANNOUNCE,
                                         .computationId = post->computation };
    size_t len;
    inner.announce = post->announce;
    *cast = (struct leat_esp_cast){ .group = post->announce.group,
                                    .serial = post->announce.serial,
                                    .hops = post->hops };
    const leat_err err = leat_esp_management_encode(&inner, key, cast->payload,
                                                    sizeof cast->payload, &len);
    if (!err) cast->payload_len = (uint16_t)len;
    return err;
}

leat_err leat_esp_post_encode(const struct leat_esp_post *post, const uint8_t key[LEAT_ESP_KEY_LEN],
                              uint8_t *buf, size_t cap, size_t *len)
{
    struct leat_esp_management m = { .opcode = post->opcode, .computationId = post->computation };
    struct leat_esp_packet packet;
    leat_err err = LEAT_ERR_OK;
    switch (post->opcode) {
    case LEAT_ESP_QUERY: m.query = post->query; break;
    case LEAT_ESP_JOIN: m.join = post->join; break;
    case LEAT_ESP_WELCOME: m.welcome = post->welcome; break;
    case LEAT_ESP_ANNOUNCE: m.announce = post->announce; break;
    case LEAT_ESP_INSTALL: m.install = post->install; break;
    case LEAT_ESP_INSTALLED: m.installed = post->installed; break;
    case LEAT_ESP_CAST: err = wrap(post, key, &m.cast); break;
    default:
        leat_esp_words_back(&post->words, &packet);
        return leat_esp_packet_encode(&packet, buf, cap, len);
    }
    return err ? err : leat_esp_management_encode(&m, key, buf, cap, len);
}
