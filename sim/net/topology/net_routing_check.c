/* Which rules support which topologies, and whether a table leads to all destinations. */
#include "net_routing_parts.h"
#include <string.h>

#define BIT(rule) (UINT32_C(1) << (rule))

enum {
    DIRECT = BIT(LEAT_NET_UPDOWN) | BIT(LEAT_NET_ADAPTIVE) | BIT(LEAT_NET_VALIANT) |
             BIT(LEAT_NET_TABLE),
    LATTICE = BIT(LEAT_NET_DOR) | DIRECT,
    STAGES = BIT(LEAT_NET_TAG) | BIT(LEAT_NET_TABLE),
};

/* Stages have no return paths, so there is no tree and no intermediate router; fat trees already
 * spread their packets over all tops. */
static const uint32_t fitting[LEAT_NET_KINDS] = {
    [LEAT_NET_LINE] = LATTICE,
    [LEAT_NET_RING] = LATTICE,
    [LEAT_NET_CROSSBAR] = BIT(LEAT_NET_DOR) | BIT(LEAT_NET_TABLE),
    [LEAT_NET_GRID] = BIT(LEAT_NET_DOR) | BIT(LEAT_NET_TABLE),
    [LEAT_NET_MESH] = LATTICE,
    [LEAT_NET_TORUS] = LATTICE,
    [LEAT_NET_HYPERCUBE] = LATTICE,
    [LEAT_NET_FLY] = STAGES,
    [LEAT_NET_BENES] = STAGES,
    [LEAT_NET_CLOS] = STAGES,
    [LEAT_NET_FATTREE] = BIT(LEAT_NET_UPDOWN) | BIT(LEAT_NET_ADAPTIVE) | BIT(LEAT_NET_TABLE),
    [LEAT_NET_DRAGONFLY] = BIT(LEAT_NET_HIERARCHICAL) | DIRECT,
    [LEAT_NET_HYPERX] = LATTICE,
    [LEAT_NET_GRAPH] = DIRECT,
};

bool leat_net_rule_fits(enum leat_net_route_rule rule, enum leat_net_kind kind)
{
    return (unsigned)rule < LEAT_NET_RULES && fitting[kind] & BIT(rule);
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

/* Strings and numbers alternate: "text", number, "text", number, "text". */
static leat_err refuse(struct leat_text *why, leat_err err, const char *a, uint32_t first,
                       const char *b, uint32_t second, const char *c)
{
    leat_text_puts(why, a);
    leat_text_decimal(why, first);
    leat_text_puts(why, b);
    leat_text_decimal(why, second);
    leat_text_puts(why, c);
    return err;
}

static leat_err refuse_rule(enum leat_net_route_rule rule, enum leat_net_kind kind,
                            struct leat_text *why)
{
    const char *name = leat_net_rule_name(rule), *between = "";
    leat_text_puts(why, "routing ");
    leat_text_puts(why, name ? name : "unknown");
    leat_text_puts(why, " does not lead through a ");
    leat_text_puts(why, leat_net_kind_name(kind));
    leat_text_puts(why, ", expected one of ");
    for (unsigned i = 0; i < LEAT_NET_RULES; i++) {
        if (!(fitting[kind] & BIT(i))) continue;
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
        leat_text_puts(complaint->why, "routing ");
        leat_text_puts(complaint->why, leat_net_rule_name(config->rule));
        return refuse(complaint->why, LEAT_ERR_FIELD, ": there is a wire from router ", from,
                      " to ", to,
                      " and none back, expected wires in both directions (or routing table)");
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
    leat_text_puts(complaint->why, "entry ");
    leat_text_decimal(complaint->why, index + UINT64_C(1));
    refuse(complaint->why, LEAT_ERR_OK, " of the table (at router ", e->router, " to ", e->to,
           by == LEAT_NET_NONE ? " by port " : " by router ");
    leat_text_decimal(complaint->why, by == LEAT_NET_NONE ? e->port : by);
    leat_text_puts(complaint->why, ") ");
    leat_text_puts(complaint->why, what);
    return LEAT_ERR_FIELD;
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

/* The line of the table for packets at this router (NONE: the shortest route), and the next router.
 * */
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
            return refuse_entry(t, config, last, "leads in a circle, expected a way to its goal",
                                complaint);
        if (ways->distance[r] == LEAT_NET_NONE16)
            return refuse_entry(t, config, last,
                                "leads to where there is no way to its goal, expected one",
                                complaint);
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
    if (config->channels < least || config->channels > LEAT_NET_CHANNELS_MAX) {
        leat_text_decimal(why, config->channels);
        leat_text_puts(why, " virtual channels");
        if (adaptive) leat_text_puts(why, " with routing adaptive, the lowest for the escape");
        return refuse(why, LEAT_ERR_RANGE, ", expected ", least, " to ", LEAT_NET_CHANNELS_MAX, "");
    }
    if (config->entries && rule != LEAT_NET_TABLE) {
        leat_text_puts(why, "a table is given with routing ");
        leat_text_puts(why, leat_net_rule_name(rule));
        leat_text_puts(why, ", expected routing table");
        return LEAT_ERR_FIELD;
    }
    if (tables && t->routers > LEAT_NET_TABLE_ROUTERS_MAX) {
        leat_text_puts(why, "routing ");
        leat_text_puts(why, leat_net_rule_name(rule));
        return refuse(why, LEAT_ERR_RANGE, " of ", t->routers, " routers, expected at most ",
                      LEAT_NET_TABLE_ROUTERS_MAX, ": its tables grow with their square");
    }
    if (kind == LEAT_NET_GRAPH && rule != LEAT_NET_TABLE)
        return check_both_ways(t, config, &complaint);
    return rule == LEAT_NET_TABLE ? check_entries(t, config, &complaint) : LEAT_ERR_OK;
}
