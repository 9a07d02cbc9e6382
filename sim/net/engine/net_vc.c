#include "leat_sort.h"
#include "net_routing_parts.h"
#include "net_vc_parts.h"
#include <string.h>

/* ---- laying out ------------------------------------------------------------------------------ */

/* Room for so many records at once: every slot may have a chunk that is not full. */
static void lay_calendar(struct leat_net_vc_calendar *c, uint32_t row_bits, uint32_t cycles_max,
                         uint64_t records, struct leat_arena *arena)
{
    const uint32_t days = leat_net_up_to_power(cycles_max + 1), slots = days << row_bits;
    c->last_day = days - 1;
    c->last_slot = slots - 1;
    const uint64_t chunks = records / (LEAT_NET_VC_CHUNK - 1) + slots + 2;
    assert(chunks < UINT32_MAX / LEAT_NET_VC_CHUNK);
    c->cap = (uint32_t)chunks;
    c->day = leat_arena_lay(arena, slots, sizeof *c->day);
    c->record = leat_arena_lay(arena, (size_t)c->cap * LEAT_NET_VC_CHUNK, sizeof *c->record);
}

uint32_t leat_net_vc_extend(struct leat_net_vc_calendar *c, uint32_t *day)
{
    const uint32_t fresh = c->free ? c->free : (c->top += LEAT_NET_VC_CHUNK);
    assert(fresh / LEAT_NET_VC_CHUNK < c->cap);
    if (c->free) c->free = (uint32_t)c->record[fresh];
    c->full_days += !*day;
    c->record[fresh] = *day;
    return fresh + 1;
}

static uint32_t ports_max(const uint32_t *first, uint32_t routers)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < routers; r++)
        if (first[r + 1] - first[r] > most) most = first[r + 1] - first[r];
    return most;
}

/* A wire carries a flit per cycle, and a lane returns a credit per cycle; neither exceeds the
 * buffers at its end. */
static void lay_calendars(struct leat_net *net, struct leat_net_vc *vc, struct leat_arena *arena)
{
    const struct leat_net_topology *topology = net->topology;
    const uint64_t wires = (uint64_t)topology->outs + topology->terminals + topology->in_cuts;
    const uint64_t room = (uint64_t)net->config.channels * vc->buffer;
    const uint32_t wire = leat_net_wire_cycles(topology);
    const uint32_t there = 2 + wire, back = 2 + there + net->config.credit_cycles;
    const uint64_t lanes = (uint64_t)topology->ins * net->config.channels;
    lay_calendar(&vc->flits, vc->row_bits, there, wires * leat_smaller(room, there + 1), arena);
    lay_calendar(&vc->credits, vc->row_bits, back > vc->ripening ? back : vc->ripening + 1,
                 wires * leat_smaller(room, (uint64_t)net->config.channels * (back + 1)) +
                     (vc->ripening ? lanes : 0),
                 arena);
}

/* In a small network without rings a port follows from router and destination. Whether it has rings
 * is known only when it starts. */
static void lay_hops(struct leat_net *net, struct leat_net_vc *vc, struct leat_arena *arena)
{
    const struct leat_net_topology *topology = net->topology;
    const uint64_t hops = (uint64_t)topology->routers * topology->terminals;
    if (hops <= LEAT_NET_VC_HOPS_MAX && !topology->terminal)
        vc->hop = leat_arena_lay(arena, (size_t)hops, sizeof *vc->hop);
}

static bool find_hop(const struct leat_net *net, uint32_t router, uint32_t destination)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    leat_net_route_begin(net->routing, 0, destination, 0, &route);
    leat_net_route_ask(net->routing, router, &route, option);
    vc->hop[(size_t)net->topology->terminals * router + destination] = (uint8_t)option->port;
    return option->port <= UINT8_MAX && !option->phase && option->channels == vc->hop_channels;
}

