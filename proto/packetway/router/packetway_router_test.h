/*
 * A half-router for tests, and the network of the spec's section 9: its input in hex, its output
 * compared octet by octet.
 */
#ifndef LEAT_PACKETWAY_ROUTER_TEST_H
#define LEAT_PACKETWAY_ROUTER_TEST_H

#include "packetway_about.h"
#include "packetway_record.h"
#include "packetway_router.h"
#include "packetway_vectors_test.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

#define S LEAT_PACKETWAY_SECOND
#define Z " 0000000000000000"
#define PW_SINGLE(x)                               \
    {                                              \
        .at = LEAT_PACKETWAY_AT_SINGLE, .low = (x) \
    }

enum { LEN_MAX = 8192 };

/* ---- a half-router to talk to ---- */

struct subject {
    struct leat_packetway_router *r;
    void *memory;
    leat_time now;
    struct leat_packetway_routed routed;
    struct leat_packetway_outgoing out;
    uint8_t in[LEN_MAX];
};

static inline struct leat_packetway_router_config config_of(uint32_t address, uint32_t bias,
                                                            uint32_t mtu_words)
{
    struct leat_packetway_router_config c = leat_packetway_router_defaults();
    c.address = address;
    c.block = (struct leat_packetway_block){ bias, 0xF0 };
    c.mtu_words = mtu_words;
    c.nodes_max = 32;
    c.tables_max = 16;
    c.table_len_max = 4096;
    c.known_max = 256;
    c.ranges_max = 64;
    c.pending_max = 32;
    return c;
}

static inline void open_with(struct subject *s, const struct leat_packetway_router_config *c)
{
    const size_t len = leat_packetway_router_footprint(c);
    memset(s, 0, sizeof *s);
    s->memory = malloc(len);
    OK(len > 0);
    EQ(leat_packetway_router_init(c, s->memory, len, 0, &s->r), LEAT_ERR_OK);
}

static inline void open(struct subject *s, uint32_t address, uint32_t bias, uint32_t mtu_words)
{
    const struct leat_packetway_router_config c = config_of(address, bias, mtu_words);
    open_with(s, &c);
}

static inline void close(struct subject *s)
{
    free(s->memory);
}

static inline void twin(struct subject *s, uint32_t address)
{
    EQ(leat_packetway_router_twin(s->r, address, 1, 0, s->now), LEAT_ERR_OK);
}

static inline void node(struct subject *s, uint32_t address, const char *route, bool buddy)
{
    uint8_t octets[VECTOR_LEN_MAX];
    const struct leat_packetway_san_node n = { .address = PW_SINGLE(address),
                                               .route = octets,
                                               .route_len = unhex(route, octets),
                                               .q = 2,
                                               .buddy = buddy };
    EQ(leat_packetway_router_node(s->r, &n, s->now), LEAT_ERR_OK);
}

static inline const struct leat_packetway_decision *
feed_octets(struct subject *s, enum leat_packetway_side side, uint32_t from, size_t len)
{
    const struct leat_packetway_arrival arrival = { .side = side, .from = from };
    leat_packetway_router_input(s->r, &arrival, s->in, (uint32_t)len, s->now, &s->routed);
    return &s->routed.decision;
}

static inline const struct leat_packetway_decision *
feed(struct subject *s, enum leat_packetway_side side, const char *hex)
{
    return feed_octets(s, side, 0x302, unhex(hex, s->in));
}

/* The next message of its own. */
static inline bool take(struct subject *s)
{
    return leat_packetway_router_take(s->r, s->now, &s->out);
}

static inline bool is_hex(const uint8_t *octets, size_t len, const char *hex)
{
    uint8_t want[VECTOR_LEN_MAX];
    const size_t want_len = unhex(hex, want);
    const bool same = len == want_len && memcmp(octets, want, len) == 0;
    if (same) return true;
    printf("# want %s\n# have ", hex);
    for (size_t i = 0; i < len; i++)
        printf("%s%02x", i && i % 8 == 0 ? " " : "", octets[i]);
    printf("\n");
    return false;
}

static inline bool says(struct subject *s, const char *hex)
{
    if (!take(s)) {
        printf("# nothing was said, want %s\n", hex);
        return false;
    }
    return is_hex(s->out.octets, s->out.len, hex);
}

