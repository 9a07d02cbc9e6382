/*
 * A half-router receives anything from anybody: its bounds hold, whatever it sends is a strict
 * message, it never answers an ERR, and it falls silent.
 */
#include "leat_bytes.h"
#include "packetway_router.h"
#include <stdlib.h>
#include <string.h>

enum { MEMORY_MAX = 1 << 20, TABLES = 8, ANSWERS_MAX = 4096 };

static struct leat_packetway_router *begin(void)
{
    _Alignas(64) static uint8_t memory[MEMORY_MAX];
    struct leat_packetway_router_config c = leat_packetway_router_defaults();
    struct leat_packetway_router *r;
    const uint8_t route[] = { 1, 2 };
    c.address = 0x102;
    c.block = (struct leat_packetway_block){ 0x100, 0xF0 };
    c.mtu_words = 64;
    c.nodes_max = 8;
    c.tables_max = TABLES;
    c.table_len_max = 512;
    c.known_max = 64;
    c.ranges_max = 4;
    c.pending_max = 8;
    if (leat_packetway_router_footprint(&c) > MEMORY_MAX) abort();
    if (leat_packetway_router_init(&c, memory, MEMORY_MAX, 0, &r)) abort();
    leat_packetway_router_twin(r, 0x302, 1, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const struct leat_packetway_san_node n = {
            .address = { .at = LEAT_PACKETWAY_AT_SINGLE, .low = i ? 0x102 + i : 0x101 },
            .route = route,
            .route_len = sizeof route,
            .q = 2,
            .buddy = i > 0,
        };
        leat_packetway_router_node(r, &n, 0);
    }
    return r;
}

static void listen(struct leat_packetway_router *r, leat_time now, bool after_err)
{
    static struct leat_packetway_message m;
    struct leat_packetway_outgoing out;
    for (unsigned i = 0; leat_packetway_router_take(r, now, &out); i++) {
        if (i > ANSWERS_MAX) abort();
        if (leat_packetway_message_decode(out.octets, out.len, LEAT_PACKETWAY_STRICT,
                                          LEAT_PACKETWAY_DESTINATION, &m, NULL))
            abort();
        const bool failure = m.header.te == LEAT_PACKETWAY_TE_HRDOWN ||
                             m.header.te == LEAT_PACKETWAY_TE_LINKDOWN;
        if (after_err && m.header.pt == LEAT_PACKETWAY_PT_ERR && !failure) abort();
        if (out.verdict == LEAT_PACKETWAY_TO_SAN && out.len > 64 * 8) abort();
    }
}

/* | side, seconds | words of the packet | packet | ... */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_packetway_router *r = begin();
    leat_time now = 0;
    listen(r, now, false);
    while (len >= 2) {
        const struct leat_packetway_arrival arrival = {
            .side = (enum leat_packetway_side)(data[0] % 3), .from = 0x302
        };
        size_t n = (size_t)data[1] * 8;
        uint32_t header_at = 0;
        if (n > len - 2) n = len - 2;
        now += (leat_time)(data[0] / 3) * LEAT_PACKETWAY_SECOND / 8;
        struct leat_packetway_routed p;
        leat_packetway_router_tick(r, now);
        listen(r, now, false);
        leat_packetway_router_input(r, &arrival, data + 2, (uint32_t)n, now, &p);
        if (leat_packetway_goes_on(&p.decision) &&
            (p.decision.consumed >= p.len || p.decision.header_at < p.decision.consumed))
            abort();
        const bool err = !leat_packetway_find_header(data + 2, (uint32_t)n, 0,
                                                     LEAT_PACKETWAY_FRONT_MAX, &header_at) &&
                         leat_get_be16(data + 2 + header_at + LEAT_PACKETWAY_PT_AT) ==
                             LEAT_PACKETWAY_PT_ERR;
        listen(r, now, err);
        if (leat_packetway_router_fib(r)->count > 64) abort();
        data += 2 + n;
        len -= 2 + n;
    }
    return 0;
}
