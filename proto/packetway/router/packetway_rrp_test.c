#include "packetway_grammar.h"
#include "packetway_model_test.h"
#include "packetway_record.h"
#include "packetway_vectors_test.h"
#include "packetway_wire.h"
#include "tap.h"
#include <string.h>

enum { BIG = 8 * (LEAT_PACKETWAY_RL_MAX + 3) };
static uint8_t db[BIG], big[BIG];

static bool untouched(const void *p, size_t len)
{
    const uint8_t *octets = p;
    for (size_t i = 0; i < len; i++)
        if (octets[i] != 0xA5) return false;
    return true;
}

static const char *vector_of(const char *name)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++)
        if (strncmp(vectors[i].name, name, 3) == 0) return vectors[i].hex;
    return "";
}

/* Decodes a message and gives a cursor over its records; the octets stay until the next call. */
static struct leat_packetway_records records_in(const char *hex, enum leat_packetway_mode mode)
{
    static uint8_t buf[VECTOR_LEN_MAX];
    static struct leat_packetway_message m;
    const size_t len = unhex(hex, buf);
    EQ(leat_packetway_message_decode(buf, len, mode, LEAT_PACKETWAY_DESTINATION, &m, NULL),
       LEAT_ERR_OK);
    return leat_packetway_message_records(&m);
}

static struct leat_packetway_record next_is(struct leat_packetway_records *records,
                                            enum leat_packetway_rtyp type)
{
    struct leat_packetway_record r = { .octets = NULL };
    OK(leat_packetway_records_next(records, &r));
    EQ(r.type, type);
    return r;
}

static void ends(struct leat_packetway_records *records)
{
    struct leat_packetway_record r;
    EQ(leat_packetway_records_count(records), 0);
    OK(!leat_packetway_records_next(records, &r));
}

static void address_is(const struct leat_packetway_record *r, enum leat_packetway_at at,
                       uint32_t low, uint32_t high)
{
    const struct leat_packetway_address a = leat_packetway_record_address(r);
    EQ(a.at, at);
    EQ(a.low, low);
    EQ(a.high, high);
}

static bool name_is(const struct leat_packetway_record *r, const char *want)
{
    size_t len;
    const uint8_t *name = leat_packetway_record_name(r, &len);
    return len == strlen(want) && memcmp(name, want, len) == 0;
}

static bool capability_is(const struct leat_packetway_record *r, uint8_t cc, const char *want,
                          size_t want_len)
{
    size_t len;
    const uint8_t *parameters;
    return leat_packetway_record_capability(r, &parameters, &len) == cc && len == want_len &&
           memcmp(parameters, want, len) == 0;
}

/* ---- reading the vectors ---- */

static void t17_lists_two_hops_with_quality_and_mtu(void)
{
    struct leat_packetway_records top = records_in(vector_of("T17"), LEAT_PACKETWAY_STRICT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    struct leat_packetway_leading l2rh;
    address_is(&r, LEAT_PACKETWAY_AT_SINGLE, 0x201, 0);
    ends(&top);

    struct leat_packetway_records inner = leat_packetway_record_nested(&r);
    EQ(leat_packetway_records_count(&inner), 2);
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_SRQR);
    struct leat_packetway_route route = leat_packetway_record_route(&r);
    EQ(route.q, 6);
    OK(leat_packetway_route_next(&route, &l2rh));
    OK(l2rh.len == 5 && memcmp(l2rh.octets, "\1\1\2\3\0", 5) == 0);
    OK(leat_packetway_route_next(&route, &l2rh));
    OK(l2rh.len == 4 && memcmp(l2rh.octets, "\3\0\3\0", 4) == 0);
    OK(!leat_packetway_route_next(&route, &l2rh));
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_MTUR);
    EQ(leat_packetway_record_mtu(&r), 1024);
    ends(&inner);
}

static void t22_describes_two_nodes(void)
{
    struct leat_packetway_records top = records_in(vector_of("T22"), LEAT_PACKETWAY_STRICT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    struct leat_packetway_address a;
    address_is(&r, LEAT_PACKETWAY_AT_SINGLE, 0x201, 0);
    struct leat_packetway_records inner = leat_packetway_record_nested(&r);
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_NAME);
    OK(name_is(&r, "Super"));
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_CAPA);
    OK(capability_is(&r, LEAT_PACKETWAY_CC_FLOAT_DSP, "\x04\x08", 2));
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_CAPA);
    OK(capability_is(&r, LEAT_PACKETWAY_CC_NFS, "", 0));
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_LADR);
    struct leat_packetway_addresses list = leat_packetway_record_addresses(&r);
    OK(leat_packetway_addresses_next(&list, &a));
    EQ(a.low, 0xE00005);
    OK(!leat_packetway_addresses_next(&list, &a));
    ends(&inner);

    r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    inner = leat_packetway_record_nested(&r);
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_CAPA);
    OK(capability_is(&r, LEAT_PACKETWAY_CC_FLOAT_DSP, "\x08", 1));
    ends(&top);
}

