/*
 * Synthetic traffic: who sends when to whom. Messages arrive by a Poisson process at each port; the
 * pattern selects their destinations. Every port has its own random stream, so its offered traffic
 * does not depend on what the network does with it.
 *
 *   uniform      any other port, with equal probability
 *   permutation  one fixed other port each, all different, drawn by the seed
 *   hotspot      `hot_percent` of messages to port 0, the others uniform
 *   broadcast    all ports at once
 *   bursty       bursts of geometric length to one random port, a cell time apart, and silences
 */
#ifndef LEAT_SIM_ATM_TRAFFIC_H
#define LEAT_SIM_ATM_TRAFFIC_H

#include <leat/random.h>
#include <stdbool.h>
#include <stdint.h>

enum leat_sim_atm_traffic_pattern {
    LEAT_SIM_ATM_TRAFFIC_UNIFORM,
    LEAT_SIM_ATM_TRAFFIC_PERMUTATION,
    LEAT_SIM_ATM_TRAFFIC_HOTSPOT,
    LEAT_SIM_ATM_TRAFFIC_BROADCAST,
    LEAT_SIM_ATM_TRAFFIC_BURSTY,
};

enum {
    LEAT_SIM_ATM_TRAFFIC_HOT_PERCENT = 25,
    LEAT_SIM_ATM_TRAFFIC_BURST = 10,     /* messages, on average */
    LEAT_SIM_ATM_TRAFFIC_TIME_BITS = 16, /* arrivals are counted in 2^-16 cycles */
};

#define LEAT_SIM_ATM_TRAFFIC_ALL   UINT32_MAX /* as a destination */
/* ... that of multicast group 0; those of the others lie below it, as in cells. */
#define LEAT_SIM_ATM_TRAFFIC_GROUP (UINT32_MAX - 1)

/* Is this the destination of many ports? */
static inline bool leat_sim_atm_traffic_is_to_many(uint32_t to)
{
    return to > UINT16_MAX;
}

struct leat_sim_atm_traffic {
    enum leat_sim_atm_traffic_pattern pattern;
    uint32_t ports;
    uint32_t hot_percent, burst;
    uint64_t gap;           /* mean, in 2^-16 cycles; 0: no messages */
    uint64_t burst_gap;     /* between the messages of a burst */
    uint32_t *partner;      /* of each port, for permutations */
    uint32_t fraction[257]; /* log2(1 + i/256), a 32-bit fraction except for the last */
};

struct leat_sim_atm_traffic_source {
    struct leat_random random;
    uint64_t arrival; /* of the last message, in 2^-16 cycles */
    uint32_t burst_left, burst_to;
};

/* "uniform" ...; NULL beyond the last. */
const char *leat_sim_atm_traffic_name(enum leat_sim_atm_traffic_pattern pattern);
bool leat_sim_atm_traffic_find(const char *name, enum leat_sim_atm_traffic_pattern *out);

/*
 * Messages that occupy the link for `message_time` each, in 2^-16 cycles, at `load_ppm` millionths
 * of a port's capacity. `partner` has room for `ports` numbers and is lent for the object's
 * lifetime.
 */
void leat_sim_atm_traffic_init(struct leat_sim_atm_traffic *traffic,
                               enum leat_sim_atm_traffic_pattern pattern, uint32_t ports,
                               uint32_t load_ppm, uint64_t message_time, uint64_t seed,
                               uint32_t *partner);
void leat_sim_atm_traffic_source_init(struct leat_sim_atm_traffic_source *source, uint64_t seed,
                                      uint32_t port);

/* The next message of a port: the cycle in which it arises, and its destination. False: none will
 * come. */
bool leat_sim_atm_traffic_next(const struct leat_sim_atm_traffic *traffic,
                               struct leat_sim_atm_traffic_source *source, uint32_t port,
                               uint64_t *at, uint32_t *to);

/* An exponentially distributed value with this mean. */
uint64_t leat_sim_atm_traffic_exponential(const struct leat_sim_atm_traffic *traffic,
                                          struct leat_random *random, uint64_t mean);

#endif
