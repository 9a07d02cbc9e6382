/*
 * Networks of queueing switches: fifo, voq, output, shared, xpq, batcher. A wire carries a flit per
 * cycle, and flits are switched one by one, like cells: packets may be interleaved on a wire and in
 * a queue. The flits of a packet take one route, because its head chooses it at each router.
 *
 *     wire        stage          queues                         wire
 *    ------> in  [ ][ ] --+--> [ | | ] --+
 *                         |              +--> out ------>       fifo, batcher: a queue per input
 *    ------> in  [ ][ ] --+--> [ | | ] --+                      voq, xpq: per input and output
 *                                                               output, shared: per output
 *
 * A flit that arrives in cycle t passes the stage of its input into its queue, and if none is
 * before it leaves the queue, all in t; the pipeline's cycles follow, then the wire's. So one that
 * meets no other takes as long as in a network of virtual channels.
 *
 * In a cycle a stage releases one flit and an output takes one. A flit that finds a full queue
 *   - with credits, stays at the stage, and those behind it wait too. fifo, batcher and voq: the
 *     stage is a part of the input's buffer, and there is a credit for each place of the buffer.
 *     The others have a stage as long as a credit's round trip, and the credits are the stage's.
 *   - with drops, is lost, and with it the whole packet: its other flits are discarded when they
 *     arrive there, and those ahead travel on as ballast. The loss is reported at once.
 * A queue's room includes the flit that is about to leave. In a shared memory with credits each
 * output keeps one place for itself; with drops all of it is for all.
 *
 * When a wire breaks, all packets that were switched to it and have not yet crossed it are lost:
 * their flits still cross as ballast, and the end is reported where the last of them arrives. Later
 * packets look for another route. A terminal that dies while it sends finishes the packet, which is
 * cut.
 *
 * Cost: only switches in which something may move are visited, and idle time is skipped.
 */
#include "net_queue_parts.h"

/* ---- wires --------------------------------------------------------------------------------- */

/* From a flit's departure upstream to its arrival at this input. */
static uint32_t there_cycles(const struct leat_net *net, uint32_t in)
{
    const uint32_t from = net->topology->in_from[in];
    if (from & LEAT_NET_TERMINAL) return LEAT_NET_QUEUE_SOURCE_CYCLES; /* NONE included */
    return net->config.pipeline + net->topology->out_cycles[from];
}

/* For a credit: a cycle to send it, the wire, and its processing. */
static uint32_t back_cycles(const struct leat_net *net, uint32_t in)
{
    const uint32_t from = net->topology->in_from[in];
    if (from & LEAT_NET_TERMINAL) return LEAT_NET_QUEUE_RETURN_CYCLES;
    return 1 + net->topology->out_cycles[from] + net->config.credit_cycles;
}

uint32_t leat_net_queue_places(const struct leat_net *net, uint32_t in)
{
    if (leat_net_queue_at_inputs(net)) return net->config.buffer_flits;
    return there_cycles(net, in) + back_cycles(net, in);
}

static struct leat_net_queue_slot *slot_at(struct leat_net_queues *q, uint64_t at)
{
    const uint32_t number = (uint32_t)at & (q->slots - 1);
    const uint64_t due = leat_sim_agenda_due(&q->agenda, LEAT_NET_QUEUE_WIRES, number);
    assert(due == LEAT_NEVER || due == at);
    leat_net_queue_plan(q, LEAT_NET_QUEUE_WIRES, number, at);
    return &q->slot[number];
}

void leat_net_queue_launch(struct leat_net_queues *q, uint32_t node, uint64_t at)
{
    struct leat_net_queue_slot *slot = slot_at(q, at);
    q->node[node].next = slot->flits;
    slot->flits = node;
}

void leat_net_queue_credit(struct leat_net *net, uint32_t in, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    if (!q->credited) return;
    const uint32_t node = leat_net_queue_node_take(q, net->topology->in_from[in]);
    struct leat_net_queue_slot *slot = slot_at(q, now + back_cycles(net, in));
    q->node[node].next = slot->credits;
    slot->credits = node;
}

static void arrive_at_terminal(struct leat_net *net, uint32_t number, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    struct leat_net_queue_visit *visit = &q->visit[number];
    struct leat_net_flight *flight = &q->flights.flight[visit->flight];
    const bool dead = net->terminal_dead[visit->in & ~LEAT_NET_TERMINAL];
    if (!visit->sent) flight->head_at = now;
    q->inside--;
    if (++visit->sent == visit->total)
        leat_net_queue_end(q, visit->flight, dead ? LEAT_NET_NO_WAY : LEAT_NET_DELIVERED, now);
    leat_net_queue_visit_check(q, number);
}

