/* How hosts become a group: the root learns who they are and which routers are between them, and
 * installs the group there. */
#include "esp_team.h"
#include "esp_driver.h"
#include "esp_plan.h"
#include "esp_service_parts.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETTLE_MS = 10,
    SETTLE_MS_MAX = 1250,
    MAP_MS = 2000,     /* for a map of the routers, at most, and more for many hosts; */
    MAP_HOST_MS = 4,   /* ... for each; */
    MAP_SETTLES = 7,   /* ... and at least so many times that settling takes; */
    MAP_MS_MAX = 9000, /* bindings live longer */
    SILENCE_MS = 800,  /* ... if none of them answers: there are none with this key */
    ROUNDS = 4,
    LIFETIME_MS = LEAT_ESP_DUPLICATE_MS_MAX, /* in the routers; it is renewed */
    READY_COPIES = 3,
    JOIN_MS = 500, /* between two JOINs of a host; after three the root forgets it */
};

static const leat_time ps_per_ms = 1000000000;

/* ---- this host ------------------------------------------------------------------------------- */

static bool address_of(const struct sockaddr *from, uint64_t address[2])
{
    char text[INET6_ADDRSTRLEN];
    const void *octets = from->sa_family == AF_INET
                             ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
                             : (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr;
    if (from->sa_family != AF_INET && from->sa_family != AF_INET6) return false;
    return inet_ntop(from->sa_family, octets, text, sizeof text) && esp_plan_address(text, address);
}

static bool find_address(const char *network, uint8_t out[LEAT_ESP_TEAM_ADDRESS_LEN], char *why)
{
    uint64_t prefix[2], mask[2], address[2];
    struct ifaddrs *all = NULL;
    bool is_found = false;
    if (!network || !esp_plan_prefix(network, prefix, mask))
        return live_because(why, "network '%.60s', expected ADDRESS/BITS", network ? network : "");
    if (getifaddrs(&all)) return live_because(why, "the addresses of this host cannot be read");
    for (const struct ifaddrs *i = all; i && !is_found; i = i->ifa_next) {
        if (!i->ifa_addr || !address_of(i->ifa_addr, address)) continue;
        is_found = (((address[0] & mask[0]) ^ prefix[0]) | ((address[1] & mask[1]) ^ prefix[1])) ==
                   0;
    }
    freeifaddrs(all);
    if (!is_found) return live_because(why, "this host has no address in %.60s", network);
    esp_address_write(address, out);
    return true;
}

static void endpoint(const uint8_t octets[LEAT_ESP_TEAM_ADDRESS_LEN],
                     char text[ESP_ENDPOINT_TEXT_LEN])
{
    uint64_t address[2];
    esp_address_read(octets, address);
    esp_plan_endpoint_text(address, LEAT_ESP_UDP_PORT, text);
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_root(struct leat_esp_team *g, struct leat_esp_team_seat *seat, char *why)
{
    char at[ESP_ENDPOINT_TEXT_LEN];
    endpoint(seat->address, at);
    const struct leat_esp_host_config config = { .group = g->id,
                                                 .bind = at,
                                                 .key = g->keys.key[0],
                                                 .other_key = leat_keys_other(&g->keys),
                                                 .tau_ns = MAP_MS * UINT64_C(1000000) };
    seat->can_lead = leat_esp_host_root_open(&config, &g->root, why) == LEAT_ESP_HOST_OK;
    return seat->can_lead;
}

enum leat_esp_host_end leat_esp_team_open(const char *network, const char *key_file,
                                          struct leat_esp_team **out,
                                          struct leat_esp_team_seat *seat, char *why)
{
    char taken[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_team *g = calloc(1, sizeof *g);
    *out = NULL;
    *seat = (struct leat_esp_team_seat){ .can_lead = false };
    *why = 0;
    if (!g) return live_because(why, "no memory"), LEAT_ESP_HOST_FAILED;
    if (!find_address(network, seat->address, why) || !live_key_read(key_file, &g->keys, why)) {
        leat_esp_team_close(g);
        return LEAT_ESP_HOST_WRONG;
    }
    seat->id = g->id = esp_socket_draw();
    open_root(g, seat, taken); /* it is taken: another host may lead */
    *out = g;
    return LEAT_ESP_HOST_OK;
}

void leat_esp_team_close(struct leat_esp_team *g)
{
    if (!g) return;
    struct leat_esp_post post;
    if (g->root && g->children) {
        leat_esp_service_renew(&g->root->engine, esp_socket_now(), 0);
        while (leat_esp_service_install(&g->root->engine, &post))
            esp_socket_post(&g->root->socket, &post.to, &post);
    }
    leat_esp_host_root_close(g->root);
    leat_esp_host_member_close(g->member);
    explicit_bzero(&g->keys, sizeof g->keys);
    free(g);
}

/* ---- the root -------------------------------------------------------------------------------- */

static void begin(struct leat_esp_team *g, uint64_t patience_us)
{
    g->patience_ns = patience_us * 1000;
    g->epoch_ns = live_now_ns(CLOCK_MONOTONIC);
    g->renew_ns = g->epoch_ns + UINT64_C(1000000) * LIFETIME_MS / 2;
}

/* To a host: the tree is installed, and which node is above it. */
static void say_ready(struct leat_esp_team *g, uint32_t member)
{
    const struct leat_esp_map *map = leat_esp_host_root_map(g->root);
    const struct leat_esp_roster_entry *entry = &g->root->engine.roster.entry[member];
    const uint32_t parent = leat_esp_map_parent(map, entry->id);
    struct leat_esp_management m = { .opcode = LEAT_ESP_CAST };
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len = 0;
    m.cast = (struct leat_esp_cast){ .group = g->id,
                                     .serial = ++g->root->engine.serial,
                                     .payload_len = LEAT_ESP_OPERAND_LEN };
    leat_put_be64(m.cast.payload, leat_esp_children_tag(g->id, map->node[parent].id));
    leat_esp_management_encode(&m, esp_socket_key(&g->root->socket, m.opcode), octets,
                               sizeof octets, &len);
    esp_socket_send(&g->root->socket, &entry->address, octets, len);
}

/* How long a map may take. */
static leat_time map_ms(uint32_t hosts, leat_time settle_ms)
{
    const leat_time of_hosts = MAP_MS + (leat_time)MAP_HOST_MS * hosts;
    const leat_time ms = of_hosts > MAP_SETTLES * settle_ms ? of_hosts : MAP_SETTLES * settle_ms;
    return ms < MAP_MS_MAX ? ms : MAP_MS_MAX;
}

/* Finds the routers, and tells them. Packets of busy hosts take longer: again, with more time. */
static enum leat_esp_host_end install(struct leat_esp_team *g, char *why)
{
    struct leat_esp_request request = leat_esp_host_root_request(LEAT_ESP_SERVICE_MULTICAST, false);
    struct leat_esp_service_result result = { 0 };
    struct leat_esp_host_root_cost cost;
    enum leat_esp_host_end end = LEAT_ESP_HOST_SILENT;
    struct leat_esp_service *engine = &g->root->engine;
    request.collects = true;
    request.rounds = ROUNDS;
    request.lifetime_ms = LIFETIME_MS;
    request.silence_ps = SILENCE_MS * ps_per_ms;
    for (leat_time ms = SETTLE_MS; ms <= SETTLE_MS_MAX && end == LEAT_ESP_HOST_SILENT; ms *= 5) {
        engine->config.node.tau = engine->own.node.tau = map_ms(engine->roster.count, ms) *
                                                         ps_per_ms;
        request.settle_ps = ms * ps_per_ms;
        request.gap_ps = ms * ps_per_ms / ROUNDS;
        end = leat_esp_host_root_query(g->root, &request, &result, &cost, why);
        if (result.end == LEAT_ESP_LATE && leat_esp_host_root_map(g->root)->nodes < 2)
            break; /* nobody is there: time does not help */
    }
    return end;
}

enum leat_esp_host_end leat_esp_team_lead(struct leat_esp_team *g, uint32_t members,
                                          uint64_t timeout_ms, uint64_t patience_us, char *why)
{
    *why = 0;
    if (!g->root || members < 2 || members > LEAT_ESP_TEAM_MEMBERS_MAX)
        return live_because(why, "%u hosts, expected 2 to %d and a root with a free UDP port %d",
                            members, LEAT_ESP_TEAM_MEMBERS_MAX, LEAT_ESP_UDP_PORT),
               LEAT_ESP_HOST_WRONG;
    const uint32_t there = leat_esp_host_root_gather(g->root, members - 1, timeout_ms);
    if (there < members - 1)
        return live_because(why,
                            "%u of %u other hosts have joined in time, expected all: can their "
                            "packets to UDP port %d come here?",
                            there, members - 1, LEAT_ESP_UDP_PORT),
               LEAT_ESP_HOST_SILENT;
    const enum leat_esp_host_end end = install(g, why);
    if (end != LEAT_ESP_HOST_OK) {
        const size_t len = strlen(why);
        snprintf(why + len, LEAT_ESP_HOST_WHY_LEN - len,
                 "; expected running ESP routers with this key on the way");
        return end;
    }
    const struct leat_esp_map *map = leat_esp_host_root_map(g->root);
    if (map->nodes < 2)
        return live_because(why,
                            "there is no ESP router between the hosts, expected leat esp route "
                            "with this key on their way to each other"),
               LEAT_ESP_HOST_SILENT;
    g->children = map->node[0].children;
    g->members = members - 1;
    begin(g, patience_us);
    g->tag = leat_esp_children_tag(g->id, map->node[0].id);
    for (uint32_t i = 0; i < READY_COPIES * g->members; i++)
        say_ready(g, i % g->members);
    return LEAT_ESP_HOST_OK;
}

/* ---- other hosts ----------------------------------------------------------------------------- */

static enum leat_esp_host_end open_member(struct leat_esp_team *g,
                                          const struct leat_esp_team_seat *root, char *why)
{
    char at[ESP_ENDPOINT_TEXT_LEN];
    endpoint(root->address, at);
    leat_esp_host_root_close(g->root);
    g->root = NULL;
    g->id = root->id;
    const struct leat_esp_host_config config = { .group = g->id,
                                                 .any_port = true,
                                                 .key = g->keys.key[0],
                                                 .other_key = leat_keys_other(&g->keys),
                                                 .root = at,
                                                 .join_every_ns = JOIN_MS * UINT64_C(1000000) };
    return leat_esp_host_member_open(&config, &g->member, why);
}

enum leat_esp_host_end leat_esp_team_join(struct leat_esp_team *g,
                                          const struct leat_esp_team_seat *root,
                                          uint64_t timeout_ms, uint64_t patience_us, char *why)
{
    const uint8_t *text;
    enum leat_esp_host_end end = g->member ? LEAT_ESP_HOST_OK : open_member(g, root, why);
    if (end != LEAT_ESP_HOST_OK) return end;
    end = leat_esp_host_member_serve(g->member, timeout_ms, why);
    if (end != LEAT_ESP_HOST_OK) return end;
    if (leat_esp_host_member_cast(g->member, &text) != LEAT_ESP_OPERAND_LEN)
        return live_because(why, "the root of the group has not finished in time"),
               LEAT_ESP_HOST_SILENT;
    g->tag = leat_get_be64(text);
    begin(g, patience_us);
    return end;
}
