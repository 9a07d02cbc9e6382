#include "sim_atm_circuits.h"
#include "leat_bytes.h"
#include "leat_heap.h"
#include "sim_atm_oam_cell.h"
#include "sim_refuse.h"
#include <inttypes.h>
#include <string.h>

enum {
    CELL_LEN = LEAT_ATM_CELL_LEN,
    ENTITY = 1 << 20, /* of the first channel's random stream, behind those of ports */
    BITS_IN_OCTET = 8,
    USER_LEN = LEAT_ATM_AAL1_INTERLEAVE_USER_LEN,
    COLUMNS = LEAT_ATM_AAL1_INTERLEAVE_COLUMNS,
    CYCLE_LEN = LEAT_ATM_AAL1_CYCLE * LEAT_ATM_AAL1_PAYLOAD_LEN, /* octets of eight cells */
};
#define PS_IN_SECOND UINT64_C(1000000000000)
#define MILLION      UINT64_C(1000000)

static const struct leat_atm_clos *net_of(const struct leat_sim_atm_circuits *c)
{
    return &c->config.plain.fabric.net;
}

/* ---- lines of the plan ----------------------------------------------------------------------- */

static leat_time octets_time(const struct leat_sim_atm_circuit *line, uint32_t octets)
{
    struct leat_sim_atm_service service;
    leat_sim_atm_service_init(&service, line->rate, 0, 0);
    leat_sim_atm_service_advance(&service, octets);
    return service.at;
}

/* Octets that eight cells carry; 128 of the interleaver. */
static uint32_t cycle_len(const struct leat_sim_atm_circuit *line)
{
    return line->fec ? USER_LEN : CYCLE_LEN - (line->block_len > 1);
}

static uint32_t cells_of_cycle(const struct leat_sim_atm_circuit *line)
{
    return line->fec ? COLUMNS : LEAT_ATM_AAL1_CYCLE;
}

leat_time leat_sim_atm_circuit_cell_time(const struct leat_sim_atm_circuit *line)
{
    if (line->kind == LEAT_SIM_ATM_CIRCUIT_VOICE) return line->frame;
    return octets_time(line, cycle_len(line)) / cells_of_cycle(line);
}

leat_time leat_sim_atm_circuit_packetisation(const struct leat_sim_atm_circuit *line)
{
    if (line->kind == LEAT_SIM_ATM_CIRCUIT_VOICE) return line->frame;
    return octets_time(line, line->fec ? USER_LEN : LEAT_ATM_AAL1_PAYLOAD_LEN);
}

leat_time leat_sim_atm_circuit_playout_max(const struct leat_sim_atm_circuit *line)
{
    if (line->kind == LEAT_SIM_ATM_CIRCUIT_VOICE) return PS_IN_SECOND;
    return leat_smaller(PS_IN_SECOND, LEAT_SIM_ATM_CIRCUITS_TOLERANCE_MAX * octets_time(line, 1));
}

static uint32_t channels_of(const struct leat_sim_atm_circuit *line)
{
    return line->kind == LEAT_SIM_ATM_CIRCUIT_VOICE ? line->channels : 1;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Cells per million seconds, of a line of the plan at its peak, rounded up. */
static uint64_t demand(const struct leat_sim_atm_circuit *line)
{
    const uint64_t million_seconds = MILLION * PS_IN_SECOND;
    if (line->kind == LEAT_SIM_ATM_CIRCUIT_VOICE) {
        const uint32_t len = leat_sim_atm_voice_frame_len(line),
                       cells = (len + LEAT_ATM_AAL2_PAYLOAD_LEN - 1) / LEAT_ATM_AAL2_PAYLOAD_LEN;
        return line->channels * (uint64_t)cells * (million_seconds / line->frame + 1);
    }
    const uint64_t octets = line->rate / BITS_IN_OCTET + 1;
    return octets * (uint64_t)((int64_t)MILLION + line->clock_ppm) / cycle_len(line) *
               cells_of_cycle(line) +
           1;
}

/* The same that a line of a port carries. */
static uint64_t capacity(const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_sim_clock slot = leat_sim_atm_fabric_cell_ps(fabric);
    const uint64_t cell_ps = leat_larger(CELL_LEN * fabric->period_ps_num / fabric->period_ps_den,
                                         slot.num / slot.den);
    return MILLION * PS_IN_SECOND / leat_larger(cell_ps, 1);
}

static leat_err check_way(const struct leat_sim_atm_fabric *fabric,
                          const struct leat_sim_atm_circuit *line, struct leat_text *why)
{
    uint32_t wire[LEAT_SIM_ATM_WAY_MAX];
    const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(&fabric->net, line->from,
                                                                 line->to);
    if (leat_sim_atm_way(fabric, way.from, way.to, way.path, wire)) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE,
                           "switches choose a wire for each cell, expected one way from port to "
                           "port of at most %u wires",
                           (unsigned)LEAT_SIM_ATM_WAY_MAX);
}

