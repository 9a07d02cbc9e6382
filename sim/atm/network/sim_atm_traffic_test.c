#include "sim_atm_traffic.h"
#include "tap.h"
#include <string.h>

enum { PORTS = 16, CELL_TIME = 53, MANY = LEAT_ROUNDS < 100000 ? 100000 : 1000000 };

static struct leat_sim_atm_traffic traffic;
static uint32_t partner[4096];

static void prepare(enum leat_sim_atm_traffic_pattern pattern, uint32_t ports, uint32_t load_ppm)
{
    leat_sim_atm_traffic_init(&traffic, pattern, ports, load_ppm,
                              (uint64_t)CELL_TIME << LEAT_SIM_ATM_TRAFFIC_TIME_BITS, tap_seed(),
                              partner);
}

static struct leat_sim_atm_traffic_source source_of(uint32_t port)
{
    struct leat_sim_atm_traffic_source source;
    leat_sim_atm_traffic_source_init(&source, tap_seed(), port);
    return source;
}

static void patterns_have_names_and_names_have_patterns(void)
{
    const char *const names[] = { "uniform", "permutation", "hotspot", "broadcast", "bursty" };
    for (int i = 0; i < 5; i++) {
        enum leat_sim_atm_traffic_pattern pattern = LEAT_SIM_ATM_TRAFFIC_UNIFORM;
        OK(leat_sim_atm_traffic_find(names[i], &pattern));
        EQ(pattern, i);
        OK(strcmp(leat_sim_atm_traffic_name(pattern), names[i]) == 0);
    }
    enum leat_sim_atm_traffic_pattern untouched = LEAT_SIM_ATM_TRAFFIC_BURSTY;
    OK(!leat_sim_atm_traffic_find("uniforms", &untouched));
    OK(!leat_sim_atm_traffic_find("", &untouched));
    EQ(untouched, LEAT_SIM_ATM_TRAFFIC_BURSTY);
    OK(leat_sim_atm_traffic_name(LEAT_SIM_ATM_TRAFFIC_BURSTY + 1) == NULL);
}

/* -ln(u / 2^64) by the series of the inverse hyperbolic tangent. */
static double minus_ln(uint64_t u)
{
    const double ln2 = 0.6931471805599453;
    double result = 0, m = (double)u / 18446744073709551616.0;
    for (; m < 0.5; m *= 2)
        result += ln2;
    const double z = (1 - m) / (1 + m);
    double power = z;
    for (int k = 1; k < 60; k += 2, power *= z * z)
        result += 2 * power / k;
    return result;
}

static void exponential_values_are_the_logarithm_of_what_was_drawn(void)
{
    const uint64_t means[] = { 1, 1000, UINT64_C(53) << 16, UINT64_C(1) << 40 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    prepare(LEAT_SIM_ATM_TRAFFIC_UNIFORM, PORTS, 500000);
    for (int i = 0; i < MANY; i++) {
        struct leat_random copy = r;
        const uint64_t mean = means[i % 4];
        const double want = (double)mean * minus_ln(leat_random_next(&copy) | 1);
        const double got = (double)leat_sim_atm_traffic_exponential(&traffic, &r, mean);
        OK(got - want < 1e-4 * (double)mean + 1 && want - got < 1e-4 * (double)mean + 1);
    }
}

/* The mean gap of the messages of a port is a message's link time over the load. */
static void every_pattern_offers_the_load_that_was_asked_for(void)
{
    const uint32_t loads[] = { 1, 1000, 100000, 333333, 900000, 1000000 };
    for (int pattern = 0; pattern <= LEAT_SIM_ATM_TRAFFIC_BURSTY; pattern++)
        for (size_t l = 0; l < sizeof loads / sizeof *loads; l++) {
            struct leat_sim_atm_traffic_source source = source_of(3);
            uint64_t at = 0, last = 0;
            uint32_t to;
            prepare((enum leat_sim_atm_traffic_pattern)pattern, PORTS, loads[l]);
            for (int i = 0; i < MANY; i++, last = at) {
                OK(leat_sim_atm_traffic_next(&traffic, &source, 3, &at, &to));
                OK(at >= last);
            }
            const double load = (double)MANY * CELL_TIME * 1e6 / (double)at / loads[l];
            /* Bursts of ten make a sum of MANY as uncertain as one of a tenth of them. */
            OK(load > 0.94 && load < 1.06);
            if (pattern != LEAT_SIM_ATM_TRAFFIC_BURSTY) OK(load > 0.98 && load < 1.02);
        }
}

static void without_load_nothing_comes(void)
{
    struct leat_sim_atm_traffic_source source = source_of(0);
    uint64_t at;
    uint32_t to;
    for (int pattern = 0; pattern <= LEAT_SIM_ATM_TRAFFIC_BURSTY; pattern++) {
        prepare((enum leat_sim_atm_traffic_pattern)pattern, PORTS, 0);
        OK(!leat_sim_atm_traffic_next(&traffic, &source, 0, &at, &to));
    }
}

static uint32_t counts[4096];

static void count_destinations(uint32_t port, int messages)
{
    struct leat_sim_atm_traffic_source source = source_of(port);
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < messages; i++) {
        uint64_t at;
        uint32_t to = 0;
        OK(leat_sim_atm_traffic_next(&traffic, &source, port, &at, &to));
        OK(to < traffic.ports);
        counts[to % 4096]++;
    }
}

static bool about(uint32_t count, double share)
{
    const double expected = share * MANY, off = (double)count - expected;
    return off * off < 36 * expected; /* six standard deviations */
}

