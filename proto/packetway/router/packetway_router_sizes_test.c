/*
 * SANs of every size: whatever the bounds of the two half-routers of a router and of the link
 * between them, each knows all nodes of the other's SAN. They are kept individually where they fit,
 * as ranges where they do not.
 */
#include "packetway_router_test.h"

enum {
    BIAS = 0x1000,
    NODES_MOST = 800,
    NODE_LEN = 24, /* ADDR, SRQR and an L2RH of two octets */
    HEAD_LEN = 40, /* RTHD, SNID, RCVF of one, an empty CSR, MTUR */
    ME = BIAS + NODES_MOST + 1,
    OTHER = 0x3001,
};

struct bounds {
    uint32_t sends_len, keeps_len; /* table_len_max of the sender and of the receiver */
    uint32_t mtu_words;            /* of the link */
};

static void open_half(struct subject *s, uint32_t address, uint32_t bias, uint32_t table_len_max,
                      uint32_t twin_address, uint32_t mtu_words)
{
    struct leat_packetway_router_config c = config_of(address, bias, 0);
    c.block.count = NODES_MOST + 1;
    c.nodes_max = NODES_MOST;
    c.tables_max = 4;
    c.table_len_max = table_len_max;
    c.known_max = NODES_MOST + LEAT_PACKETWAY_TWINS_MAX + 1;
    open_with(s, &c);
    EQ(leat_packetway_router_twin(s->r, twin_address, 1, mtu_words, 0), LEAT_ERR_OK);
}

/* Passes the sender's messages to its twin. Returns the octets of the longest one. */
static uint32_t pass_all(struct subject *sender, struct subject *receiver)
{
    const struct leat_packetway_arrival arrival = { .side = LEAT_PACKETWAY_FROM_TWIN, .from = ME };
    uint32_t most = 0;
    while (take(sender)) {
        EQ(sender->out.verdict, LEAT_PACKETWAY_TO_TWIN);
        leat_packetway_router_input(receiver->r, &arrival, sender->out.octets, sender->out.len, 0,
                                    &receiver->routed);
        if (sender->out.len > most) most = sender->out.len;
    }
    return most;
}

static bool knows(struct subject *s, uint32_t address)
{
    struct leat_packetway_decision d = { 0 };
    leat_packetway_by_address(leat_packetway_router_fib(s->r), LEAT_PACKETWAY_FROM_HOST, address,
                              &d);
    return d.verdict == LEAT_PACKETWAY_TO_TWIN;
}

static bool keeps_nodes_one_by_one(struct subject *s, uint32_t nodes)
{
    struct leat_packetway_table_view v;
    struct leat_packetway_record rec;
    uint32_t count = 0;
    OK(leat_packetway_router_table(s->r, 0, &v));
    while (leat_packetway_records_next(&v.nodes, &rec)) {
        if (leat_packetway_record_address(&rec).at != LEAT_PACKETWAY_AT_SINGLE) return false;
        count++;
    }
    EQ(count, nodes);
    return true;
}

/* Octets of nodes that are sent individually. */
static uint32_t sent_len(const struct bounds *b)
{
    if (!b->mtu_words) return b->sends_len;
    const uint32_t link = 8 * b->mtu_words - LEAT_PACKETWAY_MESSAGE_LEN_MIN - HEAD_LEN;
    return link < b->sends_len ? link : b->sends_len;
}

static void try_size(const struct bounds *b, uint32_t nodes)
{
    static struct subject sender, receiver;
    uint32_t unknown = 0;
    open_half(&sender, ME, BIAS, b->sends_len, OTHER, b->mtu_words);
    open_half(&receiver, OTHER, 0x3000, b->keeps_len, ME, b->mtu_words);
    for (uint32_t i = 0; i < nodes; i++)
        node(&sender, BIAS + 1 + i, "0103", false);
    const uint32_t most = pass_all(&sender, &receiver);
    if (b->mtu_words) OK(most <= 8 * b->mtu_words);
    for (uint32_t i = 0; i < nodes; i++)
        unknown += !knows(&receiver, BIAS + 1 + i);
    EQ(unknown, 0);
    OK(!knows(&receiver, BIAS + 1 + nodes) || nodes == NODES_MOST);
    const uint32_t len = NODE_LEN * nodes;
    EQ(keeps_nodes_one_by_one(&receiver, nodes), len <= sent_len(b) && len <= b->keeps_len);
    EQ(counts(&receiver)->rtbl_ranges, len <= sent_len(b) && len > b->keeps_len);
    EQ(counts(&receiver)->rtbl_full, 0);
    close(&sender);
    close(&receiver);
}

static void a_san_of_any_size_is_known_behind_a_router(void)
{
    static const struct bounds all[] = { { 4096, 4096, 0 },     { 32768, 4096, 0 },
                                         { 4096, 32768, 0 },    { 32768, 1488, 0 },
                                         { 24, 24, 0 },         { 32768, 24, 0 },
                                         { 32768, 32768, 512 }, { 32768, 4096, 1000 },
                                         { 4096, 4096, 186 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint32_t nodes = 1; nodes <= NODES_MOST; nodes++)
            try_size(&all[i], nodes);
}

TAP_MAIN(T(a_san_of_any_size_is_known_behind_a_router))