static void t26_is_a_table_seen_two_routers_later(void)
{
    struct leat_packetway_records top = records_in(vector_of("T26"), LEAT_PACKETWAY_STRICT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_RTHD);
    struct leat_packetway_address a;
    EQ(leat_packetway_record_sequence(&r), 3);
    ends(&top);
    struct leat_packetway_records table = leat_packetway_record_nested(&r);
    r = next_is(&table, LEAT_PACKETWAY_RTYP_SNID);
    EQ(leat_packetway_record_san(&r), 0x200);
    r = next_is(&table, LEAT_PACKETWAY_RTYP_RCVF);
    struct leat_packetway_addresses list = leat_packetway_record_addresses(&r);
    static const uint32_t want[] = { 0x202, 0x103, 0x102 };
    for (unsigned i = 0; i < 3; i++) {
        OK(leat_packetway_addresses_next(&list, &a));
        EQ(a.low, want[i]);
    }
    OK(!leat_packetway_addresses_next(&list, &a));
    r = next_is(&table, LEAT_PACKETWAY_RTYP_SRQR);
    EQ(leat_packetway_record_route(&r).q, 3);
    r = next_is(&table, LEAT_PACKETWAY_RTYP_MTUR);
    r = next_is(&table, LEAT_PACKETWAY_RTYP_ADDR);
    ends(&table);
    struct leat_packetway_records node = leat_packetway_record_nested(&r);
    EQ(leat_packetway_records_count(&node), 3);
}

