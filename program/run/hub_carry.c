/* What the network does for the run itself, not for a task: messages, and parts of services. */
#include "child.h"
#include "hub_parts.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

bool leat_hub_is_own(const struct leat_port_message *message)
{
    return message->id & (LEAT_HUB_REDO_MARK | LEAT_HUB_SERVICE_MARK);
}

void leat_hub_own_arrived(struct leat_hub *hub, const struct leat_port_message *message,
                          leat_time at)
{
    if (message->id & LEAT_HUB_REDO_MARK) {
        leat_hub_collect_arrived(hub, message, at);
        return;
    }
    hub->carried = leat_child_grown(hub->carried, hub->carried_count + 1, sizeof *hub->carried);
    hub->carried[hub->carried_count++] = message->id & ~LEAT_HUB_SERVICE_MARK;
}

void leat_hub_own_lost(struct leat_hub *hub, const struct leat_port_message *message,
                       const char *why)
{
    char reason[512];
    snprintf(reason, sizeof reason,
             "a message of %llu octets that the run sent from port %u to port %u was lost: %s",
             (unsigned long long)message->len, message->from, message->to, why);
    leat_hub_stop(hub, LEAT_HUB_LOST, reason);
}

void leat_hub_carry(struct leat_hub *hub, uint32_t from, uint32_t to, uint32_t len, uint64_t cookie,
                    leat_time at)
{
    static uint8_t octets[LEAT_HUB_CARRY_MAX]; /* all zeros */
    const struct leat_port_message message = {
        .from = from, .to = to, .id = LEAT_HUB_SERVICE_MARK | cookie, .octets = octets, .len = len
    };
    assert(len <= sizeof octets && cookie <= UINT32_MAX);
    if (!leat_port_send(hub->config.net, &message, at - hub->offset))
        leat_hub_stop(hub, LEAT_HUB_FAILED,
                      "more messages are in flight than the network has room for");
}

/* What the service does then has no result before the network has run again. */
static void tell_results(struct leat_hub *hub)
{
    const struct leat_hub_service *service = &hub->config.service;
    for (uint32_t i = 0; i < hub->results; i++) {
        const struct leat_hub_result *r = &hub->result[i];
        service->collected(service->context, hub, r->task, r->cookie, r->is_redone, r->word,
                           r->words, hub->now);
        free(r->word);
    }
    hub->results = 0;
}

void leat_hub_carry_go_on(struct leat_hub *hub)
{
    const struct leat_hub_service *service = &hub->config.service;
    const uint32_t count = hub->carried_count;
    hub->carried_count = 0;
    for (uint32_t i = 0; i < count; i++)
        service->carried(service->context, hub, hub->carried[i], hub->now);
    tell_results(hub);
}

uint32_t leat_hub_port(const struct leat_hub *hub, uint32_t task)
{
    return leat_share_slot(hub->share, task)->port;
}

const struct leat_port_means *leat_hub_means(const struct leat_hub *hub)
{
    return hub->config.net->means;
}

leat_time leat_hub_overhead(const struct leat_hub *hub)
{
    return hub->config.overhead;
}

void leat_hub_carry_free(struct leat_hub *hub)
{
    free(hub->carried);
    for (uint32_t i = 0; i < hub->results; i++)
        free(hub->result[i].word);
    free(hub->result);
}
