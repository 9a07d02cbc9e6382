/* What an observer sees: each packet's whole path, in order of time, and the same run. */
#include "net_crowd_test.h"

struct seen {
    struct crowd crowd;
    const struct leat_net *net;
    uint32_t *at;      /* [packet] the router that it has reached; NONE: it has not begun */
    uint32_t *hops;    /* [packet] */
    uint64_t *last_at; /* [packet] */
    uint64_t now, begun, passed;
    bool wrong;
};

enum { EACH = 40 };

static uint32_t number_of(const struct leat_net_packet *packet)
{
    return packet->source * EACH + (uint32_t)packet->number;
}

static void see(struct seen *s, const struct leat_net_packet *packet, uint64_t now)
{
    s->wrong |= now < s->now || packet->number >= EACH;
    s->now = now;
    s->last_at[number_of(packet)] = now;
}

static void begins(void *context, const struct leat_net_packet *packet, uint64_t now)
{
    struct seen *s = context;
    const struct leat_net_topology *t = s->net->topology;
    uint32_t *at = &s->at[number_of(packet)];
    see(s, packet, now);
    s->wrong |= *at != LEAT_NET_NONE || now < packet->created_at;
    *at = t->in_router[t->terminal_in[packet->source]];
    s->begun++;
}

/* A packet passes where it is, and later than where it was before. */
static void passes(void *context, const struct leat_net_packet *packet, uint32_t out, uint64_t now)
{
    struct seen *s = context;
    const struct leat_net_topology *t = s->net->topology;
    const uint32_t n = number_of(packet);
    s->wrong |= s->at[n] != t->out_router[out] || (s->hops[n] && now <= s->last_at[n]);
    see(s, packet, now);
    s->hops[n]++;
    s->passed++;
    s->at[n] = t->out_to[out] & LEAT_NET_TERMINAL ? t->out_to[out] : t->in_router[t->out_to[out]];
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct seen *s = context;
    const uint32_t n = number_of(&arrival->packet);
    crowd_arrive(&s->crowd, arrival);
    s->wrong |= arrival->fate != LEAT_NET_DELIVERED || s->hops[n] != arrival->hops ||
                s->at[n] != (arrival->packet.destination | LEAT_NET_TERMINAL) ||
                arrival->head_at <= s->last_at[n];
}

static bool next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct seen *s = context;
    return crowd_next(&s->crowd, terminal, packet);
}

static void seen_begin(struct seen *s, const struct world *w)
{
    const uint32_t terminals = w->topology.terminals;
    *s = (struct seen){ .net = &w->net };
    crowd_begin(&s->crowd, terminals, 7);
    s->crowd.left = EACH;
    s->crowd.flits_max = 3;
    s->crowd.gap_max = 9;
    s->at = world_memory(terminals * EACH * sizeof *s->at);
    s->hops = world_memory(terminals * EACH * sizeof *s->hops);
    s->last_at = world_memory(terminals * EACH * sizeof *s->last_at);
    memset(s->at, 0xff, terminals * EACH * sizeof *s->at);
}

static void seen_end(struct seen *s)
{
    crowd_end(&s->crowd);
    free(s->at);
    free(s->hops);
    free(s->last_at);
}

static bool is_same(const struct leat_net_arrival *a, const struct leat_net_arrival *b)
{
    return a->packet.source == b->packet.source && a->packet.number == b->packet.number &&
           a->head_at == b->head_at && a->tail_at == b->tail_at && a->hops == b->hops;
}

/* One run with an observer and one without: the log of all arrivals is the same. */
static void look_at(const struct leat_net_shape *shape, struct leat_net_config config)
{
    static struct seen with, without;
    struct world w;
    OK(world_build(&w, shape, leat_net_rule_default(shape->kind), config.channels));
    const struct leat_net_watch watch = { &with, begins, passes };
    struct leat_net_host host = { .context = &with, .next = next, .arrive = arrive };
    seen_begin(&with, &w);
    world_begin(&w, &config, &host);
    leat_net_observe(&w.net, &watch);
    OK(leat_net_run(&w.net, 20000));
    const uint64_t waits = w.net.counts.waits, hops = w.net.counts.flit_hops;
    OK(!with.wrong && with.begun == (uint64_t)w.topology.terminals * EACH);
    OK(with.begun == w.net.counts.packets_begun && with.crowd.logged == with.begun);
    OK(with.passed >= with.begun && with.passed <= hops);

    seen_begin(&without, &w);
    host = host_of(&without.crowd);
    world_begin(&w, &config, &host);
    OK(leat_net_run(&w.net, 20000));
    OK(waits == w.net.counts.waits && hops == w.net.counts.flit_hops);
    OK(with.crowd.logged == without.crowd.logged);
    for (uint32_t i = 0; i < with.crowd.logged; i++)
        OK(is_same(&with.crowd.log[i], &without.crowd.log[i]));
    seen_end(&with);
    seen_end(&without);
    world_end(&w);
}

static void an_observer_sees_every_hop_and_changes_nothing(void)
{
    const struct leat_net_shape mesh = shape_of(LEAT_NET_MESH, 4, 4);
    struct leat_net_config config = golden;
    look_at(&mesh, config);
    config.channels = 2; /* another size of ports */
    config.pipeline = 1;
    look_at(&mesh, config);
}

static void so_it_does_in_every_other_architecture(void)
{
    const struct leat_net_shape clos = {
        .kind = LEAT_NET_CLOS, .number = { 2, 3, 4 }, .numbers = 3, .terminals = 1, .wire_cycles = 1
    };
    for (unsigned a = LEAT_NET_SWITCH_FIFO; a < LEAT_NET_SWITCHES; a++) {
        struct leat_net_config config = golden;
        config.architecture = (enum leat_net_switch)a;
        config.channels = 1;
        look_at(&clos, config);
    }
}

TAP_MAIN(T(an_observer_sees_every_hop_and_changes_nothing),
         T(so_it_does_in_every_other_architecture))
