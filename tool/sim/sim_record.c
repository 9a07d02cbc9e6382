/*
 * Records what the hosts of an ATM network do and receive: all of it for leat sim
 * --record, the part of the network for leat run --record (run_record.c). It stands between the
 * network and its hosts, so neither knows of it:
 *
 *   network     group
 *     port0     lane    cells in and out (frames), refusals (instants); cells leave and arrive
 *                       (flows), where their hops are recorded
 *     write0    lane    messages being written (spans) and leaving (flows); AAL units only
 *     read0     lane    messages being read (spans) and arriving (flows)
 *     wires     group   cells cross them: record_wires.h
 *
 * A cell is handed over before its first octet is on the line, and events are in order of time, so
 * a cell is held here until its cycle. Which wires a cell has crossed is known later.
 */
#include "atm_hec.h"
#include "record_fabric.h"
#include "record_order.h"
#include "result_file.h"
#include "sim.h"
#include "sim_atm_ping.h"
#include "sim_recorder.h"
#include <leat/capture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_MASK = 0x7fffffff }; /* of a message: its number times the ports, plus its port */

struct port_track {
    uint32_t cells, write, read; /* lanes */
    uint64_t sent_at;            /* what the network has of this port's last cell */
    bool waits;                  /* that cell is still to be recorded */
    bool writes;                 /* a span of writing has begun */
    uint8_t cell[LEAT_ATM_CELL_LEN];
};

static struct {
    struct result_file file;
    struct leat_sim_recorder own; /* of leat sim */
    struct record_order order;    /* likewise */
    struct leat_sim_recorder *recorder;
    record_put *put; /* an event goes to the recorder */
    struct leat_sim_clock clock;
    struct leat_sim_atm *network;
    struct leat_sim_atm_load *load;
    struct leat_sim_atm_host host; /* the network's own */
    struct port_track *port;
    struct record_wires wires;
    struct leat_sim_atm_watch watch;
    bool seals;           /* every cell gets a HEC */
    uint64_t waits_until; /* the first pending cell; LEAT_NEVER: none */
    uint32_t refused, message;
} rec;

/* The last cycle was checked beforehand. */
static leat_time time_of(uint64_t cycle)
{
    return leat_sim_clock_at(&rec.clock, cycle);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void put_to_own(const struct leat_sim_event *e)
{
    leat_sim_recorder_put(&rec.own, e);
}

static void put_in_order(const struct leat_sim_event *e)
{
    record_order_put(&rec.order, e);
}

/* OAM cells as they are on a line: with a HEC, which the prototype's own cells do not have. */
static void put_cell(leat_time at, uint32_t lane, leat_sim_direction direction, const uint8_t *cell)
{
    uint8_t octets[LEAT_ATM_CELL_LEN];
    memcpy(octets, cell, sizeof octets);
    if (rec.seals ||
        (!rec.load && leat_sim_atm_ping_is_loopback(cell, rec.network->fabric.net.header_octets)))
        octets[LEAT_ATM_HEADER_LEN - 1] ^= leat_atm_hec_syndrome(octets);
    rec.put(&(struct leat_sim_event){ .kind = LEAT_SIM_FRAME,
                                      .at = at,
                                      .track = lane,
                                      .direction = direction,
                                      .octets = octets,
                                      .len = LEAT_ATM_CELL_LEN });
}

static void put_mark(leat_sim_kind kind, leat_time at, uint32_t lane, uint32_t name)
{
    rec.put(&(struct leat_sim_event){ .kind = kind, .at = at, .track = lane, .name = name });
}

static void put_flow(leat_time at, uint32_t lane, leat_sim_step step,
                     const struct leat_sim_flow *flow)
{
    rec.put(&(struct leat_sim_event){
        .kind = LEAT_SIM_FLOW, .at = at, .track = lane, .step = step, .flow = *flow });
}

/* ---- cells on their way in ------------------------------------------------------------------ */

static uint32_t first_waiting(void)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t p = 0; p < rec.network->fabric.net.ports; p++)
        if (rec.port[p].waits &&
            (first == UINT32_MAX || rec.port[p].sent_at < rec.port[first].sent_at))
            first = p;
    return first;
}

