/* Hosts: messages are segmented into packets and reassembled. */
#include "leat_bytes.h"
#include "sim_packetway_parts.h"
#include <string.h>

enum {
    HEAD_LEN = LEAT_SIM_PACKETWAY_HEAD_LEN,
    HEAD_WORDS = HEAD_LEN / LEAT_PACKETWAY_WORD_LEN,
    FRAME_WORDS = LEAT_PACKETWAY_MESSAGE_LEN_MIN / LEAT_PACKETWAY_WORD_LEN,
};

static const char no_way[] = "no half-router knows a route to its destination";
static const char accused[] = "a router on its way saw an error in it (EI)";

static uint32_t node_of(const struct leat_sim_packetway *p,
                        const struct leat_sim_packetway_entry *e)
{
    return p->host[e->letter.message.from];
}

/* ---- messages -------------------------------------------------------------------------------- */

void leat_sim_packetway_append(struct leat_sim_packetway *p, uint32_t entry)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    const uint32_t node = node_of(p, e);
    struct leat_sim_packetway_node *n = &p->node[node];
    e->letter.number = n->messages++;
    if (e->is_data)
        leat_sim_packetway_append_data(p, entry);
    else
        leat_sim_post_append(&p->post, entry, &n->first, &n->last);
    leat_sim_packetway_kick(p, node);
}

static void open_entry(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n,
                       uint32_t entry)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    if (e->is_open) return;
    e->is_open = true;
    if (n->open_first)
        p->entry[n->open_last - 1].open_next = entry + 1;
    else
        n->open_first = entry + 1;
    n->open_last = entry + 1;
}

/* Messages to one host end in order. */
static void settle(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n, uint32_t to)
{
    uint32_t *link = &n->open_first, before = PACKETWAY_NONE;
    while (*link) {
        const uint32_t entry = *link - 1;
        struct leat_sim_packetway_entry *e = &p->entry[entry];
        if (e->letter.message.to == to && !e->is_complete && !e->letter.why) return;
        if (e->letter.message.to != to) {
            before = *link;
            link = &e->open_next;
            continue;
        }
        if (n->open_last == entry + 1) n->open_last = before;
        *link = e->open_next;
        leat_sim_packetway_note(p, entry, false);
    }
}

void leat_sim_packetway_lose(struct leat_sim_packetway *p, uint32_t entry, const char *why)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    const uint32_t node = node_of(p, e);
    struct leat_sim_packetway_node *n = &p->node[node];
    if (e->letter.why || e->is_complete) return;
    e->letter.why = why;
    if (e->is_data) return; /* it ends with its last packet */
    if (n->first == entry + 1) {
        n->first = e->letter.next;
        e->is_cut = true;
    }
    settle(p, n, e->letter.message.to);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* A packet is made after host_ps, if there is one to make. */
void leat_sim_packetway_kick(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    if (n->is_router || n->build_due || n->ready || !n->first) return;
    if (n->window >= p->window || n->handed >= PACKETWAY_HANDED_MAX) return;
    n->build_due = true;
    leat_sim_packetway_plan(p, p->now + p->config.host_ps, packetway_group_node(node), node,
                            PACKETWAY_BUILD);
}

/* How a packet travels, and how many octets of a message it holds. */
struct way {
    enum leat_packetway_how how;
    uint32_t words; /* of the whole packet */
    uint32_t lead;  /* of these, L2RHs */
};

enum known { KNOWN, ASKED, UNKNOWN };

static enum known find_way(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n,
                           const struct leat_sim_packetway_node *to, struct way *way)
{
    const struct leat_sim_packetway_san *san = &p->config.san[n->san];
    *way = (struct way){ LEAT_PACKETWAY_SEND_BY_ADDRESS, san->mtu_words, 0 };
    if (n->san == to->san) return KNOWN;
    way->words = p->mtu_least; /* the MTU of a route by address is unknown: all use the same */
    if (p->config.by_address) return KNOWN;
    const struct leat_packetway_plan *plan = leat_packetway_host_plan(n->as_host, to->address,
                                                                      leat_sim_packetway_clock(p));
    switch (plan->state) {
    case LEAT_PACKETWAY_PLAN_NONE:
    case LEAT_PACKETWAY_PLAN_ASKING: return ASKED;
    case LEAT_PACKETWAY_PLAN_NATIVE:
    case LEAT_PACKETWAY_PLAN_ADDRESS: return KNOWN;
    case LEAT_PACKETWAY_PLAN_FAILED: return UNKNOWN;
    case LEAT_PACKETWAY_PLAN_ROUTES: break;
    }
    const uint32_t words = leat_packetway_mtu_min(plan->routes[0].mtu_words, san->mtu_words);
    const uint32_t lead = plan->routes[0].len / LEAT_PACKETWAY_WORD_LEN;
    if (words > lead + FRAME_WORDS + HEAD_WORDS) /* else a packet only has room for its route */
        *way = (struct way){ LEAT_PACKETWAY_SEND_PLANNED, words, lead };
    return KNOWN;
}

/* The data of the next packet, in p->scratch. Returns how many octets of the message. */
static uint64_t cut(struct leat_sim_packetway *p, const struct leat_sim_packetway_entry *e,
                    uint64_t cap)
{
    const uint64_t rest = e->letter.message.len - e->begun, len = rest < cap ? rest : cap;
    leat_put_be32(p->scratch, (uint32_t)e->letter.number);
    leat_put_be32(p->scratch + 4, (uint32_t)((rest - len + cap - 1) / cap));
    leat_put_be64(p->scratch + 8, e->begun);
    if (len) memcpy(p->scratch + HEAD_LEN, e->letter.message.octets + e->begun, len);
    return len;
}

