/*
 * Multicasts: what a task sends to several others. Its receivers do nothing for it beforehand, so
 * their hosts take part in a cast of the network at once, and put the message where others arrive.
 *
 *     sender ---> a cast to the ports of all ---> each port: a copy for each of its receivers
 *            ---> messages, to receivers at the sender's own port
 *
 * Each copy is a message in flight, as if the sender had sent it. A multicast ends when its last
 * copy has arrived, by whatever carried it: so long it took.
 */
#include "child.h"
#include "hub_parts.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct leat_hub_cast {
    uint32_t task, pending; /* pending: messages; 0: this place is free */
    enum leat_collect_carrier carrier;
    leat_time from;
    char call[LEAT_TASK_CALL_LEN];
};

/* ---- the report ------------------------------------------------------------------------------ */

/* While a hub with multicasts acts, all tasks wait: the slot is the hub's. */
static struct leat_task_collective *row_of(struct leat_hub *hub, uint32_t cast)
{
    const struct leat_hub_cast *c = &hub->cast[cast - 1];
    return leat_share_collective(leat_share_slot(hub->share, c->task), c->call);
}

static uint32_t begin(struct leat_hub *hub, const struct leat_hub_multicast *m,
                      enum leat_collect_carrier carrier, uint32_t messages, leat_time at)
{
    uint32_t i = 0;
    while (i < hub->casts && hub->cast[i].pending)
        i++;
    if (i == hub->casts) hub->cast = leat_child_grown(hub->cast, ++hub->casts, sizeof *hub->cast);
    hub->cast[i] = (struct leat_hub_cast){
        .task = m->task, .pending = messages, .carrier = carrier, .from = at
    };
    memcpy(hub->cast[i].call, m->call, strnlen(m->call, LEAT_TASK_CALL_LEN - 1));
    row_of(hub, i + 1)->calls[carrier]++;
    row_of(hub, i + 1)->octets += m->octets;
    return i + 1;
}

void leat_hub_cast_note(struct leat_hub *hub, uint32_t cast, leat_time at)
{
    struct leat_hub_cast *c = &hub->cast[cast - 1];
    struct leat_task_collective *row = row_of(hub, cast);
    assert(c->pending);
    if (--c->pending) return;
    *(c->carrier == LEAT_COLLECT_BY_NETWORK ? &row->network_ps : &row->hosts_ps) += at - c->from;
}

void leat_hub_cast_fail(struct leat_hub *hub, uint32_t cast)
{
    struct leat_hub_cast *c = &hub->cast[cast - 1];
    if (c->carrier == LEAT_COLLECT_FAILURE) return;
    row_of(hub, cast)->calls[c->carrier]--;
    c->carrier = LEAT_COLLECT_FAILURE;
    row_of(hub, cast)->calls[c->carrier]++;
}

void leat_hub_cast_free(struct leat_hub *hub)
{
    free(hub->cast);
}

uint32_t leat_hub_multicast_by_hosts(struct leat_hub *hub, const struct leat_hub_multicast *m,
                                     enum leat_collect_carrier why, uint32_t messages, leat_time at)
{
    assert(hub->config.has_casts);
    const uint32_t cast = begin(hub, m, why, messages, at);
    return messages ? cast : 0;
}

/* ---- by the network -------------------------------------------------------------------------- */

static uint64_t block_of(struct leat_hub *hub, const struct leat_hub_multicast *m)
{
    const uint64_t block = leat_share_take(&hub->blocks, m->len);
    if (!block)
        leat_hub_stop(hub, LEAT_HUB_FAILED, "no memory for what a task sends to several");
    else
        memcpy(leat_share_octets(hub->share, block), m->message, (size_t)m->len);
    return block;
}

/* A copy for each receiver: those at the sender's port by messages. */
static void make_copies(struct leat_hub *hub, const struct leat_hub_multicast *m,
                        struct leat_hub_port_cast *c, leat_time at)
{
    for (uint32_t i = 0; i < m->receivers && !hub->has_ended; i++) {
        const uint64_t block = block_of(hub, m);
        const struct leat_flight_message sent = {
            .from = m->task, .to = m->to[i], .block = block, .len = m->len, .cast = c->cast
        };
        const uint32_t port = leat_hub_port(hub, m->to[i]);
        if (!block) return;
        if (port == c->root) {
            leat_hub_send(hub, &sent, at);
            continue;
        }
        const uint32_t id = leat_hub_begin_flight(hub, &sent, at);
        leat_hub_show_sent(hub, id, at);
        c->copy[c->copies++] = (struct leat_hub_copy){ id, port };
    }
}

static void add_port(struct leat_hub_port_cast *c, uint32_t port)
{
    uint32_t i = 0;
    while (i < c->ports && c->port[i] != port)
        i++;
    c->port[i] = port;
    c->ports += i == c->ports;
}

enum leat_collect_carrier leat_hub_multicast(struct leat_hub *hub,
                                             const struct leat_hub_multicast *m, leat_time at)
{
    const struct leat_port_means *means = hub->config.net->means;
    uint32_t group = 0;
    assert(hub->config.has_casts);
    if (!means || !means->octets_max) return LEAT_COLLECT_OPERATION;
    if (!m->message || m->len > means->octets_max) return LEAT_COLLECT_LENGTH;
    struct leat_hub_port_cast c = { .root = leat_hub_port(hub, m->task),
                                    .octets = m->message,
                                    .len = m->len };
    c.port = leat_child_grown(NULL, m->receivers + 1, sizeof *c.port);
    add_port(&c, c.root);
    for (uint32_t i = 0; i < m->receivers; i++)
        add_port(&c, leat_hub_port(hub, m->to[i]));
    const bool is_near = m->receivers < 2 || c.ports < 2;
    const bool is_granted = !is_near && leat_hub_collect_find(hub, &c, &group);
    if (is_granted) {
        c.cast = begin(hub, m, LEAT_COLLECT_BY_NETWORK, m->receivers, at);
        c.copy = leat_child_grown(NULL, m->receivers, sizeof *c.copy);
        make_copies(hub, m, &c, leat_time_add(at, hub->config.overhead));
        leat_hub_collect_cast(hub, group, &c, leat_time_add(at, hub->config.overhead));
    }
    free(c.port);
    return is_granted ? LEAT_COLLECT_BY_NETWORK : is_near ? LEAT_COLLECT_NEAR : LEAT_COLLECT_ROOM;
}