/* Do all lines from the port of this one, up to it, fit? */
static leat_err check_port(const struct leat_sim_atm_circuits_config *config, uint32_t last,
                           struct leat_text *why)
{
    const uint64_t most = capacity(&config->plain.fabric);
    const uint32_t port = config->line[last].from;
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= last; i++)
        if (config->line[i].from == port) sum += demand(&config->line[i]);
    if (sum <= most) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE,
                           "port %u sends %" PRIu64 " cells/s with this line, expected at most "
                           "%" PRIu64 ", which its line carries",
                           port, sum / MILLION, most / MILLION);
}

leat_err leat_sim_atm_circuits_check(const struct leat_sim_atm_circuits_config *config,
                                     uint32_t *line, struct leat_text *why)
{
    const uint32_t ports = config->plain.fabric.net.ports;
    uint32_t channels = 0;
    *line = LEAT_SIM_ATM_CIRCUITS_LINES_MAX;
    if (ports > LEAT_SIM_ATM_PLAIN_PORTS_MAX || ports < 2)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u ports, expected 2 to %u for --circuits",
                               ports, (unsigned)LEAT_SIM_ATM_PLAIN_PORTS_MAX);
    for (uint32_t i = 0; i < config->lines; i++) {
        const struct leat_sim_atm_circuit *each = &config->line[i];
        *line = i;
        channels += channels_of(each);
        if (channels > LEAT_SIM_ATM_CIRCUITS_CHANNELS_MAX)
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "%u channels with this line, expected at most %u", channels,
                                   (unsigned)LEAT_SIM_ATM_CIRCUITS_CHANNELS_MAX);
        leat_err err = check_way(&config->plain.fabric, each, why);
        if (!err) err = check_port(config, i, why);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Channels of a port by when their next cell was complete, then by number. */
static bool is_earlier(const void *context, const void *one, const void *other)
{
    const struct leat_sim_atm_circuits *c = context;
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    const leat_time at = c->channel[a].next.ready_at, to = c->channel[b].next.ready_at;
    return at != to ? at < to : a < b;
}

static struct leat_heap heap_of(struct leat_sim_atm_circuits *c, uint32_t port)
{
    return (struct leat_heap){ .element = c->order + c->port[port].first,
                               .size = sizeof *c->order,
                               .before = is_earlier,
                               .context = c };
}

static void note_ready(const struct leat_sim_atm_circuits *c, struct leat_sim_atm_channel *channel)
{
    channel->ready_from = leat_sim_clock_cycle_from(&c->clock, channel->next.ready_at);
}

static void write_channel(struct leat_sim_atm_circuits *c, uint32_t p, uint8_t *cell)
{
    const struct leat_heap heap = heap_of(c, p);
    const uint32_t number = c->order[c->port[p].first];
    struct leat_sim_atm_channel *channel = &c->channel[number];
    const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(net_of(c), p, channel->plan->to);
    memset(cell, 0, CELL_LEN);
    leat_sim_atm_oam_write_header(net_of(c), &way, LEAT_SIM_ATM_CIRCUITS_VCI + number, cell);
    memcpy(cell + LEAT_ATM_HEADER_LEN, channel->next.pdu, sizeof channel->next.pdu);
    leat_sim_atm_channel_send(channel);
    leat_sim_atm_channel_prepare(channel);
    note_ready(c, channel);
    leat_heap_down(&heap, c->port[p].count, 0, &number);
}

static void write_user(struct leat_sim_atm_circuits *c, uint32_t p, uint8_t *cell)
{
    struct leat_sim_atm_circuits_port *port = &c->port[p];
    const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(
        net_of(c), p, leat_sim_atm_plain_other(&c->plain, p));
    leat_sim_atm_oam_write_user(net_of(c), &way, port->users++, cell);
    c->users_sent++;
    port->user_at = leat_sim_atm_plain_draw(&c->plain, p, port->user_at + CELL_LEN);
}

static uint64_t channel_due(const struct leat_sim_atm_circuits *c, uint32_t p)
{
    const struct leat_sim_atm_circuits_port *port = &c->port[p];
    return port->count ? c->channel[c->order[port->first]].ready_from : LEAT_NEVER;
}

