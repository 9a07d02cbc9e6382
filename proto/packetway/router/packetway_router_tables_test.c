/* Level D, and the answers that depend on tables: HRTO, GVL2, RTBL, GVRT. */
#include "packetway_router_test.h"

/* ---- HRTO, GVL2 (the table of spec 6.2) ---- */

static void the_table_of_6_2_holds(void)
{
    const struct {
        const char *about, *hrto, *gvl2;
    } row[] = {
        { "000102", "000102", "000102" }, /* itself: natively */
        { "000101", "000101", "000101" }, /* in the LRT: natively */
        { "000103", "000103", "000103" }, /* a buddy too */
        { "000201", "000103", "000103" }, /* through the buddy */
        { "000302", "000102", "000102" }, /* a twin: no L2RH could express it */
        { "000301", "000102", NULL },     /* through the twin: L2SR */
    };
    open_network();
    pass_table_of_san2();
    feed(&a1, LEAT_PACKETWAY_FROM_TWIN,
         "00000102001d0001 0000000800000302 3002000700000001 3100000001000300 2f00000001000302 "
         "2d02000000000000 2e00000000001000 2900000201000301 2d02000100000002 0083050300000000" Z);
    hush(&a1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int gvl2 = 0; gvl2 < 2; gvl2++) {
            char ask[256], want[256];
            const char *to = gvl2 ? row[i].gvl2 : row[i].hrto;
            snprintf(ask, sizeof ask, "0300010200%s0001 0000000100000101 2900000001%s" Z,
                     gvl2 ? "15" : "1a", row[i].about);
            snprintf(want, sizeof want,
                     "0300010100170001 0000000200000102 2900000001%s 2900000001%s" Z, row[i].about,
                     to ? to : "");
            feed(&a1, LEAT_PACKETWAY_FROM_HOST, ask);
            OK(says(&a1, to ? want
                            : "0300010100160001 0000000400000102 2900000301000301 "
                              "2d02000100000003 0083050300000000 2e00000000000800" Z));
        }
    /* from a twin's side, and from beyond: ERR/GENERAL, unless the node is on this SAN */
    feed(&a1, LEAT_PACKETWAY_FROM_TWIN, "0000010200150001 0000000100000301 2900000001000201" Z);
    OK(take(&a1));
    EQ(leat_get_be16(a1.out.octets + 4), LEAT_PACKETWAY_TE_GENERAL);
    close_network();
}

/* Of several twins the L2RH names one; at most four routes, the best first. */
static void l2sr_lists_four_routes_by_rising_q(void)
{
    struct subject s;
    open(&s, 0x102, 0x100, 0);
    for (uint32_t i = 0; i < 6; i++)
        twin(&s, 0x302 + 0x100 * i);
    node(&s, 0x101, "01", false);
    hush(&s);
    for (uint32_t i = 0; i < 6; i++) { /* 0x4444 is on a SAN that all six reach, Q = 20 - 3 i */
        char hex[512];
        const uint32_t from = 0x302 + 0x100 * i;
        snprintf(hex, sizeof hex,
                 "00000102001d0001 0000000a00%06x 3002000900000001 3100000001004400 "
                 "2f0400010100%04x 0100%04x00000000 2d020001000000%02x 0081770000000000 "
                 "2e00000000000%03x 2900000201004444 2d02000100000002 0081880000000000" Z,
                 from, 0x4450 + i, from, 20 - 3 * i, 0x100 + i);
        feed_octets(&s, LEAT_PACKETWAY_FROM_TWIN, from, unhex(hex, s.in));
    }
    hush(&s);
    EQ(counts(&s)->rtbl_received, 6);
    EQ(counts(&s)->rtbl_full, 0); /* worse ones made room */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200150001 0000000100000101 2900000001004444" Z);
    OK(says(&s, "0000010100160001 0000001500000102 2900001401004444 "
                "2d02000300000008 0083000802000000 0081770000000000 0081880000000000 "
                "2e00000000000105 "
                "2d0200030000000b 0083000702000000 0081770000000000 0081880000000000 "
                "2e00000000000104 "
                "2d0200030000000e 0083000602000000 0081770000000000 0081880000000000 "
                "2e00000000000103 "
                "2d02000300000011 0083000502000000 0081770000000000 0081880000000000 "
                "2e00000000000102" Z));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200150001 0000000100000101 2900000001000402" Z);
    OK(says(&s, "0000010100160001 0000000400000102 2900000301000402 2d02000100000001 "
                "0083000402000000 2e00000000000000" Z)); /* a twin: its name is the route */
    close(&s);
}

