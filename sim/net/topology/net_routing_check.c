/* Which rules support which topologies, and whether a table leads to all destinations. */
#include "net_routing_parts.h"
#include "sim_refuse.h"
#include <string.h>

#define BIT(rule) (UINT32_C(1) << (rule))

enum {
    DIRECT = BIT(LEAT_NET_UPDOWN) | BIT(LEAT_NET_ADAPTIVE) | BIT(LEAT_NET_VALIANT) |
             BIT(LEAT_NET_TABLE),
    LATTICE = BIT(LEAT_NET_DOR) | DIRECT,
    STAGES = BIT(LEAT_NET_TAG) | BIT(LEAT_NET_TABLE),
};

/* The rules that a kind supports, and its default. Stages have no return paths, so there is no tree
 * and no intermediate router; fat trees already spread their packets over all tops. */
static const struct {
    uint32_t fitting;
    enum leat_net_route_rule usual;
} rules[LEAT_NET_KINDS] = {
    [LEAT_NET_LINE] = { LATTICE, LEAT_NET_DOR },
    [LEAT_NET_RING] = { LATTICE, LEAT_NET_DOR },
    [LEAT_NET_CROSSBAR] = { BIT(LEAT_NET_DOR) | BIT(LEAT_NET_TABLE), LEAT_NET_DOR },
    [LEAT_NET_GRID] = { BIT(LEAT_NET_DOR) | BIT(LEAT_NET_TABLE), LEAT_NET_DOR },
    [LEAT_NET_MESH] = { LATTICE, LEAT_NET_DOR },
    [LEAT_NET_TORUS] = { LATTICE, LEAT_NET_DOR },
    [LEAT_NET_HYPERCUBE] = { LATTICE, LEAT_NET_DOR },
    [LEAT_NET_FLY] = { STAGES, LEAT_NET_TAG },
    [LEAT_NET_BENES] = { STAGES, LEAT_NET_TAG },
    [LEAT_NET_CLOS] = { STAGES, LEAT_NET_TAG },
    [LEAT_NET_FATTREE] = { BIT(LEAT_NET_UPDOWN) | BIT(LEAT_NET_ADAPTIVE) | BIT(LEAT_NET_TABLE),
                           LEAT_NET_UPDOWN },
    [LEAT_NET_DRAGONFLY] = { BIT(LEAT_NET_HIERARCHICAL) | DIRECT, LEAT_NET_HIERARCHICAL },
    [LEAT_NET_HYPERX] = { LATTICE, LEAT_NET_DOR },
    [LEAT_NET_GRAPH] = { DIRECT, LEAT_NET_UPDOWN },
};

enum leat_net_route_rule leat_net_rule_default(enum leat_net_kind kind)
{
    return rules[kind].usual;
}

bool leat_net_rule_fits(enum leat_net_route_rule rule, enum leat_net_kind kind)
{
    return (unsigned)rule < LEAT_NET_RULES && rules[kind].fitting & BIT(rule);
}

bool leat_net_rule_needs_tables(enum leat_net_route_rule rule, enum leat_net_kind kind)
{
    switch (rule) {
    case LEAT_NET_TABLE: return true;
    case LEAT_NET_UPDOWN: return kind != LEAT_NET_FATTREE;
    case LEAT_NET_ADAPTIVE: return !leat_net_kind_is_lattice(kind);
    case LEAT_NET_VALIANT: return kind == LEAT_NET_GRAPH;
    case LEAT_NET_DOR:
    case LEAT_NET_TAG:
    case LEAT_NET_HIERARCHICAL: break;
    }
    return false;
}

/* ---- complaints ----------------------------------------------------------------------------- */

static leat_err refuse_rule(enum leat_net_route_rule rule, enum leat_net_kind kind,
                            struct leat_text *why)
{
    const char *name = leat_net_rule_name(rule), *between = "";
    leat_sim_refuse(why, LEAT_ERR_FIELD, "routing %s does not lead through a %s, expected one of ",
                    name ? name : "unknown", leat_net_kind_name(kind));
    for (unsigned i = 0; i < LEAT_NET_RULES; i++) {
        if (!(rules[kind].fitting & BIT(i))) continue;
        leat_text_puts(why, between);
        leat_text_puts(why, leat_net_rule_name((enum leat_net_route_rule)i));
        between = ", ";
    }
    return LEAT_ERR_FIELD;
}

/* Where errors are written. */
struct complaint {
    struct leat_text *why;
    struct leat_net_routing_fault *fault;
};

