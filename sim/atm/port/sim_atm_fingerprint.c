#include "sim_atm_fingerprint.h"
#include "sim_atm_cell_parts.h"

struct moment {
    struct leat_sim_atm_ports *port;
    uint64_t now; /* the next cycle to run */
    struct leat_atm_aal_names names;
    struct leat_fingerprint *out;
    uint32_t *entry, entry_count;
};

static void put(const struct moment *m, uint64_t word)
{
    leat_fingerprint_put(m->out, word);
}

static void put_time(const struct moment *m, uint64_t at)
{
    leat_fingerprint_put_time(m->out, at, m->now);
}

static void put_from(const struct moment *m, uint64_t at)
{
    leat_fingerprint_put_from(m->out, at, m->now);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t last_number(void *context, uint32_t from, uint32_t to)
{
    const struct leat_sim_atm_ports *port = context;
    return port->load.host[from].unit.peer[to].number;
}

/* The port that sent the message, and how many messages before the port's next one it was. */
static uint64_t name_message(void *context, uint32_t id)
{
    const struct leat_sim_atm_ports *port = context;
    const uint32_t ports = port->net.ports, from = id % ports;
    return (uint64_t)from << 32 | (port->load.host[from].number - id / ports);
}

/* ---- the network ----------------------------------------------------------------------------- */

static void put_cell(const struct moment *m, uint32_t cell, uint32_t label)
{
    put(m, label);
    leat_atm_aal_cell_fingerprint(m->port->load.sim.cells->cell[cell].octets, &m->names, m->out);
}

static void put_spd(const struct moment *m, struct spd *spd)
{
    struct leat_sim_atm_cells *cells = m->port->load.sim.cells;
    put(m, spd->selected);
    put_from(m, spd->free_at);
    if (spd->free_at > m->now) put_time(m, selected_at(spd));
    put(m, spd->waiting);
    for (uint64_t rest = spd->waiting; rest; rest &= rest - 1) {
        const uint32_t number = spd->memory + leat_sim_agenda_lowest(rest);
        const struct memory *memory = &cells->memory[number];
        put(m, memory->count);
        for (uint32_t i = 0; i < memory->count; i++) {
            const struct entry *e = entry_at(cells, number, (memory->head + i) % cells->places);
            put_cell(m, e->cell, e->label);
        }
    }
    put(m, spd->coming_count);
    for (uint16_t i = 0; i < spd->coming_count; i++) {
        const struct coming *c = coming_at(cells, spd, i);
        put_from(m, coming_since(c, m->now)); /* if it is there, it does not matter since when */
        put(m, c->input);
        put_cell(m, c->entry.cell, c->entry.label);
    }
}

/* The fast path (strides) reads what a PPD sent only if its check is still pending. */
static void put_ppd(const struct moment *m, const struct ppd *ppd)
{
    const bool checks = ppd->check_at >= m->now && ppd->check_at != LEAT_NEVER;
    put_from(m, checks ? ppd->check_at : 0);
    if (checks) put_cell(m, ppd->sent.cell, ppd->sent.label);
}

/* The host itself has the time of its next action. */
static void put_network_port(const struct moment *m, const struct leat_sim_atm_port *port)
{
    if (port->refused_at != LEAT_NEVER || port->check_at != LEAT_NEVER)
        leat_fingerprint_fail(m->out);
    for (size_t i = 0; i < 2; i++) {
        put_time(m, port->arrival[i].at);
        if (port->arrival[i].at != LEAT_NEVER)
            put_cell(m, port->arrival[i].cell, port->arrival[i].label);
    }
}

static void put_network(const struct moment *m)
{
    const struct leat_sim_atm *sim = &m->port->load.sim;
    for (uint32_t i = 0; i < sim->fabric.net.spd_count && !m->out->differs; i++)
        put_spd(m, &sim->cells->spd[i]);
    for (uint32_t i = 0; i < sim->fabric.net.ppd_count && !m->out->differs; i++)
        put_ppd(m, &sim->cells->ppd[i]);
    for (uint32_t i = 0; i < sim->fabric.net.ports && !m->out->differs; i++)
        put_network_port(m, &sim->port[i]);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* What a host reads and can read. Waiting time counts from the request. */
static void put_reader(const struct moment *m, struct leat_sim_atm_load_host *host)
{
    put(m, host->complete_count);
    for (uint32_t i = 0; i < host->complete_count; i++) {
        const struct leat_sim_atm_load_complete *c = leat_sim_atm_load_readable(&m->port->load,
                                                                                host, i);
        put_time(m, leat_larger(c->at, host->read_end_at));
        put_time(m, c->until);
        put(m, name_message(m->port, c->id));
        put(m, c->len);
    }
    put(m, host->reading);
    if (!host->reading) return;
    put_time(m, host->read_from);
    put(m, host->reading_len);
    if (host->unit.message_read != LEAT_ATM_AAL_NONE) put_time(m, host->reading_coming.at);
}

static void put_writer(const struct moment *m, const struct leat_sim_atm_load_host *host)
{
    put(m, (uint64_t)host->has_message << 1 | host->writing);
    if (host->writing) put_time(m, host->written_from);
    if (!host->has_message) return;
    put(m, (uint64_t)host->message.to << 32 | host->message.len);
    put_time(m, leat_larger(host->message.at, host->write_end_at));
}

static void put_host(const struct moment *m, struct leat_sim_atm_load_host *host)
{
    put_time(m, host->own_at);
    put_writer(m, host);
    put_reader(m, host);
    leat_atm_aal_unit_fingerprint(&host->unit, m->now, &m->names, m->out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_entry(struct moment *m, uint32_t index)
{
    const struct leat_sim_atm_ports_entry *e = &m->port->entry[index];
    put(m, (uint64_t)e->message.from << 32 | e->message.to);
    put(m, e->message.len);
    put_time(m, e->cycle);
    put(m, e->begun);
    put(m, e->sent);
    put(m, e->arrived);
    if (m->entry_count < m->port->net.in_flight) m->entry[m->entry_count++] = index;
}

/* Messages that have begun, by the number of their piece, then the queued ones. */
static void put_queue(struct moment *m, uint32_t from)
{
    struct leat_sim_atm_ports *port = m->port;
    const struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    put(m, (uint64_t)queue->pledged << 32 | queue->written);
    put(m, (uint64_t)queue->has_cast << 2 | (uint64_t)queue->early << 1 | queue->held);
    for (uint32_t number = queue->oldest; number != queue->number; number++) {
        const struct leat_sim_atm_ports_piece *piece = leat_sim_atm_ports_piece_of(port, from,
                                                                                   number);
        put(m, piece->entry ? queue->number - number : 0);
        if (!piece->entry) continue;
        if (piece->offset || piece->len < port->entry[piece->entry - 1].message.len)
            leat_fingerprint_fail(m->out); /* one piece of several */
        put_entry(m, piece->entry - 1);
    }
    for (uint32_t at = queue->first; at; at = port->entry[at - 1].next)
        put_entry(m, at - 1);
    put(m, LEAT_NEVER);
}

/* Words that differ most often come first. */
void leat_sim_atm_fingerprint(struct leat_sim_atm_ports *port, struct leat_fingerprint *out,
                              uint32_t *entry, uint32_t *entry_count)
{
    const struct leat_sim_atm_load *load = &port->load;
    struct moment m = { .port = port,
                        .now = load->sim.now,
                        .names = { port, last_number, name_message,
                                   load->host[0].unit.number_mask },
                        .out = out,
                        .entry = entry };
    if (load->sim.model != LEAT_SIM_ATM_CELL || !load->sim.cells->in_strides ||
        leat_sim_atm_load_is_scarce(load))
        leat_fingerprint_fail(out);
    for (uint32_t p = 0; p < port->net.ports && !out->differs; p++)
        put_queue(&m, p);
    for (uint32_t p = 0; p < port->net.ports && !out->differs; p++)
        put_host(&m, &load->host[p]);
    if (!out->differs) put_network(&m);
    if (m.entry_count != port->net.in_flight) leat_fingerprint_fail(out);
    *entry_count = m.entry_count;
}
