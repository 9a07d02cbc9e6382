#include "net.h"
#include "net_cut.h"
#include "net_parts.h"
#include "net_turns_parts.h"
#include "sim_refuse.h"

const char *leat_net_switch_name(enum leat_net_switch architecture)
{
    static const char *const name[LEAT_NET_SWITCHES] = { "vc",     "fifo", "voq",    "output",
                                                         "shared", "xpq",  "batcher" };
    return (unsigned)architecture < LEAT_NET_SWITCHES ? name[architecture] : NULL;
}

const char *leat_net_flow_name(enum leat_net_flow flow)
{
    static const char *const name[LEAT_NET_FLOWS] = { "wormhole", "cut-through",
                                                      "store-and-forward" };
    return (unsigned)flow < LEAT_NET_FLOWS ? name[flow] : NULL;
}

/* ---- does it exist? -------------------------------------------------------------------------- */

static leat_err check_numbers(const struct leat_net_config *c, struct leat_text *why)
{
    const struct leat_text_range row[] = {
        { "virtual channels", c->channels, 1, LEAT_NET_CHANNELS_MAX },
        { "buffer of flits", c->buffer_flits, 1, LEAT_NET_BUFFER_MAX },
        { "pipeline of cycles", c->pipeline, 1, LEAT_NET_PIPELINE_MAX },
        { "credit cycles", c->credit_cycles, 0, LEAT_NET_CREDIT_CYCLES_MAX },
        { "iterations", c->iterations, c->architecture == LEAT_NET_SWITCH_VOQ,
          LEAT_NET_ITERATIONS_MAX },
    };
    return leat_text_check_ranges(why, row, sizeof row / sizeof *row);
}

/* Parts have about as many ports each. */
static leat_err check_size(const struct leat_net_topology *t, const struct leat_net_config *c,
                           struct leat_text *why)
{
    const uint64_t parts = leat_net_parts(t, c);
    uint64_t lanes = (uint64_t)leat_larger(t->ins, t->outs) + t->terminals;
    for (uint32_t channels = 1; channels < c->channels; channels *= 2)
        lanes *= 2;
    const uint64_t room = (uint64_t)t->ins * c->channels * c->buffer_flits;
    const struct leat_text_range row[] = {
        { "flits in all buffers of each part", (room + parts - 1) / parts, 1, LEAT_NET_ROOM_MAX },
        { "virtual channels of each part", (lanes + parts - 1) / parts, 1, LEAT_NET_LANES_MAX },
    };
    return leat_text_check_ranges(why, row, sizeof row / sizeof *row);
}

leat_err leat_net_check(const struct leat_net_topology *topology,
                        const struct leat_net_config *config, struct leat_text *why)
{
    if (!leat_net_switch_name(config->architecture))
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "switch architecture %u, expected vc .. batcher",
                               config->architecture);
    if (!leat_net_flow_name(config->flow))
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "flow %u, expected wormhole .. store-and-forward", config->flow);
    const leat_err err = check_numbers(config, why);
    if (err) return err;
    const bool vc = config->architecture == LEAT_NET_SWITCH_VC;
    if (!vc && config->channels != 1)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "virtual channels %u, expected 1, unless the switches are vc",
                               config->channels);
    if (!vc && config->flow != LEAT_NET_WORMHOLE)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%s flow, expected switches that are vc",
                               leat_net_flow_name(config->flow));
    return check_size(topology, config, why);
}

uint64_t leat_net_way_cycles(const struct leat_net_topology *topology,
                             const struct leat_net_routing *routing,
                             const struct leat_net_config *config, uint32_t from, uint32_t to,
                             uint64_t random, uint32_t flits)
{
    const uint32_t stored = config->flow == LEAT_NET_STORE_AND_FORWARD ? flits - 1 : 0;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    uint32_t ahead = topology->terminal_in[from];
    uint64_t cycles = LEAT_NET_ENTRY_CYCLES;
    leat_net_route_begin(routing, from, to, random, &route);
    while (!(ahead & LEAT_NET_TERMINAL)) {
        const uint32_t router = topology->in_router[ahead];
        const uint32_t options = leat_net_route_options(routing, router, &route, option);
        const uint32_t out = topology->out_first[router] + option[0].port;
        assert(options);
        (void)options;
        route.phase = option[0].phase;
        cycles += config->pipeline + topology->out_cycles[out] + stored;
        ahead = topology->out_to[out];
    }
    return cycles;
}