/* Routes that do not fit the route to the requester are left out; a node's own MTU counts. */
static void l2sr_has_as_many_routes_as_fit(void)
{
    struct subject s;
    open(&s, 0x102, 0x100, 11);
    twin(&s, 0x302);
    node(&s, 0x101, "01", false);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, /* two routes, the better one last, with an MTU of its own */
         "00000102001d0001 0000000c00000302 3002000b00000001 3100000001000600 2f00000001000302 "
         "2d02000100000000 0081770000000000 2e00000000000020 2900000501000601 2d02000100000009 "
         "0081880000000000 2d02000100000002 0081990000000000 2e00000000000006" Z);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200150001 0000000100000101 2900000001000601" Z);
    OK(says(&s, "0000010100160001 0000000500000102 2900000401000601 2d02000200000003 "
                "0081770000000000 0081990000000000 2e00000000000006" Z));
    close(&s);
}

/* More addresses than there is room for: counted, and the rest works. */
static void addresses_without_room_are_counted(void)
{
    struct subject s;
    struct leat_packetway_router_config c = config_of(0x102, 0x100, 0);
    const struct leat_packetway_san_node range = {
        .address = { .at = LEAT_PACKETWAY_AT_MIN, .low = 0x180, .high = 0x18F }
    };
    c.known_max = 17;
    c.ranges_max = 0;
    open_with(&s, &c);
    for (uint32_t i = 0; i < 20; i++)
        node(&s, 0x110 + i, "01", false);
    EQ(leat_packetway_router_node(s.r, &range, 0), LEAT_ERR_OK);
    EQ(leat_packetway_router_fib(s.r)->count, 17);
    EQ(counts(&s)->known_full, 4 + 1);
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000011000000052 0000000000000101" Z)->verdict,
       LEAT_PACKETWAY_TO_SAN);
    close(&s);
}

/* ---- RTBL (spec 6.5) ---- */

/* A table from a neighbour, with one node. */
static void feed_table(struct subject *s, enum leat_packetway_side side, uint16_t sn, uint32_t san,
                       const uint32_t *passed, size_t count, uint16_t q, uint32_t node_address)
{
    uint8_t db[512];
    struct leat_packetway_build b;
    static struct leat_packetway_message m;
    const struct leat_packetway_address a = PW_SINGLE(node_address);
    size_t len = 0;
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_table(&b, sn);
    leat_packetway_build_nest(&b);
    leat_packetway_build_san(&b, san);
    leat_packetway_build_received_from(&b, passed, count);
    leat_packetway_build_route(&b, q, NULL, 0);
    leat_packetway_build_mtu(&b, 0);
    leat_packetway_build_address(&b, &a);
    leat_packetway_build_nest(&b);
    leat_packetway_build_route(&b, 0, NULL, 0);
    memset(&m, 0, sizeof m);
    m.header = (struct leat_packetway_header){ .dt = 0x102,
                                               .sa = passed[count - 1],
                                               .pt = LEAT_PACKETWAY_PT_RRP,
                                               .te = LEAT_PACKETWAY_TE_RTBL };
    m.data = db;
    m.data_len = b.len;
    EQ(leat_packetway_message_encode(&m, s->in, sizeof s->in, &len), LEAT_ERR_OK);
    feed_octets(s, side, passed[count - 1], len);
}

