/* Turns the user's options into a router's configuration: ports, next hops, stores, limits. */
#include "esp_plan.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { TEXT_MAX = 128 };
static const uint64_t ns_per_s = 1000000000;

/* ---- devices ------------------------------------------------------------------------------ */

static bool plan_port(const char *device, struct esp_port *port, char *why)
{
    port->device = if_nametoindex(device);
    if (!port->device) return live_because(why, "no network device '%s'", device);
    if (!live_device_mac(device, port->mac, why)) return false;
    snprintf(port->name, sizeof port->name, "%s", device);
    return true;
}

static bool plan_ports(const struct leat_esp_router_config *from, struct esp_config *c, char *why)
{
    c->port_count = from->device_count;
    if (from->driver == LEAT_ESP_ROUTER_UDP) {
        if (from->device_count)
            return live_because(why,
                                "the overlay has no devices, expected --listen and --next-hop");
        c->port_count = 1;
        snprintf(c->port[0].name, sizeof c->port[0].name, "overlay");
        return true;
    }
    if (!from->device_count)
        return live_because(why, "no devices, expected at least one --dev (or --driver udp)");
    for (uint32_t i = 0; i < from->device_count; i++) {
        if (!plan_port(from->device[i], &c->port[i], why)) return false;
        for (uint32_t j = 0; j < i; j++)
            if (c->port[j].device == c->port[i].device)
                return live_because(why, "%s is there twice, expected different devices",
                                    from->device[i]);
    }
    return true;
}

/* ---- next hops ---------------------------------------------------------------------------- */

bool esp_plan_address(const char *text, uint64_t address[2])
{
    uint8_t octets[LEAT_ESP_ADDRESS_LEN] = { [10] = 0xff, [11] = 0xff };
    if (inet_pton(AF_INET, text, octets + 12) != 1 && inet_pton(AF_INET6, text, octets) != 1)
        return false;
    esp_address_read(octets, address);
    return true;
}

static bool is_ipv4(const uint64_t address[2])
{
    return address[0] == 0 && address[1] >> 32 == 0xffff;
}

/* ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT. */
bool esp_plan_endpoint(const char *text, uint64_t address[2], uint16_t *port)
{
    char host[TEXT_MAX];
    const char *colon = strrchr(text, ':'), *close = strchr(text, ']');
    *port = LEAT_ESP_UDP_PORT;
    if (strlen(text) >= sizeof host) return false;
    if (esp_plan_address(text, address)) return true;
    if (!colon || (*text == '[' && colon != close + 1)) return false;
    char *end;
    const unsigned long number = strtoul(colon + 1, &end, 10);
    if (*end || end == colon + 1 || number < 1 || number > 65535) return false;
    *port = (uint16_t)number;
    const size_t brackets = *text == '[';
    snprintf(host, sizeof host, "%.*s", (int)(colon - text - 2 * (ptrdiff_t)brackets),
             text + brackets);
    return esp_plan_address(host, address);
}

void esp_plan_endpoint_text(const uint64_t address[2], uint16_t port,
                            char text[ESP_ENDPOINT_TEXT_LEN])
{
    uint8_t octets[LEAT_ESP_ADDRESS_LEN];
    char host[INET6_ADDRSTRLEN];
    esp_address_write(address, octets);
    if (is_ipv4(address))
        inet_ntop(AF_INET, octets + 12, host, sizeof host);
    else
        inet_ntop(AF_INET6, octets, host, sizeof host);
    if (!port)
        snprintf(text, ESP_ENDPOINT_TEXT_LEN, "%s", host);
    else
        snprintf(text, ESP_ENDPOINT_TEXT_LEN, is_ipv4(address) ? "%s:%u" : "[%s]:%u", host, port);
}

static bool read_mac(const char *text, uint8_t *mac)
{
    unsigned o[6];
    int used = 0;
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5],
               &used) != 6 ||
        text[used] || o[0] & 1)
        return false;
    for (int i = 0; i < ESP_MAC_LEN; i++)
        mac[i] = (uint8_t)o[i];
    return true;
}

bool esp_plan_prefix(const char *text, uint64_t prefix[2], uint64_t mask[2])
{
    char host[TEXT_MAX];
    const char *slash = strchr(text, '/');
    const size_t len = slash ? (size_t)(slash - text) : strlen(text);
    if (len >= sizeof host) return false;
    memcpy(host, text, len);
    host[len] = 0;
    if (!esp_plan_address(host, prefix)) return false;
    const unsigned most = is_ipv4(prefix) ? 32 : 128;
    unsigned long bits = most;
    if (slash) {
        char *end;
        bits = strtoul(slash + 1, &end, 10);
        if (*end || end == slash + 1 || bits > most) return false;
    }
    bits += 128 - most;
    mask[0] = bits >= 64 ? UINT64_MAX : bits ? UINT64_MAX << (64 - bits) : 0;
    mask[1] = bits >= 128 ? UINT64_MAX : bits > 64 ? UINT64_MAX << (128 - bits) : 0;
    prefix[0] &= mask[0];
    prefix[1] &= mask[1];
    return true;
}

