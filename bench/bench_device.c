/*
 * Speed of networks on devices (device_net.h): flit-hops per second of many networks at once, with
 * statistics and certificates, against one core of this machine that runs the same network with the
 * engine of net_vc.c. Every network of the device is compared with its certificate there.
 *
 *   bench_device [--json FILE] [--device N] [--networks N] [--cycles N] [--far]
 *
 * --far: the state stays in the memory of the device, not near the threads.
 */
#include "device_net.h"
#include "figures.h"
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 3 /* networks whose certificate is compared */ };

static struct {
    const char *json;
    uint32_t device, networks, cycles;
    enum leat_device_near near;
} options = { .networks = 2048, .cycles = 20000 };

static struct leat_text why = LEAT_TEXT(4096);

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench_device: %s: %.*s\n", what, (int)why.len, why.buf);
    exit(1);
}

static double seconds(void)
{
    return now_ns() / 1e9;
}

static void *memory_of(size_t len)
{
    void *memory = calloc(1, len ? len : 1);
    if (!memory) give_up("no memory");
    return memory;
}

/* ---- a network ------------------------------------------------------------------------------- */

struct network {
    struct leat_net net;
    struct leat_net_load load;
    void *memory[2];
};

struct design {
    const char *name;
    struct leat_net_shape shape;
    enum leat_net_route_rule rule;
    uint32_t load_ppm, flits;
};

struct built {
    struct leat_net_topology topology;
    struct leat_net_routing_config rule;
    struct leat_net_routing *routing;
    uint32_t *plan;
};

static const struct leat_net_config switches = { .architecture = LEAT_NET_SWITCH_VC,
                                                 .channels = 4,
                                                 .buffer_flits = 8,
                                                 .pipeline = 3,
                                                 .credit_cycles = 1,
                                                 .iterations = 1 };

static void begin_network(struct network *n, const struct design *d, const struct built *b,
                          uint64_t seed)
{
    struct leat_net_load_config config = { .warmup = LEAT_NET_STEADY_FIND,
                                           .topology = &b->topology };
    struct leat_net_host host;
    leat_net_traffic_default(&config.traffic, b->topology.terminals);
    config.traffic.load_ppm = d->load_ppm;
    config.traffic.flits = d->flits;
    config.traffic.seed = seed;
    n->memory[0] = memory_of(leat_net_load_footprint(&config));
    n->memory[1] = memory_of(leat_net_footprint(&b->topology, &switches));
    leat_net_load_init(&n->load, &config, n->memory[0]);
    leat_net_load_host(&n->load, &host);
    leat_net_init(&n->net, &b->topology, b->routing, &switches, &host, n->memory[1]);
    leat_net_load_attach(&n->load, &n->net);
}

static uint64_t end_network(struct network *n)
{
    static struct leat_net_load_result result;
    leat_net_load_result(&n->load, &result);
    free(n->memory[0]);
    free(n->memory[1]);
    return result.certificate;
}

static void build(const struct design *d, struct built *b)
{
    struct leat_net_routing_fault fault;
    struct leat_net_outages outages;
    struct leat_net_lockstep_plan sizes;
    struct network n;
    void *memory = memory_of(leat_net_topology_footprint(&d->shape));
    b->rule = (struct leat_net_routing_config){ .rule = d->rule, .channels = switches.channels };
    if (leat_net_topology_build(&b->topology, &d->shape, memory, &why) ||
        leat_net_routing_check(&b->topology, &b->rule, &why, &fault))
        give_up(d->name);
    b->routing = leat_net_routing_init(
        &b->topology, &b->rule, memory_of(leat_net_routing_footprint(&b->topology, &b->rule)));
    begin_network(&n, d, b, 1);
    if (leat_net_lockstep_check(&n.net, &n.load, options.cycles, &why)) give_up(d->name);
    leat_net_outages_init(&outages, b->routing, NULL, options.cycles,
                          memory_of(leat_net_outages_footprint(b->routing, NULL, options.cycles)));
    leat_net_lockstep_size(&n.net, &outages, &sizes);
    b->plan = memory_of(sizes.plan_words * sizeof *b->plan);
    leat_net_lockstep_plan(&n.net, &outages, false, b->plan);
    end_network(&n);
    printf("# %s: state %u, store %u octets per network\n", d->name, 4 * sizes.state_words,
           4 * sizes.store_words);
}

/* ---- here and there -------------------------------------------------------------------------- */

static double run_here(const struct design *d, const struct built *b, uint64_t seed,
                       uint64_t *certificate)
{
    struct network n;
    begin_network(&n, d, b, seed);
    const double begun = seconds();
    leat_net_load_run(&n.load, options.cycles);
    const double rate = (double)n.net.counts.flit_hops / (seconds() - begun);
    *certificate = end_network(&n);
    return rate;
}