/* ---- laying out and running ------------------------------------------------------------------ */

static const struct leat_net_engine *engine_of(const struct leat_net_config *config)
{
    return config->architecture == LEAT_NET_SWITCH_VC ? &leat_net_vc_engine
                                                      : &leat_net_queue_engine;
}

uint32_t leat_net_parts(const struct leat_net_topology *topology,
                        const struct leat_net_config *config)
{
    if (config->parts < 2 || !engine_of(config)->part) return 1;
    return (uint32_t)leat_smaller(config->parts,
                                  leat_smaller(topology->routers, LEAT_NET_PARTS_MAX));
}

uint32_t leat_net_parts_first(const struct leat_net_config *config, uint32_t parts, uint32_t rank)
{
    return (uint32_t)((uint64_t)parts * rank / leat_sim_ranks_count(config->ranks));
}

uint32_t leat_net_parts_worth(const struct leat_net_topology *topology, uint32_t threads)
{
    const uint32_t parts = topology->routers / LEAT_NET_PART_ROUTERS;
    return parts < 1 ? 1 : (uint32_t)leat_smaller(parts, threads);
}

static void lay_out(struct leat_net *net, struct leat_arena *arena)
{
    const uint32_t outs = net->topology->outs;
    net->engine = leat_net_parts(net->topology, &net->config) > 1 ? &leat_net_team_engine
                                                                  : engine_of(&net->config);
    net->out_flits = leat_arena_lay(arena, outs, sizeof *net->out_flits);
    net->out_broken = leat_arena_lay(arena, outs, sizeof *net->out_broken);
    net->terminal_dead = leat_arena_lay(arena, net->topology->terminals,
                                        sizeof *net->terminal_dead);
    net->engine->lay(net, arena);
}

size_t leat_net_footprint(const struct leat_net_topology *topology,
                          const struct leat_net_config *config)
{
    struct leat_net net = { .topology = topology, .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&net, &arena);
    return arena.used;
}

void leat_net_init(struct leat_net *net, const struct leat_net_topology *topology,
                   struct leat_net_routing *routing, const struct leat_net_config *config,
                   const struct leat_net_host *host, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *net = (struct leat_net){
        .topology = topology, .routing = routing, .config = *config, .host = *host
    };
    lay_out(net, &arena);
    net->engine->start(net);
}

void leat_net_lend(struct leat_net *net, struct leat_sim_crew *crew)
{
    net->crew = crew;
}

void leat_net_observe(struct leat_net *net, const struct leat_net_watch *watch)
{
    assert(leat_net_parts(net->topology, &net->config) == 1);
    net->watch = watch;
}

bool leat_net_run(struct leat_net *net, uint64_t until)
{
    net->stop = false;
    return net->engine->run(net, until);
}

void leat_net_wake(struct leat_net *net, uint32_t terminal)
{
    assert(terminal < net->topology->terminals);
    net->engine->wake(net, terminal);
}

uint64_t leat_net_flits_inside(const struct leat_net *net)
{
    return net->engine->inside(net);
}

uint64_t leat_net_out_flits(const struct leat_net *net, uint32_t out)
{
    return net->engine->out_flits ? net->engine->out_flits(net, out) : net->out_flits[out];
}

uint32_t leat_net_stuck(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap)
{
    return net->engine->stuck(net, out, cap);
}

/* ---- faults ---------------------------------------------------------------------------------- */