static void arrive_at_router(struct leat_net *net, uint32_t node, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_topology *t = net->topology;
    const uint32_t in = q->visit[q->node[node].what].in, router = t->in_router[in];
    const uint32_t port = in - t->in_first[router];
    leat_net_queue_push(q, &q->stage[in], node);
    q->staged[(size_t)router * q->words + port / 64] |= UINT64_C(1) << port % 64;
    leat_net_queue_plan(q, LEAT_NET_QUEUE_ROUTERS, router, now);
}

static void take_credit(struct leat_net *net, uint32_t to, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    if (to & LEAT_NET_TERMINAL) {
        const uint32_t terminal = to & ~LEAT_NET_TERMINAL;
        q->source[terminal].credits++;
        if (q->source[terminal].flight != LEAT_NET_NONE &&
            leat_sim_agenda_due(&q->agenda, LEAT_NET_QUEUE_SOURCES, terminal) == LEAT_NEVER)
            leat_net_queue_plan(q, LEAT_NET_QUEUE_SOURCES, terminal, now);
    } else {
        q->credits[to]++;
        if (q->out_flits[to])
            leat_net_queue_plan(q, LEAT_NET_QUEUE_ROUTERS, net->topology->out_router[to], now);
    }
}

/* Each wire delivers at most one flit, so their order in the list does not matter. */
static void arrive_all(struct leat_net *net, uint32_t slot, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_queue_slot list = q->slot[slot];
    q->slot[slot] = (struct leat_net_queue_slot){ 0 };
    for (uint32_t node = list.credits, next; node; node = next) {
        next = q->node[node].next;
        take_credit(net, q->node[node].what, now);
        leat_net_queue_node_give(q, node);
    }
    for (uint32_t node = list.flits, next; node; node = next) {
        const uint32_t visit = q->node[node].what;
        next = q->node[node].next;
        if (q->visit[visit].in & LEAT_NET_TERMINAL) {
            arrive_at_terminal(net, visit, now);
            leat_net_queue_node_give(q, node);
        } else {
            arrive_at_router(net, node, now);
        }
    }
}

/* ---- sources ------------------------------------------------------------------------------- */

/* Asks the host for its next packet: false if there is none. */
static bool ask(struct leat_net *net, uint32_t terminal, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const uint32_t number = leat_net_flights_take(&q->flights);
    if (number == LEAT_NET_NONE) {
        leat_net_queue_plan(q, LEAT_NET_QUEUE_SOURCES, terminal, now + 1);
        return false;
    }
    struct leat_net_flight *flight = &q->flights.flight[number];
    *flight = (struct leat_net_flight){ .fate = LEAT_NET_DELIVERED };
    q->flights.course[number].hops = 0;
    if (!net->host.next(net->host.context, terminal, &flight->packet)) {
        leat_net_flights_give(&q->flights, number);
        return false;
    }
    assert(flight->packet.flits >= 1 && flight->packet.flits <= LEAT_NET_FLITS_MAX);
    q->parcel[number] = (struct leat_net_queue_parcel){ .holds = 1 };
    q->source[terminal].flight = number;
    q->source[terminal].sent = 0;
    return true;
}

static void begin(struct leat_net *net, struct leat_net_queue_source *source, uint32_t terminal,
                  uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_packet *packet = &q->flights.flight[source->flight].packet;
    leat_net_route_begin(net->routing, packet->source, packet->destination, packet->random,
                         &q->flights.course[source->flight].route);
    source->visit = leat_net_queue_visit_open(
        q, source->flight, net->topology->terminal_in[terminal], (uint16_t)packet->flits);
    net->counts.packets_begun++;
    if (net->watch) net->watch->begins(net->watch->context, packet, now);
}

static void send_flit(struct leat_net *net, uint32_t terminal, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    struct leat_net_queue_source *source = &q->source[terminal];
    struct leat_net_flight *flight = &q->flights.flight[source->flight];
    if (!source->sent++) begin(net, source, terminal, now);
    if (net->terminal_dead[terminal] && flight->fate == LEAT_NET_DELIVERED)
        flight->fate = LEAT_NET_CUT;
    leat_net_queue_launch(q, leat_net_queue_node_take(q, source->visit),
                          now + LEAT_NET_QUEUE_SOURCE_CYCLES);
    if (q->credited) source->credits--;
    q->inside++;
    net->counts.flits_begun++;
    if (source->sent == flight->packet.flits) source->flight = LEAT_NET_NONE;
}