/* DEVICE,MAC or an endpoint. */
static bool read_hop(const char *text, struct esp_next *next, char *why)
{
    char device[IF_NAMESIZE] = "";
    const char *comma = strchr(text, ',');
    if (!comma) {
        if (esp_plan_endpoint(text, next->address, &next->udp_port)) return true;
        return live_because(why, "next hop '%.80s', expected an address or DEVICE,MAC", text);
    }
    snprintf(device, sizeof device, "%.*s", (int)(comma - text), text);
    next->device = if_nametoindex(device);
    if (!next->device) return live_because(why, "next hop: no network device '%s'", device);
    if (!read_mac(comma + 1, next->mac))
        return live_because(why, "next hop '%.40s', expected an Ethernet address of one station",
                            comma + 1);
    return true;
}

static bool plan_next(const char *text, enum leat_esp_router_driver driver, struct esp_config *c,
                      char *why)
{
    struct esp_next next = { 0 };
    char prefix[TEXT_MAX] = "";
    const char *equals = strchr(text, '='), *hop = equals ? equals + 1 : text;
    if (equals) snprintf(prefix, sizeof prefix, "%.*s", (int)(equals - text), text);
    if (!read_hop(hop, &next, why)) return false;
    if (next.device && driver == LEAT_ESP_ROUTER_UDP)
        return live_because(why, "next hop '%.80s', expected an address in an overlay", text);
    if (strcmp(prefix, "bare") == 0) {
        if (!next.device)
            return live_because(why, "next hop '%.80s', expected bare=DEVICE,MAC", text);
        c->bare_device = next.device;
        memcpy(c->bare_mac, next.mac, ESP_MAC_LEN);
        return true;
    }
    if (*prefix && !esp_plan_prefix(prefix, next.prefix, next.mask))
        return live_because(why, "next hop for '%.80s', expected an address or ADDRESS/BITS",
                            prefix);
    c->next[c->next_count++] = next;
    return true;
}

/* Longer prefixes first: the first match is used. */
static int by_length(const void *a, const void *b)
{
    const struct esp_next *x = a, *y = b;
    if (x->mask[0] != y->mask[0]) return x->mask[0] > y->mask[0] ? -1 : 1;
    return (y->mask[1] > x->mask[1]) - (y->mask[1] < x->mask[1]);
}

/* ---- stores ------------------------------------------------------------------------------- */

static bool draw(uint64_t *number)
{
    return getrandom(number, sizeof *number, 0) == (ssize_t)sizeof *number;
}

/* Node ids of all stores are derived from the router's; seeds are secret. */
static bool plan_stores(const struct leat_esp_router_config *from, struct esp_config *c, char *why)
{
    const uint32_t centre = leat_esp_groups_for(from->capacity);
    const uint32_t port = leat_esp_groups_for(from->port_capacity);
    uint32_t first = 0;
    if (!c->node_id && !draw(&c->node_id)) return live_because(why, "no random numbers");
    for (uint32_t i = 0; i < 1 + 2 * c->port_count; i++) {
        const uint32_t groups = i ? port : centre;
        struct esp_store *store = &c->store[i];
        *store = (struct esp_store){ .first = first, .mask = groups - 1 };
        store->node.id = i ? leat_esp_mix64(c->node_id, i) : c->node_id;
        store->node.tau = c->tau_ns;
        if (!draw(&store->node.seed)) return live_because(why, "no random numbers");
        first += groups;
    }
    c->group_count = first;
    if (first > LEAT_ESP_GROUPS_MAX)
        return live_because(why, "stores of %llu bindings, expected at most %llu in all",
                            (unsigned long long)first * LEAT_ESP_GROUP_SLOTS,
                            (unsigned long long)LEAT_ESP_GROUPS_MAX * LEAT_ESP_GROUP_SLOTS);
    return true;
}

bool esp_plan(const struct leat_esp_router_config *from, struct esp_config *c, char *why)
{
    *c = (struct esp_config){ .node_id = from->node_id, .tau_ns = from->tau_ns };
    if (!plan_ports(from, c, why)) return false;
    for (uint32_t i = 0; i < from->next_hop_count; i++)
        if (!plan_next(from->next_hop[i], from->driver, c, why)) return false;
    qsort(c->next, c->next_count, sizeof *c->next, by_length);
    if (!plan_stores(from, c, why)) return false;
    c->limits = leat_esp_limits_of(ns_per_s, from->rate_per_s, from->rate_per_s / 4,
                                   from->port_share, from->tau_ns);
    c->has_key = from->keys.count != 0;
    c->keyed_only = from->keyed_only;
    if (from->keyed_only && !c->has_key)
        return live_because(why, "keyed computations without a key, expected --key-file");
    return true;
}

bool esp_plan_keeps(const struct esp_config *old, struct esp_config *c, bool has_id)
{
    if (old->port_count != c->port_count || old->group_count != c->group_count) return false;
    if (!has_id) c->node_id = old->node_id;
    for (uint32_t i = 0; i < c->port_count; i++)
        if (old->port[i].device != c->port[i].device) return false;
    if (old->node_id != c->node_id) return false;
    for (uint32_t i = 0; i < 1 + 2 * c->port_count; i++) {
        if (old->store[i].mask != c->store[i].mask) return false;
        c->store[i].node.id = old->store[i].node.id;
        c->store[i].node.seed = old->store[i].node.seed;
    }
    return true;
}
