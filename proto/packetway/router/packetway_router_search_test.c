/* Nodes of ranges: their mappers are asked for routes and names, octet by octet. */
#include "packetway_router_test.h"

#define ASKS        "0300010200150001 0000000100000101 2900000001000315" Z
#define ASKS_MAPPER "0300030200150001 0000000100000102 2900000001000315" Z
#define BY_ADDRESS  "0300010100170001 0000000200000102 2900000001000315 2900000001000102" Z
#define MAPPER_SAYS                                                        \
    "0300010200160001 0000000400000302 2900000301000315 2d02000100000002 " \
    "0083010203000000 2e00000000000800" Z
#define NAMED        " 2a02000058390000" /* X9 */
#define TELLS        "0300010200180001 0000000100000101" NAMED Z
#define TELLS_MAPPER "0300030200180001 0000000100000102" NAMED Z

/* Host 0x101, half-router 0x102; behind its twin 0x302 the range 0x310 to 0x31f. */
static void open_asker(struct subject *s)
{
    open_pair(s);
    feed(s, LEAT_PACKETWAY_FROM_TWIN,
         "00000102001d0001 0000000800000302 3002000700000001 3100000001000300 2f00000001000302 "
         "2d02000000000000 2e00000000001000 2904000202000310 0300031f00000000 2d02000000000002" Z);
    hush(s);
}

/* Half-router 0x302 with node 0x315, whose name is X9. Its twin is 0x102. */
static void open_mapper(struct subject *s)
{
    open(s, 0x302, 0x300, 0x800);
    twin(s, 0x102);
    node(s, 0x315, "010203", false);
    feed(s, LEAT_PACKETWAY_FROM_HOST, "0000030200190001 0000000200000315 2900000101000315" NAMED Z);
    hush(s);
}

static void a_mapper_is_asked_and_its_route_is_told_and_kept(void)
{
    static const char answer[] =
        "0300010100160001 0000000400000102 2900000301000315 2d02000100000003 "
        "0083010203000000 2e00000000000800" Z;
    struct subject s;
    open_asker(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
    OK(says(&s, ASKS_MAPPER));
    EQ(s.out.verdict, LEAT_PACKETWAY_TO_TWIN);
    EQ(leat_packetway_router_twin_at(s.r, s.out.twin), 0x302);
    EQ(leat_packetway_router_twin_at(s.r, 1), 0);
    EQ(hush(&s), 0);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, MAPPER_SAYS);
    OK(says(&s, answer));
    EQ(hush(&s), 0);
    s.now += (LEAT_PACKETWAY_FOUND_S - 1) * S;
    feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
    OK(says(&s, answer));
    s.now += 2 * S;
    feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
    OK(says(&s, ASKS_MAPPER));
    EQ(counts(&s)->searches, 2);
    close(&s);
}

static void a_route_that_nobody_asked_for_is_not_believed(void)
{
    struct subject s;
    open_asker(&s);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, MAPPER_SAYS);
    EQ(hush(&s), 0);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
    OK(says(&s, ASKS_MAPPER));
    /* from another one than its mapper */
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "0300010200160001 0000000400000303 2900000301000315 2d02000100000002 "
         "0083010203000000 2e00000000000800" Z);
    EQ(hush(&s), 0);
    close(&s);
}

static void without_a_route_a_node_is_unknown_or_reached_by_address(void)
{
    struct subject s;
    open_asker(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
    OK(says(&s, ASKS_MAPPER));
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "030001020047ffff 0000000100000302 2900000001000315" Z);
    OK(says(&s, "030001010047ffff 0000000100000102 2900000001000315" Z));
    /* a mapper that does not serve half-routers quotes the question */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
    OK(says(&s, ASKS_MAPPER));
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "03000102004affff 0000000400000302 0300030200150001 0000000100000102 "
         "2900000001000315 0000000000000000" Z);
    OK(says(&s, BY_ADDRESS));
    /* a silent one: the third time */
    for (unsigned i = 0; i < 3; i++, s.now += S) {
        feed(&s, LEAT_PACKETWAY_FROM_HOST, ASKS);
        OK(says(&s, i < 2 ? ASKS_MAPPER : BY_ADDRESS));
    }
    close(&s);
}

static void a_mapper_tells_its_own_route(void)
{
    struct subject s;
    open_mapper(&s);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, ASKS_MAPPER);
    OK(says(&s, MAPPER_SAYS));
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "0300030200150001 0000000100000102 2900000001000316" Z);
    OK(says(&s, "030001020047ffff 0000000100000302 2900000001000316" Z));
    close(&s);
}

static void names_are_asked_of_mappers(void)
{
    static const char told[] = "0300010200190001 0000000200000302 2900000101000315" NAMED Z;
    struct subject s, m;
    open_asker(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, TELLS);
    OK(says(&s, TELLS_MAPPER));
    EQ(hush(&s), 0);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, TELLS); /* again: it has to wait */
    EQ(hush(&s), 0);
    open_mapper(&m);
    feed(&m, LEAT_PACKETWAY_FROM_TWIN, TELLS_MAPPER);
    OK(says(&m, told));
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, told);
    OK(says(&s, "0300010100190001 0000000200000102 2900000101000315" NAMED Z));
    EQ(hush(&s), 0);
    close(&s);
    close(&m);
}

