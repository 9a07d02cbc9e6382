/*
 * Speed of a PacketWay half-router's forwarding path with 100,000 known nodes: half of them on its
 * own SAN, half learned by RTBL through its twin. The best of several pieces counts.
 *
 *   bench_packetway [--json FILE]
 */
#include "figures.h"
#include "packetway_record.h"
#include "packetway_router.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECES = 40,
    LOCAL = 50000,
    TABLES = 25,
    NODES_PER_TABLE = 2000,
    PACKETS = 131072, /* so that most of the table is used */
    PACKET_LEN = 64,
    ROUNDS = 2,
    ME = 1,
    TWIN = 0x100001,
    SAN_STEP = 0x10000,
};

_Alignas(64) static uint8_t packets[PACKETS][PACKET_LEN];

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "bench_packetway: %s\n", what);
    exit(1);
}

static void add_local(struct leat_packetway_router *r)
{
    for (uint32_t i = 0; i < LOCAL; i++) {
        const uint8_t mac[6] = { 2, 0, 0, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };
        const struct leat_packetway_san_node node = {
            .address = { .at = LEAT_PACKETWAY_AT_SINGLE, .low = ME + 1 + i },
            .route = mac,
            .route_len = sizeof mac,
            .q = 2,
        };
        if (leat_packetway_router_node(r, &node, 0)) die("no room for a node");
    }
}

static uint32_t remote(uint32_t table, uint32_t node)
{
    return 0x200000 + table * SAN_STEP + 1 + node;
}

static void add_table(struct leat_packetway_router *r, uint32_t table, uint8_t *db, uint8_t *buf,
                      size_t cap)
{
    struct leat_packetway_build b;
    static struct leat_packetway_message m;
    struct leat_packetway_routed out;
    const struct leat_packetway_arrival arrival = { .side = LEAT_PACKETWAY_FROM_TWIN,
                                                    .from = TWIN };
    const uint32_t passed[] = { remote(table, 0xF000), TWIN };
    const uint8_t route[4] = { 3, 0, 3, 0 };
    const struct leat_packetway_leading l2rh = { .kind = LEAT_PACKETWAY_L2RH,
                                                 .len = 4,
                                                 .octets = route };
    size_t len;
    leat_packetway_build_init(&b, db, cap);
    leat_packetway_build_table(&b, 1);
    leat_packetway_build_nest(&b);
    leat_packetway_build_san(&b, remote(table, 0) - 1);
    leat_packetway_build_received_from(&b, passed, 2);
    leat_packetway_build_route(&b, 1, NULL, 0);
    leat_packetway_build_mtu(&b, 0);
    for (uint32_t i = 0; i < NODES_PER_TABLE; i++) {
        const struct leat_packetway_address a = { .at = LEAT_PACKETWAY_AT_SINGLE,
                                                  .low = remote(table, i) };
        leat_packetway_build_address(&b, &a);
        leat_packetway_build_nest(&b);
        leat_packetway_build_route(&b, 2, &l2rh, 1);
        leat_packetway_build_leave(&b);
    }
    m.header = (struct leat_packetway_header){
        .dt = ME, .sa = TWIN, .pt = LEAT_PACKETWAY_PT_RRP, .te = LEAT_PACKETWAY_TE_RTBL
    };
    m.data = db;
    m.data_len = b.len;
    if (b.err || leat_packetway_message_encode(&m, buf, cap, &len)) die("a table is too large");
    leat_packetway_router_input(r, &arrival, buf, (uint32_t)len, 0, &out);
}

static struct leat_packetway_router *open_router(void)
{
    struct leat_packetway_router_config c = leat_packetway_router_defaults();
    struct leat_packetway_router *r;
    enum { CAP = 65536 };
    c.address = ME;
    c.block = (struct leat_packetway_block){ 0, 0xFFFF };
    c.nodes_max = LOCAL;
    c.known_max = 131072;
    c.table_len_max = 24 * NODES_PER_TABLE;
    const size_t len = leat_packetway_router_footprint(&c);
    void *memory = malloc(len);
    uint8_t *db = malloc(CAP), *buf = malloc(CAP);
    if (!memory || !db || !buf || leat_packetway_router_init(&c, memory, len, 0, &r))
        die("no memory");
    add_local(r);
    if (leat_packetway_router_twin(r, TWIN, 1, 0, 0)) die("no twin");
    for (uint32_t i = 0; i < TABLES; i++)
        add_table(r, i, db, buf, CAP);
    free(db);
    free(buf);
    return r;
}

