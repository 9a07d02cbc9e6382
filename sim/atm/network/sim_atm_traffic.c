#include "sim_atm_traffic.h"
#include "leat_bytes.h"
#include "sim_draw.h"
#include <string.h>

enum { TIME_BITS = LEAT_SIM_ATM_TRAFFIC_TIME_BITS, LOG_BITS = 16 };

static const char *const names[] = {
    [LEAT_SIM_ATM_TRAFFIC_UNIFORM] = "uniform", [LEAT_SIM_ATM_TRAFFIC_PERMUTATION] = "permutation",
    [LEAT_SIM_ATM_TRAFFIC_HOTSPOT] = "hotspot", [LEAT_SIM_ATM_TRAFFIC_BROADCAST] = "broadcast",
    [LEAT_SIM_ATM_TRAFFIC_BURSTY] = "bursty",
};
enum { NAMES = sizeof names / sizeof *names };

const char *leat_sim_atm_traffic_name(enum leat_sim_atm_traffic_pattern pattern)
{
    return (size_t)pattern < NAMES ? names[pattern] : NULL;
}

bool leat_sim_atm_traffic_find(const char *name, enum leat_sim_atm_traffic_pattern *out)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum leat_sim_atm_traffic_pattern)i;
            return true;
        }
    return false;
}

/* log2 of m / 2^31 for m in [2^31, 2^32], with 32 fractional bits: squaring doubles it. */
static uint64_t log2_slowly(uint64_t m)
{
    uint64_t log = 0;
    for (int bit = 31; bit >= 0; bit--) {
        m = m * m >> 31;
        if (m >> 32) {
            log |= UINT64_C(1) << bit;
            m >>= 1;
        }
    }
    return log;
}

static void make_logarithms(struct leat_sim_atm_traffic *traffic)
{
    for (uint64_t i = 0; i < 256; i++)
        traffic->fraction[i] = (uint32_t)log2_slowly((UINT64_C(1) << 31) + (i << 23));
    traffic->fraction[256] = UINT32_MAX;
}

/* -log2(u / 2^64), with 16 fractional bits, by a table and linear interpolation. */
static uint64_t minus_log2(const struct leat_sim_atm_traffic *traffic, uint64_t u)
{
    const uint32_t zeros = 64 - leat_bit_width(u);
    u <<= zeros;
    const uint32_t i = (uint32_t)(u >> 55 & 255);
    const uint64_t low = traffic->fraction[i], high = traffic->fraction[i + 1];
    const uint64_t fraction = low + ((high - low) * (u >> 39 & 65535) >> 16);
    return ((uint64_t)(zeros + 1) << LOG_BITS) - (fraction >> (32 - LOG_BITS));
}

uint64_t leat_sim_atm_traffic_exponential(const struct leat_sim_atm_traffic *traffic,
                                          struct leat_random *random, uint64_t mean)
{
    enum { LN2 = 45426 }; /* ln 2, with 16 fractional bits */
    const uint64_t u = leat_random_next(random) | 1;
    const uint64_t x = minus_log2(traffic, u) * LN2 >> LOG_BITS; /* below 2^22 */
    return (mean >> LOG_BITS) * x + ((mean & ((1u << LOG_BITS) - 1)) * x >> LOG_BITS);
}

void leat_sim_atm_traffic_init(struct leat_sim_atm_traffic *traffic,
                               enum leat_sim_atm_traffic_pattern pattern, uint32_t ports,
                               uint32_t load_ppm, uint64_t message_time, uint64_t seed,
                               uint32_t *partner)
{
    *traffic = (struct leat_sim_atm_traffic){
        .pattern = pattern,
        .ports = ports,
        .hot_percent = LEAT_SIM_ATM_TRAFFIC_HOT_PERCENT,
        .burst = LEAT_SIM_ATM_TRAFFIC_BURST,
        .burst_gap = message_time,
        .partner = partner,
    };
    if (load_ppm)
        traffic->gap = message_time / load_ppm * 1000000 +
                       message_time % load_ppm * 1000000 / load_ppm;
    make_logarithms(traffic);
    leat_sim_draw_partners(seed, partner, ports);
}

void leat_sim_atm_traffic_source_init(struct leat_sim_atm_traffic_source *source, uint64_t seed,
                                      uint32_t port)
{
    *source = (struct leat_sim_atm_traffic_source){ 0 };
    leat_random_seed_entity(&source->random, seed, port);
}

/* Any other port, unless there is none. */
static uint32_t other_port(const struct leat_sim_atm_traffic *traffic,
                           struct leat_sim_atm_traffic_source *source, uint32_t port)
{
    if (traffic->ports == 1) return 0;
    const uint32_t to = (uint32_t)leat_random_below(&source->random, traffic->ports - 1);
    return to >= port ? to + 1 : to;
}

static uint32_t destination(const struct leat_sim_atm_traffic *traffic,
                            struct leat_sim_atm_traffic_source *source, uint32_t port)
{
    switch (traffic->pattern) {
    case LEAT_SIM_ATM_TRAFFIC_PERMUTATION: return traffic->partner[port];
    case LEAT_SIM_ATM_TRAFFIC_BROADCAST: return LEAT_SIM_ATM_TRAFFIC_ALL;
    case LEAT_SIM_ATM_TRAFFIC_HOTSPOT:
        if (leat_random_below(&source->random, 100) < traffic->hot_percent) return 0;
        break;
    case LEAT_SIM_ATM_TRAFFIC_BURSTY: return source->burst_to;
    case LEAT_SIM_ATM_TRAFFIC_UNIFORM: break;
    }
    return other_port(traffic, source, port);
}

/* In a burst the next message follows after a message time; a silence compensates for that. */
static uint64_t next_gap(const struct leat_sim_atm_traffic *traffic,
                         struct leat_sim_atm_traffic_source *source, uint32_t port)
{
    if (traffic->pattern != LEAT_SIM_ATM_TRAFFIC_BURSTY)
        return leat_sim_atm_traffic_exponential(traffic, &source->random, traffic->gap);
    if (source->burst_left > 0) {
        source->burst_left--;
        return traffic->burst_gap;
    }
    while (leat_random_below(&source->random, traffic->burst) != 0)
        source->burst_left++;
    source->burst_to = other_port(traffic, source, port);
    const uint64_t silence = (uint64_t)traffic->burst * traffic->gap;
    const uint64_t busy = (uint64_t)(traffic->burst - 1) * traffic->burst_gap;
    if (silence <= busy) return traffic->burst_gap;
    return leat_sim_atm_traffic_exponential(traffic, &source->random, silence - busy);
}

bool leat_sim_atm_traffic_next(const struct leat_sim_atm_traffic *traffic,
                               struct leat_sim_atm_traffic_source *source, uint32_t port,
                               uint64_t *at, uint32_t *to)
{
    if (traffic->gap == 0) return false;
    source->arrival += next_gap(traffic, source, port);
    *at = source->arrival >> TIME_BITS;
    *to = destination(traffic, source, port);
    return true;
}
