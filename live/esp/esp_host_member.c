/* A member over a socket: the engine of esp_member.h, its packets and its clock. */
#include "esp_driver.h"
#include "esp_host.h"
#include "esp_octets.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const leat_time ps_per_ns = 1000, ps_per_ms = 1000000000;
static const uint64_t join_default_ns = 1000000000;

enum leat_esp_host_end leat_esp_host_member_open(const struct leat_esp_host_config *config,
                                                 struct leat_esp_host_member **out, char *why)
{
    struct leat_esp_host_member *m = calloc(1, sizeof *m);
    *why = 0;
    *out = NULL;
    if (!m) return live_because(why, "no memory"), LEAT_ESP_HOST_FAILED;
    m->socket.fd = -1;
    const uint64_t every_ns = config->join_every_ns ? config->join_every_ns : join_default_ns;
    const struct leat_esp_member_config engine = { .group = config->group,
                                                   .id = esp_socket_draw(),
                                                   .value = config->value,
                                                   .join_every_ps = every_ns * ps_per_ns,
                                                   .is_keyed = config->key != NULL };
    enum leat_esp_host_end end = LEAT_ESP_HOST_WRONG;
    if (esp_socket_address("--root", config->root, &m->root, why) &&
        esp_socket_address("--via", config->via ? config->via : config->root, &m->via, why))
        end = esp_socket_open(&m->socket, config, why);
    if (end == LEAT_ESP_HOST_OK) {
        leat_esp_member_init(&m->engine, &engine, esp_socket_now());
        *out = m;
    } else {
        leat_esp_host_member_close(m);
    }
    return end;
}

void leat_esp_host_member_close(struct leat_esp_host_member *m)
{
    if (!m) return;
    if (m->socket.fd >= 0) {
        struct leat_esp_post post;
        leat_esp_member_leave(&m->engine, &post);
        esp_socket_post(&m->socket, &m->root, &post);
    }
    esp_socket_close(&m->socket);
    free(m);
}

void leat_esp_host_member_set(struct leat_esp_host_member *m, uint64_t value)
{
    m->engine.config.value = value;
}

/* ---- what comes in ------------------------------------------------------------------------ */

/* An instruction that has reached its end: it is sent back if it has R. */
static void on_instruction(struct leat_esp_host_member *m)
{
    struct leat_esp_packet packet;
    struct leat_esp_post post = { 0 };
    if (leat_esp_packet_decode(m->letter.octets, m->letter.len, &packet, NULL)) {
        m->refused++;
        return;
    }
    if (!leat_esp_packet_reflect(&packet)) return;
    post.opcode = packet.opcode;
    post.computation = packet.computationId;
    leat_esp_words_of(&packet, &post.words);
    esp_socket_post(&m->socket, &m->letter.from, &post);
}

/* A cast contains an announcement, or a text for a caller that wants one. */
static bool is_announcement(struct leat_esp_host_member *m, const struct leat_esp_cast *cast)
{
    const size_t len = cast->payload_len;
    if (len <= LEAT_ESP_OPCODE_AT || cast->payload[LEAT_ESP_CONTROL_AT] != 0 ||
        cast->payload[LEAT_ESP_OPCODE_AT] != LEAT_ESP_ANNOUNCE)
        return false;
    m->letter.len = len;
    memcpy(m->letter.octets, cast->payload, len);
    return true;
}

static void on_announce(struct leat_esp_host_member *m)
{
    m->announced += leat_esp_member_announced(&m->engine, esp_socket_now(),
                                              m->message.computationId, &m->message.announce);
}

/* Each once, though copies may arrive by several routes. In a keyed group, a member without a
 * WELCOME cannot know what is new. */
static bool is_past(const struct leat_esp_host_member *m, uint64_t serial)
{
    return serial <= m->last_cast || (m->engine.config.is_keyed && !m->engine.welcomed);
}