static void tables_that_are_not_kept(void)
{
    struct subject s;
    const uint32_t stranger[] = { 0x555 }, looped[] = { 0x700, 0x102, 0x302 }, mine[] = { 0x302 },
                   good[] = { 0x700, 0x302 };
    open_pair(&s);
    feed_table(&s, LEAT_PACKETWAY_FROM_HOST, 1, 0x600, stranger, 1, 0, 0x601);
    EQ(counts(&s)->rtbl_strange, 1);
    feed_table(&s, LEAT_PACKETWAY_FROM_HOST, 1, 0x600, mine, 1, 0,
               0x601); /* a twin, not on this SAN */
    EQ(counts(&s)->rtbl_strange, 2);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, looped, 3, 0, 0x601);
    EQ(counts(&s)->rtbl_loops, 1);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x100, mine, 1, 0, 0x601); /* this SAN's ID */
    EQ(counts(&s)->rtbl_loops, 2);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, mine, 1, 0, 0x1F0); /* a node of the block */
    EQ(counts(&s)->overlaps, 1);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, /* a range that includes nodes of the own block */
         "00000102001d0001 0000000800000302 3002000700000001 3100000001000300 2f00000001000302 "
         "2d02000000000000 2e00000000001000 29040002020001f0 0300031f00000000 2d02000000000002" Z);
    EQ(counts(&s)->overlaps, 2);
    EQ(live_tables(&s), 0);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 5, 0x600, good, 2, 0, 0x601);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 5, 0x600, good, 2, 0, 0x602); /* not newer */
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 4, 0x600, good, 2, 0, 0x602);
    EQ(counts(&s)->rtbl_old, 2);
    EQ(live_tables(&s), 1);
    EQ(hush(&s), 1); /* a copy to the buddy */
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 6, 0x600, good, 2, 0, 0x602);
    EQ(live_tables(&s), 1);
    EQ(hush(&s), 1);
    EQ(counts(&s)->rtbl_sent, 3); /* the own table first */
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, (uint16_t)(6 + 0x7FFF), 0x600, good, 2, 0, 0x602);
    EQ(counts(&s)->rtbl_old, 2); /* newer() wraps */
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 6, 0x600, good, 2, 0, 0x602);
    EQ(counts(&s)->rtbl_old, 3);
    close(&s);
}

/* K = 4 per SAN; the worst is evicted, and what is not kept is not forwarded. */
static void four_tables_per_san_are_kept(void)
{
    struct subject s;
    struct leat_packetway_table_view v;
    open_pair(&s);
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t passed[] = { 0x700 + i, 0x302 };
        feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, passed, 2, (uint16_t)(10 - i), 0x601);
        EQ(hush(&s), 1);
    }
    const uint32_t worse[] = { 0x710, 0x302 };
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, worse, 2, 50, 0x601);
    EQ(hush(&s), 0);
    EQ(counts(&s)->rtbl_full, 1);
    EQ(live_tables(&s), 4);
    for (uint32_t i = 0; i < 16; i++)
        if (leat_packetway_router_table(s.r, i, &v)) OK(v.q <= 9);
    for (uint32_t i = 0; i < 4; i++) { /* without a SAN-ID each mapper counts by itself */
        const uint32_t passed[] = { 0x800 + i, 0x302 };
        feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0, passed, 2, 1, 0x901 + i);
    }
    EQ(live_tables(&s), 8);
    /* all slots taken: newcomers stay out, and are counted */
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t passed[] = { 0xA00 + i, 0x302 };
        feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0xA00 + 0x100 * i, passed, 2, 1, 0x2001 + i);
    }
    EQ(live_tables(&s), 16);
    EQ(counts(&s)->rtbl_full, 1 + 12);
    close(&s);
}

/* Least Q; then the shorter RCVF; then the lower last address. */
static void the_best_table_is_chosen_by_q_then_length_then_address(void)
{
    struct subject s;
    const uint32_t far[] = { 0x700, 0x302 }, near[] = { 0x302 }, buddy[] = { 0x700, 0x103 };
    open_pair(&s);
    feed_table(&s, LEAT_PACKETWAY_FROM_BUDDY, 1, 0x600, buddy, 2, 3, 0x601); /* 3 + 2 */
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000060100000052 0000000000000101" Z)->buddy, 1);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, far, 2, 5, 0x601); /* 5 + 1: worse */
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000060100000052 0000000000000101" Z)->buddy, 1);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 2, 0x600, far, 2, 4, 0x601); /* equal: 0x103 < 0x302 */
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000060100000052 0000000000000101" Z)->buddy, 1);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, near, 1, 4, 0x601); /* equal and shorter */
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000060100000052 0000000000000101" Z)->verdict,
       LEAT_PACKETWAY_TO_TWIN);
    /* the mapper is a node of its table */
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000070000000052 0000000000000101" Z)->buddy, 1);
    close(&s);
}

