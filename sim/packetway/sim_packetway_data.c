/* Messages of one packet: their priority, and copies to logical addresses. */
#include "sim_packetway_parts.h"
#include <assert.h>
#include <string.h>

static const char no_way[] = "no half-router knows a route to its destination";

bool leat_sim_packetway_post(struct leat_sim_packetway *p,
                             const struct leat_sim_packetway_data *data, leat_time at)
{
    const struct leat_port_message message = { .from = data->from,
                                               .to = data->from,
                                               .id = data->id,
                                               .octets = data->octets,
                                               .len = data->len };
    uint32_t entry;
    assert(data->dt != leat_sim_packetway_address(p, data->from));
    if (!leat_sim_post_accept(&p->post, &message, at, &entry)) return false;
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    e->is_data = true;
    e->priority = data->priority;
    e->pt = data->pt;
    e->te = data->te;
    e->dt = data->dt;
    leat_sim_packetway_plan(p, at, packetway_group_node(p->host[data->from]), entry,
                            PACKETWAY_HAND_OVER);
    return true;
}

/* ---- at its host ----------------------------------------------------------------------------- */

/* May a message of this priority be sent before that one? */
static bool overtakes(uint8_t priority, const struct leat_sim_packetway_entry *e)
{
    return e->is_data ? priority > e->priority : priority > 0 && !e->begun;
}

void leat_sim_packetway_append_data(struct leat_sim_packetway *p, uint32_t entry)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    struct leat_sim_packetway_node *n = &p->node[p->host[e->letter.message.from]];
    uint32_t *link = &n->first;
    while (*link && !overtakes(e->priority, &p->entry[*link - 1]))
        link = &p->entry[*link - 1].letter.next;
    e->letter.next = *link;
    *link = entry + 1;
    if (!e->letter.next) n->last = entry + 1;
}

/* How it travels. NULL: it has to wait for a plan; else *why is NULL, or why there is no way. */
static const struct leat_packetway_plan *find_plan(struct leat_sim_packetway *p,
                                                   const struct leat_sim_packetway_node *n,
                                                   const struct leat_sim_packetway_entry *e,
                                                   const char **why)
{
    const struct leat_packetway_plan *plan = leat_packetway_host_plan(n->as_host, e->dt,
                                                                      leat_sim_packetway_clock(p));
    *why = plan->state == LEAT_PACKETWAY_PLAN_FAILED ? no_way : NULL;
    const bool waits = plan->state == LEAT_PACKETWAY_PLAN_ASKING ||
                       plan->state == LEAT_PACKETWAY_PLAN_NONE;
    return waits ? NULL : plan;
}

/* Its octets are in p->scratch. Not NULL: why it cannot be sent. */
static const char *encode(struct leat_sim_packetway *p, const struct leat_sim_packetway_node *n,
                          const struct leat_sim_packetway_entry *e, enum leat_packetway_how how,
                          size_t *len, uint32_t *to)
{
    struct leat_packetway_message *m = p->message;
    m->header = (struct leat_packetway_header){
        .dt = e->dt, .pt = e->pt, .te = e->te, .priority = e->priority
    };
    m->data = e->letter.message.octets;
    m->data_len = (size_t)e->letter.message.len;
    const leat_err err = leat_packetway_host_send(n->as_host, m, how, p->scratch,
                                                  (size_t)p->mtu_most * LEAT_PACKETWAY_WORD_LEN,
                                                  len, to, leat_sim_packetway_clock(p));
    if (!err) return NULL;
    if (err == LEAT_ERR_FIELD) return "its SAN has no half-router";
    return err == LEAT_ERR_LENGTH || err == LEAT_ERR_PACKETWAY_NOSPC
               ? "it is longer than the MTU of the route"
               : leat_err_text(err);
}