/* Of leat sim: what is late by now has come. */
static void write_until(uint64_t now)
{
    if (rec.put == put_in_order && now > SIM_RECORD_LATE)
        record_order_until(&rec.order, time_of(now - SIM_RECORD_LATE));
}

void sim_record_catch_up(uint64_t now)
{
    while (rec.waits_until <= now) {
        struct port_track *port = &rec.port[first_waiting()];
        put_cell(time_of(port->sent_at), port->cells, LEAT_SIM_IN, port->cell);
        port->waits = false;
        const uint32_t next = first_waiting();
        rec.waits_until = next == UINT32_MAX ? LEAT_NEVER : rec.port[next].sent_at;
    }
    write_until(now);
}

static void note_cell(uint32_t p)
{
    struct port_track *port = &rec.port[p];
    const uint64_t at = rec.network->port[p].send_at;
    if (at == port->sent_at || at == LEAT_NEVER) return;
    port->sent_at = at;
    port->waits = true;
    memcpy(port->cell, leat_sim_atm_sent(rec.network, p), sizeof port->cell);
    if (at < rec.waits_until) rec.waits_until = at;
}

/* ---- messages ------------------------------------------------------------------------------- */

struct tasks { /* of a host, before and after an event */
    bool writing, reading;
    uint32_t number;
    uint32_t read_from, read_len; /* of the message being read: port, octets */
    uint64_t read_end_at, delivered;
};

static struct tasks tasks_of(uint32_t p)
{
    if (!rec.load) return (struct tasks){ 0 };
    const struct leat_sim_atm_load_host *host = &rec.load->host[p];
    const uint32_t read = host->unit.message_read;
    const bool granted = read != LEAT_ATM_AAL_NONE;
    return (struct tasks){ .writing = host->writing,
                           .reading = host->reading,
                           .number = host->number,
                           .read_from = granted ? host->unit.message[read].source : UINT32_MAX,
                           .read_len = host->reading_len,
                           .read_end_at = host->read_end_at,
                           .delivered = host->part->counts.messages_delivered };
}

static void put_leaving(uint32_t p, uint32_t number, leat_time at)
{
    const struct leat_sim_message *message = &rec.load->host[p].message; /* until it is written */
    const uint32_t ports = rec.network->fabric.net.ports;
    put_flow(at, rec.port[p].write, LEAT_SIM_LEAVES,
             &(struct leat_sim_flow){ .message = (number * ports + p) & ID_MASK,
                                      .peer = message->to < ports ? rec.port[message->to].read
                                                                  : 0, /* 0: all of them */
                                      .len = message->len });
}

static void put_arriving(uint32_t p, const struct tasks *before, leat_time at)
{
    const uint32_t ports = rec.network->fabric.net.ports, from = before->read_from;
    put_flow(at, rec.port[p].read, LEAT_SIM_ARRIVES,
             &(struct leat_sim_flow){ .message = rec.load->host[p].unit.asked.id,
                                      .peer = from < ports ? rec.port[from].write : 0,
                                      .len = before->read_len });
}

/* A task may end one message and begin the next in one cycle. */
static void note_messages(uint32_t p, const struct tasks *before, uint64_t now)
{
    if (!rec.load) return;
    const struct tasks after = tasks_of(p);
    struct port_track *port = &rec.port[p];
    const leat_time at = time_of(now);
    const bool written = before->writing && (!after.writing || after.number != before->number);
    const bool read = before->reading &&
                      (!after.reading || after.read_end_at != before->read_end_at);
    if (written && port->writes) {
        put_mark(LEAT_SIM_END, at, port->write, 0);
        port->writes = false;
    }
    if (after.delivered != before->delivered) put_arriving(p, before, at);
    if (read) put_mark(LEAT_SIM_END, at, port->read, 0);
    if (after.writing && !port->writes) { /* a host that woke up has begun before this call */
        port->writes = true;
        put_mark(LEAT_SIM_BEGIN, at, port->write, rec.message);
        put_leaving(p, after.number, at);
    }
    if (after.reading && (read || !before->reading))
        put_mark(LEAT_SIM_BEGIN, at, port->read, rec.message);
}

