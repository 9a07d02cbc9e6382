/* Memory nodes: requests as octets written by hand, and a store compared with a plain model. */
#include "packetway_memory.h"
#include "packetway_vectors_test.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

#define Z " 0000000000000000"
enum { ME = 0x103, DATA_MAX = 64 };

static uint8_t octets[64], in[VECTOR_LEN_MAX], buf[VECTOR_LEN_MAX], out[VECTOR_LEN_MAX];
static struct leat_packetway_store store;
static struct leat_packetway_message request, answer;

/* 64 octets at 0x1000; 0x101 may do all there, 0x110 to 0x11F read 0x1010 to 0x101F, and 0x120
 * write the last four. */
static void make_store(void)
{
    for (size_t i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)(0xA0 + i);
    store = (struct leat_packetway_store){
        .address = 0x1000,
        .octets = octets,
        .len = sizeof octets,
        .grant_count = 3,
        .grants = { { 0x1000, 0x103F, 0x101, 0x101,
                      LEAT_PACKETWAY_MAY_READ | LEAT_PACKETWAY_MAY_WRITE },
                    { 0x1010, 0x101F, 0x110, 0x11F, LEAT_PACKETWAY_MAY_READ },
                    { 0x103C, 0x103F, 0x120, 0x120, LEAT_PACKETWAY_MAY_WRITE } },
    };
}

static enum leat_packetway_memory_reason serve(const char *hex, leat_time now)
{
    const size_t len = unhex(hex, in);
    EQ(leat_packetway_message_decode(in, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                     &request, NULL),
       LEAT_ERR_OK);
    return leat_packetway_store_serve(&store, &request, now, DATA_MAX, buf, sizeof buf, &answer);
}

/* The answer that a host sends is this; "": there is none. */
static bool answers(const char *hex)
{
    uint8_t want[VECTOR_LEN_MAX];
    const size_t want_len = unhex(hex, want);
    size_t len = 0;
    if (!answer.header.pt) return want_len == 0;
    answer.header.sa = ME;
    EQ(leat_packetway_message_encode(&answer, out, sizeof out, &len), LEAT_ERR_OK);
    return len == want_len && memcmp(out, want, len) == 0;
}

