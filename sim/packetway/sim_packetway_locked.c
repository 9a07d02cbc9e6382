/* Half-routers whose buffers wait for each other, for ever. */
#include "sim_packetway_parts.h"

/* Nothing but room lets its next packet go, and no packet of it is on its way out. */
static bool can_be_locked(const struct leat_sim_packetway_node *n)
{
    return n->is_router && !n->dead && n->waits && !n->handed;
}

/* How many packets at each input wait for outputs of the set. */
static void count_held(struct leat_sim_packetway *p)
{
    for (uint32_t i = 0; i < p->nodes; i++)
        p->node[i].held = 0;
    for (uint32_t i = 0; i < p->nodes; i++) {
        if (!p->node[i].locked) continue;
        for (uint32_t packet = p->node[i].hold_first; packet; packet = p->packet[packet - 1].next)
            if (p->packet[packet - 1].in_of) p->node[p->packet[packet - 1].in_of - 1].held++;
    }
}

/* Who waits for an input that will have room does not belong to the set. True: there was one. */
static bool leave_out(struct leat_sim_packetway *p)
{
    bool left = false;
    for (uint32_t i = 0; i < p->nodes; i++) {
        struct leat_sim_packetway_node *n = &p->node[i];
        if (!n->locked) continue;
        const struct leat_sim_packetway_node *to = &p->node[p->packet[n->ready - 1].to];
        if (!to->dead && to->held == to->in_used) continue;
        n->locked = false;
        left = true;
    }
    return left;
}

bool leat_sim_packetway_find_locked(struct leat_sim_packetway *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->nodes; i++)
        count += p->node[i].locked = can_be_locked(&p->node[i]);
    if (!count) return false;
    do
        count_held(p);
    while (leave_out(p));
    for (uint32_t i = 0; i < p->nodes; i++)
        if (p->node[i].locked) return true;
    return false;
}

void leat_sim_packetway_break_up(struct leat_sim_packetway *p, bool all)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        struct leat_sim_packetway_node *n = &p->node[i];
        if (!n->hold_first || !(all || n->locked)) continue;
        const uint32_t packet = n->hold_first - 1;
        n->hold_first = p->packet[packet].next;
        p->counts.stuck++;
        leat_sim_packetway_drop(p, packet, "the buffers of routers wait for each other");
    }
}