/* Of the table, of this SAN, and of the router link if it came over one; 0 is infinite. */
static void the_mtu_of_a_table_is_the_smallest_on_its_way(void)
{
    static const struct {
        uint32_t table, san, link, by_twin, by_buddy;
    } row[] = {
        { 0, 0, 0, 0, 0 },         { 150, 200, 100, 100, 150 }, { 150, 0, 0, 150, 150 },
        { 0, 200, 100, 100, 200 }, { 90, 200, 100, 90, 90 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int by_twin = 0; by_twin < 2; by_twin++) {
            struct subject s;
            struct leat_packetway_table_view v;
            char hex[512];
            open(&s, 0x102, 0x100, row[i].san);
            EQ(leat_packetway_router_twin(s.r, 0x302, 1, row[i].link, 0), LEAT_ERR_OK);
            node(&s, 0x103, "0203", true);
            snprintf(hex, sizeof hex,
                     "00000102001d0001 0000000500000%s 3002000400000001 3100000001000600 "
                     "2f00000001000%s 2d02000000000000 2e000000%08x" Z,
                     by_twin ? "302" : "103", by_twin ? "302" : "103", row[i].table);
            feed(&s, by_twin ? LEAT_PACKETWAY_FROM_TWIN : LEAT_PACKETWAY_FROM_BUDDY, hex);
            OK(leat_packetway_router_table(s.r, 0, &v));
            EQ(v.mtu_words, by_twin ? row[i].by_twin : row[i].by_buddy);
            close(&s);
        }
}

/* ---- any tables against a plain reading of 5.3 ---- */

enum { UNIVERSE = 0x200, UNIVERSE_LEN = 32, KINDS = 4, TABLES_MAX = 8, LOCAL_MAX = 3 };

/* One record of a table, or of the LRT. */
struct reported {
    struct leat_packetway_address address;
    uint16_t q;
};

struct sent_table {
    uint32_t passed[3];
    uint32_t count;
    unsigned kind; /* 0, 1: twins; 2, 3: buddies */
    uint16_t q;    /* with the hop to me */
    struct reported nodes[5];
    unsigned node_count;
};

static struct leat_packetway_address random_address(struct leat_random *r)
{
    const uint32_t x = UNIVERSE + 1 + (uint32_t)leat_random_below(r, UNIVERSE_LEN);
    struct leat_packetway_address a = PW_SINGLE(x);
    const uint64_t kind = leat_random_below(r, 6);
    if (kind == 0)
        a = (struct leat_packetway_address){ LEAT_PACKETWAY_AT_MIN, x,
                                             x + (uint32_t)leat_random_below(r, 8) };
    if (kind == 1)
        a = (struct leat_packetway_address){ LEAT_PACKETWAY_AT_VALUE, x & ~3u, 0x7FFFFC };
    return a;
}

static const uint32_t neighbours[KINDS] = { 0x302, 0x402, 0x103, 0x104 };

static void feed_random_table(struct subject *s, struct leat_random *r, struct sent_table *t,
                              uint32_t number)
{
    uint8_t db[512];
    struct leat_packetway_build b;
    static struct leat_packetway_message m;
    size_t len = 0;
    t->kind = (unsigned)leat_random_below(r, KINDS);
    t->count = 2 + (uint32_t)leat_random_below(r, 2);
    t->passed[0] = 0x700 + number;
    t->passed[1] = 0x800 + number;
    t->passed[t->count - 1] = neighbours[t->kind];
    const uint16_t q = (uint16_t)leat_random_below(r, 4);
    t->q = (uint16_t)(q + (t->kind < 2 ? 1 : 2));
    t->node_count = 1 + (unsigned)leat_random_below(r, 5);
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_table(&b, 1);
    leat_packetway_build_nest(&b);
    leat_packetway_build_san(&b, 0x1000 + number);
    leat_packetway_build_received_from(&b, t->passed, t->count);
    leat_packetway_build_route(&b, q, NULL, 0);
    leat_packetway_build_mtu(&b, 0);
    for (unsigned i = 0; i < t->node_count; i++) {
        t->nodes[i].address = random_address(r);
        t->nodes[i].q = (uint16_t)leat_random_below(r, 3);
        leat_packetway_build_address(&b, &t->nodes[i].address);
        leat_packetway_build_nest(&b);
        leat_packetway_build_route(&b, t->nodes[i].q, NULL, 0);
        leat_packetway_build_leave(&b);
    }
    memset(&m, 0, sizeof m);
    m.header = (struct leat_packetway_header){ .dt = 0x102,
                                               .sa = neighbours[t->kind],
                                               .pt = LEAT_PACKETWAY_PT_RRP,
                                               .te = LEAT_PACKETWAY_TE_RTBL };
    m.data = db;
    m.data_len = b.len;
    EQ(leat_packetway_message_encode(&m, s->in, sizeof s->in, &len), LEAT_ERR_OK);
    feed_octets(s, t->kind < 2 ? LEAT_PACKETWAY_FROM_TWIN : LEAT_PACKETWAY_FROM_BUDDY,
                neighbours[t->kind], len);
}

/* The route to x in a table: its total Q, or -1. */
static int way_in(const struct sent_table *t, uint32_t x)
{
    int best = t->passed[0] == x ? t->q : -1;
    for (unsigned i = 0; i < t->node_count; i++) {
        const int q = t->q + t->nodes[i].q;
        if (leat_packetway_address_matches(&t->nodes[i].address, x) && (best < 0 || q < best))
            best = q;
    }
    return best;
}

/* Rule 5: the neighbour, or -1. */
static int choose(const struct sent_table *tables, unsigned count, uint32_t x,
                  enum leat_packetway_side side)
{
    const struct sent_table *best = NULL;
    int best_q = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct sent_table *t = &tables[i];
        const int q = way_in(t, x);
        if (q < 0 || (side == LEAT_PACKETWAY_FROM_TWIN && t->kind < 2) ||
            (side == LEAT_PACKETWAY_FROM_BUDDY && t->kind >= 2))
            continue;
        bool better = !best || q < best_q;
        if (best && q == best_q)
            better = t->count != best->count ? t->count < best->count
                                             : neighbours[t->kind] < neighbours[best->kind];
        if (better) {
            best = t;
            best_q = q;
        }
    }
    return best ? (int)best->kind : -1;
}