static bool find_hops(const struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    const struct leat_net_topology *topology = net->topology;
    if (!vc->hop || !net->routing->is_dimension_order) return false;
    vc->hop_channels = net->routing->channels.all;
    for (uint32_t r = 0; r < topology->routers; r++)
        for (uint32_t t = 0; t < topology->terminals; t++)
            if (!find_hop(net, r, t)) return false;
    return true;
}

static void lay_routers(struct leat_net *net, struct leat_net_vc *vc, struct leat_arena *arena)
{
    const struct leat_net_topology *topology = net->topology;
    const size_t lanes = (size_t)topology->ins << vc->shift;
    vc->words = ((ports_max(topology->in_first, topology->routers) << vc->shift) + 63) / 64;
    vc->router_size = sizeof(struct leat_net_vc_router) + vc->words * sizeof(uint64_t);
    vc->lanes = (uint32_t)lanes;
    vc->far = lanes > LEAT_NET_VC_FAR_LANES;
    vc->entry = leat_arena_lay(arena, (size_t)topology->terminals << vc->shift, sizeof *vc->entry);
    vc->in = leat_arena_lay_lines(arena, topology->ins, leat_net_vc_in_size(vc->shift));
    vc->out = leat_arena_lay_lines(arena, topology->outs, leat_net_vc_out_size(vc->shift));
    vc->router = leat_arena_lay(arena, topology->routers, vc->router_size);
    vc->flit = leat_arena_lay(arena, lanes * (vc->buffer - 1), sizeof *vc->flit);
    vc->second = leat_arena_lay(arena, lanes, sizeof *vc->second);
    vc->passed = leat_arena_lay(arena, lanes, sizeof *vc->passed);
    vc->wanted_channels = leat_arena_lay(arena, lanes + 1, sizeof *vc->wanted_channels);
    vc->wanted_outs = leat_arena_lay(arena, (size_t)topology->ins + 1, sizeof *vc->wanted_outs);
    vc->discards = leat_arena_lay(arena, lanes, sizeof *vc->discards);
    vc->doomed = leat_arena_lay(arena, lanes, sizeof *vc->doomed);
    lay_hops(net, vc, arena);
    vc->ended = leat_arena_lay(arena, lanes + topology->outs, sizeof *vc->ended);
    vc->ended_words = topology->terminal ? 0 : (topology->terminals + 63) / 64;
    vc->ended_set = leat_arena_lay(arena, vc->ended_words, sizeof *vc->ended_set);
    vc->ended_flight = leat_arena_lay(arena, (size_t)vc->ended_words * 64,
                                      sizeof *vc->ended_flight);
    vc->arriving = leat_arena_lay(arena, (size_t)topology->in_cuts << vc->shift,
                                  sizeof *vc->arriving);
}

/* Every list has a place more than it can need, and after the last region there is one more, empty:
 * a region looks ahead to the next. */
static void lay_regions(struct leat_net *net, struct leat_net_vc *vc, struct leat_arena *arena)
{
    const struct leat_net_topology *topology = net->topology;
    vc->region = leat_arena_lay(arena, vc->regions + 1u, sizeof *vc->region);
    uint32_t *asking = leat_arena_lay(arena, vc->lanes, sizeof *asking);
    uint32_t *ports = leat_arena_lay(arena, (size_t)topology->ins + vc->regions, sizeof *ports);
    for (uint32_t r = 0; vc->region && r < vc->regions; r++) {
        const uint32_t in_first = topology->in_first[r << vc->region_bits];
        vc->region[r].asking = asking + ((size_t)in_first << vc->shift);
        vc->region[r].ports = ports + in_first + r;
    }
}

static struct leat_sim_agenda_shape agenda_shape(const struct leat_net *net)
{
    return (struct leat_sim_agenda_shape){ .phases = 1, .entities = { net->topology->terminals } };
}

