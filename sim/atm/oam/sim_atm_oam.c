#include "sim_atm_oam.h"
#include "sim_refuse.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { CELL_LEN = LEAT_ATM_CELL_LEN };

static const struct leat_atm_clos *net_of(const struct leat_sim_atm_oam *oam)
{
    return &oam->config.fabric.net;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void tell(struct leat_sim_atm_oam *oam, const struct leat_sim_atm_oam_end *end,
                 unsigned changed)
{
    for (unsigned state = 0; state < LEAT_ATM_OAM_STATES; state++) {
        const struct leat_atm_oam_alarm_state *s = &end->alarm.state[state];
        const struct leat_sim_atm_oam_change change = { .at = s->at,
                                                        .port = end->port,
                                                        .peer = end->peer,
                                                        .state = (enum leat_atm_oam_state)state,
                                                        .holds = s->holds,
                                                        .defect = s->defect };
        if (changed >> state & 1 && oam->config.changed)
            oam->config.changed(oam->config.context, &change);
    }
}

static void advance(struct leat_sim_atm_oam *oam, struct leat_sim_atm_oam_end *end, uint64_t now)
{
    tell(oam, end, leat_atm_oam_alarm_advance(&end->alarm, now));
}

void leat_sim_atm_oam_settle(struct leat_sim_atm_oam *oam)
{
    for (uint32_t i = 0; i < oam->ends; i++)
        advance(oam, &oam->end[i], oam->plain.sim.now);
}

/* ---- connections ----------------------------------------------------------------------------- */

struct leat_sim_atm_oam_end *leat_sim_atm_oam_find(const struct leat_sim_atm_oam *oam,
                                                   uint32_t port, uint32_t peer)
{
    const struct leat_sim_atm_oam_port *p = &oam->port[port];
    uint32_t low = p->first, high = p->first + p->ends;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (oam->end[middle].peer < peer)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->first + p->ends && oam->end[low].peer == peer ? &oam->end[low] : NULL;
}

/* ---- cells to send --------------------------------------------------------------------------- */

/* The OAM cell that this end has to send now; false: none. One behind a block comes first. */
static bool next_oam(struct leat_sim_atm_oam *oam, struct leat_sim_atm_oam_end *end, uint64_t now,
                     struct leat_atm_oam *out, enum leat_sim_atm_oam_kind *kind)
{
    struct leat_atm_oam_monitoring forward;
    if (end->forward_due || end->back_due) {
        *kind = end->forward_due ? LEAT_SIM_ATM_OAM_FM : LEAT_SIM_ATM_OAM_BR;
        if (end->forward_due) leat_atm_oam_block_source_end(&end->source, &forward);
        leat_atm_oam_monitoring_put(end->forward_due ? &forward : &end->back, out);
        *(end->forward_due ? &end->forward_due : &end->back_due) = false;
        return true;
    }
    advance(oam, end, now);
    switch (leat_atm_oam_alarm_next(&end->alarm, now)) {
    case LEAT_ATM_OAM_SEND_NONE: return false;
    case LEAT_ATM_OAM_SEND_RDI:
        *kind = LEAT_SIM_ATM_OAM_RDI;
        leat_atm_oam_defect_put(LEAT_ATM_OAM_RDI, leat_atm_oam_alarm_defect(&end->alarm), out);
        return true;
    case LEAT_ATM_OAM_SEND_CC:
        *kind = LEAT_SIM_ATM_OAM_CC;
        leat_atm_oam_check_put(out);
        return true;
    }
    return false;
}

/* Ends take turns. False: none has a cell; then *at is when the first may have one. */
static bool write_oam(struct leat_sim_atm_oam *oam, uint32_t p, uint64_t now, uint8_t *cell)
{
    struct leat_sim_atm_oam_port *port = &oam->port[p];
    uint64_t due = LEAT_NEVER;
    for (uint32_t i = 0; i < port->ends; i++) {
        const uint32_t turn = (port->turn + i) % port->ends;
        struct leat_sim_atm_oam_end *end = &oam->end[port->first + turn];
        struct leat_atm_oam content;
        enum leat_sim_atm_oam_kind kind;
        if (!next_oam(oam, end, now, &content, &kind)) {
            due = leat_smaller(due, leat_atm_oam_alarm_due(&end->alarm));
            continue;
        }
        const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(net_of(oam), p, end->peer);
        leat_sim_atm_oam_write(net_of(oam), oam->config.flow, &way, &content, cell);
        oam->counts.sent[kind]++;
        port->turn = (turn + 1) % port->ends;
        return true;
    }
    port->oam_at = due;
    return false;
}

/* To a random other port. */
static void write_user(struct leat_sim_atm_oam *oam, uint32_t p, uint64_t now, uint8_t *cell)
{
    struct leat_sim_atm_oam_port *port = &oam->port[p];
    const uint32_t to = leat_sim_atm_plain_other(&oam->plain, p);
    const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(net_of(oam), p, to);
    struct leat_sim_atm_oam_end *end = leat_sim_atm_oam_find(oam, p, to);
    leat_sim_atm_oam_write_user(net_of(oam), &way, port->users++, cell);
    oam->counts.users_sent++;
    if (!end) return;
    end->users_sent++;
    leat_atm_oam_alarm_sent(&end->alarm, now);
    if (!oam->config.block) return;
    end->forward_due = leat_atm_oam_block_source_user(&end->source, cell + LEAT_ATM_HEADER_LEN,
                                                      leat_sim_atm_oam_clp(cell));
    if (end->forward_due) port->oam_at = now;
}

/* ---- ports ----------------------------------------------------------------------------------- */

static bool write_next(void *context, uint32_t p, uint64_t now, uint8_t *cell)
{
    struct leat_sim_atm_oam *oam = context;
    struct leat_sim_atm_oam_port *port = &oam->port[p];
    if (port->oam_at <= now && write_oam(oam, p, now, cell)) return true;
    if (port->user_at > now) return false;
    write_user(oam, p, now, cell);
    port->user_at = leat_sim_atm_plain_draw(&oam->plain, p, port->user_at + CELL_LEN);
    return true;
}

static uint64_t due(void *context, uint32_t p)
{
    const struct leat_sim_atm_oam *oam = context;
    return leat_smaller(oam->port[p].oam_at, oam->port[p].user_at);
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static void take_user(struct leat_sim_atm_oam *oam, struct leat_sim_atm_oam_end *end,
                      const uint8_t *cell, uint64_t now)
{
    oam->counts.users_received++;
    if (!end) return;
    end->users_received++;
    tell(oam, end, leat_atm_oam_alarm_user(&end->alarm, now));
    if (oam->config.block)
        leat_atm_oam_block_sink_user(&end->sink, cell + LEAT_ATM_HEADER_LEN,
                                     leat_sim_atm_oam_clp(cell));
}

static void take_monitoring(struct leat_sim_atm_oam *oam, struct leat_sim_atm_oam_end *end,
                            const struct leat_atm_oam_monitoring *cell)
{
    const bool forward = cell->function == LEAT_ATM_OAM_FORWARD;
    oam->counts.received[forward ? LEAT_SIM_ATM_OAM_FM : LEAT_SIM_ATM_OAM_BR]++;
    if (!oam->config.block) return;
    if (forward)
        end->back_due |= leat_atm_oam_block_sink_forward(&end->sink, cell, &end->back);
    else
        leat_atm_oam_block_far_backward(&end->far, cell);
}

static void take_oam(struct leat_sim_atm_oam *oam, struct leat_sim_atm_oam_end *end,
                     const struct leat_atm_oam *cell, uint64_t now)
{
    struct leat_atm_oam_defect defect;
    struct leat_atm_oam_monitoring monitoring;
    if (leat_atm_oam_monitoring_get(cell, &monitoring)) {
        take_monitoring(oam, end, &monitoring);
    } else if (!leat_atm_oam_defect_get(cell, &defect)) {
        oam->counts.received[LEAT_SIM_ATM_OAM_CC]++;
        tell(oam, end, leat_atm_oam_alarm_user(&end->alarm, now));
    } else if (cell->function == LEAT_ATM_OAM_AIS) {
        oam->counts.received[LEAT_SIM_ATM_OAM_AIS]++;
        tell(oam, end, leat_atm_oam_alarm_ais(&end->alarm, &defect, now));
    } else {
        oam->counts.received[LEAT_SIM_ATM_OAM_RDI]++;
        tell(oam, end, leat_atm_oam_alarm_rdi(&end->alarm, &defect, now));
    }
    oam->port[end->port].oam_at = now;
}

static void take(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_oam *oam = context;
    struct leat_sim_atm_oam_read read;
    leat_sim_atm_oam_read(net_of(oam), p, cell, &read);
    struct leat_sim_atm_oam_end *end = leat_sim_atm_oam_find(oam, p, read.from);
    if (end) advance(oam, end, now);
    if (read.kind == LEAT_SIM_ATM_OAM_BAD)
        oam->counts.bad++;
    else if (read.kind == LEAT_SIM_ATM_OAM_USER && read.from < net_of(oam)->ports && read.from != p)
        take_user(oam, end, cell, now);
    else if (read.kind == LEAT_SIM_ATM_OAM_CELL && end)
        take_oam(oam, end, &read.oam, now);
    else
        oam->counts.unknown++;
}

/* ---- running --------------------------------------------------------------------------------- */

void leat_sim_atm_oam_run(struct leat_sim_atm_oam *oam, uint64_t until)
{
    while (oam->config.fabric.faults && oam->watch_at < until) {
        leat_sim_atm_run(&oam->plain.sim, oam->watch_at);
        leat_sim_atm_oam_watch(oam);
    }
    leat_sim_atm_run(&oam->plain.sim, until);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* The most connections of a port. */
static uint32_t most_of_port(const struct leat_sim_atm_oam_config *config)
{
    uint16_t count[LEAT_SIM_ATM_PLAIN_PORTS_MAX] = { 0 };
    uint32_t most = 0;
    for (uint32_t i = 0; i < 2 * config->pairs; i++) {
        const uint32_t port = config->pair[i / 2].port[i % 2];
        if (++count[port] > most) most = count[port];
    }
    return most;
}

/* Half of every line is left to other cells, even if all connections send checks or AIS. */
leat_err leat_sim_atm_oam_check(const struct leat_sim_atm_oam_config *config, uint32_t *scratch,
                                struct leat_text *why)
{
    const struct leat_atm_clos *net = &config->fabric.net;
    if (net->ports > LEAT_SIM_ATM_PLAIN_PORTS_MAX || net->ports < 2)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u ports, expected 2 to %u for --oam",
                               net->ports, (unsigned)LEAT_SIM_ATM_PLAIN_PORTS_MAX);
    if (!config->flow.f5 && net->header_octets == LEAT_ATM_VC_HEADER)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "f4, but its switches switch virtual channels, expected f5");
    if (!leat_sim_atm_oam_watch_measure(config, scratch))
        return leat_sim_refuse(
            why, LEAT_ERR_RANGE,
            "switches choose a wire for each cell, expected one way from port to "
            "port of at most %u wires",
            (unsigned)LEAT_SIM_ATM_WAY_MAX);
    uint64_t most = most_of_port(config);
    for (uint32_t w = 0; w < leat_sim_atm_oam_wires(&config->fabric); w++)
        most = leat_larger(most, scratch[w]);
    const uint64_t least = 2 * CELL_LEN * most;
    if (config->period < least)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "a period of %" PRIu64 " cycles, expected at least %" PRIu64
                               ": %" PRIu64 " connections of one line send a cell each",
                               config->period, least, most);
    return LEAT_ERR_OK;
}

