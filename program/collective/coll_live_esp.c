/* The network of hosts below ESP routers: one of the hosts is the root of a team (leat/esp_team.h),
 * the first whose UDP port is free. */
#include "coll_live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOIN_MS = 5000,  /* the root waits for the others */
    SLICE_MS = 20,   /* others look for what the root says after this */
    READY_MS = 1000, /* the root leads: its packets say so, too */
};

/* The calls of libleat_esp. */
#define CALLS(X) \
    X(open)      \
    X(lead)      \
    X(join)      \
    X(enter)     \
    X(cast)      \
    X(step)      \
    X(wait)      \
    X(why)       \
    X(close)

static struct {
#define X(NAME) __typeof__(leat_esp_team_##NAME) *NAME;
    CALLS(X)
#undef X
} esp;

static bool find_library(void)
{
    static const struct live_call call[] = {
#define X(NAME) { "leat_esp_team_" #NAME, &esp.NAME },
        CALLS(X)
#undef X
    };
    return live_load(LEAT_ESP_LIBRARY, call, sizeof call / sizeof *call);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Of each speaker, with all zeros of other ranks. */
struct offer {
    enum leat_esp_host_end end;
    struct leat_esp_team_seat seat;
    char why[LIVE_WHY_LEN];
};

static void make_offer(struct leat_live *r, struct offer *offer)
{
    struct leat_esp_team *team = NULL;
    *offer = (struct offer){ .end = LEAT_ESP_HOST_OK };
    if (r->local) return;
    offer->end = esp.open(leat_coll_esp_network, leat_coll_esp_key, &team, &offer->seat,
                          offer->why);
    r->group = team;
}

/* All ranks come to the same: they have the same offers. */
static void make_plan(const struct leat_live *r, const struct offer *offer, const int *speaker,
                      struct live_plan *plan)
{
    for (int i = 0; i < r->ranks; i++) {
        if (speaker[i] != i || offer[i].end == LEAT_ESP_HOST_OK) continue;
        snprintf(plan->why, sizeof plan->why, "the host of rank %d: %.280s", i, offer[i].why);
        return;
    }
    for (int i = 0; i < r->ranks && !plan->is_made; i++) {
        if (speaker[i] != i || !offer[i].seat.can_lead) continue;
        plan->is_made = true;
        plan->esp.root = i;
        plan->esp.seat = offer[i].seat;
    }
    if (plan->is_made) return;
    snprintf(plan->why, sizeof plan->why,
             "UDP port %d is taken on all hosts: each of them can be the root of one communicator "
             "at a time",
             LEAT_ESP_UDP_PORT);
}

/* Hosts that do not lead give their port back at once, for other communicators. */
static bool agree(struct leat_live *r, const int *speaker, struct live_plan *plan)
{
    struct offer own, *offer = calloc((size_t)r->ranks, sizeof *offer);
    if (!offer) abort();
    make_offer(r, &own);
    if (live_gather(r, &own, offer, sizeof own)) make_plan(r, offer, speaker, plan);
    free(offer);
    return plan->is_made;
}

static bool lead(struct leat_live *r, const int *speaker, uint64_t patience_us, char *why)
{
    const bool leads = esp.lead(r->group, r->hosts, JOIN_MS, patience_us, why) == LEAT_ESP_HOST_OK;
    live_tell_speakers(r, speaker, leads);
    return leads;
}

/* Waits as long as the root tries. It says why it cannot lead. */
static bool follow(struct leat_live *r, const struct live_plan *plan, uint64_t patience_us,
                   char *why)
{
    struct live_word word;
    enum leat_esp_host_end end;
    live_listen(r, plan->esp.root, &word);
    do
        end = esp.join(r->group, &plan->esp.seat, SLICE_MS, patience_us, why);
    while (end == LEAT_ESP_HOST_SILENT && !live_is_heard(&word));
    const bool leads = live_hear(&word);
    if (leads && end == LEAT_ESP_HOST_SILENT)
        end = esp.join(r->group, &plan->esp.seat, READY_MS, patience_us, why);
    if (!leads) *why = 0;
    return leads && end == LEAT_ESP_HOST_OK;
}

static bool enter(struct leat_live *r, const int *speaker, const struct live_plan *plan, char *why)
{
    const uint64_t patience_us = (uint64_t)leat_coll_patience_ms * 1000;
    return r->rank == plan->esp.root ? lead(r, speaker, patience_us, why)
                                     : follow(r, plan, patience_us, why);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void fold(void *group, const struct live_part *part, uint64_t *word)
{
    if (part->is_cast)
        esp.cast(group, part->is_root, word, part->words);
    else
        esp.enter(group, part->fold, word, part->words);
}

static enum live_state step(void *group)
{
    switch (esp.step(group)) {
    case LEAT_ESP_TEAM_WORKS: return LIVE_WORKS;
    case LEAT_ESP_TEAM_OVER: return LIVE_OVER;
    case LEAT_ESP_TEAM_DOUBTS: return LIVE_DOUBTS;
    case LEAT_ESP_TEAM_BROKEN: break;
    }
    return LIVE_BROKEN;
}

static void wait(void *group, uint64_t timeout_us)
{
    esp.wait(group, timeout_us);
}

static const char *why(const void *group)
{
    return esp.why(group);
}

static void close_team(void *group)
{
    esp.close(group);
}

const struct live_network live_esp = { .name = "esp",
                                       .find_library = find_library,
                                       .agree = agree,
                                       .enter = enter,
                                       .fold = fold,
                                       .step = step,
                                       .wait = wait,
                                       .why = why,
                                       .close = close_team,
                                       .needs_progress = true };
