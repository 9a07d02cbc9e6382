#include "sim_packetway_native.h"
#include "ether_port.h"
#include "leat_bytes.h"
#include <string.h>

enum { LABEL_LEN = 4, STATION_LEN = 2, TURN_MAX = 255 };

const char *leat_sim_packetway_kind_name(enum leat_sim_packetway_kind kind)
{
    static const char *const names[] = { "atm", "ring", "switches", "ethernet" };
    return names[kind];
}

/* ---- ATM ------------------------------------------------------------------------------------- */

/* On the first path: the network itself distributes cells over all of them. */
static uint32_t put_label(const struct leat_sim_packetway_native *n, uint32_t to, uint8_t *out)
{
    leat_put_be32(out, leat_atm_clos_access(n->clos, to, 0));
    return LABEL_LEN;
}

static bool read_label(const struct leat_sim_packetway_native *n, const uint8_t *route,
                       uint32_t len, uint32_t *to)
{
    if (len != LABEL_LEN) return false;
    const uint32_t label = leat_get_be32(route), port = label / n->clos->paths;
    if (port >= n->ports) return false;
    if (leat_atm_clos_access(n->clos, port, label % n->clos->paths) != label) return false;
    *to = port;
    return true;
}

/* ---- ring ------------------------------------------------------------------------------------ */

static uint32_t put_station(uint32_t to, uint8_t *out)
{
    leat_put_be16(out, (uint16_t)(to + 1));
    return STATION_LEN;
}

static bool read_station(const struct leat_sim_packetway_native *n, const uint8_t *route,
                         uint32_t len, uint32_t *to)
{
    if (len != STATION_LEN) return false;
    const uint32_t station = leat_get_be16(route);
    if (station < 1 || station > n->ports) return false;
    *to = station - 1;
    return true;
}

/* ---- Ethernet -------------------------------------------------------------------------------- */

static uint32_t put_mac(uint32_t to, uint8_t *out)
{
    leat_sim_ether_port_address(to, out);
    return LEAT_SIM_ETHER_MAC_LEN;
}

static bool read_mac(const struct leat_sim_packetway_native *n, const uint8_t *route, uint32_t len,
                     uint32_t *to)
{
    uint8_t mac[LEAT_SIM_ETHER_MAC_LEN];
    if (len != LEAT_SIM_ETHER_MAC_LEN) return false;
    const uint32_t station = leat_get_be24(route + 3);
    if (station < 1 || station > n->ports) return false;
    put_mac(station - 1, mac);
    if (memcmp(route, mac, sizeof mac) != 0) return false;
    *to = station - 1;
    return true;
}

/* ---- switches -------------------------------------------------------------------------------- */

static uint32_t router_of(const struct leat_net_topology *t, uint32_t terminal)
{
    return t->in_router[t->terminal_in[terminal]];
}

/* The route that the network's own routing takes first. */
static uint32_t put_turns(const struct leat_sim_packetway_native *n, uint32_t from, uint32_t to,
                          uint8_t *out)
{
    const struct leat_net_topology *t = n->topology;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    uint32_t router = router_of(t, from);
    leat_net_route_begin(n->routing, from, to, 0, &route);
    for (uint32_t len = 0; len < LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX;) {
        if (!leat_net_route_options(n->routing, router, &route, option)) return 0;
        if (option[0].port > TURN_MAX) return 0;
        out[len++] = (uint8_t)option[0].port;
        route.phase = option[0].phase;
        const uint32_t behind = t->out_to[t->out_first[router] + option[0].port];
        if (behind == (LEAT_NET_TERMINAL | to)) return len;
        if (behind & LEAT_NET_TERMINAL) return 0;
        router = t->in_router[behind];
    }
    return 0;
}

static bool read_turns(const struct leat_sim_packetway_native *n, uint32_t from,
                       const uint8_t *route, uint32_t len, uint32_t *to)
{
    const struct leat_net_topology *t = n->topology;
    uint32_t router = router_of(t, from);
    for (uint32_t i = 0; i < len; i++) {
        const uint32_t out = t->out_first[router] + route[i];
        if (out >= t->out_first[router + 1]) return false;
        const uint32_t behind = t->out_to[out];
        if (behind == LEAT_NET_NONE) return false;
        if (behind & LEAT_NET_TERMINAL) {
            *to = behind & ~LEAT_NET_TERMINAL;
            return i + 1 == len;
        }
        router = t->in_router[behind];
    }
    return false;
}

/* ---- all ------------------------------------------------------------------------------------- */

uint32_t leat_sim_packetway_route(const struct leat_sim_packetway_native *n, uint32_t from,
                                  uint32_t to, uint8_t out[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX])
{
    switch (n->kind) {
    case LEAT_SIM_PACKETWAY_ATM: return put_label(n, to, out);
    case LEAT_SIM_PACKETWAY_RING: return put_station(to, out);
    case LEAT_SIM_PACKETWAY_SWITCHES: return put_turns(n, from, to, out);
    case LEAT_SIM_PACKETWAY_ETHERNET: return put_mac(to, out);
    }
    return 0;
}

bool leat_sim_packetway_resolve(const struct leat_sim_packetway_native *n, uint32_t from,
                                const uint8_t *route, uint32_t len, uint32_t *to)
{
    switch (n->kind) {
    case LEAT_SIM_PACKETWAY_ATM: return read_label(n, route, len, to);
    case LEAT_SIM_PACKETWAY_RING: return read_station(n, route, len, to);
    case LEAT_SIM_PACKETWAY_SWITCHES: return read_turns(n, from, route, len, to);
    case LEAT_SIM_PACKETWAY_ETHERNET: return read_mac(n, route, len, to);
    }
    return false;
}