static void t30_queries_ranges(void)
{
    struct leat_packetway_records top = records_in(vector_of("T30"), LEAT_PACKETWAY_STRICT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    address_is(&r, LEAT_PACKETWAY_AT_MIN, 0x200, 0x20F);
    struct leat_packetway_records inner = leat_packetway_record_nested(&r);
    ends(&inner);
    r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    address_is(&r, LEAT_PACKETWAY_AT_VALUE, 0x300, 0x7FFF00);
    ends(&top);
}

static void a_quoted_message_has_no_records(void)
{
    struct leat_packetway_records quote = records_in(vector_of("T29"), LEAT_PACKETWAY_STRICT);
    ends(&quote);
    struct leat_packetway_records data = records_in(vector_of("T12"), LEAT_PACKETWAY_STRICT);
    ends(&data);
    struct leat_packetway_records wru = records_in(vector_of("T24"), LEAT_PACKETWAY_STRICT);
    ends(&wru);
}

/* Spec section 3: a reader must accept a quote shorter than its inner DL says. */
static void a_quote_may_be_cut_to_its_header(void)
{
    records_in("00000101004affff 0000000200000102 0000010200180001 0000000900000101 "
               "0000000000000000",
               LEAT_PACKETWAY_STRICT);
}

/* ---- lenient reading ---- */

static void an_rthd_of_no_length_takes_the_rest(void)
{
    struct leat_packetway_records top = records_in(
        "00000102001d0001 0000000500000101 3002000000000001 3100000001000200 "
        "2f00000001000202 2d02000000000000 2e00000000000000 0000000000000000",
        LEAT_PACKETWAY_LENIENT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_RTHD);
    ends(&top);
    struct leat_packetway_records table = leat_packetway_record_nested(&r);
    EQ(leat_packetway_records_count(&table), 4);
}

static void unknown_records_are_passed_over_at_every_depth(void)
{
    struct leat_packetway_records top = records_in(
        "0000010200190001 0000000600000101 3700000100000000 0000000000000000 "
        "2900000301000201 6300000000000000 2a02000061620000 3700000000000000 "
        "0000000000000000",
        LEAT_PACKETWAY_LENIENT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    ends(&top);
    struct leat_packetway_records inner = leat_packetway_record_nested(&r);
    r = next_is(&inner, LEAT_PACKETWAY_RTYP_NAME);
    OK(name_is(&r, "ab"));
    ends(&inner);
}

static void a_range_has_no_name(void)
{
    struct leat_packetway_records top = records_in(
        "0000010200190001 0000000400000101 2904000302000201 030002ff00000000 "
        "2a02000061620000 2b03000001000000 0000000000000000",
        LEAT_PACKETWAY_LENIENT);
    struct leat_packetway_record r = next_is(&top, LEAT_PACKETWAY_RTYP_ADDR);
    struct leat_packetway_records inner = leat_packetway_record_nested(&r);
    next_is(&inner, LEAT_PACKETWAY_RTYP_CAPA);
    ends(&inner);
}

static void an_mtur_belongs_to_the_srqr_before_it_even_in_any_order(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    const enum leat_packetway_mode l = LEAT_PACKETWAY_LENIENT;
    size_t len = unhex("2900000301000201 2d02000000000000 2e00000000000000 2a02000061620000", buf);
    EQ(leat_packetway_grammar_check(1, 25, buf, len, l, NULL), LEAT_ERR_OK);
    len = unhex("2900000301000201 2d02000000000000 2a02000061620000 2e00000000000000", buf);
    EQ(leat_packetway_grammar_check(1, 25, buf, len, l, NULL), LEAT_ERR_PACKETWAY_MSG);
    /* Only INFO has any order: RTBL keeps its own. */
    len = unhex("3002000700000001 3100000001000200 2f00000001000202 2d02000000000000 "
                "2e00000000000000 2900000201000201 2d02000000000000 2a02000061620000",
                buf);
    EQ(leat_packetway_grammar_check(1, 29, buf, len, l, NULL), LEAT_ERR_PACKETWAY_MSG);
}

/* ---- addresses ---- */

static bool matches(enum leat_packetway_at at, uint32_t low, uint32_t high, uint32_t x)
{
    const struct leat_packetway_address a = { at, low, high };
    EQ(leat_packetway_address_check(&a, false), LEAT_ERR_OK);
    return leat_packetway_address_matches(&a, x);
}

static void addresses_match_as_section_3_says(void)
{
    const enum leat_packetway_at one = LEAT_PACKETWAY_AT_SINGLE, min = LEAT_PACKETWAY_AT_MIN,
                                 value = LEAT_PACKETWAY_AT_VALUE;
    OK(matches(one, 0x201, 0, 0x201));
    OK(!matches(one, 0x201, 0, 0x202));
    OK(!matches(min, 0x200, 0x20F, 0x1FF));
    OK(matches(min, 0x200, 0x20F, 0x200));
    OK(matches(min, 0x200, 0x20F, 0x20F));
    OK(!matches(min, 0x200, 0x20F, 0x210));
    OK(matches(min, 0x200, 0x200, 0x200));
    OK(matches(value, 0x300, 0x7FFF00, 0x3FF));
    OK(!matches(value, 0x300, 0x7FFF00, 0x400));
    OK(matches(value, 0, 0x7FFF00, 0x42)); /* a low block */
    OK(!matches(value, 0, 0x7FFF00, 0x142));
    /* Only the class of min or value: a mask without the top bits does not cover others. */
    OK(matches(value, 0, 0xFF, 0x500));
    OK(!matches(value, 0, 0xFF, 0xE00500));
    OK(matches(value, 0xE00000, 0xF00000, 0xE12345));
    OK(!matches(value, 0xE00000, 0xE00000, 0xF00001));
    OK(matches(min, 0xE00000, 0xEFFFFF, 0xE00005));
    OK(!leat_packetway_address_matches(
        &(struct leat_packetway_address){ LEAT_PACKETWAY_AT_MAX, 1, 1 }, 1));
}

static leat_err check(enum leat_packetway_at at, uint32_t low, uint32_t high, bool logical_only)
{
    return leat_packetway_address_check(&(struct leat_packetway_address){ at, low, high },
                                        logical_only);
}

static void illegal_addresses_are_named(void)
{
    const enum leat_packetway_at one = LEAT_PACKETWAY_AT_SINGLE, min = LEAT_PACKETWAY_AT_MIN,
                                 value = LEAT_PACKETWAY_AT_VALUE;
    EQ(check(one, 0x7FFFFD, 0, false), LEAT_ERR_OK);
    EQ(check(one, 0x7FFFFE, 0, false), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(one, 0, 0, false), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(one, 0xC00000, 0, false), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(one, 0x1E00000, 0, false), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(one, 0x201, 0, true), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(one, 0xE00000, 0, true), LEAT_ERR_OK);
    EQ(check(min, 2, 1, false), LEAT_ERR_PACKETWAY_RANGE);
    EQ(check(min, 1, 0xE00000, false), LEAT_ERR_PACKETWAY_RANGE);
    EQ(check(min, 0, 1, false), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(min, 1, 0x7FFFFE, false), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(min, 0x201, 0x202, true), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(value, 1, 2, false), LEAT_ERR_PACKETWAY_RANGE);
    EQ(check(value, 1, 0x1000001, false), LEAT_ERR_PACKETWAY_RANGE);
    EQ(check(value, 0, 0, false), LEAT_ERR_OK);
    EQ(check(value, 0, 0, true), LEAT_ERR_PACKETWAY_ADDR);
    EQ(check(LEAT_PACKETWAY_AT_MAX, 1, 2, false), LEAT_ERR_PACKETWAY_AT);
    EQ(check(LEAT_PACKETWAY_AT_MASK, 1, 2, false), LEAT_ERR_PACKETWAY_AT);
}

/* ---- building ---- */

static struct leat_packetway_leading hop(const char *octets, uint16_t len)
{
    return (struct leat_packetway_leading){ .kind = LEAT_PACKETWAY_L2RH,
                                            .len = len,
                                            .octets = (const uint8_t *)octets };
}

static struct leat_packetway_address one_node(uint32_t address)
{
    return (struct leat_packetway_address){ .at = LEAT_PACKETWAY_AT_SINGLE, .low = address };
}

/* Wraps the records into a message and compares it with a vector. */
static void is_vector(const struct leat_packetway_build *b, const char *name,
                      struct leat_packetway_header header)
{
    static struct leat_packetway_message m;
    uint8_t want[VECTOR_LEN_MAX], got[VECTOR_LEN_MAX];
    const size_t want_len = unhex(vector_of(name), want);
    size_t len = 0;
    m.header = header;
    m.data = b->buf;
    m.data_len = b->len;
    EQ(leat_packetway_message_encode(&m, got, sizeof got, &len), LEAT_ERR_OK);
    EQ(len, want_len);
    OK(memcmp(got, want, want_len) == 0);
}

static void t17_is_built_record_by_record(void)
{
    const struct leat_packetway_leading route[] = { hop("\1\1\2\3\0", 5), hop("\3\0\3\0", 4) };
    const struct leat_packetway_address node2 = one_node(0x201);
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_address(&b, &node2), LEAT_ERR_OK);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_OK);
    EQ(leat_packetway_build_route(&b, 6, route, 2), LEAT_ERR_OK);
    EQ(leat_packetway_build_mtu(&b, 1024), LEAT_ERR_OK);
    leat_packetway_build_leave(&b);
    is_vector(&b, "T17",
              (struct leat_packetway_header){ .dt = 0x301, .te = 22, .pt = 1, .sa = 0x302 });
}

