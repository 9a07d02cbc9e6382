/*
 * Speed and memory of flit networks: routers with virtual channels under uniform traffic, sources
 * included, in steady state. The best of several pieces counts, since machines are noisy.
 *
 *   bench_fabric [--json FILE] [--large]
 *
 * --large: a ring and a torus of a million routers, built and stepped.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "figures.h"
#include "net.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PIECES = 5,
    WARM_UP_CYCLES = 2000,
    MESH_CYCLES = 20000,
    TORUS_CYCLES = 3000,
    LARGE_CYCLES = 100,
    LARGE_PIECES = 2,
    CHANNELS = 4,
    BUFFER_FLITS = 8,
    LARGE_PAGE = 1 << 21,
};

static void *memory_of(size_t len)
{
    void *memory = calloc(1, len);
    if (!memory) {
        fprintf(stderr, "bench_fabric: no memory: %zu octets\n", len);
        exit(1);
    }
    return memory;
}

/* In large pages, if the system has them: as leat sim does. */
static void *memory_often(size_t len)
{
    uint8_t *memory = memory_of(len);
#ifdef MADV_HUGEPAGE
    const size_t before = (LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE) % LARGE_PAGE;
    if (len >= before + LARGE_PAGE)
        (void)madvise(memory + before, (len - before) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
    return memory;
}

/* Current memory, not the peak; 0 if the system does not report it. */
static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long size, resident = 0;
    if (!file) return 0;
    if (fscanf(file, "%lu %lu", &size, &resident) != 2) resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* ---- a network under uniform traffic --------------------------------------------------------- */

struct source {
    struct leat_random random;
    uint64_t clock, number;
};

struct network {
    struct leat_net_topology topology;
    struct leat_net_routing_config rule;
    struct leat_net net;
    struct source *source;
    uint64_t packets;
    uint32_t flits, load_ppm;
    void *memory[3];
};

/* Gaps are uniform around their mean: hosts should cost little compared with the network. */
static bool next_packet(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct network *n = context;
    struct source *s = &n->source[terminal];
    const uint64_t mean_twice = UINT64_C(2000000) * n->flits / n->load_ppm;
    s->clock += leat_random_below(&s->random, mean_twice + 1);
    *packet = (struct leat_net_packet){
        .created_at = s->clock, .number = s->number++, .source = terminal, .flits = n->flits
    };
    packet->random = leat_random_next(&s->random);
    packet->destination = (uint32_t)leat_random_below(&s->random, n->topology.terminals);
    return true;
}

static void count_packet(void *context, const struct leat_net_arrival *arrival)
{
    struct network *n = context;
    n->packets += arrival->fate == LEAT_NET_DELIVERED;
}

static void set_up(struct network *n, const struct leat_net_shape *shape, uint32_t load_ppm,
                   uint32_t flits)
{
    char line[256];
    struct leat_text why;
    const struct leat_net_config config = { .architecture = LEAT_NET_SWITCH_VC,
                                            .channels = CHANNELS,
                                            .buffer_flits = BUFFER_FLITS,
                                            .pipeline = 3,
                                            .credit_cycles = 1,
                                            .iterations = 1 };
    const struct leat_net_host host = { .context = n, .next = next_packet, .arrive = count_packet };
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    memset(n, 0, sizeof *n);
    n->flits = flits;
    n->load_ppm = load_ppm;
    n->memory[0] = memory_of(leat_net_topology_footprint(shape));
    if (leat_net_topology_build(&n->topology, shape, n->memory[0], &why)) abort();
    n->rule = (struct leat_net_routing_config){ .rule = LEAT_NET_DOR, .channels = CHANNELS };
    n->memory[1] = memory_of(leat_net_routing_footprint(&n->topology, &n->rule));
    n->source = memory_of(n->topology.terminals * sizeof *n->source);
    for (uint32_t t = 0; t < n->topology.terminals; t++)
        leat_random_seed_entity(&n->source[t].random, 1, t);
    n->memory[2] = memory_often(leat_net_footprint(&n->topology, &config));
    leat_net_init(&n->net, &n->topology,
                  leat_net_routing_init(&n->topology, &n->rule, n->memory[1]), &config, &host,
                  n->memory[2]);
}

static void tear_down(struct network *n)
{
    for (size_t i = 0; i < 3; i++)
        free(n->memory[i]);
    free(n->source);
}

/* CPU time: other processes on the machine do not count. */
static double core_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Millions of flit-hops per second over a piece. */
static double piece_speed(struct network *n, uint64_t cycles)
{
    const uint64_t hops = n->net.counts.flit_hops;
    const double start = core_ns();
    if (!leat_net_run(&n->net, n->net.now + cycles)) abort();
    return 1e3 * (double)(n->net.counts.flit_hops - hops) / (core_ns() - start);
}

static void measure(const char *name, const struct leat_net_shape *shape, uint32_t load_ppm,
                    uint32_t flits, uint64_t cycles)
{
    static struct network n;
    double best = 0;
    set_up(&n, shape, load_ppm, flits);
    piece_speed(&n, WARM_UP_CYCLES);
    for (int i = 0; i < PIECES; i++) {
        const double speed = piece_speed(&n, cycles);
        if (speed > best) best = speed;
    }
    if (!n.packets) abort(); /* the timed work must have been done */
    note(name, best, "Mhops/s", "at least 10", best >= 10);
    tear_down(&n);
}

/* ---- a million routers ----------------------------------------------------------------------- */

static void measure_large(const char *kind, const struct leat_net_shape *shape, uint32_t load_ppm)
{
    static struct network n;
    char name[64];
    const double start = now_ns(), before = resident_bytes();
    set_up(&n, shape, load_ppm, 1);
    const double seconds = 1e-9 * (now_ns() - start);
    const double routers = (double)n.topology.routers;
    snprintf(name, sizeof name, "%s of a million, built", kind);
    note(name, seconds, "s", "below 10", seconds < 10);
    double best = 0;
    for (int i = 0; i < LARGE_PIECES; i++) {
        const double speed = piece_speed(&n, LARGE_CYCLES);
        if (speed > best) best = speed;
    }
    snprintf(name, sizeof name, "%s of a million, load %.4f", kind, 1e-6 * load_ppm);
    note(name, best, "Mhops/s", "", true);
    /* Buffers that are never filled have no memory: the resident size counts. */
    snprintf(name, sizeof name, "%s of a million, memory per router", kind);
    note(name, (resident_bytes() - before) / routers, "octets", "at most 1024 + buffers",
         (resident_bytes() - before) / routers <=
             1024 + 4.0 * CHANNELS * BUFFER_FLITS * n.topology.ins / routers);
    tear_down(&n);
}

static struct leat_net_shape shape_of(enum leat_net_kind kind, uint32_t a, uint32_t b)
{
    return (struct leat_net_shape){
        .kind = kind, .number = { a, b }, .numbers = b ? 2 : 1, .terminals = 1, .wire_cycles = 1
    };
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    bool large = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--large"))
            large = true;
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            json = argv[++i];
        else {
            fprintf(stderr, "usage: bench_fabric [--json FILE] [--large]\n");
            return 2;
        }
    }
    const struct leat_net_shape mesh = shape_of(LEAT_NET_MESH, 8, 8);
    const struct leat_net_shape torus = shape_of(LEAT_NET_TORUS, 32, 32);
    measure("mesh 8x8, load 0.4, packets of 1 flit", &mesh, 400000, 1, MESH_CYCLES);
    measure("mesh 8x8, load 0.4, packets of 4 flits", &mesh, 400000, 4, MESH_CYCLES);
    measure("torus 32x32, load 0.1, packets of 1 flit", &torus, 100000, 1, TORUS_CYCLES);
    measure("torus 32x32, load 0.1, packets of 4 flits", &torus, 100000, 4, TORUS_CYCLES);
    if (large) {
        const struct leat_net_shape ring = shape_of(LEAT_NET_RING, 1 << 20, 0);
        const struct leat_net_shape wide = shape_of(LEAT_NET_TORUS, 1024, 1024);
        measure_large("ring", &ring, 1000);
        measure_large("torus", &wide, 1000);
    }
    return json ? write_json(json) : 0;
}
