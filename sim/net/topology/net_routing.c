#include "net_routing.h"
#include "net_routing_parts.h"
#include <assert.h>

static const char *const names[LEAT_NET_RULES] = {
    [LEAT_NET_DOR] = "dor",           [LEAT_NET_TAG] = "tag",
    [LEAT_NET_UPDOWN] = "updown",     [LEAT_NET_HIERARCHICAL] = "hierarchical",
    [LEAT_NET_ADAPTIVE] = "adaptive", [LEAT_NET_VALIANT] = "valiant",
    [LEAT_NET_TABLE] = "table",
};

const char *leat_net_rule_name(enum leat_net_route_rule rule)
{
    return (unsigned)rule < LEAT_NET_RULES ? names[rule] : NULL;
}

/* ---- channels ------------------------------------------------------------------------------- */

static bool has_rings(const struct leat_net_shape *shape)
{
    if (shape->kind != LEAT_NET_RING && shape->kind != LEAT_NET_TORUS) return false;
    for (uint32_t i = 0; i < shape->numbers; i++)
        if (shape->number[i] >= LEAT_NET_RING_CLASSES_MIN) return true;
    return false;
}

uint32_t leat_net_escape_channels(const struct leat_net_shape *shape)
{
    return has_rings(shape) ? 2 : 1;
}

/* The channels from `first` to before `end`. */
static uint32_t mask_of(uint32_t first, uint32_t end)
{
    return (uint32_t)((UINT64_C(1) << end) - (UINT64_C(1) << first));
}

/* The share of one of `parts`; all channels if there are too few. */
static uint32_t share(uint32_t channels, uint32_t parts, uint32_t part)
{
    if (channels < parts) return mask_of(0, channels);
    return mask_of(part * channels / parts, (part + 1) * channels / parts);
}

static void keep_one(struct leat_net_leg *leg)
{
    leg->first &= ~leg->first + 1;
    leg->second &= ~leg->second + 1;
    leg->all = leg->first;
}

/* Masks are either equal or disjoint. */
static void add_class(struct leat_net_channels *c, uint32_t mask)
{
    for (uint32_t i = 0; i < c->classes; i++)
        if (c->class[i] == mask) return;
    if (mask) c->class[c->classes++] = mask;
}

void leat_net_channels_share(const struct leat_net_shape *shape,
                             const struct leat_net_routing_config *config,
                             struct leat_net_channels *out)
{
    const enum leat_net_route_rule rule = config->rule;
    const uint32_t channels = config->channels, legs = rule == LEAT_NET_VALIANT ? 2 : 1;
    const bool by_rings = has_rings(shape) && (rule == LEAT_NET_DOR || rule == LEAT_NET_VALIANT);
    const bool by_groups = shape->kind == LEAT_NET_DRAGONFLY &&
                           (rule == LEAT_NET_HIERARCHICAL || rule == LEAT_NET_VALIANT);
    const uint32_t each = by_rings || by_groups ? 2 : 1, parts = legs * each;
    *out = (struct leat_net_channels){ .all = mask_of(0, channels) };
    for (uint32_t i = 2 - legs; i < 2; i++) {
        const uint32_t part = (i + legs - 2) * each;
        struct leat_net_leg *leg = &out->leg[i];
        leg->first = share(channels, parts, part);
        leg->second = share(channels, parts, part + each - 1);
        if (rule == LEAT_NET_ADAPTIVE) {
            leg->first = 1;
            leg->second = UINT32_C(1) << (leat_net_escape_channels(shape) - 1);
            out->escape = leg->first | leg->second;
            out->adaptive = out->all & ~out->escape;
        }
        leg->all = leg->first | leg->second;
        if (config->in_order) keep_one(leg);
        add_class(out, leg->first);
        add_class(out, leg->second);
    }
    add_class(out, out->adaptive);
}

/* ---- rules ---------------------------------------------------------------------------------- */

/* Straight to the destination. */
static uint32_t rule_single(const struct leat_net_routing *routing, uint32_t router,
                            struct leat_net_route *route, struct leat_net_turn *turn,
                            struct leat_net_option *options)
{
    const struct leat_net_goal *target = &routing->target[route->destination];
    if (target->router == router) return leat_net_arrived(routing, target, route, options);
    return routing->toward(routing, router, target, 1, route, turn, options);
}

static uint32_t rule_valiant(const struct leat_net_routing *routing, uint32_t router,
                             struct leat_net_route *route, struct leat_net_turn *turn,
                             struct leat_net_option *options)
{
    if (route->via == router) {
        route->via = LEAT_NET_NONE;
        route->phase = 0;
    }
    if (route->via == LEAT_NET_NONE) return rule_single(routing, router, route, turn, options);
    const struct leat_net_goal via = { .router = route->via,
                                       .place = routing->has_places ? routing->place[route->via]
                                                                    : 0 };
    return routing->toward(routing, router, &via, 0, route, turn, options);
}