static void lay_sources(struct leat_net *net, struct leat_net_vc *vc, struct leat_arena *arena)
{
    const uint32_t terminals = net->topology->terminals;
    const struct leat_sim_agenda_shape shape = agenda_shape(net);
    vc->source = leat_arena_lay(arena, terminals, sizeof *vc->source);
    vc->sends = leat_arena_lay(arena, terminals, sizeof *vc->sends);
    vc->woken = leat_arena_lay(arena, 2 * (size_t)terminals, sizeof *vc->woken);
    vc->agenda_memory = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
}

static void divide(struct leat_net_vc *vc, uint32_t routers)
{
    vc->region_bits = routers <= LEAT_NET_VC_SMALL_ROUTERS ? LEAT_NET_VC_SMALL_REGION_BITS
                                                           : LEAT_NET_VC_REGION_BITS;
    while ((routers - 1) >> vc->region_bits >= LEAT_NET_VC_REGIONS_MAX)
        vc->region_bits++;
    vc->regions = ((routers - 1) >> vc->region_bits) + 1;
    while (UINT32_C(1) << vc->row_bits < vc->regions + 1)
        vc->row_bits++;
}

static void lay(struct leat_net *net, struct leat_arena *arena)
{
    const struct leat_net_topology *topology = net->topology;
    const struct leat_net_config *config = &net->config;
    struct leat_net_vc measured = { 0 }, *vc = leat_arena_lay(arena, 1, sizeof *vc);
    net->state = vc;
    if (!vc) vc = &measured;
    while (UINT32_C(1) << vc->shift < config->channels)
        vc->shift++;
    vc->mask = (UINT32_C(1) << vc->shift) - 1;
    vc->buffer = config->buffer_flits;
    vc->fused = config->pipeline < 3;
    vc->ripening = config->pipeline > 3 ? config->pipeline - 3 : 0;
    vc->whole = config->flow != LEAT_NET_WORMHOLE || config->drop;
    vc->direct = !vc->ripening && config->flow != LEAT_NET_STORE_AND_FORWARD;
    divide(vc, topology->routers);
    lay_calendars(net, vc, arena);
    lay_routers(net, vc, arena);
    lay_regions(net, vc, arena);
    lay_sources(net, vc, arena);
    /* Every packet in flight has a flit in a lane, on a wire or in its source. In a part of a
     * network it may have none, but holds a lane, or a channel of a wire that comes in. */
    const uint64_t wires = ((uint64_t)topology->outs + topology->terminals) *
                           (vc->flits.last_day + 1);
    const uint64_t lanes = (uint64_t)topology->ins * config->channels;
    const uint64_t held = topology->in_cuts ? lanes * (3 + vc->flits.last_day) : 0;
    const uint64_t flights = lanes * vc->buffer + wires + held;
    leat_net_flights_lay(&vc->flights, (uint32_t)leat_smaller(flights, LEAT_NET_FLIGHTS_MAX),
                         arena);
}

/* Where the credits of an input port go, and how long they need. */
static void start_in(struct leat_net *net, uint32_t port)
{
    const struct leat_net_topology *topology = net->topology;
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_in *in = leat_net_vc_in_at(vc, port);
    const uint32_t from = topology->in_from[port], number = from & ~LEAT_NET_VC_AWAY;
    uint32_t cycles = LEAT_NET_RETURN_CYCLES, row = vc->regions;
    in->router = topology->in_router[port];
    in->out_first = topology->out_first[in->router];
    if (vc->hop) in->hops = (uint16_t)(in->router * topology->terminals);
    in->local = (uint16_t)((port - topology->in_first[in->router]) << vc->shift);
    if (net->routing->has_places)
        in->place = net->routing->place[topology->router_first + in->router];
    if (from == LEAT_NET_NONE) return;
    in->back = number << vc->shift | (from & LEAT_NET_VC_AWAY);
    if (from & LEAT_NET_CROSSING) {
        cycles = 1 + net->config.credit_cycles + topology->in_cut[number].cycles;
    } else if (!(from & LEAT_NET_TERMINAL)) {
        cycles = 1 + net->config.credit_cycles + topology->out_cycles[number];
        row = leat_net_vc_region_of(vc, topology->out_router[number]);
    }
    in->back_delay = (uint32_t)leat_net_vc_slot(vc, row, cycles);
}