static bool write_next(void *context, uint32_t p, uint64_t now, uint8_t *cell)
{
    struct leat_sim_atm_circuits *c = context;
    if (channel_due(c, p) <= now)
        write_channel(c, p, cell);
    else if (c->port[p].user_at <= now)
        write_user(c, p, cell);
    else
        return false;
    return true;
}

static uint64_t due(void *context, uint32_t p)
{
    const struct leat_sim_atm_circuits *c = context;
    return leat_smaller(channel_due(c, p), c->port[p].user_at);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static bool has_paths(const struct leat_sim_atm_circuits *c)
{
    return net_of(c)->header_octets == LEAT_ATM_VP_HEADER;
}

static bool is_user(const struct leat_sim_atm_circuits *c, uint32_t p, const uint8_t *cell)
{
    struct leat_sim_atm_oam_read read;
    leat_sim_atm_oam_read(net_of(c), p, cell, &read);
    return read.kind == LEAT_SIM_ATM_OAM_USER && read.from < net_of(c)->ports && read.from != p;
}

/* Labels end at the last switch where channels are switched: there the content tells. */
static struct leat_sim_atm_channel *find_by_content(struct leat_sim_atm_circuits *c, uint32_t p,
                                                    const uint8_t *pdu, bool damaged,
                                                    const struct leat_sim_atm_channel_sent **own)
{
    for (uint32_t i = 0; i < c->channels; i++) {
        struct leat_sim_atm_channel *channel = &c->channel[i];
        if (channel->plan->to != p) continue;
        *own = leat_sim_atm_channel_match(channel, pdu, damaged);
        if (*own) return channel;
    }
    return NULL;
}

static struct leat_sim_atm_channel *find_by_label(struct leat_sim_atm_circuits *c, uint32_t p,
                                                  const uint8_t *cell,
                                                  const struct leat_sim_atm_channel_sent **own)
{
    const uint32_t number = (leat_get_be32(cell) >> 4 & 0xffff) - LEAT_SIM_ATM_CIRCUITS_VCI;
    const uint8_t *pdu = cell + LEAT_ATM_HEADER_LEN;
    if (number >= c->channels || c->channel[number].plan->to != p) return NULL;
    *own = leat_sim_atm_channel_match(&c->channel[number], pdu, false);
    if (!*own) *own = leat_sim_atm_channel_match(&c->channel[number], pdu, true);
    return &c->channel[number];
}

static struct leat_sim_atm_channel *find(struct leat_sim_atm_circuits *c, uint32_t p,
                                         const uint8_t *cell,
                                         const struct leat_sim_atm_channel_sent **own)
{
    const uint8_t *pdu = cell + LEAT_ATM_HEADER_LEN;
    if (has_paths(c)) return find_by_label(c, p, cell, own);
    struct leat_sim_atm_channel *channel = find_by_content(c, p, pdu, false, own);
    return channel || is_user(c, p, cell) ? channel : find_by_content(c, p, pdu, true, own);
}

static void tell(const struct leat_sim_atm_circuits *c, const struct leat_sim_atm_channel *channel,
                 const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    const struct leat_sim_atm_circuits_heard heard = {
        .line = (uint32_t)(channel->line - c->line),
        .channel = (uint32_t)(channel - c->channel),
        .number = channel->heard - 1,
        .ready_at = own->ready_at,
        .at = now,
    };
    if (c->config.heard) c->config.heard(c->config.context, &heard);
}

static void take(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_circuits *c = context;
    const leat_time at = leat_sim_clock_at(&c->clock, now); /* its last octet has come */
    const struct leat_sim_atm_channel_sent *own = NULL;
    struct leat_sim_atm_channel *channel = find(c, p, cell, &own);
    if (channel) {
        if (own) tell(c, channel, own, at);
        leat_sim_atm_channel_take(channel, cell + LEAT_ATM_HEADER_LEN, own, at);
    } else if (is_user(c, p, cell))
        c->users_received++;
    else
        c->unknown++;
}

/* ---- running --------------------------------------------------------------------------------- */

void leat_sim_atm_circuits_run(struct leat_sim_atm_circuits *circuits, uint64_t until)
{
    leat_sim_atm_run(&circuits->plain.sim, until);
}

static void settle_voice(struct leat_sim_atm_channel *channel, leat_time now)
{
    struct leat_sim_atm_circuits_counts *counts = &channel->line->counts;
    counts->frames += leat_sim_atm_voice_frames(channel, now);
    counts->frames_under_way += leat_sim_atm_voice_under_way(channel);
}

void leat_sim_atm_circuits_settle(struct leat_sim_atm_circuits *circuits)
{
    const leat_time now = leat_sim_clock_at(&circuits->clock, circuits->plain.sim.now);
    for (uint32_t i = 0; i < circuits->config.lines; i++)
        circuits->line[i].counts.frames = circuits->line[i].counts.frames_under_way = 0;
    for (uint32_t i = 0; i < circuits->channels; i++) {
        leat_sim_atm_channel_settle(&circuits->channel[i], now);
        if (circuits->channel[i].voice) settle_voice(&circuits->channel[i], now);
    }
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void *lay_out(struct leat_sim_atm_circuits *c,
                     const struct leat_sim_atm_circuits_config *config, struct leat_arena *arena)
{
    const struct leat_sim_atm_plain_config *plain = &config->plain;
    struct leat_sim_atm_channel measured;
    uint32_t channel = 0;
    for (uint32_t i = 0; i < config->lines; i++)
        c->channels += channels_of(&config->line[i]);
    c->port = leat_arena_lay(arena, plain->fabric.net.ports, sizeof *c->port);
    c->line = leat_arena_lay(arena, config->lines, sizeof *c->line);
    c->channel = leat_arena_lay(arena, c->channels, sizeof *c->channel);
    c->order = leat_arena_lay(arena, c->channels, sizeof *c->order);
    for (uint32_t i = 0; i < config->lines; i++)
        for (uint32_t k = 0; k < channels_of(&config->line[i]); k++)
            leat_sim_atm_channel_lay(c->channel ? &c->channel[channel++] : &measured,
                                     &config->line[i], arena);
    return leat_sim_atm_plain_lay(&c->plain, &plain->fabric, plain->model, arena);
}

size_t leat_sim_atm_circuits_footprint(const struct leat_sim_atm_circuits_config *config)
{
    struct leat_sim_atm_circuits measured = { 0 };
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

static void start_line(struct leat_sim_atm_circuits *c, uint32_t index, uint32_t first)
{
    struct leat_sim_atm_circuits_line *line = &c->line[index];
    line->first = first;
    line->channels = channels_of(&c->config.line[index]);
    line->delay_min = line->mouth_min = UINT64_MAX;
    leat_sim_histogram_init(&line->delay);
    leat_sim_histogram_init(&line->mouth);
    for (uint32_t i = first; i < first + line->channels; i++) {
        c->channel[i].line = line;
        leat_sim_atm_channel_init(&c->channel[i], c->config.plain.seed, ENTITY + i);
        note_ready(c, &c->channel[i]);
        c->port[c->channel[i].plan->from].count++;
    }
}

/* Channels stand behind each other, port by port. */
static void order_channels(struct leat_sim_atm_circuits *c)
{
    uint32_t first = 0;
    for (uint32_t p = 0; p < net_of(c)->ports; p++) {
        c->port[p].first = first;
        first += c->port[p].count;
        c->port[p].count = 0;
    }
    for (uint32_t i = 0; i < c->channels; i++) {
        const uint32_t p = c->channel[i].plan->from;
        const struct leat_heap heap = heap_of(c, p);
        leat_heap_push(&heap, &c->port[p].count, &i);
    }
}

void leat_sim_atm_circuits_init(struct leat_sim_atm_circuits *circuits,
                                const struct leat_sim_atm_circuits_config *config, void *memory)
{
    struct leat_sim_atm_circuits *c = circuits;
    struct leat_sim_atm_plain_config plain = config->plain;
    const struct leat_sim_atm_fabric *fabric = &config->plain.fabric;
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *c = (struct leat_sim_atm_circuits){ .config = *config };
    c->clock = (struct leat_sim_clock){ fabric->period_ps_num, fabric->period_ps_den };
    void *network = lay_out(c, config, &arena);
    plain.owner = (struct leat_sim_atm_plain_owner){
        .context = c, .write = write_next, .due = due, .take = take
    };
    leat_sim_atm_plain_init(&c->plain, &plain, network);
    uint32_t first = 0;
    for (uint32_t i = 0; i < config->lines; first += c->line[i++].channels)
        start_line(c, i, first);
    order_channels(c);
    for (uint32_t p = 0; p < fabric->net.ports; p++) {
        c->port[p].user_at = leat_sim_atm_plain_draw(&c->plain, p, p % CELL_LEN + 1);
        leat_sim_atm_plain_start(&c->plain, p);
    }
}