/* ---- wires back ----------------------------------------------------------------------------- */

static leat_err check_both_ways(const struct leat_net_topology *t,
                                const struct leat_net_routing_config *config,
                                struct complaint *complaint)
{
    for (uint32_t o = 0; o < t->outs; o++) {
        const uint32_t from = t->out_router[o], to = leat_net_behind(t, o);
        if (to == LEAT_NET_NONE || leat_net_leads(t, to, from)) continue;
        *complaint->fault = (struct leat_net_routing_fault){ LEAT_NET_AT_WIRE, 0, from, to };
        return leat_sim_refuse(complaint->why, LEAT_ERR_FIELD,
                               "routing %s: there is a wire from router %u to %u and none back, "
                               "expected wires in both directions (or routing table)",
                               leat_net_rule_name(config->rule), from, to);
    }
    return LEAT_ERR_OK;
}

/* ---- lines of a table ----------------------------------------------------------------------- */

/* The routes of packets to one goal, and the lines that set them. */
struct ways {
    uint16_t distance[LEAT_NET_TABLE_ROUTERS_MAX], queue[LEAT_NET_TABLE_ROUTERS_MAX];
    uint32_t line[LEAT_NET_TABLE_ROUTERS_MAX]; /* NONE: the shortest route */
    bool arrives[LEAT_NET_TABLE_ROUTERS_MAX];  /* known already */
};

/* Users name the router that a port leads to, so the error names it too, if there is one. */
static leat_err refuse_entry(const struct leat_net_topology *t,
                             const struct leat_net_routing_config *config, uint32_t index,
                             const char *what, struct complaint *complaint)
{
    const struct leat_net_route_entry *e = &config->entry[index];
    const bool exists = e->router < t->routers &&
                        e->port < t->out_first[e->router + 1] - t->out_first[e->router];
    const uint32_t by = exists ? leat_net_behind(t, t->out_first[e->router] + e->port)
                               : LEAT_NET_NONE;
    *complaint->fault = (struct leat_net_routing_fault){ LEAT_NET_AT_ENTRY, index, e->router, by };
    return leat_sim_refuse(complaint->why, LEAT_ERR_FIELD,
                           "entry %" PRIu64 " of the table (at router %u to %u by %s %u) %s",
                           index + UINT64_C(1), e->router, e->to,
                           by == LEAT_NET_NONE ? "port" : "router",
                           by == LEAT_NET_NONE ? e->port : by, what);
}

static leat_err check_entry(const struct leat_net_topology *t,
                            const struct leat_net_routing_config *config, uint32_t index,
                            struct complaint *complaint)
{
    const struct leat_net_route_entry *e = &config->entry[index];
    if (e->router >= t->routers || e->to >= t->routers) {
        refuse_entry(t, config, index, "names a router that does not exist, expected 0 to ",
                     complaint);
        leat_text_decimal(complaint->why, t->routers - UINT64_C(1));
        return LEAT_ERR_FIELD;
    }
    if (e->router == e->to)
        return refuse_entry(t, config, index, "leads on from its goal, expected two routers",
                            complaint);
    if (e->port >= t->out_first[e->router + 1] - t->out_first[e->router] ||
        leat_net_behind(t, t->out_first[e->router] + e->port) == LEAT_NET_NONE)
        return refuse_entry(t, config, index,
                            "names a port that leads to no router, expected one that does",
                            complaint);
    return LEAT_ERR_OK;
}

/* The line of the table for packets at this router (NONE: the shortest route), and the next
 * router. */
static uint32_t next_router(const struct leat_net_topology *t,
                            const struct leat_net_routing_config *config, const struct ways *ways,
                            uint32_t router, uint32_t *line)
{
    *line = ways->line[router];
    const uint32_t port = *line == LEAT_NET_NONE
                              ? leat_net_nearest_port(t, NULL, router, ways->distance)
                              : config->entry[*line].port;
    return leat_net_behind(t, t->out_first[router] + port);
}

/*
 * Follows the route from one router to one that is known to arrive. A route with more steps than
 * there are routers has a cycle, and the last line used lies on it: shortest routes alone have no
 * cycle.
 */