/* ---- between network and hosts --------------------------------------------------------------- */

static void refused(void *context, uint32_t p, uint64_t now)
{
    const struct tasks before = tasks_of(p);
    (void)context;
    sim_record_catch_up(now);
    put_mark(LEAT_SIM_INSTANT, time_of(now), rec.port[p].cells, rec.refused);
    rec.host.refused(rec.host.context, p, now);
    note_messages(p, &before, now);
    note_cell(p);
}

static void act(void *context, uint32_t p, uint64_t now)
{
    const struct tasks before = tasks_of(p);
    (void)context;
    sim_record_catch_up(now);
    rec.host.act(rec.host.context, p, now);
    note_messages(p, &before, now);
    note_cell(p);
}

static uint32_t room(void *context, uint32_t p)
{
    (void)context;
    return rec.host.room(rec.host.context, p);
}

static void deliver(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    const struct tasks before = tasks_of(p);
    (void)context;
    sim_record_catch_up(now);
    put_cell(time_of(now), rec.port[p].cells, LEAT_SIM_OUT, cell);
    rec.host.deliver(rec.host.context, p, cell, now);
    note_messages(p, &before, now);
    note_cell(p);
}

/* ---- cells on their way ---------------------------------------------------------------------- */

static void put_hop(uint64_t number, uint32_t port, leat_sim_step step, uint64_t at)
{
    if (rec.wires.left)
        put_flow(time_of(at), rec.port[port].cells, step,
                 &(struct leat_sim_flow){ .message = LEAT_SIM_FIRST_PACKET + number,
                                          .len = LEAT_ATM_CELL_LEN });
}

static void crosses(void *context, uint64_t number, uint32_t wire, uint64_t at)
{
    const uint32_t outs = rec.wires.topology->outs;
    (void)context;
    if (wire >= outs)
        put_hop(number, wire - outs, LEAT_SIM_LEAVES, at);
    else
        record_wires_cross(&rec.wires, wire, LEAT_SIM_FIRST_PACKET + number, LEAT_ATM_CELL_LEN,
                           time_of(at), rec.put);
}

static void arrives(void *context, uint64_t number, uint32_t port, uint64_t now)
{
    (void)context;
    put_hop(number, port, LEAT_SIM_ARRIVES, now);
}