static void on_cast(struct leat_esp_host_member *m, const struct leat_esp_cast *cast)
{
    if (is_announcement(m, cast)) {
        if (esp_socket_decode(&m->socket, &m->letter, &m->message))
            on_announce(m);
        else
            m->refused++;
        return;
    }
    if (cast->group != m->engine.config.group || is_past(m, cast->serial)) return;
    m->last_cast = cast->serial;
    m->casts++;
    m->cast_len = cast->payload_len;
    memcpy(m->cast, cast->payload, cast->payload_len);
}

/* A query for the routers of an overlay: they are on the route that this member's packets take. */
static void on_query(struct leat_esp_host_member *m)
{
    const bool overlay = memcmp(&m->via, &m->root, sizeof m->via) != 0;
    const bool roots = memcmp(m->letter.from.address, m->root.address, LEAT_ESP_ADDRESS_LEN) == 0;
    if (overlay && roots) esp_socket_send(&m->socket, &m->via, m->letter.octets, m->letter.len);
}

static void on_welcome(struct leat_esp_host_member *m)
{
    const struct leat_esp_welcome *w = &m->message.welcome;
    const bool is_first = !m->engine.welcomed;
    if (leat_esp_member_welcome(&m->engine, esp_socket_now(), w) && is_first &&
        w->announced > m->last_cast)
        m->last_cast = w->announced;
}

static void on_letter(struct leat_esp_host_member *m)
{
    if (m->letter.len > LEAT_ESP_OPCODE_AT &&
        m->letter.octets[LEAT_ESP_OPCODE_AT] < LEAT_ESP_MANAGEMENT_FIRST) {
        on_instruction(m);
        return;
    }
    if (!esp_socket_decode(&m->socket, &m->letter, &m->message)) {
        m->refused++;
        return;
    }
    if (m->message.opcode == LEAT_ESP_QUERY) on_query(m);
    if (m->message.opcode == LEAT_ESP_ANNOUNCE) on_announce(m);
    if (m->message.opcode == LEAT_ESP_CAST) on_cast(m, &m->message.cast);
    if (m->message.opcode == LEAT_ESP_WELCOME) on_welcome(m);
}

enum leat_esp_host_end leat_esp_host_member_serve(struct leat_esp_host_member *m, uint64_t for_ms,
                                                  char *why)
{
    const leat_time until = esp_socket_now() + for_ms * ps_per_ms;
    const uint64_t casts = m->casts;
    struct leat_esp_post post;
    *why = 0;
    for (;;) {
        for (int i = 0; i < ESP_LETTERS_AT_ONCE && m->casts == casts &&
                        esp_socket_receive(&m->socket, &m->letter);
             i++)
            on_letter(m);
        const leat_time now = esp_socket_now();
        while (leat_esp_member_next(&m->engine, now, &post))
            esp_socket_post(&m->socket,
                            post.opcode < LEAT_ESP_MANAGEMENT_FIRST ? &m->via : &m->root, &post);
        if (now >= until || m->casts != casts) return LEAT_ESP_HOST_OK;
        const leat_time wake = leat_esp_member_wake_at(&m->engine);
        if (!esp_socket_wait(&m->socket, wake < until ? wake : until)) {
            if (errno == EINTR) return LEAT_ESP_HOST_OK;
            live_because(why, "waiting: %s", strerror(errno));
            return LEAT_ESP_HOST_FAILED;
        }
    }
}

void leat_esp_host_member_counts(const struct leat_esp_host_member *m,
                                 struct leat_esp_host_member_counts *counts)
{
    *counts = (struct leat_esp_host_member_counts){ .welcome = m->engine.welcomed_at != LEAT_NEVER,
                                                    .sent = m->socket.sent,
                                                    .received = m->socket.received,
                                                    .announced = m->announced,
                                                    .refused = m->refused + m->engine.refused,
                                                    .casts = m->casts };
}

size_t leat_esp_host_member_cast(const struct leat_esp_host_member *m, const uint8_t **text)
{
    *text = m->cast;
    return m->cast_len;
}
