/* Faults for tests of networks of bus matrices: as users write them, or random ones. */
#ifndef LEAT_SIM_ATM_FAULTS_TEST_H
#define LEAT_SIM_ATM_FAULTS_TEST_H

#include "sim_atm.h"
#include "tap.h"
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>

struct faults_bench {
    struct leat_net_faults list;
    struct leat_net_topology topology;
    struct leat_sim_atm_faults faults; /* for a fabric */
    void *memory;
};

/* Of a network, without any yet. Free its memory. */
static inline void faults_begin(struct faults_bench *b, const struct leat_atm_clos *net,
                                uint64_t seed)
{
    const bool single = net->stages == 1;
    const struct leat_net_shape shape = { .kind = single ? LEAT_NET_CROSSBAR : LEAT_NET_CLOS,
                                          .number = { net->e, net->m, net->r },
                                          .numbers = single ? 1 : 3,
                                          .terminals = 1,
                                          .wire_cycles = 1,
                                          .board_cycles = 1 };
    struct leat_text why = LEAT_TEXT(256);
    leat_net_faults_init(&b->list);
    b->list.flit_bits = 8 * LEAT_ATM_CELL_LEN;
    b->memory = calloc(1, leat_net_topology_footprint(&shape));
    if (!b->memory) abort();
    EQ(leat_net_topology_build(&b->topology, &shape, b->memory, &why), LEAT_ERR_OK);
    b->faults = (struct leat_sim_atm_faults){ &b->list, &b->topology, seed };
}

static inline void faults_add(struct faults_bench *b, const char *text)
{
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_net_faults_line(&b->list, text, strlen(text), &why), LEAT_ERR_OK);
    EQ(leat_net_fault_check(&b->list.fault[b->list.count - 1], &b->topology, b->list.flit_bits,
                            &why),
       LEAT_ERR_OK);
}

/* A link between two stages, as 3-7. */
static inline void faults_draw_link(struct leat_random *r, const struct leat_atm_clos *net,
                                    char text[16])
{
    const bool behind = leat_random_below(r, 2);
    const uint32_t side = (uint32_t)leat_random_below(r, net->r) + (behind ? net->r + net->m : 0);
    const uint32_t middle = net->r + (uint32_t)leat_random_below(r, net->m);
    snprintf(text, 16, "%u-%u", behind ? middle : side, behind ? side : middle);
}

/* One of any kind that lasts a while within so many cycles. */
static inline void faults_draw(struct faults_bench *b, struct leat_random *r,
                               const struct leat_atm_clos *net, uint64_t cycles)
{
    static const char *const rates[] = { "1e-3", "1e-5", "0.0001" };
    char link[16], text[96], when[48];
    const unsigned long long from = leat_random_below(r, cycles),
                             len = 1 + leat_random_below(r, cycles);
    snprintf(when, sizeof when, "@%llu..%llu", from, from + len);
    faults_draw_link(r, net, link);
    const uint64_t kind = leat_random_below(r, net->stages > 1 ? 6 : 3);
    const unsigned port = (unsigned)leat_random_below(r, net->ports),
                   unit = (unsigned)leat_random_below(r, net->switch_count),
                   up = 1 + (unsigned)leat_random_below(r, 3000),
                   down = 1 + (unsigned)leat_random_below(r, 3000);
    switch (kind) {
    case 0: snprintf(text, sizeof text, "port:%u%s", port, when); break;
    case 1: snprintf(text, sizeof text, "ber:%s%s", rates[port % 3], when); break;
    case 2: snprintf(text, sizeof text, "switch:%u%s", unit, when); break;
    case 3: snprintf(text, sizeof text, "ber:%s:%s%s", link, rates[port % 3], when); break;
    case 4: snprintf(text, sizeof text, "flap:%s%s/%u,%u", link, when, up, down); break;
    default: snprintf(text, sizeof text, "link:%s%s", link, when); break;
    }
    faults_add(b, text);
}

#endif
