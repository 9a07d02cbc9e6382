/* Ways of simulated messages: which port of the sender, which address of the receiver. */
#include "leat_tree.h"
#include "pktway_mail.h"
#include "pktway_shared.h"
#include <string.h>

#define TELL_PS  UINT64_C(50000000000) /* for an answer of a half-router that is there */
#define MORE_PS  UINT64_C(2000000000)  /* an answer may come in pieces */
#define PLANS_PS UINT64_C(5000000000)
#define STEP_PS  UINT64_C(10000000)

enum { RANK_NATIVE, RANK_ROUTES, RANK_ADDRESS = 1 << 17, RANK_UNKNOWN, RANK_NONE };

/* ---- words ---------------------------------------------------------------------------------- */

static const struct leat_fabric_host *find_host(const struct pktway_query *a, const char *name)
{
    for (uint32_t i = 0; i < a->network->design.hosts; i++)
        if (strcmp(a->network->design.host[i].name, name) == 0) return &a->network->design.host[i];
    return NULL;
}

uint32_t pktway_ports_of(const struct pktway_query *a, const char *word,
                         uint32_t port[LEAT_SIM_PACKETWAY_ENDS_MAX])
{
    const struct leat_fabric_host *host = find_host(a, word);
    uint32_t address, count = 0;
    if (!host)
        return pktway_node_read(a, word, &address) &&
               leat_sim_packetway_find(&a->network->net, address, port);
    while (count < host->home.ends &&
           leat_sim_packetway_port_at(&a->network->net, &host->home.end[count], &port[count]))
        count++;
    return count;
}

static bool is_wanted(const char *word)
{
    return strchr(word, '=') != NULL;
}

bool pktway_way_check(const struct pktway_query *a, const char *place, const char *from,
                      const char *to)
{
    uint32_t port[LEAT_SIM_PACKETWAY_ENDS_MAX], address;
    uint8_t octets[512];
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, octets, sizeof octets);
    const uint32_t ports = pktway_ports_of(a, from, port);
    if (!ports)
        return complain("%s'%.60s' is no host of %s, expected SAN.PORT, an address or a name of "
                        "one",
                        place, from, a->network->design.name);
    const bool node = pktway_destination_read(to, &address) || pktway_node_read(a, to, &address);
    if (!(is_wanted(to) ? pktway_wanted_read(to, &build) : node))
        return complain("%s'%.60s', expected SAN.PORT, an address, name=NAME, "
                        "capability=CC[:P,P...] or address=A[-B]",
                        place, to);
    for (uint32_t i = 0; i < ports && node; i++)
        if (leat_sim_packetway_address(&a->network->net, port[i]) == address)
            return complain("%s'%.60s' is the sender itself, expected another node", place, to);
    return true;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static bool run_until(struct pktway_query *a, leat_time end)
{
    struct leat_port_net *net = &a->network->net.base;
    if (net->now >= end || interrupted) return false;
    leat_port_run(net, leat_smaller(net->now + STEP_PS, end));
    return true;
}

/* The SANs tell their hosts which half-routers are there. */
static uint32_t half_router_of(const struct pktway_query *a, uint32_t port)
{
    const uint32_t san = leat_sim_packetway_san_of(&a->network->net, port);
    uint32_t address = 0;
    for (uint32_t i = 0; i < a->network->design.routers && !address; i++)
        for (uint32_t k = 0; k < a->network->design.router[i].ends; k++)
            if (a->network->design.router[i].end[k].san == san &&
                leat_sim_packetway_is_up(&a->network->net, i))
                leat_sim_packetway_engine(&a->network->net, i, k, &address);
    return address;
}

/* Asks a half-router of this port which nodes match. True: it has answered. */
static bool tell(struct pktway_query *a, uint32_t port, const char *word)
{
    uint8_t wanted[512];
    struct leat_packetway_build build;
    const leat_time now = leat_sim_packetway_clock(&a->network->net),
                    begun = a->network->net.base.now;
    const uint32_t peer = half_router_of(a, port);
    struct leat_packetway_host *host = leat_sim_packetway_host(&a->network->net, port);
    leat_packetway_build_init(&build, wanted, sizeof wanted);
    pktway_wanted_read(word, &build);
    a->records_len = 0;
    a->is_answered = false;
    a->err_te = 0;
    if (!peer || leat_packetway_host_query(host, peer, wanted, build.len, now)) return false;
    leat_sim_packetway_go(&a->network->net, port);
    while (!a->is_answered && !a->err_te && run_until(a, begun + TELL_PS)) {
    }
    size_t seen = 0;
    for (leat_time end = 0; a->records_len != seen || run_until(a, end);) {
        if (a->records_len != seen) end = a->network->net.base.now + MORE_PS;
        seen = a->records_len;
    }
    leat_packetway_host_cancel(host, peer);
    return a->is_answered || a->err_te;
}