static void t22_is_built_with_all_that_describes_a_node(void)
{
    const struct leat_packetway_address node2 = one_node(0x201), node3 = one_node(0x301);
    const struct leat_packetway_address group = one_node(0xE00005);
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_address(&b, &node2);
    leat_packetway_build_nest(&b);
    EQ(leat_packetway_build_name(&b, (const uint8_t *)"Super", 5), LEAT_ERR_OK);
    EQ(leat_packetway_build_capability(&b, 7, (const uint8_t *)"\4\10", 2), LEAT_ERR_OK);
    EQ(leat_packetway_build_capability(&b, 5, NULL, 0), LEAT_ERR_OK);
    EQ(leat_packetway_build_logical(&b, &group, 1), LEAT_ERR_OK);
    leat_packetway_build_leave(&b);
    leat_packetway_build_address(&b, &node3);
    leat_packetway_build_nest(&b);
    leat_packetway_build_capability(&b, 7, (const uint8_t *)"\10", 1);
    leat_packetway_build_leave(&b);
    EQ(b.err, LEAT_ERR_OK);
    is_vector(&b, "T22",
              (struct leat_packetway_header){ .dt = 0x101, .te = 25, .pt = 1, .sa = 0x102 });
}

static void t26_is_built_three_deep(void)
{
    static const uint32_t from[] = { 0x202, 0x103, 0x102 };
    const struct leat_packetway_leading first = hop("\1\1\2\3\0", 5), second = hop("\3\0\3\0", 4);
    const struct leat_packetway_address node2 = one_node(0x201);
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_table(&b, 3), LEAT_ERR_OK);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_OK);
    EQ(leat_packetway_build_san(&b, 0x200), LEAT_ERR_OK);
    EQ(leat_packetway_build_received_from(&b, from, 3), LEAT_ERR_OK);
    leat_packetway_build_route(&b, 3, &first, 1);
    leat_packetway_build_mtu(&b, 1024);
    leat_packetway_build_address(&b, &node2);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_OK);
    leat_packetway_build_name(&b, (const uint8_t *)"Super", 5);
    leat_packetway_build_capability(&b, 7, (const uint8_t *)"\4\10", 2);
    leat_packetway_build_route(&b, 2, &second, 1);
    leat_packetway_build_leave(&b);
    leat_packetway_build_leave(&b);
    is_vector(&b, "T26",
              (struct leat_packetway_header){ .dt = 0x302, .te = 29, .pt = 1, .sa = 0x102 });
}

static void t30_is_built_of_ranges(void)
{
    const struct leat_packetway_address a = { LEAT_PACKETWAY_AT_MIN, 0x200, 0x20F },
                                        b = { LEAT_PACKETWAY_AT_VALUE, 0x300, 0x7FFF00 };
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, db, sizeof db);
    EQ(leat_packetway_build_address(&build, &a), LEAT_ERR_OK);
    EQ(leat_packetway_build_address(&build, &b), LEAT_ERR_OK);
    is_vector(&build, "T30",
              (struct leat_packetway_header){ .dt = 0x102, .te = 24, .pt = 1, .sa = 0x101 });
}