static void check_choice(struct subject *s, const struct reported *lrt, unsigned lrt_count,
                         int chosen, uint32_t x, enum leat_packetway_side side)
{
    char hex[128];
    unsigned first = 0;
    snprintf(hex, sizeof hex, "00%06x00000052 0000000000000000" Z, x);
    const struct leat_packetway_decision *d = feed(s, side, hex);
    while (first < lrt_count && !leat_packetway_address_matches(&lrt[first].address, x))
        first++;
    if (first < lrt_count) {
        EQ(d->verdict, LEAT_PACKETWAY_TO_SAN);
        EQ(d->route[0], first); /* rule 4: the first matching entry */
    } else if (chosen < 0) {
        EQ(d->reason, LEAT_PACKETWAY_REASON_UNKNOWN);
    } else {
        EQ(d->verdict, chosen < 2 ? LEAT_PACKETWAY_TO_TWIN : LEAT_PACKETWAY_TO_SAN);
        EQ(chosen < 2 ? d->twin : d->buddy + 1, chosen);
    }
}

static void any_tables_are_read_as_5_3_says(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned round = 0; round < LEAT_ROUNDS / 2000 && !tap_checks_failed; round++) {
        struct subject s;
        struct sent_table tables[TABLES_MAX];
        struct reported lrt[LOCAL_MAX];
        const unsigned table_count = 1 + (unsigned)leat_random_below(&r, TABLES_MAX);
        const unsigned lrt_count = (unsigned)leat_random_below(&r, LOCAL_MAX + 1);
        open(&s, 0x102, 0x100, 0);
        twin(&s, 0x302);
        twin(&s, 0x402);
        unsigned kept = 0;
        for (unsigned i = 0; i < lrt_count; i++) {
            const uint8_t route[] = { (uint8_t)kept };
            lrt[kept].address = random_address(&r);
            const struct leat_packetway_san_node n = { .address = lrt[kept].address,
                                                       .route = route,
                                                       .route_len = 1 };
            bool twice = false;
            for (unsigned k = 0; k < kept; k++)
                twice = twice || memcmp(&lrt[k].address, &n.address, sizeof n.address) == 0;
            if (twice) continue; /* it would replace the other */
            EQ(leat_packetway_router_node(s.r, &n, 0), LEAT_ERR_OK);
            kept++;
        }
        node(&s, 0x103, "f1", true);
        node(&s, 0x104, "f2", true);
        hush(&s);
        for (unsigned i = 0; i < table_count; i++)
            feed_random_table(&s, &r, &tables[i], i);
        hush(&s);
        EQ(live_tables(&s), table_count);
        EQ(leat_packetway_router_counts(s.r)->known_full, 0); /* there is room for every range */
        for (uint32_t x = UNIVERSE; x < UNIVERSE + UNIVERSE_LEN + 12; x++)
            for (int side = LEAT_PACKETWAY_FROM_HOST; side <= LEAT_PACKETWAY_FROM_TWIN; side++)
                check_choice(&s, lrt, kept,
                             choose(tables, table_count, x, (enum leat_packetway_side)side), x,
                             (enum leat_packetway_side)side);
        for (unsigned i = 0; i < table_count; i++) /* mappers are nodes */
            check_choice(&s, lrt, 0,
                         choose(tables, table_count, 0x700 + i, LEAT_PACKETWAY_FROM_HOST),
                         0x700 + i, LEAT_PACKETWAY_FROM_HOST);
        close(&s);
    }
}

