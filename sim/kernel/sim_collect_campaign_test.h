/*
 * Random collective operations of random groups over any network with means, with messages between
 * them, against a plain model. Each member hands over its parts with random delays, so that some
 * are early and others late.
 */
#ifndef LEAT_SIM_COLLECT_CAMPAIGN_TEST_H
#define LEAT_SIM_COLLECT_CAMPAIGN_TEST_H

#include "port_fold.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

struct collect_campaign {
    struct leat_port_net *net;
    uint64_t seed;
    uint32_t operations; /* of each group */
    uint32_t groups;     /* at most */
    uint32_t words_max;  /* of a fold, at most; also those of the network */
    uint64_t octets_max; /* of a cast, in the same way */
    leat_time delay_max;
    bool sends_messages;
};

struct collect_campaign_member {
    uint32_t port;
    bool waits;
    uint32_t number;     /* of its current operation, or its next one */
    leat_time handed_at; /* of the current one */
    uint64_t *word;
    uint8_t *octets; /* of two operations: those of a root stay lent while it goes on */
};

struct collect_campaign_group {
    uint32_t id, members;
    struct collect_campaign_member *member;
    leat_time *entered; /* [operations]: when the last of its parts so far was handed over */
};

static struct {
    struct collect_campaign of;
    struct collect_campaign_group group[8];
    struct leat_random random;
    uint32_t collected, wrong;
    struct {
        bool is_busy;
        uint8_t octets[100];
    } message[4];
} campaign;

/* ---- the model ------------------------------------------------------------------------------ */

static uint64_t campaign_draw(uint32_t group, uint32_t number, uint32_t a, uint32_t b)
{
    struct leat_random r;
    leat_random_seed(&r, campaign.of.seed ^ (uint64_t)group << 56 ^ (uint64_t)number << 36 ^
                             (uint64_t)a << 16 ^ b);
    return leat_random_next(&r);
}

/* What operation `number` of the group is; the same for all members. */
static struct leat_port_part campaign_part(uint32_t group, uint32_t number)
{
    const struct collect_campaign_group *g = &campaign.group[group];
    const struct leat_port_means *means = campaign.of.net->means;
    struct leat_port_part part = { .group = g->id, .kind = LEAT_PORT_FOLD };
    if (!means->folds || (means->octets_max && campaign_draw(group, number, 0xffff, 0) % 3 == 0)) {
        const uint64_t most = leat_smaller(means->octets_max, campaign.of.octets_max);
        part.kind = LEAT_PORT_CAST;
        part.root = g->member[campaign_draw(group, number, 0xffff, 1) % g->members].port;
        part.len = campaign_draw(group, number, 0xffff, 2) % (most + 1);
        return part;
    }
    const uint32_t most = (uint32_t)leat_smaller(means->words_max, campaign.of.words_max);
    part.words = (uint32_t)(campaign_draw(group, number, 0xffff, 3) % (most + 1));
    part.fold = (enum leat_port_fold)(campaign_draw(group, number, 0xffff, 4) % LEAT_PORT_FOLDS);
    while (!(means->folds >> part.fold & 1))
        part.fold = (enum leat_port_fold)((part.fold + 1) % LEAT_PORT_FOLDS);
    return part;
}

/* Some words are equal, some large, some small: ties and carries. */
static uint64_t campaign_word(uint32_t group, uint32_t number, uint32_t place, uint32_t i)
{
    const uint64_t word = campaign_draw(group, number, place, i);
    return word % 4 ? word : word >> 60;
}

static uint8_t campaign_octet(uint32_t group, uint32_t number, uint64_t i)
{
    return (uint8_t)(group * 31 + number * 7 + i * 13 + (i >> 8));
}

static bool campaign_is_right(uint32_t group, uint32_t number, const struct leat_port_part *part)
{
    const struct collect_campaign_group *g = &campaign.group[group];
    for (uint32_t i = 0; part->kind == LEAT_PORT_FOLD && i < part->words; i++) {
        uint64_t word = campaign_word(group, number, 0, i);
        for (uint32_t k = 1; k < g->members; k++)
            word = leat_port_fold_one(part->fold, word, campaign_word(group, number, k, i));
        if (word != part->word[i]) return false;
    }
    for (uint64_t i = 0; part->kind == LEAT_PORT_CAST && i < part->len; i++)
        if (part->octets[i] != campaign_octet(group, number, i)) return false;
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

static void campaign_hand_over(uint32_t group, uint32_t place)
{
    struct collect_campaign_group *g = &campaign.group[group];
    struct collect_campaign_member *m = &g->member[place];
    struct leat_port_part part = campaign_part(group, m->number);
    const leat_time late = leat_random_below(&campaign.random, campaign.of.delay_max + 1);
    const leat_time at = campaign.of.net->now + (late % 5 ? 0 : late);
    part.port = m->port;
    part.id = (uint64_t)group << 32 | place;
    part.word = m->word;
    for (uint32_t i = 0; i < part.words; i++)
        part.word[i] = campaign_word(group, m->number, place, i);
    part.octets = m->octets + m->number % 8 * (campaign.of.octets_max + 1);
    for (uint64_t i = 0; part.kind == LEAT_PORT_CAST && i < part.len; i++)
        part.octets[i] = part.root == part.port ? campaign_octet(group, m->number, i) : 0;
    m->waits = true;
    m->handed_at = at;
    if (part.kind == LEAT_PORT_FOLD || part.root == part.port)
        g->entered[m->number] = leat_larger(g->entered[m->number], at);
    leat_port_collect(campaign.of.net, &part, at);
}

static void campaign_collected(void *context, const struct leat_port_part *part, bool is_done,
                               leat_time at)
{
    const uint32_t group = (uint32_t)(part->id >> 32), place = (uint32_t)part->id;
    struct collect_campaign_group *g = &campaign.group[group];
    struct collect_campaign_member *m = &g->member[place];
    (void)context;
    campaign.collected++;
    campaign.wrong += !is_done || !m->waits || at < m->handed_at || at < g->entered[m->number] ||
                      !campaign_is_right(group, m->number, part);
    m->waits = false;
    m->number++;
}

static void campaign_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static void campaign_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)at;
    campaign.message[message->id].is_busy = false;
}