static void nesting_goes_no_deeper_than_the_spec(void)
{
    const struct leat_packetway_address node = one_node(1);
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_PACKETWAY_LIMIT); /* nothing to open */
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_mtu(&b, 1);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_PACKETWAY_LIMIT);
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_address(&b, &node);
    leat_packetway_build_nest(&b);
    leat_packetway_build_address(&b, &node);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_PACKETWAY_LIMIT);
    leat_packetway_build_leave(&b); /* harmless after an error */
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_table(&b, 1);
    leat_packetway_build_nest(&b);
    leat_packetway_build_table(&b, 2);
    EQ(leat_packetway_build_nest(&b), LEAT_ERR_PACKETWAY_LIMIT);
}

/* One refusal: E_LIMIT, nothing written, and it stays. */
#define REFUSED(call)                                                  \
    do {                                                               \
        struct leat_packetway_build b;                                 \
        memset(db, 0xA5, 256);                                         \
        leat_packetway_build_init(&b, db, sizeof db);                  \
        EQ(call, LEAT_ERR_PACKETWAY_LIMIT);                            \
        EQ(b.err, LEAT_ERR_PACKETWAY_LIMIT);                           \
        EQ(leat_packetway_build_mtu(&b, 1), LEAT_ERR_PACKETWAY_LIMIT); \
        EQ(b.len, 0);                                                  \
        OK(untouched(db, 256));                                        \
    } while (0)

/* Spec section 10, "also refuse on encode". */
static void records_outside_the_limits_are_not_written(void)
{
    static uint32_t from[129];
    static struct leat_packetway_leading hops[65];
    const struct leat_packetway_address none = one_node(0), node = one_node(1), *p = &none;
    const struct leat_packetway_address back = { LEAT_PACKETWAY_AT_MIN, 2, 1 };
    for (unsigned i = 0; i < 129; i++)
        from[i] = i + 1;
    for (unsigned i = 0; i < 65; i++)
        hops[i] = hop("\1", 1);

    REFUSED(leat_packetway_build_address(&b, p));
    REFUSED(leat_packetway_build_address(&b, &back));
    REFUSED(leat_packetway_build_name(&b, big, 0));
    REFUSED(leat_packetway_build_name(&b, big, 524285));
    REFUSED(leat_packetway_build_capability(&b, 0, big, 1));
    REFUSED(leat_packetway_build_capability(&b, 1, big, 524284));
    REFUSED(leat_packetway_build_logical(&b, &node, 1));
    REFUSED(leat_packetway_build_logical(&b, &node, 0));
    REFUSED(leat_packetway_build_route(&b, 0, hops, 65));
    REFUSED(leat_packetway_build_received_from(&b, from, 129));
    REFUSED(leat_packetway_build_received_from(&b, from, 0));
    REFUSED(leat_packetway_build_san(&b, 0x7FFFFE));
    REFUSED(leat_packetway_build_san(&b, 0xE00000));
    hops[0].len = 0;
    REFUSED(leat_packetway_build_route(&b, 0, hops, 1));
    hops[0].len = 64;
    REFUSED(leat_packetway_build_route(&b, 0, hops, 1));
    hops[0] = (struct leat_packetway_leading){ LEAT_PACKETWAY_SYMBOL, 1, 1, 0, big };
    REFUSED(leat_packetway_build_route(&b, 0, hops, 1));
    from[0] = 0;
    REFUSED(leat_packetway_build_received_from(&b, from, 1));
}

static void the_largest_records_are_written_and_read(void)
{
    struct leat_packetway_records top;
    struct leat_packetway_record r;
    struct leat_packetway_build b;
    size_t len;
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (uint8_t)(i * 7);

    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_name(&b, big, 524284), LEAT_ERR_OK);
    EQ(b.len, 8 + 8 * 65535);
    EQ(db[1], 0);
    EQ(leat_packetway_grammar_check(1, 24, db, b.len, LEAT_PACKETWAY_STRICT, NULL), LEAT_ERR_OK);
    top = leat_packetway_records_of(db, b.len, LEAT_PACKETWAY_STRICT);
    r = next_is(&top, LEAT_PACKETWAY_RTYP_NAME);
    OK(memcmp(leat_packetway_record_name(&r, &len), big, 524284) == 0 && len == 524284);

    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_capability(&b, 9, big, 524283), LEAT_ERR_OK);
    EQ(leat_packetway_records_check(db, b.len, LEAT_PACKETWAY_STRICT, NULL), LEAT_ERR_OK);
    top = leat_packetway_records_of(db, b.len, LEAT_PACKETWAY_STRICT);
    r = next_is(&top, LEAT_PACKETWAY_RTYP_CAPA);
    const uint8_t *parameters;
    EQ(leat_packetway_record_capability(&r, &parameters, &len), 9);
    OK(len == 524283 && memcmp(parameters, big, len) == 0);
}

