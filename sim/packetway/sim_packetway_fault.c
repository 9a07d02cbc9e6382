/* Neighbours of nodes, failures and repairs. */
#include "packetway_record.h"
#include "sim_packetway_parts.h"
#include "sim_refuse.h"

enum {
    INFO_CAP = LEAT_PACKETWAY_ABOUT_LEN_MAX + LEAT_PACKETWAY_RECORD_HEAD_LEN,
    FRAME_CAP = LEAT_PACKETWAY_MESSAGE_LEN_MIN,
};

/* Half-routers register with each other, like hosts: so TELL finds them, by name and capability. */
static void introduce(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n,
                      const struct leat_sim_packetway_node *other)
{
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX], db[INFO_CAP], octets[INFO_CAP + FRAME_CAP];
    const struct leat_packetway_address address = leat_packetway_single(other->address);
    const struct leat_packetway_arrival arrival = { .side = LEAT_PACKETWAY_FROM_BUDDY };
    struct leat_packetway_message *m = p->message;
    struct leat_packetway_routed routed;
    struct leat_packetway_build build;
    size_t len = 0;
    const size_t about_len = leat_sim_packetway_about(p, other, about);
    leat_packetway_build_init(&build, db, sizeof db);
    leat_packetway_build_address(&build, &address);
    leat_packetway_build_nest(&build);
    leat_packetway_build_copy(&build, about, about_len);
    leat_packetway_build_leave(&build);
    m->header = (struct leat_packetway_header){ .dt = n->address,
                                                .sa = other->address,
                                                .pt = LEAT_PACKETWAY_PT_RRP,
                                                .te = LEAT_PACKETWAY_TE_INFO };
    m->data = db;
    m->data_len = build.len;
    leat_sim_must(!leat_packetway_message_encode(m, octets, sizeof octets, &len));
    leat_packetway_router_input(n->as_router, &arrival, octets, (uint32_t)len,
                                leat_sim_packetway_clock(p), &routed);
}

/* Informs a half-router of a port of its SAN. */
static void add_neighbour(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n,
                          const struct leat_sim_packetway_node *other)
{
    const struct leat_sim_packetway_san *san = &p->config.san[n->san];
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    const struct leat_packetway_san_node node = {
        .address = leat_packetway_single(other->address),
        .route = route,
        .route_len = leat_sim_packetway_route(&san->native, n->port, other->port, route),
        .q = san->q,
        .buddy = other->is_router,
    };
    leat_sim_must(!leat_packetway_router_node(n->as_router, &node, leat_sim_packetway_clock(p)));
    if (other->is_router) introduce(p, n, other);
}

static void map_router(struct leat_sim_packetway *p, struct leat_sim_packetway_node *n)
{
    const struct leat_sim_packetway_router *r = &p->config.router[n->router];
    for (uint32_t i = 0; i < r->ends; i++) {
        if (i == n->end) continue;
        const struct leat_sim_packetway_san *san = &p->config.san[r->end[i].san];
        leat_sim_must(!leat_packetway_router_twin(n->as_router, san->bias + 1 + r->end[i].port, 1,
                                                  p->link_words, leat_sim_packetway_clock(p)));
    }
    const uint32_t first = p->san[n->san].first;
    for (uint32_t i = 0; i < p->config.san[n->san].net->ports; i++) {
        const struct leat_sim_packetway_node *other = &p->node[first + i];
        if (other != n && !other->dead) add_neighbour(p, n, other);
    }
}

void leat_sim_packetway_map(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    if (n->is_router) {
        map_router(p, n);
        return;
    }
    const uint32_t first = p->san[n->san].first;
    for (uint32_t i = 0, known = 0; i < p->config.san[n->san].net->ports; i++) {
        const struct leat_sim_packetway_node *other = &p->node[first + i];
        if (other->is_router && other->dead) /* maybe since this port was down */
            leat_packetway_host_router_gone(n->as_host, other->address);
        else if (other->is_router && known++ < LEAT_PACKETWAY_HOST_ROUTERS_MAX)
            /* later it may know others instead, by RDRC */
            leat_sim_must(!leat_packetway_host_router(n->as_host, other->address) || !p->warming);
    }
}

/* ---- routers --------------------------------------------------------------------------------- */