/* Spec 5.3: once in 10 s per (SA, DT), to nodes of this SAN. */
static void a_detour_over_me_is_redirected(void)
{
    struct subject s;
    const uint32_t buddy[] = { 0x700, 0x103 };
    static const char packet[] = "0900060100000052 0000000000000101" Z;
    open_pair(&s);
    feed_table(&s, LEAT_PACKETWAY_FROM_BUDDY, 1, 0x600, buddy, 2, 3, 0x601);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, packet);
    OK(says(&s, "0900010100170001 0000000200000102 2900000001000601 2900000001000103" Z));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, packet);
    OK(!take(&s));
    s.now = 10 * S;
    feed(&s, LEAT_PACKETWAY_FROM_HOST, packet);
    OK(take(&s));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0900060100000052 0000000000000601" Z); /* not of this SAN */
    OK(!take(&s));
    EQ(counts(&s)->redirects, 2);
    close(&s);
}

/* GVRT: a twin gets the own table and those of buddies, a buddy those of twins, each its own ones
 * too. */
static void gvrt_is_answered_by_kind(void)
{
    struct subject s;
    const uint32_t by_twin[] = { 0x700, 0x302 }, by_buddy[] = { 0x800, 0x103 },
                   of_twin[] = { 0x302, 0x900, 0x103 };
    open_pair(&s);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 1, 0x600, by_twin, 2, 0, 0x601);
    feed_table(&s, LEAT_PACKETWAY_FROM_BUDDY, 1, 0x700, by_buddy, 2, 0, 0x701);
    feed_table(&s, LEAT_PACKETWAY_FROM_BUDDY, 1, 0x300, of_twin, 3, 0, 0x301);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "00000102001c0001 0000000000000302" Z);
    EQ(hush(&s), 3); /* mine, by_buddy, of_twin */
    feed(&s, LEAT_PACKETWAY_FROM_BUDDY, "00000102001c0001 0000000000000103" Z);
    EQ(hush(&s), 1); /* by_twin */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "00000102001c0001 0000000000000101" Z);
    EQ(hush(&s), 0);
    EQ(counts(&s)->rtbl_strange, 1);
    close(&s);
}

/* Ten of each per second, whatever a neighbour requests and however often a node changes. */
static void questions_and_changes_cannot_make_a_flood(void)
{
    struct subject s;
    open_pair(&s);
    for (unsigned i = 0; i < 100; i++) {
        feed(&s, LEAT_PACKETWAY_FROM_TWIN, "00000102001c0001 0000000000000302" Z);
        hush(&s);
    }
    EQ(counts(&s)->rtbl_limited, 90);
    EQ(counts(&s)->rtbl_sent, 1 + 10);
    s.now = S;
    for (unsigned i = 0; i < 100; i++) {
        feed(&s, LEAT_PACKETWAY_FROM_HOST,
             i % 2 ? "0000010200190001 0000000200000101 2900000101000101 2b03000001000000" Z
                   : "0000010200190001 0000000200000101 2900000101000101 2b03000002000000" Z);
        hush(&s);
    }
    EQ(counts(&s)->rtbl_sent, 11 + 10);
    s.now = 2 * S; /* the last change is reported as well, a little later */
    OK(leat_packetway_router_next_at(s.r) <= s.now);
    leat_packetway_router_tick(s.r, s.now);
    EQ(hush(&s), 1);
    OK(memcmp(s.out.octets + 16 + 8 * 6, "\x2b\x03\0\0\x01", 5) == 0);
    close(&s);
}