static leat_err check_way(const struct leat_net_topology *t,
                          const struct leat_net_routing_config *config, uint32_t start,
                          struct ways *ways, struct complaint *complaint)
{
    uint32_t last = LEAT_NET_NONE, line, steps = 0;
    for (uint32_t r = start; !ways->arrives[r]; steps++) {
        r = next_router(t, config, ways, r, &line);
        if (line != LEAT_NET_NONE) last = line;
        if (steps == t->routers)
            return refuse_entry(t, config, last,
                                "leads in a cycle, expected a route to its destination", complaint);
        if (ways->distance[r] == LEAT_NET_NONE16)
            return refuse_entry(
                t, config, last,
                "leads to a router without a route to its destination, expected one", complaint);
    }
    for (uint32_t r = start; !ways->arrives[r];) {
        ways->arrives[r] = true;
        r = next_router(t, config, ways, r, &line);
    }
    return LEAT_ERR_OK;
}

static leat_err check_ways(const struct leat_net_topology *t,
                           const struct leat_net_routing_config *config, uint32_t goal,
                           struct ways *ways, struct complaint *complaint)
{
    leat_net_distances_to(t, NULL, goal, ways->distance, ways->queue);
    memset(ways->arrives, 0, sizeof ways->arrives);
    ways->arrives[goal] = true;
    for (uint32_t start = 0; start < t->routers; start++) {
        if (ways->distance[start] == LEAT_NET_NONE16) continue; /* stages: no route at all */
        const leat_err err = check_way(t, config, start, ways, complaint);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

static leat_err check_goal(const struct leat_net_topology *t,
                           const struct leat_net_routing_config *config, uint32_t goal,
                           struct complaint *complaint)
{
    struct ways ways;
    memset(ways.line, 0xff, sizeof ways.line);
    for (uint32_t i = 0; i < config->entries; i++) {
        const struct leat_net_route_entry *e = &config->entry[i];
        if (e->to != goal) continue;
        if (ways.line[e->router] != LEAT_NET_NONE)
            return refuse_entry(t, config, i, "is there twice, expected one for each goal",
                                complaint);
        ways.line[e->router] = i;
    }
    return check_ways(t, config, goal, &ways, complaint);
}

static leat_err check_entries(const struct leat_net_topology *t,
                              const struct leat_net_routing_config *config,
                              struct complaint *complaint)
{
    bool named[LEAT_NET_TABLE_ROUTERS_MAX] = { false };
    for (uint32_t i = 0; i < config->entries; i++) {
        const leat_err err = check_entry(t, config, i, complaint);
        if (err) return err;
        named[config->entry[i].to] = true;
    }
    for (uint32_t goal = 0; goal < t->routers; goal++) {
        const leat_err err = named[goal] ? check_goal(t, config, goal, complaint) : LEAT_ERR_OK;
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

leat_err leat_net_routing_check(const struct leat_net_topology *topology,
                                const struct leat_net_routing_config *config, struct leat_text *why,
                                struct leat_net_routing_fault *fault)
{
    struct complaint complaint = { why, fault };
    const struct leat_net_topology *t = topology;
    const enum leat_net_kind kind = t->shape.kind;
    const enum leat_net_route_rule rule = config->rule;
    const bool tables = leat_net_rule_needs_tables(rule, kind),
               adaptive = rule == LEAT_NET_ADAPTIVE;
    const uint32_t least = adaptive ? leat_net_escape_channels(&t->shape) + 1 : 1;
    *fault = (struct leat_net_routing_fault){ .place = LEAT_NET_AT_RULE };
    if (!leat_net_rule_fits(rule, kind)) return refuse_rule(rule, kind, why);
    if (config->channels < least || config->channels > LEAT_NET_CHANNELS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u virtual channels%s, expected %u to %u",
                               config->channels,
                               adaptive ? " with routing adaptive, the lowest for the escape" : "",
                               least, LEAT_NET_CHANNELS_MAX);
    if (config->entries && rule != LEAT_NET_TABLE)
        return leat_sim_refuse(why, LEAT_ERR_FIELD,
                               "a table is given with routing %s, expected routing table",
                               leat_net_rule_name(rule));
    if (tables && t->routers > LEAT_NET_TABLE_ROUTERS_MAX)
        return leat_sim_refuse(
            why, LEAT_ERR_RANGE,
            "routing %s of %u routers, expected at most %u: its tables grow with their square",
            leat_net_rule_name(rule), t->routers, LEAT_NET_TABLE_ROUTERS_MAX);
    if (kind == LEAT_NET_GRAPH && rule != LEAT_NET_TABLE)
        return check_both_ways(t, config, &complaint);
    return rule == LEAT_NET_TABLE ? check_entries(t, config, &complaint) : LEAT_ERR_OK;
}
