/* Packets of one's own over a socket: any instruction out, all instructions in. */
#include "esp_driver.h"
#include "esp_plan.h"
#include "esp_socket.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const leat_time ps_per_ns = 1000, ps_per_ms = 1000000000;

struct leat_esp_host_probe {
    struct esp_socket socket;
    struct esp_letter letter;
    leat_time opened_at;
    uint64_t received, skipped;
};

enum leat_esp_host_end leat_esp_host_probe_open(const struct leat_esp_host_config *config,
                                                struct leat_esp_host_probe **out, char *why)
{
    struct leat_esp_host_probe *p = calloc(1, sizeof *p);
    const struct leat_esp_host_config here = { .bind = config->bind, .any_port = config->any_port };
    *why = 0;
    *out = NULL;
    if (!p) return live_because(why, "no memory"), LEAT_ESP_HOST_FAILED;
    const enum leat_esp_host_end end = esp_socket_open(&p->socket, &here, why);
    p->opened_at = esp_socket_now();
    if (end == LEAT_ESP_HOST_OK)
        *out = p;
    else
        free(p);
    return end;
}

void leat_esp_host_probe_close(struct leat_esp_host_probe *p)
{
    if (!p) return;
    esp_socket_close(&p->socket);
    free(p);
}

/* ---- out ---------------------------------------------------------------------------------- */

static enum leat_esp_host_end send_to(struct leat_esp_host_probe *p, const struct leat_esp_next *to,
                                      const struct leat_esp_packet *packet, char *why)
{
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    size_t len;
    const leat_err err = leat_esp_packet_encode(packet, octets, sizeof octets, &len);
    if (err) return live_because(why, "packet: %s", leat_err_text(err)), LEAT_ESP_HOST_WRONG;
    if (esp_socket_send(&p->socket, to, octets, len)) return LEAT_ESP_HOST_OK;
    return live_because(why, "sending: %s", strerror(errno)), LEAT_ESP_HOST_FAILED;
}

enum leat_esp_host_end leat_esp_host_probe_send(struct leat_esp_host_probe *p, const char *to,
                                                const struct leat_esp_packet *packet, char *why)
{
    struct leat_esp_next place;
    *why = 0;
    if (!esp_socket_address("destination", to, &place, why)) return LEAT_ESP_HOST_WRONG;
    return send_to(p, &place, packet, why);
}

/* ---- in ----------------------------------------------------------------------------------- */

/* "192.0.2.1:4253" or "[2001:db8::1]:4253". */
/* What has come is an instruction: it is sent back if it has R. */
static bool take(struct leat_esp_host_probe *p, struct leat_esp_host_arrival *out)
{
    char ignored[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_packet back;
    uint64_t from[2];
    if (leat_esp_packet_decode(p->letter.octets, p->letter.len, &out->packet, NULL)) {
        p->skipped++;
        return false;
    }
    p->received++;
    out->at_ns = (esp_socket_now() - p->opened_at) / ps_per_ns;
    esp_address_read(p->letter.from.address, from);
    esp_plan_endpoint_text(from, p->letter.from.port, out->from);
    back = out->packet;
    out->is_returned = leat_esp_packet_reflect(&back);
    if (out->is_returned) send_to(p, &p->letter.from, &back, ignored);
    return true;
}

enum leat_esp_host_end leat_esp_host_probe_receive(struct leat_esp_host_probe *p, uint64_t for_ms,
                                                   struct leat_esp_host_arrival *out, char *why)
{
    const leat_time span = for_ms < LEAT_NEVER / ps_per_ms ? for_ms * ps_per_ms : LEAT_NEVER;
    const leat_time until = leat_time_add(esp_socket_now(), span);
    *why = 0;
    for (;;) {
        for (int i = 0; i < ESP_LETTERS_AT_ONCE && esp_socket_receive(&p->socket, &p->letter); i++)
            if (take(p, out)) return LEAT_ESP_HOST_OK;
        if (esp_socket_now() >= until) return LEAT_ESP_HOST_SILENT;
        if (esp_socket_wait(&p->socket, until)) continue;
        live_because(why, "waiting: %s", strerror(errno));
        return LEAT_ESP_HOST_FAILED;
    }
}

void leat_esp_host_probe_counts(const struct leat_esp_host_probe *p,
                                struct leat_esp_host_probe_counts *counts)
{
    *counts = (struct leat_esp_host_probe_counts){ .sent = p->socket.sent,
                                                   .received = p->received,
                                                   .skipped = p->skipped,
                                                   .elapsed_ns = (esp_socket_now() - p->opened_at) /
                                                                 ps_per_ns };
}