/* A source without credit, or dead, is planned again when that changes. */
static void act_source(struct leat_net *net, uint32_t terminal, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    struct leat_net_queue_source *source = &q->source[terminal];
    if (source->flight == LEAT_NET_NONE && !ask(net, terminal, now)) return;
    uint64_t at = q->flights.flight[source->flight].packet.created_at;
    if (at <= now) {
        if (q->credited && !source->credits) return;
        if (!source->sent && net->terminal_dead[terminal]) return;
        if (q->inside < q->flits_cap && (source->sent || leat_net_queue_visit_room(q, true)))
            send_flit(net, terminal, now);
        if (source->flight == LEAT_NET_NONE && !ask(net, terminal, now)) return;
        at = q->flights.flight[source->flight].packet.created_at;
    }
    leat_net_queue_plan(q, LEAT_NET_QUEUE_SOURCES, terminal, at > now ? at : now + 1);
}

static void wake(struct leat_net *net, uint32_t terminal)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const uint64_t at = q->running ? q->agenda.now + q->asking : net->now;
    if (leat_sim_agenda_due(&q->agenda, LEAT_NET_QUEUE_SOURCES, terminal) == LEAT_NEVER)
        leat_net_queue_plan(q, LEAT_NET_QUEUE_SOURCES, terminal, at);
}

/* ---- running ------------------------------------------------------------------------------- */

/* Counts the waits of sleeping routers, for all cycles before `until`. */
static void count_waits(struct leat_net *net, uint64_t until)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    if (until <= q->counted_to) return;
    net->counts.waits += q->asleep * (until - q->counted_to);
    q->counted_to = until;
}

static bool take(struct leat_net_queues *q, enum leat_net_queue_phase phase, uint32_t *entity)
{
    if (!leat_sim_agenda_any(&q->agenda, phase)) return false;
    q->planned--;
    return leat_sim_agenda_take(&q->agenda, phase, entity);
}

static void run_cycle(struct leat_net *net, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    uint32_t entity;
    count_waits(net, now);
    net->now = now;
    q->acted_at = now;
    while (take(q, LEAT_NET_QUEUE_WIRES, &entity))
        arrive_all(net, entity, now);
    while (take(q, LEAT_NET_QUEUE_ROUTERS, &entity))
        leat_net_queue_step(net, entity, now);
    count_waits(net, now + 1);
    while (take(q, LEAT_NET_QUEUE_ENDS, &entity))
        leat_net_queue_report(net, entity, now);
    q->asking = true;
    while (take(q, LEAT_NET_QUEUE_SOURCES, &entity))
        act_source(net, entity, now);
    q->asking = false;
}

static bool run(struct leat_net *net, uint64_t until)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    uint64_t now;
    q->running = true;
    while (!net->stop && (q->planned || !q->inside) &&
           leat_sim_agenda_advance(&q->agenda, until, &now))
        run_cycle(net, now);
    q->running = false;
    const bool dead = q->inside && !q->planned;
    /* Only simulated cycles count: it stands after the last of them, or where it stood. */
    if (net->stop || until == LEAT_NEVER)
        until = q->acted_at < net->now ? net->now : q->acted_at + 1;
    if (until <= net->now && !dead) return true;
    net->now = dead ? q->acted_at + 1 : until;
    count_waits(net, net->now);
    return !dead;
}

static bool insert(struct leat_net *net, uint32_t wire, const struct leat_net_packet *packet,
                   const struct leat_net_route *route, uint32_t channels)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const bool begins = wire & LEAT_NET_TERMINAL;
    const uint32_t t = wire & ~LEAT_NET_TERMINAL;
    const uint32_t in = begins ? net->topology->terminal_in[t] : net->topology->out_to[wire];
    uint32_t *credits = begins ? &q->source[t].credits : &q->credits[wire];
    (void)channels;
    if (q->credited && !*credits) return false;
    if (q->inside >= q->flits_cap || !leat_net_queue_visit_room(q, false)) return false;
    const uint32_t flight = leat_net_flights_insert(net, &q->flights, packet, route);
    if (flight == LEAT_NET_NONE) return false;
    q->parcel[flight] = (struct leat_net_queue_parcel){ .holds = 1 };
    const uint32_t visit = leat_net_queue_visit_open(q, flight, in, 1);
    leat_net_queue_launch(q, leat_net_queue_node_take(q, visit), net->now);
    if (q->credited) --*credits;
    q->inside++;
    return true;
}

