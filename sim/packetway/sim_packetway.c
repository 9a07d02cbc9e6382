#include "sim_packetway.h"
#include "leat_arena.h"
#include "packetway_record.h"
#include "sim_packetway_parts.h"
#include "sim_refuse.h"
#include <string.h>

enum {
    WARM_S = 3,
    WARM_S_MAX = 60,
    PLANS_MAX = 256,          /* that a host keeps */
    PLANS_MIN = 16,           /* ... in a large network */
    TABLES_LEN_MAX = 1 << 28, /* octets of all tables of all half-routers; or an MTU for each */
    TABLE_LEN_LEAST = 96,     /* of one, in a large network: four ranges */
    PASSED_MIN = 32,          /* half-routers in RCVF of a table */
    PASSED_SLACK = 8,         /* of a detour */
    CSR_LEN_MIN = 1024,
    LARGE_PORTS = 4096, /* with more, hosts have less memory each */
    HOST_PENDING_LARGE = 16,
    WINDOW_MIN = 2,
    ROUTERS_OF_SAN_MAX = LEAT_PACKETWAY_BUDDIES_MAX + 1,
    TABLE_LEN_MAX = 1 << 18, /* of one: 4096 nodes with their names */
    /* of one node, without its description: ADDR, SRQR, and an L2RH of at least a word, ... */
    NODE_LEN_MIN = 3 * LEAT_PACKETWAY_RECORD_HEAD_LEN,
    /* ... of at most 63 octets */
    NODE_LEN_MAX = 2 * LEAT_PACKETWAY_RECORD_HEAD_LEN + 9 * LEAT_PACKETWAY_WORD_LEN,
    PENDING_MAX = 256,
    RANGES_PER_TABLE = 4, /* neighbouring addresses are merged; a mapper is not in its own table */
    NAME_CAP = 64,        /* of a name, a point and a number */
};

/* Octets of all packets, of the plans of all hosts, of the tables of all half-routers: up to here
 * each has what it has in a small network. */
#define MEMORY_LEN (UINT64_C(1) << 32)
#define PLANS_LEN  (UINT64_C(1) << 31)
#define ROUTES_LEN (UINT64_C(1) << 30)

/* ---- checking -------------------------------------------------------------------------------- */

static leat_err check_numbers(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    enum { LEAST = LEAT_SIM_PACKETWAY_PS_MIN };
    const leat_time most = LEAT_PACKETWAY_SECOND;
    const struct leat_text_range row[] = {
        { "SANs", c->sans, 1, LEAT_SIM_PACKETWAY_SANS_MAX },
        { "routers", c->routers, 0, LEAT_SIM_PACKETWAY_ROUTERS_MAX },
        { "hosts with names", c->homes, 0, LEAT_SIM_PACKETWAY_HOMES_MAX },
        { "faults", c->faults, 0, LEAT_SIM_PACKETWAY_FAULTS_MAX },
        { "packets of a buffer", c->buffer, 1, LEAT_SIM_PACKETWAY_BUFFER_MAX },
        { "messages in flight", c->messages_max, 1, LEAT_SIM_PACKETWAY_MESSAGES_MAX },
        { "picoseconds", c->host_ps, LEAST, most },
        { "picoseconds", c->planned_ps, LEAST, most },
        { "picoseconds", c->address_ps, LEAST, most },
        { "picoseconds", c->link_ps, LEAST, most },
    };
    const leat_err bad = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    if (bad) return bad;
    return LEAT_ERR_OK;
}

/* The largest packet that a SAN carries without segmentation. */
static uint32_t mtu_most(const struct leat_sim_packetway_san *s)
{
    const uint32_t most = s->native.words_max;
    return most && most < LEAT_SIM_PACKETWAY_MTU_MAX ? most : LEAT_SIM_PACKETWAY_MTU_MAX;
}

static leat_err check_sans(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    struct leat_packetway_block blocks[LEAT_SIM_PACKETWAY_SANS_MAX];
    struct leat_packetway_bias_map map = { .blocks = blocks, .cap = LEAT_SIM_PACKETWAY_SANS_MAX };
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < c->sans; i++) {
        const struct leat_sim_packetway_san *s = &c->san[i];
        const struct leat_packetway_block block = { s->bias, s->net->ports };
        const struct leat_text_range row[] = {
            { "length of a name", strlen(s->name), 1, LEAT_SIM_PACKETWAY_NAME_LEN_MAX },
            { "words of an MTU", s->mtu_words, LEAT_SIM_PACKETWAY_MTU_MIN, mtu_most(s) },
        };
        leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
        if (err) return err;
        err = leat_packetway_bias_add(&map, &block, NULL);
        if (err)
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   err == LEAT_ERR_DUPLICATE
                                       ? "%s: its addresses overlap with another SAN's"
                                       : "%s: addresses above 0x7ffffd",
                                   s->name);
        nodes += s->net->ports;
    }
    if (nodes > LEAT_SIM_PACKETWAY_NODES_MAX)
        return leat_text_out_of_range(why, "ports of all SANs", nodes, 1,
                                      LEAT_SIM_PACKETWAY_NODES_MAX);
    return LEAT_ERR_OK;
}

