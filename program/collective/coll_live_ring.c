/* The network of hosts that are stations of a live ATON ring: ranks agree on a ring and a block of
 * its registers. */
#include "coll_live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES = 6, /* if no block is free on all hosts: another communicator may be joining */
    PAUSE_US_MAX = 60000,
    CLAIM_US = 100000,
    HOSTS_MAX = 255, /* stations that a packet passes */
};

/* The calls of libleat_aton. */
#define CALLS(X) \
    X(open)      \
    X(claim)     \
    X(unclaim)   \
    X(join)      \
    X(enter)     \
    X(cast)      \
    X(step)      \
    X(wait)      \
    X(why)       \
    X(close)

static struct {
#define X(NAME) __typeof__(leat_aton_group_##NAME) *NAME;
    CALLS(X)
#undef X
} aton;

static bool find_library(void)
{
    static const struct live_call call[] = {
#define X(NAME) { "leat_aton_group_" #NAME, &aton.NAME },
        CALLS(X)
#undef X
    };
    return live_load(LEAT_ATON_LIBRARY, call, sizeof call / sizeof *call);
}

/* Of each speaker, with all zeros of other ranks. */
struct offer {
    enum leat_aton_host_end end;
    uint32_t ring_id;
    uint16_t address;
    uint32_t blocks;
    char why[LIVE_WHY_LEN];
};

/* ---- offers and the plan --------------------------------------------------------------------- */

static void make_offer(struct leat_live *r, struct offer *offer)
{
    struct leat_aton_group_seat seat = { .blocks = 0 };
    struct leat_aton_group *group = NULL;
    *offer = (struct offer){ .end = LEAT_ATON_HOST_OK };
    if (r->local) return;
    offer->end = aton.open((uint32_t)leat_coll_ring_id, &group, &seat, offer->why);
    r->group = group;
    offer->ring_id = seat.ring_id;
    offer->address = seat.address;
    offer->blocks = seat.blocks;
}

static void say_full(struct live_plan *plan)
{
    snprintf(plan->why, sizeof plan->why,
             "the ring has room for 8 communicators, and they are taken: by this job, by others, "
             "or by registers that are not 0 (leat ring get)");
}

/* What all offers have in common: blocks; 0: see plan->why. */
static uint32_t compare(const struct leat_live *r, const struct offer *offer, const int *speaker,
                        struct live_plan *plan)
{
    uint32_t blocks = ~0u;
    for (int i = 0; i < r->ranks; i++) {
        if (speaker[i] != i) continue;
        char text[LIVE_WHY_LEN];
        memcpy(text, offer[i].why, sizeof text);
        text[sizeof text - 1] = 0;
        if (offer[i].end != LEAT_ATON_HOST_OK) {
            snprintf(plan->why, sizeof plan->why, "the host of rank %d: %.280s", i, text);
            return 0;
        }
        if (offer[i].ring_id != offer[0].ring_id) {
            snprintf(plan->why, sizeof plan->why,
                     "the host of rank 0 is a station of ring %u, that of rank %d of ring %u, "
                     "expected one ring: leat ring status",
                     offer[0].ring_id, i, offer[i].ring_id);
            return 0;
        }
        blocks &= offer[i].blocks;
    }
    if (!blocks) say_full(plan);
    return blocks;
}

/* Rank 0: claims a block, the highest first; low registers are those that people use. */
static void make_plan(struct leat_live *r, uint32_t blocks, struct live_plan *plan)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) random = (uint32_t)getpid();
    plan->pause_us = random % PAUSE_US_MAX;
    plan->ring.epoch = (uint16_t)(random >> 16);
    for (int block = LEAT_ATON_GROUPS - 1; block >= 0 && !plan->is_made; block--) {
        if (!(blocks >> block & 1)) continue;
        const enum leat_aton_host_end end = aton.claim(r->group, (uint8_t)block, CLAIM_US,
                                                       &plan->ring.stations, plan->why);
        plan->is_made = end == LEAT_ATON_HOST_OK && plan->ring.stations >= r->hosts;
        plan->ring.block = (uint8_t)block;
        if (end == LEAT_ATON_HOST_FAILED) say_full(plan);
        if (end == LEAT_ATON_HOST_OK && !plan->is_made) {
            snprintf(plan->why, sizeof plan->why,
                     "the ring has %u stations, but the ranks are on %u hosts", plan->ring.stations,
                     r->hosts);
            aton.unclaim(r->group, (uint8_t)block);
        }
        plan->is_vain = end == LEAT_ATON_HOST_SILENT;
        if (plan->is_vain) break;
    }
}

static void withdraw(struct leat_live *r)
{
    aton.close(r->group);
    r->group = NULL;
}

/* Offers, until rank 0 has claimed a block that is free everywhere. */
static bool agree_by(struct leat_live *r, const int *speaker, struct offer *offer,
                     struct live_plan *plan)
{
    for (int i = 0; i < TRIES; i++) {
        struct offer own;
        *plan = (struct live_plan){ .is_made = false };
        make_offer(r, &own);
        if (!live_gather(r, &own, offer, sizeof own)) return false;
        const uint32_t blocks = compare(r, offer, speaker, plan);
        if (r->rank == 0 && blocks) make_plan(r, blocks, plan);
        if (!live_publish(r, plan)) return false;
        if (plan->is_made) return true;
        withdraw(r);
        for (int k = 0; k < r->ranks; k++)
            if (offer[k].end != LEAT_ATON_HOST_OK) return false; /* another try is in vain */
        const struct timespec pause = { .tv_nsec = (long)plan->pause_us * 1000 };
        nanosleep(&pause, NULL);
    }
    return false;
}

static bool agree(struct leat_live *r, const int *speaker, struct live_plan *plan)
{
    struct offer *offer = calloc((size_t)r->ranks, sizeof *offer);
    if (!offer) abort();
    const bool is_made = r->hosts <= HOSTS_MAX && agree_by(r, speaker, offer, plan);
    free(offer);
    return is_made;
}

static bool enter(struct leat_live *r, const int *speaker, const struct live_plan *plan, char *why)
{
    (void)speaker;
    return aton.join(r->group, plan->ring.block, plan->ring.epoch, (uint16_t)r->hosts,
                     plan->ring.stations, r->rank == 0, (uint64_t)leat_coll_patience_ms * 1000,
                     why) == LEAT_ATON_HOST_OK;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void fold(void *group, const struct live_part *part, uint64_t *word)
{
    if (part->is_cast)
        aton.cast(group, part->is_root, (uint32_t)part->number, word, part->words);
    else
        aton.enter(group, part->fold, word, part->words);
}

static enum live_state step(void *group)
{
    switch (aton.step(group)) {
    case LEAT_ATON_GROUP_WORKS: return LIVE_WORKS;
    case LEAT_ATON_GROUP_OVER: return LIVE_OVER;
    case LEAT_ATON_GROUP_BROKEN: break;
    }
    return LIVE_BROKEN;
}

static void wait(void *group, uint64_t timeout_us)
{
    aton.wait(group, timeout_us);
}

static const char *why(const void *group)
{
    return aton.why(group);
}

static void close_group(void *group)
{
    aton.close(group);
}

const struct live_network live_ring = { .name = "ring",
                                        .find_library = find_library,
                                        .agree = agree,
                                        .enter = enter,
                                        .fold = fold,
                                        .step = step,
                                        .wait = wait,
                                        .why = why,
                                        .close = close_group };