static void start_out(struct leat_net *net, uint32_t port)
{
    const struct leat_net_topology *topology = net->topology;
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_out *out = leat_net_vc_out_at(vc, port);
    const uint32_t to = topology->out_to[port];
    const uint32_t cycles = 1u + (net->config.pipeline > 1) + topology->out_cycles[port];
    uint32_t row = vc->regions;
    out->router = topology->out_router[port];
    out->lane_first = topology->in_first[out->router] << vc->shift;
    if (to & LEAT_NET_TERMINAL) {
        out->to = LEAT_NET_TERMINAL | port << vc->shift;
    } else if (to & LEAT_NET_CROSSING) {
        out->to = to;
    } else {
        out->to = to << vc->shift;
        row = leat_net_vc_region_of(vc, topology->in_router[to]);
    }
    out->delay = (uint32_t)leat_net_vc_slot(vc, row, cycles);
}

static void start_routers(struct leat_net *net)
{
    const struct leat_net_topology *topology = net->topology;
    struct leat_net_vc *vc = net->state;
    for (uint32_t r = 0; r < topology->routers; r++) {
        leat_net_vc_router_at(vc, r)->in_first = topology->in_first[r];
        leat_net_vc_router_at(vc, r)->out_first = topology->out_first[r];
    }
    if (!find_hops(net)) vc->hop = NULL;
    for (uint32_t in = 0; in < topology->ins; in++)
        start_in(net, in);
    for (uint32_t out = 0; out < topology->outs; out++)
        start_out(net, out);
}

static void wake(struct leat_net *net, uint32_t terminal)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_source *source = &vc->source[terminal];
    if (source->state == LEAT_NET_VC_SOURCE_EMPTY) {
        source->state = LEAT_NET_VC_SOURCE_WOKEN;
        vc->woken[vc->woken_count++] = terminal;
    } else if (source->state == LEAT_NET_VC_SOURCE_HELD) {
        source->state = LEAT_NET_VC_SOURCE_SENDS;
        vc->sends[vc->sends_count++] = terminal;
    }
}

static void start(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    const struct leat_sim_agenda_shape shape = agenda_shape(net);
    vc->rests_at = LEAT_NEVER;
    start_routers(net);
    leat_sim_agenda_init(&vc->agenda, &shape, vc->agenda_memory);
    for (uint32_t t = 0; t < net->topology->terminals; t++)
        wake(net, t);
}

/* ---- what comes to terminals ----------------------------------------------------------------- */

static void flit_comes(struct leat_net *net, uint32_t way, uint32_t flit)
{
    struct leat_net_vc *vc = net->state;
    if (flit & LEAT_NET_VC_HEAD) leat_net_vc_flight(vc, flit)->head_at = net->now;
    if (flit & LEAT_NET_VC_TAIL) leat_net_vc_end(vc, flit & LEAT_NET_VC_FLIGHT);
    const uint32_t row = leat_net_vc_region_of(vc,
                                               leat_net_vc_out_at(vc, way >> vc->shift)->router);
    const uint64_t at = net->now + LEAT_NET_RETURN_CYCLES + net->config.credit_cycles;
    leat_net_vc_enter(&vc->credits, leat_net_vc_slot(vc, row, at), way);
}

static void flits_come(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_calendar *c = &vc->flits;
    for (struct leat_net_vc_due due =
             leat_net_vc_due(c, leat_net_vc_slot(vc, vc->regions, net->now));
         due.end; due = leat_net_vc_due_more(c, due))
        for (uint32_t i = due.chunk + 1; i < due.end; i++)
            flit_comes(net, (uint32_t)(c->record[i] >> 32) ^ LEAT_NET_TERMINAL,
                       (uint32_t)c->record[i]);
}