static uint64_t inside(const struct leat_net *net)
{
    return leat_net_queues_of(net)->inside;
}

static void cut(struct leat_net_queues *q, uint32_t flight)
{
    struct leat_net_flight *f = &q->flights.flight[flight];
    if (f->fate == LEAT_NET_DELIVERED) f->fate = LEAT_NET_CUT;
}

/* Marks packets that were switched to the wire, and those whose last flits are on it. Closed visits
 * expect no flits, and have no output. */
static void broke(struct leat_net *net, uint32_t out)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    for (uint32_t v = 1; v <= q->visits_top; v++)
        if (q->visit[v].out == out) cut(q, q->visit[v].flight);
    for (uint32_t s = 0; s < q->slots; s++)
        for (uint32_t node = q->slot[s].flits; node; node = q->node[node].next) {
            const struct leat_net_queue_visit *visit = &q->visit[q->node[node].what];
            if (visit->in == net->topology->out_to[out]) cut(q, visit->flight);
        }
}

/* ---- memory -------------------------------------------------------------------------------- */

static struct leat_sim_agenda_shape agenda_shape(const struct leat_net *net, uint32_t slots)
{
    return (struct leat_sim_agenda_shape){
        .phases = LEAT_NET_QUEUE_PHASES,
        .entities = { slots, net->topology->routers, net->topology->terminals,
                      net->topology->terminals },
    };
}

static uint64_t at_most(uint64_t value, uint64_t max)
{
    return value < max ? value : max;
}

/* Queues of all switches; fills lane_first where there is memory. */
static uint64_t lay_lanes(const struct leat_net *net, struct leat_net_queues *q)
{
    const struct leat_net_topology *t = net->topology;
    const enum leat_net_switch a = net->config.architecture;
    if (leat_net_queue_has_heads(net)) return t->ins;
    uint64_t lanes = 0;
    for (uint32_t out = 0; out < t->outs; out++) {
        const uint32_t router = t->out_router[out];
        if (q->lane_first) q->lane_first[out] = lanes;
        lanes += a == LEAT_NET_SWITCH_VOQ || a == LEAT_NET_SWITCH_XPQ
                     ? t->in_first[router + 1] - t->in_first[router]
                     : 1;
    }
    return lanes;
}

/* How much can be in the network, and how long it can be on a wire. */
static void measure(const struct leat_net *net, uint64_t lanes, struct leat_net_queues *q)
{
    const struct leat_net_topology *t = net->topology;
    const struct leat_net_config *c = &net->config;
    uint64_t flits = leat_net_queue_at_inputs(net) ? 0 : lanes * c->buffer_flits, credits = 0;
    uint32_t longest = c->pipeline + 1; /* to a terminal */
    flits += (uint64_t)longest * t->terminals;
    for (uint32_t in = 0; in < t->ins; in++) {
        const uint32_t there = there_cycles(net, in), back = back_cycles(net, in);
        flits += (uint64_t)leat_net_queue_places(net, in) + 1 + there;
        credits += c->drop ? 0 : 2 * (uint64_t)back; /* from the stage and from a queue */
        if (there > longest) longest = there;
        if (back > longest) longest = back;
    }
    q->flits_cap = (uint32_t)at_most(flits, LEAT_NET_QUEUE_FLITS_MAX);
    q->nodes_cap = (uint32_t)at_most(q->flits_cap + credits, UINT32_MAX - 1);
    q->visits_cap = 2 * q->flits_cap + 16 * t->terminals;
    for (q->slots = 4; q->slots <= longest;)
        q->slots *= 2;
}

