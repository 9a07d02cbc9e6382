/*
 * A PacketWay network under test, and a record of its callbacks:
 *
 *      ring of 6 -- west -- clos444 -- east -- mesh of 3 x 3 -- south -- the ring again
 *
 * For two paths between two SANs, routers can be omitted or placed differently.
 */
#ifndef LEAT_SIM_PACKETWAY_WORLD_TEST_H
#define LEAT_SIM_PACKETWAY_WORLD_TEST_H

#include "net_plan.h"
#include "net_port.h"
#include "packetway_record.h"
#include "sim_atm_ports.h"
#include "sim_aton_port.h"
#include "sim_packetway.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { RING, CLOS, MESH, SANS, WEST = 0, EAST, SOUTH, ROUTERS };
enum { MESSAGES = 4096, OCTETS_CAP = 1 << 22, PASSES = 4096 };

struct reported {
    leat_time sent_at, arrived_at, lost_at;
    uint32_t sent, arrived, lost;
    uint64_t order;
    const char *why;
    uint64_t ei;
};

struct world {
    struct leat_sim_aton_port ring;
    struct leat_sim_atm_ports atm;
    struct leat_net_port flits;
    struct leat_net_plan mesh;
    struct leat_net_topology topology;
    struct leat_net_routing *routing;
    struct leat_sim_atm_fabric fabric;
    struct leat_sim_packetway_san san[SANS];
    struct leat_sim_packetway_router router[ROUTERS];
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway net;
    void *memory[8];
    unsigned memories;
    /* messages, and their callbacks */
    struct leat_port_message message[MESSAGES];
    leat_time handed_at[MESSAGES];
    struct reported reported[MESSAGES];
    uint32_t count;
    uint64_t order;
    leat_time last;
    uint8_t *octets;
    size_t used;
    struct leat_sim_packetway_pass pass[PASSES];
    uint32_t passes;
    uint32_t planned, infos, errs;
};

/* ---- callbacks ---- */

static inline void world_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    struct world *w = context;
    OK(at >= w->last);
    w->last = at;
    w->reported[m->id].sent++;
    w->reported[m->id].sent_at = at;
}

static inline void world_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct world *w = context;
    struct reported *t = &w->reported[m->id];
    OK(at >= w->last);
    w->last = at;
    EQ(t->sent, 1);
    t->arrived++;
    t->arrived_at = at;
    t->order = ++w->order;
    for (uint64_t i = 0; i < m->len; i++)
        if (m->octets[i] != (uint8_t)(m->id + i * 11 + i / 251)) {
            EQ(m->octets[i], (uint8_t)(m->id + i * 11 + i / 251));
            break;
        }
}

static inline void world_lost(void *context, const struct leat_port_message *m, const char *why,
                              leat_time at)
{
    struct world *w = context;
    OK(at >= w->last && why && *why);
    w->reported[m->id].lost++;
    w->reported[m->id].lost_at = at;
    w->reported[m->id].why = why;
}

static inline void world_passes(void *context, const struct leat_sim_packetway_pass *pass)
{
    struct world *w = context;
    w->pass[w->passes++ % PASSES] = *pass;
}

static inline void world_event(void *context, uint32_t port,
                               const struct leat_packetway_event *event, leat_time at)
{
    struct world *w = context;
    (void)port, (void)at;
    if (event->kind == LEAT_PACKETWAY_EVENT_DATA) {
        const uint32_t number = leat_get_be32(event->message.data);
        uint32_t from;
        OK(leat_sim_packetway_find(&w->net, event->peer, &from));
        for (uint32_t i = 0, seen = 0; i < w->count; i++)
            if (w->message[i].from == from && seen++ == number)
                w->reported[i].ei |= event->message.ei;
    }
    w->planned += event->kind == LEAT_PACKETWAY_EVENT_PLANNED;
    w->infos += event->kind == LEAT_PACKETWAY_EVENT_INFO;
    w->errs += event->kind == LEAT_PACKETWAY_EVENT_ERR;
}

/* ---- making ---- */

static inline void *world_memory(struct world *w, size_t len)
{
    void **memory = &w->memory[w->memories++];
    *memory = calloc(1, len);
    if (!*memory) abort();
    return *memory;
}

static inline void world_ring(struct world *w, bool contention_free)
{
    const struct leat_sim_aton_port_config c = { .stations = 6,
                                                 .propagation = 5,
                                                 .model = LEAT_SIM_ATON_WORD,
                                                 .clock = { 4000, 1 },
                                                 .packet_octets = 1000,
                                                 .messages_max = 4 * MESSAGES,
                                                 .contention_free = contention_free };
    leat_sim_aton_port_init(&w->ring, &c, world_memory(w, leat_sim_aton_port_footprint(&c)));
    w->san[RING] = (struct leat_sim_packetway_san){
        "ring", &w->ring.base, { .kind = LEAT_SIM_PACKETWAY_RING, .ports = 6 }, 0x100, 256, 20
    };
}