static void credits_come(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_calendar *c = &vc->credits;
    for (struct leat_net_vc_due due =
             leat_net_vc_due(c, leat_net_vc_slot(vc, vc->regions, net->now));
         due.end; due = leat_net_vc_due_more(c, due))
        for (uint32_t i = due.chunk + 1; i < due.end; i++) {
            const uint32_t channel = (uint32_t)c->record[i] ^ LEAT_NET_TERMINAL;
            const uint32_t terminal = channel >> vc->shift;
            vc->entry[channel].used--;
            if (vc->source[terminal].state != LEAT_NET_VC_SOURCE_BLOCKED) continue;
            vc->source[terminal].state = LEAT_NET_VC_SOURCE_SENDS;
            vc->sends[vc->sends_count++] = terminal;
        }
}

/* ---- what ends ------------------------------------------------------------------------------- */

static bool is_before(const void *context, const void *one, const void *other)
{
    const struct leat_net_vc *vc = context;
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    if (a >> 32 != b >> 32) return a < b;
    const struct leat_net_packet *p = &vc->flights.flight[(uint32_t)a].packet;
    const struct leat_net_packet *q = &vc->flights.flight[(uint32_t)b].packet;
    return p->source != q->source ? p->source < q->source : p->number < q->number;
}

/* By destination, if no two have the same one. They are random, so comparing them is slow; this
 * looks at a bit of every destination instead. Not in parts, which do not know all of them. */
static bool arrange_ended(struct leat_net_vc *vc)
{
    const uint32_t n = vc->ended_count;
    uint64_t twice = 0;
    if (!vc->ended_words || n < vc->ended_words / 4) return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t destination = (uint32_t)(vc->ended[i] >> 32);
        uint64_t *set = &vc->ended_set[destination / 64];
        twice |= *set >> destination % 64 & 1;
        *set |= UINT64_C(1) << destination % 64;
        vc->ended_flight[destination] = (uint32_t)vc->ended[i];
    }
    for (uint32_t w = 0, at = 0; w < vc->ended_words; w++) {
        for (uint64_t rest = twice ? 0 : vc->ended_set[w]; rest; rest &= rest - 1) {
            const uint32_t destination = w * 64 + leat_sim_agenda_lowest(rest);
            vc->ended[at++] = (uint64_t)destination << 32 | vc->ended_flight[destination];
        }
        vc->ended_set[w] = 0;
    }
    return !twice;
}

/* By destination, source and number. */
static void sort_ended(struct leat_net_vc *vc)
{
    if (!arrange_ended(vc)) leat_sort(vc->ended, vc->ended_count, sizeof *vc->ended, is_before, vc);
}

/* The first one that is not yet reported. */
void leat_net_vc_report_end(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    const uint32_t index = (uint32_t)vc->ended[vc->ended_next++];
    struct leat_net_flight *flight = &vc->flights.flight[index];
    if (net->terminal_dead[flight->packet.destination])
        leat_net_vc_doom(flight, LEAT_NET_NO_WAY, net->now);
    leat_net_end(net, flight, &vc->flights.course[index], net->now);
    leat_net_flights_give(&vc->flights, index);
    if (vc->ended_next == vc->ended_count) vc->ended_next = vc->ended_count = 0;
}

/* ---- what goes out --------------------------------------------------------------------------- */

/* Asks the host. True: its packet may leave at `at`. */
static bool ask_host(struct leat_net *net, uint32_t terminal, uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_source *source = &vc->source[terminal];
    const struct leat_net_packet *packet = &source->packet;
    source->state = LEAT_NET_VC_SOURCE_WAITS; /* ignores wake-ups while the host is asked */
    source->sent = 0;
    if (!net->host.next(net->host.context, leat_net_terminal(net, terminal), &source->packet)) {
        source->state = LEAT_NET_VC_SOURCE_EMPTY;
        return false;
    }
    assert(packet->source == leat_net_terminal(net, terminal));
    assert(packet->flits && packet->flits <= (vc->whole ? vc->buffer : LEAT_NET_FLITS_MAX));
    if (packet->created_at > at) {
        vc->waiting++;
        leat_sim_agenda_set(&vc->agenda, 0, terminal, packet->created_at);
        return false;
    }
    source->state = LEAT_NET_VC_SOURCE_SENDS;
    return true;
}