static void lay_switches(const struct leat_net *net, uint64_t lanes, struct leat_net_queues *q,
                         struct leat_arena *arena)
{
    const struct leat_net_topology *t = net->topology;
    const size_t words = q->words;
    q->stage = leat_arena_lay(arena, t->ins, sizeof *q->stage);
    q->queue = leat_arena_lay(arena, lanes, sizeof *q->queue);
    q->in_flits = leat_arena_lay(arena, t->ins, sizeof *q->in_flits);
    q->head_at = leat_arena_lay(arena, leat_net_queue_has_heads(net) ? t->ins : 0,
                                sizeof *q->head_at);
    q->out_flits = leat_arena_lay(arena, t->outs, sizeof *q->out_flits);
    q->router_flits = leat_arena_lay(arena, t->routers, sizeof *q->router_flits);
    q->router_outs = leat_arena_lay(arena, t->routers, sizeof *q->router_outs);
    q->router_busy = leat_arena_lay(arena, t->routers, sizeof *q->router_busy);
    q->credits = leat_arena_lay(arena, t->outs, sizeof *q->credits);
    q->out_turn = leat_arena_lay(arena, t->outs, sizeof *q->out_turn);
    q->in_turn = leat_arena_lay(arena, t->ins, sizeof *q->in_turn);
    q->blocked = leat_arena_lay(arena, t->routers, sizeof *q->blocked);
    q->staged = leat_arena_lay(arena, t->routers * words, sizeof *q->staged);
    q->wanted = leat_arena_lay(arena, t->routers * words, sizeof *q->wanted);
    q->offers = leat_arena_lay(arena, t->outs * words, sizeof *q->offers);
    q->ready = leat_arena_lay(arena, words, sizeof *q->ready);
    q->free = leat_arena_lay(arena, words, sizeof *q->free);
    q->asked = leat_arena_lay(arena, words, sizeof *q->asked);
    q->grants = leat_arena_lay(arena, t->radix * words, sizeof *q->grants);
    q->pair = leat_arena_lay(arena, t->radix, sizeof *q->pair);
    q->mark = leat_arena_lay(arena, t->ins, sizeof *q->mark);
}

static void lay(struct leat_net *net, struct leat_arena *arena)
{
    const struct leat_net_topology *t = net->topology;
    struct leat_net_queues parts = { .words = (t->radix + 63) / 64, .credited = !net->config.drop };
    struct leat_net_queues *q = leat_arena_lay(arena, 1, sizeof *q);
    parts.lane_first = leat_arena_lay(arena, t->outs, sizeof *parts.lane_first);
    const uint64_t lanes = lay_lanes(net, &parts);
    measure(net, lanes, &parts);
    lay_switches(net, lanes, &parts, arena);
    const uint32_t flights = (uint32_t)at_most((uint64_t)parts.flits_cap + t->terminals,
                                               LEAT_NET_FLIGHTS_MAX);
    leat_net_flights_lay(&parts.flights, flights, arena);
    parts.parcel = leat_arena_lay(arena, flights, sizeof *parts.parcel);
    parts.visit = leat_arena_lay(arena, (size_t)parts.visits_cap + 1, sizeof *parts.visit);
    parts.node = leat_arena_lay(arena, (size_t)parts.nodes_cap + 1, sizeof *parts.node);
    parts.slot = leat_arena_lay(arena, parts.slots, sizeof *parts.slot);
    parts.source = leat_arena_lay(arena, t->terminals, sizeof *parts.source);
    parts.end_first = leat_arena_lay(arena, t->terminals, sizeof *parts.end_first);
    const struct leat_sim_agenda_shape shape = agenda_shape(net, parts.slots);
    void *agenda = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
    net->state = q;
    if (!q) return;
    *q = parts;
    leat_sim_agenda_init(&q->agenda, &shape, agenda);
}

static void start(struct leat_net *net)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    const struct leat_net_topology *t = net->topology;
    for (uint32_t out = 0; out < t->outs; out++) {
        const uint32_t to = t->out_to[out];
        q->router_outs[t->out_router[out]] += to != LEAT_NET_NONE;
        if (!(to & LEAT_NET_TERMINAL)) q->credits[out] = leat_net_queue_places(net, to);
    }
    for (uint32_t i = 0; i < t->terminals; i++) {
        q->source[i] = (struct leat_net_queue_source){
            .flight = LEAT_NET_NONE, .credits = leat_net_queue_places(net, t->terminal_in[i])
        };
        leat_net_queue_plan(q, LEAT_NET_QUEUE_SOURCES, i, 0);
    }
}

const struct leat_net_engine leat_net_queue_engine = {
    .lay = lay,
    .start = start,
    .run = run,
    .wake = wake,
    .insert = insert,
    .inside = inside,
    .stuck = leat_net_queue_stuck,
    .broke = broke,
};