/* A line takes a cell in so many cycles. */
static bool watch_cells(void)
{
    const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(&rec.network->fabric);
    if (!rec.wires.lane) return true;
    rec.watch = (struct leat_sim_atm_watch){ .crosses = crosses, .arrives = arrives };
    rec.watch.number = sim_memory((leat_sim_atm_watch_room(rec.network) + 1) *
                                  sizeof *rec.watch.number);
    if (!rec.watch.number) return false;
    record_wires_begin(&rec.wires, (uint32_t)(LEAT_ATM_CELL_LEN * slot.den / slot.num), rec.put);
    leat_sim_atm_observe(rec.network, &rec.watch);
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t declare_lane(uint32_t group, uint32_t clock, uint16_t link, const char *what,
                             uint32_t p)
{
    char name[32];
    snprintf(name, sizeof name, "%s%u", what, p);
    return leat_sim_recorder_lane(rec.recorder, group, clock, link, name);
}

static bool declare_tracks(uint32_t group, const struct sim_recorded *what)
{
    const uint32_t clock = leat_sim_recorder_clock(rec.recorder, &rec.clock);
    for (uint32_t p = 0; p < rec.network->fabric.net.ports; p++) {
        rec.port[p].cells = declare_lane(group, clock, LEAT_LINK_USER0, "port", p);
        rec.port[p].sent_at = LEAT_NEVER;
        if (!rec.load) continue;
        rec.port[p].write = declare_lane(group, clock, 0, "write", p);
        rec.port[p].read = declare_lane(group, clock, 0, "read", p);
    }
    rec.refused = leat_sim_recorder_name(rec.recorder, "refused");
    rec.message = leat_sim_recorder_name(rec.recorder, "message");
    rec.wires = (struct record_wires){ 0 };
    return !what->wires || !leat_sim_atm_can_observe(rec.network) ||
           record_wires_declare(&rec.wires, rec.recorder, group, clock, what->wires,
                                LEAT_SIM_TRACKS_MAX - rec.recorder->tracks, what->hops);
}

bool sim_record_join(struct leat_sim_recorder *recorder, uint32_t group, record_put *put,
                     const struct sim_recorded *what, struct leat_sim_atm *network,
                     struct leat_sim_atm_load *load)
{
    const struct tasks none = { 0 };
    const bool has_tasks = load && !load->config.desk.serve; /* else others do that */
    rec.recorder = recorder;
    rec.put = put;
    rec.network = network;
    rec.load = has_tasks ? load : NULL;
    rec.host = network->host;
    if (load) leat_sim_atm_load_be_prompt(load);
    rec.waits_until = LEAT_NEVER;
    rec.clock = (struct leat_sim_clock){ network->fabric.period_ps_num,
                                         network->fabric.period_ps_den };
    rec.port = sim_memory(network->fabric.net.ports * sizeof *rec.port);
    if (!rec.port || !declare_tracks(group, what)) return false;
    network->host = (struct leat_sim_atm_host){
        .refused = refused, .act = act, .room = room, .deliver = deliver
    };
    if (!watch_cells()) return false;
    for (uint32_t p = 0; p < network->fabric.net.ports; p++) {
        note_messages(p, &none, 0); /* created in cycle 0 */
        note_cell(p);
    }
    return true;
}

void sim_record_leave(void)
{
    record_wires_free(&rec.wires);
    free(rec.watch.number);
    free(rec.port);
    rec.watch.number = NULL;
    rec.port = NULL;
}

static bool join_own(const struct sim_recorded *what, struct leat_sim_atm *network,
                     struct leat_sim_atm_load *load)
{
    struct leat_sim_event name;
    const uint32_t group = leat_sim_recorder_group(&rec.own, 0, "network");
    const bool has_name = record_fabric_declare(&rec.own, group, what->fabric, &name);
    const bool has_hops = what->hops && leat_sim_atm_can_observe(network);
    record_order_init(&rec.order, &rec.own);
    if (!sim_record_join(&rec.own, group, has_hops ? put_in_order : put_to_own, what, network,
                         load))
        return false;
    if (has_name) rec.put(&name);
    return true;
}

bool sim_record_open(const struct sim_recorded *what, struct leat_sim_atm *network,
                     struct leat_sim_atm_load *load)
{
    if (!result_file_open(&rec.file, what->path)) return false;
    leat_sim_recorder_init(&rec.own, &rec.file.out.text);
    if (join_own(what, network, load)) return true;
    sim_record_leave();
    record_order_free(&rec.order);
    result_file_drop(&rec.file);
    return false;
}

void sim_record_seal(void)
{
    rec.seals = true;
}

bool sim_record_close(uint64_t last)
{
    sim_record_catch_up(last);
    record_order_end(&rec.order);
    leat_sim_recorder_close(&rec.own, time_of(last));
    const bool whole = !rec.order.failed;
    record_order_free(&rec.order);
    sim_record_leave();
    return result_file_close(&rec.file, whole) && whole;
}