/* The channel of a new packet: the next one with room after that of the last packet. */
static bool find_channel(struct leat_net *net, uint32_t terminal)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_source *source = &vc->source[terminal];
    const uint32_t need = vc->whole ? source->packet.flits : 1;
    const struct leat_net_vc_ahead *entry = vc->entry + ((size_t)terminal << vc->shift);
    const uint32_t channels = net->config.in_order ? 1 : net->config.channels;
    uint32_t channel = source->channel;
    for (uint32_t i = 0; i < channels; i++) {
        channel = channel + 1 < channels ? channel + 1 : 0;
        if (vc->buffer - entry[channel].used < need) continue;
        source->channel = (uint8_t)channel;
        return true;
    }
    return false;
}

static bool begin_packet(struct leat_net *net, uint32_t terminal)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_source *source = &vc->source[terminal];
    const struct leat_net_packet *packet = &source->packet;
    struct leat_net_route route;
    leat_net_route_begin(net->routing, packet->source, packet->destination, packet->random, &route);
    if (!find_channel(net, terminal)) return false;
    source->flight = leat_net_flights_take(&vc->flights);
    vc->flights.flight[source->flight] = (struct leat_net_flight){ .packet = *packet,
                                                                   .fate = LEAT_NET_DELIVERED };
    vc->flights.course[source->flight] = (struct leat_net_course){ .route = route };
    net->counts.packets_begun++;
    return true;
}

/* Sends a flit of the packet that has begun. */
static void send_flit(struct leat_net *net, uint32_t terminal)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_source *source = &vc->source[terminal];
    const uint32_t lane = net->topology->terminal_in[terminal] << vc->shift | source->channel;
    const uint32_t head = source->sent ? 0 : LEAT_NET_VC_HEAD;
    const uint32_t tail = ++source->sent == source->packet.flits ? LEAT_NET_VC_TAIL : 0;
    if (net->terminal_dead[leat_net_terminal(net, terminal)])
        leat_net_vc_doom(&vc->flights.flight[source->flight], LEAT_NET_CUT, net->now);
    vc->entry[terminal << vc->shift | source->channel].used++;
    vc->inside++;
    net->counts.flits_begun++;
    const uint32_t row = leat_net_vc_region_of(vc,
                                               leat_net_vc_in_at(vc, lane >> vc->shift)->router);
    leat_net_vc_enter(&vc->flits, leat_net_vc_slot(vc, row, net->now + LEAT_NET_ENTRY_CYCLES),
                      (uint64_t)lane << 32 | source->flight | head | tail);
}

/* The terminal sends a flit, if it can. True: it continues in the next cycle. */
static bool send(struct leat_net *net, uint32_t terminal)
{
    struct leat_net_vc *vc = net->state;
    struct leat_net_vc_source *source = &vc->source[terminal];
    const struct leat_net_vc_ahead *entry = &vc->entry[terminal << vc->shift | source->channel];
    if (!source->sent) {
        if (net->terminal_dead[leat_net_terminal(net, terminal)]) {
            source->state = LEAT_NET_VC_SOURCE_HELD;
            return false;
        }
        if (leat_net_flights_none(&vc->flights)) return true;
    }
    if (source->sent ? entry->used == vc->buffer : !begin_packet(net, terminal)) {
        source->state = LEAT_NET_VC_SOURCE_BLOCKED;
        return false;
    }
    send_flit(net, terminal);
    return source->sent < source->packet.flits || ask_host(net, terminal, net->now + 1);
}