/* To a processor, which is here or at the end of a wire of this router. In any channel: the packet
 * waits for no other wire, so it closes no cycle. */
static uint32_t to_processor(const struct leat_net_routing *routing, uint32_t router,
                             const struct leat_net_route *route, struct leat_net_option *option)
{
    const struct leat_net_topology *t = routing->topology;
    const struct leat_net_goal *target = &routing->target[route->destination];
    if (target->router == router) return leat_net_arrived(routing, target, route, option);
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++) {
        if (leat_net_behind(t, out) != target->router) continue;
        if (routing->broken && routing->broken[out]) continue;
        *option = (struct leat_net_option){ .port = out - t->out_first[router],
                                            .channels = routing->channels.all };
        return 1;
    }
    return 0;
}

static uint32_t rule_processors(const struct leat_net_routing *routing, uint32_t router,
                                struct leat_net_route *route, struct leat_net_turn *turn,
                                struct leat_net_option *options)
{
    return route->destination < routing->hosts
               ? routing->rule_of_hosts(routing, router, route, turn, options)
               : to_processor(routing, router, route, options);
}

static leat_net_toward_fn *toward_of(enum leat_net_kind kind, enum leat_net_route_rule rule)
{
    if (rule == LEAT_NET_TABLE) return leat_net_toward_table;
    if (rule == LEAT_NET_UPDOWN) return leat_net_toward_updown;
    if (rule == LEAT_NET_TAG) return leat_net_toward_stages;
    if (kind == LEAT_NET_DRAGONFLY && rule != LEAT_NET_ADAPTIVE) return leat_net_toward_dragonfly;
    if (leat_net_kind_is_lattice(kind) || kind == LEAT_NET_GRID || kind == LEAT_NET_CROSSBAR)
        return leat_net_toward_lattice;
    return leat_net_toward_updown;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void lay(struct leat_net_routing *routing, struct leat_arena *arena)
{
    leat_net_places_lay(routing, arena);
    leat_net_tables_lay(routing, arena);
}

size_t leat_net_routing_footprint(const struct leat_net_topology *topology,
                                  const struct leat_net_routing_config *config)
{
    struct leat_arena arena = { 0 };
    leat_arena_lay(&arena, 1, sizeof(struct leat_net_routing));
    struct leat_net_routing measured = { .topology = topology, .config = *config };
    lay(&measured, &arena);
    return arena.used;
}

struct leat_net_routing *leat_net_routing_init(const struct leat_net_topology *topology,
                                               const struct leat_net_routing_config *config,
                                               void *memory)
{
    struct leat_arena arena = { .memory = memory,
                                .cap = leat_net_routing_footprint(topology, config) };
    struct leat_net_routing *routing = leat_arena_lay(&arena, 1, sizeof *routing);
    *routing = (struct leat_net_routing){ .topology = topology,
                                          .config = *config,
                                          .hosts = topology->terminals - topology->processors };
    assert(leat_net_rule_fits(config->rule, topology->shape.kind));
    leat_net_channels_share(&topology->shape, config, &routing->channels);
    routing->toward = toward_of(topology->shape.kind, config->rule);
    routing->rule = config->rule == LEAT_NET_VALIANT    ? rule_valiant
                    : config->rule == LEAT_NET_ADAPTIVE ? leat_net_rule_adaptive
                                                        : rule_single;
    lay(routing, &arena);
    leat_net_places_fill(routing);
    leat_net_tables_fill(routing);
    routing->is_dimension_order = routing->rule == rule_single && routing->has_places &&
                                  routing->toward == leat_net_toward_lattice;
    routing->rule_of_hosts = routing->rule;
    if (topology->processors) routing->rule = rule_processors;
    return routing;
}

/* ---- packets -------------------------------------------------------------------------------- */

void leat_net_route_begin(const struct leat_net_routing *routing, uint32_t source,
                          uint32_t destination, uint64_t random, struct leat_net_route *route)
{
    assert(source < routing->topology->terminals && destination < routing->topology->terminals);
    *route = (struct leat_net_route){ .destination = destination,
                                      .via = LEAT_NET_NONE,
                                      .place = routing->target[destination].place,
                                      .salt = (uint32_t)random };
    if (routing->config.rule == LEAT_NET_VALIANT && source < routing->hosts &&
        destination < routing->hosts)
        route->via = (uint32_t)((random >> 32) * routing->topology->routers >> 32);
}

uint32_t leat_net_route_options(const struct leat_net_routing *routing, uint32_t router,
                                struct leat_net_route *route, struct leat_net_option *options)
{
    return leat_net_route_ask(routing, router, route, options);
}
