#include "sim_clock.h"
#include "sim_refuse.h"
#include <assert.h>

struct wide {
    uint64_t high, low;
};

/* a * b + c, from four 32-bit products: no 128-bit type needed. It cannot overflow. */
static struct wide multiply_add(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32);
    const uint64_t other = al * bh + (uint32_t)middle;
    struct wide product = { .high = ah * bh + (middle >> 32) + (other >> 32), .low = a * b };
    product.low += c;
    product.high += product.low < c;
    return product;
}

/* floor(n / d), long division bit by bit where one division does not suffice. */
static leat_err divide(struct wide n, uint64_t d, uint64_t *quotient)
{
    if (n.high >= d) return LEAT_ERR_RANGE;
    if (!n.high) {
        *quotient = n.low / d;
        return LEAT_ERR_OK;
    }
    uint64_t rest = n.high, q = 0;
    for (int bit = 63; bit >= 0; bit--) {
        const uint64_t carry = rest >> 63;
        rest = rest << 1 | (n.low >> bit & 1);
        q <<= 1;
        if (carry || rest >= d) {
            rest -= d;
            q |= 1;
        }
    }
    *quotient = q;
    return LEAT_ERR_OK;
}

leat_err leat_sim_clock_init(struct leat_sim_clock *clock, uint64_t num, uint64_t den)
{
    if (!num || !den) return LEAT_ERR_RANGE;
    *clock = (struct leat_sim_clock){ .num = num, .den = den };
    return LEAT_ERR_OK;
}

leat_err leat_sim_clock_edge(const struct leat_sim_clock *clock, uint64_t cycle, leat_time *at)
{
    uint64_t ps;
    const leat_err err = divide(multiply_add(cycle, clock->num, 0), clock->den, &ps);
    if (err || ps == LEAT_NEVER) return LEAT_ERR_RANGE;
    *at = ps;
    return LEAT_ERR_OK;
}

leat_err leat_sim_clock_check(const struct leat_sim_clock *clock, struct leat_text *why)
{
    if (clock->den && clock->num >= clock->den) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "period of the clock, expected 1 ps or more");
}

leat_time leat_sim_clock_at(const struct leat_sim_clock *clock, uint64_t cycle)
{
    leat_time at;
    leat_sim_must(!leat_sim_clock_edge(clock, cycle, &at));
    return at;
}

/*
 * The greatest k with floor(k * num / den) <= at, that is k * num < (at + 1) * den, that is
 * k = floor(((at + 1) * den - 1) / num).
 */
leat_err leat_sim_clock_cycle(const struct leat_sim_clock *clock, leat_time at, uint64_t *cycle)
{
    assert(at != LEAT_NEVER);
    return divide(multiply_add(at, clock->den, clock->den - 1), clock->num, cycle);
}

uint64_t leat_sim_clock_last(const struct leat_sim_clock *clock, leat_time until)
{
    uint64_t cycle;
    return until == LEAT_NEVER || leat_sim_clock_cycle(clock, until, &cycle) ? LEAT_NEVER : cycle;
}

uint64_t leat_sim_clock_cycle_from(const struct leat_sim_clock *clock, leat_time at)
{
    uint64_t cycle;
    if (at == 0) return 0;
    if (at == LEAT_NEVER || leat_sim_clock_cycle(clock, at - 1, &cycle)) return LEAT_NEVER;
    return cycle + 1;
}