/* Its packets are lost; nodes that wait for its room need not wait any more. */
static void empty(struct leat_sim_packetway *p, uint32_t node)
{
    static const char why[] = "a router on its way went down";
    struct leat_sim_packetway_node *n = &p->node[node];
    uint64_t packet;
    if (n->ready && !n->waits) {
        leat_sim_packetway_drop(p, n->ready - 1, why);
        n->ready = PACKETWAY_NONE;
    }
    while (leat_packetway_queue_pop(&n->out, &packet))
        leat_sim_packetway_drop(p, (uint32_t)packet, why);
    leat_sim_packetway_credit(p, node);
}

/* The SAN informs its ports that a half-router or a host is gone, or back. */
static void notify_san(struct leat_sim_packetway *p, uint32_t node, bool up)
{
    const struct leat_sim_packetway_node *n = &p->node[node];
    const struct leat_packetway_address address = leat_packetway_single(n->address);
    const uint32_t first = p->san[n->san].first;
    for (uint32_t i = 0; i < p->config.san[n->san].net->ports; i++) {
        struct leat_sim_packetway_node *other = &p->node[first + i];
        if (other == n || other->dead) continue;
        if (other->is_router && up)
            add_neighbour(p, other, n);
        else if (other->is_router)
            leat_packetway_router_node_gone(other->as_router, &address,
                                            leat_sim_packetway_clock(p));
        else if (n->is_router && up)
            leat_packetway_host_router(other->as_host, n->address);
        else if (n->is_router)
            leat_packetway_host_router_gone(other->as_host, n->address);
        leat_sim_packetway_pump(p, first + i);
        leat_sim_packetway_kick(p, first + i);
    }
}

static void set_router(struct leat_sim_packetway *p, uint32_t router, bool up)
{
    const struct leat_sim_packetway_router *r = &p->config.router[router];
    for (uint32_t i = 0; i < r->ends; i++)
        p->node[packetway_node_at(p, r->end[i].san, r->end[i].port)].dead = !up;
    for (uint32_t i = 0; i < r->ends; i++) {
        const uint32_t node = packetway_node_at(p, r->end[i].san, r->end[i].port);
        if (up) {
            leat_sim_packetway_start_engine(p, node);
            leat_sim_packetway_map(p, node);
        } else {
            empty(p, node);
        }
        notify_san(p, node, up);
        leat_sim_packetway_pump(p, node);
    }
}

static void set_links(struct leat_sim_packetway *p, uint32_t router, bool up)
{
    const struct leat_sim_packetway_router *r = &p->config.router[router];
    for (uint32_t i = 0; i < r->ends; i++) {
        const uint32_t node = packetway_node_at(p, r->end[i].san, r->end[i].port);
        for (uint32_t k = 0; k < r->ends; k++) {
            const uint32_t twin = packetway_node_at(p, r->end[k].san, r->end[k].port);
            if (k != i)
                leat_sim_must(!leat_packetway_router_link(p->node[node].as_router,
                                                          p->node[twin].address, up,
                                                          leat_sim_packetway_clock(p)));
        }
        leat_sim_packetway_pump(p, node);
    }
}

/* ---- ports of hosts -------------------------------------------------------------------------- */

/* What it has to send is lost. Once it is back, it registers again. */
static void set_port(struct leat_sim_packetway *p, const struct leat_sim_packetway_end *port,
                     bool up)
{
    const uint32_t node = packetway_node_at(p, port->san, port->port);
    p->node[node].dead = !up;
    notify_san(p, node, up);
    if (up) leat_sim_packetway_map(p, node);
    leat_sim_packetway_pump(p, node);
    leat_sim_packetway_emit(p, node);
}

bool leat_sim_packetway_sees_errors(const struct leat_sim_packetway *p, uint32_t router,
                                    leat_time at)
{
    for (uint32_t i = 0; i < p->config.faults; i++) {
        const struct leat_sim_packetway_fault *f = &p->config.fault[i];
        if (f->kind == LEAT_SIM_PACKETWAY_ERRORS && f->router == router && at >= f->from &&
            at < f->to)
            return true;
    }
    return false;
}

void leat_sim_packetway_fault(struct leat_sim_packetway *p, uint32_t fault, bool begins)
{
    const struct leat_sim_packetway_fault *f = &p->config.fault[fault];
    switch (f->kind) {
    case LEAT_SIM_PACKETWAY_ROUTER_DOWN: set_router(p, f->router, !begins); break;
    case LEAT_SIM_PACKETWAY_LINK_DOWN: set_links(p, f->router, !begins); break;
    case LEAT_SIM_PACKETWAY_ERRORS: break; /* is looked up */
    case LEAT_SIM_PACKETWAY_PORT_DOWN: set_port(p, &f->port, !begins); break;
    }
}