void leat_net_vc_send(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    const uint32_t woken = vc->woken_count;
    uint32_t terminal, kept = 0;
    while (vc->due && leat_sim_agenda_take(&vc->agenda, 0, &terminal)) {
        vc->waiting--;
        vc->source[terminal].state = LEAT_NET_VC_SOURCE_SENDS;
        vc->sends[vc->sends_count++] = terminal;
    }
    for (uint32_t i = 0; i < woken; i++)
        if (ask_host(net, vc->woken[i], net->now)) vc->sends[vc->sends_count++] = vc->woken[i];
    for (uint32_t i = woken; i < vc->woken_count; i++) /* by the hosts that were asked */
        vc->woken[kept++] = vc->woken[i];
    vc->woken_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < vc->sends_count; i++)
        if (send(net, vc->sends[i])) vc->sends[kept++] = vc->sends[i];
    vc->sends_count = kept;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

/* Will nothing happen before a source's time comes? */
bool leat_net_vc_is_quiet(const struct leat_net_vc *vc)
{
    for (uint32_t r = 0; r < vc->regions; r++)
        if (vc->region[r].asking_count || vc->region[r].ports_count) return false;
    if (vc->flits.full_days || vc->credits.full_days || vc->ended_count || vc->woken_count)
        return false;
    for (uint32_t i = 0; i < vc->discards_count; i++)
        if (leat_net_vc_lane_at(vc, vc->discards[i])->count) return false;
    return !vc->sends_count || leat_net_flights_none(&vc->flights);
}

/* Grows when a flit enters, passes a switch, or is discarded. */
static uint64_t movement(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    return net->counts.flit_hops + 2 * net->counts.flits_begun - vc->inside;
}

void leat_net_vc_begin(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    vc->before = movement(net);
    vc->rests_at = LEAT_NEVER;
    credits_come(net);
    flits_come(net);
    vc->ends = vc->ended_count;
    if (vc->ends) sort_ended(vc);
}

void leat_net_vc_finish(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    leat_net_vc_act(net);
    if (vc->discards_count) leat_net_vc_discard_flits(net);
    net->now++;
    if (vc->ends || movement(net) != vc->before) vc->moved_at = net->now;
}

void leat_net_vc_advance(struct leat_net *net, uint64_t until)
{
    struct leat_net_vc *vc = net->state;
    uint64_t at = net->now;
    const bool quiet = leat_net_vc_is_quiet(vc), rests = quiet && !vc->waiting;
    if (rests && vc->rests_at == LEAT_NEVER) vc->rests_at = net->now;
    vc->due = !rests && leat_sim_agenda_advance(&vc->agenda, quiet ? until : at + 1, &at);
    if (quiet && !vc->due) at = until;
    net->counts.waits += (at - net->now) * (vc->blocked + vc->sleepers);
    net->now = at;
    if (at == until) return;
    leat_net_vc_begin(net);
    while (vc->ended_count)
        leat_net_vc_report_end(net);
    leat_net_vc_send(net);
    leat_net_vc_finish(net);
}

static bool run(struct leat_net *net, uint64_t until)
{
    struct leat_net_vc *vc = net->state;
    while (net->now < until && !net->stop) {
        if (leat_net_vc_is_quiet(vc) && !vc->waiting) {
            if (vc->inside)
                net->now = vc->moved_at;
            else if (until != LEAT_NEVER)
                net->now = until;
            return !vc->inside;
        }
        leat_net_vc_advance(net, until);
    }
    return true;
}