/* A whole message around the largest NAME: 524,288 octets of DB. */
static void the_largest_name_travels_in_a_message(void)
{
    static uint8_t out[BIG + 64];
    static struct leat_packetway_message m, back;
    struct leat_packetway_build b;
    size_t len = 0;
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_name(&b, big, 524284);
    m.header = (struct leat_packetway_header){ .dt = 0x102, .sa = 0x101, .pt = 1, .te = 24 };
    m.data = db;
    m.data_len = b.len;
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_OK);
    EQ(leat_packetway_message_decode(out, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                     &back, NULL),
       LEAT_ERR_OK);
    OK(back.data_len == b.len && memcmp(back.data, db, b.len) == 0);
}

/* RL of a parent counts what is nested: 65535 words fit, 65536 do not. */
static void an_rl_sum_of_65536_is_refused(void)
{
    const struct leat_packetway_address node = one_node(1);
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_address(&b, &node);
    leat_packetway_build_nest(&b);
    EQ(leat_packetway_build_name(&b, big, 524284), LEAT_ERR_PACKETWAY_LIMIT); /* 65536 words */

    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_address(&b, &node);
    leat_packetway_build_nest(&b);
    EQ(leat_packetway_build_name(&b, big, 524284 - 8), LEAT_ERR_OK); /* 65535 words */
    EQ(db[2] << 8 | db[3], 65535);
    EQ(leat_packetway_build_capability(&b, 1, NULL, 0), LEAT_ERR_PACKETWAY_LIMIT);
    EQ(leat_packetway_grammar_check(1, 25, db, b.len, LEAT_PACKETWAY_STRICT, NULL), LEAT_ERR_OK);

    leat_packetway_build_init(&b, db, sizeof db); /* the same through RTHD */
    leat_packetway_build_table(&b, 1);
    leat_packetway_build_nest(&b);
    leat_packetway_build_address(&b, &node);
    leat_packetway_build_nest(&b);
    EQ(leat_packetway_build_name(&b, big, 524284 - 8), LEAT_ERR_PACKETWAY_LIMIT);
}

/* LADR: 131,071 entries fill RL=65535. */
static void the_largest_ladr_is_written(void)
{
    static struct leat_packetway_address all[LEAT_PACKETWAY_LADR_MAX + 1];
    struct leat_packetway_build b;
    for (size_t i = 0; i <= LEAT_PACKETWAY_LADR_MAX; i++)
        all[i] = one_node(0xE00000);
    EQ(LEAT_PACKETWAY_LADR_MAX, 131071);
    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_logical(&b, all, LEAT_PACKETWAY_LADR_MAX), LEAT_ERR_OK);
    EQ(leat_packetway_records_check(db, b.len, LEAT_PACKETWAY_STRICT, NULL), LEAT_ERR_OK);
    leat_packetway_build_init(&b, db, sizeof db);
    EQ(leat_packetway_build_logical(&b, all, LEAT_PACKETWAY_LADR_MAX + 1),
       LEAT_ERR_PACKETWAY_LIMIT);
}

static void too_little_room_for_a_record_is_e_nospc(void)
{
    struct leat_packetway_build b;
    for (size_t cap = 0; cap < 16; cap++) {
        memset(db, 0xA5, 64);
        leat_packetway_build_init(&b, db, cap);
        EQ(leat_packetway_build_name(&b, (const uint8_t *)"Super", 5), LEAT_ERR_PACKETWAY_NOSPC);
        EQ(b.err, LEAT_ERR_PACKETWAY_NOSPC);
        OK(untouched(db, 64));
    }
    leat_packetway_build_init(&b, db, 16);
    EQ(leat_packetway_build_name(&b, (const uint8_t *)"Super", 5), LEAT_ERR_OK);
}

/* "L2SR with no route": records are fine, but no message. */
static void records_that_form_no_message_are_not_written(void)
{
    static struct leat_packetway_message m;
    uint8_t out[64];
    size_t len = 99;
    const struct leat_packetway_address node = one_node(0x201);
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_address(&b, &node);
    m.header = (struct leat_packetway_header){ .dt = 0x301, .pt = 1, .te = 22 };
    m.data = db;
    m.data_len = b.len;
    memset(out, 0xA5, sizeof out);
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_PACKETWAY_LIMIT);
    leat_packetway_build_nest(&b);
    leat_packetway_build_route(&b, 1, NULL, 0); /* and one that is empty */
    m.data_len = b.len;
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_PACKETWAY_LIMIT);
    m.data_len = b.len - 3; /* PL of an RRP message is 0 */
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_PACKETWAY_LIMIT);
    EQ(len, 99);
    OK(untouched(out, sizeof out));
}

/* ---- grammar ---- */

