#include "sim_packetway_world_test.h"

/* Random messages between random hosts, at random times. */
static void load(struct world *w, uint64_t seed, uint32_t messages)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    const uint32_t ports = w->net.base.ports;
    for (uint32_t i = 0; i < messages; i++) {
        const uint32_t from = (uint32_t)leat_random_below(&r, ports);
        const uint32_t to = (uint32_t)leat_random_below(&r, ports);
        const uint64_t len = leat_random_below(&r, 6000);
        world_send(w, from, to, len, leat_random_below(&r, 50000000));
    }
}

/* test/certificates.txt has those of what the command can simulate without a file. */
static void networks_of_networks_come_to_the_same_on_every_processor(void)
{
    static struct world w;
    static const struct {
        bool by_address, cut_through, fails;
        uint64_t certificate;
    } runs[] = {
        { false, true, false, 0x7cae9727d9b91c34 },
        { false, false, false, 0x6c1815fcee89ca2e },
        { true, true, false, 0xe3e53bcdcaa3e70e },
        { true, true, true, 0xe75ae6afa7e4c358 },
    };
    static const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, EAST,
                                                           20000000, LEAT_NEVER };
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        world_make(&w, false);
        w.config.by_address = runs[i].by_address;
        w.config.cut_through = runs[i].cut_through;
        w.config.fault = &fault;
        w.config.faults = runs[i].fails;
        world_open(&w);
        load(&w, i + 1, 300);
        world_finish(&w);
        EQ(w.net.base.certificate, runs[i].certificate);
        world_close(&w);
    }
}

TAP_MAIN(T(networks_of_networks_come_to_the_same_on_every_processor))