static void the_octets_of_section_4(void)
{
    make_store();
    /* DB = reply address, source address, count; answered by a MEM-WRITE; P is copied */
    EQ(serve("0900010300000003 0000000300000101 0123456789abcdef 0000000000001004 "
             "0000000000000005" Z,
             0),
       LEAT_PACKETWAY_MEMORY_READ);
    OK(answers("0900010100000004 0600000200000103 0123456789abcdef a4a5a6a7a8000000" Z));
    /* DB = address, then data; nothing is answered */
    EQ(serve("0000010300000004 0a00000200000101 0000000000001005 1122330000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_WRITTEN);
    OK(answers(""));
    EQ(octets[4], 0xA4);
    OK(memcmp(octets + 5, "\x11\x22\x33\xA8", 4) == 0);
    /* of no octets: confirms its arrival */
    EQ(serve("0000010300000003 0000000300000101 0000000000000007 0000000000001005" Z Z, 0),
       LEAT_PACKETWAY_MEMORY_READ);
    OK(answers("0000010100000004 0000000100000103 0000000000000007" Z));
    EQ(store.octets_read, 5);
    EQ(store.octets_written, 3);
}

static void what_is_refused_is_quoted(void)
{
    /* one octet too many, 0x1040 itself, the end of all addresses, another node's, another TE */
    static const struct {
        enum leat_packetway_memory_reason reason;
        const char *hex;
    } rows[] = {
        { LEAT_PACKETWAY_MEMORY_BOUNDS, "0000010300000004 0c00000200000101 000000000000103f "
                                        "1122000000000000" Z },
        { LEAT_PACKETWAY_MEMORY_BOUNDS, "0000010300000004 0e00000200000101 0000000000001040 "
                                        "1100000000000000" Z },
        { LEAT_PACKETWAY_MEMORY_BOUNDS, "0000010300000003 0000000300000101 0000000000000007 "
                                        "ffffffffffffffff ffffffffffffffff" Z },
        { LEAT_PACKETWAY_MEMORY_BOUNDS, "0000010300000003 0000000300000101 0000000000000007 "
                                        "0000000000001000 ffffffffffffffff" Z },
        { LEAT_PACKETWAY_MEMORY_PERMISSION, "0000010300000004 0e00000200000110 0000000000001010 "
                                            "1100000000000000" Z },
        { LEAT_PACKETWAY_MEMORY_PERMISSION, "0000010300000003 0000000300000110 0000000000000007 "
                                            "000000000000100f 0000000000000001" Z },
        { LEAT_PACKETWAY_MEMORY_PERMISSION, "0000010300000003 0000000300000120 0000000000000007 "
                                            "000000000000103c 0000000000000001" Z },
        { LEAT_PACKETWAY_MEMORY_PERMISSION, "0000010300000003 0000000300000102 0000000000000007 "
                                            "0000000000001000" Z Z },
        { LEAT_PACKETWAY_MEMORY_SIZE, "0000010300000003 0000000300000101 0000000000000007 "
                                      "0000000000001000 0000000000000039" Z },
        { LEAT_PACKETWAY_MEMORY_MALFORMED, "0000010300010004 0e00000200000101 0000000000001000 "
                                           "1100000000000000" Z },
        { LEAT_PACKETWAY_MEMORY_MALFORMED, "0000010300000004 0200000100000101 0000000000001000" Z },
        { LEAT_PACKETWAY_MEMORY_MALFORMED, "0000010300000003 0000000200000101 0000000000000007 "
                                           "0000000000001000" Z },
        { LEAT_PACKETWAY_MEMORY_MALFORMED, "0000010300000003 0000000400000101 0000000000000007 "
                                           "0000000000001000" Z Z Z },
    };
    make_store();
    uint8_t before[sizeof octets];
    memcpy(before, octets, sizeof octets);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EQ(serve(rows[i].hex, i * LEAT_PACKETWAY_SECOND), rows[i].reason);
        EQ(store.counts[rows[i].reason] > 0, 1);
        EQ(answer.header.pt, LEAT_PACKETWAY_PT_ERR);
        EQ(answer.header.te, LEAT_PACKETWAY_TE_GENERAL);
        EQ(answer.header.dt, request.header.sa);
        const size_t len = unhex(rows[i].hex, in);
        OK(answer.data_len == len && memcmp(answer.data, in, len) == 0);
        OK(memcmp(before, octets, sizeof octets) == 0);
    }
}

/* Spec 5.7: no ERR without a source, about packets with EI set, about broadcasts, above 10 a
 * second. */
static void some_refusals_are_silent(void)
{
    make_store();
    EQ(serve("0000010300000004 0e00000200000000 0000000000001000 1100000000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_NOBODY);
    OK(answers(""));
    EQ(serve("0000010300000004 0e00000200000101 0000000000001000 1100000000000000 "
             "0000000000000002",
             0),
       LEAT_PACKETWAY_MEMORY_ACCUSED);
    OK(answers(""));
    EQ(octets[0], 0xA0);
    EQ(serve("007fffff00000004 0e00000200000101 0000000000000000 1100000000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_BOUNDS);
    OK(answers(""));
    EQ(serve("00e0000500000004 0e00000200000101 0000000000000000 1100000000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_BOUNDS);
    OK(answers(""));
    unsigned reported = 0;
    for (unsigned i = 0; i < 30; i++) {
        serve("0000010300000004 0e00000200000101" Z " 1100000000000000" Z, i);
        reported += answer.header.pt != 0;
    }
    EQ(reported, 10);
    EQ(store.err_limited, 20);
    serve("0000010300000004 0e00000200000102" Z " 1100000000000000" Z, 30);
    EQ(answer.header.dt, 0x102); /* another one is not meant */
}

/* A quote that is above the MTU has the header at least; leading symbols are not part of it. */
static void quotes_of_requests_are_cut(void)
{
    make_store();
    const size_t len = unhex(
        "00f0000100000000 0000010300000004 0000000a00000101" Z " 9*1111111111111111" Z, in);
    EQ(leat_packetway_message_decode(in, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                     &request, NULL),
       LEAT_ERR_OK);
    EQ(leat_packetway_store_serve(&store, &request, 0, 24, buf, sizeof buf, &answer),
       LEAT_PACKETWAY_MEMORY_BOUNDS);
    OK(answers("00000101004affff 0000000300000103 0000010300000004 0000000a00000101" Z Z));
}

/* A plain model: octet by octet, is it there, and does one grant have all of them? */
static int judge(bool write, uint32_t sa, uint64_t address, uint64_t count)
{
    for (uint64_t i = 0; i < count || i == 0; i++)
        if (address + i < 0x1000 || address + i > 0x1040 || (count && address + i == 0x1040))
            return LEAT_PACKETWAY_MEMORY_BOUNDS;
    for (uint32_t k = 0; k < store.grant_count; k++) {
        const struct leat_packetway_grant *g = &store.grants[k];
        bool held = sa >= g->node_first && sa <= g->node_last;
        if (count) held = held && g->permissions >> write & 1;
        for (uint64_t i = 0; i < count || i == 0; i++)
            held = held && address + i >= g->first && address + i <= g->last;
        if (held) return write ? LEAT_PACKETWAY_MEMORY_WRITTEN : LEAT_PACKETWAY_MEMORY_READ;
    }
    return LEAT_PACKETWAY_MEMORY_PERMISSION;
}

static void memory_is_read_and_written_within_bounds(void)
{
    static const uint32_t nodes[] = { 0x101, 0x110, 0x11F, 0x120, 0x102 };
    struct leat_random r;
    uint8_t shadow[sizeof octets];
    leat_random_seed(&r, tap_seed());
    make_store();
    memcpy(shadow, octets, sizeof shadow);
    memset(&request, 0, sizeof request);
    for (unsigned i = 0; i < LEAT_ROUNDS / 20; i++) {
        const uint64_t address = 0xFFC + leat_random_below(&r, 0x48);
        const uint32_t sa = nodes[leat_random_below(&r, 5)];
        const bool write = leat_random_below(&r, 2);
        const uint16_t pt = write ? LEAT_PACKETWAY_PT_MEM_WRITE : LEAT_PACKETWAY_PT_MEM_READ;
        uint8_t data[24], db[32];
        leat_random_fill(&r, data, sizeof data);
        const struct leat_packetway_memory m = { address, 0x77, leat_random_below(&r, 24), data };
        struct leat_packetway_memory back = { 0 };
        EQ(leat_packetway_memory_encode(pt, &m, db, sizeof db, &request.data_len), LEAT_ERR_OK);
        request.data = db;
        request.header = (struct leat_packetway_header){ .dt = ME, .sa = sa, .pt = pt };
        const int wanted = judge(write, sa, address, m.count);
        EQ(leat_packetway_store_serve(&store, &request, i, DATA_MAX, buf, sizeof buf, &answer),
           wanted);
        if (wanted == LEAT_PACKETWAY_MEMORY_WRITTEN)
            memcpy(shadow + (address - 0x1000), data, m.count);
        OK(memcmp(octets, shadow, sizeof shadow) == 0);
        if (wanted != LEAT_PACKETWAY_MEMORY_READ) continue;
        EQ(leat_packetway_memory_decode(answer.header.pt, answer.data, answer.data_len, &back),
           LEAT_ERR_OK);
        EQ(back.address, 0x77);
        OK(back.count == m.count && memcmp(back.data, shadow + (address - 0x1000), m.count) == 0);
    }
}

/* The last octet that an address can have. */
static void memory_may_end_where_addresses_do(void)
{
    make_store();
    store.address = UINT64_MAX - 63;
    store.grants[0] = (struct leat_packetway_grant){ 0, UINT64_MAX, 1, 0x7FFFFD,
                                                     LEAT_PACKETWAY_MAY_WRITE };
    store.grant_count = 1;
    EQ(serve("0000010300000004 0e00000200000101 ffffffffffffffff 1100000000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_WRITTEN);
    EQ(octets[63], 0x11);
    EQ(serve("0000010300000004 0c00000200000101 ffffffffffffffff 1100000000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_BOUNDS);
    store.grant_count = 0; /* nobody has a grant */
    EQ(serve("0000010300000004 0e00000200000101 ffffffffffffffff 1100000000000000" Z, 0),
       LEAT_PACKETWAY_MEMORY_PERMISSION);
}

static void blocks_that_are_none_are_refused(void)
{
    const uint8_t db[32] = { 0 };
    const struct leat_packetway_memory m = { .count = 8, .data = db };
    struct leat_packetway_memory back = { .reply = 9 };
    uint8_t into[16];
    size_t len = 5;
    EQ(leat_packetway_memory_decode(LEAT_PACKETWAY_PT_MPI, db, 24, &back), LEAT_ERR_PACKETWAY_PT);
    EQ(leat_packetway_memory_decode(LEAT_PACKETWAY_PT_MEM_WRITE, db, 7, &back), LEAT_ERR_SHORT);
    EQ(leat_packetway_memory_decode(LEAT_PACKETWAY_PT_MEM_READ, db, 23, &back), LEAT_ERR_SHORT);
    EQ(leat_packetway_memory_decode(LEAT_PACKETWAY_PT_MEM_READ, db, 25, &back), LEAT_ERR_LENGTH);
    EQ(back.reply, 9);
    EQ(leat_packetway_memory_encode(LEAT_PACKETWAY_PT_MPI, &m, into, 16, &len),
       LEAT_ERR_PACKETWAY_PT);
    EQ(leat_packetway_memory_encode(LEAT_PACKETWAY_PT_MEM_WRITE, &m, into, 15, &len),
       LEAT_ERR_SPACE);
    EQ(leat_packetway_memory_encode(LEAT_PACKETWAY_PT_MEM_READ, &m, into, 16, &len),
       LEAT_ERR_SPACE);
    EQ(len, 5);
}

static void a_window_opens_so_often_in_a_second(void)
{
    struct leat_packetway_window w = { 0 };
    for (unsigned i = 0; i < 5; i++)
        EQ(leat_packetway_window_open(&w, 7, 3, i), i < 3);
    EQ(leat_packetway_window_open(&w, 8, 3, 5), false); /* the slot belongs to another */
    EQ(leat_packetway_window_open(&w, 8, 3, LEAT_PACKETWAY_SECOND), true);
    for (uint32_t a = 0; a < 1000; a++)
        OK(leat_packetway_limit_slot(a * 7919, a) < LEAT_PACKETWAY_LIMIT_SLOTS);
}

TAP_MAIN(T(the_octets_of_section_4), T(what_is_refused_is_quoted), T(some_refusals_are_silent),
         T(quotes_of_requests_are_cut), T(memory_is_read_and_written_within_bounds),
         T(memory_may_end_where_addresses_do), T(blocks_that_are_none_are_refused),
         T(a_window_opens_so_often_in_a_second))
