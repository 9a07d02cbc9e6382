#include "sim_atm_plain.h"
#include <string.h>

enum { CELL_LEN = LEAT_ATM_CELL_LEN };

/* ---- sending --------------------------------------------------------------------------------- */

/* What the line makes of a cell: nothing, or up to three, the copy and the stray first. */
static void pass_line(struct leat_sim_atm_plain *plain, struct leat_sim_atm_plain_port *port,
                      const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_line_arrival arrival;
    port->next = port->waiting = 0;
    if (!plain->has_lines) {
        memcpy(port->cell[port->waiting++], cell, CELL_LEN);
        return;
    }
    leat_sim_atm_line_pass(&port->to_network, &plain->medium, cell, now, &arrival);
    for (uint32_t i = 0; i < arrival.extra_count; i++)
        memcpy(port->cell[port->waiting++], arrival.extra[i], CELL_LEN);
    if (arrival.own_arrives) memcpy(port->cell[port->waiting++], arrival.own, CELL_LEN);
}

static void plan(struct leat_sim_atm_plain *plain, uint32_t p, uint64_t now)
{
    const struct leat_sim_atm_plain_owner *owner = &plain->config.owner;
    const struct leat_sim_atm_plain_port *port = &plain->port[p];
    const uint64_t at = port->next < port->waiting ? now : owner->due(owner->context, p);
    leat_sim_atm_wake(&plain->sim, p, leat_larger(leat_larger(at, port->free_at), now + 1));
}

static void act(void *context, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_plain *plain = context;
    const struct leat_sim_atm_plain_owner *owner = &plain->config.owner;
    struct leat_sim_atm_plain_port *port = &plain->port[p];
    uint8_t cell[CELL_LEN];
    if (now >= port->free_at) {
        if (port->next == port->waiting && owner->write(owner->context, p, now, cell)) {
            pass_line(plain, port, cell, now);
            port->free_at = now + CELL_LEN;
        }
        if (port->next < port->waiting) {
            leat_sim_atm_send(&plain->sim, p, port->cell[port->next++], now);
            port->free_at = now + CELL_LEN;
        }
    }
    plan(plain, p, now);
}

static void refused(void *context, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_plain *plain = context;
    struct leat_sim_atm_plain_port *port = &plain->port[p];
    leat_sim_atm_send(&plain->sim, p, port->cell[port->next - 1], now + 1);
    port->free_at = now + 1 + CELL_LEN;
    plan(plain, p, now);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static uint32_t room(void *context, uint32_t port)
{
    (void)context;
    (void)port;
    return UINT32_MAX;
}

static void certify(struct leat_sim_atm_plain *plain, uint32_t p, const uint8_t *cell, uint64_t now)
{
    const struct leat_sim_delivery d = { .at = now,
                                         .destination = p,
                                         .payload_hash = leat_sim_payload_hash(cell, CELL_LEN) };
    leat_sim_certificate_add(&plain->certificate, &d);
}

static void deliver(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_plain *plain = context;
    const struct leat_sim_atm_plain_owner *owner = &plain->config.owner;
    struct leat_sim_atm_line_arrival arrival = { .own_arrives = true };
    certify(plain, p, cell, now);
    if (plain->has_lines)
        leat_sim_atm_line_pass(&plain->port[p].to_host, &plain->medium, cell, now, &arrival);
    if (arrival.own_arrives)
        owner->take(owner->context, p, plain->has_lines ? arrival.own : cell, now);
    for (uint32_t i = 0; i < arrival.extra_count; i++)
        owner->take(owner->context, p, arrival.extra[i], now);
    plan(plain, p, now);
}

/* ---- cells at random ------------------------------------------------------------------------- */

uint64_t leat_sim_atm_plain_draw(struct leat_sim_atm_plain *plain, uint32_t port, uint64_t at)
{
    struct leat_random *random = &plain->port[port].random;
    const uint32_t load = plain->config.load_ppm;
    if (!load) return LEAT_NEVER;
    while (leat_random_below(random, LEAT_SIM_ATM_PLAIN_LOAD_ONE) >= load)
        at += CELL_LEN;
    return at;
}

uint32_t leat_sim_atm_plain_other(struct leat_sim_atm_plain *plain, uint32_t port)
{
    const uint32_t ports = plain->config.fabric.net.ports,
                   other = (uint32_t)leat_random_below(&plain->port[port].random, ports - 1);
    return other + (other >= port);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

void *leat_sim_atm_plain_lay(struct leat_sim_atm_plain *plain,
                             const struct leat_sim_atm_fabric *fabric,
                             enum leat_sim_atm_model model, struct leat_arena *arena)
{
    plain->port = leat_arena_lay(arena, fabric->net.ports, sizeof *plain->port);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_footprint(fabric, model));
}

static void init_port(struct leat_sim_atm_plain *plain, uint32_t p)
{
    struct leat_sim_atm_plain_port *port = &plain->port[p];
    leat_random_seed_entity(&port->random, plain->config.seed, p);
    leat_sim_atm_line_init(&port->to_network, &plain->medium, p, LEAT_SIM_ATM_LINE_TO_NETWORK);
    leat_sim_atm_line_init(&port->to_host, &plain->medium, p, LEAT_SIM_ATM_LINE_TO_HOST);
}

void leat_sim_atm_plain_init(struct leat_sim_atm_plain *plain,
                             const struct leat_sim_atm_plain_config *config, void *network)
{
    const struct leat_sim_atm_host host = {
        .context = plain, .refused = refused, .act = act, .room = room, .deliver = deliver
    };
    const struct leat_atm_clos *net = &config->fabric.net;
    plain->config = *config;
    leat_sim_atm_init(&plain->sim, &config->fabric, config->model, &host, network);
    leat_sim_certificate_init(&plain->certificate);
    plain->config.line.label_count = net->paths * (net->ports + 1);
    plain->config.line.header_octets = net->header_octets;
    plain->has_lines = leat_sim_atm_line_has_faults(&config->line);
    leat_sim_atm_line_medium_init(&plain->medium, &plain->config.line);
    for (uint32_t p = 0; p < net->ports; p++)
        init_port(plain, p);
}

void leat_sim_atm_plain_start(struct leat_sim_atm_plain *plain, uint32_t port)
{
    plan(plain, port, 0);
}

void leat_sim_atm_plain_lines(const struct leat_sim_atm_plain *plain,
                              struct leat_sim_atm_line_counts *out)
{
    *out = (struct leat_sim_atm_line_counts){ 0 };
    for (uint32_t p = 0; p < plain->config.fabric.net.ports; p++) {
        leat_sim_atm_line_counts_add(out, &plain->port[p].to_network.counts);
        leat_sim_atm_line_counts_add(out, &plain->port[p].to_host.counts);
    }
}