static void make_packet(struct leat_sim_packetway *p, uint32_t node, uint32_t entry,
                        const struct way *way)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    const uint32_t taken = way->lead + FRAME_WORDS + HEAD_WORDS;
    const uint64_t len = cut(p, e, (uint64_t)(way->words - taken) * LEAT_PACKETWAY_WORD_LEN);
    const uint32_t index = leat_sim_packetway_take(p, node, entry + 1);
    struct leat_sim_packetway_packet *k = &p->packet[index - 1]; /* from the window */
    struct leat_packetway_message *m = p->message;
    size_t size;
    uint32_t to;
    n->window++;
    e->letter.held++;
    k->first = e->begun == 0;
    m->header = (struct leat_packetway_header){
        .dt = p->node[p->host[e->letter.message.to]].address, .pt = LEAT_SIM_PACKETWAY_PT
    };
    m->data = p->scratch;
    m->data_len = HEAD_LEN + len;
    if (leat_packetway_host_send(n->as_host, m, way->how, k->octets,
                                 (size_t)p->mtu_most * LEAT_PACKETWAY_WORD_LEN, &size, &to,
                                 leat_sim_packetway_clock(p))) {
        leat_sim_packetway_drop(p, index - 1, no_way);
        return;
    }
    p->counts.packets++;
    k->len = (uint32_t)size;
    k->to = packetway_node_at(p, n->san, to - p->config.san[n->san].bias - 1);
    e->begun += len;
    if (e->begun == e->letter.message.len) {
        k->last = e->is_cut = true;
        n->first = e->letter.next;
    }
    n->ready = index;
    leat_sim_packetway_emit(p, node);
}

void leat_sim_packetway_build(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    struct way way;
    n->build_due = false;
    if (!n->first || n->ready) return;
    const uint32_t entry = n->first - 1;
    if (p->entry[entry].is_data) {
        leat_sim_packetway_build_data(p, node);
        return;
    }
    open_entry(p, n, entry);
    const enum known known = find_way(p, n, &p->node[p->host[p->entry[entry].letter.message.to]],
                                      &way);
    leat_sim_packetway_pump(p, node);
    if (known == ASKED) return; /* an event reports it */
    if (known == KNOWN)
        make_packet(p, node, entry, &way);
    else
        leat_sim_packetway_lose(p, entry, no_way);
    leat_sim_packetway_kick(p, node);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The octets go where the packet says; a packet that does not fit is not part of the message. */
static void take_in(struct leat_sim_packetway *p, uint32_t entry,
                    const struct leat_packetway_message *m)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    if (m->ei) {
        leat_sim_packetway_lose(p, entry, accused);
        return;
    }
    const uint64_t len = m->data_len - HEAD_LEN, offset = leat_get_be64(m->data + 8);
    if (m->data_len < HEAD_LEN || leat_get_be32(m->data) != (uint32_t)e->letter.number ||
        offset > e->letter.message.len || len > e->letter.message.len - offset) {
        leat_sim_packetway_lose(p, entry, "one of its packets is damaged");
        return;
    }
    if (len) memcpy(e->letter.message.octets + offset, m->data + HEAD_LEN, len);
    e->arrived += len;
    if (e->letter.why || !e->is_cut || e->arrived < e->letter.message.len) return;
    e->is_complete = true;
    settle(p, &p->node[node_of(p, e)], e->letter.message.to);
}

static void report_event(struct leat_sim_packetway *p, uint32_t node)
{
    const struct leat_sim_packetway_watch *w = &p->config.watch;
    if (w->event && !p->warming) w->event(w->context, p->node[node].host, p->event, p->now);
    leat_sim_packetway_kick(p, node); /* a plan may have arrived */
}

void leat_sim_packetway_at_host(struct leat_sim_packetway *p, uint32_t packet)
{
    struct leat_sim_packetway_packet *k = &p->packet[packet];
    const uint32_t node = k->to;
    leat_packetway_host_receive(p->node[node].as_host, k->octets + k->at, k->len,
                                leat_sim_packetway_clock(p), p->event);
    const bool data = p->event->kind == LEAT_PACKETWAY_EVENT_DATA;
    if (p->event->kind != LEAT_PACKETWAY_EVENT_NONE) report_event(p, node);
    if (k->entry && data && p->entry[k->entry - 1].is_data)
        leat_sim_packetway_take_data(p, k);
    else if (k->entry && data)
        take_in(p, k->entry - 1, &p->event->message);
    if (k->entry && !data) {
        p->counts.lost++;
        leat_sim_packetway_lose(p, k->entry - 1, "one of its packets is damaged");
    }
    leat_sim_packetway_done(p, packet);
    leat_sim_packetway_pump(p, node);
}

void leat_sim_packetway_host_tick(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_packetway_host *host = p->node[node].as_host;
    if (leat_packetway_host_next_at(host) > leat_sim_packetway_clock(p)) return;
    for (;;) {
        leat_packetway_host_tick(host, leat_sim_packetway_clock(p), p->event);
        if (p->event->kind == LEAT_PACKETWAY_EVENT_NONE) break;
        report_event(p, node);
    }
    leat_sim_packetway_pump(p, node);
}