static bool is_own(const struct pktway_query *a, const uint32_t *port, uint32_t ports, uint32_t dt)
{
    for (uint32_t i = 0; i < ports; i++)
        if (leat_sim_packetway_address(&a->network->net, port[i]) == dt) return true;
    return false;
}

/* Each port of the sender may reach this address. */
static void add(const struct pktway_query *a, struct pktway_way *way, const uint32_t *port,
                uint32_t ports, uint32_t dt)
{
    if (is_own(a, port, ports, dt)) return;
    for (uint32_t i = 0; i < ports && way->pairs < PKTWAY_PAIRS_MAX; i++)
        way->pair[way->pairs++] = (struct pktway_pair){ port[i], dt, RANK_UNKNOWN };
}

static void add_answers(const struct pktway_query *a, struct pktway_way *way, const uint32_t *port,
                        uint32_t ports)
{
    struct leat_packetway_records nodes = leat_packetway_records_of(a->records, a->records_len,
                                                                    LEAT_PACKETWAY_LENIENT);
    struct leat_packetway_record record;
    while (leat_packetway_records_next(&nodes, &record)) {
        const struct leat_packetway_address address = leat_packetway_record_address(&record);
        if (record.type == LEAT_PACKETWAY_RTYP_ADDR && address.at == LEAT_PACKETWAY_AT_SINGLE)
            add(a, way, port, ports, address.low);
    }
}

/* ---- which is the best ---------------------------------------------------------------------- */

static uint32_t rank(const struct pktway_query *a, const struct pktway_pair *pair)
{
    const uint32_t san = leat_sim_packetway_san_of(&a->network->net, pair->port);
    const struct leat_packetway_block block = { a->network->design.san[san].bias,
                                                a->network->san[san].net->ports };
    if (leat_packetway_block_holds(&block, pair->dt)) return RANK_NATIVE;
    if (a->network->design.by_address || !leat_packetway_address_is_node(pair->dt))
        return RANK_ADDRESS;
    const struct leat_packetway_plan *plan = leat_packetway_host_plan(
        leat_sim_packetway_host(&a->network->net, pair->port), pair->dt,
        leat_sim_packetway_clock(&a->network->net));
    leat_sim_packetway_go(&a->network->net, pair->port);
    if (plan->state == LEAT_PACKETWAY_PLAN_FAILED) return RANK_NONE;
    if (plan->state == LEAT_PACKETWAY_PLAN_ADDRESS) return RANK_ADDRESS;
    return plan->state == LEAT_PACKETWAY_PLAN_ROUTES ? RANK_ROUTES + plan->routes[0].q
                                                     : RANK_UNKNOWN;
}

/* With a choice, the plans decide. */
static void rank_all(struct pktway_query *a, struct pktway_way *way)
{
    const leat_time end = a->network->net.base.now + PLANS_PS;
    bool waits = way->pairs > 1;
    while (waits) {
        waits = false;
        for (uint32_t i = 0; i < way->pairs; i++) {
            way->pair[i].rank = rank(a, &way->pair[i]);
            waits |= way->pair[i].rank == RANK_UNKNOWN;
        }
        waits = waits && run_until(a, end);
    }
    for (uint32_t i = 1; i < way->pairs; i++) /* stable: the first of equals stays first */
        for (uint32_t k = i; k > 0 && way->pair[k].rank < way->pair[k - 1].rank; k--) {
            const struct pktway_pair better = way->pair[k];
            way->pair[k] = way->pair[k - 1];
            way->pair[k - 1] = better;
        }
}

void pktway_way_find(struct pktway_query *a, struct pktway_way *way)
{
    uint32_t port[LEAT_SIM_PACKETWAY_ENDS_MAX], address;
    const uint32_t ports = pktway_ports_of(a, way->from, port);
    if (!is_wanted(way->to)) {
        if (!pktway_destination_read(way->to, &address)) pktway_node_read(a, way->to, &address);
        add(a, way, port, ports, address);
    } else {
        bool answered = false;
        for (uint32_t i = 0; i < ports && !(answered && a->records_len); i++)
            answered |= tell(a, port[i], way->to);
        add_answers(a, way, port, ports);
        if (!way->pairs)
            way->why = answered ? "no other node matches" : "no half-router has answered";
    }
    rank_all(a, way);
}
