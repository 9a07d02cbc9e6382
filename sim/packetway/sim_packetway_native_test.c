#include "net_plan.h"
#include "sim_atm_fabric.h"
#include "sim_packetway_native.h"
#include "tap.h"
#include <string.h>

static struct leat_text why;
static char line[256];

/* There and back, from every port to every other; routes that lead nowhere are refused. */
static void all_pairs(const struct leat_sim_packetway_native *n, uint32_t longest)
{
    uint32_t most = 0;
    for (uint32_t a = 0; a < n->ports; a++)
        for (uint32_t b = 0; b < n->ports; b++) {
            uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
            uint32_t to = UINT32_MAX;
            const uint32_t len = leat_sim_packetway_route(n, a, b, route);
            OK(len > 0 && len <= LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX);
            OK(leat_sim_packetway_resolve(n, a, route, len, &to));
            EQ(to, b);
            OK(!leat_sim_packetway_resolve(n, a, route, len - 1, &to));
            route[0] = 0xff;
            OK(!leat_sim_packetway_resolve(n, a, route, len, &to));
            if (len > most) most = len;
        }
    EQ(most, longest);
}

static void labels_lead_where_the_fabric_leads_them(void)
{
    struct leat_sim_atm_fabric fabric;
    OK(!leat_sim_atm_fabric_parse("clos444", &fabric, &why));
    const struct leat_sim_packetway_native n = { .kind = LEAT_SIM_PACKETWAY_ATM,
                                                 .ports = fabric.net.ports,
                                                 .clos = &fabric.net };
    all_pairs(&n, 4);
    /* spec/atm.md: the access VPI of port 14 on path 0 is 4 * 14. */
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    EQ(leat_sim_packetway_route(&n, 5, 14, route), 4);
    EQ(memcmp(route, "\0\0\0\x38", 4), 0);
    /* Any other path is valid; the broadcast is not a route to a node. */
    uint32_t to;
    OK(leat_sim_packetway_resolve(&n, 5, (const uint8_t *)"\0\0\0\x3b", 4, &to));
    EQ(to, 14);
    OK(!leat_sim_packetway_resolve(&n, 5, (const uint8_t *)"\0\0\0\x40", 4, &to));
    EQ(strcmp(leat_sim_packetway_kind_name(n.kind), "atm"), 0);
}

static void stations_are_counted_from_one(void)
{
    const struct leat_sim_packetway_native n = { .kind = LEAT_SIM_PACKETWAY_RING, .ports = 300 };
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    uint32_t to;
    all_pairs(&n, 2);
    EQ(leat_sim_packetway_route(&n, 0, 256, route), 2);
    EQ(memcmp(route, "\1\1", 2), 0);
    OK(!leat_sim_packetway_resolve(&n, 0, (const uint8_t *)"\0\0", 2, &to));
}

static void macs_are_those_of_stations(void)
{
    const struct leat_sim_packetway_native n = { .kind = LEAT_SIM_PACKETWAY_ETHERNET,
                                                 .ports = 300 };
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    uint32_t to;
    all_pairs(&n, 6);
    EQ(leat_sim_packetway_route(&n, 0, 256, route), 6);
    EQ(memcmp(route, "\2\0\0\0\1\1", 6), 0);
    OK(!leat_sim_packetway_resolve(&n, 0, (const uint8_t *)"\2\0\0\0\0\0", 6, &to));
    OK(!leat_sim_packetway_resolve(&n, 0, (const uint8_t *)"\2\0\0\0\1\x2d", 6, &to)); /* 301 */
    EQ(strcmp(leat_sim_packetway_kind_name(n.kind), "ethernet"), 0);
}

/* Of a mesh a x b: at most a + b - 1 routers are passed. */
static void turns_lead_through_switches(void)
{
    static const struct {
        const char *name;
        uint32_t longest;
    } nets[] = { { "mesh:3,4", 6 },    { "ring:5", 3 },
                 { "crossbar:7", 1 },  { "fly:2,3", 3 },
                 { "hypercube:3", 4 }, { "mesh:4,4/routing=adaptive/vcs=3", 7 },
                 { "fattree:2,3", 5 } };
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct leat_net_plan plan;
        struct leat_net_topology topology;
        OK(!leat_net_plan_parse(nets[i].name, &plan, &why));
        void *memory = calloc(1, leat_net_topology_footprint(&plan.shape));
        OK(!leat_net_topology_build(&topology, &plan.shape, memory, &why));
        void *tables = calloc(1, leat_net_routing_footprint(&topology, &plan.routing));
        const struct leat_sim_packetway_native n = {
            .kind = LEAT_SIM_PACKETWAY_SWITCHES,
            .ports = topology.terminals,
            .topology = &topology,
            .routing = leat_net_routing_init(&topology, &plan.routing, tables),
        };
        all_pairs(&n, nets[i].longest);
        free(tables);
        free(memory);
    }
}

static void ways_of_more_turns_than_an_l2rh_holds_are_none(void)
{
    struct leat_net_plan plan;
    struct leat_net_topology topology;
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    OK(!leat_net_plan_parse("line:80", &plan, &why));
    void *memory = calloc(1, leat_net_topology_footprint(&plan.shape));
    OK(!leat_net_topology_build(&topology, &plan.shape, memory, &why));
    void *tables = calloc(1, leat_net_routing_footprint(&topology, &plan.routing));
    const struct leat_sim_packetway_native n = {
        .kind = LEAT_SIM_PACKETWAY_SWITCHES,
        .ports = topology.terminals,
        .topology = &topology,
        .routing = leat_net_routing_init(&topology, &plan.routing, tables),
    };
    EQ(leat_sim_packetway_route(&n, 0, 62, route), 63);
    EQ(leat_sim_packetway_route(&n, 0, 63, route), 0);
    free(tables);
    free(memory);
}

static void start(void)
{
    leat_text_init(&why, line, sizeof line, NULL, NULL);
}

TAP_MAIN(T(start), T(labels_lead_where_the_fabric_leads_them), T(stations_are_counted_from_one),
         T(macs_are_those_of_stations), T(turns_lead_through_switches),
         T(ways_of_more_turns_than_an_l2rh_holds_are_none))
