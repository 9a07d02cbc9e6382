#include "atm_cac.h"
#include <assert.h>

enum { Q = 20, NON_REAL_TIME = 1 }; /* the last level with promises on loss and delay */
#define ONE_CELL (UINT64_C(1) << Q)

/* rate * ps / this = cells * 2^20: 10^12 * LEAT_ATM_RATE_UNIT / 2^20, exactly. */
#define RATE_PS_PER_Q20 UINT64_C(488281250)

/* a * b / c, rounded down or up; UINT64_MAX if the result does not fit. */
static uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c, bool up)
{
    const uint64_t mask = UINT32_MAX;
    const uint64_t low = (a & mask) * (b & mask), mid1 = (a >> 32) * (b & mask),
                   mid2 = (a & mask) * (b >> 32);
    const uint64_t mid = (low >> 32) + (mid1 & mask) + (mid2 & mask);
    uint64_t high = (a >> 32) * (b >> 32) + (mid1 >> 32) + (mid2 >> 32) + (mid >> 32);
    uint64_t rest = mid << 32 | (low & mask);
    if (high >= c) return UINT64_MAX;
    if (high == 0) return rest / c + (up && rest % c);

    /* Long division, bit by bit: `high` is the remainder so far, always below c. */
    uint64_t quotient = 0;
    for (int bit = 0; bit < 64; bit++) {
        const bool carry = high >> 63;
        high = high << 1 | rest >> 63;
        rest <<= 1;
        quotient <<= 1;
        if (carry || high >= c) {
            high -= c;
            quotient |= 1;
        }
    }
    return up && high && quotient < UINT64_MAX ? quotient + 1 : quotient;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return leat_time_add(a, b); /* saturates */
}

static uint64_t cells_up(uint64_t q20)
{
    return (q20 >> Q) + ((q20 & (ONE_CELL - 1)) != 0);
}

leat_err leat_atm_cac_link_init(struct leat_atm_cac_link *link,
                                const struct leat_atm_cac_link_config *config)
{
    if (config->capacity < LEAT_ATM_CONTRACT_RATE_MIN ||
        config->capacity > LEAT_ATM_CONTRACT_RATE_MAX)
        return LEAT_ERR_RANGE;
    if (config->queue.level_count != LEAT_ATM_LEVEL_COUNT) return LEAT_ERR_RANGE;
    const leat_err err = leat_atm_queue_check(&config->queue);
    if (err == LEAT_ERR_OK) *link = (struct leat_atm_cac_link){ .config = *config };
    return err;
}

/* The least service of a level and those above it on a link: `rate` after `latency_ps`. */
struct service {
    uint64_t rate;
    leat_time latency_ps;
};

static struct service service_of(const struct leat_atm_cac_link_config *link, unsigned level)
{
    const uint64_t w = link->queue.w;
    const leat_time slot_ps = leat_atm_rate_interval_ps(link->capacity);
    struct service s = { link->capacity, slot_ps };
    leat_time term_ps = slot_ps; /* of 1 + g + g^2 ... */
    for (unsigned below = level + 1; below < LEAT_ATM_LEVEL_COUNT; below++) {
        s.rate = mul_div(s.rate, w, w + 1, false);
        s.latency_ps = add(s.latency_ps, term_ps);
        term_ps = mul_div(term_ps, w + 1, w, true);
    }
    return s;
}

leat_time leat_atm_cac_link_wait_ps(const struct leat_atm_cac_link *link, unsigned level)
{
    assert(level < LEAT_ATM_LEVEL_COUNT);
    if (level > NON_REAL_TIME) return LEAT_NEVER;
    const uint64_t w = link->config.queue.w;
    uint64_t cells = link->config.queue.level[level].capacity;
    if (level == NON_REAL_TIME) cells = cells * (w + 1) + w;
    const struct service s = service_of(&link->config, level);
    return add(s.latency_ps, mul_div(cells << Q, RATE_PS_PER_Q20, s.rate, true));
}

/* The longest queue, in cells * 2^20, of arrivals below both lines at this service. */
static uint64_t backlog_q20(struct leat_atm_cac_line peak, struct leat_atm_cac_line mean,
                            struct service s)
{
    const uint64_t peak_at_latency = add(peak.burst_q20,
                                         mul_div(peak.rate, s.latency_ps, RATE_PS_PER_Q20, true));
    const uint64_t mean_at_latency = add(mean.burst_q20,
                                         mul_div(mean.rate, s.latency_ps, RATE_PS_PER_Q20, true));
    const uint64_t at_latency = peak_at_latency < mean_at_latency ? peak_at_latency
                                                                  : mean_at_latency;
    if (peak.rate <= s.rate || mean.burst_q20 <= peak.burst_q20) return at_latency;