/* How often a port has a half-router. */
static uint32_t count_ends(const struct leat_sim_packetway_config *c, uint32_t san, uint32_t port)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < c->routers; r++)
        for (uint32_t i = 0; i < c->router[r].ends; i++)
            count += c->router[r].end[i].san == san && c->router[r].end[i].port == port;
    return count;
}

static leat_err check_crowds(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    uint32_t count[LEAT_SIM_PACKETWAY_SANS_MAX] = { 0 };
    for (uint32_t r = 0; r < c->routers; r++)
        for (uint32_t i = 0; i < c->router[r].ends; i++) {
            const uint32_t san = c->router[r].end[i].san;
            if (++count[san] > ROUTERS_OF_SAN_MAX)
                return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                       "%s: more than %u half-routers, expected at most so many",
                                       c->san[san].name, ROUTERS_OF_SAN_MAX);
        }
    return LEAT_ERR_OK;
}

static leat_err check_end(const struct leat_sim_packetway_config *c,
                          const struct leat_sim_packetway_router *r, uint32_t index,
                          struct leat_text *why)
{
    const struct leat_sim_packetway_end *end = &r->end[index];
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    if (end->san >= c->sans || end->port >= c->san[end->san].net->ports)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%s: no such port of a SAN", r->name);
    for (uint32_t i = 0; i < index; i++)
        if (r->end[i].san == end->san)
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "%s: twice at one SAN, expected different ones", r->name);
    if (count_ends(c, end->san, end->port) > 1)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%s: another half-router has the same port",
                               r->name);
    const struct leat_sim_packetway_native *native = &c->san[end->san].native;
    for (uint32_t port = 0; port < native->ports; port++)
        if (port != end->port && !leat_sim_packetway_route(native, end->port, port, route))
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "%s: a native route has more than 63 turns, or one above 255",
                                   c->san[end->san].name);
    return LEAT_ERR_OK;
}

static leat_err check_routers(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    for (uint32_t i = 0; i < c->routers; i++) {
        const struct leat_sim_packetway_router *r = &c->router[i];
        const struct leat_text_range row[] = {
            { "length of a name", strlen(r->name), 1, LEAT_SIM_PACKETWAY_NAME_LEN_MAX },
            { "half-routers of a router", r->ends, 2, LEAT_SIM_PACKETWAY_ENDS_MAX },
        };
        leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
        for (uint32_t k = 0; !err && k < r->ends; k++)
            err = check_end(c, r, k, why);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

/* ---- hosts and faults ------------------------------------------------------------------------ */

/* A port of a SAN, without a half-router. */
static bool is_host(const struct leat_sim_packetway_config *c,
                    const struct leat_sim_packetway_end *end)
{
    return end->san < c->sans && end->port < c->san[end->san].net->ports &&
           !count_ends(c, end->san, end->port);
}

/* How many ports of hosts with names are this one. */
static uint32_t count_homes(const struct leat_sim_packetway_config *c,
                            const struct leat_sim_packetway_end *end)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->homes; i++)
        for (uint32_t k = 0; k < c->home[i].ends; k++)
            count += c->home[i].end[k].san == end->san && c->home[i].end[k].port == end->port;
    return count;
}

static leat_err check_traits(const struct leat_sim_packetway_home *h, struct leat_text *why)
{
    for (uint32_t i = 0; i < h->capabilities; i++)
        if (!h->capability[i] || h->capability[i] == LEAT_PACKETWAY_CC_ROUTER)
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "%s: capability %u, expected 1 to 255 and not 2 (router)",
                                   h->name, h->capability[i]);
    for (uint32_t i = 0; i < h->logicals; i++)
        if (leat_packetway_class_of(h->logical[i]) != LEAT_PACKETWAY_CLASS_LOGICAL)
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "%s: a logical address that is not 0xe00000 to 0xefffff",
                                   h->name);
    return LEAT_ERR_OK;
}