/* Packets of 64 octets to nodes at random; `leading` words in front hold an L2RH each. */
static void fill_packets(unsigned leading)
{
    struct leat_random rnd;
    leat_random_seed(&rnd, 1);
    memset(packets, 0, sizeof packets);
    for (unsigned i = 0; i < PACKETS; i++) {
        uint8_t *p = packets[i];
        for (unsigned k = 0; k < leading; k++, p += 8) {
            p[1] = 0x86;
            leat_random_fill(&rnd, p + 2, 6);
        }
        const uint32_t table = (uint32_t)leat_random_below(&rnd, TABLES);
        uint32_t dt = ME + 1 + (uint32_t)leat_random_below(&rnd, LOCAL);
        if (i % 2) dt = remote(table, (uint32_t)leat_random_below(&rnd, NODES_PER_TABLE));
        const struct leat_packetway_header h = {
            .dt = dt, .sa = 2, .pt = LEAT_PACKETWAY_PT_MPI, .dl = PACKET_LEN / 8 - 3 - leading
        };
        leat_packetway_header_encode(&h, p, LEAT_PACKETWAY_HEADER_LEN);
    }
}

/* Millions of packets per second: decision, and the EI rule for what goes out on the SAN. */
static double speed(const struct leat_packetway_fib *fib, enum leat_packetway_side side)
{
    double best = 0;
    for (int piece = 0; piece < PIECES; piece++) {
        uint64_t forwarded = 0;
        const double began = now_ns();
        for (unsigned round = 0; round < ROUNDS; round++)
            for (unsigned i = 0; i < PACKETS; i++) {
                struct leat_packetway_decision d;
                leat_packetway_forward(fib, side, packets[i], PACKET_LEN, &d);
                if (d.verdict == LEAT_PACKETWAY_TO_SAN)
                    leat_packetway_seal(packets[i], PACKET_LEN, d.header_at, false);
                forwarded += leat_packetway_goes_on(&d);
            }
        const double took = now_ns() - began;
        if (forwarded != (uint64_t)ROUNDS * PACKETS) die("a packet was not forwarded");
        if ((double)forwarded / took > best) best = (double)forwarded / took;
    }
    return best * 1e3;
}

/* Milliseconds to rebuild the forwarding table after a change. */
static double rebuild(struct leat_packetway_router *r)
{
    double best = 1e9;
    for (int piece = 0; piece < PIECES / 4; piece++) {
        leat_packetway_router_twin(r, TWIN, 1, 0, 0);
        const double began = now_ns();
        leat_packetway_router_fib(r);
        const double took = now_ns() - began;
        if (took < best) best = took;
    }
    return best / 1e6;
}

int main(int argc, char **argv)
{
    struct leat_packetway_router *r = open_router();
    const struct leat_packetway_fib *fib = leat_packetway_router_fib(r);
    const double octets = (double)(sizeof(struct leat_packetway_entry) << fib->slot_bits) /
                          (double)fib->known_max;
    if (fib->count < 100000) die("not all nodes are known");
    fill_packets(0);
    const double l3 = speed(fib, LEAT_PACKETWAY_FROM_HOST);
    fill_packets(1);
    const double l2 = speed(fib, LEAT_PACKETWAY_FROM_TWIN);
    fill_packets(3);
    const double l2_three = speed(fib, LEAT_PACKETWAY_FROM_TWIN);
    note("L3 forward, 100,000 nodes", l3, "M packets/s", ">= 15", l3 >= 15);
    note("L2 forward, one L2RH", l2, "M packets/s", ">= 25", l2 >= 25);
    note("L2 forward, three L2RHs", l2_three, "M packets/s", "", true);
    note("forwarding table made anew", rebuild(r), "ms", "", true);
    note("forwarding table", octets, "octets per entry", "<= 64", octets <= 64);
    free(r);
    if (argc == 3 && strcmp(argv[1], "--json") == 0) return write_json(argv[2]);
    return 0;
}