static void make_packet(struct leat_sim_packetway *p, uint32_t node, uint32_t entry, size_t len,
                        uint32_t to)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    const uint32_t index = leat_sim_packetway_take(p, node, entry + 1);
    struct leat_sim_packetway_packet *k = &p->packet[index - 1]; /* from the window */
    n->window++;
    p->entry[entry].letter.held++;
    p->counts.packets++;
    memcpy(k->octets, p->scratch, len);
    k->first = k->last = true;
    k->len = (uint32_t)len;
    k->to = packetway_node_at(p, n->san, to - p->config.san[n->san].bias - 1);
    n->ready = index;
    leat_sim_packetway_emit(p, node);
}

void leat_sim_packetway_build_data(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    const uint32_t entry = n->first - 1;
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    const bool planned = leat_packetway_address_is_node(e->dt) && !p->config.by_address;
    const char *why = n->dead ? leat_sim_packetway_port_down : NULL;
    size_t len = 0;
    uint32_t to = 0;
    if (!why && planned && !find_plan(p, n, e, &why)) {
        leat_sim_packetway_pump(p, node);
        return; /* an event reports the plan */
    }
    n->first = e->letter.next;
    if (!why)
        why = encode(p, n, e,
                     planned ? LEAT_PACKETWAY_SEND_PLANNED : LEAT_PACKETWAY_SEND_BY_ADDRESS, &len,
                     &to);
    if (why) {
        e->letter.why = why;
        leat_sim_packetway_end_data(p, entry);
    } else {
        make_packet(p, node, entry, len, to);
    }
    leat_sim_packetway_pump(p, node);
    leat_sim_packetway_kick(p, node);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* PACKETWAY_NONE: there are too many; else + 1. */
static uint32_t take_copy(struct leat_sim_packetway *p, const struct leat_sim_packetway_packet *of,
                          const struct leat_packetway_routed *routed)
{
    struct leat_sim_packetway_entry *e = &p->entry[of->entry - 1];
    if (p->copies == p->copies_max) return PACKETWAY_NONE;
    const uint32_t index = leat_sim_packetway_take(p, of->owner, of->entry);
    struct leat_sim_packetway_packet *c = &p->packet[index - 1]; /* copies_max reserves it */
    p->copies++;
    e->letter.held++;
    c->copy = (uint32_t)++e->begun;
    c->first = c->last = c->sent = true;
    c->from = of->from;
    c->to = of->to;
    c->over_link = of->over_link;
    c->len = routed->len;
    memcpy(c->octets, routed->octets, routed->len);
    return index;
}

void leat_sim_packetway_copy(struct leat_sim_packetway *p, uint32_t packet, uint32_t node,
                             const struct leat_packetway_arrival *arrival,
                             const struct leat_packetway_routed *routed)
{
    struct leat_packetway_router *engine = p->node[node].as_router;
    struct leat_packetway_copies copies = { 0 };
    struct leat_packetway_routed one = *routed;
    while (leat_packetway_router_copy(engine, arrival, routed, &copies, &one.decision)) {
        const uint32_t index = take_copy(p, &p->packet[packet], routed);
        if (!index) {
            p->counts.lost++;
            continue;
        }
        one.octets = p->packet[index - 1].octets;
        leat_sim_packetway_obey(p, index - 1, node, arrival, &one);
    }
    leat_sim_packetway_done(p, packet);
}

/* ---- its end --------------------------------------------------------------------------------- */

void leat_sim_packetway_take_data(struct leat_sim_packetway *p,
                                  const struct leat_sim_packetway_packet *k)
{
    const struct leat_sim_packetway_watch *w = &p->config.watch;
    struct leat_sim_packetway_entry *e = &p->entry[k->entry - 1];
    const struct leat_sim_packetway_reception reception = { .port = p->node[k->to].host,
                                                            .id = e->letter.message.id,
                                                            .copy = k->copy,
                                                            .event = p->event,
                                                            .at = p->now };
    e->arrived++;
    if (w->receives) w->receives(w->context, &reception);
}

void leat_sim_packetway_end_data(struct leat_sim_packetway *p, uint32_t entry)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    if (e->arrived)
        e->letter.why = NULL;
    else if (!e->letter.why)
        e->letter.why = "no node of its SAN, or of those next to it, has its logical address";
    leat_sim_packetway_note(p, entry, false);
}