static void campaign_lost(void *context, const struct leat_port_message *message, const char *why,
                          leat_time at)
{
    (void)context, (void)at;
    campaign.message[message->id].is_busy = false;
    campaign.wrong++;
    printf("# a message was lost: %s\n", why);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void campaign_make_group(uint32_t group)
{
    const uint32_t ports = campaign.of.net->ports;
    struct collect_campaign_group *g = &campaign.group[group];
    uint32_t *port = calloc(ports, sizeof *port);
    g->members = 0;
    while (g->members < 2) {
        const bool all = group == 0;
        g->members = 0;
        for (uint32_t i = 0; i < ports; i++)
            if (all || leat_random_below(&campaign.random, 2)) port[g->members++] = i;
    }
    g->id = leat_port_group(campaign.of.net, port, g->members);
    OK(g->id != 0);
    g->member = calloc(g->members, sizeof *g->member);
    g->entered = calloc(campaign.of.operations + 1, sizeof *g->entered);
    for (uint32_t i = 0; i < g->members; i++) {
        g->member[i].port = port[i];
        g->member[i].word = calloc(campaign.of.words_max + 1, sizeof(uint64_t));
        g->member[i].octets = calloc(8, campaign.of.octets_max + 1);
    }
    free(port);
}

static void campaign_end_group(uint32_t group)
{
    struct collect_campaign_group *g = &campaign.group[group];
    leat_port_disband(campaign.of.net, g->id);
    for (uint32_t i = 0; i < g->members; i++) {
        free(g->member[i].word);
        free(g->member[i].octets);
    }
    free(g->member);
    free(g->entered);
}

static void campaign_send(void)
{
    struct leat_port_net *net = campaign.of.net;
    const uint64_t slot = leat_random_below(&campaign.random, 16);
    const uint64_t from = leat_random_below(&campaign.random, net->ports);
    const uint64_t to = leat_random_below(&campaign.random, net->ports);
    if (slot >= 4 || campaign.message[slot].is_busy) return;
    const struct leat_port_message message = {
        .from = (uint32_t)from,
        .to = (uint32_t)to,
        .id = slot,
        .octets = campaign.message[slot].octets,
        .len = 1 + leat_random_below(&campaign.random, 100),
    };
    campaign.message[slot].is_busy = leat_port_send(net, &message, net->now);
}

/* True: some member has something left to do. */
static bool campaign_go_on(void)
{
    bool any = false;
    for (uint32_t g = 0; g < campaign.of.groups; g++)
        for (uint32_t i = 0; i < campaign.group[g].members; i++) {
            const struct collect_campaign_member *m = &campaign.group[g].member[i];
            if (!m->waits && m->number < campaign.of.operations) campaign_hand_over(g, i);
            any |= m->waits;
        }
    return any;
}

/* Runs all operations; returns the certificate of their results. Sets the observer of the net. */
static uint64_t collect_campaign_run(const struct collect_campaign *of)
{
    struct leat_port_net *net = of->net;
    memset(&campaign, 0, sizeof campaign);
    campaign.of = *of;
    leat_random_seed(&campaign.random, of->seed);
    net->observer = (struct leat_port_observer){ .sent = campaign_sent,
                                                 .arrived = campaign_arrived,
                                                 .lost = campaign_lost,
                                                 .collected = campaign_collected };
    campaign.of.groups = (uint32_t)leat_smaller(leat_smaller(of->groups, 8),
                                                net->means->groups_max);
    uint32_t expected = 0;
    for (uint32_t g = 0; g < campaign.of.groups; g++) {
        campaign_make_group(g);
        expected += campaign.group[g].members * of->operations;
    }
    while (campaign_go_on()) {
        if (of->sends_messages) campaign_send();
        if (!net->in_flight) break; /* stuck: the count shows it */
        leat_port_run(net, LEAT_NEVER);
    }
    for (uint32_t i = 0; i < 4; i++)
        while (campaign.message[i].is_busy && net->in_flight)
            leat_port_run(net, LEAT_NEVER);
    EQ(campaign.collected, expected);
    EQ(campaign.wrong, 0);
    EQ(net->in_flight, 0);
    for (uint32_t g = 0; g < campaign.of.groups; g++)
        campaign_end_group(g);
    return net->collected;
}

#endif
