#include "atm_aal1_playout.h"
#include "leat_ring.h"
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

enum state { FILLING, PLAYING };

struct leat_atm_aal1_playout {
    struct leat_atm_aal1_playout_config config;
    struct leat_atm_aal1_playout_counts counts;
    enum state state;
    leat_time now;      /* of the latest event */
    leat_time first_at; /* when the empty ring got its first octet */
    struct leat_ring ring;
    uint8_t octets[];
};

size_t leat_atm_aal1_playout_footprint(const struct leat_atm_aal1_playout_config *config)
{
    return sizeof(struct leat_atm_aal1_playout) + config->capacity_len;
}

leat_err leat_atm_aal1_playout_init(void *memory, size_t memory_len,
                                    const struct leat_atm_aal1_playout_config *config,
                                    struct leat_atm_aal1_playout **out)
{
    if (config->capacity_len < 1 || config->capacity_len > LEAT_ATM_AAL1_PLAYOUT_LEN_MAX)
        return LEAT_ERR_RANGE;
    if (config->start_len < 1 || config->start_len > config->capacity_len) return LEAT_ERR_RANGE;
    if (memory_len < leat_atm_aal1_playout_footprint(config)) return LEAT_ERR_MEMORY;
    if ((uintptr_t)memory % alignof(struct leat_atm_aal1_playout)) return LEAT_ERR_MEMORY;

    struct leat_atm_aal1_playout *p = memory;
    *p = (struct leat_atm_aal1_playout){ .config = *config, .state = FILLING };
    *out = p;
    return leat_ring_init(&p->ring, p->octets, config->capacity_len, 1, config->capacity_len);
}

/* The one place where play begins. */
static void consider_start(struct leat_atm_aal1_playout *p)
{
    const size_t level = leat_ring_count(&p->ring);
    const bool old = level > 0 && p->now >= leat_time_add(p->first_at, p->config.start_ps);
    if (level >= p->config.start_len || old) p->state = PLAYING;
}

static void on_time(struct leat_atm_aal1_playout *p, leat_time now)
{
    assert(now >= p->now);
    p->now = now;
}

void leat_atm_aal1_playout_arrive(struct leat_atm_aal1_playout *playout, leat_time now,
                                  const uint8_t *octets, size_t len)
{
    size_t dropped = 0;

    on_time(playout, now);
    if (leat_ring_count(&playout->ring) == 0) playout->first_at = now;
    for (size_t i = 0; i < len; i++) {
        if (leat_ring_push(&playout->ring, octets + i)) continue;
        dropped++;
        if (playout->config.overrun == LEAT_ATM_AAL1_DROP_OLDEST) {
            uint8_t oldest;
            (void)leat_ring_pop(&playout->ring, &oldest);
            (void)leat_ring_push(&playout->ring, octets + i);
        }
    }
    playout->counts.arrived_len += len;
    playout->counts.dropped_len += dropped;
    playout->counts.overruns += dropped > 0;
    consider_start(playout);
}

size_t leat_atm_aal1_playout_read(struct leat_atm_aal1_playout *playout, leat_time now,
                                  uint8_t *octets, size_t len)
{
    size_t played = 0;

    on_time(playout, now);
    consider_start(playout);
    if (playout->state == PLAYING) {
        while (played < len && leat_ring_pop(&playout->ring, octets + played))
            played++;
        if (played < len) {
            playout->counts.underruns++;
            if (playout->config.underrun == LEAT_ATM_AAL1_REFILL) playout->state = FILLING;
        }
    }
    memset(octets + played, playout->config.dummy, len - played);
    playout->counts.played_len += played;
    playout->counts.dummy_len += len - played;
    return played;
}

size_t leat_atm_aal1_playout_level(const struct leat_atm_aal1_playout *playout)
{
    return leat_ring_count(&playout->ring);
}

struct leat_atm_aal1_playout_counts
leat_atm_aal1_playout_counts(const struct leat_atm_aal1_playout *playout)
{
    return playout->counts;
}