static void uniform_messages_go_to_every_other_port_alike(void)
{
    for (uint32_t port = 0; port < PORTS; port += 5) {
        prepare(LEAT_SIM_ATM_TRAFFIC_UNIFORM, PORTS, 500000);
        count_destinations(port, MANY);
        for (uint32_t to = 0; to < PORTS; to++)
            OK(to == port ? counts[to] == 0 : about(counts[to], 1.0 / (PORTS - 1)));
    }
}

static void a_quarter_of_hotspot_messages_go_to_port_0(void)
{
    prepare(LEAT_SIM_ATM_TRAFFIC_HOTSPOT, PORTS, 500000);
    count_destinations(3, MANY);
    OK(about(counts[0], 0.25 + 0.75 / (PORTS - 1)));
    for (uint32_t to = 1; to < PORTS; to++)
        OK(to == 3 ? counts[to] == 0 : about(counts[to], 0.75 / (PORTS - 1)));
}

static void a_permutation_is_one_ring_through_all_ports(void)
{
    for (uint32_t ports = 2; ports <= 64; ports++) {
        prepare(LEAT_SIM_ATM_TRAFFIC_PERMUTATION, ports, 500000);
        uint32_t port = 0, steps = 0;
        do {
            struct leat_sim_atm_traffic_source source = source_of(port);
            uint64_t at;
            uint32_t to = 0, again = 0;
            OK(leat_sim_atm_traffic_next(&traffic, &source, port, &at, &to));
            OK(leat_sim_atm_traffic_next(&traffic, &source, port, &at, &again));
            OK(to != port && to < ports && to == again);
            port = to;
            steps++;
        } while (port != 0 && steps < ports);
        EQ(port, 0);
        EQ(steps, ports);
    }
}

static void another_seed_draws_another_permutation(void)
{
    static uint32_t other[PORTS];
    struct leat_sim_atm_traffic second;
    prepare(LEAT_SIM_ATM_TRAFFIC_PERMUTATION, PORTS, 500000);
    leat_sim_atm_traffic_init(&second, LEAT_SIM_ATM_TRAFFIC_PERMUTATION, PORTS, 500000,
                              (uint64_t)CELL_TIME << LEAT_SIM_ATM_TRAFFIC_TIME_BITS, tap_seed() + 1,
                              other);
    OK(memcmp(partner, other, sizeof other) != 0);
}

static void broadcasts_go_to_all(void)
{
    struct leat_sim_atm_traffic_source source = source_of(7);
    uint64_t at;
    uint32_t to = 0;
    prepare(LEAT_SIM_ATM_TRAFFIC_BROADCAST, PORTS, 500000);
    for (int i = 0; i < 100; i++) {
        OK(leat_sim_atm_traffic_next(&traffic, &source, 7, &at, &to));
        OK(to == LEAT_SIM_ATM_TRAFFIC_ALL);
    }
}

/* Within a burst: one destination, a message time apart. Ten messages on average. */
static void bursts_go_to_one_port_a_message_time_apart(void)
{
    struct leat_sim_atm_traffic_source source = source_of(5);
    uint64_t at, last = 0;
    uint32_t to, burst_to = PORTS, bursts = 0;
    prepare(LEAT_SIM_ATM_TRAFFIC_BURSTY, PORTS, 200000);
    for (int i = 0; i < MANY; i++, last = at) {
        const bool inside = source.burst_left > 0;
        OK(leat_sim_atm_traffic_next(&traffic, &source, 5, &at, &to));
        OK(to != 5 && to < PORTS);
        if (inside) {
            OK(to == burst_to);
            EQ(at - last, CELL_TIME);
        } else {
            bursts++;
            burst_to = to;
        }
    }
    const double mean = (double)MANY / bursts;
    OK(mean > 9.4 && mean < 10.6);
}

static void what_a_port_offers_depends_on_no_other_port(void)
{
    struct leat_sim_atm_traffic_source alone = source_of(2), among[PORTS];
    prepare(LEAT_SIM_ATM_TRAFFIC_UNIFORM, PORTS, 500000);
    for (uint32_t port = 0; port < PORTS; port++)
        among[port] = source_of(port);
    for (int i = 0; i < 1000; i++) {
        uint64_t at = 0, want_at = 1;
        uint32_t to = 0, want_to = 1;
        for (uint32_t port = 0; port < PORTS; port++) {
            uint64_t other_at;
            uint32_t other_to;
            leat_sim_atm_traffic_next(&traffic, &among[port], port, port == 2 ? &at : &other_at,
                                      port == 2 ? &to : &other_to);
        }
        leat_sim_atm_traffic_next(&traffic, &alone, 2, &want_at, &want_to);
        EQ(at, want_at);
        EQ(to, want_to);
    }
}

static void a_lone_port_sends_to_itself(void)
{
    struct leat_sim_atm_traffic_source source = source_of(0);
    uint64_t at;
    uint32_t to = 1;
    prepare(LEAT_SIM_ATM_TRAFFIC_UNIFORM, 1, 500000);
    OK(leat_sim_atm_traffic_next(&traffic, &source, 0, &at, &to));
    EQ(to, 0);
}

TAP_MAIN(T(patterns_have_names_and_names_have_patterns),
         T(exponential_values_are_the_logarithm_of_what_was_drawn),
         T(every_pattern_offers_the_load_that_was_asked_for), T(without_load_nothing_comes),
         T(uniform_messages_go_to_every_other_port_alike),
         T(a_quarter_of_hotspot_messages_go_to_port_0),
         T(a_permutation_is_one_ring_through_all_ports), T(another_seed_draws_another_permutation),
         T(broadcasts_go_to_all), T(bursts_go_to_one_port_a_message_time_apart),
         T(what_a_port_offers_depends_on_no_other_port), T(a_lone_port_sends_to_itself))