static leat_err check_homes(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    for (uint32_t i = 0; i < c->homes; i++) {
        const struct leat_sim_packetway_home *h = &c->home[i];
        const struct leat_text_range row[] = {
            { "length of a name", strlen(h->name), 1, LEAT_SIM_PACKETWAY_NAME_LEN_MAX },
            { "ports of a host", h->ends, 1, LEAT_SIM_PACKETWAY_ENDS_MAX },
            { "capabilities", h->capabilities, 0, LEAT_SIM_PACKETWAY_TRAITS_MAX },
            { "logical addresses", h->logicals, 0, LEAT_SIM_PACKETWAY_TRAITS_MAX },
        };
        leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
        for (uint32_t k = 0; !err && k < h->ends; k++)
            if (!is_host(c, &h->end[k]) || count_homes(c, &h->end[k]) != 1)
                err = leat_sim_refuse(why, LEAT_ERR_RANGE,
                                      "%s: no port of a SAN, that of a half-router, or another "
                                      "host's",
                                      h->name);
        if (!err) err = check_traits(h, why);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

static leat_err check_faults(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    for (uint32_t i = 0; i < c->faults; i++) {
        const struct leat_sim_packetway_fault *f = &c->fault[i];
        const bool of_port = f->kind == LEAT_SIM_PACKETWAY_PORT_DOWN;
        if (of_port ? !is_host(c, &f->port) : f->router >= c->routers)
            return leat_sim_refuse(
                why, LEAT_ERR_RANGE,
                of_port ? "a fault of a port that is no host's, expected one without a half-router"
                        : "a fault of a router that is not there");
    }
    return LEAT_ERR_OK;
}

uint32_t leat_sim_packetway_ports(const struct leat_sim_packetway_config *c)
{
    uint32_t ports = 0;
    for (uint32_t i = 0; i < c->sans; i++)
        ports += c->san[i].net->ports;
    for (uint32_t i = 0; i < c->routers; i++)
        ports -= c->router[i].ends;
    return ports;
}

void leat_sim_packetway_measure_ways(const struct leat_sim_packetway_config *c, uint32_t san,
                                     uint32_t *routers)
{
    bool more = true;
    for (uint32_t i = 0; i < c->sans; i++)
        routers[i] = i == san ? 0 : UINT32_MAX;
    for (uint32_t far = 0; more; far++) {
        more = false;
        for (uint32_t i = 0; i < c->routers; i++) {
            const struct leat_sim_packetway_router *r = &c->router[i];
            bool reached = false;
            for (uint32_t k = 0; k < r->ends; k++)
                reached |= routers[r->end[k].san] == far;
            for (uint32_t k = 0; reached && k < r->ends; k++)
                if (routers[r->end[k].san] == UINT32_MAX) {
                    routers[r->end[k].san] = far + 1;
                    more = true;
                }
        }
    }
}

/* A table names the two half-routers of every router that it has passed, in RCVF. */
static leat_err check_ways(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    uint32_t routers[LEAT_SIM_PACKETWAY_SANS_MAX];
    for (uint32_t i = 0; i < c->sans; i++) {
        leat_sim_packetway_measure_ways(c, i, routers);
        for (uint32_t k = 0; k < i; k++) {
            if (routers[k] == UINT32_MAX || routers[k] <= LEAT_SIM_PACKETWAY_WAY_MAX) continue;
            return leat_sim_refuse(
                why, LEAT_ERR_RANGE,
                "from %s to %s there are %u routers in a row, expected at most %u: a routing table "
                "(RTBL) goes no further",
                c->san[k].name, c->san[i].name, routers[k], LEAT_SIM_PACKETWAY_WAY_MAX);
        }
    }
    return LEAT_ERR_OK;
}

leat_err leat_sim_packetway_check(const struct leat_sim_packetway_config *c, struct leat_text *why)
{
    leat_err err = check_numbers(c, why);
    if (!err) err = check_sans(c, why);
    if (!err) err = check_routers(c, why);
    if (!err) err = check_crowds(c, why);
    if (!err) err = check_ways(c, why);
    if (!err) err = check_homes(c, why);
    if (!err) err = check_faults(c, why);
    if (!err && !leat_sim_packetway_ports(c))
        err = leat_sim_refuse(why, LEAT_ERR_RANGE,
                              "no host, expected a port without a half-router");
    return err;
}

/* ---- engines --------------------------------------------------------------------------------- */

/* "ring.3", "west", "crunch" */
static size_t put_name(const struct leat_sim_packetway *p, const struct leat_sim_packetway_node *n,
                       char out[NAME_CAP])
{
    struct leat_text text;
    leat_text_init(&text, out, NAME_CAP, NULL, NULL);
    if (n->is_router) {
        leat_text_puts(&text, p->config.router[n->router].name);
    } else if (n->home) {
        leat_text_puts(&text, p->config.home[n->home - 1].name);
    } else {
        leat_text_puts(&text, p->config.san[n->san].name);
        leat_text_putc(&text, '.');
        leat_text_decimal(&text, n->port);
    }
    return text.len;
}

/* CAPAs and LADR of a host with a name. */
static void put_traits(const struct leat_sim_packetway_home *h, struct leat_packetway_build *build)
{
    struct leat_packetway_address logical[LEAT_SIM_PACKETWAY_TRAITS_MAX];
    if (!h->capabilities) leat_packetway_build_capability(build, LEAT_PACKETWAY_CC_NODE, NULL, 0);
    for (uint32_t i = 0; i < h->capabilities; i++)
        leat_packetway_build_capability(build, h->capability[i], NULL, 0);
    for (uint32_t i = 0; i < h->logicals; i++)
        logical[i] = leat_packetway_single(h->logical[i]);
    if (h->logicals) leat_packetway_build_logical(build, logical, h->logicals);
}

size_t leat_sim_packetway_about(const struct leat_sim_packetway *p,
                                const struct leat_sim_packetway_node *n,
                                uint8_t out[LEAT_PACKETWAY_ABOUT_LEN_MAX])
{
    char name[NAME_CAP];
    uint8_t sans[4 * LEAT_SIM_PACKETWAY_ENDS_MAX];
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, out, LEAT_PACKETWAY_ABOUT_LEN_MAX);
    leat_packetway_build_name(&build, (const uint8_t *)name, put_name(p, n, name));
    if (!n->is_router) {
        static const struct leat_sim_packetway_home plain;
        put_traits(n->home ? &p->config.home[n->home - 1] : &plain, &build);
        return build.len;
    }
    const struct leat_sim_packetway_router *r = &p->config.router[n->router];
    for (uint32_t i = 0; i < r->ends; i++)
        leat_put_be32(sans + (size_t)4 * i, UINT32_C(1) << 24 | p->config.san[r->end[i].san].bias);
    leat_packetway_build_capability(&build, LEAT_PACKETWAY_CC_ROUTER, sans, (size_t)4 * r->ends);
    return build.len;
}

/* Tables that a half-router keeps. */
static uint32_t tables_max(const struct leat_sim_packetway *p)
{
    return LEAT_PACKETWAY_TABLES_PER_SAN * p->config.sans;
}

uint32_t leat_sim_packetway_tables(const struct leat_sim_packetway *p)
{
    return tables_max(p);
}

/* Tables of all half-routers. */
static uint64_t all_tables(const struct leat_sim_packetway *p)
{
    return (uint64_t)(p->nodes - p->base.ports) * tables_max(p);
}

static uint32_t passed_max(const struct leat_sim_packetway *p)
{
    const uint32_t passed = 2 * p->far_most + PASSED_SLACK;
    if (passed < PASSED_MIN) return PASSED_MIN;
    return passed < LEAT_PACKETWAY_RCVF_MAX ? passed : LEAT_PACKETWAY_RCVF_MAX;
}

/* Octets of a route to any node: of the longest one, and a little more for detours. */
static uint32_t route_len(const struct leat_sim_packetway *p)
{
    const uint32_t len = (p->far_most + PASSED_SLACK / 2) * p->hop_len_max;
    return len < LEAT_PACKETWAY_CSR_LEN_MAX ? len : LEAT_PACKETWAY_CSR_LEN_MAX;
}

static uint32_t csr_len_max(const struct leat_sim_packetway *p)
{
    const uint32_t len = route_len(p);
    const bool is_large = all_tables(p) * CSR_LEN_MIN > ROUTES_LEN;
    return len < CSR_LEN_MIN && !is_large ? CSR_LEN_MIN : len;
}

static struct leat_packetway_router_config router_config(const struct leat_sim_packetway *p,
                                                         const struct leat_sim_packetway_node *n)
{
    const struct leat_sim_packetway_san *san = &p->config.san[n->san];
    struct leat_packetway_router_config c = leat_packetway_router_defaults();
    c.address = n->address;
    c.block = (struct leat_packetway_block){ san->bias, san->net->ports };
    c.mtu_words = san->mtu_words;
    c.nodes_max = san->net->ports;
    c.tables_max = tables_max(p);
    c.table_len_max = p->table_len_max;
    c.passed_max = passed_max(p);
    c.csr_len_max = csr_len_max(p);
    c.known_max = p->known_max + san->net->ports;
    if (c.known_max > p->nodes) c.known_max = p->nodes;
    c.known_max += LEAT_PACKETWAY_TWINS_MAX + 1;
    c.ranges_max = RANGES_PER_TABLE * c.tables_max;
    c.pending_max = PENDING_MAX;
    return c;
}

static uint32_t plans_max(const struct leat_sim_packetway *p)
{
    const uint64_t one = sizeof(struct leat_packetway_plan) +
                         (uint64_t)LEAT_PACKETWAY_PLAN_ROUTES_MAX * route_len(p);
    const uint32_t all = (p->base.ports + 3) / 4 * 4;
    uint32_t most = PLANS_MAX;
    while (most > PLANS_MIN && most * one * p->base.ports > PLANS_LEN)
        most /= 2;
    return all < most ? all : most;
}

static struct leat_packetway_host_config host_config(const struct leat_sim_packetway *p,
                                                     const struct leat_sim_packetway_node *n)
{
    const struct leat_sim_packetway_san *san = &p->config.san[n->san];
    const bool is_large = p->base.ports > LARGE_PORTS;
    return (struct leat_packetway_host_config){
        .address = n->address,
        .block = { san->bias, san->net->ports },
        .mtu_words = san->mtu_words,
        .level_c = true,
        .plans_max = plans_max(p),
        .pending_max = is_large ? HOST_PENDING_LARGE : PENDING_MAX,
        .route_len_max = route_len(p),
    };
}

static size_t engine_len(const struct leat_sim_packetway *p,
                         const struct leat_sim_packetway_node *n)
{
    if (!n->is_router) {
        const struct leat_packetway_host_config c = host_config(p, n);
        return leat_packetway_host_footprint(&c);
    }
    const struct leat_packetway_router_config c = router_config(p, n);
    return leat_packetway_router_footprint(&c);
}

void leat_sim_packetway_start_engine(struct leat_sim_packetway *p, uint32_t node)
{
    struct leat_sim_packetway_node *n = &p->node[node];
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    const size_t about_len = leat_sim_packetway_about(p, n, about);
    if (n->is_router) {
        struct leat_packetway_router_config c = router_config(p, n);
        c.about = about;
        c.about_len = about_len;
        leat_sim_must(!leat_packetway_router_init(&c, n->memory, n->memory_len,
                                                  leat_sim_packetway_clock(p), &n->as_router));
    } else {
        struct leat_packetway_host_config c = host_config(p, n);
        c.about = about;
        c.about_len = about_len;
        leat_sim_must(!leat_packetway_host_init(&c, n->memory, n->memory_len, &n->as_host));
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The half-routers of a SAN. */
struct crowd {
    uint32_t count;
    struct {
        uint32_t port, router, end;
    } at[ROUTERS_OF_SAN_MAX];
};

static struct crowd crowd_of(const struct leat_sim_packetway_config *c, uint32_t san)
{
    struct crowd crowd = { 0 };
    for (uint32_t r = 0; r < c->routers; r++)
        for (uint32_t i = 0; i < c->router[r].ends; i++) {
            const struct leat_sim_packetway_end *end = &c->router[r].end[i];
            if (end->san != san || crowd.count == ROUTERS_OF_SAN_MAX) continue;
            crowd.at[crowd.count].port = end->port;
            crowd.at[crowd.count].router = r;
            crowd.at[crowd.count++].end = i;
        }
    return crowd;
}

/* The host with a name at this port, + 1; 0: there is none. */
static uint32_t home_at(const struct leat_sim_packetway_config *c, uint32_t san, uint32_t port)
{
    for (uint32_t i = 0; i < c->homes; i++)
        for (uint32_t k = 0; k < c->home[i].ends; k++)
            if (c->home[i].end[k].san == san && c->home[i].end[k].port == port) return i + 1;
    return 0;
}

/* A node without its memory. */
static struct leat_sim_packetway_node node_of(const struct leat_sim_packetway_config *c,
                                              const struct crowd *crowd, uint32_t san,
                                              uint32_t port)
{
    struct leat_sim_packetway_node n = { .san = san,
                                         .port = port,
                                         .address = c->san[san].bias + 1 + port,
                                         .home = home_at(c, san, port) };
    for (uint32_t i = 0; i < crowd->count; i++)
        if (crowd->at[i].port == port) {
            n.is_router = true;
            n.router = crowd->at[i].router;
            n.end = crowd->at[i].end;
        }
    return n;
}

/* Octets of a table with all nodes of a SAN, where one without its description has so many. */
static uint32_t table_len(const struct leat_sim_packetway *p, uint32_t san, uint32_t node_len)
{
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    const struct crowd crowd = crowd_of(&p->config, san);
    size_t len = 0;
    for (uint32_t i = 0; i < p->config.san[san].net->ports; i++) {
        const struct leat_sim_packetway_node n = node_of(&p->config, &crowd, san, i);
        len += node_len + leat_sim_packetway_about(p, &n, about);
    }
    return len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
}

/* Nodes that tables may hold one by one: half-routers, and all of SANs whose tables are short. */
static void measure_known(struct leat_sim_packetway *p)
{
    p->known_max = p->nodes - p->base.ports;
    for (uint32_t i = 0; i < p->config.sans; i++)
        if (table_len(p, i, NODE_LEN_MIN) <= p->table_len_max)
            p->known_max += p->config.san[i].net->ports;
}

/*
 * Half-routers keep and send every node of every SAN, up to a size; larger tables are sent and kept
 * as ranges of addresses. Over a SAN a table is limited by its MTU, over the link between twins by
 * a size that all of them support.
 */
static void measure_tables(struct leat_sim_packetway *p)
{
    const uint64_t tables = all_tables(p);
    const bool is_large = tables * p->mtu_most * LEAT_PACKETWAY_WORD_LEN > ROUTES_LEN;
    uint32_t most = tables ? (uint32_t)(TABLES_LEN_MAX / tables / LEAT_PACKETWAY_WORD_LEN) : 0;
    if (most < p->mtu_most && !is_large) most = p->mtu_most;
    most *= LEAT_PACKETWAY_WORD_LEN;
    if (most < TABLE_LEN_LEAST) most = TABLE_LEN_LEAST;
    if (most > TABLE_LEN_MAX) most = TABLE_LEN_MAX;
    p->table_len_max = LEAT_PACKETWAY_TABLE_LEN_MIN;
    for (uint32_t i = 0; i < p->config.sans; i++) {
        const uint32_t len = table_len(p, i, NODE_LEN_MAX);
        if (len > p->table_len_max) p->table_len_max = len;
    }
    if (p->table_len_max > most) p->table_len_max = most;
    p->link_words = (p->table_len_max + LEAT_PACKETWAY_TABLE_HEAD_LEN_MAX +
                     LEAT_PACKETWAY_MESSAGE_LEN_MIN) /
                    LEAT_PACKETWAY_WORD_LEN;
    if (p->link_words < p->mtu_most) p->link_words = p->mtu_most;
    measure_known(p);
}

/* Packets of each host in flight: fewer, if all of them would need too much memory. */
static uint32_t window_of(const struct leat_sim_packetway *p)
{
    const uint64_t one = (uint64_t)p->base.ports * p->mtu_most * LEAT_PACKETWAY_WORD_LEN;
    uint32_t window = LEAT_SIM_PACKETWAY_WINDOW;
    while (p->base.ports > LARGE_PORTS && window > WINDOW_MIN &&
           (2 * window + LEAT_SIM_PACKETWAY_CONTROL) * one > MEMORY_LEN)
        window--;
    return window;
}

/* The longest ways, and the longest native routes from half-routers. */
static void measure_routes(struct leat_sim_packetway *p)
{
    const struct leat_sim_packetway_config *c = &p->config;
    uint32_t routers[LEAT_SIM_PACKETWAY_SANS_MAX];
    uint8_t route[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX];
    uint32_t longest = 1;
    bool has_names = false;
    for (uint32_t i = 0; i < c->sans; i++) {
        leat_sim_packetway_measure_ways(c, i, routers);
        for (uint32_t k = 0; k < i; k++)
            if (routers[k] != UINT32_MAX && routers[k] > p->far_most) p->far_most = routers[k];
    }
    for (uint32_t i = 0; i < c->routers; i++) {
        has_names |= c->router[i].ends > 2;
        for (uint32_t k = 0; k < c->router[i].ends; k++) {
            const struct leat_sim_packetway_end *end = &c->router[i].end[k];
            const struct leat_sim_packetway_native *native = &c->san[end->san].native;
            for (uint32_t port = 0; port < native->ports; port++) {
                const uint32_t len = leat_sim_packetway_route(native, end->port, port, route);
                if (len > longest) longest = len;
            }
        }
    }
    const uint32_t l2rhs = (longest + 9) / LEAT_PACKETWAY_WORD_LEN + has_names;
    p->hop_len_max = l2rhs * LEAT_PACKETWAY_WORD_LEN;
}

static void measure(struct leat_sim_packetway *p, const struct leat_sim_packetway_config *c)
{
    *p = (struct leat_sim_packetway){ .config = *c, .base.ports = leat_sim_packetway_ports(c) };
    p->mtu_least = UINT32_MAX;
    for (uint32_t i = 0; i < c->sans; i++) {
        const uint32_t mtu = c->san[i].mtu_words;
        p->nodes += c->san[i].net->ports;
        if (mtu < p->mtu_least) p->mtu_least = mtu;
        if (mtu > p->mtu_most) p->mtu_most = mtu;
    }
    p->window = window_of(p);
    const uint32_t data = p->base.ports * p->window;
    p->cuts_max = c->cut_through ? data : 0;
    p->copies_max = p->nodes < LEAT_SIM_PACKETWAY_COPIES_MAX ? p->nodes
                                                             : LEAT_SIM_PACKETWAY_COPIES_MAX;
    p->tables_at = data + p->cuts_max + p->copies_max + p->base.ports * LEAT_SIM_PACKETWAY_CONTROL;
    p->packets = p->tables_at + (p->nodes - p->base.ports) * LEAT_SIM_PACKETWAY_CONTROL;
    measure_routes(p);
    measure_tables(p);
    leat_sim_packetway_measure_means(p);
}

/* As many as if every router had all the half-routers that it may have. */
static size_t count_links(const struct leat_sim_packetway_config *c)
{
    return (size_t)c->routers * LEAT_SIM_PACKETWAY_ENDS_MAX * LEAT_SIM_PACKETWAY_ENDS_MAX;
}

static void lay_out(struct leat_sim_packetway *p, struct leat_arena *a)
{
    const struct leat_sim_packetway_config *c = &p->config;
    const size_t plans = (size_t)4 * p->packets + c->messages_max + (size_t)3 * p->nodes +
                         (size_t)2 * c->faults + leat_sim_packetway_collect_plans(p);
    p->san = leat_arena_lay(a, c->sans, sizeof *p->san);
    p->node = leat_arena_lay(a, p->nodes, sizeof *p->node);
    p->host = leat_arena_lay(a, p->base.ports, sizeof *p->host);
    p->link = leat_arena_lay(a, count_links(c), sizeof *p->link);
    p->packet = leat_arena_lay(a, p->packets, sizeof *p->packet);
    p->entry = leat_sim_post_lay(&p->post, a, c->messages_max, sizeof *p->entry, plans);
    p->scratch = leat_arena_lay(a, p->mtu_most, LEAT_PACKETWAY_WORD_LEN);
    p->message = leat_arena_lay(a, 1, sizeof *p->message);
    p->event = leat_arena_lay(a, 1, sizeof *p->event);
    leat_sim_packetway_collect_lay(p, a);
}

static uint32_t queue_capacity(const struct leat_sim_packetway *p)
{
    const uint32_t all = p->base.ports * p->window;
    return p->config.contention_free ? all : p->config.buffer;
}

static void lay_node(const struct leat_sim_packetway *p, struct leat_arena *a,
                     struct leat_sim_packetway_node *n)
{
    n->memory_len = engine_len(p, n);
    n->memory = leat_arena_lay(a, 1, n->memory_len);
    if (n->is_router)
        n->queue_memory = leat_arena_lay(a, 1, leat_packetway_queue_footprint(queue_capacity(p)));
}

/* Octets of all packets before the index-th. Half-routers' own may be tables. */
static size_t packets_len(const struct leat_sim_packetway *p, uint32_t index)
{
    const uint32_t small = index < p->tables_at ? index : p->tables_at;
    return LEAT_PACKETWAY_WORD_LEN *
           ((size_t)small * p->mtu_most + (size_t)(index - small) * p->link_words);
}

static uint8_t *lay_packets(const struct leat_sim_packetway *p, struct leat_arena *a)
{
    return leat_arena_lay(a, 1, packets_len(p, p->packets));
}

size_t leat_sim_packetway_footprint(const struct leat_sim_packetway_config *c)
{
    struct leat_sim_packetway measured;
    struct leat_arena arena = { 0 };
    measure(&measured, c);
    lay_out(&measured, &arena);
    for (uint32_t s = 0; s < c->sans; s++) {
        const struct crowd crowd = crowd_of(c, s);
        for (uint32_t i = 0; i < c->san[s].net->ports; i++) {
            struct leat_sim_packetway_node n = node_of(c, &crowd, s, i);
            lay_node(&measured, &arena, &n);
        }
    }
    lay_packets(&measured, &arena);
    return arena.used;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static void make_nodes(struct leat_sim_packetway *p, struct leat_arena *arena)
{
    const struct leat_sim_packetway_config *c = &p->config;
    const uint32_t capacity = queue_capacity(p);
    uint32_t node = 0, host = 0;
    for (uint32_t s = 0; s < c->sans; s++) {
        const struct crowd crowd = crowd_of(c, s);
        p->san[s] = (struct leat_sim_packetway_san_state){ p, s, node };
        for (uint32_t i = 0; i < c->san[s].net->ports; i++, node++) {
            struct leat_sim_packetway_node *n = &p->node[node];
            *n = node_of(c, &crowd, s, i);
            lay_node(p, arena, n);
            n->host = host;
            if (!n->is_router) p->host[host++] = node;
            if (n->is_router)
                leat_packetway_queue_init(&n->out, capacity, n->queue_memory,
                                          leat_packetway_queue_footprint(capacity));
            leat_sim_packetway_start_engine(p, node);
        }
    }
}

static void make_packets(struct leat_sim_packetway *p, uint8_t *octets)
{
    for (uint32_t i = p->packets; i--;) {
        p->packet[i].octets = octets + packets_len(p, i);
        leat_sim_packetway_put_back(p, i);
    }
}

/* Does a half-router know where a node is? */
static bool knows(const struct leat_sim_packetway_node *router,
                  const struct leat_sim_packetway_node *n)
{
    struct leat_packetway_decision d = { 0 };
    leat_packetway_by_address(leat_packetway_router_fib(router->as_router),
                              LEAT_PACKETWAY_FROM_HOST, n->address, &d);
    return d.verdict != LEAT_PACKETWAY_REFUSE;
}

/* A table comes as a whole or not at all, so in a large network the first and the last port of a
 * SAN stand for all of them. */
static uint32_t probe_step(const struct leat_sim_packetway *p, uint32_t san)
{
    const uint32_t ports = p->config.san[san].net->ports;
    return p->nodes <= LARGE_PORTS || ports == 1 ? 1 : ports - 1;
}

/* The first node that a half-router does not know, though routers lead to its SAN. */
static bool find_unknown(const struct leat_sim_packetway *p,
                         const struct leat_sim_packetway_node *router, uint32_t *node)
{
    uint32_t routers[LEAT_SIM_PACKETWAY_SANS_MAX];
    leat_sim_packetway_measure_ways(&p->config, router->san, routers);
    for (uint32_t san = 0; san < p->config.sans; san++) {
        if (routers[san] == UINT32_MAX) continue;
        const uint32_t step = probe_step(p, san), end = p->config.san[san].net->ports;
        for (uint32_t port = 0; port < end; port += step) {
            *node = p->san[san].first + port;
            if (!knows(router, &p->node[*node])) return true;
        }
    }
    return false;
}

/* The first half-router that does not know a node that routers lead to, and that node. */
static bool find_gap(const struct leat_sim_packetway *p, uint32_t *router, uint32_t *node)
{
    for (*router = 0; *router < p->nodes; ++*router)
        if (p->node[*router].is_router && find_unknown(p, &p->node[*router], node)) return true;
    return false;
}

/* Registrations and tables are exchanged; no time passes. */
static void warm_up(struct leat_sim_packetway *p)
{
    uint32_t router, node;
    p->warming = true;
    for (uint32_t i = 0; i < p->nodes; i++)
        leat_sim_packetway_map(p, i);
    p->registering = true; /* so that each half-router sends one table, with all names */
    for (uint32_t i = 0; i < p->nodes; i++)
        leat_sim_packetway_pump(p, i);
    leat_sim_packetway_carry_out_now(p);
    p->registering = false;
    for (uint32_t i = 0; i < p->nodes; i++)
        leat_sim_packetway_pump(p, i);
    leat_sim_packetway_carry_out_now(p);
    /* The rate of tables is limited, so this may take several seconds. */
    for (uint32_t i = 0; i < WARM_S || (i < WARM_S_MAX && find_gap(p, &router, &node)); i++) {
        p->ahead_ps += LEAT_PACKETWAY_SECOND;
        leat_sim_packetway_tick(p);
        leat_sim_packetway_carry_out_now(p);
    }
    p->warming = false;
    p->counts = (struct leat_sim_packetway_counts){ 0 };
    memset(p->link, 0, count_links(&p->config) * sizeof *p->link);
}

void leat_sim_packetway_init(struct leat_sim_packetway *p,
                             const struct leat_sim_packetway_config *c, void *memory)
{
    static const struct leat_port_ops ops = { .send = leat_sim_packetway_send,
                                              .run = leat_sim_packetway_run };
    static const struct leat_port_ops ops_with_means = { .send = leat_sim_packetway_send,
                                                         .run = leat_sim_packetway_run,
                                                         .group = leat_sim_packetway_group,
                                                         .disband = leat_sim_packetway_disband,
                                                         .collect = leat_sim_packetway_collect,
                                                         .place = leat_sim_packetway_place };
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    leat_time latency = LEAT_NEVER;
    measure(p, c);
    lay_out(p, &arena);
    make_nodes(p, &arena);
    make_packets(p, lay_packets(p, &arena));
    p->step_ps = leat_smaller(leat_smaller(c->host_ps, c->planned_ps),
                              leat_smaller(c->address_ps, c->link_ps));
    warm_up(p);
    leat_sim_packetway_observe(p);
    for (uint32_t i = 0; i < c->faults; i++) {
        leat_sim_packetway_plan(p, c->fault[i].from, 0, i, PACKETWAY_BEGINS);
        if (c->fault[i].to != LEAT_NEVER)
            leat_sim_packetway_plan(p, c->fault[i].to, 0, i, PACKETWAY_ENDS);
    }
    for (uint32_t i = 0; i < c->sans; i++)
        latency = leat_smaller(latency, c->san[i].net->latency);
    leat_sim_post_init(&p->post, &p->base);
    if (p->collect.tree) leat_sim_collect_init(&p->collect.base, &p->base);
    p->base.ops = p->base.means ? &ops_with_means : &ops;
    p->base.latency = latency + c->host_ps;
}

leat_err leat_sim_packetway_reach(const struct leat_sim_packetway *p, struct leat_text *why)
{
    char name[NAME_CAP];
    uint32_t router, node;
    if (!find_gap(p, &router, &node)) return LEAT_ERR_OK;
    const struct leat_sim_packetway_node *r = &p->node[router], *n = &p->node[node];
    return leat_sim_refuse(
        why, LEAT_ERR_RANGE,
        "%.*s at %s.%u knows no route to %s.%u: a routing table did not get there; expected larger "
        "MTUs on the route, or fewer routers",
        (int)put_name(p, r, name), name, p->config.san[r->san].name, r->port,
        p->config.san[n->san].name, n->port);
}

/* ---- inspection ------------------------------------------------------------------------------ */

uint32_t leat_sim_packetway_address(const struct leat_sim_packetway *p, uint32_t port)
{
    return p->node[p->host[port]].address;
}

uint32_t leat_sim_packetway_san_of(const struct leat_sim_packetway *p, uint32_t port)
{
    return p->node[p->host[port]].san;
}

bool leat_sim_packetway_find(const struct leat_sim_packetway *p, uint32_t address, uint32_t *port)
{
    for (uint32_t i = 0; i < p->base.ports; i++)
        if (leat_sim_packetway_address(p, i) == address) {
            *port = i;
            return true;
        }
    return false;
}

bool leat_sim_packetway_port_at(const struct leat_sim_packetway *p,
                                const struct leat_sim_packetway_end *end, uint32_t *port)
{
    if (end->san >= p->config.sans || end->port >= p->config.san[end->san].net->ports) return false;
    const struct leat_sim_packetway_node *n = &p->node[packetway_node_at(p, end->san, end->port)];
    *port = n->host;
    return !n->is_router;
}

struct leat_packetway_router *leat_sim_packetway_engine(const struct leat_sim_packetway *p,
                                                        uint32_t router, uint32_t end,
                                                        uint32_t *address)
{
    const struct leat_sim_packetway_end *e = &p->config.router[router].end[end];
    const struct leat_sim_packetway_node *n = &p->node[packetway_node_at(p, e->san, e->port)];
    if (address) *address = n->address;
    return n->as_router;
}

struct leat_packetway_host *leat_sim_packetway_host(const struct leat_sim_packetway *p,
                                                    uint32_t port)
{
    return p->node[p->host[port]].as_host;
}

bool leat_sim_packetway_is_up(const struct leat_sim_packetway *p, uint32_t router)
{
    const struct leat_sim_packetway_end *e = &p->config.router[router].end[0];
    return !p->node[packetway_node_at(p, e->san, e->port)].dead;
}

void leat_sim_packetway_go(struct leat_sim_packetway *p, uint32_t port)
{
    leat_sim_packetway_pump(p, p->host[port]);
}