static double run_there(struct leat_device *device, const struct design *d, const struct built *b,
                        uint64_t *certificate, double *whole)
{
    double hops = 0;
    const double begun = seconds();
    struct leat_device_nets *nets = leat_device_nets_open(device, b->plan,
                                                          sizeof(struct leat_net_lockstep_job) / 4,
                                                          options.networks, options.near, &why);
    if (!nets) give_up(d->name);
    const struct leat_device_nets_shape shape = leat_device_nets_shape(nets);
    struct network *n = memory_of(shape.places * sizeof *n);
    for (uint32_t i = 0; i < shape.places; i++) {
        begin_network(&n[i], d, b, i + 1);
        if (!leat_device_nets_begin(nets, i, &n[i].load, options.cycles, &why)) give_up(d->name);
    }
    const double running = seconds();
    while (!leat_device_nets_is_done(nets, 0))
        if (!leat_device_nets_step(nets, &why)) give_up(d->name);
    const double ran = seconds() - running;
    for (uint32_t i = 0; i < shape.places; i++) {
        if (!leat_device_nets_end(nets, i, &n[i].net, &n[i].load, &why)) give_up(d->name);
        hops += (double)n[i].net.counts.flit_hops;
        certificate[i] = end_network(&n[i]);
    }
    *whole = hops / (seconds() - begun);
    printf("# %u networks at once, groups of %u, state %s\n", shape.places, shape.group,
           shape.is_near ? "near" : "far");
    leat_device_nets_close(nets);
    free(n);
    return hops / ran;
}

static void measure(struct leat_device *device, const struct design *d)
{
    static uint64_t there[1 << 16];
    char name[64];
    struct built b;
    uint64_t here;
    double whole, core = 0;
    build(d, &b);
    const double rate = run_there(device, d, &b, there, &whole);
    for (uint32_t i = 0; i < CHECKED && i < options.networks; i++) {
        const double one = run_here(d, &b, i + 1, &here);
        if (one > core) core = one;
        if (here != there[i]) {
            fprintf(stderr, "bench_device: %s: certificates differ\n", d->name);
            exit(1);
        }
    }
    snprintf(name, sizeof name, "%s, device", d->name);
    note(name, rate / 1e9, "Ghops/s", "", true);
    snprintf(name, sizeof name, "%s, with start and results", d->name);
    note(name, whole / 1e9, "Ghops/s", "", true);
    snprintf(name, sizeof name, "%s, one core", d->name);
    note(name, core / 1e6, "Mhops/s", "", true);
    snprintf(name, sizeof name, "%s, device / one core", d->name);
    note(name, rate / core, "x", "", true);
}

#define SHAPE(a, b) .number = { a, b }, .numbers = 2, .terminals = 1, .wire_cycles = 1

/* A ring of 64 routers with chords: routes come from tables. */
enum { GRAPH_ROUTERS = 64, GRAPH_CHORD = 9 };
static struct leat_net_edge edges[2 * GRAPH_ROUTERS];

static const struct design designs[] = {
    { "mesh 8x8, load 0.1, 1 flit", { LEAT_NET_MESH, SHAPE(8, 8) }, LEAT_NET_DOR, 100000, 1 },
    { "mesh 8x8, load 0.2, 1 flit", { LEAT_NET_MESH, SHAPE(8, 8) }, LEAT_NET_DOR, 200000, 1 },
    { "mesh 8x8, load 0.4, 1 flit", { LEAT_NET_MESH, SHAPE(8, 8) }, LEAT_NET_DOR, 400000, 1 },
    { "mesh 8x8, load 0.4, 4 flits", { LEAT_NET_MESH, SHAPE(8, 8) }, LEAT_NET_DOR, 400000, 4 },
    { "torus 16x16, load 0.2, 1 flit", { LEAT_NET_TORUS, SHAPE(16, 16) }, LEAT_NET_DOR, 200000, 1 },
    { "graph of 64, load 0.1, 1 flit",
      { LEAT_NET_GRAPH, .terminals = 1, .wire_cycles = 1, .routers = GRAPH_ROUTERS,
        .edges = 2 * GRAPH_ROUTERS, .edge = edges },
      LEAT_NET_UPDOWN,
      100000,
      1 },
};

static void make_edges(void)
{
    for (uint32_t i = 0; i < GRAPH_ROUTERS; i++) {
        edges[2 * i] = (struct leat_net_edge){ .a = i, .b = (i + 1) % GRAPH_ROUTERS };
        edges[2 * i + 1] = (struct leat_net_edge){ .a = i, .b = (i + GRAPH_CHORD) % GRAPH_ROUTERS };
    }
}

int main(int argc, char **argv)
{
    static struct leat_device_info info[LEAT_DEVICES_MAX];
    const uint32_t devices = leat_devices_find(info, LEAT_DEVICES_MAX, &why);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--far")) options.near = LEAT_DEVICE_NEAR_NONE;
        if (i + 1 == argc) break;
        if (!strcmp(argv[i], "--json")) options.json = argv[i + 1];
        if (!strcmp(argv[i], "--device")) options.device = (uint32_t)atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--networks")) options.networks = (uint32_t)atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--cycles")) options.cycles = (uint32_t)atoi(argv[i + 1]);
    }
    make_edges();
    if (options.device >= devices) give_up("no such device");
    printf("# %s, %u units, %.0f GB\n", info[options.device].name, info[options.device].units,
           (double)info[options.device].memory / 1e9);
    struct leat_device *device = leat_device_open(&info[options.device], &why);
    if (!device) give_up("device");
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++)
        measure(device, &designs[i]);
    leat_device_close(device);
    return options.json ? write_json(options.json) : 0;
}
