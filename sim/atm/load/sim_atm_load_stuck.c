#include "sim_atm_load_stuck.h"

enum { STUCK_CYCLES = 1 << 20 };   /* without any arrival, although every cell has long been sent */
enum { INSPECT_CYCLES = 1 << 12 }; /* between checks of a network that may be locked */
enum { LOCKED_CYCLES = 1 << 16 };  /* in which every cell arrives that can */
enum { SERVICE_CYCLES = 1 << 8 };  /* the most that a unit spends on a cell, except for searching */

const char *leat_sim_atm_load_stuck_text(enum leat_port_stuck how)
{
    return how == LEAT_PORT_LOCKED
               ? "the network is locked: full buffers wait for each other for ever, as where cells "
                 "are sent again before an acknowledgement can come (see --retransmit)"
               : "the network has delivered nothing for longer than all transmissions of a cell "
                 "take (see --retransmit, --transmissions and --no-resync)";
}

static bool is_sending(const struct leat_sim_atm_load *load)
{
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        if (load->host[port].unit.sending) return true;
    return false;
}

/* ---- the whole network ----------------------------------------------------------------------- */

bool leat_sim_atm_load_is_stuck(const struct leat_sim_atm_load *load,
                                struct leat_sim_atm_load_arrivals *last)
{
    const uint64_t patience = (uint64_t)load->config.aal.retransmit_cycles *
                              load->config.aal.transmissions_max;
    if (last->cells != load->sim.counts.cells_out || !is_sending(load)) last->since = load->sim.now;
    last->cells = load->sim.counts.cells_out;
    return load->sim.now - last->since > patience + STUCK_CYCLES;
}

/* The search for the block of an acknowledgement visits all blocks that wait for one, two cycles
 * each (note R8). Everything else that a cell needs in its unit takes less than SERVICE_CYCLES. */
uint64_t leat_sim_atm_load_delivery_cycles(const struct leat_sim_atm_load *load)
{
    const struct leat_atm_aal_config *aal = &load->config.aal;
    const uint64_t served = (uint64_t)aal->receive_blocks * (2 * aal->send_blocks + SERVICE_CYCLES);
    const uint64_t tried = aal->transmissions_max * (aal->retransmit_cycles + served);
    const uint64_t carried = (uint64_t)load->config.fabric.net.ports *
                             LEAT_SIM_ATM_LOAD_LINE_CYCLES *
                             (aal->send_blocks + aal->receive_blocks);
    return tried + carried + aal->obsolete_cycles +
           2 * leat_atm_aal_one_way_cycles(load->config.len_max);
}

bool leat_sim_atm_load_is_livelocked(const struct leat_sim_atm_load *load, uint64_t delivered,
                                     bool held, struct leat_sim_atm_load_progress *progress)
{
    const uint64_t now = load->sim.now;
    const bool is_new = delivered != progress->delivered;
    if (!is_new && now < progress->inspected_at + INSPECT_CYCLES) return false;
    if (is_new || (!held && leat_sim_atm_load_is_quiet(load))) progress->since = now;
    progress->delivered = delivered;
    progress->inspected_at = now;
    return now - progress->since > leat_sim_atm_load_delivery_cycles(load);
}

/* ---- its ports ------------------------------------------------------------------------------- */

uint64_t leat_sim_atm_load_patience(const struct leat_sim_atm_load *load)
{
    return (uint64_t)load->config.aal.obsolete_cycles +
           leat_atm_aal_io_cycles(load->config.len_max) + LOCKED_CYCLES;
}

/* Cells that a port has begun to send or has received. If it is sending, and this does not change,
 * the network keeps refusing the same cell. */
static uint64_t moved_at(const struct leat_sim_atm_load_host *host)
{
    const struct leat_atm_aal_counts *c = &host->unit.counts;
    return c->cells_sent + c->acks_sent + c->resyncs_sent + c->cells_received + c->acks_received +
           c->bad_cells + c->misdelivered + c->beyond;
}

/* The cycle of the next check. If no port sends there is no lock: checks become rarer the longer
 * this lasts. */
static uint64_t next_inspection(const struct leat_sim_atm_load *load)
{
    return load->inspected_at + ((uint64_t)INSPECT_CYCLES << load->idle_inspections);
}

bool leat_sim_atm_load_inspect(struct leat_sim_atm_load *load)
{
    const uint64_t now = load->sim.now - 1;
    if (now < next_inspection(load)) return false;
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++) {
        struct leat_sim_atm_load_host *host = &load->host[port];
        const uint64_t moved = moved_at(host);
        const bool is_full = leat_atm_aal_unit_room(&host->unit) == 0;
        if (moved != host->moved || !host->unit.sending || !is_full) host->still_since = now;
        host->moved = moved;
    }
    /* Parked cells wait for descriptors, which are freed when messages are read. */
    const uint64_t moved = load->sim.counts.cells_out + load->counts.messages_delivered;
    if (load->moved != moved) load->still_since = now;
    load->moved = moved;
    load->idle_inspections = is_sending(load) ? 0 : load->idle_inspections + 1;
    load->inspected_at = now;
    return true;
}

static bool is_still(const struct leat_sim_atm_load *load, uint64_t since, uint64_t cycles)
{
    return load->inspected_at > since + cycles;
}

bool leat_sim_atm_load_is_locked(const struct leat_sim_atm_load *load, uint32_t port,
                                 uint64_t *since)
{
    const uint64_t patience = leat_sim_atm_load_patience(load);
    *since = load->host[port].still_since;
    /* Ports may wait for each other in a chain, and its end for something that takes so long. */
    return is_still(load, *since,
                    is_still(load, load->still_since, patience)
                        ? patience
                        : patience * load->config.fabric.net.ports);
}

static bool nothing_moves(const struct leat_sim_atm_load *load)
{
    const uint64_t patience = leat_sim_atm_load_patience(load);
    if (!is_still(load, load->still_since, patience)) return false;
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        if (is_still(load, load->host[port].still_since, patience)) return true;
    return false;
}

bool leat_sim_atm_load_run_watched(struct leat_sim_atm_load *load, uint64_t last)
{
    while (load->sim.now <= last) {
        const uint64_t at = next_inspection(load);
        leat_sim_atm_load_run(load, at < last ? at : last);
        if (leat_sim_atm_load_inspect(load) && nothing_moves(load)) return false;
    }
    return true;
}