static void *lay_out(struct leat_sim_atm_oam *oam, const struct leat_sim_atm_oam_config *config,
                     struct leat_arena *arena)
{
    const uint32_t ports = config->fabric.net.ports;
    oam->ends = 2 * config->pairs;
    oam->wires = leat_sim_atm_oam_wires(&config->fabric);
    oam->port = leat_arena_lay(arena, ports, sizeof *oam->port);
    oam->end = leat_arena_lay(arena, oam->ends, sizeof *oam->end);
    oam->wire = leat_arena_lay(arena, oam->wires, sizeof *oam->wire);
    oam->passing = leat_arena_lay(arena, leat_sim_atm_oam_watch_measure(config, NULL),
                                  sizeof *oam->passing);
    return leat_sim_atm_plain_lay(&oam->plain, &config->fabric, config->model, arena);
}

size_t leat_sim_atm_oam_footprint(const struct leat_sim_atm_oam_config *config)
{
    struct leat_sim_atm_oam measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

/* Ends stand by port and peer: first counted, then placed. */
static void place_ends(struct leat_sim_atm_oam *oam)
{
    const struct leat_sim_atm_oam_config *c = &oam->config;
    uint32_t first = 0;
    for (uint32_t i = 0; i < 2 * c->pairs; i++)
        oam->port[c->pair[i / 2].port[i % 2]].ends++;
    for (uint32_t p = 0; p < net_of(oam)->ports; p++) {
        oam->port[p].first = first;
        first += oam->port[p].ends;
        oam->port[p].ends = 0;
    }
    for (uint32_t i = 0; i < 2 * c->pairs; i++) {
        struct leat_sim_atm_oam_port *port = &oam->port[c->pair[i / 2].port[i % 2]];
        const uint32_t peer = c->pair[i / 2].port[1 - i % 2];
        uint32_t at = port->first + port->ends++;
        for (; at > port->first && oam->end[at - 1].peer > peer; at--)
            oam->end[at] = oam->end[at - 1];
        oam->end[at] = (struct leat_sim_atm_oam_end){ .port = c->pair[i / 2].port[i % 2],
                                                      .peer = peer };
    }
}

static void start_end(const struct leat_sim_atm_oam *oam, struct leat_sim_atm_oam_end *end)
{
    leat_atm_oam_alarm_init(&end->alarm, oam->config.period, oam->config.checks, 0);
    if (!oam->config.block) return;
    leat_atm_oam_block_source_init(&end->source, oam->config.block);
    leat_atm_oam_block_sink_init(&end->sink, oam->config.block);
    leat_atm_oam_block_far_init(&end->far, oam->config.block);
}

static void start_port(struct leat_sim_atm_oam *oam, uint32_t p)
{
    oam->port[p].user_at = leat_sim_atm_plain_draw(&oam->plain, p, p % CELL_LEN + 1);
    leat_sim_atm_plain_start(&oam->plain, p);
}

void leat_sim_atm_oam_init(struct leat_sim_atm_oam *oam,
                           const struct leat_sim_atm_oam_config *config, void *memory)
{
    const struct leat_sim_atm_plain_config plain = {
        .fabric = config->fabric,
        .model = config->model,
        .load_ppm = config->load_ppm,
        .seed = config->seed,
        .line = config->line,
        .owner = { .context = oam, .write = write_next, .due = due, .take = take }
    };
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *oam = (struct leat_sim_atm_oam){ .config = *config, .watch_at = CELL_LEN };
    void *network = lay_out(oam, config, &arena);
    leat_sim_atm_plain_init(&oam->plain, &plain, network);
    place_ends(oam);
    for (uint32_t i = 0; i < oam->ends; i++)
        start_end(oam, &oam->end[i]);
    for (uint32_t p = 0; p < config->fabric.net.ports; p++)
        start_port(oam, p);
    leat_sim_atm_oam_watch_init(oam);
}
