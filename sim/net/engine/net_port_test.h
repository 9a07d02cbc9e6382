/* Ports over a network with its own memory, and a record of all callbacks. */
#ifndef LEAT_NET_PORT_TEST_H
#define LEAT_NET_PORT_TEST_H

#include "net_port.h"
#include "net_world_test.h"

enum { RECEIVED_MAX = 1 << 14, OCTETS = 1 << 16, SENT = 0, ARRIVED, LOST };

struct received {
    int what;
    leat_time at;
    struct leat_port_message message;
    const char *why;
};

struct bench {
    struct world world;
    struct leat_net_port port;
    void *memory;
    uint32_t received_count;
    struct received received[RECEIVED_MAX];
};

static struct bench one, other;
static uint8_t octets[OCTETS];

static inline void record(struct bench *b, int what, const struct leat_port_message *message,
                          const char *why, leat_time at)
{
    OK(b->received_count < RECEIVED_MAX);
    OK(at >= b->port.base.now);
    b->received[b->received_count++ % RECEIVED_MAX] = (struct received){ what, at, *message, why };
}

static inline void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    record(context, SENT, message, NULL, at);
}

static inline void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    record(context, ARRIVED, message, NULL, at);
}

static inline void on_lost(void *context, const struct leat_port_message *message, const char *why,
                           leat_time at)
{
    OK(why && *why);
    record(context, LOST, message, why, at);
}

/* 300 MHz: only every third edge is at a whole number of picoseconds. */
static const struct leat_net_port_config usual = { .clock = { 10000, 3 },
                                                   .flit_octets = 16,
                                                   .packet_flits = 8,
                                                   .head_flits = 1,
                                                   .messages_max = RECEIVED_MAX };

/* Opens ports again over the same topology and routing. */
static inline void open_ports(struct bench *b, const struct leat_net_port_config *config,
                              const struct leat_net_config *net)
{
    struct leat_net_port_config c = *config;
    struct leat_text why;
    char line[256];
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    c.topology = &b->world.topology;
    c.routing = b->world.routing;
    c.net = *net;
    OK(!leat_net_port_check(&c, &why));
    b->memory = world_memory(leat_net_port_footprint(&c));
    b->received_count = 0;
    leat_net_port_init(&b->port, &c, b->memory);
    b->port.base.observer = (struct leat_port_observer){
        .context = b, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
}

static inline void close_ports(struct bench *b)
{
    free(b->memory);
    b->memory = NULL;
}

static inline bool bench_open(struct bench *b, const struct leat_net_shape *shape,
                              enum leat_net_route_rule rule,
                              const struct leat_net_port_config *config,
                              const struct leat_net_config *net)
{
    if (!world_build(&b->world, shape, rule, net->channels)) return false;
    open_ports(b, config, net);
    return true;
}

static inline void bench_close(struct bench *b)
{
    close_ports(b);
    world_end(&b->world);
}

static inline bool send(struct bench *b, uint32_t from, uint32_t to, uint64_t id, uint64_t len,
                        leat_time at)
{
    const struct leat_port_message message = {
        .from = from, .to = to, .id = id, .octets = octets, .len = len
    };
    return leat_port_send(&b->port.base, &message, at);
}

static inline void run_out(struct bench *b)
{
    while (b->port.base.in_flight)
        leat_port_run(&b->port.base, LEAT_NEVER);
}

static inline leat_time edge_of(const struct bench *b, uint64_t cycle)
{
    leat_time at = 0;
    OK(!leat_sim_clock_edge(&b->port.config.clock, cycle, &at));
    return at;
}

static inline uint32_t between(struct leat_random *random, uint32_t least, uint32_t most)
{
    return least + (uint32_t)leat_random_below(random, most - least + 1);
}

/* Buffers that cover the round trip of a credit, whatever the wires. */
static inline struct leat_net_config ample(uint32_t pipeline, uint32_t wire)
{
    struct leat_net_config config = golden;
    config.pipeline = pipeline;
    config.buffer_flits = 2 * (pipeline + wire) + 16;
    return config;
}

#endif