static void what_no_mapper_has_is_unknown(void)
{
    struct subject s;
    open_asker(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, TELLS);
    OK(says(&s, TELLS_MAPPER));
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "030001020047ffff 0000000100000302" NAMED Z);
    OK(says(&s, "030001010047ffff 0000000100000102" NAMED Z));
    /* a mapper that is silent: nothing is said, and it is over after some seconds */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, TELLS);
    OK(says(&s, TELLS_MAPPER));
    s.now += (LEAT_PACKETWAY_TELL_S + 1) * S;
    leat_packetway_router_tick(s.r, s.now);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "0300010200190001 0000000200000302 2900000101000315" NAMED Z);
    while (take(&s))
        OK(leat_get_be16(s.out.octets + LEAT_PACKETWAY_TE_AT) != LEAT_PACKETWAY_TE_INFO);
    close(&s);
}

/* Hosts 0x101 and 0x104 ask at a time; one name is of 0x315, the other of nobody. */
static void an_answer_to_one_host_does_not_end_the_question_of_another(void)
{
    static const char other[] = "0300010200180001 0000000100000104 2a02000058380000" Z; /* X8 */
    struct subject s;
    open_asker(&s);
    node(&s, 0x104, "0204", false);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, other);
    OK(says(&s, "0300030200180001 0000000100000102 2a02000058380000" Z));
    /* its mapper answers one question at a time */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, TELLS);
    EQ(hush(&s), 0);
    /* what others say is no answer */
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "030001020047ffff 0000000100000000 2a02000058380000" Z);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "030001020047ffff 0000000100000303 2a02000058380000" Z);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "0300010200190001 0000000200000302 2900000101000315" NAMED Z);
    EQ(hush(&s), 0);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "030001020047ffff 0000000100000302 2a02000058380000" Z);
    OK(says(&s, "030001040047ffff 0000000100000102 2a02000058380000" Z));
    OK(says(&s, TELLS_MAPPER));
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "0300010200190001 0000000200000302 2900000101000315" NAMED Z);
    OK(says(&s, "0300010100190001 0000000200000102 2900000101000315" NAMED Z));
    EQ(hush(&s), 0);
    close(&s);
}

/* More hosts than questions that are kept: nobody hears that the node is unknown. */
static void a_host_too_many_hears_nothing_wrong(void)
{
    struct subject s;
    open_asker(&s);
    for (unsigned i = 0; i <= LEAT_PACKETWAY_TELLS_MAX; i++) {
        char tells[96], mac[8];
        snprintf(mac, sizeof mac, "02%02x", 4 + i);
        node(&s, 0x104 + i, mac, false);
        hush(&s);
        snprintf(tells, sizeof tells, "0300010200180001 00000001%08x" NAMED Z, 0x104 + i);
        feed(&s, LEAT_PACKETWAY_FROM_HOST, tells);
        while (take(&s))
            OK(leat_get_be16(s.out.octets + LEAT_PACKETWAY_TE_AT) == LEAT_PACKETWAY_TE_TELL);
    }
    close(&s);
}

/* ---- ranges are found as a plain search finds them ---- */

enum { RANGES = 200, SPACE = 4096 };

static struct leat_packetway_address any_range(struct leat_random *r)
{
    const uint32_t low = 1 + (uint32_t)leat_random_below(r, SPACE);
    const uint32_t len = (uint32_t)leat_random_below(r, leat_random_below(r, 4) ? 100 : SPACE);
    if (leat_random_below(r, 8)) return (struct leat_packetway_address){ 2, low, low + len };
    return (struct leat_packetway_address){ LEAT_PACKETWAY_AT_VALUE, low & 0x7FFFF0, 0x7FFFF0 };
}

static void an_index_finds_the_ranges_of_an_address_in_their_order(void)
{
    static struct leat_packetway_range ranges[RANGES];
    static struct leat_packetway_range_link links[RANGES * (LEAT_PACKETWAY_RANGE_PAGES + 1)];
    static struct leat_packetway_range_index index;
    static struct leat_packetway_entry entries[16];
    struct leat_packetway_fib fib = {
        .entries = entries, .ranges = ranges, .index = &index, .slot_bits = 4, .ranges_max = RANGES
    };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    EQ(leat_packetway_fib_links(RANGES), sizeof links / sizeof *links);
    index.links = links;
    leat_packetway_fib_clear(&fib);
    for (uint32_t i = 0; i < RANGES; i++) {
        const struct leat_packetway_address a = any_range(&r);
        OK(leat_packetway_fib_add_range(&fib, &a, &(struct leat_packetway_entry){ .native = i }));
    }
    OK(!leat_packetway_fib_add_range(&fib, &ranges[0].address, &ranges[0].entry));
    unsigned wrong = 0;
    for (uint32_t dt = 1; dt < 2 * SPACE; dt++) {
        struct leat_packetway_range_walk walk = { 0 };
        uint32_t next = 0, found;
        while (leat_packetway_fib_next_range(&fib, dt, &walk, &found)) {
            if (!leat_packetway_address_matches(&ranges[found].address, dt)) continue;
            while (next < found)
                wrong += leat_packetway_address_matches(&ranges[next++].address, dt);
            wrong += next++ != found;
        }
        while (next < RANGES)
            wrong += leat_packetway_address_matches(&ranges[next++].address, dt);
    }
    EQ(wrong, 0);
}

TAP_MAIN(T(a_mapper_is_asked_and_its_route_is_told_and_kept),
         T(a_route_that_nobody_asked_for_is_not_believed),
         T(without_a_route_a_node_is_unknown_or_reached_by_address),
         T(a_mapper_tells_its_own_route), T(names_are_asked_of_mappers),
         T(what_no_mapper_has_is_unknown),
         T(an_answer_to_one_host_does_not_end_the_question_of_another),
         T(a_host_too_many_hears_nothing_wrong),
         T(an_index_finds_the_ranges_of_an_address_in_their_order))