    /*
     * The peak exceeds the service, so the queue grows until the lines cross. The mean line minus
     * the service falls, so a time too early is on the safe side.
     */
    const leat_time cross_ps = mul_div(mean.burst_q20 - peak.burst_q20, RATE_PS_PER_Q20,
                                       peak.rate - mean.rate, false);
    if (cross_ps <= s.latency_ps) return at_latency;
    const uint64_t arrived = add(mean.burst_q20,
                                 mul_div(mean.rate, cross_ps, RATE_PS_PER_Q20, true));
    if (arrived == UINT64_MAX) return arrived;
    return arrived - mul_div(s.rate, cross_ps - s.latency_ps, RATE_PS_PER_Q20, false);
}

/* The demand of one connection on a link; peak.burst_q20 <= mean.burst_q20. */
struct demand {
    unsigned level;
    struct leat_atm_cac_line peak, mean;
};

static struct leat_atm_cac_line line_of(uint64_t rate, uint64_t tau)
{
    return (struct leat_atm_cac_line){ rate,
                                       add(ONE_CELL, mul_div(rate, tau, RATE_PS_PER_Q20, true)) };
}

static struct demand demand_of(const struct leat_atm_contract *contract, leat_time jitter_ps)
{
    struct leat_atm_rules rules;
    const leat_err err = leat_atm_contract_rules(contract, &rules);
    assert(err == LEAT_ERR_OK);
    struct demand d = { .level = leat_atm_class_level(contract->class) };
    if (contract->class == LEAT_ATM_ABR) d.mean.rate = contract->mcr;
    if (rules.count == 0) return d;
    d.mean = d.peak = line_of(contract->pcr, add(rules.rule[0].tau, jitter_ps));
    if (rules.count > 1) d.mean = line_of(contract->scr, add(rules.rule[1].tau, jitter_ps));
    /* A mean that begins lower lies below the peak everywhere. */
    if (d.mean.burst_q20 <= d.peak.burst_q20) d.peak = d.mean;
    return d;
}

static struct leat_atm_cac_answer refusal(enum leat_atm_cac_criterion criterion, unsigned level,
                                          uint64_t needed, uint64_t available)
{
    return (struct leat_atm_cac_answer){
        .criterion = criterion, .level = level, .needed = needed, .available = available
    };
}

/* Rate and buffer of one level, the new connection included. */
static struct leat_atm_cac_answer check_level(const struct leat_atm_cac_link *link,
                                              const struct demand *demand, unsigned level)
{
    struct leat_atm_cac_line peak = demand->peak, mean = demand->mean;
    for (unsigned i = 0; i <= level; i++) {
        peak.rate += link->level[i].peak.rate;
        peak.burst_q20 += link->level[i].peak.burst_q20;
        mean.rate += link->level[i].mean.rate;
        mean.burst_q20 += link->level[i].mean.burst_q20;
    }
    const struct service s = service_of(&link->config, level);
    if (mean.rate > s.rate) return refusal(LEAT_ATM_CAC_RATE, level, mean.rate, s.rate);
    if (level <= NON_REAL_TIME) {
        const uint64_t room = link->config.queue.level[level].capacity -
                              link->config.queue.level[level].threshold;
        const uint64_t needed = cells_up(backlog_q20(peak, mean, s));
        if (needed > room) return refusal(LEAT_ATM_CAC_BUFFER, level, needed, room);
    }
    return refusal(LEAT_ATM_CAC_ACCEPTED, level, 0, 0);
}

static struct leat_atm_cac_answer check_link(const struct leat_atm_cac_link *link,
                                             const struct demand *demand)
{
    /* These two keep the sums within 64 bits. */
    if (link->connections >= LEAT_ATM_CAC_CONNECTIONS_MAX)
        return refusal(LEAT_ATM_CAC_CONNECTIONS, demand->level, link->connections + 1,
                       LEAT_ATM_CAC_CONNECTIONS_MAX);
    if (cells_up(demand->mean.burst_q20) > LEAT_ATM_CAC_BURST_CELLS_MAX)
        return refusal(LEAT_ATM_CAC_BURST, demand->level, cells_up(demand->mean.burst_q20),
                       LEAT_ATM_CAC_BURST_CELLS_MAX);
    /* Higher levels lose nothing: their service already excludes what lower levels take. */
    for (unsigned level = demand->level; level < LEAT_ATM_LEVEL_COUNT - 1; level++) {
        const struct leat_atm_cac_answer answer = check_level(link, demand, level);
        if (answer.criterion != LEAT_ATM_CAC_ACCEPTED) return answer;
    }
    return refusal(LEAT_ATM_CAC_ACCEPTED, demand->level, 0, 0);
}