static void every_message_of_section_3_has_a_grammar(void)
{
    static const uint16_t rrp[] = { 21, 22, 23, 24, 25, 26, 27, 28, 29 }, err[] = { 71, 72, 73 };
    unsigned count = 0;
    for (unsigned te = 0; te < 0x10000; te++)
        count += leat_packetway_grammar_exists(1, (uint16_t)te) +
                 leat_packetway_grammar_exists(0xFFFF, (uint16_t)te);
    EQ(count, 13);
    for (size_t i = 0; i < sizeof rrp / sizeof *rrp; i++)
        OK(leat_packetway_grammar_has_records(1, rrp[i]) &&
           *leat_packetway_grammar_text(1, rrp[i]));
    for (size_t i = 0; i < sizeof err / sizeof *err; i++)
        OK(leat_packetway_grammar_has_records(0xFFFF, err[i]) &&
           *leat_packetway_grammar_text(0xFFFF, err[i]));
    OK(leat_packetway_grammar_exists(0xFFFF, 74));
    OK(!leat_packetway_grammar_has_records(0xFFFF, 74));
    OK(!leat_packetway_grammar_has_records(82, 21));
    OK(!*leat_packetway_grammar_text(1, 41));
    EQ(leat_packetway_grammar_check(1, 41, db, 0, LEAT_PACKETWAY_STRICT, NULL),
       LEAT_ERR_PACKETWAY_TE);
}

/* Spec 2.2 (h): all records first, then the grammar. */
static void bad_records_are_reported_before_bad_messages(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    size_t at = 0;
    /* TELL of an RTHD (grammar) and then a CAPA of code 0 (record). */
    const size_t len = unhex("3002000000000001 2b03000000000000", buf);
    EQ(leat_packetway_grammar_check(1, 24, buf, len, LEAT_PACKETWAY_STRICT, &at),
       LEAT_ERR_PACKETWAY_CC);
    EQ(at, 8);
    at = 99;
    EQ(leat_packetway_records_check(buf, 8, LEAT_PACKETWAY_STRICT, &at), LEAT_ERR_OK);
    EQ(leat_packetway_grammar_check(1, 24, buf, 8, LEAT_PACKETWAY_STRICT, &at),
       LEAT_ERR_PACKETWAY_MSG);
    EQ(at, 0);
}

/* Every sequence of up to four record headers under every message: an answer, no other record. */
static void short_record_sequences_are_all_answered(void)
{
    static const char *const head[] = {
        "2900000001000201",
        "29000001010002012a02000061620000",
        "2a02000061620000",
        "2b03000001000000",
        "2c00000001e00005",
        "2d02000000000000",
        "2e00000000000000",
        "2f00000001000202",
        "3002000000000001",
        "3100000001000200",
        "29040001020002010300020f00000000",
    };
    enum { HEADS = sizeof head / sizeof *head };
    static const unsigned want[][2] = { /* te, accepted sequences of 0..3 heads; see below */
                                        { 21, 1 },           { 22, 0 },          { 23, 2 },
                                        { 24, 4 + 16 + 64 }, { 25, 3 + 9 + 27 }, { 27, 1 }
    };
    for (size_t w = 0; w < sizeof want / sizeof *want; w++) {
        unsigned accepted = 0;
        for (unsigned code = 0; code < 12 * 12 * 12; code++) {
            const unsigned pick[3] = { code % 12, code / 12 % 12, code / 144 };
            uint8_t buf[VECTOR_LEN_MAX];
            size_t len = 0;
            bool gap = false, again = false;
            for (unsigned k = 0; k < 3; k++) { /* 11 is no head; it may only come last */
                if (pick[k] == HEADS)
                    gap = true;
                else if (gap)
                    again = true;
                else
                    len += unhex(head[pick[k]], buf + len);
            }
            if (again) continue;
            accepted += !leat_packetway_grammar_check(1, (uint16_t)want[w][0], buf, len,
                                                      LEAT_PACKETWAY_STRICT, NULL);
        }
        EQ(accepted, want[w][1]);
    }
}

/* Every record of the model is understood by cursors and builder: it can be written again. */
static void copy_records(struct leat_packetway_build *b, struct leat_packetway_records from);