void leat_net_break(struct leat_net *net, uint32_t out, bool broken)
{
    assert(out < net->topology->outs);
    if (net->out_broken[out] == broken) return;
    net->out_broken[out] = broken;
    net->broken_wires += broken ? 1 : UINT32_MAX;
    leat_net_routing_wire(net->routing, out, broken);
    if (broken) net->engine->broke(net, out);
}

bool leat_net_insert(struct leat_net *net, uint32_t wire, const struct leat_net_packet *packet,
                     const struct leat_net_route *route, uint32_t channels)
{
    return net->engine->insert && net->engine->insert(net, wire, packet, route, channels);
}

void leat_net_kill(struct leat_net *net, uint32_t terminal, bool dead)
{
    assert(terminal < net->topology->terminals);
    net->terminal_dead[terminal] = dead;
    if (!dead) net->engine->wake(net, terminal);
}

void leat_net_rerouted(struct leat_net *net)
{
    leat_net_routing_update(net->routing);
    if (net->engine->rerouted) net->engine->rerouted(net);
}

void leat_net_errors(struct leat_net *net, uint32_t *errors, uint64_t seed)
{
    if (net->out_errors) return;
    net->out_errors = errors;
    net->seed = seed;
}

/* ---- what engines share ---------------------------------------------------------------------- */

void leat_net_flights_lay(struct leat_net_flights *flights, uint32_t cap, struct leat_arena *arena)
{
    *flights = (struct leat_net_flights){
        .flight = leat_arena_lay_lines(arena, cap, sizeof *flights->flight),
        .course = leat_arena_lay_lines(arena, cap, sizeof *flights->course),
        .free = leat_arena_lay(arena, cap, sizeof *flights->free),
        .cap = cap,
    };
}

uint32_t leat_net_flights_take(struct leat_net_flights *flights)
{
    if (flights->free_count) return flights->free[--flights->free_count];
    return flights->top < flights->cap ? flights->top++ : LEAT_NET_NONE;
}

void leat_net_flights_give(struct leat_net_flights *flights, uint32_t index)
{
    assert(index < flights->top && flights->free_count < flights->top);
    flights->free[flights->free_count++] = index;
}

uint32_t leat_net_flights_insert(struct leat_net *net, struct leat_net_flights *flights,
                                 const struct leat_net_packet *packet,
                                 const struct leat_net_route *route)
{
    const uint32_t number = leat_net_flights_take(flights);
    assert(packet->flits == 1);
    if (number == LEAT_NET_NONE) return number;
    flights->flight[number] = (struct leat_net_flight){ .packet = *packet,
                                                        .fate = LEAT_NET_DELIVERED };
    flights->course[number] = (struct leat_net_course){ .route = *route };
    net->counts.packets_begun++;
    net->counts.flits_begun++;
    return number;
}

void leat_net_end(struct leat_net *net, const struct leat_net_flight *flight,
                  const struct leat_net_course *course, uint64_t now)
{
    const bool delivered = flight->fate == LEAT_NET_DELIVERED;
    const struct leat_net_arrival arrival = {
        .packet = flight->packet,
        .fate = (enum leat_net_fate)flight->fate,
        .head_at = delivered || flight->fate == LEAT_NET_CORRUPTED ? flight->head_at : now,
        .tail_at = now,
        .hops = course->hops,
        .rerouted = course->route.rerouted,
    };
    net->counts.packets_ended[flight->fate]++;
    net->counts.packets_rerouted += course->route.rerouted;
    if (delivered) net->counts.flits_delivered += flight->packet.flits;
    net->host.arrive(net->host.context, &arrival);
}

bool leat_net_damages(const struct leat_net *net, uint32_t out,
                      const struct leat_net_packet *packet, uint32_t flit)
{
    if (!net->out_errors) return false;
    if (net->host.crosses) return !net->host.crosses(net->host.context, out, packet);
    if (!net->out_errors[out]) return false;
    const struct leat_net_crossing crossing = { .number = packet->number,
                                                .source = packet->source,
                                                .flit = flit,
                                                .wire = net->topology->out_base + out };
    return leat_net_crossing_damages(&crossing, net->seed, net->out_errors[out]);
}
