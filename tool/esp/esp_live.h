/*
 * leat esp on real hosts: verb_esp_live.c has the subcommands of routers, esp_services.c those of
 * end systems; esp_router_show.c shows a router.
 */
#ifndef LEAT_ESP_LIVE_TOOL_H
#define LEAT_ESP_LIVE_TOOL_H

#include "esp_router.h"
#include "tool.h"

#define ESP_ROUTER_WORDS "route stop status store trace"
#define ESP_HOST_WORDS   "join census max min sum average tree multicast"
#define ESP_LIVE_WORDS   ESP_ROUTER_WORDS " " ESP_HOST_WORDS

#define ESP_ROUTER_OPTIONS                                                                         \
    { "--dev", "DEVICE", "route: serve this device; may be given again", true },                   \
        { "--driver", "D", "route: xdp, packet or udp; default: xdp if available" },               \
        { "--capacity", "N",                                                                       \
          "route: bindings of the centre's store, as 64k or 1M; default 256k" },                   \
        { "--port-capacity", "N", "route: ... of each port's stores; default 4k" },                \
        { "--node-id", "ID", "route: of this router alone, not 0; default: drawn by chance" },     \
        { "--next-hop", "[PREFIX=]HOP", "route: ADDRESS[:PORT] or DEVICE,MAC; may be given again", \
          true },                                                                                  \
        { "--listen", "ADDRESS[:PORT]", "route, udp: where packets come in; default any, 4253" },  \
        { "--rate", "N", "route: bindings a second that one source may create; default 100k" },    \
        { "--port-share", "N", "route: live bindings that one port may have; default half" },      \
        { "--keyed-only", NULL, "route: take computations whose ID is made with the key only" },   \
        { "--name", "NAME", "which router, if the host has several" },                             \
        { "--count", "N", "trace: end after so many packets; join: texts" },                       \
    {                                                                                              \
        "--key-file", "FILE", "32 hex digits, mode 600: the network's key"                         \
    }

#define ESP_HOST_OPTIONS                                                                        \
    { "--root", "ADDRESS[:PORT]", "join: of the root" },                                        \
        { "--value", "V", "join: this member's value; default 1" },                             \
        { "--via", "ADDRESS[:PORT]", "join: the first router of an overlay" },                  \
        { "--every", "TIME", "join: interval of announcements to the root; default 1s" },       \
        { "--for", "TIME", "join: end after it; multicast: until copies end, default 1m" },     \
        { "--bind", "ADDRESS[:PORT]", "join, services: of this host; default any, port 4253" }, \
        { "--wait", "TIME", "services: for members to join, --members at most; default 3s" },   \
        { "--robust", "K", "census, sum, average: exact under loss, by K rounds of RCOLLECT" }, \
        { "--settle", "TIME", "services: maximum one-way delay of a packet; default 100ms" },   \
    {                                                                                           \
        "--signed", NULL, "services: values are signed"                                         \
    }

int esp_route(const struct arguments *args);
int esp_stop(const struct arguments *args);
int esp_status(const struct arguments *args);
int esp_store(const struct arguments *args);
int esp_trace(const struct arguments *args);

int esp_join(const struct arguments *args);
int esp_service(const struct arguments *args); /* census, max, min, sum, average, tree */
int esp_multicast(const struct arguments *args);

/* --key-file into key; NULL if absent. False after a complaint. */
bool esp_read_key(const struct arguments *args, uint8_t key[LEAT_ESP_KEY_LEN],
                  const uint8_t **used);

/* ---- showing a router (esp_router_show.c) --------------------------------------------------- */

const char *esp_driver_name(uint32_t driver);

/* False after a complaint. */
bool esp_show_status(struct leat_esp_router *router, bool json);
bool esp_show_bindings(struct leat_esp_router *router, uint64_t computation, bool json);
void esp_show_sight(const struct esp_config *config, const struct esp_sight *sight, bool json);

#endif
