#include "sim_atm_replay.h"
#include "sim_atm_fingerprint.h"
#include "sim_atm_ports_parts.h"

enum { WORDS_A_CELL = 8 }; /* of fingerprints: a few percent of the cost of a simulated cell */

static struct leat_sim_atm_ports *ports_of(void *context)
{
    return &((struct leat_sim_atm_replay *)context)->port;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void fingerprint(void *context, struct leat_fingerprint *out, uint32_t *entry,
                        uint32_t *entry_count)
{
    leat_sim_atm_fingerprint(ports_of(context), out, entry, entry_count);
}

static uint64_t earned(void *context)
{
    return ports_of(context)->load.counts.cells_delivered * WORDS_A_CELL;
}

static uint64_t breaks(void *context)
{
    return ports_of(context)->holds;
}

static bool is_plain(void *context)
{
    return leat_sim_atm_collect_is_idle(&ports_of(context)->collect);
}

/* Not those that are sent in pieces, or to their own port. */
static bool may_repeat(void *context, const struct leat_port_message *message)
{
    return message->len <= ports_of(context)->load.config.len_max && message->from != message->to;
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t present(void *context)
{
    return ports_of(context)->load.sim.now - 1;
}

static leat_time edge(void *context, uint64_t cycle)
{
    return leat_sim_atm_ports_edge(ports_of(context), cycle);
}

static uint64_t cycle_from(void *context, leat_time at)
{
    return leat_sim_atm_ports_cycle_from(ports_of(context), at);
}

static uint64_t accepts(void *context, leat_time at, uint64_t present)
{
    (void)present;
    return cycle_from(context, at);
}

static uint64_t last(void *context, leat_time until)
{
    return leat_sim_atm_ports_last_cycle(ports_of(context), until);
}

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t next_entry(void *context)
{
    return ports_of(context)->free - 1;
}

static uint32_t entry_of(void *context, const struct leat_port_message *message)
{
    return (uint32_t)((const struct leat_sim_atm_ports_entry *)message - ports_of(context)->entry);
}

static const struct leat_port_message *message_of(void *context, uint32_t entry)
{
    return &ports_of(context)->entry[entry].message;
}

static uint64_t next_number(void *context, uint32_t port)
{
    return ports_of(context)->load.host[port].number;
}

static uint64_t number(void *context, const struct leat_port_message *message)
{
    return next_number(context, message->from);
}

/* The network reports this when it grants the read: the reply comes a little later. */
static void coming(void *context, const struct leat_port_message *message, uint64_t *hash,
                   uint64_t *known_at)
{
    const struct leat_sim_atm_load_host *host = &ports_of(context)->load.host[message->to];
    *hash = host->reading_coming.payload_hash;
    *known_at = host->unit.reply_at;
}

static uint64_t certify(void *context, const struct leat_sim_delivery *delivery)
{
    struct leat_sim_atm_load *load = &ports_of(context)->load;
    struct leat_sim_delivery d = *delivery;
    d.number += load->host[d.source].number;
    leat_sim_atm_load_certify(load, &d);
    return leat_sim_certificate_value(&load->certificate);
}

/* ---- counters: the cells of each link -------------------------------------------------------- */

static uint64_t count(void *context, uint32_t counter)
{
    return leat_sim_atm_link_cells(&ports_of(context)->load.sim, counter);
}

static void add(void *context, uint32_t counter, uint64_t more)
{
    ports_of(context)->load.sim.link_cells[counter] += more;
}

/* ---- standing still, and catching up --------------------------------------------------------- */

static void skip(void *context, uint64_t cycles, const uint64_t *messages)
{
    struct leat_sim_atm_load *load = &ports_of(context)->load;
    load->skipped_cycles += cycles;
    for (uint32_t p = 0; p < load->config.fabric.net.ports; p++)
        load->host[p].skipped += (uint32_t)messages[p];
}

static void begin(void *context)
{
    struct leat_sim_atm_replay *r = context;
    r->certificate = r->port.load.certificate;
    leat_sim_certificate_init(&r->port.load.certificate);
    r->port.stand_in = r->blank;
}

static void end(void *context)
{
    struct leat_sim_atm_replay *r = context;
    r->port.stand_in = NULL;
    r->port.load.certificate = r->certificate;
}

static void set_hash(void *context, uint32_t entry, const struct leat_sim_replay_message *now)
{
    struct leat_sim_atm_ports_entry *e = &ports_of(context)->entry[entry];
    e->hash = now->hash;
    e->has_hash = now->has_hash;
}

static void replace(void *context, uint32_t entry, const struct leat_sim_replay_message *began,
                    const struct leat_sim_replay_message *now, uint64_t messages)
{
    struct leat_sim_atm_replay *r = context;
    (void)messages;
    leat_sim_atm_ports_replace(&r->port, entry, &began->message, r->blank,
                               began->has_hash ? &began->hash : NULL);
    set_hash(context, entry, now);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static struct leat_sim_replay_config config_of(const struct leat_sim_atm_ports_config *config)
{
    const uint64_t ports = config->fabric.net.ports;
    return (struct leat_sim_replay_config){
        .messages_max = config->messages_max,
        .counters = leat_sim_atm_link_count(&config->fabric.net),
        .words_min = 2 * ports * ports, /* units know of each other */
    };
}

static void *lay_out(struct leat_sim_atm_replay *r, const struct leat_sim_atm_ports_config *config,
                     struct leat_arena *arena)
{
    const struct leat_sim_replay_config base = config_of(config);
    leat_sim_replay_lay(&r->base, &base, config->fabric.net.ports, arena);
    r->blank = leat_arena_lay(arena, leat_atm_aal_message_max(config->aal.send_blocks), 1);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_ports_footprint(config));
}

size_t leat_sim_atm_replay_footprint(const struct leat_sim_atm_ports_config *config)
{
    struct leat_sim_atm_replay measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

void leat_sim_atm_replay_init(struct leat_sim_atm_replay *r,
                              const struct leat_sim_atm_ports_config *config, void *memory)
{
    static const struct leat_sim_replay_model model = {
        .fingerprint = fingerprint,
        .earned = earned,
        .breaks = breaks,
        .is_plain = is_plain,
        .may_repeat = may_repeat,
        .present = present,
        .edge = edge,
        .cycle_from = cycle_from,
        .accepts = accepts,
        .last = last,
        .through = edge,
        .next_entry = next_entry,
        .entry_of = entry_of,
        .message = message_of,
        .number = number,
        .next_number = next_number,
        .coming = coming,
        .certify = certify,
        .count = count,
        .add = add,
        .skip = skip,
        .begin = begin,
        .replace = replace,
        .sent_again = set_hash,
        .end = end,
    };
    struct leat_arena arena = { .memory = memory, .cap = leat_sim_atm_replay_footprint(config) };
    struct leat_sim_replay_config base = config_of(config);
    *r = (struct leat_sim_atm_replay){ .blank = NULL };
    leat_sim_atm_ports_init(&r->port, config, lay_out(r, config, &arena));
    base.model = &model;
    base.context = r;
    base.inner = &r->port.net;
    leat_sim_replay_init(&r->base, &base);
}