static inline const char *vector(const char *name)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (strncmp(vectors[i].name, name, len) == 0 && vectors[i].name[len] == ':')
            return vectors[i].hex;
    OK(false);
    return "";
}

/* Discards its pending messages. */
static inline unsigned hush(struct subject *s)
{
    unsigned count = 0;
    while (take(s))
        count++;
    return count;
}

static inline const struct leat_packetway_router_counts *counts(const struct subject *s)
{
    return leat_packetway_router_counts(s->r);
}

static inline unsigned live_tables(struct subject *s)
{
    struct leat_packetway_table_view v;
    unsigned n = 0;
    for (uint32_t i = 0; i < 16; i++)
        n += leat_packetway_router_table(s->r, i, &v) && !v.lost;
    return n;
}

/* 0x102 with twin 0x302, node 0x101 and buddy 0x103. */
static inline void open_pair(struct subject *s)
{
    open(s, 0x102, 0x100, 0);
    twin(s, 0x302);
    node(s, 0x101, "01", false);
    node(s, 0x103, "0203", true);
    hush(s);
}

/* ---- the network of section 9 ---- */

static struct subject a1, a3, b1, b2; /* half-routers of routers A and B on SANs 1, 2, 3 */

static inline void open_network(void)
{
    open(&a1, 0x102, 0x100, 2048);
    open(&a3, 0x302, 0x300, 4096);
    open(&b1, 0x103, 0x100, 2048);
    open(&b2, 0x202, 0x200, 1024);
    twin(&a1, 0x302);
    twin(&a3, 0x102);
    twin(&b1, 0x202);
    twin(&b2, 0x103);
    node(&a1, 0x101, "010300", false);
    node(&a1, 0x103, "0101020300", true);
    node(&b1, 0x101, "020300", false);
    node(&b1, 0x102, "0201020300", true);
    node(&a3, 0x301, "050300", false);
    node(&b2, 0x201, "03000300", false);
}

static inline void close_network(void)
{
    close(&a1);
    close(&a3);
    close(&b1);
    close(&b2);
}

/* Node2 registers as "Super" with capability 7 (4, 8). */
#define NODE2_INFO                                                         \
    "0000020200190001 0000000400000201 2900000301000201 2a07000153757065 " \
    "7200000000000000 2b01000007040800" Z

/* The RTBL of B2 goes by B1 and A1 to A3: two copies on its route. */
static inline void pass_table_of_san2(void)
{
    uint8_t copy[VECTOR_LEN_MAX];
    hush(&a1);
    hush(&a3);
    hush(&b1);
    OK(feed(&b2, LEAT_PACKETWAY_FROM_HOST, NODE2_INFO)->verdict == LEAT_PACKETWAY_DELIVER);
    OK(says(&b2, "00000103001c0001 0000000000000202" Z)); /* GVRT at start-up */
    OK(says(&b2, vector("T25")));
    EQ(b2.out.verdict, LEAT_PACKETWAY_TO_TWIN);
    memcpy(b1.in, b2.out.octets, b2.out.len);
    feed_octets(&b1, LEAT_PACKETWAY_FROM_TWIN, 0x202, b2.out.len);
    OK(take(&b1));
    EQ(b1.out.verdict, LEAT_PACKETWAY_TO_SAN);
    OK(is_hex(b1.out.route, b1.out.route_len, "0201020300"));
    memcpy(copy, b1.out.octets, b1.out.len);
    EQ(leat_get_be16(copy + 22), 2); /* SN */
    memcpy(a1.in, copy, b1.out.len);
    feed_octets(&a1, LEAT_PACKETWAY_FROM_BUDDY, 0, b1.out.len);
    OK(says(&a1, vector("T26")));
    EQ(a1.out.verdict, LEAT_PACKETWAY_TO_TWIN);
    memcpy(a3.in, a1.out.octets, a1.out.len);
    feed_octets(&a3, LEAT_PACKETWAY_FROM_TWIN, 0x102, a1.out.len);
    EQ(hush(&a3), 0); /* no buddies */
    EQ(hush(&b2), 0);
}

#endif