static bool insert(struct leat_net *net, uint32_t wire, const struct leat_net_packet *packet,
                   const struct leat_net_route *route, uint32_t channels)
{
    struct leat_net_vc *vc = net->state;
    const bool begins = wire & LEAT_NET_TERMINAL;
    const uint32_t t = wire & ~LEAT_NET_TERMINAL;
    const uint32_t in = begins ? net->topology->terminal_in[t] : net->topology->out_to[wire];
    struct leat_net_vc_ahead *ahead = begins ? &vc->entry[t << vc->shift]
                                             : leat_net_vc_out_at(vc, wire)->ahead;
    uint32_t free = begins ? channels : channels & ~leat_net_vc_out_at(vc, wire)->taken;
    while (free && ahead[leat_sim_agenda_lowest(free)].used == vc->buffer)
        free &= free - 1;
    if (!free) return false;
    const uint32_t channel = leat_sim_agenda_lowest(free);
    const uint32_t flight = leat_net_flights_insert(net, &vc->flights, packet, route);
    if (flight == LEAT_NET_NONE) return false;
    const uint32_t row = leat_net_vc_region_of(vc, net->topology->in_router[in]);
    leat_net_vc_enter(&vc->flits, leat_net_vc_slot(vc, row, net->now),
                      (uint64_t)(in << vc->shift | channel) << 32 | flight | LEAT_NET_VC_HEAD |
                          LEAT_NET_VC_TAIL);
    ahead[channel].used++;
    vc->inside++;
    vc->rests_at = LEAT_NEVER;
    return true;
}

static uint64_t inside(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    return vc->inside;
}

static uint64_t out_flits(const struct leat_net *net, uint32_t out)
{
    return net->out_flits[out] + leat_net_vc_out_at(net->state, out)->flits;
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Flits that are on the wire to this lane or terminal. */
void leat_net_vc_doom_wire(struct leat_net *net, uint32_t to)
{
    struct leat_net_vc *vc = net->state;
    for (uint32_t d = 0; d <= vc->flits.last_slot; d++) {
        uint32_t place = vc->flits.day[d];
        while (place) {
            const uint64_t record = vc->flits.record[--place];
            if (place % LEAT_NET_VC_CHUNK == 0)
                place = (uint32_t)record;
            else if (((uint32_t)(record >> 32) & ~vc->mask) == to)
                leat_net_vc_doom(leat_net_vc_flight(vc, (uint32_t)record), LEAT_NET_CUT, net->now);
        }
    }
}

static void broke(struct leat_net *net, uint32_t out)
{
    struct leat_net_vc *vc = net->state;
    const uint32_t router = leat_net_vc_out_at(vc, out)->router;
    const uint32_t end = net->topology->in_first[router + 1] << vc->shift;
    for (uint32_t c = 0; c < net->config.channels; c++) {
        const uint32_t channel = out << vc->shift | c;
        if (!leat_net_vc_is_taken(vc, channel)) continue;
        const uint32_t flight = leat_net_vc_mover(vc, leat_net_vc_holder(vc, channel));
        leat_net_vc_doom(&vc->flights.flight[flight], LEAT_NET_CUT, net->now);
    }
    if (!(leat_net_vc_out_at(vc, out)->to &
          LEAT_NET_CROSSING)) /* else the part at its end does that */
        leat_net_vc_doom_wire(net, leat_net_vc_out_at(vc, out)->to);
    leat_net_vc_rouse(vc, router);
    for (uint32_t lane = leat_net_vc_router_at(vc, router)->in_first << vc->shift; lane < end;
         lane++)
        if (leat_net_vc_lane_at(vc, lane)->state == LEAT_NET_VC_ASKS)
            leat_net_vc_lane_at(vc, lane)->channels = 0;
}

static void rerouted(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    const uint32_t lanes = net->topology->ins << vc->shift;
    for (uint32_t r = 0; r < net->topology->routers; r++)
        leat_net_vc_rouse(vc, r);
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (leat_net_vc_lane_at(vc, lane)->state == LEAT_NET_VC_ASKS)
            leat_net_vc_route(net, lane, leat_net_vc_first_flit(vc, lane));
}

const struct leat_net_engine leat_net_vc_engine = {
    .lay = lay,
    .start = start,
    .run = run,
    .wake = wake,
    .insert = insert,
    .inside = inside,
    .out_flits = out_flits,
    .stuck = leat_net_vc_stuck,
    .broke = broke,
    .rerouted = rerouted,
    .part = &leat_net_vc_part_engine,
    .fingerprint = leat_net_vc_fingerprint,
};