static inline void world_clos(struct world *w, bool contention_free)
{
    struct leat_sim_atm_ports_config c = { .model = LEAT_SIM_ATM_CELL,
                                           .messages_max = 4 * MESSAGES,
                                           .contention_free = contention_free };
    char line[200];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    OK(!leat_sim_atm_fabric_parse("clos444", &c.fabric, &why));
    w->fabric = c.fabric;
    leat_atm_aal_config_default(&c.aal, 0, c.fabric.net.ports, c.fabric.net.paths);
    leat_sim_atm_ports_init(&w->atm, &c, world_memory(w, leat_sim_atm_ports_footprint(&c)));
    w->san[CLOS] = (struct leat_sim_packetway_san){
        "clos",
        &w->atm.net,
        { .kind = LEAT_SIM_PACKETWAY_ATM, .ports = w->atm.net.ports, .clos = &w->fabric.net },
        0x200,
        512,
        10
    };
}

static inline void world_mesh(struct world *w, bool contention_free)
{
    char line[200];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    OK(!leat_net_plan_parse("mesh:3,3/vcs=2/buffer=8/clock=300MHz", &w->mesh, &why));
    OK(!leat_net_topology_build(&w->topology, &w->mesh.shape,
                                world_memory(w, leat_net_topology_footprint(&w->mesh.shape)),
                                &why));
    w->routing = leat_net_routing_init(
        &w->topology, &w->mesh.routing,
        world_memory(w, leat_net_routing_footprint(&w->topology, &w->mesh.routing)));
    const struct leat_net_port_config c = { .topology = &w->topology,
                                            .routing = w->routing,
                                            .net = w->mesh.net,
                                            .clock = w->mesh.clock,
                                            .flit_octets = 16,
                                            .packet_flits = 16,
                                            .head_flits = 1,
                                            .messages_max = 4 * MESSAGES,
                                            .contention_free = contention_free,
                                            .seed = 1 };
    OK(!leat_net_port_check(&c, &why));
    leat_net_port_init(&w->flits, &c, world_memory(w, leat_net_port_footprint(&c)));
    w->san[MESH] = (struct leat_sim_packetway_san){ "mesh",
                                                    &w->flits.base,
                                                    { .kind = LEAT_SIM_PACKETWAY_SWITCHES,
                                                      .ports = 9,
                                                      .topology = &w->topology,
                                                      .routing = w->routing },
                                                    0x300,
                                                    128,
                                                    2 };
}

static inline void world_make(struct world *w, bool contention_free)
{
    memset(w, 0, sizeof *w);
    world_ring(w, contention_free);
    world_clos(w, contention_free);
    world_mesh(w, contention_free);
    w->router[WEST] = (struct leat_sim_packetway_router){ "west", 2, { { RING, 5 }, { CLOS, 0 } } };
    w->router[EAST] =
        (struct leat_sim_packetway_router){ "east", 2, { { CLOS, 15 }, { MESH, 4 } } };
    w->router[SOUTH] =
        (struct leat_sim_packetway_router){ "south", 2, { { MESH, 0 }, { RING, 2 } } };
    w->config = (struct leat_sim_packetway_config){
        .san = w->san,
        .sans = SANS,
        .router = w->router,
        .routers = ROUTERS,
        .messages_max = MESSAGES,
        .cut_through = true,
        .contention_free = contention_free,
        .buffer = 4,
        .host_ps = 500000,
        .planned_ps = 200000,
        .address_ps = 5000000,
        .link_ps = 100000,
        .watch = { w, world_passes, world_event },
    };
    w->octets = calloc(1, OCTETS_CAP);
    if (!w->octets) abort();
}

/* Opens the present config. */
static inline void world_open(struct world *w)
{
    char line[200];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    OK(!leat_sim_packetway_check(&w->config, &why));
    if (why.len) printf("# %.*s\n", (int)why.len, line);
    const size_t len = leat_sim_packetway_footprint(&w->config);
    leat_sim_packetway_init(&w->net, &w->config, world_memory(w, len));
    w->net.base.observer = (struct leat_port_observer){
        .context = w, .sent = world_sent, .arrived = world_arrived, .lost = world_lost
    };
}

static inline void world_close(struct world *w)
{
    while (w->memories)
        free(w->memory[--w->memories]);
    free(w->octets);
}

/* ---- using ---- */

static inline uint32_t world_send(struct world *w, uint32_t from, uint32_t to, uint64_t len,
                                  leat_time at)
{
    const uint32_t id = w->count++;
    uint8_t *octets = w->octets + w->used;
    if (w->count > MESSAGES || w->used + len > OCTETS_CAP) abort();
    for (uint64_t i = 0; i < len; i++)
        octets[i] = (uint8_t)(id + i * 11 + i / 251);
    w->used += len;
    w->message[id] = (struct leat_port_message){
        .from = from, .to = to, .id = id, .octets = octets, .len = len
    };
    w->handed_at[id] = at;
    OK(leat_port_send(&w->net.base, &w->message[id], at));
    return id;
}

/* Random messages up to this length and time. */
static inline void world_send_random(struct world *w, struct leat_random *r, uint64_t len_end,
                                     leat_time end)
{
    const uint32_t from = (uint32_t)leat_random_below(r, w->net.base.ports);
    const uint32_t to = (uint32_t)leat_random_below(r, w->net.base.ports);
    const uint64_t len = leat_random_below(r, len_end);
    world_send(w, from, to, len, leat_random_below(r, end));
}

/* Until all messages have ended. */
static inline void world_finish(struct world *w)
{
    while (w->net.base.in_flight)
        leat_port_run(&w->net.base, LEAT_NEVER);
}

static inline leat_time world_time(const struct world *w, uint32_t id)
{
    return w->reported[id].arrived_at - w->handed_at[id];
}

#endif