static void copy_leaf(struct leat_packetway_build *b, const struct leat_packetway_record *r)
{
    static struct leat_packetway_address list[64];
    static struct leat_packetway_leading hops[LEAT_PACKETWAY_SRQR_MAX];
    struct leat_packetway_addresses addresses = leat_packetway_record_addresses(r);
    struct leat_packetway_route route;
    uint32_t from[LEAT_PACKETWAY_RCVF_MAX];
    const uint8_t *octets;
    size_t count = 0, len;
    switch (r->type) {
    case LEAT_PACKETWAY_RTYP_NAME:
        octets = leat_packetway_record_name(r, &len);
        leat_packetway_build_name(b, octets, len);
        break;
    case LEAT_PACKETWAY_RTYP_CAPA: {
        const uint8_t cc = leat_packetway_record_capability(r, &octets, &len);
        leat_packetway_build_capability(b, cc, octets, len);
        break;
    }
    case LEAT_PACKETWAY_RTYP_LADR:
        while (leat_packetway_addresses_next(&addresses, &list[count]))
            count++;
        leat_packetway_build_logical(b, list, count);
        break;
    case LEAT_PACKETWAY_RTYP_RCVF:
        while (leat_packetway_addresses_next(&addresses, &list[0]))
            from[count++] = list[0].low;
        leat_packetway_build_received_from(b, from, count);
        break;
    case LEAT_PACKETWAY_RTYP_SRQR:
        route = leat_packetway_record_route(r);
        while (leat_packetway_route_next(&route, &hops[count]))
            count++;
        leat_packetway_build_route(b, route.q, hops, count);
        break;
    case LEAT_PACKETWAY_RTYP_MTUR: leat_packetway_build_mtu(b, leat_packetway_record_mtu(r)); break;
    case LEAT_PACKETWAY_RTYP_SNID: leat_packetway_build_san(b, leat_packetway_record_san(r)); break;
    case LEAT_PACKETWAY_RTYP_ADDR:
    case LEAT_PACKETWAY_RTYP_RTHD: break;
    }
}

static void copy_parent(struct leat_packetway_build *b, const struct leat_packetway_record *r)
{
    const struct leat_packetway_records nested = leat_packetway_record_nested(r);
    if (r->type == LEAT_PACKETWAY_RTYP_ADDR) {
        const struct leat_packetway_address a = leat_packetway_record_address(r);
        leat_packetway_build_address(b, &a);
    } else {
        leat_packetway_build_table(b, leat_packetway_record_sequence(r));
    }
    if (!leat_packetway_records_count(&nested)) return;
    leat_packetway_build_nest(b);
    copy_records(b, nested);
    leat_packetway_build_leave(b);
}

static void copy_records(struct leat_packetway_build *b, struct leat_packetway_records from)
{
    struct leat_packetway_record r;
    while (leat_packetway_records_next(&from, &r)) {
        if (r.type == LEAT_PACKETWAY_RTYP_ADDR || r.type == LEAT_PACKETWAY_RTYP_RTHD)
            copy_parent(b, &r);
        else
            copy_leaf(b, &r);
    }
}

static void records_of_the_model_are_built_again(void)
{
    static const uint16_t te_of[] = { 21, 22, 23, 24, 25, 26, 27, 28, 29, 71, 72, 73 };
    static struct model model;
    leat_random_seed(&model.random, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS; i++) {
        const uint16_t te = te_of[i % 12];
        struct leat_packetway_build b;
        model.len = 0;
        put_rrp(&model, te);
        EQ(leat_packetway_grammar_check(te < 71 ? 1 : 0xFFFF, te, model.buf, model.len,
                                        LEAT_PACKETWAY_STRICT, NULL),
           LEAT_ERR_OK);
        leat_packetway_build_init(&b, db, sizeof db);
        copy_records(&b, leat_packetway_records_of(model.buf, model.len, LEAT_PACKETWAY_STRICT));
        EQ(b.err, LEAT_ERR_OK);
        EQ(b.len, model.len);
        OK(memcmp(db, model.buf, model.len) == 0);
        if (tap_checks_failed) {
            printf("# round %u te %u\n", i, te);
            return;
        }
    }
}

TAP_MAIN(T(t17_lists_two_hops_with_quality_and_mtu), T(t22_describes_two_nodes),
         T(t26_is_a_table_seen_two_routers_later), T(t30_queries_ranges),
         T(a_quoted_message_has_no_records), T(a_quote_may_be_cut_to_its_header),
         T(an_rthd_of_no_length_takes_the_rest), T(unknown_records_are_passed_over_at_every_depth),
         T(a_range_has_no_name), T(an_mtur_belongs_to_the_srqr_before_it_even_in_any_order),
         T(addresses_match_as_section_3_says), T(illegal_addresses_are_named),
         T(t17_is_built_record_by_record), T(t22_is_built_with_all_that_describes_a_node),
         T(t26_is_built_three_deep), T(t30_is_built_of_ranges),
         T(nesting_goes_no_deeper_than_the_spec), T(records_outside_the_limits_are_not_written),
         T(the_largest_records_are_written_and_read), T(the_largest_name_travels_in_a_message),
         T(an_rl_sum_of_65536_is_refused), T(the_largest_ladr_is_written),
         T(too_little_room_for_a_record_is_e_nospc),
         T(records_that_form_no_message_are_not_written),
         T(every_message_of_section_3_has_a_grammar),
         T(bad_records_are_reported_before_bad_messages),
         T(short_record_sequences_are_all_answered), T(records_of_the_model_are_built_again))