/* The own table from before a restart, with a larger number: numbering continues from there. */
static void my_own_number_is_learned_back(void)
{
    struct subject s;
    const uint32_t back[] = { 0x102, 0x302 };
    open_pair(&s);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 500, 0x100, back, 2, 0, 0x101);
    OK(take(&s));
    EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_RTBL);
    EQ(leat_get_be16(s.out.octets + 22), 501);
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 502, 0x100, back, 2, 0, 0x101); /* 501 of this life */
    OK(!take(&s));
    feed_table(&s, LEAT_PACKETWAY_FROM_TWIN, 400, 0x100, back, 2, 0, 0x101);
    OK(!take(&s));
    close(&s);
}

/* Too large for the MTU: as ranges, without routes. */
static void a_table_above_the_mtu_is_sent_as_ranges(void)
{
    struct subject s;
    struct leat_packetway_router_config c = config_of(0x102, 0x100, 0);
    open_with(&s, &c);
    EQ(leat_packetway_router_twin(s.r, 0x302, 1, 16, 0), LEAT_ERR_OK);
    for (uint32_t i = 0; i < 10; i++)
        node(&s, 0x110 + i + (i > 5), "0103", false);
    OK(take(&s)); /* GVRT */
    OK(says(&s, "00000302001d0001 0000000b00000102 3002000a00000001 3100000001000100 "
                "2f00000001000102 2d02000000000000 2e00000000000000 "
                "2904000202000110 0300011500000000 2d02000000000000 "
                "2904000202000117 0300011a00000000 2d02000000000000" Z));
    close(&s);
    open_with(&s, &c); /* and smaller still: one range */
    EQ(leat_packetway_router_twin(s.r, 0x302, 1, 11, 0), LEAT_ERR_OK);
    for (uint32_t i = 0; i < 10; i++)
        node(&s, 0x110 + 2 * i, "0103", false);
    OK(take(&s));
    OK(says(&s, "00000302001d0001 0000000800000102 3002000700000001 3100000001000100 "
                "2f00000001000102 2d02000000000000 2e00000000000000 "
                "2904000202000110 0300012200000000 2d02000000000000" Z));
    close(&s);
}

/* Ranges forward by address, hold no plan, and lose to a first matching entry of the LRT. */
static void ranges_serve_layer_3_only(void)
{
    struct subject s;
    const uint8_t route[] = { 9 };
    const struct leat_packetway_san_node range = {
        .address = { .at = LEAT_PACKETWAY_AT_MIN, .low = 0x120, .high = 0x12F },
        .route = route,
        .route_len = 1,
        .q = 2
    };
    open_pair(&s);
    EQ(leat_packetway_router_node(s.r, &range, 0), LEAT_ERR_OK);
    node(&s, 0x125, "77", false); /* after the range: the first entry wins */
    const struct leat_packetway_decision *d = feed(&s, LEAT_PACKETWAY_FROM_HOST,
                                                   "0000012500000052 0000000000000101" Z);
    EQ(d->verdict, LEAT_PACKETWAY_TO_SAN);
    EQ(d->route[0], 9);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "00000102001d0001 0000000800000302 3002000700000001 3100000001000300 2f00000001000302 "
         "2d02000000000000 2e00000000001000 2904000202000310 0300031f00000000 2d02000000000002" Z);
    hush(&s);
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000031500000052 0000000000000101" Z)->verdict,
       LEAT_PACKETWAY_TO_TWIN);
    /* A plan is its mapper's to tell (packetway_router_search_test.c); else by address. */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200150001 0000000100000101 2900000001000315" Z);
    OK(says(&s, "0000030200150001 0000000100000102 2900000001000315" Z));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "00000102001a0001 0000000100000101 2900000001000315" Z);
    OK(says(&s, "0000010100170001 0000000200000102 2900000001000315 2900000001000102" Z));
    close(&s);
}

TAP_MAIN(T(the_table_of_6_2_holds), T(l2sr_lists_four_routes_by_rising_q),
         T(l2sr_has_as_many_routes_as_fit), T(addresses_without_room_are_counted),
         T(tables_that_are_not_kept), T(four_tables_per_san_are_kept),
         T(the_best_table_is_chosen_by_q_then_length_then_address),
         T(the_mtu_of_a_table_is_the_smallest_on_its_way), T(any_tables_are_read_as_5_3_says),
         T(a_detour_over_me_is_redirected), T(gvrt_is_answered_by_kind),
         T(questions_and_changes_cannot_make_a_flood), T(my_own_number_is_learned_back),
         T(a_table_above_the_mtu_is_sent_as_ranges), T(ranges_serve_layer_3_only))
