/* Groups of ports of a cell network that carry out operations, for tests: what each member got, and
 * when. */
#ifndef LEAT_SIM_ATM_COLLECT_TEST_H
#define LEAT_SIM_ATM_COLLECT_TEST_H

#include "leat_text.h"
#include "sim_atm_replay.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { CYCLE_PS = 50000, PORTS_MAX = 64, OCTETS_MAX = 1 << 17, PATIENCE_CYCLES = 1 << 27 };

static struct {
    struct leat_sim_atm_ports port;
    struct leat_sim_atm_replay replay;
    void *memory;
    leat_time at[PORTS_MAX]; /* of the last collected() */
    uint32_t calls[PORTS_MAX], failed, wrong;
    uint8_t octets[PORTS_MAX][OCTETS_MAX];
    uint64_t word[PORTS_MAX][LEAT_SIM_ATM_COLLECT_WORDS];
} scene;

static inline struct leat_sim_atm_ports_config config_of(const char *name)
{
    struct leat_sim_atm_ports_config config = { .model = LEAT_SIM_ATM_CELL, .messages_max = 64 };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse(name, &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.resync = true;
    config.line.seed = 1;
    return config;
}

static inline uint8_t octet(uint64_t i)
{
    return (uint8_t)(i * 7 + (i >> 8) + 1);
}

static inline void collected(void *context, const struct leat_port_part *part, bool is_done,
                             leat_time at)
{
    (void)context;
    scene.at[part->port] = at;
    scene.calls[part->port]++;
    scene.failed += !is_done;
    for (uint64_t i = 0; part->kind == LEAT_PORT_CAST && is_done && i < part->len; i++)
        scene.wrong += part->octets[i] != octet(i);
}

static inline void sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static inline void lost(void *context, const struct leat_port_message *message, const char *why,
                        leat_time at)
{
    (void)context, (void)message, (void)at;
    printf("# a message was lost: %s\n", why);
    scene.wrong++;
}

static const struct leat_port_observer observer = {
    .sent = sent, .arrived = sent, .lost = lost, .collected = collected
};

static inline struct leat_port_net *set_up(const struct leat_sim_atm_ports_config *config)
{
    free(scene.memory);
    memset(&scene, 0, sizeof scene);
    scene.memory = calloc(1, leat_sim_atm_ports_footprint(config));
    leat_sim_atm_ports_init(&scene.port, config, scene.memory);
    scene.port.net.observer = observer;
    return &scene.port.net;
}

static inline struct leat_port_net *set_up_replay(const struct leat_sim_atm_ports_config *config)
{
    free(scene.memory);
    memset(&scene, 0, sizeof scene);
    scene.memory = calloc(1, leat_sim_atm_replay_footprint(config));
    leat_sim_atm_replay_init(&scene.replay, config, scene.memory);
    scene.replay.base.net.observer = observer;
    return &scene.replay.base.net;
}

static inline uint32_t group_of(struct leat_port_net *net, uint32_t first, uint32_t step)
{
    uint32_t port[PORTS_MAX], count = 0;
    for (uint32_t i = first; i < net->ports; i += step)
        port[count++] = i;
    return leat_port_group(net, port, count);
}

static inline void hand_over(struct leat_port_net *net, struct leat_port_part part, uint32_t port,
                             leat_time at)
{
    part.port = port;
    part.octets = scene.octets[port];
    part.word = scene.word[port];
    for (uint64_t i = 0; i < part.len; i++)
        part.octets[i] = part.root == port ? octet(i) : 0;
    leat_port_collect(net, &part, at);
}

static inline void finish(struct leat_port_net *net)
{
    const leat_time until = net->now + (leat_time)PATIENCE_CYCLES * CYCLE_PS;
    while (net->in_flight && net->now < until)
        leat_port_run(net, LEAT_NEVER);
    EQ(net->in_flight, 0);
}

static inline void collect_all(struct leat_port_net *net, struct leat_port_part part)
{
    const leat_time from = net->now;
    for (uint32_t i = 0; i < net->ports; i++)
        hand_over(net, part, i, from);
    finish(net);
}

static inline uint64_t cycles(leat_time ps)
{
    EQ(ps % CYCLE_PS, 0);
    return ps / CYCLE_PS;
}

/* Everything has left the units, and no room is reserved any more. */
static inline void expect_empty_units(void)
{
    const struct leat_sim_atm_ports *port = &scene.port;
    leat_port_run(&scene.port.net, port->net.now + (leat_time)400000 * CYCLE_PS);
    EQ(port->collect.pieces, 0);
    EQ(leat_sim_atm_load_is_quiet(&port->load), true);
    for (uint32_t i = 0; i < port->net.ports; i++) {
        EQ(port->queue[i].pledged, 0);
        EQ(port->queue[i].written, 0);
        EQ(port->load.host[i].unit.receive.busy_count, 0);
    }
}

#endif