/* Requested values against promises, both as sums over the path so far. */
static struct leat_atm_cac_answer check_delay(const struct leat_atm_contract *contract,
                                              leat_time delay_ps, leat_time jitter_ps)
{
    const unsigned level = leat_atm_class_level(contract->class);
    if (level > NON_REAL_TIME && contract->clr_e12 < LEAT_ATM_CLR_ONE)
        return refusal(LEAT_ATM_CAC_CLR, level, contract->clr_e12, LEAT_ATM_CLR_ONE);
    if (delay_ps > contract->ctd_ps)
        return refusal(LEAT_ATM_CAC_CTD, level, contract->ctd_ps, delay_ps);
    if (jitter_ps > contract->cdv_ps)
        return refusal(LEAT_ATM_CAC_CDV, level, contract->cdv_ps, jitter_ps);
    return refusal(LEAT_ATM_CAC_ACCEPTED, level, 0, 0);
}

static leat_err check(const struct leat_atm_contract *contract,
                      struct leat_atm_cac_link *const *path, size_t link_count)
{
    const leat_err err = leat_atm_contract_check(contract);
    if (err != LEAT_ERR_OK) return err;
    if (link_count < 1 || link_count > LEAT_ATM_CAC_PATH_MAX) return LEAT_ERR_RANGE;
    for (size_t i = 1; i < link_count; i++)
        for (size_t k = 0; k < i; k++)
            if (path[i] == path[k]) return LEAT_ERR_DUPLICATE;
    return LEAT_ERR_OK;
}

leat_err leat_atm_cac_check(const struct leat_atm_contract *contract,
                            struct leat_atm_cac_link *const *path, size_t link_count,
                            struct leat_atm_cac_answer *out)
{
    const leat_err err = check(contract, path, link_count);
    if (err != LEAT_ERR_OK) return err;

    struct leat_atm_cac_answer answer = { .criterion = LEAT_ATM_CAC_ACCEPTED };
    const bool counted = contract->class != LEAT_ATM_UBR; /* UBR has no guarantees */
    leat_time delay_ps = 0, jitter_ps = 0;
    for (size_t i = 0; i < link_count && answer.criterion == LEAT_ATM_CAC_ACCEPTED; i++) {
        const struct demand d = demand_of(contract, jitter_ps);
        const leat_time wait_ps = leat_atm_cac_link_wait_ps(path[i], d.level);
        jitter_ps = add(jitter_ps, wait_ps);
        delay_ps = add(delay_ps, add(add(wait_ps, path[i]->config.fixed_ps),
                                     leat_atm_rate_interval_ps(path[i]->config.capacity)));
        if (counted) answer = check_link(path[i], &d);
        if (answer.criterion == LEAT_ATM_CAC_ACCEPTED)
            answer = check_delay(contract, delay_ps, jitter_ps);
        answer.link = i;
    }
    *out = answer;
    return LEAT_ERR_OK;
}

static void book(struct leat_atm_cac_line *sum, const struct leat_atm_cac_line *line, bool in)
{
    assert(in || (sum->rate >= line->rate && sum->burst_q20 >= line->burst_q20));
    sum->rate = in ? sum->rate + line->rate : sum->rate - line->rate;
    sum->burst_q20 = in ? sum->burst_q20 + line->burst_q20 : sum->burst_q20 - line->burst_q20;
}

static void book_path(const struct leat_atm_contract *contract,
                      struct leat_atm_cac_link *const *path, size_t link_count, bool in)
{
    leat_time jitter_ps = 0;
    if (contract->class == LEAT_ATM_UBR) return;
    for (size_t i = 0; i < link_count; i++) {
        const struct demand d = demand_of(contract, jitter_ps);
        assert(in || path[i]->connections > 0);
        path[i]->connections = in ? path[i]->connections + 1 : path[i]->connections - 1;
        book(&path[i]->level[d.level].peak, &d.peak, in);
        book(&path[i]->level[d.level].mean, &d.mean, in);
        jitter_ps = add(jitter_ps, leat_atm_cac_link_wait_ps(path[i], d.level));
    }
}

leat_err leat_atm_cac_admit(const struct leat_atm_contract *contract,
                            struct leat_atm_cac_link *const *path, size_t link_count,
                            struct leat_atm_cac_answer *out)
{
    const leat_err err = leat_atm_cac_check(contract, path, link_count, out);
    if (err == LEAT_ERR_OK && out->criterion == LEAT_ATM_CAC_ACCEPTED)
        book_path(contract, path, link_count, true);
    return err;
}

void leat_atm_cac_release(const struct leat_atm_contract *contract,
                          struct leat_atm_cac_link *const *path, size_t link_count)
{
    assert(check(contract, path, link_count) == LEAT_ERR_OK);
    book_path(contract, path, link_count, false);
}
