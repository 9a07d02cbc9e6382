#include "net_replay.h"
#include "leat_fnv.h"
#include "leat_sort.h"
#include "net_parts.h"
#include "net_port_parts.h"

enum {
    WORDS_A_HOP = 1,     /* of fingerprints: a few percent of the cost of a flit in a router ... */
    WORDS_A_MESSAGE = 8, /* ... and of a message without contention */
};

static struct leat_net_port *port_of(void *context)
{
    return &((struct leat_net_replay *)context)->port;
}

/* The next cycle to run. */
static uint64_t next_cycle(const struct leat_net_port *p)
{
    return p->config.contention_free ? p->cycle : p->net.now;
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* A hash of the route that a message of this number takes. If there is a choice on the way, no
 * other number has the same. */
static uint64_t route_of(const struct leat_net_port *p, uint32_t from, uint32_t to, uint64_t number)
{
    const struct leat_net_topology *topology = p->config.topology;
    const uint64_t random = leat_net_port_random(p, from, number);
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    uint32_t ahead = topology->terminal_in[from];
    uint64_t hash = LEAT_FNV_EMPTY;
    leat_net_route_begin(p->config.routing, from, to, random, &route);
    while (!(ahead & LEAT_NET_TERMINAL)) {
        const uint32_t router = topology->in_router[ahead];
        if (leat_net_route_options(p->config.routing, router, &route, option) != 1) return random;
        const uint32_t out = topology->out_first[router] + option[0].port;
        hash = (hash ^ ((uint64_t)out << 32 | option[0].channels)) * LEAT_FNV_PRIME;
        hash = (hash ^ option[0].phase) * LEAT_FNV_PRIME;
        route.phase = option[0].phase;
        ahead = topology->out_to[out];
    }
    return hash;
}

static uint64_t way(void *context, const struct leat_port_message *message, uint64_t call)
{
    return route_of(port_of(context), message->from, message->to, call);
}

/* ---- states ---------------------------------------------------------------------------------- */

struct moment {
    struct leat_net_replay *replay;
    const struct leat_net_port *p;
    struct leat_fingerprint *out;
    uint32_t *entry, entries;
};

static void put(const struct moment *m, uint64_t word)
{
    leat_fingerprint_put(m->out, word);
}

/* By their calls: those of the same time go in that order. */
static bool is_before(const void *context, const void *a, const void *b)
{
    const struct leat_net_port_entry *entry = context;
    return entry[*(const uint32_t *)a].letter.call < entry[*(const uint32_t *)b].letter.call;
}

static bool is_hand_over(const struct leat_sim_plan *plan)
{
    return plan->step == LEAT_NET_PORT_HAND_OVER;
}

static void list_entries(struct moment *m)
{
    const struct leat_net_port *p = m->p;
    for (uint32_t i = 0; i < p->post.plans && m->entries < p->base.in_flight; i++) {
        if (!is_hand_over(&p->post.plan[i])) continue;
        m->entry[m->entries++] = p->post.plan[i].entry;
        m->replay->is_pending[p->post.plan[i].entry] = true;
    }
    for (uint32_t port = 0; port < p->base.ports; port++)
        for (uint32_t at = p->queue[port].first; at && m->entries < p->base.in_flight;
             at = p->entry[at - 1].letter.next) {
            m->entry[m->entries++] = at - 1;
            m->replay->is_pending[at - 1] = false;
        }
    leat_sort(m->entry, m->entries, sizeof *m->entry, is_before, p->entry);
    for (uint32_t i = 0; i < m->entries; i++)
        m->replay->place[m->entry[i]] = i;
}

/* A message that is not handed over yet. Its route follows from the number that it gets then, the
 * next one of its port: so those of a port must be handed over in the order of their calls. */
static void put_pending(const struct moment *m, uint32_t entry)
{
    const struct leat_net_port *p = m->p;
    const struct leat_net_port_entry *e = &p->entry[entry];
    const uint32_t from = e->letter.message.from;
    struct leat_net_replay_pending *pending = &m->replay->pending[from];
    if (pending->count && e->at < pending->last_at) leat_fingerprint_fail(m->out);
    put(m, route_of(p, from, e->letter.message.to, p->queue[from].messages + pending->count));
    leat_fingerprint_put_from(m->out, e->cycle, next_cycle(p));
    pending->count++;
    pending->last_at = e->at;
}

static void put_entries(const struct moment *m)
{
    for (uint32_t port = 0; port < m->p->base.ports; port++)
        m->replay->pending[port].count = 0;
    for (uint32_t i = 0; i < m->entries && !m->out->differs; i++) {
        const struct leat_port_message *message = &m->p->entry[m->entry[i]].letter.message;
        put(m, (uint64_t)message->from << 32 | message->to);
        put(m, message->len << 1 | m->replay->is_pending[m->entry[i]]);
        if (m->replay->is_pending[m->entry[i]]) put_pending(m, m->entry[i]);
    }
}

static void put_queue(const struct moment *m, uint32_t port)
{
    const struct leat_net_port *p = m->p;
    const struct leat_net_port_queue *queue = &p->queue[port];
    leat_fingerprint_put_from(m->out, queue->out_free, next_cycle(p));
    leat_fingerprint_put_from(m->out, queue->in_free, next_cycle(p));
    for (uint32_t at = queue->first; at && !m->out->differs; at = p->entry[at - 1].letter.next) {
        const struct leat_net_port_entry *e = &p->entry[at - 1];
        put(m, (uint64_t)m->replay->place[at - 1] << 1 | (queue->sends == at));
        put(m, e->begun);
        put(m, e->missing);
        put(m, e->begun ? queue->packets - e->first_packet : 0);
        put(m, queue->messages - e->letter.number); /* later ones may have overtaken it */
        put(m, route_of(p, port, e->letter.message.to, e->letter.number));
        if (!p->config.contention_free) continue;
        leat_fingerprint_put_time(m->out, e->cycle, p->cycle);
        leat_fingerprint_put_time(m->out, e->left, p->cycle);
    }
    put(m, LEAT_NEVER);
}

static uint64_t name_packet(void *context, const struct leat_net_packet *packet)
{
    const struct leat_net_port *p = context;
    return (uint64_t)packet->source << 32 |
           (uint32_t)(p->queue[packet->source].packets - packet->number);
}

static void fingerprint(void *context, struct leat_fingerprint *out, uint32_t *entry,
                        uint32_t *entry_count)
{
    struct leat_net_port *p = port_of(context);
    const struct leat_net_names names = { .context = p, .name = name_packet };
    struct moment m = { .replay = context, .p = p, .out = out, .entry = entry };
    list_entries(&m);
    put_entries(&m);
    for (uint32_t port = 0; port < p->base.ports && !out->differs; port++)
        put_queue(&m, port);
    if (!p->config.contention_free && !out->differs)
        p->net.engine->fingerprint(&p->net, &names, out);
    if (m.entries != p->base.in_flight) leat_fingerprint_fail(out);
    *entry_count = m.entries;
}

static uint64_t earned(void *context)
{
    const struct leat_net_port *p = port_of(context);
    if (!p->config.contention_free) return p->net.counts.flit_hops * WORDS_A_HOP;
    return p->post.calls * WORDS_A_MESSAGE;
}

static bool is_plain(void *context)
{
    const struct leat_net_port *p = port_of(context);
    return !p->config.faults && !p->config.esp.cycles && !p->dead &&
           (p->config.contention_free || p->net.engine->fingerprint);
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t present(void *context)
{
    return next_cycle(port_of(context)) - 1;
}

static leat_time edge(void *context, uint64_t cycle)
{
    return leat_net_port_edge(port_of(context), cycle);
}

static uint64_t cycle_from(void *context, leat_time at)
{
    return leat_net_port_cycle_from(port_of(context), at);
}

static uint64_t accepts(void *context, leat_time at, uint64_t present)
{
    return leat_larger(cycle_from(context, at), present + 1);
}

/* A run includes the cycles whose edges lie before its end. */
static uint64_t last(void *context, leat_time until)
{
    const uint64_t cycle = cycle_from(context, until);
    return cycle == LEAT_NEVER ? cycle : cycle - 1;
}

static leat_time through(void *context, uint64_t cycle)
{
    return edge(context, cycle) + 1;
}

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t next_entry(void *context)
{
    const struct leat_sim_post *post = &port_of(context)->post;
    return post->free ? post->free - 1 : post->top;
}

static uint32_t entry_of(void *context, const struct leat_port_message *message)
{
    return (uint32_t)((const struct leat_net_port_entry *)message - port_of(context)->entry);
}

static const struct leat_port_message *message_of(void *context, uint32_t entry)
{
    return &port_of(context)->entry[entry].letter.message;
}

static uint64_t number(void *context, const struct leat_port_message *message)
{
    return port_of(context)->entry[entry_of(context, message)].letter.number;
}

static uint64_t next_number(void *context, uint32_t port)
{
    return port_of(context)->queue[port].messages;
}

static uint64_t certify(void *context, const struct leat_sim_delivery *delivery)
{
    struct leat_net_port *p = port_of(context);
    struct leat_sim_delivery d = *delivery;
    d.at = leat_net_port_edge(p, d.at);
    d.number += p->queue[d.source].messages;
    leat_sim_certificate_add(&p->post.certificate, &d);
    return leat_sim_certificate_value(&p->post.certificate);
}

/* ---- counters -------------------------------------------------------------------------------- */

enum { COUNTERS = sizeof(struct leat_net_counts) / sizeof(uint64_t) };

/* Those of the network, then the flits of each wire. */
static uint64_t *counter(void *context, uint32_t i)
{
    struct leat_net *net = &port_of(context)->net;
    struct leat_net_counts *counts = &net->counts;
    switch (i) {
    case 0: return &counts->flit_hops;
    case 1: return &counts->packets_begun;
    case 2: return &counts->flits_begun;
    case 3: return &counts->flits_delivered;
    case 4: return &counts->packets_rerouted;
    case 5: return &counts->waits;
    default:
        i -= COUNTERS - LEAT_NET_FATES;
        return i < LEAT_NET_FATES ? &counts->packets_ended[i] : &net->out_flits[i - LEAT_NET_FATES];
    }
}

static uint64_t count(void *context, uint32_t i)
{
    return i < COUNTERS ? *counter(context, i)
                        : leat_net_out_flits(&port_of(context)->net, i - COUNTERS);
}

static void add(void *context, uint32_t i, uint64_t more)
{
    *counter(context, i) += more;
}

/* ---- standing still, and catching up --------------------------------------------------------- */

static void skip(void *context, uint64_t cycles, const uint64_t *messages)
{
    struct leat_net_port *p = port_of(context);
    p->skipped += cycles;
    for (uint32_t port = 0; port < p->base.ports; port++)
        p->queue[port].messages += messages[port];
}

static void begin(void *context)
{
    port_of(context)->post.is_certified = true;
}

static void replace(void *context, uint32_t entry, const struct leat_sim_replay_message *began,
                    const struct leat_sim_replay_message *now, uint64_t messages)
{
    struct leat_net_port_entry *e = &port_of(context)->entry[entry];
    (void)now;
    e->letter.message = began->message;
    e->letter.number += messages; /* if it has none yet, it gets one when it is handed over */
    e->at = began->at;
}

/* Plans are made in the time of the network when it stopped. */
static void replaced(void *context)
{
    struct leat_net_replay *r = context;
    struct leat_net_port *p = &r->port;
    for (uint32_t i = 0; i < p->post.plans; i++) {
        struct leat_sim_plan *plan = &p->post.plan[i];
        const uint64_t cycle = leat_sim_clock_cycle_from(&p->config.clock, plan->at) - r->skipped;
        plan->at = is_hand_over(plan) ? p->entry[plan->entry].at : leat_net_port_edge(p, cycle);
    }
    leat_sim_post_sort_plans(&p->post);
    r->skipped = p->skipped;
}

static void end(void *context)
{
    port_of(context)->post.is_certified = false;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static struct leat_sim_replay_config config_of(const struct leat_net_port_config *config)
{
    return (struct leat_sim_replay_config){
        .messages_max = config->messages_max,
        .counters = config->contention_free ? 0 : COUNTERS + config->topology->outs,
    };
}

static void *lay_out(struct leat_net_replay *r, const struct leat_net_port_config *config,
                     struct leat_arena *arena)
{
    const struct leat_sim_replay_config base = config_of(config);
    const uint32_t ports = config->topology->terminals - config->topology->processors;
    leat_sim_replay_lay(&r->base, &base, ports, arena);
    r->place = leat_arena_lay(arena, config->messages_max, sizeof *r->place);
    r->is_pending = leat_arena_lay(arena, config->messages_max, sizeof *r->is_pending);
    r->pending = leat_arena_lay(arena, ports, sizeof *r->pending);
    return leat_arena_lay_lines(arena, 1, leat_net_port_footprint(config));
}

size_t leat_net_replay_footprint(const struct leat_net_port_config *config)
{
    struct leat_net_replay measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

void leat_net_replay_init(struct leat_net_replay *r, const struct leat_net_port_config *config,
                          void *memory)
{
    static const struct leat_sim_replay_model model = {
        .fingerprint = fingerprint,
        .earned = earned,
        .is_plain = is_plain,
        .present = present,
        .edge = edge,
        .cycle_from = cycle_from,
        .accepts = accepts,
        .last = last,
        .through = through,
        .next_entry = next_entry,
        .entry_of = entry_of,
        .message = message_of,
        .number = number,
        .next_number = next_number,
        .way = way,
        .sorts_by_time = true,
        .certify = certify,
        .count = count,
        .add = add,
        .skip = skip,
        .begin = begin,
        .replace = replace,
        .replaced = replaced,
        .end = end,
    };
    struct leat_arena arena = { .memory = memory, .cap = leat_net_replay_footprint(config) };
    struct leat_sim_replay_config base = config_of(config);
    *r = (struct leat_net_replay){ .skipped = 0 };
    leat_net_port_init(&r->port, config, lay_out(r, config, &arena));
    base.model = &model;
    base.context = r;
    base.inner = &r->port.base;
    leat_sim_replay_init(&r->base, &base);
}
