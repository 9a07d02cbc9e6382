#include "sim_atm_ping.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

enum { CELL_LEN = LEAT_ATM_CELL_LEN };

/* In a place, whose coding is ours: what it is, a path, a port. */
enum { PLACE_KIND = 1, PLACE_PATH_AT = 8, PLACE_PORT_AT = 12 };

void leat_sim_atm_ping_place(uint32_t port, uint32_t path, uint8_t place[LEAT_ATM_OAM_PLACE_LEN])
{
    memset(place, 0, LEAT_ATM_OAM_PLACE_LEN);
    place[0] = PLACE_KIND;
    leat_put_be32(place + PLACE_PATH_AT, path);
    leat_put_be32(place + PLACE_PORT_AT, port);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static uint32_t header_of(const struct leat_sim_atm_ping *ping)
{
    return ping->sim.fabric.net.header_octets;
}

/* F4: the label is a VPI, and VCI 4 the flow; F5: it is VPI and VCI, and PT 5 the flow. */
static void write_flow(const struct leat_sim_atm_ping *ping, uint8_t *cell)
{
    if (header_of(ping) == LEAT_ATM_VP_HEADER)
        leat_put_be16(cell + LEAT_ATM_VP_HEADER, LEAT_ATM_OAM_VCI_END << 4);
    else
        cell[LEAT_ATM_VC_HEADER - 1] |= LEAT_ATM_PT_OAM_END << 1;
}

static bool is_oam(const uint8_t *cell, uint32_t header_octets)
{
    if (header_octets == LEAT_ATM_VP_HEADER)
        return !(cell[1] & 0xf) && leat_get_be16(cell + 2) >> 4 == LEAT_ATM_OAM_VCI_END;
    return (cell[LEAT_ATM_VC_HEADER - 1] >> 1 & 7) == LEAT_ATM_PT_OAM_END;
}

static bool read_loopback(const uint8_t *cell, uint32_t header_octets,
                          struct leat_atm_oam_loopback *out)
{
    struct leat_atm_oam oam;
    return is_oam(cell, header_octets) &&
           !leat_atm_oam_decode(cell + LEAT_ATM_HEADER_LEN, LEAT_ATM_PAYLOAD_LEN, &oam, NULL) &&
           leat_atm_oam_loopback_get(&oam, out);
}

bool leat_sim_atm_ping_is_loopback(const uint8_t *cell, uint32_t header_octets)
{
    struct leat_atm_oam_loopback loopback;
    return read_loopback(cell, header_octets, &loopback);
}

static void write_loopback(const struct leat_sim_atm_ping *ping, uint32_t to, uint32_t path,
                           const struct leat_atm_oam_loopback *loopback, uint8_t *cell)
{
    const struct leat_atm_clos *net = &ping->sim.fabric.net;
    struct leat_atm_oam oam;
    memset(cell, 0, CELL_LEN);
    leat_atm_label_put(cell, header_of(ping), leat_atm_clos_access(net, to, path));
    write_flow(ping, cell);
    leat_atm_oam_loopback_put(loopback, &oam);
    const leat_err err = leat_atm_oam_encode(&oam, cell + LEAT_ATM_HEADER_LEN,
                                             LEAT_ATM_PAYLOAD_LEN);
    assert(!err);
    (void)err;
}

static void write_request(const struct leat_sim_atm_ping *ping, uint32_t tag, uint8_t *cell)
{
    const struct leat_sim_atm_ping_request *r = &ping->config.request[tag];
    struct leat_atm_oam_loopback loopback = { .goes_back = true, .tag = tag };
    memset(loopback.place, UINT8_MAX, sizeof loopback.place);
    leat_sim_atm_ping_place(ping->config.from, r->back, loopback.source);
    write_loopback(ping, r->to, r->path, &loopback, cell);
}

/* To a random port, by a random path. */
static void write_user(struct leat_sim_atm_ping *ping, struct leat_sim_atm_ping_port *port)
{
    const struct leat_atm_clos *net = &ping->sim.fabric.net;
    const uint32_t to = (uint32_t)leat_random_below(&port->random, net->ports);
    const uint32_t path = (uint32_t)leat_random_below(&port->random, net->paths);
    memset(port->cell, 0, CELL_LEN);
    leat_atm_label_put(port->cell, header_of(ping), leat_atm_clos_access(net, to, path));
    if (header_of(ping) == LEAT_ATM_VP_HEADER) port->cell[LEAT_ATM_VP_HEADER] = UINT8_MAX;
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* When the next user cell of this port is due, from `at` on: a coin for each cell time. */
static uint64_t draw_user(const struct leat_sim_atm_ping *ping, struct leat_sim_atm_ping_port *port,
                          uint64_t at)
{
    if (!ping->config.load_ppm) return LEAT_NEVER;
    while (leat_random_below(&port->random, LEAT_SIM_ATM_PING_LOAD_ONE) >= ping->config.load_ppm)
        at += CELL_LEN;
    return at;
}

static uint64_t request_at(const struct leat_sim_atm_ping *ping, uint32_t p)
{
    const struct leat_sim_atm_ping_config *c = &ping->config;
    if (p != c->from || ping->sent == c->requests) return LEAT_NEVER;
    return c->first_at + ping->sent * c->apart;
}

/* Answers first, then requests. False: there is nothing to send now. */
static bool write_next(struct leat_sim_atm_ping *ping, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_ping_port *port = &ping->port[p];
    if (port->answers) {
        const struct leat_sim_atm_ping_answer *a = &port->answer[0];
        write_loopback(ping, a->to, a->path, &a->loopback, port->cell);
        memmove(port->answer, port->answer + 1, --port->answers * sizeof *port->answer);
    } else if (request_at(ping, p) <= now) {
        write_request(ping, ping->sent, port->cell);
        ping->config.request[ping->sent++].sent_at = now;
    } else if (port->user_at <= now) {
        write_user(ping, port);
        ping->users_sent++;
        port->user_at = draw_user(ping, port, port->user_at + CELL_LEN);
    } else {
        return false;
    }
    return true;
}

static void plan(struct leat_sim_atm_ping *ping, uint32_t p, uint64_t now)
{
    const struct leat_sim_atm_ping_port *port = &ping->port[p];
    uint64_t at = port->answers ? now : request_at(ping, p);
    at = leat_smaller(at, port->user_at);
    leat_sim_atm_wake(&ping->sim, p, leat_larger(leat_larger(at, port->free_at), now + 1));
}

static void send(struct leat_sim_atm_ping *ping, uint32_t p, uint64_t at)
{
    leat_sim_atm_send(&ping->sim, p, ping->port[p].cell, at);
    ping->port[p].free_at = at + CELL_LEN;
}

static void act(void *context, uint32_t p, uint64_t now)
{
    struct leat_sim_atm_ping *ping = context;
    if (now >= ping->port[p].free_at && write_next(ping, p, now)) send(ping, p, now);
    plan(ping, p, now);
}

static void refused(void *context, uint32_t p, uint64_t now)
{
    send(context, p, now + 1);
    plan(context, p, now);
}

static uint32_t room(void *context, uint32_t port)
{
    (void)context;
    (void)port;
    return UINT32_MAX;
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static void answer(struct leat_sim_atm_ping *ping, uint32_t p,
                   const struct leat_atm_oam_loopback *loopback, uint64_t now)
{
    struct leat_sim_atm_ping_port *port = &ping->port[p];
    const struct leat_atm_clos *net = &ping->sim.fabric.net;
    const uint32_t to = leat_get_be32(loopback->source + PLACE_PORT_AT);
    const uint32_t path = leat_get_be32(loopback->source + PLACE_PATH_AT);
    if (port->answers == LEAT_SIM_ATM_PING_ANSWERS || to >= net->ports || path >= net->paths)
        return;
    port->answer[port->answers] = (struct leat_sim_atm_ping_answer){ to, path, *loopback };
    port->answer[port->answers++].loopback.goes_back = false;
    plan(ping, p, now);
}

static void deliver(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_ping *ping = context;
    struct leat_atm_oam_loopback loopback;
    if (!read_loopback(cell, header_of(ping), &loopback)) {
        ping->users_received++;
    } else if (loopback.goes_back) {
        answer(ping, p, &loopback, now);
    } else if (p == ping->config.from && loopback.tag < ping->sent &&
               ping->config.request[loopback.tag].answered_at == LEAT_NEVER) {
        ping->config.request[loopback.tag].answered_at = now;
        ping->answered++;
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static void *lay_out(struct leat_sim_atm_ping *ping, const struct leat_sim_atm_ping_config *config,
                     struct leat_arena *arena)
{
    ping->port = leat_arena_lay(arena, config->fabric.net.ports, sizeof *ping->port);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_footprint(&config->fabric, config->model));
}

size_t leat_sim_atm_ping_footprint(const struct leat_sim_atm_ping_config *config)
{
    struct leat_sim_atm_ping measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

void leat_sim_atm_ping_init(struct leat_sim_atm_ping *ping,
                            const struct leat_sim_atm_ping_config *config, void *memory)
{
    const struct leat_sim_atm_host host = {
        .context = ping, .refused = refused, .act = act, .room = room, .deliver = deliver
    };
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    assert(config->apart >= CELL_LEN && config->requests <= LEAT_SIM_ATM_PING_REQUESTS_MAX);
    *ping = (struct leat_sim_atm_ping){ .config = *config };
    void *network = lay_out(ping, config, &arena);
    leat_sim_atm_init(&ping->sim, &config->fabric, config->model, &host, network);
    for (uint32_t i = 0; i < config->requests; i++)
        config->request[i].sent_at = config->request[i].answered_at = LEAT_NEVER;
    for (uint32_t p = 0; p < config->fabric.net.ports; p++) {
        leat_random_seed_entity(&ping->port[p].random, config->seed, p);
        ping->port[p].user_at = draw_user(ping, &ping->port[p], p % CELL_LEN + 1);
        plan(ping, p, 0);
    }
}

void leat_sim_atm_ping_run(struct leat_sim_atm_ping *ping, uint64_t until)
{
    leat_sim_atm_run(&ping->sim, until);
}
